//! The solver: attempts at the shortest path of each span.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use super::acting::{Acting, Span};
use super::by_values;
use super::checks::{check_ends, check_held_ends, check_neighbouring_ends, check_neighbours};
use super::contacts::{collapse, places_for_further, recall};
use super::geodesic::Geodesic;
use super::lay::lay_over_flats;
use super::newton::{self, Progress};
use super::node::Node;
use super::places::PlacedPath;
use super::relax;
use super::results::{ObstacleContact, PathResults, Segment};
use super::saddle::{BEADS, leave_saddles};
use super::search::{loses_hint, search};
use super::span::{Budget, SpanProblem};
use super::touch::{Failure, settle_contacts, slide};
use super::workspace::Workspace;
use super::wrap::{Wrap, Wraps};
use crate::cable::PathError;
use crate::math::{Real, is_finite, is_plain};
use crate::mechanics::{BodyIndex, Positions};
use crate::shapes::ShapeError;

/// The way in which a path was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tracking {
    /// By Newton's method from memory, with all windings; or there are no obstacles.
    #[default]
    Warm,
    /// From memory, but small steps of the motion may lead to another path. It was found by descending in length or pulling a
    /// string tight: the motion was large, or the tracked path has ceased to exist; it may have slipped off a winding. Or
    /// an obstacle was met elsewhere than the straight segment now runs deepest in it, or was touched and left again within
    /// the step. Or the cable was bent by more than 0.05 rad against a surface, where it has a new contact or Newton's
    /// method took steps of more than 0.6 rad; not on a single cylinder, where as many windings are the same path.
    Relaxed,
    /// Without memory: no obstacle of the span had been solved for before.
    Cold,
    /// Without memory, because no path was found from it: this may be another path. So is one that passes an obstacle
    /// on another side than before, after a leap through it that the obstacle does not hold.
    Restarted,
}

/// The attempts in order, with the number of beads per leg.
///
/// Newton's method tracks the remembered path; if that fails, the path descends in length from there; if that
/// fails, ever finer strings are pulled tight along it. Without memory, or if all these fail, there is a search.
const ATTEMPTS: [(Tracking, usize); 5] = [
    (Tracking::Warm, 0),
    (Tracking::Relaxed, 0),
    (Tracking::Relaxed, 6),
    (Tracking::Relaxed, 16),
    (Tracking::Cold, 0),
];

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

/// Fills in the results; those of a path that fails are left unfinished.
pub(super) fn solve<T: Real>(
    placed: &PlacedPath<'_, T>,
    positions: &Positions<T>,
    wraps: &Wraps<T>,
    results: &mut PathResults<T>,
) -> Result<(), PathError> {
    let PlacedPath { path, places } = *placed;
    let topology = positions.topology();
    // Errors are large and expensive to construct, so they are not made in advance.
    if !path.fits(topology) {
        path.check_topology(topology)?;
    }
    let count = path.obstacles.len();
    let (expected, given) = (path.places_for_contacts(), wraps.obstacles.len() + wraps.further.len());
    if expected != given || wraps.obstacles.len() != count {
        return Err(PathError::ForeignWraps { expected, given });
    }
    if !places.fits(path.places()) {
        let expected = (path.via_points.len(), count);
        return Err(PathError::ForeignPlaces {
            expected,
            given: (places.via_points.len(), places.obstacles.len()),
        });
    }
    let PathResults {
        contacts, segments, via_points, coordinate_forces, acting, nodes, work, values, ..
    } = results;
    acting.find(placed, positions, wraps, via_points)?;
    let (all, wraps) = acting.obstacles(path, wraps);
    let Acting { indices, spans, .. } = &*acting;
    contacts.clear();
    // Room for all contacts, so that a further one does not allocate.
    contacts.reserve(expected);
    segments.clear();
    segments.reserve(path.via_points.len() + 1 + expected);
    coordinate_forces.clear();
    coordinate_forces.reserve(2 * path.via_points.len());
    nodes.clear();
    nodes.reserve(expected);
    let mut further = &wraps.further[..];
    let absent = |k: usize| absent(placed, positions, k);
    let mut next = 0;
    let mut length = T::zero();
    let mut smoothness = T::zero();
    let mut iterations = 0;
    let mut tracking = Tracking::Warm;
    let mut classes = 1;
    for Span { from, to, obstacles, place } in spans {
        let of_span = &all[obstacles.clone()];
        let room = of_span.iter().map(|obstacle| obstacle.most_contacts - 1).sum();
        let (own, rest) = further.split_at(room);
        further = rest;
        let span = SpanProblem {
            from: from.p_G,
            to: to.p_G,
            obstacles: of_span,
            wraps: &wraps.obstacles[obstacles.clone()],
            further: own,
            settings: path.settings(),
        };
        require_finite((span.to - span.from).norm_squared().is_finite())?;
        nodes.clear();
        let indices = &indices[obstacles.clone()];
        nodes.extend(indices.iter().enumerate().map(|(i, &k)| Node::new(i, placed.pose(positions, k))));
        let outcome = if is_plain::<T>() || obstacles.is_empty() {
            solve_span(&span, nodes, work, *place, obstacles.start)
        } else {
            let plain = acting.plain(obstacles.clone());
            by_values::solve(&span, plain, nodes, (work, values), *place, obstacles.start)
        };
        let (progress, found) = outcome.map_err(|error| error.renumbered(&acting.indices))?;
        smoothness = smoothness.max(progress.kink);
        iterations = iterations.max(progress.iterations);
        tracking = tracking.max(found);
        classes = classes.max(progress.classes);

        let mut leaving = (from.body, span.from);
        let mut add = |leaving: (BodyIndex, Point3<T>),
                       body: BodyIndex,
                       point,
                       to_contact: Option<usize>,
                       held: Option<Vector3<T>>| {
            let along: Vector3<T> = point - leaving.1;
            // A contact that begins or ends at a fixed point leaves no straight segment between. It does so to the
            // smoothness only; forces at one point cancel exactly.
            let fixed = if to_contact.is_some() { leaving.1 } else { point };
            let (from_G, to_G, direction_G, reach) = match held {
                Some(tangent) => (fixed, fixed, tangent, T::zero()),
                None => (leaving.1, point, along / along.norm(), along.norm()),
            };
            length += reach;
            segments.push(Segment {
                from_body: leaving.0,
                to_body: body,
                from_G,
                to_G,
                direction_G,
                length: reach,
                to_contact,
            });
            direction_G
        };
        let mut departing = None;
        let mut held = None;
        for node in nodes.iter() {
            let obstacle = span.obstacle(node);
            let index = indices[node.obstacle];
            contacts.extend((next..index).map(absent));
            next = index + 1;
            if node.in_contact {
                let Geodesic { start, end, .. } = &node.ground;
                let [holds_start, holds_end] = node.holds;
                let direction_G = add(
                    leaving,
                    obstacle.frame().body,
                    start.point,
                    Some(contacts.len()),
                    (departing.is_none() && holds_start).then_some(start.tangent),
                );
                leaving = (obstacle.frame().body, end.point);
                departing = departing.or(Some(direction_G));
                held = holds_end.then_some(end.tangent);
            }
            contacts.push(node.contact(index, obstacle));
        }
        let arriving = add(leaving, to.body, span.to, None, held);
        let pulls = [(from.motion, departing.unwrap_or(arriving)), (to.motion, -arriving)];
        for (motion, direction_G) in pulls {
            let Some((coordinate, slope_G)) = motion else { continue };
            coordinate_forces.push((coordinate, direction_G.dot(&slope_G)));
        }
    }
    contacts.extend((next..count).map(absent));
    for contact in contacts.iter().filter(|contact| contact.in_contact) {
        length += contact.geodesic.length;
    }
    let is_sound = |Wrap { point, tangent, .. }: &Wrap<T>| is_finite(&point.coords) && is_finite(tangent);
    require_finite(length.is_finite() && contacts.iter().all(|contact| is_sound(&contact.wrap)))?;
    results.length = length;
    results.smoothness = smoothness;
    results.iterations = iterations;
    results.tracking = tracking;
    results.classes = classes;
    Ok(())
}

/// What stands for the contacts of an obstacle that does not act.
#[cold]
fn absent<T: Real>(placed: &PlacedPath<'_, T>, positions: &Positions<T>, k: usize) -> ObstacleContact<T> {
    let (obstacle, place) = (&placed.path.obstacles[k], &placed.places.obstacles[k]);
    let free = Node::new(k, placed.pose(positions, k)).contact(k, obstacle);
    ObstacleContact { wrap: Wrap::default(), scale: place.scale, ..free }
}

fn require_finite(is_finite: bool) -> Result<(), PathError> {
    if is_finite { Ok(()) } else { Err(PathError::NonFinite) }
}

/// Solves one span; returns its progress, and how the path was found.
pub(super) fn solve_span<T: Real>(
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
    for (tracking, detail) in ATTEMPTS {
        let remembered = tracking < Tracking::Cold;
        let span = if remembered { whole } else { &without_memory };
        if remembered && !known {
            continue;
        }
        // No other path replaces a remembered one that leaves its patch. Only a leap of Newton's method is repeated by
        // descending. Tracking may take half of the budget, to leave the rest for a restart.
        work.budget.limit = if remembered { most - most / 2 } else { most };
        let leapt = (tracking, detail) == (Tracking::Relaxed, 0);
        if has_memory && off_patch.is_some() && !leapt {
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
        let outcome = match (tracking, detail) {
            (Tracking::Warm, _) => settle_contacts(span, nodes, work),
            (Tracking::Cold, _) => search(span, nodes, work),
            (_, 0) => {
                lay_over_flats(span, nodes, &mut work.budget);
                slide(span, nodes, work);
                leave_saddles(span, nodes, work, BEADS)
            }
            _ => tighten(span, nodes, work, detail, true),
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

/// Pulls a string tight and refines what it touches.
pub(super) fn tighten<T: Real>(
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

/// The length of a span that has been solved.
pub(super) fn length_of<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> T {
    let mut from = span.from;
    let mut length = T::zero();
    for node in nodes.iter().filter(|node| node.in_contact) {
        length += (node.ground.start.point - from).norm() + node.ground.length;
        from = node.ground.end.point;
    }
    length + (span.to - from).norm()
}
