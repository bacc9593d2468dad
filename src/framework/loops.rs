//! The loops over the elements of one kind, on one thread or several: caches, sums, and next discrete variables.

use core::ops::{Range, RangeInclusive};

use crate::framework::element_variables::check_fits;
use crate::framework::kinds::{AnyKind, Kind, Next};
use crate::framework::slots::{Columns, Results, Slots};
use crate::framework::{
    AtPosition, AtVelocity, ElementError, ElementResult, Error, ForceElement, Given, Stage, State, threads,
};
use crate::math::Real;
use crate::mechanics::{ForceAccumulator, Kinematics};

/// The number of elements that go through all stages together, so that their results stay in the cache of a core.
pub(super) const BLOCK: usize = 256;

/// The least work that is shared with other threads, in nanoseconds: several times the wake-up time of a thread.
const WORTH_THREADS: usize = 60_000;

/// The number of consecutive parts in which elements are calculated while the previous part is summed.
pub(super) const SHIFTS: usize = 16;

/// Loops over the elements at some places: all of them, a block or a single one.
///
/// Each calculation of an element has its only call site in one of these loops, so that the compiler inlines it, however
/// long it is. All slices have the same length, which removes the bounds checks from the loops.
impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// The enabled elements at these places with their variables; `None` for the others.
    #[inline]
    fn enabled<'a>(
        &'a self,
        variables: &'a Columns<T, E>,
        places: Range<usize>,
        kinematics: &'a Kinematics<T>,
    ) -> impl Iterator<Item = Option<(&'a E, Given<'a, T, E>)>> + Clone {
        // All slices have one length, so that the loops check no bounds.
        let elements = &self.elements[places.clone()];
        let is_enabled = &variables.enabled[places.clone()];
        let parameters = &variables.parameters[places.clone()];
        let discrete = &variables.discrete[places.clone()];
        let continuous = &variables.continuous[places];
        let Kinematics { time, positions, .. } = kinematics;
        (0..elements.len()).map(move |i| {
            let element = elements[i].as_ref().filter(|_| is_enabled[i])?;
            let (parameters, discrete, continuous) = (&parameters[i], &discrete[i], &continuous[i]);
            Some((element, Given { parameters, discrete, continuous, time: *time, positions }))
        })
    }

    /// The bytes of the caches of these stages.
    fn cache_size(stages: &RangeInclusive<Stage>) -> usize {
        let size = |stage, size| if stages.contains(&stage) { size } else { 0 };
        size(Stage::Position, size_of::<E::Position>())
            + size(Stage::Velocity, size_of::<E::Velocity>())
            + size(Stage::Dynamics, size_of::<E::Dynamics>())
    }

    /// The number of threads that is worthwhile for these stages and this number of elements.
    pub(super) fn threads(count: usize, stages: &RangeInclusive<Stage>) -> usize {
        // An element with buffers of its own performs searches. For other elements the size of the results indicates the
        // amount of computation.
        let searches = core::mem::needs_drop::<(E::Position, E::Velocity, E::Dynamics)>();
        let work = if searches { 2000 } else { 10 + Self::cache_size(stages) / 12 };
        if count * work >= WORTH_THREADS { threads::count().min(count) } else { 1 }
    }

    /// Fills the caches of these stages on several threads, and passes the elements in order, this many at once, to `sum`
    /// on one thread while the others calculate the next ones, so that sums do not depend on the number of threads.
    /// Returns whether that was done and succeeded. A failure that it found need not be the first one.
    pub(super) fn calc_on_threads(
        &self,
        variables: &Columns<T, E>,
        (first, results): (usize, &mut [Results<T, E>]),
        stages: &RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
        at_once: usize,
        sum: &mut (impl FnMut(usize, &[Results<T, E>]) + Send),
    ) -> bool {
        let threads = Self::threads(results.len(), stages);
        if threads < 2 {
            return false;
        }
        // Block by block, until one fails.
        let calc = |first: usize, results: &mut [_]| {
            let mut blocks = results.chunks_mut(BLOCK).enumerate();
            blocks.all(|(i, block)| {
                self.calc_part(variables, first + i * BLOCK, block, stages, kinematics).is_ok()
            })
        };
        let mut shifts = results.chunks_mut(at_once);
        let mut is_done = false;
        let mut in_shifts = || {
            let (mut first, mut present) = (first, shifts.next().unwrap_or_default());
            let mut has_succeeded = threads::halve(first, present, threads, &calc, |a, b| a && b);
            while has_succeeded {
                let (later, next) = (first + present.len(), shifts.next().unwrap_or_default());
                threads::join(&mut || sum(first, present), &mut || {
                    has_succeeded = threads::halve(later, next, 2 * threads, &calc, |a, b| a && b);
                });
                if next.is_empty() {
                    is_done = true;
                    return;
                }
                (first, present) = (later, next);
            }
        };
        // On a thread of the pool from the beginning, since passing work to one takes microseconds.
        threads::join(&mut in_shifts, &mut || ());
        is_done
    }

    /// Fills the caches of consecutive elements, starting at the place `first`, stage by stage. Returns the first failure
    /// by stage and place.
    pub(super) fn calc_part(
        &self,
        variables: &Columns<T, E>,
        first: usize,
        results: &mut [Results<T, E>],
        stages: &RangeInclusive<Stage>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let enabled = self.enabled(variables, first..first + results.len(), kinematics);
        let velocities = &kinematics.velocities;
        if stages.contains(&Stage::Position) {
            self.fill(first, results, enabled.clone(), |element, given, Results { position, .. }| {
                element.calc_position(&given, position)
            })?;
        }
        if stages.contains(&Stage::Velocity) {
            self.fill(
                first,
                results,
                enabled.clone(),
                |element, given, Results { position, velocity, .. }| {
                    element.calc_velocity(&AtPosition { given, velocities, position }, velocity)
                },
            )?;
        }
        if stages.contains(&Stage::Dynamics) {
            self.fill(first, results, enabled, |element, given, results| {
                let Results { position, velocity, dynamics } = results;
                let at_position = AtPosition { given, velocities, position };
                element.calc_dynamics(&AtVelocity { at_position, velocity }, dynamics)
            })?;
        }
        Ok(())
    }

    /// Calculates the results of the enabled elements, and resets the results of the others.
    #[inline]
    fn fill<'a>(
        &self,
        first: usize,
        results: &mut [Results<T, E>],
        enabled: impl Iterator<Item = Option<(&'a E, Given<'a, T, E>)>>,
        calc: impl Fn(&'a E, Given<'a, T, E>, &mut Results<T, E>) -> ElementResult,
    ) -> Result<(), Error> {
        results.iter_mut().zip(enabled).enumerate().try_for_each(|(i, (results, enabled))| {
            if let Some((element, given)) = enabled {
                calc(element, given, results).map_err(|source| self.roster.failure(first + i, source))
            } else {
                // `clone_from` lets a cache keep its buffers.
                results.clone_from(&Results::neutral());
                Ok(())
            }
        })
    }

    /// Adds forces to an accumulator, and stored energies and the powers dissipated and supplied to `totals`; writes the
    /// power absorbed by each element. The order is that of the places, so that sums do not depend on the number of
    /// threads. Returns whether all sums are finite.
    pub(super) fn sum(
        &self,
        variables: &Columns<T, E>,
        (first, results): (usize, &[Results<T, E>]),
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        totals: &mut [T; 3],
        power_absorbed: &mut [T],
    ) -> bool {
        // Locals stay in registers; arguments would not.
        let mut accumulator = accumulator;
        let [mut stored, mut power_dissipated, mut power_supplied] = *totals;
        let mut total_absorbed = T::zero();
        let places = first..first + results.len();
        let enabled = self.enabled(variables, places, kinematics);
        for ((results, power_absorbed), enabled) in results.iter().zip(power_absorbed).zip(enabled) {
            *power_absorbed = T::zero();
            if let Some((element, given)) = enabled {
                let at = results.at_dynamics(given, &kinematics.velocities);
                element.add_forces(&at, &mut accumulator);
                let supplied = element.power_supplied(&at);
                *power_absorbed = supplied - accumulator.take_power();
                total_absorbed += *power_absorbed;
                stored += element.potential_energy(&at);
                power_dissipated += element.power_dissipated(&at);
                power_supplied += supplied;
            }
        }
        // One term that is not finite makes the sum not finite, so the terms need not be checked one by one.
        *totals = [stored, power_dissipated, power_supplied];
        total_absorbed.is_finite() && totals.iter().all(T::is_finite)
    }

    /// Returns the first element whose energy or power is not finite, if any.
    ///
    /// The power of a force that is not finite is not finite either, even at zero velocity. On Ground the power is zero;
    /// there the sum of forces is checked.
    #[cold]
    pub(super) fn check_finite(&self, state: &State<T>) -> Result<(), Error> {
        let power_absorbed = &state.continuous.rates[state.slot_at(self.roster.number, 0)..];
        let mut failed = None;
        self.ask(state, None, &mut |place, element| {
            let [stored, dissipated] = element.energies();
            if ![power_absorbed[place], stored, dissipated].iter().all(T::is_finite) {
                failed = failed.or(Some(place));
            }
        })?;
        failed.map_or(Ok(()), |place| Err(self.roster.failure(place, ElementError::NonFiniteForce)))
    }

    pub(super) fn write_part(
        &self,
        slots: &Slots<T, E>,
        first: usize,
        next: &mut [E::Discrete],
        kinematics: &Kinematics<T>,
        purpose: Next<'_, T>,
    ) -> Result<T, Error> {
        let start = match purpose {
            Next::Update(start) => Some(self.in_state(start)?.0),
            _ => None,
        };
        let is_step = matches!(purpose, Next::Step | Next::TrialStep);
        let commits = matches!(purpose, Next::Step | Next::Update(_));
        let places = first..first + next.len();
        let enabled = self.enabled(&slots.variables, places.clone(), kinematics);
        let (present, results) = (&slots.variables.discrete[places.clone()], &slots.results[places]);
        let mut largest = T::zero();
        enabled.enumerate().try_for_each(|(i, enabled)| {
            let (next, place) = (&mut next[i], first + i);
            next.clone_from(&present[i]);
            let Some((element, given)) = enabled else { return Ok(()) };
            let at = results[i].at_dynamics(given, &kinematics.velocities);
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
                    check_fits(&present[i], next)?;
                }
                Ok(())
            };
            write().map_err(|source| self.roster.failure(place, source))
        })?;
        Ok(largest)
    }
}
