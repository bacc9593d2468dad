//! The nearest point of a triangle, and its centroid, for four triangles at a time.

use nalgebra::{Point3, Vector3};

use crate::shapes::mesh::geometry::Geometry;
use crate::shapes::{Plane, lesser};

/// The number of triangles processed together: one or two vector registers.
pub(super) const LANES: usize = 4;

/// Four triangles a, b, c, side by side.
#[derive(Debug, Clone)]
pub(super) struct TrianglePack {
    a: [[f64; LANES]; 3],
    ab: [[f64; LANES]; 3],
    ac: [[f64; LANES]; 3],
    normal: [[f64; LANES]; 3],
    /// Twice the area.
    area2: [f64; LANES],
    /// One over the squared length of ab, bc, ca.
    inverse_squared: [[f64; LANES]; 3],
    centroids: [[f64; LANES]; 3],
}

/// The feature of a triangle on which a point lies. Edge k runs from corner k to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    Face,
    Edge(usize),
    Corner(usize),
}

impl TrianglePack {
    /// Four faces of all, of which one may be repeated.
    pub(super) fn new(faces: [u32; LANES], all: &[[u32; 3]], geometry: &Geometry<f64>) -> Self {
        let faces = faces.map(|face| face as usize);
        let triangles = faces.map(|face| all[face].map(|corner| geometry.vertices[corner as usize]));
        let normals = faces.map(|face| geometry.normals[face]);
        let lanes = |of: &dyn Fn(usize) -> f64| core::array::from_fn(of);
        let vectors = |of: &dyn Fn(usize) -> Vector3<f64>| core::array::from_fn(|i| lanes(&|l| of(l)[i]));
        let edge = |from: usize, to: usize| {
            lanes(&|l| (triangles[l][to] - triangles[l][from]).norm_squared().recip())
        };
        Self {
            a: vectors(&|l| triangles[l][0].coords),
            ab: vectors(&|l| triangles[l][1] - triangles[l][0]),
            ac: vectors(&|l| triangles[l][2] - triangles[l][0]),
            normal: vectors(&|l| normals[l]),
            area2: lanes(&|l| {
                let [a, b, c] = triangles[l];
                normals[l].dot(&(b - a).cross(&(c - a)))
            }),
            inverse_squared: [edge(0, 1), edge(1, 2), edge(2, 0)],
            centroids: vectors(&|l| geometry.centroids[faces[l]].coords),
        }
    }

    #[inline]
    pub(super) fn centroid(&self, l: usize) -> Point3<f64> {
        Point3::from(vector(&self.centroids, l))
    }

    /// The height of each centroid in front of a plane.
    #[inline]
    pub(super) fn heights(&self, plane: &Plane<f64>) -> [f64; LANES] {
        core::array::from_fn(|l| plane.height(&self.centroid(l)))
    }

    /// The squared distances of a point from the four triangles.
    ///
    /// Branch-free code: the distance of every triangle to its plane and to its three edges is calculated.
    #[inline]
    pub(super) fn squared_distances(&self, p: &Point3<f64>) -> [f64; LANES] {
        core::array::from_fn(|l| {
            let (_, squared, is_over_face, height) = self.measure(l, p);
            let to_edges = lesser(lesser(squared[0], squared[1]), squared[2]);
            if is_over_face { height * height } else { to_edges }
        })
    }

    /// The nearest point of one triangle.
    #[inline]
    pub(super) fn nearest(&self, l: usize, p: &Point3<f64>) -> (Point3<f64>, Feature) {
        let (along, squared, is_over_face, height) = self.measure(l, p);
        if is_over_face {
            return (p - vector(&self.normal, l) * height, Feature::Face);
        }
        let mut k = 0;
        for other in [1, 2] {
            if squared[other] < squared[k] {
                k = other;
            }
        }
        let [a, b, c] = self.corners(l);
        let (from, to) = [(a, b), (b, c), (c, a)][k];
        if along[k] <= 0.0 {
            (from, Feature::Corner(k))
        } else if along[k] >= 1.0 {
            (to, Feature::Corner((k + 1) % 3))
        } else {
            (from + (to - from) * along[k], Feature::Edge(k))
        }
    }

    /// The corners of one triangle.
    #[inline]
    pub(super) fn corners(&self, l: usize) -> [Point3<f64>; 3] {
        let a = Point3::from(vector(&self.a, l));
        [a, a + vector(&self.ab, l), a + vector(&self.ac, l)]
    }

    /// The nearest point of each edge, from 0 to 1, and its squared distance; whether the point is over the face, and its
    /// signed distance from the plane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call in the innermost loop keeps it from being vectorised")]
    #[expect(clippy::needless_bitwise_bool, reason = "and so does a branch")]
    fn measure(&self, l: usize, p: &Point3<f64>) -> ([f64; 3], [f64; 3], bool, f64) {
        let ab = vector(&self.ab, l);
        let ac = vector(&self.ac, l);
        let normal = vector(&self.normal, l);
        let ap = p.coords - vector(&self.a, l);
        let bp = ap - ab;
        let bc = ac - ab;

        let clamp = |t: f64| {
            let t = if t < 0.0 { 0.0 } else { t };
            if t > 1.0 { 1.0 } else { t }
        };
        let along = [
            clamp(ap.dot(&ab) * self.inverse_squared[0][l]),
            clamp(bp.dot(&bc) * self.inverse_squared[1][l]),
            // From c towards a.
            clamp(1.0 - ap.dot(&ac) * self.inverse_squared[2][l]),
        ];
        let squared = [
            (ap - ab * along[0]).norm_squared(),
            (bp - bc * along[1]).norm_squared(),
            (ap - ac * (1.0 - along[2])).norm_squared(),
        ];
        // The side of each edge on which p lies, seen along the normal. Unlike barycentric coordinates, products with
        // edges keep their sign on very thin triangles.
        let across = ap.cross(&normal);
        let (by_ab, by_ac) = (ab.dot(&across), ac.dot(&across));
        let is_over_face = (by_ab >= 0.0) & (by_ac <= 0.0) & (by_ac - by_ab + self.area2[l] >= 0.0);
        (along, squared, is_over_face, normal.dot(&ap))
    }
}

#[inline]
fn vector(of: &[[f64; LANES]; 3], l: usize) -> Vector3<f64> {
    Vector3::new(of[0][l], of[1][l], of[2][l])
}
