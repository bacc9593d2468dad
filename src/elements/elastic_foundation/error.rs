//! Errors of a foundation's surfaces.

use crate::framework::ElementError;
use crate::shapes::MeshFault;

/// A mesh that does not enclose a volume was added where another surface's springs require one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("surface {surface} must be closed: {fault}")]
pub struct OpenSurface {
    /// The surface, by its index in the element.
    pub surface: usize,
    /// The fault of the mesh.
    pub fault: MeshFault,
}

/// No two surfaces could ever push each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no contact is possible: it takes a mesh with springs, and another surface on another body")]
pub struct NoContactPossible;

impl From<OpenSurface> for ElementError {
    fn from(error: OpenSurface) -> Self {
        Self::own(error)
    }
}

impl From<NoContactPossible> for ElementError {
    fn from(error: NoContactPossible) -> Self {
        Self::own(error)
    }
}
