//! Triangle meshes: validated, searchable, and made from parameters or files.

mod clip;
mod clipped;
mod cluster;
mod displaced;
mod face_list;
mod generate;
mod geometry;
mod inside;
mod plain;
#[cfg(feature = "mesh-files")]
mod read;
mod refine;
mod topology;
mod tree;
mod triangles;

use alloc::sync::Arc;
use alloc::vec::Vec;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::math::{Real, is_plain};
use crate::shapes::{Plane, ShapeError, Solid, SurfacePoint, direction_and_length, turned_about};

pub(crate) use clip::moments_of_depth;
pub(crate) use clipped::VertexBuffer;
pub use displaced::Displaced;
pub use face_list::FaceList;
pub use topology::MeshFault;
pub(crate) use triangles::Feature;

use geometry::Geometry;
use plain::{PlainMesh, angle};
use topology::{MAX_FACES, NO_FACE, can_hold, check_counts};

/// Triangles, wound counter-clockwise seen from outside, with a tree over them.
///
/// A *closed* mesh has an inside, which other surfaces can enter. An *open* mesh has none, and can only carry springs
/// that enter other surfaces.
///
/// Searches run in `f64`, whatever the scalar: [`cast`](Self::cast) and [`clone`](Clone::clone) share the tree and
/// everything else. The point found is then computed in the scalar, with exact derivatives, including those of the
/// vertices. Single precision gains accuracy by this, not speed.
///
/// Vertices at exactly the same position are merged, so that files that repeat them per face need no preparation. Faces
/// keep their numbers.
///
/// # Refused
///
/// Every mesh is refused with
///
/// - no faces, more than [`MAX_FACES`](Self::MAX_FACES), or more vertices than three times that number;
/// - vertices that are not finite, indices out of range, or faces without area;
/// - faces so small or large that the fourth power of their longest edge underflows or overflows (in `f64` below 1e-81 m
///   and above 1e77 m, in `f32` below 6e-12 m and above 4e9 m).
///
/// A closed mesh is also refused with
///
/// - edges with one face or more than two, or neighbours with opposite winding;
/// - vertices where two sheets of faces touch;
/// - parts that enclose no volume beyond rounding, or that are inside out. A part wound the other way within another is a
///   cavity, which is allowed.
///
/// Faces that intersect are **not** detected.
///
/// # Inside or outside
///
/// The sign of a distance is that of the product with the pseudo-normal at the nearest point: the normal of a face, the
/// sum of two normals at an edge, or the sum weighted by angles at a vertex. It is correct also at sharp corners (J. A.
/// Bærentzen, H. Aanæs, *Signed distance computation using the angle weighted pseudonormal*, IEEE Trans. Vis. Comput.
/// Graph. 11 (2005) 243–253).
///
/// # Example: a tetrahedron
///
/// ```
/// use force_elements::nalgebra::Point3;
/// use force_elements::shapes::{MeshFault, Solid, TriangleMesh};
///
/// let vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Point3::from);
/// let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let mesh = TriangleMesh::<f64>::closed(&vertices, &faces)?;
/// assert!(mesh.contains(&Point3::new(0.2, 0.2, 0.2)));
/// assert_eq!(mesh.signed_distance(&Point3::new(0.2, 0.1, -0.5)), 0.5);
///
/// // One face short, it encloses nothing; the fault says which face has no neighbour where.
/// let faults = TriangleMesh::faults(&vertices, &faces[..3]);
/// assert_eq!(faults.len(), 3);
/// assert_eq!(faults[0], MeshFault::OpenEdge { face: 0, vertices: [2, 1] });
/// # Ok::<(), force_elements::shapes::ShapeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TriangleMesh<T: Real> {
    plain: Arc<PlainMesh>,
    /// The quantities that follow from vertices with derivatives; `None` if the vertices are constants.
    carried: Option<Arc<Geometry<T>>>,
}

impl<T: Real> TriangleMesh<T> {
    /// The largest number of faces of a mesh: 4,194,304, which take about 1.5 GB in `f64`.
    pub const MAX_FACES: usize = MAX_FACES;

    /// A closed mesh. Faces are indices of vertices, from 0.
    ///
    /// # Errors
    /// [`ShapeError::Mesh`] with the first of the [`faults`](Self::faults).
    pub fn closed(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Result<Self, ShapeError> {
        let mesh = Self::open(vertices, faces)?;
        match mesh.opening() {
            Some(fault) => Err(ShapeError::Mesh { fault }),
            None => Ok(mesh),
        }
    }

    /// A mesh that may be open and can carry springs. If it is closed, it has an inside too.
    ///
    /// # Errors
    /// [`ShapeError::Mesh`] with the first of the faults for which [every mesh](Self#refused) is refused.
    pub fn open(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Result<Self, ShapeError> {
        let plain = examine(vertices, faces)
            .map_err(|faults| ShapeError::Mesh { fault: *faults.first().unwrap_or(&MeshFault::Empty) })?;
        let carried = (!is_plain::<T>()).then(|| {
            let mut geometry = Geometry::of(vertices.to_vec(), faces.len());
            plain.faces.iter().for_each(|&corners| _ = geometry.push(corners));
            Arc::new(geometry)
        });
        Ok(Self { plain: Arc::new(plain), carried })
    }

    /// All faults that keep these faces from being a closed mesh. If single vertices or faces are faulty, only those are
    /// listed.
    pub fn faults(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Vec<MeshFault> {
        examine(vertices, faces).map_or_else(|faults| faults, |plain| plain.openings)
    }

    /// The number of vertices, including merged ones.
    pub fn vertex_count(&self) -> usize {
        self.plain.geometry.vertices.len()
    }

    /// The number of faces.
    pub fn face_count(&self) -> usize {
        self.plain.faces.len()
    }

    /// The vertices, as given.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Point3<T>> + '_ {
        (0..self.plain.geometry.vertices.len()).map(|vertex| self.vertex(vertex))
    }

    /// The corners of each face, as indices of vertices; of merged vertices, the first.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.plain.faces
    }

    /// The corners of each face.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [Point3<T>; 3]> + '_ {
        (0..self.plain.faces.len()).map(|face| self.corners(face))
    }

    /// The vertices of all faces in turn. A mesh may have other vertices, on which its shape does not depend.
    pub(crate) fn used_vertices(&self) -> impl Iterator<Item = Point3<T>> + '_ {
        self.plain.faces.iter().flatten().map(|&corner| self.vertex(corner as usize))
    }

    pub(crate) fn corners(&self, face: usize) -> [Point3<T>; 3] {
        self.plain.faces[face].map(|corner| self.vertex(corner as usize))
    }

    /// The centroid of each face, the base of its spring.
    pub fn centroids(&self) -> impl ExactSizeIterator<Item = Point3<T>> + '_ {
        (0..self.face_count()).map(|face| self.centroid(face))
    }

    /// The outward unit normal of each face.
    pub fn normals(&self) -> impl ExactSizeIterator<Item = Vector3<T>> + '_ {
        (0..self.face_count()).map(|face| self.normal(face))
    }

    /// The area of each face \[m²\].
    pub fn areas(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        (0..self.face_count()).map(|face| self.area(face))
    }

    /// The enclosed volume \[m³\], if the mesh is closed.
    pub fn volume(&self) -> Option<T> {
        // About the middle of the box rather than the origin, which may be far away.
        let middle: Point3<T> = self.plain.center.map(T::lit);
        let sum = self.triangles().fold(T::zero(), |sum, triangle| {
            let [a, b, c] = triangle.map(|corner| corner - middle);
            sum + a.dot(&b.cross(&c))
        });
        self.is_closed().then(|| sum / T::lit(6.0))
    }

    /// Whether the mesh is closed.
    pub fn is_closed(&self) -> bool {
        self.opening().is_none()
    }

    /// The first fault that keeps the mesh from being closed; `None` if it is closed.
    pub fn opening(&self) -> Option<MeshFault> {
        self.plain.openings.first().copied()
    }

    /// Whether the enclosed solid is convex, up to rounding.
    pub fn is_convex(&self) -> bool {
        self.plain.convexity_slack.is_some()
    }

    /// The same mesh in another scalar, with zero derivatives. It shares everything with this one: nothing is built or
    /// copied.
    ///
    /// # Errors
    /// [`ShapeError::Mesh`] if a face is too small or too large for the other scalar. A face may be finer than those from
    /// which the other scalar builds a mesh.
    pub fn cast<U: Real>(&self) -> Result<TriangleMesh<U>, ShapeError> {
        match self.plain.misfit(can_hold::<U>) {
            Some(fault) => Err(ShapeError::Mesh { fault }),
            None => Ok(TriangleMesh { plain: Arc::clone(&self.plain), carried: None }),
        }
    }

    fn carried(&self) -> Option<&Geometry<T>> {
        // Known at compile time for most scalars.
        if is_plain::<T>() { None } else { self.carried.as_deref() }
    }

    #[inline]
    pub(crate) fn vertex(&self, vertex: usize) -> Point3<T> {
        self.carried()
            .map_or_else(|| self.plain.geometry.vertices[vertex].map(T::lit), |own| own.vertices[vertex])
    }

    #[inline]
    pub(crate) fn centroid(&self, face: usize) -> Point3<T> {
        self.carried()
            .map_or_else(|| self.plain.geometry.centroids[face].map(T::lit), |own| own.centroids[face])
    }

    #[inline]
    pub(crate) fn normal(&self, face: usize) -> Vector3<T> {
        self.carried().map_or_else(|| self.plain.geometry.normals[face].map(T::lit), |own| own.normals[face])
    }

    /// The area of a face \[m²\].
    #[inline]
    pub(crate) fn area(&self, face: usize) -> T {
        self.carried().map_or_else(|| T::lit(self.plain.geometry.areas[face]), |own| own.areas[face])
    }

    /// An edge of a face, from corner k to the next: its start and its direction.
    fn edge(&self, face: usize, k: usize) -> (Point3<T>, Vector3<T>) {
        let [from, to] = [k, (k + 1) % 3].map(|k| self.plain.faces[face][k] as usize);
        let along = match self.carried() {
            Some(own) => own.vertices[to] - own.vertices[from],
            None => (self.plain.geometry.vertices[to] - self.plain.geometry.vertices[from]).map(T::lit),
        };
        (self.vertex(from), along)
    }

    /// The pseudo-normal at a corner of a face.
    #[cold]
    fn pseudo_normal_at(&self, face: usize, k: usize) -> Vector3<T> {
        let vertex = self.plain.faces[face][k];
        let Some(own) = self.carried() else { return self.plain.vertex_normals[vertex as usize].map(T::lit) };
        let mut sum = Vector3::zeros();
        for ((corners, triangle), normal) in self.plain.faces.iter().zip(self.triangles()).zip(&own.normals) {
            for k in (0..3).filter(|&k| corners[k] == vertex) {
                sum += normal * angle(&triangle, k);
            }
        }
        sum
    }

    /// The surface point that was found nearest to `p`, in this scalar. The search determines on which feature of which
    /// face it lies and whether `p` is inside; derivatives do not change this.
    fn with_derivatives(
        &self,
        found: &(usize, Feature, SurfacePoint<f64>),
        p: &Point3<T>,
    ) -> SurfacePoint<T> {
        let (face, feature, near) = *found;
        let point = match feature {
            Feature::Face => {
                let mut normal = self.normal(face);
                // Outside the box of the mesh, the search flips a face that is seen from behind.
                if near.normal.dot(&normal.map(T::to_f64)) < 0.0 {
                    normal = -normal;
                }
                let (a, _) = self.edge(face, 0);
                let point = p - normal * normal.dot(&(p - a));
                return SurfacePoint { point, normal, signed_distance: normal.dot(&(p - point)) };
            }
            Feature::Edge(k) => {
                let (from, along) = self.edge(face, k);
                from + along * ((p - from).dot(&along) / along.norm_squared())
            }
            Feature::Corner(k) => self.edge(face, k).0,
        };
        let away = p - point;
        let squared = away.norm_squared();
        if squared > T::zero() && near.signed_distance != 0.0 {
            let distance = squared.sqrt();
            let signed_distance = if near.signed_distance < 0.0 { -distance } else { distance };
            return SurfacePoint { point, normal: away / signed_distance, signed_distance };
        }
        let pseudo_normal = match feature {
            Feature::Face => self.normal(face),
            Feature::Edge(k) => match self.plain.neighbours[face][k] {
                NO_FACE => self.normal(face),
                neighbour => self.normal(face) + self.normal(neighbour as usize),
            },
            Feature::Corner(k) => self.pseudo_normal_at(face, k),
        };
        let normal = pseudo_normal / pseudo_normal.norm_squared().sqrt();
        SurfacePoint { point, normal, signed_distance: T::zero() }
    }

    /// As [`Solid::normal_gradient`](crate::shapes::Solid::normal_gradient), for a nearest point on this part.
    #[inline]
    pub(crate) fn normal_gradient_on(
        &self,
        (face, feature): (usize, Feature),
        normal: &Vector3<T>,
        signed_distance: T,
    ) -> Option<Matrix3<T>> {
        if self.plain.is_flat_around(face, feature) {
            return None;
        }
        match feature {
            Feature::Face => None,
            Feature::Edge(k) => {
                let (_, edge) = self.edge(face, k);
                let across = edge.cross(normal);
                let scale = (edge.norm_squared() * signed_distance).recip();
                Some(if scale.is_finite() { across * across.transpose() * scale } else { Matrix3::zeros() })
            }
            Feature::Corner(_) => Some(turned_about(normal, signed_distance)),
        }
    }

    /// The nearest vertex to a distant point. Up to rounding it is the nearest point: the difference, half the squared
    /// size over the distance, is below the roundoff of the distance.
    #[cold]
    fn nearest_from_afar(&self, p: &Point3<T>) -> SurfacePoint<T> {
        let PlainMesh { center, faces, geometry, .. } = &*self.plain;
        let away = direction_and_length(&(p.map(T::to_f64) - center));
        let direction = away.map_or(Vector3::x(), |(direction, _)| direction);
        let ahead = |corner: u32| direction.dot(&(geometry.vertices[corner as usize] - center));
        let further = |a: u32, b: u32| if ahead(b) > ahead(a) { b } else { a };
        let point = self.vertex(faces.iter().flatten().copied().fold(faces[0][0], further) as usize);
        let (normal, signed_distance) =
            direction_and_length(&(p - point)).unwrap_or((Vector3::x(), T::zero()));
        SurfacePoint { point, normal, signed_distance }
    }
}

/// The mesh in plain numbers, or all faults of single vertices and faces.
fn examine<T: Real>(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Result<PlainMesh, Vec<MeshFault>> {
    check_counts(vertices.len(), faces.len() as u64).map_err(|fault| alloc::vec![fault])?;
    let plain = vertices.iter().map(|p| p.map(T::to_f64)).collect();
    PlainMesh::new(plain, faces, T::negligible().to_f64(), can_hold::<T>)
}

/// The sign of the distance to an open mesh is that of the faces at the nearest point.
impl<T: Real> Solid<T> for TriangleMesh<T> {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        match self.plain.nearest(&p_S.map(T::to_f64)) {
            Some((.., near)) if is_plain::<T>() => near.cast(),
            Some(found) => self.with_derivatives(&found, p_S),
            None => self.nearest_from_afar(p_S),
        }
    }

    fn bounds(&self) -> Option<(Point3<T>, Vector3<T>)> {
        let (center, half_extents) = (self.plain.center.map(T::lit), self.plain.half_extents.map(T::lit));
        Some((center, half_extents))
    }

    fn supporting_plane(&self, p_S: &Point3<T>) -> Option<Plane<T>> {
        let slack = self.plain.convexity_slack?;
        let face = self.plain.tree.face(self.plain.tree.nearest(&p_S.map(T::to_f64), None));
        let normal = self.normal(face);
        Some(Plane { normal, offset: normal.dot(&self.centroid(face).coords) + T::lit(slack) })
    }
}
