//! A ring.

use crate::math::{Requirement, check};
use crate::shapes::lengths::shape_of_lengths;

shape_of_lengths! {
    /// A ring about the z axis of its frame: a tube around a circle in the xy plane.
    pub struct Torus in "torus" {
        /// The radius of the circle at the centre of the tube \[m\].
        ring_radius,
        /// The radius of the tube \[m\].
        tube_radius,
    }
    /// A torus with this radius of the circle \[m\] and this radius of the tube around it \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`](crate::shapes::ShapeError::InvalidValue) unless both are of a
    /// [`Size`](crate::Requirement::Size) and the tube is thinner than the ring, so that the torus has a hole and is
    /// smooth.
    new;
    check |torus| {
        let is_thinner = torus.tube_radius < torus.ring_radius;
        check::that(is_thinner, "torus.tube_radius", torus.tube_radius, Requirement::Below("ring_radius"))
    };
}
