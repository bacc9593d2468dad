//! Derivatives of a path with respect to motions of its parts.

pub(crate) mod contact_changes;
pub(crate) mod path_derivatives;
pub(crate) mod stop;
