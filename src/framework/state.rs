//! The state: everything that varies, and its stage.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::framework::continuous::Continuous;
use crate::framework::handle::or_panic;
use crate::framework::slots::{AnySlots, Slots};
use crate::framework::springs::Springs;
use crate::framework::system::check_in;
use crate::framework::{ElementId, Error, ForceElement, Handle, Stage};
use crate::math::{Pose, Real, SpatialVelocity, clone_by_field};
use crate::mechanics::{
    BodyIndex, CoordinateIndex, Forces, Kinematics, KinematicsError, KinematicsSource, Positions, Quantity,
    Velocities, finite,
};

/// Time, kinematics, parameters, discrete and continuous variables, and the caches of results.
///
/// A state is made by [`ForceSystem::default_state`](crate::ForceSystem::default_state). The host writes time and
/// kinematics here. It writes variables of elements through the system, which enters the change of energy in the ledger.
/// A write drops the state to just below the stage that depends on it; results are read through views that the system
/// returns. A write that fails changes nothing. `clone_from` allocates nothing if both states belong to the same system
/// and have been evaluated before.
///
/// While a view is alive the state cannot be written:
///
/// ```compile_fail,E0499
/// # use force_elements::*;
/// # let mut system = ForceSystem::<f64>::new();
/// # let body = system.add_body();
/// # let mut state = system.default_state();
/// let view = system.realize_position(&mut state)?;
/// state.set_time(1.0)?;           // error: `state` is borrowed by `view`
/// println!("{:?}", view.pose(body));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct State<T: Real> {
    pub(crate) system: usize,
    pub(crate) version: usize,
    pub(crate) stage: Stage,
    pub(crate) kinematics: Kinematics<T>,
    /// Buffer in which a host's kinematics are checked before they replace the present ones.
    pub(crate) incoming: Kinematics<T>,
    pub(crate) kinds: Vec<Box<dyn AnySlots<T>>>,
    /// A hash of the names of all variables in their order.
    pub(crate) layout: u64,
    pub(crate) continuous: Continuous<T>,
    pub(crate) forces: Forces<T>,
    /// The energy stored in all elements, and the powers that they dissipate and supply.
    pub(crate) totals: [T; 3],
    /// Buffer for checks of the step.
    pub(crate) springs: Springs<T>,
}

clone_by_field!(State {
    system, version, stage, kinematics, incoming, kinds, layout, continuous, forces, totals;
    springs
});

impl<T: Real> State<T> {
    /// The stage to which the state is realized.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Time \[s\].
    pub fn time(&self) -> T {
        self.kinematics.time
    }

    /// Poses and coordinates.
    pub fn positions(&self) -> &Positions<T> {
        &self.kinematics.positions
    }

    /// Velocities and coordinate rates.
    pub fn velocities(&self) -> &Velocities<T> {
        &self.kinematics.velocities
    }

    /// Sets time \[s\]; drops the state below Time stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite.
    pub fn set_time(&mut self, time: T) -> Result<(), Error> {
        self.set_motion(Stage::Time, |kinematics| kinematics.set_time(time))
    }

    /// Sets the pose `X_GB` of a body; drops the state below Position stage. A rotation given in single precision, or one
    /// that has drifted, is made orthonormal.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite, its rotation is scaled, sheared or mirrored by more than a hundredth, or the
    /// body is Ground or does not exist.
    pub fn set_pose(&mut self, body: BodyIndex, X_GB: Pose<T>) -> Result<(), Error> {
        self.set_motion(Stage::Position, |kinematics| kinematics.set_pose(body, X_GB))
    }

    /// Sets the velocity `V_GB` of a body's origin, in Ground; drops the state below Velocity stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite, or the body is Ground or does not exist.
    pub fn set_velocity(&mut self, body: BodyIndex, V_GB: SpatialVelocity<T>) -> Result<(), Error> {
        self.set_motion(Stage::Velocity, |kinematics| kinematics.set_velocity(body, V_GB))
    }

    /// Sets pose and velocity of a body; drops the state below Position stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if one of them is not finite, or the body is Ground or does not exist.
    pub fn set_body(
        &mut self,
        body: BodyIndex,
        X_GB: Pose<T>,
        V_GB: SpatialVelocity<T>,
    ) -> Result<(), Error> {
        finite(V_GB.is_finite(), Quantity::Velocity(body))?;
        self.set_pose(body, X_GB)?;
        self.set_velocity(body, V_GB)
    }

    /// Sets the value of a coordinate; drops the state below Position stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite, or the coordinate does not exist.
    pub fn set_coordinate(&mut self, coordinate: CoordinateIndex, q: T) -> Result<(), Error> {
        self.set_motion(Stage::Position, |kinematics| kinematics.set_coordinate(coordinate, q))
    }

    /// Sets the rate of a coordinate; drops the state below Velocity stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite, or the coordinate does not exist.
    pub fn set_coordinate_rate(&mut self, coordinate: CoordinateIndex, u: T) -> Result<(), Error> {
        self.set_motion(Stage::Velocity, |kinematics| kinematics.set_coordinate_rate(coordinate, u))
    }

    /// Copies time, poses, velocities and coordinates from a host; drops the state below Time stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if one of them is not finite.
    pub fn set_kinematics(&mut self, host: &impl KinematicsSource<T>) -> Result<(), Error> {
        self.incoming.copy_from(host)?;
        core::mem::swap(&mut self.kinematics, &mut self.incoming);
        self.continuous.has_moved = true;
        self.invalidate(Stage::Time);
        Ok(())
    }

    /// The parameters of an element.
    ///
    /// # Panics
    /// If the state does not have the element, like slice indexing; [`try_parameters`](Self::try_parameters) does
    /// not.
    pub fn parameters<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E::Parameters {
        or_panic(self.try_parameters(handle))
    }

    /// The parameters of an element.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the state does not have the element.
    pub fn try_parameters<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Parameters, Error> {
        Ok(&self.slots(handle)?.variables.parameters[handle.place()])
    }

    /// The discrete variables of an element.
    ///
    /// # Panics
    /// If the state does not have the element, like slice indexing; [`try_discrete`](Self::try_discrete) does not.
    pub fn discrete<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E::Discrete {
        or_panic(self.try_discrete(handle))
    }

    /// The discrete variables of an element.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the state does not have the element.
    pub fn try_discrete<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Discrete, Error> {
        Ok(&self.slots(handle)?.variables.discrete[handle.place()])
    }

    /// The continuous variables of an element.
    ///
    /// # Panics
    /// If the state does not have the element, like slice indexing; see [`contains`](Self::contains).
    pub fn continuous_of<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E::Continuous {
        &or_panic(self.slots(handle)).variables.continuous[handle.place()]
    }

    /// Whether the state has the element.
    pub fn contains(&self, element: impl Into<ElementId>) -> bool {
        self.check(element.into()).is_ok()
    }

    /// Whether an element is enabled. A disabled element exerts no force and stores no energy; its results are defaults.
    ///
    /// # Panics
    /// If the state does not have the element, like slice indexing; see [`contains`](Self::contains).
    pub fn is_enabled(&self, element: impl Into<ElementId>) -> bool {
        let id = or_panic(self.check(element.into()));
        self.kinds[id.kind()].is_enabled(id.place())
    }

    /// Commits the discrete variables that the elements have prepared.
    pub(crate) fn commit(&mut self) {
        if let Some(stage) = self.kinds.iter_mut().filter_map(|slots| slots.commit()).min() {
            self.invalidate(stage);
        }
    }

    /// Sets a motion of the host that is read from this stage on.
    fn set_motion(
        &mut self,
        stage: Stage,
        set: impl FnOnce(&mut Kinematics<T>) -> Result<(), KinematicsError>,
    ) -> Result<(), Error> {
        set(&mut self.kinematics)?;
        self.continuous.has_moved = true;
        self.invalidate(stage);
        Ok(())
    }

    /// The first stage whose results are unknown.
    pub(crate) fn first_missing(&self) -> Option<Stage> {
        [Stage::Position, Stage::Velocity, Stage::Dynamics].into_iter().find(|stage| self.stage < *stage)
    }

    pub(crate) fn invalidate(&mut self, stage: Stage) {
        self.stage = self.stage.min(stage.previous());
    }

    /// The place of an element among all elements of the system.
    pub(crate) fn slot(&self, element: ElementId) -> Result<usize, Error> {
        let id = self.check(element)?;
        Ok(self.slot_at(id.kind(), id.place()))
    }

    pub(crate) fn slot_at(&self, kind: usize, place: usize) -> usize {
        self.kinds[..kind].iter().map(|slots| slots.roster().places.len()).sum::<usize>() + place
    }

    /// All elements, each as the slots of its kind, its place in the kind, and its place among all elements of the
    /// system.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (&dyn AnySlots<T>, usize, usize)> {
        self.kinds.iter().flat_map(|slots| {
            let start = self.slot_at(slots.roster().number, 0);
            slots.roster().places.iter().map(move |(place, _)| (slots.as_ref(), place, start + place))
        })
    }

    pub(crate) fn slots<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&Slots<T, E>, Error> {
        let id = self.check(handle.id())?;
        let slots = Slots::downcast(self.kinds[id.kind()].as_ref());
        slots.map_err(|_| Error::NoSuchElement { element: id })
    }

    /// Refuses an element that the state does not have.
    pub(crate) fn check(&self, element: ElementId) -> Result<ElementId, Error> {
        let slots = self.kinds.get(element.kind());
        check_in(slots.map(|slots| slots.roster()), element)
    }
}
