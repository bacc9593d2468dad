//! The derivatives of a force between two frames on two bodies.

mod by_frames;
mod by_motion;

use nalgebra::{Matrix3, Point3, Vector3, Vector6};

use super::blocks::{Blocks, Column, Row};
use super::ends::End;
use crate::math::{Real, SpatialForce, SpatialVelocity};
use crate::mechanics::BodyIndex;

/// Derivatives of torque (first row) and force by a rotation (first column) and a translation, or by angular and linear
/// velocity.
pub(crate) type Quarters<T> = [[Matrix3<T>; 2]; 2];

/// Derivatives of a torque and a force by a rotation and a translation, or by an angular and a linear velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slopes<T: Real> {
    /// Derivatives of a torque that depends only on the rotation, and of a force that depends only on the translation.
    /// Their blocks require fewer operations.
    Separate {
        /// The derivative of the torque by the rotation.
        torque: Matrix3<T>,
        /// The derivative of the force by the translation.
        force: Matrix3<T>,
    },
    /// Derivatives of the torque (first row) and the force, by the rotation (first column) and by the translation.
    Coupled(Quarters<T>),
}

impl<T: Real> Slopes<T> {
    /// All quarters.
    #[inline]
    pub(crate) fn quarters(&self) -> Quarters<T> {
        match *self {
            Self::Separate { torque, force } => {
                let none = Matrix3::zeros();
                [[torque, none], [none, force]]
            }
            Self::Coupled(quarters) => quarters,
        }
    }
}

/// A torque and a force at a point M of one body, with the opposite on another, that depend on the pose and motion of M
/// relative to the other body.
///
/// The law is that of an observer who moves with the first body; [`Blocks::add_between`] adds the effects of the
/// observer's own motion. M may be any point fixed on the second body; blocks require fewer operations if it is the
/// body's origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between<T: Real> {
    /// The observer's body, and the body that carries M.
    pub bodies: [BodyIndex; 2],
    /// M in Ground \[m\].
    pub p_GM: Point3<T>,
    /// The torque about M and the force on the second body, in Ground.
    pub F_GM: SpatialForce<T>,
    /// The velocity of M relative to the observer, in Ground.
    pub V_M: SpatialVelocity<T>,
    /// The derivatives of torque and force by a rotation and a translation of M relative to the observer, in Ground.
    pub by_position: Slopes<T>,
    /// The derivatives of torque and force by the angular and linear velocity of M relative to the observer, in Ground.
    pub by_velocity: Slopes<T>,
}

impl<T: Real> Blocks<'_, T> {
    /// Adds the derivatives of a rate, or of a discrete variable after the next commit, that depends on the pose and
    /// motion of M, on the second body, relative to the first: its derivatives by a rotation and a translation of M, and
    /// by its angular and linear velocity, in Ground.
    pub fn add_to_between(
        &mut self,
        row: Row,
        bodies: [BodyIndex; 2],
        (p_GM, V_M): (&Point3<T>, &SpatialVelocity<T>),
        [by_turn, by_shift]: [Vector3<T>; 2],
        [by_angular, by_linear]: [Vector3<T>; 2],
    ) {
        let [w_A, w_B] = bodies.map(|body| self.velocity(body).angular);
        for (body, is_second) in bodies.into_iter().zip([false, true]) {
            if body == BodyIndex::GROUND {
                continue;
            }
            let r = p_GM.coords - self.pose(body).translation.vector;
            // Transposed, as in `add_between`.
            let carried = w_A.cross(&by_linear);
            let (turn, shift, sign) = if is_second {
                (by_turn - r.cross(&w_B.cross(&by_linear)), by_shift + carried, T::one())
            } else {
                let spun = by_angular.cross(&V_M.angular) + by_linear.cross(&V_M.linear);
                let turned = r.cross(&w_A.cross(&by_linear));
                (spun + turned - by_turn, -carried - by_shift, -T::one())
            };
            let column = |[angular, linear]: [Vector3<T>; 2]| {
                let angular = angular + r.cross(&linear);
                Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
            };
            let by_velocity = column([by_angular, by_linear]) * sign;
            self.add_to(row, body, &column([turn, shift]), &by_velocity);
        }
    }

    /// Adds the derivatives of a force between two bodies by consecutive variables: the changes of the torque about M and
    /// of the force on the second body, in Ground, for a fixed M.
    #[inline]
    pub fn add_between_by_variables(
        &mut self,
        [a, b]: [BodyIndex; 2],
        p_GM: &Point3<T>,
        first: usize,
        changes: &[SpatialForce<T>],
    ) {
        for (body, sign) in [(a, -T::one()), (b, T::one())] {
            let r = p_GM.coords - self.pose(body).translation.vector;
            let on = Row::Force(End::Body(body));
            let numbers = self.derivatives.push(on, Column::Variable(first), changes.len());
            let (columns, _) = numbers.as_chunks_mut::<6>();
            for (column, change) in columns.iter_mut().zip(changes) {
                let (torque, force) = (change.torque + r.cross(&change.force), &change.force);
                *column = [torque.x, torque.y, torque.z, force.x, force.y, force.z].map(|x| x * sign);
            }
        }
    }
}
