//! The search for a path without memory: several starts, and the shortest of the paths found that keep the hints.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::cable::follow::side;
use crate::cable::follow::touch::{Failure, Outcome, ROUND_TRIP, relax, settle_contacts};
use crate::cable::solve::contacts::{collapse, contacts_of, copy, length_of, neighbours};
use crate::cable::start::plan::Plans;
use crate::cable::start::string::{self, Bead};
use crate::cable::{Metered, Node, Progress, SpanProblem, Trial, Wraps, empty};
use crate::math::{Pose, Real, default_by_field};

/// A plan is tried if its estimated length exceeds that of the shortest path found by at most this fraction.
const MARGIN: f64 = 2e-3;

/// Finds the shortest of the paths reached from several starts that passes the obstacles in the classes of their hints.
pub(crate) fn search<T: Real>(span: &SpanProblem<'_, T>, work: &mut Workspace<T>) -> Outcome<T> {
    for list in [&mut work.other, &mut work.best] {
        empty(list, work.nodes.capacity());
    }
    let mut outcome = Err(Failure::new(&Progress::none()));
    // Each hint is kept relative to the points before and after it on the path, so a straight line past all obstacles may
    // keep every hint by itself. If all obstacles have hints, the class is that of the string through the hints.
    let has_class = |node: &Node<T>| {
        let hint = span.obstacle(node).place_of_hint();
        hint.is_some_and(|hint| span.surface(node).winding(&hint, &hint).is_some())
    };
    if work.nodes.len() > 1 && work.nodes.iter().all(has_class) {
        attempt(span, work, &mut outcome, false, |work| descend_from_hints(span, work, None));
        if let Ok((_, progress)) = outcome {
            copy(&work.shortest, &mut work.nodes);
            return Ok(refine(span, work, progress));
        }
    }
    let longest = |outcome: Result<_, _>| outcome.ok().map(|(score, _)| score * T::lit(1.0 + MARGIN));
    work.plans.begin(span, &work.nodes);
    let mut first = None;
    loop {
        collapse(&mut work.nodes);
        let Some(plan) = work.plans.next(span, &work.nodes, longest(outcome)) else { break };
        first.get_or_insert(plan);
        attempt(span, work, &mut outcome, false, |work| {
            work.plans.write(span, &mut work.nodes, plan);
            settle_contacts(span, &mut work.nodes)
        });
    }
    let has_hints = span.acting().any(|obstacle| obstacle.contact_hint().is_some());
    // The descent from the hints, or from the straight line, ensures that the path returned is no longer than its own.
    let most = longest(outcome);
    attempt(span, work, &mut outcome, false, |work| descend_from_hints(span, work, most));
    if outcome.is_err() && span.acting().any(|obstacle| obstacle.side().is_some()) {
        // Straight, but over the front of solids that it would pass behind.
        attempt(span, work, &mut outcome, false, |work| {
            string::begin_at_hints(span, &mut work.nodes, &mut work.anchors);
            for k in 0..work.nodes.len() {
                side::bring_to_front(span, &mut work.nodes, k);
            }
            settle_contacts(span, &mut work.nodes)
        });
    }
    if outcome.is_err() {
        attempt(span, work, &mut outcome, true, |work| {
            string::tighten(span, &mut work.nodes, (&mut work.beads, &mut work.anchors));
            relax(span, &mut work.nodes, ROUND_TRIP);
            leave_saddles(span, work)
        });
    }
    if has_hints && outcome.is_err() {
        // From the first plan, or straight, past the hints.
        attempt(span, work, &mut outcome, true, |work| {
            work.plans.write(span, &mut work.nodes, first.unwrap_or(0));
            relax(span, &mut work.nodes, ROUND_TRIP);
            leave_saddles(span, work)
        });
    }
    for k in (0..span.acting.len()).filter(|&k| span.obstacles[span.acting[k]].side().is_some()) {
        // Straight, but first of all over the front of this solid, which may hold the cable in front of others.
        attempt(span, work, &mut outcome, false, |work| {
            string::begin_at_hints(span, &mut work.nodes, &mut work.anchors);
            if !side::bring_to_front(span, &mut work.nodes, k) {
                return Err(Failure::new(&Progress::none()));
            }
            settle_contacts(span, &mut work.nodes)
        });
    }
    let (_, progress) = outcome?;
    copy(&work.shortest, &mut work.nodes);
    Ok(refine(span, work, progress))
}

/// Refines a path by one more step.
///
/// A last step of Newton's method within its tolerance leaves an error in length of the order of the square of the step.
pub(crate) fn refine<T: Real>(
    span: &SpanProblem<'_, T>,
    work: &mut Workspace<T>,
    progress: Progress<T>,
) -> Progress<T> {
    copy(&work.nodes, &mut work.shortest);
    for node in work.nodes.iter_mut().filter(|node| node.in_contact) {
        node.correct_trial(T::one());
    }
    let refined = settle_contacts(span, &mut work.nodes);
    if let Ok(refined) = refined
        && lost_hint(span, &work.nodes).is_none()
    {
        return refined;
    }
    copy(&work.shortest, &mut work.nodes);
    progress
}

/// Pulls a string tight from the hints, or from the straight line, unless the path becomes longer than `most`.
fn descend_from_hints<T: Real>(
    span: &SpanProblem<'_, T>,
    work: &mut Workspace<T>,
    most: Option<T>,
) -> Outcome<T> {
    string::begin_at_hints(span, &mut work.nodes, &mut work.anchors);
    relax(span, &mut work.nodes, ROUND_TRIP);
    // A descent hardly ever shortens the path by more than the margin after the point where Newton's method takes over.
    if most.is_some_and(|most| length_of(span, &work.nodes) > most) {
        return Err(Failure::new(&Progress::none()));
    }
    leave_saddles(span, work)
}

/// Solves from a start, and keeps the path if it is the best, with a penalty for hints that it does not follow. The nodes
/// hold the best path before and after, if there is one. The outcome is its score and its progress, or the reason why
/// there is none.
fn attempt<T: Real>(
    span: &SpanProblem<'_, T>,
    work: &mut Workspace<T>,
    outcome: &mut Result<(T, Progress<T>), Failure<T>>,
    may_spend_all: bool,
    solve: impl FnOnce(&mut Workspace<T>) -> Outcome<T>,
) {
    if span.budget.is_spent() {
        return;
    }
    // A start that finds nothing must leave some of the budget to the others.
    let limit = span.budget.limit.get();
    if !may_spend_all {
        span.budget.limit.set(limit - span.budget.left() / 4 * 3);
    }
    collapse(&mut work.nodes);
    let found = solve(work);
    span.budget.limit.set(limit);
    let is_path = found.as_ref().map_or_else(|why| why.penetrated.is_some(), |_| true);
    let lost = if is_path { lost_hint(span, &work.nodes) } else { None };
    match (found, &mut *outcome) {
        (_, Err(failure)) if lost.is_some() => failure.lost = lost,
        (Ok(progress), _) if lost.is_none() => {
            let score = length_of(span, &work.nodes) + work.plans.penalty(span, &work.nodes);
            if outcome.ok().is_none_or(|(best, _)| score < best) {
                *outcome = Ok((score, progress));
                copy(&work.nodes, &mut work.shortest);
                return;
            }
        }
        (Err(why), Err(failure)) => failure.add(&why, &work.nodes),
        _ => {}
    }
    if outcome.is_ok() {
        copy(&work.shortest, &mut work.nodes);
    }
}

/// The first obstacle without memory that the path does not pass as the straight lines through its hint do.
pub(crate) fn lost_hint<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> Option<usize> {
    let is_new = |k: &usize| span.memory.wraps.get(*k).is_none_or(|wrap| !wrap.known);
    span.acting.iter().copied().filter(is_new).find(|&k| loses_hint(span, nodes, k))
}

/// Whether the path does not pass an obstacle as the straight lines through its hint do.
fn loses_hint<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], k: usize) -> bool {
    let Some(node) = nodes.iter().find(|node| node.obstacle == k && !node.ignored) else { return false };
    let Some(hint) = span.obstacles[k].place_of_hint() else { return false };
    let surface = span.surface(node);
    let [before, after] = neighbours(span, nodes, node);
    let through = |p: &Point3<T>| Some(surface.winding(&before, p)? + surface.winding(p, &after)?);
    let found = contacts_of(nodes, k)
        .try_fold((before, T::zero()), |(at, sum), node| {
            let (end, around) = winding(node, surface, &at)?;
            Some((end, sum + around))
        })
        .and_then(|(at, sum)| Some(sum + surface.winding(&at, &after)?));
    // They differ by whole turns.
    let differs = |(wanted, found): (T, T)| (wanted - found).abs() > T::one() || span.budget.is_spent();
    through(&hint).zip(found).is_some_and(differs)
}

/// The end of a contact, and the angle by which the cable winds about the core of its obstacle from a point before the
/// contact to this end.
fn winding<T: Real>(node: &Node<T>, surface: Metered<'_, T>, before: &Point3<T>) -> Option<(Point3<T>, T)> {
    let start = node.to_surface(&node.ground.start.point);
    let first = (start, surface.winding(before, &start)?);
    // No chord of a part that turns by a radian comes near the core.
    node.parts(surface, T::one()).try_fold(first, |(at, sum), part| {
        Some((part.end.point, sum + surface.winding(&at, &part.end.point)?))
    })
}

/// The angle by which a path is displaced from a saddle, to either side \[rad\].
const PUSH: f64 = 0.3;

/// Refines the path of the nodes.
///
/// A path on a saddle is stationary but longest in some direction, such as a string over the exact middle of a ball. It
/// is displaced to both sides and descends from there; the shorter result is used.
pub(crate) fn leave_saddles<T: Real>(span: &SpanProblem<'_, T>, work: &mut Workspace<T>) -> Outcome<T> {
    let mut outcome = settle_contacts(span, &mut work.nodes);
    // Each push treats one direction.
    for _ in 0..4 {
        let Err(Failure { saddle: Some(k), .. }) = outcome else { break };
        if span.budget.is_spent() {
            break;
        }
        copy(&work.nodes, &mut work.other);
        let mut best: Option<(T, Progress<T>)> = None;
        for push in [T::lit(PUSH), T::lit(-PUSH)] {
            copy(&work.other, &mut work.nodes);
            push_aside(span, &mut work.nodes, k, push);
            relax(span, &mut work.nodes, ROUND_TRIP);
            let pushed = settle_contacts(span, &mut work.nodes);
            match pushed {
                Ok(progress) => {
                    let length = length_of(span, &work.nodes);
                    if best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                        best = Some((length, progress));
                        copy(&work.nodes, &mut work.best);
                    }
                }
                Err(_) => outcome = pushed,
            }
        }
        if let Some((_, progress)) = best {
            copy(&work.best, &mut work.nodes);
            outcome = Ok(progress);
        }
    }
    outcome
}

/// Shifts a contact sideways by an angle about its middle.
fn push_aside<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>], k: usize, angle: T) {
    let surface = span.surface(&nodes[k]);
    let Trial { point, tangent, length } = nodes[k].trial;
    let half = T::lit(0.5) * length;
    let middle = surface.follow(&point, &tangent, half);
    let shift = middle.binormal() * (angle / middle.greatest_curvature().max(T::lit(0.1) / surface.size()));
    let shifted = surface.retract(&(middle.point + shift));
    let start = surface.follow(&shifted, &middle.tangent, -half);
    nodes[k].begin(Trial { point: start.point, tangent: start.tangent, length });
}

/// Buffers, kept to avoid allocation.
#[derive(Debug)]
pub(crate) struct Workspace<T: Real> {
    /// The nodes of the span that is being solved.
    pub(crate) nodes: Vec<Node<T>>,
    /// The beads of a string, and the points in Ground at which it passes the obstacles.
    pub(crate) beads: Vec<Bead<T>>,
    pub(crate) anchors: Vec<Point3<T>>,
    pub(crate) plans: Plans<T>,
    /// The path on a saddle, or the remembered one.
    pub(crate) other: Vec<Node<T>>,
    /// The shortest path found from a saddle.
    pub(crate) best: Vec<Node<T>>,
    /// The shortest path found so far by a search without memory.
    pub(crate) shortest: Vec<Node<T>>,
    /// The poses of bodies.
    pub(crate) poses: Vec<Pose<T>>,
    /// The poses of surfaces at the end of a motion, and the memory of the path followed in parts of it.
    pub(crate) surfaces: Vec<Pose<T>>,
    pub(crate) memory: Wraps<T>,
}

default_by_field!(Workspace { nodes, beads, anchors, plans, other, best, shortest, poses, surfaces, memory });
