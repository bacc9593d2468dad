//! The path of a cable: stations, obstacles and settings.

use alloc::vec::Vec;

use crate::cable::model::obstacle::finite_point;
use crate::cable::{
    Obstacle, ObstaclePlace, PastBody, PathError, PathMotion, Places, Settings, ViaPlace, ViaPoint, Wrap,
    Wraps,
};
use crate::math::{Casts, Real};
use crate::mechanics::{BodyIndex, KinematicsError, Station, Topology};

/// The path of a cable: origin, via points and obstacles in order, termination.
///
/// ```text
///   origin ──── ( obstacle ) ──── via point ──── ( obstacle ) ──── ( obstacle ) ──── termination
///   on B1         on B2             on B3          on B2             on B4            on B5
/// ```
///
/// The cable is taut and frictionless. Between via points it is the shortest curve of its class that passes the obstacles
/// in this order: straight where it is free, and geodesic where it touches. An obstacle on which the cable does not press
/// is skipped, and touched again when the straight line would pass through it.
///
/// # Which shortest path
///
/// Without memory ([`Wrap::known`] false) the shortest path is searched for. The search makes plans with one point on
/// each obstacle, starting with the straight line. The obstacle that interferes most is passed on each of its
/// [sides](crate::cable::Wrappable::passages) in turn. The plans are solved in the order of their estimated lengths until
/// the next plan is longer than the best path found. A descent in length from the straight line, or from the hints, is
/// also tried.
///
/// The result is a local minimum. It is not proved that no other path is shorter: the points searched on a side may
/// differ from those of the shortest path there. Over thin ellipsoids, finite cylinders, blobs and fields of bricks a
/// longer path is returned now and then; a contact hint adds a point from which to search. If no path is found, a string
/// of beads is pulled tight instead.
///
/// A [contact hint](Obstacle::with_contact_hint) determines the class of the path if the surface distinguishes classes
/// ([`winding`](crate::cable::Wrappable::winding)): past a cylinder or a torus the cable winds like the straight lines
/// from the point before it, through the hint, to the point after it. If no such path is found, the error is
/// [`PathError::HintNotKept`].
///
/// If every obstacle between two fixed points has such a hint, the search pulls a string tight that runs through all hints in
/// turn. If only some have one, or if no path is found from that string, each hint is kept by itself: a shorter path that
/// touches few of the obstacles may keep all of them. Give every obstacle a hint, or put via points between them.
///
/// On other surfaces a path on the hint's side is preferred to one that is shorter by less than half the girth of the
/// obstacle there, unless it winds by more than half a turn. To hold a cable within a ring, like a side site inside a geom in
/// MuJoCo, let it pass a thin torus with a hint in its hole.
///
/// With remembered [`Wraps`], Newton's method starts from them: the path keeps its side of an obstacle and its windings,
/// even if another side has become shorter. If that fails, the path descends or is pulled tight from there, and may slip
/// off a winding. If that fails too, the search restarts without memory. [`Tracking`](crate::cable::Tracking) reports
/// which of these happened. Memory only determines the class of the path.
///
/// On cylinders any number of windings can be tracked, on spheres less than half of one; on other surfaces as many as
/// [`Settings::max_evaluations`] allows, about twenty by default.
///
/// A solution is accepted only if it is a local minimum. No geodesic may pass a conjugate point (a zero of its Jacobi
/// scalar), and the second variation of length over all natural geodesic corrections, computed from the pivots of the
/// solver's matrix, must be positive. A stationary path that is longest in some direction, such as the long way around a
/// sphere, is not accepted. If the second variation in a direction is zero within the smoothness, as around an axis of
/// revolution through both ends, all paths in that direction count as equal, and one of them is found.
///
/// # Several contacts
///
/// An obstacle that is not convex is touched as often as necessary: a ring lying flat on both sides, a hill and then its
/// foot. Over a hollow the cable lifts off: a straight segment divides the contact, and vanishes with the hollow. Each
/// contact is remembered. Neither length nor force jumps where a contact begins or ends.
///
/// Each straight segment is tested against the obstacles that it touches and passes. It cannot reenter convex ones; a
/// [`Torus`](crate::shapes::Torus) is tested in closed form, a [`HeightMap`](crate::shapes::HeightMap) to a millionth of
/// its grid, a user's surface by its [`closest_on_segment`](crate::cable::Wrappable::closest_on_segment).
///
/// # Long steps
///
/// The memory includes the poses of bodies. The path is followed in parts of the motion, between an eighth and 1/256 of
/// it, if Newton's method has to shorten its steps on the way from the remembered path, or if a straight segment may have
/// passed through an obstacle that it does not touch before or after. Each body is assumed to have moved along a screw by
/// less than half a turn, like a body that turns about a fixed axis.
///
/// A segment may have passed if it moved by more than a quarter of the [`size`](crate::cable::Wrappable::size) of the
/// obstacle, and one of the following holds:
///
/// - A body of the path turned by more than half a radian.
/// - The segment moved by more than its clearance from the obstacle before and after together. An exception is a motion
///   of less than twice the size in which neither the segment nor the direction to the obstacle turned by more than 60°.
///
/// A long step therefore leads to the same path as many short ones, with all windings, or
/// [`Tracking`](crate::cable::Tracking) reports that it may not. This is tested, not proved. Parts that move far on their
/// own bodies, such as a via point along its curve or an obstacle whose place is written, are not followed.
///
/// # Parts that come and go
///
/// A path is made with [places](Self::places) of its parts, which a state may change: the stations, the poses and scales
/// of surfaces, and which obstacles and via points are active. A via point may also [move](ViaPoint::moving) with a
/// coordinate, or be active in a [range](ViaPoint::only_within) of one.
///
/// Inactive parts are ignored; obstacles before and after them keep their order. An inactive obstacle is forgotten at the
/// next accepted step. When it becomes active again, the path is tracked over all others; the obstacle is passed
/// according to its contact hint, or placed under the cable if the tracked path runs through it. A cable that passes
/// another obstacle freely may come to lie on its other side; most such paths are reported as
/// [`Relaxed`](crate::cable::Tracking::Relaxed). If that fails, the search restarts without memory. The length jumps
/// unless the cable is clear of the part that appears or disappears.
///
/// # Derivatives
///
/// In a scalar with derivatives the search runs on plain numbers. The resulting path is then refined until precision is
/// exhausted, and differentiated by the implicit function theorem. For any smoothness, values are those of the path
/// without kinks, and derivatives up to third order are exact to roundoff (for the curvatures of contact arcs, up to
/// first order). The set of touched obstacles is that of the search.
///
/// # Limits
/// - Further contacts are found where a straight segment runs through the obstacle that it leaves, and where the normal
///   curvature along a contact, sampled at a quarter of the surface's [`size`](crate::cable::Wrappable::size), is
///   negative. A hollow that turns the cable by less than 1e-9 rad is not bridged. An obstacle is touched at most
///   [`with_most_contacts`](Obstacle::with_most_contacts) times.
/// - In a long step the cable may pass through a solid that is not convex beside its contact with it.
/// - Neighbouring obstacles must not overlap where the cable passes from one to the other.
/// - Obstacles act only in their order: the cable between two neighbours ignores a third.
/// - Over a user's surface in a scalar with derivatives that was not [cast](Self::cast_with) from `f64`, the search runs
///   in the scalar, which takes longer.
/// - An end or via point may lie on the surface of the obstacle next to it, to a billionth of its size. The cable then
///   leaves the surface at once, or its contact begins or ends at the point, after a segment of zero length. It may touch
///   the same obstacle again.
///
/// # Source
///
/// A. Scholz, M. Sherman, I. Stavness, S. Delp, A. Kecskeméthy, *A fast multi-obstacle muscle
/// wrapping method using natural geodesic variations*, Multibody System Dynamics 36 (2016) 195–219.
///
/// # Example: a rope over a pulley
///
/// ```
/// use force_elements::cable::{CablePath, Obstacle};
/// use force_elements::cable_spring::Parameters;
/// use force_elements::nalgebra::Point3;
/// use force_elements::shapes::Cylinder;
/// use force_elements::{CableSpring, ForceSystem, Frame, Pose, Station};
///
/// let ground = |x, y| Station::ground(Point3::new(x, y, 0.0));
/// let drum = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(1.0)?)?
///     .with_contact_hint(Point3::new(0.0, 1.0, 0.0))?;
/// let path = CablePath::new(ground(-1.0, -2.0), ground(1.0, -2.0))?.over(drum);
///
/// let mut system = ForceSystem::new();
/// let elastic = Parameters { stiffness: 100.0, slack_length: 5.0, ..Parameters::default() };
/// let rope = system.add(CableSpring::new(path, elastic)?)?;
/// let mut state = system.default_state();
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let length: f64 = dynamics.of(rope).position.path.length;
/// assert!((length - (4.0 + core::f64::consts::PI)).abs() < 1e-12);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CablePath<T: Real> {
    pub(crate) origin: Station<T>,
    pub(crate) termination: Station<T>,
    /// The via points in order, each with the number of obstacles before it.
    pub(crate) via_points: Vec<(ViaPoint<T>, usize)>,
    pub(crate) obstacles: Vec<Obstacle<T>>,
    /// The obstacles in plain numbers, if the scalar is another, up to the first whose surface is not available in plain
    /// numbers.
    pub(crate) plain: Vec<Obstacle<f64>>,
    /// The places of all these.
    pub(crate) places: Places<T>,
    /// Their bodies other than Ground.
    pub(crate) bodies: Vec<BodyIndex>,
    settings: Settings<T>,
}

impl<T: Real> CablePath<T> {
    /// A straight cable.
    ///
    /// # Errors
    /// [`PathError::NonFinite`] for a station that is not finite; [`PathError::CoincidentPoints`] if both
    /// are the same point of one body.
    pub fn new(origin: Station<T>, termination: Station<T>) -> Result<Self, PathError> {
        finite_point(&origin.p_B)?;
        finite_point(&termination.p_B)?;
        refuse_coincident(&origin, &termination, 0)?;
        let places = Places { origin: origin.p_B, termination: termination.p_B, ..Places::default() };
        let (via_points, obstacles, plain) = (Vec::new(), Vec::new(), Vec::new());
        let (bodies, settings) = (Vec::new(), Settings::default());
        let mut path = Self { origin, termination, via_points, obstacles, plain, places, bodies, settings };
        path.note(origin.body);
        path.note(termination.body);
        Ok(path)
    }

    fn note(&mut self, body: BodyIndex) {
        if body != BodyIndex::GROUND && !self.bodies.contains(&body) {
            self.bodies.push(body);
        }
    }

    /// The same path, with this obstacle added at its end.
    #[must_use]
    pub fn over(mut self, obstacle: Obstacle<T>) -> Self {
        let X_BS = obstacle.frame().X_BF;
        self.places.obstacles.push(ObstaclePlace { active: true, X_BS, scale: T::one() });
        if self.plain.len() == self.obstacles.len() {
            self.plain.extend(obstacle.in_plain());
        }
        self.note(obstacle.frame().body);
        self.obstacles.push(obstacle);
        self
    }

    /// The same path, with this via point added at its end: a [`Station`] or a [`ViaPoint`].
    ///
    /// # Errors
    /// [`PathError::NonFinite`] if the point is not finite; [`PathError::CoincidentPoints`] if it is the point before
    /// it or the termination, and neither moves.
    pub fn through(mut self, via_point: impl Into<ViaPoint<T>>) -> Result<Self, PathError> {
        let via_point = via_point.into();
        let station = via_point.station();
        finite_point(&station.p_B)?;
        if via_point.is_fixed() {
            let count = self.via_points.len();
            match self.via_points.last() {
                Some((last, _)) if !last.is_fixed() => {}
                last => {
                    let before = last.map_or(self.origin, |(last, _)| last.station());
                    refuse_coincident(&before, &station, count)?;
                }
            }
            refuse_coincident(&station, &self.termination, count + 1)?;
        }
        self.places.via_points.push(ViaPlace { active: true, p_B: station.p_B });
        self.note(station.body);
        self.via_points.push((via_point, self.obstacles.len()));
        Ok(self)
    }

    /// The same path with other settings.
    ///
    /// # Errors
    /// [`PathError::InvalidValue`] unless the smoothness lies between 16 units of roundoff and 0.01
    /// and there is at least one iteration and one evaluation.
    pub fn with_settings(mut self, settings: Settings<T>) -> Result<Self, PathError> {
        settings.validate()?;
        self.settings = settings;
        Ok(self)
    }

    /// The same path in another scalar.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<CablePath<U>, PathError> {
        self.cast_with(&Casts::none().with_paths())
    }

    /// The same path in another scalar, with casts of a user's own surfaces and curves.
    ///
    /// # Errors
    /// As [`Obstacle::cast_with`], for curves too.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<CablePath<U>, PathError> {
        let mut path = CablePath::new(self.origin.cast(), self.termination.cast())?;
        for (_, part) in self.parts() {
            path = match part {
                PathMotion::Obstacle(k) => path.over(self.obstacles[k].cast_with(casts)?),
                PathMotion::ViaPoint(i) => path.through(self.via_points[i].0.cast_with(casts)?)?,
                _ => path,
            };
        }
        path.with_settings(self.settings.cast())
    }

    /// Accuracy and effort of the solver.
    pub fn settings(&self) -> &Settings<T> {
        &self.settings
    }

    /// The origin.
    pub fn origin(&self) -> Station<T> {
        self.origin
    }

    /// The termination.
    pub fn termination(&self) -> Station<T> {
        self.termination
    }

    /// The via points, in order.
    pub fn via_points(&self) -> impl Iterator<Item = &ViaPoint<T>> + '_ {
        self.via_points.iter().map(|(via_point, _)| via_point)
    }

    /// The obstacles, in order.
    pub fn obstacles(&self) -> &[Obstacle<T>] {
        &self.obstacles
    }

    /// The obstacles and via points in order, each with its body.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (BodyIndex, PathMotion)> + '_ {
        let mut passed = 0;
        let befores = self.via_points.iter().map(|(_, before)| *before).chain([self.obstacles.len()]);
        befores.enumerate().flat_map(move |(i, before)| {
            let obstacles = core::mem::replace(&mut passed, before)..before;
            let via_point =
                self.via_points.get(i).map(|(via, _)| (via.station().body, PathMotion::ViaPoint(i)));
            obstacles.map(|k| (self.obstacles[k].frame().body, PathMotion::Obstacle(k))).chain(via_point)
        })
    }

    /// The places with which the path was made.
    pub fn places(&self) -> &Places<T> {
        &self.places
    }

    /// The empty memory of a path before its first solution.
    pub fn no_wraps(&self) -> Wraps<T> {
        let first = self.obstacles.len();
        let further = self.places_for_contacts() - first;
        Wraps {
            wraps: alloc::vec![Wrap::default(); first],
            further_wraps: alloc::vec![Wrap::default(); further],
            past_bodies: alloc::vec![PastBody::default(); self.bodies.len()],
        }
    }

    /// The number of contacts in the memory.
    pub(crate) fn places_for_contacts(&self) -> usize {
        self.obstacles.iter().map(|obstacle| obstacle.most_contacts).sum()
    }

    /// Checks that every body and every coordinate of a via point exists.
    ///
    /// # Errors
    /// [`KinematicsError::NoSuchBody`] or [`KinematicsError::NoSuchCoordinate`] for the first that does not.
    pub fn check_topology(&self, topology: &Topology) -> Result<(), KinematicsError> {
        // Separate loops: a chain of iterators takes longer than the remainder of the check.
        topology.check_body(self.origin.body)?;
        topology.check_body(self.termination.body)?;
        for via_point in self.via_points() {
            topology.check_body(via_point.station().body)?;
            via_point.coordinates().try_for_each(|coordinate| topology.check_coordinate(coordinate))?;
        }
        self.obstacles.iter().try_for_each(|obstacle| topology.check_body(obstacle.frame().body))
    }
}

/// Refuses neighbouring points of one body at one position, which would never separate.
fn refuse_coincident<T: Real>(from: &Station<T>, to: &Station<T>, span: usize) -> Result<(), PathError> {
    if from == to { Err(PathError::CoincidentPoints { span }) } else { Ok(()) }
}
