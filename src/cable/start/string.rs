//! A string of beads pulled tight: a search for a path that does not depend on a good start.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::cable::solve::contacts::{collapse, insert};
use crate::cable::{Node, SpanProblem, Trial};
use crate::math::Real;

/// The smallest and the largest number of parts from one obstacle to the next.
const PARTS: [f64; 2] = [17.0, 401.0];

/// The largest number of rounds in which all beads are moved, six times by the size of an obstacle. A string that is
/// nearly tight after them suffices for the descent that follows.
const ROUNDS: usize = 30;

/// The largest move of a bead in one round, over the size of the smaller obstacle beside it. It is so small that the bead
/// is pushed out on the side where it entered.
const LONGEST: f64 = 0.2;

/// One bead of the string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bead<T: Real> {
    point: Point3<T>,
    /// The nodes before and after it, whose obstacles support it.
    owners: [usize; 2],
    /// The obstacle that it touches.
    touched: Option<usize>,
}

impl<T: Real> Bead<T> {
    /// A bead at a point, or on the surfaces of its owners' obstacles if the point is inside them.
    fn pushed_out(
        span: &SpanProblem<'_, T>,
        nodes: &[Node<T>],
        mut point: Point3<T>,
        owners: [usize; 2],
    ) -> Self {
        span.budget.spend(1);
        let mut touched = None;
        let both = if owners[0] == owners[1] { &owners[..1] } else { &owners[..] };
        for &k in both {
            let (node, surface) = (&nodes[k], span.surface(&nodes[k]));
            let local = node.to_surface(&point);
            if !node.ignored && surface.covers(&local) && surface.value(&local) < T::zero() {
                point = node.to_ground(&surface.retract(&local));
                touched = Some(node.obstacle);
            }
        }
        Self { point, owners, touched }
    }
}

/// Lays a string through the hints, or straight, pulls it tight, and stores its contacts in the nodes, with their
/// points and lengths. `beads` and `anchors` are buffers.
///
/// Each bead moves towards a line between others and is pushed out of its obstacles. The string settles near a shortest
/// path, and near a longest one only if it is laid on it exactly.
pub(crate) fn tighten<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    (beads, anchors): (&mut Vec<Bead<T>>, &mut Vec<Point3<T>>),
) {
    place_anchors(span, nodes, anchors);
    beads.clear();
    let mut from = (span.from, None);
    for (k, &anchor) in anchors.iter().enumerate() {
        let to = (anchor, Some(k));
        leg(span, nodes, beads, from, to);
        beads.push(Bead { point: anchor, owners: [k; 2], touched: None });
        from = to;
    }
    leg(span, nodes, beads, from, (span.to, None));
    pull(span, nodes, beads);
    read_off(span, nodes, beads);
}

/// Finds the point in Ground at which the string passes each obstacle: the hint, the deepest point of the straight line,
/// or a point along it.
fn place_anchors<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], anchors: &mut Vec<Point3<T>>) {
    let hint = |node: &Node<T>| span.obstacle(node).place_of_hint().filter(|_| !node.ignored);
    anchors.clear();
    for (k, node) in nodes.iter().enumerate() {
        let surface = span.surface(node);
        if let Some(point) = hint(node) {
            anchors.push(node.to_ground(&point));
            continue;
        }
        let from = anchors.last().copied().unwrap_or(span.from);
        let hint_ahead = |node: &Node<T>| hint(node).map(|point| node.to_ground(&point));
        let ahead = nodes[k + 1..].iter().find_map(hint_ahead).unwrap_or(span.to);
        let (lowest, height) = surface.closest_on_segment(&node.to_surface(&from), &node.to_surface(&ahead));
        let sinks = height < T::zero() && !node.ignored;
        let point = if sinks { surface.retract(&lowest) } else { lowest };
        anchors.push(node.to_ground(&point));
    }
}

/// Lays the cable over the hints without length.
pub(crate) fn begin_at_hints<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    anchors: &mut Vec<Point3<T>>,
) {
    place_anchors(span, nodes, anchors);
    for k in 0..nodes.len() {
        let before = if k == 0 { span.from } else { anchors[k - 1] };
        let after = anchors.get(k + 1).copied().unwrap_or(span.to);
        let node = &mut nodes[k];
        let tangent = node.to_surface(&after) - node.to_surface(&before);
        let obstacle = span.obstacle(node);
        let point = obstacle.surface().retract(&node.to_surface(&anchors[k]));
        let in_contact = obstacle.contact_hint().is_some() && !node.ignored;
        node.begin(Trial { point, tangent, length: T::zero() });
        node.in_contact = in_contact;
    }
}

/// Beads between two anchors, supported by the obstacles at both and projected out of them. Their spacing is small
/// compared with the size of either obstacle, and smaller where neighbouring projections diverge, as on the two sides
/// of a core.
fn leg<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    beads: &mut Vec<Bead<T>>,
    from: (Point3<T>, Option<usize>),
    to: (Point3<T>, Option<usize>),
) {
    let (Some(before), Some(after)) = (from.1.or(to.1), to.1.or(from.1)) else { return };
    let along = to.0 - from.0;
    let size = smaller(span, nodes, [before, after]);
    let needed = (along.norm() / size).to_f64() * 4.0;
    let [least, most] = PARTS;
    let longest = T::one() / T::lit(needed.max(least).min(most));
    let shortest = longest * T::lit(1e-3);
    let (mut x, mut step) = (T::zero(), longest);
    let mut last = from.0;
    loop {
        let next = x + step;
        let is_last = next > T::one() - shortest;
        let place = if is_last { to.0 } else { from.0 + along * next };
        let bead = Bead::pushed_out(span, nodes, place, [before, after]);
        let is_apart = (bead.point - last).norm() > T::lit(0.5) * size + along.norm() * step;
        if is_apart && step > shortest && !span.budget.is_spent() {
            step *= T::lit(0.5);
            continue;
        }
        if is_last {
            break;
        }
        (x, last) = (next, bead.point);
        step = (step + step).min(longest);
        beads.push(bead);
    }
}

/// The smaller size of two obstacles.
fn smaller<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], owners: [usize; 2]) -> T {
    let [before, after] = owners.map(|k| span.size(&nodes[k]));
    before.min(after)
}

/// Moves beads until they nearly rest: each stretch that touches nothing moves towards a straight line, and beads that
/// touch move towards the line between their neighbours.
fn pull<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], beads: &mut [Bead<T>]) {
    // Places along the string are numbered from one; the ends, which are fixed, come before and after.
    let end = beads.len() + 1;
    let at = |beads: &[Bead<T>], place: usize| match place {
        0 => span.from,
        _ => beads.get(place - 1).map_or(span.to, |bead| bead.point),
    };
    for _ in 0..ROUNDS {
        if span.budget.is_spent() {
            break;
        }
        let mut largest = T::zero();
        // The fixed or touching places around the present one.
        let mut stretch = [0; 2];
        for place in 1..end {
            let Bead { point, owners, touched } = beads[place - 1];
            let target = if touched.is_some() {
                stretch[0] = place;
                let (before, after) = (at(beads, place - 1), at(beads, place + 1));
                let along = after - before;
                let part = (point - before).dot(&along) / along.norm_squared();
                // Neighbours must not change places.
                before + along * part.max(T::lit(0.05)).min(T::lit(0.95))
            } else {
                if stretch[1] <= place {
                    let touches = |place: &usize| beads[place - 1].touched.is_some();
                    stretch[1] = (place + 1..end).find(touches).unwrap_or(end);
                }
                let [from, to] = stretch;
                let [part, whole] =
                    [place - from, to - from].map(|parts| u32::try_from(parts).unwrap_or(u32::MAX));
                let share = T::lit(f64::from(part) / f64::from(whole));
                at(beads, from) + (at(beads, to) - at(beads, from)) * share
            };
            let size = smaller(span, nodes, owners);
            let mut step = target - point;
            let (reach, longest) = (step.norm(), size * T::lit(LONGEST));
            if !reach.is_finite() {
                continue;
            }
            if reach > longest {
                step *= longest / reach;
            }
            let bead = Bead::pushed_out(span, nodes, point + step, owners);
            largest = largest.max((bead.point - point).norm() / size);
            beads[place - 1] = bead;
        }
        if largest < T::lit(1e-3) {
            break;
        }
    }
}

/// Reads the contacts of the string: one of each obstacle that is convex, and one for each part of the string that
/// touches any other.
fn read_off<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut Vec<Node<T>>, beads: &[Bead<T>]) {
    collapse(nodes);
    let mut k = 0;
    for &o in span.acting {
        let obstacle = &span.obstacles[o];
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
    Trial { point, tangent, length: node.to_scale(length) }
}
