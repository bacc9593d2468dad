//! Products with a linearization, and its matrices.

use nalgebra::{DMatrix, Vector6};

use super::blocks::{Column, Row};
use super::ends::End;
use super::linearization::{ElementLinearization, Linearization};
use super::variation::Variation;
use crate::framework::Error;
use crate::math::{Real, SpatialForce, SpatialVelocity};
use crate::mechanics::{Forces, Topology};

/// One number of the matrices of a system; several in one place add up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triplet<T> {
    /// The row, as [`Linearization::row_of`] numbers them.
    pub row: usize,
    /// The column, likewise.
    pub column: usize,
    /// The derivative of the force by the position.
    pub by_position: T,
    /// The derivative of the force by the velocity.
    pub by_velocity: T,
}

impl<T: Real> Linearization<T> {
    /// The number of rows and columns of the matrices: six for each place of a body but Ground, and one for each place of
    /// a coordinate. Those of vacant places are zero.
    pub fn size(&self) -> usize {
        6 * (self.topology.body_places() - 1) + self.topology.coordinate_places()
    }

    /// The first row and column of a body, or that of a coordinate; `None` for Ground, and for what does not exist.
    pub fn row_of(&self, end: End) -> Option<usize> {
        match end {
            End::Body(body) => self.topology.has_body(body).then_some(6 * body.index())?.checked_sub(6),
            End::Coordinate(coordinate) => self
                .topology
                .has_coordinate(coordinate)
                .then(|| 6 * (self.topology.body_places() - 1) + coordinate.index()),
        }
    }

    /// The numbers of the matrices `K` and `D`, without those of forces on Ground, element by element.
    pub fn triplets(&self) -> impl Iterator<Item = Triplet<T>> + '_ {
        self.forces_by_motion().flat_map(move |block| {
            let (row, column) = (self.row_of(block.on), self.row_of(block.by));
            let (rows, count) = (block.on.freedoms(), block.on.freedoms() * block.by.freedoms());
            let corner = row.zip(column);
            (0..if corner.is_some() { count } else { 0 }).map(move |i| {
                let (row, column) = corner.unwrap_or_default();
                Triplet {
                    row: row + i % rows,
                    column: column + i / rows,
                    by_position: block.by_position[i],
                    by_velocity: block.by_velocity[i],
                }
            })
        })
    }

    /// The matrices `K = ∂F/∂X` and `D = ∂F/∂V`, of [`size`](Self::size) rows and columns.
    pub fn to_dense(&self) -> [DMatrix<T>; 2] {
        let mut matrices = [0, 1].map(|_| DMatrix::zeros(self.size(), self.size()));
        for Triplet { row, column, by_position, by_velocity } in self.triplets() {
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
        for block in self.forces_by_motion() {
            let (dX, dV) = (motion.at(block.by), velocity.at(block.by));
            let mut sum = Vector6::zeros();
            block.multiply(&dX, &dV, &mut sum);
            add(forces, block.on, &sum);
        }
        Ok(())
    }

    /// Writes `Kᵀλ` and `Dᵀλ`: what the multipliers `λ` of forces, summed as a power, feel of positions and of velocities.
    /// The matrices are those of [`apply`](Self::apply), bit for bit.
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
        for block in self.forces_by_motion() {
            let multipliers = multipliers.at(block.on);
            let mut sums = [Vector6::zeros(); 2];
            block.multiply_transposed(&multipliers, &mut sums);
            add(by_position, block.by, &sums[0]);
            add(by_velocity, block.by, &sums[1]);
        }
        Ok(())
    }

    fn check(&self, topologies: [&Topology; 3]) -> Result<(), Error> {
        let is_own = topologies.into_iter().all(|topology| *topology == self.topology);
        if is_own { Ok(()) } else { Err(Error::TopologyMismatch) }
    }

    fn forces_by_motion(&self) -> impl Iterator<Item = Block<'_, T>> + '_ {
        self.elements.iter().flat_map(ElementLinearization::forces_by_motion)
    }
}

impl<T: Real> ElementLinearization<T> {
    fn forces_by_motion(&self) -> impl Iterator<Item = Block<'_, T>> + '_ {
        self.blocks().filter_map(|(row, column, numbers)| match (row, column) {
            (Row::Force(on), Column::Motion(by)) => {
                let (by_position, by_velocity) = numbers.split_at(numbers.len() / 2);
                Some(Block { on, by, by_position, by_velocity })
            }
            _ => None,
        })
    }
}

/// The force on one body or coordinate by the motion of one.
#[derive(Debug, Clone, Copy)]
struct Block<'a, T> {
    on: End,
    by: End,
    by_position: &'a [T],
    by_velocity: &'a [T],
}

impl<T: Real> Block<'_, T> {
    fn multiply(&self, dX: &Vector6<T>, dV: &Vector6<T>, sum: &mut Vector6<T>) {
        let rows = self.on.freedoms();
        let columns = self.by_position.chunks_exact(rows).zip(self.by_velocity.chunks_exact(rows));
        for ((k, d), (&x, &v)) in columns.zip(dX.iter().zip(dV)) {
            for ((sum, &k), &d) in sum.iter_mut().zip(k).zip(d) {
                *sum += k * x + d * v;
            }
        }
    }

    fn multiply_transposed(&self, multipliers: &Vector6<T>, sums: &mut [Vector6<T>; 2]) {
        let rows = self.on.freedoms();
        for (sums, numbers) in sums.iter_mut().zip([self.by_position, self.by_velocity]) {
            for (sum, column) in sums.iter_mut().zip(numbers.chunks_exact(rows)) {
                for (&number, &multiplier) in column.iter().zip(multipliers) {
                    *sum += number * multiplier;
                }
            }
        }
    }
}

impl<T: Real> Variation<T> {
    /// The motion of a body or coordinate, in the first components of a vector.
    fn at(&self, end: End) -> Vector6<T> {
        match end {
            End::Body(body) => {
                // Ground does not move, whatever has been written.
                let is_ground = end.is_ground();
                let SpatialVelocity { angular: w, linear: v } =
                    if is_ground { SpatialVelocity::zero() } else { *self.body(body) };
                Vector6::new(w.x, w.y, w.z, v.x, v.y, v.z)
            }
            End::Coordinate(coordinate) => {
                let mut only = Vector6::zeros();
                only[0] = self.coordinate(coordinate);
                only
            }
        }
    }
}

fn add<T: Real>(forces: &mut Forces<T>, end: End, sum: &Vector6<T>) {
    match end {
        End::Body(body) => {
            *forces.body_mut(body.index()) +=
                SpatialForce::new(sum.fixed_rows::<3>(0).into(), sum.fixed_rows::<3>(3).into());
        }
        End::Coordinate(coordinate) => *forces.coordinate_mut(coordinate.index()) += sum[0],
    }
}
