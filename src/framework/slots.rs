//! Variables and results of the elements of one kind in a state, in contiguous vectors.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;
use core::ops::Range;

use crate::framework::element_variables::write_numbers;
use crate::framework::handle::Roster;
use crate::framework::variables::{Value, Visitor, VisitorMut};
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Cache, ElementResult, Error, ForceElement, Given, Stage, Variables,
};
use crate::math::{Real, clone_by_field};
use crate::mechanics::{Kinematics, Velocities};

/// All elements of one type in a state.
#[derive(Debug)]
pub(crate) struct Slots<T: Real, E: ForceElement<T>> {
    pub(crate) roster: Roster,
    pub(crate) variables: Columns<T, E>,
    /// A row in which variables are changed and checked before they replace the present ones.
    pub(crate) spare: Columns<T, E>,
    /// The next variables of all elements; the present ones where no others were prepared.
    pub(crate) next_discrete: Vec<E::Discrete>,
    pub(crate) results: Vec<Results<T, E>>,
    /// Rates of the continuous variables.
    pub(crate) rates: Vec<E::Continuous>,
}

clone_by_field!([T: Real, E: ForceElement<T>] Slots<T, E> { roster, variables, spare, next_discrete, results, rates });

/// The results of one element at all stages.
#[derive(Debug)]
pub(crate) struct Results<T: Real, E: ForceElement<T>> {
    pub(crate) position: E::Position,
    pub(crate) velocity: E::Velocity,
    pub(crate) dynamics: E::Dynamics,
}

clone_by_field!([T: Real, E: ForceElement<T>] Results<T, E> { position, velocity, dynamics });

impl<T: Real, E: ForceElement<T>> Results<T, E> {
    /// The results of a disabled element.
    pub(crate) fn neutral() -> Self {
        let (position, velocity) = (E::Position::neutral(), E::Velocity::neutral());
        Self { position, velocity, dynamics: E::Dynamics::neutral() }
    }

    /// Visits the results of all stages under their names within the element.
    pub(crate) fn visit(&self, visit: Visitor<'_, T>) {
        self.position.visit(Stage::Position, visit);
        self.velocity.visit(Stage::Velocity, visit);
        self.dynamics.visit(Stage::Dynamics, visit);
    }

    #[inline]
    pub(crate) fn at_dynamics<'a>(
        &'a self,
        given: Given<'a, T, E>,
        velocities: &'a Velocities<T>,
    ) -> AtDynamics<'a, T, E> {
        let at_position = AtPosition { given, velocities, position: &self.position };
        let at_velocity = AtVelocity { at_position, velocity: &self.velocity };
        AtDynamics { at_velocity, dynamics: &self.dynamics }
    }
}

/// The variables of the elements of one kind, by place. There is one vector for each group, so that a stage streams only
/// the variables that it reads, and a commit swaps two vectors.
#[derive(Debug)]
pub(crate) struct Columns<T: Real, E: ForceElement<T>> {
    pub(crate) enabled: Vec<bool>,
    pub(crate) parameters: Vec<E::Parameters>,
    pub(crate) discrete: Vec<E::Discrete>,
    pub(crate) continuous: Vec<E::Continuous>,
}

impl<T: Real, E: ForceElement<T>> Columns<T, E> {
    /// No rows.
    pub(crate) fn none() -> Self {
        Self { enabled: vec![], parameters: vec![], discrete: vec![], continuous: vec![] }
    }

    /// One row: the defaults of an element, or those of a vacant place.
    pub(crate) fn of(element: Option<&E>) -> Self {
        Self {
            enabled: vec![element.is_some()],
            parameters: vec![element.map(E::default_parameters).unwrap_or_default()],
            discrete: vec![element.map(E::default_discrete).unwrap_or_default()],
            continuous: vec![element.map(E::default_continuous).unwrap_or_default()],
        }
    }

    /// A number of copies of all rows, one after the other.
    fn repeat(&self, count: usize) -> Self {
        let mut all = Self::none();
        (0..count).for_each(|_| all.append(self.clone()));
        all
    }

    /// Appends these rows.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.enabled.append(&mut others.enabled);
        self.parameters.append(&mut others.parameters);
        self.discrete.append(&mut others.discrete);
        self.continuous.append(&mut others.continuous);
    }

    /// Swaps the variables of one element with the first of these rows.
    pub(crate) fn swap(&mut self, place: usize, others: &mut Self) {
        core::mem::swap(&mut self.enabled[place], &mut others.enabled[0]);
        core::mem::swap(&mut self.parameters[place], &mut others.parameters[0]);
        core::mem::swap(&mut self.discrete[place], &mut others.discrete[0]);
        core::mem::swap(&mut self.continuous[place], &mut others.continuous[0]);
    }

    /// Replaces the variables at these places by those of `source` from the place `first` on.
    fn copy(&mut self, places: Range<usize>, source: &Self, first: usize) {
        let from = first..first + places.len();
        self.enabled[places.clone()].copy_from_slice(&source.enabled[from.clone()]);
        self.parameters[places.clone()].clone_from_slice(&source.parameters[from.clone()]);
        self.discrete[places.clone()].clone_from_slice(&source.discrete[from.clone()]);
        self.continuous[places].clone_from_slice(&source.continuous[from]);
    }
}

clone_by_field!([T: Real, E: ForceElement<T>] Columns<T, E> { enabled, parameters, discrete, continuous });

/// [`Slots`] whose element type is erased.
pub(crate) trait AnySlots<T: Real>: Any + Debug + Send + Sync {
    fn clone_box(&self) -> Box<dyn AnySlots<T>>;
    /// A number of copies of the variables of all elements, one after the other, without results.
    fn repeat_variables(&self, count: usize) -> Box<dyn AnySlots<T>>;
    /// Becomes a copy of slots of the same kind, reusing its memory.
    fn copy_from(&mut self, source: &dyn AnySlots<T>) -> Result<(), Error>;
    /// Replaces the variables at these places by those of other slots from the place `first` on.
    fn copy_variables(
        &mut self,
        places: Range<usize>,
        source: &dyn AnySlots<T>,
        first: usize,
    ) -> Result<(), Error>;
    fn roster(&self) -> &Roster;
    fn is_enabled(&self, place: usize) -> bool;
    /// Sets variables by their names within one element; returns the stage below which the state falls, if anything has
    /// changed.
    fn set(&mut self, place: usize, values: &[(&str, T)]) -> Result<Option<Stage>, Error>;
    /// Commits the prepared variables; returns the stage below which the state falls, if anything may have
    /// changed.
    fn commit(&mut self) -> Option<Stage>;
    /// Visits numbers of one element under their names within it.
    fn visit(&self, place: usize, group: Group, visit: Visitor<'_, T>);
    /// Visits all variables of one element under their names within it.
    fn visit_mut(&mut self, place: usize, visit: VisitorMut<'_, T>);
    fn validate(&self, place: usize) -> Result<(), Error>;
    /// The first stage that reads continuous variables; `None` if the elements have none.
    fn continuous_stage(&self) -> Option<Stage>;
    /// Writes each continuous variable of all elements, and checks their ranges.
    fn write_continuous(&mut self, next: &mut dyn FnMut() -> T) -> Result<(), Error>;
}

/// The groups of numbers of an element that can be visited in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// The flag of an enabled element, its parameters, discrete and continuous variables.
    Variables,
    Parameters,
    Discrete,
    Continuous,
    /// The discrete variables that were prepared.
    NextDiscrete,
    /// The rates of the continuous variables.
    Rates,
    /// The results of all stages.
    Results,
}

impl<T: Real> Clone for Box<dyn AnySlots<T>> {
    fn clone(&self) -> Self {
        self.as_ref().clone_box()
    }

    fn clone_from(&mut self, source: &Self) {
        if self.as_mut().copy_from(source.as_ref()).is_err() {
            *self = source.clone();
        }
    }
}

impl<T: Real> dyn AnySlots<T> {
    /// Calls `visit` with each number of one element in a group.
    pub(crate) fn visit_numbers(&self, place: usize, group: Group, visit: &mut dyn FnMut(T)) {
        self.visit(place, group, &mut |entry| {
            if let Value::Number(number) = entry.value {
                visit(number);
            }
        });
    }

    /// Calls `visit` with each number of a group of continuous variables or rates of all elements.
    pub(crate) fn visit_continuous(&self, group: Group, visit: &mut dyn FnMut(T)) {
        if self.continuous_stage().is_some() {
            self.roster().places.iter().for_each(|(place, _)| self.visit_numbers(place, group, visit));
        }
    }

    /// The numbers of parameters, discrete and continuous variables of one element.
    pub(crate) fn counts(&self, place: usize) -> [usize; 3] {
        [Group::Parameters, Group::Discrete, Group::Continuous].map(|group| {
            let mut count = 0;
            self.visit_numbers(place, group, &mut |_| count += 1);
            count
        })
    }
}

impl<T: Real, E: ForceElement<T>> Slots<T, E> {
    pub(crate) fn downcast(slots: &dyn AnySlots<T>) -> Result<&Self, Error> {
        (slots as &dyn Any).downcast_ref().ok_or(Error::TopologyMismatch)
    }

    pub(crate) fn downcast_mut(slots: &mut dyn AnySlots<T>) -> Result<&mut Self, Error> {
        (slots as &mut dyn Any).downcast_mut().ok_or(Error::TopologyMismatch)
    }

    /// One element with its results at Dynamics stage.
    #[inline]
    pub(crate) fn at_dynamics<'a>(
        &'a self,
        place: usize,
        kinematics: &'a Kinematics<T>,
    ) -> AtDynamics<'a, T, E> {
        self.results[place].at_dynamics(self.variables.given(place, kinematics), &kinematics.velocities)
    }

    /// Changes a copy of the variables of one element, a single row, which replaces them if `change` succeeds. `change`
    /// also receives the present variables of all elements.
    pub(crate) fn change<R>(
        &mut self,
        place: usize,
        change: impl FnOnce(&Columns<T, E>, &mut Columns<T, E>) -> ElementResult<R>,
    ) -> Result<R, Error> {
        let Self { roster, variables, spare, .. } = self;
        spare.copy(0..1, variables, place);
        let result = change(variables, spare).map_err(|source| roster.failure(place, source))?;
        variables.swap(place, spare);
        Ok(result)
    }
}

impl<T: Real, E: ForceElement<T>> AnySlots<T> for Slots<T, E> {
    fn clone_box(&self) -> Box<dyn AnySlots<T>> {
        Box::new(self.clone())
    }

    fn repeat_variables(&self, count: usize) -> Box<dyn AnySlots<T>> {
        Box::new(Self {
            roster: self.roster.clone(),
            variables: self.variables.repeat(count),
            spare: Columns::of(None),
            next_discrete: Vec::new(),
            results: Vec::new(),
            rates: Vec::new(),
        })
    }

    fn copy_from(&mut self, source: &dyn AnySlots<T>) -> Result<(), Error> {
        self.clone_from(Self::downcast(source)?);
        Ok(())
    }

    fn copy_variables(
        &mut self,
        places: Range<usize>,
        source: &dyn AnySlots<T>,
        first: usize,
    ) -> Result<(), Error> {
        self.variables.copy(places, &Self::downcast(source)?.variables, first);
        Ok(())
    }

    fn roster(&self) -> &Roster {
        &self.roster
    }

    fn is_enabled(&self, place: usize) -> bool {
        self.variables.enabled[place]
    }

    fn set(&mut self, place: usize, values: &[(&str, T)]) -> Result<Option<Stage>, Error> {
        if let Some((field, _)) =
            values.iter().find(|(field, _)| self.variables.number(place, field).is_none())
        {
            return Err(Error::NoSuchVariable { name: format!("{}[{place}].{field}", E::KIND) });
        }
        self.change(place, |_, changed| changed.set(values))
    }

    fn commit(&mut self) -> Option<Stage> {
        // The variables of a moving element change with every step, so a comparison would only take time.
        let earliest = E::Discrete::FIRST_STAGE?;
        core::mem::swap(&mut self.variables.discrete, &mut self.next_discrete);
        let mut changed: Option<Stage> = None;
        for (present, _) in
            self.variables.discrete.iter().zip(&self.variables.enabled).filter(|&(_, &enabled)| enabled)
        {
            changed = changed.into_iter().chain(present.first_stage()).min();
            if changed == Some(earliest) {
                break;
            }
        }
        changed
    }

    fn visit(&self, place: usize, group: Group, visit: Visitor<'_, T>) {
        let variables = &self.variables;
        match group {
            Group::Variables => variables.visit(place, visit),
            Group::Parameters => variables.parameters[place].visit(visit),
            Group::Discrete => variables.discrete[place].visit(visit),
            Group::Continuous => variables.continuous[place].visit(visit),
            Group::NextDiscrete => self.next_discrete[place].visit(visit),
            Group::Rates => self.rates[place].visit(visit),
            Group::Results => self.results[place].visit(visit),
        }
    }

    fn visit_mut(&mut self, place: usize, visit: VisitorMut<'_, T>) {
        self.variables.visit_mut(place, visit);
    }

    fn validate(&self, place: usize) -> Result<(), Error> {
        self.variables.validate(place).map_err(|error| self.roster.failure(place, error.into()))
    }

    fn continuous_stage(&self) -> Option<Stage> {
        E::Continuous::FIRST_STAGE.filter(|_| self.roster.places.iter().next().is_some())
    }

    fn write_continuous(&mut self, next: &mut dyn FnMut() -> T) -> Result<(), Error> {
        let Self { roster, variables, .. } = self;
        let mut outcome = Ok(());
        for (place, _) in roster.places.iter() {
            let continuous = &mut variables.continuous[place];
            write_numbers(continuous, next);
            if outcome.is_ok() {
                outcome = continuous.validate().map_err(|error| roster.failure(place, error.into()));
            }
        }
        outcome
    }
}
