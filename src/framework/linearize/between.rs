//! The derivatives of a force between two frames on two bodies.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3, Vector6};

use super::blocks::{Blocks, Column, Row};
use super::ends::End;
use crate::math::{Real, SpatialForce, SpatialVelocity};
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
            let mut K = Columns { angular: by_turn, linear: by_shift }.from_origin(&r_B);
            // M is the point of application, which B carries along.
            add_to_torque(&mut K.angular, &cross_cross(f, &r_B));
            let rows = rows(&K, &D.from_origin(&r_B));
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
            let K = Columns { angular: by_turn, linear: by_shift }.from_origin(&r_A);
            // Of the opposite motion, by which the relative one grows.
            let rows = rows(&K, &D.from_origin(&r_A));
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
    fn from_origin(&self, r: &Vector3<T>) -> Self {
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
