//! A ball.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::math::Real;
use crate::shapes::lengths::shape_of_lengths;
use crate::shapes::{Plane, Solid, SurfacePoint, direction_and_length, turned_about};

shape_of_lengths! {
    /// A ball about the origin of its frame.
    ///
    /// At the centre every surface point is equally near; the one on +x is taken.
    pub struct Sphere in "sphere" {
        /// The radius \[m\].
        radius,
    }
    /// A ball of this radius \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`](crate::shapes::ShapeError::InvalidValue) unless the radius is of a
    /// [`Size`](crate::Requirement::Size).
    new;
}

impl<T: Real> Sphere<T> {
    pub(crate) fn in_plain(self) -> Sphere<f64> {
        Sphere { radius: self.radius.to_f64() }
    }
}

impl<T: Real> Solid<T> for Sphere<T> {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let (normal, distance) = direction_and_length(&p_S.coords).unwrap_or((Vector3::x(), T::zero()));
        let point = Point3::from(normal * self.radius);
        SurfacePoint { point, normal, signed_distance: distance - self.radius }
    }

    fn bounds(&self) -> Option<(Point3<T>, Vector3<T>)> {
        Some((Point3::origin(), Vector3::repeat(self.radius)))
    }

    fn supporting_plane(&self, p_S: &Point3<T>) -> Option<Plane<T>> {
        direction_and_length(&p_S.coords).map(|(normal, _)| Plane { normal, offset: self.radius })
    }

    fn normal_gradient(&self, near: &SurfacePoint<T>) -> Option<Matrix3<T>> {
        Some(turned_about(&near.normal, self.radius + near.signed_distance))
    }
}
