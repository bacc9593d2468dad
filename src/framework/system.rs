//! Systems of bodies, coordinates and elements, and the operations on their states.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::framework::element::ForceElement;
use crate::framework::handle::{Handle, or_panic};
use crate::framework::kinds::{AnyKind, Kind, Sums};
use crate::framework::names::Names;
use crate::framework::slots::{Variable, check_new};
use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::framework::variables::Variables as _;
use crate::framework::view::{DynamicsView, PositionView, VelocityView};
use crate::framework::{ElementError, ElementName, Error};
use crate::math::Real;
use crate::mechanics::{BodyIndex, CoordinateIndex, Forces, Kinematics, Topology};

/// A stamp that distinguishes systems and versions of one system.
fn next_stamp() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Bodies, coordinates and force elements.
///
/// A system never changes while it is evaluated: everything that varies lives in a [`State`], so
/// one system serves any number of states on any number of threads. Adding a body, coordinate or
/// element, or changing a default, makes earlier states invalid
/// ([`Error::TopologyMismatch`]).
#[derive(Debug)]
pub struct ForceSystem<T: Real> {
    id: usize,
    version: usize,
    topology: Topology,
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
        Self {
            id: next_stamp(),
            version: next_stamp(),
            topology: Topology { body_count: 1, coordinate_count: 0 },
            kinds: Vec::new(),
        }
    }

    /// Adds a body of the host.
    pub fn add_body(&mut self) -> BodyIndex {
        self.version = next_stamp();
        let body = BodyIndex::new(self.topology.body_count);
        self.topology.body_count += 1;
        body
    }

    /// Adds a scalar coordinate of the host.
    pub fn add_coordinate(&mut self) -> CoordinateIndex {
        self.version = next_stamp();
        let coordinate = CoordinateIndex::new(self.topology.coordinate_count);
        self.topology.coordinate_count += 1;
        coordinate
    }

    /// Adds an element.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::Kinematics`] if it names a body or coordinate that does not exist,
    /// with [`ElementError::InvalidValue`] if its defaults are out of range, or with an error documented by the
    /// element; [`Error::KindNameTaken`] if another type of element already goes by its
    /// [`KIND`](ForceElement::KIND).
    pub fn add<E: ForceElement<T>>(&mut self, element: E) -> Result<Handle<E>, Error> {
        self.add_as(None, element)
    }

    /// Adds an element with a name, which its errors display.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`Error::NameTaken`] if another element has the name.
    pub fn add_named<E: ForceElement<T>>(&mut self, name: &str, element: E) -> Result<Handle<E>, Error> {
        if self.kinds.iter().any(|kind| kind.names().contains(name)) {
            return Err(Error::NameTaken { name: name.to_string() });
        }
        self.add_as(Some(name.into()), element)
    }

    fn add_as<E: ForceElement<T>>(&mut self, name: Option<Arc<str>>, element: E) -> Result<Handle<E>, Error> {
        let place = self.kinds.iter().find(|kind| kind.name() == E::KIND).map_or(0, |kind| kind.len());
        let failure = |source: ElementError| Error::Element {
            element: ElementName { kind: E::KIND, index: Some(place), name: name.clone() },
            source,
        };
        element.check_topology(&self.topology).map_err(failure)?;
        let defaults = Variable::<T, E> {
            enabled: true,
            parameters: element.default_parameters(),
            discrete: element.default_discrete(),
        };
        let valid = defaults.parameters.validate().and_then(|()| defaults.discrete.validate());
        valid.map_err(|error| failure(error.into()))?;
        let index = if let Some(index) = self.kinds.iter().position(|kind| is::<T, E>(kind.as_ref())) {
            index
        } else {
            if self.kinds.iter().any(|kind| kind.name() == E::KIND) {
                return Err(Error::KindNameTaken { kind: E::KIND });
            }
            self.kinds.push(Box::new(Kind::<T, E> {
                elements: Vec::new(),
                names: Names::new(E::KIND),
                defaults: Vec::new(),
            }));
            self.kinds.len() - 1
        };
        let kind = self.kind_mut::<E>(index)?;
        kind.elements.push(element);
        kind.names.push(name);
        kind.defaults.push(defaults);
        self.version = next_stamp();
        Ok(Handle::new(self.id, index, place))
    }

    /// The numbers of bodies and coordinates.
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// The number of elements of all kinds.
    pub fn element_count(&self) -> usize {
        self.kinds.iter().map(|kind| kind.len()).sum()
    }

    /// The element itself.
    ///
    /// # Panics
    /// If the handle belongs to another system; [`try_element`](Self::try_element) does not.
    pub fn element<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E {
        or_panic(self.try_element(handle))
    }

    /// The element itself.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn try_element<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E, Error> {
        Ok(&self.kind(handle)?.elements[handle.place])
    }

    /// The parameters that new states start with.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn default_parameters<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Parameters, Error> {
        Ok(&self.kind(handle)?.defaults[handle.place].parameters)
    }

    /// Sets the parameters that new states start with.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] if they are out of range, or with
    /// [`ElementError::ForeignVariables`] if they are those of an element with other parts;
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn set_default_parameters<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        parameters: E::Parameters,
    ) -> Result<(), Error> {
        check_new(self.default_parameters(handle)?, &parameters)
            .map_err(|source| self.failure(handle, source))?;
        self.change_default(handle, |defaults| defaults.parameters = parameters)
    }

    /// The discrete variables that new states start with.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn default_discrete<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Discrete, Error> {
        Ok(&self.kind(handle)?.defaults[handle.place].discrete)
    }

    /// Sets the discrete variables that new states start with.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] if they are out of range, or with
    /// [`ElementError::ForeignVariables`] if they are those of an element with other parts;
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn set_default_discrete<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        discrete: E::Discrete,
    ) -> Result<(), Error> {
        check_new(self.default_discrete(handle)?, &discrete)
            .map_err(|source| self.failure(handle, source))?;
        self.change_default(handle, |defaults| defaults.discrete = discrete)
    }

    /// Whether the element is enabled in new states; `true` unless set otherwise.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn is_enabled_by_default<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<bool, Error> {
        Ok(self.kind(handle)?.defaults[handle.place].enabled)
    }

    /// Sets whether the element is enabled in new states.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn set_enabled_by_default<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        enabled: bool,
    ) -> Result<(), Error> {
        self.change_default(handle, |defaults| defaults.enabled = enabled)
    }

    /// A state with default parameters and discrete variables, at time zero, with all bodies at
    /// rest at the Ground origin.
    pub fn default_state(&self) -> State<T> {
        State {
            system: self.id,
            version: self.version,
            stage: Stage::Topology,
            kinematics: Kinematics::at_rest(self.topology),
            incoming: Kinematics::at_rest(self.topology),
            kinds: self.kinds.iter().map(|kind| kind.new_slots()).collect(),
            kind_lengths: self.kinds.iter().map(|kind| kind.len()).collect(),
            absorbed_energy: vec![T::zero(); self.element_count()],
            account_open: vec![false; self.element_count()],
            forces: Forces::zeros(self.topology),
            potential_energy: T::zero(),
            power_dissipated: T::zero(),
            power_absorbed: vec![T::zero(); self.element_count()],
        }
    }

    /// Realizes the state to Position stage, unless it is there or beyond.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state belongs to another system; [`Error::Element`] with an error
    /// documented by an element. The stages reached before the failure remain.
    pub fn realize_position<'a>(&'a self, state: &'a mut State<T>) -> Result<PositionView<'a, T>, Error> {
        self.advance_to_position(state)?;
        Ok(PositionView::new(self, state))
    }

    /// Realizes the state to Velocity stage, unless it is there or beyond.
    ///
    /// # Errors
    /// As [`realize_position`](Self::realize_position).
    pub fn realize_velocity<'a>(&'a self, state: &'a mut State<T>) -> Result<VelocityView<'a, T>, Error> {
        self.advance_to_velocity(state)?;
        Ok(VelocityView::new(self, state))
    }

    /// Realizes the state to Dynamics stage, unless it is there.
    ///
    /// # Errors
    /// As [`realize_position`](Self::realize_position); [`Error::Element`] with [`ElementError::NonFiniteForce`]
    /// if a force or energy of an element is not finite; [`Error::Kinematics`] or [`Error::NonFiniteEnergy`] if a
    /// sum of them is not.
    pub fn realize_dynamics<'a>(&'a self, state: &'a mut State<T>) -> Result<DynamicsView<'a, T>, Error> {
        self.advance_to_dynamics(state)?;
        Ok(DynamicsView::new(self, state))
    }

    /// A view of a state that has been realized to Position stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if it has not; [`Error::TopologyMismatch`] if the state belongs to another system.
    pub fn position_view<'a>(&'a self, state: &'a State<T>) -> Result<PositionView<'a, T>, Error> {
        self.require(state, Stage::Position)?;
        Ok(PositionView::new(self, state))
    }

    /// A view of a state that has been realized to Velocity stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if it has not; [`Error::TopologyMismatch`] if the state belongs to another system.
    pub fn velocity_view<'a>(&'a self, state: &'a State<T>) -> Result<VelocityView<'a, T>, Error> {
        self.require(state, Stage::Velocity)?;
        Ok(VelocityView::new(self, state))
    }

    /// A view of a state that has been realized to Dynamics stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if it has not; [`Error::TopologyMismatch`] if the state belongs to another system.
    pub fn dynamics_view<'a>(&'a self, state: &'a State<T>) -> Result<DynamicsView<'a, T>, Error> {
        self.require(state, Stage::Dynamics)?;
        Ok(DynamicsView::new(self, state))
    }

    /// Commits the discrete variables of all elements: anchors, sliding, bristles, stops, turns, cable paths.
    ///
    /// Call it when the host accepts a step, with the state realized to Dynamics at its end. The state falls
    /// below the first stage that reads a changed variable. Nothing else commits: trial evaluations of an
    /// integrator leave no trace.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another
    /// system; [`Error::Element`] with an error documented by an element, such as
    /// [`TimeNotAdvanced`](crate::exponential_spring::TimeNotAdvanced), or with [`ElementError::InvalidValue`] if
    /// one of its new discrete variables is out of range. On an error nothing is committed for any element.
    pub fn accept_step(&self, state: &mut State<T>) -> Result<(), Error> {
        self.require(state, Stage::Dynamics)?;
        for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
            kind.prepare_step(slots.as_mut(), &state.kinematics)?;
        }
        state.commit();
        Ok(())
    }

    /// For an implicit host, between the Newton iterations of one step: brings the discrete
    /// variables in line with the present iterate and returns the largest force error \[N\] made
    /// by the old ones. Iterate until it is negligible, then accept the step.
    ///
    /// `start` is the state as it was at the start of the step.
    ///
    /// # Errors
    /// As [`accept_step`](Self::accept_step), except that `start` may be at any stage; and [`Error::Element`] with
    /// [`ElementError::NonFiniteForce`] if a force error is not finite.
    pub fn discontinuous_update(&self, state: &mut State<T>, start: &State<T>) -> Result<T, Error> {
        self.require(state, Stage::Dynamics)?;
        self.require(start, Stage::Topology)?;
        let mut force_error = T::zero();
        for ((kind, slots), start) in self.kinds.iter().zip(&mut state.kinds).zip(&start.kinds) {
            force_error =
                force_error.max(kind.prepare_update(slots.as_mut(), start.as_ref(), &state.kinematics)?);
        }
        state.commit();
        Ok(force_error)
    }

    /// For an explicit host, at the end of a trial step: the largest force error \[N\] of the discrete variables,
    /// which are those of its start. If it is large, an element switched within the step, and a shorter step
    /// comes closer to the event. Changes no variable.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another
    /// system; [`Error::Element`] with an error documented by an element, or with
    /// [`ElementError::NonFiniteForce`] if its force error is not finite.
    pub fn switching_error(&self, state: &mut State<T>) -> Result<T, Error> {
        self.require(state, Stage::Dynamics)?;
        let mut force_error = T::zero();
        for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
            force_error = force_error.max(kind.switching_error(slots.as_mut(), &state.kinematics)?);
        }
        Ok(force_error)
    }

    /// The error of one element, with its name.
    pub(crate) fn failure<E: ForceElement<T>>(&self, handle: Handle<E>, source: ElementError) -> Error {
        match self.kind(handle) {
            Ok(kind) => kind.names.failure(handle.place, source),
            Err(foreign) => foreign,
        }
    }

    /// Whether a state was made by this system, with nothing added or changed since.
    pub fn owns(&self, state: &State<T>) -> bool {
        (state.system, state.version) == (self.id, self.version)
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

    fn advance_to_position(&self, state: &mut State<T>) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        if state.stage < Stage::Position {
            for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
                kind.realize_position(slots.as_mut(), &state.kinematics)?;
            }
            state.stage = Stage::Position;
        }
        Ok(())
    }

    fn advance_to_velocity(&self, state: &mut State<T>) -> Result<(), Error> {
        self.advance_to_position(state)?;
        if state.stage < Stage::Velocity {
            for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
                kind.realize_velocity(slots.as_mut(), &state.kinematics)?;
            }
            state.stage = Stage::Velocity;
        }
        Ok(())
    }

    pub(super) fn advance_to_dynamics(&self, state: &mut State<T>) -> Result<(), Error> {
        self.advance_to_velocity(state)?;
        if state.stage < Stage::Dynamics {
            state.forces.set_zero();
            state.potential_energy = T::zero();
            state.power_dissipated = T::zero();
            let mut rest = state.power_absorbed.as_mut_slice();
            for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
                let (power_absorbed, others) = rest.split_at_mut(kind.len());
                let sums = Sums {
                    forces: &mut state.forces,
                    potential_energy: &mut state.potential_energy,
                    power_dissipated: &mut state.power_dissipated,
                    power_absorbed,
                };
                kind.realize_dynamics(slots.as_mut(), &state.kinematics, sums)?;
                rest = others;
            }
            state.forces.check_finite()?;
            let is_finite = state.potential_energy.is_finite() && state.power_dissipated.is_finite();
            if !is_finite {
                return Err(Error::NonFiniteEnergy);
            }
            state.stage = Stage::Dynamics;
        }
        Ok(())
    }

    fn change_default<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        change: impl FnOnce(&mut Variable<T, E>),
    ) -> Result<(), Error> {
        if handle.system != self.id {
            return Err(Error::TopologyMismatch);
        }
        change(&mut self.kind_mut::<E>(handle.kind)?.defaults[handle.place]);
        self.version = next_stamp();
        Ok(())
    }

    fn kind<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&Kind<T, E>, Error> {
        if handle.system != self.id {
            return Err(Error::TopologyMismatch);
        }
        let kind: &dyn Any = self.kinds[handle.kind].as_ref();
        kind.downcast_ref().ok_or(Error::TopologyMismatch)
    }

    fn kind_mut<E: ForceElement<T>>(&mut self, index: usize) -> Result<&mut Kind<T, E>, Error> {
        let kind: &mut dyn Any = self.kinds[index].as_mut();
        kind.downcast_mut().ok_or(Error::TopologyMismatch)
    }
}

/// Whether a kind holds elements of type `E`.
fn is<T: Real, E: ForceElement<T>>(kind: &dyn AnyKind<T>) -> bool {
    (kind as &dyn Any).is::<Kind<T, E>>()
}
