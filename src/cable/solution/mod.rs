//! Solution of a path over all spans, and its results.

pub(crate) mod acting;
pub(crate) mod attempts;
pub(crate) mod results;
pub(crate) mod solver;
