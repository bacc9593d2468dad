//! A tyre that lands on the ground without spin, skids, and rolls.

use core::f64::consts::FRAC_PI_2;

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{RigidBody, SimulationError};
use force_elements::{BodyIndex, DynamicsView, ElasticFoundation, Frame, Pose, SpatialVelocity};

use super::GRAVITY;
use crate::scene::Scene;

const RING: f64 = 0.24;
const TUBE: f64 = 0.08;
const MASS: f64 = 8.0;
/// Its speed as it lands \[m/s\].
const SPEED: f64 = 3.0;
/// The moment of inertia about its axle, of a solid torus \[kg·m²\].
const SPIN_INERTIA: f64 = MASS * (RING * RING + 0.75 * TUBE * TUBE);

pub struct Tyre {
    pub scene: Scene,
    pub body: BodyIndex,
}

impl Tyre {
    pub fn new() -> Result<Self, SimulationError> {
        let mut scene = Scene::new(Vector3::new(0.0, 0.0, -GRAVITY))?;
        let across = MASS * (0.5 * RING * RING + 0.625 * TUBE * TUBE);
        let inertia = Matrix3::from_diagonal(&Vector3::new(across, SPIN_INERTIA, across));
        let body = RigidBody::new(MASS, Point3::origin(), inertia)?;
        let X_GB = Pose::translation(0.0, 0.0, RING + TUBE);
        let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::new(SPEED, 0.0, 0.0));
        let body = scene.add_body(body, X_GB, V_GB);

        // The torus turns about z of its mesh, the tyre about y.
        let X_BS = Pose::from_parts(
            Translation3::identity(),
            Rotation3::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2),
        );
        let rubber =
            Material::from_elastic_layer(6e5, 0.4, 0.03)?.with_dissipation(0.5).with_friction(0.9, 0.8, 0.0);
        let mut foundation =
            ElasticFoundation::new(Parameters { transition_velocity: 0.05, ..Parameters::default() })?;
        foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ)?;
        foundation.add_springs(Frame::on(body, X_BS), TriangleMesh::torus(RING, TUBE, 180, 72)?, rubber)?;
        scene.system.add(foundation)?;
        Ok(Self { scene, body })
    }

    /// The speed at which it would roll right after the skid, if rolling were free of loss \[m/s\]: friction at the
    /// height of the axle takes from one momentum what it gives to the other.
    pub fn rolling_speed(height: f64) -> f64 {
        SPEED / (1.0 + SPIN_INERTIA / (MASS * height * height))
    }

    pub fn reading(&self, dynamics: &DynamicsView<'_, f64>) -> Reading {
        let (V_GB, height) = (dynamics.velocity(self.body), dynamics.pose(self.body).translation.z);
        Reading { height, speed: V_GB.linear.x, rim_speed: V_GB.angular.y * height }
    }
}

/// How the tyre moves.
pub struct Reading {
    /// Of the axle over the ground \[m\].
    pub height: f64,
    /// Of the axle \[m/s\].
    pub speed: f64,
    /// Of the tyre where it touches the ground, relative to the axle, backwards \[m/s\].
    pub rim_speed: f64,
}
