//! Arrays and sequences of numbers as poses, points and spatial vectors, and back.

use force_elements::nalgebra::{
    Matrix3, Point3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3,
};
use force_elements::{Pose, SpatialForce, SpatialVelocity};
use numpy::{PyArray2, PyArrayMethods as _, PyReadonlyArrayDyn, PyUntypedArrayMethods as _, ToPyArray as _};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict};

use crate::errors::invalid;

/// Numbers as an array in C order; not copied if they are one.
pub(crate) fn array<'py>(value: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let py = value.py();
    let options: Bound<'py, PyDict> = [("dtype", "float64"), ("order", "C")].into_py_dict(py)?;
    let array = py.import("numpy")?.call_method("asarray", (value,), Some(&options))?;
    array.extract()
}

/// The numbers of an array, and its shape.
pub(crate) fn numbers(value: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let array = array(value)?;
    let shape = array.shape().to_vec();
    Ok((array.as_slice()?.to_vec(), shape))
}

/// As many numbers as a vector has.
pub(crate) fn vector<const N: usize>(value: &Bound<'_, PyAny>) -> PyResult<[f64; N]> {
    let (numbers, _) = numbers(value)?;
    numbers.try_into().map_err(|_| invalid(&format!("{N} numbers are required")))
}

/// A point \[m\].
pub(crate) fn point(value: &Bound<'_, PyAny>) -> PyResult<Point3<f64>> {
    Ok(Point3::from(vector::<3>(value)?))
}

/// A pose from a 4 × 4 matrix, or from 7 numbers (position, quaternion `w x y z`), or from a position.
pub(crate) fn pose(value: &Bound<'_, PyAny>) -> PyResult<Pose<f64>> {
    let (numbers, shape) = numbers(value)?;
    match shape.as_slice() {
        [4, 4] if numbers[12..] == [0.0, 0.0, 0.0, 1.0] => Ok(pose_of(&numbers)),
        [4, 4] => Err(invalid("the last row of a pose must be 0, 0, 0, 1")),
        [7] => Ok(pose_of(&numbers)),
        [3] => Ok(Pose::translation(numbers[0], numbers[1], numbers[2])),
        _ => Err(invalid(
            "a pose is a 4 x 4 matrix, 7 numbers (x, y, z and the quaternion w, x, y, z), or a position",
        )),
    }
}

/// A pose from 16 or 7 numbers.
pub(crate) fn pose_of(numbers: &[f64]) -> Pose<f64> {
    match *numbers {
        [a, b, c, x, d, e, f, y, g, h, i, z, ..] => {
            let rotation = Rotation3::from_matrix_unchecked(Matrix3::new(a, b, c, d, e, f, g, h, i));
            Pose::from_parts(Translation3::new(x, y, z), rotation)
        }
        [x, y, z, w, i, j, k] => {
            let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k));
            Pose::from_parts(Translation3::new(x, y, z), turn.to_rotation_matrix())
        }
        _ => Pose::from_parts(Translation3::new(f64::NAN, f64::NAN, f64::NAN), Rotation3::identity()),
    }
}

/// The 4 × 4 matrix of a pose, row by row.
pub(crate) fn matrix_of(X: &Pose<f64>) -> [f64; 16] {
    let (R, p) = (X.rotation.matrix(), X.translation.vector);
    let mut matrix = [0.0; 16];
    for row in 0..3 {
        for column in 0..3 {
            matrix[4 * row + column] = R[(row, column)];
        }
        matrix[4 * row + 3] = p[row];
    }
    matrix[15] = 1.0;
    matrix
}

/// A matrix as an array.
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    numbers: &[f64],
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = numbers.len().checked_div(columns).unwrap_or(0);
    numbers.to_pyarray(py).reshape([rows, columns])
}

/// A spatial velocity from 6 numbers: angular, then linear.
pub(crate) fn velocity_of(numbers: &[f64]) -> SpatialVelocity<f64> {
    let at = |i: usize| numbers.get(i).copied().unwrap_or(f64::NAN);
    SpatialVelocity::new(Vector3::new(at(0), at(1), at(2)), Vector3::new(at(3), at(4), at(5)))
}

/// The 6 numbers of a spatial velocity.
pub(crate) fn velocity_numbers(V: &SpatialVelocity<f64>) -> [f64; 6] {
    let (w, v) = (V.angular, V.linear);
    [w.x, w.y, w.z, v.x, v.y, v.z]
}

/// The 6 numbers of a spatial force: torque, then force.
pub(crate) fn force_numbers(F: &SpatialForce<f64>) -> [f64; 6] {
    let (t, f) = (F.torque, F.force);
    [t.x, t.y, t.z, f.x, f.y, f.z]
}
