//! Derivatives of the torque of the bushing.

use nalgebra::{Matrix3, Vector3};

use super::LinearBushing;
use crate::elements::linear_bushing::law::Gimbal;
use crate::framework::AtDynamics;
use crate::math::Real;

/// The derivatives of the torque on M by a turn and by an angular velocity of M in F, all in Ground.
///
/// With `q̇ = N ω` the torque is `Nᵀf`, and `N` depends on `q_x` and `q_y`. The derivatives of `q̇` and of `Nᵀf` by these
/// are those of the angular velocity and of the moments in a turning gimbal.
#[inline]
pub(super) fn derivatives_of_torque<T: Real>(
    at: &AtDynamics<'_, T, LinearBushing<T>>,
    R_GF: &Matrix3<T>,
) -> [Matrix3<T>; 2] {
    let Gimbal { sx, cx, sy, over_cy } = at.position.gimbal;
    let ty = sy * over_cy;
    // The rates of the angles by an angular velocity in Ground: a is that about the axis of q_z as it is at q_y = 0.
    let [x, y, z] = [0, 1, 2].map(|axis| Vector3::from(R_GF.column(axis)));
    let a_G = z * cx - y * sx;
    let N = [x - a_G * ty, y * cx + z * sx, a_G * over_cy];

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
    let outer =
        |columns: [Vector3<T>; 3]| Matrix3::from_columns(&columns) * Matrix3::from_columns(&N).transpose();
    [outer([by_qx, by_qy, by_qz]), outer([N[0] * -c[0], N[1] * -c[1], N[2] * -c[2]])]
}
