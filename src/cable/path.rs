//! The path of a cable: stations, obstacles and settings.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::ops::Range;

use nalgebra::Point3;

use super::casts::SurfaceCasts;
use super::results::PathResults;
use super::solver;
use super::wrap::{Wrap, Wraps};
use super::wrappable::Wrappable;
use crate::cable::PathError;
use crate::math::{InvalidValue, Real, Requirement, check, checked_when_read, is_finite, is_plain};
use crate::mechanics::{BodyIndex, Frame, KinematicsError, Positions, Station, Topology};

/// A surface on a body.
#[derive(Debug, Clone)]
pub struct Obstacle<T: Real> {
    frame: Frame<T>,
    surface: Arc<dyn Wrappable<T>>,
    /// The surface in plain numbers, if the scalar is another and it is known.
    plain: Option<Arc<dyn Wrappable<f64>>>,
    hint_S: Option<Point3<T>>,
    /// Whether the surface is convex. A cable is tested against all others at every solution.
    pub(super) is_convex: bool,
    /// Whether it is ignored while it contains an end of the cable's span.
    pub(super) admits_ends: bool,
    /// The largest number of its contacts.
    pub(super) most_contacts: usize,
}

/// Accuracy and effort of the solver.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Settings<T: Real> {
    /// The largest kink allowed where a straight segment meets a surface \[rad\]. Default: 1e-9, or
    /// 64 units of roundoff if that is more.
    ///
    /// A kink of ε is an error of ε in the directions of forces relative to the tension; the length is off by some
    /// hundredths of ε times the sizes of the obstacles, as far as contact points are off the surfaces. 1e-9 keeps both
    /// below what an integrator sees. Geodesics are held to a hundredth of it. The remaining
    /// kinks are estimated when the solver stops, and may exceed it by a small factor: see
    /// [`PathResults::smoothness`](crate::cable::PathResults::smoothness).
    pub smoothness: T,
    /// The largest number of geodesics per obstacle in one run of Newton's method. Default: 60. A tracked path
    /// takes two or three; a cold search makes several runs.
    pub max_iterations: usize,
    /// The largest number of evaluations of surfaces per obstacle in a search between two fixed points, over all
    /// its attempts, half of them in the remembered class. Default: 100,000.
    ///
    /// A tracked path takes some tens. This bounds the cost of a path that is not found, by count rather than
    /// time, so that the outcome does not depend on the machine. Derivatives along geodesics and the implicit
    /// function at the beads of a string are counted; each line searched for contact counts as fifty. The search
    /// ends at the first check beyond the bound.
    pub max_evaluations: usize,
}

/// The path of a cable: origin, via points and obstacles in order, termination.
///
/// ```text
///   origin ──── ( obstacle ) ──── via point ──── ( obstacle ) ──── ( obstacle ) ──── termination
///   on B1         on B2             on B3          on B2             on B4            on B5
/// ```
///
/// The cable is taut and frictionless: between via points it is the shortest curve of its class that passes the
/// obstacles in this order, straight where it is free and geodesic where it touches. An obstacle on which the
/// cable does not press is skipped, and touched again when the straight line would pass through it.
///
/// # Which shortest path
///
/// Without memory ([`Wrap::known`] false) the path starts straight, or over the contact hints, and descends in
/// length to a stationary path; from a saddle it is displaced to both sides and the shorter result is taken. Then
/// the path is laid on the far side of each obstacle without a hint in turn, and the shortest result is taken;
/// [`PathResults::classes`] is the number of different paths seen. It is a local minimum, and need not be the
/// shortest of all. If no path is found, a string of beads is pulled tight instead. This is slow.
///
/// A [contact hint](Obstacle::with_contact_hint) determines the class of the path where the surface tells classes
/// apart ([`winding`](super::Wrappable::winding)): past a cylinder or a torus the cable winds as the straight lines
/// do that come from the point before it, pass through the hint and go to the point after it. If no such path is
/// found, that is an error ([`PathError::HintNotKept`]). On other surfaces the search begins at the hint; a path
/// that winds by more than half a turn there gives way to a shorter one from elsewhere.
///
/// With remembered [`Wraps`] Newton's method starts there: the path keeps its side of an obstacle and its
/// windings, even when another side has become shorter. If that fails, it descends or is pulled tight from there,
/// and may slip off a winding; if that fails too, the search restarts without memory.
/// [`Tracking`](super::Tracking) reports the case. Memory determines the class of the path and nothing else.
///
/// On spheres and cylinders any number of windings can be followed; on other surfaces as many as
/// [`Settings::max_evaluations`] allow, some twenty by default.
///
/// A solution is accepted only if it is a local minimum: no geodesic passes a conjugate point (a zero of its
/// Jacobi scalar), and the second variation of length over all natural geodesic corrections, computed from the
/// pivots of the solver's matrix, is positive. A stationary path that is longest in some direction, such as the
/// long way round a sphere, is not accepted. Where the second variation is zero in a direction, up to the
/// smoothness, all paths in that direction count as equal, as around an axis of revolution through both ends, and
/// one of them is found.
///
/// Each straight segment is tested against the obstacles that it touches and passes. It cannot reenter convex
/// ones; a [`Torus`](crate::shapes::Torus) is tested in closed form, a [`HeightMap`](crate::shapes::HeightMap) to
/// a millionth of its grid, a user's surface by its [`closest_on_segment`](super::Wrappable::closest_on_segment).
///
/// # Derivatives
///
/// In a scalar with derivatives the search runs on plain numbers. The path found is then refined until precision is
/// exhausted, and differentiated by the implicit function theorem. Whatever the smoothness, values are those of the
/// path without kinks, and derivatives up to third order are exact to roundoff (of the curvatures of contact arcs, up
/// to first order). Which obstacles are touched remains as found.
///
/// # Limits
///
/// - An obstacle is touched along one contact arc only. Over a hollow in the middle of that arc the
///   cable follows the surface instead of bridging it. A path that would have to touch twice, as on both sides
///   of a ring laid flat, or on a hill and again on its skirt, is refused
///   ([`PathError::Penetrates`]) or not found; a search without memory may find
///   another in its place that touches once.
/// - Neighbouring obstacles must not overlap where the cable passes from one to the other.
/// - Obstacles act in their order only: the cable between two neighbours does not see a third.
/// - An obstacle that a straight segment jumps over within one step is found from memory, on the assumption that the
///   ends of the segment moved straight, and if the segment ran through more of it than a quarter of its
///   [`size`](super::Wrappable::size): the cable is wrapped around it, or the path is reported as
///   [`Tracking::Restarted`](super::Tracking::Restarted).
/// - Over a user's own surface in a scalar with derivatives that was not [cast](Self::cast_with) from `f64`, the
///   search runs in the scalar, which takes longer.
/// - An end or via point may lie on the surface of the obstacle next to it, to a billionth of its size. The cable
///   then leaves the surface at once, or its contact begins or ends at the point, after a segment of no length. A
///   cable that lifts off from a hollow at the point and touches again is not found
///   ([`PathError::EndOnSurface`]).
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
    pub(super) obstacles: Vec<Obstacle<T>>,
    /// The spans between fixed points, each with the obstacles on its way.
    pub(super) spans: Vec<Span<T>>,
    /// The obstacles in plain numbers, if the scalar is another and all their surfaces are known.
    pub(super) plain: Option<Vec<Obstacle<f64>>>,
    settings: Settings<T>,
}

/// The cable between two neighbouring fixed points.
#[derive(Debug, Clone)]
pub(super) struct Span<T: Real> {
    pub(super) from: Station<T>,
    pub(super) to: Station<T>,
    pub(super) obstacles: Range<usize>,
}

impl<T: Real> Default for Settings<T> {
    fn default() -> Self {
        let smoothness = T::lit(1e-9).max(T::default_epsilon() * T::lit(64.0));
        Self { smoothness, max_iterations: 60, max_evaluations: 100_000 }
    }
}

checked_when_read!(Settings);

impl<T: Real> Settings<T> {
    /// The same in another scalar, with its default smoothness if this one is below its roundoff.
    pub fn cast<U: Real>(&self) -> Settings<U> {
        let Self { smoothness, max_iterations, max_evaluations } = *self;
        let cast = Settings { smoothness: smoothness.cast(), max_iterations, max_evaluations };
        let is_held = cast.smoothness >= Settings::<U>::least_smoothness();
        if is_held { cast } else { Settings { smoothness: Settings::default().smoothness, ..cast } }
    }

    fn least_smoothness() -> T {
        T::default_epsilon() * T::lit(16.0)
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        let Self { smoothness, max_iterations, max_evaluations } = *self;
        check::that(
            smoothness >= Self::least_smoothness(),
            "smoothness",
            smoothness,
            Requirement::AtLeast("16 units of roundoff"),
        )?;
        check::at_most("smoothness", smoothness, "0.01", T::lit(0.01))?;
        check::that(max_iterations > 0, "max_iterations", T::zero(), Requirement::Positive)?;
        check::that(max_evaluations > 0, "max_evaluations", T::zero(), Requirement::Positive)
    }
}

impl<T: Real> Obstacle<T> {
    /// The default of the largest number of contacts of an obstacle that is not convex.
    const MOST_CONTACTS: usize = 8;

    /// A surface in a frame on a body.
    ///
    /// # Errors
    /// [`PathError::InvalidValue`] for a pose that is not finite or not a rotation.
    pub fn new(frame: Frame<T>, surface: impl Wrappable<T>) -> Result<Self, PathError> {
        Self::shared(frame, Arc::new(surface))
    }

    /// The same with a surface shared by several obstacles.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn shared(frame: Frame<T>, surface: Arc<dyn Wrappable<T>>) -> Result<Self, PathError> {
        check::pose("obstacle.X_BF", &frame.X_BF)?;
        let is_convex = surface.is_convex();
        let plain = if is_plain::<T>() { None } else { in_plain(&surface) };
        let most_contacts = if is_convex { 1 } else { Self::MOST_CONTACTS };
        Ok(Self { frame, surface, plain, hint_S: None, is_convex, admits_ends: false, most_contacts })
    }

    /// The same obstacle in another scalar.
    ///
    /// # Errors
    /// As [`cast_with`](Self::cast_with).
    pub fn cast<U: Real>(&self) -> Result<Obstacle<U>, PathError> {
        self.cast_with(&SurfaceCasts::new())
    }

    /// The same obstacle in another scalar, with casts of a user's own surfaces.
    ///
    /// # Errors
    /// [`PathError::Shape`] with [`ShapeError::NoCast`](crate::shapes::ShapeError::NoCast) for a user's own surface
    /// without a cast, or with the error of the cast; [`PathError::InvalidValue`] or [`PathError::NonFinite`] where
    /// the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &SurfaceCasts<T, U>) -> Result<Obstacle<U>, PathError> {
        let surface = casts.cast(self.surface.as_ref())?;
        let mut obstacle = Obstacle::shared(self.frame.cast(), surface)?;
        if !is_plain::<U>() {
            obstacle.plain = self.plain.clone().or_else(|| in_plain(&self.surface));
        }
        obstacle.admits_ends = self.admits_ends;
        obstacle.most_contacts = self.most_contacts;
        match &self.hint_S {
            Some(hint) => obstacle.with_contact_hint(hint.map(T::cast)),
            None => Ok(obstacle),
        }
    }

    /// The obstacle in plain numbers, if its surface is known in them.
    fn in_plain(&self) -> Option<Obstacle<f64>> {
        Some(Obstacle {
            frame: self.frame.cast(),
            surface: self.plain.clone()?,
            plain: None,
            hint_S: self.hint_S.map(|hint| hint.map(T::to_f64)),
            is_convex: self.is_convex,
            admits_ends: self.admits_ends,
            most_contacts: self.most_contacts,
        })
    }

    /// The same obstacle with a point, in the surface's frame \[m\], that says where the cable passes.
    ///
    /// It acts on searches without memory only. The cable need not touch the obstacle, nor run through the point:
    /// straight lines through it determine the class of the path; see [`CablePath`]. A point inside the solid
    /// stands for the point of the surface near it.
    ///
    /// # Errors
    /// [`PathError::NonFinite`] if the point is not finite.
    pub fn with_contact_hint(mut self, p_S: Point3<T>) -> Result<Self, PathError> {
        finite_point(&p_S)?;
        self.hint_S = Some(p_S);
        Ok(self)
    }

    /// The same obstacle, ignored while it contains the end or via point before or after the cable's passage.
    ///
    /// Without this option such a point is an error ([`PathError::PointInsideObstacle`]). With it the length of the
    /// cable may jump where the point enters the solid or leaves it.
    #[must_use]
    pub fn ignored_around_ends(mut self) -> Self {
        self.admits_ends = true;
        self
    }

    /// The same obstacle with another largest number of contacts, from 1 to 1000. Default: 8, or 1 if the surface is
    /// convex.
    ///
    /// The memory of a path has as many places, whether they are used or not.
    ///
    /// # Errors
    /// [`PathError::InvalidValue`] outside that range.
    pub fn with_most_contacts(mut self, most_contacts: usize) -> Result<Self, PathError> {
        // More would be a mistake, and might not fit into memory.
        const MOST: u32 = 1000;
        let number = u32::try_from(most_contacts).unwrap_or(u32::MAX);
        let value = T::lit(f64::from(number));
        check::that(number > 0, "most_contacts", value, Requirement::Positive)?;
        check::that(number <= MOST, "most_contacts", value, Requirement::AtMost("1000"))?;
        self.most_contacts = most_contacts;
        Ok(self)
    }

    /// The largest number of contacts.
    pub fn most_contacts(&self) -> usize {
        self.most_contacts
    }

    /// Whether the obstacle is ignored while it contains an end or via point.
    pub fn is_ignored_around_ends(&self) -> bool {
        self.admits_ends
    }

    /// The frame of the surface.
    pub fn frame(&self) -> &Frame<T> {
        &self.frame
    }

    /// The surface.
    pub fn surface(&self) -> &dyn Wrappable<T> {
        self.surface.as_ref()
    }

    /// The contact hint, or the point of the surface near it if it lies inside.
    pub(super) fn place_of_hint(&self) -> Option<Point3<T>> {
        let inside = |p: &Point3<T>| self.surface.value(p) < T::zero() || !self.surface.covers(p);
        self.hint_S.map(|hint| if inside(&hint) { self.surface.retract(&hint) } else { hint })
    }

    /// The contact hint, in the surface's frame.
    pub fn contact_hint(&self) -> Option<&Point3<T>> {
        self.hint_S.as_ref()
    }
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
        let whole = Span { from: origin, to: termination, obstacles: 0..0 };
        refuse_coincident(&whole, 0)?;
        let plain = (!is_plain::<T>()).then(Vec::new);
        Ok(Self { obstacles: Vec::new(), spans: alloc::vec![whole], plain, settings: Settings::default() })
    }

    /// The same path, passing last over this obstacle.
    #[must_use]
    pub fn over(mut self, obstacle: Obstacle<T>) -> Self {
        self.plain = self.plain.take().zip(obstacle.in_plain()).map(|(mut plain, obstacle)| {
            plain.push(obstacle);
            plain
        });
        self.obstacles.push(obstacle);
        if let Some(last) = self.spans.last_mut() {
            last.obstacles.end = self.obstacles.len();
        }
        self
    }

    /// The same path, running last through this via point.
    ///
    /// # Errors
    /// [`PathError::NonFinite`] if the point is not finite; [`PathError::CoincidentPoints`] if it is the point
    /// before it or the termination.
    pub fn through(mut self, station: Station<T>) -> Result<Self, PathError> {
        finite_point(&station.p_B)?;
        let count = self.spans.len();
        if let Some(last) = self.spans.last_mut() {
            let to = core::mem::replace(&mut last.to, station);
            let next = Span { from: station, to, obstacles: last.obstacles.end..last.obstacles.end };
            refuse_coincident(last, count - 1)?;
            refuse_coincident(&next, count)?;
            self.spans.push(next);
        }
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
    /// As [`Obstacle::cast_with`].
    pub fn cast<U: Real>(&self) -> Result<CablePath<U>, PathError> {
        self.cast_with(&SurfaceCasts::new())
    }

    /// The same path in another scalar, with casts of a user's own surfaces.
    ///
    /// # Errors
    /// As [`Obstacle::cast_with`].
    pub fn cast_with<U: Real>(&self, casts: &SurfaceCasts<T, U>) -> Result<CablePath<U>, PathError> {
        let mut path = CablePath::new(self.origin().cast(), self.termination().cast())?;
        for (i, span) in self.spans.iter().enumerate() {
            if i > 0 {
                path = path.through(span.from.cast())?;
            }
            for obstacle in &self.obstacles[span.obstacles.clone()] {
                path = path.over(obstacle.cast_with(casts)?);
            }
        }
        path.with_settings(self.settings.cast())
    }

    /// Accuracy and effort of the solver.
    pub fn settings(&self) -> &Settings<T> {
        &self.settings
    }

    /// The origin.
    pub fn origin(&self) -> Station<T> {
        self.spans[0].from
    }

    /// The termination.
    pub fn termination(&self) -> Station<T> {
        self.spans[self.spans.len() - 1].to
    }

    /// The via points, in order.
    pub fn via_points(&self) -> impl Iterator<Item = Station<T>> + '_ {
        self.spans.iter().skip(1).map(|span| span.from)
    }

    /// The obstacles, in order.
    pub fn obstacles(&self) -> &[Obstacle<T>] {
        &self.obstacles
    }

    /// The empty memory of a path before its first solution.
    pub fn no_wraps(&self) -> Wraps<T> {
        let first = self.obstacles.len();
        let further = self.places_for_contacts() - first;
        Wraps {
            obstacles: alloc::vec![Wrap::default(); first],
            further: alloc::vec![Wrap::default(); further],
        }
    }

    /// The number of contacts that the memory holds.
    pub(super) fn places_for_contacts(&self) -> usize {
        self.obstacles.iter().map(|obstacle| obstacle.most_contacts).sum()
    }

    /// Checks that every body exists.
    ///
    /// # Errors
    /// [`KinematicsError::NoSuchBody`] for the first that does not.
    pub fn check_topology(&self, topology: &Topology) -> Result<(), KinematicsError> {
        self.bodies().try_for_each(|body| topology.check_body(body))
    }

    /// Finds the shortest path of the remembered class; see [`CablePath`].
    ///
    /// A pure function of `positions` and `wraps`; the previous content of `results` has no effect. After an
    /// error it holds no contacts and no segments.
    ///
    /// # Errors
    /// - [`PathError::Kinematics`] if a body of the path does not exist
    /// - [`PathError::ForeignWraps`] for wraps of other obstacles
    /// - [`PathError::NonFinite`] if lengths or positions are not finite
    /// - [`PathError::NotConverged`] if no smooth path of minimal length is found
    /// - [`PathError::HintNotKept`] if no path is found in the class of a contact hint
    /// - [`PathError::EndOnSurface`] if no path is found from an end or via point on the surface next to it
    /// - [`PathError::Penetrates`] if the path found runs through an obstacle that it touches
    /// - [`PathError::PointInsideObstacle`] if an end or via point lies inside the obstacle next to it
    /// - [`PathError::ObstaclesOverlap`] if two obstacles overlap where the cable passes from one to the other
    /// - [`PathError::CoincidentPoints`] if neighbouring end or via points coincide
    /// - [`PathError::Shape`] with [`OffPatch`](crate::shapes::ShapeError::OffPatch) if a height map is needed
    ///   outside its rectangle
    pub fn solve(
        &self,
        positions: &Positions<T>,
        wraps: &Wraps<T>,
        results: &mut PathResults<T>,
    ) -> Result<(), PathError> {
        let outcome = solver::solve(self, positions, wraps, results);
        if outcome.is_err() {
            results.contacts.clear();
            results.segments.clear();
        }
        outcome
    }

    /// The bodies of all stations and obstacles, some more than once.
    pub(super) fn bodies(&self) -> impl Iterator<Item = BodyIndex> + '_ {
        let stations = self.spans.iter().flat_map(|span| [span.from.body, span.to.body]);
        stations.chain(self.obstacles.iter().map(|obstacle| obstacle.frame.body))
    }
}

/// A surface in plain numbers.
fn in_plain<T: Real>(surface: &Arc<dyn Wrappable<T>>) -> Option<Arc<dyn Wrappable<f64>>> {
    let any: &dyn Any = surface;
    match any.downcast_ref::<Arc<dyn Wrappable<f64>>>() {
        Some(surface) => Some(Arc::clone(surface)),
        None => SurfaceCasts::<T, f64>::new().cast(surface.as_ref()).ok(),
    }
}

fn finite_point<T: Real>(p: &Point3<T>) -> Result<(), PathError> {
    if is_finite(&p.coords) { Ok(()) } else { Err(PathError::NonFinite) }
}

/// Refuses neighbouring points of one body at one position, which would never separate.
fn refuse_coincident<T: Real>(span: &Span<T>, place: usize) -> Result<(), PathError> {
    if span.from == span.to { Err(PathError::CoincidentPoints { span: place }) } else { Ok(()) }
}
