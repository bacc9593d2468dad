//! All variables of one element: read, written and checked, by name and together.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Arguments, Debug};

use crate::framework::ElementError;
use crate::framework::element::{ForceElement, Given};
use crate::framework::results::Cache;
use crate::framework::slots::Columns;
use crate::framework::snapshot::{ABSORBED_ENERGY, ACCOUNT_OPEN, chain, hash_of};
use crate::framework::stage::Stage;
use crate::framework::variables::{Entry, Slot, Value, Variables, Visitor};
use crate::math::{InvalidValue, Real, Requirement, check};
use crate::mechanics::Kinematics;

/// The variables of one element, where they are stored.
#[derive(Debug)]
pub(crate) struct PresentVariables<'a, T: Real, E: ForceElement<T>> {
    pub(crate) enabled: bool,
    pub(crate) parameters: &'a E::Parameters,
    pub(crate) discrete: &'a E::Discrete,
    pub(crate) continuous: &'a E::Continuous,
}

impl<'a, T: Real, E: ForceElement<T>> PresentVariables<'a, T, E> {
    /// What is given before Position stage, at this time and these positions.
    pub(crate) fn given(&self, kinematics: &'a Kinematics<T>) -> Given<'a, T, E> {
        Given {
            parameters: self.parameters,
            discrete: self.discrete,
            continuous: self.continuous,
            time: kinematics.time,
            positions: &kinematics.positions,
        }
    }

    /// Checks every range.
    pub(crate) fn validate(&self) -> Result<(), InvalidValue> {
        self.parameters.validate()?;
        self.discrete.validate()?;
        validate_continuous(self.continuous)
    }

    /// Visits the flag first, then the parameters, the discrete and the continuous variables.
    pub(crate) fn visit(&self, visit: Visitor<'_, T>) {
        visit(enabled_entry(Value::Flag(self.enabled)));
        self.parameters.visit(visit);
        self.discrete.visit(visit);
        self.continuous.visit(visit);
    }

    /// Whether there is a variable of this name.
    pub(crate) fn has(&self, field: &str) -> bool {
        let mut has = false;
        self.visit(&mut |entry| has |= is_named(entry.name, field));
        has
    }

    /// A hash of the names of all variables of the element at this place, in their order.
    pub(crate) fn layout(&self, place: usize) -> u64 {
        let mut layout = hash_of(format_args!("{}[{place}]", E::KIND));
        self.visit(&mut |entry| layout = chain(layout, hash_of(entry.name)));
        layout
    }

    /// A name shared by two variables or by two results, one of which could not be read.
    pub(crate) fn repeated_name(&self) -> Option<String> {
        let mut variables = vec![ABSORBED_ENERGY.to_string(), ACCOUNT_OPEN.to_string()];
        self.visit(&mut |entry| variables.push(entry.name.to_string()));
        let mut results = Vec::new();
        let mut list = |entry: Entry<'_, Value<T>>| results.push(entry.name.to_string());
        E::Position::neutral().visit(Stage::Position, &mut list);
        E::Velocity::neutral().visit(Stage::Velocity, &mut list);
        E::Dynamics::neutral().visit(Stage::Dynamics, &mut list);
        [variables, results].into_iter().find_map(|mut names| {
            names.sort_unstable();
            names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
        })
    }
}

/// Sets variables by name in a row that is a copy of the present ones, and then checks all of them; returns the stage below
/// which the state falls, if anything has changed.
pub(crate) fn set<T: Real, E: ForceElement<T>>(
    present: &PresentVariables<'_, T, E>,
    changed: &mut Columns<T, E>,
    values: &[(&str, T)],
) -> Result<Option<Stage>, ElementError> {
    let Columns { enabled, parameters, discrete, continuous } = changed;
    let mut earliest = None;
    for &(field, value) in values {
        let written = if field == ENABLED {
            enabled[0] = check::flag(ENABLED, value)?;
            Some((Stage::Instance, present.enabled != enabled[0]))
        } else if let Some(written) = write(&mut parameters[0], field, value)? {
            Some(written)
        } else if let Some(written) = write(&mut discrete[0], field, value)? {
            Some(written)
        } else {
            write(&mut continuous[0], field, value)?
        };
        let stage = written.and_then(|(stage, is_changed)| is_changed.then_some(stage));
        earliest = earliest.into_iter().chain(stage).min();
    }
    changed.at(0).validate()?;
    Ok(earliest)
}

/// The name of the flag for an enabled element.
pub(crate) const ENABLED: &str = "enabled";

pub(crate) fn enabled_entry<V>(value: V) -> Entry<'static, V> {
    Entry { name: format_args!("enabled"), unit: "", stage: Stage::Instance, value }
}

/// The first stage that reads a scalar, and whether writing it has changed it.
type Written = (Stage, bool);

/// Writes the scalar of this name, if there is one.
///
/// # Errors
/// If the scalar is a flag and `value` is neither 0 nor 1, or if it is of an `Option` that is `None`.
fn write<T: Real>(
    variables: &mut impl Variables<T>,
    field: &str,
    value: T,
) -> Result<Option<Written>, InvalidValue> {
    let mut written = None;
    variables.visit_mut(&mut |entry| {
        if is_named(entry.name, field) {
            written = Some(entry.value.write("flag", value).map(|is_changed| (entry.stage, is_changed)));
        }
    });
    let Some(written) = written.transpose()? else { return Ok(None) };
    // A number written to an `Option` that is `None` is not kept.
    let is_kept = number_of(variables, field).is_some_and(|kept| is_same_number(kept, value));
    check::that(is_kept, "number", value, Requirement::Known)?;
    Ok(Some(written))
}

/// Whether two numbers are equal, or both are NaN.
pub(super) fn is_same_number<T: Real>(a: T, b: T) -> bool {
    let (a, b) = (a.to_f64(), b.to_f64());
    a == b || a.is_nan() && b.is_nan()
}

/// The scalar of this name, if there is one.
fn number_of<T: Real>(variables: &impl Variables<T>, field: &str) -> Option<T> {
    let mut found = None;
    variables.visit(&mut |entry| {
        if is_named(entry.name, field) {
            found = Some(entry.value.number());
        }
    });
    found
}

/// Whether a name formats to `field`; allocates nothing.
pub(crate) fn is_named(name: Arguments<'_>, field: &str) -> bool {
    struct Rest<'a>(&'a str);
    impl fmt::Write for Rest<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
            Ok(())
        }
    }
    let mut rest = Rest(field);
    fmt::write(&mut rest, name).is_ok() && rest.0.is_empty()
}

/// Whether a name is that of the first of the nine entries of a rotation, which follow one another row by row.
pub(crate) fn is_first_of_rotation(name: Arguments<'_>) -> bool {
    const ENDING: &[u8] = b".R.xx";
    struct Tail([u8; ENDING.len()]);
    impl fmt::Write for Tail {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            for &byte in part.as_bytes() {
                self.0.rotate_left(1);
                self.0[ENDING.len() - 1] = byte;
            }
            Ok(())
        }
    }
    let mut tail = Tail([0; ENDING.len()]);
    fmt::write(&mut tail, name).is_ok() && tail.0 == ENDING
}

/// Calls `visit` with each number.
pub(super) fn visit_numbers<T: Real>(variables: &impl Variables<T>, visit: &mut dyn FnMut(T)) {
    variables.visit(&mut |entry| {
        if let Value::Number(number) = entry.value {
            visit(number);
        }
    });
}

/// Writes each number.
pub(super) fn write_numbers<T: Real>(variables: &mut impl Variables<T>, next: &mut dyn FnMut() -> T) {
    variables.visit_mut(&mut |entry| {
        if let Slot::Number(number) = entry.value {
            *number = next();
        }
    });
}

/// Checks continuous variables, which must be finite to be integrated, in addition to the declared range.
pub(super) fn validate_continuous<T: Real>(variables: &impl Variables<T>) -> Result<(), InvalidValue> {
    variables.validate()?;
    let mut finite = Ok(());
    visit_numbers(variables, &mut |number| {
        if finite.is_ok() {
            finite = check::finite("continuous variable", number);
        }
    });
    finite
}

/// Sets each number to zero.
pub(super) fn set_zero<T: Real>(variables: &mut impl Variables<T>) {
    write_numbers(variables, &mut T::zero);
}

/// Checks variables before they replace others: their ranges, and that their names are the same. Returns the stage below
/// which the state falls, if anything has changed.
pub(crate) fn check_new<T: Real, V: Variables<T>>(
    present: &V,
    new: &V,
) -> Result<Option<Stage>, ElementError> {
    new.validate()?;
    if present.fits(new) { Ok(present.first_stage_changed(new)) } else { Err(ElementError::ForeignVariables) }
}
