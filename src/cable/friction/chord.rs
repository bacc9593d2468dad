//! The straight lines between the ends of strands, along a motion.

use nalgebra::{Matrix3, Matrix3x6, RowVector6, Vector3};

use crate::cable::friction::strand_derivatives::{DIRECTIONS, StrandMotion, Varied, joined};
use crate::cable::friction::strands::Ends;
use crate::cable::slopes::path_derivatives::{PathDerivatives, PathMotion};
use crate::math::{Number, Real};
use crate::mechanics::{Positions, Velocities};

/// The straight line between the ends of a strand.
#[derive(Debug)]
pub(crate) struct Chord<T: Real> {
    pub(crate) ends: [ChordEnd<T>; 2],
    pub(crate) direction: Vector3<T>,
    /// Zero if it has no length.
    pub(crate) inverse_length: T,
    /// The relative velocity of its ends.
    velocity: Vector3<T>,
    /// The change of its direction along the last motion.
    pub(crate) change: Matrix3x6<T>,
}

#[derive(Debug)]
pub(crate) struct ChordEnd<T: Real> {
    /// The place of its body among the forces.
    pub(crate) body: usize,
    /// The motion that shifts it on its body.
    shifted_by: StrandMotion,
    /// From the body's origin.
    pub(crate) r: Vector3<T>,
    /// The change of `r` along the last motion.
    pub(crate) lever: Matrix3x6<T>,
}

impl<T: Real> Chord<T> {
    /// The line between the ends of a strand; without length if `is_chord` is false.
    pub(crate) fn new(
        of: &Ends<T>,
        is_chord: bool,
        path: &mut PathDerivatives<T>,
        (positions, velocities): (&Positions<T>, &Velocities<T>),
    ) -> Self {
        let Ends { bodies, points_G: points, direction_G, marks: [from, to], .. } = *of;
        let shifted_by = [
            from.map_or(StrandMotion::Path(PathMotion::Origin), StrandMotion::End),
            to.map_or(StrandMotion::Path(PathMotion::Termination), StrandMotion::Start),
        ];
        let ends = [0, 1].map(|k| {
            let body = path.body(bodies[k], positions);
            let r = path.forces()[body].lever(&points[k]);
            ChordEnd { body, shifted_by: shifted_by[k], r, lever: Matrix3x6::zeros() }
        });
        let [from, to] = [0, 1].map(|k| velocities.velocity_of_point(positions, bodies[k], &points[k]));
        // What is wound is a point.
        let is_chord = is_chord && direction_G != Vector3::zeros();
        Self {
            ends,
            direction: if is_chord { direction_G } else { Vector3::zeros() },
            inverse_length: if is_chord { (points[1] - points[0]).norm().recip() } else { T::zero() },
            velocity: to - from,
            change: Matrix3x6::zeros(),
        }
    }

    /// Moves with its ends; returns whether any moves.
    pub(crate) fn follow(
        &mut self,
        motion: StrandMotion,
        path: &PathDerivatives<T>,
        positions: &Positions<T>,
    ) -> bool {
        let mut is_moved = false;
        for end in &mut self.ends {
            let body = path.forces()[end.body].body;
            end.lever.fill(T::zero());
            let mut turns = end.lever.fixed_columns_mut::<3>(0);
            if motion == StrandMotion::Path(PathMotion::Body(body)) {
                turns.copy_from(&-end.r.cross_matrix());
                is_moved = true;
            } else if motion == end.shifted_by {
                turns.copy_from(positions.pose(body).rotation.matrix());
                is_moved = true;
            }
        }
        let apart = self.apart(motion, path);
        let along = self.direction.transpose() * apart;
        self.change = (apart - self.direction * along) * self.inverse_length;
        is_moved
    }

    /// The shift of its end relative to its start.
    fn apart(&self, motion: StrandMotion, path: &PathDerivatives<T>) -> Matrix3x6<T> {
        let shift = |end: &ChordEnd<T>| {
            let mut shift = end.lever;
            if motion == StrandMotion::Path(PathMotion::Body(path.forces()[end.body].body)) {
                let mut shifts = shift.fixed_columns_mut::<3>(3);
                shifts += Matrix3::identity();
            }
            shift
        };
        shift(&self.ends[1]) - shift(&self.ends[0])
    }

    /// The derivatives of its length, and its rate with derivatives.
    pub(crate) fn lengthen(
        &self,
        motion: StrandMotion,
        path: &PathDerivatives<T>,
        velocities: &Velocities<T>,
    ) -> ([T; DIRECTIONS], Varied<T>) {
        let direction = self.direction.transpose();
        let lengths = direction * self.apart(motion, path);
        let spun = |end: &ChordEnd<T>| {
            velocities.velocity(path.forces()[end.body].body).angular.cross_matrix() * end.lever
        };
        let rates =
            self.velocity.transpose() * self.change + direction * (spun(&self.ends[1]) - spun(&self.ends[0]));
        let zero = RowVector6::zeros();
        let moves = matches!(motion, StrandMotion::Path(PathMotion::Body(_)));
        let mut rate = Varied::of(self.direction.dot(&self.velocity));
        rate.slopes = joined(&rates, if moves { &lengths } else { &zero });
        (joined(&lengths, &zero), rate)
    }
}
