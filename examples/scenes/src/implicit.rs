//! Implicit functions of the shapes of the scenes, with two derivatives, by formulas that the library does not know.

use core::ops::Mul;

use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Point3, Vector3};

use crate::cables::Peanut;
use crate::solids::Solid;

/// The value of a function along a line, with two derivatives: f(p + u v) at u = 0.
#[derive(Debug, Clone, Copy)]
pub struct Along(pub [f64; 3]);

impl Along {
    fn constant(x: f64) -> Self {
        Self([x, 0.0, 0.0])
    }

    fn plus(self, other: Self) -> Self {
        Self(core::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    fn root(self) -> Self {
        let [x, dx, ddx] = self.0;
        let root = x.sqrt();
        let rate = 0.5 * dx / root;
        Self([root, rate, (0.5 * ddx - rate * rate) / root])
    }
}

impl Mul for Along {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let ([a, da, dda], [b, db, ddb]) = (self.0, other.0);
        Self([a * b, da * b + a * db, dda * b + 2.0 * da * db + a * ddb])
    }
}

impl Mul<f64> for Along {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self(self.0.map(|x| x * factor))
    }
}

impl Solid {
    /// The implicit function along a line from a point, with two derivatives. A land has none off its rectangle.
    pub fn along(&self, p: &Point3<f64>, v: &Vector3<f64>) -> Along {
        let [x, y, z] = core::array::from_fn(|i| Along([p[i], v[i], 0.0]));
        let square = |x: Along| x * x;
        let less = |sum: Along, x: f64| sum.plus(Along::constant(-x));
        match self {
            // Divided by a length of the shape, so that nothing overflows.
            Self::Ball(radius) => {
                less((square(x).plus(square(y)).plus(square(z))) * (1.0 / (radius * radius)), 1.0)
            }
            Self::Rod(radius) => less((square(x).plus(square(y))) * (1.0 / (radius * radius)), 1.0),
            Self::Egg(radii) => {
                let [x, y, z] = [x * (1.0 / radii.x), y * (1.0 / radii.y), z * (1.0 / radii.z)];
                less(square(x).plus(square(y)).plus(square(z)), 1.0)
            }
            Self::Ring(ring, tube) => {
                let out = less(square(x).plus(square(y)).root(), *ring);
                less((square(out).plus(square(z))) * (1.0 / (tube * tube)), 1.0)
            }
            Self::Pebble(radius) => {
                let [x, y, z] = [x, y, z].map(|x| square(x * (1.0 / radius)));
                let quartic = square(x).plus(square(y)).plus(square(z)) * 0.3;
                less(x.plus(y).plus(z).plus(quartic), 1.0)
            }
            Self::Peanut(reach) => {
                let [x, y, z] = [x, y, z].map(|x| square(x * (1.0 / reach)));
                let sum = less(x.plus(y).plus(z), -1.0);
                less((square(sum).plus(x * -4.0)) * Peanut::PRODUCT.powi(-2), 1.0)
            }
            Self::Land(land) => match land.bent_height(p.x, p.y) {
                Some([h, hx, hy, hxx, hxy, hyy]) => Along([
                    p.z - h,
                    v.z - hx * v.x - hy * v.y,
                    -(hxx * v.x * v.x + 2.0 * hxy * v.x * v.y + hyy * v.y * v.y),
                ]),
                None => Along([f64::INFINITY, 0.0, 0.0]),
            },
            Self::Bone(field) => {
                // A piecewise cubic, whose third derivatives jump: differences over a small part of its grid.
                let size = self.sizes()[0] / v.norm().max(f64::MIN_POSITIVE);
                let pair = |h: f64| [-2.0, -1.0, 1.0, 2.0].map(|i| field.value(&(p + v * (i * h))));
                let (middle, h, k) = (field.value(p), 2e-4 * size, 1e-3 * size);
                let [a, b, c, d] = pair(h);
                let rate = (8.0 * (c - b) - (d - a)) / (12.0 * h);
                let [a, b, c, d] = pair(k).map(|x| x - middle);
                let bend = (16.0 * (b + c) - (a + d)) / (12.0 * k * k);
                Along([middle, rate, bend])
            }
        }
    }

    /// The implicit function.
    pub fn value(&self, p: &Point3<f64>) -> f64 {
        match self {
            Self::Bone(field) => field.value(p),
            _ => self.along(p, &Vector3::x()).0[0],
        }
    }

    /// The implicit function and its gradient.
    pub fn slope(&self, p: &Point3<f64>) -> (f64, Vector3<f64>) {
        let along = Vector3::from_fn(|i, _| self.along(p, &Vector3::ith(i, 1.0)).0[1]);
        (self.value(p), along)
    }

    /// The second derivative in two directions.
    pub fn bend(&self, p: &Point3<f64>, u: &Vector3<f64>, v: &Vector3<f64>) -> f64 {
        let second = |v: Vector3<f64>| self.along(p, &v).0[2];
        0.25 * (second(u + v) - second(u - v))
    }

    /// The point of the surface in the direction of the gradient from a point near it.
    pub fn foot(&self, p: &Point3<f64>) -> Point3<f64> {
        let mut q = *p;
        for _ in 0..8 {
            let (value, slope) = self.slope(&q);
            let step = slope * (value / slope.norm_squared());
            if !step.iter().all(|x| x.is_finite()) {
                break;
            }
            q -= step;
            if step.norm() <= 1e-15 * q.coords.amax() {
                break;
            }
        }
        q
    }
}
