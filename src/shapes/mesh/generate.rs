//! Generators of meshes of simple bodies.

use nalgebra::{Point3, Vector3, convert};

use crate::math::{Real, Requirement, check};
use crate::shapes::mesh::topology::check_counts;
use crate::shapes::mesh::tree::number;
use crate::shapes::{FaceList, ShapeError, TriangleMesh};

impl<T: Real> FaceList<T> {
    /// An empty list for this intended number of faces, which is refused before they are made.
    fn for_faces(count: u64) -> Result<Self, ShapeError> {
        check_counts(0, count).map_err(|fault| ShapeError::Mesh { fault })?;
        Ok(Self::default())
    }

    /// Adds a sheet of `rows` by `columns` quadrilaterals, each cut in two. `point` returns the point of row i, column j;
    /// rows × columns points outwards. Triangles without area, as at a pole where a row shrinks to a point, are left out.
    fn add_sheet(&mut self, rows: u32, columns: u32, point: impl Fn(u32, u32) -> Point3<T>) {
        let first = number(self.vertices.len());
        let across = columns + 1;
        for i in 0..=rows {
            self.vertices.extend((0..=columns).map(|j| point(i, j)));
        }
        let index = |i: u32, j: u32| first + i * across + j;
        for i in 0..rows {
            for j in 0..columns {
                let [a, b, c, d] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
                self.add_face([a, b, c]);
                self.add_face([a, c, d]);
            }
        }
    }

    fn add_face(&mut self, face: [u32; 3]) {
        let [a, b, c] = face.map(|corner| self.vertices[corner as usize]);
        if a != b && b != c && c != a {
            self.faces.push(face);
        }
    }
}

/// The faces of `rows` by `columns` quadrilaterals.
fn twice(rows: u32, columns: u32) -> u64 {
    2 * u64::from(rows) * u64::from(columns)
}

fn check_count(name: &'static str, count: u32, minimum: u32) -> Result<(), ShapeError> {
    let count = f64::from(count);
    let least = Requirement::AtLeast(if minimum == 3 { "3" } else { "1" });
    check::that(count >= f64::from(minimum), name, count, least)?;
    Ok(check::at_most(name, count, "32768", 32768.0)?)
}

/// The fraction i/n, exact at both ends.
fn fraction<T: Real>(i: u32, n: u32) -> T {
    T::lit(f64::from(i)) / T::lit(f64::from(n))
}

/// Cosine and sine of i/n of a full turn. They are exact at all four quarters, and equal for mirrored points, so that
/// seams weld.
fn turn<T: Real>(i: u32, n: u32) -> (T, T) {
    let n = u64::from(n);
    let eighths = u64::from(i) % n * 8;
    let (quarter, rest) = (eighths / (2 * n), eighths % (2 * n));
    // Within an octant counted from the nearest axis, in units of 1/(8n) of a turn.
    let from_axis = rest.min(2 * n - rest);
    let angle = T::lit(convert(from_axis)) / T::lit(convert(n)) * T::frac_pi_4();
    let (sine, cosine) = angle.sin_cos();
    let (x, y) = if rest < n { (cosine, sine) } else { (sine, cosine) };
    match quarter {
        0 => (x, y),
        1 => (-y, x),
        2 => (-x, -y),
        _ => (y, -x),
    }
}

impl<T: Real> TriangleMesh<T> {
    /// A ball about the origin, all vertices at `radius` \[m\]: an octahedron of 8·`frequency`² faces,
    /// rows of equal width from pole to equator.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the radius is of a [`Size`](crate::Requirement::Size);
    /// [`ShapeError::InvalidValue`] unless the frequency is from 1 to 32768; [`ShapeError::Mesh`] for more than
    /// [`MAX_FACES`](Self::MAX_FACES) faces, that is, from a frequency of 725 on.
    pub fn sphere(radius: T, frequency: u32) -> Result<Self, ShapeError> {
        check::size("mesh.radius", radius)?;
        check_count("frequency", frequency, 1)?;
        let mut list = FaceList::for_faces(4 * twice(frequency, frequency))?;
        // One octant; the others are its bit-identical mirror images.
        let point = |i: u32, j: u32| {
            let (cos_polar, sin_polar) = turn::<T>(i, 4 * frequency);
            let (x, y) = if i == 0 { (T::one(), T::zero()) } else { turn::<T>(j, 4 * i) };
            Vector3::new(sin_polar * x, sin_polar * y, cos_polar) * radius
        };
        for octant in 0..8_u32 {
            let sign = |bit: u32| if octant & bit == 0 { T::one() } else { -T::one() };
            let mirror = Vector3::new(sign(1), sign(2), sign(4));
            let (first, first_face) = (number(list.vertices.len()), list.faces.len());
            for i in 0..=frequency {
                let row = (0..=i).map(|j| Point3::from(point(i, j).component_mul(&mirror)));
                list.vertices.extend(row);
            }
            let index = |i: u32, j: u32| first + i * (i + 1) / 2 + j;
            for (i, j) in (0..frequency).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                list.faces.push([index(i, j), index(i + 1, j), index(i + 1, j + 1)]);
                if j < i {
                    list.faces.push([index(i, j), index(i + 1, j + 1), index(i, j + 1)]);
                }
            }
            if octant.count_ones() % 2 == 1 {
                list.faces[first_face..].iter_mut().for_each(|face| face.swap(1, 2));
            }
        }
        list.closed()
    }

    /// A brick about the origin with edges along the axes, each edge cut into this number of pieces.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless all half extents \[m\] are of a [`Size`](crate::Requirement::Size);
    /// [`ShapeError::InvalidValue`] unless all subdivisions are from 1 to 32768; [`ShapeError::Mesh`] for more than
    /// [`MAX_FACES`](Self::MAX_FACES) faces, or faces that are too slender.
    pub fn brick(half_extents: Vector3<T>, subdivisions: [u32; 3]) -> Result<Self, ShapeError> {
        half_extents.iter().try_for_each(|&h| check::size("mesh.half_extents", h))?;
        subdivisions.into_iter().try_for_each(|n| check_count("subdivisions", n, 1))?;
        let [x, y, z] = subdivisions;
        let mut list = FaceList::for_faces(2 * (twice(x, y) + twice(y, z) + twice(z, x)))?;
        let coordinate = |axis: usize, i: u32| {
            let n = subdivisions[axis];
            // From the middle outwards, so that opposite points mirror each other.
            let from_middle =
                (T::lit(f64::from(i)) * T::lit(2.0) - T::lit(f64::from(n))) / T::lit(f64::from(n));
            half_extents[axis] * from_middle
        };
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for is_high in [false, true] {
                let (rows, columns) = if is_high { (u, v) } else { (v, u) };
                list.add_sheet(subdivisions[rows], subdivisions[columns], |i, j| {
                    let mut p = Point3::origin();
                    p[axis] = if is_high { half_extents[axis] } else { -half_extents[axis] };
                    p[rows] = coordinate(rows, i);
                    p[columns] = coordinate(columns, j);
                    p
                });
            }
        }
        list.closed()
    }

    /// A cylinder about the origin with its axis along z: `around` pieces in a turn, `along` pieces
    /// of its length, `rings` rings on each end.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the lengths \[m\] are of a [`Size`](crate::Requirement::Size);
    /// [`ShapeError::InvalidValue`] unless `around` is from 3 and the other counts from 1 to 32768;
    /// [`ShapeError::Mesh`] for more than [`MAX_FACES`](Self::MAX_FACES) faces, or faces that are too slender.
    pub fn cylinder(
        radius: T,
        half_length: T,
        around: u32,
        along: u32,
        rings: u32,
    ) -> Result<Self, ShapeError> {
        check::size("mesh.radius", radius)?;
        check::size("mesh.half_length", half_length)?;
        check_count("around", around, 3)?;
        check_count("along", along, 1)?;
        check_count("rings", rings, 1)?;
        let ring = |r: T, i: u32, z: T| {
            let (cosine, sine) = turn::<T>(i, around);
            Point3::new(r * cosine, r * sine, z)
        };
        let mut list = FaceList::for_faces(twice(around, along) + 2 * twice(around, rings))?;
        list.add_sheet(around, along, |i, j| {
            ring(radius, i, half_length * (T::lit(2.0) * fraction::<T>(j, along) - T::one()))
        });
        list.add_sheet(around, rings, |i, j| ring(radius * fraction(j, rings), i, -half_length));
        list.add_sheet(rings, around, |i, j| ring(radius * fraction(i, rings), j, half_length));
        list.closed()
    }

    /// A torus about the origin with its axis along z: a tube of radius `tube_radius` around a circle of
    /// radius `ring_radius`, with `around` pieces along the circle and `across` around the tube.
    ///
    /// # Errors
    /// [`ShapeError::InvalidValue`] unless the radii \[m\] are of a [`Size`](crate::Requirement::Size) and the
    /// tube is thinner than the ring; [`ShapeError::InvalidValue`] unless both counts are from 3 to 32768;
    /// [`ShapeError::Mesh`] for more than [`MAX_FACES`](Self::MAX_FACES) faces, or faces that are too slender.
    pub fn torus(ring_radius: T, tube_radius: T, around: u32, across: u32) -> Result<Self, ShapeError> {
        check::size("mesh.tube_radius", tube_radius)?;
        check::size("mesh.ring_radius - tube_radius", ring_radius - tube_radius)?;
        check_count("around", around, 3)?;
        check_count("across", across, 3)?;
        let mut list = FaceList::for_faces(twice(around, across))?;
        list.add_sheet(around, across, |i, j| {
            let (cos_ring, sin_ring) = turn::<T>(i, around);
            let (cos_tube, sin_tube) = turn::<T>(j, across);
            let r = ring_radius + tube_radius * cos_tube;
            Point3::new(r * cos_ring, r * sin_ring, tube_radius * sin_tube)
        });
        list.closed()
    }
}
