//! Adjacency of faces, and faults of meshes.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use nalgebra::{Point3, RealField, Vector3};

use crate::math::{Real, is_finite};
use crate::shapes::greater;
use crate::shapes::mesh::cluster::bounds;
use crate::shapes::mesh::geometry::Geometry;
use crate::shapes::mesh::plain::{PlainMesh, vertex_normals};
use crate::shapes::mesh::tree::Tree;

/// At about 360 bytes per face this is 1.5 GB in `f64`: more would exhaust the memory of many machines before it
/// could be refused, and counts stay far below 2³².
pub(super) const MAX_FACES: usize = 1 << 22;

/// Every face may have its own corners, as in STL files.
pub(super) const MAX_VERTICES: usize = 3 * MAX_FACES;

/// Refuses excessive counts.
pub(super) fn check_counts(vertices: usize, faces: u64) -> Result<(), MeshFault> {
    if faces > MAX_FACES as u64 {
        Err(MeshFault::TooManyFaces { count: faces })
    } else if vertices > MAX_VERTICES {
        Err(MeshFault::TooManyVertices { count: vertices as u64 })
    } else {
        Ok(())
    }
}

/// Whether a number greater than zero stays so and finite in this scalar.
pub(super) fn can_hold<T: Real>(x: f64) -> bool {
    let x = T::lit(x).to_f64();
    x > 0.0 && x.is_finite()
}

/// Replaces the missing face at an open edge.
pub(super) const NO_FACE: u32 = u32::MAX;

/// A fault of a mesh. Faces and vertices are numbered from 0 as given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFault {
    /// There are no faces.
    #[error("there are no faces")]
    Empty,
    /// There are more faces than [`TriangleMesh::MAX_FACES`](crate::shapes::TriangleMesh::MAX_FACES).
    #[error("{count} faces are more than {}", MAX_FACES)]
    TooManyFaces {
        /// The number of faces.
        count: u64,
    },
    /// There are more than three vertices for each of
    /// [`TriangleMesh::MAX_FACES`](crate::shapes::TriangleMesh::MAX_FACES).
    #[error("{count} vertices are more than {}", MAX_VERTICES)]
    TooManyVertices {
        /// The number of vertices.
        count: u64,
    },
    /// A coordinate is not finite.
    #[error("vertex {vertex} is not finite")]
    NonFiniteVertex {
        /// The vertex.
        vertex: usize,
    },
    /// A corner is a vertex that does not exist.
    #[error("face {face} has corner {index}, but there are {vertex_count} vertices")]
    IndexOutOfRange {
        /// The face.
        face: usize,
        /// Its corner.
        index: usize,
        /// The number of vertices.
        vertex_count: usize,
    },
    /// A face has no area: corners coincide or are in line.
    #[error("face {face} has no area")]
    DegenerateFace {
        /// The face.
        face: usize,
    },
    /// The longest edge of a face is so short or so long that its fourth power underflows or overflows.
    #[error("face {face} is tiny or huge beyond computing")]
    FaceOutOfScale {
        /// The face.
        face: usize,
    },
    /// An edge has a face on one side only.
    #[error("face {face} has no neighbour along the edge from vertex {} to {}", vertices[0], vertices[1])]
    OpenEdge {
        /// The face.
        face: usize,
        /// The ends of the edge.
        vertices: [usize; 2],
    },
    /// Two neighbours run along their common edge in the same direction: one of them is flipped.
    #[error("face {face} is wound against its neighbour {neighbour}")]
    FlippedFace {
        /// The later of the two.
        face: usize,
        /// The other.
        neighbour: usize,
    },
    /// An edge has more than two faces.
    #[error("face {face} is the third or later at the edge from vertex {} to {}", vertices[0], vertices[1])]
    NonManifoldEdge {
        /// The last of the faces.
        face: usize,
        /// The ends of the edge.
        vertices: [usize; 2],
    },
    /// Two sheets of faces touch only in a vertex.
    #[error("face {face} touches other faces in vertex {vertex} only")]
    NonManifoldVertex {
        /// A face of the second sheet.
        face: usize,
        /// The vertex.
        vertex: usize,
    },
    /// A connected part encloses no volume beyond rounding.
    #[error("the part that face {face} belongs to encloses no volume")]
    NoVolume {
        /// The first face of the part.
        face: usize,
    },
    /// The normals of a connected part point inward.
    #[error("the part that face {face} belongs to is inside out, or overlaps another part")]
    InsideOut {
        /// The first face of the part.
        face: usize,
    },
}

impl PlainMesh {
    /// Faces with merged vertices, and their adjacency; or all faults of single vertices and faces, if there are any.
    /// Numbers below `negligible` are noise relative to one. `can_hold` belongs to the mesh's scalar.
    pub(super) fn new(
        vertices: Vec<Point3<f64>>,
        faces: &[[u32; 3]],
        negligible: f64,
        can_hold: fn(f64) -> bool,
    ) -> Result<Self, Vec<MeshFault>> {
        let mut faults = Vec::new();
        if faces.is_empty() {
            faults.push(MeshFault::Empty);
        }
        for (vertex, p) in vertices.iter().enumerate() {
            if !is_finite(&p.coords) {
                faults.push(MeshFault::NonFiniteVertex { vertex });
            }
        }
        let vertex_count = vertices.len();
        for (face, corners) in faces.iter().enumerate() {
            for index in corners.map(|corner| corner as usize) {
                if index >= vertex_count {
                    faults.push(MeshFault::IndexOutOfRange { face, index, vertex_count });
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }

        let first_of = weld(&vertices);
        let faces: Vec<_> = faces.iter().map(|f| f.map(|corner| first_of[corner as usize])).collect();
        let mut geometry = Geometry::of(vertices, faces.len());
        let mut scales = [(0, f64::INFINITY), (0, 0.0)];
        for (face, corners) in faces.iter().enumerate() {
            let (area2, scale) = geometry.push(*corners);
            let [a, b, c] = corners.map(|corner| geometry.vertices[corner as usize]);
            let squares = [b - a, c - b, a - c].map(|edge| (edge / scale).norm_squared());
            let (longest, square) = (squares.into_iter().fold(0.0, greater), scale * scale);
            let fourth = longest * longest * square * square;
            if scale == 0.0 || area2 <= longest * negligible {
                faults.push(MeshFault::DegenerateFace { face });
            } else if !can_hold(fourth) {
                faults.push(MeshFault::FaceOutOfScale { face });
            }
            scales = [
                if fourth < scales[0].1 { (face, fourth) } else { scales[0] },
                if fourth > scales[1].1 { (face, fourth) } else { scales[1] },
            ];
        }
        if !faults.is_empty() {
            return Err(faults);
        }

        let corners = faces.iter().flatten().map(|&corner| geometry.vertices[corner as usize]);
        let (min, max) = bounds(corners);
        let mut mesh = Self {
            vertex_normals: vertex_normals(&geometry, &faces),
            scales,
            openings: Vec::new(),
            convexity_slack: None,
            center: Point3::from((min.coords + max.coords) * 0.5),
            half_extents: (max - min) * 0.5,
            neighbours: vec![[NO_FACE; 3]; faces.len()],
            tree: Tree::new(&faces, &geometry),
            faces,
            geometry,
        };
        mesh.match_sides();
        if mesh.openings.is_empty() {
            mesh.find_touching_vertices();
            mesh.find_inverted_parts(negligible);
        }
        mesh.convexity_slack = mesh.calc_convexity_slack(negligible);
        Ok(mesh)
    }

    /// Finds the face across each edge.
    fn match_sides(&mut self) {
        let Self { faces, neighbours, openings, .. } = self;
        // By edge, whose ends are in ascending order: each face, and the corner of the face at which the edge begins.
        let mut sides: Vec<([u32; 2], u32, usize)> = Vec::with_capacity(3 * faces.len());
        for (face, corners) in (0..).zip(&*faces) {
            for k in 0..3 {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                sides.push(([from.min(to), from.max(to)], face, k));
            }
        }
        sides.sort_unstable();
        for edge in sides.chunk_by(|(a, ..), (b, ..)| a == b) {
            match *edge {
                [(_, face, k)] => {
                    let face = face as usize;
                    let vertices = [k, (k + 1) % 3].map(|k| faces[face][k] as usize);
                    openings.push(MeshFault::OpenEdge { face, vertices });
                }
                [(_, a, k), (_, b, l)] => {
                    let (neighbour, face) = (a as usize, b as usize);
                    neighbours[neighbour][k] = b;
                    neighbours[face][l] = a;
                    if faces[neighbour][k] == faces[face][l] {
                        openings.push(MeshFault::FlippedFace { face, neighbour });
                    }
                }
                _ => openings.extend(edge[2..].iter().map(|&(ends, face, _)| {
                    let vertices = ends.map(|end| end as usize);
                    MeshFault::NonManifoldEdge { face: face as usize, vertices }
                })),
            }
        }
        // In the order of the faces, so that the first fault is that of the first face.
        openings.sort_by_key(|fault| match *fault {
            MeshFault::OpenEdge { face, .. }
            | MeshFault::FlippedFace { face, .. }
            | MeshFault::NonManifoldEdge { face, .. } => face,
            _ => 0,
        });
    }

    /// Walks around each vertex; unreached faces are another sheet.
    fn find_touching_vertices(&mut self) {
        let mut is_reached = vec![false; 3 * self.faces.len()];
        let mut has_sheet = vec![false; self.geometry.vertices.len()];
        for start in 0..self.faces.len() {
            for k in 0..3 {
                if is_reached[3 * start + k] {
                    continue;
                }
                let vertex = self.faces[start][k];
                if core::mem::replace(&mut has_sheet[vertex as usize], true) {
                    let vertex = vertex as usize;
                    self.openings.push(MeshFault::NonManifoldVertex { face: start, vertex });
                }
                let (mut face, mut corner) = (start, k);
                while !is_reached[3 * face + corner] {
                    is_reached[3 * face + corner] = true;
                    face = self.neighbours[face][corner] as usize;
                    corner = self.faces[face].iter().position(|&other| other == vertex).unwrap_or(0);
                }
            }
        }
    }

    /// Compares the sign of each connected part's volume with whether it lies within another.
    fn find_inverted_parts(&mut self, negligible: f64) {
        let mut is_found = vec![false; self.faces.len()];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for start in 0..self.faces.len() {
            let mut members = Vec::new();
            let mut next = vec![start];
            while let Some(face) = next.pop() {
                if !core::mem::replace(&mut is_found[face], true) {
                    members.push(face);
                    next.extend(self.neighbours[face].map(|neighbour| neighbour as usize));
                }
            }
            if !members.is_empty() {
                parts.push(members);
            }
        }
        let corners = |face: usize| self.faces[face].map(|corner| self.geometry.vertices[corner as usize]);
        let boxes: Vec<_> =
            parts.iter().map(|members| bounds(members.iter().flat_map(|&face| corners(face)))).collect();
        for (part, members) in parts.iter().enumerate() {
            let [origin, ..] = corners(members[0]);
            // By edges, so that the rounding error is that of a face and not of the whole part; in units of its largest
            // extent.
            let (min, max) = &boxes[part];
            let extent = (max - min).amax();
            let (volume, scale) = members.iter().fold((0.0, 0.0), |(volume, scale), &face| {
                let [a, b, c] = corners(face);
                let [a, ab, ac] = [a - origin, b - a, c - a].map(|v| v / extent);
                (volume + a.dot(&ab.cross(&ac)), scale + a.norm() * ab.norm() * ac.norm())
            });
            if volume.abs() <= scale * negligible {
                self.openings.push(MeshFault::NoVolume { face: members[0] });
                continue;
            }
            let mut winding = 0.0;
            for (other, faces) in parts.iter().enumerate() {
                let (min, max) = &boxes[other];
                let is_within = (0..3).all(|i| min[i] <= origin[i] && origin[i] <= max[i]);
                if other != part && is_within {
                    for &face in faces {
                        winding += solid_angle(corners(face).map(|p| p - origin));
                    }
                }
            }
            let is_enclosed = winding > core::f64::consts::TAU;
            if (volume < 0.0) != is_enclosed {
                self.openings.push(MeshFault::InsideOut { face: members[0] });
            }
        }
    }
}

/// The solid angle of a triangle seen from the origin; the sum over a surface around it is 4π.
///
/// A. Van Oosterom, J. Strackee, *The solid angle of a plane triangle*, IEEE Trans. Biomed. Eng. 30
/// (1983) 125–126.
fn solid_angle([a, b, c]: [Vector3<f64>; 3]) -> f64 {
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let numerator = a.dot(&b.cross(&c));
    let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * RealField::atan2(numerator, denominator)
}

/// For each vertex the first one at exactly the same position.
fn weld(vertices: &[Point3<f64>]) -> Vec<u32> {
    let mut first_at = BTreeMap::new();
    // Zeros are equal, whatever their sign.
    let bits = |p: &Point3<f64>| [p.x, p.y, p.z].map(|x| (x + 0.0).to_bits());
    (0..).zip(vertices).map(|(vertex, p)| *first_at.entry(bits(p)).or_insert(vertex)).collect()
}
