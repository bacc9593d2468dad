//! Error of two balls in one place.

use crate::framework::ElementError;

/// The centers of two balls are at one point, where the normal is not defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the centers of the balls coincide, where the direction of the force is not defined")]
pub struct CentersCoincide;

impl From<CentersCoincide> for ElementError {
    fn from(error: CentersCoincide) -> Self {
        Self::own(error)
    }
}
