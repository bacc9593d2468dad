//! An implicit integrator of order 2 for stiff elements.

use alloc::vec::Vec;

use nalgebra::{DMatrix, DVector};

use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::simulation::motion::{Integrator, Role, Simulation};
use crate::state::State;
use crate::variables::Check;

/// The implicit trapezoidal rule with Newton's method, driven the way an implicit host must drive
/// elements that switch.
///
/// A step solves for the velocities at its end,
/// `v₁ = v₀ + h/2·(a(q₀, v₀) + a(q₁, v₁))` with `q₁ = q₀ ⊕ h/2·(v₀ + v₁)`, its Jacobian by
/// differences, taken anew in each step and renewed when convergence slows. When Newton has converged,
/// [`discontinuous_update`](crate::ForceSystem::discontinuous_update) brings the discrete variables in
/// line with the solution; while that changes forces by more than the
/// [force tolerance](Self::with_force_tolerance), Newton starts over. A step that does not come to rest,
/// whose iterates go where the elements cannot follow, or whose error estimate is too large, leaves no
/// trace: every discrete variable is as it was, bit for bit, and a shorter step is tried.
///
/// Without [`with_accuracy`](Self::with_accuracy) steps keep their length unless they must be
/// shortened to converge. With it the error is estimated from the difference to an explicit
/// predictor of the same order (Milne's device) and steps vary; and a step in which switching changes forces by
/// more than 1e-3 N is shortened to the [event step](Self::with_event_step), for what happens at its end has happened within it.
///
/// Source: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II* (1996), sections IV.3
/// and IV.8; discontinuous iteration: J. Gerstmayr, Multibody System Dynamics 60 (2024) 533–561.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ImplicitTrapezoidal<T: Real> {
    max_step: T,
    accuracy: Option<T>,
    force_tolerance: T,
    least_step: T,
    event_step: T,
    next_step: T,
    previous: Option<Previous<T>>,
    #[cfg_attr(feature = "serde", serde(skip))]
    before: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    y: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    start_rates: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    rates: Vec<T>,
    /// Places of the velocities among the variables.
    #[cfg_attr(feature = "serde", serde(skip))]
    velocities: Vec<usize>,
    /// Places of velocities and energies.
    #[cfg_attr(feature = "serde", serde(skip))]
    controlled: Vec<usize>,
}

/// The step before, for the predictor.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Previous<T> {
    step: T,
    rates: Vec<T>,
}

/// What became of a trial step.
#[derive(Debug, Clone, Copy)]
enum Outcome<T> {
    /// Solved, with forces off by as much when its discrete variables were still those of the start.
    Settled {
        force_error: T,
    },
    NotConverged {
        residual: T,
        iterations: usize,
    },
    NotSettled {
        force_error: T,
    },
}

/// What is to become of it.
enum Verdict<T> {
    Accept { growth: T },
    Retry { step: T },
}

impl<T: Real> Outcome<T> {
    fn failure(self, time: T, step: T) -> Option<Error> {
        let (time, step) = (time.to_f64(), step.to_f64());
        match self {
            Self::Settled { .. } => None,
            Self::NotConverged { residual, iterations } => {
                Some(Error::StepNotConverged { time, step, residual: residual.to_f64(), iterations })
            }
            Self::NotSettled { force_error } => {
                Some(Error::StepNotSettled { time, step, force_error: force_error.to_f64() })
            }
        }
    }
}

/// Newton iterations after which a step counts as not converging; a good one takes two or three.
const NEWTON_LIMIT: usize = 12;
/// Discontinuous iterations after which a step counts as not settling: each lets every element switch
/// once, and stick, slip and turn is the longest way there is.
const SWITCH_LIMIT: usize = 8;

/// The force error of switching \[N\] above which events are located under error control.
const LOCATED: f64 = 1e-3;

impl<T: Real> ImplicitTrapezoidal<T> {
    /// An integrator with steps of at most this length \[s\].
    pub fn new(max_step: T) -> Self {
        Self {
            max_step,
            accuracy: None,
            force_tolerance: T::lit(1e-6),
            least_step: T::lit(1e-12),
            event_step: T::lit(1e-6),
            next_step: max_step,
            previous: None,
            before: Vec::new(),
            y: Vec::new(),
            start_rates: Vec::new(),
            rates: Vec::new(),
            velocities: Vec::new(),
            controlled: Vec::new(),
        }
    }

    /// With steps that keep the error of each below `accuracy·(1 + |variable|)` in velocities and in the
    /// energies absorbed.
    #[must_use]
    pub fn with_accuracy(self, accuracy: T) -> Self {
        // The first step has no predictor and so no error estimate: it must be short on its own account, for any
        // mechanism, also where the longest step is no limit at all.
        let next_step = (self.max_step * T::lit(1e-3)).min(T::lit(1e-4));
        Self { accuracy: Some(accuracy), next_step, ..self }
    }

    /// With this force error \[N\] below which switching counts as settled; 1e-6 by default.
    #[must_use]
    pub fn with_force_tolerance(self, force_tolerance: T) -> Self {
        Self { force_tolerance, ..self }
    }

    /// With this shortest step \[s\] to which events are located under error control; 1e-6 by default.
    #[must_use]
    pub fn with_event_step(self, event_step: T) -> Self {
        Self { event_step, ..self }
    }

    /// With this step \[s\], below which a trial that fails is not tried shorter; 1e-12 by default.
    #[must_use]
    pub fn with_least_step(self, least_step: T) -> Self {
        Self { least_step, ..self }
    }

    /// Tries a step from `before`; leaves its end in `self.y`.
    fn try_step(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        start: &State<T>,
        time: T,
        h: T,
    ) -> Result<Outcome<T>> {
        self.y.copy_from_slice(&self.before);
        for &i in &self.velocities {
            self.y[i] += self.start_rates[i] * h;
        }
        let mut first_error = None;
        let mut force_error = T::zero();
        for _ in 0..SWITCH_LIMIT {
            if let Some(not_converged) = self.newton(simulation, time, h)? {
                return Ok(not_converged);
            }
            force_error = simulation.discontinuous_update(start)?;
            let first_error = *first_error.get_or_insert(force_error);
            simulation.calc_rates(time, &self.y, &mut self.rates)?;
            if force_error <= self.force_tolerance {
                for (i, y) in self.y.iter_mut().enumerate() {
                    if simulation.role(i) == Role::Energy {
                        *y = self.before[i] + (self.start_rates[i] + self.rates[i]) * T::lit(0.5) * h;
                    }
                }
                return Ok(Outcome::Settled { force_error: first_error });
            }
        }
        Ok(Outcome::NotSettled { force_error })
    }

    /// Newton's method on the velocities in `self.y`; what went wrong, if it has not converged.
    fn newton(&mut self, simulation: &mut Simulation<'_, T>, time: T, h: T) -> Result<Option<Outcome<T>>> {
        // Newton's last correction is far smaller than the one before; this is where rounding in
        // forces over masses begins to show.
        let tolerance = T::negligible().sqrt() * T::lit(1e-4).max(T::negligible().sqrt());
        let mut kept = None;
        let mut last_size = None;
        let mut last_worst = None;
        for iterations in 1..=NEWTON_LIMIT {
            let residual = self.residual(simulation, time, h)?;
            // Iterates that run away are not worth a Jacobian where they have come to.
            let worst = residual.amax();
            if last_worst.is_some_and(|last: T| worst > last * T::lit(2.0)) {
                return Ok(Some(Outcome::NotConverged { residual: worst, iterations }));
            }
            last_worst = Some(worst);
            let jacobian = match kept.take() {
                Some(jacobian) => jacobian,
                None => self.difference_jacobian(simulation, time, h, &residual)?.lu(),
            };
            let correction =
                jacobian.solve(&residual).filter(|correction| correction.iter().all(T::is_finite));
            let Some(correction) = correction else {
                return Ok(Some(Outcome::NotConverged { residual: worst, iterations }));
            };
            let mut size = T::zero();
            for (&i, &c) in self.velocities.iter().zip(correction.iter()) {
                self.y[i] -= c;
                size = size.max(c.abs() / (T::one() + self.y[i].abs()));
            }
            if size <= tolerance {
                simulation.advance_positions(&self.before, &mut self.y, h);
                simulation.calc_rates(time, &self.y, &mut self.rates)?;
                return Ok(None);
            }
            // A Jacobian that no longer brings the error below a third is not worth keeping.
            let is_slow = last_size.is_some_and(|last: T| size > last * T::lit(0.3));
            kept = (!is_slow).then_some(jacobian);
            last_size = Some(size);
        }
        let residual = last_worst.unwrap_or_else(T::zero);
        Ok(Some(Outcome::NotConverged { residual, iterations: NEWTON_LIMIT }))
    }

    /// How far the velocities in `self.y` are from fulfilling the rule.
    fn residual(&mut self, simulation: &mut Simulation<'_, T>, time: T, h: T) -> Result<DVector<T>> {
        simulation.advance_positions(&self.before, &mut self.y, h);
        simulation.calc_rates(time, &self.y, &mut self.rates)?;
        let half = T::lit(0.5) * h;
        let residual = self
            .velocities
            .iter()
            .map(|&i| self.y[i] - self.before[i] - (self.start_rates[i] + self.rates[i]) * half);
        Ok(DVector::from_iterator(self.velocities.len(), residual))
    }

    fn difference_jacobian(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        time: T,
        h: T,
        residual: &DVector<T>,
    ) -> Result<DMatrix<T>> {
        let count = self.velocities.len();
        let mut jacobian = DMatrix::zeros(count, count);
        for column in 0..count {
            let i = self.velocities[column];
            let kept = self.y[i];
            let delta = T::default_epsilon().sqrt() * (T::one() + kept.abs());
            self.y[i] = kept + delta;
            let shifted = self.residual(simulation, time, h)?;
            self.y[i] = kept;
            jacobian.set_column(column, &((shifted - residual) / delta));
        }
        Ok(jacobian)
    }

    /// Whether to take a step that was tried.
    fn judge(&self, tried: &Result<Outcome<T>>, h: T) -> Verdict<T> {
        let Ok(Outcome::Settled { force_error }) = tried else {
            return Verdict::Retry { step: h * T::lit(0.4) };
        };
        let Some(accuracy) = self.accuracy else {
            return Verdict::Accept { growth: T::lit(2.0) };
        };
        if *force_error > T::lit(LOCATED) && h > self.event_step {
            return Verdict::Retry { step: (h * T::lit(0.25)).max(self.event_step) };
        }
        let error = self.error(accuracy, h).unwrap_or_else(T::zero);
        if error > T::one() {
            return Verdict::Retry { step: h * T::lit(0.4) };
        }
        // Order 2: the error grows with the cube of the step.
        let growth = if error > T::zero() { T::lit(0.9) / error.cbrt() } else { T::lit(2.0) };
        Verdict::Accept { growth: growth.clamp(T::lit(0.3), T::lit(2.0)) }
    }

    /// The estimated error of the step in `self.y` over what is allowed.
    fn error(&self, accuracy: T, h: T) -> Option<T> {
        let previous = self.previous.as_ref()?;
        let ratio = h / previous.step;
        // Errors: trapezoidal h³/12·v‴, two-step Adams–Bashforth −(1/6 + 1/(4·ratio))·h³·v‴.
        let (a, b) = (T::lit(1.0 / 12.0), T::lit(1.0 / 6.0) + T::lit(0.25) / ratio);
        let share = a / (a + b);
        let half_ratio = T::lit(0.5) * ratio;
        let mut worst = T::zero();
        for &i in &self.controlled {
            let slope = self.start_rates[i] * (T::one() + half_ratio) - previous.rates[i] * half_ratio;
            let difference = self.y[i] - (self.before[i] + slope * h);
            worst = worst.max((difference * share).abs() / (accuracy * (T::one() + self.y[i].abs())));
        }
        Some(worst)
    }
}

impl<T: Real> Integrator<T> for ImplicitTrapezoidal<T> {
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: T) -> Result<()> {
        let check = Check::new("implicit_trapezoidal");
        check.positive("max_step", self.max_step)?;
        check.positive("accuracy", self.accuracy.unwrap_or_else(T::one))?;
        check.positive("least_step", self.least_step)?;
        check.positive("event_step", self.event_step)?;
        let count = simulation.variables().len();
        for buffer in [&mut self.before, &mut self.y, &mut self.start_rates, &mut self.rates] {
            buffer.resize(count, T::zero());
        }
        self.velocities.clear();
        self.velocities.extend((0..count).filter(|&i| simulation.role(i) == Role::Velocity));
        self.controlled.clear();
        self.controlled.extend((0..count).filter(|&i| simulation.role(i) != Role::Position));
        self.before.copy_from_slice(simulation.variables());
        simulation.calc_present_rates(&mut self.start_rates)?;
        let start = simulation.state().clone();
        let start_time = simulation.time();
        let mut longest = self.next_step.min(self.max_step);
        loop {
            let is_last = start_time + longest * T::lit(1.001) >= end;
            let (time, h) = if is_last { (end, end - start_time) } else { (start_time + longest, longest) };
            let tried = self.try_step(simulation, &start, time, h);
            let shorter = match self.judge(&tried, h) {
                Verdict::Accept { growth } => {
                    if let Err(refused) = simulation.accept(&self.y) {
                        simulation.roll_back(&start);
                        return Err(refused);
                    }
                    self.next_step = if is_last { longest } else { h * growth };
                    self.previous = Some(Previous { step: h, rates: self.start_rates.clone() });
                    return Ok(());
                }
                Verdict::Retry { step } => step,
            };
            simulation.roll_back(&start);
            longest = shorter;
            if longest < self.least_step.max(T::default_epsilon() * start_time.abs()) {
                // Where an iterate has gone where the elements cannot follow, theirs is the reason.
                let step = Error::StepTooSmall { time: start_time.to_f64(), step: h.to_f64() };
                let reason = tried.map_or_else(Some, |outcome| outcome.failure(start_time, h));
                return Err(reason.unwrap_or(step));
            }
        }
    }
}
