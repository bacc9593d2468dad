//! Clones and defaults field by field.

/// Implements `Clone` field by field, including `clone_from`: the derived one would drop the buffers of the target. Types
/// that are generic over other parameters than a scalar `T` name them first, in brackets. Fields after a semicolon are
/// buffers, which are kept, and are empty in a new clone.
#[doc(hidden)]
#[macro_export]
macro_rules! clone_by_field {
    ($Type:ident { $($fields:tt)* }) => {
        $crate::clone_by_field!([T: $crate::Real] $Type<T> { $($fields)* });
    };
    ([$($parameters:tt)*] $Type:ty { $($field:tt),* $(,)? $(; $($buffer:ident),*)? }) => {
        impl<$($parameters)*> Clone for $Type {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone(),)* $($($buffer: Default::default()),*)? }
            }

            fn clone_from(&mut self, source: &Self) {
                $(self.$field.clone_from(&source.$field);)*
            }
        }
    };
}

pub(crate) use crate::clone_by_field;

/// Implements `Default` field by field: the derived one would require a default of the scalar.
macro_rules! default_by_field {
    ($Type:ident { $($field:ident),* $(,)? }) => {
        impl<T: $crate::Real> Default for $Type<T> {
            fn default() -> Self {
                Self { $($field: Default::default()),* }
            }
        }
    };
}

pub(crate) use default_by_field;
