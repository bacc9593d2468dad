//! Views of a state, by stage.

use core::ops::Deref;

use crate::framework::handle::or_panic;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, ElementId, Error, ForceElement, ForceSystem, Handle, Stage, State,
};
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::{BodyIndex, CoordinateIndex, ForceAccumulator, Forces, Positions, Velocities};

/// A state at Position stage or beyond.
///
/// Results of later stages are not accessible:
///
/// ```compile_fail,E0609
/// # use force_elements::*;
/// # fn show(system: &ForceSystem<f64>, spring: Handle<LinearBushing<f64>>, state: &mut State<f64>) -> Result<(), Error> {
/// let view = system.realize_position(state)?;
/// let f = view.of(spring).dynamics.f;     // error: no field `dynamics` at Position stage
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PositionView<'a, T: Real> {
    pub(super) system: &'a ForceSystem<T>,
    pub(super) state: &'a State<T>,
    /// The stage of the view, up to which results are found by name.
    pub(super) results: Stage,
}

/// A state at Velocity stage or beyond. Derefs to [`PositionView`].
///
/// ```compile_fail,E0599
/// # use force_elements::*;
/// # fn show(system: &ForceSystem<f64>, body: BodyIndex, state: &mut State<f64>) -> Result<(), Error> {
/// let view = system.realize_velocity(state)?;
/// let wrench = view.body_force(body);     // error: no method `body_force` at Velocity stage
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct VelocityView<'a, T: Real> {
    pub(super) position_view: PositionView<'a, T>,
}

/// A state at Dynamics stage. Derefs to [`VelocityView`].
#[derive(Debug, Clone, Copy)]
pub struct DynamicsView<'a, T: Real> {
    pub(super) velocity_view: VelocityView<'a, T>,
}

impl<'a, T: Real> Deref for VelocityView<'a, T> {
    type Target = PositionView<'a, T>;
    fn deref(&self) -> &Self::Target {
        &self.position_view
    }
}

impl<'a, T: Real> Deref for DynamicsView<'a, T> {
    type Target = VelocityView<'a, T>;
    fn deref(&self) -> &Self::Target {
        &self.velocity_view
    }
}

impl<'a, T: Real> PositionView<'a, T> {
    /// The stage of the state, at least that of the view's type.
    pub fn stage(&self) -> Stage {
        self.state.stage
    }

    /// Time \[s\].
    pub fn time(&self) -> T {
        self.state.time()
    }

    /// Poses and coordinates.
    pub fn positions(&self) -> &'a Positions<T> {
        self.state.positions()
    }

    /// The pose `X_GB` of a body in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing; [`Positions::bodies`](Positions::bodies)
    /// is the slice.
    pub fn pose(&self, body: BodyIndex) -> &'a Pose<T> {
        self.state.positions().pose(body)
    }

    /// The value of a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    pub fn coordinate(&self, coordinate: CoordinateIndex) -> T {
        self.state.positions().coordinate(coordinate)
    }

    /// One element at Position stage.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; [`try_of`](Self::try_of) does not.
    pub fn of<E: ForceElement<T>>(&self, handle: Handle<E>) -> AtPosition<'a, T, E> {
        or_panic(self.try_of(handle))
    }

    /// One element at Position stage.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have the element.
    pub fn try_of<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<AtPosition<'a, T, E>, Error> {
        let at = self.state.slots(handle)?.at_dynamics(handle.place(), &self.state.kinematics);
        Ok(at.at_velocity.at_position)
    }
}

impl<'a, T: Real> VelocityView<'a, T> {
    /// Velocities and coordinate rates.
    pub fn velocities(&self) -> &'a Velocities<T> {
        self.state.velocities()
    }

    /// The velocity `V_GB` of a body's origin, expressed in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn velocity(&self, body: BodyIndex) -> &'a SpatialVelocity<T> {
        self.state.velocities().velocity(body)
    }

    /// The rate of a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    pub fn coordinate_rate(&self, coordinate: CoordinateIndex) -> T {
        self.state.velocities().coordinate_rate(coordinate)
    }

    /// One element at Velocity stage.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; [`try_of`](Self::try_of) does not.
    pub fn of<E: ForceElement<T>>(&self, handle: Handle<E>) -> AtVelocity<'a, T, E> {
        or_panic(self.try_of(handle))
    }

    /// One element at Velocity stage.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have the element.
    pub fn try_of<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<AtVelocity<'a, T, E>, Error> {
        Ok(self.state.slots(handle)?.at_dynamics(handle.place(), &self.state.kinematics).at_velocity)
    }
}

impl<'a, T: Real> DynamicsView<'a, T> {
    /// Forces of all elements on all bodies and coordinates.
    pub fn forces(&self) -> &'a Forces<T> {
        &self.state.forces
    }

    /// The force `F_GB` of all elements on a body: torque \[N·m\] and force \[N\] at the body's
    /// origin, expressed in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn body_force(&self, body: BodyIndex) -> SpatialForce<T> {
        *self.state.forces.body(body)
    }

    /// The generalized force of all elements on a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    pub fn coordinate_force(&self, coordinate: CoordinateIndex) -> T {
        self.state.forces.coordinate(coordinate)
    }

    /// The energy stored in all elements \[J\].
    pub fn potential_energy(&self) -> T {
        self.state.totals[0]
    }

    /// The power dissipated by all elements \[W\], as far as it is known instantaneously.
    pub fn power_dissipated(&self) -> T {
        self.state.totals[1]
    }

    /// The power supplied by the drives inside all elements \[W\].
    pub fn power_supplied(&self) -> T {
        self.state.totals[2]
    }

    /// The power flowing into each element \[W\], from the bodies and from a drive inside it, in the order of
    /// [`ForceSystem::elements`]; zero at the places of removed elements. The host integrates it to
    /// [`State::absorbed_energy`].
    pub fn power_absorbed(&self) -> &'a [T] {
        &self.state.continuous.rates[..self.state.continuous.places()]
    }

    /// The rates of all [continuous variables](State::continuous), in their order: first the powers absorbed, then the
    /// rates of the elements' own variables.
    pub fn continuous_rates(&self) -> &'a [T] {
        &self.state.continuous.rates
    }

    /// The energy dissipated by all elements so far \[J\]; `None` unless all accounts are open.
    pub fn dissipated_energy(&self) -> Option<T> {
        let mut elements = self.system.elements();
        elements.try_fold(T::zero(), |sum, element| Some(sum + self.dissipated_energy_of(element)?))
    }

    /// The energy dissipated by one element so far \[J\]: the absorbed less the stored energy. `None` unless its account
    /// is open.
    ///
    /// This holds at every instant and across every event, including losses not known instantaneously, provided that the
    /// host integrates [`power_absorbed`](Self::power_absorbed). An account is opened by
    /// [`reset_dissipated_energy`](ForceSystem::reset_dissipated_energy), which sets it to zero, or by
    /// [`set_dissipated_energy`](ForceSystem::set_dissipated_energy). It is closed by
    /// [`accept_step`](ForceSystem::accept_step) after a motion whose energies were not integrated, and by a change of
    /// variables whose energy is not known because the element cannot be evaluated.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; see [`State::contains`].
    pub fn dissipated_energy_of(&self, element: impl Into<ElementId>) -> Option<T> {
        let id = element.into();
        let slot = or_panic(self.state.slot(id));
        let dissipated = self.state.continuous.values[slot] - self.potential_energy_of(id);
        self.state.continuous.accounts[slot].is_open.then_some(dissipated)
    }

    /// The energy stored in one element \[J\].
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; see [`State::contains`].
    pub fn potential_energy_of(&self, element: impl Into<ElementId>) -> T {
        or_panic(self.system.energies(self.state, element.into()))[0]
    }

    /// The power dissipated by one element \[W\], as far as it is known instantaneously.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; see [`State::contains`].
    pub fn power_dissipated_of(&self, element: impl Into<ElementId>) -> T {
        or_panic(self.system.energies(self.state, element.into()))[1]
    }

    /// Adds the forces of one element to `forces`, which need not start from zero.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have the element; [`Error::TopologyMismatch`] if `forces` was
    /// made for another topology.
    pub fn add_contribution(
        &self,
        element: impl Into<ElementId>,
        forces: &mut Forces<T>,
    ) -> Result<(), Error> {
        if forces.topology() != self.state.forces.topology() {
            return Err(Error::TopologyMismatch);
        }
        let id = self.system.check(element.into())?;
        let State { kinds, kinematics, .. } = self.state;
        let (slots, accumulator) = (kinds[id.kind()].as_ref(), ForceAccumulator::new(forces, kinematics));
        let power = &mut [T::zero()];
        self.system.kinds[id.kind()].add_forces(slots, Some(id.place()), kinematics, accumulator, power)
    }

    /// One element at Dynamics stage.
    ///
    /// # Panics
    /// If the system does not have the element, like slice indexing; [`try_of`](Self::try_of) does not.
    pub fn of<E: ForceElement<T>>(&self, handle: Handle<E>) -> AtDynamics<'a, T, E> {
        or_panic(self.try_of(handle))
    }

    /// One element at Dynamics stage.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have the element.
    pub fn try_of<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<AtDynamics<'a, T, E>, Error> {
        Ok(self.state.slots(handle)?.at_dynamics(handle.place(), &self.state.kinematics))
    }
}
