//! A string of beads pulled tight: a slow search for a path that needs no good start.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::solve::contacts::{collapse, insert};
use crate::cable::solve::node::{Node, Trial};
use crate::cable::solve::run::{Budget, SEARCH};
use crate::cable::solve::span::SpanProblem;
use crate::math::Real;

/// Half the least number of beads from one obstacle to the next.
const DETAIL: usize = 8;

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

/// Lays a string through the hints, or straight, pulls it tight, and stores in the nodes its contacts, their points and
/// lengths.
///
/// Each bead moves towards the line between its neighbours and is pushed out of its obstacles: the
/// string settles near a shortest path, and near a longest only if it is laid on one exactly.
pub(crate) fn tighten<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    string: &mut Beads<T>,
    budget: &mut Budget,
) {
    place_anchors(span, nodes, &mut string.anchors, budget);
    lift_anchors(span, nodes, &mut string.anchors, budget);
    let Beads { beads, anchors } = string;
    beads.clear();
    let mut from = (span.from, None);
    for (k, anchor) in anchors.iter().enumerate() {
        let to = (anchor.point, Some(k));
        leg(span, nodes, beads, from, to);
        beads.push(Bead { point: anchor.point, owners: [k; 2], touched: None });
        from = to;
    }
    leg(span, nodes, beads, from, (span.to, None));
    pull(span, nodes, beads, budget);
    read_off(span, nodes, beads);
}

/// Finds the anchor at each obstacle: the hint, the deepest point of the straight line, or a point along it.
fn place_anchors<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    anchors: &mut Vec<Anchor<T>>,
    budget: &mut Budget,
) {
    let hint = |node: &Node<T>| span.obstacle(node).place_of_hint().filter(|_| !node.ignored);
    anchors.clear();
    for (k, node) in nodes.iter().enumerate() {
        let surface = span.surface(node);
        if let Some(point) = hint(node) {
            let is_clear = surface.value(&point) > T::zero();
            anchors.push(Anchor { point: node.to_ground(&point), foot: (!is_clear).then_some(point) });
            continue;
        }
        let from = anchors.last().map_or(span.from, |anchor| anchor.point);
        let hint_ahead = |node: &Node<T>| hint(node).map(|point| node.to_ground(&point));
        let ahead = nodes[k + 1..].iter().find_map(hint_ahead).unwrap_or(span.to);
        let approach = surface.closest_on_segment(&node.to_surface(&from), &node.to_surface(&ahead));
        budget.spend(SEARCH);
        anchors.push(if approach.height < T::zero() && !node.ignored {
            let foot = surface.retract(&approach.point);
            Anchor { point: node.to_ground(&foot), foot: Some(foot) }
        } else {
            Anchor { point: node.to_ground(&approach.point), foot: None }
        });
    }
}

/// Lifts anchors off their feet, until the string has each obstacle on one side.
fn lift_anchors<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    anchors: &mut [Anchor<T>],
    budget: &mut Budget,
) {
    // Lifting one changes the lines to its neighbours.
    for _ in 0..3 {
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
    place_anchors(span, nodes, anchors, budget);
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
    while count < 2 * DETAIL || (parts < needed && count < 400) {
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
fn pull<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], beads: &mut [Bead<T>], budget: &mut Budget) {
    // The optimal over-relaxation of a chain; near two, pushing out would make it oscillate.
    let mut count = T::one();
    for _ in 0..beads.len() {
        count += T::one();
    }
    let eagerness = T::lit(2.0) / (T::one() + (T::pi() / count).sin());
    let eagerness = eagerness.min(T::lit(1.85));
    for _ in 0..100 * DETAIL {
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
