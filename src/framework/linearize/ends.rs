//! Bodies and coordinates, as the places on which forces act and whose motion is read.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::mechanics::{BodyIndex, CoordinateIndex, Places, Topology};

/// A body with six degrees of freedom, or a coordinate with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// A body: three rotations, then three translations of its origin, along the axes of Ground.
    Body(BodyIndex),
    /// A coordinate.
    Coordinate(CoordinateIndex),
}

impl End {
    /// The number of its freedoms: 6 or 1.
    #[inline]
    pub fn freedoms(self) -> usize {
        match self {
            Self::Body(_) => 6,
            Self::Coordinate(_) => 1,
        }
    }

    /// Whether it is Ground, which has forces but no motion.
    #[inline]
    pub fn is_ground(self) -> bool {
        self == Self::Body(BodyIndex::GROUND)
    }
}

/// A body or coordinate with `N` degrees of freedom: a [`BodyIndex`] with six, a [`CoordinateIndex`] with one.
pub trait Freedoms<const N: usize>: Copy {
    /// The body or coordinate.
    fn end(self) -> End;
}

impl Freedoms<6> for BodyIndex {
    #[inline]
    fn end(self) -> End {
        End::Body(self)
    }
}

impl Freedoms<1> for CoordinateIndex {
    #[inline]
    fn end(self) -> End {
        End::Coordinate(self)
    }
}

/// Finds the bodies and coordinates without which `fits` fails, Ground first.
///
/// It tests halves, so that an element with a few bodies among many takes a few times the logarithm of their number.
pub(super) fn needed_ends(topology: &Topology, fits: &dyn Fn(&Topology) -> bool, ends: &mut Vec<End>) {
    ends.clear();
    ends.push(End::Body(BodyIndex::GROUND));
    let find =
        |places: Range<usize>, table: fn(&mut Topology) -> &mut Arc<Places>, found: &mut dyn FnMut(usize)| {
            let can_spare = |places: Range<usize>| {
                let mut without = topology.clone();
                places.for_each(|place| table(&mut without).remove(place));
                fits(&without)
            };
            halve(places, &can_spare, found);
        };
    find(1..topology.body_places(), |topology| &mut topology.bodies, &mut |place| {
        ends.extend(topology.body(place).map(End::Body));
    });
    find(0..topology.coordinate_places(), |topology| &mut topology.coordinates, &mut |place| {
        ends.extend(topology.coordinate(place).map(End::Coordinate));
    });
}

/// Calls `found` with each place in the range that cannot be spared.
fn halve(places: Range<usize>, can_spare: &dyn Fn(Range<usize>) -> bool, found: &mut dyn FnMut(usize)) {
    if places.is_empty() || can_spare(places.clone()) {
        return;
    }
    if places.len() == 1 {
        found(places.start);
        return;
    }
    let middle = places.start + places.len() / 2;
    halve(places.start..middle, can_spare, found);
    halve(middle..places.end, can_spare, found);
}
