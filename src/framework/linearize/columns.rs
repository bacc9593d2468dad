//! Laws over dual numbers whose directions are variables of the element.

use nalgebra::{Point3, Vector3};

use super::blocks::Blocks;
use crate::math::{Dual, Number, Real, SpatialForce};
use crate::mechanics::BodyIndex;

/// All `N` variables of an element, one after the other as they are declared: time, parameters, discrete and continuous
/// variables. Each is a direction.
#[derive(Debug)]
pub(crate) struct Columns<const N: usize> {
    next: usize,
}

impl<const N: usize> Columns<N> {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { next: 0 }
    }

    /// The next variable.
    #[inline]
    pub(crate) fn number<T: Real>(&mut self, value: T) -> Dual<T, N> {
        let direction = self.next;
        self.next += 1;
        Dual::variable(value, direction)
    }
}

impl<T: Real> Blocks<'_, T> {
    /// Adds the derivatives of a force at a point of the second body; `in_Ground` is what a change of its components is there.
    pub(crate) fn add_between_in_columns<const N: usize>(
        &mut self,
        bodies: [BodyIndex; 2],
        p_GM: &Point3<T>,
        force: &Vector3<Dual<T, N>>,
        in_Ground: impl Fn(Vector3<T>) -> SpatialForce<T>,
    ) {
        for direction in 0..N {
            let change = force.map(|component| component.slopes[direction]);
            if !change.iter().all(|slope| slope.vanishes()) {
                self.add_between_by_variable(bodies, p_GM, direction, &in_Ground(change));
            }
        }
    }
}
