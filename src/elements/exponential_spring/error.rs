//! Error of a commit without an advance of time.

use crate::framework::ElementError;

/// A motion that takes zero or negative time cannot be committed.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "a step to t = {time} was to be committed after one at t = {last_update}: set the time of the state before each \
     step, and reset what the element remembers when time starts anew"
)]
pub struct TimeNotAdvanced {
    /// Time of the last commit \[s\].
    pub last_update: f64,
    /// Time of the state \[s\].
    pub time: f64,
}

impl From<TimeNotAdvanced> for ElementError {
    fn from(error: TimeNotAdvanced) -> Self {
        Self::own(error)
    }
}
