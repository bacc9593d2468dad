//! Gaps that could close and open again between two evaluations.

use alloc::vec::Vec;

use super::{Error, ForceSystem, Stage, State};
use crate::math::Real;

/// The gap of a contact that acts on one side only: two surfaces apart, a coordinate before its stop, a slack cable.
///
/// A host with error control compares the gaps at both ends of a step by
/// [`may_close_before`](Self::may_close_before): a free flight has no error, so nothing else bounds the step in which a
/// contact may be touched and left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The distance of the surfaces \[m or rad\]; not greater than zero where forces act.
    pub distance: f64,
    /// The rate of change of the distance.
    pub rate: f64,
}

impl Gap {
    /// Returns the time \[s\] from the start at which a gap that is open at both ends of a step of this length may have
    /// been closed; `None` if it was not.
    ///
    /// A gap that is convex in time, such as that between a plane and a body in free flight, lies above its tangents at
    /// both ends. It has stayed open unless the tangents meet below zero. The time is that at which they meet, but at
    /// least a tenth of the step from either end. A step that ends at this time shows whether the gap is closed.
    #[must_use]
    pub fn may_close_before(self, end: Self, step: f64) -> Option<f64> {
        if !(self.distance > 0.0 && end.distance > 0.0 && self.rate < 0.0 && end.rate > 0.0) {
            return None;
        }
        let time = (self.distance - end.distance + end.rate * step) / (end.rate - self.rate);
        (self.distance + self.rate * time < 0.0).then(|| time.clamp(0.1 * step, 0.9 * step))
    }
}

impl<T: Real> ForceSystem<T> {
    /// Writes the [gaps](Gap) of all enabled elements. Their order is the same for all states of a system with the same
    /// elements enabled.
    ///
    /// Elements that report gaps are
    ///
    /// - [`ExponentialSpring`](crate::ExponentialSpring), to the height at which its force is a thousandth of `d1`;
    /// - [`ElasticFoundation`](crate::ElasticFoundation) and [`OnBed`](crate::laws::OnBed), between meshes with springs
    ///   and half-spaces;
    /// - [`HertzContact`](crate::HertzContact), and limit stops;
    /// - cables: below the slack length, at the strain of their longest strand, whose rate does not include slip from
    ///   strand to strand while it is taut.
    ///
    /// Contacts between two bodies of finite size are also covered by [`passing_time`](Self::passing_time).
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another system.
    pub fn write_gaps(&self, state: &State<T>, gaps: &mut Vec<Gap>) -> Result<(), Error> {
        self.require(state, Stage::Dynamics)?;
        gaps.clear();
        self.for_each_enabled(state, |_, element| {
            element.report_gaps(&mut |[distance, rate]| {
                gaps.push(Gap { distance: distance.to_f64(), rate: rate.to_f64() });
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_under_a_constant_force_that_closes_between_is_found() {
        // Gaps `g − v·t + a·t²/2`, narrowest `v/a` after the start.
        let mut found = 0;
        for (g, v, a) in
            [(1.0, 2.0, 1.0), (0.1, 1.0, 9.81), (0.01, 3.0, 9.81), (5.0, 9.0, 9.81), (1e-9, 1e-3, 1.0)]
        {
            let at = |t: f64| Gap { distance: g - v * t + 0.5 * a * t * t, rate: a * t - v };
            for i in 1..600 {
                let step = 0.01 * f64::from(i) * v / a;
                let narrowest = if step > v / a { g - 0.5 * v * v / a } else { at(step).distance };
                let is_missed = narrowest < 0.0 && at(step).distance > 0.0 && at(step).rate > 0.0;
                let time = at(0.0).may_close_before(at(step), step);
                assert!(
                    !is_missed || time.is_some_and(|time| 0.0 < time && time < step),
                    "{g} {v} {a} {step}"
                );
                found += u32::from(is_missed);
            }
        }
        assert!(found > 400, "{found}");
    }

    #[test]
    fn a_gap_that_remains_open_closes_or_opens_throughout_does_not_bound_a_step() {
        let gap = |distance, rate| Gap { distance, rate };
        assert_eq!(gap(1.0, -1.0).may_close_before(gap(1.0, 1.0), 1.0), None);
        assert_eq!(gap(1.0, -1.0).may_close_before(gap(-0.1, 1.0), 4.0), None);
        assert_eq!(gap(1.0, -1.0).may_close_before(gap(0.1, -1.0), 4.0), None);
        assert_eq!(gap(1.0, 1.0).may_close_before(gap(1.0, 1.0), 4.0), None);
        assert_eq!(gap(1.0, f64::NAN).may_close_before(gap(1.0, 1.0), 4.0), None);
        assert_eq!(gap(1.0, -1.0).may_close_before(gap(1.0, 1.0), 4.0), Some(2.0));
    }
}
