//! Derivatives of the force and of the memory, the branches of the law, and bounds on its stiffness.

use nalgebra::Scalar;

use super::{CoordinateSpringDamperExt, Discrete, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Blocks, Row};
use crate::math::{Dual, Number, Real};

type At<'a, T> = AtDynamics<'a, T, CoordinateSpringDamperExt<T>>;

/// The number of variables: time, parameters, memory.
const VARIABLES: usize =
    1 + <Parameters<f64> as Numbers<f64>>::COUNT + <Discrete<f64> as Numbers<f64>>::COUNT;

/// Some numbers of the parameters and of the memory.
type List<S, const M: usize> = for<'a> fn(&'a mut Parameters<S>, &'a mut Discrete<S>) -> [&'a mut S; M];

/// The numbers on which spring and damper depend.
fn of_spring<'a, S: Scalar>(p: &'a mut Parameters<S>, _: &'a mut Discrete<S>) -> [&'a mut S; 4] {
    [&mut p.stiffness, &mut p.damping, &mut p.offset, &mut p.velocity_offset]
}

/// What friction depends on.
fn of_friction<'a, S: Scalar>(p: &'a mut Parameters<S>, m: &'a mut Discrete<S>) -> [&'a mut S; 13] {
    [
        &mut p.dynamic_friction,
        &mut p.static_friction_offset,
        &mut p.dynamic_friction_coefficient,
        &mut p.static_friction_offset_coefficient,
        &mut p.friction_load,
        &mut p.sticking_stiffness,
        &mut p.sticking_damping,
        &mut p.exponential_decay_static,
        &mut p.viscous_friction,
        &mut p.friction_proportional_zone,
        &mut m.friction_mode,
        &mut m.last_sticking_position,
        &mut m.bristle_energy,
    ]
}

/// What the stops depend on.
fn of_stops<'a, S: Scalar>(p: &'a mut Parameters<S>, m: &'a mut Discrete<S>) -> [&'a mut S; 8] {
    [
        &mut p.limit_stops_upper,
        &mut p.limit_stops_lower,
        &mut p.limit_stops_upper_stiffness,
        &mut p.limit_stops_lower_stiffness,
        &mut p.limit_stops_upper_damping,
        &mut p.limit_stops_lower_damping,
        &mut p.limit_stops_transition,
        &mut m.limit_stop_state,
    ]
}

/// The value of a part of the law, given displacement, velocity, parameters and memory.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call returns kilobytes of dual numbers, which are copied")]
fn with<T: Real, const N: usize, const M: usize, R>(
    at: &At<'_, T>,
    list: List<Dual<T, N>, M>,
    law: impl FnOnce(&Parameters<Dual<T, N>>, [Dual<T, N>; 2], &Discrete<Dual<T, N>>) -> R,
) -> R {
    let of = &mut |number| Dual::of(number);
    let (mut parameters, mut memory) = (at.parameters.lift(of), at.discrete.lift(of));
    // The directions are known at compile time, so that numbers without derivatives are not formed.
    for (number, direction) in list(&mut parameters, &mut memory).into_iter().zip(2..) {
        *number = Dual::variable(number.value, direction);
    }
    let motion = [Dual::variable(at.position.displacement, 0), Dual::variable(at.velocity.velocity, 1)];
    law(&parameters, motion, &memory)
}

/// The derivatives of one number of the element by displacement and velocity, and by all variables.
struct Gradient<T> {
    by_motion: [T; 2],
    by_variables: [T; VARIABLES],
}

impl<T: Real> Gradient<T> {
    fn none() -> Self {
        Self { by_motion: [T::zero(); 2], by_variables: [T::zero(); VARIABLES] }
    }

    /// Adds a part with derivatives by displacement, velocity and the numbers in these places.
    #[inline]
    fn with<const N: usize>(mut self, part: Dual<T, N>, places: &[usize]) -> Self {
        (0..2).for_each(|i| self.by_motion[i] += part.slopes[i]);
        places.iter().zip(&part.slopes[2..]).for_each(|(&place, &slope)| self.by_variables[place] += slope);
        self
    }

    /// Adds the effect of the factors, through displacement and velocity, for the coordinates on each side.
    #[inline]
    fn with_factors(mut self, of: &Parameters<usize>, motion_of_sides: [[T; 2]; 2]) -> Self {
        let [first, second] = motion_of_sides.map(|[q, v]| self.by_motion[0] * q + self.by_motion[1] * v);
        self.by_variables[of.factor0] -= first;
        self.by_variables[of.factor1] += second;
        self
    }
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    pub(super) fn linearize_force(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let slopes = with(at, |_, _| [], |p, [q, v], m| p.evaluate(q, v, m).0.force.slopes);
        self.sides(at.parameters).add(blocks, slopes);
        Self::state_branches(at, blocks);
    }

    /// The places of the variables.
    fn places(at: &At<'_, T>, blocks: &Blocks<'_, T>) -> (Parameters<usize>, Discrete<usize>) {
        (at.parameters.places(blocks.parameter(0)), at.discrete.places(blocks.discrete(0)))
    }

    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let (mut of, mut of_memory) = Self::places(at, blocks);
        let places = of_spring(&mut of, &mut of_memory).map(|place| *place);
        let [spring, damper] = with(at, of_spring, |p, [q, v], _| p.spring_and_damper(q, v));
        let mut force = Gradient::none().with::<6>(spring + damper, &places);
        let places = of_friction(&mut of, &mut of_memory).map(|place| *place);
        let friction = with(at, of_friction, |p, [q, v], m| p.friction(q, v, m).force);
        force = force.with::<15>(friction, &places);
        if at.parameters.use_limit_stops {
            let places = of_stops(&mut of, &mut of_memory).map(|place| *place);
            let contact = with(at, of_stops, |p, [q, v], m| p.contact(q, v, m.limit_stop_state).force);
            force = force.with::<10>(contact, &places);
        }
        let sides = self.sides(at.parameters);
        let force = force.with_factors(&of, sides.motions(at.positions, at.velocities));
        let factors = [of.factor0, of.factor1];
        sides.add_by_variables(blocks, at.dynamics.force, &force.by_variables, factors);
    }

    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let (mut of, mut of_memory) = Self::places(at, blocks);
        let places = of_memory;
        // A user's law has no memory: the memory stays as it is.
        let switches = !self.has_force_law();
        let mut next = [None, None, None, None];
        if switches && at.parameters.has_bristles() {
            let varied = &of_friction(&mut of, &mut of_memory).map(|place| *place);
            let memory = with(at, of_friction, |p, [q, v], m| p.switch_friction([q, v], m, m, Dual::zero).0);
            let of = |number| Gradient::none().with::<15>(number, varied);
            next[0] = Some(of(memory.friction_mode));
            next[1] = Some(of(memory.last_sticking_position));
            next[3] = Some(of(memory.bristle_energy));
        }
        if switches {
            next[2] = Some(Gradient::none());
        }
        if switches && at.parameters.use_limit_stops {
            let varied = &of_stops(&mut of, &mut of_memory).map(|place| *place);
            let state = with(at, of_stops, |p, [q, _], _| p.limit_stop_state(q));
            next[2] = Some(Gradient::none().with::<10>(state, varied));
        }
        let sides = self.sides(at.parameters);
        let motions = sides.motions(at.positions, at.velocities);
        let Discrete { friction_mode, last_sticking_position, limit_stop_state, bristle_energy } = places;
        let rows = [friction_mode, last_sticking_position, limit_stop_state, bristle_energy];
        for (place, next) in rows.into_iter().zip(next) {
            let row = Row::Next(place - blocks.discrete(0));
            let Some(next) = next else {
                blocks.add_to_by_variable(row, place, T::one());
                continue;
            };
            let next = next.with_factors(&of, motions);
            sides.add_to(blocks, row, next.by_motion);
            blocks.add_to_by_variables(row, Blocks::<T>::TIME, &next.by_variables);
        }
    }
}

/// The largest slope of `y·S(y)`, at `y = 2/3` of the transition of a smooth stop.
const STEEPEST: f64 = 16.0 / 9.0;

impl<T: Real> Parameters<T> {
    /// Bounds on the slopes of the force by displacement \[N/m\] and velocity \[N·s/m\]: of spring, friction at the
    /// present load, and the stiffer stop together.
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
    fn state_branches(at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let (parameters, discrete) = (at.parameters, at.discrete);
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        let zone = parameters.friction_proportional_zone;
        let zero = T::zero();
        if zone > zero {
            let beyond = v.abs() - zone;
            blocks.branch(if beyond > zero { "sliding" } else { "creeping" }, beyond.abs(), "m/s");
        } else if parameters.has_bristles() && discrete.friction_mode == zero {
            let limit = parameters.sticking_limit(q, v, discrete.last_sticking_position);
            let spare = limit - at.dynamics.friction_force.abs();
            if spare >= zero {
                blocks.branch("sticking", spare, "N");
            } else {
                // A commit lets them slip, by a force that depends on the speed.
                blocks.branch("yielding", -spare, "N");
                blocks.branch(if v < zero { "backwards" } else { "forwards" }, v.abs(), "m/s");
            }
        } else if parameters.has_bristles() {
            // A commit lets those stick that reverse.
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
