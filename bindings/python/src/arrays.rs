//! Arrays with the numbers of one world after the other.

use std::ops::Range;
use std::slice::ChunksExactMut;

use numpy::{PyArrayMethods as _, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::convert::{self, check_shape};
use crate::errors::invalid;

/// An array of a batch, and how many of its numbers belong to one world.
pub(crate) struct Input<'py> {
    array: PyReadonlyArrayDyn<'py, f64>,
    width: usize,
}

/// The numbers that belong to one world, of arrays that are given.
pub(crate) type Rows<'a> = Option<(&'a [f64], usize)>;

pub(crate) fn input<'py>(
    value: Option<&Bound<'py, PyAny>>,
    what: &str,
    shapes: &[&[usize]],
) -> PyResult<Option<Input<'py>>> {
    let Some(value) = value else { return Ok(None) };
    let array = convert::array(value, what)?;
    check_shape(what, shapes, array.shape())?;
    let width = array.shape().iter().skip(1).product();
    Ok(Some(Input { array, width }))
}

/// The memory of arrays that are in use.
pub(crate) struct Memory(Vec<Range<*const f64>>);

impl Memory {
    pub(crate) fn of<'a, 'py: 'a>(
        inputs: impl IntoIterator<Item = &'a Option<Input<'py>>>,
    ) -> PyResult<Self> {
        let ranges = inputs.into_iter().flatten().map(|input| Ok(input.array.as_slice()?.as_ptr_range()));
        ranges.collect::<PyResult<_>>().map(Self)
    }

    /// Whether no array in use has any of this memory; numpy does not know of arrays that share it as different objects.
    fn take(&mut self, array: &[f64]) -> bool {
        let own = array.as_ptr_range();
        let is_free = own.is_empty()
            || self
                .0
                .iter()
                .all(|other| other.is_empty() || other.end <= own.start || own.end <= other.start);
        self.0.push(own);
        is_free
    }
}

impl Input<'_> {
    pub(crate) fn rows(input: Option<&Self>) -> PyResult<Rows<'_>> {
        input.map(|Input { array, width }| Ok((array.as_slice()?, *width))).transpose()
    }
}

/// The numbers of one world.
pub(crate) fn row(rows: Rows<'_>, world: usize) -> Option<&[f64]> {
    let (numbers, width) = rows?;
    numbers.get(world * width..(world + 1) * width)
}

/// Which of the worlds are meant.
pub(crate) fn mask(value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<bool>> {
    let (array, kind) = convert::untyped(value, "mask")?;
    // An empty list has no type of its own.
    if kind != b'b' && count > 0 {
        let text = "mask must be an array of bool: for the indices of worlds, set those of np.zeros(n, bool) to True";
        return Err(invalid(text));
    }
    check_shape("mask", &[&[count]], array.shape())?;
    array.call_method0("tolist")?.extract()
}

/// An array that is written to, as it is.
pub(crate) fn output<'py>(
    value: Option<&Bound<'py, PyAny>>,
    what: &str,
    shape: &[usize],
    used: &mut Memory,
) -> PyResult<Option<PyReadwriteArrayDyn<'py, f64>>> {
    let Some(value) = value else { return Ok(None) };
    convert::check_mask(value, what)?;
    let refused = || PyTypeError::new_err(format!("{what} must be a writable array of float64, used once"));
    let array: PyReadwriteArrayDyn<'py, f64> = value.extract().map_err(|_| refused())?;
    check_shape(what, &[shape], array.shape())?;
    // `as_slice` would also take an array in Fortran order, as it lies in memory.
    if !(array.is_c_contiguous() && array.data().is_aligned()) {
        return Err(PyTypeError::new_err(format!("{what} must be contiguous, in C order, and aligned")));
    }
    used.take(array.as_slice()?).then_some(()).ok_or_else(refused)?;
    Ok(Some(array))
}

/// The numbers of one world after the other, of an array that is given and not empty.
pub(crate) fn chunks<'a>(
    array: Option<&'a mut PyReadwriteArrayDyn<'_, f64>>,
    width: usize,
) -> PyResult<Option<ChunksExactMut<'a, f64>>> {
    match array {
        Some(array) if width > 0 => Ok(Some(array.as_slice_mut()?.chunks_exact_mut(width))),
        _ => Ok(None),
    }
}
