//! Geodesics of an ellipsoid.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::cable::geodesics::geodesic::integrate;
use crate::cable::geodesics::wrappable::{approach_to_centre, tangent_frame};
use crate::cable::{Geodesic, GeodesicEnd, Wrappable};
use crate::math::Real;
use crate::shapes::Ellipsoid;

/// The implicit function is `x²/a² + y²/b² + z²/c² − 1`.
impl<T: Real> Wrappable<T> for Ellipsoid<T> {
    fn value(&self, p: &Point3<T>) -> T {
        self.weights.component_mul(&p.coords).dot(&p.coords) - T::one()
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        self.weights.component_mul(&p.coords) * T::lit(2.0)
    }

    fn hessian(&self, _: &Point3<T>) -> Matrix3<T> {
        Matrix3::from_diagonal(&(self.weights * T::lit(2.0)))
    }

    fn size(&self) -> T {
        self.radii.min()
    }

    /// The sides of the ball to which the ellipsoid is stretched when its axes are made equal: the near and the far
    /// side, and both sides across.
    fn passages(&self, a: &Point3<T>, b: &Point3<T>, closest: &Point3<T>) -> [Option<Point3<T>>; 8] {
        let stretched = |v: Vector3<T>| v.component_div(&self.radii);
        let along = stretched(b - a).normalize();
        let near = tangent_frame(&along, &stretched(closest.coords)).0;
        let across = along.cross(&near);
        let place = |v: Vector3<T>| Some(Point3::from(v.component_mul(&self.radii)));
        [place(near), place(-near), place(across), place(-across), None, None, None, None]
    }

    fn is_convex(&self) -> bool {
        true
    }

    #[inline]
    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        let scale = self.weights.component_mul(&p.coords).dot(&p.coords).sqrt();
        if scale > T::zero() { p / scale } else { Point3::new(self.radii.x, T::zero(), T::zero()) }
    }

    #[inline]
    fn end(&self, p: &Point3<T>, direction: &Vector3<T>) -> GeodesicEnd<T> {
        let slope = self.weights.component_mul(&p.coords);
        let inverse = T::one() / slope.norm();
        let normal = slope * inverse;
        let (tangent, binormal) = tangent_frame(&normal, direction);
        let bend = self.weights.component_mul(&tangent) * inverse;
        GeodesicEnd {
            point: *p,
            tangent,
            normal,
            curvature: tangent.dot(&bend),
            torsion: binormal.dot(&bend),
            transverse_curvature: self.weights.component_mul(&binormal).dot(&binormal) * inverse,
        }
    }

    fn geodesic(
        &self,
        p: &Point3<T>,
        direction: &Vector3<T>,
        length: T,
        accuracy: T,
        most: usize,
    ) -> Geodesic<T> {
        let start = self.end(&self.retract(p), direction);
        // Joachimsthal's integral: along a geodesic the normal curvature is proportional to the
        // cube of the distance h from the centre to the tangent plane. The acceleration is then a
        // function of position alone. Gauss' curvature is proportional to the fourth power of h.
        let [wx, wy, wz] = self.weights.into();
        let slope = self.weights.component_mul(&start.point.coords).norm();
        let pull = start.curvature * slope * slope * slope;
        let gauss = wx * wy * wz;
        let acceleration = |y: &[T; 5], _: &[T; 5]| {
            let slope = [wx * y[0], wy * y[1], wz * y[2]];
            let h = T::one() / (slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
            let h = h * h;
            let (bend, focus) = (-pull * h, -gauss * h);
            [bend * slope[0], bend * slope[1], bend * slope[2], focus * y[3], focus * y[4]]
        };
        integrate::<T, Self, true>(self, start, length, (accuracy, most), acceleration)
    }

    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        approach_to_centre(self, a, b, &self.weights.component_mul(&(b - a)))
    }
}
