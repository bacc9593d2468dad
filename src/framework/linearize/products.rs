//! Products with a linearization, and its matrices.

use nalgebra::{DMatrix, Vector3};

use super::blocks::{Column, Row};
use super::ends::End;
use super::linearization::{ElementLinearization, Linearization, blocks};
use super::variable_vector::{VariableVector, add as add_number};
use crate::framework::Error;
use crate::math::{Real, SpatialForce, SpatialVelocity, have_same_bits};
use crate::mechanics::{Checked, Forces, Topology, Variation};

impl<T: Real> Linearization<T> {
    /// The number of rows and columns of the matrices: six for each place of a body except Ground, and one for each
    /// place of a coordinate. Those of vacant places are zero.
    pub fn size(&self) -> usize {
        6 * (self.topology.body_places() - 1) + self.topology.coordinate_places()
    }

    /// The first row and column of a body, or that of a coordinate; `None` for Ground, and if it does not exist.
    pub fn row_of(&self, end: End) -> Option<usize> {
        match end {
            End::Body(body) => self.topology.has_body(body).then_some(6 * body.index())?.checked_sub(6),
            End::Coordinate(coordinate) => self
                .topology
                .has_coordinate(coordinate)
                .then(|| 6 * (self.topology.body_places() - 1) + coordinate.index()),
        }
    }

    /// The numbers of the matrices `K` and `D`, without those of forces on Ground, element by element: row, column, and the
    /// derivatives of the force by position and by velocity. Several in one place add up.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, [T; 2])> + '_ {
        self.forces_by_motion().flat_map(move |(on, by, numbers)| {
            let columns = by.freedoms();
            let corner = self.row_of(on).zip(self.row_of(by));
            (0..if corner.is_some() { on.freedoms() * columns } else { 0 }).map(move |i| {
                let ((row, column), (down, across)) =
                    (corner.unwrap_or_default(), (i / columns, i % columns));
                let place = 2 * columns * down + across;
                (row + down, column + across, [numbers[place], numbers[place + columns]])
            })
        })
    }

    /// The matrices `K = ∂F/∂X` and `D = ∂F/∂V`, of [`size`](Self::size) rows and columns.
    pub fn to_dense(&self) -> [DMatrix<T>; 2] {
        let mut matrices = [0, 1].map(|_| DMatrix::zeros(self.size(), self.size()));
        for (row, column, [by_position, by_velocity]) in self.triplets() {
            matrices[0][(row, column)] += by_position;
            matrices[1][(row, column)] += by_velocity;
        }
        matrices
    }

    /// Writes the change of all forces for this change of positions and velocities: `K·dX + D·dV`.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if one of them was made for another topology.
    pub fn apply(
        &self,
        motion: &Variation<T>,
        velocity: &Variation<T>,
        forces: &mut Forces<T>,
    ) -> Result<(), Error> {
        self.check([motion.topology(), velocity.topology(), forces.topology()])?;
        forces.set_zero();
        for (on, by, numbers) in self.forces_by_motion() {
            add(forces, on, &product(numbers, &columns(motion, velocity, by), 2 * by.freedoms()));
        }
        Ok(())
    }

    /// Writes `Kᵀλ` and `Dᵀλ` for multipliers `λ` of the forces, summed like a power. The matrices are those of
    /// [`apply`](Self::apply), bit for bit.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if one of them was made for another topology.
    pub fn apply_transpose(
        &self,
        multipliers: &Variation<T>,
        by_position: &mut Forces<T>,
        by_velocity: &mut Forces<T>,
    ) -> Result<(), Error> {
        self.check([multipliers.topology(), by_position.topology(), by_velocity.topology()])?;
        by_position.set_zero();
        by_velocity.set_zero();
        for (on, by, numbers) in self.forces_by_motion() {
            let sums = product_transposed(numbers, &rows(multipliers, on), 2 * by.freedoms());
            add_both(by_position, by_velocity, by, &sums);
        }
        Ok(())
    }

    /// Writes the change of all forces, and of all variables after the next commit, for this change of positions,
    /// velocities, time and variables.
    ///
    /// In `next`, time and parameters change as in `variables`; discrete variables as the commit will write them, or as
    /// in `variables` without a commit in the [scope](crate::Scope::commit) and for a disabled element. In place of
    /// continuous variables `z` there are the changes `δr` of their rates. The host integrates them: after a step of
    /// length `h` by `z' = z + h r` the change is `δz' = δz + h δr`, with `δz` from `variables`. Then `next` is the
    /// `variables` of the next step.
    ///
    /// # Example: how much less a brake holds when its coefficient of friction is less
    ///
    /// ```
    /// use force_elements::coordinate_spring_damper_ext::Parameters;
    /// use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem, Forces, Linearization, Scope};
    /// use force_elements::{VariableVector, Variation};
    ///
    /// let mut system = ForceSystem::<f64>::new();
    /// let disc = system.add_coordinate();
    /// let parameters = Parameters {
    ///     dynamic_friction_coefficient: 0.4,
    ///     friction_load: 50.0,
    ///     sticking_stiffness: 1e4,
    ///     ..Parameters::default()
    /// };
    /// let brake = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(disc), parameters)?)?;
    /// let mut state = system.default_state();
    /// system.update_discrete(&mut state, brake, |memory| memory.friction_mode = 20.0)?;
    /// state.set_coordinate_rate(disc, 3.0)?;
    /// system.realize_dynamics(&mut state)?;
    /// let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    /// system.linearize(&state, &mut linearization)?;
    ///
    /// let coefficient = state.variable_place(&format!("{}.dynamic_friction_coefficient", brake.id()))?;
    /// let mode = state.variable_place(&format!("{}.friction_mode", brake.id()))?;
    /// let (none, mut forces) = (Variation::zeros(system.topology()), Forces::zeros(system.topology()));
    /// let (mut change, mut next) = (VariableVector::zeros(&state), VariableVector::zeros(&state));
    /// *change.number_mut(coefficient) = -0.01;
    /// linearization.apply_with_variables(&none, &none, &change, &mut forces, &mut next)?;
    /// assert!((forces.coordinate(disc) - 0.5).abs() < 1e-12); // it brakes with −20 N
    /// assert!((next.number(mode) + 0.5).abs() < 1e-12);
    /// assert_eq!(next.number(coefficient), -0.01);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if one of them was made for another topology or system; [`Error::NoVariables`] without
    /// variables in the [scope](crate::Scope::variables).
    pub fn apply_with_variables(
        &self,
        motion: &Variation<T>,
        velocity: &Variation<T>,
        variables: &VariableVector<T>,
        forces: &mut Forces<T>,
        next: &mut VariableVector<T>,
    ) -> Result<(), Error> {
        self.check([motion.topology(), velocity.topology(), forces.topology()])?;
        self.check_variables([variables, next])?;
        forces.set_zero();
        next.clone_from(variables);
        for (place, element) in self.elements().enumerate() {
            let [discrete, rates] = next.memory_of_mut(place);
            rates.fill(T::zero());
            if element.commits {
                discrete.fill(T::zero());
            }
            for (row, column, numbers) in element.blocks() {
                let factors = match column {
                    Column::Motion(by) => columns(motion, velocity, by),
                    Column::Variable(variable) => only(variables.of_column(place, variable)),
                };
                // Few variables change in most directions.
                if matches!(column, Column::Variable(_)) && have_same_bits(factors[0], T::zero()) {
                    continue;
                }
                let sum = product(numbers, &factors, column.len());
                let [discrete, rates] = next.memory_of_mut(place);
                match row {
                    Row::Force(on) => add(forces, on, &sum),
                    Row::Next(number) => add_number(discrete, number, sum[0]),
                    Row::Rate(number) => add_number(rates, number, sum[0]),
                }
            }
        }
        Ok(())
    }

    /// Writes the products of multipliers of the forces and of the variables after the next commit with the derivatives
    /// by positions, velocities, time and variables: the transpose of
    /// [`apply_with_variables`](Self::apply_with_variables).
    ///
    /// If `next` is the gradient of a result by the variables after a step, `by_variables` is that by the variables
    /// before it; for the parameters, the sum over all steps from there on. In place of continuous variables `z`,
    /// `next` has the multipliers of their rates. For a step of length `h` by `z' = z + h r` and a gradient `g'` by
    /// `z'`, these are `h g'`. The host adds `g'` to what `by_variables` then has in their places, which gives the
    /// gradient by `z`.
    ///
    /// # Errors
    /// As [`apply_with_variables`](Self::apply_with_variables).
    pub fn apply_transpose_with_variables(
        &self,
        multipliers: &Variation<T>,
        next: &VariableVector<T>,
        by_position: &mut Forces<T>,
        by_velocity: &mut Forces<T>,
        by_variables: &mut VariableVector<T>,
    ) -> Result<(), Error> {
        self.check([multipliers.topology(), by_position.topology(), by_velocity.topology()])?;
        self.check_variables([next, by_variables])?;
        by_position.set_zero();
        by_velocity.set_zero();
        by_variables.clone_from(next);
        for (place, element) in self.elements().enumerate() {
            let [discrete, continuous] = by_variables.memory_of_mut(place);
            continuous.fill(T::zero());
            if element.commits {
                discrete.fill(T::zero());
            }
            let [discrete, rates] = next.memory_of(place);
            let at = |numbers: &[T], number: usize| numbers.get(number).copied().unwrap_or_else(T::zero);
            for (row, column, numbers) in element.blocks() {
                let factors = match row {
                    Row::Force(on) => rows(multipliers, on),
                    Row::Next(number) => only(at(discrete, number)),
                    Row::Rate(number) => only(at(rates, number)),
                };
                // Most of the memory affects only the next step.
                if !matches!(row, Row::Force(_)) && have_same_bits(factors[0], T::zero()) {
                    continue;
                }
                let sums = product_transposed(numbers, &factors, column.len());
                match column {
                    Column::Motion(by) => add_both(by_position, by_velocity, by, &sums),
                    Column::Variable(variable) => by_variables.add_to_column(place, variable, sums[0]),
                }
            }
        }
        Ok(())
    }

    /// Of all places of all kinds.
    fn elements(&self) -> impl Iterator<Item = ElementLinearization<'_, T>> {
        self.kinds.iter().flat_map(|kind| kind.elements.iter().map(|slot| kind.element(slot)))
    }

    fn check_variables(&self, vectors: [&VariableVector<T>; 2]) -> Result<(), Error> {
        if vectors.into_iter().any(|vector| vector.version != self.version) {
            return Err(Error::TopologyMismatch);
        }
        if self.scope().variables { Ok(()) } else { Err(Error::NoVariables) }
    }

    fn check(&self, topologies: [&Topology; 3]) -> Result<(), Error> {
        let is_own = topologies.into_iter().all(|topology| *topology == self.topology);
        if is_own { Ok(()) } else { Err(Error::TopologyMismatch) }
    }

    /// The blocks of the force on one body or coordinate by the motion of one.
    fn forces_by_motion(&self) -> impl Iterator<Item = (End, End, &[T])> + '_ {
        let all = self.kinds.iter().map(|kind| &kind.derivatives);
        let all = all.flat_map(|derivatives| blocks(&derivatives.entries, derivatives.numbers()));
        all.filter_map(|(row, column, numbers)| match (row, column) {
            (Row::Force(on), Column::Motion(by)) => Some((on, by, numbers)),
            _ => None,
        })
    }
}

/// The most rows and columns of a block: those of a body.
const ROWS: usize = 6;
const COLUMNS: usize = 12;

/// The product of a block with this number of columns.
#[inline]
fn product<T: Real>(numbers: &[T], columns: &[T; COLUMNS], count: usize) -> [T; ROWS] {
    let mut sums = [T::zero(); ROWS];
    for (sum, numbers) in sums.iter_mut().zip(numbers.chunks_exact(count)) {
        for (&number, &column) in numbers.iter().zip(columns) {
            *sum += number * column;
        }
    }
    sums
}

/// The product of its transpose.
#[inline]
fn product_transposed<T: Real>(numbers: &[T], rows: &[T; ROWS], count: usize) -> [T; COLUMNS] {
    let mut sums = [T::zero(); COLUMNS];
    for (&row, numbers) in rows.iter().zip(numbers.chunks_exact(count)) {
        for (sum, &number) in sums.iter_mut().zip(numbers) {
            *sum += number * row;
        }
    }
    sums
}

/// One number and zeros.
#[inline]
fn only<T: Real, const N: usize>(number: T) -> [T; N] {
    let mut numbers = [T::zero(); N];
    numbers[0] = number;
    numbers
}

/// The components of the motion or the multipliers of a body or coordinate, then zeros.
#[inline]
fn rows<T: Real>(variation: &Variation<T>, end: End) -> [T; ROWS] {
    match end {
        End::Body(body) => {
            let SpatialVelocity { angular: w, linear: v } = *variation.body(body);
            [w.x, w.y, w.z, v.x, v.y, v.z]
        }
        End::Coordinate(coordinate) => only(variation.coordinate(coordinate)),
    }
}

/// The components of motion and velocity of a body or coordinate, one after the other, then zeros.
#[inline]
fn columns<T: Real>(motion: &Variation<T>, velocity: &Variation<T>, end: End) -> [T; COLUMNS] {
    let mut columns = [T::zero(); COLUMNS];
    // Ground does not move, so these derivatives are ignored.
    if end.is_ground() {
        return columns;
    }
    let freedoms = end.freedoms();
    columns[..freedoms].copy_from_slice(&rows(motion, end)[..freedoms]);
    columns[freedoms..2 * freedoms].copy_from_slice(&rows(velocity, end)[..freedoms]);
    columns
}

/// Adds to the force on a body or coordinate.
#[inline]
fn add<T: Real>(forces: &mut Forces<T>, end: End, sum: &[T]) {
    match end {
        End::Body(body) => {
            *forces.body_mut(Checked(body)) += SpatialForce::new(
                Vector3::from_column_slice(&sum[..3]),
                Vector3::from_column_slice(&sum[3..6]),
            );
        }
        End::Coordinate(coordinate) => *forces.coordinate_mut(Checked(coordinate)) += sum[0],
    }
}

/// Adds the part by position, and then the part by velocity.
#[inline]
fn add_both<T: Real>(
    by_position: &mut Forces<T>,
    by_velocity: &mut Forces<T>,
    end: End,
    sums: &[T; COLUMNS],
) {
    let (position, velocity) = sums.split_at(end.freedoms());
    add(by_position, end, position);
    add(by_velocity, end, velocity);
}
