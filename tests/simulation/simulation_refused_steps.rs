//! Steps that an element refuses: no trace of them is left.

use force_elements::custom_force::{Loads, Motion};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::{
    AtDynamics, CoordinateIndex, CustomForce, ElementError, Error, ExponentialSpring, ForceAccumulator,
    ForceElement, ForceSystem, Frame, Pose, Progress, SpatialVelocity, State, Station, Topology, check,
    exponential_spring, variables,
};

/// A spring on a coordinate that remembers where it was at the last commit, and commits no jump farther than its reach.
#[derive(Debug)]
struct Tracker {
    coordinate: CoordinateIndex,
    reach: f64,
    is_restless: bool,
}

variables! {
    /// Where its body was.
    struct Place<T> {
        /// Along x.
        place: T ["m"], finite;
    }
}

impl ForceElement<f64> for Tracker {
    const KIND: &'static str = "tracker";
    type Parameters = ();
    type Discrete = Place<f64>;
    type Continuous = ();
    type Position = ();
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_coordinate(self.coordinate)?)
    }
    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let pull = if self.is_restless { at.discrete.place } else { 0.0 };
        forces.apply_to_coordinate(self.coordinate, pull - at.positions.coordinate(self.coordinate));
    }
    fn potential_energy(&self, at: &AtDynamics<'_, f64, Self>) -> f64 {
        0.5 * at.positions.coordinate(self.coordinate).powi(2)
    }
    fn power_dissipated(&self, _: &AtDynamics<'_, f64, Self>) -> f64 {
        0.0
    }
    fn accept_step(&self, at: &AtDynamics<'_, f64, Self>, next: &mut Place<f64>) -> Result<(), ElementError> {
        let q = at.positions.coordinate(self.coordinate);
        check::at_most("jump", (q - next.place).abs(), "reach", self.reach)?;
        next.place = q;
        Ok(())
    }
    fn discontinuous_update(
        &self,
        _: &AtDynamics<'_, f64, Self>,
        _: &Place<f64>,
        next: &mut Place<f64>,
    ) -> Result<f64, ElementError> {
        if self.is_restless {
            next.place += 1.0;
        }
        Ok(f64::from(u8::from(self.is_restless)))
    }
}

fn tracked(reach: f64, is_restless: bool) -> (ForceSystem<f64>, Plant<f64>, State<f64>) {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let coordinate = plant.add_coordinate(&mut system, 1.0).expect("positive");
    system.add(Tracker { coordinate, reach, is_restless }).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(coordinate, 1.0).expect("finite");
    (system, plant, state)
}

#[test]
fn a_trial_that_does_not_settle_leaves_no_trace() {
    let (system, plant, state) = tracked(f64::INFINITY, true);
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut integrator = SemiImplicitEuler::new(1e-3);
    integrator.step(&mut simulation, 10.0).expect("steps");
    let before = simulation.save();
    let refused = Implicit::trapezoidal(1e-3).step(&mut simulation, 10.0);
    assert!(matches!(refused, Err(SimulationError::StepNotSettled { force_error: 1.0, .. })), "{refused:?}");
    assert!(simulation.statistics().rejected > 10);
    assert_eq!(simulation.save(), before);
    // And it goes on as though nothing had been tried.
    integrator.step(&mut simulation, 10.0).expect("steps");
    let mut untried = Simulation::resume(&system, &plant, &before).expect("own system");
    integrator.step(&mut untried, 10.0).expect("steps");
    assert_eq!(simulation.save(), untried.save());
}

#[test]
fn a_step_whose_commit_is_refused_is_tried_shorter() {
    let reach = 1e-4;
    let (system, plant, state) = tracked(reach, false);
    let swings = |integrator: &mut dyn Integrator<f64>| {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        while simulation.time() < 1.0 {
            integrator.step(&mut simulation, 1.0).expect("shorter steps reach");
        }
        assert!(simulation.statistics().rejected > 0);
        let q = simulation.state().positions().coordinates()[0];
        // Ten thousand steps, each to 1e-6 at most.
        assert!((q - 1.0_f64.sin()).abs() < 1e-4, "{q}");
        assert_eq!(simulation.state().variable("tracker[0].place"), Ok(q));
    };
    swings(&mut DormandPrince::new(1e-6));
    swings(&mut Implicit::trapezoidal(1e-2));
    swings(&mut Implicit::trapezoidal(1e-2).with_accuracy(1e-6));
    swings(&mut Implicit::tr_bdf2(1e-2));
}

#[test]
fn a_step_whose_commit_is_refused_however_short_leaves_no_trace() {
    let (system, plant, state) = tracked(0.0, false);
    let refuses = |integrator: &mut dyn Integrator<f64>| {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        let before = simulation.save();
        let refused = integrator.step(&mut simulation, 1.0).expect_err("beyond its reach");
        let jump = refused.forces().and_then(Error::invalid_value);
        assert_eq!(jump.map(|v| v.name), Some("jump"), "{refused:?}");
        assert_eq!(simulation.save(), before);
        assert_eq!(simulation.statistics().steps, 0);
        assert_eq!(simulation.state().velocities().coordinates(), [1.0]);
        assert_eq!(simulation.state().progress(), Progress::Evaluated);
        // Memory that is committed where the motion is closes no account.
        let commit = |state: &mut State<f64>| {
            system.realize_dynamics(state)?;
            system.accept_step(state)
        };
        simulation.update_state(|_| Ok(())).expect("nothing to refuse");
        simulation.update_state(commit).expect("no jump");
        assert_eq!(simulation.dynamics().expect("finite").dissipated_energy(), Some(0.0));
        assert!(integrator.step(&mut simulation, 1.0).is_err());
        simulation.update_state(commit).expect("no jump");
        assert_eq!(simulation.dynamics().expect("finite").dissipated_energy(), Some(0.0));
    };
    refuses(&mut SemiImplicitEuler::new(1e-3));
    refuses(&mut DormandPrince::new(1e-6));
    refuses(&mut Implicit::trapezoidal(1e-2));
    refuses(&mut Implicit::trapezoidal(1e-2).with_accuracy(1e-6));
    refuses(&mut Implicit::tr_bdf2(1e-2));
}

/// An element whose force error stays, since no update changes its memory.
#[test]
fn an_error_that_no_update_removes_is_an_event() {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 0.1).expect("positive"));
    let parameters = exponential_spring::Parameters::default();
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    );
    system.add(spring.expect("valid")).expect("exists");
    let mut state = system.default_state();
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(1e-3, 0.0, 0.0));
    state.set_body(body, Pose::translation(0.01, 0.0, 0.0), V).expect("finite");
    // It has not been told where it is.
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut integrator = Implicit::tr_bdf2(1e-3).with_accuracy(1e-4).with_least_step(1e-5);
    simulation.run(&mut integrator, 0.05, |_| {}).expect("runs");
    let statistics = simulation.statistics();
    assert!(statistics.rejected < 10 && statistics.steps < 200, "{statistics:?}");
}

/// A force that is known at the start only.
#[test]
fn a_step_of_which_no_trial_can_be_evaluated_leaves_the_motion_where_it_was() {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let law = move |motion: &Motion<'_, f64>, loads: &mut Loads<f64>| {
        loads.apply_to_coordinate(slider, if motion.coordinate(slider) > 0.0 { f64::NAN } else { 0.0 });
        0.0
    };
    system.add(CustomForce::new(law)).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1.0).expect("finite");
    let refuses = |integrator: &mut dyn Integrator<f64>| {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        assert!(integrator.step(&mut simulation, 1.0).is_err());
        assert_eq!(simulation.state().progress(), Progress::Evaluated);
        let commit = |state: &mut State<f64>| {
            system.realize_dynamics(state)?;
            system.accept_step(state)
        };
        simulation.update_state(commit).expect("at the start");
        assert_eq!(simulation.dynamics().expect("finite").dissipated_energy(), Some(0.0));
    };
    refuses(&mut DormandPrince::new(1e-6));
    refuses(&mut Implicit::trapezoidal(1e-2));
    refuses(&mut Implicit::tr_bdf2(1e-2).with_accuracy(1e-6));
}
