//! The motion of a plant under a force system: the equations, without the integrator.

use alloc::vec::Vec;

use nalgebra::{Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::error::{Error, Quantity, Result};
use crate::kinematics::{BodyIndex, CoordinateIndex, KinematicsSource, Topology, finite};
use crate::scalar::Real;
use crate::simulation::plant::{Plant, RigidBody};
use crate::spatial::{SpatialVelocity, Transform};
use crate::stage::Stage;
use crate::state::{Snapshot, State};
use crate::system::ForceSystem;
use crate::view::DynamicsView;

/// Numbers a body takes in the vector of continuous variables: position and velocity of the mass
/// center in Ground, orientation as a quaternion, angular velocity in the body's frame.
const BODY: usize = 13;
/// Numbers a coordinate takes: value and rate.
const COORDINATE: usize = 2;

/// Advances a simulation by one accepted step.
pub trait Integrator<T: Real> {
    /// Takes one step, not beyond `end` \[s\].
    ///
    /// # Errors
    /// What the elements document; [`Error::StepTooSmall`], [`Error::StepNotConverged`] or
    /// [`Error::StepNotSettled`] where no step is short enough; [`Error::InvalidValue`] if a step length or
    /// accuracy of the integrator is not positive.
    fn step(&mut self, simulation: &mut Simulation<'_, T>, end: T) -> Result<()>;
}

/// What a simulation has cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Steps accepted.
    pub steps: usize,
    /// Steps tried and rejected.
    pub rejected: usize,
    /// Evaluations of all forces.
    pub evaluations: usize,
}

/// A simulation at rest in a drawer. To go on to the same bits, keep the integrator too: it remembers
/// the length of its next step, and with the feature `serde` it can be written like this.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Saved<T> {
    /// Time \[s\].
    pub time: T,
    /// Positions, velocities, energies absorbed (of which those in the snapshot count), work of the loads.
    pub variables: Vec<T>,
    /// Parameters and discrete variables of the elements.
    pub snapshot: Snapshot<T>,
}

/// A plant, a force system, and where they are.
///
/// # Example: a mass on a spring
///
/// ```
/// use force_elements::coordinate_spring_damper_ext::Parameters;
/// use force_elements::simulation::{DormandPrince, Plant, Simulation};
/// use force_elements::{CoordinateSpringDamperExt, ForceSystem, nalgebra::Vector3};
///
/// let mut system = ForceSystem::<f64>::new();
/// let mut plant = Plant::new(Vector3::zeros())?;
/// let slider = plant.add_coordinate(&mut system, 2.0)?;
/// let spring = Parameters { stiffness: 8.0, ..Parameters::default() };
/// system.add(CoordinateSpringDamperExt::new(None, Some(slider), spring)?)?;
///
/// let mut state = system.default_state();
/// state.set_coordinate(slider, 1.0)?;
/// let mut simulation = Simulation::new(&system, &plant, state)?;
/// simulation.run(&mut DormandPrince::new(1e-9), 3.0, |_| {})?;
/// assert!((simulation.state().positions().coordinate(slider) - 6.0_f64.cos()).abs() < 1e-7);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation<'a, T: Real> {
    system: &'a ForceSystem<T>,
    plant: &'a Plant<T>,
    state: State<T>,
    /// Time of the last accepted step \[s\].
    time: T,
    /// The continuous variables: bodies, coordinates, energies absorbed, work of the loads.
    y: Vec<T>,
    statistics: Statistics,
}

impl<'a, T: Real> Simulation<'a, T> {
    /// A simulation that starts from a state and opens the energy ledger there.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the plant does not have the bodies and coordinates of the
    /// system, or the state is of another system; what the elements document.
    pub fn new(system: &'a ForceSystem<T>, plant: &'a Plant<T>, mut state: State<T>) -> Result<Self> {
        let topology = check_topology(system, plant)?;
        system.reset_dissipated_energy(&mut state)?;
        let mut y = Vec::new();
        for (i, body) in plant.bodies.iter().enumerate() {
            let body_index = BodyIndex::new(i + 1);
            push_body(
                &mut y,
                body,
                state.positions().pose(body_index),
                state.velocities().velocity(body_index),
            );
        }
        for c in (0..topology.coordinate_count).map(CoordinateIndex::new) {
            y.push(state.positions().coordinate(c));
            y.push(state.velocities().coordinate_rate(c));
        }
        y.extend_from_slice(state.absorbed_energy());
        y.push(T::zero());
        Ok(Self {
            system,
            plant,
            time: state.time(),
            state,
            y,
            statistics: Statistics { evaluations: 1, ..Statistics::default() },
        })
    }

    /// What has to be kept to go on from here, bit for bit.
    pub fn save(&self) -> Saved<T> {
        Saved { time: self.time, variables: self.y.clone(), snapshot: self.state.snapshot() }
    }

    /// A simulation that goes on where another was saved. With the same integrator, its step length
    /// included, it takes the same steps to the last bit.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] or [`Error::SnapshotMismatch`] if it was saved from another plant or
    /// system; [`Error::NonFinite`] or [`Error::InvalidValue`] if what was saved has been spoilt.
    pub fn resume(system: &'a ForceSystem<T>, plant: &'a Plant<T>, saved: &Saved<T>) -> Result<Self> {
        let topology = check_topology(system, plant)?;
        let motion = (topology.body_count - 1) * BODY + topology.coordinate_count * COORDINATE;
        if saved.variables.len() != motion + system.element_count() + 1 {
            return Err(Error::TopologyMismatch);
        }
        finite(saved.variables.iter().all(T::is_finite), Quantity::Simulation)?;
        let mut state = system.default_state();
        state.set_kinematics(&Trial { plant, time: saved.time, y: &saved.variables })?;
        state.restore(&saved.snapshot)?;
        let (time, mut y) = (saved.time, saved.variables.clone());
        y[motion..][..system.element_count()].copy_from_slice(state.absorbed_energy());
        Ok(Self { system, plant, state, time, y, statistics: Statistics::default() })
    }

    /// Steps until `end` \[s\], calling `observe` after each accepted step.
    ///
    /// # Errors
    /// Those of [`Integrator::step`].
    pub fn run(
        &mut self,
        integrator: &mut impl Integrator<T>,
        end: T,
        mut observe: impl FnMut(&mut Self),
    ) -> Result<()> {
        finite(end.is_finite(), Quantity::Time)?;
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

    /// Changes parameters, discrete variables or energies between steps. Where things are and how they move
    /// stays as it was, whatever is set here. A change that fails changes nothing.
    ///
    /// # Errors
    /// Those of the change; [`Error::TopologyMismatch`] if it puts a state of another system in place.
    pub fn update_state(&mut self, change: impl FnOnce(&mut State<T>) -> Result<()>) -> Result<()> {
        let mut changed = self.state.clone();
        change(&mut changed)?;
        self.system.require(&changed, Stage::Topology)?;
        self.state = changed;
        self.state.set_kinematics(&Trial { plant: self.plant, time: self.time, y: &self.y })?;
        let energies = self.energies_start()..self.y.len() - 1;
        self.y[energies].copy_from_slice(self.state.absorbed_energy());
        Ok(())
    }

    /// Forces, energies and results of all elements after the last accepted step.
    ///
    /// # Errors
    /// What the elements document.
    pub fn dynamics(&mut self) -> Result<DynamicsView<'_, T>> {
        self.system.realize_dynamics(&mut self.state)
    }

    /// What the simulation has cost so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Time \[s\].
    pub fn time(&self) -> T {
        self.time
    }

    /// Kinetic energy of all bodies and coordinates \[J\].
    pub fn kinetic_energy(&self) -> T {
        let mut twice = T::zero();
        for (body, y) in self.plant.bodies.iter().zip(self.body_chunks(&self.y)) {
            let (w_B, v_GC) = (vector(&y[10..]), vector(&y[7..]));
            twice += v_GC.norm_squared() * body.mass() + w_B.dot(&(body.inertia() * w_B));
        }
        let coordinates = self.y[self.coordinates_start()..].chunks_exact(COORDINATE);
        for (&mass, y) in self.plant.masses.iter().zip(coordinates) {
            twice += mass * y[1] * y[1];
        }
        T::lit(0.5) * twice
    }

    /// Potential energy of all bodies in gravity \[J\], zero at the Ground origin.
    pub fn gravitational_energy(&self) -> T {
        let bodies = self.plant.bodies.iter().zip(self.body_chunks(&self.y));
        bodies.fold(T::zero(), |sum, (body, y)| sum - self.plant.gravity.dot(&vector(y)) * body.mass())
    }

    /// What should not change \[J\]: kinetic and gravitational energy and all that the elements have
    /// absorbed (which is what they store and what they have dissipated), less the work of the loads.
    pub fn total_energy(&self) -> T {
        let absorbed = self.state.absorbed_energy().iter().fold(T::zero(), |sum, &e| sum + e);
        self.kinetic_energy() + self.gravitational_energy() + absorbed - self.load_work()
    }

    /// Work the constant loads have done \[J\].
    pub fn load_work(&self) -> T {
        self.y.last().copied().unwrap_or_else(T::zero)
    }

    /// The continuous variables.
    pub(super) fn variables(&self) -> &[T] {
        &self.y
    }

    /// Rates of the continuous variables at a trial point; commits nothing.
    pub(super) fn calc_rates(&mut self, time: T, y: &[T], rates: &mut [T]) -> Result<()> {
        self.statistics.evaluations += 1;
        let result = self
            .state
            .set_kinematics(&Trial { plant: self.plant, time, y })
            .and_then(|()| self.write_rates(y, rates));
        if result.is_err() {
            self.state.set_kinematics(&Trial { plant: self.plant, time: self.time, y: &self.y })?;
        }
        result
    }

    /// Rates at the present point; costs nothing if the state is still realized there.
    pub(super) fn calc_present_rates(&mut self, rates: &mut [T]) -> Result<()> {
        if self.state.stage() < Stage::Dynamics {
            self.statistics.evaluations += 1;
        }
        let y = core::mem::take(&mut self.y);
        let result = self.write_rates(&y, rates);
        self.y = y;
        result
    }

    /// Rates of positions, orientations and coordinates: what follows from `y` without any force.
    pub(super) fn calc_position_rates(&self, y: &[T], rates: &mut [T]) {
        for (y, rates) in self.body_chunks(y).zip(rates.chunks_exact_mut(BODY)) {
            let w_B = vector(&y[10..]);
            let turning = quaternion(&y[3..]) * Quaternion::from_parts(T::zero(), w_B * T::lit(0.5));
            rates[..3].copy_from_slice(&y[7..10]);
            rates[3..7].copy_from_slice(turning.coords.as_slice());
        }
        for i in (self.coordinates_start()..self.energies_start()).step_by(COORDINATE) {
            rates[i] = y[i + 1];
        }
    }

    fn write_rates(&mut self, y: &[T], rates: &mut [T]) -> Result<()> {
        self.calc_position_rates(y, rates);
        let (coordinates_start, energies_start) = (self.coordinates_start(), self.energies_start());
        let dynamics = self.system.realize_dynamics(&mut self.state)?;
        let mut load_power = T::zero();
        for (i, body) in self.plant.bodies.iter().enumerate() {
            let y = &y[i * BODY..][..BODY];
            let index = BodyIndex::new(i + 1);
            let load = self.plant.body_loads[i];
            load_power += dynamics.velocity(index).power(&load);

            let R_GB = dynamics.pose(index).rotation;
            let at_center = (dynamics.body_force(index) + load).shifted(R_GB * body.center().coords);
            let w_B = vector(&y[10..]);
            let torque_B = R_GB.inverse() * at_center.torque - w_B.cross(&(body.inertia() * w_B));

            let rates = &mut rates[i * BODY..][..BODY];
            let acceleration = self.plant.gravity + at_center.force / body.mass();
            rates[7..10].copy_from_slice(acceleration.as_slice());
            rates[10..13].copy_from_slice((body.inverse_inertia() * torque_B).as_slice());
        }
        for (i, (&mass, &load)) in self.plant.masses.iter().zip(&self.plant.coordinate_loads).enumerate() {
            let at = coordinates_start + i * COORDINATE;
            let force = dynamics.coordinate_force(CoordinateIndex::new(i)) + load;
            load_power += load * y[at + 1];
            rates[at + 1] = force / mass;
        }
        let absorbed = dynamics.power_absorbed();
        rates[energies_start..][..absorbed.len()].copy_from_slice(absorbed);
        rates[energies_start + absorbed.len()] = load_power;
        Ok(())
    }

    /// Makes the orientations of a trial point unit quaternions again: to be done at the end of a step,
    /// before the rates there are calculated.
    pub(super) fn normalize(&self, y: &mut [T]) {
        for y in y[..self.coordinates_start()].chunks_exact_mut(BODY) {
            let unit = quaternion(&y[3..]).normalize();
            y[3..7].copy_from_slice(unit.coords.as_slice());
        }
    }

    /// Takes over the end of a step, at which the rates were calculated last, and commits what the
    /// elements remember.
    pub(super) fn accept(&mut self, y: &[T]) -> Result<()> {
        let energies = self.energies_start()..y.len() - 1;
        if let Err(refused) = self.state.set_absorbed_energy(&y[energies]) {
            self.state.set_kinematics(&Trial { plant: self.plant, time: self.time, y: &self.y })?;
            return Err(refused);
        }
        self.y.copy_from_slice(y);
        self.time = self.state.time();
        self.system.accept_step(&mut self.state)?;
        self.statistics.steps += 1;
        Ok(())
    }

    /// Counts a trial step that left no trace.
    pub(super) fn reject(&mut self) {
        self.statistics.rejected += 1;
    }

    /// The largest force error at the trial point at which the rates were calculated last.
    pub(super) fn switching_error(&mut self) -> Result<T> {
        self.system.switching_error(&mut self.state)
    }

    /// Undoes a trial step that has switched discrete variables.
    pub(super) fn roll_back(&mut self, start: &State<T>) {
        self.state.clone_from(start);
        self.reject();
    }

    /// Brings the discrete variables in line with the trial point at which the rates were calculated
    /// last; answers the force error.
    pub(super) fn discontinuous_update(&mut self, start: &State<T>) -> Result<T> {
        self.system.discontinuous_update(&mut self.state, start)
    }

    /// Writes positions, orientations and coordinates that follow from those in `before` by the
    /// mean of the velocities in `before` and `y`, held for a time `h`.
    pub(super) fn advance_positions(&self, before: &[T], y: &mut [T], h: T) {
        let half = T::lit(0.5) * h;
        let (coordinates_start, energies_start) = (self.coordinates_start(), self.energies_start());
        let bodies = y[..coordinates_start].chunks_exact_mut(BODY);
        for (before, y) in self.body_chunks(before).zip(bodies) {
            let p_GC = vector(before) + (vector(&before[7..]) + vector(&y[7..])) * half;
            let turn = (vector(&before[10..]) + vector(&y[10..])) * half;
            let R = quaternion(&before[3..]) * UnitQuaternion::from_scaled_axis(turn).into_inner();
            y[..3].copy_from_slice(p_GC.as_slice());
            y[3..7].copy_from_slice(R.coords.as_slice());
        }
        for i in (coordinates_start..energies_start).step_by(COORDINATE) {
            y[i] = before[i] + (before[i + 1] + y[i + 1]) * half;
        }
        self.normalize(y);
    }

    /// What a continuous variable is, by its place.
    pub(super) fn role(&self, variable: usize) -> Role {
        let (coordinates_start, energies_start) = (self.coordinates_start(), self.energies_start());
        let is_velocity = if variable < coordinates_start {
            variable % BODY >= 7
        } else {
            (variable - coordinates_start) % COORDINATE == 1
        };
        if variable >= energies_start {
            Role::Energy
        } else if is_velocity {
            Role::Velocity
        } else {
            Role::Position
        }
    }

    fn body_chunks<'y>(&self, y: &'y [T]) -> impl Iterator<Item = &'y [T]> {
        y[..self.coordinates_start()].chunks_exact(BODY)
    }

    fn coordinates_start(&self) -> usize {
        self.plant.bodies.len() * BODY
    }

    fn energies_start(&self) -> usize {
        self.coordinates_start() + self.plant.masses.len() * COORDINATE
    }
}

/// A plant must have the bodies and coordinates of its system.
fn check_topology<T: Real>(system: &ForceSystem<T>, plant: &Plant<T>) -> Result<Topology> {
    let topology = system.topology();
    if (plant.bodies.len() + 1, plant.masses.len()) == (topology.body_count, topology.coordinate_count) {
        Ok(topology)
    } else {
        Err(Error::TopologyMismatch)
    }
}

/// What a continuous variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A position, orientation or coordinate.
    Position,
    /// A velocity or coordinate rate.
    Velocity,
    /// An energy or work.
    Energy,
}

/// A trial point of an integrator, as a host shows it to the state.
struct Trial<'a, T: Real> {
    plant: &'a Plant<T>,
    time: T,
    y: &'a [T],
}

impl<T: Real> Trial<'_, T> {
    fn body(&self, body: BodyIndex) -> (&RigidBody<T>, &[T]) {
        let i = body.index() - 1;
        (&self.plant.bodies[i], &self.y[i * BODY..][..BODY])
    }

    fn coordinate_at(&self, coordinate: CoordinateIndex) -> usize {
        self.plant.bodies.len() * BODY + coordinate.index() * COORDINATE
    }
}

impl<T: Real> KinematicsSource<T> for Trial<'_, T> {
    fn time(&self) -> T {
        self.time
    }

    fn pose(&self, body: BodyIndex) -> Transform<T> {
        let (body, y) = self.body(body);
        let R_GB = rotation(&y[3..]);
        let p_GB = vector(y) - R_GB * body.center().coords;
        Transform::from_parts(Translation3::from(p_GB), R_GB)
    }

    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<T> {
        let (body, y) = self.body(body);
        let R_GB = rotation(&y[3..]);
        let at_center = SpatialVelocity::new(R_GB * vector(&y[10..]), vector(&y[7..]));
        at_center.shifted(R_GB * -body.center().coords)
    }

    fn coordinate(&self, coordinate: CoordinateIndex) -> T {
        self.y[self.coordinate_at(coordinate)]
    }

    fn coordinate_rate(&self, coordinate: CoordinateIndex) -> T {
        self.y[self.coordinate_at(coordinate) + 1]
    }
}

fn push_body<T: Real>(y: &mut Vec<T>, body: &RigidBody<T>, X_GB: &Transform<T>, V_GB: &SpatialVelocity<T>) {
    let offset = X_GB.rotation * body.center().coords;
    let q = UnitQuaternion::from_rotation_matrix(&X_GB.rotation);
    y.extend_from_slice((X_GB.translation.vector + offset).as_slice());
    y.extend_from_slice(q.coords.as_slice());
    y.extend_from_slice(V_GB.shifted(offset).linear.as_slice());
    y.extend_from_slice(X_GB.rotation.inverse_transform_vector(&V_GB.angular).as_slice());
}

fn vector<T: Real>(y: &[T]) -> Vector3<T> {
    Vector3::new(y[0], y[1], y[2])
}

fn quaternion<T: Real>(y: &[T]) -> Quaternion<T> {
    Quaternion::new(y[3], y[0], y[1], y[2])
}

fn rotation<T: Real>(y: &[T]) -> Rotation3<T> {
    UnitQuaternion::new_normalize(quaternion(y)).to_rotation_matrix()
}
