//! Changes of contacts along a motion of their path: of their ends, their length, and the angle by which they turn the
//! cable.
//!
//! With the shifts `a` along and `s` sideways of an end of a contact on its surface, and the normal curvature `κ` and
//! torsion `τ` there, the surface bends the cable by `κ a + τ s` about its binormal; where the cable is smooth, the
//! segment turns about it by the same angle. By the equation of Codazzi and Mainardi the normal curvature changes by `j
//! τ′ + 2 j′ τ` to the side of a geodesic, with the Jacobi field `j`, so the turning of a contact changes by the bends
//! at its ends plus `∫ τ j′ ds`.

use nalgebra::{Matrix3x6, RowVector6};

use crate::cable::geodesics::geodesic::Jacobi;
use crate::cable::model::path::CablePath;
use crate::cable::slopes::path_derivatives::{PathDerivatives, PathMotion};
use crate::cable::slopes::stop::Stop;
use crate::cable::solution::results::PathResults;
use crate::math::Real;

/// The change of a stop of the path, a contact or a point, along a motion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopChange<T: Real> {
    /// The angle by which it turns the cable.
    pub(crate) turning: RowVector6<T>,
    /// The length of its arc.
    pub(crate) arc: RowVector6<T>,
    /// The shifts of start and end along the cable, on the surface.
    along: [RowVector6<T>; 2],
    /// The shifts of start and end on the body, in Ground.
    pub(crate) on_body: [Matrix3x6<T>; 2],
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
    pub(crate) fn change_after(&self, segment: usize, motion: PathMotion) -> StopChange<T> {
        let stop = &self.stops[segment + 1];
        let zero = RowVector6::zeros();
        let follows = if let PathMotion::Body(_) = motion { [Matrix3x6::zeros(); 2] } else { stop.shifts };
        if !matches!(stop.part, PathMotion::Obstacle(_)) {
            return StopChange { turning: zero, arc: zero, along: [zero; 2], on_body: follows };
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
        let on_body = [0, 1].map(|k| {
            let side = &stop.sides[k];
            follows[k]
                + stop.held[k].unwrap_or_else(|| side.tangent * along[k] + side.binormal() * stop.slips[k])
        });
        let [by_shift, by_turn] = stop.twist;
        let turning = bends[1] - bends[0] + stop.slips[0] * by_shift + stop.turns(changes)[0] * by_turn;
        StopChange { turning, arc, along, on_body }
    }

    /// The change of a segment's length along the last motion.
    pub(crate) fn change_of_length(&self, segment: usize, motion: PathMotion) -> RowVector6<T> {
        if self.legs[segment].inverse_length == T::zero() {
            return RowVector6::zeros();
        }
        let ends = [&self.stops[segment], &self.stops[segment + 1]];
        let direction = self.legs[segment].direction.transpose();
        let mut change = direction * (ends[1].shifts[0] - ends[0].shifts[1]);
        change += self.change_after(segment, motion).along[0];
        if let Some(before) = segment.checked_sub(1) {
            change -= self.change_after(before, motion).along[1];
        }
        change
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

    /// The changes of the directions of both segments, of which one without length follows the surface.
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
