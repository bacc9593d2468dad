//! Parameters and materials of the foundation, and errors of its surfaces.

use alloc::vec::Vec;

use crate::elements::ContactDesign;
use crate::framework::variables::{Declared, Listed, Numbers, Part, RangeCheck, Visitor, VisitorMut};
use crate::framework::{Stage, Variables, stored_variables};
use crate::math::{InvalidValue, Number, Real, Requirement, check};

stored_variables! {
    /// Stiffness, dissipation and friction of the springs of one mesh.
    #[derive(Copy, Lift)]
    pub struct Material<T> {
        /// Stiffness `k` per area.
        pub stiffness: T ["N/m³"], nonnegative => Position;
        /// Dissipation `c`.
        pub dissipation: T ["s/m"], nonnegative => Dynamics;
        /// Coefficient of static friction `μ_s`.
        pub static_friction: T, nonnegative => Dynamics;
        /// Coefficient of dynamic friction `μ_d`, at most `μ_s`.
        pub dynamic_friction: T, nonnegative => Dynamics;
        /// Coefficient of viscous friction `μ_v`.
        pub viscous_friction: T ["s/m"], nonnegative => Dynamics;
        /// Stiffness `k_t` along the surface per area, of friction [with anchors](super::ElasticFoundation::with_anchors).
        pub tangential_stiffness: T ["N/m³"], nonnegative => Dynamics;
        /// Viscosity `c_t` along the surface per area, of friction with anchors.
        pub tangential_viscosity: T ["N·s/m³"], nonnegative => Dynamics;
    }
    check |m| check::at_most("dynamic_friction", m.dynamic_friction, "static_friction", m.static_friction);
}

impl<T: Real> Material<T> {
    /// A material of this stiffness per area \[N/m³\] without dissipation or friction.
    pub fn new(stiffness: T) -> Self {
        Self { stiffness, ..Self::default() }
    }

    /// The material of an elastic layer, `thickness` \[m\] thick, glued to a rigid base:
    /// `k = (1 − ν) E / ((1 + ν)(1 − 2ν) h)` with the thickness h, Young's modulus E \[Pa\] and Poisson's ratio ν.
    ///
    /// # Errors
    /// [`InvalidValue`] unless modulus and thickness are positive and the ratio is at least zero and less than one half,
    /// at which the layer would be incompressible.
    ///
    /// ```
    /// use force_elements::elastic_foundation::Material;
    /// let rubber = Material::<f64>::from_elastic_layer(1e6, 0.45, 0.01)?;
    /// assert!((rubber.stiffness - 3.793e8).abs() < 1e5);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn from_elastic_layer(
        youngs_modulus: T,
        poissons_ratio: T,
        thickness: T,
    ) -> Result<Self, InvalidValue> {
        check::positive("youngs_modulus", youngs_modulus)?;
        check::nonnegative("poissons_ratio", poissons_ratio)?;
        let yielding = T::one() - poissons_ratio * T::lit(2.0);
        check::positive("1 - 2 poissons_ratio", yielding)?;
        check::positive("thickness", thickness)?;
        let one = T::one();
        let stiffness =
            (one - poissons_ratio) * youngs_modulus / ((one + poissons_ratio) * yielding * thickness);
        check::positive("stiffness", stiffness)?;
        Ok(Self::new(stiffness))
    }

    /// A material for a body that rests on this area \[m²\] of its mesh, under a host with fixed steps. Its friction
    /// [with anchors](super::ElasticFoundation::with_anchors) holds without creep.
    ///
    /// Under its weight the body sinks in by `δ = m·g/(k·area)`, at most a thirtieth of its extent; on a smaller area it
    /// sinks in proportionally deeper. A body stands on a square base if `12 δ extent < area`. Half of that is allowed,
    /// so that it leans at most twice as far as the ground. A ball or wheel, whose design has one point, does not tip.
    /// Over the short side of a base that is not square a body stands less firmly: state the square of that side.
    ///
    /// For a ball of radius `R`, `k·area` does not depend on the area: design first with any area. The ball then sinks in
    /// by `δ = 2·m·g/(k·area)`; design again with the area `2π·R·δ`. While a ball or wheel rolls, the dissipation brakes
    /// it.
    ///
    /// # Errors
    /// Those of [`ContactDesign::validate`]; [`InvalidValue`] for an area that is not finite and greater than zero or on
    /// which the body would fall over, or for a step with which the body would sink in deeper.
    pub fn for_contact(design: &ContactDesign, area: T) -> Result<Self, InvalidValue> {
        design.validate()?;
        check::positive("area", area)?;
        let frequency = design.landing_frequency(area.to_f64())?;
        let [stiffness, damping] = design.grip(design.mass);
        let chosen = Self {
            stiffness: T::lit(design.mass * frequency * frequency) / area,
            dissipation: T::lit(design.dissipation()),
            static_friction: T::lit(design.mu_static),
            dynamic_friction: T::lit(design.mu_kinetic),
            viscous_friction: T::zero(),
            tangential_stiffness: T::lit(stiffness) / area,
            tangential_viscosity: T::lit(damping) / area,
        };
        chosen.validate()?;
        Ok(chosen)
    }

    /// The same material with this dissipation \[s/m\].
    #[must_use]
    pub fn with_dissipation(self, dissipation: T) -> Self {
        Self { dissipation, ..self }
    }

    /// The same material with these coefficients of static, dynamic and viscous \[s/m\] friction.
    #[must_use]
    pub fn with_friction(self, static_friction: T, dynamic_friction: T, viscous_friction: T) -> Self {
        Self { static_friction, dynamic_friction, viscous_friction, ..self }
    }

    /// # Errors
    /// [`InvalidValue`] for springs that exert no force, or anchors that exert none although there is friction.
    pub(super) fn check_acts(&self, has_anchors: bool) -> Result<(), InvalidValue> {
        check::positive("stiffness", self.stiffness)?;
        let (grip, viscosity) = (self.tangential_stiffness, self.tangential_viscosity);
        let is_free = !has_anchors || self.static_friction == T::zero();
        let holds = is_free || grip > T::zero() || viscosity > T::zero();
        check::that(holds, "tangential_stiffness", grip, Requirement::Positive)
    }

    /// The same material with this stiffness \[N/m³\] and viscosity \[N·s/m³\] along the surface, for friction [with
    /// anchors](super::ElasticFoundation::with_anchors).
    #[must_use]
    pub fn with_grip(self, tangential_stiffness: T, tangential_viscosity: T) -> Self {
        Self { tangential_stiffness, tangential_viscosity, ..self }
    }
}

impl<S: Number> Material<S> {
    /// The material of springs that act for the springs of two meshes, each with half of its area; bit-identical to both
    /// if they are equal. Dissipation and friction are relative to the elastic force, so they are weighted by the
    /// stiffness.
    pub(super) fn mean([a, b]: [Self; 2]) -> Self {
        let half = S::lit(0.5);
        // Halves first: the sum might overflow.
        let mean = |a: S, b: S| a * half + b * half;
        let stiffness = mean(a.stiffness, b.stiffness);
        let share = if stiffness > S::zero() { b.stiffness * half / stiffness } else { half };
        let weighted = |a: S, b: S| a + (b - a) * share;
        Self {
            stiffness,
            dissipation: weighted(a.dissipation, b.dissipation),
            static_friction: weighted(a.static_friction, b.static_friction),
            dynamic_friction: weighted(a.dynamic_friction, b.dynamic_friction),
            viscous_friction: weighted(a.viscous_friction, b.viscous_friction),
            tangential_stiffness: mean(a.tangential_stiffness, b.tangential_stiffness),
            tangential_viscosity: mean(a.tangential_viscosity, b.tangential_viscosity),
        }
    }
}

stored_variables! {
    /// Parameters of the foundation.
    pub struct Parameters<T> {
        /// Transition velocity `v_t` of friction. Without anchors, surfaces creep at a fraction of it under a steady
        /// tangential load below `μ_s f_n`.
        pub transition_velocity: T ["m/s"] = 0.01, squarable => Dynamics;
        /// Whether pressure is integrated over the part of each face that is inside. Otherwise, and between meshes, a
        /// face counts fully if its centroid is inside, and else not at all.
        pub clipped: bool => Position;
        /// The materials by surface; `None` for a rigid surface. Empty in the parameters of a new foundation, whose
        /// surfaces add their materials.
        pub materials: Vec<Option<Material<T>>> => Position;
    }
}

impl<T: Real> Parameters<T> {
    /// Parameters with clipped faces, and a transition velocity that suits the step of a host.
    ///
    /// # Errors
    /// Those of [`ContactDesign::validate`].
    pub fn for_contact(design: &ContactDesign) -> Result<Self, InvalidValue> {
        design.validate()?;
        let transition_velocity = T::lit(design.transition_velocity());
        Ok(Self { transition_velocity, clipped: true, ..Self::default() })
    }

    /// The material of a surface; `None` if it is rigid or does not exist.
    #[inline]
    pub fn material(&self, surface: usize) -> Option<&Material<T>> {
        self.materials.get(surface).and_then(Option::as_ref)
    }

    /// The material of a surface, mutable; `None` if it is rigid or does not exist.
    pub fn material_mut(&mut self, surface: usize) -> Option<&mut Material<T>> {
        self.materials.get_mut(surface).and_then(Option::as_mut)
    }
}

/// The existing materials, such as `materials[2].stiffness`.
impl<T: Real> Listed<T, ()> for Vec<Option<Material<T>>> {
    fn neutral() -> Self {
        Self::new()
    }
    fn visit(&self, field: Declared<'_>, visit: Visitor<'_, T>) {
        let list = field.name;
        for (i, material) in self.iter().enumerate() {
            let Some(material) = material else { continue };
            Listed::<T, _>::visit(material, field.child(format_args!("{list}[{i}]"), &[]), visit);
        }
    }
}

impl<T: Real> Part<T, ()> for Vec<Option<Material<T>>> {
    fn visit_mut(&mut self, field: Declared<'_>, visit: VisitorMut<'_, T>) {
        let list = field.name;
        for (i, material) in self.iter_mut().enumerate() {
            let Some(material) = material else { continue };
            Part::<T, _>::visit_mut(material, field.child(format_args!("{list}[{i}]"), &[]), visit);
        }
    }
    fn first_stage_changed(&self, new: &Self, _: Stage) -> Option<Stage> {
        let pairs = self.iter().flatten().zip(new.iter().flatten());
        pairs.filter_map(|(present, new)| Variables::first_stage_changed(present, new)).min()
    }
    fn fits(&self, other: &Self) -> bool {
        self.iter().map(Option::is_some).eq(other.iter().map(Option::is_some))
    }
    fn check(&self, _: &'static str, _: RangeCheck<T>) -> Result<(), InvalidValue> {
        self.iter().flatten().try_for_each(Variables::validate)
    }
}

impl<T: Real, S: Real> crate::framework::variables::Lift<T, S, ()> for Vec<Option<Material<T>>> {
    type Lifted = Vec<Option<Material<S>>>;
    fn lift(&self, of: &mut impl FnMut(T) -> S) -> Self::Lifted {
        self.iter().map(|material| material.as_ref().map(|material| Numbers::lift(material, of))).collect()
    }
    // The list has no fixed number of numbers: laws take the material of one mesh, never the list.
    const COUNT: usize = 0;
}
