//! Paths on saddles: stationary, but longest in some direction, as a string over the very middle of a ball.

use alloc::vec::Vec;

use crate::cable::follow::touch::{Failure, settle_contacts, slide};
use crate::cable::solution::workspace::Workspace;
use crate::cable::solve::contacts::{copy, length_of};
use crate::cable::solve::newton::Progress;
use crate::cable::solve::node::ACCURACY;
use crate::cable::solve::node::{Node, Trial};
use crate::cable::solve::span::SpanProblem;
use crate::cable::start::relax::{self, sideways};
use crate::math::Real;

/// The beads per leg of a path displaced from a saddle.
pub(crate) const BEADS: usize = 6;

/// The angle by which a path is displaced from a saddle, to either side \[rad\].
const PUSH: f64 = 0.3;

/// Refines the path of the nodes.
///
/// A path on a saddle is displaced to both sides, and the shorter of the two results is taken. It descends from there or, if
/// that finds nothing, from where a string of so many beads comes to rest.
pub(crate) fn leave_saddles<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    work: &mut Workspace<T>,
    detail: usize,
) -> Result<Progress<T>, Failure<T>> {
    let mut outcome = settle_contacts(span, nodes, work);
    // Each push treats one direction. For more than a few a finer string is better.
    for _ in 0..4 {
        let Err(Failure { saddle: Some(k), .. }) = outcome else { break };
        if work.budget.is_spent() {
            break;
        }
        copy(nodes, &mut work.balanced);
        let mut best: Option<(T, Progress<T>)> = None;
        for push in [T::lit(PUSH), T::lit(-PUSH)] {
            copy(&work.balanced, nodes);
            push_aside(span, nodes, work, k, push);
            slide(span, nodes, work);
            let mut pushed = settle_contacts(span, nodes, work);
            if pushed.is_err() {
                copy(&work.balanced, nodes);
                let Workspace { string, budget, .. } = &mut *work;
                if !relax::tighten(span, nodes, string, detail, true, Some((k, push)), budget) {
                    return outcome;
                }
                // The beads leave the saddle slowly; Newton's method would jump back to it from there.
                slide(span, nodes, work);
                pushed = settle_contacts(span, nodes, work);
            }
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
    let to_middle = surface.geodesic(&point, &tangent, half, T::lit(ACCURACY), usize::MAX);
    let middle = to_middle.end;
    let shifted = surface.retract(&(middle.point + sideways(surface, &middle, angle)));
    let back = surface.geodesic(&shifted, &middle.tangent, -half, T::lit(ACCURACY), usize::MAX);
    work.budget.spend(2 + to_middle.evaluations + back.evaluations);
    nodes[k].begin(Trial { point: back.end.point, tangent: back.end.tangent, length });
}

/// Pulls a string tight and refines what it touches.
pub(crate) fn tighten<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    work: &mut Workspace<T>,
    detail: usize,
    from_memory: bool,
) -> Result<Progress<T>, Failure<T>> {
    let Workspace { string, budget, .. } = work;
    if relax::tighten(span, nodes, string, detail, from_memory, None, budget) {
        leave_saddles(span, nodes, work, detail)
    } else {
        Err(Failure::new(&Progress::none()))
    }
}
