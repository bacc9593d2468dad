//! Poses, spatial velocities and spatial forces, and shifting them between points.

use core::ops::{Add, AddAssign, Mul, Neg, Sub};

use nalgebra::{Isometry, Matrix3, Rotation3, Translation3, Vector3};

use crate::math::Real;

/// A pose `X_AB`: the rotation `R_AB` and the position `p_AB` of frame B in frame A.
///
/// `X_AB * X_BC` is `X_AC`; `X_AB * point` re-expresses a [`Point3`](nalgebra::Point3) of B in A;
/// `X_AB * vector` only rotates. A host that keeps quaternions converts with
/// `Pose::from_parts(pose.translation, pose.rotation.to_rotation_matrix())`.
pub type Pose<T> = Isometry<T, Rotation3<T>, 3>;

/// Angular velocity of a frame and linear velocity of its origin, in one basis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpatialVelocity<T: Real> {
    /// Angular velocity \[rad/s\].
    pub angular: Vector3<T>,
    /// Linear velocity of the frame's origin \[m/s\].
    pub linear: Vector3<T>,
}

/// A torque and a force whose line of action passes through a stated point, in one basis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SpatialForce<T: Real> {
    /// Torque about the stated point \[N·m\].
    pub torque: Vector3<T>,
    /// Force \[N\].
    pub force: Vector3<T>,
}

impl<T: Real> SpatialVelocity<T> {
    /// A velocity from its angular \[rad/s\] and linear \[m/s\] parts.
    pub fn new(angular: Vector3<T>, linear: Vector3<T>) -> Self {
        Self { angular, linear }
    }

    /// The velocity of the frame moved along with the body to the point `offset` away.
    #[inline]
    #[must_use]
    pub fn shifted(&self, offset: Vector3<T>) -> Self {
        Self::new(self.angular, self.linear + self.angular.cross(&offset))
    }

    /// The power of a force applied at the same point \[W\].
    #[inline]
    pub fn power(&self, force: &SpatialForce<T>) -> T {
        self.angular.dot(&force.torque) + self.linear.dot(&force.force)
    }
}

impl<T: Real> SpatialForce<T> {
    /// A spatial force from its torque \[N·m\] and force \[N\].
    pub fn new(torque: Vector3<T>, force: Vector3<T>) -> Self {
        Self { torque, force }
    }

    /// The same force stated about the point `offset` away from the present one.
    #[inline]
    #[must_use]
    pub fn shifted(&self, offset: Vector3<T>) -> Self {
        Self::new(self.torque - offset.cross(&self.force), self.force)
    }
}

/// What does not depend on whether two vectors are a velocity or a force.
macro_rules! pair_of_vectors {
    ($Pair:ident { $first:ident, $second:ident }) => {
        impl<T: Real> $Pair<T> {
            /// Zero in all six components.
            pub fn zero() -> Self {
                Self::new(Vector3::zeros(), Vector3::zeros())
            }

            /// The same expressed in another basis.
            #[inline]
            #[must_use]
            pub fn rotated(&self, rotation: &Rotation3<T>) -> Self {
                Self::new(rotation * self.$first, rotation * self.$second)
            }

            /// Whether all six components are finite.
            pub fn is_finite(&self) -> bool {
                is_finite(&self.$first) && is_finite(&self.$second)
            }

            /// The same in another scalar.
            pub fn cast<U: Real>(self) -> $Pair<U> {
                $Pair::new(self.$first.map(T::cast), self.$second.map(T::cast))
            }
        }

        impl<T: Real> Default for $Pair<T> {
            fn default() -> Self {
                Self::zero()
            }
        }

        impl<T: Real> Add for $Pair<T> {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self::new(self.$first + other.$first, self.$second + other.$second)
            }
        }

        impl<T: Real> AddAssign for $Pair<T> {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.$first += other.$first;
                self.$second += other.$second;
            }
        }

        impl<T: Real> Sub for $Pair<T> {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self::new(self.$first - other.$first, self.$second - other.$second)
            }
        }

        impl<T: Real> Neg for $Pair<T> {
            type Output = Self;
            #[inline]
            fn neg(self) -> Self {
                Self::new(-self.$first, -self.$second)
            }
        }

        impl<T: Real> Mul<T> for $Pair<T> {
            type Output = Self;
            #[inline]
            fn mul(self, factor: T) -> Self {
                Self::new(self.$first * factor, self.$second * factor)
            }
        }
    };
}

pair_of_vectors!(SpatialVelocity { angular, linear });
pair_of_vectors!(SpatialForce { torque, force });

/// The same pose in another scalar, with zero derivatives.
pub fn cast_pose<T: Real, U: Real>(X: &Pose<T>) -> Pose<U> {
    Pose::from_parts(
        Translation3::from(X.translation.vector.map(T::cast)),
        Rotation3::from_matrix_unchecked(X.rotation.matrix().map(T::cast)),
    )
}

/// Whether every component of a vector is finite.
pub(crate) fn is_finite<T: Real>(v: &Vector3<T>) -> bool {
    v.iter().all(T::is_finite)
}

/// By how much a matrix is no rotation: the sum of the squares of the errors of its orthonormality and handedness.
#[inline]
pub(crate) fn squared_distortion<T: Real>(R: &Rotation3<T>) -> T {
    let R = R.matrix();
    let [x, y, z] = [0, 1, 2].map(|axis| R.column(axis).into_owned());
    let squares = Vector3::new(x.norm_squared() - T::one(), y.norm_squared() - T::one(), x.dot(&y));
    (x.cross(&y) - z).norm_squared() + squares.norm_squared()
}

/// The pose with a rotation that is one to rounding, some thousands of products of rotations included, and the square of how far
/// it was from that.
#[inline]
pub(crate) fn orthonormal<T: Real>(X: Pose<T>) -> (Pose<T>, T) {
    let off = squared_distortion(&X.rotation);
    let rounding = T::lit(1e-12).max(T::default_epsilon() * T::lit(64.0));
    (if off <= rounding * rounding { X } else { orthonormalized(&X) }, off)
}

#[cold]
fn orthonormalized<T: Real>(X: &Pose<T>) -> Pose<T> {
    let R = X.rotation.matrix();
    let [x, y] = [0, 1].map(|axis| R.column(axis).into_owned());
    let x = x / x.norm();
    let y = y - x * x.dot(&y);
    let y = y / y.norm();
    let R = Matrix3::from_columns(&[x, y, x.cross(&y)]);
    Pose::from_parts(X.translation, Rotation3::from_matrix_unchecked(R))
}

/// Whether every entry of a pose is finite.
pub(crate) fn is_finite_pose<T: Real>(X: &Pose<T>) -> bool {
    X.rotation.matrix().iter().all(T::is_finite) && is_finite(&X.translation.vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn power_does_not_depend_on_the_point() {
        let V = SpatialVelocity::new(Vector3::new(1.0, -2.0, 0.5), Vector3::new(0.3, 0.1, -4.0));
        let F = SpatialForce::new(Vector3::new(-0.2, 5.0, 1.0), Vector3::new(2.0, 7.0, -1.0));
        let offset = Vector3::new(0.4, -0.9, 3.0);
        // Two dozen additions of numbers below 100: a few ulps of 100.
        assert_relative_eq!(V.power(&F), V.shifted(offset).power(&F.shifted(offset)), epsilon = 1e-12);
    }

    #[test]
    fn shifting_there_and_back_changes_nothing() {
        let F = SpatialForce::new(Vector3::new(1.0, 2.0, 3.0), Vector3::new(4.0, 5.0, 6.0));
        let offset = Vector3::new(0.5, 0.25, -2.0);
        assert_eq!(F.shifted(offset).shifted(-offset), F);
    }
}
