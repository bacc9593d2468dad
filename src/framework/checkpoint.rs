//! Copies of everything that varies, without results.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;

use crate::framework::continuous::Continuous;
use crate::framework::element_variables::ElementVariables;
use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::framework::{Error, ForceElement};
use crate::math::Real;
use crate::mechanics::Kinematics;

/// Everything that varies in a state, without results: time, motion, variables and energy accounts.
///
/// For a host that rejects steps, or a search that branches: saving and returning cost little more than copying the
/// memory, and allocate nothing after the first time. A [`Snapshot`](crate::Snapshot) outlives the process; this does
/// not.
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
    kinds: Vec<Box<dyn AnyVariables<T>>>,
    continuous: Continuous<T>,
}

/// The variables of the elements of one kind, whose type is not known.
pub(crate) trait AnyVariables<T: Real>: Any + Debug + Send + Sync {
    fn clone_box(&self) -> Box<dyn AnyVariables<T>>;
}

/// The variables of the elements of one kind, by place.
#[derive(Debug)]
pub(crate) struct KindVariables<T: Real, E: ForceElement<T>>(pub(crate) Vec<ElementVariables<T, E>>);

impl<T: Real, E: ForceElement<T>> AnyVariables<T> for KindVariables<T, E> {
    fn clone_box(&self) -> Box<dyn AnyVariables<T>> {
        Box::new(Self(self.0.clone()))
    }
}

impl<T: Real, E: ForceElement<T>> KindVariables<T, E> {
    pub(crate) fn downcast(variables: &dyn AnyVariables<T>) -> Option<&Self> {
        (variables as &dyn Any).downcast_ref()
    }

    pub(crate) fn downcast_mut(variables: &mut dyn AnyVariables<T>) -> Option<&mut Self> {
        (variables as &mut dyn Any).downcast_mut()
    }
}

impl<T: Real> Clone for Checkpoint<T> {
    fn clone(&self) -> Self {
        Self {
            version: self.version,
            kinematics: self.kinematics.clone(),
            kinds: self.kinds.iter().map(|variables| variables.clone_box()).collect(),
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
            kinds: self.kinds.iter().map(|slots| slots.saved_variables()).collect(),
            continuous: self.continuous.clone(),
        }
    }

    /// Replaces a checkpoint by one of this state, in the same memory if it was made by a state of the same system.
    pub fn save_to(&self, checkpoint: &mut Checkpoint<T>) {
        if checkpoint.kinds.len() != self.kinds.len() {
            *checkpoint = self.checkpoint();
            return;
        }
        checkpoint.version = self.version;
        checkpoint.kinematics.clone_from(&self.kinematics);
        for (saved, slots) in checkpoint.kinds.iter_mut().zip(&self.kinds) {
            slots.save_variables(saved);
        }
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
        for (slots, saved) in self.kinds.iter_mut().zip(&checkpoint.kinds) {
            slots.load_variables(saved.as_ref())?;
        }
        self.kinematics.clone_from(&checkpoint.kinematics);
        self.continuous.clone_from(&checkpoint.continuous);
        self.invalidate(Stage::Instance);
        Ok(())
    }
}
