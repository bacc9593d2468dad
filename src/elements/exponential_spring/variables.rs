//! Parameters and discrete variables of the exponential spring.

use nalgebra::{Point3, Vector2};

use crate::framework::variables::{Variables, Visitor, visit_flag, visit_option, visit_vector};
use crate::math::{InvalidValue, Real, check};

/// The shape of the normal force, the friction spring, and the settle velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameters<T: Real> {
    /// Shifts the exponential along the normal \[m\]; any finite value.
    pub d0: T,
    /// Scales the normal force \[N\], greater than zero.
    pub d1: T,
    /// Steepness of the exponential \[1/m\], greater than zero.
    pub d2: T,
    /// Normal viscosity `cz` \[s/m\], at least zero; zero loses no energy along the normal.
    pub normal_viscosity: T,
    /// Where the normal force is clamped \[N\], greater than zero.
    pub max_normal_force: T,
    /// Elasticity `kxy` of the friction spring \[N/m\], greater than zero.
    pub friction_elasticity: T,
    /// Viscosity `cxy` of the friction spring \[N·s/m\], at least zero. With zero, a station that is
    /// held vibrates in place for ever.
    pub friction_viscosity: T,
    /// Speed of the anchor, with return mapping of the station, below which friction settles from kinetic
    /// to static \[m/s\], greater than zero.
    pub settle_velocity: T,
    /// How friction passes between holding and sliding.
    pub friction_transition: FrictionTransition,
}

/// How friction passes between holding and sliding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FrictionTransition {
    /// By a Sliding that settles as the anchor slows down, from step to step: the reference's law.
    #[default]
    Settling,
    /// By moving the anchor just as far as the friction limit demands, whatever the step.
    ReturnMapping,
}

/// What the spring remembers: the coefficients of friction, the anchor and Sliding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discrete<T: Real> {
    /// Coefficient of static friction, at least `mu_kinetic`.
    pub mu_static: T,
    /// Coefficient of kinetic friction, at least zero.
    pub mu_kinetic: T,
    /// The anchor `p0`, the zero of the friction spring, in the plane \[m\].
    pub anchor_P: Vector2<T>,
    /// Sliding: from 0, fixed in place, to 1, sliding.
    pub sliding: T,
    /// When anchor and Sliding were committed last \[s\].
    pub last_update: T,
    /// Where the station was then, in the plane's frame \[m\]; `None` before the first commit.
    pub last_station: Option<Point3<T>>,
}

impl<T: Real> Default for Parameters<T> {
    fn default() -> Self {
        Self {
            d0: T::lit(0.006_590_5),
            d1: T::lit(0.5336),
            d2: T::lit(1150.0),
            normal_viscosity: T::lit(0.5),
            max_normal_force: T::lit(100_000.0),
            friction_elasticity: T::lit(20_000.0),
            friction_viscosity: critical_viscosity(T::lit(20_000.0), T::one()),
            settle_velocity: T::lit(0.01),
            friction_transition: FrictionTransition::Settling,
        }
    }
}

/// The viscosity that damps a mass on a spring critically \[N·s/m\].
fn critical_viscosity<T: Real>(elasticity: T, mass: T) -> T {
    T::lit(2.0) * (elasticity * mass).sqrt()
}

impl<T: Real> Parameters<T> {
    /// With this shape of the normal force: `d1·exp(−d2·(height − d0))`.
    #[must_use]
    pub fn with_shape(self, d0: T, d1: T, d2: T) -> Self {
        Self { d0, d1, d2, ..self }
    }

    /// With this normal viscosity `cz` \[s/m\].
    #[must_use]
    pub fn with_normal_viscosity(self, normal_viscosity: T) -> Self {
        Self { normal_viscosity, ..self }
    }

    /// With this clamp of the normal force \[N\].
    #[must_use]
    pub fn with_max_normal_force(self, max_normal_force: T) -> Self {
        Self { max_normal_force, ..self }
    }

    /// With this friction elasticity `kxy` \[N/m\].
    #[must_use]
    pub fn with_friction_elasticity(self, friction_elasticity: T) -> Self {
        Self { friction_elasticity, ..self }
    }

    /// With this friction viscosity `cxy` \[N·s/m\].
    #[must_use]
    pub fn with_friction_viscosity(self, friction_viscosity: T) -> Self {
        Self { friction_viscosity, ..self }
    }

    /// With this friction elasticity `kxy` \[N/m\] and the viscosity `2·√(kxy·mass)` that damps it
    /// critically for a mass \[kg\].
    #[must_use]
    pub fn with_critical_damping(self, friction_elasticity: T, mass: T) -> Self {
        let friction_viscosity = critical_viscosity(friction_elasticity, mass);
        Self { friction_elasticity, friction_viscosity, ..self }
    }

    /// With this settle velocity \[m/s\].
    #[must_use]
    pub fn with_settle_velocity(self, settle_velocity: T) -> Self {
        Self { settle_velocity, ..self }
    }

    /// With this passage between holding and sliding.
    #[must_use]
    pub fn with_friction_transition(self, friction_transition: FrictionTransition) -> Self {
        Self { friction_transition, ..self }
    }

    /// The height at which a spring at rest carries this load \[m\], `d0 − ln(load/d1)/d2`: where a station of a
    /// body is to be so that it neither rises nor sinks.
    ///
    /// Of a body on `n` springs that share its weight evenly, the load of one is an `n`-th. At the clamp itself it
    /// is the highest of the heights that carry it.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the load is greater than zero, as the force is at
    /// any height, and at most [`max_normal_force`](Self::max_normal_force); and for parameters out of range.
    pub fn resting_height(&self, load: T) -> Result<T, InvalidValue> {
        self.validate()?;
        check::positive("load", load)?;
        check::at_most("load", load, "max_normal_force", self.max_normal_force)?;
        // Not the logarithm of a quotient, which may overflow or vanish.
        let height = self.d0 - (load.ln() - self.d1.ln()) / self.d2;
        check::finite("resting height", height)?;
        Ok(height)
    }

    /// The same parameters in another scalar.
    pub fn cast<U: Real>(&self) -> Parameters<U> {
        Parameters {
            d0: self.d0.cast(),
            d1: self.d1.cast(),
            d2: self.d2.cast(),
            normal_viscosity: self.normal_viscosity.cast(),
            max_normal_force: self.max_normal_force.cast(),
            friction_elasticity: self.friction_elasticity.cast(),
            friction_viscosity: self.friction_viscosity.cast(),
            settle_velocity: self.settle_velocity.cast(),
            friction_transition: self.friction_transition,
        }
    }
}

impl<T: Real> Discrete<T> {
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

    /// The same variables in another scalar.
    pub fn cast<U: Real>(&self) -> Discrete<U> {
        Discrete {
            mu_static: self.mu_static.cast(),
            mu_kinetic: self.mu_kinetic.cast(),
            anchor_P: self.anchor_P.map(T::cast),
            sliding: self.sliding.cast(),
            last_update: self.last_update.cast(),
            last_station: self.last_station.map(|p| p.map(T::cast)),
        }
    }
}

impl<T: Real> Variables<T> for Parameters<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        for (name, value) in [
            ("d0", &mut self.d0),
            ("d1", &mut self.d1),
            ("d2", &mut self.d2),
            ("normal_viscosity", &mut self.normal_viscosity),
            ("max_normal_force", &mut self.max_normal_force),
            ("friction_elasticity", &mut self.friction_elasticity),
            ("friction_viscosity", &mut self.friction_viscosity),
            ("settle_velocity", &mut self.settle_velocity),
        ] {
            visit(format_args!("{name}"), value);
        }
        let mut return_mapping = self.friction_transition == FrictionTransition::ReturnMapping;
        visit_flag("friction_transition.return_mapping", &mut return_mapping, visit);
        self.friction_transition =
            if return_mapping { FrictionTransition::ReturnMapping } else { FrictionTransition::Settling };
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        check::finite("d0", self.d0)?;
        check::positive("d1", self.d1)?;
        check::positive("d2", self.d2)?;
        check::nonnegative("normal_viscosity", self.normal_viscosity)?;
        check::positive("max_normal_force", self.max_normal_force)?;
        check::positive("friction_elasticity", self.friction_elasticity)?;
        check::nonnegative("friction_viscosity", self.friction_viscosity)?;
        check::positive("settle_velocity", self.settle_velocity)
    }
}

impl<T: Real> Variables<T> for Discrete<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit(format_args!("mu_static"), &mut self.mu_static);
        visit(format_args!("mu_kinetic"), &mut self.mu_kinetic);
        visit_vector(format_args!("anchor"), &mut self.anchor_P, visit);
        visit(format_args!("sliding"), &mut self.sliding);
        visit(format_args!("last_update"), &mut self.last_update);
        visit_option("last_station", &mut self.last_station, Point3::origin(), visit, |p, visit| {
            visit_vector(format_args!("last_station"), &mut p.coords, visit);
        });
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        check::nonnegative("mu_static", self.mu_static)?;
        check::nonnegative("mu_kinetic", self.mu_kinetic)?;
        check::at_most("mu_kinetic", self.mu_kinetic, "mu_static", self.mu_static)?;
        check::finite("anchor.x", self.anchor_P.x)?;
        check::finite("anchor.y", self.anchor_P.y)?;
        check::fraction("sliding", self.sliding)?;
        check::finite("last_update", self.last_update)?;
        self.last_station.map_or(Ok(()), |p| check::finite_vector("last_station", &p.coords))
    }

    fn couple(&mut self, written: &str) {
        match written {
            "mu_static" => self.set_mu_static(self.mu_static),
            "mu_kinetic" => self.set_mu_kinetic(self.mu_kinetic),
            _ => {}
        }
    }
}
