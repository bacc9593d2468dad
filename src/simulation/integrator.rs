//! The contract of integrators, and their common parts.

use nalgebra::ComplexField;

use crate::math::{Real, Requirement, check};
use crate::simulation::{Simulation, SimulationError};

/// Advances a simulation by one accepted step.
///
/// Times, step lengths, accuracies and tolerances are `f64` for any scalar. They carry no derivative, so a run in dual
/// numbers returns the derivative of its steps with their lengths held fixed. In single precision a long run does not
/// lose short steps.
///
/// An integrator can be used for one simulation after another. It uses its memory of the last step (the next step length,
/// and rates for a predictor) only at the time, positions and velocities at which that step ended. Otherwise it starts
/// like a new one.
///
/// Only the integrators of this module can advance a simulation. An integrator of your own can call them, or drive a
/// [`ForceSystem`](crate::ForceSystem) with a plant of its own.
pub trait Integrator<T: Real> {
    /// Takes one step, which does not go beyond `end` \[s\]. A refused step changes neither the simulation nor the
    /// integrator.
    ///
    /// # Errors
    /// [`SimulationError::Forces`] with an error documented by an element, or if a setting of the integrator is
    /// out of range, `end` lies in the past, or `end`, a motion or an energy is not finite;
    /// [`SimulationError::NonFinite`] if a rate or the work of the loads is not finite;
    /// [`SimulationError::StepTooSmall`], [`SimulationError::StepNotConverged`] or
    /// [`SimulationError::StepNotSettled`] if no step is short enough, or time would not advance in the precision
    /// of the scalar; [`SimulationError::EnergyExploded`] if a step of fixed length is too long, also as
    /// [`Error::EnergyGained`](crate::Error::EnergyGained) and
    /// [`Error::FrictionAlternates`](crate::Error::FrictionAlternates) among the errors of forces from
    /// [`SemiImplicitEuler`](super::SemiImplicitEuler); [`SimulationError::PositionsTooCoarse`] if too much of the motion
    /// is lost by rounding.
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: f64) -> Result<(), SimulationError>;
}

/// A step in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// The length requested \[s\].
    asked: f64,
    /// The length from start to end \[s\].
    pub(super) length: f64,
    /// The time at its end \[s\].
    pub(super) end: f64,
    /// Whether it ends at the end of the run.
    pub(super) is_last: bool,
}

impl Span {
    /// Whether the step is at most this long, up to rounding of the time.
    pub(super) fn is_within(&self, length: f64) -> bool {
        self.length.min(self.asked) <= length
    }

    /// The step to try instead, at most `step`. It is shorter than the length asked for, which may have been rounded up
    /// to this one.
    pub(super) fn retried(&self, step: f64) -> f64 {
        step.min(0.9 * self.asked)
    }
}

/// The shortest step \[s\] by which time advances in the precision of the scalar. From zero, time would advance by any
/// step, but too many steps would be needed.
pub(super) fn least_step<T: Real>(start: f64) -> f64 {
    (T::default_epsilon().to_f64() * power_of_two(start)).max(f64::EPSILON)
}

/// The greatest power of two up to the magnitude of a number; zero for a subnormal one.
pub(super) fn power_of_two(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & f64::INFINITY.to_bits())
}

/// The step to try after a step in which there was an event, or an element failed.
pub(super) fn shortened(h: f64, event_step: f64) -> f64 {
    (h * 0.25).max(event_step)
}

/// The error of forces at the end of a step \[N\] that indicates an event: the one that is set, or else one that is
/// smaller for a higher accuracy.
pub(super) fn event_force(accuracy: f64, set: Option<f64>) -> f64 {
    set.unwrap_or((1e2 * accuracy).min(1e-3))
}

/// The factor of a step by which the [error of memory](Simulation::path_error) becomes a quarter of the allowed error, if
/// its order is one over `exponent`. (A quarter is one of the safety factors of Hairer, Nørsett, Wanner, *Solving
/// Ordinary Differential Equations I*, II.4.) A trial that is rejected for this error has needed nearly twice as many
/// evaluations as another.
///
/// The order is three where the drag of an anchor turns: one commit in a step misses the anchor by the order of `h²`, and
/// its force acts over the step. It is two where the drag ends.
pub(super) fn memory_growth(error: f64, exponent: f64) -> f64 {
    if error > 0.0 { ComplexField::powf(0.25 / error, exponent) } else { f64::INFINITY }
}

/// A remainder of up to a thousandth of a step is rounding, not a step of its own.
pub(super) const STRETCH: f64 = 1.001;

impl<T: Real> Simulation<'_, T> {
    /// Refuses an `end` that is not finite or lies in the past.
    pub(super) fn check_end(&self, end: f64) -> Result<(), SimulationError> {
        check::finite("simulation.end", end)?;
        let must = Requirement::AtLeast("the present time");
        Ok(check::that(end >= self.time(), "simulation.end", end, must)?)
    }

    /// The step \[s\] to which events are located: the one that is set, or else one that is shorter for a higher
    /// accuracy, as far as time can resolve it.
    pub(super) fn event_step(&self, accuracy: f64, set: Option<f64>) -> f64 {
        // At 10 m/s, the accuracy in metres, and at most a hundredth of a millimetre.
        set.unwrap_or((0.1 * accuracy).min(1e-6)).max(2.0 * least_step::<T>(self.time()))
    }

    /// A step of this length from now; or to `end`, if that is at most `stretch` times as far, or is farther by less than
    /// the scalar can resolve.
    ///
    /// # Errors
    /// [`SimulationError::StepTooSmall`] if time would not advance in the precision of the scalar, or the step is shorter than
    /// 2.2e-16 s.
    pub(super) fn span(&self, length: f64, end: f64, stretch: f64) -> Result<Span, SimulationError> {
        let start = self.time();
        // Time as the elements read it.
        let rounded = |time: f64| T::lit(time).to_f64();
        let reaches = start + length * stretch >= end;
        // Whether the remainder would vanish in the precision of the elements.
        let leaves_nothing = rounded(start + length) >= rounded(end) && end - start <= 2.0 * length;
        let is_last = reaches || leaves_nothing;
        let span_end = if is_last { end } else { start + length };
        if rounded(span_end) <= rounded(start) || (length < least_step::<T>(start) && !is_last) {
            return Err(SimulationError::StepTooSmall { time: start, step: length.min(end - start) });
        }
        // If rounding of the sum is a noticeable part of the step, the rounded step is integrated.
        let shown = span_end - start;
        let is_shown_otherwise = (shown - length).abs() > 1e-6 * length;
        let length_taken = if is_last || is_shown_otherwise { shown } else { length };
        Ok(Span { asked: length, length: length_taken, end: span_end, is_last })
    }
}
