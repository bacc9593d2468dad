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
            let (rows, columns) = (block.on.freedoms(), block.by.freedoms());
            let corner = row.zip(column);
            (0..if corner.is_some() { rows * columns } else { 0 }).map(move |i| {
                let ((row, column), (down, across)) =
                    (corner.unwrap_or_default(), (i / columns, i % columns));
                let [by_position, by_velocity] = block.at(down, across);
                Triplet { row: row + down, column: column + across, by_position, by_velocity }
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
            (Row::Force(on), Column::Motion(by)) => Some(Block { on, by, numbers }),
            _ => None,
        })
    }
}

/// The force on one body or coordinate by the motion of one.
#[derive(Debug, Clone, Copy)]
struct Block<'a, T> {
    on: End,
    by: End,
    numbers: &'a [T],
}

impl<T: Real> Block<'_, T> {
    /// One number by position and by velocity.
    fn at(&self, row: usize, column: usize) -> [T; 2] {
        let columns = self.by.freedoms();
        let start = 2 * columns * row + column;
        [self.numbers[start], self.numbers[start + columns]]
    }

    /// The derivatives by position and by velocity, row by row.
    fn rows(&self) -> impl Iterator<Item = (&[T], &[T])> {
        let columns = self.by.freedoms();
        self.numbers.chunks_exact(2 * columns).map(move |row| row.split_at(columns))
    }

    fn multiply(&self, dX: &Vector6<T>, dV: &Vector6<T>, sum: &mut Vector6<T>) {
        for (sum, (by_position, by_velocity)) in sum.iter_mut().zip(self.rows()) {
            for ((&k, &d), (&x, &v)) in by_position.iter().zip(by_velocity).zip(dX.iter().zip(dV)) {
                *sum += k * x + d * v;
            }
        }
    }

    fn multiply_transposed(
        &self,
        multipliers: &Vector6<T>,
        [on_position, on_velocity]: &mut [Vector6<T>; 2],
    ) {
        for (&multiplier, (by_position, by_velocity)) in multipliers.iter().zip(self.rows()) {
            for (i, (&k, &d)) in by_position.iter().zip(by_velocity).enumerate() {
                on_position[i] += k * multiplier;
                on_velocity[i] += d * multiplier;
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
