//! Progress of a long run.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shorter runs show nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often a line is written anew \[ms\].
const INTERVAL: u64 = 100;

/// A line on standard error, if that is a terminal, that appears when a run takes longer than two seconds.
#[derive(Debug)]
pub struct Progress {
    steps: u64,
    done: AtomicU64,
    start: Instant,
    /// When the line was written last, in milliseconds from the start; zero while there is none.
    written: AtomicU64,
}

impl Progress {
    /// Progress in so many steps.
    pub fn new(steps: u64) -> Self {
        Self { steps, done: AtomicU64::new(0), start: Instant::now(), written: AtomicU64::new(0) }
    }

    /// One step has been done.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Relaxed) + 1;
        let passed = self.start.elapsed();
        let now = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        let written = self.written.load(Relaxed);
        if passed < PATIENCE || now < written.saturating_add(INTERVAL) || !stderr().is_terminal() {
            return;
        }
        if self.written.compare_exchange(written, now, Relaxed, Relaxed).is_ok() {
            // A terminal that cannot be written to shows nothing.
            let _ = write!(stderr(), "\r{done} of {} after {} s", self.steps, passed.as_secs());
        }
    }

    /// Prints without the line in the way.
    pub fn aside(&self, print: impl FnOnce()) {
        self.clear();
        print();
    }

    fn clear(&self) {
        if self.written.swap(0, Relaxed) > 0 {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// The line is gone before results are printed.
impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
