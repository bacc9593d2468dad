//! The state: everything that varies, and how far it has been realized.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::element::ForceElement;
use crate::error::{ElementName, Error, Quantity, Result};
use crate::forces::Forces;
use crate::handle::{Handle, or_panic};
use crate::kinematics::{
    BodyIndex, CoordinateIndex, Kinematics, KinematicsSource, Positions, Velocities, finite,
};
use crate::scalar::Real;
use crate::spatial::{SpatialVelocity, Transform};
use crate::stage::Stage;
use crate::storage::{AnySlots, Slots};
use crate::variables::{Variables, Visitor, names};

/// Time, kinematics, parameters, discrete variables, absorbed energies, and the caches of results.
///
/// Made by [`ForceSystem::default_state`](crate::ForceSystem::default_state). Writing a variable
/// drops the state to just below the stage that depends on it; results are read through the views
/// that the system gives. A call that fails changes nothing.
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
    /// Where a host's kinematics are checked before they replace the present ones.
    pub(crate) incoming: Kinematics<T>,
    pub(crate) kinds: Vec<Box<dyn AnySlots<T>>>,
    pub(crate) kind_lengths: Vec<usize>,
    pub(crate) absorbed_energy: Vec<T>,
    pub(crate) forces: Forces<T>,
    pub(crate) potential_energy: T,
    pub(crate) power_dissipated: T,
    pub(crate) power_absorbed: Vec<T>,
}

/// Every named variable of a state with its value: what has to be kept to resume bit for bit.
///
/// Made by [`State::snapshot`], taken back by [`State::restore`]. Kinematics are the host's and
/// are not in it, except time.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot<T> {
    /// Names and values, always in the same order for one system.
    pub variables: Vec<(String, T)>,
}

/// Checks variables that are to replace others: their ranges, and that they have the same names.
pub(crate) fn check_new<T: Real, V: Variables<T>>(present: &V, new: &V, kind: &'static str) -> Result<()> {
    new.validate()?;
    if names(new) == names(present) {
        Ok(())
    } else {
        Err(Error::ForeignVariables { element: ElementName::new(kind) })
    }
}

impl<T: Real> Clone for State<T> {
    fn clone(&self) -> Self {
        Self {
            system: self.system,
            version: self.version,
            stage: self.stage,
            kinematics: self.kinematics.clone(),
            incoming: self.incoming.clone(),
            kinds: self.kinds.iter().map(|slots| slots.clone_box()).collect(),
            kind_lengths: self.kind_lengths.clone(),
            absorbed_energy: self.absorbed_energy.clone(),
            forces: self.forces.clone(),
            potential_energy: self.potential_energy,
            power_dissipated: self.power_dissipated,
            power_absorbed: self.power_absorbed.clone(),
        }
    }
}

impl<T: Real> State<T> {
    /// How far the state is realized.
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
    /// [`Error::NonFinite`].
    pub fn set_time(&mut self, time: T) -> Result<()> {
        self.kinematics.set_time(time)?;
        self.invalidate(Stage::Time);
        Ok(())
    }

    /// Sets the pose `X_GB` of a body, which is only checked to be finite; drops the state below Position stage.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::NoSuchBody`], [`Error::GroundIsFixed`].
    pub fn set_pose(&mut self, body: BodyIndex, X_GB: Transform<T>) -> Result<()> {
        self.kinematics.set_pose(body, X_GB)?;
        self.invalidate(Stage::Position);
        Ok(())
    }

    /// Sets the velocity `V_GB` of a body's origin, in Ground; drops the state below Velocity stage.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::NoSuchBody`], [`Error::GroundIsFixed`].
    pub fn set_velocity(&mut self, body: BodyIndex, V_GB: SpatialVelocity<T>) -> Result<()> {
        self.kinematics.set_velocity(body, V_GB)?;
        self.invalidate(Stage::Velocity);
        Ok(())
    }

    /// Sets pose and velocity of a body; drops the state below Position stage.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::NoSuchBody`], [`Error::GroundIsFixed`].
    pub fn set_body(&mut self, body: BodyIndex, X_GB: Transform<T>, V_GB: SpatialVelocity<T>) -> Result<()> {
        finite(V_GB.is_finite(), Quantity::Velocity(body))?;
        self.set_pose(body, X_GB)?;
        self.set_velocity(body, V_GB)
    }

    /// Sets the value of a coordinate; drops the state below Position stage.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::NoSuchCoordinate`].
    pub fn set_coordinate(&mut self, coordinate: CoordinateIndex, q: T) -> Result<()> {
        self.kinematics.set_coordinate(coordinate, q)?;
        self.invalidate(Stage::Position);
        Ok(())
    }

    /// Sets the rate of a coordinate; drops the state below Velocity stage.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::NoSuchCoordinate`].
    pub fn set_coordinate_rate(&mut self, coordinate: CoordinateIndex, u: T) -> Result<()> {
        self.kinematics.set_coordinate_rate(coordinate, u)?;
        self.invalidate(Stage::Velocity);
        Ok(())
    }

    /// Takes time, poses, velocities and coordinates from a host; drops the state below Time stage.
    ///
    /// # Errors
    /// [`Error::NonFinite`].
    pub fn set_kinematics(&mut self, host: &impl KinematicsSource<T>) -> Result<()> {
        self.incoming.copy_from(host)?;
        core::mem::swap(&mut self.kinematics, &mut self.incoming);
        self.invalidate(Stage::Time);
        Ok(())
    }

    /// The parameters of an element.
    ///
    /// # Panics
    /// If the handle belongs to another system; [`try_parameters`](Self::try_parameters) does not.
    pub fn parameters<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E::Parameters {
        or_panic(self.try_parameters(handle))
    }

    /// The parameters of an element.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn try_parameters<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Parameters> {
        Ok(&self.slots(handle)?.variables[handle.place].parameters)
    }

    /// Sets the parameters of an element; drops the state below Instance stage.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if they are out of range; [`Error::ForeignVariables`] if they are those of
    /// an element with other parts; [`Error::TopologyMismatch`].
    pub fn set_parameters<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        parameters: E::Parameters,
    ) -> Result<()> {
        let slots = self.slots_mut(handle)?;
        let present = &mut slots.variables[handle.place].parameters;
        check_new(present, &parameters, E::KIND).map_err(|error| error.at(handle.place))?;
        *present = parameters;
        self.invalidate(Stage::Instance);
        Ok(())
    }

    /// The discrete variables of an element.
    ///
    /// # Panics
    /// If the handle belongs to another system; [`try_discrete`](Self::try_discrete) does not.
    pub fn discrete<E: ForceElement<T>>(&self, handle: Handle<E>) -> &E::Discrete {
        or_panic(self.try_discrete(handle))
    }

    /// The discrete variables of an element.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn try_discrete<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&E::Discrete> {
        Ok(&self.slots(handle)?.variables[handle.place].discrete)
    }

    /// Sets the discrete variables of an element; drops the state below the stage that reads them,
    /// [`DISCRETE_STAGE`](ForceElement::DISCRETE_STAGE).
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if they are out of range; [`Error::ForeignVariables`] if they are those of
    /// an element with other parts; [`Error::TopologyMismatch`].
    pub fn set_discrete<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        discrete: E::Discrete,
    ) -> Result<()> {
        let slots = self.slots_mut(handle)?;
        let present = &mut slots.variables[handle.place].discrete;
        check_new(present, &discrete, E::KIND).map_err(|error| error.at(handle.place))?;
        *present = discrete;
        self.invalidate(E::DISCRETE_STAGE);
        Ok(())
    }

    /// Changes some of the parameters of an element: as [`set_parameters`](Self::set_parameters) on
    /// a changed copy.
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters).
    pub fn update_parameters<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        change: impl FnOnce(&mut E::Parameters),
    ) -> Result<()> {
        let mut parameters = self.try_parameters(handle)?.clone();
        change(&mut parameters);
        self.set_parameters(handle, parameters)
    }

    /// Changes some of the discrete variables of an element: as
    /// [`set_discrete`](Self::set_discrete) on a changed copy.
    ///
    /// # Errors
    /// As [`set_discrete`](Self::set_discrete).
    pub fn update_discrete<E: ForceElement<T>>(
        &mut self,
        handle: Handle<E>,
        change: impl FnOnce(&mut E::Discrete),
    ) -> Result<()> {
        let mut discrete = self.try_discrete(handle)?.clone();
        change(&mut discrete);
        self.set_discrete(handle, discrete)
    }

    /// Whether an element is enabled. A disabled one exerts no force, stores no energy, and its
    /// results read as their defaults.
    ///
    /// The energy ledger takes it literally: what an element stores when it is disabled counts as
    /// dissipated, and what it is found to store when it is enabled again as come back.
    /// [`set_dissipated_energy`](crate::ForceSystem::set_dissipated_energy) starts its account anew.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn is_enabled<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<bool> {
        Ok(self.slots(handle)?.variables[handle.place].enabled)
    }

    /// Enables or disables an element; drops the state below Instance stage.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn set_enabled<E: ForceElement<T>>(&mut self, handle: Handle<E>, enabled: bool) -> Result<()> {
        self.slots_mut(handle)?.variables[handle.place].enabled = enabled;
        self.invalidate(Stage::Instance);
        Ok(())
    }

    /// The energy each element has taken in \[J\], in the order of
    /// [`DynamicsView::power_absorbed`](crate::DynamicsView::power_absorbed), of which it is the
    /// time integral. The host integrates it along with the motion; no result depends on it but
    /// [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy).
    pub fn absorbed_energy(&self) -> &[T] {
        &self.absorbed_energy
    }

    /// Sets the energy each element has taken in \[J\]; keeps the stage.
    ///
    /// # Errors
    /// [`Error::NonFinite`]; [`Error::TopologyMismatch`] if there are not as many energies as
    /// elements.
    pub fn set_absorbed_energy(&mut self, energies: &[T]) -> Result<()> {
        if energies.len() != self.absorbed_energy.len() {
            return Err(Error::TopologyMismatch);
        }
        finite(energies.iter().all(T::is_finite), Quantity::Energy)?;
        self.absorbed_energy.copy_from_slice(energies);
        Ok(())
    }

    /// The names of all variables, in the order in which [`snapshot`](Self::snapshot) lists them.
    pub fn variable_names(&self) -> Vec<String> {
        self.snapshot().variables.into_iter().map(|(name, _)| name).collect()
    }

    /// The variable of this name, such as `exponential_spring[3].anchor.x`.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`].
    pub fn variable(&self, name: &str) -> Result<T> {
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        if name == "time" {
            return Ok(self.time());
        }
        let (kind, place, field) = self.find(name).ok_or_else(no_such)?;
        if field == "absorbed_energy" {
            return Ok(self.absorbed_energy[self.kind_lengths[..kind].iter().sum::<usize>() + place]);
        }
        self.kinds[kind].get(place, field).ok_or_else(no_such)
    }

    /// Sets the variable of this name; drops the state below the stage that depends on it.
    ///
    /// The entries of a rotation can only be set all together, by [`restore`](Self::restore): one
    /// alone makes it no rotation.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`]; [`Error::InvalidValue`] or [`Error::NonFinite`] if out of range.
    pub fn set_variable(&mut self, name: &str, value: T) -> Result<()> {
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        if name == "time" {
            return self.set_time(value);
        }
        let (kind, place, field) = self.find(name).ok_or_else(no_such)?;
        if field == "absorbed_energy" {
            let slot = self.kind_lengths[..kind].iter().sum::<usize>() + place;
            return self.set_absorbed_energy_at(slot, value);
        }
        let stage = self.kinds[kind].set(place, field, value).ok_or_else(no_such)??;
        self.invalidate(stage);
        Ok(())
    }

    /// Takes `kind[place].field` apart.
    fn find<'n>(&self, name: &'n str) -> Option<(usize, usize, &'n str)> {
        let (kind_name, rest) = name.split_once('[')?;
        let (place, field) = rest.split_once("].")?;
        let kind = self.kinds.iter().position(|slots| slots.kind_name() == kind_name)?;
        let place = place.parse().ok().filter(|&place| place < self.kind_lengths[kind])?;
        Some((kind, place, field))
    }

    /// All variables with their names and values.
    pub fn snapshot(&self) -> Snapshot<T> {
        let mut variables = Vec::new();
        self.clone().visit(&mut |name, value| variables.push((name.to_string(), *value)));
        Snapshot { variables }
    }

    /// Takes over all variables of a snapshot of this or an equal system; drops the state below
    /// Instance stage.
    ///
    /// # Errors
    /// [`Error::SnapshotMismatch`] if the names are not those of this state, or a flag is neither 0 nor 1;
    /// [`Error::InvalidValue`] or [`Error::NonFinite`] if a value is out of range.
    pub fn restore(&mut self, snapshot: &Snapshot<T>) -> Result<()> {
        let mut restored = self.clone();
        let mut mismatch = None;
        let mut position = 0;
        restored.visit(&mut |name, value| {
            match snapshot.variables.get(position) {
                Some((saved, saved_value)) if *saved == name.to_string() => *value = *saved_value,
                _ => mismatch = mismatch.or(Some(position)),
            }
            position += 1;
        });
        if let Some(position) = mismatch {
            return Err(Error::SnapshotMismatch { position });
        }
        if position != snapshot.variables.len() {
            return Err(Error::SnapshotMismatch { position });
        }
        finite(restored.kinematics.time.is_finite(), Quantity::Time)?;
        finite(restored.absorbed_energy.iter().all(T::is_finite), Quantity::Energy)?;
        for (slots, &length) in restored.kinds.iter().zip(&self.kind_lengths) {
            (0..length).try_for_each(|place| slots.validate(place))?;
        }
        if let Some(flag) = restored.first_not_kept(snapshot) {
            return Err(Error::SnapshotMismatch { position: flag });
        }
        restored.invalidate(Stage::Instance);
        *self = restored;
        Ok(())
    }

    /// The place of the first variable that has not kept the value it was given: a flag that is neither
    /// 0 nor 1.
    fn first_not_kept(&self, snapshot: &Snapshot<T>) -> Option<usize> {
        let kept = self.snapshot();
        kept.variables.iter().zip(&snapshot.variables).position(|((_, kept), (_, given))| kept != given)
    }

    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit(format_args!("time"), &mut self.kinematics.time);
        let mut energies = self.absorbed_energy.iter_mut();
        for (slots, &length) in self.kinds.iter_mut().zip(&self.kind_lengths) {
            for place in 0..length {
                slots.visit(place, visit);
                if let Some(energy) = energies.next() {
                    visit(format_args!("{}[{place}].absorbed_energy", slots.kind_name()), energy);
                }
            }
        }
    }

    pub(crate) fn invalidate(&mut self, stage: Stage) {
        self.stage = self.stage.min(stage.previous());
    }

    /// The place of an element among all elements of the system.
    pub(crate) fn slot<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<usize> {
        self.slots(handle)?;
        Ok(self.kind_lengths[..handle.kind].iter().sum::<usize>() + handle.place)
    }

    pub(crate) fn set_absorbed_energy_at(&mut self, slot: usize, energy: T) -> Result<()> {
        finite(energy.is_finite(), Quantity::Energy)?;
        self.absorbed_energy[slot] = energy;
        Ok(())
    }

    pub(crate) fn slots<E: ForceElement<T>>(&self, handle: Handle<E>) -> Result<&Slots<T, E>> {
        self.check(handle)?;
        Slots::downcast(self.kinds[handle.kind].as_ref())
    }

    fn slots_mut<E: ForceElement<T>>(&mut self, handle: Handle<E>) -> Result<&mut Slots<T, E>> {
        self.check(handle)?;
        Slots::downcast_mut(self.kinds[handle.kind].as_mut())
    }

    fn check<E>(&self, handle: Handle<E>) -> Result<()> {
        let length = self.kind_lengths.get(handle.kind).copied().unwrap_or(0);
        if handle.system == self.system && handle.place < length {
            Ok(())
        } else {
            Err(Error::TopologyMismatch)
        }
    }
}
