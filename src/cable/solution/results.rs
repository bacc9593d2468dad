//! Results of a solved path.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::solution::acting::{Acting, FixedPoint};
use crate::cable::start::search::Workspace;
use crate::cable::{
    CablePath, Geodesic, GeodesicEnd, Node, Obstacle, PastBody, Wrap, Wrappable, Wraps, ceil,
};
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity, cast_pose, clone_by_field};
use crate::mechanics::{BodyIndex, Checked, CoordinateIndex, ForceAccumulator, Positions, Velocities};

/// The way in which a path was found. The result named `path.tracking` is its position in this order, counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tracking {
    /// By Newton's method from memory, with all windings; also if there are no obstacles.
    #[default]
    Warm,
    /// From memory, in parts of a [long step](crate::cable::CablePath#long-steps): the path to which many short steps
    /// lead, if bodies moved as assumed there.
    Followed,
    /// From memory, but shorter steps may lead to another path. Either the tracked path has ceased to exist on the way
    /// and may have slipped off a winding, and the path was found by descending in length; or it could not be followed in
    /// parts, since the poses of bodies are not remembered or 1/256 of the motion is too long.
    Relaxed,
    /// Without memory: no obstacle of the span had been solved for before.
    Cold,
    /// Without memory, because no path was found from it; this may be another path. Also the path from memory in one
    /// step, which may have passed through an obstacle, if following it in parts leads to no path or to a longer one.
    Restarted,
}

/// A straight segment of the cable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment<T: Real> {
    /// The body at its start.
    pub from_body: BodyIndex,
    /// The body at its end.
    pub to_body: BodyIndex,
    /// Its start, in Ground \[m\].
    pub from_G: Point3<T>,
    /// Its end, in Ground \[m\].
    pub to_G: Point3<T>,
    /// Its unit direction, in Ground.
    pub direction_G: Vector3<T>,
    /// Its length \[m\].
    pub length: T,
    /// The [contact](PathResults::contacts) at which it ends; `None` if it ends at a fixed point.
    pub to_contact: Option<usize>,
}

/// A contact of the cable with an obstacle, or its passage without contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObstacleContact<T: Real> {
    /// The obstacle, counted along the path.
    pub obstacle: usize,
    /// Whether the cable touches.
    pub in_contact: bool,
    /// The contact arc, in Ground: points, tangents, normals, curvatures at both ends, arc length. It has no meaning
    /// without contact.
    pub geodesic: Geodesic<T>,
    /// The pose of the surface in Ground.
    pub X_GS: Pose<T>,
    /// The [scale](crate::cable::ObstaclePlace::scale) of the surface.
    pub scale: T,
    /// The memory to commit.
    pub wrap: Wrap<T>,
    /// The number of contacts with the obstacle for which there is memory.
    pub(crate) most_contacts: usize,
    pub(crate) ignored: bool,
}

/// A solved path. Buffers are reused from one [`CablePath::solve`] to the next: a solution allocates only if its search
/// needs more beads or saddles than any before.
#[derive(Debug)]
pub struct PathResults<T: Real> {
    /// The length of the cable \[m\].
    pub length: T,
    /// The largest kink where a straight segment meets a surface \[rad\], or an upper bound of it.
    pub smoothness: T,
    /// The number of geodesics per obstacle in the successful run of Newton's method; for several spans, the largest.
    pub iterations: usize,
    /// How the path was found; for several spans, the least direct way.
    pub tracking: Tracking,
    /// The contacts in order along the path: one entry per obstacle that is convex or passed freely, and one for each
    /// contact with any other obstacle.
    pub contacts: Vec<ObstacleContact<T>>,
    /// The straight segments, in order.
    pub segments: Vec<Segment<T>>,
    /// The via points in Ground \[m\], in order; `None` for a point that is not active or out of its range.
    pub via_points: Vec<Option<Point3<T>>>,
    /// The forces of [`unit_coordinate_forces`](Self::unit_coordinate_forces).
    pub(crate) coordinate_forces: Vec<(CoordinateIndex, T)>,
    pub(crate) acting: Acting<T>,
    pub(crate) work: Workspace<T>,
    /// Memory and buffers of a search on plain numbers.
    pub(crate) values: (Wraps<f64>, Workspace<f64>),
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
            via_points: Vec::new(),
            coordinate_forces: Vec::new(),
            acting: Acting::default(),
            work: Workspace::default(),
            values: Default::default(),
        }
    }
}

clone_by_field!(PathResults {
    length, smoothness, iterations, tracking, contacts, segments, via_points, coordinate_forces, acting;
    work, values
});

impl<T: Real> ObstacleContact<T> {
    /// The normal curvature of the surface, integrated along the contact arc \[rad\]: the angle by which the contact
    /// turns the cable, zero without contact. `surface` is the surface of the obstacle as it was made.
    pub fn turning(&self, surface: &dyn Wrappable<T>, accuracy: T) -> T {
        if !self.in_contact {
            return T::zero();
        }
        // Angles do not depend on the scale.
        let (p, tangent, length) = self.start_on_surface();
        surface.normal_curvature_integral(&p, &tangent, length, accuracy)
    }

    /// Start, direction and length of the contact arc on the surface of the obstacle as it was made.
    pub(crate) fn start_on_surface(&self) -> (Point3<T>, Vector3<T>, T) {
        let start = self.geodesic.start.transformed(&self.X_GS.inverse());
        (start.point / self.scale, start.tangent, self.geodesic.length / self.scale)
    }

    /// Points along the contact arc in Ground \[m\], each with its fraction of the arc's length, from start to end. The
    /// pieces between them are equally long, one for each tenth of a radian by which the arc turns; a piece over an edge
    /// turns by more. Without contact there are none. `surface` is the surface of the obstacle as it was made, and
    /// `accuracy` the accuracy of directions \[rad\].
    pub fn points_G<'a>(
        &'a self,
        surface: &'a dyn Wrappable<T>,
        accuracy: T,
    ) -> impl Iterator<Item = (T, Point3<T>)> + 'a {
        let pieces = ceil(self.turning(surface, accuracy).abs() * T::lit(10.0)).to_f64().clamp(1.0, 1e4);
        self.walk_G(surface, pieces, accuracy)
    }

    /// The ends of the contact arc and the points between this number of equal pieces of it, each with its fraction of
    /// the arc's length. Without contact there are none.
    pub(crate) fn walk_G<'a>(
        &'a self,
        surface: &'a dyn Wrappable<T>,
        pieces: f64,
        accuracy: T,
    ) -> impl Iterator<Item = (T, Point3<T>)> + 'a {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 100,000")]
        let points = if self.in_contact { pieces as u32 + 1 } else { 0 };
        let (mut point, mut tangent, length) = self.start_on_surface();
        let step = length / T::lit(pieces);
        (0..points).map(move |i| {
            if i > 0 {
                let end = surface.geodesic(&point, &tangent, step, accuracy, 10_000).end;
                (point, tangent) = (end.point, end.tangent);
            }
            (T::lit(f64::from(i) / pieces), self.X_GS * (point * self.scale))
        })
    }

    /// The distance to the nearest change of contact \[m\]: for a contact, the length of its arc; for a free passage, the
    /// distance of the straight segment from the surface. If one end of the segment is on the surface, as on a drum that
    /// the cable has left, it is the distance of the other end from the tangent plane there. `None` if the obstacle is
    /// not active or ignored. `surface` is the surface of the obstacle as it was made.
    pub fn margin(&self, surface: &dyn Wrappable<T>) -> Option<T> {
        if self.ignored {
            return None;
        }
        if self.in_contact {
            return Some(self.geodesic.length.max(T::zero()));
        }
        let (start, along) = self.wrap.passing()?;
        let near = T::lit(1e-6) * surface.size();
        let ends = [(start, along), (start + along, -along)];
        let on_surface = ends.into_iter().filter(|(end, _)| surface.height(end).abs() < near);
        let rise = |(end, along): (_, Vector3<T>)| {
            let (_, gradient) = surface.value_and_gradient(&end);
            along.dot(&gradient) / gradient.norm()
        };
        let rise = on_surface.map(rise).reduce(T::min);
        let height = rise.unwrap_or_else(|| surface.closest_on_segment(&start, &(start + along)).1);
        Some((height * self.scale).max(T::zero()))
    }
}

impl<T: Real> PathResults<T> {
    /// The forces of a cable of tension 1 N: body, point in Ground \[m\], force in Ground \[N\].
    ///
    /// Each straight segment pulls its two ends together along itself; an obstacle gets the sum over two segments. Forces
    /// and moments over all bodies therefore sum to zero, to roundoff.
    pub fn unit_forces(&self) -> impl Iterator<Item = (BodyIndex, Point3<T>, Vector3<T>)> + '_ {
        self.segments
            .iter()
            .flat_map(|s| [(s.from_body, s.from_G, s.direction_G), (s.to_body, s.to_G, -s.direction_G)])
    }

    /// The generalized forces of a cable of tension 1 N on coordinates with which its via points
    /// [move](crate::cable::ViaPoint::moving), in addition to its forces on bodies. A coordinate may occur several times.
    pub fn unit_coordinate_forces(&self) -> impl Iterator<Item = (CoordinateIndex, T)> + '_ {
        self.coordinate_forces.iter().copied()
    }

    /// The force of a cable of tension 1 N on one body, at its origin, expressed in Ground.
    ///
    /// # Panics
    /// If `positions` lack the body, like slice indexing; those of the solution do not.
    pub fn unit_force_on(&self, body: BodyIndex, positions: &Positions<T>) -> SpatialForce<T> {
        let on_body = self.unit_forces().filter(|(on, ..)| *on == body);
        on_body.fold(SpatialForce::zero(), |sum, (_, p, f)| {
            sum + SpatialForce::new(positions.offset_of(body, &p).cross(&f), f)
        })
    }

    /// Adds the forces of a cable of this tension \[N\].
    ///
    /// # Panics
    /// If `forces` lack a body, like slice indexing; those of the solution's system do not.
    #[inline]
    pub fn add_forces(&self, tension: T, forces: &mut ForceAccumulator<'_, T>) {
        for (body, p, f) in self.unit_forces() {
            forces.apply_at_point(body, &p, f * tension);
        }
        self.add_coordinate_forces(tension, forces);
    }

    /// Adds only the forces on coordinates.
    #[inline]
    pub(crate) fn add_coordinate_forces(&self, tension: T, forces: &mut ForceAccumulator<'_, T>) {
        for (coordinate, f) in self.unit_coordinate_forces() {
            forces.apply_to_coordinate(Checked(coordinate), f * tension);
        }
    }

    /// The points that move with a coordinate, each with the coordinate and the derivative by it, in Ground.
    pub(crate) fn moving_points(
        &self,
    ) -> impl Iterator<Item = (&FixedPoint<T>, CoordinateIndex, &Vector3<T>)> + '_ {
        self.acting.points.iter().filter_map(|point| {
            let (index, slope_G) = point.motion.as_ref()?;
            Some((point, *index, slope_G))
        })
    }

    /// The greatest rate \[rad/s\] at which a straight segment winds onto a surface or off it: the rate of its other end
    /// about the center of the circle along which the surface bends.
    pub(crate) fn winding_rate(&self, positions: &Positions<T>, velocities: &Velocities<T>) -> T {
        let rate = |of: &GeodesicEnd<T>, surface: BodyIndex, other: BodyIndex, p_G: &Point3<T>| {
            let arm: Vector3<T> = p_G - of.point + of.normal / of.curvature;
            let [on_other, on_surface] =
                [other, surface].map(|body| velocities.velocity_of_point(positions, body, p_G));
            let moving = self.moving_points().find(|(point, ..)| point.p_G == *p_G);
            let shift = moving.map_or(Vector3::zeros(), |(_, coordinate, slope_G)| {
                slope_G * velocities.coordinate_rate(Checked(coordinate))
            });
            arm.cross(&(on_other - on_surface + shift)).norm() / arm.norm_squared()
        };
        let mut greatest = T::zero();
        for pair in self.segments.windows(2) {
            let [before, after] = [&pair[0], &pair[1]];
            let Some(contact) = before.to_contact.and_then(|i| self.contacts.get(i)) else { continue };
            let Geodesic { start, end, .. } = &contact.geodesic;
            for (of, segment, [surface, other], p_G) in [
                (start, before, [before.to_body, before.from_body], &before.from_G),
                (end, after, [after.from_body, after.to_body], &after.to_G),
            ] {
                if of.curvature > T::zero() && segment.length > T::zero() {
                    greatest = greatest.max(rate(of, surface, other, p_G));
                }
            }
        }
        greatest
    }

    /// The rate of change of length \[m/s\].
    ///
    /// # Panics
    /// If `positions` or `velocities` lack a body or coordinate, like slice indexing; those of the solution's system do
    /// not.
    #[inline]
    pub fn length_rate(&self, positions: &Positions<T>, velocities: &Velocities<T>) -> T {
        let rate = |coordinate| velocities.coordinate_rate(coordinate);
        // Not -0 at rest.
        T::zero() - self.moment_arm(positions, |body| *velocities.velocity(body), rate)
    }

    /// The moment arm about a coordinate. The coordinate moves the bodies with the velocities that `motion` returns per
    /// unit of its rate (of body origins, in Ground), and the coordinates of moving via points at the rates that `rate`
    /// returns.
    ///
    /// The moment arm is minus the derivative of length with respect to the coordinate: in m for an angle in radians,
    /// dimensionless for a displacement. A tension f drives the coordinate with the generalized force f times the moment
    /// arm, which is positive if a taut cable increases the coordinate.
    ///
    /// Only coordinates with which via points move are read: for a path without such points, `rate` may be `|_| 0.0`.
    ///
    /// The result is exact: each straight segment lengthens with the velocities of the points at its ends, along itself;
    /// the contact arcs, geodesics that meet the segments smoothly, contribute nothing to first order.
    ///
    /// # Panics
    /// If `positions` lack the body, like slice indexing; those of the solution do not.
    #[inline]
    pub fn moment_arm(
        &self,
        positions: &Positions<T>,
        motion: impl Fn(BodyIndex) -> SpatialVelocity<T>,
        rate: impl Fn(CoordinateIndex) -> T,
    ) -> T {
        let by_bodies = self.unit_forces().fold(T::zero(), |sum, (body, p, f)| {
            if body == BodyIndex::GROUND {
                return sum;
            }
            sum + motion(body).shifted(positions.offset_of(body, &p)).linear.dot(&f)
        });
        self.unit_coordinate_forces().fold(by_bodies, |sum, (coordinate, f)| sum + rate(coordinate) * f)
    }

    /// Writes into `arms` the [moment arms](Self::moment_arm) about the coordinates 0, 1, …, up to the length of
    /// `arms`; `motion` returns the velocity of a body per unit rate of a coordinate, and `rate` the rate of a
    /// coordinate of the system with which a via point moves.
    ///
    /// The moment arms are the columns of a host's Jacobian; they are zero for a coordinate that does not move the cable.
    ///
    /// # Panics
    /// If `positions` lack the body, like slice indexing; those of the solution do not.
    ///
    /// # Example: a muscle over two joints
    ///
    /// ```
    /// use force_elements::cable::{CablePath, Obstacle};
    /// use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
    /// use force_elements::shapes::Cylinder;
    /// use force_elements::{
    ///     BodyIndex, CableSpring, ForceSystem, Frame, Pose, SpatialVelocity, Station, cable_spring,
    /// };
    ///
    /// // The muscle runs from the trunk over the elbow to the forearm.
    /// let mut system = ForceSystem::new();
    /// let [upper_arm, forearm] = [system.add_body(), system.add_body()];
    /// let elbow = Obstacle::new(Frame::on(upper_arm, Pose::translation(0.3, 0.0, 0.0)), Cylinder::new(0.02)?)?;
    /// let (trunk, hand) = (Point3::new(0.0, 0.1, 0.0), Point3::new(0.2, 0.03, 0.0));
    /// let path = CablePath::new(Station::ground(trunk), Station::on(forearm, hand))?.over(elbow);
    /// let muscle = system.add(CableSpring::new(path, cable_spring::Parameters::default())?)?;
    ///
    /// // Shoulder and elbow turn about z; the elbow is bent by 0.5 rad.
    /// let mut state = system.default_state();
    /// let bent = Rotation3::from_axis_angle(&Vector3::z_axis(), 0.5);
    /// state.set_pose(forearm, Pose::from_parts(Translation3::new(0.3, 0.0, 0.0), bent))?;
    /// let turn = |p_GB: Vector3<f64>, axis: Vector3<f64>| {
    ///     SpatialVelocity::new(Vector3::z(), Vector3::z().cross(&(p_GB - axis)))
    /// };
    /// let at_elbow = Vector3::new(0.3, 0.0, 0.0);
    /// let motion = |coordinate: usize, body: BodyIndex| match coordinate {
    ///     0 if body == upper_arm => turn(Vector3::zeros(), Vector3::zeros()),
    ///     0 if body == forearm => turn(at_elbow, Vector3::zeros()),
    ///     1 if body == forearm => turn(at_elbow, at_elbow),
    ///     _ => SpatialVelocity::zero(),
    /// };
    ///
    /// let view = system.realize_position(&mut state)?;
    /// let mut arms = [0.0; 2];
    /// view.of(muscle).position.path.moment_arms(view.positions(), motion, |_, _| 0.0, &mut arms);
    /// // A flexor of both joints, which does not touch the elbow at this angle.
    /// assert!(arms[0] > 0.0 && arms[1] > 0.02);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    pub fn moment_arms(
        &self,
        positions: &Positions<T>,
        motion: impl Fn(usize, BodyIndex) -> SpatialVelocity<T>,
        rate: impl Fn(usize, CoordinateIndex) -> T,
        arms: &mut [T],
    ) {
        for (coordinate, arm) in arms.iter_mut().enumerate() {
            *arm = self.moment_arm(
                positions,
                |body| motion(coordinate, body),
                |moving| rate(coordinate, moving),
            );
        }
    }

    /// Empties the lists.
    pub(crate) fn clear(&mut self) {
        self.contacts.clear();
        self.segments.clear();
        self.via_points.clear();
        self.coordinate_forces.clear();
    }

    /// Writes into `wraps` the memory for an accepted step. Obstacles that are not active have no memory. The memory has
    /// no derivatives.
    pub fn remember(&self, wraps: &mut Wraps<T>) {
        let Wraps { wraps: obstacles, further_wraps: further, past_bodies } = wraps;
        obstacles.clear();
        further.clear();
        past_bodies.clear();
        for of_one in self.contacts.chunk_by(|a, b| a.obstacle == b.obstacle) {
            let vacant = further.len() + of_one[0].most_contacts - 1;
            obstacles.push(of_one[0].wrap);
            further.extend(of_one[1..].iter().map(|contact| contact.wrap));
            further.resize(vacant, Wrap::default());
        }
        past_bodies
            .extend(self.acting.poses.iter().map(|X_GB| PastBody { known: true, X_GB: cast_pose(X_GB) }));
    }

    /// Points along the path in Ground, for drawing: the ends of straight segments, and between them points of
    /// the contact arcs at most `spacing` \[m\] apart, at most a hundred thousand of each.
    pub fn sample(&self, path: &CablePath<T>, spacing: T) -> Vec<Point3<T>> {
        let mut points = Vec::new();
        for segment in &self.segments {
            if points.last() != Some(&segment.from_G) {
                points.push(segment.from_G);
            }
            points.push(segment.to_G);
            let Some(contact) = segment.to_contact.and_then(|i| self.contacts.get(i)) else { continue };
            let Some(obstacle) = path.obstacles().get(contact.obstacle) else { continue };
            let pieces = ceil(contact.geodesic.length / spacing).to_f64().clamp(1.0, 1e5);
            let walk = contact.walk_G(obstacle.surface(), pieces, T::lit(1e-9));
            // The ends are those of the segments.
            let between = walk.skip(1).filter(|(part, _)| *part < T::one());
            points.extend(between.map(|(_, point)| point));
        }
        points
    }
}

impl<T: Real> Node<T> {
    /// The contact of this node with its obstacle.
    #[inline]
    pub(crate) fn contact(&self, obstacle: &Obstacle<T>) -> ObstacleContact<T> {
        ObstacleContact {
            obstacle: self.obstacle,
            most_contacts: obstacle.most_contacts,
            ignored: self.ignored,
            in_contact: self.in_contact,
            geodesic: self.ground,
            X_GS: self.X_GS,
            scale: self.scale,
            wrap: self.wrap(),
        }
    }
}
