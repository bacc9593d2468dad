//! The law of one spring: pressure, and friction per pressure.

use crate::elements::elastic_foundation::parameters::Material;
use crate::scalar::Real;

/// What a material does at given velocities, with what all springs share worked out once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law<T: Real> {
    dissipation: T,
    dynamic_friction: T,
    /// `2 (μ_s − μ_d)`.
    twice_excess: T,
    viscous_friction: T,
    transition_velocity: T,
    inverse_transition_squared: T,
}

impl<T: Real> Law<T> {
    pub(super) fn new(material: &Material<T>, transition_velocity: T) -> Self {
        Self {
            dissipation: material.dissipation,
            dynamic_friction: material.dynamic_friction,
            twice_excess: (material.static_friction - material.dynamic_friction) * T::lit(2.0),
            viscous_friction: material.viscous_friction,
            transition_velocity,
            inverse_transition_squared: (transition_velocity * transition_velocity).recip(),
        }
    }

    /// The normal force over the elastic force: `1 + c·v`, and zero rather than a pull.
    #[inline]
    pub(super) fn normal_factor(&self, depth_rate: T) -> T {
        let factor = T::one() + self.dissipation * depth_rate;
        if factor > T::zero() { factor } else { T::zero() }
    }

    /// The friction force over the normal force and the slip speed \[s/m\].
    ///
    /// Hollars' `min(r, 1) (μ_d + 2(μ_s − μ_d)/(1 + r²)) + μ_v v` with `r = v/v_t`, divided by v.
    /// Since `min(r, 1)/v` is the lesser of `1/v_t` and `1/v`, nothing is singular at rest, and no root
    /// is taken where it would be.
    #[inline]
    pub(super) fn friction_factor(&self, slip_squared: T) -> T {
        let ratio_squared = slip_squared * self.inverse_transition_squared;
        let speed = if ratio_squared < T::one() { self.transition_velocity } else { slip_squared.sqrt() };
        // One fraction rather than two: divisions are what this law costs.
        let below = T::one() + ratio_squared;
        (self.dynamic_friction * below + self.twice_excess) / (speed * below) + self.viscous_friction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use num_dual::Dual64;

    fn material() -> Material<f64> {
        Material::new(1e5).with_dissipation(2.0).with_friction(0.9, 0.6, 0.1)
    }

    /// The published formula, letter by letter.
    fn hollars(material: &Material<f64>, vt: f64, vs: f64) -> f64 {
        let r = vs / vt;
        let (us, ud, uv) = (material.static_friction, material.dynamic_friction, material.viscous_friction);
        r.min(1.0) * (ud + 2.0 * (us - ud) / (1.0 + r * r)) + uv * vs
    }

    #[test]
    fn friction_is_the_published_formula_at_every_speed() {
        let law = Law::new(&material(), 0.02);
        for vs in [1e-9, 1e-3, 0.01, 0.019_999, 0.02, 0.020_001, 0.05, 1.0, 100.0] {
            // Five roundings on each side.
            let expected = hollars(&material(), 0.02, vs);
            assert_relative_eq!(law.friction_factor(vs * vs) * vs, expected, max_relative = 2e-15);
        }
        assert_relative_eq!(law.friction_factor(0.02 * 0.02) * 0.02, 0.9 + 0.1 * 0.02, max_relative = 2e-15);
    }

    #[test]
    fn friction_at_rest_has_a_finite_slope() {
        let law = Law::new(&material().cast::<Dual64>(), Dual64::from_re(0.02));
        let slip = Dual64::new(0.0, 1.0);
        let force = law.friction_factor(slip * slip) * slip;
        assert_relative_eq!(force.eps, (0.6 + 2.0 * 0.3) / 0.02 + 0.1, max_relative = 2e-15);
    }

    #[test]
    fn a_spring_never_pulls() {
        let law = Law::new(&material(), 0.01);
        assert_eq!(law.normal_factor(-0.5), 0.0);
        assert_eq!(law.normal_factor(-10.0), 0.0);
        assert_eq!(law.normal_factor(0.25), 1.5);
    }
}
