//! Buffers of the solver.

use alloc::vec::Vec;

use super::node::Node;
use super::plan::Plans;
use super::relax::Beads;
use super::span::Budget;
use crate::math::Real;

/// Buffers, kept to avoid allocation.
#[derive(Debug)]
pub(super) struct Workspace<T: Real> {
    pub(super) active: Vec<usize>,
    pub(super) string: Beads<T>,
    pub(super) plans: Plans<T>,
    /// The path on a saddle, and the shortest found from there.
    pub(super) balanced: Vec<Node<T>>,
    pub(super) best: Vec<Node<T>>,
    /// The shortest path found so far by a search without memory, and the lengths of all different ones.
    pub(super) shortest: Vec<Node<T>>,
    pub(super) lengths: Vec<T>,
    pub(super) budget: Budget,
}

impl<T: Real> Workspace<T> {
    pub(super) fn new() -> Self {
        Self {
            active: Vec::new(),
            string: Beads::new(),
            plans: Plans::new(),
            balanced: Vec::new(),
            best: Vec::new(),
            shortest: Vec::new(),
            lengths: Vec::new(),
            budget: Budget::default(),
        }
    }
}
