//! Derivatives of the forces of a path, which are the second derivatives of its length.
//!
//! By the implicit function theorem: the path stays without kinks as its parts move. Of the four corrections of a contact
//! only two have an effect on the forces. Where the cable is smooth, a contact that moves along the cable leaves the line
//! of force where it was; and the conditions along the normal, which determine these corrections, do not involve the
//! others. With the shift `s` of a contact's start to the side and its turn `θ`, the Jacobi scalars of the geodesic give
//! shift and turn of its end, and the conditions that remain form a chain, which is eliminated once:
//!
//! ```text
//! s/l  − θ  − c·u'/l   = ω·n − b·d           at the start, after a segment of length l from a contact whose end shifts by u'
//! u/l″ + θ″ − c″·s″/l″ = b″·d″ − ω·n″        at the end, before a segment of length l″ to a contact whose start shifts by s″
//! ```
//!
//! `n` and `b` are normal and binormal, `c` is the product of the two binormals at a segment, `ω` the turn of the
//! surface, and `d` the turn of the segment as its ends move with their bodies.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Matrix3x6, Matrix6, Point3, Rotation3, RowVector6, Vector3};

use super::geodesic::{GeodesicEnd, Jacobi};
use super::places::PlacedPath;
use super::results::{ObstacleContact, PathResults};
use super::settings::Settings;
use crate::math::{Real, SpatialForce};
use crate::mechanics::{BodyIndex, CoordinateIndex, Positions};

/// What moves, in up to six directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathMotion {
    /// A body: turns about its origin, then shifts, along the axes of Ground.
    Body(BodyIndex),
    /// A coordinate with which via points move: the first direction.
    Coordinate(CoordinateIndex),
    /// The origin on its body: the first three directions are the axes of the body.
    Origin,
    /// The termination on its body: as the origin.
    Termination,
    /// A via point on its body: as the origin.
    ViaPoint(usize),
    /// The surface of an obstacle on its body: turns about the origin of its frame, then shifts, along the axes of the
    /// body.
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
    p_GB: Vector3<T>,
    R_GB: Rotation3<T>,
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

/// Derivatives of the [unit forces](PathResults::unit_forces) of a solved path: memory that is reused.
///
/// The length `L` of a path has the derivative `−u` along twists of the bodies, with the unit force `u`, torque and force
/// at the body's origin. The derivative of `u` is therefore minus the second derivative of `L`. In the chart of twists it is
/// not symmetric: the block of a body and itself differs from its transpose by `−[m]×` in the torques by turns, with the
/// torque `m` of `u`. All else is symmetric, for all bodies and coordinates together.
///
/// What follows from a motion is found by the implicit function theorem, with one more geodesic for each contact. It is
/// exact to the [smoothness](PathResults::smoothness) of the path.
#[derive(Debug)]
pub struct PathDerivatives<T: Real> {
    forces: Vec<UnitForce<T>>,
    coordinate_forces: Vec<UnitCoordinateForce<T>>,
    stops: Vec<Stop<T>>,
    /// The segments between neighbouring stops.
    legs: Vec<Leg<T>>,
    is_held: bool,
}

/// An end, a via point or a contact.
#[derive(Debug)]
struct Stop<T: Real> {
    part: PathMotion,
    /// The place of its body among the forces.
    body: usize,
    /// Start and end of a contact; a point twice.
    sides: [Side<T>; 2],
    /// The origin of the surface's frame, its scale, and the length of the arc.
    center: Point3<T>,
    scale: T,
    arc: T,
    /// Of a moving point.
    slope: Option<Slope<T>>,
    /// The shifts of start and end to the side, by the right-hand sides at start and end and by the shift of the next start.
    solution: [[T; 3]; 2],
    /// The effect of the shift of the end before on the first right-hand side.
    coupling: T,
    /// Those of a motion: shifts of start and end with the body or surface, its turn, and the shifts to the side.
    shifts: [Matrix3x6<T>; 2],
    turn: Matrix3x6<T>,
    slips: [RowVector6<T>; 2],
}

#[derive(Debug, Clone, Copy)]
struct Side<T: Real> {
    p: Point3<T>,
    /// From the body's origin.
    r: Vector3<T>,
    /// Zero at a point.
    normal: Vector3<T>,
    binormal: Vector3<T>,
}

#[derive(Debug)]
struct Slope<T: Real> {
    /// The place of the coordinate among the forces.
    coordinate: usize,
    first: Vector3<T>,
    second: Vector3<T>,
}

/// A straight segment; all zero if it has no length.
#[derive(Debug)]
struct Leg<T: Real> {
    direction: Vector3<T>,
    inverse_length: T,
    /// The change of the direction along a motion.
    change: Matrix3x6<T>,
}

impl<T: Real> Default for PathDerivatives<T> {
    fn default() -> Self {
        Self {
            forces: Vec::new(),
            coordinate_forces: Vec::new(),
            stops: Vec::new(),
            legs: Vec::new(),
            is_held: false,
        }
    }
}

impl<T: Real> PathDerivatives<T> {
    /// Takes over a path solved at these places and positions; returns whether its derivatives are known.
    ///
    /// They are not where the cable ends on a surface that does not move with the end, nor those of another path.
    ///
    /// # Panics
    /// If `positions` lack a body or coordinate, like slice indexing; those of the solution do not.
    pub fn find(
        &mut self,
        placed: &PlacedPath<'_, T>,
        positions: &Positions<T>,
        results: &PathResults<T>,
    ) -> bool {
        let PlacedPath { path, .. } = *placed;
        let most = path.via_points.len() + path.places_for_contacts() + 2;
        self.forces.clear();
        self.forces.reserve(most);
        self.coordinate_forces.clear();
        self.coordinate_forces.reserve(path.via_points.len());
        self.stops.clear();
        self.stops.reserve(most);
        self.legs.clear();
        self.legs.reserve(most);
        self.is_held = false;

        let Some(first) = results.segments.first() else { return false };
        if results.via_points.len() != path.via_points.len() {
            return false;
        }
        self.add_point(PathMotion::Origin, first.from_body, &first.from_G, positions);
        let mut acting = (0..path.via_points.len()).filter(|&i| results.via_points[i].is_some());
        for segment in &results.segments {
            let is_held = segment.length <= T::zero();
            let zero = T::zero();
            self.legs.push(Leg {
                direction: if is_held { Vector3::zeros() } else { segment.direction_G },
                inverse_length: if is_held { zero } else { segment.length.recip() },
                change: Matrix3x6::zeros(),
            });
            if is_held {
                let moves = self.stops.last().is_some_and(|stop| stop.slope.is_some());
                if moves || segment.from_body != segment.to_body {
                    return false;
                }
                self.is_held = true;
            }
            if let Some(i) = segment.to_contact {
                let Some(contact) = results.contacts.get(i) else { return false };
                let Some(obstacle) = path.obstacles.get(contact.obstacle) else { return false };
                self.add_contact(obstacle.frame().body, contact, positions);
                continue;
            }
            let part = acting.next().map_or(PathMotion::Termination, PathMotion::ViaPoint);
            self.add_point(part, segment.to_body, &segment.to_G, positions);
            if let PathMotion::ViaPoint(i) = part {
                self.add_slope(&path.via_points[i].0, positions);
            }
            if is_held && self.stops.last().is_some_and(|stop| stop.slope.is_some()) {
                return false;
            }
        }
        self.eliminate(placed, results);
        self.add_forces();
        true
    }

    /// Whether a contact begins or ends at a fixed point. Then the derivatives by places are not known: the point leaves
    /// the surface.
    pub fn is_held(&self) -> bool {
        self.is_held
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

    /// Finds the changes of all forces along a motion, and returns those of the length. `None` if nothing of the path moves.
    pub fn along(&mut self, motion: PathMotion) -> Option<RowVector6<T>> {
        let mut moves = false;
        for stop in &mut self.stops {
            moves |= stop.follow(motion, &self.forces[stop.body], &self.coordinate_forces);
        }
        if !moves {
            return None;
        }
        let mut lengths = RowVector6::zeros();
        for (leg, ends) in self.legs.iter_mut().zip(self.stops.windows(2)) {
            let apart = ends[1].shifts[0] - ends[0].shifts[1];
            let along = leg.direction.transpose() * apart;
            leg.change = (apart - leg.direction * along) * leg.inverse_length;
            lengths += along;
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

    /// The place among the forces of a body, which is added if it is new.
    fn body(&mut self, body: BodyIndex, positions: &Positions<T>) -> usize {
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
        let r = p.coords - self.forces[body].p_GB;
        let zero = Vector3::zeros();
        self.stops.push(Stop::new(part, body, [Side { p: *p, r, normal: zero, binormal: zero }; 2]));
    }

    fn add_slope(&mut self, via: &super::ViaPoint<T>, positions: &Positions<T>) {
        let (Some((index, curve)), Some(stop)) = (via.curve(), self.stops.last_mut()) else { return };
        let known = self.coordinate_forces.iter().position(|force| force.coordinate == index);
        let coordinate = known.unwrap_or_else(|| {
            let (force, change) = (T::zero(), RowVector6::zeros());
            self.coordinate_forces.push(UnitCoordinateForce { coordinate: index, force, change });
            self.coordinate_forces.len() - 1
        });
        let q = positions.coordinate(index);
        let R_GB = &self.forces[stop.body].R_GB;
        let (first, second) = (R_GB * curve.at(q).1, R_GB * curve.second_derivative(q));
        stop.slope = Some(Slope { coordinate, first, second });
    }

    fn add_contact(&mut self, body: BodyIndex, contact: &ObstacleContact<T>, positions: &Positions<T>) {
        let body = self.body(body, positions);
        let p_GB = self.forces[body].p_GB;
        let side = |end: &GeodesicEnd<T>| Side {
            p: end.point,
            r: end.point.coords - p_GB,
            normal: end.normal,
            binormal: end.binormal(),
        };
        let sides = [side(&contact.geodesic.start), side(&contact.geodesic.end)];
        self.stops.push(Stop {
            center: contact.X_GS.translation.vector.into(),
            scale: contact.scale,
            arc: contact.geodesic.length,
            ..Stop::new(PathMotion::Obstacle(contact.obstacle), body, sides)
        });
    }

    /// Eliminates the chain of conditions, stop by stop.
    fn eliminate(&mut self, placed: &PlacedPath<'_, T>, results: &PathResults<T>) {
        let mut contacts = results.segments.iter().filter_map(|segment| segment.to_contact);
        for i in 1..self.stops.len() {
            let binormals = [self.stops[i - 1].sides[1], self.stops[i].sides[0]].map(|side| side.binormal);
            self.stops[i].coupling = binormals[0].dot(&binormals[1]) * self.legs[i - 1].inverse_length;
        }
        for i in 1..self.stops.len() - 1 {
            if !matches!(self.stops[i].part, PathMotion::Obstacle(_)) {
                continue;
            }
            let Some(contact) = contacts.next().map(|contact| &results.contacts[contact]) else { return };
            let obstacle = &placed.path.obstacles[contact.obstacle];
            let before = [self.stops[i - 1].solution[1][2], self.stops[i].coupling];
            let inverse_lengths = [&self.legs[i - 1], &self.legs[i]].map(|leg| leg.inverse_length);
            let after = self.stops[i + 1].coupling;
            self.stops[i].solution =
                solution(&contact.jacobi(obstacle.surface()), inverse_lengths, before, after);
        }
    }

    /// Sums up the unit forces.
    fn add_forces(&mut self) {
        for (i, stop) in self.stops.iter().enumerate() {
            let [arriving, leaving] = directions(&self.legs, i);
            let [start, end] = &stop.sides;
            let force = &mut self.forces[stop.body].force;
            force.torque += end.r.cross(&leaving) - start.r.cross(&arriving);
            force.force += leaving - arriving;
            if let Some(slope) = &stop.slope {
                self.coordinate_forces[slope.coordinate].force += slope.first.dot(&(leaving - arriving));
            }
        }
    }

    /// Finds by how much contacts move to the side; adds what follows for the directions of the segments.
    fn slip(&mut self) {
        let Self { stops, legs, .. } = self;
        let mut before = RowVector6::zeros();
        for (i, stop) in stops.iter_mut().enumerate() {
            stop.slips = [RowVector6::zeros(); 2];
            if let (PathMotion::Obstacle(_), Some(arriving), Some(leaving)) =
                (stop.part, i.checked_sub(1).map(|i| &legs[i]), legs.get(i))
            {
                let [start, end] = &stop.sides;
                let at_start = start.normal.transpose() * stop.turn
                    - start.binormal.transpose() * arriving.change
                    + before * stop.coupling;
                let at_end = end.binormal.transpose() * leaving.change - end.normal.transpose() * stop.turn;
                stop.slips = stop.solution.map(|by| at_start * by[0] + at_end * by[1]);
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
        for (leg, ends) in legs.iter_mut().zip(stops.windows(2)) {
            let apart =
                ends[1].sides[0].binormal * ends[1].slips[0] - ends[0].sides[1].binormal * ends[0].slips[1];
            leg.change += apart * leg.inverse_length;
        }
    }

    /// Sums up the changes of the unit forces.
    fn change_forces(&mut self, motion: PathMotion) {
        let Self { forces, coordinate_forces, stops, legs, .. } = self;
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
            let legs = [i.checked_sub(1).map(|i| &legs[i]), legs.get(i)];
            let change = &mut forces[stop.body].change;
            for (k, sign) in [-T::one(), T::one()].into_iter().enumerate() {
                let Some(leg) = legs[k] else { continue };
                let Side { r, normal, .. } = &stop.sides[k];
                let pull = leg.change * sign;
                // A shift by s along the binormal turns the force by s·b × e = −s·n about the origin.
                let torque = r.cross_matrix() * pull
                    - ((directions[k] * sign).cross_matrix() * stop.shifts[k]
                        + normal * (stop.slips[k] * sign));
                let mut torques = change.fixed_view_mut::<3, 6>(0, 0);
                torques += torque;
                let mut pulls = change.fixed_view_mut::<3, 6>(3, 0);
                pulls += pull;
            }
            let Some(slope) = &stop.slope else { continue };
            let force = &mut coordinate_forces[slope.coordinate];
            let pull = directions[1] - directions[0];
            for (k, sign) in [-T::one(), T::one()].into_iter().enumerate() {
                let Some(leg) = legs[k] else { continue };
                force.change += slope.first.transpose() * leg.change * sign;
            }
            force.change += slope.first.cross(&pull).transpose() * stop.turn;
            if motion == PathMotion::Coordinate(force.coordinate) {
                force.change[0] += pull.dot(&slope.second);
            }
        }
    }
}

impl<T: Real> Stop<T> {
    fn new(part: PathMotion, body: usize, sides: [Side<T>; 2]) -> Self {
        let zero = T::zero();
        Self {
            part,
            body,
            sides,
            center: Point3::origin(),
            scale: T::one(),
            arc: zero,
            slope: None,
            solution: [[zero; 3]; 2],
            coupling: zero,
            shifts: [Matrix3x6::zeros(); 2],
            turn: Matrix3x6::zeros(),
            slips: [RowVector6::zeros(); 2],
        }
    }

    fn is_scaled_by(&self, motion: PathMotion) -> bool {
        matches!((self.part, motion), (PathMotion::Obstacle(i), PathMotion::Scale(k)) if i == k)
    }

    /// Moves with its body, surface or coordinate, while contacts keep their places on the surface; returns whether it does
    /// move.
    fn follow(
        &mut self,
        motion: PathMotion,
        body: &UnitForce<T>,
        coordinates: &[UnitCoordinateForce<T>],
    ) -> bool {
        let twist = |axes: &Matrix3<T>, r: &Vector3<T>| {
            let mut shift = Matrix3x6::zeros();
            shift.fixed_columns_mut::<3>(0).copy_from(&(-r.cross_matrix() * axes));
            shift.fixed_columns_mut::<3>(3).copy_from(axes);
            shift
        };
        let first = |axes: &Matrix3<T>| {
            let mut shift = Matrix3x6::zeros();
            shift.fixed_columns_mut::<3>(0).copy_from(axes);
            shift
        };
        let alone = |shift: &Vector3<T>| {
            let mut shifts = Matrix3x6::zeros();
            shifts.set_column(0, shift);
            shifts
        };
        let axes = body.R_GB.matrix();
        self.turn.fill(T::zero());
        match motion {
            PathMotion::Body(index) if index == body.body => {
                self.turn = first(&Matrix3::identity());
                self.shifts = self.sides.map(|side| twist(&Matrix3::identity(), &side.r));
            }
            PathMotion::Obstacle(_) if self.part == motion => {
                self.turn = first(axes);
                self.shifts = self.sides.map(|side| twist(axes, &(side.p - self.center)));
            }
            PathMotion::Scale(_) if self.is_scaled_by(motion) => {
                self.shifts = self.sides.map(|side| alone(&((side.p - self.center) / self.scale)));
            }
            PathMotion::Origin | PathMotion::Termination | PathMotion::ViaPoint(_) if self.part == motion => {
                self.shifts = [first(axes); 2];
            }
            PathMotion::Coordinate(index) => match &self.slope {
                Some(slope) if coordinates[slope.coordinate].coordinate == index => {
                    self.shifts = [alone(&slope.first); 2];
                }
                _ => return self.stay(),
            },
            _ => return self.stay(),
        }
        true
    }

    fn stay(&mut self) -> bool {
        self.shifts = [Matrix3x6::zeros(); 2];
        false
    }
}

/// The directions of the segments before and after a stop; zero where there is none.
fn directions<T: Real>(legs: &[Leg<T>], stop: usize) -> [Vector3<T>; 2] {
    [stop.checked_sub(1), Some(stop)]
        .map(|leg| leg.and_then(|leg| legs.get(leg)).map_or_else(Vector3::zeros, |leg| leg.direction))
}

/// The shifts of a contact's start and end to the side, by both right-hand sides and by the shift of the next start.
///
/// `inverse_lengths` are those of the segments before and after, zero of one without length, whose point holds the contact.
/// `before` has the shift of the end before by that of the start, and its effect; `after` is the effect of the next start.
fn solution<T: Real>(jacobi: &Jacobi<T>, inverse_lengths: [T; 2], before: [T; 2], after: T) -> [[T; 3]; 2] {
    let Jacobi { shift, shift_rate, turn, turn_rate } = *jacobi;
    let [inverse_before, inverse_after] = inverse_lengths;
    let zero = T::zero();
    // Per unit turn of the start, and per unit shift: what stands on the left at the end.
    let by_turn = turn * inverse_after + turn_rate;
    let by_shift = shift * inverse_after + shift_rate;
    // The turn of the start is that which its shift demands, less the right-hand side.
    let mut demand = inverse_before - before[0] * before[1];
    match inverse_lengths.map(|inverse| inverse == zero) {
        [false, false] => {
            // As in the solver, where all paths in some direction are equal.
            let stiffness = inverse_before + inverse_after;
            let across = demand + by_shift / by_turn;
            if across.abs() <= Settings::<T>::default().smoothness * stiffness {
                demand += T::lit(0.05) * stiffness;
            }
            let pivot = T::one() / (by_shift + by_turn * demand);
            let end = shift + turn * demand;
            [
                [by_turn * pivot, pivot, after * pivot],
                [(shift * turn_rate - turn * shift_rate) * pivot, end * pivot, end * after * pivot],
            ]
        }
        [true, false] => [[zero; 3], [zero, turn / by_turn, turn * after / by_turn]],
        [false, true] => [[turn / (shift + turn * demand), zero, zero], [zero; 3]],
        [true, true] => [[zero; 3]; 2],
    }
}

impl<T: Real> ObstacleContact<T> {
    /// The Jacobi scalars of the contact arc, to roundoff. The solver has used those of a place nearby.
    fn jacobi(&self, surface: &dyn super::Wrappable<T>) -> Jacobi<T> {
        let start = self.geodesic.start.transformed(&self.X_GS.inverse());
        let (p, length) = (start.point / self.scale, self.geodesic.length / self.scale);
        let Jacobi { shift, shift_rate, turn, turn_rate } =
            surface.geodesic(&p, &start.tangent, length, T::zero()).jacobi;
        Jacobi { shift, shift_rate: shift_rate / self.scale, turn: turn * self.scale, turn_rate }
    }
}
