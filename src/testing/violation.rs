//! Broken promises.

use alloc::boxed::Box;
use alloc::string::String;

use crate::framework::Error;

/// A promise that an element has broken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{claim}, in the scene of seed {seed}: {finding}")]
pub struct Violation {
    /// The promise, such as `"the third law"`.
    pub claim: &'static str,
    /// The seed of the scene.
    pub seed: u64,
    /// How it was broken.
    pub finding: Finding,
}

/// How a promise was broken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// Two numbers that should be equal are not.
    #[error("{quantity} is off by {by:e}, more than {tolerance:e}")]
    Off {
        /// What was compared.
        quantity: &'static str,
        /// By how much the numbers differ.
        by: f64,
        /// By how much they may.
        tolerance: f64,
    },
    /// The forces or powers are too small for the check to mean anything.
    #[error("{quantity} is {value:e}: the scene is trivial")]
    Trivial {
        /// What is too small.
        quantity: &'static str,
        /// Its value.
        value: f64,
    },
    /// The same variables and motion have given other results.
    #[error("the same state gives other results after {after}")]
    OtherBits {
        /// What was done to the state before.
        after: &'static str,
    },
    /// A bad value was taken.
    #[error("{name} = {value:e} was not refused as it should be")]
    Accepted {
        /// The variable.
        name: String,
        /// The value.
        value: f64,
    },
    /// A refused value has changed the state.
    #[error("the state has changed though {name} was refused")]
    Changed {
        /// The variable.
        name: String,
    },
    /// The scene could not be made or evaluated.
    #[error(transparent)]
    Failed(Box<Error>),
}

impl From<Error> for Finding {
    fn from(error: Error) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// Returns what a check has found in the scene of a seed as a violation of this promise.
pub(super) fn claim<R>(
    claim: &'static str,
    seed: u64,
    check: impl FnOnce() -> Result<R, Finding>,
) -> Result<R, Violation> {
    check().map_err(|finding| Violation { claim, seed, finding })
}

/// Refuses a difference beyond the tolerance, or one that is not a number.
pub(super) fn within(quantity: &'static str, by: f64, tolerance: f64) -> Result<(), Finding> {
    if by <= tolerance { Ok(()) } else { Err(Finding::Off { quantity, by, tolerance }) }
}

/// Refuses a number that is too small for a check to mean anything.
pub(super) fn alive(quantity: &'static str, value: f64, least: f64) -> Result<(), Finding> {
    if value > least { Ok(()) } else { Err(Finding::Trivial { quantity, value }) }
}
