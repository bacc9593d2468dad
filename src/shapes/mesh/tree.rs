//! A flat tree of boxes, four children to a node, four triangles to a leaf.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::shapes::greater;
use crate::shapes::mesh::cluster::{Cluster, bounds};
use crate::shapes::mesh::geometry::Geometry;
use crate::shapes::mesh::triangles::{LANES, TrianglePack};

/// The largest number of pending nodes in a traversal: three siblings on each level of a tree over 2³² triangles.
pub(super) const STACK: usize = 48;

/// A tree over triangles and, with the same shape, over their centroids.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Bounds of the centroids under each child of each node.
    pub(super) clusters: Vec<[Cluster; LANES]>,
    /// Bounds of the corners under each child of each node.
    pub(super) corner_clusters: Vec<[Cluster; LANES]>,
    /// The triangles of each leaf.
    pub(super) packs: Vec<TrianglePack>,
    /// The face at each place in the order of the leaves.
    order: Vec<u32>,
}

/// The boxes of four subtrees, side by side. A missing child has a box at infinity.
#[derive(Debug, Clone)]
struct Node {
    min: [[f64; LANES]; 3],
    max: [[f64; LANES]; 3],
    children: [Child; LANES],
}

/// A node, or four triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Child {
    Node(u32),
    Leaf(u32),
    Missing,
}

impl Tree {
    pub(super) fn new(faces: &[[u32; 3]], geometry: &Geometry<f64>) -> Self {
        let mut order: Vec<u32> = (0..).take(faces.len()).collect();
        let mut tree = Self::default();
        tree.add_node(&mut order, 0, faces, geometry);
        for leaf in order.chunks(LANES) {
            // The last leaf may be short; its last triangle is repeated, which does not change results.
            let leaf = core::array::from_fn(|l| leaf[l.min(leaf.len() - 1)]);
            tree.packs.push(TrianglePack::new(leaf, faces, geometry));
        }
        tree.order = order;
        tree
    }

    /// Sorts some faces, by their numbers, into a subtree; the first of them gets the place `first` in the order of
    /// leaves.
    fn add_node(
        &mut self,
        some: &mut [u32],
        first: usize,
        faces: &[[u32; 3]],
        geometry: &Geometry<f64>,
    ) -> u32 {
        let index = self.nodes.len();
        let far = f64::INFINITY;
        self.nodes.push(Node {
            min: [[far; LANES]; 3],
            max: [[-far; LANES]; 3],
            children: [Child::Missing; LANES],
        });
        for clusters in [&mut self.clusters, &mut self.corner_clusters] {
            clusters.push([Cluster::default(); LANES]);
        }

        let half = split(some, &geometry.centroids);
        let (left, right) = some.split_at_mut(half);
        let quarters = [split(left, &geometry.centroids), split(right, &geometry.centroids)];
        let (a, b) = left.split_at_mut(quarters[0]);
        let (c, d) = right.split_at_mut(quarters[1]);
        let mut start = first;
        for (l, part) in [a, b, c, d].into_iter().filter(|part| !part.is_empty()).enumerate() {
            let corners = part.iter().flat_map(|&face| faces[face as usize]);
            let points = corners.map(|corner| geometry.vertices[corner as usize]);
            let (min, max) = bounds(points.clone());
            for i in 0..3 {
                self.nodes[index].min[i][l] = min[i];
                self.nodes[index].max[i][l] = max[i];
            }
            let cluster = cluster(part, geometry);
            self.corner_clusters[index][l] = Cluster::around(points, cluster.axis);
            self.clusters[index][l] = cluster;
            self.nodes[index].children[l] = if part.len() <= LANES {
                Child::Leaf(number(start / LANES))
            } else {
                Child::Node(self.add_node(part, start, faces, geometry))
            };
            start += part.len();
        }
        number(index)
    }

    /// The face at a place in the order of the leaves.
    #[inline]
    pub(super) fn face(&self, slot: usize) -> usize {
        self.order[slot] as usize
    }

    /// The number of triangles in a leaf.
    #[inline]
    pub(super) fn leaf_length(&self, leaf: u32) -> usize {
        (self.order.len() - LANES * leaf as usize).min(LANES)
    }

    /// The position along a direction of the foremost corner of the box around a child of a node.
    #[inline]
    pub(super) fn foremost(&self, [node, l]: [usize; 2], direction: &Vector3<f64>) -> f64 {
        let Node { min, max, .. } = &self.nodes[node];
        let along = |i: usize| direction[i] * if direction[i] > 0.0 { max[i][l] } else { min[i][l] };
        along(0) + along(1) + along(2)
    }

    /// The children of a node.
    #[inline]
    pub(super) fn children(&self, node: usize) -> [Child; LANES] {
        self.nodes[node].children
    }

    /// The place of a triangle nearest to a point; any of several that are equally near.
    ///
    /// A good guess makes the search faster, and does not change the distance found.
    #[inline]
    pub(super) fn nearest(&self, p: &Point3<f64>, guess: Option<usize>) -> usize {
        let mut best = (f64::INFINITY, 0);
        if let Some(slot) = guess {
            self.improve(number(slot / LANES), p, &mut best);
        }
        let mut stack = [(0.0, 0); STACK];
        let mut height = 1;
        while height > 0 {
            height -= 1;
            let (squared, node) = stack[height];
            if squared >= best.0 {
                continue;
            }
            let node = &self.nodes[node as usize];
            let squared = node.squared_distances(p);
            // The farthest is pushed first, so that the nearest is taken next.
            let base = height;
            for (&squared, &child) in squared.iter().zip(&node.children) {
                if squared >= best.0 {
                    continue;
                }
                match child {
                    Child::Leaf(leaf) => self.improve(leaf, p, &mut best),
                    Child::Node(child) => {
                        let mut place = height;
                        while place > base && stack[place - 1].0 < squared {
                            stack[place] = stack[place - 1];
                            place -= 1;
                        }
                        stack[place] = (squared, child);
                        height += 1;
                    }
                    Child::Missing => {}
                }
            }
        }
        best.1
    }

    #[inline]
    fn improve(&self, leaf: u32, p: &Point3<f64>, best: &mut (f64, usize)) {
        let squared = self.packs[leaf as usize].squared_distances(p);
        for (l, &squared) in squared.iter().enumerate() {
            if squared < best.0 {
                *best = (squared, LANES * leaf as usize + l);
            }
        }
        // The repeated triangles of a short leaf come after their original and are never nearer.
    }
}

impl Node {
    /// The squared distances of a point from the four boxes.
    #[inline]
    fn squared_distances(&self, p: &Point3<f64>) -> [f64; LANES] {
        core::array::from_fn(|l| {
            let beyond = |i: usize| {
                let outside = greater(self.min[i][l] - p[i], p[i] - self.max[i][l]);
                greater(outside, 0.0)
            };
            let (x, y, z) = (beyond(0), beyond(1), beyond(2));
            x * x + y * y + z * z
        })
    }
}

/// The disc around the centroids of some faces, along these faces.
fn cluster(faces: &[u32], Geometry { centroids, normals, areas, .. }: &Geometry<f64>) -> Cluster {
    let faces = faces.iter().map(|&face| face as usize);
    let sum = faces.clone().fold(Vector3::zeros(), |sum, f| sum + normals[f] * areas[f]);
    let area = faces.clone().fold(0.0, |sum, f| sum + areas[f]);
    let axis = sum.try_normalize(area * f64::EPSILON).unwrap_or_else(Vector3::x);
    Cluster::around(faces.map(|f| centroids[f]), axis)
}

/// Puts the faces on one side of the middle before those on the other, along the direction in which they are spread out
/// most; returns the number of the first. All leaves but the last stay full.
fn split(faces: &mut [u32], centroids: &[Point3<f64>]) -> usize {
    let half = faces.len().div_ceil(LANES).div_ceil(2) * LANES;
    if half >= faces.len() {
        return faces.len();
    }
    let (min, max) = bounds(faces.iter().map(|&face| centroids[face as usize]));
    let axis = (max - min).imax();
    faces.select_nth_unstable_by(half, |&a, &b| {
        let (p, q) = (centroids[a as usize][axis], centroids[b as usize][axis]);
        p.partial_cmp(&q).unwrap_or(core::cmp::Ordering::Equal).then(a.cmp(&b))
    });
    half
}

/// Places fit into 32 bits because faces are numbered with 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "there are at most 2²² faces")]
pub(super) fn number(index: usize) -> u32 {
    index as u32
}
