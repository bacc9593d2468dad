//! Foundations whose surfaces do not make a contact.

use crate::framework::ElementError;
use crate::shapes::MeshFault;

/// A mesh without an inside was added where another surface's springs would ask for it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("surface {surface} must be closed: {fault}")]
pub struct OpenSurface {
    /// The surface, by its index in the element.
    pub surface: usize,
    /// What keeps it from having an inside.
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
