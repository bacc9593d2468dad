//! Typed and untyped handles of elements, and the table of the elements of one kind: which places are taken, and their
//! names.

use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;

use crate::framework::{ElementError, ElementName, Error};
use crate::mechanics::{Places, Stamp};

/// One element of a system, of any type.
///
/// It is made by [`ForceSystem::elements`](crate::ForceSystem::elements) or from a [`Handle`], and remains valid as long
/// as that handle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementId {
    kind: u32,
    place: u32,
    stamp: Stamp,
    kind_name: &'static str,
}

/// One element of a system, with its type.
///
/// It remains valid while other elements are added and removed, and in a system cast to another scalar (see
/// [`cast`](Self::cast)). A system that does not have the element, because it was removed or belongs to another system,
/// refuses the handle.
///
/// To use a handle as a key, or to sort handles, take the [`id`](Self::id).
pub struct Handle<E> {
    id: ElementId,
    element: PhantomData<fn() -> E>,
}

impl ElementId {
    #[expect(clippy::cast_possible_truncation, reason = "four billion elements do not fit into memory")]
    pub(crate) fn new(kind_name: &'static str, kind: usize, place: usize, stamp: Stamp) -> Self {
        Self { kind: kind as u32, place: place as u32, stamp, kind_name }
    }

    /// The kind, as [`ForceElement::KIND`](crate::ForceElement::KIND).
    pub fn kind_name(self) -> &'static str {
        self.kind_name
    }

    /// The place among elements of its kind: the number in `linear_bushing[3]`.
    pub fn place(self) -> usize {
        self.place as usize
    }

    /// The place of its kind in the system.
    pub(crate) fn kind(self) -> usize {
        self.kind as usize
    }

    pub(crate) fn stamp(self) -> Stamp {
        self.stamp
    }
}

impl<E> Handle<E> {
    pub(crate) fn new(id: ElementId) -> Self {
        Self { id, element: PhantomData }
    }

    /// The element, without its type.
    pub fn id(self) -> ElementId {
        self.id
    }

    /// The place among elements of its kind: the number in `linear_bushing[3]`.
    pub fn place(self) -> usize {
        self.id.place()
    }

    /// The same element in a system cast to another scalar, where it is of type `F`.
    pub fn cast<F>(self) -> Handle<F> {
        Handle::new(self.id)
    }
}

/// The elements of one kind by place, shared by a system and its states.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    pub(crate) kind: &'static str,
    /// The place of the kind in its system and in the states of that system.
    pub(crate) number: usize,
    pub(crate) places: Arc<Places>,
    /// The sum of the layouts of the variables of all elements.
    pub(crate) layout: u64,
    /// For each result of every element, whether these elements have a result of that name.
    pub(crate) has_own: [bool; 3],
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

    /// The error of the element at this place. Only here do errors get the name of their element.
    #[cold]
    pub(crate) fn failure(&self, place: usize, source: ElementError) -> Error {
        Error::Element { element: self.name(place), source }
    }
}

impl<E> From<Handle<E>> for ElementId {
    fn from(handle: Handle<E>) -> Self {
        handle.id
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
        self.id == other.id
    }
}

impl<E> Eq for Handle<E> {}

/// As the prefix of its named variables: `linear_bushing[3]`.
impl fmt::Display for ElementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.kind_name, self.place)
    }
}

impl fmt::Debug for ElementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ElementId({self})")
    }
}

impl<E> fmt::Debug for Handle<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.id)
    }
}

/// Reading through the handle of an element that does not exist is a programming error, like indexing out of bounds.
#[track_caller]
pub(crate) fn or_panic<V>(result: Result<V, Error>) -> V {
    match result {
        Ok(value) => value,
        #[expect(clippy::panic, reason = "the one documented exception, like slice indexing")]
        Err(error) => panic!("{error}"),
    }
}
