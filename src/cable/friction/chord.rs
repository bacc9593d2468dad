//! The straight lines between the ends of strands, along a motion.

use nalgebra::{Matrix3, Matrix3x6, RowVector6, Vector3};

use crate::cable::friction::strand_derivatives::{DIRECTIONS, joined};
use crate::cable::friction::strands::{Ends, StrandMotion};
use crate::cable::slopes::path_derivatives::{PathDerivatives, PathMotion};
use crate::math::{Dual, Number, Real};
use crate::mechanics::{Positions, Velocities};

/// The straight line between the ends of a strand.
#[derive(Debug)]
pub(crate) struct Chord<T: Real> {
    /// The places of the bodies of its ends among the forces.
    pub(crate) bodies: [usize; 2],
    /// The motions that shift its ends on their bodies.
    shifted_by: [StrandMotion; 2],
    /// Its ends from the bodies' origins.
    pub(crate) arms: [Vector3<T>; 2],
    /// The changes of these along the last motion.
    pub(crate) levers: [Matrix3x6<T>; 2],
    pub(crate) direction: Vector3<T>,
    /// Zero if it has no length.
    pub(crate) inverse_length: T,
    /// The relative velocity of its ends.
    velocity: Vector3<T>,
    /// The change of its direction along the last motion.
    pub(crate) change: Matrix3x6<T>,
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
        let [from, to] = [0, 1].map(|k| velocities.velocity_of_point(positions, bodies[k], &points[k]));
        let bodies = bodies.map(|body| path.body(body, positions));
        // What is wound is a point.
        let is_chord = is_chord && direction_G != Vector3::zeros();
        Self {
            bodies,
            shifted_by,
            arms: [0, 1].map(|k| path.forces()[bodies[k]].lever(&points[k])),
            levers: [Matrix3x6::zeros(); 2],
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
        for (k, lever) in self.levers.iter_mut().enumerate() {
            let body = path.forces()[self.bodies[k]].body;
            lever.fill(T::zero());
            let mut turns = lever.fixed_columns_mut::<3>(0);
            if motion == StrandMotion::Path(PathMotion::Body(body)) {
                turns.copy_from(&-self.arms[k].cross_matrix());
                is_moved = true;
            } else if motion == self.shifted_by[k] {
                turns.copy_from(positions.pose(body).rotation.matrix());
                is_moved = true;
            }
        }
        let apart = self.apart(motion, path);
        let along = self.direction.transpose() * apart;
        self.change = (apart - self.direction * along) * self.inverse_length;
        is_moved
    }

    /// The shift of its start (0) or end (1).
    pub(crate) fn shift(&self, k: usize, motion: StrandMotion, path: &PathDerivatives<T>) -> Matrix3x6<T> {
        let mut shift = self.levers[k];
        if motion == StrandMotion::Path(PathMotion::Body(path.forces()[self.bodies[k]].body)) {
            let mut shifts = shift.fixed_columns_mut::<3>(3);
            shifts += Matrix3::identity();
        }
        shift
    }

    /// The shift of its end relative to its start.
    fn apart(&self, motion: StrandMotion, path: &PathDerivatives<T>) -> Matrix3x6<T> {
        self.shift(1, motion, path) - self.shift(0, motion, path)
    }

    /// The derivatives of its length, and its rate with derivatives.
    pub(crate) fn lengthen(
        &self,
        motion: StrandMotion,
        path: &PathDerivatives<T>,
        velocities: &Velocities<T>,
    ) -> ([T; DIRECTIONS], Dual<T, DIRECTIONS>) {
        let direction = self.direction.transpose();
        let lengths = direction * self.apart(motion, path);
        let spun = |k: usize| {
            velocities.velocity(path.forces()[self.bodies[k]].body).angular.cross_matrix() * self.levers[k]
        };
        let rates = self.velocity.transpose() * self.change + direction * (spun(1) - spun(0));
        let zero = RowVector6::zeros();
        let moves = matches!(motion, StrandMotion::Path(PathMotion::Body(_)));
        let mut rate = Dual::of(self.direction.dot(&self.velocity));
        rate.slopes = joined(&rates, if moves { &lengths } else { &zero });
        (joined(&lengths, &zero), rate)
    }
}
