//! Membership of a system: adding and removing bodies, coordinates and elements, and carrying states over.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use core::any::Any;

use crate::framework::kinds::Kind;
use crate::framework::slots::{Columns, Group};
use crate::framework::snapshot::split_address;
use crate::framework::system::next_stamp;
use crate::framework::{
    ElementError, ElementId, ElementName, Error, ForceElement, ForceSystem, Handle, State,
};
use crate::math::Real;
use crate::mechanics::{BodyIndex, CoordinateIndex, KinematicsError, Places, Topology};

impl<T: Real> ForceSystem<T> {
    /// Adds a body of the host.
    pub fn add_body(&mut self) -> BodyIndex {
        self.version = next_stamp();
        self.topology.add_body(None)
    }

    /// Adds a body of the host with a name.
    ///
    /// # Errors
    /// [`Error::NameTaken`] if another body has the name; Ground is called `ground`. [`Error::UnfitName`] if it is empty.
    pub fn add_named_body(&mut self, name: &str) -> Result<BodyIndex, Error> {
        let name = new_name([&self.topology.bodies], name)?;
        self.version = next_stamp();
        Ok(self.topology.add_body(Some(name)))
    }

    /// Adds a scalar coordinate of the host.
    pub fn add_coordinate(&mut self) -> CoordinateIndex {
        self.version = next_stamp();
        self.topology.add_coordinate(None)
    }

    /// Adds a scalar coordinate of the host with a name.
    ///
    /// # Errors
    /// [`Error::NameTaken`] if another coordinate has the name; [`Error::UnfitName`] if it is empty.
    pub fn add_named_coordinate(&mut self, name: &str) -> Result<CoordinateIndex, Error> {
        let name = new_name([&self.topology.coordinates], name)?;
        self.version = next_stamp();
        Ok(self.topology.add_coordinate(Some(name)))
    }

    /// Adds an element.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::Kinematics`] if it names a body or coordinate that does not exist,
    /// with [`ElementError::InvalidValue`] if its defaults are out of range, or with an error documented by the
    /// element; [`Error::KindNameTaken`] if another type of element already has its [`KIND`](ForceElement::KIND);
    /// [`Error::NameTaken`] if two of its variables, or two of its results, have the same name.
    pub fn add<E: ForceElement<T>>(&mut self, element: E) -> Result<Handle<E>, Error> {
        self.add_as(None, element)
    }

    /// Adds an element with a name, which its errors display. Its variables and results are found by this name as well as
    /// by kind and place: `left heel.normal_force` and `exponential_spring[3].normal_force`. Lists use kind and place.
    ///
    /// # Errors
    /// Those of [`add`](Self::add); [`Error::NameTaken`] if another element has the name; [`Error::AmbiguousName`] or
    /// [`Error::UnfitName`] if names of variables would become ambiguous: `arm` and `arm.left` exclude each other, and a
    /// name must not be empty or begin like `kind[3]`.
    ///
    /// # Example: a spring called "left heel"
    ///
    /// ```
    /// use force_elements::nalgebra::Point3;
    /// use force_elements::{Error, ExponentialSpring, ForceSystem, Frame, Pose, Station, exponential_spring::Parameters};
    ///
    /// let mut system = ForceSystem::<f64>::new();
    /// let heel = Station::on(system.add_body(), Point3::origin());
    /// let floor = Frame::ground(Pose::identity());
    /// system.add_named("left heel", ExponentialSpring::new(floor, heel, Parameters::default())?)?;
    ///
    /// let mut state = system.default_state();
    /// system.set_variable(&mut state, "left heel.mu_kinetic", 0.4)?;
    /// assert_eq!(state.variable("exponential_spring[0].mu_kinetic")?, 0.4);
    /// let dynamics = system.realize_dynamics(&mut state)?;
    /// assert_eq!(dynamics.result("left heel.normal_force"), dynamics.result("exponential_spring[0].normal_force"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn add_named<E: ForceElement<T>>(&mut self, name: &str, element: E) -> Result<Handle<E>, Error> {
        let name = self.new_element_name(name)?;
        self.add_as(Some(name), element)
    }

    /// Removes a body. A [`CustomForce`](crate::CustomForce) acts on the bodies that its closure requests and does not
    /// keep them in use: its next evaluation fails.
    ///
    /// # Errors
    /// [`Error::InUse`] if an element acts on it; [`Error::Kinematics`] if it is Ground or does not exist.
    pub fn remove_body(&mut self, body: BodyIndex) -> Result<(), Error> {
        if body == BodyIndex::GROUND {
            return Err(KinematicsError::GroundIsFixed.into());
        }
        self.topology.check_body(body)?;
        let mut topology = self.topology.clone();
        topology.bodies.remove(body.index());
        self.shrink(topology)
    }

    /// Removes a coordinate.
    ///
    /// # Errors
    /// [`Error::InUse`] if an element acts on it; [`Error::Kinematics`] if it does not exist.
    pub fn remove_coordinate(&mut self, coordinate: CoordinateIndex) -> Result<(), Error> {
        self.topology.check_coordinate(coordinate)?;
        let mut topology = self.topology.clone();
        topology.coordinates.remove(coordinate.index());
        self.shrink(topology)
    }

    /// Removes an element. States carried over afterwards no longer contain it, nor the energy that it stored.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system does not have it.
    pub fn remove(&mut self, element: impl Into<ElementId>) -> Result<(), Error> {
        let id = self.check(element.into())?;
        self.kinds[id.kind()].remove(id.place());
        self.version = next_stamp();
        Ok(())
    }

    /// Replaces the topology by a smaller one, unless an element needs more.
    fn shrink(&mut self, topology: Topology) -> Result<(), Error> {
        let mut needing = self.kinds.iter().filter_map(|kind| {
            kind.roster().ids().find(|id| kind.check_topology(id.place(), &topology).is_err())
        });
        if let Some(id) = needing.next() {
            return Err(Error::InUse { element: self.name_of(id)? });
        }
        self.topology = topology;
        self.version = next_stamp();
        Ok(())
    }

    /// Brings a state of this system up to date after bodies, coordinates or elements were added or removed. Everything
    /// that exists in both is bit-identical: time, motion, parameters, discrete variables, whether elements are enabled,
    /// energy accounts. New bodies are at rest at the Ground origin. New elements have their defaults, and their accounts
    /// are closed. Drops the state below Instance stage, unless it is already up to date.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state belongs to another system.
    pub fn carry_over(&self, state: &mut State<T>) -> Result<(), Error> {
        if state.system != self.id {
            return Err(Error::TopologyMismatch);
        }
        if self.owns(state) {
            return Ok(());
        }
        let mut fresh = self.default_state();
        for (kind, old) in state.kinds.iter().enumerate() {
            for (place, stamp) in self.kinds[kind].roster().places.iter() {
                if old.roster().places.has(place, stamp) {
                    fresh.kinds[kind].copy_variables(place..place + 1, old.as_ref(), place)?;
                    let (to, from) = (fresh.slot_at(kind, place), state.slot_at(kind, place));
                    fresh.continuous.values[to] = state.continuous.values[from];
                    fresh.continuous.accounts[to] = state.continuous.accounts[from];
                }
            }
        }
        fresh.collect(Group::Continuous);
        fresh.continuous.set_flags(state.continuous.flags());
        fresh.kinematics = state.kinematics.carried_over(&self.topology);
        *state = fresh;
        Ok(())
    }

    /// Returns a name by which an element is found, unless another address could be read the same way.
    fn new_element_name(&self, name: &str) -> Result<Arc<str>, Error> {
        let tables = || self.kinds.iter().map(|kind| &kind.roster().places);
        let begins =
            |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
        if split_address(&format!("{name}.")).is_some() {
            return Err(Error::UnfitName { name: name.to_string() });
        }
        let mut others = tables().flat_map(|places| places.names());
        if let Some(other) = others.find(|other| begins(other, name) || begins(name, other)) {
            return Err(Error::AmbiguousName { name: name.to_string(), other: other.to_string() });
        }
        new_name(tables(), name)
    }

    fn add_as<E: ForceElement<T>>(&mut self, name: Option<Arc<str>>, element: E) -> Result<Handle<E>, Error> {
        let index = self.kinds.iter().position(|kind| kind.roster().kind == E::KIND);
        let place = index.map_or(0, |index| self.kinds[index].roster().places.next());
        let refused = |source: ElementError| Error::Element {
            element: ElementName { kind: E::KIND, index: Some(place), name: name.clone() },
            source,
        };
        element.check_topology(&self.topology).map_err(refused)?;
        let defaults = Columns::<T, E>::of(Some(&element));
        defaults.validate(0).map_err(|error| refused(error.into()))?;
        let index = index.unwrap_or(self.kinds.len());
        if index == self.kinds.len() {
            // Names are declared by the type, so one check covers all elements of a kind.
            if let Some(repeated) = defaults.repeated_name() {
                return Err(Error::NameTaken { name: format!("{}[{place}].{repeated}", E::KIND) });
            }
            self.kinds.push(Box::new(Kind::<T, E>::new(index)));
        }
        let kind: &mut dyn Any = self.kinds[index].as_mut();
        let kind: &mut Kind<T, E> = kind.downcast_mut().ok_or(Error::KindNameTaken { kind: E::KIND })?;
        let stamp = kind.put(element, name, defaults);
        self.version = next_stamp();
        Ok(Handle::new(ElementId::new(E::KIND, index, place, stamp)))
    }
}

/// Returns a name that does not occur in these tables.
fn new_name<'a>(tables: impl IntoIterator<Item = &'a Arc<Places>>, name: &str) -> Result<Arc<str>, Error> {
    if name.is_empty() {
        return Err(Error::UnfitName { name: name.to_string() });
    }
    if tables.into_iter().any(|places| places.find(name).is_some()) {
        return Err(Error::NameTaken { name: name.to_string() });
    }
    Ok(name.into())
}
