//! The scalar, poses and spatial vectors, and checks of what is read.

mod checked;
mod scalar;
mod spatial;

pub(crate) use checked::checked_when_read;
pub use scalar::Real;
pub use spatial::{SpatialForce, SpatialVelocity, Transform, cast_pose};
pub(crate) use spatial::{is_finite, is_finite_pose};
