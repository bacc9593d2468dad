//! Everything on one side of a plane.

use nalgebra::{Point3, Vector3};

use crate::contact::surface::{Bounds, Plane, Surface, SurfacePoint};
use crate::scalar::Real;

/// The half of space where x > 0 in its own frame. Its outward normal is −x.
///
/// ```
/// use force_elements::contact::{HalfSpace, Surface};
/// use force_elements::nalgebra::Point3;
///
/// assert!(HalfSpace.contains(&Point3::new(0.1, 7.0, -3.0)));
/// assert_eq!(HalfSpace.signed_distance(&Point3::new(-2.0, 0.0, 0.0)), 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HalfSpace;

impl<T: Real> Surface<T> for HalfSpace {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        SurfacePoint {
            point: Point3::new(T::zero(), p_S.y, p_S.z),
            normal: -Vector3::x(),
            signed_distance: -p_S.x,
        }
    }

    fn signed_distance(&self, p_S: &Point3<T>) -> T {
        -p_S.x
    }

    fn bounds(&self) -> Bounds<T> {
        Bounds::Unbounded
    }

    fn supporting_plane(&self, _: &Point3<T>) -> Option<Plane<T>> {
        Some(Plane { normal: -Vector3::x(), offset: T::zero() })
    }
}
