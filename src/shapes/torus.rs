//! A ring.

use crate::math::{InvalidValue, Real, Requirement, check, checked_when_read};
use crate::shapes::ShapeError;

/// A ring about the z axis of its frame: a tube around a circle in the xy plane.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Torus<T: Real> {
    pub(crate) ring_radius: T,
    pub(crate) tube_radius: T,
}

checked_when_read!(Torus);

impl<T: Real> Torus<T> {
    /// A torus with this radius of the circle \[m\] and this radius of the tube around it \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless both are of a [`Size`](crate::Requirement::Size) and the tube is
    /// thinner than the ring, so that the torus has a hole and is smooth.
    pub fn new(ring_radius: T, tube_radius: T) -> Result<Self, ShapeError> {
        let torus = Self { ring_radius, tube_radius };
        torus.validate()?;
        Ok(torus)
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        let Self { ring_radius, tube_radius } = *self;
        check::size("torus.ring_radius", ring_radius)?;
        check::size("torus.tube_radius", tube_radius)?;
        let is_thinner = tube_radius < ring_radius;
        check::that(is_thinner, "torus.tube_radius", tube_radius, Requirement::Below("ring_radius"))
    }

    /// The radius of the circle at the centre of the tube \[m\].
    pub fn ring_radius(&self) -> T {
        self.ring_radius
    }

    /// The radius of the tube \[m\].
    pub fn tube_radius(&self) -> T {
        self.tube_radius
    }

    /// The same torus in another scalar.
    ///
    /// # Errors
    /// As [`new`](Self::new), where the other scalar has a smaller range.
    pub fn cast<U: Real>(self) -> Result<Torus<U>, ShapeError> {
        Torus::new(self.ring_radius.cast(), self.tube_radius.cast())
    }
}
