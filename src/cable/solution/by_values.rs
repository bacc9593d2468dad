//! Solution of a span in a scalar with derivatives: the search, on plain numbers where the surfaces are known in them,
//! and two steps of Newton's method in the scalar after precision is exhausted.

use alloc::vec::Vec;

use crate::cable::PathError;
use crate::cable::model::obstacle::Obstacle;
use crate::cable::model::places::{Wrap, Wraps};
use crate::cable::solution::attempts::solve_span;
use crate::cable::solution::results::Tracking;
use crate::cable::solve::contacts::arrange_like;
use crate::cable::solve::newton::{self, Progress};
use crate::cable::solve::node::Node;
use crate::cable::solve::node::SpanProblem;
use crate::cable::solve::run::Run;
use crate::cable::start::search::Workspace;
use crate::math::{Real, cast_pose};

/// Solves one span, whose obstacles are also given in plain numbers if all surfaces are known in them; returns its
/// progress, and how the path was found.
///
/// Its derivatives are those of the path without kinks, independent of the requested smoothness. The search determines
/// which obstacles are touched. The memory is that of the search: it has no derivatives, and evolves as in plain
/// numbers.
pub(crate) fn solve<T: Real>(
    span: &SpanProblem<'_, T>,
    obstacles: Option<&[Obstacle<f64>]>,
    nodes: &mut Vec<Node<T>>,
    (work, values): (&mut Workspace<T>, &mut (Wraps<f64>, Vec<Node<f64>>, Workspace<f64>)),
    place: usize,
) -> Result<(Progress<T>, Tracking), PathError> {
    let (Wraps { wraps, further_wraps: further }, found, search) = values;
    if let Some(obstacles) = obstacles {
        wraps.clear();
        wraps.extend(span.wraps.iter().map(Wrap::cast));
        further.clear();
        further.extend(span.further.iter().map(Wrap::cast));
        found.clear();
        found.reserve(span.wraps.len() + span.further.len());
        found.extend(nodes.iter().map(|node| Node::new(node.obstacle, cast_pose(&node.X_GS))));
        let plain = SpanProblem {
            from: span.from.map(T::to_f64),
            to: span.to.map(T::to_f64),
            obstacles,
            wraps,
            further,
            settings: &span.settings.cast(),
        };
        let (progress, tracking) = solve_span(&plain, found, search, place)?;
        newton::exhaust(&plain, found, &mut search.run);
        let progress = differentiate(span, nodes, found, &mut work.run, &progress);
        // A user's cast may be of another surface.
        if progress.converged {
            return Ok((progress, tracking));
        }
    }
    let (progress, tracking) = solve_span(span, nodes, work, place)?;
    newton::exhaust(span, nodes, &mut work.run);
    found.clear();
    found.extend(nodes.iter().map(Node::values));
    Ok((differentiate(span, nodes, found, &mut work.run, &progress), tracking))
}

/// Computes what was found in the scalar.
fn differentiate<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    found: &[Node<f64>],
    run: &mut Run,
    progress: &Progress<impl Real>,
) -> Progress<T> {
    arrange_like(nodes, found);
    run.active.clear();
    run.active.reserve(nodes.capacity());
    for (k, (node, found)) in nodes.iter_mut().zip(found).enumerate() {
        node.begin(found.trial.cast());
        node.in_contact = found.in_contact;
        if found.in_contact {
            run.active.push(k);
        }
        node.holds = found.holds;
    }
    // A norm has no derivative at zero.
    let kink = T::lit(newton::differentiate(span, nodes, &run.active).to_f64());
    for &k in &run.active {
        nodes[k].trial = found[k].start.cast();
    }
    let Progress { worst, iterations, relaxed, classes, .. } = *progress;
    let converged = newton::is_smooth(kink, span.settings);
    Progress { kink, worst, iterations, converged, relaxed, classes, ..Progress::none() }
}

impl<T: Real> Node<T> {
    /// Where it touches, in plain numbers.
    fn values(&self) -> Node<f64> {
        let mut values = Node::new(self.obstacle, cast_pose(&self.X_GS));
        values.in_contact = self.in_contact;
        values.holds = self.holds;
        values.start = self.start.cast();
        values.trial = self.trial.cast();
        values
    }
}
