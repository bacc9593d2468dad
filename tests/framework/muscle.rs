//! An activation-driven muscle on a cable path: an element with a continuous variable and an input.

use std::sync::atomic::{AtomicUsize, Ordering};

use approx::assert_relative_eq;
use force_elements::cable::{CablePath, Obstacle, PathResults, Wraps};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::Cylinder;
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::{
    AtDynamics, BodyIndex, CoordinateIndex, ElementError, Error, ForceAccumulator, ForceElement, ForceSystem,
    Frame, Given, Handle, Pose, Real, SpatialVelocity, Stage, State, Station, Topology, check, element_types,
    variables,
};
use num_dual::Dual64;

variables! {
    /// What a nervous system sets, and what it cannot.
    #[derive(Copy)]
    pub(crate) struct Parameters<T> {
        /// Force at full activation.
        pub(crate) strength: T ["N"] = 50.0, nonnegative => Dynamics;
        /// Time constant of activation.
        pub(crate) time_constant: T ["s"] = 0.05, positive => Dynamics;
        /// Excitation.
        pub(crate) excitation: T = 0.0, fraction => Dynamics;
    }
}

variables! {
    /// The state of a muscle.
    #[derive(Copy)]
    pub(crate) struct Activation<T> {
        /// Activation.
        pub(crate) activation: T = 0.0, finite => Dynamics;
    }
}

/// A muscle whose tension is its activation times its strength, wherever it is.
#[derive(Debug)]
pub(crate) struct Muscle<T: Real> {
    path: CablePath<T>,
    /// How often the path was solved.
    solved: AtomicUsize,
}

impl<T: Real> Muscle<T> {
    fn new(path: CablePath<T>) -> Self {
        Self { path, solved: AtomicUsize::new(0) }
    }
}

impl<T: Real> ForceElement<T> for Muscle<T> {
    const KIND: &'static str = "muscle";
    type Parameters = Parameters<T>;
    type Discrete = Wraps<T>;
    type Continuous = Activation<T>;
    type Position = PathResults<T>;
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(self.path.check_topology(topology)?)
    }
    fn default_discrete(&self) -> Wraps<T> {
        self.path.no_wraps()
    }
    fn calc_position(
        &self,
        given: &Given<'_, T, Self>,
        path: &mut PathResults<T>,
    ) -> Result<(), ElementError> {
        self.solved.fetch_add(1, Ordering::Relaxed);
        Ok(self.path.solve(given.positions, given.discrete, path)?)
    }
    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        at.position.add_forces(at.parameters.strength * at.continuous.activation, forces);
    }
    fn power_supplied(&self, at: &AtDynamics<'_, T, Self>) -> T {
        let rate = at.position.length_rate(at.positions, at.velocities);
        -at.parameters.strength * at.continuous.activation * rate
    }
    fn calc_rates(
        &self,
        at: &AtDynamics<'_, T, Self>,
        rates: &mut Activation<T>,
    ) -> Result<(), ElementError> {
        rates.activation =
            (at.parameters.excitation - at.continuous.activation) / at.parameters.time_constant;
        Ok(())
    }
    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Wraps<T>) -> Result<(), ElementError> {
        at.position.remember(next);
        Ok(())
    }
}

struct Arm<T: Real> {
    system: ForceSystem<T>,
    plant: Plant<T>,
    hand: BodyIndex,
    muscle: Handle<Muscle<T>>,
    state: State<T>,
}

/// A hand that a muscle pulls over a bone.
fn arm<T: Real>() -> Result<Arm<T>, SimulationError> {
    let point = |x: f64, y: f64| Point3::new(T::lit(x), T::lit(y), T::zero());
    let mut system = ForceSystem::<T>::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let hand = plant.add_body(&mut system, RigidBody::with_equal_inertia(T::lit(2.0), T::lit(0.1))?);
    let bone = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(T::lit(0.1))?)
        .map_err(|error| SimulationError::from(Error::from(error)))?;
    let path = CablePath::new(Station::ground(point(-0.5, 0.05)), Station::on(hand, Point3::origin()))
        .map_err(|error| SimulationError::from(Error::from(error)))?;
    let muscle = system.add(Muscle::new(path.over(bone)))?;
    let mut state = system.default_state();
    let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::new(T::zero(), T::lit(0.1), T::zero()));
    state.set_body(hand, Pose::from(point(0.6, 0.02).coords), V_GB)?;
    Ok(Arm { system, plant, hand, muscle, state })
}

#[test]
fn an_excitation_is_set_without_solving_the_path_again() -> Result<(), SimulationError> {
    let Arm { system, hand, muscle, mut state, .. } = arm::<f64>()?;
    system.update_continuous(&mut state, muscle, |state| state.activation = 0.5)?;
    let cold = system.realize_dynamics(&mut state)?.body_force(hand).force.norm();
    assert_relative_eq!(cold, 25.0, max_relative = 1e-12);
    let solved = || system.element(muscle).solved.load(Ordering::Relaxed);
    let before = solved();
    system.set_variable(&mut state, "muscle[0].excitation", 0.8)?;
    assert_eq!(state.stage(), Stage::Velocity);
    system.update_parameters(&mut state, muscle, |p| p.excitation = 1.0)?;
    assert_eq!(state.stage(), Stage::Velocity);
    system.update_continuous(&mut state, muscle, |state| state.activation = 0.25)?;
    assert_eq!(state.stage(), Stage::Velocity);
    let view = system.realize_dynamics(&mut state)?;
    assert_eq!(solved(), before);
    assert_relative_eq!(view.body_force(hand).force.norm(), 12.5, max_relative = 1e-12);
    assert_eq!(view.continuous_rates()[1], (1.0 - 0.25) / 0.05);
    Ok(())
}

/// The activation after a time of full excitation, in a run.
fn activation<T: Real>(
    integrator: &mut impl Integrator<T>,
    time: f64,
    excitation: T,
) -> Result<T, SimulationError> {
    let Arm { system, plant, muscle, mut state, .. } = arm::<T>()?;
    system.update_parameters(&mut state, muscle, |p| p.excitation = excitation)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    simulation.run(integrator, time, |_| {})?;
    let power = simulation.dynamics()?.continuous_rates()[1];
    let activation = simulation.state().continuous_of(muscle).activation;
    assert_relative_eq!(
        power.to_f64(),
        ((excitation - activation) * T::lit(20.0)).to_f64(),
        max_relative = 1e-12
    );
    Ok(activation)
}

#[test]
fn every_integrator_follows_the_activation() -> Result<(), SimulationError> {
    let exact = 0.8 * (1.0 - (-0.1_f64 / 0.05).exp());
    let at = |activation: f64| (activation - exact).abs();
    // The error that control allows per step, over some tens of steps.
    assert!(at(activation(&mut DormandPrince::new(1e-9), 0.1, 0.8)?) < 1e-7);
    // First and second order: the error falls by two and by four.
    let euler = [1e-3, 5e-4].map(|h| activation(&mut SemiImplicitEuler::new(h), 0.1, 0.8).map(at));
    let [coarse, fine] = euler;
    assert_relative_eq!(coarse? / fine?, 2.0, max_relative = 0.02);
    let implicit = [1e-3, 5e-4].map(|h| activation(&mut Implicit::trapezoidal(h), 0.1, 0.8).map(at));
    let [coarse, fine] = implicit;
    assert_relative_eq!(coarse? / fine?, 4.0, max_relative = 0.02);
    // A stiff one: the step is six time constants, and the rule does not blow up.
    let stiff: f64 = activation(&mut Implicit::trapezoidal(0.3), 3.0, 0.8)?;
    assert!((stiff - 0.8).abs() < 0.05, "{stiff}");
    Ok(())
}

#[test]
fn derivatives_by_the_excitation_go_through_a_run() -> Result<(), SimulationError> {
    let slope = |integrator: &mut Implicit<Dual64>| {
        activation(integrator, 0.1, Dual64::new(0.8, 1.0)).map(|activation| activation.eps)
    };
    let exact = 1.0 - (-0.1_f64 / 0.05).exp();
    // The rule's own error at 1 ms: (h/τ)²/12 of the exponent.
    assert_relative_eq!(slope(&mut Implicit::trapezoidal(1e-3))?, exact, max_relative = 1e-4);
    let fine = activation(&mut DormandPrince::new(1e-10), 0.1, Dual64::new(0.8, 1.0))?.eps;
    assert_relative_eq!(fine, exact, max_relative = 1e-7);
    Ok(())
}

#[test]
fn the_books_of_a_muscle_close() -> Result<(), SimulationError> {
    let Arm { system, plant, hand, muscle, mut state } = arm::<f64>()?;
    system.update_parameters(&mut state, muscle, |p| p.excitation = 1.0)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    let start = simulation.kinetic_energy();
    let mut work = 0.0;
    let mut last = None;
    simulation.run(&mut DormandPrince::new(1e-9), 0.3, |simulation| {
        let time = simulation.time();
        let view = simulation.dynamics().expect("regular");
        let power = view.body_force(hand).force.dot(&view.velocity(hand).linear);
        // The trapezoid of the power, independent of the element's account.
        if let Some((t, p)) = last.replace((time, power)) {
            work += 0.5 * (power + p) * (time - t);
        }
    })?;
    let gained = simulation.kinetic_energy() - start;
    assert!(gained > 5.0, "the motion is trivial: {gained}");
    assert_relative_eq!(gained, work, max_relative = 0.02);
    // All of it was supplied inside: nothing was absorbed, stored or lost.
    assert!(simulation.state().absorbed_energy()[0].abs() < 1e-7);
    Ok(())
}

#[test]
fn a_muscle_is_saved_restored_copied_and_named() -> Result<(), SimulationError> {
    let Arm { mut system, plant, hand, muscle, mut state } = arm::<f64>()?;
    assert_eq!(state.continuous_names(), ["muscle[0].absorbed_energy", "muscle[0].activation"]);
    system.update_parameters(&mut state, muscle, |p| p.excitation = 1.0)?;
    let mut simulation = Simulation::new(&system, &plant, state.clone())?;
    simulation.run(&mut DormandPrince::new(1e-6), 0.1, |_| {})?;
    let saved = simulation.save();
    let mut resumed = Simulation::resume(&system, &plant, &saved)?;
    assert_eq!(resumed.save(), saved);
    assert_eq!(resumed.state().continuous(), simulation.state().continuous());
    assert!(resumed.state().variable("muscle[0].activation")? > 0.5);
    assert_eq!(resumed.dynamics()?.body_force(hand), simulation.dynamics()?.body_force(hand));

    let mut state = simulation.state().clone();
    let values = state.continuous().to_vec();
    let (checkpoint, bytes) = (state.checkpoint(), state.to_bytes());
    state.advance_continuous(&[1.0, -0.25])?;
    assert_eq!(state.continuous(), [values[0] + 1.0, values[1] - 0.25]);
    assert_eq!(state.continuous_of(muscle).activation, values[1] - 0.25);
    system.set_variable(&mut state, "muscle[0].activation", 0.125)?;
    assert_eq!(state.continuous()[1], 0.125);
    state.return_to(&checkpoint)?;
    assert_eq!(state.continuous(), values);
    state.set_continuous(&[0.0, 0.0])?;
    state.restore_bytes(&bytes)?;
    assert_eq!(state.continuous(), values);
    assert_eq!(state.set_continuous(&[0.0]), Err(Error::TopologyMismatch));
    assert_eq!(state.set_continuous(&[0.0, f64::NAN]), Err(Error::NonFiniteEnergy));
    assert_eq!((state.continuous(), state.continuous_of(muscle).activation), (&values[..], values[1]));

    // A second one comes, the first one goes.
    let path = CablePath::new(Station::ground(Point3::origin()), Station::on(hand, Point3::origin()))
        .map_err(Error::from)?;
    let second = system.add(Muscle::new(path))?;
    system.carry_over(&mut state)?;
    assert_eq!(state.continuous(), [values[0], 0.0, values[1], 0.0]);
    state.set_continuous(&[0.0, 0.0, 0.3, 0.4])?;
    assert_eq!((state.continuous_of(muscle).activation, state.continuous_of(second).activation), (0.3, 0.4));
    system.remove(muscle)?;
    system.carry_over(&mut state)?;
    assert_eq!(state.continuous(), [0.0, 0.0, 0.4]);
    assert_eq!(state.continuous_names(), ["", "muscle[1].absorbed_energy", "muscle[1].activation"]);
    Ok(())
}

#[test]
fn a_disabled_muscle_has_no_rate_and_a_value_out_of_range_changes_nothing() -> Result<(), SimulationError> {
    let Arm { system, muscle, mut state, .. } = arm::<f64>()?;
    system.update_parameters(&mut state, muscle, |p| p.excitation = 1.0)?;
    assert_eq!(system.realize_dynamics(&mut state)?.continuous_rates(), [0.0, 20.0]);
    system.set_enabled(&mut state, muscle, false)?;
    assert_eq!(system.realize_dynamics(&mut state)?.continuous_rates(), [0.0, 0.0]);
    let refused = system.update_continuous(&mut state, muscle, |state| state.activation = f64::INFINITY);
    assert_eq!(refused.err().as_ref().and_then(Error::invalid_value).map(|v| v.name), Some("activation"));
    assert_eq!(state.continuous(), [0.0, 0.0]);
    assert!(check::finite("", state.continuous_of(muscle).activation).is_ok());
    Ok(())
}

variables! {
    /// Where a spring in series with a damper meets it.
    #[derive(Copy)]
    struct Joint<T> {
        /// Place.
        place: T ["m"], finite => Dynamics;
    }
}

/// A spring of 40 N/m in series with a damper of 5 N·s/m, whose force is not cached.
#[derive(Debug)]
struct Series(CoordinateIndex);

impl ForceElement<f64> for Series {
    const KIND: &'static str = "series";
    element_types! { Continuous = Joint<f64>; }

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_coordinate(self.0)?)
    }
    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let stretch = at.positions.coordinate(self.0) - at.continuous.place;
        forces.apply_to_coordinate(self.0, -40.0 * stretch);
    }
    fn potential_energy(&self, at: &AtDynamics<'_, f64, Self>) -> f64 {
        20.0 * (at.positions.coordinate(self.0) - at.continuous.place).powi(2)
    }
    fn calc_rates(&self, at: &AtDynamics<'_, f64, Self>, rates: &mut Joint<f64>) -> Result<(), ElementError> {
        rates.place = 8.0 * (at.positions.coordinate(self.0) - at.continuous.place);
        Ok(())
    }
}

/// The forces that symplectic Euler holds are those of the elements' own states at the start.
#[test]
fn the_work_of_held_forces_is_that_of_the_states_at_the_start() -> Result<(), SimulationError> {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros())?;
    let slider = plant.add_coordinate(&mut system, 1.5)?;
    system.add(Series(slider))?;
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1.0)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    let before = simulation.work_balance();
    simulation.run(&mut SemiImplicitEuler::new(1e-2), 2.0, |_| {})?;
    assert!(simulation.kinetic_energy() < 0.5 * before);
    assert_relative_eq!(simulation.work_balance(), before, epsilon = 1e-12);
    Ok(())
}
