//! The derivatives of a force between two frames by their poses on their bodies.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3};

use super::{Between, Quarters};
use crate::framework::linearize::blocks::{Blocks, Column, Row};
use crate::framework::linearize::ends::End;
use crate::framework::variables::Lift;
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::BodyIndex;

/// The number of numbers of a pose, which are listed in this order: the entries of the rotation, row by row, and the
/// position.
const OF_POSE: usize = <Pose<f64> as Lift<f64, f64, ()>>::COUNT;

impl<T: Real> Blocks<'_, T> {
    /// Adds the derivatives of a force at M, whose law is expressed in F, by the poses of two frames on their bodies, F
    /// on the first and M on the second. The numbers of both poses are the first parameters.
    pub(crate) fn add_between_by_frames(
        &mut self,
        between: &Between<T>,
        poses: &[Pose<T>; 2],
        p_GF: &Vector3<T>,
    ) {
        let first = self.parameter(0);
        let Between { bodies, p_GM, F_GM, V_M, by_position: K, by_velocity: D } = between;
        let [R_GB1, R_GB2] = bodies.map(|body| *self.pose(body).rotation.matrix());
        let r_FM = p_GM.coords - p_GF;

        let [K, D] = [K.quarters(), D.quarters()];
        let times = |[torque, force]: &Quarters<T>, i: usize, v: &Vector3<T>| {
            SpatialForce::new(torque[i] * v, force[i] * v)
        };
        // A rotation of F turns everything that is expressed in F, including the force.
        let by_F = [0, 1, 2].map(|axis| {
            let axis: Vector3<T> = R_GB1.column(axis).into();
            let along = SpatialForce::new(axis.cross(&F_GM.torque), axis.cross(&F_GM.force));
            let turned = times(&K, 0, &axis) + times(&K, 1, &axis.cross(&r_FM));
            let spun = times(&D, 0, &axis.cross(&V_M.angular)) + times(&D, 1, &axis.cross(&V_M.linear));
            [along + -(turned + spun), -times(&K, 1, &axis)]
        });
        let by_M = [0, 1, 2].map(|axis| {
            let axis: Vector3<T> = R_GB2.column(axis).into();
            let lever = SpatialForce::new(axis.cross(&F_GM.force), Vector3::zeros());
            let shifted = times(&K, 1, &axis) + times(&D, 1, &V_M.angular.cross(&axis));
            [times(&K, 0, &axis), shifted + lever]
        });
        for (place, X_BF, changes) in [(first, &poses[0], &by_F), (first + OF_POSE, &poses[1], &by_M)] {
            for (&body, sign) in bodies.iter().zip([-T::one(), T::one()]) {
                let r = p_GM.coords - self.pose(body).translation.vector;
                let [turns, shifts] = [0, 1].map(|i| {
                    [0, 1, 2].map(|axis| {
                        let SpatialForce { torque, force } = changes[axis][i];
                        let torque = torque + r.cross(&force);
                        [torque.x, torque.y, torque.z, force.x, force.y, force.z].map(|x| x * sign)
                    })
                });
                let on = Row::Force(End::Body(body));
                let numbers = self.derivatives.push(on, Column::Variable(place), OF_POSE);
                let (columns, _) = numbers.as_chunks_mut();
                write_by_pose(&turns, &shifts, X_BF.rotation.matrix(), columns);
            }
        }
    }

    /// Adds the derivatives of a number by the motion, as [`add_to_between`](Self::add_to_between), and those by the poses of
    /// two frames on their bodies, whose numbers are the first parameters; F is at `p_GF`.
    pub(crate) fn add_to_between_frames(
        &mut self,
        row: Row,
        (bodies, poses): ([BodyIndex; 2], &[Pose<T>; 2]),
        (p_GF, p_GM, V_M): (&Vector3<T>, &Point3<T>, &SpatialVelocity<T>),
        by_position @ [by_turn, by_shift]: [Vector3<T>; 2],
        by_velocity @ [by_angular, by_linear]: [Vector3<T>; 2],
    ) {
        self.add_to_between(row, bodies, (p_GM, V_M), by_position, by_velocity);
        let r_FM = p_GM.coords - p_GF;
        // Transposed, as for a force: by a rotation of F, a rotation of M, a translation of F and a translation of M.
        let seen =
            by_turn + r_FM.cross(&by_shift) + V_M.angular.cross(&by_angular) + V_M.linear.cross(&by_linear);
        let shifted = by_shift + by_linear.cross(&V_M.angular);
        let rotations = bodies.map(|body| self.pose(body).rotation);
        let first = Column::Variable(self.parameter(0));
        let numbers = self.derivatives.push(row, first, 2 * OF_POSE);
        let changes = [[-seen, -by_shift], [by_turn, shifted]].into_iter().zip(rotations).zip(poses);
        for (numbers, (([turn, shift], R_GB), X_BF)) in numbers.chunks_exact_mut(OF_POSE).zip(changes) {
            let [turn, shift] = [turn, shift].map(|v| {
                let v = R_GB.matrix().tr_mul(&v);
                [[v.x], [v.y], [v.z]]
            });
            let (columns, _) = numbers.as_chunks_mut();
            write_by_pose(&turn, &shift, X_BF.rotation.matrix(), columns);
        }
    }
}

/// Writes derivatives by the numbers of a pose, from the derivatives by rotations about three axes and by shifts along
/// them. Summed over the entries of the rotation along each rotation, they are the derivatives by this rotation.
///
/// The tangents `[e]× R` are perpendicular to each other, and of squared length two.
#[inline]
fn write_by_pose<T: Real, const N: usize>(
    turns: &[[T; N]; 3],
    shifts: &[[T; N]; 3],
    R: &Matrix3<T>,
    columns: &mut [[T; N]],
) {
    let half = R * T::lit(0.5);
    let (entries, position) = columns.split_at_mut(9);
    for (x, row) in entries.chunks_exact_mut(3).enumerate() {
        let (y, z) = ((x + 1) % 3, (x + 2) % 3);
        for (entry, half) in row.iter_mut().zip(half.column_iter()) {
            *entry = from_fn(|i| turns[y][i] * half[z] - turns[z][i] * half[y]);
        }
    }
    position.copy_from_slice(shifts);
}
