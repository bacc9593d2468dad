//! The path that continues the remembered one.

use alloc::vec::Vec;
use core::mem;

use nalgebra::{Point3, Vector3};

use crate::cable::follow::checks::check_neighbouring_ends;
use crate::cable::follow::motion;
use crate::cable::follow::touch::{Failure, Outcome, relax, settle_contacts};
use crate::cable::solve::contacts::{copy, length_of, neighbours, recall};
use crate::cable::start::search::{Workspace, leave_saddles, lost_hint, refine};
use crate::cable::{Metered, Node, PastBody, Progress, SpanProblem, Tracking, Wrap, Wraps};
use crate::math::{Pose, Real};

/// The most steps of a descent from a remembered path. Where the path has just ceased to exist the slope is small, and
/// many windings slip far.
const LONGEST_DESCENT: usize = 1000;

/// The longest part of a motion in which a path is followed, with no body turning by half a radian, and the shortest
/// part.
const LONGEST: f64 = 0.125;
const SHORTEST: f64 = 1.0 / 256.0;

/// The relative excess of length above which a path is compared with the motion.
const LEAP: f64 = 1e-4;

/// Follows the remembered path to the present poses; returns its progress, and how the path was found.
///
/// It takes one step if it is certain that shorter steps would lead to the same path, and otherwise as many as that
/// requires. If the path ceases to exist, it descends in length from there, or at the end of the motion. If one step led
/// to a shorter path, that is a new start.
pub(crate) fn follow<T: Real>(
    span: &SpanProblem<'_, T>,
    work: &mut Workspace<T>,
) -> Result<(Progress<T>, Tracking), Failure<T>> {
    let has_turned = || {
        let turn = |(past, now): (&PastBody<T>, &Pose<T>)| past.X_GB.rotation.angle_to(&now.rotation);
        let known = span.memory.past_bodies.iter().zip(span.poses).filter(|(past, _)| past.known);
        known.map(turn).any(|turn| turn > T::lit(0.5))
    };
    let direct = advance(span, work, T::one(), has_turned);
    if let Ok(progress) = direct
        && !progress.relaxed
    {
        return Ok((progress, Tracking::Warm));
    }
    let mut surfaces = mem::take(&mut work.surfaces);
    let is_long = motion::is_long(span, &work.nodes, &mut surfaces) || direct.is_ok();
    let outcome = if is_long {
        let keeps_hints = direct.is_ok() && lost_hint(span, &work.nodes).is_none();
        copy(&work.nodes, &mut work.shortest);
        let followed = follow_in_parts(span, work, &surfaces);
        if followed.is_err() {
            motion::place(span, &mut work.nodes, &surfaces, T::one());
            // As before the motion was followed; it has no error at the present place.
            let _ = check_neighbouring_ends(span, &mut work.nodes);
        }
        let length = length_of(span, &work.nodes);
        match (followed, direct) {
            (Ok(progress), _) if !progress.relaxed => Ok((refine(span, work, progress), Tracking::Followed)),
            (followed, Ok(progress))
                if keeps_hints
                    && (followed.is_err()
                        || length_of(span, &work.shortest) < length * T::lit(1.0 - 1e-9)) =>
            {
                copy(&work.shortest, &mut work.nodes);
                Ok((progress, Tracking::Restarted))
            }
            (Ok(progress), _) => Ok((progress, Tracking::Relaxed)),
            (Err(_), direct) => {
                // The nodes are no longer those of a path that has lost its hints.
                let direct = direct.and_then(|progress| Err(Failure::new(&progress)));
                descend(span, work, direct).map(|progress| (progress, Tracking::Relaxed))
            }
        }
    } else {
        descend(span, work, direct).map(|progress| (progress, Tracking::Relaxed))
    };
    work.surfaces = surfaces;
    outcome
}

/// Follows the remembered path along the motion in parts, to these poses of the surfaces.
fn follow_in_parts<T: Real>(
    span: &SpanProblem<'_, T>,
    work: &mut Workspace<T>,
    surfaces: &[Pose<T>],
) -> Outcome<T> {
    let mut memory = mem::take(&mut work.memory);
    memory.clone_from(span.memory);
    let (mut at, mut step, mut relaxed) = (T::zero(), T::lit(LONGEST), false);
    let outcome = loop {
        let next = (at + step).min(T::one());
        let [from, to] = motion::place(span, &mut work.nodes, surfaces, next);
        let part = SpanProblem { from, to, memory: &memory, ..*span };
        let outcome = match check_neighbouring_ends(&part, &mut work.nodes) {
            Ok(()) => advance(&part, work, next - at, || false),
            // Bodies may be in each other's way where they were not.
            Err(_) => Err(Failure { obstacle: span.acting[0], ..Failure::new(&Progress::none()) }),
        };
        let is_sure = outcome.is_ok_and(|progress| !progress.relaxed);
        if !is_sure && step > T::lit(SHORTEST) && !span.budget.is_spent() {
            step *= T::lit(0.5);
            continue;
        }
        relaxed |= !is_sure;
        let outcome = descend(&part, work, outcome);
        if outcome.is_err() || next >= T::one() {
            break outcome;
        }
        memory.keep(span, &work.nodes);
        (at, step) = (next, (step + step).min(T::lit(LONGEST)));
    };
    work.memory = memory;
    outcome.map(|progress| Progress { relaxed, ..progress })
}

/// Solves from the remembered path in one step, over this part of the motion. The progress is `relaxed` if shorter steps may lead
/// to another path.
fn advance<T: Real>(
    span: &SpanProblem<'_, T>,
    work: &mut Workspace<T>,
    part: T,
    has_turned: impl Fn() -> bool,
) -> Outcome<T> {
    recall(span, &mut work.nodes);
    let progress = settle_contacts(span, &mut work.nodes)?;
    if progress.is_shortened && is_leap(span, &work.nodes, &mut work.other, part) {
        return Err(Failure::new(&progress));
    }
    // Where contacts grow over flat parts at once, only the length tells, after the shortest part of the motion.
    let on_flats = |node: &Node<T>| node.in_contact && span.surface(node).has_flats();
    let is_doubtful = progress.is_shortened && part > T::lit(SHORTEST) && work.nodes.iter().any(on_flats);
    // An obstacle without memory is passed according to its hint.
    let relaxed = progress.relaxed
        || is_doubtful
        || may_have_passed(span, &work.nodes, has_turned)
        || lost_hint(span, &work.nodes).is_some();
    Ok(Progress { relaxed, ..progress })
}

/// Whether the path is longer than the remembered one at its present poses by more than this part of the motion explains;
/// small steps then lead elsewhere.
fn is_leap<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &Vec<Node<T>>,
    recalled: &mut Vec<Node<T>>,
    part: T,
) -> bool {
    copy(nodes, recalled);
    recall(span, recalled);
    for node in recalled.iter_mut().filter(|node| node.in_contact) {
        node.evaluate(span, span.settings.accuracy());
    }
    let before = length_of(span, recalled);
    let longer = length_of(span, nodes) - before;
    longer > T::lit(LEAP) * before && longer > T::lit(2.0) * motion::reach(span, nodes, part)
}

/// Descends in length from the remembered path, unless the outcome of a step is a path.
fn descend<T: Real>(span: &SpanProblem<'_, T>, work: &mut Workspace<T>, outcome: Outcome<T>) -> Outcome<T> {
    let failure = match outcome {
        Ok(_) if lost_hint(span, &work.nodes).is_none() => return outcome,
        // The remembered path is on the wrong side.
        Err(Failure { lost: Some(_), .. }) => return outcome,
        Ok(progress) => Failure::new(&progress),
        Err(why) => {
            let mut failure = why;
            failure.add(&why, &work.nodes);
            failure
        }
    };
    if span.budget.is_spent() {
        return Err(failure);
    }
    recall(span, &mut work.nodes);
    relax(span, &mut work.nodes, LONGEST_DESCENT);
    let progress = leave_saddles(span, work).map_err(|why| {
        let mut failure = failure;
        failure.add(&why, &work.nodes);
        (failure.lost, failure.penetrated) = (why.lost, why.penetrated);
        failure
    })?;
    match lost_hint(span, &work.nodes) {
        Some(_) => Err(failure),
        None => Ok(Progress { relaxed: true, ..progress }),
    }
}

/// Whether the cable, free of an obstacle before or after a step, may have passed through it on the way.
///
/// It has not if it moved by no more than a quarter of the obstacle's size; or by no more than its clearance before and
/// after; or by no more than twice the size, if the direction to the solid and its own direction changed by no more than
/// 60°. Unless its own direction changed by more, its motion is measured at the points that come closest. The motion of a
/// body that turned far is not known.
fn may_have_passed<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    has_turned: impl Fn() -> bool,
) -> bool {
    nodes.iter().any(|node| {
        let obstacle = span.obstacle(node);
        let is_kept = node.ignored || obstacle.side().is_some();
        let Some(wrap) = span.wrap(node).filter(|wrap| !(is_kept || node.in_contact && wrap.in_contact))
        else {
            return false;
        };
        let surface = span.surface(node);
        let here = if node.in_contact {
            let [from, to] = neighbours(span, nodes, node);
            (from, to - from)
        } else {
            (node.trial.point, node.trial.tangent)
        };
        let before = if wrap.in_contact { Some(touching(surface, wrap, here)) } else { wrap.passing() };
        let Some(before) = before else { return false };
        let here = if node.in_contact { touching(surface, &node.wrap(), here) } else { here };
        let (start, turn) = (here.0 - before.0, here.1 - before.1);
        // A segment that moves along itself passes through nothing.
        let directions = [before.1.normalize(), here.1.normalize()];
        let moved = |part: T| {
            let [was, is] = directions.map(|along| (start + turn * part).cross(&along).norm());
            was.max(is)
        };
        let at_ends = moved(T::zero()).max(moved(T::one()));
        if at_ends <= T::lit(0.25) * surface.size() {
            return false;
        }
        if has_turned() {
            return true;
        }
        let [(was_at, was_clear, was_up), (is_at, is_clear, is_up)] = [before, here].map(|(from, along)| {
            let (p, height) = surface.closest_on_segment(&from, &(from + along));
            let part = (p - from).dot(&along) / along.norm_squared();
            (part, height.max(T::zero()), surface.gradient(&p).normalize())
        });
        let half = T::lit(0.5);
        let is_parallel = directions[0].dot(&directions[1]) > half;
        let moved = if is_parallel { moved(was_at).max(moved(is_at)) } else { at_ends };
        let is_beside = was_up.dot(&is_up) > half && moved <= T::lit(2.0) * surface.size();
        moved > was_clear + is_clear && !(is_parallel && is_beside)
    })
}

/// The tangent at the middle of a contact, as long as a segment: start and extent, in the frame of the surface.
fn touching<T: Real>(
    surface: Metered<'_, T>,
    wrap: &Wrap<T>,
    (from, along): (Point3<T>, Vector3<T>),
) -> (Point3<T>, Vector3<T>) {
    let middle = surface.follow(&wrap.point, &wrap.tangent, wrap.length * T::lit(0.5));
    let (p, t) = (middle.point, middle.tangent);
    let reach = [(p - from).norm(), (p - (from + along)).norm()];
    (p - t * reach[0], t * (reach[0] + reach[1]))
}

impl<T: Real> Wraps<T> {
    /// Remembers the path of a span.
    fn keep(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>]) {
        let mut place = 0;
        for (k, obstacle) in span.obstacles.iter().enumerate() {
            let further = place..place + obstacle.most_contacts - 1;
            place = further.end;
            let mut own = nodes.iter().filter(|node| node.obstacle == k).map(Node::wrap);
            let Some((first, wrap)) = self.wraps.get_mut(k).zip(own.next()) else { continue };
            *first = wrap;
            for vacant in self.further_wraps.get_mut(further).into_iter().flatten() {
                *vacant = own.next().unwrap_or_default();
            }
        }
    }
}
