//! Casts of systems and states to another scalar.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::Any;

use crate::framework::kinds::{AnyKind, Kind};
use crate::framework::slots::Columns;
use crate::framework::state::State;
use crate::framework::system::next_stamp;
use crate::framework::variables::Value;
use crate::framework::{ElementError, Error, ForceElement, ForceSystem};
use crate::math::Real;
use crate::mechanics::Topology;

/// Casts of kinds of elements, one for each type, which receive a context `C`.
pub(crate) struct KindCasts<T: Real, U: Real, C>(Vec<KindCast<T, U, C>>);

/// `None` for another kind.
type KindCast<T, U, C> =
    Box<dyn Fn(&dyn AnyKind<T>, &C, &Topology) -> Option<Result<Box<dyn AnyKind<U>>, Error>> + Send + Sync>;

impl<T: Real, U: Real, C> KindCasts<T, U, C> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds the cast of elements of one type, replacing an earlier one.
    pub(crate) fn add<E: ForceElement<T>, F: ForceElement<U>>(
        &mut self,
        cast: impl Fn(&E, &C) -> Result<F, Error> + Send + Sync + 'static,
    ) {
        self.0.push(Box::new(move |kind, context, topology| {
            let any: &dyn Any = kind;
            let kind: &Kind<T, E> = any.downcast_ref()?;
            let cast = kind.cast::<U, F>(|element| cast(element, context), topology);
            Some(cast.map(|kind| Box::new(kind) as Box<dyn AnyKind<U>>))
        }));
    }

    /// The system in another scalar.
    ///
    /// # Errors
    /// As [`ForceSystem::cast_with`].
    pub(crate) fn cast(&self, system: &ForceSystem<T>, context: &C) -> Result<ForceSystem<U>, Error> {
        let cast = |kind: &dyn AnyKind<T>| {
            let known = self.0.iter().rev().find_map(|cast| cast(kind, context, &system.topology));
            known.unwrap_or_else(|| Err(Error::NoCast { kind: kind.roster().kind }))
        };
        let kinds = system.kinds.iter().map(|kind| cast(kind.as_ref())).collect::<Result<_, _>>()?;
        let (id, version, topology) = (next_stamp(), next_stamp(), system.topology.clone());
        Ok(ForceSystem { id, version, topology, kinds })
    }
}

impl<T: Real> ForceSystem<T> {
    /// A state of this system with the contents of a state of the system from which it was cast, or of any other cast
    /// of that system: time, motion, all variables, which elements are enabled, energy accounts. Derivatives are zero,
    /// and the state is below Instance stage.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if bodies, coordinates or elements are not the same; [`Error::LayoutMismatch`]
    /// if the number of an element's variables is not the same; [`Error::Element`],
    /// [`Error::Kinematics`] or [`Error::NonFiniteEnergy`] where this system's scalar has a smaller range.
    pub fn cast_state<U: Real>(&self, other: &State<U>) -> Result<State<T>, Error> {
        let mut state = self.default_state();
        let is_alike = state.kinematics.topology() == other.kinematics.topology()
            && state.kinds.len() == other.kinds.len()
            && state.kinds.iter().zip(&other.kinds).all(|(ours, theirs)| {
                let (ours, theirs) = (ours.roster(), theirs.roster());
                ours.kind == theirs.kind && ours.places == theirs.places
            });
        if !is_alike {
            return Err(Error::TopologyMismatch);
        }
        state.kinematics = other.kinematics.cast()?;
        let mut values = Vec::new();
        other.visit_values(&mut |value| values.push(value.cast()));
        state.restore_layout(other.layout, values.into_iter())?;
        state.continuous.take_flags(&other.continuous);
        Ok(state)
    }
}

/// A number, or 1 or 0 for a flag.
fn plain<T: Real>(value: Value<T>) -> f64 {
    value.number().to_f64()
}

impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// The elements in another scalar, at the same places.
    fn cast<U: Real, F: ForceElement<U>>(
        &self,
        cast: impl Fn(&E) -> Result<F, Error>,
        topology: &Topology,
    ) -> Result<Kind<U, F>, Error> {
        let (mut elements, mut defaults) = (Vec::new(), Columns::none());
        for (place, element) in self.elements.iter().enumerate() {
            let Some(element) = element else {
                elements.push(None);
                defaults.append(Columns::of(None));
                continue;
            };
            let element = cast(element).map_err(|error| match error {
                Error::Element { source, .. } => self.roster.failure(place, source),
                other => other,
            })?;
            let variables = cast_defaults(&element, &self.defaults, place, topology);
            defaults.append(variables.map_err(|source| self.roster.failure(place, source))?);
            elements.push(Some(element));
        }
        Ok(Kind { roster: self.roster.clone(), elements, defaults })
    }
}

/// The default variables of an element that was cast, which are those of the other by name.
fn cast_defaults<T: Real, U: Real, E: ForceElement<T>, F: ForceElement<U>>(
    element: &F,
    defaults: &Columns<T, E>,
    place: usize,
    topology: &Topology,
) -> Result<Columns<U, F>, ElementError> {
    element.check_topology(topology)?;
    let mut values: Vec<(String, f64)> = Vec::new();
    defaults.visit(place, &mut |entry| values.push((entry.name.to_string(), plain(entry.value))));
    let mut rest = values.iter();
    let mut fits = E::KIND == F::KIND;
    let mut variables = Columns::of(Some(element));
    variables.visit_mut(0, &mut |entry| {
        let name = entry.name.to_string();
        let value = rest.next().filter(|(given, _)| *given == name);
        fits &= value.is_some_and(|(_, value)| entry.value.write("flag", U::lit(*value)).is_ok());
    });
    if !fits || rest.next().is_some() {
        return Err(ElementError::ForeignVariables);
    }
    variables.validate(0)?;
    Ok(variables)
}
