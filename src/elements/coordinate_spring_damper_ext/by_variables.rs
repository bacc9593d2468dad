//! Derivatives of the force and of the memory by parameters and memory.

use nalgebra::Vector1;

use super::derivatives::At;
use super::{CoordinateSpringDamperExt, Discrete, Parameters};
use crate::framework::{Blocks, Row};
use crate::math::{Dual, Number, Real, have_same_bits};

/// How many numbers the parameters and the memory have.
const NUMBERS: usize = 27;
/// The places among these of the two factors, of the memory, and of the state of the stops in it.
const FACTORS: usize = 4;
const MEMORY: usize = 23;
const STOP_STATE: usize = MEMORY + 2;
/// The places of what friction and what stops depend on.
const FRICTION: [usize; 13] = [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, MEMORY, MEMORY + 1, MEMORY + 3];
const STOPS: [usize; 8] = [16, 17, 18, 19, 20, 21, 22, STOP_STATE];

/// With displacement and velocity.
type ByFriction<T> = Varied<T, { 2 + FRICTION.len() }>;
type ByStops<T> = Varied<T, { 2 + STOPS.len() }>;

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
    /// By parameters, then by memory.
    by_numbers: [T; NUMBERS],
}

impl<T: Real, const N: usize> Varied<T, N> {
    /// Displacement and velocity are varied, and the numbers in these places.
    fn new(at: &At<'_, T>, places: &[usize]) -> Self {
        let mut number = 0;
        let mut of = |value| {
            let direction = places.iter().position(|&place| place == number);
            number += 1;
            direction.map_or_else(|| Dual::of(value), |i| Dual::variable(value, 2 + i))
        };
        Self {
            q: Dual::variable(at.position.displacement, 0),
            v: Dual::variable(at.velocity.velocity, 1),
            parameters: at.parameters.lift(&mut of),
            discrete: at.discrete.lift(&mut of),
        }
    }
}

impl<T: Real> Gradient<T> {
    fn none() -> Self {
        Self { by_motion: [T::zero(); 2], by_numbers: [T::zero(); NUMBERS] }
    }

    /// That of a number of the memory that stays.
    fn of(number: usize) -> Self {
        let mut gradient = Self::none();
        gradient.by_numbers[number] = T::one();
        gradient
    }

    /// Adds that of a part, which depends on the numbers in these places.
    fn add<const N: usize>(&mut self, part: Dual<T, N>, places: &[usize]) {
        let (by_motion, by_numbers) = part.slopes.split_at(2);
        (0..2).for_each(|i| self.by_motion[i] += by_motion[i]);
        places.iter().zip(by_numbers).for_each(|(&place, &slope)| self.by_numbers[place] += slope);
    }

    /// Adds what the factors change by way of displacement and velocity, of the coordinates on each side.
    fn add_by_factors(&mut self, [first, second]: [[T; 2]; 2]) {
        let along = |[q, v]: [T; 2]| self.by_motion[0] * q + self.by_motion[1] * v;
        let [by_first, by_second] = [-along(first), along(second)];
        self.by_numbers[FACTORS] += by_first;
        self.by_numbers[FACTORS + 1] += by_second;
    }

    fn times(&self, factor: T) -> Self {
        let times = |slope| slope * factor;
        Self { by_motion: self.by_motion.map(times), by_numbers: self.by_numbers.map(times) }
    }

    /// The numbers on which it depends, as far as is known, with the derivatives.
    fn by_numbers(&self) -> impl Iterator<Item = (usize, T)> + '_ {
        let numbers = self.by_numbers.iter().copied().enumerate();
        numbers.filter(|&(_, slope)| !have_same_bits(slope.abs(), T::zero()))
    }
}

/// The variable that a number is.
fn variable<T: Real>(blocks: &Blocks<'_, T>, number: usize) -> usize {
    if number < MEMORY { blocks.parameter(number) } else { blocks.discrete(number - MEMORY) }
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
        let mut force = Gradient { by_motion: [stiffness, damping], ..Gradient::none() };
        force.by_numbers[..4].copy_from_slice(&[q - offset, v - velocity_offset, -stiffness, -damping]);
        let Varied { q, v, parameters, discrete } = ByFriction::new(at, &FRICTION);
        force.add(parameters.friction(q, v, &discrete).force, &FRICTION);
        if use_limit_stops {
            let Varied { q, v, parameters, discrete } = ByStops::new(at, &STOPS);
            force.add(parameters.contact(q, v, discrete.limit_stop_state).force, &STOPS);
        }
        force.add_by_factors(self.motion_of_sides(at));
        let sides = self.sides().into_iter().zip(at.parameters.factors());
        let signs = [(FACTORS, T::one()), (FACTORS + 1, -T::one())];
        for ((side, factor), (number, sign)) in sides.zip(signs) {
            let Some(on) = side else { continue };
            let mut pull = force.times(-factor);
            pull.by_numbers[number] += at.dynamics.force * sign;
            for (number, slope) in pull.by_numbers() {
                blocks.add_by_variable(on, variable(blocks, number), &Vector1::new(slope));
            }
        }
    }

    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let mut rows = [0, 1, 2, 3].map(|i| Gradient::of(MEMORY + i));
        // A user's law has no memory: what is there is kept.
        if !self.has_force_law() {
            if at.parameters.has_bristles() {
                let Varied { q, v, parameters, discrete } = ByFriction::new(at, &FRICTION);
                let (next, _) = parameters.switch_friction(q, v, &discrete, &discrete);
                let Discrete { friction_mode, last_sticking_position, bristle_energy, .. } = next;
                for (i, next) in [(0, friction_mode), (1, last_sticking_position), (3, bristle_energy)] {
                    rows[i] = Gradient::none();
                    rows[i].add(next, &FRICTION);
                }
            }
            if at.parameters.use_limit_stops {
                let Varied { q, parameters, .. } = ByStops::new(at, &STOPS);
                let next = parameters.limit_stop_state(q);
                rows[2] = Gradient::none();
                rows[2].add(next, &STOPS);
            }
        }
        let sides = self.motion_of_sides(at);
        for (i, mut row) in rows.into_iter().enumerate() {
            row.add_by_factors(sides);
            for (side, factor) in self.sides().into_iter().zip(at.parameters.factors()) {
                let Some(by) = side else { continue };
                let [by_position, by_velocity] = row.by_motion.map(|slope| Vector1::new(slope * factor));
                blocks.add_to(Row::Next(i), by, &by_position, &by_velocity);
            }
            for (number, slope) in row.by_numbers() {
                blocks.add_to_by_variable(Row::Next(i), variable(blocks, number), slope);
            }
        }
    }
}
