//! A ball.

use nalgebra::{Point3, Vector3};

use crate::contact::surface::{Bounds, Plane, Surface, SurfacePoint};
use crate::error::Result;
use crate::scalar::Real;
use crate::variables::Check;

/// A ball about the origin of its frame.
///
/// At the very centre every surface point is equally near; +x is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sphere<T: Real> {
    radius: T,
}

impl<T: Real> Sphere<T> {
    /// A ball of this radius \[m\].
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) unless the radius is finite and greater than zero.
    pub fn new(radius: T) -> Result<Self> {
        Check::new("surface").size("radius", radius)?;
        Ok(Self { radius })
    }

    /// The radius \[m\].
    pub fn radius(&self) -> T {
        self.radius
    }

    /// The same ball in another scalar.
    pub fn cast<U: Real>(self) -> Sphere<U> {
        Sphere { radius: self.radius.cast() }
    }
}

impl<T: Real> Surface<T> for Sphere<T> {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let squared = p_S.coords.norm_squared();
        if squared > T::zero() {
            let distance = squared.sqrt();
            let normal = p_S.coords / distance;
            SurfacePoint {
                point: Point3::from(normal * self.radius),
                normal,
                signed_distance: distance - self.radius,
            }
        } else {
            let normal = Vector3::x();
            SurfacePoint { point: Point3::from(normal * self.radius), normal, signed_distance: -self.radius }
        }
    }

    fn bounds(&self) -> Bounds<T> {
        Bounds::Box { center: Point3::origin(), half_extents: Vector3::repeat(self.radius) }
    }

    fn supporting_plane(&self, p_S: &Point3<T>) -> Option<Plane<T>> {
        let squared = p_S.coords.norm_squared();
        (squared > T::zero()).then(|| Plane { normal: p_S.coords / squared.sqrt(), offset: self.radius })
    }
}
