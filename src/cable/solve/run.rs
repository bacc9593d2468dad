//! One run of the solver on a span: the contacts on which it iterates, and its budget.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use crate::cable::geodesics::geodesic::GeodesicEnd;
use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::solve::node::Node;
use crate::math::Real;

/// The accuracy of geodesics in a search \[rad\].
pub(crate) const ACCURACY: f64 = 1e-6;

/// The cost of one search of a line, in evaluations of a surface.
pub(crate) const SEARCH: usize = 50;

/// The cost of finding that a line needs no search.
pub(crate) const CLEARED: usize = 5;

/// The work done on a span, in evaluations of surfaces, and its limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Budget {
    pub(crate) spent: usize,
    pub(crate) limit: usize,
}

impl Budget {
    #[inline]
    pub(crate) fn spend(&mut self, evaluations: usize) {
        self.spent += evaluations;
    }

    /// What may still be spent.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.limit.saturating_sub(self.spent)
    }

    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.spent >= self.limit
    }

    /// Follows a geodesic in a search, at any cost; returns its end.
    pub(crate) fn follow<T: Real>(
        &mut self,
        surface: &dyn Wrappable<T>,
        p: &Point3<T>,
        direction: &Vector3<T>,
        length: T,
    ) -> GeodesicEnd<T> {
        let geodesic = surface.geodesic(p, direction, length, T::lit(ACCURACY), usize::MAX);
        self.spend(1 + geodesic.evaluations);
        geodesic.end
    }
}

/// One run of the solver on a span.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// The nodes in contact, on which Newton's method works.
    pub(crate) active: Vec<usize>,
    pub(crate) budget: Budget,
}

impl Run {
    /// Finds the nodes in contact.
    pub(crate) fn activate<T: Real>(&mut self, nodes: &[Node<T>]) {
        self.active.clear();
        self.active.extend((0..nodes.len()).filter(|&k| nodes[k].in_contact));
    }
}
