//! The reference simulator against motions that are known.

use approx::assert_relative_eq;
use force_elements::coordinate_spring_damper_ext::Parameters;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, Saved, SemiImplicitEuler, Simulation,
    SimulationError,
};
use force_elements::{
    BodyIndex, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ElementError, Error, ForceSystem,
    Frame, InvalidValue, KinematicsError, LinearBushing, Pose, Requirement, SpatialForce, SpatialVelocity,
    State, linear_bushing,
};
use force_elements_scenes::tension::tension;

/// Where an oscillator of 1 Hz that starts at 1 m is after 1.3 s.
fn oscillator(integrator: &mut dyn Integrator<f64>) -> f64 {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 2.0).expect("positive");
    let stiffness = 2.0 * core::f64::consts::TAU.powi(2);
    let spring = CoordinateSpringDamperExt::new(
        CoordinatePair::on(slider),
        Parameters { stiffness, ..Parameters::default() },
    );
    system.add(spring.expect("valid")).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, 1.0).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    while simulation.time() < 1.3 {
        integrator.step(&mut simulation, 1.3).expect("steps");
    }
    assert_eq!(simulation.time(), 1.3);
    simulation.state().positions().coordinate(slider)
}

#[test]
fn error_falls_with_the_order_of_the_integrator() {
    let exact = (core::f64::consts::TAU * 1.3).cos();
    for i in 5..10 {
        // Global error: hundreds of steps of the local accuracy.
        let accuracy = 0.1_f64.powi(i);
        assert!((oscillator(&mut DormandPrince::new(accuracy)) - exact).abs() < 1e3 * accuracy);
    }
    let euler = |step: f64| (oscillator(&mut SemiImplicitEuler::new(step)) - exact).abs();
    // Order one: half the step, half the error, to a tenth.
    assert_relative_eq!(euler(1e-4) / euler(5e-5), 2.0, epsilon = 0.2);
    // Order two: a quarter.
    let trapezoidal = |step: f64| (oscillator(&mut Implicit::trapezoidal(step)) - exact).abs();
    assert_relative_eq!(trapezoidal(2e-3) / trapezoidal(1e-3), 4.0, epsilon = 0.2);
    let damped = |step: f64| (oscillator(&mut Implicit::tr_bdf2(step)) - exact).abs();
    assert_relative_eq!(damped(2e-3) / damped(1e-3), 4.0, epsilon = 0.2);
    let controlled = |integrator: &mut dyn Integrator<f64>, accuracy: f64| {
        let found = (oscillator(integrator) - exact).abs();
        // Each step errs by up to 7 times the accuracy, for speeds of 6 m/s; with steps as long as
        // that allows there are 4·accuracy^(-1/3) of them.
        let allowed = 7.0 * accuracy * 4.0 / accuracy.cbrt();
        assert!(found < 2.0 * allowed, "{found:e} at {accuracy:e}");
    };
    for accuracy in [1e-4_f64, 1e-5, 1e-6, 1e-7] {
        controlled(&mut Implicit::trapezoidal(0.1).with_accuracy(accuracy), accuracy);
        controlled(&mut Implicit::tr_bdf2(0.1).with_accuracy(accuracy), accuracy);
    }
}

/// Bodies of equal inertia on a damped spring across them: the work of the forces that the method holds is the loss of
/// kinetic energy, to rounding.
#[test]
fn energies_of_the_semi_implicit_euler_method_balance() {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let [first, second] = [1.0, 0.5].map(|mass| {
        plant.add_body(&mut system, RigidBody::with_equal_inertia(mass, 0.01).expect("positive"))
    });
    let mount = LinearBushing::new(
        Frame::on(first, Pose::translation(0.3, 0.0, 0.0)),
        Frame::on(second, Pose::translation(-0.3, 0.1, 0.0)),
        linear_bushing::Parameters {
            stiffness: Vector6::new(20.0, 30.0, 40.0, 900.0, 500.0, 700.0),
            damping: Vector6::repeat(0.02),
        },
    );
    system.add(mount.expect("valid")).expect("exists");
    let mut state = system.default_state();
    state.set_pose(second, Pose::translation(0.65, -0.1, 0.02)).expect("finite");
    let kinetic = |state: &State<f64>| {
        let of = |body, mass: f64| {
            let V = state.velocities().velocity(body);
            0.5 * (mass * V.linear.norm_squared() + 0.01 * V.angular.norm_squared())
        };
        of(first, 1.0) + of(second, 0.5)
    };
    for step in [1e-3, 2e-4] {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        let begun = simulation.dynamics().expect("regular").potential_energy();
        simulation.run(&mut SemiImplicitEuler::new(step), 3.0, |_| {}).expect("regular");
        let moving = kinetic(simulation.state());
        let dynamics = simulation.dynamics().expect("regular");
        let dissipated = dynamics.dissipated_energy().expect("open");
        assert!(dissipated > 0.5 * begun, "{dissipated} of {begun}");
        // Of some thousand steps, each rounded a few times.
        assert_relative_eq!(moving + dynamics.potential_energy() + dissipated, begun, max_relative = 1e-11);
    }
}

#[test]
fn a_free_body_keeps_momentum_and_energy_while_it_tumbles() {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let center = Point3::new(0.3, -0.2, 0.1);
    let inertia = Matrix3::new(2.0, 0.3, 0.1, 0.3, 3.0, -0.2, 0.1, -0.2, 4.0);
    let body = plant.add_body(&mut system, RigidBody::new(5.0, center, inertia).expect("positive definite"));
    let mut state = system.default_state();
    let pose =
        Pose::from_parts(Translation3::new(1.0, 2.0, 3.0), Rotation3::from_euler_angles(0.3, 0.2, 0.1));
    state
        .set_body(body, pose, SpatialVelocity::new(Vector3::new(1.0, 5.0, -2.0), Vector3::new(0.1, 0.2, 0.3)))
        .expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let motion = |simulation: &Simulation<'_, f64>| {
        let X = simulation.state().positions().pose(body);
        let V = simulation.state().velocities().velocity(body);
        let R = X.rotation.matrix();
        let at_center = V.shifted(X.rotation * center.coords);
        let p = (X * center).coords;
        let spin = R * inertia * R.transpose() * V.angular;
        (at_center.linear * 5.0, p.cross(&(at_center.linear * 5.0)) + spin, simulation.kinetic_energy())
    };
    let (p, L, E) = motion(&simulation);
    simulation.run(&mut DormandPrince::new(1e-10), 10.0, |_| {}).expect("runs");
    let (p1, L1, E1) = motion(&simulation);
    // 1e-10 a step, some thousand steps, values of order 30.
    assert_relative_eq!(p, p1, epsilon = 1e-6);
    assert_relative_eq!(L, L1, epsilon = 1e-6);
    assert_relative_eq!(E, E1, epsilon = 1e-6);
}

#[test]
fn loads_do_work_and_bad_plants_are_refused() {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(2.0, 1.0).expect("positive"));
    let slider = plant.add_coordinate(&mut system, 4.0).expect("positive");
    plant
        .set_body_load(body, SpatialForce::new(Vector3::new(0.0, 0.0, 3.0), Vector3::new(6.0, 0.0, 0.0)))
        .expect("finite");
    plant.set_coordinate_load(slider, 8.0).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, system.default_state()).expect("regular");
    simulation.run(&mut DormandPrince::new(1e-10), 2.0, |_| {}).expect("runs");
    let velocity = simulation.state().velocities();
    assert_relative_eq!(velocity.velocity(body).linear.x, 6.0, epsilon = 1e-9);
    assert_relative_eq!(velocity.velocity(body).angular.z, 6.0, epsilon = 1e-9);
    assert_relative_eq!(velocity.coordinate_rate(slider), 4.0, epsilon = 1e-9);
    assert_relative_eq!(simulation.supplied_work(), simulation.kinetic_energy(), epsilon = 1e-7);
    assert_relative_eq!(simulation.work_balance(), 0.0, epsilon = 1e-7);

    let name = |refused: Result<_, InvalidValue>| refused.err().map(|v| v.name);
    assert_eq!(name(RigidBody::with_equal_inertia(0.0, 1.0)), Some("mass"));
    assert_eq!(name(RigidBody::with_equal_inertia(1.0, -1.0)), Some("inertia"));
    let lopsided = Matrix3::new(1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    assert_eq!(name(RigidBody::new(1.0, Point3::origin(), lopsided)), Some("asymmetry of inertia"));
    let refused = plant.add_coordinate(&mut system, f64::NAN).expect_err("no mass");
    assert_eq!(refused.forces().and_then(Error::invalid_value).map(|v| v.name), Some("mass"));
    assert_eq!(plant.set_coordinate_load(slider, f64::NAN), Err(SimulationError::NonFinite));
    let on_ground = plant.set_body_load(BodyIndex::GROUND, SpatialForce::zero());
    assert_eq!(on_ground, Err(KinematicsError::GroundIsFixed.into()));
    let stranger = ForceSystem::<f64>::new();
    assert_eq!(
        Simulation::new(&stranger, &plant, stranger.default_state()).err(),
        Some(SimulationError::OtherBodies)
    );
}

#[test]
fn a_plant_takes_the_bodies_of_a_system_in_their_order() -> Result<(), SimulationError> {
    let mut system = ForceSystem::<f64>::new();
    let [light, heavy] = [(); 2].map(|()| system.add_body());
    let slider = system.add_coordinate();
    let body = |mass| RigidBody::with_equal_inertia(mass, 1.0);
    let load = SpatialForce::new(Vector3::zeros(), Vector3::x() * 6.0);
    let mut plant = Plant::new(Vector3::zeros())?;
    plant.put_body(light, body(2.0)?);
    plant.put_body(heavy, body(3.0)?);
    plant.put_coordinate(slider, 4.0)?;
    for body in [light, heavy] {
        plant.set_body_load(body, load)?;
    }
    plant.set_coordinate_load(slider, 8.0)?;
    let mut simulation = Simulation::new(&system, &plant, system.default_state())?;
    simulation.run(&mut DormandPrince::new(1e-10), 2.0, |_| {})?;
    let velocities = simulation.state().velocities();
    assert_relative_eq!(velocities.velocity(light).linear.x, 6.0, epsilon = 1e-9);
    assert_relative_eq!(velocities.velocity(heavy).linear.x, 4.0, epsilon = 1e-9);
    assert_relative_eq!(velocities.coordinate_rate(slider), 4.0, epsilon = 1e-9);

    for wrong in [&[heavy, light][..], &[light], &[light, light], &[light, heavy, heavy]] {
        let mut plant = Plant::new(Vector3::zeros())?;
        for &index in wrong {
            plant.put_body(index, body(1.0)?);
        }
        plant.put_coordinate(slider, 1.0)?;
        let refused = Simulation::new(&system, &plant, system.default_state()).err();
        assert_eq!(refused, Some(SimulationError::OtherBodies), "{wrong:?}");
    }
    assert!(Plant::new(Vector3::zeros())?.put_coordinate(slider, 0.0).is_err());
    Ok(())
}

/// A slider that comes fast, is slowed by bristles and held by them.
fn braked_slider() -> (ForceSystem<f64>, Plant<f64>, State<f64>) {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 0.5).expect("positive");
    let parameters = Parameters {
        stiffness: 100.0,
        damping: 2.8,
        dynamic_friction: 1.5,
        static_friction_offset: 0.7,
        exponential_decay_static: 0.2,
        sticking_stiffness: 1e4,
        sticking_damping: 100.0,
        ..Parameters::default()
    };
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
    let element = system.add(element).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 10.0).expect("finite");
    system.update_discrete(&mut state, element, |discrete| discrete.friction_mode = 1.0).expect("valid");
    (system, plant, state)
}

#[test]
fn a_saved_simulation_resumes_bit_for_bit_through_friction_events() {
    fn resumes<I: Integrator<f64> + Clone>(mut integrator: I) {
        let (system, plant, state) = braked_slider();
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        let modes = |saved: &Saved<f64>| {
            saved.snapshot.iter().find(|(name, _)| name.ends_with("friction_mode")).map(|(_, value)| *value)
        };
        for stop in [0.05, 0.1035, 0.25, 0.7] {
            simulation.run(&mut integrator, stop, |_| {}).expect("runs");
            let saved = simulation.save();
            let mut copy = integrator.clone();
            let mut resumed = Simulation::resume(&system, &plant, &saved).expect("own system");
            assert_eq!(resumed.save(), saved);
            resumed.run(&mut copy, 2.0, |_| {}).expect("runs");
            let (mut original, mut integrator) =
                (Simulation::resume(&system, &plant, &saved).expect("own system"), integrator.clone());
            original.run(&mut integrator, 2.0, |_| {}).expect("runs");
            assert_eq!(original.save(), resumed.save());
            assert_ne!(modes(&resumed.save()), modes(&saved), "no friction event between {stop} s and 2 s");
        }
        // And the one that was never saved ends in the same bits.
        let saved = simulation.save();
        let mut resumed = Simulation::resume(&system, &plant, &saved).expect("own system");
        resumed.run(&mut integrator.clone(), 2.0, |_| {}).expect("runs");
        simulation.run(&mut integrator, 2.0, |_| {}).expect("runs");
        assert_eq!(simulation.save(), resumed.save());
    }
    resumes(DormandPrince::new(1e-6).with_max_step(1e-3));
    resumes(Implicit::trapezoidal(1e-3));
    resumes(SemiImplicitEuler::new(1e-4));
}

#[cfg(feature = "serde")]
#[test]
fn a_simulation_written_down_with_its_integrator_resumes_bit_for_bit() {
    fn resumes<I: Integrator<f64> + serde::Serialize + serde::de::DeserializeOwned>(mut integrator: I) {
        let (system, plant, state) = braked_slider();
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        simulation.run(&mut integrator, 0.1035, |_| {}).expect("runs");
        let text = serde_json::to_string(&(simulation.save(), &integrator)).expect("serialises");
        let (saved, mut read): (Saved<f64>, I) = serde_json::from_str(&text).expect("deserialises");
        let mut resumed = Simulation::resume(&system, &plant, &saved).expect("own system");
        resumed.run(&mut read, 2.0, |_| {}).expect("runs");
        simulation.run(&mut integrator, 2.0, |_| {}).expect("runs");
        assert_eq!(simulation.save(), resumed.save());
    }
    resumes(DormandPrince::new(1e-6));
    resumes(Implicit::trapezoidal(1e-3));
    resumes(Implicit::trapezoidal(1e-2).with_accuracy(1e-5));
    resumes(Implicit::tr_bdf2(1e-2).with_accuracy(1e-5));
    resumes(SemiImplicitEuler::new(1e-4));
}

#[test]
fn what_was_saved_and_has_been_spoilt_is_refused() {
    let (system, plant, state) = braked_slider();
    let good = Simulation::new(&system, &plant, state).expect("regular").save();
    let refused = |spoil: &dyn Fn(&mut Saved<f64>)| {
        let mut saved = good.clone();
        spoil(&mut saved);
        Simulation::resume(&system, &plant, &saved).err()
    };
    assert_eq!(refused(&|_| {}), None);
    // Position, rate.
    for i in 0..2 {
        let spoilt = refused(&|saved| saved.motion[i] = f64::NAN);
        assert_eq!(spoilt, Some(SimulationError::NonFinite));
    }
    let spoilt = refused(&|saved| saved.supplied_work = f64::INFINITY);
    assert_eq!(spoilt, Some(SimulationError::NonFinite));
    for (i, (name, _)) in good.snapshot.iter().enumerate() {
        let spoilt = refused(&|saved| saved.snapshot[i].1 = f64::NAN);
        assert!(spoilt.is_some(), "{name} is not a number");
    }
    let other_time = refused(&|saved| saved.snapshot[0].1 = 9.0);
    assert_eq!(other_time, Some(SimulationError::TimeMismatch { simulation: 0.0, state: 9.0 }));
    let other_time = refused(&|saved| saved.time = 9.0);
    assert_eq!(other_time, Some(SimulationError::TimeMismatch { simulation: 9.0, state: 0.0 }));
    let no_time = refused(&|saved| saved.time = f64::NAN);
    let value = no_time.as_ref().and_then(SimulationError::invalid_value);
    assert_eq!(value.map(|v| (v.name, v.requirement)), Some(("saved.time", Requirement::Finite)));
    assert_eq!(refused(&|saved| saved.motion.push(0.0)), Some(Error::TopologyMismatch.into()));
    let shorter = refused(&|saved| saved.snapshot.truncate(3));
    assert!(matches!(shorter, Some(SimulationError::Forces(Error::SnapshotMismatch { .. }))), "{shorter:?}");
    let elsewhere = Simulation::resume(&ForceSystem::new(), &plant, &good).err();
    assert_eq!(elsewhere, Some(SimulationError::OtherBodies));
}

#[test]
fn integrators_refuse_steps_and_accuracies_that_are_not_positive() {
    let (system, plant, state) = braked_slider();
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let before = simulation.save();
    let mut refused = |integrator: &mut dyn Integrator<f64>| {
        let error = integrator.step(&mut simulation, 1.0);
        error.err().and_then(|e| e.forces()?.invalid_value().copied()).is_some()
    };
    for bad in [0.0, -1e-6, f64::NAN] {
        assert!(refused(&mut SemiImplicitEuler::new(bad)));
        assert!(refused(&mut DormandPrince::new(bad)));
        assert!(refused(&mut DormandPrince::new(1e-6).with_max_step(bad)));
        assert!(refused(&mut Implicit::trapezoidal(bad)));
        assert!(refused(&mut Implicit::trapezoidal(1e-3).with_accuracy(bad)));
    }
    let endless = simulation.run(&mut DormandPrince::new(1e-6), f64::NAN, |_| {});
    let value = endless.as_ref().err().and_then(SimulationError::invalid_value);
    assert_eq!(value.map(|v| (v.name, v.requirement)), Some(("simulation.end", Requirement::Finite)));
    assert_eq!(simulation.save(), before);
}

#[test]
fn between_steps_energies_can_be_set_and_poses_cannot() {
    type Change = fn(&mut State<f64>, CoordinateIndex) -> Result<(), Error>;
    let (system, plant, state) = braked_slider();
    let slider = system.coordinates().next().expect("one");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut integrator = DormandPrince::new(1e-6);
    simulation.run(&mut integrator, 0.05, |_| {}).expect("runs");
    let before = simulation.save();
    let moves: [Change; 3] = [
        |state, slider| state.set_coordinate(slider, 50.0),
        |state, slider| state.set_coordinate_rate(slider, 50.0),
        |state, _| state.set_time(50.0),
    ];
    for change in moves {
        // With what would be booked there.
        let moved = simulation.update_state(|state| {
            change(state, slider)?;
            system.set_variable(state, "coordinate_spring_damper_ext[0].stiffness", 1e3)
        });
        assert_eq!(moved, Err(SimulationError::MotionChanged));
        assert_eq!(simulation.save(), before);
    }
    // There and back changes nothing.
    let q = simulation.state().positions().coordinate(slider);
    let back = simulation.update_state(|state| {
        state.set_coordinate(slider, 50.0)?;
        state.set_coordinate(slider, q)
    });
    assert_eq!(back, Ok(()));
    assert_eq!(simulation.save(), before);
    let fails = simulation.update_state(|state| {
        state.set_absorbed_energy(&[456.0])?;
        state.set_absorbed_energy(&[f64::NAN])
    });
    assert_eq!(fails, Err(Error::NonFiniteEnergy.into()));
    let mut larger = ForceSystem::new();
    larger.add_body();
    larger.add_coordinate();
    let strange = simulation.update_state(|state| {
        *state = larger.default_state();
        Ok(())
    });
    assert_eq!(strange, Err(Error::TopologyMismatch.into()));
    assert_eq!(simulation.save(), before);
    simulation.update_state(|state| state.set_absorbed_energy(&[123.0])).expect("finite");
    integrator.step(&mut simulation, 1.0).expect("steps");
    assert!(simulation.state().absorbed_energy()[0] > 122.0);
}

fn is_non_finite_force(refused: &SimulationError) -> bool {
    refused.forces().and_then(Error::element_error) == Some(&ElementError::NonFiniteForce)
}

#[test]
fn after_a_step_that_was_refused_a_host_can_mend_the_cause_and_go_on() {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    // Not a number beyond 0.1 m, until it is switched off.
    let wall = system.add(tension(slider, |_, q, _| if q > 0.1 { f64::NAN } else { 0.0 })).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1.0).expect("finite");
    let goes_on = |integrator: &mut dyn Integrator<f64>| {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        let refused = loop {
            let before = simulation.save();
            if let Err(refused) = integrator.step(&mut simulation, 1.0) {
                assert_eq!(simulation.save(), before);
                break refused;
            }
        };
        assert!(is_non_finite_force(&refused), "{refused:?}");
        let mend = |state: &mut State<f64>| system.set_enabled(state, wall, false);
        simulation.update_state(mend).expect("valid");
        while simulation.time() < 1.0 {
            integrator.step(&mut simulation, 1.0).expect("mended");
        }
    };
    goes_on(&mut DormandPrince::new(1e-6));
    goes_on(&mut Implicit::trapezoidal(1e-2));
    goes_on(&mut Implicit::trapezoidal(1e-2).with_accuracy(1e-6));
}

#[test]
fn a_step_whose_energies_overflow_is_refused_and_changes_nothing() {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    system.add(tension(slider, |_, _, _| 1e150)).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1e157).expect("finite");
    let refuses = |integrator: &mut dyn Integrator<f64>| {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        simulation.update_state(|state| state.set_absorbed_energy(&[f64::MAX])).expect("finite");
        let before = simulation.save();
        let refused = integrator.step(&mut simulation, 1.0);
        assert_eq!(refused, Err(Error::NonFiniteEnergy.into()));
        assert_eq!(simulation.save(), before);
    };
    refuses(&mut SemiImplicitEuler::new(1e-4));
    refuses(&mut DormandPrince::new(1e-6));
    refuses(&mut Implicit::trapezoidal(1e-4));
}

#[test]
fn a_longest_step_that_is_no_limit_leaves_error_control_its_work() {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let stops = Parameters {
        use_limit_stops: true,
        limit_stops_upper: 1.0,
        limit_stops_lower: -1.0,
        limit_stops_upper_stiffness: 1e9,
        limit_stops_lower_stiffness: 1e9,
        ..Parameters::default()
    };
    system
        .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stops).expect("valid"))
        .expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1.0).expect("finite");
    for max_step in [1.0, 1e3, 1e6] {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        let mut integrator = Implicit::trapezoidal(max_step).with_accuracy(1e-6);
        let mut turns = 0;
        let mut v = 1.0;
        simulation
            .run(&mut integrator, 5.0, |simulation| {
                let now = simulation.state().velocities().coordinate_rate(slider);
                turns += usize::from(now * v < 0.0);
                v = now;
            })
            .expect("runs");
        // At 1, 3 and 5 m of way.
        assert!(turns >= 2 && v.abs() < 1.01, "{turns} turns, {v} m/s with steps of up to {max_step} s");
    }
}

/// Sends a slider against a wall of this strength \[J\], beyond which there is no force; returns its velocity
/// after 4 s and the trials rejected.
fn against_a_wall(
    height: f64,
    integrator: &mut impl Integrator<f64>,
) -> Result<(f64, usize), SimulationError> {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let wall = move |_, q, _| if q < 1.0 { height / (1.0 - q) } else { f64::NAN };
    system.add(tension(slider, wall)).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1.5).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let ran = simulation.run(integrator, 4.0, |_| {});
    let v = simulation.state().velocities().coordinate_rate(slider);
    ran.map(|()| (v, simulation.statistics().rejected))
}

#[test]
fn a_trial_that_the_elements_cannot_follow_is_retried_shorter() {
    fn turned_back(integrator: &mut impl Integrator<f64>) {
        let (v, rejected) = against_a_wall(0.2, integrator).expect("the wall turns it back");
        assert!(v < 0.0 && rejected > 0, "{v} m/s, {rejected} rejected");
        // Where there is no force at all there is no step short enough, and the element's own error tells why.
        let refused = against_a_wall(0.0, integrator).expect_err("no force");
        assert!(is_non_finite_force(&refused), "{refused:?}");
    }
    turned_back(&mut DormandPrince::new(1e-3));
    turned_back(&mut Implicit::trapezoidal(0.1).with_accuracy(1e-3));
}

#[test]
fn an_implicit_step_that_cannot_be_solved_says_by_how_much() {
    // Dry friction without bristles has no force at rest that Newton could find.
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    system.add(tension(slider, |_, _, v| 10.0 * v.signum())).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1.5).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let refused = simulation.run(&mut Implicit::trapezoidal(1e-2), 1.0, |_| {});
    let Err(SimulationError::StepNotConverged { time, residual, iterations, .. }) = refused else {
        panic!("{refused:?}");
    };
    // It comes to rest at 0.15 s, and creeps on for some of the shortest steps, 1e-11 s.
    assert_relative_eq!(time, 0.15, epsilon = 1e-8);
    assert!(residual > 0.0 && iterations > 1);
}
