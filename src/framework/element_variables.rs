//! The variables of one element: reading, writing and checking them, by name and together.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Arguments};

use crate::framework::element::{ForceElement, Given};
use crate::framework::results::Cache;
use crate::framework::slots::Columns;
use crate::framework::snapshot::{ABSORBED_ENERGY, ACCOUNT_OPEN, chain, hash_of};
use crate::framework::stage::Stage;
use crate::framework::variables::{Entry, Slot, Value, Variables, Visitor, VisitorMut, earlier};
use crate::framework::{ElementError, ElementResult};
use crate::math::{InvalidValue, Real, Requirement, check};
use crate::mechanics::Kinematics;

impl<T: Real, E: ForceElement<T>> Columns<T, E> {
    /// The inputs before Position stage, at this time and these positions.
    #[inline]
    pub(crate) fn given<'a>(&'a self, place: usize, kinematics: &'a Kinematics<T>) -> Given<'a, T, E> {
        Given {
            parameters: &self.parameters[place],
            discrete: &self.discrete[place],
            continuous: &self.continuous[place],
            time: kinematics.time,
            positions: &kinematics.positions,
        }
    }

    /// Checks every range of one element.
    pub(crate) fn validate(&self, place: usize) -> Result<(), InvalidValue> {
        self.parameters[place].validate()?;
        self.discrete[place].validate()?;
        validate_continuous(&self.continuous[place])
    }

    /// Visits the flag of one element first, then the parameters, the discrete and the continuous variables.
    pub(crate) fn visit(&self, place: usize, visit: Visitor<'_, T>) {
        visit(enabled_entry(Value::Flag(self.enabled[place])));
        self.parameters[place].visit(visit);
        self.discrete[place].visit(visit);
        self.continuous[place].visit(visit);
    }

    /// The mutable counterpart of [`visit`](Self::visit).
    pub(crate) fn visit_mut(&mut self, place: usize, visit: VisitorMut<'_, T>) {
        visit(enabled_entry(Slot::Flag(&mut self.enabled[place])));
        self.parameters[place].visit_mut(visit);
        self.discrete[place].visit_mut(visit);
        self.continuous[place].visit_mut(visit);
    }

    /// The variable of one element that has this name within it, if there is one.
    pub(crate) fn number(&self, place: usize, field: &str) -> Option<T> {
        Some(find_number(field, |visit| self.visit(place, visit))?.1)
    }

    /// Sets variables by name in the first row, and then checks all of them; returns the stage below which the state
    /// falls, if anything has changed.
    pub(crate) fn set(&mut self, values: &[(&str, T)]) -> ElementResult<Option<Stage>> {
        let mut earliest = None;
        for &(field, value) in values {
            let mut written = Ok(None);
            self.visit_mut(0, &mut |entry| {
                if is_named(entry.name, field) {
                    let changed = entry.value.write(entry.name.as_str().unwrap_or("flag"), value);
                    written = changed.map(|is_changed| is_changed.then_some(entry.stage));
                }
            });
            earliest = earlier(earliest, written?);
            // A number written to an `Option` that is `None` is not kept.
            let is_kept = self.number(0, field).is_some_and(|kept| is_same_number(kept, value));
            check::that(is_kept, "number", value, Requirement::Known)?;
        }
        self.validate(0)?;
        Ok(earliest)
    }

    /// A hash of the names of all variables of one element, as if it were at this place of its kind, in their order.
    pub(crate) fn layout(&self, row: usize, place: usize) -> u64 {
        let mut layout = hash_of(format_args!("{}[{place}]", E::KIND));
        self.visit(row, &mut |entry| layout = chain(layout, hash_of(entry.name)));
        layout
    }

    /// A name shared by two variables or by two results of the first row, so that one of them could not be read.
    pub(crate) fn repeated_name(&self) -> Option<String> {
        let mut variables = vec![ABSORBED_ENERGY.to_string(), ACCOUNT_OPEN.to_string()];
        self.visit(0, &mut |entry| variables.push(entry.name.to_string()));
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

/// The name of the flag for an enabled element.
pub(crate) const ENABLED: &str = "enabled";

fn enabled_entry<V>(value: V) -> Entry<'static, V> {
    Entry { name: format_args!("enabled"), unit: "", stage: Stage::Instance, value }
}

/// Whether two numbers are equal, or both are NaN.
pub(super) fn is_same_number<T: Real>(a: T, b: T) -> bool {
    let (a, b) = (a.to_f64(), b.to_f64());
    a == b || a.is_nan() && b.is_nan()
}

/// Calls `visit` with the parts of a name, one after the other, until it fails; allocates nothing.
pub(crate) fn for_parts(name: Arguments<'_>, visit: impl FnMut(&str) -> fmt::Result) -> fmt::Result {
    struct Parts<V>(V);
    impl<V: FnMut(&str) -> fmt::Result> fmt::Write for Parts<V> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            (self.0)(part)
        }
    }
    fmt::write(&mut Parts(visit), name)
}

/// Whether a name formats to `field`; allocates nothing.
pub(crate) fn is_named(name: Arguments<'_>, field: &str) -> bool {
    let mut rest = field;
    let begins = for_parts(name, |part| {
        rest = rest.strip_prefix(part).ok_or(fmt::Error)?;
        Ok(())
    });
    begins.is_ok() && rest.is_empty()
}

/// The number or flag of this name among those that `visit_all` visits, and its stage.
pub(crate) fn find_number<T: Real>(
    field: &str,
    visit_all: impl FnOnce(Visitor<'_, T>),
) -> Option<(Stage, T)> {
    let mut found = None;
    visit_all(&mut |entry| {
        if found.is_none() && is_named(entry.name, field) {
            found = Some((entry.stage, entry.value.number()));
        }
    });
    found
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
    variables.visit(&mut |entry| {
        if finite.is_ok() {
            finite = check::finite("continuous variable", entry.value.number());
        }
    });
    finite
}

/// Checks variables before they replace others: their ranges, and that their names are the same. Returns the stage below
/// which the state falls, if anything has changed.
pub(crate) fn check_new<T: Real, V: Variables<T>>(present: &V, new: &V) -> ElementResult<Option<Stage>> {
    check_fits(present, new)?;
    Ok(present.first_stage_changed(new))
}

/// Checks the ranges of new variables, and that they have the scalars of the present ones.
#[inline]
pub(crate) fn check_fits<T: Real, V: Variables<T>>(present: &V, new: &V) -> ElementResult {
    new.validate()?;
    if present.fits(new) { Ok(()) } else { Err(ElementError::ForeignVariables) }
}
