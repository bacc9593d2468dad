//! Wrapping of a height map.

use nalgebra::{Matrix3, Point3, Vector3};

use super::part_between;
use crate::cable::Wrappable;
use crate::cable::geodesics::wrappable::{approach_at, lowest_between, no_approach};
use crate::math::Real;
use crate::shapes::{HeightMap, Jet};

/// The part of the line from `a` that lies above or below the rectangle.
fn part_above<T: Real>(map: &HeightMap<T>, a: &Point3<T>, along: &Vector3<T>) -> Option<(T, T)> {
    part_between(map.extent().map(|range| [*range.start(), *range.end()]), a, along)
}

/// The lowest place of a part of the line from `a`, within a millionth of the grid: its value, its parameter, and the
/// distance of the places beside it; and whether the search was complete, without omissions to save cost. Places above
/// `enough` need not be distinguished.
///
/// An interval is dropped as soon as a parabola through its ends, with the largest curvature of the map, shows that it
/// contains nothing lower, or nothing that is lower by much: in the first of several rounds by the spacing of the grid. Next to
/// flat ground parabolas show little, and the search of one interval for a millionth would leave nothing for the others.
fn search<T: Real>(
    map: &HeightMap<T>,
    a: &Point3<T>,
    along: &Vector3<T>,
    (first, last): (T, T),
    enough: T,
) -> ([T; 3], bool) {
    const SAMPLES: u32 = 8;
    const MOST_HALVINGS: usize = 4000;
    const DEEPEST: usize = 48;
    let [xx, xy, yy] = map.bends;
    let (x, y) = (along.x.abs(), along.y.abs());
    let bend = (xx * x * x + T::lit(2.0) * xy * x * y + yy * y * y) * T::lit(0.125);
    let value = |u: T| map.value(&(a + along * u));
    let spacing = (last - first) / T::lit(f64::from(SAMPLES));
    let place = |i: u32| if i == SAMPLES { last } else { first + spacing * T::lit(f64::from(i)) };
    let mut samples = [T::zero(); SAMPLES as usize + 1];
    let (mut lowest, mut is_certain) = ([value(first), first, spacing], true);
    for (i, sample) in (0..).zip(&mut samples) {
        *sample = value(place(i));
        if *sample < lowest[0] {
            lowest = [*sample, place(i), spacing];
        }
    }
    let mut halvings = 0;
    for allowed in [1.0, 1e-2, 1e-4, 1e-6].map(|part| T::lit(part) * map.spacing) {
        for (i, pair) in (0..).zip(samples.windows(2)) {
            let mut pending = [[T::zero(); 4]; DEEPEST];
            pending[0] = [place(i), pair[0], place(i + 1), pair[1]];
            let mut count = 1;
            while count > 0 {
                count -= 1;
                let [low, f_low, high, f_high] = pending[count];
                let wide = high - low;
                let within = f_low.min(f_high) - bend * wide * wide;
                if within >= (lowest[0] - allowed).min(enough) {
                    continue;
                }
                if halvings >= MOST_HALVINGS || count + 2 > DEEPEST {
                    is_certain = false;
                    continue;
                }
                halvings += 1;
                let middle = T::lit(0.5) * (low + high);
                let f = value(middle);
                if f < lowest[0] {
                    lowest = [f, middle, T::lit(0.5) * wide];
                }
                pending[count] = [middle, f, high, f_high];
                pending[count + 1] = [low, f_low, middle, f];
                count += 2;
            }
        }
    }
    (lowest, is_certain)
}

impl<T: Real> Wrappable<T> for HeightMap<T> {
    fn value(&self, p: &Point3<T>) -> T {
        self.local::<0>(p).value
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        self.local::<1>(p).gradient
    }

    fn value_and_gradient(&self, p: &Point3<T>) -> (T, Vector3<T>) {
        let Jet { value, gradient, .. } = self.local::<1>(p);
        (value, gradient)
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        self.local::<2>(p).hessian
    }

    fn gradient_and_hessian(&self, p: &Point3<T>) -> (Vector3<T>, Matrix3<T>) {
        let Jet { gradient, hessian, .. } = self.local::<2>(p);
        (gradient, hessian)
    }

    fn size(&self) -> T {
        let [xx, xy, yy] = self.bends;
        let [x, y] = self.extent().map(|range| *range.end() - *range.start());
        // The least radius of curvature, as far as it is within the scale of the grid.
        (T::one() / (xx.max(yy) + xy)).max(self.spacing).min(x.max(y))
    }

    fn covers(&self, p: &Point3<T>) -> bool {
        self.reaches(p.x, p.y)
    }

    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        Point3::new(p.x, p.y, p.z - self.value(p))
    }

    fn clears(&self, a: &Point3<T>, b: &Point3<T>) -> bool {
        let along = b - a;
        part_above(self, a, &along).is_none_or(|part| {
            let [first, last] = [part.0, part.1].map(|u| a.z + along.z * u);
            if first.min(last) > self.highest {
                return true;
            }
            let ([lowest, ..], is_certain) = search(self, a, &along, part, T::zero());
            is_certain && lowest > T::zero()
        })
    }

    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        let along = b - a;
        let Some(part) = part_above(self, a, &along) else { return no_approach(a, b) };
        let ([_, u, reach], _) = search(self, a, &along, part, T::lit(1e30));
        let (low, high) = ((u - reach).max(part.0), (u + reach).min(part.1));
        approach_at(self, a, b, lowest_between(self, a, &along, [low, u, high]))
    }
}
