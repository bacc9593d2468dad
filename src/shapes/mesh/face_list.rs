//! Vertices and faces, before they are a mesh.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::math::{Real, default_by_field};
use crate::shapes::{MeshFault, ShapeError, TriangleMesh};

/// Vertices and faces before validation, such as those of a file (feature `mesh-files`).
#[derive(Debug, Clone, PartialEq)]
pub struct FaceList<T: Real> {
    /// The vertices \[m\].
    pub vertices: Vec<Point3<T>>,
    /// The corners of each face, as indices of vertices from 0.
    pub faces: Vec<[u32; 3]>,
}

default_by_field!(FaceList { vertices, faces });

impl<T: Real> FaceList<T> {
    /// All faults that keep these faces from being a closed mesh.
    pub fn faults(&self) -> Vec<MeshFault> {
        TriangleMesh::faults(&self.vertices, &self.faces)
    }

    /// A closed mesh.
    ///
    /// # Errors
    /// As [`TriangleMesh::closed`].
    pub fn closed(&self) -> Result<TriangleMesh<T>, ShapeError> {
        TriangleMesh::closed(&self.vertices, &self.faces)
    }

    /// A mesh that may be open.
    ///
    /// # Errors
    /// As [`TriangleMesh::open`].
    pub fn open(&self) -> Result<TriangleMesh<T>, ShapeError> {
        TriangleMesh::open(&self.vertices, &self.faces)
    }
}
