//! Starts of a path without memory.

pub(crate) mod plan;
pub(crate) mod search;
pub(crate) mod string;
