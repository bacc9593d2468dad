//! The scalar and casts to another one, poses, spatial vectors and range checks.

mod banded;
mod casts;
pub mod check;
mod checked;
mod clone;
mod dual;
mod products;
mod scalar;
mod spatial;
mod symmetric;

pub(crate) use banded::solve_banded;
pub use casts::Casts;
pub use check::{InvalidValue, Requirement};
pub(crate) use checked::checked_when_read;
pub(crate) use clone::{clone_by_field, default_by_field};
pub use dual::Number;
pub(crate) use dual::{Dual, varied};
pub(crate) use products::{cross_cross, cross_times, dot, outer, rotated, times_cross};
pub use scalar::Real;
pub(crate) use scalar::{have_same_bits, is_plain};
pub use spatial::{Pose, SpatialForce, SpatialVelocity, cast_pose};
pub(crate) use spatial::{is_finite, is_finite_pose, orthonormal, squared_distortion};
pub use symmetric::Symmetric6;
pub(crate) use symmetric::places;
