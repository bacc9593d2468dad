//! An explicit integrator of order 5 with error control.

use alloc::vec::Vec;

use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::simulation::motion::{Integrator, Simulation};
use crate::variables::Check;

/// The Dormand–Prince pair of orders 5 and 4.
///
/// A step is accepted when every variable's error estimate is below `accuracy·(1 + |variable|)`.
/// The energies that the elements absorb are integrated, and controlled, like all others.
///
/// Elements that switch at the end of a step do so close to the event: a step over which forces come
/// to be off by more than the [force tolerance](Self::with_force_tolerance) is shortened until they are
/// not, or until it is as short as the [event step](Self::with_event_step), as it will be where a force
/// jumps. To locate events better lower both.
///
/// Source: J. R. Dormand, P. J. Prince, *A family of embedded Runge-Kutta formulae*, Journal of
/// Computational and Applied Mathematics 6 (1980) 19–26, table 2.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DormandPrince<T: Real> {
    accuracy: T,
    max_step: Option<T>,
    force_tolerance: T,
    event_step: T,
    next_step: T,
    #[cfg_attr(feature = "serde", serde(skip))]
    slopes: [Vec<T>; 7],
    #[cfg_attr(feature = "serde", serde(skip))]
    before: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    y: Vec<T>,
}

/// Nodes.
const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// Weights of the earlier slopes at each node; the last row is the solution of order 5.
const A: [&[f64]; 7] = [
    &[],
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
    /// An integrator with this accuracy, per step and relative to one plus the variable.
    pub fn new(accuracy: T) -> Self {
        Self {
            accuracy,
            max_step: None,
            force_tolerance: T::lit(1e-3),
            // At 10 m/s a hundredth of a millimetre.
            event_step: T::lit(1e-6),
            // Short enough for any mechanism; error control lengthens it by a factor of five a step.
            next_step: T::lit(1e-4),
            slopes: Default::default(),
            before: Vec::new(),
            y: Vec::new(),
        }
    }

    /// With steps of at most this length \[s\].
    #[must_use]
    pub fn with_max_step(self, max_step: T) -> Self {
        Self { max_step: Some(max_step), ..self }
    }

    /// With this force error \[N\] to which events are located; 1e-3 by default.
    #[must_use]
    pub fn with_force_tolerance(self, force_tolerance: T) -> Self {
        Self { force_tolerance, ..self }
    }

    /// With this shortest step \[s\] to which events are located; 1e-6 by default.
    #[must_use]
    pub fn with_event_step(self, event_step: T) -> Self {
        Self { event_step, ..self }
    }

    /// Evaluates the stages of a step of length `h` that ends at `end`.
    fn try_step(&mut self, simulation: &mut Simulation<'_, T>, h: T, end: T) -> Result<()> {
        let start = simulation.time();
        for stage in 1..7 {
            let (earlier, later) = self.slopes.split_at_mut(stage);
            for (i, y) in self.y.iter_mut().enumerate() {
                let slopes = earlier.iter().zip(A[stage]);
                let slope = slopes.fold(T::zero(), |sum, (k, &a)| sum + k[i] * T::lit(a));
                *y = self.before[i] + slope * h;
            }
            if stage == 6 {
                simulation.normalize(&mut self.y);
            }
            let time = if stage >= 5 { end } else { start + h * T::lit(C[stage]) };
            simulation.calc_rates(time, &self.y, &mut later[0])?;
        }
        Ok(())
    }

    /// The largest error of the last trial step over what is allowed.
    fn error(&self, h: T) -> T {
        let mut worst = T::zero();
        for (i, (&before, &after)) in self.before.iter().zip(&self.y).enumerate() {
            let estimate = self.slopes.iter().zip(E).fold(T::zero(), |sum, (k, e)| sum + k[i] * T::lit(e));
            let scale = T::one() + before.abs().max(after.abs());
            worst = worst.max((estimate * h).abs() / (self.accuracy * scale));
        }
        worst
    }
}

impl<T: Real> Integrator<T> for DormandPrince<T> {
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: T) -> Result<()> {
        let check = Check::new("dormand_prince");
        check.positive("accuracy", self.accuracy)?;
        check.positive("max_step", self.max_step.unwrap_or_else(T::one))?;
        check.positive("event_step", self.event_step)?;
        let start = simulation.time();
        let count = simulation.variables().len();
        for buffer in self.slopes.iter_mut().chain([&mut self.before, &mut self.y]) {
            buffer.resize(count, T::zero());
        }
        self.before.copy_from_slice(simulation.variables());
        simulation.calc_present_rates(&mut self.slopes[0])?;
        loop {
            let longest = self.max_step.map_or(self.next_step, |max| self.next_step.min(max));
            let is_last = start + longest >= end;
            let h = if is_last { end - start } else { longest };
            if h < T::default_epsilon() * start.abs().max(T::one()) && !is_last {
                return Err(Error::StepTooSmall { time: start.to_f64(), step: h.to_f64() });
            }
            let step_end = if is_last { end } else { start + h };
            let is_shortest = h <= self.event_step;
            if let Err(error) = self.try_step(simulation, h, step_end) {
                // A trial stage has gone where the elements cannot follow; the motion need not.
                if is_shortest {
                    return Err(error);
                }
                self.next_step = (h * T::lit(0.25)).max(self.event_step);
                simulation.reject();
                continue;
            }
            let error = self.error(h);
            if error <= T::one() && !is_shortest && simulation.switching_error()? > self.force_tolerance {
                self.next_step = (h * T::lit(0.25)).max(self.event_step);
                simulation.reject();
                continue;
            }
            // Order 5: the error grows with the fifth power of the step. 0.9 keeps most of the next
            // trials below the limit; the bounds keep one odd estimate from doing harm.
            let growth = if error > T::zero() { T::lit(0.9) / error.powf(T::lit(0.2)) } else { T::lit(5.0) };
            let growth = growth.clamp(T::lit(0.2), T::lit(5.0));
            if error <= T::one() {
                if !is_last || growth < T::one() {
                    self.next_step = h * growth;
                }
                return simulation.accept(&self.y);
            }
            self.next_step = h * growth.min(T::one());
            simulation.reject();
        }
    }
}
