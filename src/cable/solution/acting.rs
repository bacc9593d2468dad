//! The active parts of a path in one configuration, and their poses.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::{CablePath, Node, ObstaclePlace, PathError, Places, empty};
use crate::math::{Pose, Real, check, clone_by_field, default_by_field, orthonormal};
use crate::mechanics::{BodyIndex, Checked, CoordinateIndex, Positions};

/// The active parts of a path in one configuration. It is kept from one solution to the next to avoid allocation.
#[derive(Debug)]
pub(crate) struct Acting<T: Real> {
    /// The indices of the active obstacles in the path.
    pub(crate) indices: Vec<usize>,
    pub(crate) points: Vec<FixedPoint<T>>,
    /// The poses in Ground of the bodies of the path.
    pub(crate) poses: Vec<Pose<T>>,
}

/// An end or via point of the path, at which a span ends and the next begins.
#[derive(Debug, Clone)]
pub(crate) struct FixedPoint<T: Real> {
    pub(crate) body: BodyIndex,
    pub(crate) p_G: Point3<T>,
    /// The coordinate with which it moves on its body, and the derivative by it, in Ground.
    pub(crate) motion: Option<(CoordinateIndex, Vector3<T>)>,
    /// The number of active obstacles before it.
    pub(crate) before: usize,
    /// The span of the path that starts there.
    pub(crate) place: usize,
}

default_by_field!(Acting { indices, points, poses });
clone_by_field!(Acting { indices, points, poses });

impl<T: Real> CablePath<T> {
    /// An obstacle, passed freely, on a body that exists.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "with two callers it is a call, and each node is copied")]
    pub(crate) fn node(&self, places: &Places<T>, positions: &Positions<T>, obstacle: usize) -> Node<T> {
        let body = self.obstacles[obstacle].frame().body;
        let ObstaclePlace { X_BS, scale, .. } = places.obstacles[obstacle];
        Node::new(obstacle, positions.pose(Checked(body)) * orthonormal(X_BS).0, scale)
    }
}

impl<T: Real> Acting<T> {
    /// The spans of the path: the points between which each runs, and its active obstacles.
    pub(crate) fn spans(&self) -> impl Iterator<Item = ([&FixedPoint<T>; 2], &[usize])> {
        self.points.windows(2).map(|ends| {
            let [from, to] = [&ends[0], &ends[1]];
            ([from, to], &self.indices[from.before..to.before])
        })
    }

    /// Finds the active parts of a path whose bodies and coordinates exist, and the position of each via point in Ground,
    /// `None` if it is not active.
    pub(crate) fn find(
        &mut self,
        path: &CablePath<T>,
        places: &Places<T>,
        positions: &Positions<T>,
        via_points: &mut Vec<Option<Point3<T>>>,
    ) -> Result<(), PathError> {
        let acting = places.obstacles.iter().enumerate().filter(|(_, place)| place.active);
        empty(&mut self.indices, path.obstacles.len());
        for (k, place) in acting {
            check::positive("obstacles.scale", place.scale)?;
            self.indices.push(k);
        }
        empty(&mut self.poses, path.bodies.len());
        self.poses.extend(path.bodies.iter().map(|&body| *positions.pose(Checked(body))));
        empty(&mut self.points, path.via_points.len() + 2);
        empty(via_points, path.via_points.len());

        let indices = &self.indices;
        let fixed = |body: BodyIndex, p_B: &Point3<T>, before: usize, place: usize| {
            let before = indices.partition_point(|&k| k < before);
            FixedPoint { body, p_G: positions.pose(Checked(body)) * p_B, motion: None, before, place }
        };
        self.points.push(fixed(path.origin.body, &places.origin, 0, 0));
        for (i, ((via, before), at)) in path.via_points.iter().zip(&places.via_points).enumerate() {
            if !at.active || !via.is_in_range(positions) {
                via_points.push(None);
                continue;
            }
            let body = via.station().body;
            let (mut p_B, mut motion) = (at.p_B, None);
            if let Some((coordinate, shift, slope)) = via.shift(positions) {
                p_B += shift;
                motion = Some((coordinate, positions.pose(Checked(body)).rotation * slope));
            }
            let point = FixedPoint { motion, ..fixed(body, &p_B, *before, i + 1) };
            via_points.push(Some(point.p_G));
            self.points.push(point);
        }
        let (count, last) = (path.obstacles.len(), path.via_points.len() + 1);
        self.points.push(fixed(path.termination.body, &places.termination, count, last));
        Ok(())
    }
}
