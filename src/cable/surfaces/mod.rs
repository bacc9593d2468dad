//! Wrapping of each shape.

mod cylinder;
mod distance_field;
mod ellipsoid;
mod finite_cylinder;
mod height_map;
mod sphere;
mod torus;

use nalgebra::Vector3;

use super::ceil;
use crate::math::Real;

/// The length to where a curve next crosses a whole number along any axis, to second order; all in cells of a grid but
/// for the length.
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
