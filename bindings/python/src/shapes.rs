//! Shapes and triangle meshes.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

use force_elements::Error;
use force_elements::cable::Wrappable;
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{
    Cylinder, Ellipsoid, FaceList, FiniteCylinder, HalfSpace, ShapeError, SolidShape, Sphere, Torus,
    TriangleMesh,
};
use numpy::{PyArray2, PyArrayMethods as _, PyReadonlyArray2, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert;
use crate::errors::{exception, invalid, raised};
use crate::keywords;
use crate::parts::{Frame, FrameArgument};

pub(crate) fn of_shape(error: ShapeError) -> PyErr {
    raised(Error::from(error))
}

/// A shape in its own frame, made by one of the methods of this class.
#[pyclass(frozen, from_py_object, module = "force_elements")]
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    #[pyo3(get)]
    kind: String,
    #[pyo3(get)]
    sizes: Vec<f64>,
}

impl Shape {
    fn checked(kind: &str, sizes: Vec<f64>) -> PyResult<Self> {
        let shape = Self { kind: kind.to_string(), sizes };
        shape.wrappable().or_else(|_| shape.solid().map(|_| None))?;
        Ok(shape)
    }

    /// What can be entered.
    pub(crate) fn solid(&self) -> PyResult<SolidShape<f64>> {
        match (self.kind.as_str(), self.sizes.as_slice()) {
            ("half_space", []) => Ok(HalfSpace::BelowZ.into()),
            ("sphere", &[radius]) => Ok(Sphere::new(radius).map_err(of_shape)?.into()),
            ("ellipsoid", &[x, y, z]) => Ok(Ellipsoid::new(Vector3::new(x, y, z)).map_err(of_shape)?.into()),
            ("finite_cylinder", &[radius, half_length, rim]) => {
                Ok(SolidShape::custom(FiniteCylinder::new(radius, half_length, rim).map_err(of_shape)?))
            }
            _ => Err(exception("ElementError", &format!("a {} cannot be entered", self.kind), None)),
        }
    }

    /// What a cable can be laid over; `None` if it cannot.
    pub(crate) fn wrappable(&self) -> PyResult<Option<Arc<dyn Wrappable<f64>>>> {
        Ok(Some(match (self.kind.as_str(), self.sizes.as_slice()) {
            ("half_space", []) => return Ok(None),
            ("sphere", &[radius]) => Arc::new(Sphere::new(radius).map_err(of_shape)?),
            ("ellipsoid", &[x, y, z]) => Arc::new(Ellipsoid::new(Vector3::new(x, y, z)).map_err(of_shape)?),
            ("cylinder", &[radius]) => Arc::new(Cylinder::new(radius).map_err(of_shape)?),
            ("finite_cylinder", &[radius, half_length, rim]) => {
                Arc::new(FiniteCylinder::new(radius, half_length, rim).map_err(of_shape)?)
            }
            ("torus", &[ring, tube]) => Arc::new(Torus::new(ring, tube).map_err(of_shape)?),
            _ => return Err(invalid(&format!("there is no shape {}{:?}", self.kind, self.sizes))),
        }))
    }
}

#[pymethods]
impl Shape {
    #[new]
    fn new(kind: &str, sizes: Vec<f64>) -> PyResult<Self> {
        Self::checked(kind, sizes)
    }

    /// What lies below the x-y plane of its frame.
    #[staticmethod]
    fn half_space() -> PyResult<Self> {
        Self::checked("half_space", vec![])
    }

    /// A ball of this radius [m] about the origin of its frame.
    #[staticmethod]
    fn sphere(radius: f64) -> PyResult<Self> {
        Self::checked("sphere", vec![radius])
    }

    /// An ellipsoid with these three radii [m] along the axes of its frame.
    #[staticmethod]
    fn ellipsoid(radii: [f64; 3]) -> PyResult<Self> {
        Self::checked("ellipsoid", radii.to_vec())
    }

    /// A column of this radius [m] about the z axis, without ends; for cables.
    #[staticmethod]
    fn cylinder(radius: f64) -> PyResult<Self> {
        Self::checked("cylinder", vec![radius])
    }

    /// A column about the z axis with flat ends and rounded rims: radius, half the length and radius of the rims [m].
    #[staticmethod]
    fn finite_cylinder(radius: f64, half_length: f64, rim_radius: f64) -> PyResult<Self> {
        Self::checked("finite_cylinder", vec![radius, half_length, rim_radius])
    }

    /// A ring about the z axis, with the radius of its center line and that of its tube [m]; for cables.
    #[staticmethod]
    fn torus(ring_radius: f64, tube_radius: f64) -> PyResult<Self> {
        Self::checked("torus", vec![ring_radius, tube_radius])
    }

    fn __repr__(&self) -> String {
        format!("Shape({:?}, {:?})", self.kind, self.sizes)
    }

    fn __getnewargs__(&self) -> (&str, Vec<f64>) {
        (&self.kind, self.sizes.clone())
    }
}

/// Triangles: vertices (n, 3) [m] and faces (m, 3) of indices, counterclockwise seen from outside. ``closed`` requires that
/// they enclose a volume.
#[pyclass(frozen, from_py_object, module = "force_elements")]
#[derive(Debug, Clone)]
pub(crate) struct Mesh {
    mesh: Arc<TriangleMesh<f64>>,
}

#[pymethods]
impl Mesh {
    #[new]
    #[pyo3(signature = (vertices, faces, *, closed=true))]
    fn new(vertices: &Bound<'_, PyAny>, faces: &Bound<'_, PyAny>, closed: bool) -> PyResult<Self> {
        let (numbers, shape) = convert::numbers(vertices)?;
        let [_, 3] = shape.as_slice() else {
            return Err(invalid("vertices must be an array of shape (n, 3)"));
        };
        let points: Vec<_> = numbers.chunks_exact(3).map(|p| Point3::new(p[0], p[1], p[2])).collect();
        let py = faces.py();
        let faces =
            py.import("numpy")?.call_method1("asarray", (faces,))?.call_method1("astype", ("uint32",))?;
        let faces: PyReadonlyArray2<'_, u32> = faces.extract()?;
        let corners: Vec<u32> = faces.as_array().iter().copied().collect();
        let faces: Vec<_> = corners.chunks_exact(3).map(|f| [f[0], f[1], f[2]]).collect();
        if 3 * faces.len() != corners.len() {
            return Err(invalid("faces must be an array of shape (m, 3)"));
        }
        let make = if closed { TriangleMesh::closed } else { TriangleMesh::open };
        Ok(Self { mesh: Arc::new(make(&points, &faces).map_err(of_shape)?) })
    }

    /// A mesh from an OBJ or STL file, by the ending of its name.
    #[staticmethod]
    #[pyo3(signature = (path, *, closed=true))]
    fn load(path: PathBuf, closed: bool) -> PyResult<Self> {
        let file = File::open(&path)?;
        let is_stl = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("stl"));
        let reader = BufReader::new(file);
        let list = if is_stl { FaceList::read_stl(reader) } else { FaceList::read_obj(reader) };
        let list = list.map_err(of_shape)?;
        let mesh = if closed { list.closed() } else { list.open() };
        Ok(Self { mesh: Arc::new(mesh.map_err(of_shape)?) })
    }

    /// A block with these half extents [m], its faces divided into so many squares of two triangles along each axis.
    #[staticmethod]
    #[pyo3(signature = (half_extents, subdivisions=[1, 1, 1]))]
    fn brick(half_extents: [f64; 3], subdivisions: [u32; 3]) -> PyResult<Self> {
        let mesh = TriangleMesh::brick(half_extents.into(), subdivisions).map_err(of_shape)?;
        Ok(Self { mesh: Arc::new(mesh) })
    }

    /// A ball of this radius [m], with each edge of an icosahedron divided into ``frequency`` parts.
    #[staticmethod]
    fn sphere(radius: f64, frequency: u32) -> PyResult<Self> {
        Ok(Self { mesh: Arc::new(TriangleMesh::sphere(radius, frequency).map_err(of_shape)?) })
    }

    /// The vertices (n, 3) [m].
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let numbers: Vec<f64> = self.mesh.vertices().flat_map(|p| [p.x, p.y, p.z]).collect();
        convert::matrix(py, &numbers, 3)
    }

    /// The faces (m, 3).
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let corners = self.mesh.faces().as_flattened();
        corners.to_pyarray(py).reshape([corners.len() / 3, 3])
    }

    fn __repr__(&self) -> String {
        format!("Mesh of {} vertices and {} faces", self.mesh.vertex_count(), self.mesh.face_count())
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<u32>>), Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("closed", self.mesh.is_closed())?;
        Ok(((self.vertices(py)?, self.faces(py)?), options))
    }
}

#[derive(FromPyObject, IntoPyObject, Clone)]
pub(crate) enum SurfaceShape {
    Shape(Shape),
    Mesh(Mesh),
}

impl SurfaceShape {
    pub(crate) fn solid(&self) -> PyResult<SolidShape<f64>> {
        match self {
            Self::Shape(shape) => shape.solid(),
            Self::Mesh(mesh) => Ok(Arc::clone(&mesh.mesh).into()),
        }
    }

    /// The mesh, if it is one.
    pub(crate) fn mesh(&self) -> PyResult<Arc<TriangleMesh<f64>>> {
        match self {
            Self::Mesh(mesh) => Ok(Arc::clone(&mesh.mesh)),
            Self::Shape(_) => Err(exception("ElementError", "only a mesh has springs", None)),
        }
    }
}

/// A surface of an elastic foundation on a frame or body: rigid, or, with parameters of its material, a mesh with a spring on
/// each face. The parameters are those of ``force_elements.parameters("elastic_foundation.material")``.
#[pyclass(frozen, module = "force_elements")]
pub(crate) struct Surface {
    pub(crate) frame: Frame,
    pub(crate) shape: SurfaceShape,
    pub(crate) material: Option<Material<f64>>,
    keywords: Py<PyDict>,
}

#[pymethods]
impl Surface {
    #[new]
    #[pyo3(signature = (frame, shape, **material))]
    fn new(
        py: Python<'_>,
        frame: FrameArgument,
        shape: SurfaceShape,
        material: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut springs = Material::default();
        let keywords = keywords::assign("the material of a surface", &mut springs, material, py)?;
        let material = if keywords.is_empty() { None } else { Some(springs) };
        match material {
            Some(_) => shape.mesh().map(|_| ())?,
            None => shape.solid().map(|_| ())?,
        }
        Ok(Self { frame: frame.frame(), shape, material, keywords: keywords.unbind() })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> ((Frame, SurfaceShape), Bound<'py, PyDict>) {
        ((self.frame, self.shape.clone()), self.keywords.bind(py).clone())
    }
}
