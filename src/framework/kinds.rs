//! The elements of one kind, as a system keeps them. A stage costs one dynamic call per kind.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;
use core::ops::{Range, RangeInclusive};

use crate::framework::draw::Pen;
use crate::framework::element::ForceElement;
use crate::framework::element_variables::ElementVariables;
use crate::framework::linearize::KindLinearization;
use crate::framework::results::Cache;
use crate::framework::roster::Roster;
use crate::framework::slots::{AnySlots, Columns, Slots};
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

/// A number that belongs to one element at Dynamics stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Stored,
    /// The energy that would be stored if friction held.
    Held,
    PowerDissipated,
}

/// What the next discrete variables are written for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Next<'a, T: Real> {
    /// The commit of an accepted step.
    Step,
    /// The same, but nothing is committed: values out of range are allowed.
    TrialStep,
    /// The commit of an update between the iterations of a step, given the variables at its start.
    Update(&'a dyn AnySlots<T>),
    /// The force error of the present ones: nothing is committed.
    SwitchingError,
}

/// A [`Kind`] whose element type is not known.
pub(crate) trait AnyKind<T: Real>: Any + Debug + Send + Sync {
    fn roster(&self) -> &Roster;
    fn is_enabled_by_default(&self, place: usize) -> bool;
    fn set_enabled_by_default(&mut self, place: usize, enabled: bool);
    fn remove(&mut self, place: usize);
    /// Whether the topology has all bodies and coordinates that the element needs, if there is one.
    fn fits(&self, place: usize, topology: &Topology) -> bool;
    fn new_slots(&self) -> Box<dyn AnySlots<T>>;
    /// Fills the caches of these stages.
    fn calc(
        &self,
        slots: &mut dyn AnySlots<T>,
        places: Range<usize>,
        stages: RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error>;
    /// Fills the caches of these stages, which end with Dynamics, and the rates of all elements, and adds up what they exert,
    /// store and absorb.
    fn realize(
        &self,
        slots: &mut dyn AnySlots<T>,
        stages: RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
        sums: Sums<'_, T>,
    ) -> Result<(), Error>;
    /// Fills the rates of the continuous variables, after Dynamics stage.
    fn calc_rates(
        &self,
        slots: &mut dyn AnySlots<T>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error>;
    /// Adds forces, after Dynamics stage, and writes the power flowing into each element with the velocities of the
    /// accumulator.
    fn add_forces(
        &self,
        slots: &dyn AnySlots<T>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        power_absorbed: &mut [T],
    ) -> Result<(), Error>;
    /// Writes the next discrete variables, and validates those to be committed; returns the largest force error.
    fn prepare(
        &self,
        slots: &mut dyn AnySlots<T>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
        next: Next<'_, T>,
    ) -> Result<T, Error>;
    /// An energy or power of one element, after it has been realized to Dynamics; zero while it is disabled.
    fn measure(
        &self,
        measure: Measure,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<T, Error>;
    /// Draws one element, after it has been realized to Dynamics; nothing while it is disabled.
    fn draw(&self, slots: &dyn AnySlots<T>, place: usize, kinematics: &Kinematics<T>, pen: &mut Pen<'_>);
    /// Lets one element report its stiffness, after it has been realized to Dynamics; nothing while it is disabled.
    fn report_stiffness(
        &self,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
        stiffnesses: &mut Stiffnesses<'_, T>,
    ) -> Result<(), Error>;
    /// Writes the derivatives of all elements, after they have been realized to Dynamics.
    fn linearize(
        &self,
        slots: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        to: &mut KindLinearization<T>,
    ) -> Result<(), Error>;
    /// Resets the memory of one element; returns the stage below which the state falls, if anything has changed.
    fn reset_memory(
        &self,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<Option<Stage>, Error>;
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

    fn remove(&mut self, place: usize) {
        self.roster.layout = self.roster.layout.wrapping_sub(self.defaults[place].layout(place));
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
            variables: Columns::repeat(self.defaults.iter().map(ElementVariables::present), 1),
            spare: None,
            next_discrete: self.defaults.iter().map(|variable| variable.discrete.clone()).collect(),
            position: (0..count).map(|_| E::Position::neutral()).collect(),
            velocity: (0..count).map(|_| E::Velocity::neutral()).collect(),
            dynamics: (0..count).map(|_| E::Dynamics::neutral()).collect(),
            rates: self.defaults.iter().map(|variable| variable.continuous.clone()).collect(),
        })
    }

    fn calc(
        &self,
        slots: &mut dyn AnySlots<T>,
        places: Range<usize>,
        stages: RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        self.calc_stages(Slots::<T, E>::downcast_mut(slots)?, places, stages, kinematics)
    }

    fn realize(
        &self,
        slots: &mut dyn AnySlots<T>,
        stages: RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
        sums: Sums<'_, T>,
    ) -> Result<(), Error> {
        let places = 0..self.elements.len();
        let typed = Slots::<T, E>::downcast_mut(slots)?;
        let Sums { forces, potential_energy, power_dissipated, power_absorbed } = sums;
        let mut is_finite = true;
        let mut sum = |slots: &Slots<T, E>, block: Range<usize>, power_absorbed: &mut [T]| {
            let accumulator = ForceAccumulator::new(forces, kinematics);
            let energies = [&mut *potential_energy, &mut *power_dissipated];
            is_finite &= self.sum(slots, block, kinematics, accumulator, energies, power_absorbed);
        };
        for block in self.blocks(&stages) {
            self.calc_stages(typed, block.clone(), stages.clone(), kinematics)?;
            let power_absorbed = &mut power_absorbed[block.clone()];
            sum(typed, block, power_absorbed);
        }
        if !is_finite {
            self.check_finite(typed, kinematics, power_absorbed)?;
        }
        self.calc_rates(slots, places, kinematics)
    }

    fn calc_rates(
        &self,
        slots: &mut dyn AnySlots<T>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        if E::Continuous::FIRST_STAGE.is_none() {
            return Ok(());
        }
        self.write_rates(Slots::<T, E>::downcast_mut(slots)?, places, kinematics)
    }

    fn add_forces(
        &self,
        slots: &dyn AnySlots<T>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        power_absorbed: &mut [T],
    ) -> Result<(), Error> {
        let slots = Slots::<T, E>::downcast(slots)?;
        let energies = [&mut T::zero(), &mut T::zero()];
        self.sum(slots, places, kinematics, accumulator, energies, power_absorbed);
        Ok(())
    }

    fn prepare(
        &self,
        slots: &mut dyn AnySlots<T>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
        next: Next<'_, T>,
    ) -> Result<T, Error> {
        let start = if let Next::Update(start) = next { Some(Slots::<T, E>::downcast(start)?) } else { None };
        let is_step = matches!(next, Next::Step | Next::TrialStep);
        let commits = matches!(next, Next::Step | Next::Update(_));
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        let mut force_error = T::zero();
        self.write_next(slots, places, kinematics, |element, at, i, next| {
            if is_step {
                element.accept_step(at, next)?;
            } else {
                let start = start.map_or(at.discrete, |start| &start.variables.discrete[i]);
                let error = element.discontinuous_update(at, start, next)?;
                if !error.is_finite() {
                    return Err(ElementError::NonFiniteForce);
                }
                force_error = force_error.max(error);
            }
            if commits {
                next.validate()?;
            }
            Ok(())
        })?;
        Ok(force_error)
    }

    fn measure(
        &self,
        measure: Measure,
        slots: &dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<T, Error> {
        let slots = Slots::<T, E>::downcast(slots)?;
        let Some(element) = self.enabled_element(slots, place) else { return Ok(T::zero()) };
        let at = slots.at_dynamics(place, kinematics);
        Ok(match measure {
            Measure::Stored => element.potential_energy(&at),
            Measure::Held => element.held_energy(&at),
            Measure::PowerDissipated => element.power_dissipated(&at),
        })
    }

    fn draw(&self, slots: &dyn AnySlots<T>, place: usize, kinematics: &Kinematics<T>, pen: &mut Pen<'_>) {
        if let Ok(slots) = Slots::<T, E>::downcast(slots)
            && let Some(element) = self.enabled_element(slots, place)
        {
            element.draw(&slots.at_dynamics(place, kinematics), pen);
        }
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
        to: &mut KindLinearization<T>,
    ) -> Result<(), Error> {
        self.linearize_all(Slots::<T, E>::downcast(slots)?, kinematics, to)
    }

    fn reset_memory(
        &self,
        slots: &mut dyn AnySlots<T>,
        place: usize,
        kinematics: &Kinematics<T>,
    ) -> Result<Option<Stage>, Error> {
        Slots::<T, E>::downcast_mut(slots)?.change(place, |present, changed| {
            if let Some(element) = &self.elements[place] {
                let given = present.given(kinematics);
                element.reset_memory(&given, &kinematics.velocities, &mut changed.discrete)?;
            }
            changed.discrete.validate()?;
            Ok(present.discrete.first_stage_changed(&changed.discrete))
        })
    }
}

impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// A kind without elements.
    pub(crate) fn new() -> Self {
        Self { roster: Roster::new(E::KIND), elements: Vec::new(), defaults: Vec::new() }
    }

    /// Puts an element in the first vacant place.
    pub(crate) fn put(
        &mut self,
        element: E,
        name: Option<Arc<str>>,
        defaults: ElementVariables<T, E>,
    ) -> Stamp {
        let (place, stamp) = self.roster.places.add(name);
        self.roster.layout = self.roster.layout.wrapping_add(defaults.layout(place));
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
        self.elements[place].as_ref().filter(|_| slots.variables.enabled[place])
    }
}
