//! Contacts that are stiffer than the step resolves: which methods ring and which do not.

use force_elements::coordinate_spring_damper_ext::Parameters;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, Simulation, SimulationError,
};
use force_elements::{
    ContactDesign, CoordinatePair, CoordinateSpringDamperExt, CustomForce, ExponentialSpring, ForceSystem,
    Frame, Pose, Real, Station, exponential_spring,
};

/// Presses 1 kg by 10 N against an elastic stop of 1e10 N/m, `ωh = 100` in steps of 1 ms, from where it touches;
/// returns the largest speeds in steps 11 to 20 and 991 to 1000, and the place at the end.
fn press(integrator: &mut impl Integrator<f64>) -> ([f64; 2], f64) {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    plant.set_coordinate_load(slider, -10.0).expect("finite");
    let stop = Parameters {
        use_limit_stops: true,
        limit_stops_lower: 0.0,
        limit_stops_upper: 1.0,
        limit_stops_lower_stiffness: 1e10,
        limit_stops_upper_stiffness: 1e10,
        ..Parameters::default()
    };
    let stop = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stop).expect("valid");
    system.add(stop).expect("exists");
    let mut simulation = Simulation::new(&system, &plant, system.default_state()).expect("regular");
    let mut speeds = Vec::new();
    for _ in 0..1000 {
        integrator.step(&mut simulation, 10.0).expect("steps");
        speeds.push(simulation.state().velocities().coordinate_rate(slider).abs());
    }
    assert_eq!(simulation.statistics().rejected, 0);
    let most = |steps: &[f64]| steps.iter().fold(0.0_f64, |most, &speed| most.max(speed));
    ([most(&speeds[10..20]), most(&speeds[990..])], simulation.state().positions().coordinate(slider))
}

#[test]
fn a_stiff_stop_rings_under_the_trapezoidal_rule_and_not_under_tr_bdf2() {
    // The stop bends by F/k, at speeds of F/√(km).
    let (depth, speed) = (10.0 / 1e10, 10.0 / 1e5);
    let (speeds, _) = press(&mut Implicit::trapezoidal(1e-3));
    // On and on, as fast as at first.
    assert!(speeds[1] > 0.5 * speed, "{speeds:?}");
    let (damped, place) = press(&mut Implicit::tr_bdf2(1e-3));
    // Each step leaves a fraction of the order of 1/ωh.
    assert!(damped[0] < 1e-6 * speed && damped[1] < 1e-6 * speed, "{damped:?}");
    assert!((place + depth).abs() < 1e-6 * depth, "{place} m");
}

/// A slider of 1 g on a damped spring, `ω = 1e5/s`, released 1 mm off; returns how far it is from the closed form after ten
/// radians, over that millimetre.
fn released(integrator: &mut impl Integrator<f64>) -> f64 {
    const OMEGA: f64 = 1e5;
    const ZETA: f64 = 0.1;
    const MASS: f64 = 1e-3;
    const END: f64 = 10.0 / OMEGA;
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, MASS).expect("positive");
    let (stiffness, damping) = (MASS * OMEGA * OMEGA, 2.0 * ZETA * MASS * OMEGA);
    let spring = Parameters { stiffness, damping, ..Parameters::default() };
    system
        .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), spring).expect("valid"))
        .expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, 1e-3).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    simulation.run(integrator, END, |_| {}).expect("regular");
    let root = (1.0 - ZETA * ZETA).sqrt();
    let phase = OMEGA * root * END;
    let expected = (-ZETA * OMEGA * END).exp() * (phase.cos() + ZETA / root * phase.sin());
    (simulation.state().positions().coordinate(slider) / 1e-3 - expected).abs()
}

#[test]
fn under_error_control_the_first_step_is_right_too_however_fast_the_motion_begins() {
    // The default first step is as long as the run.
    for accuracy in [1e-5, 1e-6, 1e-7] {
        let errors = [
            released(&mut DormandPrince::new(accuracy)),
            released(&mut Implicit::tr_bdf2(1.0).with_accuracy(accuracy)),
            released(&mut Implicit::trapezoidal(1.0).with_accuracy(accuracy)),
        ];
        // With the two thirds power of the accuracy, as the steps of methods of order two follow its cube root.
        let allowed = 10.0 * accuracy.powf(2.0 / 3.0);
        assert!(errors.iter().all(|&error| error < allowed), "{accuracy}: {errors:?}, allowed {allowed}");
    }
}

/// A slider of 0.1 kg that hits a damped stop at 16 m/s, with 900 N and 15 kW at once; returns how far it is from the closed
/// form one radian later \[m\].
fn struck(integrator: &mut impl Integrator<f64>) -> f64 {
    const MASS: f64 = 0.1;
    const SPEED: f64 = 16.0;
    const GAP: f64 = 0.1;
    const AFTER: f64 = 1e-3;
    let (stiffness, damping) = (1e5, 57.0);
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, MASS).expect("positive");
    let stop = Parameters {
        use_limit_stops: true,
        limit_stops_upper: GAP,
        limit_stops_lower: -1.0,
        limit_stops_upper_stiffness: stiffness,
        limit_stops_upper_damping: damping,
        ..Parameters::default()
    };
    system
        .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stop).expect("valid"))
        .expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, SPEED).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    simulation.run(integrator, GAP / SPEED + AFTER, |_| {}).expect("passes the impact");
    let decay = 0.5 * damping / MASS;
    let frequency = (stiffness / MASS - decay * decay).sqrt();
    let depth = SPEED / frequency * (-decay * AFTER).exp() * (frequency * AFTER).sin();
    (simulation.state().positions().coordinate(slider) - GAP - depth).abs()
}

#[test]
fn a_hard_impact_is_passed_under_error_control() {
    for accuracy in [1e-5, 1e-6, 1e-7] {
        let errors = [
            struck(&mut DormandPrince::new(accuracy)),
            struck(&mut Implicit::tr_bdf2(0.01).with_accuracy(accuracy)),
            struck(&mut Implicit::trapezoidal(0.01).with_accuracy(accuracy)),
        ];
        // The impact may be late by the event step, a tenth of the accuracy: 16 m/s are lost for as long.
        assert!(errors.iter().all(|&error| error < 10.0 * accuracy), "{accuracy}: {errors:?}");
    }
}

/// The largest energy \[J\] of a slider of 1 kg and 1 m/s, half a joule, between two stops 0.1 m apart, over ten seconds, and why a
/// step was refused.
fn between_stops(
    stiffness: f64,
    damping: f64,
    start: f64,
    mut method: Implicit<f64>,
) -> (f64, Option<SimulationError>) {
    let (mut system, mut plant) = (ForceSystem::<f64>::new(), Plant::new(Vector3::zeros()).expect("finite"));
    let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
    let stops = Parameters {
        use_limit_stops: true,
        limit_stops_lower: 0.0,
        limit_stops_upper: 0.1,
        limit_stops_lower_stiffness: stiffness,
        limit_stops_upper_stiffness: stiffness,
        limit_stops_lower_damping: damping,
        limit_stops_upper_damping: damping,
        limit_stops_only_push: true,
        ..Parameters::default()
    };
    system
        .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stops).expect("valid"))
        .expect("exists");
    let mut state = system.default_state();
    state.set_coordinate(slider, start).expect("finite");
    state.set_coordinate_rate(slider, 1.0).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut most = 0.0_f64;
    let outcome = simulation.run(&mut method, 10.0, |simulation| {
        most = most.max(simulation.mechanical_energy().expect("regular"));
    });
    // Nor the next time.
    assert_eq!(simulation.run(&mut method, 10.0, |_| {}).is_err(), outcome.is_err());
    (most, outcome.err())
}

#[test]
fn fixed_implicit_steps_do_not_gain_energy_in_impacts_without_an_error() {
    let methods = [Implicit::trapezoidal, Implicit::tr_bdf2];
    let starts = (0..4).map(|phase| 0.0437 + 1e-4 * f64::from(phase));
    for (stiffness, damping) in [(1e6, 0.0), (1e7, 0.0), (1e8, 0.0), (1e8, 1e3), (1e10, 1e4)] {
        for (step, start) in [1e-3, 1.0 / 240.0, 1.0 / 120.0].into_iter().zip(starts.clone()) {
            for method in methods {
                let (most, error) = between_stops(stiffness, damping, start, method(step));
                // The trapezoidal rule may return three times the speed of an impact, and the run is refused after four more steps,
                // in which there may be another: 12.7 J are seen here.
                assert!(most < 20.0, "{stiffness} {step}: {most}");
                match error {
                    Some(SimulationError::EnergyExploded { .. }) => {}
                    Some(error) => panic!("{error}"),
                    // Less than twice the energy is no sign of too long a step.
                    None => assert!(most < 1.0, "{stiffness} {step}: {most}"),
                }
            }
        }
    }
    // Steps that resolve the impact neither gain energy nor are refused.
    for (method, start) in methods.into_iter().cycle().zip(starts) {
        let (most, error) = between_stops(1e6, 0.0, start, method(1e-4));
        assert!(most < 0.51 && error.is_none(), "{most} {error:?}");
    }
    // Nor do those that are chosen by the error.
    let (most, error) = between_stops(1e8, 0.0, 0.0437, Implicit::tr_bdf2(1e-2).with_accuracy(1e-5));
    assert!(most < 0.501 && error.is_none(), "{most} {error:?}");
}

/// A motor that does not state what it supplies drives a slider that draws another one by a stiff spring, against a drag.
#[test]
fn the_work_of_a_motor_through_a_stiff_spring_is_not_refused() {
    for method in [Implicit::trapezoidal, Implicit::tr_bdf2] {
        let (mut system, mut plant) =
            (ForceSystem::<f64>::new(), Plant::new(Vector3::zeros()).expect("finite"));
        let sliders = [0, 1].map(|_| plant.add_coordinate(&mut system, 1.0).expect("positive"));
        let driven = sliders[0];
        let motor = CustomForce::<f64>::new(move |motion, loads| {
            loads.apply_to_coordinate(driven, 30.0 * (1.0 + (3.0 * motion.time()).cos()));
            0.0
        });
        system.add(motor).expect("exists");
        for (pair, parameters) in [
            (
                CoordinatePair::between(sliders[0], sliders[1]),
                Parameters { stiffness: 1e7, damping: 10.0, ..Parameters::default() },
            ),
            (CoordinatePair::on(sliders[1]), Parameters { damping: 1.0, ..Parameters::default() }),
        ] {
            system.add(CoordinateSpringDamperExt::new(pair, parameters).expect("valid")).expect("exists");
        }
        let mut simulation = Simulation::new(&system, &plant, system.default_state()).expect("regular");
        simulation.run(&mut method(1.0 / 240.0), 60.0, |_| {}).expect("no step is refused");
        // About a mean of 30 N over the drag, with an amplitude of 30 N over √(d² + (2 kg · 3/s)²).
        let speed = simulation.state().velocities().coordinate_rate(driven);
        let swing = 30.0 * (180.0_f64.cos() + 6.0 * 180.0_f64.sin()) / 37.0;
        assert!((speed - 30.0 - swing).abs() < 0.02, "{speed} {swing}");
    }
}

/// The largest deflections \[m\] of 1 kg in each of five seconds on a spring of 60 rad/s, from which a stop of 1e10 N/m was removed.
/// It swings by 20 µm.
fn freed<T: Real>(mut method: Implicit<T>, step: f64) -> [f64; 5] {
    let (mut system, mut plant) = (ForceSystem::<T>::new(), Plant::new(Vector3::zeros()).expect("finite"));
    let slider = plant.add_coordinate(&mut system, T::one()).expect("positive");
    let law = |stop: f64| -> Parameters<T> {
        Parameters {
            stiffness: 3600.0,
            offset: -2e-5,
            use_limit_stops: true,
            limit_stops_lower: stop,
            limit_stops_upper: 1e3,
            limit_stops_lower_stiffness: 1e10,
            limit_stops_lower_damping: 2e5,
            ..Parameters::default()
        }
        .cast()
    };
    let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), law(0.0)).expect("valid");
    let element = system.add(element).expect("exists");
    let mut simulation = Simulation::new(&system, &plant, system.default_state()).expect("regular");
    let start = 24.0 * step;
    simulation.run(&mut method, start, |_| {}).expect("runs");
    simulation.update_state(|state| system.set_parameters(state, element, law(-100.0))).expect("valid");
    let mut most = [0.0_f64; 5];
    for (second, most) in (1..).zip(&mut most) {
        let end = start + f64::from(second);
        simulation
            .run(&mut method, end, |simulation| {
                let q = simulation.state().positions().coordinate(slider).to_f64();
                *most = most.max((q + 2e-5).abs());
            })
            .expect("runs");
    }
    most
}

/// With the Jacobian of the stop, corrections seemed small after it had gone: the swing grew two hundredfold in single precision.
#[test]
fn a_stop_that_has_gone_leaves_no_stiffness_in_implicit_steps() {
    let step = 1.0 / 120.0;
    for most in
        [freed::<f64>(Implicit::trapezoidal(step), step), freed::<f32>(Implicit::trapezoidal(step), step)]
    {
        // The trapezoidal rule keeps the energy; single precision rounds each of 600 steps by 6e-8 of 0.1 mm/s.
        assert!(most.iter().all(|most| (most / 2e-5 - 1.0).abs() < 1e-3), "{most:?}");
    }
}

/// Where a box rests on springs, the forces of single precision vary by the rounding of positions, by more than Newton's method would
/// reach. Steps were divided up to twenty times, in nine of ten.
#[test]
fn the_rounding_of_positions_does_not_shorten_implicit_steps() {
    let (mut system, mut plant) =
        (ForceSystem::<f32>::new(), Plant::new(Vector3::new(0.0, 0.0, -9.81)).expect("finite"));
    let (mass, half) = (2.0_f32, 0.05_f32);
    let design = ContactDesign::new(2.0, 0.05, 5e-4).with_impact(1.5, 0.1);
    let parameters = exponential_spring::Parameters::for_contact(&design).expect("a contact");
    let body = RigidBody::with_equal_inertia(mass, mass * half * half * 2.0 / 3.0).expect("a body");
    let body = plant.add_body(&mut system, body);
    for i in 0..8 {
        let side = |bit: u32| if i >> bit & 1 == 0 { -half } else { half };
        let corner = Station::on(body, Point3::new(side(0), side(1), side(2)));
        let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), corner, parameters);
        system.add(spring.expect("valid")).expect("exists");
    }
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, half + 0.01)).expect("finite");
    system.reset_memories(&mut state).expect("regular");
    for mut method in [Implicit::trapezoidal(1e-3), Implicit::tr_bdf2(1e-3)] {
        let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
        simulation.run(&mut method, 2.0, |_| {}).expect("runs");
        let statistics = simulation.statistics();
        assert!(statistics.rejected < 40, "{statistics:?}");
        let height = simulation.state().positions().pose(body).translation.vector.z;
        assert!((height - half).abs() < 1e-5, "{height}");
    }
}
