//! Dissipation and friction of a contact, for a given elastic normal force.

use nalgebra::{ComplexField as _, Vector3};

use crate::framework::Stiffnesses;
use crate::math::{Number, Real};
use crate::results;

results! {
    /// The motion of a contact, or of one of its springs.
    #[derive(Copy)]
    pub struct ContactVelocity<T> {
        /// The rate of the depth `v`.
        pub depth_rate: T ["m/s"];
        /// The slip velocity of the ball or the mesh over the surface at the contact point, in Ground.
        pub slip_G: Vector3<T> ["m/s"];
    }
}

/// The law of a contact: dissipation after Hunt and Crossley, and friction after Hollars. Terms that all points of the
/// contact share are computed once.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContactLaw<S: Number> {
    dissipation: S,
    dynamic_friction: S,
    /// `2 (μ_s − μ_d)`.
    twice_excess: S,
    pub(super) viscous_friction: S,
    transition_velocity: S,
    inverse_transition_squared: S,
}

impl<S: Number> ContactLaw<S> {
    /// The law with this dissipation \[s/m\], static, dynamic and viscous \[s/m\] friction, and transition velocity
    /// \[m/s\].
    pub(super) fn new(
        dissipation: S,
        [static_friction, dynamic_friction, viscous_friction]: [S; 3],
        transition_velocity: S,
    ) -> Self {
        let inverse_transition = S::lit(1.0) / transition_velocity;
        Self {
            dissipation,
            dynamic_friction,
            twice_excess: (static_friction - dynamic_friction) * S::lit(2.0),
            viscous_friction,
            transition_velocity,
            inverse_transition_squared: inverse_transition * inverse_transition,
        }
    }

    /// The ratio of normal to elastic force: `1 + c·v`, at least zero.
    #[inline]
    pub(super) fn normal_factor(&self, depth_rate: S) -> S {
        let factor = S::lit(1.0) + self.dissipation * depth_rate;
        if factor > S::zero() { factor } else { S::zero() }
    }

    /// The damping of a spring with this elastic force \[N·s/m\].
    pub(super) fn damping(&self, elastic_force: S) -> S {
        self.dissipation * elastic_force
    }

    /// The friction force divided by normal force and slip speed \[s/m\]; not finite if the square of the speed, or of
    /// its ratio to the transition velocity, overflows.
    ///
    /// Hollars' `min(r, 1) (μ_d + 2(μ_s − μ_d)/(1 + r²)) + μ_v v` with `r = v/v_t`, divided by v. Since `min(r, 1)/v`
    /// is the smaller of `1/v_t` and `1/v`, it is regular at rest, where no root is computed.
    #[inline]
    pub(super) fn friction_factor(&self, slip_squared: S) -> S {
        let ratio_squared = slip_squared * self.inverse_transition_squared;
        if !ratio_squared.value().is_finite() {
            return S::lit(f64::NAN);
        }
        let is_slow = ratio_squared < S::lit(1.0);
        let speed = if is_slow { self.transition_velocity } else { slip_squared.sqrt() };
        // Two fractions: in the derivative of a single one by the transition velocity, kinetic friction would cancel
        // and leave no digits of a small difference.
        let excess = self.twice_excess / (S::lit(1.0) + ratio_squared);
        (self.dynamic_friction + excess) / speed + self.viscous_friction
    }

    /// The coefficient of the friction limit with an anchor: the law of Hollars without the rise from rest, and without
    /// the viscous part.
    #[inline]
    pub(super) fn holding_coefficient(&self, slip_squared: S) -> S {
        let ratio_squared = slip_squared * self.inverse_transition_squared;
        let one = S::lit(1.0);
        let excess = self.twice_excess / (one + if ratio_squared < one { one } else { ratio_squared });
        self.dynamic_friction + excess
    }
}

impl<T: Real> ContactLaw<T> {
    /// The damping of friction under this normal force \[N\] that bounds the step. Its part `(2μ_s − μ_d)/v_t` comes from
    /// friction that is limited.
    pub(super) fn friction_damping(&self, normal_force: f64, stiffnesses: &Stiffnesses<'_, T>) -> f64 {
        let [at_rest, unlimited] = [self.friction_factor(T::zero()), self.viscous_friction];
        stiffnesses.of_friction(at_rest.to_f64() * normal_force, unlimited.to_f64() * normal_force)
    }

    /// The friction force \[N\] and the power that it dissipates \[W\].
    #[inline]
    pub(super) fn friction(&self, normal_force: T, slip: &Vector3<T>) -> (Vector3<T>, T) {
        let slip_squared = slip.norm_squared();
        let damping = normal_force * self.friction_factor(slip_squared);
        (slip * -damping, damping * slip_squared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Dual;
    use approx::assert_relative_eq;
    use num_dual::Dual64;

    /// Those of a rubber.
    #[derive(Clone, Copy)]
    struct Coefficients<T> {
        dissipation: T,
        static_friction: T,
        dynamic_friction: T,
        viscous_friction: T,
        transition_velocity: T,
    }

    fn law_of<S: Number>(coefficients: Coefficients<S>) -> ContactLaw<S> {
        let Coefficients { static_friction: s, dynamic_friction: d, viscous_friction: v, .. } = coefficients;
        ContactLaw::new(coefficients.dissipation, [s, d, v], coefficients.transition_velocity)
    }

    /// Viscous friction would dominate at high speed: those that compare there leave it out.
    fn rubber(transition_velocity: f64, viscous_friction: f64) -> Coefficients<f64> {
        Coefficients {
            dissipation: 2.0,
            static_friction: 0.9,
            dynamic_friction: 0.6,
            viscous_friction,
            transition_velocity,
        }
    }

    /// The published formula, literally.
    fn hollars(law: Coefficients<f64>, vs: f64) -> f64 {
        let r = vs / law.transition_velocity;
        let (us, ud, uv) = (law.static_friction, law.dynamic_friction, law.viscous_friction);
        r.min(1.0) * (ud + 2.0 * (us - ud) / (1.0 + r * r)) + uv * vs
    }

    /// The friction per newton of normal force at a slip speed along y.
    fn friction_per_newton(law: &ContactLaw<f64>, vs: f64) -> f64 {
        let (force, power) = law.friction(1.0, &Vector3::new(0.0, vs, 0.0));
        if !power.is_finite() {
            return f64::NAN;
        }
        assert_eq!((force.x, force.z), (0.0, 0.0));
        // Four roundings.
        assert_relative_eq!(power, -force.y * vs, max_relative = 1e-15, epsilon = 1e-300);
        -force.y
    }

    #[test]
    fn friction_is_the_published_formula_at_every_speed() {
        let law = law_of(rubber(0.02, 0.1));
        for vs in [1e-9, 1e-3, 0.01, 0.019_999, 0.02, 0.020_001, 0.05, 1.0, 100.0] {
            // Six roundings on each side.
            let expected = hollars(rubber(0.02, 0.1), vs);
            assert_relative_eq!(friction_per_newton(&law, vs), expected, max_relative = 2e-15);
        }
        assert_relative_eq!(friction_per_newton(&law, 0.02), 0.9 + 0.1 * 0.02, max_relative = 2e-15);
    }

    #[test]
    fn friction_is_the_published_formula_at_any_scale_of_which_squares_are_finite() {
        let scales = [1e-150, 1e-110, 1e-80, 1e-10, 1.0, 1e10, 1e80, 1e110, 1e150];
        let mut refused = 0;
        for vt in scales {
            for vs in scales {
                for factor in [1.0, 0.3, 3.0] {
                    let rubber = rubber(vt, 0.0);
                    let speed = vs * factor;
                    let force = friction_per_newton(&law_of(rubber), speed);
                    if !force.is_finite() {
                        assert!(
                            !(speed / vt).powi(2).is_finite() || !vt.powi(-2).is_finite(),
                            "{speed} {vt}"
                        );
                        refused += 1;
                        continue;
                    }
                    // Six roundings on each side; below 1e-300 numbers lose digits.
                    assert_relative_eq!(
                        force,
                        hollars(rubber, speed),
                        max_relative = 2e-15,
                        epsilon = 1e-300
                    );
                }
            }
        }
        assert!((1..81).contains(&refused), "{refused}");
    }

    #[test]
    fn what_is_not_a_number_is_not_taken_for_rest() {
        let law = law_of(rubber(0.01, 0.1));
        for slip in [[f64::NAN; 3], [0.0, f64::NAN, 0.0], [f64::INFINITY, 0.0, 1.0], [1e160, 0.0, 0.0]] {
            let (_, power) = law.friction(1.0, &Vector3::from(slip));
            assert!(!power.is_finite(), "{slip:?}: {power}");
        }
    }

    /// The law in another scalar, from rest to far beyond the transition, against the formula over dual numbers.
    fn slopes_of_friction<T: Real>(tolerance: f64) {
        for vt in [1e-6, 0.01, 10.0] {
            let Coefficients { dissipation, static_friction, dynamic_friction, viscous_friction, .. } =
                rubber(vt, 0.1);
            let of = |number| Dual::<T, 1>::lit(number);
            let law = law_of(Coefficients {
                dissipation: of(dissipation),
                static_friction: of(static_friction),
                dynamic_friction: of(dynamic_friction),
                viscous_friction: of(viscous_friction),
                transition_velocity: of(vt),
            });
            for ratio in [0.0, 1e-3, 0.9, 1.1, 1.5, 3.0, 10.0, 1e3, 1e6, 3e7, 1e12] {
                let speed = Dual64::new(ratio * vt, 1.0);
                let r = speed / vt;
                let part = if ratio < 1.0 { r } else { Dual64::from_re(1.0) };
                let expected = part / (r * r + 1.0) * (2.0 * (static_friction - dynamic_friction))
                    + part * dynamic_friction
                    + speed * viscous_friction;
                let slip = Dual::variable(T::lit(ratio * vt), 0);
                let factor = law.friction_factor(slip * slip);
                let along_slip = (factor * slip).slopes[0].to_f64();
                let factor = factor.value.to_f64();
                // The slope is the sum of a factor and of what it changes by.
                let size = factor.abs() + expected.eps.abs();
                assert!(
                    (along_slip - expected.eps).abs() <= tolerance * size,
                    "{vt} {ratio}: {along_slip}, {}",
                    expected.eps
                );
                if ratio > 0.0 {
                    let force = factor * ratio * vt;
                    assert!((force - expected.re).abs() <= tolerance * expected.re, "{vt} {ratio}: {force}");
                }
            }
        }
    }

    #[test]
    fn slopes_of_friction_are_those_of_the_published_formula_in_every_scalar() {
        // A dozen roundings.
        slopes_of_friction::<f64>(3e-15);
        slopes_of_friction::<f32>(2e-6);
    }

    #[test]
    fn friction_has_all_digits_of_its_slope_by_the_transition_velocity_at_any_speed() {
        fn slope<S: Number<Scalar = T>, T: Real>(vary: fn(f64) -> S, slip: f64) -> S {
            let Coefficients { dissipation, static_friction, dynamic_friction, viscous_friction, .. } =
                rubber(0.02, 0.1);
            let of = |number: f64| S::lit(number);
            let law = law_of(Coefficients {
                dissipation: of(dissipation),
                static_friction: of(static_friction),
                dynamic_friction: of(dynamic_friction),
                viscous_friction: of(viscous_friction),
                transition_velocity: vary(0.02),
            });
            law.friction_factor(S::of(T::lit(slip * slip)))
        }
        let excess = 2.0 * (0.9_f64 - 0.6);
        for ratio in [0.0, 1e-6, 1e-3, 0.1, 0.9, 1.1, 2.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7] {
            let slip = 0.02 * ratio;
            let ours = slope::<Dual<f64, 1>, f64>(|number| Dual::variable(number, 0), slip).slopes[0];
            let through = slope::<Dual64, Dual64>(|number| Dual64::new(number, 1.0), slip).eps;
            // Of m/v_t or m/v with m = μ_d + 2(μ_s − μ_d)/(1 + r²), where dr/dv_t = −r/v_t.
            let (r, below): (f64, f64) = (slip / 0.02, 1.0 + (slip / 0.02).powi(2));
            let rise = 2.0 * excess * r * r / (below * below * 0.02);
            let expected =
                if ratio < 1.0 { (rise - (0.6 + excess / below) / 0.02) / 0.02 } else { rise / slip };
            // Some dozen roundings.
            assert_relative_eq!(ours, expected, max_relative = 1e-14);
            assert_relative_eq!(through, expected, max_relative = 1e-14);
        }
    }

    #[test]
    fn friction_at_rest_has_a_finite_slope() {
        let law = law_of(Coefficients {
            dissipation: Dual64::from_re(2.0),
            static_friction: Dual64::from_re(0.9),
            dynamic_friction: Dual64::from_re(0.6),
            viscous_friction: Dual64::from_re(0.1),
            transition_velocity: Dual64::from_re(0.02),
        });
        let slip = Dual64::new(0.0, 1.0);
        let force = law.friction_factor(slip * slip) * slip;
        assert_relative_eq!(force.eps, (0.6 + 2.0 * 0.3) / 0.02 + 0.1, max_relative = 2e-15);
    }

    #[test]
    fn a_spring_never_pulls() {
        let law = law_of(rubber(0.01, 0.1));
        assert_eq!(law.normal_factor(-0.5), 0.0);
        assert_eq!(law.normal_factor(-10.0), 0.0);
        assert_eq!(law.normal_factor(0.25), 1.5);
    }
}
