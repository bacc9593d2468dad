//! What a solved path tells.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use super::geodesic::Geodesic;
use super::node::Node;
use super::path::{CablePath, Stretch};
use super::solver::{Tracking, Workspace, solve_span};
use super::span::Span;
use super::wrap::{Wrap, Wraps};
use crate::cable::PathError;
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity, is_finite};
use crate::mechanics::{BodyIndex, ForceAccumulator, Positions, Topology, Velocities};

/// A straight stretch of the cable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment<T: Real> {
    /// The body it leaves.
    pub from_body: BodyIndex,
    /// The body it reaches.
    pub to_body: BodyIndex,
    /// Where it leaves, in Ground \[m\].
    pub from_G: Point3<T>,
    /// Where it arrives, in Ground \[m\].
    pub to_G: Point3<T>,
    /// Its unit direction, in Ground.
    pub direction_G: Vector3<T>,
    /// Its length \[m\].
    pub length: T,
    /// The obstacle it ends on, counted along the path; `None` if it ends at a fixed point.
    pub to_obstacle: Option<usize>,
}

/// How the cable lies on one obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact<T: Real> {
    /// Whether the cable touches.
    pub in_contact: bool,
    /// The stretch in contact, in Ground: points, tangents, normals, curvatures at both ends, arc
    /// length. Meaningless while not in contact.
    pub geodesic: Geodesic<T>,
    /// The pose of the surface in Ground.
    pub X_GS: Pose<T>,
    /// What is to be remembered of it.
    pub wrap: Wrap<T>,
}

/// A solved path. Buffers are reused from one [`CablePath::solve`] to the next: it allocates only for a
/// search with more beads or from more saddles than any before.
#[derive(Debug)]
pub struct PathResults<T: Real> {
    /// The length of the cable \[m\].
    pub length: T,
    /// The largest kink where a straight stretch meets a surface, or a bound of it \[rad\].
    pub smoothness: T,
    /// How many geodesics Newton's method computed per obstacle in the attempt that succeeded; of several
    /// spans, the most.
    pub iterations: usize,
    /// How the path was found; of several spans between via points, the least direct way.
    pub tracking: Tracking,
    /// One per obstacle, in order.
    pub contacts: Vec<Contact<T>>,
    /// The straight stretches, in order.
    pub segments: Vec<Segment<T>>,
    nodes: Vec<Node<T>>,
    work: Workspace<T>,
}

impl<T: Real> Default for PathResults<T> {
    fn default() -> Self {
        Self {
            length: T::zero(),
            smoothness: T::zero(),
            iterations: 0,
            tracking: Tracking::Warm,
            contacts: Vec::new(),
            segments: Vec::new(),
            nodes: Vec::new(),
            work: Workspace::new(),
        }
    }
}

impl<T: Real> Clone for PathResults<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        // What there is room for is no result, and the room is kept.
        let Self { length, smoothness, iterations, tracking, contacts, segments, nodes: _, work: _ } = source;
        (self.length, self.smoothness) = (*length, *smoothness);
        (self.iterations, self.tracking) = (*iterations, *tracking);
        self.contacts.clone_from(contacts);
        self.segments.clone_from(segments);
    }
}

impl<T: Real> CablePath<T> {
    /// Finds the shortest path of the remembered class; see [`CablePath`] for which that is.
    ///
    /// A pure function of `positions` and `wraps`; what `results` held before does not matter. After an
    /// error it holds no contacts and no segments.
    ///
    /// # Errors
    /// - [`PathError::Kinematics`] for positions of a system without one of the path's bodies
    /// - [`PathError::ForeignWraps`] for wraps of another number of obstacles
    /// - [`PathError::NonFinite`] where a place or a surface is so large, small or wrong that lengths overflow or
    ///   are not numbers
    /// - [`PathError::NotConverged`] if no smooth path of minimal length is found
    /// - [`PathError::Penetrates`] if the path found runs through an obstacle that it touches
    /// - [`PathError::PointInsideObstacle`] if an end or via point lies inside the obstacle next to it
    /// - [`PathError::ObstaclesOverlap`] if two obstacles overlap where the cable passes from one to the other
    /// - [`PathError::CoincidentPoints`] if neighbouring end or via points coincide
    /// - [`PathError::OffPatch`] if a height map is needed off its rectangle
    pub fn solve(
        &self,
        positions: &Positions<T>,
        wraps: &Wraps<T>,
        results: &mut PathResults<T>,
    ) -> Result<(), PathError> {
        let outcome = self.solve_into(positions, wraps, results);
        if outcome.is_err() {
            results.contacts.clear();
            results.segments.clear();
        }
        outcome
    }

    fn solve_into(
        &self,
        positions: &Positions<T>,
        wraps: &Wraps<T>,
        results: &mut PathResults<T>,
    ) -> Result<(), PathError> {
        let (body_count, coordinate_count) = (positions.poses().len(), positions.coordinates().len());
        // Errors are large: none is made where none is needed.
        if self.bodies().any(|body| body.index() >= body_count) {
            self.check_topology(&Topology { body_count, coordinate_count })?;
        }
        if wraps.obstacles.len() != self.obstacles.len() {
            return Err(PathError::ForeignWraps {
                expected: self.obstacles.len(),
                given: wraps.obstacles.len(),
            });
        }
        let PathResults { contacts, segments, nodes, work, .. } = results;
        contacts.clear();
        contacts.reserve(self.obstacles.len());
        segments.clear();
        segments.reserve(self.spans.len() + self.obstacles.len());
        nodes.clear();
        nodes.extend(self.obstacles.iter().map(|o| Node::new(positions.pose(o.body()) * o.X_BS())));
        let mut length = T::zero();
        let mut smoothness = T::zero();
        let mut iterations = 0;
        let mut tracking = Tracking::Warm;
        for (place, stretch) in self.spans.iter().enumerate() {
            let Stretch { from, to, obstacles } = stretch;
            let span = Span {
                from: point_of(positions, from.body, &from.p_B),
                to: point_of(positions, to.body, &to.p_B),
                obstacles: &self.obstacles[obstacles.clone()],
                wraps: &wraps.obstacles[obstacles.clone()],
                settings: self.settings(),
            };
            require_finite((span.to - span.from).norm_squared().is_finite())?;
            let nodes = &mut nodes[obstacles.clone()];
            let (progress, found) = solve_span(&span, nodes, work, place, obstacles.start)?;
            smoothness = smoothness.max(progress.kink);
            iterations = iterations.max(progress.iterations);
            tracking = tracking.max(found);

            let mut leaving = (from.body, span.from);
            let mut add = |leaving: (BodyIndex, Point3<T>), body: BodyIndex, point, to_obstacle| {
                let along: Vector3<T> = point - leaving.1;
                let reach = along.norm();
                length += reach;
                segments.push(Segment {
                    from_body: leaving.0,
                    to_body: body,
                    from_G: leaving.1,
                    to_G: point,
                    direction_G: along / reach,
                    length: reach,
                    to_obstacle,
                });
            };
            for ((k, node), obstacle) in obstacles.clone().zip(nodes.iter()).zip(span.obstacles) {
                if node.in_contact {
                    add(leaving, obstacle.body(), node.ground.start.point, Some(k));
                    leaving = (obstacle.body(), node.ground.end.point);
                }
                contacts.push(node.contact());
            }
            add(leaving, to.body, span.to, None);
        }
        for contact in contacts.iter().filter(|contact| contact.in_contact) {
            length += contact.geodesic.length;
        }
        let is_sound = |Wrap { point, tangent, .. }: &Wrap<T>| is_finite(&point.coords) && is_finite(tangent);
        require_finite(length.is_finite() && contacts.iter().all(|contact| is_sound(&contact.wrap)))?;
        results.length = length;
        results.smoothness = smoothness;
        results.iterations = iterations;
        results.tracking = tracking;
        Ok(())
    }
}

impl<T: Real> PathResults<T> {
    /// The forces a cable of tension 1 N exerts: body, point in Ground \[m\], force in Ground \[N\].
    ///
    /// Each straight stretch pulls its two ends together along itself; what an obstacle gets is the
    /// sum over its two ends. Forces and moments therefore sum to zero over all bodies, to roundoff.
    pub fn unit_forces(&self) -> impl Iterator<Item = (BodyIndex, Point3<T>, Vector3<T>)> + '_ {
        self.segments
            .iter()
            .flat_map(|s| [(s.from_body, s.from_G, s.direction_G), (s.to_body, s.to_G, -s.direction_G)])
    }

    /// The force of a cable of tension 1 N on one body, at its origin, expressed in Ground.
    ///
    /// # Panics
    /// For a body that the positions do not have, like slice indexing: not for those the path was solved at.
    pub fn unit_force_on(&self, body: BodyIndex, positions: &Positions<T>) -> SpatialForce<T> {
        let on_body = self.unit_forces().filter(|(on, ..)| *on == body);
        on_body.fold(SpatialForce::zero(), |sum, (_, p, f)| {
            sum + SpatialForce::new(positions.offset_of(body, &p).cross(&f), f)
        })
    }

    /// Adds the forces of a cable of this tension \[N\].
    ///
    /// # Panics
    /// For a body that the forces do not have, like slice indexing: not for those of the
    /// system the path was solved in.
    #[inline]
    pub fn add_forces(&self, tension: T, forces: &mut ForceAccumulator<'_, T>) {
        for (body, p, f) in self.unit_forces() {
            forces.apply_at_point(body, &p, f * tension);
        }
    }

    /// The rate of change of length \[m/s\] while each body moves with the velocity that `motion`
    /// gives for it (of its origin, in Ground).
    ///
    /// Exact: each straight stretch lengthens by the velocities of the body points at its ends,
    /// along itself; the wrapped stretches, being geodesics that the straight ones meet smoothly,
    /// contribute nothing to first order.
    ///
    /// # Panics
    /// For a body that the positions do not have, like slice indexing: not for those the path was solved at.
    #[inline]
    pub fn length_rate_of(
        &self,
        positions: &Positions<T>,
        motion: impl Fn(BodyIndex) -> SpatialVelocity<T>,
    ) -> T {
        self.unit_forces().fold(T::zero(), |rate, (body, p, f)| {
            if body == BodyIndex::GROUND {
                return rate;
            }
            rate - motion(body).shifted(positions.offset_of(body, &p)).linear.dot(&f)
        })
    }

    /// The rate of change of length \[m/s\].
    ///
    /// # Panics
    /// For a body that the positions or velocities do not have, like slice indexing: not for those of the
    /// system the path was solved in.
    #[inline]
    pub fn length_rate(&self, positions: &Positions<T>, velocities: &Velocities<T>) -> T {
        self.length_rate_of(positions, |body| *velocities.velocity(body))
    }

    /// The moment arm about a coordinate \[m, or m per unit of the coordinate\], given the velocity
    /// of each body per unit rate of that coordinate: minus the derivative of length.
    ///
    /// A tension f drives the coordinate with the generalized force f times the moment arm.
    ///
    /// # Panics
    /// For a body that the positions do not have, like slice indexing: not for those the path was solved at.
    pub fn moment_arm(
        &self,
        positions: &Positions<T>,
        motion: impl Fn(BodyIndex) -> SpatialVelocity<T>,
    ) -> T {
        -self.length_rate_of(positions, motion)
    }

    /// Writes into `wraps` what is to be remembered when a step is accepted.
    pub fn remember(&self, wraps: &mut Wraps<T>) {
        wraps.obstacles.clear();
        wraps.obstacles.extend(self.contacts.iter().map(|contact| contact.wrap));
    }

    /// Points along the path in Ground, for drawing: the ends of straight stretches, and between
    /// them points of the wrapped ones at most `spacing` \[m\] apart, or a hundred thousand of each.
    pub fn sample(&self, path: &CablePath<T>, spacing: T) -> Vec<Point3<T>> {
        let mut points = Vec::new();
        for segment in &self.segments {
            if points.last() != Some(&segment.from_G) {
                points.push(segment.from_G);
            }
            points.push(segment.to_G);
            let Some(k) = segment.to_obstacle else { continue };
            let (Some(obstacle), Some(contact)) = (path.obstacles().get(k), self.contacts.get(k)) else {
                continue;
            };
            let Geodesic { start, length, .. } = contact.geodesic;
            let local = start.transformed(&contact.X_GS.inverse());
            let wanted = (length / spacing).to_f64().min(1e5);
            let mut parts = 1.0;
            while parts < wanted {
                parts += 1.0;
            }
            let mut part = 1.0;
            while part < parts {
                let reach = length * T::lit(part / parts);
                let at = obstacle.surface().geodesic(&local.point, &local.tangent, reach, T::lit(1e-9));
                points.push(at.end.transformed(&contact.X_GS).point);
                part += 1.0;
            }
        }
        points
    }
}

impl<T: Real> Node<T> {
    fn contact(&self) -> Contact<T> {
        let trial = &self.trial;
        Contact {
            in_contact: self.in_contact,
            geodesic: self.ground,
            X_GS: self.X_GS,
            wrap: Wrap {
                known: true,
                in_contact: self.in_contact,
                point: trial.point,
                tangent: trial.tangent,
                length: trial.length.max(T::zero()),
            },
        }
    }
}

fn require_finite(is_finite: bool) -> Result<(), PathError> {
    if is_finite { Ok(()) } else { Err(PathError::NonFinite) }
}

/// A point fixed on a body, in Ground.
#[inline]
fn point_of<T: Real>(positions: &Positions<T>, body: BodyIndex, p_B: &Point3<T>) -> Point3<T> {
    positions.pose(body) * p_B
}
