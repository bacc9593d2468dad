//! Geodesics of a cylinder, which are helices.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::cable::geodesics::wrappable::{approach_at, roundoff, tangent_frame};
use crate::cable::{Geodesic, GeodesicEnd, Jacobi, Wrappable};
use crate::math::Real;
use crate::shapes::Cylinder;

fn across<T: Real>(p: &Vector3<T>) -> Vector3<T> {
    Vector3::new(p.x, p.y, T::zero())
}

impl<T: Real> Wrappable<T> for Cylinder<T> {
    fn value(&self, p: &Point3<T>) -> T {
        across(&p.coords).norm() - self.radius
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        let radial = across(&p.coords);
        let distance = radial.norm();
        if distance > T::zero() { radial / distance } else { Vector3::x() }
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        let radial = across(&p.coords);
        let distance = radial.norm();
        let around = Vector3::new(-p.y, p.x, T::zero()) / distance;
        around * around.transpose() / distance
    }

    fn size(&self) -> T {
        self.radius
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn winding(&self, a: &Point3<T>, b: &Point3<T>) -> Option<T> {
        Some((a.x * b.y - a.y * b.x).atan2(a.x * b.x + a.y * b.y))
    }

    fn axis(&self) -> Option<Vector3<T>> {
        Some(Vector3::z())
    }

    fn height(&self, p: &Point3<T>) -> T {
        self.value(p)
    }

    #[inline]
    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        let radial = across(&p.coords);
        let distance = radial.norm();
        let rim =
            if distance > T::zero() { radial * (self.radius / distance) } else { Vector3::x() * self.radius };
        Point3::new(rim.x, rim.y, p.z)
    }

    #[inline]
    fn end(&self, p: &Point3<T>, direction: &Vector3<T>) -> GeodesicEnd<T> {
        let bend = T::one() / self.radius;
        let normal = across(&p.coords) * bend;
        let (tangent, binormal) = tangent_frame(&normal, direction);
        // The axis of the circle's tangent is z × normal: it has component −b_z along the tangent
        // and t_z along the binormal.
        GeodesicEnd {
            point: *p,
            tangent,
            normal,
            curvature: binormal.z * binormal.z * bend,
            torsion: -binormal.z * tangent.z * bend,
            transverse_curvature: tangent.z * tangent.z * bend,
        }
    }

    fn geodesic(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, _: T, _: usize) -> Geodesic<T> {
        let start = self.end(&self.retract(p), direction);
        let around = start.normal.x * start.tangent.y - start.normal.y * start.tangent.x;
        let (sin, cos) = (length * around / self.radius).sin_cos();
        let turned = |v: &Vector3<T>| Vector3::new(cos * v.x - sin * v.y, sin * v.x + cos * v.y, v.z);
        let mut point = Point3::from(turned(&start.point.coords));
        point.z += start.tangent.z * length;
        Geodesic {
            start,
            end: GeodesicEnd {
                point,
                tangent: turned(&start.tangent),
                normal: turned(&start.normal),
                ..start
            },
            length,
            jacobi: Jacobi { turn: length, ..Jacobi::at_start() },
            passes_conjugate_point: false,
            evaluations: 0,
        }
    }

    fn normal_curvature_integral(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, _: T) -> T {
        length * self.end(&self.retract(p), direction).curvature
    }

    fn turning_by_start(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, _: T) -> [T; 2] {
        [T::zero(), length * self.end(&self.retract(p), direction).torsion]
    }

    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        let along = across(&(b - a));
        let reach = along.norm_squared();
        if reach <= T::zero() {
            return approach_at(self, a, b, T::lit(0.5));
        }
        let closest = approach_at(self, a, b, -a.coords.dot(&along) / reach);
        if across(&closest.0.coords).norm() > roundoff(a, b) {
            return closest;
        }
        // The line meets the axis: the direction perpendicular to both is outwards.
        let sideways = T::default_epsilon().sqrt() * self.radius / reach.sqrt();
        let point = Point3::new(-along.y * sideways, along.x * sideways, closest.0.z);
        (point, -self.radius)
    }
}
