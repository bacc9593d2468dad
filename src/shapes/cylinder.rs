//! A round cylinder.

use crate::shapes::lengths::shape_of_lengths;

shape_of_lengths! {
    /// A round cylinder about the z axis of its frame, without ends.
    pub struct Cylinder in "cylinder" {
        /// The radius \[m\].
        radius,
    }
    /// A cylinder of this radius \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`](crate::shapes::ShapeError::InvalidValue) unless the radius is of a
    /// [`Size`](crate::Requirement::Size).
    new;
}
