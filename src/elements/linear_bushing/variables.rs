//! Parameters and discrete variables of the linear bushing.

use nalgebra::Vector6;

use crate::framework::variables::{Variables, Visitor, visit_flag, visit_pose};
use crate::math::{InvalidValue, Pose, Real, Requirement, cast_pose, check};

/// Frames, stiffnesses and dampings.
///
/// Vectors are ordered `q_x, q_y, q_z, p_x, p_y, p_z`: rotations first.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameters<T: Real> {
    /// Pose of frame F on body 1.
    pub X_B1F: Pose<T>,
    /// Pose of frame M on body 2.
    pub X_B2M: Pose<T>,
    /// Stiffnesses `k` \[N·m/rad, N/m\], at least zero.
    pub stiffness: Vector6<T>,
    /// Dampings `c` \[N·m·s/rad, N·s/m\], at least zero.
    pub damping: Vector6<T>,
}

/// What the bushing remembers: the first and last angle of the last accepted step, with all their turns.
///
/// Both are at most 1e9 rad and at most a thousandth of the reciprocal of the unit roundoff (8389 rad in `f32`):
/// beyond, a step's change is lost in rounding, and the step is not accepted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discrete<T: Real> {
    /// Whether there has been an accepted step, or [`reset_turns`](crate::Handle::reset_turns). Before that the
    /// angles are those within ±π, and `qx` and `qz` are not read.
    pub known: bool,
    /// The angle `q_x` \[rad\].
    pub qx: T,
    /// The angle `q_z` \[rad\].
    pub qz: T,
}

impl<T: Real> Default for Discrete<T> {
    fn default() -> Self {
        Self { known: false, qx: T::zero(), qz: T::zero() }
    }
}

impl<T: Real> Parameters<T> {
    /// The same parameters in another scalar.
    pub fn cast<U: Real>(&self) -> Parameters<U> {
        Parameters {
            X_B1F: cast_pose(&self.X_B1F),
            X_B2M: cast_pose(&self.X_B2M),
            stiffness: self.stiffness.map(T::cast),
            damping: self.damping.map(T::cast),
        }
    }
}

impl<T: Real> Discrete<T> {
    /// The same variables in another scalar.
    pub fn cast<U: Real>(&self) -> Discrete<U> {
        Discrete { known: self.known, qx: self.qx.cast(), qz: self.qz.cast() }
    }
}

impl<T: Real> Variables<T> for Parameters<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit_pose("X_B1F", &mut self.X_B1F, visit);
        visit_pose("X_B2M", &mut self.X_B2M, visit);
        for (name, vector) in [("stiffness", &mut self.stiffness), ("damping", &mut self.damping)] {
            for (value, axis) in vector.iter_mut().zip(["qx", "qy", "qz", "px", "py", "pz"]) {
                visit(format_args!("{name}.{axis}"), value);
            }
        }
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        check::pose("X_B1F", &self.X_B1F)?;
        check::pose("X_B2M", &self.X_B2M)?;
        self.stiffness.iter().try_for_each(|&k| check::nonnegative("stiffness", k))?;
        self.damping.iter().try_for_each(|&c| check::nonnegative("damping", c))
    }
}

impl<T: Real> Variables<T> for Discrete<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit_flag("accepted.known", &mut self.known, visit);
        visit(format_args!("accepted.qx"), &mut self.qx);
        visit(format_args!("accepted.qz"), &mut self.qz);
    }

    fn validate(&self) -> Result<(), InvalidValue> {
        // Beyond, a change of a thousandth of a radian is lost in rounding.
        let most = T::lit(1e9).min(T::lit(1e-3) / T::default_epsilon());
        for (name, angle) in [("accepted.qx", self.qx), ("accepted.qz", self.qz)] {
            check::that(angle.abs() <= most, name, angle, Requirement::AtMost("1e9 and 1e-3/epsilon"))?;
        }
        Ok(())
    }
}
