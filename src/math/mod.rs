//! The scalar, poses and spatial vectors, and checks of what is read.

pub mod check;
mod checked;
mod scalar;
mod spatial;

pub use check::{InvalidValue, Requirement};
pub(crate) use checked::checked_when_read;
pub use scalar::Real;
pub use spatial::{Pose, SpatialForce, SpatialVelocity, cast_pose};
pub(crate) use spatial::{is_finite, is_finite_pose};
