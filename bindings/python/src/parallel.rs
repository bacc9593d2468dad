//! Work on many worlds, on several threads.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

use force_elements::Error;
use pyo3::PyResult;

use crate::errors::raised_in;

/// Worlds for which another thread is worth starting.
const WORTH_A_THREAD: usize = 32;

/// Memory that threads take and give back.
pub(crate) struct Pool<M>(Mutex<Vec<M>>);

impl<M> Default for Pool<M> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<M> Pool<M> {
    /// One that fits, or a new one. Those that do not are dropped.
    pub(crate) fn take(&self, fits: impl Fn(&M) -> bool, make: impl Fn() -> M) -> M {
        loop {
            let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match taken {
                Some(taken) if fits(&taken) => return taken,
                Some(_) => {}
                None => return make(),
            }
        }
    }

    pub(crate) fn give(&self, memory: M) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

/// Calls `visit` with each job. Every job is its own, so that results do not depend on the number of threads.
///
/// # Errors
/// That of the first that fails, with the indices of all that do. Those that do not are done all the same.
///
/// Threads live as long as the call: a process that forks between two calls has none to lose.
pub(crate) fn each<J: Send>(
    jobs: &mut [J],
    threads: Option<NonZeroUsize>,
    visit: impl Fn(usize, &mut J) -> Result<(), Error> + Sync,
) -> PyResult<()> {
    let all = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = threads.map_or_else(|| all().min(jobs.len() / WORTH_A_THREAD), NonZeroUsize::get);
    let threads = threads.clamp(1, jobs.len().max(1));
    let size = if threads == 1 { jobs.len().max(1) } else { jobs.len().div_ceil(8 * threads) };
    let chunks = Mutex::new(jobs.chunks_mut(size).enumerate());
    let failures = Mutex::new(Vec::new());
    let work = || {
        loop {
            let chunk = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, chunk)) = chunk else { break };
            for (place, job) in chunk.iter_mut().enumerate() {
                let index = number * size + place;
                if let Err(source) = visit(index, job) {
                    failures.lock().unwrap_or_else(PoisonError::into_inner).push((index, source));
                }
            }
        }
    };
    if threads == 1 {
        work();
    } else {
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_unstable_by_key(|&(index, _)| index);
    let worlds = failures.iter().map(|&(index, _)| index).collect();
    failures.into_iter().next().map_or(Ok(()), |(_, source)| Err(raised_in(worlds, source)))
}
