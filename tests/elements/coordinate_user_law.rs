//! The energy account of a user's law on a coordinate, with and without stored energy.

use force_elements::laws::{Law, OnCoordinates, Pull, Stretch};
use force_elements::nalgebra::Vector3;
use force_elements::simulation::{DormandPrince, Plant, Simulation};
use force_elements::{CoordinatePair, ElementError, ForceSystem, Number, Real, variables};

const MASS: f64 = 2.0;
const SPEED: f64 = 3.0;
const ENERGY: f64 = 0.5 * MASS * SPEED * SPEED;
const ACCURACY: f64 = 1e-9;

variables! {
    /// A spring that hardens, with a damper and a drive.
    #[derive(Copy, Lift)]
    struct Hardening<T> {
        stiffness: T ["N/m³"] = 50.0, nonnegative => Dynamics;
        damping: T ["N·s/m"], nonnegative => Dynamics;
        drive: T ["N"], finite => Dynamics;
        /// Whether it states its energy; otherwise all that it takes counts as dissipated.
        states_energy: bool => Dynamics;
    }
}

#[derive(Debug)]
struct Spring;

impl<T: Real> Law<T, Stretch<T>> for Spring {
    const KIND: &'static str = "hardening_spring";
    type Parameters = Hardening<T>;
    type Memory = ();

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        p: &Hardening<S>,
        (): &(),
        &Stretch { length: q, rate: v, .. }: &Stretch<S>,
    ) -> Result<Pull<S>, ElementError> {
        let elastic = p.stiffness * q * q * q;
        let tension = elastic + p.damping * v - p.drive;
        Ok(if p.states_energy {
            Pull {
                tension,
                potential_energy: elastic * q * S::lit(0.25),
                power_dissipated: p.damping * v * v,
                power_supplied: p.drive * v,
            }
        } else {
            Pull { tension, power_dissipated: tension * v, ..Pull::zero() }
        })
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

fn run(law: Hardening<f64>) -> Seen {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let slider = plant.add_coordinate(&mut system, MASS).expect("positive");
    let spring = OnCoordinates::new(Spring, CoordinatePair::on(slider), law).expect("valid");
    let handle = system.add(spring).expect("exists");
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
    let seen = run(Hardening { states_energy: true, ..Hardening::default() });
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
    let seen = run(Hardening::default());
    let [most, least] = seen.dissipated;
    // At each turn the spring holds all of it, to a step of 1 ms away from the turn: (30 m/s²·1 ms)²·1 kg.
    assert!((most - ENERGY).abs() < 1e-3, "{most} J of {ENERGY} J");
    // And gives it back.
    assert!(least > -1e-3 && seen.turns >= 5, "{least} J");
}

#[test]
fn of_a_law_with_a_damper_and_a_drive_the_ledger_counts_what_the_law_states() {
    let seen = run(Hardening { damping: 1.5, drive: 4.0, states_energy: true, ..Hardening::default() });
    let [lost, supplied] = seen.integrals;
    assert!(lost > 0.5 * ENERGY && supplied > 1.0, "{lost} J lost, {supplied} J supplied");
    // The trapezoidal rule is off by h²/12 of the change of slope of a power of 14 W that varies within 0.1 s.
    assert!((seen.dissipated_at_end - lost).abs() < 1e-4, "{} J for {lost} J", seen.dissipated_at_end);
    let balance = ENERGY + supplied - lost;
    assert!((seen.at_end - balance).abs() < 2e-4, "{} J for {balance} J", seen.at_end);
}

/// A law of given numbers.
#[derive(Debug)]
struct Fixed([f64; 4]);

impl<T: Real> Law<T, Stretch<T>> for Fixed {
    const KIND: &'static str = "fixed";
    type Parameters = ();
    type Memory = ();

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        (): &(),
        (): &(),
        _: &Stretch<S>,
    ) -> Result<Pull<S>, ElementError> {
        let [tension, potential_energy, power_dissipated, power_supplied] = self.0.map(S::lit);
        Ok(Pull { tension, potential_energy, power_dissipated, power_supplied })
    }
}

#[test]
fn a_law_that_returns_anything_not_finite_is_refused() {
    let refused = |law| {
        let mut system = ForceSystem::<f64>::new();
        let pair = CoordinatePair::on(system.add_coordinate());
        system.add(OnCoordinates::new(Fixed(law), pair, ()).expect("valid")).expect("exists");
        let refused = system.realize_dynamics(&mut system.default_state()).err();
        refused.map(|refused| refused.element_error() == Some(&ElementError::NonFiniteForce))
    };
    assert_eq!(refused([1.0; 4]), None);
    for place in 0..4 {
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut law = [1.0; 4];
            law[place] = wrong;
            assert_eq!(refused(law), Some(true), "{law:?}");
        }
    }
}
