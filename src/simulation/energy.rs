//! Energies of a simulation and their balance.

use crate::math::Real;
use crate::simulation::layout::{COORDINATE, vector};
use crate::simulation::{Plant, Simulation, SimulationError};

impl<T: Real> Simulation<'_, T> {
    /// Kinetic energy of all bodies and coordinates \[J\].
    pub fn kinetic_energy(&self) -> T {
        kinetic_energy(self.plant(), self.motion())
    }

    /// Potential energy of all bodies in gravity \[J\], zero at the Ground origin.
    pub fn gravitational_energy(&self) -> T {
        gravitational_energy(self.plant(), self.motion())
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
    /// Tests only the integrator: without changes of parameters its rate is zero *whatever* forces and energies the elements
    /// report, so its change is the error of integrating the same forces twice. To test an element, use
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
