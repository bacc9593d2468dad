//! The plant: masses, gravity and loads.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::framework::ForceSystem;
use crate::math::{InvalidValue, Real, Requirement, SpatialForce, check, is_finite};
use crate::mechanics::{BodyIndex, CoordinateIndex, Inertias, KinematicsError};
use crate::simulation::SimulationError;
use crate::simulation::error::finite_motion;

/// The mass properties of a free rigid body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidBody<T: Real> {
    mass: T,
    center: Point3<T>,
    inertia: Matrix3<T>,
    pub(super) inverse_inertia: Matrix3<T>,
}

impl<T: Real> RigidBody<T> {
    /// A body of this mass \[kg\] and this inertia about its mass center \[kg·m²\], with the mass
    /// center at `center` \[m\], all in the body's frame.
    ///
    /// # Errors
    /// [`InvalidValue`] unless the center is finite; the mass and the principal moments of inertia are positive,
    /// and neither their squares nor those of their inverses underflow or overflow; the inertia is symmetric
    /// up to rounding; and no principal moment exceeds the sum of the other two.
    pub fn new(mass: T, center: Point3<T>, inertia: Matrix3<T>) -> Result<Self, InvalidValue> {
        check::squarable("mass", mass)?;
        check::finite_vector("center", &center.coords)?;
        inertia.iter().try_for_each(|&entry| check::finite("inertia", entry))?;
        let must = Requirement::PositiveDefinite;
        // Rotated tensors are symmetric up to rounding.
        let skew = (inertia - inertia.transpose()).amax();
        let rounding = T::default_epsilon() * T::lit(64.0) * inertia.amax();
        check::that(skew <= rounding, "asymmetry of inertia", skew, Requirement::AtMost("a few roundings"))?;
        let inertia = (inertia + inertia.transpose()) * T::lit(0.5);
        check_principal_moments::<T>(&inertia.map(T::to_f64))?;
        let cholesky = inertia.cholesky();
        check::that(cholesky.is_some(), "inertia", inertia.determinant(), must)?;
        let inverse_inertia = cholesky.map_or_else(Matrix3::zeros, |cholesky| cholesky.inverse());
        Ok(Self { mass, center, inertia, inverse_inertia })
    }

    /// A body of this mass \[kg\], with its mass center at its origin and the same moment of inertia
    /// \[kg·m²\] about every axis.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_equal_inertia(mass: T, inertia: T) -> Result<Self, InvalidValue> {
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
}

/// Refuses an inertia that no body can have, or that is out of range for computations in the scalar `T`.
fn check_principal_moments<T: Real>(inertia: &Matrix3<f64>) -> Result<(), InvalidValue> {
    let size = inertia.amax();
    check::squarable("inertia", T::lit(size))?;
    let mut moments = (inertia / size).symmetric_eigenvalues();
    moments.as_mut_slice().sort_by(f64::total_cmp);
    let [least, middle, most] = [moments.x, moments.y, moments.z];
    check::that(least > 0.0, "inertia", T::lit(least * size), Requirement::PositiveDefinite)?;
    check::squarable("inertia", T::lit(least * size))?;
    // Equality holds for a flat body; entries rounded to seven digits or to single precision pass.
    let tolerance = (T::default_epsilon() * T::lit(1000.0)).to_f64().max(1e-6);
    let is_of_a_body = most <= (least + middle) * (1.0 + tolerance);
    check::that(is_of_a_body, "inertia", T::lit(most * size), Requirement::AtMost("the sum of the other two"))
}

/// Bodies, sliders, gravity and constant loads.
#[derive(Debug, Clone)]
pub struct Plant<T: Real> {
    pub(super) gravity: Vector3<T>,
    /// The bodies of the system, which has no others.
    pub(super) body_indices: Vec<BodyIndex>,
    pub(super) bodies: Vec<RigidBody<T>>,
    pub(super) body_loads: Vec<SpatialForce<T>>,
    /// The coordinates of the system, which has no others.
    pub(super) coordinate_indices: Vec<CoordinateIndex>,
    pub(super) masses: Vec<T>,
    pub(super) coordinate_loads: Vec<T>,
    /// The scale of error control; `None` for that of the motion.
    pub(super) scale: Option<f64>,
}

impl<T: Real> Plant<T> {
    /// An empty plant with gravity \[m/s²\], which acts on bodies but not on coordinates.
    ///
    /// # Errors
    /// [`SimulationError::NonFinite`] if it is not finite.
    pub fn new(gravity: Vector3<T>) -> Result<Self, SimulationError> {
        finite_motion(is_finite(&gravity))?;
        Ok(Self {
            gravity,
            body_indices: Vec::new(),
            bodies: Vec::new(),
            body_loads: Vec::new(),
            coordinate_indices: Vec::new(),
            masses: Vec::new(),
            coordinate_loads: Vec::new(),
            scale: None,
        })
    }

    /// Adds a free body, to the plant and to the system.
    pub fn add_body(&mut self, system: &mut ForceSystem<T>, body: RigidBody<T>) -> BodyIndex {
        let index = system.add_body();
        self.put_body(index, body);
        index
    }

    /// Adds a free body that is already in the system, in the order of the system.
    pub fn put_body(&mut self, index: BodyIndex, body: RigidBody<T>) {
        self.bodies.push(body);
        self.body_loads.push(SpatialForce::zero());
        self.body_indices.push(index);
    }

    fn body(&self, body: BodyIndex) -> Option<&RigidBody<T>> {
        Some(&self.bodies[self.body_place(body).ok()?])
    }

    /// Adds a coordinate with this mass \[kg or kg·m²\], to the plant and to the system.
    ///
    /// # Errors
    /// [`SimulationError::Forces`] with [`InvalidValue`] unless the mass is positive, and its square and that of
    /// its inverse neither underflow nor overflow.
    pub fn add_coordinate(
        &mut self,
        system: &mut ForceSystem<T>,
        mass: T,
    ) -> Result<CoordinateIndex, SimulationError> {
        check::squarable("mass", mass)?;
        let index = system.add_coordinate();
        self.put_coordinate(index, mass)?;
        Ok(index)
    }

    /// Adds a coordinate with this mass that is already in the system, in the order of the system.
    ///
    /// # Errors
    /// As [`add_coordinate`](Self::add_coordinate).
    pub fn put_coordinate(&mut self, index: CoordinateIndex, mass: T) -> Result<(), SimulationError> {
        check::squarable("mass", mass)?;
        self.masses.push(mass);
        self.coordinate_loads.push(T::zero());
        self.coordinate_indices.push(index);
        Ok(())
    }

    /// Applies a constant force to a body's origin, expressed in Ground, replacing any earlier one.
    ///
    /// # Errors
    /// [`SimulationError::NonFinite`] if the force is not finite; [`SimulationError::Forces`] with
    /// [`KinematicsError::NoSuchBody`] or [`KinematicsError::GroundIsFixed`] if the body does not exist or is
    /// Ground.
    pub fn set_body_load(&mut self, body: BodyIndex, F_GB: SpatialForce<T>) -> Result<(), SimulationError> {
        finite_motion(F_GB.is_finite())?;
        let place = self.body_place(body)?;
        self.body_loads[place] = F_GB;
        Ok(())
    }

    /// Applies a constant force to a coordinate, replacing any earlier one.
    ///
    /// # Errors
    /// [`SimulationError::NonFinite`] if the force is not finite; [`SimulationError::Forces`] with
    /// [`KinematicsError::NoSuchCoordinate`] if the coordinate does not exist.
    pub fn set_coordinate_load(
        &mut self,
        coordinate: CoordinateIndex,
        force: T,
    ) -> Result<(), SimulationError> {
        finite_motion(force.is_finite())?;
        let place = self.coordinate_place(coordinate)?;
        self.coordinate_loads[place] = force;
        Ok(())
    }

    /// Sets the scale of error control \[SI unit\] for everything that moves.
    ///
    /// The components of a vector, each relative to its allowed error, have a norm of at most one. The allowed error of a
    /// number is
    ///
    /// ```text
    /// accuracy · (scale + magnitude)
    /// ```
    ///
    /// The magnitude of a velocity is its size. The magnitude of a position, an angle, a coordinate, a variable of an
    /// element or an energy is its distance from its value when the integrator began with the simulation. Results
    /// therefore do not depend on the origin of Ground, as long as positions there are not [too
    /// coarse](super::SimulationError::PositionsTooCoarse).
    ///
    /// Without a scale, the scale is the largest magnitude so far, of a vector as a whole, but at least 1e-3 and at most
    /// 1 SI unit: a body that swings by a millimetre is resolved as well as one that swings by a metre.
    ///
    /// # Errors
    /// [`InvalidValue`] unless it is positive and finite.
    pub fn set_scale(&mut self, scale: f64) -> Result<(), InvalidValue> {
        check::positive("scale", scale)?;
        self.scale = Some(scale);
        Ok(())
    }

    fn body_place(&self, body: BodyIndex) -> Result<usize, KinematicsError> {
        if body == BodyIndex::GROUND {
            return Err(KinematicsError::GroundIsFixed);
        }
        let place = self.body_indices.iter().position(|&index| index == body);
        place.ok_or(KinematicsError::NoSuchBody { body })
    }

    fn coordinate_place(&self, coordinate: CoordinateIndex) -> Result<usize, KinematicsError> {
        let place = self.coordinate_indices.iter().position(|&index| index == coordinate);
        place.ok_or(KinematicsError::NoSuchCoordinate { coordinate })
    }
}

/// Anything outside the plant is immovable.
impl<T: Real> Inertias for Plant<T> {
    fn mass(&self, body: BodyIndex) -> f64 {
        self.body(body).map_or(f64::INFINITY, |body| body.mass.to_f64())
    }

    fn inertia(&self, body: BodyIndex) -> Matrix3<f64> {
        let immovable = Matrix3::from_diagonal_element(f64::INFINITY);
        self.body(body).map_or(immovable, |body| body.inertia.map(T::to_f64))
    }

    fn mass_center(&self, body: BodyIndex) -> Point3<f64> {
        self.body(body).map_or(Point3::origin(), |body| body.center.map(T::to_f64))
    }

    fn coordinate_mass(&self, coordinate: CoordinateIndex) -> f64 {
        self.coordinate_place(coordinate).map_or(f64::INFINITY, |place| self.masses[place].to_f64())
    }
}
