//! A string of beads pulled tight: the slow way to a path, which needs no good start.

use alloc::vec::Vec;

use nalgebra::Vector3;

use super::solver::{Node, Span, Trial, side};
use super::wrap::Wrap;
use crate::scalar::Real;

/// One bead of the string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bead<T> {
    point: Vector3<T>,
    /// The obstacle it belongs to, which alone holds it up.
    owner: usize,
    touching: bool,
}

/// Lays a string along the remembered path (or through the hints, or straight), pulls it tight,
/// and leaves in the nodes what it touches, where and how long.
///
/// Each bead moves to the nearest point between its neighbours and is pushed out of its obstacle:
/// the length never grows, so what it settles on is close to a shortest path, never to a longest.
pub(super) fn tighten<T: Real>(
    span: &Span<'_, T>,
    nodes: &mut [Node<T>],
    beads: &mut Vec<Bead<T>>,
    detail: usize,
    from_memory: bool,
) {
    lay(span, nodes, beads, detail, from_memory);
    pull(span, nodes, beads, detail);
    for (k, node) in nodes.iter_mut().enumerate() {
        read_off(span, node, beads, k);
    }
}

fn lay<T: Real>(
    span: &Span<'_, T>,
    nodes: &[Node<T>],
    beads: &mut Vec<Bead<T>>,
    detail: usize,
    from_memory: bool,
) {
    beads.clear();
    let mut from = span.from;
    let mut from_owner: Option<usize> = None;
    for (k, node) in nodes.iter().enumerate() {
        let wrap = if from_memory { span.wraps[k] } else { Wrap::default() };
        let surface = span.obstacles[k].surface();
        let core = beads.len();
        if let Some(first) = anchor(span, nodes, k, from_memory) {
            leg(beads, detail, &from, from_owner, &node.to_ground(&first), Some(k));
        }
        if wrap.known && wrap.in_contact {
            let curvature = surface.end(&surface.retract(&wrap.point), &wrap.tangent).greatest_curvature();
            let wanted = (wrap.length * curvature).to_f64() * 4.0;
            let mut parts = 4.0;
            while parts < wanted && parts < 4096.0 {
                parts += 1.0;
            }
            let mut part = 0.0;
            while part <= parts {
                let length = wrap.length * T::lit(part / parts);
                let at = surface.geodesic(&wrap.point, &wrap.tangent, length, T::lit(1e-4));
                beads.push(Bead { point: node.to_ground(&at.end.point), owner: k, touching: true });
                part += 1.0;
            }
        } else if let Some(first) = anchor(span, nodes, k, from_memory) {
            beads.push(Bead { point: node.to_ground(&first), owner: k, touching: true });
        } else {
            let ahead = (k + 1..nodes.len())
                .find_map(|next| Some(nodes[next].to_ground(&anchor(span, nodes, next, from_memory)?)))
                .unwrap_or(span.to);
            let (a, b) = (node.to_surface(&from), node.to_surface(&ahead));
            let approach = surface.closest_on_segment(&a, &b);
            let touching = approach.height < T::zero();
            let place =
                if touching { side(&wrap, surface, surface.retract(&approach.point)) } else { approach.point };
            let point = node.to_ground(&place);
            leg(beads, detail, &from, from_owner, &point, Some(k));
            beads.push(Bead { point, owner: k, touching });
        }
        debug_assert!(beads.len() > core);
        from = beads.last().map_or(from, |bead| bead.point);
        from_owner = Some(k);
    }
    leg(beads, detail, &from, from_owner, &span.to, None);
}

/// The point of its surface, in its frame, that the string is laid over first, if that is known.
fn anchor<T: Real>(span: &Span<'_, T>, _: &[Node<T>], k: usize, from_memory: bool) -> Option<Vector3<T>> {
    let surface = span.obstacles[k].surface();
    if from_memory {
        let wrap = &span.wraps[k];
        (wrap.known && wrap.in_contact).then(|| surface.retract(&wrap.point))
    } else {
        span.obstacles[k].contact_hint().map(|hint| surface.retract(hint))
    }
}

/// Beads between two anchors, denser towards both; each end of the string owns the nearer half.
fn leg<T: Real>(
    beads: &mut Vec<Bead<T>>,
    detail: usize,
    from: &Vector3<T>,
    from_owner: Option<usize>,
    to: &Vector3<T>,
    to_owner: Option<usize>,
) {
    let along = to - from;
    let half = if from_owner.is_some() && to_owner.is_some() { T::lit(0.5) } else { T::one() };
    let mut unit = T::zero();
    for _ in 0..detail {
        unit += T::one();
    }
    let unit = T::one() / (unit + T::lit(0.5));
    let mut x = T::zero();
    if let Some(owner) = from_owner {
        for _ in 0..detail {
            x += unit;
            beads.push(Bead { point: from + along * (half * x * x), owner, touching: false });
        }
        x = T::zero();
    }
    if let Some(owner) = to_owner {
        for _ in 0..detail {
            x += unit;
            beads.push(Bead { point: to - along * (half * x * x), owner, touching: false });
        }
        let count = beads.len();
        beads[count - detail..].reverse();
    }
}

/// Moves beads until they rest.
fn pull<T: Real>(span: &Span<'_, T>, nodes: &[Node<T>], beads: &mut [Bead<T>], detail: usize) {
    // Over-relaxation; two would never settle, one settles in detail² rounds instead of detail.
    let eagerness = T::lit(1.6);
    for _ in 0..30 * detail {
        let mut largest = T::zero();
        for i in 0..beads.len() {
            let before = if i == 0 { span.from } else { beads[i - 1].point };
            let after = beads.get(i + 1).map_or(span.to, |bead| bead.point);
            let Bead { point, owner, .. } = beads[i];
            let along = after - before;
            let place = (point - before).dot(&along) / along.norm_squared();
            // Neighbours must not change places.
            let place = place.max(T::lit(0.05)).min(T::lit(0.95));
            if !place.is_finite() {
                continue;
            }
            let mut moved = point + (before + along * place - point) * eagerness;
            let (node, surface) = (&nodes[owner], span.obstacles[owner].surface());
            let local = node.to_surface(&moved);
            let touching = surface.covers(&local) && surface.value(&local) < T::zero();
            if touching {
                moved = node.to_ground(&surface.retract(&local));
            }
            largest = largest.max((moved - point).norm() / surface.size());
            beads[i] = Bead { point: moved, owner, touching };
        }
        // Newton's method asks for a start within a few hundredths.
        if largest < T::lit(1e-4) {
            break;
        }
    }
}

/// What the string touches of one obstacle.
fn read_off<T: Real>(span: &Span<'_, T>, node: &mut Node<T>, beads: &[Bead<T>], k: usize) {
    let touches = |bead: &Bead<T>| bead.owner == k && bead.touching;
    let (Some(first), Some(last)) = (beads.iter().position(touches), beads.iter().rposition(touches)) else {
        node.in_contact = false;
        return;
    };
    let length = beads[first..=last].windows(2).fold(T::zero(), |sum, pair| sum + (pair[1].point - pair[0].point).norm());
    let point = node.to_surface(&beads[first].point);
    let after = node.to_surface(&beads.get(first + 1).map_or(span.to, |bead| bead.point));
    let before = if first == 0 { span.from } else { beads[first - 1].point };
    let tangent = if last > first { after - point } else { after - node.to_surface(&before) };
    node.begin(Trial { point, tangent, length });
}
