//! Derivatives of the memory of a cable with friction after a commit.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::RowVector6;

use crate::cable::friction::drum::Wound;
use crate::cable::friction::remember::{Memory, NextMark, remember};
use crate::cable::friction::strand_derivatives::{
    DIRECTIONS, Evaluated, GripNumbers, StrandDerivatives, StrandMotion, Varied, joined,
};
use crate::cable::model::path::PlacedPath;
use crate::math::{Dual, Number, Real};

impl<T: Real> StrandDerivatives<T> {
    /// Calls `visit` with the numbers of marks and laps after the next commit, each identified by its kind and axis,
    /// with their derivatives along the last motion.
    pub(crate) fn next_memory(
        &mut self,
        cable: &Evaluated<'_, T>,
        visit: impl FnMut(StrandMotion, usize, &[T; DIRECTIONS]),
    ) {
        let Evaluated { placed: PlacedPath { path, .. }, results, .. } = *cable;
        let mut pending = core::mem::take(&mut self.next);
        let mut next = Next { cable, derivatives: self, pending: &mut pending, visit };
        remember(path, results, &self.parts, &mut next);
        self.next = pending;
    }
}

/// The next memory, in derivatives.
struct Next<'a, T: Real, V> {
    cable: &'a Evaluated<'a, T>,
    derivatives: &'a StrandDerivatives<T>,
    /// The marks of the present hold.
    pending: &'a mut Vec<NextMark<Varied<T>>>,
    visit: V,
}

impl<T: Real, V: FnMut(StrandMotion, usize, &[T; DIRECTIONS])> Memory<Varied<T>> for Next<'_, T, V> {
    fn places(&self) -> usize {
        self.cable.grips.places.len()
    }

    fn marked(&self, places: Range<usize>) -> usize {
        self.cable.grips.places[places].iter().filter(|grip| grip.in_contact).count()
    }

    fn length(&self, segment: usize) -> Varied<T> {
        let mut length = Dual::of(self.cable.results.segments[segment].length);
        if let Some(motion) = self.derivatives.moved {
            let lengths = self.derivatives.path.change_of_length(segment, motion);
            length.slopes = joined(&lengths, &RowVector6::zeros());
        }
        length
    }

    fn arc(&self, segment: usize) -> Varied<T> {
        let results = self.cable.results;
        let contact = results.segments[segment].to_contact.and_then(|i| results.contacts.get(i));
        let mut arc = Dual::of(contact.map_or(T::zero(), |contact| contact.geodesic.length));
        if let Some(motion) = self.derivatives.moved {
            let arcs = self.derivatives.path.change_after(segment, motion).arc;
            arc.slopes = joined(&arcs, &RowVector6::zeros());
        }
        arc.max(Dual::zero())
    }

    fn keep(&mut self, mark: NextMark<Varied<T>>) {
        self.pending.push(mark);
    }

    fn wind(&mut self, end: usize, wound: Wound<Varied<T>>) {
        let first = self.cable.placed.path.laps_of(end).start;
        for (i, lap) in wound.laps().iter().enumerate() {
            for (k, number) in lap.iter().enumerate() {
                (self.visit)(StrandMotion::Lap(first + i, k), 0, &number.slopes);
            }
        }
    }

    fn vacate(&mut self, places: Range<usize>) {
        for mark in self.pending.drain(..).filter(|mark| !places.contains(&mark.place)) {
            let NextMark { body, place, segment, before, after, share } = mark;
            if let Some(motion) = self.derivatives.moved {
                let R_BG = self.cable.positions.pose(body).rotation.inverse();
                let on_body = self.derivatives.path.change_after(segment, motion).on_body;
                for (number, shifts) in [GripNumbers::Start, GripNumbers::End].into_iter().zip(on_body) {
                    let shifts = R_BG.matrix() * shifts;
                    for axis in 0..3 {
                        let row = shifts.fixed_rows::<1>(axis).into_owned();
                        let slopes = joined(&row, &RowVector6::zeros());
                        (self.visit)(StrandMotion::Grip(place, number), axis, &slopes);
                    }
                }
            }
            let numbers = [GripNumbers::Before, GripNumbers::After, GripNumbers::Share];
            for (number, next) in numbers.into_iter().zip([before, after, share]) {
                (self.visit)(StrandMotion::Grip(place, number), 0, &next.slopes);
            }
        }
    }
}
