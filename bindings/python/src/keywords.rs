//! Parameters of elements as keyword arguments, from the table in which the crate declares them.

use force_elements::nalgebra::Matrix6;
use force_elements::spatial_bushing::Symmetric6;
use force_elements::variables::Value;
use force_elements::{Error, Variables};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};

use crate::convert::{self, wrong_shape};
use crate::errors::{invalid, raised};

/// The part of a name that is the keyword of an argument.
fn field(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Whether an entry belongs to a keyword.
fn is_of(name: &str, keyword: &str) -> bool {
    name.strip_prefix(keyword).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The numbers of a square symmetric matrix from its diagonal to the right, as the crate lists them.
const TRIANGLE: usize = 21;

/// One number for each entry of a keyword, whose names are given.
fn spread(keyword: &str, value: &Bound<'_, PyAny>, names: &[String]) -> PyResult<Vec<f64>> {
    let count = names.len();
    if let Ok(parts) = value.cast::<PyDict>() {
        if count == 1 {
            return Err(convert::not_a(&format!("{keyword} must be a number"), value));
        }
        if parts.is_empty() {
            return Err(invalid(&format!("{keyword} takes numbers by name, not an empty dictionary")));
        }
        let mut numbers = vec![0.0; count];
        for (part, number) in parts {
            let name = format!("{keyword}.{}", part.extract::<String>()?);
            let place = names.iter().position(|other| *other == name);
            let place = place.ok_or_else(|| {
                let parts: Vec<&str> =
                    names.iter().filter_map(|name| Some(name.split_once('.')?.1)).collect();
                PyTypeError::new_err(format!("there is no {name}; {keyword} has {}", parts.join(", ")))
            })?;
            numbers[place] = convert::number(&number, &name)?;
        }
        return Ok(numbers);
    }
    let (numbers, shape) = convert::numbers(value, keyword)?;
    let diagonal = |at: &dyn Fn(usize) -> f64| {
        let mut all = vec![0.0; TRIANGLE];
        let mut place = 0;
        for row in 0..6 {
            all[place] = at(row);
            place += 6 - row;
        }
        all
    };
    match shape.as_slice() {
        [] if count == TRIANGLE => Ok(diagonal(&|_| numbers[0])),
        [] => Ok(vec![numbers[0]; count]),
        [length] if *length == count => Ok(numbers),
        [6] if count == TRIANGLE => Ok(diagonal(&|axis| numbers[axis])),
        [6, 6] if count == TRIANGLE => {
            // Symmetric to rounding, as the product of a stiffness and two rotations is.
            let symmetric = Symmetric6::from_matrix(&Matrix6::from_row_slice(&numbers)).map_err(|_| {
                invalid(&format!("{keyword} must be symmetric and positive semidefinite, to a millionth"))
            })?;
            Ok(symmetric.entries().to_vec())
        }
        _ if count == 1 => Err(wrong_shape(keyword, "(), one number", &shape)),
        _ if count == TRIANGLE => Err(wrong_shape(keyword, "(), (6,), (21,) or (6, 6)", &shape)),
        _ => Err(wrong_shape(keyword, &format!("() or ({count},)"), &shape)),
    }
}

/// The keywords of dry friction of a coordinate.
const DRY: [&str; 4] = [
    "dynamic_friction",
    "dynamic_friction_coefficient",
    "static_friction_offset",
    "static_friction_offset_coefficient",
];

/// Keywords, by how they begin if they end with an underscore, that have no or little effect without another one. A kind of
/// element to which one applies has all of these others.
const NEEDS: [(&str, &[&str], &str); 12] = [
    ("limit_stops_", &["use_limit_stops"], "there are no stops"),
    ("static_friction", &["dynamic_friction"], VANISHES),
    ("static_friction_offset", &["dynamic_friction"], VANISHES),
    ("static_friction_offset_coefficient", &["dynamic_friction_coefficient"], VANISHES),
    ("exponential_decay_static", &[DRY[2], DRY[3]], "it has no effect"),
    ("friction_load", &[DRY[1], DRY[3]], "it has no effect"),
    (
        "viscous_friction",
        &[DRY[0], DRY[1], DRY[2], DRY[3], "friction_proportional_zone"],
        "there is none (that of a damper is damping)",
    ),
    (
        "friction_proportional_zone",
        &[DRY[0], DRY[1], DRY[2], DRY[3], "viscous_friction"],
        "there is no friction",
    ),
    ("offset", &["stiffness"], "it has no effect"),
    ("velocity_offset", &["damping"], "it has no effect"),
    ("transition_velocity", &["static_friction"], "there is no friction"),
    ("dissipation", &["stiffness"], "there is no force"),
];

const VANISHES: &str = "friction vanishes at speed, where it is the dynamic one";

/// Refuses a keyword without one of those that it needs. One that is given as zero is meant so.
fn check_needs(keyword: &str, keywords: &Bound<'_, PyDict>, names: &[String]) -> PyResult<()> {
    for (given, needed, why) in NEEDS {
        let is_given = keyword == given || given.ends_with('_') && keyword.starts_with(given);
        let is_of_kind = needed.iter().all(|needed| names.iter().any(|name| name == needed));
        if is_given && is_of_kind {
            for other in needed {
                if keywords.contains(other)? {
                    return Ok(());
                }
            }
            return Err(invalid(&format!("{keyword} needs {}, without which {why}", needed.join(" or "))));
        }
    }
    Ok(())
}

/// Writes keyword arguments to the parameters of an element, and returns them in full.
pub(crate) fn assign<'py, V: Variables<f64>>(
    of: &str,
    parameters: &mut V,
    keywords: Option<&Bound<'py, PyDict>>,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut names = Vec::new();
    parameters.visit(&mut |entry| names.push(entry.name.to_string()));
    let full = PyDict::new(py);
    for (key, value) in keywords.into_iter().flatten() {
        let keyword: String = key.extract()?;
        let own: Vec<String> = names.iter().filter(|name| is_of(name, &keyword)).cloned().collect();
        if own.is_empty() {
            let mut known: Vec<&str> = names.iter().map(|name| field(name)).collect();
            known.dedup();
            let known = known.join(", ");
            let text = format!("{of} has no parameter {keyword:?}; it has {known}");
            return Err(PyTypeError::new_err(text));
        }
        let numbers = spread(&keyword, &value, &own)?;
        if let Some(keywords) = keywords.filter(|_| numbers.iter().any(|&number| number != 0.0)) {
            check_needs(&keyword, keywords, &names)?;
        }
        full.set_item(&keyword, PyList::new(py, &numbers)?)?;
        write(parameters, &keyword, &numbers)?;
    }
    parameters.validate().map_err(|error| raised(Error::from(error)))?;
    Ok(full)
}

fn write<V: Variables<f64>>(parameters: &mut V, keyword: &str, numbers: &[f64]) -> PyResult<()> {
    let mut next = numbers.iter();
    let mut refused = None;
    parameters.visit_mut(&mut |entry| {
        if is_of(&entry.name.to_string(), keyword)
            && let Some(&number) = next.next()
            && entry.value.write("flag", number).is_err()
        {
            refused = Some(number);
        }
    });
    refused.map_or(Ok(()), |number| Err(invalid(&format!("{keyword} must be a bool, not {number}"))))
}

/// A number, or a flag.
fn value_of(value: Value<f64>, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Flag(flag) => PyBool::new(py, flag).to_owned().into_any(),
    })
}

/// Parameters as keyword arguments; those of several numbers are dictionaries of their parts.
pub(crate) fn arguments<'py, V: Variables<f64>>(
    parameters: &V,
    py: Python<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(py);
    let set = |name: &str, value: Value<f64>| {
        let value = value_of(value, py)?;
        let Some((keyword, part)) = name.split_once('.') else { return arguments.set_item(name, value) };
        let parts = arguments.get_item(keyword)?.unwrap_or_else(|| PyDict::new(py).into_any());
        parts.set_item(part, value)?;
        arguments.set_item(keyword, parts)
    };
    let mut outcome = Ok(());
    parameters.visit(&mut |entry| {
        if outcome.is_ok() {
            outcome = set(&entry.name.to_string(), entry.value);
        }
    });
    outcome.map(|()| arguments)
}

/// The names of parameters, each with its default and unit.
pub(crate) fn table<'py, V: Variables<f64>>(parameters: &V, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let mut failed = None;
    parameters.visit(&mut |entry| {
        let default = value_of(entry.value, py);
        let set = default.and_then(|default| table.set_item(entry.name.to_string(), (default, entry.unit)));
        failed = failed.take().or(set.err());
    });
    failed.map_or(Ok(table), Err)
}
