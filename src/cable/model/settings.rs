//! Accuracy and effort of the solver.

use crate::math::{InvalidValue, Real, Requirement, check, checked_when_read};

/// Accuracy and effort of the solver.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct Settings<T: Real> {
    /// The largest allowed kink where a straight segment meets a surface \[rad\]. Default: 1e-9, or 64 units of roundoff
    /// if that is more.
    ///
    /// A kink of ε is an error of ε in the directions of forces relative to the tension. The error of the length is some
    /// hundredths of ε times the sizes of the obstacles, by which contact points are off the surfaces. At 1e-9 both are
    /// below the resolution of an integrator. Geodesics are computed to a hundredth of the smoothness. The remaining
    /// kinks are estimated when the solver stops, and may exceed the smoothness by a small factor: see
    /// [`PathResults::smoothness`](crate::cable::PathResults::smoothness).
    pub smoothness: T,
    /// The largest number of geodesics per obstacle in one run of Newton's method. Default: 60. A tracked path
    /// takes two or three; a cold search makes several runs.
    pub max_iterations: usize,
    /// The largest number of evaluations of surfaces per obstacle between two fixed points, over all attempts. Default:
    /// 150,000.
    ///
    /// A tracked path takes some tens. The setting bounds the cost of a path that is not found by count, not by time, so
    /// that the outcome does not depend on the machine. A third is for attempts in the remembered class, and the
    /// remainder for the search without memory, so that a restart finds what a search of a new state finds.
    ///
    /// Evaluations are counted as follows: a geodesic as one and its evaluations of derivatives; a move of a bead of a
    /// string as one; a move of a plan as five; a line searched for contact as fifty, or as five if it is seen to be
    /// free. A geodesic that would exceed the bound, such as a remembered one with a thousand windings, is abandoned, and
    /// the attempt ends. The total exceeds the bound by some hundreds per obstacle, and by a twentieth where the reason
    /// of a refusal is sought. In scalars with derivatives, those of the path found are additional.
    pub max_evaluations: usize,
}

impl<T: Real> Default for Settings<T> {
    fn default() -> Self {
        let smoothness = T::lit(1e-9).max(T::default_epsilon() * T::lit(64.0));
        Self { smoothness, max_iterations: 60, max_evaluations: 150_000 }
    }
}

checked_when_read!(Settings);

impl<T: Real> Settings<T> {
    /// The same settings in another scalar, with its default smoothness if this one is below its roundoff.
    pub fn cast<U: Real>(&self) -> Settings<U> {
        let Self { smoothness, max_iterations, max_evaluations } = *self;
        let cast = Settings { smoothness: smoothness.cast(), max_iterations, max_evaluations };
        let is_held = cast.smoothness >= Settings::<U>::least_smoothness();
        if is_held { cast } else { Settings { smoothness: Settings::default().smoothness, ..cast } }
    }

    /// The accuracy of tangents at the ends of geodesics \[rad\].
    pub(crate) fn accuracy(&self) -> T {
        self.smoothness * T::lit(0.01)
    }

    fn least_smoothness() -> T {
        T::default_epsilon() * T::lit(16.0)
    }

    pub(crate) fn validate(&self) -> Result<(), InvalidValue> {
        let Self { smoothness, max_iterations, max_evaluations } = *self;
        check::that(
            smoothness >= Self::least_smoothness(),
            "smoothness",
            smoothness,
            Requirement::AtLeast("16 units of roundoff"),
        )?;
        check::at_most("smoothness", smoothness, "0.01", T::lit(0.01))?;
        check::that(max_iterations > 0, "max_iterations", T::zero(), Requirement::Positive)?;
        check::that(max_evaluations > 0, "max_evaluations", T::zero(), Requirement::Positive)
    }
}
