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

A block of 10 kg and 1 kg·m², with half a side of 0.1 m, moves on a plane for 7 s and starts at its resting height. Static
friction is 0.7, kinetic friction 0.5.

Exponential springs: default parameters, one at each of the eight corners; at the start the anchors are under the corners and
Sliding is 1. Foundation: a brick mesh of 192 faces, 32 of them under the block, against a half-space. It is as stiff under
the weight (`k·A = d2·m·g`) and as dissipative (0.5 s/m) as the springs. The small number of faces favours the foundation.

The integrator is Dormand–Prince of order 5 without a limit on its steps. Only return mapping has events: an anchor lets go.
Steps are shortened to locate them. A step takes six evaluations with the foundation and seven with the springs, because
forces are evaluated again after anchors have been committed.

*Time* is the least of 5 runs. *Ratios* are relative to exponential springs with settling, in the same scene and with the
same accuracy. *Drift* is the displacement along the plane per second. It is measured over the last 2 s of the scene, when the
block may still rock, and from 40 s to 60 s, if the scene is continued.";

const REMARKS: &str = "
The block has a large inertia and rocks for tens of seconds. Springs spread over the face damp the rocking less than springs
at the corners. Most of the drift within the scene is due to rocking.

Errors are relative to the speed that the block has had. If it only creeps, they are as small as its creep, so that error
control resolves the steep friction of a foundation near rest at 1e-3 too. With exponential springs the block at rest
vibrates along the normal, and the anchors hold.

A small transition velocity is expensive only near rest, where it makes friction stiff. While the block slides or spins, steps
with a foundation are as long as with springs, and longer when the block tumbles over its corners. Under a steady load the
block creeps on a foundation at the share of the transition velocity at which friction balances the load. On exponential
springs it comes to rest.";

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
    println!("\n## Speed of exponential springs relative to a foundation\n");
    println!(
        "*Published* is from the reference manual of Simbody's exponential spring. *Simbody* is measured on these scenes \
         with its own elements. The other rows are measured here: at 1e-5, where both contacts follow the motion, and at \
         1e-3 for comparison.\n"
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
