//! Friction of a damper and a spring under a limit; the excess of the spring drags an anchor.

use nalgebra::Vector2;

use crate::elements::exponential_spring::law::{dot, exceeds, length, still};
use crate::elements::exponential_spring::{Discrete, Parameters};
use crate::math::{Number, Real};

/// A station and its velocity, with the anchor and the station at the last commit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slider<'a, S: Number> {
    law: &'a Parameters<S>,
    committed: &'a Discrete<S>,
    position: &'a Vector2<S>,
    velocity: &'a Vector2<S>,
    anchor: Vector2<S>,
    last_position: Vector2<S>,
}

/// Friction, and the anchor after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Yielding<S> {
    pub(super) elastic: Vector2<S>,
    pub(super) damping: Vector2<S>,
    /// The stretch of the spring.
    pub(super) stretch: Vector2<S>,
    pub(super) overspeed: S,
    pub(super) slips: bool,
    /// For a spring that slips, the distance of its stretch from the stretch at which it would, or would no longer, drag
    /// the anchor; without derivatives.
    pub(super) room: S,
}

fn unbounded<S: Number>() -> S {
    S::lit(f64::INFINITY)
}

impl<'a, S: Number> Slider<'a, S> {
    /// A station that slid before its first commit has no anchor: it starts where it is.
    #[inline]
    pub(super) fn new(
        law: &'a Parameters<S>,
        committed: &'a Discrete<S>,
        [position, velocity]: &'a [Vector2<S>; 2],
    ) -> Self {
        let Discrete { anchor_P, sliding, last_station, .. } = committed;
        let is_anchored = last_station.is_some() || *sliding == S::zero();
        let anchor = if is_anchored { *anchor_P } else { *position };
        let last_position = last_station.map_or(*position, |station| station.xy().coords);
        Self { law, committed, position, velocity, anchor, last_position }
    }

    /// Zero friction, under a negligible limit: the anchor moves with the station.
    pub(super) fn free(&self) -> Yielding<S> {
        let zero = still();
        let is_damped = self.law.friction_viscosity > S::zero();
        let overspeed = if is_damped { length(*self.velocity) } else { S::zero() };
        Yielding { elastic: zero, damping: zero, stretch: zero, overspeed, slips: true, room: unbounded() }
    }

    /// The excess over a limit of the pull of spring and damper, with the anchor where it was; or, if it is greater, of
    /// the damper alone, which slips even if the spring pulls the other way.
    pub(super) fn pull_beyond(&self, limit: S) -> S {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *self.law;
        let viscous = self.velocity * c;
        let pull = length((self.position - self.anchor) * k + viscous).max(length(viscous));
        (pull - limit).max(S::zero())
    }

    /// The friction force under a limit.
    ///
    /// The damper acts first, reduced to the limit. The spring then acts with the part that keeps the sum within the
    /// limit; its excess drags the anchor.
    pub(super) fn friction(&self, limit: S) -> Yielding<S> {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *self.law;
        let viscous = self.velocity * c;
        let is_viscous = exceeds(viscous, limit);
        let mut stretch = self.position - self.anchor;
        // Without a damper there is no speed at which the damper alone is at the limit.
        if !self.committed.overspeed.vanishes() && !c.vanishes() && !is_viscous {
            stretch -= (self.position - self.last_position) * self.share_dragged(limit);
        }
        let elastic = stretch * -k;
        if !is_viscous && !exceeds(elastic - viscous, limit) {
            let (overspeed, room) = (S::zero(), unbounded());
            return Yielding { elastic, damping: -viscous, stretch, overspeed, slips: false, room };
        }
        self.slipping(stretch, limit, is_viscous)
    }

    /// The fraction of the way along which a slack spring drags the anchor, if the station decelerates uniformly until
    /// the damper alone is no longer at the limit.
    ///
    /// From there on the anchor holds, at once if the damping is strong. Because this happens within the step, the anchor
    /// is of second order.
    fn share_dragged(&self, limit: S) -> S {
        let (speed, viscosity) = (length(*self.velocity), self.law.friction_viscosity);
        let over = viscosity * self.committed.overspeed;
        // Rounding may leave the damper slightly above a limit that it does not exceed.
        let fallen = over + (limit - viscosity * speed).max(S::zero());
        if fallen == S::zero() {
            return S::zero();
        }
        let time = over / fallen;
        let before = length(self.committed.last_velocity_P);
        let between = before + (speed - before) * time;
        let twice_mean = before + speed;
        if twice_mean > S::zero() { time * ((before + between) / twice_mean) } else { time }
    }

    fn slipping(&self, stretch: Vector2<S>, limit: S, is_viscous: bool) -> Yielding<S> {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *self.law;
        let velocity = *self.velocity;
        // The damper's share of the limit, as a vector.
        let (share, rest, overspeed) = if is_viscous {
            let speed = length(velocity);
            (velocity / speed, S::zero(), speed - limit / c)
        } else {
            let share = velocity * (c / limit);
            (share, S::lit(1.0) - dot(share, share), S::zero())
        };
        let damping = share * -limit;
        let mut room = <S::Scalar as Real>::lit(f64::INFINITY);
        if is_viscous {
            let ahead = dot(share, stretch);
            room = ahead.value().abs();
            if ahead >= S::zero() {
                let (zero, room) = (still(), S::of(room));
                return Yielding { elastic: zero, damping, stretch: zero, overspeed, slips: true, room };
            }
        }
        // How far the spring can be stretched in a direction.
        let radius = limit / k;
        let reach = |direction: &Vector2<S>| {
            let along = dot(share, *direction);
            let root = (along * along + rest).sqrt();
            // Of two equal expressions, the one without cancellation.
            radius * if along > S::zero() { rest / (root + along) } else { root - along }
        };
        let size = length(stretch);
        let mut direction = stretch / size;
        let before = self.last_position - self.anchor;
        let drawn = length(before);
        // A spring that drags its anchor turns on the way: half of a short drag is in the direction before and half in
        // that after it. A long drag is in the direction of the way, as is the whole drag of a spring that was slack.
        let reach_straight = reach(&direction);
        room = room.min((size - reach_straight).value().abs());
        let slip = (size - reach_straight).max(S::zero());
        let whole = slip + drawn * S::lit(2.0);
        if whole > S::zero() {
            let dragged = slip / whole;
            let turned = stretch - before * (dragged / (S::lit(1.0) - dragged * (S::lit(1.0) - dragged)));
            direction = turned / length(turned);
        }
        if is_viscous {
            room = room.min((dot(share, direction) * size).value().abs());
        }
        let reach = reach(&direction);
        let room = S::of(room.min((size - reach).value().abs()));
        let stretch = direction * reach.min(size);
        Yielding { elastic: stretch * -k, damping, stretch, overspeed: S::zero(), slips: true, room }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use num_dual::Dual64;

    /// Position, velocity and limit.
    type Moment = (Vector2<f64>, Vector2<f64>, f64);

    /// A station that turns, comes to rest and turns back, under a load that varies.
    fn motion(t: f64) -> Moment {
        let position = Vector2::new(0.01 * (20.0 * t).sin(), 0.008 * (13.0 * t).cos());
        let velocity = Vector2::new(0.2 * (20.0 * t).cos(), -0.104 * (13.0 * t).sin());
        (position, velocity, 10.0 + 3.0 * (9.0 * t).sin())
    }

    const SECONDS: f64 = 0.6;

    fn friction<T: Real>(
        law: &Parameters<T>,
        memory: &Discrete<T>,
        (position, velocity, limit): (Vector2<T>, Vector2<T>, T),
    ) -> Yielding<T> {
        Slider::new(law, memory, &[position, velocity]).friction(limit)
    }

    /// The memory after a commit.
    fn next(law: &Parameters<f64>, memory: &Discrete<f64>, moment: Moment) -> Discrete<f64> {
        let (position, last_velocity_P, _) = moment;
        let Yielding { stretch, overspeed, .. } = friction(law, memory, moment);
        let last_station = Some(position.push(0.0).into());
        Discrete { anchor_P: position - stretch, last_station, last_velocity_P, overspeed, ..*memory }
    }

    fn at_rest<T: Real>(position: Vector2<T>) -> Discrete<T> {
        let last_station = Some(position.push(T::zero()).into());
        Discrete { anchor_P: position, last_station, ..Discrete::default() }
    }

    /// Anchors at so many even times by commits there.
    fn committed(parameters: &Parameters<f64>, steps: u32) -> Vec<Vector2<f64>> {
        let mut memory = at_rest(motion(0.0).0);
        let mut anchors = Vec::new();
        for step in 0..=steps {
            memory = next(parameters, &memory, motion(SECONDS * f64::from(step) / f64::from(steps)));
            anchors.push(memory.anchor_P);
        }
        anchors
    }

    /// The same from the law: in steps so short that it does not matter where in them the anchor is dragged, it is dragged
    /// along the spring until the spring is no longer than it may be, which is found by bisection.
    fn integrated(parameters: &Parameters<f64>, samples: u32) -> Vec<Vector2<f64>> {
        let (k, c) = (parameters.friction_elasticity, parameters.friction_viscosity);
        let parts = 400_000 / samples;
        let h = SECONDS / f64::from(samples * parts);
        let mut anchor = motion(0.0).0;
        let mut anchors = Vec::new();
        for i in 1..=samples * parts {
            let (position, velocity, limit) = motion(h * f64::from(i));
            let damping = velocity * c * (limit / (velocity.norm() * c)).min(1.0);
            let stretch = position - anchor;
            if (stretch * k + damping).norm() > limit {
                let [mut most, mut least] = [1.0, 0.0];
                // To 1e-10 of less than a millimetre, of which nothing adds up.
                for _ in 0..34 {
                    let middle = 0.5 * (least + most);
                    let is_beyond = (stretch * (k * middle) + damping).norm() > limit;
                    if is_beyond { most = middle } else { least = middle }
                }
                anchor = position - stretch * least;
            }
            if i % parts == 0 {
                anchors.push(anchor);
            }
        }
        anchors
    }

    #[test]
    fn the_anchor_follows_its_law_to_second_order_in_the_step() {
        for viscosity in [0.0, 0.2, 5.0, 100.0, 282.8] {
            let parameters = Parameters { friction_viscosity: viscosity, ..Parameters::default() };
            let expected = integrated(&parameters, 100);
            let error = |parts: u32| {
                let anchors = committed(&parameters, 100 * parts);
                let off = anchors.iter().skip(parts as usize).step_by(parts as usize).zip(&expected);
                off.map(|(anchor, expected)| (anchor - expected).norm()).fold(0.0, f64::max)
            };
            let errors = [1, 2, 4, 8].map(error);
            // An eighth of the step leaves an eighth of an error of first order, and 1/64 of one of second order, give
            // or take where in a step a slip ends.
            assert!(errors[3] < errors[0] / 40.0, "{viscosity}: {errors:?}");
            // Of springs drawn out by 0.35 mm to 0.65 mm.
            assert!(errors[3] < 1e-6, "{viscosity}: {errors:?}");
        }
    }

    #[test]
    fn an_anchor_that_holds_does_not_move_by_a_bit() {
        let parameters = Parameters::<f64>::default();
        let anchor = Vector2::new(0.3, -0.7);
        for i in 0..1000 {
            let offset = Vector2::new(f64::from(i).sin(), f64::from(3 * i).cos()) * 2e-4;
            let after = friction(&parameters, &at_rest(anchor), (anchor + offset, offset * 10.0, 10.0));
            assert_eq!((after.stretch, after.slips), (anchor + offset - anchor, false));
        }
    }

    #[test]
    fn no_energy_comes_of_a_slip() {
        for i in 0..20_000 {
            let w = |k: i32| (f64::from(10 * i + k) * 1.618_034).sin();
            let parameters =
                Parameters { friction_viscosity: 10.0_f64.powf(4.0 * w(7)), ..Parameters::default() };
            let limit = 10.0;
            let before = (Vector2::new(w(0), w(1)) * 2e-3, Vector2::new(w(2), w(8)) * 0.2, limit);
            let memory = next(&parameters, &at_rest(Vector2::zeros()), before);
            let (position, velocity) = (Vector2::new(w(3), w(4)) * 2e-3, Vector2::new(w(5), w(6)) * 0.2);
            let after = friction(&parameters, &memory, (position, velocity, limit));
            // The damper brakes, and the spring is not drawn out beyond where it was dragged to.
            assert!(after.damping.dot(&velocity) <= 0.0);
            assert!(
                after.stretch.norm() <= (position - memory.anchor_P).norm() * (1.0 + 1e-14)
                    || memory.overspeed > 0.0
            );
            assert!((after.elastic + after.damping).norm() <= limit * (1.0 + 1e-14));
            assert!((after.elastic + after.stretch * parameters.friction_elasticity).norm() < 1e-14 * limit);
        }
    }

    #[test]
    fn friction_reaches_its_limit_at_any_speed_whose_square_a_number_can_hold() {
        fn at<T: Real>(exponents: core::ops::RangeInclusive<i32>, roundoff: f64) {
            let parameters = Parameters::<T>::default();
            for exponent in exponents {
                let velocity = Vector2::new(T::lit(0.6), T::lit(-0.8)) * T::lit(10.0_f64.powi(exponent));
                let zeros = Vector2::zeros();
                let after = friction(&parameters, &at_rest(zeros), (zeros, velocity, T::lit(50.0)));
                let force = after.elastic + after.damping;
                let off = (force - Vector2::new(T::lit(-30.0), T::lit(40.0))).amax().to_f64() / 50.0;
                assert!(off < 10.0 * roundoff, "1e{exponent} m/s: {force}");
            }
        }
        at::<f64>(0..=150, f64::EPSILON);
        at::<f32>(0..=15, f64::from(f32::EPSILON));
        at::<Dual64>(0..=150, f64::EPSILON);
    }

    #[test]
    fn friction_is_the_same_law_in_all_units_of_length() {
        let forces = |unit: f64| {
            let si = Parameters::<f64>::default();
            let parameters = Parameters {
                friction_elasticity: si.friction_elasticity / unit,
                friction_viscosity: si.friction_viscosity / unit,
                ..si
            };
            let mut memory = at_rest(Vector2::zeros());
            let force = move |step| {
                let (position, velocity, limit) = motion(5e-3 * f64::from(step));
                let moment = (position * unit, velocity * unit, limit);
                let after = friction(&parameters, &memory, moment);
                memory = next(&parameters, &memory, moment);
                after.elastic + after.damping
            };
            (0..100).map(force)
        };
        for exponent in [-120, -20, 20, 120] {
            for (force, expected) in forces(10.0_f64.powi(exponent)).zip(forces(1.0)) {
                // A hundred steps of some ten roundings, of an anchor next to a centimetre, in a spring drawn out by half a
                // millimetre.
                assert!((force - expected).norm() < 1e-10, "1e{exponent}: {force}, {expected}");
            }
        }
    }
}
