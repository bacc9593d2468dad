//! Random states of eight elements: are their derivatives exact, with all options and branches?
//!
//! Each state is linearized and compared: with dual numbers through the whole system, by motion, by all variables and
//! for the next commit; its transpose and its matrices with its products, to the bit; and `K·V + D·A` with differences
//! of the forces in motion. For each element, option and branch it prints the number of states, of refusals by the
//! element, of differences affected by a kink, by the end of the domain or by tensions that cancel, and of derivatives
//! that are off by no more than they change when the state is rounded differently; and the largest of the other errors,
//! those against dual numbers relative to the sum of the sizes of the terms, that against differences relative to the
//! largest force or its rate.
//!
//! The exit status is 1 if a linearization is wrong. `benches/record/linearization.md` has the table of a million states.
//!
//! ```text
//! cargo run --release --example linearization_corpus [-- COUNT FIRST_SEED THREADS]
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use force_elements::testing::{Agreement, Violation};
use force_elements_examples::{Argument, Arguments, Progress, Table, println};
use force_elements_scenes::linearized::{
    AnyCable, AnyCapstan, AnyCoordinate, AnyFoundation, AnyHertz, AnyLinearBushing, AnySpatialBushing,
    AnySpring, Kind, Moving, Outcome, Report, examine,
};

/// Sums over states.
#[derive(Debug, Default, Clone, Copy)]
struct Row {
    states: u64,
    kinks: u64,
    rounded: u64,
    worst: Agreement,
    moving: f64,
}

/// Sums over the states of one element, and of each of its options and branches.
#[derive(Debug, Default)]
struct Rows {
    all: Row,
    refused: u64,
    wrong: u64,
    marks: BTreeMap<&'static str, Row>,
}

impl Row {
    fn add(&mut self, report: &Report) {
        self.states += 1;
        match report.moving {
            Moving::Smooth(off) => self.moving = self.moving.max(off),
            Moving::Kink | Moving::Edge | Moving::Cancelled => self.kinks += 1,
        }
        let Agreement { forces_by_motion, forces_by_variables, rates, commit, rounded: _ } = &mut self.worst;
        let found = &report.agreement;
        self.rounded += u64::from(found.rounded > 0);
        for (worst, off) in [
            (forces_by_motion, found.forces_by_motion),
            (forces_by_variables, found.forces_by_variables),
            (rates, found.rates),
            (commit, found.commit),
        ] {
            *worst = worst.max(off);
        }
    }

    fn cells(&self, name: &str, refused: String) -> [String; 9] {
        let error = |off: f64| if off == 0.0 { "0".to_string() } else { format!("{off:.0e}") };
        [
            name.to_string(),
            self.states.to_string(),
            refused,
            self.kinks.to_string(),
            self.rounded.to_string(),
            error(self.worst.forces_by_motion),
            error(self.worst.forces_by_variables),
            error(self.worst.commit),
            error(self.moving),
        ]
    }
}

impl Rows {
    fn add(&mut self, outcome: &Result<Outcome, Violation>) {
        match outcome {
            Ok(Outcome::Right(report)) => {
                self.all.add(report);
                for mark in &report.marks {
                    self.marks.entry(mark).or_default().add(report);
                }
            }
            Ok(Outcome::Refused(_)) => self.refused += 1,
            Err(_) => self.wrong += 1,
        }
    }
}

/// A check of the state of a seed.
type Check = fn(u64) -> Result<Outcome, Violation>;

fn check<K: Kind>() -> (&'static str, Check) {
    (K::NAME, examine::<K>)
}

fn main() -> ExitCode {
    let argument = |name, help, default| Argument { name, help, default };
    let arguments = Arguments::read(
        "Random states of eight elements: are their derivatives exact?",
        [
            argument("COUNT", "how many states", "2000"),
            argument("FIRST_SEED", "the seed of the first of each element", "0"),
            argument("THREADS", "how many threads", "2"),
        ],
    );
    let [count, first, threads] = [0, 1, 2].map(|place| arguments.number(place));
    // Of a hundred states: cables and foundations take longest.
    let kinds = [
        (check::<AnyLinearBushing>(), 15),
        (check::<AnySpatialBushing>(), 15),
        (check::<AnyCoordinate>(), 20),
        (check::<AnySpring>(), 21),
        (check::<AnyFoundation>(), 10),
        (check::<AnyHertz>(), 11),
        (check::<AnyCable>(), 5),
        (check::<AnyCapstan>(), 3),
    ];
    let mut jobs: Vec<(usize, Range<u64>)> = Vec::new();
    for (place, (_, share)) in kinds.iter().enumerate() {
        let end = first + count * share / 100;
        let mut start = first;
        while start < end {
            let next = end.min(start + 100);
            jobs.push((place, start..next));
            start = next;
        }
    }
    let progress = Progress::new(jobs.len() as u64);
    let rows = Mutex::new(BTreeMap::<usize, Rows>::new());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let work = || {
            while let Some((place, seeds)) =
                usize::try_from(next.fetch_add(1, Ordering::Relaxed)).ok().and_then(|job| jobs.get(job))
            {
                let (name, check) = kinds[*place].0;
                for seed in seeds.clone() {
                    let outcome = check(seed);
                    if let Err(violation) = &outcome {
                        progress.aside(|| println!("{name}: {violation}"));
                    }
                    let mut rows = rows.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    rows.entry(*place).or_default().add(&outcome);
                }
                progress.step();
            }
        };
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    drop(progress);
    let rows = rows.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for (place, rows) in &rows {
        let name = kinds[*place].0.0;
        let mut table = Table::new([
            name,
            "states",
            "refused",
            "kinks",
            "rounded",
            "by motion",
            "by variables",
            "commit",
            "in motion",
        ]);
        table.row(rows.all.cells("all", rows.refused.to_string()));
        for (mark, row) in &rows.marks {
            table.row(row.cells(mark, String::new()));
        }
        println!("{table}");
    }
    let sum = |of: fn(&Rows) -> u64| rows.values().map(of).sum::<u64>();
    let (states, wrong) = (sum(|rows| rows.all.states), sum(|rows| rows.wrong));
    println!(
        "{states} states are right, {} were refused by the element, {wrong} are wrong",
        sum(|rows| rows.refused)
    );
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
