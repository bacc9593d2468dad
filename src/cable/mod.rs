//! Cables over smooth surfaces: the trait [`Wrappable`], geodesics, and the path of a cable.
//!
//! A [`CablePath`] runs from an origin on one body, through via points and over obstacles on others, to a
//! termination. [`CablePath::solve`] finds the shortest path of its class; [`PathResults`] holds the result.
//! [`CableSpring`](crate::CableSpring) is the elastic cable on such a path; a user's muscle uses the same two
//! types.

mod acting;
mod bead;
mod block;
mod by_values;
mod casts;
mod checks;
mod chord;
mod contact_changes;
mod contacts;
mod drum;
mod error;
mod geodesic;
mod grip;
mod hollow;
mod lay;
mod linear_system;
mod memory_derivatives;
mod newton;
mod node;
mod obstacle;
mod path;
mod path_derivatives;
mod places;
mod plan;
mod point_curve;
mod relax;
mod remember;
mod results;
mod saddle;
mod scaled;
mod search;
mod settings;
mod side;
mod slip;
mod solver;
mod span;
mod stop;
mod strand_derivatives;
mod strand_law;
mod strands;
mod surfaces;
mod sweep;
mod touch;
mod trace;
mod turning;
mod via_point;
mod workspace;
mod wrap;
mod wrappable;

pub use casts::PathCasts;
pub use error::PathError;
pub use geodesic::{Geodesic, GeodesicEnd, Jacobi};
pub use grip::{Grip, Grips, Lap};
pub use obstacle::Obstacle;
pub use path::CablePath;
pub use path_derivatives::{PathDerivatives, PathMotion, UnitCoordinateForce, UnitForce};
pub use places::{ObstaclePlace, PlacedPath, Places, ViaPlace};
pub use point_curve::{PointCurve, SplineCurve};
pub use results::{ObstacleContact, PathResults, Segment};
pub use settings::Settings;
pub use solver::Tracking;
pub(crate) use strand_derivatives::{Evaluated, GripNumbers, StrandDerivatives, StrandMotion};
pub(crate) use strand_law::tension;
pub(crate) use strands::Rubbing;
pub use strands::{Strand, Strands};
pub use via_point::ViaPoint;
pub use wrap::{Wrap, Wraps};
pub use wrappable::{SegmentApproach, Wrappable};

use nalgebra::convert_unchecked;

use crate::math::Real;

/// The least integer not below the value of `x`, since dual numbers have no `ceil`; saturates.
fn ceil<T: Real>(x: T) -> T {
    let x = x.to_f64();
    let whole = f64::from(convert_unchecked::<f64, i32>(x));
    T::lit(if whole < x { whole + 1.0 } else { whole })
}
