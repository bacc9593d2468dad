//! The straight lines between the ends of strands, along a motion.

use nalgebra::{Matrix3x6, RowVector6, Vector3};

use crate::cable::friction::strand_derivatives::{DIRECTIONS, joined};
use crate::cable::friction::strands::Ends;
use crate::cable::{PathDerivatives, PathMotion, StrandMotion};
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
    /// The shifts of its ends along the last motion. Columns after the third are those of a body that is shifted with its origin.
    pub(crate) shifts: [Matrix3x6<T>; 2],
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
            shifts: [Matrix3x6::zeros(); 2],
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
        for (k, shift) in self.shifts.iter_mut().enumerate() {
            let body = path.forces()[self.bodies[k]].body;
            shift.fill(T::zero());
            let is_body = motion == StrandMotion::Path(PathMotion::Body(body));
            if is_body {
                shift.fixed_columns_mut::<3>(0).copy_from(&-self.arms[k].cross_matrix());
                shift.fixed_columns_mut::<3>(3).fill_with_identity();
            } else if motion == self.shifted_by[k] {
                shift.fixed_columns_mut::<3>(0).copy_from(positions.pose(body).rotation.matrix());
            }
            is_moved |= is_body || motion == self.shifted_by[k];
        }
        let apart = self.apart();
        let along = self.direction.transpose() * apart;
        self.change = (apart - self.direction * along) * self.inverse_length;
        is_moved
    }

    /// The shift of its end relative to its start.
    fn apart(&self) -> Matrix3x6<T> {
        self.shifts[1] - self.shifts[0]
    }

    /// The derivatives of its length, and its rate with derivatives.
    pub(crate) fn lengthen(
        &self,
        motion: StrandMotion,
        path: &PathDerivatives<T>,
        velocities: &Velocities<T>,
    ) -> (RowVector6<T>, Dual<T, DIRECTIONS>) {
        let direction = self.direction.transpose();
        let lengths = direction * self.apart();
        let spun = |k: usize| {
            let spin = velocities.velocity(path.forces()[self.bodies[k]].body).angular;
            spin.cross_matrix() * self.shifts[k].fixed_columns::<3>(0)
        };
        let mut rates = self.velocity.transpose() * self.change;
        let mut turns = rates.fixed_columns_mut::<3>(0);
        turns += direction * (spun(1) - spun(0));
        let moves = matches!(motion, StrandMotion::Path(PathMotion::Body(_)));
        let mut rate = Dual::of(self.direction.dot(&self.velocity));
        rate.slopes = joined(&rates, moves.then_some(&lengths));
        (lengths, rate)
    }
}
