//! Linear systems with a banded matrix.

use super::Real;

/// Replaces right-hand sides, one after the other, by the solutions of a linear system of this size, by Gaussian
/// elimination with row pivoting. The matrix has `width` diagonals on each side of the main one. Entries are requested
/// only within the band. Solutions with a singular matrix are not finite.
///
/// G. H. Golub, C. F. Van Loan, *Matrix Computations* (2013), 4.3.
pub(crate) fn solve_banded<T: Real>(
    size: usize,
    width: usize,
    entry: impl Fn(usize, usize) -> T,
    sides: &mut [T],
) {
    // By row, from `width` diagonals below the main one to twice as many above it, which pivoting fills.
    let stride = 3 * width + 1;
    let mut rows = alloc::vec![T::zero(); size * stride];
    // The place of an entry.
    let at = |row: usize, column: usize| row * stride + column + width - row;
    for row in 0..size {
        for column in row.saturating_sub(width)..size.min(row + width + 1) {
            rows[at(row, column)] = entry(row, column);
        }
    }
    for k in 0..size {
        let (below, end) = (size.min(k + width + 1), size.min(k + 2 * width + 1));
        let mut pivot = k;
        for row in k + 1..below {
            if rows[at(row, k)].abs() > rows[at(pivot, k)].abs() {
                pivot = row;
            }
        }
        (k..end).for_each(|column| rows.swap(at(k, column), at(pivot, column)));
        sides.chunks_exact_mut(size).for_each(|x| x.swap(k, pivot));
        let inverse = T::one() / rows[at(k, k)];
        for row in k + 1..below {
            let factor = rows[at(row, k)] * inverse;
            for column in k + 1..end {
                let above = rows[at(k, column)];
                rows[at(row, column)] -= factor * above;
            }
            for x in sides.chunks_exact_mut(size) {
                let above = x[k];
                x[row] -= factor * above;
            }
        }
    }
    for k in (0..size).rev() {
        let row = &rows[k * stride + width..(k + 1) * stride];
        for x in sides.chunks_exact_mut(size) {
            let known = row[1..].iter().zip(&x[k + 1..]).fold(T::zero(), |sum, (a, x)| sum + *a * *x);
            x[k] = (x[k] - known) / row[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

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
            solve_banded(size, width, entry, &mut x);
            for (x, expected) in x.iter().zip(&expected) {
                // The matrices have condition numbers of up to a thousand.
                assert!((x - expected).abs() < 1e-12, "{width}: {x} {expected}");
            }
        }
    }
}
