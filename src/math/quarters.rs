//! Matrices of six rows and columns, three for a rotation and three for a translation.

use nalgebra::{Matrix3, Matrix6};

use super::Real;

/// The matrix of these quarters, row by row.
#[inline]
pub(crate) fn joined<T: Real>(quarters: [[Matrix3<T>; 2]; 2]) -> Matrix6<T> {
    let mut all = Matrix6::zeros();
    for (row, quarters) in quarters.iter().enumerate() {
        for (column, quarter) in quarters.iter().enumerate() {
            all.fixed_view_mut::<3, 3>(3 * row, 3 * column).copy_from(quarter);
        }
    }
    all
}
