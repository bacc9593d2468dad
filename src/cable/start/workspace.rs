//! Buffers of the search.

use alloc::vec::Vec;

use crate::cable::solve::node::Node;
use crate::cable::solve::run::Run;
use crate::cable::start::plan::Plans;
use crate::cable::start::string::Beads;
use crate::math::Real;

/// Buffers, kept to avoid allocation.
#[derive(Debug)]
pub(crate) struct Workspace<T: Real> {
    pub(crate) run: Run,
    pub(crate) string: Beads<T>,
    pub(crate) plans: Plans<T>,
    /// The path on a saddle, and the shortest found from there.
    pub(crate) balanced: Vec<Node<T>>,
    pub(crate) best: Vec<Node<T>>,
    /// The shortest path found so far by a search without memory, and the lengths of all different ones.
    pub(crate) shortest: Vec<Node<T>>,
    pub(crate) lengths: Vec<T>,
}

impl<T: Real> Workspace<T> {
    pub(crate) fn new() -> Self {
        Self {
            run: Run::default(),
            string: Beads::new(),
            plans: Plans::new(),
            balanced: Vec::new(),
            best: Vec::new(),
            shortest: Vec::new(),
            lengths: Vec::new(),
        }
    }
}
