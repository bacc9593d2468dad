//! The law of the exponential spring, in numbers with or without derivatives.

use nalgebra::{Vector2, Vector3};

use super::branches::Near;
use super::friction::{Friction, dot, exceeds, length, settle};
use super::slider::{Slider, Yielding};
use crate::elements::exponential_spring::{Discrete, FrictionTransition, Parameters};
use crate::math::{Algebraic, Real};

/// Position and velocity of the station in the plane's frame, and time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Motion<S> {
    pub(super) position: Vector3<S>,
    pub(super) velocity: Vector3<S>,
    pub(super) time: S,
}

/// What the law gives in the plane.
pub(super) struct Tangential<S> {
    pub(super) mu: S,
    pub(super) limit: S,
    pub(super) friction: Friction<S>,
    pub(super) next: Next<S>,
    pub(super) energy: S,
    pub(super) dissipation: S,
    pub(super) switching_error: S,
    pub(super) near: Near<S>,
}

/// What a commit writes, besides the motion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next<S> {
    pub(super) anchor: Vector2<S>,
    pub(super) sliding: S,
    pub(super) overspeed: S,
}

/// What a commit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It writes all of the memory.
    Whole,
    /// It writes time and place only: the time since the last commit is unknown.
    First,
    Nothing,
}

impl<S: Algebraic> Discrete<S> {
    /// The memory after a commit.
    pub(super) fn after(&self, step: Step, motion: &Motion<S>, next: Next<S>) -> Self {
        let Motion { position, velocity, time } = *motion;
        let (last_update, last_station) = (time, Some(position.into()));
        match step {
            Step::Whole => Self {
                anchor_P: next.anchor,
                sliding: next.sliding,
                last_update,
                last_station,
                last_velocity_P: velocity.xy(),
                overspeed: next.overspeed,
            },
            Step::First => Self { last_update, last_station, ..*self },
            Step::Nothing => *self,
        }
    }
}

/// The share of the settle velocity at which friction of an anchor that lets go falls with the pull.
const FAST: f64 = 0.1;

impl<S: Algebraic> Parameters<S> {
    /// Friction of a station with this position and velocity in the plane under a normal force, so long after the last commit,
    /// and what a commit writes.
    #[inline]
    pub(super) fn tangential(
        &self,
        committed: &Discrete<S>,
        [position, velocity]: [Vector2<S>; 2],
        normal: S,
        elapsed: S,
    ) -> Tangential<S> {
        let mu = self.friction_coefficient(committed);
        let limit = mu * normal;
        let none = Tangential {
            mu,
            limit,
            friction: Friction::none(),
            next: Next { anchor: position, sliding: S::lit(1.0), overspeed: S::zero() },
            energy: S::zero(),
            dissipation: S::zero(),
            switching_error: S::zero(),
            near: Near { limit, room: S::lit(f64::INFINITY) },
        };
        match self.friction_transition {
            FrictionTransition::ReturnMapping => self.yields(committed, [position, velocity], normal, none),
            FrictionTransition::Settling => self.blends(committed, [position, velocity], elapsed, none),
        }
    }

    /// The coefficient of friction by the committed Sliding.
    #[inline]
    pub(super) fn friction_coefficient(&self, committed: &Discrete<S>) -> S {
        self.mu_static - committed.sliding * (self.mu_static - self.mu_kinetic)
    }

    /// Whether a limit of friction is not negligible.
    #[inline]
    pub(super) fn holds(&self, limit: S) -> bool {
        limit > self.least_limit()
    }

    /// The greatest limit of friction that is negligible.
    #[inline]
    pub(super) fn least_limit(&self) -> S {
        // Relative to `max` where all forces are small in the units in use.
        S::of(S::Scalar::negligible()) * self.max_normal_force.min(S::lit(1.0))
    }

    /// Friction as published.
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
            outcome.friction = Friction::blended(self, stretch, velocity, outcome.limit, committed.sliding);
        }
        let Friction { elastic, damping, .. } = outcome.friction;
        // The anchor at which the friction spring exerts this elastic force.
        let lead = elastic / self.friction_elasticity;
        let anchor = position + lead;
        outcome.next.anchor = anchor;
        if is_held && elapsed.value() > S::Scalar::negligible() {
            outcome.next.sliding = settle(anchor - committed.anchor_P, elapsed * self.settle_velocity);
        }
        outcome.energy = S::lit(0.5) * dot(elastic, lead);
        outcome.dissipation = -dot(damping, velocity);
        outcome
    }

    /// Friction by return mapping.
    #[inline]
    fn yields(
        &self,
        committed: &Discrete<S>,
        [position, velocity]: [Vector2<S>; 2],
        normal: S,
        outcome: Tangential<S>,
    ) -> Tangential<S> {
        let (zero, one) = (S::zero(), S::lit(1.0));
        let is_held = self.holds(outcome.limit);
        let slider = Slider::committed(committed, position);
        // What friction loses when the anchor lets go. Within the step a fast station loses it as the pull rises on, so that
        // error control sees it and Newton's method has a slope; a slow one at the end.
        let drop = (self.mu_static - self.mu_kinetic) * normal * (one - committed.sliding);
        let beyond = if is_held && !drop.vanishes() && self.lets_go(velocity) {
            slider.pull_beyond(self, position, velocity, outcome.limit).min(drop)
        } else {
            zero
        };
        let fallen = if beyond.vanishes() {
            zero
        } else {
            let excess = length(velocity) - self.release_velocity;
            let share = settle(Vector2::new(excess, zero), self.settle_velocity * S::lit(FAST));
            beyond * (share * share)
        };
        let limit = outcome.limit - fallen;
        let Yielding { elastic, damping, stretch, overspeed, slips, room } = if is_held {
            slider.friction(self, position, velocity, limit)
        } else {
            Yielding::none(self, velocity)
        };
        let sliding = if slips && (self.lets_go(velocity) || !is_held) {
            one
        } else if !slips && !exceeds(velocity, self.settle_velocity) {
            zero
        } else {
            committed.sliding
        };
        Tangential {
            friction: Friction { elastic, damping, limit_reached: slips },
            next: Next { anchor: position - stretch, sliding, overspeed },
            energy: -(S::lit(0.5) * dot(elastic, stretch)),
            dissipation: -dot(damping, velocity),
            switching_error: beyond.min(drop - fallen),
            near: Near { limit, room },
            ..outcome
        }
    }

    /// Whether a station is fast enough for its anchor to let go.
    #[inline]
    fn lets_go(&self, velocity: Vector2<S>) -> bool {
        self.release_velocity == S::zero() || exceeds(velocity, self.release_velocity)
    }
}
