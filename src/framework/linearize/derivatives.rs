//! Storage for the derivatives that the elements of one kind write.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;

use super::blocks::{Branch, Column, Row};
use super::ends::End;
use crate::framework::handle::Roster;
use crate::math::Real;

/// One block in the list, or the blocks of consecutive variables, with the place where its numbers begin. A block is
/// stored by rows; each row is by position and then by velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub(super) row: Row,
    pub(super) column: Column,
    pub(super) start: usize,
    /// The number of variables, starting with that of the column.
    pub(super) variables: usize,
}

/// The derivatives of the elements of one kind, in memory that is overwritten.
#[derive(Debug)]
pub(super) struct Derivatives<T> {
    pub(super) roster: Roster,
    /// By place.
    pub(super) elements: Vec<Slot>,
    pub(super) entries: Vec<Entry>,
    numbers: Vec<T>,
    /// The number of elements of `numbers` in use. The remainder is kept, since clearing the memory would take as long as
    /// writing it.
    used: usize,
    /// A sum over numbers of the present element, which is not finite if one of them is not.
    sum: T,
    /// The number of numbers of the present element in this sum.
    summed: usize,
    pub(super) branches: Vec<Branch<T>>,
    /// The memory that elements [share](super::Blocks::with_workspace).
    pub(super) workspace: Option<Box<dyn Any + Send + Sync>>,
}

/// The data of one element.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// The beginning and the end of its derivatives.
    pub(super) marks: [Mark; 2],
    /// The bodies and coordinates for finite differences; `None` while they are not known.
    pub(super) ends: Option<Vec<End>>,
    /// The numbers of parameters, discrete and continuous variables, which are the same in all states; `None` while they
    /// are not known.
    pub(super) counts: Option<[usize; 3]>,
    /// Whether each [part](super::differences::Part) was derived by the element, and not by differences.
    pub(super) are_exact: [bool; 3],
    /// Whether there are derivatives of a commit; if not, the discrete variables stay as they are.
    pub(super) commits: bool,
}

/// Counts of entries, numbers and branches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    pub(super) entries: usize,
    pub(super) numbers: usize,
    pub(super) branches: usize,
}

impl<T: Real> Derivatives<T> {
    /// Of the elements of a kind, which have yet to be written.
    pub(super) fn new(roster: &Roster) -> Self {
        let mut elements = Vec::new();
        elements.resize_with(roster.places.len(), Slot::default);
        Self {
            roster: roster.clone(),
            elements,
            entries: Vec::new(),
            numbers: Vec::new(),
            used: 0,
            sum: T::zero(),
            summed: 0,
            branches: Vec::new(),
            workspace: None,
        }
    }

    pub(super) fn numbers(&self) -> &[T] {
        &self.numbers[..self.used]
    }

    /// Where the next block begins.
    #[inline]
    pub(super) fn mark(&self) -> Mark {
        Mark { entries: self.entries.len(), numbers: self.used, branches: self.branches.len() }
    }

    /// Removes all blocks since a mark; branches stay.
    #[inline]
    pub(super) fn take_back(&mut self, to: Mark) {
        self.entries.truncate(to.entries);
        self.used = to.numbers;
        // The sum includes numbers that have been removed.
        self.sum = T::lit(f64::NAN);
    }

    pub(super) fn clear(&mut self) {
        self.take_back(Mark::default());
        self.branches.clear();
    }

    #[cold]
    fn grow(&mut self) {
        self.numbers.resize(self.used, T::zero());
    }

    /// Begins a block, or blocks of one row by consecutive variables starting with that of the column. Returns their
    /// numbers, variable after variable; the caller must write all of them.
    #[inline]
    pub(super) fn push(&mut self, row: Row, column: Column, variables: usize) -> &mut [T] {
        let start = self.used;
        self.reserve(variables * row.len() * column.len());
        if variables > 0 {
            self.entries.push(Entry { row, column, start, variables });
        }
        &mut self.numbers[start..self.used]
    }

    /// Begins blocks of these rows for each column. The caller must write all of their numbers, and add them to the sum,
    /// with either sign.
    #[inline]
    pub(super) fn push_summed<const N: usize>(
        &mut self,
        rows: [Row; N],
        columns: impl IntoIterator<Item = Column>,
        count: usize,
    ) -> (&mut [T], &mut T) {
        let start = self.used;
        for column in columns {
            for row in rows {
                self.entries.push(Entry { row, column, start: self.used, variables: 1 });
                self.used += count;
            }
        }
        self.summed += self.used - start;
        self.reserve(0);
        (&mut self.numbers[start..self.used], &mut self.sum)
    }

    /// Makes room for more numbers.
    #[inline]
    fn reserve(&mut self, count: usize) {
        self.used += count;
        if self.numbers.len() < self.used {
            self.grow();
        }
    }

    /// Begins an element anew, and returns its beginning.
    #[inline]
    pub(super) fn begin(&mut self, place: usize) -> Mark {
        (self.sum, self.summed) = (T::zero(), 0);
        let (mark, slot) = (self.mark(), &mut self.elements[place]);
        (slot.marks, slot.are_exact, slot.commits) = ([mark; 2], [true; 3], false);
        mark
    }

    /// Whether an element that began here has all variables that occur in its derivatives; `counts` has the numbers of
    /// its parameters, discrete and continuous variables.
    pub(super) fn are_of_variables_since(&self, begin: Mark, counts: [usize; 3]) -> bool {
        let last: usize = counts.iter().sum();
        self.entries[begin.entries..].iter().all(|entry| {
            let has_row = match entry.row {
                Row::Force(_) => true,
                Row::Rate(number) => number < counts[2],
                Row::Next(number) => number < counts[1],
            };
            let has_column = match entry.column {
                Column::Motion(_) => true,
                Column::Variable(first) => first <= last && entry.variables <= last + 1 - first,
            };
            has_row && has_column
        })
    }

    /// Whether all numbers of an element that began here are finite.
    #[inline]
    pub(super) fn are_finite_since(&self, begin: Mark) -> bool {
        // A sum of finite numbers may overflow; the numbers are then checked one by one.
        let numbers = &self.numbers()[begin.numbers..];
        (self.summed == numbers.len() && self.sum.is_finite()) || are_finite(numbers)
    }
}

/// Whether all numbers are finite.
#[inline]
fn are_finite<T: Real>(numbers: &[T]) -> bool {
    let (chunks, rest) = numbers.as_chunks::<16>();
    let [first, others @ ..] = chunks else { return rest.iter().all(T::is_finite) };
    // A number that is not finite makes the sum not finite. A sum of finite numbers may overflow; they are then checked
    // one by one.
    let mut sums = *first;
    for chunk in others {
        sums.iter_mut().zip(chunk).for_each(|(sum, &number)| *sum += number);
    }
    let sum = sums.iter().chain(rest).fold(T::zero(), |sum, &number| sum + number);
    sum.is_finite() || numbers.iter().all(T::is_finite)
}
