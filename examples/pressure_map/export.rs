//! The mesh with its results per face, as a VTK file.

use std::error::Error;
use std::path::{Path, PathBuf};

use vtkio::model::{
    Attribute, Attributes, ByteOrder, CellType, Cells, DataArray, DataSet, IOBuffer, UnstructuredGridPiece,
    Version, VertexNumbers, Vtk,
};

use crate::Snapshot;

pub(crate) fn write(path: &Path, snapshot: &Snapshot<'_>) -> Result<PathBuf, Box<dyn Error>> {
    let Snapshot { mesh, X_GS, position, dynamics } = snapshot;
    let mut pressure = vec![0.0; mesh.face_count()];
    let mut depth = vec![0.0; mesh.face_count()];
    let mut traction = vec![0.0; 3 * mesh.face_count()];
    for (spring, force) in position.springs.iter().zip(&dynamics.springs) {
        pressure[spring.index] = force.pressure;
        depth[spring.index] = spring.depth;
        for i in 0..3 {
            traction[3 * spring.index + i] = force.friction_force_G[i] / spring.area;
        }
    }
    let points: Vec<f64> = mesh.vertices().flat_map(|v| <[f64; 3]>::from((X_GS * v).coords)).collect();
    let corners: Vec<u32> = mesh.faces().iter().flat_map(|&[a, b, c]| [3, a, b, c]).collect();
    let scalars = |name: &str, values| Attribute::DataArray(DataArray::scalars(name, 1).with_vec(values));
    let data = Attributes {
        point: Vec::new(),
        cell: vec![
            scalars("pressure_Pa", pressure),
            scalars("depth_m", depth),
            Attribute::DataArray(DataArray::vectors("friction_Pa").with_vec(traction)),
        ],
    };
    let cells = Cells {
        cell_verts: VertexNumbers::Legacy { num_cells: u32::try_from(mesh.face_count())?, vertices: corners },
        types: vec![CellType::Triangle; mesh.face_count()],
    };
    let vtk = Vtk {
        version: Version::new(),
        title: "pressure of a tyre".to_string(),
        byte_order: ByteOrder::BigEndian,
        file_path: None,
        data: DataSet::inline(UnstructuredGridPiece { points: IOBuffer::F64(points), cells, data }),
    };
    vtk.export(path)?;
    Ok(path.to_path_buf())
}
