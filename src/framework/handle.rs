//! Typed handles of elements.

use core::fmt;
use core::marker::PhantomData;

use crate::framework::Error;

/// One element of a system, with its type.
///
/// Valid for the system that made it and the states of that system.
pub struct Handle<E> {
    pub(crate) system: usize,
    pub(crate) kind: usize,
    pub(crate) place: usize,
    element: PhantomData<fn() -> E>,
}

impl<E> Handle<E> {
    pub(crate) fn new(system: usize, kind: usize, place: usize) -> Self {
        Self { system, kind, place, element: PhantomData }
    }

    /// The place among elements of its kind: the number in `linear_bushing[3]`.
    pub fn place(self) -> usize {
        self.place
    }
}

impl<E> Clone for Handle<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Handle<E> {}

impl<E> PartialEq for Handle<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.system, self.kind, self.place) == (other.system, other.kind, other.place)
    }
}

impl<E> Eq for Handle<E> {}

impl<E> fmt::Debug for Handle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({}/{})", self.kind, self.place)
    }
}

/// Reading through a handle of another system is a programming error, like indexing out of bounds.
#[track_caller]
pub(crate) fn or_panic<V>(result: Result<V, Error>) -> V {
    match result {
        Ok(value) => value,
        #[expect(clippy::panic, reason = "the one documented exception, like slice indexing")]
        Err(error) => panic!("{error}"),
    }
}
