//! Geodesics on surfaces given by implicit functions.

pub(crate) mod geodesic;
pub(crate) mod turning;
pub(crate) mod wrappable;
