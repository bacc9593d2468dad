//! Mechanical force elements that any rigid-body simulator can embed.
#![allow(non_snake_case, reason = "monogram notation: X_GB, R_GB, p_GB, V_GB, F_GM")]
#![no_std]

extern crate alloc;

pub use nalgebra;

pub mod cable;
mod element;
pub mod elements;
mod error;
mod forces;
mod kinematics;
mod scalar;
mod spatial;
mod stage;
mod state;
mod storage;
mod system;
pub mod variables;
mod view;

pub use element::{AtDynamics, AtPosition, AtVelocity, Cache, ForceElement, Given};
pub use elements::CableSpring;
pub use elements::LinearBushing;
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
