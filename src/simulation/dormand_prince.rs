//! An explicit integrator of order 5 with error control.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use nalgebra::ComplexField;

use crate::math::{InvalidValue, Real, check};
use crate::simulation::integrator::{Span, event_force, least_step, memory_growth, shortened};
use crate::simulation::scales::Memory;
use crate::simulation::{Integrator, Simulation, SimulationError};

/// The Dormand–Prince pair of orders 5 and 4.
///
/// A step is accepted when the error estimates of all vectors and numbers are below the accuracy, relative to their
/// [scale](super::Plant::set_scale). The energies that the elements absorb are integrated and controlled like all other
/// variables.
///
/// The accuracy bounds the error of each step. Two kinds of runs therefore need 1e-6 or less: those with many impacts in
/// which nothing is lost, whose errors add up; and those with friction that is proportional to velocities below a small
/// `v_t`, which does not stick unless the accuracy times the scale of velocities is far below `v_t`.
///
/// Elements that switch at the end of a step cause events, which are located. If the error of forces over a step exceeds
/// the [force tolerance](Self::with_force_tolerance), the step is shortened until the error does not, or, where a force
/// jumps, to the [event step](Self::with_event_step). By default both follow from the accuracy. An element that switches
/// within a step and back again is not detected, such as a velocity of slip that touches zero and returns while a load
/// varies: limit the step by [`with_max_step`](Self::with_max_step) to the time in which loads vary.
///
/// Steps are limited by the [passing time](crate::ForceSystem::passing_time) of contacts, and repeated where a
/// [gap](crate::Gap) may have been closed and opened again; such contacts would otherwise be missed.
///
/// Settings are checked by every step, and by [`validate`](Self::validate).
///
/// Source: J. R. Dormand, P. J. Prince, *A family of embedded Runge-Kutta formulae*, Journal of
/// Computational and Applied Mathematics 6 (1980) 19–26, table 2.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DormandPrince<T: Real> {
    accuracy: f64,
    max_step: Option<f64>,
    first_step: f64,
    force_tolerance: Option<f64>,
    event_step: Option<f64>,
    memory: Memory<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    slopes: [Vec<T>; 7],
    #[cfg_attr(feature = "serde", serde(skip))]
    before: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    y: Vec<T>,
}

/// Nodes of the stages after the first.
const C: [f64; 6] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// Weights of the earlier slopes at each node; the last row belongs to the solution of order 5.
const A: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Weights of the difference between the solutions of order 5 and 4.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339_200.0, 22.0 / 525.0, -1.0 / 40.0];

impl<T: Real> DormandPrince<T> {
    /// An integrator with this accuracy, per step and relative to the [scale](super::Plant::set_scale) of the motion.
    pub fn new(accuracy: f64) -> Self {
        Self {
            accuracy,
            max_step: None,
            first_step: 1e-4,
            force_tolerance: None,
            event_step: None,
            memory: Memory::default(),
            slopes: Default::default(),
            before: Vec::new(),
            y: Vec::new(),
        }
    }

    /// The same integrator with steps of at most this length \[s\].
    #[must_use]
    pub fn with_max_step(self, max_step: f64) -> Self {
        Self { max_step: Some(max_step), ..self }
    }

    /// The same integrator with this first step \[s\]; 1e-4 by default. Error control changes the step by a factor of up
    /// to five at a time.
    #[must_use]
    pub fn with_first_step(self, first_step: f64) -> Self {
        Self { first_step, ..self }
    }

    /// The same integrator with this force error \[N\] to which events are located; by default 1e-3, or a hundred times
    /// the accuracy if that is less.
    #[must_use]
    pub fn with_force_tolerance(self, force_tolerance: f64) -> Self {
        Self { force_tolerance: Some(force_tolerance), ..self }
    }

    /// The same integrator with this shortest step \[s\] to which events are located, but no shorter than time can
    /// resolve; by default 1e-6, or a tenth of the accuracy if that is less.
    #[must_use]
    pub fn with_event_step(self, event_step: f64) -> Self {
        Self { event_step: Some(event_step), ..self }
    }

    /// Checks the settings, as every step does.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the accuracy and all step lengths are positive
    /// and the force tolerance is at least zero, all of them finite.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("dormand_prince.accuracy", self.accuracy)?;
        check::positive("dormand_prince.max_step", self.max_step.unwrap_or(1.0))?;
        check::positive("dormand_prince.first_step", self.first_step)?;
        check::nonnegative("dormand_prince.force_tolerance", self.force_tolerance.unwrap_or(0.0))?;
        check::positive("dormand_prince.event_step", self.event_step.unwrap_or(1.0))?;
        self.memory.validate()
    }

    /// Evaluates the stages of a step.
    fn calc_stages(&mut self, simulation: &mut Simulation<'_, T>, span: Span) -> Result<(), SimulationError> {
        let (start, h) = (simulation.time(), span.length);
        for (stage, (node, weights)) in (1..).zip(C.into_iter().zip(A)) {
            let Self { slopes, before, y, .. } = self;
            y.fill(T::zero());
            for (slopes, &weight) in slopes.iter().zip(weights) {
                y.iter_mut().zip(slopes).for_each(|(y, &slope)| *y += slope * T::lit(weight));
            }
            y.iter_mut().zip(before).for_each(|(y, before)| *y = *before + *y * T::lit(h));
            if stage == 6 {
                simulation.normalize(&mut self.y);
            }
            let time = if stage >= 5 { span.end } else { start + h * node };
            simulation.calc_rates(time, &self.y, &mut self.slopes[stage])?;
        }
        Ok(())
    }

    /// The largest ratio of error to tolerance of the last trial step.
    fn error(&self, simulation: &Simulation<'_, T>, h: f64) -> f64 {
        let slopes = self.slopes.each_ref().map(|k| &k[..self.y.len()]);
        self.memory.ratio(simulation, self.accuracy, &self.y, |i| {
            slopes.iter().zip(E).fold(0.0, |sum, (k, e)| sum + k[i].to_f64() * e) * h
        })
    }

    /// The ratio to the tolerance of the error due to memory that is committed only at the end of a step.
    fn path_error(&mut self, simulation: &mut Simulation<'_, T>, span: Span) -> Result<f64, SimulationError> {
        let Self { memory, accuracy, before, y, slopes: [first, point, change, .., last], .. } = self;
        let ends = [(&before[..], &first[..]), (&y[..], &last[..])];
        simulation.path_error(span, ends, point, change, |simulation, change| {
            memory.ratio(simulation, *accuracy, y, |i| change[i].to_f64() * span.length)
        })
    }

    /// Tries a step of this span; `longest` is its length before it was limited by the end. Breaks with the next step
    /// length if it is accepted, and otherwise continues with the length to try.
    fn try_step(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        span: Span,
        longest: f64,
        event_step: f64,
    ) -> Result<ControlFlow<f64, f64>, SimulationError> {
        self.calc_stages(simulation, span)?;
        let h = span.length;
        let error = self.error(simulation, h);
        // Of order 5: the error grows with the fifth power of the step. The factor 0.9 keeps most of the next trials
        // below the limit; the bounds limit the effect of an unusual estimate.
        let growth = if error > 0.0 { 0.9 / ComplexField::powf(error, 0.2) } else { 5.0 };
        let growth = growth.clamp(0.2, 5.0);
        if error > 1.0 {
            return Ok(ControlFlow::Continue(span.retried(h * growth.min(1.0))));
        }
        let is_close = span.is_within(event_step);
        let tolerance = event_force(self.accuracy, self.force_tolerance);
        if !is_close && simulation.switching_error()? > tolerance {
            return Ok(ControlFlow::Continue(shortened(h, event_step)));
        }
        if simulation.passing_time(h)? < h {
            return Ok(ControlFlow::Continue(h * 0.5));
        }
        if !is_close && let Some(step) = simulation.unseen_contact(h)? {
            return Ok(ControlFlow::Continue(span.retried(step)));
        }
        let path_error = if is_close { 0.0 } else { self.path_error(simulation, span)? };
        if path_error > 1.0 {
            let shorter = h * memory_growth(path_error, 0.5).max(0.2);
            return Ok(ControlFlow::Continue(span.retried(shorter.max(event_step))));
        }
        simulation.accept(span.end, &self.y, false)?;
        let growth = growth.min(memory_growth(path_error, 1.0 / 3.0));
        Ok(ControlFlow::Break(if span.is_last && growth >= 1.0 { longest } else { h * growth }))
    }
}

impl<T: Real> Integrator<T> for DormandPrince<T> {
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: f64) -> Result<(), SimulationError> {
        self.validate()?;
        simulation.check_end(end)?;
        let count = simulation.y.len();
        for buffer in self.slopes.iter_mut().chain([&mut self.before, &mut self.y]) {
            buffer.resize(count, T::zero());
        }
        self.before.copy_from_slice(&simulation.y);
        simulation.calc_present_rates(&mut self.slopes[0])?;
        let next_step = self.memory.next_step(simulation);
        let longest = next_step.unwrap_or(self.first_step.max(least_step::<T>(simulation.time())));
        let longest = longest.min(0.5 * simulation.passing_time(2.0 * longest)?);
        simulation.keep_gaps()?;
        let kept = next_step.is_none().then(|| self.memory.clone());
        self.memory.begin(simulation, next_step.is_some());
        let taken = self.advance(simulation, end, longest);
        if let (Err(_), Some(kept)) = (&taken, kept) {
            self.memory = kept;
        }
        taken
    }
}

impl<T: Real> DormandPrince<T> {
    /// Takes a step of at most this length from the start in `before`.
    fn advance(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        end: f64,
        mut longest: f64,
    ) -> Result<(), SimulationError> {
        let event_step = simulation.event_step(self.accuracy, self.event_step);
        loop {
            let span = simulation.span(self.max_step.map_or(longest, |max| longest.min(max)), end, 1.0)?;
            match self.try_step(simulation, span, longest, event_step) {
                Ok(ControlFlow::Break(next_step)) => {
                    self.memory.keep(simulation, next_step);
                    return Ok(());
                }
                Ok(ControlFlow::Continue(step)) => longest = step,
                Err(error) if span.is_within(event_step) => {
                    simulation.reject()?;
                    return Err(error);
                }
                // The elements fail at a trial stage; a shorter step may avoid it.
                Err(_) => longest = shortened(span.length, event_step),
            }
            simulation.reject()?;
        }
    }
}
