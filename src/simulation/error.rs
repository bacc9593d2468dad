//! Errors of simulations and steps.

use crate::framework::Error;
use crate::math::InvalidValue;

/// A simulation that was refused, or a step that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// An error of the system, its elements or their geometry.
    #[error(transparent)]
    Forces(Error),
    /// The plant does not have the bodies and coordinates of the system, in their order, or some of them were removed.
    #[error(
        "the plant does not have the bodies and coordinates of the system, in their order: add them by `Plant::add_body` and \
         `add_coordinate`, or those that the system has already by `put_body` and `put_coordinate`; a system from which one was \
         removed cannot be simulated: build it anew"
    )]
    OtherBodies,
    /// A load, a gravity, a saved variable or a rate is not finite.
    #[error("a load, a gravity, a variable of the motion or its rate is not finite")]
    NonFinite,
    /// The times of a saved simulation and of its snapshot differ.
    #[error("the simulation was saved at t = {simulation}, but the snapshot with it at t = {state}")]
    TimeMismatch {
        /// The time of the simulation \[s\].
        simulation: f64,
        /// The time in the snapshot \[s\].
        state: f64,
    },
    /// A change of the state of a simulation would have changed its time or motion.
    #[error(
        "the time, poses and velocities of a simulation cannot be changed: make a new simulation from the changed state"
    )]
    MotionChanged,
    /// The step is too long for the method. After a step of fixed length the kinetic energy would be more than ten
    /// thousand times the energy supplied; or, under an implicit method, the energy of the motion has grown by more than
    /// half of the largest kinetic energy.
    #[error(
        "at t = {time} the kinetic energy would be {kinetic_energy} J, where {supplied} J were supplied: the step is too long"
    )]
    EnergyExploded {
        /// The end of the step \[s\].
        time: f64,
        /// The kinetic energy there \[J\].
        kinetic_energy: f64,
        /// Kinetic and stored energy at the start, and the energy that gravity, loads and elements have delivered since;
        /// under an implicit method, the kinetic energy if the energy of the motion had not grown \[J\].
        supplied: f64,
    },
    /// An integrator could not meet its tolerance with the smallest permitted step.
    #[error("at t = {time} the step fell to {step}, below the smallest allowed")]
    StepTooSmall {
        /// The time reached \[s\].
        time: f64,
        /// The step that was refused \[s\].
        step: f64,
    },
    /// In the precision of the scalar, positions are so coarse that the motion in short steps is lost: so far a hundredth
    /// of its displacement and scale. Begin nearer to the origin of Ground, take longer steps or less accuracy, or a more
    /// precise scalar.
    #[error(
        "at t = {time} rounding of positions has lost {lost} m or rad of the motion: move it nearer to the origin of Ground, or take \
         longer steps or a more precise scalar"
    )]
    PositionsTooCoarse {
        /// The time reached \[s\].
        time: f64,
        /// The motion that is missing \[m or rad\].
        lost: f64,
    },
    /// The equations of an implicit step were not solved, however short the step.
    #[error(
        "at t = {time} a step of {step} did not converge: residual {residual} after {iterations} iterations"
    )]
    StepNotConverged {
        /// The time reached \[s\].
        time: f64,
        /// The shortest step tried \[s\].
        step: f64,
        /// The largest residual among the velocities \[m/s or rad/s\].
        residual: f64,
        /// Newton iterations made in that step.
        iterations: usize,
    },
    /// The discrete variables of an implicit step did not settle, however short the step.
    #[error("at t = {time} switching did not settle in a step of {step}: force error {force_error}")]
    StepNotSettled {
        /// The time reached \[s\].
        time: f64,
        /// The shortest step tried \[s\].
        step: f64,
        /// The remaining force error \[N\].
        force_error: f64,
    },
}

impl SimulationError {
    /// The error of the system, its elements or their geometry, if this is one.
    pub fn forces(&self) -> Option<&Error> {
        match self {
            Self::Forces(error) => Some(error),
            _ => None,
        }
    }

    /// The number that was out of range, if this is one.
    pub fn invalid_value(&self) -> Option<&InvalidValue> {
        self.forces()?.invalid_value()
    }
}

impl<E: Into<Error>> From<E> for SimulationError {
    fn from(error: E) -> Self {
        Self::Forces(error.into())
    }
}

/// Refuses loads, variables and rates that are not finite.
pub(super) fn finite_motion(is_finite: bool) -> Result<(), SimulationError> {
    if is_finite { Ok(()) } else { Err(SimulationError::NonFinite) }
}
