//! Laws over dual numbers whose directions are variables of the element.

use crate::math::{Dual, Number, Real};

/// Makes numbers with derivatives by consecutive numbers of an element: each one from `first` on has its own direction,
/// until `N` are used; the others are constants.
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
