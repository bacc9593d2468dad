//! The integral of the depth over the parts of faces that are inside another surface.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::math::{Pose, Real, cast_pose, clone_by_field, default_by_field, is_plain};
use crate::shapes::mesh::clip::moments;
use crate::shapes::mesh::cluster::Cluster;
use crate::shapes::mesh::displaced::{Valued, on_half_space, plane_in, relative};
use crate::shapes::mesh::inside::is_near;
use crate::shapes::mesh::triangles::LANES;
use crate::shapes::{Displaced, Solid, SolidShape, SurfacePoint, TriangleMesh};

/// The results of several calls of [`TriangleMesh::for_each_loaded`].
#[derive(Debug)]
pub(crate) struct VertexBuffer<T: Real> {
    /// The vertices of faces that may reach inside; of merged vertices, the first. The depth is interpolated linearly
    /// over each face between its corners, and counts where it is positive. With the function of a vertex as weight, the
    /// integral of one over the faces around it is its area \[m²\], and the integral of the depth is its volume \[m³\].
    pub(crate) visited: Vec<(Displaced<T>, T)>,
    /// Each face of which a part is inside, by its number in the mesh, and the places of its corners among the visited
    /// vertices.
    pub(crate) faces: Vec<(u32, [u32; 3])>,
    /// By vertex, its place among the visited vertices, or [`NOWHERE`], which all of them are between the calls.
    place_of: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

clone_by_field!(VertexBuffer { visited, faces, place_of });
default_by_field!(VertexBuffer { visited, faces, place_of });

impl<T: Real> VertexBuffer<T> {
    /// Clears the results, and makes room for meshes with this total number of vertices and faces.
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

    /// Makes room for the places of this number of vertices.
    pub(crate) fn reserve(&mut self, vertices: usize) {
        if self.place_of.len() < vertices {
            self.place_of.resize(vertices, NOWHERE);
        }
    }

    /// The place of a vertex, which is measured on the first visit.
    #[inline]
    fn visit(&mut self, vertex: u32, near_G: impl FnOnce() -> SurfacePoint<T>) -> usize {
        let place = &mut self.place_of[vertex as usize];
        if *place == NOWHERE {
            // As many as there are vertices fit into 32 bits.
            #[expect(clippy::cast_possible_truncation, reason = "vertices are numbered with 32 bits")]
            let next = self.visited.len() as u32;
            *place = next;
            let spring = Displaced::new(vertex as usize, T::zero(), &near_G(), None);
            self.visited.push((spring, T::zero()));
        }
        *place as usize
    }
}

impl<T: Real> TriangleMesh<T> {
    /// Calls `found` for each vertex of a face that reaches into the other surface, which is not a mesh, with its
    /// [volume](VertexBuffer::visited), in an order that depends on the mesh. The mesh is at `X_GS`, the other surface at `X_GO`.
    ///
    /// Vertices whose volume is zero are left out. The search runs on plain numbers, as in
    /// [`for_each_inside`](Self::for_each_inside).
    pub(crate) fn for_each_loaded(
        &self,
        X_GS: &Pose<T>,
        other: &SolidShape<T>,
        X_GO: &Pose<T>,
        buffer: &mut VertexBuffer<T>,
        found: impl FnMut(&Displaced<T>, T),
    ) {
        match other {
            SolidShape::HalfSpace(other) => {
                let near_G = on_half_space(X_GS, *other, X_GO);
                let plane = plane_in(&cast_pose(X_GS), *other, &cast_pose(X_GO));
                let reaches =
                    |cluster: &Cluster| cluster.reaches(&plane.normal, plane.height(&cluster.center));
                let near_G = |vertex: usize| {
                    let p = &self.plain.geometry.vertices[vertex];
                    near_G(p, plane.height(p), self.vertex(vertex))
                };
                self.integrate(reaches, near_G, buffer, found);
            }
            // Springs on meshes are at centroids.
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
        found: impl FnMut(&Displaced<T>, T),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        let (to_O, X_OS) = (O.inv_mul(&S), relative::<T>(X_GS, X_GO));
        let near_G = |vertex: usize| {
            if is_plain::<T>() {
                plain.nearest(&(to_O * self.plain.geometry.vertices[vertex])).placed(&O).cast()
            } else {
                other.nearest(&(X_OS * self.vertex(vertex))).placed(X_GO)
            }
        };
        self.integrate(|cluster| is_near(cluster, &to_O, plain), near_G, buffer, found);
    }

    /// Integrates over all faces in clusters that may reach inside.
    #[inline]
    fn integrate(
        &self,
        reaches: impl Fn(&Cluster) -> bool,
        near_G: impl Fn(usize) -> SurfacePoint<T>,
        buffer: &mut VertexBuffer<T>,
        mut found: impl FnMut(&Displaced<T>, T),
    ) {
        buffer.reserve(self.plain.geometry.vertices.len());
        let first = buffer.visited.len();
        let visit = |leaf: u32, ()| {
            for l in 0..self.plain.tree.leaf_length(leaf) {
                let face = self.plain.tree.face(leaf as usize * LANES + l);
                let corners =
                    self.plain.faces[face].map(|vertex| buffer.visit(vertex, || near_G(vertex as usize)));
                let depths = corners.map(|place| buffer.visited[place].0.depth);
                let Some([of_depth, of_area]) = moments(depths) else { continue };
                let area = self.area(face);
                // Their numbers fit into 32 bits, as do their corners.
                #[expect(clippy::cast_possible_truncation, reason = "faces are numbered with 32 bits")]
                buffer.faces.push((face as u32, corners.map(|place| place as u32)));
                for (k, place) in corners.into_iter().enumerate() {
                    let (spring, volume) = &mut buffer.visited[place];
                    *volume += area * of_depth[k];
                    spring.area += area * of_area[k];
                }
            }
        };
        let clusters = &self.plain.tree.corner_clusters;
        self.plain.walk(clusters, |cluster, _, _, ()| reaches(cluster).then_some(()), (), visit);
        let VertexBuffer { visited, place_of, .. } = buffer;
        for (vertex, volume) in &visited[first..] {
            place_of[vertex.index] = NOWHERE;
            if *volume != T::zero() {
                found(vertex, *volume);
            }
        }
    }
}
