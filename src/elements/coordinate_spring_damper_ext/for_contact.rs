//! Parameters of bristle friction by [`ContactDesign`].

use crate::elements::contact_design::{ContactDesign, SpringDamper};
use crate::elements::coordinate_spring_damper_ext::Parameters;
use crate::framework::Variables;
use crate::math::{InvalidValue, Real};

impl<T: Real> Parameters<T> {
    /// Bristle friction of a sledge that carries the mass under its weight, along the coordinate, under a host of fixed
    /// steps: it holds without creep, drawn out by at most `μs·g·(5.6·step)²`. Spring, damper and stops are left out.
    ///
    /// # Errors
    /// Those of [`ContactDesign::validate`].
    pub fn for_contact(design: &ContactDesign) -> Result<Self, InvalidValue> {
        design.validate()?;
        let SpringDamper { stiffness, damping } = design.grip(design.mass);
        let chosen = Self {
            dynamic_friction: T::lit(design.mu_kinetic * design.weight()),
            static_friction_offset: T::lit((design.mu_static - design.mu_kinetic) * design.weight()),
            sticking_stiffness: T::lit(stiffness),
            sticking_damping: T::lit(damping),
            ..Self::default()
        };
        chosen.validate()?;
        Ok(chosen)
    }
}
