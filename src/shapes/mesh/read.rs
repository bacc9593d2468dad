//! Readers of mesh files.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::io::{BufRead, Cursor, Read};

use nalgebra::{Point3, Vector3};

use crate::math::Real;
use crate::shapes::{FaceList, ShapeError};

impl<T: Real> FaceList<T> {
    /// Reads a Wavefront OBJ file. All its objects are read together. Faces of more than three corners are cut into
    /// triangles, which share the first corner if the face is convex; a face that crosses itself is refused. Everything
    /// but vertices and faces is ignored, and so is a byte order mark. Lines end with a line feed; continued lines are
    /// not supported. Coordinates keep the precision of `f64`, and vertices their numbers.
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
            list.read_obj_line(String::from_utf8_lossy(&line).trim_start_matches('\u{feff}')).ok_or_else(
                || refused(format_args!("line {number} is no vertex, nor a face that is a simple polygon")),
            )?;
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
                let corners = words.map(|word| {
                    // Texture and normal follow after slashes.
                    let index: i64 = word.split('/').next()?.parse().ok()?;
                    let index = if index < 0 { count.checked_add(index)? } else { index - 1 };
                    u32::try_from(index).ok()
                });
                let corners = corners.collect::<Option<Vec<u32>>>()?;
                match *corners.as_slice() {
                    [a, b, c] => self.faces.push([a, b, c]),
                    [_, _, _, ..] => self.push_polygon(corners)?,
                    _ => return None,
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Cuts a polygon into triangles, ear by ear from the second corner. `None` if the polygon crosses itself, no ear is
    /// left, or the position of a corner is not known.
    fn push_polygon(&mut self, mut corners: Vec<u32>) -> Option<()> {
        let place = |&corner: &u32| Some(self.vertices.get(corner as usize)?.map(T::to_f64));
        let mut places = corners.iter().map(place).collect::<Option<Vec<Point3<f64>>>>()?;
        let first = *places.first()?;
        let fan = places.windows(2).map(|side| (side[0] - first).cross(&(side[1] - first)));
        let double_area: Vector3<f64> = fan.sum();
        let is_left = |[a, b, c]: [Point3<f64>; 3]| (b - a).cross(&(c - b)).dot(&double_area);
        let least = double_area.norm_squared() * f64::EPSILON * 64.0;
        let sides = places.iter().zip(places.iter().cycle().skip(1));
        let divides = |(&a, &b): (&Point3<f64>, &Point3<f64>), (&c, &d): (&Point3<f64>, &Point3<f64>)| {
            let [c, d] = [c, d].map(|p| is_left([a, b, p]));
            c.min(d) < -least && c.max(d) > least
        };
        if sides.clone().any(|a| sides.clone().any(|b| divides(a, b) && divides(b, a))) {
            return None;
        }
        while corners.len() >= 3 {
            let count = corners.len();
            let around = |i: usize| [i - 1, i % count, (i + 1) % count];
            let ear = (1..=count).find(|&i| {
                let [a, b, c] = around(i).map(|k| places[k]);
                let is_within = |p: &Point3<f64>| {
                    [[a, b, *p], [b, c, *p], [c, a, *p]].into_iter().all(|corners| is_left(corners) >= -least)
                };
                let mut others = places.iter().filter(|p| ![a, b, c].contains(p));
                is_left([a, b, c]) > least && !others.any(is_within)
            })?;
            self.faces.push(around(ear).map(|k| corners[k]));
            corners.remove(ear % count);
            places.remove(ear % count);
        }
        Some(())
    }

    /// Reads an STL file, binary or text. All solids of a text, and all binary files that follow one another, are read
    /// together; other bytes after the faces of a binary file are ignored. A file that begins with `solid` is text,
    /// unless it is as long as a binary file with its number of faces. Normals are ignored: the winding of a face
    /// determines its normal.
    ///
    /// # Errors
    /// [`ShapeError::MeshFile`].
    pub fn read_stl(mut file: impl Read) -> Result<Self, ShapeError> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refused)?;
        let mut list = Self::default();
        let counted = |bytes: &[u8]| {
            let count = u32::from_le_bytes(*bytes.get(80..)?.first_chunk()?);
            usize::try_from(count).ok()?.checked_mul(50)?.checked_add(84)
        };
        let complete = |bytes: &[u8]| counted(bytes).filter(|length| *length <= bytes.len());
        let is_binary = complete(&bytes).is_some();
        if !is_binary && !bytes.get(..5).unwrap_or_default().eq_ignore_ascii_case(b"solid") {
            let needed = counted(&bytes).unwrap_or(84);
            return Err(refused(format_args!("it ends after {} bytes of at least {needed}", bytes.len())));
        }
        if is_binary {
            let mut rest = bytes.as_mut_slice();
            while let Some(length) = complete(rest) {
                let (file, others) = rest.split_at_mut(length);
                // The header is free text, which some programs begin with `solid`.
                file.iter_mut().take(1).for_each(|byte| *byte = 0);
                list.read_solid(file)?;
                rest = others;
            }
            return Ok(list);
        }
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        while let Some(head) = lines.next() {
            if !head.starts_with("solid") {
                return Err(refused(format_args!("{head:?} after the end of a solid")));
            }
            let mut solid = String::from("solid \n");
            for line in lines.by_ref() {
                solid.push_str(line);
                solid.push('\n');
                if line.starts_with("endsolid") {
                    break;
                }
            }
            list.read_solid(solid.as_bytes())?;
        }
        Ok(list)
    }

    /// Adds a single solid.
    fn read_solid(&mut self, bytes: &[u8]) -> Result<(), ShapeError> {
        let mesh = stl_io::read_stl(&mut Cursor::new(bytes)).map_err(refused)?;
        let before = self.vertices.len();
        self.vertices.extend(mesh.vertices.iter().map(|v| Point3::from(v.0.map(|x| T::lit(f64::from(x))))));
        for face in &mesh.faces {
            let corner = |k: usize| u32::try_from(before + face.vertices[k]).map_err(refused);
            self.faces.push([corner(0)?, corner(1)?, corner(2)?]);
        }
        Ok(())
    }
}

fn refused(error: impl ToString) -> ShapeError {
    ShapeError::MeshFile { message: error.to_string() }
}
