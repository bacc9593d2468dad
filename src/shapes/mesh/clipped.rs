//! The integral of the depth over the parts of faces that are inside another surface.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::Cell;

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real, cast_pose, is_plain};
use crate::shapes::mesh::TriangleMesh;
use crate::shapes::mesh::clip::Moments;
use crate::shapes::mesh::cluster::Cluster;
use crate::shapes::mesh::displaced::{Valued, plane_in, relative};
use crate::shapes::mesh::inside::{is_behind, is_near};
use crate::shapes::mesh::plain::{PlainMesh, Slot};
use crate::shapes::mesh::tree::Extent;
use crate::shapes::mesh::triangles::LANES;
use crate::shapes::solid::{Solid, SurfacePoint};
use crate::shapes::solid_shape::SolidShape;

/// A vertex with its share of the depth integrated over the faces around it.
///
/// The depth is interpolated linearly over each face between its corners, and counts where it is positive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadedVertex<T: Real> {
    /// The vertex, as numbered by the mesh; of merged vertices, the first.
    pub vertex: usize,
    /// The depth of the vertex \[m\]; negative outside.
    pub depth: T,
    /// The share of the integral of depth times weight over area \[m³\].
    pub volume: T,
    /// The mean depth over the share \[m\], greater than zero.
    pub mean_depth: T,
    /// The nearest point of the other surface, in Ground.
    pub point_G: Point3<T>,
    /// The outward normal of the other surface there, in Ground.
    pub normal_G: Vector3<T>,
}

/// Memory for [`TriangleMesh::for_each_loaded`], empty between its calls.
#[derive(Debug)]
pub(crate) struct VertexBuffer<T: Real> {
    visited: Vec<Visited<T>>,
    /// By vertex, its place among the visited, or [`NOWHERE`].
    place_of: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Visited<T: Real> {
    vertex: u32,
    depth: T,
    point_G: Point3<T>,
    normal_G: Vector3<T>,
    /// Shares of the integrals of depth times weight, of depth, and of 1.
    weighted: T,
    volume: T,
    area: T,
}

impl<T: Real> Default for VertexBuffer<T> {
    fn default() -> Self {
        Self { visited: Vec::new(), place_of: Vec::new() }
    }
}

/// A copy is empty; memory that is there is kept.
impl<T: Real> Clone for VertexBuffer<T> {
    fn clone(&self) -> Self {
        Self::default()
    }

    fn clone_from(&mut self, _: &Self) {}
}

impl<T: Real> VertexBuffer<T> {
    /// Makes room for a mesh with so many vertices.
    pub(crate) fn reserve(&mut self, vertices: usize) {
        if self.place_of.len() < vertices {
            self.place_of.resize(vertices, NOWHERE);
            self.visited.reserve_exact(vertices - self.visited.len());
        }
    }

    /// The place of a vertex, which is measured on the first visit.
    #[inline]
    fn visit(&mut self, vertex: u32, measure: impl FnOnce() -> Measured<T>) -> usize {
        let place = &mut self.place_of[vertex as usize];
        if *place == NOWHERE {
            // As many as there are vertices fit into 32 bits.
            #[expect(clippy::cast_possible_truncation, reason = "vertices are numbered with 32 bits")]
            let next = self.visited.len() as u32;
            *place = next;
            let Measured { depth, point_G, normal_G } = measure();
            let [weighted, volume, area] = [T::zero(); 3];
            self.visited.push(Visited { vertex, depth, point_G, normal_G, weighted, volume, area });
        }
        *place as usize
    }
}

/// The depth of a vertex, and the contact point.
struct Measured<T: Real> {
    depth: T,
    point_G: Point3<T>,
    normal_G: Vector3<T>,
}

impl<T: Real> Measured<T> {
    #[inline]
    fn new(near: &SurfacePoint<T>, X_GO: &Pose<T>) -> Self {
        let SurfacePoint { point, normal, signed_distance } = near;
        Self { depth: -*signed_distance, point_G: X_GO * point, normal_G: X_GO.rotation * normal }
    }

    #[inline]
    fn cast<U: Real>(&self) -> Measured<U> {
        Measured {
            depth: self.depth.cast(),
            point_G: self.point_G.map(T::cast),
            normal_G: self.normal_G.map(T::cast),
        }
    }
}

impl<T: Real> TriangleMesh<T> {
    /// Calls `found` for each vertex of a face that reaches into the other surface, in an order that depends on the
    /// mesh. The mesh is at `X_GS`, the other surface at `X_GO`; if it is a mesh, it must be closed.
    ///
    /// `weight` is asked for the weight of a face where the other surface has a normal, in Ground. Vertices whose
    /// volume is zero are left out. The search runs on plain numbers, as in
    /// [`for_each_inside`](Self::for_each_inside).
    pub(crate) fn for_each_loaded(
        &self,
        X_GS: &Pose<T>,
        other: &SolidShape<T>,
        X_GO: &Pose<T>,
        weight: impl Fn(usize, &Vector3<T>) -> T,
        buffer: &mut VertexBuffer<T>,
        found: impl FnMut(LoadedVertex<T>),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        match other {
            SolidShape::HalfSpace(other) => {
                let (normal, normal_G) = (O * other.normal(), X_GO * other.normal());
                let (plane, plane_S) = (plane_in(&S, normal, &O), plane_in(X_GS, normal_G, X_GO));
                let reaches =
                    |cluster: &Cluster| cluster.reaches(&plane.normal, plane.height(&cluster.center()));
                let measure = |vertex: usize| {
                    if is_plain::<T>() {
                        let p = &self.plain.vertices[vertex];
                        let depth = -plane.height(p);
                        Measured { depth, point_G: S * p + normal * depth, normal_G: normal }.cast()
                    } else {
                        let p = self.vertex(vertex);
                        let depth = -plane_S.height(&p);
                        Measured { depth, point_G: X_GS * p + normal_G * depth, normal_G }
                    }
                };
                self.integrate(reaches, measure, weight, buffer, found);
            }
            SolidShape::Mesh(other) => {
                let (to_O, X_OS) = (O.inv_mul(&S), relative::<T>(X_GS, X_GO));
                // Each query starts from the triangle that the last one found.
                let last = Cell::new(None);
                let reaches = |cluster: &Cluster| other.plain.is_near(cluster, &to_O, &last);
                let measure = |vertex: usize| {
                    let p_O = to_O * self.plain.vertices[vertex];
                    let slot = other.plain.tree.nearest(&p_O, last.get());
                    last.set(Some(slot));
                    let nearest = other.plain.nearest_at(slot, &p_O);
                    if is_plain::<T>() {
                        Measured::new(&nearest.near, &O).cast()
                    } else {
                        Measured::new(&other.with_derivatives(&nearest, &(X_OS * self.vertex(vertex))), X_GO)
                    }
                };
                self.integrate(reaches, measure, weight, buffer, found);
            }
            SolidShape::Sphere(other) => {
                self.integrate_in([X_GS, X_GO], other, &other.in_plain(), weight, buffer, found);
            }
            SolidShape::Ellipsoid(other) => {
                self.integrate_in([X_GS, X_GO], other, &other.in_plain(), weight, buffer, found);
            }
            SolidShape::Custom(other) => {
                let plain = Valued(Arc::clone(other));
                self.integrate_in([X_GS, X_GO], other.as_ref(), &plain, weight, buffer, found);
            }
        }
    }

    /// `plain` is the other solid in plain numbers.
    fn integrate_in(
        &self,
        [X_GS, X_GO]: [&Pose<T>; 2],
        other: &(impl Solid<T> + ?Sized),
        plain: &impl Solid<f64>,
        weight: impl Fn(usize, &Vector3<T>) -> T,
        buffer: &mut VertexBuffer<T>,
        found: impl FnMut(LoadedVertex<T>),
    ) {
        let (S, O) = (cast_pose::<T, f64>(X_GS), cast_pose::<T, f64>(X_GO));
        let (to_O, X_OS) = (O.inv_mul(&S), relative::<T>(X_GS, X_GO));
        let measure = |vertex: usize| {
            if is_plain::<T>() {
                Measured::new(&plain.nearest(&(to_O * self.plain.vertices[vertex])), &O).cast()
            } else {
                Measured::new(&other.nearest(&(X_OS * self.vertex(vertex))), X_GO)
            }
        };
        self.integrate(|cluster| is_near(cluster, &to_O, plain), measure, weight, buffer, found);
    }

    /// Integrates over all faces in clusters that may reach inside.
    #[inline]
    fn integrate(
        &self,
        reaches: impl Fn(&Cluster) -> bool,
        measure: impl Fn(usize) -> Measured<T>,
        weight: impl Fn(usize, &Vector3<T>) -> T,
        buffer: &mut VertexBuffer<T>,
        mut found: impl FnMut(LoadedVertex<T>),
    ) {
        buffer.reserve(self.plain.vertices.len());
        let visit = |leaf: u32, ()| {
            for l in 0..self.plain.tree.leaf_length(leaf) {
                let face = self.plain.tree.face(leaf as usize * LANES + l);
                let corners =
                    self.plain.faces[face].map(|vertex| buffer.visit(vertex, || measure(vertex as usize)));
                let depths = corners.map(|place| buffer.visited[place].depth);
                let Some(moments) = Moments::of(depths) else { continue };
                let area = self.area(face);
                for (k, place) in corners.into_iter().enumerate() {
                    let visited = &mut buffer.visited[place];
                    let volume = area * moments.depth[k];
                    visited.weighted += volume * weight(face, &visited.normal_G);
                    visited.volume += volume;
                    visited.area += area * moments.area[k];
                }
            }
        };
        self.plain.walk(Extent::Corners, |cluster, _, ()| reaches(cluster).then_some(()), (), visit);
        let VertexBuffer { visited, place_of } = buffer;
        for Visited { vertex, depth, point_G, normal_G, weighted, volume, area } in visited.drain(..) {
            place_of[vertex as usize] = NOWHERE;
            if weighted != T::zero() {
                let mean_depth = volume / area;
                let vertex = vertex as usize;
                found(LoadedVertex { vertex, depth, volume: weighted, mean_depth, point_G, normal_G });
            }
        }
    }
}

impl PlainMesh {
    /// Whether any part of a cluster may be inside this mesh. The query starts from the last triangle found.
    #[inline]
    fn is_near(&self, cluster: &Cluster, X_OS: &Pose<f64>, last: &Cell<Option<Slot>>) -> bool {
        let center_O = X_OS * cluster.center();
        let is_in_front = |slot: Slot| {
            self.face_plane(slot).is_some_and(|plane| !is_behind(cluster, &center_O, &plane, X_OS))
        };
        if self.distance_to_box(&center_O) >= cluster.radius || last.get().is_some_and(is_in_front) {
            return false;
        }
        let slot = self.tree.nearest(&center_O, last.get());
        last.set(Some(slot));
        !is_in_front(slot) && self.nearest_on(slot, &center_O).near.signed_distance < cluster.radius
    }
}
