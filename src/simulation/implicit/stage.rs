//! One implicit stage of a step, and the equations it solves.

use crate::math::Real;
use crate::simulation::{Simulation, SimulationError};

/// An implicit stage: unknowns `u = base + w·rate(t, q, u)`, with positions `q` that are those of the start,
/// displaced by `displacement + w·u`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage<'a, T> {
    /// The start of the step, and its length \[s\].
    pub(super) step: (f64, f64),
    /// Time \[s\].
    pub(super) time: f64,
    /// The weight `w` of its own rates \[s\].
    pub(super) weight: f64,
    /// The variables at the start of the step.
    pub(super) start: &'a [T],
    /// The contribution of earlier stages to the unknowns, at their places among the variables.
    pub(super) base: &'a [T],
    /// The displacements by the velocities of earlier stages, at the places of the velocities.
    pub(super) displacement: &'a [T],
}

impl<T: Real> Stage<'_, T> {
    /// The largest residual among the unknowns after so many iterations, as an error.
    pub(super) fn not_converged(&self, residual: f64, iterations: usize) -> SimulationError {
        let (time, step) = self.step;
        SimulationError::StepNotConverged { time, step, residual, iterations }
    }

    /// Writes the positions that follow from the velocities in `y`, and the rates there.
    pub(super) fn calc_rates(
        &self,
        simulation: &mut Simulation<'_, T>,
        y: &mut [T],
        rates: &mut [T],
    ) -> Result<(), SimulationError> {
        simulation.advance_positions(self.start, self.displacement, y, self.weight);
        simulation.calc_rates(self.time, y, rates)
    }
}
