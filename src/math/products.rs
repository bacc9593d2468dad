//! Products of small matrices with cross products, rotated bases and vectors.

use nalgebra::{Matrix3, Vector3};

use super::{Number, Real};

/// `m [v]×`.
#[inline]
pub(crate) fn times_cross<T: Real>(m: &Matrix3<T>, v: &Vector3<T>) -> Matrix3<T> {
    let [x, y, z] = [m.column(0), m.column(1), m.column(2)];
    Matrix3::from_columns(&[y * v.z - z * v.y, z * v.x - x * v.z, x * v.y - y * v.x])
}

/// `[v]× m`.
#[inline]
pub(crate) fn cross_times<T: Real>(v: &Vector3<T>, m: &Matrix3<T>) -> Matrix3<T> {
    let [x, y, z] = [m.row(0), m.row(1), m.row(2)];
    Matrix3::from_rows(&[z * v.y - y * v.z, x * v.z - z * v.x, y * v.x - x * v.y])
}

/// `[a]× [b]×`.
#[inline]
pub(crate) fn cross_cross<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Matrix3<T> {
    outer(b, a, -a.dot(b))
}

/// `R m Rᵀ`.
#[inline]
pub(crate) fn rotated<T: Real>(R: &Matrix3<T>, m: &Matrix3<T>) -> Matrix3<T> {
    let product = R * m;
    let [x, y, z] = [product.column(0), product.column(1), product.column(2)];
    let column = |j: usize| x * R[(j, 0)] + y * R[(j, 1)] + z * R[(j, 2)];
    Matrix3::from_columns(&[column(0), column(1), column(2)])
}

/// `a bᵀ + c 1`.
#[inline]
pub(crate) fn outer<T: Real>(a: &Vector3<T>, b: &Vector3<T>, c: T) -> Matrix3<T> {
    let mut product = a * b.transpose();
    (0..3).for_each(|i| product[(i, i)] += c);
    product
}

/// The product of two vectors over numbers.
#[inline]
pub(crate) fn dot<S: Number>(a: &Vector3<S>, b: &Vector3<S>) -> S {
    a.x * b.x + a.y * b.y + a.z * b.z
}
