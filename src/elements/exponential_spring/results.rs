//! Results of the exponential spring, stage by stage.

use nalgebra::{Point3, Vector2, Vector3};

use crate::math::{Pose, Real};

/// Results at Position stage.
#[derive(Debug, Clone)]
pub struct Position<T: Real> {
    /// Pose of the plane in Ground.
    pub X_GP: Pose<T>,
    /// The station in Ground \[m\].
    pub p_GS: Point3<T>,
    /// The station in the plane's frame \[m\].
    pub p_PS: Point3<T>,
    /// Height of the station above the plane, `p_PS.z` \[m\]; negative below it.
    pub height: T,
}

/// Results at Velocity stage.
#[derive(Debug, Clone)]
pub struct Velocity<T: Real> {
    /// Velocity of the station in Ground, expressed in Ground \[m/s\].
    pub v_GS: Vector3<T>,
    /// Velocity of the station relative to the plane, expressed in the plane's frame \[m/s\].
    pub v_PS: Vector3<T>,
}

/// Results at Dynamics stage. A trailing `_P` is expressed in the plane's frame, `_G` in Ground.
#[derive(Debug, Clone)]
pub struct Dynamics<T: Real> {
    /// The exponential before the clamp, `d1·exp(−d2·(height − d0))` \[N\]; infinite where it overflows.
    pub normal_force_unclamped: T,
    /// Elastic part of the normal force, along z of the plane \[N\]: the exponential, clamped.
    pub normal_force_elastic: T,
    /// Damping part of the normal force, along z of the plane \[N\].
    pub normal_force_damping: T,
    /// The normal force, along z of the plane \[N\].
    pub normal_force: T,
    /// The coefficient of friction between static and kinetic, by the committed Sliding; with
    /// return mapping by the present velocity.
    pub mu: T,
    /// The largest possible friction force, `mu·normal_force` \[N\].
    pub friction_force_limit: T,
    /// Whether friction is limited.
    pub limit_reached: bool,
    /// Elastic part of the friction force, in the plane \[N\].
    pub friction_force_elastic_P: Vector2<T>,
    /// Damping part of the friction force, in the plane \[N\].
    pub friction_force_damping_P: Vector2<T>,
    /// The friction force, in the plane \[N\].
    pub friction_force_P: Vector2<T>,
    /// The anchor that the next accepted step commits, in the plane \[m\].
    pub next_anchor_P: Vector2<T>,
    /// The Sliding that the next accepted step commits. With settling it is 1 where no time has passed since the
    /// last one: to plot sliding, use the committed [`Discrete::sliding`](super::Discrete::sliding).
    pub next_sliding: T,
    /// The energy stored \[J\].
    pub potential_energy: T,
    /// The power dissipated by damping \[W\].
    pub power_dissipated: T,
    pub(super) X_GP: Pose<T>,
}

impl<T: Real> Dynamics<T> {
    /// Elastic part of the normal force \[N\].
    pub fn normal_force_elastic_G(&self) -> Vector3<T> {
        self.along_normal(self.normal_force_elastic)
    }

    /// Damping part of the normal force \[N\].
    pub fn normal_force_damping_G(&self) -> Vector3<T> {
        self.along_normal(self.normal_force_damping)
    }

    /// The normal force \[N\].
    pub fn normal_force_G(&self) -> Vector3<T> {
        self.along_normal(self.normal_force)
    }

    /// Elastic part of the friction force \[N\].
    pub fn friction_force_elastic_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.friction_force_elastic_P.push(T::zero())
    }

    /// Damping part of the friction force \[N\].
    pub fn friction_force_damping_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.friction_force_damping_P.push(T::zero())
    }

    /// The friction force \[N\].
    pub fn friction_force_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.friction_force_P.push(T::zero())
    }

    /// The force on the body, acting at the station, in the plane's frame \[N\].
    pub fn force_P(&self) -> Vector3<T> {
        self.friction_force_P.push(self.normal_force)
    }

    /// The force on the body, acting at the station \[N\].
    pub fn force_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.force_P()
    }

    /// The anchor that the next accepted step commits \[m\].
    pub fn next_anchor_G(&self) -> Point3<T> {
        self.X_GP * Point3::from(self.next_anchor_P.push(T::zero()))
    }

    fn along_normal(&self, force: T) -> Vector3<T> {
        self.X_GP.rotation.matrix().column(2) * force
    }
}

impl<T: Real> Default for Position<T> {
    fn default() -> Self {
        Self { X_GP: Pose::identity(), p_GS: Point3::origin(), p_PS: Point3::origin(), height: T::zero() }
    }
}

impl<T: Real> Default for Velocity<T> {
    fn default() -> Self {
        Self { v_GS: Vector3::zeros(), v_PS: Vector3::zeros() }
    }
}

impl<T: Real> Default for Dynamics<T> {
    fn default() -> Self {
        Self {
            normal_force_unclamped: T::zero(),
            normal_force_elastic: T::zero(),
            normal_force_damping: T::zero(),
            normal_force: T::zero(),
            mu: T::zero(),
            friction_force_limit: T::zero(),
            limit_reached: false,
            friction_force_elastic_P: Vector2::zeros(),
            friction_force_damping_P: Vector2::zeros(),
            friction_force_P: Vector2::zeros(),
            next_anchor_P: Vector2::zeros(),
            next_sliding: T::zero(),
            potential_energy: T::zero(),
            power_dissipated: T::zero(),
            X_GP: Pose::identity(),
        }
    }
}
