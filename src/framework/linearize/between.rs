//! The derivatives of a force between two frames on two bodies.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3, Vector6};

use super::blocks::{Blocks, Column, Row};
use super::ends::End;
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::BodyIndex;

/// Derivatives of a torque and a force by a rotation and a translation, or by an angular and a linear velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<T: Real> {
    /// Of the torque by the rotation.
    pub torque_by_angular: Matrix3<T>,
    /// Of the torque by the translation.
    pub torque_by_linear: Matrix3<T>,
    /// Of the force by the rotation.
    pub force_by_angular: Matrix3<T>,
    /// Of the force by the translation.
    pub force_by_linear: Matrix3<T>,
}

impl<T: Real> Pair<T> {
    /// No dependence.
    pub fn zeros() -> Self {
        let zero = Matrix3::zeros();
        Self {
            torque_by_angular: zero,
            torque_by_linear: zero,
            force_by_angular: zero,
            force_by_linear: zero,
        }
    }
}

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
    /// The derivatives of torque and force by a turn and a shift of M as seen by the observer, in Ground.
    pub by_position: Pair<T>,
    /// Those by the velocity of M as seen by the observer, in Ground.
    pub by_velocity: Pair<T>,
}

impl<T: Real> Blocks<'_, T> {
    /// Adds all blocks of a force between two bodies.
    #[inline]
    pub fn add_between(&mut self, between: &Between<T>) {
        let Between { bodies: [a, b], p_GM, F_GM, V_M, by_position, by_velocity } = between;
        let [r_A, r_B] = [*a, *b].map(|body| p_GM.coords - self.pose(body).translation.vector);
        let [w_A, w_B] = [*a, *b].map(|body| self.velocity(body).angular);
        let (K, D) = (by_position.columns(), by_velocity.columns());
        let f = &F_GM.force;

        // A turn of B about its origin moves M, and with it the velocity of M relative to A.
        if *b != BodyIndex::GROUND {
            let by_turn = less(&K.angular, &times_cross_cross(&D.linear, &w_B, &r_B));
            let by_shift = less(&K.linear, &times_cross(&D.linear, &w_A));
            let mut K = Columns { angular: by_turn, linear: by_shift }.at_own_origin(&r_B);
            // M is the point of application, which B carries along.
            add_to_torque(&mut K.angular, &cross_cross(f, &r_B));
            let rows = rows(&K, &D.at_own_origin(&r_B));
            self.push_at_origin(*b, *b, &rows, &r_B, T::one());
            let on_a = self.push_at_origin(*a, *b, &rows, &r_A, -T::one());
            add_cross(on_a, f, T::one());
        }
        if *a != BodyIndex::GROUND {
            let turning = times_cross_cross(&D.linear, &w_A, &r_A);
            let turning = plus(&turning, &times_cross(&D.linear, &V_M.linear));
            let turning = plus(&turning, &times_cross(&D.angular, &V_M.angular));
            let mut by_turn = less(&K.angular, &turning);
            // The observer takes torque and force along.
            add_to_torque(&mut by_turn, &F_GM.torque.cross_matrix());
            add_to_force(&mut by_turn, &f.cross_matrix());
            let by_shift = less(&K.linear, &times_cross(&D.linear, &w_A));
            let K = Columns { angular: by_turn, linear: by_shift }.at_own_origin(&r_A);
            // Of the opposite motion, by which the relative one grows.
            let rows = rows(&K, &D.at_own_origin(&r_A));
            self.push_at_origin(*b, *a, &rows, &r_B, -T::one());
            let on_a = self.push_at_origin(*a, *a, &rows, &r_A, T::one());
            add_cross(on_a, f, -T::one());
        }
    }

    /// Adds derivatives of torque and force about M as those about the origin of a body, from which M is at `r`, and
    /// returns the numbers.
    #[inline]
    fn push_at_origin(
        &mut self,
        on: BodyIndex,
        by: BodyIndex,
        [tx, ty, tz, fx, fy, fz]: &[[T; 12]; 6],
        r: &Vector3<T>,
        sign: T,
    ) -> &mut [T] {
        let mut block = [[T::zero(); 12]; 6];
        for j in 0..12 {
            block[0][j] = (tx[j] + (r.y * fz[j] - r.z * fy[j])) * sign;
            block[1][j] = (ty[j] + (r.z * fx[j] - r.x * fz[j])) * sign;
            block[2][j] = (tz[j] + (r.x * fy[j] - r.y * fx[j])) * sign;
            block[3][j] = fx[j] * sign;
            block[4][j] = fy[j] * sign;
            block[5][j] = fz[j] * sign;
        }
        self.derivatives.push(Row::Force(End::Body(on)), Column::Motion(End::Body(by)));
        let numbers = &mut self.derivatives.numbers;
        let start = numbers.len();
        numbers.extend_from_slice(block.as_flattened());
        &mut numbers[start..]
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

impl<T: Real> Pair<T> {
    /// The change of torque and force.
    fn times(&self, angular: &Vector3<T>, linear: &Vector3<T>) -> SpatialForce<T> {
        SpatialForce::new(
            self.torque_by_angular * angular + self.torque_by_linear * linear,
            self.force_by_angular * angular + self.force_by_linear * linear,
        )
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
            let turned = K.times(&turn, &turn.cross(&r_FM));
            along + -turned + -D.times(&turn.cross(&V_M.angular), &turn.cross(&V_M.linear))
        });
        self.add_between_by_rotation(bodies, p_GM, self.parameter(12), X_B2M.rotation.matrix(), |axis| {
            K.times(&(R_GB2 * axis), &none)
        });
        for axis in 0..3 {
            let shift: Vector3<T> = R_GB1.column(axis).into();
            let change = -K.times(&none, &shift);
            self.add_between_by_variable(*bodies, p_GM, self.parameter(9 + axis), &change);
            let shift: Vector3<T> = R_GB2.column(axis).into();
            let change = K.times(&none, &shift) + D.times(&none, &V_M.angular.cross(&shift));
            let lever = SpatialForce::new(shift.cross(&F_GM.force), none);
            self.add_between_by_variable(*bodies, p_GM, self.parameter(21 + axis), &(change + lever));
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

/// Derivatives of a torque and a force, one above the other, by three directions.
///
/// Columns of six are two or four numbers at a time for the processor, those of a 3×3 matrix are not.
type Six<T> = [[T; 6]; 3];

/// Derivatives by a rotation and by a translation.
#[derive(Debug, Clone, Copy)]
struct Columns<T> {
    angular: Six<T>,
    linear: Six<T>,
}

impl<T: Real> Pair<T> {
    #[inline]
    fn columns(&self) -> Columns<T> {
        let six = |torque: &Matrix3<T>, force: &Matrix3<T>| {
            from_fn(|axis| from_fn(|row| if row < 3 { torque[(row, axis)] } else { force[(row - 3, axis)] }))
        };
        Columns {
            angular: six(&self.torque_by_angular, &self.force_by_angular),
            linear: six(&self.torque_by_linear, &self.force_by_linear),
        }
    }
}

impl<T: Real> Columns<T> {
    /// Derivatives by the twist of a body at M, as those by its twist at its origin, from which M is at `r`: the shift of M
    /// is that of the origin plus the turn × r.
    #[inline]
    fn at_own_origin(&self, r: &Vector3<T>) -> Self {
        Self { angular: less(&self.angular, &times_cross(&self.linear, r)), linear: self.linear }
    }
}

/// Row by row the derivatives by position, then by velocity.
#[inline]
fn rows<T: Real>(K: &Columns<T>, D: &Columns<T>) -> [[T; 12]; 6] {
    let columns = [&K.angular, &K.linear, &D.angular, &D.linear];
    from_fn(|row| from_fn(|column| columns[column / 3][column % 3][row]))
}

/// Adds the matrix of `f ×` times a factor to the torque by a shift, in the rows of a block.
#[inline]
fn add_cross<T: Real>(block: &mut [T], f: &Vector3<T>, factor: T) {
    let cross = f.cross_matrix() * factor;
    for row in 0..3 {
        for column in 0..3 {
            block[12 * row + 3 + column] += cross[(row, column)];
        }
    }
}

#[inline]
fn add_to_torque<T: Real>(six: &mut Six<T>, torque: &Matrix3<T>) {
    for (column, six) in six.iter_mut().enumerate() {
        for row in 0..3 {
            six[row] += torque[(row, column)];
        }
    }
}

#[inline]
fn add_to_force<T: Real>(six: &mut Six<T>, force: &Matrix3<T>) {
    for (column, six) in six.iter_mut().enumerate() {
        for row in 0..3 {
            six[3 + row] += force[(row, column)];
        }
    }
}

#[inline]
fn plus<T: Real>(a: &Six<T>, b: &Six<T>) -> Six<T> {
    from_fn(|axis| from_fn(|row| a[axis][row] + b[axis][row]))
}

#[inline]
fn less<T: Real>(a: &Six<T>, b: &Six<T>) -> Six<T> {
    from_fn(|axis| from_fn(|row| a[axis][row] - b[axis][row]))
}

/// The product with the matrix of `v ×`.
#[inline]
fn times_cross<T: Real>([x, y, z]: &Six<T>, v: &Vector3<T>) -> Six<T> {
    let across = |a: &[T; 6], by: T, b: &[T; 6], less: T| from_fn(|row| a[row] * by - b[row] * less);
    [across(y, v.z, z, v.y), across(z, v.x, x, v.z), across(x, v.y, y, v.x)]
}

/// The product with the matrix of `a × (b × …)`, which is `b aᵀ − (a·b)`.
#[inline]
fn times_cross_cross<T: Real>(six: &Six<T>, a: &Vector3<T>, b: &Vector3<T>) -> Six<T> {
    let [x, y, z] = six;
    let along: [T; 6] = from_fn(|row| x[row] * b.x + y[row] * b.y + z[row] * b.z);
    let product = a.dot(b);
    from_fn(|axis| from_fn(|row| along[row] * a[axis] - six[axis][row] * product))
}

/// The matrix of `a × (b × …)`.
#[inline]
fn cross_cross<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
    b * a.transpose() - Matrix3::from_diagonal_element(a.dot(b))
}
