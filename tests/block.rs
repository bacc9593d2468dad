//! A block on eight exponential springs: energy, stiction, sliding, and where stiction ends.

use force_elements::exponential_spring::{FrictionTransition, Parameters};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::simulation::{DormandPrince, Integrator, SemiImplicitEuler, Simulation};
use force_elements::{Error, SpatialVelocity, Transform};

#[path = "../examples/scenes/block.rs"]
mod block;

use block::{Block, Contact, GRAVITY, HALF_SIDE, MASS, Setting, cube_inertia};

/// A cube with a spring at each corner on a plane.
fn block(X_GP: Transform<f64>, parameters: Parameters<f64>, mu_static: f64, mu_kinetic: f64) -> Block {
    let inertia = cube_inertia();
    let setting = Setting { inertia, X_GP, mu_static, mu_kinetic, ..Setting::default() };
    Block::new(setting, Contact::Springs(parameters)).expect("valid")
}

fn thrown() -> (Transform<f64>, SpatialVelocity<f64>) {
    let pose =
        Transform::from_parts(Translation3::new(0.0, 0.0, 0.4), Rotation3::from_euler_angles(0.1, 0.3, 0.2));
    (pose, SpatialVelocity::new(Vector3::new(0.5, 2.0, 1.0), Vector3::new(2.0, 0.5, 0.0)))
}

#[test]
fn without_friction_and_damping_a_bouncing_block_keeps_its_energy() {
    let parameters = Parameters::default().with_normal_viscosity(0.0);
    let block = block(Transform::identity(), parameters, 0.0, 0.0);
    let (pose, velocity) = thrown();
    let mut simulation = block.start(pose, velocity, 1.0).expect("regular");
    let accuracy = 1e-9;
    let energy = |simulation: &mut Simulation<'_, f64>| {
        let stored = simulation.dynamics().expect("regular").potential_energy();
        simulation.kinetic_energy() + simulation.gravitational_energy() + stored
    };
    let before = energy(&mut simulation);
    let (mut worst, mut highest_force) = (0.0_f64, 0.0_f64);
    let mut observe = |simulation: &mut Simulation<'_, f64>| {
        worst = worst.max((energy(simulation) - before).abs());
        let force = simulation.dynamics().expect("regular").body_force(block.body).force.z;
        highest_force = highest_force.max(force);
    };
    simulation.run(&mut DormandPrince::new(accuracy), 10.0, &mut observe).expect("runs");
    assert!(highest_force > 50.0 * MASS * GRAVITY, "it has not bounced: {highest_force} N");
    // Each step may be off by the accuracy times one plus the variable, in velocities of up to 4 m/s
    // of 10 kg: 10·4·5·1e-9 J.
    let steps = u32::try_from(simulation.statistics().steps).expect("not that many");
    let allowed = f64::from(steps) * 2e-7;
    assert!(worst < allowed, "{worst} J of {before} J, {allowed} J allowed");
    assert!(worst < 1e-5 * before, "{worst} J of {before} J");
}

#[test]
fn a_thrown_block_has_lost_at_rest_what_it_had_above_its_resting_height() {
    let block = block(Transform::identity(), Parameters::default(), 0.7, 0.5);
    let (pose, velocity) = thrown();
    let mut simulation = block.start(pose, velocity, 1.0).expect("regular");
    let mechanical = simulation.kinetic_energy() + simulation.gravitational_energy();
    simulation.run(&mut DormandPrince::new(1e-8), 10.0, |_| {}).expect("runs");
    let lost = simulation.dynamics().expect("regular").total_dissipated_energy().expect("open");
    // To the millimetre it still rocks by.
    let had = mechanical - MASS * GRAVITY * (HALF_SIDE + 0.005);
    assert!(had > 40.0 && (lost - had).abs() < 0.1, "{lost} J lost of {had} J");
}

const SLOPE: f64 = 15.0;

/// A slope about y: down is along x of the plane.
fn slope() -> Transform<f64> {
    let turn = Rotation3::from_axis_angle(&Vector3::y_axis(), SLOPE.to_radians());
    Transform::from_parts(Translation3::identity(), turn)
}

#[test]
fn held_on_a_slope_a_block_does_not_creep() {
    let parameters = Parameters::default().with_critical_damping(20_000.0, MASS);
    let block = block(slope(), parameters, 0.7, 0.7);
    let mut simulation = block.start(block.resting_pose(), SpatialVelocity::zero(), 0.0).expect("regular");
    let mut integrator = DormandPrince::new(1e-7);
    simulation.run(&mut integrator, 2.0, |_| {}).expect("runs");
    let anchors = |simulation: &Simulation<'_, f64>| -> Vec<_> {
        block.springs[..4].iter().map(|&s| simulation.state().discrete(s).anchor_P).collect()
    };
    let (at_2, anchors_at_2) = (block.position(&simulation), anchors(&simulation));
    simulation.run(&mut integrator, 12.0, |_| {}).expect("runs");
    let creep = (block.position(&simulation) - at_2).norm();
    assert!(creep < 1e-6, "{creep} m");
    assert_eq!(anchors(&simulation), anchors_at_2, "the anchors of the loaded corners hold");
    let load: f64 = {
        let view = simulation.dynamics().expect("regular");
        block.springs.iter().map(|&s| view.of(s).dynamics.friction_force_elastic_P.norm()).sum()
    };
    let weight_along = MASS * GRAVITY * SLOPE.to_radians().sin();
    assert!((load - weight_along).abs() < 1e-3 * weight_along, "the springs carry {load} N");
}

#[test]
fn on_a_slippery_slope_a_block_slides_as_coulomb_says() {
    let block = block(slope(), Parameters::default(), 0.1, 0.1);
    let mut simulation = block.start(block.resting_pose(), SpatialVelocity::zero(), 1.0).expect("regular");
    let mut integrator = DormandPrince::new(1e-6);
    simulation.run(&mut integrator, 0.5, |_| {}).expect("runs");
    let before = block.velocity(&simulation).norm();
    simulation.run(&mut integrator, 1.5, |_| {}).expect("runs");
    let acceleration = block.velocity(&simulation).norm() - before;
    let angle = SLOPE.to_radians();
    let expected = GRAVITY * (angle.sin() - 0.1 * angle.cos());
    assert!((acceleration / expected - 1.0).abs() < 0.01, "{acceleration} m/s² for {expected} m/s²");
}

/// The velocity after 3 s under a steady push, from this speed and the default start; and the speed
/// at which viscous friction balances the push.
fn creep_under(
    parameters: Parameters<f64>,
    mu_kinetic: f64,
    load: f64,
    speed: f64,
    integrator: &mut impl Integrator<f64>,
) -> (f64, f64) {
    let mut block = block(Transform::identity(), parameters, 0.7, mu_kinetic);
    block.push(load).expect("finite");
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
    let mut simulation = block.default_start(block.resting_pose(), velocity).expect("regular");
    simulation.run(integrator, 3.0, |_| {}).expect("runs");
    (block.velocity(&simulation).x, load / (4.0 * parameters.friction_viscosity))
}

#[test]
fn a_block_that_comes_sliding_creeps_for_ever_if_its_viscous_slip_exceeds_the_settle_velocity() {
    let settle_velocity = Parameters::<f64>::default().settle_velocity;
    // 17 N is a quarter of what static friction could hold, and yet: 17 N / (4·282.8 N·s/m).
    let (speed, viscous) = creep_under(Parameters::default(), 0.5, 17.0, 0.05, &mut DormandPrince::new(1e-7));
    assert!(viscous > settle_velocity);
    // What is left of the vibration of the impact after 3 s.
    assert!((speed - viscous).abs() < 1e-6, "{speed} m/s, {viscous} m/s expected");
    assert!((speed - 0.015_026).abs() < 2e-6, "{speed} m/s");
    // Below the settle velocity it sticks.
    let (speed, viscous) = creep_under(Parameters::default(), 0.5, 9.0, 0.05, &mut DormandPrince::new(1e-7));
    assert!(viscous < settle_velocity);
    assert!(speed.abs() < 1e-6, "{speed} m/s");
}

#[test]
fn whether_a_block_pushed_from_rest_at_sliding_1_sticks_depends_on_the_step() {
    let (speed, viscous) =
        creep_under(Parameters::default(), 0.5, 17.0, 0.0, &mut SemiImplicitEuler::new(1e-3));
    assert!((speed - viscous).abs() < 1e-6, "{speed} m/s, {viscous} m/s expected");
    let (speed, _) = creep_under(Parameters::default(), 0.5, 17.0, 0.0, &mut DormandPrince::new(1e-7));
    assert!(speed.abs() < 1e-6, "{speed} m/s");
}

fn return_mapping() -> Parameters<f64> {
    Parameters::default().with_friction_transition(FrictionTransition::ReturnMapping)
}

#[test]
fn with_return_mapping_only_a_load_above_kinetic_friction_keeps_a_sliding_block_going() {
    let limit = 0.7 * MASS * GRAVITY;
    let speed_after =
        |share: f64| creep_under(return_mapping(), 0.5, share * limit, 0.1, &mut DormandPrince::new(1e-7)).0;
    let speed = speed_after(0.9);
    let expected = 0.1 + (0.9 * 0.7 - 0.5) * GRAVITY * 3.0;
    assert!((speed / expected - 1.0).abs() < 0.01, "{speed} m/s for {expected} m/s");
    // What is left of the vibration of the stop after 3 s.
    assert!(speed_after(0.6).abs() < 1e-6);
}

#[test]
fn return_mapping_does_not_depend_on_the_step() {
    // A commit at the same place moves nothing.
    let block = block(Transform::identity(), return_mapping(), 0.7, 0.5);
    let mut state = block.system.default_state();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.03, 0.01, 0.0));
    state.set_body(block.body, block.resting_pose(), velocity).expect("finite");
    let forces: Vec<_> = (0..5)
        .map(|_| {
            let force = block.system.realize_dynamics(&mut state).expect("regular").body_force(block.body);
            block.system.accept_step(&mut state).expect("realized");
            force
        })
        .collect();
    for force in &forces {
        // The anchor is put where the elastic force comes from, and read back: rounding.
        assert!((force.force - forces[0].force).norm() < 1e-10 * forces[0].force.norm());
    }
    // Where it stops after sliding does not change with the step.
    let stop = |step: f64| {
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(1.0, 0.0, 0.0));
        let mut simulation = block.start(block.resting_pose(), velocity, 1.0).expect("regular");
        simulation.run(&mut SemiImplicitEuler::new(step), 0.5, |_| {}).expect("runs");
        block.position(&simulation).x
    };
    // The integrator is of order one: 1 m/s times the step.
    assert!((stop(2e-4) - stop(5e-5)).abs() < 2e-4, "{} {}", stop(2e-4), stop(5e-5));
}

#[test]
fn coefficients_of_friction_can_be_written_by_name_in_any_order() {
    let block = block(Transform::identity(), Parameters::default(), 0.7, 0.5);
    let system = &block.system;
    let mut state = system.default_state();
    let name = |field: &str| format!("exponential_spring[3].{field}");
    for (mu_static, mu_kinetic) in [(0.2, 0.1), (1.4, 0.9), (0.0, 0.0), (0.9, 0.9)] {
        for order in [[0, 1], [1, 0]] {
            let values = [("mu_static", mu_static), ("mu_kinetic", mu_kinetic)];
            for (field, value) in order.map(|i| values[i]) {
                system.set_variable(&mut state, &name(field), value).expect("coupled");
            }
            for (field, value) in values {
                assert_eq!(state.variable(&name(field)), Ok(value), "{field}, {order:?}");
            }
        }
    }
    // A refusal takes the other back along.
    let before = state.snapshot();
    for (field, value) in [("mu_static", -0.1), ("mu_kinetic", f64::NAN), ("mu_kinetic", f64::INFINITY)] {
        let refused = system.set_variable(&mut state, &name(field), value);
        assert!(matches!(refused, Err(Error::InvalidValue { .. })), "{refused:?}");
        assert_eq!(state.snapshot(), before);
    }
}
