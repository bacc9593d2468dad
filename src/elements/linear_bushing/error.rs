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

/// Since the last accepted step M has turned in F by more than 3 rad, or so close to the singular case that the
/// whole turns of the first and last angle cannot be determined.
///
/// Take a shorter step. If the body was placed there rather than moved, reset the turns
/// ([`ForceSystem::reset_memory`](crate::ForceSystem::reset_memory)).
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the frames have turned by {angle} rad in one step, and q_x and q_z have changed by {qx} and {qz} rad, too far to \
     tell which way: take a shorter step, or reset the turns if the bodies were put there"
)]
pub struct AmbiguousTurn {
    /// The least angle by which M has turned in F \[rad\].
    pub angle: f64,
    /// The change of the first angle in such a turn \[rad\].
    pub qx: f64,
    /// The change of the last angle in such a turn \[rad\].
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
