//! Opening of energy accounts, and the entries in them.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::Point3;
use force_elements::{
    BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, CustomForce, Error,
    ExponentialSpring, ForceSystem, Frame, Handle, KinematicsSource, LinearBushing, Pose, Progress,
    SpatialVelocity, State, Station, StepRule,
};

use super::{Bench, Fading, Masses, RULES};

#[test]
fn accounts_that_nobody_feeds_are_closed() -> Result<(), Error> {
    let mut bench = Bench::new(Masses::thrown(1.0))?;
    let mut state = bench.system.default_state();
    state.set_kinematics(&bench.host)?;
    let lost = |state: &mut _| Ok::<_, Error>(bench.system.realize_dynamics(state)?.dissipated_energy());
    assert_eq!(lost(&mut state)?, None, "nobody has opened them");
    bench.system.reset_dissipated_energy(&mut state)?;
    assert_eq!(lost(&mut state)?, Some(0.0));
    bench.system.accept_step(&mut state)?;
    assert_eq!(lost(&mut state)?, Some(0.0), "nothing has moved");
    for step in 1..3 {
        bench.host.drift(1e-3);
        state.set_kinematics(&bench.host)?;
        assert_eq!(lost(&mut state)?.is_some(), step == 1, "a trial closes nothing");
        bench.system.accept_step(&mut state)?;
        assert_eq!(lost(&mut state)?, None);
    }
    // What comes too late opens nothing.
    bench.host.drift(1e-3);
    bench.system.finish_step(&mut state, &bench.host, StepRule::Trapezoid)?;
    assert_eq!(lost(&mut state)?, None);
    Ok(())
}

/// The motion that is set after variables have been restored is theirs; the next one is a step.
#[test]
fn accounts_of_a_restored_state_are_closed_by_the_first_motion_that_nobody_feeds() -> Result<(), Error> {
    let mut bench = Bench::new(Masses::thrown(1.0))?;
    bench.euler(1e-3, StepRule::HeldForces)?;
    let (lost, bytes, start) = (bench.dissipated()?, bench.state.to_bytes(), bench.host);
    assert!(lost.is_some());
    let restored = |is_realized: bool| {
        let mut state = bench.system.default_state();
        if is_realized {
            bench.system.realize_dynamics(&mut state)?;
        }
        state.restore_bytes(&bytes)?;
        state.set_kinematics(&start)?;
        Ok::<_, Error>(state)
    };
    for is_realized in [false, true] {
        let mut state = restored(is_realized)?;
        bench.system.realize_dynamics(&mut state)?;
        bench.system.accept_step(&mut state)?;
        assert_eq!(bench.system.realize_dynamics(&mut state)?.dissipated_energy(), lost, "it has not moved");
        for is_committed in [false, true] {
            let mut state = restored(is_realized)?;
            bench.system.realize_dynamics(&mut state)?;
            if is_committed {
                bench.system.accept_step(&mut state)?;
            }
            let mut end = start;
            end.drift(1e-3);
            state.set_kinematics(&end)?;
            bench.system.realize_dynamics(&mut state)?;
            bench.system.accept_step(&mut state)?;
            assert_eq!(bench.system.realize_dynamics(&mut state)?.dissipated_energy(), None);
        }
    }
    Ok(())
}

#[test]
fn a_state_saved_within_a_step_goes_on_from_how_far_it_had_come() -> Result<(), Error> {
    let mut bench = Bench::new(Masses::thrown(1.0))?;
    bench.euler(1e-3, StepRule::HeldForces)?;
    let mut state = bench.state.clone();
    assert_eq!(
        (bench.system.default_state().progress(), state.progress()),
        (Progress::New, Progress::Evaluated)
    );
    bench.host.drift(1e-3);
    state.set_kinematics(&bench.host)?;
    assert_eq!(state.progress(), Progress::Moved);
    // By the calls that led there.
    let mut resumed = bench.system.default_state();
    resumed.restore_bytes(&state.to_bytes())?;
    assert_eq!(resumed.progress(), Progress::New);
    resumed.set_kinematics(&bench.host)?;
    assert_eq!(resumed.progress(), Progress::Placed);
    bench.system.realize_dynamics(&mut resumed)?;
    assert_eq!(resumed.progress(), Progress::Evaluated);
    resumed.set_time(resumed.time())?;
    for mut state in [state, resumed] {
        bench.system.realize_dynamics(&mut state)?;
        assert_eq!(state.progress(), Progress::Moved);
        bench.system.accept_step(&mut state)?;
        assert_eq!(bench.system.realize_dynamics(&mut state)?.dissipated_energy(), None);
        assert_eq!(state.progress(), Progress::Evaluated);
    }
    // What was integrated stays open.
    let mut fed = bench.state.clone();
    bench.host.drift(1e-3);
    fed.set_kinematics(&bench.host)?;
    let absorbed = bench.state.continuous().to_vec();
    fed.set_continuous(&absorbed)?;
    bench.system.realize_dynamics(&mut fed)?;
    assert_eq!(fed.progress(), Progress::Evaluated);
    bench.system.accept_step(&mut fed)?;
    assert!(bench.system.realize_dynamics(&mut fed)?.dissipated_energy().is_some());
    Ok(())
}

#[test]
fn accounts_that_finish_step_feeds_stay_open() -> Result<(), Error> {
    for rule in RULES {
        let mut bench = Bench::new(Masses::thrown(1.0))?;
        let mut last = 0.0;
        for _ in 0..100 {
            bench.euler(1e-3, rule)?;
            let lost = bench.dissipated()?.expect("open");
            assert!(lost > last, "{rule:?}: {last} J fell to {lost} J");
            last = lost;
        }
    }
    Ok(())
}

/// Nobody knows the work of a motion in no time, for its velocity is not that of the host.
#[test]
fn accounts_are_closed_by_a_motion_that_takes_no_time() -> Result<(), Error> {
    let mut bench = Bench::new(Masses::thrown(1.0))?;
    let lost = |bench: &mut Bench<f64>| {
        bench.system.finish_step(&mut bench.state, &bench.host, StepRule::HeldForces)?;
        bench.dissipated()
    };
    assert_eq!(lost(&mut bench)?, Some(0.0), "a pause");
    bench.host.V.linear.x = 3.0;
    assert_eq!(lost(&mut bench)?, Some(0.0), "a blow does no work on a bushing");
    bench.host.X = Pose::translation(0.01, 0.0, 0.0);
    assert_eq!(lost(&mut bench)?, None);

    let mut state = bench.system.default_state();
    bench.system.reset_dissipated_energy(&mut state)?;
    state.set_pose(bench.body, Pose::translation(0.01, 0.0, 0.0))?;
    bench.system.realize_dynamics(&mut state)?;
    bench.system.accept_step(&mut state)?;
    assert_eq!(bench.system.realize_dynamics(&mut state)?.dissipated_energy(), None);
    Ok(())
}

#[test]
fn the_stored_energy_leaves_with_a_disabled_element_and_its_account_goes_on() -> Result<(), Error> {
    for rule in RULES {
        let mut bench = Bench::new(Masses::thrown(1.0))?;
        let bushing = bench.bushing;
        let books = |bench: &mut Bench<f64>| {
            let dynamics = bench.system.realize_dynamics(&mut bench.state)?;
            let lost = dynamics.dissipated_energy_of(bushing).expect("open");
            Ok::<_, Error>((lost, dynamics.potential_energy_of(bushing)))
        };
        (0..50).try_for_each(|_| bench.euler(1e-3, rule))?;
        let (lost, stored) = books(&mut bench)?;
        assert!(lost > 1e-3 && stored > 1e-3);
        bench.system.set_enabled(&mut bench.state, bushing, false)?;
        let disabled = books(&mut bench)?;
        assert!((disabled.0 - lost).abs() < 1e-15 && disabled.1 == 0.0);
        (0..50).try_for_each(|_| bench.euler(1e-3, rule))?;
        assert_eq!(books(&mut bench)?, disabled, "it does nothing");
        bench.system.set_enabled(&mut bench.state, bushing, true)?;
        let enabled = books(&mut bench)?;
        assert!((enabled.0 - lost).abs() < 1e-15 && enabled.1 > stored, "the body has gone on");
        bench.euler(1e-3, rule)?;
        assert!(books(&mut bench)?.0 > lost);
    }
    Ok(())
}

#[test]
fn the_accounts_of_others_go_on_to_the_last_bit_when_one_is_removed() -> Result<(), Error> {
    for rule in RULES {
        let mut alone = Bench::new(Masses::thrown(1.0))?;
        let mut bench = Bench::new(Masses::thrown(1.0))?;
        // Another body, before which and after which there are others by place.
        let other = bench.system.add_body();
        let grip = LinearBushing::new(
            Frame::ground(Pose::identity()),
            Frame::of(other),
            bench.state.parameters(bench.bushing).law,
        )?;
        let (grip, motor) = (bench.system.add(grip)?, bench.system.add(Fading(other))?);
        bench.system.carry_over(&mut bench.state)?;
        bench.state.set_kinematics(&bench.host)?;
        bench.system.set_dissipated_energy(&mut bench.state, grip, 0.0)?;
        bench.system.set_dissipated_energy(&mut bench.state, motor, 0.0)?;
        for step in 0..100 {
            if step == 50 {
                assert!(bench.dissipated()?.is_some());
                bench.system.remove(grip)?;
                bench.system.remove(motor)?;
                bench.system.remove_body(other)?;
                bench.system.carry_over(&mut bench.state)?;
            }
            bench.euler(1e-3, rule)?;
            alone.euler(1e-3, rule)?;
            let [a, b] = [&alone, &bench]
                .map(|one| one.state.variable(&format!("{}.absorbed_energy", one.bushing.id())));
            assert_eq!(a?, b?, "{rule:?}, step {step}");
        }
        assert_eq!(bench.dissipated()?, alone.dissipated()?);
    }
    Ok(())
}

#[test]
fn a_step_does_not_allocate_after_the_first() -> Result<(), Error> {
    for rule in RULES {
        let mut bench = Bench::with_motor(Masses::thrown(1.0))?;
        let foot = Station::on(bench.body, Point3::new(0.0, 0.0, -0.01));
        let ground = Frame::ground(Pose::identity());
        bench.system.add(ExponentialSpring::new(ground, foot, Parameters::default())?)?;
        bench.system.carry_over(&mut bench.state)?;
        bench.system.reset_memories(&mut bench.state)?;
        bench.euler(1e-3, rule)?;
        let mut outcome = Ok(());
        let counted = allocation_counter::measure(|| {
            outcome = (0..20).try_for_each(|_| bench.euler(1e-3, rule));
        });
        outcome?;
        assert_eq!(counted.count_total, 0, "{rule:?}");
    }
    Ok(())
}

/// A load of 3 N on a block of 1 kg, held by an anchor; dissipated and stored energy before and after a change.
fn held_block(
    change: impl FnOnce(&ForceSystem<f64>, &mut State<f64>, Handle<ExponentialSpring<f64>>) -> Result<(), Error>,
) -> Result<[(f64, f64); 2], Error> {
    let parameters = Parameters::<f64>::default();
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        parameters,
    )?;
    let spring = system.add(spring)?;
    let height = parameters.resting_height(9.81)?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, height))?;
    system.reset_memories(&mut state)?;
    system.update_discrete(&mut state, spring, |memory| memory.sliding = 0.0)?;
    // Drawn out slowly, as by a hand.
    state.set_pose(body, Pose::translation(3.0 / parameters.friction_elasticity, 0.0, height))?;
    system.reset_dissipated_energy(&mut state)?;
    let account = |state: &mut State<f64>| {
        let dynamics = system.realize_dynamics(state)?;
        Ok::<_, Error>((
            dynamics.dissipated_energy_of(spring).expect("open"),
            dynamics.potential_energy_of(spring),
        ))
    };
    let before = account(&mut state)?;
    change(&system, &mut state, spring)?;
    Ok([before, account(&mut state)?])
}

#[test]
fn what_a_held_stretch_loses_as_friction_is_lowered_is_dissipated() -> Result<(), Error> {
    // Of the force of 3 N the lower limit holds 0.2·9.81 N.
    let [before, after] = held_block(|system, state, spring| {
        system.update_parameters(state, spring, |p| p.set_mu_static(0.2))
    })?;
    let released = (9.0 - (0.2_f64 * 9.81).powi(2)) / (2.0 * 20_000.0);
    assert!((before.1 - after.1 - released).abs() < 1e-12, "{before:?}, {after:?}");
    assert!((after.0 - before.0 - released).abs() < 1e-12, "{before:?}, {after:?}");
    Ok(())
}

#[test]
fn what_friction_loses_is_dissipated_where_the_same_write_supplies_more() -> Result<(), Error> {
    // Twice the load on the plane, of which the lower limit holds 0.05.
    let [before, after] = held_block(|system, state, spring| {
        system.update_parameters(state, spring, |p| {
            p.d1 *= 2.0;
            p.set_mu_static(0.05);
        })
    })?;
    assert!(after.1 > before.1, "{before:?}, {after:?}");
    let lost = (9.0 - (0.05_f64 * 2.0 * 9.81).powi(2)) / (2.0 * 20_000.0);
    assert!((after.0 - before.0 - lost).abs() < 1e-12, "{before:?}, {after:?}");
    Ok(())
}

#[test]
fn what_a_change_of_stiffness_releases_is_received_by_the_caller() -> Result<(), Error> {
    for factor in [0.5, 1.2] {
        let [before, after] = held_block(|system, state, spring| {
            system.update_parameters(state, spring, |p| p.friction_elasticity *= factor)
        })?;
        let supplied = (factor - 1.0) * 9.0 / (2.0 * 20_000.0);
        assert!((after.1 - before.1 - supplied).abs() < 1e-12, "{before:?}, {after:?}");
        assert!((after.0 - before.0).abs() < 1e-12, "{before:?}, {after:?}");
    }
    Ok(())
}

#[test]
fn what_bristles_have_stored_when_they_are_switched_off_is_dissipated() -> Result<(), Error> {
    use force_elements::coordinate_spring_damper_ext::{Discrete, Parameters};
    let parameters = Parameters {
        stiffness: 50.0,
        dynamic_friction: 2.0,
        sticking_stiffness: 1e4,
        ..Parameters::default()
    };
    let stuck = Discrete::default();
    let slipping =
        Discrete { friction_mode: 2.0, last_sticking_position: 1e-4, bristle_energy: 2e-4, ..stuck };
    let without_friction = |p: &mut Parameters<f64>| p.dynamic_friction = 0.0;
    let without_any = |p: &mut Parameters<f64>| (p.dynamic_friction, p.sticking_stiffness) = (0.0, 0.0);
    let in_a_zone =
        |p: &mut Parameters<f64>| (p.friction_proportional_zone, p.sticking_stiffness) = (0.01, 2e4);
    let on_a_stiffer_spring = |p: &mut Parameters<f64>| (p.dynamic_friction, p.stiffness) = (0.0, 1e5);
    for (memory, bent) in [(stuck, 0.5 * 1e4 * 1e-4 * 1e-4), (slipping, 2e-4)] {
        for switch_off in [without_friction, without_any, in_a_zone, on_a_stiffer_spring] {
            let mut system = ForceSystem::<f64>::new();
            let slider = system.add_coordinate();
            let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters)?;
            let element = system.add(element)?;
            let mut state = system.default_state();
            state.set_coordinate(slider, 1e-4)?;
            system.set_discrete(&mut state, element, memory)?;
            system.reset_dissipated_energy(&mut state)?;
            let account = |state: &mut State<f64>| {
                let dynamics = system.realize_dynamics(state)?;
                Ok::<_, Error>([dynamics.dissipated_energy().expect("open"), dynamics.potential_energy()])
            };
            let [_, stored] = account(&mut state)?;
            system.update_parameters(&mut state, element, switch_off)?;
            let spring = stored - bent;
            let factor = state.parameters(element).stiffness / parameters.stiffness;
            let expect = |state: &mut State<f64>, [lost, left]: [f64; 2]| {
                let found = account(state)?;
                let is_right = (found[0] - lost).abs() < 1e-15 && (found[1] - left).abs() < 1e-15;
                assert!(is_right, "{memory:?}: {found:?} for {lost} J lost and {left} J left");
                Ok::<_, Error>(())
            };
            expect(&mut state, [bent, factor * spring])?;
            // The caller receives what the spring releases, and no bristle is bent anew.
            system.update_parameters(&mut state, element, |p| p.stiffness = 20.0)?;
            expect(&mut state, [bent, 0.4 * spring])?;
            system.set_parameters(&mut state, element, Parameters { stiffness: 20.0, ..parameters })?;
            expect(&mut state, [bent, 0.4 * spring])?;
        }
    }
    Ok(())
}

/// A catapult: in the first second a drive stretches its spring by 1 m, in the next the spring is let go.
struct Catapult {
    time: f64,
}

impl Catapult {
    /// From 0 to 1 between these times, and the rate.
    fn eased(time: f64, start: f64) -> (f64, f64) {
        let x = (time - start).clamp(0.0, 1.0);
        (x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x))
    }
}

impl KinematicsSource<f64> for Catapult {
    fn time(&self) -> f64 {
        self.time
    }
    fn pose(&self, _: BodyIndex) -> Pose<f64> {
        Pose::identity()
    }
    fn velocity(&self, _: BodyIndex) -> SpatialVelocity<f64> {
        SpatialVelocity::zero()
    }
    fn coordinate(&self, _: CoordinateIndex) -> f64 {
        -Self::eased(self.time, 1.0).0
    }
    fn coordinate_rate(&self, _: CoordinateIndex) -> f64 {
        -Self::eased(self.time, 1.0).1
    }
}

#[test]
fn a_drive_that_states_what_it_supplies_is_no_sign_of_too_long_a_step() -> Result<(), Error> {
    for states in [true, false] {
        let mut system = ForceSystem::<f64>::new();
        let coordinate = system.add_coordinate();
        let element = system.add(CustomForce::<f64>::new(move |motion, loads| {
            let (drawn, rate) = Catapult::eased(motion.time(), 0.0);
            let stretch = motion.coordinate(coordinate) + drawn;
            loads.apply_to_coordinate(coordinate, -100.0 * stretch);
            if states {
                loads.supply(100.0 * stretch * rate);
            }
            50.0 * stretch * stretch
        }))?;
        let mut state = system.default_state();
        system.reset_dissipated_energy(&mut state)?;
        let run = (1..=2000).try_for_each(|step| {
            let host = Catapult { time: f64::from(step) * 1e-3 };
            system.finish_step(&mut state, &host, StepRule::Trapezoid)
        });
        if states {
            run?;
            let lost = system.realize_dynamics(&mut state)?.dissipated_energy_of(element).expect("open");
            // The trapezoids of 50 J err by a twelfth of the square of the step times the change of the slopes of power, below
            // 1 kW/s each.
            assert!(lost.abs() < 2e-4, "{lost}");
        } else {
            assert!(matches!(run, Err(Error::EnergyGained { .. })), "{run:?}");
        }
    }
    Ok(())
}
