//! Readers of mesh files.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::io::{BufRead, Cursor, Read};

use nalgebra::Point3;

use crate::math::Real;
use crate::shapes::{FaceList, ShapeError};

impl<T: Real> FaceList<T> {
    /// Reads a Wavefront OBJ file: all its objects together, faces of more than three corners cut into triangles
    /// that share the first corner. Everything but vertices and faces is ignored, a byte order mark too. Lines end with a line
    /// feed, and none is continued. Coordinates keep the precision of `f64`, vertices their numbers.
    ///
    /// ```
    /// use force_elements::shapes::FaceList;
    ///
    /// let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    /// let mesh = FaceList::<f64>::read_obj(obj.as_bytes())?.closed()?;
    /// assert_eq!(mesh.face_count(), 4);
    /// assert!((mesh.volume().unwrap_or_default() - 1.0 / 6.0).abs() < 1e-15);
    /// # Ok::<(), force_elements::shapes::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// [`ShapeError::MeshFile`], with the number of the line.
    pub fn read_obj(file: impl BufRead) -> Result<Self, ShapeError> {
        let mut list = Self::default();
        for (number, line) in (1..).zip(file.split(b'\n')) {
            let line = line.map_err(refused)?;
            list.read_obj_line(String::from_utf8_lossy(&line).trim_start_matches('\u{feff}'))
                .ok_or_else(|| refused(format_args!("line {number} is no vertex or face")))?;
        }
        Ok(list)
    }

    /// `None` for an invalid line.
    fn read_obj_line(&mut self, line: &str) -> Option<()> {
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut coordinate = || words.next()?.parse().ok().map(T::lit);
                self.vertices.push(Point3::new(coordinate()?, coordinate()?, coordinate()?));
            }
            Some("f") => {
                let count = i64::try_from(self.vertices.len()).ok()?;
                let mut corners = words.map(|word| {
                    // Texture and normal follow after slashes.
                    let index: i64 = word.split('/').next()?.parse().ok()?;
                    let index = if index < 0 { count.checked_add(index)? } else { index - 1 };
                    u32::try_from(index).ok()
                });
                let [first, second, mut last] = [corners.next()??, corners.next()??, corners.next()??];
                self.faces.push([first, second, last]);
                for corner in corners {
                    let corner = corner?;
                    self.faces.push([first, last, corner]);
                    last = corner;
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Reads an STL file, binary or text; one that begins with `solid` and a space is text, unless it is as long as a
    /// binary file with its number of faces. Its normals are ignored; the winding of faces determines them.
    ///
    /// # Errors
    /// [`ShapeError::MeshFile`].
    pub fn read_stl(mut file: impl Read) -> Result<Self, ShapeError> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refused)?;
        let counted = bytes.get(80..84).and_then(|count| count.try_into().ok()).map(u32::from_le_bytes);
        if counted.is_some_and(|faces| bytes.len() as u64 >= 84 + 50 * u64::from(faces)) {
            // The header is free text, which some programs begin with `solid`.
            bytes[0] = 0;
        }
        let mesh = stl_io::read_stl(&mut Cursor::new(bytes)).map_err(refused)?;
        let vertices =
            mesh.vertices.iter().map(|v| Point3::from(v.0.map(|x| T::lit(f64::from(x))))).collect();
        let corner = |index: usize| u32::try_from(index).map_err(refused);
        let faces = mesh
            .faces
            .iter()
            .map(|f| Ok([corner(f.vertices[0])?, corner(f.vertices[1])?, corner(f.vertices[2])?]))
            .collect::<Result<_, ShapeError>>()?;
        Ok(Self { vertices, faces })
    }
}

fn refused(error: impl ToString) -> ShapeError {
    ShapeError::MeshFile { message: error.to_string() }
}
