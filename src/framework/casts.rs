//! Casts of systems and states to another scalar.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::framework::kinds::{AnyKind, Kind};
use crate::framework::slots::Columns;
use crate::framework::system::next_stamp;
use crate::framework::{ElementError, ElementResult, Error, ForceElement, ForceSystem, State};
use crate::math::{Casts, Real};

impl<T: Real, U: Real> Casts<T, U> {
    /// Adds the cast of elements of one type.
    ///
    /// The function makes the element from the original one; defaults set on the system are copied by
    /// name. It receives these casts for the shapes that the element contains.
    pub fn add<E: ForceElement<T>, F: ForceElement<U>>(
        &mut self,
        cast: impl Fn(&E, &Self) -> Result<F, Error> + Send + Sync + 'static,
    ) {
        self.add_from(move |kind: &Kind<T, E>, casts| {
            let cast: Box<dyn AnyKind<U>> = Box::new(kind.cast::<U, F>(|element| cast(element, casts))?);
            Ok::<_, Error>(cast)
        });
    }
}

impl<T: Real> ForceSystem<T> {
    /// The same system in another scalar, with casts of a user's own elements and shapes. Indices of bodies and
    /// coordinates remain valid; convert handles of elements by [`Handle::cast`](crate::Handle::cast).
    ///
    /// Meshes are shared; everything else is copied, with zero derivatives: bodies, coordinates, elements, names, and
    /// the variables with which new states begin. The two systems are independent afterwards.
    ///
    /// # Errors
    /// [`Error::NoCast`] for a kind of element without a cast, even if all elements of the kind were removed;
    /// [`Error::Element`] with the error of an element's cast, with [`ElementError::ForeignVariables`] if the cast has
    /// variables of other names, or with [`ElementError::InvalidValue`] where the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<ForceSystem<U>, Error> {
        let cast = |kind: &dyn AnyKind<T>| {
            let known = casts.find::<Result<Box<dyn AnyKind<U>>, Error>>(kind);
            known.unwrap_or_else(|| Err(Error::NoCast { kind: kind.roster().kind }))
        };
        let kinds = self.kinds.iter().map(|kind| cast(kind.as_ref())).collect::<Result<_, _>>()?;
        let topology = self.topology.clone();
        let system = ForceSystem { id: next_stamp(), version: next_stamp(), topology, kinds };
        for id in system.elements() {
            system.kinds[id.kind()].check_topology(id.place(), &system.topology)?;
        }
        Ok(system)
    }

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
        other.visit_variables(&mut |entry| values.push(entry.value.number().cast()));
        state.restore_layout(other.layout, &values)?;
        state.continuous.set_flags(other.continuous.flags());
        state.continuous.accounts.clone_from(&other.continuous.accounts);
        Ok(state)
    }
}

impl<T: Real, E: ForceElement<T>> Kind<T, E> {
    /// The elements in another scalar, at the same places.
    fn cast<U: Real, F: ForceElement<U>>(
        &self,
        cast: impl Fn(&E) -> Result<F, Error>,
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
            let variables = cast_defaults(&element, &self.defaults, place);
            defaults.append(variables.map_err(|source| self.roster.failure(place, source))?);
            elements.push(Some(element));
        }
        Ok(Kind { roster: self.roster.clone(), elements, defaults })
    }
}

/// The default variables of an element that was cast, copied by name from the original.
fn cast_defaults<T: Real, U: Real, E: ForceElement<T>, F: ForceElement<U>>(
    element: &F,
    defaults: &Columns<T, E>,
    place: usize,
) -> ElementResult<Columns<U, F>> {
    let mut variables = Columns::of(Some(element));
    let mut values = Vec::new();
    defaults.visit(place, &mut |entry| values.push(entry.value.number().cast()));
    let (mut rest, mut fits) = (values.into_iter(), defaults.layout(place, 0) == variables.layout(0, 0));
    variables.visit_mut(0, &mut |entry| {
        fits &= rest.next().is_some_and(|value| entry.value.write("flag", value).is_ok());
    });
    if !fits {
        return Err(ElementError::ForeignVariables);
    }
    variables.validate(0)?;
    Ok(variables)
}
