//! The crate's errors as exceptions.

use force_elements::{ElementError, Error, KinematicsError, Quantity};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The exception of an error, with its text.
pub(crate) fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let world = match &error {
        Error::World { index, .. } => Some(*index),
        _ => None,
    };
    exception(class(&error), &with_rows(&error), world)
}

/// The text of an error. Bodies have the number of their row, without ground, as in their own text.
fn with_rows(error: &Error) -> String {
    let text = error.to_string();
    let cause = if let Error::World { source, .. } = error { source } else { error };
    let Error::Kinematics(KinematicsError::NonFinite { quantity }) = cause else { return text };
    let (Quantity::Pose(body) | Quantity::Velocity(body) | Quantity::BodyForce(body)) = quantity else {
        return text;
    };
    let Some(row) = body.index().checked_sub(1) else { return text };
    text.replace(&format!("body {}", body.index()), &format!("Body({row})"))
}

/// An exception of this package.
pub(crate) fn exception(class: &str, text: &str, world: Option<usize>) -> PyErr {
    Python::attach(|py| {
        let make = || -> PyResult<PyErr> {
            let error = py.import("force_elements._errors")?.getattr(class)?.call1((text,))?;
            if let Some(world) = world {
                error.setattr("world", world)?;
            }
            Ok(PyErr::from_value(error))
        };
        // Without the Python half of the package there are no classes.
        make().unwrap_or_else(|_| PyRuntimeError::new_err(text.to_string()))
    })
}

/// That of a name that is unknown.
pub(crate) fn no_such(text: &str) -> PyErr {
    exception("NoSuchNameError", text, None)
}

/// That of a number or a shape of an array.
pub(crate) fn invalid(text: &str) -> PyErr {
    exception("InvalidValueError", text, None)
}

fn class(error: &Error) -> &'static str {
    match error {
        Error::World { source, .. } => class(source),
        Error::NoSuchVariable { .. }
        | Error::NoSuchResult { stage: None, .. }
        | Error::NoSuchElement { .. } => "NoSuchNameError",
        Error::StageTooLow { .. } | Error::NoSuchResult { .. } => "StageError",
        Error::TopologyMismatch => "TopologyError",
        Error::SnapshotMismatch { .. } | Error::LayoutMismatch | Error::DamagedBytes => "LayoutError",
        Error::Kinematics(KinematicsError::NonFinite { .. })
        | Error::Element { source: ElementError::InvalidValue(_), .. }
        | Error::InvalidValue(_) => "InvalidValueError",
        Error::StepTooLong { .. } | Error::EnergyGained { .. } => "StepError",
        Error::Element { .. } | Error::Own(_) => "ElementError",
        _ => "Error",
    }
}
