//! Structs of scalars that live in the state: read whole, or one by one under their names.

use core::fmt::{Arguments, Debug, Display};

use nalgebra::{Matrix3, Rotation3, SVector};

use crate::math::{InvalidValue, Pose, Real};

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
    /// [`InvalidValue`] for the first value out of range.
    fn validate(&self) -> Result<(), InvalidValue>;

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
    fn validate(&self) -> Result<(), InvalidValue> {
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
pub fn visit_pose<T: Real>(name: &str, X: &mut Pose<T>, visit: Visitor<'_, T>) {
    let mut R: Matrix3<T> = *X.rotation.matrix();
    for (row, i) in ['x', 'y', 'z'].into_iter().enumerate() {
        for (column, j) in ['x', 'y', 'z'].into_iter().enumerate() {
            visit(format_args!("{name}.R.{i}{j}"), &mut R[(row, column)]);
        }
    }
    X.rotation = Rotation3::from_matrix_unchecked(R);
    visit_vector(format_args!("{name}.p"), &mut X.translation.vector, visit);
}
