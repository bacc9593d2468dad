//! Two bodies on soft springs swing and rock on an elastic cable over a cylinder; the cable goes slack and
//! taut, leaves the cylinder and lands on it again. Prints the energy over time, and the errors of the energy
//! balance with their cost, and draws a picture.
//!
//! ```text
//! cargo run --release --example swinging_cable [-- PICTURE.svg [RECORDING.glb]]
//! ```
#![allow(non_snake_case, reason = "monogram notation")]

use std::error::Error;

use force_elements::simulation::{DormandPrince, Implicit, Integrator};

mod picture;
#[path = "../recording.rs"]
mod recording;

use force_elements_examples::{Argument, Arguments, Progress, Table, print, println};
use force_elements_scenes::swinging_cable::{
    HALF_SIDES, MASSES, RADIUS, Run, SECONDS, SLACK_LENGTH, STIFFNESS, SUPPORT, Sample, SwingingCable,
};
use picture::Film;
use recording::{Recording, Still};

/// Dissipation of the cable in the second half of the tables \[s/m\].
const DISSIPATION: f64 = 0.3;

const ADDS_UP: &str = "\
*Touchdowns*, *liftoffs*, *slack*: how often the cable landed on the cylinder, left it, and went slack between accepted steps.
*Turned over*: the sum of all increases of kinetic energy. *Stored off*: the largest change of the sum of kinetic,
gravitational and stored energy, without the ledger. *In one step*: the largest change of this sum in a single step, and the
event in that step. *Total off*: the largest change of this sum plus the energy dissipated according to the ledger. *Fall*:
the largest decrease of dissipated energy in a step. *Relative*: the error over *turned over*.";

const LOSS: &str = "\
The table compares the energy that the cable has dissipated according to the ledger with the integral of `power_dissipated`
over the run. The integral is computed by trapezoids from the values at the accepted steps. The integrator has no part in it,
and its own error falls with the square of the step. The run is by Dormand–Prince with accuracy 1e-9.";

const REMARK: &str = "\
The tension of a cable has a kink in time where the cable becomes taut or goes slack, and where it lands on the cylinder or
leaves it. The integrator shortens its steps there because its error estimate responds to the kink. But the estimate, the
difference of its solutions of order 5 and 4, is zero for a kink at 0.4225 or 0.8336 of the step, although the error is not.
Occasionally a kink is close to one of these places, and a step is accepted with a larger error than the one asked for.
*Total off* is hardly affected, because the ledger integrates the same forces by the same stages.";

fn print_energies(name: &str, run: &Run) {
    println!("\n### {name}\n");
    let mut table = Table::new([
        "t [s]",
        "kinetic [J]",
        "gravitational [J]",
        "in supports [J]",
        "in cable [J]",
        "dissipated [J]",
        "total [J]",
        "tension [N]",
        "on cylinder",
    ]);
    for s in run.samples.iter().filter(|s| s.time.fract() == 0.0) {
        // Not minus zero.
        let dissipated = (s.dissipated * 1e4).round() / 1e4 + 0.0;
        table.row([
            s.time.to_string(),
            format!("{:.4}", s.kinetic),
            format!("{:.4}", s.gravitational),
            format!("{:.4}", s.in_supports),
            format!("{:.4}", s.in_cable),
            format!("{dissipated:.4}"),
            format!("{:.8}", s.total()),
            format!("{:.2}", s.tension),
            if s.in_contact { "yes" } else { "no" }.to_string(),
        ]);
    }
    print!("{table}");
}

/// The largest change of kinetic, gravitational and stored energy in one step, and what happened in it.
fn worst_step(run: &Run) -> (f64, String) {
    let change = |pair: &[Sample]| (pair[1].mechanical() - pair[0].mechanical()).abs();
    let Some(pair) = run.samples.windows(2).max_by(|a, b| change(a).total_cmp(&change(b))) else {
        return (0.0, String::new());
    };
    let what = match (pair[0].elongation > 0.0, pair[1].elongation > 0.0) {
        (false, true) => "became taut",
        (true, false) => "went slack",
        _ if pair[0].in_contact != pair[1].in_contact => "contact",
        _ => "no event",
    };
    (change(pair), format!("{what}, step {:.1} ms", (pair[1].time - pair[0].time) * 1e3))
}

/// How far everything goes.
fn print_motion(runs: [(&str, &Run); 2]) {
    println!("\n## Ranges of the motion\n");
    let mut table = Table::new(["range", runs[0].0, runs[1].0]);
    let mut row = |what: &str, of: &dyn Fn(&Sample) -> f64, only: &dyn Fn(&Sample) -> bool| {
        let [first, second] = runs.map(|(_, run)| {
            let values = || run.samples.iter().filter(|s| only(s)).map(of);
            format!(
                "{:.2} … {:.2}",
                values().fold(f64::INFINITY, f64::min),
                values().fold(f64::NEG_INFINITY, f64::max)
            )
        });
        table.row([what.to_string(), first, second]);
    };
    let always = |_: &Sample| true;
    for (end, name) in ["origin", "end"].into_iter().enumerate() {
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            row(&format!("{name} of the cable, {letter} [m]"), &|s| s.eyes()[end][axis], &always);
        }
        row("rotation of its body [rad]", &|s| s.poses[end].rotation.angle(), &always);
    }
    row("contact with the cylinder, along its axis [m]", &|s| s.touch, &|s| s.in_contact);
    row("rate of its length [m/s]", &|s| s.length_rate, &always);
    row("tension [N]", &|s| s.tension, &always);
    print!("{table}");
}

fn row(
    name: String,
    scene: &SwingingCable,
    integrator: &mut impl Integrator<f64>,
) -> Result<[String; 12], Box<dyn Error>> {
    let run = scene.run(integrator, |_| {})?;
    let s = run.statistics;
    let (total, turned_over) = (run.change(Sample::total), run.turned_over());
    let dissipated = run.samples.last().map_or(0.0, |s| s.dissipated);
    let [a, b, c, d] = if scene.is_damped() {
        let fall =
            run.samples.windows(2).map(|pair| pair[0].dissipated - pair[1].dissipated).fold(0.0, f64::max);
        let relative = format!("{:.1e}", total / turned_over);
        [format!("{total:.1e}"), relative, format!("{dissipated:.6}"), format!("{fall:.1e}")]
    } else {
        let stored = run.change(Sample::mechanical);
        let (step, what) = worst_step(&run);
        let relative = format!("{:.1e}", stored / turned_over);
        [format!("{stored:.1e}"), relative, format!("{total:.1e}"), format!("{step:.1e}: {what}")]
    };
    Ok([
        name,
        s.steps.to_string(),
        s.rejected.to_string(),
        s.evaluations.to_string(),
        run.count(|s| s.in_contact).to_string(),
        run.count(|s| !s.in_contact).to_string(),
        run.count(|s| s.elongation == 0.0).to_string(),
        format!("{turned_over:.1}"),
        a,
        b,
        c,
        d,
    ])
}

fn print_accuracies(scene: &SwingingCable) -> Result<(), Box<dyn Error>> {
    let [a, b, c, d] = if scene.is_damped() {
        ["total off [J]", "relative", "dissipated [J]", "fall [J]"]
    } else {
        ["stored off [J]", "relative", "total off [J]", "in one step [J]"]
    };
    let mut table = Table::new([
        "integrator",
        "steps",
        "rejected",
        "evaluations",
        "touchdowns",
        "liftoffs",
        "slack",
        "turned over [J]",
        a,
        b,
        c,
        d,
    ]);
    let (explicit, implicit) = ([4, 5, 6, 7, 8, 9], [2e-3, 1e-3, 5e-4]);
    let progress = Progress::new((explicit.len() + implicit.len()) as u64);
    for digits in explicit {
        let name = format!("Dormand–Prince, 1e-{digits}");
        table.row(row(name, scene, &mut DormandPrince::new(0.1_f64.powi(digits)))?);
        progress.step();
    }
    for step in implicit {
        let name = format!("implicit, {} ms", step * 1e3);
        table.row(row(name, scene, &mut Implicit::trapezoidal(step))?);
        progress.step();
    }
    drop(progress);
    print!("\n{table}");
    Ok(())
}

fn print_losses(scene: &SwingingCable) -> Result<(), Box<dyn Error>> {
    println!("\n{LOSS}\n");
    let mut table =
        Table::new(["longest step [ms]", "steps", "dissipated [J]", "integral of power [J]", "apart [J]"]);
    let max_steps = [2e-3, 1e-3, 5e-4, 2.5e-4];
    let progress = Progress::new(max_steps.len() as u64);
    for max_step in max_steps {
        let run = scene.run(&mut DormandPrince::new(1e-9).with_max_step(max_step), |_| {})?;
        let (lost, integral) = (run.samples.last().map_or(0.0, |s| s.dissipated), run.loss());
        table.row([
            (max_step * 1e3).to_string(),
            run.statistics.steps.to_string(),
            format!("{lost:.8}"),
            format!("{integral:.8}"),
            format!("{:.1e}", (lost - integral).abs()),
        ]);
        progress.step();
    }
    drop(progress);
    print!("{table}");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(
        "Two bodies swing on an elastic cable over a cylinder: energy over time, errors of the energy balance, and a picture.",
        [
            Argument::picture("target/swinging_cable.svg"),
            Argument {
                name: "RECORDING.glb",
                help: "where ten seconds of it are recorded as glTF, if anywhere",
                default: "",
            },
        ],
    );
    let path = arguments.path(0);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let (undamped, damped) = (SwingingCable::new(0.0)?, SwingingCable::new(DISSIPATION)?);

    println!("# A cable on springs, swinging over a cylinder\n");
    println!("`cargo run --release --example swinging_cable`\n");
    println!(
        "Two bodies of {} and {} kg are each on an undamped bushing to Ground ({:.0?} N·m/rad about and {:.0?} N/m along
x, y and z). They are joined by a `CableSpring` ({STIFFNESS} N/m, slack length {SLACK_LENGTH} m) that is attached away from their mass
centers and runs over a cylinder of radius {RADIUS} m fixed to Ground. They are thrown in opposite directions and move under
gravity for {SECONDS} s.",
        MASSES[0],
        MASSES[1],
        &SUPPORT[..3],
        &SUPPORT[3..],
    );

    println!("\n## Energy over time\n\nDormand–Prince, accuracy 1e-8.");
    let mut film = Film::new(&undamped);
    let conserved = undamped.run(&mut DormandPrince::new(1e-8), |dynamics| film.expose(dynamics))?;
    print_energies("Without dissipation", &conserved);
    let lossy = damped.run(&mut DormandPrince::new(1e-8), |_| {})?;
    print_energies(&format!("With a dissipation of {DISSIPATION} s/m"), &lossy);

    print_motion([("without dissipation", &conserved), ("with dissipation", &lossy)]);

    println!("\n## Errors of the energy balance\n\n{ADDS_UP}\n\n### Without dissipation");
    print_accuracies(&undamped)?;
    println!("\n### With a dissipation of {DISSIPATION} s/m");
    print_accuracies(&damped)?;
    print_losses(&damped)?;
    println!("\n{REMARK}");

    film.draw(path, &conserved, &lossy)?;
    println!("\nPicture: {}", path.display());
    let recorded = arguments.path(1);
    if !recorded.as_os_str().is_empty() {
        let bytes = record(&undamped, recorded)?;
        println!("Recording: {}, {bytes} bytes", recorded.display());
    }
    Ok(())
}

/// Records ten seconds at thirty frames a second.
fn record(scene: &SwingingCable, path: &std::path::Path) -> Result<usize, Box<dyn Error>> {
    let mut recording = Recording::new(0.01);
    for body in scene.bodies {
        recording.add_box(body, HALF_SIDES);
    }
    let drum = scene.system.element(scene.cable).path().obstacles()[0].frame();
    recording.add_still(Still::Tube, &drum.X_BF, [RADIUS, RADIUS, 0.5]);
    let (mut simulation, mut integrator) = (scene.simulation()?, DormandPrince::new(1e-8));
    for frame in 0..=300 {
        simulation.run(&mut integrator, f64::from(frame) / 30.0, |_| {})?;
        recording.expose(&simulation.dynamics()?);
    }
    recording.write(path)
}
