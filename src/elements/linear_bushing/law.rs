//! Gimbal angles of an orientation, with whole turns.

use nalgebra::{Matrix3, Vector3, convert_unchecked};

use crate::elements::linear_bushing::{AmbiguousTurn, Discrete, Singular};
use crate::framework::ElementError;
use crate::math::Real;

/// The least cosine of the middle angle: 0.46° from ±90°, where the outer angles turn up to 125 times as fast as
/// M.
const LEAST_COSINE: f64 = 0.008;

/// The most by which both outer angles may change in one step \[rad\].
///
/// Crossing ±90° changes both by π, far more than this. Passing close by changes both by nearly π in a short
/// time, which only short steps resolve: an integrator of order 2 whose steps change the angles by δ was measured
/// to err by up to 1.2·δ² of the energy, here 1 %.
const MOST_OF_BOTH: f64 = 0.1;

/// The most by which one outer angle may change in one step \[rad\]: a twentieth less than half a turn, beyond
/// which the sense of rotation is ambiguous.
const MOST_OF_ONE: f64 = 3.0;

/// Sine and cosine of the first angle, sine and reciprocal cosine of the second: the axes of the
/// gimbal, expressed in F, are x, `(0, cx, sx)` and `(sy, −sx·cy, cx·cy)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gimbal<T> {
    pub(super) sx: T,
    pub(super) cx: T,
    pub(super) sy: T,
    pub(super) over_cy: T,
}

impl<T: Real> Default for Gimbal<T> {
    fn default() -> Self {
        Self { sx: T::zero(), cx: T::one(), sy: T::zero(), over_cy: T::one() }
    }
}

/// The angles within ±π, ±π/2, ±π, and the gimbal.
///
/// # Errors
/// [`Singular`] near a middle angle of ±90°.
#[inline]
pub(super) fn principal_angles<T: Real>(R_FM: &Matrix3<T>) -> Result<(Vector3<T>, Gimbal<T>), ElementError> {
    let (r02, r12, r22) = (R_FM[(0, 2)], R_FM[(1, 2)], R_FM[(2, 2)]);
    let cy = (r12 * r12 + r22 * r22).sqrt();
    if cy < T::lit(LEAST_COSINE).max(T::default_epsilon().sqrt()) {
        return Err(Singular { angle: r02.atan2(cy).to_f64() }.into());
    }
    // The only angle without a division comes first, to overlap with the division.
    let qy = angle_of(r02, cy);
    let over_cy = T::one() / cy;
    let (sx, cx) = (-r12 * over_cy, r22 * over_cy);
    let (sz, cz) = (-R_FM[(0, 1)] * over_cy, R_FM[(0, 0)] * over_cy);
    Ok((Vector3::new(angle_of(sx, cx), qy, angle_of(sz, cz)), Gimbal { sx, cx, sy: r02, over_cy }))
}

/// The angle with this sine and cosine.
///
/// The arc sine takes half the time of the arc tangent of two arguments, and up to 45° it is as
/// accurate: there it multiplies a relative error of the sine by at most 1.3.
#[inline]
fn angle_of<T: Real>(sin: T, cos: T) -> T {
    if cos > T::lit(0.7) { sin.asin() } else { sin.atan2(cos) }
}

/// The outer angles `q_x` and `q_z`, with the whole turns that bring them nearest to the accepted ones.
///
/// # Errors
/// [`AmbiguousTurn`] if they have changed by too much.
#[inline]
pub(super) fn with_turns<T: Real>(qx: T, qz: T, accepted: &Discrete<T>) -> Result<(T, T), ElementError> {
    let near = T::lit(MOST_OF_BOTH);
    let is_near = (qx - accepted.accepted_qx).abs() <= near && (qz - accepted.accepted_qz).abs() <= near;
    if is_near || !accepted.accepted { Ok((qx, qz)) } else { with_turns_from_afar(qx, qz, accepted) }
}

#[inline(never)]
fn with_turns_from_afar<T: Real>(qx: T, qz: T, accepted: &Discrete<T>) -> Result<(T, T), ElementError> {
    let (qx, qz) = (nearest(qx, accepted.accepted_qx), nearest(qz, accepted.accepted_qz));
    let (dx, dz) = (qx - accepted.accepted_qx, qz - accepted.accepted_qz);
    let (less, more) = if dx.abs() < dz.abs() { (dx.abs(), dz.abs()) } else { (dz.abs(), dx.abs()) };
    if less <= T::lit(MOST_OF_BOTH) && more <= T::lit(MOST_OF_ONE) {
        Ok((qx, qz))
    } else {
        Err(AmbiguousTurn { qx: dx.to_f64(), qz: dz.to_f64() }.into())
    }
}

/// An angle plus the whole turns that bring it nearest to another.
fn nearest<T: Real>(angle: T, to: T) -> T {
    // On plain values and without a math library: dual numbers have no `round`.
    let turns = (to - angle).to_f64() * (1.0 / core::f64::consts::TAU);
    let half = if turns < 0.0 { -0.5 } else { 0.5 };
    let turns = f64::from(convert_unchecked::<f64, i32>(turns + half));
    angle + T::lit(turns * core::f64::consts::TAU)
}
