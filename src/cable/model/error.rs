//! Errors of paths.

use crate::math::InvalidValue;
use crate::mechanics::KinematicsError;
use crate::shapes::ShapeError;

/// A path that was not found, or a part of it that was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// A pose, a setting or a memory is out of its range.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// A shape was refused, or was needed at a point where it is not defined ([`ShapeError::OffPatch`]).
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A body or coordinate does not exist.
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    /// A point or a length of the path is not finite.
    #[error("a point or a length of the path is not finite")]
    NonFinite,
    /// A memory or places were made for a path with other parts.
    #[error("the {what} are {given}, but those of the path are {expected}")]
    Foreign {
        /// The parts that are counted.
        what: &'static str,
        /// The number of them that the path has.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// No path was found that meets its smoothness.
    #[error(
        "the cable did not converge: a kink of {residual:.1e} rad at obstacle {obstacle} after {iterations} iterations, \
         {evaluations} evaluations of surfaces in all; give a contact hint where the cable runs"
    )]
    NotConverged {
        /// The largest remaining kink \[rad\]; infinite if the search ended before a path was tried.
        residual: f64,
        /// The number of geodesics tried per obstacle in the last attempt.
        iterations: usize,
        /// The obstacle with the kink, counted along the path.
        obstacle: usize,
        /// The number of evaluations of surfaces in all attempts.
        evaluations: usize,
    },
    /// Smooth paths were found, but none of them is a local minimum that touches every obstacle where it must: each is a
    /// saddle, jumps through an obstacle, or touches one at the wrong place.
    #[error(
        "no smooth path found of the cable over obstacle {obstacle} is a local minimum, after {evaluations} evaluations of \
         surfaces; give a contact hint where the cable runs, or confine it to a side"
    )]
    NoMinimum {
        /// The obstacle at which the last path has its largest kink, counted along the path.
        obstacle: usize,
        /// The number of evaluations of surfaces in all attempts.
        evaluations: usize,
    },
    /// No path was found within [`Settings::max_evaluations`](crate::cable::Settings::max_evaluations): at least one
    /// attempt was ended early.
    #[error(
        "no path of the cable was found within {evaluations} evaluations of surfaces; raise `Settings::max_evaluations`, \
         or give a contact hint where the cable runs"
    )]
    TooManyEvaluations {
        /// The number of evaluations of surfaces in all attempts, for all obstacles between two fixed points.
        evaluations: usize,
    },
    /// The path found runs through an obstacle that it touches, and no path was found that also touches it there.
    #[error(
        "the cable runs through obstacle {obstacle}, {depth:.1e} m deep: no path was found that touches it there; give \
         a contact hint where the cable runs"
    )]
    Penetrates {
        /// The obstacle, counted along the path.
        obstacle: usize,
        /// The depth of a straight segment in it, to first order \[m\].
        depth: f64,
    },
    /// The path would touch an obstacle more often than
    /// [`Obstacle::with_most_contacts`](crate::cable::Obstacle::with_most_contacts) allows.
    #[error("the cable touches obstacle {obstacle} more often than {most} times: see `with_most_contacts`")]
    TooManyContacts {
        /// The obstacle, counted along the path.
        obstacle: usize,
        /// The largest number of its contacts.
        most: usize,
    },
    /// Paths were found, but none passes an obstacle in the class of its contact hint.
    #[error(
        "no path was found that passes obstacle {obstacle} where its contact hint says; move the hint to where a taut \
         cable touches the obstacle, or leave it out"
    )]
    HintNotKept {
        /// The obstacle, counted along the path.
        obstacle: usize,
    },
    /// No path was found that passes an obstacle on the side to which it is
    /// [confined](crate::cable::Obstacle::confined_to): the cable slips off it.
    #[error(
        "no path was found that passes obstacle {obstacle} on the side to which the cable is confined; a cable that is \
         not confined may pass on the other"
    )]
    SideNotKept {
        /// The obstacle, counted along the path.
        obstacle: usize,
    },
    /// An end or via point lies inside the obstacle next to it.
    #[error(
        "an end or via point of the cable lies inside obstacle {obstacle}; move it out, or see `ignored_around_ends`"
    )]
    PointInsideObstacle {
        /// The obstacle, counted along the path.
        obstacle: usize,
    },
    /// No path was found, and an end or via point lies on the surface of the obstacle next to it.
    #[error(
        "no path was found from an end or via point on the surface of obstacle {obstacle}; move it off the surface, or \
         see `ignored_around_ends`"
    )]
    EndOnSurface {
        /// The obstacle, counted along the path.
        obstacle: usize,
    },
    /// Two obstacles overlap where the cable passes from one to the next.
    #[error(
        "obstacles {first} and {second} overlap where the cable passes from one to the other; move them apart"
    )]
    ObstaclesOverlap {
        /// The one before, counted along the path.
        first: usize,
        /// The one after, counted along the path.
        second: usize,
    },
    /// Neighbouring end or via points coincide: the cable between them has no direction.
    #[error("the two fixed points of the cable's span {span} coincide")]
    CoincidentPoints {
        /// The span between fixed points, counted along the path.
        span: usize,
    },
}
