//! Continuous variables, which have a rate of change and are integrated by the host: the energies that elements have
//! absorbed, and the elements' own states.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Display;

use crate::framework::slots::Group;
use crate::framework::snapshot::ABSORBED_ENERGY;
use crate::framework::variables::Value;
use crate::framework::{Error, ForceSystem, Stage, State};
use crate::math::{Real, Requirement, check, clone_by_field, have_same_bits};
use crate::mechanics::{ForceAccumulator, Kinematics, KinematicsSource, Velocities};

/// The continuous variables of a state and their rates: first the energies absorbed by place, then the variables of
/// the elements.
#[derive(Debug)]
pub(crate) struct Continuous<T: Real> {
    pub(crate) values: Vec<T>,
    pub(crate) rates: Vec<T>,
    pub(crate) accounts: Vec<Account>,
    /// Whether the host has set a motion since the last accepted step, or since the state was new or restored.
    pub(crate) has_moved: bool,
    /// Whether it has integrated since.
    is_fed: bool,
    /// Whether the state has not been evaluated since it was new or restored: a motion that is set now is no step, but the
    /// one to which the variables belong.
    is_new: bool,
    /// Buffers: values and rates at the start of a step, and values to come.
    start: Vec<T>,
    start_rates: Vec<T>,
    /// Buffer for the accounts at the start of a step.
    start_accounts: Vec<Account>,
    next: Vec<T>,
    /// Buffer for the power that the forces of the start take from the bodies at the end of a step.
    pub(crate) held_powers: Vec<T>,
}

/// The energy account of one element, and its history in the steps of a host since it was opened, or since a motion or a write
/// of which the work is not known; in plain numbers \[J\].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) is_open: bool,
    /// The most that it has dissipated; negative infinity before its history begins.
    dissipated: f64,
    /// The most that it has stored, or that its potential was below zero; before its history begins, what it stored last.
    stored: f64,
    /// The number of steps in a row after which it has returned more than all of that, without having received it.
    gaining: u32,
    /// What it had returned after the first of them.
    first_gain: f64,
    /// The number of steps in a row after which it has released what it stored, and more.
    released: u32,
    /// The greatest rounding of these energies.
    rounding: f64,
    /// What it had dissipated after the last step \[J\], and the power that it dissipated then \[W\].
    last: [f64; 2],
    /// In steps in which it has [reversed](Self::reverses) the motion that it slows down: the energy that it would have dissipated,
    /// the most in one of them, and the energy that it has dissipated.
    reversed: [f64; 3],
}

impl Account {
    /// Before its history begins.
    const CLOSED: Self = Self {
        is_open: false,
        dissipated: f64::NEG_INFINITY,
        stored: f64::INFINITY,
        gaining: 0,
        first_gain: 0.0,
        released: 0,
        rounding: 0.0,
        last: [f64::INFINITY, 0.0],
        reversed: [0.0; 3],
    };

    /// Opens or closes it; its history begins anew.
    pub(crate) fn begin(&mut self, is_open: bool) {
        *self = Self { is_open, ..Self::CLOSED };
    }

    /// Records the energies after a step. Returns the energy returned without having been received, if it is
    /// [too large](GAINED) once most of the stored energy has been released and [stays so](PERSISTENT), or
    /// [grows](EXPLODED) from step to step.
    fn gain(&mut self, absorbed: f64, stored: f64, rounding: f64) -> Option<f64> {
        // Of energy that is being released it is not known how much it was, by which it is judged.
        if self.dissipated == f64::NEG_INFINITY && stored.abs() <= self.stored {
            self.stored = stored.abs();
            return None;
        }
        let dissipated = absorbed - stored;
        self.dissipated = self.dissipated.max(dissipated);
        self.stored = self.stored.max(stored.abs());
        self.rounding = self.rounding.max(rounding);
        let gained = self.dissipated - dissipated;
        let is_gaining = gained > self.stored + self.rounding;
        self.gaining = if is_gaining { self.gaining.saturating_add(1) } else { 0 };
        if self.gaining == 1 {
            self.first_gain = gained;
        }
        let is_released =
            stored.abs() < RELEASED * self.stored && gained > GAINED * self.stored + self.rounding;
        self.released = if is_released { self.released.saturating_add(1) } else { 0 };
        let grows = self.gaining >= PERSISTENT && gained > EXPLODED * self.first_gain;
        (self.released >= PERSISTENT || grows && self.stored > 0.0).then_some(gained)
    }

    /// Whether its friction alternates, recorded after a step of length `h` in which forces were held. Where the velocity that
    /// friction or a damper slows down is reversed in each step, hardly anything is lost of the energy that its power at the start
    /// of the steps would take. An impact does so for a few steps, in which its friction would lose about as much as is stored, and
    /// the force of a contact that opens fades from step to step; where a load that is too large for the step goes on, the
    /// energy that is not lost becomes [larger than that](ALTERNATING) in [steps that are alike](ALIKE).
    fn reverses(&mut self, [absorbed, stored]: [f64; 2], power: f64, h: f64) -> bool {
        let dissipated = absorbed - stored;
        let [before, power_before] = core::mem::replace(&mut self.last, [dissipated, power]);
        let expected = power_before * h;
        let [sum, most, lost] = self.reversed;
        let lost = lost + if before.is_finite() { dissipated - before } else { 0.0 };
        let (sum, most) = (sum + expected, most.max(expected));
        self.reversed = if lost < RESOLVED * sum { [sum, most, lost] } else { [0.0; 3] };
        let [sum, most, _] = self.reversed;
        self.stored > 0.0
            && self.stored.is_finite()
            && sum > ALTERNATING * self.stored.max(stored.abs()) + self.rounding
            && sum > ALIKE * most
    }

    /// Called where parameters have changed, and with them the power.
    pub(crate) fn forget_power(&mut self) {
        self.last[1] = 0.0;
    }
}

/// The fraction of the largest stored energy above which energy that was returned without having been received
/// indicates that steps are too long. In steps that resolve an impact it is below 1 %.
const GAINED: f64 = 0.5;

/// The fraction of the largest stored energy below which an element has released it. While energy is stored, the work
/// of forces that are held over a step lags behind, by up to half of it in steps that resolve an impact.
const RELEASED: f64 = 0.1;

/// As many steps in a row show that energy was gained. The held force of a damper whose velocity a load reverses returns energy
/// for a step or two, however little the element has stored.
const PERSISTENT: u32 = 4;

/// The fraction of the energy that friction would have lost, above which steps resolve it. Loads that vary at random from step to
/// step reverse half of the steps, and a damper with `γh` up to 1.2 loses more than this under them.
const RESOLVED: f64 = 0.15;

/// The multiple of the largest stored energy that friction would have lost in reversed steps, above which it alternates. In an
/// impact of `n` steps with restitution `e` it is about `2 (μ (1 + e))²/n` of the kinetic energy.
const ALTERNATING: f64 = 2.0;

/// The multiple of the most in one step that it would have lost in all of them; where the velocity alternates about zero, 16 steps
/// reach it, and no fading motion does whose velocity falls by more than 3 % in each.
const ALIKE: f64 = 16.0;

/// The growth of energy returned without having been received above which a motion explodes. Forces that are held over a
/// step lag behind by less than the stored energy. Beyond the longest stable step an oscillation has returned more than
/// that after every step, and is never relaxed. At a fraction `s` of that step its energy varies by `(1 + s)/(1 − s)`:
/// 2000 times at 0.999.
const EXPLODED: f64 = 1e6;

clone_by_field!(Continuous {
    values,
    rates,
    accounts,
    has_moved,
    is_fed,
    is_new,
    start,
    start_rates,
    start_accounts,
    next,
    held_powers,
});

impl<T: Real> Continuous<T> {
    /// No energy absorbed, for elements at this many places; their own variables have yet to be collected.
    pub(crate) fn new(places: usize) -> Self {
        Self {
            values: vec![T::zero(); places],
            rates: vec![T::zero(); places],
            accounts: vec![Account::CLOSED; places],
            has_moved: false,
            is_fed: false,
            is_new: true,
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
        [self.has_moved, self.is_fed, self.is_new] = flags;
    }

    /// Whether the motion to which the variables belong is known: one was set, or the state has been evaluated.
    pub(crate) fn has_motion(&self) -> bool {
        self.has_moved || !self.is_new
    }

    /// Called after memory was reset to the present motion, which is then the one to which the variables belong.
    pub(crate) fn was_reset(&mut self) {
        self.has_moved |= self.is_new;
    }

    /// Called after values were restored from a snapshot, for which they had been integrated. Their motion is still to be set.
    pub(crate) fn was_restored(&mut self) {
        self.set_flags([false, false, true]);
        self.forget();
    }

    /// Called after an evaluation: what moves from here on moves in a step.
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

    /// Called at the start of a step that will be integrated. Energy that was added by a motion that was set before it, as where
    /// a body is placed elsewhere, is in no account that is closed.
    fn begin_step(&mut self) {
        if self.has_moved && !self.is_fed {
            for account in self.accounts.iter_mut().filter(|account| !account.is_open) {
                account.begin(false);
            }
        }
    }

    /// The histories of all accounts begin anew.
    fn forget(&mut self) {
        self.accounts.iter_mut().for_each(|account| account.begin(account.is_open));
    }

    /// Replaces the energies absorbed. The history of a ledger that this changes begins anew.
    fn set_energies(&mut self, energies: &[T]) {
        for ((value, account), &energy) in self.values.iter_mut().zip(&mut self.accounts).zip(energies) {
            if !have_same_bits(*value, energy) {
                *value = energy;
                account.begin(account.is_open);
            }
        }
    }

    /// Opens all accounts at the present motion, at which all energy that is absorbed is stored.
    pub(crate) fn open_all(&mut self) {
        for (account, energy) in self.accounts.iter_mut().zip(&self.values) {
            let stored = energy.to_f64().max(0.0);
            *account = Account { is_open: true, dissipated: 0.0, stored, ..Account::CLOSED };
        }
        self.set_flags([false; 3]);
    }
}

/// How far a state has come in a step of its host: whether memory follows parameters and energy accounts stay open depends on
/// it. A host that saves a state in the middle of a step restores it by the same calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// No motion has been set since the state was made or its variables were restored.
    New,
    /// A motion has been set, to which the variables belong, but not evaluated.
    Placed,
    /// The motion has been evaluated, and whatever was set since has been integrated or accepted.
    Evaluated,
    /// Another motion has been set since, of which the work has not been integrated: accepting it closes the energy accounts.
    Moved,
}

/// The rule by which [`ForceSystem::finish_step`] integrates the continuous variables `x` over a step of length `h`.
///
/// Choose the one that matches the host: the energies that elements absorb balance the work of their forces on the
/// bodies only as far as the host's velocities follow the same rule. [Hosts](crate::guide::hosts) has figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRule {
    /// `x₁ = x₀ + h ẋ₀`: the rates at the start, of first order. One evaluation per step, where the others take two if
    /// elements have states of their own. For a prescribed motion, of which no step is refused as too long.
    LeftEndpoint,
    /// `x₁ = x₀ + h (ẋ₀ + ẋ₁)/2`, with `ẋ₁` at the point that the rule above predicts: Heun's method, of second order.
    /// For hosts of second order or higher whose forces are those at the velocities of both ends.
    Trapezoid,
    /// For hosts that hold the forces `F₀` of the start over the step: symplectic Euler, and so most engines with fixed
    /// steps. The energy absorbed is the work that these forces take from the bodies while velocities change linearly
    /// in time, `−h F₀·(V₀ + V₁)/2`, plus the supply of drives inside the elements at their power at the start. Other
    /// variables are integrated as with [`Trapezoid`](Self::Trapezoid).
    HeldForces,
}

impl<T: Real> State<T> {
    /// How far the state has come in a step.
    pub fn progress(&self) -> Progress {
        match self.continuous.flags() {
            [false, _, true] => Progress::New,
            [true, _, true] => Progress::Placed,
            [true, false, false] => Progress::Moved,
            _ => Progress::Evaluated,
        }
    }

    /// All variables that have a rate of change, which the host integrates with the motion: first the [absorbed
    /// energy](Self::absorbed_energy) of each element, then the elements' own states
    /// ([`ForceElement::Continuous`](crate::ForceElement::Continuous)), such as a muscle's activation, by kind and
    /// place. [`continuous_names`](Self::continuous_names) returns their names.
    ///
    /// Their rates are [`DynamicsView::continuous_rates`](crate::DynamicsView::continuous_rates), in the same order. A
    /// host with one evaluation per step leaves the integration to
    /// [`ForceSystem::finish_step`](crate::ForceSystem::finish_step). Any other host applies its own method to the
    /// rates and writes the values with [`set_continuous`](Self::set_continuous) or
    /// [`advance_continuous`](Self::advance_continuous): at the end of each step, and for trial evaluations within it
    /// if elements have states of their own. The number of variables changes when elements are added or removed.
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

    /// The names of all continuous variables, in their order; an empty one for the place of a removed element.
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
    /// [`continuous`](Self::continuous). Only
    /// [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy) depends on it. A change of
    /// parameters or discrete variables adds the change in stored energy.
    pub fn absorbed_energy(&self) -> &[T] {
        &self.continuous.values[..self.continuous.places()]
    }

    /// Sets all continuous variables. Drops the state to below the first stage that reads an element's own state, if
    /// there are any; energies do not change the stage.
    ///
    /// A host that keeps them in its own vector must read them again after a change of parameters or discrete
    /// variables, which [adds](ForceSystem::set_parameters) the energy supplied to that absorbed.
    ///
    /// # Errors
    /// [`Error::NonFiniteEnergy`] if one of them is not finite; [`Error::Element`] if one of an element is out of its
    /// range; [`Error::TopologyMismatch`] if their number is not that of this state.
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

    /// Sets the absorbed energies alone; keeps the stage. For a host that integrates them separately, with weights for
    /// which the state must have been realized at the end of the step.
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

    /// Adds to all continuous variables their changes over a step: [`set_continuous`](Self::set_continuous) with the
    /// sums.
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

    /// Sets all continuous variables to those in the buffer.
    fn set_next_continuous(&mut self) -> Result<(), Error> {
        let next = core::mem::take(&mut self.continuous.next);
        let outcome = self.set_continuous(&next);
        self.continuous.next = next;
        outcome
    }

    /// Sets all continuous variables to those at the start, in the buffers, plus an increment that depends on the rates
    /// there and at the end.
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

    /// The work of the present forces over the distances of their bodies and coordinates from zero, and over a radian \[J\]. Where
    /// bodies glide together far from zero, the rounding of their places stretches elements by that fraction of it.
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

    /// Writes the continuous variables of the elements from all of them, and checks their ranges.
    fn write_own_continuous(&mut self, values: &[T]) -> Result<(), Error> {
        let mut own = values[self.continuous.places()..].iter().copied();
        let mut next = || own.next().unwrap_or_else(T::zero);
        // All are written even if one is refused, so that writing the present ones again undoes the change.
        let mut outcomes = self.kinds.iter_mut().map(|slots| slots.write_continuous(&mut next));
        outcomes.by_ref().fold(Ok(()), Result::and)
    }

    /// Lists the elements' own continuous variables, or their rates, after those of the energies.
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
    /// For a host with its own steps: moves the state to the end of a step, integrates all continuous variables over it
    /// by a rule, and accepts the step. One call for each step of the host:
    ///
    /// ```text
    /// loop {
    ///     forces ← realize_dynamics(state)          // at the start
    ///     the host integrates its motion
    ///     finish_step(state, host, StepRule::HeldForces)
    /// }
    /// ```
    ///
    /// The state must still have the motion of the start, whose forces the host has used, and be realized to Dynamics there: one
    /// that was moved first is refused, or closes the accounts if it was realized at the end. A host that evaluates forces within
    /// a step integrates [`continuous_rates`](crate::DynamicsView::continuous_rates) by its own rule instead. The length of the step is
    /// the difference between the host's time and the state's, a plain number. If it is zero although bodies or
    /// coordinates have moved, the work is not known: the accounts are closed, and the history by which steps are checked
    /// begins anew, so that with a clock that no longer advances none is. This happens in single precision, where steps of a
    /// millisecond no longer advance the clock after some hours.
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; those of [`State::set_kinematics`],
    /// [`realize_dynamics`](Self::realize_dynamics), [`State::set_continuous`] and [`accept_step`](Self::accept_step). [`Error::InvalidValue`] if the host's time is before that of the state. Except by
    /// [`StepRule::LeftEndpoint`], the rule of a prescribed motion:
    ///
    /// - [`Error::StepTooLong`] if bodies could have [passed through each other](Self::passing_time);
    /// - [`Error::EnergyGained`] if the account of an element, open or not, shows that it has returned energy without having
    ///   received it: more than half of its largest stored energy, four steps in a row after that was released; or more than all of it
    ///   after every step, growing a millionfold. Then the steps of the host are too long. A host that knows its masses can call
    ///   [`check_step`](Self::check_step) beforehand.
    /// - [`Error::FrictionAlternates`], by [`StepRule::HeldForces`] alone, if friction or damping of an element that stores energy
    ///   has lost less than 0.15 of what its power at the start of steps would take, in 16 steps or more that are alike, and that
    ///   would take more than twice what it has stored. Friction without memory does so under a load of several times that of its
    ///   design: the slip is reversed in each step. Where a body is pushed along meanwhile, more is lost, and it may creep unnoticed.
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
            // They were in range before.
            let _ = state.set_next_continuous();
            let Continuous { accounts, start_accounts, .. } = &mut state.continuous;
            accounts.clone_from(start_accounts);
            state.continuous.set_flags(flags);
        }
        outcome
    }

    /// Integrates from the start in the buffers, which the host may have set since the last step, to the present motion; leaves
    /// the state at Dynamics stage.
    fn integrate(
        &self,
        state: &mut State<T>,
        start_time: T,
        was_moved: bool,
        rule: StepRule,
    ) -> Result<(), Error> {
        let h = T::lit((state.time() - start_time).to_f64());
        if h == T::zero() && (was_moved || state.kinematics.positions != state.incoming.positions) {
            // The work of a motion that takes no time is not known, nor that of one that the host has set before it.
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

    /// Writes the energies absorbed in a step, which is accepted: of forces that were held over it only if
    /// [`finish_step`](Self::finish_step) would not refuse a step of this length. On an error the ledger is that of the start.
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

    /// Refuses a step after which an element has returned energy that it had not received, unless the motion is prescribed:
    /// that is no worse for steps in which work is not resolved.
    fn check_ledger(&self, state: &mut State<T>, rule: StepRule, length: f64) -> Result<(), Error> {
        if rule == StepRule::LeftEndpoint {
            state.continuous.forget();
            return Ok(());
        }
        let Continuous { accounts, start_accounts, .. } = &mut state.continuous;
        accounts.clone_from(start_accounts);
        // Of the sums of a million steps.
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

    /// Fills the buffer of the powers that the forces of the start, still in the caches, take from the bodies at the
    /// velocities of the end, whose kinematics have been set, or at others.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounding_of_what_a_long_run_has_absorbed_is_no_gain() {
        let rounding = f64::EPSILON * 1e3;
        let mut account = Account { dissipated: 0.0, stored: 0.0, ..Account::CLOSED };
        assert_eq!(account.gain(1e6, 1e-9, 1e6 * rounding), None);
        // A nanojoule is released after a megajoule was lost, of which 1e-8 J are rounding.
        assert_eq!(account.gain(1e6 - 1e-8, 0.0, 1e6 * rounding), None);
        let mut gain = || account.gain(1e6 - 1e-6, 0.0, 1e6 * rounding);
        assert_eq!([gain(), gain(), gain()], [None; 3]);
        assert!(gain().is_some());
    }
}
