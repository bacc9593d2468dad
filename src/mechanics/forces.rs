//! Forces on bodies and coordinates, and the accumulator to which elements add theirs.

use nalgebra::{Point3, Vector3};

use crate::math::{Real, SpatialForce};
use crate::mechanics::{
    AsIndex, BodyIndex, ByPlace, CoordinateIndex, Kinematics, KinematicsError, Positions, Quantity, Topology,
    Velocities,
};

/// Forces on every body (torque \[N·m\] and force \[N\] at its origin, expressed in Ground) and generalized forces on every
/// coordinate: [`body`](ByPlace::body), [`coordinate`](ByPlace::coordinate), or all of them by place,
/// [`bodies`](ByPlace::bodies), [`coordinates`](ByPlace::coordinates).
pub type Forces<T> = ByPlace<SpatialForce<T>, T>;

impl<T: Real> Forces<T> {
    /// No force on any body or coordinate.
    pub fn zeros(topology: &Topology) -> Self {
        Self::filled(topology, SpatialForce::zero(), T::zero())
    }

    /// # Errors
    /// [`KinematicsError::NonFinite`] for the first sum that is not finite.
    pub(crate) fn check_finite(&self) -> Result<(), KinematicsError> {
        let topology = &self.topology;
        let place = self.bodies.iter().position(|F_GB| !F_GB.is_finite());
        let body = place.and_then(|place| topology.body(place)).map(Quantity::BodyForce);
        let place = self.coordinates.iter().position(|f| !f.is_finite());
        let coordinate = place.and_then(|place| topology.coordinate(place)).map(Quantity::CoordinateForce);
        body.or(coordinate).map_or(Ok(()), |quantity| Err(KinematicsError::NonFinite { quantity }))
    }

    pub(crate) fn set_zero(&mut self) {
        self.bodies.fill(SpatialForce::zero());
        self.coordinates.fill(T::zero());
    }
}

/// Accumulator to which an element adds its forces; sums the power that they deliver.
#[derive(Debug)]
pub struct ForceAccumulator<'a, T: Real> {
    forces: &'a mut Forces<T>,
    positions: &'a Positions<T>,
    velocities: &'a Velocities<T>,
    power: T,
}

impl<'a, T: Real> ForceAccumulator<'a, T> {
    pub(crate) fn new(forces: &'a mut Forces<T>, kinematics: &'a Kinematics<T>) -> Self {
        Self::at(forces, &kinematics.positions, &kinematics.velocities)
    }

    pub(crate) fn at(
        forces: &'a mut Forces<T>,
        positions: &'a Positions<T>,
        velocities: &'a Velocities<T>,
    ) -> Self {
        Self { forces, positions, velocities, power: T::zero() }
    }

    /// Adds a force at the body's origin, expressed in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in dual numbers a call costs as much as the arithmetic")]
    pub fn apply_to_body(&mut self, body: impl AsIndex<BodyIndex>, F_GB: SpatialForce<T>) {
        let place = body.place_in(&self.forces.topology);
        self.forces.bodies[place] += F_GB;
        if place != BodyIndex::GROUND.index() {
            self.power += self.velocities.velocity(body).power(&F_GB);
        }
    }

    /// Adds a force `f_G` \[N\] on the point of a body that is at `p_G` \[m\], both in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn apply_at_point(&mut self, body: impl AsIndex<BodyIndex>, p_G: &Point3<T>, f_G: Vector3<T>) {
        let r_G = self.positions.offset_of(body, p_G);
        self.apply_to_body(body, SpatialForce::new(r_G.cross(&f_G), f_G));
    }

    /// Adds a force `F_GF` at the origin of a frame F on a body, expressed in Ground. The origin is at `p_GF` \[m\].
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call in the loop of a bushing costs a third of its time")]
    pub fn apply_to_frame(&mut self, body: impl AsIndex<BodyIndex>, p_GF: &Point3<T>, F_GF: SpatialForce<T>) {
        let r_G = self.positions.offset_of(body, p_GF);
        self.apply_to_body(body, F_GF.shifted(-r_G));
    }

    /// Adds a generalized force on a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    #[inline]
    pub fn apply_to_coordinate(&mut self, coordinate: impl AsIndex<CoordinateIndex>, f: T) {
        self.forces.coordinates[coordinate.place_in(&self.forces.topology)] += f;
        self.power += self.velocities.coordinate_rate(coordinate) * f;
    }

    /// The power delivered to the bodies since the last call \[W\].
    #[inline]
    pub(crate) fn take_power(&mut self) -> T {
        core::mem::replace(&mut self.power, T::zero())
    }
}
