//! The rotation between two frames as a rotation vector, the frame half-way, and their errors.

use nalgebra::{Matrix3, Vector3, Vector4};

use crate::elements::Refusal;
use crate::framework::ElementError;
use crate::math::Real;
use crate::results;

/// The least sine of half the angle beyond half a turn: 2.9° before a whole turn, where the rotation vector turns up to
/// 125 times as fast as M.
const LEAST_SINE: f64 = 0.025;

/// The cosine of the largest change of half the angle from the last accepted step: 3 rad in all.
const LEAST_COSINE_OF_CHANGE: f64 = 0.070_737_201_667_702_9;

results! {
    /// A turn by the angle `φ < 2π` about the unit vector `n`.
    #[derive(Copy)]
    pub(super) struct Turn<T> {
        /// `cos(φ/2)`.
        pub(super) w: T = 1.0;
        /// `n sin(φ/2)`.
        pub(super) v: Vector3<T> ["1"];
        /// `(φ/2)/sin(φ/2)`.
        pub(super) growth: T = 1.0;
        /// `(1 − growth)/sin²(φ/2)`.
        pub(super) along: T = 0.0;
    }
}

impl<T: Real> Turn<T> {
    /// The rotation to this orientation on the side of another one, given as a quaternion `(v, w)`; without one, by at
    /// most half a turn.
    ///
    /// # Errors
    /// [`AmbiguousTurn`](crate::Refusal::AmbiguousTurn) if it is more than 3 rad from the other, or near a whole turn on another side than the other;
    /// [`WholeTurn`](crate::Refusal::WholeTurn) near a whole turn, or if the shortest way from the other passes one.
    #[inline]
    pub(super) fn new(R: &Matrix3<T>, from: Option<&Vector4<T>>) -> Result<Self, ElementError> {
        let principal = quaternion(R);
        let q = match from {
            Some(from) if from.dot(&principal) < T::zero() => -principal,
            _ => principal,
        };
        let (v, w) = (q.xyz(), q.w);
        let square = v.norm_squared();
        if let Some(from) = from {
            let last = from.xyz();
            // Beyond half a turn each, they are less than 60° apart in direction.
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
        let (growth, along) = growth(square, w);
        Ok(Self { w, v, growth, along })
    }

    /// The quaternion `(v, w)`.
    pub(super) fn quaternion(&self) -> Vector4<T> {
        self.v.push(self.w)
    }

    /// The rotation vector `φ n`.
    pub(super) fn rotation_vector(&self) -> Vector3<T> {
        self.v * (T::lit(2.0) * self.growth)
    }

    /// The turn by half the angle, as a matrix.
    pub(super) fn half(&self) -> Matrix3<T> {
        let across = self.v.cross_matrix();
        Matrix3::identity() + across + across * across / (T::one() + self.w)
    }

    /// The rate of the rotation vector for an angular velocity in the half-way frame; likewise the torque of a moment
    /// on the rotation vector.
    #[inline]
    pub(super) fn rate(&self, w: &Vector3<T>) -> Vector3<T> {
        w * self.growth + self.v * (self.along * self.v.dot(w))
    }

    /// The derivative of `along` by a turn of M in F, in the half-way frame, is this times `v`.
    pub(super) fn derivative_of_along(&self) -> T {
        let square = self.v.norm_squared();
        if is_small(square, self.w) {
            // By the powers of `along`, whose derivative by the square is negative; that of the square is `w v`.
            let powers = TERMS.iter().zip(0_u32..9).skip(1).rev();
            let by_square =
                powers.fold(T::zero(), |sum, (&term, power)| sum * square + T::lit(term * f64::from(power)));
            return -by_square * self.w;
        }
        let half = T::lit(0.5);
        -(half / (T::one() + self.w) + T::lit(1.5) * self.along * self.w) / square
    }

    /// `n tan(φ/4)`.
    #[inline]
    pub(super) fn quarter(&self) -> Vector3<T> {
        self.v / (T::one() + self.w)
    }
}

/// Whether the shortest way between two rotations beyond half a turn comes closer to a whole turn than is allowed,
/// given their `v` and the cosine between their quaternions.
fn passes_whole_turn<T: Real>(last: &Vector3<T>, v: &Vector3<T>, cosine: T) -> bool {
    // The least `|v|` on the great circle through both; between them, if they lie on opposite sides of the whole turn.
    let least = T::lit(LEAST_SINE * LEAST_SINE);
    v.dot(last) < T::zero() && last.cross(v).norm_squared() < least * (T::one() - cosine * cosine)
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

/// Whether the power series is accurate, given `sin²(φ/2)` and `cos(φ/2)`.
fn is_small<T: Real>(square: T, cos: T) -> bool {
    cos > T::zero() && square < T::lit(0.02)
}

/// `(φ/2)/sin(φ/2)`, and its difference from one over `sin²(φ/2)`; `sin²(φ/2)` and `cos(φ/2)` are given.
fn growth<T: Real>(square: T, cos: T) -> (T, T) {
    if is_small(square, cos) {
        let rest = TERMS.iter().rev().fold(T::zero(), |sum, &term| sum * square + T::lit(term));
        return (T::one() + rest * square, -rest);
    }
    let sin = square.sqrt();
    let growth = sin.atan2(cos) / sin;
    (growth, (T::one() - growth) / square)
}

/// The quaternion `(v, w)` with `w ≥ 0`, from the largest of its components.
///
/// S. W. Shepperd, *Quaternion from rotation matrix*, Journal of Guidance and Control 1 (1978) 223–224.
fn quaternion<T: Real>(R: &Matrix3<T>) -> Vector4<T> {
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
