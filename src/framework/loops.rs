//! The loops over the elements of one kind: caches, sums, rates, and discrete variables to come.

use core::ops::Range;

use crate::framework::element::{AtDynamics, AtPosition, AtVelocity, ForceElement};
use crate::framework::element_variables::set_zero;
use crate::framework::kinds::{AnyKind, Kind, Measure};
use crate::framework::results::Cache;
use crate::framework::roster::Roster;
use crate::framework::slots::Slots;
use crate::framework::variables::Variables;
use crate::framework::{ElementError, Error};
use crate::math::Real;
use crate::mechanics::{ForceAccumulator, Kinematics};

/// Fills the caches of the enabled elements from the place `first` on and resets the others; returns the first
/// failure by place, on any number of threads. The closures take places relative to `first`.
#[inline]
fn fill<'a, T: Real, C: Cache<T>, E: 'a>(
    roster: &Roster,
    first: usize,
    caches: &mut [C],
    enabled: impl Fn(usize) -> Option<&'a E> + Sync,
    calc: impl Fn(&E, usize, &mut C) -> Result<(), ElementError> + Sync,
) -> Result<(), Error> {
    let fill_some = |start: usize, caches: &mut [C]| {
        caches.iter_mut().zip(start..).try_for_each(|(cache, i)| {
            if let Some(element) = enabled(i) {
                calc(element, i, cache).map_err(|source| roster.failure(first + i, source))
            } else {
                // `clone_from` lets a cache keep its buffers.
                cache.clone_from(&C::neutral());
                Ok(())
            }
        })
    };
    #[cfg(feature = "rayon")]
    return in_parallel(0, caches, &fill_some);
    #[cfg(not(feature = "rayon"))]
    fill_some(0, caches)
}

/// Below this many elements the hand-over to other threads costs more than it saves.
#[cfg(feature = "rayon")]
const GRAIN: usize = 128;

/// Fills halves of the caches on two threads, as long as they are large enough.
#[cfg(feature = "rayon")]
fn in_parallel<C: Send>(
    start: usize,
    caches: &mut [C],
    fill: &(impl Fn(usize, &mut [C]) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    if caches.len() < 2 * GRAIN {
        return fill(start, caches);
    }
    let middle = caches.len() / 2;
    let (before, after) = caches.split_at_mut(middle);
    let (mut first, mut second) = (Ok(()), Ok(()));
    // Behind pointers, so that the hand-over is compiled once and not for each kind of element.
    let left: &mut (dyn FnMut() + Send) = &mut || first = in_parallel(start, before, fill);
    let right: &mut (dyn FnMut() + Send) = &mut || second = in_parallel(start + middle, after, fill);
    rayon::join(left, right);
    first.and(second)
}

/// Loops over the elements at some places, which are all of them or a single one.
///
/// A calculation of an element is called in one of these and nowhere else: the compiler then inlines it, however
/// long it is. All slices are of one length, which spares the loops their bounds checks.
impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    pub(super) fn calc_position(
        &self,
        slots: &mut Slots<T, E>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let elements = &self.elements[places.clone()];
        let variables = slots.variables.rows(places.clone());
        fill::<T, _, _>(
            &self.roster,
            places.start,
            &mut slots.position[places],
            |i| elements[i].as_ref().filter(|_| variables.enabled[i]),
            |element, i, cache| element.calc_position(&variables.given(i, kinematics), cache),
        )
    }

    pub(super) fn calc_velocity(
        &self,
        slots: &mut Slots<T, E>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let elements = &self.elements[places.clone()];
        let variables = slots.variables.rows(places.clone());
        let position = &slots.position[places.clone()];
        fill::<T, _, _>(
            &self.roster,
            places.start,
            &mut slots.velocity[places],
            |i| elements[i].as_ref().filter(|_| variables.enabled[i]),
            |element, i, cache| {
                let at = AtPosition { given: variables.given(i, kinematics), position: &position[i] };
                element.calc_velocity(&at, &kinematics.velocities, cache)
            },
        )
    }

    pub(super) fn calc_dynamics(
        &self,
        slots: &mut Slots<T, E>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
    ) -> Result<(), Error> {
        let elements = &self.elements[places.clone()];
        let variables = slots.variables.rows(places.clone());
        let position = &slots.position[places.clone()];
        let velocity = &slots.velocity[places.clone()];
        fill::<T, _, _>(
            &self.roster,
            places.start,
            &mut slots.dynamics[places],
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
    /// place: sums must not depend on the number of threads. Returns whether all sums are finite.
    pub(super) fn sum(
        &self,
        slots: &Slots<T, E>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
        accumulator: ForceAccumulator<'_, T>,
        [potential_energy, total_dissipated]: [&mut T; 2],
        power_absorbed: &mut [T],
    ) -> bool {
        // Locals stay in registers, arguments would not.
        let mut accumulator = accumulator;
        let (mut stored, mut power_dissipated) = (*potential_energy, *total_dissipated);
        let mut total_absorbed = T::zero();
        let elements = self.elements[places.clone()].iter().zip(power_absorbed);
        for ((element, power_absorbed), at) in elements.zip(slots.enabled(places, kinematics)) {
            *power_absorbed = T::zero();
            if let (Some(element), Some(at)) = (element, at) {
                element.add_forces(&at, &mut accumulator);
                *power_absorbed = element.power_supplied(&at) - accumulator.take_power();
                total_absorbed += *power_absorbed;
                stored += element.potential_energy(&at);
                power_dissipated += element.power_dissipated(&at);
            }
        }
        // One term that is not finite makes a sum that is not: the terms need not be checked one by one.
        (*potential_energy, *total_dissipated) = (stored, power_dissipated);
        total_absorbed.is_finite() && stored.is_finite() && power_dissipated.is_finite()
    }

    /// Returns the first element of which the energy or a power is not finite, if there is one.
    ///
    /// The power of a non-finite force is not finite either, even at zero velocity. On Ground it is zero; the sum of
    /// forces is checked.
    #[cold]
    pub(super) fn check_finite(
        &self,
        slots: &Slots<T, E>,
        kinematics: &Kinematics<T>,
        power_absorbed: &[T],
    ) -> Result<(), Error> {
        for (place, power_absorbed) in power_absorbed.iter().enumerate() {
            let measure = |measure| self.measure(measure, slots, place, kinematics);
            let numbers = [*power_absorbed, measure(Measure::Stored)?, measure(Measure::PowerDissipated)?];
            if !numbers.iter().all(T::is_finite) {
                return Err(self.roster.failure(place, ElementError::NonFiniteForce));
            }
        }
        Ok(())
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
            set_zero(rates);
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

    /// Calls `write` for every enabled element on a copy of its discrete variables; those of the others are copied too.
    pub(super) fn write_next(
        &self,
        slots: &mut Slots<T, E>,
        places: Range<usize>,
        kinematics: &Kinematics<T>,
        mut write: impl FnMut(&E, &AtDynamics<'_, T, E>, usize, &mut E::Discrete) -> Result<(), ElementError>,
    ) -> Result<(), Error> {
        let mut next_discrete = core::mem::take(&mut slots.next_discrete);
        let next = &mut next_discrete[places.clone()];
        let elements = &self.elements[places.clone()];
        let variables = slots.variables.rows(places.clone());
        let position = &slots.position[places.clone()];
        let velocity = &slots.velocity[places.clone()];
        let dynamics = &slots.dynamics[places.clone()];
        let velocities = &kinematics.velocities;
        let written = (0..elements.len()).try_for_each(|i| {
            next[i].clone_from(&variables.discrete[i]);
            let Some(element) = elements[i].as_ref().filter(|_| variables.enabled[i]) else { return Ok(()) };
            let at_position = AtPosition { given: variables.given(i, kinematics), position: &position[i] };
            let at_velocity = AtVelocity { at_position, velocities, velocity: &velocity[i] };
            let (at, place) = (AtDynamics { at_velocity, dynamics: &dynamics[i] }, places.start + i);
            write(element, &at, place, &mut next[i]).map_err(|source| self.roster.failure(place, source))
        });
        slots.next_discrete = next_discrete;
        written
    }
}
