//! Limit stops: the switched ones of the reference, and smooth ones.

use core::cmp::Ordering;

use crate::elements::coordinate_spring_damper_ext::Parameters;
use crate::elements::coordinate_spring_damper_ext::law::Part;
use crate::math::Algebraic;

impl<S: Algebraic> Parameters<S> {
    /// The force of the stops: that of the displacement if they are smooth, otherwise that of the stop selected by the
    /// limit-stop state.
    #[inline]
    pub(super) fn contact(&self, q: S, v: S, limit_stop_state: S) -> Part<S> {
        if !self.use_limit_stops {
            Part::none()
        } else if self.limit_stops_transition > S::zero() {
            self.smooth_contact(q, v)
        } else if limit_stop_state == S::zero() {
            Part::none()
        } else {
            self.switched_contact(q, v, limit_stop_state)
        }
    }

    fn switched_contact(&self, q: S, v: S, limit_stop_state: S) -> Part<S> {
        let (stop, stiffness, damper) = self.stop(limit_stop_state > S::zero());
        let mut depth = q - stop;
        let mut damping = damper * v;
        if self.limit_stops_only_push {
            // Measured outward, neither the elastic force nor the sum may be negative.
            let outward = S::lit(1.0).towards(limit_stop_state);
            depth = outward * (outward * depth).max(S::zero());
            let elastic = stiffness * depth;
            damping = outward * (outward * damping).max(-(outward * elastic));
        }
        let elastic = stiffness * depth;
        Part { force: elastic + damping, energy: S::lit(0.5) * elastic * depth, loss: damping * v }
    }

    /// The outward force of a stop that only pushes, less than zero where it would pull \[N\].
    pub(super) fn push(&self, q: S, v: S, is_upper: bool) -> S {
        let (stop, stiffness, damping) = self.stop(is_upper);
        let outward = if is_upper { S::lit(1.0) } else { -S::lit(1.0) };
        let depth = (outward * (q - stop)).max(S::zero());
        stiffness * depth + damping * (outward * v)
    }

    fn smooth_contact(&self, q: S, v: S) -> Part<S> {
        let is_upper = q > self.limit_stops_upper;
        if !is_upper && q >= self.limit_stops_lower {
            return Part::none();
        }
        let (stop, stiffness, damper) = self.stop(is_upper);
        let outward = if is_upper { S::lit(1.0) } else { -S::lit(1.0) };
        let [share, energy] = share(outward * (q - stop), self.limit_stops_transition);
        let elastic = stiffness * share * (outward * (q - stop));
        let mut damping = damper * share * (outward * v);
        if self.limit_stops_only_push {
            damping = damping.max(-elastic);
        }
        Part {
            force: outward * (elastic + damping),
            energy: stiffness * energy,
            loss: damping * (outward * v),
        }
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
        (next, self.entered(v, next) + self.left(q, v, limit_stop_state))
    }

    /// The force that was missing since this stop was entered, if one was. Spring and damper may cancel at the end of a
    /// step, or the stop may have let go, after pushing within the step.
    fn entered(&self, v: S, limit_stop_state: S) -> S {
        if limit_stop_state == S::zero() {
            return S::zero();
        }
        let (_, stiffness, damping) = self.stop(limit_stop_state > S::zero());
        stiffness * limit_stop_state.abs() + damping * v.abs()
    }

    /// The force of this stop beyond its end, if there is one.
    fn left(&self, q: S, v: S, limit_stop_state: S) -> S {
        if limit_stop_state == S::zero() {
            return S::zero();
        }
        let is_upper = limit_stop_state > S::zero();
        if self.limit_stops_only_push {
            return self.push(q, v, is_upper).max(S::zero());
        }
        let (stop, stiffness, damping) = self.stop(is_upper);
        stiffness * (q - stop).abs() + damping * v.abs()
    }
}

/// The stop that is surpassed by this distance: `Greater` for the upper one, `Less` for the lower one.
pub(super) fn side_of<S: Algebraic>(limit_stop_state: S) -> Option<Ordering> {
    limit_stop_state.partial_cmp(&S::zero())
}

/// How far a stop acts within its transition: the fraction of stiffness and damping, from zero where the stop begins to
/// one at the end of the transition and beyond, with a continuous second derivative; and the integral of `share·x` over
/// the depth \[m²\].
fn share<S: Algebraic>(depth: S, width: S) -> [S; 2] {
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
