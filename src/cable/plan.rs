//! Plans of a path without memory: on which side it passes each obstacle, with one bead on each that it touches.
//!
//! A plan is a polygon whose beads are the middles of the contacts. Its length is estimated with arcs of the surface's
//! curvature at the beads, which is exact for a circle. Plans are completed in the order of their lengths, from the
//! straight line: the obstacle that the polygon runs through deepest is passed on each of its sides in turn. Where the
//! sides that a surface [names](super::Wrappable::passages) are all there are, as of a cylinder, the plan completed
//! first is the shortest of all to the accuracy of the estimate.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use super::geodesic::GeodesicEnd;
use super::node::{Node, Trial};
use super::span::{Budget, CLEARED, SEARCH, SpanProblem};
use super::wrappable::Wrappable;
use crate::math::{Real, is_finite};

/// The largest number of plans per obstacle. Of ten thousand scenes of four obstacles few need more than five.
const MOST_PLANS: usize = 24;

/// The largest number of times that each bead of a plan is moved.
const SWEEPS: usize = 12;

/// The place of the cable on one obstacle.
#[derive(Debug, Clone, Copy)]
struct Bead<T: Real> {
    is_pressed: bool,
    /// The middle of the contact, in Ground.
    middle: GeodesicEnd<T>,
    /// The angles of the arcs before and after the middle \[rad\].
    arcs: [T; 2],
}

/// What is known of one plan.
#[derive(Debug, Clone, Copy)]
struct Plan<T: Real> {
    /// Its estimated length, and that with a penalty for each hint that it does not follow.
    length: T,
    score: T,
    /// The obstacle that it does not pass rightly.
    conflict: Option<usize>,
    is_open: bool,
    /// The number of obstacles that were laid on a side.
    depth: usize,
}

/// Plans, kept to avoid allocation.
#[derive(Debug)]
pub(super) struct Plans<T: Real> {
    plans: Vec<Plan<T>>,
    /// Those of one plan after another, one per obstacle.
    beads: Vec<Bead<T>>,
    /// The length of the straight line, which counts for a hint that is not followed.
    penalty: T,
}

/// A completed plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completed<T: Real> {
    place: usize,
    pub(super) length: T,
    pub(super) score: T,
}

impl<T: Real> Plans<T> {
    pub(super) fn new() -> Self {
        Self { plans: Vec::new(), beads: Vec::new(), penalty: T::zero() }
    }

    /// Begins with the straight line and, if there are hints that no class is known of, the polygon through these.
    pub(super) fn begin(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>], budget: &mut Budget) {
        self.plans.clear();
        self.beads.clear();
        self.penalty = (span.to - span.from).norm();
        let nothing = Bead { is_pressed: false, middle: GeodesicEnd::blank(), arcs: [T::zero(); 2] };
        let count = nodes.len();
        self.beads.resize(count, nothing);
        self.complete(span, nodes, 0, budget);
        let soft = |node: &Node<T>| !node.ignored && soft_hint(span, node).is_some();
        if !nodes.iter().any(soft) {
            return;
        }
        self.beads.resize(2 * count, nothing);
        for (k, node) in nodes.iter().enumerate().filter(|(_, node)| soft(node)) {
            let Some(hint) = soft_hint(span, node) else { continue };
            let (a, b) = self.neighbours(span, count, k, count);
            self.beads[count + k] = laid(span.surface(node), node, &hint, &a, &b);
        }
        self.complete(span, nodes, 0, budget);
    }

    /// The next plan in the order of scores below `most`, completed.
    pub(super) fn next(
        &mut self,
        span: &SpanProblem<'_, T>,
        nodes: &[Node<T>],
        most: Option<T>,
        budget: &mut Budget,
    ) -> Option<Completed<T>> {
        loop {
            let mut best: Option<usize> = None;
            for (i, plan) in self.plans.iter().enumerate() {
                if plan.is_open && best.is_none_or(|best| plan.score < self.plans[best].score) {
                    best = Some(i);
                }
            }
            let place = best.filter(|&i| most.is_none_or(|most| self.plans[i].score < most))?;
            let plan = &mut self.plans[place];
            plan.is_open = false;
            let Plan { length, score, .. } = *plan;
            match plan.conflict {
                Some(k) => self.branch(span, nodes, place, k, budget),
                None => return Some(Completed { place, length, score }),
            }
        }
    }

    /// Writes the middles of a plan's contacts into the nodes.
    pub(super) fn write_middles(&self, nodes: &mut [Node<T>], plan: &Completed<T>) {
        let beads = &self.beads[plan.place * nodes.len()..];
        for (node, bead) in nodes.iter_mut().zip(beads) {
            let GeodesicEnd { point, tangent, .. } = bead.middle.transformed(&node.X_GS.inverse());
            node.begin(Trial { point, tangent, length: T::zero() });
            node.in_contact = bead.is_pressed;
        }
    }

    /// Writes a plan into the nodes: contacts with both arcs.
    pub(super) fn write(
        &self,
        span: &SpanProblem<'_, T>,
        nodes: &mut [Node<T>],
        plan: &Completed<T>,
        accuracy: T,
        budget: &mut Budget,
    ) {
        let beads = &self.beads[plan.place * nodes.len()..];
        for (node, bead) in nodes.iter_mut().zip(beads) {
            node.in_contact = false;
            if !bead.is_pressed {
                continue;
            }
            let [back, ahead] = bead.arcs;
            let GeodesicEnd { curvature, .. } = bead.middle;
            let local = bead.middle.transformed(&node.X_GS.inverse());
            let (mut point, mut tangent, mut length) = (local.point, local.tangent, T::zero());
            if back + ahead > T::zero() {
                let geodesic = span.surface(node).geodesic(&point, &tangent, -back / curvature, accuracy);
                budget.spend(1 + geodesic.evaluations);
                (point, tangent) = (geodesic.end.point, geodesic.end.tangent);
                length = (back + ahead) / curvature;
            }
            node.begin(Trial { point, tangent, length });
        }
    }

    /// Adds the plans in which an obstacle is passed on each of its sides.
    fn branch(
        &mut self,
        span: &SpanProblem<'_, T>,
        nodes: &[Node<T>],
        parent: usize,
        k: usize,
        budget: &mut Budget,
    ) {
        let count = nodes.len();
        let depth = self.plans[parent].depth + 1;
        if depth > 2 * count {
            return;
        }
        let (node, surface) = (&nodes[k], span.surface(&nodes[k]));
        let (a_G, b_G) = self.neighbours(span, parent * count, k, count);
        let (a, b) = (node.to_surface(&a_G), node.to_surface(&b_G));
        let closest = surface.closest_on_segment(&a, &b).point;
        budget.spend(SEARCH);
        let passages = surface.passages(&a, &b, &closest);
        let hint = span.obstacle(node).place_of_hint();
        for p in passages.into_iter().chain([hint]).flatten() {
            if self.plans.len() >= MOST_PLANS * count || budget.is_spent() {
                return;
            }
            let first = self.beads.len();
            self.beads.extend_from_within(parent * count..(parent + 1) * count);
            self.beads[first + k] = laid(surface, node, &p, &a_G, &b_G);
            self.complete(span, nodes, depth, budget);
        }
    }

    /// Relaxes the last beads, and adds the plan with them if it is not like another.
    fn complete(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>], depth: usize, budget: &mut Budget) {
        let count = nodes.len();
        let first = self.beads.len() - count;
        self.relax(span, nodes, first, budget);
        let length = self.measure(span, first, count);
        let is_like = |place: usize| {
            let other = &self.beads[place * count..];
            other.iter().zip(&self.beads[first..]).zip(nodes).all(|((a, b), node)| {
                a.is_pressed == b.is_pressed
                    && (!a.is_pressed
                        || (a.middle.point - b.middle.point).norm() < span.surface(node).size() * T::lit(0.1))
            })
        };
        let is_known = (0..self.plans.len())
            .any(|place| (self.plans[place].length - length).abs() < T::lit(0.01) * length && is_like(place));
        let conflict =
            if is_known || !length.is_finite() { Err(()) } else { self.conflict(span, nodes, first, budget) };
        let Ok(conflict) = conflict else {
            self.beads.truncate(first);
            return;
        };
        let score = length + self.penalty * self.astray(span, nodes, first);
        self.plans.push(Plan { length, score, conflict, is_open: true, depth });
    }

    /// The points before and after an obstacle; `first` is the place of the plan's first bead.
    fn neighbours(
        &self,
        span: &SpanProblem<'_, T>,
        first: usize,
        k: usize,
        count: usize,
    ) -> (Point3<T>, Point3<T>) {
        let beads = &self.beads[first..first + count];
        let before = beads[..k].iter().rfind(|bead| bead.is_pressed);
        let after = beads[k + 1..].iter().find(|bead| bead.is_pressed);
        (before.map_or(span.from, |bead| bead.middle.point), after.map_or(span.to, |bead| bead.middle.point))
    }

    /// Moves beads to the middles of the contacts of a taut cable. Those on which it does not press are released.
    fn relax(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>], first: usize, budget: &mut Budget) {
        let count = nodes.len();
        for _ in 0..SWEEPS {
            let mut largest = T::zero();
            for (k, node) in nodes.iter().enumerate() {
                if !self.beads[first + k].is_pressed {
                    continue;
                }
                let (a, b) = self.neighbours(span, first, k, count);
                let bead = &mut self.beads[first + k];
                budget.spend(2);
                match shifted(span.surface(node), node, &bead.middle, &a, &b) {
                    Some((moved, step)) => {
                        bead.middle = moved;
                        largest = largest.max(step);
                    }
                    None => {
                        bead.is_pressed = false;
                        largest = T::one();
                    }
                }
            }
            if largest < T::lit(0.02) {
                break;
            }
        }
    }

    /// The estimated length; writes the arcs.
    fn measure(&mut self, span: &SpanProblem<'_, T>, first: usize, count: usize) -> T {
        let mut length = T::zero();
        let mut from = span.from;
        for k in 0..count {
            if !self.beads[first + k].is_pressed {
                continue;
            }
            let (a, b) = self.neighbours(span, first, k, count);
            let bead = &mut self.beads[first + k];
            let (before, back) = leg(&bead.middle, &a, -T::one());
            let (after, ahead) = leg(&bead.middle, &b, T::one());
            bead.arcs = [back, ahead];
            length += (bead.middle.point - from).norm() + before + after;
            from = bead.middle.point;
        }
        length + (span.to - from).norm()
    }

    /// The obstacle that the polygon passes in another class than that of its hint, or runs through deepest; an error
    /// if it touches one in another class.
    fn conflict(
        &self,
        span: &SpanProblem<'_, T>,
        nodes: &[Node<T>],
        first: usize,
        budget: &mut Budget,
    ) -> Result<Option<usize>, ()> {
        let mut deepest: Option<(usize, T)> = None;
        for (k, node) in nodes.iter().enumerate().filter(|(_, node)| !node.ignored) {
            let bead = &self.beads[first + k];
            let hint = span.obstacle(node).place_of_hint();
            if bead.is_pressed && hint.is_none() {
                continue;
            }
            let surface = span.surface(node);
            let (a, b) = self.neighbours(span, first, k, nodes.len());
            let (a, b) = (node.to_surface(&a), node.to_surface(&b));
            let through = |p: &Point3<T>| Some(surface.winding(&a, p)? + surface.winding(p, &b)?);
            let differs = |other: Option<T>| {
                let wanted = hint.and_then(|hint| through(&hint));
                wanted.zip(other).is_some_and(|(wanted, other)| (wanted - other).abs() > T::one())
            };
            if bead.is_pressed {
                if differs(through(&node.to_surface(&bead.middle.point))) {
                    return Err(());
                }
                continue;
            }
            if differs(surface.winding(&a, &b)) {
                return Ok(Some(k));
            }
            let obstacle = span.obstacle(node);
            if !obstacle.is_convex && surface.clears(&a, &b) {
                budget.spend(CLEARED);
                continue;
            }
            budget.spend(SEARCH);
            let depth = -surface.closest_on_segment(&a, &b).height / surface.size();
            if depth > T::lit(1e-6).max(T::negligible()) && deepest.is_none_or(|(_, most)| depth > most) {
                deepest = Some((k, depth));
            }
        }
        Ok(deepest.map(|(k, _)| k))
    }

    /// The number of hints without a class that the polygon does not follow: it passes on the other side, or winds by
    /// more than half a turn.
    fn astray(&self, span: &SpanProblem<'_, T>, nodes: &[Node<T>], first: usize) -> T {
        let mut count = T::zero();
        for (k, node) in nodes.iter().enumerate().filter(|(_, node)| !node.ignored) {
            let Some(hint) = soft_hint(span, node) else { continue };
            let bead = &self.beads[first + k];
            let surface = span.surface(node);
            let (a, b) = self.neighbours(span, first, k, nodes.len());
            let (a, b) = (node.to_surface(&a), node.to_surface(&b));
            let normal = if bead.is_pressed {
                node.X_GS.rotation.inverse() * bead.middle.normal
            } else {
                surface.gradient(&surface.closest_on_segment(&a, &b).point).normalize()
            };
            let along = (b - a).normalize();
            let outwards = surface.gradient(&hint).normalize();
            let sideways = outwards - along * along.dot(&outwards);
            let [back, ahead] = bead.arcs;
            // A hint at the front or at the back of the obstacle names no side.
            let is_beside = sideways.norm() > T::lit(0.2);
            if is_beside && sideways.dot(&normal) < T::zero() || bead.is_pressed && back + ahead > T::pi() {
                count += T::one();
            }
        }
        count
    }
}

/// The hint of an obstacle whose surface does not tell classes apart.
fn soft_hint<T: Real>(span: &SpanProblem<'_, T>, node: &Node<T>) -> Option<Point3<T>> {
    let hint = span.obstacle(node).place_of_hint()?;
    span.surface(node).winding(&hint, &hint).is_none().then_some(hint)
}

/// A bead at a point near the surface, in its frame, between two points in Ground.
fn laid<T: Real>(
    surface: &dyn Wrappable<T>,
    node: &Node<T>,
    p: &Point3<T>,
    a: &Point3<T>,
    b: &Point3<T>,
) -> Bead<T> {
    let point = surface.retract(p);
    let [from, to] = [a, b].map(|end| (node.to_surface(end) - point).normalize());
    let middle = frame(surface, &point, &(to - from)).transformed(&node.X_GS);
    Bead { is_pressed: is_finite(&middle.tangent), middle, arcs: [T::zero(); 2] }
}

/// The frame at a point of the surface in the direction `along` or, if both sides of the cable leave steeply, so that
/// it has hardly any along the surface, in the direction of the greatest curvature near it.
fn frame<T: Real>(surface: &dyn Wrappable<T>, p: &Point3<T>, along: &Vector3<T>) -> GeodesicEnd<T> {
    let end = surface.end(p, along);
    if end.tangent.dot(along) > T::lit(0.5) {
        return end;
    }
    let GeodesicEnd { curvature, torsion, transverse_curvature, .. } = end;
    let angle = T::lit(0.5) * (T::lit(2.0) * torsion).atan2(curvature - transverse_curvature);
    let (sin, cos) = angle.sin_cos();
    surface.end(p, &(end.tangent * cos + end.binormal() * sin))
}

/// A bead moved towards the middle of the contact of a taut cable, and its turn \[rad\]; none if the cable does not
/// press on it.
///
/// In the middle the cable turns equally to both sides; across, its length is least there.
fn shifted<T: Real>(
    surface: &dyn Wrappable<T>,
    node: &Node<T>,
    at: &GeodesicEnd<T>,
    a: &Point3<T>,
    b: &Point3<T>,
) -> Option<(GeodesicEnd<T>, T)> {
    let (back, ahead) = (a - at.point, b - at.point);
    let (inverse_back, inverse_ahead) = (T::one() / back.norm(), T::one() / ahead.norm());
    let (back, ahead) = (back * inverse_back, ahead * inverse_ahead);
    let pull = back + ahead;
    let press = -pull.dot(&at.normal);
    if !(press > T::zero()) {
        return None;
    }
    let GeodesicEnd { tangent, curvature, transverse_curvature, .. } = *at;
    let binormal = at.binormal();
    let stiffness = |axis: &Vector3<T>| {
        let [x, y] = [back.dot(axis), ahead.dot(axis)];
        (T::one() - x * x) * inverse_back + (T::one() - y * y) * inverse_ahead
    };
    let bend = curvature * press;
    let along = if bend > T::zero() {
        -pull.dot(&tangent) / (bend - stiffness(&tangent)).max(T::lit(0.5) * bend)
    } else {
        T::zero()
    };
    let stiff = stiffness(&binormal);
    let across = pull.dot(&binormal) / (stiff - transverse_curvature * press).max(T::lit(0.25) * stiff);
    let turn = (along.abs() + across.abs()) * at.greatest_curvature();
    let longest = T::lit(0.6);
    let scale = if turn > longest { longest / turn } else { T::one() };
    let moved = node.to_surface(&(at.point + (tangent * along + binormal * across) * scale));
    let point = surface.retract(&moved);
    if !surface.covers(&point) {
        return None;
    }
    let direction = node.X_GS.rotation.inverse() * (ahead - back);
    Some((frame(surface, &point, &direction).transformed(&node.X_GS), turn))
}

/// By how much the way from the middle of a contact to a point is longer than the straight line if it follows the
/// surface, and the angle of its arc.
fn leg<T: Real>(middle: &GeodesicEnd<T>, to: &Point3<T>, sense: T) -> (T, T) {
    let off = to - middle.point;
    let chord = off.norm();
    let (zero, one) = (T::zero(), T::one());
    if middle.curvature * chord < T::lit(1e-3) {
        return (zero, zero);
    }
    let radius = one / middle.curvature;
    let ahead = off.dot(&middle.tangent) * sense;
    let above = off.dot(&middle.normal) + radius;
    let aside = off.dot(&middle.binormal());
    let straight = (ahead * ahead + above * above - radius * radius).max(zero).sqrt();
    let angle = ahead.atan2(above) - straight.atan2(radius);
    if !(angle > zero) {
        return (zero, zero);
    }
    let flat = straight + radius * angle;
    ((flat * flat + aside * aside).sqrt() - chord, angle)
}
