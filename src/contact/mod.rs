//! The search for pairs of solids that may be in contact.

mod pairs;

pub use pairs::{BoundingBox, PairSearch};
