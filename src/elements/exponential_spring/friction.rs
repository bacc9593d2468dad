//! Friction of the exponential spring as published, and Sliding.

use nalgebra::Vector2;

use crate::elements::exponential_spring::Parameters;
use crate::math::{Algebraic, Number, Real};

/// The elastic and damping parts of the friction force.
pub(super) struct Friction<S> {
    pub(super) elastic: Vector2<S>,
    pub(super) damping: Vector2<S>,
    pub(super) limit_reached: bool,
}

impl<S: Algebraic> Friction<S> {
    /// Zero friction, for a negligible limit.
    pub(super) fn none() -> Self {
        Self { elastic: still(), damping: still(), limit_reached: true }
    }

    /// The damped spring and the damper, blended by Sliding.
    pub(super) fn blended(
        law: &Parameters<S>,
        stretch: Vector2<S>,
        velocity: Vector2<S>,
        limit: S,
        sliding: S,
    ) -> Self {
        let viscous = velocity * -law.friction_viscosity;
        let ([sliding_damping], sliding_cut) = shortened([viscous], viscous, limit);
        let elastic = stretch * -law.friction_elasticity;
        let ([elastic, anchored_damping], anchored_cut) =
            shortened([elastic, viscous], elastic + viscous, limit);
        let held = S::lit(1.0) - sliding;
        Self {
            elastic: elastic * held,
            damping: anchored_damping * held + sliding_damping * sliding,
            limit_reached: sliding_cut || anchored_cut,
        }
    }
}

/// Forces with this sum, scaled by one factor so that it is within the limit, and whether they were shortened.
#[inline(always)]
#[expect(clippy::inline_always, reason = "in dual numbers a call costs as much as the arithmetic")]
fn shortened<T: Real, S: Number<T>, const N: usize>(
    forces: [Vector2<S>; N],
    sum: Vector2<S>,
    limit: S,
) -> ([Vector2<S>; N], bool) {
    if !exceeds(sum, limit) {
        return (forces, false);
    }
    let scale = limit / length(sum);
    (forces.map(|force| force * scale), true)
}

/// Whether a force is longer than the limit or not a number, or its square overflows.
#[inline]
pub(super) fn exceeds<T: Real, S: Number<T>>(force: Vector2<S>, limit: S) -> bool {
    let squared = dot(force, force);
    !(squared.value().is_finite() && squared <= limit * limit)
}

/// The length of a vector; not a number where its square overflows, so that no force results.
#[inline]
pub(super) fn length<T: Real, S: Number<T>>(v: Vector2<S>) -> S {
    let squared = dot(v, v);
    if squared == S::zero() {
        // The root of zero has no derivative.
        v.x.abs().max(v.y.abs())
    } else if squared.value().is_finite() {
        squared.sqrt()
    } else {
        S::lit(f64::NAN)
    }
}

/// The product of two vectors.
#[inline]
pub(super) fn dot<T: Real, S: Number<T>>(a: Vector2<S>, b: Vector2<S>) -> S {
    a.x * b.x + a.y * b.y
}

/// Zero.
#[inline]
pub(super) fn still<T: Real, S: Number<T>>() -> Vector2<S> {
    Vector2::new(S::zero(), S::zero())
}

/// Sliding after a travel of the anchor, where `reach` is the travel at the settle velocity in the same time;
/// with velocities in place of travels, Sliding at a velocity.
#[inline(always)]
#[expect(clippy::inline_always, reason = "in dual numbers a call costs as much as the arithmetic")]
pub(super) fn settle<T: Real, S: Number<T>>(travel: Vector2<S>, reach: S) -> S {
    let squared = dot(travel, travel);
    // The two steady cases, which need neither a root nor a quotient. At rest the root has no derivative either.
    if squared == S::zero() {
        S::zero()
    } else if squared >= reach * reach {
        S::lit(1.0)
    } else {
        step(squared.sqrt() / reach)
    }
}

/// The polynomial of order five that rises from 0 to 1 over the unit interval, with flat ends.
///
/// It is symmetric about its middle. Each half is computed from its flat end, without cancellation, so that
/// rounding keeps it within the unit interval.
#[inline]
fn step<T: Real, S: Number<T>>(s: S) -> S {
    let from_end = |s: S| s * s * s * (S::lit(10.0) + s * (S::lit(6.0) * s - S::lit(15.0)));
    let is_near = s < S::lit(0.5);
    // One polynomial and two selections: which half it is, is hard to predict.
    let rise = from_end(if is_near { s } else { S::lit(1.0) - s });
    if is_near { rise } else { S::lit(1.0) - rise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_dual::Dual64;

    #[test]
    fn settling_rises_from_zero_to_one_with_flat_ends() {
        let at_ratio = |ratio: f64| settle(Vector2::new(2.0 * ratio, 0.0), 2.0);
        assert_eq!([0.0, 0.5, 1.0, 7.0].map(at_ratio), [0.0, 0.5, 1.0, 1.0]);
        // The first derivative vanishes at both ends: what is left is of third order, 10·(1e-3)³.
        assert!(at_ratio(1e-3) < 1.01e-8 && 1.0 - at_ratio(1.0 - 1e-3) < 1.01e-8);
    }

    #[test]
    fn sliding_stays_between_zero_and_one_whatever_the_rounding() {
        // Close below 1 the plain polynomial rounds above it.
        let plain = |s: f64| s * s * s * (10.0 + s * (6.0 * s - 15.0));
        let mut above = 0;
        for i in 1..100_000_u32 {
            let s = 1.0 - f64::from(i) * 1e-9;
            above += u32::from(plain(s) > 1.0);
            assert!((0.0..=1.0).contains(&step(s)), "{s}: {}", step(s));
            let s = (1.0 - f64::from(i) * 1e-7).cast::<f32>();
            assert!((0.0..=1.0).contains(&step(s)), "{s}: {}", step(s));
            let s = f64::from(i) * 1e-5;
            assert!((0.0..=1.0).contains(&step(s)), "{s}: {}", step(s));
            // The polynomial cancels terms of up to 15; each of some ten operations rounds once.
            assert!((step(s) - plain(s)).abs() < 15.0 * 10.0 * f64::EPSILON);
        }
        assert!(above > 1000, "the claim is not put to the test: {above}");
    }

    #[test]
    fn sliding_has_the_derivative_of_the_polynomial_in_dual_numbers() {
        for i in 0..=1000_u32 {
            let s = f64::from(i) / 1000.0;
            let dual = step(Dual64::new(s, 1.0));
            assert_eq!(dual.re.to_bits(), step(s).to_bits());
            let slope = 30.0 * (s * (1.0 - s)).powi(2);
            // Within half the unit interval no term exceeds 30·s² = 7.5; each of some ten operations rounds once.
            assert!((dual.eps - slope).abs() < 7.5 * 10.0 * f64::EPSILON, "{s}: {} for {slope}", dual.eps);
        }
    }

    #[test]
    fn friction_is_the_same_law_in_all_units_whose_squares_a_number_can_hold() {
        let parameters =
            Parameters::<f64> { friction_elasticity: 1.0, friction_viscosity: 1.0, ..Parameters::default() };
        let cut = |f: Vector2<f64>| f / f.norm().max(1.0);
        for (i, unit) in (-70..=70).map(|exponent| 10.0_f64.powi(exponent)).enumerate() {
            let w = |k: u32| (f64::from(u32::try_from(i).expect("small") * 4 + k) * 1.618_034).sin() * 3.0;
            let (stretch, velocity) = (Vector2::new(w(0), w(1)), Vector2::new(w(2), w(3)));
            let sliding = w(0).abs() / 3.0;
            // The law of the element's page, in units of the limit.
            let scale = 1.0 / (stretch + velocity).norm().max(1.0);
            let expected_elastic = -stretch * scale * (1.0 - sliding);
            let expected_damping = -velocity * scale * (1.0 - sliding) + cut(-velocity) * sliding;
            let Friction { elastic, damping, .. } =
                Friction::blended(&parameters, stretch * unit, velocity * unit, unit, sliding);
            // Some ten roundings of numbers up to five.
            assert!((elastic / unit - expected_elastic).amax() < 1e-14, "{unit}: {elastic}");
            assert!((damping / unit - expected_damping).amax() < 1e-14, "{unit}: {damping}");
        }
    }

    #[test]
    fn friction_reaches_its_limit_at_any_speed_whose_square_a_number_can_hold() {
        fn at<T: Real>(exponents: core::ops::RangeInclusive<i32>, roundoff: f64) {
            let parameters = Parameters::<T>::default();
            let (limit, none) = (T::lit(50.0), Vector2::zeros());
            for exponent in exponents {
                let velocity = Vector2::new(T::lit(0.6), T::lit(-0.8)) * T::lit(10.0_f64.powi(exponent));
                for friction in [
                    Friction::blended(&parameters, none, velocity, limit, T::one()),
                    Friction::blended(&parameters, none, velocity, limit, T::lit(0.3)),
                ] {
                    let force = friction.elastic + friction.damping;
                    let off = (force - Vector2::new(T::lit(-30.0), T::lit(40.0))).amax().to_f64() / 50.0;
                    assert!(off < 10.0 * roundoff && friction.limit_reached, "1e{exponent} m/s: {force}");
                }
            }
        }
        at::<f64>(0..=150, f64::EPSILON);
        at::<f32>(0..=15, f64::from(f32::EPSILON));
        at::<Dual64>(0..=150, f64::EPSILON);
    }

    #[test]
    fn sliding_depends_on_the_ratio_to_the_settle_velocity_alone() {
        for exponent in -150..=150 {
            let unit = 10.0_f64.powi(exponent);
            for ratio in [0.0, 0.01, 0.3, 0.7, 0.99, 1.01, 5.0] {
                let sliding = settle(Vector2::new(0.6, 0.8) * (ratio * unit), unit);
                // The slope of the polynomial is at most 2, and the ratio comes with some roundings.
                assert!((sliding - step(ratio.min(1.0))).abs() < 10.0 * f64::EPSILON, "{unit}, {ratio}");
            }
        }
    }
}
