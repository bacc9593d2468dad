//! Attempts at the path of one span: from memory, then without.

use alloc::vec::Vec;

use crate::cable::PathError;
use crate::cable::follow::checks::{check_ends, check_held_ends, check_neighbouring_ends, check_neighbours};
use crate::cable::follow::touch::{Failure, relax, settle_contacts};
use crate::cable::solution::results::Tracking;
use crate::cable::solve::contacts::{collapse, recall};
use crate::cable::solve::newton::{self, Progress};
use crate::cable::solve::node::Node;
use crate::cable::solve::node::SpanProblem;
use crate::cable::solve::run::Budget;
use crate::cable::start::search::Workspace;
use crate::cable::start::search::leave_saddles;
use crate::cable::start::search::{lost_hint, search};
use crate::math::{Real, is_finite};
use crate::shapes::ShapeError;

/// The most steps of a descent from a remembered path: where it has just ceased to exist the slope is small, and many
/// windings slip far.
const LONGEST_DESCENT: usize = 1000;

/// The attempts in order.
///
/// Newton's method tracks the remembered path; if that fails, the path descends in length from there. Without memory,
/// or if both fail, there is a search.
const ATTEMPTS: [Tracking; 3] = [Tracking::Warm, Tracking::Relaxed, Tracking::Cold];

/// Solves one span; returns its progress, and how the path was found. Obstacles in errors are counted within the span.
pub(crate) fn solve_span<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    work: &mut Workspace<T>,
    place: usize,
) -> Result<(Progress<T>, Tracking), PathError> {
    let scale = span.from.coords.norm().max(span.to.coords.norm());
    let coincide = (span.to - span.from).norm() <= T::default_epsilon() * scale;
    if span.obstacles.is_empty() {
        let straight = Progress { converged: true, ..Progress::none() };
        return if coincide {
            Err(PathError::CoincidentPoints { span: place })
        } else {
            Ok((straight, Tracking::Warm))
        };
    }
    check_neighbouring_ends(span, nodes)?;
    work.run.active.clear();
    work.run.active.reserve(span.most_contacts());
    let has_memory = span.wraps.iter().any(|wrap| wrap.known);
    let mut known = has_memory;
    let mut failure = Failure::new(&Progress::none());
    let most = span.settings.max_evaluations.saturating_mul(nodes.len());
    work.run.budget = Budget::default();
    // A restarted search must not prefer the remembered side.
    let whole = span;
    let without_memory = SpanProblem { wraps: &[], further: &[], ..*whole };
    for tracking in ATTEMPTS {
        let remembered = tracking < Tracking::Cold;
        let span = if remembered { whole } else { &without_memory };
        if remembered && !known {
            continue;
        }
        // A remembered path that leaves its patch is not replaced by another. Only a jump of Newton's method is retried
        // by a descent. Tracking may use half of the budget, to leave the rest for a restart.
        work.run.budget.limit = if remembered { most - most / 2 } else { most };
        if has_memory && failure.off_patch.is_some() && tracking != Tracking::Relaxed {
            break;
        }
        if work.run.budget.is_spent() {
            continue;
        }
        if remembered {
            recall(span, nodes);
        } else {
            collapse(nodes);
        }
        let outcome = match tracking {
            Tracking::Warm => settle_contacts(span, nodes, &mut work.run),
            Tracking::Cold | Tracking::Restarted => search(span, nodes, work),
            Tracking::Relaxed => {
                relax(span, nodes, &mut work.run, LONGEST_DESCENT);
                leave_saddles(span, nodes, work)
            }
        };
        match outcome {
            // An obstacle without memory is passed according to its hint.
            Ok(_) if remembered && lost_hint(span, nodes).is_some() => {}
            Ok(progress) => {
                check_ends(span, nodes)?;
                if coincide && nodes.iter().all(|node| !node.in_contact) {
                    return Err(PathError::CoincidentPoints { span: place });
                }
                let found = match tracking {
                    Tracking::Cold if has_memory => Tracking::Restarted,
                    Tracking::Warm if progress.relaxed => Tracking::Relaxed,
                    other => other,
                };
                return Ok((progress, found));
            }
            Err(why) => {
                failure.add(&why, nodes);
                // The class and the depths reported are those of the last attempt.
                (failure.lost, failure.penetrated) = (why.lost, why.penetrated);
                // The remembered path is on the wrong side.
                known &= why.lost.is_none();
            }
        }
    }
    Err(refusal(span, nodes, known, &failure, work.run.budget.spent))
}

/// The reason why no path was found, from the last attempt; if that says nothing, from what is remembered or lies on a
/// line.
fn refusal<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    is_remembered: bool,
    failure: &Failure<T>,
    evaluations: usize,
) -> PathError {
    if let Some(obstacle) = failure.crowded {
        return PathError::TooManyContacts { obstacle, most: span.obstacles[obstacle].most_contacts };
    }
    if let (Some((obstacle, depth)), None) = (failure.penetrated, failure.off_patch) {
        return PathError::Penetrates { obstacle, depth: depth.to_f64() };
    }
    let is_confined = |k: &usize| span.obstacles[*k].side().is_some();
    if let Some(obstacle) = failure.lost.or(Some(failure.obstacle).filter(is_confined)) {
        return if is_confined(&obstacle) {
            PathError::SideNotKept { obstacle }
        } else {
            PathError::HintNotKept { obstacle }
        };
    }
    let mut check = || {
        check_ends(span, nodes)?;
        if is_remembered {
            recall(span, nodes);
        } else {
            collapse(nodes);
        }
        check_neighbours(span, nodes)?;
        check_held_ends(nodes)
    };
    if let Err(found) = check() {
        return found;
    }
    if let Some(p) = failure.off_patch.or(failure.strayed).filter(|p| is_finite(&p.coords)) {
        return ShapeError::OffPatch { x: p.x.to_f64(), y: p.y.to_f64() }.into();
    }
    let Failure { kink, iterations, obstacle, .. } = *failure;
    if iterations == 0 {
        return PathError::NotConverged { residual: f64::INFINITY, iterations, obstacle, evaluations };
    }
    if newton::is_smooth(kink, span.settings) {
        PathError::NoMinimum { obstacle, evaluations }
    } else {
        PathError::NotConverged { residual: kink.to_f64(), iterations, obstacle, evaluations }
    }
}
