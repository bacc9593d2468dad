//! The energy of a motion in fixed steps of implicit methods, which have no bound of stability by which to refuse them.

use alloc::vec::Vec;

use crate::math::Real;
use crate::simulation::energy::{gravitational_energy, kinetic_energy};
use crate::simulation::{Simulation, SimulationError};

/// The number of steps in a window. Growth is relative to the window before: over longer times the errors of the work of drives and
/// elements add up.
const STEPS: usize = 64;

/// The fraction of the largest kinetic energy by which the energy may grow: where an impact adds more, it has doubled the kinetic
/// energy.
const TOO_MUCH: f64 = 0.5;

/// The fraction of all energies up to which their sum may be in error: of single precision and of Newton's method.
const ROUNDING: f64 = 1e-5;

/// As many steps in a row show that energy has grown: what an element stores for a step or two, where a contact is first seen at a
/// depth, may be lost again.
const PERSISTENT: u32 = 4;

/// The energy of motion and elements in two windows, in plain numbers \[J\].
#[derive(Debug, Clone, Default)]
pub(super) struct Growth {
    /// The number of steps recorded.
    steps: usize,
    /// The largest energy and the largest kinetic energy in the present window and in the one before; in the first window, those of
    /// its first step instead.
    most: [[f64; 2]; 2],
    /// The number of steps in a row after which the energy has grown too much.
    gaining: u32,
    /// Whether each element has ever stored energy, by place.
    stores: Vec<bool>,
}

impl<T: Real> Simulation<'_, T> {
    /// The record with a step to `y`, to be kept if the step is accepted.
    ///
    /// # Errors
    /// Those of [`Growth::check`], after which the record stays.
    pub(super) fn checked_growth(&mut self, time: f64, y: &[T]) -> Result<Growth, SimulationError> {
        let mut growth = self.growth.take().unwrap_or_default();
        let checked = growth.check(self, time, y);
        if let Err(error) = checked {
            self.growth = Some(growth);
            return Err(error);
        }
        Ok(growth)
    }
}

impl Growth {
    /// Records a step to `y`, at which the rates were calculated last, or refuses it if the energy has grown too much. A step
    /// that was refused is not recorded, so the same one is refused again.
    ///
    /// The energy is that of motion, gravity and elements, without the work of loads and drives. That of elements that have
    /// never stored any is what they have absorbed, so that the work of a motor is no growth.
    ///
    /// # Errors
    /// [`SimulationError::EnergyExploded`], and those of an evaluation.
    fn check<T: Real>(
        &mut self,
        simulation: &mut Simulation<'_, T>,
        time: f64,
        y: &[T],
    ) -> Result<(), SimulationError> {
        let (system, plant) = (simulation.system(), simulation.plant());
        let kinetic = kinetic_energy(plant, y).to_f64();
        let fallen = gravitational_energy(plant, y).to_f64();
        let supplied = y.last().map_or(0.0, |work| work.to_f64());
        let mut energy = kinetic + fallen - supplied;
        let mut size = kinetic + fallen.abs() + supplied.abs();
        simulation.dynamics()?;
        let (state, dynamics) = (simulation.state(), system.dynamics_view(simulation.state())?);
        let absorbed = &y[plant.energies_start()..][..state.absorbed_energy().len()];
        self.stores.resize(absorbed.len(), false);
        for id in system.elements() {
            let place = state.slot(id)?;
            let stored = dynamics.potential_energy_of(id).to_f64();
            if stored != 0.0 && !self.stores[place] {
                self.stores[place] = true;
                // What it had absorbed so far counts no longer.
                let before = simulation.variables()[plant.energies_start() + place].to_f64();
                self.most.iter_mut().for_each(|most| most[0] -= before);
            }
            let part = if self.stores[place] { stored } else { absorbed[place].to_f64() };
            energy += part;
            size += part.abs();
        }
        let now = [energy, kinetic];
        let [mut recent, before] = match self.steps {
            0 => [now; 2],
            steps if steps.is_multiple_of(STEPS) => [now, self.most[0]],
            _ => self.most,
        };
        recent.iter_mut().zip(now).for_each(|(most, now)| *most = most.max(now));
        let growth = energy - before[0];
        let is_gaining = growth > TOO_MUCH * recent[1].max(before[1]) + ROUNDING * size;
        if is_gaining && self.gaining + 1 >= PERSISTENT {
            let (kinetic_energy, supplied) = (kinetic, kinetic - growth);
            return Err(SimulationError::EnergyExploded { time, kinetic_energy, supplied });
        }
        self.gaining = if is_gaining { self.gaining + 1 } else { 0 };
        self.steps += 1;
        self.most = [recent, before];
        Ok(())
    }
}
