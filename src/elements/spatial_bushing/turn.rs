//! The rotation between two frames as a rotation vector, the frame half-way, and their errors.

use nalgebra::{Matrix3, Vector3, Vector4};

use crate::elements::Refusal;
use crate::elements::bushing::Chart;
use crate::framework::{ElementError, ElementResult};
use crate::math::{Real, outer};

/// The least sine of half the angle beyond half a turn, at 2.9° before a whole turn. There the rotation vector turns up
/// to 125 times as fast as M.
const LEAST_SINE: f64 = 0.025;

/// The cosine of the largest change of half the angle from the last accepted step: 3 rad in all.
const LEAST_COSINE_OF_CHANGE: f64 = 0.070_737_201_667_702_9;

/// Returns the rotation to this orientation that is on the same side as another rotation, as a quaternion `(v, w)`;
/// without another rotation, the one by at most half a turn.
///
/// # Errors
/// [`AmbiguousTurn`](crate::Refusal::AmbiguousTurn) if it is more than 3 rad from the other rotation, or near a whole
/// turn on another side; [`WholeTurn`](crate::Refusal::WholeTurn) near a whole turn, or if the shortest way from the
/// other rotation passes one.
#[inline]
pub(super) fn quaternion<T: Real>(R: &Matrix3<T>, from: Option<&Vector4<T>>) -> ElementResult<Vector4<T>> {
    let principal = principal(R);
    let q = match from {
        Some(from) if from.dot(&principal) < T::zero() => -principal,
        _ => principal,
    };
    let (v, w) = (q.xyz(), q.w);
    let square = v.norm_squared();
    if let Some(from) = from {
        let last = from.xyz();
        // If both are beyond half a turn, their directions differ by less than 60°.
        let is_past = w < T::zero()
            && from.w < T::zero()
            && v.dot(&last) < T::lit(0.5) * (square * last.norm_squared()).sqrt();
        let cosine = from.dot(&q);
        if is_past && passes_whole_turn(&last, &v, cosine) {
            return Err(ElementError::own(Refusal::WholeTurn { angle: core::f64::consts::TAU }));
        }
        if is_past || cosine < T::lit(LEAST_COSINE_OF_CHANGE) {
            return Err(ElementError::own(Refusal::AmbiguousTurn {
                angle: (cosine.min(T::one()).acos() * T::lit(2.0)).to_f64(),
            }));
        }
    }
    if w < T::zero() && square < T::lit(LEAST_SINE * LEAST_SINE) {
        let angle = (T::lit(2.0) * square.sqrt().atan2(w)).to_f64();
        return Err(ElementError::own(Refusal::WholeTurn { angle }));
    }
    Ok(q)
}

/// Whether the shortest way between two rotations beyond half a turn comes closer to a whole turn than is allowed,
/// given their `v` and the cosine between their quaternions.
fn passes_whole_turn<T: Real>(last: &Vector3<T>, v: &Vector3<T>, cosine: T) -> bool {
    // The least `|v|` on the great circle through both. It is between them if they lie on opposite sides of the whole
    // turn.
    let least = T::lit(LEAST_SINE * LEAST_SINE);
    v.dot(last) < T::zero() && last.cross(v).norm_squared() < least * (T::one() - cosine * cosine)
}

/// Returns `g = (φ/2)/sin(φ/2)` and `(1 − g)/sin²(φ/2)` of a turn `(v, w) = (n sin(φ/2), cos(φ/2))`, and a factor: times
/// `v`, it is the derivative of the second number by a turn of M in the half-way frame.
fn growth<T: Real>(v: &Vector3<T>, w: T) -> [T; 3] {
    let square = v.norm_squared();
    if w > T::zero() && square < T::lit(0.02) {
        let (mut rest, mut slope) = (T::zero(), T::zero());
        for &term in TERMS.iter().rev() {
            slope = slope * square + rest;
            rest = rest * square + T::lit(term);
        }
        return [T::one() + rest * square, -rest, -slope * w];
    }
    let sin = square.sqrt();
    let growth = sin.atan2(w) / sin;
    let along = (T::one() - growth) / square;
    let by_turn = -(T::lit(0.5) / (T::one() + w) + T::lit(1.5) * along * w) / square;
    [growth, along, by_turn]
}

/// The rotation vector of a turn, and its rates: in the half-way frame, `g ω + along v (v·ω)`.
#[inline]
pub(super) fn chart<T: Real>(v: &Vector3<T>, w: T) -> (Vector3<T>, Chart<T>) {
    let [growth, along, _] = growth(v, w);
    let c = T::one() + w;
    // From F to the half-way frame: w − v× + v vᵀ/c.
    let N = outer(&(v * (growth / c + along)), v, growth * w) - (v * growth).cross_matrix();
    (v * (T::lit(2.0) * growth), Chart { N, u: v / c, c })
}

/// The derivatives of the rates of vectors by a turn of M, all in the half-way frame.
#[inline]
pub(super) fn rates_by_turn<T: Real>(v: &Vector3<T>, w: T, of: [&Vector3<T>; 2]) -> [Matrix3<T>; 2] {
    let [_, along, along_by_turn] = growth(v, w);
    let (over, half) = ((T::one() + w).recip(), T::lit(0.5));
    let growth_by_turn = half * (over + along * w);
    of.map(|a| {
        let p = v.dot(a);
        let left = a * growth_by_turn + v * (p * (along_by_turn - along * over));
        outer(&left, v, half * along * p) + outer(v, &(a * (half * along)), T::zero())
    })
}

/// `arcsin x / x − 1` in powers of `x²` from the first on, with an error below 0.02⁹/30 for `x² < 0.02`.
const TERMS: [f64; 9] = [
    1.0 / 6.0,
    3.0 / 40.0,
    5.0 / 112.0,
    35.0 / 1152.0,
    63.0 / 2816.0,
    231.0 / 13_312.0,
    143.0 / 10_240.0,
    6435.0 / 557_056.0,
    12_155.0 / 1_245_184.0,
];

/// The quaternion `(v, w)` with `w ≥ 0`, from the largest of its components.
///
/// S. W. Shepperd, *Quaternion from rotation matrix*, Journal of Guidance and Control 1 (1978) 223–224.
fn principal<T: Real>(R: &Matrix3<T>) -> Vector4<T> {
    let trace = R.trace();
    let diagonal = R.diagonal();
    let largest = diagonal.imax();
    let half = T::lit(0.5);
    let odd = Vector3::new(R[(2, 1)] - R[(1, 2)], R[(0, 2)] - R[(2, 0)], R[(1, 0)] - R[(0, 1)]);
    if trace >= diagonal[largest] {
        let w = (T::one() + trace).sqrt() * half;
        return (odd * (T::lit(0.25) / w)).push(w);
    }
    let (i, j, k) = (largest, (largest + 1) % 3, (largest + 2) % 3);
    let component = (T::one() + R[(i, i)] - R[(j, j)] - R[(k, k)]).sqrt() * half;
    let scale = T::lit(0.25) / component;
    let mut v = Vector3::zeros();
    v[i] = component;
    v[j] = (R[(i, j)] + R[(j, i)]) * scale;
    v[k] = (R[(i, k)] + R[(k, i)]) * scale;
    let q = v.push(odd[i] * scale);
    if q.w < T::zero() { -q } else { q }
}
