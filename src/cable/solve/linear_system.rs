//! The linear system of a step of Newton's method: block-tridiagonal, eliminated contact by contact.

use nalgebra::{Point3, Vector3};

use crate::cable::solve::node::{touching, touching_mut};
use crate::cable::{Geodesic, GeodesicEnd, Node, SpanProblem};
use crate::math::Real;

/// A straight segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chord<T> {
    pub(crate) direction: Vector3<T>,
    pub(crate) inverse_length: T,
}

impl<T: Real> Chord<T> {
    #[inline]
    pub(crate) fn new(from: &Point3<T>, to: &Point3<T>) -> Self {
        let along = to - from;
        let inverse_length = T::one() / along.norm();
        Self { direction: along * inverse_length, inverse_length }
    }

    /// The segment of zero length between a contact and a fixed point on its surface.
    #[inline]
    pub(crate) fn none(at: &GeodesicEnd<T>) -> Self {
        Self { direction: at.tangent, inverse_length: T::zero() }
    }

    /// The change of the component along `axis` with a motion of the far end along `motion`.
    #[inline]
    pub(crate) fn response(&self, axis: &Vector3<T>, motion: &Vector3<T>) -> T {
        (axis.dot(motion) - axis.dot(&self.direction) * self.direction.dot(motion)) * self.inverse_length
    }
}

/// The points before and after a contact, and whether the contact begins or ends there, on its surface.
#[inline]
pub(crate) fn around<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    k: usize,
) -> [(Point3<T>, bool); 2] {
    let [first, last] = nodes[k].holds;
    let (before, after) = (touching(&nodes[..k]).next_back(), touching(&nodes[k + 1..]).next());
    let from = before.map_or(span.from, |node| node.ground.end.point);
    let to = after.map_or(span.to, |node| node.ground.start.point);
    [(from, first && before.is_none()), (to, last && after.is_none())]
}

/// Sets up and eliminates the linear system, obstacle by obstacle; returns the largest kink.
#[inline]
pub(crate) fn assemble<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    tolerance: T,
    convexify: bool,
) -> (T, usize) {
    let mut largest = (T::zero(), 0);
    // The last contact, with the chord that leads on.
    let mut last: Option<(usize, Chord<T>)> = None;
    for k in 0..nodes.len() {
        if !nodes[k].in_contact {
            continue;
        }
        let Geodesic { start, end, jacobi, .. } = nodes[k].ground;
        let (start_b, end_b) = (start.binormal(), end.binormal());
        let after = touching(&nodes[k + 1..]).next();
        let [holds_start, holds_end] = nodes[k].holds;
        let (held_start, held_end) = (holds_start && last.is_none(), holds_end && after.is_none());
        let to = after.map_or(span.to, |next| next.ground.start.point);
        let mut chord = last.map_or_else(|| Chord::new(&span.from, &start.point), |(_, chord)| chord);
        let mut next_chord = Chord::new(&end.point, &to);
        if held_start {
            chord = Chord::none(&start);
        }
        if held_end {
            next_chord = Chord::none(&end);
        }

        // Rows: components of the chord along normal and binormal, at the start and at the end.
        let arriving = residual(&chord, &start, &start_b);
        let leaving = residual(&next_chord, &end, &end_b);
        let [(en, eb, et), (fn_, fb, ft)] = [arriving, leaving];
        for (n, b, t) in [arriving, leaving] {
            let sideways = n * n + b * b;
            // A chord that runs against the tangent is a kink of more than a right angle.
            let kink = if t > T::zero() { sideways.sqrt() } else { T::lit(2.0) - sideways.sqrt() };
            if kink >= largest.0 || !kink.is_finite() {
                largest = (kink, nodes[k].obstacle);
            }
        }
        let zero = T::zero();
        let inverse = chord.inverse_length;
        let mut block = [
            [
                -en * et * inverse + start.curvature * et + start.torsion * eb,
                -en * eb * inverse + start.torsion * et + start.transverse_curvature * eb,
                zero,
                zero,
            ],
            [
                -eb * et * inverse - start.torsion * en,
                (T::one() - eb * eb) * inverse - start.transverse_curvature * en,
                -et,
                zero,
            ],
            [zero; 4],
            [zero; 4],
        ];
        let inverse = next_chord.inverse_length;
        let along = [
            fn_ * ft * inverse + end.curvature * ft + end.torsion * fb,
            fb * ft * inverse - end.torsion * fn_,
        ];
        let across = [
            fn_ * fb * inverse + end.torsion * ft + end.transverse_curvature * fb,
            (fb * fb - T::one()) * inverse - end.transverse_curvature * fn_,
        ];
        let turn = [zero, -ft];
        for row in 0..2 {
            block[2 + row] = [
                along[row],
                across[row] * jacobi.shift + turn[row] * jacobi.shift_rate,
                across[row] * jacobi.turn + turn[row] * jacobi.turn_rate,
                along[row],
            ];
        }
        let mut right = [-en, -eb, -fn_, -fb];
        // Where the contact is held, rows for its shifts from the fixed point, in radians of turn.
        if held_start {
            let (off, scale) =
                (span.from - start.point, start.greatest_curvature() + next_chord.inverse_length);
            block[0] = [scale, zero, zero, zero];
            block[1] = [zero, scale, zero, zero];
            right[0] = scale * off.dot(&start.tangent);
            right[1] = scale * off.dot(&start_b);
        }
        if held_end {
            let (off, scale) = (to - end.point, end.greatest_curvature() + chord.inverse_length);
            block[2] = [scale, zero, zero, scale];
            block[3] = [zero, -scale * jacobi.shift, -scale * jacobi.turn, zero];
            right[2] = scale * off.dot(&end.tangent);
            right[3] = -scale * off.dot(&end_b);
        }
        if held_start || held_end {
            let off = |is_held: bool, row: usize| {
                if is_held { right[row].abs() + right[row + 1].abs() } else { zero }
            };
            let kink = off(held_start, 0).max(off(held_end, 2));
            if kink >= largest.0 || !kink.is_finite() {
                largest = (kink, nodes[k].obstacle);
            }
        }

        if let Some((before, _)) = last {
            let Node { ground: Geodesic { end, jacobi, .. }, constant, ahead, .. } = &nodes[before];
            let end_b = end.binormal();
            for (r, axis) in [start.normal, start_b].iter().enumerate() {
                let along = -chord.response(axis, &end.tangent);
                let across = -chord.response(axis, &end_b);
                let coupling = [along, across * jacobi.shift, across * jacobi.turn, along];
                right[r] -= dot(&coupling, constant);
                block[r][0] -= dot(&coupling, &ahead[0]);
                block[r][1] -= dot(&coupling, &ahead[1]);
            }
        }
        if convexify {
            // Where a chord meets the surface steeply, sliding along it changes little.
            let least = |end: &GeodesicEnd<T>| {
                T::lit(0.5) * end.curvature.max(T::lit(0.25) * end.greatest_curvature())
            };
            block[0][0] = block[0][0].max(least(&start));
            let growth = block[2][3].max(least(&end));
            block[2][0] += growth - block[2][3];
            block[2][3] = growth;
        }
        let mut ahead = [[zero; 4]; 2];
        if let Some(after) = after {
            let next = &after.ground.start;
            for (column, motion) in ahead.iter_mut().zip([next.tangent, next.binormal()]) {
                column[2] = next_chord.response(&end.normal, &motion);
                column[3] = next_chord.response(&end_b, &motion);
            }
        }
        let stiffness = chord.inverse_length + next_chord.inverse_length;
        let minimal = second_variation(&mut block, stiffness, tolerance, convexify);
        let node = &mut nodes[k];
        [node.constant, node.ahead[0], node.ahead[1]] = solve(block, [right, ahead[0], ahead[1]]);
        node.inverse_chords = [chord.inverse_length, next_chord.inverse_length];
        node.minimal = minimal;
        last = Some((k, next_chord));
    }
    largest
}

/// The chord's components along normal, binormal and tangent.
#[inline]
pub(crate) fn residual<T: Real>(chord: &Chord<T>, end: &GeodesicEnd<T>, binormal: &Vector3<T>) -> (T, T, T) {
    let e = &chord.direction;
    (e.dot(&end.normal), e.dot(binormal), e.dot(&end.tangent))
}

/// Back substitution; returns the largest turn of any end \[rad\].
#[inline]
pub(crate) fn substitute<T: Real>(nodes: &mut [Node<T>]) -> T {
    let mut next = [T::zero(); 2];
    let mut largest = T::zero();
    for node in touching_mut(nodes).rev() {
        let Node { constant, ahead, .. } = &*node;
        let correction: [T; 4] =
            core::array::from_fn(|i| constant[i] - ahead[0][i] * next[0] - ahead[1][i] * next[1]);
        next = [correction[0], correction[1]];
        node.correction = correction;
        let size = node.turn_of(&correction);
        // NaN must propagate.
        if size > largest || !size.is_finite() {
            largest = size;
        }
    }
    largest
}

#[inline]
fn dot<T: Real>(a: &[T; 4], b: &[T; 4]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// Whether a pivot block leaves the second variation of length positive, or zero within a tolerance: then all paths in
/// some direction are equal, as around an axis of revolution through both ends. A zero is made stiff, so that nothing
/// drifts in that direction. On request, changes the block so that it is positive by a margin, and returns whether it was
/// so before.
///
/// With `s` (shift along, growth) eliminated by the two normal rows, the remainder of the binormal rows is, up to
/// multiplication by `[[1, −shift], [0, −turn]]`, the Schur complement of the Hessian of length over (shift across,
/// turn). It is symmetric where the kinks vanish. By Sylvester's criterion, in the order turn, shift, it is positive
/// exactly if the two signs below hold; the Jacobi scalar `turn` is positive short of the conjugate point.
#[inline]
fn second_variation<T: Real>(block: &mut [[T; 4]; 4], stiffness: T, tolerance: T, convexify: bool) -> bool {
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
fn solve<T: Real>(mut m: [[T; 4]; 4], mut right: [[T; 4]; 3]) -> [[T; 4]; 3] {
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
