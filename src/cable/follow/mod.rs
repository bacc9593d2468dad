//! Contacts made and released along a path, and the checks of a path found.

pub(crate) mod checks;
pub(crate) mod motion;
pub(crate) mod side;
pub(crate) mod touch;
pub(crate) mod track;
