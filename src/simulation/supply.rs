//! The energy that a motion can have, compared with the energy that it has.

use crate::math::Real;
use crate::simulation::energy::{gravitational_energy, kinetic_energy};
use crate::simulation::{Simulation, SimulationError};

/// The factor by which kinetic energy may exceed the supply. Under symplectic Euler the energy of an undamped
/// oscillation at a fraction `s` of the longest stable step varies by `(1 + s)/(1 − s)`: 200 times at 0.99.
const EXPLOSION: f64 = 1e4;

/// The energy supplied to a motion since its account was opened, in plain numbers \[J\].
#[derive(Debug, Clone, Copy)]
pub(super) struct Supply {
    /// Energy at the opening, and the changes of parameters since.
    stock: f64,
    /// Whether anything has moved since.
    is_moving: bool,
    /// Accounts at the opening.
    gravitational: f64,
    work: f64,
    /// What elements have returned since, without what their drives supplied, by the trapezoidal rule.
    returned: f64,
    /// The largest energy that gravity, loads, drives and elements have delivered together.
    delivered: f64,
}

impl Supply {
    /// Records a change from outside in the energy stored.
    pub(super) fn change(&mut self, stored: f64) {
        self.stock += stored.abs();
    }

    /// Opens the account of a simulation that is realized at its present point.
    pub(super) fn open<T: Real>(simulation: &mut Simulation<'_, T>) -> Result<Self, SimulationError> {
        let stored = simulation.dynamics()?.potential_energy();
        Ok(Self {
            // Energies may be counted from a zero above them.
            stock: (simulation.kinetic_energy() + stored.abs()).to_f64(),
            is_moving: false,
            gravitational: simulation.gravitational_energy().to_f64(),
            work: simulation.supplied_work().to_f64(),
            returned: 0.0,
            delivered: 0.0,
        })
    }

    /// The account after a step to `y`, unless that has far more kinetic energy than was supplied. `absorbed` is what
    /// elements absorb in the step by the trapezoidal rule.
    ///
    /// The supply consists of: kinetic and stored energy at the opening; kinetic energy after the first step in which
    /// something moves, since the force of an element that reports no stored energy is known only by its effect; stored energy added by changes of
    /// parameters; and the largest energy that gravity, loads, drives and elements have delivered since. An exact motion never
    /// has more. If steps are too long for a method, the elements absorb energy by that rule while the motion gains it, and
    /// the supply does not change.
    ///
    /// # Errors
    /// [`SimulationError::EnergyExploded`].
    pub(super) fn after<T: Real>(
        mut self,
        simulation: &Simulation<'_, T>,
        time: f64,
        y: &[T],
        absorbed: f64,
    ) -> Result<Self, SimulationError> {
        let plant = simulation.plant();
        let kinetic_energy = kinetic_energy(plant, y).to_f64();
        if !self.is_moving {
            self.stock += kinetic_energy;
            self.is_moving = kinetic_energy > 0.0;
        }
        let fall = gravitational_energy(plant, y).to_f64() - self.gravitational;
        let work = y.last().map_or(0.0, |work| work.to_f64()) - self.work;
        self.returned -= absorbed;
        self.delivered = self.delivered.max(fall.abs() + work.abs() + self.returned.max(0.0));
        let supplied = self.stock + self.delivered;
        if kinetic_energy > EXPLOSION * supplied {
            return Err(SimulationError::EnergyExploded { time, kinetic_energy, supplied });
        }
        Ok(self)
    }
}
