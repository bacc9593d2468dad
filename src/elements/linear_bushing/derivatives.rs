//! Derivatives of the law of the bushing.

use core::array::from_fn;

use nalgebra::{Matrix3, Vector3, Vector6};

use super::{Frames, LinearBushing, Position, Velocity};
use crate::elements::linear_bushing::law::Gimbal;
use crate::framework::{AtDynamics, Between, Blocks, Slopes};
use crate::math::{Real, SpatialForce, SpatialVelocity, times_transpose};

type At<'a, T> = AtDynamics<'a, T, LinearBushing<T>>;

impl<T: Real> LinearBushing<T> {
    /// The law as seen from body 1.
    #[inline]
    pub(super) fn between(&self, at: &At<'_, T>) -> Between<T> {
        let Position { X_GF, X_GM, .. } = at.position;
        let Velocity { V_GF, V_GM, V_FM, .. } = at.velocity;
        let R_GF = X_GF.rotation.matrix();
        let [by_angles, by_rates] = derivatives_of_torque(at, R_GF);
        let axes = [0, 1, 2].map(|axis| Vector3::from(R_GF.column(axis)));
        let [by_shift, by_shift_rate] = [&at.parameters.law.stiffness, &at.parameters.law.damping]
            .map(|factors| weighted(&axes, &-factors.fixed_rows::<3>(3)));
        Between {
            bodies: self.ends.bodies(),
            p_GM: X_GM.translation.vector.into(),
            F_GM: at.dynamics.F_GM,
            V_M: SpatialVelocity::new(V_GM.angular - V_GF.angular, R_GF * V_FM.linear),
            by_position: Slopes::Separate { torque: by_angles, force: by_shift },
            by_velocity: Slopes::Separate { torque: by_rates, force: by_shift_rate },
        }
    }

    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let Position { X_GF, X_GM, q, .. } = at.position;
        let (bodies, p_GM) = (self.ends.bodies(), X_GM.translation.vector.into());
        let first = Frames::place(blocks);
        let poses = at.parameters.frames.poses();
        blocks.add_between_by_frames(&self.between(at), &poses, first, &X_GF.translation.vector);
        let R_GF = X_GF.rotation.matrix();
        let (rates, none) = (rates_by_turn(at, R_GF), Vector3::zeros());
        // The parameters of the law: stiffness and damping of each axis.
        let change = |factors: &Vector6<T>, axis: usize| {
            if axis < 3 {
                SpatialForce::new(rates[axis] * -factors[axis], none)
            } else {
                SpatialForce::new(none, R_GF.column(axis - 3) * -factors[axis])
            }
        };
        let changes: [_; 12] =
            from_fn(|i| if i < 6 { change(q, i) } else { change(&at.velocity.qdot, i - 6) });
        blocks.add_between_by_variables(bodies, &p_GM, first + Frames::<T>::COUNT, &changes);
    }
}

/// The derivative of the torque on M by a rotation of M in F, in Ground, without that due to the stiffness.
pub(super) fn geometric_stiffness<T: Real>(at: &At<'_, T>) -> Matrix3<T> {
    let R_GF = at.position.X_GF.rotation.matrix();
    let stiffness = at.parameters.law.stiffness.fixed_rows::<3>(0).into_owned();
    derivatives_of_torque(at, R_GF)[0] + weighted(&rates_by_turn(at, R_GF), &stiffness)
}

/// The rates of the angles by an angular velocity of M in F, in Ground: the rows of `N`.
#[inline]
pub(super) fn rates_by_turn<T: Real>(at: &At<'_, T>, R_GF: &Matrix3<T>) -> [Vector3<T>; 3] {
    let Gimbal { sx, cx, sy, over_cy } = at.position.gimbal;
    let [x, y, z] = [0, 1, 2].map(|axis| Vector3::from(R_GF.column(axis)));
    // The rate about the axis of q_z, at q_y = 0.
    let a_G = z * cx - y * sx;
    [x - a_G * (sy * over_cy), y * cx + z * sx, a_G * over_cy]
}

/// The derivatives of the torque on M by a rotation and by an angular velocity of M in F, all in Ground.
///
/// With `q̇ = N ω` the torque is `Nᵀf`, and `N` depends on `q_x` and `q_y`. The derivatives of `q̇` and of `Nᵀf` by these
/// are those of the angular velocity and of the moments in a turning gimbal.
#[inline]
fn derivatives_of_torque<T: Real>(at: &At<'_, T>, R_GF: &Matrix3<T>) -> [Matrix3<T>; 2] {
    let Gimbal { sx, cx, sy, over_cy } = at.position.gimbal;
    let ty = sy * over_cy;
    let [y, z] = [1, 2].map(|axis| Vector3::from(R_GF.column(axis)));
    let a_G = z * cx - y * sx;
    let N = rates_by_turn(at, R_GF);

    let w = at.velocity.V_FM.angular;
    let (a, b) = (cx * w.z - sx * w.y, cx * w.y + sx * w.z);
    let over_cy2 = over_cy * over_cy;
    let rates_by_qx = Vector3::new(ty * b, a, -b * over_cy);
    let rates_by_qy = Vector3::new(-a * over_cy2, T::zero(), a * sy * over_cy2);

    let f = at.dynamics.f;
    let g = f[2] * over_cy - ty * f[0];
    let torque_by_qx = z * (cx * f[1] - sx * g) - y * (sx * f[1] + cx * g);
    let torque_by_qy = a_G * ((f[2] * sy - f[0]) * over_cy2);

    let law = &at.parameters.law;
    let (k, c) = (law.stiffness.fixed_rows::<3>(0), law.damping.fixed_rows::<3>(0));
    // Nᵀ times a vector of moments.
    let torque_of = |moments: &Vector3<T>| N[0] * moments.x + N[1] * moments.y + N[2] * moments.z;
    let by_qx = torque_by_qx - torque_of(&c.component_mul(&rates_by_qx)) - N[0] * k[0];
    let by_qy = torque_by_qy - torque_of(&c.component_mul(&rates_by_qy)) - N[1] * k[1];
    let by_qz = N[2] * -k[2];
    let outer = |columns: [Vector3<T>; 3]| {
        times_transpose(&Matrix3::from_columns(&columns), &Matrix3::from_columns(&N))
    };
    [outer([by_qx, by_qy, by_qz]), weighted(&N, &-c)]
}

/// The sum of the squares `v vᵀ` of three vectors with these weights.
#[inline]
fn weighted<T: Real>([a, b, c]: &[Vector3<T>; 3], weights: &Vector3<T>) -> Matrix3<T> {
    let (wa, wb, wc) = (a * weights.x, b * weights.y, c * weights.z);
    let at = |i: usize, j: usize| wa[i] * a[j] + wb[i] * b[j] + wc[i] * c[j];
    let (xy, xz, yz) = (at(0, 1), at(0, 2), at(1, 2));
    Matrix3::new(at(0, 0), xy, xz, xy, at(1, 1), yz, xz, yz, at(2, 2))
}
