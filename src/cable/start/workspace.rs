//! Buffers of the search.

use alloc::vec::Vec;

use nalgebra::Point3;

use crate::cable::solve::node::Node;
use crate::cable::solve::run::Run;
use crate::cable::start::plan::Plans;
use crate::cable::start::string::Bead;
use crate::math::{Real, default_by_field};

/// Buffers, kept to avoid allocation.
#[derive(Debug)]
pub(crate) struct Workspace<T: Real> {
    pub(crate) run: Run,
    /// Of a string, and the points in Ground at which it passes the obstacles.
    pub(crate) beads: Vec<Bead<T>>,
    pub(crate) anchors: Vec<Point3<T>>,
    pub(crate) plans: Plans<T>,
    /// The path on a saddle, and the shortest found from there.
    pub(crate) balanced: Vec<Node<T>>,
    pub(crate) best: Vec<Node<T>>,
    /// The shortest path found so far by a search without memory, and the lengths of all different ones.
    pub(crate) shortest: Vec<Node<T>>,
    pub(crate) lengths: Vec<T>,
}

default_by_field!(Workspace { run, beads, anchors, plans, balanced, best, shortest, lengths });
