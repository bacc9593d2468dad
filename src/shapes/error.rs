//! Errors of shapes.

use alloc::string::String;

use super::MeshFault;
use crate::math::InvalidValue;

/// A shape that was refused, or a point where it is not defined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A measure of the shape is out of its range.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// A point is outside the rectangle of a height map.
    #[error(
        "the height map does not reach to x = {x}, y = {y}: make it larger, or keep what touches it away from its edge"
    )]
    OffPatch {
        /// The place in the map's frame \[m\].
        x: f64,
        /// The place in the map's frame \[m\].
        y: f64,
    },
    /// A height map's heights do not fill a grid of at least two rows and two columns.
    #[error("{heights} heights do not fill a grid of at least 2 rows of {columns} (at least 2) columns")]
    IncompleteGrid {
        /// Columns requested.
        columns: usize,
        /// Heights given.
        heights: usize,
    },
    /// The grid of a distance field would have too many nodes.
    #[error("the grid has {nodes} nodes, more than {most}: a greater spacing is needed")]
    GridTooLarge {
        /// Nodes needed.
        nodes: f64,
        /// The greatest number allowed.
        most: usize,
    },
    /// The grid of a distance field does not resolve the mesh.
    #[error("a spacing of {spacing} m does not resolve the mesh at x = {x}, y = {y}, z = {z}")]
    GridTooCoarse {
        /// The spacing \[m\].
        spacing: f64,
        /// A place on the mesh that the surface does not follow \[m\].
        x: f64,
        /// The place \[m\].
        y: f64,
        /// The place \[m\].
        z: f64,
    },
    /// A user's shape cannot be cast to another scalar, because no cast was given.
    #[error("no cast to the other scalar is known for {shape}")]
    NoCast {
        /// The type of the shape.
        shape: &'static str,
    },
    /// A mesh was refused.
    #[error("the mesh cannot be used: {fault}")]
    Mesh {
        /// The fault, with its face.
        fault: MeshFault,
    },
    /// A mesh file could not be read.
    #[error("the mesh file cannot be read: {message}")]
    MeshFile {
        /// The message of the reader.
        message: String,
    },
}
