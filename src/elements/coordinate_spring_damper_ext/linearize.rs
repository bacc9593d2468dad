//! Derivatives of the force and of the memory, the branches of the law, and bounds on its stiffness.

use nalgebra::Vector1;

use super::{CoordinateSpringDamperExt, Discrete, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Blocks, Row};
use crate::math::{Dual, Number, Real, varied};

/// The number of derivatives by motion: displacement and velocity.
const MOTION: usize = 2;
/// The number of all derivatives: motion, parameters, memory.
const ALL: usize = MOTION + <Parameters<f64> as Numbers<f64>>::COUNT + <Discrete<f64> as Numbers<f64>>::COUNT;
/// Where the variables of each part of the law begin: spring, damper and factors; stops; friction, with the memory.
const SPRING: usize = 0;
const STOPS: usize = 6;
const FRICTION: usize = 13;
/// The numbers that vary with each part: motion and these variables.
const BY_SPRING: usize = MOTION + STOPS - SPRING;
const BY_STOPS: usize = MOTION + FRICTION - STOPS;
const BY_FRICTION: usize = ALL - FRICTION;

/// Evaluates a part of the law in `N` numbers that vary: displacement, velocity, and variables from the first on.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call returns kilobytes of dual numbers, which are copied")]
fn over<T: Real, const N: usize, R>(
    at: &AtDynamics<'_, T, CoordinateSpringDamperExt<T>>,
    first: usize,
    law: impl FnOnce(&Parameters<Dual<T, N>>, [Dual<T, N>; 2], &Discrete<Dual<T, N>>) -> R,
) -> R {
    let (mut vary, mut before) = (varied(0), 0..first);
    let motion = [at.position.displacement, at.velocity.velocity].map(&mut vary);
    let mut vary = |number| if before.next().is_some() { Dual::of(number) } else { vary(number) };
    law(&at.parameters.lift(&mut vary), motion, &at.discrete.lift(&mut vary))
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    /// Extends a number of a part of the law to derivatives by all numbers but the factors.
    #[inline]
    fn by_all<const N: usize>(first: usize, number: Dual<T, N>) -> Dual<T, ALL> {
        let mut by_all = Dual::of(number.value);
        let (by_motion, by_variables) = number.slopes.split_at(MOTION);
        by_all.slopes[..MOTION].copy_from_slice(by_motion);
        by_all.slopes[MOTION + first..][..N - MOTION].copy_from_slice(by_variables);
        by_all
    }

    /// Adds the derivatives of numbers by the factors, which move the displacement.
    #[inline]
    fn add_by_factors<const N: usize>(&self, at: &AtDynamics<'_, T, Self>, numbers: [&mut Dual<T, ALL>; N]) {
        let of = at.parameters.places(MOTION);
        let sides = self.sides(at.parameters).motions(at.positions, at.velocities);
        for Dual { slopes, .. } in numbers {
            let [side0, side1] = sides.map(|[q, v]| slopes[0] * q + slopes[1] * v);
            slopes[of.factor0] -= side0;
            slopes[of.factor1] += side1;
        }
    }

    pub(super) fn linearize_force(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let force = over::<T, MOTION, _>(at, ALL, |p, [q, v], m| p.evaluate(q, v, m).0.tension);
        self.sides(at.parameters).add(blocks, force.slopes);
        Self::state_branches(at, blocks);
    }

    pub(super) fn linearize_force_by_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let [spring, damper] = over::<T, BY_SPRING, _>(at, SPRING, |p, [q, v], _| p.spring_and_damper(q, v));
        let friction = over::<T, BY_FRICTION, _>(at, FRICTION, |p, [q, v], m| p.friction(q, v, m).tension);
        let mut force = Self::by_all(SPRING, spring + damper) + Self::by_all(FRICTION, friction);
        if at.parameters.use_limit_stops {
            let contact =
                |p: &Parameters<_>, [q, v]: [_; 2], m: &Discrete<_>| p.contact(q, v, m.limit_stop_state);
            force += Self::by_all(STOPS, over::<T, BY_STOPS, _>(at, STOPS, contact).tension);
        }
        self.add_by_factors(at, [&mut force]);
        let (sides, of) = (self.sides(at.parameters), at.parameters.places(MOTION));
        let [factor0, factor1] = sides.factors;
        let generalized = [Dual::variable(factor0, of.factor0), -Dual::variable(factor1, of.factor1)];
        for (side, factor) in sides.both().into_iter().zip(generalized) {
            let Some(on) = side else { continue };
            let slopes = (force * factor).slopes.map(Vector1::new);
            blocks.add_by_variables(on, blocks.parameter(0), &slopes[MOTION..]);
        }
    }

    pub(super) fn linearize_memory(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let (sides, first, rows) = (self.sides(at.parameters), blocks.parameter(0), at.discrete.places(0));
        let of_friction = [rows.friction_mode, rows.last_sticking_position, rows.bristle_energy];
        let mut write = |row, Dual { slopes, .. }: &Dual<T, ALL>| {
            sides.add_to(blocks, Row::Next(row), [slopes[0], slopes[1]]);
            blocks.add_to_by_variables(Row::Next(row), first, &slopes[MOTION..]);
        };
        // Zero without stops.
        if at.parameters.use_limit_stops {
            let state = over::<T, BY_STOPS, _>(at, STOPS, |p, [q, _], _| p.limit_stop_state(q));
            let mut state = Self::by_all(STOPS, state);
            self.add_by_factors(at, [&mut state]);
            write(rows.limit_stop_state, &state);
        }
        if at.parameters.has_bristles() {
            let switched = |p: &Parameters<_>, motion, m: &_| p.switch_friction(motion, m, m, Dual::zero).0;
            let next = over::<T, BY_FRICTION, _>(at, FRICTION, switched);
            let next = [next.friction_mode, next.last_sticking_position, next.bristle_energy];
            let mut next = next.map(|number| Self::by_all(FRICTION, number));
            self.add_by_factors(at, next.each_mut());
            of_friction.into_iter().zip(&next).for_each(|(row, next)| write(row, next));
        } else {
            for row in of_friction {
                blocks.add_to_by_variables(Row::Next(row), blocks.discrete(row), &[T::one()]);
            }
        }
    }
}

/// The largest slope of `y·S(y)`, at `y = 2/3` of the transition of a smooth stop.
const STEEPEST: f64 = 16.0 / 9.0;

impl<T: Real> Parameters<T> {
    /// Bounds on the sums of the slopes of the force by displacement \[N/m\] and velocity \[N·s/m\]: those of the spring,
    /// of friction at the present load, and of the stiffer stop.
    pub(super) fn resistance(&self) -> [f64; 2] {
        let mut stiffness = self.stiffness.to_f64().max(0.0);
        let mut damping = self.damping.to_f64().max(0.0);
        if self.has_bristles() {
            stiffness += self.sticking_stiffness.to_f64();
            damping += self.sticking_damping.to_f64().max(self.viscous_friction.to_f64());
        } else if self.friction_proportional_zone > T::zero() {
            let within = self.holding_force() / self.friction_proportional_zone;
            damping += within.to_f64().max(self.viscous_friction.to_f64());
        }
        if self.use_limit_stops {
            let most = |a: T, b: T| a.max(b).to_f64();
            let steepest = if self.limit_stops_transition > T::zero() { STEEPEST } else { 1.0 };
            stiffness += steepest * most(self.limit_stops_upper_stiffness, self.limit_stops_lower_stiffness);
            damping += most(self.limit_stops_upper_damping, self.limit_stops_lower_damping);
        }
        [stiffness, damping]
    }
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    /// The branches of friction and stops, and the distances to the next ones.
    fn state_branches(at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let (parameters, discrete) = (at.parameters, at.discrete);
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        let zone = parameters.friction_proportional_zone;
        let zero = T::zero();
        if zone > zero {
            let beyond = v.abs() - zone;
            blocks.branch(if beyond > zero { "sliding" } else { "creeping" }, beyond.abs(), "m/s");
        } else if parameters.has_bristles() && discrete.friction_mode == zero {
            let limit = parameters.sticking_limit([q, v, discrete.last_sticking_position]);
            let spare = limit - at.dynamics.friction_force.abs();
            if spare >= zero {
                blocks.branch("sticking", spare, "N");
            } else {
                // A commit lets the bristles slip, by a force that depends on the speed.
                blocks.branch("yielding", -spare, "N");
                blocks.branch(if v < zero { "backwards" } else { "forwards" }, v.abs(), "m/s");
            }
        } else if parameters.has_bristles() {
            // A commit lets bristles that reverse stick.
            let goes_on = v * T::one().copysign(discrete.friction_mode) >= zero;
            blocks.branch(if goes_on { "slipping" } else { "turning back" }, v.abs(), "m/s");
            if parameters.viscous_friction < zero {
                let force = parameters.stribeck(v.abs());
                blocks.branch(if force < zero { "turned" } else { "not turned" }, force.abs(), "N");
            }
        }
        if parameters.use_limit_stops {
            let (above, below) = (q - parameters.limit_stops_upper, parameters.limit_stops_lower - q);
            let is_switched = parameters.limit_stops_transition == zero;
            let state = discrete.limit_stop_state;
            let [in_upper, in_lower] =
                if is_switched { [state > zero, state < zero] } else { [above > zero, below > zero] };
            let name = match (in_upper, in_lower) {
                (true, _) => "in the upper stop",
                (_, true) => "in the lower stop",
                _ => "between the stops",
            };
            // A commit switches a stop that has been left or surpassed.
            blocks.branch(name, above.abs().min(below.abs()), "m");
            if parameters.limit_stops_only_push && (in_upper || in_lower) {
                let force = parameters.push(q, v, in_upper);
                blocks.branch(if force > zero { "pushing" } else { "let go" }, force.abs(), "N");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_law_begin_where_their_variables_are_declared() {
        let of = Parameters::<f64>::default().places(0);
        assert_eq!([SPRING, STOPS, FRICTION], [of.stiffness, of.limit_stops_upper, of.dynamic_friction]);
    }
}
