//! Friction of a spring and a damper behind a slider that yields at a limit.

use nalgebra::Vector2;

use crate::elements::exponential_spring::Parameters;
use crate::elements::exponential_spring::friction::{exceeds, length};
use crate::math::Real;

/// The slider at its last commit, and the time since.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slider<T: Real> {
    pub(super) anchor: Vector2<T>,
    pub(super) slip_velocity: Vector2<T>,
    pub(super) elapsed: T,
}

/// Friction, and the slider after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Yielding<T: Real> {
    pub(super) force: Vector2<T>,
    pub(super) elastic: Vector2<T>,
    pub(super) damping: Vector2<T>,
    /// The stretch of the spring.
    pub(super) stretch: Vector2<T>,
    pub(super) anchor: Vector2<T>,
    pub(super) slip_velocity: Vector2<T>,
    /// How far the anchor is from where the force would be at the limit without slip.
    pub(super) excess: Vector2<T>,
    /// By how much the anchor advanced if a slip under way has ended since the last commit.
    pub(super) last_slip: T,
}

impl<T: Real> Yielding<T> {
    /// Zero friction, for a negligible limit: the slider goes with the station.
    pub(super) fn none(position: Vector2<T>, velocity: Vector2<T>) -> Self {
        let zero = Vector2::zeros();
        Self {
            force: zero,
            elastic: zero,
            damping: zero,
            stretch: zero,
            anchor: position,
            slip_velocity: velocity,
            excess: zero,
            last_slip: T::zero(),
        }
    }
}

/// Weights of the slip of a step, for the rate of relaxation `k/c` and its length `t`, `z = k·t/c`.
///
/// A slip advances the anchor by `Λ`, in proportion to the excess `ρ` of the stretched spring over the limit,
/// `dΛ/dt = (k/c)·ρ`. Without slip the excess would grow from `ρ0` to `trial`; if it does so evenly, then
/// `Λ = B·trial + A·ρ0` and `ρ1 = (1 − B)·trial − A·ρ0`, with an exponential that is replaced by `1/(1 + z + z²/2)`:
/// correct to second order, and without overshoot for a step of any length. All quotients are of numbers
/// up to one, so that `c = 0` is no exception: there `Λ = trial`.
struct Weights<T> {
    /// `c/m` and `k·t/(2m)`, with `m` the greater of `c` and `k·t`.
    viscous: T,
    half: T,
    /// The inverse of `(c² + c·k·t + (k·t)²/2)/m²`.
    scale: T,
    /// `k/m`; zero if `m` is.
    rate: T,
}

impl<T: Real> Weights<T> {
    fn new(parameters: &Parameters<T>, elapsed: T) -> Self {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *parameters;
        let drawn = k * elapsed;
        let m = c.max(drawn);
        let (viscous, share, rate) = if m > T::zero() {
            (c / m, drawn / m, k / m)
        } else {
            (T::zero(), T::one(), T::zero())
        };
        let half = share * T::lit(0.5);
        let scale = T::one() / (viscous * (viscous + share) + share * half);
        Self { viscous, half, scale, rate }
    }

    /// `Λ`.
    fn slip(&self, trial: T, start: T) -> T {
        self.half * self.scale * ((self.viscous + self.half + self.half) * trial + self.viscous * start)
    }

    /// `ρ1·m/c`, from which excess and speed follow without a quotient by `c`.
    fn residue(&self, trial: T, start: T) -> T {
        // Of a slip that goes on it is above zero, but for rounding.
        (self.scale * ((self.viscous + self.half) * trial - self.half * start)).max(T::zero())
    }
}

impl<T: Real> Slider<T> {
    /// The friction force of a station at `position` with `velocity`, under a limit.
    ///
    /// The spring and the damper together pull at the slider with `k·G`, `G = p + (c/k)·v − p0`. Within the
    /// limit the slider holds. Beyond it the force is at the limit, and the slider slips towards the station at the
    /// velocity at which the damper takes up the excess.
    pub(super) fn friction(
        &self,
        parameters: &Parameters<T>,
        position: Vector2<T>,
        velocity: Vector2<T>,
        limit: T,
    ) -> Yielding<T> {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *parameters;
        let radius = limit / k;
        let lead = velocity * (c / k);
        let target = position + lead;
        let speed = length(self.slip_velocity);

        let mut anchor = self.anchor;
        let mut last_slip = T::zero();
        if speed == T::zero() && !exceeds(target - anchor, radius) {
            return Self::held(parameters, position, velocity, anchor, last_slip);
        }
        let weights = Weights::new(parameters, self.elapsed);
        let slipping = |direction: Vector2<T>, residue: T| {
            let excess = weights.viscous * residue;
            let stretch = direction * (radius + excess) - lead;
            let slip_velocity = if c > T::zero() {
                direction * (weights.rate * residue)
            } else {
                direction * direction.dot(&velocity).max(T::zero())
            };
            let force = direction * -limit;
            Yielding {
                force,
                elastic: stretch * -k,
                damping: direction * (excess * k) - velocity * c,
                stretch,
                anchor: position - stretch,
                slip_velocity,
                excess: direction * excess,
                last_slip: T::zero(),
            }
        };
        if speed > T::zero() {
            let before = self.slip_velocity / speed;
            let start = speed * (c / k);
            // The trial excess at which a slip that slows down evenly just ends.
            let reach = speed * self.elapsed * T::lit(0.5);
            let least = if c > T::zero() {
                reach * weights.viscous / (weights.viscous + weights.half)
            } else {
                reach
            };
            let span = start.max(least);
            let slip = |trial: T| {
                if trial > least {
                    weights.slip(trial, start)
                } else if least > T::zero() {
                    least * span / (span + (least - trial))
                } else {
                    T::zero()
                }
            };
            // Half of the slip in the direction before, half in that after: of second order as slip turns.
            let along = target - anchor;
            let distance = length(along);
            let cosine =
                if distance > T::zero() { (along.dot(&before) / distance).max(T::zero()) } else { T::zero() };
            let half = slip(distance - radius) * cosine * T::lit(0.5);
            let rest = along - before * half;
            let remaining = length(rest);
            let trial = remaining + half - radius;
            if trial > least && remaining > T::zero() {
                return slipping(rest / remaining, weights.residue(trial, start));
            }
            last_slip = slip(trial);
            anchor += before * half.min(last_slip);
            if remaining > T::zero() && last_slip > half {
                anchor += rest * ((last_slip - half) / remaining);
            }
            if !exceeds(target - anchor, radius) {
                return Self::held(parameters, position, velocity, anchor, last_slip);
            }
        }
        let pull = target - anchor;
        let distance = length(pull);
        let yielding = slipping(pull / distance, weights.residue(distance - radius, T::zero()));
        Yielding { last_slip, ..yielding }
    }

    fn held(
        parameters: &Parameters<T>,
        position: Vector2<T>,
        velocity: Vector2<T>,
        anchor: Vector2<T>,
        last_slip: T,
    ) -> Yielding<T> {
        let stretch = position - anchor;
        let elastic = stretch * -parameters.friction_elasticity;
        let damping = velocity * -parameters.friction_viscosity;
        Yielding {
            force: elastic + damping,
            elastic,
            damping,
            stretch,
            anchor,
            slip_velocity: Vector2::zeros(),
            excess: Vector2::zeros(),
            last_slip,
        }
    }
}
