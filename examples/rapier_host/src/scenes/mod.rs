//! The scenes.

pub mod bushings;
pub mod cable;
pub mod shower;
pub mod slope;
pub mod spring;
pub mod tyre;

use force_elements::nalgebra::{Matrix3, Point3, Vector3};
use force_elements::simulation::{RigidBody, SimulationError};

pub const GRAVITY: f64 = 9.81;

/// A box with these half sides \[m\] whose mass center is this far from its middle, which is its origin.
pub fn brick(mass: f64, half: Vector3<f64>, center: Point3<f64>) -> Result<RigidBody<f64>, SimulationError> {
    let [x, y, z] = [half.x, half.y, half.z].map(|side| side * side);
    let inertia = Matrix3::from_diagonal(&(Vector3::new(y + z, z + x, x + y) * (mass / 3.0)));
    Ok(RigidBody::new(mass, center, inertia)?)
}
