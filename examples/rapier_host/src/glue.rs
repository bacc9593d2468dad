//! Rapier as a host of force elements: their forces in, its motion out. A file to copy.
//!
//! Rapier reports the velocity of a body's mass center; force elements want that of the body's origin, and their
//! forces act there too. Rapier keeps a force until it is reset, and holds it over all substeps of a step:
//! set `num_solver_iterations` to 1. A body that sleeps does not feel forces: use `can_sleep(false)`.

use std::collections::BTreeMap;

use force_elements::nalgebra::{Isometry3, Vector3};
use force_elements::{
    BodyIndex, Error, ForceSystem, KinematicsSource, Pose, SpatialVelocity, State, StepRule,
};
use rapier3d_f64::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d_f64::pipeline::PhysicsWorld;

/// A rapier world, its time, and which of its bodies are those of the force system.
#[derive(Default)]
pub struct RapierHost {
    pub world: PhysicsWorld,
    pub time: f64,
    pub handles: BTreeMap<BodyIndex, RigidBodyHandle>,
}

impl RapierHost {
    /// The rapier body of a body of the force system.
    pub fn body(&self, body: BodyIndex) -> &RigidBody {
        &self.world.bodies[self.handles[&body]]
    }

    /// Takes one step, which is accepted. Rapier holds forces: its rule is [`StepRule::HeldForces`].
    pub fn step(
        &mut self,
        system: &ForceSystem<f64>,
        state: &mut State<f64>,
        rule: StepRule,
    ) -> Result<(), Error> {
        let dynamics = system.realize_dynamics(state)?;
        for (&body, &handle) in &self.handles {
            let (F_GB, rapier_body) = (dynamics.body_force(body), &mut self.world.bodies[handle]);
            rapier_body.reset_forces(true);
            rapier_body.reset_torques(true);
            rapier_body.add_force_at_point(F_GB.force.into(), rapier_body.translation(), true);
            rapier_body.add_torque(F_GB.torque.into(), true);
        }
        self.world.step();
        self.time += self.world.integration_parameters.dt;
        system.finish_step(state, self, rule)
    }
}

impl KinematicsSource<f64> for RapierHost {
    fn time(&self) -> f64 {
        self.time
    }
    fn pose(&self, body: BodyIndex) -> Pose<f64> {
        let X_GB = Isometry3::from(*self.body(body).position());
        Pose::from_parts(X_GB.translation, X_GB.rotation.to_rotation_matrix())
    }
    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<f64> {
        let body = self.body(body);
        let v_GB: Vector3<f64> = body.velocity_at_point(body.translation()).into();
        SpatialVelocity::new(body.angvel().into(), v_GB)
    }
}
