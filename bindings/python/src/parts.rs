//! Bodies, coordinates and elements by their places, and frames and stations on bodies.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Deref;

use force_elements::nalgebra::Point3;
use force_elements::{
    BodyIndex, CoordinateIndex, ElementId, ForceSystem, Frame as CrateFrame, Pose, Station as CrateStation,
    Topology,
};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert;
use crate::errors::{classes, exception, no_such};

/// A body of a system, by its place. ``index`` is its row in arrays of poses, velocities and wrenches; that of ground is -1. After
/// the body has been removed the row stays, with zero forces, until another body takes it: then ``generation`` counts the bodies
/// that had the row before, and handles of those are refused.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Body {
    /// Its row in arrays of bodies; -1 of ground.
    #[pyo3(get)]
    pub(crate) index: isize,
    /// How many bodies had this row before.
    #[pyo3(get)]
    pub(crate) generation: u32,
}

/// A scalar coordinate of a system. ``index`` is its place in arrays of coordinates, rates and forces, which stays when the
/// coordinate is removed, until another takes it.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Coordinate {
    /// Its place in arrays of coordinates.
    #[pyo3(get)]
    pub(crate) index: usize,
    /// How many coordinates had this place before.
    #[pyo3(get)]
    pub(crate) generation: u32,
}

/// An element of a system. ``id`` is the prefix of the names of its variables and results, such as ``linear_bushing[0]``.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    /// The prefix of the names of its variables and results.
    #[pyo3(get)]
    pub(crate) id: String,
    /// How many elements had this id before.
    #[pyo3(get)]
    pub(crate) generation: u32,
}

fn representation(of: &str, place: impl Display, generation: u32) -> String {
    match generation {
        0 => format!("{of}({place})"),
        _ => format!("{of}({place}, generation={generation})"),
    }
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

/// A system, how often each of its places was vacated, and how what is there was added.
#[derive(Default)]
pub(crate) struct Built {
    pub(crate) system: ForceSystem<f64>,
    vacated: BTreeMap<Place, u32>,
    calls: BTreeMap<Place, Call>,
}

/// A method of a system, and what it is given.
#[derive(IntoPyObject)]
pub(crate) struct Call(pub(crate) &'static str, pub(crate) Py<PyTuple>, pub(crate) Py<PyDict>);

/// The places of a system in the order in which an equal one is built, up to the last that counts.
pub(crate) struct Recorded {
    vacated: BTreeMap<Place, u32>,
    places: Vec<(Place, Filling)>,
}

/// What fills a place.
enum Filling {
    Own(Call),
    /// In a vacant place, until all are filled: an element that is added like another.
    Like(Call),
    /// A body or coordinate.
    Bare(&'static str),
}

/// Where a body, a coordinate or an element is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Body(isize),
    Coordinate(usize),
    Element(String),
}

/// A body, a coordinate or an element.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) enum Part {
    Body(Body),
    Coordinate(Coordinate),
    Element(Element),
}

impl Part {
    fn of(place: Place, generation: u32) -> Self {
        match place {
            Place::Body(index) => Self::Body(Body { index, generation }),
            Place::Coordinate(index) => Self::Coordinate(Coordinate { index, generation }),
            Place::Element(id) => Self::Element(Element { id, generation }),
        }
    }

    fn into_place(self) -> (Place, u32) {
        match self {
            Self::Body(body) => (body.place(), body.generation),
            Self::Coordinate(coordinate) => (coordinate.place(), coordinate.generation),
            Self::Element(element) => (element.place(), element.generation),
        }
    }
}

impl Call {
    pub(crate) fn new(py: Python<'_>, method: &'static str, arguments: Bound<'_, PyTuple>) -> Self {
        Self(method, arguments.unbind(), PyDict::new(py).unbind())
    }

    fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(self.0, self.1.clone_ref(py), self.2.clone_ref(py))
    }

    fn without_name(&self, py: Python<'_>) -> PyResult<Self> {
        let keywords = self.2.bind(py).copy()?;
        if keywords.contains("name")? {
            keywords.del_item("name")?;
        }
        Ok(Self(self.0, self.1.clone_ref(py), keywords.unbind()))
    }
}

impl Deref for Built {
    type Target = ForceSystem<f64>;

    fn deref(&self) -> &ForceSystem<f64> {
        &self.system
    }
}

impl Built {
    /// How many have had this place before.
    fn generation(&self, place: &Place) -> u32 {
        self.vacated.get(place).copied().unwrap_or(0)
    }

    /// Keeps how what is at a place was added, as long as it is there.
    pub(crate) fn record(&mut self, place: Place, call: Call) {
        self.calls.insert(place, call);
    }

    /// Returns how what was at a place had been added.
    pub(crate) fn vacate(&mut self, place: Place) -> Option<Call> {
        let call = self.calls.remove(&place);
        *self.vacated.entry(place).or_default() += 1;
        call
    }

    pub(crate) fn recorded(&self, py: Python<'_>) -> Recorded {
        let own = |place: Place, method| {
            let call = self.calls.get(&place).map(|call| call.clone_ref(py));
            (place, call.map_or(Filling::Bare(method), Filling::Own))
        };
        let bodies = (0..).take(self.topology().body_places() - 1).map(|at| own(Place::Body(at), "add_body"));
        let coordinates = 0..self.topology().coordinate_places();
        let coordinates = coordinates.map(|at| own(Place::Coordinate(at), "add_coordinate"));
        let mut places: Vec<_> = bodies.chain(coordinates).collect();
        let (mut kind, mut next) = ("", 0);
        for id in self.elements() {
            let name = self.element_name(id);
            if name.kind != kind {
                (kind, next) = (name.kind, 0);
            }
            let own = Place::Element(id.to_string());
            let (Some(call), Some(index)) = (self.calls.get(&own), name.index) else { continue };
            for gap in next..index {
                places.push((Place::Element(format!("{kind}[{gap}]")), Filling::Like(call.clone_ref(py))));
            }
            places.push((own, Filling::Own(call.clone_ref(py))));
            next = index + 1;
        }
        Recorded { vacated: self.vacated.clone(), places }
    }

    /// Sets what places begin with.
    ///
    /// # Errors
    /// If something was added already.
    pub(crate) fn begin_with(&mut self, first: Vec<Part>) -> PyResult<()> {
        if !(self.calls.is_empty() && self.vacated.is_empty()) {
            return Err(exception(classes::Error::new_err, "the system has been built already"));
        }
        self.vacated = first.into_iter().map(Part::into_place).collect();
        Ok(())
    }

    pub(crate) fn body(&self, body: BodyIndex) -> Body {
        let index = isize::try_from(body.index()).unwrap_or(isize::MAX) - 1;
        Body { index, generation: self.generation(&Place::Body(index)) }
    }

    pub(crate) fn coordinate(&self, coordinate: CoordinateIndex) -> Coordinate {
        let index = coordinate.index();
        Coordinate { index, generation: self.generation(&Place::Coordinate(index)) }
    }

    pub(crate) fn element(&self, id: impl Into<ElementId>) -> Element {
        let id = id.into().to_string();
        let generation = self.generation(&Place::Element(id.clone()));
        Element { id, generation }
    }
}

impl Recorded {
    /// The calls that build an equal system, and what its places begin with: the generations of what is added to them first.
    pub(crate) fn calls(self, py: Python<'_>) -> PyResult<(Vec<Part>, Vec<Call>)> {
        let Self { vacated: mut first, places } = self;
        let (mut calls, mut removals) = (Vec::new(), Vec::new());
        for (place, filling) in places {
            let filler = match filling {
                Filling::Own(call) => {
                    calls.push(call);
                    continue;
                }
                Filling::Like(call) => call.without_name(py)?,
                Filling::Bare(method) => Call::new(py, method, PyTuple::empty(py)),
            };
            // Additions take the first vacant place, so one that is vacant is filled, and vacated once more at the end.
            let generation = first.entry(place.clone()).or_default();
            *generation = generation.saturating_sub(1);
            let remove = match place {
                Place::Body(_) => "remove_body",
                Place::Coordinate(_) => "remove_coordinate",
                Place::Element(_) => "remove_element",
            };
            let part = Part::of(place, *generation);
            calls.push(filler);
            removals.push(Call::new(py, remove, (part,).into_pyobject(py)?));
        }
        calls.append(&mut removals);
        Ok((first.into_iter().map(|(place, generation)| Part::of(place, generation)).collect(), calls))
    }
}

impl Body {
    pub(crate) const GROUND: Self = Self { index: -1, generation: 0 };

    pub(crate) fn place(self) -> Place {
        Place::Body(self.index)
    }

    pub(crate) fn find(self, system: &Built) -> PyResult<BodyIndex> {
        let place = usize::try_from(self.index + 1).ok();
        let body = place.and_then(|place| system.topology().body(place));
        let body = body.filter(|_| system.generation(&self.place()) == self.generation);
        body.ok_or_else(|| no_such(&format!("the system does not have {}", self.__repr__())))
    }
}

#[pymethods]
impl Body {
    #[new]
    #[pyo3(signature = (index, generation=0))]
    fn new(index: isize, generation: u32) -> PyResult<Self> {
        if index < -1 {
            return Err(no_such(&format!("there is no body of index {index}")));
        }
        Ok(Self { index, generation })
    }

    pub(crate) fn __repr__(&self) -> String {
        representation("Body", self.index, self.generation)
    }

    fn __getnewargs__(&self) -> (isize, u32) {
        (self.index, self.generation)
    }

    /// A frame on this body. ``pose`` [m]: 4 x 4 matrix, or position and quaternion (x, y, z, w, i, j, k), w first, or position.
    fn frame(&self, pose: &Bound<'_, PyAny>) -> PyResult<Frame> {
        Ok(Frame { body: *self, pose: convert::pose(pose)? })
    }

    /// A point [m] of this body, in its own frame.
    fn station(&self, point: &Bound<'_, PyAny>) -> PyResult<Station> {
        Ok(Station { body: *self, point: convert::point(point)? })
    }
}

impl Coordinate {
    pub(crate) fn place(self) -> Place {
        Place::Coordinate(self.index)
    }

    pub(crate) fn find(self, system: &Built) -> PyResult<CoordinateIndex> {
        let coordinate = system.topology().coordinate(self.index);
        let coordinate = coordinate.filter(|_| system.generation(&self.place()) == self.generation);
        coordinate.ok_or_else(|| no_such(&format!("the system does not have {}", self.__repr__())))
    }
}

#[pymethods]
impl Coordinate {
    #[new]
    #[pyo3(signature = (index, generation=0))]
    fn new(index: usize, generation: u32) -> Self {
        Self { index, generation }
    }

    fn __repr__(&self) -> String {
        representation("Coordinate", self.index, self.generation)
    }

    fn __getnewargs__(&self) -> (usize, u32) {
        (self.index, self.generation)
    }
}

impl Element {
    pub(crate) fn place(&self) -> Place {
        Place::Element(self.id.clone())
    }

    pub(crate) fn find(&self, system: &Built) -> PyResult<ElementId> {
        let mut elements = system.elements();
        let found = elements.find(|id| id.to_string() == self.id);
        let found = found.filter(|_| system.generation(&self.place()) == self.generation);
        found.ok_or_else(|| no_such(&format!("the system does not have {}", self.__repr__())))
    }
}

#[pymethods]
impl Element {
    #[new]
    #[pyo3(signature = (id, generation=0))]
    fn new(id: String, generation: u32) -> Self {
        Self { id, generation }
    }

    fn __repr__(&self) -> String {
        representation("Element", format_args!("{:?}", self.id), self.generation)
    }

    fn __str__(&self) -> &str {
        &self.id
    }

    fn __getnewargs__(&self) -> (&str, u32) {
        (&self.id, self.generation)
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
        convert::matrix(py, &convert::matrix_of(&self.pose), 4).map(convert::read_only)
    }

    pub(crate) fn __repr__(&self) -> String {
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

    pub(crate) fn __repr__(&self) -> String {
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

    pub(crate) fn find(&self, system: &Built) -> PyResult<CrateFrame<f64>> {
        let Frame { body, pose } = self.frame();
        Ok(CrateFrame::on(body.find(system)?, pose))
    }
}

impl Station {
    pub(crate) fn find(&self, system: &Built) -> PyResult<CrateStation<f64>> {
        Ok(CrateStation::on(self.body.find(system)?, self.point))
    }
}
