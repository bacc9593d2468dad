//! Attempts at the path of one span: from memory, then without.
//!
//! In a scalar with derivatives the search is on plain numbers if the surfaces are available in them, with two steps of
//! Newton's method in the scalar after precision is exhausted.

use alloc::vec::Vec;
use core::mem;

use crate::cable::follow::checks::{check_ends, check_neighbouring_ends, check_neighbours};
use crate::cable::follow::touch::Failure;
use crate::cable::follow::track::follow;
use crate::cable::solve::contacts::{arrange_like, collapse, recall};
use crate::cable::solve::newton;
use crate::cable::start::search::{Workspace, search};
use crate::cable::{Budget, Node, Obstacle, PathError, Progress, SpanProblem, Tracking, Wraps, empty};
use crate::math::{Real, cast_pose, is_finite};
use crate::shapes::ShapeError;

/// One part in this number of the evaluations may be spent in the remembered class.
const SHARE_OF_MEMORY: usize = 3;

/// Solves one span; returns its progress, and how the path was found.
pub(crate) fn solve_span<T: Real>(
    span: &SpanProblem<'_, T>,
    work: &mut Workspace<T>,
    place: usize,
) -> Result<(Progress<T>, Tracking), PathError> {
    let scale = span.from.coords.norm().max(span.to.coords.norm());
    let coincide = (span.to - span.from).norm() <= T::default_epsilon() * scale;
    let Some(first) = span.acting.first() else {
        let straight = Progress { converged: true, ..Progress::none() };
        return if coincide {
            Err(PathError::CoincidentPoints { span: place })
        } else {
            Ok((straight, Tracking::Warm))
        };
    };
    check_neighbouring_ends(span, &mut work.nodes)?;
    let has_memory = work.nodes.iter().any(|node| span.wrap(node).is_some());
    let most = span.settings.max_evaluations.saturating_mul(work.nodes.len());
    // The search has the same share with and without memory, so that a restart finds what a new search finds.
    let share = most.div_ceil(SHARE_OF_MEMORY);
    let budget = span.budget;
    let accept = |progress: Progress<T>, found: Tracking, nodes: &[Node<T>]| {
        check_ends(span, nodes)?;
        if coincide && nodes.iter().all(|node| !node.in_contact) {
            return Err(PathError::CoincidentPoints { span: place });
        }
        Ok((progress, found))
    };
    let mut failure = Failure { obstacle: *first, ..Failure::new(&Progress::none()) };
    let mut is_remembered = has_memory;
    if has_memory {
        budget.limit.set(budget.spent.get() + share);
        match follow(span, work) {
            Ok((progress, tracking)) => return accept(progress, tracking, &work.nodes),
            Err(why) => {
                failure.add(&why, &work.nodes);
                (failure.lost, failure.penetrated) = (why.lost, why.penetrated);
                is_remembered = why.lost.is_none();
            }
        }
    }
    // A remembered path that leaves its patch is not replaced by another.
    if failure.off_patch.is_none() {
        // A search must not prefer the remembered side.
        let memory = &Wraps::default();
        budget.limit.set(budget.spent.get() + (most - share));
        collapse(&mut work.nodes);
        match search(&SpanProblem { memory, ..*span }, work) {
            Ok(progress) if has_memory => return accept(progress, Tracking::Restarted, &work.nodes),
            Ok(progress) => return accept(progress, Tracking::Cold, &work.nodes),
            Err(why) => {
                failure.add(&why, &work.nodes);
                // The class and the depths reported are those of the last attempt.
                (failure.lost, failure.penetrated) = (why.lost, why.penetrated);
            }
        }
    }
    Err(refusal(span, &mut work.nodes, is_remembered, &failure))
}

/// The reason why no path was found: that of the last attempt or, if this says nothing, one found from the remembered
/// contacts or from the points on a line.
fn refusal<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    is_remembered: bool,
    failure: &Failure<T>,
) -> PathError {
    let Budget { spent, limit, was_short } = span.budget;
    let (evaluations, was_short) = (spent.get(), was_short.get());
    if let Some(obstacle) = failure.crowded {
        return PathError::TooManyContacts { obstacle, most: span.obstacles[obstacle].most_contacts };
    }
    if let (Some((obstacle, depth)), None) = (failure.penetrated, failure.off_patch) {
        return PathError::Penetrates { obstacle, depth: depth.to_f64() };
    }
    let is_confined = |k: &usize| span.obstacles[*k].side().is_some();
    if let Some(obstacle) = failure.lost.or(Some(failure.obstacle).filter(is_confined)) {
        return if is_confined(&obstacle) {
            PathError::SideNotKept { obstacle }
        } else {
            PathError::HintNotKept { obstacle }
        };
    }
    // For the ends of remembered contacts.
    limit.set(evaluations + span.settings.max_evaluations / 20);
    let mut check = || {
        check_ends(span, nodes)?;
        if is_remembered {
            recall(span, nodes);
        } else {
            collapse(nodes);
        }
        check_neighbours(span, nodes)
    };
    if let Err(found) = check() {
        return found;
    }
    if let Some(node) = nodes.iter().find(|node| node.on_surface != [false; 2]) {
        return PathError::EndOnSurface { obstacle: node.obstacle };
    }
    if let Some(p) = failure.off_patch.or(failure.strayed).filter(|p| is_finite(&p.coords)) {
        return ShapeError::OffPatch { x: p.x.to_f64(), y: p.y.to_f64() }.into();
    }
    // The result of an attempt that was ended early says nothing.
    if was_short {
        return PathError::TooManyEvaluations { evaluations };
    }
    let Failure { kink, iterations, obstacle, .. } = *failure;
    if iterations == 0 {
        return PathError::NotConverged { residual: f64::INFINITY, iterations, obstacle, evaluations };
    }
    if newton::is_smooth(kink, span.settings) {
        PathError::NoMinimum { obstacle, evaluations }
    } else {
        PathError::NotConverged { residual: kink.to_f64(), iterations, obstacle, evaluations }
    }
}

/// Solves one span, with the obstacles of the path in plain numbers, as far as their surfaces are available in them.
/// Returns its progress, and how the path was found.
///
/// The derivatives are those of the path without kinks, independent of the requested smoothness. The search determines
/// which obstacles are touched. The memory is that of the search: it has no derivatives, and evolves as in plain numbers.
pub(crate) fn solve_in_scalar<T: Real>(
    span: &SpanProblem<'_, T>,
    obstacles: &[Obstacle<f64>],
    work: &mut Workspace<T>,
    (memory, values): &mut (Wraps<f64>, Workspace<f64>),
    place: usize,
) -> Result<(Progress<T>, Tracking), PathError> {
    if obstacles.len() == span.obstacles.len() {
        memory.cast_from(span.memory);
        empty(&mut values.nodes, memory.wraps.len() + memory.further_wraps.len());
        values.nodes.extend(work.nodes.iter().map(Node::values));
        let mut poses = mem::take(&mut values.poses);
        poses.clear();
        poses.extend(span.poses.iter().map(cast_pose));
        let plain = SpanProblem {
            from: span.from.map(T::to_f64),
            to: span.to.map(T::to_f64),
            obstacles,
            acting: span.acting,
            ends: span.ends,
            bodies: span.bodies,
            poses: &poses,
            memory,
            settings: &span.settings.cast(),
            budget: span.budget,
        };
        let solved = solve_span(&plain, values, place);
        if solved.is_ok() {
            newton::exhaust(&plain, &mut values.nodes);
        }
        values.poses = poses;
        let (progress, tracking) = solved?;
        let progress = differentiate(span, &mut work.nodes, &values.nodes, &progress);
        // A user's cast may be of another surface.
        if progress.converged {
            return Ok((progress, tracking));
        }
    }
    let (progress, tracking) = solve_span(span, work, place)?;
    newton::exhaust(span, &mut work.nodes);
    values.nodes.clear();
    values.nodes.extend(work.nodes.iter().map(Node::values));
    Ok((differentiate(span, &mut work.nodes, &values.nodes, &progress), tracking))
}

/// Computes in the scalar the path that was found.
fn differentiate<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &mut Vec<Node<T>>,
    found: &[Node<f64>],
    progress: &Progress<impl Real>,
) -> Progress<T> {
    arrange_like(nodes, found);
    for (node, found) in nodes.iter_mut().zip(found) {
        node.begin(found.trial.cast());
        node.in_contact = found.in_contact;
        (node.holds, node.ignored) = (found.holds, found.ignored);
    }
    // A norm has no derivative at zero.
    let kink = T::lit(newton::differentiate(span, nodes).to_f64());
    for (node, found) in nodes.iter_mut().zip(found).filter(|(node, _)| node.in_contact) {
        node.trial = found.start.cast();
    }
    let Progress { worst, iterations, relaxed, .. } = *progress;
    let converged = newton::is_smooth(kink, span.settings);
    Progress { kink, worst, iterations, converged, relaxed, ..Progress::none() }
}

impl<T: Real> Node<T> {
    /// The obstacle, and where it is touched, in plain numbers.
    fn values(&self) -> Node<f64> {
        let mut values = Node::new(self.obstacle, cast_pose(&self.X_GS), self.scale.to_f64());
        values.in_contact = self.in_contact;
        values.holds = self.holds;
        values.start = self.start.cast();
        values.trial = self.trial.cast();
        values
    }
}
