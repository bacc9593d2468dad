//! The shapes of the scenes by formulas of their own, and how deep the straight segments of a cable
//! run into them: nothing here calls the surfaces that it checks.

use core::ops::Range;

use force_elements::cable::{Obstacle, PathError, PathResults};
use force_elements::nalgebra::{Point3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, HeightMap, ShapeError, Sphere, Torus};
use force_elements::{BodyIndex, Frame, Pose};

use crate::cables::Pebble;

/// A shape, and how it is measured here.
#[derive(Debug, Clone)]
pub enum Solid {
    Ball(f64),
    Rod(f64),
    Egg(Vector3<f64>),
    /// Radii of ring and tube.
    Ring(f64, f64),
    Land(Land),
    Pebble(f64),
}

impl Solid {
    /// The surface of the library that is this shape.
    pub fn obstacle(&self, on: BodyIndex, X_BS: Pose<f64>) -> Result<Obstacle<f64>, PathError> {
        match self {
            Self::Ball(radius) => Obstacle::new(Frame::on(on, X_BS), Sphere::new(*radius)?),
            Self::Rod(radius) => Obstacle::new(Frame::on(on, X_BS), Cylinder::new(*radius)?),
            Self::Egg(radii) => Obstacle::new(Frame::on(on, X_BS), Ellipsoid::new(*radii)?),
            Self::Ring(ring, tube) => Obstacle::new(Frame::on(on, X_BS), Torus::new(*ring, *tube)?),
            Self::Land(land) => Obstacle::new(Frame::on(on, X_BS), land.map()?),
            Self::Pebble(radius) => Obstacle::new(Frame::on(on, X_BS), Pebble { radius: *radius }),
        }
    }

    /// The distance from the surface, negative inside: exact or to first order. Vertical for a land;
    /// off its rectangle there is none.
    pub fn height(&self, p: Point3<f64>) -> f64 {
        match self {
            Self::Ball(radius) => p.coords.norm() - radius,
            Self::Rod(radius) => p.x.hypot(p.y) - radius,
            Self::Egg(radii) => {
                let (q, bend) =
                    (p.coords.component_div(radii), p.coords.component_div(radii).component_div(radii));
                if bend.norm() < 1e-12 / radii.min() {
                    return -radii.min();
                }
                // With the square root of the usual function, whose slope does not vanish inside.
                q.norm() * (q.norm() - 1.0) / bend.norm()
            }
            Self::Ring(ring, tube) => (p.x.hypot(p.y) - ring).hypot(p.z) - tube,
            Self::Land(land) => land.height(p.x, p.y).map_or(f64::INFINITY, |h| p.z - h),
            Self::Pebble(radius) => {
                let value = |p: Point3<f64>| {
                    let q = p / *radius;
                    q.coords.norm_squared() + 0.3 * q.coords.map(|x| x.powi(4)).sum() - 1.0
                };
                let h = 1e-5 * radius;
                let slope = Vector3::from_fn(|i, _| {
                    let step = Vector3::ith(i, h);
                    (value(p + step) - value(p - step)) / (2.0 * h)
                });
                value(p) / slope.norm().max(0.1 / radius)
            }
        }
    }
}

/// A natural bicubic spline over a grid, one cubic spline after the other by its moments (C. de Boor
/// writes them as B-splines, as the library does).
#[derive(Debug, Clone)]
pub struct Land {
    pub corner: Vector2<f64>,
    pub spacing: Vector2<f64>,
    rows: Vec<Vec<f64>>,
    /// Second derivatives along each row.
    moments: Vec<Vec<f64>>,
}

impl Land {
    /// Heights of rows, from the corner.
    pub fn new(corner: Vector2<f64>, spacing: Vector2<f64>, rows: Vec<Vec<f64>>) -> Self {
        let moments = rows.iter().map(|row| moments(row, spacing.x)).collect();
        Self { corner, spacing, rows, moments }
    }

    pub fn map(&self) -> Result<HeightMap<f64>, ShapeError> {
        HeightMap::new(self.corner, self.spacing, self.rows[0].len(), &self.rows.concat())
    }

    pub fn height(&self, x: f64, y: f64) -> Option<f64> {
        let u = (x - self.corner.x) / self.spacing.x;
        let v = (y - self.corner.y) / self.spacing.y;
        let across: Option<Vec<f64>> = self
            .rows
            .iter()
            .zip(&self.moments)
            .map(|(row, moments)| spline(row, moments, self.spacing.x, u))
            .collect();
        let across = across?;
        spline(&across, &moments(&across, self.spacing.y), self.spacing.y, v)
    }
}

/// Second derivatives of the natural spline at its knots, zero at both ends.
fn moments(values: &[f64], h: f64) -> Vec<f64> {
    let n = values.len();
    let mut m = vec![0.0; n];
    let mut upper = vec![0.0; n];
    for i in 1..n.saturating_sub(1) {
        let right = 6.0 * (values[i - 1] - 2.0 * values[i] + values[i + 1]) / (h * h);
        let pivot = 4.0 - upper[i - 1];
        upper[i] = 1.0 / pivot;
        m[i] = (right - m[i - 1]) / pivot;
    }
    for i in (1..n.saturating_sub(1)).rev() {
        m[i] -= upper[i] * m[i + 1];
    }
    m
}

/// The spline at this many spacings from the first knot; none beyond the knots.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against the range")]
fn spline(values: &[f64], moments: &[f64], h: f64, u: f64) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "a few dozen")]
    let last = (values.len() - 1) as f64;
    if !(0.0..=last).contains(&u) {
        return None;
    }
    let i = (u.floor() as usize).min(values.len() - 2);
    #[allow(clippy::cast_precision_loss, reason = "a few dozen")]
    let (b, a) = (u - i as f64, 1.0 - (u - i as f64));
    let bend = (a * a * a - a) * moments[i] + (b * b * b - b) * moments[i + 1];
    Some(a * values[i] + b * values[i + 1] + bend * h * h / 6.0)
}

/// Where a straight segment runs into an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dive {
    /// How deep \[m\].
    pub depth: f64,
    pub obstacle: usize,
    /// Whether the segment touches the obstacle or passes it: to others in its span it is blind by
    /// the rules of the path.
    pub passes: bool,
}

/// The deepest that any straight segment runs into each obstacle of its span, if it does. Spans are
/// given by their obstacles.
pub fn dives(solids: &[Solid], spans: &[Range<usize>], path: &PathResults<f64>) -> Vec<Dive> {
    let mut found = Vec::new();
    let mut spans = spans.iter();
    let mut span = spans.next().cloned().unwrap_or(0..0);
    let mut first = span.start;
    for segment in &path.segments {
        let last = segment.to_obstacle.map_or(span.end, |k| k + 1);
        for obstacle in span.clone() {
            let X_SG = path.contacts[obstacle].X_GS.inverse();
            let [a, b] = [segment.from_G, segment.to_G].map(|p| X_SG * p);
            let depth = -lowest(&solids[obstacle], a, b);
            if depth > 0.0 {
                found.push(Dive { depth, obstacle, passes: (first..last).contains(&obstacle) });
            }
        }
        first = segment.to_obstacle.unwrap_or_else(|| {
            span = spans.next().cloned().unwrap_or(0..0);
            span.start
        });
    }
    found
}

/// The least height along a line: four hundred samples, crowded at both ends where the line touches,
/// and golden sections around each that is below its neighbours.
fn lowest(solid: &Solid, a: Point3<f64>, b: Point3<f64>) -> f64 {
    const SAMPLES: u32 = 400;
    let at = |u: f64| solid.height(a + (b - a) * u);
    let place = |i: u32| 0.5 - 0.5 * (core::f64::consts::PI * f64::from(i) / f64::from(SAMPLES)).cos();
    let heights: Vec<f64> = (0..=SAMPLES).map(|i| at(place(i))).collect();
    let mut lowest = f64::INFINITY;
    for (i, &height) in (0..).zip(&heights) {
        lowest = lowest.min(height);
        let (before, after) = (i.max(1) - 1, (i + 1).min(SAMPLES));
        if height > heights[before as usize] || height > heights[after as usize] || height == f64::INFINITY {
            continue;
        }
        let (mut low, mut high) = (place(before), place(after));
        let golden = 0.618_033_988_749_895;
        while high - low > 1e-8 {
            let (c, d) = (high - golden * (high - low), low + golden * (high - low));
            if at(c) < at(d) {
                high = d;
            } else {
                low = c;
            }
        }
        lowest = lowest.min(at(0.5 * (low + high)));
    }
    lowest
}
