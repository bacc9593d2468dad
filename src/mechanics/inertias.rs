//! Masses and moments of inertia given by a host to bound its step.

use nalgebra::{Matrix3, Point3};

use crate::mechanics::{BodyIndex, CoordinateIndex};

/// Masses and moments of inertia of a host's bodies and coordinates.
///
/// A host in joint coordinates returns the inertia that a force on the body acts on: the articulated inertia, or less.
/// Anything immovable has an infinite mass.
pub trait Inertias {
    /// The mass of a body \[kg\].
    fn mass(&self, body: BodyIndex) -> f64;

    /// The inertia of a body about its mass center, in its own frame \[kg·m²\]. A host that knows only a lower bound on
    /// the least principal moment returns that bound times the identity; steps may then be shorter than necessary.
    fn inertia(&self, body: BodyIndex) -> Matrix3<f64>;

    /// The mass center of a body in its own frame \[m\].
    fn mass_center(&self, _body: BodyIndex) -> Point3<f64> {
        Point3::origin()
    }

    /// The mass of a coordinate \[kg, or kg·m² of an angle\].
    fn coordinate_mass(&self, coordinate: CoordinateIndex) -> f64;
}
