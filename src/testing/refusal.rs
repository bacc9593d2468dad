//! The promise that bad values are refused and change nothing.

use alloc::string::String;

use super::scene::scene;
use super::violation::claim;
use super::{Finding, Scene, Subject, Violation};
use crate::framework::{ElementError, Error, ForceElement, ForceSystem, Handle};
use crate::math::Requirement;

/// Checks that no named variable takes what is not a number, and that the state stays as it is. The scalars of an
/// optional variable that is not known may ignore it.
///
/// # Errors
/// If it is taken, or the state has changed.
pub fn refuses_what_is_not_a_number<S: Subject>(seed: u64) -> Result<(), Violation> {
    claim("refusal", seed, || {
        let Scene { system, mut state, .. } = scene::<S, f64>(seed)?;
        system.realize_dynamics(&mut state)?;
        let (stage, snapshot) = (state.stage(), state.snapshot());
        for name in state.variable_names() {
            let value = f64::NAN;
            let is_refused = system.set_variable(&mut state, &name, value).is_err();
            if !is_refused && state.variable(&name)?.is_nan() {
                return Err(Finding::Accepted { name, value });
            }
            if state.snapshot() != snapshot || (is_refused && state.stage() != stage) {
                return Err(Finding::Changed { name });
            }
            system.realize_dynamics(&mut state)?;
        }
        Ok(())
    })
}

/// Checks that a parameter that is spoilt is refused for what it is, in a state and as a default, under the name of the
/// element, and that the state does not change.
///
/// # Errors
/// If it is taken, or refused by another name or requirement. The seed of the violation is zero.
pub fn refuses_parameter<E: ForceElement<f64>>(
    system: &mut ForceSystem<f64>,
    element: Handle<E>,
    name: &'static str,
    spoil: fn(&mut E::Parameters),
    requirement: Requirement,
) -> Result<(), Violation> {
    claim("refusal", 0, || {
        let mut state = system.default_state();
        system.realize_dynamics(&mut state)?;
        let before = (state.stage(), state.snapshot());
        let mut parameters = state.try_parameters(element)?.clone();
        spoil(&mut parameters);
        let in_state = system.update_parameters(&mut state, element, spoil);
        let as_default = system.set_default_parameters(element, parameters);
        for refused in [in_state, as_default] {
            let invalid = match refused {
                Err(Error::Element { element: of, source: ElementError::InvalidValue(invalid) })
                    if (of.kind, of.index) == (E::KIND, Some(element.place())) =>
                {
                    Some(invalid)
                }
                Err(Error::Element { source: ElementError::InvalidValue(_), .. }) | Ok(()) => None,
                Err(other) => return Err(other.into()),
            };
            if invalid.map(|invalid| (invalid.name, invalid.requirement)) != Some((name, requirement)) {
                let value = invalid.map_or(f64::NAN, |invalid| invalid.value);
                return Err(Finding::Accepted { name: String::from(name), value });
            }
        }
        if (state.stage(), state.snapshot()) == before {
            Ok(())
        } else {
            Err(Finding::Changed { name: String::from(name) })
        }
    })
}
