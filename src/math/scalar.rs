//! The scalar trait over which the types of this crate are generic.

use nalgebra::RealField;

/// A real scalar: `f64`, `f32`, or a dual number that carries derivatives.
///
/// Implemented for everything that is nalgebra's [`RealField`] and `Copy`. Formulas take their
/// constants from [`Real::lit`], so that one kernel serves every scalar and derivatives pass
/// through it unchanged. Comparisons look at the value only, never at a derivative.
///
/// ```
/// use force_elements::Real;
///
/// fn kinetic_energy<T: Real>(mass: T, speed: T) -> T {
///     T::lit(0.5) * mass * speed * speed
/// }
/// assert_eq!(kinetic_energy(2.0_f32, 3.0), 9.0);
/// ```
pub trait Real: RealField + Copy {
    /// The constant `x` in this scalar, with zero derivatives.
    #[inline]
    fn lit(x: f64) -> Self {
        nalgebra::convert(x)
    }

    /// The value as `f64`, without derivatives: for messages, tables and decisions such as the length of a step,
    /// never for formulas.
    #[inline]
    fn to_f64(self) -> f64 {
        self.to_subset_unchecked()
    }

    /// The value in another scalar, with zero derivatives.
    #[inline]
    fn cast<U: Real>(self) -> U {
        U::lit(self.to_f64())
    }

    /// The unit roundoff of the underlying float to the power 7/8: smaller numbers are noise next to quantities
    /// of order one. Its value is 2e-14 in `f64` and 9e-7 in `f32`.
    #[inline]
    fn negligible() -> Self {
        // eps^(7/8) = eps / eps^(1/8), and the eighth root is three square roots.
        let eps = Self::default_epsilon();
        eps / eps.sqrt().sqrt().sqrt()
    }
}

impl<T: RealField + Copy> Real for T {}

#[cfg(test)]
mod tests {
    use super::*;
    use num_dual::Dual64;

    #[test]
    fn literals_carry_no_derivative() {
        let x = Dual64::lit(2.5);
        assert_eq!((x.re, x.eps), (2.5, 0.0));
        assert_eq!(Dual64::new(1.5, 7.0).to_f64(), 1.5);
    }

    #[test]
    fn negligible_follows_the_precision_of_the_scalar() {
        assert!((f64::negligible() - f64::EPSILON.powf(0.875)).abs() < 1e-20);
        assert!((f32::negligible() - f32::EPSILON.powf(0.875)).abs() < 1e-12);
    }
}
