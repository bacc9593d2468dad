//! Saved simulations.

use alloc::string::String;
use alloc::vec::Vec;

use crate::framework::{Error, ForceSystem};
use crate::math::{InvalidValue, Real, Requirement, check};
use crate::simulation::error::finite_motion;
use crate::simulation::layout::{BODY, Trial, quaternion};
use crate::simulation::motion::check_topology;
use crate::simulation::{Plant, Simulation, SimulationError, Statistics};

/// A saved simulation. Resumed with the same integrator, which stores its next step length, it continues bit-identically,
/// with one exception: the quantities by which a run is refused start anew. These are the motion lost by the rounding of
/// positions ([`PositionsTooCoarse`](SimulationError::PositionsTooCoarse)), the energy supplied
/// ([`EnergyExploded`](SimulationError::EnergyExploded)), and the energy that elements have gained, or not lost
/// ([`EnergyGained`](crate::Error::EnergyGained), [`FrictionAlternates`](crate::Error::FrictionAlternates)). It is
/// serializable with the feature `serde`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Saved<T> {
    /// Time \[s\].
    pub time: f64,
    /// For each body, the position of its mass center in Ground, its orientation as the quaternion (i, j, k, w),
    /// the velocity of its mass center in Ground and its angular velocity in its own frame; for each coordinate,
    /// value and rate.
    pub motion: Vec<T>,
    /// Work done by loads and drives \[J\].
    pub supplied_work: T,
    /// Time, and all variables of the elements.
    pub snapshot: Vec<(String, T)>,
}

impl<'a, T: Real> Simulation<'a, T> {
    /// Saves the present point.
    pub fn save(&self) -> Saved<T> {
        Saved {
            time: self.time(),
            motion: self.motion().to_vec(),
            supplied_work: self.supplied_work(),
            snapshot: self.state().snapshot(),
        }
    }

    /// Resumes a saved simulation. With the same integrator it takes bit-identical steps, as [`Saved`] describes.
    /// Statistics start from zero.
    ///
    /// # Errors
    /// [`SimulationError::OtherBodies`] if the plant does not have the bodies and coordinates of the system;
    /// [`SimulationError::Forces`] with [`Error::TopologyMismatch`] or [`Error::SnapshotMismatch`] if the simulation was
    /// saved from another plant or system; [`SimulationError::NonFinite`], [`SimulationError::TimeMismatch`], or
    /// [`SimulationError::Forces`] with an error of [`State::restore`](crate::State::restore) or
    /// [`Error::InvalidValue`] if the saved data are invalid.
    pub fn resume(
        system: &'a ForceSystem<T>,
        plant: &'a Plant<T>,
        saved: &Saved<T>,
    ) -> Result<Self, SimulationError> {
        check_topology(system, plant)?;
        if saved.motion.len() != plant.energies_start() {
            return Err(Error::TopologyMismatch.into());
        }
        check::finite("saved.time", saved.time)?;
        finite_motion(saved.motion.iter().all(T::is_finite))?;
        finite_motion(saved.supplied_work.is_finite())?;
        for body in plant.body_chunks(&saved.motion) {
            check_orientation(&body[3..BODY])?;
        }
        let mut state = system.default_state();
        state.restore(&saved.snapshot)?;
        let (time, of_state) = (T::lit(saved.time).to_f64(), state.time().to_f64());
        if time != of_state {
            return Err(SimulationError::TimeMismatch { simulation: saved.time, state: of_state });
        }
        state.set_kinematics(&Trial { plant, time: saved.time, y: &saved.motion })?;
        let mut y = saved.motion.clone();
        y.extend_from_slice(state.continuous());
        y.push(saved.supplied_work);
        Ok(Self::from_parts(system, plant, state, saved.time, y, Statistics::default()))
    }
}

/// Refuses a quaternion that is not of unit length.
fn check_orientation<T: Real>(y: &[T]) -> Result<(), InvalidValue> {
    let norm = quaternion(y).norm();
    // As for poses: numbers rounded to seven digits or to single precision pass.
    let tolerance = T::lit(1e-6).max(T::default_epsilon() * T::lit(1000.0));
    let is_unit = (norm - T::one()).abs() < tolerance;
    check::that(is_unit, "orientation", norm, Requirement::Rotation)
}
