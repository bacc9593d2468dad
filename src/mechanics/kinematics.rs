//! Positions and velocities of bodies and coordinates, as the host provides them.

use alloc::vec;
use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use super::{KinematicsError, Quantity};
use crate::math::{Pose, Real, SpatialVelocity, is_finite_pose};

/// A body of the host. Index 0 is Ground, which never moves.
///
/// It holds a place only: in another system it refers to the body at that place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyIndex(usize);

impl BodyIndex {
    /// Ground.
    pub const GROUND: Self = Self(0);

    /// The body at this place among the host's bodies, Ground being 0.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// The place among the host's bodies.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// A scalar generalized coordinate of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoordinateIndex(usize);

impl CoordinateIndex {
    /// The coordinate at this place among the host's coordinates.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// The place among the host's coordinates.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// The numbers of bodies and coordinates, against which elements check their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topology {
    /// Bodies, Ground included.
    pub body_count: usize,
    /// Coordinates.
    pub coordinate_count: usize,
}

impl Topology {
    /// # Errors
    /// [`KinematicsError::NoSuchBody`] if the body does not exist.
    pub fn check_body(&self, body: BodyIndex) -> Result<(), KinematicsError> {
        let count = self.body_count;
        if body.0 < count { Ok(()) } else { Err(KinematicsError::NoSuchBody { body, count }) }
    }

    /// # Errors
    /// [`KinematicsError::NoSuchCoordinate`] if the coordinate does not exist.
    pub fn check_coordinate(&self, coordinate: CoordinateIndex) -> Result<(), KinematicsError> {
        let count = self.coordinate_count;
        if coordinate.0 < count {
            Ok(())
        } else {
            Err(KinematicsError::NoSuchCoordinate { coordinate, count })
        }
    }
}

/// A host's motion, copied into a state in one call, [`State::set_kinematics`](crate::State::set_kinematics).
///
/// Poses are of body frames in Ground; velocities are of body origins, expressed in Ground. Ground is skipped.
pub trait KinematicsSource<T: Real> {
    /// Time \[s\].
    fn time(&self) -> T;
    /// The pose `X_GB` of a body.
    fn pose(&self, body: BodyIndex) -> Pose<T>;
    /// The velocity `V_GB` of a body.
    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<T>;
    /// The value of a coordinate.
    fn coordinate(&self, coordinate: CoordinateIndex) -> T;
    /// The rate of a coordinate.
    fn coordinate_rate(&self, coordinate: CoordinateIndex) -> T;
}

/// Poses of all bodies and values of all coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Positions<T: Real> {
    pub(crate) poses: Vec<Pose<T>>,
    pub(crate) coordinates: Vec<T>,
}

impl<T: Real> Positions<T> {
    /// The poses `X_GB` of all bodies, Ground first.
    pub fn poses(&self) -> &[Pose<T>] {
        &self.poses
    }

    /// The values of all coordinates.
    pub fn coordinates(&self) -> &[T] {
        &self.coordinates
    }

    /// The pose `X_GB` of a body in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing [`poses`](Self::poses).
    #[inline]
    pub fn pose(&self, body: BodyIndex) -> &Pose<T> {
        &self.poses[body.0]
    }

    /// The vector from a body's origin to the point `p_G`, expressed in Ground.
    #[inline]
    pub(crate) fn offset_of(&self, body: BodyIndex, p_G: &Point3<T>) -> Vector3<T> {
        p_G.coords - self.pose(body).translation.vector
    }

    /// The value of a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing [`coordinates`](Self::coordinates).
    #[inline]
    pub fn coordinate(&self, coordinate: CoordinateIndex) -> T {
        self.coordinates[coordinate.0]
    }
}

/// Velocities of all bodies and rates of all coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Velocities<T: Real> {
    pub(crate) bodies: Vec<SpatialVelocity<T>>,
    pub(crate) coordinates: Vec<T>,
}

impl<T: Real> Velocities<T> {
    /// The velocities `V_GB` of all bodies' origins, expressed in Ground, Ground first.
    pub fn bodies(&self) -> &[SpatialVelocity<T>] {
        &self.bodies
    }

    /// The rates of all coordinates.
    pub fn coordinates(&self) -> &[T] {
        &self.coordinates
    }

    /// The velocity `V_GB` of a body's origin, expressed in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing [`bodies`](Self::bodies).
    #[inline]
    pub fn velocity(&self, body: BodyIndex) -> &SpatialVelocity<T> {
        &self.bodies[body.0]
    }

    /// The velocity \[m/s\] of the point of a body that is at `p_G` \[m\], both in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn velocity_of_point(
        &self,
        positions: &Positions<T>,
        body: BodyIndex,
        p_G: &Point3<T>,
    ) -> Vector3<T> {
        self.velocity_of_frame(positions, body, p_G).linear
    }

    /// The velocity `V_GF` of a frame F on a body, expressed in Ground, whose origin is at `p_GF` \[m\].
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn velocity_of_frame(
        &self,
        positions: &Positions<T>,
        body: BodyIndex,
        p_GF: &Point3<T>,
    ) -> SpatialVelocity<T> {
        self.velocity(body).shifted(positions.offset_of(body, p_GF))
    }

    /// The rate of a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing [`coordinates`](Self::coordinates).
    #[inline]
    pub fn coordinate_rate(&self, coordinate: CoordinateIndex) -> T {
        self.coordinates[coordinate.0]
    }
}

/// Time, positions and velocities, all finite.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kinematics<T: Real> {
    pub(crate) time: T,
    pub(crate) positions: Positions<T>,
    pub(crate) velocities: Velocities<T>,
}

impl<T: Real> Kinematics<T> {
    /// All bodies at rest at the Ground origin, all coordinates and time zero.
    pub(crate) fn at_rest(topology: Topology) -> Self {
        Self {
            time: T::zero(),
            positions: Positions {
                poses: vec![Pose::identity(); topology.body_count],
                coordinates: vec![T::zero(); topology.coordinate_count],
            },
            velocities: Velocities {
                bodies: vec![SpatialVelocity::zero(); topology.body_count],
                coordinates: vec![T::zero(); topology.coordinate_count],
            },
        }
    }

    pub(crate) fn topology(&self) -> Topology {
        Topology {
            body_count: self.positions.poses.len(),
            coordinate_count: self.positions.coordinates.len(),
        }
    }

    pub(crate) fn set_time(&mut self, time: T) -> Result<(), KinematicsError> {
        finite(time.is_finite(), Quantity::Time)?;
        self.time = time;
        Ok(())
    }

    pub(crate) fn set_pose(&mut self, body: BodyIndex, X_GB: Pose<T>) -> Result<(), KinematicsError> {
        self.check_moving(body)?;
        finite(is_finite_pose(&X_GB), Quantity::Pose(body))?;
        self.positions.poses[body.0] = X_GB;
        Ok(())
    }

    pub(crate) fn set_velocity(
        &mut self,
        body: BodyIndex,
        V_GB: SpatialVelocity<T>,
    ) -> Result<(), KinematicsError> {
        self.check_moving(body)?;
        finite(V_GB.is_finite(), Quantity::Velocity(body))?;
        self.velocities.bodies[body.0] = V_GB;
        Ok(())
    }

    pub(crate) fn set_coordinate(
        &mut self,
        coordinate: CoordinateIndex,
        q: T,
    ) -> Result<(), KinematicsError> {
        self.topology().check_coordinate(coordinate)?;
        finite(q.is_finite(), Quantity::Coordinate(coordinate))?;
        self.positions.coordinates[coordinate.0] = q;
        Ok(())
    }

    pub(crate) fn set_coordinate_rate(
        &mut self,
        coordinate: CoordinateIndex,
        u: T,
    ) -> Result<(), KinematicsError> {
        self.topology().check_coordinate(coordinate)?;
        finite(u.is_finite(), Quantity::CoordinateRate(coordinate))?;
        self.velocities.coordinates[coordinate.0] = u;
        Ok(())
    }

    /// Copies everything from a host; on an error some of it may have been copied.
    pub(crate) fn copy_from(&mut self, host: &impl KinematicsSource<T>) -> Result<(), KinematicsError> {
        let topology = self.topology();
        self.set_time(host.time())?;
        for body in (1..topology.body_count).map(BodyIndex) {
            self.set_pose(body, host.pose(body))?;
            self.set_velocity(body, host.velocity(body))?;
        }
        for coordinate in (0..topology.coordinate_count).map(CoordinateIndex) {
            self.set_coordinate(coordinate, host.coordinate(coordinate))?;
            self.set_coordinate_rate(coordinate, host.coordinate_rate(coordinate))?;
        }
        Ok(())
    }

    fn check_moving(&self, body: BodyIndex) -> Result<(), KinematicsError> {
        self.topology().check_body(body)?;
        if body == BodyIndex::GROUND { Err(KinematicsError::GroundIsFixed) } else { Ok(()) }
    }
}

/// Refuses a quantity that is not finite.
pub(crate) fn finite(is_finite: bool, quantity: Quantity) -> Result<(), KinematicsError> {
    if is_finite { Ok(()) } else { Err(KinematicsError::NonFinite { quantity }) }
}
