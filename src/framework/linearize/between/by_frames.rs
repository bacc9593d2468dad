//! The derivatives of a force between two frames by their poses on their bodies.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3};

use super::Between;
use crate::framework::linearize::blocks::{Blocks, Row};
use crate::framework::variables::PosePlaces;
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::BodyIndex;

impl<T: Real> Blocks<'_, T> {
    /// Adds the derivatives by the poses of two frames on their bodies, F on the first and M on the second, of a force at
    /// M whose law is in the basis of F. `places` are those of the numbers of the poses among the variables.
    pub(crate) fn add_between_by_frames(
        &mut self,
        between: &Between<T>,
        [X_B1F, X_B2M]: &[Pose<T>; 2],
        [of_F, of_M]: &[PosePlaces; 2],
        p_GF: &Vector3<T>,
    ) {
        let Between { bodies, p_GM, F_GM, V_M, by_position: K, by_velocity: D } = between;
        let [R_GB1, R_GB2] = bodies.map(|body| *self.pose(body).rotation.matrix());
        let r_FM = p_GM.coords - p_GF;
        let none = Vector3::zeros();

        // F turns against all that is seen from it, and takes the force along.
        self.add_between_by_rotation(bodies, p_GM, &of_F.rotation, X_B1F.rotation.matrix(), |axis| {
            let turn = R_GB1 * axis;
            let along = SpatialForce::new(turn.cross(&F_GM.torque), turn.cross(&F_GM.force));
            let turned = K.times(&turn, &turn.cross(&r_FM));
            along + -turned + -D.times(&turn.cross(&V_M.angular), &turn.cross(&V_M.linear))
        });
        self.add_between_by_rotation(bodies, p_GM, &of_M.rotation, X_B2M.rotation.matrix(), |axis| {
            K.times(&(R_GB2 * axis), &none)
        });
        for axis in 0..3 {
            let shift: Vector3<T> = R_GB1.column(axis).into();
            let shifted = -K.times(&none, &shift);
            self.add_between_by_variable(*bodies, p_GM, of_F.position[axis], &shifted);
            let shift: Vector3<T> = R_GB2.column(axis).into();
            let shifted = K.times(&none, &shift) + D.times(&none, &V_M.angular.cross(&shift));
            let lever = SpatialForce::new(shift.cross(&F_GM.force), none);
            self.add_between_by_variable(*bodies, p_GM, of_M.position[axis], &(shifted + lever));
        }
    }

    /// Adds the derivatives by the entries of a rotation, from those by turns about the axes of the frame that it leads to.
    fn add_between_by_rotation(
        &mut self,
        bodies: &[BodyIndex; 2],
        p_GM: &Point3<T>,
        places: &[usize; 9],
        R: &Matrix3<T>,
        by_turn: impl Fn(Vector3<T>) -> SpatialForce<T>,
    ) {
        let changes = [Vector3::x(), Vector3::y(), Vector3::z()].map(by_turn);
        for (entry, shares) in shares_of_turns(R).into_iter().enumerate() {
            let mut change = SpatialForce::zero();
            for (by_turn, share) in changes.iter().zip(shares) {
                change += SpatialForce::new(by_turn.torque * share, by_turn.force * share);
            }
            let place = places[entry];
            self.add_between_by_variable(*bodies, p_GM, place, &change);
        }
    }

    /// Adds the derivatives of one number by the poses of two frames on their bodies, whose numbers are in these places, as
    /// [`add_between_by_frames`](Self::add_between_by_frames); those by the motion of M are as in
    /// [`add_to_between`](Self::add_to_between).
    pub(crate) fn add_to_by_frames(
        &mut self,
        row: Row,
        [frame_F, frame_M]: [(BodyIndex, &Pose<T>, &PosePlaces); 2],
        (r_FM, V_M): (&Vector3<T>, &SpatialVelocity<T>),
        [by_turn, by_shift]: [Vector3<T>; 2],
        [by_angular, by_linear]: [Vector3<T>; 2],
    ) {
        // As for a force, transposed: by a turn of F, a turn of M, a shift of F and a shift of M.
        let seen =
            by_turn + r_FM.cross(&by_shift) + V_M.angular.cross(&by_angular) + V_M.linear.cross(&by_linear);
        let shifted = by_shift + by_linear.cross(&V_M.angular);
        for ((body, X, of), turn, shift) in [(frame_F, -seen, -by_shift), (frame_M, by_turn, shifted)] {
            let R_GB = *self.pose(body).rotation.matrix();
            let (turn, shift) = (R_GB.tr_mul(&turn), R_GB.tr_mul(&shift));
            for (entry, [x, y, z]) in shares_of_turns(X.rotation.matrix()).into_iter().enumerate() {
                self.add_to_by_variable(row, of.rotation[entry], turn.x * x + turn.y * y + turn.z * z);
            }
            for axis in 0..3 {
                self.add_to_by_variable(row, of.position[axis], shift[axis]);
            }
        }
    }
}

/// What makes derivatives by the nine entries of a rotation, row by row, of those by turns about three axes: their sums
/// along each turn are the derivatives by the turn.
///
/// The tangents `[e]× R` are perpendicular, and of squared length two.
pub(in crate::framework::linearize) fn shares_of_turns<T: Real>(R: &Matrix3<T>) -> [[T; 3]; 9] {
    let tangents = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis: Vector3<T>| axis.cross_matrix() * R);
    from_fn(|entry| tangents.map(|tangent| tangent[(entry / 3, entry % 3)] * T::lit(0.5)))
}
