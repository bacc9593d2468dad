//! The linearization of a system in reused memory.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::blocks::{Branch, Column, Row};
use super::derivatives::{Derivatives, Slot};
use super::differences::Scratch;
use crate::framework::handle::{ElementId, or_panic};
use crate::framework::slots::Group;
use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::framework::system::check_in;
use crate::framework::variables::Value;
use crate::framework::{Error, ForceSystem};
use crate::math::Real;
use crate::mechanics::Topology;

/// The contents of a [`Linearization`], in addition to the derivatives of forces by motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scope {
    /// Derivatives of forces and rates by time, parameters, discrete and continuous variables, and of rates by motion.
    pub variables: bool,
    /// Derivatives of the discrete variables after the next commit, by all of these variables and by motion.
    pub commit: bool,
}

/// The derivatives of one element.
#[derive(Debug, Clone, Copy)]
pub struct ElementLinearization<'a, T> {
    /// The derivatives of all elements of the kind.
    pub(super) derivatives: &'a Derivatives<T>,
    pub(super) slot: &'a Slot,
}

/// The derivatives of the forces of all elements, element by element, about one state.
///
/// Its memory is reused: [`ForceSystem::linearize`] allocates nothing after the first call, unless a law has more
/// contacts than before or the system has changed.
///
/// # Chart
///
/// The motion of a body is measured by a twist in Ground at the body's origin, like its velocity: `dX = V dt`. With the
/// stiffness `K = ∂F/∂X` and the damping `D = ∂F/∂V`, the forces change along any motion, at constant time and variables,
/// by `dF/dt = K·V + D·A`, where `A = dV/dt` has components along the axes of Ground. Both matrices have the sign of a
/// force: a spring has a negative `K`.
///
/// See [Linearization](crate::guide::linearization), also for joint coordinates.
#[derive(Debug)]
pub struct Linearization<T: Real> {
    pub(super) scope: Scope,
    pub(super) version: usize,
    pub(super) topology: Topology,
    pub(super) kinds: Vec<Derivatives<T>>,
    pub(super) of_differences: Option<Scratch<T>>,
}

impl<'a, T: Real> ElementLinearization<'a, T> {
    /// Whether the element wrote the derivatives of the forces by motion, which are then exact but for rounding;
    /// otherwise they are finite differences of the element.
    pub fn is_exact(&self) -> bool {
        self.slot.are_exact[0]
    }

    /// Whether the element wrote the derivatives by variables.
    pub fn is_exact_by_variables(&self) -> bool {
        self.slot.are_exact[1]
    }

    /// Whether the element wrote the derivatives of the commit.
    pub fn is_exact_at_commit(&self) -> bool {
        self.slot.are_exact[2]
    }

    /// The branches that the law takes, as far as the element reports them.
    pub fn branches(&self) -> &'a [Branch<T>] {
        let [begin, end] = &self.slot.marks;
        &self.derivatives.branches[begin.branches..end.branches]
    }

    /// The blocks in the order in which they were written: row, column, and the derivatives row by row. In each row the
    /// derivatives by the position of a body or coordinate come before those by its velocity. Blocks in the same place
    /// add up.
    pub fn blocks(&self) -> impl Iterator<Item = (Row, Column, &'a [T])> + use<'a, T> {
        let ([begin, end], numbers) = (&self.slot.marks, self.derivatives.numbers());
        self.derivatives.entries[begin.entries..end.entries].iter().flat_map(move |entry| {
            let count = entry.row.len() * entry.column.len();
            (0..entry.variables).map(move |i| {
                let column = match entry.column {
                    Column::Variable(first) => Column::Variable(first + i),
                    motion @ Column::Motion(_) => motion,
                };
                let start = entry.start + i * count;
                (entry.row, column, &numbers[start..start + count])
            })
        })
    }
}

impl<T: Real> Default for Linearization<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> Linearization<T> {
    /// A linearization of the forces by motion.
    pub fn new() -> Self {
        Self::of(Scope::default())
    }

    /// A linearization of the forces by motion, and of the contents of this scope.
    pub fn of(scope: Scope) -> Self {
        let (version, topology) = (usize::MAX, Topology::new());
        Self { scope, version, topology, kinds: Vec::new(), of_differences: None }
    }

    /// The scope.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The bodies and coordinates.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The derivatives of one element; none if it is disabled.
    ///
    /// # Panics
    /// If the system did not have the element, like slice indexing; [`try_element`](Self::try_element) does not.
    pub fn element(&self, element: impl Into<ElementId>) -> ElementLinearization<'_, T> {
        or_panic(self.try_element(element))
    }

    /// The derivatives of one element; none if it is disabled.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the system did not have the element.
    pub fn try_element(&self, element: impl Into<ElementId>) -> Result<ElementLinearization<'_, T>, Error> {
        let element = element.into();
        let kind = self.kinds.get(element.kind());
        let id = check_in(kind.map(|kind| &kind.roster), element)?;
        let kind = &self.kinds[id.kind()];
        Ok(ElementLinearization { derivatives: kind, slot: &kind.elements[id.place()] })
    }

    /// Makes room for the elements of a system.
    fn fit(&mut self, system: &ForceSystem<T>) {
        if self.version == system.version {
            return;
        }
        self.version = system.version;
        self.topology = system.topology.clone();
        self.of_differences = None;
        self.kinds.clear();
        self.kinds.extend(system.kinds.iter().map(|kind| Derivatives::new(kind.roster())));
    }
}

impl<T: Real> State<T> {
    /// The names of time and of the numbers of an element, in the order of [`Column::Variable`].
    ///
    /// # Errors
    /// [`Error::NoSuchElement`] if the state does not have the element.
    pub fn linearized_variables(&self, element: impl Into<ElementId>) -> Result<Vec<String>, Error> {
        let id = self.check(element.into())?;
        let mut names = vec!["time".to_string()];
        self.kinds[id.kind()].visit(id.place(), Group::Variables, &mut |entry| {
            if let Value::Number(_) = entry.value {
                names.push(format!("{id}.{}", entry.name));
            }
        });
        Ok(names)
    }
}

impl<T: Real> ForceSystem<T> {
    /// Writes the derivatives of all forces about a state.
    ///
    /// In a step of a host, call it between [`realize_dynamics`](Self::realize_dynamics) and
    /// [`accept_step`](Self::accept_step). After a commit and a new realization, the derivatives are about the new
    /// memory.
    ///
    /// # Example: the stiffness of a mount
    ///
    /// ```
    /// use force_elements::linear_bushing::Parameters;
    /// use force_elements::nalgebra::Vector6;
    /// use force_elements::{End, ForceSystem, Frame, LinearBushing, Linearization, Pose};
    ///
    /// let mut system = ForceSystem::<f64>::new();
    /// let body = system.add_body();
    /// let parameters = Parameters { stiffness: Vector6::repeat(800.0), ..Parameters::default() };
    /// let mount = system.add(LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)?)?;
    /// let mut state = system.default_state();
    /// state.set_pose(body, Pose::translation(0.01, 0.0, 0.0))?;
    ///
    /// let mut linearization = Linearization::new(); // once; its memory is reused
    /// system.realize_dynamics(&mut state)?;
    /// system.linearize(&state, &mut linearization)?;
    ///
    /// let [stiffness, _damping] = linearization.to_dense();
    /// let first = linearization.row_of(End::Body(body)).unwrap_or_default();
    /// assert_eq!(stiffness[(first + 3, first + 3)], -800.0);
    /// assert!(linearization.element(mount).is_exact());
    /// # Ok::<(), force_elements::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::StageTooLow`] below Dynamics stage; [`Error::TopologyMismatch`] if the state belongs to another system;
    /// [`Error::Element`] with an error documented by an element, with
    /// [`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce) if a derivative is not finite, or, with variables
    /// or commits in scope, with [`ElementError::NoSuchVariable`](crate::ElementError::NoSuchVariable). After an error of an
    /// element the linearization is empty.
    pub fn linearize(&self, state: &State<T>, linearization: &mut Linearization<T>) -> Result<(), Error> {
        self.require(state, Stage::Dynamics)?;
        linearization.fit(self);
        let result = self.kinds.iter().try_for_each(|kind| kind.linearize(state, linearization));
        if result.is_err() {
            for kind in &mut linearization.kinds {
                kind.clear();
                (0..kind.elements.len()).for_each(|place| _ = kind.begin(place));
            }
        }
        result
    }
}
