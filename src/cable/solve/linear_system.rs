//! The linear system of a step of Newton's method: block-tridiagonal, eliminated contact by contact.

use nalgebra::{Point3, Vector3};

use crate::cable::geodesics::geodesic::{Geodesic, GeodesicEnd};
use crate::cable::solve::block::{Eliminated, dot, second_variation, solve};
use crate::cable::solve::node::Node;
use crate::math::Real;

/// A straight segment.
#[derive(Clone, Copy)]
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

/// Whether the contact begins and ends at the fixed points, which lie on its surface.
#[inline]
pub(crate) fn held<T: Real>(nodes: &[Node<T>], active: &[usize], i: usize) -> [bool; 2] {
    let [first, last] = nodes[active[i]].holds;
    [first && i == 0, last && i + 1 == active.len()]
}

/// Sets up and eliminates the linear system, obstacle by obstacle; returns the largest kink.
#[inline]
pub(crate) fn assemble<T: Real>(
    nodes: &mut [Node<T>],
    active: &[usize],
    a: &Point3<T>,
    b: &Point3<T>,
    tolerance: T,
    convexify: bool,
) -> (T, usize) {
    let mut largest = (T::zero(), 0);
    let mut before: Option<usize> = None;
    let mut chord = Chord::new(a, &nodes[active[0]].ground.start.point);
    for (i, &k) in active.iter().enumerate() {
        let Geodesic { start, end, jacobi, .. } = nodes[k].ground;
        let (start_b, end_b) = (start.binormal(), end.binormal());
        let after = active.get(i + 1).copied();
        let to = after.map_or(*b, |next| nodes[next].ground.start.point);
        let mut next_chord = Chord::new(&end.point, &to);
        let [held_start, held_end] = held(nodes, active, i);
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
            let (off, scale) = (a - start.point, start.greatest_curvature() + next_chord.inverse_length);
            block[0] = [scale, zero, zero, zero];
            block[1] = [zero, scale, zero, zero];
            right[0] = scale * off.dot(&start.tangent);
            right[1] = scale * off.dot(&start_b);
        }
        if held_end {
            let (off, scale) = (b - end.point, end.greatest_curvature() + chord.inverse_length);
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

        if let Some(before) = before {
            let Node { ground: Geodesic { end, jacobi, .. }, row: previous, .. } = &nodes[before];
            let end_b = end.binormal();
            for (r, axis) in [start.normal, start_b].iter().enumerate() {
                let along = -chord.response(axis, &end.tangent);
                let across = -chord.response(axis, &end_b);
                let coupling = [along, across * jacobi.shift, across * jacobi.turn, along];
                right[r] -= dot(&coupling, &previous.constant);
                block[r][0] -= dot(&coupling, &previous.ahead[0]);
                block[r][1] -= dot(&coupling, &previous.ahead[1]);
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
            let next = &nodes[after].ground.start;
            for (column, motion) in ahead.iter_mut().zip([next.tangent, next.binormal()]) {
                column[2] = next_chord.response(&end.normal, &motion);
                column[3] = next_chord.response(&end_b, &motion);
            }
        }
        let stiffness = chord.inverse_length + next_chord.inverse_length;
        let minimal = second_variation(&mut block, stiffness, tolerance, convexify);
        let [constant, ahead_0, ahead_1] = solve(block, [right, ahead[0], ahead[1]]);
        nodes[k].inverse_chords = [chord.inverse_length, next_chord.inverse_length];
        nodes[k].row = Eliminated { constant, ahead: [ahead_0, ahead_1], minimal };
        before = Some(k);
        chord = next_chord;
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
pub(crate) fn substitute<T: Real>(nodes: &mut [Node<T>], active: &[usize]) -> T {
    let mut next = [T::zero(); 2];
    let mut largest = T::zero();
    for &k in active.iter().rev() {
        let node = &mut nodes[k];
        let Eliminated { constant, ahead, .. } = &node.row;
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
