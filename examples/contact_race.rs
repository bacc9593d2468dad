//! A block slides, spins and leans on exponential springs and on an elastic foundation: which is faster, and which
//! comes to rest.
//!
//! ```text
//! cargo run --release --example contact_race
//! ```

use std::time::Instant;

use force_elements::simulation::SimulationError;
use force_elements_examples::{Arguments, Progress, Table, print, println};
use force_elements_scenes::race::{self, Finish, Runner, SCENES, Scene, runners};

const ACCURACIES: [f64; 2] = [1e-3, 1e-5];
/// The least of several times is the one that other work on the machine has disturbed least.
const REPEATS: usize = 5;

/// What a runner needs of something, over what the exponential springs of the same scene need.
#[derive(Clone, Copy)]
struct Ratios {
    evaluations: f64,
    time: f64,
}

/// A line of the table.
struct Row {
    scene: Scene,
    accuracy: f64,
    runner: Runner,
    finish: Finish,
    drift_at_rest: f64,
    seconds: f64,
    ratios: Ratios,
}

fn main() -> Result<(), SimulationError> {
    Arguments::read(
        "A block on exponential springs and on a foundation: which is faster, which comes to rest.",
        [],
    );
    println!("{INTRODUCTION}");
    let mut rows = Vec::new();
    for scene in SCENES {
        let first = rows.len();
        let progress = Progress::new((ACCURACIES.len() * runners().len()) as u64);
        for accuracy in ACCURACIES {
            race(scene, accuracy, &mut rows, &progress)?;
        }
        drop(progress);
        print_scene(scene, &rows[first..]);
    }
    print_claims(&rows);
    println!("{REMARKS}");
    print_times(&rows);
    Ok(())
}

const INTRODUCTION: &str = "\
# Contact race: exponential springs and elastic foundation

A block of 10 kg and 1 kg·m² with half a side of 0.1 m on a plane for 7 s, friction 0.7 and 0.5, from its
resting height. Exponential springs: default parameters, one at each of eight corners, anchors under the corners
and Sliding 1 at the start. Foundation: a brick mesh of 192 faces, 32 of them under the block, against a
half-space; as stiff under the weight (`k·A = d2·m·g`) and as dissipative (0.5 s/m) as the springs; so few faces
favour it. Dormand–Prince of order 5 without a limit on its steps. Of these contacts only
return mapping switches, when an anchor lets go: steps are shortened to locate that. A step costs the foundation six evaluations and the springs seven: where anchors
have been committed, forces are asked for again.

*Time* is the least of 5 runs. *Ratios* are to the exponential springs of the same scene and accuracy.
*Drift* is displacement along the plane, per second: over the last 2 s of the scene, in which the block may
still rock, and from 40 s to 60 s, if it is left alone that long.";

const REMARKS: &str = "
With its large inertia the block rocks for tens of seconds, and is damped less where springs are spread over
the face than where they sit at the corners. What it drifts within the scene is mostly that.

Errors are relative to the speed that the block has had, so that where it only creeps they are as small as its creep:
error control sees how steep the friction of a foundation is near rest at 1e-3 too. Exponential springs at rest buzz along
the normal, and their anchors hold.

What a small transition velocity costs it costs near rest, where friction is as stiff as it is small. As long as a
block slides or spins, a foundation takes steps as long as springs do, and longer where the block tumbles over
its corners. Under a steady load it creeps at the share of the transition velocity at which friction balances the
load; exponential springs come to rest.";

/// Runs all contacts through a scene.
fn race(
    scene: Scene,
    accuracy: f64,
    rows: &mut Vec<Row>,
    progress: &Progress,
) -> Result<(), SimulationError> {
    let mut first: Option<(f64, f64)> = None;
    for runner in runners() {
        let mut finish = race::run(scene, runner.contact, accuracy)?;
        let mut seconds = f64::INFINITY;
        for _ in 0..REPEATS {
            let start = Instant::now();
            finish = race::run(scene, runner.contact, accuracy)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
        let drift_at_rest = race::drift_at_rest(scene, runner.contact, accuracy)?;
        let evaluations = count(finish.statistics.evaluations);
        let (first_evaluations, first_seconds) = *first.get_or_insert((evaluations, seconds));
        let ratios = Ratios { evaluations: evaluations / first_evaluations, time: seconds / first_seconds };
        rows.push(Row { scene, accuracy, runner, finish, drift_at_rest, seconds, ratios });
        progress.step();
    }
    Ok(())
}

fn print_scene(scene: Scene, rows: &[Row]) {
    println!("\n## {}\n", scene.name());
    let mut table = Table::new([
        "accuracy",
        "contact",
        "steps",
        "rejected",
        "evaluations",
        "ratio",
        "drift at 5–7 s, µm/s",
        "at 40–60 s, µm/s",
        "x at 7 s, m",
    ]);
    for Row { accuracy, runner, finish, drift_at_rest, ratios, .. } in rows {
        table.row([
            format!("{accuracy:.0e}"),
            runner.name.to_string(),
            finish.statistics.steps.to_string(),
            finish.statistics.rejected.to_string(),
            finish.statistics.evaluations.to_string(),
            format!("{:.1}", ratios.evaluations),
            format!("{:.0}", finish.drift * 1e6),
            format!("{:.2}", drift_at_rest * 1e6),
            format!("{:.4}", finish.position.x),
        ]);
    }
    print!("{table}");
}

fn print_claims(rows: &[Row]) {
    println!("\n## How many times faster exponential springs are than a foundation\n");
    println!(
        "Published: the reference manual of Simbody's exponential spring. Simbody: its own elements, measured on \
         these scenes. Here: at 1e-5, where both follow the motion; at 1e-3 beside it.\n"
    );
    let names = ["foundation, 0.01 m/s", "foundation, 0.001 m/s"];
    let of = |ratio: fn(&Ratios) -> f64, accuracy: f64| {
        names.map(|name| {
            let chosen = rows.iter().filter(|row| row.runner.name == name && row.accuracy == accuracy);
            let (low, high) = chosen.fold((f64::INFINITY, 0.0_f64), |(low, high), row| {
                (low.min(ratio(&row.ratios)), high.max(ratio(&row.ratios)))
            });
            format!("{low:.1} to {high:.1}")
        })
    };
    let mut table = Table::new(["", names[0], names[1]]);
    for (what, [coarse, fine]) in [
        ("published", ["about 2", "up to 100"].map(String::from)),
        ("Simbody", ["1.1 to 8", "9 to 64"].map(String::from)),
        ("evaluations at 1e-5", of(|r| r.evaluations, 1e-5)),
        ("evaluations at 1e-3", of(|r| r.evaluations, 1e-3)),
        ("time at 1e-5", of(|r| r.time, 1e-5)),
        ("time at 1e-3", of(|r| r.time, 1e-3)),
    ] {
        table.row([what.into(), coarse, fine]);
    }
    print!("{table}");
}

fn print_times(rows: &[Row]) {
    println!("\n## Time\n");
    let mut table = Table::new(["time", "ratio", "scene", "accuracy", "contact"]);
    for Row { scene, accuracy, runner, seconds, ratios, .. } in rows {
        table.row([
            format!("{:.2} ms", seconds * 1e3),
            format!("{:.1}", ratios.time),
            scene.name().to_string(),
            format!("{accuracy:.0e}"),
            runner.name.to_string(),
        ]);
    }
    print!("{table}");
}

fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::INFINITY, f64::from)
}
