//! Parameters and memory of the linear bushing.

use nalgebra::Vector6;

use crate::InvalidValue;
use crate::elements::frames::Framed;
use crate::framework::stored_variables;
use crate::math::{Real, Requirement, check};

stored_variables! {
    /// Stiffnesses and dampings.
    ///
    /// Vectors are ordered `q_x, q_y, q_z, p_x, p_y, p_z`: rotations first.
    #[derive(Copy, Lift)]
    pub struct Parameters<T> {
        /// Stiffnesses `k`.
        pub stiffness: Vector6<T> ["N·m/rad", "N/m"], nonnegative => Position;
        /// Dampings `c`.
        pub damping: Vector6<T> ["N·m·s/rad", "N·s/m"], nonnegative => Dynamics;
    }
}

/// The parameters in a state: the frames, by default those with which the bushing was made, and the law.
pub type StateParameters<T> = Framed<T, Parameters<T>>;

stored_variables! {
    /// Memory of the bushing: the angles of the last accepted step, with all turns.
    ///
    /// The first and the last are at most 1e9 rad and at most a thousandth of the reciprocal of the unit roundoff (8389
    /// rad in `f32`): at larger angles the change in a step is lost to rounding, and the step is not accepted.
    #[derive(Copy)]
    pub struct Discrete<T> {
        /// Whether there has been an accepted step or a [`reset_memory`](crate::ForceSystem::reset_memory). Before that
        /// the angles are those within ±π, and the fields below are not read.
        pub accepted: bool => Position;
        /// The angle `q_x`.
        pub accepted_qx: T ["rad"], finite => Position;
        /// The angle `q_y`.
        pub accepted_qy: T ["rad"], finite => Position;
        /// The angle `q_z`.
        pub accepted_qz: T ["rad"], finite => Position;
    }
    check |p| can_be_followed("accepted_qx", p.accepted_qx)
        .and_then(|()| can_be_followed("accepted_qz", p.accepted_qz));
}

/// Refuses an angle at which a change of a thousandth of a radian is lost in rounding.
fn can_be_followed<T: Real>(name: &'static str, angle: T) -> Result<(), InvalidValue> {
    let most = T::lit(1e9).min(T::lit(1e-3) / T::default_epsilon());
    check::that(angle.abs() <= most, name, angle, Requirement::AtMost("1e9 and 1e-3/epsilon"))
}
