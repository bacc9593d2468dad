//! The law of the exponential spring, over numbers with or without derivatives.

#![expect(clippy::inline_always, reason = "in dual numbers a call costs as much, and its unread results too")]

use nalgebra::{ComplexField as _, Vector2};

use super::slider::{Slider, Yielding};
use crate::elements::exponential_spring::{Discrete, Parameters};
use crate::math::{Number, Real};

/// The fraction of `d1` above which a normal force counts as contact. It is reached seven decay lengths above the height
/// where the force is `d1`.
pub(super) const TOUCH: f64 = 1e-3;

/// The normal force, its parts and its energy.
pub(super) struct Normal<T> {
    pub(super) unclamped: T,
    pub(super) elastic: T,
    pub(super) total: T,
    pub(super) energy: T,
}

/// The normal force at a height and a velocity along the normal.
#[inline(always)]
pub(super) fn normal_force<S: Number>(law: &Parameters<S>, height: S, speed: S) -> Normal<S> {
    let Parameters { d0, d1, d2, normal_viscosity, max_normal_force: max, .. } = *law;
    let exponent = d2 * (d0 - height);
    let unclamped = d1 * exponent.exp();
    // Below the height at which the clamp sets in, the stored energy grows linearly.
    let (elastic, energy) = if unclamped > max {
        (max, max / d2 + max * ((exponent - (max / d1).ln()) / d2))
    } else {
        (unclamped, unclamped / d2)
    };
    let factor = S::lit(1.0) - normal_viscosity * speed;
    // The law of the source clamps only the product, whose slope by velocity is unbounded below the clamp: a station that
    // rises from there does so at `1/cz`, which no explicit step resolves.
    //
    // In this case the exponential may overflow. Infinity times a positive factor is clamped like any number. Zero times
    // an infinite factor is NaN, which `min` would turn into the clamp.
    let damped = if law.settling { unclamped } else { elastic } * factor;
    let total = if factor > S::zero() { if damped > max { max } else { damped } } else { S::zero() };
    Normal { unclamped, elastic, total, energy }
}

/// The result of the law in the plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tangential<S> {
    pub(super) mu: S,
    pub(super) limit: S,
    /// The parts of friction.
    pub(super) elastic: Vector2<S>,
    pub(super) damping: Vector2<S>,
    pub(super) limit_reached: bool,
    /// What a commit writes.
    pub(super) next_anchor: Vector2<S>,
    pub(super) next_sliding: S,
    pub(super) next_overspeed: S,
    pub(super) energy: S,
    pub(super) dissipation: S,
    pub(super) switching_error: S,
    /// The friction limit, reduced by the loss as an anchor lets go.
    pub(super) lowered_limit: S,
    /// The [`room`](Yielding::room) of the spring.
    pub(super) room: S,
}

/// What a commit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Writes all of the memory.
    Whole,
    /// Writes only time and place, since the time since the last commit is unknown.
    First,
    Nothing,
}

impl<S: Number> Discrete<S> {
    /// The mean velocity of the station since the last commit, or its velocity if no time has passed since.
    ///
    /// Under symplectic Euler a station that rests on an accelerating plane has a velocity relative to the plane, which
    /// lags by half a step, although it does not travel.
    #[inline]
    pub(super) fn mean_velocity(&self, [position, velocity]: [Vector2<S>; 2], elapsed: S) -> Vector2<S> {
        match self.last_station {
            Some(last) if elapsed.value() > S::Scalar::negligible() => {
                (position - last.xy().coords) / elapsed
            }
            _ => velocity,
        }
    }
}

/// The fraction of the settle velocity above which friction falls within the step, as the pull rises, while an anchor
/// lets go.
const FAST: f64 = 0.1;

impl<S: Number> Parameters<S> {
    /// Returns the friction of a station with this position and velocity in the plane, under a normal force and with this
    /// time since the last commit, and what a commit writes.
    #[inline(always)]
    pub(super) fn tangential(
        &self,
        committed: &Discrete<S>,
        [position, velocity]: [Vector2<S>; 2],
        normal: S,
        elapsed: S,
    ) -> Tangential<S> {
        let mu = self.friction_coefficient(committed);
        let limit = mu * normal;
        let zero = S::zero();
        let none = Tangential {
            mu,
            limit,
            elastic: still(),
            damping: still(),
            limit_reached: true,
            next_anchor: position,
            next_sliding: S::lit(1.0),
            next_overspeed: zero,
            energy: zero,
            dissipation: zero,
            switching_error: zero,
            lowered_limit: limit,
            room: S::lit(f64::INFINITY),
        };
        if self.settling {
            self.blends(committed, [position, velocity], elapsed, none)
        } else {
            self.yields(committed, [position, velocity], normal, elapsed, none)
        }
    }

    /// The coefficient of friction by the committed Sliding.
    #[inline]
    pub(super) fn friction_coefficient(&self, committed: &Discrete<S>) -> S {
        self.mu_static - committed.sliding * (self.mu_static - self.mu_kinetic)
    }

    /// Whether a friction limit is not negligible.
    #[inline]
    pub(super) fn holds(&self, limit: S) -> bool {
        limit > self.least_limit()
    }

    /// The largest negligible friction limit.
    #[inline]
    pub(super) fn least_limit(&self) -> S {
        // Relative to `max` where all forces are small in the chosen units.
        S::of(S::Scalar::negligible()) * self.max_normal_force.min(S::lit(1.0))
    }

    /// Friction by the law of the source.
    #[inline]
    fn blends(
        &self,
        committed: &Discrete<S>,
        [position, velocity]: [Vector2<S>; 2],
        elapsed: S,
        mut outcome: Tangential<S>,
    ) -> Tangential<S> {
        let is_held = self.holds(outcome.limit);
        if is_held {
            let stretch = position - committed.anchor_P;
            (outcome.elastic, outcome.damping, outcome.limit_reached) =
                self.blended(stretch, velocity, outcome.limit, committed.sliding);
        }
        let Tangential { elastic, damping, .. } = outcome;
        // The anchor at which the friction spring exerts this elastic force.
        let lead = elastic / self.friction_elasticity;
        let anchor = position + lead;
        outcome.next_anchor = anchor;
        if is_held && elapsed.value() > S::Scalar::negligible() {
            outcome.next_sliding = settle(anchor - committed.anchor_P, elapsed * self.settle_velocity);
        }
        outcome.energy = S::lit(0.5) * dot(elastic, lead);
        outcome.dissipation = -dot(damping, velocity);
        outcome
    }

    /// Friction by return mapping.
    #[inline(always)]
    fn yields(
        &self,
        committed: &Discrete<S>,
        motion: [Vector2<S>; 2],
        normal: S,
        elapsed: S,
        outcome: Tangential<S>,
    ) -> Tangential<S> {
        let [position, velocity] = motion;
        let (zero, one) = (S::zero(), S::lit(1.0));
        let is_held = self.holds(outcome.limit);
        let slider = Slider::new(self, committed, &motion);
        let lets_go = || self.lets_go(committed, motion, elapsed);
        // The loss of friction as the anchor lets go. A fast station loses it within the step, as the pull rises further,
        // so that error control detects the loss and Newton's method has a slope. A slow station loses it at the end of
        // the step.
        let drop = (self.mu_static - self.mu_kinetic) * normal * (one - committed.sliding);
        let beyond = if is_held && !drop.vanishes() && lets_go() {
            slider.pull_beyond(outcome.limit).min(drop)
        } else {
            zero
        };
        let fallen = if beyond.vanishes() {
            zero
        } else {
            let excess = (length(velocity) - self.release_velocity).max(zero);
            let share = settle(Vector2::new(excess, zero), self.settle_velocity * S::lit(FAST));
            beyond * (share * share)
        };
        let limit = outcome.limit - fallen;
        let Yielding { elastic, damping, stretch, overspeed, slips, room } =
            if is_held { slider.friction(limit) } else { slider.free() };
        let sliding = if slips && (!is_held || lets_go()) {
            one
        } else if !slips && !exceeds(velocity, self.settle_velocity) {
            zero
        } else {
            committed.sliding
        };
        Tangential {
            elastic,
            damping,
            limit_reached: slips,
            next_anchor: position - stretch,
            next_sliding: sliding,
            next_overspeed: overspeed,
            energy: -(S::lit(0.5) * dot(elastic, stretch)),
            dissipation: -dot(damping, velocity),
            switching_error: beyond.min(drop - fallen),
            lowered_limit: limit,
            room,
            ..outcome
        }
    }

    /// Whether a station is fast enough for its anchor to let go.
    #[inline]
    fn lets_go(&self, committed: &Discrete<S>, motion: [Vector2<S>; 2], elapsed: S) -> bool {
        let release = self.release_velocity;
        release == S::zero() || exceeds(committed.mean_velocity(motion, elapsed), release)
    }

    /// The elastic and damping parts of friction, blended by Sliding from those of spring and damper together and of the
    /// damper alone; and whether either is limited.
    #[inline]
    fn blended(
        &self,
        stretch: Vector2<S>,
        velocity: Vector2<S>,
        limit: S,
        sliding: S,
    ) -> (Vector2<S>, Vector2<S>, bool) {
        let viscous = velocity * -self.friction_viscosity;
        let ([sliding_damping], sliding_cut) = shortened([viscous], viscous, limit);
        let elastic = stretch * -self.friction_elasticity;
        let ([elastic, anchored_damping], anchored_cut) =
            shortened([elastic, viscous], elastic + viscous, limit);
        let held = S::lit(1.0) - sliding;
        let damping = anchored_damping * held + sliding_damping * sliding;
        (elastic * held, damping, sliding_cut || anchored_cut)
    }
}

/// The forces scaled by one factor such that their sum is within the limit, and whether they were reduced.
#[inline(always)]
fn shortened<S: Number, const N: usize>(
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
pub(super) fn exceeds<S: Number>(force: Vector2<S>, limit: S) -> bool {
    let squared = dot(force, force);
    !(squared.value().is_finite() && squared <= limit * limit)
}

/// The length of a vector; not a number where its square overflows, so that no force results.
#[inline(always)]
pub(super) fn length<S: Number>(v: Vector2<S>) -> S {
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
#[inline(always)]
pub(super) fn dot<S: Number>(a: Vector2<S>, b: Vector2<S>) -> S {
    a.x * b.x + a.y * b.y
}

/// Zero.
#[inline]
pub(super) fn still<S: Number>() -> Vector2<S> {
    Vector2::new(S::zero(), S::zero())
}

/// Sliding after a travel of the anchor, where `reach` is the travel at the settle velocity in the same time. It also
/// takes velocities in place of travels.
#[inline(always)]
pub(super) fn settle<S: Number>(travel: Vector2<S>, reach: S) -> S {
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
fn step<S: Number>(s: S) -> S {
    let from_end = |s: S| s * s * s * (S::lit(10.0) + s * (S::lit(6.0) * s - S::lit(15.0)));
    let is_near = s < S::lit(0.5);
    // One polynomial and two selections, because the branch is hard to predict.
    let rise = from_end(if is_near { s } else { S::lit(1.0) - s });
    if is_near { rise } else { S::lit(1.0) - rise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Requirement;
    use approx::assert_relative_eq;
    use num_dual::Dual64;

    #[test]
    fn settling_rises_from_zero_to_one_with_flat_ends() {
        let at_ratio = |ratio: f64| settle(Vector2::new(2.0 * ratio, 0.0), 2.0);
        assert_eq!([0.0, 0.5, 1.0, 7.0].map(at_ratio), [0.0, 0.5, 1.0, 1.0]);
        // The first derivative vanishes at both ends: the remainder is of third order, 10·(1e-3)³.
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
            let (elastic, damping, _) = parameters.blended(stretch * unit, velocity * unit, unit, sliding);
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
                for sliding in [T::one(), T::lit(0.3)] {
                    let (elastic, damping, is_limited) = parameters.blended(none, velocity, limit, sliding);
                    let force = elastic + damping;
                    let off = (force - Vector2::new(T::lit(-30.0), T::lit(40.0))).amax().to_f64() / 50.0;
                    assert!(off < 10.0 * roundoff && is_limited, "1e{exponent} m/s: {force}");
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
    fn below_the_clamp_the_damper_acts_on_the_clamped_force_and_by_the_source_on_the_unclamped_one() {
        let mut parameters = Parameters::<f64>::default();
        let force = |parameters: &_, speed| normal_force(parameters, -0.02, speed).total;
        for (speed, expected) in
            [(-1.0, 1e5), (0.0, 1e5), (0.5, 0.75e5), (1.0, 0.5e5), (2.0, 0.0), (3.0, 0.0)]
        {
            assert_eq!(force(&parameters, speed), expected);
        }
        parameters.settling = true;
        assert_eq!([1.9, 2.0].map(|speed| force(&parameters, speed)), [1e5, 0.0]);
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
