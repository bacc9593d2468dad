//! Uniform cubic B-splines.

use crate::math::Real;

/// The four cubic B-splines of a cell at `u`, from 0 to 1 across it, with first and second derivatives by `u`.
#[inline]
pub(crate) fn cubic_splines<T: Real>(u: T) -> [[T; 4]; 3] {
    let w = T::one() - u;
    let (sixth, half) = (T::lit(1.0 / 6.0), T::lit(0.5));
    let [two, three, four, six] = [2.0, 3.0, 4.0, 6.0].map(T::lit);
    [
        [
            w * w * w * sixth,
            (four + (three * u - six) * u * u) * sixth,
            (four + (three * w - six) * w * w) * sixth,
            u * u * u * sixth,
        ],
        [-half * w * w, (three * u - four) * u * half, (four - three * w) * w * half, half * u * u],
        [w, three * u - two, three * w - two, u],
    ]
}
