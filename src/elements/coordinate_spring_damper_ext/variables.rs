//! Parameters and discrete variables of the extended coordinate spring-damper.

use crate::framework::variables::{Variables, Visitor, visit_flag};
use crate::math::{InvalidValue, Real, Requirement, check};

/// Spring, damper, friction and stops. Written for a translation; for a rotation read N as N·m and
/// m as rad.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameters<T: Real> {
    /// Stiffness `k` of the spring \[N/m\].
    pub stiffness: T,
    /// Damping `d` \[N·s/m\].
    pub damping: T,
    /// Displacement `x_off` at which the spring is at rest \[m\]; may be a prescribed position.
    pub offset: T,
    /// Velocity `v_off` at which the damper is at rest \[m/s\]; may be a prescribed velocity.
    pub velocity_offset: T,
    /// Factor `f0` on coordinate 0; 1 by default.
    pub factor0: T,
    /// Factor `f1` on coordinate 1; 1 by default.
    pub factor1: T,
    /// Dynamic friction force `f_d` \[N\], at least zero.
    pub dynamic_friction: T,
    /// What static friction exceeds dynamic friction by, `f_so` \[N\], at least zero.
    pub static_friction_offset: T,
    /// Stiffness `k_μ` of the bristles while they stick \[N/m\], at least zero. Where bristles act (`v_reg = 0`, and
    /// `f_d` or `f_so` above zero), greater than zero unless `d_μ` is: else they would never slip. Set by
    /// name, one after the other, this one comes first.
    pub sticking_stiffness: T,
    /// Damping `d_μ` of the bristles while they stick \[N·s/m\], at least zero.
    pub sticking_damping: T,
    /// Velocity `v_exp` at which the static offset has fallen to 1/e \[m/s\], greater than zero;
    /// 0.001 by default.
    pub exponential_decay_static: T,
    /// Viscous friction `f_v` while sliding \[N·s/m\]. With `v_reg = 0` it acts only where `f_d` or `f_so` is
    /// above zero.
    pub viscous_friction: T,
    /// Half-width `v_reg` of the zone in which friction is proportional to velocity \[m/s\], at
    /// least zero; zero, the default, selects bristles.
    pub friction_proportional_zone: T,
    /// Displacement `s_upper` of the upper stop \[m\].
    pub limit_stops_upper: T,
    /// Displacement `s_lower` of the lower stop \[m\], at most that of the upper one.
    pub limit_stops_lower: T,
    /// Stiffness `k_l` of the stops \[N/m\], at least zero.
    pub limit_stops_stiffness: T,
    /// Damping `d_l` of the stops \[N·s/m\], at least zero.
    pub limit_stops_damping: T,
    /// Whether there are stops; not by default.
    pub use_limit_stops: bool,
    /// Whether a stop only ever pushes. By default its damping may make it pull on rebound.
    pub limit_stops_only_push: bool,
}

/// What friction and stops remember.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discrete<T: Real> {
    /// Zero while the bristles stick; else the slip force \[N\], with the sign of the slip. Of a slip force
    /// that has decayed to nothing 2e-14 of the greatest one is kept (in `f64`), since zero would stick.
    pub friction_mode: T,
    /// Displacement at which the bristles stuck last \[m\]; while they slip, that of the last update.
    pub last_sticking_position: T,
    /// How far a stop is surpassed \[m\]: above zero the upper one, below zero the lower one, zero
    /// none.
    pub limit_stop_state: T,
    /// Energy stored in bristles that slip \[J\], at least zero. No force depends on it.
    pub bristle_energy: T,
}

impl<T: Real> Default for Parameters<T> {
    fn default() -> Self {
        let zero = T::zero();
        Self {
            stiffness: zero,
            damping: zero,
            offset: zero,
            velocity_offset: zero,
            factor0: T::one(),
            factor1: T::one(),
            dynamic_friction: zero,
            static_friction_offset: zero,
            sticking_stiffness: zero,
            sticking_damping: zero,
            exponential_decay_static: T::lit(1e-3),
            viscous_friction: zero,
            friction_proportional_zone: zero,
            limit_stops_upper: zero,
            limit_stops_lower: zero,
            limit_stops_stiffness: zero,
            limit_stops_damping: zero,
            use_limit_stops: false,
            limit_stops_only_push: false,
        }
    }
}

impl<T: Real> Default for Discrete<T> {
    fn default() -> Self {
        let zero = T::zero();
        Self {
            friction_mode: zero,
            last_sticking_position: zero,
            limit_stop_state: zero,
            bristle_energy: zero,
        }
    }
}

impl<T: Real> Parameters<T> {
    /// The same parameters in another scalar.
    pub fn cast<U: Real>(&self) -> Parameters<U> {
        Parameters {
            stiffness: self.stiffness.cast(),
            damping: self.damping.cast(),
            offset: self.offset.cast(),
            velocity_offset: self.velocity_offset.cast(),
            factor0: self.factor0.cast(),
            factor1: self.factor1.cast(),
            dynamic_friction: self.dynamic_friction.cast(),
            static_friction_offset: self.static_friction_offset.cast(),
            sticking_stiffness: self.sticking_stiffness.cast(),
            sticking_damping: self.sticking_damping.cast(),
            exponential_decay_static: self.exponential_decay_static.cast(),
            viscous_friction: self.viscous_friction.cast(),
            friction_proportional_zone: self.friction_proportional_zone.cast(),
            limit_stops_upper: self.limit_stops_upper.cast(),
            limit_stops_lower: self.limit_stops_lower.cast(),
            limit_stops_stiffness: self.limit_stops_stiffness.cast(),
            limit_stops_damping: self.limit_stops_damping.cast(),
            use_limit_stops: self.use_limit_stops,
            limit_stops_only_push: self.limit_stops_only_push,
        }
    }
}

impl<T: Real> Discrete<T> {
    /// The same with bristles that stick.
    pub(super) fn stuck(&self) -> Self {
        Self { friction_mode: T::zero(), bristle_energy: T::zero(), ..*self }
    }

    /// The same variables in another scalar.
    pub fn cast<U: Real>(&self) -> Discrete<U> {
        Discrete {
            friction_mode: self.friction_mode.cast(),
            last_sticking_position: self.last_sticking_position.cast(),
            limit_stop_state: self.limit_stop_state.cast(),
            bristle_energy: self.bristle_energy.cast(),
        }
    }
}

impl<T: Real> Variables<T> for Parameters<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        for (name, value) in [
            ("stiffness", &mut self.stiffness),
            ("damping", &mut self.damping),
            ("offset", &mut self.offset),
            ("velocity_offset", &mut self.velocity_offset),
            ("factor0", &mut self.factor0),
            ("factor1", &mut self.factor1),
            ("dynamic_friction", &mut self.dynamic_friction),
            ("static_friction_offset", &mut self.static_friction_offset),
            ("sticking_stiffness", &mut self.sticking_stiffness),
            ("sticking_damping", &mut self.sticking_damping),
            ("exponential_decay_static", &mut self.exponential_decay_static),
            ("viscous_friction", &mut self.viscous_friction),
            ("friction_proportional_zone", &mut self.friction_proportional_zone),
            ("limit_stops_upper", &mut self.limit_stops_upper),
            ("limit_stops_lower", &mut self.limit_stops_lower),
            ("limit_stops_stiffness", &mut self.limit_stops_stiffness),
            ("limit_stops_damping", &mut self.limit_stops_damping),
        ] {
            visit(format_args!("{name}"), value);
        }
        visit_flag("use_limit_stops", &mut self.use_limit_stops, visit);
        visit_flag("limit_stops_only_push", &mut self.limit_stops_only_push, visit);
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        check::finite("stiffness", self.stiffness)?;
        check::finite("damping", self.damping)?;
        check::finite("offset", self.offset)?;
        check::finite("velocity_offset", self.velocity_offset)?;
        check::finite("factor0", self.factor0)?;
        check::finite("factor1", self.factor1)?;
        check::nonnegative("dynamic_friction", self.dynamic_friction)?;
        check::nonnegative("static_friction_offset", self.static_friction_offset)?;
        check::nonnegative("sticking_stiffness", self.sticking_stiffness)?;
        check::nonnegative("sticking_damping", self.sticking_damping)?;
        check::positive("exponential_decay_static", self.exponential_decay_static)?;
        check::finite("viscous_friction", self.viscous_friction)?;
        check::nonnegative("friction_proportional_zone", self.friction_proportional_zone)?;
        check::finite("limit_stops_upper", self.limit_stops_upper)?;
        check::finite("limit_stops_lower", self.limit_stops_lower)?;
        let (lower, upper) = (self.limit_stops_lower, self.limit_stops_upper);
        check::at_most("limit_stops_lower", lower, "limit_stops_upper", upper)?;
        check::nonnegative("limit_stops_stiffness", self.limit_stops_stiffness)?;
        check::nonnegative("limit_stops_damping", self.limit_stops_damping)?;
        // Bristles that give no force while they stick never let go: no friction, for ever.
        let bristles_can_act =
            !self.has_bristles() || self.sticking_stiffness > T::zero() || self.sticking_damping > T::zero();
        let stiffness = self.sticking_stiffness;
        check::that(bristles_can_act, "sticking_stiffness", stiffness, Requirement::Positive)
    }
}

impl<T: Real> Variables<T> for Discrete<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit(format_args!("friction_mode"), &mut self.friction_mode);
        visit(format_args!("last_sticking_position"), &mut self.last_sticking_position);
        visit(format_args!("limit_stop_state"), &mut self.limit_stop_state);
        visit(format_args!("bristle_energy"), &mut self.bristle_energy);
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        check::finite("friction_mode", self.friction_mode)?;
        check::finite("last_sticking_position", self.last_sticking_position)?;
        check::finite("limit_stop_state", self.limit_stop_state)?;
        check::nonnegative("bristle_energy", self.bristle_energy)
    }
}
