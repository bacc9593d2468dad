//! Derivatives of the memory of a cable with friction after a commit.

use nalgebra::RowVector6;

use crate::cable::friction::remember::{NextMark, remember};
use crate::cable::friction::strand_derivatives::{
    DIRECTIONS, Evaluated, StrandDerivatives, StrandMotion, Varied, joined,
};
use crate::cable::model::path::PlacedPath;
use crate::math::{Dual, Number, Real};

impl<T: Real> StrandDerivatives<T> {
    /// Calls `visit` with the numbers of marks and laps after the next commit, each identified by its kind and axis,
    /// with their derivatives along the last motion.
    pub(crate) fn next_memory(
        &mut self,
        cable: &Evaluated<'_, T>,
        mut visit: impl FnMut(StrandMotion, usize, &[T; DIRECTIONS]),
    ) {
        let Evaluated { placed: PlacedPath { path, .. }, positions, results, grips, .. } = *cable;
        let zero = RowVector6::zeros();
        let length_of = |segment: usize| {
            let mut length = Dual::of(results.segments[segment].length);
            if let Some(motion) = self.moved {
                length.slopes = joined(&self.path.change_of_length(segment, motion), &zero);
            }
            length
        };
        let arc_after = |segment: usize| {
            let contact = results.segments[segment].to_contact.and_then(|i| results.contacts.get(i));
            let mut arc = Dual::of(contact.map_or(T::zero(), |contact| contact.geodesic.length));
            if let Some(motion) = self.moved {
                arc.slopes = joined(&self.path.change_after(segment, motion).arc, &zero);
            }
            arc.max(Dual::zero())
        };
        self.marks.clear();
        self.memory.clone_from(grips);
        let (marks, memory) = (&mut self.marks, &mut self.memory);
        let on_laps = |end: usize, laps: &[[Varied<T>; 2]]| {
            for (lap, i) in laps.iter().zip(path.laps_of(end)) {
                for (k, number) in lap.iter().enumerate() {
                    visit(StrandMotion::Lap(i, k), 0, &number.slopes);
                }
            }
        };
        let (solution, lengths) = ((results, positions), (length_of, arc_after));
        remember(path, solution, &self.parts, lengths, memory, |mark| marks.push(mark), on_laps);
        for mark in self.marks.iter().filter(|mark| self.memory.grips[mark.place].in_contact) {
            let NextMark { body, place, segment, before, after, share } = *mark;
            if let Some(motion) = self.moved {
                let R_BG = positions.pose(body).rotation.inverse();
                let on_body = self.path.change_after(segment, motion).on_body;
                let ends = [StrandMotion::Start(place), StrandMotion::End(place)];
                for (number, shifts) in ends.into_iter().zip(on_body) {
                    let shifts = R_BG.matrix() * shifts;
                    for axis in 0..3 {
                        let row = shifts.fixed_rows::<1>(axis).into_owned();
                        visit(number, axis, &joined(&row, &zero));
                    }
                }
            }
            visit(StrandMotion::Before(place), 0, &before.slopes);
            visit(StrandMotion::After(place), 0, &after.slopes);
            visit(StrandMotion::Share(place), 0, &share.slopes);
        }
    }
}
