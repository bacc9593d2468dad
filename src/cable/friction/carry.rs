//! The lengths with which strands go on after a commit.
//!
//! Within a step a strand is measured between the points of the last commit. Where the cable slides sideways over a surface, these
//! points are no longer on it, and its length is off in second order, with one sign. From one commit to the next the length of a
//! strand whose contacts stick changes by the mean of two changes: of the line between the points of the last commit, and of that
//! between the present ones, carried back to the poses of the last commit. The error of a step is of third order.

use alloc::vec::Vec;

use nalgebra::Vector3;

use crate::cable::friction::strand_law::{Strand, distribute_length};
use crate::math::{Number, Real, dot};

/// The straight part of a strand, in Ground.
pub(crate) struct Straight<S> {
    /// Its ends on the present path.
    pub(crate) now: [Vector3<S>; 2],
    /// Those of the last commit, moved with the bodies.
    pub(crate) then: [Vector3<S>; 2],
    /// Its unit direction at the last commit, turned with the body of its start and that of its end; zero at an end that does
    /// not slide.
    pub(crate) directions: [Vector3<S>; 2],
}

impl<S: Number> Straight<S> {
    /// What the mean of both changes is more than the change of the line between the points of the last commit.
    fn correction(&self) -> S {
        let [now, then] = [&self.now, &self.then].map(|[from, to]| to - from);
        let [from, to] = [0, 1].map(|k| dot(&self.directions[k], &(self.now[k] - self.then[k])));
        let apart = now - then;
        let (length, was) = (dot(&now, &now).sqrt(), dot(&then, &then).sqrt());
        // As long as it would have been at the last commit.
        let back = was * was + S::lit(2.0) * was * (to - from) + dot(&apart, &apart);
        S::lit(0.5) * (length - back.max(S::zero()).sqrt())
    }
}

/// Writes the strands with the lengths with which they go on, which add up to that of the path; `straight` is the straight part of
/// a strand, if the path still has it.
pub(crate) fn carry<T: Real, S: Number<Scalar = T>>(
    strands: &[Strand<S>],
    length: S,
    straight: impl Fn(usize) -> Option<Straight<S>>,
    carried: &mut Vec<Strand<S>>,
) {
    carried.clear();
    carried.extend(strands.iter().enumerate().map(|(k, strand)| {
        let correction = straight(k).map_or(S::zero(), |straight| straight.correction());
        // However long the step, some length remains.
        Strand { length: strand.length + correction.max(strand.length * S::lit(-0.5)), ..*strand }
    }));
    if carried.len() > 1 {
        distribute_length(carried, length);
    }
}
