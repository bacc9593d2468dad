//! Derivatives of the force and of the memory by parameters and memory.

use core::array::from_fn;

use nalgebra::{Scalar, Vector1};

use super::derivatives::At;
use super::{CoordinateSpringDamperExt, Discrete, Parameters};
use crate::framework::variables::Numbers;
use crate::framework::{Blocks, Row};
use crate::math::{Dual, Number, Real};

/// How many variables there are: time, parameters, memory.
const VARIABLES: usize =
    1 + <Parameters<f64> as Numbers<f64>>::COUNT + <Discrete<f64> as Numbers<f64>>::COUNT;

/// How many numbers the memory has.
const MEMORY: usize = <Discrete<f64> as Numbers<f64>>::COUNT;

/// The places of the variables.
struct Places {
    parameters: Parameters<usize>,
    memory: Discrete<usize>,
}

impl Places {
    fn new<T: Real>(at: &At<'_, T>, blocks: &Blocks<'_, T>) -> Self {
        let [parameters, memory] = [blocks.parameter(0), blocks.discrete(0)];
        Self { parameters: at.parameters.places(parameters), memory: at.discrete.places(memory) }
    }

    /// Those of the numbers in this list.
    fn of<const M: usize>(&self, list: List<usize, M>) -> [usize; M] {
        let (mut parameters, mut memory) = (self.parameters, self.memory);
        list(&mut parameters, &mut memory).map(|place| *place)
    }
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

/// Some numbers of the parameters and of the memory.
type List<S, const M: usize> = for<'a> fn(&'a mut Parameters<S>, &'a mut Discrete<S>) -> [&'a mut S; M];

/// With displacement and velocity.
type ByFriction<T> = Varied<T, 15>;
type ByStops<T> = Varied<T, 10>;

/// Displacement and velocity, with the law and the memory, of which some numbers vary.
struct Varied<T: Real, const N: usize> {
    q: Dual<T, N>,
    v: Dual<T, N>,
    parameters: Parameters<Dual<T, N>>,
    discrete: Discrete<Dual<T, N>>,
}

/// The derivatives of one number of the element.
struct Gradient<T> {
    /// By displacement and velocity.
    by_motion: [T; 2],
    /// By the variables.
    by_variables: [T; VARIABLES],
}

impl<T: Real, const N: usize> Varied<T, N> {
    /// Displacement and velocity are varied, and the numbers in this list.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call returns kilobytes of dual numbers, which are copied")]
    fn new<const M: usize>(at: &At<'_, T>, list: List<Dual<T, N>, M>) -> Self {
        let of = &mut |number| Dual::of(number);
        let (mut parameters, mut discrete) = (at.parameters.lift(of), at.discrete.lift(of));
        // Directions that the compiler knows, so that numbers without derivatives are not made.
        for (number, direction) in list(&mut parameters, &mut discrete).into_iter().zip(2..) {
            *number = Dual::variable(number.value, direction);
        }
        Self {
            q: Dual::variable(at.position.displacement, 0),
            v: Dual::variable(at.velocity.velocity, 1),
            parameters,
            discrete,
        }
    }
}

impl<T: Real> Gradient<T> {
    fn none() -> Self {
        Self { by_motion: [T::zero(); 2], by_variables: [T::zero(); VARIABLES] }
    }

    /// That of a variable.
    fn of(number: usize) -> Self {
        let mut gradient = Self::none();
        gradient.by_variables[number] = T::one();
        gradient
    }

    /// Adds that of a part, which depends on the numbers in these places.
    fn add<const N: usize>(&mut self, part: Dual<T, N>, places: &[usize]) {
        let (by_motion, by_variables) = part.slopes.split_at(2);
        (0..2).for_each(|i| self.by_motion[i] += by_motion[i]);
        places.iter().zip(by_variables).for_each(|(&place, &slope)| self.by_variables[place] += slope);
    }

    /// Adds what the factors change by way of displacement and velocity, of the coordinates on each side.
    fn add_by_factors(&mut self, places: &Places, [first, second]: [[T; 2]; 2]) {
        let along = |[q, v]: [T; 2]| self.by_motion[0] * q + self.by_motion[1] * v;
        let [by_first, by_second] = [-along(first), along(second)];
        self.by_variables[places.parameters.factor0] += by_first;
        self.by_variables[places.parameters.factor1] += by_second;
    }

    fn times(&self, factor: T) -> Self {
        let times = |slope| slope * factor;
        Self { by_motion: self.by_motion.map(times), by_variables: self.by_variables.map(times) }
    }

    /// The numbers on which it depends, as far as is known, with the derivatives.
    fn by_variables(&self) -> impl Iterator<Item = (usize, T)> + '_ {
        let numbers = self.by_variables.iter().copied().enumerate();
        numbers.filter(|&(_, slope)| !slope.vanishes())
    }
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    /// Displacement and velocity of each coordinate, zero for ground.
    fn motion_of_sides(&self, at: &At<'_, T>) -> [[T; 2]; 2] {
        self.sides().map(|side| {
            let motion =
                side.map(|side| [at.positions.coordinate(side), at.velocities.coordinate_rate(side)]);
            motion.unwrap_or([T::zero(); 2])
        })
    }

    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let Parameters { stiffness, damping, offset, velocity_offset, use_limit_stops, .. } = *at.parameters;
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        let places = Places::new(at, blocks);
        let p = &places.parameters;
        let mut force = Gradient { by_motion: [stiffness, damping], ..Gradient::none() };
        force.by_variables[p.stiffness] = q - offset;
        force.by_variables[p.damping] = v - velocity_offset;
        force.by_variables[p.offset] = -stiffness;
        force.by_variables[p.velocity_offset] = -damping;
        let Varied { q, v, parameters, discrete } = ByFriction::new(at, of_friction);
        force.add(parameters.friction(q, v, &discrete).force, &places.of(of_friction));
        if use_limit_stops {
            let Varied { q, v, parameters, discrete } = ByStops::new(at, of_stops);
            force.add(parameters.contact(q, v, discrete.limit_stop_state).force, &places.of(of_stops));
        }
        force.add_by_factors(&places, self.motion_of_sides(at));
        let sides = self.sides().into_iter().zip(at.parameters.factors());
        for ((side, factor), (variable, sign)) in sides.zip([(p.factor0, T::one()), (p.factor1, -T::one())]) {
            let Some(on) = side else { continue };
            let mut pull = force.times(-factor);
            pull.by_variables[variable] += at.dynamics.force * sign;
            for (variable, slope) in pull.by_variables() {
                blocks.add_by_variable(on, variable, &Vector1::new(slope));
            }
        }
    }

    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let places = Places::new(at, blocks);
        let first = blocks.discrete(0);
        let mut rows: [_; MEMORY] = from_fn(|row| Gradient::of(first + row));
        // A user's law has no memory: what is there is kept.
        if !self.has_force_law() {
            let memory = &places.memory;
            if at.parameters.has_bristles() {
                let Varied { q, v, parameters, discrete } = ByFriction::new(at, of_friction);
                let (next, _) = parameters.switch_friction(q, v, &discrete, &discrete);
                for (place, next) in [
                    (memory.friction_mode, next.friction_mode),
                    (memory.last_sticking_position, next.last_sticking_position),
                    (memory.bristle_energy, next.bristle_energy),
                ] {
                    rows[place - first] = Gradient::none();
                    rows[place - first].add(next, &places.of(of_friction));
                }
            }
            if at.parameters.use_limit_stops {
                let Varied { q, parameters, .. } = ByStops::new(at, of_stops);
                rows[memory.limit_stop_state - first] = Gradient::none();
                rows[memory.limit_stop_state - first]
                    .add(parameters.limit_stop_state(q), &places.of(of_stops));
            }
        }
        let sides = self.motion_of_sides(at);
        for (row, mut gradient) in rows.into_iter().enumerate() {
            gradient.add_by_factors(&places, sides);
            for (side, factor) in self.sides().into_iter().zip(at.parameters.factors()) {
                let Some(by) = side else { continue };
                let [by_position, by_velocity] = gradient.by_motion.map(|slope| Vector1::new(slope * factor));
                blocks.add_to(Row::Next(row), by, &by_position, &by_velocity);
            }
            for (variable, slope) in gradient.by_variables() {
                blocks.add_to_by_variable(Row::Next(row), variable, slope);
            }
        }
    }
}
