//! Wrapping of a height map.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::cable::ceil;
use crate::cable::wrappable::{SegmentApproach, Wrappable, approach_at};
use crate::math::Real;
use crate::shapes::HeightMap;

/// The part of the line from `a`, 0 at its start and 1 at its end, that lies above the rectangle or
/// below it.
fn part_above<T: Real>(map: &HeightMap<T>, a: &Point3<T>, along: &Vector3<T>) -> Option<(T, T)> {
    let (mut first, mut last) = (T::zero(), T::one());
    for (axis, range) in map.extent().into_iter().enumerate() {
        let (low, high) = (*range.start() - a[axis], *range.end() - a[axis]);
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

impl<T: Real> Wrappable<T> for HeightMap<T> {
    fn value(&self, p: &Point3<T>) -> T {
        p.z - self.local(p.x, p.y).h
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        let at = self.local(p.x, p.y);
        Vector3::new(-at.hx, -at.hy, T::one())
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        let at = self.local(p.x, p.y);
        let o = T::zero();
        Matrix3::new(-at.hxx, -at.hxy, o, -at.hxy, -at.hyy, o, o, o, o)
    }

    fn size(&self) -> T {
        self.spacing.min()
    }

    fn smooth_reach(&self, p: &Point3<T>, velocity: &Vector3<T>, acceleration: &Vector3<T>) -> T {
        // Where the geodesic crosses the next grid line, to second order. From far away the third order may carry
        // it beyond, so a little is left for a second, exact, step.
        let mut reach = T::lit(1e30);
        for axis in 0..2 {
            let unit = self.spacing[axis];
            let (v, a) = (velocity[axis] / unit, acceleration[axis] / unit);
            let place = (p[axis] - self.corner[axis]) / unit;
            // The distance at which a line counts as reached.
            let near = T::lit(1e-9);
            let ahead = T::one() - ceil(-(place + near)) - place;
            let behind = ceil(place - near) - T::one() - place;
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
        if reach > T::lit(0.02) * self.size() { reach * T::lit(0.97) } else { reach }
    }

    fn covers(&self, p: &Point3<T>) -> bool {
        self.reaches(p.x, p.y)
    }

    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        Point3::new(p.x, p.y, self.local(p.x, p.y).h)
    }

    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> SegmentApproach<T> {
        // An interval is dropped as soon as a parabola through its ends, bent as much as the map is
        // anywhere, shows that it has nothing lower than was found, but for a millionth of the grid.
        const SAMPLES: u32 = 16;
        const MOST_HALVINGS: usize = 4000;
        const DEEPEST: usize = 48;
        let along = b - a;
        let Some((first, last)) = part_above(self, a, &along) else {
            return SegmentApproach {
                parameter: T::lit(0.5),
                point: a + along * T::lit(0.5),
                height: T::lit(1e30),
            };
        };
        let [xx, xy, yy] = self.bends;
        let (x, y) = (along.x.abs(), along.y.abs());
        let bend = (xx * x * x + T::lit(2.0) * xy * x * y + yy * y * y) * T::lit(0.125);
        let allowed = T::lit(1e-6) * self.size();
        let value = |u: T| self.value(&(a + along * u));
        let spacing = (last - first) / T::lit(f64::from(SAMPLES));
        let place = |i: u32| if i == SAMPLES { last } else { first + spacing * T::lit(f64::from(i)) };
        let mut lowest = (value(first), first, spacing);
        for i in 1..=SAMPLES {
            let f = value(place(i));
            if f < lowest.0 {
                lowest = (f, place(i), spacing);
            }
        }
        let mut halvings = 0;
        for i in 0..SAMPLES {
            let (low, high) = (place(i), place(i + 1));
            let mut pending = [[T::zero(); 4]; DEEPEST];
            pending[0] = [low, value(low), high, value(high)];
            let mut count = 1;
            while count > 0 {
                count -= 1;
                let [low, f_low, high, f_high] = pending[count];
                let wide = high - low;
                let within = f_low.min(f_high) - bend * wide * wide;
                if within >= lowest.0 - allowed || halvings >= MOST_HALVINGS || count + 2 > DEEPEST {
                    continue;
                }
                halvings += 1;
                let middle = T::lit(0.5) * (low + high);
                let f = value(middle);
                if f < lowest.0 {
                    lowest = (f, middle, T::lit(0.5) * wide);
                }
                pending[count] = [middle, f, high, f_high];
                pending[count + 1] = [low, f_low, middle, f];
                count += 2;
            }
        }
        let (_, u, reach) = lowest;
        let (mut low, mut high) = ((u - reach).max(first), (u + reach).min(last));
        for _ in 0..40 {
            let middle = T::lit(0.5) * (low + high);
            if self.gradient(&(a + along * middle)).dot(&along) > T::zero() {
                high = middle;
            } else {
                low = middle;
            }
        }
        approach_at(self, a, b, T::lit(0.5) * (low + high))
    }
}
