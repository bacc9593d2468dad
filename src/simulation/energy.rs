//! Energies of a simulation, their balance, and bounds on them.

use alloc::vec::Vec;

use crate::math::Real;
use crate::simulation::layout::{COORDINATE, vector};
use crate::simulation::{Plant, Simulation, SimulationError};

impl<T: Real> Simulation<'_, T> {
    /// Kinetic energy of all bodies and coordinates \[J\].
    pub fn kinetic_energy(&self) -> T {
        kinetic_energy(self.plant, self.motion())
    }

    /// Potential energy of all bodies in gravity \[J\], zero at the Ground origin.
    pub fn gravitational_energy(&self) -> T {
        gravitational_energy(self.plant, self.motion())
    }

    /// Kinetic and gravitational energy and the energy stored by the elements \[J\].
    ///
    /// Without loads, drives and changes of parameters it is constant if no element loses energy, and falls by the time
    /// integral of [`power_dissipated`](crate::DynamicsView::power_dissipated) if all losses are known instantaneously.
    /// It tests the forces of the elements against their energies.
    ///
    /// # Errors
    /// [`SimulationError::Forces`] with an error of [`dynamics`](Self::dynamics).
    pub fn mechanical_energy(&mut self) -> Result<T, SimulationError> {
        let stored = self.dynamics()?.potential_energy();
        Ok(self.kinetic_energy() + self.gravitational_energy() + stored)
    }

    /// Kinetic and gravitational energy and the work that the forces of the elements have taken from the motion
    /// (the energy they have absorbed), less the work of loads and drives \[J\].
    ///
    /// This tests only the integrator: without changes of parameters its rate is zero *whatever* forces and energies the
    /// elements report, so its change is the error of integrating the same forces twice. To test an element, use
    /// [`mechanical_energy`](Self::mechanical_energy).
    pub fn work_balance(&self) -> T {
        let absorbed = self.state().absorbed_energy().iter().fold(T::zero(), |sum, &e| sum + e);
        self.kinetic_energy() + self.gravitational_energy() + absorbed - self.supplied_work()
    }
}

/// Kinetic energy of all bodies and coordinates at a trial point.
pub(super) fn kinetic_energy<T: Real>(plant: &Plant<T>, y: &[T]) -> T {
    let mut twice = T::zero();
    for (body, y) in plant.bodies.iter().zip(plant.body_chunks(y)) {
        let (w_B, v_GC) = (vector(&y[10..]), vector(&y[7..]));
        twice += v_GC.norm_squared() * body.mass() + w_B.dot(&(body.inertia() * w_B));
    }
    let coordinates = y[plant.coordinates_start()..plant.energies_start()].chunks_exact(COORDINATE);
    for (&mass, y) in plant.masses.iter().zip(coordinates) {
        twice += mass * y[1] * y[1];
    }
    T::lit(0.5) * twice
}

/// Potential energy of all bodies in gravity at a trial point, zero at the Ground origin.
pub(super) fn gravitational_energy<T: Real>(plant: &Plant<T>, y: &[T]) -> T {
    let bodies = plant.bodies.iter().zip(plant.body_chunks(y));
    bodies.fold(T::zero(), |sum, (body, y)| sum - plant.gravity.dot(&vector(y)) * body.mass())
}

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
    /// The energy that elements have returned since then, without the supply of their drives, by the trapezoidal rule.
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
            // Energies may be relative to a zero above them.
            stock: (simulation.kinetic_energy() + stored.abs()).to_f64(),
            is_moving: false,
            gravitational: simulation.gravitational_energy().to_f64(),
            work: simulation.supplied_work().to_f64(),
            returned: 0.0,
            delivered: 0.0,
        })
    }

    /// Returns the account after a step to `y`, unless the kinetic energy there is far above the supply. `absorbed` is
    /// the energy that elements absorb in the step, by the trapezoidal rule.
    ///
    /// The supply consists of
    ///
    /// - kinetic and stored energy at the opening;
    /// - kinetic energy after the first step in which something moves, since the force of an element that reports no
    ///   stored energy is known only by its effect;
    /// - stored energy added by changes of parameters;
    /// - the largest energy that gravity, loads, drives and elements have delivered since then.
    ///
    /// An exact motion never has more. If steps are too long for a method, the elements absorb energy by the trapezoidal
    /// rule while the motion gains it, and the supply does not change.
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
        let plant = simulation.plant;
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

/// The number of steps in a window. Growth is relative to the previous window: over longer times the errors of the work
/// of drives and elements add up.
const STEPS: usize = 64;

/// The fraction of the largest kinetic energy by which the energy may grow. An impact that adds more has doubled the
/// kinetic energy.
const TOO_MUCH: f64 = 0.5;

/// The fraction of all energies up to which their sum may be in error, because of single precision and of Newton's
/// method.
const ROUNDING: f64 = 1e-5;

/// The number of steps in a row that shows that energy has grown. Energy that an element stores for a step or two, where
/// a contact is first seen at a depth, may be lost again.
const PERSISTENT: u32 = 4;

/// The energy of motion and elements in two windows, in plain numbers \[J\]. It serves fixed steps of implicit methods,
/// which have no bound of stability by which they could be refused.
#[derive(Debug, Clone, Default)]
pub(super) struct Growth {
    /// The number of steps recorded.
    steps: usize,
    /// The largest energy and the largest kinetic energy in the present window and in the previous one; in the first
    /// window, those of its first step in place of the latter.
    most: [[f64; 2]; 2],
    /// The number of steps in a row after which the energy has grown too much.
    gaining: u32,
    /// Whether each element has ever stored energy, by place.
    stores: Vec<bool>,
}

impl<T: Real> Simulation<'_, T> {
    /// Returns the record with a step to `y`, at which the rates were calculated last; the caller keeps it if the step is
    /// accepted.
    ///
    /// The energy is that of motion, gravity and elements, without the work of loads and drives. For elements that have
    /// never stored energy it is the energy that they have absorbed, so that the work of a motor is no growth.
    ///
    /// # Errors
    /// [`SimulationError::EnergyExploded`] if the energy has grown too much, and those of an evaluation.
    pub(super) fn checked_growth(&mut self, time: f64, y: &[T]) -> Result<Growth, SimulationError> {
        let Growth { steps, mut most, gaining, mut stores } = self.growth.clone().unwrap_or_default();
        let (system, plant) = (self.system, self.plant);
        let kinetic = kinetic_energy(plant, y).to_f64();
        let fallen = gravitational_energy(plant, y).to_f64();
        let supplied = y.last().map_or(0.0, |work| work.to_f64());
        let mut energy = kinetic + fallen - supplied;
        let mut size = kinetic + fallen.abs() + supplied.abs();
        self.dynamics()?;
        let (state, dynamics) = (self.state(), system.dynamics_view(self.state())?);
        let absorbed = &y[plant.energies_start()..][..state.absorbed_energy().len()];
        stores.resize(absorbed.len(), false);
        for id in system.elements() {
            let place = state.slot(id)?;
            let stored = dynamics.potential_energy_of(id).to_f64();
            if stored != 0.0 && !stores[place] {
                stores[place] = true;
                // From here on the energy absorbed before no longer counts.
                let before = self.y[plant.energies_start() + place].to_f64();
                most = most.map(|[energy, kinetic]| [energy - before, kinetic]);
            }
            let part = if stores[place] { stored } else { absorbed[place].to_f64() };
            energy += part;
            size += part.abs();
        }
        let now = [energy, kinetic];
        let [mut recent, before] = match steps {
            0 => [now; 2],
            steps if steps.is_multiple_of(STEPS) => [now, most[0]],
            _ => most,
        };
        recent.iter_mut().zip(now).for_each(|(most, now)| *most = most.max(now));
        let growth = energy - before[0];
        let is_gaining = growth > TOO_MUCH * recent[1].max(before[1]) + ROUNDING * size;
        if is_gaining && gaining + 1 >= PERSISTENT {
            let (kinetic_energy, supplied) = (kinetic, kinetic - growth);
            return Err(SimulationError::EnergyExploded { time, kinetic_energy, supplied });
        }
        let gaining = if is_gaining { gaining + 1 } else { 0 };
        Ok(Growth { steps: steps + 1, most: [recent, before], gaining, stores })
    }
}
