//! Results of the linear bushing, stage by stage.

use nalgebra::Vector6;

use crate::elements::linear_bushing::law::Gimbal;
use crate::math::{Pose, SpatialVelocity};
use crate::results;

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Pose of frame F in Ground.
        pub X_GF: Pose<T> ["m"];
        /// Pose of frame M in Ground.
        pub X_GM: Pose<T> ["m"];
        /// Pose of frame M in frame F.
        pub X_FM: Pose<T> ["m"];
        /// Angles and translations `q_x, q_y, q_z, p_x, p_y, p_z`.
        pub q: Vector6<T> ["rad", "m"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        pub(super) gimbal: Gimbal<T>;
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// Velocity of frame F in Ground, expressed in Ground.
        pub V_GF: SpatialVelocity<T> ["rad/s", "m/s"];
        /// Velocity of frame M in Ground, expressed in Ground.
        pub V_GM: SpatialVelocity<T> ["rad/s", "m/s"];
        /// Velocity of frame M in frame F, expressed in F: the rate of change of `X_FM`.
        pub V_FM: SpatialVelocity<T> ["rad/s", "m/s"];
        /// Rates of the angles and translations.
        pub qdot: Vector6<T> ["rad/s", "m/s"];
    }
}
