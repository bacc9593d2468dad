//! The law of the exponential spring, in numbers with or without derivatives.

use nalgebra::{Vector2, Vector3};

use super::friction::{Friction, dot, exceeds, length, settle};
use super::normal::{Normal, normal_force};
use super::slider::{Slider, Yielding};
use crate::elements::exponential_spring::{Discrete, FrictionTransition, Parameters};
use crate::math::{Number, Real};

/// The parameters as numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law<S> {
    pub(super) d0: S,
    pub(super) d1: S,
    pub(super) d2: S,
    pub(super) normal_viscosity: S,
    pub(super) max_normal_force: S,
    pub(super) friction_elasticity: S,
    pub(super) friction_viscosity: S,
    pub(super) settle_velocity: S,
    pub(super) release_velocity: S,
    pub(super) mu_static: S,
    pub(super) mu_kinetic: S,
}

/// The memory as numbers, in the plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory<S> {
    pub(super) anchor: Vector2<S>,
    pub(super) sliding: S,
    pub(super) last_update: S,
    pub(super) last_station: Option<Vector2<S>>,
    pub(super) last_velocity: Vector2<S>,
    pub(super) overspeed: S,
}

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

/// Friction by return mapping.
pub(super) struct Pulled<S> {
    pub(super) yielding: Yielding<S>,
    /// The limit that it is under, after what it loses as the anchor lets go.
    pub(super) limit: S,
    /// Its error if the anchor lets go at the end of the step.
    pub(super) error: S,
}

/// The share of the settle velocity at which friction of an anchor that lets go falls with the pull.
const FAST: f64 = 0.1;

impl<T: Real> Law<T> {
    #[inline]
    pub(super) fn new(parameters: &Parameters<T>) -> Self {
        Self::of(parameters, |number, _| number)
    }
}

impl<T: Real> Memory<T> {
    #[inline]
    pub(super) fn new(committed: &Discrete<T>) -> Self {
        Self::of(committed, |number, _| number)
    }
}

impl<S> Memory<S> {
    /// The memory whose numbers are made by `number` of their values and places.
    #[inline]
    pub(super) fn of<T: Real>(committed: &Discrete<T>, number: impl Fn(T, usize) -> S) -> Self {
        let vector = |v: Vector2<T>, first| Vector2::new(number(v.x, first), number(v.y, first + 1));
        Self {
            anchor: vector(committed.anchor_P, 0),
            sliding: number(committed.sliding, 2),
            last_update: number(committed.last_update, 3),
            last_station: committed.last_station.map(|station| vector(station.xy().coords, 4)),
            last_velocity: vector(committed.last_velocity_P, 7),
            overspeed: number(committed.overspeed, 9),
        }
    }
}

impl<S> Law<S> {
    /// The law whose numbers are made by `number` of their values and places.
    #[inline]
    pub(super) fn of<T: Real>(parameters: &Parameters<T>, number: impl Fn(T, usize) -> S) -> Self {
        Self {
            d0: number(parameters.d0, 0),
            d1: number(parameters.d1, 1),
            d2: number(parameters.d2, 2),
            normal_viscosity: number(parameters.normal_viscosity, 3),
            max_normal_force: number(parameters.max_normal_force, 4),
            friction_elasticity: number(parameters.friction_elasticity, 5),
            friction_viscosity: number(parameters.friction_viscosity, 6),
            settle_velocity: number(parameters.settle_velocity, 7),
            release_velocity: number(parameters.release_velocity, 8),
            mu_static: number(parameters.mu_static, 9),
            mu_kinetic: number(parameters.mu_kinetic, 10),
        }
    }

    /// Forces on the station, and what a commit writes.
    #[inline]
    pub(super) fn evaluate<T: Real>(
        &self,
        transition: FrictionTransition,
        committed: &Memory<S>,
        motion: &Motion<S>,
    ) -> Outcome<S>
    where
        S: Number<T>,
    {
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
            next: Next { anchor: p, sliding: S::literal(1.0), overspeed: S::none() },
            energy,
            dissipation,
            switching_error: S::none(),
        };
        match transition {
            FrictionTransition::ReturnMapping => self.yields(committed, is_held, [p, v], outcome),
            FrictionTransition::Settling => {
                let elapsed = motion.time - committed.last_update;
                self.blends(committed, is_held, [p, v], elapsed, outcome)
            }
        }
    }

    /// The coefficient of friction by the committed Sliding.
    #[inline]
    pub(super) fn friction_coefficient<T: Real>(&self, committed: &Memory<S>) -> S
    where
        S: Number<T>,
    {
        self.mu_static - committed.sliding * (self.mu_static - self.mu_kinetic)
    }

    /// Whether a limit of friction is not negligible.
    #[inline]
    pub(super) fn holds<T: Real>(&self, limit: S) -> bool
    where
        S: Number<T>,
    {
        limit > self.least_limit()
    }

    /// The greatest limit of friction that is negligible.
    #[inline]
    pub(super) fn least_limit<T: Real>(&self) -> S
    where
        S: Number<T>,
    {
        // Relative to `max` where all forces are small in the units in use.
        S::of(T::negligible()) * self.max_normal_force.at_most(S::literal(1.0))
    }

    /// Friction as published.
    #[inline]
    fn blends<T: Real>(
        &self,
        committed: &Memory<S>,
        is_held: bool,
        [position, velocity]: [Vector2<S>; 2],
        elapsed: S,
        mut outcome: Outcome<S>,
    ) -> Outcome<S>
    where
        S: Number<T>,
    {
        if is_held {
            let stretch = position - committed.anchor;
            outcome.friction = Friction::blended(self, stretch, velocity, outcome.limit, committed.sliding);
        }
        let Friction { elastic, damping, .. } = outcome.friction;
        // The anchor at which the friction spring exerts this elastic force.
        let lead = elastic / self.friction_elasticity;
        let anchor = position + lead;
        outcome.next.anchor = anchor;
        if is_held && elapsed.value() > T::negligible() {
            outcome.next.sliding = settle(anchor - committed.anchor, elapsed * self.settle_velocity);
        }
        outcome.energy += S::literal(0.5) * dot(elastic, lead);
        outcome.dissipation -= dot(damping, velocity);
        outcome
    }

    /// Friction by return mapping.
    #[inline]
    fn yields<T: Real>(
        &self,
        committed: &Memory<S>,
        is_held: bool,
        [position, velocity]: [Vector2<S>; 2],
        mut outcome: Outcome<S>,
    ) -> Outcome<S>
    where
        S: Number<T>,
    {
        let (zero, one) = (S::none(), S::literal(1.0));
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
        outcome.energy -= S::literal(0.5) * dot(elastic, stretch);
        outcome.dissipation -= dot(damping, velocity);
        outcome
    }

    /// Whether a station is fast enough for its anchor to let go.
    #[inline]
    fn lets_go<T: Real>(&self, velocity: Vector2<S>) -> bool
    where
        S: Number<T>,
    {
        self.release_velocity == S::none() || exceeds(velocity, self.release_velocity)
    }

    /// Friction by return mapping under a normal force and a limit.
    #[inline]
    pub(super) fn pulls<T: Real>(
        &self,
        committed: &Memory<S>,
        is_held: bool,
        [position, velocity]: [Vector2<S>; 2],
        [normal, limit]: [S; 2],
    ) -> Pulled<S>
    where
        S: Number<T>,
    {
        let (zero, one) = (S::none(), S::literal(1.0));
        let slider = Slider::committed(committed, position);
        // What friction loses when the anchor lets go. Within the step a fast station loses it as the pull rises on, so that
        // error control sees it and Newton's method has a slope; a slow one at the end.
        let drop = (self.mu_static - self.mu_kinetic) * normal * (one - committed.sliding);
        let beyond = if is_held && !drop.vanishes() && self.lets_go(velocity) {
            slider.pull_beyond(self, position, velocity, limit).at_most(drop)
        } else {
            zero
        };
        let fallen = if beyond.vanishes() {
            zero
        } else {
            let excess = length(velocity) - self.release_velocity;
            let share = settle(Vector2::new(excess, zero), self.settle_velocity * S::literal(FAST));
            beyond * (share * share)
        };
        let limit = limit - fallen;
        let yielding = if is_held {
            slider.friction(self, position, velocity, limit)
        } else {
            Yielding::none(self, velocity)
        };
        Pulled { yielding, limit, error: beyond.at_most(drop - fallen) }
    }
}
