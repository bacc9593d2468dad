//! The elements of one kind, as a system keeps them. A stage costs one dynamic call per kind.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;
use core::ops::Range;

use crate::framework::element::ForceElement;
use crate::framework::element_variables::{ElementVariables, visit_numbers};
use crate::framework::linearize::{KindBlocks, Outputs, Part};
use crate::framework::results::Cache;
use crate::framework::roster::Roster;
use crate::framework::slots::{AnySlots, Slots, given};
use crate::framework::stage::Stage;
use crate::framework::stiffnesses::Stiffnesses;
use crate::framework::variables::Variables;
use crate::framework::{ElementError, Error};
use crate::math::Real;
use crate::mechanics::{ForceAccumulator, Forces, Kinematics, Stamp, Topology};

/// All elements of one type, as the system keeps them.
#[derive(Debug)]
pub(crate) struct Kind<T: Real, E: ForceElement<T>> {
    pub(crate) roster: Roster,
    /// By place; `None` where there is none.
    pub(crate) elements: Vec<Option<E>>,
    pub(crate) defaults: Vec<ElementVariables<T, E>>,
    /// The sum of the layouts of the variables of all elements.
    pub(crate) layout: u64,
}

/// Sums over the elements of one kind at Dynamics stage.
#[derive(Debug)]
pub(crate) struct Sums<'a, T: Real> {
    pub(crate) forces: &'a mut Forces<T>,
    pub(crate) potential_energy: &'a mut T,
    pub(crate) power_dissipated: &'a mut T,
    /// Energy flowing into each element of the kind.
    pub(crate) power_absorbed: &'a mut [T],
}

/// Energy and power of one element at Dynamics stage.
#[derive(Debug)]
pub(crate) struct Energies<T> {
    pub(crate) stored: T,
    pub(crate) power_dissipated: T,
}

impl<T: Real> Energies<T> {
    pub(super) fn zero() -> Self {
        Self { stored: T::zero(), power_dissipated: T::zero() }
    }
}

/// A [`Kind`] whose element type is not known.
pub(crate) trait AnyKind<T: Real>: Any + Debug + Send + Sync {
    fn roster(&self) -> &Roster;
    fn is_enabled_by_default(&self, place: usize) -> bool;
    fn set_enabled_by_default(&mut self, place: usize, enabled: bool);
    /// The names and order of all variables as a number; `None` if there are no elements.
    fn layout(&self) -> Option<u64>;
    fn remove(&mut self, place: usize);
    /// Whether the topology has all bodies and coordinates that the element needs, if there is one.
    fn fits(&self, place: usize, topology: &Topology) -> bool;
    fn new_slots(&self) -> Box<dyn AnySlots<T>>;
    fn realize_position(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<(), Error>;
    fn realize_velocity(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<(), Error>;
    fn realize_dynamics(
        &self,
        slots: &mut dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        sums: Sums<'_, T>,
    ) -> Result<(), Error>;
    /// Writes and validates the next discrete variables for an accepted step, without committing them.
    fn prepare_step(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<(), Error>;
    /// Writes and validates the discrete variables that fit the present iterate; returns the largest force
    /// error. Nothing is committed yet.
    fn prepare_update(
        &self,
        slots: &mut dyn AnySlots<T>,
        start: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
    ) -> Result<T, Error>;
    /// The largest force error of the present discrete variables.
    fn switching_error(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<T, Error>;
    /// The energy stored in one element and the power it dissipates, after it has been realized to Dynamics; zero
    /// while it is disabled.
    fn energies(
        &self,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<Energies<T>, Error>;
    /// Adds the forces of one element, after it has been realized to Dynamics.
    fn add_forces(
        &self,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
        forces: &mut Forces<T>,
    ) -> Result<(), Error>;
    /// Appends for each place the power flowing into the element, with the velocities of the accumulator.
    fn powers_absorbed(
        &self,
        slots: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        powers: &mut Vec<T>,
    ) -> Result<(), Error>;
    /// Lets one element report its stiffness, after it has been realized to Dynamics; nothing while it is disabled.
    fn report_stiffness(
        &self,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
        stiffnesses: &mut Stiffnesses<'_, T>,
    ) -> Result<(), Error>;
    /// Evaluates one element up to the results of which these derivatives are: forces on these ends and rates, or the discrete
    /// variables after a commit.
    fn evaluate(
        &self,
        part: Part,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
        results: Outputs<'_, T>,
    ) -> Result<(), Error>;
    /// Writes the derivatives of all elements, after they have been realized to Dynamics.
    fn linearize(
        &self,
        slots: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        blocks: KindBlocks<'_, T>,
    ) -> Result<(), Error>;
    /// Resets the memory of one element; returns the stage below which the state falls, if anything has changed.
    fn reset_memory(
        &self,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<Option<Stage>, Error>;
    /// The energy stored in one element, whose caches are valid up to `stage` and are filled beyond it, and what it would
    /// be if friction held.
    fn calc_stored_and_held(
        &self,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        stage: Stage,
        kinematics: &Kinematics<T>,
    ) -> Result<[T; 2], Error>;
}

impl<T: Real, E: ForceElement<T>> AnyKind<T> for Kind<T, E> {
    fn roster(&self) -> &Roster {
        &self.roster
    }

    fn is_enabled_by_default(&self, place: usize) -> bool {
        self.defaults[place].enabled
    }

    fn set_enabled_by_default(&mut self, place: usize, enabled: bool) {
        self.defaults[place].enabled = enabled;
    }

    fn layout(&self) -> Option<u64> {
        self.roster.places.iter().next().map(|_| self.layout)
    }

    fn remove(&mut self, place: usize) {
        self.layout = self.layout.wrapping_sub(self.defaults[place].layout(place));
        self.roster.places.remove(place);
        self.elements[place] = None;
        self.defaults[place] = ElementVariables::vacant();
    }

    fn fits(&self, place: usize, topology: &Topology) -> bool {
        self.elements[place].as_ref().is_none_or(|element| element.check_topology(topology).is_ok())
    }

    fn new_slots(&self) -> Box<dyn AnySlots<T>> {
        let count = self.elements.len();
        Box::new(Slots::<T, E> {
            roster: self.roster.clone(),
            variables: self.defaults.clone(),
            spare: None,
            next_discrete: self.defaults.iter().map(|variable| variable.discrete.clone()).collect(),
            position: (0..count).map(|_| E::Position::neutral()).collect(),
            velocity: (0..count).map(|_| E::Velocity::neutral()).collect(),
            dynamics: (0..count).map(|_| E::Dynamics::neutral()).collect(),
            rates: self.defaults.iter().map(|variable| variable.continuous.clone()).collect(),
        })
    }

    fn realize_position(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<(), Error> {
        self.calc_position(Slots::<T, E>::downcast_mut(slots)?, self.places(), kinematics)
    }

    fn realize_velocity(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<(), Error> {
        self.calc_velocity(Slots::<T, E>::downcast_mut(slots)?, self.places(), kinematics)
    }

    fn realize_dynamics(
        &self,
        slots: &mut dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        sums: Sums<'_, T>,
    ) -> Result<(), Error> {
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        self.calc_dynamics(slots, self.places(), kinematics)?;
        let Sums { forces, potential_energy, power_dissipated, power_absorbed } = sums;
        let before = Energies { stored: *potential_energy, power_dissipated: *power_dissipated };
        let accumulator = ForceAccumulator::new(forces, kinematics);
        let (energies, is_finite) =
            self.sum(slots, self.places(), kinematics, accumulator, before, power_absorbed);
        (*potential_energy, *power_dissipated) = (energies.stored, energies.power_dissipated);
        if !is_finite {
            self.check_finite(slots, kinematics, power_absorbed)?;
        }
        if E::Continuous::FIRST_STAGE.is_some() {
            self.calc_rates(slots, self.places(), kinematics)
        } else {
            Ok(())
        }
    }

    fn prepare_step(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<(), Error> {
        self.prepare_steps(Slots::<T, E>::downcast_mut(slots)?, self.places(), kinematics, true)
    }

    fn prepare_update(
        &self,
        slots: &mut dyn AnySlots<T>,
        start: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
    ) -> Result<T, Error> {
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        let start = Slots::<T, E>::downcast(start)?;
        let mut force_error = T::zero();
        self.prepare(slots, self.places(), kinematics, |element, at, i, next| {
            let error = element.discontinuous_update(at, &start.variables[i].discrete, next)?;
            force_error = force_error.max(finite_force(error)?);
            Ok(next.validate()?)
        })?;
        Ok(force_error)
    }

    fn switching_error(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<T, Error> {
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        let mut force_error = T::zero();
        self.prepare(slots, self.places(), kinematics, |element, at, _, next| {
            let error = element.discontinuous_update(at, at.discrete, next)?;
            force_error = force_error.max(finite_force(error)?);
            Ok(())
        })?;
        Ok(force_error)
    }

    fn energies(
        &self,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<Energies<T>, Error> {
        let slots = Slots::<T, E>::downcast(slots)?;
        Ok(match self.enabled_element(slots, place) {
            Some(element) => {
                let at = slots.at_dynamics(place, kinematics);
                Energies {
                    stored: element.potential_energy(&at),
                    power_dissipated: element.power_dissipated(&at),
                }
            }
            None => Energies::zero(),
        })
    }

    fn add_forces(
        &self,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
        forces: &mut Forces<T>,
    ) -> Result<(), Error> {
        let slots = Slots::<T, E>::downcast(slots)?;
        let accumulator = ForceAccumulator::new(forces, kinematics);
        let power = &mut [T::zero()];
        self.sum(slots, place..place + 1, kinematics, accumulator, Energies::zero(), power);
        Ok(())
    }

    fn powers_absorbed(
        &self,
        slots: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        powers: &mut Vec<T>,
    ) -> Result<(), Error> {
        let slots = Slots::<T, E>::downcast(slots)?;
        let first = powers.len();
        powers.resize(first + self.elements.len(), T::zero());
        self.sum(slots, self.places(), kinematics, accumulator, Energies::zero(), &mut powers[first..]);
        Ok(())
    }

    fn report_stiffness(
        &self,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
        stiffnesses: &mut Stiffnesses<'_, T>,
    ) -> Result<(), Error> {
        let slots = Slots::<T, E>::downcast(slots)?;
        if let Some(element) = self.enabled_element(slots, place) {
            element.report_stiffness(&slots.at_dynamics(place, kinematics), stiffnesses);
        }
        Ok(())
    }

    fn linearize(
        &self,
        slots: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        blocks: KindBlocks<'_, T>,
    ) -> Result<(), Error> {
        self.linearize_all(Slots::<T, E>::downcast(slots)?, kinematics, blocks)
    }

    fn evaluate(
        &self,
        part: Part,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
        mut results: Outputs<'_, T>,
    ) -> Result<(), Error> {
        let only = place..place + 1;
        results.numbers.clear();
        let typed = Slots::<T, E>::downcast_mut(slots)?;
        self.calc_position(typed, only.clone(), kinematics)?;
        self.calc_velocity(typed, only.clone(), kinematics)?;
        self.calc_dynamics(typed, only.clone(), kinematics)?;
        if part == Part::Commit {
            self.prepare_steps(typed, only, kinematics, false)?;
            visit_numbers(&typed.next_discrete[place], &mut |number| results.numbers.push(number));
            return Ok(());
        }
        if part == Part::Variables && E::Continuous::FIRST_STAGE.is_some() {
            self.calc_rates(typed, only, kinematics)?;
        }
        results.forces.set_zero();
        self.add_forces(slots, place, kinematics, results.forces)?;
        results.push_forces();
        if part == Part::Variables && E::Continuous::FIRST_STAGE.is_some() {
            let rates = &Slots::<T, E>::downcast(slots)?.rates[place];
            visit_numbers(rates, &mut |rate| results.numbers.push(rate));
        }
        Ok(())
    }

    fn reset_memory(
        &self,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<Option<Stage>, Error> {
        Slots::<T, E>::downcast_mut(slots)?.change(place, |present, changed| {
            if let Some(element) = &self.elements[place] {
                element.reset_memory(&given(present, kinematics), &mut changed.discrete)?;
            }
            changed.discrete.validate()?;
            Ok(present.discrete.first_stage_changed(&changed.discrete))
        })
    }

    fn calc_stored_and_held(
        &self,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        stage: Stage,
        kinematics: &Kinematics<T>,
    ) -> Result<[T; 2], Error> {
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        if !slots.variables[place].enabled {
            return Ok([T::zero(); 2]);
        }
        let only = place..place + 1;
        if stage < Stage::Position {
            self.calc_position(slots, only.clone(), kinematics)?;
        }
        if stage < Stage::Velocity {
            self.calc_velocity(slots, only.clone(), kinematics)?;
        }
        if stage < Stage::Dynamics {
            self.calc_dynamics(slots, only, kinematics)?;
        }
        let Some(element) = self.enabled_element(slots, place) else { return Ok([T::zero(); 2]) };
        let at = slots.at_dynamics(place, kinematics);
        let energies = [element.potential_energy(&at), element.held_energy(&at)];
        energies
            .into_iter()
            .try_for_each(|energy| finite_force(energy).map(|_| ()))
            .map_err(|source| self.roster.failure(place, source))?;
        Ok(energies)
    }
}

/// Refuses a force error or energy that is not finite.
fn finite_force<T: Real>(value: T) -> Result<T, ElementError> {
    if value.is_finite() { Ok(value) } else { Err(ElementError::NonFiniteForce) }
}

impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// A kind without elements.
    pub(crate) fn new() -> Self {
        Self { roster: Roster::new(E::KIND), elements: Vec::new(), defaults: Vec::new(), layout: 0 }
    }

    /// Puts an element in the first vacant place.
    pub(crate) fn put(
        &mut self,
        element: E,
        name: Option<Arc<str>>,
        defaults: ElementVariables<T, E>,
    ) -> Stamp {
        let (place, stamp) = self.roster.places.add(name);
        self.layout = self.layout.wrapping_add(defaults.layout(place));
        if place == self.elements.len() {
            self.elements.push(Some(element));
            self.defaults.push(defaults);
        } else {
            self.elements[place] = Some(element);
            self.defaults[place] = defaults;
        }
        stamp
    }

    pub(super) fn enabled_element(&self, slots: &Slots<T, E>, place: usize) -> Option<&E> {
        self.elements[place].as_ref().filter(|_| slots.variables[place].enabled)
    }

    pub(super) fn places(&self) -> Range<usize> {
        0..self.elements.len()
    }
}
