//! Solids known only by their implicit functions, most with hollows, and the taut string over them by other means.

use force_elements::Real;
use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Matrix3, Point3, Vector3};

/// The solid below several humps along x, the same at every y: centre, height and width of each \[m\].
#[derive(Debug, Clone)]
pub struct Ridges(pub Vec<[f64; 3]>);

impl Ridges {
    /// The profile with two derivatives.
    pub fn profile<T: Real>(&self, x: T) -> [T; 3] {
        let mut sum = [T::zero(); 3];
        for &[centre, height, width] in &self.0 {
            let inverse = T::lit(1.0 / width);
            let u = (x - T::lit(centre)) * inverse;
            let e = T::lit(height) * (-u * u).exp();
            sum[0] += e;
            sum[1] -= T::lit(2.0) * u * inverse * e;
            sum[2] += (T::lit(4.0) * u * u - T::lit(2.0)) * inverse * inverse * e;
        }
        sum
    }

    /// The taut string in the plane over the profile between two points: its length, how often it touches, and the
    /// angle by which the contacts turn it.
    ///
    /// The upper hull of the profile's points and both ends, by Andrew's monotone chain.
    pub fn taut(&self, a: [f64; 2], b: [f64; 2]) -> (f64, usize, f64) {
        const POINTS: u32 = 200_000;
        let mut hull: Vec<[f64; 2]> = vec![a];
        let mut add = |p: [f64; 2]| {
            while let [.., q, r] = hull[..] {
                let is_above = (r[0] - q[0]) * (p[1] - q[1]) < (r[1] - q[1]) * (p[0] - q[0]);
                if is_above {
                    break;
                }
                hull.pop();
            }
            hull.push(p);
        };
        let spacing = (b[0] - a[0]) / f64::from(POINTS);
        for i in 1..POINTS {
            let x = a[0] + spacing * f64::from(i);
            add([x, self.profile(x)[0]]);
        }
        add(b);
        let step = |pair: &[[f64; 2]]| [pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]];
        let length = hull.windows(2).map(step).map(|[x, z]| x.hypot(z)).sum();
        let bridges = hull.windows(2).map(step).filter(|[x, _]| *x > 1.5 * spacing).count();
        let bearing = |[x, z]: [f64; 2]| z.atan2(x);
        let turned = bearing(step(&hull[..2])) - bearing(step(&hull[hull.len() - 2..]));
        (length, bridges - 1, turned)
    }
}

impl<T: Real> Wrappable<T> for Ridges {
    fn value(&self, p: &Point3<T>) -> T {
        p.z - self.profile(p.x)[0]
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        Vector3::new(-self.profile(p.x)[1], T::zero(), T::one())
    }
    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        Matrix3::from_diagonal(&Vector3::new(-self.profile(p.x)[2], T::zero(), T::zero()))
    }
    fn size(&self) -> T {
        T::lit(self.0.iter().map(|[_, height, width]| 0.5 * width * width / height).fold(0.3, f64::min))
    }
}

/// A solid of revolution with a waist, about x: its squared radius is 0.25 + 0.5 x² − 0.25 x⁴.
#[derive(Debug, Clone, Copy)]
pub struct Peanut;

impl<T: Real> Wrappable<T> for Peanut {
    fn value(&self, p: &Point3<T>) -> T {
        let s = p.x * p.x;
        p.y * p.y + p.z * p.z - T::lit(0.25) - T::lit(0.5) * s + T::lit(0.25) * s * s
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        Vector3::new(p.x * p.x * p.x - p.x, T::lit(2.0) * p.y, T::lit(2.0) * p.z)
    }
    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        let two = T::lit(2.0);
        Matrix3::from_diagonal(&Vector3::new(T::lit(3.0) * p.x * p.x - T::one(), two, two))
    }
    fn size(&self) -> T {
        T::lit(0.3)
    }
}

/// A cylinder about z known only by its implicit function.
#[derive(Debug)]
pub struct Pipe {
    pub radius: f64,
}

impl<T: Real> Wrappable<T> for Pipe {
    fn value(&self, p: &Point3<T>) -> T {
        p.x * p.x + p.y * p.y - T::lit(self.radius * self.radius)
    }
    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        Vector3::new(p.x, p.y, T::zero()) * T::lit(2.0)
    }
    fn hessian(&self, _: &Point3<T>) -> Matrix3<T> {
        Matrix3::from_diagonal(&Vector3::new(T::lit(2.0), T::lit(2.0), T::zero()))
    }
    fn size(&self) -> T {
        T::lit(self.radius)
    }
}

/// The point of the tube about the unit circle that is nearest to a point within it; another point is returned as it is.
pub fn out_of_ring(p: Point3<f64>, tube: f64) -> Point3<f64> {
    let distance = p.x.hypot(p.y);
    let core = Point3::new(p.x / distance, p.y / distance, 0.0);
    let offset = p - core;
    if offset.norm() < tube { core + offset * (tube / offset.norm()) } else { p }
}

/// The place on a peanut where a point within it is led by Newton's method; another point is returned as it is.
pub fn out_of_peanut(p: Point3<f64>) -> Point3<f64> {
    let mut p = p;
    for _ in 0..20 {
        let value: f64 = Peanut.value(&p);
        let slope: Vector3<f64> = Peanut.gradient(&p);
        if value >= 0.0 {
            break;
        }
        p -= slope * (value / slope.norm_squared());
    }
    p
}

/// Pulls a string through these points tight outside a solid: beads that move towards the middle of their neighbours and
/// are pushed out; returns its length.
///
/// `project` moves a point inside onto the surface.
pub fn pulled_tight(points: &[Point3<f64>], project: &dyn Fn(Point3<f64>) -> Point3<f64>) -> f64 {
    const BEADS: usize = 1024;
    let mut beads = respaced(points, 64);
    loop {
        let count = u32::try_from(beads.len()).unwrap_or(u32::MAX);
        let eagerness = 2.0 / (1.0 + (core::f64::consts::PI / f64::from(count)).sin());
        let eagerness = eagerness.min(1.9);
        for _ in 0..4 * beads.len() {
            for i in 1..beads.len() - 1 {
                let middle = nearest_on(beads[i - 1], beads[i + 1], beads[i]);
                beads[i] = project(beads[i] + (middle - beads[i]) * eagerness);
            }
        }
        if beads.len() > BEADS {
            return beads.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
        }
        beads = respaced(&beads, 2 * beads.len());
    }
}

/// The point of a line nearest to another point, away from the ends.
fn nearest_on(a: Point3<f64>, b: Point3<f64>, p: Point3<f64>) -> Point3<f64> {
    let along = b - a;
    a + along * ((p - a).dot(&along) / along.norm_squared()).clamp(0.2, 0.8)
}

/// Points evenly spaced along a polygon.
pub fn respaced(points: &[Point3<f64>], parts: usize) -> Vec<Point3<f64>> {
    let total: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
    let spacing = total / f64::from(u32::try_from(parts).unwrap_or(u32::MAX));
    let mut spaced = vec![points[0]];
    let mut left = spacing;
    for pair in points.windows(2) {
        let (along, mut at) = (pair[1] - pair[0], 0.0);
        let length = along.norm();
        while length - at >= left && spaced.len() < parts {
            at += left;
            left = spacing;
            spaced.push(pair[0] + along * (at / length));
        }
        left -= length - at;
    }
    spaced.push(points[points.len() - 1]);
    spaced
}
