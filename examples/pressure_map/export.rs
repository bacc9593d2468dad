//! The mesh with its results per face, as a VTK file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::Snapshot;

/// Writes the legacy format in text, which every reader of VTK files has kept.
pub(crate) fn write(path: &Path, snapshot: &Snapshot<'_>) -> Result<PathBuf, Box<dyn Error>> {
    let Snapshot { mesh, X_GS, position, dynamics, .. } = snapshot;
    let (vertices, faces) = (mesh.vertices(), mesh.faces());
    // Pressure, depth and friction.
    let mut results = vec![[0.0; 5]; faces.len()];
    for (spring, force) in position.springs.iter().zip(&dynamics.springs) {
        let [x, y, z] = (force.friction_force_G / spring.area).into();
        results[spring.index] = [force.pressure, spring.depth, x, y, z];
    }
    let mut text =
        String::from("# vtk DataFile Version 3.0\npressure of a tyre\nASCII\nDATASET UNSTRUCTURED_GRID\n");
    writeln!(text, "POINTS {} double", vertices.len())?;
    for p in vertices.map(|vertex| X_GS * vertex) {
        writeln!(text, "{} {} {}", p.x, p.y, p.z)?;
    }
    writeln!(text, "CELLS {} {}", faces.len(), 4 * faces.len())?;
    for [a, b, c] in faces {
        writeln!(text, "3 {a} {b} {c}")?;
    }
    // Triangles.
    writeln!(text, "CELL_TYPES {}\n{}", faces.len(), "5\n".repeat(faces.len()).trim_end())?;
    writeln!(text, "CELL_DATA {}", faces.len())?;
    for (i, name) in ["pressure_Pa", "depth_m"].into_iter().enumerate() {
        writeln!(text, "SCALARS {name} double 1\nLOOKUP_TABLE default")?;
        results.iter().try_for_each(|result| writeln!(text, "{}", result[i]))?;
    }
    writeln!(text, "VECTORS friction_Pa double")?;
    results.iter().try_for_each(|[.., x, y, z]| writeln!(text, "{x} {y} {z}"))?;
    std::fs::write(path, text)?;
    Ok(path.to_path_buf())
}
