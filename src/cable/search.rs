//! The search for a path without memory: several starts, and the shortest of the paths found that keep the hints.

use nalgebra::Point3;

use super::ceil;
use super::newton::Progress;
use super::node::Node;
use super::plan::Completed;
use super::relax;
use super::solver::{BEADS, leave_saddles, length_of, tighten};
use super::span::SpanProblem;
use super::touch::{Failure, settle_contacts, slide};
use super::workspace::Workspace;
use super::wrappable::Wrappable;
use crate::math::Real;

/// The accuracy of geodesics on which a search starts \[rad\].
const ACCURACY: f64 = 1e-6;

/// A plan is tried if its estimated length exceeds that of the shortest path found by no more than this.
const MARGIN: f64 = 2e-3;

/// A start of the search.
#[derive(Debug, Clone, Copy)]
enum Start<T: Real> {
    /// On the contacts of a plan.
    Plan(Completed<T>),
    /// On the middles of the contacts of a plan, without length.
    Middles(Completed<T>),
    /// On the hints, without length.
    Hints,
    /// A string through the hints with this many beads per leg, pulled tight.
    String(usize),
}

/// The outcome of the starts so far.
struct Outcome<T: Real> {
    /// Score and progress of the best path that keeps the hints.
    best: Option<(T, Progress<T>)>,
    failure: Failure<T>,
    has_hints: bool,
}

/// Finds the shortest of the paths reached from several starts that passes the obstacles in the classes of their
/// hints.
pub(super) fn search<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
) -> Result<Progress<T>, Failure<T>> {
    work.lengths.clear();
    let has_hints = span.obstacles.iter().any(|obstacle| obstacle.contact_hint().is_some());
    let mut outcome = Outcome { best: None, failure: Failure::new(&Progress::none()), has_hints };
    // No other path that touches once replaces one that would have to touch twice.
    let refused = |outcome: &Outcome<T>| outcome.failure.penetrated.is_some() && !has_hints;
    work.plans.begin(span, nodes, &mut work.budget);
    loop {
        let most = outcome.best.map(|(score, _)| score * T::lit(1.0 + MARGIN));
        let Workspace { plans, budget, .. } = &mut *work;
        let Some(plan) = plans.next(span, nodes, most, budget) else { break };
        if !attempt(span, nodes, work, Start::Plan(plan), &mut outcome) && !refused(&outcome) {
            attempt(span, nodes, work, Start::Middles(plan), &mut outcome);
        }
        if outcome.best.is_none() && refused(&outcome) {
            break;
        }
    }
    for start in [Start::Hints, Start::String(BEADS), Start::String(16)] {
        if outcome.best.is_none() && !refused(&outcome) {
            attempt(span, nodes, work, start, &mut outcome);
        }
    }
    let (_, mut progress) = outcome.best.ok_or(outcome.failure)?;
    progress.classes = work.lengths.len();
    nodes.clone_from_slice(&work.shortest);
    Ok(progress)
}

/// Solves from a start, and keeps the path if it is the best; returns whether one was found. The nodes hold the best path
/// before and after, if there is one.
fn attempt<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
    start: Start<T>,
    outcome: &mut Outcome<T>,
) -> bool {
    if work.budget.is_spent() {
        return false;
    }
    // A start from which nothing is found must leave some of the budget to the others.
    let limit = work.budget.limit;
    if !matches!(start, Start::String(_)) {
        work.budget.limit -= (limit - work.budget.spent) / 4 * 3;
    }
    let found = match start {
        Start::Plan(plan) => {
            let Workspace { plans, budget, .. } = &mut *work;
            plans.write(span, nodes, &plan, T::lit(ACCURACY), budget);
            settle_contacts(span, nodes, work)
        }
        Start::String(detail) => tighten(span, nodes, work, detail, false),
        Start::Middles(_) | Start::Hints => {
            if let Start::Middles(plan) = start {
                work.plans.write_middles(nodes, &plan);
            } else {
                relax::begin_at_hints(span, nodes, &mut work.string, &mut work.budget);
            }
            slide(span, nodes, work);
            if outcome.best.is_some() {
                // From a saddle it would mostly come back to a path that is known.
                settle_contacts(span, nodes, work)
            } else {
                leave_saddles(span, nodes, work, BEADS)
            }
        }
    };
    work.budget.limit = limit;
    let is_path = found.as_ref().map_or_else(|why| why.penetrated.is_some(), |_| true);
    let lost = if is_path { lost_hint(span, nodes).map(|k| nodes[k].obstacle) } else { None };
    let mut is_found = false;
    match found {
        _ if lost.is_some() => outcome.failure.lost = lost,
        Ok(progress) => {
            is_found = true;
            let length = length_of(span, nodes);
            let penalty = match start {
                Start::Plan(plan) | Start::Middles(plan) => plan.score - plan.length,
                _ => T::zero(),
            };
            // Lengths are stationary: those of one path agree to roundoff.
            let is_same = |other: &T| (*other - length).abs() <= T::lit(1e-9).max(T::negligible()) * length;
            if !work.lengths.iter().any(is_same) {
                work.lengths.push(length);
            }
            if outcome.best.as_ref().is_none_or(|(best, _)| length + penalty < *best) {
                outcome.best = Some((length + penalty, progress));
                work.shortest.clear();
                work.shortest.extend_from_slice(nodes);
                return true;
            }
        }
        Err(why) => {
            // An attempt without budget has no informative failure.
            let was = &outcome.failure;
            let mut touching = nodes.iter().filter(|node| node.in_contact);
            let strayed = touching.find_map(|node| node.off_patch).or(was.strayed);
            let (penetrated, lost) = (why.penetrated.or(was.penetrated), was.lost);
            let off_patch = why.off_patch.or(was.off_patch);
            let last = if why.iterations > 0 { why } else { *was };
            outcome.failure = Failure { off_patch, penetrated, lost, strayed, ..last };
        }
    }
    if outcome.best.is_some() {
        nodes.clone_from_slice(&work.shortest);
    }
    is_found
}

/// The points in Ground from which the cable comes to an obstacle and to which it goes from there.
fn neighbours<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], k: usize) -> (Point3<T>, Point3<T>) {
    let before = nodes[..k].iter().rfind(|node| node.in_contact);
    let after = nodes[k + 1..].iter().find(|node| node.in_contact);
    (
        before.map_or(span.from, |node| node.ground.end.point),
        after.map_or(span.to, |node| node.ground.start.point),
    )
}

/// The first node of an obstacle that the path does not pass as the straight lines through its hint do.
fn lost_hint<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> Option<usize> {
    (0..nodes.len()).filter(|&k| !nodes[k].ignored).find(|&k| {
        let node = &nodes[k];
        let Some(hint) = span.obstacle(node).place_of_hint() else { return false };
        let surface = span.surface(node);
        let (before, after) = neighbours(span, nodes, k);
        let (before, after) = (node.to_surface(&before), node.to_surface(&after));
        let through = |p: &Point3<T>| Some(surface.winding(&before, p)? + surface.winding(p, &after)?);
        let found = if node.in_contact {
            winding(node, surface, &before, &after)
        } else {
            surface.winding(&before, &after)
        };
        // They differ by whole turns.
        through(&hint).zip(found).is_some_and(|(wanted, found)| (wanted - found).abs() > T::one())
    })
}

/// The angle by which the cable winds about the core of an obstacle that it touches.
fn winding<T: Real>(
    node: &Node<T>,
    surface: &dyn Wrappable<T>,
    before: &Point3<T>,
    after: &Point3<T>,
) -> Option<T> {
    let start = node.ground.start.transformed(&node.X_GS.inverse());
    let (mut at, mut sum) = (start.point, surface.winding(before, &start.point)?);
    // No chord across a radian of the greatest curvature comes near the core.
    let parts = ceil(node.turns()).max(T::one());
    let step = node.ground.length / parts;
    let mut reach = step;
    while reach < node.ground.length + T::lit(0.5) * step {
        let next = surface.geodesic(&start.point, &start.tangent, reach, T::lit(ACCURACY)).end.point;
        sum += surface.winding(&at, &next)?;
        at = next;
        reach += step;
    }
    Some(sum + surface.winding(&at, after)?)
}
