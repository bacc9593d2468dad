//! A force that is a function of one displacement, with its energy.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::iter::repeat_n;

use super::table::{self, Knot};
use crate::framework::{ElementError, ElementResult};
use crate::math::{InvalidValue, Real};

/// A force on one axis of a bushing, from a table or a function: `φ(x)` against a displacement or an angle, with its
/// energy `∫ φ dx`, or a force against a rate.
///
/// # Tables
///
/// A piecewise cubic passes through every point of the table and has a continuous slope. Between two points it rises if
/// they rise and falls if they fall, so it oscillates no more than the table. It is the `PchipInterpolator` of scipy,
/// except that the slopes at both ends are those of the last chords. Noise of a measurement remains in the curve, unless
/// the curve is [fitted](Self::rising). Outside the table the curve continues along its end slopes. The energy is the
/// integral of the curve from `x = 0`, exact to roundoff. Where the force falls, the bushing alone is not stable, and the
/// energy may be negative.
///
/// # Functions
///
/// A [function](Self::function) of your own returns energy, force and slope together. Neither their consistency is
/// checked, nor that the force rises. A force that is not the derivative of its energy breaks the energy balance, which
/// [`testing::gradient`](crate::testing::gradient) detects in a bushing with that curve. A wrong slope makes the
/// linearization wrong, which [`testing::linearization`](crate::testing::linearization) detects.
///
/// # Source
///
/// F. N. Fritsch, J. Butland, *A method for constructing local monotone piecewise cubic interpolants*, SIAM Journal on
/// Scientific and Statistical Computing 5 (1984) 300–304.
///
/// # Example: a stop that stiffens
///
/// ```
/// use force_elements::spatial_bushing::{Curve, CurvePoint};
///
/// let stop = Curve::new(&[(-0.02, -400.0), (-0.01, 0.0), (0.01, 0.0), (0.02, 400.0)])?;
/// assert_eq!(stop.at(0.0).force, 0.0);
/// assert_eq!(stop.at(0.02).force, 400.0);
/// assert!(stop.at(0.02).energy > 0.0);
///
/// let rubber = Curve::function(|x: f64| CurvePoint {
///     energy: 500.0 * x.powi(2) + 1e6 * x.powi(4),
///     force: 1000.0 * x + 4e6 * x.powi(3),
///     slope: 1000.0 + 12e6 * x.powi(2),
/// });
/// assert!((rubber.at(0.02).force - 52.0).abs() < 1e-12);
/// # Ok::<(), force_elements::InvalidValue>(())
/// ```
#[derive(Clone)]
pub struct Curve<T: Real> {
    /// The points of a table, at least two; empty for a function.
    knots: Vec<Knot<T>>,
    /// A user's function.
    law: Option<Arc<dyn Fn(T) -> CurvePoint<T> + Send + Sync>>,
}

/// A [`Curve`] at one displacement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint<T: Real> {
    /// The energy stored \[J\].
    pub energy: T,
    /// The force `φ`, the derivative of the energy \[N or N·m\].
    pub force: T,
    /// The derivative of the force \[N/m or N·m/rad\].
    pub slope: T,
}

impl<T: Real> fmt::Debug for Curve<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Curve").field("knots", &self.knots).field("has_law", &self.law.is_some()).finish()
    }
}

/// Two functions are equal if they are the same object.
impl<T: Real> PartialEq for Curve<T> {
    fn eq(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|curve| curve.law.as_ref().map(Arc::as_ptr));
        self.knots == other.knots && own.map(<*const _>::cast::<()>) == others.map(<*const _>::cast::<()>)
    }
}

impl<T: Real> Curve<T> {
    /// The curve through these points `(x, φ)`, in order.
    ///
    /// # Errors
    /// [`InvalidValue`] for fewer than two points, a number, slope or energy that is not finite, or displacements that do not
    /// increase.
    pub fn new(points: &[(T, T)]) -> Result<Self, InvalidValue> {
        Ok(Self { knots: table::knots(points)?, law: None })
    }

    /// The rising curve that is nearest to these points in the mean square: forces that fall are replaced by their mean,
    /// so that noise does not make a bushing unstable.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Source
    ///
    /// M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid, E. Silverman, *An empirical distribution function for sampling with
    /// incomplete information*, The Annals of Mathematical Statistics 26 (1955) 641–647: pooling of adjacent violators.
    pub fn rising(points: &[(T, T)]) -> Result<Self, InvalidValue> {
        let mut points = points.to_vec();
        // The mean of each pool, its weight, and its number of points.
        let mut pools: Vec<(T, T, usize)> = Vec::new();
        for &(_, force) in &points {
            let (mut mean, mut weight, mut count) = (force, T::one(), 1);
            while let Some((before, other, more)) = pools.pop_if(|last| last.0 > mean) {
                mean = (mean * weight + before * other) / (weight + other);
                weight += other;
                count += more;
            }
            pools.push((mean, weight, count));
        }
        let forces = pools.into_iter().flat_map(|(mean, _, count)| repeat_n(mean, count));
        for (point, force) in points.iter_mut().zip(forces) {
            point.1 = force;
        }
        Self::new(&points)
    }

    /// A curve from a user's function.
    ///
    /// An evaluation of the bushing returns [`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce) if the
    /// force or energy of the function is not finite.
    pub fn function(law: impl Fn(T) -> CurvePoint<T> + Send + Sync + 'static) -> Self {
        Self { knots: Vec::new(), law: Some(Arc::new(law)) }
    }

    /// Energy, force and slope.
    #[inline]
    pub fn at(&self, x: T) -> CurvePoint<T> {
        self.law.as_ref().map_or_else(|| table::at(&self.knots, x), |law| law(x))
    }

    /// The largest slope of a table, or the magnitude of the slope of a function here.
    pub(super) fn steepest(&self, x: T) -> T {
        self.law.as_ref().map_or_else(|| table::steepest(&self.knots), |law| law(x).slope.abs())
    }

    /// Refuses a table over a rate whose force does not have the sign of the rate.
    pub(super) fn check_dissipation(&self) -> Result<(), InvalidValue> {
        self.law.as_ref().map_or_else(|| table::check_dissipation(&self.knots), |_| Ok(()))
    }

    /// The same curve in another scalar, through its points.
    ///
    /// # Errors
    /// [`ElementError::BoundToScalar`] for a function; the errors of [`new`](Self::new) for points that the other scalar
    /// cannot represent or distinguish.
    pub fn cast<U: Real>(&self) -> ElementResult<Curve<U>> {
        if self.law.is_some() {
            return Err(ElementError::BoundToScalar);
        }
        let points: Vec<_> = self.knots.iter().map(|(x, point)| (x.cast(), point.force.cast())).collect();
        Ok(Curve::new(&points)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least of the greatest means of runs that contain a point is another formula of the same fit.
    #[test]
    fn a_rising_curve_is_the_nearest_in_the_mean_square() {
        let mut number = 1_u32;
        for count in 2..40_u8 {
            let points: Vec<(f64, f64)> = (0..count)
                .map(|i| {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (f64::from(i), 0.3 * f64::from(i) + f64::from(number >> 16) / 6553.6)
                })
                .collect();
            let mean = |i: u8, j: u8| {
                let sum: f64 = points[usize::from(i)..=usize::from(j)].iter().map(|point| point.1).sum();
                sum / f64::from(j - i + 1)
            };
            let curve = Curve::rising(&points).expect("a function");
            for k in 0..count {
                let least = |i| (k..count).map(|j| mean(i, j)).fold(f64::INFINITY, f64::min);
                let expected = (0..=k).map(least).fold(f64::NEG_INFINITY, f64::max);
                // Sums of at most forty numbers of order ten.
                assert!((curve.at(f64::from(k)).force - expected).abs() < 1e-12, "{count} {k}");
            }
        }
        assert!(Curve::rising(&[(0.0, 2.0), (1.0, f64::NAN), (2.0, 1.0)]).is_err());
        assert!(Curve::rising(&[(0.0, f64::INFINITY), (1.0, 1.0)]).is_err());
    }

    #[test]
    fn a_damper_has_the_sign_of_the_rate() {
        let is_damper =
            |points: &[(f64, f64)]| Curve::new(points).expect("a function").check_dissipation().is_ok();
        assert!(is_damper(&[(-1.0, -3.0), (0.0, 0.0), (0.5, 2.0), (1.0, 1.0), (2.0, 4.0)]));
        assert!(is_damper(&[(0.0, 0.0), (1.0, 2.0)]));
        // Pushes at rest, drives backwards, drives forwards, falls below zero beyond its end, and passes beside zero.
        assert!(!is_damper(&[(-1.0, -3.0), (0.0, 0.1), (1.0, 2.0)]));
        assert!(!is_damper(&[(-1.0, 3.0), (0.0, 0.0), (1.0, 2.0)]));
        assert!(!is_damper(&[(0.0, 0.0), (1.0, -2.0), (2.0, 2.0)]));
        assert!(!is_damper(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)]));
        assert!(!is_damper(&[(-1.0, -1.0), (1.0, 2.0)]));
    }
}
