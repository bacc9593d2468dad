//! Stages, refusals and the named variables of the state.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector2, Vector3, Vector6};
use force_elements::{
    BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ExponentialSpring,
    ForceSystem, Forces, Frame, Handle, KinematicsError, KinematicsSource, LinearBushing, Pose, Quantity,
    Refusal, SpatialForce, SpatialVelocity, Stage, State, Station, coordinate_spring_damper_ext,
    linear_bushing,
};

mod refusals;
mod snapshots;

mod globs;

mod names;

mod sums;

struct World {
    system: ForceSystem<f64>,
    body: BodyIndex,
    coordinate: CoordinateIndex,
    spring: Handle<ExponentialSpring<f64>>,
    bushing: Handle<LinearBushing<f64>>,
}

/// Elements of three kinds, two of each but the last, on one body and one coordinate.
fn world() -> World {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let coordinate = system.add_coordinate();
    let stiffness = Vector6::repeat(100.0);
    let mut handles = None;
    for i in 0..2 {
        let station = Point3::new(0.1 * f64::from(i), 0.0, 0.0);
        let spring = ExponentialSpring::new(
            Frame::ground(Pose::identity()),
            Station::on(body, station),
            Parameters::default(),
        );
        let spring = system.add(spring.expect("valid")).expect("exists");
        let bushing = LinearBushing::new(
            Frame::ground(Pose::identity()),
            Frame::of(body),
            linear_bushing::Parameters { stiffness, damping: stiffness * 0.1 },
        );
        let bushing = system.add(bushing.expect("valid")).expect("exists");
        handles = Some((spring, bushing));
    }
    let parameters = coordinate_spring_damper_ext::Parameters { stiffness: 7.0, ..Default::default() };
    let slider = CoordinateSpringDamperExt::new(CoordinatePair::on(coordinate), parameters);
    system.add(slider.expect("valid")).expect("exists");
    let (spring, bushing) = handles.expect("two of each");
    World { system, body, coordinate, spring, bushing }
}

fn moving_state(world: &World) -> State<f64> {
    let mut state = world.system.default_state();
    let pose =
        Pose::from_parts(Translation3::new(0.1, 0.2, 0.001), Rotation3::from_euler_angles(0.1, 0.2, 0.3));
    let velocity = SpatialVelocity::new(Vector3::new(0.1, 0.2, 0.3), Vector3::new(0.4, 0.5, -0.1));
    state.set_body(world.body, pose, velocity).expect("finite");
    state.set_coordinate(world.coordinate, 0.5).expect("finite");
    state.set_time(0.01).expect("finite");
    state
}

/// A host at rest, with this value of every coordinate.
struct Host(f64);

impl KinematicsSource<f64> for Host {
    fn time(&self) -> f64 {
        1.0
    }
    fn pose(&self, _: BodyIndex) -> Pose<f64> {
        Pose::identity()
    }
    fn velocity(&self, _: BodyIndex) -> SpatialVelocity<f64> {
        SpatialVelocity::zero()
    }
    fn coordinate(&self, _: CoordinateIndex) -> f64 {
        self.0
    }
    fn coordinate_rate(&self, _: CoordinateIndex) -> f64 {
        0.0
    }
}

/// A write to the state.
type Write<'a> = Box<dyn Fn(&mut State<f64>) -> Result<(), Error> + 'a>;

#[test]
fn writing_a_variable_drops_to_just_below_the_stage_that_reads_it() {
    let world = world();
    let World { ref system, body, coordinate, spring, bushing } = world;
    let mut state = moving_state(&world);
    let pose = *state.positions().pose(body);
    let velocity = *state.velocities().velocity(body);
    let writes: [(Write<'_>, Stage); 15] = [
        (Box::new(|s| s.set_time(0.02)), Stage::Instance),
        (Box::new(|s| s.set_pose(body, pose)), Stage::Time),
        (Box::new(|s| s.set_velocity(body, velocity)), Stage::Position),
        (Box::new(|s| s.set_body(body, pose, velocity)), Stage::Time),
        (Box::new(|s| s.set_coordinate(coordinate, 0.1)), Stage::Time),
        (Box::new(|s| s.set_coordinate_rate(coordinate, 0.1)), Stage::Position),
        (Box::new(|s| system.update_discrete(s, spring, |d| d.sliding = 0.5)), Stage::Velocity),
        (Box::new(|s| system.update_parameters(s, bushing, |p| p.law.stiffness[0] = 2.0)), Stage::Time),
        (Box::new(|s| system.update_parameters(s, bushing, |p| p.law.damping[0] = 2.0)), Stage::Velocity),
        (Box::new(|s| system.set_variable(s, "linear_bushing[0].damping.pz", 3.0)), Stage::Velocity),
        (Box::new(|s| system.set_variable(s, "linear_bushing[0].X_B1F.p.x", 1e-3)), Stage::Time),
        (Box::new(|s| system.set_enabled(s, bushing, false)), Stage::Topology),
        (Box::new(|s| system.set_variable(s, "exponential_spring[1].anchor_P.x", 0.3)), Stage::Velocity),
        (Box::new(|s| system.set_variable(s, "time", 0.03)), Stage::Instance),
        (Box::new(|s| s.set_absorbed_energy(&[0.0; 5])), Stage::Dynamics),
    ];
    for (write, expected) in writes {
        system.realize_dynamics(&mut state).expect("regular");
        assert_eq!(state.stage(), Stage::Dynamics);
        write(&mut state).expect("valid");
        assert_eq!(state.stage(), expected);
    }
}

#[test]
fn variables_are_read_and_written_by_name() {
    let world = world();
    let mut state = moving_state(&world);
    let names = state.variable_names();
    for name in [
        "time",
        "exponential_spring[1].anchor_P.x",
        "exponential_spring[0].mu_static",
        "linear_bushing[1].stiffness.qx",
        "linear_bushing[0].X_B1F.R.xy",
        "coordinate_spring_damper_ext[0].use_limit_stops",
        "linear_bushing[0].enabled",
        "linear_bushing[0].absorbed_energy",
    ] {
        assert_eq!(names.iter().filter(|candidate| *candidate == name).count(), 1, "{name}");
    }
    world.system.set_variable(&mut state, "exponential_spring[1].anchor_P.y", 0.125).expect("valid");
    assert_eq!(state.discrete(world.spring).anchor_P, Vector2::new(0.0, 0.125));
    assert_eq!(state.variable("exponential_spring[1].anchor_P.y"), Ok(0.125));

    let before = state.snapshot();
    let refused = world.system.set_variable(&mut state, "exponential_spring[1].sliding", 2.0).expect_err("2");
    assert_eq!(refused.invalid_value().map(|v| (v.name, v.value)), Some(("sliding", 2.0)), "{refused}");
    let no_time = KinematicsError::NonFinite { quantity: Quantity::Time };
    assert_eq!(world.system.set_variable(&mut state, "time", f64::NAN), Err(no_time.into()));
    assert_eq!(state.variable("anchor"), Err(Error::NoSuchVariable { name: "anchor".into() }));
    assert_eq!(state.snapshot(), before);
}

#[test]
fn a_disabled_element_does_nothing_and_shows_nothing() {
    let world = world();
    let World { ref mut system, body, spring, bushing, .. } = { world };
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.1, 0.0, 0.002)).expect("finite");
    let all = system.realize_dynamics(&mut state).expect("regular").body_force(body);
    let view = system.dynamics_view(&state).expect("realized");
    let mut part = Forces::zeros(system.topology());
    view.add_contribution(bushing, &mut part).expect("own handle");
    let energy = view.potential_energy() - view.potential_energy_of(bushing);

    system.set_enabled(&mut state, bushing, false).expect("own handle");
    let view = system.realize_dynamics(&mut state).expect("regular");
    let rest = all + -part.bodies()[body.index()];
    let off = view.body_force(body) + -rest;
    assert!(off.force.norm() + off.torque.norm() < 1e-12 * all.force.norm());
    assert!((view.potential_energy() - energy).abs() < 1e-12);
    assert_eq!(view.potential_energy_of(bushing), 0.0);
    assert_eq!(view.of(bushing).dynamics.F_GM, SpatialForce::zero());
    let mut none = Forces::zeros(system.topology());
    view.add_contribution(bushing, &mut none).expect("own handle");
    assert_eq!(none, Forces::zeros(system.topology()));

    system.set_enabled_by_default(spring, false).expect("own handle");
    assert!(!system.default_state().is_enabled(spring));
    assert!(system.is_enabled_by_default(bushing));
}

#[test]
fn defaults_changed_later_reach_new_states_only() {
    let mut world = world();
    let state = world.system.default_state();
    let stiffness = Vector6::repeat(5.0);
    let mut parameters = *world.system.default_parameters(world.bushing);
    parameters.law.stiffness = stiffness;
    world.system.set_default_parameters(world.bushing, parameters).expect("valid");
    let mut discrete = *world.system.default_discrete(world.spring);
    discrete.sliding = 0.25;
    world.system.set_default_discrete(world.spring, discrete).expect("valid");
    let later = world.system.default_state();
    assert_eq!(later.parameters(world.bushing).law.stiffness, stiffness);
    assert_eq!(later.discrete(world.spring).sliding, 0.25);
    assert_ne!(state.parameters(world.bushing).law.stiffness, stiffness);
    assert!(world.system.position_view(&state).is_err());
}

#[test]
fn forces_are_the_sum_of_contributions_in_the_order_of_elements() {
    // Many elements, so that threads take part where there are any: the sum must not notice.
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut handles = Vec::new();
    for i in 0..1000 {
        let x = f64::from(i) * 1e-3;
        let station = Point3::new(x.sin(), x.cos(), 0.0);
        let spring = ExponentialSpring::new(
            Frame::ground(Pose::identity()),
            Station::on(body, station),
            Parameters::default(),
        );
        handles.push(system.add(spring.expect("valid")).expect("exists"));
    }
    let mut state = system.default_state();
    let pose =
        Pose::from_parts(Translation3::new(0.0, 0.0, 0.01), Rotation3::from_euler_angles(0.01, 0.02, 0.0));
    state.set_pose(body, pose).expect("finite");
    let view = system.realize_dynamics(&mut state).expect("regular");
    let mut sum = Forces::zeros(system.topology());
    for handle in handles {
        view.add_contribution(handle, &mut sum).expect("own handle");
    }
    assert_eq!(*view.forces(), sum);
}

#[test]
fn the_middle_angle_of_a_bushing_may_come_close_to_a_right_angle_but_not_reach_it() {
    let world = world();
    let World { ref system, body, bushing, .. } = world;
    let mut state = system.default_state();
    let turned = |angle: f64| {
        Pose::from_parts(Translation3::identity(), Rotation3::from_axis_angle(&Vector3::y_axis(), angle))
    };
    for gap in [1e-1, 1e-2, 8.001e-3] {
        for sign in [1.0, -1.0] {
            let angle = sign * (core::f64::consts::FRAC_PI_2 - gap);
            state.set_pose(body, turned(angle)).expect("finite");
            let view = system.realize_dynamics(&mut state).expect("regular");
            // The arc tangent of a cosine that small is good to rounding.
            assert!((view.of(bushing).position.q[1] - angle).abs() < 1e-15);
        }
    }
    state.set_pose(body, turned(core::f64::consts::FRAC_PI_2 - 7.999e-3)).expect("finite");
    let refused = system.realize_position(&mut state).expect_err("singular");
    assert!(refused.to_string().starts_with("linear_bushing[0]: "), "{refused}");
    let Some(&Refusal::Singular { angle }) = refused.own() else { panic!("{refused:?}") };
    assert!((angle - (core::f64::consts::FRAC_PI_2 - 7.999e-3)).abs() < 1e-12);
    assert_eq!(state.stage(), Stage::Time);
}

#[test]
fn dissipated_energy_can_be_set() {
    let world = world();
    let World { ref system, bushing, .. } = world;
    let mut state = moving_state(&world);
    system.reset_dissipated_energy(&mut state).expect("regular");
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert_eq!(view.dissipated_energy_of(bushing).expect("open"), 0.0);
    assert_eq!(view.dissipated_energy().expect("open"), 0.0);
    system.set_dissipated_energy(&mut state, bushing, 12.5).expect("finite");
    let view = system.realize_dynamics(&mut state).expect("regular");
    // A sum with the stored energy and back: one rounding.
    assert!((view.dissipated_energy_of(bushing).expect("open") - 12.5).abs() < 1e-14);
}

#[test]
fn a_flag_set_by_name_is_0_or_1() {
    let world = world();
    let mut state = moving_state(&world);
    let name = "linear_bushing[1].enabled";
    let before = state.snapshot();
    for bad in [0.3, -1.0, f64::NAN] {
        let refused = world.system.set_variable(&mut state, name, bad).expect_err("no flag");
        assert_eq!(refused.invalid_value().map(|v| v.name), Some("enabled"), "{refused}");
        let mut spoilt = before.clone();
        let place = spoilt.iter().position(|(listed, _)| listed == name).expect("named");
        spoilt[place].1 = bad;
        assert_eq!(state.restore(&spoilt), Err(Error::NotAFlag { name: name.into() }));
    }
    assert_eq!(state.snapshot(), before);
    world.system.set_variable(&mut state, name, 0.0).expect("a flag");
    assert!(!state.is_enabled(world.bushing));
}

#[test]
fn a_second_commit_at_the_same_time_changes_nothing() {
    let world = world();
    let World { ref system, spring, .. } = world;
    let mut state = moving_state(&world);
    system.realize_dynamics(&mut state).expect("regular");
    system.accept_step(&mut state).expect("realized");
    let committed = *state.discrete(spring);
    assert_eq!(committed.last_update, 0.01);
    system.realize_dynamics(&mut state).expect("regular");
    system.accept_step(&mut state).expect("realized");
    assert_eq!(*state.discrete(spring), committed);
}

#[test]
fn unloaded_elements_at_rest_exert_nothing() {
    let world = world();
    let World { ref system, body, spring, .. } = world;
    let mut state = system.default_state();
    // The springs far above their plane, the bushings moved along.
    for name in ["linear_bushing[0]", "linear_bushing[1]"] {
        system.set_variable(&mut state, &format!("{name}.X_B1F.p.z"), 1.0).expect("valid");
    }
    state.set_pose(body, Pose::translation(0.0, 0.0, 1.0)).expect("finite");
    system.reset_memory(&mut state, spring).expect("own handle");
    let view = system.realize_dynamics(&mut state).expect("regular");
    // An exponential never ends: exp(−1150·1 m) of half a newton is what there is.
    let force = view.body_force(body);
    assert!(force.force.norm() + force.torque.norm() < 1e-300);
    assert_eq!(view.coordinate_force(world.coordinate), 0.0);
    assert!(view.potential_energy() < 1e-300 && view.power_dissipated() == 0.0);
}
