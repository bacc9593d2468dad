//! Bodies, coordinates and elements by their places, and frames and stations on bodies.

use force_elements::nalgebra::Point3;
use force_elements::{
    BodyIndex, CoordinateIndex, ElementId, ForceSystem, Frame as CrateFrame, Pose, Station as CrateStation,
    Topology,
};
use numpy::PyArray2;
use pyo3::prelude::*;

use crate::convert;
use crate::errors::no_such;

/// A body of a system, by its place. ``index`` is its row in arrays of poses, velocities and wrenches; that of ground is -1. After
/// the body has been removed the row stays, with zero forces, until another body takes it.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Body {
    /// Its row in arrays of bodies; -1 of ground.
    #[pyo3(get)]
    pub(crate) index: isize,
}

/// A scalar coordinate of a system. ``index`` is its place in arrays of coordinates, rates and forces, which stays when the
/// coordinate is removed, until another takes it.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Coordinate {
    /// Its place in arrays of coordinates.
    #[pyo3(get)]
    pub(crate) index: usize,
}

/// An element of a system. ``id`` is the prefix of the names of its variables and results, such as ``linear_bushing[0]``.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    /// The prefix of the names of its variables and results.
    #[pyo3(get)]
    pub(crate) id: String,
}

/// The rows of arrays of bodies; ``None`` where one was removed.
pub(crate) fn body_rows(topology: &Topology) -> Vec<Option<BodyIndex>> {
    (1..topology.body_places()).map(|place| topology.body(place)).collect()
}

/// The places of arrays of coordinates; ``None`` where one was removed.
pub(crate) fn coordinate_places(topology: &Topology) -> Vec<Option<CoordinateIndex>> {
    (0..topology.coordinate_places()).map(|place| topology.coordinate(place)).collect()
}

/// A row of an array, and what it belongs to, unless that was removed.
pub(crate) fn occupied<I, N>(
    rows: impl IntoIterator<Item = Option<I>>,
    numbers: impl IntoIterator<Item = N>,
) -> impl Iterator<Item = (I, N)> {
    rows.into_iter().zip(numbers).filter_map(|(row, numbers)| Some((row?, numbers)))
}

impl Body {
    pub(crate) const GROUND: Self = Self { index: -1 };

    pub(crate) fn of(body: BodyIndex) -> Self {
        Self { index: isize::try_from(body.index()).unwrap_or(isize::MAX) - 1 }
    }

    pub(crate) fn find(self, system: &ForceSystem<f64>) -> PyResult<BodyIndex> {
        let place = usize::try_from(self.index + 1).ok();
        let body = place.and_then(|place| system.topology().body(place));
        body.ok_or_else(|| no_such(&format!("the system has no body of index {}", self.index)))
    }
}

#[pymethods]
impl Body {
    #[new]
    fn new(index: isize) -> PyResult<Self> {
        if index < -1 {
            return Err(no_such(&format!("there is no body of index {index}")));
        }
        Ok(Self { index })
    }

    fn __repr__(&self) -> String {
        format!("Body({})", self.index)
    }

    fn __getnewargs__(&self) -> (isize,) {
        (self.index,)
    }

    /// A frame on this body. ``pose`` [m]: 4 x 4 matrix, or position and quaternion (x, y, z, w, i, j, k), or position.
    fn frame(&self, pose: &Bound<'_, PyAny>) -> PyResult<Frame> {
        Ok(Frame { body: *self, pose: convert::pose(pose)? })
    }

    /// A point [m] of this body, in its own frame.
    fn station(&self, point: &Bound<'_, PyAny>) -> PyResult<Station> {
        Ok(Station { body: *self, point: convert::point(point)? })
    }
}

impl Coordinate {
    pub(crate) fn of(coordinate: CoordinateIndex) -> Self {
        Self { index: coordinate.index() }
    }

    pub(crate) fn find(self, system: &ForceSystem<f64>) -> PyResult<CoordinateIndex> {
        let coordinate = system.topology().coordinate(self.index);
        coordinate.ok_or_else(|| no_such(&format!("the system has no coordinate of index {}", self.index)))
    }
}

#[pymethods]
impl Coordinate {
    #[new]
    fn new(index: usize) -> Self {
        Self { index }
    }

    fn __repr__(&self) -> String {
        format!("Coordinate({})", self.index)
    }

    fn __getnewargs__(&self) -> (usize,) {
        (self.index,)
    }
}

impl Element {
    pub(crate) fn of(id: impl Into<ElementId>) -> Self {
        Self { id: id.into().to_string() }
    }

    pub(crate) fn find(&self, system: &ForceSystem<f64>) -> PyResult<ElementId> {
        let mut elements = system.elements();
        let found = elements.find(|id| id.to_string() == self.id);
        found.ok_or_else(|| no_such(&format!("the system has no element {}", self.id)))
    }
}

#[pymethods]
impl Element {
    #[new]
    fn new(id: String) -> Self {
        Self { id }
    }

    fn __repr__(&self) -> String {
        format!("Element({:?})", self.id)
    }

    fn __str__(&self) -> &str {
        &self.id
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.id,)
    }
}

/// A frame on a body, at a pose [m] in the body's frame: 4 x 4 matrix, or position and quaternion (x, y, z, w, i, j, k), or
/// position; without one the body's frame itself.
#[pyclass(frozen, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// Its body.
    #[pyo3(get)]
    pub(crate) body: Body,
    pub(crate) pose: Pose<f64>,
}

#[pymethods]
impl Frame {
    #[new]
    #[pyo3(signature = (body, pose=None))]
    fn new(body: Body, pose: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let pose = pose.map_or(Ok(Pose::identity()), convert::pose)?;
        Ok(Self { body, pose })
    }

    /// The pose [m] as a 4 x 4 matrix.
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        convert::matrix(py, &convert::matrix_of(&self.pose), 4)
    }

    fn __repr__(&self) -> String {
        format!("Frame({})", self.body.__repr__())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Body, Bound<'py, PyArray2<f64>>)> {
        Ok((self.body, self.pose(py)?))
    }
}

/// A point [m] of a body, in the body's frame.
#[pyclass(frozen, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Station {
    /// Its body.
    #[pyo3(get)]
    pub(crate) body: Body,
    pub(crate) point: Point3<f64>,
}

#[pymethods]
impl Station {
    #[new]
    fn new(body: Body, point: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { body, point: convert::point(point)? })
    }

    /// The point [m].
    #[getter]
    fn point(&self) -> [f64; 3] {
        self.point.coords.into()
    }

    fn __repr__(&self) -> String {
        format!("Station({}, {:?})", self.body.__repr__(), self.point())
    }

    fn __getnewargs__(&self) -> (Body, [f64; 3]) {
        (self.body, self.point())
    }
}

/// A frame, or a body for its own frame.
#[derive(FromPyObject)]
pub(crate) enum FrameArgument {
    Frame(Frame),
    Body(Body),
}

impl FrameArgument {
    pub(crate) fn frame(&self) -> Frame {
        match *self {
            Self::Frame(frame) => frame,
            Self::Body(body) => Frame { body, pose: Pose::identity() },
        }
    }

    pub(crate) fn find(&self, system: &ForceSystem<f64>) -> PyResult<CrateFrame<f64>> {
        let Frame { body, pose } = self.frame();
        Ok(CrateFrame::on(body.find(system)?, pose))
    }
}

impl Station {
    pub(crate) fn find(&self, system: &ForceSystem<f64>) -> PyResult<CrateStation<f64>> {
        Ok(CrateStation::on(self.body.find(system)?, self.point))
    }
}
