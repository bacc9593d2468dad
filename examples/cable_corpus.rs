//! Random cables of every kind, searched, followed and verified: how many are found, how many refused and why, and is
//! anything wrong?
//!
//! ```text
//! cargo run --release --example cable_corpus [-- SCENES SEED STEPS]
//! ```
#![allow(non_snake_case, reason = "monogram notation")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use force_elements::Error;
use force_elements::cable::PathError;
use force_elements_examples::{Argument, Arguments, Progress, Table, println};
use force_elements_scenes::corpus::{Family, Report, examine};

/// Sums over the scenes of a family.
#[derive(Debug, Default)]
struct Row {
    scenes: u64,
    solved: u64,
    refused: BTreeMap<&'static str, u64>,
    stopped: BTreeMap<&'static str, u64>,
    steps: u64,
    events: u64,
    declared: u64,
    unchecked: usize,
    wrong: u64,
    slowest: [Duration; 3],
}

fn kind(error: &PathError) -> &'static str {
    match error {
        PathError::NotConverged { .. } => "not found",
        PathError::Penetrates { .. } => "touches twice",
        PathError::HintNotKept { .. } => "hint not kept",
        PathError::PointInsideObstacle { .. } => "end inside",
        PathError::EndOnSurface { .. } => "end on surface",
        PathError::ObstaclesOverlap { .. } => "overlap",
        PathError::CoincidentPoints { .. } => "coincident",
        PathError::Shape(_) => "off a patch",
        _ => "other",
    }
}

impl Row {
    fn add(&mut self, report: &Report) {
        self.scenes += 1;
        match &report.refused {
            None => self.solved += 1,
            Some(error) => *self.refused.entry(kind(error)).or_default() += 1,
        }
        if let Some(error) = &report.stopped {
            *self.stopped.entry(kind(error)).or_default() += 1;
        }
        self.steps += u64::from(report.steps);
        self.events += u64::from(report.touchdowns + report.liftoffs);
        self.declared += u64::from(report.declared);
        self.unchecked += report.unchecked;
        self.wrong += u64::from(!report.wrong.is_empty());
        for (slowest, took) in self.slowest.iter_mut().zip(report.slowest) {
            *slowest = took.max(*slowest);
        }
    }
}

fn main() -> Result<ExitCode, Error> {
    let argument = |name, help, default| Argument { name, help, default };
    let arguments = Arguments::read(
        "Random cables: is the path found, is it right, and can it be followed?",
        [
            argument("SCENES", "how many random scenes of each of eight kinds", "1000"),
            argument("SEED", "the seed of the first", "0"),
            argument("STEPS", "how many steps each is followed", "40"),
            argument("FAMILY", "one kind alone, counted from 1", "0"),
        ],
    );
    let [scenes, first, steps, only] = [0, 1, 2, 3].map(|place| arguments.number(place));
    let progress = Progress::new(scenes * 8);
    let mut rows = Vec::new();
    for (i, family) in (1..).zip(Family::ALL) {
        if only != 0 && only != i {
            continue;
        }
        let mut row = Row::default();
        for seed in first..first + scenes {
            let report = examine(family, seed, u32::try_from(steps).unwrap_or(u32::MAX))?;
            for wrong in report.wrong.iter().take(3) {
                progress.aside(|| println!("{} {seed}: {wrong:?}", family.name()));
            }
            if report.slowest.iter().any(|t| *t > Duration::from_millis(100)) {
                progress.aside(|| println!("{} {seed}: slow {:?} {:?}", family.name(), report.slowest, report.refused));
            }
            row.add(&report);
            progress.step();
        }
        println!("{}: {row:?}", family.name());
        rows.push((family, row));
    }
    drop(progress);
    Ok(ExitCode::SUCCESS)
}
