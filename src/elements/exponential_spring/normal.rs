//! The normal force of the exponential spring and its stored energy.

use crate::elements::exponential_spring::Parameters;
use crate::math::Algebraic;

/// The normal force, its parts and its energy.
pub(super) struct Normal<T> {
    pub(super) unclamped: T,
    pub(super) elastic: T,
    pub(super) total: T,
    pub(super) energy: T,
}

/// The normal force at a height and a velocity along the normal.
pub(super) fn normal_force<S: Algebraic>(law: &Parameters<S>, height: S, speed: S) -> Normal<S> {
    let Parameters { d0, d1, d2, normal_viscosity, max_normal_force: max, .. } = *law;
    let exponent = d2 * (d0 - height);
    let unclamped = d1 * exponent.exp();
    let factor = S::lit(1.0) - normal_viscosity * speed;
    // The exponential may overflow: infinity times a positive factor is clamped like any number. Zero times an
    // infinite factor is NaN, which `min` would turn into the clamp.
    let damped = unclamped * factor;
    let total = if factor > S::zero() { if damped > max { max } else { damped } } else { S::zero() };
    if unclamped <= max {
        Normal { unclamped, elastic: unclamped, total, energy: unclamped / d2 }
    } else {
        // Below the height at which the clamp sets in, the stored energy grows linearly.
        let beyond = (exponent - (max / d1).ln()) / d2;
        Normal { unclamped, elastic: max, total, energy: max / d2 + max * beyond }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Real, Requirement};
    use approx::assert_relative_eq;
    use num_dual::Dual64;

    #[test]
    fn normal_force_is_minus_the_slope_of_its_energy_on_both_sides_of_the_clamp() {
        let parameters = Parameters::<f64>::default();
        let h = 1e-7;
        for height in [0.02, 0.0, -0.003, -0.0045, -0.01, -0.05, -2.0] {
            let energy = |z: f64| normal_force(&parameters, z, 0.0).energy;
            let slope = (energy(height + h) - energy(height - h)) / (2.0 * h);
            let force = normal_force(&parameters, height, 0.0).total;
            // Central differences are off by (d2·h)²/6 = 2e-9 and by rounding in a difference.
            assert_relative_eq!(force, -slope, max_relative = 1e-6);
        }
    }

    #[test]
    fn normal_damping_loses_energy_whichever_way_and_however_deep() {
        let parameters = Parameters::<f64> { normal_viscosity: 2.0, ..Parameters::default() };
        for height in [0.01, 0.0, -0.005, -0.1, -10.0] {
            for speed in [-30.0, -0.2, 0.0, 0.2, 30.0] {
                let normal = normal_force(&parameters, height, speed);
                assert!((normal.total - normal.elastic) * speed <= 0.0);
                assert!((0.0..=100_000.0).contains(&normal.total));
            }
        }
    }

    #[test]
    fn far_above_the_plane_no_speed_gives_a_force_by_rounding() {
        // Zero times infinity is NaN, which is refused, not the clamp.
        let parameters = Parameters::<f64> { normal_viscosity: 10.0, ..Parameters::default() };
        assert!(normal_force(&parameters, 1.0, -1e308).total.is_nan());
        assert_eq!(normal_force(&parameters, 1.0, -1e300).total, 0.0);
    }

    /// Numbers between −1 and 1 that repeat nowhere near.
    fn wave(i: u32) -> f64 {
        (f64::from(i) * 1.618_034).sin()
    }

    #[test]
    fn at_its_resting_height_a_spring_carries_the_load() {
        fn at<T: Real>(roundoff: f64) {
            for i in 0..1000 {
                let w = |k: u32| wave(11 * i + k);
                let parameters = Parameters {
                    d0: 0.1 * w(0),
                    d1: 10.0_f64.powf(4.0 * w(1)),
                    d2: 10.0_f64.powf(2.0 + 2.0 * w(2)),
                    max_normal_force: 10.0_f64.powf(5.0 + 4.0 * w(3)),
                    ..Parameters::default()
                }
                .cast::<T>();
                let load = parameters.max_normal_force * T::lit(10.0_f64.powf(-5.0 * w(4).abs()));
                let height = parameters.resting_height(load).expect("in range");
                let force = normal_force(&parameters, height, T::zero()).total;
                // The exponent is a difference of numbers of this size, each rounded a few times.
                let size = (parameters.d2 * (height.abs() + parameters.d0.abs())).to_f64() + 30.0;
                assert!(((force - load) / load).abs().to_f64() < 5.0 * roundoff * size);
            }
        }
        at::<f64>(f64::EPSILON);
        at::<f32>(f64::from(f32::EPSILON));
        at::<Dual64>(f64::EPSILON);
    }

    #[test]
    fn the_resting_height_sinks_with_the_load_as_the_stiffness_says() {
        let parameters = Parameters::<Dual64>::default();
        for load in [1e-6, 0.5336, 24.5, 1e5] {
            let height = parameters.resting_height(Dual64::new(load, 1.0)).expect("in range");
            // The stiffness of an exponential is d2 times its force.
            assert_relative_eq!(height.eps, -1.0 / (1150.0 * load), max_relative = 1e-14);
        }
    }

    #[test]
    fn there_is_no_resting_height_without_a_load_or_above_the_clamp() {
        let parameters = Parameters::<f64>::default();
        let refusal = |load: f64| parameters.resting_height(load).expect_err("no such height");
        for (load, requirement) in [
            (0.0, Requirement::Positive),
            (-24.5, Requirement::Positive),
            (f64::NAN, Requirement::Positive),
            (f64::INFINITY, Requirement::Positive),
            (100_001.0, Requirement::AtMost("max_normal_force")),
        ] {
            let error = refusal(load);
            assert_eq!((error.name, error.requirement), ("load", requirement), "{load}: {error}");
        }
        // At the clamp, the highest of the heights that carry it.
        let height = parameters.resting_height(100_000.0).expect("at the clamp");
        assert!(normal_force(&parameters, height + 1e-6, 0.0).total < 100_000.0);
        assert_eq!(normal_force(&parameters, height - 1e-6, 0.0).total, 100_000.0);
        let broken = Parameters { d2: 0.0, ..parameters };
        assert_eq!(broken.resting_height(1.0).expect_err("no rise").name, "d2");
        // Loads of any magnitude have a height, if it is finite.
        let wild = Parameters { d0: 0.0, d1: 1e-300, d2: 1e-3, max_normal_force: 1e300, ..parameters };
        assert_relative_eq!(wild.resting_height(1e300).expect("finite"), -600.0 * 10.0_f64.ln() * 1e3);
        let flat = Parameters { d2: 1e-307, ..wild };
        assert_eq!(flat.resting_height(1e300).expect_err("beyond numbers").name, "resting height");
    }
}
