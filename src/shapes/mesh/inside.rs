//! The search for faces whose centroid is inside another surface.

use core::cell::Cell;

use nalgebra::Point3;

use crate::math::Pose;
use crate::shapes::mesh::cluster::Cluster;
use crate::shapes::mesh::plain::PlainMesh;
use crate::shapes::mesh::tree::{Child, STACK};
use crate::shapes::mesh::triangles::LANES;
use crate::shapes::{Feature, Plane, Solid, SurfacePoint};

impl PlainMesh {
    /// Calls `found` for each face whose centroid is behind a plane, with the centroid and its height.
    ///
    /// A half-space is one plane for all faces, transformed once into the frame of the mesh.
    #[inline]
    pub(super) fn find_behind_plane(
        &self,
        plane: &Plane<f64>,
        mut found: impl FnMut(usize, Point3<f64>, f64),
    ) {
        self.walk(
            &self.tree.clusters,
            |cluster, _, _, ()| cluster.reaches(&plane.normal, plane.height(&cluster.center)).then_some(()),
            (),
            |leaf, ()| {
                let centroids = &self.tree.packs[leaf as usize];
                let heights = centroids.heights(plane);
                for (l, &height) in heights.iter().enumerate().take(self.tree.leaf_length(leaf)) {
                    if height < 0.0 {
                        let face = self.tree.face(leaf as usize * LANES + l);
                        found(face, centroids.centroid(l), height);
                    }
                }
            },
        );
    }

    /// Calls `visit` for each face whose centroid may be inside any shape, by its supporting planes or its signed
    /// distance, with the centroid in the shape's frame.
    #[inline]
    pub(super) fn find_inside(
        &self,
        X_OS: &Pose<f64>,
        other: &impl Solid<f64>,
        mut visit: impl FnMut(usize, &Point3<f64>),
    ) {
        self.walk(
            &self.tree.clusters,
            |cluster, _, _, ()| is_near(cluster, X_OS, other).then_some(()),
            (),
            |leaf, ()| self.for_each_centroid(leaf, X_OS, |slot, p_O| visit(self.tree.face(slot), p_O)),
        );
    }

    /// Calls `visit` for each face whose centroid may be inside another mesh, with the nearest point of that mesh.
    ///
    /// Each query starts from the triangle that the last one found.
    #[inline]
    pub(super) fn find_inside_mesh(
        &self,
        X_OS: &Pose<f64>,
        other: &Self,
        mut visit: impl FnMut(usize, &(usize, Feature, SurfacePoint<f64>)),
    ) {
        // The point of the last query, its distance from the surface and the triangle found.
        self.walk(
            &self.tree.clusters,
            |cluster, _, is_leaf, last: Option<(Point3<f64>, f64, usize)>| {
                let center_O = X_OS * cluster.center;
                // Most points in front of a convex mesh are in front of the plane of the last face found.
                let is_behind = |slot: usize| {
                    let plane = other.face_plane(slot);
                    plane.is_none_or(|plane| is_behind(cluster, &center_O, &plane, X_OS))
                };
                if last.is_some_and(|(.., slot)| !is_behind(slot))
                    || other.distance_to_box(&center_O) >= cluster.radius
                {
                    return None;
                }
                // For a leaf the first centroid may replace the middle.
                if is_leaf && last.is_some() {
                    return Some(last);
                }
                let slot = other.tree.nearest(&center_O, last.map(|(.., slot)| slot));
                // The plane is more informative than the distance.
                let is_convex = other.convexity_slack.is_some();
                let distance =
                    if is_convex { 0.0 } else { other.nearest_on(slot, &center_O).2.signed_distance };
                let is_near = distance < cluster.radius && is_behind(slot);
                is_near.then_some(Some((center_O, distance, slot)))
            },
            None,
            |leaf, mut last| {
                self.for_each_centroid(leaf, X_OS, |slot, p_O| {
                    // No query is needed within the reach of the last result, nor in front of that plane.
                    let is_outside = last.is_some_and(|(p, reach, slot)| {
                        (reach > 0.0 && (p_O - p).norm_squared() < reach * reach)
                            || other.face_plane(slot).is_some_and(|plane| plane.height(p_O) >= 0.0)
                    });
                    if is_outside {
                        return;
                    }
                    let nearest = other.tree.nearest(p_O, last.map(|(.., slot)| slot));
                    let on_face = other.nearest_on(nearest, p_O);
                    last = Some((*p_O, on_face.2.signed_distance, nearest));
                    visit(self.tree.face(slot), &on_face);
                });
            },
        );
    }

    /// Whether any corner is in front of a plane.
    pub(super) fn reaches_above(&self, plane: &Plane<f64>) -> bool {
        let found = Cell::new(false);
        self.walk(
            &self.tree.corner_clusters,
            |cluster, at, _, ()| {
                // Boxes cull flat faces along the axes, discs cull smooth patches.
                let may_reach = !found.get()
                    && self.tree.foremost(at, &plane.normal) > plane.offset
                    && cluster.reaches(&plane.normal, -plane.height(&cluster.center));
                may_reach.then_some(())
            },
            (),
            |leaf, ()| {
                let mut corners = (0..LANES).flat_map(|l| self.tree.packs[leaf as usize].corners(l));
                found.set(found.get() || corners.any(|corner| plane.height(&corner) > 0.0));
            },
        );
        found.get()
    }

    /// Walks down the tree into every child that `enter` admits, and passes its result on. `enter` receives the bounds of
    /// the subtree, its node and place there, and whether it is a leaf.
    #[inline]
    pub(super) fn walk<G: Copy>(
        &self,
        clusters: &[[Cluster; LANES]],
        mut enter: impl FnMut(&Cluster, [usize; 2], bool, G) -> Option<G>,
        start: G,
        mut visit: impl FnMut(u32, G),
    ) {
        let mut stack = [(0, start); STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (node, given) = stack[height];
            let node = node as usize;
            for (l, (child, cluster)) in self.tree.children(node).into_iter().zip(&clusters[node]).enumerate()
            {
                if child == Child::Missing {
                    continue;
                }
                let is_leaf = matches!(child, Child::Leaf(_));
                if let Some(given) = enter(cluster, [node, l], is_leaf, given) {
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
    fn for_each_centroid(&self, leaf: u32, X_OS: &Pose<f64>, mut visit: impl FnMut(usize, &Point3<f64>)) {
        let centroids = &self.tree.packs[leaf as usize];
        for l in 0..self.tree.leaf_length(leaf) {
            visit(leaf as usize * LANES + l, &(X_OS * centroids.centroid(l)));
        }
    }
}

/// Whether any part of a cluster may be inside another surface.
#[inline]
pub(super) fn is_near(cluster: &Cluster, X_OS: &Pose<f64>, other: &impl Solid<f64>) -> bool {
    let center_O = X_OS * cluster.center;
    if let Some(plane) = other.supporting_plane(&center_O) {
        return is_behind(cluster, &center_O, &plane, X_OS);
    }
    let distance = other.signed_distance(&center_O);
    distance < cluster.radius || distance.is_nan()
}

/// Whether any part of a cluster may be behind a plane of the other surface's frame.
#[inline]
pub(super) fn is_behind(
    cluster: &Cluster,
    center_O: &Point3<f64>,
    plane: &Plane<f64>,
    X_OS: &Pose<f64>,
) -> bool {
    let normal_S = X_OS.rotation.inverse_transform_vector(&plane.normal);
    cluster.reaches(&normal_S, plane.height(center_O))
}
