//! Progress of a long run.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};

/// Shorter runs show nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// A bar on standard error, if that is a terminal, that appears when a run takes longer than two seconds.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// Progress in so many steps.
    pub fn new(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        Self { bar, start: Instant::now() }
    }

    /// One step has been done.
    pub fn step(&self) {
        if self.bar.is_hidden() && self.start.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }

    /// Prints without the bar in the way.
    pub fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }
}

/// The bar is gone before results are printed.
impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
