//! Laws over dual numbers whose directions are variables of the element.

use crate::math::{Dual, Number, Real};

/// Makes numbers that carry derivatives of consecutive numbers of an element: of those from the `first` on each has a direction
/// of its own, until `N` are taken; the others are constants.
#[inline]
pub(crate) fn varied<T: Real, const N: usize>(first: usize) -> impl FnMut(T) -> Dual<T, N> {
    let mut place = 0;
    move |number| {
        let direction = place - first.min(place);
        let varies = place >= first && direction < N;
        place += 1;
        if varies { Dual::variable(number, direction) } else { Dual::of(number) }
    }
}
