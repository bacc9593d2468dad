//! Numbers for time and for the variables of all elements.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use crate::framework::Error;
use crate::framework::element_variables::is_named;
use crate::framework::slots::Group;
use crate::framework::state::State;
use crate::framework::variables::Value;
use crate::math::{Real, clone_by_field};

/// One number for time and for each number of the variables of all elements: a small change of them, or derivatives by
/// them.
///
/// Flags have none. The derivatives by the nine entries of a rotation `R` are meaningful only in sums over `[θ]× R`,
/// their change by a rotation `θ`.
#[derive(Debug, PartialEq)]
pub struct VariableVector<T: Real> {
    /// That of time.
    pub time: T,
    pub(super) version: usize,
    numbers: Vec<T>,
    /// Where the parameters of each element begin, its discrete and its continuous variables, and the end.
    spans: Vec<[usize; 4]>,
}

clone_by_field!(VariableVector { time, version, numbers, spans });

/// The place of a number in a [`VariableVector`], as [`State::variable_place`] finds it. It is valid until bodies,
/// coordinates or elements are added to the system or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VariablePlace {
    /// `None` for time.
    index: Option<usize>,
    version: usize,
}

impl<T: Real> VariableVector<T> {
    /// Zeros for the variables of a state, and of all states of its system.
    pub fn zeros(state: &State<T>) -> Self {
        let spans: Vec<_> = state.spans().collect();
        let count = spans.last().map_or(0, |span| span[3]);
        Self { time: T::zero(), version: state.version, numbers: vec![T::zero(); count], spans }
    }

    /// The number at a place.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the place is of another system, or of this one before something was added or removed.
    pub fn number(&self, place: VariablePlace) -> Result<T, Error> {
        self.check(place)?;
        Ok(place.index.map_or(self.time, |index| self.numbers[index]))
    }

    /// The number at a place, to write.
    ///
    /// # Errors
    /// As [`number`](Self::number).
    pub fn number_mut(&mut self, place: VariablePlace) -> Result<&mut T, Error> {
        self.check(place)?;
        Ok(match place.index {
            Some(index) => &mut self.numbers[index],
            None => &mut self.time,
        })
    }

    /// All numbers but that of time.
    pub fn numbers(&self) -> &[T] {
        &self.numbers
    }

    /// All numbers except that of time, mutable.
    pub fn numbers_mut(&mut self) -> &mut [T] {
        &mut self.numbers
    }

    /// The numbers of the continuous variables of elements, without absorbed energies: in the order of [`State::continuous`]
    /// after its first [`absorbed_energy().len()`](State::absorbed_energy) numbers.
    pub fn continuous(&self) -> impl Iterator<Item = &T> + '_ {
        self.spans.iter().flat_map(|span| &self.numbers[span[2]..span[3]])
    }

    /// The numbers that [`continuous`](Self::continuous) gives, to write.
    pub fn continuous_mut(&mut self) -> impl Iterator<Item = &mut T> + '_ {
        let (mut rest, mut before) = (self.numbers.as_mut_slice(), 0);
        self.spans.iter().flat_map(move |span| {
            let &[_, _, start, end] = span;
            let (_, from) = core::mem::take(&mut rest).split_at_mut(start - before);
            let (own, after) = from.split_at_mut(end - start);
            (rest, before) = (after, end);
            own
        })
    }

    /// Sets every number to zero.
    pub fn set_zero(&mut self) {
        self.time = T::zero();
        self.numbers.fill(T::zero());
    }

    fn check(&self, place: VariablePlace) -> Result<(), Error> {
        if place.version == self.version { Ok(()) } else { Err(Error::TopologyMismatch) }
    }
}

/// For products.
impl<T: Real> VariableVector<T> {
    /// The number by which a [column](crate::Column::Variable) is multiplied. Zero if the element does not have it.
    #[inline]
    pub(super) fn of_column(&self, element: usize, variable: usize) -> T {
        match variable.checked_sub(1) {
            None => self.time,
            Some(number) => {
                let [start, .., end] = self.spans[element];
                self.numbers[start..end].get(number).copied().unwrap_or_else(T::zero)
            }
        }
    }

    /// Adds to the number of a [column](crate::Column::Variable), if the element has it.
    #[inline]
    pub(super) fn add_to_column(&mut self, element: usize, variable: usize, number: T) {
        match variable.checked_sub(1) {
            None => self.time += number,
            Some(place) => {
                let [start, .., end] = self.spans[element];
                add(&mut self.numbers[start..end], place, number);
            }
        }
    }

    /// Zeros for the rates of one element, and for its discrete variables if it commits.
    pub(super) fn begin_products(&mut self, element: usize, commits: bool) {
        let [discrete, continuous] = self.memory_of_mut(element);
        continuous.fill(T::zero());
        if commits {
            discrete.fill(T::zero());
        }
    }

    /// The discrete and the continuous variables of one element.
    #[inline]
    pub(super) fn memory_of(&self, element: usize) -> [&[T]; 2] {
        let [_, discrete, continuous, end] = self.spans[element];
        [&self.numbers[discrete..continuous], &self.numbers[continuous..end]]
    }

    /// The discrete and the continuous variables of one element, to write.
    #[inline]
    pub(super) fn memory_of_mut(&mut self, element: usize) -> [&mut [T]; 2] {
        let [_, discrete, continuous, end] = self.spans[element];
        self.numbers[discrete..end].split_at_mut(continuous - discrete).into()
    }
}

/// Adds to a number, if it is there.
#[inline]
pub(super) fn add<T: Real>(numbers: &mut [T], place: usize, number: T) {
    if let Some(sum) = numbers.get_mut(place) {
        *sum += number;
    }
}

impl<T: Real> State<T> {
    /// The place in a [`VariableVector`] of time or of a variable of an element, by its name as
    /// [`linearized_variables`](Self::linearized_variables) lists it: `time`, `exponential_spring[3].mu_kinetic`. Flags and
    /// absorbed energies have none.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`] if there is no number of this name.
    pub fn variable_place(&self, name: &str) -> Result<VariablePlace, Error> {
        let version = self.version;
        if name == "time" {
            return Ok(VariablePlace { index: None, version });
        }
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        let (id, field) = self.find(name).ok_or_else(no_such)?;
        let start = self.spans().nth(self.slot_at(id.kind(), id.place())).map_or(0, |[start, ..]| start);
        let (mut number, mut found) = (0, None);
        self.kinds[id.kind()].visit(id.place(), Group::Variables, &mut |entry| {
            if let Value::Number(_) = entry.value {
                if is_named(entry.name, field) {
                    found = Some(number);
                }
                number += 1;
            }
        });
        let place = found.map(|number| VariablePlace { index: Some(start + number), version });
        place.ok_or_else(no_such)
    }

    /// The numbers of all elements, vacant places included.
    fn spans(&self) -> impl Iterator<Item = [usize; 4]> + '_ {
        let places = self.kinds.iter().flat_map(|slots| {
            let places = &slots.roster().places;
            let counts = move |place| places.stamp(place).map_or([0; 3], |_| slots.counts(place));
            (0..places.len()).map(counts)
        });
        places.scan(0, |end, [parameters, discrete, continuous]| {
            let start = *end;
            let span = [start, start + parameters, start + parameters + discrete];
            *end = span[2] + continuous;
            Some([span[0], span[1], span[2], *end])
        })
    }
}
