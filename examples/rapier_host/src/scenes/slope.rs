//! A box that is pushed on a slope, slides, and is held.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::simulation::{RigidBody, SimulationError};
use force_elements::{
    BodyIndex, ContactDesign, DynamicsView, Error, ExponentialSpring, ForceSystem, Frame, Handle,
    InvalidValue, Pose, SpatialVelocity, Station,
};

use super::{GRAVITY, brick};
use crate::scene::Scene;

pub const MASS: f64 = 4.0;
pub const HALF: Vector3<f64> = Vector3::new(0.15, 0.10, 0.08);

/// Contacts for steps of up to half a millisecond.
pub fn parameters() -> Result<Parameters<f64>, InvalidValue> {
    Parameters::for_contact(&ContactDesign::new(MASS, HALF.z, 0.5e-3).with_friction(0.6, 0.5))
}

/// The frame of a slope that falls along x at this angle \[rad\].
pub fn slope(angle: f64) -> Pose<f64> {
    Pose::from_parts(Translation3::identity(), Rotation3::from_axis_angle(&Vector3::y_axis(), angle))
}

/// A box whose mass center is not at its origin.
pub fn body() -> Result<RigidBody<f64>, SimulationError> {
    brick(MASS, HALF, Point3::new(0.03, -0.02, -0.01))
}

/// Adds a spring at each of the eight corners of the box.
pub fn add_corners(
    system: &mut ForceSystem<f64>,
    body: BodyIndex,
    X_GP: &Pose<f64>,
) -> Result<Vec<Handle<ExponentialSpring<f64>>>, Error> {
    let corners = (0..8).map(|i| {
        let side = |axis: usize| if i >> axis & 1 == 0 { -HALF[axis] } else { HALF[axis] };
        let corner = Station::on(body, Point3::new(side(0), side(1), side(2)));
        system.add(ExponentialSpring::new(Frame::ground(*X_GP), corner, parameters()?)?)
    });
    corners.collect()
}

/// A box on a slope of 20°, pushed downhill at half a metre per second.
pub struct Slope {
    pub scene: Scene,
    pub body: BodyIndex,
    X_GP: Pose<f64>,
}

impl Slope {
    pub fn new() -> Result<Self, SimulationError> {
        let angle = 20.0_f64.to_radians();
        let X_GP = slope(angle);
        let mut scene = Scene::new(Vector3::new(0.0, 0.0, -GRAVITY))?;
        let height = HALF.z + parameters()?.resting_height(MASS * GRAVITY * angle.cos() / 4.0)?;
        let X_GB = X_GP * Pose::translation(0.0, 0.0, height);
        let v_GB = X_GP.rotation * Vector3::new(0.5, 0.0, 0.0);
        let body = scene.add_body(body()?, X_GB, SpatialVelocity::new(Vector3::zeros(), v_GB));
        add_corners(&mut scene.system, body, &X_GP)?;
        Ok(Self { scene, body, X_GP })
    }

    /// The place of the box along, across and above the slope \[m\].
    pub fn place(&self, dynamics: &DynamicsView<'_, f64>) -> Vector3<f64> {
        self.X_GP.rotation.inverse_transform_vector(&dynamics.pose(self.body).translation.vector)
    }
}
