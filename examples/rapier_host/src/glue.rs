//! Rapier as a host of force elements: their forces in, its motion out. A file to copy.
//!
//! Rapier reports the velocity of a body's mass center; force elements want that of the body's origin, and their
//! forces act there too. Rapier keeps a force until it is reset, and holds it over all substeps of a step:
//! set `num_solver_iterations` to 1. A body that sleeps does not feel forces: use `can_sleep(false)`.
//!
//! Choose contacts for the step with [`ContactDesign`](force_elements::ContactDesign). [`RapierHost::check_step`] refuses a step
//! that is too long for the forces at its start, before rapier takes it. If [`finish_step`](ForceSystem::finish_step) refuses, rapier has moved on and
//! the state has not: take rapier back to the poses and velocities of the state, or begin anew.

use std::collections::BTreeMap;

use force_elements::nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use force_elements::{
    BodyIndex, CoordinateIndex, Error, ForceSystem, Inertias, KinematicsSource, Pose, SpatialVelocity, State,
    StepMethod, StepRule,
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

    /// Refuses a step that is too long for the present forces, with the longest one and the element that limits it: to be
    /// called before [`step`](Self::step).
    pub fn check_step(&self, system: &ForceSystem<f64>, state: &mut State<f64>) -> Result<(), Error> {
        system.realize_dynamics(state)?;
        system.check_step(state, self, StepMethod::SymplecticEuler, self.world.integration_parameters.dt)
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

impl Inertias for RapierHost {
    fn mass(&self, body: BodyIndex) -> f64 {
        self.body(body).mass()
    }
    fn inertia(&self, body: BodyIndex) -> Matrix3<f64> {
        let inertia = self.body(body).mass_properties().local_mprops.reconstruct_inertia_matrix();
        Matrix3::from_column_slice(&inertia.to_cols_array())
    }
    fn mass_center(&self, body: BodyIndex) -> Point3<f64> {
        let [x, y, z] = self.body(body).local_center_of_mass().to_array();
        Point3::new(x, y, z)
    }
    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        f64::INFINITY
    }
}
