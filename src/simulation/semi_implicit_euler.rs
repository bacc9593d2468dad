//! A fixed-step integrator of order 1.

use alloc::vec::Vec;

use crate::error::Result;
use crate::scalar::Real;
use crate::simulation::motion::{Integrator, Role, Simulation};
use crate::variables::Check;

/// Velocities first, then positions with the new velocities.
///
/// Keeps the energy of a conservative motion bounded where the explicit Euler method lets it grow.
/// Absorbed energies are integrated by the trapezoidal rule, which is not the work its own velocities
/// do: use it for speed, not for ledgers.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SemiImplicitEuler<T: Real> {
    step: T,
    #[cfg_attr(feature = "serde", serde(skip))]
    y: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    rates: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    end_rates: Vec<T>,
}

impl<T: Real> SemiImplicitEuler<T> {
    /// An integrator with this step \[s\].
    pub fn new(step: T) -> Self {
        Self { step, y: Vec::new(), rates: Vec::new(), end_rates: Vec::new() }
    }
}

impl<T: Real> Integrator<T> for SemiImplicitEuler<T> {
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: T) -> Result<()> {
        Check::new("semi_implicit_euler").positive("step", self.step)?;
        let count = simulation.variables().len();
        self.rates.resize(count, T::zero());
        self.end_rates.resize(count, T::zero());
        let start = simulation.time();
        // A remainder below a thousandth of a step is rounding, not a step of its own.
        let is_last = start + self.step * T::lit(1.001) >= end;
        let (time, h) = if is_last { (end, end - start) } else { (start + self.step, self.step) };

        simulation.calc_present_rates(&mut self.rates)?;
        self.y.clear();
        self.y.extend_from_slice(simulation.variables());
        self.advance(simulation, Role::Velocity, h);
        simulation.calc_position_rates(&self.y, &mut self.rates);
        self.advance(simulation, Role::Position, h);
        simulation.normalize(&mut self.y);
        simulation.calc_rates(time, &self.y, &mut self.end_rates)?;
        for (rate, end_rate) in self.rates.iter_mut().zip(&self.end_rates) {
            *rate = (*rate + *end_rate) * T::lit(0.5);
        }
        self.advance(simulation, Role::Energy, h);
        simulation.accept(&self.y)
    }
}

impl<T: Real> SemiImplicitEuler<T> {
    fn advance(&mut self, simulation: &Simulation<'_, T>, role: Role, h: T) {
        for (i, (y, &rate)) in self.y.iter_mut().zip(&self.rates).enumerate() {
            if simulation.role(i) == role {
                *y += rate * h;
            }
        }
    }
}
