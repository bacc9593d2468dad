//! The Jacobian of the rates, kept from step to step.

use alloc::vec::Vec;

use nalgebra::{DMatrix, DVectorViewMut, Dyn, LU};

use crate::math::{InvalidValue, Real, check};
use crate::simulation::error::SimulationError;
use crate::simulation::implicit::stage::Stage;
use crate::simulation::motion::Simulation;

/// The derivatives of the rates of the unknowns by the unknowns, column by column, where positions follow the
/// velocities as a stage says. `rates` are those at `y`, which is left as it was but for its positions.
///
/// In plain numbers: the solution of a stage does not depend on it.
fn calc_rate_jacobian<T: Real>(
    simulation: &mut Simulation<'_, T>,
    stage: &Stage<'_, T>,
    unknowns: &[usize],
    y: &mut [T],
    rates: &[T],
) -> Result<Vec<T>, SimulationError> {
    let mut entries = Vec::with_capacity(unknowns.len() * unknowns.len());
    let mut shifted = rates.to_vec();
    for &i in unknowns {
        let kept = y[i];
        let delta = plain(T::default_epsilon().sqrt() * (T::one() + kept.abs()));
        y[i] = kept + delta;
        let evaluated = stage.calc_rates(simulation, y, &mut shifted);
        y[i] = kept;
        evaluated?;
        entries.extend(unknowns.iter().map(|&j| plain((shifted[j] - rates[j]) / delta)));
    }
    Ok(entries)
}

/// A Jacobian of the rates, and the factors of `1 − w·J` for the weight of the present stage.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Jacobian<T: Real> {
    /// The weight of the stage at which it was calculated \[s\].
    weight: f64,
    entries: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    factors: Option<Factors<T>>,
}

#[derive(Debug, Clone)]
struct Factors<T: Real> {
    weight: f64,
    lu: LU<T, Dyn, Dyn>,
}

/// By how much the weight of a stage may differ from that of the Jacobian. How positions follow velocities is part of
/// it, so that with another weight it is off, at most by that factor.
const REACH: f64 = 3.0;

impl<T: Real> Jacobian<T> {
    pub(super) fn new(
        simulation: &mut Simulation<'_, T>,
        stage: &Stage<'_, T>,
        unknowns: &[usize],
        y: &mut [T],
        rates: &[T],
    ) -> Result<Self, SimulationError> {
        let entries = calc_rate_jacobian(simulation, stage, unknowns, y, rates)?;
        Ok(Self { weight: stage.weight, entries, factors: None })
    }

    /// Whether it may serve a stage of this weight with as many unknowns.
    pub(super) fn serves(&self, weight: f64, unknowns: usize) -> bool {
        let ratio = weight / self.weight;
        (1.0 / REACH..=REACH).contains(&ratio) && self.entries.len() == unknowns * unknowns
    }

    /// Solves `(1 − w·J) x = right` in place; returns whether the solution is finite.
    pub(super) fn solve(&mut self, weight: f64, right: &mut [T]) -> bool {
        let count = right.len();
        let factors = match self.factors.take() {
            Some(factors) if factors.weight == weight => factors,
            _ => {
                let scaled = DMatrix::from_column_slice(count, count, &self.entries) * T::lit(-weight);
                Factors { weight, lu: (scaled + DMatrix::identity(count, count)).lu() }
            }
        };
        let is_regular = factors.lu.solve_mut(&mut DVectorViewMut::from_slice(right, count));
        self.factors = Some(factors);
        is_regular && right.iter().all(T::is_finite)
    }

    /// # Errors
    /// [`InvalidValue`] if it was deserialized and spoilt.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("implicit.jacobian_weight", self.weight)?;
        self.entries.iter().try_for_each(|&entry| check::finite("implicit.jacobian", entry))
    }
}

/// The value without derivatives.
pub(super) fn plain<T: Real>(x: T) -> T {
    T::lit(x.to_f64())
}
