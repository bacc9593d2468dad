//! A round cylinder.

use crate::math::{InvalidValue, Real, check, checked_when_read};
use crate::shapes::ShapeError;

/// A round cylinder about the z axis of its frame, without ends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Cylinder<T: Real> {
    pub(crate) radius: T,
}

checked_when_read!(Cylinder);

impl<T: Real> Cylinder<T> {
    /// A cylinder of this radius \[m\].
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the radius is of a [`Size`](crate::Requirement::Size).
    pub fn new(radius: T) -> Result<Self, ShapeError> {
        let cylinder = Self { radius };
        cylinder.validate()?;
        Ok(cylinder)
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        check::size("cylinder.radius", self.radius)
    }

    /// The radius \[m\].
    pub fn radius(&self) -> T {
        self.radius
    }

    /// The same cylinder in another scalar.
    ///
    /// # Errors
    /// As [`new`](Self::new), where the other scalar has a smaller range.
    pub fn cast<U: Real>(self) -> Result<Cylinder<U>, ShapeError> {
        Cylinder::new(self.radius.cast())
    }
}
