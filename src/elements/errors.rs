//! Refusals of elements, and conversions of the errors of shapes and paths.

use crate::cable::PathError;
use crate::framework::{ElementError, Error, OwnError};
use crate::shapes::{MeshFault, ShapeError};

/// The reason for which an element of this crate refused something; read it by [`Error::own`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A commit of an [`ExponentialSpring`](crate::ExponentialSpring) at a time before the last commit or, by the law
    /// with `settling`, after a motion in zero time.
    #[error(
        "a commit at t = {time} would follow one at t = {last_update}: set the time of the state before each step, and \
         reset the memory of the element when time starts anew"
    )]
    TimeNotAdvanced {
        /// Time of the last commit \[s\].
        last_update: f64,
        /// Time of the state \[s\].
        time: f64,
    },
    /// The centers of two balls coincide, where the normal of a [`HertzContact`](crate::HertzContact) is not defined.
    #[error("the centers of the balls coincide, so the direction of the force is not defined")]
    CentersCoincide,
    /// A mesh that does not enclose a volume was added to an [`ElasticFoundation`](crate::ElasticFoundation) or
    /// [`OnBed`](crate::laws::OnBed), where the springs of another surface require a volume.
    #[error("surface {surface} must be closed: {fault}")]
    OpenSurface {
        /// The surface, by its index in the element.
        surface: usize,
        /// The fault of the mesh.
        fault: MeshFault,
    },
    /// No two surfaces of an [`ElasticFoundation`](crate::ElasticFoundation) can ever push each other.
    #[error("no contact is possible: it takes a mesh with springs, and another surface on another body")]
    NoContactPossible,
    /// More springs of an [`ElasticFoundation`](crate::ElasticFoundation) with anchors are in contact than there are
    /// anchors.
    #[error(
        "{springs} springs are in contact and there are anchors for {room}: surfaces that overlap displace the same springs; \
         join them, or add them to a foundation of their own"
    )]
    TooManySprings {
        /// The number of springs in contact; a spring counts once for every surface that displaces it.
        springs: usize,
        /// The number of anchors.
        room: usize,
    },
    /// A [`CableSpring`](crate::CableSpring) with friction runs through a via point that moves on its body, or that is
    /// only at times part of the path. The strands before and after it could not be distinguished.
    #[error("a cable with friction needs via points that neither move on their bodies nor come and go")]
    ViaPointMoves,
    /// The middle angle of a [`LinearBushing`](crate::LinearBushing) is so near ±90° that the other two are not defined.
    #[error(
        "the middle angle is {angle} rad, where the x-y-z angles are singular: choose frames whose y axis is the one about \
         which the bushing turns least"
    )]
    Singular {
        /// The middle angle \[rad\].
        angle: f64,
    },
    /// Since the last accepted step frame M of a [`LinearBushing`](crate::LinearBushing) has turned in F by more than 3 rad,
    /// or so close to the singular case that the whole turns of the first and last angle cannot be determined.
    ///
    /// Take a shorter step. If the body was placed there rather than moved, reset the turns
    /// ([`ForceSystem::reset_memory`](crate::ForceSystem::reset_memory)).
    #[error(
        "the frames have turned by {angle} rad in one step, and q_x and q_z have changed by {qx} and {qz} rad, too far to \
         tell which way: take a shorter step, or reset the turns if the bodies were put there"
    )]
    AmbiguousAngles {
        /// The least angle by which M has turned in F \[rad\].
        angle: f64,
        /// The change of the first angle in such a turn \[rad\].
        qx: f64,
        /// The change of the last angle in such a turn \[rad\].
        qz: f64,
    },
    /// Frame M of a [`SpatialBushing`](crate::SpatialBushing) is so near a whole turn from F that the rotation axis is
    /// not defined, or M has passed a whole turn since the last accepted step.
    ///
    /// A shorter step does not help: the bushing works for rotations below a whole turn.
    #[error(
        "the frames have turned by {angle} rad: the bushing works only below a whole turn, since the axis of a whole turn is \
         not defined"
    )]
    WholeTurn {
        /// The angle \[rad\]; 2π if M has passed a whole turn since the last accepted step.
        angle: f64,
    },
    /// Since the last accepted step frame M of a [`SpatialBushing`](crate::SpatialBushing) has turned in F by more than 3 rad,
    /// or beside a whole turn from one side to another.
    ///
    /// Take a shorter step. If the body was placed there rather than moved, reset the turn
    /// ([`ForceSystem::reset_memory`](crate::ForceSystem::reset_memory)).
    #[error(
        "the frames have turned by {angle} rad in one step, too far to tell which way: take a shorter step, or reset the turn \
         if the bodies were put there"
    )]
    AmbiguousTurn {
        /// The least angle by which M has turned in F \[rad\].
        angle: f64,
    },
}

/// Refuses a new element of this kind between a body or coordinate and itself.
///
/// # Errors
/// [`ElementError::SameEnds`].
pub(super) fn check_ends<E: PartialEq>(kind: &'static str, [one, other]: [E; 2]) -> Result<(), Error> {
    if one == other { Err(Error::of_new(kind, ElementError::SameEnds)) } else { Ok(()) }
}

macro_rules! errors_of_shapes_and_paths {
    ($($Error:ty),*) => {$(
        impl From<ShapeError> for $Error {
            fn from(error: ShapeError) -> Self {
                match error {
                    ShapeError::InvalidValue(value) => Self::InvalidValue(value),
                    error => Self::Own(OwnError::new(error)),
                }
            }
        }

        impl From<PathError> for $Error {
            fn from(error: PathError) -> Self {
                match error {
                    PathError::InvalidValue(value) | PathError::Shape(ShapeError::InvalidValue(value)) => {
                        Self::InvalidValue(value)
                    }
                    error => Self::Own(OwnError::new(error)),
                }
            }
        }
    )*};
}

errors_of_shapes_and_paths!(Error, ElementError);
