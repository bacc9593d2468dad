//! Bodies, coordinates and elements by their places, and frames and stations on bodies.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Deref;
use std::process;

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

/// A body of a system, made by ``System.add_body``. ``index`` is its row in arrays of poses, velocities and wrenches; that of ground is
/// -1. After the body has been removed the row stays, with zero forces, until another body takes it. A system refuses bodies that were
/// removed, and those of systems of which it is no copy.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Body {
    /// Its row in arrays of bodies; -1 of ground.
    #[pyo3(get)]
    pub(crate) index: isize,
    key: Key,
}

/// A scalar coordinate of a system. ``index`` is its place in arrays of coordinates, rates and forces, which stays when the
/// coordinate is removed, until another takes it.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Coordinate {
    /// Its place in arrays of coordinates.
    #[pyo3(get)]
    pub(crate) index: usize,
    key: Key,
}

/// An element of a system. ``id`` is the prefix of the names of its variables and results, such as ``linear_bushing[0]``.
#[pyclass(frozen, eq, hash, from_py_object, module = "force_elements")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    /// The prefix of the names of its variables and results.
    #[pyo3(get)]
    pub(crate) id: String,
    key: Key,
}

/// What tells a body, a coordinate or an element from those that have its place in other systems, or had it before. Copies of a
/// system keep it, also in other processes.
type Key = u64;

/// A random one.
fn new_key() -> Key {
    // A process that was forked would draw the same ones.
    RandomState::new().hash_one(process::id())
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

/// A system, and what is at its places.
#[derive(Default)]
pub(crate) struct Built {
    pub(crate) system: ForceSystem<f64>,
    added: BTreeMap<Place, Added>,
    /// In a copy that is being built: the keys of what will be added.
    keys: BTreeMap<Place, Key>,
}

/// What is at a place.
struct Added {
    key: Key,
    call: Call,
    /// Of an element.
    id: Option<ElementId>,
}

/// A method of a system, and what it is given.
#[derive(IntoPyObject)]
pub(crate) struct Call(pub(crate) &'static str, pub(crate) Py<PyTuple>, pub(crate) Py<PyDict>);

/// The places of a system in the order in which an equal one is built, up to the last that counts.
pub(crate) struct Recorded {
    keys: BTreeMap<Place, Key>,
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
    fn of(place: Place, key: Key) -> Self {
        match place {
            Place::Body(index) => Self::Body(Body { index, key }),
            Place::Coordinate(index) => Self::Coordinate(Coordinate { index, key }),
            Place::Element(id) => Self::Element(Element { id, key }),
        }
    }

    fn into_place(self) -> (Place, Key) {
        match self {
            Self::Body(body) => (body.place(), body.key),
            Self::Coordinate(coordinate) => (coordinate.place(), coordinate.key),
            Self::Element(element) => (element.place(), element.key),
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
    /// What is at a place, if it has this key.
    fn at(&self, place: &Place, key: Key) -> Option<&Added> {
        self.added.get(place).filter(|added| added.key == key)
    }

    /// The element of this kind and place, as ``linear_bushing[0]``.
    pub(crate) fn element_at(&self, id: &str) -> Option<ElementId> {
        self.added.get(&Place::Element(id.to_string()))?.id
    }

    fn key(&self, place: &Place) -> Key {
        self.added.get(place).map_or(0, |added| added.key)
    }

    /// Keeps how what is at a place was added, as long as it is there.
    fn record(&mut self, place: Place, call: Call, id: Option<ElementId>) -> Key {
        let key = self.keys.remove(&place).unwrap_or_else(new_key);
        self.added.insert(place, Added { key, call, id });
        key
    }

    pub(crate) fn record_body(&mut self, body: BodyIndex, call: Call) -> Body {
        let index = row_of(body);
        Body { index, key: self.record(Place::Body(index), call, None) }
    }

    pub(crate) fn record_coordinate(&mut self, coordinate: CoordinateIndex, call: Call) -> Coordinate {
        let index = coordinate.index();
        Coordinate { index, key: self.record(Place::Coordinate(index), call, None) }
    }

    pub(crate) fn record_element(&mut self, element: ElementId, call: Call) -> Element {
        let id = element.to_string();
        Element { key: self.record(Place::Element(id.clone()), call, Some(element)), id }
    }

    /// Returns how what was at a place had been added.
    pub(crate) fn vacate(&mut self, place: &Place) -> Option<Call> {
        self.added.remove(place).map(|added| added.call)
    }

    pub(crate) fn recorded(&self, py: Python<'_>) -> Recorded {
        let own = |place: Place, method| {
            let call = self.added.get(&place).map(|added| added.call.clone_ref(py));
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
            let (Some(Added { call, .. }), Some(index)) = (self.added.get(&own), name.index) else {
                continue;
            };
            for gap in next..index {
                places.push((Place::Element(format!("{kind}[{gap}]")), Filling::Like(call.clone_ref(py))));
            }
            places.push((own, Filling::Own(call.clone_ref(py))));
            next = index + 1;
        }
        let keys = self.added.iter().map(|(place, added)| (place.clone(), added.key)).collect();
        Recorded { keys, places }
    }

    /// Sets the keys of what will be added.
    ///
    /// # Errors
    /// If something was added already.
    pub(crate) fn begin_with(&mut self, parts: Vec<Part>) -> PyResult<()> {
        if !(self.added.is_empty() && self.keys.is_empty()) {
            return Err(exception(classes::Error::new_err, "the system has been built already"));
        }
        self.keys = parts.into_iter().map(Part::into_place).collect();
        Ok(())
    }

    pub(crate) fn body(&self, body: BodyIndex) -> Body {
        let index = row_of(body);
        Body { index, key: self.key(&Place::Body(index)) }
    }

    pub(crate) fn coordinate(&self, coordinate: CoordinateIndex) -> Coordinate {
        let index = coordinate.index();
        Coordinate { index, key: self.key(&Place::Coordinate(index)) }
    }

    pub(crate) fn element(&self, id: ElementId) -> Element {
        let id = id.to_string();
        Element { key: self.key(&Place::Element(id.clone())), id }
    }
}

/// The row of a body in arrays; -1 of ground.
fn row_of(body: BodyIndex) -> isize {
    isize::try_from(body.index()).unwrap_or(isize::MAX) - 1
}

/// The error of what a system does not have.
fn unknown(part: &str) -> PyErr {
    no_such(&format!("the system does not have {part}: it was removed, or belongs to another system"))
}

impl Recorded {
    /// The calls that build an equal system, and the parts that they add, of which those in vacant places are removed at the end.
    pub(crate) fn calls(self, py: Python<'_>) -> PyResult<(Vec<Part>, Vec<Call>)> {
        let Self { mut keys, places } = self;
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
            // Additions take the first vacant place, so one that is vacant is filled, and vacated at the end.
            let key = *keys.entry(place.clone()).or_insert_with(new_key);
            let remove = match place {
                Place::Body(_) => "remove_body",
                Place::Coordinate(_) => "remove_coordinate",
                Place::Element(_) => "remove_element",
            };
            let part = Part::of(place, key);
            calls.push(filler);
            removals.push(Call::new(py, remove, (part,).into_pyobject(py)?));
        }
        calls.append(&mut removals);
        Ok((keys.into_iter().map(|(place, key)| Part::of(place, key)).collect(), calls))
    }
}

impl Body {
    pub(crate) const GROUND: Self = Self { index: -1, key: 0 };

    pub(crate) fn place(self) -> Place {
        Place::Body(self.index)
    }

    pub(crate) fn find(self, system: &Built) -> PyResult<BodyIndex> {
        if self == Self::GROUND {
            return Ok(BodyIndex::GROUND);
        }
        let place =
            usize::try_from(self.index + 1).ok().filter(|_| system.at(&self.place(), self.key).is_some());
        place.and_then(|place| system.topology().body(place)).ok_or_else(|| unknown(&self.__repr__()))
    }
}

#[pymethods]
impl Body {
    #[new]
    fn new(index: isize, key: Key) -> Self {
        Self { index, key }
    }

    pub(crate) fn __repr__(&self) -> String {
        format!("Body({})", self.index)
    }

    fn __getnewargs__(&self) -> (isize, Key) {
        (self.index, self.key)
    }

    /// A frame on this body. ``pose`` [m]: 4 x 4 matrix, or position and quaternion (x, y, z, w, i, j, k), w first, or position.
    fn frame(&self, pose: &Bound<'_, PyAny>) -> PyResult<Frame> {
        Ok(Frame { body: *self, pose: convert::pose(pose)? })
    }

    /// A point [m] of this body, in its own frame.
    fn station(&self, point: &Bound<'_, PyAny>) -> PyResult<Station> {
        Ok(Station { body: *self, point: convert::point(point, "point")? })
    }
}

impl Coordinate {
    pub(crate) fn place(self) -> Place {
        Place::Coordinate(self.index)
    }

    pub(crate) fn find(self, system: &Built) -> PyResult<CoordinateIndex> {
        let is_known = system.at(&self.place(), self.key).is_some();
        let coordinate = system.topology().coordinate(self.index).filter(|_| is_known);
        coordinate.ok_or_else(|| unknown(&self.__repr__()))
    }
}

#[pymethods]
impl Coordinate {
    #[new]
    fn new(index: usize, key: Key) -> Self {
        Self { index, key }
    }

    fn __repr__(&self) -> String {
        format!("Coordinate({})", self.index)
    }

    fn __getnewargs__(&self) -> (usize, Key) {
        (self.index, self.key)
    }
}

impl Element {
    pub(crate) fn place(&self) -> Place {
        Place::Element(self.id.clone())
    }

    pub(crate) fn find(&self, system: &Built) -> PyResult<ElementId> {
        let id = system.at(&self.place(), self.key).and_then(|added| added.id);
        id.ok_or_else(|| unknown(&self.__repr__()))
    }
}

#[pymethods]
impl Element {
    #[new]
    fn new(id: String, key: Key) -> Self {
        Self { id, key }
    }

    fn __repr__(&self) -> String {
        format!("Element({:?})", self.id)
    }

    fn __str__(&self) -> &str {
        &self.id
    }

    fn __getnewargs__(&self) -> (&str, Key) {
        (&self.id, self.key)
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
        Ok(Self { body, point: convert::point(point, "point")? })
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
pub(crate) enum FrameArgument {
    Frame(Frame),
    Body(Body),
}

impl<'py> FromPyObject<'_, 'py> for FrameArgument {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let body = || value.extract().map(Self::Body).ok();
        let found = value.extract().map(Self::Frame).ok().or_else(body);
        found.ok_or_else(|| convert::not_a("a Frame or a Body is required", &value))
    }
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
