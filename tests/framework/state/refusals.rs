//! Foreign handles and states, and motion that is not finite.

use force_elements::nalgebra::{Matrix3, Rotation3, Translation3, Vector3};
use force_elements::{
    BodyIndex, Error, ForceSystem, Forces, KinematicsError, Pose, Quantity, SpatialVelocity, Stage,
};

use super::{Host, World, moving_state, world};

#[test]
fn results_above_the_stage_are_refused() {
    let world = world();
    let system = &world.system;
    let mut state = moving_state(&world);
    let too_low = |required, actual| Error::StageTooLow { required, actual };
    assert_eq!(system.position_view(&state).err(), Some(too_low(Stage::Position, Stage::Topology)));
    system.realize_position(&mut state).expect("regular");
    assert!(system.position_view(&state).is_ok());
    assert_eq!(system.velocity_view(&state).err(), Some(too_low(Stage::Velocity, Stage::Position)));
    system.realize_velocity(&mut state).expect("regular");
    assert_eq!(system.dynamics_view(&state).err(), Some(too_low(Stage::Dynamics, Stage::Velocity)));
    assert_eq!(system.accept_step(&mut state).err(), Some(too_low(Stage::Dynamics, Stage::Velocity)));
    system.realize_dynamics(&mut state).expect("regular");
    let view = system.dynamics_view(&state).expect("realized");
    assert_eq!(view.of(world.spring).position.height, view.of(world.spring).position.p_PS.z);
}

#[test]
fn foreign_states_and_handles_are_refused() {
    let (world, mut other) = (world(), world());
    let mut foreign = other.system.default_state();
    let before = foreign.snapshot();
    assert_eq!(world.system.realize_dynamics(&mut foreign).err(), Some(Error::TopologyMismatch));
    assert_eq!(world.system.accept_step(&mut foreign).err(), Some(Error::TopologyMismatch));
    assert_eq!((foreign.stage(), foreign.snapshot()), (Stage::Topology, before));

    let mut state = world.system.default_state();
    let view = world.system.realize_dynamics(&mut state).expect("regular");
    let missing = |element| Error::NoSuchElement { element };
    assert_eq!(view.try_of(other.spring).err(), Some(missing(other.spring.id())));
    let mut forces = Forces::zeros(world.system.topology());
    assert_eq!(view.add_contribution(other.bushing, &mut forces), Err(missing(other.bushing.id())));
    let mut too_few = Forces::zeros(ForceSystem::<f64>::new().topology());
    assert_eq!(view.add_contribution(world.bushing, &mut too_few), Err(Error::TopologyMismatch));
    assert_eq!(state.try_parameters(other.spring).err(), Some(missing(other.spring.id())));
    assert_eq!(world.system.set_enabled(&mut state, other.spring, false), Err(missing(other.spring.id())));
    assert_eq!(other.system.set_enabled_by_default(world.spring, false), Err(missing(world.spring.id())));

    // A state from before the system was changed.
    let mut old = other.system.default_state();
    other.system.add_body();
    assert_eq!(other.system.realize_position(&mut old).err(), Some(Error::TopologyMismatch));
}

#[test]
#[should_panic(expected = "does not exist in this system: it was removed, or belongs to another")]
fn reading_through_a_foreign_handle_panics_like_an_index_out_of_bounds() {
    let (world, other) = (world(), world());
    let mut state = world.system.default_state();
    let view = world.system.realize_dynamics(&mut state).expect("regular");
    let _ = view.of(other.spring);
}

#[test]
fn kinematics_that_are_not_finite_are_refused_and_nothing_changes() {
    let world = world();
    let World { ref system, body, coordinate, .. } = world;
    let mut state = moving_state(&world);
    let forces = system.realize_dynamics(&mut state).expect("regular").forces().clone();
    let nan_pose = Pose::from_parts(Translation3::new(0.0, f64::NAN, 0.0), Rotation3::identity());
    let infinite = SpatialVelocity::new(Vector3::new(f64::INFINITY, 0.0, 0.0), Vector3::zeros());
    let refused = |quantity| Err(KinematicsError::NonFinite { quantity }.into());
    let identity = Pose::identity();
    assert_eq!(state.set_pose(body, nan_pose), refused(Quantity::Pose(body)));
    assert_eq!(state.set_velocity(body, infinite), refused(Quantity::Velocity(body)));
    assert_eq!(state.set_body(body, identity, infinite), refused(Quantity::Velocity(body)));
    assert_eq!(state.set_time(f64::NAN), refused(Quantity::Time));
    assert_eq!(state.set_coordinate(coordinate, f64::NAN), refused(Quantity::Coordinate(coordinate)));
    assert_eq!(
        state.set_coordinate_rate(coordinate, f64::NAN),
        refused(Quantity::CoordinateRate(coordinate))
    );
    assert_eq!(state.set_pose(BodyIndex::GROUND, identity), Err(KinematicsError::GroundIsFixed.into()));
    let missing = ForceSystem::<f64>::new().add_body();
    let no_such_body = KinematicsError::NoSuchBody { body: missing };
    assert_eq!(state.set_pose(missing, identity), Err(no_such_body.into()));
    assert_eq!(state.set_absorbed_energy(&[0.0]), Err(Error::TopologyMismatch));

    assert!(state.set_kinematics(&Host(f64::NAN)).is_err());
    assert_eq!(state.stage(), Stage::Dynamics);
    assert_eq!(*system.dynamics_view(&state).expect("unchanged").forces(), forces);
    state.set_kinematics(&Host(0.25)).expect("finite");
    assert_eq!((state.time(), state.positions().coordinate(coordinate)), (1.0, 0.25));
}

#[test]
fn rotations_are_made_orthonormal_and_what_is_none_is_refused() {
    let World { system, body, .. } = world();
    let mut state = system.default_state();
    let with = |R: Matrix3<f64>| {
        Pose::from_parts(Translation3::new(1.0, 2.0, 3.0), Rotation3::from_matrix_unchecked(R))
    };
    for seed in 0..200_u32 {
        let angle = |k: u32| f64::from(seed * 7 + k * k).sin() * 4.0;
        let turn = Rotation3::new(Vector3::new(angle(1), angle(2), angle(3)));
        // Products err by some roundings, which stay.
        let exact = (0..4).fold(turn, |product, _| product * turn);
        state.set_pose(body, with(*exact.matrix())).expect("a rotation");
        assert_eq!(*state.positions().pose(body), with(*exact.matrix()));
        #[expect(clippy::cast_possible_truncation, reason = "it is what single precision does")]
        let single = exact.matrix().map(|entry| f64::from(entry as f32));
        let drifted = exact.matrix()
            + Matrix3::from_fn(|i, j| 3e-3 * angle(4 + 3 * u32::try_from(i + 2 * j).unwrap_or(0)));
        for (R, off) in [(single, 1e-7), (drifted, 0.03)] {
            if state.set_pose(body, with(R)).is_err() {
                assert!(off > 1e-3, "{seed}");
                continue;
            }
            let found = state.positions().pose(body);
            let R_found = found.rotation.matrix();
            // Some roundings of numbers up to one.
            assert!((R_found * R_found.transpose() - Matrix3::identity()).amax() < 1e-15, "{seed}");
            assert!((R_found.determinant() - 1.0).abs() < 1e-15 && (R_found - R).amax() < off, "{seed}");
            assert_eq!(found.translation, with(R).translation);
        }
    }
    let kept = *state.positions().pose(body);
    let mirrored = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0));
    let mut sheared = Matrix3::identity();
    sheared[(0, 1)] = 0.02;
    for R in [
        Matrix3::identity() * 1.02,
        Matrix3::identity() * 0.5,
        mirrored,
        sheared,
        Matrix3::zeros(),
        Matrix3::repeat(1e200),
    ] {
        assert_eq!(state.set_pose(body, with(R)), Err(KinematicsError::NoRotation { body }.into()));
    }
    assert_eq!(*state.positions().pose(body), kept);
}

#[test]
fn a_failed_setting_of_dissipated_energy_changes_nothing() {
    let (world, other) = (world(), world());
    let mut state = moving_state(&world);
    let before = (state.stage(), state.snapshot());
    assert!(world.system.set_dissipated_energy(&mut state, world.bushing, f64::NAN).is_err());
    assert!(world.system.set_dissipated_energy(&mut state, other.bushing, 1.0).is_err());
    assert_eq!((state.stage(), state.snapshot()), before);
}

#[test]
fn a_force_that_is_not_finite_names_its_element() {
    let world = world();
    let mut state = moving_state(&world);
    state.set_coordinate(world.coordinate, 1e308).expect("finite");
    let slider = "coordinate_spring_damper_ext[0]";
    world.system.set_variable(&mut state, &format!("{slider}.stiffness"), 1e10).expect("valid");
    let refused = world.system.realize_dynamics(&mut state).err();
    assert_eq!(
        refused.map(|error| error.to_string()),
        Some(format!("{slider}: the force or the energy is not finite"))
    );
    assert!(state.stage() < Stage::Dynamics);
}
