//! Arrays and sequences of numbers as poses, points and spatial vectors, and back.

use force_elements::nalgebra::{
    Matrix3, Point3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3,
};
use force_elements::{InvalidValue, Pose, Requirement, SpatialForce, SpatialVelocity, check};
use numpy::ndarray::Dimension;
use numpy::{
    Element, PyArray, PyArray2, PyArrayDescrMethods as _, PyArrayDyn, PyArrayMethods as _,
    PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods as _, ToPyArray as _,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyMapping, PyString, PyTuple};

use crate::errors::{invalid, raised};

/// What numpy makes of an argument of this name, and the letter of the kind of its numbers.
pub(crate) fn untyped<'py>(
    value: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<(Bound<'py, PyUntypedArray>, u8)> {
    check_mask(value, what)?;
    let array = value.py().import("numpy")?.call_method1("asarray", (value,));
    let py = value.py();
    let of_numbers =
        |text: &Bound<'_, PyAny>| invalid(&format!("{what} must be an array of numbers: {text}"));
    let is_of_numpy = |error: &PyErr| error.is_instance_of::<PyValueError>(py);
    let array =
        array.map_err(|error| if is_of_numpy(&error) { of_numbers(error.value(py)) } else { error })?;
    let array = array.cast_into::<PyUntypedArray>()?;
    let kind = array.dtype().kind();
    Ok((array, kind))
}

/// Refuses an array with a mask, also in a list, which numpy would drop.
pub(crate) fn check_mask(value: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    check_masks(value, what, DEEPEST)
}

/// How deep lists are in each other at most: no array has more axes.
const DEEPEST: usize = 4;

fn check_masks(value: &Bound<'_, PyAny>, what: &str, depth: usize) -> PyResult<()> {
    if let Some(depth) = depth.checked_sub(1) {
        if let Ok(list) = value.cast::<PyList>() {
            return list.iter().try_for_each(|part| check_masks(&part, what, depth));
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return tuple.iter().try_for_each(|part| check_masks(&part, what, depth));
        }
    }
    if value.is_instance_of::<PyUntypedArray>() && !value.is_exact_instance_of::<PyUntypedArray>() {
        let masked = value.py().import("numpy.ma")?.getattr("MaskedArray")?;
        if value.is_instance(&masked)? {
            return Err(invalid(&format!(
                "{what} is or has a masked array: give what its `filled` returns, or `.data`, if the numbers behind the mask are meant"
            )));
        }
    }
    Ok(())
}

/// An argument of this name as real numbers in C order; not copied if it is such an array.
pub(crate) fn array<'py>(value: &Bound<'py, PyAny>, what: &str) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let py = value.py();
    // The calls of numpy below cost more than a small system.
    if let Ok(array) = value.cast_exact::<PyArrayDyn<f64>>()
        && array.is_c_contiguous()
        && array.data().is_aligned()
    {
        return Ok(array.try_readonly()?);
    }
    let (array, kind) = untyped(value, what)?;
    // numpy would parse strings, and drop imaginary parts.
    if !b"biuf".contains(&kind) {
        let name = value.get_type().name()?;
        let of = if array.shape().is_empty() { String::new() } else { format!(" of {}", array.dtype()) };
        return Err(invalid(&format!("{what} must be real numbers, not {name}{of}")));
    }
    py.import("numpy")?.call_method1("require", (array, "float64", "CA"))?.extract()
}

/// The numbers of an argument of this name, and its shape.
pub(crate) fn numbers(value: &Bound<'_, PyAny>, what: &str) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let array = array(value, what)?;
    let shape = array.shape().to_vec();
    Ok((array.as_slice()?.to_vec(), shape))
}

/// The numbers of an array in C order, and its shape.
pub(crate) type Shaped<'a> = (&'a [f64], &'a [usize]);

pub(crate) fn shaped_slice<'a>(array: &'a PyReadonlyArrayDyn<'_, f64>) -> PyResult<Shaped<'a>> {
    Ok((array.as_slice()?, array.shape()))
}

/// One number.
pub(crate) fn number(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    check_mask(value, what)?;
    value.extract().map_err(|error: PyErr| {
        // Those of arrays that are traced say more.
        let is_plain = error.get_type(value.py()).is(value.py().get_type::<PyTypeError>());
        if is_plain { not_a(&format!("{what} must be a real number"), value) } else { error }
    })
}

/// The error of a value of another type.
pub(crate) fn not_a(wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    match value.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!("{wanted}, not {name}")),
        Err(error) => error,
    }
}

/// A shape as numpy writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The error of an array of another shape.
pub(crate) fn wrong_shape(what: &str, wanted: &str, shape: &[usize]) -> PyErr {
    invalid(&format!("{what} must be of shape {wanted}, not {}", tuple(shape)))
}

/// Refuses an array that has none of these shapes.
pub(crate) fn check_shape(what: &str, shapes: &[&[usize]], shape: &[usize]) -> PyResult<()> {
    if shapes.contains(&shape) {
        return Ok(());
    }
    let wanted: Vec<String> = shapes.iter().map(|shape| tuple(shape)).collect();
    Err(wrong_shape(what, &wanted.join(" or "), shape))
}

/// The numbers of an array of one of these shapes.
pub(crate) fn shaped(value: &Bound<'_, PyAny>, shapes: &[&[usize]], what: &str) -> PyResult<Vec<f64>> {
    let (numbers, shape) = numbers(value, what)?;
    check_shape(what, shapes, &shape)?;
    Ok(numbers)
}

/// A point \[m\].
pub(crate) fn point(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Point3<f64>> {
    let point = Point3::from_slice(&shaped(value, &[&[3]], what)?);
    check::finite_vector("point", &point.coords).map_err(raised)?;
    Ok(point)
}

/// The acceleration of gravity \[m/s²\].
pub(crate) fn gravity(value: &Bound<'_, PyAny>) -> PyResult<[f64; 3]> {
    let gravity = shaped(value, &[&[3]], "gravity")?;
    if !gravity.iter().all(|number| number.is_finite()) {
        return Err(invalid("gravity must be finite"));
    }
    Ok([gravity[0], gravity[1], gravity[2]])
}

/// The names of results.
pub(crate) fn names(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!(
            "names must be a list of names, as [{}], not one",
            value.repr()?
        )));
    }
    value.extract()
}

/// The items of a mapping with names as keys.
pub(crate) fn items<'py>(mapping: &Bound<'py, PyMapping>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    mapping.items()?.extract()
}

/// A pose from a 4 × 4 matrix, or from 7 numbers (position, quaternion `w x y z`), or from a position.
pub(crate) fn pose(value: &Bound<'_, PyAny>) -> PyResult<Pose<f64>> {
    let (numbers, shape) = numbers(value, "pose")?;
    match shape.as_slice() {
        [4, 4] | [7] => pose_of(&numbers).map_err(raised),
        [3] => {
            let pose = Pose::translation(numbers[0], numbers[1], numbers[2]);
            check::pose("pose", &pose).map_err(raised)?;
            Ok(pose)
        }
        _ => {
            let wanted =
                "(4, 4), a matrix, or (7,), x, y, z and the quaternion w, i, j, k, or (3,), a position";
            Err(wrong_shape("pose", wanted, &shape))
        }
    }
}

/// By how much the norm of a quaternion may be off one, as that of one that was integrated is.
const DRIFT: f64 = 1e-3;

/// By how much the last row of a pose may be off, as that of an inverse matrix is.
const ROUNDOFF: f64 = 1e-9;

/// A pose from 16 or 7 numbers.
///
/// # Errors
/// [`InvalidValue`] unless the numbers are finite, the last row of a matrix is 0, 0, 0, 1, and the rotation is one.
pub(crate) fn pose_of(numbers: &[f64]) -> Result<Pose<f64>, InvalidValue> {
    match *numbers {
        [a, b, c, x, d, e, f, y, g, h, i, z, ref last @ ..] => {
            let off =
                [0.0, 0.0, 0.0, 1.0_f64].iter().zip(last).map(|(wanted, number)| (wanted - number).abs());
            let is_affine = off.clone().all(|off| off <= ROUNDOFF);
            let name = "distance of the last row of a pose from 0, 0, 0, 1";
            check::that(is_affine, name, off.sum::<f64>(), Requirement::AtMost("1e-9"))?;
            let rotation = Rotation3::from_matrix_unchecked(Matrix3::new(a, b, c, d, e, f, g, h, i));
            let pose = Pose::from_parts(Translation3::new(x, y, z), rotation);
            check::pose("pose", &pose)?;
            Ok(pose)
        }
        [x, y, z, w, i, j, k] => {
            let turn = Quaternion::new(w, i, j, k);
            check::finite_vector("pose", &Vector3::new(x, y, z))?;
            check::finite("quaternion", turn.norm())?;
            let off = (turn.norm() - 1.0).abs();
            check::that(
                off <= DRIFT,
                "distance of a quaternion's norm from 1",
                off,
                Requirement::AtMost("1e-3"),
            )?;
            let turn = UnitQuaternion::from_quaternion(turn);
            Ok(Pose::from_parts(Translation3::new(x, y, z), turn.to_rotation_matrix()))
        }
        _ => Ok(Pose::from_parts(Translation3::new(f64::NAN, f64::NAN, f64::NAN), Rotation3::identity())),
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

/// An array that is a copy of what cannot be changed in part, and so refuses to be written to.
pub(crate) fn read_only<N: Element, D: Dimension>(
    array: Bound<'_, PyArray<N, D>>,
) -> Bound<'_, PyArray<N, D>> {
    array.readwrite().make_nonwriteable();
    array
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

/// A spatial force from 6 numbers: torque, then force.
pub(crate) fn force_of(numbers: &[f64]) -> SpatialForce<f64> {
    let SpatialVelocity { angular, linear } = velocity_of(numbers);
    SpatialForce::new(angular, linear)
}

/// The 6 numbers of a spatial force: torque, then force.
pub(crate) fn force_numbers(F: &SpatialForce<f64>) -> [f64; 6] {
    let (t, f) = (F.torque, F.force);
    [t.x, t.y, t.z, f.x, f.y, f.z]
}
