//! A half-space.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::math::Real;
use crate::shapes::{Plane, Solid, SurfacePoint};

/// The half of space on one side of a coordinate plane of its own frame.
///
/// The ground is [`BelowZ`](Self::BelowZ) at the identity pose if z points up, and [`BelowY`](Self::BelowY) if y does.
/// The pose of the surface defines any other plane.
///
/// ```
/// use force_elements::nalgebra::Point3;
/// use force_elements::shapes::{HalfSpace, Solid};
///
/// // Two metres above the ground; a tenth of a metre within it.
/// assert_eq!(HalfSpace::BelowZ.signed_distance(&Point3::new(7.0, -3.0, 2.0)), 2.0);
/// assert!(HalfSpace::BelowZ.contains(&Point3::new(7.0, -3.0, -0.1)));
/// // The convention of Simbody.
/// assert!(HalfSpace::BeyondX.contains(&Point3::new(0.1, 7.0, -3.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum HalfSpace {
    /// Fills z < 0; its outward normal is +z.
    BelowZ,
    /// Fills y < 0; its outward normal is +y.
    BelowY,
    /// Fills x > 0; its outward normal is −x. Simbody's `ContactGeometry::HalfSpace` is this one.
    BeyondX,
}

impl HalfSpace {
    /// The axis across the plane, and whether the outside is on its positive side.
    #[inline]
    fn axis(self) -> (usize, bool) {
        match self {
            Self::BelowZ => (2, true),
            Self::BelowY => (1, true),
            Self::BeyondX => (0, false),
        }
    }

    /// The outward unit normal, in the frame of the half-space.
    #[inline]
    pub fn normal<T: Real>(self) -> Vector3<T> {
        let (axis, is_positive) = self.axis();
        let mut normal = Vector3::zeros();
        normal[axis] = if is_positive { T::one() } else { -T::one() };
        normal
    }
}

impl<T: Real> Solid<T> for HalfSpace {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let mut point = *p_S;
        point[self.axis().0] = T::zero();
        SurfacePoint { point, normal: self.normal(), signed_distance: self.signed_distance(p_S) }
    }

    fn signed_distance(&self, p_S: &Point3<T>) -> T {
        let (axis, is_positive) = self.axis();
        if is_positive { p_S[axis] } else { -p_S[axis] }
    }

    fn supporting_plane(&self, _: &Point3<T>) -> Option<Plane<T>> {
        Some(Plane { normal: self.normal(), offset: T::zero() })
    }

    fn normal_gradient(&self, _: &SurfacePoint<T>) -> Option<Matrix3<T>> {
        Some(Matrix3::zeros())
    }
}
