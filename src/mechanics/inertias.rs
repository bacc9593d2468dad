//! Masses and moments of inertia that a host states to bound its step.

use nalgebra::{Matrix3, Point3};

use crate::mechanics::{BodyIndex, CoordinateIndex};

/// Masses and moments of inertia of a host's bodies and coordinates.
///
/// Anything immovable has an infinite mass. In a mechanism, the kinetic energy of all stated masses and inertias must not
/// exceed that of the mechanism, in any of its motions. Joints then never make a bound on the step too long. The bound
/// does not include the stiffness that a large force on one link adds by turning another. There are three ways to state
/// them:
///
/// - Links as if each were free. Links that move as one divide their inertia among those that are bodies here.
/// - Coordinates on which elements act, and no bodies: with the mass matrix `M`, masses `m_i/λ`, where `m_i = 1/(M⁻¹)_ii`
///   and `λ` is the largest eigenvalue of `(√(m_i m_j) (M⁻¹)_ij)`. The `m_i` alone are too large if several coordinates
///   are loaded at once.
/// - Both: a part of each, such as half.
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
