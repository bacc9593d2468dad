//! The motion of a span from its remembered place to its present one.
//!
//! Only both places are known. Each body is assumed to have moved along a screw, as one that turns about a fixed axis.

use alloc::vec::Vec;

use nalgebra::{Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::cable::solve::contacts::collapse;
use crate::cable::{Node, SpanProblem, empty};
use crate::math::{Pose, Real};
use crate::mechanics::BodyIndex;

/// Whether the ends moved by more than a quarter of the size of an obstacle relative to it, or an obstacle turned by more
/// than a quarter of a radian. Obstacles with a side do not count. A body without memory is assumed not to have moved.
///
/// Writes the present poses of the surfaces.
pub(crate) fn is_long<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    surfaces: &mut Vec<Pose<T>>,
) -> bool {
    empty(surfaces, nodes.len());
    let before = ends_back(span, T::one());
    let mut is_long = false;
    for of_one in nodes.chunk_by(|a, b| a.obstacle == b.obstacle) {
        let node = &of_one[0];
        surfaces.push(node.X_GS);
        let places = [surface_back(span, node, &node.X_GS, T::one()), node.X_GS];
        let moved = apart(places, &before[0], &span.from).max(apart(places, &before[1], &span.to));
        let quarter = T::lit(0.25);
        is_long |= span.obstacle(node).side().is_none()
            && (moved > quarter * span.size(node)
                || places[0].rotation.angle_to(&node.X_GS.rotation) > quarter);
    }
    is_long
}

/// A bound on how far the points at which straight segments begin and end move apart in the last part of the motion: that of each
/// end relative to its neighbour, and of the middle of each obstacle to the one before, beside what its extent turns.
pub(crate) fn reach<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], part: T) -> T {
    let before = ends_back(span, part);
    let places = |node: &Node<T>| [surface_back(span, node, &node.X_GS, part), node.X_GS];
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
        return ((before[1] - before[0]).norm() - (span.to - span.from).norm()).abs();
    };
    let ends = apart(places(first), &before[0], &span.from) + apart(places(last), &before[1], &span.to);
    nodes.windows(2).filter(|pair| pair[0].obstacle != pair[1].obstacle).fold(ends, |sum, pair| {
        let [a, b] = [places(&pair[0]), places(&pair[1])];
        let middles = b.map(|X_GS| X_GS * Point3::origin());
        let turns = [0, 1].map(|i| a[i].rotation.inverse() * b[i].rotation);
        let turned = turns[0].angle_to(&turns[1]) * span.size(&pair[1]);
        sum + apart(a, &middles[0], &middles[1]) + turned * T::lit(2.0)
    })
}

/// Moves the nodes of a span to their places after a part of the motion, from the present poses of the surfaces; returns the
/// places of both ends.
pub(crate) fn place<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    surfaces: &[Pose<T>],
    part: T,
) -> [Point3<T>; 2] {
    collapse(nodes);
    let left = (T::one() - part).max(T::zero());
    for (node, now) in nodes.iter_mut().zip(surfaces) {
        node.X_GS = surface_back(span, node, now, left);
    }
    ends_back(span, left)
}

/// The fixed points before a part of the motion.
fn ends_back<T: Real>(span: &SpanProblem<'_, T>, part: T) -> [Point3<T>; 2] {
    [(span.ends[0], span.from), (span.ends[1], span.to)].map(|(body, p)| back(span, body, part) * p)
}

/// The pose of the surface of a node before a part of the motion that leads to this one.
fn surface_back<T: Real>(span: &SpanProblem<'_, T>, node: &Node<T>, now: &Pose<T>, part: T) -> Pose<T> {
    back(span, span.obstacle(node).frame().body, part) * now
}

/// How far a point moved relative to a surface that was and is at these places.
fn apart<T: Real>([was, is]: [Pose<T>; 2], p: &Point3<T>, now: &Point3<T>) -> T {
    (was.inverse_transform_point(p) - is.inverse_transform_point(now)).norm()
}

/// The displacement of a body back by a part of its motion: a turn about a fixed axis, and a shift along it, in Ground.
fn back<T: Real>(span: &SpanProblem<'_, T>, body: BodyIndex, part: T) -> Pose<T> {
    let place = span.bodies.iter().position(|&other| other == body);
    let known = place.and_then(|i| span.memory.past_bodies.get(i).zip(span.poses.get(i)));
    let Some((past, now)) = known.filter(|(past, _)| past.known) else { return Pose::identity() };
    let motion = now * past.X_GB.inverse();
    let turn = UnitQuaternion::from_rotation_matrix(&motion.rotation).scaled_axis();
    let (mut shift, angle) = (motion.translation.vector, turn.norm());
    let mut center = Vector3::zeros();
    // The center of a turn too small to matter is far away.
    if angle >= T::lit(1e-6) {
        let axis = turn / angle;
        let (along, half) = (axis * axis.dot(&shift), T::lit(0.5));
        center = (shift - along + axis.cross(&shift) / (half * angle).tan()) * half;
        shift = along;
    }
    let rotation = Rotation3::from_scaled_axis(turn * -part);
    Pose::from_parts(Translation3::from(center - rotation * center - shift * part), rotation)
}
