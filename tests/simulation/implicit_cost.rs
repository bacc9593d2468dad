//! The cost of implicit steps, in evaluations of all forces.
#![allow(non_snake_case, reason = "monogram notation")]

use force_elements::nalgebra::{Matrix3, Point3, Vector3, Vector6};
use force_elements::simulation::{Implicit, Integrator, Plant, RigidBody, Saved, Simulation, Statistics};
use force_elements::{
    BodyIndex, ForceSystem, Frame, LinearBushing, Pose, SpatialVelocity, State, linear_bushing,
};

/// Five bodies that hang under each other on damped bushings, swinging.
fn chain() -> (ForceSystem<f64>, Plant<f64>, State<f64>) {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.022, 0.024, 0.006));
    let mut parent = BodyIndex::GROUND;
    let mut start = Vec::new();
    for i in 0..5 {
        let body = RigidBody::new(1.0, Point3::new(0.02, -0.01, -0.03), inertia).expect("positive definite");
        let body = plant.add_body(&mut system, body);
        let bushing = LinearBushing::new(
            Frame::on(parent, Pose::translation(0.0, 0.0, if i == 0 { 0.0 } else { -0.25 })),
            Frame::on(body, Pose::translation(0.0, 0.0, 0.25)),
            linear_bushing::Parameters {
                stiffness: Vector6::new(2.0, 2.0, 2.0, 3e3, 3e3, 3e3),
                damping: Vector6::new(0.03, 0.03, 0.03, 3.0, 3.0, 3.0),
            },
        );
        system.add(bushing.expect("valid")).expect("exists");
        let z = -0.25 - 0.5 * f64::from(i);
        start.push((body, Pose::translation(0.0, 0.0, z), Vector3::new(-z, 0.3 * z, 0.0)));
        parent = body;
    }
    let mut state = system.default_state();
    for (body, X_GB, v_GB) in start {
        state.set_body(body, X_GB, SpatialVelocity::new(Vector3::new(0.3, 1.0, 0.5), v_GB)).expect("finite");
    }
    (system, plant, state)
}

const STEPS: usize = 200;

/// Takes the steps, with one integrator or with a new one for each; returns the end, and the cost.
fn run<I: Integrator<f64>>(make: impl Fn() -> I, is_kept: bool) -> (Saved<f64>, Statistics) {
    let (system, plant, state) = chain();
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut integrator = make();
    for _ in 0..STEPS {
        integrator.step(&mut simulation, 10.0).expect("steps");
        if !is_kept {
            integrator = make();
        }
    }
    (simulation.save(), simulation.statistics())
}

/// The evaluations per step with a kept Jacobian are at most `most`; the motion is that with one for each step.
fn keeps<I: Integrator<f64>>(make: impl Fn() -> I, most: usize) {
    let (kept, cost) = run(&make, true);
    let (renewed, full_cost) = run(&make, false);
    assert_eq!((cost.steps, cost.rejected), (STEPS, 0));
    assert!(cost.evaluations <= most * STEPS, "{} evaluations in {STEPS} steps", cost.evaluations);
    // 30 unknowns: by differences a Jacobian for each step would cost as many evaluations.
    assert!(full_cost.evaluations <= most * STEPS, "{} evaluations", full_cost.evaluations);
    assert!(cost.linearizations <= STEPS / 10, "{} linearizations in {STEPS} steps", cost.linearizations);
    assert!(full_cost.linearizations >= STEPS, "{} linearizations", full_cost.linearizations);
    for (kept, renewed) in kept.motion.iter().zip(&renewed.motion) {
        // Velocities are solved to 1e-12 in each of 200 steps, and the motion is not chaotic.
        assert!((kept - renewed).abs() < 1e-9, "{kept} and {renewed}");
    }
}

#[test]
fn a_jacobian_is_kept_while_steps_keep_their_length() {
    // Measured: 6.0, and 6.0 with a Jacobian for each step; by differences 6.1 and 35.0.
    keeps(|| Implicit::trapezoidal(1e-3), 7);
    // Two stages: 9.0 and 9.0; by differences 9.2 and 38.0.
    keeps(|| Implicit::tr_bdf2(1e-3), 11);
}
