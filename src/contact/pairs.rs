//! Overlapping pairs of bounding boxes, by a sweep along one axis.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real, cast_pose, clone_by_field, is_finite};

/// A box along the axes of Ground, in plain numbers whatever the scalar of the surface. It is all of space if a surface
/// is unbounded, or its box is not finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundingBox {
    /// The lowest coordinates.
    pub min: Point3<f64>,
    /// The highest coordinates.
    pub max: Point3<f64>,
}

impl BoundingBox {
    /// The box around a surface that is at `X_GS`.
    #[inline]
    pub fn around<T: Real>(bounds: Option<(Point3<T>, Vector3<T>)>, X_GS: &Pose<T>) -> Self {
        if let Some((center, half_extents)) = bounds {
            let (X_GS, half_extents) = (cast_pose::<T, f64>(X_GS), half_extents.map(T::to_f64));
            let center_G = X_GS * center.map(T::to_f64);
            let reach = X_GS.rotation.matrix().abs() * half_extents;
            let around = Self { min: center_G - reach, max: center_G + reach };
            if around.is_finite() {
                return around;
            }
        }
        let far = Vector3::repeat(f64::INFINITY);
        Self { min: Point3::from(-far), max: Point3::from(far) }
    }

    #[inline]
    fn is_finite(&self) -> bool {
        is_finite(&self.min.coords) && is_finite(&self.max.coords)
    }

    /// The distance between two boxes \[m\]; zero if they overlap.
    #[inline]
    pub fn distance(&self, other: &Self) -> f64 {
        let apart = |i: usize| (other.min[i] - self.max[i]).max(self.min[i] - other.max[i]).max(0.0);
        Vector3::from_fn(|i, _| apart(i)).norm()
    }

    /// Whether two boxes have a point in common.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|i| self.min[i] <= other.max[i] && other.min[i] <= self.max[i])
    }
}

/// Finds the overlapping pairs among boxes; its buffers are reused from call to call.
///
/// Boxes are sorted by their start along the axis on which their middles are spread out most, and each is compared with
/// those that start before it ends. A row of n boxes therefore costs n·log n; a layer of them, in which √n start
/// together, n·√n. Unbounded boxes pair with all. A box with a NaN coordinate overlaps nothing.
#[derive(Debug, Default)]
pub struct PairSearch {
    order: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    /// The boxes by place; rewritten by the caller before each search.
    pub boxes: Vec<BoundingBox>,
}

clone_by_field!([] PairSearch { order, pairs, boxes });

impl PairSearch {
    /// The number of pairs for which the first search reserves room: all, or 32 for each box on average.
    pub(crate) fn room(count: usize) -> usize {
        (count.saturating_sub(1) / 2 + 1).min(16) * count
    }

    /// Finds all pairs `[i, j]`, `i < j`, of boxes that overlap and for which `matters` is true, in ascending order.
    pub fn find(&mut self, matters: impl Fn(usize, usize) -> bool) -> &[[u32; 2]] {
        let Self { order, pairs, boxes } = self;
        order.clear();
        // Sorting is not worthwhile for few boxes.
        if boxes.len() > FEW {
            let axis = widest_spread(boxes);
            let begin = |i: u32| boxes[i as usize].min[axis];
            order.reserve_exact(boxes.len());
            order.extend((0..).take(boxes.len()).filter(|&i| boxes[i as usize].is_finite()));
            order.sort_unstable_by(|&a, &b| {
                begin(a).partial_cmp(&begin(b)).unwrap_or(core::cmp::Ordering::Equal).then(a.cmp(&b))
            });
        }
        let mut pairs = core::mem::take(pairs);
        pairs.clear();
        pairs.reserve_exact(Self::room(self.boxes.len()));
        self.for_each_within(0.0, |i, j| {
            if matters(i as usize, j as usize) && self.boxes[i as usize].overlaps(&self.boxes[j as usize]) {
                pairs.push([i, j]);
            }
        });
        pairs.sort_unstable();
        self.pairs = pairs;
        &self.pairs
    }

    /// Calls `visit` with each pair `i < j` of boxes that may be at most `distance` \[m\] apart, and with some others, in
    /// any order. The boxes must be those of the last [`find`](Self::find); otherwise pairs are missed.
    pub fn for_each_within(&self, distance: f64, mut visit: impl FnMut(u32, u32)) {
        let Self { order, boxes, .. } = self;
        let mut visit = |a: u32, b: u32| visit(a.min(b), a.max(b));
        if boxes.len() <= FEW {
            for b in (0..).take(boxes.len()) {
                (0..b).for_each(|a| visit(a, b));
            }
            return;
        }
        let axis = widest_spread(boxes);
        // Boxes that were removed after the search still have a place.
        let bounds = |i: u32| boxes.get(i as usize).map(|b| (b.min[axis], b.max[axis]));
        for (place, &a) in order.iter().enumerate() {
            let Some((_, end)) = bounds(a) else { continue };
            let begins_before = |b: &&u32| bounds(**b).is_some_and(|(begin, _)| begin <= end + distance);
            order[place + 1..].iter().take_while(begins_before).for_each(|&b| visit(a, b));
        }
        let is_bounded = |i: u32| boxes[i as usize].is_finite();
        for a in (0..).take(boxes.len()).filter(|&i| !is_bounded(i)) {
            for b in (0..).take(boxes.len()).filter(|&b| b > a || (b < a && is_bounded(b))) {
                visit(a, b);
            }
        }
    }
}

/// The number of boxes up to which they are not sorted.
const FEW: usize = 8;

/// The axis on which the middles of the bounded boxes vary most.
fn widest_spread(boxes: &[BoundingBox]) -> usize {
    let mut sum = Vector3::zeros();
    let mut squares = Vector3::zeros();
    let mut count = 0.0;
    for b in boxes.iter().filter(|b| b.is_finite()) {
        let middle = b.min.coords + b.max.coords;
        sum += middle;
        squares += middle.component_mul(&middle);
        count += 1.0;
    }
    (squares * count - sum.component_mul(&sum)).imax()
}
