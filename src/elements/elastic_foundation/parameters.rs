//! Parameters and materials of the foundation.

use alloc::vec::Vec;
use core::mem;

use crate::elements::elastic_foundation::SurfaceIndex;
use crate::framework::variables::{Slot, Value, Variables, Visitor, VisitorMut};
use crate::math::{InvalidValue, Real, check, checked_when_read};
use crate::variables;

pub(super) const KIND: &str = "elastic_foundation";

variables! {
    /// Stiffness, dissipation and friction of the springs of one mesh.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
    pub struct Material<T> {
        /// Stiffness `k` per area \[N/m³\].
        pub stiffness: T, nonnegative;
        /// Dissipation `c` \[s/m\].
        pub dissipation: T, nonnegative;
        /// Coefficient of static friction `μ_s`.
        pub static_friction: T, nonnegative;
        /// Coefficient of dynamic friction `μ_d`, at most `μ_s`.
        pub dynamic_friction: T, nonnegative;
        /// Coefficient of viscous friction `μ_v` \[s/m\].
        pub viscous_friction: T, nonnegative;
    }
    check |m| check::at_most("dynamic_friction", m.dynamic_friction, "static_friction", m.static_friction);
}

checked_when_read!(Material);

impl<T: Real> Material<T> {
    /// Springs of this stiffness per area \[N/m³\] without dissipation or friction.
    pub fn new(stiffness: T) -> Self {
        Self { stiffness, ..Self::default() }
    }

    /// A layer of elastic material, `thickness` \[m\] thick, glued to something rigid:
    /// `k = (1 − ν) E / ((1 + ν)(1 − 2ν) h)` with Young's modulus E \[Pa\] and Poisson's ratio ν.
    ///
    /// # Errors
    /// [`InvalidValue`] unless modulus and thickness are positive and the ratio is at least zero and less than a
    /// half, at which the layer would be incompressible.
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

/// Parameters of the foundation.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Parameters<T: Real> {
    /// Transition velocity `v_t` of friction \[m/s\], greater than zero; 0.01 unless set. Under a steady
    /// tangential load below `μ_s f_n` surfaces creep at a fraction of it.
    pub transition_velocity: T,
    /// Whether only springs whose face points towards the entered surface count. Otherwise, faces on the far side
    /// of a thin mesh that is pushed all the way through count too.
    pub facing_only: bool,
    /// Whether a spring counts with the area of its face projected along the contact normal, rather than the
    /// whole.
    pub projected_area: bool,
    /// Indexed by surface; `None` for a rigid one. Empty in the parameters of a new foundation, whose surfaces
    /// bring their materials.
    pub materials: Vec<Option<Material<T>>>,
}

checked_when_read!(Parameters);

impl<T: Real> Parameters<T> {
    /// The same without materials.
    pub(super) fn without_surfaces(self) -> Self {
        Self { materials: Vec::new(), ..self }
    }

    pub(super) fn push(&mut self, material: Option<Material<T>>) {
        self.materials.push(material);
    }

    /// The material of a surface; `None` if it is rigid or does not exist.
    #[inline]
    pub fn material(&self, surface: SurfaceIndex) -> Option<&Material<T>> {
        self.materials.get(surface.index()).and_then(Option::as_ref)
    }

    /// The material of a surface, mutable; `None` if it is rigid or does not exist.
    pub fn material_mut(&mut self, surface: SurfaceIndex) -> Option<&mut Material<T>> {
        self.materials.get_mut(surface.index()).and_then(Option::as_mut)
    }
}

impl<T: Real> Default for Parameters<T> {
    fn default() -> Self {
        Self {
            transition_velocity: T::lit(0.01),
            facing_only: false,
            projected_area: false,
            materials: Vec::new(),
        }
    }
}

// Not derived: `clone_from` keeps the buffer.
impl<T: Real> Clone for Parameters<T> {
    fn clone(&self) -> Self {
        Self { materials: self.materials.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        let mut materials = mem::take(&mut self.materials);
        materials.clone_from(&source.materials);
        *self = Self { materials, ..*source };
    }
}

impl<T: Real> Variables<T> for Parameters<T> {
    fn visit(&self, visit: Visitor<'_, T>) {
        visit(format_args!("transition_velocity"), Value::Number(self.transition_velocity));
        visit(format_args!("facing_only"), Value::Flag(self.facing_only));
        visit(format_args!("projected_area"), Value::Flag(self.projected_area));
        for (i, material) in self.materials.iter().enumerate() {
            if let Some(material) = material {
                material.visit(&mut |name, value| visit(format_args!("surface[{i}].{name}"), value));
            }
        }
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        visit(format_args!("transition_velocity"), Slot::Number(&mut self.transition_velocity));
        visit(format_args!("facing_only"), Slot::Flag(&mut self.facing_only));
        visit(format_args!("projected_area"), Slot::Flag(&mut self.projected_area));
        for (i, material) in self.materials.iter_mut().enumerate() {
            if let Some(material) = material {
                material.visit_mut(&mut |name, slot| visit(format_args!("surface[{i}].{name}"), slot));
            }
        }
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("transition_velocity", self.transition_velocity)?;
        self.materials.iter().flatten().try_for_each(Variables::validate)
    }

    fn fits(&self, other: &Self) -> bool {
        self.materials.iter().map(Option::is_some).eq(other.materials.iter().map(Option::is_some))
    }
}
