//! A fixed-step integrator of order 1.

use alloc::vec::Vec;

use crate::math::{InvalidValue, Real, check};
use crate::simulation::energy::Supply;
use crate::simulation::integrator::STRETCH;
use crate::simulation::layout::Role;
use crate::simulation::{Integrator, Simulation, SimulationError};

/// The semi-implicit Euler method: velocities first, then positions with the new velocities.
///
/// The method keeps the energy of a conservative motion bounded; under the explicit Euler method it would grow. The
/// gyroscopic torque of a body is that of the mean angular velocity over the step (the implicit midpoint rule). A body
/// without torque therefore keeps its kinetic energy and the magnitude of its angular momentum to rounding, if it turns
/// by less than 2 rad in a step.
///
/// Absorbed energies are the work of the forces that are held over a step, as by
/// [`StepRule::HeldForces`](crate::StepRule::HeldForces), but on bodies in their poses at the start of the step. They
/// balance the kinetic energy to rounding, wherever the origins of bodies are.
///
/// A body that turns by `φ` in one step at the velocity of its end is turned by `2 atan(φ/2)`, which is less by the
/// fraction `φ²/12`.
///
/// # Refused steps
///
/// There is no error control. Unless [`unchecked`](Self::unchecked), the integrator refuses
///
/// - with [`Error::StepTooLong`](crate::Error::StepTooLong), a step that is [too long](crate::ForceSystem::check_step)
///   for the forces at its start;
/// - with [`Error::EnergyGained`](crate::Error::EnergyGained) and
///   [`Error::FrictionAlternates`](crate::Error::FrictionAlternates), a step after which the ledger of an element shows
///   that it has gained energy or that its friction alternates, as [`finish_step`](crate::ForceSystem::finish_step) does.
///
/// Neither check covers elements of unknown stiffness that store no energy.
///
/// Every run is also refused with [`SimulationError::EnergyExploded`] when the kinetic energy exceeds ten thousand times
/// the energy supplied since the first of its consecutive steps: by the state there, gravity, loads, and elements,
/// including their drives. Loads, drives and changes of parameters may therefore do any work, while an explosion is
/// refused after a few dozen steps. An exception is a force of an element that acts for only one step on a body at rest,
/// since powers count by the trapezoidal rule. A run that was not refused is not necessarily accurate.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SemiImplicitEuler<T: Real> {
    step: f64,
    is_checked: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    y: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    rates: Vec<T>,
    #[cfg_attr(feature = "serde", serde(skip))]
    end_rates: Vec<T>,
}

impl<T: Real> SemiImplicitEuler<T> {
    /// An integrator with this step \[s\].
    pub fn new(step: f64) -> Self {
        Self { step, is_checked: true, y: Vec::new(), rates: Vec::new(), end_rates: Vec::new() }
    }

    /// Without the checks of the step, by a lower bound of the stable ones, and of the energy ledger.
    #[must_use]
    pub fn unchecked(self) -> Self {
        Self { is_checked: false, ..self }
    }

    /// Checks the settings, as every step does.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the step is positive and finite.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("semi_implicit_euler.step", self.step)
    }

    fn advance(&mut self, simulation: &Simulation<'_, T>, roles: &[Role], h: f64) {
        for (i, (y, &rate)) in self.y.iter_mut().zip(&self.rates).enumerate() {
            if roles.contains(&simulation.role(i)) {
                *y += rate * T::lit(h);
            }
        }
    }
}

impl<T: Real> Integrator<T> for SemiImplicitEuler<T> {
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: f64) -> Result<(), SimulationError> {
        self.validate()?;
        simulation.check_end(end)?;
        let span = simulation.span(self.step, end, STRETCH)?;
        let count = simulation.y.len();
        self.rates.resize(count, T::zero());
        self.end_rates.resize(count, T::zero());

        simulation.calc_present_rates(&mut self.rates)?;
        if self.is_checked {
            simulation.check_step(span.length)?;
        }
        let supply = match simulation.supply {
            Some(supply) => supply,
            None => Supply::open(simulation)?,
        };
        let start_power = simulation.power_absorbed(&self.rates);
        self.y.clear();
        self.y.extend_from_slice(&simulation.y);
        self.advance(simulation, &[Role::Velocity], span.length);
        simulation.turn_by_mean_velocity(&self.rates, &mut self.y, span.length);
        self.advance(simulation, &[Role::Element], span.length);
        simulation.calc_position_rates(&self.y, &mut self.rates);
        self.advance(simulation, &[Role::Position, Role::Orientation], span.length);
        simulation.normalize(&mut self.y);
        let end_power = simulation.calc_rates_of_held_forces(span.end, &self.y, &mut self.end_rates)?;
        let absorbed = 0.5 * span.length * (start_power + end_power);
        for (rate, end_rate) in self.rates.iter_mut().zip(&self.end_rates) {
            *rate = (*rate + *end_rate) * T::lit(0.5);
        }
        self.advance(simulation, &[Role::Energy], span.length);
        let taken = supply.after(simulation, span.end, &self.y, absorbed).and_then(|supply| {
            simulation.accept(span.end, &self.y, self.is_checked)?;
            simulation.supply = Some(supply);
            Ok(())
        });
        if taken.is_err() {
            simulation.reject()?;
        }
        taken
    }
}
