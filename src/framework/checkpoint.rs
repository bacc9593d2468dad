//! Copies of everything that varies, without results.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::framework::Error;
use crate::framework::account::Account;
use crate::framework::slots::AnySlots;
use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::math::{Pose, Real, SpatialVelocity};
use crate::mechanics::Kinematics;

/// Everything that varies in a state, except results: time, motion, variables and energy accounts.
///
/// Use it in a host that rejects steps, or in a search that branches. Saving and returning cost little more than copying
/// the memory, and allocate nothing after the first time. To save beyond the process, use a
/// [`snapshot`](crate::State::snapshot) with the names of all variables, or their [bytes](State::to_bytes).
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
#[derive(Debug, Clone)]
pub struct Checkpoint<T: Real> {
    version: usize,
    /// The following fields hold one or several states, as in [`Worlds`](crate::Worlds), one after the other.
    times: Vec<T>,
    poses: Vec<Pose<T>>,
    velocities: Vec<SpatialVelocity<T>>,
    coordinates: Vec<T>,
    coordinate_rates: Vec<T>,
    /// Variables without results.
    kinds: Vec<Box<dyn AnySlots<T>>>,
    continuous: Vec<T>,
    accounts: Vec<Account>,
    flags: Vec<[bool; 3]>,
}

impl<T: Real> State<T> {
    /// A copy of everything that varies.
    pub fn checkpoint(&self) -> Checkpoint<T> {
        Checkpoint::repeat(self, 1)
    }

    /// Replaces a checkpoint by one of this state, in the same memory if the checkpoint belongs to the same system.
    pub fn save_to(&self, checkpoint: &mut Checkpoint<T>) {
        if checkpoint.write(0, self).is_err() {
            *checkpoint = self.checkpoint();
        }
    }

    /// Returns to a checkpoint of a state of the same system; drops the state below Instance stage.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the checkpoint belongs to another system, or to this one before something was added
    /// or removed.
    pub fn return_to(&mut self, checkpoint: &Checkpoint<T>) -> Result<(), Error> {
        checkpoint.read(0, self)
    }
}

impl<T: Real> Checkpoint<T> {
    /// This number of copies of a state.
    pub(crate) fn repeat(state: &State<T>, count: usize) -> Self {
        let State { version, kinematics, kinds, continuous, .. } = state;
        let Kinematics { time, positions, velocities } = kinematics;
        Self {
            version: *version,
            times: vec![*time; count],
            poses: positions.bodies.repeat(count),
            velocities: velocities.bodies.repeat(count),
            coordinates: positions.coordinates.repeat(count),
            coordinate_rates: velocities.coordinates.repeat(count),
            kinds: kinds.iter().map(|slots| slots.repeat_variables(count)).collect(),
            continuous: continuous.values.repeat(count),
            accounts: continuous.accounts.repeat(count),
            flags: vec![continuous.flags(); count],
        }
    }

    /// Replaces a copy.
    pub(crate) fn write(&mut self, index: usize, state: &State<T>) -> Result<(), Error> {
        self.check(state)?;
        for (copies, slots) in self.kinds.iter_mut().zip(&state.kinds) {
            let count = slots.roster().places.len();
            copies.copy_variables(index * count..(index + 1) * count, slots.as_ref(), 0)?;
        }
        let State { kinematics: Kinematics { time, positions, velocities }, continuous, .. } = state;
        self.times[index] = *time;
        write(&mut self.poses, index, &positions.bodies);
        write(&mut self.velocities, index, &velocities.bodies);
        write(&mut self.coordinates, index, &positions.coordinates);
        write(&mut self.coordinate_rates, index, &velocities.coordinates);
        write(&mut self.continuous, index, &continuous.values);
        write(&mut self.accounts, index, &continuous.accounts);
        self.flags[index] = continuous.flags();
        Ok(())
    }

    /// Copies one of the copies to a state, which drops below Instance stage.
    pub(crate) fn read(&self, index: usize, state: &mut State<T>) -> Result<(), Error> {
        self.check(state)?;
        for (slots, copies) in state.kinds.iter_mut().zip(&self.kinds) {
            let count = slots.roster().places.len();
            slots.copy_variables(0..count, copies.as_ref(), index * count)?;
        }
        let State { kinematics: Kinematics { time, positions, velocities }, continuous, .. } = state;
        *time = self.times[index];
        read(&self.poses, index, &mut positions.bodies);
        read(&self.velocities, index, &mut velocities.bodies);
        read(&self.coordinates, index, &mut positions.coordinates);
        read(&self.coordinate_rates, index, &mut velocities.coordinates);
        read(&self.continuous, index, &mut continuous.values);
        read(&self.accounts, index, &mut continuous.accounts);
        continuous.set_flags(self.flags[index]);
        state.invalidate(Stage::Instance);
        Ok(())
    }

    fn check(&self, state: &State<T>) -> Result<(), Error> {
        if state.version == self.version { Ok(()) } else { Err(Error::TopologyMismatch) }
    }
}

/// Replaces one of several rows of equal length.
fn write<V: Copy>(rows: &mut [V], index: usize, row: &[V]) {
    rows[index * row.len()..][..row.len()].copy_from_slice(row);
}

/// Copies one of several rows of equal length.
fn read<V: Copy>(rows: &[V], index: usize, row: &mut [V]) {
    row.copy_from_slice(&rows[index * row.len()..][..row.len()]);
}
