//! Bodies and coordinates: their motion and the forces on them.

mod error;
mod forces;
mod kinematics;
mod place;

pub use error::{KinematicsError, Quantity};
pub use forces::{ForceAccumulator, Forces};
pub use kinematics::{BodyIndex, CoordinateIndex, KinematicsSource, Positions, Topology, Velocities};
pub(crate) use kinematics::{Kinematics, finite};
pub use place::{CoordinatePair, Frame, Station};
