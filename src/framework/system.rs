//! Systems of bodies, coordinates and elements, and the operations on their states.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::framework::continuous::{Continuous, finite_energy};
use crate::framework::element_variables::check_new;
use crate::framework::handle::Roster;
use crate::framework::handle::or_panic;
use crate::framework::kinds::{AnyElement, AnyKind, Kind, Next};
use crate::framework::slots::{Columns, Group};
use crate::framework::snapshot::chain;
use crate::framework::springs::Springs;
use crate::framework::{
    DynamicsView, ElementError, ElementId, ElementName, Error, ForceElement, Handle, PositionView, Stage,
    State, Variables, VelocityView,
};
use crate::math::Real;
use crate::mechanics::{BodyIndex, CoordinateIndex, Forces, Kinematics, Topology};

/// A stamp that distinguishes systems and versions of one system.
pub(super) fn next_stamp() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Bodies, coordinates and force elements.
///
/// A system never changes while it is evaluated: everything that varies is in a [`State`]. One system therefore serves
/// any number of states on any number of threads. After a body, coordinate or element has been added or removed, earlier
/// states are refused ([`Error::TopologyMismatch`]) until they are [carried over](Self::carry_over). A changed default
/// applies to states made afterwards.
#[derive(Debug)]
pub struct ForceSystem<T: Real> {
    pub(super) id: usize,
    pub(super) version: usize,
    pub(super) topology: Topology,
    pub(super) kinds: Vec<Box<dyn AnyKind<T>>>,
}

impl<T: Real> Default for ForceSystem<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> ForceSystem<T> {
    /// A system with only Ground.
    pub fn new() -> Self {
        Self { id: next_stamp(), version: next_stamp(), topology: Topology::new(), kinds: Vec::new() }
    }

    /// The bodies and coordinates, with their names.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The bodies, without Ground, by place.
    pub fn bodies(&self) -> impl Iterator<Item = BodyIndex> + Clone + '_ {
        self.topology.bodies()
    }

    /// The coordinates, by place.
    pub fn coordinates(&self) -> impl Iterator<Item = CoordinateIndex> + Clone + '_ {
        self.topology.coordinates()
    }

    /// The elements of all kinds, by kind and place.
    pub fn elements(&self) -> impl Iterator<Item = ElementId> + '_ {
        self.kinds.iter().flat_map(|kind| kind.roster().ids())
    }

    /// The number of elements of all kinds.
    pub fn element_count(&self) -> usize {
        self.elements().count()
    }

    /// Whether the system has the element.
    pub fn contains(&self, element: impl Into<ElementId>) -> bool {
        self.check(element.into()).is_ok()
    }

    /// The element of this name.
    pub fn find_element(&self, name: &str) -> Option<ElementId> {
        self.kinds.iter().find_map(|kind| kind.roster().id(kind.roster().places.find(name)?.0))
    }

    /// The kind, place and name of an element.
    ///
    /// # Panics
    /// If the system does not have it, like slice indexing; see [`contains`](Self::contains).
    pub fn element_name(&self, element: impl Into<ElementId>) -> ElementName {
        or_panic(self.name_of(element.into()))
    }

    /// The typed handle of an element; `None` if the element is of another type, or the system does not have it.
    pub fn handle<E: ForceElement<T>>(&self, element: ElementId) -> Option<Handle<E>> {
        let handle = Handle::new(element);
        self.try_element::<E>(handle).is_ok().then_some(handle)
    }

    /// The element itself.
    ///
    /// # Panics
    /// If the system does not have it, like slice indexing; [`try_element`](Self::try_element) does not.
    pub fn element<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E {
        or_panic(self.try_element(handle))
    }

    /// The element itself.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have it.
    pub fn try_element<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E, Error> {
        let element = self.kind(handle)?.elements[handle.place()].as_ref();
        element.ok_or(Error::NoSuchElement { element: handle.id() })
    }

    /// The parameters that new states start with.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; see [`contains`](Self::contains).
    pub fn default_parameters<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E::Parameters {
        &or_panic(self.kind(handle)).defaults.parameters[handle.place()]
    }

    /// Sets the parameters that new states start with.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] if they are out of range, or with
    /// [`ElementError::ForeignVariables`] if they belong to an element with other parts;
    /// [`Error::NoSuchElement`] if the system does not have the element.
    pub fn set_default_parameters<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        parameters: E::Parameters,
    ) -> Result<(), Error> {
        self.set_default(handle, |defaults| &mut defaults.parameters, parameters)
    }

    /// The discrete variables that new states start with.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; see [`contains`](Self::contains).
    pub fn default_discrete<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E::Discrete {
        &or_panic(self.kind(handle)).defaults.discrete[handle.place()]
    }

    /// Sets the discrete variables that new states start with.
    ///
    /// # Errors
    /// As [`set_default_parameters`](Self::set_default_parameters).
    pub fn set_default_discrete<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        discrete: E::Discrete,
    ) -> Result<(), Error> {
        self.set_default(handle, |defaults| &mut defaults.discrete, discrete)
    }

    /// Whether the element is enabled in new states; by default it is.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; see [`contains`](Self::contains).
    pub fn is_enabled_by_default(&self, element: impl Into<ElementId>) -> bool {
        let id = or_panic(self.check(element.into()));
        self.kinds[id.kind()].is_enabled_by_default(id.place())
    }

    /// Sets whether the element is enabled in new states.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have the element.
    pub fn set_enabled_by_default(
        &mut self,
        element: impl Into<ElementId>,
        enabled: bool,
    ) -> Result<(), Error> {
        let id = self.check(element.into())?;
        self.kinds[id.kind()].set_enabled_by_default(id.place(), enabled);
        Ok(())
    }

    /// A state with default parameters and discrete variables, at time zero, with all bodies at
    /// rest at the Ground origin.
    pub fn default_state(&self) -> State<T> {
        let places = self.kinds.iter().map(|kind| kind.roster().places.len()).sum();
        let rosters = self.kinds.iter().map(|kind| kind.roster());
        let layouts =
            rosters.filter(|roster| roster.places.iter().next().is_some()).map(|roster| roster.layout);
        let mut state = State {
            system: self.id,
            version: self.version,
            stage: Stage::Topology,
            kinematics: Kinematics::at_rest(&self.topology),
            incoming: Kinematics::at_rest(&self.topology),
            kinds: self.kinds.iter().map(|kind| kind.new_slots()).collect(),
            // A kind without elements does not contribute, since an equal system may never have had one.
            layout: layouts.fold(0, chain),
            continuous: Continuous::new(places),
            forces: Forces::zeros(&self.topology),
            totals: [T::zero(); 3],
            springs: Springs::default(),
        };
        state.collect(Group::Continuous);
        state
    }

    /// Realizes the state to Position stage, unless it has reached this stage.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state belongs to another system; [`Error::Element`] with an error documented by
    /// an element. The state keeps the stages reached before the failure.
    pub fn realize_position<'a>(&'a self, state: &'a mut State<T>) -> Result<PositionView<'a, T>, Error> {
        self.advance(state, Stage::Position)?;
        self.position_view(state)
    }

    /// Realizes the state to Velocity stage, unless it has reached this stage.
    ///
    /// # Errors
    /// As [`realize_position`](Self::realize_position).
    pub fn realize_velocity<'a>(&'a self, state: &'a mut State<T>) -> Result<VelocityView<'a, T>, Error> {
        self.advance(state, Stage::Velocity)?;
        self.velocity_view(state)
    }

    /// Realizes the state to Dynamics stage, unless it has reached this stage.
    ///
    /// # Errors
    /// As [`realize_position`](Self::realize_position); [`Error::Element`] with [`ElementError::NonFiniteForce`]
    /// if a force or energy of an element is not finite; [`Error::Kinematics`] or [`Error::NonFiniteEnergy`] if a
    /// sum of them is not.
    pub fn realize_dynamics<'a>(&'a self, state: &'a mut State<T>) -> Result<DynamicsView<'a, T>, Error> {
        self.advance(state, Stage::Dynamics)?;
        self.dynamics_view(state)
    }

    /// A view of a state that has been realized to Position stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if the state is below this stage; [`Error::TopologyMismatch`] if it belongs to another
    /// system.
    pub fn position_view<'a>(&'a self, state: &'a State<T>) -> Result<PositionView<'a, T>, Error> {
        self.view(state, Stage::Position)
    }

    /// A view of a state that has been realized to Velocity stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if the state is below this stage; [`Error::TopologyMismatch`] if it belongs to another
    /// system.
    pub fn velocity_view<'a>(&'a self, state: &'a State<T>) -> Result<VelocityView<'a, T>, Error> {
        Ok(VelocityView { position_view: self.view(state, Stage::Velocity)? })
    }

    /// A view of a state that has been realized to Dynamics stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if the state is below this stage; [`Error::TopologyMismatch`] if it belongs to another
    /// system.
    pub fn dynamics_view<'a>(&'a self, state: &'a State<T>) -> Result<DynamicsView<'a, T>, Error> {
        let position_view = self.view(state, Stage::Dynamics)?;
        Ok(DynamicsView { velocity_view: VelocityView { position_view } })
    }

    fn view<'a>(&'a self, state: &'a State<T>, results: Stage) -> Result<PositionView<'a, T>, Error> {
        self.require(state, results)?;
        Ok(PositionView { system: self, state, results })
    }

    /// Commits the discrete variables of all elements: anchors, sliding, bristles, stops, turns, cable paths.
    ///
    /// Call it when the host accepts a step, with the state realized to Dynamics at the end of the step;
    /// [`finish_step`](Self::finish_step) calls it. The state falls below the first stage that reads a changed variable.
    /// Evaluations never commit, so trial steps of an integrator have no effect. If the motion has been set since the
    /// last call, but not the [continuous variables](State::continuous), the energy accounts are closed.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another
    /// system; [`Error::Element`] with an error documented by an element, such as
    /// [`TimeNotAdvanced`](crate::Refusal::TimeNotAdvanced), or with [`ElementError::InvalidValue`] if
    /// one of its new discrete variables is out of range. On an error nothing is committed for any element.
    pub fn accept_step(&self, state: &mut State<T>) -> Result<(), Error> {
        self.prepare(state, Next::Step)?;
        state.commit();
        state.continuous.accept_step();
        Ok(())
    }

    /// Updates the discrete variables to the present iterate, between the Newton iterations of one step of an implicit
    /// host. Returns the largest force error \[N\] of the old discrete variables. Iterate until it is negligible, then
    /// accept the step.
    ///
    /// `start` is the state at the start of the step.
    ///
    /// # Errors
    /// As [`accept_step`](Self::accept_step), except that `start` may be at any stage; and [`Error::Element`] with
    /// [`ElementError::NonFiniteForce`] if a force error is not finite.
    pub fn discontinuous_update(&self, state: &mut State<T>, start: &State<T>) -> Result<T, Error> {
        self.require(start, Stage::Topology)?;
        let force_error = self.prepare(state, Next::Update(start))?;
        state.commit();
        Ok(force_error)
    }

    /// Returns the largest force error \[N\] of the discrete variables at the end of a trial step of an explicit host;
    /// they still have the values of its start. If the error is large, an element switched within the step, and a shorter
    /// step comes closer to the event. No variable changes.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another
    /// system; [`Error::Element`] with an error documented by an element, or with
    /// [`ElementError::NonFiniteForce`] if its force error is not finite.
    pub fn switching_error(&self, state: &mut State<T>) -> Result<T, Error> {
        self.prepare(state, Next::SwitchingError)
    }

    /// Writes the next discrete variables of all elements, and returns the largest force error.
    fn prepare(&self, state: &mut State<T>, next: Next<'_, T>) -> Result<T, Error> {
        self.require(state, Stage::Dynamics)?;
        self.kinds
            .iter()
            .try_fold(T::zero(), |largest, kind| Ok(largest.max(kind.prepare(state, None, next)?)))
    }

    /// Calls `ask` with each enabled element of a state that has been realized to Dynamics.
    pub(super) fn for_each_enabled(
        &self,
        state: &State<T>,
        mut ask: impl FnMut(ElementId, &dyn AnyElement<T>),
    ) -> Result<(), Error> {
        self.kinds.iter().try_for_each(|kind| {
            kind.ask(state, None, &mut |place, element| {
                if let Some(id) = kind.roster().id(place) {
                    ask(id, element);
                }
            })
        })
    }

    /// Whether there are elements with memory that [depends on the path](ForceElement::is_path_dependent).
    pub(crate) fn is_path_dependent(&self) -> bool {
        self.kinds.iter().any(|kind| kind.is_path_dependent())
    }

    /// Commits memory that depends on the path within a trial step, without effect on the energy ledger.
    pub(crate) fn commit_within_step(&self, state: &mut State<T>) -> Result<(), Error> {
        self.require(state, Stage::Dynamics)?;
        for kind in self.kinds.iter().filter(|kind| kind.is_path_dependent()) {
            kind.prepare(state, None, Next::Step)?;
            if let Some(stage) = state.kinds[kind.roster().number].commit() {
                state.invalidate(stage);
            }
        }
        Ok(())
    }

    /// The error of one element, with its name.
    pub(crate) fn failure(&self, id: ElementId, source: ElementError) -> Error {
        match self.check(id) {
            Ok(id) => self.kinds[id.kind()].roster().failure(id.place(), source),
            Err(foreign) => foreign,
        }
    }

    /// The name of an element in errors.
    pub(crate) fn name_of(&self, id: ElementId) -> Result<ElementName, Error> {
        let id = self.check(id)?;
        Ok(self.kinds[id.kind()].roster().name(id.place()))
    }

    /// Whether a state belongs to this system, and nothing was added or removed since the state was made or [carried
    /// over](Self::carry_over).
    pub fn owns(&self, state: &State<T>) -> bool {
        state.version == self.version
    }

    /// Refuses a state of another system or version, or one realized to less than `required`.
    pub(crate) fn require(&self, state: &State<T>, required: Stage) -> Result<(), Error> {
        if !self.owns(state) {
            Err(Error::TopologyMismatch)
        } else if state.stage < required {
            Err(Error::StageTooLow { required, actual: state.stage })
        } else {
            Ok(())
        }
    }

    /// Realizes a state to a stage, unless it has reached this stage.
    pub(super) fn advance(&self, state: &mut State<T>, to: Stage) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        if to == Stage::Dynamics && self.realize_rest(state).is_ok() {
            return Ok(());
        }
        // After a failure, one stage at a time, so that the state keeps the stages before the failure.
        for stage in [Stage::Position, Stage::Velocity] {
            if state.stage < stage && stage <= to {
                self.kinds.iter().try_for_each(|kind| kind.calc(state, None, stage..=stage))?;
                state.stage = stage;
            }
        }
        if to == Stage::Dynamics { self.realize_rest(state) } else { Ok(()) }
    }

    /// Realizes a state to Dynamics stage, kind by kind.
    fn realize_rest(&self, state: &mut State<T>) -> Result<(), Error> {
        let Some(first) = state.first_missing() else { return Ok(()) };
        state.forces.set_zero();
        state.totals = [T::zero(); 3];
        self.kinds.iter().try_for_each(|kind| kind.realize(state, first..=Stage::Dynamics))?;
        state.forces.check_finite()?;
        finite_energy(state.totals.iter().all(T::is_finite))?;
        state.collect(Group::Rates);
        state.continuous.was_evaluated();
        state.stage = Stage::Dynamics;
        Ok(())
    }

    /// Refuses an element that the system does not have.
    pub(super) fn check(&self, element: ElementId) -> Result<ElementId, Error> {
        let kind = self.kinds.get(element.kind());
        check_in(kind.map(|kind| kind.roster()), element)
    }

    fn kind<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&Kind<T, E>, Error> {
        let id = self.check(handle.id())?;
        let kind: &dyn Any = self.kinds[id.kind()].as_ref();
        kind.downcast_ref().ok_or(Error::NoSuchElement { element: id })
    }

    /// Sets the variables of one group that new states start with.
    fn set_default<E: ForceElement<T>, V: Variables<T>>(
        &mut self,
        handle: Handle<E>,
        group: impl FnOnce(&mut Columns<T, E>) -> &mut Vec<V>,
        new: V,
    ) -> Result<(), Error> {
        let id = self.check(handle.id())?;
        let kind: &mut dyn Any = self.kinds[id.kind()].as_mut();
        let Kind::<T, E> { roster, defaults, .. } =
            kind.downcast_mut().ok_or(Error::NoSuchElement { element: id })?;
        let present = &mut group(defaults)[id.place()];
        check_new(present, &new).map_err(|source| roster.failure(id.place(), source))?;
        *present = new;
        Ok(())
    }
}

/// Refuses an element that is not in the roster of its kind.
pub(super) fn check_in(roster: Option<&Roster>, element: ElementId) -> Result<ElementId, Error> {
    if roster.is_some_and(|roster| roster.places.has(element.place(), element.stamp())) {
        Ok(element)
    } else {
        Err(Error::NoSuchElement { element })
    }
}
