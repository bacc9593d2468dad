//! Poses, scales and switches of the parts of a path, which may differ between states.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::framework::stored_variables;
use crate::math::Pose;
use crate::variables;

stored_variables! {
    /// The places of a path: what may differ from state to state.
    ///
    /// A [`CablePath`](crate::cable::CablePath) has the places [with which it was made](crate::cable::CablePath::places),
    /// all parts active and at scale 1. A [`CableSpring`](crate::CableSpring) has them among the parameters in a state. A
    /// user's element can have them too; it solves the path by [`CablePath::at`](crate::cable::CablePath::at).
    pub struct Places<T> {
        /// The origin, in its body's frame.
        pub origin: Point3<T> ["m"], finite => Position;
        /// The termination, in its body's frame.
        pub termination: Point3<T> ["m"], finite => Position;
        /// One per via point, in order.
        pub via_points: Vec<ViaPlace<T>> => Position;
        /// One per obstacle, in order.
        pub obstacles: Vec<ObstaclePlace<T>> => Position;
    }
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
