//! Contacts that are stiffer than the step resolves: which methods ring and which do not.

use force_elements::coordinate_spring_damper_ext::Parameters;
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Implicit, Integrator, Plant, Simulation};
use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem};

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
