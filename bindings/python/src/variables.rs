//! Variables by name: under the kinds and places of their elements, or under the names that were given to these.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use force_elements::{ElementId, Error, ForceSystem, State as CrateState};
use pyo3::prelude::*;

use crate::errors::{invalid, no_such};
use crate::parts::Built;

/// Where variables are among all, which are listed by the kinds and places of their elements.
pub(crate) fn places_among(keys: &[String]) -> impl Fn(&Names, &str) -> PyResult<usize> + '_ {
    let places: HashMap<&str, usize> =
        keys.iter().enumerate().map(|(place, key)| (key.as_str(), place)).collect();
    move |names, name| {
        let listed = names.listed(name);
        places.get(listed.as_str()).copied().ok_or_else(|| {
            let [parts, fields] = similar(keys, name, &listed);
            let hint = if parts.is_empty() { LISTED.to_string() + &fields } else { parts };
            no_such(&format!("no variable is named {name:?}{hint}"))
        })
    }
}

/// What a message about an unknown name says of the parts that it has, and of the names that its element has; each empty if there
/// are none.
pub(crate) fn similar(keys: &[String], name: &str, listed: &str) -> [String; 2] {
    let parts = keys.iter().filter_map(|key| key.strip_prefix(listed)?.strip_prefix('.'));
    let parts: Vec<_> = parts.take(6).map(|part| format!("{name}.{part}")).collect();
    let (element, _) = listed.split_once("].").unwrap_or_default();
    let field =
        |key: &'_ String| key.strip_prefix(element)?.strip_prefix("].")?.split('.').next().map(String::from);
    let mut fields: Vec<_> = keys.iter().filter_map(field).collect();
    fields.dedup();
    let said = |names: Vec<String>, verb: &str| {
        if names.is_empty() { String::new() } else { format!("; {verb} {}", names.join(", ")) }
    };
    [said(parts, "there are"), said(fields, &format!("{element}] has"))]
}

/// The elements of a system by the names that were given to them.
pub(crate) struct Names(HashMap<String, ElementId>);

impl Names {
    pub(crate) fn of(system: &ForceSystem<f64>) -> Self {
        let name = |id| Some((system.element_name(id).name?.to_string(), id));
        Self(system.elements().filter_map(name).collect())
    }

    /// The element of a variable that has the name of it, and the rest of the name.
    fn split<'n>(&self, name: &'n str) -> Option<(ElementId, &'n str)> {
        // A user's name may have dots: the longest that fits is meant.
        name.rmatch_indices('.').find_map(|(dot, _)| Some((*self.0.get(&name[..dot])?, &name[dot + 1..])))
    }

    /// The name of a variable, or the begin of one, under the kind and place of its element, where it may be under the user's name.
    pub(crate) fn listed(&self, name: &str) -> String {
        let own = || self.0.get(name).map_or_else(|| name.to_string(), ToString::to_string);
        self.split(name).map_or_else(own, |(id, field)| format!("{id}.{field}"))
    }
}

/// Variables that are set by name, with the places of their values: those of an element together.
#[derive(Default)]
pub(crate) struct Update {
    /// Time, and the accounts of elements.
    alone: Vec<(String, usize)>,
    of_elements: BTreeMap<ElementId, Vec<(String, usize)>>,
}

impl Update {
    /// # Errors
    /// If two names are of one variable.
    pub(crate) fn of<'n>(given: impl IntoIterator<Item = &'n String>, system: &Built) -> PyResult<Self> {
        let (names, mut before, mut update) = (Names::of(system), HashSet::new(), Self::default());
        for (place, given) in given.into_iter().enumerate() {
            let name = names.listed(given);
            let found = name.split_once("].").filter(|(_, field)| !ACCOUNT.contains(field));
            let found = found.and_then(|(id, field)| Some((system.element_at(&format!("{id}]"))?, field)));
            match found {
                Some((id, field)) => {
                    update.of_elements.entry(id).or_default().push((field.to_string(), place));
                }
                None => update.alone.push((name.clone(), place)),
            }
            once(&mut before, name, given)?;
        }
        Ok(update)
    }

    /// Writes all variables, or none.
    pub(crate) fn write(
        &self,
        system: &ForceSystem<f64>,
        state: &mut CrateState<f64>,
        value: impl Fn(usize) -> f64,
    ) -> Result<(), Error> {
        // The system writes one variable, or those of one element, as a whole.
        if self.alone.len() + self.of_elements.len() < 2 {
            return self.write_each(system, state, value);
        }
        let mut changed = state.clone();
        self.write_each(system, &mut changed, value)?;
        *state = changed;
        Ok(())
    }

    fn write_each(
        &self,
        system: &ForceSystem<f64>,
        state: &mut CrateState<f64>,
        value: impl Fn(usize) -> f64,
    ) -> Result<(), Error> {
        for (name, place) in &self.alone {
            system.set_variable(state, name, value(*place))?;
        }
        for (id, fields) in &self.of_elements {
            let values: Vec<_> =
                fields.iter().map(|(field, place)| (field.as_str(), value(*place))).collect();
            system.set_variables(state, *id, &values)?;
        }
        Ok(())
    }
}

/// Keeps a variable, or refuses it if it has been named before.
pub(crate) fn once<P: Eq + Hash>(before: &mut HashSet<P>, variable: P, name: &str) -> PyResult<()> {
    if before.insert(variable) {
        return Ok(());
    }
    Err(invalid(&format!("{name} is the second name of a variable that is given twice")))
}

/// Where all names of variables are.
const LISTED: &str = "; keys() lists all, under the kinds and places of their elements, as linear_bushing[0]: a name given to an \
    element serves in their place, and forces and the like are results, which results() lists";

/// The variables that are no element's own.
const ACCOUNT: [&str; 2] = ["absorbed_energy", "account_open"];

/// Names of variables, and with them those under the names of elements that have one.
pub(crate) fn completions(system: &ForceSystem<f64>, mut names: Vec<String>) -> Vec<String> {
    for id in system.elements() {
        let Some(own) = system.element_name(id).name else { continue };
        let prefix = format!("{id}.");
        let fields = names.iter().filter_map(|name| name.strip_prefix(&prefix));
        let more: Vec<String> = fields.map(|field| format!("{own}.{field}")).collect();
        names.extend(more);
    }
    names
}
