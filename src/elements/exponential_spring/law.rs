//! The law of the exponential spring, in numbers with or without derivatives.

use nalgebra::{Vector2, Vector3};

use super::friction::{Friction, dot, exceeds, length, settle};
use super::normal::{Normal, normal_force};
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

/// What the law gives.
pub(super) struct Outcome<S> {
    pub(super) normal: Normal<S>,
    pub(super) mu: S,
    pub(super) limit: S,
    pub(super) friction: Friction<S>,
    pub(super) next: Next<S>,
    pub(super) energy: S,
    pub(super) dissipation: S,
    pub(super) switching_error: S,
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

/// Friction by return mapping.
pub(super) struct Pulled<S> {
    pub(super) yielding: Yielding<S>,
    /// The limit that it is under, after what it loses as the anchor lets go.
    pub(super) limit: S,
    /// Its error if the anchor lets go at the end of the step.
    pub(super) error: S,
}

impl<S: Algebraic> Outcome<S> {
    /// The force on the station in the plane's frame.
    pub(super) fn force(&self) -> Vector3<S> {
        let friction = self.friction.elastic + self.friction.damping;
        Vector3::new(friction.x, friction.y, self.normal.total)
    }
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
    /// Forces on the station, and what a commit writes.
    #[inline]
    pub(super) fn evaluate(&self, committed: &Discrete<S>, motion: &Motion<S>) -> Outcome<S> {
        let Motion { position, velocity, .. } = motion;
        let normal = normal_force(self, position.z, velocity.z);
        let mu = self.friction_coefficient(committed);
        let limit = mu * normal.total;
        let is_held = self.holds(limit);
        let dissipation = -((normal.total - normal.elastic) * velocity.z);
        let energy = normal.energy;
        let [p, v] = [position, velocity].map(|v| Vector2::new(v.x, v.y));
        let outcome = Outcome {
            normal,
            mu,
            limit,
            friction: Friction::none(),
            next: Next { anchor: p, sliding: S::lit(1.0), overspeed: S::zero() },
            energy,
            dissipation,
            switching_error: S::zero(),
        };
        match self.friction_transition {
            FrictionTransition::ReturnMapping => self.yields(committed, is_held, [p, v], outcome),
            FrictionTransition::Settling => {
                let elapsed = motion.time - committed.last_update;
                self.blends(committed, is_held, [p, v], elapsed, outcome)
            }
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
        is_held: bool,
        [position, velocity]: [Vector2<S>; 2],
        elapsed: S,
        mut outcome: Outcome<S>,
    ) -> Outcome<S> {
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
        outcome.energy += S::lit(0.5) * dot(elastic, lead);
        outcome.dissipation -= dot(damping, velocity);
        outcome
    }

    /// Friction by return mapping.
    #[inline]
    fn yields(
        &self,
        committed: &Discrete<S>,
        is_held: bool,
        [position, velocity]: [Vector2<S>; 2],
        mut outcome: Outcome<S>,
    ) -> Outcome<S> {
        let (zero, one) = (S::zero(), S::lit(1.0));
        let normal = outcome.normal.total;
        let Pulled { yielding, error, .. } =
            self.pulls(committed, is_held, [position, velocity], [normal, outcome.limit]);
        let Yielding { elastic, damping, stretch, overspeed, slips, .. } = yielding;
        outcome.switching_error = error;
        outcome.friction = Friction { elastic, damping, limit_reached: slips };
        let sliding = if slips && (self.lets_go(velocity) || !is_held) {
            one
        } else if !slips && !exceeds(velocity, self.settle_velocity) {
            zero
        } else {
            committed.sliding
        };
        outcome.next = Next { anchor: position - stretch, sliding, overspeed };
        outcome.energy -= S::lit(0.5) * dot(elastic, stretch);
        outcome.dissipation -= dot(damping, velocity);
        outcome
    }

    /// Whether a station is fast enough for its anchor to let go.
    #[inline]
    fn lets_go(&self, velocity: Vector2<S>) -> bool {
        self.release_velocity == S::zero() || exceeds(velocity, self.release_velocity)
    }

    /// Friction by return mapping under a normal force and a limit.
    #[inline]
    pub(super) fn pulls(
        &self,
        committed: &Discrete<S>,
        is_held: bool,
        [position, velocity]: [Vector2<S>; 2],
        [normal, limit]: [S; 2],
    ) -> Pulled<S> {
        let (zero, one) = (S::zero(), S::lit(1.0));
        let slider = Slider::committed(committed, position);
        // What friction loses when the anchor lets go. Within the step a fast station loses it as the pull rises on, so that
        // error control sees it and Newton's method has a slope; a slow one at the end.
        let drop = (self.mu_static - self.mu_kinetic) * normal * (one - committed.sliding);
        let beyond = if is_held && !drop.vanishes() && self.lets_go(velocity) {
            slider.pull_beyond(self, position, velocity, limit).min(drop)
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
        let limit = limit - fallen;
        let yielding = if is_held {
            slider.friction(self, position, velocity, limit)
        } else {
            Yielding::none(self, velocity)
        };
        Pulled { yielding, limit, error: beyond.min(drop - fallen) }
    }
}
