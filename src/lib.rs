//! Mechanical force elements that any rigid-body simulator can embed.
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub use nalgebra;

pub mod contact;
mod element;
mod elements;
mod error;
mod forces;
mod kinematics;
mod scalar;
pub mod simulation;
mod spatial;
mod stage;
mod state;
mod storage;
mod system;
pub mod variables;
mod view;

pub use element::{AtDynamics, AtPosition, AtVelocity, Cache, ForceElement, Given};
pub use elements::{CoordinateSpringDamperExt, ElasticFoundation, ExponentialSpring, LinearBushing};
pub use elements::{coordinate_spring_damper_ext, elastic_foundation, exponential_spring, linear_bushing};
pub use error::{ElementName, Error, Quantity, Requirement, Result};
pub use forces::{ForceAccumulator, Forces};
pub use kinematics::{
    BodyIndex, CoordinateIndex, Kinematics, KinematicsSource, Positions, Topology, Velocities,
};
pub use scalar::Real;
pub use spatial::{SpatialForce, SpatialVelocity, Transform, cast_pose};
pub use stage::Stage;
pub use state::{Snapshot, State};
pub use system::{ForceSystem, Handle};
pub use variables::Variables;
pub use view::{DynamicsView, PositionView, VelocityView};
