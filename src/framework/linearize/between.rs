//! The derivatives of a force between two frames on two bodies.

use core::array::from_fn;
use core::ops::Neg;

use nalgebra::{Matrix2x3, Matrix3, Matrix6, Matrix6x3, Point3, Vector3, Vector6};

use super::blocks::{Blocks, Column, Row};
use super::ends::End;
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::BodyIndex;

/// A torque and a force at a point M of one body, with the opposite on another, that depend on where M is and how it
/// moves as seen from the other body.
///
/// The law is that of an observer who moves with the first body; what follows from the motion of the observer itself is
/// added by [`Blocks::add_between`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between<T: Real> {
    /// The observer's body, and that which carries M.
    pub bodies: [BodyIndex; 2],
    /// M in Ground \[m\].
    pub p_GM: Point3<T>,
    /// The torque about M and the force on the second body, in Ground.
    pub F_GM: SpatialForce<T>,
    /// The velocity of M as seen by the observer, in Ground.
    pub V_M: SpatialVelocity<T>,
    /// The derivatives of torque and force by a turn and a shift of M as seen by the observer, in Ground: three rows for
    /// the torque, and three columns for the turn, come first.
    pub by_position: Matrix6<T>,
    /// Those by the angular and linear velocity of M as seen by the observer, in Ground.
    pub by_velocity: Matrix6<T>,
}

impl<T: Real> Blocks<'_, T> {
    /// Adds all blocks of a force between two bodies.
    #[inline]
    pub fn add_between(&mut self, between: &Between<T>) {
        match between.bodies.map(|body| body != BodyIndex::GROUND) {
            [true, true] => self.add_between_moving::<true, true>(between),
            [true, false] => self.add_between_moving::<true, false>(between),
            [false, true] => self.add_between_moving::<false, true>(between),
            [false, false] => {}
        }
    }

    /// Adds the blocks by the motion of the first and of the second body.
    fn add_between_moving<const A: bool, const B: bool>(&mut self, between: &Between<T>) {
        let Between { bodies: [a, b], p_GM, F_GM, V_M, by_position, by_velocity } = between;
        let [r_A, r_B] = [*a, *b].map(|body| p_GM.coords - self.pose(body).translation.vector);
        let [w_A, w_B] = [*a, *b].map(|body| self.velocity(body).angular);
        let (SpatialForce { torque, force }, w_AB) = (F_GM, w_B - w_A);
        // The observer takes torque and force along, and B carries their point of application.
        let carried_by_a = stacked(&torque.cross_matrix(), &force.cross_matrix());
        let carried_by_b = stacked(&cross_cross(force, &r_B), &Matrix3::zeros());
        let mut by_a = [[T::zero(); 12]; 6];
        let mut by_b = by_a;
        // Two rows at a time fill the vectors of the processor; for more it has too few of them.
        for first in [0, 2, 4] {
            let part = |of: &Matrix6<T>, column| of.fixed_view::<2, 3>(first, column).into_owned();
            let (k_turn, k_shift) = (part(by_position, 0), part(by_position, 3));
            let (d_turn, d_shift) = (part(by_velocity, 0), part(by_velocity, 3));
            // A shift of M changes its velocity as seen from A, which turns.
            let by_shift = k_shift - times_cross(&d_shift, &w_A);
            if A {
                // Lever and velocities turn with the observer, and are seen to turn back.
                let by_turn = k_turn
                    - times_cross(&k_shift, &r_A)
                    - times_cross(&d_shift, &V_M.linear)
                    - times_cross(&d_turn, &V_M.angular)
                    + carried_by_a.fixed_rows::<2>(first);
                let by_turning = d_turn - times_cross(&d_shift, &r_A);
                write_rows([&by_turn, &by_shift, &by_turning, &d_shift], &mut by_a, first);
            }
            if B {
                // A turn of B shifts M, and turns the part of its velocity that is due to the lever.
                let by_lever = k_shift + times_cross(&d_shift, &w_AB);
                let by_turn = k_turn - times_cross(&by_lever, &r_B) + carried_by_b.fixed_rows::<2>(first);
                let by_turning = d_turn - times_cross(&d_shift, &r_B);
                write_rows([&by_turn, &by_shift, &by_turning, &d_shift], &mut by_b, first);
            }
        }
        if B {
            self.push_at_origin([*b, *b], &by_b, &r_B, |number| number);
            let on_a = self.push_at_origin([*a, *b], &by_b, &r_A, Neg::neg);
            add_cross(on_a, force);
        }
        if A {
            // The relative motion is the opposite of that of A.
            self.push_at_origin([*b, *a], &by_a, &r_B, Neg::neg);
            let on_a = self.push_at_origin([*a, *a], &by_a, &r_A, |number| number);
            add_cross(on_a, &-force);
        }
    }

    /// Adds derivatives of torque and force about M as those about the origin of a body, from which M is at `r`, with this
    /// sign, and returns the numbers.
    #[inline]
    fn push_at_origin(
        &mut self,
        [on, by]: [BodyIndex; 2],
        [tx, ty, tz, fx, fy, fz]: &[[T; 12]; 6],
        r: &Vector3<T>,
        sign: impl Fn(T) -> T,
    ) -> &mut [[T; 12]] {
        let (on, by) = (Row::Force(End::Body(on)), Column::Motion(End::Body(by)));
        let (block, _) = self.derivatives.push(on, by, 72).as_chunks_mut::<12>();
        if let [ox, oy, oz, px, py, pz] = &mut *block {
            for j in 0..12 {
                ox[j] = sign(tx[j] + (r.y * fz[j] - r.z * fy[j]));
                oy[j] = sign(ty[j] + (r.z * fx[j] - r.x * fz[j]));
                oz[j] = sign(tz[j] + (r.x * fy[j] - r.y * fx[j]));
                px[j] = sign(fx[j]);
                py[j] = sign(fy[j]);
                pz[j] = sign(fz[j]);
            }
        }
        block
    }
}

impl<T: Real> Blocks<'_, T> {
    /// Adds the derivatives of a rate, or of a discrete variable after the next commit, that depends on where M of the
    /// second body is and how it moves as seen from the first: those by a turn and a shift of M, and by its angular and
    /// linear velocity, in Ground.
    pub fn add_to_between(
        &mut self,
        row: Row,
        bodies: [BodyIndex; 2],
        (p_GM, V_M): (&Point3<T>, &SpatialVelocity<T>),
        [by_turn, by_shift]: [Vector3<T>; 2],
        [by_angular, by_linear]: [Vector3<T>; 2],
    ) {
        let [w_A, w_B] = bodies.map(|body| self.velocity(body).angular);
        for (body, is_second) in bodies.into_iter().zip([false, true]) {
            if body == BodyIndex::GROUND {
                continue;
            }
            let r = p_GM.coords - self.pose(body).translation.vector;
            // As in `add_between`, transposed.
            let carried = w_A.cross(&by_linear);
            let (turn, shift, sign) = if is_second {
                (by_turn - r.cross(&w_B.cross(&by_linear)), by_shift + carried, T::one())
            } else {
                let spun = by_angular.cross(&V_M.angular) + by_linear.cross(&V_M.linear);
                let turned = r.cross(&w_A.cross(&by_linear));
                (spun + turned - by_turn, -carried - by_shift, -T::one())
            };
            let column = |[angular, linear]: [Vector3<T>; 2]| {
                let angular = angular + r.cross(&linear);
                Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
            };
            let by_velocity = column([by_angular, by_linear]) * sign;
            self.add_to(row, body, &column([turn, shift]), &by_velocity);
        }
    }

    /// Adds the derivative by a variable of a force between two bodies: the change of the torque about M and of the force
    /// on the second body, in Ground, for an M that stays.
    pub fn add_between_by_variable(
        &mut self,
        bodies: [BodyIndex; 2],
        p_GM: &Point3<T>,
        variable: usize,
        change: &SpatialForce<T>,
    ) {
        for (body, F_GM) in bodies.into_iter().zip([-*change, *change]) {
            let F_GB = F_GM.shifted(self.pose(body).translation.vector - p_GM.coords);
            let (torque, force) = (F_GB.torque, F_GB.force);
            let column = Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
            self.add_by_variable(body, variable, &column);
        }
    }
}

impl<T: Real> Blocks<'_, T> {
    /// Adds the derivatives by the poses of two frames on their bodies, F on the first and M on the second, of a force at
    /// M whose law is in the basis of F. They are the first 24 numbers of the parameters.
    pub(crate) fn add_between_by_frames(
        &mut self,
        between: &Between<T>,
        [X_B1F, X_B2M]: &[Pose<T>; 2],
        p_GF: &Vector3<T>,
    ) {
        let Between { bodies, p_GM, F_GM, V_M, by_position: K, by_velocity: D } = between;
        let [R_GB1, R_GB2] = bodies.map(|body| *self.pose(body).rotation.matrix());
        let r_FM = p_GM.coords - p_GF;
        let none = Vector3::zeros();

        // F turns against all that is seen from it, and takes the force along.
        self.add_between_by_rotation(bodies, p_GM, self.parameter(0), X_B1F.rotation.matrix(), |axis| {
            let turn = R_GB1 * axis;
            let along = SpatialForce::new(turn.cross(&F_GM.torque), turn.cross(&F_GM.force));
            let turned = change(K, &turn, &turn.cross(&r_FM));
            along + -turned + -change(D, &turn.cross(&V_M.angular), &turn.cross(&V_M.linear))
        });
        self.add_between_by_rotation(bodies, p_GM, self.parameter(12), X_B2M.rotation.matrix(), |axis| {
            change(K, &(R_GB2 * axis), &none)
        });
        for axis in 0..3 {
            let shift: Vector3<T> = R_GB1.column(axis).into();
            let shifted = -change(K, &none, &shift);
            self.add_between_by_variable(*bodies, p_GM, self.parameter(9 + axis), &shifted);
            let shift: Vector3<T> = R_GB2.column(axis).into();
            let shifted = change(K, &none, &shift) + change(D, &none, &V_M.angular.cross(&shift));
            let lever = SpatialForce::new(shift.cross(&F_GM.force), none);
            self.add_between_by_variable(*bodies, p_GM, self.parameter(21 + axis), &(shifted + lever));
        }
    }

    /// Adds the derivatives by the entries of a rotation, from those by turns about the axes of the frame that it leads to.
    fn add_between_by_rotation(
        &mut self,
        bodies: &[BodyIndex; 2],
        p_GM: &Point3<T>,
        first: usize,
        R: &Matrix3<T>,
        by_turn: impl Fn(Vector3<T>) -> SpatialForce<T>,
    ) {
        let changes = [Vector3::x(), Vector3::y(), Vector3::z()].map(by_turn);
        for (entry, shares) in shares_of_turns(R).into_iter().enumerate() {
            let mut change = SpatialForce::zero();
            for (by_turn, share) in changes.iter().zip(shares) {
                change += SpatialForce::new(by_turn.torque * share, by_turn.force * share);
            }
            self.add_between_by_variable(*bodies, p_GM, first + entry, &change);
        }
    }

    /// Adds the derivatives of one number by the poses of two frames, as
    /// [`add_between_by_frames`](Self::add_between_by_frames), of a number that depends on their orientations: `rate` is that
    /// by a turn of M as seen from F, in Ground.
    pub(crate) fn add_to_by_frames(
        &mut self,
        row: Row,
        bodies: [BodyIndex; 2],
        poses: &[Pose<T>; 2],
        rate: &Vector3<T>,
    ) {
        for ((body, pose), (first, rate)) in bodies.iter().zip(poses).zip([(0, -rate), (12, *rate)]) {
            let rate_B = self.pose(*body).rotation.matrix().tr_mul(&rate);
            for (entry, [x, y, z]) in shares_of_turns(pose.rotation.matrix()).into_iter().enumerate() {
                let share = rate_B.x * x + rate_B.y * y + rate_B.z * z;
                self.add_to_by_variable(row, self.parameter(first + entry), share);
            }
        }
    }
}

/// What makes derivatives by the nine entries of a rotation, row by row, of those by turns about three axes: their sums
/// along each turn are the derivatives by the turn.
///
/// The tangents `[e]× R` are perpendicular, and of squared length two.
pub(super) fn shares_of_turns<T: Real>(R: &Matrix3<T>) -> [[T; 3]; 9] {
    let tangents = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis: Vector3<T>| axis.cross_matrix() * R);
    from_fn(|entry| tangents.map(|tangent| tangent[(entry / 3, entry % 3)] * T::lit(0.5)))
}

/// The change of torque and force.
fn change<T: Real>(by: &Matrix6<T>, angular: &Vector3<T>, linear: &Vector3<T>) -> SpatialForce<T> {
    let change = by.fixed_columns::<3>(0) * angular + by.fixed_columns::<3>(3) * linear;
    SpatialForce::new(change.fixed_rows::<3>(0).into(), change.fixed_rows::<3>(3).into())
}

#[inline]
fn stacked<T: Real>(torque: &Matrix3<T>, force: &Matrix3<T>) -> Matrix6x3<T> {
    let mut both = Matrix6x3::zeros();
    both.fixed_rows_mut::<3>(0).copy_from(torque);
    both.fixed_rows_mut::<3>(3).copy_from(force);
    both
}

/// Writes two rows side by side.
#[inline]
fn write_rows<T: Real>(parts: [&Matrix2x3<T>; 4], rows: &mut [[T; 12]; 6], first: usize) {
    for row in 0..2 {
        for column in 0..12 {
            rows[first + row][column] = parts[column / 3][(row, column % 3)];
        }
    }
}

/// Adds the matrix of `f ×` to the torque by a shift, in the rows of a block.
#[inline]
fn add_cross<T: Real>(block: &mut [[T; 12]], f: &Vector3<T>) {
    if let [tx, ty, tz, ..] = block {
        tx[4] -= f.z;
        tx[5] += f.y;
        ty[3] += f.z;
        ty[5] -= f.x;
        tz[3] -= f.y;
        tz[4] += f.x;
    }
}

/// The product with the matrix of `v ×`.
#[inline]
fn times_cross<T: Real>(rows: &Matrix2x3<T>, v: &Vector3<T>) -> Matrix2x3<T> {
    let [x, y, z] = [0, 1, 2].map(|axis| rows.column(axis));
    Matrix2x3::from_columns(&[y * v.z - z * v.y, z * v.x - x * v.z, x * v.y - y * v.x])
}

/// The matrix of `a × (b × …)`.
#[inline]
fn cross_cross<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
    b * a.transpose() - Matrix3::from_diagonal_element(a.dot(b))
}
