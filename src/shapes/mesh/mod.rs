//! Triangle meshes: validated, searchable, and made from parameters or files.

mod cluster;
mod generate;
mod inside;
#[cfg(feature = "mesh-files")]
mod read;
mod topology;
mod tree;
mod triangles;

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::math::Real;
use crate::shapes::solid::{Bounds, Plane, Solid, SurfacePoint};
use crate::shapes::{ShapeError, direction_and_length};

pub use inside::Displaced;
#[cfg(feature = "mesh-files")]
pub use read::FaceList;
pub use topology::MeshFault;

use topology::{MAX_FACES, NO_FACE, Topology};
use tree::Tree;
use triangles::Feature;

/// Triangles, wound counter-clockwise seen from outside, with a tree over them.
///
/// A *closed* mesh has an inside, which other surfaces can enter. An *open* one has none and can only carry
/// springs that enter other surfaces.
///
/// Vertices at exactly the same position are merged, so that files which repeat them per face need no
/// preparation. Faces keep their numbers.
///
/// # Refused
///
/// Every mesh: no faces or more than [`MAX_FACES`](Self::MAX_FACES), vertices that are not finite, indices out of
/// range, faces without area, faces so small or large that the fourth power of their longest edge underflows or
/// overflows (in `f64` below 1e-81 m and above 1e77 m, in `f32` below 6e-12 m and above 4e9 m). A closed mesh
/// also: edges with one face or more than two, neighbours that are wound against each other, vertices where two
/// sheets of faces touch, and parts that are inside out (a part wound the other way within another is a cavity,
/// which is allowed). Faces that intersect are **not** detected.
///
/// # Inside or outside
///
/// The sign of a distance is that of the angle to the pseudo-normal at the nearest point: the face's
/// normal, the sum of two at an edge, the sum weighted by angles at a vertex, which is right
/// also at sharp corners (J. A. Bærentzen, H. Aanæs, *Signed distance computation using the angle
/// weighted pseudonormal*, IEEE Trans. Vis. Comput. Graph. 11 (2005) 243–253).
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
    vertices: Vec<Point3<T>>,
    faces: Vec<[u32; 3]>,
    centroids: Vec<Point3<T>>,
    normals: Vec<Vector3<T>>,
    areas: Vec<T>,
    /// The face across each edge, the k-th of which runs from corner k to the next.
    neighbours: Vec<[u32; 3]>,
    vertex_normals: Vec<Vector3<T>>,
    /// The fault by which the mesh is not closed.
    opening: Option<MeshFault>,
    /// The largest height of a vertex in front of a face's plane, if the mesh is convex.
    convexity_slack: Option<T>,
    center: Point3<T>,
    half_extents: Vector3<T>,
    tree: Tree<T>,
}

/// A triangle, by its place in the tree.
pub(crate) type Slot = usize;

impl<T: Real> TriangleMesh<T> {
    /// The largest number of faces of a mesh: 4,194,304, which take about 1.7 GB in `f64`.
    pub const MAX_FACES: usize = MAX_FACES;

    /// A closed mesh. Faces are indices of vertices, from 0.
    ///
    /// # Errors
    /// [`ShapeError::Mesh`] with the first of the [`faults`](Self::faults).
    pub fn closed(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Result<Self, ShapeError> {
        let mesh = Self::open(vertices, faces)?;
        match mesh.opening {
            Some(fault) => Err(ShapeError::Mesh { fault }),
            None => Ok(mesh),
        }
    }

    /// A mesh that may be open and can carry springs. If it is closed, it has an inside too.
    ///
    /// # Errors
    /// [`ShapeError::Mesh`] if there are no faces, a vertex is not finite, an index is out of range or a
    /// face has no area.
    pub fn open(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Result<Self, ShapeError> {
        let topology = Topology::new(vertices, faces).map_err(|faults| match faults.first() {
            Some(&fault) => ShapeError::Mesh { fault },
            None => ShapeError::Mesh { fault: MeshFault::Empty },
        })?;
        Ok(Self::build(vertices, topology))
    }

    /// All faults by which these faces are not a closed mesh. If single vertices or faces are bad, only those are
    /// listed.
    pub fn faults(vertices: &[Point3<T>], faces: &[[u32; 3]]) -> Vec<MeshFault> {
        match Topology::new(vertices, faces) {
            Ok(topology) => topology.openings,
            Err(faults) => faults,
        }
    }

    fn build(vertices: &[Point3<T>], topology: Topology<T>) -> Self {
        let Topology { faces, neighbours, normals, areas, openings } = topology;
        let corner = |index: u32| vertices[index as usize];
        let third = T::one() / T::lit(3.0);
        let centroids: Vec<_> = faces
            .iter()
            .map(|f| Point3::from((corner(f[0]).coords + corner(f[1]).coords + corner(f[2]).coords) * third))
            .collect();
        let tree = Tree::new(vertices, &faces, &centroids, &normals, &areas);
        let (min, max) = tree.bounds();
        let half = T::lit(0.5);
        let mut mesh = Self {
            vertex_normals: vertex_normals(vertices, &faces, &normals),
            vertices: vertices.to_vec(),
            opening: openings.first().copied(),
            convexity_slack: None,
            center: Point3::from((min.coords + max.coords) * half),
            half_extents: (max - min) * half,
            faces,
            centroids,
            normals,
            areas,
            neighbours,
            tree,
        };
        mesh.convexity_slack = mesh.calc_convexity_slack();
        mesh
    }

    /// The number of faces.
    pub fn face_count(&self) -> usize {
        self.faces.len()
    }

    /// The vertices, as given.
    pub fn vertices(&self) -> &[Point3<T>] {
        &self.vertices
    }

    /// The corners of each face; of merged vertices, the first.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// The centroid of each face, the base of its spring.
    pub fn centroids(&self) -> &[Point3<T>] {
        &self.centroids
    }

    /// The outward unit normal of each face.
    pub fn normals(&self) -> &[Vector3<T>] {
        &self.normals
    }

    /// The area of each face \[m²\].
    pub fn areas(&self) -> &[T] {
        &self.areas
    }

    /// The enclosed volume \[m³\], if the mesh is closed.
    pub fn volume(&self) -> Option<T> {
        let sum = self.faces.iter().fold(T::zero(), |sum, f| {
            // About the middle of the box rather than the origin, which may be far away.
            let [a, b, c] = f.map(|corner| self.vertices[corner as usize] - self.center);
            sum + a.dot(&b.cross(&c))
        });
        self.opening.is_none().then(|| sum / T::lit(6.0))
    }

    /// Whether the mesh is closed.
    pub fn is_closed(&self) -> bool {
        self.opening.is_none()
    }

    /// The first fault by which the mesh is not closed; `None` if it is.
    pub fn opening(&self) -> Option<MeshFault> {
        self.opening
    }

    /// Whether the enclosed solid is convex, up to rounding.
    pub fn is_convex(&self) -> bool {
        self.convexity_slack.is_some()
    }

    /// The same mesh in another scalar, with zero derivatives.
    ///
    /// # Errors
    /// [`ShapeError::Mesh`] if it is too fine for a scalar of less precision.
    pub fn cast<U: Real>(&self) -> Result<TriangleMesh<U>, ShapeError> {
        let vertices: Vec<_> = self.vertices.iter().map(|v| v.map(T::cast)).collect();
        if self.is_closed() {
            TriangleMesh::closed(&vertices, &self.faces)
        } else {
            TriangleMesh::open(&vertices, &self.faces)
        }
    }

    /// The nearest point of one face, with a signed distance.
    #[inline]
    pub(crate) fn nearest_on(&self, slot: Slot, p: &Point3<T>) -> SurfacePoint<T> {
        let (pack, lane) = self.tree.triangle(slot);
        let face = self.tree.face(slot);
        let normal = self.normals[face];
        let (point, feature) = pack.nearest(lane, p);
        let pseudo_normal = match feature {
            Feature::Face => {
                // Measured along the normal, small depths keep full precision.
                let signed_distance = normal.dot(&(p - point));
                return SurfacePoint { point, normal, signed_distance };
            }
            Feature::Edge(k) => match self.neighbours[face][k] {
                NO_FACE => normal,
                neighbour => normal + self.normals[neighbour as usize],
            },
            Feature::Corner(k) => self.vertex_normals[self.faces[face][k] as usize],
        };
        let away = p - point;
        let squared = away.norm_squared();
        let is_inside = pseudo_normal.dot(&away) < T::zero();
        if squared > T::zero() {
            let distance = squared.sqrt();
            let signed_distance = if is_inside { -distance } else { distance };
            SurfacePoint { point, normal: away / signed_distance, signed_distance }
        } else {
            let length = pseudo_normal.norm_squared().sqrt();
            SurfacePoint { point, normal: pseudo_normal / length, signed_distance: T::zero() }
        }
    }

    /// The nearest point from so far away that the foremost vertex is nearest up to rounding: the difference,
    /// half the squared size over the distance, is below the roundoff of the distance.
    #[cold]
    fn nearest_from_afar(&self, p: &Point3<T>, from_center: &Vector3<T>) -> SurfacePoint<T> {
        let (direction, _) = direction_and_length(from_center).unwrap_or((Vector3::x(), T::zero()));
        let corners = self.faces.iter().flatten().map(|&corner| self.vertices[corner as usize]);
        let ahead = |v: &Point3<T>| direction.dot(&(v - self.center));
        let foremost = corners.fold(self.center, |best, v| if ahead(&v) > ahead(&best) { v } else { best });
        let (normal, signed_distance) =
            direction_and_length(&(p - foremost)).unwrap_or((direction, T::zero()));
        SurfacePoint { point: foremost, normal, signed_distance }
    }

    /// The largest height of a vertex in front of a face's plane; `None` if it exceeds rounding.
    fn calc_convexity_slack(&self) -> Option<T> {
        if self.opening.is_some() {
            return None;
        }
        let slack = self.half_extents.norm_squared().sqrt() * T::negligible() * T::lit(100.0);
        let plane = |f: usize| {
            let normal = self.normals[f];
            let a = self.vertices[self.faces[f][0] as usize];
            Plane { normal, offset: normal.dot(&a.coords) + slack }
        };
        // Most nonconvex meshes are detected at an edge.
        let bends_out = |f: usize| {
            let plane = plane(f);
            let corners = self.neighbours[f].into_iter().flat_map(|neighbour| self.faces[neighbour as usize]);
            corners.map(|corner| &self.vertices[corner as usize]).all(|p| plane.height(p) <= T::zero())
        };
        let faces = 0..self.faces.len();
        if !faces.clone().all(bends_out) {
            return None;
        }
        let clusters = self.tree.corner_clusters();
        let is_behind_all = !faces.into_iter().any(|f| self.tree.reaches_above(&plane(f), &clusters));
        is_behind_all.then_some(slack)
    }

    /// The plane of one face, if the whole mesh is behind it.
    #[inline]
    pub(crate) fn face_plane(&self, slot: Slot) -> Option<Plane<T>> {
        self.convexity_slack.map(|slack| {
            let face = self.tree.face(slot);
            let normal = self.normals[face];
            Plane { normal, offset: normal.dot(&self.centroids[face].coords) + slack }
        })
    }
}

/// Sums of face normals about each vertex, weighted by the angle of the face's corner there.
fn vertex_normals<T: Real>(
    vertices: &[Point3<T>],
    faces: &[[u32; 3]],
    normals: &[Vector3<T>],
) -> Vec<Vector3<T>> {
    let mut sums = alloc::vec![Vector3::zeros(); vertices.len()];
    for (corners, normal) in faces.iter().zip(normals) {
        let [a, b, c] = corners.map(|corner| vertices[corner as usize]);
        for (corner, along, back) in
            [(corners[0], b - a, c - a), (corners[1], c - b, a - b), (corners[2], a - c, b - c)]
        {
            // Normalized, so that the fourth power of small edges does not underflow.
            let (along, back) = (along / along.amax(), back / back.amax());
            let angle = along.cross(&back).norm_squared().sqrt().atan2(along.dot(&back));
            sums[corner as usize] += normal * angle;
        }
    }
    sums
}

/// The sign of the distance to an open mesh is that of the faces at the nearest point.
impl<T: Real> Solid<T> for TriangleMesh<T> {
    fn nearest(&self, p_S: &Point3<T>) -> SurfacePoint<T> {
        let from_center = p_S - self.center;
        let squared = from_center.norm_squared() * T::default_epsilon();
        if !(squared.is_finite() && squared <= self.half_extents.norm_squared()) {
            return self.nearest_from_afar(p_S, &from_center);
        }
        let near = self.nearest_on(self.tree.nearest(p_S, None), p_S);
        // From far away, front and back of a thin body may be equally near up to rounding.
        if near.signed_distance < T::zero() && self.distance_to_box(p_S) > T::zero() {
            return SurfacePoint { normal: -near.normal, signed_distance: -near.signed_distance, ..near };
        }
        near
    }

    fn bounds(&self) -> Bounds<T> {
        Bounds::Box { center: self.center, half_extents: self.half_extents }
    }

    fn supporting_plane(&self, p_S: &Point3<T>) -> Option<Plane<T>> {
        self.convexity_slack.and_then(|_| self.face_plane(self.tree.nearest(p_S, None)))
    }
}
