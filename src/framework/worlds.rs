//! Many states of one system at once.

use alloc::boxed::Box;

use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::framework::{Error, ForceSystem};
use crate::math::Real;

impl<T: Real> ForceSystem<T> {
    /// Realizes each of these states to a stage, as [`realize_dynamics`](Self::realize_dynamics) and its siblings do
    /// with one. With the feature `rayon` on all cores; results do not depend on their number.
    ///
    /// # Errors
    /// [`Error::World`] with the error of the first state that fails. The others are realized all the same.
    pub fn realize_each(&self, states: &mut [State<T>], stage: Stage) -> Result<(), Error> {
        for_each(states, |state| self.advance(state, stage))
    }

    /// Accepts the step of each of these states, as [`accept_step`](Self::accept_step) does with one. With the feature
    /// `rayon` on all cores.
    ///
    /// # Errors
    /// [`Error::World`] with the error of the first state that fails, in which nothing is committed. The others are
    /// accepted all the same.
    pub fn accept_step_each(&self, states: &mut [State<T>]) -> Result<(), Error> {
        for_each(states, |state| self.accept_step(state))
    }
}

/// Calls `change` with every state; returns the first failure by index.
fn for_each<T: Real>(
    states: &mut [State<T>],
    change: impl Fn(&mut State<T>) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let failure = |(index, state): (usize, &mut State<T>)| {
        let source = Box::new(change(state).err()?);
        Some((index, source))
    };
    #[cfg(feature = "rayon")]
    let first = {
        use rayon::prelude::*;
        states.par_iter_mut().enumerate().filter_map(failure).min_by_key(|&(index, _)| index)
    };
    #[cfg(not(feature = "rayon"))]
    let first = states.iter_mut().enumerate().filter_map(failure).min_by_key(|&(index, _)| index);
    first.map_or(Ok(()), |(index, source)| Err(Error::World { index, source }))
}
