//! Errors of systems, states and the elements in them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;

use super::{ElementId, Stage};
use crate::math::InvalidValue;
use crate::mechanics::KinematicsError;

/// Errors of systems and states. A failed call changes nothing, with two exceptions: a realization may have reached some
/// of the stages, and calls for several elements or worlds document what they have done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// One element refused or failed.
    #[error("{element}: {source}")]
    Element {
        /// The element.
        element: ElementName,
        /// The reason.
        source: ElementError,
    },
    /// A motion was refused, a body or coordinate does not exist, or a sum of forces is not finite.
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    /// A number outside any element is out of its range.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// A part of an element was refused, such as a shape or a cable's path; see [`own`](Self::own).
    #[error(transparent)]
    Own(OwnError),
    /// The state has not been realized far enough for a result.
    #[error("stage {required} is required, but the state is realized to {actual}: evaluate it first")]
    StageTooLow {
        /// The stage required by the call.
        required: Stage,
        /// The stage of the state.
        actual: Stage,
    },
    /// The state, or the length of a slice, belongs to another system, or to this one before something was added or
    /// removed.
    #[error(
        "the state or slice belongs to another system, or to this one before a body, coordinate or element was added \
         or removed: bring the state up to date with carry_over()"
    )]
    TopologyMismatch,
    /// The system or state does not have this element.
    #[error("{element} does not exist in this system: it was removed, or belongs to another")]
    NoSuchElement {
        /// The missing element.
        element: ElementId,
    },
    /// A body or coordinate cannot be removed while an element acts on it.
    #[error("{element} acts on it: remove the element first")]
    InUse {
        /// The first element that acts on it.
        element: ElementName,
    },
    /// One of many worlds failed.
    #[error("world {index}: {source}")]
    World {
        /// The first world that failed.
        index: usize,
        /// The reason.
        source: Box<Error>,
    },
    /// Inputs or outputs do not split into parts of equal length for all worlds.
    #[error("{items} items cannot be split into equal parts for {worlds} worlds")]
    UnequalParts {
        /// The number of items.
        items: usize,
        /// The number of worlds.
        worlds: usize,
    },
    /// The step of a host is longer than the present forces allow, or bodies could pass through each other within it.
    #[error("a step of {step:.3e} s is too long for {element}: the longest is {longest:.3e} s")]
    StepTooLong {
        /// The element that limits the step.
        element: ElementName,
        /// The step \[s\].
        step: f64,
        /// The longest permitted step \[s\].
        longest: f64,
    },
    /// A host checks its steps but does not accept them, so anchors and bristles of friction do not follow the motion.
    #[error(
        "a step was checked at {checked_at} s, and none has been accepted up to {time} s: accept each step at its end, or friction \
         and other memory do not follow the motion"
    )]
    StepNotAccepted {
        /// The time of the previous check \[s\].
        checked_at: f64,
        /// The present time \[s\].
        time: f64,
    },
    /// Over the steps of a host, or of semi-implicit Euler, an element has returned energy that it had not received.
    #[error(
        "{element} has returned {gained:.3e} J that it had not received, having stored at most {stored:.3e} J: the steps are \
         too long, or a motion does not follow from its velocity by the given rule"
    )]
    EnergyGained {
        /// The element.
        element: ElementName,
        /// The energy returned beyond that received and not dissipated \[J\].
        gained: f64,
        /// The largest energy that it has stored \[J\].
        stored: f64,
    },
    /// In steps in which forces are held, friction or damping has repeatedly reversed the motion that it slows down.
    #[error(
        "friction or damping of {element} reverses the motion in every step of {step:.3e} s, and dissipates hardly any energy: \
         the steps are too long for its load; stable_step returns one that is not"
    )]
    FrictionAlternates {
        /// The element.
        element: ElementName,
        /// The length of the last step \[s\].
        step: f64,
    },
    /// A product by variables, of a linearization without derivatives by variables.
    #[error("the linearization has no derivatives by variables: linearize with a scope that includes them")]
    NoVariables,
    /// No cast to another scalar is known for a kind of element.
    #[error("no cast to the other scalar is known for elements of kind {kind}: add one to the casts")]
    NoCast {
        /// The kind.
        kind: &'static str,
    },
    /// Another type of element already has this name.
    #[error("another type of element is already called {kind}")]
    KindNameTaken {
        /// The name.
        kind: &'static str,
    },
    /// Another element, body or coordinate of the system, or another variable or result of an element, already has this
    /// name.
    #[error("the name {name:?} is taken")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A name that cannot be given: an empty one, or the name of an element that begins like `kind[3]`, the prefix of the
    /// variables of elements without a name.
    #[error(
        "the name {name:?} cannot be given: a name is not empty, and that of an element does not begin like \"kind[3]\""
    )]
    UnfitName {
        /// The name.
        name: String,
    },
    /// Names of two elements with which their variables, which are found [by name](crate::ForceSystem::add_named), could
    /// not be distinguished.
    #[error(
        "the name {name:?} cannot be given beside {other:?} of another element: no name may be the part of another before a \
         dot, since dots separate the names of variables"
    )]
    AmbiguousName {
        /// The name.
        name: String,
        /// The name of the other element.
        other: String,
    },
    /// An energy, or the sum of all energies stored or powers dissipated, is not finite.
    #[error("an energy or power is not finite")]
    NonFiniteEnergy,
    /// No variable of the state has this name.
    #[error("no variable is named {name:?}")]
    NoSuchVariable {
        /// The requested name.
        name: String,
    },
    /// A view has no result of this name.
    #[error("no result is named {name:?} at this stage{}", match stage {
        Some(stage) => format!("; it is known at {stage} stage"),
        None => String::new(),
    })]
    NoSuchResult {
        /// The requested name.
        name: String,
        /// The later stage at which a result has this name; `None` if there is none at any stage.
        stage: Option<Stage>,
    },
    /// A snapshot does not list the variables of this state.
    #[error(
        "the snapshot's variable {position} is {}, but the state's is {}: restore it into a state of a system built like the \
         one it was taken from",
        found.as_deref().unwrap_or("missing"), expected.as_deref().unwrap_or("missing")
    )]
    SnapshotMismatch {
        /// The first place at which they differ.
        position: usize,
        /// The name in the state; `None` if the snapshot has more variables.
        expected: Option<String>,
        /// The name in the snapshot; `None` if the state has more variables.
        found: Option<String>,
    },
    /// A state was saved by a system with other variables.
    #[error("the state was saved by a system with other variables")]
    LayoutMismatch,
    /// The bytes of a state are not those that were written.
    #[error("the bytes of the state are damaged or incomplete")]
    DamagedBytes,
    /// A snapshot has a value for a number of an `Option` whose flag `known` says that it is `None`.
    #[error("{name:?} has a value, although its flag `known` is not set")]
    NotKnown {
        /// The variable.
        name: String,
    },
    /// A flag in a snapshot is neither 0 nor 1.
    #[error("the flag {name:?} must be 0 or 1")]
    NotAFlag {
        /// The variable.
        name: String,
    },
}

impl Error {
    /// The error of an element that is not in a system yet.
    pub(crate) fn of_new(kind: &'static str, source: impl Into<ElementError>) -> Self {
        Self::Element { element: ElementName::new(kind), source: source.into() }
    }

    /// The number that was out of range, whether an element, a shape, a path or anything else refused it.
    pub fn invalid_value(&self) -> Option<&InvalidValue> {
        match self {
            Self::InvalidValue(value) | Self::Element { source: ElementError::InvalidValue(value), .. } => {
                Some(value)
            }
            _ => None,
        }
    }

    /// The error of an element, if this is one.
    pub fn element_error(&self) -> Option<&ElementError> {
        match self {
            Self::Element { source, .. } => Some(source),
            _ => None,
        }
    }

    /// The error of an element, or of a part of one, if it is of type `E`.
    ///
    /// ```
    /// use force_elements::Refusal;
    /// # fn show(error: &force_elements::Error) {
    /// if let Some(Refusal::Singular { angle }) = error.own() {
    ///     println!("the middle angle is {angle} rad");
    /// }
    /// # }
    /// ```
    pub fn own<E: core::error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Own(own) | Self::Element { source: ElementError::Own(own), .. } => {
                own.0.as_ref().downcast_ref()
            }
            _ => None,
        }
    }
}

/// The result of a method of an element.
pub type ElementResult<V = ()> = Result<V, ElementError>;

/// The reason why an element refused or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// A parameter or discrete variable is out of its range.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// A body or coordinate of the element does not exist, or the pose of a surface is not finite.
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    /// The element acts between a body (or coordinate) and itself.
    #[error("both ends are on the same body or coordinate")]
    SameEnds,
    /// The force or energy is not finite.
    #[error("the force or the energy is not finite")]
    NonFiniteForce,
    /// The rate of a continuous variable is not finite.
    #[error("the rate of a continuous variable is not finite")]
    NonFiniteRate,
    /// The element writes a derivative of a variable, or by a variable, that it does not have.
    #[error("a derivative is of a variable that the element does not have")]
    NoSuchVariable,
    /// Parameters or discrete variables belong to an element of the same kind with other parts.
    #[error("the variables belong to another element with other parts")]
    ForeignVariables,
    /// The element holds a user's function of one scalar, and cannot be cast to another.
    #[error("a function that works in one scalar cannot be cast to another: build the element anew")]
    BoundToScalar,
    /// An element-specific error of any type; see [`Error::own`].
    #[error(transparent)]
    Own(OwnError),
}

impl ElementError {
    /// Wraps an element-specific error.
    pub fn own(error: impl core::error::Error + Send + Sync + 'static) -> Self {
        Self::Own(OwnError::new(error))
    }
}

/// An element-specific error of any type.
///
/// Two such errors are equal if their messages are.
#[derive(Debug, Clone)]
pub struct OwnError(Arc<dyn core::error::Error + Send + Sync>);

impl OwnError {
    /// Wraps an error.
    pub(crate) fn new(error: impl core::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }
}

impl PartialEq for OwnError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl fmt::Display for OwnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for OwnError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.source()
    }
}

/// An element by its kind and, once it is in a system, its place among the elements of its kind and the name given by the
/// user.
///
/// Displays as `linear_bushing[3]`, the prefix of its named variables, and as `linear_bushing[3] "left mount"`
/// if it has a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ElementName {
    /// The kind, as [`ForceElement::KIND`](crate::ForceElement::KIND).
    pub kind: &'static str,
    /// The place among elements of this kind; `None` before the element is in a system.
    pub index: Option<usize>,
    /// The name given with [`ForceSystem::add_named`](crate::ForceSystem::add_named).
    pub name: Option<Arc<str>>,
}

impl ElementName {
    /// An element of this kind that is not in a system yet.
    pub fn new(kind: &'static str) -> Self {
        Self { kind, index: None, name: None }
    }
}

impl fmt::Display for ElementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        match &self.name {
            Some(name) => write!(f, " {name:?}"),
            None => Ok(()),
        }
    }
}
