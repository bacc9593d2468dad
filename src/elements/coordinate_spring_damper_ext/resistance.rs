//! The largest stiffness and damping of the law, by which a host chooses its step.

use crate::elements::coordinate_spring_damper_ext::Parameters;
use crate::math::Real;

/// Bounds on the slopes of the force.
pub(super) struct Resistance {
    /// Over displacement \[N/m\].
    pub(super) stiffness: f64,
    /// Over velocity \[N·s/m\].
    pub(super) damping: f64,
}

/// The largest slope of `y·S(y)`, at `y = 2/3` of the transition of a smooth stop.
const STEEPEST: f64 = 16.0 / 9.0;

impl<T: Real> Parameters<T> {
    /// Spring, friction at the present load, and the stiffer stop together.
    pub(super) fn resistance(&self) -> Resistance {
        let mut stiffness = self.stiffness.to_f64().max(0.0);
        let mut damping = self.damping.to_f64().max(0.0);
        if self.has_bristles() {
            stiffness += self.sticking_stiffness.to_f64();
            damping += self.sticking_damping.to_f64().max(self.viscous_friction.to_f64());
        } else if self.friction_proportional_zone > T::zero() {
            let within = self.holding_force() / self.friction_proportional_zone;
            damping += within.to_f64().max(self.viscous_friction.to_f64());
        }
        if self.use_limit_stops {
            let most = |a: T, b: T| a.max(b).to_f64();
            let steepest = if self.limit_stops_transition > T::zero() { STEEPEST } else { 1.0 };
            stiffness += steepest * most(self.limit_stops_upper_stiffness, self.limit_stops_lower_stiffness);
            damping += most(self.limit_stops_upper_damping, self.limit_stops_lower_damping);
        }
        Resistance { stiffness, damping }
    }
}
