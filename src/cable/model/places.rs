//! The part of a state that belongs to a path: poses, scales and switches of its parts, and the memory between accepted
//! steps.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::framework::stored_variables;
use crate::math::{Pose, Real};
use crate::variables;

stored_variables! {
    /// The places of a path: the quantities that may differ from state to state.
    ///
    /// A [`CablePath`](crate::cable::CablePath) has the places [with which it was made](crate::cable::CablePath::places),
    /// all parts active and at scale 1. A [`CableSpring`](crate::CableSpring) has places among its parameters in a state.
    /// A user's element can have them too; it solves the path by
    /// [`CablePath::solve_at`](crate::cable::CablePath::solve_at).
    pub struct Places<T> {
        /// The origin, in its body's frame.
        pub origin: Point3<T> ["m"], finite => Position;
        /// The termination, in its body's frame.
        pub termination: Point3<T> ["m"], finite => Position;
        /// The places of the via points, in order.
        pub via_points: Vec<ViaPlace<T>> => Position;
        /// The places of the obstacles, in order.
        pub obstacles: Vec<ObstaclePlace<T>> => Position;
    }
}

variables! {
    /// The place of a via point.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct ViaPlace<T> {
        /// Whether the cable runs through the point. An inactive point is ignored; obstacles before and after it keep
        /// their order.
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
        /// Whether the cable passes over the obstacle. An inactive obstacle is ignored, and
        /// [forgotten](crate::cable::CablePath#parts-that-come-and-go) at the next accepted step.
        pub active: bool => Position;
        /// The pose of the surface on its body.
        pub X_BS: Pose<T> ["m"] => Position;
        /// The scale of the surface in all directions, relative to the surface as it was made; for a sphere or cylinder,
        /// the scale of its radius. A contact hint is moved accordingly.
        pub scale: T = 1.0, size => Position;
    }
    in "obstacles";
}

stored_variables! {
    /// A contact of the cable with an obstacle, or its passage without contact, at the last commit.
    ///
    /// Lengths are measured on the surface as it was made; its [scale](crate::cable::ObstaclePlace::scale) multiplies
    /// them.
    #[derive(Copy)]
    pub struct Wrap<T> {
        /// Whether there is a memory; false before the first accepted step.
        pub known: bool => Position;
        /// Whether the cable was in contact.
        pub in_contact: bool => Position;
        /// The first point of contact, in the surface's frame; without contact, the start of the straight segment that
        /// passes the obstacle.
        pub point: Point3<T> ["m"], finite => Position;
        /// The direction at the first point of contact, in the surface's frame; without contact, the whole straight
        /// segment \[m\], zero if it is not known.
        pub tangent: Vector3<T>, finite => Position;
        /// The length of the contact arc.
        pub length: T ["m"], nonnegative => Position;
    }
    in "wraps";
}

variables! {
    /// The pose of a body of the path at the last commit.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct PastBody<T> {
        /// Whether there is a memory; false before the first accepted step.
        pub known: bool => Position;
        /// Its pose in Ground.
        pub X_GB: Pose<T> ["m"] => Position;
    }
    in "past_bodies";
}

variables! {
    /// The memory of a path.
    ///
    /// An obstacle that is not convex may be touched several times.
    /// [`Obstacle::with_most_contacts`](crate::cable::Obstacle::with_most_contacts) fixes the number of places for its
    /// contacts, so that the variables of a state do not depend on the path.
    ///
    /// The memory determines the class of the path (the side of an obstacle, the number of windings) and the start of the
    /// solver. Within the class, the path depends on the memory by no more than its smoothness.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Wraps<T> {
        /// The first contact of each obstacle, in order along the path.
        pub wraps: Vec<Wrap<T>> => Position;
        /// Further contacts: for each obstacle in order, one place fewer than the number of contacts that it may have.
        /// Places without contact are vacant.
        pub further_wraps: Vec<Wrap<T>> => Position;
        /// One entry per body of the path other than Ground, in the order of their first stations, obstacles and via
        /// points. Long steps are [followed in parts](crate::cable::CablePath#long-steps) from these poses.
        pub past_bodies: Vec<PastBody<T>> => Position;
    }
}

impl<T: Real> Wrap<T> {
    /// The start of the straight segment that passed the obstacle freely, and the segment.
    pub(crate) fn passing(&self) -> Option<(Point3<T>, Vector3<T>)> {
        let is_free = self.known && !self.in_contact && self.tangent != Vector3::zeros();
        is_free.then_some((self.point, self.tangent))
    }
}

impl<T: Real> Wraps<T> {
    /// Replaces this memory by another one, cast to this scalar.
    pub(crate) fn cast_from<U: Real>(&mut self, other: &Wraps<U>) {
        let Self { wraps, further_wraps, past_bodies } = self;
        for (own, other) in [(wraps, &other.wraps), (further_wraps, &other.further_wraps)] {
            own.clear();
            own.extend(other.iter().map(Wrap::cast));
        }
        past_bodies.clear();
        past_bodies.extend(other.past_bodies.iter().map(PastBody::cast));
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.wraps.fill(Wrap::default());
        self.further_wraps.fill(Wrap::default());
        self.past_bodies.fill(PastBody::default());
    }
}
