//! The elements of one kind by place: which places are taken, and their names.

use alloc::sync::Arc;
use core::fmt::Debug;

use crate::framework::{ElementError, ElementId, ElementName, Error};
use crate::mechanics::Places;

/// The elements of one kind by place, shared by a system and its states.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    pub(crate) kind: &'static str,
    /// The place of the kind in its system and in the states of that.
    pub(crate) number: usize,
    pub(crate) places: Arc<Places>,
    /// The sum of the layouts of the variables of all elements.
    pub(crate) layout: u64,
}

impl Roster {
    /// The elements, by place.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ElementId> + '_ {
        self.places.iter().map(|(place, stamp)| ElementId::new(self.kind, self.number, place, stamp))
    }

    /// The element at this place, if there is one.
    pub(crate) fn id(&self, place: usize) -> Option<ElementId> {
        Some(ElementId::new(self.kind, self.number, place, self.places.stamp(place)?))
    }

    /// The kind, place and given name of the element at this place.
    pub(crate) fn name(&self, place: usize) -> ElementName {
        ElementName { kind: self.kind, index: Some(place), name: self.places.name(place).cloned() }
    }

    /// The error of the element at this place. This is the only place where errors get the name of their element.
    #[cold]
    pub(crate) fn failure(&self, place: usize, source: ElementError) -> Error {
        Error::Element { element: self.name(place), source }
    }
}
