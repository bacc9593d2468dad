//! Masses and loads: what the forces act on.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::error::{Error, Quantity, Requirement, Result};
use crate::kinematics::{BodyIndex, CoordinateIndex, finite};
use crate::scalar::Real;
use crate::spatial::{SpatialForce, is_finite};
use crate::system::ForceSystem;
use crate::variables::Check;

/// The mass properties of a free rigid body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidBody<T: Real> {
    mass: T,
    center: Point3<T>,
    inertia: Matrix3<T>,
    inverse_inertia: Matrix3<T>,
}

impl<T: Real> RigidBody<T> {
    /// A body of this mass \[kg\] and this inertia about its mass center \[kg·m²\], with the mass
    /// center at `center` \[m\], all in the body's frame.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless the mass is positive, the center finite, and the inertia symmetric
    /// and positive definite.
    pub fn new(mass: T, center: Point3<T>, inertia: Matrix3<T>) -> Result<Self> {
        let check = Check::new("rigid_body");
        check.positive("mass", mass)?;
        check.finite_vector("center", &center.coords)?;
        let cholesky = inertia.cholesky().filter(|_| inertia == inertia.transpose());
        let must = Requirement::PositiveDefinite;
        check.that(cholesky.is_some(), "inertia", inertia.determinant(), must)?;
        let inverse_inertia = cholesky.map_or_else(Matrix3::zeros, |cholesky| cholesky.inverse());
        Ok(Self { mass, center, inertia, inverse_inertia })
    }

    /// A body of this mass \[kg\], with its mass center at its origin and the same moment of inertia
    /// \[kg·m²\] about every axis.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_equal_inertia(mass: T, inertia: T) -> Result<Self> {
        Self::new(mass, Point3::origin(), Matrix3::identity() * inertia)
    }

    /// Mass \[kg\].
    pub fn mass(&self) -> T {
        self.mass
    }

    /// Mass center in the body's frame \[m\].
    pub fn center(&self) -> &Point3<T> {
        &self.center
    }

    /// Inertia about the mass center in the body's frame \[kg·m²\].
    pub fn inertia(&self) -> &Matrix3<T> {
        &self.inertia
    }

    /// Inverse of the inertia.
    pub(super) fn inverse_inertia(&self) -> &Matrix3<T> {
        &self.inverse_inertia
    }
}

/// Bodies, sliders, gravity and constant loads.
#[derive(Debug, Clone)]
pub struct Plant<T: Real> {
    pub(super) gravity: Vector3<T>,
    pub(super) bodies: Vec<RigidBody<T>>,
    pub(super) body_loads: Vec<SpatialForce<T>>,
    pub(super) masses: Vec<T>,
    pub(super) coordinate_loads: Vec<T>,
}

impl<T: Real> Plant<T> {
    /// Nothing but gravity \[m/s²\], which acts on bodies but not on coordinates.
    ///
    /// # Errors
    /// [`Error::NonFinite`].
    pub fn new(gravity: Vector3<T>) -> Result<Self> {
        finite(is_finite(&gravity), Quantity::Simulation)?;
        Ok(Self {
            gravity,
            bodies: Vec::new(),
            body_loads: Vec::new(),
            masses: Vec::new(),
            coordinate_loads: Vec::new(),
        })
    }

    /// Adds a free body, to the plant and to the system.
    pub fn add_body(&mut self, system: &mut ForceSystem<T>, body: RigidBody<T>) -> BodyIndex {
        self.bodies.push(body);
        self.body_loads.push(SpatialForce::zero());
        system.add_body()
    }

    /// Adds a coordinate with this mass \[kg or kg·m²\], to the plant and to the system.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless the mass is positive and finite.
    pub fn add_coordinate(&mut self, system: &mut ForceSystem<T>, mass: T) -> Result<CoordinateIndex> {
        Check::new("coordinate").positive("mass", mass)?;
        self.masses.push(mass);
        self.coordinate_loads.push(T::zero());
        Ok(system.add_coordinate())
    }

    /// Applies a constant force to a body's origin, expressed in Ground, in place of the one before.
    ///
    /// # Errors
    /// [`Error::NonFinite`]; [`Error::NoSuchBody`] or [`Error::GroundIsFixed`] if it is not a body of
    /// the plant.
    pub fn set_body_load(&mut self, body: BodyIndex, F_GB: SpatialForce<T>) -> Result<()> {
        finite(F_GB.is_finite(), Quantity::Simulation)?;
        let count = self.bodies.len() + 1;
        let place = body.index().checked_sub(1).ok_or(Error::GroundIsFixed)?;
        *self.body_loads.get_mut(place).ok_or(Error::NoSuchBody { body, count })? = F_GB;
        Ok(())
    }

    /// Applies a constant force to a coordinate, in place of the one before.
    ///
    /// # Errors
    /// [`Error::NonFinite`]; [`Error::NoSuchCoordinate`] if it is not a coordinate of the plant.
    pub fn set_coordinate_load(&mut self, coordinate: CoordinateIndex, force: T) -> Result<()> {
        finite(force.is_finite(), Quantity::Simulation)?;
        let count = self.coordinate_loads.len();
        let load = self.coordinate_loads.get_mut(coordinate.index());
        *load.ok_or(Error::NoSuchCoordinate { coordinate, count })? = force;
        Ok(())
    }
}
