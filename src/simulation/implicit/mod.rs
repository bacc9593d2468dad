//! Implicit integrators of order 2 for stiff elements and for those that switch.

mod jacobian;
mod method;
mod newton;

use alloc::vec::Vec;
use core::ops::ControlFlow;

use nalgebra::ComplexField;

use crate::framework::State;
use crate::math::{InvalidValue, Real, check};
use crate::simulation::integrator::{STRETCH, Span, event_force, memory_growth, shortened};
use crate::simulation::layout::Role;
use crate::simulation::scales::Memory;
use crate::simulation::{Integrator, Simulation, SimulationError};

use method::{MOST_STAGES, Method};
use newton::{Newton, Stage};

/// An implicit method, [the trapezoidal rule](Self::trapezoidal) or [TR-BDF2](Self::tr_bdf2), with Newton's method and
/// the iteration that elements that switch require.
///
/// A stage solves for its velocities `v = b + w·a(q, v)` with `q = q₀ ⊕ (d + w·v)`, where `b` and `d` come from earlier
/// stages, and likewise for the continuous variables of elements. The trapezoidal rule has one stage, with `w = h/2`,
/// `b = v₀ + h/2·a₀` and `d = h/2·v₀`. The Jacobian, from the [linearization](crate::Linearization) of the forces, and
/// its factorisation are kept while the step length is nearly constant and corrections decrease fast.
///
/// When Newton has converged at the end of a stage, [`discontinuous_update`](crate::ForceSystem::discontinuous_update)
/// adapts the discrete variables to the solution. If that changes forces by more than the [force
/// tolerance](Self::with_force_tolerance), Newton starts again. A step fails if it does not settle, if an element fails
/// at its iterates, or if its error estimate is too large. The discrete variables are then restored bit-identically, and
/// a shorter step is tried.
///
/// # Steps
///
/// Without [`with_accuracy`](Self::with_accuracy), steps keep their length unless they must be shortened to converge.
///
/// With it, the error is estimated and steps vary:
///
/// - The trapezoidal rule estimates its error from the difference to an explicit predictor of the same order (Milne's
///   device), and in the first step to explicit Euler's method. TR-BDF2 estimates it from the difference to a solution of
///   order 3.
/// - If switching changes forces in a step by more than 1e-3 N, or a hundred times the accuracy if that is less, an event
///   is in the step, and the step is shortened to the [event step](Self::with_event_step).
/// - A step in which a [gap](crate::Gap) may have been closed and opened again is repeated.
///
/// In both cases, steps are limited by the [passing time](crate::ForceSystem::passing_time) of contacts, which would be
/// missed otherwise.
///
/// # Accuracy of fixed steps
///
/// Steps of a fixed length have no bound of stability, but they do not resolve a contact of natural frequency `ω` that is
/// struck at `ωh > 0.3`: an impact may return up to three times the speed, even with damping. A run is refused with
/// [`SimulationError::EnergyExploded`] when the energy of the motion, without the work of gravity, loads, drives and
/// elements that store nothing, exceeds its maximum over 64 earlier steps by more than half of the largest kinetic
/// energy, for four steps in a row. An element that both stores energy and drives must therefore state its supply. A jump
/// of stored energy, as where a cable takes up a via point, counts as growth until
/// [`update_state`](super::Simulation::update_state) is called.
///
/// Under error control impacts are resolved to the accuracy, and none of this is checked. The page of
/// [`DormandPrince`](super::DormandPrince) states what the accuracy means for long runs.
///
/// # Derivatives
///
/// With a scalar that carries derivatives, two more corrections of the derivatives alone follow once the values have
/// converged: the values equal those of a run in plain numbers, and the derivatives are those of the solved step.
///
/// Settings are checked by every step, and by [`validate`](Self::validate).
///
/// Source: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II* (1996), sections IV.3
/// and IV.8; discontinuous iteration: J. Gerstmayr, Multibody System Dynamics 60 (2024) 533–561.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Implicit<T: Real> {
    method: Method,
    max_step: f64,
    accuracy: Option<f64>,
    force_tolerance: f64,
    least_step: f64,
    event_step: Option<f64>,
    memory: Memory<T>,
    /// The time from an earlier point to the start of the step \[s\], and the rates at that point, for predictors; `None`
    /// after an event, before which rates predict nothing.
    previous: Option<(f64, Vec<T>)>,
    newton: Newton<T>,
    /// The variables at each stage, from the start of the step on.
    #[cfg_attr(feature = "serde", serde(skip))]
    points: [Vec<T>; MOST_STAGES],
    /// Their rates.
    #[cfg_attr(feature = "serde", serde(skip))]
    slopes: [Vec<T>; MOST_STAGES],
    #[cfg_attr(feature = "serde", serde(skip))]
    base: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    displacement: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    errors: Vec<T>,
}

/// The number of discontinuous iterations after which a step counts as not settling. Each lets every element switch once;
/// the longest sequence is stick, slip, reverse.
const SWITCH_LIMIT: usize = 8;

impl<T: Real> Implicit<T> {
    /// The trapezoidal rule, with steps of at most this length \[s\].
    ///
    /// It is of order 2, with the smallest error constant of all A-stable linear multistep methods (Dahlquist 1963). It
    /// conserves the energy of linear oscillations, including stiff ones: after an impact on a stiff element, the
    /// vibration continues until a damper has taken its energy.
    pub fn trapezoidal(max_step: f64) -> Self {
        Self::of(Method::Trapezoidal, max_step)
    }

    /// TR-BDF2, with steps of at most this length \[s\]: the trapezoidal rule to 0.586 of the step, and the backward
    /// differentiation formula of order 2 for the remainder.
    ///
    /// It is of order 2 and L-stable: oscillations that are much faster than the step vanish, and their energy with them.
    /// It has three advantages over other such methods: both parts have the same weight, so one factorisation serves
    /// both; the error is estimated within the step, by a solution of order 3, so events and changes of the step do not
    /// disturb the estimate; and it begins with the rates at the start, which are known.
    ///
    /// Sources: R. E. Bank et al., *Transient simulation of silicon devices and circuits*, IEEE Transactions on Electron
    /// Devices 32 (1985) 1992–2007; M. E. Hosea, L. F. Shampine, *Analysis and implementation of TR-BDF2*, Applied Numerical
    /// Mathematics 20 (1996) 21–37.
    pub fn tr_bdf2(max_step: f64) -> Self {
        Self::of(Method::TrBdf2, max_step)
    }

    fn of(method: Method, max_step: f64) -> Self {
        Self {
            method,
            max_step,
            accuracy: None,
            force_tolerance: 1e-6,
            least_step: 1e-12,
            event_step: None,
            memory: Memory::default(),
            previous: None,
            newton: Newton::default(),
            points: Default::default(),
            slopes: Default::default(),
            base: Vec::new(),
            displacement: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// The same integrator with steps whose estimated errors are below this accuracy, relative to the
    /// [scale](super::Plant::set_scale) of the motion.
    #[must_use]
    pub fn with_accuracy(self, accuracy: f64) -> Self {
        Self { accuracy: Some(accuracy), ..self }
    }

    /// The same integrator with this force error below which switching counts as settled, in the unit of force; 1e-6 by
    /// default, a value for newtons.
    #[must_use]
    pub fn with_force_tolerance(self, force_tolerance: f64) -> Self {
        Self { force_tolerance, ..self }
    }

    /// The same integrator with this shortest step \[s\] to which events are located under error control, but no shorter
    /// than time can resolve; by default 1e-6, or a tenth of the accuracy if that is less.
    #[must_use]
    pub fn with_event_step(self, event_step: f64) -> Self {
        Self { event_step: Some(event_step), ..self }
    }

    /// The same integrator with this step \[s\] below which a failed trial is not shortened further; 1e-12 by default.
    /// Under error control, a step of this length that contains an event is accepted whatever its estimated error.
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
        check::positive("implicit.max_step", self.max_step)?;
        check::positive("implicit.accuracy", self.accuracy.unwrap_or(1.0))?;
        check::nonnegative("implicit.force_tolerance", self.force_tolerance)?;
        check::positive("implicit.least_step", self.least_step)?;
        check::positive("implicit.event_step", self.event_step.unwrap_or(1.0))?;
        self.memory.validate()?;
        self.newton.validate()?;
        if let Some((step, rates)) = &self.previous {
            check::positive("implicit.previous_step", *step)?;
            rates.iter().try_for_each(|&rate| check::finite("implicit.previous_rates", rate))?;
        }
        Ok(())
    }

    /// The first step \[s\].
    fn first_step(&self) -> f64 {
        // Under error control the first step is short, even if the longest step is not a limit.
        if self.accuracy.is_some() { (self.max_step * 1e-3).min(1e-4) } else { self.max_step }
    }

    /// The shortest step \[s\] that is tried at this time.
    fn shortest(&self, time: f64) -> f64 {
        self.least_step.max(T::default_epsilon().to_f64() * time.abs())
    }

    /// Makes room for the variables of a simulation, and writes their values at the start of a step.
    fn prepare(&mut self, simulation: &mut Simulation<'_, T>) -> Result<(), SimulationError> {
        let count = simulation.y.len();
        let own = [&mut self.base, &mut self.displacement, &mut self.errors];
        for buffer in self.points.iter_mut().chain(&mut self.slopes).chain(own) {
            buffer.resize(count, T::zero());
        }
        self.newton.prepare(simulation);
        self.points[0].copy_from_slice(&simulation.y);
        simulation.calc_present_rates(&mut self.slopes[0])
    }

    /// Writes the contributions of the stages before `stage`.
    fn combine(&mut self, earlier: &[f64], h: f64) {
        let start = &self.points[0];
        for (i, (base, displacement)) in self.base.iter_mut().zip(&mut self.displacement).enumerate() {
            (*base, *displacement) = (start[i], T::zero());
            for ((&weight, slopes), point) in earlier.iter().zip(&self.slopes).zip(&self.points) {
                *base += slopes[i] * T::lit(weight * h);
                *displacement += point[i] * T::lit(weight * h);
            }
        }
    }

    /// Guesses the unknowns of an implicit stage by extrapolating the rates of the two previous stages.
    fn guess(&mut self, stage: usize, h: f64) {
        let now = self.method.time_of(stage - 1);
        let until = (self.method.time_of(stage) - now) * h;
        let (since, older) = match (&self.previous, stage) {
            (None, 1) => (f64::INFINITY, &self.slopes[0]),
            (Some((step, rates)), 1) => (*step, rates),
            // The second of two stages, after one that began at the start of the step.
            _ => (now * h, &self.slopes[0]),
        };
        let (points, weight) = (&mut self.points, T::lit(self.method.weight() * h));
        points[stage].copy_from_slice(&self.base);
        let latest = &self.slopes[stage - 1];
        for &i in &self.newton.unknowns {
            let slope = latest[i] + (latest[i] - older[i]) * T::lit(until / since);
            points[stage][i] += slope * weight;
        }
    }

    /// Solves the stages of a step from the start in `points`, and leaves its end there. Returns the error of forces due
    /// to an event within the step.
    fn calc_stages(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        start: &State<T>,
        span: Span,
    ) -> Result<f64, SimulationError> {
        let h = span.length;
        let begin = simulation.time();
        let mut force_error = 0.0_f64;
        for (i, &(share, earlier)) in self.method.stages().iter().enumerate() {
            let stage = i + 1;
            let is_last = stage == self.method.last();
            self.combine(earlier, h);
            self.guess(stage, h);
            let (before, y) = self.points.split_at_mut(stage);
            let (y, rates) = (&mut y[0], &mut self.slopes[stage]);
            let equations = Stage {
                step: (begin, h),
                time: if is_last { span.end } else { begin + share * h },
                weight: self.method.weight() * h,
                start: &before[0],
                base: &self.base,
                displacement: &self.displacement,
            };
            let ends = [y, rates, &mut self.errors].map(Vec::as_mut_slice);
            let settled = settle(
                &mut self.newton,
                simulation,
                (start, is_last),
                &equations,
                ends,
                self.force_tolerance,
            );
            force_error = force_error.max(settled?);
        }
        // The energies follow from the rates, with the weights of the last stage.
        let last = self.method.last();
        for i in (0..self.base.len()).filter(|&i| simulation.role(i) == Role::Energy) {
            self.points[last][i] = self.base[i] + self.slopes[last][i] * T::lit(self.method.weight() * h);
        }
        Ok(force_error)
    }

    /// Tries a step of this span; `longest` is its length before it was limited by the end. Breaks with the next step
    /// length if it is accepted, and otherwise continues with the length to try.
    fn try_step(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        start: &State<T>,
        span: Span,
        longest: f64,
    ) -> Result<ControlFlow<f64, f64>, SimulationError> {
        let force_error = self.calc_stages(simulation, start, span)?;
        let (h, last) = (span.length, self.method.last());
        if simulation.passing_time(h)? < h {
            return Ok(ControlFlow::Continue(h * 0.5));
        }
        let (mut growth, mut has_event) = (2.0, false);
        if let Some(accuracy) = self.accuracy {
            let shortest = self.shortest(simulation.time());
            let event_step = simulation.event_step(accuracy, self.event_step).max(shortest);
            let is_close = span.is_within(event_step);
            if !is_close && let Some(step) = simulation.unseen_contact(h)? {
                return Ok(ControlFlow::Continue(span.retried(step)));
            }
            has_event = force_error > event_force(accuracy, None);
            if has_event && !is_close {
                return Ok(ControlFlow::Continue(shortened(h, event_step)));
            }
            self.write_errors(h);
            let error =
                self.memory.ratio(simulation, accuracy, &self.points[last], |i| self.errors[i].to_f64());
            // In an event the rates jump, and the error is the jump times the step.
            let shortest = if has_event { shortest } else { 0.0 };
            if error > 1.0 && !span.is_within(shortest) {
                return Ok(ControlFlow::Continue((h * 0.4).max(shortest)));
            }
            let path_error = if is_close { 0.0 } else { self.path_error(simulation, span, accuracy)? };
            if path_error > 1.0 {
                return Ok(ControlFlow::Continue(h * 0.4));
            }
            // Order 2: the error grows with the cube of the step.
            growth = if error > 0.0 { 0.9 / ComplexField::cbrt(error) } else { 2.0 };
            growth = growth
                .min(memory_growth(path_error, 1.0 / 3.0))
                .clamp(if has_event { 1.0 } else { 0.3 }, 2.0);
        }
        let end = &self.points[last];
        let is_fixed = self.accuracy.is_none();
        let energies = if is_fixed { Some(simulation.checked_growth(span.end, end)?) } else { None };
        simulation.accept(span.end, end, false)?;
        simulation.growth = energies;
        if has_event {
            self.previous = None;
        } else {
            self.keep_previous(h);
        }
        Ok(ControlFlow::Break(if span.is_last { longest } else { h * growth }))
    }

    /// Writes the estimated errors of a step.
    fn write_errors(&mut self, h: f64) {
        let (start, end) = (&self.points[0], &self.points[self.method.last()]);
        if let Some(weights) = self.method.error() {
            for (i, error) in self.errors.iter_mut().enumerate() {
                let slopes = self.slopes.iter().zip(weights);
                *error = slopes.fold(T::zero(), |sum, (slopes, weight)| sum + slopes[i] * T::lit(weight * h));
            }
            self.newton.filter(self.method.weight() * h, &mut self.errors);
            return;
        }
        let (share, half_ratio, rates) = match &self.previous {
            Some((step, rates)) => {
                let ratio = h / step;
                // Errors: trapezoidal h³/12·v‴, two-step Adams–Bashforth −(1/6 + 1/(4·ratio))·h³·v‴.
                let (a, b) = (1.0 / 12.0, 1.0 / 6.0 + 0.25 / ratio);
                (a / (a + b), 0.5 * ratio, rates)
            }
            // Without a previous step, the difference to explicit Euler's method, which is of order 1.
            None => (1.0, 0.0, &self.slopes[0]),
        };
        let [share, half_ratio] = [share, half_ratio].map(T::lit);
        for (i, error) in self.errors.iter_mut().enumerate() {
            let slope = self.slopes[0][i] * (T::one() + half_ratio) - rates[i] * half_ratio;
            *error = (end[i] - (start[i] + slope * T::lit(h))) * share;
        }
    }
}

/// Solves a stage, with discrete variables that equal those of the start or match its solution. Writes its end, the rates
/// there, and the rates before the last update. Returns the error of forces due to an event within the step.
fn settle<T: Real>(
    newton: &mut Newton<T>,
    simulation: &mut Simulation<'_, T>,
    (start, is_last): (&State<T>, bool),
    stage: &Stage<'_, T>,
    [y, rates, previous_rates]: [&mut [T]; 3],
    force_tolerance: f64,
) -> Result<f64, SimulationError> {
    let (mut force_error, mut largest) = (0.0, 0.0_f64);
    for _ in 0..SWITCH_LIMIT {
        newton.solve(simulation, stage, y, rates)?;
        force_error = simulation.discontinuous_update(start)?;
        largest = largest.max(force_error);
        if !is_last && force_error <= force_tolerance {
            // Nothing reads the end of an earlier stage again.
            return Ok(largest);
        }
        previous_rates.copy_from_slice(rates);
        simulation.calc_updated_rates(y, rates)?;
        // An error that no update removes is due to an event within the step.
        if force_error <= force_tolerance || rates == previous_rates {
            return Ok(largest);
        }
    }
    let (time, step) = stage.step;
    Err(SimulationError::StepNotSettled { time, step, force_error })
}

impl<T: Real> Integrator<T> for Implicit<T> {
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: f64) -> Result<(), SimulationError> {
        self.validate()?;
        simulation.check_end(end)?;
        self.prepare(simulation)?;
        let count = simulation.y.len();
        let is_followed = self.previous.as_ref().is_none_or(|(_, rates)| rates.len() == count);
        let next_step = self.memory.next_step(simulation).filter(|_| is_followed);
        let kept = (self.previous.clone(), self.newton.jacobian.clone(), self.memory.clone());
        if next_step.is_none() {
            (self.previous, self.newton.jacobian) = (None, None);
        }
        self.memory.begin(simulation, next_step.is_some());
        let taken = self.advance(simulation, end, next_step);
        if taken.is_err() {
            (self.previous, self.newton.jacobian, self.memory) = kept;
        }
        taken
    }
}

impl<T: Real> Implicit<T> {
    /// Takes a step from the start in `points`.
    fn advance(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        end: f64,
        next_step: Option<f64>,
    ) -> Result<(), SimulationError> {
        let start = simulation.state().clone();
        let start_time = simulation.time();
        let mut longest = next_step.unwrap_or_else(|| self.first_step()).min(self.max_step);
        longest = longest.min(0.5 * simulation.passing_time(2.0 * longest)?);
        simulation.keep_gaps()?;
        loop {
            let span = simulation.span(longest, end, STRETCH)?;
            let h = span.length;
            let tried = self.try_step(simulation, &start, span, longest);
            if let Ok(ControlFlow::Break(next_step)) = tried {
                self.memory.keep(simulation, next_step);
                return Ok(());
            }
            simulation.roll_back(&start);
            if let Err(SimulationError::EnergyExploded { .. }) = tried {
                return tried.map(|_| ());
            }
            longest = if let Ok(ControlFlow::Continue(step)) = tried { step } else { h * 0.4 };
            if longest < self.shortest(start_time) {
                // If an element failed at an iterate, its error is the reason.
                return Err(tried
                    .err()
                    .unwrap_or(SimulationError::StepTooSmall { time: start_time, step: h }));
            }
        }
    }

    /// The ratio to the tolerance of the error due to memory that is committed only at the end of a step.
    fn path_error(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        span: Span,
        accuracy: f64,
    ) -> Result<f64, SimulationError> {
        let last = self.method.last();
        let Self { points, slopes, base, errors, newton, memory, .. } = self;
        let ends = [0, last].map(|i| (&points[i][..], &slopes[i][..]));
        let h = span.length;
        simulation.path_error(span, ends, base, errors, |simulation, change| {
            for change in change.iter_mut() {
                *change *= T::lit(h);
            }
            newton.filter(self.method.weight() * h, change);
            memory.ratio(simulation, accuracy, &points[last], |i| change[i].to_f64())
        })
    }

    /// Keeps the rates of the stage before the last for the next step.
    fn keep_previous(&mut self, h: f64) {
        let stage = self.method.last() - 1;
        let (step, rates) = self.previous.get_or_insert_default();
        *step = (1.0 - self.method.time_of(stage)) * h;
        rates.clone_from(&self.slopes[stage]);
    }
}
