//! A mesh in plain numbers, on which searches run.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::math::Real;
use crate::shapes::mesh::geometry::Geometry;
use crate::shapes::mesh::topology::NO_FACE;
use crate::shapes::mesh::tree::Tree;
use crate::shapes::mesh::triangles::{Feature, LANES};
use crate::shapes::{MeshFault, Plane, SurfacePoint};

/// Faces and the quantities that follow from them, in plain numbers.
#[derive(Debug)]
pub(super) struct PlainMesh {
    pub(super) faces: Vec<[u32; 3]>,
    pub(super) geometry: Geometry<f64>,
    /// The face across each edge, the k-th of which runs from corner k to the next.
    pub(super) neighbours: Vec<[u32; 3]>,
    pub(super) vertex_normals: Vec<Vector3<f64>>,
    /// The faces whose longest edges are the shortest and the longest of all, with the fourth powers of these edges.
    pub(super) scales: [(usize, f64); 2],
    /// The faults that keep the mesh from being closed.
    pub(super) openings: Vec<MeshFault>,
    /// The largest height of a vertex in front of a face's plane, if the mesh is convex.
    pub(super) convexity_slack: Option<f64>,
    pub(super) center: Point3<f64>,
    pub(super) half_extents: Vector3<f64>,
    pub(super) tree: Tree,
}

impl PlainMesh {
    /// The fault for which another scalar cannot hold the mesh.
    pub(super) fn misfit(&self, can_hold: fn(f64) -> bool) -> Option<MeshFault> {
        let misfit = self.scales.into_iter().find(|&(_, fourth)| !can_hold(fourth));
        misfit.map(|(face, _)| MeshFault::FaceOutOfScale { face })
    }

    /// The nearest point of one face, by its place in the tree, with a signed distance.
    #[inline]
    pub(super) fn nearest_on(&self, slot: usize, p: &Point3<f64>) -> (usize, Feature, SurfacePoint<f64>) {
        let face = self.tree.face(slot);
        let normal = self.geometry.normals[face];
        let (point, feature) = self.tree.packs[slot / LANES].nearest(slot % LANES, p);
        let pseudo_normal = match feature {
            Feature::Face => {
                // Measured along the normal, since small depths then keep full precision.
                let signed_distance = normal.dot(&(p - point));
                return (face, feature, SurfacePoint { point, normal, signed_distance });
            }
            Feature::Edge(k) => match self.neighbours[face][k] {
                NO_FACE => normal,
                neighbour => normal + self.geometry.normals[neighbour as usize],
            },
            Feature::Corner(k) => self.vertex_normals[self.faces[face][k] as usize],
        };
        let away = p - point;
        let squared = away.norm_squared();
        let is_inside = pseudo_normal.dot(&away) < 0.0;
        let near = if squared > 0.0 {
            let distance = away.norm();
            let signed_distance = if is_inside { -distance } else { distance };
            SurfacePoint { point, normal: away / signed_distance, signed_distance }
        } else {
            SurfacePoint { point, normal: pseudo_normal / pseudo_normal.norm(), signed_distance: 0.0 }
        };
        (face, feature, near)
    }

    /// The nearest point of all faces; `None` for a point far away.
    #[inline]
    pub(super) fn nearest(&self, p: &Point3<f64>) -> Option<(usize, Feature, SurfacePoint<f64>)> {
        let squared = (p - self.center).norm_squared() * f64::EPSILON;
        if !(squared.is_finite() && squared <= self.half_extents.norm_squared()) {
            return None;
        }
        let (face, feature, mut near) = self.nearest_on(self.tree.nearest(p, None), p);
        // From far away, front and back of a thin body may be equally near up to rounding.
        if near.signed_distance < 0.0 && self.distance_to_box(p) > 0.0 {
            near.normal = -near.normal;
            near.signed_distance = -near.signed_distance;
        }
        Some((face, feature, near))
    }

    /// The largest height of a vertex in front of a face's plane; `None` if it exceeds rounding.
    pub(super) fn calc_convexity_slack(&self, negligible: f64) -> Option<f64> {
        if !self.openings.is_empty() {
            return None;
        }
        let slack = self.half_extents.norm() * negligible * 100.0;
        let plane = |f: usize| {
            let normal = self.geometry.normals[f];
            let a = self.geometry.vertices[self.faces[f][0] as usize];
            Plane { normal, offset: normal.dot(&a.coords) + slack }
        };
        // Most nonconvex meshes are detected at an edge.
        let bends_out = |f: usize| {
            let plane = plane(f);
            let corners = self.neighbours[f].into_iter().flat_map(|neighbour| self.faces[neighbour as usize]);
            corners.map(|corner| &self.geometry.vertices[corner as usize]).all(|p| plane.height(p) <= 0.0)
        };
        let faces = 0..self.faces.len();
        if !faces.clone().all(bends_out) {
            return None;
        }
        let is_behind_all = !faces.into_iter().any(|f| self.reaches_above(&plane(f)));
        is_behind_all.then_some(slack)
    }

    /// Whether all faces that meet in this part are in one plane. By rounding, a point may then be over none of them.
    #[inline]
    pub(super) fn is_flat_around(&self, face: usize, feature: Feature) -> bool {
        let normal = self.geometry.normals[face];
        let other = match feature {
            Feature::Face => return true,
            Feature::Edge(k) => match self.neighbours[face][k] {
                NO_FACE => return false,
                neighbour => self.geometry.normals[neighbour as usize],
            },
            // The sum has this length if the angles around the vertex add up to a whole turn in one plane.
            Feature::Corner(k) => self.vertex_normals[self.faces[face][k] as usize] / core::f64::consts::TAU,
        };
        // A millionth of a radian, far above rounding and below the angles of a fine mesh.
        (other - normal).norm_squared() < 1e-12
    }

    /// The plane of one face, if the whole mesh is behind it.
    #[inline]
    pub(super) fn face_plane(&self, slot: usize) -> Option<Plane<f64>> {
        self.convexity_slack.map(|slack| {
            let face = self.tree.face(slot);
            let normal = self.geometry.normals[face];
            Plane { normal, offset: normal.dot(&self.geometry.centroids[face].coords) + slack }
        })
    }

    /// The distance of a point from the box around the mesh.
    #[inline]
    pub(super) fn distance_to_box(&self, p: &Point3<f64>) -> f64 {
        let beyond = (p - self.center).abs() - self.half_extents;
        beyond.map(|x| if x < 0.0 { 0.0 } else { x }).norm()
    }
}

/// Sums of face normals about each vertex, weighted by the angle of the face's corner there.
pub(super) fn vertex_normals(
    Geometry { vertices, normals, .. }: &Geometry<f64>,
    faces: &[[u32; 3]],
) -> Vec<Vector3<f64>> {
    let mut sums = alloc::vec![Vector3::zeros(); vertices.len()];
    for (corners, normal) in faces.iter().zip(normals) {
        let triangle = corners.map(|corner| vertices[corner as usize]);
        for (k, &corner) in corners.iter().enumerate() {
            sums[corner as usize] += normal * angle(&triangle, k);
        }
    }
    sums
}

/// The angle of a triangle at a corner.
pub(super) fn angle<T: Real>(triangle: &[Point3<T>; 3], k: usize) -> T {
    let [at, next, last] = [0, 1, 2].map(|i| triangle[(k + i) % 3]);
    let (along, back) = (next - at, last - at);
    // Normalized, so that the fourth power of small edges does not underflow.
    let (along, back) = (along / along.amax(), back / back.amax());
    along.cross(&back).norm_squared().sqrt().atan2(along.dot(&back))
}
