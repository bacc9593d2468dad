//! Random cables of every kind, searched, tracked and verified: how many are found, how many are refused and why, and
//! whether any is wrong.
//!
//! Ten kinds of scenes, each with up to eight obstacles (spheres, cylinders, ellipsoids, tori, height maps, splines of
//! distances around a bone, two surfaces known only by their implicit functions) and via points. Each is searched
//! without memory, tracked through a motion of all bodies, solved again in one step, from a memory slightly off, and
//! from one without any correct entry. Every path found is verified by formulas and integrations that are independent
//! of the library: its parts join smoothly, arcs are geodesics, straight segments stay out of the obstacles that they
//! pass, the second variation of length is positive, a string of beads pulled tight beside it is not shorter, hints are
//! kept, the same problem has the same solution to the bit, and lengths change at their stated rates.
//!
//! Prints a row for each kind and every wrong result; the exit status is 1 if there is any. The default takes about
//! a quarter of an hour of processor time, shared by all cores; `benches/record/cable.md` has its table, and the results of
//! other seeds.
//!
//! ```text
//! cargo run --release --example cable_corpus [-- SCENES SEED STEPS]
//! ```

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use force_elements::Error;
use force_elements::cable::PathError;
use force_elements_examples::{Argument, Arguments, Progress, Table, println};
use force_elements_scenes::corpus::{Family, Report, examine};

/// Sums over the scenes of a family.
#[derive(Debug, Default)]
struct Row {
    solved: u64,
    refused: BTreeMap<&'static str, u64>,
    steps: u64,
    stopped: BTreeMap<&'static str, u64>,
    touchdowns: u64,
    liftoffs: u64,
    declared: u64,
    wrong: u64,
    slowest: [Duration; 3],
}

fn kind(error: &PathError) -> &'static str {
    match error {
        PathError::NotConverged { .. }
        | PathError::NoMinimum { .. }
        | PathError::TooManyEvaluations { .. } => "not found",
        PathError::Penetrates { .. } => "would touch twice",
        PathError::HintNotKept { .. } => "hint not kept",
        PathError::PointInsideObstacle { .. } => "end inside",
        PathError::EndOnSurface { .. } => "end on a surface",
        PathError::ObstaclesOverlap { .. } => "overlap",
        PathError::Shape(_) => "off a patch",
        _ => "other",
    }
}

impl Row {
    fn add(&mut self, report: &Report) {
        match &report.refused {
            None => self.solved += 1,
            Some(error) => *self.refused.entry(kind(error)).or_default() += 1,
        }
        if let Some(error) = &report.stopped {
            *self.stopped.entry(kind(error)).or_default() += 1;
        }
        self.steps += u64::from(report.steps);
        self.touchdowns += u64::from(report.touchdowns);
        self.liftoffs += u64::from(report.liftoffs);
        self.declared += u64::from(report.declared);
        self.wrong += u64::from(!report.wrong.is_empty());
        for (slowest, took) in self.slowest.iter_mut().zip(report.slowest) {
            *slowest = took.max(*slowest);
        }
    }

    fn cells(&self, family: Family) -> [String; 11] {
        let counts = |counts: &BTreeMap<&str, u64>| {
            let each: Vec<String> = counts.iter().map(|(why, count)| format!("{count} {why}")).collect();
            each.join(", ")
        };
        let time = |t: Duration| format!("{:.2}", 1e3 * t.as_secs_f64());
        [
            family.name().to_string(),
            self.solved.to_string(),
            counts(&self.refused),
            self.steps.to_string(),
            counts(&self.stopped),
            format!("{} / {}", self.touchdowns, self.liftoffs),
            self.declared.to_string(),
            self.wrong.to_string(),
            time(self.slowest[0]),
            time(self.slowest[1]),
            time(self.slowest[2]),
        ]
    }
}

fn main() -> Result<ExitCode, Error> {
    let argument = |name, help, default| Argument { name, help, default };
    let arguments = Arguments::read(
        "Random cables of every kind: are their paths found, are they right, and can they be followed?",
        [
            argument("SCENES", "how many random scenes of each kind", "1000"),
            argument("SEED", "the seed of the first", "0"),
            argument("STEPS", "how many steps each is followed", "20"),
        ],
    );
    let [scenes, first, steps] = [0, 1, 2].map(|place| arguments.number(place));
    let steps = u32::try_from(steps).unwrap_or(u32::MAX);
    let count = scenes * Family::ALL.len() as u64;
    let progress = Progress::new(count);
    let rows = Mutex::new(BTreeMap::<Family, Row>::new());
    let failure = Mutex::new(None);
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return;
                }
                let seed = first + i % scenes;
                let family = Family::ALL[usize::try_from(i / scenes).unwrap_or(0)];
                match examine(family, seed, steps) {
                    Ok(report) => {
                        for wrong in &report.wrong {
                            progress.aside(|| println!("{} {seed}: {wrong:?}", family.name()));
                        }
                        let mut rows = rows.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        rows.entry(family).or_default().add(&report);
                    }
                    Err(error) => {
                        *failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
                    }
                }
                progress.step();
            }
        };
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    drop(progress);
    if let Some(error) = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(error);
    }
    let rows = rows.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut table = Table::new([
        "kind",
        "solved",
        "refused",
        "steps",
        "stopped",
        "touchdowns / liftoffs",
        "not tracked",
        "wrong",
        "search [ms]",
        "step [ms]",
        "refusal [ms]",
    ]);
    for (family, row) in &rows {
        table.row(row.cells(*family));
    }
    println!("{scenes} scenes of each kind, times of the slowest\n\n{table}");
    let is_sound = rows.values().all(|row| row.wrong == 0);
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
