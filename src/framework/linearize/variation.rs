//! Small motions of all bodies and coordinates.

use alloc::vec;
use alloc::vec::Vec;

use crate::math::{Real, SpatialVelocity, clone_by_field};
use crate::mechanics::{AsBody, AsCoordinate, BodyIndex, CoordinateIndex, Topology, Velocities};

/// A small motion of every body and coordinate, or a small change of their velocities.
///
/// The motion of a body is a twist like its velocity: a turn about the axes of Ground \[rad\] and a shift of its origin
/// \[m\], so that `dX = V dt`. Ground does not move: of a motion or velocity its entry is not read.
///
/// The multipliers of forces in [`apply_transpose`](crate::Linearization::apply_transpose) have the same type: their product
/// with the forces is a power. There the entry of Ground is read; it multiplies the force on Ground.
#[derive(Debug, PartialEq)]
pub struct Variation<T: Real> {
    topology: Topology,
    bodies: Vec<SpatialVelocity<T>>,
    coordinates: Vec<T>,
}

clone_by_field!(Variation { topology, bodies, coordinates });

impl<T: Real> Variation<T> {
    /// No motion.
    pub fn zeros(topology: &Topology) -> Self {
        Self {
            topology: topology.clone(),
            bodies: vec![SpatialVelocity::zero(); topology.body_places()],
            coordinates: vec![T::zero(); topology.coordinate_places()],
        }
    }

    /// Velocities, as the motion in one second.
    pub fn of_velocities(velocities: &Velocities<T>) -> Self {
        Self {
            topology: velocities.topology().clone(),
            bodies: velocities.bodies().to_vec(),
            coordinates: velocities.coordinates().to_vec(),
        }
    }

    /// The bodies and coordinates.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The motions of all bodies by place, Ground first.
    pub fn bodies(&self) -> &[SpatialVelocity<T>] {
        &self.bodies
    }

    /// The motions of all coordinates by place.
    pub fn coordinates(&self) -> &[T] {
        &self.coordinates
    }

    /// The motion of a body.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn body(&self, body: BodyIndex) -> &SpatialVelocity<T> {
        &self.bodies[body.place_in(&self.topology)]
    }

    /// The motion of a body, to write.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    pub fn body_mut(&mut self, body: BodyIndex) -> &mut SpatialVelocity<T> {
        &mut self.bodies[body.place_in(&self.topology)]
    }

    /// The motion of a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    pub fn coordinate(&self, coordinate: CoordinateIndex) -> T {
        self.coordinates[coordinate.place_in(&self.topology)]
    }

    /// The motion of a coordinate, to write.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    pub fn coordinate_mut(&mut self, coordinate: CoordinateIndex) -> &mut T {
        &mut self.coordinates[coordinate.place_in(&self.topology)]
    }

    /// Sets every motion to zero.
    pub fn set_zero(&mut self) {
        self.bodies.fill(SpatialVelocity::zero());
        self.coordinates.fill(T::zero());
    }
}
