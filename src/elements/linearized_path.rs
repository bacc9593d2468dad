//! Shared parts of the linearizations of cables: the branches of their path, and its places among their parameters.

use core::array::from_fn;

use nalgebra::{Matrix3, Vector3, Vector6};

use crate::cable::{CablePath, PathMotion, PathResults, Places};
use crate::framework::Blocks;
use crate::math::Real;

/// States which obstacles are touched.
pub(super) fn state_contacts<T: Real>(
    path: &CablePath<T>,
    results: &PathResults<T>,
    blocks: &mut Blocks<'_, T>,
) {
    for contact in &results.contacts {
        let Some(obstacle) = path.obstacles().get(contact.obstacle) else { continue };
        let name = if contact.in_contact { "in contact" } else { "free" };
        if let Some(margin) = contact.margin(obstacle.surface()) {
            blocks.branch_of(contact.obstacle, name, margin, "m");
        }
    }
}

/// Calls `visit` with each motion of a path, the number among the parameters of the first place that it moves, and the
/// directions in which each number from that on moves it; returns the number of numbers.
pub(super) fn for_each_place<T: Real>(
    places: &Places<T>,
    mut visit: impl FnMut(PathMotion, usize, &[Vector6<T>]),
) -> usize {
    let axis = |i| Vector6::ith(i, T::one());
    let mut number = 0;
    let points = [PathMotion::Origin, PathMotion::Termination].into_iter();
    for point in points.chain((0..places.via_points.len()).map(PathMotion::ViaPoint)) {
        visit(point, number, &[axis(0), axis(1), axis(2)]);
        number += 3;
    }
    for (k, place) in places.obstacles.iter().enumerate() {
        let R = place.X_BS.rotation.matrix();
        let directions: [_; 12] = from_fn(|i| if i < 9 { turn_of_entry(R, i) } else { axis(3 + i - 9) });
        visit(PathMotion::Obstacle(k), number, &directions);
        visit(PathMotion::Scale(k), number + 12, &[axis(0)]);
        number += 13;
    }
    number
}

/// The turn that an entry of a rotation, row by row, contributes to: sums along turns are those of the turns.
///
/// A turn changes the columns `r` by `ω × r`, and `ω` is half the sum of `r × (ω × r)`.
fn turn_of_entry<T: Real>(R: &Matrix3<T>, entry: usize) -> Vector6<T> {
    let axis = Vector3::ith(entry / 3, T::lit(0.5));
    let turn = R.column(entry % 3).cross(&axis);
    Vector6::new(turn.x, turn.y, turn.z, T::zero(), T::zero(), T::zero())
}
