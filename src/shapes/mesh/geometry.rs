//! Points and normals of meshes.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::math::Real;

/// Vertices, with their derivatives if the scalar has any, and the geometry of the faces.
#[derive(Debug)]
pub(super) struct Geometry<T: Real> {
    pub(super) vertices: Vec<Point3<T>>,
    pub(super) centroids: Vec<Point3<T>>,
    pub(super) normals: Vec<Vector3<T>>,
    pub(super) areas: Vec<T>,
}

impl<T: Real> Geometry<T> {
    /// The geometry of these vertices, with room for this number of faces.
    pub(super) fn of(vertices: Vec<Point3<T>>, faces: usize) -> Self {
        let (centroids, normals) = (Vec::with_capacity(faces), Vec::with_capacity(faces));
        Self { vertices, centroids, normals, areas: Vec::with_capacity(faces) }
    }

    /// Adds a face. Returns twice its area, in units of a scale in which nothing overflows or underflows, and this scale,
    /// the largest component of its edges.
    pub(super) fn push(&mut self, corners: [u32; 3]) -> (T, T) {
        let [a, b, c] = corners.map(|corner| self.vertices[corner as usize]);
        let (ab, ac) = (b - a, c - a);
        let scale = T::lit(ab.amax().max((c - b).amax()).max(ac.amax()).to_f64());
        let double = (ab / scale).cross(&(ac / scale));
        let area2 = double.norm_squared().sqrt();
        self.centroids.push(Point3::from((a.coords + b.coords + c.coords) * (T::one() / T::lit(3.0))));
        self.normals.push(double / area2);
        self.areas.push(area2 * (scale * scale) * T::lit(0.5));
        (area2, scale)
    }
}
