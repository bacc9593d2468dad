//! Forces of one's own: a spring from a closure and a contact from a struct, with all that built-in elements get.

use force_elements::custom_force::Load;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation};
use force_elements::testing::{self, Curve, Derivative, Numbers, Powers, Scene, Subject, Violation};
use force_elements::{
    AtDynamics, AtVelocity, BodyIndex, CoordinateIndex, CustomForce, ElementError, Error, ForceAccumulator,
    ForceElement, ForceSystem, Handle, KinematicsError, Pose, Real, SpatialForce, SpatialVelocity, State,
    Topology, check, variables,
};
use num_dual::Dual64;

/// A spring that hardens: f = k·d + c·d³ between a point of a wall and the origin of a body.
#[rustfmt::skip]
fn hardening<T: Real>(wall: BodyIndex, p_WA: Point3<T>, body: BodyIndex, [k, c]: [T; 2]) -> CustomForce<T> {
    CustomForce::new(move |motion, loads| {
        let (p_GA, p_GB) = (motion.point(wall, &p_WA), motion.point(body, &Point3::origin()));
        let along = p_GB - p_GA;
        let squared = along.norm_squared();
        loads.apply_at_point(wall, &p_GA, along * (k + c * squared));
        loads.apply_at_point(body, &p_GB, -along * (k + c * squared));
        (k + c * squared * T::lit(0.5)) * squared * T::lit(0.5)
    })
}

variables! {
    /// A sphere on the floor.
    #[derive(Copy)]
    struct Ball<T> {
        /// Stiffness \[N/m^(3/2)\].
        stiffness: T = 1e5, nonnegative;
        /// Dissipation \[s/m\].
        dissipation: T = 0.2, nonnegative;
        /// Radius \[m\].
        radius: T = 0.1, positive;
    }
}

/// Hunt and Crossley's contact of a sphere at a body's origin with the plane z = 0 of another body:
/// f = k·x^(3/2)·(1 + (3/2)·c·ẋ), pushing only.
#[derive(Debug)]
struct HuntCrossley {
    floor: BodyIndex,
    body: BodyIndex,
}

/// The lowest point of the sphere, the normal, the force and the rate of depth.
type Touch<T> = (Vector3<T>, Vector3<T>, [T; 2]);

impl<T: Real> ForceElement<T> for HuntCrossley {
    const KIND: &'static str = "hunt_crossley";
    type Parameters = Ball<T>;
    type Discrete = ();
    type Position = ();
    type Velocity = ();
    type Dynamics = Option<Touch<T>>;

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        topology.check_body(self.floor)?;
        Ok(topology.check_body(self.body)?)
    }
    fn calc_dynamics(
        &self,
        at: &AtVelocity<'_, T, Self>,
        touch: &mut Option<Touch<T>>,
    ) -> Result<(), ElementError> {
        let Ball { stiffness, dissipation, radius } = *at.parameters;
        let normal = at.positions.pose(self.floor).rotation * Vector3::z();
        let p_GC = at.positions.pose(self.body).translation.vector - normal * radius;
        let depth = -(p_GC - at.positions.pose(self.floor).translation.vector).dot(&normal);
        let [v_floor, v_body] = [self.floor, self.body].map(|b| at.velocity_of_point(b, &p_GC.into()));
        let rate = (v_floor - v_body).dot(&normal);
        let factor = (T::one() + T::lit(1.5) * dissipation * rate).max(T::zero());
        let elastic = stiffness * depth.max(T::zero()) * depth.max(T::zero()).sqrt();
        *touch = (depth > T::zero()).then_some((
            p_GC,
            normal,
            [elastic * factor, elastic * (factor - T::one()) * rate],
        ));
        Ok(())
    }
    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        if let Some((p_GC, normal, [f, _])) = *at.dynamics {
            forces.apply_at_point(self.body, &p_GC.into(), normal * f);
            forces.apply_at_point(self.floor, &p_GC.into(), -normal * f);
        }
    }
    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        let height = at
            .positions
            .pose(self.floor)
            .inverse_transform_point(&at.positions.pose(self.body).translation.vector.into())
            .z;
        let depth = (at.parameters.radius - height).max(T::zero());
        T::lit(0.4) * at.parameters.stiffness * depth * depth * depth.sqrt()
    }
    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.as_ref().map_or(T::zero(), |(.., [_, lost])| *lost)
    }
}
