//! Splines of degree seven along one axis of a grid.

use alloc::vec::Vec;

use nalgebra::{convert, convert_unchecked};

use crate::math::{Real, solve_banded};

/// The number of B-splines that do not vanish between two neighbouring lines: one more than their degree.
pub(super) const FUNCTIONS: usize = 8;

/// The number of conditions at each end.
const CONDITIONS: usize = 3;

/// The evenly spaced lines of a grid across one axis, and the B-splines with knots on them.
///
/// A natural spline has zero derivatives of order four to six at its ends, and is of degree three beyond. It has the
/// least integral of the squared fourth derivative of all functions through its values.
///
/// C. de Boor, *A Practical Guide to Splines* (1978), chapters IX, X and XIII.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis<T> {
    pub(crate) lines: Vec<T>,
    /// The number of intervals from one value to the next. A spline through two or three values is a straight line or a
    /// parabola, which needs additional grid lines between the values.
    parts: u32,
    /// The inverse of the length of an interval.
    pub(super) inverse: T,
    /// The B-splines' coefficients of each power of the position in an interval, which is 0 at its start and 1 at its
    /// end: between any two lines, before the first line, and after the last.
    pieces: [[[T; FUNCTIONS]; FUNCTIONS]; 3],
}

impl<T: Real> Axis<T> {
    /// Lines for this number of values at this distance.
    pub(super) fn new(start: T, spacing: T, values: usize) -> Self {
        let parts = match values {
            2 => 3,
            3 => 2,
            _ => 1,
        };
        let spacing = spacing / T::lit(f64::from(parts));
        let count = (values - 1) * parts as usize + 1;
        let lines = (0..count).map(|i| start + spacing * T::lit(convert(i))).collect();
        let piece = powers();
        let pieces = [piece, beyond(&piece, T::zero()), beyond(&piece, T::one())];
        Self { lines, parts, inverse: T::one() / spacing, pieces }
    }

    pub(super) fn cast<U: Real>(&self) -> Axis<U> {
        Axis {
            lines: self.lines.iter().map(|x| x.cast()).collect(),
            parts: self.parts,
            inverse: self.inverse.cast(),
            pieces: self.pieces.map(|piece| piece.map(|power| power.map(T::cast))),
        }
    }

    /// The number of values.
    pub(super) fn values(&self) -> usize {
        (self.lines.len() - 1) / self.parts as usize + 1
    }

    /// The number of B-splines.
    pub(super) fn functions(&self) -> usize {
        self.lines.len() + 2 * CONDITIONS
    }

    /// The B-splines at `x` with their first two derivatives, and the index of the first; beyond the lines, those of the
    /// extrapolation.
    #[inline]
    pub(super) fn local<const ORDER: usize>(&self, x: T) -> (usize, [[T; FUNCTIONS]; 3]) {
        let last = self.lines.len() - 1;
        let (start, end) = (self.lines[0], self.lines[last]);
        let [between, before, after] = &self.pieces;
        let (first, piece, from) = if x < start {
            (0, before, start)
        } else if x > end {
            (last - 1, after, end)
        } else {
            // NaN counts as zero.
            let interval = convert_unchecked::<f64, usize>(((x - start) * self.inverse).to_f64().max(0.0));
            let interval = interval.min(last - 1);
            (interval, between, self.lines[interval])
        };
        (first, at::<T, ORDER>(piece, self.inverse, x - from))
    }

    /// Appends the values at the lines of the spline through these values, with zeros for the conditions at the ends.
    pub(super) fn append(&self, values: impl Iterator<Item = T>, to: &mut Vec<T>) {
        let start = to.len();
        to.resize(start + self.functions(), T::zero());
        let on_lines = &mut to[start + CONDITIONS..];
        let (lines, parts) = (&self.lines, self.parts as usize);
        for (i, value) in values.enumerate() {
            if parts == 1 {
                on_lines[i] = value;
                continue;
            }
            // Lagrange's polynomial of this value.
            for (x, on_line) in lines.iter().zip(&mut *on_lines) {
                let others = lines.iter().step_by(parts).enumerate().filter(|(other, _)| *other != i);
                *on_line += others
                    .fold(value, |product, (_, other)| product * (*x - *other) / (lines[i * parts] - *other));
            }
        }
    }

    /// Replaces the appended values by the coefficients of splines with natural ends and these values at the lines.
    pub(super) fn solve(&self, appended: &mut [T]) {
        let last = self.lines.len() - 1;
        let [before, after] = self.ends();
        let entry = |row: usize, column: usize| {
            if row < CONDITIONS {
                return if column < FUNCTIONS { before[row][column] } else { T::zero() };
            }
            let line = row - CONDITIONS;
            if line > last {
                let column = (column + 1).checked_sub(last);
                return column.map_or(T::zero(), |column| after[line - last - 1][column]);
            }
            let interval = line.min(last - 1);
            let place = if line == last { T::one() } else { T::zero() };
            let function = column.checked_sub(interval).filter(|function| *function < FUNCTIONS);
            function.map_or(T::zero(), |function| derivative(&self.pieces[0], 0, place)[function])
        };
        solve_banded(self.functions(), FUNCTIONS - 2, entry, appended);
    }

    /// The conditions at both ends, scaled so that the largest coefficient is one.
    fn ends(&self) -> [[[T; FUNCTIONS]; CONDITIONS]; 2] {
        [T::zero(), T::one()].map(|place| {
            core::array::from_fn(|condition| {
                let row = derivative(&self.pieces[0], 4 + condition, place);
                let largest = row.iter().fold(T::zero(), |largest, x| largest.max(x.abs()));
                row.map(|x| x / largest)
            })
        })
    }
}

/// The product of a polynomial with `a + b u`.
fn times<T: Real>(p: &[T; FUNCTIONS], a: T, b: T) -> [T; FUNCTIONS] {
    core::array::from_fn(|k| if k == 0 { a * p[0] } else { a * p[k] + b * p[k - 1] })
}

/// The B-splines over an interval, with knots at its multiples.
fn powers<T: Real>() -> [[T; FUNCTIONS]; FUNCTIONS] {
    let knot = |k: i32| T::lit(convert(k));
    let zero = T::zero();
    let mut functions = [[zero; FUNCTIONS]; FUNCTIONS];
    functions[0][0] = T::one();
    for (degree, d) in (1..FUNCTIONS).zip(1_i32..) {
        let mut saved = [zero; FUNCTIONS];
        for (function, r) in functions.iter_mut().take(degree).zip(0_i32..) {
            let (left, right) = (knot(1 - d + r), knot(1 + r));
            let share = function.map(|x| x / (right - left));
            let rising = times(&share, right, -T::one());
            *function = core::array::from_fn(|k| saved[k] + rising[k]);
            saved = times(&share, -left, T::one());
        }
        functions[degree] = saved;
    }
    core::array::from_fn(|power| functions.map(|function| function[power]))
}

/// The polynomials of degree three that agree at a point up to their third derivative, about this point.
fn beyond<T: Real>(powers: &[[T; FUNCTIONS]; FUNCTIONS], place: T) -> [[T; FUNCTIONS]; FUNCTIONS] {
    let mut about = [[T::zero(); FUNCTIONS]; FUNCTIONS];
    let mut factorial = T::one();
    for (order, power) in about.iter_mut().enumerate().take(4) {
        factorial *= T::lit(convert(order.max(1)));
        *power = derivative(powers, order, place).map(|x| x / factorial);
    }
    about
}

/// The derivatives of this order at a point, in units of the interval.
fn derivative<T: Real>(powers: &[[T; FUNCTIONS]; FUNCTIONS], order: usize, place: T) -> [T; FUNCTIONS] {
    let mut sum = [T::zero(); FUNCTIONS];
    for power in (order..FUNCTIONS).rev() {
        let falling: usize = (power - order + 1..=power).product();
        let scale = T::lit(convert(falling));
        sum = core::array::from_fn(|i| sum[i] * place + powers[power][i] * scale);
    }
    sum
}

/// The values with derivatives up to this order at this distance from the start; the rest is zero.
#[inline]
fn at<T: Real, const ORDER: usize>(
    powers: &[[T; FUNCTIONS]; FUNCTIONS],
    inverse: T,
    distance: T,
) -> [[T; FUNCTIONS]; 3] {
    let u = distance * inverse;
    let mut value = powers[FUNCTIONS - 1];
    let (mut slope, mut half_bend) = ([T::zero(); FUNCTIONS], [T::zero(); FUNCTIONS]);
    for power in powers.iter().rev().skip(1) {
        for i in 0..FUNCTIONS {
            if ORDER > 1 {
                half_bend[i] = half_bend[i] * u + slope[i];
            }
            if ORDER > 0 {
                slope[i] = slope[i] * u + value[i];
            }
            value[i] = value[i] * u + power[i];
        }
    }
    let square = inverse * inverse * T::lit(2.0);
    [value, slope.map(|x| x * inverse), half_bend.map(|x| x * square)]
}
