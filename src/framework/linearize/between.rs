//! The derivatives of a force between two frames on two bodies.

use nalgebra::{Matrix3, Matrix6, Point3, Vector3, Vector6};

use super::Blocks;
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
        let Between { bodies: [a, b], p_GM, F_GM, V_M, by_position: K, by_velocity: D } = between;
        let [r_A, r_B] = [*a, *b].map(|body| p_GM.coords - self.pose(body).translation.vector);
        let [w_A, w_B] = [*a, *b].map(|body| self.velocity(body).angular);

        // A turn of B about its origin moves M, and with it the velocity of M relative to A.
        if *b != BodyIndex::GROUND {
            let turned = -cross_cross(&w_B, &r_B);
            let carried = -skew(&w_A);
            let [torque, force] = [
                (K.torque_by_angular, K.torque_by_linear, D.torque_by_linear),
                (K.force_by_angular, K.force_by_linear, D.force_by_linear),
            ]
            .map(|(k_angular, k_linear, d_linear)| {
                from_origin(k_angular + d_linear * turned, k_linear + d_linear * carried, &r_B)
            });
            let damping = [
                from_origin(D.torque_by_angular, D.torque_by_linear, &r_B),
                from_origin(D.force_by_angular, D.force_by_linear, &r_B),
            ];
            // M is the point of application, which B carries along.
            let lever = cross_cross(&F_GM.force, &r_B);
            let on_b = at_origin(&[torque, force], &r_B, &lever, &Matrix3::zeros(), T::one());
            self.add(*b, *b, &on_b, &at_origin_of(&damping, &r_B, T::one()));
            let on_a = at_origin(&[torque, force], &r_A, &lever, &-skew(&F_GM.force), -T::one());
            self.add(*a, *b, &on_a, &at_origin_of(&damping, &r_A, -T::one()));
        }
        if *a != BodyIndex::GROUND {
            let turned = cross_cross(&w_A, &r_A) + skew(&V_M.linear);
            let (spun, carried) = (skew(&V_M.angular), skew(&w_A));
            let [torque, force] = [
                (
                    F_GM.torque,
                    K.torque_by_angular,
                    K.torque_by_linear,
                    D.torque_by_angular,
                    D.torque_by_linear,
                ),
                (F_GM.force, K.force_by_angular, K.force_by_linear, D.force_by_angular, D.force_by_linear),
            ]
            .map(|(along, k_angular, k_linear, d_angular, d_linear)| {
                let by_turn = d_angular * spun + d_linear * turned - k_angular - skew(&along);
                from_origin(by_turn, d_linear * carried - k_linear, &r_A)
            });
            let damping = [
                from_origin(-D.torque_by_angular, -D.torque_by_linear, &r_A),
                from_origin(-D.force_by_angular, -D.force_by_linear, &r_A),
            ];
            let none = Matrix3::zeros();
            let on_b = at_origin(&[torque, force], &r_B, &none, &none, T::one());
            self.add(*b, *a, &on_b, &at_origin_of(&damping, &r_B, T::one()));
            let on_a = at_origin(&[torque, force], &r_A, &none, &skew(&F_GM.force), -T::one());
            self.add(*a, *a, &on_a, &at_origin_of(&damping, &r_A, -T::one()));
        }
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

/// The matrix of `v ×`.
#[inline]
fn skew<T: Real>(v: &Vector3<T>) -> Matrix3<T> {
    v.cross_matrix()
}

/// The matrix of `a × (b × …)`.
#[inline]
fn cross_cross<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
    b * a.transpose() - Matrix3::from_diagonal_element(a.dot(b))
}

/// Derivatives by the twist of a body at M, as those by its twist at its origin.
#[inline]
fn from_origin<T: Real>(by_angular: Matrix3<T>, by_linear: Matrix3<T>, r: &Vector3<T>) -> [Matrix3<T>; 2] {
    // The shift of M is that of the origin plus the turn × r.
    [by_angular - times_skew(&by_linear, r), by_linear]
}

/// `m [r]×`: each row of `m` crossed with `r`.
#[inline]
fn times_skew<T: Real>(m: &Matrix3<T>, r: &Vector3<T>) -> Matrix3<T> {
    let [x, y, z] = [m.column(0), m.column(1), m.column(2)];
    Matrix3::from_columns(&[y * r.z - z * r.y, z * r.x - x * r.z, x * r.y - y * r.x])
}

/// `[r]× m`: `r` crossed with each column of `m`.
#[inline]
fn skew_times<T: Real>(r: &Vector3<T>, m: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_columns(&[0, 1, 2].map(|column| {
        let column: Vector3<T> = m.column(column).into_owned();
        r.cross(&column)
    }))
}

/// Derivatives of torque and force about M as those about an origin from which M is at `r`, where the lever changes too.
#[inline]
fn at_origin<T: Real>(
    [torque, force]: &[[Matrix3<T>; 2]; 2],
    r: &Vector3<T>,
    lever_by_angular: &Matrix3<T>,
    lever_by_linear: &Matrix3<T>,
    sign: T,
) -> Matrix6<T> {
    let mut all = Matrix6::zeros();
    for (column, lever) in [lever_by_angular, lever_by_linear].into_iter().enumerate() {
        let moment = torque[column] + skew_times(r, &force[column]) + lever;
        all.fixed_view_mut::<3, 3>(0, 3 * column).copy_from(&(moment * sign));
        all.fixed_view_mut::<3, 3>(3, 3 * column).copy_from(&(force[column] * sign));
    }
    all
}

/// The same where the lever does not change.
#[inline]
fn at_origin_of<T: Real>(torque_and_force: &[[Matrix3<T>; 2]; 2], r: &Vector3<T>, sign: T) -> Matrix6<T> {
    let none = Matrix3::zeros();
    at_origin(torque_and_force, r, &none, &none, sign)
}
