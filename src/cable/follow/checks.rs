//! Checks of a path that was found, and of the conditions under which one can be found.

use core::cmp::Ordering;

use nalgebra::{Point3, Vector3};

use crate::cable::{ACCURACY, Geodesic, Node, PathError, Settings, SpanProblem};
use crate::math::Real;

/// A place where a straight segment runs through an obstacle that it touches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Penetration<T: Real> {
    /// The node of the contact.
    pub(crate) node: usize,
    /// Whether the segment comes after it.
    pub(crate) is_after: bool,
    /// The depth, to first order \[m\].
    pub(crate) depth: T,
    /// Whether the depth is more than the kink accounts for.
    pub(crate) is_certain: bool,
    /// The deepest point, in the surface's frame.
    pub(crate) point: Point3<T>,
    /// From the contact to the other end of the segment, in the surface's frame.
    pub(crate) along: Vector3<T>,
}

/// Finds the straight segment that runs deepest into an obstacle that it touches. Segments that touch none were
/// tested when contacts were determined.
pub(crate) fn penetrated<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    kink: T,
) -> Option<Penetration<T>> {
    if span.acting().all(|obstacle| obstacle.is_convex) {
        return None;
    }
    // Even if a large kink is allowed, a contact must not begin at the corresponding depth, with a jump.
    let least = span.settings.smoothness.min(Settings::default().smoothness);
    let mut found: Option<Penetration<T>> = None;
    let mut test = |k: usize, is_after: bool, touch_G: &Point3<T>, to_G: &Point3<T>, is_held: bool| {
        let (node, surface) = (&nodes[k], span.surface(&nodes[k]));
        if is_held || span.obstacle(node).is_convex {
            return;
        }
        let (touch, to) = (node.to_surface(touch_G), node.to_surface(to_G));
        if !surface.may_reenter(&touch, &to) {
            return;
        }
        let (point, height) = surface.closest_on_segment(&touch, &to);
        let depth = -height * node.scale;
        // The segment leaves with a kink, from a point that the last correction moved along the tangent, and
        // coordinates in Ground are rounded.
        let roundoff = T::default_epsilon() * (touch_G.coords.amax() + to_G.coords.amax() + node.reach());
        let reach = (T::lit(2.0) * (to - touch).norm() + surface.size()) * node.scale;
        let allowed = |kink: T| kink * reach + roundoff * T::lit(64.0);
        if depth > allowed(least) && found.is_none_or(|other| depth > other.depth) {
            let is_certain = depth > allowed(kink.max(least));
            found = Some(Penetration { node: k, is_after, depth, is_certain, point, along: to - touch });
        }
    };
    let mut before: Option<usize> = None;
    let mut from = span.from;
    for (k, node) in nodes.iter().enumerate().filter(|(_, node)| node.in_contact) {
        let Geodesic { start, end, .. } = &node.ground;
        if let Some(before) = before {
            test(before, true, &from, &start.point, false);
        }
        test(k, false, &start.point, &from, node.holds[0] && before.is_none());
        from = end.point;
        before = Some(k);
    }
    if let Some(before) = before {
        test(before, true, &from, &span.to, nodes[before].holds[1]);
    }
    found
}

/// Refuses neighbours that overlap where the cable passes from one to the next: there is no straight segment
/// between them. Called only if no path was found.
pub(crate) fn check_neighbours<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
) -> Result<(), PathError> {
    let mut before: Option<usize> = None;
    for k in 0..nodes.len() {
        if !nodes[k].in_contact {
            continue;
        }
        nodes[k].evaluate(span, T::lit(ACCURACY));
        if let Some(before) = before.filter(|&before| nodes[before].obstacle != nodes[k].obstacle) {
            let within = |other: usize, p_G: &Point3<T>| {
                let (surface, p) = (span.surface(&nodes[other]), nodes[other].to_surface(p_G));
                surface.covers(&p) && surface.height(&p) < T::zero()
            };
            let (leaving, arriving) = (nodes[before].ground.end.point, nodes[k].ground.start.point);
            if within(k, &leaving) || within(before, &arriving) {
                return Err(PathError::ObstaclesOverlap {
                    first: nodes[before].obstacle,
                    second: nodes[k].obstacle,
                });
            }
        }
        before = Some(k);
    }
    Ok(())
}

/// Marks the obstacles to be ignored. Refuses a fixed point inside the first or the last other one, wherever the path may
/// run, and notes whether one lies on its surface.
pub(crate) fn check_neighbouring_ends<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
) -> Result<(), PathError> {
    for k in 0..nodes.len() {
        let contains = |p| place(span, nodes, k, p) == Ordering::Less;
        nodes[k].ignored =
            span.obstacle(&nodes[k]).admits_ends && (contains(&span.from) || contains(&span.to));
        // Another may have been the first or the last, at another part of the motion.
        nodes[k].on_surface = [false; 2];
    }
    let first = nodes.iter().position(|node| !node.ignored);
    let last = nodes.iter().rposition(|node| !node.ignored);
    for (end, k, p) in [(0, first, &span.from), (1, last, &span.to)] {
        let Some(k) = k else { continue };
        match place(span, nodes, k, p) {
            Ordering::Less => return Err(PathError::PointInsideObstacle { obstacle: nodes[k].obstacle }),
            place => nodes[k].on_surface[end] = place == Ordering::Equal,
        }
    }
    Ok(())
}

/// Refuses a fixed point inside an obstacle that the segment next to it passes or touches.
pub(crate) fn check_ends<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> Result<(), PathError> {
    let first = nodes.iter().position(|node| node.in_contact).map_or(nodes.len(), |k| k + 1);
    let last = nodes.iter().rposition(|node| node.in_contact).unwrap_or(0);
    let contains =
        |k: &usize, p: &Point3<T>| !nodes[*k].ignored && place(span, nodes, *k, p) == Ordering::Less;
    // The outermost have been tested before.
    let by_from = (1..first).find(|k| contains(k, &span.from));
    let by_to = || (last..nodes.len() - 1).find(|k| contains(k, &span.to));
    match by_from.or_else(by_to) {
        Some(k) => Err(PathError::PointInsideObstacle { obstacle: nodes[k].obstacle }),
        None => Ok(()),
    }
}

/// Whether a fixed point lies above, on or below the surface of an obstacle: on it to a billionth of its size, and as far as
/// places in Ground are rounded.
#[inline]
fn place<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], k: usize, p_G: &Point3<T>) -> Ordering {
    let surface = span.surface(&nodes[k]);
    let p = nodes[k].to_surface(p_G);
    let rounding = (p_G.coords.amax() + nodes[k].reach()) * T::default_epsilon() * T::lit(4.0);
    let thickness =
        T::lit(1e-9).max(T::default_epsilon() * T::lit(16.0)) * surface.size() + nodes[k].to_scale(rounding);
    let value = surface.value(&p);
    // The slope costs more than the value, and most points are far outside.
    if !surface.covers(&p) || value > T::zero() && surface.height(&p) > thickness {
        Ordering::Greater
    } else if surface.height(&p) < -thickness {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}
