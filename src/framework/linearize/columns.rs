//! Laws over dual numbers whose directions are variables of the element.

use nalgebra::{Point3, Vector3};

use super::blocks::{Blocks, Row};
use crate::math::{Dual, Number, Real, SpatialForce, have_same_bits};
use crate::mechanics::BodyIndex;

/// The numbers of an element, one after the other as they are declared: time, parameters, discrete and continuous
/// variables. `N` of them vary.
#[derive(Debug)]
pub(crate) struct Columns<const N: usize> {
    /// The first that varies.
    first: usize,
    /// The one that comes next.
    next: usize,
}

impl<const N: usize> Columns<N> {
    /// The next number.
    #[inline]
    pub(crate) fn number<T: Real>(&mut self, value: T) -> Dual<T, N> {
        let direction = self.next.checked_sub(self.first).filter(|&direction| direction < N);
        self.next += 1;
        direction.map_or_else(|| Dual::of(value), |direction| Dual::variable(value, direction))
    }
}

impl<T: Real> Blocks<'_, T> {
    /// Calls `write` until each variable has varied.
    pub(crate) fn in_columns<const N: usize>(&mut self, mut write: impl FnMut(&mut Self, &mut Columns<N>)) {
        let count = 1 + self.counts.iter().sum::<usize>();
        for first in (0..count).step_by(N) {
            write(self, &mut Columns { first, next: 0 });
        }
    }

    /// Adds the derivatives of a force at a point of the second body; `in_Ground` is what a change of its components is there.
    pub(crate) fn add_between_in_columns<const N: usize>(
        &mut self,
        columns: &Columns<N>,
        bodies: [BodyIndex; 2],
        p_GM: &Point3<T>,
        force: &Vector3<Dual<T, N>>,
        in_Ground: impl Fn(Vector3<T>) -> SpatialForce<T>,
    ) {
        for direction in 0..N {
            let change = force.map(|component| component.slopes[direction]);
            if !change.iter().all(is_nothing) {
                self.add_between_by_variable(bodies, p_GM, columns.first + direction, &in_Ground(change));
            }
        }
    }

    /// Adds the derivatives of a rate, or of a discrete variable after the next commit.
    pub(crate) fn add_to_in_columns<const N: usize>(
        &mut self,
        columns: &Columns<N>,
        row: Row,
        number: Dual<T, N>,
    ) {
        for (direction, slope) in number.slopes.into_iter().enumerate() {
            if !is_nothing(&slope) {
                self.add_to_by_variable(row, columns.first + direction, slope);
            }
        }
    }
}

/// Zero without derivatives of its own.
fn is_nothing<T: Real>(slope: &T) -> bool {
    have_same_bits(slope.abs(), T::zero())
}
