//! Rapier with the bodies of a scene, and their energies.

use force_elements::nalgebra::{Isometry3, Vector3};
use force_elements::{BodyIndex, DynamicsView, Error, ForceSystem, State, StepRule};
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
    /// How the energy absorbed in a step is computed.
    pub rule: StepRule,
}

impl Steps {
    /// Steps of this length, without substeps.
    pub fn of(length: f64) -> Self {
        Self { length, substeps: 1, rule: StepRule::HeldForces }
    }
}

/// A rapier world under forces of elements.
pub struct Host {
    pub rapier: RapierHost,
    rule: StepRule,
}

impl Host {
    pub fn new(gravity_G: Vector3<f64>, steps: Steps) -> Self {
        let mut rapier = RapierHost::default();
        rapier.world.gravity = gravity_G.into();
        rapier.world.integration_parameters.dt = steps.length;
        rapier.world.integration_parameters.num_solver_iterations = steps.substeps;
        Self { rapier, rule: steps.rule }
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

    /// One step of rapier, accepted.
    pub fn advance(&mut self, system: &ForceSystem<f64>, state: &mut State<f64>) -> Result<(), Error> {
        self.rapier.step(system, state, self.rule)
    }

    pub fn energies(&self, dynamics: &DynamicsView<'_, f64>) -> Energies {
        let world = &self.rapier.world;
        let bodies = || self.rapier.handles.values().map(|&handle| &world.bodies[handle]);
        let kinetic = bodies().map(RigidBody::kinetic_energy).sum();
        let gravitational =
            bodies().map(|body| -body.mass() * world.gravity.dot(body.center_of_mass())).sum();
        Energies::new(kinetic, gravitational, dynamics)
    }
}
