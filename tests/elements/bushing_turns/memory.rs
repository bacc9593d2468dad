//! The memory of a bushing: saved, restored, reset, and unchanged by a refused step.

use core::f64::consts::{FRAC_PI_2, PI, TAU};

use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3, Vector6};
use force_elements::simulation::{DormandPrince, Implicit, Integrator, Plant, RigidBody, Simulation};
use force_elements::{
    BodyIndex, Error, ForceSystem, Frame, LinearBushing, Pose, Real, Refusal, SpatialVelocity, Stage,
    Variables, linear_bushing,
};
use num_dual::Dual64;

use super::turns::Mount;
use force_elements_scenes::turning::orientation;

/// Rounding of an angle of up to 20 turns, and of the arc tangent.
const ROUNDING: f64 = 1e-13;

fn x(angle: f64) -> Vector3<f64> {
    Vector3::new(angle, 0.4, -0.3)
}

#[test]
fn before_the_first_accepted_step_the_angles_are_principal_values() {
    let mount = Mount::new();
    let mut state = mount.system.default_state();
    for turns in [0.0, 1.0, -3.0] {
        mount.turn(&mut state, &orientation(&x(2.0 + turns * TAU)));
        assert!((mount.angles(&mut state).expect("regular") - x(2.0)).amax() < ROUNDING);
    }
    assert!(!state.discrete(mount.bushing).accepted);
    // Nor does an evaluation that is not accepted leave anything behind.
    mount.turn(&mut state, &orientation(&x(-2.0)));
    assert!((mount.angles(&mut state).expect("regular") - x(-2.0)).amax() < ROUNDING);
}

#[test]
fn five_turns_about_x_store_the_energy_of_five_turns_and_are_given_back_by_turning_back() {
    let mount = Mount::new();
    let mut state = mount.start(&x(0.0));
    for turned in (1..=500).chain((0..500).rev()) {
        let angle = f64::from(turned) * 0.01 * TAU;
        let q = mount.step_to(&mut state, &x(angle)).expect("regular");
        assert!((q - x(angle)).amax() < ROUNDING);
        let view = mount.system.realize_dynamics(&mut state).expect("regular");
        let moment = view.of(mount.bushing).dynamics.f[0];
        assert!((moment + 2.0 * angle).abs() < 10.0 * ROUNDING);
        let stored = 0.5 * (2.0 * angle * angle + 3.0 * 0.16 + 1.5 * 0.09);
        // Of an energy of 1000 J, rounding of an angle of 31 rad.
        assert!((view.potential_energy() - stored).abs() < 1000.0 * ROUNDING);
    }
}

#[test]
fn a_spin_about_one_outer_axis_may_take_almost_half_a_turn_a_step() {
    for axis in [0, 2] {
        for rate in [2.9, -2.9] {
            let mount = Mount::new();
            let mut q = Vector3::new(0.1, 1.3, 0.2);
            let mut state = mount.start(&q);
            for _ in 0..40 {
                q[axis] += rate;
                let angles = mount.step_to(&mut state, &q).expect("regular");
                assert!((angles - q).amax() < ROUNDING);
            }
            // Just over half a turn would look like just under half a turn the other way.
            q[axis] += PI + 0.1;
            let refused = mount.step_to(&mut state, &q).expect_err("over half a turn");
            assert!(matches!(refused.own(), Some(Refusal::AmbiguousAngles { .. })), "{refused:?}");
        }
    }
}

#[test]
fn a_step_across_a_right_angle_is_refused_and_changes_nothing() {
    let mount = Mount::new();
    for side in [1.0, -1.0] {
        let before = Vector3::new(0.2, side * (FRAC_PI_2 - 0.01), 0.1);
        let mut state = mount.start(&before);
        mount.angles(&mut state).expect("regular");
        let snapshot = state.snapshot();
        // The middle angle would pass on: the same orientation has the outer angles turned by π.
        mount.turn(&mut state, &orientation(&Vector3::new(0.2, side * (FRAC_PI_2 + 0.01), 0.1)));
        let refused = mount.system.realize_dynamics(&mut state).expect_err("ambiguous");
        assert!(refused.to_string().starts_with("linear_bushing[0]: "), "{refused}");
        let Some(&Refusal::AmbiguousAngles { angle, qx, qz }) = refused.own() else { panic!("{refused:?}") };
        assert!((qx.abs() - PI).abs() < 1e-9 && (qz.abs() - PI).abs() < 1e-9, "{qx} {qz}");
        assert!((angle - 0.02).abs() < 1e-9, "{angle}");
        assert_eq!(state.stage(), Stage::Time);
        assert!(mount.system.accept_step(&mut state).is_err());
        assert_eq!(state.snapshot(), snapshot);
        // A shorter step is taken as though the other had not been tried.
        let near = before + Vector3::new(0.05, -side * 0.005, -0.05);
        assert!((mount.step_to(&mut state, &near).expect("regular") - near).amax() < 1e-12);
    }
}

#[test]
fn an_evaluation_gives_the_same_bits_before_and_after_a_commit_and_from_a_snapshot() {
    let mount = Mount::new();
    let mut state = mount.start(&x(0.0));
    for turned in 1..200 {
        mount.turn(&mut state, &orientation(&x(0.09 * f64::from(turned))));
        let view = mount.system.realize_dynamics(&mut state).expect("regular");
        let before = (view.of(mount.bushing).position.q, view.potential_energy(), view.forces().clone());
        mount.system.accept_step(&mut state).expect("realized");
        let mut restored = mount.system.default_state();
        restored.restore(&state.snapshot()).expect("its own");
        mount.turn(&mut restored, &orientation(&x(0.09 * f64::from(turned))));
        for state in [&mut state, &mut restored] {
            let view = mount.system.realize_dynamics(state).expect("regular");
            let after = (view.of(mount.bushing).position.q, view.potential_energy(), view.forces().clone());
            assert_eq!(before, after);
        }
    }
    assert!(state.variable("linear_bushing[0].accepted_qx").expect("named") > 17.0);
}

#[test]
fn turns_can_be_set_and_are_refused_beyond_what_rounding_leaves_of_a_step() {
    let mount = Mount::new();
    let mut state = mount.start(&x(1.0));
    mount
        .system
        .set_variable(&mut state, "linear_bushing[0].accepted_qx", 1.0 - 7.0 * TAU)
        .expect("in range");
    let q = mount.angles(&mut state).expect("regular");
    assert!((q - x(1.0 - 7.0 * TAU)).amax() < ROUNDING);
    for (known, angle) in [(true, 1.1e9), (true, f64::NAN), (false, f64::INFINITY), (false, -1e300)] {
        let discrete = linear_bushing::Discrete { accepted: known, accepted_qz: angle, ..Default::default() };
        let refused = mount.system.set_discrete(&mut state, mount.bushing, discrete).expect_err("beyond");
        assert_eq!(refused.invalid_value().map(|v| v.name), Some("accepted_qz"), "{refused:?}");
    }
    // Where it is a motion that would go beyond, the step is not accepted.
    let discrete = linear_bushing::Discrete { accepted: true, accepted_qx: 1e9 - 1.0, ..Default::default() };
    mount.system.set_discrete(&mut state, mount.bushing, discrete).expect("in range");
    mount.turn(&mut state, &orientation(&Vector3::new(1e9 + 1.0, 0.0, 0.0)));
    mount.system.realize_dynamics(&mut state).expect("regular");
    let refused = mount.system.accept_step(&mut state).expect_err("beyond");
    assert_eq!(refused.invalid_value().map(|v| v.name), Some("accepted_qx"), "{refused:?}");
    assert_eq!(*state.discrete(mount.bushing), discrete);
    // In single precision 1e4 rad have steps of 1e-3.
    let single = |angle| linear_bushing::Discrete::<f32> { accepted_qx: angle, ..Default::default() };
    assert!(single(1e4).validate().is_err());
    assert!(single(8e3).validate().is_ok());
}

#[test]
fn a_disabled_bushing_goes_on_from_where_it_was_unless_it_is_reset() {
    let mount = Mount::new();
    let mut state = mount.start(&x(0.0));
    for turned in 1..=100 {
        mount.step_to(&mut state, &x(0.1 * f64::from(turned))).expect("regular");
    }
    mount.system.set_enabled(&mut state, mount.bushing, false).expect("own handle");
    mount.step_to(&mut state, &Vector3::new(10.2, 0.45, -0.35)).expect("nothing to refuse");
    assert_eq!(state.discrete(mount.bushing).accepted_qx, 10.0);
    mount.system.set_enabled(&mut state, mount.bushing, true).expect("own handle");
    assert!((mount.angles(&mut state).expect("regular").x - 10.2).abs() < ROUNDING);
    // Far from there it cannot know which way it came.
    mount.turn(&mut state, &orientation(&Vector3::new(7.0, -1.0, 2.0)));
    let refused = mount.angles(&mut state).expect_err("ambiguous");
    assert!(matches!(refused.own(), Some(Refusal::AmbiguousAngles { .. })), "{refused:?}");
    mount.system.reset_memory(&mut state, mount.bushing).expect("regular");
    let principal = Vector3::new(7.0 - TAU, -1.0, 2.0);
    assert!((mount.angles(&mut state).expect("regular") - principal).amax() < ROUNDING);
}

#[test]
fn a_reset_needs_no_other_bushing_and_fails_without_a_trace() {
    let mut mount = Mount::new();
    let second = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(mount.body),
        linear_bushing::Parameters { stiffness: mount.stiffness, damping: mount.damping },
    );
    let second = mount.system.add(second.expect("valid")).expect("exists");
    let mut state = mount.start(&x(0.0));
    mount.system.reset_memory(&mut state, second).expect("regular");
    // Put elsewhere, neither can be evaluated until both are reset, one after the other.
    mount.turn(&mut state, &orientation(&Vector3::new(3.0, -1.0, 2.0)));
    assert!(mount.angles(&mut state).is_err());
    mount.system.reset_memory(&mut state, mount.bushing).expect("regular");
    mount.system.reset_memory(&mut state, second).expect("regular");
    mount.angles(&mut state).expect("regular");

    let snapshot = state.snapshot();
    mount.turn(&mut state, &orientation(&Vector3::new(3.0, FRAC_PI_2, 2.0)));
    let refused = mount.system.reset_memory(&mut state, second).expect_err("singular");
    assert!(matches!(refused.own(), Some(Refusal::Singular { .. })), "{refused:?}");
    assert!(refused.to_string().starts_with("linear_bushing[1]: "), "{refused}");
    assert_eq!(state.snapshot(), snapshot);
    let other = ForceSystem::<f64>::new();
    assert_eq!(other.reset_memory(&mut state, second), Err(Error::TopologyMismatch));
}

#[test]
fn frames_changed_by_a_clear_turn_keep_the_turns_and_others_are_refused() {
    let mount = Mount::new();
    let mut state = mount.start(&Vector3::zeros());
    for turned in 1..=100 {
        mount.step_to(&mut state, &Vector3::new(0.1 * f64::from(turned), 0.0, 0.0)).expect("regular");
    }
    let turn_frame = |state: &mut force_elements::State<f64>, q: Vector3<f64>| {
        let X_B2M = Pose::from_parts(Translation3::identity(), orientation(&q));
        mount.system.update_parameters(state, mount.bushing, |p| p.frames.X_B2M = X_B2M).expect("valid");
    };
    turn_frame(&mut state, Vector3::new(0.05, 0.0, 0.0));
    assert!((mount.angles(&mut state).expect("regular").x - 10.05).abs() < ROUNDING);
    turn_frame(&mut state, Vector3::new(0.8, -1.0, 0.5));
    assert!((mount.angles(&mut state).expect("regular").x - 10.8).abs() < ROUNDING);
    turn_frame(&mut state, Vector3::new(0.8, -1.2, 0.5));
    let refused = mount.angles(&mut state).expect_err("ambiguous");
    assert!(matches!(refused.own(), Some(Refusal::AmbiguousAngles { .. })), "{refused:?}");
    mount.system.reset_memory(&mut state, mount.bushing).expect("regular");
    mount.angles(&mut state).expect("regular");
}

/// Six turns about x in steps, in another scalar; the angles and the first moment at the end.
fn six_turns<T: Real>(last: T) -> (T, T) {
    let mut system = ForceSystem::<T>::new();
    let body = system.add_body();
    let stiffness = Vector6::repeat(T::lit(2.0));
    let bushing = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness, damping: Vector6::zeros() },
    );
    let bushing = system.add(bushing.expect("valid")).expect("exists");
    let mut state = system.default_state();
    for turned in 0..=20 {
        let R = Rotation3::from_axis_angle(&Vector3::x_axis(), last * T::lit(f64::from(turned) / 20.0));
        state.set_pose(body, Pose::from_parts(Translation3::identity(), R)).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        system.accept_step(&mut state).expect("realized");
    }
    let view = system.realize_dynamics(&mut state).expect("regular");
    (view.of(bushing).position.q.x, view.of(bushing).dynamics.f[0])
}

#[test]
fn single_precision_and_dual_numbers_follow_turns_too() {
    let last = 6.0 * TAU + 0.5;
    let (q, f) = six_turns(last);
    assert!((q - last).abs() < ROUNDING && (f + 2.0 * last).abs() < 2.0 * ROUNDING);
    let (q, f) = six_turns(f32::lit(last));
    // Rounding of 38 rad, and of sine and cosine.
    assert!((f64::from(q) - last).abs() < 1e-5 && (f64::from(f) + 2.0 * last).abs() < 2e-5);
    let (q, f) = six_turns(Dual64::new(last, 1.0));
    assert!((q.re - last).abs() < ROUNDING && (q.eps - 1.0).abs() < ROUNDING, "{q}");
    assert!((f.eps + 2.0).abs() < 2.0 * ROUNDING, "{f}");
}

/// A free body on an undamped bushing.
fn free_body(
    inertia: Vector3<f64>,
    stiffness: Vector3<f64>,
) -> (ForceSystem<f64>, Plant<f64>, force_elements::Handle<LinearBushing<f64>>, BodyIndex) {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let body = RigidBody::new(1.0, Point3::origin(), Matrix3::from_diagonal(&inertia)).expect("positive");
    let body = plant.add_body(&mut system, body);
    let stiffness = Vector6::new(stiffness.x, stiffness.y, stiffness.z, 100.0, 100.0, 100.0);
    let bushing = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness, damping: Vector6::zeros() },
    );
    let bushing = system.add(bushing.expect("valid")).expect("exists");
    (system, plant, bushing, body)
}

#[test]
fn simulations_follow_many_turns_and_resume_in_the_midst_of_them() {
    // A flywheel, free enough about x to make many turns.
    let (system, plant, bushing, body) = free_body(Vector3::new(0.2, 0.1, 0.1), Vector3::new(0.01, 4.0, 5.0));
    let mut state = system.default_state();
    let w = Vector3::new(12.0, 0.3, -0.2);
    state.set_velocity(body, SpatialVelocity::new(w, Vector3::zeros())).expect("finite");
    system.reset_memory(&mut state, bushing).expect("regular");
    let energy = |simulation: &mut Simulation<'_, f64>| {
        simulation.kinetic_energy() + simulation.dynamics().expect("regular").potential_energy()
    };
    let explicit: &dyn Fn(&mut Simulation<'_, f64>, f64) = &|simulation, end| {
        DormandPrince::new(1e-9).step(simulation, end).expect("regular");
    };
    let implicit: &dyn Fn(&mut Simulation<'_, f64>, f64) = &|simulation, end| {
        Implicit::trapezoidal(5e-3).step(simulation, end).expect("regular");
    };
    // Order 5 with some hundred steps of 1e-9; order 2: twice the square of the change per step, 12·0.005 rad.
    for (step, allowed) in [(explicit, 1e-6), (implicit, 2.0 * 0.06_f64.powi(2))] {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        let start = energy(&mut simulation);
        let mut saved = None;
        while simulation.time() < 4.0 {
            step(&mut simulation, 4.0);
            if saved.is_none() && simulation.time() > 3.0 {
                saved = Some(simulation.save());
            }
            assert!((energy(&mut simulation) - start).abs() < allowed * start);
        }
        let turned = simulation.dynamics().expect("regular").of(bushing).position.q.x;
        assert!(turned > 5.0 * TAU, "the motion is trivial: {turned} rad");
        let mut resumed = Simulation::resume(&system, &plant, &saved.expect("passed")).expect("its own");
        while resumed.time() < 4.0 {
            step(&mut resumed, 4.0);
        }
        assert_eq!(resumed.dynamics().expect("regular").of(bushing).position.q.x, turned);
    }
}

#[test]
fn a_step_that_a_bushing_refuses_is_tried_shorter() {
    let (system, plant, bushing, body) = free_body(Vector3::repeat(0.1), Vector3::repeat(1e-3));
    let mut state = system.default_state();
    // Past the right angle at 2°, where both outer angles turn quickly.
    let q = Vector3::new(0.0, FRAC_PI_2 - 0.2, 0.0);
    let X_GB = Pose::from_parts(Translation3::identity(), orientation(&q));
    let towards =
        UnitQuaternion::from_rotation_matrix(&orientation(&q)) * Vector3::new(0.035 / 0.2 * 5.0, 5.0, 0.0);
    state.set_body(body, X_GB, SpatialVelocity::new(towards, Vector3::zeros())).expect("finite");
    system.reset_memory(&mut state, bushing).expect("regular");
    let mut ends = Vec::new();
    for (integrator, fewest) in [(20e-3, 3), (1e-4, 0)] {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        let mut integrator = Implicit::trapezoidal(integrator);
        simulation.run(&mut integrator, 0.08, |_| {}).expect("regular");
        let rejected = simulation.statistics().rejected;
        assert!(rejected >= fewest, "{rejected} refused");
        ends.push(simulation.dynamics().expect("regular").of(bushing).position.q);
    }
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    simulation.run(&mut DormandPrince::new(1e-3), 0.08, |_| {}).expect("regular");
    ends.push(simulation.dynamics().expect("regular").of(bushing).position.q);
    assert!(ends[1][0].abs() > 1.0, "the motion is trivial: {}", ends[1]);
    for q in [ends[0], ends[2]] {
        // On the same side of the right angle as short steps: elsewhere the outer angles would be 2π off.
        assert!((q - ends[1]).amax() < 0.5, "{q} {}", ends[1]);
    }
}

#[test]
fn the_bodies_of_a_bushing_are_not_interchangeable() {
    let poses = [x(0.9), Vector3::new(-0.4, 0.7, 0.2)].map(|q| orientation(&q));
    let forces = [false, true].map(|swapped| {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let (first, second) = if swapped { (bodies[1], bodies[0]) } else { (bodies[0], bodies[1]) };
        let stiffness = Vector6::new(1.0, 2.0, 3.0, 10.0, 20.0, 30.0);
        let bushing = LinearBushing::new(
            Frame::of(first),
            Frame::of(second),
            linear_bushing::Parameters { stiffness, damping: Vector6::zeros() },
        );
        system.add(bushing.expect("valid")).expect("exists");
        let mut state = system.default_state();
        for (body, R, shift) in [(bodies[0], poses[0], 0.0), (bodies[1], poses[1], 0.3)] {
            let X = Pose::from_parts(Translation3::new(shift, 0.0, 0.0), R);
            state.set_pose(body, X).expect("finite");
        }
        let view = system.realize_dynamics(&mut state).expect("regular");
        (view.potential_energy(), view.body_force(bodies[0]))
    });
    assert!((forces[0].0 - forces[1].0).abs() > 0.01, "{forces:?}");
    assert!((forces[0].1.force - forces[1].1.force).norm() > 0.1, "{forces:?}");
}
