//! The loop of a host around rapier, with an account of energies.

use force_elements::nalgebra::{Isometry3, Vector3};
use force_elements::{BodyIndex, DynamicsView, Error, ForceSystem, KinematicsSource as _, State};
use rapier3d_f64::dynamics::{RigidBody, RigidBodyBuilder};
use rapier3d_f64::prelude::MassProperties;

use crate::glue::RapierHost;
use crate::scene::{Energies, Placed};

/// How rapier takes its steps.
#[derive(Clone, Copy)]
pub struct Steps {
    /// The length of a step \[s\].
    pub length: f64,
    /// Rapier's `num_solver_iterations`: the substeps over which it holds a force.
    ///
    /// A force that is held over `n` substeps of a step `h` moves a body by `(n + 1)/2n·h²·F/m`, where
    /// symplectic Euler, which is `n = 1`, moves it by `h²·F/m`; the velocity changes by `h·F/m` with either. An
    /// oscillation at ω thereby gains `(n − 1)/2n·ω²h²` of its energy in each step: 0.375·ω²h² with the default
    /// of 4, nothing with 1.
    pub substeps: usize,
}

impl Steps {
    /// Steps of this length, without substeps.
    pub fn of(length: f64) -> Self {
        Self { length, substeps: 1 }
    }
}

/// A rapier world under forces of elements.
pub struct Host {
    pub rapier: RapierHost,
    /// The energy that all elements have absorbed, those since removed included \[J\].
    absorbed: f64,
}

impl Host {
    pub fn new(gravity_G: Vector3<f64>, steps: Steps) -> Self {
        let mut rapier = RapierHost::default();
        rapier.world.gravity = gravity_G.into();
        rapier.world.integration_parameters.dt = steps.length;
        rapier.world.integration_parameters.num_solver_iterations = steps.substeps;
        Self { rapier, absorbed: 0.0 }
    }

    /// Adds a body without colliders: all its contacts are elements.
    pub fn insert(&mut self, placed: &Placed) {
        let Placed { index, body, X_GB, V_GB } = placed;
        let (center, inertia) = (body.center().coords, (*body.inertia()).into());
        let properties = MassProperties::with_inertia_matrix(center.into(), body.mass(), inertia);
        let X_GB_quaternion = Isometry3::from_parts(X_GB.translation, X_GB.rotation.into());
        let added = RigidBodyBuilder::dynamic()
            .pose(X_GB_quaternion.into())
            .linvel(V_GB.shifted(X_GB.rotation * center).linear.into())
            .angvel(V_GB.angular.into())
            .additional_mass_properties(properties)
            .can_sleep(false);
        let world = &mut self.rapier.world;
        let handle = world.insert_body(added);
        // Without this the mass is zero, and the mass center at the origin, until the end of the first step.
        world.bodies[handle].recompute_mass_properties_from_colliders(&world.colliders);
        self.rapier.handles.insert(*index, handle);
    }

    /// Removes a body.
    pub fn remove(&mut self, index: BodyIndex) {
        if let Some(handle) = self.rapier.handles.remove(&index) {
            self.rapier.world.remove_body(handle);
        }
    }

    /// Nothing has been dissipated yet.
    pub fn open_account(&mut self, system: &ForceSystem<f64>, state: &mut State<f64>) -> Result<(), Error> {
        self.absorbed = system.realize_dynamics(state)?.potential_energy();
        Ok(())
    }

    /// Books a change of the stored energy by elements that were added or removed.
    pub fn book(&mut self, change: f64) {
        self.absorbed += change;
    }

    /// One step: forces to rapier, motion back, memories committed.
    pub fn advance(&mut self, system: &ForceSystem<f64>, state: &mut State<f64>) -> Result<(), Error> {
        let dynamics = system.realize_dynamics(state)?;
        self.rapier.apply(&dynamics);
        let held: Vec<_> = system.bodies().map(|body| (body, dynamics.body_force(body))).collect();
        let power =
            |host: &RapierHost| held.iter().map(|(body, F_GB)| host.velocity(*body).power(F_GB)).sum::<f64>();
        let before = power(&self.rapier);
        self.rapier.step();
        // The work of forces that are held while velocities change from one value to another.
        self.absorbed -= 0.5 * self.rapier.world.integration_parameters.dt * (before + power(&self.rapier));
        state.set_kinematics(&self.rapier)?;
        system.realize_dynamics(state)?;
        system.accept_step(state)
    }

    pub fn energies(&self, dynamics: &DynamicsView<'_, f64>) -> Energies {
        let world = &self.rapier.world;
        let bodies = || self.rapier.handles.values().map(|&handle| &world.bodies[handle]);
        let stored = dynamics.potential_energy();
        Energies {
            kinetic: bodies().map(RigidBody::kinetic_energy).sum(),
            gravitational: bodies().map(|body| -body.mass() * world.gravity.dot(body.center_of_mass())).sum(),
            stored,
            dissipated: self.absorbed - stored,
        }
    }
}
