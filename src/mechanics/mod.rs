//! Bodies and coordinates: their motion and the forces on them.

mod by_place;
mod error;
mod forces;
mod inertias;
mod kinematics;
mod place;
mod places;
mod topology;

pub use by_place::ByPlace;
pub use error::{KinematicsError, Quantity};
pub use forces::{ForceAccumulator, Forces};
pub use inertias::Inertias;
pub(crate) use kinematics::{Kinematics, finite};
pub use kinematics::{KinematicsSource, Positions, Variation, Velocities};
pub use place::{CoordinatePair, Frame, Station};
pub(crate) use places::{Places, Stamp};
pub(crate) use topology::Checked;
pub use topology::{AsIndex, BodyIndex, CoordinateIndex, Topology};
