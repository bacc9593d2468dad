//! A user's law of the element.

use alloc::sync::Arc;
use core::fmt;

use super::Parameters;
use crate::math::Real;

/// A user's law for the scalar force `f`, given time, displacement, velocity and the parameters.
#[derive(Clone)]
pub(super) struct ForceLaw<T: Real>(pub(super) Arc<Law<T>>);

pub(super) type Law<T> = dyn Fn(T, T, T, &Parameters<T>) -> LawForce<T> + Send + Sync;

/// A force with its energy, as a user's [force and energy law](super::CoordinateSpringDamperExt::with_force_and_energy_law)
/// returns it.
///
/// A law is consistent if `force·v` is the rate of `potential_energy` plus `power_dissipated − power_supplied`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LawForce<T: Real> {
    /// The force `f` \[N\].
    pub force: T,
    /// The energy stored \[J\].
    pub potential_energy: T,
    /// The power dissipated \[W\].
    pub power_dissipated: T,
    /// The power supplied by a drive within the law \[W\].
    pub power_supplied: T,
}

impl<T: Real> fmt::Debug for ForceLaw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForceLaw")
    }
}
