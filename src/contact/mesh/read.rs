//! Triangles from files.

use alloc::string::ToString;
use alloc::vec::Vec;
use std::io::{BufRead, Read, Seek};

use nalgebra::Point3;

use crate::contact::mesh::{MeshFault, TriangleMesh};
use crate::error::{Error, Result};
use crate::scalar::Real;

/// Vertices and faces as a file gives them, before anything is asked of them.
///
/// ```
/// use force_elements::contact::FaceList;
///
/// let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// let mesh = FaceList::<f64>::read_obj(obj.as_bytes())?.closed()?;
/// assert_eq!(mesh.face_count(), 4);
/// assert!((mesh.volume().unwrap_or_default() - 1.0 / 6.0).abs() < 1e-15);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FaceList<T: Real> {
    /// The vertices \[m\].
    pub vertices: Vec<Point3<T>>,
    /// The corners of each face, counted from 0.
    pub faces: Vec<[u32; 3]>,
}

impl<T: Real> FaceList<T> {
    /// Reads a Wavefront OBJ file: all its objects together, faces of more than three corners cut
    /// into triangles, colours and materials ignored. Coordinates keep the precision of `f64`.
    ///
    /// # Errors
    /// [`Error::MeshFile`].
    pub fn read_obj(mut file: impl BufRead) -> Result<Self> {
        let options = tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() };
        let no_materials = |_: &std::path::Path| tobj::MTLLoadResult::Ok(<_>::default());
        let (models, _) = tobj::load_obj_buf(&mut file, &options, no_materials).map_err(refused)?;
        let mut list = Self { vertices: Vec::new(), faces: Vec::new() };
        for mesh in models.iter().map(|model| &model.mesh) {
            let first = u32::try_from(list.vertices.len()).map_err(refused)?;
            let points = mesh.positions.as_chunks::<3>().0;
            list.vertices.extend(points.iter().map(|&p| Point3::from(p.map(T::lit))));
            // Objects of lines or points have no triangles; what is left of three corners is dropped.
            let corners = mesh.indices.as_chunks::<3>().0;
            list.faces.extend(corners.iter().map(|f| f.map(|corner| first + corner)));
        }
        Ok(list)
    }

    /// Reads an STL file, binary or text. The normals in it are ignored: how a face is wound tells.
    ///
    /// # Errors
    /// [`Error::MeshFile`].
    pub fn read_stl(mut file: impl Read + Seek) -> Result<Self> {
        let mesh = stl_io::read_stl(&mut file).map_err(refused)?;
        let vertices =
            mesh.vertices.iter().map(|v| Point3::from(v.0.map(|x| T::lit(f64::from(x))))).collect();
        let corner = |index: usize| u32::try_from(index).map_err(refused);
        let faces = mesh
            .faces
            .iter()
            .map(|f| Ok([corner(f.vertices[0])?, corner(f.vertices[1])?, corner(f.vertices[2])?]))
            .collect::<Result<_>>()?;
        Ok(Self { vertices, faces })
    }

    /// All that keeps these faces from being a closed mesh.
    pub fn faults(&self) -> Vec<MeshFault> {
        TriangleMesh::faults(&self.vertices, &self.faces)
    }

    /// A mesh that encloses something.
    ///
    /// # Errors
    /// As [`TriangleMesh::closed`].
    pub fn closed(&self) -> Result<TriangleMesh<T>> {
        TriangleMesh::closed(&self.vertices, &self.faces)
    }

    /// A mesh that may be open.
    ///
    /// # Errors
    /// As [`TriangleMesh::open`].
    pub fn open(&self) -> Result<TriangleMesh<T>> {
        TriangleMesh::open(&self.vertices, &self.faces)
    }
}

fn refused(error: impl ToString) -> Error {
    Error::MeshFile { message: error.to_string() }
}
