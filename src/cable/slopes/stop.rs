//! The ends, via points and contacts of a path as they follow a motion of the path: the changes of contacts in their
//! ends, their length, and the angle by which they turn the cable.
//!
//! With the shifts `a` along and `s` sideways of an end of a contact on its surface, and the normal curvature `κ` and
//! torsion `τ` there, the surface bends the cable by `κ a + τ s` about its binormal. Where the cable is smooth, the
//! segment turns about the binormal by the same angle. By the equation of Codazzi and Mainardi the normal curvature
//! changes by `j τ′ + 2 j′ τ` to the side of a geodesic, with the Jacobi field `j`. The turning of a contact therefore
//! changes by the bends at its ends plus `∫ τ j′ ds`.

use nalgebra::{Matrix3, Matrix3x6, Point3, RowVector6, Vector3};

use crate::cable::solve::linear_system::Chord;
use crate::cable::{
    CablePath, GeodesicEnd, Jacobi, PathDerivatives, PathMotion, PathResults, Settings, UnitCoordinateForce,
    UnitForce,
};
use crate::math::Real;

/// An end, a via point or a contact.
#[derive(Debug)]
pub(crate) struct Stop<T: Real> {
    pub(crate) part: PathMotion,
    /// The place of its body among the forces.
    pub(crate) body: usize,
    /// Start and end of a contact; a point twice, without axes and curvatures.
    pub(crate) sides: [GeodesicEnd<T>; 2],
    /// The origin of the surface's frame, its scale, and the length of the arc.
    pub(crate) center: Point3<T>,
    pub(crate) scale: T,
    pub(crate) arc: T,
    pub(crate) jacobi: Jacobi<T>,
    /// The integrals of torsion times the rates of the Jacobi scalars; see [`Wrappable::turning_by_start`](crate::cable::Wrappable).
    pub(crate) twist: [T; 2],
    /// For a moving point: the place of its coordinate among the forces, and its first two derivatives.
    pub(crate) slope: Option<(usize, [Vector3<T>; 2])>,
    /// The sideways shifts of start and end, by the right-hand sides at start and end and by the shift of the next
    /// start.
    pub(crate) solution: [[T; 3]; 2],
    /// The effect of the shift of the previous end on the first right-hand side.
    pub(crate) coupling: T,
    /// For a motion: shifts of start and end with the body or surface, its rotation, and the sideways shifts.
    pub(crate) shifts: [Matrix3x6<T>; 2],
    pub(crate) turn: Matrix3x6<T>,
    pub(crate) slips: [RowVector6<T>; 2],
    /// The shifts over the surface of the points at which start and end are held.
    pub(crate) held: [Option<Matrix3x6<T>>; 2],
    /// The sideways shift of the end per shift of a held start, and of the start per shift of a held end.
    pub(crate) by_held: [T; 2],
}

impl<T: Real> Stop<T> {
    pub(crate) fn new(part: PathMotion, body: usize, sides: [GeodesicEnd<T>; 2]) -> Self {
        let zero = T::zero();
        Self {
            part,
            body,
            sides,
            center: Point3::origin(),
            scale: T::one(),
            arc: zero,
            jacobi: Jacobi::at_start(),
            twist: [zero; 2],
            slope: None,
            solution: [[zero; 3]; 2],
            coupling: zero,
            shifts: [Matrix3x6::zeros(); 2],
            turn: Matrix3x6::zeros(),
            slips: [RowVector6::zeros(); 2],
            held: [None; 2],
            by_held: [zero; 2],
        }
    }

    pub(crate) fn is_scaled_by(&self, motion: PathMotion) -> bool {
        matches!((self.part, motion), (PathMotion::Obstacle(i), PathMotion::Scale(k)) if i == k)
    }

    /// Moves the stop with its body, surface or coordinate, while contacts stay in place on the surface; returns whether
    /// it moves.
    pub(crate) fn follow(
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
        self.shifts = [Matrix3x6::zeros(); 2];
        match motion {
            PathMotion::Body(index) if index == body.body => {
                self.turn = first(&Matrix3::identity());
                self.shifts = self.sides.map(|side| twist(&Matrix3::identity(), &body.lever(&side.point)));
            }
            PathMotion::Obstacle(_) if self.part == motion => {
                self.turn = first(axes);
                self.shifts = self.sides.map(|side| twist(axes, &(side.point - self.center)));
            }
            PathMotion::Scale(_) if self.is_scaled_by(motion) => {
                self.shifts = self.sides.map(|side| alone(&((side.point - self.center) / self.scale)));
            }
            PathMotion::Origin | PathMotion::Termination | PathMotion::ViaPoint(_) if self.part == motion => {
                self.shifts = [first(axes); 2];
            }
            PathMotion::Coordinate(index) => match &self.slope {
                Some((place, [slope, _])) if coordinates[*place].coordinate == index => {
                    self.shifts = [alone(slope); 2];
                }
                _ => return false,
            },
            _ => return false,
        }
        true
    }
}

/// The directions of the segments before and after a stop; zero where there is none.
pub(crate) fn directions<T: Real>(legs: &[Chord<T>], stop: usize) -> [Vector3<T>; 2] {
    [stop.checked_sub(1), Some(stop)]
        .map(|leg| leg.and_then(|leg| legs.get(leg)).map_or_else(Vector3::zeros, |leg| leg.direction))
}

/// The sideways shifts of a contact's start and end, by both right-hand sides and by the shift of the next start.
///
/// `inverse_lengths` are those of the segments before and after. A segment without length has zero, and its point holds
/// the contact; the other shift then also depends on the shift of this point, which is second. `before` has the shift of
/// the previous end per shift of the start, and its effect; `after` is the effect of the next start.
pub(crate) fn solution<T: Real>(
    jacobi: &Jacobi<T>,
    inverse_lengths: [T; 2],
    before: [T; 2],
    after: T,
) -> ([[T; 3]; 2], [T; 2]) {
    let Jacobi { shift, shift_rate, turn, turn_rate } = *jacobi;
    let [inverse_before, inverse_after] = inverse_lengths;
    let zero = T::zero();
    // Per unit turn of the start, and per unit shift: the left-hand side at the end.
    let by_turn = turn * inverse_after + turn_rate;
    let by_shift = shift * inverse_after + shift_rate;
    // The turn of the start is that required by its shift, minus the right-hand side.
    let mut demand = inverse_before - before[0] * before[1];
    match inverse_lengths.map(|inverse| inverse == zero) {
        [false, false] => {
            // As in the solver, if all paths in some direction are equal.
            let stiffness = inverse_before + inverse_after;
            let across = demand + by_shift / by_turn;
            if across.abs() <= Settings::<T>::default().smoothness * stiffness {
                demand += T::lit(0.05) * stiffness;
            }
            let pivot = T::one() / (by_shift + by_turn * demand);
            let end = shift + turn * demand;
            let of_end = [(shift * turn_rate - turn * shift_rate) * pivot, end * pivot, end * after * pivot];
            ([[by_turn * pivot, pivot, after * pivot], of_end], [zero; 2])
        }
        [true, false] => {
            // The determinant of the scalars, shift·turn_rate − turn·shift_rate, is one.
            let over = by_turn.recip();
            ([[zero; 3], [zero, turn * over, turn * after * over]], [over, zero])
        }
        [false, true] => {
            let over = (shift + turn * demand).recip();
            ([[turn * over, zero, zero], [zero; 3]], [zero, over])
        }
        [true, true] => ([[zero; 3]; 2], [zero; 2]),
    }
}

/// The change of a stop of the path, a contact or a point, along a motion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopChange<T: Real> {
    /// The angle by which it turns the cable.
    pub(crate) turning: RowVector6<T>,
    /// The length of its arc.
    pub(crate) arc: RowVector6<T>,
    /// The shifts of start and end on the body, in Ground.
    pub(crate) on_body: [Matrix3x6<T>; 2],
    /// The shifts on the body plus those of the body.
    in_ground: [Matrix3x6<T>; 2],
}

impl<T: Real> PathDerivatives<T> {
    /// Finds how the turning of contacts with these obstacles depends on their starts.
    pub(crate) fn find_twists(
        &mut self,
        path: &CablePath<T>,
        results: &PathResults<T>,
        wanted: impl Fn(usize) -> bool,
    ) {
        let accuracy = path.settings().accuracy();
        for (stop, segment) in self.stops.iter_mut().skip(1).zip(&results.segments) {
            let contact = segment.to_contact.and_then(|contact| results.contacts.get(contact));
            let Some(contact) = contact.filter(|contact| wanted(contact.obstacle)) else { continue };
            let Some(obstacle) = path.obstacles().get(contact.obstacle) else { continue };
            let (p, tangent, length) = contact.start_on_surface();
            let [by_shift, by_turn] = obstacle.surface().turning_by_start(&p, &tangent, length, accuracy);
            stop.twist = [by_shift / contact.scale, by_turn];
        }
    }

    /// The change of the stop after a segment along the last motion.
    pub(crate) fn change_after(&self, segment: usize) -> StopChange<T> {
        let stop = &self.stops[segment + 1];
        let (zero, none) = (RowVector6::zeros(), [Matrix3x6::zeros(); 2]);
        let still = StopChange { turning: zero, arc: zero, on_body: none, in_ground: none };
        let Some(motion) = self.motion else { return still };
        let follows = if let PathMotion::Body(_) = motion { none } else { stop.shifts };
        if !matches!(stop.part, PathMotion::Obstacle(_)) {
            return StopChange { on_body: follows, in_ground: stop.shifts, ..still };
        }
        let changes = [&self.changes[segment], &self.changes[segment + 1]];
        let bends = stop.bends(changes);
        let along = [0, 1].map(|k| {
            let side = &stop.sides[k];
            match &stop.held[k] {
                Some(shift) => side.tangent.transpose() * shift,
                None if side.curvature == T::zero() => zero,
                None => (bends[k] - stop.slips[k] * side.torsion) / side.curvature,
            }
        });
        let mut arc = along[1] - along[0];
        if stop.is_scaled_by(motion) {
            arc[0] += stop.arc / stop.scale;
        }
        let on_surface = [0, 1].map(|k| {
            let side = &stop.sides[k];
            stop.held[k].unwrap_or_else(|| side.tangent * along[k] + side.binormal() * stop.slips[k])
        });
        let [on_body, in_ground] =
            [follows, stop.shifts].map(|of| [of[0] + on_surface[0], of[1] + on_surface[1]]);
        let [by_shift, by_turn] = stop.twist;
        let turning = bends[1] - bends[0] + stop.slips[0] * by_shift + stop.turns(changes)[0] * by_turn;
        StopChange { turning, arc, on_body, in_ground }
    }

    /// The changes of the ends of a segment in Ground along the last motion.
    pub(crate) fn change_of_ends(&self, segment: usize) -> [Matrix3x6<T>; 2] {
        let from = match segment.checked_sub(1) {
            Some(before) => self.change_after(before).in_ground[1],
            None if self.motion.is_none() => Matrix3x6::zeros(),
            None => self.stops[0].shifts[1],
        };
        [from, self.change_after(segment).in_ground[0]]
    }

    /// The change of a segment's length along the last motion.
    pub(crate) fn change_of_length(&self, segment: usize) -> RowVector6<T> {
        if self.legs[segment].inverse_length == T::zero() {
            return RowVector6::zeros();
        }
        let [from, to] = self.change_of_ends(segment);
        self.legs[segment].direction.transpose() * (to - from)
    }
}

impl<T: Real> Stop<T> {
    /// The bending of the cable by the surface as start and end shift, and the directions of both segments change.
    fn bends(&self, changes: [&Matrix3x6<T>; 2]) -> [RowVector6<T>; 2] {
        [0, 1].map(|k| {
            let side = &self.sides[k];
            match &self.held[k] {
                Some(shift) => {
                    (side.tangent * side.curvature + side.binormal() * side.torsion).transpose() * shift
                }
                None => -side.normal.transpose() * changes[k] - side.binormal().transpose() * self.turn,
            }
        })
    }

    /// The turns of the cable's direction on the surface at start and end.
    fn turns(&self, changes: [&Matrix3x6<T>; 2]) -> [RowVector6<T>; 2] {
        let by_leg = |k: usize| {
            let side = &self.sides[k];
            side.binormal().transpose() * changes[k] - side.normal.transpose() * self.turn
        };
        let Jacobi { shift, shift_rate, turn, turn_rate } = self.jacobi;
        let [at_start, at_end] = &self.slips;
        let start = match self.held {
            [None, _] => by_leg(0),
            _ if self.arc <= T::zero() => RowVector6::zeros(),
            [Some(_), None] => {
                // The shift and the turn of the end are known; the scalars of both do not vanish together.
                let weight = turn * turn / (self.arc * self.arc) + turn_rate * turn_rate;
                ((at_end - at_start * shift) * (turn / (self.arc * self.arc))
                    + (by_leg(1) - at_start * shift_rate) * turn_rate)
                    / weight
            }
            [Some(_), Some(_)] => (at_end - at_start * shift) / turn,
        };
        let end = if self.held[1].is_none() { by_leg(1) } else { at_start * shift_rate + start * turn_rate };
        [start, end]
    }

    /// The changes of the directions of both segments; a segment without length follows the surface.
    pub(crate) fn changes_of_held(&self, changes: [&Matrix3x6<T>; 2]) -> [Matrix3x6<T>; 2] {
        let (bends, turns) = (self.bends(changes), self.turns(changes));
        [0, 1].map(|k| {
            let side = &self.sides[k];
            if self.held[k].is_none() {
                return *changes[k];
            }
            side.binormal() * turns[k] - side.normal * bends[k] - side.tangent.cross_matrix() * self.turn
        })
    }
}
