//! Masses and moments of inertia given by a host to bound its step.

use nalgebra::{Matrix3, Point3};

use crate::mechanics::{BodyIndex, CoordinateIndex};

/// Masses and moments of inertia of a host's bodies and coordinates.
///
/// Anything immovable has an infinite mass. In a mechanism, the kinetic energy of everything that is stated must not exceed that of
/// the mechanism, in any of its motions: then joints make no bound on a step too long. What a bound leaves out is the stiffness that
/// a large force on one link adds by turning another.
///
/// - Links as if each were free satisfy this. Links that move as one divide their inertia among those that are bodies here.
/// - Coordinates on which elements act, and no bodies: with the mass matrix `M`, masses `m_i/λ`, where `m_i = 1/(M⁻¹)_ii` and `λ` is
///   the largest eigenvalue of `(√(m_i m_j) (M⁻¹)_ij)`. The `m_i` alone are too large where several are loaded at once.
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
