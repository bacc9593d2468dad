//! The law of friction, and the switching of friction and limit stops.

use crate::elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use crate::math::Real;

/// The result of [`Parameters::switch`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Switch<T: Real> {
    /// The discrete variables that fit the iterate.
    pub discrete: Discrete<T>,
    /// The change in force that they make, plus the opposing force of the damper where bristles stick again
    /// \[N\]; zero when nothing switched.
    pub force_error: T,
}

/// A force with its stored energy and dissipated power.
#[derive(Clone, Copy)]
pub(super) struct Part<T> {
    pub(super) force: T,
    pub(super) energy: T,
    pub(super) loss: T,
}

impl<T: Real> Part<T> {
    pub(super) fn none() -> Self {
        Self { force: T::zero(), energy: T::zero(), loss: T::zero() }
    }
}

impl<T: Real> Parameters<T> {
    /// The magnitude `F(v)` of sliding friction \[N\] at a speed outside the proportional zone
    /// \[m/s\].
    #[inline]
    pub fn stribeck(&self, speed: T) -> T {
        let beyond = speed - self.friction_proportional_zone;
        let offset = self.static_offset_force() * (-beyond / self.exponential_decay_static).exp();
        self.dynamic_force() + offset + self.viscous_friction * beyond
    }

    /// The force of sticking bristles \[N\].
    #[inline]
    fn sticking_force(&self, q: T, v: T, last_sticking_position: T) -> T {
        self.sticking_stiffness * (q - last_sticking_position) + self.sticking_damping * v
    }

    pub(super) fn has_bristles(&self) -> bool {
        self.friction_proportional_zone == T::zero() && self.has_friction()
    }

    #[inline]
    pub(super) fn friction(&self, q: T, v: T, discrete: &Discrete<T>) -> Part<T> {
        let zone = self.friction_proportional_zone;
        if zone > T::zero() {
            let force = if v.abs() <= zone {
                self.holding_force() * (v / zone)
            } else {
                with_sign_of(v, self.stribeck(v.abs()))
            };
            Part { force, energy: T::zero(), loss: force * v }
        } else if !self.has_bristles() {
            Part::none()
        } else if discrete.friction_mode == T::zero() {
            let bend = q - discrete.last_sticking_position;
            let damping = self.sticking_damping * v;
            Part {
                force: self.sticking_stiffness * bend + damping,
                energy: T::lit(0.5) * self.sticking_stiffness * bend * bend,
                loss: damping * v,
            }
        } else {
            let force = with_sign_of(discrete.friction_mode, self.stribeck(v.abs()).abs());
            Part { force, energy: discrete.bristle_energy, loss: force * v }
        }
    }

    /// The energy, at most that of bristles bent as far as they can hold \[J\].
    fn capped_bristle_energy(&self, energy: T) -> T {
        if self.sticking_stiffness == T::zero() {
            return T::zero();
        }
        let holding = self.holding_force();
        energy.min(T::lit(0.5) * holding * holding / self.sticking_stiffness)
    }

    /// The discrete variables that fit a displacement `q` \[m\] and a velocity `v` \[m/s\], given
    /// those at the start of the step and the present ones.
    ///
    /// - Sticking bristles slip when their force exceeds `f_d + f_so`, at the present load; the mode becomes the
    ///   Stribeck force at `v`. Bristles without load slip.
    /// - Slipping bristles stick when `v` opposes the mode: where they stuck at the start of the
    ///   step, if they did; else where their force continues the slip force of the start of the
    ///   step.
    /// - Bristles that go on slipping track displacement and force. They keep the energy with which they began
    ///   to slip; the work of friction is added up to that of bristles bent as far as they can hold.
    /// - A stop without transition acts while it is surpassed, and its penetration is stored.
    pub fn switch(&self, q: T, v: T, start: &Discrete<T>, current: &Discrete<T>) -> Switch<T> {
        let (discrete, friction_error) = if self.has_bristles() {
            self.switch_friction(q, v, start, current)
        } else {
            (*current, T::zero())
        };
        let (limit_stop_state, contact_error) = self.switch_stop(q, current.limit_stop_state);
        Switch {
            discrete: Discrete { limit_stop_state, ..discrete },
            force_error: friction_error + contact_error,
        }
    }

    fn switch_friction(&self, q: T, v: T, start: &Discrete<T>, current: &Discrete<T>) -> (Discrete<T>, T) {
        let holding_force = self.holding_force();
        if holding_force == T::zero() {
            let was_stuck = current.friction_mode == T::zero();
            let lost =
                if was_stuck { self.sticking_force(q, v, current.last_sticking_position) } else { T::zero() };
            return (current.unloaded(q, v), lost.abs());
        }
        // Not zero, however fast the static offset decays: a mode of zero would stick.
        let slip_force = self.stribeck(v.abs()).abs().max(T::negligible() * holding_force);
        if current.friction_mode == T::zero() {
            let sticking_force = self.sticking_force(q, v, current.last_sticking_position);
            if sticking_force.abs() <= holding_force {
                return (*current, T::zero());
            }
            let direction = if v == T::zero() { sticking_force } else { v };
            let friction_mode = with_sign_of(direction, slip_force);
            let bend = q - current.last_sticking_position;
            let bristle_energy =
                self.capped_bristle_energy(T::lit(0.5) * self.sticking_stiffness * bend * bend);
            let discrete = Discrete { friction_mode, last_sticking_position: q, bristle_energy, ..*current };
            (discrete, (sticking_force.abs() - slip_force).abs())
        } else if are_opposite(v, current.friction_mode) {
            if start.friction_mode == T::zero() {
                let last_sticking_position = start.last_sticking_position;
                let discrete = Discrete { last_sticking_position, ..current.stuck() };
                let sticking_force = self.sticking_force(q, v, start.last_sticking_position);
                (discrete, (slip_force - sticking_force.abs()).abs())
            } else {
                let bend = if self.sticking_stiffness > T::zero() {
                    (start.friction_mode - self.sticking_damping * v) / self.sticking_stiffness
                } else {
                    T::zero()
                };
                let discrete = Discrete { last_sticking_position: q - bend, ..current.stuck() };
                // The force is continued, however late the event is detected; the force of the damper, and the
                // bending that compensates it, measure the delay.
                let late = (self.sticking_damping * v).abs();
                (discrete, (start.friction_mode - with_sign_of(v, slip_force)).abs() + late)
            }
        } else {
            let friction_mode = with_sign_of(current.friction_mode, slip_force);
            // They will stick bent as far as they can hold. If they are bent less, friction bends them while they
            // slip: else its work would count as dissipated now and reappear then. The travel is taken from the
            // start of the step, not from one iterate to the next.
            let slip = start.friction_mode.signum() * (q - start.last_sticking_position);
            let went_on =
                start.friction_mode != T::zero() && !are_opposite(start.friction_mode, current.friction_mode);
            let goes_on = went_on && slip > T::zero();
            let bristle_energy = if goes_on {
                let work = start.friction_mode.abs().min(slip_force) * slip;
                self.capped_bristle_energy(start.bristle_energy + work)
            } else {
                current.bristle_energy
            };
            let last_sticking_position = q;
            let discrete = Discrete { friction_mode, last_sticking_position, bristle_energy, ..*current };
            (discrete, T::zero())
        }
    }
}

/// Whether two numbers have opposite signs. Their product might underflow.
#[inline]
fn are_opposite<T: Real>(a: T, b: T) -> bool {
    let zero = T::zero();
    (a < zero && b > zero) || (a > zero && b < zero)
}

/// A magnitude with the sign of a nonzero number.
#[inline]
fn with_sign_of<T: Real>(direction: T, magnitude: T) -> T {
    // Branch-free: signs of velocities alternate, and a misprediction costs more than the rest.
    magnitude * T::one().copysign(direction)
}
