//! Uniform cubic B-splines.

use crate::math::Real;

/// The four cubic B-splines of a cell at `u`, from 0 to 1 across it, each with first and second derivative by `u`.
#[inline]
pub(crate) fn cubic_splines<T: Real>(u: T) -> [[T; 3]; 4] {
    let w = T::one() - u;
    let (sixth, half) = (T::lit(1.0 / 6.0), T::lit(0.5));
    let [two, three, four, six] = [2.0, 3.0, 4.0, 6.0].map(T::lit);
    [
        [w * w * w * sixth, -half * w * w, w],
        [(four + (three * u - six) * u * u) * sixth, (three * u - four) * u * half, three * u - two],
        [(four + (three * w - six) * w * w) * sixth, (four - three * w) * w * half, three * w - two],
        [u * u * u * sixth, half * u * u, u],
    ]
}
