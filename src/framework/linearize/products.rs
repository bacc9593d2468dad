//! Products with a linearization, and its matrices.

use nalgebra::{DMatrix, Vector3};

use super::blocks::{Column, Row};
use super::ends::End;
use super::linearization::{ElementLinearization, Linearization};
use super::variable_vector::VariableVector;
use crate::framework::Error;
use crate::math::{Real, SpatialForce, SpatialVelocity, have_same_bits};
use crate::mechanics::{Checked, Forces, Topology, Variation};

impl<T: Real> Linearization<T> {
    /// The number of rows and columns of the matrices: six for each place of a body except Ground, and one for each place
    /// of a coordinate. Rows and columns of vacant places are zero.
    pub fn size(&self) -> usize {
        6 * (self.topology.body_places() - 1) + self.topology.coordinate_places()
    }

    /// The first row and column of a body, or the row and column of a coordinate; `None` for Ground, and if it does not
    /// exist.
    pub fn row_of(&self, end: End) -> Option<usize> {
        match end {
            End::Body(body) => self.topology.has_body(body).then_some(6 * body.index())?.checked_sub(6),
            End::Coordinate(coordinate) => self
                .topology
                .has_coordinate(coordinate)
                .then(|| 6 * (self.topology.body_places() - 1) + coordinate.index()),
        }
    }

    /// The entries of the matrices `K` and `D`, without forces on Ground, element by element: row, column, and the
    /// derivatives of the force by position and by velocity. Entries in the same place add up.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, [T; 2])> + '_ {
        let blocks = self.elements().flat_map(|element| element.blocks());
        let corners = blocks.filter_map(|(row, column, numbers)| match (row, column) {
            (Row::Force(on), Column::Motion(by)) => {
                Some((self.row_of(on)?, self.row_of(by)?, by.freedoms(), numbers))
            }
            _ => None,
        });
        corners.flat_map(|(row, column, columns, numbers)| {
            (0..numbers.len() / 2).map(move |i| {
                let (down, across) = (i / columns, i % columns);
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

    /// Writes the change of all forces for this change of positions and velocities, `K·dX + D·dV`.
    ///
    /// `variables` is optional. It contains a change of time and variables, whose effect on the forces is added, and
    /// `next`, into which the change of all variables after the next commit is written. In `next`
    ///
    /// - time and parameters change as in `variables`;
    /// - discrete variables change as the commit will write them, or as in `variables` for a disabled element and without
    ///   a commit in the [scope](crate::Scope::commit);
    /// - in place of continuous variables `z` there are the changes `δr` of their rates. The host integrates them: after
    ///   a step of length `h` by `z' = z + h r` the change is `δz' = δz + h δr`, with `δz` from `variables`. Then `next`
    ///   is the `variables` of the next step.
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
    /// let coefficient = format!("{}.dynamic_friction_coefficient", brake.id());
    /// let mode = format!("{}.friction_mode", brake.id());
    /// let (none, mut forces) = (Variation::zeros(system.topology()), Forces::zeros(system.topology()));
    /// let (mut change, mut next) = (VariableVector::zeros(&state), VariableVector::zeros(&state));
    /// *change.number_mut(&state, &coefficient)? = -0.01;
    /// linearization.apply(&none, &none, &mut forces, Some((&change, &mut next)))?;
    /// assert!((forces.coordinate(disc) - 0.5).abs() < 1e-12); // it brakes with −20 N
    /// assert!((next.number(&state, &mode)? + 0.5).abs() < 1e-12);
    /// assert_eq!(next.number(&state, &coefficient)?, -0.01);
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if one of the arguments was made for another topology or system;
    /// [`Error::NoVariables`] without variables in the [scope](crate::Scope::variables).
    pub fn apply(
        &self,
        motion: &Variation<T>,
        velocity: &Variation<T>,
        forces: &mut Forces<T>,
        mut variables: Option<(&VariableVector<T>, &mut VariableVector<T>)>,
    ) -> Result<(), Error> {
        self.check([motion.topology(), velocity.topology(), forces.topology()])?;
        if let Some((variables, next)) = &mut variables {
            self.check_variables([variables, next])?;
            next.clone_from(variables);
        }
        forces.set_zero();
        for (place, element) in self.elements().enumerate() {
            if let Some((_, next)) = &mut variables {
                next.begin_products(place, element.slot.commits);
            }
            for (row, column, numbers) in element.blocks() {
                if variables.is_none() && !matches!(row, Row::Force(_)) {
                    continue;
                }
                let factors = match (column, &variables) {
                    (Column::Motion(by), _) => columns(motion, velocity, by),
                    (Column::Variable(variable), Some((variables, _))) => {
                        only(variables.of_column(place, variable))
                    }
                    (Column::Variable(_), None) => continue,
                };
                // In most directions, few variables change.
                if matches!(column, Column::Variable(_)) && have_same_bits(factors[0], T::zero()) {
                    continue;
                }
                let sum = product(numbers, &factors, column.len());
                match (row, &mut variables) {
                    (Row::Force(on), _) => add(forces, on, &sum),
                    (Row::Next(number), Some((_, next))) => *next.of_group_mut(place, 1, number) += sum[0],
                    (Row::Rate(number), Some((_, next))) => *next.of_group_mut(place, 2, number) += sum[0],
                    (_, None) => {}
                }
            }
        }
        Ok(())
    }

    /// Writes `Kᵀλ` and `Dᵀλ` for multipliers `λ` of the forces, summed like a power. The matrices are bit-identical to
    /// those of [`apply`](Self::apply).
    ///
    /// `variables` is optional. It contains multipliers `next` of the variables after the next commit, whose products are
    /// added, and `by_variables`, into which the products with the derivatives by time and variables are written. If
    /// `next` is the gradient of a result by the variables after a step, then `by_variables` is the gradient by the
    /// variables before it; for the parameters, the sum over all later steps.
    ///
    /// In place of continuous variables `z`, `next` has the multipliers of their rates. For a step of length `h` by
    /// `z' = z + h r` and a gradient `g'` by `z'`, these are `h g'`. The host then adds `g'` to the numbers of
    /// `by_variables` in their places, which gives the gradient by `z`.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_transpose(
        &self,
        multipliers: &Variation<T>,
        by_position: &mut Forces<T>,
        by_velocity: &mut Forces<T>,
        mut variables: Option<(&VariableVector<T>, &mut VariableVector<T>)>,
    ) -> Result<(), Error> {
        self.check([multipliers.topology(), by_position.topology(), by_velocity.topology()])?;
        if let Some((next, by_variables)) = &mut variables {
            self.check_variables([next, by_variables])?;
            by_variables.clone_from(next);
        }
        by_position.set_zero();
        by_velocity.set_zero();
        for (place, element) in self.elements().enumerate() {
            if let Some((_, by_variables)) = &mut variables {
                by_variables.begin_products(place, element.slot.commits);
            }
            for (row, column, numbers) in element.blocks() {
                if variables.is_none() && matches!(column, Column::Variable(_)) {
                    continue;
                }
                let factors = match (row, &variables) {
                    (Row::Force(on), _) => rows(multipliers, on),
                    (Row::Next(number), Some((next, _))) => only(next.of_group(place, 1, number)),
                    (Row::Rate(number), Some((next, _))) => only(next.of_group(place, 2, number)),
                    (_, None) => continue,
                };
                // Most of the memory affects only the next step.
                if !matches!(row, Row::Force(_)) && have_same_bits(factors[0], T::zero()) {
                    continue;
                }
                let sums = product_transposed(numbers, &factors, column.len());
                match (column, &mut variables) {
                    (Column::Motion(by), _) => {
                        let (position, velocity) = sums.split_at(by.freedoms());
                        add(by_position, by, position);
                        add(by_velocity, by, velocity);
                    }
                    (Column::Variable(variable), Some((_, by_variables))) => {
                        *by_variables.of_column_mut(place, variable) += sums[0];
                    }
                    (Column::Variable(_), None) => {}
                }
            }
        }
        Ok(())
    }

    /// The elements at all places of all kinds.
    fn elements(&self) -> impl Iterator<Item = ElementLinearization<'_, T>> {
        self.kinds.iter().flat_map(|derivatives| {
            derivatives.elements.iter().map(move |slot| ElementLinearization { derivatives, slot })
        })
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
}

/// The most rows and columns of a block, those of a body.
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

/// The product of the transpose of a block.
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

/// The components of motion and velocity of a body or coordinate, one after the other, and then zeros.
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
