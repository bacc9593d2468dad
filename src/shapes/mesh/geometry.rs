//! Points and normals of meshes.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::math::Real;

/// Vertices, with their derivatives if the scalar has any, and those of the faces.
#[derive(Debug)]
pub(super) struct Geometry<T: Real> {
    pub(super) vertices: Vec<Point3<T>>,
    pub(super) centroids: Vec<Point3<T>>,
    pub(super) normals: Vec<Vector3<T>>,
    pub(super) areas: Vec<T>,
}

impl<T: Real> Geometry<T> {
    pub(super) fn new(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Self {
        let count = faces.len();
        let mut geometry = Self {
            vertices: vertices.to_vec(),
            centroids: Vec::with_capacity(count),
            normals: Vec::with_capacity(count),
            areas: Vec::with_capacity(count),
        };
        let third = T::one() / T::lit(3.0);
        for corners in faces {
            let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
            let (ab, ac) = (b - a, c - a);
            // In units of about the longest edge nothing overflows or underflows.
            let scale = T::lit(ab.amax().max(ac.amax()).to_f64());
            let double = (ab / scale).cross(&(ac / scale));
            let area2 = double.norm_squared().sqrt();
            geometry.centroids.push(Point3::from((a.coords + b.coords + c.coords) * third));
            geometry.normals.push(double / area2);
            geometry.areas.push(area2 * scale * scale * T::lit(0.5));
        }
        geometry
    }
}
