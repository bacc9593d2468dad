//! The parts of a path that act in one configuration, where they are.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::{Point3, Vector3};

use super::obstacle::Obstacle;
use super::places::PlacedPath;
use super::wrap::{Wrap, Wraps};
use crate::cable::PathError;
use crate::math::{Real, check, is_plain};
use crate::mechanics::{BodyIndex, Checked, CoordinateIndex, Positions};

/// The parts of a path that act in one configuration. Kept from one solution to the next to avoid allocation.
#[derive(Debug)]
pub(super) struct Acting<T: Real> {
    /// The obstacles, with the frames and surfaces of their places.
    pub(super) obstacles: Vec<Obstacle<T>>,
    /// The same in plain numbers, if the scalar is another and all their surfaces are known.
    plain: Vec<Obstacle<f64>>,
    /// Their memories, for surfaces as large as they are.
    pub(super) wraps: Vec<Wrap<T>>,
    /// The memories of their further contacts.
    pub(super) further: Vec<Wrap<T>>,
    /// Which obstacles of the path they are.
    pub(super) indices: Vec<usize>,
    pub(super) spans: Vec<Span<T>>,
}

/// The cable between two neighbouring fixed points.
#[derive(Debug, Clone)]
pub(super) struct Span<T: Real> {
    pub(super) from: FixedPoint<T>,
    pub(super) to: FixedPoint<T>,
    /// The obstacles that act on its way.
    pub(super) obstacles: Range<usize>,
    /// The span of the path at whose start it starts.
    pub(super) place: usize,
}

/// An end or via point.
#[derive(Debug, Clone, Copy)]
pub(super) struct FixedPoint<T: Real> {
    pub(super) body: BodyIndex,
    pub(super) p_G: Point3<T>,
    /// The coordinate with which it moves on its body, and the derivative by it, in Ground.
    pub(super) motion: Option<(CoordinateIndex, Vector3<T>)>,
}

impl<T: Real> Acting<T> {
    pub(super) fn new() -> Self {
        Self {
            obstacles: Vec::new(),
            plain: Vec::new(),
            wraps: Vec::new(),
            further: Vec::new(),
            indices: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// Finds what acts of a path whose bodies and coordinates exist, and where each via point is in Ground, `None` if it
    /// does not act.
    pub(super) fn find(
        &mut self,
        placed: &PlacedPath<'_, T>,
        positions: &Positions<T>,
        wraps: &Wraps<T>,
        via_points: &mut Vec<Option<Point3<T>>>,
    ) -> Result<(), PathError> {
        let PlacedPath { path, places } = *placed;
        let count = path.obstacles.len();
        // What does not act now may act in a later configuration.
        self.obstacles.reserve(count.saturating_sub(self.obstacles.len()));
        self.plain.reserve(count.saturating_sub(self.plain.len()));
        self.wraps.clear();
        self.wraps.reserve(count);
        self.further.clear();
        self.further.reserve(wraps.further.len());
        self.indices.clear();
        self.indices.reserve(count);
        self.spans.clear();
        self.spans.reserve(path.via_points.len() + 1);
        via_points.clear();
        via_points.reserve(path.via_points.len());

        let fixed = |body: BodyIndex, p_B: &Point3<T>| FixedPoint {
            body,
            p_G: positions.pose(Checked(body)) * p_B,
            motion: None,
        };
        let mut from = fixed(path.origin.body, &places.origin);
        let mut further = &wraps.further[..];
        let mut place = 0;
        let mut passed = 0;
        for (i, ((via, before), at)) in path.via_points.iter().zip(&places.via_points).enumerate() {
            self.take(placed, passed..*before, wraps, &mut further)?;
            passed = *before;
            if !at.active || !via.is_in_range(positions) {
                via_points.push(None);
                continue;
            }
            let body = via.station().body;
            let to = match via.shift(positions) {
                None => fixed(body, &at.p_B),
                Some((coordinate, shift, slope)) => {
                    let slope_G = positions.pose(Checked(body)).rotation * slope;
                    FixedPoint { motion: Some((coordinate, slope_G)), ..fixed(body, &(at.p_B + shift)) }
                }
            };
            via_points.push(Some(to.p_G));
            self.add_span(from, to, place);
            (from, place) = (to, i + 1);
        }
        self.take(placed, passed..count, wraps, &mut further)?;
        self.add_span(from, fixed(path.termination.body, &places.termination), place);
        self.obstacles.truncate(self.indices.len());
        Ok(())
    }

    fn add_span(&mut self, from: FixedPoint<T>, to: FixedPoint<T>, place: usize) {
        let first = self.spans.last().map_or(0, |span| span.obstacles.end);
        self.spans.push(Span { from, to, obstacles: first..self.indices.len(), place });
    }

    /// Appends the obstacles of a range that act.
    fn take(
        &mut self,
        PlacedPath { path, places }: &PlacedPath<'_, T>,
        range: Range<usize>,
        wraps: &Wraps<T>,
        further: &mut &[Wrap<T>],
    ) -> Result<(), PathError> {
        for k in range {
            let (obstacle, place) = (&path.obstacles[k], &places.obstacles[k]);
            let (own, rest) = further.split_at(obstacle.most_contacts - 1);
            *further = rest;
            if !place.active {
                continue;
            }
            check::positive("obstacles.scale", place.scale)?;
            let i = self.indices.len();
            match self.obstacles.get_mut(i) {
                Some(last) => last.clone_from(obstacle),
                None => self.obstacles.push(obstacle.clone()),
            }
            self.obstacles[i].put(place);
            if !is_plain::<T>() {
                self.take_plain(i);
            }
            // Memory is of the surface to scale, and has no derivatives.
            let scale = T::lit(place.scale.to_f64());
            self.wraps.push(wraps.obstacles[k].scaled(scale));
            self.further.extend(own.iter().map(|wrap| wrap.scaled(scale)));
            self.indices.push(k);
        }
        Ok(())
    }

    /// Appends an obstacle in plain numbers, if its surface and all those before it are known in them.
    fn take_plain(&mut self, i: usize) {
        self.plain.truncate(i);
        if self.plain.len() == i {
            self.plain.extend(self.obstacles[i].in_plain());
        }
    }

    /// The obstacles of a span in plain numbers, if all their surfaces are known in them.
    pub(super) fn plain(&self, range: Range<usize>) -> Option<&[Obstacle<f64>]> {
        self.plain.get(range)
    }
}
