//! Cables: their obstacles, via points and paths.

use force_elements::cable::{
    CablePath, Obstacle as CrateObstacle, PathError, Settings, SplineCurve, ViaPoint as CrateViaPoint,
};
use force_elements::nalgebra::Point3;
use force_elements::{BodyIndex, CableSpring, CoordinateIndex, DynamicsView, Error, Handle, cable_spring};
use pyo3::prelude::*;

use crate::convert::{self, Shaped, check_shape, velocity_of, wrong_shape};
use crate::errors::{classes, exception, invalid, no_such, raised};
use crate::parts::{Built, Coordinate, Element, Frame, FrameArgument, Station};
use crate::shapes::Shape;
use crate::system::{Addition, System};

fn of_path(error: PathError) -> PyErr {
    raised(Error::from(error))
}

/// A shape in a frame or on a body, over which a cable is laid. ``hint`` is a point [m] in the frame of the shape past which
/// the cable runs at first, on the same side of a cylinder and through the same hole; over a ball it slides to the shortest
/// path. With ``ignored_around_ends`` the shape is ignored while it contains an end of the cable. ``friction`` is the
/// coefficient of friction; without one on any of its obstacles a cable slides freely. ``confined_to`` is a direction in the frame
/// of the shape, on the side of which the cable stays whatever it remembers: in front of the axis of a cylinder. ``most_contacts``
/// is the largest number of its contacts with the cable, by default 8, or 1 of a convex shape.
#[pyclass(frozen, from_py_object, module = "force_elements")]
#[derive(Debug, Clone)]
pub(crate) struct Obstacle {
    /// The frame of its shape.
    #[pyo3(get)]
    frame: Frame,
    /// Its shape.
    #[pyo3(get)]
    shape: Shape,
    hint: Option<Point3<f64>>,
    ignored_around_ends: bool,
    friction: Option<f64>,
    confined_to: Option<Point3<f64>>,
    most_contacts: Option<usize>,
}

#[pymethods]
impl Obstacle {
    #[new]
    #[pyo3(signature = (frame, shape, hint=None, ignored_around_ends=false, friction=None, confined_to=None, most_contacts=None))]
    fn new(
        frame: FrameArgument,
        shape: Shape,
        hint: Option<&Bound<'_, PyAny>>,
        ignored_around_ends: bool,
        friction: Option<f64>,
        confined_to: Option<&Bound<'_, PyAny>>,
        most_contacts: Option<usize>,
    ) -> PyResult<Self> {
        let hint = hint.map(|point| convert::point(point, "hint")).transpose()?;
        let confined_to = confined_to.map(|side| convert::point(side, "confined_to")).transpose()?;
        let frame = frame.frame();
        Ok(Self { frame, shape, hint, ignored_around_ends, friction, confined_to, most_contacts })
    }

    fn __repr__(&self) -> String {
        format!("Obstacle({}, {})", self.frame.__repr__(), self.shape.__repr__())
    }

    #[expect(clippy::type_complexity, reason = "they are the arguments")]
    fn __getnewargs__(
        &self,
    ) -> (Frame, Shape, Option<[f64; 3]>, bool, Option<f64>, Option<[f64; 3]>, Option<usize>) {
        let [hint, confined_to] =
            [self.hint, self.confined_to].map(|point| point.map(|point| point.coords.into()));
        let Self { frame, ignored_around_ends, friction, most_contacts, .. } = *self;
        (frame, self.shape.clone(), hint, ignored_around_ends, friction, confined_to, most_contacts)
    }
}

impl Obstacle {
    fn find(&self, system: &Built) -> PyResult<CrateObstacle<f64>> {
        let surface = self.shape.wrappable();
        let surface = surface.ok_or_else(|| {
            exception(classes::ElementError::new_err, "a cable cannot be laid over a half-space")
        })?;
        let frame = FrameArgument::Frame(self.frame).find(system)?;
        let mut obstacle = CrateObstacle::shared(frame, surface).map_err(of_path)?;
        if let Some(hint) = self.hint {
            obstacle = obstacle.with_contact_hint(hint).map_err(of_path)?;
        }
        if let Some(side) = self.confined_to {
            obstacle = obstacle.confined_to(side.coords).map_err(of_path)?;
        }
        if let Some(most_contacts) = self.most_contacts {
            obstacle = obstacle.with_most_contacts(most_contacts).map_err(of_path)?;
        }
        Ok(if self.ignored_around_ends { obstacle.ignored_around_ends() } else { obstacle })
    }
}

type Knots = (Coordinate, Vec<f64>, Vec<[f64; 3]>);

/// A point that a cable runs through. With ``moving``, a coordinate, its values and a point [m] in the frame of the body at each,
/// it moves along a natural cubic spline, straight beyond the first and the last of them, and ``station`` gives the body only. With
/// ``within``, a coordinate and the ends of a range, it is there only in this range.
#[pyclass(frozen, from_py_object, module = "force_elements")]
#[derive(Debug, Clone)]
pub(crate) struct ViaPoint {
    station: Station,
    moving: Option<Knots>,
    within: Option<(Coordinate, f64, f64)>,
}

#[pymethods]
impl ViaPoint {
    #[new]
    #[pyo3(signature = (station, moving=None, within=None))]
    fn new(
        station: Station,
        moving: Option<Knots>,
        within: Option<(Coordinate, f64, f64)>,
    ) -> PyResult<Self> {
        if moving.as_ref().is_some_and(|(_, values, points)| values.len() != points.len()) {
            return Err(invalid("moving takes as many values of the coordinate as points"));
        }
        Ok(Self { station, moving, within })
    }

    fn __repr__(&self) -> String {
        format!("ViaPoint({})", self.station.__repr__())
    }

    fn __getnewargs__(&self) -> (Station, Option<Knots>, Option<(Coordinate, f64, f64)>) {
        (self.station, self.moving.clone(), self.within)
    }
}

impl ViaPoint {
    fn find(&self, system: &Built) -> PyResult<CrateViaPoint<f64>> {
        let station = self.station.find(system)?;
        let point = match &self.moving {
            None => CrateViaPoint::from(station),
            Some((coordinate, values, points)) => {
                let knots = values.iter().copied().zip(points.iter().map(|point| Point3::from(*point)));
                let curve = SplineCurve::new(knots).map_err(|error| raised(Error::from(error)))?;
                CrateViaPoint::moving(station.body, coordinate.find(system)?, curve)
            }
        };
        match self.within {
            Some((coordinate, start, end)) => {
                point.only_within(coordinate.find(system)?, start..=end).map_err(of_path)
            }
            None => Ok(point),
        }
    }
}

/// What a cable passes on its way.
#[derive(IntoPyObject, Clone)]
pub(crate) enum Passage {
    Obstacle(Obstacle),
    ViaPoint(ViaPoint),
    Station(Station),
}

impl<'py> FromPyObject<'_, 'py> for Passage {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let obstacle = || value.extract().map(Self::Obstacle).ok();
        let via_point = || value.extract().map(Self::ViaPoint).ok();
        let station = || value.extract().map(Self::Station).ok();
        let wanted = "a route consists of Obstacles, ViaPoints and Stations";
        obstacle().or_else(via_point).or_else(station).ok_or_else(|| convert::not_a(wanted, &value))
    }
}

/// The ends of a cable, and what it passes between them.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) origin: Station,
    pub(crate) termination: Station,
    pub(crate) passages: Vec<Passage>,
    pub(crate) settings: Settings<f64>,
}

impl Route {
    fn find(&self, system: &Built) -> PyResult<CablePath<f64>> {
        let (origin, termination) = (self.origin.find(system)?, self.termination.find(system)?);
        let path = CablePath::new(origin, termination).map_err(of_path)?;
        let path = path.with_settings(self.settings).map_err(of_path)?;
        self.passages.iter().try_fold(path, |path, passage| match passage {
            Passage::Obstacle(obstacle) => Ok(path.over(obstacle.find(system)?)),
            Passage::ViaPoint(point) => path.through(point.find(system)?).map_err(of_path),
            Passage::Station(station) => path.through(station.find(system)?).map_err(of_path),
        })
    }

    /// The coefficients of friction of the obstacles, if one of them has one.
    fn friction(&self) -> Option<Vec<f64>> {
        let of_each: Vec<Option<f64>> = self
            .passages
            .iter()
            .filter_map(|passage| match passage {
                Passage::Obstacle(obstacle) => Some(obstacle.friction),
                _ => None,
            })
            .collect();
        let has_friction = of_each.iter().any(Option::is_some);
        has_friction.then(|| of_each.into_iter().map(Option::unwrap_or_default).collect())
    }
}

/// Adds a cable.
pub(crate) fn add<'py, A>(
    system: &System,
    py: Python<'py>,
    route: &Route,
    elastic: cable_spring::Parameters<f64>,
    addition: Addition<'py, A>,
) -> PyResult<Element>
where
    A: IntoPyObject<'py, Target = pyo3::types::PyTuple, Output = Bound<'py, pyo3::types::PyTuple>>,
{
    system.add(py, addition, |system| {
        let cable = CableSpring::new(route.find(system)?, elastic).map_err(raised)?;
        match route.friction() {
            None => Ok(cable),
            Some(friction) => cable.with_friction(friction).map_err(raised),
        }
    })
}

/// The cable that an element is.
pub(crate) fn cable_of(system: &Built, cable: &Element) -> PyResult<Handle<CableSpring<f64>>> {
    let handle = system.handle::<CableSpring<f64>>(cable.find(system)?);
    handle.ok_or_else(|| no_such(&format!("{} is no cable", cable.id)))
}

/// The moment arms of a cable about ``count`` coordinates of a host, in one state, or in one world after the other.
pub(crate) struct MomentArms<'a> {
    cable: Handle<CableSpring<f64>>,
    pub(crate) count: usize,
    bodies: usize,
    motions: &'a [f64],
    coordinates: usize,
    rates: Option<&'a [f64]>,
}

impl<'a> MomentArms<'a> {
    /// By the motions of all bodies, and the rates of all coordinates, per unit rate of each coordinate of the host: of a state,
    /// or of so many worlds.
    pub(crate) fn new(
        system: &Built,
        cable: &Element,
        worlds: Option<usize>,
        (motions, shape): Shaped<'a>,
        rates: Option<Shaped<'a>>,
    ) -> PyResult<Self> {
        let cable = cable_of(system, cable)?;
        let (bodies, coordinates) =
            (system.topology().body_places() - 1, system.topology().coordinate_places());
        let worlds: Vec<usize> = worlds.into_iter().collect();
        let count = match shape.strip_prefix(&worlds[..]) {
            Some(&[count, found, 6]) if found == bodies => count,
            _ => {
                let worlds = worlds.first().map(|worlds| format!("{worlds}, ")).unwrap_or_default();
                return Err(wrong_shape("motions", &format!("({worlds}k, {bodies}, 6)"), shape));
            }
        };
        if let Some((_, shape)) = rates {
            check_shape("rates", &[&[&worlds[..], &[count, coordinates]].concat()], shape)?;
        }
        let mut via_points = system.try_element(cable).map_err(raised)?.path().via_points();
        if rates.is_none() && via_points.any(|via_point| via_point.curve().is_some()) {
            return Err(invalid("rates are needed: a via point of the cable moves with a coordinate"));
        }
        Ok(Self { cable, count, bodies, motions, coordinates, rates: rates.map(|(rates, _)| rates) })
    }

    /// Writes those of a world of the system.
    pub(crate) fn write(
        &self,
        view: &DynamicsView<'_, f64>,
        world: usize,
        arms: &mut [f64],
    ) -> Result<(), Error> {
        let first = world * self.count;
        let motion = |k: usize, body: BodyIndex| {
            velocity_of(&self.motions[6 * ((first + k) * self.bodies + body.index() - 1)..][..6])
        };
        let rate = |k: usize, of: CoordinateIndex| {
            self.rates.map_or(0.0, |rates| rates[(first + k) * self.coordinates + of.index()])
        };
        view.try_of(self.cable)?.position.path.moment_arms(view.positions(), motion, rate, arms);
        Ok(())
    }
}
