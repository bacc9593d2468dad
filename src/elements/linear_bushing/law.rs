//! Gimbal angles of an orientation.

use nalgebra::{Matrix3, Vector3};

use crate::elements::linear_bushing::Singular;
use crate::framework::ElementError;
use crate::math::Real;
use crate::results;

/// The least cosine of the middle angle: 0.46° from ±90°, where the outer angles turn up to 125 times as fast as
/// M.
const LEAST_COSINE: f64 = 0.008;

results! {
    /// Sine and cosine of the first angle, sine and reciprocal cosine of the second: the axes of the
    /// gimbal, expressed in F, are x, `(0, cx, sx)` and `(sy, −sx·cy, cx·cy)`.
    #[derive(Copy)]
    pub(super) struct Gimbal<T> {
        pub(super) sx: T = 0.0;
        pub(super) cx: T = 1.0;
        pub(super) sy: T = 0.0;
        pub(super) over_cy: T = 1.0;
    }
}

/// The angles within ±π, ±π/2, ±π, and the gimbal.
///
/// # Errors
/// [`Singular`] near a middle angle of ±90°.
#[inline(always)]
#[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
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
