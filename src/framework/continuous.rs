//! Continuous variables, which have a rate of change and are integrated by the host: the energies that elements have
//! absorbed, and the elements' own continuous states.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Display;

use crate::framework::account::Account;
use crate::framework::slots::Group;
use crate::framework::snapshot::ABSORBED_ENERGY;
use crate::framework::variables::Value;
use crate::framework::{Error, ForceSystem, Stage, State};
use crate::math::{Real, Requirement, check, clone_by_field, have_same_bits};
use crate::mechanics::{ForceAccumulator, Kinematics, KinematicsSource, Velocities};

/// The continuous variables of a state and their rates: first the energies absorbed, by place, then the variables of the
/// elements.
#[derive(Debug)]
pub(crate) struct Continuous<T: Real> {
    pub(crate) values: Vec<T>,
    pub(crate) rates: Vec<T>,
    pub(crate) accounts: Vec<Account>,
    /// Whether the host has set a motion since the last accepted step, or since the state was new or restored.
    pub(crate) has_moved: bool,
    /// Whether the host has integrated since.
    is_fed: bool,
    /// Whether the state has not been evaluated since it was new or restored. A motion that is set now is no step, but
    /// the motion to which the variables belong.
    is_new: bool,
    /// The time at which the host has checked a step, if it has since neither accepted a step nor written memory.
    pub(crate) checked_at: Option<f64>,
    /// Buffers: values and rates at the start of a step, and the next values.
    start: Vec<T>,
    start_rates: Vec<T>,
    /// Buffer for the accounts at the start of a step.
    start_accounts: Vec<Account>,
    next: Vec<T>,
    /// Buffer for the power that the forces of the start of a step take from the bodies at its end.
    pub(crate) held_powers: Vec<T>,
}

clone_by_field!(Continuous {
    values, rates, accounts, has_moved, is_fed, is_new, checked_at;
    start, start_rates, start_accounts, next, held_powers
});

impl<T: Real> Continuous<T> {
    /// No energy absorbed, for elements at this number of places; their own variables have yet to be collected.
    pub(crate) fn new(places: usize) -> Self {
        Self {
            values: vec![T::zero(); places],
            rates: vec![T::zero(); places],
            accounts: vec![Account::CLOSED; places],
            has_moved: false,
            is_fed: false,
            is_new: true,
            checked_at: None,
            start: Vec::new(),
            start_rates: Vec::new(),
            start_accounts: Vec::new(),
            next: Vec::new(),
            held_powers: Vec::new(),
        }
    }

    /// The number of elements, vacant places included.
    pub(crate) fn places(&self) -> usize {
        self.accounts.len()
    }

    /// Whether an integration is due.
    pub(crate) fn flags(&self) -> [bool; 3] {
        [self.has_moved, self.is_fed, self.is_new]
    }

    pub(crate) fn set_flags(&mut self, flags: [bool; 3]) {
        self.checked_at = None;
        [self.has_moved, self.is_fed, self.is_new] = flags;
    }

    /// Whether the motion to which the variables belong is known: it has been set, or the state has been evaluated.
    pub(crate) fn has_motion(&self) -> bool {
        self.has_moved || !self.is_new
    }

    /// Called after memory was reset to the present motion: the variables then belong to this motion.
    pub(crate) fn was_reset(&mut self) {
        self.has_moved |= self.is_new;
    }

    /// Called after values were restored from a snapshot, in which they had been integrated. Their motion is still to be
    /// set.
    pub(crate) fn was_restored(&mut self) {
        self.set_flags([false, false, true]);
        self.forget();
    }

    /// Called after an evaluation: later motion is motion in a step.
    pub(crate) fn was_evaluated(&mut self) {
        if self.is_new {
            self.set_flags([false; 3]);
        }
    }

    /// Closes all accounts if the step that ends was not integrated.
    pub(crate) fn accept_step(&mut self) {
        if self.has_moved && !self.is_fed {
            self.accounts.fill(Account::CLOSED);
        }
        self.set_flags([false; 3]);
    }

    /// Called at the start of a step that will be integrated. The energy that was added by a motion set before it, as
    /// where a body is placed elsewhere, is in no closed account.
    fn begin_step(&mut self) {
        if self.has_moved && !self.is_fed {
            for account in self.accounts.iter_mut().filter(|account| !account.is_open) {
                account.begin(false);
            }
        }
    }

    /// Restarts the histories of all accounts.
    fn forget(&mut self) {
        self.accounts.iter_mut().for_each(|account| account.begin(account.is_open));
    }

    /// Replaces the energies absorbed. If an energy changes, the history of its account restarts.
    fn set_energies(&mut self, energies: &[T]) {
        for ((value, account), &energy) in self.values.iter_mut().zip(&mut self.accounts).zip(energies) {
            if !have_same_bits(*value, energy) {
                *value = energy;
                account.begin(account.is_open);
            }
        }
    }

    /// Opens all accounts at the present motion, at which all absorbed energy is stored.
    pub(crate) fn open_all(&mut self) {
        for (account, energy) in self.accounts.iter_mut().zip(&self.values) {
            *account = Account::opened(energy.to_f64().max(0.0));
        }
        self.set_flags([false; 3]);
    }
}

/// The progress of a state in a step of its host. It decides whether memory follows parameters, and whether energy
/// accounts stay open. A host that saves a state in the middle of a step restores the progress by the same calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// No motion has been set since the state was made or its variables were restored.
    New,
    /// The motion to which the variables belong has been set, but not evaluated.
    Placed,
    /// The motion has been evaluated, and everything set since then has been integrated or accepted.
    Evaluated,
    /// Another motion has been set since then, whose work has not been integrated: accepting it closes the energy
    /// accounts.
    Moved,
}

/// The rule by which [`ForceSystem::finish_step`] integrates the continuous variables `x` over a step of length `h`.
///
/// Choose the rule that matches the host: the energies that elements absorb balance the work of their forces on the
/// bodies only if the host's velocities follow the same rule. [Hosts](crate::guide::hosts) has figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRule {
    /// `x₁ = x₀ + h ẋ₀`: the rates at the start, of first order. It needs one evaluation per step; the other rules need
    /// two if elements have continuous states of their own. It is the rule of a prescribed motion, for which no step is
    /// refused as too long.
    LeftEndpoint,
    /// `x₁ = x₀ + h (ẋ₀ + ẋ₁)/2`, with `ẋ₁` at the point that the left-endpoint rule predicts: Heun's method, of second
    /// order. Use it for hosts of second order or higher whose forces are those at the velocities of both ends.
    Trapezoid,
    /// For hosts that hold the forces `F₀` of the start over the step: symplectic Euler, and therefore most engines with
    /// fixed steps. The energy absorbed is the work that these forces take from the bodies while velocities change
    /// linearly in time, `−h F₀·(V₀ + V₁)/2`, plus the supply of drives inside the elements at their power at the start.
    /// Other variables are integrated as with [`Trapezoid`](Self::Trapezoid).
    HeldForces,
}

impl<T: Real> State<T> {
    /// The progress of the state in a step of its host.
    pub fn progress(&self) -> Progress {
        match self.continuous.flags() {
            [false, _, true] => Progress::New,
            [true, _, true] => Progress::Placed,
            [true, false, false] => Progress::Moved,
            _ => Progress::Evaluated,
        }
    }

    /// All variables that have a rate of change, which the host integrates with the motion: first the [absorbed
    /// energy](Self::absorbed_energy) of each element, then the elements' own continuous states
    /// ([`ForceElement::Continuous`](crate::ForceElement::Continuous)), such as a muscle's activation, by kind and place.
    /// [`continuous_names`](Self::continuous_names) returns their names, and
    /// [`DynamicsView::continuous_rates`](crate::DynamicsView::continuous_rates) their rates, in the same order.
    ///
    /// A host with one evaluation per step leaves the integration to
    /// [`ForceSystem::finish_step`](crate::ForceSystem::finish_step). Any other host applies its own method to the rates
    /// and writes the values with [`set_continuous`](Self::set_continuous) or
    /// [`advance_continuous`](Self::advance_continuous): at the end of each step, and for trial evaluations within it if
    /// elements have continuous states. The number of variables changes when elements are added or removed.
    ///
    /// # Example: a step of the midpoint rule
    ///
    /// ```
    /// # use force_elements::nalgebra::Vector3;
    /// # use force_elements::*;
    /// # let mut system = ForceSystem::<f64>::new();
    /// # let body = system.add_body();
    /// # let parameters = linear_bushing::Parameters { damping: nalgebra::Vector6::repeat(2.0), ..Default::default() };
    /// # let bushing = LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)?;
    /// # system.add(bushing)?;
    /// # let mut state = system.default_state();
    /// # let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, 3.0));
    /// # let pose = |time: f64| Pose::translation(0.0, 0.0, 3.0 * time);
    /// # state.set_body(body, pose(0.0), V_GB)?;
    /// # system.reset_dissipated_energy(&mut state)?;
    /// let h = 0.01;
    /// let times = |rates: &[f64], h: f64| rates.iter().map(|rate| h * rate).collect::<Vec<_>>();
    /// let start = state.continuous().to_vec();
    ///
    /// // A trial in the middle.
    /// let half = times(system.realize_dynamics(&mut state)?.continuous_rates(), 0.5 * h);
    /// state.set_time(0.5 * h)?;
    /// state.set_pose(body, pose(0.5 * h))?;
    /// state.advance_continuous(&half)?;
    ///
    /// // The end, by the rates in the middle.
    /// let whole = times(system.realize_dynamics(&mut state)?.continuous_rates(), h);
    /// state.set_time(h)?;
    /// state.set_pose(body, pose(h))?;
    /// state.set_continuous(&start)?;
    /// state.advance_continuous(&whole)?;
    /// let dynamics = system.realize_dynamics(&mut state)?;
    /// // The bushing has a damper of 2 N·s/m, and its ends part at 3 m/s.
    /// assert_eq!(dynamics.dissipated_energy(), Some(2.0 * 3.0 * 3.0 * h));
    /// system.accept_step(&mut state)?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn continuous(&self) -> &[T] {
        &self.continuous.values
    }

    /// The names of all continuous variables, in their order; an empty name for the place of a removed element.
    pub fn continuous_names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.continuous.places()];
        for (slots, place, slot) in self.elements() {
            let name = |field: &dyn Display| format!("{}[{place}].{field}", slots.roster().kind);
            names[slot] = name(&ABSORBED_ENERGY);
            slots.visit(place, Group::Continuous, &mut |entry| {
                if let Value::Number(_) = entry.value {
                    names.push(name(&entry.name));
                }
            });
        }
        names
    }

    /// The energy absorbed by each element \[J\], in the order of [`ForceSystem::elements`]; zero at the places of
    /// removed elements, unless set otherwise. It is the time integral of
    /// [`DynamicsView::power_absorbed`](crate::DynamicsView::power_absorbed), and the first part of
    /// [`continuous`](Self::continuous). Only [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy)
    /// depends on it. A change of parameters or discrete variables adds the change in stored energy.
    pub fn absorbed_energy(&self) -> &[T] {
        &self.continuous.values[..self.continuous.places()]
    }

    /// Sets all continuous variables. Drops the state to below the first stage that reads an element's own continuous
    /// state, if there is one; energies do not change the stage.
    ///
    /// A host that keeps the variables in its own vector must read them again after a change of parameters or discrete
    /// variables, which [adds](ForceSystem::set_parameters) the energy supplied to the energy absorbed.
    ///
    /// # Errors
    /// [`Error::NonFiniteEnergy`] if one of them is not finite; [`Error::Element`] if a variable of an element is out of
    /// its range; [`Error::TopologyMismatch`] if their number is not that of this state.
    pub fn set_continuous(&mut self, values: &[T]) -> Result<(), Error> {
        if values.len() != self.continuous.values.len() {
            return Err(Error::TopologyMismatch);
        }
        finite_energy(values.iter().all(T::is_finite))?;
        if let Some(stage) = self.continuous_stage() {
            if let Err(refused) = self.write_own_continuous(values) {
                let present = core::mem::take(&mut self.continuous.values);
                // Written before, hence in range.
                let _ = self.write_own_continuous(&present);
                self.continuous.values = present;
                return Err(refused);
            }
            self.invalidate(stage);
        }
        self.continuous.set_energies(values);
        self.continuous.values.copy_from_slice(values);
        self.continuous.is_fed = true;
        Ok(())
    }

    /// Sets only the absorbed energies, and keeps the stage. It is for a host that integrates them separately, with
    /// weights for which the state must have been realized at the end of the step.
    ///
    /// # Errors
    /// [`Error::NonFiniteEnergy`] if one of them is not finite; [`Error::TopologyMismatch`] if their number is not
    /// that of this state.
    pub fn set_absorbed_energy(&mut self, energies: &[T]) -> Result<(), Error> {
        if energies.len() != self.continuous.places() {
            return Err(Error::TopologyMismatch);
        }
        finite_energy(energies.iter().all(T::is_finite))?;
        self.continuous.set_energies(energies);
        self.continuous.is_fed = true;
        Ok(())
    }

    /// Adds to each continuous variable its change over a step, as [`set_continuous`](Self::set_continuous) with the sums
    /// does.
    ///
    /// # Errors
    /// As [`set_continuous`](Self::set_continuous).
    pub fn advance_continuous(&mut self, increments: &[T]) -> Result<(), Error> {
        if increments.len() != self.continuous.values.len() {
            return Err(Error::TopologyMismatch);
        }
        let Continuous { values, next, .. } = &mut self.continuous;
        next.clear();
        next.extend(values.iter().zip(increments).map(|(&value, &change)| value + change));
        self.set_next_continuous()
    }

    /// Sets all continuous variables to the values in the buffer.
    fn set_next_continuous(&mut self) -> Result<(), Error> {
        let next = core::mem::take(&mut self.continuous.next);
        let outcome = self.set_continuous(&next);
        self.continuous.next = next;
        outcome
    }

    /// Sets all continuous variables to their values at the start, in the buffers, plus an increment that depends on the
    /// rates at the start and at the end.
    fn step_continuous(&mut self, increment: impl Fn(T, T) -> T) -> Result<(), Error> {
        let Continuous { rates, start, start_rates, next, held_powers, .. } = &mut self.continuous;
        let end_rates = held_powers.iter().chain(&rates[held_powers.len()..]);
        let pairs = start_rates.iter().zip(end_rates);
        next.clear();
        next.extend(
            start.iter().zip(pairs).map(|(&x, (&start_rate, &rate))| x + increment(start_rate, rate)),
        );
        self.set_next_continuous()
    }

    /// The work of the present forces over the distances of their bodies and coordinates from zero, and over a radian
    /// \[J\]. If bodies glide together far from zero, the rounding of their positions stretches elements by a fraction of
    /// this work.
    fn work_of_places(&self) -> f64 {
        let Kinematics { positions, .. } = &self.kinematics;
        let bodies = self.forces.bodies().iter().zip(positions.bodies());
        let of_bodies =
            bodies.map(|(F, X)| (F.force.norm() * X.translation.vector.norm() + F.torque.norm()).to_f64());
        let of_coordinates = self.forces.coordinates().iter().zip(positions.coordinates());
        of_bodies.chain(of_coordinates.map(|(f, q)| (*f * *q).to_f64().abs())).sum()
    }

    /// Sets the energy absorbed by one element, opens its account and resets its ledger.
    pub(crate) fn set_absorbed_energy_at(&mut self, slot: usize, energy: T) -> Result<(), Error> {
        finite_energy(energy.is_finite())?;
        self.continuous.values[slot] = energy;
        self.continuous.accounts[slot].begin(true);
        Ok(())
    }

    /// The first stage that reads a continuous variable of an element.
    pub(crate) fn continuous_stage(&self) -> Option<Stage> {
        self.kinds.iter().filter_map(|slots| slots.continuous_stage()).min()
    }

    /// Writes the elements' own continuous variables from the list of all, and checks their ranges.
    fn write_own_continuous(&mut self, values: &[T]) -> Result<(), Error> {
        let mut own = values[self.continuous.places()..].iter().copied();
        let mut next = || own.next().unwrap_or_else(T::zero);
        // All are written even if one is refused, so that writing the present values again undoes the change.
        let mut outcomes = self.kinds.iter_mut().map(|slots| slots.write_continuous(&mut next));
        outcomes.by_ref().fold(Ok(()), Result::and)
    }

    /// Lists the elements' own continuous variables, or their rates, after the energies.
    pub(crate) fn collect(&mut self, group: Group) {
        let Self { kinds, continuous, .. } = self;
        let places = continuous.places();
        let numbers = if group == Group::Rates { &mut continuous.rates } else { &mut continuous.values };
        numbers.truncate(places);
        for slots in kinds {
            slots.visit_continuous(group, &mut |number| numbers.push(number));
        }
    }
}

impl<T: Real> ForceSystem<T> {
    /// Moves the state to the end of a step of a host with its own steps, integrates all continuous variables over the
    /// step by a rule, and accepts the step. Call it once for each step of the host:
    ///
    /// ```text
    /// loop {
    ///     forces ← realize_dynamics(state)          // at the start
    ///     the host integrates its motion
    ///     finish_step(state, host, StepRule::HeldForces)
    /// }
    /// ```
    ///
    /// Before the call, the state must still have the motion of the start, whose forces the host has used, and be
    /// realized to Dynamics there. A state that was moved first is refused; if it was realized at the end of the step,
    /// its accounts are closed. A host that evaluates forces within a step integrates
    /// [`continuous_rates`](crate::DynamicsView::continuous_rates) by its own rule instead.
    ///
    /// The length of the step is the difference between the host's time and the state's, a plain number. If it is zero
    /// although bodies or coordinates have moved, the work is not known: the accounts are closed, and the history by
    /// which steps are checked restarts. With a clock that no longer advances, therefore, no step is checked. This
    /// happens in single precision, where steps of a millisecond no longer advance the clock after some hours.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; the errors of [`State::set_kinematics`],
    /// [`realize_dynamics`](Self::realize_dynamics), [`State::set_continuous`] and [`accept_step`](Self::accept_step);
    /// [`Error::InvalidValue`] if the host's time is before that of the state. Unless the rule is
    /// [`StepRule::LeftEndpoint`], that of a prescribed motion:
    ///
    /// - [`Error::StepTooLong`] if bodies could have [passed through each other](Self::passing_time);
    /// - [`Error::EnergyGained`] if the account of an element, open or not, shows that the element has returned energy
    ///   without having received it. It is refused if this is more than half of the largest stored energy in four steps
    ///   in a row after that energy was released, or more than all of it after every step, growing a millionfold. The
    ///   steps of the host are then too long. A host that knows its masses can call [`check_step`](Self::check_step)
    ///   beforehand.
    /// - [`Error::FrictionAlternates`], only by [`StepRule::HeldForces`], if friction or damping of an element that
    ///   stores energy has lost less than 0.15 of the energy that its power at the start of steps would take, in 16 or
    ///   more similar steps, and if that energy is more than twice what the element has stored. Friction without memory
    ///   does so under a load of several times that of its design: the slip is reversed in each step. If a body is pushed
    ///   along meanwhile, more is lost, and the body may creep unnoticed.
    ///
    /// On an error, time, motion and all variables are those of the start.
    ///
    /// On an error time, motion and all variables are those of the start.
    pub fn finish_step(
        &self,
        state: &mut State<T>,
        host: &impl KinematicsSource<T>,
        rule: StepRule,
    ) -> Result<(), Error> {
        self.require(state, Stage::Dynamics)?;
        state.continuous.begin_step();
        let length = (host.time() - state.time()).to_f64();
        check::that(
            length.is_nan() || length >= 0.0,
            "length of the step",
            length,
            Requirement::NonNegative,
        )?;
        if rule != StepRule::LeftEndpoint {
            self.check_passing(state, length)?;
        }
        let Continuous { values, rates, accounts, start, start_rates, start_accounts, .. } =
            &mut state.continuous;
        start.clone_from(values);
        start_rates.clone_from(rates);
        start_accounts.clone_from(accounts);
        let (start_time, flags) = (state.kinematics.time, state.continuous.flags());
        let was_moved = state.progress() == Progress::Moved;
        state.set_kinematics(host)?;
        let outcome = self
            .integrate(state, start_time, was_moved, rule)
            .and_then(|()| self.check_ledger(state, rule, length))
            .and_then(|()| self.accept_step(state));
        if outcome.is_err() {
            core::mem::swap(&mut state.kinematics, &mut state.incoming);
            state.invalidate(Stage::Time);
            let Continuous { start, next, .. } = &mut state.continuous;
            next.clone_from(start);
            // They were in range before the step.
            let _ = state.set_next_continuous();
            let Continuous { accounts, start_accounts, .. } = &mut state.continuous;
            accounts.clone_from(start_accounts);
            state.continuous.set_flags(flags);
        }
        outcome
    }

    /// Integrates from the start in the buffers, which the host may have set since the last step, to the present motion.
    /// Leaves the state at Dynamics stage.
    fn integrate(
        &self,
        state: &mut State<T>,
        start_time: T,
        was_moved: bool,
        rule: StepRule,
    ) -> Result<(), Error> {
        let h = T::lit((state.time() - start_time).to_f64());
        if h == T::zero() && (was_moved || state.kinematics.positions != state.incoming.positions) {
            // The work of a motion in zero time is not known, nor is that of a motion that the host has set before the
            // step.
            state.continuous.is_fed = false;
            return self.advance(state, Stage::Dynamics);
        }
        if rule == StepRule::HeldForces {
            self.calc_held_powers(state, None)?;
        } else {
            state.continuous.held_powers.clear();
        }
        // The forces at the end need no prediction if the elements have no continuous variables of their own.
        if rule == StepRule::LeftEndpoint || state.continuous_stage().is_some() {
            state.step_continuous(|start_rate, _| start_rate * h)?;
        }
        self.advance(state, Stage::Dynamics)?;
        if rule != StepRule::LeftEndpoint {
            state.step_continuous(|start_rate, rate| (start_rate + rate) * (T::lit(0.5) * h))?;
            self.advance(state, Stage::Dynamics)?;
        }
        Ok(())
    }

    /// Writes the energies absorbed in a step and accepts the step. If forces were held over the step, it is accepted
    /// only if [`finish_step`](Self::finish_step) would not refuse a step of this length. On an error the ledger is that
    /// of the start.
    pub(crate) fn accept_energies(
        &self,
        state: &mut State<T>,
        energies: &[T],
        held_over: Option<f64>,
    ) -> Result<(), Error> {
        let Continuous { values, accounts, start, start_accounts, .. } = &mut state.continuous;
        start.clone_from(values);
        start_accounts.clone_from(accounts);
        let ledger = |state: &mut State<T>| {
            held_over.map_or(Ok(()), |length| self.check_ledger(state, StepRule::HeldForces, length))
        };
        let outcome = state
            .set_absorbed_energy(energies)
            .and_then(|()| ledger(state))
            .and_then(|()| self.accept_step(state));
        if outcome.is_err() {
            let Continuous { values, accounts, start, start_accounts, .. } = &mut state.continuous;
            values.clone_from(start);
            accounts.clone_from(start_accounts);
        }
        outcome
    }

    /// Refuses a step after which an element has returned energy that it had not received. A prescribed motion is not
    /// checked: it is not falsified by steps in which work is not resolved.
    fn check_ledger(&self, state: &mut State<T>, rule: StepRule, length: f64) -> Result<(), Error> {
        if rule == StepRule::LeftEndpoint {
            state.continuous.forget();
            return Ok(());
        }
        let Continuous { accounts, start_accounts, .. } = &mut state.continuous;
        accounts.clone_from(start_accounts);
        // The rounding of sums over a million steps.
        let rounding = T::default_epsilon().to_f64() * 1e3;
        let by_place = rounding * state.work_of_places();
        for id in self.elements() {
            let place = state.slot(id)?;
            let [stored, power] = self.energies(state, id)?.map(T::to_f64);
            let absorbed = state.continuous.values[place].to_f64();
            let account = &mut state.continuous.accounts[place];
            let rounding = by_place + rounding * (absorbed.abs() + account.stored.max(stored.abs()));
            if let Some(gained) = account.gain(absorbed, stored, rounding) {
                let stored = account.stored;
                return Err(Error::EnergyGained { element: self.name_of(id)?, gained, stored });
            }
            if rule == StepRule::HeldForces && account.reverses([absorbed, stored], power, length) {
                return Err(Error::FrictionAlternates { element: self.name_of(id)?, step: length });
            }
        }
        Ok(())
    }

    /// Fills the buffer with the powers that the forces of the start, still in the caches, take from the bodies at the
    /// velocities of the end, whose kinematics have been set, or at the given velocities.
    pub(crate) fn calc_held_powers(
        &self,
        state: &mut State<T>,
        velocities: Option<&Velocities<T>>,
    ) -> Result<(), Error> {
        let State { kinds, kinematics, incoming: start, continuous, forces, .. } = state;
        continuous.held_powers.clear();
        for (kind, slots) in self.kinds.iter().zip(kinds) {
            let velocities = velocities.unwrap_or(&kinematics.velocities);
            let accumulator = ForceAccumulator::at(forces, &start.positions, velocities);
            let first = continuous.held_powers.len();
            continuous.held_powers.resize(first + kind.roster().places.len(), T::zero());
            let powers = &mut continuous.held_powers[first..];
            kind.add_forces(slots.as_ref(), None, start, accumulator, powers)?;
        }
        Ok(())
    }
}

/// Refuses an energy or other continuous variable that is not finite.
pub(crate) fn finite_energy(is_finite: bool) -> Result<(), Error> {
    if is_finite { Ok(()) } else { Err(Error::NonFiniteEnergy) }
}
