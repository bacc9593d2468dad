//! What can go wrong, as values a program can act on.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::contact::MeshFault;
use crate::framework::stage::Stage;
use crate::math::Real;
use crate::mechanics::{BodyIndex, CoordinateIndex};

/// The result of every fallible call of this crate.
pub type Result<V> = core::result::Result<V, Error>;

/// Everything this crate refuses or fails at. A failed call changes nothing.
///
/// Values are `f64` whatever the scalar: they are for people and logs.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A result was asked of a state that has not been realized far enough.
    #[error("stage {required} is required, but the state is realized to {actual}")]
    StageTooLow {
        /// The stage the call needs.
        required: Stage,
        /// The stage the state is at.
        actual: Stage,
    },
    /// The state, handle or view belongs to another system, or to this one before it was changed.
    #[error(
        "the state, handle or slice belongs to another system, or to this one before a body, coordinate, element \
         or default was added or changed: make a new state with default_state()"
    )]
    TopologyMismatch,
    /// A parameter or discrete variable is outside its range.
    #[error("{element}: {parameter} = {value}, but it must be {requirement}")]
    InvalidValue {
        /// The element that refused.
        element: ElementName,
        /// The field that is out of range.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// What its value must be.
        requirement: Requirement,
    },
    /// A time, pose, velocity, coordinate or energy is infinite or not a number.
    #[error("{quantity} is not finite")]
    NonFinite {
        /// What is not finite.
        quantity: Quantity,
    },
    /// An element or a call names a body the system does not have.
    #[error("body {} does not exist: the system has {count} bodies, Ground included", body.index())]
    NoSuchBody {
        /// The missing body.
        body: BodyIndex,
        /// How many bodies there are, Ground included.
        count: usize,
    },
    /// An element or a call names a coordinate the system does not have.
    #[error("coordinate {} does not exist: the system has {count} coordinates", coordinate.index())]
    NoSuchCoordinate {
        /// The missing coordinate.
        coordinate: CoordinateIndex,
        /// How many coordinates there are.
        count: usize,
    },
    /// Another type of element already goes by this name.
    #[error("another type of element is already called {kind}")]
    KindNameTaken {
        /// The name.
        kind: &'static str,
    },
    /// Ground was given a pose or a velocity.
    #[error("Ground does not move")]
    GroundIsFixed,
    /// An element acts between a body (or coordinate) and itself.
    #[error("{element}: both ends are on the same body or coordinate")]
    SameEnds {
        /// The element that refused.
        element: ElementName,
    },
    /// What went wrong in one element of a system.
    #[error("{element}: {source}")]
    InElement {
        /// The element.
        element: ElementName,
        /// What went wrong.
        source: Box<Error>,
    },
    /// An element that remembers since when was to commit a motion that took no time, or negative time.
    #[error(
        "{element}: a step to t = {time} was to be committed after one at t = {last_update}: set the time of \
         the state before each step, and reset what the element remembers when time starts anew"
    )]
    TimeNotAdvanced {
        /// The element that refused.
        element: ElementName,
        /// Time of the last commit \[s\].
        last_update: f64,
        /// Time of the state \[s\].
        time: f64,
    },
    /// No variable of the state has this name.
    #[error("no variable is named {name:?}")]
    NoSuchVariable {
        /// The name that was asked for.
        name: String,
    },
    /// A snapshot does not list the variables of this state.
    #[error(
        "the snapshot's variable {position} is {found:?}, but the state's is {expected:?}: restore it into a state \
         of a system built like the one it was taken from"
    )]
    SnapshotMismatch {
        /// The first place at which they differ.
        position: usize,
        /// The name in the state; `None` if the snapshot goes on beyond it.
        expected: Option<String>,
        /// The name in the snapshot; `None` if it ends before.
        found: Option<String>,
    },
    /// A variable that stands for yes or no is neither 1 nor 0 in a snapshot.
    #[error("the snapshot's {name:?} must be 0 or 1")]
    NotAFlag {
        /// The variable.
        name: String,
    },
    /// The middle angle of a bushing is so near ±90° that the other two are not defined.
    #[error("{element}: the middle angle is {angle} rad, where the x-y-z angles are singular")]
    Singular {
        /// The bushing.
        element: ElementName,
        /// Its middle angle \[rad\].
        angle: f64,
    },
    /// Since the last accepted step the first and last angle of a bushing have changed by too much to tell
    /// which way they turned. A shorter step tells. If the body was put there instead, reset the turns
    /// ([`Handle::reset_turns`](crate::Handle::reset_turns)).
    #[error(
        "{element}: q_x and q_z have changed by {qx} and {qz} rad in one step, too far to tell which way"
    )]
    AmbiguousTurn {
        /// The bushing.
        element: ElementName,
        /// The change of its first angle, to the nearest whole turn \[rad\].
        qx: f64,
        /// The change of its last angle, to the nearest whole turn \[rad\].
        qz: f64,
    },
    /// The force or energy of an element has come out infinite or not a number.
    #[error("{element}: the force or the energy is not finite")]
    NonFiniteForce {
        /// The element.
        element: ElementName,
    },
    /// A count a shape is made from is out of range.
    #[error("{name} must be from {minimum} to {maximum}")]
    OutOfCount {
        /// The count.
        name: &'static str,
        /// The least allowed.
        minimum: u32,
        /// The greatest allowed.
        maximum: u32,
    },
    /// The faces of a mesh do not fit together.
    #[error("the mesh cannot be used: {fault}")]
    Mesh {
        /// What is wrong, and at which face.
        fault: MeshFault,
    },
    /// A mesh file could not be read.
    #[error("the mesh file cannot be read: {message}")]
    MeshFile {
        /// What the reader said.
        message: String,
    },
    /// A mesh without an inside was added where another surface's springs would ask for it.
    #[error("surface {surface} of an elastic foundation must be closed: {fault}")]
    OpenSurface {
        /// The surface, by its index in the element.
        surface: usize,
        /// What keeps it from having an inside.
        fault: MeshFault,
    },
    /// An elastic foundation has no two surfaces that could ever push each other.
    #[error(
        "{element}: no contact is possible: it takes a mesh with springs, and another surface on another body"
    )]
    NoContactPossible {
        /// The element that refused.
        element: ElementName,
    },
    /// Parameters or discrete variables were made for another element of the kind, with other parts.
    #[error("{element}: the variables belong to another element with other parts")]
    ForeignVariables {
        /// The element that refused.
        element: ElementName,
    },
    /// No path of a cable was found that meets its smoothness and is a local minimum.
    #[error(
        "the cable did not converge: a kink of {residual} rad at obstacle {obstacle} after {iterations} iterations, {evaluations} evaluations of surfaces in all"
    )]
    CableNotConverged {
        /// The largest kink left \[rad\].
        residual: f64,
        /// How many geodesics were tried per obstacle, in the last attempt.
        iterations: usize,
        /// The obstacle with the kink, counted along the path.
        obstacle: usize,
        /// How many evaluations of surfaces all attempts took together: bounded by
        /// [`Settings::max_evaluations`](crate::cable::Settings::max_evaluations).
        evaluations: usize,
    },
    /// The path of a cable that was found runs through an obstacle that it touches: it would have to touch
    /// there twice.
    #[error("the cable runs through obstacle {obstacle}, {depth} m deep: it would have to touch it twice")]
    CablePenetrates {
        /// The obstacle, counted along the path.
        obstacle: usize,
        /// How deep a straight stretch runs into it, to first order \[m\].
        depth: f64,
    },
    /// An end or via point of a cable lies inside the obstacle next to it.
    #[error("an end or via point of the cable lies inside obstacle {obstacle}")]
    PointInsideObstacle {
        /// The obstacle, counted along the path.
        obstacle: usize,
    },
    /// Two obstacles have run into each other where a cable passes from one to the next.
    #[error("obstacles {first} and {second} overlap where the cable passes from one to the other")]
    ObstaclesOverlap {
        /// The one before, counted along the path.
        first: usize,
        /// The one after, counted along the path.
        second: usize,
    },
    /// Neighbouring end or via points of a cable coincide: the stretch between has no direction.
    #[error("the two fixed points of the cable's stretch {span} coincide")]
    CoincidentPoints {
        /// The stretch between fixed points, counted along the path.
        span: usize,
    },
    /// A height map was needed off its rectangle.
    #[error("the height map does not reach to x = {x}, y = {y}")]
    OffPatch {
        /// The place in the map's frame \[m\].
        x: f64,
        /// The place in the map's frame \[m\].
        y: f64,
    },
    /// A height map's heights do not fill a grid of at least two rows and two columns.
    #[error("{heights} heights do not fill a grid of at least 2 rows of {columns} (at least 2) columns")]
    IncompleteGrid {
        /// Columns asked for.
        columns: usize,
        /// Heights given.
        heights: usize,
    },
    /// A saved simulation and the snapshot in it are of different times.
    #[error("the simulation was saved at t = {simulation}, but the snapshot with it at t = {state}")]
    TimeMismatch {
        /// The time of the simulation \[s\].
        simulation: f64,
        /// The time in the snapshot \[s\].
        state: f64,
    },
    /// An integrator could not meet its tolerance with the smallest step it may take.
    #[error("at t = {time} the step fell to {step}, below the smallest allowed")]
    StepTooSmall {
        /// The time reached \[s\].
        time: f64,
        /// The step that was refused \[s\].
        step: f64,
    },
    /// The equations of an implicit step were not solved, however short the step.
    #[error(
        "at t = {time} a step of {step} did not converge: residual {residual} after {iterations} iterations"
    )]
    StepNotConverged {
        /// The time reached \[s\].
        time: f64,
        /// The shortest step tried \[s\].
        step: f64,
        /// The largest residual among the velocities \[m/s or rad/s\].
        residual: f64,
        /// Newton iterations made in that step.
        iterations: usize,
    },
    /// The discrete variables of an implicit step did not settle, however short the step.
    #[error("at t = {time} switching did not settle in a step of {step}: force error {force_error}")]
    StepNotSettled {
        /// The time reached \[s\].
        time: f64,
        /// The shortest step tried \[s\].
        step: f64,
        /// The force error that was left \[N\].
        force_error: f64,
    },
}

impl Error {
    /// The error itself, without the name of the element in which it arose.
    #[must_use]
    pub fn cause(&self) -> &Self {
        match self {
            Self::InElement { source, .. } => source.cause(),
            error => error,
        }
    }

    /// The refusal of one value of one element.
    pub(crate) fn invalid<T: Real>(
        kind: &'static str,
        parameter: &'static str,
        value: T,
        requirement: Requirement,
    ) -> Self {
        Self::InvalidValue { element: ElementName::new(kind), parameter, value: value.to_f64(), requirement }
    }

    /// The same error, naming the element of this kind and place in which it arose.
    pub(crate) fn at(mut self, kind: &'static str, place: usize) -> Self {
        match &mut self {
            Self::InvalidValue { element, .. }
            | Self::Singular { element, .. }
            | Self::AmbiguousTurn { element, .. }
            | Self::NonFiniteForce { element }
            | Self::ForeignVariables { element }
            | Self::TimeNotAdvanced { element, .. }
            | Self::NoContactPossible { element }
            | Self::SameEnds { element } => {
                element.index = Some(place);
                self
            }
            _ => {
                let element = ElementName { kind, index: Some(place) };
                Self::InElement { element, source: Box::new(self) }
            }
        }
    }
}

/// An element by its kind and, once it is in a system, its place among those of its kind.
///
/// Displays as `linear_bushing[3]`, the prefix of its named variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementName {
    /// The kind, as [`ForceElement::KIND`](crate::ForceElement::KIND).
    pub kind: &'static str,
    /// The place among elements of this kind; `None` before it is in a system.
    pub index: Option<usize>,
}

impl ElementName {
    /// An element of this kind that is not in a system yet.
    pub fn new(kind: &'static str) -> Self {
        Self { kind, index: None }
    }
}

impl fmt::Display for ElementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}[{index}]", self.kind),
            None => f.write_str(self.kind),
        }
    }
}

/// What a refused value would have had to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Requirement {
    /// Neither infinite nor not-a-number.
    Finite,
    /// Finite and at least zero.
    NonNegative,
    /// Finite and greater than zero.
    Positive,
    /// Greater than zero, with a fourth power that neither vanishes nor overflows.
    Size,
    /// Greater than zero, with a square that neither vanishes nor overflows, nor that of its inverse.
    Inertia,
    /// Between zero and one.
    Fraction,
    /// Part of an orthonormal right-handed matrix.
    Rotation,
    /// Symmetric and positive definite.
    PositiveDefinite,
    /// At least what is named here.
    AtLeast(&'static str),
    /// At most the field or number named here.
    AtMost(&'static str),
    /// Zero or one, for yes or no.
    Flag,
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite => f.write_str("finite"),
            Self::NonNegative => f.write_str("finite and at least 0"),
            Self::Positive => f.write_str("finite and greater than 0"),
            Self::Size | Self::Inertia => f.write_str("greater than 0, neither tiny nor huge"),
            Self::Fraction => f.write_str("between 0 and 1"),
            Self::Rotation => f.write_str("part of a rotation matrix"),
            Self::PositiveDefinite => f.write_str("part of a symmetric positive definite matrix"),
            Self::AtLeast(other) => write!(f, "at least {other}"),
            Self::AtMost(other) => write!(f, "at most {other}"),
            Self::Flag => f.write_str("0 or 1"),
        }
    }
}

/// A quantity of the host that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quantity {
    /// Time.
    Time,
    /// The pose of a body.
    Pose(BodyIndex),
    /// The velocity of a body.
    Velocity(BodyIndex),
    /// The value of a coordinate.
    Coordinate(CoordinateIndex),
    /// The rate of a coordinate.
    CoordinateRate(CoordinateIndex),
    /// The energy of an element.
    Energy,
    /// The sum of the forces on a body.
    BodyForce(BodyIndex),
    /// The sum of the forces on a coordinate.
    CoordinateForce(CoordinateIndex),
    /// The energy stored in, or the power lost by, all elements together.
    Total,
    /// A length or point a shape is built from.
    Geometry,
    /// A gravity or load of the reference simulator.
    Simulation,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("time"),
            Self::Pose(body) => write!(f, "the pose of body {}", body.index()),
            Self::Velocity(body) => write!(f, "the velocity of body {}", body.index()),
            Self::Coordinate(c) => write!(f, "the value of coordinate {}", c.index()),
            Self::CoordinateRate(c) => write!(f, "the rate of coordinate {}", c.index()),
            Self::Energy => f.write_str("an energy"),
            Self::BodyForce(body) => write!(f, "the sum of the forces on body {}", body.index()),
            Self::CoordinateForce(c) => write!(f, "the sum of the forces on coordinate {}", c.index()),
            Self::Total => f.write_str("the energy stored or the power lost by all elements together"),
            Self::Geometry => f.write_str("a length or point of a shape"),
            Self::Simulation => f.write_str("a gravity or load"),
        }
    }
}
