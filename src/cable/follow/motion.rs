//! The motion of a span from its remembered place to its present one.

use alloc::vec::Vec;

use nalgebra::{Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::cable::empty;
use crate::cable::model::places::Wraps;
use crate::cable::solve::contacts::collapse;
use crate::cable::solve::node::{Node, SpanProblem};
use crate::math::{Pose, Real};

/// The motion of the obstacles and ends of a span since the last commit.
///
/// Only both places are known. Each body is assumed to have moved along a screw, as one that turns about a fixed axis.
#[derive(Debug)]
pub(crate) struct Motion<T: Real> {
    /// The poses of the surfaces before and now.
    poses: Vec<[Pose<T>; 2]>,
    /// The poses of the bodies of both ends, and the points there, before and now.
    ends: [[(Pose<T>, Point3<T>); 2]; 2],
}

impl<T: Real> Motion<T> {
    /// Finds the motion; returns whether the ends moved by more than a quarter of the size of an obstacle relative to it, or an
    /// obstacle turned by more than a quarter of a radian. Obstacles with a side do not count, nor what was not active before.
    pub(crate) fn find(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> bool {
        let Wraps { past_obstacles, past_points, .. } = span.memory;
        self.ends = [0, 1].map(|i| {
            let (X_GB, place) = span.ends[i];
            let now = (X_GB, X_GB.inverse_transform_point([&span.from, &span.to][i]));
            let past = past_points.get(place).filter(|past| past.known);
            [past.map_or(now, |past| (past.X_GB, past.p_B)), now]
        });
        empty(&mut self.poses, nodes.len());
        let mut is_long = false;
        for of_one in nodes.chunk_by(|a, b| a.obstacle == b.obstacle) {
            let node = &of_one[0];
            let now = node.X_GS;
            let past = past_obstacles.get(node.obstacle).filter(|past| past.known);
            let before = past.map_or(now, |past| past.X_GS);
            self.poses.push([before, now]);
            let moved = self.ends.map(|[(X_was, was), (X_is, is)]| {
                (before.inverse_transform_point(&(X_was * was)) - now.inverse_transform_point(&(X_is * is)))
                    .norm()
            });
            let quarter = T::lit(0.25);
            is_long |= span.obstacle(node).side().is_none()
                && (moved[0].max(moved[1]) > quarter * span.size(node)
                    || before.rotation.angle_to(&now.rotation) > quarter);
        }
        is_long
    }

    /// Moves the nodes of a span to their place after a part of the motion; returns the places of both ends.
    pub(crate) fn place(&self, part: T, nodes: &mut Vec<Node<T>>) -> [Point3<T>; 2] {
        collapse(nodes);
        for (node, [before, now]) in nodes.iter_mut().zip(&self.poses) {
            node.X_GS = between(before, now, part);
        }
        self.ends.map(|[(X_was, was), (X_is, is)]| between(&X_was, &X_is, part) * (was + (is - was) * part))
    }
}

impl<T: Real> Default for Motion<T> {
    fn default() -> Self {
        Self { poses: Vec::new(), ends: [[(Pose::identity(), Point3::origin()); 2]; 2] }
    }
}

/// The pose after a part of a motion along a screw.
fn between<T: Real>(before: &Pose<T>, now: &Pose<T>, part: T) -> Pose<T> {
    if part >= T::one() { *now } else { Screw::between(before, now).after(part) * before }
}

/// A turn about a fixed axis, and a shift along it, in Ground.
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
