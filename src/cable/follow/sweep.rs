//! Obstacles that a straight segment has jumped over, or entered, within one step.

use nalgebra::{Point3, Vector3};

use crate::cable::model::places::Wrap;
use crate::cable::solve::node::{Metered, Node, SpanProblem, Trial, side};
use crate::math::Real;

/// Places the cable on the first obstacle through which the straight segment beside it, free before and after, passed
/// on the way from its remembered place, if its ends moved along straight lines. Free nodes hold the segments that pass
/// them.
///
/// Passages wider than a quarter of the obstacle's size are found. Over less the cable would have slipped off.
pub(crate) fn touch_jumped<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) -> Option<usize> {
    for (k, node) in nodes.iter_mut().enumerate() {
        let Some(wrap) = span.wraps.get(node.obstacle) else { continue };
        // A segment from a point on the surface only seems to pass through it.
        if node.in_contact || node.ignored || node.on_surface != [false; 2] {
            continue;
        }
        let surface = span.surface(node);
        let here = (node.trial.point, node.trial.tangent);
        let Some(before) = wrap.passing().or_else(|| touching(surface, wrap, here)) else { continue };
        let Some((met, tangent)) = meets(surface, before, here) else { continue };
        let point = side(Some(wrap), surface, surface.retract(&met));
        node.begin(Trial { point, tangent, length: T::zero() });
        return Some(k);
    }
    None
}

/// The point where the cable is placed on an obstacle through which a straight segment runs: where the segment entered
/// it on the way from its remembered place; otherwise at `deepest`.
pub(crate) fn entry<T: Real>(
    span: &SpanProblem<'_, T>,
    node: &Node<T>,
    here: (Point3<T>, Vector3<T>),
    deepest: &Point3<T>,
) -> Point3<T> {
    let (surface, wrap) = (span.surface(node), span.wraps.get(node.obstacle));
    let met = wrap.and_then(Wrap::passing).and_then(|before| meets(surface, before, here));
    side(wrap, surface, surface.retract(&met.map_or(*deepest, |(met, _)| met)))
}

/// The tangent at the middle of a remembered contact, as long as a segment: the place of the cable when it left.
fn touching<T: Real>(
    surface: Metered<'_, T>,
    wrap: &Wrap<T>,
    (from, along): (Point3<T>, Vector3<T>),
) -> Option<(Point3<T>, Vector3<T>)> {
    if !wrap.in_contact {
        return None;
    }
    let half = wrap.length * T::lit(0.5);
    let middle = surface.follow(&wrap.point, &wrap.tangent, half);
    let (p, t) = (middle.point, middle.tangent);
    let reach = [(p - from).norm(), (p - (from + along)).norm()];
    Some((p - t * reach[0], t * (reach[0] + reach[1])))
}

/// Whether a straight segment beside a contact on an obstacle that was jumped over passed through the obstacle
/// elsewhere on the way, so that there is another contact.
pub(crate) fn jumped_further<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> bool {
    nodes.iter().enumerate().any(|(k, node)| {
        let Some(wrap) = span.wraps.get(node.obstacle) else { return false };
        let (Some((a, along)), true) = (wrap.passing(), node.in_contact && node.jumped) else {
            return false;
        };
        let before = nodes[..k].iter().rev().find(|node| node.in_contact);
        let after = nodes[k + 1..].iter().find(|node| node.in_contact);
        let from = node.to_surface(&before.map_or(span.from, |node| node.ground.end.point));
        let to = node.to_surface(&after.map_or(span.to, |node| node.ground.start.point));
        let [start, end] = [&node.ground.start, &node.ground.end].map(|end| node.to_surface(&end.point));
        // The place of the contact on the remembered segment.
        let (arriving, leaving) = (start - from, to - end);
        let u = arriving.norm() / (arriving.norm() + leaving.norm());
        let surface = span.surface(node);
        !span.obstacle(node).is_convex
            && (meets(surface, (a, along * u), (from, arriving)).is_some()
                || meets(surface, (a + along * u, along * (T::one() - u)), (end, leaving)).is_some())
    })
}

/// Where a straight segment first passes through a solid on the way from one place to another, if its ends move along
/// straight lines: the deepest point, and the segment.
fn meets<T: Real>(
    surface: Metered<'_, T>,
    (before, along): (Point3<T>, Vector3<T>),
    (here, tangent): (Point3<T>, Vector3<T>),
) -> Option<(Point3<T>, Vector3<T>)> {
    const MOST_PLACES: u32 = 256;
    let (start, end) = (here - before, here + tangent - before - along);
    let motion = start.norm().max(end.norm());
    let step = T::lit(0.25) * surface.size();
    if motion <= step {
        return None;
    }
    let wanted = (motion / step).to_f64();
    let (mut count, mut x) = (1_u32, 1.0);
    while count < MOST_PLACES && x < wanted {
        (count, x) = (2 * count, 2.0 * x);
    }
    (1..count).take_while(|_| !surface.budget.is_spent()).find_map(|i| {
        let part = T::lit(f64::from(i)) / T::lit(f64::from(count));
        let (a, tangent) = (before + start * part, along + (end - start) * part);
        let (point, height) = surface.closest_on_segment(&a, &(a + tangent));
        let is_inside = height < -T::negligible() * T::lit(8.0) * surface.size();
        is_inside.then_some((point, tangent))
    })
}
