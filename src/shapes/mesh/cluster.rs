//! Bounding discs of subtrees.

use nalgebra::{Point3, Vector3};

use crate::shapes::{greater, lesser};

/// A round disc that contains points of a subtree, with some thickness along its axis.
///
/// A smooth patch of faces is nearly flat: a disc along it separates it from a nearby plane far better than a ball or a
/// box.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cluster {
    pub(super) center: Point3<f64>,
    pub(super) axis: Vector3<f64>,
    /// The greatest distance from the centre.
    pub(super) radius: f64,
    /// The greatest distance from the axis.
    breadth: f64,
    /// The greatest distance from the middle plane.
    thickness: f64,
}

impl Cluster {
    /// The disc around some points, across an axis of unit length.
    pub(super) fn around(points: impl Iterator<Item = Point3<f64>> + Clone, axis: Vector3<f64>) -> Self {
        let (min, max) = bounds(points.clone());
        let middle = Point3::from((min.coords + max.coords) * 0.5);
        let heights = points.clone().map(|p| axis.dot(&(p - middle)));
        let (low, high) = heights.fold((0.0, 0.0), |(low, high), h| (h.min(low), h.max(high)));
        let center = middle + axis * ((low + high) * 0.5);
        let mut cluster = Self { center, axis, ..Self::default() };
        for p in points {
            let from_center = p - center;
            let height = axis.dot(&from_center);
            cluster.thickness = cluster.thickness.max(height.abs());
            cluster.radius = cluster.radius.max(from_center.norm());
            cluster.breadth = cluster.breadth.max((from_center - axis * height).norm());
        }
        // Rounding in these few operations must not drop a point that is on the rim.
        let slack = 1.0 + f64::EPSILON * 16.0;
        let rim = (center.coords.norm() + cluster.radius) * f64::EPSILON * 16.0;
        cluster.thickness = cluster.thickness * slack + rim;
        cluster.radius = cluster.radius * slack + rim;
        cluster.breadth = cluster.breadth * slack + rim;
        cluster
    }

    /// Whether the disc may reach a plane with this unit normal, above which its centre has this height.
    #[inline]
    pub(super) fn reaches(&self, plane_normal: &Vector3<f64>, height: f64) -> bool {
        let axis = self.axis;
        let cosine = axis.dot(plane_normal);
        let upright = if cosine < 0.0 { -cosine } else { cosine };
        // Not from the cosine, whose rounding error the square root would amplify near the axis.
        let sine_squared = (plane_normal - axis * cosine).norm_squared();
        let gap = height - upright * self.thickness;
        gap < 0.0 || gap * gap < sine_squared * self.breadth * self.breadth
    }
}

/// The lowest and highest coordinates of some points.
pub(super) fn bounds(points: impl Iterator<Item = Point3<f64>>) -> (Point3<f64>, Point3<f64>) {
    let far = Vector3::repeat(f64::INFINITY);
    let none = (Point3::from(far), Point3::from(-far));
    points.fold(none, |(min, max), p| {
        let (low, high) = (min.coords.zip_map(&p.coords, lesser), max.coords.zip_map(&p.coords, greater));
        (Point3::from(low), Point3::from(high))
    })
}
