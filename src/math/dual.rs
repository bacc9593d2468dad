//! The arithmetic of laws with branches, and a small dual number that implements it.

use core::cmp::Ordering;
use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use nalgebra::{ComplexField, RealField};

use crate::math::Real;
use crate::math::scalar::is_plain;

/// The numbers in which a law is written: the scalar of a system, or that scalar with derivatives in some directions.
///
/// It has fewer requirements than [`Real`], whose traits a type cannot implement without `unsafe` code. Comparisons use
/// only values, so every branch is that of the law, and derivatives are those of the branch taken. [`laws`](crate::laws)
/// of force are written over it.
#[allow(unreachable_pub, reason = "laws are methods of public structs")]
#[allow(clippy::return_self_not_must_use, reason = "as little as of operators")]
pub trait Number:
    Copy
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Debug
    + 'static
{
    /// The scalar, without derivatives.
    type Scalar: Real;

    /// A constant.
    fn of(value: Self::Scalar) -> Self;
    /// The value without derivatives.
    fn value(self) -> Self::Scalar;
    /// `value` with the derivatives of `self` times `slope`; zero where the slope is not finite, as at the end of a root.
    fn chain(self, value: Self::Scalar, slope: Self::Scalar) -> Self;
    /// Whether the number and its derivatives are zero. A branch that omits such a number drops no derivative.
    fn vanishes(self) -> bool;

    /// A literal.
    #[inline]
    fn lit(value: f64) -> Self {
        Self::of(Real::lit(value))
    }

    /// Zero.
    #[inline]
    fn zero() -> Self {
        Self::of(nalgebra::zero())
    }

    /// The magnitude; at zero, the number itself, with its derivatives.
    #[inline]
    fn abs(self) -> Self {
        if self < Self::zero() { -self } else { self }
    }

    /// The number, or its negative if the sign bit of `direction` is set.
    #[inline]
    fn towards(self, direction: Self) -> Self {
        // Branch-free: signs of velocities alternate, and a misprediction costs more than the remainder of the function.
        self * Self::of(nalgebra::one::<Self::Scalar>().copysign(direction.value()))
    }

    /// The larger one, or `self` if they are equal. A NaN in `self` is returned, so that an overflow is not hidden.
    #[inline]
    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// The smaller one, or `self` if they are equal. A NaN in `self` is returned.
    #[inline]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// The square root.
    #[inline]
    fn sqrt(self) -> Self {
        let root = ComplexField::sqrt(self.value());
        self.chain(root, <Self::Scalar as Real>::lit(0.5) / root)
    }

    /// The exponential.
    #[inline]
    fn exp(self) -> Self {
        let exponential = ComplexField::exp(self.value());
        self.chain(exponential, exponential)
    }

    /// The natural logarithm.
    #[inline]
    fn ln(self) -> Self {
        let x = self.value();
        self.chain(ComplexField::ln(x), x.recip())
    }

    /// The power with a constant exponent.
    #[inline]
    fn powf(self, exponent: Self::Scalar) -> Self {
        let x = self.value();
        let slope = exponent * ComplexField::powf(x, exponent - nalgebra::one());
        self.chain(ComplexField::powf(x, exponent), slope)
    }

    /// The power with an exponent that may vary.
    #[inline]
    fn powd(self, exponent: Self) -> Self {
        let (x, n) = (self.value(), exponent.value());
        let value = ComplexField::powf(x, n);
        self.powf(n) + exponent.chain(nalgebra::zero(), value * ComplexField::ln(x))
    }

    /// The sine of an angle \[rad\].
    #[inline]
    fn sin(self) -> Self {
        let x = self.value();
        self.chain(ComplexField::sin(x), ComplexField::cos(x))
    }

    /// The cosine of an angle \[rad\].
    #[inline]
    fn cos(self) -> Self {
        let x = self.value();
        self.chain(ComplexField::cos(x), -ComplexField::sin(x))
    }

    /// The angle \[rad\] within ±π whose tangent is `self/x`, where `x` is proportional to its cosine.
    #[inline]
    fn atan2(self, x: Self) -> Self {
        let (sin, cos) = (self.value(), x.value());
        let square = sin * sin + cos * cos;
        self.chain(RealField::atan2(sin, cos), cos / square) + x.chain(nalgebra::zero(), -sin / square)
    }
}

impl<T: Real> Number for T {
    type Scalar = T;

    #[inline]
    fn of(value: T) -> Self {
        value
    }

    #[inline]
    fn value(self) -> T {
        self
    }

    #[inline]
    fn chain(self, value: T, _: T) -> Self {
        value
    }

    #[inline]
    fn vanishes(self) -> bool {
        // Scalars that are not plain may carry derivatives.
        is_plain::<T>() && self == T::zero()
    }

    #[inline]
    fn abs(self) -> Self {
        self.abs()
    }
}

/// A value and its derivatives in `N` directions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dual<T, const N: usize> {
    pub(crate) value: T,
    pub(crate) slopes: [T; N],
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// The variable of one direction.
    #[inline]
    pub(crate) fn variable(value: T, direction: usize) -> Self {
        let mut dual = Self::of(value);
        dual.slopes[direction] = T::one();
        dual
    }

    /// A function of both with this value and these partial derivatives.
    #[inline]
    fn combine(self, other: Self, value: T, [by_self, by_other]: [T; 2]) -> Self {
        let mut slopes = self.slopes;
        for (a, b) in slopes.iter_mut().zip(other.slopes) {
            *a = *a * by_self + b * by_other;
        }
        Self { value, slopes }
    }
}

/// Returns a function that makes numbers with derivatives from consecutive numbers of an element: each one from `first`
/// on has its own direction, until `N` are used; the others are constants.
#[inline]
pub(crate) fn varied<T: Real, const N: usize>(first: usize) -> impl FnMut(T) -> Dual<T, N> {
    let mut place = 0;
    move |number| {
        let direction = place - first.min(place);
        let varies = place >= first && direction < N;
        place += 1;
        if varies { Dual::variable(number, direction) } else { Dual::of(number) }
    }
}

impl<T: Real, const N: usize> Number for Dual<T, N> {
    type Scalar = T;

    #[inline]
    fn of(value: T) -> Self {
        Self { value, slopes: [T::zero(); N] }
    }

    #[inline]
    fn value(self) -> T {
        self.value
    }

    #[inline]
    fn chain(self, value: T, slope: T) -> Self {
        let slope = if slope.is_finite() { slope } else { T::zero() };
        Self { value, slopes: self.slopes.map(|s| s * slope) }
    }

    #[inline]
    fn vanishes(self) -> bool {
        self.value.vanishes() && self.slopes.into_iter().all(T::vanishes)
    }
}

impl<T: Real, const N: usize> Neg for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { value: -self.value, slopes: self.slopes.map(|s| -s) }
    }
}

/// An operator and its assignment, from the value of the result and its derivatives by both values.
macro_rules! operator {
    ($Op:ident::$op:ident, $OpAssign:ident::$op_assign:ident, |$a:ident, $b:ident| $value:ident = $of:expr, $by:expr) => {
        impl<T: Real, const N: usize> $Op for Dual<T, N> {
            type Output = Self;
            #[inline]
            fn $op(self, other: Self) -> Self {
                let ($a, $b) = (self.value, other.value);
                let $value = $of;
                self.combine(other, $value, $by)
            }
        }

        impl<T: Real, const N: usize> $OpAssign for Dual<T, N> {
            #[inline]
            fn $op_assign(&mut self, other: Self) {
                *self = $Op::$op(*self, other);
            }
        }
    };
}

operator!(Add::add, AddAssign::add_assign, |a, b| sum = a + b, [T::one(), T::one()]);
operator!(Sub::sub, SubAssign::sub_assign, |a, b| difference = a - b, [T::one(), -T::one()]);
operator!(Mul::mul, MulAssign::mul_assign, |a, b| product = a * b, [b, a]);
operator!(Div::div, DivAssign::div_assign, |a, b| quotient = a / b, {
    let over = b.recip();
    [over, -quotient * over]
});

impl<T: Real, const N: usize> PartialEq for Dual<T, N> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Real, const N: usize> PartialOrd for Dual<T, N> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

#[cfg(test)]
mod tests {
    use super::{Dual, Number};
    use num_dual::{Dual64, DualNum};

    /// Every operation once, with branches.
    fn law<S: Number<Scalar = f64>>(x: S, y: S) -> S {
        let mut sum = (x * y - x / y).exp() + (x * x + S::of(2.0)).sqrt().ln();
        sum += (-x).abs().max(y).min(S::lit(3.0)).powf(1.7);
        sum
    }

    #[test]
    fn derivatives_are_those_of_another_dual_number() {
        for (x, y) in [(0.3, 0.7), (-1.2, 0.4), (2.5, -0.6), (-4.0, 1.5)] {
            let own = law(Dual::<f64, 2>::variable(x, 0), Dual::variable(y, 1));
            assert_eq!(own.value.to_bits(), law(x, y).to_bits());
            for (direction, slope) in own.slopes.into_iter().enumerate() {
                let seed = |place| f64::from(u8::from(place == direction));
                let (x, y) = (Dual64::new(x, seed(0)), Dual64::new(y, seed(1)));
                let size = if x.re < 0.0 { -x } else { x };
                let larger = if size.re < y.re { y } else { size };
                let clamped = if larger.re > 3.0 { Dual64::from(3.0) } else { larger };
                let expected =
                    (x * y - x / y).exp() + (x * x + 2.0).sqrt().ln() + DualNum::powf(&clamped, 1.7);
                // A few dozen roundings of numbers of order ten.
                assert!(
                    (slope - expected.eps).abs() < 1e-13 * (1.0 + slope.abs()),
                    "{slope} {}",
                    expected.eps
                );
            }
        }
    }

    #[test]
    fn there_is_no_infinite_slope() {
        let zero = Dual::<f64, 1>::variable(0.0, 0);
        assert_eq!(zero.sqrt().slopes, [0.0]);
        assert_eq!((zero * zero).sqrt().slopes, [0.0]);
        assert_eq!(zero.abs().slopes, [1.0]);
        assert_eq!(zero.powf(0.5).slopes, [0.0]);
    }
}
