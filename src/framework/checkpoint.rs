//! Copies of everything that varies, without results.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::framework::Error;
use crate::framework::continuous::Continuous;
use crate::framework::slots::AnySlots;
use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::math::Real;
use crate::mechanics::Kinematics;

/// Everything that varies in a state, without results: time, motion, variables and energy accounts.
///
/// For a host that rejects steps, or a search that branches: saving and returning cost little more than copying the
/// memory, and allocate nothing after the first time. What outlives the process is a [`Snapshot`](crate::Snapshot) with the
/// names of all variables, or their [bytes](State::to_bytes).
///
/// ```
/// # use force_elements::*;
/// # let mut system = ForceSystem::<f64>::new();
/// # let body = system.add_body();
/// # let mut state = system.default_state();
/// let mut start = state.checkpoint();
/// state.set_pose(body, Pose::translation(0.1, 0.0, 0.0))?;
/// state.return_to(&start)?;
/// assert_eq!(*state.positions().pose(body), Pose::identity());
///
/// state.set_time(1.0)?;
/// state.save_to(&mut start); // reuses the memory
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint<T: Real> {
    version: usize,
    kinematics: Kinematics<T>,
    /// Variables without results.
    kinds: Vec<Box<dyn AnySlots<T>>>,
    continuous: Continuous<T>,
}

impl<T: Real> Clone for Checkpoint<T> {
    fn clone(&self) -> Self {
        Self {
            version: self.version,
            kinematics: self.kinematics.clone(),
            kinds: self.kinds.iter().map(|variables| variables.clone_variables()).collect(),
            continuous: self.continuous.clone(),
        }
    }
}

impl<T: Real> State<T> {
    /// A copy of everything that varies.
    pub fn checkpoint(&self) -> Checkpoint<T> {
        Checkpoint {
            version: self.version,
            kinematics: self.kinematics.clone(),
            kinds: self.kinds.iter().map(|slots| slots.clone_variables()).collect(),
            continuous: self.continuous.clone(),
        }
    }

    /// Replaces a checkpoint by one of this state, in the same memory if it was made by a state of the same system.
    pub fn save_to(&self, checkpoint: &mut Checkpoint<T>) {
        if checkpoint.version != self.version || copy_all(&mut checkpoint.kinds, &self.kinds).is_err() {
            *checkpoint = self.checkpoint();
            return;
        }
        checkpoint.kinematics.clone_from(&self.kinematics);
        checkpoint.continuous.clone_from(&self.continuous);
    }

    /// Returns to a checkpoint of a state of the same system; drops the state below Instance stage.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if it is of another system, or of this one before something was added or removed.
    pub fn return_to(&mut self, checkpoint: &Checkpoint<T>) -> Result<(), Error> {
        if checkpoint.version != self.version {
            return Err(Error::TopologyMismatch);
        }
        copy_all(&mut self.kinds, &checkpoint.kinds)?;
        self.kinematics.clone_from(&checkpoint.kinematics);
        self.continuous.clone_from(&checkpoint.continuous);
        self.invalidate(Stage::Instance);
        Ok(())
    }
}

/// Copies the variables of all elements of one version of a system.
fn copy_all<T: Real>(to: &mut [Box<dyn AnySlots<T>>], from: &[Box<dyn AnySlots<T>>]) -> Result<(), Error> {
    to.iter_mut().zip(from).try_for_each(|(to, from)| {
        let places = 0..to.roster().places.len();
        to.copy_variables(places, from.as_ref())
    })
}
