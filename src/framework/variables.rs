//! Structs of named scalars that live in the state, and the table that declares them.

use core::fmt::{Arguments, Debug};

use nalgebra::{Matrix3, Point3, Rotation3, SVector};

use crate::math::{InvalidValue, Pose, Real, cast_pose, check};

/// A number or flag to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<T> {
    /// A number.
    Number(T),
    /// A flag.
    Flag(bool),
}

impl<T: Real> Value<T> {
    /// The number; 1 or 0 for a flag.
    pub fn number(self) -> T {
        match self {
            Self::Number(number) => number,
            Self::Flag(true) => T::one(),
            Self::Flag(false) => T::zero(),
        }
    }
}

/// A number or flag to write.
#[derive(Debug)]
pub enum Slot<'a, T> {
    /// A number.
    Number(&'a mut T),
    /// A flag.
    Flag(&'a mut bool),
}

impl<T: Real> Slot<'_, T> {
    /// Writes the number, or for a flag 1 or 0.
    ///
    /// # Errors
    /// If the slot is a flag and the number is neither 0 nor 1.
    pub fn write(self, name: &'static str, number: T) -> Result<(), InvalidValue> {
        match self {
            Self::Number(slot) => *slot = number,
            Self::Flag(slot) => *slot = check::flag(name, number)?,
        }
        Ok(())
    }
}

/// Called with the name and value of each scalar.
pub type Visitor<'a, T> = &'a mut dyn FnMut(Arguments<'_>, Value<T>);
/// Called with the name and place of each scalar.
pub type VisitorMut<'a, T> = &'a mut dyn FnMut(Arguments<'_>, Slot<'_, T>);

/// A plain struct of scalars that an element keeps in the state: its parameters or its discrete
/// variables.
///
/// [`variables!`](crate::variables!) declares one and implements this trait. `()` serves an element without any.
pub trait Variables<T: Real>: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// Calls `visit` once for each scalar, always in the same order, with a name such as
    /// `anchor_P.x` that is unique within the struct.
    fn visit(&self, visit: Visitor<'_, T>);

    /// The mutable counterpart of [`visit`](Self::visit), with the same order and names.
    fn visit_mut(&mut self, visit: VisitorMut<'_, T>);

    /// Checks every range.
    ///
    /// # Errors
    /// For the first value out of range.
    fn validate(&self) -> Result<(), InvalidValue>;

    /// Whether `other` has the same scalars under the same names, so that it may replace `self`.
    ///
    /// The default suits structs of a fixed set of scalars. A struct with a list compares the lengths.
    fn fits(&self, _other: &Self) -> bool {
        true
    }

    /// Adjusts other scalars after one was written by name; called before [`validate`](Self::validate).
    ///
    /// For scalars that bound one another, so that they can be written by name in any order.
    fn couple(&mut self, _written: &str) {}
}

impl<T: Real> Variables<T> for () {
    fn visit(&self, _: Visitor<'_, T>) {}
    fn visit_mut(&mut self, _: VisitorMut<'_, T>) {}
    fn validate(&self) -> Result<(), InvalidValue> {
        Ok(())
    }
}

/// Declares a struct of named scalars and implements [`Variables`](crate::Variables) for it: each field once, with its
/// documentation, type, default and range.
///
/// A field is a scalar `T`, a `bool`, a vector of two, three or six, a point, a pose, an `Option` of one of
/// these, or any type with [`Part`](crate::variables::Part). The default of a scalar is a literal; without one it
/// is zero (false, the origin, the identity, `None`). The range is a function of [`check`](crate::check):
/// `finite`, `nonnegative`, `positive` or `fraction`; it applies to each number of the field. A field without a
/// range is not checked. Defaults and ranges are added to the documentation of the fields.
///
/// After the struct there may be `check`, a function that checks relations between fields, and `couple`, a
/// function that receives the name of a field written alone and adjusts others
/// ([`Variables::couple`](crate::Variables::couple)).
///
/// The struct gets `Default`, `Debug`, `Clone`, `PartialEq`, and `cast` to another scalar.
///
/// # Example: the parameters of a spring
///
/// ```
/// use force_elements::check::at_most;
/// use force_elements::{Variables, variables};
///
/// variables! {
///     /// A spring that pulls when it is longer than `reach`.
///     #[derive(Copy)]
///     pub struct Parameters<T> {
///         /// Stiffness \[N/m\].
///         pub stiffness: T = 100.0, nonnegative;
///         /// Length at which it begins to pull \[m\].
///         pub reach: T = 0.5, positive;
///         /// Length at which it breaks \[m\].
///         pub limit: T = 2.0, positive;
///     }
///     check |p| at_most("reach", p.reach, "limit", p.limit);
/// }
///
/// let short = Parameters { reach: 0.1, ..Parameters::<f64>::default() };
/// assert!(short.validate().is_ok());
/// let refused = Parameters { limit: 0.2, ..Parameters::<f64>::default() }.validate();
/// assert_eq!(refused.map_err(|value| value.name), Err("reach"));
/// ```
#[macro_export]
macro_rules! variables {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<T> {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident : $type:ty $(= $default:expr)? $(, $range:ident)? ;
            )*
        }
        $(couple |$coupled:ident, $written:ident| $couple:expr;)?
        $(check |$checked:ident| $check:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name<T: $crate::Real> {
            $(
                $(#[$field_meta])*
                #[doc = ""]
                #[doc = concat!(
                    $("Default: `", stringify!($default), "`. ",)?
                    $("Range: ", stringify!($range), ".")?
                )]
                $field_vis $field: $type,
            )*
        }

        impl<T: $crate::Real> Default for $name<T> {
            fn default() -> Self {
                Self { $($field: $crate::variables!(@default T $($default)?),)* }
            }
        }

        impl<T: $crate::Real> $name<T> {
            /// The same in another scalar.
            pub fn cast<U: $crate::Real>(&self) -> $name<U> {
                $name { $($field: $crate::variables::Part::<T, _>::cast::<U>(&self.$field),)* }
            }
        }

        impl<T: $crate::Real> $crate::Variables<T> for $name<T> {
            fn visit(&self, visit: $crate::variables::Visitor<'_, T>) {
                $($crate::variables::Part::<T, _>::visit(
                    &self.$field,
                    format_args!(stringify!($field)),
                    visit,
                );)*
            }

            fn visit_mut(&mut self, visit: $crate::variables::VisitorMut<'_, T>) {
                $($crate::variables::Part::<T, _>::visit_mut(
                    &mut self.$field,
                    format_args!(stringify!($field)),
                    visit,
                );)*
            }

            fn validate(&self) -> Result<(), $crate::InvalidValue> {
                $(
                    $crate::variables::Part::<T, _>::check(&self.$field, stringify!($field))?;
                    $(for &number in $crate::variables::Part::<T, _>::numbers(&self.$field) {
                        $crate::check::$range(stringify!($field), number)?;
                    })?
                )*
                $({
                    let $checked = self;
                    $check?;
                })?
                Ok(())
            }

            $(fn couple(&mut self, $written: &str) {
                let $coupled = self;
                $couple
            })?
        }
    };
    (@default $T:ident $default:expr) => { $crate::variables::Part::<$T, _>::literal($default) };
    (@default $T:ident) => { $crate::variables::Part::<$T, _>::neutral() };
}

/// A scalar, as a kind of [`Part`].
#[derive(Debug)]
pub enum Scalar {}

/// Everything made of scalars and flags, as a kind of [`Part`].
#[derive(Debug)]
pub enum Composite {}

/// A field of a struct that [`variables!`](crate::variables!) declares. `Kind` is inferred: [`Scalar`] or
/// [`Composite`].
pub trait Part<T: Real, Kind>: Sized {
    /// The type of a default's literal.
    type Literal;
    /// The same in another scalar.
    type Cast<U: Real>;

    /// The value of a default.
    fn literal(literal: Self::Literal) -> Self;

    /// The value without a default.
    fn neutral() -> Self;

    /// The same in another scalar.
    fn cast<U: Real>(&self) -> Self::Cast<U>;

    /// Calls `visit` for each scalar, under names that begin with `name`.
    fn visit(&self, name: Arguments<'_>, visit: Visitor<'_, T>);

    /// The mutable counterpart of [`visit`](Self::visit).
    fn visit_mut(&mut self, name: Arguments<'_>, visit: VisitorMut<'_, T>);

    /// The numbers to which a range applies.
    fn numbers(&self) -> &[T] {
        &[]
    }

    /// Checks requirements that do not depend on the range.
    ///
    /// # Errors
    /// For a value out of range, under the name of the field.
    fn check(&self, _name: &'static str) -> Result<(), InvalidValue> {
        Ok(())
    }
}

impl<T: Real> Part<T, Scalar> for T {
    type Literal = f64;
    type Cast<U: Real> = U;

    fn literal(literal: f64) -> Self {
        T::lit(literal)
    }
    fn neutral() -> Self {
        T::zero()
    }
    fn cast<U: Real>(&self) -> U {
        Real::cast(*self)
    }
    fn visit(&self, name: Arguments<'_>, visit: Visitor<'_, T>) {
        visit(name, Value::Number(*self));
    }
    fn visit_mut(&mut self, name: Arguments<'_>, visit: VisitorMut<'_, T>) {
        visit(name, Slot::Number(self));
    }
    fn numbers(&self) -> &[T] {
        core::slice::from_ref(self)
    }
}

impl<T: Real> Part<T, Composite> for bool {
    type Literal = Self;
    type Cast<U: Real> = Self;

    fn literal(literal: Self) -> Self {
        literal
    }
    fn neutral() -> Self {
        false
    }
    fn cast<U: Real>(&self) -> Self {
        *self
    }
    fn visit(&self, name: Arguments<'_>, visit: Visitor<'_, T>) {
        visit(name, Value::Flag(*self));
    }
    fn visit_mut(&mut self, name: Arguments<'_>, visit: VisitorMut<'_, T>) {
        visit(name, Slot::Flag(self));
    }
}

/// The names of the components of a vector: of six, three angles and three translations.
fn components(count: usize) -> &'static [&'static str] {
    if count == 6 { &["qx", "qy", "qz", "px", "py", "pz"] } else { &["x", "y", "z"] }
}

impl<T: Real, const N: usize> Part<T, Composite> for SVector<T, N> {
    type Literal = Self;
    type Cast<U: Real> = SVector<U, N>;

    fn literal(literal: Self) -> Self {
        literal
    }
    fn neutral() -> Self {
        Self::zeros()
    }
    fn cast<U: Real>(&self) -> SVector<U, N> {
        self.map(Real::cast)
    }
    fn visit(&self, name: Arguments<'_>, visit: Visitor<'_, T>) {
        for (value, component) in self.iter().zip(components(N)) {
            visit(format_args!("{name}.{component}"), Value::Number(*value));
        }
    }
    fn visit_mut(&mut self, name: Arguments<'_>, visit: VisitorMut<'_, T>) {
        for (value, component) in self.iter_mut().zip(components(N)) {
            visit(format_args!("{name}.{component}"), Slot::Number(value));
        }
    }
    fn numbers(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Real> Part<T, Composite> for Point3<T> {
    type Literal = Self;
    type Cast<U: Real> = Point3<U>;

    fn literal(literal: Self) -> Self {
        literal
    }
    fn neutral() -> Self {
        Self::origin()
    }
    fn cast<U: Real>(&self) -> Point3<U> {
        self.map(Real::cast)
    }
    fn visit(&self, name: Arguments<'_>, visit: Visitor<'_, T>) {
        self.coords.visit(name, visit);
    }
    fn visit_mut(&mut self, name: Arguments<'_>, visit: VisitorMut<'_, T>) {
        self.coords.visit_mut(name, visit);
    }
    fn numbers(&self) -> &[T] {
        self.coords.as_slice()
    }
}

/// The nine entries `R.xx`, `R.xy`, … of the rotation, row by row, and the vector `p`. Entries rather than angles
/// keep every bit through saving and restoring. The pose is checked to be finite and its rotation to be
/// orthonormal.
impl<T: Real> Part<T, Composite> for Pose<T> {
    type Literal = Self;
    type Cast<U: Real> = Pose<U>;

    fn literal(literal: Self) -> Self {
        literal
    }
    fn neutral() -> Self {
        Self::identity()
    }
    fn cast<U: Real>(&self) -> Pose<U> {
        cast_pose(self)
    }
    fn visit(&self, name: Arguments<'_>, visit: Visitor<'_, T>) {
        for (row, i) in components(3).iter().enumerate() {
            for (column, j) in components(3).iter().enumerate() {
                visit(format_args!("{name}.R.{i}{j}"), Value::Number(self.rotation[(row, column)]));
            }
        }
        self.translation.vector.visit(format_args!("{name}.p"), visit);
    }
    fn visit_mut(&mut self, name: Arguments<'_>, visit: VisitorMut<'_, T>) {
        let mut R: Matrix3<T> = *self.rotation.matrix();
        for (row, i) in components(3).iter().enumerate() {
            for (column, j) in components(3).iter().enumerate() {
                visit(format_args!("{name}.R.{i}{j}"), Slot::Number(&mut R[(row, column)]));
            }
        }
        self.rotation = Rotation3::from_matrix_unchecked(R);
        self.translation.vector.visit_mut(format_args!("{name}.p"), visit);
    }
    fn check(&self, name: &'static str) -> Result<(), InvalidValue> {
        check::pose(name, self)
    }
}

/// The flag `known` and the scalars of the value, neutral ones for `None`, so that the names are the same.
impl<T: Real, V: Part<T, Composite> + Clone> Part<T, Composite> for Option<V> {
    type Literal = Self;
    type Cast<U: Real> = Option<V::Cast<U>>;

    fn literal(literal: Self) -> Self {
        literal
    }
    fn neutral() -> Self {
        None
    }
    fn cast<U: Real>(&self) -> Option<V::Cast<U>> {
        self.as_ref().map(V::cast)
    }
    fn visit(&self, name: Arguments<'_>, visit: Visitor<'_, T>) {
        visit(format_args!("{name}.known"), Value::Flag(self.is_some()));
        match self {
            Some(value) => value.visit(name, visit),
            None => V::neutral().visit(name, visit),
        }
    }
    fn visit_mut(&mut self, name: Arguments<'_>, visit: VisitorMut<'_, T>) {
        let mut is_known = self.is_some();
        visit(format_args!("{name}.known"), Slot::Flag(&mut is_known));
        let mut value = self.take().unwrap_or_else(V::neutral);
        value.visit_mut(name, visit);
        *self = is_known.then_some(value);
    }
    fn numbers(&self) -> &[T] {
        self.as_ref().map_or(&[], V::numbers)
    }
    fn check(&self, name: &'static str) -> Result<(), InvalidValue> {
        self.as_ref().map_or(Ok(()), |value| value.check(name))
    }
}
