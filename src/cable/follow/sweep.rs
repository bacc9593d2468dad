//! Obstacles that a straight segment has jumped over, or entered, within one step.

use nalgebra::{Point3, UnitQuaternion, Vector3};

use crate::cable::model::places::Wrap;
use crate::cable::solve::node::{Metered, Node, SpanProblem, Trial};
use crate::math::Real;

/// Places the cable on the first obstacle through which the straight segment beside it, free before and after, passed
/// on the way from its remembered place, if it moved as a [`Sweep`]. Free nodes hold the segments that pass them.
///
/// Passages wider than a quarter of the obstacle's size are found. Over less the cable would have slipped off.
pub(crate) fn touch_jumped<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>]) -> Option<usize> {
    for (k, node) in nodes.iter_mut().enumerate() {
        let Some(wrap) = span.wraps.get(node.obstacle) else { continue };
        // A segment from a point on the surface only seems to pass through it.
        if node.in_contact || node.ignored || node.on_surface != [false; 2] {
            continue;
        }
        let surface = span.surface(node);
        let here = (node.trial.point, node.trial.tangent);
        let Some(before) = wrap.passing().or_else(|| touching(surface, wrap, here)) else { continue };
        let sweep = Sweep::new(surface, span.obstacle(node).is_convex, before, here);
        let Some((met, tangent)) = sweep.meets(surface) else { continue };
        let passed = if wrap.in_contact { wrap.point } else { sweep.passed(surface) };
        let point = facing(surface, passed, surface.retract(&met));
        node.begin(Trial { point, tangent, length: T::zero() });
        return Some(k);
    }
    None
}

/// The point where the cable is placed on an obstacle through which a straight segment runs: where the segment entered
/// it on the way from its remembered place; otherwise at `deepest`, unless that is on the far side of where the cable
/// passed before.
pub(crate) fn entry<T: Real>(
    span: &SpanProblem<'_, T>,
    node: &Node<T>,
    here: (Point3<T>, Vector3<T>),
    deepest: &Point3<T>,
) -> Point3<T> {
    let surface = span.surface(node);
    let Some(wrap) = span.wraps.get(node.obstacle) else { return surface.retract(deepest) };
    let (passed, met) = if let Some(before) = wrap.passing() {
        let sweep = Sweep::new(surface, span.obstacle(node).is_convex, before, here);
        (sweep.passed(surface), sweep.meets(surface).map_or(*deepest, |(met, _)| met))
    } else if wrap.known && wrap.in_contact {
        (wrap.point, *deepest)
    } else {
        return surface.retract(deepest);
    };
    facing(surface, passed, surface.retract(&met))
}

/// The second of two points on a surface, unless it is on the far side of the first.
fn facing<T: Real>(surface: Metered<'_, T>, passed: Point3<T>, met: Point3<T>) -> Point3<T> {
    if surface.gradient(&passed).dot(&surface.gradient(&met)) < T::zero() { passed } else { met }
}

/// The tangent at the middle of a remembered contact, as long as a segment: the place of the cable when it left.
fn touching<T: Real>(
    surface: Metered<'_, T>,
    wrap: &Wrap<T>,
    (from, along): (Point3<T>, Vector3<T>),
) -> Option<(Point3<T>, Vector3<T>)> {
    if !wrap.in_contact {
        return None;
    }
    let half = wrap.length * T::lit(0.5);
    let middle = surface.follow(&wrap.point, &wrap.tangent, half);
    let (p, t) = (middle.point, middle.tangent);
    let reach = [(p - from).norm(), (p - (from + along)).norm()];
    Some((p - t * reach[0], t * (reach[0] + reach[1])))
}

/// Whether a straight segment beside a contact on an obstacle that was jumped over passed through the obstacle
/// elsewhere on the way, so that there is another contact.
pub(crate) fn jumped_further<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> bool {
    nodes.iter().enumerate().any(|(k, node)| {
        let Some(wrap) = span.wraps.get(node.obstacle) else { return false };
        let (Some((a, along)), true) = (wrap.passing(), node.in_contact && node.jumped) else {
            return false;
        };
        let before = nodes[..k].iter().rev().find(|node| node.in_contact);
        let after = nodes[k + 1..].iter().find(|node| node.in_contact);
        let from = node.to_surface(&before.map_or(span.from, |node| node.ground.end.point));
        let to = node.to_surface(&after.map_or(span.to, |node| node.ground.start.point));
        let [start, end] = [&node.ground.start, &node.ground.end].map(|end| node.to_surface(&end.point));
        // The place of the contact on the remembered segment.
        let (arriving, leaving) = (start - from, to - end);
        let u = arriving.norm() / (arriving.norm() + leaving.norm());
        let surface = span.surface(node);
        let passes = |before, here| Sweep::straight(before, here).meets(surface).is_some();
        !span.obstacle(node).is_convex
            && (passes((a, along * u), (from, arriving))
                || passes((a + along * u, along * (T::one() - u)), (end, leaving)))
    })
}

/// The motion of a straight segment beside a solid, in the surface's frame.
///
/// Only its places before and after are known. Its ends moved along straight lines, unless the motion is almost only a turn
/// about the origin, as of a convex solid that turns beside a cable at rest.
struct Sweep<T: Real> {
    /// The rotation vector \[rad\].
    turn: Vector3<T>,
    /// The segment before, turned.
    before: (Point3<T>, Vector3<T>),
    here: (Point3<T>, Vector3<T>),
}

impl<T: Real> Sweep<T> {
    fn straight(before: (Point3<T>, Vector3<T>), here: (Point3<T>, Vector3<T>)) -> Self {
        Self { turn: Vector3::zeros(), before, here }
    }

    fn new(
        surface: Metered<'_, T>,
        is_convex: bool,
        before: (Point3<T>, Vector3<T>),
        here: (Point3<T>, Vector3<T>),
    ) -> Self {
        /// By so much the motion in the turned frame must be shorter: most of it is the turn.
        const SHORTER: f64 = 8.0;
        let straight = Self::straight(before, here);
        let way = |sweep: &Self| {
            let [start, end] = sweep.motions();
            start.norm() + end.norm()
        };
        // Too short to pass through the solid either way. A hollow that turns may pass through a cable at rest.
        if !is_convex || way(&straight) <= T::lit(0.25) * surface.size() {
            return straight;
        }
        let rotation = rotation_between(&before, &here);
        let turn = rotation.scaled_axis();
        let turned = Self { turn, before: (rotation * before.0, rotation * before.1), here };
        let through = way(&turned) * T::lit(SHORTER) + turn.norm() * surface.size();
        if through < way(&straight) { turned } else { straight }
    }

    /// The motions of both ends, apart from the turn.
    fn motions(&self) -> [Vector3<T>; 2] {
        let ((before, along), (here, tangent)) = (self.before, self.here);
        [here - before, here + tangent - before - along]
    }

    /// The point of the surface nearest to the segment before, turned.
    fn passed(&self, surface: Metered<'_, T>) -> Point3<T> {
        let (before, along) = self.before;
        surface.retract(&surface.closest_on_segment(&before, &(before + along)).0)
    }

    /// Where the segment first passed through the solid: the deepest point, and the segment.
    fn meets(&self, surface: Metered<'_, T>) -> Option<(Point3<T>, Vector3<T>)> {
        const MOST_PLACES: u32 = 256;
        let [start, end] = self.motions();
        let (before, along) = self.before;
        let motion = start.norm().max(end.norm());
        let step = T::lit(0.25) * surface.size();
        if motion <= step {
            return None;
        }
        let wanted = (motion / step).to_f64();
        let (mut count, mut x) = (1_u32, 1.0);
        while count < MOST_PLACES && x < wanted {
            (count, x) = (2 * count, 2.0 * x);
        }
        (1..count).take_while(|_| !surface.budget.is_spent()).find_map(|i| {
            let part = T::lit(f64::from(i)) / T::lit(f64::from(count));
            let back = UnitQuaternion::from_scaled_axis(self.turn * (part - T::one()));
            let (a, tangent) = (back * (before + start * part), back * (along + (end - start) * part));
            let (point, height) = surface.closest_on_segment(&a, &(a + tangent));
            let is_inside = height < -T::negligible() * T::lit(8.0) * surface.size();
            is_inside.then_some((point, tangent))
        })
    }
}

/// The rotation about the origin from one line, given by a point and a direction, to another: the least from direction to
/// direction, and then about that, as far as the second point. A line on the other side has crossed over rather than turned
/// about itself.
fn rotation_between<T: Real>(
    (before, along): &(Point3<T>, Vector3<T>),
    (here, tangent): &(Point3<T>, Vector3<T>),
) -> UnitQuaternion<T> {
    let rotation = turn(along, tangent);
    let across = |p: Point3<T>| p.coords - tangent * (tangent.dot(&p.coords) / tangent.norm_squared());
    let offsets = [across(rotation * before), across(*here)];
    let twist = if offsets[0].dot(&offsets[1]) > T::zero() {
        turn(&offsets[0], &offsets[1])
    } else {
        UnitQuaternion::identity()
    };
    twist * rotation
}

/// The least rotation from one direction to another; none if it is not determined.
fn turn<T: Real>(from: &Vector3<T>, to: &Vector3<T>) -> UnitQuaternion<T> {
    let cross = from.cross(to);
    let sine = cross.norm();
    if sine <= T::default_epsilon() * from.norm() * to.norm() {
        return UnitQuaternion::identity();
    }
    UnitQuaternion::from_scaled_axis(cross * (sine.atan2(from.dot(to)) / sine))
}
