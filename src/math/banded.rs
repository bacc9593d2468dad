//! Linear systems with a banded matrix.

use alloc::vec::Vec;

use super::Real;

/// A square matrix with as many diagonals on each side of the main one as its bandwidth, decomposed by Gaussian
/// elimination with row pivoting.
///
/// G. H. Golub, C. F. Van Loan, *Matrix Computations* (2013), 4.3.
#[derive(Debug)]
pub(crate) struct Banded<T> {
    width: usize,
    /// By row, from `width` diagonals below the main one to twice as many above, which pivoting fills; below it are the
    /// factors of the elimination.
    rows: Vec<T>,
    pivots: Vec<usize>,
}

impl<T: Real> Banded<T> {
    /// Decomposes the matrix of this size and bandwidth, given by its entries within the band.
    ///
    /// A singular matrix gives solutions that are not finite.
    pub(crate) fn decompose(size: usize, width: usize, entry: impl Fn(usize, usize) -> T) -> Self {
        let stride = 3 * width + 1;
        let mut rows = alloc::vec![T::zero(); size * stride];
        // The place of an entry.
        let at = |row: usize, column: usize| row * stride + column + width - row;
        for row in 0..size {
            for column in row.saturating_sub(width)..size.min(row + width + 1) {
                rows[at(row, column)] = entry(row, column);
            }
        }
        let mut pivots = Vec::with_capacity(size);
        for k in 0..size {
            let below = size.min(k + width + 1);
            let mut pivot = k;
            for row in k + 1..below {
                if rows[at(row, k)].abs() > rows[at(pivot, k)].abs() {
                    pivot = row;
                }
            }
            pivots.push(pivot);
            let end = size.min(k + 2 * width + 1);
            for column in k..end {
                if pivot != k {
                    rows.swap(at(k, column), at(pivot, column));
                }
            }
            let inverse = T::one() / rows[at(k, k)];
            for row in k + 1..below {
                let factor = rows[at(row, k)] * inverse;
                rows[at(row, k)] = factor;
                for column in k + 1..end {
                    let above = rows[at(k, column)];
                    rows[at(row, column)] -= factor * above;
                }
            }
        }
        Self { width, rows, pivots }
    }

    /// Replaces the right-hand side by the solution.
    pub(crate) fn solve(&self, x: &mut [T]) {
        let Self { width, rows, pivots } = self;
        let (size, stride) = (pivots.len(), 3 * width + 1);
        for (k, &pivot) in pivots.iter().enumerate() {
            x.swap(k, pivot);
            for row in k + 1..size.min(k + width + 1) {
                let above = x[k];
                x[row] -= rows[row * stride + k + width - row] * above;
            }
        }
        for k in (0..size).rev() {
            let row = &rows[k * stride + width..(k + 1) * stride];
            let known = row[1..].iter().zip(&x[k + 1..]).fold(T::zero(), |sum, (a, x)| sum + *a * *x);
            x[k] = (x[k] - known) / row[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_satisfies_the_equations_where_pivoting_is_needed() {
        const SIZE: u32 = 40;
        // Zero on the diagonal of every third row.
        let entry = |row: usize, column: usize| -> f64 {
            let wave = f64::from(u32::try_from(7 * row + 3 * column * column).expect("small")).sin();
            if row == column && row.is_multiple_of(3) { 0.0 } else { wave }
        };
        for width in 1..6 {
            let size = SIZE as usize;
            let expected: Vec<f64> = (0..SIZE).map(|i| f64::from(i).cos()).collect();
            let mut x: Vec<f64> = (0..size)
                .map(|row| {
                    let columns = row.saturating_sub(width)..size.min(row + width + 1);
                    columns.map(|column| entry(row, column) * expected[column]).sum()
                })
                .collect();
            Banded::decompose(size, width, entry).solve(&mut x);
            for (x, expected) in x.iter().zip(&expected) {
                // The matrices have condition numbers of up to a thousand.
                assert!((x - expected).abs() < 1e-12, "{width}: {x} {expected}");
            }
        }
    }
}
