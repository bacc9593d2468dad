//! Wrapping of each shape.

mod cylinder;
mod distance_field;
mod ellipsoid;
mod finite_cylinder;
mod height_map;
mod sphere;
mod torus;

use nalgebra::{Point3, Vector3};

use super::ceil;
use crate::math::Real;

/// The part of the line from `a`, 0 at its start and 1 at its end, whose first coordinates are within these bounds.
fn part_between<T: Real, const AXES: usize>(
    bounds: [[T; 2]; AXES],
    a: &Point3<T>,
    along: &Vector3<T>,
) -> Option<(T, T)> {
    let (mut first, mut last) = (T::zero(), T::one());
    for (axis, bounds) in bounds.into_iter().enumerate() {
        let [low, high] = bounds.map(|bound| bound - a[axis]);
        if along[axis] == T::zero() {
            if low > T::zero() || high < T::zero() {
                return None;
            }
            continue;
        }
        let (one, other) = (low / along[axis], high / along[axis]);
        first = first.max(one.min(other));
        last = last.min(one.max(other));
    }
    (first <= last).then_some((first, last))
}

/// The length to the point where a curve next crosses a whole number along any axis, to second order; all in cells of a
/// grid except the length.
fn next_seam<T: Real>(place: &Vector3<T>, velocity: &Vector3<T>, acceleration: &Vector3<T>) -> T {
    // The distance at which a seam counts as reached.
    let near = T::lit(1e-9);
    let mut reach = T::lit(1e30);
    for axis in 0..3 {
        let (x, v, a) = (place[axis], velocity[axis], acceleration[axis]);
        let ahead = T::one() - ceil(-(x + near)) - x;
        let behind = ceil(x - near) - T::one() - x;
        for distance in [ahead, behind] {
            let root = v * v + T::lit(2.0) * a * distance;
            if root >= T::zero() {
                let divisor = v + if distance > T::zero() { root.sqrt() } else { -root.sqrt() };
                let time = T::lit(2.0) * distance / divisor;
                if time > T::zero() && time < reach {
                    reach = time;
                }
            }
        }
    }
    reach
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seam_is_reached_where_a_curve_stands_on_it_or_just_before() {
        let along = |x: f64, velocity: f64, acceleration: f64| {
            let of_x = |number| Vector3::new(number, 0.0, 0.0);
            // The other axes stand still between seams.
            next_seam(&Vector3::new(x, 0.5, 0.5), &of_x(velocity), &of_x(acceleration))
        };
        for (x, velocity, expected) in [
            (0.25, 0.5, 1.5),
            (0.25, -0.5, 0.5),
            (2.0, 1.0, 1.0),
            (2.0, -1.0, 1.0),
            (2.0 - 1e-10, 1.0, 1.0 + 1e-10),
            (2.0 + 1e-10, -1.0, 1.0 + 1e-10),
            (2.0 - 1e-8, 1.0, 1e-8),
            (2.0 + 1e-8, -1.0, 1e-8),
        ] {
            // Roundoff of coordinates of two.
            assert!((along(x, velocity, 0.0) - expected).abs() < 1e-15, "{x} {velocity}");
        }
        // It turns at 0.45 and comes back: t − t² = −0.2 at (1 + √1.8)/2.
        let back = 0.5 * (1.0 + f64::sqrt(1.8));
        assert!((along(0.2, 1.0, -2.0) - back).abs() < 1e-15);
        assert!(along(0.5, 0.0, 0.0) > 1e29);
    }
}
