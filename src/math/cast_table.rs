//! Casts of values that are known by an interface only.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

/// Functions from values to `R`, one for each type of value.
pub(crate) struct CastTable<R> {
    casts: Vec<Cast<R>>,
}

/// `None` for a value of another type.
type Cast<R> = Box<dyn Fn(&dyn Any) -> Option<R> + Send + Sync>;

impl<R> CastTable<R> {
    pub(crate) fn new() -> Self {
        Self { casts: Vec::new() }
    }

    /// Adds a function; of several for one type, the last one counts.
    pub(crate) fn add<S: 'static>(&mut self, cast: impl Fn(&S) -> R + Send + Sync + 'static) {
        self.casts.push(Box::new(move |value| value.downcast_ref().map(&cast)));
    }

    /// `None` if there is no function for values of this type.
    pub(crate) fn cast(&self, value: &dyn Any) -> Option<R> {
        self.casts.iter().rev().find_map(|cast| cast(value))
    }
}

impl<R> fmt::Debug for CastTable<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CastTable").field("count", &self.casts.len()).finish()
    }
}
