//! A height map: a smooth spline over a grid.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use nalgebra::{Matrix3, Point3, Vector2, Vector3};

use super::spline::{Axis, FUNCTIONS};
use crate::math::{InvalidValue, Real, Requirement, check};
use crate::shapes::{Jet, ShapeError};

/// The solid below `z = h(x, y)` over a rectangle: a spline of degree seven in x and y through heights on a grid.
///
/// All derivatives up to the sixth are continuous. The lines of a grid that is fine compared with the landscape therefore
/// do not affect a geodesic: a cable over it costs the same on a finer grid, and its error falls with the eighth power of
/// the spacing. Near the rim, where the derivatives of order four to six across it are zero (a natural spline), it falls
/// with the fourth power; this part of the error halves from line to line inwards.
///
/// Where heights change abruptly from one line to the next, the spline overshoots, by up to a seventh of the change, in
/// ripples that halve from line to line.
///
/// Outside the rectangle there is no surface: a straight line passes freely, and a contact point is refused with
/// [`ShapeError::OffPatch`].
///
/// Method: C. de Boor, *A Practical Guide to Splines* (1978), chapters IX, X, XIII and XVII.
///
/// # Example: a ridge
///
/// ```
/// use force_elements::nalgebra::Vector2;
/// use force_elements::shapes::HeightMap;
///
/// let ridge = |x: f64| 0.3 / (1.0 + x * x);
/// let row = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0].map(ridge);
/// let map = HeightMap::new(Vector2::new(-2.0, 0.0), Vector2::new(0.5, 1.0), row.len(), &[row; 3].concat())?;
/// assert!((map.height_at(0.5, 1.7)? - ridge(0.5)).abs() < 1e-15);
/// assert!((map.height_at(0.3, 0.2)? - ridge(0.3)).abs() < 1e-3);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeightMap<T: Real> {
    axes: [Axis<T>; 2],
    /// The coefficients of products of B-splines; x runs fastest.
    coefficients: Vec<T>,
    /// Bounds of the second derivatives in magnitude: xx, xy, yy.
    pub(crate) bends: [T; 3],
    /// A bound of the heights, which are averages of coefficients.
    pub(crate) highest: T,
    /// The smaller distance of two lines.
    pub(crate) spacing: T,
}

impl<T: Real> HeightMap<T> {
    /// The spline through `heights` \[m\]. Each row of `columns` heights lies along x, and the rows follow each other
    /// along y. The first height is at `corner`; neighbours are `spacing` apart \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the spacing is of a [`Size`](crate::Requirement::Size), all numbers are
    /// finite, and heights are at most 1e7 times the spacing (the curvatures of steeper maps overflow);
    /// [`ShapeError::IncompleteGrid`] unless there are at least two rows and two columns, all full.
    pub fn new(
        corner: Vector2<T>,
        spacing: Vector2<T>,
        columns: usize,
        heights: &[T],
    ) -> Result<Self, ShapeError> {
        spacing.iter().try_for_each(|&x| check::size("height_map.spacing", x))?;
        corner.iter().try_for_each(|&x| check::finite("height_map.corner", x))?;
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 || rows.checked_mul(columns) != Some(heights.len()) {
            return Err(ShapeError::IncompleteGrid { columns, heights: heights.len() });
        }
        let axes = [Axis::new(corner.x, spacing.x, columns), Axis::new(corner.y, spacing.y, rows)];
        let spacing = spacing.min();
        let limit = spacing * T::lit(1e7);
        for &height in heights {
            check::finite("height_map.heights", height)?;
            let is_carried = height.abs() <= limit;
            let must = Requirement::AtMost("1e7 times the spacing, up or down");
            check::that(is_carried, "height_map.heights", height, must)?;
        }
        // First the lines along x, then those along y through the resulting coefficients.
        let [along_x, along_y] = &axes;
        let wide = along_x.functions();
        let mut rows = Vec::new();
        heights.chunks(along_x.values()).for_each(|row| along_x.append(row.iter().copied(), &mut rows));
        along_x.solve(&mut rows);
        let mut columns = Vec::new();
        for i in 0..wide {
            along_y.append(rows.iter().skip(i).step_by(wide).copied(), &mut columns);
        }
        along_y.solve(&mut columns);
        let coefficients = transposed(&columns, along_y.functions());
        let bends = greatest_bends(&axes, &coefficients);
        let highest = coefficients.iter().fold(coefficients[0], |highest, c| highest.max(*c));
        let map = Self { axes, coefficients, bends, highest, spacing };
        map.check_numbers()?;
        Ok(map)
    }

    /// The same height map in another scalar.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] where the other scalar has a smaller range.
    pub fn cast<U: Real>(&self) -> Result<HeightMap<U>, ShapeError> {
        let map = HeightMap {
            axes: [self.axes[0].cast(), self.axes[1].cast()],
            coefficients: self.coefficients.iter().map(|c| c.cast()).collect(),
            bends: self.bends.map(T::cast),
            highest: self.highest.cast(),
            spacing: self.spacing.cast(),
        };
        check::size("height_map.spacing", map.spacing)?;
        map.axes.iter().try_for_each(|axis| check::finite("height_map.corner", axis.lines[0]))?;
        map.check_numbers()?;
        Ok(map)
    }

    fn check_numbers(&self) -> Result<(), InvalidValue> {
        let mut numbers = self.coefficients.iter().chain(&self.bends);
        numbers.try_for_each(|&x| check::finite("height_map.heights", x))
    }

    /// The ranges of x and y \[m\].
    pub fn extent(&self) -> [RangeInclusive<T>; 2] {
        self.axes.each_ref().map(|axis| axis.lines[0]..=axis.lines[axis.lines.len() - 1])
    }

    /// The height `h(x, y)` \[m\].
    ///
    /// # Errors
    /// [`ShapeError::OffPatch`] outside the rectangle.
    pub fn height_at(&self, x: T, y: T) -> Result<T, ShapeError> {
        if self.reaches(x, y) {
            // Not -0 on a level map.
            Ok(T::zero() - self.local::<0>(&Point3::new(x, y, T::zero())).value)
        } else {
            Err(ShapeError::OffPatch { x: x.to_f64(), y: y.to_f64() })
        }
    }

    /// Whether a point is within the rectangle.
    pub(crate) fn reaches(&self, x: T, y: T) -> bool {
        let [along_x, along_y] = self.extent();
        along_x.contains(&x) && along_y.contains(&y)
    }

    /// The height of a point above the map, with derivatives up to this order; higher ones are those of a level map.
    /// Outside the rectangle the map is extrapolated by polynomials of degree three.
    pub(crate) fn local<const ORDER: usize>(&self, p: &Point3<T>) -> Jet<T> {
        let (first_x, [value, slope, bend]) = self.axes[0].local::<ORDER>(p.x);
        let (first_y, [values, slopes, bends]) = self.axes[1].local::<ORDER>(p.y);
        let wide = self.axes[0].functions();
        let zero = T::zero();
        let mut at = Jet { value: p.z, gradient: Vector3::z(), hessian: Matrix3::zeros() };
        let start = first_y * wide + first_x;
        for (j, row) in self.coefficients[start..].chunks(wide).take(FUNCTIONS).enumerate() {
            let (mut h, mut hx, mut hxx) = (zero, zero, zero);
            for (i, c) in row.iter().take(FUNCTIONS).enumerate() {
                h += *c * value[i];
                if ORDER > 0 {
                    hx += *c * slope[i];
                }
                if ORDER > 1 {
                    hxx += *c * bend[i];
                }
            }
            let (value, slope, bend) = (values[j], slopes[j], bends[j]);
            at.value -= h * value;
            if ORDER > 0 {
                at.gradient.x -= hx * value;
                at.gradient.y -= h * slope;
            }
            if ORDER > 1 {
                at.hessian.m11 -= hxx * value;
                at.hessian.m12 -= hx * slope;
                at.hessian.m22 -= h * bend;
            }
        }
        at.hessian.m21 = at.hessian.m12;
        at
    }
}

/// The transpose of a matrix with rows of this length.
fn transposed<T: Real>(numbers: &[T], wide: usize) -> Vec<T> {
    (0..wide).flat_map(|i| numbers.iter().skip(i).step_by(wide).copied()).collect()
}

/// Bounds of the second derivatives, which are averages of the coefficients of their own B-splines.
fn greatest_bends<T: Real>(axes: &[Axis<T>; 2], coefficients: &[T]) -> [T; 3] {
    let [(wide, per_x), (deep, per_y)] = axes.each_ref().map(|axis| (axis.functions(), axis.inverse));
    let differentiated = |numbers: &[T], wide: usize, inverse: T| -> Vec<T> {
        let pairs = numbers.chunks(wide).flat_map(|line| line.windows(2));
        pairs.map(|pair| (pair[1] - pair[0]) * inverse).collect()
    };
    let slope_x = differentiated(coefficients, wide, per_x);
    let slope_y = differentiated(&transposed(coefficients, wide), deep, per_y);
    let bends = [
        differentiated(&slope_x, wide - 1, per_x),
        differentiated(&transposed(&slope_x, wide - 1), deep, per_y),
        differentiated(&slope_y, deep - 1, per_y),
    ];
    bends.map(|bends| bends.iter().fold(T::zero(), |greatest, x| greatest.max(x.abs())))
}
