//! Errors of motions, bodies and coordinates.

use core::fmt;

use super::{BodyIndex, CoordinateIndex};

/// A motion that was refused, or a body or coordinate that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KinematicsError {
    /// A time, pose, velocity or coordinate, or the sum of the forces on a body or coordinate, is not finite.
    #[error("{quantity} is not finite")]
    NonFinite {
        /// The quantity that is not finite.
        quantity: Quantity,
    },
    /// The rotation of a body's pose is scaled, sheared or mirrored, by more than a hundredth.
    #[error("the pose of body {} has a matrix that is not orthonormal and right-handed", body.index())]
    NoRotation {
        /// The body.
        body: BodyIndex,
    },
    /// The system does not have this body.
    #[error("body {} does not exist in this system: it was removed, or belongs to another", body.index())]
    NoSuchBody {
        /// The missing body.
        body: BodyIndex,
    },
    /// The system does not have this coordinate.
    #[error("coordinate {} does not exist in this system: it was removed, or belongs to another", coordinate.index())]
    NoSuchCoordinate {
        /// The missing coordinate.
        coordinate: CoordinateIndex,
    },
    /// Ground was given a pose, a velocity or a load, or was to be removed.
    #[error("Ground does not move and cannot be removed")]
    GroundIsFixed,
}

/// A quantity that is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quantity {
    /// Time.
    Time,
    /// The pose of a body.
    Pose(BodyIndex),
    /// The velocity of a body.
    Velocity(BodyIndex),
    /// The value of a coordinate.
    Coordinate(CoordinateIndex),
    /// The rate of a coordinate.
    CoordinateRate(CoordinateIndex),
    /// The sum of the forces on a body.
    BodyForce(BodyIndex),
    /// The sum of the forces on a coordinate.
    CoordinateForce(CoordinateIndex),
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::Pose(body) => write!(f, "the pose of body {}", body.index()),
            Self::Velocity(body) => write!(f, "the velocity of body {}", body.index()),
            Self::Coordinate(c) => write!(f, "the value of coordinate {}", c.index()),
            Self::CoordinateRate(c) => write!(f, "the rate of coordinate {}", c.index()),
            Self::BodyForce(body) => write!(f, "the sum of the forces on body {}", body.index()),
            Self::CoordinateForce(c) => write!(f, "the sum of the forces on coordinate {}", c.index()),
        }
    }
}
