//! Friction that depends on a transmitted force, which the host writes.

use crate::elements::coordinate_spring_damper_ext::{Discrete, Parameters};
use crate::math::{Algebraic, Real};

impl<S: Algebraic> Parameters<S> {
    /// Dynamic friction `f_d + μ_d·|N|` \[N\].
    pub(super) fn dynamic_force(&self) -> S {
        self.dynamic_friction + self.dynamic_friction_coefficient * self.friction_load.abs()
    }

    /// Excess `f_so + μ_so·|N|` of static over dynamic friction \[N\].
    pub(super) fn static_offset_force(&self) -> S {
        self.static_friction_offset + self.static_friction_offset_coefficient * self.friction_load.abs()
    }

    /// The force up to which bristles stick \[N\].
    pub(super) fn holding_force(&self) -> S {
        self.dynamic_force() + self.static_offset_force()
    }

    /// Whether there is friction, at some load.
    pub(super) fn has_friction(&self) -> bool {
        [
            self.dynamic_friction,
            self.static_friction_offset,
            self.dynamic_friction_coefficient,
            self.static_friction_offset_coefficient,
        ]
        .iter()
        .any(|constant| *constant != S::zero())
    }
}

impl<S: Algebraic> Discrete<S> {
    /// Bristles that carry no load: they slip without force, follow the velocity, and hold no energy. Their mode only
    /// states the direction of friction until the next commit.
    pub(super) fn unloaded(&self, q: S, v: S) -> Self {
        let friction_mode = S::of(S::Scalar::negligible()).towards(v);
        Self { friction_mode, last_sticking_position: q, bristle_energy: S::zero(), ..*self }
    }
}
