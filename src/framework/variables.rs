//! Structs of named scalars in the state, and the table that declares them.

use core::fmt::Debug;

use crate::framework::Stage;
pub use crate::framework::part::{
    Declared, Entry, Lift, Listed, Nested, Part, RangeCheck, Slot, Value, Visitor, VisitorMut,
};
use crate::math::{InvalidValue, Number, Real};

/// A plain struct of scalars that an element keeps in the state: its parameters, its discrete or its continuous
/// variables.
///
/// [`variables!`](crate::variables!) declares such a struct and implements this trait. Use `()` for an element without
/// variables.
pub trait Variables<T: Real>: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// The first stage that reads one of the scalars; `None` if there are none. A commit of discrete variables drops the
    /// state to just below this stage. The default is safe for every struct.
    const FIRST_STAGE: Option<Stage> = Some(Stage::Instance);

    /// The first stage that reads one of the scalars of this struct, whose list of scalars may be empty.
    fn first_stage(&self) -> Option<Stage> {
        Self::FIRST_STAGE
    }

    /// Calls `visit` once for each scalar, always in the same order, with a name such as
    /// `anchor_P.x` that is unique within the struct.
    fn visit(&self, visit: Visitor<'_, T>);

    /// The mutable counterpart of [`visit`](Self::visit), with the same order and names.
    fn visit_mut(&mut self, visit: VisitorMut<'_, T>);

    /// The first stage that reads a scalar that differs in `new`, which [fits](Self::fits); `None` if all bits are
    /// equal.
    ///
    /// Every scalar other than `f64` and `f32` counts as different: comparisons ignore the derivatives of a dual number,
    /// so its contents are not known.
    fn first_stage_changed(&self, _new: &Self) -> Option<Stage> {
        Self::FIRST_STAGE
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`InvalidValue`] for the first value out of range.
    fn validate(&self) -> Result<(), InvalidValue>;

    /// Whether `other` has the same scalars under the same names, so that it may replace `self`.
    ///
    /// The default suits structs with a fixed set of scalars. A struct with a list must compare the lengths.
    fn fits(&self, _other: &Self) -> bool {
        true
    }
}

/// A struct declared by [`variables!`](crate::variables!) over any number.
///
/// It is implemented by `#[derive(Copy, Lift)]` right after the documentation, for structs of scalars, flags, vectors,
/// points, `Option`s of these, and such structs, but not of poses. `()` has no numbers. Laws of force take such structs
/// over the scalar and over numbers with derivatives.
pub trait Numbers<T: Number> {
    /// The number of numbers.
    const COUNT: usize;
    /// The same struct over another number.
    type Over<S: nalgebra::Scalar>: Clone;

    /// The same struct with every number replaced, in the order of declaration.
    fn lift<S: nalgebra::Scalar>(&self, of: &mut impl FnMut(T) -> S) -> Self::Over<S>;

    /// Calls `visit` with each number of the struct over another number, and its place.
    fn for_each_over<S: Number>(over: &Self::Over<S>, visit: impl FnMut(usize, S));

    /// The places of the numbers, starting with `first`.
    fn places(&self, first: usize) -> Self::Over<usize> {
        let mut place = first..;
        self.lift(&mut |_| place.next().unwrap_or_default())
    }

    /// Calls `visit` with each number and its place.
    #[inline]
    fn for_each(&self, mut visit: impl FnMut(usize, T)) {
        let mut place = 0;
        self.lift(&mut |number| {
            visit(place, number);
            place += 1;
        });
    }
}

/// A struct `V` of numbers `T` over another number `S`.
pub type Over<T, V, S> = <V as Numbers<T>>::Over<S>;

impl<T: Number> Numbers<T> for () {
    const COUNT: usize = 0;
    type Over<S: nalgebra::Scalar> = ();

    fn lift<S: nalgebra::Scalar>(&self, _: &mut impl FnMut(T) -> S) {}
    fn for_each_over<S: Number>((): &(), _: impl FnMut(usize, S)) {}
}

impl<T: Real> Variables<T> for () {
    const FIRST_STAGE: Option<Stage> = None;

    fn visit(&self, _: Visitor<'_, T>) {}
    fn visit_mut(&mut self, _: VisitorMut<'_, T>) {}
    fn validate(&self) -> Result<(), InvalidValue> {
        Ok(())
    }
}

/// The earlier of two stages, if there are any.
#[doc(hidden)]
#[inline]
pub fn earlier(a: Option<Stage>, b: Option<Stage>) -> Option<Stage> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A stage, or an earlier one.
#[doc(hidden)]
pub const fn no_later(stage: Stage, other: Option<Stage>) -> Stage {
    match other {
        Some(other) if (other as u8) < stage as u8 => other,
        _ => stage,
    }
}

/// The earliest of several stages.
#[doc(hidden)]
pub const fn earliest(stages: &[Stage]) -> Option<Stage> {
    let Some((first, rest)) = stages.split_first() else { return None };
    Some(no_later(*first, earliest(rest)))
}

/// Declares a struct of named scalars and implements [`Variables`](crate::Variables) for it. Each field is declared once,
/// with its documentation, type, unit, default, range and stage.
///
/// ```text
/// /// Documentation.
/// pub name: type ["unit"] = default, range => Stage;
/// ```
///
/// - The type is a scalar `T`, a `bool`, a vector, a point, a pose, another declared struct, an `Option` or a `Vec` of
///   these, or any type with [`Part`](crate::variables::Part).
/// - Components of vectors are called `x`, `y`, `z`, `w`; of six `qx` to `pz`; of any other number `0`, `1`, and so on.
/// - The unit is that of all numbers of the field; a number without one is dimensionless. A vector whose parts have
///   different units takes several, as six axes do: `["N·m/rad", "N/m"]`. The unit of a pose is that of its position.
/// - The default of a scalar is a literal; without one it is zero (false, the origin, the identity, `None`).
/// - The range is a function of [`check`](crate::check): `finite`, `nonnegative`, `positive`, `squarable`, `fraction` or
///   `index`. It applies to each number of the field. A field without a range is not checked. Declared structs check
///   themselves; with `flat` in place of a range, their numbers are named as if they were fields of the outer struct.
/// - The [stage](crate::Stage) is the first that reads the field, for a force or for an energy. Writing the field drops
///   the state to just below it, so that earlier stages are not evaluated again. Without a stage it is `Instance`,
///   which is always safe. A declared struct is read at its own stages, even if its field states a later one.
///
/// All of this is added to the documentation of the field.
///
/// After the struct there may be `in "list";`, the name of the list of which the struct is a member, for error messages;
/// and `check`, a function that checks relations between fields.
///
/// The struct gets `Default`, `Debug`, `Clone`, `PartialEq`, and `cast` to another scalar; with `#[derive(Copy)]` right
/// after its documentation, `Copy`. Otherwise it is cloned field by field, so that `clone_from` reuses buffers.
///
/// # Example: the parameters of a spring
///
/// ```
/// use force_elements::check::at_most;
/// use force_elements::{Stage, Variables, variables};
///
/// variables! {
///     /// A spring that pulls when it is longer than `reach`.
///     #[derive(Copy)]
///     pub struct Parameters<T> {
///         /// Stiffness.
///         pub stiffness: T ["N/m"] = 100.0, nonnegative => Dynamics;
///         /// Length at which it begins to pull.
///         pub reach: T ["m"] = 0.5, positive => Position;
///         /// Length at which it breaks.
///         pub limit: T ["m"] = 2.0, positive => Position;
///     }
///     check |p| at_most("reach", p.reach, "limit", p.limit);
/// }
///
/// let short = Parameters { reach: 0.1, ..Parameters::<f64>::default() };
/// assert!(short.validate().is_ok());
/// assert_eq!(Parameters::default().first_stage_changed(&short), Some(Stage::Position));
/// let refused = Parameters { limit: 0.2, ..Parameters::<f64>::default() }.validate();
/// assert_eq!(refused.map_err(|value| value.name), Err("reach"));
/// ```
///
/// # Example: a list, and a struct whose names are its own
///
/// ```
/// use force_elements::{Variables, variables};
///
/// variables! {
///     /// One wheel.
///     pub struct Wheel<T> {
///         /// Radius.
///         pub radius: T ["m"] = 0.3, positive;
///     }
///     in "wheels";
/// }
///
/// variables! {
///     /// What a cart carries.
///     pub struct Load<T> {
///         /// Mass.
///         pub mass: T ["kg"] = 1.0, positive;
///     }
/// }
///
/// variables! {
///     /// A cart.
///     pub struct Cart<T> {
///         /// Its wheels.
///         pub wheels: Vec<Wheel<T>>;
///         /// The friction of each.
///         pub friction: Vec<T>, nonnegative;
///         /// Its load.
///         pub load: Load<T>, flat;
///     }
/// }
///
/// let wheel = Wheel::default();
/// let cart = Cart { wheels: vec![wheel.clone(), wheel], friction: vec![0.1], ..Cart::<f64>::default() };
/// let mut names = Vec::new();
/// cart.visit(&mut |entry| names.push(entry.name.to_string()));
/// assert_eq!(names, ["wheels[0].radius", "wheels[1].radius", "friction[0]", "mass"]);
/// assert!(!cart.fits(&Cart::default()));
///
/// let refused = |cart: Cart<f64>| cart.validate().map_err(|value| value.name);
/// assert_eq!(refused(Cart { friction: vec![0.1, -0.1], ..cart.clone() }), Err("friction"));
/// assert_eq!(refused(Cart { wheels: vec![Wheel { radius: 0.0 }], ..cart.clone() }), Err("wheels.radius"));
/// assert_eq!(refused(Cart { load: Load { mass: 0.0 }, ..cart.clone() }), Err("mass"));
/// assert_eq!(refused(cart), Ok(()));
/// ```
#[macro_export]
macro_rules! variables {
    (
        $(#[$($meta:tt)*])*
        $vis:vis struct $name:ident<T> { $($fields:tt)* }
        $(in $list:literal;)?
        $(check |$checked:ident| $check:expr;)?
    ) => {
        $crate::variables! { @declare [$($list)?]
            $(#[$($meta)*])*
            $vis struct $name<T> { $($fields)* }
            $(check |$checked| $check;)?
        }
    };
    (@declare $list:tt
        $(#[$($meta:tt)*])*
        $vis:vis struct $name:ident<T> {
            $(
                $(#[$field_meta:meta])*
                $field_vis:vis $field:ident : $type:ty $([$unit:literal $(, $more:literal)*])?
                    $(= $default:expr)? $(, $range:ident)? $(=> $stage:ident)? ;
            )*
        }
        $(check |$checked:ident| $check:expr;)?
    ) => {
        $crate::variables! { @struct [PartialEq]
            $(#[$($meta)*])*
            $vis struct $name<T> {
                $(
                    $(#[$field_meta])*
                    #[doc = ""]
                    #[doc = concat!(
                        $("Unit: ", $unit, $(", ", $more,)* ". ",)?
                        $("Default: `", stringify!($default), "`. ",)?
                        $("Range: ", stringify!($range), ". ",)?
                        $("Stage: ", stringify!($stage), ".",)?
                    )]
                    $field_vis $field: $type;
                )*
            }
        }

        impl<T: $crate::Real> Default for $name<T> {
            fn default() -> Self {
                Self { $($field: $crate::variables!(@default T $($default)?),)* }
            }
        }

        impl<T: $crate::Real> $name<T> {
            /// The same in another scalar.
            pub fn cast<U: $crate::Real>(&self) -> $name<U> {
                $crate::variables::Lift::lift(self, &mut |x| $crate::Real::cast(x))
            }
        }

        impl<T: $crate::Real> $crate::Variables<T> for $name<T> {
            const FIRST_STAGE: Option<$crate::Stage> =
                $crate::variables::earliest(&[$($crate::variables!(@stage T $type $(, $stage)?)),*]);

            fn visit(&self, visit: $crate::variables::Visitor<'_, T>) {
                $($crate::variables::Listed::<T, _>::visit(
                    &self.$field,
                    $crate::variables::Declared {
                        name: $crate::variables!(@name $field $($range)?),
                        units: &[$($unit $(, $more)*)?],
                        stage: $crate::variables!(@stage T $type $(, $stage)?),
                    },
                    visit,
                );)*
            }

            fn visit_mut(&mut self, visit: $crate::variables::VisitorMut<'_, T>) {
                $($crate::variables::Part::<T, _>::visit_mut(
                    &mut self.$field,
                    $crate::variables::Declared {
                        name: $crate::variables!(@name $field $($range)?),
                        units: &[$($unit $(, $more)*)?],
                        stage: $crate::variables!(@stage T $type $(, $stage)?),
                    },
                    visit,
                );)*
            }

            fn first_stage_changed(&self, new: &Self) -> Option<$crate::Stage> {
                let first = None;
                $(
                    let first = $crate::variables::earlier(
                        first,
                        $crate::variables::Part::<T, _>::first_stage_changed(
                            &self.$field,
                            &new.$field,
                            $crate::variables!(@stage T $type $(, $stage)?),
                        ),
                    );
                )*
                first
            }

            fn validate(&self) -> Result<(), $crate::InvalidValue> {
                $(
                    $crate::variables::Part::<T, _>::check(
                        &self.$field,
                        $crate::variables!(@label $list $field),
                        $crate::variables!(@range $($range)?),
                    )?;
                )*
                $({
                    let $checked = self;
                    $check?;
                })?
                Ok(())
            }

            fn fits(&self, other: &Self) -> bool {
                true $(&& $crate::variables::Part::<T, _>::fits(&self.$field, &other.$field))*
            }
        }
    };
    (@name $field:ident flat) => { format_args!("") };
    (@name $field:ident $($range:ident)?) => { format_args!(stringify!($field)) };
    (@range $(flat)?) => { |_, _| Ok(()) };
    (@range $range:ident) => { $crate::check::$range };
    (@label [$list:literal] $field:ident) => { concat!($list, ".", stringify!($field)) };
    (@label [] $field:ident) => { stringify!($field) };
    (@default $T:ident $default:expr) => { <$T as $crate::Real>::lit($default) };
    (@default $T:ident) => { $crate::variables::Listed::<$T, _>::neutral() };
    (@stage $T:ident $type:ty, $stage:ident) => {
        $crate::variables::no_later($crate::Stage::$stage, <$type as $crate::variables::Part<$T, _>>::OWN_STAGE)
    };
    (@stage $T:ident $type:ty) => { $crate::Stage::Instance };
    (@struct [$($derived:ident),*]
        $(#[doc = $doc:expr])*
        #[derive(Copy, Lift)]
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<T> {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty;)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, $($derived),*)]
        $(#[$meta])*
        $vis struct $name<T: $crate::nalgebra::Scalar> {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        $crate::variables! { @lift [PartialEq] $name [$crate::Number, $crate::nalgebra::Scalar] $($field: $type;)* }

        impl<T: $crate::Number> $crate::variables::Numbers<T> for $name<T> {
            const COUNT: usize = <Self as $crate::variables::Lift<T, T, _>>::COUNT;
            type Over<S: $crate::nalgebra::Scalar> = $name<S>;

            #[inline(always)]
            #[allow(clippy::inline_always, reason = "a call returns kilobytes of dual numbers, which are copied")]
            fn lift<S: $crate::nalgebra::Scalar>(&self, of: &mut impl FnMut(T) -> S) -> $name<S> {
                $crate::variables::Lift::lift(self, of)
            }

            fn for_each_over<S: $crate::Number>(over: &$name<S>, visit: impl FnMut(usize, S)) {
                $crate::variables::Numbers::<S>::for_each(over, visit);
            }
        }
    };
    (@struct [$($derived:ident),*]
        $(#[doc = $doc:expr])*
        #[derive(Copy)]
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<T> {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty;)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, $($derived),*)]
        $(#[$meta])*
        $vis struct $name<T: $crate::Real> {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        $crate::variables! { @lift [$($derived)*] $name [$crate::Real, $crate::Real] $($field: $type;)* }
    };
    (@struct [$($derived:ident),*]
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<T> {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, $($derived),*)]
        $vis struct $name<T: $crate::Real> {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        $crate::clone_by_field!($name { $($field),* });
        $crate::variables! { @lift [$($derived)*] $name [$crate::Real, $crate::Real] $($field: $type;)* }
    };
    (@lift [] $($struct:tt)*) => {};
    (@lift [PartialEq] $name:ident [$from:path, $to:path] $($field:ident : $type:ty;)*) => {
        impl<T: $from, S: $to> $crate::variables::Lift<T, S, $crate::variables::Nested> for $name<T> {
            type Lifted = $name<S>;
            #[inline(always)]
            #[allow(clippy::inline_always, reason = "a call returns kilobytes of dual numbers, which are copied")]
            fn lift(&self, of: &mut impl FnMut(T) -> S) -> $name<S> {
                $name { $($field: $crate::variables::Lift::<T, S, _>::lift(&self.$field, of),)* }
            }
            const COUNT: usize = 0 $(+ <$type as $crate::variables::Lift<T, S, _>>::COUNT)*;
        }
    };
}

/// [`variables!`](crate::variables!) with `Serialize` and `Deserialize`, which refuses values that fail `validate`; for
/// structs of this crate.
macro_rules! stored_variables {
    ($(#[$($meta:tt)*])* $vis:vis struct $name:ident<T> $fields:tt $($checks:tt)*) => {
        $crate::variables! {
            $(#[$($meta)*])*
            #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
            $vis struct $name<T> $fields
            $($checks)*
        }

        $crate::math::checked_when_read!($name, $crate::Variables::validate);
    };
}

pub(crate) use stored_variables;
