//! Cables over smooth surfaces: the trait [`Wrappable`], geodesics, and the path of a cable.
//!
//! A [`CablePath`] runs from an origin on one body, through via points and over obstacles on others, to a
//! termination. [`CablePath::solve`] finds the shortest path of its class; [`PathResults`] holds the result.
//! [`CableSpring`](crate::CableSpring) is the elastic cable on such a path; a user's muscle uses the same two
//! types.

mod follow;
mod friction;
mod geodesics;
mod model;
mod slopes;
mod solution;
mod solve;
mod start;
mod surfaces;

pub(crate) use friction::strand_derivatives::{Evaluated, StrandDerivatives};
pub use friction::strand_law::Strand;
pub(crate) use friction::strand_law::tension;
pub use friction::strands::{Grip, Grips, Lap, Strands};
pub(crate) use friction::strands::{StrandMotion, numbers_of_grip, numbers_of_lap};
pub use geodesics::geodesic::{Geodesic, GeodesicEnd, Jacobi};
pub use geodesics::wrappable::Wrappable;
pub use model::error::PathError;
pub use model::obstacle::Obstacle;
pub use model::path::CablePath;
pub use model::places::{ObstaclePlace, PastBody, Places, ViaPlace, Wrap, Wraps};
pub use model::point_curve::{PointCurve, SplineCurve};
pub use model::settings::Settings;
pub use model::via_point::ViaPoint;
pub use slopes::path_derivatives::{PathDerivatives, PathMotion, UnitCoordinateForce, UnitForce};
pub use solution::results::{ObstacleContact, PathResults, Segment, Tracking};
pub(crate) use solve::newton::Progress;
pub(crate) use solve::node::{ACCURACY, Budget, Metered, Node, SpanProblem, Trial};

use alloc::vec::Vec;

use nalgebra::convert_unchecked;

use crate::math::Real;

/// The least integer not below the value of `x`, since dual numbers have no `ceil`; saturates.
fn ceil<T: Real>(x: T) -> T {
    let x = x.to_f64();
    let whole = f64::from(convert_unchecked::<f64, i32>(x));
    T::lit(if whole < x { whole + 1.0 } else { whole })
}

/// Empties a list, with room for this many items.
fn empty<V>(list: &mut Vec<V>, room: usize) {
    list.clear();
    list.reserve(room);
}
