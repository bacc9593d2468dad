//! Definition of a path: stations, via points, obstacles and their places.

pub(crate) mod casts;
pub(crate) mod error;
pub(crate) mod obstacle;
pub(crate) mod path;
pub(crate) mod places;
pub(crate) mod point_curve;
pub(crate) mod settings;
pub(crate) mod via_point;
