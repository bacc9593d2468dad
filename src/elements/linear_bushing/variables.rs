//! Parameters and discrete variables of the linear bushing.

use nalgebra::Vector6;

use crate::framework::Stage;
use crate::framework::variables::{Variables, Visitor, VisitorMut};
use crate::math::{Pose, Real, Requirement, check, checked_when_read};
use crate::{InvalidValue, variables};

variables! {
    /// Stiffnesses and dampings.
    ///
    /// Vectors are ordered `q_x, q_y, q_z, p_x, p_y, p_z`: rotations first.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
    pub struct Parameters<T> {
        /// Stiffnesses `k`.
        pub stiffness: Vector6<T> ["N·m/rad", "N/m"], nonnegative => Position;
        /// Dampings `c`.
        pub damping: Vector6<T> ["N·m·s/rad", "N·s/m"], nonnegative => Dynamics;
    }
}

variables! {
    /// Where the frames sit on their bodies.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
    pub struct Frames<T> {
        /// Pose of frame F on body 1.
        pub X_B1F: Pose<T> ["m"] => Position;
        /// Pose of frame M on body 2.
        pub X_B2M: Pose<T> ["m"] => Position;
    }
}

checked_when_read!(Parameters);
checked_when_read!(Frames);

/// The parameters in a state: the frames, by default those the bushing was made with, and the law.
///
/// Their names are those of the fields of both: `X_B1F.p.x`, `stiffness.qx`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StateParameters<T: Real> {
    /// Where the frames sit on their bodies.
    pub frames: Frames<T>,
    /// Stiffnesses and dampings.
    pub law: Parameters<T>,
}

impl<T: Real> Default for StateParameters<T> {
    fn default() -> Self {
        Self { frames: Frames::default(), law: Parameters::default() }
    }
}

impl<T: Real> StateParameters<T> {
    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> StateParameters<U> {
        StateParameters { frames: self.frames.cast(), law: self.law.cast() }
    }
}

impl<T: Real> Variables<T> for StateParameters<T> {
    const FIRST_STAGE: Option<Stage> = Some(Stage::Position);

    fn visit(&self, visit: Visitor<'_, T>) {
        self.frames.visit(visit);
        self.law.visit(visit);
    }

    fn visit_mut(&mut self, visit: VisitorMut<'_, T>) {
        self.frames.visit_mut(visit);
        self.law.visit_mut(visit);
    }

    fn first_stage_changed(&self, new: &Self) -> Option<Stage> {
        let changed = [self.frames.first_stage_changed(&new.frames), self.law.first_stage_changed(&new.law)];
        changed.into_iter().flatten().min()
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        self.frames.validate()?;
        self.law.validate()
    }
}

variables! {
    /// Memory of the bushing: the angles of the last accepted step, with all turns.
    ///
    /// The first and the last are at most 1e9 rad and at most a thousandth of the reciprocal of the unit roundoff
    /// (8389 rad in `f32`): larger angles lose a step's change in rounding, and the step is not accepted.
    #[derive(Copy)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    pub struct Discrete<T> {
        /// Whether there has been an accepted step, or [`reset_memory`](crate::ForceSystem::reset_memory). Before
        /// that the angles are those within ±π, and the fields below are not read.
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
