//! Attempts at the path of one span: from memory, then without.

use alloc::vec::Vec;

use crate::cable::PathError;
use crate::cable::follow::checks::{check_ends, check_held_ends, check_neighbouring_ends, check_neighbours};
use crate::cable::follow::touch::{Failure, settle_contacts, slide};
use crate::cable::solution::results::Tracking;
use crate::cable::solution::workspace::Workspace;
use crate::cable::solve::budget::Budget;
use crate::cable::solve::contacts::{collapse, places_for_further, recall};
use crate::cable::solve::lay::lay_over_flats;
use crate::cable::solve::newton::{self, Progress};
use crate::cable::solve::node::Node;
use crate::cable::solve::span::SpanProblem;
use crate::cable::start::saddle::leave_saddles;
use crate::cable::start::search::{loses_hint, search};
use crate::math::{Real, is_finite};
use crate::shapes::ShapeError;

/// The attempts in order.
///
/// Newton's method tracks the remembered path; if that fails, the path descends in length from there. Without memory, or if both
/// fail, there is a search.
const ATTEMPTS: [Tracking; 3] = [Tracking::Warm, Tracking::Relaxed, Tracking::Cold];

/// Whether the remembered geodesics can be computed: those of most surfaces are integrated in a bounded number of
/// steps.
fn can_follow<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut Vec<Node<T>>, budget: &mut Budget) -> bool {
    let accuracy = newton::accuracy(span.settings);
    recall(span, nodes);
    nodes.iter_mut().filter(|node| node.in_contact).all(|node| {
        node.evaluate_within(span.obstacles, accuracy, budget);
        is_finite(&node.ground.end.point.coords)
    })
}

/// Solves one span; returns its progress, and how the path was found.
pub(crate) fn solve_span<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    work: &mut Workspace<T>,
    place: usize,
    first_obstacle: usize,
) -> Result<(Progress<T>, Tracking), PathError> {
    let scale = span.from.coords.norm().max(span.to.coords.norm());
    let coincide = (span.to - span.from).norm() <= T::default_epsilon() * scale;
    if span.obstacles.is_empty() {
        let straight = Progress { converged: true, ..Progress::none() };
        return if coincide {
            Err(PathError::CoincidentPoints { span: place })
        } else {
            Ok((straight, Tracking::Warm))
        };
    }
    check_neighbouring_ends(span, nodes, first_obstacle)?;
    work.active.clear();
    work.active.reserve(nodes.len() + places_for_further(span));
    let has_memory = span.wraps.iter().any(|wrap| wrap.known);
    let mut known = has_memory;
    let mut failure = Failure::new(&Progress::none());
    let mut penetrated = None;
    let mut crowded = None;
    // The contact of a path that leaves its patch, and that of an attempt that strayed from it.
    let (mut off_patch, mut strayed) = (None, None);
    let mut lost = None;
    let most = span.settings.max_evaluations.saturating_mul(nodes.len());
    work.budget = Budget::default();
    // A restarted search must not prefer the remembered side.
    let whole = span;
    let without_memory = SpanProblem { wraps: &[], further: &[], ..*whole };
    for tracking in ATTEMPTS {
        let remembered = tracking < Tracking::Cold;
        let span = if remembered { whole } else { &without_memory };
        if remembered && !known {
            continue;
        }
        // No other path replaces a remembered one that leaves its patch. Only a leap of Newton's method is repeated by
        // descending. Tracking may take half of the budget, to leave the rest for a restart.
        work.budget.limit = if remembered { most - most / 2 } else { most };
        if has_memory && off_patch.is_some() && tracking != Tracking::Relaxed {
            break;
        }
        if work.budget.is_spent() {
            continue;
        }
        if remembered {
            recall(span, nodes);
        } else {
            collapse(nodes);
        }
        let outcome = match tracking {
            Tracking::Warm => settle_contacts(span, nodes, work),
            Tracking::Cold | Tracking::Restarted => search(span, nodes, work),
            Tracking::Relaxed => {
                lay_over_flats(span, nodes, &mut work.budget);
                slide(span, nodes, work);
                leave_saddles(span, nodes, work)
            }
        };
        match outcome {
            // What comes without memory is passed where its hint says.
            Ok(_) if remembered && loses_new_hint(span, nodes) => {}
            Ok(progress) => {
                check_ends(span, nodes, first_obstacle)?;
                if coincide && nodes.iter().all(|node| !node.in_contact) {
                    return Err(PathError::CoincidentPoints { span: place });
                }
                let found = match tracking {
                    Tracking::Cold if has_memory => Tracking::Restarted,
                    Tracking::Warm if progress.slid => Tracking::Relaxed,
                    other => other,
                };
                return Ok((progress, found));
            }
            Err(why) => {
                // An attempt without budget has no informative failure.
                if why.iterations > 0 {
                    failure = why;
                }
                penetrated = why.penetrated;
                crowded = why.crowded.or(crowded);
                off_patch = why.off_patch.or(off_patch);
                let mut touching = nodes.iter().filter(|node| node.in_contact);
                strayed = touching.find_map(|node| node.off_patch).or(why.strayed).or(strayed);
                lost = why.lost;
                // The remembered path is on the wrong side.
                known &= lost.is_none();
                known &= tracking != Tracking::Warm || can_follow(span, nodes, &mut work.budget);
            }
        }
    }
    if let Some(k) = crowded {
        let most = span.obstacles[k].most_contacts;
        return Err(PathError::TooManyContacts { obstacle: first_obstacle + k, most });
    }
    if let (Some((k, depth)), None) = (penetrated, off_patch) {
        return Err(PathError::Penetrates { obstacle: first_obstacle + k, depth: depth.to_f64() });
    }
    let is_confined = |k: &usize| whole.obstacles[*k].side().is_some();
    if let Some(k) = lost.or(Some(failure.obstacle).filter(is_confined)) {
        let obstacle = first_obstacle + k;
        return Err(if is_confined(&k) {
            PathError::SideNotKept { obstacle }
        } else {
            PathError::HintNotKept { obstacle }
        });
    }
    check_ends(span, nodes, first_obstacle)?;
    if known {
        recall(span, nodes);
    } else {
        collapse(nodes);
    }
    check_neighbours(span, nodes, first_obstacle)?;
    check_held_ends(nodes, first_obstacle)?;
    Err(match off_patch.or(strayed) {
        Some(p) if is_finite(&p.coords) => ShapeError::OffPatch { x: p.x.to_f64(), y: p.y.to_f64() }.into(),
        _ => {
            let Failure { kink, iterations, obstacle, .. } = failure;
            let (obstacle, evaluations) = (first_obstacle + obstacle, work.budget.spent);
            if iterations > 0 && newton::is_smooth(kink, whole.settings) {
                PathError::NoMinimum { obstacle, evaluations }
            } else {
                let residual = if iterations > 0 { kink.to_f64() } else { f64::INFINITY };
                PathError::NotConverged { residual, iterations, obstacle, evaluations }
            }
        }
    })
}

/// Whether an obstacle that is not remembered is not passed where its hint says.
fn loses_new_hint<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> bool {
    let is_new = |k: usize| !span.wraps[nodes[k].obstacle].known && !nodes[k].ignored;
    (0..nodes.len()).any(|k| is_new(k) && loses_hint(span, nodes, nodes[k].obstacle))
}
