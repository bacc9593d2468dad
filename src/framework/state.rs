//! The state: everything that varies, and its stage.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::framework::Error;
use crate::framework::element::ForceElement;
use crate::framework::handle::{ElementId, Handle, or_panic};
use crate::framework::roster::Roster;
use crate::framework::slots::{AnySlots, Slots};
use crate::framework::stage::Stage;
use crate::framework::system::check_in;
use crate::framework::variables::{Entry, Slot, Value, Visitor, VisitorMut};
use crate::math::{Pose, Real, SpatialVelocity};
use crate::mechanics::{
    BodyIndex, CoordinateIndex, Forces, Kinematics, KinematicsSource, Positions, Quantity, Velocities, finite,
};

/// Time, kinematics, parameters, discrete variables, absorbed energies, and the caches of results.
///
/// Made by [`ForceSystem::default_state`](crate::ForceSystem::default_state). The host writes time and kinematics
/// here, and variables of elements through the system, which books the energy. Writing drops the state to just
/// below the stage that depends on it; results are read through views that the system returns. A call that fails
/// changes nothing.
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
    pub(crate) kind_lengths: Vec<usize>,
    pub(crate) absorbed_energy: Vec<T>,
    /// Whether the energy account of each element is open.
    pub(crate) account_open: Vec<bool>,
    pub(crate) forces: Forces<T>,
    pub(crate) potential_energy: T,
    pub(crate) power_dissipated: T,
    pub(crate) power_absorbed: Vec<T>,
}

/// The name of the variable for the energy an element has absorbed.
pub(crate) const ABSORBED_ENERGY: &str = "absorbed_energy";
/// The name of the flag for an open energy account.
pub(crate) const ACCOUNT_OPEN: &str = "account_open";

/// All named variables of a state with their values; restoring them resumes bit for bit.
///
/// Made by [`State::snapshot`], read by [`State::restore`]. Holds time but no other kinematics, which are the
/// host's.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot<T> {
    /// Names and values, always in the same order for one system.
    pub variables: Vec<(String, T)>,
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
            account_open: self.account_open.clone(),
            forces: self.forces.clone(),
            potential_energy: self.potential_energy,
            power_dissipated: self.power_dissipated,
            power_absorbed: self.power_absorbed.clone(),
        }
    }

    /// Allocates nothing if both are states of the same system, evaluated before.
    fn clone_from(&mut self, source: &Self) {
        let Self { system, version, stage, kinematics, incoming, kinds, kind_lengths, .. } = self;
        let is_alike = (*system, *version) == (source.system, source.version);
        let mut pairs = kinds.iter_mut().zip(&source.kinds);
        if !is_alike || pairs.any(|(slots, theirs)| slots.copy_from(theirs.as_ref()).is_err()) {
            *self = source.clone();
            return;
        }
        *stage = source.stage;
        kinematics.clone_from(&source.kinematics);
        incoming.clone_from(&source.incoming);
        kind_lengths.clone_from(&source.kind_lengths);
        self.absorbed_energy.clone_from(&source.absorbed_energy);
        self.account_open.clone_from(&source.account_open);
        self.forces.clone_from(&source.forces);
        self.potential_energy = source.potential_energy;
        self.power_dissipated = source.power_dissipated;
        self.power_absorbed.clone_from(&source.power_absorbed);
    }
}

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
        self.kinematics.set_time(time)?;
        self.invalidate(Stage::Time);
        Ok(())
    }

    /// Sets the pose `X_GB` of a body, checked only for finite entries; drops the state below Position stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite, or the body is Ground or does not exist.
    pub fn set_pose(&mut self, body: BodyIndex, X_GB: Pose<T>) -> Result<(), Error> {
        self.kinematics.set_pose(body, X_GB)?;
        self.invalidate(Stage::Position);
        Ok(())
    }

    /// Sets the velocity `V_GB` of a body's origin, in Ground; drops the state below Velocity stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite, or the body is Ground or does not exist.
    pub fn set_velocity(&mut self, body: BodyIndex, V_GB: SpatialVelocity<T>) -> Result<(), Error> {
        self.kinematics.set_velocity(body, V_GB)?;
        self.invalidate(Stage::Velocity);
        Ok(())
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
        self.kinematics.set_coordinate(coordinate, q)?;
        self.invalidate(Stage::Position);
        Ok(())
    }

    /// Sets the rate of a coordinate; drops the state below Velocity stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if it is not finite, or the coordinate does not exist.
    pub fn set_coordinate_rate(&mut self, coordinate: CoordinateIndex, u: T) -> Result<(), Error> {
        self.kinematics.set_coordinate_rate(coordinate, u)?;
        self.invalidate(Stage::Velocity);
        Ok(())
    }

    /// Copies time, poses, velocities and coordinates from a host; drops the state below Time stage.
    ///
    /// # Errors
    /// [`Error::Kinematics`] if one of them is not finite.
    pub fn set_kinematics(&mut self, host: &impl KinematicsSource<T>) -> Result<(), Error> {
        self.incoming.copy_from(host)?;
        core::mem::swap(&mut self.kinematics, &mut self.incoming);
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
        Ok(&self.slots(handle)?.variables[handle.place()].parameters)
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
        Ok(&self.slots(handle)?.variables[handle.place()].discrete)
    }

    /// Whether the state has the element.
    pub fn contains(&self, element: impl Into<ElementId>) -> bool {
        self.check(element.into()).is_ok()
    }

    /// Whether an element is enabled. A disabled element exerts no force, stores no energy, and its results are
    /// defaults.
    ///
    /// # Panics
    /// If the state does not have the element, like slice indexing; [`contains`](Self::contains) tells.
    pub fn is_enabled(&self, element: impl Into<ElementId>) -> bool {
        let id = or_panic(self.check(element.into()));
        self.kinds[id.kind()].is_enabled(id.place())
    }

    /// The energy absorbed by each element \[J\], in the order of
    /// [`ForceSystem::elements`](crate::ForceSystem::elements), with zeros at the places of removed elements. It is the
    /// time integral of [`DynamicsView::power_absorbed`](crate::DynamicsView::power_absorbed).
    /// The host integrates it along with the motion; no result depends on it but
    /// [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy). A change of parameters or
    /// discrete variables adds to it the change in stored energy.
    pub fn absorbed_energy(&self) -> &[T] {
        &self.absorbed_energy
    }

    /// The energy absorbed by one element \[J\].
    ///
    /// # Panics
    /// If the state does not have the element, like slice indexing; [`contains`](Self::contains) tells.
    pub fn absorbed_energy_of(&self, element: impl Into<ElementId>) -> T {
        self.absorbed_energy[or_panic(self.slot(element.into()))]
    }

    /// Sets the energy absorbed by each element \[J\] and opens all accounts; keeps the stage.
    ///
    /// A host that integrates must add to [`absorbed_energy`](Self::absorbed_energy); setting energies of its own
    /// would overwrite those booked for changes of parameters.
    ///
    /// # Errors
    /// [`Error::NonFiniteEnergy`] if one of them is not finite; [`Error::TopologyMismatch`] if their number is
    /// not that of the elements.
    pub fn set_absorbed_energy(&mut self, energies: &[T]) -> Result<(), Error> {
        self.go_on_absorbing(energies)?;
        self.account_open.fill(true);
        Ok(())
    }

    /// Sets the energy absorbed by each element; accounts stay open or closed.
    pub(crate) fn go_on_absorbing(&mut self, energies: &[T]) -> Result<(), Error> {
        if energies.len() != self.absorbed_energy.len() {
            return Err(Error::TopologyMismatch);
        }
        finite_energy(energies.iter().all(T::is_finite))?;
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
    /// [`Error::NoSuchVariable`] if there is none of this name.
    pub fn variable(&self, name: &str) -> Result<T, Error> {
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        if name == "time" {
            return Ok(self.time());
        }
        let (id, field) = self.find(name).ok_or_else(no_such)?;
        let slot = self.slot(id)?;
        match field {
            ABSORBED_ENERGY => Ok(self.absorbed_energy[slot]),
            ACCOUNT_OPEN => Ok(Value::Flag(self.account_open[slot]).number()),
            _ => self.kinds[id.kind()].get(id.place(), field).ok_or_else(no_such),
        }
    }

    /// Parses `kind[place].field`.
    pub(crate) fn find<'n>(&self, name: &'n str) -> Option<(ElementId, &'n str)> {
        let (kind_name, rest) = name.split_once('[')?;
        let (digits, field) = rest.split_once("].")?;
        let kind = self.kinds.iter().position(|slots| slots.roster().kind == kind_name)?;
        // Canonical numbers only: no sign, no leading zeros.
        let is_spelled_out =
            digits.bytes().all(|c| c.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
        let place = digits.parse().ok().filter(|_| is_spelled_out)?;
        let Roster { kind: name, places } = self.kinds[kind].roster();
        Some((ElementId::new(name, kind, place, places.stamp(place)?), field))
    }

    /// All variables with their names and values.
    pub fn snapshot(&self) -> Snapshot<T> {
        let mut variables = Vec::new();
        self.visit_variables(&mut |entry| variables.push((entry.name.to_string(), entry.value.number())));
        Snapshot { variables }
    }

    /// Restores all variables from a snapshot of this or an equal system; drops the state below Instance stage.
    ///
    /// # Errors
    /// [`Error::SnapshotMismatch`] if the names are not those of this state; [`Error::Element`] if a parameter or
    /// discrete variable is out of range; [`Error::NotAFlag`] if a flag is neither 0 nor 1;
    /// [`Error::Kinematics`] if the time is not finite; [`Error::NonFiniteEnergy`] if an energy is not finite.
    pub fn restore(&mut self, snapshot: &Snapshot<T>) -> Result<(), Error> {
        let mut restored = self.clone();
        let mut given = snapshot.variables.iter();
        let mut refused = None;
        let mut position = 0;
        restored.visit_variables_mut(&mut |entry| {
            if refused.is_some() {
                return;
            }
            let expected = entry.name.to_string();
            match given.next() {
                Some((saved, value)) if *saved == expected => {
                    if entry.value.write("flag", *value).is_err() {
                        refused = Some(Error::NotAFlag { name: expected });
                    }
                }
                other => {
                    let found = other.map(|(name, _)| name.clone());
                    refused = Some(Error::SnapshotMismatch { position, expected: Some(expected), found });
                }
            }
            position += 1;
        });
        if let Some((name, _)) = given.next().filter(|_| refused.is_none()) {
            refused = Some(Error::SnapshotMismatch { position, expected: None, found: Some(name.clone()) });
        }
        refused.map_or(Ok(()), Err)?;
        finite(restored.kinematics.time.is_finite(), Quantity::Time)?;
        finite_energy(restored.absorbed_energy.iter().all(T::is_finite))?;
        for slots in &restored.kinds {
            slots.roster().places.iter().try_for_each(|(place, _)| slots.validate(place))?;
        }
        restored.invalidate(Stage::Instance);
        *self = restored;
        Ok(())
    }

    /// Calls `visit` once for each variable, with its full name, unit, stage and value, in the order in which
    /// [`snapshot`](Self::snapshot) lists them. Nothing is allocated.
    ///
    /// The absorbed energy and the flag of the account of an element are listed with Dynamics stage, at which they are
    /// read; writing them keeps the stage of the state.
    pub fn visit_variables(&self, visit: Visitor<'_, T>) {
        visit(time_entry(Value::Number(self.kinematics.time)));
        for (kind, slots) in self.kinds.iter().enumerate() {
            let Roster { kind: name, places } = slots.roster();
            for (place, _) in places.iter() {
                slots.visit(place, visit);
                let slot = self.slot_at(kind, place);
                let (energy, is_open) = (self.absorbed_energy[slot], self.account_open[slot]);
                let [absorbed, account] = account_entries(Value::Number(energy), Value::Flag(is_open));
                visit(absorbed.renamed(format_args!("{name}[{place}].{ABSORBED_ENERGY}")));
                visit(account.renamed(format_args!("{name}[{place}].{ACCOUNT_OPEN}")));
            }
        }
    }

    fn visit_variables_mut(&mut self, visit: VisitorMut<'_, T>) {
        visit(time_entry(Slot::Number(&mut self.kinematics.time)));
        let mut start = 0;
        for (slots, &length) in self.kinds.iter_mut().zip(&self.kind_lengths) {
            let name = slots.roster().kind;
            for place in 0..length {
                if slots.roster().places.stamp(place).is_some() {
                    slots.visit_mut(place, visit);
                    let energy = Slot::Number(&mut self.absorbed_energy[start + place]);
                    let is_open = Slot::Flag(&mut self.account_open[start + place]);
                    let [absorbed, account] = account_entries(energy, is_open);
                    visit(absorbed.renamed(format_args!("{name}[{place}].{ABSORBED_ENERGY}")));
                    visit(account.renamed(format_args!("{name}[{place}].{ACCOUNT_OPEN}")));
                }
            }
            start += length;
        }
    }

    /// Commits the discrete variables that the elements have prepared.
    pub(crate) fn commit(&mut self) {
        if let Some(stage) = self.kinds.iter_mut().filter_map(|slots| slots.commit()).min() {
            self.invalidate(stage);
        }
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
        self.kind_lengths[..kind].iter().sum::<usize>() + place
    }

    /// Sets the energy absorbed by one element and opens its account.
    pub(crate) fn set_absorbed_energy_at(&mut self, slot: usize, energy: T) -> Result<(), Error> {
        finite_energy(energy.is_finite())?;
        self.absorbed_energy[slot] = energy;
        self.account_open[slot] = true;
        Ok(())
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

fn time_entry<V>(value: V) -> Entry<'static, V> {
    Entry { name: format_args!("time"), unit: "s", stage: Stage::Time, value }
}

/// The variables of an element's energy account.
fn account_entries<V>(absorbed: V, is_open: V) -> [Entry<'static, V>; 2] {
    let stage = Stage::Dynamics;
    [
        Entry { name: format_args!("absorbed_energy"), unit: "J", stage, value: absorbed },
        Entry { name: format_args!("account_open"), unit: "", stage, value: is_open },
    ]
}

/// Refuses an energy that is not finite.
fn finite_energy(is_finite: bool) -> Result<(), Error> {
    if is_finite { Ok(()) } else { Err(Error::NonFiniteEnergy) }
}
