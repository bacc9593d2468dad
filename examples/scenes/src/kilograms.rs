//! Masses of a host that do not matter.

use force_elements::nalgebra::Matrix3;
use force_elements::{BodyIndex, CoordinateIndex, Inertias};

/// All bodies and coordinates of one kilogram, with moments of inertia of 1 kg·m².
pub struct Kilograms;

impl Inertias for Kilograms {
    fn mass(&self, _: BodyIndex) -> f64 {
        1.0
    }
    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::identity()
    }
    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        1.0
    }
}
