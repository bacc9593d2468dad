//! Newton's method for an implicit stage, with a Jacobian that is kept while it is useful.

use alloc::vec::Vec;

use nalgebra::ComplexField;

use crate::math::{InvalidValue, Real, default_by_field, is_plain};
use crate::simulation::implicit::jacobian::{Jacobian, plain};
use crate::simulation::layout::Role;
use crate::simulation::{Simulation, SimulationError};

/// An implicit stage: unknowns `u = base + w·rate(t, q, u)`, where the positions `q` are those of the start displaced by
/// `displacement + w·u`.
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

/// The simplified Newton method: corrections with one Jacobian, while they decrease fast.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Newton<T: Real> {
    /// Kept from stage to stage and from step to step.
    pub(super) jacobian: Option<Jacobian<T>>,
    /// Indices of the velocities, and of the continuous variables of elements, among the variables.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) unknowns: Vec<usize>,
    #[cfg_attr(feature = "serde", serde(skip))]
    guess: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    correction: Vec<T>,
}

default_by_field!(Newton { jacobian, unknowns, guess, correction });

/// The number of iterations after which a stage counts as not converging. Two or three are normal with a new Jacobian,
/// and up to a dozen with a kept one.
const LIMIT: usize = 24;

/// The number of further iterations beyond which a kept Jacobian is replaced.
const LEFT: f64 = 12.0;

impl<T: Real> Newton<T> {
    /// Prepares for the variables of a simulation.
    pub(super) fn prepare(&mut self, simulation: &Simulation<'_, T>) {
        let variables = 0..simulation.y.len();
        let is_unknown = |&i: &usize| matches!(simulation.role(i), Role::Velocity | Role::Element);
        self.unknowns.clear();
        self.unknowns.extend(variables.filter(is_unknown));
        self.correction.resize(self.unknowns.len(), T::zero());
    }

    /// # Errors
    /// [`InvalidValue`] if a kept Jacobian was deserialized and spoilt.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        self.jacobian.as_ref().map_or(Ok(()), Jacobian::validate)
    }

    /// Solves a stage from the guess in `y`; leaves the solution there, and its rates.
    ///
    /// A kept Jacobian that does not lead to the solution is replaced by one at the guess. Iterates may diverge, or
    /// corrections may be small only because the Jacobian is that of a stiff contact that has ended.
    ///
    /// # Errors
    /// [`SimulationError::StepNotConverged`], and those of an evaluation.
    pub(super) fn solve(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        stage: &Stage<'_, T>,
        y: &mut [T],
        rates: &mut [T],
    ) -> Result<(), SimulationError> {
        if self.unknowns.is_empty() {
            stage.calc_rates(simulation, y, rates)?;
            return Ok(());
        }
        let count = self.unknowns.len();
        self.jacobian = self.jacobian.take().filter(|kept| kept.serves(stage.weight, count));
        let is_kept = self.jacobian.is_some();
        self.guess.clear();
        self.guess.extend_from_slice(y);
        let mut solved = self.iterate(simulation, stage, y, rates);
        if is_kept && !matches!(solved, Ok(true)) {
            self.jacobian = None;
            y.copy_from_slice(&self.guess);
            solved = self.iterate(simulation, stage, y, rates);
        }
        if let Err(error) = solved {
            self.jacobian = None;
            return Err(error);
        }
        if !is_plain::<T>() {
            self.converge_derivatives(simulation, stage, y, rates)?;
            stage.calc_rates(simulation, y, rates)?;
        }
        Ok(())
    }

    /// Iterates until the corrections are negligible, and leaves the rates at the solution. Returns whether the last
    /// correction has decreased the residual, if the residual is not negligible.
    fn iterate(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        stage: &Stage<'_, T>,
        y: &mut [T],
        rates: &mut [T],
    ) -> Result<bool, SimulationError> {
        // The level of rounding in forces over masses.
        let noise = ComplexField::sqrt(T::negligible().to_f64());
        let tolerance = noise * noise.max(1e-4);
        let scale = simulation.plant.scale.unwrap_or(1.0);
        // The velocities that correspond to the rounding of positions.
        let is_place = |&i: &usize| matches!(simulation.role(i), Role::Position | Role::Orientation);
        let places = (0..y.len()).filter(is_place).map(|i| y[i].to_f64().abs());
        let rounding = T::default_epsilon().to_f64() * places.fold(0.0, f64::max) / stage.weight;
        let (mut last_size, mut last_worst) = (None::<f64>, None::<f64>);
        for iterations in 1..=LIMIT {
            stage.calc_rates(simulation, y, rates)?;
            let worst = self.write_residual(stage, y, rates);
            let residual = self.largest(y, scale);
            // No further Jacobian for diverging iterates.
            if last_worst.is_some_and(|last| worst > last * 2.0) {
                return Err(stage.not_converged(worst, iterations));
            }
            let mut jacobian = match self.jacobian.take() {
                Some(jacobian) => jacobian,
                None => Jacobian::new(simulation, stage, &self.unknowns, y)?,
            };
            if !jacobian.solve(stage.weight, &mut self.correction) {
                return Err(stage.not_converged(worst, iterations));
            }
            last_worst = Some(worst);
            for (&i, &c) in self.unknowns.iter().zip(&self.correction) {
                y[i] -= c;
            }
            let size = self.largest(y, scale);
            let ratio = last_size.map_or(1.0, |last| size / last);
            // Corrections decrease like a geometric series; this is its remainder.
            let left = if ratio < 1.0 { size * ratio / (1.0 - ratio) } else { f64::INFINITY };
            // The rounding matters for forces as far as they are stiff: as far as the residual exceeds the correction.
            let felt = rounding * (1.0 - size / residual);
            let is_rounding = last_size.is_some() && ratio > 0.5 && size <= felt;
            if size <= tolerance || left <= tolerance || is_rounding {
                self.jacobian = Some(jacobian);
                stage.calc_rates(simulation, y, rates)?;
                let after = self.write_residual(stage, y, rates);
                return Ok(after <= 0.9 * worst || self.largest(y, scale) <= tolerance);
            }
            // The iterations to the solution at this rate; a new Jacobian costs as much as a few.
            let further = ComplexField::ln(tolerance / size) / ComplexField::ln(ratio);
            let is_slow = last_size.is_some() && (ratio > 0.5 || further > LEFT);
            self.jacobian = (!is_slow).then_some(jacobian);
            last_size = (!is_slow).then_some(size);
        }
        Err(stage.not_converged(last_worst.unwrap_or(0.0), LIMIT))
    }

    /// Converges the derivatives of the unknowns, whose values have converged and do not change.
    ///
    /// A correction multiplies an error of the derivatives by the relative error of the Jacobian, about 1e-7 for elements
    /// with finite differences, so two corrections suffice. This Jacobian is not kept, so that the values equal those of
    /// a run in plain numbers.
    fn converge_derivatives(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        stage: &Stage<'_, T>,
        y: &mut [T],
        rates: &mut [T],
    ) -> Result<(), SimulationError> {
        stage.calc_rates(simulation, y, rates)?;
        let mut jacobian = Jacobian::new(simulation, stage, &self.unknowns, y)?;
        for _ in 0..2 {
            stage.calc_rates(simulation, y, rates)?;
            self.write_residual(stage, y, rates);
            if !jacobian.solve(stage.weight, &mut self.correction) {
                return Ok(());
            }
            for (&i, &c) in self.unknowns.iter().zip(&self.correction) {
                y[i] -= c - plain(c);
            }
        }
        Ok(())
    }

    /// Writes the residual of the equations of a stage; returns the largest.
    fn write_residual(&mut self, stage: &Stage<'_, T>, y: &[T], rates: &[T]) -> f64 {
        let mut worst = 0.0_f64;
        for (residual, &i) in self.correction.iter_mut().zip(&self.unknowns) {
            *residual = y[i] - stage.base[i] - rates[i] * T::lit(stage.weight);
            worst = worst.max(residual.to_f64().abs());
        }
        worst
    }

    /// The largest residual or correction, relative to the unknowns in `y` or this scale.
    fn largest(&self, y: &[T], scale: f64) -> f64 {
        let numbers = self.unknowns.iter().zip(&self.correction);
        let relative = numbers.map(|(&i, number)| number.to_f64().abs() / (scale + y[i].to_f64().abs()));
        relative.fold(0.0, f64::max)
    }

    /// Divides errors of the unknowns, in their places among the variables, by `1 − w·J`: stiff components are damped as
    /// in a step.
    pub(super) fn filter(&mut self, weight: f64, errors: &mut [T]) {
        let Some(jacobian) = &mut self.jacobian else { return };
        for (right, &i) in self.correction.iter_mut().zip(&self.unknowns) {
            *right = errors[i];
        }
        if jacobian.solve(weight, &mut self.correction) {
            for (&i, &filtered) in self.unknowns.iter().zip(&self.correction) {
                errors[i] = filtered;
            }
        }
    }
}
