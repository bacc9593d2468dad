//! Parameters of the exponential spring by [`ContactDesign`].

use crate::elements::contact_design::{ContactDesign, SpringDamper};
use crate::elements::exponential_spring::Parameters;
use crate::framework::Variables;
use crate::math::{InvalidValue, Real};

/// The release velocity of points that share a load \[m/s\].
const RELEASE: f64 = 2e-4;

impl<T: Real> Parameters<T> {
    /// Parameters for a body on springs at its [points](ContactDesign::points), under a host of fixed steps.
    ///
    /// Promised, for bodies whose points have a lever `r` about the mass center and a least moment of inertia `I` with
    /// `m·r²/I ≤ 4.5`, such as boxes that are no longer than they are wide and high:
    ///
    /// - At rest, under an even load, the points are at height zero. A load `n` times as large sinks them by `ln(n)/d2`.
    /// - In the flight after an impact at up to the stated speed the energy is at most 1 % above that before. A body that
    ///   strikes flat rebounds at the stated restitution, one that strikes slower at a greater share of its speed.
    /// - Bounces and rocking decay, and friction holds: a body that is dropped on a slope below kinetic friction comes to
    ///   rest, and does not move any more.
    /// - Friction springs are drawn out by at most `μs·g·(5.6·step)²` under an even load: 35 µm at 0.7 and a step of 0.4 ms.
    /// - Several points that are loaded slowly, such that those that slip first do so at less than 0.2 mm/s, together hold up
    ///   to `μs` times the load.
    ///
    /// # Errors
    /// Those of [`ContactDesign::validate`].
    pub fn for_contact(design: &ContactDesign) -> Result<Self, InvalidValue> {
        design.validate()?;
        let ContactDesign { mass, points, speed, gravity, mu_static, mu_kinetic, step, .. } = *design;
        let share = mass / f64::from(points);
        let d2 = design.steepness();
        let SpringDamper { stiffness, damping } = design.grip(share);
        let chosen = Self {
            d0: T::zero(),
            d1: T::lit(share * gravity),
            d2: T::lit(d2),
            normal_viscosity: T::lit(design.dissipation()),
            // One point may have to stop all of the mass, with a force of d2·m·v²/2: four times that, and the weight.
            max_normal_force: T::lit(mass * (d2 * speed * speed * 2.0 + gravity * 10.0)),
            friction_elasticity: T::lit(stiffness),
            friction_viscosity: T::lit(damping),
            // What friction takes of the velocity in a step.
            settle_velocity: T::lit((mu_kinetic * gravity * step).max(0.01)),
            release_velocity: if points > 1 { T::lit(RELEASE) } else { T::zero() },
            mu_static: T::lit(mu_static),
            mu_kinetic: T::lit(mu_kinetic),
            ..Self::default()
        };
        chosen.validate()?;
        Ok(chosen)
    }
}
