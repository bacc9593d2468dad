//! The loops over the elements of one kind: caches, sums, rates, and next discrete variables.

use core::ops::{Range, RangeInclusive};
#[cfg(feature = "rayon")]
use core::sync::atomic::{AtomicBool, Ordering};

use crate::framework::element::{AtDynamics, AtPosition, AtVelocity, ForceElement};
use crate::framework::element_variables::write_numbers;
use crate::framework::kinds::{AnyKind, Kind, Next};
use crate::framework::results::Cache;
use crate::framework::roster::Roster;
use crate::framework::slots::{Columns, Slots};
use crate::framework::stage::Stage;
#[cfg(feature = "rayon")]
use crate::framework::threads;
use crate::framework::variables::Variables;
use crate::framework::{ElementError, Error};
use crate::math::Real;
use crate::mechanics::{ForceAccumulator, Kinematics};

/// Fills the caches of the enabled elements from the place `first` on and resets the others; returns the first
/// failure by place. The closures take places relative to `first`.
#[inline]
fn fill<'a, T: Real, C: Cache<T>, E: 'a>(
    roster: &Roster,
    first: usize,
    caches: &mut [C],
    enabled: impl Fn(usize) -> Option<&'a E>,
    calc: impl Fn(&E, usize, &mut C) -> Result<(), ElementError>,
) -> Result<(), Error> {
    caches.iter_mut().enumerate().try_for_each(|(i, cache)| {
        if let Some(element) = enabled(i) {
            calc(element, i, cache).map_err(|source| roster.failure(first + i, source))
        } else {
            // `clone_from` lets a cache keep its buffers.
            cache.clone_from(&C::neutral());
            Ok(())
        }
    })
}

/// The caches of consecutive elements.
#[derive(Debug)]
pub(super) struct Piece<'a, T: Real, E: ForceElement<T>> {
    first: usize,
    position: &'a mut [E::Position],
    velocity: &'a mut [E::Velocity],
    dynamics: &'a mut [E::Dynamics],
}

impl<'a, T: Real, E: ForceElement<T>> Piece<'a, T, E> {
    /// Those at these places, with the variables of all elements.
    pub(super) fn of(slots: &'a mut Slots<T, E>, places: Range<usize>) -> (&'a Columns<T, E>, Self) {
        let Slots { variables, position, velocity, dynamics, .. } = slots;
        let first = places.start;
        let (position, velocity) = (&mut position[places.clone()], &mut velocity[places.clone()]);
        (variables, Self { first, position, velocity, dynamics: &mut dynamics[places] })
    }

    pub(super) fn results(&self) -> Results<'_, T, E> {
        Results {
            places: self.places(),
            position: self.position,
            velocity: self.velocity,
            dynamics: self.dynamics,
        }
    }

    pub(super) fn places(&self) -> Range<usize> {
        self.first..self.first + self.position.len()
    }

    #[cfg(feature = "rayon")]
    fn reborrow(&mut self) -> Piece<'_, T, E> {
        Piece { first: self.first, position: self.position, velocity: self.velocity, dynamics: self.dynamics }
    }

    /// The first `count` elements, and the others.
    #[cfg(feature = "rayon")]
    fn split(self, middle: usize) -> (Self, Self) {
        let (position, later_position) = self.position.split_at_mut(middle);
        let (velocity, later_velocity) = self.velocity.split_at_mut(middle);
        let (dynamics, later_dynamics) = self.dynamics.split_at_mut(middle);
        let later = Self {
            first: self.first + middle,
            position: later_position,
            velocity: later_velocity,
            dynamics: later_dynamics,
        };
        (Self { first: self.first, position, velocity, dynamics }, later)
    }
}

/// Results of consecutive elements, at all stages.
#[derive(Debug)]
pub(super) struct Results<'a, T: Real, E: ForceElement<T>> {
    pub(super) places: Range<usize>,
    pub(super) position: &'a [E::Position],
    pub(super) velocity: &'a [E::Velocity],
    pub(super) dynamics: &'a [E::Dynamics],
}

/// The number of elements that go through all stages together if those of a kind do not fit into the cache of a core.
pub(super) const BLOCK: usize = 256;

/// The size of caches of a kind that fit near a core, in bytes: a typical second-level cache.
const NEAR: usize = 1 << 20;

/// The least work that is shared with other threads, in nanoseconds: several times the wake-up time of a thread.
#[cfg(feature = "rayon")]
const WORTH_THREADS: usize = 60_000;

/// The number of consecutive parts in which elements are calculated while the previous part is summed.
#[cfg(feature = "rayon")]
const SHIFTS: usize = 16;

/// Divides a piece into parts of nearly equal length.
#[cfg(feature = "rayon")]
fn halve<T: Real, E: ForceElement<T>>(
    piece: Piece<'_, T, E>,
    parts: usize,
    calc: &(impl Fn(Piece<'_, T, E>) + Sync),
) {
    if parts < 2 {
        return calc(piece);
    }
    let (earlier, later) = (parts - parts / 2, parts / 2);
    let length = piece.position.len();
    let (mut before, mut after) = piece.split(length * earlier / parts);
    threads::join(&mut || halve(before.reborrow(), earlier, calc), &mut || {
        halve(after.reborrow(), later, calc);
    });
}

/// Loops over the elements at some places: all of them, a block or a single one.
///
/// Each calculation of an element has its only call site in one of these, so that the compiler inlines it, however long
/// it is. All slices have the same length, which removes the bounds checks from the loops.
impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// The bytes of the caches of these stages.
    fn cache_size(stages: &RangeInclusive<Stage>) -> usize {
        [
            (Stage::Position, size_of::<E::Position>()),
            (Stage::Velocity, size_of::<E::Velocity>()),
            (Stage::Dynamics, size_of::<E::Dynamics>()),
        ]
        .into_iter()
        .filter_map(|(stage, size)| stages.contains(&stage).then_some(size))
        .sum()
    }

    /// Places that go through these stages together: all, or blocks if the caches are large.
    pub(super) fn blocks(
        &self,
        stages: &RangeInclusive<Stage>,
    ) -> impl Iterator<Item = Range<usize>> + use<T, E> {
        let count = self.elements.len();
        let is_near = count * Self::cache_size(stages) <= NEAR;
        let length = if is_near { count.max(1) } else { BLOCK };
        (0..count).step_by(length).map(move |first| first..count.min(first + length))
    }

    /// The number of threads that pays off for these stages and this number of elements.
    #[cfg(feature = "rayon")]
    fn threads(count: usize, stages: &RangeInclusive<Stage>) -> usize {
        // An element with buffers of its own performs searches. For others the size of the results indicates the amount
        // of computation.
        let searches = core::mem::needs_drop::<(E::Position, E::Velocity, E::Dynamics)>();
        let work = if searches { 2000 } else { 10 + Self::cache_size(stages) / 12 };
        if count * work >= WORTH_THREADS { rayon::current_num_threads().min(count) } else { 1 }
    }

    /// Fills the caches of these stages, on several threads if that pays off. Returns the first failure by stage and
    /// place, for any number of threads.
    pub(super) fn calc_stages(
        &self,
        slots: &mut Slots<T, E>,
        places: Range<usize>,
        stages: RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let (variables, mut whole) = Piece::of(slots, places);
        #[cfg(feature = "rayon")]
        if self.calc_on_threads(variables, whole.reborrow(), &stages, kinematics) {
            return Ok(());
        }
        self.calc_piece(variables, &mut whole, &stages, kinematics)
    }

    /// Fills the caches of these stages on several threads. Returns whether that was done and succeeded; after a
    /// failure it is not known whether it is the first one.
    #[cfg(feature = "rayon")]
    fn calc_on_threads(
        &self,
        variables: &Columns<T, E>,
        whole: Piece<'_, T, E>,
        stages: &RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
    ) -> bool {
        let threads = Self::threads(whole.position.len(), stages);
        if threads < 2 {
            return false;
        }
        let has_failed = AtomicBool::new(false);
        halve(whole, threads, &|piece| self.calc_until(&has_failed, variables, piece, stages, kinematics));
        !has_failed.into_inner()
    }

    /// Likewise, and passes the elements in order to `sum` on one thread while the others calculate the next ones: sums
    /// must not depend on the number of threads.
    #[cfg(feature = "rayon")]
    pub(super) fn calc_and_sum_on_threads(
        &self,
        slots: &mut Slots<T, E>,
        stages: &RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
        sum: &mut (impl FnMut(&Columns<T, E>, &Piece<'_, T, E>) + Send),
    ) -> bool {
        let count = self.elements.len();
        let threads = Self::threads(count, stages);
        if threads < 2 {
            return false;
        }
        let (variables, mut whole) = Piece::of(slots, 0..count);
        let has_failed = AtomicBool::new(false);
        let calc =
            |piece: Piece<'_, T, E>| self.calc_until(&has_failed, variables, piece, stages, kinematics);
        let length = BLOCK.max(count.div_ceil(SHIFTS));
        let mut is_done = false;
        let mut in_shifts = || {
            let (mut present, mut rest) = whole.reborrow().split(length.min(count));
            halve(present.reborrow(), threads, &calc);
            while !has_failed.load(Ordering::Relaxed) {
                let (mut next, later) = {
                    let length = length.min(rest.position.len());
                    rest.split(length)
                };
                threads::join(&mut || sum(variables, &present), &mut || {
                    halve(next.reborrow(), 2 * threads, &calc);
                });
                if next.position.is_empty() {
                    is_done = true;
                    return;
                }
                (present, rest) = (next, later);
            }
        };
        // On a thread of the pool from the beginning, since handing work to one takes microseconds.
        threads::join(&mut in_shifts, &mut || ());
        is_done
    }

    /// Fills the caches of a piece, block by block, until one has failed here or elsewhere.
    #[cfg(feature = "rayon")]
    fn calc_until(
        &self,
        has_failed: &AtomicBool,
        variables: &Columns<T, E>,
        piece: Piece<'_, T, E>,
        stages: &RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
    ) {
        let mut rest = piece;
        while !rest.position.is_empty() && !has_failed.load(Ordering::Relaxed) {
            let (mut block, others) = {
                let length = BLOCK.min(rest.position.len());
                rest.split(length)
            };
            if self.calc_piece(variables, &mut block, stages, kinematics).is_err() {
                has_failed.store(true, Ordering::Relaxed);
            }
            rest = others;
        }
    }

    pub(super) fn calc_piece(
        &self,
        variables: &Columns<T, E>,
        piece: &mut Piece<'_, T, E>,
        stages: &RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        if stages.contains(&Stage::Position) {
            self.calc_position(variables, piece, kinematics)?;
        }
        if stages.contains(&Stage::Velocity) {
            self.calc_velocity(variables, piece, kinematics)?;
        }
        if stages.contains(&Stage::Dynamics) {
            self.calc_dynamics(variables, piece, kinematics)?;
        }
        Ok(())
    }

    fn calc_position(
        &self,
        variables: &Columns<T, E>,
        piece: &mut Piece<'_, T, E>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let elements = &self.elements[piece.places()];
        let variables = variables.rows(piece.places());
        fill::<T, _, _>(
            &self.roster,
            piece.first,
            piece.position,
            |i| elements[i].as_ref().filter(|_| variables.enabled[i]),
            |element, i, cache| element.calc_position(&variables.given(i, kinematics), cache),
        )
    }

    fn calc_velocity(
        &self,
        variables: &Columns<T, E>,
        piece: &mut Piece<'_, T, E>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let elements = &self.elements[piece.places()];
        let variables = variables.rows(piece.places());
        let position = &piece.position[..elements.len()];
        fill::<T, _, _>(
            &self.roster,
            piece.first,
            &mut piece.velocity[..elements.len()],
            |i| elements[i].as_ref().filter(|_| variables.enabled[i]),
            |element, i, cache| {
                let at = AtPosition { given: variables.given(i, kinematics), position: &position[i] };
                element.calc_velocity(&at, &kinematics.velocities, cache)
            },
        )
    }

    fn calc_dynamics(
        &self,
        variables: &Columns<T, E>,
        piece: &mut Piece<'_, T, E>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let elements = &self.elements[piece.places()];
        let variables = variables.rows(piece.places());
        let position = &piece.position[..elements.len()];
        let velocity = &piece.velocity[..elements.len()];
        fill::<T, _, _>(
            &self.roster,
            piece.first,
            &mut piece.dynamics[..elements.len()],
            |i| elements[i].as_ref().filter(|_| variables.enabled[i]),
            |element, i, cache| {
                let at_position =
                    AtPosition { given: variables.given(i, kinematics), position: &position[i] };
                let velocities = &kinematics.velocities;
                element.calc_dynamics(&AtVelocity { at_position, velocities, velocity: &velocity[i] }, cache)
            },
        )
    }

    /// Adds forces to an accumulator, energies to others, and writes the power absorbed by each element. In order of
    /// place, since sums must not depend on the number of threads. Returns whether all sums are finite.
    pub(super) fn sum(
        &self,
        variables: &Columns<T, E>,
        results: Results<'_, T, E>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        [potential_energy, total_dissipated]: [&mut T; 2],
        power_absorbed: &mut [T],
    ) -> bool {
        // Locals stay in registers, arguments would not.
        let mut accumulator = accumulator;
        let (mut stored, mut power_dissipated) = (*potential_energy, *total_dissipated);
        let mut total_absorbed = T::zero();
        let elements = &self.elements[results.places.clone()];
        let variables = variables.rows(results.places);
        let velocities = &kinematics.velocities;
        let position = &results.position[..elements.len()];
        let velocity = &results.velocity[..elements.len()];
        let dynamics = &results.dynamics[..elements.len()];
        let power_absorbed = &mut power_absorbed[..elements.len()];
        for (i, power_absorbed) in power_absorbed.iter_mut().enumerate() {
            *power_absorbed = T::zero();
            if let Some(element) = elements[i].as_ref().filter(|_| variables.enabled[i]) {
                let at_position =
                    AtPosition { given: variables.given(i, kinematics), position: &position[i] };
                let at_velocity = AtVelocity { at_position, velocities, velocity: &velocity[i] };
                let at = AtDynamics { at_velocity, dynamics: &dynamics[i] };
                element.add_forces(&at, &mut accumulator);
                *power_absorbed = element.power_supplied(&at) - accumulator.take_power();
                total_absorbed += *power_absorbed;
                stored += element.potential_energy(&at);
                power_dissipated += element.power_dissipated(&at);
            }
        }
        // One term that is not finite makes the sum not finite, so the terms need not be checked one by one.
        (*potential_energy, *total_dissipated) = (stored, power_dissipated);
        total_absorbed.is_finite() && stored.is_finite() && power_dissipated.is_finite()
    }

    /// Returns the first element whose energy or power is not finite, if any.
    ///
    /// The power of a non-finite force is not finite either, even at zero velocity. On Ground the power is zero; the
    /// sum of forces is checked.
    #[cold]
    pub(super) fn check_finite(
        &self,
        slots: &Slots<T, E>,
        kinematics: &Kinematics<T>,
        power_absorbed: &[T],
    ) -> Result<(), Error> {
        let mut failed = None;
        self.ask(slots, 0..self.elements.len(), kinematics, &mut |place, element| {
            let numbers = [power_absorbed[place], element.potential_energy(), element.power_dissipated()];
            if !numbers.iter().all(T::is_finite) {
                failed = failed.or(Some(place));
            }
        })?;
        failed.map_or(Ok(()), |place| Err(self.roster.failure(place, ElementError::NonFiniteForce)))
    }

    /// Fills the rates of the continuous variables.
    pub(super) fn write_rates(
        &self,
        slots: &mut Slots<T, E>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let mut all = core::mem::take(&mut slots.rates);
        let calculated = places.clone().zip(&mut all[places]).try_for_each(|(i, rates)| {
            write_numbers(rates, &mut T::zero);
            let Some(element) = self.enabled_element(slots, i) else { return Ok(()) };
            let mut is_finite = true;
            element
                .calc_rates(&slots.at_dynamics(i, kinematics), rates)
                .and_then(|()| {
                    rates.visit(&mut |entry| is_finite &= entry.value.number().is_finite());
                    if is_finite { Ok(()) } else { Err(ElementError::NonFiniteRate) }
                })
                .map_err(|source| self.roster.failure(i, source))
        });
        slots.rates = all;
        calculated
    }

    /// Writes the next discrete variables of every enabled element, on several threads if that pays off; those of the others
    /// are copies of the present ones. Returns the largest force error, or the first failure by place.
    pub(super) fn write_next(
        &self,
        slots: &mut Slots<T, E>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
        purpose: Next<'_, T>,
    ) -> Result<T, Error> {
        let mut next_discrete = core::mem::take(&mut slots.next_discrete);
        let (first, next) = (places.start, &mut next_discrete[places]);
        #[cfg(feature = "rayon")]
        let on_threads = {
            let threads = Self::threads(next.len(), &(Stage::Dynamics..=Stage::Dynamics));
            if threads < 2 {
                None
            } else {
                self.write_on_threads(slots, first, next, kinematics, purpose, threads)
            }
        };
        #[cfg(not(feature = "rayon"))]
        let on_threads = None;
        let written = match on_threads {
            Some(largest) => Ok(largest),
            None => self.write_part(slots, first, next, kinematics, purpose),
        };
        slots.next_discrete = next_discrete;
        written
    }

    /// Divided into parts of nearly equal length; `None` if an element fails.
    #[cfg(feature = "rayon")]
    fn write_on_threads(
        &self,
        slots: &Slots<T, E>,
        first: usize,
        next: &mut [E::Discrete],
        kinematics: &Kinematics<T>,
        purpose: Next<'_, T>,
        parts: usize,
    ) -> Option<T> {
        if parts < 2 {
            return self.write_part(slots, first, next, kinematics, purpose).ok();
        }
        let (earlier, later) = (parts - parts / 2, parts / 2);
        let middle = next.len() * earlier / parts;
        let (before, after) = next.split_at_mut(middle);
        let write_part = |first, next: &mut [_], parts| {
            self.write_on_threads(slots, first, next, kinematics, purpose, parts)
        };
        let (mut largest_before, mut largest_after) = (None, None);
        threads::join(&mut || largest_before = write_part(first, before, earlier), &mut || {
            largest_after = write_part(first + middle, after, later);
        });
        Some(largest_before?.max(largest_after?))
    }

    fn write_part(
        &self,
        slots: &Slots<T, E>,
        first: usize,
        next: &mut [E::Discrete],
        kinematics: &Kinematics<T>,
        purpose: Next<'_, T>,
    ) -> Result<T, Error> {
        let start = match purpose {
            Next::Update(start) => Some(Slots::<T, E>::downcast(start)?),
            _ => None,
        };
        let is_step = matches!(purpose, Next::Step | Next::TrialStep);
        let commits = matches!(purpose, Next::Step | Next::Update(_));
        let places = first..first + next.len();
        let elements = &self.elements[places.clone()];
        let variables = slots.variables.rows(places.clone());
        let position = &slots.position[places.clone()];
        let velocity = &slots.velocity[places.clone()];
        let dynamics = &slots.dynamics[places];
        let velocities = &kinematics.velocities;
        let mut largest = T::zero();
        (0..elements.len()).try_for_each(|i| {
            next[i].clone_from(&variables.discrete[i]);
            let Some(element) = elements[i].as_ref().filter(|_| variables.enabled[i]) else { return Ok(()) };
            let at_position = AtPosition { given: variables.given(i, kinematics), position: &position[i] };
            let at_velocity = AtVelocity { at_position, velocities, velocity: &velocity[i] };
            let at = AtDynamics { at_velocity, dynamics: &dynamics[i] };
            let (next, place) = (&mut next[i], first + i);
            let mut write = || {
                if is_step {
                    element.accept_step(&at, next)?;
                } else {
                    let start = start.map_or(at.discrete, |start| &start.variables.discrete[place]);
                    let error = element.discontinuous_update(&at, start, next)?;
                    if !error.is_finite() {
                        return Err(ElementError::NonFiniteForce);
                    }
                    largest = largest.max(error);
                }
                if commits {
                    next.validate()?;
                }
                Ok(())
            };
            write().map_err(|source| self.roster.failure(place, source))
        })?;
        Ok(largest)
    }
}
