//! The contract of integrators, and what the three have in common.

use alloc::vec::Vec;

use crate::math::{InvalidValue, Real, Requirement, check};
use crate::simulation::error::SimulationError;
use crate::simulation::motion::Simulation;

/// Advances a simulation by one accepted step.
///
/// Times, step lengths, accuracies and tolerances are `f64` whatever the scalar: with a dual number they
/// cannot carry a derivative, and what a run returns is the derivative of the steps that were taken, their
/// lengths held fixed. In single precision the clock does not lose the steps of a long run.
///
/// An integrator can be used for one simulation after another. What it remembers of the last step (its
/// next step length, and rates for a predictor) counts only where that step ended: at that time, with those positions
/// and velocities. Anywhere else it starts as a new one does.
///
/// Sealed: an integrator of one's own drives a [`ForceSystem`](crate::ForceSystem) and a plant of one's own.
pub trait Integrator<T: Real>: Sealed {
    /// Takes one step, not beyond `end` \[s\]. A step that is refused changes neither the simulation nor the
    /// integrator.
    ///
    /// # Errors
    /// [`SimulationError::Forces`] with what the elements document, or if a setting of the integrator is out of range,
    /// `end` lies in the past, or `end`, a motion or an energy is not finite; [`SimulationError::NonFinite`] if a
    /// rate or the work of the loads is not finite; [`SimulationError::StepTooSmall`],
    /// [`SimulationError::StepNotConverged`] or [`SimulationError::StepNotSettled`] where no step is short enough, or
    /// time would not advance in the precision of the scalar.
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: f64) -> Result<(), SimulationError>;
}

/// Implemented by the integrators of this module.
pub trait Sealed {}

/// A step on the clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// The length that was asked for \[s\].
    asked: f64,
    /// From where it starts to where it ends \[s\].
    pub(super) length: f64,
    /// When it ends \[s\].
    pub(super) end: f64,
    /// Whether it ends where the run does.
    pub(super) is_last: bool,
}

impl Span {
    /// Whether it is no longer than this, but for the rounding of the clock.
    pub(super) fn is_within(&self, length: f64) -> bool {
        self.length.min(self.asked) <= length
    }
}

/// A remainder of up to a thousandth of a step is rounding, not a step of its own.
pub(super) const STRETCH: f64 = 1.001;

impl<T: Real> Simulation<'_, T> {
    /// Refuses an `end` that is not a time or has passed.
    pub(super) fn check_end(&self, end: f64) -> Result<(), SimulationError> {
        check::finite("simulation.end", end)?;
        let must = Requirement::AtLeast("the present time");
        Ok(check::that(end >= self.time(), "simulation.end", end, must)?)
    }

    /// A step of this length from now; or to `end`, if it is not farther than `stretch` times as much.
    ///
    /// # Errors
    /// [`SimulationError::StepTooSmall`] if time would not advance in the precision of the scalar.
    pub(super) fn span(&self, length: f64, end: f64, stretch: f64) -> Result<Span, SimulationError> {
        let start = self.time();
        // As the elements read it.
        let rounded = |time: f64| T::lit(time).to_f64();
        let reaches = start + length * stretch >= end;
        // What would be left is nothing to the elements.
        let leaves_nothing = rounded(start + length) >= rounded(end) && end - start <= 1.5 * length;
        let is_last = reaches || leaves_nothing;
        let span_end = if is_last { end } else { start + length };
        let least = T::default_epsilon().to_f64() * start.abs().max(1.0);
        if rounded(span_end) <= rounded(start) || (length < least && !is_last) {
            return Err(SimulationError::StepTooSmall { time: start, step: length.min(end - start) });
        }
        // Where rounding of the sum takes a noticeable part of the step, what is integrated is what the clock shows.
        let shown = span_end - start;
        let is_shown_otherwise = (shown - length).abs() > 1e-6 * length;
        let length_taken = if is_last || is_shown_otherwise { shown } else { length };
        Ok(Span { asked: length, length: length_taken, end: span_end, is_last })
    }
}

/// Where an integrator's last step ended, and the length it has chosen for the next.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Memory<T> {
    /// `None` before the first step.
    next_step: Option<f64>,
    time: f64,
    motion: Vec<T>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self { next_step: None, time: 0.0, motion: Vec::new() }
    }
}

impl<T: Real> Memory<T> {
    /// The next step \[s\], if the simulation is where the last one ended.
    pub(super) fn next_step(&self, simulation: &Simulation<'_, T>) -> Option<f64> {
        let is_there = self.time == simulation.time() && self.motion == simulation.motion();
        self.next_step.filter(|_| is_there)
    }

    /// Remembers where the simulation is.
    pub(super) fn keep(&mut self, simulation: &Simulation<'_, T>, next_step: f64) {
        self.next_step = Some(next_step);
        self.time = simulation.time();
        self.motion.clear();
        self.motion.extend_from_slice(simulation.motion());
    }

    /// # Errors
    /// [`InvalidValue`] if it was spoilt while it was written down.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("integrator.next_step", self.next_step.unwrap_or(1.0))
    }
}
