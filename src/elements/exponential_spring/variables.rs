//! Parameters and discrete variables of the exponential spring.

use nalgebra::{Point3, Vector2};

use crate::framework::Variables;
use crate::framework::variables::{
    Composite, Declared, Lift, Listed, Part, Slot, Value, Visitor, VisitorMut,
};
use crate::math::{InvalidValue, Real, check, checked_when_read};
use crate::variables;

variables! {
    /// The shape of the normal force, the friction spring, the coefficients of friction and the settle velocity.
    #[derive(Copy, Lift)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
    pub struct Parameters<T> {
        /// Shift of the exponential along the normal.
        pub d0: T ["m"] = 0.006_590_5, finite => Dynamics;
        /// Scale of the normal force.
        pub d1: T ["N"] = 0.5336, positive => Dynamics;
        /// Steepness of the exponential.
        pub d2: T ["1/m"] = 1150.0, positive => Dynamics;
        /// Normal viscosity `cz`; with zero no energy is lost along the normal.
        pub normal_viscosity: T ["s/m"] = 0.5, nonnegative => Dynamics;
        /// The maximum normal force: the clamp.
        pub max_normal_force: T ["N"] = 100_000.0, positive => Dynamics;
        /// Elasticity `kxy` of the friction spring.
        pub friction_elasticity: T ["N/m"] = 20_000.0, positive => Dynamics;
        /// Viscosity `cxy` of the friction spring. The default damps 1 kg on the default elasticity
        /// critically. With zero, a held station vibrates without decay.
        pub friction_viscosity: T ["N·s/m"] = 282.842_712_474_619, nonnegative => Dynamics;
        /// Speed of the anchor below which friction settles from kinetic to static; with return mapping, of the station, if
        /// the anchor is not dragged along.
        pub settle_velocity: T ["m/s"] = 0.01, positive => Dynamics;
        /// With return mapping, the speed up to which a held station that is dragged keeps static friction. With zero it
        /// lets go at once.
        pub release_velocity: T ["m/s"], nonnegative => Dynamics;
        /// Coefficient of static friction, at least `mu_kinetic`. There is no upper bound.
        pub mu_static: T = 0.7, nonnegative => Dynamics;
        /// Coefficient of kinetic friction.
        pub mu_kinetic: T = 0.5, nonnegative => Dynamics;
        /// The transition between holding and sliding.
        pub friction_transition: FrictionTransition => Dynamics;
    }
    couple |p, written| match written {
        "mu_static" => p.set_mu_static(p.mu_static),
        "mu_kinetic" => p.set_mu_kinetic(p.mu_kinetic),
        _ => {}
    };
    check |p| check::at_most("mu_kinetic", p.mu_kinetic, "mu_static", p.mu_static);
}

checked_when_read!(Parameters);

variables! {
    /// Memory of the spring: the anchor and Sliding.
    #[derive(Copy, Lift)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
    pub struct Discrete<T> {
        /// The anchor `p0`, the zero of the friction spring, in the plane.
        pub anchor_P: Vector2<T> ["m"], finite => Dynamics;
        /// Sliding: from 0, fixed in place, to 1, sliding. With return mapping it is one of the two.
        pub sliding: T = 1.0, fraction => Dynamics;
        /// Time of the last commit.
        pub last_update: T ["s"], finite => Dynamics;
        /// The station at the last commit, in the plane's frame; `None` before the first.
        pub last_station: Option<Point3<T>> ["m"], finite => Dynamics;
        /// With return mapping, the velocity of the station at the last commit, in the plane.
        pub last_velocity_P: Vector2<T> ["m/s"], finite => Dynamics;
        /// With return mapping, the speed of the station at the last commit less that at which the damper alone is at the
        /// limit, if the friction spring was slack; otherwise zero.
        pub overspeed: T ["m/s"], nonnegative => Dynamics;
    }
}

checked_when_read!(Discrete);

/// The transition between holding and sliding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FrictionTransition {
    /// The anchor holds up to static friction, and is dragged along under kinetic friction until the station rests.
    #[default]
    ReturnMapping,
    /// Sliding settles from step to step as the anchor slows down: the law as published.
    Settling,
}

/// The flag `return_mapping`.
impl<T: Real> Listed<T, Composite> for FrictionTransition {
    fn neutral() -> Self {
        Self::default()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let name = field.name;
        let flag = Declared { name: format_args!("{name}.return_mapping"), ..field };
        visit(flag.flag(Value::Flag(*self == Self::ReturnMapping)));
    }
}

impl<T: Real> Part<T, Composite> for FrictionTransition {
    type Literal = Self;

    fn literal(literal: Self) -> Self {
        literal
    }
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        let name = field.name;
        let flag = Declared { name: format_args!("{name}.return_mapping"), ..field };
        let mut return_mapping = *self == Self::ReturnMapping;
        visit(flag.flag(Slot::Flag(&mut return_mapping)));
        *self = if return_mapping { Self::ReturnMapping } else { Self::Settling };
    }
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl<T, S> Lift<T, S, Composite> for FrictionTransition {
    type Lifted = Self;
    #[inline]
    fn lift(&self, _: &mut impl FnMut(T) -> S) -> Self {
        *self
    }
    const COUNT: usize = 0;
}

impl<T: Real> Parameters<T> {
    /// With this friction elasticity `kxy` \[N/m\] and the viscosity `2·√(kxy·mass)` that damps it
    /// critically for a mass \[kg\].
    #[must_use]
    pub fn with_critical_damping(self, friction_elasticity: T, mass: T) -> Self {
        let friction_viscosity = T::lit(2.0) * (friction_elasticity * mass).sqrt();
        Self { friction_elasticity, friction_viscosity, ..self }
    }

    /// Sets the coefficient of static friction; lowers the kinetic one to it if need be.
    pub fn set_mu_static(&mut self, mu_static: T) {
        self.mu_static = mu_static;
        self.mu_kinetic = self.mu_kinetic.min(mu_static);
    }

    /// Sets the coefficient of kinetic friction; raises the static one to it if need be.
    pub fn set_mu_kinetic(&mut self, mu_kinetic: T) {
        self.mu_kinetic = mu_kinetic;
        self.mu_static = self.mu_static.max(mu_kinetic);
    }

    /// The height at which a spring at rest carries this load \[m\], `d0 − ln(load/d1)/d2`.
    ///
    /// If `n` springs share the weight of a body evenly, the load of each is an `n`-th. At the clamp the result
    /// is the highest of the heights that carry the load.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the load is greater than zero and at most
    /// [`max_normal_force`](Self::max_normal_force), or for parameters out of range.
    pub fn resting_height(&self, load: T) -> Result<T, InvalidValue> {
        self.validate()?;
        check::positive("load", load)?;
        check::at_most("load", load, "max_normal_force", self.max_normal_force)?;
        // Not the logarithm of a quotient, which may overflow or underflow.
        let height = self.d0 - (load.ln() - self.d1.ln()) / self.d2;
        check::finite("resting height", height)?;
        Ok(height)
    }
}
