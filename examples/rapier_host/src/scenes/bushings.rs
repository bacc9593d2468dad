//! Two bodies that hang under each other on bushings, thrown.

use force_elements::linear_bushing::Parameters;
use force_elements::nalgebra::{Point3, Vector3, Vector6};
use force_elements::simulation::SimulationError;
use force_elements::{BodyIndex, DynamicsView, Frame, LinearBushing, Pose, SpatialVelocity};

use super::{GRAVITY, brick};
use crate::scene::Scene;

/// Both bodies have their mass centers off their origins.
pub struct Bushings {
    pub scene: Scene,
    pub lower: BodyIndex,
}

impl Bushings {
    pub fn new() -> Result<Self, SimulationError> {
        let mut scene = Scene::new(Vector3::new(0.0, 0.0, -GRAVITY))?;
        let parameters = Parameters {
            stiffness: Vector6::new(2.0, 2.0, 2.0, 900.0, 1100.0, 1300.0),
            damping: Vector6::new(0.02, 0.02, 0.02, 2.0, 2.0, 2.0),
        };
        let half = Vector3::new(0.05, 0.08, 0.15);
        let mut chain = vec![BodyIndex::GROUND];
        for (mass, z, spin) in [(2.0, -0.4, 1.5), (1.0, -0.8, -2.0)] {
            let center = Point3::new(0.03, -0.02, -0.04);
            let V_GB = SpatialVelocity::new(Vector3::new(0.5, 0.8, spin), Vector3::new(1.2 * spin, 0.4, 0.0));
            let body = scene.add_body(brick(mass, half, center)?, Pose::translation(0.0, 0.0, z), V_GB);
            let above = Frame::on(chain[chain.len() - 1], Pose::translation(0.0, 0.0, -0.2));
            let below = Frame::on(body, Pose::translation(0.0, 0.0, 0.2));
            scene.system.add(LinearBushing::new(above, below, parameters)?)?;
            chain.push(body);
        }
        Ok(Self { scene, lower: chain[2] })
    }

    /// Where the lower body's origin is \[m\].
    pub fn place(&self, dynamics: &DynamicsView<'_, f64>) -> Vector3<f64> {
        dynamics.pose(self.lower).translation.vector
    }
}
