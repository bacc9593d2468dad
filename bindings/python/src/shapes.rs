//! Shapes and triangle meshes.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

use force_elements::Error;
use force_elements::cable::Wrappable;
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Point3, Vector2, Vector3};
use force_elements::shapes::{
    Cylinder, DistanceField, Ellipsoid, FaceList, FiniteCylinder, HalfSpace, HeightMap, ShapeError, Solid,
    SolidShape, Sphere, Torus, TriangleMesh,
};
use numpy::{PyArray2, PyArrayMethods as _, PyReadonlyArrayDyn, PyUntypedArrayMethods as _, ToPyArray as _};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, wrong_shape};
use crate::errors::{classes, exception, invalid, raised, raised_about};
use crate::keywords;
use crate::parts::{Frame, FrameArgument};

pub(crate) fn of_shape(error: ShapeError) -> PyErr {
    raised(Error::from(error))
}

/// A shape in its own frame, made by one of the methods of this class.
#[pyclass(frozen, from_py_object, module = "force_elements")]
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Its kind, as the method that made it.
    #[pyo3(get)]
    kind: String,
    /// The numbers that it was made with [m].
    #[pyo3(get)]
    sizes: Vec<f64>,
    form: Form,
    /// That a distance field was made from.
    mesh: Option<Mesh>,
}

/// What a contact is with, or what a cable is laid over, or both.
#[derive(Debug, Clone)]
struct Form {
    solid: Option<SolidShape<f64>>,
    wrappable: Option<Arc<dyn Wrappable<f64>>>,
}

impl Form {
    fn both(shape: impl Wrappable<f64> + Solid<f64> + Clone + 'static) -> Self {
        Self { solid: Some(SolidShape::custom(shape.clone())), wrappable: Some(Arc::new(shape)) }
    }

    fn for_cables(shape: impl Wrappable<f64> + 'static) -> Self {
        Self { solid: None, wrappable: Some(Arc::new(shape)) }
    }

    fn of(kind: &str, sizes: &[f64], mesh: Option<&Mesh>) -> Result<Option<Self>, ShapeError> {
        Ok(Some(match (kind, sizes, mesh) {
            ("half_space", [], None) => Self { solid: Some(HalfSpace::BelowZ.into()), wrappable: None },
            ("sphere", &[radius], None) => {
                let sphere = Sphere::new(radius)?;
                Self { solid: Some(sphere.into()), wrappable: Some(Arc::new(sphere)) }
            }
            ("ellipsoid", &[x, y, z], None) => {
                let ellipsoid = Ellipsoid::new(Vector3::new(x, y, z))?;
                Self { solid: Some(ellipsoid.into()), wrappable: Some(Arc::new(ellipsoid)) }
            }
            ("cylinder", &[radius], None) => Self::for_cables(Cylinder::new(radius)?),
            ("finite_cylinder", &[radius, half_length, rim], None) => {
                Self::both(FiniteCylinder::new(radius, half_length, rim)?)
            }
            ("torus", &[ring, tube], None) => Self::for_cables(Torus::new(ring, tube)?),
            ("height_map", &[x, y, dx, dy, columns, ref heights @ ..], None)
                if columns > 0.0 && columns.fract() == 0.0 =>
            {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number")]
                let columns = columns as usize;
                Self::for_cables(HeightMap::new(Vector2::new(x, y), Vector2::new(dx, dy), columns, heights)?)
            }
            ("distance_field", &[spacing], Some(mesh)) => {
                Self::for_cables(DistanceField::from_mesh(&mesh.mesh, spacing)?)
            }
            _ => return Ok(None),
        }))
    }
}

impl Shape {
    fn checked(kind: &str, sizes: Vec<f64>, mesh: Option<Mesh>) -> PyResult<Self> {
        let form = Form::of(kind, &sizes, mesh.as_ref()).map_err(of_shape)?;
        let form = form.ok_or_else(|| invalid(&format!("there is no shape {kind}{sizes:?}")))?;
        Ok(Self { kind: kind.to_string(), sizes, form, mesh })
    }

    /// What a contact is with.
    pub(crate) fn solid(&self) -> PyResult<SolidShape<f64>> {
        let refused = || {
            let contacts =
                "contacts are with a half_space, sphere, ellipsoid or finite_cylinder, or with a Mesh";
            exception(classes::ElementError::new_err, &format!("{contacts}, not with a {}", self.kind))
        };
        self.form.solid.clone().ok_or_else(refused)
    }

    /// What a cable can be laid over; `None` if it cannot.
    pub(crate) fn wrappable(&self) -> Option<Arc<dyn Wrappable<f64>>> {
        self.form.wrappable.clone()
    }
}

#[pymethods]
impl Shape {
    #[new]
    #[pyo3(signature = (kind, sizes, mesh=None))]
    fn new(kind: &str, sizes: Vec<f64>, mesh: Option<Mesh>) -> PyResult<Self> {
        Self::checked(kind, sizes, mesh)
    }

    /// What lies below the x-y plane of its frame.
    #[staticmethod]
    fn half_space() -> PyResult<Self> {
        Self::checked("half_space", vec![], None)
    }

    /// A ball of this radius [m] about the origin of its frame.
    #[staticmethod]
    fn sphere(radius: f64) -> PyResult<Self> {
        Self::checked("sphere", vec![radius], None)
    }

    /// An ellipsoid with these three radii [m] along the axes of its frame.
    #[staticmethod]
    fn ellipsoid(radii: [f64; 3]) -> PyResult<Self> {
        Self::checked("ellipsoid", radii.to_vec(), None)
    }

    /// A column of this radius [m] about the z axis, without ends; for cables.
    #[staticmethod]
    fn cylinder(radius: f64) -> PyResult<Self> {
        Self::checked("cylinder", vec![radius], None)
    }

    /// A column about the z axis with flat ends and rounded rims: radius, half the length and radius of the rims [m].
    #[staticmethod]
    fn finite_cylinder(radius: f64, half_length: f64, rim_radius: f64) -> PyResult<Self> {
        Self::checked("finite_cylinder", vec![radius, half_length, rim_radius], None)
    }

    /// A ring about the z axis, with the radius of its center line and that of its tube [m]; for cables.
    #[staticmethod]
    fn torus(ring_radius: f64, tube_radius: f64) -> PyResult<Self> {
        Self::checked("torus", vec![ring_radius, tube_radius], None)
    }

    /// What lies below a smooth surface through ``heights`` (rows, columns) [m], columns along x, rows along y. ``corner`` (x, y)
    /// [m] is where the first is, ``spacing`` (along x, along y) [m] the distance of neighbours. For cables.
    #[staticmethod]
    fn height_map(corner: [f64; 2], spacing: [f64; 2], heights: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (numbers, shape) = convert::numbers(heights, "heights")?;
        let &[_, columns] = shape.as_slice() else {
            return Err(wrong_shape("heights", "(rows, columns)", &shape));
        };
        #[expect(clippy::cast_precision_loss, reason = "an array is not that long")]
        let mut sizes = vec![corner[0], corner[1], spacing[0], spacing[1], columns as f64];
        sizes.extend(numbers);
        Self::checked("height_map", sizes, None)
    }

    /// What a closed mesh encloses, its edges rounded at the scale of a grid of this ``spacing`` [m]; for cables.
    #[staticmethod]
    fn distance_field(mesh: Mesh, spacing: f64) -> PyResult<Self> {
        Self::checked("distance_field", vec![spacing], Some(mesh))
    }

    pub(crate) fn __repr__(&self) -> String {
        if self.kind == "height_map" {
            return format!("Shape of a height map of {} heights", self.sizes.len().saturating_sub(5));
        }
        format!("Shape({:?}, {:?})", self.kind, self.sizes)
    }

    fn __getnewargs__(&self) -> (&str, Vec<f64>, Option<Mesh>) {
        (&self.kind, self.sizes.clone(), self.mesh.clone())
    }
}

/// Triangles: vertices (n, 3) [m] and faces (m, 3) of indices, counterclockwise seen from outside. Faces with more corners must be
/// divided into triangles first. ``closed`` requires that they enclose a volume.
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
        let (numbers, shape) = convert::numbers(vertices, "vertices")?;
        let [_, 3] = shape.as_slice() else {
            return Err(wrong_shape("vertices", "(n, 3)", &shape));
        };
        let points: Vec<_> = numbers.chunks_exact(3).map(|p| Point3::new(p[0], p[1], p[2])).collect();
        let (faces, kind) = convert::untyped(faces, "faces")?;
        if !b"iu".contains(&kind) {
            return Err(invalid(&format!("faces must be an array of integers, not of {}", faces.dtype())));
        }
        let faces: PyReadonlyArrayDyn<'_, i64> = faces.call_method1("astype", ("int64",))?.extract()?;
        let [_, 3] = faces.shape() else {
            return Err(wrong_shape("faces", "(m, 3), triangles", faces.shape()));
        };
        let corner = |&corner: &i64| {
            u32::try_from(corner).map_err(|_| invalid(&format!("a face has no corner {corner}")))
        };
        let corners = faces.as_array().iter().map(corner).collect::<PyResult<Vec<u32>>>()?;
        let faces: Vec<_> = corners.chunks_exact(3).map(|f| [f[0], f[1], f[2]]).collect();
        let make = if closed { TriangleMesh::closed } else { TriangleMesh::open };
        Ok(Self { mesh: Arc::new(make(&points, &faces).map_err(of_shape)?) })
    }

    /// A mesh from a file whose name ends in .obj or .stl: all its objects together. Polygons of .obj files are cut into triangles;
    /// lines that are continued by a backslash are refused.
    #[staticmethod]
    #[pyo3(signature = (path, *, closed=true))]
    fn load(path: PathBuf, closed: bool) -> PyResult<Self> {
        let unread = |error: std::io::Error| {
            PyOSError::new_err((error.raw_os_error(), error.to_string(), path.display().to_string()))
        };
        let reader = BufReader::new(File::open(&path).map_err(unread)?);
        let ends_in = |known: &str| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(known));
        let list = match [ends_in("stl"), ends_in("obj")] {
            [true, _] => FaceList::read_stl(reader),
            [_, true] => FaceList::read_obj(reader),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{}: only .obj and .stl files can be read",
                    path.display()
                )));
            }
        };
        let mesh = list.and_then(|list| if closed { list.closed() } else { list.open() });
        let refused = |error| raised_about(path.display(), Error::from(error));
        Ok(Self { mesh: Arc::new(mesh.map_err(refused)?) })
    }

    /// A block with these half extents [m], its faces divided into so many squares of two triangles along each axis.
    #[staticmethod]
    #[pyo3(signature = (half_extents, subdivisions=[1, 1, 1]))]
    fn brick(half_extents: [f64; 3], subdivisions: [u32; 3]) -> PyResult<Self> {
        let mesh = TriangleMesh::brick(half_extents.into(), subdivisions).map_err(of_shape)?;
        Ok(Self { mesh: Arc::new(mesh) })
    }

    /// A ball of this radius [m], with each edge of an octahedron divided into ``frequency`` parts.
    #[staticmethod]
    fn sphere(radius: f64, frequency: u32) -> PyResult<Self> {
        Ok(Self { mesh: Arc::new(TriangleMesh::sphere(radius, frequency).map_err(of_shape)?) })
    }

    /// The vertices (n, 3) [m].
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let numbers: Vec<f64> = self.mesh.vertices().flat_map(|p| [p.x, p.y, p.z]).collect();
        convert::matrix(py, &numbers, 3).map(convert::read_only)
    }

    /// The same surface with no edge longer than ``longest_edge`` [m]: longer ones are halved.
    fn refined(&self, longest_edge: f64) -> PyResult<Self> {
        Ok(Self { mesh: Arc::new(self.mesh.refined(longest_edge).map_err(of_shape)?) })
    }

    /// The faces (m, 3).
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let corners = self.mesh.faces().as_flattened();
        corners.to_pyarray(py).reshape([corners.len() / 3, 3]).map(convert::read_only)
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

#[derive(IntoPyObject, Clone)]
pub(crate) enum SurfaceShape {
    Shape(Shape),
    Mesh(Mesh),
}

impl<'py> FromPyObject<'_, 'py> for SurfaceShape {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mesh = || value.extract().map(Self::Mesh).ok();
        let found = value.extract().map(Self::Shape).ok().or_else(mesh);
        found.ok_or_else(|| convert::not_a("a Shape or a Mesh is required", &value))
    }
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
            Self::Shape(_) => Err(exception(
                classes::ElementError::new_err,
                "a material is that of a Mesh, whose faces have springs: a Shape is rigid and takes none",
            )),
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

    fn __repr__(&self, py: Python<'_>) -> String {
        let shape = match &self.shape {
            SurfaceShape::Shape(shape) => shape.__repr__(),
            SurfaceShape::Mesh(mesh) => mesh.__repr__(),
        };
        let springs =
            if self.material.is_some() { format!(", {}", self.keywords.bind(py)) } else { String::new() };
        format!("Surface({}, {shape}{springs})", self.frame.__repr__())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> ((Frame, SurfaceShape), Bound<'py, PyDict>) {
        ((self.frame, self.shape.clone()), self.keywords.bind(py).clone())
    }
}
