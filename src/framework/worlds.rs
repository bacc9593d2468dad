//! Many states of one system at once.

use alloc::boxed::Box;

use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::framework::{Error, ForceSystem, Linearization};
use crate::math::Real;

impl<T: Real> ForceSystem<T> {
    /// Realizes each of these states to a stage, as [`realize_dynamics`](Self::realize_dynamics) and its siblings do
    /// with one. With the feature `rayon` on all cores; results do not depend on their number.
    ///
    /// # Errors
    /// [`Error::World`] with the error of the first state that fails. The others are realized all the same.
    pub fn realize_each(&self, states: &mut [State<T>], stage: Stage) -> Result<(), Error> {
        for_each(states, |_, state| self.advance(state, stage))
    }

    /// Accepts the step of each of these states, as [`accept_step`](Self::accept_step) does with one. With the feature
    /// `rayon` on all cores.
    ///
    /// # Errors
    /// [`Error::World`] with the error of the first state that fails, in which nothing is committed. The others are
    /// accepted all the same.
    pub fn accept_step_each(&self, states: &mut [State<T>]) -> Result<(), Error> {
        for_each(states, |_, state| self.accept_step(state))
    }

    /// Writes the linearization about each of these states, as [`linearize`](Self::linearize) does about one, to that of
    /// its index. Where there are fewer states, the other linearizations stay as they are. With the feature `rayon` on all
    /// cores; results do not depend on their number.
    ///
    /// # Errors
    /// [`Error::World`] with the error of the first state that fails, or with [`Error::NoLinearization`] for the first that
    /// has none. The others are linearized all the same.
    pub fn linearize_each(
        &self,
        states: &[State<T>],
        linearizations: &mut [Linearization<T>],
    ) -> Result<(), Error> {
        let count = states.len().min(linearizations.len());
        for_each(&mut linearizations[..count], |index, linearization| {
            self.linearize(&states[index], linearization)
        })?;
        if states.len() > count {
            return Err(Error::World { index: count, source: Box::new(Error::NoLinearization) });
        }
        Ok(())
    }
}

/// Calls `change` with each item and its index; returns the first failure by index.
fn for_each<V: Send>(
    items: &mut [V],
    change: impl Fn(usize, &mut V) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let failure = |(index, item): (usize, &mut V)| {
        let source = Box::new(change(index, item).err()?);
        Some((index, source))
    };
    #[cfg(feature = "rayon")]
    let first = {
        use rayon::prelude::*;
        items.par_iter_mut().enumerate().filter_map(failure).min_by_key(|&(index, _)| index)
    };
    #[cfg(not(feature = "rayon"))]
    let first = items.iter_mut().enumerate().filter_map(failure).min_by_key(|&(index, _)| index);
    first.map_or(Ok(()), |(index, source)| Err(Error::World { index, source }))
}
