//! Trajectories with friction and limit stops, compared with those of another program.
//!
//! Each is integrated three times: implicitly, in steps of the length with which it was computed and of a quarter of
//! it, and explicitly under error control. Prints the deviations, the cost, the number of switches and the energy
//! balance as tables. The exit status is 1 if a deviation exceeds its tolerance.
//!
//! ```text
//! cargo run --release --example friction_trajectories
//! ```

use std::error::Error;
use std::process::ExitCode;

use force_elements::coordinate_spring_damper_ext::Discrete;
use force_elements::simulation::{DormandPrince, Implicit, Integrator};
use force_elements_examples::{Arguments, Progress, Table, print, println};
use force_elements_scenes::between_stops::BetweenStops;
use force_elements_scenes::conformance::Fields;
use force_elements_scenes::conformance::coordinate_spring_damper_ext::Trajectory;

const CASES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/coordinate_spring_damper_ext_trajectories.json");

/// Far beyond the tolerances, which ask for six digits.
const ACCURACY: f64 = 1e-10;

const SCENE: &str = "\
A mass of 0.5 kg starts at 10 m/s on a `CoordinateSpringDamperExt`. Its motion is compared with a reference at every hundredth
of a second. *implicit* is the implicit trapezoidal rule with the steps of the reference; *explicit* is Dormand–Prince with
accuracy 1e-10. The tolerance of q is ten times the change of the reference when its step is doubled. The tolerance of u is
larger by the ratio of the largest changes of u and q between samples. A run with the steps of the reference may share its
error. Runs with quarter steps and explicit runs show the agreement without a shared error.";

const WORK_BALANCE: &str = "\
*Work balance off*: the largest change of kinetic plus absorbed energy, over all accepted steps. Energy that is neither lost
nor kinetic at the end is stored in springs, stops and bristles. A force may jump, as at the damper of a stop. The implicit
rule applies the jump at the end of the step in which it happens. Its work balance is then off by the jump times the distance
moved since the event. The explicit method locates the event and applies the jump between two steps.";

const EXACT: &str = "\
With limit stops alone the motion is known in closed form. The table has the largest deviation in q from it: of the reference
at its samples, and of runs at every accepted step, with events located more accurately and with shorter steps.";

/// How often something switched from one accepted step to the next.
#[derive(Default)]
struct Events {
    slips: usize,
    sticks: usize,
    stops_entered: usize,
    stops_left: usize,
}

/// What came of one run.
struct Run {
    label: String,
    integrator: &'static str,
    duration: f64,
    deviations: [(f64, f64); 2],
    events: Events,
    steps: usize,
    rejected: usize,
    evaluations: usize,
    energy: f64,
    lost: f64,
    open: f64,
    inexact: f64,
}

impl Run {
    fn passes(&self) -> bool {
        self.deviations.iter().all(|(deviation, tolerance)| deviation <= tolerance)
    }
}

fn run(
    label: &str,
    trajectory: &Trajectory,
    exact: Option<BetweenStops>,
    name: &'static str,
    integrator: &mut impl Integrator<f64>,
) -> Result<Run, Box<dyn Error>> {
    let mut simulation = trajectory.simulation()?;
    let energy = simulation.work_balance();
    let mut before: Option<Discrete<f64>> = None;
    let mut events = Events::default();
    let (mut open, mut inexact) = (0.0_f64, 0.0_f64);
    let deviations = trajectory.follow(&mut simulation, integrator, |simulation, now| {
        let before = before.replace(*now).unwrap_or(*now);
        match (before.friction_mode == 0.0, now.friction_mode == 0.0) {
            (true, false) => events.slips += 1,
            (false, true) => events.sticks += 1,
            _ => {}
        }
        match (before.limit_stop_state == 0.0, now.limit_stop_state == 0.0) {
            (true, false) => events.stops_entered += 1,
            (false, true) => events.stops_left += 1,
            _ => {}
        }
        open = open.max((simulation.work_balance() - energy).abs());
        if let Some(exact) = exact {
            let q = simulation.state().positions().coordinates()[0];
            inexact = inexact.max((q - exact.at(simulation.time()).0).abs());
        }
    })?;
    let [(_, q, q_tolerance), (_, u, u_tolerance)] = deviations.quantities[..] else {
        return Err("a trajectory is compared in q and u".into());
    };
    let statistics = simulation.statistics();
    Ok(Run {
        label: label.to_string(),
        integrator: name,
        duration: simulation.time(),
        deviations: [(q, q_tolerance), (u, u_tolerance)],
        events,
        steps: statistics.steps,
        rejected: statistics.rejected,
        evaluations: statistics.evaluations,
        energy,
        lost: simulation.dynamics()?.dissipated_energy().unwrap_or(f64::NAN),
        open,
        inexact,
    })
}

/// The motion in closed form, if there is nothing but stops.
fn closed_form(case: Fields<'_>) -> Result<Option<BetweenStops>, Box<dyn Error>> {
    let input = case.object("input")?;
    if !input.has("use_limit_stops") {
        return Ok(None);
    }
    Ok(Some(BetweenStops {
        mass: input.number("mass")?,
        stop: input.number("limit_stops_upper")?,
        stiffness: input.number("limit_stops_stiffness")?,
        damping: input.number("limit_stops_damping")?,
        speed: input.number("u")?,
    }))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    Arguments::read(
        "Trajectories with friction and limit stops against those another program computed; the exit status is 1 if a deviation exceeds its tolerance.",
        [],
    );
    let content: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(CASES)?)?;
    let root = Fields(&content);
    let (mut runs, mut exactness) = (Vec::new(), Vec::new());
    println!("# Trajectories with friction and limit stops\n");
    println!("`cargo run --release --example friction_trajectories`\n");
    println!("{SCENE}\n\nThe reference: {}.\n", root.text("source")?);
    let cases = root.objects("trajectories")?;
    let progress = Progress::new(cases.len() as u64);
    for case in cases {
        let (label, trajectory, exact) = (case.text("label")?, Trajectory::new(case)?, closed_form(case)?);
        let mut implicit = Implicit::trapezoidal(trajectory.step);
        runs.push(run(label, &trajectory, exact, "implicit", &mut implicit)?);
        let mut quarter = Implicit::trapezoidal(0.25 * trajectory.step);
        runs.push(run(label, &trajectory, exact, "implicit, quarter steps", &mut quarter)?);
        runs.push(run(label, &trajectory, exact, "explicit", &mut DormandPrince::new(ACCURACY))?);
        if let Some(exact) = exact {
            let mut reference = 0.0_f64;
            for (time, q) in case.numbers("time")?.iter().zip(case.numbers("q")?) {
                reference = reference.max((q - exact.at(*time).0).abs());
            }
            exactness.push(("reference".to_string(), reference));
            for (force, step) in [(1e-3, 1e-6), (1e-4, 1e-7), (1e-5, 1e-8), (1e-6, 1e-9)] {
                let mut integrator =
                    DormandPrince::new(ACCURACY).with_force_tolerance(force).with_event_step(step);
                let run = run(label, &trajectory, Some(exact), "explicit", &mut integrator)?;
                exactness.push((format!("explicit, events to {step:e} s or {force:e} N"), run.inexact));
            }
            for run in runs.iter().filter(|run| run.label == label && run.integrator != "explicit") {
                exactness.push((run.integrator.to_string(), run.inexact));
            }
        }
        progress.step();
    }
    drop(progress);

    let mut table = Table::new([
        "trajectory",
        "integrator",
        "off in q [m]",
        "tolerance",
        "off in u [m/s]",
        "tolerance",
        "verdict",
    ]);
    for run in &runs {
        let [(q, q_tolerance), (u, u_tolerance)] = run.deviations;
        table.row([
            run.label.clone(),
            run.integrator.to_string(),
            format!("{q:.1e}"),
            format!("{q_tolerance:.1e}"),
            format!("{u:.1e}"),
            format!("{u_tolerance:.1e}"),
            if run.passes() { "pass" } else { "FAIL" }.to_string(),
        ]);
    }
    let largest = [0, 1].map(|i| runs.iter().map(|run| run.deviations[i].0).fold(0.0, f64::max));
    println!("{table}\nThe largest: {:.1e} m, {:.1e} m/s\n", largest[0], largest[1]);

    let mut table = Table::new([
        "trajectory",
        "integrator",
        "mean step [s]",
        "duration [s]",
        "steps",
        "rejected",
        "evaluations",
    ]);
    for run in &runs {
        #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        let mean = run.duration / run.steps as f64;
        table.row([
            run.label.clone(),
            run.integrator.to_string(),
            format!("{mean:.2e}"),
            format!("{:.2}", run.duration),
            run.steps.to_string(),
            run.rejected.to_string(),
            run.evaluations.to_string(),
        ]);
    }
    println!("{table}");

    let mut table = Table::new([
        "trajectory",
        "integrator",
        "slipped",
        "stuck",
        "stops entered",
        "left",
        "start [J]",
        "lost [J]",
        "work balance off [J]",
    ]);
    for run in &runs {
        let Events { slips, sticks, stops_entered, stops_left } = run.events;
        table.row([
            run.label.clone(),
            run.integrator.to_string(),
            slips.to_string(),
            sticks.to_string(),
            stops_entered.to_string(),
            stops_left.to_string(),
            format!("{:.6}", run.energy),
            format!("{:.6}", run.lost),
            format!("{:.1e}", run.open),
        ]);
    }
    println!("{table}\n{WORK_BALANCE}\n\n{EXACT}\n");
    let mut table = Table::new(["run", "off in q [m]"]);
    for (what, inexact) in exactness {
        table.row([what, format!("{inexact:.1e}")]);
    }
    print!("{table}");
    Ok(if runs.iter().all(Run::passes) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
