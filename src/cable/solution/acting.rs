//! The active parts of a path in one configuration, and their places.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::{Point3, Vector3};

use crate::cable::model::obstacle::Obstacle;
use crate::cable::model::path::{CablePath, PlacedPath};
use crate::cable::model::places::Wraps;
use crate::cable::{PathError, empty};
use crate::math::{Real, check, default_by_field, is_plain};
use crate::mechanics::{BodyIndex, Checked, CoordinateIndex, Positions};

/// The active parts of a path in one configuration. Kept from one solution to the next to avoid allocation.
#[derive(Debug)]
pub(crate) struct Acting<T: Real> {
    /// Which obstacles of the path.
    pub(crate) indices: Vec<usize>,
    pub(crate) points: Vec<FixedPoint<T>>,
    /// Whether all parts are active, as large as they were made: then the following fields are not written.
    all_as_made: bool,
    obstacles: Vec<Obstacle<T>>,
    /// The same in plain numbers, if the scalar is another and all their surfaces are known.
    plain: Vec<Obstacle<f64>>,
    /// Their memories, for surfaces at their present scale, and those of further contacts.
    wraps: Wraps<T>,
}

/// An end or via point of the path, at which a span ends and the next begins.
#[derive(Debug, Clone)]
pub(crate) struct FixedPoint<T: Real> {
    pub(crate) body: BodyIndex,
    pub(crate) p_G: Point3<T>,
    /// The coordinate with which it moves on its body, and the derivative by it, in Ground.
    pub(crate) motion: Option<(CoordinateIndex, Vector3<T>)>,
    /// How many of the acting obstacles come before it.
    pub(crate) before: usize,
    /// The span of the path that starts there.
    pub(crate) place: usize,
}

default_by_field!(Acting { indices, points, all_as_made, obstacles, plain, wraps });

impl<T: Real> Acting<T> {
    /// Finds the active parts of a path whose bodies and coordinates exist, and the place of each via point in Ground,
    /// `None` if it is not active.
    pub(crate) fn find(
        &mut self,
        placed: &PlacedPath<'_, T>,
        positions: &Positions<T>,
        wraps: &Wraps<T>,
        via_points: &mut Vec<Option<Point3<T>>>,
    ) -> Result<(), PathError> {
        let PlacedPath { path, places } = *placed;
        let acting = places.obstacles.iter().enumerate().filter(|(_, place)| place.active);
        empty(&mut self.indices, path.obstacles.len());
        self.indices.extend(acting.map(|(k, _)| k));
        empty(&mut self.points, path.via_points.len() + 2);
        empty(via_points, path.via_points.len());

        let indices = &self.indices;
        let fixed = |body: BodyIndex, p_B: &Point3<T>, before: usize, place: usize| FixedPoint {
            body,
            p_G: positions.pose(Checked(body)) * p_B,
            motion: None,
            before: indices.partition_point(|&k| k < before),
            place,
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
        self.copy(placed, wraps)
    }

    /// Copies the active obstacles and their memories, unless all are active and as they were made.
    fn copy(&mut self, placed: &PlacedPath<'_, T>, memory: &Wraps<T>) -> Result<(), PathError> {
        let PlacedPath { path, places } = *placed;
        let count = path.obstacles.len();
        let Self { indices, obstacles, plain, wraps, .. } = self;
        // Reserved for a later configuration.
        obstacles.reserve(count.saturating_sub(obstacles.len()));
        empty(plain, if is_plain::<T>() { 0 } else { count });
        empty(&mut wraps.wraps, count);
        empty(&mut wraps.further_wraps, memory.further_wraps.len());
        let is_to_scale = |k: &usize| places.obstacles[*k].scale == T::one();
        // A scale of 1 may carry a derivative if the scalar is not a plain float.
        self.all_as_made = is_plain::<T>() && indices.len() == count && indices.iter().all(is_to_scale);
        if self.all_as_made {
            return Ok(());
        }
        obstacles.truncate(indices.len());
        let mut further = &memory.further_wraps[..];
        let mut next = 0;
        for (i, &k) in indices.iter().enumerate() {
            let scale = places.obstacles[k].scale;
            check::positive("obstacles.scale", scale)?;
            match obstacles.get_mut(i) {
                Some(last) => last.clone_from(&path.obstacles[k]),
                None => obstacles.push(path.obstacles[k].clone()),
            }
            obstacles[i].set_scale(scale);
            // As long as all surfaces before are known in plain numbers.
            if plain.len() == i {
                plain.extend(obstacles[i].in_plain());
            }
            let absent = path.obstacles[next..k].iter().map(|obstacle| obstacle.most_contacts - 1).sum();
            let (own, rest) = further.split_at(absent).1.split_at(obstacles[i].most_contacts - 1);
            (further, next) = (rest, k + 1);
            // Memory is of the surface as it was made, and has no derivatives.
            let scale = T::lit(scale.to_f64());
            wraps.wraps.push(memory.wraps[k].scaled(scale));
            wraps.further_wraps.extend(own.iter().map(|wrap| wrap.scaled(scale)));
        }
        Ok(())
    }

    /// The obstacles with the surfaces of their places, and their memories.
    pub(crate) fn obstacles<'a>(
        &'a self,
        path: &'a CablePath<T>,
        wraps: &'a Wraps<T>,
    ) -> (&'a [Obstacle<T>], &'a Wraps<T>) {
        if self.all_as_made { (&path.obstacles, wraps) } else { (&self.obstacles, &self.wraps) }
    }

    /// The obstacles of a span in plain numbers, if all their surfaces are known in them.
    pub(crate) fn plain(&self, range: Range<usize>) -> Option<&[Obstacle<f64>]> {
        self.plain.get(range)
    }
}
