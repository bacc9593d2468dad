//! The search for faces whose centroid is inside another surface.

use nalgebra::{Point3, Vector3};

use crate::math::{Pose, Real};
use crate::shapes::mesh::cluster::Cluster;
use crate::shapes::mesh::tree::{Child, STACK};
use crate::shapes::mesh::triangles::LANES;
use crate::shapes::mesh::{Slot, TriangleMesh};
use crate::shapes::solid::{Plane, Solid, SurfacePoint};
use crate::shapes::solid_shape::SolidShape;

/// A face whose centroid is inside another surface.
#[derive(Debug, Clone, Copy)]
pub struct Displaced<T: Real> {
    /// The face, as numbered by the mesh.
    pub face: usize,
    /// Its depth \[m\].
    pub depth: T,
    /// The nearest point of the other surface, in Ground.
    pub point_G: Point3<T>,
    /// The outward normal of the other surface there, in Ground.
    pub normal_G: Vector3<T>,
}

impl<T: Real> TriangleMesh<T> {
    /// Calls `found` for each face whose centroid is inside the other surface, in an order that depends
    /// on the mesh. The mesh is at `X_GS`, the other surface at `X_GO`; if it is a mesh, it must be closed.
    ///
    /// Whole subtrees are dropped when the disc around their centroids is in front of a plane
    /// that has the other surface behind it, or farther outside than it is large.
    #[inline]
    pub fn for_each_inside(
        &self,
        X_GS: &Pose<T>,
        other: &SolidShape<T>,
        X_GO: &Pose<T>,
        mut found: impl FnMut(Displaced<T>),
    ) {
        match other {
            SolidShape::HalfSpace(other) => self.find_behind_plane(X_GS, X_GO * other.normal(), X_GO, found),
            SolidShape::Mesh(other) => self.find_inside_mesh(X_GS, other, X_GO, found),
            SolidShape::Sphere(other) => self.find_inside(X_GS, other, X_GO, &mut found),
            SolidShape::Ellipsoid(other) => self.find_inside(X_GS, other, X_GO, &mut found),
            SolidShape::Custom(other) => self.find_inside(X_GS, other.as_ref(), X_GO, &mut found),
        }
    }

    /// A half-space is one plane for all faces, transformed once into the frame of the mesh.
    fn find_behind_plane(
        &self,
        X_GS: &Pose<T>,
        normal_G: Vector3<T>,
        X_GO: &Pose<T>,
        mut found: impl FnMut(Displaced<T>),
    ) {
        let normal = X_GS.rotation.inverse_transform_vector(&normal_G);
        let offset = normal_G.dot(&(X_GO.translation.vector - X_GS.translation.vector));
        let plane = Plane { normal, offset };
        self.walk(
            |cluster, _, ()| cluster.reaches(&plane.normal, plane.height(&cluster.center())).then_some(()),
            (),
            |leaf, ()| {
                let centroids = self.tree.centroids(leaf);
                let heights = centroids.heights(&plane);
                for (l, &height) in heights.iter().enumerate().take(self.tree.leaf_length(leaf)) {
                    if height < T::zero() {
                        let face = self.tree.face(leaf as usize * LANES + l);
                        let point_G = X_GS * centroids.centroid(l) - normal_G * height;
                        found(Displaced { face, depth: -height, point_G, normal_G });
                    }
                }
            },
        );
    }

    /// For any shape, by its supporting planes or its signed distance.
    fn find_inside<S: Solid<T> + ?Sized>(
        &self,
        X_GS: &Pose<T>,
        other: &S,
        X_GO: &Pose<T>,
        found: &mut impl FnMut(Displaced<T>),
    ) {
        let X_OS = X_GO.inv_mul(X_GS);
        self.walk(
            |cluster, _, ()| {
                let center_O = X_OS * cluster.center();
                let is_near = match other.supporting_plane(&center_O) {
                    Some(plane) => is_behind(cluster, &center_O, &plane, &X_OS),
                    None => other.signed_distance(&center_O) < cluster.radius,
                };
                is_near.then_some(())
            },
            (),
            |leaf, ()| {
                self.for_each_centroid(leaf, &X_OS, |slot, p_O| {
                    self.report(slot, &other.nearest(p_O), X_GO, found);
                });
            },
        );
    }

    /// For another mesh: each query starts from the triangle that the last one found.
    fn find_inside_mesh(
        &self,
        X_GS: &Pose<T>,
        other: &Self,
        X_GO: &Pose<T>,
        mut found: impl FnMut(Displaced<T>),
    ) {
        if other.is_convex() {
            self.find_inside_convex_mesh(X_GS, other, X_GO, &mut found);
            return;
        }
        let X_OS = X_GO.inv_mul(X_GS);
        let nowhere = Known { center_O: Point3::origin(), signed_distance: T::zero(), slot: None };
        self.walk(
            |cluster, is_leaf, known: Known<T>| {
                // For a leaf the first centroid serves as well as the middle.
                if is_leaf && known.slot.is_some() {
                    return Some(known);
                }
                let center_O = X_OS * cluster.center();
                if other.distance_to_box(&center_O) >= cluster.radius {
                    return None;
                }
                let slot = other.tree.nearest(&center_O, known.slot);
                let signed_distance = other.nearest_on(slot, &center_O).signed_distance;
                let is_near = signed_distance < cluster.radius;
                is_near.then_some(Known { center_O, signed_distance, slot: Some(slot) })
            },
            nowhere,
            |leaf, mut known| {
                self.for_each_centroid(leaf, &X_OS, |slot, p_O| {
                    // No query is needed within the reach of the last result.
                    let reach = known.signed_distance;
                    if reach > T::zero() && (p_O - known.center_O).norm_squared() < reach * reach {
                        return;
                    }
                    let nearest = other.tree.nearest(p_O, known.slot);
                    let near = other.nearest_on(nearest, p_O);
                    let signed_distance = near.signed_distance;
                    known = Known { center_O: *p_O, signed_distance, slot: Some(nearest) };
                    self.report(slot, &near, X_GO, &mut found);
                });
            },
        );
    }

    /// For another mesh that is convex: most of what is in front of it is in front of the plane of the last face
    /// found, which needs no query.
    fn find_inside_convex_mesh(
        &self,
        X_GS: &Pose<T>,
        other: &Self,
        X_GO: &Pose<T>,
        found: &mut impl FnMut(Displaced<T>),
    ) {
        let X_OS = X_GO.inv_mul(X_GS);
        let is_in_front = |cluster: &Cluster<T>, center_O: &Point3<T>, slot: Slot| {
            let plane = other.face_plane(slot);
            plane.is_some_and(|plane| !is_behind(cluster, center_O, &plane, &X_OS))
        };
        self.walk(
            |cluster, is_leaf, guess: Option<Slot>| {
                let center_O = X_OS * cluster.center();
                if guess.is_some_and(|slot| is_in_front(cluster, &center_O, slot))
                    || other.distance_to_box(&center_O) >= cluster.radius
                {
                    return None;
                }
                if is_leaf && guess.is_some() {
                    return Some(guess);
                }
                let slot = other.tree.nearest(&center_O, guess);
                (!is_in_front(cluster, &center_O, slot)).then_some(Some(slot))
            },
            None,
            |leaf, guess| {
                let mut guess = guess;
                self.for_each_centroid(leaf, &X_OS, |slot, p_O| {
                    let plane = guess.and_then(|slot| other.face_plane(slot));
                    if plane.is_some_and(|plane| plane.height(p_O) >= T::zero()) {
                        return;
                    }
                    let nearest = other.tree.nearest(p_O, guess);
                    guess = Some(nearest);
                    self.report(slot, &other.nearest_on(nearest, p_O), X_GO, found);
                });
            },
        );
    }

    /// Walks down the tree into every child, leaf or not, that `enter` admits, passing on its result.
    #[inline]
    fn walk<G: Copy>(
        &self,
        mut enter: impl FnMut(&Cluster<T>, bool, G) -> Option<G>,
        start: G,
        mut visit: impl FnMut(u32, G),
    ) {
        let mut stack = [(0, start); STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (node, given) = stack[height];
            for (child, cluster) in self.tree.children(node) {
                if child == Child::Missing {
                    continue;
                }
                let is_leaf = matches!(child, Child::Leaf(_));
                if let Some(given) = enter(cluster, is_leaf, given) {
                    match child {
                        Child::Leaf(leaf) => visit(leaf, given),
                        Child::Node(child) => {
                            stack[height] = (child, given);
                            height += 1;
                        }
                        Child::Missing => {}
                    }
                }
            }
        }
    }

    #[inline]
    fn for_each_centroid(&self, leaf: u32, X_OS: &Pose<T>, mut visit: impl FnMut(Slot, &Point3<T>)) {
        let centroids = self.tree.centroids(leaf);
        for l in 0..self.tree.leaf_length(leaf) {
            visit(leaf as usize * LANES + l, &(X_OS * centroids.centroid(l)));
        }
    }

    #[inline]
    fn report(
        &self,
        slot: Slot,
        near: &SurfacePoint<T>,
        X_GO: &Pose<T>,
        found: &mut impl FnMut(Displaced<T>),
    ) {
        if near.signed_distance < T::zero() {
            found(Displaced {
                face: self.tree.face(slot),
                depth: -near.signed_distance,
                point_G: X_GO * near.point,
                normal_G: X_GO.rotation * near.normal,
            });
        }
    }

    /// The distance of a point from the box around the mesh.
    #[inline]
    pub(super) fn distance_to_box(&self, p: &Point3<T>) -> T {
        let beyond = (p - self.center).abs() - self.half_extents;
        beyond.map(|x| if x < T::zero() { T::zero() } else { x }).norm()
    }
}

/// The last query and its result.
#[derive(Clone, Copy)]
struct Known<T: Real> {
    center_O: Point3<T>,
    signed_distance: T,
    slot: Option<Slot>,
}

/// Whether any part of a cluster may be behind a plane of the other surface's frame.
#[inline]
fn is_behind<T: Real>(cluster: &Cluster<T>, center_O: &Point3<T>, plane: &Plane<T>, X_OS: &Pose<T>) -> bool {
    let normal_S = X_OS.rotation.inverse_transform_vector(&plane.normal);
    cluster.reaches(&normal_S, plane.height(center_O))
}
