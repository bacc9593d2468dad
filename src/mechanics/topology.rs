//! The bodies and coordinates of a system.

use alloc::sync::Arc;
use core::fmt;

use super::KinematicsError;
use super::places::{Places, Stamp};

/// A body of the host.
///
/// It remains valid while other bodies are added and removed, and in a system cast to another scalar. A system that does
/// not have the body, because it was removed or was added to another system, refuses the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyIndex {
    place: u32,
    stamp: Stamp,
}

/// A scalar generalized coordinate of the host. It is valid like a [`BodyIndex`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoordinateIndex {
    place: u32,
    stamp: Stamp,
}

impl BodyIndex {
    /// Ground, which never moves.
    pub const GROUND: Self = Self { place: 0, stamp: Stamp::GROUND };

    /// The place among the host's bodies; that of Ground is 0. The place of a removed body is given to the next one
    /// added.
    #[inline]
    pub const fn index(self) -> usize {
        self.place as usize
    }
}

impl CoordinateIndex {
    /// The place among the host's coordinates. The place of a removed coordinate is given to the next one added.
    #[inline]
    pub const fn index(self) -> usize {
        self.place as usize
    }
}

/// A [`BodyIndex`] or [`CoordinateIndex`], which is checked when it is used; within this crate also one that has been
/// checked.
pub trait AsIndex<I>: Copy {
    /// The place of the body or coordinate.
    ///
    /// # Panics
    /// If it does not exist, like slice indexing.
    #[doc(hidden)]
    fn place_in(self, topology: &Topology) -> usize;
}

/// An index of an element, which the system checked when the element was added. Checking it at every use would cost small
/// elements a third of their time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checked<I>(pub(crate) I);

/// Implements the name of an index in messages, and its check with the error for an index that does not exist.
macro_rules! index {
    ($Index:ident, $has:ident, $missing:expr) => {
        impl fmt::Debug for $Index {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($Index), self.place)
            }
        }

        impl AsIndex<Self> for $Index {
            #[inline]
            #[track_caller]
            fn place_in(self, topology: &Topology) -> usize {
                if !topology.$has(self) {
                    fail($missing(self));
                }
                self.index()
            }
        }

        impl AsIndex<$Index> for Checked<$Index> {
            #[inline]
            fn place_in(self, _: &Topology) -> usize {
                self.0.index()
            }
        }
    };
}

index!(BodyIndex, has_body, |body| KinematicsError::NoSuchBody { body });
index!(CoordinateIndex, has_coordinate, |coordinate| KinematicsError::NoSuchCoordinate { coordinate });

#[cold]
#[track_caller]
#[expect(clippy::panic, reason = "the one documented exception, like slice indexing")]
fn fail(error: KinematicsError) -> ! {
    panic!("{error}")
}

/// The bodies and coordinates of a system, against which elements check their indices.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    pub(crate) bodies: Arc<Places>,
    pub(crate) coordinates: Arc<Places>,
}

impl Topology {
    /// Only Ground.
    pub(crate) fn new() -> Self {
        Self { bodies: Places::with(Stamp::GROUND, "ground"), coordinates: Arc::default() }
    }

    /// The bodies, without Ground, by place.
    pub fn bodies(&self) -> impl Iterator<Item = BodyIndex> + Clone + '_ {
        self.bodies.iter().map(body).filter(|&body| body != BodyIndex::GROUND)
    }

    /// The coordinates, by place.
    pub fn coordinates(&self) -> impl Iterator<Item = CoordinateIndex> + Clone + '_ {
        self.coordinates.iter().map(coordinate)
    }

    /// The number of places of bodies: one for Ground, one for each body, and vacant ones of removed bodies.
    pub fn body_places(&self) -> usize {
        self.bodies.len()
    }

    /// The number of places of coordinates, including vacant places of removed coordinates.
    pub fn coordinate_places(&self) -> usize {
        self.coordinates.len()
    }

    /// The body at this place; Ground is at place 0. `None` if the place is vacant.
    pub fn body(&self, place: usize) -> Option<BodyIndex> {
        Some(body((place, self.bodies.stamp(place)?)))
    }

    /// The coordinate at this place; `None` if it is vacant.
    pub fn coordinate(&self, place: usize) -> Option<CoordinateIndex> {
        Some(coordinate((place, self.coordinates.stamp(place)?)))
    }

    /// Whether the system has the body.
    #[inline]
    pub fn has_body(&self, body: BodyIndex) -> bool {
        self.bodies.has(body.index(), body.stamp)
    }

    /// Whether the system has the coordinate.
    #[inline]
    pub fn has_coordinate(&self, coordinate: CoordinateIndex) -> bool {
        self.coordinates.has(coordinate.index(), coordinate.stamp)
    }

    /// # Errors
    /// [`KinematicsError::NoSuchBody`] if the body does not exist.
    pub fn check_body(&self, body: BodyIndex) -> Result<(), KinematicsError> {
        if self.has_body(body) { Ok(()) } else { Err(KinematicsError::NoSuchBody { body }) }
    }

    /// # Errors
    /// [`KinematicsError::NoSuchCoordinate`] if the coordinate does not exist.
    pub fn check_coordinate(&self, coordinate: CoordinateIndex) -> Result<(), KinematicsError> {
        if self.has_coordinate(coordinate) {
            Ok(())
        } else {
            Err(KinematicsError::NoSuchCoordinate { coordinate })
        }
    }

    /// The name of a body; `"ground"` for Ground, `None` for a body without a name or that does not exist.
    pub fn body_name(&self, body: BodyIndex) -> Option<&str> {
        self.has_body(body).then(|| self.bodies.name(body.index()))?.map(Arc::as_ref)
    }

    /// The name of a coordinate; `None` for one without a name or that does not exist.
    pub fn coordinate_name(&self, coordinate: CoordinateIndex) -> Option<&str> {
        self.has_coordinate(coordinate).then(|| self.coordinates.name(coordinate.index()))?.map(Arc::as_ref)
    }

    /// The body of this name.
    pub fn find_body(&self, name: &str) -> Option<BodyIndex> {
        self.bodies.find(name).map(body)
    }

    /// The coordinate of this name.
    pub fn find_coordinate(&self, name: &str) -> Option<CoordinateIndex> {
        self.coordinates.find(name).map(coordinate)
    }

    pub(crate) fn add_body(&mut self, name: Option<Arc<str>>) -> BodyIndex {
        body(self.bodies.add(name))
    }

    pub(crate) fn add_coordinate(&mut self, name: Option<Arc<str>>) -> CoordinateIndex {
        coordinate(self.coordinates.add(name))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "four billion poses do not fit into memory")]
fn body((place, stamp): (usize, Stamp)) -> BodyIndex {
    BodyIndex { place: place as u32, stamp }
}

#[expect(clippy::cast_possible_truncation, reason = "four billion values are more than stamps")]
fn coordinate((place, stamp): (usize, Stamp)) -> CoordinateIndex {
    CoordinateIndex { place: place as u32, stamp }
}
