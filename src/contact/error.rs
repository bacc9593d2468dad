//! Refused shapes.

use alloc::string::String;

use super::MeshFault;
use crate::math::InvalidValue;

/// A shape that was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A measure of the shape is out of its range.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// A count that a mesh is made from is out of its range.
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
}
