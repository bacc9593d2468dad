//! The branches that the law takes, and how far the next ones are.

use nalgebra::Vector2;

use super::friction::length;
use super::{Discrete, ExponentialSpring, FrictionTransition, Parameters};
use crate::framework::{AtDynamics, Blocks};
use crate::math::Real;

/// What an evaluation of friction knows of its switches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near<T> {
    /// The limit that friction is under, after what it loses as an anchor lets go.
    pub(super) limit: T,
    /// The [`room`](super::slider::Yielding::room) of the spring.
    pub(super) room: T,
}

impl<T: Real> ExponentialSpring<T> {
    pub(super) fn state_branches(at: &AtDynamics<'_, T, Self>, near: Near<T>, blocks: &mut Blocks<'_, T>) {
        Self::state_friction(at, near, blocks);
        let Parameters { normal_viscosity, max_normal_force: max, .. } = *at.parameters;
        let factor = T::one() - normal_viscosity * at.velocity.v_PS.z;
        if normal_viscosity > T::zero() {
            let name = if factor > T::zero() { "pressing" } else { "let go" };
            blocks.branch(name, factor.abs() / normal_viscosity, "m/s");
        }
        if factor > T::zero() {
            let clamp = max - at.dynamics.normal_force_unclamped * factor;
            blocks.branch(if clamp < T::zero() { "clamped" } else { "not clamped" }, clamp.abs(), "N");
        }
    }

    fn state_friction(at: &AtDynamics<'_, T, Self>, near: Near<T>, blocks: &mut Blocks<'_, T>) {
        let parameters = at.parameters;
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *parameters;
        let Discrete { sliding, overspeed, last_station, .. } = at.discrete;
        let (zero, limit) = (T::zero(), at.dynamics.friction_force_limit);
        let beyond_least = limit - parameters.least_limit();
        if beyond_least <= zero {
            blocks.branch("free", -beyond_least, "N");
            return;
        }
        let is_mapped = parameters.friction_transition == FrictionTransition::ReturnMapping;
        let is_anchored = !is_mapped || last_station.is_some() || *sliding == zero;
        let velocity = at.velocity.v_PS.xy();
        let stretch =
            if is_anchored { at.position.p_PS.xy().coords - at.discrete.anchor_P } else { Vector2::zeros() };
        // By how much spring and damper would pull beyond the limit if the anchor held.
        let pull = length(stretch * k + velocity * c) - limit;
        let slips = at.dynamics.limit_reached;
        let name = if slips { "slipping" } else { "sticking" };
        if !is_mapped {
            let mut margin = beyond_least;
            if *sliding < T::one() {
                margin = margin.min(pull.abs());
            }
            if *sliding > zero {
                margin = margin.min((length(velocity) * c - limit).abs());
            }
            return blocks.branch(name, margin, "N");
        }

        let speed = length(velocity);
        let release = parameters.release_velocity;
        let drop =
            (parameters.mu_static - parameters.mu_kinetic) * at.dynamics.normal_force * (T::one() - *sliding);
        let falls = drop > zero && (release == zero || speed > release);
        let is_slack = speed * c > near.limit;
        let mut margin = beyond_least;
        if falls || !(is_slack || *overspeed > zero) {
            margin = margin.min(pull.abs());
        }
        if falls && pull > zero {
            margin = margin.min((pull - drop).abs());
        }
        if slips && is_anchored {
            margin = margin.min(near.room * k);
        } else if *overspeed > zero {
            margin = margin.min((near.limit - length(at.dynamics.friction_force_P)).abs());
        }
        blocks.branch(name, margin, "N");

        let mut nearest = T::lit(f64::INFINITY);
        if c > zero {
            nearest = (speed - near.limit / c).abs();
        }
        if slips && release > zero && *sliding < T::one() {
            nearest = nearest.min((speed - release).abs());
        }
        if !slips && *sliding > zero {
            nearest = nearest.min((speed - parameters.settle_velocity).abs());
        }
        if nearest.is_finite() {
            blocks.branch(if is_slack { "slack" } else { "taut" }, nearest, "m/s");
        }
    }
}
