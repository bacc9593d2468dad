//! The law of friction and of limit stops, both switched (as in the reference) and smooth, and the rules of switching.

use core::cmp::Ordering;

use crate::elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use crate::elements::laws::Pull;
use crate::math::{Number, Real};

impl<T: Real> Parameters<T> {
    /// Returns the discrete variables that match a displacement `q` \[m\] and a velocity `v` \[m/s\], given those at the
    /// start of the step and the present ones; and the force error \[N\].
    ///
    /// The force error is the change of the force by switching. Two terms are added: the force of the damper where
    /// bristles stick again; and, for a stop that was entered, or was left and may pull, the sum of the magnitudes of its
    /// spring and damper in place of their sum, since they may cancel at the end of a step. The error is zero if nothing
    /// switched.
    ///
    /// - Sticking bristles slip when their force exceeds `f_d + f_so` at the present load by more than a millionth. The
    ///   mode becomes the Stribeck force at `v`, in the direction of the force of the bristles. Bristles without load
    ///   slip.
    /// - Slipping bristles stick when `v` opposes the mode. If they stuck at the start of the step and can hold there,
    ///   they stick at that position; otherwise at the position where their force continues the slip force, up to their
    ///   limit.
    /// - Bristles that continue to slip track displacement and force. They keep the energy with which they began to slip;
    ///   the work of friction is added, up to the energy of bristles bent to their limit.
    /// - A stop without transition acts while it is surpassed, and its penetration is stored.
    ///
    /// Bristles and stops switch at the end of a step, so a host with fixed steps `h` is late by up to `h`:
    ///
    /// - A stop surpassed at a speed `v` appears at a depth of up to `v·h`, loaded with up to `k·v·h + d·v`. Up to
    ///   `k·(v·h)²/2` of energy is created (0.5 J each time for a slider that hits 1e4 N/m at 1 m/s in steps of 10 ms),
    ///   and a loss of `d·v²·h` is missed.
    /// - A stop that is left and may pull continues to pull, with up to as much force and for up to as long.
    /// - Slip that reverses is driven by friction for up to `h`.
    ///
    /// An explicit host must shorten its steps around events until
    /// [`switching_error`](crate::ForceSystem::switching_error) is small, as
    /// [`DormandPrince`](crate::simulation::DormandPrince) does. An implicit host iterates; it then has the correct force
    /// at the end of the step, where the force also jumps.
    pub fn switch(&self, q: T, v: T, start: &Discrete<T>, current: &Discrete<T>) -> (Discrete<T>, T) {
        self.switched([q, v], start, current, T::zero)
    }
}

impl<S: Number> Parameters<S> {
    /// The forces of spring and damper.
    #[inline]
    pub(super) fn spring_and_damper(&self, q: S, v: S) -> [S; 2] {
        [self.stiffness * (q - self.offset), self.damping * (v - self.velocity_offset)]
    }

    /// The force of spring, damper, friction and stops; then those of friction and of the stops.
    #[inline]
    pub(super) fn evaluate(&self, q: S, v: S, discrete: &Discrete<S>) -> (Pull<S>, [S; 2]) {
        let (stretch, slip) = (q - self.offset, v - self.velocity_offset);
        let [spring, damper] = self.spring_and_damper(q, v);
        let friction = self.friction(q, v, discrete);
        let contact = self.contact(q, v, discrete.limit_stop_state);
        let all = Pull {
            tension: spring + damper + friction.tension + contact.tension,
            potential_energy: S::lit(0.5) * spring * stretch
                + friction.potential_energy
                + contact.potential_energy,
            power_dissipated: damper * slip + friction.power_dissipated + contact.power_dissipated,
            power_supplied: -damper * self.velocity_offset,
        };
        (all, [friction.tension, contact.tension])
    }

    /// The part of a negative loss that is power of a drive: that of a damper or of regularised friction. The negative
    /// loss of bristles that slip backwards until the next commit is not.
    #[cold]
    #[inline(never)]
    pub(super) fn driven(&self, q: S, v: S, discrete: &Discrete<S>, loss: S) -> S {
        let (slip, zero) = (v - self.velocity_offset, S::zero());
        let is_regularised = self.friction_proportional_zone > zero;
        let rubbed =
            if is_regularised { self.friction(q, v, discrete).power_dissipated.min(zero) } else { zero };
        ((self.damping * slip * slip).min(zero) + rubbed).max(loss)
    }

    /// The magnitude `F(v)` of sliding friction \[N\] at a speed outside the proportional zone
    /// \[m/s\].
    #[inline]
    pub fn stribeck(&self, speed: S) -> S {
        self.force_beyond_zone(speed - self.friction_proportional_zone)
    }

    /// The magnitude of sliding friction, given the excess of the speed over the proportional zone \[m/s\] \[N\].
    #[inline]
    fn force_beyond_zone(&self, beyond: S) -> S {
        let offset = self.static_offset_force() * (-beyond / self.exponential_decay_static).exp();
        self.dynamic_force() + offset + self.viscous_friction * beyond
    }

    /// The force of sticking bristles \[N\].
    #[inline]
    fn sticking_force(&self, q: S, v: S, last_sticking_position: S) -> S {
        self.sticking_stiffness * (q - last_sticking_position) + self.sticking_damping * v
    }

    /// The force \[N\] up to which bristles that stuck at this displacement continue to stick, after `q` and `v`, without
    /// derivatives. Bristles that have just stuck again are bent to their limit; neither rounding nor the last digits of
    /// a host's iteration, a millionth of the limit, make them slip.
    pub(super) fn sticking_limit(&self, [q, v, last_sticking_position]: [S; 3]) -> S::Scalar {
        let lit = <S::Scalar as Real>::lit;
        let (way, speed) = (q.abs() + (q - last_sticking_position).abs(), v.abs());
        let size =
            self.sticking_stiffness.value() * way.value() + self.sticking_damping.value() * speed.value();
        self.holding_force().value() * lit(1.0 + 1e-6) + epsilon::<S::Scalar>() * lit(2.0) * size
    }

    /// Whether bristles that stuck at this displacement stick.
    fn holds(&self, q: S, v: S, last_sticking_position: S) -> bool {
        self.sticking_force(q, v, last_sticking_position).abs().value()
            <= self.sticking_limit([q, v, last_sticking_position])
    }

    pub(super) fn has_bristles(&self) -> bool {
        self.friction_proportional_zone == S::zero() && self.has_friction()
    }

    #[inline]
    pub(super) fn friction(&self, q: S, v: S, discrete: &Discrete<S>) -> Pull<S> {
        let zone = self.friction_proportional_zone;
        if zone > S::zero() {
            let force = if v.abs() <= zone {
                self.holding_force() * (v / zone)
            } else {
                self.stribeck(v.abs()).towards(v)
            };
            Pull { tension: force, power_dissipated: force * v, ..Pull::zero() }
        } else if !self.has_bristles() {
            self.absent_friction(v, discrete.friction_mode)
        } else if discrete.friction_mode == S::zero() {
            let bend = q - discrete.last_sticking_position;
            let damping = self.sticking_damping * v;
            Pull {
                tension: self.sticking_stiffness * bend + damping,
                potential_energy: self.bent_energy(bend),
                power_dissipated: damping * v,
                ..Pull::zero()
            }
        } else {
            let speed = speed_along(v, discrete.friction_mode);
            let force = self.stribeck(speed).abs().towards(discrete.friction_mode);
            let potential_energy = discrete.bristle_energy;
            Pull { tension: force, potential_energy, power_dissipated: force * v, ..Pull::zero() }
        }
    }

    /// Friction without a force. For bristles that slip without load it may have derivatives by the friction forces.
    #[inline]
    fn absent_friction(&self, v: S, mode: S) -> Pull<S> {
        let [dynamic, offset] = [self.dynamic_force(), self.static_offset_force()];
        if (dynamic.vanishes() && offset.vanishes()) || mode == S::zero() {
            return Pull::zero();
        }
        let decay = (-speed_along(v, mode) / self.exponential_decay_static).exp();
        let force = (dynamic + offset * decay).towards(mode);
        Pull { tension: force, power_dissipated: force * v, ..Pull::zero() }
    }

    /// The energy of bristles that stick, by their bend \[J\].
    #[inline]
    pub(super) fn bent_energy(&self, bend: S) -> S {
        S::lit(0.5) * self.sticking_stiffness * bend * bend
    }

    /// This energy, but at most the energy of bristles bent to their limit \[J\].
    fn capped_bristle_energy(&self, energy: S) -> S {
        if self.sticking_stiffness == S::zero() {
            // No energy is held, although the energy of a bend grows with the stiffness.
            return if energy == S::zero() { energy } else { S::zero() };
        }
        let holding = self.holding_force();
        energy.min(S::lit(0.5) * holding * holding / self.sticking_stiffness)
    }

    /// See [`switch`](Self::switch); `rounding` returns the rounding of the velocity.
    pub(super) fn switched(
        &self,
        [q, v]: [S; 2],
        start: &Discrete<S>,
        current: &Discrete<S>,
        rounding: impl FnOnce() -> S,
    ) -> (Discrete<S>, S) {
        let (discrete, friction_error) = if self.has_bristles() {
            self.switch_friction([q, v], start, current, rounding)
        } else {
            (*current, S::zero())
        };
        let (limit_stop_state, contact_error) = self.switch_stop(q, v, current.limit_stop_state);
        (Discrete { limit_stop_state, ..discrete }, friction_error + contact_error)
    }

    /// Does as [`switch`](Self::switch), for bristles.
    pub(super) fn switch_friction(
        &self,
        [q, v]: [S; 2],
        start: &Discrete<S>,
        current: &Discrete<S>,
        rounding: impl FnOnce() -> S,
    ) -> (Discrete<S>, S) {
        let holding_force = self.holding_force();
        if holding_force == S::zero() {
            let was_stuck = current.friction_mode == S::zero();
            let lost =
                if was_stuck { self.sticking_force(q, v, current.last_sticking_position) } else { S::zero() };
            return (current.unloaded(q, v), lost.abs());
        }
        // Not zero, however fast the static offset decays, since a mode of zero means sticking. Bristles have no zone,
        // and this code is not reached with one.
        let slip_force = self
            .force_beyond_zone(speed_along(v, current.friction_mode))
            .abs()
            .max(S::of(S::Scalar::negligible()) * holding_force);
        if current.friction_mode == S::zero() {
            let sticking_force = self.sticking_force(q, v, current.last_sticking_position);
            if self.holds(q, v, current.last_sticking_position) {
                return (*current, S::zero());
            }
            let bend = q - current.last_sticking_position;
            let friction_mode = slip_force.towards(sticking_force);
            let bristle_energy = self.capped_bristle_energy(self.bent_energy(bend));
            let discrete = Discrete { friction_mode, last_sticking_position: q, bristle_energy, ..*current };
            (discrete, (sticking_force.abs() - slip_force).abs())
        } else if are_opposite(v, current.friction_mode) {
            if start.friction_mode == S::zero() && self.holds(q, v, start.last_sticking_position) {
                let last_sticking_position = start.last_sticking_position;
                let discrete = Discrete { last_sticking_position, ..current.stuck() };
                let sticking_force = self.sticking_force(q, v, start.last_sticking_position);
                (discrete, (slip_force - sticking_force.abs()).abs())
            } else {
                let slip = if start.friction_mode == S::zero() { current } else { start }.friction_mode;
                let slip = slip.abs().min(holding_force).towards(slip);
                let bend = if self.sticking_stiffness > S::zero() {
                    (slip - self.sticking_damping * v) / self.sticking_stiffness
                } else {
                    S::zero()
                };
                let discrete = Discrete { last_sticking_position: q - bend, ..current.stuck() };
                // The force is continued, however late the event is detected. The delay is measured by the force of the
                // damper, with the bending that compensates it, and by the force of a slip the other way, unless that
                // slip is so slow that no shorter step could distinguish it from rest.
                let late = (self.sticking_damping * v).abs();
                let reversal =
                    if v.abs() > rounding() { (slip - slip_force.towards(v)).abs() } else { S::zero() };
                (discrete, reversal + late)
            }
        } else {
            let friction_mode = slip_force.towards(current.friction_mode);
            // Bristles stick bent to their limit. If they are bent less while they slip, friction bends them; otherwise
            // its work would count as dissipated now and reappear when they stick. The travel is measured from the start
            // of the step, not from one iterate to the next.
            let slip = S::lit(1.0).towards(start.friction_mode) * (q - start.last_sticking_position);
            let went_on =
                start.friction_mode != S::zero() && !are_opposite(start.friction_mode, current.friction_mode);
            let goes_on = went_on && slip > S::zero();
            let bristle_energy = if goes_on {
                let work = start.friction_mode.abs().min(slip_force) * slip;
                self.capped_bristle_energy(start.bristle_energy + work)
            } else {
                current.bristle_energy
            };
            let last_sticking_position = q;
            let discrete = Discrete { friction_mode, last_sticking_position, bristle_energy, ..*current };
            (discrete, S::zero())
        }
    }
}

/// The speed. At rest, the value keeps the direction of this slip, which may continue.
#[inline]
fn speed_along<S: Number>(v: S, direction: S) -> S {
    if v == S::zero() { v.towards(direction) } else { v.abs() }
}

/// Whether two numbers have opposite signs. Their product might underflow.
#[inline]
fn are_opposite<S: Number>(a: S, b: S) -> bool {
    let zero = S::zero();
    (a < zero && b > zero) || (a > zero && b < zero)
}

/// The relative rounding of the underlying float.
fn epsilon<T: Real>() -> T {
    T::default_epsilon()
}

/// Limit stops.
impl<S: Number> Parameters<S> {
    /// The force of the stops. It depends on the displacement if they are smooth, and otherwise on the stop that the
    /// limit-stop state selects.
    #[inline]
    pub(super) fn contact(&self, q: S, v: S, limit_stop_state: S) -> Pull<S> {
        if self.use_limit_stops { self.contact_with_stops(q, v, limit_stop_state) } else { Pull::zero() }
    }

    fn contact_with_stops(&self, q: S, v: S, limit_stop_state: S) -> Pull<S> {
        let width = self.limit_stops_transition;
        let (is_upper, is_between) = if width > S::zero() {
            let is_upper = q > self.limit_stops_upper;
            (is_upper, !is_upper && q >= self.limit_stops_lower)
        } else {
            (limit_stop_state > S::zero(), limit_stop_state == S::zero())
        };
        if is_between {
            return Pull::zero();
        }
        let (stop, stiffness, damper) = self.stop(is_upper);
        let outward = S::lit(if is_upper { 1.0 } else { -1.0 });
        let (mut depth, rate) = (outward * (q - stop), outward * v);
        // Neither the elastic force nor the sum of a stop that only pushes may be negative.
        if self.limit_stops_only_push {
            depth = depth.max(S::zero());
        }
        let [share, energy] =
            if width > S::zero() { share(depth, width) } else { [S::lit(1.0), S::lit(0.5) * depth * depth] };
        let elastic = stiffness * share * depth;
        let mut damping = damper * share * rate;
        if self.limit_stops_only_push {
            damping = damping.max(-elastic);
        }
        Pull {
            tension: outward * (elastic + damping),
            potential_energy: stiffness * energy,
            power_dissipated: damping * rate,
            ..Pull::zero()
        }
    }

    /// The outward force of a stop that only pushes, less than zero where it would pull \[N\].
    pub(super) fn push(&self, q: S, v: S, is_upper: bool) -> S {
        let (stop, stiffness, damping) = self.stop(is_upper);
        let outward = S::lit(if is_upper { 1.0 } else { -1.0 });
        let depth = (outward * (q - stop)).max(S::zero());
        stiffness * depth + damping * (outward * v)
    }

    /// The displacement at which the stop on one side begins \[m\], its stiffness \[N/m\] and damping \[N·s/m\].
    fn stop(&self, is_upper: bool) -> (S, S, S) {
        if is_upper {
            (self.limit_stops_upper, self.limit_stops_upper_stiffness, self.limit_stops_upper_damping)
        } else {
            (self.limit_stops_lower, self.limit_stops_lower_stiffness, self.limit_stops_lower_damping)
        }
    }

    /// The limit-stop state at this displacement \[m\]; zero without stops, and with smooth ones.
    pub(super) fn limit_stop_state(&self, q: S) -> S {
        if !self.use_limit_stops || self.limit_stops_transition > S::zero() {
            S::zero()
        } else if q > self.limit_stops_upper {
            q - self.limit_stops_upper
        } else if q < self.limit_stops_lower {
            q - self.limit_stops_lower
        } else {
            S::zero()
        }
    }

    /// The limit-stop state that matches a displacement, and the resulting change of the force \[N\].
    pub(super) fn switch_stop(&self, q: S, v: S, limit_stop_state: S) -> (S, S) {
        if !self.use_limit_stops {
            return (S::zero(), S::zero());
        }
        let next = self.limit_stop_state(q);
        if side_of(next) == side_of(limit_stop_state) || self.limit_stops_transition > S::zero() {
            return (next, S::zero());
        }
        // Spring and damper may cancel at the end of a step, or the stop may have let go, after pushing within the step.
        let missed = self.beyond(q, v, next, false);
        (next, missed + self.beyond(q, v, limit_stop_state, self.limit_stops_only_push))
    }

    /// The force of the stop that this state selects, if any, where it is entered or left: its push, or the sum of the
    /// magnitudes of spring and damper.
    fn beyond(&self, q: S, v: S, limit_stop_state: S, only_pushes: bool) -> S {
        if limit_stop_state == S::zero() {
            return S::zero();
        }
        let is_upper = limit_stop_state > S::zero();
        if only_pushes {
            return self.push(q, v, is_upper).max(S::zero());
        }
        let (stop, stiffness, damping) = self.stop(is_upper);
        stiffness * (q - stop).abs() + damping * v.abs()
    }
}

/// The stop that is surpassed by this distance: `Greater` for the upper one, `Less` for the lower one.
pub(super) fn side_of<S: Number>(limit_stop_state: S) -> Option<Ordering> {
    limit_stop_state.partial_cmp(&S::zero())
}

/// Returns the fraction of stiffness and damping with which a stop acts at a depth: from zero where the stop begins to
/// one at the end of the transition and beyond, with a continuous second derivative. Also returns the integral of
/// `share·x` over the depth \[m²\].
fn share<S: Number>(depth: S, width: S) -> [S; 2] {
    let y = depth / width;
    if y < S::lit(1.0) {
        let cubic = y * y * y;
        let share = cubic * (S::lit(10.0) - y * (S::lit(15.0) - S::lit(6.0) * y));
        let fifth = cubic * y * y;
        let energy = fifth * (S::lit(2.0) - y * (S::lit(2.5) - S::lit(6.0 / 7.0) * y));
        [share, energy * width * width]
    } else {
        [S::lit(1.0), S::lit(0.5) * depth * depth - width * width / S::lit(7.0)]
    }
}
