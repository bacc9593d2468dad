//! The motion of a span from its remembered place to its present one.

use alloc::vec::Vec;

use nalgebra::{Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::cable::empty;
use crate::cable::solve::contacts::collapse;
use crate::cable::solve::node::{Node, SpanProblem};
use crate::math::{Pose, Real, default_by_field};
use crate::mechanics::BodyIndex;

/// The motion of the bodies of a path since the last commit.
///
/// Only both places are known. Each body is assumed to have moved along a screw, as one that turns about a fixed axis.
#[derive(Debug)]
pub(crate) struct Motion<T: Real> {
    bodies: Vec<BodyIndex>,
    screws: Vec<Screw<T>>,
    /// The present poses of the surfaces.
    poses: Vec<Pose<T>>,
}

default_by_field!(Motion { bodies, screws, poses });

impl<T: Real> Motion<T> {
    /// Finds the motion; returns whether the ends moved by more than a quarter of the size of an obstacle relative to it, or an
    /// obstacle turned by more than a quarter of a radian. Obstacles with a side do not count. A body of which nothing is remembered
    /// stood still.
    pub(crate) fn find(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> bool {
        self.bodies.clear();
        self.bodies.extend_from_slice(span.bodies);
        empty(&mut self.screws, span.bodies.len());
        self.screws.extend(span.poses.iter().enumerate().map(|(i, now)| {
            let past = span.memory.past_bodies.get(i).filter(|past| past.known);
            Screw::between(&past.map_or(*now, |past| past.X_GB), now)
        }));
        empty(&mut self.poses, nodes.len());
        let before = [(span.ends[0], span.from), (span.ends[1], span.to)]
            .map(|(body, p)| self.back(body, T::one()) * p);
        let mut is_long = false;
        for of_one in nodes.chunk_by(|a, b| a.obstacle == b.obstacle) {
            let node = &of_one[0];
            self.poses.push(node.X_GS);
            let was = self.back(span.obstacle(node).frame().body, T::one()) * node.X_GS;
            let moved = |p: &Point3<T>, is: &Point3<T>| {
                (was.inverse_transform_point(p) - node.X_GS.inverse_transform_point(is)).norm()
            };
            let moved = moved(&before[0], &span.from).max(moved(&before[1], &span.to));
            let quarter = T::lit(0.25);
            is_long |= span.obstacle(node).side().is_none()
                && (moved > quarter * span.size(node)
                    || was.rotation.angle_to(&node.X_GS.rotation) > quarter);
        }
        is_long
    }

    /// Moves the nodes of a span to their places after a part of the motion; returns the places of both ends.
    pub(crate) fn place(
        &self,
        part: T,
        span: &SpanProblem<'_, T>,
        nodes: &mut Vec<Node<T>>,
    ) -> [Point3<T>; 2] {
        collapse(nodes);
        let left = (T::one() - part).max(T::zero());
        for (node, now) in nodes.iter_mut().zip(&self.poses) {
            node.X_GS = self.back(span.obstacle(node).frame().body, left) * now;
        }
        [(span.ends[0], span.from), (span.ends[1], span.to)].map(|(body, p)| self.back(body, left) * p)
    }

    /// The displacement of a body back by a part of the motion.
    fn back(&self, body: BodyIndex, part: T) -> Pose<T> {
        let screw = self.bodies.iter().position(|&other| other == body).and_then(|i| self.screws.get(i));
        match screw {
            Some(screw) if part > T::zero() => screw.after(-part),
            _ => Pose::identity(),
        }
    }
}

/// A turn about a fixed axis, and a shift along it, in Ground.
#[derive(Debug)]
struct Screw<T: Real> {
    /// The rotation vector \[rad\].
    turn: Vector3<T>,
    /// A point on the axis \[m\].
    center: Vector3<T>,
    shift: Vector3<T>,
}

impl<T: Real> Screw<T> {
    fn between(before: &Pose<T>, now: &Pose<T>) -> Self {
        let motion = now * before.inverse();
        let turn = UnitQuaternion::from_rotation_matrix(&motion.rotation).scaled_axis();
        let (t, angle) = (motion.translation.vector, turn.norm());
        // The center of a turn too small to matter is far away.
        if angle < T::lit(1e-6) {
            return Self { turn, center: Vector3::zeros(), shift: t };
        }
        let axis = turn / angle;
        let shift = axis * axis.dot(&t);
        let half = T::lit(0.5);
        let center = (t - shift + axis.cross(&t) / (half * angle).tan()) * half;
        Self { turn, center, shift }
    }

    /// The displacement after a part of the motion.
    fn after(&self, part: T) -> Pose<T> {
        let rotation = Rotation3::from_scaled_axis(self.turn * part);
        let t = self.center - rotation * self.center + self.shift * part;
        Pose::from_parts(Translation3::from(t), rotation)
    }
}
