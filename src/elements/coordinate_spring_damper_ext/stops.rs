//! Limit stops: the switched ones of the reference, and smooth ones.

use crate::elements::coordinate_spring_damper_ext::Parameters;
use crate::elements::coordinate_spring_damper_ext::law::Part;
use crate::math::Real;

/// The stop on one side.
struct Stop<T> {
    /// Displacement at which it begins \[m\].
    position: T,
    /// \[N/m\]
    stiffness: T,
    /// \[N·s/m\]
    damping: T,
}

impl<T: Real> Parameters<T> {
    /// The force of the stops: where they are smooth that of the displacement, else that of the stop that the
    /// limit-stop state selects.
    #[inline]
    pub(super) fn contact(&self, q: T, v: T, limit_stop_state: T) -> Part<T> {
        if !self.use_limit_stops {
            Part::none()
        } else if self.limit_stops_transition > T::zero() {
            self.smooth_contact(q, v)
        } else if limit_stop_state == T::zero() {
            Part::none()
        } else {
            self.switched_contact(q, v, limit_stop_state)
        }
    }

    fn switched_contact(&self, q: T, v: T, limit_stop_state: T) -> Part<T> {
        let stop = self.stop(limit_stop_state > T::zero());
        let mut depth = q - stop.position;
        let mut damping = stop.damping * v;
        if self.limit_stops_only_push {
            // Measured outward, neither the elastic force nor the sum may be negative.
            let outward = limit_stop_state.signum();
            depth = outward * (outward * depth).max(T::zero());
            let elastic = stop.stiffness * depth;
            damping = outward * (outward * damping).max(-(outward * elastic));
        }
        let elastic = stop.stiffness * depth;
        Part { force: elastic + damping, energy: T::lit(0.5) * elastic * depth, loss: damping * v }
    }

    fn smooth_contact(&self, q: T, v: T) -> Part<T> {
        let is_upper = q > self.limit_stops_upper;
        if !is_upper && q >= self.limit_stops_lower {
            return Part::none();
        }
        let stop = self.stop(is_upper);
        let outward = if is_upper { T::one() } else { -T::one() };
        let (depth, width) = (outward * (q - stop.position), self.limit_stops_transition);
        let Share { share, energy } = Share::at(depth, width);
        let elastic = stop.stiffness * share * depth;
        let mut damping = stop.damping * share * (outward * v);
        if self.limit_stops_only_push {
            damping = damping.max(-elastic);
        }
        Part {
            force: outward * (elastic + damping),
            energy: stop.stiffness * energy,
            loss: damping * (outward * v),
        }
    }

    fn stop(&self, is_upper: bool) -> Stop<T> {
        if is_upper {
            Stop {
                position: self.limit_stops_upper,
                stiffness: self.limit_stops_upper_stiffness,
                damping: self.limit_stops_upper_damping,
            }
        } else {
            Stop {
                position: self.limit_stops_lower,
                stiffness: self.limit_stops_lower_stiffness,
                damping: self.limit_stops_lower_damping,
            }
        }
    }

    /// The limit-stop state at this displacement \[m\]; zero without stops, and with smooth ones.
    pub(super) fn limit_stop_state(&self, q: T) -> T {
        if !self.use_limit_stops || self.limit_stops_transition > T::zero() {
            T::zero()
        } else if q > self.limit_stops_upper {
            q - self.limit_stops_upper
        } else if q < self.limit_stops_lower {
            q - self.limit_stops_lower
        } else {
            T::zero()
        }
    }

    /// The limit-stop state that fits a displacement, and by how much the force thereby changes \[N\].
    pub(super) fn switch_stop(&self, q: T, limit_stop_state: T) -> (T, T) {
        if !self.use_limit_stops {
            return (limit_stop_state, T::zero());
        }
        let next = self.limit_stop_state(q);
        let force = |state: T| self.stop(state > T::zero()).stiffness * state.abs();
        let switched = next.partial_cmp(&T::zero()) != limit_stop_state.partial_cmp(&T::zero());
        let is_felt = switched && self.limit_stops_transition == T::zero();
        (next, if is_felt { force(next).max(force(limit_stop_state)) } else { T::zero() })
    }
}

/// How far into its transition a stop acts.
struct Share<T> {
    /// The share of stiffness and damping: zero where the stop begins, one from the end of the transition on, with a
    /// continuous second derivative.
    share: T,
    /// The integral of `share·x` over the depth \[m²\].
    energy: T,
}

impl<T: Real> Share<T> {
    fn at(depth: T, width: T) -> Self {
        let y = depth / width;
        if y < T::one() {
            let cubic = y * y * y;
            let share = cubic * (T::lit(10.0) - y * (T::lit(15.0) - T::lit(6.0) * y));
            let fifth = cubic * y * y;
            let energy = fifth * (T::lit(2.0) - y * (T::lit(2.5) - T::lit(6.0 / 7.0) * y));
            Self { share, energy: energy * width * width }
        } else {
            let energy = T::lit(0.5) * depth * depth - width * width / T::lit(7.0);
            Self { share: T::one(), energy }
        }
    }
}
