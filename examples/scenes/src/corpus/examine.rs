//! The verdict on one scene: every path found in it, each verified.

use std::time::{Duration, Instant};

use force_elements::Error;
use force_elements::cable::{PathError, PathResults, Tracking, Wrap, Wraps};

use super::{Case, Family};
use crate::cables::Dice;
use crate::verifier::{Fault, verify};

/// A path found, and what it takes to find the next.
#[derive(Debug)]
struct Found {
    path: PathResults<f64>,
    wraps: Wraps<f64>,
    rate: f64,
}

impl Case {
    fn solve(&self, wraps: &Wraps<f64>) -> Result<Found, PathError> {
        let mut path = PathResults::default();
        self.path.solve(self.state.positions(), wraps, &mut path)?;
        let mut next = Wraps::default();
        path.remember(&mut next);
        let rate = path.length_rate(self.state.positions(), self.state.velocities());
        Ok(Found { path, wraps: next, rate })
    }
}

/// Something wrong, and nothing said of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wrong {
    /// A path found is not what it is said to be.
    Path { when: When, fault: Fault },
    /// The same problem has been solved to other bits, with buffers used before.
    Impure { when: When },
    /// The length jumps within one step of a motion that was tracked \[m\].
    Jump { time: f64, by: f64 },
    /// From a memory slightly off, another path of the class is found \[m\].
    Elsewhere { by: f64 },
    /// From the memory of the start, a path is tracked in one step that is not the one of many steps \[m\].
    Leap { by: f64 },
}

/// When a path was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// Without memory.
    Cold,
    /// At this time of a motion.
    Tracked(f64),
    /// At the end of a motion, in one step.
    Leapt,
    /// From a memory of nothing that is there.
    Misled,
}

/// What became of a scene.
#[derive(Debug, Default)]
pub struct Report {
    /// Why there was no path at the start, if there was none.
    pub refused: Option<PathError>,
    /// Why the motion ended early, if it did.
    pub stopped: Option<PathError>,
    pub wrong: Vec<Wrong>,
    pub steps: u32,
    pub touchdowns: u32,
    pub liftoffs: u32,
    /// How often a step was not tracked, and said so.
    pub declared: u32,
    /// Arcs too long to be integrated by the verifier.
    pub unchecked: usize,
    /// The most geodesics per obstacle of a search, and of a tracked step.
    pub iterations: [usize; 2],
    /// The most evaluations of a refused search.
    pub evaluations: usize,
    /// The slowest search, tracked step and refused search.
    pub slowest: [Duration; 3],
}

/// Searches a path, follows it for a while, and verifies what is found. One step lasts a fiftieth.
pub fn examine(family: Family, seed: u64, steps: u32) -> Result<Report, Error> {
    let mut case = Case::new(family, seed)?;
    let mut dice = Dice::new(!seed);
    let mut report = Report::default();
    let begin = Instant::now();
    let found = case.solve(&case.path.no_wraps());
    let took = begin.elapsed();
    let mut found = match found {
        Ok(found) => found,
        Err(error) => {
            report.slowest[2] = took;
            if let PathError::NotConverged { evaluations, .. }
            | PathError::NoMinimum { evaluations, .. }
            | PathError::TooManyEvaluations { evaluations } = error
            {
                report.evaluations = evaluations;
            }
            report.refused = Some(error);
            return Ok(report);
        }
    };
    report.slowest[0] = took;
    report.iterations[0] = found.path.iterations;
    report.verify(&case, &found.path, When::Cold, &mut dice);
    report.compare_bits(&case, &found, &case.path.no_wraps(), When::Cold);
    let mut results = PathResults::default();
    let start = found.wraps.clone();
    for step in 1..=steps {
        const STEP: f64 = 0.02;
        let (was, time) = (STEP * f64::from(step - 1), STEP * f64::from(step));
        case.move_to(time)?;
        let begin = Instant::now();
        let outcome = case.solve(&found.wraps);
        let took = begin.elapsed();
        let next = match outcome {
            Ok(next) => next,
            Err(error) => {
                report.slowest[2] = report.slowest[2].max(took);
                report.stopped = Some(error);
                break;
            }
        };
        report.steps += 1;
        if next.path.tracking == Tracking::Warm {
            report.slowest[1] = report.slowest[1].max(took);
            report.iterations[1] = report.iterations[1].max(next.path.iterations);
            let by = surprise(&found, &next, STEP);
            // A jump remains one however short the step.
            if by.abs() > 1e-3 * case.scale + case.blur(0.0)
                && let Some(by) = jump(&mut case, &found, [was, time])?
            {
                report.wrong.push(Wrong::Jump { time, by });
            }
        } else {
            report.declared += 1;
        }
        case.move_to(time)?;
        let contacts = |found: &Found| {
            let wraps = &found.wraps;
            wraps.wraps.iter().chain(&wraps.further_wraps).copied().collect::<Vec<_>>()
        };
        for (before, now) in contacts(&found).iter().zip(&contacts(&next)) {
            report.touchdowns += u32::from(now.in_contact && !before.in_contact);
            report.liftoffs += u32::from(before.in_contact && !now.in_contact);
        }
        if step % 10 == 0 || step == steps {
            report.verify(&case, &next.path, When::Tracked(time), &mut dice);
            report.compare_bits(&case, &next, &found.wraps, When::Tracked(time));
        }
        found = next;
    }
    // From memories that are off: a little, and altogether.
    let smallest = case.solids.iter().map(|solid| solid.sizes()[0]).fold(case.scale, f64::min);
    let mut shaken = found.wraps.clone();
    for wrap in shaken.wraps.iter_mut().chain(&mut shaken.further_wraps).filter(|wrap| wrap.in_contact) {
        wrap.point += dice.vector(0.02 * smallest);
        wrap.tangent += dice.vector(0.02);
        wrap.length *= dice.between(0.98, 1.02);
    }
    if report.stopped.is_none()
        && case.path.solve(case.state.positions(), &shaken, &mut results).is_ok()
        && results.tracking == Tracking::Warm
    {
        let by = results.length - found.path.length;
        if by.abs() > case.blur(results.length) {
            report.wrong.push(Wrong::Elsewhere { by });
        }
    }
    if report.stopped.is_none() && case.path.solve(case.state.positions(), &start, &mut results).is_ok() {
        report.verify(&case, &results, When::Leapt, &mut dice);
        let by = results.length - found.path.length;
        let is_tracked = results.tracking == Tracking::Warm && report.declared == 0;
        if is_tracked && by.abs() > case.blur(results.length) {
            report.wrong.push(Wrong::Leap { by });
        }
    }
    let mut misled = case.path.no_wraps();
    let solids = case.solids.iter().chain(case.solids.iter().cycle());
    for (wrap, solid) in misled.wraps.iter_mut().chain(&mut misled.further_wraps).zip(solids) {
        let [_, large] = solid.sizes();
        *wrap = Wrap {
            known: dice.below(5) > 0,
            in_contact: dice.below(3) > 0,
            point: dice.vector(2.0 * large).into(),
            tangent: dice.vector(1.0) * if dice.below(2) == 0 { large } else { 1.0 },
            length: dice.between(0.0, 4.0) * large,
        };
    }
    if case.path.solve(case.state.positions(), &misled, &mut results).is_ok() {
        report.verify(&case, &results, When::Misled, &mut dice);
    }
    Ok(report)
}

/// How much the length changes beyond what its rates say.
fn surprise(before: &Found, after: &Found, step: f64) -> f64 {
    after.path.length - before.path.length - 0.5 * step * (before.rate + after.rate)
}

/// By how much the length jumps between two times, if it does: halves the step where it surprises more.
fn jump(case: &mut Case, before: &Found, [mut from, mut to]: [f64; 2]) -> Result<Option<f64>, Error> {
    let mut start = Found { path: before.path.clone(), wraps: before.wraps.clone(), rate: before.rate };
    for _ in 0..20 {
        let middle = 0.5 * (from + to);
        case.move_to(middle)?;
        let Ok(half) = case.solve(&start.wraps) else { return Ok(None) };
        case.move_to(to)?;
        let Ok(end) = case.solve(&half.wraps) else { return Ok(None) };
        if half.path.tracking != Tracking::Warm || end.path.tracking != Tracking::Warm {
            return Ok(None);
        }
        let [first, second] = [surprise(&start, &half, middle - from), surprise(&half, &end, to - middle)];
        if first.abs().max(second.abs()) < 1e-5 * case.scale + case.blur(0.0) {
            return Ok(None);
        }
        if first.abs() > second.abs() {
            to = middle;
        } else {
            (from, start) = (middle, half);
        }
    }
    case.move_to(to)?;
    Ok(case.solve(&start.wraps).ok().map(|end| surprise(&start, &end, to - from)))
}

impl Report {
    fn verify(&mut self, case: &Case, path: &PathResults<f64>, when: When, dice: &mut Dice) {
        let is_cold = when == When::Cold;
        let (faults, unchecked) = verify(&case.problem(is_cold), &case.path, path, dice, is_cold);
        self.unchecked += unchecked;
        self.wrong.extend(faults.into_iter().map(|fault| Wrong::Path { when, fault }));
    }

    /// Whether the same problem has the same solution, to the bit, in buffers that were used for another.
    fn compare_bits(&mut self, case: &Case, found: &Found, wraps: &Wraps<f64>, when: When) {
        let mut used = PathResults::default();
        let mut bits = Vec::new();
        for other in [&found.wraps, wraps] {
            bits = match case.path.solve(case.state.positions(), other, &mut used) {
                Ok(()) => bits_of(&used),
                Err(_) => Vec::new(),
            };
        }
        if bits != bits_of(&found.path) {
            self.wrong.push(Wrong::Impure { when });
        }
    }
}

fn bits_of(path: &PathResults<f64>) -> Vec<u64> {
    let ends = path.segments.iter().flat_map(|s| [s.from_G, s.to_G]);
    let wraps = path.contacts.iter().flat_map(|c| {
        let wrap = &c.wrap;
        wrap.point.iter().chain(&wrap.tangent).copied().chain([wrap.length]).collect::<Vec<_>>()
    });
    let numbers = ends.flat_map(|p| [p.x, p.y, p.z]).chain(wraps).chain([path.length, path.smoothness]);
    numbers.map(f64::to_bits).collect()
}
