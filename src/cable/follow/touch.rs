//! The contacts of a path.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::cable::follow::checks::{Penetration, penetrated};
use crate::cable::follow::side;
use crate::cable::geodesics::wrappable::aside;
use crate::cable::solve::contacts;
use crate::cable::solve::contacts::lay_along;
use crate::cable::solve::linear_system::around;
use crate::cable::solve::newton;
use crate::cable::solve::node::{touching, touching_mut};
use crate::cable::{ACCURACY, Geodesic, Node, Progress, SpanProblem, Trial};
use crate::math::Real;

/// The reason why an attempt failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure<T: Real> {
    pub(crate) kink: T,
    pub(crate) iterations: usize,
    /// The obstacle with the kink.
    pub(crate) obstacle: usize,
    pub(crate) off_patch: Option<Point3<T>>,
    /// The path is stationary, but not a minimum because of this contact.
    pub(crate) saddle: Option<usize>,
    /// A straight segment that touches this obstacle runs into it to this depth, and no further contact was found
    /// there.
    pub(crate) penetrated: Option<(usize, T)>,
    /// The cable would touch this obstacle more often than there is memory for.
    pub(crate) crowded: Option<usize>,
    /// The path found does not pass this obstacle according to its hint.
    pub(crate) lost: Option<usize>,
    /// A point of a contact that left its patch in the attempt.
    pub(crate) strayed: Option<Point3<T>>,
}

/// The outcome of an attempt.
pub(crate) type Outcome<T> = Result<Progress<T>, Failure<T>>;

impl<T: Real> Failure<T> {
    pub(crate) fn new(progress: &Progress<T>) -> Self {
        let Progress { kink, worst, iterations, .. } = *progress;
        Self {
            kink,
            iterations,
            obstacle: worst,
            off_patch: None,
            saddle: None,
            penetrated: None,
            crowded: None,
            lost: None,
            strayed: None,
        }
    }

    /// Adds the failure of a later attempt, which ended with these nodes.
    pub(crate) fn add(&mut self, later: &Self, nodes: &[Node<T>]) {
        // An attempt without budget has no informative failure.
        let last = if later.iterations > 0 { *later } else { *self };
        let mut touching = nodes.iter().filter(|node| node.in_contact);
        *self = Self {
            off_patch: later.off_patch.or(self.off_patch),
            penetrated: later.penetrated.or(self.penetrated),
            crowded: later.crowded.or(self.crowded),
            lost: later.lost.or(self.lost),
            strayed: touching.find_map(|node| node.off_patch).or(later.strayed).or(self.strayed),
            ..last
        };
    }
}

/// The steps of a descent that lead once around an obstacle: steps of ten degrees, which follow the slope closely enough
/// not to jump over a ridge.
pub(crate) const ROUND_TRIP: usize = 40;

/// Descends in length in at most this number of steps, touching and leaving obstacles on the way, until Newton's method
/// can continue.
pub(crate) fn relax<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut Vec<Node<T>>, most_steps: usize) {
    let longest = T::lit(0.17);
    for _ in 0..most_steps {
        if span.budget.is_spent() {
            break;
        }
        for node in touching_mut(nodes) {
            node.evaluate(span, T::lit(ACCURACY));
        }
        newton::lay_ends(span, nodes, T::lit(ACCURACY), true);
        let mut changed = false;
        for k in 0..nodes.len() {
            let Geodesic { start, length, .. } = &nodes[k].ground;
            let is_free =
                |(p, is_held): (Point3<T>, bool)| is_held || (p - start.point).dot(&start.normal) > T::zero();
            let is_loose = nodes[k].in_contact && *length <= T::zero();
            if is_loose && around(span, nodes, k).into_iter().all(is_free) {
                nodes[k].in_contact = false;
                changed = true;
            }
        }
        if changed {
            contacts::prune(nodes);
        }
        changed |= deepest(span, nodes, T::lit(f64::INFINITY)).is_some();
        if changed {
            continue;
        }
        if touching(nodes).next().is_none() {
            break;
        }
        let (step, convex) = newton::descend(span, nodes, longest);
        // From two hundredths Newton's method converges in two or three steps; on a small slope there may be no
        // solution nearby.
        if !step.is_finite() || (convex && step < T::lit(0.02)) || step < T::lit(1e-6) {
            break;
        }
    }
}

/// The relative depth to which a line may graze an obstacle that Newton's method released, or that the contact beside it
/// touches too: that of the smoothness.
const GRAZING: f64 = 1e-7;

/// Finds which obstacles are touched, beginning with those that are marked.
pub(crate) fn settle_contacts<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut Vec<Node<T>>) -> Outcome<T> {
    // Further steps of Newton's method: each squares the kink.
    const MOST_REFINED: usize = 4;
    // Beyond as many contacts made and released one by one there is a cycle.
    let passes = 4 * span.most_contacts() + 4;
    let is_convex = span.acting().all(|obstacle| obstacle.is_convex);
    let mut iterations = 0;
    let mut refined = 0;
    // Whether small steps may lead to another path.
    let mut relaxed = false;
    // Whether a contact has been added since Newton's method last converged, and the node of one placed since it last ran.
    let mut added = false;
    let mut placed = None;
    let mut last = Failure::new(&Progress::none());
    let mut is_shortened = false;
    let mut is_repeated = repeats(span);
    for node in nodes.iter_mut() {
        node.released = false;
    }
    if nodes.iter().any(|node| node.on_surface != [false; 2]) {
        contacts::lift(span, nodes);
    }
    for _ in 0..passes {
        let is_laid = placed.is_some();
        if placed.take().is_some_and(|k| is_repeated(&nodes[k])) {
            return Err(last);
        }
        let progress = newton::iterate(span, nodes);
        is_shortened |= progress.is_shortened;
        iterations += progress.iterations;
        // In small steps contacts begin smoothly. An obstacle that was entered deeply may have been passed elsewhere.
        relaxed |= progress.is_far && (progress.is_shortened || is_laid);
        if progress.iterations > 0 {
            last = Failure { iterations, penetrated: last.penetrated, ..Failure::new(&progress) };
        }
        if span.budget.is_spent() {
            return Err(last);
        }
        if let Some(k) = progress.closed {
            go_back(nodes);
            contacts::merge(span, nodes, k);
            continue;
        }
        if let Some(k) = loosest(nodes) {
            nodes[k].in_contact = false;
            nodes[k].released = true;
            if progress.converged {
                keep(nodes);
            } else {
                go_back(nodes);
            }
            contacts::prune(nodes);
            continue;
        }
        if !progress.converged {
            // A new contact may be too far from the solution for Newton's method.
            if added {
                added = false;
                relaxed = true;
                go_back(nodes);
                relax(span, nodes, ROUND_TRIP);
                continue;
            }
            // A contact that would end just within a hollow has no solution without another beyond.
            let is_nearly_smooth = progress.kink < T::lit(newton::LARGE_MOTION);
            let through = if is_nearly_smooth { penetrated(span, nodes, T::zero()) } else { None };
            let Some(through) = through else { return Err(last) };
            placed = Some(touch_again(span, nodes, &through, last).map_err(|_| last)?);
            added = true;
            continue;
        }
        let saddle = nodes.iter().position(|node| node.in_contact && !node.is_minimal());
        last.saddle = saddle.or(last.saddle);
        if let Some(k) = deepest(span, nodes, T::lit(GRAZING)) {
            placed = Some(k);
            last.obstacle = nodes[k].obstacle;
            continue;
        }
        if let Some(k) = side::passing_behind(span, nodes) {
            last.obstacle = nodes[k].obstacle;
            if side::bring_to_front(span, nodes, k) {
                (placed, relaxed) = (Some(k), true);
                // Without an axis it would slip off sideways.
                if span.surface(&nodes[k]).axis().is_some() {
                    relax(span, nodes, ROUND_TRIP);
                }
                continue;
            }
            return Err(Failure { lost: Some(nodes[k].obstacle), ..last });
        }
        if !is_convex {
            for node in touching_mut(nodes) {
                node.check_patch(&*span.surface(node));
            }
        }
        if let Some(&Node { obstacle, off_patch, .. }) = touching(nodes).find(|node| node.off_patch.is_some())
        {
            return Err(Failure { obstacle, off_patch, penetrated: None, ..last });
        }
        if !is_convex {
            keep(nodes);
            let hollow = contacts::bridge_hollows(span, nodes).map_err(|k| {
                let Node { obstacle, off_patch, .. } = nodes[k];
                match off_patch {
                    Some(_) => Failure { obstacle, off_patch, penetrated: None, ..last },
                    None => Failure { crowded: Some(obstacle), ..last },
                }
            })?;
            if hollow.is_some() {
                (added, placed) = (true, hollow);
                continue;
            }
        }
        let is_held = |node: &Node<T>| node.is_minimal() || side::is_held(span, nodes, node);
        if !touching(nodes).all(is_held) || lifts_at_end(nodes) {
            return Err(last);
        }
        let through = if is_convex { None } else { penetrated(span, nodes, progress.kink) };
        if through.is_some_and(|through| !through.is_certain) && refined < MOST_REFINED {
            // Another step of Newton's method tells.
            refined += 1;
            for node in touching_mut(nodes) {
                node.correct_trial(T::one());
            }
            continue;
        }
        let Some(through) = through.filter(|through| through.is_certain) else {
            // Checks may have been cut short.
            if span.budget.is_spent() {
                return Err(last);
            }
            return Ok(Progress { iterations, relaxed, is_shortened, ..progress });
        };
        last.penetrated = Some((nodes[through.node].obstacle, through.depth));
        placed = Some(touch_again(span, nodes, &through, last)?);
        added = true;
    }
    Err(last)
}

/// A test of whether the cable, placed on the obstacle of a node, was placed there before.
///
/// From the same path it is placed at the same place, to the accuracy of paths, and comes back if it did not hold there. Such
/// cycles are found by the method of R. P. Brent, *An improved Monte Carlo factorization algorithm* (1980): the places whose
/// numbers are powers of two are marked in turn.
fn repeats<T: Real>(span: &SpanProblem<'_, T>) -> impl FnMut(&Node<T>) -> bool + use<T> {
    let within = span.settings.smoothness * (span.to - span.from).norm();
    let mut count = 0_usize;
    let mut marked: Option<(usize, Trial<T>)> = None;
    move |node| {
        let (here, allowed) = (node.start, node.to_scale(within));
        let is_same = |(obstacle, there): (usize, Trial<T>)| {
            obstacle == node.obstacle
                && (here.point - there.point).norm() <= allowed
                && (here.tangent - there.tangent).norm() <= allowed
                && (here.length - there.length).abs() <= allowed
        };
        if marked.is_some_and(is_same) {
            return true;
        }
        count += 1;
        if count.is_power_of_two() {
            marked = Some((node.obstacle, here));
        }
        false
    }
}

/// Places the cable on an obstacle where a straight segment that touches it runs through it; returns the node.
fn touch_again<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    through: &Penetration<T>,
    last: Failure<T>,
) -> Result<usize, Failure<T>> {
    let Penetration { node: k, is_after, point, along, .. } = *through;
    let (surface, obstacle) = (span.surface(&nodes[k]), nodes[k].obstacle);
    // A cable that enters below the edge of a patch would touch beyond it.
    let beside = along * (T::lit(1e-6) * surface.size() / along.norm());
    if !surface.covers(&(point + beside)) || !surface.covers(&(point - beside)) {
        return Err(Failure { obstacle, off_patch: Some(point), penetrated: None, ..last });
    }
    if contacts::is_full(span, nodes, k) {
        return Err(Failure { crowded: Some(obstacle), ..last });
    }
    let (at, tangent) = if is_after { (k + 1, along) } else { (k, -along) };
    contacts::insert(nodes, k, at, Trial { point: surface.retract(&point), tangent, length: T::zero() });
    Ok(at)
}

/// Makes the present contacts the start of the next attempt.
fn keep<T: Real>(nodes: &mut [Node<T>]) {
    for node in nodes {
        node.start = node.trial;
    }
}

/// Returns to the start of this attempt.
fn go_back<T: Real>(nodes: &mut [Node<T>]) {
    for node in nodes {
        node.trial = node.start;
    }
}

/// Whether a contact that begins or ends at a fixed point is hollow there: the cable would lift off.
fn lifts_at_end<T: Real>(nodes: &[Node<T>]) -> bool {
    let first = touching(nodes).next().map(|node| (node.holds[0], &node.ground.start));
    let last = touching(nodes).next_back().map(|node| (node.holds[1], &node.ground.end));
    [first, last].into_iter().flatten().any(|(is_held, end)| is_held && end.curvature < T::zero())
}

/// The node in contact to release first: that of negative length which turns back farthest. On a flat surface none turns.
fn loosest<T: Real>(nodes: &[Node<T>]) -> Option<usize> {
    let is_loose = |node: &Node<T>| node.in_contact && node.ground.length < T::zero();
    let loose = (0..nodes.len()).filter(|&k| is_loose(&nodes[k]));
    loose.reduce(|loosest, k| if nodes[k].turns() < nodes[loosest].turns() { k } else { loosest })
}

/// Finds the obstacle that a straight segment penetrates deepest, and places the cable on it. Stores the straight
/// segment in every other free node.
///
/// Where the surfaces of two obstacles coincide, the cable that touches one touches both: a segment from a contact may
/// run to the relative depth `within_touched` into an obstacle that the contact's end is on.
fn deepest<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>], within_touched: T) -> Option<usize> {
    let mut found: Option<(usize, T)> = None;
    let mut from = span.from;
    let mut first = 0;
    let count = nodes.len();
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
            let surface = span.surface(node);
            let (a, b) = (node.to_surface(&from), node.to_surface(&to));
            node.trial = Trial { point: a, tangent: b - a, length: T::zero() };
            if !span.obstacle(node).is_convex && surface.clears(&a, &b) {
                continue;
            }
            let (lowest, height) = surface.closest_on_segment(&a, &b);
            let relative = height / surface.size();
            let rounding = -T::negligible() * T::lit(8.0);
            let tolerated = if node.released { T::lit(-GRAZING).min(rounding) } else { rounding };
            // For a line from a point on the surface only depths beyond that of the point count.
            let held = [node.on_surface[0] && first == 0, node.on_surface[1] && end == count];
            let tolerated =
                [a, b].iter().zip(held).filter(|(_, is_held)| *is_held).fold(tolerated, |least, (p, _)| {
                    let roundoff =
                        (p.coords.amax() + node.to_scale(node.reach())) * T::default_epsilon() * T::lit(16.0);
                    least.min((surface.height(p) - roundoff) / surface.size())
                });
            let is_touched = || {
                let is_on = |p: &Point3<T>| surface.height(p).abs() < T::lit(GRAZING) * surface.size();
                first > 0 && is_on(&a) || end < count && is_on(&b)
            };
            let sinks =
                relative < tolerated && !node.ignored && (relative < -within_touched || !is_touched());
            if sinks && found.is_none_or(|(_, depth)| relative < depth) {
                found = Some((k, relative));
            }
            if sinks {
                // A line that leaves the surface outwards meets it again elsewhere.
                let lifts = |end: usize| contacts::lifts(span, node, end, &lowest);
                let held = [held[0] && !lifts(0), held[1] && !lifts(1)];
                node.holds = held;
                node.trial.point = match held {
                    [true, _] => surface.retract(&a),
                    [_, true] => surface.retract(&b),
                    // A descent within a plane of symmetry would stay in it, even if a shorter path were outside.
                    _ if span.memory.wraps.is_empty() => {
                        surface.retract(&(lowest + aside(&(b - a), surface.size())))
                    }
                    _ => surface.retract(&lowest),
                };
                if held == [true; 2] {
                    node.trial.length = (b - a).norm();
                } else if let Some(trial) = side::in_front(span, node, &a, &b) {
                    node.trial = trial;
                } else if held == [false; 2] && surface.has_flats() {
                    node.trial = lay_along(surface, &node.trial, &a, &b);
                }
            }
        }
        first = end;
    }

    let (k, _) = found?;
    let Node { trial, holds, .. } = nodes[k];
    nodes[k].begin(trial);
    nodes[k].holds = holds;
    Some(k)
}
