//! Shapes that are defined by a few lengths.

/// Declares a shape by its lengths, each of a size. The documentation of its constructor follows, and a function that
/// checks relations between the lengths.
macro_rules! shape_of_lengths {
    (
        $(#[$meta:meta])*
        pub struct $Shape:ident in $name:literal {
            $($(#[$of_length:meta])* $length:ident,)+
        }
        $(#[$of_new:meta])*
        new;
        $(check |$checked:ident| $check:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
        pub struct $Shape<T: $crate::Real> {
            $(pub(crate) $length: T,)+
        }

        $crate::math::checked_when_read!($Shape);

        impl<T: $crate::Real> $Shape<T> {
            $(#[$of_new])*
            pub fn new($($length: T),+) -> Result<Self, $crate::shapes::ShapeError> {
                let shape = Self { $($length),+ };
                shape.validate()?;
                Ok(shape)
            }

            fn validate(&self) -> Result<(), $crate::InvalidValue> {
                $($crate::math::check::size(concat!($name, ".", stringify!($length)), self.$length)?;)+
                $({
                    let $checked = self;
                    $check?;
                })?
                Ok(())
            }

            $(
                $(#[$of_length])*
                pub fn $length(&self) -> T {
                    self.$length
                }
            )+

            /// The same in another scalar.
            ///
            /// # Errors
            /// As [`new`](Self::new), where the other scalar has a smaller range.
            pub fn cast<U: $crate::Real>(self) -> Result<$Shape<U>, $crate::shapes::ShapeError> {
                $Shape::new($(self.$length.cast()),+)
            }
        }
    };
}

pub(super) use shape_of_lengths;
