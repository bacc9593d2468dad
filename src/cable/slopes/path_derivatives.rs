//! Derivatives of the forces of a path, which are the second derivatives of its length.
//!
//! They follow from the implicit function theorem: the path remains smooth as its parts move. Of the four corrections of
//! a contact only two affect the forces. Where the cable is smooth, a contact that moves along the cable does not change
//! the line of force, and the conditions along the normal, which determine these corrections, do not involve the others.
//! With the sideways shift `s` of a contact's start and its turn `θ`, the Jacobi scalars of the geodesic give the shift
//! and turn of its end. The remaining conditions form a chain, which is eliminated once:
//!
//! ```text
//! s/l  − θ  − c·u'/l   = ω·n − b·d           at the start, after a segment of length l from a contact whose end shifts by u'
//! u/l″ + θ″ − c″·s″/l″ = b″·d″ − ω·n″        at the end, before a segment of length l″ to a contact whose start shifts by s″
//! ```
//!
//! `n` and `b` are normal and binormal, `c` is the product of the two binormals at a segment, `ω` the rotation of the
//! surface, and `d` the turn of the segment as its ends move with their bodies.

use alloc::vec::Vec;

use nalgebra::{Matrix3x6, Matrix6, Point3, Rotation3, RowVector6, Vector3};

use crate::cable::slopes::stop::{Stop, directions, solution};
use crate::cable::solve::linear_system::Chord;
use crate::cable::{CablePath, Geodesic, GeodesicEnd, ObstacleContact, PathResults, empty};
use crate::math::{Real, SpatialForce, default_by_field};
use crate::mechanics::{BodyIndex, CoordinateIndex, Positions, Velocities};

/// A motion of a part of the path, in up to six directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathMotion {
    /// A body: rotations about its origin, then translations, along the axes of Ground.
    Body(BodyIndex),
    /// A coordinate with which via points move: the first direction.
    Coordinate(CoordinateIndex),
    /// The origin on its body: the first three directions are the axes of the body.
    Origin,
    /// The termination on its body: like the origin.
    Termination,
    /// A via point on its body: like the origin.
    ViaPoint(usize),
    /// The surface of an obstacle on its body: rotations about the origin of its frame, then translations, along the
    /// axes of the body.
    Obstacle(usize),
    /// The scale of an obstacle: the first direction.
    Scale(usize),
}

/// The force of a cable of tension 1 N on a body, and its derivatives.
#[derive(Debug, Clone)]
pub struct UnitForce<T: Real> {
    /// The body.
    pub body: BodyIndex,
    /// The force at the body's origin, in Ground.
    pub force: SpatialForce<T>,
    /// The derivatives of torque and force in the directions of the last motion.
    pub change: Matrix6<T>,
    pub(crate) p_GB: Vector3<T>,
    pub(crate) R_GB: Rotation3<T>,
}

impl<T: Real> UnitForce<T> {
    /// A point, from the body's origin.
    pub(crate) fn lever(&self, p_G: &Point3<T>) -> Vector3<T> {
        p_G.coords - self.p_GB
    }
}

/// The generalized force of a cable of tension 1 N on a coordinate with which via points move, and its derivatives.
#[derive(Debug, Clone)]
pub struct UnitCoordinateForce<T: Real> {
    /// The coordinate.
    pub coordinate: CoordinateIndex,
    /// The force.
    pub force: T,
    /// Its derivatives in the directions of the last motion.
    pub change: RowVector6<T>,
}

/// Derivatives of the [unit forces](PathResults::unit_forces) of a solved path, in memory that is reused.
///
/// The length `L` of a path has the derivative `−u` along twists of the bodies, with the unit force `u`, torque and
/// force at the body's origin. The derivative of `u` is therefore minus the second derivative of `L`. In terms of
/// twists it is not symmetric: the block of a body with itself differs from its transpose by `−[m]×` in the torques by
/// rotations, with the torque `m` of `u`. All other blocks are symmetric, for all bodies and coordinates together.
///
/// The effects of a motion follow from the implicit function theorem, with one more geodesic for each contact. They are
/// exact to the [smoothness](PathResults::smoothness) of the path.
#[derive(Debug)]
pub struct PathDerivatives<T: Real> {
    forces: Vec<UnitForce<T>>,
    coordinate_forces: Vec<UnitCoordinateForce<T>>,
    pub(crate) stops: Vec<Stop<T>>,
    /// The segments between neighbouring stops.
    pub(crate) legs: Vec<Chord<T>>,
    /// The changes of their directions along the last motion.
    pub(crate) changes: Vec<Matrix3x6<T>>,
    /// The last motion, `None` if it does not move the path.
    pub(crate) motion: Option<PathMotion>,
}

default_by_field!(PathDerivatives { forces, coordinate_forces, stops, legs, changes, motion });

impl<T: Real> PathDerivatives<T> {
    /// Prepares a path solved at these positions; returns whether its derivatives are known.
    ///
    /// If the cable begins or ends on a surface, the derivatives are those of a cable that continues to do so: a point
    /// that leaves the surface takes the cable off with an unbounded slope, unless surface and point are on one body.
    ///
    /// # Panics
    /// If `positions` lack a body or coordinate, like slice indexing; those of the solution do not.
    pub fn find(&mut self, path: &CablePath<T>, positions: &Positions<T>, results: &PathResults<T>) -> bool {
        let most = path.via_points.len() + path.places_for_contacts() + 2;
        empty(&mut self.forces, most);
        empty(&mut self.coordinate_forces, path.via_points.len());
        empty(&mut self.stops, most);
        empty(&mut self.legs, most);
        empty(&mut self.changes, most);

        let Some(first) = results.segments.first() else { return false };
        if results.via_points.len() != path.via_points.len() {
            return false;
        }
        self.add_point(PathMotion::Origin, first.from_body, &first.from_G, positions);
        let mut acting = (0..path.via_points.len()).filter(|&i| results.via_points[i].is_some());
        for segment in &results.segments {
            // A contact that begins or ends at a point is held there.
            let is_held = segment.length <= T::zero();
            self.legs.push(Chord {
                direction: segment.direction_G,
                inverse_length: if is_held { T::zero() } else { segment.length.recip() },
            });
            self.changes.push(Matrix3x6::zeros());
            if let Some(i) = segment.to_contact {
                let Some(contact) = results.contacts.get(i) else { return false };
                let Some(obstacle) = path.obstacles.get(contact.obstacle) else { return false };
                self.add_contact(obstacle.frame().body, contact, positions);
                if is_held {
                    self.hold(0, &segment.to_G);
                }
                continue;
            }
            if is_held {
                self.hold(1, &segment.from_G);
            }
            let part = acting.next().map_or(PathMotion::Termination, PathMotion::ViaPoint);
            self.add_point(part, segment.to_body, &segment.to_G, positions);
            if let PathMotion::ViaPoint(i) = part {
                self.add_slope(&path.via_points[i].0, positions);
            }
        }
        self.eliminate(path, results);
        self.add_forces();
        true
    }

    /// The forces on all bodies of the path, each once, and their changes along the [last motion](Self::along).
    pub fn forces(&self) -> &[UnitForce<T>] {
        &self.forces
    }

    /// The forces on all coordinates with which via points move, each once, and their changes along the
    /// [last motion](Self::along).
    pub fn coordinate_forces(&self) -> &[UnitCoordinateForce<T>] {
        &self.coordinate_forces
    }

    /// Finds the changes of all forces along a motion, and returns the changes of the length. `None` if no part of the
    /// path moves.
    pub fn along(&mut self, motion: PathMotion) -> Option<RowVector6<T>> {
        let mut moves = false;
        for stop in &mut self.stops {
            moves |= stop.follow(motion, &self.forces[stop.body], &self.coordinate_forces);
        }
        self.motion = moves.then_some(motion);
        self.motion?;
        let mut lengths = RowVector6::zeros();
        for ((leg, change), ends) in self.legs.iter().zip(&mut self.changes).zip(self.stops.windows(2)) {
            let apart = ends[1].shifts[0] - ends[0].shifts[1];
            let along = leg.direction.transpose() * apart;
            *change = (apart - leg.direction * along) * leg.inverse_length;
            lengths += along;
        }
        for i in 1..self.stops.len() - 1 {
            let shifts = [self.stops[i - 1].shifts[1], self.stops[i + 1].shifts[0]];
            let stop = &mut self.stops[i];
            for (held, (point, surface)) in stop.held.iter_mut().zip(shifts.iter().zip(&stop.shifts)) {
                if let Some(held) = held {
                    *held = point - surface;
                }
            }
        }
        if let PathMotion::Scale(_) = motion {
            for stop in self.stops.iter().filter(|stop| stop.is_scaled_by(motion)) {
                lengths[0] += stop.arc / stop.scale;
            }
        }
        self.slip();
        self.change_forces(motion);
        Some(lengths)
    }

    /// The changes of the length's rate along the last motion, at these velocities.
    pub fn rates(&self, velocities: &Velocities<T>) -> RowVector6<T> {
        // The rate of length is minus the power of the unit forces.
        let mut rates = RowVector6::zeros();
        for on in self.forces.iter().filter(|on| on.body != BodyIndex::GROUND) {
            let V = velocities.velocity(on.body);
            rates -= V.angular.transpose() * on.change.fixed_rows::<3>(0)
                + V.linear.transpose() * on.change.fixed_rows::<3>(3);
        }
        for on in &self.coordinate_forces {
            rates -= on.change * velocities.coordinate_rate(on.coordinate);
        }
        rates
    }

    /// The place of a body among the forces; a new body is added.
    pub(crate) fn body(&mut self, body: BodyIndex, positions: &Positions<T>) -> usize {
        if let Some(place) = self.forces.iter().position(|force| force.body == body) {
            return place;
        }
        let X_GB = positions.pose(body);
        self.forces.push(UnitForce {
            body,
            force: SpatialForce::zero(),
            change: Matrix6::zeros(),
            p_GB: X_GB.translation.vector,
            R_GB: X_GB.rotation,
        });
        self.forces.len() - 1
    }

    fn add_point(&mut self, part: PathMotion, body: BodyIndex, p: &Point3<T>, positions: &Positions<T>) {
        let body = self.body(body, positions);
        self.stops.push(Stop::new(part, body, [GeodesicEnd { point: *p, ..GeodesicEnd::blank() }; 2]));
    }

    fn add_slope(&mut self, via: &crate::cable::ViaPoint<T>, positions: &Positions<T>) {
        let (Some((index, curve)), Some(stop)) = (via.curve(), self.stops.last_mut()) else { return };
        let known = self.coordinate_forces.iter().position(|force| force.coordinate == index);
        let coordinate = known.unwrap_or_else(|| {
            let (force, change) = (T::zero(), RowVector6::zeros());
            self.coordinate_forces.push(UnitCoordinateForce { coordinate: index, force, change });
            self.coordinate_forces.len() - 1
        });
        let q = positions.coordinate(index);
        let R_GB = &self.forces[stop.body].R_GB;
        stop.slope = Some((coordinate, [R_GB * curve.at(q).1, R_GB * curve.second_derivative(q)]));
    }

    fn add_contact(&mut self, body: BodyIndex, contact: &ObstacleContact<T>, positions: &Positions<T>) {
        let body = self.body(body, positions);
        let sides = [contact.geodesic.start, contact.geodesic.end];
        self.stops.push(Stop {
            center: contact.X_GS.translation.vector.into(),
            scale: contact.scale,
            arc: contact.geodesic.length,
            ..Stop::new(PathMotion::Obstacle(contact.obstacle), body, sides)
        });
    }

    /// Applies the force of the start or the end of the last contact where it is held.
    fn hold(&mut self, side: usize, p: &Point3<T>) {
        let Some(stop) = self.stops.last_mut() else { return };
        stop.sides[side].point = *p;
        stop.held[side] = Some(Matrix3x6::zeros());
    }

    /// Eliminates the chain of conditions, stop by stop.
    fn eliminate(&mut self, path: &CablePath<T>, results: &PathResults<T>) {
        let mut contacts = results.segments.iter().filter_map(|segment| segment.to_contact);
        for i in 1..self.stops.len() {
            let binormals = [self.stops[i - 1].sides[1], self.stops[i].sides[0]].map(|side| side.binormal());
            self.stops[i].coupling = binormals[0].dot(&binormals[1]) * self.legs[i - 1].inverse_length;
        }
        for i in 1..self.stops.len() - 1 {
            if !matches!(self.stops[i].part, PathMotion::Obstacle(_)) {
                continue;
            }
            let Some(contact) = contacts.next().map(|contact| &results.contacts[contact]) else { return };
            let obstacle = &path.obstacles[contact.obstacle];
            let before = [self.stops[i - 1].solution[1][2], self.stops[i].coupling];
            let inverse_lengths = [&self.legs[i - 1], &self.legs[i]].map(|leg| leg.inverse_length);
            let after = self.stops[i + 1].coupling;
            let Geodesic { start, end, jacobi, .. } = contact.exact_geodesic(obstacle.surface());
            let stop = &mut self.stops[i];
            (stop.solution, stop.by_held) = solution(&jacobi, inverse_lengths, before, after);
            stop.jacobi = jacobi;
            for (side, end) in stop.sides.iter_mut().zip([start, end]) {
                (side.curvature, side.torsion) = (end.curvature, end.torsion);
            }
        }
    }

    /// Sums up the unit forces.
    fn add_forces(&mut self) {
        for (i, stop) in self.stops.iter().enumerate() {
            let [arriving, leaving] = directions(&self.legs, i);
            let on = &mut self.forces[stop.body];
            let [start, end] = stop.sides.map(|side| on.lever(&side.point));
            on.force.torque += end.cross(&leaving) - start.cross(&arriving);
            on.force.force += leaving - arriving;
            if let Some((coordinate, [slope, _])) = &stop.slope {
                self.coordinate_forces[*coordinate].force += slope.dot(&(leaving - arriving));
            }
        }
    }

    /// Finds the sideways motion of contacts, and adds its effect on the directions of the segments.
    fn slip(&mut self) {
        let Self { stops, legs, changes, .. } = self;
        let mut before = RowVector6::zeros();
        for (i, stop) in stops.iter_mut().enumerate() {
            stop.slips = [RowVector6::zeros(); 2];
            if let (PathMotion::Obstacle(_), Some(arriving), Some(leaving)) =
                (stop.part, i.checked_sub(1).map(|i| &changes[i]), changes.get(i))
            {
                let [start, end] = &stop.sides;
                let at_start = start.normal.transpose() * stop.turn - start.binormal().transpose() * arriving
                    + before * stop.coupling;
                let at_end = end.binormal().transpose() * leaving - end.normal.transpose() * stop.turn;
                let held = [0, 1].map(|k| {
                    stop.held[k]
                        .map_or_else(RowVector6::zeros, |shift| stop.sides[k].binormal().transpose() * shift)
                });
                let [by_start, by_end] = stop.solution.map(|by| at_start * by[0] + at_end * by[1]);
                stop.slips = [
                    by_start + held[0] + held[1] * stop.by_held[1],
                    by_end + held[1] + held[0] * stop.by_held[0],
                ];
            }
            before = stop.slips[1];
        }
        let mut after = RowVector6::zeros();
        for stop in stops.iter_mut().rev() {
            for (slip, by) in stop.slips.iter_mut().zip(&stop.solution) {
                *slip += after * by[2];
            }
            after = stop.slips[0];
        }
        for ((leg, change), ends) in legs.iter().zip(changes.iter_mut()).zip(stops.windows(2)) {
            let apart = ends[1].sides[0].binormal() * ends[1].slips[0]
                - ends[0].sides[1].binormal() * ends[0].slips[1];
            *change += apart * leg.inverse_length;
        }
        for i in 1..stops.len() - 1 {
            let stop = &stops[i];
            if stop.held != [None; 2] {
                let held = stop.changes_of_held([&changes[i - 1], &changes[i]]);
                changes[i - 1..=i].copy_from_slice(&held);
            }
        }
    }

    /// Sums up the changes of the unit forces.
    fn change_forces(&mut self, motion: PathMotion) {
        let Self { forces, coordinate_forces, stops, legs, changes, .. } = self;
        for force in forces.iter_mut() {
            force.change.fill(T::zero());
            if motion == PathMotion::Body(force.body) {
                // The torque is about the origin, which moves too.
                force.change.fixed_view_mut::<3, 3>(0, 3).copy_from(&force.force.force.cross_matrix());
            }
        }
        for coordinate in coordinate_forces.iter_mut() {
            coordinate.change.fill(T::zero());
        }
        for (i, stop) in stops.iter().enumerate() {
            let directions = directions(legs, i);
            let changes = [i.checked_sub(1).map(|i| &changes[i]), changes.get(i)];
            let on = &mut forces[stop.body];
            for (k, sign) in [-T::one(), T::one()].into_iter().enumerate() {
                let Some(change) = changes[k] else { continue };
                let GeodesicEnd { point, normal, .. } = &stop.sides[k];
                let pull = change * sign;
                let across = (directions[k] * sign).cross_matrix();
                // A shift by s along the binormal rotates the force by s·b × e = −s·n about the origin.
                let turned = match &stop.held[k] {
                    Some(shift) => across * (stop.shifts[k] + shift),
                    None => across * stop.shifts[k] + normal * (stop.slips[k] * sign),
                };
                let torque = on.lever(point).cross_matrix() * pull - turned;
                let mut torques = on.change.fixed_view_mut::<3, 6>(0, 0);
                torques += torque;
                let mut pulls = on.change.fixed_view_mut::<3, 6>(3, 0);
                pulls += pull;
            }
            let Some((coordinate, [slope, bend])) = &stop.slope else { continue };
            let force = &mut coordinate_forces[*coordinate];
            let pull = directions[1] - directions[0];
            for (k, sign) in [-T::one(), T::one()].into_iter().enumerate() {
                let Some(change) = changes[k] else { continue };
                force.change += slope.transpose() * change * sign;
            }
            force.change += slope.cross(&pull).transpose() * stop.turn;
            if motion == PathMotion::Coordinate(force.coordinate) {
                force.change[0] += pull.dot(bend);
            }
        }
    }
}

impl<T: Real> ObstacleContact<T> {
    /// The contact arc with curvatures and Jacobi scalars to roundoff. The solver has used those of a nearby arc.
    fn exact_geodesic(&self, surface: &dyn crate::cable::Wrappable<T>) -> Geodesic<T> {
        let (p, tangent, length) = self.start_on_surface();
        surface.geodesic(&p, &tangent, length, T::zero(), usize::MAX).scaled(self.scale)
    }
}
