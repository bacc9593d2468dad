//! Errors of shapes and paths as those of systems and elements.

use crate::cable::PathError;
use crate::framework::{ElementError, Error, OwnError};
use crate::shapes::ShapeError;

impl From<ShapeError> for Error {
    fn from(error: ShapeError) -> Self {
        match error {
            ShapeError::InvalidValue(value) => Self::InvalidValue(value),
            error => Self::Own(OwnError::new(error)),
        }
    }
}

impl From<PathError> for Error {
    fn from(error: PathError) -> Self {
        match error {
            PathError::InvalidValue(value) | PathError::Shape(ShapeError::InvalidValue(value)) => {
                Self::InvalidValue(value)
            }
            error => Self::Own(OwnError::new(error)),
        }
    }
}

impl From<ShapeError> for ElementError {
    fn from(error: ShapeError) -> Self {
        match error {
            ShapeError::InvalidValue(value) => Self::InvalidValue(value),
            error => Self::own(error),
        }
    }
}

impl From<PathError> for ElementError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::InvalidValue(value) | PathError::Shape(ShapeError::InvalidValue(value)) => {
                Self::InvalidValue(value)
            }
            error => Self::own(error),
        }
    }
}
