//! Results of the linear bushing, stage by stage.

use nalgebra::Vector6;

use crate::elements::linear_bushing::law::Gimbal;
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};

/// Results at Position stage.
#[derive(Debug, Clone)]
pub struct Position<T: Real> {
    /// Pose of frame F in Ground.
    pub X_GF: Pose<T>,
    /// Pose of frame M in Ground.
    pub X_GM: Pose<T>,
    /// Pose of frame M in frame F.
    pub X_FM: Pose<T>,
    /// Angles \[rad\] and translations \[m\] `q_x, q_y, q_z, p_x, p_y, p_z`.
    pub q: Vector6<T>,
    /// The energy stored \[J\].
    pub potential_energy: T,
    pub(super) gimbal: Gimbal<T>,
}

/// Results at Velocity stage.
#[derive(Debug, Clone)]
pub struct Velocity<T: Real> {
    /// Velocity of frame F in Ground, expressed in Ground.
    pub V_GF: SpatialVelocity<T>,
    /// Velocity of frame M in Ground, expressed in Ground.
    pub V_GM: SpatialVelocity<T>,
    /// Velocity of frame M in frame F, expressed in F: the rate of change of `X_FM`.
    pub V_FM: SpatialVelocity<T>,
    /// Rates of the angles \[rad/s\] and translations \[m/s\].
    pub qdot: Vector6<T>,
}

/// Results at Dynamics stage.
#[derive(Debug, Clone)]
pub struct Dynamics<T: Real> {
    /// Generalized forces on the six axes, as a joint between F and M would apply them to body 2
    /// \[N·m, N\].
    pub f: Vector6<T>,
    /// Force on body 1 at F's origin, expressed in Ground.
    pub F_GF: SpatialForce<T>,
    /// Force on body 2 at M's origin, expressed in Ground.
    pub F_GM: SpatialForce<T>,
    /// The power dissipated \[W\].
    pub power_dissipated: T,
}

impl<T: Real> Default for Position<T> {
    fn default() -> Self {
        Self {
            X_GF: Pose::identity(),
            X_GM: Pose::identity(),
            X_FM: Pose::identity(),
            q: Vector6::zeros(),
            potential_energy: T::zero(),
            gimbal: Gimbal { sx: T::zero(), cx: T::one(), sy: T::zero(), over_cy: T::one() },
        }
    }
}

impl<T: Real> Default for Velocity<T> {
    fn default() -> Self {
        Self {
            V_GF: SpatialVelocity::zero(),
            V_GM: SpatialVelocity::zero(),
            V_FM: SpatialVelocity::zero(),
            qdot: Vector6::zeros(),
        }
    }
}

impl<T: Real> Default for Dynamics<T> {
    fn default() -> Self {
        Self {
            f: Vector6::zeros(),
            F_GF: SpatialForce::zero(),
            F_GM: SpatialForce::zero(),
            power_dissipated: T::zero(),
        }
    }
}
