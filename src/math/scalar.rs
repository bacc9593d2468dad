//! The scalar trait over which the types of this crate are generic.

use core::any::TypeId;

use nalgebra::RealField;

/// A real scalar: `f64`, `f32`, or a dual number that carries derivatives.
///
/// It is implemented for every type that is nalgebra's [`RealField`] and `Copy`. Formulas take their constants from
/// [`Real::lit`], so that one kernel serves every scalar and derivatives pass through it unchanged. Comparisons use only
/// the value, never a derivative.
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

    /// The value as `f64`, without derivatives: for messages, tables and decisions such as the length of a step, not
    /// for formulas.
    #[inline]
    fn to_f64(self) -> f64 {
        self.to_subset_unchecked()
    }

    /// The value in another scalar, with zero derivatives.
    #[inline]
    fn cast<U: Real>(self) -> U {
        U::lit(self.to_f64())
    }

    /// The unit roundoff of the underlying float to the power 7/8: smaller numbers are noise compared with quantities
    /// of order one. Its value is 2e-14 in `f64` and 9e-7 in `f32`.
    #[inline]
    fn negligible() -> Self {
        // eps^(7/8) = eps / eps^(1/8), and the eighth root is three square roots.
        let eps = Self::default_epsilon();
        eps / eps.sqrt().sqrt().sqrt()
    }
}

impl<T: RealField + Copy> Real for T {}

/// Whether two numbers have the same bits. `false` for scalars other than `f64` and `f32`: a comparison of dual
/// numbers, for example, ignores their derivatives.
#[inline]
pub(crate) fn have_same_bits<T: Real>(a: T, b: T) -> bool {
    is_plain::<T>() && a.to_f64().to_bits() == b.to_f64().to_bits()
}

/// Whether a scalar is a plain float, so that a result rounded to `f64` contains all information; any other scalar may
/// carry derivatives.
#[inline]
pub(crate) fn is_plain<T: Real>() -> bool {
    TypeId::of::<T>() == TypeId::of::<f64>() || TypeId::of::<T>() == TypeId::of::<f32>()
}

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
    fn numbers_with_a_part_that_cannot_be_seen_are_never_the_same() {
        assert!(
            have_same_bits(1.5, 1.5) && have_same_bits(1.5_f32, 1.5) && have_same_bits(f64::NAN, f64::NAN)
        );
        assert!(!have_same_bits(0.0, -0.0) && !have_same_bits(0.0_f32, -0.0));
        assert!(!have_same_bits(1.0, 1.0_f64.next_up()) && !have_same_bits(1.0, 1.0_f32.next_up()));
        let (a, b) = (Dual64::new(1.0, 0.0), Dual64::new(1.0, 2.0));
        assert!(a == b && !have_same_bits(a, b) && !have_same_bits(a, a));
    }

    #[test]
    fn negligible_follows_the_precision_of_the_scalar() {
        assert!((f64::negligible() - f64::EPSILON.powf(0.875)).abs() < 1e-20);
        assert!((f32::negligible() - f32::EPSILON.powf(0.875)).abs() < 1e-12);
    }
}
