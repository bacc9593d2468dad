//! Writes of the variables of elements, booked in the energy accounts.

use alloc::string::ToString;

use crate::framework::element::ForceElement;
use crate::framework::handle::Handle;
use crate::framework::slots::{AnySlots, Slots};
use crate::framework::stage::Stage;
use crate::framework::state::{ABSORBED_ENERGY, ACCOUNT_OPEN, State};
use crate::framework::{Error, ForceSystem};
use crate::math::{Real, check};
use crate::mechanics::Kinematics;

impl<T: Real> ForceSystem<T> {
    /// Sets the parameters of an element; drops the state below Instance stage.
    ///
    /// If the [account](crate::DynamicsView::dissipated_energy) of the element is open, the change in stored energy is
    /// booked as absorbed, since the caller supplies it. The element is evaluated before and after for this; if
    /// that fails, its account is closed.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) if they are out of range, or with
    /// [`ElementError::ForeignVariables`](crate::ElementError::ForeignVariables) if they are those of an element with other parts;
    /// [`Error::TopologyMismatch`] if the state or handle belongs to another system.
    pub fn set_parameters<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        parameters: E::Parameters,
    ) -> Result<(), Error> {
        self.update_parameters(state, handle, |present| *present = parameters)
    }

    /// Changes some of the parameters of an element: as [`set_parameters`](Self::set_parameters) on
    /// a changed copy.
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters).
    pub fn update_parameters<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        change: impl FnOnce(&mut E::Parameters),
    ) -> Result<(), Error> {
        self.update(state, handle, |slots| slots.change_parameters(handle.place, change))
    }

    /// Sets the discrete variables of an element; drops the state below the stage that reads them,
    /// [`DISCRETE_STAGE`](ForceElement::DISCRETE_STAGE). Books as [`set_parameters`](Self::set_parameters).
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters).
    pub fn set_discrete<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        discrete: E::Discrete,
    ) -> Result<(), Error> {
        self.update_discrete(state, handle, |present| *present = discrete)
    }

    /// Changes some of the discrete variables of an element: as
    /// [`set_discrete`](Self::set_discrete) on a changed copy.
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters).
    pub fn update_discrete<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        change: impl FnOnce(&mut E::Discrete),
    ) -> Result<(), Error> {
        self.update(state, handle, |slots| slots.change_discrete(handle.place, change))
    }

    /// Resets the memory of an element as though the bodies had always been at their present positions: the
    /// anchor of an exponential spring moves to its station, bristles stick unbent, stops act if surpassed, a
    /// bushing forgets whole turns, a cable its path. Drops the state below the stage that reads it. Books as
    /// [`set_parameters`](Self::set_parameters).
    ///
    /// Call it after setting the initial poses, since the first evaluation may otherwise find an anchor or
    /// bristle far away, and after placing bodies elsewhere.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state or handle belongs to another system; [`Error::Element`] with an
    /// error documented by the element.
    pub fn reset_memory<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
    ) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        state.slot(handle)?;
        self.reset_memory_at(state, handle.kind, handle.place)
    }

    /// Resets the memory of all elements, one after the other; see [`reset_memory`](Self::reset_memory).
    ///
    /// # Errors
    /// As [`reset_memory`](Self::reset_memory); elements before the one that failed have been reset.
    pub fn reset_memories(&self, state: &mut State<T>) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        for (kind, elements) in self.kinds.iter().enumerate() {
            (0..elements.len()).try_for_each(|place| self.reset_memory_at(state, kind, place))?;
        }
        Ok(())
    }

    fn reset_memory_at(&self, state: &mut State<T>, kind: usize, place: usize) -> Result<(), Error> {
        self.write_booked(state, kind, place, |slots, kinematics| {
            self.kinds[kind].reset_memory(slots, place, kinematics)
        })
    }

    /// Enables or disables an element; drops the state below Instance stage. Books as
    /// [`set_parameters`](Self::set_parameters): the caller receives the energy that a disabled element had
    /// stored.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state or handle belongs to another system.
    pub fn set_enabled<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        enabled: bool,
    ) -> Result<(), Error> {
        self.update(state, handle, |slots| {
            slots.variables[handle.place].enabled = enabled;
            Ok(Stage::Instance)
        })
    }

    /// Sets the variable of this name; drops the state below the stage that depends on it. Parameters, discrete
    /// variables and flags are booked as in [`set_parameters`](Self::set_parameters).
    ///
    /// Where two variables bound one another (static and kinetic friction), the other is adjusted. The entries of
    /// a rotation can only be set together, by [`State::restore`].
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`] if there is none of this name; [`Error::Element`] with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) if a variable of an element is out of range; [`Error::InvalidValue`] for the
    /// flag of an account that is neither 0 nor 1; [`Error::Kinematics`] for a time that is not finite;
    /// [`Error::NonFiniteEnergy`] for an energy that is not finite; [`Error::TopologyMismatch`] if the state belongs
    /// to another system.
    pub fn set_variable(&self, state: &mut State<T>, name: &str, value: T) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        if name == "time" {
            return state.set_time(value);
        }
        let (kind, place, field) = state.find(name).ok_or_else(no_such)?;
        match field {
            ABSORBED_ENERGY => state.set_absorbed_energy_at(state.slot_at(kind, place), value),
            ACCOUNT_OPEN => {
                let slot = state.slot_at(kind, place);
                state.account_open[slot] = check::flag(ACCOUNT_OPEN, value)?;
                Ok(())
            }
            _ => self.write_booked(state, kind, place, |slots, _| {
                slots.set(place, field, value)?.ok_or_else(no_such)
            }),
        }
    }

    /// Sets the energy dissipated by one element so far \[J\] and opens its account. Realizes the state to
    /// Dynamics.
    ///
    /// # Errors
    /// Those of [`realize_dynamics`](Self::realize_dynamics); [`Error::Element`] with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) if it is negative or not finite; [`Error::NonFiniteEnergy`] if its sum with
    /// the energy stored is not finite; [`Error::TopologyMismatch`] if the handle belongs to another system.
    pub fn set_dissipated_energy<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        energy: T,
    ) -> Result<(), Error> {
        let slot = state.slot(handle)?;
        check::nonnegative("dissipated_energy", energy)
            .map_err(|error| self.failure(handle, error.into()))?;
        let absorbed = energy + self.realize_dynamics(state)?.potential_energy_of(handle)?;
        state.set_absorbed_energy_at(slot, absorbed)
    }

    /// Opens the energy accounts of all elements with zero dissipated energy. Call it after setting the initial
    /// poses. Realizes the state to Dynamics.
    ///
    /// # Errors
    /// Those of [`realize_dynamics`](Self::realize_dynamics).
    pub fn reset_dissipated_energy(&self, state: &mut State<T>) -> Result<(), Error> {
        self.advance_to_dynamics(state)?;
        let State { kinds, kinematics, absorbed_energy, account_open, .. } = state;
        let mut rest = absorbed_energy.as_mut_slice();
        for (kind, slots) in self.kinds.iter().zip(kinds) {
            let (own, others) = rest.split_at_mut(kind.len());
            kind.potential_energies(slots.as_ref(), kinematics, own)?;
            rest = others;
        }
        account_open.fill(true);
        Ok(())
    }

    /// Writes variables of one element of known type.
    fn update<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        write: impl FnOnce(&mut Slots<T, E>) -> Result<Stage, Error>,
    ) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        state.slot(handle)?;
        self.write_booked(state, handle.kind, handle.place, |slots, _| write(Slots::downcast_mut(slots)?))
    }

    /// Writes variables of one element and books the change in stored energy. `write` returns the stage below
    /// which the state falls.
    fn write_booked(
        &self,
        state: &mut State<T>,
        kind: usize,
        place: usize,
        write: impl FnOnce(&mut dyn AnySlots<T>, &Kinematics<T>) -> Result<Stage, Error>,
    ) -> Result<(), Error> {
        let slot = state.slot_at(kind, place);
        let stored = |state: &mut State<T>| {
            let State { kinds, kinematics, stage, .. } = state;
            self.kinds[kind].calc_potential_energy(kinds[kind].as_mut(), place, *stage, kinematics)
        };
        let before = if state.account_open[slot] { stored(state).ok() } else { None };
        let stage = write(state.kinds[kind].as_mut(), &state.kinematics)?;
        state.invalidate(stage);
        let booked = before.and_then(|before| {
            let absorbed = state.absorbed_energy[slot] + (stored(state).ok()? - before);
            absorbed.is_finite().then_some(absorbed)
        });
        match booked {
            Some(absorbed) => state.absorbed_energy[slot] = absorbed,
            None => state.account_open[slot] = false,
        }
        Ok(())
    }
}
