//! Promises about the linearization.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use nalgebra::{Matrix3, Rotation3, Translation3, Vector3};

use super::scene::{axes, scene, unit};
use super::violation::{claim, within};
use super::{Finding, Numbers, Scene, Subject, Violation};
use crate::framework::variables::{Slot, Value};
use crate::framework::{
    Column, ElementId, ElementLinearization, End, Error, ForceSystem, Group, Linearization, Row, Scope,
    Stage, State,
};
use crate::math::{Pose, Real};
use crate::mechanics::{Forces, Topology, Variation};

/// How far a linearization is off, relative to the sum of the sizes of its terms: the largest of several directions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Agreement {
    /// Forces by motion.
    pub forces_by_motion: f64,
    /// Forces by variables.
    pub forces_by_variables: f64,
    /// Rates of continuous variables.
    pub rates: f64,
    /// Discrete variables after the next commit.
    pub commit: f64,
    /// How many derivatives are off by more than the bound, and by no more than they change where the state is rounded
    /// otherwise. They are not among the others.
    pub rounded: usize,
}

/// A direction in which everything that a linearization is about changes.
#[derive(Debug, Clone)]
pub(super) struct Direction {
    pub(super) motion: Variation<f64>,
    pub(super) velocity: Variation<f64>,
    /// Of time and of the numbers of the variables.
    pub(super) variables: Vec<f64>,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    Energy,
    Forces,
    Rates,
    Commit,
}

/// A quantity along a motion, as a function of time in any scalar: a mixture of results of one element.
#[derive(Debug)]
pub struct Curve<'a, S> {
    pub(super) seed: u64,
    pub(super) results: Results,
    /// The weights of the forces.
    pub(super) forces: &'a Variation<f64>,
    /// The weights of the numbers of variables.
    pub(super) numbers: &'a [f64],
    pub(super) direction: &'a Direction,
    /// How far along another direction it starts.
    pub(super) start: Option<(&'a Direction, f64)>,
    pub(super) subject: PhantomData<S>,
}

impl<S: Subject> Curve<'_, S> {
    /// Its value at a short time after the instant.
    ///
    /// # Errors
    /// If the element cannot be evaluated there.
    pub fn at<T: Real>(&self, time: T) -> Result<T, Error> {
        let Scene { system, mut state, element } = scene::<S, T>(self.seed)?;
        if let Some((direction, by)) = self.start {
            direction.follow(&system, &mut state, element.id(), T::lit(by))?;
        }
        self.direction.follow(&system, &mut state, element.id(), time)?;
        let view = system.realize_dynamics(&mut state)?;
        if self.results == Results::Energy {
            return Ok(view.potential_energy_of(element));
        }
        if self.results == Results::Commit {
            system.accept_step(&mut state)?;
        }
        let mut sum = T::zero();
        if self.results == Results::Forces {
            for body in system.bodies() {
                sum += self.forces.bodies()[body.index()].cast().power(state.forces.body(body));
            }
            for coordinate in system.coordinates() {
                sum += T::lit(self.forces.coordinates()[coordinate.index()])
                    * state.forces.coordinate(coordinate);
            }
        }
        let slots = state.kinds[element.id().kind()].as_ref();
        let mut weights = self.numbers.iter();
        let mut add = |number: T| sum += number * T::lit(weights.next().copied().unwrap_or_default());
        match self.results {
            Results::Energy | Results::Forces => {}
            Results::Rates => slots.visit_continuous(Group::Rates, &mut add),
            Results::Commit => slots.visit_numbers(element.place(), Group::Discrete, &mut add),
        }
        Ok(sum)
    }
}

impl<'a, S> Curve<'a, S> {
    /// The energy stored.
    pub(super) fn of_energy(seed: u64, direction: &'a Direction) -> Self {
        let (results, forces, subject) = (Results::Energy, &direction.motion, PhantomData);
        Self { seed, results, forces, numbers: &[], direction, start: None, subject }
    }

    /// The change by a linearization, and the sum of the sizes of all terms.
    fn change(&self, linearization: ElementLinearization<'_, f64>) -> (f64, f64) {
        let (mut sum, mut size) = (0.0, 0.0);
        for (row, column, block) in linearization.blocks() {
            let rows = match (row, self.results) {
                (Row::Force(end), Results::Forces) => components(self.forces, end),
                (Row::Rate(number), Results::Rates) | (Row::Next(number), Results::Commit) => {
                    vec![self.numbers[number]]
                }
                _ => continue,
            };
            let columns = match column {
                Column::Motion(end) => {
                    let mut columns = components(&self.direction.motion, end);
                    columns.extend(components(&self.direction.velocity, end));
                    columns
                }
                Column::Variable(variable) => vec![self.direction.variables[variable]],
            };
            for (weight, derivatives) in rows.iter().zip(block.chunks_exact(columns.len())) {
                for (column, derivative) in columns.iter().zip(derivatives) {
                    sum += weight * derivative * column;
                    size += (weight * derivative * column).abs();
                }
            }
        }
        (sum, size)
    }
}

impl Direction {
    pub(super) fn zeros(topology: &Topology, variables: usize) -> Self {
        let none = Variation::zeros(topology);
        Self { motion: none.clone(), velocity: none, variables: vec![0.0; variables] }
    }

    /// Of positions alone.
    pub(super) fn of_motion(motion: Variation<f64>) -> Self {
        Self { velocity: Variation::zeros(motion.topology()), motion, variables: vec![] }
    }

    /// Moves a state along for a short time: exactly to first order, which is all a dual number sees.
    pub(super) fn follow<T: Real>(
        &self,
        system: &ForceSystem<T>,
        state: &mut State<T>,
        element: ElementId,
        time: T,
    ) -> Result<(), Error> {
        // The motion may be that of a like system.
        for body in system.bodies() {
            let [X, V] =
                [&self.motion, &self.velocity].map(|by| by.bodies()[body.index()].cast::<T>() * time);
            let (X_GB, V_GB) = (*state.positions().pose(body), *state.velocities().velocity(body));
            let turn = Matrix3::identity() + X.angular.cross_matrix();
            let rotation = Rotation3::from_matrix_unchecked(turn * X_GB.rotation.matrix());
            let translation = Translation3::from(X_GB.translation.vector + X.linear);
            state.set_body(body, Pose::from_parts(translation, rotation), V_GB + V)?;
        }
        for c in system.coordinates() {
            let by = [&self.motion, &self.velocity].map(|by| T::lit(by.coordinates()[c.index()]) * time);
            state.set_coordinate(c, state.positions().coordinate(c) + by[0])?;
            state.set_coordinate_rate(c, state.velocities().coordinate_rate(c) + by[1])?;
        }
        let mut rates = self.variables.iter();
        let mut next = || T::lit(rates.next().copied().unwrap_or_default()) * time;
        state.set_time(state.time() + next())?;
        state.kinds[element.kind()].visit_mut(element.place(), &mut |entry| {
            if let Slot::Number(number) = entry.value {
                *number += next();
            }
        });
        state.invalidate(Stage::Instance);
        Ok(())
    }

    /// Draws numbers: a motion, or changes of variables, in which rotations only turn.
    fn draw(scene: &Scene<f64, impl Sized>, numbers: &mut Numbers, moves: bool, id: ElementId) -> Self {
        let Scene { system, state, .. } = scene;
        let mut present = vec![state.time()];
        let mut rotations = Vec::new();
        state.kinds[id.kind()].visit(id.place(), Group::Variables, &mut |entry| {
            if let Value::Number(number) = entry.value {
                // The first of the nine entries of a rotation, which follow one another row by row.
                if entry.name.to_string().ends_with(".R.xx") {
                    rotations.push(present.len());
                }
                present.push(number);
            }
        });
        let mut direction = Self::zeros(system.topology(), present.len());
        if moves {
            direction.motion = variation(system.topology(), numbers);
            direction.velocity = variation(system.topology(), numbers);
            return direction;
        }
        for (rate, number) in direction.variables.iter_mut().zip(&present) {
            // In proportion, so that none outweighs the others by its unit.
            *rate = numbers.number() * number.abs().max(0.1);
        }
        for first in rotations {
            let R = Matrix3::from_row_slice(&present[first..first + 9]);
            let turn: Vector3<f64> = numbers.vector(1.0);
            let turned = (turn.cross_matrix() * R).transpose();
            direction.variables[first..first + 9].copy_from_slice(turned.as_slice());
        }
        direction
    }
}

/// A motion of everything but Ground.
pub(super) fn variation(topology: &Topology, numbers: &mut Numbers) -> Variation<f64> {
    let mut variation = Variation::zeros(topology);
    for body in topology.bodies() {
        *variation.body_mut(body) = numbers.velocity(1.0);
    }
    for coordinate in topology.coordinates() {
        *variation.coordinate_mut(coordinate) = numbers.number();
    }
    variation
}

/// The components of the motion of a body or coordinate.
fn components(variation: &Variation<f64>, end: End) -> Vec<f64> {
    match end {
        End::Body(body) => {
            let V = variation.body(body);
            V.angular.iter().chain(&V.linear).copied().collect()
        }
        End::Coordinate(coordinate) => vec![variation.coordinate(coordinate)],
    }
}

/// Checks that the linearization is that of the element: by the derivatives of forces, rates and the next discrete
/// variables as `D` computes them, along directions of motion and of the variables; that the transpose has the same bits;
/// and that the matrices are those of the products. Returns how far it is off.
///
/// # Errors
/// If a derivative is off by more than 10⁻¹², or the precision of `D` if that is more, of the sum of the sizes of its
/// terms, by differences 10⁻⁶, and by more than it changes where the state is rounded otherwise, by 10⁻¹⁴.
pub fn linearization<S: Subject>(seed: u64) -> Result<Agreement, Violation> {
    claim("the linearization", seed, || {
        let mut scene = scene::<S, f64>(seed)?;
        let id = scene.element.id();
        scene.system.realize_dynamics(&mut scene.state)?;
        let mut linearization = Linearization::of(Scope { variables: true, commit: true });
        scene.system.linearize(&scene.state, &mut linearization)?;
        let mut numbers = Numbers::new(!seed);
        let element = linearization.element(id);
        let mut agreement = Agreement::default();
        for results in [Results::Forces, Results::Rates, Results::Commit] {
            for moves in [true, false] {
                let direction = Direction::draw(&scene, &mut numbers, moves, id);
                let forces = variation(scene.system.topology(), &mut numbers);
                let weights: Vec<f64> = direction.variables.iter().map(|_| numbers.number()).collect();
                let curve = Curve::<S> {
                    results,
                    forces: &forces,
                    numbers: &weights,
                    ..Curve::of_energy(seed, &direction)
                };
                let (change, size) = curve.change(element);
                let exact = S::rate(&curve)?;
                let Agreement { forces_by_motion, forces_by_variables, rates, commit, rounded } =
                    &mut agreement;
                let (quantity, is_exact, worst) = match results {
                    Results::Energy | Results::Forces if moves => {
                        ("a derivative of the forces by motion", element.is_exact(), forces_by_motion)
                    }
                    Results::Energy | Results::Forces => {
                        let is_exact = element.is_exact_by_variables();
                        ("a derivative of the forces by variables", is_exact, forces_by_variables)
                    }
                    Results::Rates => ("a derivative of the rates", element.is_exact_by_variables(), rates),
                    Results::Commit => ("a derivative of the commit", element.is_exact_at_commit(), commit),
                };
                // Sums of hundreds of products round to some 1e-14 of their terms, which cancel where frames are far
                // from origins. Differences of order two over 6e-7 err by (6e-7·500)² where a force changes by 500
                // times its size per metre, and round to 1e-16/6e-7.
                let precision = if is_exact { 1e-12 } else { 1e-6 };
                let scale = size.max(exact.abs());
                let off = (change - exact).abs();
                let mut tolerance = S::PRECISION.max(precision) * scale + f64::MIN_POSITIVE;
                let is_rounded = off > tolerance;
                if is_rounded {
                    // The direction of a stretch of micrometres between points metres away is known to 1e-10. Some of these
                    // changes may happen to be along it.
                    for moves in [true, false, true, false, true, false] {
                        let other = Direction::draw(&scene, &mut numbers, moves, id);
                        let [below, above] =
                            [-1e-14, 1e-14].map(|by| S::rate(&Curve { start: Some((&other, by)), ..curve }));
                        tolerance += (above? - below?).abs();
                    }
                }
                within(quantity, off, tolerance)?;
                *rounded += usize::from(is_rounded);
                if off > 0.0 && !is_rounded {
                    *worst = worst.max(off / scale);
                }
            }
        }
        same_products(&linearization)?;
        Ok(agreement)
    })
}

/// Compares products with unit motions, products of the transpose, and the dense matrices.
fn same_products(linearization: &Linearization<f64>) -> Result<(), Finding> {
    let topology = linearization.topology();
    let none = Variation::zeros(topology);
    let mut products = [(); 4].map(|()| Forces::zeros(topology));
    let [by_position, by_velocity, on_position, on_velocity] = &mut products;
    let dense = linearization.to_dense();
    let entry = |forces: &Forces<f64>, (end, i): (End, usize)| match end {
        End::Body(body) => {
            let F = forces.body(body);
            if i < 3 { F.torque[i] } else { F.force[i - 3] }
        }
        End::Coordinate(coordinate) => forces.coordinate(coordinate),
    };
    for column in axes(topology) {
        let motion = unit(topology, column);
        linearization.apply(&motion, &none, by_position, None)?;
        linearization.apply(&none, &motion, by_velocity, None)?;
        for row in axes(topology) {
            linearization.apply_transpose(&unit(topology, row), on_position, on_velocity, None)?;
            let place = |(end, i)| linearization.row_of(end).map_or(0, |first| first + i);
            let place = (place(row), place(column));
            let bits = |number: f64| (number + 0.0).to_bits();
            for (product, transposed, matrix) in
                [(&*by_position, &*on_position, &dense[0]), (&*by_velocity, &*on_velocity, &dense[1])]
            {
                let number = bits(entry(product, row));
                if number != bits(entry(transposed, column)) || number != bits(matrix[place]) {
                    return Err(Finding::OtherBits { after: "transposition" });
                }
            }
        }
    }
    Ok(())
}
