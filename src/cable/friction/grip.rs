//! The memory of a cable with friction between accepted steps.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::framework::stored_variables;
use crate::math::{InvalidValue, Real, Requirement, check};

stored_variables! {
    /// The hold of one contact, or via point, on the cable at the last commit.
    ///
    /// A mark on the surface within the contact arc, and the fraction of the cable's material before it. While the contact
    /// sticks, the fraction is constant.
    #[derive(Copy, Lift)]
    pub struct Grip<T> {
        /// Whether there was contact. Without, nothing is remembered.
        pub in_contact: bool => Position;
        /// The start of the contact arc, in the body's frame.
        pub start: Point3<T> ["m"], finite => Position;
        /// Its end, in the body's frame.
        pub end: Point3<T> ["m"], finite => Position;
        /// The length of the cable on the surface before the mark.
        pub before: T ["m"], nonnegative => Position;
        /// The length of the cable on the surface after the mark.
        pub after: T ["m"], nonnegative => Position;
        /// The share of the cable's material before the mark.
        pub share: T, fraction => Position;
    }
    in "grips";
}

stored_variables! {
    /// A part of the cable wound on a drum on which it ends, with its own strain. Empty if its length is zero.
    #[derive(Copy, Lift)]
    pub struct Lap<T> {
        /// Its length.
        pub length: T ["m"], nonnegative => Position;
        /// Its share of the cable's material.
        pub share: T, fraction => Position;
    }
    in "laps";
}

stored_variables! {
    /// The memory of a cable with friction: a [`Grip`] for each via point and each contact that an obstacle
    /// [may have](crate::cable::Obstacle::with_most_contacts), in order along the path.
    pub struct Grips<T> {
        /// For each obstacle as many places as it may have contacts, vacant ones last; and one per via point.
        pub grips: Vec<Grip<T>> => Position;
        /// For each drum on which the cable begins or ends, a fixed number of laps from the fixed end outwards. They are
        /// scaled to the length and the fraction in the drum's grip.
        ///
        /// A lap turns by at most an eighth of a turn. Friction acts between the middles of laps: tension decreases from
        /// the free cable by the capstan equation, and below it the laps are held; cable that leaves the drum takes the
        /// strain of the free cable. There are at most 24 laps: beyond, laps of nearly equal strain are merged, with a loss
        /// of energy of second order in their difference. If a drum is touched several times, the contact at the fixed end
        /// is wound and the others have a mark each; while the cable lifts off at the fixed end, none of them has friction.
        pub laps: Vec<Lap<T>> => Position;
    }
    check |memory| memory.check_shares();
}

impl<T: Real> Grips<T> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.grips.fill(Grip::default());
        self.laps.fill(Lap::default());
    }

    /// Checks that there is material between neighbouring marks.
    fn check_shares(&self) -> Result<(), InvalidValue> {
        let mut before = T::zero();
        for grip in self.grips.iter().filter(|grip| grip.in_contact) {
            let must = Requirement::AtLeast("the share before it, and below 1");
            check::that(grip.share > before && grip.share < T::one(), "grips.share", grip.share, must)?;
            before = grip.share;
        }
        Ok(())
    }
}
