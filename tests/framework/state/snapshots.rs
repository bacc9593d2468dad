//! Snapshots: every bit restored, through JSON and with derivatives.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector6};
use force_elements::{
    CoordinatePair, CoordinateSpringDamperExt, Error, ExponentialSpring, ForceSystem, Frame, LinearBushing,
    Pose, Requirement, Station, coordinate_spring_damper_ext, linear_bushing,
};

use super::{World, moving_state, world};
use crate::copies::with_values;

type Variables = Vec<(String, f64)>;

#[test]
fn a_snapshot_restores_every_bit_and_refuses_other_systems() {
    let world = world();
    let World { ref system, spring, .. } = world;
    let mut state = moving_state(&world);
    let third = 1.0 / 3.0;
    system.update_discrete(&mut state, spring, |discrete| discrete.sliding = third).expect("valid");
    system
        .update_parameters(&mut state, world.bushing, |p| {
            p.frames.X_B1F.rotation = Rotation3::from_euler_angles(third, 0.7, 1.1);
        })
        .expect("valid");
    let forces = system.realize_dynamics(&mut state).expect("regular").forces().clone();
    let snapshot = state.snapshot();

    let mut fresh = moving_state(&world);
    assert_ne!(fresh.snapshot(), snapshot);
    fresh.restore(&snapshot).expect("same system");
    assert_eq!(fresh.snapshot(), snapshot);
    assert_eq!(*system.realize_dynamics(&mut fresh).expect("regular").forces(), forces);

    let mut refused = |edit: &dyn Fn(&mut Variables)| {
        let mut variables = snapshot.clone();
        edit(&mut variables);
        fresh.restore(&variables)
    };
    let names = state.variable_names();
    let position = names.len() - 1;
    let mismatch = |position, found: Option<&str>| {
        let (expected, found) = (names.get(position).cloned(), found.map(String::from));
        Err(Error::SnapshotMismatch { position, expected, found })
    };
    assert_eq!(refused(&|_| ()), Ok(()));
    assert_eq!(refused(&|variables| drop(variables.pop())), mismatch(position, None));
    let more = |variables: &mut Vec<_>| variables.push(("more".into(), 0.0));
    assert_eq!(refused(&more), mismatch(position + 1, Some("more")));
    assert_eq!(refused(&|variables| variables[3].0 = "another".into()), mismatch(3, Some("another")));
    assert_eq!(fresh.snapshot(), snapshot);
}

#[test]
fn values_for_a_memory_that_is_not_there_are_refused() {
    let world = world();
    let mut state = world.system.default_state();
    let before = state.snapshot();
    let name = "exponential_spring[0].last_station.x";
    let place_of = |name: &str| before.iter().position(|(listed, _)| listed == name).expect("listed");
    let place = place_of(name);
    for value in [1.0, -0.5, f64::NAN, f64::INFINITY] {
        let refused = world.system.set_variable(&mut state, name, value).expect_err("there is no station");
        let requirement = refused.invalid_value().map(|value| value.requirement);
        assert_eq!(requirement, Some(Requirement::Known), "{value}");
        let mut snapshot = before.clone();
        snapshot[place].1 = value;
        let bytes =
            with_values(&state.to_bytes(), &snapshot.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        let refused = Error::NotKnown { name: name.into() };
        assert_eq!(state.restore(&snapshot), Err(refused.clone()));
        assert_eq!(state.restore_bytes(&bytes), Err(refused));
    }
    assert_eq!(state.snapshot(), before);
    // With its flag it is restored.
    let mut snapshot = before.clone();
    snapshot[place_of("exponential_spring[0].last_station.known")].1 = 1.0;
    snapshot[place].1 = -0.5;
    state.restore(&snapshot).expect("known");
    assert_eq!(state.snapshot(), snapshot);
}

#[cfg(feature = "serde")]
#[test]
fn a_snapshot_survives_json() {
    let world = world();
    let mut state = moving_state(&world);
    world.system.set_variable(&mut state, "exponential_spring[0].anchor_P.x", 1.0 / 3.0).expect("valid");
    let text = serde_json::to_string(&state.snapshot()).expect("serialises");
    let mut fresh = world.system.default_state();
    let read: Variables = serde_json::from_str(&text).expect("deserialises");
    fresh.restore(&read).expect("same system");
    assert_eq!(fresh.snapshot(), state.snapshot());
}

#[test]
fn derivatives_are_kept_where_values_do_not_change() {
    use num_dual::Dual64;
    let mut system = ForceSystem::<Dual64>::new();
    let (body, slider) = (system.add_body(), system.add_coordinate());
    let zero = Vector6::repeat(Dual64::from(0.0));
    let stiffness = Vector6::repeat(Dual64::from(100.0));
    let bushing = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness, damping: zero },
    )
    .expect("valid");
    system.add(bushing).expect("exists");
    let parameters = Parameters::<Dual64>::default();
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    )
    .expect("valid");
    let spring = system.add(spring).expect("exists");
    let parameters = coordinate_spring_damper_ext::Parameters {
        dynamic_friction: Dual64::from(1.0),
        sticking_stiffness: Dual64::from(1e3),
        ..Default::default()
    };
    let bristle = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
    let bristle = system.add(bristle).expect("exists");

    let mut state = system.default_state();
    let [x, y] = [Dual64::from(0.1), Dual64::from(0.0)];
    state.set_pose(body, Pose::translation(x, y, y)).expect("finite");
    let before = system.realize_dynamics(&mut state).expect("regular").body_force(body).force.x;
    assert_eq!(before.eps, 0.0);
    // The same stiffness, but now the variable of the derivative.
    system
        .set_variable(&mut state, "linear_bushing[0].stiffness.px", Dual64::new(100.0, 1.0))
        .expect("valid");
    let after = system.realize_dynamics(&mut state).expect("regular").body_force(body).force.x;
    assert_eq!((after.re - before.re, after.eps), (0.0, -0.1));
    let snapshot = state.snapshot();
    let mut restored = system.default_state();
    restored.set_pose(body, Pose::translation(x, y, y)).expect("finite");
    system.realize_dynamics(&mut restored).expect("regular");
    restored.restore(&snapshot).expect("same system");
    assert_eq!(system.realize_dynamics(&mut restored).expect("regular").body_force(body).force.x.eps, -0.1);

    // What is committed keeps its derivative too, where its value is the one it had.
    let moving = Dual64::new(0.0, 1.0);
    state.set_pose(body, Pose::translation(moving, y, y)).expect("finite");
    state.set_coordinate(slider, moving).expect("finite");
    system
        .update_discrete(&mut state, bristle, |discrete| discrete.friction_mode = Dual64::from(1.0))
        .expect("valid");
    state.set_time(Dual64::from(0.1)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    system.accept_step(&mut state).expect("realized");
    assert_eq!((state.discrete(spring).anchor_P.x.re, state.discrete(spring).anchor_P.x.eps), (0.0, 1.0));
    assert_eq!(state.discrete(bristle).last_sticking_position.eps, 1.0);
}
