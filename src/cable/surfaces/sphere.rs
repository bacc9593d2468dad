//! Geodesics of a sphere, which are great circles.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::cable::geodesics::wrappable::{approach_to_centre, tangent_frame};
use crate::cable::{Geodesic, GeodesicEnd, Jacobi, Wrappable};
use crate::math::Real;
use crate::shapes::Sphere;

impl<T: Real> Wrappable<T> for Sphere<T> {
    fn value(&self, p: &Point3<T>) -> T {
        p.coords.norm() - self.radius
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        let distance = p.coords.norm();
        if distance > T::zero() { p.coords / distance } else { Vector3::x() }
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        let distance = p.coords.norm();
        let n = p.coords / distance;
        (Matrix3::identity() - n * n.transpose()) / distance
    }

    fn size(&self) -> T {
        self.radius
    }

    fn is_convex(&self) -> bool {
        true
    }

    /// Between two points there is one shortest path; the far side matters because of other obstacles, if the line runs
    /// deep.
    fn passages(&self, _: &Point3<T>, _: &Point3<T>, closest: &Point3<T>) -> [Option<Point3<T>>; 8] {
        let near = self.retract(closest);
        let is_deep = closest.coords.norm() < T::lit(0.5) * self.radius;
        [Some(near), is_deep.then_some(-near), None, None, None, None, None, None]
    }

    fn height(&self, p: &Point3<T>) -> T {
        self.value(p)
    }

    #[inline]
    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        let distance = p.coords.norm();
        if distance > T::zero() {
            p * (self.radius / distance)
        } else {
            Point3::new(self.radius, T::zero(), T::zero())
        }
    }

    #[inline]
    fn end(&self, p: &Point3<T>, direction: &Vector3<T>) -> GeodesicEnd<T> {
        let curvature = T::one() / self.radius;
        let normal = p.coords * curvature;
        let (tangent, _) = tangent_frame(&normal, direction);
        let torsion = T::zero();
        GeodesicEnd { point: *p, tangent, normal, curvature, torsion, transverse_curvature: curvature }
    }

    fn geodesic(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, _: T, _: usize) -> Geodesic<T> {
        let start = self.end(&self.retract(p), direction);
        let angle = length * start.curvature;
        let (sin, cos) = angle.sin_cos();
        let normal = start.normal * cos + start.tangent * sin;
        let tangent = start.tangent * cos - start.normal * sin;
        Geodesic {
            start,
            end: GeodesicEnd { point: Point3::from(normal * self.radius), tangent, normal, ..start },
            length,
            jacobi: Jacobi {
                shift: cos,
                shift_rate: -sin * start.curvature,
                turn: self.radius * sin,
                turn_rate: cos,
            },
            passes_conjugate_point: angle.abs() >= T::pi(),
            evaluations: 0,
        }
    }

    fn normal_curvature_integral(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, _: T) -> T {
        length * self.end(&self.retract(p), direction).curvature
    }

    fn turning_by_start(&self, _: &Point3<T>, _: &Vector3<T>, _: T, _: T) -> [T; 2] {
        [T::zero(); 2]
    }

    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        approach_to_centre(self, a, b, &(b - a))
    }
}
