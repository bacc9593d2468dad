//! The stiffness that tension gives to a cable across itself.

use crate::cable::PathResults;
use crate::framework::Stiffnesses;
use crate::math::Real;

/// Reports, for a cable of at most this tension \[N\], what resists a motion of the ends of each straight segment across
/// it, and a turn of the bodies that carry them.
pub(super) fn report_tension<T: Real>(
    path: &PathResults<T>,
    tension: f64,
    stiffnesses: &mut Stiffnesses<'_, T>,
) {
    for segment in &path.segments {
        let length = segment.length.to_f64();
        let ends = [(segment.from_body, segment.from_G), (segment.to_body, segment.to_G)];
        if length > 0.0 {
            stiffnesses.between(tension / length, 0.0, ends);
        }
        stiffnesses.loaded(tension, 0.0, ends);
    }
}
