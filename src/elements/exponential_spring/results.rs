//! Results of the exponential spring, stage by stage.

use nalgebra::{Point3, Vector2, Vector3};

use crate::math::{Pose, Real};
use crate::results;

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Pose of the plane in Ground.
        pub X_GP: Pose<T> ["m"];
        /// The station in Ground.
        pub p_GS: Point3<T> ["m"];
        /// The station in the plane's frame.
        pub p_PS: Point3<T> ["m"];
        /// Height of the station above the plane, `p_PS.z`; negative below it.
        pub height: T ["m"];
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// Velocity of the station in Ground, expressed in Ground.
        pub v_GS: Vector3<T> ["m/s"];
        /// Velocity of the station relative to the plane, expressed in the plane's frame.
        pub v_PS: Vector3<T> ["m/s"];
    }
}

results! {
    /// Results at Dynamics stage. A trailing `_P` is expressed in the plane's frame, `_G` in Ground.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// The exponential before the clamp, `d1·exp(−d2·(height − d0))`; infinite where it overflows.
        pub normal_force_unclamped: T ["N"];
        /// Elastic part of the normal force, along z of the plane: the exponential, clamped.
        pub normal_force_elastic: T ["N"];
        /// Damping part of the normal force, along z of the plane.
        pub normal_force_damping: T ["N"];
        /// The normal force, along z of the plane.
        pub normal_force: T ["N"];
        /// The coefficient of friction between static and kinetic, by the committed Sliding.
        pub mu: T ["1"];
        /// The largest possible friction force, `mu·normal_force`.
        pub friction_force_limit: T ["N"];
        /// Whether friction is limited.
        pub limit_reached: bool [];
        /// Elastic part of the friction force, in the plane.
        pub friction_force_elastic_P: Vector2<T> ["N"];
        /// Damping part of the friction force, in the plane.
        pub friction_force_damping_P: Vector2<T> ["N"];
        /// The friction force, in the plane.
        pub friction_force_P: Vector2<T> ["N"];
        /// The anchor that the next accepted step commits, in the plane.
        pub next_anchor_P: Vector2<T> ["m"];
        /// The Sliding that the next accepted step commits. By the published law it is 1 where no time has passed since the
        /// last one: to plot sliding, use the committed [`Discrete::sliding`](super::Discrete::sliding).
        pub next_sliding: T ["1"];
        /// With return mapping, the overspeed that the next accepted step commits.
        pub next_overspeed: T ["m/s"];
        /// With return mapping, by how much friction is off if the anchor lets go at the end of the step.
        pub switching_error: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated by damping.
        pub power_dissipated: T ["W"];
        pub(super) X_GP: Pose<T>;
    }
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
