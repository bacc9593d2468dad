//! Newton's method on the touch-down conditions, and the list of contacts on which it works.

pub(crate) mod contacts;
pub(crate) mod hollow;
pub(crate) mod linear_system;
pub(crate) mod newton;
pub(crate) mod node;
