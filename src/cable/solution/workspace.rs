//! Buffers of the solver.

use alloc::vec::Vec;

use crate::cable::model::wrap::Wrap;
use crate::cable::solve::budget::Budget;
use crate::cable::solve::node::Node;
use crate::cable::start::plan::Plans;
use crate::cable::start::string::Beads;
use crate::math::Real;

/// Buffers, kept to avoid allocation.
#[derive(Debug)]
pub(crate) struct Workspace<T: Real> {
    pub(crate) active: Vec<usize>,
    pub(crate) string: Beads<T>,
    pub(crate) plans: Plans<T>,
    /// The path on a saddle, and the shortest found from there.
    pub(crate) balanced: Vec<Node<T>>,
    pub(crate) best: Vec<Node<T>>,
    /// The shortest path found so far by a search without memory, and the lengths of all different ones.
    pub(crate) shortest: Vec<Node<T>>,
    pub(crate) lengths: Vec<T>,
    pub(crate) budget: Budget,
}

impl<T: Real> Workspace<T> {
    pub(crate) fn new() -> Self {
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

/// Buffers of the search on plain numbers.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) wraps: Vec<Wrap<f64>>,
    pub(crate) further: Vec<Wrap<f64>>,
    pub(crate) nodes: Vec<Node<f64>>,
    pub(crate) work: Workspace<f64>,
}

impl Values {
    pub(crate) fn new() -> Self {
        Self { wraps: Vec::new(), further: Vec::new(), nodes: Vec::new(), work: Workspace::new() }
    }
}
