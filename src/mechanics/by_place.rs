//! Values for all bodies and coordinates.

use alloc::vec;
use alloc::vec::Vec;

use super::{AsIndex, BodyIndex, CoordinateIndex, Topology};
use crate::math::clone_by_field;

/// A value for each body and each coordinate of a topology, by place: [`Positions`](crate::Positions),
/// [`Velocities`](crate::Velocities), [`Variation`](crate::Variation) and [`Forces`](crate::Forces).
#[derive(Debug, PartialEq)]
pub struct ByPlace<B, C> {
    pub(super) topology: Topology,
    pub(crate) bodies: Vec<B>,
    pub(crate) coordinates: Vec<C>,
}

clone_by_field!([B: Clone, C: Clone] ByPlace<B, C> { topology, bodies, coordinates });

impl<B: Clone, C: Clone> ByPlace<B, C> {
    /// The same value for all bodies, and for all coordinates.
    pub(crate) fn filled(topology: &Topology, body: B, coordinate: C) -> Self {
        Self {
            topology: topology.clone(),
            bodies: vec![body; topology.body_places()],
            coordinates: vec![coordinate; topology.coordinate_places()],
        }
    }
}

impl<B, C: Copy> ByPlace<B, C> {
    /// The bodies and coordinates.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The values of all bodies by place, Ground first; at vacant places there is no motion and no force.
    pub fn bodies(&self) -> &[B] {
        &self.bodies
    }

    /// The values of all coordinates by place; zero at vacant places.
    pub fn coordinates(&self) -> &[C] {
        &self.coordinates
    }

    /// The value of a body.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn body(&self, body: impl AsIndex<BodyIndex>) -> &B {
        &self.bodies[body.place_in(&self.topology)]
    }

    /// The value of a body, to write.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn body_mut(&mut self, body: impl AsIndex<BodyIndex>) -> &mut B {
        &mut self.bodies[body.place_in(&self.topology)]
    }

    /// The value of a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    #[inline]
    pub fn coordinate(&self, coordinate: impl AsIndex<CoordinateIndex>) -> C {
        self.coordinates[coordinate.place_in(&self.topology)]
    }

    /// The value of a coordinate, to write.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    #[inline]
    pub fn coordinate_mut(&mut self, coordinate: impl AsIndex<CoordinateIndex>) -> &mut C {
        &mut self.coordinates[coordinate.place_in(&self.topology)]
    }
}
