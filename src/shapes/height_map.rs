//! A height map: a bicubic spline over a grid.

use alloc::vec::Vec;
use core::ops::RangeInclusive;

use nalgebra::{Vector2, convert, convert_unchecked};

use crate::math::{InvalidValue, Real, Requirement, check};
use crate::shapes::ShapeError;

/// The solid below `z = h(x, y)` over a rectangle: a bicubic spline through heights on a grid.
///
/// Value, slope and curvature are continuous. At the rim the second derivative across it is zero (a natural
/// spline). Outside the rectangle there is no surface: a straight line passes freely, and a contact point is
/// refused with [`ShapeError::OffPatch`].
///
/// Method: C. de Boor, *A Practical Guide to Splines* (1978), chapters IX and XVII.
#[derive(Debug, Clone, PartialEq)]
pub struct HeightMap<T: Real> {
    pub(crate) corner: Vector2<T>,
    pub(crate) spacing: Vector2<T>,
    counts: [usize; 2],
    /// Coefficients of the uniform cubic B-splines, one more on each side than there are heights;
    /// x runs fastest.
    coefficients: Vec<T>,
    /// Bounds of the second derivatives in magnitude: xx, xy, yy.
    pub(crate) bends: [T; 3],
}

/// A height with its first and second derivatives.
pub(crate) struct Local<T> {
    pub(crate) h: T,
    pub(crate) hx: T,
    pub(crate) hy: T,
    pub(crate) hxx: T,
    pub(crate) hxy: T,
    pub(crate) hyy: T,
}

impl<T: Real> HeightMap<T> {
    /// The spline through `heights` \[m\], of which `columns` lie along x in each row, the rows
    /// following each other along y. The first is at `corner`, neighbours are `spacing` apart \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the spacing is of a [`Size`](crate::Requirement::Size), all numbers are
    /// finite, and heights are at most 1e8 times the spacing (the curvatures of steeper maps overflow);
    /// [`ShapeError::IncompleteGrid`] unless there are at least two rows and two columns, all full.
    pub fn new(
        corner: Vector2<T>,
        spacing: Vector2<T>,
        columns: usize,
        heights: &[T],
    ) -> Result<Self, ShapeError> {
        check_grid(&corner, &spacing)?;
        let limit = spacing.min() * T::lit(1e8);
        for &height in heights {
            check::finite("height_map.heights", height)?;
            let is_carried = height.abs() <= limit;
            let must = Requirement::AtMost("1e8 times the spacing, up or down");
            check::that(is_carried, "height_map.heights", height, must)?;
        }
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        if columns < 2 || rows < 2 || rows * columns != heights.len() {
            return Err(ShapeError::IncompleteGrid { columns, heights: heights.len() });
        }
        let wide = columns + 2;
        let mut coefficients = alloc::vec![T::zero(); wide * (rows + 2)];
        let mut line = Vec::new();
        for row in 0..rows {
            line.clear();
            line.extend_from_slice(&heights[row * columns..(row + 1) * columns]);
            for (i, c) in spline_coefficients(&mut line).enumerate() {
                coefficients[(row + 1) * wide + i] = c;
            }
        }
        for column in 0..wide {
            line.clear();
            line.extend((1..=rows).map(|row| coefficients[row * wide + column]));
            for (row, c) in spline_coefficients(&mut line).enumerate() {
                coefficients[row * wide + column] = c;
            }
        }
        let bends = greatest_bends(&coefficients, wide, &spacing);
        Ok(Self { corner, spacing, counts: [columns, rows], coefficients, bends })
    }

    /// The same height map in another scalar.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] where the other scalar has a smaller range.
    pub fn cast<U: Real>(&self) -> Result<HeightMap<U>, ShapeError> {
        let (corner, spacing) = (self.corner.map(T::cast), self.spacing.map(T::cast));
        check_grid(&corner, &spacing)?;
        let coefficients: Vec<U> = self.coefficients.iter().map(|c| c.cast()).collect();
        let bends = self.bends.map(T::cast);
        let mut numbers = coefficients.iter().chain(&bends);
        numbers.try_for_each(|&x| check::finite("height_map.heights", x))?;
        Ok(HeightMap { corner, spacing, counts: self.counts, coefficients, bends })
    }

    /// The ranges of x and y \[m\].
    pub fn extent(&self) -> [RangeInclusive<T>; 2] {
        core::array::from_fn(|i| {
            let cells = convert(self.counts[i] - 1);
            self.corner[i]..=self.corner[i] + self.spacing[i] * T::lit(cells)
        })
    }

    /// The height `h(x, y)` \[m\].
    ///
    /// # Errors
    /// [`ShapeError::OffPatch`] outside the rectangle.
    pub fn height_at(&self, x: T, y: T) -> Result<T, ShapeError> {
        if self.reaches(x, y) {
            Ok(self.local(x, y).h)
        } else {
            Err(ShapeError::OffPatch { x: x.to_f64(), y: y.to_f64() })
        }
    }

    /// Whether a point is within the rectangle.
    pub(crate) fn reaches(&self, x: T, y: T) -> bool {
        let [along_x, along_y] = self.extent();
        along_x.contains(&x) && along_y.contains(&y)
    }

    /// Height and derivatives; outside the rectangle, extrapolated from the nearest cell.
    pub(crate) fn local(&self, x: T, y: T) -> Local<T> {
        let (i, bx) = self.cell(0, x);
        let (j, by) = self.cell(1, y);
        let wide = self.counts[0] + 2;
        let mut sums = [[T::zero(); 3]; 3];
        for row in 0..4 {
            let mut along = [T::zero(); 3];
            let start = (j + row) * wide + i;
            for (column, c) in self.coefficients.iter().skip(start).take(4).enumerate() {
                for (sum, basis) in along.iter_mut().zip(&bx) {
                    *sum += *c * basis[column];
                }
            }
            for (dy, basis) in by.iter().enumerate() {
                for dx in 0..3 - dy {
                    sums[dy][dx] += along[dx] * basis[row];
                }
            }
        }
        Local {
            h: sums[0][0],
            hx: sums[0][1],
            hy: sums[1][0],
            hxx: sums[0][2],
            hxy: sums[1][1],
            hyy: sums[2][0],
        }
    }

    /// The cell of a coordinate, and its four B-splines with two derivatives.
    fn cell(&self, axis: usize, x: T) -> (usize, [[T; 4]; 3]) {
        let inverse = T::one() / self.spacing[axis];
        let place = (x - self.corner[axis]) * inverse;
        let last = self.counts[axis] - 2;
        // Coordinates below the grid and NaN give cell 0.
        let cell = convert_unchecked::<f64, usize>(place.to_f64().max(0.0)).min(last);
        let u = place - T::lit(convert(cell));
        let w = T::one() - u;
        let (sixth, half) = (T::lit(1.0 / 6.0), T::lit(0.5));
        let [two, three, four] = [2.0, 3.0, 4.0].map(T::lit);
        let value = [
            w * w * w * sixth,
            (four + (three * u - T::lit(6.0)) * u * u) * sixth,
            (four + (three * w - T::lit(6.0)) * w * w) * sixth,
            u * u * u * sixth,
        ];
        let slope =
            [-half * w * w, (three * u - four) * u * half, (four - three * w) * w * half, half * u * u];
        let bend = [w, three * u - two, three * w - two, u];
        (cell, [value, slope.map(|s| s * inverse), bend.map(|b| b * inverse * inverse)])
    }
}

fn check_grid<T: Real>(corner: &Vector2<T>, spacing: &Vector2<T>) -> Result<(), InvalidValue> {
    spacing.iter().try_for_each(|&x| check::size("height_map.spacing", x))?;
    corner.iter().try_for_each(|&x| check::finite("height_map.corner", x))
}

/// Bounds of the second derivatives, which are averages of the second differences of coefficients.
fn greatest_bends<T: Real>(coefficients: &[T], wide: usize, spacing: &Vector2<T>) -> [T; 3] {
    let tall = coefficients.len() / wide;
    let at = |column: usize, row: usize| coefficients[row * wide + column];
    let two = T::lit(2.0);
    let mut bends = [T::zero(); 3];
    for row in 0..tall {
        for column in 0..wide {
            let (right, up) = (column + 1 < wide, row + 1 < tall);
            if right && column > 0 {
                let along_x = at(column - 1, row) - two * at(column, row) + at(column + 1, row);
                bends[0] = bends[0].max(along_x.abs());
            }
            if right && up {
                let twist =
                    at(column + 1, row + 1) - at(column, row + 1) - at(column + 1, row) + at(column, row);
                bends[1] = bends[1].max(twist.abs());
            }
            if up && row > 0 {
                let along_y = at(column, row - 1) - two * at(column, row) + at(column, row + 1);
                bends[2] = bends[2].max(along_y.abs());
            }
        }
    }
    let [x, y] = [spacing.x, spacing.y];
    [bends[0] / (x * x), bends[1] / (x * y), bends[2] / (y * y)]
}

/// Converts values at the knots to B-spline coefficients, of which there are two more.
fn spline_coefficients<T: Real>(values: &mut [T]) -> impl Iterator<Item = T> {
    // (c[i−1] + 4 c[i] + c[i+1]) / 6 = value, with c straight across both ends: tridiagonal,
    // diagonally dominant, so elimination needs no pivots.
    let last = values.len() - 1;
    let mut upper = Vec::with_capacity(values.len());
    upper.push(T::zero());
    for i in 1..last {
        let pivot = T::one() / (T::lit(4.0) - upper[i - 1]);
        values[i] = (T::lit(6.0) * values[i] - values[i - 1]) * pivot;
        upper.push(pivot);
    }
    for i in (1..last).rev() {
        let next = values[i + 1];
        values[i] -= upper[i] * next;
    }
    let two = T::lit(2.0);
    let before = two * values[0] - values[1];
    let after = two * values[last] - values[last - 1];
    core::iter::once(before).chain(values.iter().copied()).chain(core::iter::once(after))
}
