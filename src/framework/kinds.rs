//! The elements of one kind in a system. A stage costs one dynamic call per kind.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;
use core::ops::{Range, RangeInclusive};

use crate::framework::element_variables::{check_new, write_numbers};
use crate::framework::handle::Roster;
use crate::framework::loops::{BLOCK, SHIFTS};
use crate::framework::results::has_own;
use crate::framework::slots::{AnySlots, Columns, Results, Slots};
use crate::framework::{
    AtDynamics, ElementError, Error, ForceElement, Linearization, Pen, Stage, State, Stiffnesses, Variables,
    threads,
};
use crate::math::Real;
use crate::mechanics::{ForceAccumulator, Kinematics, Stamp, Topology};

/// All elements of one type in a system.
#[derive(Debug)]
pub(crate) struct Kind<T: Real, E: ForceElement<T>> {
    pub(crate) roster: Roster,
    /// By place; `None` for a vacant place.
    pub(crate) elements: Vec<Option<E>>,
    pub(crate) defaults: Columns<T, E>,
}

/// The purpose for which the next discrete variables are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Next<'a, T: Real> {
    /// The commit of an accepted step.
    Step,
    /// The commit of a trial step. Nothing is committed, and values out of range are allowed.
    TrialStep,
    /// The commit of an update between the iterations of a step, given the state at its start.
    Update(&'a State<T>),
    /// The force error of the present discrete variables; nothing is committed.
    SwitchingError,
}

/// An element at Dynamics stage, with the requests of [`ForceElement`] that are made outside the loops over all elements.
pub(crate) trait AnyElement<T: Real> {
    /// The energy stored, and the power dissipated.
    fn energies(&self) -> [T; 2];
    /// The energy that friction stores, and the energy that it would store if it held.
    fn friction_energy(&self) -> [T; 2];
    fn draw(&self, pen: &mut Pen<'_>);
    fn report_stiffness(&self, stiffnesses: &mut Stiffnesses<'_, T>);
    fn passing_time(&self, within: f64) -> f64;
    fn report_gaps(&self, report: &mut dyn FnMut([T; 2]));
}

impl<T: Real, E: ForceElement<T>> AnyElement<T> for (&E, AtDynamics<'_, T, E>) {
    fn energies(&self) -> [T; 2] {
        let (element, at) = self;
        [element.potential_energy(at), element.power_dissipated(at)]
    }

    fn friction_energy(&self) -> [T; 2] {
        self.0.friction_energy(&self.1)
    }

    fn draw(&self, pen: &mut Pen<'_>) {
        self.0.draw(&self.1, pen);
    }

    fn report_stiffness(&self, stiffnesses: &mut Stiffnesses<'_, T>) {
        self.0.report_stiffness(&self.1, stiffnesses);
    }

    fn passing_time(&self, within: f64) -> f64 {
        self.0.passing_time(&self.1, within)
    }

    fn report_gaps(&self, report: &mut dyn FnMut([T; 2])) {
        self.0.report_gaps(&self.1, report);
    }
}

/// A [`Kind`] whose element type is erased. It works on the part of a state of its system that belongs to all elements,
/// or to only one.
pub(crate) trait AnyKind<T: Real>: Any + Debug + Send + Sync {
    fn roster(&self) -> &Roster;
    fn is_enabled_by_default(&self, place: usize) -> bool;
    fn set_enabled_by_default(&mut self, place: usize, enabled: bool);
    fn remove(&mut self, place: usize);
    /// Refuses a topology without a body or coordinate that the element needs, if there is an element.
    fn check_topology(&self, place: usize, topology: &Topology) -> Result<(), Error>;
    fn new_slots(&self) -> Box<dyn AnySlots<T>>;
    /// Fills the caches of these stages, on several threads if that is worthwhile. Returns the first failure by stage and
    /// place, for any number of threads.
    fn calc(
        &self,
        state: &mut State<T>,
        only: Option<usize>,
        stages: RangeInclusive<Stage>,
    ) -> Result<(), Error>;
    /// Fills the caches of these stages, which end with Dynamics, and the rates of all elements. Adds their forces,
    /// stored energies and the powers that they dissipate and supply to the sums of the state, and writes the power
    /// flowing into each.
    fn realize(&self, state: &mut State<T>, stages: RangeInclusive<Stage>) -> Result<(), Error>;
    /// Fills the rates of the continuous variables, after Dynamics stage.
    fn calc_rates(&self, state: &mut State<T>, only: Option<usize>) -> Result<(), Error>;
    /// Adds forces, after Dynamics stage, and writes the power flowing into each element with the velocities of the
    /// accumulator.
    fn add_forces(
        &self,
        slots: &dyn AnySlots<T>,
        only: Option<usize>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        power_absorbed: &mut [T],
    ) -> Result<(), Error>;
    /// Writes the next discrete variables of every enabled element, on several threads if that is worthwhile, and
    /// validates those to be committed. Those of other elements are copies of the present ones. Returns the largest force
    /// error, or the first failure by place.
    fn prepare(&self, state: &mut State<T>, only: Option<usize>, next: Next<'_, T>) -> Result<T, Error>;
    /// Whether an enabled element has memory that is read only at Dynamics stage, or that depends on the path.
    fn must_accept(&self, state: &State<T>) -> Result<bool, Error>;
    /// Whether there are elements with memory that [depends on the path](ForceElement::is_path_dependent).
    fn is_path_dependent(&self) -> bool;
    /// Calls `ask` with each enabled element, after they have been realized to Dynamics, and its place.
    fn ask(
        &self,
        state: &State<T>,
        only: Option<usize>,
        ask: &mut dyn FnMut(usize, &dyn AnyElement<T>),
    ) -> Result<(), Error>;
    /// Writes the derivatives of all elements, after they have been realized to Dynamics.
    fn linearize(&self, state: &State<T>, to: &mut Linearization<T>) -> Result<(), Error>;
    /// Lets the memory of one element follow parameters, or an enabling, that have just been [written](Slots::change);
    /// undoes the change if that fails. Returns the stage below which the state falls, if the memory has changed.
    fn follow_parameters(&self, state: &mut State<T>, place: usize) -> Result<Option<Stage>, Error>;
    /// Resets the memory of one element; returns the stage below which the state falls, if anything has changed.
    fn reset_memory(&self, state: &mut State<T>, place: usize) -> Result<Option<Stage>, Error>;
}

impl<T: Real, E: ForceElement<T>> AnyKind<T> for Kind<T, E> {
    fn roster(&self) -> &Roster {
        &self.roster
    }

    fn is_enabled_by_default(&self, place: usize) -> bool {
        self.defaults.enabled[place]
    }

    fn set_enabled_by_default(&mut self, place: usize, enabled: bool) {
        self.defaults.enabled[place] = enabled;
    }

    fn remove(&mut self, place: usize) {
        self.roster.layout = self.roster.layout.wrapping_sub(self.defaults.layout(place, place));
        self.roster.places.remove(place);
        self.elements[place] = None;
        self.defaults.swap(place, &mut Columns::of(None));
    }

    fn check_topology(&self, place: usize, topology: &Topology) -> Result<(), Error> {
        let checked =
            self.elements[place].as_ref().map_or(Ok(()), |element| element.check_topology(topology));
        checked.map_err(|source| self.roster.failure(place, source))
    }

    fn new_slots(&self) -> Box<dyn AnySlots<T>> {
        let count = self.elements.len();
        Box::new(Slots::<T, E> {
            roster: self.roster.clone(),
            variables: self.defaults.clone(),
            spare: Columns::of(None),
            next_discrete: self.defaults.discrete.clone(),
            results: (0..count).map(|_| Results::neutral()).collect(),
            rates: self.defaults.continuous.clone(),
        })
    }

    fn calc(
        &self,
        state: &mut State<T>,
        only: Option<usize>,
        stages: RangeInclusive<Stage>,
    ) -> Result<(), Error> {
        let (Slots { variables, results, .. }, kinematics) = self.in_state_mut(state)?;
        let places = self.places(only);
        let (first, results) = (places.start, &mut results[places]);
        let all = results.len().max(1);
        if self.calc_on_threads(variables, (first, results), &stages, kinematics, all, &mut |_, _| ()) {
            return Ok(());
        }
        self.calc_part(variables, first, results, &stages, kinematics)
    }

    fn realize(&self, state: &mut State<T>, stages: RangeInclusive<Stage>) -> Result<(), Error> {
        let start = state.slot_at(self.roster.number, 0);
        let State { kinds, kinematics, forces, totals, continuous, .. } = &mut *state;
        let Slots { variables, results, .. } =
            Slots::<T, E>::downcast_mut(kinds[self.roster.number].as_mut())?;
        let mut is_finite = true;
        let mut sum = |first: usize, results: &[Results<T, E>]| {
            let accumulator = ForceAccumulator::new(forces, kinematics);
            let power_absorbed = &mut continuous.rates[start + first..][..results.len()];
            is_finite &=
                self.sum(variables, (first, results), kinematics, accumulator, totals, power_absorbed);
        };
        let at_once = BLOCK.max(results.len().div_ceil(SHIFTS));
        if !self.calc_on_threads(variables, (0, results), &stages, kinematics, at_once, &mut sum) {
            for (i, block) in results.chunks_mut(BLOCK).enumerate() {
                self.calc_part(variables, i * BLOCK, block, &stages, kinematics)?;
                sum(i * BLOCK, block);
            }
        }
        if !is_finite {
            self.check_finite(state)?;
        }
        self.calc_rates(state, None)
    }

    fn calc_rates(&self, state: &mut State<T>, only: Option<usize>) -> Result<(), Error> {
        if E::Continuous::FIRST_STAGE.is_none() {
            return Ok(());
        }
        let (slots, kinematics) = self.in_state_mut(state)?;
        let places = self.places(only);
        let mut all = core::mem::take(&mut slots.rates);
        let calculated = places.clone().zip(&mut all[places]).try_for_each(|(i, rates)| {
            write_numbers(rates, &mut T::zero);
            let Some(element) = self.enabled_element(slots, i) else { return Ok(()) };
            let mut is_finite = true;
            element
                .calc_rates(&slots.at_dynamics(i, kinematics), rates)
                .and_then(|()| {
                    rates.visit(&mut |entry| is_finite &= entry.value.number().is_finite());
                    if is_finite { Ok(()) } else { Err(ElementError::NonFiniteRate) }
                })
                .map_err(|source| self.roster.failure(i, source))
        });
        slots.rates = all;
        calculated
    }

    fn add_forces(
        &self,
        slots: &dyn AnySlots<T>,
        only: Option<usize>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        power_absorbed: &mut [T],
    ) -> Result<(), Error> {
        let Slots { variables, results, .. } = Slots::<T, E>::downcast(slots)?;
        let places = self.places(only);
        let part = (places.start, &results[places]);
        self.sum(variables, part, kinematics, accumulator, &mut [T::zero(); 3], power_absorbed);
        Ok(())
    }

    fn prepare(&self, state: &mut State<T>, only: Option<usize>, next: Next<'_, T>) -> Result<T, Error> {
        let (slots, kinematics) = self.in_state_mut(state)?;
        let places = self.places(only);
        let mut next_discrete = core::mem::take(&mut slots.next_discrete);
        let (first, to) = (places.start, &mut next_discrete[places]);
        let threads = Self::threads(to.len(), &(Stage::Dynamics..=Stage::Dynamics));
        let write = |first: usize, to: &mut [_]| Some(self.write_part(slots, first, to, kinematics, next));
        // The first of two failures is kept.
        let merge = |a: Option<Result<T, _>>, b: Option<Result<T, _>>| {
            a.zip(b).map(|(a, b)| Ok::<_, Error>(a?.max(b?)))
        };
        let written = threads::halve(first, to, threads, &write, merge).unwrap_or_else(|| Ok(T::zero()));
        slots.next_discrete = next_discrete;
        written
    }

    fn must_accept(&self, state: &State<T>) -> Result<bool, Error> {
        let (slots, _) = self.in_state(state)?;
        Ok(self.places(None).any(|place| {
            let stage = slots.variables.discrete[place].first_stage();
            let element = self.enabled_element(slots, place).filter(|_| stage.is_some());
            element.is_some_and(|element| stage == Some(Stage::Dynamics) || element.is_path_dependent())
        }))
    }

    fn is_path_dependent(&self) -> bool {
        E::Discrete::FIRST_STAGE.is_some() && self.elements.iter().flatten().any(E::is_path_dependent)
    }

    fn ask(
        &self,
        state: &State<T>,
        only: Option<usize>,
        ask: &mut dyn FnMut(usize, &dyn AnyElement<T>),
    ) -> Result<(), Error> {
        let (slots, kinematics) = self.in_state(state)?;
        for place in self.places(only) {
            if let Some(element) = self.enabled_element(slots, place) {
                ask(place, &(element, slots.at_dynamics(place, kinematics)));
            }
        }
        Ok(())
    }

    fn linearize(&self, state: &State<T>, to: &mut Linearization<T>) -> Result<(), Error> {
        self.linearize_all(state, to)
    }

    fn follow_parameters(&self, state: &mut State<T>, place: usize) -> Result<Option<Stage>, Error> {
        let (Slots { roster, variables, spare, .. }, kinematics) = self.in_state_mut(state)?;
        let Some(element) = &self.elements[place] else { return Ok(None) };
        let is_enabled_anew = variables.enabled[place] && !spare.enabled[0];
        let Columns { parameters: before, discrete, .. } = spare;
        let next = &mut discrete[0];
        let given = variables.given(place, kinematics);
        let mut has_followed = false;
        if before[0].first_stage_changed(&variables.parameters[place]).is_some() {
            has_followed |= element.follow_parameters(Some(&before[0]), &given, &kinematics.velocities, next);
        }
        if is_enabled_anew {
            has_followed |= element.follow_parameters(None, &given, &kinematics.velocities, next);
        }
        if !has_followed {
            return Ok(None);
        }
        let changed = match check_new(&variables.discrete[place], next) {
            Ok(changed) => changed,
            Err(refused) => {
                next.clone_from(&variables.discrete[place]);
                variables.swap(place, spare);
                return Err(roster.failure(place, refused));
            }
        };
        core::mem::swap(&mut variables.discrete[place], next);
        Ok(changed)
    }

    fn reset_memory(&self, state: &mut State<T>, place: usize) -> Result<Option<Stage>, Error> {
        let (slots, kinematics) = self.in_state_mut(state)?;
        slots.change(place, |present, changed| {
            let next = &mut changed.discrete[0];
            if let Some(element) = &self.elements[place] {
                element.reset_memory(&present.given(place, kinematics), &kinematics.velocities, next)?;
            }
            check_new(&present.discrete[place], next)
        })
    }
}

impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// The kind with this number in its system, without elements.
    pub(crate) fn new(number: usize) -> Self {
        let has_own = has_own::<T, E>();
        let roster = Roster { kind: E::KIND, number, places: Arc::default(), layout: 0, has_own };
        Self { roster, elements: Vec::new(), defaults: Columns::none() }
    }

    /// Puts an element in the first vacant place.
    pub(crate) fn put(&mut self, element: E, name: Option<Arc<str>>, mut defaults: Columns<T, E>) -> Stamp {
        let (place, stamp) = self.roster.places.add(name);
        self.roster.layout = self.roster.layout.wrapping_add(defaults.layout(0, place));
        if place == self.elements.len() {
            self.elements.push(Some(element));
            self.defaults.append(defaults);
        } else {
            self.elements[place] = Some(element);
            self.defaults.swap(place, &mut defaults);
        }
        stamp
    }

    /// The part of a state that belongs to these elements, and its motion.
    pub(super) fn in_state<'a>(
        &self,
        state: &'a State<T>,
    ) -> Result<(&'a Slots<T, E>, &'a Kinematics<T>), Error> {
        Ok((Slots::downcast(state.kinds[self.roster.number].as_ref())?, &state.kinematics))
    }

    fn in_state_mut<'a>(
        &self,
        state: &'a mut State<T>,
    ) -> Result<(&'a mut Slots<T, E>, &'a Kinematics<T>), Error> {
        Ok((Slots::downcast_mut(state.kinds[self.roster.number].as_mut())?, &state.kinematics))
    }

    fn places(&self, only: Option<usize>) -> Range<usize> {
        only.map_or(0..self.elements.len(), |place| place..place + 1)
    }

    pub(super) fn enabled_element(&self, slots: &Slots<T, E>, place: usize) -> Option<&E> {
        self.elements[place].as_ref().filter(|_| slots.variables.enabled[place])
    }
}
