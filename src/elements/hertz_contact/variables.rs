//! Parameters of the contact and the materials that define them, and its results.

use nalgebra::{ComplexField, Point3, Vector3};

use crate::elements::contact_design::ContactDesign;
use crate::elements::contact_law::ContactLaw;
use crate::framework::stored_variables;
use crate::framework::variables::Variables as _;
use crate::math::{InvalidValue, Number, Real, Requirement, check};
use crate::results;

stored_variables! {
    /// Stiffness, dissipation and friction of two materials in contact.
    #[derive(Copy, Lift)]
    pub struct Parameters<T> {
        /// Effective modulus `E*` of both materials. A new contact requires a value above zero.
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

impl<T: Real> Parameters<T> {
    /// Parameters for two elastic bodies, each with its Young's modulus `E` \[Pa\] and Poisson's ratio `ν`, without
    /// dissipation or friction. One of them may be rigid, with an infinite modulus.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the moduli are positive and Poisson's ratios are between zero and a half.
    pub fn of_elastic(one: [T; 2], other: [T; 2]) -> Result<Self, InvalidValue> {
        let compliance = |[youngs_modulus, poissons_ratio]: [T; 2]| {
            let is_positive = youngs_modulus > T::zero();
            check::that(is_positive, "youngs_modulus", youngs_modulus, Requirement::Positive)?;
            check::nonnegative("poissons_ratio", poissons_ratio)?;
            check::at_most("poissons_ratio", poissons_ratio, "0.5", T::lit(0.5))?;
            Ok((T::one() - poissons_ratio * poissons_ratio) / youngs_modulus)
        };
        let effective_modulus = (compliance(one)? + compliance(other)?).recip();
        check::that(
            effective_modulus.is_finite() && effective_modulus > T::zero(),
            "effective_modulus",
            effective_modulus,
            Requirement::Positive,
        )?;
        Ok(Self { effective_modulus, ..Self::default() })
    }

    /// Parameters for one ball of this effective radius \[m\] at each of the [points](ContactDesign::points) that share
    /// the weight, under a host with fixed steps. When all strike at once at the [speed](ContactDesign::speed), the phase
    /// of the bounce advances by at most one half in a step, and damping takes at most half of the velocity in a step.
    ///
    /// Under friction the ball creeps at less than the transition velocity. In an impact, which presses many times harder
    /// than the weight for which it is designed, friction may alternate from step to step. A flat body pitches up to √3
    /// times faster than it bounces: [`check_step`](crate::ForceSystem::check_step) may require a shorter step than that
    /// of the design.
    ///
    /// # Errors
    /// Those of [`ContactDesign::validate`]; [`InvalidValue`] for a radius that is not finite and greater than zero, or
    /// for a step with which the ball would sink in by more than 0.15 of its extent under its weight.
    pub fn for_contact(design: &ContactDesign, effective_radius: T) -> Result<Self, InvalidValue> {
        design.validate()?;
        check::positive("effective_radius", effective_radius)?;
        let ContactDesign { mass, speed, step, points, gravity, mu_static, mu_kinetic, .. } = *design;
        // With f = k·x^(3/2), m·v²/2 = 2/5·k·x^(5/2) and ω² = 3/2·f/(m·x), ω = √(15/8)·v/x at the turn.
        let turn = 2.0 * ComplexField::sqrt(1.875) * speed * step;
        let struck = 1.25 * mass * speed * speed / ComplexField::powf(turn, 2.5);
        // At rest ω² = 3/2·g/x.
        let frequency = design.resting_frequency();
        let depth = 1.5 * gravity / (frequency * frequency);
        let resting = design.weight() / ComplexField::powf(depth, 1.5);
        let stiffness = struck.min(resting).min(design.landing_stiffness());
        design.check_depth(ComplexField::powf(design.weight() / stiffness, 2.0 / 3.0))?;
        let of_each = stiffness / f64::from(points);
        let chosen = Self {
            effective_modulus: T::lit(0.75 * of_each) / effective_radius.sqrt(),
            // Divided by the 3/2 of the law.
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

impl<S: Number> Parameters<S> {
    pub(super) fn contact_law(&self) -> ContactLaw<S> {
        let friction = [self.static_friction, self.dynamic_friction, self.viscous_friction];
        ContactLaw::new(self.dissipation * S::lit(1.5), friction, self.transition_velocity)
    }

    /// The elastic force of a contact of this radius and depth, both greater than zero.
    #[inline]
    pub(super) fn elastic_force(&self, contact_radius: S, depth: S) -> S {
        self.effective_modulus * S::lit(4.0 / 3.0) * contact_radius * depth
    }
}

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// The outward normal of the surface, towards the ball, in Ground.
        pub normal_G: Vector3<T> ["1"];
        /// The contact point: half-way between the undeformed surfaces, in Ground.
        pub point_G: Point3<T> ["m"];
        /// The depth `δ` to which the undeformed surfaces overlap; if negative, the gap between them.
        pub depth: T ["m"];
        /// The radius `a` of the contact; zero without one.
        pub contact_radius: T ["m"];
        /// The elastic force `f_e`.
        pub elastic_force: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
    }
}

pub use crate::elements::contact_law::ContactVelocity as Velocity;

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The force along the normal `f_n`.
        pub normal_force: T ["N"];
        /// The friction force on the ball, in Ground.
        pub friction_force_G: Vector3<T> ["N"];
        /// The pressure in the middle of the contact.
        pub peak_pressure: T ["Pa"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
    }
}
