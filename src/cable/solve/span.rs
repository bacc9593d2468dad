//! The problem between two fixed points of a cable.

use nalgebra::Point3;

use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::model::obstacle::Obstacle;
use crate::cable::model::settings::Settings;
use crate::cable::model::wrap::Wrap;
use crate::cable::solve::node::Node;
use crate::math::Real;

/// The problem between two fixed points.
#[derive(Debug)]
pub(crate) struct SpanProblem<'a, T: Real> {
    pub(crate) from: Point3<T>,
    pub(crate) to: Point3<T>,
    pub(crate) obstacles: &'a [Obstacle<T>],
    /// The memory of the first contact of each obstacle; empty without memory.
    pub(crate) wraps: &'a [Wrap<T>],
    /// The memory of further contacts, in order: as many of each obstacle as there is room for.
    pub(crate) further: &'a [Wrap<T>],
    pub(crate) settings: &'a Settings<T>,
}

impl<'a, T: Real> SpanProblem<'a, T> {
    /// The obstacle of a node.
    #[inline]
    pub(crate) fn obstacle(&self, node: &Node<T>) -> &'a Obstacle<T> {
        &self.obstacles[node.obstacle]
    }

    /// The largest number of contacts.
    pub(crate) fn most_contacts(&self) -> usize {
        self.obstacles.iter().map(|obstacle| obstacle.most_contacts).sum()
    }

    /// The surface of a node's obstacle.
    #[inline]
    pub(crate) fn surface(&self, node: &Node<T>) -> &'a dyn Wrappable<T> {
        self.obstacle(node).surface()
    }
}

/// The point where the cable is placed on a newly touched obstacle: the deepest point, unless that is on the far side
/// of where the cable passed before.
pub(crate) fn side<T: Real>(
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
