//! The side of a kink on which differences are taken.

use crate::math::Real;

/// The present results, the results above and below, and the distances to those.
pub(super) struct Around<'a, T> {
    pub(super) here: &'a [T],
    pub(super) results: [&'a [T]; 2],
    pub(super) lengths: [T; 2],
    /// The fraction of a slope that is noise.
    pub(super) noise: f64,
}

impl<'a, T: Real> Around<'a, T> {
    /// The results on one side, above or below, and their distance.
    pub(super) fn side(&self, side: usize) -> (&'a [T], T) {
        (self.results[side], self.lengths[side])
    }

    /// The slopes of one result towards both sides.
    fn slopes(&self, result: usize) -> [f64; 2] {
        [0, 1].map(|side| ((self.results[side][result] - self.here[result]) / self.lengths[side]).to_f64())
    }

    /// The difference of the one-sided slopes of one result, if it is far larger than for a smooth result. The slope of a
    /// smooth result changes by 1e4 of its size per metre, which is 0.6 % over 6e-7 m.
    fn jump(&self, result: usize) -> Option<f64> {
        let [above, below] = self.slopes(result);
        let roundoff = 64.0 * T::default_epsilon().to_f64() / self.lengths[0].to_f64().abs();
        let smooth = (0.01 + 4.0 * self.noise) * (above.abs() + below.abs())
            + roundoff * self.here[result].to_f64().abs();
        Some((above - below).abs()).filter(|jump| *jump > smooth)
    }

    /// Whether any result is kinked.
    pub(super) fn is_kinked(&self) -> bool {
        (0..self.here.len()).any(|result| self.jump(result).is_some())
    }

    /// The side on which results are smooth, above or below; `None` if both are and there is no kink between them. `near`
    /// has half the distances.
    ///
    /// If there is a kink exactly here, the one-sided slopes differ by the same amount over half the distance; if results
    /// are smooth, by half of it. A kink at a distance changes the slope of its side with the distance; the slope of the
    /// other side is correct.
    pub(super) fn smooth_side(&self, near: &Self, forwards: bool) -> Option<usize> {
        let (mut kept, mut changes) = (0.0_f64, [0.0_f64; 2]);
        for result in 0..self.here.len() {
            let Some(jump) = self.jump(result) else { continue };
            let (wide, narrow) = (self.slopes(result), near.slopes(result));
            kept = kept.max((narrow[0] - narrow[1]).abs() / jump);
            for side in 0..2 {
                changes[side] = changes[side].max((wide[side] - narrow[side]).abs() / jump);
            }
        }
        let [above, below] = changes;
        let smoother = usize::from(below < above);
        if kept > 0.75 {
            Some(if (above - below).abs() > 0.01 { smoother } else { usize::from(!forwards) })
        } else {
            // The share is a quarter for each side if results are smooth.
            (above.max(below) > 0.35).then_some(smoother)
        }
    }
}
