//! A string of beads pulled tight: a slow search for a path that needs no good start.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::geodesics::geodesic::GeodesicEnd;
use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::solve::budget::{Budget, SEARCH};
use crate::cable::solve::contacts::{collapse, insert};
use crate::cable::solve::node::{Node, Trial};
use crate::cable::solve::span::{SpanProblem, side};
use crate::math::Real;

/// The largest number of parts of a string on one obstacle: forty windings.
const MOST_PARTS: f64 = 1024.0;

/// One bead of the string.
#[derive(Debug, Clone, Copy)]
struct Bead<T: Real> {
    point: Point3<T>,
    /// The nodes before and after it, whose obstacles support it.
    owners: [usize; 2],
    /// The obstacle that it touches.
    touched: Option<usize>,
}

/// A string of beads with its buffers, kept to avoid allocation.
#[derive(Debug, Clone)]
pub(crate) struct Beads<T: Real> {
    beads: Vec<Bead<T>>,
    anchors: Vec<Anchor<T>>,
}

/// The point where the string is laid past an obstacle.
#[derive(Debug, Clone, Copy)]
struct Anchor<T: Real> {
    /// In Ground.
    point: Point3<T>,
    /// Its point on the surface, in the surface's frame, if it may be lifted.
    foot: Option<Point3<T>>,
}

impl<T: Real> Beads<T> {
    pub(crate) fn new() -> Self {
        Self { beads: Vec::new(), anchors: Vec::new() }
    }
}

/// Lays a string along the path of the nodes (or through the hints, or straight), pulls it tight, and stores in
/// the nodes its contacts, their points and lengths. A push shifts the string on one node sideways by an angle.
/// Returns false, with the nodes unchanged, if the path has too many windings for the beads.
///
/// Each bead moves towards the line between its neighbours and is pushed out of its obstacles: the
/// string settles near a shortest path, and near a longest only if it is laid on one exactly.
pub(crate) fn tighten<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    string: &mut Beads<T>,
    detail: usize,
    from_nodes: bool,
    push: Option<(usize, T)>,
    budget: &mut Budget,
) -> bool {
    let too_often =
        |node: &Node<T>| node.in_contact && parts_over(&geodesic_start(span, node), node) > MOST_PARTS;
    if from_nodes && nodes.iter().any(too_often) {
        return false;
    }
    lay(span, nodes, string, detail, from_nodes, push, budget);
    pull(span, nodes, &mut string.beads, detail, budget);
    read_off(span, nodes, &string.beads);
    true
}

fn lay<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    string: &mut Beads<T>,
    detail: usize,
    from_nodes: bool,
    push: Option<(usize, T)>,
    budget: &mut Budget,
) {
    place_anchors(span, nodes, &mut string.anchors, from_nodes, true, budget);
    let Beads { beads, anchors } = string;
    beads.clear();
    let mut from = span.from;
    let mut from_owner: Option<usize> = None;
    for (k, (node, anchor)) in nodes.iter().zip(anchors).enumerate() {
        let core = beads.len();
        if from_nodes && node.in_contact {
            lay_over(span, node, k, beads, push, budget);
        } else {
            beads.push(Bead { point: anchor.point, owners: [k; 2], touched: None });
        }
        let count = beads.len() - core;
        let (first, last) = (beads[core].point, beads[beads.len() - 1].point);
        leg(span, nodes, beads, detail, (from, from_owner), (first, Some(k)));
        // The beads on the obstacle come after those that lead up to it.
        beads[core..].rotate_left(count);
        from = last;
        from_owner = Some(k);
    }
    leg(span, nodes, beads, detail, (from, from_owner), (span.to, None));
}

/// Finds the anchor at each obstacle: the contact, the hint, the deepest point of the straight line, or a point
/// along it.
fn place_anchors<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    anchors: &mut Vec<Anchor<T>>,
    from_nodes: bool,
    lift: bool,
    budget: &mut Budget,
) {
    let known = |k: usize| {
        let obstacle = span.obstacle(&nodes[k]);
        let surface = obstacle.surface();
        if from_nodes {
            let touched = nodes[k].in_contact.then(|| surface.retract(&nodes[k].trial.point));
            touched.map(|p| (p, false))
        } else if nodes[k].ignored {
            None
        } else {
            obstacle.place_of_hint().map(|hint| (hint, surface.value(&hint) > T::zero()))
        }
    };
    let ground = |k: usize| known(k).map(|(p, _)| nodes[k].to_ground(&p));
    anchors.clear();
    for (k, node) in nodes.iter().enumerate() {
        let surface = span.surface(node);
        if let Some((point, is_clear)) = known(k) {
            let foot = (!from_nodes && !is_clear).then_some(point);
            anchors.push(Anchor { point: node.to_ground(&point), foot });
            continue;
        }
        let from = anchors.last().map_or(span.from, |anchor| anchor.point);
        let ahead = (k + 1..nodes.len()).find_map(ground).unwrap_or(span.to);
        let approach = surface.closest_on_segment(&node.to_surface(&from), &node.to_surface(&ahead));
        budget.spend(SEARCH);
        anchors.push(if approach.height < T::zero() && !node.ignored {
            let remembered = span.wraps.get(node.obstacle).filter(|_| from_nodes);
            let foot = side(remembered, surface, surface.retract(&approach.point));
            Anchor { point: node.to_ground(&foot), foot: Some(foot) }
        } else {
            Anchor { point: node.to_ground(&approach.point), foot: None }
        });
    }
    // Lifting one changes the lines to its neighbours.
    for _ in 0..if lift { 3 } else { 0 } {
        for k in 0..anchors.len() {
            let Some(foot) = anchors[k].foot else { continue };
            let before = if k == 0 { span.from } else { anchors[k - 1].point };
            let after = anchors.get(k + 1).map_or(span.to, |anchor| anchor.point);
            let node = &nodes[k];
            let surface = span.surface(node);
            let place = lifted(surface, foot, &node.to_surface(&before), &node.to_surface(&after), budget);
            anchors[k].point = node.to_ground(&place);
        }
    }
}

/// Lays the cable over the hints without length.
pub(crate) fn begin_at_hints<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    string: &mut Beads<T>,
    budget: &mut Budget,
) {
    let anchors = &mut string.anchors;
    place_anchors(span, nodes, anchors, false, false, budget);
    for k in 0..nodes.len() {
        let before = if k == 0 { span.from } else { anchors[k - 1].point };
        let after = anchors.get(k + 1).map_or(span.to, |anchor| anchor.point);
        let node = &mut nodes[k];
        let tangent = node.to_surface(&after) - node.to_surface(&before);
        let obstacle = span.obstacle(node);
        let point = obstacle.surface().retract(&node.to_surface(&anchors[k].point));
        let in_contact = obstacle.contact_hint().is_some() && !node.ignored;
        node.begin(Trial { point, tangent, length: T::zero() });
        node.in_contact = in_contact;
    }
}

/// The start of a node's geodesic, in the surface's frame.
fn geodesic_start<T: Real>(span: &SpanProblem<'_, T>, node: &Node<T>) -> GeodesicEnd<T> {
    let surface = span.surface(node);
    surface.end(&surface.retract(&node.trial.point), &node.trial.tangent)
}

/// The number of parts of a node's geodesic for which its beads stay on the surface: four to a radian.
fn parts_over<T: Real>(start: &GeodesicEnd<T>, node: &Node<T>) -> f64 {
    (node.trial.length * start.greatest_curvature()).to_f64() * 4.0
}

/// A shift across a geodesic, by an angle about the surface under it.
pub(crate) fn sideways<T: Real>(surface: &dyn Wrappable<T>, at: &GeodesicEnd<T>, angle: T) -> Vector3<T> {
    at.binormal() * (angle / at.greatest_curvature().max(T::lit(0.1) / surface.size()))
}

/// Beads along a node's geodesic.
fn lay_over<T: Real>(
    span: &SpanProblem<'_, T>,
    node: &Node<T>,
    k: usize,
    beads: &mut Vec<Bead<T>>,
    push: Option<(usize, T)>,
    budget: &mut Budget,
) {
    let surface = span.surface(node);
    let mut at = geodesic_start(span, node);
    let shift = match push {
        Some((pushed, angle)) if pushed == k => sideways(surface, &at, angle),
        _ => Vector3::zeros(),
    };
    let wanted = parts_over(&at, node);
    let (mut count, mut parts) = (4, 4.0);
    while parts < wanted && parts < MOST_PARTS {
        count += 1;
        parts += 1.0;
    }
    let reach = node.trial.length / T::lit(parts);
    for part in 0..=count {
        if part > 0 {
            if budget.is_spent() {
                break;
            }
            let geodesic = surface.geodesic(&at.point, &at.tangent, reach, T::lit(1e-6), usize::MAX);
            budget.spend(1 + geodesic.evaluations);
            at = geodesic.end;
        }
        let place = surface.retract(&(at.point + shift));
        beads.push(Bead { point: node.to_ground(&place), owners: [k; 2], touched: Some(node.obstacle) });
    }
}

/// A point above `p` on the surface from which the straight lines to `a` and `b` do not enter it, so that a
/// string laid through it has the whole obstacle on one side.
fn lifted<T: Real>(
    surface: &dyn Wrappable<T>,
    p: Point3<T>,
    a: &Point3<T>,
    b: &Point3<T>,
    budget: &mut Budget,
) -> Point3<T> {
    let normal = surface.gradient(&p).normalize();
    let mut clear = |from: &Point3<T>, to: &Point3<T>| {
        budget.spend(SEARCH);
        surface.closest_on_segment(from, to).height >= -surface.size() * T::lit(0.1)
    };
    [0.0, 0.05, 0.2, 0.5, 1.0, 2.0, 4.0]
        .into_iter()
        .map(|height| p + normal * (T::lit(height) * surface.size()))
        .find(|place| clear(a, place) && clear(place, b))
        .unwrap_or(p)
}

/// Beads between two anchors, supported by the obstacles at both, evenly spaced so that no chord jumps across a
/// feature of either.
fn leg<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    beads: &mut Vec<Bead<T>>,
    detail: usize,
    from: (Point3<T>, Option<usize>),
    to: (Point3<T>, Option<usize>),
) {
    let (Some(before), Some(after)) = (from.1.or(to.1), to.1.or(from.1)) else { return };
    let along = to.0 - from.0;
    let [before_size, after_size] = [before, after].map(|k| span.surface(&nodes[k]).size());
    let size = before_size.min(after_size);
    let needed = (along.norm() / size).to_f64() * 4.0;
    let mut count = 0_usize;
    let mut parts = 1.0;
    while count < 2 * detail || (parts < needed && count < 400) {
        count += 1;
        parts += 1.0;
    }
    let step = T::one() / T::lit(parts);
    let mut x = T::zero();
    for _ in 0..count {
        x += step;
        beads.push(Bead { point: from.0 + along * x, owners: [before, after], touched: None });
    }
}

/// Moves beads until they rest.
fn pull<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    beads: &mut [Bead<T>],
    detail: usize,
    budget: &mut Budget,
) {
    // The optimal over-relaxation of a chain; near two, pushing out would make it oscillate.
    let mut count = T::one();
    for _ in 0..beads.len() {
        count += T::one();
    }
    let eagerness = T::lit(2.0) / (T::one() + (T::pi() / count).sin());
    let eagerness = eagerness.min(T::lit(1.85));
    for _ in 0..100 * detail {
        if budget.is_spent() {
            break;
        }
        budget.spend(beads.len());
        let mut largest = T::zero();
        for i in 0..beads.len() {
            let before = if i == 0 { span.from } else { beads[i - 1].point };
            let after = beads.get(i + 1).map_or(span.to, |bead| bead.point);
            let Bead { point, owners, .. } = beads[i];
            let along = after - before;
            let place = (point - before).dot(&along) / along.norm_squared();
            // Neighbours must not change places.
            let place = place.max(T::lit(0.05)).min(T::lit(0.95));
            if !place.is_finite() {
                continue;
            }
            let size = owners.map(|k| span.surface(&nodes[k]).size());
            let size = size[0].min(size[1]);
            let mut step = (before + along * place - point) * eagerness;
            // So that a bead is pushed out on the side where it entered.
            let (reach, limit) = (step.norm(), size * T::lit(0.2));
            if reach > limit {
                step *= limit / reach;
            }
            let mut moved = point + step;
            let mut touched = None;
            let both = if owners[0] == owners[1] { &owners[..1] } else { &owners[..] };
            for &k in both {
                let (node, surface) = (&nodes[k], span.surface(&nodes[k]));
                let local = node.to_surface(&moved);
                if !node.ignored && surface.covers(&local) && surface.value(&local) < T::zero() {
                    moved = node.to_ground(&surface.retract(&local));
                    touched = Some(node.obstacle);
                }
            }
            largest = largest.max((moved - point).norm() / size);
            beads[i] = Bead { point: moved, owners, touched };
        }
        if largest < T::lit(1e-5) {
            break;
        }
    }
}

/// Reads the contacts of the string: one of each obstacle that is convex, and one for each part of the string that
/// touches any other.
fn read_off<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut Vec<Node<T>>, beads: &[Bead<T>]) {
    collapse(nodes);
    let mut k = 0;
    for (o, obstacle) in span.obstacles.iter().enumerate() {
        let touches = |bead: &Bead<T>| bead.touched == Some(o);
        let (first, last) = (beads.iter().position(touches), beads.iter().rposition(touches));
        let (Some(first), Some(last)) = (first, last) else {
            nodes[k].in_contact = false;
            k += 1;
            continue;
        };
        // A single bead that touches nothing is no bridge.
        let ends_at = |i: &usize| {
            touches(&beads[*i])
                && !beads.get(i + 1).is_some_and(touches)
                && !beads.get(i + 2).is_some_and(touches)
        };
        let count = (first..last).filter(ends_at).count() + 1;
        let is_one = obstacle.is_convex || count > obstacle.most_contacts;
        let mut from = first;
        for until in first..=last {
            if until < last && (is_one || !ends_at(&until)) {
                continue;
            }
            let trial = contact_between(span, &nodes[k], beads, from, until);
            if from == first {
                nodes[k].begin(trial);
            } else {
                insert(nodes, k, k + 1, trial);
                k += 1;
            }
            from = (until + 1..last).find(|&i| touches(&beads[i])).unwrap_or(last);
        }
        k += 1;
    }
}

/// The contact between two beads that touch.
fn contact_between<T: Real>(
    span: &SpanProblem<'_, T>,
    node: &Node<T>,
    beads: &[Bead<T>],
    first: usize,
    last: usize,
) -> Trial<T> {
    let length = beads[first..=last]
        .windows(2)
        .fold(T::zero(), |sum, pair| sum + (pair[1].point - pair[0].point).norm());
    let point = node.to_surface(&beads[first].point);
    let after = node.to_surface(&beads.get(first + 1).map_or(span.to, |bead| bead.point));
    let before = if first == 0 { span.from } else { beads[first - 1].point };
    let tangent = if last > first { after - point } else { after - node.to_surface(&before) };
    Trial { point, tangent, length }
}
