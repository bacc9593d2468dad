//! Paths on saddles: stationary, but longest in some direction, such as a string over the exact middle of a ball.

use alloc::vec::Vec;

use crate::cable::follow::touch::{Failure, ROUND_TRIP, relax, settle_contacts};
use crate::cable::solve::contacts::{copy, length_of};
use crate::cable::solve::newton::Progress;
use crate::cable::solve::node::{Node, Trial};
use crate::cable::solve::span::SpanProblem;
use crate::cable::start::workspace::Workspace;
use crate::math::Real;

/// The angle by which a path is displaced from a saddle, to either side \[rad\].
const PUSH: f64 = 0.3;

/// Refines the path of the nodes.
///
/// A path on a saddle is displaced to both sides and descends from there; the shorter result is used.
pub(crate) fn leave_saddles<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    work: &mut Workspace<T>,
) -> Result<Progress<T>, Failure<T>> {
    let mut outcome = settle_contacts(span, nodes, &mut work.run);
    // Each push treats one direction.
    for _ in 0..4 {
        let Err(Failure { saddle: Some(k), .. }) = outcome else { break };
        if work.run.budget.is_spent() {
            break;
        }
        copy(nodes, &mut work.balanced);
        let mut best: Option<(T, Progress<T>)> = None;
        for push in [T::lit(PUSH), T::lit(-PUSH)] {
            copy(&work.balanced, nodes);
            push_aside(span, nodes, work, k, push);
            relax(span, nodes, &mut work.run, ROUND_TRIP);
            let pushed = settle_contacts(span, nodes, &mut work.run);
            match pushed {
                Ok(progress) => {
                    let length = length_of(span, nodes);
                    if best.as_ref().is_none_or(|(shortest, _)| length < *shortest) {
                        best = Some((length, progress));
                        copy(nodes, &mut work.best);
                    }
                }
                Err(_) => outcome = pushed,
            }
        }
        if let Some((_, progress)) = best {
            copy(&work.best, nodes);
            outcome = Ok(progress);
        }
    }
    outcome
}

/// Shifts a contact sideways by an angle about its middle.
fn push_aside<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut [Node<T>],
    work: &mut Workspace<T>,
    k: usize,
    angle: T,
) {
    let surface = span.surface(&nodes[k]);
    let Trial { point, tangent, length } = nodes[k].trial;
    let half = T::lit(0.5) * length;
    let budget = &mut work.run.budget;
    let middle = budget.follow(surface, &point, &tangent, half);
    let shift = middle.binormal() * (angle / middle.greatest_curvature().max(T::lit(0.1) / surface.size()));
    let shifted = surface.retract(&(middle.point + shift));
    let start = budget.follow(surface, &shifted, &middle.tangent, -half);
    nodes[k].begin(Trial { point: start.point, tangent: start.tangent, length });
}
