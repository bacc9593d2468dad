//! One run of the solver on a span: the contacts on which it iterates, and its budget.

use alloc::vec::Vec;

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
}

/// One run of the solver on a span.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// The nodes in contact, on which Newton's method works.
    pub(crate) active: Vec<usize>,
    pub(crate) budget: Budget,
}
