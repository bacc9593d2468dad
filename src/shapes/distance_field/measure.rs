//! The accuracy of a distance field, measured against its mesh.

use nalgebra::{ComplexField, Matrix3, Point3, Vector3, convert, convert_unchecked};

use super::DistanceField;
use crate::shapes::{Jet, ShapeError, Solid, TriangleMesh};

/// The least slope of the implicit function on the surface and on the mesh. It is one on a smooth surface, six tenths in
/// a corner of a cube, and zero in the middle of the mesh.
const LEAST_SLOPE: f64 = 0.2;

impl DistanceField {
    /// Measures the surface against the mesh and stores its accuracy and its least radius of curvature.
    pub(super) fn measure(&mut self, mesh: &TriangleMesh<f64>) -> Result<(), ShapeError> {
        let to_surface = from_mesh(self, mesh)?;
        let (to_mesh, curvature) = from_surface(self, mesh)?;
        self.accuracy = to_surface.max(to_mesh);
        self.least_radius = curvature.recip().max(self.spacing);
        Ok(())
    }
}

fn too_coarse(field: &DistanceField, p: &Point3<f64>) -> ShapeError {
    ShapeError::GridTooCoarse { spacing: field.spacing, x: p.x, y: p.y, z: p.z }
}

/// The largest distance of the mesh from the surface.
fn from_mesh(field: &DistanceField, mesh: &TriangleMesh<f64>) -> Result<f64, ShapeError> {
    let mut largest = 0.0_f64;
    let mut test = |p: &Point3<f64>| {
        let slope = field.local::<f64, 1>(p).gradient.norm();
        let distance = field.foot(p).map(|foot| (foot - p).norm());
        match distance {
            Some(distance) if distance <= field.spacing && slope >= LEAST_SLOPE => {
                largest = largest.max(distance);
                Ok(())
            }
            _ => Err(too_coarse(field, p)),
        }
    };
    mesh.used_vertices().try_for_each(|vertex| test(&vertex))?;
    mesh.centroids().try_for_each(|centroid| test(&centroid))?;
    for [a, b, c] in mesh.triangles() {
        // From an end of the shortest edge, so that a needle is not divided across.
        let turned = [[a, b, c], [b, c, a], [c, a, b]];
        let shorter = |x: &[Point3<f64>; 3], y: &[Point3<f64>; 3]| {
            (x[1] - x[0]).norm().total_cmp(&(y[1] - y[0]).norm())
        };
        let [a, b, c] = turned.into_iter().min_by(shorter).unwrap_or([a, b, c]);
        let parts = [b - a, c - a].map(|edge| ComplexField::ceil(2.0 * edge.norm() / field.spacing).max(1.0));
        let [across, along] = parts.map(convert_unchecked::<f64, usize>);
        if along < 2 {
            continue;
        }
        for i in 0..=across {
            let u = convert::<usize, f64>(i) / parts[0];
            for j in 0..=along * (across - i) / across {
                let v = convert::<usize, f64>(j) / parts[1];
                test(&(a + (b - a) * u + (c - a) * v))?;
            }
        }
    }
    Ok(largest)
}

/// The largest distance of the surface from the mesh, and the largest curvature.
fn from_surface(field: &DistanceField, mesh: &TriangleMesh<f64>) -> Result<(f64, f64), ShapeError> {
    let (mut largest, mut bend) = (0.0_f64, 0.0_f64);
    let [nx, ny, nz] = field.cells;
    let at = |cell: [usize; 3], shift: [f64; 3]| {
        let along: [f64; 3] = cell.map(convert);
        field.corner + (Vector3::from(along) + Vector3::from(shift)) * field.spacing
    };
    let eighths: [[f64; 3]; 8] =
        core::array::from_fn(|i| [1, 2, 4].map(|bit| if i & bit == 0 { 0.25 } else { 0.75 }));
    let cells = (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
    for cell in cells {
        let height = |p: &Point3<f64>| field.local::<f64, 0>(p).value.abs();
        // Half the diagonal of a cell and some more, as slopes may exceed one.
        if height(&at(cell, [0.5; 3])) > field.spacing {
            continue;
        }
        let places = eighths.map(|shift| at(cell, shift));
        let near = places.iter().filter(|p| height(p) <= 0.5 * field.spacing);
        for foot in near.filter_map(|p| field.foot(p)) {
            let distance = mesh.signed_distance(&foot).abs();
            let jet = field.local::<f64, 2>(&foot);
            if !(distance <= field.spacing && jet.gradient.norm() >= LEAST_SLOPE) {
                return Err(too_coarse(field, &foot));
            }
            largest = largest.max(distance);
            bend = bend.max(greatest_curvature(&jet));
        }
    }
    Ok((largest, bend))
}

/// The greater principal curvature in magnitude.
fn greatest_curvature(jet: &Jet<f64>) -> f64 {
    let slope = jet.gradient.norm();
    let normal = jet.gradient / slope;
    let across = Matrix3::identity() - normal * normal.transpose();
    // Its eigenvalues are the principal curvatures, and zero along the normal.
    let shape = across * jet.hessian * across / slope;
    let (mean, squares) = (0.5 * shape.trace(), shape.norm_squared());
    let difference = ComplexField::sqrt((0.5 * squares - mean * mean).max(0.0));
    mean.abs() + difference
}
