//! Solution of a path, span by span.

use nalgebra::{Point3, Vector3};

use crate::cable::solution::attempts::{solve_in_scalar, solve_span};
use crate::cable::{
    Budget, CablePath, Geodesic, Node, ObstacleContact, PathError, PathResults, Places, Segment, SpanProblem,
    Tracking, Wrap, Wraps, empty,
};
use crate::math::{Real, is_finite, is_plain};
use crate::mechanics::{BodyIndex, Positions};

impl<T: Real> CablePath<T> {
    /// Finds the shortest path of the remembered class, with all parts at their [places](Self::places); see [`CablePath`].
    ///
    /// It is a pure function of `positions` and `wraps`; the previous content of `results` has no effect. After an error
    /// `results` holds no contacts and no segments.
    ///
    /// # Errors
    /// - [`PathError::Kinematics`] if a body or coordinate of the path does not exist
    /// - [`PathError::Foreign`] for wraps of other obstacles
    /// - [`PathError::NonFinite`] if lengths or positions are not finite
    /// - [`PathError::NotConverged`] if no smooth path is found
    /// - [`PathError::NoMinimum`] if smooth paths are found, but none is a local minimum that touches every obstacle
    ///   where it must
    /// - [`PathError::TooManyEvaluations`] if an attempt was cut short by [`Settings`](crate::cable::Settings)
    /// - [`PathError::HintNotKept`] if no path is found in the class of a contact hint
    /// - [`PathError::SideNotKept`] if no path is found on the side of an obstacle to which it is confined
    /// - [`PathError::EndOnSurface`] if no path is found from an end or via point on the surface next to it
    /// - [`PathError::Penetrates`] if the path found runs through an obstacle that it touches, and no other was found
    /// - [`PathError::TooManyContacts`] if there is no room for a further contact of an obstacle
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
        self.solve_at(&self.places, positions, wraps, results)
    }

    /// Finds the path as [`solve`](Self::solve) does, with the parts at other places.
    ///
    /// The places are assumed to be [valid](crate::Variables::validate), as those in a state are. With invalid places the
    /// path is not found, or is meaningless.
    ///
    /// # Errors
    /// [`PathError::Foreign`] for places of another number of via points or obstacles, or an error of
    /// [`solve`](Self::solve).
    pub fn solve_at(
        &self,
        places: &Places<T>,
        positions: &Positions<T>,
        wraps: &Wraps<T>,
        results: &mut PathResults<T>,
    ) -> Result<(), PathError> {
        let outcome = solve((self, places), positions, wraps, results);
        if outcome.is_err() {
            results.clear();
        }
        outcome
    }
}

/// Fills in the results; for a path that fails they are left incomplete.
fn solve<T: Real>(
    (path, places): (&CablePath<T>, &Places<T>),
    positions: &Positions<T>,
    wraps: &Wraps<T>,
    results: &mut PathResults<T>,
) -> Result<(), PathError> {
    path.check_topology(positions.topology())?;
    let count = path.obstacles.len();
    let most = path.places_for_contacts();
    for (what, expected, given) in [
        ("remembered obstacles", count, wraps.wraps.len()),
        ("remembered further contacts", most - count, wraps.further_wraps.len()),
        ("places of via points", path.via_points.len(), places.via_points.len()),
        ("places of obstacles", count, places.obstacles.len()),
    ] {
        if expected != given {
            return Err(PathError::Foreign { what, expected, given });
        }
    }
    let PathResults { contacts, segments, via_points, coordinate_forces, acting, work, values, .. } = results;
    acting.find(path, places, positions, via_points)?;
    contacts.clear();
    // Reserves room for all contacts, so that a further one does not allocate.
    contacts.reserve(most);
    empty(segments, path.via_points.len() + 1 + most);
    empty(coordinate_forces, 2 * path.via_points.len());
    empty(&mut work.nodes, most);
    let absent = |k: usize| absent(path, &path.node(places, positions, k));
    let mut next = 0;
    let mut smoothness = T::zero();
    let mut iterations = 0;
    let mut tracking = Tracking::Warm;
    for ([from, to], indices) in acting.spans() {
        let span = SpanProblem {
            from: from.p_G,
            to: to.p_G,
            obstacles: &path.obstacles,
            acting: indices,
            ends: [from.body, to.body],
            bodies: &path.bodies,
            poses: &acting.poses,
            memory: wraps,
            settings: path.settings(),
            budget: &Budget::default(),
        };
        require_finite((span.to - span.from).norm_squared().is_finite())?;
        work.nodes.clear();
        work.nodes.extend(indices.iter().map(|&k| path.node(places, positions, k)));
        let (progress, found) = if is_plain::<T>() || indices.is_empty() {
            solve_span(&span, work, from.place)
        } else {
            solve_in_scalar(&span, &path.plain, work, values, from.place)
        }?;
        smoothness = smoothness.max(progress.kink);
        iterations = iterations.max(progress.iterations);
        tracking = tracking.max(found);

        let mut leaving = (from.body, span.from);
        let mut departing = None;
        let mut held = None;
        for node in &work.nodes {
            let obstacle = span.obstacle(node);
            contacts.extend((next..node.obstacle).map(absent));
            next = node.obstacle + 1;
            if node.in_contact {
                let Geodesic { start, end, .. } = &node.ground;
                let [holds_start, holds_end] = node.holds;
                let body = obstacle.frame().body;
                let held_start = (departing.is_none() && holds_start).then_some(start.tangent);
                let arriving = segment(leaving, (body, start.point), Some(contacts.len()), held_start);
                leaving = (body, end.point);
                departing = departing.or(Some(arriving.direction_G));
                segments.push(arriving);
                held = holds_end.then_some(end.tangent);
            }
            contacts.push(node.contact(obstacle));
        }
        let last = segment(leaving, (to.body, span.to), None, held);
        let arriving = last.direction_G;
        segments.push(last);
        let pulls = [(from.motion, departing.unwrap_or(arriving)), (to.motion, -arriving)];
        for (motion, direction_G) in pulls {
            let Some((coordinate, slope_G)) = motion else { continue };
            coordinate_forces.push((coordinate, direction_G.dot(&slope_G)));
        }
    }
    contacts.extend((next..count).map(absent));
    let arcs = contacts.iter().filter(|contact| contact.in_contact).map(|contact| contact.geodesic.length);
    let lengths = segments.iter().map(|segment| segment.length).chain(arcs);
    let length = lengths.fold(T::zero(), |sum, length| sum + length);
    let is_sound = |Wrap { point, tangent, .. }: &Wrap<T>| is_finite(&point.coords) && is_finite(tangent);
    require_finite(length.is_finite() && contacts.iter().all(|contact| is_sound(&contact.wrap)))?;
    results.length = length;
    results.smoothness = smoothness;
    results.iterations = iterations;
    results.tracking = tracking;
    Ok(())
}

/// The straight segment between two points on bodies. A contact that begins or ends at a fixed point is held there, with
/// this tangent.
fn segment<T: Real>(
    (from_body, from): (BodyIndex, Point3<T>),
    (to_body, to): (BodyIndex, Point3<T>),
    to_contact: Option<usize>,
    held: Option<Vector3<T>>,
) -> Segment<T> {
    // Such a contact leaves no straight segment in between. The gap is within the smoothness; forces at one point cancel
    // exactly.
    let fixed = if to_contact.is_some() { from } else { to };
    let along = to - from;
    let (from_G, to_G, direction_G, length) = match held {
        Some(tangent) => (fixed, fixed, tangent, T::zero()),
        None => (from, to, along / along.norm(), along.norm()),
    };
    Segment { from_body, to_body, from_G, to_G, direction_G, length, to_contact }
}

/// Replaces the contacts of an obstacle that is not active.
#[cold]
fn absent<T: Real>(path: &CablePath<T>, node: &Node<T>) -> ObstacleContact<T> {
    ObstacleContact { wrap: Wrap::default(), ..node.contact(&path.obstacles[node.obstacle]) }
}

fn require_finite(is_finite: bool) -> Result<(), PathError> {
    if is_finite { Ok(()) } else { Err(PathError::NonFinite) }
}
