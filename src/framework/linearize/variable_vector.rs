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

/// One number for time and one for each number of the variables of all elements: small changes of them, or derivatives by
/// them.
///
/// Flags have no number. The derivatives by the nine entries of a rotation `R` are meaningful only in sums over `[θ]× R`,
/// the change of the entries by a rotation `θ`.
#[derive(Debug, PartialEq)]
pub struct VariableVector<T: Real> {
    /// The number of time.
    pub time: T,
    pub(super) version: usize,
    numbers: Vec<T>,
    /// For each element, the beginnings of its parameters, its discrete and its continuous variables, and the end.
    spans: Vec<[usize; 4]>,
}

clone_by_field!(VariableVector { time, version, numbers, spans });

impl<T: Real> VariableVector<T> {
    /// Zeros for the variables of a state, and so of all states of its system.
    pub fn zeros(state: &State<T>) -> Self {
        let spans: Vec<_> = state.spans().collect();
        let count = spans.last().map_or(0, |span| span[3]);
        Self { time: T::zero(), version: state.version, numbers: vec![T::zero(); count], spans }
    }

    /// The number of time or of a variable of an element, by its name as
    /// [`linearized_variables`](State::linearized_variables) lists it: `time`, `exponential_spring[3].mu_kinetic`. Flags
    /// and absorbed energies have no number.
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`] if no number has this name; [`Error::TopologyMismatch`] if the state belongs to another
    /// system, or to another version of this one, with other elements, bodies or coordinates.
    pub fn number(&self, state: &State<T>, name: &str) -> Result<T, Error> {
        Ok(self.place(state, name)?.map_or(self.time, |place| self.numbers[place]))
    }

    /// The mutable counterpart of [`number`](Self::number).
    ///
    /// # Errors
    /// As [`number`](Self::number).
    pub fn number_mut(&mut self, state: &State<T>, name: &str) -> Result<&mut T, Error> {
        Ok(match self.place(state, name)? {
            Some(place) => &mut self.numbers[place],
            None => &mut self.time,
        })
    }

    /// The place of a number; `None` for time.
    fn place(&self, state: &State<T>, name: &str) -> Result<Option<usize>, Error> {
        if state.version != self.version {
            return Err(Error::TopologyMismatch);
        }
        if name == "time" {
            return Ok(None);
        }
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        let (id, field) = state.find(name).ok_or_else(no_such)?;
        let (mut numbers, mut found) = (self.spans[state.slot(id)?][0].., None);
        state.kinds[id.kind()].visit(id.place(), Group::Variables, &mut |entry| {
            if let Value::Number(_) = entry.value {
                let number = numbers.next();
                found = if is_named(entry.name, field) { number } else { found };
            }
        });
        found.map(Some).ok_or_else(no_such)
    }

    /// All numbers except that of time.
    pub fn numbers(&self) -> &[T] {
        &self.numbers
    }

    /// All numbers except that of time, mutable.
    pub fn numbers_mut(&mut self) -> &mut [T] {
        &mut self.numbers
    }

    /// The places in [`numbers`](Self::numbers) of the continuous variables of elements, without absorbed energies, in
    /// the order of [`State::continuous`] after its first [`absorbed_energy().len()`](State::absorbed_energy) numbers.
    pub fn continuous_places(&self) -> impl Iterator<Item = usize> + '_ {
        self.spans.iter().flat_map(|span| span[2]..span[3])
    }

    /// Sets every number to zero.
    pub fn set_zero(&mut self) {
        self.time = T::zero();
        self.numbers.fill(T::zero());
    }
}

/// Access for products, with the rows and columns of a linearization of the same version of the system.
impl<T: Real> VariableVector<T> {
    /// The number by which a [column](crate::Column::Variable) is multiplied.
    #[inline]
    pub(super) fn of_column(&self, element: usize, variable: usize) -> T {
        if variable == 0 { self.time } else { self.of_group(element, 0, variable - 1) }
    }

    /// The mutable counterpart of [`of_column`](Self::of_column).
    #[inline]
    pub(super) fn of_column_mut(&mut self, element: usize, variable: usize) -> &mut T {
        if variable == 0 { &mut self.time } else { self.of_group_mut(element, 0, variable - 1) }
    }

    /// A number of one element, counted from its first variable, or its first discrete or continuous variable.
    #[inline]
    pub(super) fn of_group(&self, element: usize, group: usize, number: usize) -> T {
        self.numbers[self.spans[element][group] + number]
    }

    /// The mutable counterpart of [`of_group`](Self::of_group).
    #[inline]
    pub(super) fn of_group_mut(&mut self, element: usize, group: usize, number: usize) -> &mut T {
        &mut self.numbers[self.spans[element][group] + number]
    }

    /// Zeros for the rates of one element, and for its discrete variables if it commits.
    pub(super) fn begin_products(&mut self, element: usize, commits: bool) {
        let [_, discrete, continuous, end] = self.spans[element];
        self.numbers[if commits { discrete } else { continuous }..end].fill(T::zero());
    }
}

impl<T: Real> State<T> {
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
