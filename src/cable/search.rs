//! The search for a path without memory: several starts, and the shortest of the paths found that keep the hints.

use nalgebra::Point3;

use super::ceil;
use super::newton::Progress;
use super::node::{Node, Trial};
use super::relax;
use super::solver::{BEADS, leave_saddles, length_of, tighten};
use super::span::{Budget, SEARCH, SpanProblem};
use super::touch::{Failure, settle_contacts, slide};
use super::workspace::Workspace;
use super::wrappable::Wrappable;
use crate::math::Real;

/// The largest number of times that the path is laid on the far side of each obstacle in turn. Of ten thousand random
/// scenes the first pass shortens three in a hundred.
const PASSES: usize = 3;

/// The accuracy of geodesics on which a search starts \[rad\].
const ACCURACY: f64 = 1e-6;

/// A start of the search.
#[derive(Debug, Clone, Copy)]
enum Start {
    /// On the hints, without length.
    Hints,
    /// Straight past the obstacles whose hints need not be touched, and on the other hints.
    Straight,
    /// The shortest path so far, laid on the far side of one obstacle.
    Across(usize),
    /// A string through the hints with this many beads per leg, pulled tight.
    String(usize),
}

/// The outcome of the starts so far.
struct Outcome<T: Real> {
    /// Length and progress of the shortest path that keeps the hints.
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
    attempt(span, nodes, work, Start::Hints, &mut outcome);
    if has_hints {
        let from_hints = outcome.best.is_some() && !(0..nodes.len()).any(|k| is_free(span, nodes, k));
        if !from_hints {
            attempt(span, nodes, work, Start::Straight, &mut outcome);
            for k in 0..nodes.len() {
                if outcome.failure.lost == Some(nodes[k].obstacle) && outcome.best.is_none()
                    || nodes[k].in_contact && winds_far(&nodes[k])
                {
                    attempt(span, nodes, work, Start::Across(k), &mut outcome);
                }
            }
        }
    }
    // No other path that touches once replaces one that would have to touch twice.
    let refused = |outcome: &Outcome<T>| outcome.failure.penetrated.is_some() && !has_hints;
    for detail in [BEADS, 16] {
        if outcome.best.is_none() && !refused(&outcome) {
            attempt(span, nodes, work, Start::String(detail), &mut outcome);
        }
    }
    for _ in 0..PASSES {
        let before = outcome.best.map(|(length, _)| length);
        for k in 0..nodes.len() {
            let is_hinted = span.obstacle(&nodes[k]).contact_hint().is_some();
            if outcome.best.is_some() && nodes[k].in_contact && !is_hinted {
                attempt(span, nodes, work, Start::Across(k), &mut outcome);
            }
        }
        if outcome.best.map(|(length, _)| length) == before {
            break;
        }
    }
    let (_, mut progress) = outcome.best.ok_or(outcome.failure)?;
    progress.classes = work.lengths.len();
    nodes.clone_from_slice(&work.shortest);
    Ok(progress)
}

/// Whether the cable may pass an obstacle elsewhere than at its hint: the hint determines the class alone, or the cable
/// is wound about it by more than half a turn.
fn is_free<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], k: usize) -> bool {
    let obstacle = span.obstacle(&nodes[k]);
    let has_class = |hint: &Point3<T>| obstacle.surface().winding(hint, hint).is_some();
    obstacle.contact_hint().is_some_and(has_class) || nodes[k].in_contact && winds_far(&nodes[k])
}

/// Whether a contact turns the cable by more than half a turn.
fn winds_far<T: Real>(node: &Node<T>) -> bool {
    node.turns() > T::pi()
}

/// Solves from a start, and keeps the path if it is the shortest. The nodes hold the shortest path before and after, if
/// there is one.
fn attempt<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
    start: Start,
    outcome: &mut Outcome<T>,
) {
    if work.budget.is_spent() {
        return;
    }
    // A start from which nothing is found must leave some of the budget to the others.
    let limit = work.budget.limit;
    if outcome.best.is_some() || outcome.has_hints && !matches!(start, Start::String(_)) {
        work.budget.limit -= (limit - work.budget.spent) / 4 * 3;
    }
    let found = if let Start::String(detail) = start {
        tighten(span, nodes, work, detail, false)
    } else if begin(span, nodes, work, start, outcome.best.is_none()) {
        slide(span, nodes, work);
        if outcome.best.is_some() {
            // From a saddle it would mostly come back to a path that is known.
            settle_contacts(span, nodes, work)
        } else {
            leave_saddles(span, nodes, work, BEADS)
        }
    } else {
        work.budget.limit = limit;
        return;
    };
    work.budget.limit = limit;
    let is_path = found.as_ref().map_or_else(|why| why.penetrated.is_some(), |_| true);
    let lost = if is_path { lost_hint(span, nodes).map(|k| nodes[k].obstacle) } else { None };
    match found {
        _ if lost.is_some() => outcome.failure.lost = lost,
        Ok(progress) => {
            let length = length_of(span, nodes);
            // Lengths are stationary: those of one path agree to roundoff.
            let is_same = |other: &T| (*other - length).abs() <= T::lit(1e-9).max(T::negligible()) * length;
            if !work.lengths.iter().any(is_same) {
                work.lengths.push(length);
            }
            if outcome.best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                outcome.best = Some((length, progress));
                work.shortest.clear();
                work.shortest.extend_from_slice(nodes);
                return;
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
}

/// Writes a start into the nodes; false if there is none.
fn begin<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
    start: Start,
    has_failed: bool,
) -> bool {
    match start {
        Start::Across(k) => lay_across(span, nodes, k, work),
        Start::Straight => {
            // Those in contact on entry are of a path found before.
            let is_free = |k: &usize| has_failed || is_free(span, nodes, *k);
            work.active.clear();
            work.active.extend((0..nodes.len()).filter(is_free));
            relax::begin_at_hints(span, nodes, &mut work.string, &mut work.budget);
            for &k in &work.active {
                nodes[k].in_contact = false;
            }
            true
        }
        _ => {
            relax::begin_at_hints(span, nodes, &mut work.string, &mut work.budget);
            true
        }
    }
}

/// Lays a path found on the far side of an obstacle, opposite the middle of its contact or its closest point.
fn lay_across<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    k: usize,
    work: &mut Workspace<T>,
) -> bool {
    let (before, after) = neighbours(span, nodes, k);
    let (node, surface) = (&nodes[k], span.surface(&nodes[k]));
    let (from, to) = (node.to_surface(&before), node.to_surface(&after));
    let middle = if node.in_contact {
        let Trial { point, tangent, length } = node.trial;
        let geodesic = surface.geodesic(&point, &tangent, length * T::lit(0.5), T::lit(ACCURACY));
        work.budget.spend(geodesic.evaluations);
        geodesic.end
    } else {
        work.budget.spend(SEARCH);
        let closest = surface.closest_on_segment(&from, &to).point;
        surface.end(&surface.retract(&closest), &(to - from))
    };
    let inwards = middle.normal * (T::lit(-0.25) * surface.size());
    let mut place = middle.point;
    // Through a solid as thick as sixty-four of its smallest features; a half-space has no far side.
    let mut steps = 0;
    let is_out = loop {
        place += inwards;
        steps += 1;
        if steps > 256 || !surface.covers(&place) {
            break false;
        }
        if surface.value(&place) > T::zero() {
            break true;
        }
    };
    work.budget.spend(steps);
    if is_out {
        let trial = lay_through(surface, &surface.retract(&place), &from, &to, &mut work.budget);
        nodes[k].begin(trial);
    }
    is_out
}

/// The geodesic through a point of the surface in the direction from `before` to `after`, extended to both sides until
/// these are above its tangent planes: from a point where they are hidden the chords would run backwards.
fn lay_through<T: Real>(
    surface: &dyn Wrappable<T>,
    p: &Point3<T>,
    before: &Point3<T>,
    after: &Point3<T>,
    budget: &mut Budget,
) -> Trial<T> {
    let along = after - before;
    // Steps of a fifth of a radian, up to a whole turn.
    let step = T::lit(0.2) / surface.end(p, &along).greatest_curvature();
    let mut extend = |to: &Point3<T>, step: T| {
        let mut reach = T::zero();
        let mut end = surface.end(p, &along);
        for _ in 0..30 {
            if (to - end.point).dot(&end.normal) >= T::zero() || !end.point.coords.norm().is_finite() {
                break;
            }
            reach += step;
            let geodesic = surface.geodesic(p, &along, reach, T::lit(ACCURACY));
            budget.spend(1 + geodesic.evaluations);
            end = geodesic.end;
        }
        (reach, end)
    };
    let (back, start) = extend(before, -step);
    let (ahead, _) = extend(after, step);
    Trial { point: start.point, tangent: start.tangent, length: ahead - back }
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
    (0..nodes.len()).filter(|&k| !nodes[k].ignored).find(|&k| loses_hint(span, nodes, k))
}

/// Whether the path does not pass an obstacle as the straight lines through its hint do.
pub(super) fn loses_hint<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], k: usize) -> bool {
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
