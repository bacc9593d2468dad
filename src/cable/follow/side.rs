//! Cables confined to one side of an obstacle.
//!
//! A side is a direction across an axis. The region behind the axis is the half-plane through it that points away from
//! the side; a path passes behind if it crosses that half-plane with the solid in front of it. The axis is that of the
//! surface or, if it has none, the line through the origin across the side and the straight line between the
//! neighbouring points.

use nalgebra::{Point3, Vector3};

use crate::cable::solve::contacts::{contacts_of, lay_along, neighbours};
use crate::cable::{Metered, Node, Obstacle, PathError, SpanProblem, Trial};
use crate::math::{Real, Requirement, check, is_finite};

/// The solid counts as in front of a point if it is thicker than this fraction of its size, or if its normal faces away
/// from the side by more than this.
const TOLERANCE: f64 = 1e-6;

impl<T: Real> Obstacle<T> {
    /// The same obstacle, which the cable must pass on one side: a direction in the surface's frame.
    ///
    /// ```text
    ///            side
    ///             ▲            a path over the front, though the straight line from A to B passes behind
    ///         ,--~~~--.
    ///        (    +    )       + axis
    ///       / `-------' \
    ///      A      ·      B
    ///             ·            behind
    /// ```
    ///
    /// This holds at every solution, independent of memory: a remembered path on another side, or with another number of
    /// windings, is discarded. Of several paths on the side, the remembered one is followed, so the length may depend on
    /// memory. On a sphere or a cylinder without ends it does not, if no other obstacle of the span has a side. With
    /// several such obstacles there may be more than one path in front of all of them, since the neighbouring points of
    /// one are on others. Without memory several paths are searched for, and the shortest found is returned. If the
    /// straight line runs through more than one of these obstacles, it may not be the shortest, and a path that must
    /// touch several may not be found.
    ///
    /// The cable passes in front of an axis: that of the surface ([`axis`](crate::cable::Wrappable::axis)), as for a
    /// cylinder, or the line through the origin of its frame across the side and the straight line between the
    /// neighbouring points of the cable. It must not cross the half-plane behind the axis where the solid is in front of
    /// it. It may leave the solid, and pass beside it where the solid ends. It is not moved to the front if both
    /// neighbouring points are on one side of the axis, nor is it kept from touching places that face away from the side
    /// before it crosses over.
    ///
    /// A solid without an axis, such as a ball, does not hold a cable over its front when the straight line passes
    /// behind: the cable would slip off sideways. The cable is then held as in a groove, on a path that is stationary but
    /// not the shortest sideways, up to half a turn about a ball. Its force is still the derivative of its length.
    ///
    /// The length is continuous, with two exceptions: where a neighbouring point passes right behind the axis; and, on
    /// solids that end, where the straight line moves behind the solid from beside it, or over a place that faces neither
    /// to the side nor away from it. If no path is found over the front, the error is [`PathError::SideNotKept`]. A
    /// contact hint has no effect on the side.
    ///
    /// # Errors
    /// [`PathError::NonFinite`] if the direction is not finite; [`PathError::InvalidValue`] if it is zero or along the
    /// axis of the surface, or if the origin is not inside the solid, as for a torus.
    pub fn confined_to(mut self, side_S: Vector3<T>) -> Result<Self, PathError> {
        if !is_finite(&side_S) {
            return Err(PathError::NonFinite);
        }
        let across = self.surface().axis().map_or(side_S, |axis| side_S - axis * axis.dot(&side_S));
        let reach = across.norm();
        let is_across = reach > T::default_epsilon() * T::lit(1e3) * side_S.norm();
        check::that(is_across, "side across the axis", reach, Requirement::Positive)?;
        let depth = -self.surface().value(&Point3::origin());
        check::that(depth > T::zero(), "depth of the origin", depth, Requirement::Positive)?;
        self.side_S = Some(across / reach);
        Ok(self)
    }

    /// The side to which the cable is confined, a unit vector in the surface's frame.
    pub fn side(&self) -> Option<&Vector3<T>> {
        self.side_S.as_ref()
    }
}

/// The side of an obstacle, with the direction across it in which the cable passes.
struct Passage<'a, T: Real> {
    surface: Metered<'a, T>,
    side: Vector3<T>,
    across: Vector3<T>,
}

impl<'a, T: Real> Passage<'a, T> {
    /// `None` if the obstacle has no side, or the cable runs along it.
    fn new(span: &SpanProblem<'a, T>, node: &Node<T>, before: &Point3<T>, after: &Point3<T>) -> Option<Self> {
        let side = *span.obstacle(node).side()?;
        let surface = span.surface(node);
        let along = surface.axis().map_or(after - before, |axis| axis.cross(&side));
        let across = along - side * side.dot(&along);
        let is_across = across.norm_squared() > T::default_epsilon() * along.norm_squared();
        is_across.then(|| Self { surface, side, across: across.normalize() })
    }

    /// The point where the straight line from `a` to `b` crosses the half-plane behind the axis.
    fn behind(&self, a: &Point3<T>, b: &Point3<T>) -> Option<Point3<T>> {
        let [from, to] = [a, b].map(|p| p.coords.dot(&self.across));
        if (from < T::zero()) == (to < T::zero()) {
            return None;
        }
        let crossing = a + (b - a) * (from / (from - to));
        (crossing.coords.dot(&self.side) < T::zero()).then_some(crossing)
    }

    /// Whether the straight line from `a` to `b` passes behind the solid.
    fn is_behind(&self, a: &Point3<T>, b: &Point3<T>) -> bool {
        self.behind(a, b).is_some_and(|crossing| {
            let reach = crossing.coords.dot(&self.side) * T::lit(-2.0);
            let (_, height) = self.surface.closest_on_segment(&crossing, &(crossing + self.side * reach));
            height < T::lit(-TOLERANCE) * self.surface.size()
        })
    }

    /// Whether the surface faces away from the side where it is crossed.
    fn faces_back(&self, crossing: &Point3<T>) -> bool {
        let normal = self.surface.gradient(&self.surface.retract(crossing)).normalize();
        normal.dot(&self.side) < T::lit(-TOLERANCE)
    }

    /// The cable placed over the front of the solid where it passes; `None` if it passes beside the solid.
    fn over_front(&self, crossing: &Point3<T>, ends: [&Point3<T>; 2]) -> Option<Trial<T>> {
        let on_axis = crossing - self.side * self.side.dot(&crossing.coords);
        if self.surface.value(&on_axis) >= T::zero() {
            return None;
        }
        let mut reach = self.surface.size();
        let mut place = on_axis;
        for _ in 0..40 {
            place = on_axis + self.side * reach;
            if self.surface.value(&place) > T::zero() {
                break;
            }
            reach += reach;
        }
        let point = self.surface.retract(&place);
        // Along an axis the cable turns less than the straight line: its way around is longer.
        let along = ends[1] - ends[0];
        let tangent = self.surface.axis().map_or(along, |axis| along - axis * axis.dot(&along));
        Some(lay_along(self.surface, &Trial { point, tangent, length: T::zero() }, ends[0], ends[1]))
    }
}

/// The cable placed over the front of an obstacle, if the straight line from `a` to `b` passes behind it.
pub(crate) fn in_front<T: Real>(
    span: &SpanProblem<'_, T>,
    node: &Node<T>,
    a: &Point3<T>,
    b: &Point3<T>,
) -> Option<Trial<T>> {
    let passage = Passage::new(span, node, a, b)?;
    let crossing = passage.behind(a, b)?;
    passage.over_front(&crossing, [a, b])
}

/// The first node of an obstacle that the path passes behind.
pub(crate) fn passing_behind<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>]) -> Option<usize> {
    if span.acting().all(|obstacle| obstacle.side().is_none()) {
        return None;
    }
    let mut obstacle = None;
    (0..nodes.len()).find(|&k| {
        let node = &nodes[k];
        // Once for all contacts of an obstacle.
        if node.ignored || obstacle.replace(node.obstacle) == Some(node.obstacle) {
            return false;
        }
        let [before, after] = neighbours(span, nodes, node);
        let Some(passage) = Passage::new(span, node, &before, &after) else { return false };
        // From one point to the next without a gap: a path may meet the half-plane where a contact begins or ends.
        let mut at = before;
        for contact in contacts_of(nodes, node.obstacle) {
            let start = node.end_to_surface(&contact.ground.start).point;
            if passage.is_behind(&at, &start) {
                return true;
            }
            at = start;
            // Chords of parts that turn by half a radian stay close to the surface.
            for part in contact.parts(passage.surface, T::lit(0.5)) {
                let end = part.end.point;
                if passage.behind(&at, &end).is_some_and(|crossing| passage.faces_back(&crossing)) {
                    return true;
                }
                at = end;
            }
        }
        passage.is_behind(&at, &after)
    })
}

/// Whether a path is accepted that is stationary but not shortest: over the front of a solid without an axis, if the
/// straight line passes behind. Only the confinement keeps such a path from slipping off sideways.
pub(crate) fn is_held<T: Real>(span: &SpanProblem<'_, T>, nodes: &[Node<T>], node: &Node<T>) -> bool {
    let obstacle = span.obstacle(node);
    if obstacle.side().is_none() || obstacle.surface().axis().is_some() || node.ground.passes_conjugate_point
    {
        return false;
    }
    let [before, after] = neighbours(span, nodes, node);
    Passage::new(span, node, &before, &after).is_some_and(|passage| passage.is_behind(&before, &after))
}

/// Places the cable over the front of an obstacle that it passes freely; returns whether it does.
pub(crate) fn bring_to_front<T: Real>(span: &SpanProblem<'_, T>, nodes: &mut [Node<T>], k: usize) -> bool {
    if nodes[k].in_contact || nodes[k].ignored {
        return false;
    }
    let [before, after] = neighbours(span, nodes, &nodes[k]);
    let trial = in_front(span, &nodes[k], &before, &after);
    if let Some(trial) = trial {
        nodes[k].begin(trial);
    }
    trial.is_some()
}
