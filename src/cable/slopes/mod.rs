//! Derivatives of a path with respect to motions of its parts.

pub(crate) mod path_derivatives;
pub(crate) mod stop;
