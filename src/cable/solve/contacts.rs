//! The list of a span's nodes, one for each obstacle that is passed freely and one for each contact; and the placing of a
//! cable on a surface.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::solve::hollow;
use crate::cable::solve::node::touching;
use crate::cable::{ACCURACY, GeodesicEnd, Metered, Node, SpanProblem, Trial, Wrap, empty};
use crate::math::Real;

/// The contacts with an obstacle.
pub(crate) fn contacts_of<T: Real>(nodes: &[Node<T>], obstacle: usize) -> impl Iterator<Item = &Node<T>> {
    touching(nodes).filter(move |node| node.obstacle == obstacle)
}

/// Copies a list into another, which gets the same capacity.
pub(crate) fn copy<T: Real>(from: &Vec<Node<T>>, to: &mut Vec<Node<T>>) {
    empty(to, from.capacity());
    to.extend_from_slice(from);
}

/// Leaves one node of each obstacle.
pub(crate) fn collapse<T: Real>(nodes: &mut Vec<Node<T>>) {
    nodes.dedup_by_key(|node| node.obstacle);
}

/// Removes the free nodes of obstacles that are touched elsewhere.
pub(crate) fn prune<T: Real>(nodes: &mut Vec<Node<T>>) {
    nodes.dedup_by(|next, node| {
        let is_removed = next.obstacle == node.obstacle && !(next.in_contact && node.in_contact);
        if is_removed && !node.in_contact {
            core::mem::swap(next, node);
        }
        is_removed
    });
}

/// Arranges the list like another, with one node for each of its nodes.
pub(crate) fn arrange_like<T: Real, U: Real>(nodes: &mut Vec<Node<T>>, others: &[Node<U>]) {
    collapse(nodes);
    for (i, other) in others.iter().enumerate() {
        if nodes.get(i).is_none_or(|node| node.obstacle != other.obstacle) {
            let Some(node) = i.checked_sub(1).and_then(|before| nodes.get(before)).cloned() else { return };
            nodes.insert(i, node);
        }
    }
}

/// Writes the memory into the nodes. Nodes without memory are free, or in contact at their hint.
pub(crate) fn recall<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut Vec<Node<T>>) {
    collapse(nodes);
    let trial = |wrap: &Wrap<T>| Trial { point: wrap.point, tangent: wrap.tangent, length: wrap.length };
    let mut further = &*span.memory.further_wraps;
    let mut k = 0;
    for (i, (obstacle, wrap)) in span.obstacles.iter().zip(&span.memory.wraps).enumerate() {
        let (own, rest) = further.split_at((obstacle.most_contacts - 1).min(further.len()));
        further = rest;
        let Some(node) = nodes.get_mut(k).filter(|node| node.obstacle == i) else { continue };
        node.begin(trial(wrap));
        node.in_contact = wrap.in_contact && !node.ignored;
        if !wrap.known {
            touch_hint(span, node);
        } else if node.in_contact {
            for wrap in own.iter().filter(|wrap| wrap.in_contact) {
                insert(nodes, k, k + 1, trial(wrap));
                k += 1;
            }
        }
        k += 1;
    }
}

/// Lays the cable on the hint of an obstacle, if it has one.
#[cold]
fn touch_hint<T: Real>(span: &SpanProblem<'_, T>, node: &mut Node<T>) {
    let Some(hint) = span.obstacle(node).place_of_hint() else { return };
    node.begin(Trial {
        point: span.surface(node).retract(&hint),
        tangent: node.to_surface(&span.to) - node.to_surface(&span.from),
        length: T::zero(),
    });
    node.in_contact = !node.ignored;
}

/// Inserts a further contact with the obstacle of a node, at this place of the list.
pub(crate) fn insert<T: Real>(nodes: &mut Vec<Node<T>>, of: usize, at: usize, trial: Trial<T>) {
    let mut node = nodes[of].clone();
    node.released = false;
    node.begin(trial);
    nodes.insert(at, node);
    // Between two contacts of one obstacle, neither begins or ends at a fixed point, even after the other is released.
    for place in at.max(1)..(at + 2).min(nodes.len()) {
        if nodes[place - 1].obstacle == nodes[place].obstacle {
            nodes[place - 1].holds[1] = false;
            nodes[place].holds[0] = false;
        }
    }
}

/// Whether the cable lifts off from the fixed point before or after a contact, to touch the surface at a point farther
/// along.
#[cold]
pub(crate) fn lifts<T: Real>(span: &SpanProblem<'_, T>, node: &Node<T>, end: usize, to: &Point3<T>) -> bool {
    // For a contact that began at the fixed point or slightly above it one step ago, the point is not above the tangent
    // plane there, to the accuracy with which it is on the surface.
    const STEEP: f64 = 1e-5;
    if !node.on_surface[end] || span.obstacle(node).is_convex {
        return false;
    }
    let surface = span.surface(node);
    let fixed = node.to_surface([&span.from, &span.to][end]);
    let off = to - fixed;
    let rise = off.dot(&surface.gradient(&fixed).normalize());
    off.norm() > T::lit(1e-3) * surface.size() && rise > T::lit(STEEP) * off.norm()
}

/// Records where the cable lifts off from a fixed point on a surface, to a contact elsewhere on it.
#[cold]
pub(crate) fn lift<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) {
    let first = nodes.iter().position(|node| node.in_contact);
    let last = nodes.iter().rposition(|node| node.in_contact);
    for (end, k) in [(0, first), (1, last)] {
        let Some(node) = k.map(|k| &mut nodes[k]) else { continue };
        if !node.holds[end] || span.obstacle(node).is_convex {
            continue;
        }
        let touched = if end == 0 {
            node.trial.point
        } else {
            node.evaluate(span, T::lit(ACCURACY));
            node.to_surface(&node.ground.end.point)
        };
        node.holds[end] = !lifts(span, node, end, &touched);
    }
}

/// Whether the obstacle of a node has no room for a further contact.
pub(crate) fn is_full<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], of: usize) -> bool {
    let obstacle = nodes[of].obstacle;
    let count = nodes.iter().filter(|node| node.obstacle == obstacle).count();
    count >= span.obstacles[obstacle].most_contacts
}

/// The first of two neighbouring contacts with one obstacle that have become one: the short bridge between them runs
/// backwards, or over no hollow.
#[inline]
pub(crate) fn closed<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> Option<usize> {
    nodes.windows(2).position(|pair| {
        let [node, next] = [&pair[0], &pair[1]];
        if node.obstacle != next.obstacle {
            return false;
        }
        let (end, start, surface) = (&node.ground.end, &next.ground.start, span.surface(node));
        let bridge = start.point - end.point;
        let (reach, ahead) = (bridge.norm(), bridge.dot(&end.tangent));
        if ahead <= T::zero() {
            return reach < span.size(node);
        }
        // A hollow is lowest near the middle of a bridge shorter than the smallest feature.
        reach < T::lit(0.25) * span.size(node) && {
            let middle = surface.retract(&node.to_surface(&(end.point + bridge * T::lit(0.5))));
            surface.end(&middle, &node.X_GS.rotation.inverse_transform_vector(&bridge)).curvature >= T::zero()
        }
    })
}

/// Merges the contacts of a node and the next one, which are with the same obstacle.
pub(crate) fn merge<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut Vec<Node<T>>, k: usize) {
    let next = nodes.remove(k + 1);
    let node = &mut nodes[k];
    node.evaluate(span, T::lit(ACCURACY));
    let end = node.end_to_surface(&node.ground.end);
    let bridge = (next.trial.point - end.point).dot(&end.tangent);
    let length = (node.trial.length + bridge + next.trial.length).max(T::zero());
    let holds = [node.holds[0], next.holds[1]];
    node.begin(Trial { length, ..node.trial });
    node.holds = holds;
}

/// Lifts the cable off a hollow within a contact: the contact is split, or shortened if it ends in the hollow. Returns
/// its node, or the first of both. The error is a node whose obstacle has a hollow but no memory for a further contact,
/// or a node that leaves its patch, which is recorded.
pub(crate) fn bridge_hollows<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
) -> Result<Option<usize>, usize> {
    for k in 0..nodes.len() {
        let node = &nodes[k];
        if !node.in_contact || span.obstacle(node).is_convex || node.ground.length <= T::zero() {
            continue;
        }
        let surface = span.surface(node);
        let [start, end] = [&node.ground.start, &node.ground.end].map(|end| node.end_to_surface(end));
        let length = node.to_scale(node.ground.length);
        let [first, last] = match hollow::find(surface, &start, &end, length) {
            Ok(Some(hollow)) => hollow,
            Ok(None) => continue,
            Err(p) => {
                nodes[k].off_patch = Some(p);
                return Err(k);
            }
        };
        // The points of a common tangent, if the curvature is a parabola.
        let beyond = (last - first) * T::lit(0.366);
        let (leaves, arrives) = (first - beyond, last + beyond);
        let from_start = first <= T::zero();
        let to_end = last >= length;
        // A contact that is hollow throughout is detected by the test of the straight segments beside it.
        if from_start && to_end {
            continue;
        }
        if !from_start && !to_end && is_full(span, nodes, k) {
            return Err(k);
        }
        let holds = [node.holds[0] && !from_start, node.holds[1] && !to_end];
        let arriving = || {
            let arrives = arrives.min(length);
            let end = surface.follow(&start.point, &start.tangent, arrives);
            Trial { point: end.point, tangent: end.tangent, length: length - arrives }
        };
        let leaving = Trial { point: start.point, tangent: start.tangent, length: leaves.max(T::zero()) };
        let (first, second) =
            if from_start { (arriving(), None) } else { (leaving, (!to_end).then(arriving)) };
        nodes[k].begin(first);
        let mut last = k;
        if let Some(arriving) = second {
            last += 1;
            insert(nodes, k, last, arriving);
        }
        (nodes[k].holds[0], nodes[last].holds[1]) = (holds[0], holds[1]);
        return Ok(Some(k));
    }
    Ok(None)
}

/// The points from which the cable comes to the obstacle of a node and to which it continues, in the surface's frame.
pub(crate) fn neighbours<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    of: &Node<T>,
) -> [Point3<T>; 2] {
    let before = touching(nodes).rfind(|node| node.obstacle < of.obstacle);
    let after = touching(nodes).find(|node| node.obstacle > of.obstacle);
    let from = before.map_or(span.from, |node| node.ground.end.point);
    let to = after.map_or(span.to, |node| node.ground.start.point);
    [from, to].map(|p| of.to_surface(&p))
}

/// The length of a span that has been solved.
pub(crate) fn length_of<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> T {
    let mut from = span.from;
    let mut length = T::zero();
    for node in touching(nodes) {
        length += (node.ground.start.point - from).norm() + node.ground.length;
        from = node.ground.end.point;
    }
    length + (span.to - from).norm()
}

/// The turn of a step by which an end of a contact is moved \[rad\]; the largest number of steps, which is that of two
/// turns; and the turn of the last step. After it Newton's method, which leaves about four times the square of a kink,
/// converges in three steps.
const STEP: f64 = 0.2;
const MOST_STEPS: usize = 64;
const LAST_STEP: f64 = 0.004;

/// A contact whose ends are moved along its geodesic: outwards until `before` and `after` are above its tangent planes,
/// or inwards while they are. From a point where they are hidden the chords would run backwards.
///
/// The ends move in steps of equal turn, or over flat parts to their ends. The last step is halved until it hardly turns,
/// since an end must be where the surface is curved.
pub(crate) fn lay_along<T: Real>(
    surface: Metered<'_, T>,
    contact: &Trial<T>,
    before: &Point3<T>,
    after: &Point3<T>,
) -> Trial<T> {
    let Trial { point, tangent, length } = contact;
    let shortest = T::lit(STEP) * surface.size();
    let extend = |to: &Point3<T>, from: T, outwards: T| {
        let is_hidden = |end: &GeodesicEnd<T>| (to - end.point).dot(&end.normal) < T::zero();
        let is_ahead = |end: &GeodesicEnd<T>| (to - end.point).dot(&end.tangent) * outwards > T::zero();
        let first = surface.follow(point, tangent, from);
        let was_hidden = is_hidden(&first);
        let sense = if was_hidden { outwards } else { -outwards };
        let (mut reach, mut end, mut longest) = (T::zero(), first, T::lit(1e30));
        for _ in 0..MOST_STEPS {
            let curved = T::lit(STEP) / end.greatest_curvature();
            let flat = if curved > shortest {
                surface.smooth_reach(&end.point, &(end.tangent * sense), &Vector3::zeros())
            } else {
                T::zero()
            };
            let left = if was_hidden { longest } else { longest.min(*length - reach) };
            // A flat part may have no end; beyond the point the cable does not run on it.
            let far = (to - end.point).norm() + surface.size();
            let step = curved.min(flat.max(shortest)).min(far).min(left);
            // A step that is NaN does not advance.
            let advances = step > T::zero();
            if !advances {
                return (from, first);
            }
            let next = surface.follow(&end.point, &end.tangent, sense * step);
            let is_beyond = is_hidden(&next) != was_hidden;
            // A point close to the surface is hidden again within a step.
            let is_passed = was_hidden && !is_beyond && is_ahead(&end) && !is_ahead(&next);
            let sharpest = end.greatest_curvature().max(next.greatest_curvature());
            if is_passed || is_beyond && step * sharpest < T::lit(LAST_STEP) {
                return (from + sense * (reach + step), next);
            } else if is_beyond {
                longest = T::lit(0.5) * step;
            } else {
                (reach, end) = (reach + step, next);
            }
        }
        (from + sense * reach, end)
    };
    let (back, start) = extend(before, T::zero(), -T::one());
    let (ahead, _) = extend(after, *length, T::one());
    Trial { point: start.point, tangent: start.tangent, length: ahead - back }
}
