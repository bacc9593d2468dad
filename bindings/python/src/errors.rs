//! The crate's errors as exceptions.

use std::fmt::Display;

use force_elements::{ElementError, Error, KinematicsError, Quantity};
use pyo3::prelude::*;

use classes::{InvalidValueError, LayoutError, NoSuchNameError, StageError, StepError, TopologyError};

/// The classes of ``_errors.py``.
pub(crate) mod classes {
    use pyo3::import_exception;

    import_exception!(force_elements._errors, Error);
    import_exception!(force_elements._errors, InvalidValueError);
    import_exception!(force_elements._errors, NoSuchNameError);
    import_exception!(force_elements._errors, ElementError);
    import_exception!(force_elements._errors, StageError);
    import_exception!(force_elements._errors, StepError);
    import_exception!(force_elements._errors, TopologyError);
    import_exception!(force_elements._errors, LayoutError);
}

/// The text of an exception, and the worlds that failed.
type Arguments = (String, Vec<usize>);

/// The exception of an error, with its text.
pub(crate) fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    class(&error)((with_rows(&error), Vec::new()))
}

/// The exception of an error about something that its text does not name.
pub(crate) fn raised_about(what: impl Display, error: Error) -> PyErr {
    class(&error)((format!("{what}: {}", with_rows(&error)), Vec::new()))
}

/// The exception of the error of a world, the first of those that failed.
pub(crate) fn raised_in(worlds: Vec<usize>, source: Error) -> PyErr {
    let index = worlds.first().copied().unwrap_or_default();
    let error = Error::World { index, source: Box::new(source) };
    class(&error)((with_rows(&error), worlds))
}

/// The text of an error. Bodies have the number of their row, without ground, as in their own text.
pub(crate) fn with_rows(error: &Error) -> String {
    let text = error.to_string();
    let cause = if let Error::World { source, .. } = error { source } else { error };
    if let Error::NoSuchResult { stage: None, .. } = cause {
        return text + "; results() lists all, under the kinds and places of their elements";
    }
    let Error::Kinematics(KinematicsError::NonFinite { quantity }) = cause else { return text };
    let (Quantity::Pose(body) | Quantity::Velocity(body) | Quantity::BodyForce(body)) = quantity else {
        return text;
    };
    let Some(row) = body.index().checked_sub(1) else { return text };
    text.replace(&format!("body {}", body.index()), &format!("Body({row})"))
}

/// An exception of this package. Its object is made where it reaches Python: where it is made here a lock may be held, for which
/// finalizers that Python runs as it makes an object could wait.
pub(crate) fn exception(class: fn(Arguments) -> PyErr, text: &str) -> PyErr {
    class((text.to_string(), Vec::new()))
}

/// That of a name that is unknown.
pub(crate) fn no_such(text: &str) -> PyErr {
    exception(NoSuchNameError::new_err, text)
}

/// That of a number or a shape of an array.
pub(crate) fn invalid(text: &str) -> PyErr {
    exception(InvalidValueError::new_err, text)
}

fn class(error: &Error) -> fn(Arguments) -> PyErr {
    match error {
        Error::World { source, .. } => class(source),
        Error::NoSuchVariable { .. }
        | Error::NoSuchResult { stage: None, .. }
        | Error::NoSuchElement { .. } => NoSuchNameError::new_err,
        Error::StageTooLow { .. } | Error::StepNotAccepted { .. } | Error::NoSuchResult { .. } => {
            StageError::new_err
        }
        Error::TopologyMismatch => TopologyError::new_err,
        Error::SnapshotMismatch { .. } | Error::LayoutMismatch | Error::DamagedBytes => LayoutError::new_err,
        Error::Kinematics(KinematicsError::NonFinite { .. } | KinematicsError::NoRotation { .. })
        | Error::Element { source: ElementError::InvalidValue(_), .. }
        | Error::InvalidValue(_)
        | Error::NotAFlag { .. }
        | Error::NotKnown { .. } => InvalidValueError::new_err,
        Error::StepTooLong { .. } | Error::EnergyGained { .. } | Error::FrictionAlternates { .. } => {
            StepError::new_err
        }
        Error::Element { .. } | Error::Own(_) => classes::ElementError::new_err,
        _ => classes::Error::new_err,
    }
}
