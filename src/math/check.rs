//! Range checks of numbers, and their error.

use alloc::format;
use alloc::string::String;
use core::fmt;

use nalgebra::Vector3;

use super::{Pose, Real, squared_distortion};

/// A number that is out of its range.
///
/// The value is `f64` whatever the scalar, for display only.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{name} = {value}, but it must be {requirement}{}", bound.map_or_else(String::new, |bound| format!(", which is {bound}")))]
pub struct InvalidValue {
    /// The field, or the shape and its measure.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// The requirement it violates.
    pub requirement: Requirement,
    /// The value of the field or number that the requirement names, if it is known.
    pub bound: Option<f64>,
}

/// A requirement on a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Requirement {
    /// Neither infinite nor NaN.
    Finite,
    /// Finite and at least zero.
    NonNegative,
    /// Finite and greater than zero.
    Positive,
    /// Greater than zero, with a fourth power that neither vanishes nor overflows.
    Size,
    /// Greater than zero, with a square that neither vanishes nor overflows, nor that of its inverse.
    Square,
    /// Between zero and one.
    Fraction,
    /// A whole number, at least zero.
    Index,
    /// Part of an orthonormal right-handed matrix.
    Rotation,
    /// Symmetric and positive definite.
    PositiveDefinite,
    /// Symmetric and positive semidefinite.
    PositiveSemidefinite,
    /// At least the field or number named here.
    AtLeast(&'static str),
    /// At most the field or number named here.
    AtMost(&'static str),
    /// Below the field or number named here.
    Below(&'static str),
    /// Zero or one.
    Flag,
    /// Of an `Option` that is known.
    Known,
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite => f.write_str("finite"),
            Self::NonNegative => f.write_str("finite and at least 0"),
            Self::Positive => f.write_str("finite and greater than 0"),
            Self::Size | Self::Square => f.write_str("greater than 0, neither tiny nor huge"),
            Self::Fraction => f.write_str("between 0 and 1"),
            Self::Index => f.write_str("a whole number of at least 0"),
            Self::Rotation => f.write_str("part of a rotation matrix"),
            Self::PositiveDefinite => f.write_str("part of a symmetric positive definite matrix"),
            Self::PositiveSemidefinite => f.write_str("part of a symmetric positive semidefinite matrix"),
            Self::AtLeast(other) => write!(f, "at least {other}"),
            Self::AtMost(other) => write!(f, "at most {other}"),
            Self::Below(other) => write!(f, "below {other}"),
            Self::Flag => f.write_str("0 or 1"),
            Self::Known => f.write_str("of something known: set its flag `known` first"),
        }
    }
}

/// # Errors
/// Unless the condition holds, with the value and the requirement.
pub fn that<T: Real>(
    holds: bool,
    name: &'static str,
    value: T,
    must: Requirement,
) -> Result<(), InvalidValue> {
    if holds {
        return Ok(());
    }
    Err(InvalidValue { name, value: value.to_f64(), requirement: must, bound: None })
}

/// # Errors
/// Unless the value is finite.
pub fn finite<T: Real>(name: &'static str, value: T) -> Result<(), InvalidValue> {
    that(value.is_finite(), name, value, Requirement::Finite)
}

/// # Errors
/// Unless the value is finite and at least zero.
pub fn nonnegative<T: Real>(name: &'static str, value: T) -> Result<(), InvalidValue> {
    that(value.is_finite() && value >= T::zero(), name, value, Requirement::NonNegative)
}

/// # Errors
/// Unless the value is finite and greater than zero.
pub fn positive<T: Real>(name: &'static str, value: T) -> Result<(), InvalidValue> {
    that(value.is_finite() && value > T::zero(), name, value, Requirement::Positive)
}

/// # Errors
/// Unless the value is greater than zero, with a square that neither vanishes nor overflows, nor that of its inverse.
pub fn squarable<T: Real>(name: &'static str, value: T) -> Result<(), InvalidValue> {
    positive(name, value)?;
    // Zero if the square overflows, infinite if it vanishes.
    let inverse_square = (value * value).recip();
    that(inverse_square > T::zero() && inverse_square.is_finite(), name, value, Requirement::Square)
}

/// # Errors
/// Unless the value is a length that shapes can be computed with: greater than zero, and with a fourth
/// power that neither vanishes nor overflows.
pub fn size<T: Real>(name: &'static str, value: T) -> Result<(), InvalidValue> {
    let fourth = value * value * value * value;
    that(value > T::zero() && fourth > T::zero() && fourth.is_finite(), name, value, Requirement::Size)
}

/// # Errors
/// Unless the value lies between zero and one.
pub fn fraction<T: Real>(name: &'static str, value: T) -> Result<(), InvalidValue> {
    that(value >= T::zero() && value <= T::one(), name, value, Requirement::Fraction)
}

/// # Errors
/// Unless the value is a whole number of at least zero.
pub fn index<T: Real>(name: &'static str, value: T) -> Result<(), InvalidValue> {
    let is_whole = value.to_f64() % 1.0 == 0.0;
    that(is_whole && value >= T::zero(), name, value, Requirement::Index)
}

/// # Errors
/// If the value exceeds the bound, which is the field named `bound_name`.
pub fn at_most<T: Real>(
    name: &'static str,
    value: T,
    bound_name: &'static str,
    bound: T,
) -> Result<(), InvalidValue> {
    that(value <= bound, name, value, Requirement::AtMost(bound_name)).map_err(|error| {
        let is_a_field = bound_name.parse::<f64>().is_err();
        InvalidValue { bound: is_a_field.then(|| bound.to_f64()), ..error }
    })
}

/// # Errors
/// Unless the vector is finite.
pub fn finite_vector<T: Real>(name: &'static str, v: &Vector3<T>) -> Result<(), InvalidValue> {
    v.iter().try_for_each(|&component| finite(name, component))
}

/// # Errors
/// Unless the pose is finite and its rotation is orthonormal and right-handed.
pub fn pose<T: Real>(name: &'static str, X: &Pose<T>) -> Result<(), InvalidValue> {
    finite_vector(name, &X.translation.vector)?;
    X.rotation.matrix().iter().try_for_each(|&entry| finite(name, entry))?;
    // Entries rounded to seven digits or to single precision pass; a scaled, sheared or mirrored rotation does
    // not.
    let tolerance = T::lit(1e-6).max(T::default_epsilon() * T::lit(1000.0));
    let off = squared_distortion(&X.rotation).sqrt();
    that(off < tolerance, name, off, Requirement::Rotation)
}

/// Converts a number to a flag.
///
/// # Errors
/// Unless it is 0 or 1.
pub fn flag<T: Real>(name: &'static str, value: T) -> Result<bool, InvalidValue> {
    that(value == T::one() || value == T::zero(), name, value, Requirement::Flag)?;
    Ok(value == T::one())
}
