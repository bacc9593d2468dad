//! The tricubic spline of a distance field.

use nalgebra::{Matrix3, Point3, Vector3, convert, convert_unchecked};

use super::DistanceField;
use crate::math::Real;
use crate::shapes::Jet;

impl DistanceField {
    /// The position of a point in cells of the grid.
    #[inline]
    pub(crate) fn place<T: Real>(&self, p: &Point3<T>) -> Vector3<T> {
        (p - self.corner.map(T::lit)) * T::lit(self.spacing.recip())
    }

    /// The implicit function with derivatives up to this order; the rest is zero.
    #[inline]
    pub(crate) fn local<T: Real, const ORDER: usize>(&self, p: &Point3<T>) -> Jet<T> {
        let place = self.place(p);
        let mut cell = [0; 3];
        let mut splines = [[[T::zero(); 3]; 4]; 3];
        for axis in 0..3 {
            let plain = place[axis].to_f64();
            let count: f64 = convert(self.cells[axis]);
            // NaN also takes this branch, and the result is NaN.
            if !(plain >= 0.0 && plain <= count) {
                return self.around(p);
            }
            cell[axis] = convert_unchecked::<f64, usize>(plain).min(self.cells[axis] - 1);
            splines[axis] = cubic_splines(place[axis] - T::lit(convert(cell[axis])));
        }
        let [bx, by, bz] = splines;
        let wide = self.cells[0] + 3;
        let deep = wide * (self.cells[1] + 3);
        // Along x last, so that the sums over rows and layers cover four neighbours at a time. Derivatives by y and z:
        // 00, 10, 01, 20, 11, 02.
        let mut sums = [[T::zero(); 4]; 6];
        for (k, [b, db, ddb]) in bz.into_iter().enumerate() {
            let mut layer = [[T::zero(); 4]; 3];
            for (j, b) in by.iter().enumerate() {
                let start = cell[0] + wide * (cell[1] + j) + deep * (cell[2] + k);
                let row = self.coefficients.get(start..).and_then(|row| row.first_chunk::<4>());
                let [c0, c1, c2, c3] = *row.unwrap_or(&[0.0; 4]);
                let row = [T::lit(c0), T::lit(c1), T::lit(c2), T::lit(c3)];
                for (sum, b) in layer.iter_mut().zip(b).take(ORDER + 1) {
                    add(sum, &row, *b);
                }
            }
            let [value, slope, bend] = &layer;
            add(&mut sums[0], value, b);
            if ORDER > 0 {
                add(&mut sums[1], slope, b);
                add(&mut sums[2], value, db);
            }
            if ORDER > 1 {
                add(&mut sums[3], bend, b);
                add(&mut sums[4], slope, db);
                add(&mut sums[5], value, ddb);
            }
        }
        let along = |sum: &[T; 4], order: usize| {
            (sum[0] * bx[0][order] + sum[1] * bx[1][order]) + (sum[2] * bx[2][order] + sum[3] * bx[3][order])
        };
        let inverse = T::lit(self.spacing.recip());
        let mut jet =
            Jet { value: along(&sums[0], 0), gradient: Vector3::zeros(), hessian: Matrix3::zeros() };
        if ORDER > 0 {
            jet.gradient = Vector3::new(along(&sums[0], 1), along(&sums[1], 0), along(&sums[2], 0));
            jet.gradient *= inverse;
        }
        if ORDER > 1 {
            let [xx, yy, zz] = [along(&sums[0], 2), along(&sums[3], 0), along(&sums[5], 0)];
            let [xy, xz, yz] = [along(&sums[1], 1), along(&sums[2], 1), along(&sums[4], 0)];
            jet.hessian = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) * (inverse * inverse);
        }
        jet
    }

    /// The quadratic around the box.
    pub(super) fn around<T: Real>(&self, p: &Point3<T>) -> Jet<T> {
        let from_center = p - self.center.map(T::lit);
        let weights = self.weights.map(T::lit);
        let half_gradient = weights.component_mul(&from_center);
        Jet {
            value: half_gradient.dot(&from_center) + T::lit(self.offset),
            gradient: half_gradient * T::lit(2.0),
            hessian: Matrix3::from_diagonal(&(weights * T::lit(2.0))),
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

/// The four cubic B-splines of a cell at `u`, from 0 to 1 across it, each with first and second derivative by `u`.
#[inline]
fn cubic_splines<T: Real>(u: T) -> [[T; 3]; 4] {
    let w = T::one() - u;
    let (sixth, half) = (T::lit(1.0 / 6.0), T::lit(0.5));
    let [two, three, four, six] = [2.0, 3.0, 4.0, 6.0].map(T::lit);
    [
        [w * w * w * sixth, -half * w * w, w],
        [(four + (three * u - six) * u * u) * sixth, (three * u - four) * u * half, three * u - two],
        [(four + (three * w - six) * w * w) * sixth, (four - three * w) * w * half, three * w - two],
        [u * u * u * sixth, half * u * u, u],
    ]
}

/// Adds a multiple of four neighbours.
#[inline]
fn add<T: Real>(sum: &mut [T; 4], row: &[T; 4], factor: T) {
    for (sum, x) in sum.iter_mut().zip(row) {
        *sum += *x * factor;
    }
}
