//! The motion of a plant under a force system: the equations, without the integrator.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::{ComplexField, Matrix3, Quaternion, Vector3};

use crate::framework::{
    Checkpoint, DynamicsView, Error, ForceSystem, Gap, Linearization, Scope, Stage, State, StepMethod,
};
use crate::math::Real;
use crate::mechanics::{Forces, Velocities};
use crate::simulation::energy::{Growth, Supply};
use crate::simulation::error::finite_motion;
use crate::simulation::integrator::{Span, power_of_two};
use crate::simulation::layout::{BODY, COORDINATE, Role, Trial, push_body, quaternion, vector};
use crate::simulation::{Integrator, Plant, SimulationError};

/// The cost of a simulation since it was made or resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Steps accepted.
    pub steps: usize,
    /// Steps tried and rejected.
    pub rejected: usize,
    /// Evaluations of all forces.
    pub evaluations: usize,
    /// Linearizations of all forces, for the Jacobians of implicit steps.
    pub linearizations: usize,
}

/// A plant and a force system in motion.
///
/// # Example: a mass on a spring
///
/// ```
/// use force_elements::coordinate_spring_damper_ext::Parameters;
/// use force_elements::simulation::{DormandPrince, Plant, Simulation};
/// use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem, nalgebra::Vector3};
///
/// let mut system = ForceSystem::<f64>::new();
/// let mut plant = Plant::new(Vector3::zeros())?;
/// let slider = plant.add_coordinate(&mut system, 2.0)?;
/// let spring = Parameters { stiffness: 8.0, ..Parameters::default() };
/// system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), spring)?)?;
///
/// let mut state = system.default_state();
/// state.set_coordinate(slider, 1.0)?;
/// let mut simulation = Simulation::new(&system, &plant, state)?;
/// simulation.run(&mut DormandPrince::new(1e-9), 3.0, |_| {})?;
/// assert!((simulation.state().positions().coordinate(slider) - 6.0_f64.cos()).abs() < 1e-7);
/// # Ok::<(), force_elements::simulation::SimulationError>(())
/// ```
#[derive(Debug)]
pub struct Simulation<'a, T: Real> {
    pub(super) system: &'a ForceSystem<T>,
    pub(super) plant: &'a Plant<T>,
    /// Between calls its kinematics are those of `time` and `y`.
    state: State<T>,
    /// Time of the last accepted step \[s\].
    time: f64,
    /// The continuous variables: those of bodies, of coordinates and of the state, and the work supplied.
    pub(super) y: Vec<T>,
    statistics: Statistics,
    /// Opened by integrators that need it, and closed by a step of any other integrator.
    pub(super) supply: Option<Supply>,
    /// Begun by implicit methods with fixed steps; dropped by a step of any other integrator, and by changes from
    /// outside.
    pub(super) growth: Option<Growth>,
    /// Whether memory depends on the path within a step.
    is_path_dependent: bool,
    /// The end of a trial step before memory was committed within the step, and whether it was.
    kept: Option<Checkpoint<T>>,
    is_committed_early: bool,
    /// The progress of the state at the start of a step.
    flags: [bool; 3],
    /// The velocities at the end of a trial step, of bodies in their poses at its start.
    held: Velocities<T>,
    /// The gaps at the start and at the end of a trial step.
    gaps: [Vec<Gap>; 2],
    /// The motion at the beginning of the simulation.
    pub(super) origin: Vec<f64>,
    /// The motion that rounding of positions has lost, in the places of the positions among the variables; and a buffer.
    lost: [Vec<f64>; 2],
}

impl<'a, T: Real> Simulation<'a, T> {
    /// A simulation that starts from a state, at which it opens all energy accounts.
    ///
    /// The state's time is taken as a plain number, without a derivative.
    ///
    /// # Errors
    /// [`SimulationError::OtherBodies`] if the plant does not have the bodies and coordinates of the system;
    /// [`SimulationError::Forces`] with [`Error::TopologyMismatch`] if the state belongs to another system, or with an
    /// error documented by an element.
    pub fn new(
        system: &'a ForceSystem<T>,
        plant: &'a Plant<T>,
        mut state: State<T>,
    ) -> Result<Self, SimulationError> {
        if !system.owns(&state) {
            return Err(Error::TopologyMismatch.into());
        }
        check_topology(system, plant)?;
        let mut y = Vec::new();
        for (&index, body) in plant.body_indices.iter().zip(&plant.bodies) {
            let (X_GB, V_GB) = (state.positions().pose(index), state.velocities().velocity(index));
            push_body(&mut y, body, X_GB, V_GB);
        }
        for &c in &plant.coordinate_indices {
            y.push(state.positions().coordinate(c));
            y.push(state.velocities().coordinate_rate(c));
        }
        let time = state.time().to_f64();
        // Poses computed from `y`, as in all later reads; they may differ in the last bit.
        state.set_kinematics(&Trial { plant, time, y: &y })?;
        system.reset_dissipated_energy(&mut state)?;
        y.extend_from_slice(state.continuous());
        y.push(T::zero());
        let statistics = Statistics { evaluations: 1, ..Statistics::default() };
        Ok(Self::from_parts(system, plant, state, time, y, statistics))
    }

    pub(super) fn from_parts(
        system: &'a ForceSystem<T>,
        plant: &'a Plant<T>,
        state: State<T>,
        time: f64,
        y: Vec<T>,
        statistics: Statistics,
    ) -> Self {
        let origin = y.iter().take(plant.energies_start()).map(|y| y.to_f64()).collect();
        Self {
            system,
            plant,
            state,
            time,
            y,
            statistics,
            supply: None,
            growth: None,
            is_path_dependent: system.is_path_dependent(),
            held: Velocities::zeros(system.topology()),
            kept: None,
            is_committed_early: false,
            flags: [false; 3],
            gaps: Default::default(),
            origin,
            lost: Default::default(),
        }
    }

    /// Steps until `end` \[s\], calling `observe` after each accepted step. Does nothing if the time is already `end`.
    ///
    /// # Errors
    /// Those of [`Integrator::step`].
    pub fn run(
        &mut self,
        integrator: &mut impl Integrator<T>,
        end: f64,
        mut observe: impl FnMut(&mut Self),
    ) -> Result<(), SimulationError> {
        self.check_end(end)?;
        while self.time < end {
            integrator.step(self, end)?;
            observe(self);
        }
        Ok(())
    }

    /// The state after the last accepted step.
    pub fn state(&self) -> &State<T> {
        &self.state
    }

    /// Changes parameters, discrete variables or energies between steps. A failed call changes nothing.
    ///
    /// # Errors
    /// [`SimulationError::Forces`] with the error of the change, or with [`Error::TopologyMismatch`] if it replaces the
    /// state by one of another system; [`SimulationError::MotionChanged`] if it changes time, poses or velocities.
    pub fn update_state(
        &mut self,
        change: impl FnOnce(&mut State<T>) -> Result<(), Error>,
    ) -> Result<(), SimulationError> {
        let mut changed = self.state.clone();
        change(&mut changed)?;
        if !self.system.owns(&changed) {
            return Err(Error::TopologyMismatch.into());
        }
        let is_moved = changed.time() != self.state.time()
            || changed.positions() != self.state.positions()
            || changed.velocities() != self.state.velocities();
        if is_moved {
            return Err(SimulationError::MotionChanged);
        }
        // Equal dual numbers may have different derivatives.
        let flags = changed.continuous.flags();
        changed.set_kinematics(&Trial { plant: self.plant, time: self.time, y: &self.y })?;
        // The motion is unchanged.
        changed.continuous.set_flags(flags);
        let of_state = self.of_state();
        self.y[of_state].copy_from_slice(changed.continuous());
        if let Some(mut supply) = self.supply.take() {
            let stored =
                |state: &mut State<T>| Some(self.system.realize_dynamics(state).ok()?.potential_energy());
            // If forces cannot be evaluated, the account is reopened after the change that repairs this.
            self.supply = stored(&mut self.state).zip(stored(&mut changed)).map(|(before, after)| {
                supply.change((after - before).to_f64());
                supply
            });
        }
        self.state = changed;
        self.growth = None;
        Ok(())
    }

    /// Forces, energies and results of all elements after the last accepted step.
    ///
    /// # Errors
    /// Those of [`ForceSystem::realize_dynamics`].
    pub fn dynamics(&mut self) -> Result<DynamicsView<'_, T>, Error> {
        self.system.realize_dynamics(&mut self.state)
    }

    /// The cost since the simulation was made or resumed.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Time \[s\].
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Work done by the constant loads and by the drives inside the elements \[J\].
    pub fn supplied_work(&self) -> T {
        self.y.last().copied().unwrap_or_else(T::zero)
    }

    /// The continuous variables of bodies and coordinates.
    pub(super) fn motion(&self) -> &[T] {
        &self.y[..self.plant.energies_start()]
    }

    /// The power that all elements together absorb, given the rates \[W\].
    pub(super) fn power_absorbed(&self, rates: &[T]) -> f64 {
        rates[self.plant.energies_start()..self.own_start()].iter().map(|power| power.to_f64()).sum()
    }

    /// The role of a continuous variable, by its place.
    pub(super) fn role(&self, variable: usize) -> Role {
        let coordinates_start = self.plant.coordinates_start();
        if variable < coordinates_start {
            match variable % BODY {
                0..3 => Role::Position,
                3..7 => Role::Orientation,
                _ => Role::Velocity,
            }
        } else if variable < self.plant.energies_start() {
            [Role::Position, Role::Velocity][(variable - coordinates_start) % COORDINATE]
        } else if (self.own_start()..self.of_state().end).contains(&variable) {
            Role::Element
        } else {
            Role::Energy
        }
    }

    /// Calculates the rates of the continuous variables at a trial point, without a commit. On an error the state returns
    /// to the present point.
    pub(super) fn calc_rates(&mut self, time: f64, y: &[T], rates: &mut [T]) -> Result<(), SimulationError> {
        self.statistics.evaluations += 1;
        let result = self.move_to(time, y).and_then(|()| self.write_rates(y, rates));
        if result.is_err() {
            self.return_to_start()?;
        }
        result
    }

    /// Does as [`calc_rates`](Self::calc_rates) at the end of a step over which the forces of the present point are held.
    /// The rates of absorbed energies are the powers of these forces at the velocities of the end; drives supply their
    /// power at the start. Returns the power that all elements together absorb at the end.
    pub(super) fn calc_rates_of_held_forces(
        &mut self,
        time: f64,
        y: &[T],
        rates: &mut [T],
    ) -> Result<f64, SimulationError> {
        self.statistics.evaluations += 1;
        let energies = self.plant.energies_start()..self.own_start();
        let start_supplied = self.dynamics()?.power_supplied();
        let trial = Trial { plant: self.plant, time, y };
        let moved = self.state.set_kinematics(&trial);
        self.held.clone_from(self.state.velocities());
        for body in self.system.bodies() {
            *self.held.body_mut(body) = trial.velocity_standing_as(body, &self.y);
        }
        let result = moved.map_err(SimulationError::from).and_then(|()| {
            // The forces of the start depend on the elements' own states at the start.
            self.system.calc_held_powers(&mut self.state, Some(&self.held))?;
            self.set_own_continuous(y)?;
            self.write_rates(y, rates)?;
            let power = self.power_absorbed(rates);
            rates[energies].copy_from_slice(&self.state.continuous.held_powers);
            let end_supplied = self.dynamics()?.power_supplied();
            if let Some(supplied) = rates.last_mut() {
                *supplied += start_supplied - end_supplied;
            }
            Ok(power)
        });
        if result.is_err() {
            self.return_to_start()?;
        }
        result
    }

    /// The forces at the present point, and their linearization.
    pub(super) fn linearized(&mut self, variables: bool) -> Result<(Forces<T>, Linearization<T>), Error> {
        let mut linearization = Linearization::of(Scope { variables, commit: false });
        self.statistics.linearizations += 1;
        let forces = self.system.realize_dynamics(&mut self.state)?.forces().clone();
        self.system.linearize(&self.state, &mut linearization)?;
        Ok((forces, linearization))
    }

    /// Calculates the rates at the present point; no evaluation is needed if the state is still realized there.
    pub(super) fn calc_present_rates(&mut self, rates: &mut [T]) -> Result<(), SimulationError> {
        let y = core::mem::take(&mut self.y);
        let result = self.calc_updated_rates(&y, rates);
        self.y = y;
        self.flags = self.state.continuous.flags();
        result
    }

    /// Calculates the rates at the last trial point after an update of discrete variables; no evaluation is needed if
    /// none has changed.
    pub(super) fn calc_updated_rates(&mut self, y: &[T], rates: &mut [T]) -> Result<(), SimulationError> {
        if self.state.stage() < Stage::Dynamics {
            self.statistics.evaluations += 1;
        }
        self.write_rates(y, rates)
    }

    /// Refuses a step of symplectic Euler that is too long for the forces at the present point.
    pub(super) fn check_step(&mut self, step: f64) -> Result<(), Error> {
        self.system.check_step(&mut self.state, self.plant, StepMethod::SymplecticEuler, step)
    }

    /// The time [in which bodies could pass through each other unnoticed](ForceSystem::passing_time), exact up to `within`.
    pub(super) fn passing_time(&self, within: f64) -> Result<f64, Error> {
        Ok(self.system.passing_time(&self.state, within)?.0)
    }

    /// Keeps the gaps at the start of a step, for [`unseen_contact`](Self::unseen_contact).
    pub(super) fn keep_gaps(&mut self) -> Result<(), Error> {
        self.system.write_gaps(&self.state, &mut self.gaps[0])
    }

    /// The time after the start at which [a gap may have been closed](Gap::may_close_before), at the end of a trial step
    /// of this length; the earliest of several such times.
    pub(super) fn unseen_contact(&mut self, step: f64) -> Result<Option<f64>, Error> {
        let [starts, ends] = &mut self.gaps;
        self.system.write_gaps(&self.state, ends)?;
        let times = starts.iter().zip(ends).filter_map(|(start, end)| start.may_close_before(*end, step));
        Ok(times.reduce(f64::min))
    }

    /// Rates of positions, orientations and coordinates, which follow from `y` without forces.
    pub(super) fn calc_position_rates(&self, y: &[T], rates: &mut [T]) {
        let (points, _) = y[..self.plant.coordinates_start()].as_chunks::<BODY>();
        let (slopes, _) = rates.as_chunks_mut::<BODY>();
        for (y, rates) in points.iter().zip(slopes) {
            let w_B = vector(&y[10..]);
            let turning = quaternion(&y[3..]) * Quaternion::from_parts(T::zero(), w_B * T::lit(0.5));
            rates[..3].copy_from_slice(&y[7..10]);
            rates[3..7].copy_from_slice(turning.coords.as_slice());
        }
        for i in (self.plant.coordinates_start()..self.plant.energies_start()).step_by(COORDINATE) {
            rates[i] = y[i + 1];
        }
    }

    fn write_rates(&mut self, y: &[T], rates: &mut [T]) -> Result<(), SimulationError> {
        self.calc_position_rates(y, rates);
        let (coordinates_start, energies_start) =
            (self.plant.coordinates_start(), self.plant.energies_start());
        let dynamics = self.system.realize_dynamics(&mut self.state)?;
        let mut supplied = dynamics.power_supplied();
        let bodies = self.plant.bodies.iter().zip(&self.plant.body_indices).zip(&self.plant.body_loads);
        let (points, _) = y.as_chunks::<BODY>();
        let (slopes, _) = rates.as_chunks_mut::<BODY>();
        for (((body, &index), &load), (y, rates)) in bodies.zip(points.iter().zip(slopes)) {
            supplied += dynamics.velocity(index).power(&load);

            let R_GB = &dynamics.pose(index).rotation;
            let at_center = (dynamics.body_force(index) + load).shifted(R_GB * body.center().coords);
            let w_B = vector(&y[10..]);
            let torque_B =
                R_GB.inverse_transform_vector(&at_center.torque) - w_B.cross(&(body.inertia() * w_B));

            let acceleration = self.plant.gravity + at_center.force / body.mass();
            rates[7..10].copy_from_slice(acceleration.as_slice());
            rates[10..13].copy_from_slice((body.inverse_inertia * torque_B).as_slice());
        }
        for (i, (&mass, &load)) in self.plant.masses.iter().zip(&self.plant.coordinate_loads).enumerate() {
            let at = coordinates_start + i * COORDINATE;
            let force = dynamics.coordinate_force(self.plant.coordinate_indices[i]) + load;
            supplied += load * y[at + 1];
            rates[at + 1] = force / mass;
        }
        let of_state = dynamics.continuous_rates();
        rates[energies_start..][..of_state.len()].copy_from_slice(of_state);
        rates[energies_start + of_state.len()] = supplied;
        // There is no early exit, which removes a bounds check from the loop.
        finite_motion(rates.iter().fold(true, |all, rate| all & rate.is_finite()))
    }

    /// Corrects the angular velocities after a step of explicit Euler with these rates: the gyroscopic torque becomes
    /// that of the mean angular velocity.
    pub(super) fn turn_by_mean_velocity(&self, rates: &[T], y: &mut [T], h: f64) {
        let (points, _) = y.as_chunks_mut::<BODY>();
        let (starts, _) = self.y.as_chunks::<BODY>();
        let (slopes, _) = rates.as_chunks::<BODY>();
        for (((y, start), rates), body) in points.iter_mut().zip(starts).zip(slopes).zip(&self.plant.bodies) {
            let [before, rate] = [start, rates].map(|numbers| vector(&numbers[10..]));
            let after = after_midpoint(body.inertia(), before, rate, T::lit(h));
            y[10..13].copy_from_slice(after.as_slice());
        }
    }

    /// Normalizes the quaternions of a trial point: at the end of a step, before calculating the rates there.
    pub(super) fn normalize(&self, y: &mut [T]) {
        for y in y[..self.plant.coordinates_start()].chunks_exact_mut(BODY) {
            let unit = quaternion(&y[3..]).normalize();
            y[3..7].copy_from_slice(unit.coords.as_slice());
        }
    }

    /// Accepts the end of a step, at which the rates were calculated last, and commits the discrete variables. If forces
    /// were held over the step, it is accepted only if the energy ledger shows no gain. On an error only the state's
    /// kinematics have changed; discrete variables updated during a trial are restored by [`roll_back`](Self::roll_back).
    pub(super) fn accept(&mut self, time: f64, y: &[T], is_held: bool) -> Result<(), SimulationError> {
        let energies = self.plant.energies_start()..self.own_start();
        finite_motion(y.last().is_none_or(T::is_finite))?;
        let mut lost = core::mem::take(&mut self.lost[1]);
        lost.clone_from(&self.lost[0]);
        let checked = self.calc_lost(time, y, &mut lost);
        self.lost[1] = lost;
        checked?;
        let held_over = is_held.then_some(time - self.time);
        self.system.accept_energies(&mut self.state, &y[energies], held_over)?;
        self.lost.swap(0, 1);
        self.y.copy_from_slice(y);
        self.time = time;
        self.is_committed_early = false;
        self.supply = None;
        self.growth = None;
        self.statistics.steps += 1;
        Ok(())
    }

    /// The error of a trial step due to memory that depends on the path but is committed only at the end of the step: the
    /// change of the rates at the end if it is also committed early and halfway. `norm` returns the norm of a change; `y`
    /// and `change` are buffers. The arguments include points and rates at both ends; the rates at the end were
    /// calculated last.
    ///
    /// An anchor that is dragged at the start and left behind within the step has been dragged by up to `v h/2`. An
    /// anchor that is committed after a share `s` of the step has been dragged by `v s h`, and its effect is multiplied
    /// by `1/2s`. An anchor that is dragged only between these times is not detected.
    pub(super) fn path_error(
        &mut self,
        span: Span,
        ends: [(&[T], &[T]); 2],
        y: &mut [T],
        change: &mut [T],
        mut norm: impl FnMut(&Self, &mut [T]) -> f64,
    ) -> Result<f64, SimulationError> {
        if !self.is_path_dependent {
            return Ok(0.0);
        }
        match &mut self.kept {
            Some(kept) => self.state.save_to(kept),
            None => self.kept = Some(self.state.checkpoint()),
        }
        // The early commit misses a drag that ends before it, of up to `s² a h²/2`, and divides the rounding `ε x` of an
        // anchor by `s`. The sum of both is least near `s³ = ε x/(a h²)`: at the sixth root of `ε` if velocities change
        // by `√ε x` in a step.
        let early = power_of_two(ComplexField::powf(T::default_epsilon().to_f64(), 1.0 / 6.0));
        let mut worst = 0.0_f64;
        for (share, factor) in [(early, 0.5 / early), (0.5, 1.0)] {
            self.interpolate(share, span.length, ends, y);
            self.calc_rates(self.time + share * span.length, y, change)?;
            self.is_committed_early = true;
            self.system.commit_within_step(&mut self.state)?;
            let [_, (end, before)] = ends;
            self.calc_rates(span.end, end, change)?;
            change.iter_mut().zip(before).for_each(|(change, &before)| *change -= before);
            worst = worst.max(factor * norm(self, change));
        }
        Ok(worst)
    }

    /// Writes the point at this share of a step on the cubic through both ends.
    fn interpolate(&self, share: f64, h: f64, [start, end]: [(&[T], &[T]); 2], y: &mut [T]) {
        let rest = 1.0 - share;
        let towards = T::lit(share * share * (3.0 - 2.0 * share));
        let [leaving, arriving] = [share * rest * rest * h, -share * share * rest * h].map(T::lit);
        for (i, y) in y.iter_mut().enumerate() {
            *y = start.0[i] + (end.0[i] - start.0[i]) * towards + start.1[i] * leaving + end.1[i] * arriving;
        }
        self.normalize(y);
    }

    /// Rejects a trial step that has not changed discrete variables, except those committed early.
    pub(super) fn reject(&mut self) -> Result<(), SimulationError> {
        self.statistics.rejected += 1;
        if core::mem::take(&mut self.is_committed_early)
            && let Some(kept) = &self.kept
        {
            self.state.return_to(kept)?;
        }
        self.return_to_start()
    }

    /// Undoes a trial step that has changed discrete variables.
    pub(super) fn roll_back(&mut self, start: &State<T>) {
        self.statistics.rejected += 1;
        self.state.clone_from(start);
        self.is_committed_early = false;
    }

    fn return_to_start(&mut self) -> Result<(), SimulationError> {
        let y = core::mem::take(&mut self.y);
        let result = self.move_to(self.time, &y);
        self.y = y;
        // The motion is unchanged.
        self.state.continuous.set_flags(self.flags);
        result
    }

    /// Sets motion and continuous variables of the state.
    fn move_to(&mut self, time: f64, y: &[T]) -> Result<(), SimulationError> {
        self.state.set_kinematics(&Trial { plant: self.plant, time, y })?;
        self.set_own_continuous(y)
    }

    /// Writes the continuous variables, if elements have any of their own.
    fn set_own_continuous(&mut self, y: &[T]) -> Result<(), SimulationError> {
        let of_state = self.of_state();
        // No force depends on energies.
        if self.own_start() < of_state.end { Ok(self.state.set_continuous(&y[of_state])?) } else { Ok(()) }
    }

    /// The places of the continuous variables of the state.
    fn of_state(&self) -> Range<usize> {
        self.plant.energies_start()..self.plant.energies_start() + self.state.continuous().len()
    }

    /// The place of the first continuous variable of an element.
    pub(super) fn own_start(&self) -> usize {
        self.plant.energies_start() + self.state.absorbed_energy().len()
    }

    /// The largest force error at the trial point at which the rates were calculated last \[N\].
    pub(super) fn switching_error(&mut self) -> Result<f64, SimulationError> {
        Ok(self.system.switching_error(&mut self.state)?.to_f64())
    }

    /// Updates the discrete variables for the trial point at which the rates were calculated last; returns the
    /// force error \[N\].
    pub(super) fn discontinuous_update(&mut self, start: &State<T>) -> Result<f64, SimulationError> {
        Ok(self.system.discontinuous_update(&mut self.state, start)?.to_f64())
    }

    /// Writes positions, orientations and coordinates: those in `before`, displaced by `displacement` and by the
    /// velocities in `y` for a time `h`. Displacements are in the places of the velocities.
    pub(super) fn advance_positions(&self, before: &[T], displacement: &[T], y: &mut [T], h: f64) {
        let h = T::lit(h);
        let (coordinates_start, energies_start) =
            (self.plant.coordinates_start(), self.plant.energies_start());
        let bodies = y[..coordinates_start].chunks_exact_mut(BODY);
        let displacements = self.plant.body_chunks(displacement);
        for ((before, displacement), y) in self.plant.body_chunks(before).zip(displacements).zip(bodies) {
            let p_GC = vector(before) + vector(&displacement[7..]) + vector(&y[7..]) * h;
            let turn = vector(&displacement[10..]) + vector(&y[10..]) * h;
            let R = quaternion(&before[3..]) * turned(turn);
            y[..3].copy_from_slice(p_GC.as_slice());
            y[3..7].copy_from_slice(R.coords.as_slice());
        }
        for i in (coordinates_start..energies_start).step_by(COORDINATE) {
            y[i] = before[i] + displacement[i + 1] + y[i + 1] * h;
        }
        self.normalize(y);
    }
}

/// The unit quaternion of a rotation vector. Near zero it is a series; there `UnitQuaternion::from_scaled_axis` returns
/// the constant identity, which would lose slow turns and derivatives.
fn turned<T: Real>(turn: Vector3<T>) -> Quaternion<T> {
    let half = turn * T::lit(0.5);
    let square = half.norm_squared();
    // Where the next terms are below rounding.
    let (cosine, sinc) = if square <= T::default_epsilon() {
        (T::one() - square * T::lit(0.5), T::one() - square / T::lit(6.0))
    } else {
        let angle = square.sqrt();
        (angle.cos(), angle.sin() / angle)
    };
    Quaternion::from_parts(cosine, half * sinc)
}

/// The angular velocity of a body, in its frame, after a step in which the gyroscopic torque is that of the mean
/// velocity; `rate` is its rate under explicit Euler.
fn after_midpoint<T: Real>(inertia: &Matrix3<T>, before: Vector3<T>, rate: Vector3<T>, h: T) -> Vector3<T> {
    // Newton's method converges in three or four rounds where a body turns by less than a radian in a step.
    const ROUNDS: usize = 8;
    // The determinant of a large or small inertia is outside the range of single precision. Scaling by a power of two is
    // exact.
    let inertia = &(inertia / T::lit(power_of_two(inertia.amax().to_f64())));
    let half = T::lit(0.5);
    let gyroscopic = |w: Vector3<T>| w.cross(&(inertia * w));
    let impulse = (inertia * rate + gyroscopic(before)) * h;
    let mut after = before + rate * h;
    for _ in 0..ROUNDS {
        let mean = (before + after) * half;
        let excess = inertia * (after - before) - impulse + gyroscopic(mean) * h;
        let momentum = inertia * mean;
        let slope = inertia + (mean.cross_matrix() * inertia - momentum.cross_matrix()) * (h * half);
        let Some(inverse) = slope.try_inverse() else { break };
        let change = inverse * excess;
        after -= change;
        if change.norm() <= after.norm() * T::default_epsilon() {
            break;
        }
    }
    after
}

/// Checks that a plant has the bodies and coordinates of its system, and that none was removed.
pub(super) fn check_topology<T: Real>(
    system: &ForceSystem<T>,
    plant: &Plant<T>,
) -> Result<(), SimulationError> {
    let topology = system.topology();
    let places = (topology.body_places(), topology.coordinate_places());
    if system.bodies().eq(plant.body_indices.iter().copied())
        && system.coordinates().eq(plant.coordinate_indices.iter().copied())
        && places == (plant.bodies.len() + 1, plant.masses.len())
    {
        Ok(())
    } else {
        Err(SimulationError::OtherBodies)
    }
}
