//! Systems, which record how they were built.

use std::sync::{RwLock, RwLockReadGuard, TryLockError, TryLockResult};
use std::thread;
use std::time::Duration;

use force_elements::cable::Settings;
use force_elements::elastic_foundation::Material;
use force_elements::{
    CoordinatePair, CoordinateSpringDamperExt, ElasticFoundation, Error, ExponentialSpring, ForceElement,
    HertzContact, LinearBushing, SpatialBushing, Variables, cable_spring, coordinate_spring_damper_ext,
    elastic_foundation, exponential_spring, hertz_contact, linear_bushing, spatial_bushing,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};

use crate::cables::{self, Passage, Route};
use crate::convert::{self, wrong_shape};
use crate::errors::{invalid, no_such, raised};
use crate::keywords;
use crate::parts::{Body, Built, Call, Coordinate, Element, Frame, FrameArgument, Part, Place, Station};
use crate::shapes::Surface;
use crate::state::State;

/// Bodies, coordinates and elements.
#[pyclass(frozen, subclass, module = "force_elements._core")]
pub(crate) struct System {
    system: RwLock<Built>,
}

/// A lock, unless another thread holds it.
fn taken<G>(lock: TryLockResult<G>) -> Option<G> {
    match lock {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Gives the holder of a lock time, which may wait for the interpreter.
fn pause(py: Python<'_>) {
    py.detach(|| thread::sleep(Duration::from_millis(1)));
}

/// An element that is to be added.
pub(crate) struct Addition<'py, A> {
    /// The method that adds it, and what it is given beside parameters and name.
    pub(crate) method: &'static str,
    pub(crate) arguments: A,
    pub(crate) name: Option<String>,
    /// Parameters and options in full.
    pub(crate) keywords: Bound<'py, PyDict>,
}

impl System {
    /// The system. As long as it is borrowed, no object of Python may be made: its collector may run finalizers, and those may
    /// change the system, or wait for a thread that does.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Built> {
        loop {
            if let Some(guard) = taken(self.system.try_read()) {
                return guard;
            }
            Python::attach(pause);
        }
    }

    /// Changes the system; `change` makes no object of Python either. A run in another thread may last, so that this can be
    /// interrupted.
    fn change<V>(&self, change: impl FnOnce(&mut Built) -> PyResult<V>) -> PyResult<V> {
        loop {
            if let Some(mut guard) = taken(self.system.try_write()) {
                return change(&mut guard);
            }
            Python::attach(|py| {
                pause(py);
                py.check_signals()
            })?;
        }
    }

    /// Adds an element, and records how.
    pub(crate) fn add<
        'py,
        E: ForceElement<f64>,
        A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    >(
        &self,
        py: Python<'py>,
        addition: Addition<'py, A>,
        make: impl FnOnce(&Built) -> PyResult<E>,
    ) -> PyResult<Element> {
        let Addition { method, arguments, name, keywords } = addition;
        let arguments = arguments.into_pyobject(py).map_err(Into::into)?;
        if let Some(name) = &name {
            keywords.set_item("name", name)?;
        }
        let call = Call(method, arguments.unbind(), keywords.unbind());
        self.change(|built| {
            let element = make(built)?;
            let handle = match &name {
                Some(name) => built.system.add_named(name, element),
                None => built.system.add(element),
            };
            Ok(built.record_element(handle.map_err(raised)?.id(), call))
        })
    }
}

impl System {
    /// Removes what is at a place.
    fn remove(&self, place: Place, remove: impl FnOnce(&mut Built) -> PyResult<()>) -> PyResult<()> {
        let call = self.change(|built| {
            remove(built)?;
            Ok(built.vacate(&place))
        })?;
        // Objects of Python go without the lock.
        drop(call);
        Ok(())
    }
}

/// Parameters of an element from keywords, and the keywords in full.
fn given<'py, P: Variables<f64> + Default>(
    kind: &str,
    keywords: Option<&Bound<'py, PyDict>>,
    py: Python<'py>,
) -> PyResult<(P, Bound<'py, PyDict>)> {
    let mut parameters = P::default();
    let full = keywords::assign(kind, &mut parameters, keywords, py)?;
    Ok((parameters, full))
}

/// The axes of a bushing.
const AXES: [&str; 6] = ["qx", "qy", "qz", "px", "py", "pz"];

/// Curves of the axes of a bushing; the tables are kept with the keywords.
fn curves_of(
    tables: Option<&Bound<'_, PyMapping>>,
    keyword: &str,
    keywords: &Bound<'_, PyDict>,
) -> PyResult<Vec<(usize, spatial_bushing::Curve<f64>)>> {
    let Some(tables) = tables else { return Ok(Vec::new()) };
    let (mut along, kept) = (Vec::new(), PyDict::new(keywords.py()));
    for (axis, table) in convert::items(tables)? {
        let place = AXES.iter().position(|name| *name == axis);
        let place = place.ok_or_else(|| {
            invalid(&format!("{keyword} are of an axis each, of {AXES:?}, not of {axis:?}"))
        })?;
        let (numbers, shape) = convert::numbers(&table, &format!("{keyword}[{axis:?}]"))?;
        let [_, 2] = shape.as_slice() else {
            return Err(wrong_shape(&format!("{keyword}[{axis:?}]"), "(n, 2)", &shape));
        };
        let points: Vec<_> = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        let curve = spatial_bushing::Curve::new(&points);
        along.push((place, curve.map_err(|error| raised(Error::from(error)))?));
        kept.set_item(axis, points)?;
    }
    keywords.set_item(keyword, kept)?;
    Ok(along)
}

/// What a ball touches: the half-space below the x-y plane of a frame, or a ball, given by its center and radius [m].
#[derive(IntoPyObject)]
enum HertzSurface {
    Ball((Station, f64)),
    HalfSpace(Frame),
}

impl<'py> FromPyObject<'_, 'py> for HertzSurface {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let frame = |of: FrameArgument| Self::HalfSpace(of.frame());
        let found = value.extract().map(Self::Ball).ok().or_else(|| value.extract().map(frame).ok());
        let wanted = "a Frame, a Body, or a tuple of a Station and a radius is required";
        found.ok_or_else(|| convert::not_a(wanted, &value))
    }
}

#[pymethods]
impl System {
    /// A system with only ground.
    #[new]
    fn new() -> Self {
        Self { system: RwLock::default() }
    }

    /// Adds a body of the host.
    #[pyo3(signature = (name=None))]
    fn add_body(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Body> {
        let call = Call::new(py, "add_body", (name,).into_pyobject(py)?);
        self.change(|built| {
            let body = match name {
                Some(name) => built.system.add_named_body(name).map_err(raised)?,
                None => built.system.add_body(),
            };
            Ok(built.record_body(body, call))
        })
    }

    /// Adds a scalar coordinate of the host.
    #[pyo3(signature = (name=None))]
    fn add_coordinate(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Coordinate> {
        let call = Call::new(py, "add_coordinate", (name,).into_pyobject(py)?);
        self.change(|built| {
            let coordinate = match name {
                Some(name) => built.system.add_named_coordinate(name).map_err(raised)?,
                None => built.system.add_coordinate(),
            };
            Ok(built.record_coordinate(coordinate, call))
        })
    }

    /// Adds a spring-damper with six axes between frame F on one body and frame M on another, by gimbal angles.
    #[pyo3(signature = (frame_f, frame_m, *, name=None, **parameters))]
    fn add_linear_bushing(
        &self,
        py: Python<'_>,
        frame_f: FrameArgument,
        frame_m: FrameArgument,
        name: Option<String>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Element> {
        let (law, keywords) = given::<linear_bushing::Parameters<f64>>("a linear bushing", parameters, py)?;
        let arguments = (frame_f.frame(), frame_m.frame());
        let addition = Addition { method: "add_linear_bushing", arguments, name, keywords };
        self.add(py, addition, |system| {
            LinearBushing::new(frame_f.find(system)?, frame_m.find(system)?, law).map_err(raised)
        })
    }

    /// Adds a bushing between frame F on one body and frame M on another, by rotation vector, with two 6 x 6 matrices. The
    /// displacement is that of M's origin from F's, expressed in the frame half-way between the two. ``curves`` has tables (n, 2)
    /// of displacement [rad, m] and force [N m, N] by axis, ``"qx"`` to ``"pz"``, in addition to the stiffness, with a smooth
    /// curve between their points, and a line beyond them; ``damping_curves`` of rate [rad/s, m/s] and force in addition to the damping.
    ///
    /// A matrix is given as one number for its whole diagonal, the six numbers of its diagonal, rotations first, an array (6, 6),
    /// the 21 numbers of its upper triangle by rows, or a dictionary of some of them, such as ``{"qx": 5.0, "py": 200.0, "qx_py": 0.1}``.
    #[pyo3(signature = (frame_f, frame_m, *, curves=None, damping_curves=None, name=None, **parameters))]
    #[allow(clippy::too_many_arguments)]
    fn add_spatial_bushing<'py>(
        &self,
        py: Python<'py>,
        frame_f: FrameArgument,
        frame_m: FrameArgument,
        curves: Option<&Bound<'py, PyMapping>>,
        damping_curves: Option<&Bound<'py, PyMapping>>,
        name: Option<String>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Element> {
        let (law, keywords) = given::<spatial_bushing::Parameters<f64>>("a spatial bushing", parameters, py)?;
        let curves = curves_of(curves, "curves", &keywords)?;
        let damping_curves = curves_of(damping_curves, "damping_curves", &keywords)?;
        let arguments = (frame_f.frame(), frame_m.frame());
        let addition = Addition { method: "add_spatial_bushing", arguments, name, keywords };
        self.add(py, addition, |system| {
            let bushing = SpatialBushing::new(frame_f.find(system)?, frame_m.find(system)?, law);
            let bushing = curves
                .into_iter()
                .try_fold(bushing.map_err(raised)?, |bushing, (axis, curve)| bushing.with_curve(axis, curve));
            damping_curves
                .into_iter()
                .try_fold(bushing.map_err(raised)?, |bushing, (axis, curve)| {
                    bushing.with_damping_curve(axis, curve)
                })
                .map_err(raised)
        })
    }

    /// Adds the contact of a point of a body with the x-y plane of a frame, with friction that holds. The force grows by a factor
    /// of e in each 1/``d2`` and is 1 kN in the plane by default: a lighter body rests above it, and rests in it with the
    /// parameters of a ``ContactDesign``. With ``settling`` friction follows the law of the source, below, instead.
    #[pyo3(signature = (plane, station, *, name=None, **parameters))]
    fn add_exponential_spring(
        &self,
        py: Python<'_>,
        plane: FrameArgument,
        station: Station,
        name: Option<String>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Element> {
        let kind = "an exponential spring";
        let (law, keywords) = given::<exponential_spring::Parameters<f64>>(kind, parameters, py)?;
        let arguments = (plane.frame(), station);
        let addition = Addition { method: "add_exponential_spring", arguments, name, keywords };
        self.add(py, addition, |system| {
            ExponentialSpring::new(plane.find(system)?, station.find(system)?, law).map_err(raised)
        })
    }

    /// Adds the contact of a ball, given by its center and radius [m], with the half-space below the x-y plane of a frame, or
    /// with another ball, a tuple of its center and radius.
    #[pyo3(signature = (surface, center, radius, *, name=None, **parameters))]
    fn add_hertz_contact(
        &self,
        py: Python<'_>,
        surface: HertzSurface,
        center: Station,
        radius: f64,
        name: Option<String>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Element> {
        let (law, keywords) = given::<hertz_contact::Parameters<f64>>("a Hertz contact", parameters, py)?;
        let touched = match &surface {
            HertzSurface::Ball((center, radius)) => Ok((*center, *radius)),
            HertzSurface::HalfSpace(frame) => Err(FrameArgument::Frame(*frame)),
        };
        let addition =
            Addition { method: "add_hertz_contact", arguments: (surface, center, radius), name, keywords };
        self.add(py, addition, |system| {
            let ball = (center.find(system)?, radius);
            match touched {
                Ok((other, radius)) => HertzContact::on_ball((other.find(system)?, radius), ball, law),
                Err(frame) => HertzContact::on_half_space(frame.find(system)?, ball, law),
            }
            .map_err(raised)
        })
    }

    /// Adds a spring-damper with friction and stops on a coordinate, or between two: on ``factor1 * coordinate - factor0 *
    /// coordinate0``. Of an angle, m and N stand for rad and N m. A stop without a transition acts from the ``accept`` after it
    /// was passed to the ``accept`` after it was left, or from ``reset_memory``; one with a transition acts at once.
    #[pyo3(signature = (coordinate, coordinate0=None, *, name=None, **parameters))]
    fn add_coordinate_spring_damper_ext(
        &self,
        py: Python<'_>,
        coordinate: Coordinate,
        coordinate0: Option<Coordinate>,
        name: Option<String>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Element> {
        let kind = "a coordinate spring-damper";
        let (law, keywords) = given::<coordinate_spring_damper_ext::Parameters<f64>>(kind, parameters, py)?;
        // That of a design is one.
        if coordinate0.is_none() && (law.factor0 - 1.0).abs() > 0.0 {
            return Err(invalid("factor0 needs coordinate0, without which it has no effect"));
        }
        let method = "add_coordinate_spring_damper_ext";
        let addition = Addition { method, arguments: (coordinate, coordinate0), name, keywords };
        self.add(py, addition, |system| {
            let on = coordinate.find(system)?;
            let pair = match coordinate0 {
                Some(from) => CoordinatePair::between(from.find(system)?, on),
                None => CoordinatePair::on(on),
            };
            CoordinateSpringDamperExt::new(pair, law).map_err(raised)
        })
    }

    /// Adds the contact of surfaces, of which at least one has springs. With ``anchors`` its friction holds; without, which is to be
    /// stated if a surface has a ``tangential_stiffness`` or ``tangential_viscosity``, it creeps. ``clipped`` faces
    /// press with the part that is inside; otherwise, and between meshes, a face counts fully or not at all.
    #[pyo3(signature = (surfaces, *, anchors=None, name=None, **parameters))]
    fn add_elastic_foundation<'py>(
        &self,
        py: Python<'py>,
        surfaces: Vec<Bound<'py, Surface>>,
        anchors: Option<bool>,
        name: Option<String>,
        parameters: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Element> {
        let kind = "an elastic foundation";
        let (law, keywords) = given::<elastic_foundation::Parameters<f64>>(kind, parameters, py)?;
        let grips = |material: &Material<f64>| {
            material.tangential_stiffness > 0.0 || material.tangential_viscosity > 0.0
        };
        if anchors.is_none()
            && surfaces.iter().any(|surface| surface.get().material.as_ref().is_some_and(grips))
        {
            return Err(invalid(
                "the tangential_stiffness and tangential_viscosity of a surface have an effect with anchors=True only: \
                 state anchors=False if friction is to creep",
            ));
        }
        let anchors = anchors.unwrap_or(false);
        keywords.set_item("anchors", anchors)?;
        let arguments = (surfaces.clone(),);
        let addition = Addition { method: "add_elastic_foundation", arguments, name, keywords };
        self.add(py, addition, |system| {
            let mut foundation = ElasticFoundation::new(law).map_err(raised)?;
            if anchors {
                foundation = foundation.with_anchors();
            }
            for surface in &surfaces {
                let surface = surface.get();
                let frame = FrameArgument::Frame(surface.frame).find(system)?;
                match surface.material {
                    Some(material) => foundation.add_springs(frame, surface.shape.mesh()?, material),
                    None => foundation.add_rigid(frame, surface.shape.solid()?),
                }
                .map_err(raised)?;
            }
            Ok(foundation)
        })
    }

    /// Adds an elastic cable from one station to another, over obstacles and through points (stations or via points) in order.
    /// With friction its result ``elongation`` is that of the most elongated part. ``smoothness`` [rad] is the largest kink of the
    /// path, by default 1e-9; ``max_iterations``, by default 60, and ``max_evaluations``, by default 150000, bound the work for
    /// each obstacle.
    #[pyo3(signature = (origin, termination, route=Vec::new(), *, name=None, smoothness=None, max_iterations=None,
        max_evaluations=None, **parameters))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn add_cable_spring<'py>(
        &self,
        py: Python<'py>,
        origin: Station,
        termination: Station,
        route: Vec<Passage>,
        name: Option<String>,
        smoothness: Option<f64>,
        max_iterations: Option<usize>,
        max_evaluations: Option<usize>,
        parameters: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Element> {
        let (elastic, keywords) = given::<cable_spring::Parameters<f64>>("a cable", parameters, py)?;
        let usual = Settings::default();
        let settings = Settings {
            smoothness: smoothness.unwrap_or(usual.smoothness),
            max_iterations: max_iterations.unwrap_or(usual.max_iterations),
            max_evaluations: max_evaluations.unwrap_or(usual.max_evaluations),
        };
        keywords.set_item("smoothness", smoothness)?;
        keywords.set_item("max_iterations", max_iterations)?;
        keywords.set_item("max_evaluations", max_evaluations)?;
        let arguments = (origin, termination, route.clone());
        let addition = Addition { method: "add_cable_spring", arguments, name, keywords };
        cables::add(self, py, &Route { origin, termination, passages: route, settings }, elastic, addition)
    }

    /// Removes a body, on which no element may act. Its row stays, until the next body that is added takes it.
    fn remove_body(&self, body: Body) -> PyResult<()> {
        self.remove(body.place(), |built| {
            let body = body.find(built)?;
            built.system.remove_body(body).map_err(raised)
        })
    }

    /// Removes a coordinate, on which no element may act. Its place stays, until the next coordinate that is added takes it.
    fn remove_coordinate(&self, coordinate: Coordinate) -> PyResult<()> {
        self.remove(coordinate.place(), |built| {
            let coordinate = coordinate.find(built)?;
            built.system.remove_coordinate(coordinate).map_err(raised)
        })
    }

    /// Removes an element. The next one of its kind that is added takes its ``id``.
    fn remove_element(&self, element: &Element) -> PyResult<()> {
        self.remove(element.place(), |built| {
            let id = element.find(built)?;
            built.system.remove(id).map_err(raised)
        })
    }

    /// The bodies, without ground.
    #[getter]
    fn bodies(&self) -> Vec<Body> {
        let system = self.read();
        system.bodies().map(|body| system.body(body)).collect()
    }

    /// The coordinates.
    #[getter]
    fn coordinates(&self) -> Vec<Coordinate> {
        let system = self.read();
        system.coordinates().map(|coordinate| system.coordinate(coordinate)).collect()
    }

    /// The names of the bodies, ``None`` of those without one.
    #[getter]
    fn body_names(&self) -> Vec<Option<String>> {
        let system = self.read();
        system.bodies().map(|body| system.topology().body_name(body).map(ToString::to_string)).collect()
    }

    /// The names of the coordinates, ``None`` of those without one.
    #[getter]
    fn coordinate_names(&self) -> Vec<Option<String>> {
        let system = self.read();
        let name = |coordinate| system.topology().coordinate_name(coordinate).map(ToString::to_string);
        system.coordinates().map(name).collect()
    }

    /// The names of the elements, ``None`` of those without one.
    #[getter]
    fn element_names(&self) -> Vec<Option<String>> {
        let system = self.read();
        system.elements().map(|id| system.element_name(id).name.map(|name| name.to_string())).collect()
    }

    /// The elements, by kind.
    #[getter]
    fn elements(&self) -> Vec<Element> {
        let system = self.read();
        system.elements().map(|id| system.element(id)).collect()
    }

    /// The body of this name.
    fn body(&self, name: &str) -> PyResult<Body> {
        let system = self.read();
        let body = system.topology().find_body(name).map(|body| system.body(body));
        body.ok_or_else(|| no_such(&format!("no body is named {name:?}")))
    }

    /// The coordinate of this name.
    fn coordinate(&self, name: &str) -> PyResult<Coordinate> {
        let system = self.read();
        let coordinate = system.topology().find_coordinate(name).map(|found| system.coordinate(found));
        coordinate.ok_or_else(|| no_such(&format!("no coordinate is named {name:?}")))
    }

    /// The element of this name.
    fn element(&self, name: &str) -> PyResult<Element> {
        let system = self.read();
        let element = system.find_element(name).map(|id| system.element(id));
        element.ok_or_else(|| no_such(&format!("no element is named {name:?}")))
    }

    /// A state with default variables, at time zero, with all bodies at rest at the ground origin.
    fn state(slf: &Bound<'_, Self>) -> State {
        State::default_of(slf)
    }

    pub(crate) fn __repr__(&self) -> String {
        let system = self.read();
        let (bodies, coordinates) = (system.bodies().count(), system.coordinates().count());
        format!(
            "System of {bodies} bodies, {coordinates} coordinates and {} elements",
            system.element_count()
        )
    }

    fn __getstate__(&self, py: Python<'_>) -> PyResult<(Vec<Part>, Vec<Call>)> {
        let recorded = self.read().recorded(py);
        recorded.calls(py)
    }

    #[expect(clippy::type_complexity, reason = "they are calls")]
    fn __setstate__(
        slf: &Bound<'_, Self>,
        saved: (Vec<Part>, Vec<(String, Bound<'_, PyTuple>, Bound<'_, PyDict>)>),
    ) -> PyResult<()> {
        let (first, calls) = saved;
        slf.get().change(|built| built.begin_with(first))?;
        for (method, arguments, keywords) in calls {
            slf.as_any().call_method(method, arguments, Some(&keywords))?;
        }
        Ok(())
    }

    #[expect(clippy::type_complexity, reason = "it is that of the protocol")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (), (Vec<Part>, Vec<Call>))> {
        Ok((slf.get_type().into_any(), (), slf.get().__getstate__(slf.py())?))
    }
}

/// The parameters of a kind of element by name, each with its default and unit. Kinds are those of ``System.add_...``, and
/// ``elastic_foundation.material``.
#[pyfunction]
pub(crate) fn parameters<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyDict>> {
    match kind {
        "cable_spring" => keywords::table(&cable_spring::Parameters::default(), py),
        "linear_bushing" => keywords::table(&linear_bushing::Parameters::default(), py),
        "spatial_bushing" => keywords::table(&spatial_bushing::Parameters::default(), py),
        "exponential_spring" => keywords::table(&exponential_spring::Parameters::default(), py),
        "hertz_contact" => keywords::table(&hertz_contact::Parameters::default(), py),
        "coordinate_spring_damper_ext" => {
            keywords::table(&coordinate_spring_damper_ext::Parameters::default(), py)
        }
        "elastic_foundation" => keywords::table(&elastic_foundation::Parameters::default(), py),
        "elastic_foundation.material" => keywords::table(&Material::default(), py),
        _ => {
            let kinds = "cable_spring, coordinate_spring_damper_ext, elastic_foundation, \
                elastic_foundation.material, exponential_spring, hertz_contact, linear_bushing, spatial_bushing";
            Err(no_such(&format!("there is no kind of element {kind:?}; there are {kinds}")))
        }
    }
}

/// The height at which an exponential spring with these parameters carries a load [N] at rest, above its plane [m]: where to place a
/// body that is to rest. If several springs share a weight evenly, each carries its part.
#[pyfunction]
#[pyo3(signature = (load, **parameters))]
pub(crate) fn resting_height(
    py: Python<'_>,
    load: f64,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<f64> {
    let (law, _) = given::<exponential_spring::Parameters<f64>>("an exponential spring", parameters, py)?;
    law.resting_height(load).map_err(raised)
}
