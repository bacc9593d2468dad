//! Semi-implicit Euler refuses to make energy out of nothing, and nothing else.

use force_elements::coordinate_spring_damper_ext::Parameters;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Vector3, Vector6};
use force_elements::simulation::{
    DormandPrince, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::{
    ContactDesign, CoordinatePair, CoordinateSpringDamperExt, Error, ForceSystem, Frame, HertzContact,
    LinearBushing, Pose, Real, SpatialForce, SpatialVelocity, State, Station, hertz_contact, linear_bushing,
};
use force_elements_scenes::tension::tension;

type Machine<T = f64> = (ForceSystem<T>, Plant<T>, State<T>);

/// A slider of 1 kg on a spring and damper; where it starts, and how fast.
fn slider<T: Real>(stiffness: f64, damping: f64, q: f64, v: f64) -> Machine<T> {
    let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros()).expect("finite"));
    let slider = plant.add_coordinate(&mut system, T::one()).expect("positive");
    let parameters = Parameters { stiffness, damping, ..Parameters::default() };
    let spring = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters.cast());
    system.add(spring.expect("valid")).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, T::lit(q)).expect("finite");
    state.set_coordinate_rate(slider, T::lit(v)).expect("finite");
    (system, plant, state)
}

/// The kinetic energy after so many steps \[J\].
fn run<T: Real>(
    (system, plant, state): &Machine<T>,
    step: f64,
    steps: usize,
) -> Result<f64, (usize, SimulationError)> {
    let mut simulation = Simulation::new(system, plant, state.clone()).expect("regular");
    let mut euler = SemiImplicitEuler::new(step).unchecked();
    for taken in 0..steps {
        let before = simulation.save();
        if let Err(refused) = euler.step(&mut simulation, f64::MAX) {
            assert_eq!(simulation.save(), before, "a refused step leaves a trace");
            return Err((taken, refused));
        }
    }
    Ok(simulation.kinetic_energy().to_f64())
}

/// That a run is refused after so many steps at most.
fn explodes<T: Real>(name: &str, machine: &Machine<T>, step: f64, most: usize) {
    let ended = run(machine, step, 10 * most);
    let is_refused = match &ended {
        Err((taken, SimulationError::EnergyExploded { kinetic_energy, supplied, .. })) => {
            *taken <= most && *supplied > 0.0 && *kinetic_energy > 1e4 * supplied
        }
        _ => false,
    };
    assert!(is_refused, "{name}: {ended:?}");
}

/// Two rods on bushings that turn about each other, of which the origins are at the mass centers or at an arm from them.
#[test]
fn the_work_of_held_forces_is_the_gain_of_kinetic_energy_wherever_origins_are() {
    for arm in [Vector3::zeros(), Vector3::new(0.5, 0.0, 0.0), Vector3::new(0.4, -2.0, 0.3)] {
        for inertia in [Vector3::repeat(0.1), Vector3::new(0.02, 0.1, 0.11)] {
            let mut system = ForceSystem::new();
            let mut plant = Plant::new(Vector3::zeros()).expect("finite");
            let mut state_of = Vec::new();
            let mut before = Frame::ground(Pose::identity());
            for (i, spin) in [6.0, -4.0].into_iter().enumerate() {
                let rod = RigidBody::new(1.0, Point3::from(-arm), Matrix3::from_diagonal(&inertia));
                let rod = plant.add_body(&mut system, rod.expect("positive"));
                // From its mass center a rod reaches half a metre to both sides.
                let end = |x: f64| {
                    Frame::on(rod, Pose::from_parts((Vector3::x() * x - arm).into(), Rotation3::identity()))
                };
                let stiffness = Vector6::new(0.0, 0.0, 0.0, 1e4, 1e4, 1e4);
                let parameters = linear_bushing::Parameters { stiffness, damping: stiffness * 1e-4 };
                let joint = LinearBushing::new(before, end(-0.5), parameters).expect("valid");
                system.add(joint).expect("exists");
                before = end(0.5);
                let center = Vector3::x() * [0.5, 1.5][i];
                let V = SpatialVelocity::new(Vector3::z() * spin, Vector3::y()).shifted(arm);
                state_of.push((rod, Pose::from_parts((center + arm).into(), Rotation3::identity()), V));
            }
            let mut state = system.default_state();
            for (rod, X, V) in state_of {
                state.set_body(rod, X, V).expect("finite");
            }
            let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
            let (start, kinetic) = (simulation.work_balance(), simulation.kinetic_energy());
            let mut most = 0.0_f64;
            simulation
                .run(&mut SemiImplicitEuler::new(1e-3), 4.0, |simulation| {
                    most = most.max((simulation.work_balance() - start).abs());
                })
                .expect("no element gains energy");
            // Rounding of four thousand steps.
            assert!(most < 1e-11 * kinetic, "{arm} {inertia}: {most} of {kinetic}");
        }
    }
}

/// A slider of 1 kg at 1 m/s between two stops of 1e6 N/m, 0.1 m apart, for ten seconds: its largest kinetic energy over the first,
/// and why a step was refused.
fn between_stops(start: f64, transition: f64, step: f64) -> (f64, Option<SimulationError>) {
    let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros()).expect("finite"));
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let stops = Parameters {
        use_limit_stops: true,
        limit_stops_lower: 0.0,
        limit_stops_upper: 0.1,
        limit_stops_upper_stiffness: 1e6,
        limit_stops_lower_stiffness: 1e6,
        limit_stops_transition: transition,
        ..Parameters::default()
    };
    let stops = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stops).expect("valid");
    system.add(stops).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, start).expect("finite");
    state.set_coordinate_rate(slider, 1.0).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut most = 0.0_f64;
    let outcome = simulation.run(&mut SemiImplicitEuler::new(step), 10.0, |simulation| {
        most = most.max(2.0 * simulation.kinetic_energy());
    });
    (most, outcome.err())
}

/// At each of these steps, all below the bound of stability of 2 ms, some gained from two to thousands of times their energy.
#[test]
fn stops_that_gain_energy_below_the_bound_of_stability_are_refused() {
    for (transition, step) in [(0.0, 1.4e-3), (0.0, 1.9e-3), (1e-4, 1.1e-3), (1e-3, 1e-3)] {
        let mut refused = 0;
        for phase in 0..20 {
            let (most, error) = between_stops(0.02 + 1e-4 * f64::from(phase), transition, step);
            // One impact near the bound of stability may multiply the energy before the ledger tells: by up to 12 here, and by
            // thousands after some more.
            assert!(most < 15.0, "{transition} {step} {phase}: {most}");
            match error {
                Some(error) => {
                    assert!(matches!(error, SimulationError::Forces(Error::EnergyGained { .. })), "{error}");
                    refused += 1;
                }
                None => assert!(most < 2.5, "{transition} {step} {phase}: {most}"),
            }
        }
        assert!(refused > 5, "{transition} {step}: {refused}");
    }
    // Steps that resolve the impact keep the energy.
    for phase in 0..5 {
        let (most, error) = between_stops(0.02 + 1e-4 * f64::from(phase), 5e-3, 7e-4);
        assert!(most < 1.01 && error.is_none(), "{phase}: {most}, {error:?}");
    }
}

#[test]
fn steps_beyond_the_bound_of_stability_are_refused() {
    // The longest stable step is 2 ms; beyond it energies grow by (s + √(s² − 1))⁴ for s = 2(h/2 ms)² − 1 = 1.42.
    explodes("spring", &slider::<f64>(1e6, 0.0, 1.0, 0.0), 2.2e-3, 20);
    explodes("spring in motion", &slider::<f64>(1e6, 0.0, 0.0, 1.0), 2.2e-3, 20);
    explodes("spring in single precision", &slider::<f32>(1e6, 0.0, 1.0, 0.0), 2.2e-3, 20);
    // Far beyond.
    explodes("stiff spring", &slider::<f64>(1e12, 0.0, 1e-3, 0.0), 2.2e-3, 5);
    explodes("damper", &slider::<f64>(0.0, 1e3, 0.0, 1.0), 2.2e-3, 40);
}

#[test]
fn steps_just_below_the_bound_are_not() {
    for share in [0.5, 0.9, 0.99, 0.999] {
        for (q, v) in [(1.0, 0.0), (0.0, 1.0), (1.0, -100.0)] {
            let kept = run(&slider::<f64>(1e6, 0.0, q, v), share * 2e-3, 5000);
            assert!(kept.is_ok(), "{share} of the bound from {q} m, {v} m/s: {kept:?}");
        }
    }
}

#[test]
fn a_body_on_a_bushing_in_gravity_is_refused_before_it_is_gone() {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
    let body = RigidBody::with_equal_inertia(1.0, 0.01).expect("positive");
    let body = plant.add_body(&mut system, body);
    let parameters = linear_bushing::Parameters {
        stiffness: Vector6::new(1e3, 1e3, 1e3, 1e6, 1e6, 1e6),
        damping: Vector6::repeat(0.1),
    };
    let at = |z: f64| Pose::translation(0.0, 0.0, z);
    let bushing = LinearBushing::new(Frame::ground(at(1.0)), Frame::on(body, at(0.1)), parameters);
    system.add(bushing.expect("valid")).expect("exists");
    let mut state = system.default_state();
    state.set_pose(body, at(0.9)).expect("finite");
    explodes("body", &(system, plant, state), 2.2e-3, 100);
}

#[test]
fn work_of_loads_gravity_and_drives_is_no_explosion() {
    // A load on a slider at rest.
    let (system, mut plant, state) = slider::<f64>(0.0, 0.0, 0.0, 0.0);
    let coordinate = system.coordinates().next().expect("one");
    plant.set_coordinate_load(coordinate, 1.0).expect("finite");
    let kinetic = run(&(system, plant, state), 1.0, 10_000).expect("driven");
    assert!(kinetic > 1e7, "{kinetic} J");

    // A damper that drives: the motion grows by itself, as its law says.
    let driven = |power: fn(f64, f64) -> f64| {
        let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros()).expect("finite"));
        let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
        system.add(tension(slider, move |t, _, v| power(t, v))).expect("exists");
        let mut state = system.default_state();
        state.set_coordinate_rate(slider, 1e-6).expect("finite");
        (system, plant, state)
    };
    let kinetic = run(&driven(|_, v| -v), 0.01, 6000).expect("driven");
    assert!(kinetic > 1e30, "{kinetic} J");
    // A motor that starts late.
    let late = |t: f64, _: f64| if t > 1.0 { -1e3 } else { 0.0 };
    let kinetic = run(&driven(late), 0.01, 1000).expect("driven");
    assert!(kinetic > 1e6, "{kinetic} J");

    // A fall from rest.
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite");
    plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 1.0).expect("positive"));
    let state = system.default_state();
    assert!(run(&(system, plant, state), 1.0, 1000).is_ok());
}

/// A slider of 1 kg with this law, at a speed \[m/s\].
fn driven_slider(law: Parameters<f64>, v: f64) -> Machine {
    let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros()).expect("finite"));
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let drive = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), law).expect("valid");
    system.add(drive).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, v).expect("finite");
    (system, plant, state)
}

#[test]
fn work_of_drives_that_state_what_they_supply_is_no_explosion() {
    // A damper that pulls towards 10 m/s from rest, in steps of any length.
    let towards = Parameters { damping: 1.0, velocity_offset: 10.0, ..Parameters::default() };
    for (step, steps) in [(1e-4, 20_000), (1e-3, 10_000), (1e-1, 1000)] {
        let kinetic = run(&driven_slider(towards, 0.0), step, steps);
        assert!(kinetic.as_ref().is_ok_and(|&kinetic| kinetic > 10.0), "{step}: {kinetic:?}");
    }
    // A damper below zero: the motion grows by itself.
    let active = Parameters { damping: -1.0, ..Parameters::default() };
    let kinetic = run(&driven_slider(active, 1e-6), 0.01, 6000).expect("driven");
    assert!(kinetic > 1e30, "{kinetic} J");
    // A drive that explodes is refused all the same: its damper reverses the motion by more in every step.
    let stiff = Parameters { damping: 1e3, velocity_offset: 1e-3, ..Parameters::default() };
    explodes("drive", &driven_slider(stiff, 1.0), 2.2e-3, 60);
}

#[test]
fn work_done_under_another_integrator_is_no_explosion() {
    let (system, plant, state) = {
        let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros()).expect("finite"));
        let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
        system.add(tension(slider, |_, _, _| -1.0)).expect("exists");
        let state = system.default_state();
        (system, plant, state)
    };
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut euler = SemiImplicitEuler::new(1e-4);
    euler.step(&mut simulation, 1.0).expect("regular");
    simulation.run(&mut DormandPrince::new(1e-8), 10.0, |_| {}).expect("regular");
    simulation.run(&mut euler, 10.1, |_| {}).expect("no explosion");
    assert!(simulation.kinetic_energy() > 50.0);
}

/// Kinetic energy, absorbed energy and the work of drives, by an accurate integrator and by one that holds forces.
#[test]
fn the_work_balance_counts_what_drives_supply() {
    let towards = Parameters { damping: 1.0, velocity_offset: 10.0, ..Parameters::default() };
    let machine = driven_slider(towards, 0.0);
    let (system, plant, state) = &machine;
    let balance = |integrate: &dyn Fn(&mut Simulation<'_, f64>)| {
        let mut simulation = Simulation::new(system, plant, state.clone()).expect("regular");
        integrate(&mut simulation);
        let supplied = simulation.supplied_work();
        // v = 10 (1 − e⁻ᵗ) m/s at a supply of 10 N/(m/s)·(10 m/s − v).
        assert!((supplied - 100.0 * (1.0 - (-1.0_f64).exp())).abs() < 1.0, "{supplied} J");
        simulation.work_balance()
    };
    let accurate = balance(&|simulation| {
        simulation.run(&mut DormandPrince::new(1e-9), 1.0, |_| {}).expect("regular");
    });
    let held = balance(&|simulation| {
        simulation.run(&mut SemiImplicitEuler::new(1e-2), 1.0, |_| {}).expect("regular");
    });
    // To the accuracy of the one, and to rounding of the other.
    assert!(accurate.abs() < 1e-6 && held.abs() < 1e-12, "{accurate} J, {held} J");
}

#[test]
fn energy_that_a_host_adds_between_steps_is_no_explosion() {
    let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros()).expect("finite"));
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let soft = Parameters { stiffness: 1e-6, ..Parameters::default() };
    let spring = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), soft).expect("valid");
    let spring = system.add(spring).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, 1.0).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut euler = SemiImplicitEuler::new(1e-4).unchecked();
    simulation.run(&mut euler, 0.1, |_| {}).expect("runs");
    let stiffen = |state: &mut State<f64>| system.update_parameters(state, spring, |p| p.stiffness = 1e6);
    simulation.update_state(stiffen).expect("valid");
    let mut most = 0.0_f64;
    simulation.run(&mut euler, 0.2, |simulation| most = most.max(simulation.kinetic_energy())).expect("runs");
    assert!(most > 1e5, "{most} J");
    // And an explosion is still refused, though the host touches the state at every step.
    let mut long = SemiImplicitEuler::new(2.2e-3).unchecked();
    let refused = (0..200).find_map(|_| {
        simulation.update_state(|state| state.set_absorbed_energy(&[0.0])).expect("finite");
        long.step(&mut simulation, 10.0).err()
    });
    assert!(matches!(refused, Some(SimulationError::EnergyExploded { .. })), "{refused:?}");
}

/// A free body with these principal moments, and its angular velocity in its own frame.
fn spun(moments: [f64; 3], w_B: [f64; 3]) -> Machine {
    let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros()).expect("finite"));
    let inertia = Matrix3::from_diagonal(&moments.into());
    let rigid = RigidBody::new(1.0, Point3::origin(), inertia).expect("a body");
    let body = plant.add_body(&mut system, rigid);
    let mut state = system.default_state();
    let V = SpatialVelocity::new(w_B.into(), Vector3::zeros());
    state.set_velocity(body, V).expect("finite");
    (system, plant, state)
}

/// The angular velocity in the body's frame.
fn spin(simulation: &Simulation<'_, f64>) -> Vector3<f64> {
    let (positions, velocities) = (simulation.state().positions(), simulation.state().velocities());
    let body = positions.topology().bodies().next().expect("one");
    positions.pose(body).rotation.inverse() * velocities.velocity(body).angular
}

#[test]
fn bodies_that_spin_freely_keep_energy_and_angular_momentum_whatever_the_step() {
    for moments in [[1e-4, 1e-4, 1.8e-4], [0.01, 0.02, 0.03], [0.01, 1.0, 1.0], [0.02, 0.03, 0.049]] {
        for w_B in [[5.0, 0.0, 100.0], [1.0, 20.0, 0.1], [-7.0, 4.0, 30.0]] {
            let machine = spun(moments, w_B);
            let (system, plant, state) = &machine;
            let of = |w: Vector3<f64>| {
                let L = w.component_mul(&Vector3::from(moments));
                [0.5 * w.dot(&L), L.norm()]
            };
            let first = of(w_B.into());
            // Up to two radians a step.
            for step in [1e-4, 1e-3, 2e-2] {
                let mut simulation = Simulation::new(system, plant, state.clone()).expect("regular");
                let mut euler = SemiImplicitEuler::new(step);
                for _ in 0..3000 {
                    euler.step(&mut simulation, f64::MAX).expect("regular");
                }
                for (now, first) in of(spin(&simulation)).into_iter().zip(first) {
                    // Rounding of 3000 steps.
                    assert!((now / first - 1.0).abs() < 1e-11, "{moments:?} {w_B:?} {step}: {now} {first}");
                }
            }
        }
    }
}

/// The largest change of the kinetic energy of a body that spins freely, as a fraction, over inertias of these sizes.
fn energy_drift<T: Real>(sizes: &[f64]) -> f64 {
    let drift = |&size: &f64| {
        let (mut system, mut plant) =
            (ForceSystem::<T>::new(), Plant::new(Vector3::zeros()).expect("finite"));
        let inertia =
            Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5)).map(|moment| T::lit(size * moment));
        let body = RigidBody::new(T::one(), Point3::origin(), inertia).expect("a body");
        let body = plant.add_body(&mut system, body);
        let mut state = system.default_state();
        let spin = Vector3::new(10.0, 0.5, 10.0).map(T::lit);
        state.set_velocity(body, SpatialVelocity::new(spin, Vector3::zeros())).expect("finite");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        let energy = simulation.kinetic_energy().to_f64();
        let mut euler = SemiImplicitEuler::new(1e-2);
        for _ in 0..1000 {
            euler.step(&mut simulation, 1e9).expect("regular");
        }
        (simulation.kinetic_energy().to_f64() / energy - 1.0).abs()
    };
    sizes.iter().map(drift).fold(0.0, f64::max)
}

#[test]
fn bodies_that_spin_freely_keep_their_energy_whatever_their_inertia() {
    // Rounding of a thousand steps.
    let single = energy_drift::<f32>(&[1e-17, 1e-16, 1e-8, 1.0, 1e13, 1e15]);
    assert!(single < 1e-4, "{single:e}");
    let double = energy_drift::<f64>(&[1e-150, 1e-120, 1.0, 1e120, 1e150]);
    assert!(double < 1e-12, "{double:e}");
}

#[test]
fn a_body_that_tumbles_converges_to_the_accurate_motion() {
    let machine = spun([0.01, 0.02, 0.03], [0.3, 6.0, 0.2]);
    let (system, plant, state) = &machine;
    let end = |integrator: &mut dyn FnMut(&mut Simulation<'_, f64>)| {
        let mut simulation = Simulation::new(system, plant, state.clone()).expect("regular");
        integrator(&mut simulation);
        (spin(&simulation), simulation.state().velocities().bodies()[1].angular)
    };
    let accurate = end(&mut |simulation| {
        simulation.run(&mut DormandPrince::new(1e-11), 2.0, |_| {}).expect("regular");
    });
    let off = |step: f64| {
        let (in_body, in_ground) = end(&mut |simulation| {
            simulation.run(&mut SemiImplicitEuler::new(step), 2.0, |_| {}).expect("regular");
        });
        [(in_body - accurate.0).norm(), (in_ground - accurate.1).norm()]
    };
    let [coarse, fine] = [off(1e-3), off(5e-4)];
    // Of second order in the body, where it does not matter how it is turned.
    assert!(coarse[0] < 1e-2 && fine[0] < 0.3 * coarse[0], "{coarse:?} {fine:?}");
    assert!(coarse[1] < 0.1 && fine[1] < 0.55 * coarse[1], "{coarse:?} {fine:?}");
}

/// A guided ball of 0.1 kg on a contact designed for its weight and a step of a millisecond, under a load of so many times that; it
/// slides at 0.3 m/s, from the depth at which it is carried, or after a fall. Returns how far it moves in the last second of two.
fn slides_under(times: f64, fall: f64, friction: f64) -> Result<f64, SimulationError> {
    const RADIUS: f64 = 0.05;
    let design = ContactDesign::new(0.1, RADIUS, 1e-3).with_points(1).with_friction(friction, friction);
    let law = hertz_contact::Parameters::for_contact(&design, RADIUS)?;
    let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros())?);
    let ball = plant.add_body(&mut system, RigidBody::with_equal_inertia(0.1, 1e6)?);
    let load = times * 0.1 * 9.81;
    plant.set_body_load(ball, SpatialForce::new(Vector3::zeros(), Vector3::z() * -load))?;
    let ground = Frame::ground(Pose::identity());
    let station = Station::on(ball, Point3::origin());
    system.add(HertzContact::on_half_space(ground, (station, RADIUS), law)?)?;
    let mut state = system.default_state();
    // f = 4/3 E* √R δ^{3/2}
    let depth = (load / (4.0 / 3.0 * law.effective_modulus * RADIUS.sqrt())).powf(2.0 / 3.0);
    let pose = Pose::translation(0.0, 0.0, if fall > 0.0 { RADIUS + fall } else { RADIUS - depth });
    state.set_body(ball, pose, SpatialVelocity::new(Vector3::zeros(), Vector3::x() * 0.3))?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    let mut euler = SemiImplicitEuler::new(1e-3);
    let place = |simulation: &Simulation<'_, f64>| simulation.state().positions().pose(ball).translation.x;
    simulation.run(&mut euler, 1.0, |_| {})?;
    let before = place(&simulation);
    simulation.run(&mut euler, 2.0, |_| {})?;
    Ok(place(&simulation) - before)
}

/// Under seven times the weight and more its velocity would alternate about one that nothing slows down.
#[test]
fn held_friction_that_reverses_the_slip_in_every_step_is_refused() -> Result<(), SimulationError> {
    for times in [1.0, 4.0, 6.0] {
        assert!(slides_under(times, 0.0, 0.5)?.abs() < 1e-9, "{times}");
    }
    for times in [7.5, 8.0, 10.0, 20.0, 30.0] {
        let refused = slides_under(times, 0.0, 0.5);
        assert!(
            matches!(refused, Err(SimulationError::Forces(Error::FrictionAlternates { .. }))),
            "{times}: {refused:?}"
        );
    }
    // Impacts at up to the speed of the design, which press up to a hundred times harder, for a few steps each.
    for friction in [0.5, 0.8, 1.2, 1.5] {
        for fall in [1e-3, 0.01, 0.03, 0.05] {
            assert!(slides_under(1.0, fall, friction)?.abs() < 1e-3, "{friction} {fall}");
        }
    }
    Ok(())
}

/// It rocks from corner to corner, so that those on one side lose a little while the others gain.
#[test]
fn a_box_that_chatters_under_a_load_is_refused() -> Result<(), SimulationError> {
    const RADIUS: f64 = 0.02;
    for (times, push) in [(1.0, 0.0), (4.0, 0.0), (4.0, 0.2), (8.0, 0.0)] {
        let design = ContactDesign::new(1.0, 0.1, 1e-3).with_friction(0.5, 0.5);
        let law = hertz_contact::Parameters::for_contact(&design, RADIUS)?;
        let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros())?);
        let block = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 0.04 / 6.0)?);
        let load = times * 9.81;
        let force = Vector3::new(push * 0.5 * load, 0.0, -load);
        plant.set_body_load(block, SpatialForce::new(Vector3::zeros(), force))?;
        for (x, y) in [(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)] {
            let corner = Station::on(block, Point3::new(x, y, RADIUS - 0.1));
            let ground = Frame::ground(Pose::identity());
            system.add(HertzContact::on_half_space(ground, (corner, RADIUS), law)?)?;
        }
        let mut state = system.default_state();
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.3, 0.1, 0.0));
        state.set_body(block, Pose::translation(0.0, 0.0, 0.1), V)?;
        let mut simulation = Simulation::new(&system, &plant, state)?;
        let outcome = simulation.run(&mut SemiImplicitEuler::new(1e-3), 5.0, |_| {});
        let is_refused = matches!(outcome, Err(SimulationError::Forces(Error::FrictionAlternates { .. })));
        assert_eq!(is_refused, times > 1.0, "{times} {push}: {outcome:?}");
    }
    Ok(())
}

/// A damper that reverses the velocity in each step slows it down nevertheless, and bristles that slide lose what their springs
/// store.
#[test]
fn what_slows_down_in_steps_that_overshoot_is_not_refused() -> Result<(), SimulationError> {
    let bristles = Parameters {
        dynamic_friction: 1.0,
        sticking_stiffness: 100.0,
        sticking_damping: 10.0,
        ..Parameters::default()
    };
    let damper =
        |turn: f64, stiffness: f64| Parameters { stiffness, damping: turn / 1e-3, ..Parameters::default() };
    let laws = [
        (bristles, 1.5),
        (damper(1.05, 1.0), 0.0),
        (damper(1.2, 1.0), 0.0),
        (damper(1.5, 1.0), 0.0),
        (damper(1.8, 1e3), 0.0),
    ];
    for (law, load) in laws {
        let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros())?);
        let slider = plant.add_coordinate(&mut system, 1.0)?;
        plant.set_coordinate_load(slider, load)?;
        system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), law)?)?;
        let mut state = system.default_state();
        state.set_coordinate_rate(slider, 1.0)?;
        let mut simulation = Simulation::new(&system, &plant, state)?;
        simulation.run(&mut SemiImplicitEuler::new(1e-3), 2.0, |_| {})?;
    }
    Ok(())
}

/// An accuracy bounds the error of a step; in a minute of impacts without loss at this one they add up to 1 %.
#[test]
fn energy_between_undamped_stops_is_kept_under_error_control() -> Result<(), SimulationError> {
    let (mut system, mut plant) = (ForceSystem::new(), Plant::new(Vector3::zeros())?);
    let slider = plant.add_coordinate(&mut system, 1.0)?;
    let stops = Parameters {
        use_limit_stops: true,
        limit_stops_only_push: true,
        limit_stops_lower: -0.1,
        limit_stops_upper: 0.1,
        limit_stops_upper_stiffness: 1e4,
        limit_stops_lower_stiffness: 1e4,
        ..Parameters::default()
    };
    system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stops)?)?;
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, 1.0)?;
    let mut simulation = Simulation::new(&system, &plant, state)?;
    simulation.run(&mut DormandPrince::new(1e-6), 60.0, |_| {})?;
    let energy: f64 = simulation.mechanical_energy()?;
    assert!((energy / 0.5 - 1.0).abs() < 0.01, "{energy}");
    Ok(())
}
