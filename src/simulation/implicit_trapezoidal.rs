//! An implicit integrator of order 2 for stiff elements.

use alloc::vec::Vec;
use core::any::TypeId;

use nalgebra::{ComplexField, DMatrix, DVector, Dyn, LU};

use crate::framework::State;
use crate::math::{InvalidValue, Real, check};
use crate::simulation::error::SimulationError;
use crate::simulation::integrator::{Integrator, Memory, STRETCH, Sealed, Span};
use crate::simulation::layout::Role;
use crate::simulation::motion::Simulation;

/// The implicit trapezoidal rule with Newton's method, including the iteration that elements with switching
/// require.
///
/// A step solves for the velocities at its end, `v₁ = v₀ + h/2·(a(q₀, v₀) + a(q₁, v₁))` with
/// `q₁ = q₀ ⊕ h/2·(v₀ + v₁)`, and likewise for the continuous variables of elements, with a Jacobian by differences, computed in each step and again when convergence
/// slows. When Newton has converged, [`discontinuous_update`](crate::ForceSystem::discontinuous_update) adapts
/// the discrete variables to the solution; while that changes forces by more than the
/// [force tolerance](Self::with_force_tolerance), Newton starts over. A step that does not settle, at whose
/// iterates an element fails, or whose error estimate is too large, leaves no trace: the discrete variables are
/// restored bit for bit, and a shorter step is tried.
///
/// Without [`with_accuracy`](Self::with_accuracy) steps keep their length unless they must be shortened to
/// converge. With it the error is estimated from the difference to an explicit predictor of the same order
/// (Milne's device) and steps vary; and a step in which switching changes forces by more than 1e-3 N is shortened
/// to the [event step](Self::with_event_step), because the event lies within it.
///
/// With a scalar that carries derivatives, two more corrections of the derivatives alone follow once the values
/// have converged: the values are those of a run in plain numbers, the derivatives those of the solved step.
///
/// Settings are checked by every step, and by [`validate`](Self::validate).
///
/// Source: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II* (1996), sections IV.3
/// and IV.8; discontinuous iteration: J. Gerstmayr, Multibody System Dynamics 60 (2024) 533–561.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ImplicitTrapezoidal<T: Real> {
    max_step: f64,
    accuracy: Option<f64>,
    force_tolerance: f64,
    least_step: f64,
    event_step: f64,
    memory: Memory<T>,
    previous: Option<Previous<T>>,
    #[cfg_attr(feature = "serde", serde(skip))]
    before: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    y: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    start_rates: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    rates: Vec<T>,
    /// Indices of the velocities, and of the continuous variables of elements, among the variables.
    #[cfg_attr(feature = "serde", serde(skip))]
    unknowns: Vec<usize>,
    /// Indices of the unknowns and energies.
    #[cfg_attr(feature = "serde", serde(skip))]
    controlled: Vec<usize>,
}

/// The step before, for the predictor.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Previous<T> {
    step: f64,
    rates: Vec<T>,
}

/// The outcome of a trial step.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    /// Solved; with the discrete variables of its start, forces would err by this.
    Settled {
        force_error: f64,
    },
    NotConverged {
        residual: f64,
        iterations: usize,
    },
    NotSettled {
        force_error: f64,
    },
}

/// The decision on a trial step.
enum Verdict {
    Accept { growth: f64 },
    Retry { step: f64 },
}

impl Outcome {
    fn failure(self, time: f64, step: f64) -> Option<SimulationError> {
        match self {
            Self::Settled { .. } => None,
            Self::NotConverged { residual, iterations } => {
                Some(SimulationError::StepNotConverged { time, step, residual, iterations })
            }
            Self::NotSettled { force_error } => {
                Some(SimulationError::StepNotSettled { time, step, force_error })
            }
        }
    }
}

/// Newton iterations after which a step counts as not converging; a good one takes two or three.
const NEWTON_LIMIT: usize = 12;
/// Discontinuous iterations after which a step counts as not settling: each lets every element switch once, and
/// stick, slip, reverse is the longest sequence.
const SWITCH_LIMIT: usize = 8;

/// The force error of switching \[N\] above which events are located under error control.
const LOCATED: f64 = 1e-3;

impl<T: Real> ImplicitTrapezoidal<T> {
    /// An integrator with steps of at most this length \[s\].
    pub fn new(max_step: f64) -> Self {
        Self {
            max_step,
            accuracy: None,
            force_tolerance: 1e-6,
            least_step: 1e-12,
            event_step: 1e-6,
            memory: Memory::default(),
            previous: None,
            before: Vec::new(),
            y: Vec::new(),
            start_rates: Vec::new(),
            rates: Vec::new(),
            unknowns: Vec::new(),
            controlled: Vec::new(),
        }
    }

    /// With steps that keep the error of each below `accuracy·(1 + |variable|)` in velocities and in the
    /// energies absorbed.
    #[must_use]
    pub fn with_accuracy(self, accuracy: f64) -> Self {
        Self { accuracy: Some(accuracy), ..self }
    }

    /// With this force error \[N\] below which switching counts as settled; 1e-6 by default.
    #[must_use]
    pub fn with_force_tolerance(self, force_tolerance: f64) -> Self {
        Self { force_tolerance, ..self }
    }

    /// With this shortest step \[s\] to which events are located under error control; 1e-6 by default.
    #[must_use]
    pub fn with_event_step(self, event_step: f64) -> Self {
        Self { event_step, ..self }
    }

    /// With this step \[s\], below which a failed trial is not shortened further; 1e-12 by default.
    #[must_use]
    pub fn with_least_step(self, least_step: f64) -> Self {
        Self { least_step, ..self }
    }

    /// Checks the settings, as every step does.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the accuracy and all step lengths are positive and the force tolerance is at
    /// least zero, all of them finite.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("implicit_trapezoidal.max_step", self.max_step)?;
        check::positive("implicit_trapezoidal.accuracy", self.accuracy.unwrap_or(1.0))?;
        check::nonnegative("implicit_trapezoidal.force_tolerance", self.force_tolerance)?;
        check::positive("implicit_trapezoidal.least_step", self.least_step)?;
        check::positive("implicit_trapezoidal.event_step", self.event_step)?;
        self.memory.validate()?;
        if let Some(previous) = &self.previous {
            check::positive("implicit_trapezoidal.previous_step", previous.step)?;
            previous
                .rates
                .iter()
                .try_for_each(|&rate| check::finite("implicit_trapezoidal.previous_rates", rate))?;
        }
        Ok(())
    }

    /// The first step \[s\].
    fn first_step(&self) -> f64 {
        // Under error control the first step has no predictor and so no error estimate: it must be short for any
        // mechanism, even if the longest step is not a limit.
        if self.accuracy.is_some() { (self.max_step * 1e-3).min(1e-4) } else { self.max_step }
    }

    /// Tries a step from `before`; leaves its end in `self.y`.
    fn try_step(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        start: &State<T>,
        span: Span,
    ) -> Result<Outcome, SimulationError> {
        let h = span.length;
        self.y.copy_from_slice(&self.before);
        for &i in &self.unknowns {
            self.y[i] += self.start_rates[i] * T::lit(h);
        }
        let mut first_error = None;
        let mut force_error = 0.0;
        for _ in 0..SWITCH_LIMIT {
            if let Some(not_converged) = self.newton(simulation, span)? {
                return Ok(not_converged);
            }
            force_error = simulation.discontinuous_update(start)?;
            let first_error = *first_error.get_or_insert(force_error);
            simulation.calc_rates(span.end, &self.y, &mut self.rates)?;
            if force_error <= self.force_tolerance {
                for (i, y) in self.y.iter_mut().enumerate() {
                    if simulation.role(i) == Role::Energy {
                        *y = self.before[i] + (self.start_rates[i] + self.rates[i]) * T::lit(0.5 * h);
                    }
                }
                return Ok(Outcome::Settled { force_error: first_error });
            }
        }
        Ok(Outcome::NotSettled { force_error })
    }

    /// Newton's method on the unknowns in `self.y`; returns the failure if it has not converged.
    fn newton(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        span: Span,
    ) -> Result<Option<Outcome>, SimulationError> {
        if self.unknowns.is_empty() {
            simulation.calc_rates(span.end, &self.y, &mut self.rates)?;
            return Ok(None);
        }
        // Newton's last correction is far smaller than the one before; this is the level of rounding in forces
        // over masses.
        let noise = ComplexField::sqrt(T::negligible().to_f64());
        let tolerance = noise * noise.max(1e-4);
        let mut kept = None;
        let mut last_size = None;
        let mut last_worst = None;
        for iterations in 1..=NEWTON_LIMIT {
            let residual = self.residual(simulation, span)?;
            // No new Jacobian for diverging iterates.
            let worst = residual.amax().to_f64();
            if last_worst.is_some_and(|last: f64| worst > last * 2.0) {
                return Ok(Some(Outcome::NotConverged { residual: worst, iterations }));
            }
            last_worst = Some(worst);
            let jacobian = match kept.take() {
                Some(jacobian) => jacobian,
                None => self.difference_jacobian(simulation, span, &residual)?,
            };
            let Some(correction) = solve(&jacobian, &residual) else {
                return Ok(Some(Outcome::NotConverged { residual: worst, iterations }));
            };
            let mut size = 0.0_f64;
            for (&i, &c) in self.unknowns.iter().zip(correction.iter()) {
                self.y[i] -= c;
                size = size.max((c.abs() / (T::one() + self.y[i].abs())).to_f64());
            }
            if size <= tolerance {
                if carries_derivatives::<T>() {
                    self.converge_derivatives(simulation, span)?;
                }
                simulation.advance_positions(&self.before, &mut self.y, span.length);
                simulation.calc_rates(span.end, &self.y, &mut self.rates)?;
                return Ok(None);
            }
            // A Jacobian is renewed if it no longer reduces the error to a third.
            let is_slow = last_size.is_some_and(|last: f64| size > last * 0.3);
            kept = (!is_slow).then_some(jacobian);
            last_size = Some(size);
        }
        let residual = last_worst.unwrap_or(0.0);
        Ok(Some(Outcome::NotConverged { residual, iterations: NEWTON_LIMIT }))
    }

    /// Converges the derivatives of the unknowns in `self.y`, whose values have converged and stay as they are.
    ///
    /// A correction multiplies an error of the derivatives by the relative error of the Jacobian, some 1e-7 for
    /// differences at the solution, so that two corrections suffice.
    fn converge_derivatives(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        span: Span,
    ) -> Result<(), SimulationError> {
        let residual = self.residual(simulation, span)?;
        let jacobian = self.difference_jacobian(simulation, span, &residual)?;
        for _ in 0..2 {
            let residual = self.residual(simulation, span)?;
            let Some(correction) = solve(&jacobian, &residual) else {
                return Ok(());
            };
            for (&i, &c) in self.unknowns.iter().zip(correction.iter()) {
                self.y[i] -= c - plain(c);
            }
        }
        Ok(())
    }

    /// The residual of the rule for the unknowns in `self.y`.
    fn residual(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        span: Span,
    ) -> Result<DVector<T>, SimulationError> {
        simulation.advance_positions(&self.before, &mut self.y, span.length);
        simulation.calc_rates(span.end, &self.y, &mut self.rates)?;
        let half = T::lit(0.5 * span.length);
        let residual = self
            .unknowns
            .iter()
            .map(|&i| self.y[i] - self.before[i] - (self.start_rates[i] + self.rates[i]) * half);
        Ok(DVector::from_iterator(self.unknowns.len(), residual))
    }

    /// The Jacobian of the residual in plain numbers: the solution does not depend on it.
    fn difference_jacobian(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        span: Span,
        residual: &DVector<T>,
    ) -> Result<LU<T, Dyn, Dyn>, SimulationError> {
        let count = self.unknowns.len();
        let mut jacobian = DMatrix::zeros(count, count);
        for column in 0..count {
            let i = self.unknowns[column];
            let kept = self.y[i];
            let delta = plain(T::default_epsilon().sqrt() * (T::one() + kept.abs()));
            self.y[i] = kept + delta;
            let shifted = self.residual(simulation, span);
            self.y[i] = kept;
            jacobian.set_column(column, &((shifted? - residual) / delta).map(plain));
        }
        Ok(jacobian.lu())
    }

    /// Decides on a trial step.
    fn judge(&self, tried: &Result<Outcome, SimulationError>, span: Span, has_predictor: bool) -> Verdict {
        let h = span.length;
        let Ok(Outcome::Settled { force_error }) = *tried else {
            return Verdict::Retry { step: h * 0.4 };
        };
        let Some(accuracy) = self.accuracy else {
            return Verdict::Accept { growth: 2.0 };
        };
        if force_error > LOCATED && !span.is_within(self.event_step) {
            return Verdict::Retry { step: (h * 0.25).max(self.event_step) };
        }
        let previous = self.previous.as_ref().filter(|_| has_predictor);
        let error = previous.map_or(0.0, |previous| self.error(previous, accuracy, h));
        if error > 1.0 {
            return Verdict::Retry { step: h * 0.4 };
        }
        // Order 2: the error grows with the cube of the step.
        let growth = if error > 0.0 { 0.9 / ComplexField::cbrt(error) } else { 2.0 };
        Verdict::Accept { growth: growth.clamp(0.3, 2.0) }
    }

    /// The ratio of estimated error to tolerance of the step in `self.y`.
    fn error(&self, previous: &Previous<T>, accuracy: f64, h: f64) -> f64 {
        let ratio = h / previous.step;
        // Errors: trapezoidal h³/12·v‴, two-step Adams–Bashforth −(1/6 + 1/(4·ratio))·h³·v‴.
        let (a, b) = (1.0 / 12.0, 1.0 / 6.0 + 0.25 / ratio);
        let share = a / (a + b);
        let half_ratio = 0.5 * ratio;
        let mut worst = 0.0_f64;
        for &i in &self.controlled {
            let [rate, before, after] = [self.start_rates[i], self.before[i], self.y[i]].map(T::to_f64);
            let slope = rate * (1.0 + half_ratio) - previous.rates[i].to_f64() * half_ratio;
            let difference = after - (before + slope * h);
            let error = (difference * share).abs() / (accuracy * (1.0 + after.abs()));
            if error.is_nan() {
                return f64::INFINITY;
            }
            worst = worst.max(error);
        }
        worst
    }
}

/// Whether a scalar may carry derivatives: any but the two floats.
fn carries_derivatives<T: Real>() -> bool {
    ![TypeId::of::<f64>(), TypeId::of::<f32>()].contains(&TypeId::of::<T>())
}

/// The value without derivatives.
fn plain<T: Real>(x: T) -> T {
    T::lit(x.to_f64())
}

/// The solution, if it is finite.
fn solve<T: Real>(matrix: &LU<T, Dyn, Dyn>, right: &DVector<T>) -> Option<DVector<T>> {
    matrix.solve(right).filter(|solution| solution.iter().all(T::is_finite))
}

impl<T: Real> Sealed for ImplicitTrapezoidal<T> {}

impl<T: Real> Integrator<T> for ImplicitTrapezoidal<T> {
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: f64) -> Result<(), SimulationError> {
        self.validate()?;
        simulation.check_end(end)?;
        let count = simulation.variables().len();
        for buffer in [&mut self.before, &mut self.y, &mut self.start_rates, &mut self.rates] {
            buffer.resize(count, T::zero());
        }
        self.unknowns.clear();
        self.unknowns
            .extend((0..count).filter(|&i| matches!(simulation.role(i), Role::Velocity | Role::Element)));
        self.controlled.clear();
        self.controlled.extend((0..count).filter(|&i| simulation.role(i) != Role::Position));
        self.before.copy_from_slice(simulation.variables());
        let is_followed = self.previous.as_ref().is_some_and(|previous| previous.rates.len() == count);
        let next_step = self.memory.next_step(simulation).filter(|_| is_followed);
        simulation.calc_present_rates(&mut self.start_rates)?;
        let start = simulation.state().clone();
        let start_time = simulation.time();
        let mut longest = next_step.unwrap_or_else(|| self.first_step()).min(self.max_step);
        loop {
            let span = simulation.span(longest, end, STRETCH)?;
            let h = span.length;
            let mut tried = self.try_step(simulation, &start, span);
            let shorter = match self.judge(&tried, span, next_step.is_some()) {
                Verdict::Accept { growth } => match simulation.accept(span.end, &self.y) {
                    Ok(()) => {
                        self.memory.keep(simulation, if span.is_last { longest } else { h * growth });
                        self.previous = Some(Previous { step: h, rates: self.start_rates.clone() });
                        return Ok(());
                    }
                    Err(refused) => {
                        tried = Err(refused);
                        h * 0.4
                    }
                },
                Verdict::Retry { step } => step,
            };
            simulation.roll_back(&start);
            longest = shorter;
            if longest < self.least_step.max(T::default_epsilon().to_f64() * start_time.abs()) {
                // If an element failed at an iterate, its error is the reason.
                let step = SimulationError::StepTooSmall { time: start_time, step: h };
                let reason = tried.map_or_else(Some, |outcome| outcome.failure(start_time, h));
                return Err(reason.unwrap_or(step));
            }
        }
    }
}
