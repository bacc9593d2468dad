//! Writes of the variables of elements, with the change of stored energy in their accounts.

use alloc::string::ToString;

use crate::framework::element_variables::{ENABLED, check_new, is_named, validate_continuous};
use crate::framework::kinds::AnyElement;
use crate::framework::slots::{Columns, Group, Slots};
use crate::framework::snapshot::{ABSORBED_ENERGY, ACCOUNT_OPEN};
use crate::framework::variables::Value;
use crate::framework::{
    ElementError, ElementId, ElementResult, Error, ForceElement, ForceSystem, Handle, Stage, State,
};
use crate::math::{Real, check};

impl<T: Real> ForceSystem<T> {
    /// Sets the parameters of an element; drops the state to just below the first stage that reads a
    /// [changed](crate::Variables::first_stage_changed) parameter.
    ///
    /// If the [account](crate::DynamicsView::dissipated_energy) of the element is open, the change in stored energy is
    /// added to the energy absorbed, since the caller supplies it. An exception is the energy that friction loses because
    /// its limit [falls](ForceElement::friction_energy), which is dissipated. A user's law does not state this energy,
    /// nor does an [`ExponentialSpring`](crate::ExponentialSpring) whose friction settles: all that they release counts
    /// as received by the caller.
    ///
    /// For this the element is evaluated before and after the write. If that fails, or the motion of a restored state has
    /// not been set, its account is closed. Write numbers that change together in one call: friction also loses energy if
    /// its limit falls only between two writes.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) if they are out of range, or with
    /// [`ElementError::ForeignVariables`](crate::ElementError::ForeignVariables) if they belong to an element with other
    /// parts; [`Error::TopologyMismatch`] if the state belongs to another system; [`Error::NoSuchElement`] if the state
    /// does not have the element.
    pub fn set_parameters<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        parameters: E::Parameters,
    ) -> Result<(), Error> {
        self.update_parameters(state, handle, |present| *present = parameters)
    }

    /// Changes some of the parameters of an element, as [`set_parameters`](Self::set_parameters) with a changed copy
    /// does.
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters).
    pub fn update_parameters<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        change: impl FnOnce(&mut E::Parameters),
    ) -> Result<(), Error> {
        self.update(state, handle, true, |present, changed| {
            change(&mut changed.parameters[0]);
            check_new(&present.parameters[handle.place()], &changed.parameters[0])
        })
    }

    /// Sets the discrete variables of an element. Drops the state and updates the account like
    /// [`set_parameters`](Self::set_parameters).
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

    /// Changes some of the discrete variables of an element, as [`set_discrete`](Self::set_discrete) with a changed copy
    /// does.
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters).
    pub fn update_discrete<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        change: impl FnOnce(&mut E::Discrete),
    ) -> Result<(), Error> {
        self.update(state, handle, false, |present, changed| {
            change(&mut changed.discrete[0]);
            check_new(&present.discrete[handle.place()], &changed.discrete[0])
        })
    }

    /// Changes continuous variables of an element; drops the state below the stage that reads them. Enters the change of
    /// energy in the account as [`set_parameters`](Self::set_parameters) does. An integrator, which writes the continuous
    /// variables of all elements, uses [`State::set_continuous`].
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters).
    pub fn update_continuous<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        change: impl FnOnce(&mut E::Continuous),
    ) -> Result<(), Error> {
        self.update(state, handle, false, |present, changed| {
            change(&mut changed.continuous[0]);
            validate_continuous(&changed.continuous[0])?;
            check_new(&present.continuous[handle.place()], &changed.continuous[0])
        })
    }

    /// Resets the memory of an element to that with which a motion begins at the present positions and velocities. Drops
    /// the state and updates the account like [`set_parameters`](Self::set_parameters). The new memory does not depend on
    /// the earlier motion; continuous variables stay as they are.
    ///
    /// - The anchor of an exponential spring moves to its station, which slides.
    /// - Springs of a bed have no anchors until the first commit.
    /// - Bristles are unbent, and slip if their damper exceeds their limit. Stops act if surpassed.
    /// - A bushing forgets whole turns.
    /// - A cable is laid anew, by its hints.
    ///
    /// Call it after setting the initial poses and velocities, since the first evaluation may otherwise find an anchor or
    /// bristle far away; and after moving bodies elsewhere.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state belongs to another system; [`Error::NoSuchElement`] if the state does not
    /// have the element; [`Error::Element`] with an error documented by the element.
    pub fn reset_memory(&self, state: &mut State<T>, element: impl Into<ElementId>) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        let id = state.check(element.into())?;
        let write = |state: &mut _| self.kinds[id.kind()].reset_memory(state, id.place());
        self.write_with_account(state, id, false, write)?;
        state.continuous.was_reset();
        Ok(())
    }

    /// Resets the memory of all elements, one after the other; see [`reset_memory`](Self::reset_memory).
    ///
    /// # Errors
    /// Those of [`reset_memory`](Self::reset_memory); elements before the one that failed have been reset.
    pub fn reset_memories(&self, state: &mut State<T>) -> Result<(), Error> {
        self.elements().try_for_each(|element| self.reset_memory(state, element))
    }

    /// Enables or disables an element; a change drops the state below Instance stage. Enters the change of energy in the
    /// account as [`set_parameters`](Self::set_parameters) does: the caller receives the energy that a disabled element
    /// had stored. A disabled element keeps its memory: [reset it](Self::reset_memory) if bodies have moved meanwhile.
    /// Only a surpassed stop acts at once.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state belongs to another system; [`Error::NoSuchElement`] if the state does not
    /// have the element.
    pub fn set_enabled(
        &self,
        state: &mut State<T>,
        element: impl Into<ElementId>,
        enabled: bool,
    ) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        let id = state.check(element.into())?;
        let flag = Value::Flag(enabled).number();
        self.write_with_account(state, id, true, |state| {
            state.kinds[id.kind()].set(id.place(), &[(ENABLED, flag)])
        })
    }

    /// Sets the variable of this name; a change drops the state to just below its own stage. Parameters, discrete
    /// variables and flags update the account as in [`set_parameters`](Self::set_parameters).
    ///
    /// Variables that bound each other, such as static and kinetic friction, and the entries of a rotation can be written
    /// together by [`set_variables`](Self::set_variables). Numbers of an `Option` can be written only after its flag
    /// `known`.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`] if there is no such variable; [`Error::Element`] with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) if a variable of an element is out of range; [`Error::InvalidValue`] for the
    /// flag of an account that is neither 0 nor 1; [`Error::Kinematics`] for a time that is not finite;
    /// [`Error::NonFiniteEnergy`] for an energy that is not finite; [`Error::TopologyMismatch`] if the state belongs
    /// to another system.
    pub fn set_variable(&self, state: &mut State<T>, name: &str, value: T) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        if name == "time" {
            return state.set_time(value);
        }
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        let (id, field) = state.find(name).ok_or_else(no_such)?;
        let slot = state.slot(id)?;
        match field {
            ABSORBED_ENERGY => {
                let was_open = state.continuous.accounts[slot].is_open;
                state.set_absorbed_energy_at(slot, value)?;
                state.continuous.accounts[slot].begin(was_open);
                Ok(())
            }
            ACCOUNT_OPEN => {
                state.continuous.accounts[slot].begin(check::flag(ACCOUNT_OPEN, value)?);
                Ok(())
            }
            _ => self.set_variables(state, id, &[(field, value)]).map_err(|error| match error {
                // With the name that was given.
                Error::NoSuchVariable { .. } => no_such(),
                error => error,
            }),
        }
    }

    /// Sets variables of an element by their names within it, such as `mu_static`, and checks them when all are written.
    /// Use it instead of [`set_variable`](Self::set_variable) for variables that bound each other.
    ///
    /// # Errors
    /// Those of [`set_variable`](Self::set_variable), after which none is written; [`Error::NoSuchElement`] if the state
    /// does not have the element.
    pub fn set_variables(
        &self,
        state: &mut State<T>,
        element: impl Into<ElementId>,
        values: &[(&str, T)],
    ) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        let id = state.check(element.into())?;
        let mut are_of_memory = false;
        state.kinds[id.kind()].visit(id.place(), Group::Discrete, &mut |entry| {
            are_of_memory |= values.iter().any(|(field, _)| is_named(entry.name, field));
        });
        self.write_with_account(state, id, !are_of_memory, |state| {
            state.kinds[id.kind()].set(id.place(), values)
        })
    }

    /// Sets the energy dissipated by one element so far \[J\] and opens its account. Realizes the state to
    /// Dynamics.
    ///
    /// A motion that has been set, but not integrated, closes all accounts when it is accepted. Accept it before, or use
    /// [`reset_dissipated_energy`](Self::reset_dissipated_energy).
    ///
    /// # Errors
    /// Those of [`realize_dynamics`](Self::realize_dynamics); [`Error::Element`] with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) if the energy is negative or not finite;
    /// [`Error::NonFiniteEnergy`] if its sum with the energy stored is not finite; [`Error::NoSuchElement`] if the state
    /// does not have the element.
    pub fn set_dissipated_energy(
        &self,
        state: &mut State<T>,
        element: impl Into<ElementId>,
        energy: T,
    ) -> Result<(), Error> {
        let id = element.into();
        let slot = state.slot(id)?;
        check::nonnegative("dissipated_energy", energy).map_err(|error| self.failure(id, error.into()))?;
        let absorbed = energy + self.realize_dynamics(state)?.potential_energy_of(id);
        state.set_absorbed_energy_at(slot, absorbed)
    }

    /// Opens the energy accounts of all elements with zero dissipated energy. Call it after setting the initial
    /// poses. Realizes the state to Dynamics.
    ///
    /// # Errors
    /// Those of [`realize_dynamics`](Self::realize_dynamics).
    pub fn reset_dissipated_energy(&self, state: &mut State<T>) -> Result<(), Error> {
        self.advance(state, Stage::Dynamics)?;
        for id in self.elements() {
            let slot = state.slot(id)?;
            [state.continuous.values[slot], ..] = self.energies(state, id)?;
        }
        state.continuous.open_all();
        Ok(())
    }

    /// The energy stored in one element of a state that has been realized to Dynamics, and the power that it dissipates;
    /// zero while the element is disabled.
    pub(super) fn energies(&self, state: &State<T>, id: ElementId) -> Result<[T; 2], Error> {
        self.ask_one(state, id, |element| element.energies())
    }

    /// Two numbers of one element of a state that has been realized to Dynamics; zero while it is disabled.
    fn ask_one(
        &self,
        state: &State<T>,
        id: ElementId,
        ask: impl Fn(&dyn AnyElement<T>) -> [T; 2],
    ) -> Result<[T; 2], Error> {
        let kind = &self.kinds[self.check(id)?.kind()];
        let mut answer = [T::zero(); 2];
        kind.ask(state, Some(id.place()), &mut |_, element| answer = ask(element))?;
        Ok(answer)
    }

    /// The energy stored in one element, whose caches are filled beyond the stage of the state; the energy that friction
    /// stores; and the energy that friction would store if it held.
    fn calc_stored(&self, state: &mut State<T>, id: ElementId) -> Result<[T; 3], Error> {
        if let Some(first) = state.first_missing() {
            self.kinds[id.kind()].calc(state, Some(id.place()), first..=Stage::Dynamics)?;
        }
        let [stored, _] = self.energies(state, id)?;
        let [by_friction, held] = self.ask_one(state, id, |element| element.friction_energy())?;
        let energies = [stored, by_friction, held];
        if energies.iter().all(T::is_finite) {
            Ok(energies)
        } else {
            Err(self.failure(id, ElementError::NonFiniteForce))
        }
    }

    /// Writes variables of one element of known type.
    fn update<E: ForceElement<T>>(
        &self,
        state: &mut State<T>,
        handle: Handle<E>,
        memory_follows: bool,
        change: impl FnOnce(&Columns<T, E>, &mut Columns<T, E>) -> ElementResult<Option<Stage>>,
    ) -> Result<(), Error> {
        self.require(state, Stage::Topology)?;
        state.slots(handle)?;
        self.write_with_account(state, handle.id(), memory_follows, |state| {
            Slots::downcast_mut(state.kinds[handle.id().kind()].as_mut())?.change(handle.place(), change)
        })
    }

    /// Writes variables of one element and adds the change in stored energy to the energy absorbed, without the energy
    /// that friction loses as its limit falls. `write` returns the stage below which the state falls, if anything has
    /// changed. Memory that `write` has not written follows the parameters.
    fn write_with_account(
        &self,
        state: &mut State<T>,
        id: ElementId,
        memory_follows: bool,
        write: impl FnOnce(&mut State<T>) -> Result<Option<Stage>, Error>,
    ) -> Result<(), Error> {
        let slot = state.slot(id)?;
        let is_open = state.continuous.accounts[slot].is_open && state.continuous.has_motion();
        let before = if is_open { self.calc_stored(state, id).ok() } else { None };
        let Some(stage) = write(state)? else { return Ok(()) };
        let followed = if memory_follows && state.continuous.has_motion() {
            self.kinds[id.kind()].follow_parameters(state, id.place())?
        } else {
            None
        };
        if !memory_follows {
            state.continuous.checked_at = None;
        }
        let stage = followed.map_or(stage, |followed| stage.min(followed));
        state.invalidate(stage);
        if state.continuous_stage().is_some() {
            state.collect(Group::Continuous);
        }
        let absorbed = before.and_then(|before| {
            let after = self.calc_stored(state, id).ok()?;
            let [supplied, by_friction, held] = [0, 1, 2].map(|i| after[i] - before[i]);
            let lost = (held.min(T::zero()) - by_friction).max(T::zero());
            let absorbed = state.continuous.values[slot] + (supplied + lost);
            absorbed.is_finite().then_some(absorbed)
        });
        state.continuous.accounts[slot].forget_power();
        match absorbed {
            Some(absorbed) => state.continuous.values[slot] = absorbed,
            None => state.continuous.accounts[slot].begin(false),
        }
        Ok(())
    }
}
