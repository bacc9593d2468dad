//! The derivatives of one element: those that it writes, and finite differences for the others.

use alloc::vec::Vec;

use super::blocks::{Blocks, Column, Row};
use super::derivatives::{Derivatives, Slot};
use super::ends::{End, needed_ends};
use super::moved::noise;
use super::sides::Around;
use crate::framework::element::ForceElement;
use crate::framework::kinds::{AnyKind, Kind, Next};
use crate::framework::slots::{AnySlots, Group};
use crate::framework::stage::Stage;
use crate::framework::variables::Variables;
use crate::framework::{ElementError, ElementId, Error, Linearization, Scope, State};
use crate::math::{Real, SpatialForce};
use crate::mechanics::{ForceAccumulator, Forces, Kinematics};

/// A method of an element that writes derivatives; its number is the place in `Slot::are_exact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Forces = 0,
    Variables = 1,
    Commit = 2,
}

impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// Writes the derivatives of all elements.
    pub(in crate::framework) fn linearize_all(
        &self,
        state: &State<T>,
        Linearization { scope, kinds, of_differences, .. }: &mut Linearization<T>,
    ) -> Result<(), Error> {
        let (slots, kinematics) = self.in_state(state)?;
        let derivatives = &mut kinds[self.roster.number];
        let Scope { variables, commit } = *scope;
        let parts: &[Part] = match (variables, commit && E::Discrete::FIRST_STAGE.is_some()) {
            (false, false) => &[Part::Forces],
            (false, true) => &[Part::Forces, Part::Commit],
            (true, false) => &[Part::Forces, Part::Variables],
            (true, true) => &[Part::Forces, Part::Variables, Part::Commit],
        };
        derivatives.clear();
        for place in 0..derivatives.elements.len() {
            let first = derivatives.begin(place);
            let Some(element) = self.enabled_element(slots, place) else { continue };
            if variables || commit {
                let slot = &mut derivatives.elements[place];
                // An element may write all derivatives at the first request.
                slot.counts.get_or_insert_with(|| (slots as &dyn AnySlots<T>).counts(place));
                slot.commits = commit;
            }
            let at = slots.at_dynamics(place, kinematics);
            for &part in parts {
                let kept = derivatives.mark();
                let to = &mut Blocks { derivatives, kinematics, place, part, scope: *scope };
                match part {
                    Part::Forces => element.linearize(&at, to),
                    Part::Variables => element.linearize_variables(&at, to),
                    Part::Commit => element.linearize_commit(&at, to),
                }
                if !derivatives.elements[place].are_exact[part as usize]
                    && let Some(element) = self.roster.id(place)
                {
                    derivatives.take_back(kept);
                    Differenced { part, kind: self, state, element }.write(derivatives, of_differences)?;
                }
            }
            let (end, slot) = (derivatives.mark(), &mut derivatives.elements[place]);
            slot.marks[1] = end;
            if let Some(counts) = slot.counts
                && !derivatives.are_of_variables_since(first, counts)
            {
                return Err(self.roster.failure(place, ElementError::NoSuchVariable));
            }
            if !derivatives.are_finite_since(first) {
                return Err(self.roster.failure(place, ElementError::NonFiniteForce));
            }
        }
        Ok(())
    }
}

/// Memory for differences.
#[derive(Debug)]
pub(super) struct Scratch<T: Real> {
    /// The motion, and the variables of the element that is moved; those of other elements are not read.
    state: State<T>,
    /// The bodies and coordinates of the element, including those that it only loads.
    ends: Vec<End>,
    rows: Vec<Row>,
    here: Vec<T>,
    /// The results above and below, and at half the distance above and below.
    around: [Vec<T>; 4],
    /// The derivatives of all results by one number after the other.
    slopes: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new(state: &State<T>) -> Self {
        let (ends, rows, here) = (Vec::new(), Vec::new(), Vec::new());
        Self { state: state.clone(), ends, rows, here, around: Default::default(), slopes: Vec::new() }
    }
}

/// Derivatives of one element by finite differences: it is evaluated through its type-erased interface.
pub(super) struct Differenced<'a, T: Real> {
    part: Part,
    kind: &'a dyn AnyKind<T>,
    pub(super) state: &'a State<T>,
    pub(super) element: ElementId,
}

impl<T: Real> Differenced<'_, T> {
    /// Writes one part of the derivatives of one element by differences.
    #[inline(never)]
    fn write(&self, derivatives: &mut Derivatives<T>, scratch: &mut Option<Scratch<T>>) -> Result<(), Error> {
        let Self { part, kind, state: State { kinds, kinematics, .. }, element } = *self;
        let (place, slots) = (element.place(), kinds[element.kind()].as_ref());
        let Slot { ends, counts, .. } = &mut derivatives.elements[place];
        let counts = counts.unwrap_or_default();
        let scratch = scratch.get_or_insert_with(|| Scratch::new(self.state));
        scratch.state.kinds[element.kind()].copy_variables(place..place + 1, slots, place)?;
        scratch.state.kinematics.clone_from(kinematics);
        let mut all_ends = core::mem::take(&mut scratch.ends);
        all_ends.clone_from(ends.get_or_insert_with(|| {
            needed_ends(kinematics.topology(), |topology| kind.check_topology(place, topology).is_ok())
        }));
        scratch.state.forces.set_zero();
        let accumulator = ForceAccumulator::new(&mut scratch.state.forces, kinematics);
        kind.add_forces(slots, Some(place), kinematics, accumulator, &mut [T::zero()])?;
        add_loaded(&scratch.state.forces, &mut all_ends);
        let ends = &all_ends[..];
        scratch.rows.clear();
        if part != Part::Commit {
            scratch.rows.extend(ends.iter().map(|&end| Row::Force(end)));
        }
        match part {
            Part::Forces => {}
            Part::Variables => scratch.rows.extend((0..counts[2]).map(Row::Rate)),
            Part::Commit => scratch.rows.extend((0..counts[1]).map(Row::Next)),
        }
        let results = scratch.rows.iter().map(|row| row.len()).sum();
        self.evaluate(&mut scratch.state, ends, &mut scratch.here)?;

        // Derivatives of forces by motion belong to the first part, and all other derivatives by motion to the others.
        let motions = ends.iter().filter(|end| !end.is_ground()).map(|&end| Column::Motion(end));
        let motions = motions.filter(|_| part != Part::Variables || counts[2] > 0);
        // Each entry of a rotation is moved alone: the results on both sides are not rotations, so neither side is
        // preferred.
        let variables = 0..if part == Part::Forces { 0 } else { 1 + counts.iter().sum::<usize>() };
        for column in motions.chain(variables.map(Column::Variable)) {
            scratch.slopes.clear();
            for number in 0..column.len() {
                self.slope(scratch, ends, (column, number))?;
            }
            let mut first = 0;
            for &row in &scratch.rows {
                let is_known =
                    part != Part::Forces && matches!((row, column), (Row::Force(_), Column::Motion(_)));
                if !is_known {
                    let numbers = derivatives.push(row, column, 1);
                    for (result, numbers) in (first..).zip(numbers.chunks_exact_mut(column.len())) {
                        let slopes = scratch.slopes.iter().skip(result).step_by(results);
                        numbers.iter_mut().zip(slopes).for_each(|(number, &slope)| *number = slope);
                    }
                }
                first += row.len();
            }
        }
        scratch.ends = all_ends;
        Ok(())
    }

    /// Evaluates the element for the variables and the motion in the scratch.
    fn evaluate(&self, state: &mut State<T>, ends: &[End], numbers: &mut Vec<T>) -> Result<(), Error> {
        let Self { part, kind, element, .. } = *self;
        let (number, place) = (element.kind(), element.place());
        numbers.clear();
        kind.calc(state, Some(place), Stage::Position..=Stage::Dynamics)?;
        if part == Part::Commit {
            kind.prepare(state, Some(place), Next::TrialStep)?;
            state.kinds[number].visit_numbers(place, Group::NextDiscrete, &mut |number| numbers.push(number));
            return Ok(());
        }
        if part == Part::Variables {
            kind.calc_rates(state, Some(place))?;
        }
        let State { kinds, kinematics, forces, .. } = state;
        forces.set_zero();
        let accumulator = ForceAccumulator::new(forces, kinematics);
        kind.add_forces(kinds[number].as_ref(), Some(place), kinematics, accumulator, &mut [T::zero()])?;
        for end in ends {
            match end {
                End::Body(body) => {
                    let F_GB = &forces.bodies()[body.index()];
                    numbers.extend(F_GB.torque.iter().chain(&F_GB.force));
                }
                End::Coordinate(coordinate) => numbers.push(forces.coordinates()[coordinate.index()]),
            }
        }
        if part == Part::Variables {
            kinds[number].visit_numbers(place, Group::Rates, &mut |rate| numbers.push(rate));
        }
        Ok(())
    }

    /// Appends the derivatives of all results by one number. It takes a central difference; or a difference towards the
    /// side on which the element can be evaluated and its variables are in range; or, at a kink, towards the side without
    /// it.
    fn slope(&self, scratch: &mut Scratch<T>, ends: &[End], moved: (Column, usize)) -> Result<(), Error> {
        let Scratch { state, here, around, slopes, .. } = scratch;
        if self.is_whole(state, moved.0) {
            slopes.extend(here.iter().map(|_| T::zero()));
            return Ok(());
        }
        let [above, below, near_above, near_below] = around;
        let forwards = is_forwards(moved, &self.state.kinematics);
        let mut side = |sense: f64, results: &mut Vec<T>| {
            let (length, is_in_range) = self.displace(state, moved, T::lit(sense));
            let outcome = self.evaluate(state, ends, results);
            let outcome = outcome.and(self.put_back(state, moved.0));
            (length, is_in_range, outcome)
        };
        let sides = [side(1.0, above), side(-1.0, below)];
        // Numbers with a fixed sum, for example, are in range on neither side.
        let is_one_sided = sides[0].1 != sides[1].1;
        let is_usable = sides
            .each_ref()
            .map(|(_, is_in_range, evaluated)| evaluated.is_ok() && (*is_in_range || !is_one_sided));
        let lengths = sides.each_ref().map(|(length, ..)| *length);
        let mut one_side = None;
        let noise = noise(moved, lengths[0]);
        let far = Around { here, results: [above, below], lengths, noise };
        if is_usable == [true; 2] && far.is_kinked() {
            let nearer = [side(0.5, near_above), side(-0.5, near_below)];
            if nearer.iter().all(|(_, _, outcome)| outcome.is_ok()) {
                let lengths = nearer.each_ref().map(|(length, ..)| *length);
                let near = Around { here, results: [near_above, near_below], lengths, noise };
                one_side = far.smooth_side(&near, forwards).map(|side| [far.side(side), near.side(side)]);
            }
        }
        if let Some([(far, far_length), (near, near_length)]) = one_side {
            // Of second order: the slope to the nearer point counts twice.
            slopes.extend(here.iter().zip(far).zip(near).map(|((&here, &far), &near)| {
                let [far, near] = [(far - here) / far_length, (near - here) / near_length];
                near + (near - far)
            }));
        } else if is_usable == [false; 2] {
            // One that is out of range may have been evaluated.
            let [(.., above), (.., below)] = sides;
            return above.and(below);
        } else {
            let [high, low] = [0, 1].map(|i| if is_usable[i] { far.side(i) } else { (&here[..], T::zero()) });
            let over_length = T::one() / (high.1 - low.1);
            slopes.extend(high.0.iter().zip(low.0).map(|(&high, &low)| (high - low) * over_length));
        }
        Ok(())
    }
}

/// Whether a number grows in the direction in which the element moves.
fn is_forwards<T: Real>(moved: (Column, usize), kinematics: &Kinematics<T>) -> bool {
    let rate = match moved {
        (Column::Motion(End::Body(body)), number @ 0..6) => {
            let V = kinematics.velocities.velocity(body);
            [V.angular, V.linear][number / 3][number % 3]
        }
        (Column::Motion(End::Coordinate(coordinate)), 0) => kinematics.velocities.coordinate_rate(coordinate),
        _ => T::zero(),
    };
    rate >= T::zero()
}

/// Adds the bodies and coordinates with forces that the list does not contain.
fn add_loaded<T: Real>(forces: &Forces<T>, ends: &mut Vec<End>) {
    let topology = forces.topology();
    let is_loaded = |F_GB: &SpatialForce<T>| F_GB.torque.iter().chain(&F_GB.force).any(|f| *f != T::zero());
    let bodies = forces.bodies().iter().enumerate().filter(|(_, F_GB)| is_loaded(F_GB));
    let coordinates = forces.coordinates().iter().enumerate().filter(|(_, f)| **f != T::zero());
    let bodies = bodies.filter_map(|(place, _)| topology.body(place).map(End::Body));
    let coordinates = coordinates.filter_map(|(place, _)| topology.coordinate(place).map(End::Coordinate));
    for end in bodies.chain(coordinates) {
        if !ends.contains(&end) {
            ends.push(end);
        }
    }
}
