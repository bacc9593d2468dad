//! A block on eight exponential springs: energy, stiction, sliding, and where stiction ends.

use force_elements::exponential_spring::{Discrete, Parameters};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::simulation::{DormandPrince, Integrator, SemiImplicitEuler, Simulation};
use force_elements::{Error, ExponentialSpring, ForceSystem, Frame, Pose, SpatialVelocity, Station};

use force_elements_scenes::block::{Block, Contact, GRAVITY, HALF_SIDE, MASS, Setting, cube_inertia};
use force_elements_scenes::one_in;

/// A cube with a spring at each corner on a plane.
fn block(X_GP: Pose<f64>, parameters: Parameters<f64>, mu_static: f64, mu_kinetic: f64) -> Block {
    let inertia = cube_inertia();
    let setting = Setting { inertia, X_GP, mu_static, mu_kinetic, ..Setting::default() };
    Block::new(setting, Contact::Springs(parameters)).expect("valid")
}

fn thrown() -> (Pose<f64>, SpatialVelocity<f64>) {
    let pose =
        Pose::from_parts(Translation3::new(0.0, 0.0, 0.4), Rotation3::from_euler_angles(0.1, 0.3, 0.2));
    (pose, SpatialVelocity::new(Vector3::new(0.5, 2.0, 1.0), Vector3::new(2.0, 0.5, 0.0)))
}

#[test]
fn without_friction_and_damping_a_bouncing_block_keeps_its_energy() {
    let parameters = Parameters { normal_viscosity: 0.0, ..Parameters::default() };
    let block = block(Pose::identity(), parameters, 0.0, 0.0);
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
    // Each step may be off by at most the accuracy times one plus the variable, in velocities of up to 4 m/s
    // of 10 kg: 10·4·5·1e-9 J.
    let steps = u32::try_from(simulation.statistics().steps).expect("not that many");
    let allowed = f64::from(steps) * 2e-7;
    assert!(worst < allowed, "{worst} J of {before} J, {allowed} J allowed");
    assert!(worst < 1e-5 * before, "{worst} J of {before} J");
}

#[test]
fn a_thrown_block_has_lost_at_rest_what_it_had_above_its_resting_height() {
    let block = block(Pose::identity(), Parameters::default(), 0.7, 0.5);
    let (pose, velocity) = thrown();
    let mut simulation = block.start(pose, velocity, 1.0).expect("regular");
    let mechanical = simulation.kinetic_energy() + simulation.gravitational_energy();
    simulation.run(&mut DormandPrince::new(1e-8), 10.0, |_| {}).expect("runs");
    let lost = simulation.dynamics().expect("regular").dissipated_energy().expect("open");
    // To the millimetre it still rocks by.
    let had = mechanical - MASS * GRAVITY * (HALF_SIDE + 0.005);
    assert!(had > 40.0 && (lost - had).abs() < 0.1, "{lost} J lost of {had} J");
}

const SLOPE: f64 = 15.0;

/// A slope about y: down is along x of the plane.
fn slope() -> Pose<f64> {
    let turn = Rotation3::from_axis_angle(&Vector3::y_axis(), SLOPE.to_radians());
    Pose::from_parts(Translation3::identity(), turn)
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
    let mut block = block(Pose::identity(), parameters, 0.7, mu_kinetic);
    block.push(load).expect("finite");
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
    let mut simulation = block.default_start(block.resting_pose(), velocity).expect("regular");
    simulation.run(integrator, 3.0, |_| {}).expect("runs");
    (block.velocity(&simulation).x, load / (4.0 * parameters.friction_viscosity))
}

fn settling() -> Parameters<f64> {
    Parameters { settling: true, ..Parameters::default() }
}

#[test]
fn a_settling_block_that_comes_sliding_creeps_for_ever_if_its_viscous_slip_exceeds_the_settle_velocity() {
    let settle_velocity = Parameters::<f64>::default().settle_velocity;
    let creep_under = |load: f64| creep_under(settling(), 0.5, load, 0.05, &mut DormandPrince::new(1e-7));
    // 17 N is a quarter of what static friction could hold, and yet: 17 N / (4·282.8 N·s/m).
    let (speed, viscous) = creep_under(17.0);
    assert!(viscous > settle_velocity);
    // What is left of the vibration of the impact after 3 s.
    assert!((speed - viscous).abs() < 1e-6, "{speed} m/s, {viscous} m/s expected");
    assert!((speed - 0.015_026).abs() < 2e-6, "{speed} m/s");
    // Below the settle velocity it sticks.
    let (speed, viscous) = creep_under(9.0);
    assert!(viscous < settle_velocity);
    assert!(speed.abs() < 1e-6, "{speed} m/s");
}

#[test]
fn whether_a_settling_block_pushed_from_rest_at_sliding_1_sticks_depends_on_the_step() {
    let (speed, viscous) = creep_under(settling(), 0.5, 17.0, 0.0, &mut SemiImplicitEuler::new(1e-3));
    assert!((speed - viscous).abs() < 1e-6, "{speed} m/s, {viscous} m/s expected");
    let (speed, _) = creep_under(settling(), 0.5, 17.0, 0.0, &mut DormandPrince::new(1e-7));
    assert!(speed.abs() < 1e-6, "{speed} m/s");
}

fn return_mapping() -> Parameters<f64> {
    Parameters::default()
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
fn with_return_mapping_a_second_evaluation_at_the_same_place_moves_nothing() {
    let block = block(Pose::identity(), return_mapping(), 0.7, 0.5);
    for speed in [0.003, 0.03, 3.0] {
        let mut state = block.system.default_state();
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, speed / 3.0, 0.0));
        state.set_body(block.body, block.resting_pose(), velocity).expect("finite");
        let mut forces = Vec::new();
        for step in 0..5 {
            state.set_time(f64::from(step)).expect("finite");
            let view = block.system.realize_dynamics(&mut state).expect("regular");
            forces.push(view.body_force(block.body).force);
            block.system.accept_step(&mut state).expect("realized");
        }
        for force in &forces {
            // The anchor is put where the elastic force comes from, and read back: rounding.
            assert!((force - forces[0]).norm() < 1e-10 * forces[0].norm(), "{force} {}", forces[0]);
        }
    }
}

/// Where a block ends that is pushed along x and slides along y, in steps of this length of a method of order five.
fn stop(friction_viscosity: f64, mu: f64, integrator: &mut DormandPrince<f64>) -> Vector3<f64> {
    let parameters = Parameters { friction_viscosity, ..return_mapping() };
    let mut block = block(Pose::identity(), parameters, mu, mu);
    block.push(20.0).expect("finite");
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.5, 0.0));
    let mut simulation = block.start(block.resting_pose(), velocity, 1.0).expect("regular");
    simulation.run(integrator, 0.4, |_| {}).expect("runs");
    block.position(&simulation)
}

#[test]
fn with_return_mapping_the_path_of_a_block_that_slides_round_a_curve_is_of_second_order_in_the_step() {
    // The default, and so little that it is the friction springs that make up the limit.
    for viscosity in [282.8, 20.0] {
        // Of order five, and every step the longest: what is of second order is not the integrator.
        let stop = |step: f64| stop(viscosity, 0.5, &mut DormandPrince::new(1e-2).with_max_step(step));
        let exact = stop(2e-5);
        assert!(exact.xy().norm() > 0.01, "it has slid: {exact}");
        let [long, short] = [4e-3, 2.5e-4].map(|step| (stop(step) - exact).norm());
        // Of a step a sixteenth as long: a sixteenth of an error of first order, 1/256 of one of second order, give or
        // take where in a step slip begins and ends.
        assert!(short < long / 64.0, "{viscosity}: {long} m, {short} m");
    }
}

#[test]
fn with_return_mapping_error_control_finds_the_place_where_a_block_stops() {
    for viscosity in [282.8, 20.0, 0.0] {
        let exact = stop(viscosity, 0.5, &mut DormandPrince::new(1e-9).with_max_step(2e-5));
        let errors = [1e-4, 1e-6, 1e-8]
            .map(|accuracy| (stop(viscosity, 0.5, &mut DormandPrince::new(accuracy)) - exact).norm());
        assert!(errors[1] < 5e-5 && errors[2] < 2e-5, "{viscosity}: {errors:?}");
    }
}

#[test]
fn a_load_that_the_friction_springs_already_carry_is_held_up_to_static_friction() {
    for settling in [true, false] {
        let parameters = Parameters { settling, ..Parameters::default() };
        let mut block = block(Pose::identity(), parameters, 0.7, 0.5);
        // The push acts 3 mm below the corners, which shifts a few per cent of the load to those in front.
        let load = 0.93 * 0.7 * MASS * GRAVITY;
        block.push(load).expect("finite");
        let mut state = block.system.default_state();
        state.set_body(block.body, block.resting_pose(), SpatialVelocity::zero()).expect("finite");
        for (i, &spring) in block.springs.iter().enumerate() {
            block.system.reset_memory(&mut state, spring).expect("regular");
            let drawn_out = if i < 4 { load / 4.0 / parameters.friction_elasticity } else { 0.0 };
            let draw_out = |discrete: &mut Discrete<f64>| {
                discrete.anchor_P.x -= drawn_out;
                discrete.sliding = 0.0;
            };
            block.system.update_discrete(&mut state, spring, draw_out).expect("valid");
        }
        let mut simulation = Simulation::new(&block.system, &block.plant, state).expect("regular");
        let anchors = |simulation: &Simulation<'_, f64>| -> Vec<_> {
            block.springs[..4].iter().map(|&s| simulation.state().discrete(s).anchor_P).collect()
        };
        let before = anchors(&simulation);
        simulation.run(&mut DormandPrince::new(1e-7), 3.0, |_| {}).expect("runs");
        for (anchor, before) in anchors(&simulation).into_iter().zip(before) {
            // Read back where the elastic force comes from, each time: rounding.
            assert!((anchor - before).norm() < 1e-14, "settling {settling}: {anchor} {before}");
        }
        // It leans into the push, by the load that is shifted over the stiffness: 1 N / (1150/m · 24 N).
        let moved = (block.position(&simulation) - block.resting_pose().translation.vector).norm();
        assert!(moved < 4e-5, "settling {settling}: {moved} m");
    }
}

#[test]
fn with_return_mapping_a_station_that_slides_straight_on_has_kinetic_friction() {
    let (mu_static, mu_kinetic) = (0.7, 0.5);
    for (viscosity, elasticity) in [(0.0, 2e4), (282.8, 2e4), (20.0, 1e3), (1e5, 1e5)] {
        let parameters = Parameters {
            friction_viscosity: viscosity,
            friction_elasticity: elasticity,
            mu_static,
            mu_kinetic,
            ..return_mapping()
        };
        let mut system = ForceSystem::<f64>::new();
        let body = system.add_body();
        let spring = ExponentialSpring::new(
            Frame::ground(Pose::identity()),
            Station::on(body, Point3::origin()),
            parameters,
        )
        .expect("valid");
        let spring = system.add(spring).expect("exists");
        let weight = parameters.resting_height(25.0).expect("in range");
        for speed in [1.001 * parameters.settle_velocity, 0.05, 2.0] {
            // Drawn out the other way, as far as friction at rest lets it be.
            let stretch = mu_static * 25.0 / elasticity;
            let far = stretch + mu_kinetic * 25.0 / elasticity;
            let mut state = system.default_state();
            for step in 0..=50 {
                let x = far * f64::from(step) / 50.0;
                let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
                state.set_time(x / speed).expect("finite");
                state.set_body(body, Pose::translation(x, 0.0, weight), velocity).expect("finite");
                if step == 0 {
                    system.reset_memory(&mut state, spring).expect("regular");
                    let draw_out = |discrete: &mut Discrete<f64>| discrete.anchor_P.x += stretch;
                    system.update_discrete(&mut state, spring, draw_out).expect("valid");
                }
                let at = *system.realize_dynamics(&mut state).expect("regular").of(spring).dynamics;
                assert_eq!(at.mu, mu_kinetic);
                let most = mu_kinetic * at.normal_force;
                assert!(at.friction_force_P.norm() <= most * (1.0 + 1e-12));
                if step == 50 {
                    // The limit, but for the rounding of a root.
                    assert!((at.friction_force_P.x / -most - 1.0).abs() < 1e-12, "{at:?}");
                }
                system.accept_step(&mut state).expect("realized");
            }
        }
    }
}

#[test]
fn with_return_mapping_a_station_drawn_far_more_slowly_than_the_settle_velocity_has_static_friction() {
    let parameters = return_mapping();
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    )
    .expect("valid");
    let spring = system.add(spring).expect("exists");
    let height = parameters.resting_height(25.0).expect("in range");
    let (mut state, speed) = (system.default_state(), 0.01 * parameters.settle_velocity);
    let mut most = 0.0_f64;
    for step in 0..100 {
        let x = 2e-5 * f64::from(step);
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0));
        state.set_time(x / speed).expect("finite");
        state.set_body(body, Pose::translation(x, 0.0, height), velocity).expect("finite");
        let view = system.realize_dynamics(&mut state).expect("regular");
        most = most.max(view.of(spring).dynamics.friction_force_P.norm());
        system.accept_step(&mut state).expect("realized");
    }
    // Sliding is 10·(1/100)³, and takes that share of 0.2 away.
    assert!((most / (0.7 * 25.0) - 1.0).abs() < 1e-5, "{most} N");
}

#[test]
fn what_dragging_an_anchor_costs_is_given_back_if_the_station_turns_around_within_the_step() {
    let block = block(Pose::identity(), return_mapping(), 0.7, 0.7);
    let mut state = block.system.default_state();
    let mut at = |x: f64, commit: bool, time: f64| {
        let pose = Pose::translation(x, 0.0, 0.0) * block.resting_pose();
        state.set_time(time).expect("finite");
        state.set_pose(block.body, pose).expect("finite");
        for &spring in block.springs.iter().filter(|_| time == 0.0) {
            block.system.reset_memory(&mut state, spring).expect("regular");
        }
        let view = block.system.realize_dynamics(&mut state).expect("regular");
        let seen = (view.body_force(block.body).force.x, view.potential_energy());
        if commit {
            block.system.accept_step(&mut state).expect("realized");
        }
        seen
    };
    at(0.0, true, 0.0);
    // Both beyond the millimetre at which the springs are drawn out to the limit.
    let (there, back) = (at(3e-3, false, 1.0), at(2e-3, false, 1.0));
    assert!(there.0 < -68.0 && (there.0 - back.0).abs() < 1e-9, "{} N, {} N", there.0, back.0);
    assert!((there.1 - back.1).abs() < 1e-12, "{} J, {} J", there.1, back.1);
    // Once committed it costs on the way back too, as soon as the springs have turned around.
    at(3e-3, true, 1.0);
    assert!(at(0.0, false, 2.0).0 > 68.0);
}

#[test]
fn coefficients_of_friction_are_written_together_or_within_their_bounds() {
    let block = block(Pose::identity(), Parameters::default(), 0.7, 0.5);
    let system = &block.system;
    let mut state = system.default_state();
    let spring = block.springs[3].id();
    let name = |field: &str| format!("exponential_spring[3].{field}");
    for (mu_static, mu_kinetic) in [(0.2, 0.1), (1.4, 0.9), (0.0, 0.0), (0.9, 0.9)] {
        for order in [[0, 1], [1, 0]] {
            let values = [("mu_static", mu_static), ("mu_kinetic", mu_kinetic)];
            system.set_variables(&mut state, spring, &order.map(|i| values[i])).expect("in range together");
            for (field, value) in values {
                assert_eq!(state.variable(&name(field)), Ok(value), "{field}, {order:?}");
            }
        }
    }
    // A refusal changes neither, and one of them never changes the other.
    let before = state.snapshot();
    let refused: [&[(&str, f64)]; 6] = [
        &[("mu_static", -0.1)],
        &[("mu_kinetic", f64::NAN)],
        &[("mu_static", 0.8)],
        &[("mu_kinetic", 1.0)],
        &[("mu_static", 2.0), ("mu_kinetic", f64::INFINITY)],
        &[("mu_kinetic", 0.4), ("mu_static", 0.3)],
    ];
    for values in refused {
        let refused = system.set_variables(&mut state, spring, values).expect_err("out of range");
        assert!(refused.invalid_value().is_some(), "{refused}");
        assert_eq!(state.snapshot(), before);
        if let &[(field, value)] = values {
            let alone = system.set_variable(&mut state, &name(field), value).expect_err("out of range");
            // One of them has a value that is not equal to itself.
            assert_eq!(alone.to_string(), refused.to_string());
            assert_eq!(state.snapshot(), before);
        }
    }
    let unknown = system.set_variables(&mut state, spring, &[("mu_static", 1.0), ("mu", 0.4)]);
    assert_eq!(unknown, Err(Error::NoSuchVariable { name: name("mu") }));
    assert_eq!(state.snapshot(), before);
}

/// A station of this mass falls from this height above where it rests, in steps of semi-implicit Euler; returns how high
/// it bounces, over the height of its fall.
fn bounce(mass: f64, fall: f64, step: f64, seconds: f64, parameters: Parameters<f64>) -> f64 {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    );
    system.add(spring.expect("valid")).expect("exists");
    let mut state = system.default_state();
    let rest = parameters.resting_height(mass * 9.81).expect("a load");
    let (mut z, mut v, mut time, mut has_struck, mut highest) = (rest + fall, 0.0, 0.0, false, 0.0_f64);
    while time < seconds {
        state.set_time(time).expect("finite");
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::z() * v);
        state.set_body(body, Pose::translation(0.0, 0.0, z), velocity).expect("finite");
        let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force.z;
        system.accept_step(&mut state).expect("a step");
        v += (force / mass - 9.81) * step;
        z += v * step;
        time += step;
        has_struck |= v > 0.0;
        if has_struck {
            highest = highest.max((z - rest) / fall);
        }
    }
    highest
}

#[test]
fn a_bounce_is_right_in_steps_up_to_the_speed_of_impact_over_which_the_force_multiplies() {
    let mut is_drawn = one_in(5);
    for d2 in [300.0, 1150.0, 4000.0] {
        for mass in [0.02, 1.0, 50.0] {
            for fall in [0.05, 0.5, 1.0] {
                let speed = (2.0_f64 * 9.81 * fall).sqrt();
                let longest = 1.0 / (d2 * speed);
                for cz in [0.0, 0.1, 0.5] {
                    if !is_drawn() {
                        continue;
                    }
                    let parameters = Parameters {
                        d2,
                        normal_viscosity: cz,
                        max_normal_force: 1e9,
                        ..Parameters::default()
                    };
                    let exact = bounce(mass, fall, longest / 10.0, 1.0, parameters);
                    for share in [0.5, 1.0] {
                        let bounced = bounce(mass, fall, longest * share, 1.0, parameters);
                        let case = format!("d2 {d2}, {mass} kg, {fall} m, cz {cz}, {share}");
                        assert!((bounced - exact).abs() < 0.02, "{case}: {bounced}, {exact}");
                    }
                }
            }
        }
    }
    // What the page warns of: 3.6 where 1 is allowed.
    assert!(bounce(1.0, 0.5, 1e-3, 3.0, Parameters::default()) > 10.0);
}
