//! Obstacles that a straight segment has jumped over within one step.

use super::node::{Node, Trial};
use super::span::{Budget, SEARCH, SpanProblem, side};
use crate::math::Real;

/// Lays the cable on the first obstacle that the straight segment beside it, free before and after, passed through on
/// the way from its remembered place, if its ends moved along straight lines. Free nodes hold the segments that pass
/// them.
///
/// What is wider than a quarter of the obstacle's size is found. A cable over less would have slipped off.
pub(super) fn catch<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    budget: &mut Budget,
) -> Option<usize> {
    const MOST_PLACES: u32 = 256;
    for (k, node) in nodes.iter_mut().enumerate() {
        let Some(wrap) = span.wraps.get(node.obstacle) else { continue };
        // A segment from a point on the surface only seems to pass through it.
        if node.in_contact || node.ignored || node.holds != [false; 2] {
            continue;
        }
        let Some((before, along)) = wrap.passing() else { continue };
        let surface = span.surface(node);
        let here = node.trial;
        let (start, end) = (here.point - before, here.point + here.tangent - before - along);
        let motion = start.norm().max(end.norm());
        let step = T::lit(0.25) * surface.size();
        if motion <= step {
            continue;
        }
        let wanted = (motion / step).to_f64();
        let (mut count, mut x) = (1_u32, 1.0);
        while count < MOST_PLACES && x < wanted {
            (count, x) = (2 * count, 2.0 * x);
        }
        for i in 1..count {
            let part = T::lit(f64::from(i)) / T::lit(f64::from(count));
            let (a, tangent) = (before + start * part, along + (end - start) * part);
            let approach = surface.closest_on_segment(&a, &(a + tangent));
            budget.spend(SEARCH);
            if approach.height < -T::negligible() * T::lit(8.0) * surface.size() {
                let point = side(Some(wrap), surface, surface.retract(&approach.point));
                node.begin(Trial { point, tangent, length: T::zero() });
                return Some(k);
            }
        }
    }
    None
}
