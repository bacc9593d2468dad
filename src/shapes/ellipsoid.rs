//! An ellipsoid with three radii.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::math::{Real, check, is_finite};
use crate::shapes::{Plane, ShapeError, Solid, SurfacePoint, direction_and_length, greater};

/// The points with `(x/a)² + (y/b)² + (z/c)² < 1` in its own frame.
///
/// # Nearest point
///
/// The nearest surface point x has p on its normal: `x_i = r_i² p_i / (t + r_i²)` for one number t, greater than minus
/// the least radius squared. The condition that x is on the surface is one equation `‖q(t)‖ = 1` with
/// `q_i = r_i p_i / (t + r_i²)`. It is solved as `1/‖q‖ = 1`. The left side is nearly linear, so Newton's iteration,
/// started below the root, converges without overshoot in a few steps.
///
/// # Singular case
///
/// On the plane of the two larger radii, near the middle, two surface points are equally near, and more if the two
/// smaller radii are equal. The one on the positive side of the axis with the least radius is taken.
///
/// # Source
///
/// D. Eberly, *Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid* (2013), for the
/// equation; J. J. Moré, D. C. Sorensen, *Computing a trust region step*, SIAM J. Sci. Stat. Comput. 4
/// (1983) 553–572, for its solution.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(
        try_from = "Vector3<T>",
        into = "Vector3<T>",
        bound(serialize = "T: serde::Serialize", deserialize = "T: serde::Deserialize<'de>")
    )
)]
pub struct Ellipsoid<T: Real> {
    pub(crate) radii: Vector3<T>,
    /// Reciprocals of the squared radii.
    pub(crate) weights: Vector3<T>,
}

/// The serialized form; everything else follows from it.
#[cfg(feature = "serde")]
impl<T: Real> TryFrom<Vector3<T>> for Ellipsoid<T> {
    type Error = ShapeError;

    fn try_from(radii: Vector3<T>) -> Result<Self, ShapeError> {
        Self::new(radii)
    }
}

#[cfg(feature = "serde")]
impl<T: Real> From<Ellipsoid<T>> for Vector3<T> {
    fn from(ellipsoid: Ellipsoid<T>) -> Self {
        ellipsoid.radii
    }
}

impl<T: Real> Ellipsoid<T> {
    /// An ellipsoid with these radii \[m\] along the axes of its frame.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless all radii are of a [`Size`](crate::Requirement::Size).
    pub fn new(radii: Vector3<T>) -> Result<Self, ShapeError> {
        radii.iter().try_for_each(|&radius| check::size("ellipsoid.radii", radius))?;
        Ok(Self::of_radii(radii))
    }

    fn of_radii(radii: Vector3<T>) -> Self {
        Self { radii, weights: radii.map(|radius| T::one() / (radius * radius)) }
    }

    /// The radii \[m\].
    pub fn radii(&self) -> Vector3<T> {
        self.radii
    }

    /// The same ellipsoid in another scalar.
    ///
    /// # Errors
    /// As [`new`](Self::new), where the other scalar has a smaller range.
    pub fn cast<U: Real>(self) -> Result<Ellipsoid<U>, ShapeError> {
        Ellipsoid::new(self.radii.map(T::cast))
    }

    pub(crate) fn in_plain(self) -> Ellipsoid<f64> {
        Ellipsoid::of_radii(self.radii.map(T::to_f64))
    }

    /// The axis of the least radius.
    fn least_axis(&self) -> usize {
        let r = &self.radii;
        let yz = if r.z < r.y { 2 } else { 1 };
        if r[yz] < r.x { yz } else { 0 }
    }

    /// The surface point nearest to a point whose coordinates are all at least zero.
    fn nearest_in_octant(&self, p: &Vector3<T>) -> Vector3<T> {
        let r = &self.radii;
        let least = self.least_axis();
        let r2 = r.component_mul(r);
        // s = t + r_least² keeps its digits near the pole at zero, where t would lose them.
        let gap = r2.map(|other| other - r2[least]);
        let rp = r.component_mul(p);
        if !is_finite(&rp) {
            // For a point so far away, the surface point whose normal has this direction.
            let towards = direction_and_length(&(p / p.amax()).component_mul(r));
            return towards.map_or(Vector3::zeros(), |(unit, _)| unit.component_mul(r));
        }

        // Each term alone reaches one at an s of its own; the greatest of these is below the root.
        let mut s = (rp - gap).iter().fold(T::zero(), |s, &alone| greater(s, alone));
        // Radii equal to the least have no gap either; along them, too, the point's coordinate must be zero, or
        // so small that slopes overflow.
        let eps = T::default_epsilon();
        let nothing = r2[least] * eps * eps * eps * eps;
        if (0..3).all(|i| gap[i] > T::zero() || rp[i] <= nothing) {
            let q = rp.zip_map(&gap, |rp, gap| if gap > T::zero() { rp / gap } else { T::zero() });
            let sum = q.norm_squared();
            if sum < T::one() {
                let mut x = r.component_mul(&q);
                x[least] = r[least] * (T::one() - sum).sqrt();
                return x;
            }
            // The root is beyond zero, but no single term shows how far. Any s > 0 below it is a valid start.
            if s <= nothing {
                s = eps * r2[least];
            }
        }
        // Sixteen digits take five steps from far away; fifty end a search among denormal numbers.
        let mut settled = false;
        for _ in 0..50 {
            let reach = gap.add_scalar(s);
            let q = rp.component_div(&reach);
            let norm2 = q.norm_squared();
            let slope = q.component_mul(&q).component_div(&reach).sum();
            let step = (norm2.sqrt() - T::one()) * norm2 / slope;
            // From above a root near zero a step may lead to zero, where radii without a gap have no term.
            s = if s + step > T::zero() { s + step } else { s * T::lit(0.5) };
            if settled {
                break;
            }
            // One step more than the value needs: derivatives lag by one step.
            settled = step.abs() <= s * T::default_epsilon() * T::lit(8.0);
        }
        r.component_mul(&rp.component_div(&gap.add_scalar(s)))
    }
}

impl<T: Real> Solid<T> for Ellipsoid<T> {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let magnitude = p_S.coords.map(|x| if x < T::zero() { -x } else { x });
        let in_octant = self.nearest_in_octant(&magnitude);
        let point = Vector3::from_fn(|i, _| if p_S[i] < T::zero() { -in_octant[i] } else { in_octant[i] });
        let gradient = point.component_div(&self.radii.component_mul(&self.radii));
        let normal = gradient / gradient.norm_squared().sqrt();
        let signed_distance = normal.dot(&(p_S.coords - point));
        SurfacePoint { point: Point3::from(point), normal, signed_distance }
    }

    fn bounds(&self) -> Option<(Point3<T>, Vector3<T>)> {
        Some((Point3::origin(), self.radii))
    }

    fn supporting_plane(&self, p_S: &Point3<T>) -> Option<Plane<T>> {
        // The tangent plane where the ray from the centre meets the surface.
        let mut q = p_S.coords.component_div(&self.radii);
        if !is_finite(&q) {
            q = (p_S.coords / p_S.coords.amax()).component_div(&self.radii);
        }
        direction_and_length(&q).map(|(unit, _)| {
            let gradient = unit.component_div(&self.radii);
            let length = gradient.norm_squared().sqrt();
            Plane { normal: gradient / length, offset: T::one() / length }
        })
    }

    /// With the derivative S of the normal along the surface and the distance d, it is `S (1 + d S)⁻¹`.
    fn normal_gradient(&self, near: &SurfacePoint<T>) -> Option<Matrix3<T>> {
        let SurfacePoint { point, normal, signed_distance } = near;
        let along = Matrix3::identity() - normal * normal.transpose();
        let slope = point.coords.component_mul(&self.weights).norm_squared().sqrt();
        let on_surface = along * Matrix3::from_diagonal(&(self.weights / slope)) * along;
        let shifted = Matrix3::identity() + on_surface * *signed_distance;
        Some(shifted.try_inverse().map_or_else(Matrix3::zeros, |inverse| on_surface * inverse))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use num_dual::Dual64;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_point_is_on_the_surface_and_straight_ahead(
            radii in prop::array::uniform3(0.1..3.0_f64),
            p in prop::array::uniform3(-4.0..4.0_f64),
        ) {
            let ellipsoid = Ellipsoid::new(Vector3::from(radii))?;
            let p = Point3::from(p);
            let near = ellipsoid.nearest(&p);
            let on = near.point.coords.component_div(&ellipsoid.radii).norm();
            // The residual of the last Newton step, in units of the radii, times a ratio of radii of 30.
            prop_assert!((on - 1.0).abs() < 1e-13, "{on}");
            let across = near.normal.cross(&(p - near.point)).norm();
            prop_assert!(across < 1e-12, "{across}");
            prop_assert_eq!(near.signed_distance < 0.0, p.coords.component_div(&ellipsoid.radii).norm() < 1.0);
        }

        #[test]
        fn no_other_surface_point_is_nearer(
            radii in prop::array::uniform3(0.3..2.0_f64),
            p in prop::array::uniform3(-2.0..2.0_f64),
            direction in prop::array::uniform3(-1.0..1.0_f64),
        ) {
            let ellipsoid = Ellipsoid::new(Vector3::from(radii))?;
            let p = Point3::from(p);
            let unit = Vector3::from(direction).normalize();
            let other = Point3::from(unit.component_mul(&ellipsoid.radii));
            let near = ellipsoid.nearest(&p);
            prop_assert!((p - near.point).norm() <= (p - other).norm() + 1e-12);
        }

        #[test]
        fn the_supporting_plane_has_the_surface_behind_it(
            radii in prop::array::uniform3(0.3..2.0_f64),
            p in prop::array::uniform3(-2.0..2.0_f64),
            direction in prop::array::uniform3(-1.0..1.0_f64),
        ) {
            let ellipsoid = Ellipsoid::new(Vector3::from(radii))?;
            let unit = Vector3::from(direction).normalize();
            let other = Point3::from(unit.component_mul(&ellipsoid.radii));
            let plane = ellipsoid.supporting_plane(&Point3::from(p));
            prop_assert!(plane.is_some_and(|plane| plane.height(&other) < 1e-14));
        }
    }

    #[test]
    fn centre_and_symmetry_planes_have_a_nearest_point() -> Result<(), ShapeError> {
        let ellipsoid = Ellipsoid::new(Vector3::new(3.0, 2.0, 1.0))?;
        let at = |x, y, z| ellipsoid.nearest(&Point3::new(x, y, z));
        assert_eq!(at(0.0, 0.0, 0.0).signed_distance, -1.0);
        assert_eq!(at(0.0, 0.0, 0.0).point, Point3::new(0.0, 0.0, 1.0));
        assert_relative_eq!(at(2.999, 0.0, 0.0).point, Point3::new(3.0, 0.0, 0.0), epsilon = 1e-14);
        assert_relative_eq!(at(0.0, -5.0, 0.0).signed_distance, 3.0, epsilon = 1e-14);
        // Two terms that reach one only together: near the least plane, outside its focal ellipse.
        for z in [0.0, 1e-300, 1e-30, 1e-12, 1e-4] {
            let near = at(2.2, 1.1, z);
            let on = near.point.coords.component_div(&ellipsoid.radii).norm();
            assert_relative_eq!(on, 1.0, epsilon = 1e-13);
        }
        // The edge of the evolute, within rounding.
        let [a, b] = [0.711_447_022_391_239_2, 0.711_447_022_389_673_6];
        let near = Ellipsoid::new(Vector3::new(a, b, b))?.nearest(&Point3::new(
            3.131_327_352_703_067_3e-12,
            0.0,
            0.0,
        ));
        assert_relative_eq!(near.point, Point3::new(a, 0.0, 0.0), epsilon = 1e-14);
        let ball = Ellipsoid::new(Vector3::repeat(2.0))?.nearest(&Point3::origin());
        assert_eq!(ball.signed_distance, -2.0);
        Ok(())
    }

    #[test]
    fn where_two_or_three_radii_are_least_their_planes_are_no_exception() -> Result<(), ShapeError> {
        for radii in [[1.0, 1.0, 2.0], [1.0, 2.0, 1.0], [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]] {
            let ellipsoid = Ellipsoid::new(Vector3::from(radii))?;
            for (i, j) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)] {
                for at in [[0.0, 0.5], [0.0, 3.0], [0.25, 0.5], [2.0, 1.0]] {
                    let mut p = Point3::origin();
                    p[i] = at[0];
                    p[j] = at[1];
                    // In a plane of symmetry the nearest of many points of the ellipse in it.
                    let distance = (0..=20_000)
                        .map(|n| f64::from(n) * 1e-4 * core::f64::consts::PI)
                        .map(|t| (radii[i] * t.cos() - at[0]).hypot(radii[j] * t.sin() - at[1]));
                    let distance = distance.fold(f64::INFINITY, f64::min);
                    let near = ellipsoid.nearest(&p);
                    let in_plane = near.signed_distance.abs();
                    // Points of the ellipse are 6e-4 apart; off the plane something may be nearer.
                    assert!(in_plane < distance + 1e-12, "{radii:?} at {p}: {near:?}");
                    let q = p.coords.component_div(&ellipsoid.radii).norm();
                    assert_eq!(near.signed_distance < 0.0, q < 1.0, "{radii:?} at {p}: {near:?}");
                    assert_relative_eq!((p - near.point).norm(), in_plane, epsilon = 1e-14);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn the_gradient_of_the_signed_distance_is_the_normal() -> Result<(), ShapeError> {
        let ellipsoid = Ellipsoid::new(Vector3::new(1.3, 0.8, 0.5))?;
        let dual = ellipsoid.cast::<Dual64>()?;
        for p in [[0.3, -0.2, 0.4], [1.0, 1.0, -1.0], [0.1, 0.5, 0.01]] {
            let normal = ellipsoid.nearest(&Point3::from(p)).normal;
            for axis in 0..3 {
                let mut seeded = Point3::from(p.map(Dual64::from_re));
                seeded[axis] = seeded[axis].derivative();
                let derivative = dual.nearest(&seeded).signed_distance.eps;
                // Rounding of the Newton iteration, amplified by the curvature.
                assert_relative_eq!(derivative, normal[axis], epsilon = 1e-12);
            }
        }
        Ok(())
    }
}
