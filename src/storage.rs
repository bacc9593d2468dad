//! Storage by kind: the elements of one type in one vector, in the system and in the state.
//!
//! A stage costs one dynamic call per kind; the loops inside are monomorphic.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::{self, Arguments, Debug};

use crate::element::{AtDynamics, AtPosition, AtVelocity, ForceElement, Given};
use crate::error::{ElementName, Error, Requirement, Result};
use crate::forces::{ForceAccumulator, Forces};
use crate::kinematics::Kinematics;
use crate::scalar::Real;
use crate::stage::Stage;
use crate::variables::{Variables, Visitor, visit_flag};

/// All elements of one type, as the system keeps them.
#[derive(Debug)]
pub(crate) struct Kind<T: Real, E: ForceElement<T>> {
    pub(crate) elements: Vec<E>,
    pub(crate) defaults: Vec<Variable<T, E>>,
}

/// What a state keeps of one element besides its caches.
#[derive(Debug)]
pub(crate) struct Variable<T: Real, E: ForceElement<T>> {
    pub(crate) enabled: bool,
    pub(crate) parameters: E::Parameters,
    pub(crate) discrete: E::Discrete,
}

/// All elements of one type, as a state keeps them.
#[derive(Debug)]
pub(crate) struct Slots<T: Real, E: ForceElement<T>> {
    pub(crate) variables: Vec<Variable<T, E>>,
    next_discrete: Vec<E::Discrete>,
    pub(crate) position: Vec<E::Position>,
    pub(crate) velocity: Vec<E::Velocity>,
    pub(crate) dynamics: Vec<E::Dynamics>,
}

/// What the elements of one kind add up to at Dynamics stage.
#[derive(Debug)]
pub(crate) struct Sums<'a, T: Real> {
    pub(crate) forces: &'a mut Forces<T>,
    pub(crate) potential_energy: &'a mut T,
    pub(crate) power_dissipated: &'a mut T,
    /// Energy flowing into each element of the kind.
    pub(crate) power_absorbed: &'a mut [T],
}

/// A [`Kind`] whose element type is not known.
pub(crate) trait AnyKind<T: Real>: Any + Debug + Send + Sync {
    fn name(&self) -> &'static str;
    fn len(&self) -> usize;
    fn new_slots(&self) -> Box<dyn AnySlots<T>>;
    fn realize_position(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<()>;
    fn realize_velocity(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<()>;
    fn realize_dynamics(
        &self,
        slots: &mut dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        sums: Sums<'_, T>,
    ) -> Result<()>;
    /// Commits the accepted step; answers the stage below which the state falls, if anything changed.
    fn accept_step(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<Option<Stage>>;
    /// Answers the largest force error and, if anything changed, the stage below which the state falls.
    fn discontinuous_update(
        &self,
        slots: &mut dyn AnySlots<T>,
        start: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
    ) -> Result<(T, Option<Stage>)>;
    /// The largest force error that the present discrete variables make, changing nothing.
    fn switching_error(&self, slots: &dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<T>;
    /// Writes the energy stored in each element.
    fn potential_energies(
        &self,
        slots: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        energies: &mut [T],
    ) -> Result<()>;
}

/// [`Slots`] whose element type is not known.
pub(crate) trait AnySlots<T: Real>: Any + Debug + Send + Sync {
    fn clone_box(&self) -> Box<dyn AnySlots<T>>;
    fn kind_name(&self) -> &'static str;
    /// The variable of this name within one element.
    fn get(&self, place: usize, field: &str) -> Option<T>;
    /// Sets the variable of this name within one element; answers the first stage that reads it.
    fn set(&mut self, place: usize, field: &str, value: T) -> Option<Result<Stage>>;
    fn visit(&mut self, place: usize, visit: Visitor<'_, T>);
    fn validate(&self, place: usize) -> Result<()>;
}

impl<T: Real, E: ForceElement<T>> Variable<T, E> {
    /// Visits the flag first, then the parameters, then the discrete variables.
    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit_flag("enabled", &mut self.enabled, visit);
        self.parameters.visit(visit);
        self.discrete.visit(visit);
    }
}

/// Whether a name that is still to be put together is this one.
fn is_named(name: Arguments<'_>, field: &str) -> bool {
    struct Rest<'a>(&'a str);
    impl fmt::Write for Rest<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
            Ok(())
        }
    }
    let mut rest = Rest(field);
    fmt::write(&mut rest, name).is_ok() && rest.0.is_empty()
}

impl<T: Real, E: ForceElement<T>> Clone for Variable<T, E> {
    fn clone(&self) -> Self {
        Self { enabled: self.enabled, parameters: self.parameters.clone(), discrete: self.discrete.clone() }
    }
}

impl<T: Real, E: ForceElement<T>> Clone for Slots<T, E> {
    fn clone(&self) -> Self {
        Self {
            variables: self.variables.clone(),
            next_discrete: self.next_discrete.clone(),
            position: self.position.clone(),
            velocity: self.velocity.clone(),
            dynamics: self.dynamics.clone(),
        }
    }
}

impl<T: Real, E: ForceElement<T>> Slots<T, E> {
    pub(crate) fn downcast(slots: &dyn AnySlots<T>) -> Result<&Self> {
        (slots as &dyn Any).downcast_ref().ok_or(Error::TopologyMismatch)
    }

    pub(crate) fn downcast_mut(slots: &mut dyn AnySlots<T>) -> Result<&mut Self> {
        (slots as &mut dyn Any).downcast_mut().ok_or(Error::TopologyMismatch)
    }

    #[inline]
    pub(crate) fn at_position<'a>(&'a self, i: usize, kinematics: &'a Kinematics<T>) -> AtPosition<'a, T, E> {
        AtPosition { given: given(&self.variables[i], kinematics), position: &self.position[i] }
    }

    #[inline]
    pub(crate) fn at_velocity<'a>(&'a self, i: usize, kinematics: &'a Kinematics<T>) -> AtVelocity<'a, T, E> {
        AtVelocity {
            at_position: self.at_position(i, kinematics),
            velocities: &kinematics.velocities,
            velocity: &self.velocity[i],
        }
    }

    #[inline]
    pub(crate) fn at_dynamics<'a>(&'a self, i: usize, kinematics: &'a Kinematics<T>) -> AtDynamics<'a, T, E> {
        AtDynamics { at_velocity: self.at_velocity(i, kinematics), dynamics: &self.dynamics[i] }
    }
}

#[inline]
fn given<'a, T: Real, E: ForceElement<T>>(
    variable: &'a Variable<T, E>,
    kinematics: &'a Kinematics<T>,
) -> Given<'a, T, E> {
    Given {
        parameters: &variable.parameters,
        discrete: &variable.discrete,
        time: kinematics.time,
        positions: &kinematics.positions,
    }
}

/// Fills the cache of every enabled element and resets the others; the first failure by place is
/// the one reported, on any number of threads.
#[inline]
fn fill<C: Default + Send>(
    caches: &mut [C],
    is_enabled: impl Fn(usize) -> bool + Sync,
    calc: impl Fn(usize, &mut C) -> Result<()> + Sync,
) -> Result<()> {
    let fill_one = |(i, cache): (usize, &mut C)| {
        if is_enabled(i) {
            calc(i, cache).map_err(|error| error.at(i))
        } else {
            *cache = C::default();
            Ok(())
        }
    };
    #[cfg(feature = "rayon")]
    {
        use rayon::prelude::*;
        // Below this many elements the hand-over to other threads costs more than it saves.
        const GRAIN: usize = 128;
        if caches.len() > GRAIN {
            return caches
                .par_iter_mut()
                .enumerate()
                .with_min_len(GRAIN)
                .find_map_first(|slot| fill_one(slot).err())
                .map_or(Ok(()), Err);
        }
    }
    caches.iter_mut().enumerate().try_for_each(fill_one)
}

impl<T: Real, E: ForceElement<T>> AnyKind<T> for Kind<T, E> {
    fn name(&self) -> &'static str {
        E::KIND
    }

    fn len(&self) -> usize {
        self.elements.len()
    }

    fn new_slots(&self) -> Box<dyn AnySlots<T>> {
        let count = self.elements.len();
        Box::new(Slots::<T, E> {
            variables: self.defaults.clone(),
            next_discrete: self.defaults.iter().map(|variable| variable.discrete.clone()).collect(),
            position: (0..count).map(|_| E::Position::default()).collect(),
            velocity: (0..count).map(|_| E::Velocity::default()).collect(),
            dynamics: (0..count).map(|_| E::Dynamics::default()).collect(),
        })
    }

    fn realize_position(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<()> {
        let Slots { variables, position, .. } = Slots::<T, E>::downcast_mut(slots)?;
        fill(
            position,
            |i| variables[i].enabled,
            |i, cache| self.elements[i].calc_position(&given(&variables[i], kinematics), cache),
        )
    }

    fn realize_velocity(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<()> {
        let Slots { variables, position, velocity, .. } = Slots::<T, E>::downcast_mut(slots)?;
        fill(
            velocity,
            |i| variables[i].enabled,
            |i, cache| {
                let at = AtPosition { given: given(&variables[i], kinematics), position: &position[i] };
                self.elements[i].calc_velocity(&at, &kinematics.velocities, cache)
            },
        )
    }

    fn realize_dynamics(
        &self,
        slots: &mut dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        sums: Sums<'_, T>,
    ) -> Result<()> {
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        let Slots { variables, position, velocity, dynamics, .. } = &mut *slots;
        fill(
            dynamics,
            |i| variables[i].enabled,
            |i, cache| {
                let at_position =
                    AtPosition { given: given(&variables[i], kinematics), position: &position[i] };
                let velocities = &kinematics.velocities;
                let at = AtVelocity { at_position, velocities, velocity: &velocity[i] };
                self.elements[i].calc_dynamics(&at, cache)
            },
        )?;
        // In order of place, so that sums do not depend on the number of threads.
        let mut accumulator = ForceAccumulator::new(sums.forces, &kinematics.velocities);
        for (i, element) in self.elements.iter().enumerate() {
            if slots.variables[i].enabled {
                let at = slots.at_dynamics(i, kinematics);
                element.add_forces(&at, &mut accumulator);
                let power_absorbed = element.power_supplied(&at) - accumulator.take_power();
                let potential_energy = element.potential_energy(&at);
                // An infinite force has infinite power, and times zero velocity none that is a number.
                if !(power_absorbed.is_finite() && potential_energy.is_finite()) {
                    let element = ElementName { kind: E::KIND, index: Some(i) };
                    return Err(Error::NonFiniteForce { element });
                }
                sums.power_absorbed[i] = power_absorbed;
                *sums.potential_energy += potential_energy;
                *sums.power_dissipated += element.power_dissipated(&at);
            } else {
                sums.power_absorbed[i] = T::zero();
            }
        }
        Ok(())
    }

    fn accept_step(&self, slots: &mut dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<Option<Stage>> {
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        let commit = |element: &E, at: &AtDynamics<'_, T, E>, _: usize, next: &mut E::Discrete| {
            element.accept_step(at, next);
        };
        Ok(self.write_discrete(slots, kinematics, commit))
    }

    fn discontinuous_update(
        &self,
        slots: &mut dyn AnySlots<T>,
        start: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
    ) -> Result<(T, Option<Stage>)> {
        let slots = Slots::<T, E>::downcast_mut(slots)?;
        let start = Slots::<T, E>::downcast(start)?;
        let mut force_error = T::zero();
        let update = |element: &E, at: &AtDynamics<'_, T, E>, i: usize, next: &mut E::Discrete| {
            let error = element.discontinuous_update(at, &start.variables[i].discrete, next);
            force_error = force_error.max(error);
        };
        let changed = self.write_discrete(slots, kinematics, update);
        Ok((force_error, changed))
    }

    fn switching_error(&self, slots: &dyn AnySlots<T>, kinematics: &Kinematics<T>) -> Result<T> {
        let slots = Slots::<T, E>::downcast(slots)?;
        let mut force_error = T::zero();
        for (i, element) in self.elements.iter().enumerate() {
            let Variable { enabled, discrete, .. } = &slots.variables[i];
            if *enabled {
                let at = slots.at_dynamics(i, kinematics);
                force_error =
                    force_error.max(element.discontinuous_update(&at, discrete, &mut discrete.clone()));
            }
        }
        Ok(force_error)
    }

    fn potential_energies(
        &self,
        slots: &dyn AnySlots<T>,
        kinematics: &Kinematics<T>,
        energies: &mut [T],
    ) -> Result<()> {
        let slots = Slots::<T, E>::downcast(slots)?;
        for (i, (element, energy)) in self.elements.iter().zip(energies).enumerate() {
            let enabled = slots.variables[i].enabled;
            *energy =
                if enabled { element.potential_energy(&slots.at_dynamics(i, kinematics)) } else { T::zero() };
        }
        Ok(())
    }
}

impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// Lets `write` make the next discrete variables of every enabled element and takes them over.
    fn write_discrete(
        &self,
        slots: &mut Slots<T, E>,
        kinematics: &Kinematics<T>,
        mut write: impl FnMut(&E, &AtDynamics<'_, T, E>, usize, &mut E::Discrete),
    ) -> Option<Stage> {
        let mut next_discrete = core::mem::take(&mut slots.next_discrete);
        let mut changed = None;
        for (i, (element, next)) in self.elements.iter().zip(&mut next_discrete).enumerate() {
            if slots.variables[i].enabled {
                next.clone_from(&slots.variables[i].discrete);
                write(element, &slots.at_dynamics(i, kinematics), i, next);
                core::mem::swap(next, &mut slots.variables[i].discrete);
                // Whether the values differ does not tell: of dual numbers, only derivatives may.
                if size_of::<E::Discrete>() > 0 {
                    changed = Some(E::DISCRETE_STAGE);
                }
            }
        }
        slots.next_discrete = next_discrete;
        changed
    }
}

impl<T: Real, E: ForceElement<T>> AnySlots<T> for Slots<T, E> {
    fn clone_box(&self) -> Box<dyn AnySlots<T>> {
        Box::new(self.clone())
    }

    fn kind_name(&self) -> &'static str {
        E::KIND
    }

    fn get(&self, place: usize, field: &str) -> Option<T> {
        let mut found = None;
        self.variables[place].clone().visit(&mut |name, value| {
            if is_named(name, field) {
                found = Some(*value);
            }
        });
        found
    }

    fn set(&mut self, place: usize, field: &str, value: T) -> Option<Result<Stage>> {
        let mut changed = self.variables[place].clone();
        let mut position = None;
        let mut count = 0;
        changed.visit(&mut |name, slot| {
            if is_named(name, field) {
                position = Some(count);
                *slot = value;
            }
            count += 1;
        });
        let position = position?;
        let mut discrete_start = 0;
        changed.parameters.visit(&mut |_, _| discrete_start += 1);
        let is_discrete = position > discrete_start;
        let checked = changed.parameters.validate().and_then(|()| changed.discrete.validate());
        if let Err(error) = checked {
            return Some(Err(error.at(place)));
        }
        let mut is_kept = false;
        changed.visit(&mut |name, slot| is_kept |= is_named(name, field) && *slot == value);
        // A flag does not keep what is neither 0 nor 1.
        if !is_kept {
            return Some(Err(Error::invalid(E::KIND, "flag", value, Requirement::Flag).at(place)));
        }
        self.variables[place] = changed;
        Some(Ok(if is_discrete { E::DISCRETE_STAGE } else { Stage::Instance }))
    }

    fn visit(&mut self, place: usize, visit: Visitor<'_, T>) {
        self.variables[place].visit(&mut |name, value| {
            visit(format_args!("{}[{place}].{name}", E::KIND), value);
        });
    }

    fn validate(&self, place: usize) -> Result<()> {
        let Variable { parameters, discrete, .. } = &self.variables[place];
        parameters.validate().and_then(|()| discrete.validate()).map_err(|error| error.at(place))
    }
}
