//! Casts of systems and states to another scalar.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use crate::cable::PathCasts;
use crate::framework::element_variables::ElementVariables;
use crate::framework::kinds::{AnyKind, Kind};
use crate::framework::state::State;
use crate::framework::system::next_stamp;
use crate::framework::variables::Value;
use crate::framework::{BinarySnapshot, ElementError, Error, ForceElement, ForceSystem};
use crate::math::Real;
use crate::mechanics::Topology;
use crate::shapes::SolidCasts;

/// Casts of elements and shapes from one scalar to another, for [`ForceSystem::cast_with`].
///
/// [`new`](Self::new) knows those of this crate; a user's own are added.
///
/// # Example: a user's element
///
/// ```
/// use force_elements::*;
///
/// /// A constant force along x.
/// #[derive(Debug)]
/// struct Wind<T: Real> { body: BodyIndex, force: T }
///
/// impl<T: Real> ForceElement<T> for Wind<T> {
///     const KIND: &'static str = "wind";
///     type Parameters = ();
///     type Discrete = ();
///     type Continuous = ();
///     type Position = ();
///     type Velocity = ();
///     type Dynamics = ();
///
///     fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
///         Ok(topology.check_body(self.body)?)
///     }
///     fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
///         let (p_GB, zero) = (at.positions.pose(self.body).translation.vector, T::zero());
///         forces.apply_at_point(self.body, &p_GB.into(), nalgebra::Vector3::new(self.force, zero, zero));
///     }
/// }
///
/// let mut system = ForceSystem::<f64>::new();
/// let body = system.add_body();
/// let wind = system.add(Wind { body, force: 2.0 })?;
/// assert!(matches!(system.cast::<f32>(), Err(Error::NoCast { kind: "wind" })));
///
/// let mut casts = Casts::<f64, f32>::new();
/// casts.add(|wind: &Wind<f64>, _| Ok(Wind { body: wind.body, force: wind.force.cast::<f32>() }));
/// let single = system.cast_with(&casts)?;
/// assert_eq!(single.element(wind.cast::<Wind<f32>>()).force, 2.0);
/// # Ok::<(), Error>(())
/// ```
pub struct Casts<T: Real, U: Real> {
    /// Casts of solids, for elements that hold some.
    pub solids: SolidCasts<T, U>,
    /// Casts of surfaces and curves of cable paths, for elements that hold some.
    pub paths: PathCasts<T, U>,
    kinds: Vec<KindCast<T, U>>,
}

/// `None` for another kind.
type KindCast<T, U> = Box<
    dyn Fn(&dyn AnyKind<T>, &Casts<T, U>, &Topology) -> Option<Result<Box<dyn AnyKind<U>>, Error>>
        + Send
        + Sync,
>;

impl<T: Real, U: Real> Casts<T, U> {
    /// The casts of shapes, without those of elements.
    pub(crate) fn of_shapes() -> Self {
        Self { solids: SolidCasts::new(), paths: PathCasts::new(), kinds: Vec::new() }
    }

    /// Adds the cast of elements of one type; of several for one type, the last one counts.
    ///
    /// The function makes the element from the other's places; defaults that were set on the system are copied by
    /// name. It is given these casts for the shapes that the element holds.
    pub fn add<E: ForceElement<T>, F: ForceElement<U>>(
        &mut self,
        cast: impl Fn(&E, &Self) -> Result<F, Error> + Send + Sync + 'static,
    ) {
        self.kinds.push(Box::new(move |kind, casts, topology| {
            let any: &dyn Any = kind;
            let kind: &Kind<T, E> = any.downcast_ref()?;
            let cast = kind.cast::<U, F>(|element| cast(element, casts), topology);
            Some(cast.map(|kind| Box::new(kind) as Box<dyn AnyKind<U>>))
        }));
    }
}

impl<T: Real, U: Real> fmt::Debug for Casts<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { solids, paths, kinds } = self;
        let kinds = &kinds.len();
        f.debug_struct("Casts").field("solids", solids).field("paths", paths).field("kinds", kinds).finish()
    }
}

impl<T: Real> ForceSystem<T> {
    /// The same system in another scalar, with casts of a user's own elements and shapes. Indices of bodies and
    /// coordinates are valid in it as they are, handles of elements after [`Handle::cast`](crate::Handle::cast).
    ///
    /// Meshes are shared, all else is copied, with zero derivatives: bodies, coordinates, elements, names, and the
    /// variables with which new states begin. The two systems go their own ways from here on.
    ///
    /// # Errors
    /// [`Error::NoCast`] for a kind of element without a cast; [`Error::Element`] with the error of an element's cast,
    /// with [`ElementError::ForeignVariables`] if the cast has variables of other names, or with
    /// [`ElementError::InvalidValue`] where the other scalar has a smaller range.
    pub fn cast_with<U: Real>(&self, casts: &Casts<T, U>) -> Result<ForceSystem<U>, Error> {
        let cast = |kind: &dyn AnyKind<T>| {
            let known = casts.kinds.iter().rev().find_map(|cast| cast(kind, casts, &self.topology));
            known.unwrap_or_else(|| Err(Error::NoCast { kind: kind.roster().kind }))
        };
        let kinds = self.kinds.iter().map(|kind| cast(kind.as_ref())).collect::<Result<_, _>>()?;
        let (id, version, topology) = (next_stamp(), next_stamp(), self.topology.clone());
        Ok(ForceSystem { id, version, topology, kinds })
    }

    /// The state of this system with all that varies in a state of the system from which it was cast, or of any other
    /// cast of that: time, motion, all variables, which elements are enabled, energy accounts.
    /// Derivatives are zero, and the state is below Instance stage.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if bodies, coordinates or elements are not the same; [`Error::BinarySnapshotMismatch`]
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
        let BinarySnapshot { layout, values } = other.binary_snapshot();
        let values = values.into_iter().map(U::cast).collect();
        state.restore_binary(&BinarySnapshot { layout, values })?;
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
        let (mut elements, mut defaults) = (Vec::new(), Vec::new());
        for (place, (element, variable)) in self.elements.iter().zip(&self.defaults).enumerate() {
            let Some(element) = element else {
                elements.push(None);
                defaults.push(ElementVariables::vacant());
                continue;
            };
            let element = cast(element).map_err(|error| match error {
                Error::Element { source, .. } => self.roster.failure(place, source),
                other => other,
            })?;
            let variable = cast_default(&element, variable, topology);
            defaults.push(variable.map_err(|source| self.roster.failure(place, source))?);
            elements.push(Some(element));
        }
        Ok(Kind { roster: self.roster.clone(), elements, defaults, layout: self.layout })
    }
}

/// The default variables of an element that was cast, which are those of the other by name.
fn cast_default<T: Real, U: Real, E: ForceElement<T>, F: ForceElement<U>>(
    element: &F,
    default: &ElementVariables<T, E>,
    topology: &Topology,
) -> Result<ElementVariables<U, F>, ElementError> {
    element.check_topology(topology)?;
    let mut values: Vec<(String, f64)> = Vec::new();
    default.visit(&mut |entry| values.push((entry.name.to_string(), plain(entry.value))));
    let mut rest = values.iter();
    let mut fits = E::KIND == F::KIND;
    let mut variable = ElementVariables::of(element);
    variable.visit_mut(&mut |entry| {
        let name = entry.name.to_string();
        let value = rest.next().filter(|(given, _)| *given == name);
        fits &= value.is_some_and(|(_, value)| entry.value.write("flag", U::lit(*value)).is_ok());
    });
    if !fits || rest.next().is_some() {
        return Err(ElementError::ForeignVariables);
    }
    variable.validate()?;
    Ok(variable)
}
