//! Parameters of the contact, and what they follow from.

use nalgebra::ComplexField;

use crate::elements::contact_design::ContactDesign;
use crate::elements::contact_law::{Coefficients, ContactLaw};
use crate::framework::variables::Variables as _;
use crate::math::{Algebraic, InvalidValue, Real, Requirement, check, checked_when_read};
use crate::variables;

variables! {
    /// Stiffness, dissipation and friction of two materials in contact.
    #[derive(Copy, Lift)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
    pub struct Parameters<T> {
        /// Effective modulus `E*` of both materials.
        pub effective_modulus: T ["Pa"], nonnegative => Position;
        /// Dissipation `c`.
        pub dissipation: T ["s/m"], nonnegative => Dynamics;
        /// Coefficient of static friction `μ_s`.
        pub static_friction: T, nonnegative => Dynamics;
        /// Coefficient of dynamic friction `μ_d`, at most `μ_s`.
        pub dynamic_friction: T, nonnegative => Dynamics;
        /// Coefficient of viscous friction `μ_v`.
        pub viscous_friction: T ["s/m"], nonnegative => Dynamics;
        /// Transition velocity `v_t` of friction.
        pub transition_velocity: T ["m/s"] = 0.01, squarable => Dynamics;
    }
    check |p| check::at_most("dynamic_friction", p.dynamic_friction, "static_friction", p.static_friction);
}

checked_when_read!(Parameters);

/// An isotropic elastic material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elastic<T: Real> {
    /// Young's modulus `E` \[Pa\].
    pub youngs_modulus: T,
    /// Poisson's ratio `ν`.
    pub poissons_ratio: T,
}

impl<T: Real> Elastic<T> {
    /// `(1 − ν²)/E`.
    fn compliance(self) -> Result<T, InvalidValue> {
        let Self { youngs_modulus, poissons_ratio } = self;
        check::positive("youngs_modulus", youngs_modulus)?;
        check::nonnegative("poissons_ratio", poissons_ratio)?;
        check::at_most("poissons_ratio", poissons_ratio, "0.5", T::lit(0.5))?;
        Ok((T::one() - poissons_ratio * poissons_ratio) / youngs_modulus)
    }
}

impl<T: Real> Parameters<T> {
    /// Two elastic bodies, without dissipation or friction.
    ///
    /// # Errors
    /// [`InvalidValue`] unless moduli are positive and Poisson's ratios between zero and a half.
    pub fn of_elastic(one: Elastic<T>, other: Elastic<T>) -> Result<Self, InvalidValue> {
        Self::of_compliance(one.compliance()? + other.compliance()?)
    }

    /// An elastic body and a rigid one, without dissipation or friction.
    ///
    /// # Errors
    /// As [`of_elastic`](Self::of_elastic).
    pub fn against_rigid(elastic: Elastic<T>) -> Result<Self, InvalidValue> {
        Self::of_compliance(elastic.compliance()?)
    }

    fn of_compliance(compliance: T) -> Result<Self, InvalidValue> {
        let effective_modulus = compliance.recip();
        check::that(
            effective_modulus.is_finite() && effective_modulus > T::zero(),
            "effective_modulus",
            effective_modulus,
            Requirement::Positive,
        )?;
        Ok(Self { effective_modulus, ..Self::default() })
    }

    /// A ball of this effective radius \[m\] under a host of fixed steps: where it turns around after it has struck at the
    /// [speed](ContactDesign::speed) without dissipation, its phase in a step is a half.
    ///
    /// Its friction creeps, at less than the transition velocity.
    ///
    /// # Errors
    /// Those of [`ContactDesign::validate`]; [`InvalidValue`] for a radius that is not finite and greater than zero.
    pub fn for_contact(design: &ContactDesign, effective_radius: T) -> Result<Self, InvalidValue> {
        design.validate()?;
        check::positive("effective_radius", effective_radius)?;
        let ContactDesign { mass, speed, step, gravity, mu_static, mu_kinetic, .. } = *design;
        // With f = k·x^(3/2), m·v²/2 = 2/5·k·x^(5/2) and ω² = 3/2·f/(m·x) give ω = √(15/8)·v/x at the turn.
        let turn = 2.0 * ComplexField::sqrt(1.875) * speed * step;
        let struck = 1.25 * mass * speed * speed / ComplexField::powf(turn, 2.5);
        // At rest ω² = 3/2·g/x.
        let frequency = design.resting_frequency();
        let depth = 1.5 * gravity / (frequency * frequency);
        let resting = design.weight() / ComplexField::powf(depth, 1.5);
        let chosen = Self {
            effective_modulus: T::lit(0.75 * struck.min(resting)) / effective_radius.sqrt(),
            // Per 3/2 c, as in the law.
            dissipation: T::lit(design.dissipation() / 1.5),
            static_friction: T::lit(mu_static),
            dynamic_friction: T::lit(mu_kinetic),
            viscous_friction: T::zero(),
            transition_velocity: T::lit(design.transition_velocity()),
        };
        chosen.validate()?;
        Ok(chosen)
    }

    /// The same with this dissipation \[s/m\].
    #[must_use]
    pub fn with_dissipation(self, dissipation: T) -> Self {
        Self { dissipation, ..self }
    }

    /// The same with these coefficients of static, dynamic and viscous \[s/m\] friction.
    #[must_use]
    pub fn with_friction(self, static_friction: T, dynamic_friction: T, viscous_friction: T) -> Self {
        Self { static_friction, dynamic_friction, viscous_friction, ..self }
    }
}

impl<S: Algebraic> Parameters<S> {
    pub(super) fn contact_law(&self) -> ContactLaw<S> {
        ContactLaw::new(Coefficients {
            dissipation: self.dissipation * S::lit(1.5),
            static_friction: self.static_friction,
            dynamic_friction: self.dynamic_friction,
            viscous_friction: self.viscous_friction,
            transition_velocity: self.transition_velocity,
        })
    }
}
