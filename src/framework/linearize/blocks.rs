//! The interface to which an element writes its derivatives.

use alloc::boxed::Box;
use core::any::Any;

use nalgebra::{SMatrix, SVector};

use super::derivatives::Derivatives;
use super::differences::Part;
use super::ends::{End, Freedoms};
use super::linearization::Scope;
use crate::math::{Pose, Real, SpatialVelocity};
use crate::mechanics::{BodyIndex, Checked, Kinematics};

/// The quantity that is differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// The force on a body or coordinate.
    Force(End),
    /// The rate of a continuous variable, by its place among the numbers of `Continuous`.
    Rate(usize),
    /// A discrete variable after the next commit, by its place among the numbers of `Discrete`. For a variable that a
    /// commit leaves unchanged, the element must write the derivative 1 by the variable itself.
    Next(usize),
}

/// The quantity by which a row is differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Position and velocity of a body or coordinate.
    Motion(End),
    /// A variable: 0 is time; the numbers of the parameters, the discrete and the continuous variables follow, in the
    /// order in which they are [visited](crate::Variables::visit), without flags.
    Variable(usize),
}

impl Column {
    /// The number of derivatives of one number by this column.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Motion(end) => 2 * end.freedoms(),
            Self::Variable(_) => 1,
        }
    }
}

impl Row {
    /// The number of numbers in this row.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Force(end) => end.freedoms(),
            Self::Rate(_) | Self::Next(_) => 1,
        }
    }
}

/// A branch that the law of an element takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branch<T> {
    /// The name: `slipping`, `in contact`.
    pub name: &'static str,
    /// The index among several parts: the obstacle of a cable, the contact of a foundation.
    pub index: Option<usize>,
    /// The number of parts that take the branch, such as the springs of a contact that slip; otherwise 1.
    pub count: usize,
    /// The distance to the nearest switch to another branch, at least zero, in the unit below.
    pub margin: T,
    /// The unit of the margin.
    pub unit: &'static str,
}

/// Receives the derivatives of one element.
///
/// Derivatives are of forces **on** bodies and coordinates, by their motion as twists: a rotation about the axes of
/// Ground, then a translation of the body's origin. The six rows of a body are torque and force at its origin in
/// Ground. Blocks for one pair add up; derivatives that are not written are zero. Columns of Ground are omitted, since
/// it does not move.
#[derive(Debug)]
pub struct Blocks<'a, T: Real> {
    pub(super) derivatives: &'a mut Derivatives<T>,
    pub(super) kinematics: &'a Kinematics<T>,
    /// The place of the element.
    pub(super) place: usize,
    /// The requested part.
    pub(super) part: Part,
    pub(super) scope: Scope,
}

impl<T: Real> Blocks<'_, T> {
    /// The variable that is time, for the methods that take one.
    pub const TIME: usize = 0;

    /// The scope of the request. An element that computes the derivatives of its variables and of its commit together
    /// writes both at the first request.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The place among all variables of a number of the parameters.
    pub fn parameter(&self, number: usize) -> usize {
        self.variable(0, number)
    }

    /// The place among all variables of a number of the discrete variables.
    pub fn discrete(&self, number: usize) -> usize {
        self.variable(1, number)
    }

    /// The place among all variables of a number of the continuous variables.
    pub fn continuous(&self, number: usize) -> usize {
        self.variable(2, number)
    }

    /// For a number that the element does not have, returns a place that does not exist.
    #[inline]
    fn variable(&self, group: usize, number: usize) -> usize {
        let counts = self.derivatives.elements[self.place].counts.unwrap_or_default();
        if number < counts[group] { 1 + counts[..group].iter().sum::<usize>() + number } else { usize::MAX }
    }

    /// Adds the derivatives of the force on one body or coordinate by the position and by the velocity of the same or
    /// another one.
    #[inline]
    pub fn add<const R: usize, const C: usize>(
        &mut self,
        on: impl Freedoms<R>,
        by: impl Freedoms<C>,
        by_position: &SMatrix<T, R, C>,
        by_velocity: &SMatrix<T, R, C>,
    ) {
        let by = by.end();
        if !by.is_ground() {
            let (row, column) = (Row::Force(on.end()), Column::Motion(by));
            let (numbers, sum) = self.derivatives.push_summed([row], [column], 2 * R * C);
            for (row, numbers) in numbers.chunks_exact_mut(2 * C).enumerate() {
                for column in 0..C {
                    numbers[column] = by_position[(row, column)];
                    numbers[C + column] = by_velocity[(row, column)];
                }
            }
            *sum += by_position.sum() + by_velocity.sum();
        }
    }

    /// Adds the derivatives of the force on a body or coordinate by consecutive variables.
    pub fn add_by_variables<const R: usize>(
        &mut self,
        on: impl Freedoms<R>,
        first: usize,
        derivatives: &[SVector<T, R>],
    ) {
        let numbers = self.derivatives.push(Row::Force(on.end()), Column::Variable(first), derivatives.len());
        for (numbers, derivative) in numbers.chunks_exact_mut(R).zip(derivatives) {
            numbers.copy_from_slice(derivative.as_slice());
        }
    }

    /// Adds the derivatives of a rate, or of a discrete variable after the next commit, by the position and by the
    /// velocity of a body or coordinate.
    pub fn add_to<const C: usize>(
        &mut self,
        row: Row,
        by: impl Freedoms<C>,
        by_position: &SVector<T, C>,
        by_velocity: &SVector<T, C>,
    ) {
        let by = by.end();
        if !by.is_ground() {
            let numbers = self.derivatives.push(row, Column::Motion(by), 1);
            let (on_position, on_velocity) = numbers.split_at_mut(C);
            on_position.copy_from_slice(by_position.as_slice());
            on_velocity.copy_from_slice(by_velocity.as_slice());
        }
    }

    /// Adds the derivatives of a rate, or of a discrete variable after the next commit, by consecutive variables.
    #[inline]
    pub fn add_to_by_variables(&mut self, row: Row, first: usize, derivatives: &[T]) {
        self.derivatives.push(row, Column::Variable(first), derivatives.len()).copy_from_slice(derivatives);
    }

    /// Lends memory that all elements of one kind share, so that it is allocated once. It contains what the previous
    /// element has left there, or the default.
    pub fn with_workspace<W: Any + Default + Send + Sync, R>(
        &mut self,
        write: impl FnOnce(&mut Self, &mut W) -> R,
    ) -> R {
        let memory = self.derivatives.workspace.take().and_then(|memory| memory.downcast::<W>().ok());
        let mut memory = memory.unwrap_or_else(|| Box::new(W::default()));
        let result = write(self, &mut memory);
        self.derivatives.workspace = Some(memory);
        result
    }

    /// States the branch of the law, with the distance to the nearest switch and its unit.
    pub fn branch(&mut self, name: &'static str, margin: T, unit: &'static str) {
        self.derivatives.branches.push(Branch { name, index: None, count: 1, margin, unit });
    }

    /// States the branch of one of several equal parts, such as a contact. If some of its constituents take the branch,
    /// states their number and the smallest distance to a switch.
    pub fn branch_of(
        &mut self,
        (index, count): (usize, usize),
        name: &'static str,
        margin: T,
        unit: &'static str,
    ) {
        self.derivatives.branches.push(Branch { name, index: Some(index), count, margin, unit });
    }

    /// Requests finite differences instead of everything that this call of the method writes.
    ///
    /// The bodies and coordinates that are moved are those without which
    /// [`check_topology`](crate::ForceElement::check_topology) fails, and those that the element loads.
    pub fn differences(&mut self) {
        self.derivatives.elements[self.place].are_exact[self.part as usize] = false;
    }

    /// Requests finite differences, like [`differences`](Self::differences), by the motion of these bodies and
    /// coordinates, the only ones on which the element acts.
    pub fn differences_of(&mut self, ends: impl IntoIterator<Item = End>) {
        self.differences();
        let known = self.derivatives.elements[self.place].ends.get_or_insert_default();
        known.clear();
        for end in ends {
            if !known.contains(&end) {
                known.push(end);
            }
        }
    }

    #[inline]
    pub(super) fn pose(&self, body: BodyIndex) -> &Pose<T> {
        self.kinematics.positions.pose(Checked(body))
    }

    #[inline]
    pub(super) fn velocity(&self, body: BodyIndex) -> &SpatialVelocity<T> {
        self.kinematics.velocities.velocity(Checked(body))
    }
}
