//! Wrapping of a distance field.

use nalgebra::{Matrix3, Point3, Vector3};

use super::{next_seam, part_between};
use crate::cable::Wrappable;
use crate::cable::geodesics::wrappable::{approach_at, lowest_between, off_the_middle};
use crate::math::Real;
use crate::shapes::DistanceField;

impl<T: Real> Wrappable<T> for DistanceField {
    fn value(&self, p: &Point3<T>) -> T {
        self.local::<T, 0>(p).value
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        self.local::<T, 1>(p).gradient
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        self.local::<T, 2>(p).hessian
    }

    fn value_and_gradient(&self, p: &Point3<T>) -> (T, Vector3<T>) {
        let at = self.local::<T, 1>(p);
        (at.value, at.gradient)
    }

    fn gradient_and_hessian(&self, p: &Point3<T>) -> (Vector3<T>, Matrix3<T>) {
        let at = self.local::<T, 2>(p);
        (at.gradient, at.hessian)
    }

    fn size(&self) -> T {
        T::lit(self.least_radius)
    }

    fn smooth_reach(&self, p: &Point3<T>, velocity: &Vector3<T>, acceleration: &Vector3<T>) -> T {
        let inverse = T::lit(self.spacing().recip());
        let reach = next_seam(&self.place(p), &(velocity * inverse), &(acceleration * inverse));
        // To second order. From far away the third order may carry it beyond, so a little is left for a second, exact
        // step.
        if reach > T::lit(0.02 * self.spacing()) { reach * T::lit(0.97) } else { reach }
    }

    /// Steps as long as nothing lower can lie within them, but at least half the spacing; each low place is then
    /// refined.
    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        let along = b - a;
        let value = |u: T| self.local::<T, 0>(&(a + along * u)).value;
        let falls = |u: T| self.local::<T, 1>(&(a + along * u)).gradient.dot(&along) < T::zero();
        let lowest_around = self.low_place(a, &along).max(T::zero()).min(T::one());
        // The part of the line within a box.
        let part_within = |[lowest, highest]: [Point3<f64>; 2]| {
            part_between([0, 1, 2].map(|axis| [lowest[axis], highest[axis]].map(T::lit)), a, &along)
        };
        let Some((first, last)) = part_within(self.spline_bounds()) else {
            return approach_at(self, a, b, lowest_around);
        };
        let (enters, leaves) = part_within(self.bounds()).unwrap_or((last, last));
        // Slopes exceed that of a distance, one, where kinks of the distance were smoothed.
        let [near, far] = [1.25, self.steepest].map(|slope| T::lit(slope.recip()));
        let inverse = T::one() / along.norm();
        let shortest = T::lit(0.5 * self.spacing());
        // A curve between samples half a spacing apart, bent by a slope of one over the spacing, dips by a 32nd of it.
        let [near_dip, far_dip] = [1.0, self.steepest].map(|slope| T::lit(slope * self.spacing() / 32.0));
        let mut lowest = (value(lowest_around), lowest_around);
        let mut before = [(value(first), first); 2];
        if before[0].0 < lowest.0 {
            lowest = before[0];
        }
        while before[1].1 < last {
            let [(_, low), (middle, u)] = before;
            let (flat, dip) = if u >= enters && u <= leaves { (near, near_dip) } else { (far, far_dip) };
            let step = ((middle - lowest.0) * flat).max(shortest) * inverse;
            let next = (u + step).min(last);
            // A line so long that a step is below its roundoff cannot be searched more finely.
            if next <= u {
                break;
            }
            let here = (value(next), next);
            if middle < lowest.0 + dip {
                let around = match (before[0].0 >= middle, here.0 >= middle) {
                    (true, true) if low < u => Some([low, u, next]),
                    // The samples rise, as from a contact that is left, or fall, but here they turn.
                    (_, true) if falls(u) => Some([u, u, next]),
                    (true, false) if low < u && !falls(u) => Some([low, u, u]),
                    (_, false) if next >= last && here.0 <= middle && !falls(next) => Some([u, next, next]),
                    _ => None,
                };
                if let Some(u) = around.map(|around| lowest_between(self, a, &along, around)) {
                    let found = (value(u), u);
                    if found.0 < lowest.0 {
                        lowest = found;
                    }
                }
            }
            if here.0 < lowest.0 {
                lowest = here;
            }
            before = [before[1], here];
        }
        off_the_middle(self, &along, approach_at(self, a, b, lowest.1))
    }
}
