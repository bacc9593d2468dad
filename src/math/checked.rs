//! Validation during deserialization.

/// `Serialize` and `Deserialize` for a type that derives both with `serde(remote = "Self")`: values that fail its
/// `validate`, or the function given, are refused.
macro_rules! checked_when_read {
    ($Type:ident) => {
        $crate::math::checked_when_read!($Type, Self::validate);
    };
    ($Type:ident, $validate:path) => {
        #[cfg(feature = "serde")]
        impl<T: crate::math::Real + serde::Serialize> serde::Serialize for $Type<T> {
            fn serialize<S: serde::Serializer>(
                &self,
                serializer: S,
            ) -> core::result::Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, T: crate::math::Real + serde::Deserialize<'de>> serde::Deserialize<'de> for $Type<T> {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> core::result::Result<Self, D::Error> {
                let read = Self::deserialize(deserializer)?;
                $validate(&read).map_err(serde::de::Error::custom)?;
                Ok(read)
            }
        }
    };
}

pub(crate) use checked_when_read;
