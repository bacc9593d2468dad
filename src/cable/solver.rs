//! The path of one span: which obstacles are touched, and where.

use alloc::vec::Vec;

use nalgebra::Point3;

use super::geodesic::Geodesic;
use super::newton::{self, Progress};
use super::node::{Node, Trial};
use super::relax::{self, Beads};
use super::span::{Budget, SEARCH, Span, side};
use super::wrap::Wrap;
use crate::cable::PathError;
use crate::math::{Real, is_finite};
use crate::shapes::ShapeError;

/// How a path was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tracking {
    /// By Newton's method from what was remembered, windings and all; or there is no obstacle to search for.
    #[default]
    Warm,
    /// From what was remembered, by sliding downhill or by pulling a string tight along it: the motion
    /// since was large, or the path that was tracked has ceased to exist. It may have slipped off a winding.
    Relaxed,
    /// From nothing: no obstacle of the span had been solved for before.
    Cold,
    /// From nothing, because no path was found from what was remembered, or only some obstacles were
    /// known: this path may be another.
    Restarted,
}

/// Room to work in, kept to avoid allocation.
#[derive(Debug)]
pub(super) struct Workspace<T: Real> {
    active: Vec<usize>,
    string: Beads<T>,
    /// The path on a saddle, and the shortest found from there.
    balanced: Vec<Node<T>>,
    best: Vec<Node<T>>,
    budget: Budget,
}

impl<T: Real> Workspace<T> {
    pub(super) fn new() -> Self {
        Self {
            active: Vec::new(),
            string: Beads::new(),
            balanced: Vec::new(),
            best: Vec::new(),
            budget: Budget::default(),
        }
    }
}

/// Why an attempt was given up.
#[derive(Debug, Clone, Copy)]
struct Failure<T: Real> {
    kink: T,
    iterations: usize,
    node: usize,
    off_patch: Option<Point3<T>>,
    /// The path is stationary, but no minimum because of this node.
    saddle: Option<usize>,
    /// The path is a minimum, but a straight stretch that touches this node runs into it, so deep.
    penetrated: Option<(usize, T)>,
}

impl<T: Real> Failure<T> {
    fn new(progress: &Progress<T>) -> Self {
        let Progress { kink, worst, iterations, .. } = *progress;
        Self { kink, iterations, node: worst, off_patch: None, saddle: None, penetrated: None }
    }
}

/// The ways to a path, in the order in which they are tried, with the number of beads per leg.
///
/// What is remembered is tracked by Newton's method; if that fails, the path slides downhill from
/// there; if that fails, strings are pulled tight along it, ever finer. Without memory, or when it
/// leads nowhere, the same begins at the hints.
const ATTEMPTS: [(Tracking, usize); 7] = [
    (Tracking::Warm, 0),
    (Tracking::Relaxed, 0),
    (Tracking::Relaxed, 6),
    (Tracking::Relaxed, 16),
    (Tracking::Cold, 0),
    (Tracking::Cold, 6),
    (Tracking::Cold, 16),
];

/// The beads per leg that a path pushed off a saddle is laid with.
const BEADS: usize = 6;

/// Whether the geodesics that are remembered can be computed. Those of most surfaces are integrated, in a
/// bounded number of steps.
fn can_follow<T: Real>(span: &Span<'_, T>, nodes: &mut [Node<T>], budget: &mut Budget) -> bool {
    let accuracy = newton::accuracy(span.settings);
    recall(span, nodes);
    nodes.iter_mut().zip(span.obstacles).filter(|(node, _)| node.in_contact).all(|(node, obstacle)| {
        budget.spend(node.evaluate(obstacle.surface(), accuracy));
        is_finite(&node.ground.end.point.coords)
    })
}

/// Solves one span; answers how well, and how the path was found.
pub(super) fn solve_span<T: Real>(
    span: &Span<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
    place: usize,
    first_obstacle: usize,
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
    check_neighbouring_ends(span, nodes, first_obstacle)?;
    work.active.reserve(nodes.len());
    let has_memory = span.wraps.iter().any(|wrap| wrap.known);
    let mut known = span.wraps.iter().all(|wrap| wrap.known);
    let mut failure = Failure::new(&Progress::none());
    let mut penetrated = None;
    let most = span.settings.max_evaluations.saturating_mul(nodes.len());
    work.budget = Budget::default();
    let mut wasted = 0;
    // A search that begins anew is not to be laid on the side that is remembered.
    let whole = span;
    let without_memory = Span { wraps: &[], ..*whole };
    for (tracking, detail) in ATTEMPTS {
        let remembered = tracking < Tracking::Cold;
        let span = if remembered { whole } else { &without_memory };
        if remembered && !known {
            continue;
        }
        // A path that would have to touch twice is not another that touches once. Only a leap of Newton's
        // method is tried again, downhill.
        // What is remembered may take half of the budget, so that there is something left to begin anew with.
        work.budget.limit = wasted + if remembered { most - most / 2 } else { most };
        let leapt = (tracking, detail) == (Tracking::Relaxed, 0);
        if penetrated.is_some() && !leapt {
            break;
        }
        if work.budget.is_spent() {
            continue;
        }
        if remembered {
            recall(span, nodes);
        }
        let outcome = match (tracking, detail) {
            (Tracking::Warm, _) => settle_contacts(span, nodes, work),
            (_, 0) => {
                if !remembered {
                    relax::begin_at_hints(span, nodes, &mut work.string, &mut work.budget);
                }
                slide(span, nodes, work);
                leave_saddles(span, nodes, work, BEADS)
            }
            _ => tighten(span, nodes, work, detail, remembered),
        };
        match outcome {
            Ok(progress) => {
                check_ends(span, nodes, first_obstacle)?;
                if coincide && nodes.iter().all(|node| !node.in_contact) {
                    return Err(PathError::CoincidentPoints { span: place });
                }
                let found = match tracking {
                    Tracking::Cold if has_memory => Tracking::Restarted,
                    Tracking::Warm if progress.slid => Tracking::Relaxed,
                    other => other,
                };
                return Ok((progress, found));
            }
            Err(why) => {
                // One for which nothing was left of the budget says nothing.
                if why.iterations > 0 {
                    failure = why;
                }
                penetrated = why.penetrated.or(penetrated);
                if tracking == Tracking::Warm && !can_follow(span, nodes, &mut work.budget) {
                    known = false;
                    // An absurd memory costs as much as a geodesic may, which is no reason not to search.
                    wasted = work.budget.spent;
                }
            }
        }
    }
    if let Some((k, depth)) = penetrated {
        return Err(PathError::Penetrates { obstacle: first_obstacle + k, depth: depth.to_f64() });
    }
    check_ends(span, nodes, first_obstacle)?;
    if known {
        recall(span, nodes);
    }
    check_neighbours(span, nodes, first_obstacle)?;
    Err(match failure.off_patch {
        Some(p) => ShapeError::OffPatch { x: p.x.to_f64(), y: p.y.to_f64() }.into(),
        None => PathError::NotConverged {
            residual: failure.kink.to_f64(),
            iterations: failure.iterations,
            obstacle: first_obstacle + failure.node,
            evaluations: work.budget.spent,
        },
    })
}

/// Puts into the nodes what is remembered.
fn recall<T: Real>(span: &Span<'_, T>, nodes: &mut [Node<T>]) {
    for (node, wrap) in nodes.iter_mut().zip(span.wraps) {
        let Wrap { point, tangent, length, .. } = *wrap;
        node.begin(Trial { point, tangent, length });
        node.in_contact = wrap.in_contact;
    }
}

/// Pulls a string tight and refines what it touches.
fn tighten<T: Real>(
    span: &Span<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
    detail: usize,
    from_memory: bool,
) -> Result<Progress<T>, Failure<T>> {
    let Workspace { string, budget, .. } = work;
    if relax::tighten(span, nodes, string, detail, from_memory, None, budget) {
        leave_saddles(span, nodes, work, detail)
    } else {
        Err(Failure::new(&Progress::none()))
    }
}

/// Lets the path slide downhill in length, touching and leaving obstacles on the way, until Newton's
/// method can take over.
fn slide<T: Real>(span: &Span<'_, T>, nodes: &mut [Node<T>], work: &mut Workspace<T>) {
    // Ten degrees a step follow the slope closely enough not to leap over a ridge; the whole way
    // round an obstacle takes forty steps. Where a path has just ceased to exist the slope is faint
    // and the way off it long.
    const ROUNDS: usize = 1000;
    let longest = T::lit(0.17);
    let accuracy = T::lit(1e-6);
    // A path that is kept from going on, by a length that would have to become negative, wants the same
    // step again and again.
    let mut wanted = T::zero();
    let mut stalled = 0;
    for _ in 0..ROUNDS {
        if work.budget.is_spent() {
            break;
        }
        work.active.clear();
        work.active.extend((0..nodes.len()).filter(|&k| nodes[k].in_contact));
        for &k in &work.active {
            work.budget.spend(nodes[k].evaluate(span.obstacles[k].surface(), accuracy));
        }
        let mut changed = false;
        for (i, &k) in work.active.iter().enumerate() {
            let before = if i == 0 { span.from } else { nodes[work.active[i - 1]].ground.end.point };
            let after = work.active.get(i + 1).map_or(span.to, |&next| nodes[next].ground.start.point);
            let node = &mut nodes[k];
            let Geodesic { start, length, .. } = &node.ground;
            let above = |p: &Point3<T>| (p - start.point).dot(&start.normal) > T::zero();
            if *length <= T::zero() && above(&before) && above(&after) {
                node.in_contact = false;
                changed = true;
            }
        }
        changed |= deepest(span, nodes, &mut work.budget).is_some();
        if changed {
            continue;
        }
        if work.active.is_empty() {
            break;
        }
        let (step, convex) = newton::descend(span, nodes, &work.active, longest);
        stalled = if (step - wanted).abs() <= T::negligible() * step { stalled + 1 } else { 0 };
        wanted = step;
        if stalled == 60 {
            break;
        }
        // From two hundredths Newton's method converges in two or three steps; on a faint slope it
        // may have nowhere to converge to.
        if !step.is_finite() || (convex && step < T::lit(0.02)) || step < T::lit(1e-6) {
            break;
        }
    }
}

/// Refines what the nodes hold.
///
/// Where the path balances, longest in some direction (a string over the very middle of a ball), it is
/// pushed off to both sides, and the shorter of the two outcomes is taken.
fn leave_saddles<T: Real>(
    span: &Span<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
    detail: usize,
) -> Result<Progress<T>, Failure<T>> {
    let mut outcome = settle_contacts(span, nodes, work);
    // Each push takes care of one direction. Of more than a few at once a finer string does better.
    for _ in 0..4 {
        let Err(Failure { saddle: Some(k), .. }) = outcome else { break };
        work.balanced.clear();
        work.balanced.extend_from_slice(nodes);
        let mut best: Option<(T, Progress<T>)> = None;
        for push in [T::lit(0.3), T::lit(-0.3)] {
            nodes.clone_from_slice(&work.balanced);
            let Workspace { string, budget, .. } = &mut *work;
            if !relax::tighten(span, nodes, string, detail, true, Some((k, push)), budget) {
                return outcome;
            }
            // The beads leave the saddle slowly; Newton's method would jump back to it from there.
            slide(span, nodes, work);
            let pushed = settle_contacts(span, nodes, work);
            match pushed {
                Ok(progress) => {
                    let length = length_of(span, nodes);
                    if best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                        best = Some((length, progress));
                        work.best.clear();
                        work.best.extend_from_slice(nodes);
                    }
                }
                Err(_) => outcome = pushed,
            }
        }
        if let Some((_, progress)) = best {
            nodes.clone_from_slice(&work.best);
            outcome = Ok(progress);
        }
    }
    outcome
}

/// The length of a span that has been solved.
fn length_of<T: Real>(span: &Span<'_, T>, nodes: &[Node<T>]) -> T {
    let mut from = span.from;
    let mut length = T::zero();
    for node in nodes.iter().filter(|node| node.in_contact) {
        length += (node.ground.start.point - from).norm() + node.ground.length;
        from = node.ground.end.point;
    }
    length + (span.to - from).norm()
}

/// Finds which obstacles are touched, beginning with those that are marked.
fn settle_contacts<T: Real>(
    span: &Span<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
) -> Result<Progress<T>, Failure<T>> {
    // Each pass touches or releases one obstacle; more passes than this are a cycle.
    let passes = 4 * nodes.len() + 4;
    let mut iterations = 0;
    let mut slid = false;
    let mut last = Failure::new(&Progress::none());
    for node in nodes.iter_mut() {
        node.released = false;
    }
    for _ in 0..passes {
        work.active.clear();
        work.active.extend((0..nodes.len()).filter(|&k| nodes[k].in_contact));
        let progress = newton::iterate(span, nodes, &work.active, &mut work.budget);
        iterations += progress.iterations;
        if progress.iterations > 0 {
            last = Failure { iterations, ..Failure::new(&progress) };
        }
        if work.budget.is_spent() && !progress.converged {
            return Err(last);
        }
        if let Some(k) = loosest(nodes, &work.active, progress.converged) {
            nodes[k].in_contact = false;
            nodes[k].released = true;
            for node in nodes.iter_mut() {
                if progress.converged {
                    node.start = node.trial;
                } else {
                    node.trial = node.start;
                }
            }
            continue;
        }
        if !progress.converged {
            return Err(last);
        }
        let minimal = newton::is_minimal(nodes, &work.active);
        if !minimal {
            last.saddle = work.active.iter().copied().find(|&k| !newton::is_minimal(nodes, &[k]));
        }
        if let Some(k) = deepest(span, nodes, &mut work.budget) {
            // A path that leaves an obstacle only to balance on the others and sink into it again
            // would go round in circles: from where it left, it has to slide.
            if nodes[k].released && !minimal {
                nodes[k].in_contact = false;
                if slid {
                    return Err(last);
                }
                slid = true;
                for node in nodes.iter_mut() {
                    node.trial = node.start;
                }
                slide(span, nodes, work);
            }
            last.node = k;
            continue;
        }
        if let Some(&k) = work.active.iter().find(|&&k| !nodes[k].on_patch) {
            return Err(Failure { node: k, off_patch: Some(nodes[k].trial.point), ..last });
        }
        if !minimal {
            return Err(last);
        }
        last.penetrated = penetrated(span, nodes, progress.kink, &mut work.budget);
        return if last.penetrated.is_some() {
            Err(last)
        } else {
            Ok(Progress { iterations, slid, ..progress })
        };
    }
    Err(last)
}

/// The node in contact that is pulled off hardest: the one of most negative length.
fn loosest<T: Real>(nodes: &[Node<T>], active: &[usize], converged: bool) -> Option<usize> {
    // Of an iteration that failed, only a length that is clearly negative tells anything.
    let limit = if converged { T::zero() } else { T::lit(-0.02) };
    let mut loosest = (limit, None);
    for &k in active {
        let turns = nodes[k].turns();
        if turns < loosest.0 {
            loosest = (turns, Some(k));
        }
    }
    loosest.1
}

/// Finds the obstacle that a straight stretch passes through most deeply, and lays the cable on it.
/// Leaves in every other free node the point of its surface the cable passes closest to.
fn deepest<T: Real>(span: &Span<'_, T>, nodes: &mut [Node<T>], budget: &mut Budget) -> Option<usize> {
    let mut found: Option<(usize, T)> = None;
    let mut from = span.from;
    let mut first = 0;
    while first < nodes.len() {
        if nodes[first].in_contact {
            from = nodes[first].ground.end.point;
            first += 1;
            continue;
        }
        let mut end = first;
        while end < nodes.len() && !nodes[end].in_contact {
            end += 1;
        }
        let to = nodes.get(end).map_or(span.to, |node| node.ground.start.point);
        for (k, node) in nodes.iter_mut().enumerate().take(end).skip(first) {
            let surface = span.obstacles[k].surface();
            let (a, b) = (node.to_surface(&from), node.to_surface(&to));
            let approach = surface.closest_on_segment(&a, &b);
            budget.spend(SEARCH);
            let relative = approach.height / surface.size();
            // What Newton released may be grazed to the depth that its own smoothness leaves.
            let tolerated = if node.released { T::lit(-1e-7) } else { -T::negligible() * T::lit(8.0) };
            let point = surface.retract(&approach.point);
            let sinks = relative < tolerated;
            if sinks && found.is_none_or(|(_, depth)| relative < depth) {
                found = Some((k, relative));
            }
            let point = if sinks { side(span.wraps.get(k), surface, point) } else { point };
            node.trial = Trial { point, tangent: b - a, length: T::zero() };
        }
        first = end;
    }

    let (k, _) = found?;
    let trial = nodes[k].trial;
    nodes[k].begin(trial);
    Some(k)
}

/// Finds the straight stretch that runs most deeply into an obstacle that it touches, and how deep. One
/// that touches none has been tested when contacts settled.
fn penetrated<T: Real>(
    span: &Span<'_, T>,
    nodes: &[Node<T>],
    kink: T,
    budget: &mut Budget,
) -> Option<(usize, T)> {
    if span.obstacles.iter().all(|obstacle| obstacle.is_convex) {
        return None;
    }
    let kink = kink.max(span.settings.smoothness);
    let mut found: Option<(usize, T)> = None;
    let mut test = |k: usize, touch_G: &Point3<T>, to_G: &Point3<T>| {
        let (node, surface) = (&nodes[k], span.obstacles[k].surface());
        if span.obstacles[k].is_convex {
            return;
        }
        let (touch, to) = (node.to_surface(touch_G), node.to_surface(to_G));
        if !surface.may_reenter(&touch, &to) {
            return;
        }
        let depth = -surface.closest_on_segment(&touch, &to).height;
        budget.spend(SEARCH);
        // The stretch leaves with a kink, from a point that the last correction moved along the tangent; and
        // coordinates in Ground are rounded.
        let roundoff = T::default_epsilon() * (touch_G.coords.amax() + to_G.coords.amax() + node.reach());
        let allowed = kink * (T::lit(2.0) * (to - touch).norm() + surface.size()) + roundoff * T::lit(64.0);
        if depth > allowed && found.is_none_or(|(_, deepest)| depth > deepest) {
            found = Some((k, depth));
        }
    };
    let mut before: Option<usize> = None;
    let mut from = span.from;
    for (k, node) in nodes.iter().enumerate().filter(|(_, node)| node.in_contact) {
        let Geodesic { start, end, .. } = &node.ground;
        if let Some(before) = before {
            test(before, &from, &start.point);
        }
        test(k, &start.point, &from);
        from = end.point;
        before = Some(k);
    }
    if let Some(before) = before {
        test(before, &from, &span.to);
    }
    found
}

/// Refuses neighbours that have run into each other where the cable passes from one to the next:
/// there is no straight stretch between them. Asked only when no path was found.
fn check_neighbours<T: Real>(
    span: &Span<'_, T>,
    nodes: &mut [Node<T>],
    first_obstacle: usize,
) -> Result<(), PathError> {
    let mut before: Option<usize> = None;
    for k in 0..nodes.len() {
        if !nodes[k].in_contact {
            continue;
        }
        nodes[k].evaluate(span.obstacles[k].surface(), T::lit(1e-6));
        if let Some(before) = before {
            let within = |other: usize, p_G: &Point3<T>| {
                let (surface, p) = (span.obstacles[other].surface(), nodes[other].to_surface(p_G));
                surface.covers(&p) && surface.height(&p) < T::zero()
            };
            let (leaving, arriving) = (nodes[before].ground.end.point, nodes[k].ground.start.point);
            if within(k, &leaving) || within(before, &arriving) {
                return Err(PathError::ObstaclesOverlap {
                    first: first_obstacle + before,
                    second: first_obstacle + k,
                });
            }
        }
        before = Some(k);
    }
    Ok(())
}

/// Refuses a fixed point inside the first or the last obstacle, wherever the path may run.
fn check_neighbouring_ends<T: Real>(
    span: &Span<'_, T>,
    nodes: &[Node<T>],
    first_obstacle: usize,
) -> Result<(), PathError> {
    let last = nodes.len() - 1;
    let inside = if is_inside(span, nodes, 0, &span.from) {
        0
    } else if is_inside(span, nodes, last, &span.to) {
        last
    } else {
        return Ok(());
    };
    Err(PathError::PointInsideObstacle { obstacle: first_obstacle + inside })
}

/// Refuses a fixed point inside an obstacle that the stretch next to it passes or touches.
fn check_ends<T: Real>(
    span: &Span<'_, T>,
    nodes: &[Node<T>],
    first_obstacle: usize,
) -> Result<(), PathError> {
    let first = nodes.iter().position(|node| node.in_contact).map_or(nodes.len(), |k| k + 1);
    let last = nodes.iter().rposition(|node| node.in_contact).unwrap_or(0);
    // The outermost have been tested before.
    let by_from = (1..first).find(|&k| is_inside(span, nodes, k, &span.from));
    let by_to = || (last..nodes.len() - 1).find(|&k| is_inside(span, nodes, k, &span.to));
    match by_from.or_else(by_to) {
        Some(k) => Err(PathError::PointInsideObstacle { obstacle: first_obstacle + k }),
        None => Ok(()),
    }
}

/// Whether a fixed point lies inside an obstacle.
#[inline]
fn is_inside<T: Real>(span: &Span<'_, T>, nodes: &[Node<T>], k: usize, p_G: &Point3<T>) -> bool {
    let surface = span.obstacles[k].surface();
    let p = nodes[k].to_surface(p_G);
    surface.value(&p) < T::zero() && surface.covers(&p) && surface.height(&p) < -T::lit(1e-9) * surface.size()
}
