//! The problem between two fixed points of a cable.

use nalgebra::Point3;

use super::node::Node;
use super::obstacle::Obstacle;
use super::settings::Settings;
use super::wrap::Wrap;
use super::wrappable::Wrappable;
use crate::math::Real;

/// The problem between two fixed points.
#[derive(Debug)]
pub(super) struct SpanProblem<'a, T: Real> {
    pub(super) from: Point3<T>,
    pub(super) to: Point3<T>,
    pub(super) obstacles: &'a [Obstacle<T>],
    /// The memory of the first contact of each obstacle; empty without memory.
    pub(super) wraps: &'a [Wrap<T>],
    /// The memory of further contacts, in order: as many of each obstacle as there is room for.
    pub(super) further: &'a [Wrap<T>],
    pub(super) settings: &'a Settings<T>,
}

impl<'a, T: Real> SpanProblem<'a, T> {
    /// The obstacle of a node.
    #[inline]
    pub(super) fn obstacle(&self, node: &Node<T>) -> &'a Obstacle<T> {
        &self.obstacles[node.obstacle]
    }

    /// The surface of a node's obstacle.
    #[inline]
    pub(super) fn surface(&self, node: &Node<T>) -> &'a dyn Wrappable<T> {
        self.obstacle(node).surface()
    }
}

/// The cost of one search of a line, in evaluations of a surface.
pub(super) const SEARCH: usize = 50;

/// The cost of finding that a line need not be searched.
pub(super) const CLEARED: usize = 5;

/// The work done on a span, in evaluations of surfaces, and its limit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Budget {
    pub(super) spent: usize,
    pub(super) limit: usize,
}

impl Budget {
    #[inline]
    pub(super) fn spend(&mut self, evaluations: usize) {
        self.spent += evaluations;
    }

    /// What may still be spent.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.spent)
    }

    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.spent >= self.limit
    }
}

/// The point where the cable is laid on an obstacle newly touched: the deepest point, unless that is on the far
/// side from where the cable passed before.
pub(super) fn side<T: Real>(
    wrap: Option<&Wrap<T>>,
    surface: &dyn Wrappable<T>,
    deepest: Point3<T>,
) -> Point3<T> {
    let Some(wrap) = wrap else { return deepest };
    let passed = if wrap.known && wrap.in_contact {
        wrap.point
    } else if let Some((start, along)) = wrap.passing() {
        surface.retract(&surface.closest_on_segment(&start, &(start + along)).point)
    } else {
        return deepest;
    };
    if surface.gradient(&passed).dot(&surface.gradient(&deepest)) < T::zero() { passed } else { deepest }
}
