//! Errors of the bushing's angles.

use crate::framework::ElementError;

/// The middle angle is so near ±90° that the other two are not defined.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the middle angle is {angle} rad, where the x-y-z angles are singular: choose frames whose y axis is the one about \
     which the bushing turns least"
)]
pub struct Singular {
    /// The middle angle \[rad\].
    pub angle: f64,
}

/// Since the last accepted step the first and last angle have changed by too much to determine their sense of
/// rotation.
///
/// Take a shorter step. If the body was placed there rather than moved, reset the turns
/// ([`ForceSystem::reset_memory`](crate::ForceSystem::reset_memory)).
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "q_x and q_z have changed by {qx} and {qz} rad in one step, too far to tell which way: take a shorter step, or reset \
     the turns if the bodies were put there"
)]
pub struct AmbiguousTurn {
    /// The change of the first angle, to the nearest whole turn \[rad\].
    pub qx: f64,
    /// The change of the last angle, to the nearest whole turn \[rad\].
    pub qz: f64,
}

impl From<Singular> for ElementError {
    fn from(error: Singular) -> Self {
        Self::own(error)
    }
}

impl From<AmbiguousTurn> for ElementError {
    fn from(error: AmbiguousTurn) -> Self {
        Self::own(error)
    }
}
