//! Layout of the continuous variables: bodies, coordinates, energies absorbed, variables of elements, work of the loads.

use alloc::vec::Vec;

use nalgebra::{Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};

use crate::math::{Pose, Real, SpatialVelocity};
use crate::mechanics::{BodyIndex, CoordinateIndex, KinematicsSource};
use crate::simulation::{Plant, RigidBody};

/// Numbers of a body: position and velocity of the mass center in Ground, orientation as a
/// quaternion, angular velocity in the body's frame.
pub(super) const BODY: usize = 13;
/// Numbers of a coordinate: value and rate.
pub(super) const COORDINATE: usize = 2;

/// The role of a continuous variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A position or coordinate.
    Position,
    /// A number of a quaternion.
    Orientation,
    /// A velocity or coordinate rate.
    Velocity,
    /// A continuous variable of an element.
    Element,
    /// An energy or work.
    Energy,
}

impl<T: Real> Plant<T> {
    /// The place of the first coordinate.
    pub(super) fn coordinates_start(&self) -> usize {
        self.bodies.len() * BODY
    }

    /// The place of the first energy.
    pub(super) fn energies_start(&self) -> usize {
        self.coordinates_start() + self.masses.len() * COORDINATE
    }

    /// The numbers of each body.
    pub(super) fn body_chunks<'y>(&self, y: &'y [T]) -> impl Iterator<Item = &'y [T]> + use<'y, T> {
        y[..self.coordinates_start()].chunks_exact(BODY)
    }
}

/// A trial point of an integrator, as kinematics for the state.
#[derive(Debug)]
pub(super) struct Trial<'a, T: Real> {
    pub(super) plant: &'a Plant<T>,
    pub(super) time: f64,
    pub(super) y: &'a [T],
}

impl<T: Real> Trial<'_, T> {
    /// The velocity of a body's origin if the body had its pose at other variables, with the same velocities of its mass
    /// center.
    pub(super) fn velocity_standing_as(&self, body: BodyIndex, other: &[T]) -> SpatialVelocity<T> {
        let (rigid, y) = self.body(body);
        let at_center = SpatialVelocity::new(rotation(&y[3..]) * vector(&y[10..]), vector(&y[7..]));
        let arm = rotation(&Trial { y: other, ..*self }.body(body).1[3..]) * -rigid.center().coords;
        at_center.shifted(arm)
    }

    fn body(&self, body: BodyIndex) -> (&RigidBody<T>, &[T]) {
        let i = body.index() - 1;
        (&self.plant.bodies[i], &self.y[i * BODY..][..BODY])
    }

    fn coordinate_at(&self, coordinate: CoordinateIndex) -> usize {
        self.plant.coordinates_start() + coordinate.index() * COORDINATE
    }
}

impl<T: Real> KinematicsSource<T> for Trial<'_, T> {
    fn time(&self) -> T {
        T::lit(self.time)
    }

    fn pose(&self, body: BodyIndex) -> Pose<T> {
        let (body, y) = self.body(body);
        let R_GB = rotation(&y[3..]);
        let p_GB = vector(y) - R_GB * body.center().coords;
        Pose::from_parts(Translation3::from(p_GB), R_GB)
    }

    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<T> {
        self.velocity_standing_as(body, self.y)
    }

    fn coordinate(&self, coordinate: CoordinateIndex) -> T {
        self.y[self.coordinate_at(coordinate)]
    }

    fn coordinate_rate(&self, coordinate: CoordinateIndex) -> T {
        self.y[self.coordinate_at(coordinate) + 1]
    }
}

/// Appends the numbers of a body.
pub(super) fn push_body<T: Real>(
    y: &mut Vec<T>,
    body: &RigidBody<T>,
    X_GB: &Pose<T>,
    V_GB: &SpatialVelocity<T>,
) {
    let offset = X_GB.rotation * body.center().coords;
    let q = UnitQuaternion::from_rotation_matrix(&X_GB.rotation);
    y.extend_from_slice((X_GB.translation.vector + offset).as_slice());
    y.extend_from_slice(q.coords.as_slice());
    y.extend_from_slice(V_GB.shifted(offset).linear.as_slice());
    y.extend_from_slice(X_GB.rotation.inverse_transform_vector(&V_GB.angular).as_slice());
}

/// The first three numbers.
pub(super) fn vector<T: Real>(y: &[T]) -> Vector3<T> {
    Vector3::new(y[0], y[1], y[2])
}

/// The first four numbers.
pub(super) fn quaternion<T: Real>(y: &[T]) -> Quaternion<T> {
    Quaternion::new(y[3], y[0], y[1], y[2])
}

fn rotation<T: Real>(y: &[T]) -> Rotation3<T> {
    UnitQuaternion::new_normalize(quaternion(y)).to_rotation_matrix()
}
