//! Poses, scales and switches of the parts of a path, which may differ between states.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::framework::Variables;
use crate::math::{InvalidValue, Pose, Real, check, checked_when_read, clone_by_field, default_by_field};
use crate::variables;

/// The places of a path: what may differ from state to state.
///
/// A [`CablePath`](crate::cable::CablePath) has the places [with which it was made](crate::cable::CablePath::places),
/// all parts active and at scale 1. A [`CableSpring`](crate::CableSpring) has them among the parameters in a state. A
/// user's element can have them too, by [`StateParameters`](crate::cable_spring::StateParameters) with the parameters
/// of its law; it solves the path by [`CablePath::at`](crate::cable::CablePath::at).
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Places<T: Real> {
    /// The origin, in its body's frame \[m\].
    pub origin: Point3<T>,
    /// The termination, in its body's frame \[m\].
    pub termination: Point3<T>,
    /// One per via point, in order.
    pub via_points: Vec<ViaPlace<T>>,
    /// One per obstacle, in order.
    pub obstacles: Vec<ObstaclePlace<T>>,
}

variables! {
    /// The place of a via point.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct ViaPlace<T> {
        /// Whether the cable runs through it. If not, it is ignored, and obstacles before and after it keep their order.
        pub active: bool => Position;
        /// The point, in its body's frame. For a [moving](crate::cable::ViaPoint::moving) point, an offset added to its
        /// curve.
        pub p_B: Point3<T> ["m"], finite => Position;
    }
    in "via_points";
}

variables! {
    /// The place of an obstacle, and its scale.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct ObstaclePlace<T> {
        /// Whether the cable passes over it. If not, it is ignored, and the next accepted step
        /// [forgets](crate::cable::CablePath#parts-that-come-and-go) it.
        pub active: bool => Position;
        /// The pose of the surface on its body.
        pub X_BS: Pose<T> ["m"] => Position;
        /// The scale of the surface relative to how it was made, in all directions; for a sphere or cylinder, of its
        /// radius. A contact hint is moved accordingly.
        pub scale: T = 1.0, size => Position;
    }
    in "obstacles";
}

checked_when_read!(Places);

clone_by_field!(Places { origin, termination, via_points, obstacles });
default_by_field!(Places { origin, termination, via_points, obstacles });

impl<T: Real> Places<T> {
    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> Places<U> {
        Places {
            origin: self.origin.map(T::cast),
            termination: self.termination.map(T::cast),
            via_points: self.via_points.iter().map(ViaPlace::cast).collect(),
            obstacles: self.obstacles.iter().map(ObstaclePlace::cast).collect(),
        }
    }

    /// Checks that points are finite, poses are rotations, and scales are greater than zero.
    ///
    /// # Errors
    /// For the first value out of range.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        check::finite_vector("origin", &self.origin.coords)?;
        check::finite_vector("termination", &self.termination.coords)?;
        self.via_points.iter().try_for_each(Variables::validate)?;
        self.obstacles.iter().try_for_each(Variables::validate)
    }

    /// Whether `other` has as many via points and obstacles.
    pub fn fits(&self, other: &Self) -> bool {
        self.via_points.len() == other.via_points.len() && self.obstacles.len() == other.obstacles.len()
    }
}
