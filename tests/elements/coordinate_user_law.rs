//! The energy account of a user's law on a coordinate, with and without stored energy.

use force_elements::coordinate_spring_damper_ext::Parameters;
use force_elements::laws::Pull;
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Plant, Simulation};
use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ElementError, Error, ForceSystem};

const MASS: f64 = 2.0;
const SPEED: f64 = 3.0;
const ENERGY: f64 = 0.5 * MASS * SPEED * SPEED;
const ACCURACY: f64 = 1e-9;

/// A spring that hardens, with a damper, driven or not.
fn hardening(damping: f64, drive: f64) -> impl Fn(f64, f64, f64, &Parameters<f64>) -> Pull<f64> {
    move |_, q, v, p| Pull {
        tension: p.stiffness * q.powi(3) + damping * v - drive,
        potential_energy: p.stiffness * q.powi(4) / 4.0,
        power_dissipated: damping * v * v,
        power_supplied: drive * v,
    }
}

/// What a slider on this element has shown over ten seconds.
struct Seen {
    /// The largest change of kinetic and stored energy \[J\].
    mechanical: f64,
    /// The most and the least that the ledger called dissipated \[J\].
    dissipated: [f64; 2],
    /// The integral of `power_dissipated`, and that of `power_supplied`, by the trapezoidal rule \[J\].
    integrals: [f64; 2],
    /// Kinetic and stored energy at the end \[J\].
    at_end: f64,
    dissipated_at_end: f64,
    /// How often the slider turned around.
    turns: usize,
    steps: f64,
}

fn run(element: impl FnOnce(CoordinateSpringDamperExt<f64>) -> CoordinateSpringDamperExt<f64>) -> Seen {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, MASS).expect("positive");
    let parameters = Parameters { stiffness: 50.0, ..Parameters::default() };
    let plain = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters).expect("valid");
    let handle = system.add(element(plain)).expect("exists");
    let mut state = system.default_state();
    state.set_coordinate_rate(slider, SPEED).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut seen = Seen {
        mechanical: 0.0,
        dissipated: [0.0; 2],
        integrals: [0.0; 2],
        at_end: 0.0,
        dissipated_at_end: 0.0,
        turns: 0,
        steps: 0.0,
    };
    let (mut time, mut powers, mut speed) = (0.0, None, SPEED);
    let mut observe = |simulation: &mut Simulation<'_, f64>| {
        let now = simulation.state().time();
        let u = simulation.state().velocities().coordinate_rate(slider);
        let kinetic = simulation.kinetic_energy();
        let view = simulation.dynamics().expect("regular");
        let lost = view.dissipated_energy_of(handle).expect("known");
        let at = view.of(handle).dynamics;
        let these = [at.power_dissipated, at.power_supplied];
        let last: [f64; 2] = powers.unwrap_or(these);
        for ((integral, this), last) in seen.integrals.iter_mut().zip(these).zip(last) {
            *integral += 0.5 * (this + last) * (now - time);
        }
        seen.at_end = kinetic + view.potential_energy();
        seen.mechanical = seen.mechanical.max((seen.at_end - ENERGY).abs());
        seen.dissipated = [seen.dissipated[0].max(lost), seen.dissipated[1].min(lost)];
        seen.dissipated_at_end = lost;
        seen.turns += usize::from(u * speed < 0.0);
        seen.steps += 1.0;
        (time, powers, speed) = (now, Some(these), u);
    };
    let mut integrator = DormandPrince::new(ACCURACY).with_max_step(1e-3);
    simulation.run(&mut integrator, 10.0, &mut observe).expect("runs");
    seen
}

#[test]
fn a_spring_that_states_its_energy_keeps_it_and_dissipates_nothing() {
    let seen = run(|element| element.with_force_and_energy_law(hardening(0.0, 0.0)));
    assert!(seen.turns >= 5, "it has not swung: {} turns", seen.turns);
    // Each step may be off by at most the accuracy times one plus the variable: in a velocity of up to 3 m/s of 2 kg, and in a
    // position against up to 60 N.
    let allowed = seen.steps * ACCURACY * (MASS * SPEED * (1.0 + SPEED) + 60.0 * 2.0);
    assert!(allowed < 0.02 * ENERGY, "a bound that means something: {allowed} J");
    assert!(seen.mechanical < allowed, "{} J of {ENERGY} J, {allowed} J allowed", seen.mechanical);
    let [most, least] = seen.dissipated;
    assert!(most < allowed && least > -allowed, "{least} to {most} J dissipated");
}

#[test]
fn of_a_law_without_energy_all_that_it_takes_counts_as_lost_and_all_that_it_gives_as_loss_undone() {
    let seen = run(|element| element.with_force_law(|_, q, _, p| p.stiffness * q.powi(3)));
    let [most, least] = seen.dissipated;
    // At each turn the spring holds all of it, to a step of 1 ms away from the turn: (30 m/s²·1 ms)²·1 kg.
    assert!((most - ENERGY).abs() < 1e-3, "{most} J of {ENERGY} J");
    // And gives it back.
    assert!(least > -1e-3 && seen.turns >= 5, "{least} J");
}

#[test]
fn of_a_law_with_a_damper_and_a_drive_the_ledger_counts_what_the_law_states() {
    let seen = run(|element| element.with_force_and_energy_law(hardening(1.5, 4.0)));
    let [lost, supplied] = seen.integrals;
    assert!(lost > 0.5 * ENERGY && supplied > 1.0, "{lost} J lost, {supplied} J supplied");
    // The trapezoidal rule is off by h²/12 of the change of slope of a power of 14 W that varies within 0.1 s.
    assert!((seen.dissipated_at_end - lost).abs() < 1e-4, "{} J for {lost} J", seen.dissipated_at_end);
    let balance = ENERGY + supplied - lost;
    assert!((seen.at_end - balance).abs() < 2e-4, "{} J for {balance} J", seen.at_end);
}

#[test]
fn a_law_that_returns_anything_not_finite_is_refused() {
    let good = Pull { tension: 1.0, potential_energy: 1.0, power_dissipated: 1.0, power_supplied: 1.0 };
    let spoilt = [
        Pull { tension: f64::NAN, ..good },
        Pull { potential_energy: f64::INFINITY, ..good },
        Pull { power_dissipated: f64::NAN, ..good },
        Pull { power_supplied: f64::NEG_INFINITY, ..good },
    ];
    for (law, is_good) in spoilt.map(|law| (law, false)).into_iter().chain([(good, true)]) {
        let mut system = ForceSystem::new();
        let slider = system.add_coordinate();
        let element = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), Parameters::default())
            .expect("valid")
            .with_force_and_energy_law(move |_, _, _, _| law);
        system.add(element).expect("exists");
        let refused = system.realize_dynamics(&mut system.default_state()).err();
        let expected = if is_good { None } else { Some(&ElementError::NonFiniteForce) };
        assert_eq!(refused.as_ref().and_then(Error::element_error), expected);
        assert_eq!(refused.is_none(), is_good);
    }
}
