//! Derivatives of the force and of the commit, and the branches of the law.

use nalgebra::Vector1;

use crate::elements::coordinate_spring_damper_ext::{CoordinateSpringDamperExt, Discrete, Parameters};
use crate::framework::{AtDynamics, Blocks, Row};
use crate::math::{Algebraic, Dual, Number, Real};

/// How many numbers the parameters and the memory have.
const NUMBERS: usize = 27;

/// Displacement and velocity, with the law and the memory.
struct Instance<S> {
    /// Those of the parameters.
    factors: [S; 2],
    q: S,
    v: S,
    parameters: Parameters<S>,
    discrete: Discrete<S>,
}

type At<'a, T> = AtDynamics<'a, T, CoordinateSpringDamperExt<T>>;

impl<S: Algebraic> Instance<S> {
    /// `q` and `v` of the coordinates at hand.
    fn new(sides: [[S; 2]; 2], parameters: Parameters<S>, discrete: Discrete<S>) -> Self {
        let factors = parameters.factors();
        let [q, v] = [0, 1].map(|i| factors[0] * sides[0][i] + factors[1] * sides[1][i]);
        Self { factors, q, v, parameters, discrete }
    }

    fn force(&self) -> S {
        self.parameters.force(self.q, self.v, &self.discrete)
    }

    /// The numbers of the next memory.
    fn next(&self) -> [S; 4] {
        let Self { q, v, parameters, discrete, .. } = self;
        let Discrete { friction_mode, last_sticking_position, limit_stop_state, bristle_energy } =
            parameters.switched(*q, *v, discrete, discrete).discrete;
        [friction_mode, last_sticking_position, limit_stop_state, bristle_energy]
    }
}

/// With the derivatives by displacement and velocity.
#[inline]
fn by_motion<T: Real>(at: &At<'_, T>) -> Instance<Dual<T, 2>> {
    let of = &mut |number| Dual::of(number);
    let parameters = at.parameters.lift(of);
    Instance {
        factors: parameters.factors(),
        q: Dual::variable(at.position.displacement, 0),
        v: Dual::variable(at.velocity.velocity, 1),
        parameters,
        discrete: at.discrete.lift(of),
    }
}

impl<S: Algebraic> Parameters<S> {
    /// The displacement of the element per displacement of each coordinate.
    fn factors(&self) -> [S; 2] {
        [-self.factor0, self.factor1]
    }
}

/// The derivatives of the force by displacement and velocity.
#[inline]
fn force_by_motion<T: Real>(at: &At<'_, T>) -> [T; 2] {
    let parameters = at.parameters;
    let [mut by_q, mut by_v] = parameters.friction_by_motion(at.velocity.velocity, at.discrete);
    by_q += parameters.stiffness;
    by_v += parameters.damping;
    if parameters.use_limit_stops {
        let Instance { q, v, parameters, discrete, .. } = by_motion(at);
        let [contact_by_q, contact_by_v] = parameters.contact(q, v, discrete.limit_stop_state).force.slopes;
        by_q += contact_by_q;
        by_v += contact_by_v;
    }
    [by_q, by_v]
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    /// With the derivatives by parameters and memory.
    fn by_variables(&self, at: &At<'_, T>) -> Instance<Dual<T, NUMBERS>> {
        let mut directions = 0..;
        let mut of = |number| Dual::variable(number, directions.next().unwrap_or_default());
        let parameters = at.parameters.lift(&mut of);
        let discrete = at.discrete.lift(&mut of);
        let sides = self.sides().map(|side| {
            let motion =
                side.map(|side| [at.positions.coordinate(side), at.velocities.coordinate_rate(side)]);
            motion.unwrap_or([T::zero(); 2]).map(Dual::of)
        });
        Instance::new(sides, parameters, discrete)
    }

    pub(super) fn linearize_force(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let [by_q, by_v] = force_by_motion(at);
        let (sides, factors) = (self.sides(), at.parameters.factors());
        for (on, pull) in sides.iter().zip(factors) {
            let Some(on) = *on else { continue };
            for (by, factor) in sides.iter().zip(factors) {
                let Some(by) = *by else { continue };
                let [k, d] = [by_q, by_v].map(|slope| Vector1::new(-pull * slope * factor));
                blocks.add(on, by, &k, &d);
            }
        }
        Self::state_branches(at, blocks);
    }

    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let instance = self.by_variables(at);
        let force = instance.force();
        for (side, factor) in self.sides().into_iter().zip(instance.factors) {
            let Some(on) = side else { continue };
            for (number, slope) in (-(force * factor)).slopes.into_iter().enumerate() {
                // Parameters and memory follow one another.
                blocks.add_by_variable(on, blocks.parameter(number), &Vector1::new(slope));
            }
        }
    }

    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        if self.has_force_law() {
            // A user's law has no memory: what is there is kept.
            (0..4).for_each(|i| blocks.add_to_by_variable(Row::Next(i), blocks.discrete(i), T::one()));
            return;
        }
        let rows = by_motion(at).next().into_iter().zip(self.by_variables(at).next());
        for (i, (by_motion, by_variables)) in rows.enumerate() {
            for (by, factor) in self.sides().into_iter().zip(at.parameters.factors()) {
                let Some(by) = by else { continue };
                let [by_position, by_velocity] = by_motion.slopes.map(|slope| Vector1::new(slope * factor));
                blocks.add_to(Row::Next(i), by, &by_position, &by_velocity);
            }
            for (number, slope) in by_variables.slopes.into_iter().enumerate() {
                blocks.add_to_by_variable(Row::Next(i), blocks.parameter(number), slope);
            }
        }
    }
}

impl<T: Real> Parameters<T> {
    /// The derivatives of friction by displacement and velocity.
    #[inline]
    fn friction_by_motion(&self, v: T, discrete: &Discrete<T>) -> [T; 2] {
        let (zone, zero, speed) = (self.friction_proportional_zone, T::zero(), v.abs());
        if zone > zero && speed <= zone {
            [zero, self.holding_force() / zone]
        } else if zone > zero {
            // The force turns with the velocity, as the speed does.
            [zero, self.sliding_slope(speed)]
        } else if !self.has_bristles() {
            [zero; 2]
        } else if discrete.friction_mode == zero {
            [self.sticking_stiffness, self.sticking_damping]
        } else {
            // That of the magnitude of the force, which negative viscosity may turn; at zero that of a growing velocity.
            let is_turned = self.viscous_friction < zero && self.sliding_force(speed) < zero;
            let slope = self.sliding_slope(speed).towards(discrete.friction_mode);
            [zero, if is_turned == (v < zero) { slope } else { -slope }]
        }
    }

    /// The derivative of sliding friction by the speed.
    #[inline]
    fn sliding_slope(&self, speed: T) -> T {
        let beyond = speed - self.friction_proportional_zone;
        let decay = self.exponential_decay_static;
        self.viscous_friction - self.static_offset_force() * (-beyond / decay).exp() / decay
    }
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    /// Which branches friction and stops take, and how far the next ones are.
    fn state_branches(at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let (parameters, discrete) = (at.parameters, at.discrete);
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        let zone = parameters.friction_proportional_zone;
        let zero = T::zero();
        if zone > zero {
            let beyond = v.abs() - zone;
            blocks.branch(if beyond > zero { "sliding" } else { "creeping" }, beyond.abs(), "m/s");
        } else if parameters.has_bristles() && discrete.friction_mode == zero {
            let spare = parameters.holding_force() - at.dynamics.friction_force.abs();
            if spare >= zero {
                blocks.branch("sticking", spare, "N");
            } else {
                // A commit lets them slip the way they move.
                blocks.branch("yielding", -spare, "N");
                blocks.branch(if v < zero { "backwards" } else { "forwards" }, v.abs(), "m/s");
            }
        } else if parameters.has_bristles() {
            // A commit lets those stick that turn back.
            let goes_on = v * T::one().copysign(discrete.friction_mode) >= zero;
            blocks.branch(if goes_on { "slipping" } else { "turning back" }, v.abs(), "m/s");
            if parameters.viscous_friction < zero {
                let force = parameters.sliding_force(v.abs());
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
            // A commit switches a stop that is left or surpassed by now.
            blocks.branch(name, above.abs().min(below.abs()), "m");
            if parameters.limit_stops_only_push && (in_upper || in_lower) {
                let force = parameters.push(q, v, in_upper);
                blocks.branch(if force > zero { "pushing" } else { "let go" }, force.abs(), "N");
            }
        }
    }
}
