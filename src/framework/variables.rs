//! Structs of scalars that live in the state: read whole, or one by one under their names.

use core::fmt::{Arguments, Debug, Display};

use nalgebra::{Matrix3, Rotation3, SVector, Vector3};

use crate::framework::error::{Error, Requirement, Result};
use crate::math::{Real, Transform};

/// What [`Variables::visit`] calls for each scalar: its name within the struct, and its place.
pub type Visitor<'a, T> = &'a mut dyn FnMut(Arguments<'_>, &mut T);

/// A plain struct of scalars that an element keeps in the state: its parameters or its discrete
/// variables.
///
/// `()` is the struct of an element that has none.
pub trait Variables<T: Real>: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Calls `visit` once for each scalar, always in the same order, with a name such as
    /// `anchor.x` that is unique within the struct.
    ///
    /// A yes-or-no or a whole pose goes through [`visit_flag`] and [`visit_pose`].
    fn visit(&mut self, visit: Visitor<'_, T>);

    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for the first value out of range.
    fn validate(&self) -> Result<()>;

    /// Whether `other` has the same scalars under the same names, so that it may take the place of `self`.
    ///
    /// The default suits structs of a fixed set of scalars. A struct with a list compares the lengths.
    fn fits(&self, _other: &Self) -> bool {
        true
    }

    /// Brings other scalars in line with the one that has just been written alone, by its name; called
    /// before [`validate`](Self::validate).
    ///
    /// For scalars that bound one another, so that they can be written by name in any order.
    fn couple(&mut self, _written: &str) {}
}

impl<T: Real> Variables<T> for () {
    fn visit(&mut self, _: Visitor<'_, T>) {}
    fn validate(&self) -> Result<()> {
        Ok(())
    }
}

/// Visits the components of a vector of two or three as `name.x`, `name.y`, `name.z`.
pub fn visit_vector<T: Real, const N: usize>(
    name: Arguments<'_>,
    v: &mut SVector<T, N>,
    visit: Visitor<'_, T>,
) {
    for (component, axis) in v.iter_mut().zip(['x', 'y', 'z']) {
        visit(format_args!("{name}.{axis}"), component);
    }
}

/// Visits a yes-or-no as 1 or 0. What is neither is refused where it is set by name.
pub fn visit_flag<T: Real>(name: impl Display, flag: &mut bool, visit: Visitor<'_, T>) {
    let mut value = if *flag { T::one() } else { T::zero() };
    visit(format_args!("{name}"), &mut value);
    *flag = value != T::zero();
}

/// Visits what may be absent: the flag `name.known`, then, with `each`, the scalars of the value, or those of
/// `absent` in its place, so that the names are the same either way.
pub fn visit_option<T: Real, V: Copy>(
    name: &str,
    option: &mut Option<V>,
    absent: V,
    visit: Visitor<'_, T>,
    each: impl FnOnce(&mut V, Visitor<'_, T>),
) {
    let mut is_known = option.is_some();
    let mut value = option.unwrap_or(absent);
    visit_flag(format_args!("{name}.known"), &mut is_known, visit);
    each(&mut value, visit);
    *option = is_known.then_some(value);
}

/// Visits a pose as the nine entries `name.R.xx`, `name.R.xy`, … of its rotation, row by row, and
/// the vector `name.p`.
///
/// Entry by entry rather than as angles, so that saving and restoring keeps every bit.
pub fn visit_pose<T: Real>(name: &str, X: &mut Transform<T>, visit: Visitor<'_, T>) {
    let mut R: Matrix3<T> = *X.rotation.matrix();
    for (row, i) in ['x', 'y', 'z'].into_iter().enumerate() {
        for (column, j) in ['x', 'y', 'z'].into_iter().enumerate() {
            visit(format_args!("{name}.R.{i}{j}"), &mut R[(row, column)]);
        }
    }
    X.rotation = Rotation3::from_matrix_unchecked(R);
    visit_vector(format_args!("{name}.p"), &mut X.translation.vector, visit);
}

/// The range checks of one kind of element; each answers [`Error::InvalidValue`].
#[derive(Debug, Clone, Copy)]
pub struct Check {
    kind: &'static str,
}

impl Check {
    /// Checks on behalf of this kind of element.
    pub fn new(kind: &'static str) -> Self {
        Self { kind }
    }

    /// # Errors
    /// Unless the condition holds, with the value and what it must be.
    pub fn that<T: Real>(self, holds: bool, name: &'static str, value: T, must: Requirement) -> Result<()> {
        if holds { Ok(()) } else { Err(Error::invalid(self.kind, name, value, must)) }
    }

    /// # Errors
    /// Unless the value is finite.
    pub fn finite<T: Real>(self, name: &'static str, value: T) -> Result<()> {
        self.that(value.is_finite(), name, value, Requirement::Finite)
    }

    /// # Errors
    /// Unless the value is finite and at least zero.
    pub fn nonnegative<T: Real>(self, name: &'static str, value: T) -> Result<()> {
        self.that(value.is_finite() && value >= T::zero(), name, value, Requirement::NonNegative)
    }

    /// # Errors
    /// Unless the value is finite and greater than zero.
    pub fn positive<T: Real>(self, name: &'static str, value: T) -> Result<()> {
        self.that(value.is_finite() && value > T::zero(), name, value, Requirement::Positive)
    }

    /// # Errors
    /// Unless the value is a length that shapes can be computed with: greater than zero, and with a fourth
    /// power that neither vanishes nor overflows.
    pub fn size<T: Real>(self, name: &'static str, value: T) -> Result<()> {
        let fourth = value * value * value * value;
        self.that(
            value > T::zero() && fourth > T::zero() && fourth.is_finite(),
            name,
            value,
            Requirement::Size,
        )
    }

    /// # Errors
    /// Unless the value lies between zero and one.
    pub fn fraction<T: Real>(self, name: &'static str, value: T) -> Result<()> {
        self.that(value >= T::zero() && value <= T::one(), name, value, Requirement::Fraction)
    }

    /// # Errors
    /// If the value exceeds the bound, which is the field named `bound_name`.
    pub fn at_most<T: Real>(
        self,
        name: &'static str,
        value: T,
        bound_name: &'static str,
        bound: T,
    ) -> Result<()> {
        self.that(value <= bound, name, value, Requirement::AtMost(bound_name))
    }

    /// # Errors
    /// Unless the vector is finite.
    pub fn finite_vector<T: Real>(self, name: &'static str, v: &Vector3<T>) -> Result<()> {
        v.iter().try_for_each(|&component| self.finite(name, component))
    }

    /// # Errors
    /// Unless the pose is finite and its rotation is orthonormal and right-handed.
    pub fn pose<T: Real>(self, name: &'static str, X: &Transform<T>) -> Result<()> {
        self.finite_vector(name, &X.translation.vector)?;
        let R = X.rotation.matrix();
        R.iter().try_for_each(|&entry| self.finite(name, entry))?;
        // Entries written with seven digits, or carried in single precision, pass; a rotation that was
        // scaled, sheared or mirrored does not.
        let tolerance = T::lit(1e-6).max(T::default_epsilon() * T::lit(1000.0));
        let off = (R.transpose() * R - Matrix3::identity()).abs().max();
        self.that(off < tolerance, name, off, Requirement::Rotation)?;
        let det = R.determinant();
        self.that(det > T::zero(), name, det, Requirement::Rotation)
    }
}
