//! Errors of the rotation vector.

use crate::framework::ElementError;

/// M is so near a whole turn from F that the axis of the turn is not defined, or has passed a whole turn since the last
/// accepted step.
///
/// A shorter step does not help: the bushing serves turns below a whole one.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the frames have turned by {angle} rad: the bushing serves turns below a whole one, where the axis of the turn is not \
     defined"
)]
pub struct WholeTurn {
    /// The angle of the turn \[rad\]; 2π if M has passed a whole turn since the last accepted step.
    pub angle: f64,
}

/// Since the last accepted step M has turned in F by more than 3 rad, or beside a whole turn from one side to another.
///
/// Take a shorter step. If the body was placed there rather than moved, reset the turn
/// ([`ForceSystem::reset_memory`](crate::ForceSystem::reset_memory)).
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the frames have turned by {angle} rad in one step, too far to tell which way: take a shorter step, or reset the turn \
     if the bodies were put there"
)]
pub struct AmbiguousTurn {
    /// The least angle by which M has turned in F \[rad\].
    pub angle: f64,
}

impl From<WholeTurn> for ElementError {
    fn from(error: WholeTurn) -> Self {
        Self::own(error)
    }
}

impl From<AmbiguousTurn> for ElementError {
    fn from(error: AmbiguousTurn) -> Self {
        Self::own(error)
    }
}
