//! Friction between a cable and the surfaces it touches.

pub(crate) mod drum;
pub(crate) mod remember;
pub(crate) mod slip;
pub(crate) mod strand_derivatives;
pub(crate) mod strand_law;
pub(crate) mod strands;
