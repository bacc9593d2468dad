//! Tables of places: the number and name of the body or coordinate at each place.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

/// A unique number for everything that is added to a system. It distinguishes a handle or index of something removed
/// after its place has been reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stamp(u32);

impl Stamp {
    /// Ground, in every system.
    pub(crate) const GROUND: Self = Self(0);
    /// A vacant place.
    const VACANT: Self = Self(u32::MAX);

    /// A stamp that is unique among the first four billion.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        loop {
            let stamp = Self(NEXT.fetch_add(1, Ordering::Relaxed));
            // After four billion the count starts again, so the values with a meaning are skipped.
            if stamp != Self::GROUND && stamp != Self::VACANT {
                return stamp;
            }
        }
    }
}

/// The places of bodies, of coordinates, or of the elements of one kind.
///
/// A system and its states share a table until the system changes. A place does not change while others are added and
/// removed; the next addition takes the first vacant one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    stamps: Vec<Stamp>,
    names: Vec<Option<Arc<str>>>,
    /// The number of vacant places.
    vacant: usize,
}

impl PartialEq for Places {
    fn eq(&self, other: &Self) -> bool {
        self.stamps == other.stamps
    }
}

/// Shared tables are equal without a comparison of their entries.
impl Eq for Places {}

impl Places {
    /// A table with one place, which has this stamp.
    pub(crate) fn with(stamp: Stamp, name: &str) -> Arc<Self> {
        let mut places = Arc::<Self>::default();
        places.put(0, stamp, Some(name.into()));
        places
    }

    /// The number of places, including vacant ones.
    pub(crate) fn len(&self) -> usize {
        self.stamps.len()
    }

    /// The place that [`add`](Self::add) takes.
    pub(crate) fn next(&self) -> usize {
        let Self { stamps, vacant, .. } = self;
        // Without vacant places no search is needed, so adding takes constant time.
        let first = if *vacant > 0 { stamps.iter().position(|&stamp| stamp == Stamp::VACANT) } else { None };
        first.unwrap_or(stamps.len())
    }

    /// Takes the first vacant place, or a new one.
    pub(crate) fn add(self: &mut Arc<Self>, name: Option<Arc<str>>) -> (usize, Stamp) {
        let (place, stamp) = (self.next(), Stamp::next());
        self.put(place, stamp, name);
        (place, stamp)
    }

    /// Puts an item in a place, even an occupied one.
    pub(crate) fn put(self: &mut Arc<Self>, place: usize, stamp: Stamp, name: Option<Arc<str>>) {
        let Self { stamps, names, vacant } = Arc::make_mut(self);
        if place == stamps.len() {
            stamps.push(stamp);
            names.push(name);
        } else {
            *vacant += usize::from(stamp == Stamp::VACANT);
            *vacant -= usize::from(stamps[place] == Stamp::VACANT);
            stamps[place] = stamp;
            names[place] = name;
        }
    }

    /// Vacates a place.
    pub(crate) fn remove(self: &mut Arc<Self>, place: usize) {
        self.put(place, Stamp::VACANT, None);
    }

    /// Whether this place has this stamp.
    #[inline]
    pub(crate) fn has(&self, place: usize, stamp: Stamp) -> bool {
        self.stamps.get(place) == Some(&stamp)
    }

    /// The stamp of an occupied place.
    pub(crate) fn stamp(&self, place: usize) -> Option<Stamp> {
        self.stamps.get(place).copied().filter(|&stamp| stamp != Stamp::VACANT)
    }

    /// The occupied places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Stamp)> + Clone + '_ {
        let stamps = self.stamps.iter().copied().enumerate();
        stamps.filter(|&(_, stamp)| stamp != Stamp::VACANT)
    }

    /// The name given to the item at this place.
    pub(crate) fn name(&self, place: usize) -> Option<&Arc<str>> {
        self.names.get(place)?.as_ref()
    }

    /// All names that are given.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + '_ {
        self.names.iter().flatten().map(AsRef::as_ref)
    }

    /// The item with this name.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, Stamp)> {
        let place = self.names.iter().position(|given| given.as_deref() == Some(name))?;
        Some((place, self.stamps[place]))
    }
}
