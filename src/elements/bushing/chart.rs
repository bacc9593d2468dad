//! Rates of the coordinates by the motion of M, and the torque and force of their generalized forces.

use nalgebra::{Matrix3, Vector3};

use super::Coordinates;
use crate::math::Real;

/// The numbers on which rates and forces depend besides the pose of M, all expressed in F.
#[derive(Debug, Clone, Copy)]
pub struct Chart<T: Real> {
    /// The rates of the angles by the angular velocity of M in F.
    pub(in crate::elements) N: Matrix3<T>,
    /// `n tan(φ/4)` of the turn by `φ` about `n` from F to M.
    pub(in crate::elements) u: Vector3<T>,
    /// `1 + cos(φ/2)`.
    pub(in crate::elements) c: T,
}

impl<T: Real> Default for Chart<T> {
    fn default() -> Self {
        Self { N: Matrix3::zeros(), u: Vector3::zeros(), c: T::lit(2.0) }
    }
}

impl<T: Real> Chart<T> {
    /// The translation `x = Bᵀ p_FM`.
    #[inline]
    pub(super) fn translation<C: Coordinates<T>>(&self, p_FM: &Vector3<T>) -> Vector3<T> {
        if C::HALF_WAY { self.halved(p_FM, -T::one()) } else { *p_FM }
    }

    /// The rates of angles and translation by the angular velocity of M in F and the velocity of its origin.
    ///
    /// `ẋ = Bᵀ (v − ω_FB × p)`, where `ω_FB = (ω − u × ω)/2` is the angular velocity of half the turn.
    #[inline]
    pub(super) fn rates<C: Coordinates<T>>(
        &self,
        p_FM: &Vector3<T>,
        w_FM: &Vector3<T>,
        v_FM: &Vector3<T>,
    ) -> [Vector3<T>; 2] {
        let angles = self.N * w_FM;
        if !C::HALF_WAY {
            return [angles, *v_FM];
        }
        let spin = (w_FM - self.u.cross(w_FM)) * T::lit(0.5);
        [angles, self.halved(&(v_FM - spin.cross(p_FM)), -T::one())]
    }

    /// The torque on M about its origin and the force that have the power of the moments of the angles and the forces of
    /// the translation.
    #[inline]
    pub(super) fn wrench<C: Coordinates<T>>(
        &self,
        p_FM: &Vector3<T>,
        moments: &Vector3<T>,
        forces: &Vector3<T>,
    ) -> [Vector3<T>; 2] {
        let torque = self.N.tr_mul(moments);
        if !C::HALF_WAY {
            return [torque, *forces];
        }
        let force = self.halved(forces, T::one());
        let moment = p_FM.cross(&force);
        [torque - (moment + self.u.cross(&moment)) * T::lit(0.5), force]
    }

    /// A vector turned half-way: `B a`, or `Bᵀ a` with the sense −1.
    #[inline]
    pub(super) fn halved(&self, a: &Vector3<T>, sense: T) -> Vector3<T> {
        // With v = n sin(φ/2) = c u: B = 1 + v× + v× u×.
        let across = self.u.cross(a);
        a + (across * sense + self.u.cross(&across)) * self.c
    }
}
