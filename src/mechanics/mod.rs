//! Bodies and coordinates: their motion and the forces on them.

mod error;
mod forces;
mod kinematics;
mod place;
mod places;
mod topology;

pub use error::{KinematicsError, Quantity};
pub use forces::{ForceAccumulator, Forces};
pub(crate) use kinematics::{Kinematics, finite};
pub use kinematics::{KinematicsSource, Positions, Velocities};
use kinematics::{expect_body, expect_coordinate};
pub use place::{CoordinatePair, Frame, Station};
pub(crate) use places::{Places, Stamp};
pub use topology::{BodyIndex, CoordinateIndex, Topology};
