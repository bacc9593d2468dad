//! An element that is moved for finite differences, and the distances.

use super::blocks::Column;
use super::differences::Differenced;
use super::ends::End;
use crate::framework::slots::AnySlots;
use crate::framework::variables::Slot;
use crate::framework::{ElementError, Error, State};
use crate::math::{Real, Requirement, SpatialVelocity};
use crate::mechanics::Kinematics;

impl<T: Real> Differenced<'_, T> {
    /// Moves one number of a column up or down; returns the distance, as rounded, and whether the variables stay in range. For
    /// a body or coordinate, the numbers of its position come first.
    pub(super) fn displace(&self, state: &mut State<T>, moved: (Column, usize), sense: T) -> (T, bool) {
        let State { kinds, kinematics: Kinematics { time, positions, velocities }, .. } = state;
        let length = match moved {
            (Column::Motion(End::Body(body)), number @ 0..6) => {
                let before = positions.pose(body).translation.vector;
                let mut by = SpatialVelocity::zero();
                let mut length = step(before.amax()) * sense;
                if number < 3 {
                    // Points of the body are as far from the origin as the body, and their motion is rounded like the
                    // motion of the body.
                    let longest = T::lit(SCALE) * sense;
                    length = if length.abs() < longest.abs() { length } else { longest };
                    by.angular[number] = length;
                    positions.displace(body, &by);
                } else {
                    by.linear[number - 3] = length;
                    positions.displace(body, &by);
                    length = (positions.pose(body).translation.vector - before)[number - 3];
                }
                length
            }
            (Column::Motion(End::Body(body)), number) => {
                let SpatialVelocity { angular, linear } = velocities.body_mut(body);
                let length = step(angular.amax().max(linear.amax())) * sense;
                moved_by(&mut [angular, linear][number / 3 - 2][number % 3], length)
            }
            (Column::Motion(End::Coordinate(coordinate)), number) => {
                let both = [positions.coordinate_mut(coordinate), velocities.coordinate_mut(coordinate)];
                let moved = &mut *both[number];
                moved_by(moved, step(*moved) * sense)
            }
            (Column::Variable(0), _) => moved_by(time, step(*time) * sense),
            (Column::Variable(variable), _) => {
                let (slots, place) = (kinds[self.element.kind()].as_mut(), self.element.place());
                let before = replace_number(slots, place, variable, T::zero());
                let excludes_zero = slots.validate(place).is_err();
                replace_number(slots, place, variable, before + before);
                // An entry of a rotation can be neither zero nor twice itself.
                let is_scale = excludes_zero && slots.validate(place).is_ok();
                let after = before + variable_step(before, is_scale) * sense;
                replace_number(slots, place, variable, after);
                return (after - before, slots.validate(place).is_ok());
            }
        };
        (length, true)
    }

    /// Whether a number is a variable that must be whole, such as the number of a spring: it has no derivative.
    pub(super) fn is_whole(&self, state: &mut State<T>, column: Column) -> bool {
        let Column::Variable(variable @ 1..) = column else { return false };
        let (slots, place) = (state.kinds[self.element.kind()].as_mut(), self.element.place());
        let before = replace_number(slots, place, variable, T::zero());
        replace_number(slots, place, variable, before + T::lit(0.5));
        let refused = slots.validate(place).err();
        replace_number(slots, place, variable, before);
        let must = refused.as_ref().and_then(|refused| match refused.element_error() {
            Some(ElementError::InvalidValue(value)) => Some(value.requirement),
            _ => None,
        });
        must == Some(Requirement::Index)
    }

    /// Undoes `displace`, bit-identically.
    pub(super) fn put_back(&self, state: &mut State<T>, column: Column) -> Result<(), Error> {
        let State { kinds, kinematics: Kinematics { time, positions, velocities }, .. } = state;
        let (State { kinematics, kinds: from, .. }, kind, place) =
            (self.state, self.element.kind(), self.element.place());
        match column {
            Column::Motion(End::Body(body)) => {
                *positions.body_mut(body) = *kinematics.positions.body(body);
                *velocities.body_mut(body) = *kinematics.velocities.body(body);
            }
            Column::Motion(End::Coordinate(coordinate)) => {
                *positions.coordinate_mut(coordinate) = kinematics.positions.coordinate(coordinate);
                *velocities.coordinate_mut(coordinate) = kinematics.velocities.coordinate(coordinate);
            }
            Column::Variable(0) => *time = kinematics.time,
            Column::Variable(_) => {
                return kinds[kind].copy_variables(place..place + 1, from[kind].as_ref(), place);
            }
        }
        Ok(())
    }
}

/// Adds to a number; returns the change, as rounded.
fn moved_by<T: Real>(number: &mut T, length: T) -> T {
    let before = *number;
    *number += length;
    *number - before
}

/// The length over which motions and most laws are smooth: a tenth of a metre or radian.
const SCALE: f64 = 0.1;

/// The distance by which a time, a position or a velocity of this size is moved.
///
/// For a law of length `L`, a step `h` causes a relative truncation error of `(h/L)²`, and a rounding error of
/// `ε (L + |x|)/h`, since both the argument and the result are rounded. They balance at `h³ = ε L² (L + |x|)`. A step of
/// at least a few roundings of `x` is not rounded away.
fn step<T: Real>(x: T) -> T {
    let (x, epsilon) = (x.to_f64().abs(), T::default_epsilon().to_f64());
    let balanced = SCALE * nalgebra::ComplexField::cbrt(epsilon * (1.0 + x / SCALE));
    T::lit(balanced.max(8.0 * epsilon * x))
}

/// The fraction of a slope that is noise, because the number is rounded.
pub(super) fn noise<T: Real>((column, _): (Column, usize), length: T) -> f64 {
    let is_balanced = matches!(column, Column::Motion(_) | Column::Variable(0));
    // The truncation error with which `step` balances the noise.
    let shares = length.to_f64() / SCALE;
    if is_balanced { shares * shares } else { 0.0 }
}

/// The distance by which a variable is moved. A variable that cannot be zero but can be twice itself is a scale of the
/// law, such as a stiffness of 1e9 or a radius of 1e-9, and is moved by a fraction of itself.
fn variable_step<T: Real>(x: T, is_scale: bool) -> T {
    let share = T::lit(nalgebra::ComplexField::cbrt(T::default_epsilon().to_f64()));
    let length = x.abs() * share;
    let is_rounded_away = x + length == x;
    if is_scale && !is_rounded_away { length } else { length + T::lit(SCALE) * share }
}

/// Writes the variable of this number, counted from 1; returns its previous value.
fn replace_number<T: Real>(slots: &mut dyn AnySlots<T>, place: usize, variable: usize, value: T) -> T {
    let (mut rest, mut before) = (variable, value);
    slots.visit_mut(place, &mut |entry| {
        if let Slot::Number(number) = entry.value {
            rest = rest.wrapping_sub(1);
            if rest == 0 {
                before = core::mem::replace(number, value);
            }
        }
    });
    before
}
