//! Bodies and coordinates on which forces act and whose motion is read.

use alloc::vec::Vec;

use crate::mechanics::{BodyIndex, CoordinateIndex, Topology};

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

/// The bodies and coordinates without which `fits` fails, Ground first.
pub(super) fn needed_ends(topology: &Topology, fits: impl Fn(&Topology) -> bool) -> Vec<End> {
    let mut ends = Vec::from([End::Body(BodyIndex::GROUND)]);
    let mut without = topology.clone();
    for (place, stamp) in topology.bodies.iter().skip(1) {
        without.bodies.remove(place);
        if !fits(&without) {
            ends.extend(topology.body(place).map(End::Body));
        }
        without.bodies.put(place, stamp, None);
    }
    for (place, stamp) in topology.coordinates.iter() {
        without.coordinates.remove(place);
        if !fits(&without) {
            ends.extend(topology.coordinate(place).map(End::Coordinate));
        }
        without.coordinates.put(place, stamp, None);
    }
    ends
}
