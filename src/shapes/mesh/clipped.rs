//! The integral of the depth over the parts of faces that are inside another surface.

use alloc::sync::Arc;
use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real, cast_pose, clone_by_field, default_by_field, is_plain};
use crate::shapes::mesh::clip::moments;
use crate::shapes::mesh::cluster::Cluster;
use crate::shapes::mesh::displaced::{Valued, plane_in, relative};
use crate::shapes::mesh::inside::is_near;
use crate::shapes::mesh::triangles::LANES;
use crate::shapes::{Solid, SolidShape, SurfacePoint, TriangleMesh};

/// What [`TriangleMesh::for_each_loaded`] has found in one call after the other.
#[derive(Debug)]
pub(crate) struct VertexBuffer<T: Real> {
    pub(crate) visited: Vec<LoadedVertex<T>>,
    /// Each face of which a part is inside, as numbered by the mesh, and the places of its corners among the visited.
    pub(crate) faces: Vec<(u32, [u32; 3])>,
    /// By vertex, its place among the visited, or [`NOWHERE`]; all of them between the calls.
    place_of: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

/// A vertex of a face that may reach inside, with its share of the depth integrated over the faces around it.
///
/// The depth is interpolated linearly over each face between its corners, and counts where it is positive.
#[derive(Debug, Clone)]
pub(crate) struct LoadedVertex<T: Real> {
    /// As numbered by the mesh; of merged vertices, the first.
    pub(crate) vertex: u32,
    /// \[m\]; negative outside.
    pub(crate) depth: T,
    /// The nearest point of the other surface, in Ground.
    pub(crate) point_G: Point3<T>,
    /// The outward normal of the other surface there, in Ground.
    pub(crate) normal_G: Vector3<T>,
    /// The shares of the integrals of depth \[m³\], and of 1 \[m²\].
    pub(crate) volume: T,
    pub(crate) area: T,
}

clone_by_field!(VertexBuffer { visited, faces, place_of });
default_by_field!(VertexBuffer { visited, faces, place_of });

impl<T: Real> VertexBuffer<T> {
    /// Forgets what was found, and makes room for meshes with so many vertices and faces in all.
    pub(crate) fn clear(&mut self, vertices: usize, faces: usize) {
        self.visited.clear();
        self.faces.clear();
        self.visited.reserve_exact(vertices);
        self.faces.reserve_exact(faces);
    }

    /// The numbers of vertices and faces found so far.
    pub(crate) fn lengths(&self) -> [usize; 2] {
        [self.visited.len(), self.faces.len()]
    }

    /// Makes room for the places of so many vertices.
    pub(crate) fn reserve(&mut self, vertices: usize) {
        if self.place_of.len() < vertices {
            self.place_of.resize(vertices, NOWHERE);
        }
    }

    /// The place of a vertex, which is measured on the first visit.
    #[inline]
    fn visit(&mut self, vertex: u32, measure: impl FnOnce() -> LoadedVertex<T>) -> usize {
        let place = &mut self.place_of[vertex as usize];
        if *place == NOWHERE {
            // As many as there are vertices fit into 32 bits.
            #[expect(clippy::cast_possible_truncation, reason = "vertices are numbered with 32 bits")]
            let next = self.visited.len() as u32;
            *place = next;
            self.visited.push(measure());
        }
        *place as usize
    }
}

impl<T: Real> LoadedVertex<T> {
    /// A vertex whose nearest point of a surface at `X_GO` is this one.
    #[inline]
    fn new(vertex: u32, near: &SurfacePoint<T>, X_GO: &Pose<T>) -> Self {
        let SurfacePoint { point, normal, signed_distance } = near;
        let (point_G, normal_G) = (X_GO * point, X_GO.rotation * normal);
        let [volume, area] = [T::zero(); 2];
        Self { vertex, depth: -*signed_distance, point_G, normal_G, volume, area }
    }

    /// In front of a plane at this height \[m\].
    #[inline]
    fn above(vertex: u32, height: T, p_G: Point3<T>, normal_G: Vector3<T>) -> Self {
        let [volume, area] = [T::zero(); 2];
        Self { vertex, depth: -height, point_G: p_G - normal_G * height, normal_G, volume, area }
    }

    #[inline]
    fn cast<U: Real>(&self) -> LoadedVertex<U> {
        LoadedVertex {
            vertex: self.vertex,
            depth: self.depth.cast(),
            point_G: self.point_G.map(T::cast),
            normal_G: self.normal_G.map(T::cast),
            volume: self.volume.cast(),
            area: self.area.cast(),
        }
    }
}

impl<T: Real> TriangleMesh<T> {
    /// Calls `found` for each vertex of a face that reaches into the other surface, which is not a mesh, in an order that
    /// depends on the mesh. The mesh is at `X_GS`, the other surface at `X_GO`.
    ///
    /// Vertices whose volume is zero are left out. The search runs on plain numbers, as in
    /// [`for_each_inside`](Self::for_each_inside).
    pub(crate) fn for_each_loaded(
        &self,
        X_GS: &Pose<T>,
        other: &SolidShape<T>,
        X_GO: &Pose<T>,
        buffer: &mut VertexBuffer<T>,
        found: impl FnMut(&LoadedVertex<T>),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        match other {
            SolidShape::HalfSpace(other) => {
                let (normal, normal_G) = (O * other.normal(), X_GO * other.normal());
                let (plane, plane_S) = (plane_in(&S, normal, &O), plane_in(X_GS, normal_G, X_GO));
                let reaches =
                    |cluster: &Cluster| cluster.reaches(&plane.normal, plane.height(&cluster.center));
                let measure = |number: u32| {
                    let vertex = number as usize;
                    if is_plain::<T>() {
                        let p = &self.plain.geometry.vertices[vertex];
                        LoadedVertex::above(number, plane.height(p), S * p, normal).cast()
                    } else {
                        let p = self.vertex(vertex);
                        LoadedVertex::above(number, plane_S.height(&p), X_GS * p, normal_G)
                    }
                };
                self.integrate(reaches, measure, buffer, found);
            }
            // Springs meet meshes at centroids.
            SolidShape::Mesh(_) => {}
            SolidShape::Sphere(other) => {
                self.integrate_in([X_GS, X_GO], other, &other.in_plain(), buffer, found);
            }
            SolidShape::Ellipsoid(other) => {
                self.integrate_in([X_GS, X_GO], other, &other.in_plain(), buffer, found);
            }
            SolidShape::Custom(other) => {
                let plain = Valued(Arc::clone(other));
                self.integrate_in([X_GS, X_GO], other.as_ref(), &plain, buffer, found);
            }
        }
    }

    /// `plain` is the other solid in plain numbers.
    fn integrate_in(
        &self,
        [X_GS, X_GO]: [&Pose<T>; 2],
        other: &(impl Solid<T> + ?Sized),
        plain: &impl Solid<f64>,
        buffer: &mut VertexBuffer<T>,
        found: impl FnMut(&LoadedVertex<T>),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        let (to_O, X_OS) = (O.inv_mul(&S), relative::<T>(X_GS, X_GO));
        let measure = |number: u32| {
            let vertex = number as usize;
            if is_plain::<T>() {
                let p_O = to_O * self.plain.geometry.vertices[vertex];
                LoadedVertex::new(number, &plain.nearest(&p_O), &O).cast()
            } else {
                LoadedVertex::new(number, &other.nearest(&(X_OS * self.vertex(vertex))), X_GO)
            }
        };
        self.integrate(|cluster| is_near(cluster, &to_O, plain), measure, buffer, found);
    }

    /// Integrates over all faces in clusters that may reach inside.
    #[inline]
    fn integrate(
        &self,
        reaches: impl Fn(&Cluster) -> bool,
        measure: impl Fn(u32) -> LoadedVertex<T>,
        buffer: &mut VertexBuffer<T>,
        mut found: impl FnMut(&LoadedVertex<T>),
    ) {
        buffer.reserve(self.plain.geometry.vertices.len());
        let first = buffer.visited.len();
        let visit = |leaf: u32, ()| {
            for l in 0..self.plain.tree.leaf_length(leaf) {
                let face = self.plain.tree.face(leaf as usize * LANES + l);
                let corners = self.plain.faces[face].map(|vertex| buffer.visit(vertex, || measure(vertex)));
                let depths = corners.map(|place| buffer.visited[place].depth);
                let Some([of_depth, of_area]) = moments(depths) else { continue };
                let area = self.area(face);
                // Their numbers fit into 32 bits, as do their corners.
                #[expect(clippy::cast_possible_truncation, reason = "faces are numbered with 32 bits")]
                buffer.faces.push((face as u32, corners.map(|place| place as u32)));
                for (k, place) in corners.into_iter().enumerate() {
                    let visited = &mut buffer.visited[place];
                    visited.volume += area * of_depth[k];
                    visited.area += area * of_area[k];
                }
            }
        };
        let clusters = &self.plain.tree.corner_clusters;
        self.plain.walk(clusters, |cluster, _, ()| reaches(cluster).then_some(()), (), visit);
        let VertexBuffer { visited, place_of, .. } = buffer;
        for vertex in &visited[first..] {
            place_of[vertex.vertex as usize] = NOWHERE;
            if vertex.volume != T::zero() {
                found(vertex);
            }
        }
    }
}
