//! The implicit methods, by their coefficients.

use core::f64::consts::SQRT_2;

/// An implicit method. Its first stage is the start of the step, the others are implicit and have the same weight, and
/// the last one is the end of the step.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Method {
    Trapezoidal,
    TrBdf2,
}

/// The largest number of stages of a method, including the start.
pub(super) const MOST_STAGES: usize = 3;

impl Method {
    /// The weight of a stage's own rates, over the step.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Trapezoidal => 0.5,
            Self::TrBdf2 => 1.0 - 0.5 * SQRT_2,
        }
    }

    /// For each implicit stage, its time as a fraction of the step, and the weights of the earlier rates.
    pub(super) fn stages(self) -> &'static [(f64, &'static [f64])] {
        match self {
            Self::Trapezoidal => &[(1.0, &[0.5])],
            Self::TrBdf2 => &[(2.0 - SQRT_2, &[1.0 - 0.5 * SQRT_2]), (1.0, &[0.25 * SQRT_2, 0.25 * SQRT_2])],
        }
    }

    /// Weights of the rates in the error of a step; if there are none, the error is estimated from the previous step.
    pub(super) fn error(self) -> Option<[f64; 3]> {
        match self {
            Self::Trapezoidal => None,
            // The weights of the step minus those of the solution of order 3.
            Self::TrBdf2 => Some([(SQRT_2 - 1.0) / 3.0, -1.0 / 3.0, (2.0 - SQRT_2) / 3.0]),
        }
    }

    /// The number of the last stage.
    pub(super) fn last(self) -> usize {
        self.stages().len()
    }

    /// The time of a stage, as a fraction of the step.
    pub(super) fn time_of(self, stage: usize) -> f64 {
        if stage == 0 { 0.0 } else { self.stages()[stage - 1].0 }
    }
}
