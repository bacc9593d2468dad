//! Plans of a path without memory: the side on which it passes each obstacle, with one bead on each that it touches.
//!
//! A plan is a polygon whose beads are the middles of the contacts. Its length is estimated with arcs of the surface's
//! curvature at the beads, which is exact for a circle. Plans are completed in the order of their lengths, starting
//! with the straight line: the obstacle into which the polygon runs deepest is passed on each of the sides that its
//! surface [lists](crate::cable::Wrappable::passages). The lengths are estimates, not bounds: a plan that is skipped is
//! not proved to be longer.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::solve::contacts::lay_along;
use crate::cable::{GeodesicEnd, Node, SpanProblem, Trial, Wrappable};
use crate::math::{Real, default_by_field, is_finite};

/// The largest number of plans per obstacle, which bounds the work if many obstacles interfere.
const MOST_PLANS: usize = 24;

/// The largest number of times that each bead of a plan is moved.
const SWEEPS: usize = 20;

/// A plan and its evaluation.
#[derive(Debug, Clone, Copy)]
struct Plan<T: Real> {
    /// Its estimated length, and this length with a penalty for each hint that it does not follow.
    length: T,
    score: T,
    /// The obstacle that it does not pass correctly.
    conflict: Option<usize>,
    is_open: bool,
}

/// Plans, kept to avoid allocation.
#[derive(Debug)]
pub(crate) struct Plans<T: Real> {
    list: Vec<Plan<T>>,
    /// The beads of one plan after another, one per obstacle.
    beads: Vec<Bead<T>>,
    /// The penalties of hints without a known class that are not followed: half the girth of the obstacle. Zero for an
    /// obstacle without such a hint, or without a choice.
    penalties: Vec<T>,
}

default_by_field!(Plans { list, beads, penalties });

impl<T: Real> Plans<T> {
    /// Begins with the straight line and, if there are hints without a known class, the polygon through these.
    pub(crate) fn begin(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>]) {
        self.list.clear();
        self.beads.clear();
        self.penalties.clear();
        let count = nodes.len();
        let nothing = Bead { is_pressed: false, middle: GeodesicEnd::blank(), arcs: [T::zero(); 2] };
        self.beads.resize(count, nothing);
        let girth = |node: &Node<T>| {
            soft_hint(span, node)?;
            let (a, b) = (node.to_surface(&span.from), node.to_surface(&span.to));
            let surface = span.surface(node);
            let [near, far, ..] = surface.passages(&a, &b, &surface.closest_on_segment(&a, &b).0);
            near.zip(far).map(|(near, far)| (near - far).norm() * T::frac_pi_2() * node.scale)
        };
        self.penalties.extend(nodes.iter().map(|node| girth(node).unwrap_or(T::zero())));
        self.complete(span, nodes);
        if self.penalties.iter().all(|penalty| *penalty <= T::zero()) {
            return;
        }
        let first = self.beads.len();
        self.beads.resize(first + count, nothing);
        for (k, node) in nodes.iter().enumerate() {
            if let Some(hint) = soft_hint(span, node).filter(|_| self.penalties[k] > T::zero()) {
                let beads = &mut self.beads[first..];
                let [a, b] = neighbours(span, beads, k);
                beads[k] = laid(&*span.surface(node), node, &hint, &a, &b);
            }
        }
        self.complete(span, nodes);
    }

    /// The place of the next completed plan in the order of scores below `most`; `None` when the budget is spent.
    pub(crate) fn next(
        &mut self,
        span: &SpanProblem<'_, T>,
        nodes: &[Node<T>],
        most: Option<T>,
    ) -> Option<usize> {
        while !span.budget.is_spent() {
            let (list, open) = (&self.list, (0..self.list.len()).filter(|&i| self.list[i].is_open));
            let best = open.reduce(|best, i| if list[i].score < list[best].score { i } else { best });
            let place = best.filter(|&i| most.is_none_or(|most| self.list[i].score < most))?;
            let plan = &mut self.list[place];
            plan.is_open = false;
            match plan.conflict {
                Some(k) => self.branch(span, nodes, place, k),
                None => return Some(place),
            }
        }
        None
    }

    /// The penalty of a path for the hints that it does not follow; zero if it touches an obstacle more than once.
    pub(crate) fn penalty(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> T {
        let has_penalties = self.penalties.iter().any(|penalty| *penalty > T::zero());
        if !has_penalties || nodes.len() != self.penalties.len() {
            return T::zero();
        }
        let first = self.beads.len();
        self.beads.extend(nodes.iter().map(|node| {
            let Trial { point, tangent, length } = node.trial;
            let half = T::lit(0.5) * length;
            let middle = span.surface(node).follow(&point, &tangent, half);
            let turn = half * middle.curvature;
            Bead { is_pressed: node.in_contact, middle: node.end_to_ground(&middle), arcs: [turn, turn] }
        }));
        let penalty = penalties_of(span, nodes, &self.beads[first..], &self.penalties);
        self.beads.truncate(first);
        penalty
    }

    /// Writes a plan into the nodes: contacts with both arcs.
    pub(crate) fn write(&self, span: &SpanProblem<'_, T>, nodes: &mut [Node<T>], place: usize) {
        let beads = &self.beads[place * nodes.len()..][..nodes.len()];
        for (k, (node, bead)) in nodes.iter_mut().zip(beads).enumerate() {
            node.in_contact = false;
            if !bead.is_pressed {
                continue;
            }
            let [back, ahead] = bead.arcs;
            let GeodesicEnd { mut point, mut tangent, curvature, .. } = node.end_to_surface(&bead.middle);
            let mut length = T::zero();
            if back + ahead > T::zero() {
                let start = span.surface(node).follow(&point, &tangent, -back / curvature);
                (point, tangent) = (start.point, start.tangent);
                length = (back + ahead) / curvature;
            }
            let mut trial = Trial { point, tangent, length };
            let surface = span.surface(node);
            if surface.has_flats() {
                let [a, b] = neighbours(span, beads, k).map(|p| node.to_surface(&p));
                trial = lay_along(surface, &trial, &a, &b);
            }
            node.begin(trial);
        }
    }

    /// Adds the plans in which an obstacle is passed on each of its sides.
    fn branch(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>], parent: usize, k: usize) {
        let count = nodes.len();
        let (node, surface) = (&nodes[k], span.surface(&nodes[k]));
        let of_parent = parent * count..(parent + 1) * count;
        let [a_G, b_G] = neighbours(span, &self.beads[of_parent.clone()], k);
        let [a, b] = [a_G, b_G].map(|p| node.to_surface(&p));
        let closest = surface.closest_on_segment(&a, &b).0;
        let passages = surface.passages(&a, &b, &closest);
        let hint = span.obstacle(node).place_of_hint();
        for p in passages.into_iter().chain([hint]).flatten() {
            if self.list.len() >= MOST_PLANS * count || span.budget.is_spent() {
                return;
            }
            let first = self.beads.len();
            self.beads.extend_from_within(of_parent.clone());
            self.beads[first + k] = laid(&*surface, node, &p, &a_G, &b_G);
            self.complete(span, nodes);
        }
    }

    /// Relaxes the last beads, and adds the plan with them unless it equals another.
    fn complete(&mut self, span: &SpanProblem<'_, T>, nodes: &[Node<T>]) {
        let count = nodes.len();
        let first = self.beads.len() - count;
        let (known, beads) = self.beads.split_at_mut(first);
        relax(span, nodes, beads);
        let length = measure(span, beads);
        let is_like = |other: &[Bead<T>]| {
            other.iter().zip(&*beads).zip(nodes).all(|((a, b), node)| {
                a.is_pressed == b.is_pressed
                    && (!a.is_pressed
                        || (a.middle.point - b.middle.point).norm() < span.size(node) * T::lit(0.1))
            })
        };
        let is_known = self
            .list
            .iter()
            .zip(known.chunks(count))
            .any(|(plan, other)| (plan.length - length).abs() < T::lit(0.01) * length && is_like(other));
        let conflict = if is_known || !length.is_finite() { Err(()) } else { conflict(span, nodes, beads) };
        let Ok(conflict) = conflict else {
            self.beads.truncate(first);
            return;
        };
        let score = length + penalties_of(span, nodes, beads, &self.penalties);
        self.list.push(Plan { length, score, conflict, is_open: true });
    }
}

/// The beads of a plan before and after that of an obstacle.
fn beads_around<T: Real>(beads: &[Bead<T>], k: usize) -> [Option<&Bead<T>>; 2] {
    let before = beads[..k].iter().rfind(|bead| bead.is_pressed);
    [before, beads[k + 1..].iter().find(|bead| bead.is_pressed)]
}

/// The points before and after an obstacle.
fn neighbours<T: Real>(span: &SpanProblem<'_, T>, beads: &[Bead<T>], k: usize) -> [Point3<T>; 2] {
    let [before, after] = beads_around(beads, k);
    [before.map_or(span.from, |bead| bead.middle.point), after.map_or(span.to, |bead| bead.middle.point)]
}

/// Moves beads to the middles of the contacts of a taut cable. Beads on which it does not press are released.
fn relax<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], beads: &mut [Bead<T>]) {
    for _ in 0..SWEEPS {
        let mut largest = T::zero();
        for (k, node) in nodes.iter().enumerate() {
            if !beads[k].is_pressed {
                continue;
            }
            let [a, b] = neighbours(span, beads, k);
            let bead = &mut beads[k];
            span.budget.spend(5);
            if let Some((moved, step)) = shifted(&*span.surface(node), node, &bead.middle, &a, &b) {
                bead.middle = moved;
                largest = largest.max(step);
            } else {
                bead.is_pressed = false;
                largest = T::one();
            }
        }
        if largest < T::lit(0.02) {
            break;
        }
    }
}

/// The estimated length; writes the arcs.
fn measure<T: Real>(span: &SpanProblem<'_, T>, beads: &mut [Bead<T>]) -> T {
    let mut length = T::zero();
    let mut from = span.from;
    for k in 0..beads.len() {
        if !beads[k].is_pressed {
            continue;
        }
        let [a, b] = neighbours(span, beads, k);
        let bead = &mut beads[k];
        let (before, back) = leg(&bead.middle, &a, -T::one());
        let (after, ahead) = leg(&bead.middle, &b, T::one());
        bead.arcs = [back, ahead];
        length += (bead.middle.point - from).norm() + before + after;
        from = bead.middle.point;
    }
    length + (span.to - from).norm()
}

/// The obstacle into which the polygon runs deepest. If there is none, one that the polygon passes in another class than
/// that of its hint, as an error if it touches this obstacle. The class depends on the points before and after, and so on
/// the other obstacles.
fn conflict<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    beads: &[Bead<T>],
) -> Result<Option<usize>, ()> {
    let mut deepest: Option<(usize, T)> = None;
    let mut strayed: Option<usize> = None;
    for (k, node) in nodes.iter().enumerate().filter(|(_, node)| !node.ignored) {
        let bead = &beads[k];
        let obstacle = span.obstacle(node);
        let hint = obstacle.place_of_hint();
        if bead.is_pressed && hint.is_none() {
            continue;
        }
        let surface = span.surface(node);
        let [a, b] = neighbours(span, beads, k).map(|p| node.to_surface(&p));
        if let Some(hint) = hint {
            // The class depends on the ends of the contacts before and after.
            let [before, after] = beads_around(beads, k);
            let from = before.map_or(a, |bead| node.to_surface(&bead.end(T::one())));
            let to = after.map_or(b, |bead| node.to_surface(&bead.end(-T::one())));
            let through = |p: &Point3<T>| Some(surface.winding(&from, p)? + surface.winding(p, &to)?);
            let found = if bead.is_pressed {
                through(&node.to_surface(&bead.middle.point))
            } else {
                surface.winding(&from, &to)
            };
            let differs = |(wanted, found): (T, T)| (wanted - found).abs() > T::one();
            if through(&hint).zip(found).is_some_and(differs) {
                strayed = Some(k);
            }
        }
        if bead.is_pressed {
            continue;
        }
        if !obstacle.is_convex && surface.clears(&a, &b) {
            continue;
        }
        let allowed = T::lit(1e-6).max(T::negligible()) * surface.size();
        let depth = -surface.closest_on_segment(&a, &b).1;
        // Where the surfaces of two obstacles coincide, the cable that touches one touches both.
        let is_on = |other: &Bead<T>| surface.height(&node.to_surface(&other.middle.point)).abs() <= allowed;
        let is_touched = || beads_around(beads, k).into_iter().flatten().any(is_on);
        if depth > allowed && !is_touched() {
            let relative = depth / surface.size();
            if deepest.is_none_or(|(_, most)| relative > most) {
                deepest = Some((k, relative));
            }
        }
    }
    match (deepest, strayed) {
        (Some((k, _)), _) => Ok(Some(k)),
        (None, Some(k)) if beads[k].is_pressed => Err(()),
        (None, strayed) => Ok(strayed),
    }
}

/// The penalties of the hints without a class that the polygon does not follow: it passes on the other side, or
/// winds by more than half a turn.
fn penalties_of<T: Real>(
    span: &SpanProblem<'_, T>,
    nodes: &[Node<T>],
    beads: &[Bead<T>],
    penalties: &[T],
) -> T {
    let mut sum = T::zero();
    for (k, node) in nodes.iter().enumerate().filter(|(k, _)| penalties[*k] > T::zero()) {
        let Some(hint) = soft_hint(span, node) else { continue };
        let bead = &beads[k];
        let surface = span.surface(node);
        let [a, b] = neighbours(span, beads, k).map(|p| node.to_surface(&p));
        let normal = if bead.is_pressed {
            node.X_GS.rotation.inverse() * bead.middle.normal
        } else {
            surface.gradient(&surface.closest_on_segment(&a, &b).0).normalize()
        };
        let along = (b - a).normalize();
        let outwards = surface.gradient(&hint).normalize();
        let sideways = outwards - along * along.dot(&outwards);
        let [back, ahead] = bead.arcs;
        // A hint at the front or at the back of the obstacle does not determine a side.
        let is_beside = sideways.norm() > T::lit(0.2);
        if is_beside && sideways.dot(&normal) < T::zero() || bead.is_pressed && back + ahead > T::pi() {
            sum += penalties[k];
        }
    }
    sum
}

/// The hint of an obstacle whose surface does not distinguish classes.
fn soft_hint<T: Real>(span: &SpanProblem<'_, T>, node: &Node<T>) -> Option<Point3<T>> {
    let hint = span.obstacle(node).place_of_hint().filter(|_| !node.ignored)?;
    span.surface(node).winding(&hint, &hint).is_none().then_some(hint)
}

/// The place of the cable on one obstacle.
#[derive(Debug, Clone, Copy)]
struct Bead<T: Real> {
    is_pressed: bool,
    /// The middle of the contact, in Ground.
    middle: GeodesicEnd<T>,
    /// The angles of the arcs before and after the middle \[rad\].
    arcs: [T; 2],
}

impl<T: Real> Bead<T> {
    /// The estimated first point of the contact, for a negative sense, or the last one.
    fn end(&self, sense: T) -> Point3<T> {
        let GeodesicEnd { point, tangent, normal, curvature, .. } = self.middle;
        let [back, ahead] = self.arcs;
        let angle = if sense < T::zero() { back } else { ahead };
        if curvature <= T::zero() {
            return point;
        }
        let (sin, cos) = angle.sin_cos();
        point + (tangent * (sin * sense) - normal * (T::one() - cos)) / curvature
    }
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
    let middle = node.end_to_ground(&frame(surface, &point, &(to - from)));
    Bead { is_pressed: is_finite(&middle.tangent), middle, arcs: [T::zero(); 2] }
}

/// The frame at the middle of a contact between sides of the cable whose unit vectors differ by `along`. If both leave so
/// steeply that `along` has hardly any component along the surface, the frame is in the direction of the largest
/// curvature near it.
fn frame<T: Real>(surface: &dyn Wrappable<T>, p: &Point3<T>, along: &Vector3<T>) -> GeodesicEnd<T> {
    let end = surface.end(p, along);
    let GeodesicEnd { curvature, torsion, transverse_curvature, .. } = end;
    let (aside, tangent) =
        if end.tangent.dot(along) > T::lit(0.5) && curvature > T::lit(0.05) * transverse_curvature {
            // The mean of the directions at both ends of the contact does not include the part that turns with the normal
            // between them.
            let lacking = (T::lit(4.0) / along.norm_squared() - T::one()).max(T::zero());
            let squared = curvature * curvature;
            let part = lacking / (curvature + (squared + (squared + torsion * torsion) * lacking).sqrt());
            (part * torsion, T::one() + part * curvature)
        } else {
            let angle = T::lit(0.5) * (T::lit(2.0) * torsion).atan2(curvature - transverse_curvature);
            angle.sin_cos()
        };
    surface.end(p, &(end.tangent * tangent + end.binormal() * aside))
}

/// A bead moved towards the middle of the contact of a taut cable, and its turn \[rad\]; `None` if the cable does not
/// press on it.
///
/// At the middle the cable turns equally to both sides; across the cable, its length is minimal there.
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
    let (_, arc_back) = leg(at, a, -T::one());
    let (_, arc_ahead) = leg(at, b, T::one());
    if !(press > T::zero() && arc_back + arc_ahead >= T::zero()) {
        return None;
    }
    let GeodesicEnd { tangent, curvature, torsion, transverse_curvature, .. } = *at;
    let [balance, twist] = if curvature > T::zero() {
        [(arc_ahead - arc_back) * T::lit(0.5) / curvature, torsion / curvature]
    } else {
        [T::zero(); 2]
    };
    // Across a twisted surface the contact moves along the line over which its arcs stay equal.
    let aside = at.binormal() - tangent * twist;
    let [x, y] = [back.dot(&aside), ahead.dot(&aside)];
    let squared = T::one() + twist * twist;
    let stiffness = (squared - x * x) * inverse_back + (squared - y * y) * inverse_ahead;
    let bend = transverse_curvature - torsion * twist;
    let across = (x + y) / (stiffness - bend * press).max(T::lit(0.25) * stiffness);
    let step = tangent * balance + aside * across;
    let tip = tangent * (curvature * balance) + at.binormal() * (torsion * balance + bend * across);
    let turn = tip.norm() + step.norm() * inverse_back.max(inverse_ahead);
    let longest = T::lit(0.6);
    let scale = if turn > longest { longest / turn } else { T::one() };
    let moved = surface.retract(&node.to_surface(&(at.point + step * scale)));
    // A straight step along a thin part would end on another side of it than the side to which the normal turns.
    let normal = node.X_GS.rotation.inverse() * (at.normal + tip * scale).normalize();
    let slip = normal - surface.gradient(&moved).normalize();
    let point = surface.retract(&(moved + slip * surface.size()));
    if !surface.covers(&point) {
        return None;
    }
    let direction = node.X_GS.rotation.inverse() * (ahead - back);
    Some((node.end_to_ground(&frame(surface, &point, &direction)), turn))
}

/// The excess of the way from the middle of a contact to a point over the straight line, if the cable follows the circle
/// of curvature; and the angle of its arc, negative if the point is above the tangent at the middle.
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
    let flat = straight + radius * angle;
    ((flat * flat + aside * aside).sqrt() - chord, angle)
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;

    use super::*;
    use crate::shapes::Sphere;

    #[test]
    fn the_way_from_a_middle_is_exact_over_a_circle() {
        let radius = 0.3_f64;
        let sphere = Sphere::new(radius).expect("positive");
        let middle = sphere.end(&Point3::new(0.0, 0.0, radius), &Vector3::x());
        for (ahead, above, aside) in [(1.0, -0.5, 0.0), (0.2, -0.9, 0.0), (0.7, 0.2, 0.4), (0.1, -0.8, 0.1)] {
            let on_circle = |angle: f64| {
                let (sin, cos) = angle.sin_cos();
                ([radius * sin, radius * cos], [sin, cos])
            };
            // Where the straight line leaves the circle, by bisection.
            let (mut low, mut high) = (0.0, 3.0);
            for _ in 0..60 {
                let angle = 0.5 * (low + high);
                let (at, normal) = on_circle(angle);
                let height = (ahead - at[0]) * normal[0] + (above - at[1]) * normal[1];
                if height < 0.0 { low = angle } else { high = angle }
            }
            let (at, _) = on_circle(low);
            let flat = radius * low + (ahead - at[0]).hypot(above - at[1]);
            let to = Point3::new(ahead, aside, above);
            let chord = (to - middle.point).norm();
            for (sense, to) in [(1.0, to), (-1.0, Point3::new(-ahead, aside, above))] {
                let (longer, angle) = leg(&middle, &to, sense);
                assert!((angle - low).abs() < 1e-12, "{angle} and {low}");
                assert!((longer - (flat.hypot(aside) - chord)).abs() < 1e-12, "{longer}");
            }
        }
    }
}
