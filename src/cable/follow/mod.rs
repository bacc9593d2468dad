//! A path followed from its remembered place: the motion in between, contacts made and released, and checks of what is found.

pub(crate) mod checks;
pub(crate) mod motion;
pub(crate) mod side;
pub(crate) mod touch;
pub(crate) mod track;
