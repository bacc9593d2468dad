//! Names of the elements of one kind.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::framework::{ElementError, ElementName, Error};

/// Names of the elements of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    kind: &'static str,
    given: Arc<Vec<Option<Arc<str>>>>,
}

impl Names {
    /// Names of a kind without elements.
    pub(crate) fn new(kind: &'static str) -> Self {
        Self { kind, given: Arc::default() }
    }

    pub(crate) fn push(&mut self, name: Option<Arc<str>>) {
        Arc::make_mut(&mut self.given).push(name);
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.given.iter().flatten().any(|given| **given == *name)
    }

    /// The error of the element at this place. Errors get the name of their element here and nowhere else.
    #[cold]
    pub(crate) fn failure(&self, place: usize, source: ElementError) -> Error {
        let name = self.given.get(place).cloned().flatten();
        Error::Element { element: ElementName { kind: self.kind, index: Some(place), name }, source }
    }
}
