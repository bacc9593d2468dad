//! The system: which bodies, coordinates and elements there are, and what is done with a state.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::element::ForceElement;
use crate::error::{Error, Quantity, Result};
use crate::forces::Forces;
use crate::handle::{Handle, or_panic};
use crate::kinematics::{BodyIndex, CoordinateIndex, Kinematics, Topology, finite};
use crate::scalar::Real;
use crate::stage::Stage;
use crate::state::{State, check_new};
use crate::storage::{AnyKind, Kind, Sums, Variable};
use crate::variables::Variables as _;
use crate::view::{DynamicsView, PositionView, VelocityView};

/// Tells systems, and versions of one system, apart.
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
    kinds: Vec<Box<dyn AnyKind<T>>>,
}

impl<T: Real> Default for ForceSystem<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> ForceSystem<T> {
    /// A system with Ground and nothing else.
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
    /// [`Error::NoSuchBody`] or [`Error::NoSuchCoordinate`] if it names one that is not there,
    /// [`Error::InvalidValue`] if its defaults are out of range, [`Error::KindNameTaken`] if
    /// another type of element already goes by its [`KIND`](ForceElement::KIND).
    pub fn add<E: ForceElement<T>>(&mut self, element: E) -> Result<Handle<E>> {
        element.check_topology(&self.topology)?;
        let defaults = Variable::<T, E> {
            enabled: true,
            parameters: element.default_parameters(),
            discrete: element.default_discrete(),
        };
        defaults.parameters.validate()?;
        defaults.discrete.validate()?;
        let index = if let Some(index) = self.kinds.iter().position(|kind| is::<T, E>(kind.as_ref())) {
            index
        } else {
            if self.kinds.iter().any(|kind| kind.name() == E::KIND) {
                return Err(Error::KindNameTaken { kind: E::KIND });
            }
            self.kinds.push(Box::new(Kind::<T, E> { elements: Vec::new(), defaults: Vec::new() }));
            self.kinds.len() - 1
        };
        let kind = self.kind_mut::<E>(index)?;
        let place = kind.elements.len();
        kind.elements.push(element);
        kind.defaults.push(defaults);
        self.version = next_stamp();
        Ok(Handle::new(self.id, index, place))
    }

    /// How many bodies and coordinates there are.
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// How many elements there are, of all kinds.
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
    pub fn try_element<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E> {
        Ok(&self.kind(handle)?.elements[handle.place])
    }

    /// The parameters that new states start with.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn default_parameters<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Parameters> {
        Ok(&self.kind(handle)?.defaults[handle.place].parameters)
    }

    /// Sets the parameters that new states start with.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if they are out of range; [`Error::ForeignVariables`] if they are those of
    /// another element; [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn set_default_parameters<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        parameters: E::Parameters,
    ) -> Result<()> {
        check_new(self.default_parameters(handle)?, &parameters, E::KIND)
            .map_err(|error| error.at(handle.place))?;
        self.change_default(handle, |defaults| defaults.parameters = parameters)
    }

    /// The discrete variables that new states start with.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn default_discrete<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Discrete> {
        Ok(&self.kind(handle)?.defaults[handle.place].discrete)
    }

    /// Sets the discrete variables that new states start with.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if they are out of range; [`Error::ForeignVariables`] if they are those of
    /// another element; [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn set_default_discrete<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        discrete: E::Discrete,
    ) -> Result<()> {
        check_new(self.default_discrete(handle)?, &discrete, E::KIND)
            .map_err(|error| error.at(handle.place))?;
        self.change_default(handle, |defaults| defaults.discrete = discrete)
    }

    /// Whether the element is enabled in new states; it is, unless set otherwise.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn is_enabled_by_default<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<bool> {
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
    ) -> Result<()> {
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
            forces: Forces::zeros(self.topology),
            potential_energy: T::zero(),
            power_dissipated: T::zero(),
            power_absorbed: vec![T::zero(); self.element_count()],
        }
    }

    /// Realizes the state to Position stage, as far as it is not there yet.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`], or what the elements document. The stages reached before the
    /// failure remain.
    pub fn realize_position<'a>(&'a self, state: &'a mut State<T>) -> Result<PositionView<'a, T>> {
        self.advance_to_position(state)?;
        Ok(PositionView::new(self, state))
    }

    /// Realizes the state to Velocity stage, as far as it is not there yet.
    ///
    /// # Errors
    /// As [`realize_position`](Self::realize_position).
    pub fn realize_velocity<'a>(&'a self, state: &'a mut State<T>) -> Result<VelocityView<'a, T>> {
        self.advance_to_velocity(state)?;
        Ok(VelocityView::new(self, state))
    }

    /// Realizes the state to Dynamics stage, as far as it is not there yet.
    ///
    /// # Errors
    /// As [`realize_position`](Self::realize_position); [`Error::NonFiniteForce`].
    pub fn realize_dynamics<'a>(&'a self, state: &'a mut State<T>) -> Result<DynamicsView<'a, T>> {
        self.advance_to_dynamics(state)?;
        Ok(DynamicsView::new(self, state))
    }

    /// A view of a state that has been realized to Position stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if it has not; [`Error::TopologyMismatch`].
    pub fn position_view<'a>(&'a self, state: &'a State<T>) -> Result<PositionView<'a, T>> {
        self.require(state, Stage::Position)?;
        Ok(PositionView::new(self, state))
    }

    /// A view of a state that has been realized to Velocity stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if it has not; [`Error::TopologyMismatch`].
    pub fn velocity_view<'a>(&'a self, state: &'a State<T>) -> Result<VelocityView<'a, T>> {
        self.require(state, Stage::Velocity)?;
        Ok(VelocityView::new(self, state))
    }

    /// A view of a state that has been realized to Dynamics stage.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if it has not; [`Error::TopologyMismatch`].
    pub fn dynamics_view<'a>(&'a self, state: &'a State<T>) -> Result<DynamicsView<'a, T>> {
        self.require(state, Stage::Dynamics)?;
        Ok(DynamicsView::new(self, state))
    }

    /// Commits what the elements remember: anchors, sliding, bristles, stops, cable
    /// paths.
    ///
    /// Call it when the host accepts a step, with the state realized to Dynamics at its end. The
    /// state falls below the stage that reads what has changed. Nothing else commits anything:
    /// trial evaluations of an integrator leave no trace.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`].
    pub fn accept_step(&self, state: &mut State<T>) -> Result<()> {
        self.require(state, Stage::Dynamics)?;
        let mut lowest = None;
        for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
            lowest = lower(lowest, kind.accept_step(slots.as_mut(), &state.kinematics)?);
        }
        if let Some(stage) = lowest {
            state.invalidate(stage);
        }
        Ok(())
    }

    /// For an implicit host, between the Newton iterations of one step: brings the discrete
    /// variables in line with the present iterate and returns the largest force error \[N\] made
    /// by the old ones. Iterate until it is negligible, then accept the step.
    ///
    /// `start` is the state as it was at the start of the step.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] if `state` is below Dynamics stage; [`Error::TopologyMismatch`].
    pub fn discontinuous_update(&self, state: &mut State<T>, start: &State<T>) -> Result<T> {
        self.require(state, Stage::Dynamics)?;
        self.require(start, Stage::Topology)?;
        let mut lowest = None;
        let mut force_error = T::zero();
        for ((kind, slots), start) in self.kinds.iter().zip(&mut state.kinds).zip(&start.kinds) {
            let (error, stage) =
                kind.discontinuous_update(slots.as_mut(), start.as_ref(), &state.kinematics)?;
            force_error = force_error.max(error);
            lowest = lower(lowest, stage);
        }
        if let Some(stage) = lowest {
            state.invalidate(stage);
        }
        Ok(force_error)
    }

    /// For an explicit host, at the end of a trial step: the largest force error \[N\] that the discrete
    /// variables of its start have come to make, changing nothing. Where it is large something has
    /// switched in between, and a shorter step comes closer to the event.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`].
    pub fn switching_error(&self, state: &State<T>) -> Result<T> {
        self.require(state, Stage::Dynamics)?;
        let mut force_error = T::zero();
        for (kind, slots) in self.kinds.iter().zip(&state.kinds) {
            force_error = force_error.max(kind.switching_error(slots.as_ref(), &state.kinematics)?);
        }
        Ok(force_error)
    }

    /// Sets what one element has dissipated so far \[J\]. Realizes the state to Dynamics.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::TopologyMismatch`], or what the elements document.
    pub fn set_dissipated_energy<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        energy: T,
    ) -> Result<()> {
        finite(energy.is_finite(), Quantity::Energy)?;
        let slot = state.slot(handle)?;
        let absorbed = energy + self.realize_dynamics(state)?.potential_energy_of(handle)?;
        state.set_absorbed_energy_at(slot, absorbed)
    }

    /// Opens the energy ledger: from here on nothing has been dissipated yet. Call it once the
    /// initial poses are set. Realizes the state to Dynamics.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`], or what the elements document.
    pub fn reset_dissipated_energy(&self, state: &mut State<T>) -> Result<()> {
        self.advance_to_dynamics(state)?;
        let State { kinds, kinematics, absorbed_energy, .. } = state;
        let mut rest = absorbed_energy.as_mut_slice();
        for (kind, slots) in self.kinds.iter().zip(kinds) {
            let (own, others) = rest.split_at_mut(kind.len());
            kind.potential_energies(slots.as_ref(), kinematics, own)?;
            rest = others;
        }
        Ok(())
    }

    /// Refuses a state of another system or version, or one realized to less than `required`.
    pub(crate) fn require(&self, state: &State<T>, required: Stage) -> Result<()> {
        if (state.system, state.version) != (self.id, self.version) {
            Err(Error::TopologyMismatch)
        } else if state.stage < required {
            Err(Error::StageTooLow { required, actual: state.stage })
        } else {
            Ok(())
        }
    }

    fn advance_to_position(&self, state: &mut State<T>) -> Result<()> {
        self.require(state, Stage::Topology)?;
        if state.stage < Stage::Position {
            for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
                kind.realize_position(slots.as_mut(), &state.kinematics)?;
            }
            state.stage = Stage::Position;
        }
        Ok(())
    }

    fn advance_to_velocity(&self, state: &mut State<T>) -> Result<()> {
        self.advance_to_position(state)?;
        if state.stage < Stage::Velocity {
            for (kind, slots) in self.kinds.iter().zip(&mut state.kinds) {
                kind.realize_velocity(slots.as_mut(), &state.kinematics)?;
            }
            state.stage = Stage::Velocity;
        }
        Ok(())
    }

    fn advance_to_dynamics(&self, state: &mut State<T>) -> Result<()> {
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
            state.stage = Stage::Dynamics;
        }
        Ok(())
    }

    fn change_default<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        change: impl FnOnce(&mut Variable<T, E>),
    ) -> Result<()> {
        if handle.system != self.id {
            return Err(Error::TopologyMismatch);
        }
        change(&mut self.kind_mut::<E>(handle.kind)?.defaults[handle.place]);
        self.version = next_stamp();
        Ok(())
    }

    fn kind<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&Kind<T, E>> {
        if handle.system != self.id {
            return Err(Error::TopologyMismatch);
        }
        let kind: &dyn Any = self.kinds[handle.kind].as_ref();
        kind.downcast_ref().ok_or(Error::TopologyMismatch)
    }

    fn kind_mut<E: ForceElement<T>>(&mut self, index: usize) -> Result<&mut Kind<T, E>> {
        let kind: &mut dyn Any = self.kinds[index].as_mut();
        kind.downcast_mut().ok_or(Error::TopologyMismatch)
    }
}

/// Whether a kind holds elements of type `E`.
fn is<T: Real, E: ForceElement<T>>(kind: &dyn AnyKind<T>) -> bool {
    (kind as &dyn Any).is::<Kind<T, E>>()
}

/// The lower of two stages that may be absent.
fn lower(a: Option<Stage>, b: Option<Stage>) -> Option<Stage> {
    a.into_iter().chain(b).min()
}
