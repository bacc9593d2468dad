//! A cable between two bodies on springs, over a cylinder: its energy along 20 s of large motion, and that a
//! simulation saved on the way goes on to the same bits.
#![allow(non_snake_case, reason = "monogram notation")]

use force_elements::simulation::{DormandPrince, Implicit, Integrator, Saved, SemiImplicitEuler, Simulation};
use force_elements_scenes::swinging_cable::{RADIUS, Run, STIFFNESS, Sample, SwingingCable};

/// What happens in a run must be worth a test of energy.
fn require_large_motion(run: &Run) {
    let range = |of: &dyn Fn(&Sample) -> f64| {
        let values = || run.samples.iter().map(of);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    for end in 0..2 {
        let smallest = (0..3).map(|axis| range(&|s| s.eyes()[end][axis])).fold(f64::INFINITY, f64::min);
        assert!(smallest > 0.2, "end {end} moves {smallest} m along one axis");
    }
    assert!(
        range(&|s| if s.in_contact { s.touch } else { 0.0 }) > 0.5,
        "it hardly shifts along the cylinder"
    );
    assert!(run.count(|s| s.in_contact) >= 10, "{} touchdowns", run.count(|s| s.in_contact));
    assert!(run.count(|s| !s.in_contact) >= 10, "{} liftoffs", run.count(|s| !s.in_contact));
    assert!(run.count(|s| s.elongation == 0.0) >= 10, "slack {} times", run.count(|s| s.elongation == 0.0));
    assert!(run.turned_over() > 100.0, "{} J turned over", run.turned_over());
}

#[test]
fn energy_of_an_undamped_scene_is_constant() {
    let scene = SwingingCable::new(0.0).expect("valid");
    let mut last = f64::INFINITY;
    for accuracy in [1e-5, 1e-7, 1e-9] {
        let run = scene.run(&mut DormandPrince::new(accuracy), |_| {}).expect("regular");
        require_large_motion(&run);
        // A step may err by the accuracy in each variable. An error of a velocity counts with a momentum of up
        // to 5 kg·m/s, one of a position with a force of up to 40 N: at the worst 50 J per unit, and
        // were all errors of one sign they would add up over all steps. They are not: a tenth of that.
        let stored = run.change(Sample::mechanical);
        let steps = f64::from(u32::try_from(run.statistics.steps).expect("some thousand"));
        let allowed = 0.1 * 50.0 * accuracy * steps;
        assert!(stored < allowed, "{stored:e} J of {allowed:e} J at accuracy {accuracy:e}");
        // The ledger integrates what the forces do by the same stages: kinks do not open it.
        let total = run.change(Sample::total);
        assert!(total < 100.0 * accuracy, "{total:e} J at accuracy {accuracy:e}");
        // Not a bias that no accuracy removes: a hundred times the accuracy, ten times closer at least.
        assert!(stored < last / 10.0, "{stored:e} J at accuracy {accuracy:e}, {last:e} J before");
        last = stored;
    }
}

#[test]
fn dissipated_energy_never_falls_and_is_the_integral_of_its_power() {
    let scene = SwingingCable::new(0.3).expect("valid");
    let (max_step, accuracy) = (5e-4, 1e-9);
    let run = scene.run(&mut DormandPrince::new(accuracy).with_max_step(max_step), |_| {}).expect("regular");
    require_large_motion(&run);
    let lost = run.samples[run.samples.len() - 1].dissipated;
    assert!(lost > 5.0, "the motion is trivial: {lost} J");
    // A trapezoid errs by at most h²/8 times what the slope changes by along it, kinks included.
    let slopes: Vec<f64> = run
        .samples
        .windows(2)
        .map(|s| (s[1].power_dissipated - s[0].power_dissipated) / (s[1].time - s[0].time))
        .collect();
    let changes: f64 = slopes.windows(2).map(|slope| (slope[1] - slope[0]).abs()).sum();
    let (off, allowed) = ((lost - run.loss()).abs(), max_step * max_step / 8.0 * changes);
    assert!(off < allowed, "{off:e} J of {lost} J, {allowed:e} J allowed");
    assert!(allowed < 1e-3 * lost, "{allowed:e} J is nothing to compare with");
    for pair in run.samples.windows(2) {
        let rise = pair[1].dissipated - pair[0].dissipated;
        // What is stored errs by 20 N times the error of a position. And the error estimate of the integrator is
        // blind to a kink at 0.4225 and 0.8336 of a step, where up to 0.01·h² times the jump in slope remains:
        // of the power, k·L̇² where slack begins or ends, and f·v²/R, at 3 m/s, where the cable lands or comes off.
        let (h, rate) =
            (pair[1].time - pair[0].time, pair[0].length_rate.abs().max(pair[1].length_rate.abs()));
        let is_kinked = |of: &dyn Fn(&Sample) -> bool| of(&pair[0]) != of(&pair[1]);
        let slack = if is_kinked(&|s| s.elongation > 0.0) { STIFFNESS * rate * rate } else { 0.0 };
        let contact = if is_kinked(&|s| s.in_contact) { pair[0].tension * 9.0 / RADIUS } else { 0.0 };
        let allowed = 20.0 * accuracy + 0.01 * h * h * (slack + contact);
        assert!(rise > -allowed, "{rise:e} J at {} s, {allowed:e} J allowed", pair[1].time);
        assert!(pair[1].power_dissipated >= 0.0);
    }
    // Nothing else loses any.
    let others = run.change(|s| s.ledger - s.dissipated);
    assert!(others < 1e3 * accuracy, "{others:e} J");
    let total = run.change(Sample::total);
    assert!(total < 100.0 * accuracy, "{total:e} J");
}

/// Whether the cable touched at the last accepted step, as it was saved under its name.
fn touched(saved: &Saved<f64>) -> bool {
    let (_, value) = saved
        .snapshot
        .iter()
        .find(|(name, _)| name.ends_with("in_contact"))
        .expect("a cable remembers whether it touches");
    *value == 1.0
}

/// The same, written out as names and numbers and read again: nothing is kept but what can be printed.
fn through_text(saved: &Saved<f64>) -> Saved<f64> {
    let lines: Vec<_> = saved.snapshot.iter().map(|(name, value)| format!("{name} {value:?}")).collect();
    let text = lines.join("\n");
    let read = |line: &str| {
        let (name, value) = line.split_once(' ').expect("a name and a number");
        (name.to_string(), value.parse().expect("a number"))
    };
    let snapshot = text.lines().map(read).collect();
    Saved { snapshot, ..saved.clone() }
}

/// Runs on, counting touchdowns and liftoffs.
fn run_counting<I: Integrator<f64>>(
    scene: &SwingingCable,
    simulation: &mut Simulation<'_, f64>,
    integrator: &mut I,
    end: f64,
) -> [usize; 2] {
    let mut before = touched(&simulation.save());
    let mut counts = [0; 2];
    simulation
        .run(integrator, end, |simulation| {
            let view = simulation.dynamics().expect("regular");
            let now = view.of(scene.cable).position.path.contacts[0].in_contact;
            counts[0] += usize::from(now && !before);
            counts[1] += usize::from(before && !now);
            before = now;
        })
        .expect("regular");
    counts
}

#[test]
fn a_saved_simulation_resumes_bit_for_bit_through_touchdown_and_liftoff() {
    fn resumes<I: Integrator<f64> + Clone>(mut integrator: I) {
        const END: f64 = 5.0;
        let scene = SwingingCable::new(0.1).expect("valid");
        let mut simulation = scene.simulation().expect("regular");
        let mut seen = [false; 2];
        // In contact and clear of it, taut and slack; not at multiples of any step.
        for stop in [0.0, 0.3137, 0.7077, 1.1, 1.9, 2.7373] {
            simulation.run(&mut integrator, stop, |_| {}).expect("regular");
            let saved = simulation.save();
            seen[usize::from(touched(&saved))] = true;

            let read = through_text(&saved);
            let mut resumed = Simulation::resume(&scene.system, &scene.plant, &read).expect("own system");
            assert_eq!(resumed.save(), saved);
            let counts = run_counting(&scene, &mut resumed, &mut integrator.clone(), END);
            assert!(
                counts.iter().all(|&count| count >= 1),
                "touchdowns, liftoffs after {stop} s: {counts:?}"
            );

            // Looking on the way, as counting does, leaves no trace either.
            let mut original = Simulation::resume(&scene.system, &scene.plant, &saved).expect("own system");
            original.run(&mut integrator.clone(), END, |_| {}).expect("regular");
            assert_eq!(original.save(), resumed.save());
        }
        assert_eq!(seen, [true; 2], "saved only clear of the cylinder, or only on it");
        // And the one that was never resumed ends in the same bits as one that was, from its last stop.
        let saved = simulation.save();
        let mut resumed = Simulation::resume(&scene.system, &scene.plant, &saved).expect("own system");
        resumed.run(&mut integrator.clone(), END, |_| {}).expect("regular");
        let counts = run_counting(&scene, &mut simulation, &mut integrator, END);
        assert!(counts.iter().all(|&count| count >= 1), "touchdowns, liftoffs: {counts:?}");
        assert_eq!(simulation.save(), resumed.save());
    }
    resumes(DormandPrince::new(1e-6));
    resumes(Implicit::trapezoidal(2e-3));
    resumes(SemiImplicitEuler::new(1e-3));
}
