//! Contacts made and released along a path, and the checks of a path found.

pub(crate) mod checks;
pub(crate) mod side;
pub(crate) mod sweep;
pub(crate) mod touch;
