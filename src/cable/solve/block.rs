//! The four-by-four blocks of the path's linear system.

use crate::math::Real;

/// One row of blocks after elimination: `correction = constant − ahead · (next correction's shifts)`.
///
/// A correction has the four natural geodesic corrections of one obstacle: shift of the start along the tangent and along
/// the binormal, turn of the start, growth of the length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eliminated<T> {
    pub(crate) constant: [T; 4],
    pub(crate) ahead: [[T; 4]; 2],
    /// Whether the second variation restricted to this and all earlier obstacles is positive.
    pub(crate) minimal: bool,
}

impl<T: Real> Eliminated<T> {
    pub(crate) fn blank() -> Self {
        let zero = [T::zero(); 4];
        Self { constant: zero, ahead: [zero; 2], minimal: true }
    }
}

#[inline]
pub(crate) fn dot<T: Real>(a: &[T; 4], b: &[T; 4]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// Whether a pivot block leaves the second variation of length positive, or zero within a tolerance: then all paths in
/// some direction are equal, as around an axis of revolution through both ends. A zero is made stiff, so that nothing
/// drifts in that direction. On request, changes the block so that it is positive by a margin, and returns whether it
/// was so before.
///
/// With `s` (shift along, growth) eliminated by the two normal rows, what remains of the binormal
/// rows is, up to multiplication by `[[1, −shift], [0, −turn]]`, the Schur complement of the
/// Hessian of length over (shift across, turn). It is symmetric where the kinks vanish; by
/// Sylvester's criterion, in the order turn, shift, it is positive exactly if the two signs below
/// hold, the Jacobi scalar `turn` being positive short of the conjugate point.
#[inline]
pub(crate) fn second_variation<T: Real>(
    block: &mut [[T; 4]; 4],
    stiffness: T,
    tolerance: T,
    convexify: bool,
) -> bool {
    // Pivots are kept this far from zero, relative to those of a straight cable.
    const LEAST: f64 = 0.05;
    let [first, second, third, fourth] = *block;
    // Normal rows solved for (shift along, growth); growth is absent from the first.
    let reduced = |column: usize| {
        let along = first[column] / first[0];
        let growth = (third[column] - third[0] * along) / third[3];
        [second[column] - second[0] * along, fourth[column] - fourth[0] * along - fourth[3] * growth]
    };
    let (shift, turn) = (reduced(1), reduced(2));
    if !convexify {
        let across = shift[0] - shift[1] * turn[0] / turn[1];
        if across.abs() <= tolerance * stiffness {
            block[1][1] += T::lit(LEAST) * stiffness;
            return turn[1] < T::zero();
        }
        return turn[1] < T::zero() && across > T::zero();
    }
    let (least_turn, least_across) = (T::lit(LEAST), T::lit(LEAST) * stiffness);
    let pivot = -turn[1].abs().max(least_turn);
    block[3][2] += pivot - turn[1];
    let across = shift[0] - shift[1] * turn[0] / pivot;
    block[1][1] += across.abs().max(least_across) - across;
    -turn[1] >= least_turn && across >= least_across
}

/// Gauss elimination with partial pivoting; NaN if the block is singular.
#[inline]
pub(crate) fn solve<T: Real>(mut m: [[T; 4]; 4], mut right: [[T; 4]; 3]) -> [[T; 4]; 3] {
    for column in 0..4 {
        let mut pivot = column;
        for row in column + 1..4 {
            if m[row][column].abs() > m[pivot][column].abs() {
                pivot = row;
            }
        }
        if pivot != column {
            m.swap(column, pivot);
            for side in &mut right {
                side.swap(column, pivot);
            }
        }
        let inverse = T::one() / m[column][column];
        for row in column + 1..4 {
            let factor = m[row][column] * inverse;
            let above = m[column];
            for (entry, above) in m[row].iter_mut().zip(above).skip(column + 1) {
                *entry -= factor * above;
            }
            for side in &mut right {
                let above = side[column];
                side[row] -= factor * above;
            }
        }
        m[column][column] = inverse;
    }
    for side in &mut right {
        for row in (0..4).rev() {
            let mut value = side[row];
            for column in row + 1..4 {
                value -= m[row][column] * side[column];
            }
            side[row] = value * m[row][row];
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix2, Matrix4};

    use super::*;
    use crate::testing::Numbers;

    /// What remains of the binormal rows for shift across and turn, by nalgebra.
    fn remaining(block: &[[f64; 4]; 4]) -> Matrix2<f64> {
        let m = Matrix4::from_fn(|i, j| block[i][j]);
        let of = |rows: [usize; 2], columns: [usize; 2]| Matrix2::from_fn(|i, j| m[(rows[i], columns[j])]);
        let (normal, binormal) = ([0, 2], [1, 3]);
        let solved = of(normal, [0, 3]).try_inverse().expect("regular") * of(normal, [1, 2]);
        of(binormal, [1, 2]) - of(binormal, [0, 3]) * solved
    }

    #[test]
    fn a_second_variation_is_positive_by_sylvesters_criterion_or_made_so() {
        let numbers = &mut Numbers::new(3);
        let mut minimal = [0; 2];
        for _ in 0..400 {
            let mut block = [[(); 4]; 4].map(|row| row.map(|()| numbers.between(-2.0, 2.0)));
            // Growth moves the end in the first two rows by nothing.
            (block[0][3], block[1][3]) = (0.0, 0.0);
            // Far from singular.
            block[0][0] = 2.5;
            block[2][3] = -2.5;
            let remains = remaining(&block);
            let is_positive = remains[(1, 1)] < 0.0 && remains.determinant() < 0.0;
            assert_eq!(second_variation(&mut block.clone(), 1.0, 0.0, false), is_positive, "{remains}");
            minimal[usize::from(is_positive)] += 1;
            let was = second_variation(&mut block, 1.0, 0.0, true);
            let changed = remaining(&block);
            let across = changed.determinant() / changed[(1, 1)];
            // Sums of numbers of some hundreds at most.
            assert!(-changed[(1, 1)] > 0.05 - 1e-12 && across > 0.05 - 1e-12, "{changed}");
            if was {
                assert!((changed - remains).norm() < 1e-12, "{changed} {remains}");
            }
            assert!(is_positive || !was);
        }
        assert!(minimal.iter().all(|&count| count > 50), "{minimal:?}");
    }
}
