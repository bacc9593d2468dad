//! A weight on a cable that runs over a drum on a swaying carriage.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::shapes::Cylinder;
use force_elements::simulation::SimulationError;
use force_elements::{
    BodyIndex, CableSpring, DynamicsView, Frame, Handle, LinearBushing, Pose, SpatialVelocity, Station,
    cable_spring, linear_bushing,
};

use super::{GRAVITY, brick};
use crate::scene::Scene;

/// Radius of the drum \[m\].
const RADIUS: f64 = 0.2;

pub struct Cable {
    pub scene: Scene,
    suspension: Handle<LinearBushing<f64>>,
    spring: Handle<CableSpring<f64>>,
    weight: BodyIndex,
}

impl Cable {
    pub fn new() -> Result<Self, SimulationError> {
        let mut scene = Scene::new(Vector3::new(0.0, 0.0, -GRAVITY))?;
        let half = Vector3::new(0.15, 0.25, 0.15);
        let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::new(-1.0, 0.3, 0.0));
        let carriage = brick(3.0, half, Point3::new(0.02, 0.0, -0.05))?;
        let carriage = scene.add_body(carriage, Pose::identity(), V_GB);
        let soft = linear_bushing::Parameters {
            stiffness: Vector6::new(60.0, 60.0, 60.0, 150.0, 300.0, 900.0),
            damping: Vector6::new(0.2, 0.2, 0.2, 1.0, 1.0, 1.0),
        };
        let ground = Frame::ground(Pose::identity());
        let suspension = scene.system.add(LinearBushing::new(ground, Frame::of(carriage), soft)?)?;

        let half = Vector3::repeat(0.06);
        let V_GB = SpatialVelocity::new(Vector3::new(0.0, 0.0, 2.0), Vector3::new(0.4, 0.7, 0.0));
        let weight = brick(1.5, half, Point3::new(0.0, 0.02, -0.02))?;
        let weight = scene.add_body(weight, Pose::translation(RADIUS, 0.0, -0.9), V_GB);

        // The axis of the drum lies along y; the cable runs over its top.
        let X_BS = Pose::from_parts(
            Translation3::identity(),
            Rotation3::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2),
        );
        let drum = Obstacle::new(Frame::on(carriage, X_BS), Cylinder::new(RADIUS)?)?
            .with_contact_hint(X_BS.inverse_transform_point(&Point3::new(0.0, 0.0, RADIUS)))?;
        let hook = Station::ground(Point3::new(-1.0, 0.05, -0.1));
        let eye = Station::on(weight, Point3::new(0.0, 0.0, 0.06));
        let path = CablePath::new(hook, eye)?.over(drum);
        let elastic = cable_spring::Parameters { stiffness: 400.0, slack_length: 2.2, dissipation: 0.05 };
        let spring = scene.system.add(CableSpring::new(path, elastic)?)?;
        Ok(Self { scene, suspension, spring, weight })
    }

    pub fn reading(&self, dynamics: &DynamicsView<'_, f64>) -> Reading {
        Reading {
            tension: dynamics.of(self.spring).dynamics.tension,
            weight: dynamics.pose(self.weight).translation.vector,
            cable_lost: dynamics.dissipated_energy_of(self.spring),
            suspension_lost: dynamics.dissipated_energy_of(self.suspension),
        }
    }
}

/// How the cable pulls, and what has been lost.
pub struct Reading {
    /// Tension of the cable \[N\].
    pub tension: f64,
    /// Where the weight is \[m\].
    pub weight: Vector3<f64>,
    /// Energy dissipated by the cable \[J\].
    pub cable_lost: Option<f64>,
    /// Energy dissipated by the suspension of the carriage \[J\].
    pub suspension_lost: Option<f64>,
}
