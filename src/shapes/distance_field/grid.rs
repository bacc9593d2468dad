//! The tricubic spline of a distance field.

use alloc::vec::Vec;
use core::fmt;

use nalgebra::{Matrix3, Point3, Vector3, convert, convert_unchecked};

use crate::math::Real;
use crate::shapes::distance_field::splines::cubic_splines;

/// A value with its first and second derivatives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jet<T: Real> {
    pub(crate) value: T,
    pub(crate) gradient: Vector3<T>,
    pub(crate) hessian: Matrix3<T>,
}

/// The implicit function: a spline in a box, a quadratic around it.
pub(super) struct Grid {
    /// The lowest corner of the box \[m\].
    pub(super) corner: Point3<f64>,
    pub(super) spacing: f64,
    pub(super) cells: [usize; 3],
    /// Of the nodes of the box and of one layer around it; x runs fastest.
    pub(super) coefficients: Vec<f64>,
    pub(super) around: Quadratic,
    /// The box in which the spline is that of the distance alone.
    pub(super) near: [Point3<f64>; 2],
    /// A bound of the slope of the spline.
    pub(super) steepest: f64,
    pub(super) accuracy: f64,
    pub(super) least_radius: f64,
}

/// Without the coefficients.
impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { corner, spacing, cells, accuracy, least_radius, .. } = self;
        f.debug_struct("Grid")
            .field("corner", corner)
            .field("spacing", spacing)
            .field("cells", cells)
            .field("accuracy", accuracy)
            .field("least_radius", least_radius)
            .finish_non_exhaustive()
    }
}

/// `Σ weightᵢ · (pᵢ − centerᵢ)² + offset`.
#[derive(Debug)]
pub(super) struct Quadratic {
    pub(super) center: Point3<f64>,
    pub(super) weights: Vector3<f64>,
    pub(super) offset: f64,
}

impl Grid {
    /// The number of nodes.
    pub(super) fn node_count(&self) -> usize {
        self.coefficients.len()
    }

    #[inline]
    pub(super) fn place<T: Real>(&self, p: &Point3<T>) -> Vector3<T> {
        (p - self.corner.map(T::lit)) * T::lit(self.spacing.recip())
    }

    /// The implicit function with derivatives up to this order; the rest is zero.
    #[inline]
    pub(super) fn local<T: Real, const ORDER: usize>(&self, p: &Point3<T>) -> Jet<T> {
        let place = self.place(p);
        let mut cell = [0; 3];
        let mut splines = [[[T::zero(); 4]; 3]; 3];
        for axis in 0..3 {
            let plain = place[axis].to_f64();
            let count: f64 = convert(self.cells[axis]);
            // NaN goes there too, and comes out as NaN.
            if !(plain >= 0.0 && plain <= count) {
                return self.around.local(p);
            }
            cell[axis] = convert_unchecked::<f64, usize>(plain).min(self.cells[axis] - 1);
            splines[axis] = cubic_splines(place[axis] - T::lit(convert(cell[axis])));
        }
        let [bx, by, bz] = splines;
        let wide = self.cells[0] + 3;
        let deep = wide * (self.cells[1] + 3);
        let mut sums = [T::zero(); 10];
        for k in 0..4 {
            // Derivatives by x and y: 00, 10, 01, 20, 11, 02.
            let mut layer = [T::zero(); 6];
            for (j, [b, db, ddb]) in [0, 1, 2, 3].map(|j| (j, by.map(|b| b[j]))) {
                let start = cell[0] + wide * (cell[1] + j) + deep * (cell[2] + k);
                let row = self.coefficients.get(start..).and_then(|row| row.first_chunk::<4>());
                let c = row.map_or([T::zero(); 4], |row| row.map(T::lit));
                let along = |b: &[T; 4]| (c[0] * b[0] + c[1] * b[1]) + (c[2] * b[2] + c[3] * b[3]);
                let value = along(&bx[0]);
                layer[0] += value * b;
                if ORDER > 0 {
                    let slope = along(&bx[1]);
                    layer[1] += slope * b;
                    layer[2] += value * db;
                    if ORDER > 1 {
                        layer[3] += along(&bx[2]) * b;
                        layer[4] += slope * db;
                        layer[5] += value * ddb;
                    }
                }
            }
            let [b, db, ddb] = bz.map(|b| b[k]);
            sums[0] += layer[0] * b;
            if ORDER > 0 {
                sums[1] += layer[1] * b;
                sums[2] += layer[2] * b;
                sums[3] += layer[0] * db;
                if ORDER > 1 {
                    sums[4] += layer[3] * b;
                    sums[5] += layer[5] * b;
                    sums[6] += layer[0] * ddb;
                    sums[7] += layer[4] * b;
                    sums[8] += layer[1] * db;
                    sums[9] += layer[2] * db;
                }
            }
        }
        let inverse = T::lit(self.spacing.recip());
        let [value, x, y, z, xx, yy, zz, xy, xz, yz] = sums;
        Jet {
            value,
            gradient: Vector3::new(x, y, z) * inverse,
            hessian: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * (inverse * inverse),
        }
    }

    /// The point of the surface along the gradients from `p`; `None` if it is not found within two cells.
    pub(super) fn foot(&self, p: &Point3<f64>) -> Option<Point3<f64>> {
        let mut q = *p;
        for _ in 0..20 {
            let Jet { value, gradient, .. } = self.local::<f64, 1>(&q);
            let step = gradient * (value / gradient.norm_squared());
            let reach = step.norm();
            q -= step;
            let has_strayed = (q - p).norm() > 2.0 * self.spacing;
            if has_strayed || !reach.is_finite() {
                return None;
            }
            if reach <= 1e-9 * self.spacing {
                return Some(q);
            }
        }
        None
    }
}

impl Quadratic {
    pub(super) fn local<T: Real>(&self, p: &Point3<T>) -> Jet<T> {
        let from_center = p - self.center.map(T::lit);
        let weights = self.weights.map(T::lit);
        let half_gradient = weights.component_mul(&from_center);
        Jet {
            value: half_gradient.dot(&from_center) + T::lit(self.offset),
            gradient: half_gradient * T::lit(2.0),
            hessian: Matrix3::from_diagonal(&(weights * T::lit(2.0))),
        }
    }

    pub(super) fn low_place<T: Real>(&self, a: &Point3<T>, along: &Vector3<T>) -> T {
        let weighted = self.weights.map(T::lit).component_mul(along);
        -weighted.dot(&(a - self.center.map(T::lit))) / weighted.dot(along)
    }
}
