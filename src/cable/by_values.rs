//! Solution of a span in a scalar with derivatives: the search on plain numbers, and the last step of Newton's method
//! in the scalar.

use alloc::vec::Vec;

use super::newton::{self, Progress};
use super::node::Node;
use super::path::Obstacle;
use super::solver::{Tracking, solve_span};
use super::span::{Budget, SpanProblem};
use super::workspace::Workspace;
use super::wrap::Wrap;
use crate::cable::PathError;
use crate::math::{Real, cast_pose};

/// Buffers of the search on plain numbers.
#[derive(Debug)]
pub(super) struct Values {
    wraps: Vec<Wrap<f64>>,
    nodes: Vec<Node<f64>>,
    work: Workspace<f64>,
}

impl Values {
    pub(super) fn new() -> Self {
        Self { wraps: Vec::new(), nodes: Vec::new(), work: Workspace::new() }
    }
}

/// Solves one span, whose obstacles are also given in plain numbers; returns its progress, and how the path was found.
///
/// A Newton step from a solution in plain numbers has the derivatives of the solution, but for an error of the order
/// of the kinks from which it starts. The memory is that of the search: it has no derivatives and takes the course that
/// it would take in plain numbers.
pub(super) fn solve<T: Real>(
    span: &SpanProblem<'_, T>,
    obstacles: &[Obstacle<f64>],
    nodes: &mut [Node<T>],
    (work, values): (&mut Workspace<T>, &mut Values),
    place: usize,
    first_obstacle: usize,
) -> Result<(Progress<T>, Tracking), PathError> {
    values.wraps.clear();
    values.wraps.extend(span.wraps.iter().map(Wrap::cast));
    values.nodes.clear();
    values.nodes.extend(nodes.iter().map(|node| Node::new(cast_pose(&node.X_GS))));
    let plain = SpanProblem {
        from: span.from.map(T::to_f64),
        to: span.to.map(T::to_f64),
        obstacles,
        wraps: &values.wraps,
        settings: &span.settings.cast(),
    };
    let (search, tracking) = solve_span(&plain, &mut values.nodes, &mut values.work, place, first_obstacle)?;

    work.active.clear();
    work.active.reserve(nodes.len());
    for (k, (node, found)) in nodes.iter_mut().zip(&mut values.nodes).enumerate() {
        if found.in_contact {
            work.active.push(k);
            // The last correction has been applied to the geodesic, not to the trial.
            found.correct_trial();
        }
        node.begin(found.trial.cast());
        node.in_contact = found.in_contact;
    }
    work.budget = Budget { spent: 0, limit: usize::MAX };
    let progress = newton::iterate(span, nodes, &work.active, &mut work.budget);
    if !progress.converged {
        return solve_span(span, nodes, work, place, first_obstacle);
    }
    for &k in &work.active {
        nodes[k].trial = values.nodes[k].base.cast();
    }
    Ok((Progress { iterations: search.iterations, slid: search.slid, ..progress }, tracking))
}
