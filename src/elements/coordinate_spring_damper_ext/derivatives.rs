//! Derivatives of the force by motion, and the branches of the law.

use nalgebra::Vector1;

use crate::elements::coordinate_spring_damper_ext::{CoordinateSpringDamperExt, Discrete, Parameters};
use crate::framework::variables::Numbers as _;
use crate::framework::{AtDynamics, Blocks};
use crate::math::{Algebraic, Dual, Number, Real};

pub(super) type At<'a, T> = AtDynamics<'a, T, CoordinateSpringDamperExt<T>>;

impl<S: Algebraic> Parameters<S> {
    /// The displacement of the element per displacement of each coordinate.
    pub(super) fn factors(&self) -> [S; 2] {
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
        let of = &mut |number| Dual::of(number);
        let (parameters, state) = (parameters.lift(of), Dual::of(at.discrete.limit_stop_state));
        let q = Dual::<_, 2>::variable(at.position.displacement, 0);
        let v = Dual::variable(at.velocity.velocity, 1);
        let [contact_by_q, contact_by_v] = parameters.contact(q, v, state).force.slopes;
        by_q += contact_by_q;
        by_v += contact_by_v;
    }
    [by_q, by_v]
}

impl<T: Real> CoordinateSpringDamperExt<T> {
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
