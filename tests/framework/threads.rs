//! Evaluations on several threads: the same bits and the same first failure as on one.
#![cfg(feature = "rayon")]

use core::f64::consts::FRAC_PI_2;

use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::{
    BodyIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ExponentialSpring, ForceSystem, Frame,
    LinearBushing, Pose, SpatialVelocity, State, Station, coordinate_spring_damper_ext, exponential_spring,
    linear_bushing,
};
use force_elements_scenes::cables::Dice;

/// So many of each kind are handed to other threads; half of one more than a power of two, so that parts differ in length.
const COUNT: usize = 4500;

fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(run)
}

/// Bushings and springs on one body, and bristles on a coordinate, whose places differ. The bushings at these places are
/// turned to where their angles are singular.
fn crowd(singular: &[usize]) -> Result<(ForceSystem<f64>, BodyIndex, State<f64>), Error> {
    let (mut system, mut dice) = (ForceSystem::new(), Dice::new(1));
    let (body, slider) = (system.add_body(), system.add_coordinate());
    for i in 0..COUNT {
        let turn = if singular.contains(&i) {
            Rotation3::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2)
        } else {
            Rotation3::new(dice.vector(0.3))
        };
        let frame = Frame::ground(Pose::from_parts(Translation3::from(dice.vector(0.1)), turn));
        system.add(LinearBushing::new(frame, Frame::of(body), linear_bushing::Parameters::default())?)?;
        let station = Station::on(body, Point3::from(dice.vector(0.2)));
        let floor = Frame::ground(Pose::identity());
        system.add(ExponentialSpring::new(floor, station, exponential_spring::Parameters::default())?)?;
        let friction = coordinate_spring_damper_ext::Parameters {
            dynamic_friction: dice.between(0.1, 2.0),
            sticking_stiffness: 100.0,
            ..Default::default()
        };
        system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), friction)?)?;
    }
    let mut state = system.default_state();
    state.set_coordinate(slider, 0.01)?;
    state.set_coordinate_rate(slider, 0.2)?;
    Ok((system, body, state))
}

#[test]
fn forces_and_memory_have_the_same_bits_on_any_number_of_threads() -> Result<(), Error> {
    let (system, body, state) = crowd(&[])?;
    let run = |threads| {
        on_threads(threads, || {
            let mut state = state.clone();
            let mut forces = Vec::new();
            for step in 1..4 {
                let time = 1e-3 * f64::from(step);
                state.set_time(time)?;
                let V_GB = SpatialVelocity::new(Vector3::z() * 0.3, Vector3::new(0.2, 0.1, -0.1));
                state.set_body(body, Pose::translation(0.2 * time, 0.1 * time, -0.1 * time), V_GB)?;
                let F_GB = system.realize_dynamics(&mut state)?.body_force(body);
                forces.push([F_GB.torque, F_GB.force].map(|v| v.map(f64::to_bits)));
                system.accept_step(&mut state)?;
            }
            Ok::<_, Error>((forces, state.to_bytes()))
        })
    };
    let serial = run(1)?;
    for threads in [2, 3, 7] {
        assert!(run(threads)? == serial, "{threads} threads");
    }
    Ok(())
}

#[test]
fn the_first_element_that_fails_is_named_on_any_number_of_threads() -> Result<(), Error> {
    // In the parts of different threads, and in one block.
    for singular in [[700, 4000], [701, 702], [COUNT - 2, COUNT - 1]] {
        let (system, _, state) = crowd(&singular)?;
        for threads in [1, 2, 3, 7] {
            let failure = on_threads(threads, || {
                let mut state = state.clone();
                system.realize_dynamics(&mut state).map(|_| ()).expect_err("singular")
            });
            let Error::Element { element, .. } = &failure else { panic!("{failure}") };
            assert_eq!(
                (element.kind, element.index),
                ("linear_bushing", Some(singular[0])),
                "{threads} threads"
            );
        }
    }
    Ok(())
}

#[test]
fn the_first_commit_that_fails_is_named_and_nothing_is_committed_on_any_number_of_threads()
-> Result<(), Error> {
    let (system, body, mut state) = crowd(&[])?;
    system.reset_memories(&mut state)?;
    let springs: Vec<_> =
        system.elements().filter_map(|id| system.handle::<ExponentialSpring<f64>>(id)).collect();
    for late in [[700, 4000], [701, 702], [COUNT - 2, COUNT - 1]] {
        let mut state = state.clone();
        for place in late {
            system.update_discrete(&mut state, springs[place], |memory| memory.last_update = 1.0)?;
        }
        state.set_time(0.5)?;
        state.set_pose(body, Pose::translation(0.01, 0.0, 0.0))?;
        system.realize_dynamics(&mut state)?;
        let before = state.to_bytes();
        for threads in [1, 2, 3, 7] {
            let failure = on_threads(threads, || system.accept_step(&mut state).expect_err("late"));
            let Error::Element { element, .. } = &failure else { panic!("{failure}") };
            let first = ("exponential_spring", Some(late[0]));
            assert_eq!((element.kind, element.index), first, "{threads} threads");
            assert!(state.to_bytes() == before, "{threads} threads");
        }
    }
    Ok(())
}
