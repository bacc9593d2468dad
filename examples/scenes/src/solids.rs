//! The shapes of the scenes by formulas of their own, and how deep the straight segments of a cable
//! run into them: nothing here calls the surfaces that it checks.

use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use force_elements::cable::{Obstacle, PathError, PathResults, Wrappable};
use force_elements::nalgebra::{DMatrix, Point3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, DistanceField, Ellipsoid, HeightMap, ShapeError, Sphere, Torus};
use force_elements::{BodyIndex, Frame, Pose};

use crate::cables::{Peanut, Pebble};

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
    Peanut(f64),
    /// A surface that is itself given by a spline; nothing but its values is used here.
    Bone(DistanceField),
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
            Self::Peanut(reach) => Obstacle::new(Frame::on(on, X_BS), Peanut { reach: *reach }),
            Self::Bone(field) => Obstacle::new(Frame::on(on, X_BS), field.clone()),
        }
    }

    /// A length of the order of the smallest radius of curvature, and of the largest part.
    pub fn sizes(&self) -> [f64; 2] {
        match self {
            Self::Ball(radius) | Self::Rod(radius) => [*radius; 2],
            Self::Egg(radii) => [radii.min() * radii.min() / radii.max(), radii.max()],
            Self::Ring(ring, tube) => [*tube, *ring],
            Self::Land(land) => [land.spacing.min(), 10.0 * land.spacing.max()],
            Self::Pebble(radius) => [0.5 * radius, *radius],
            Self::Peanut(reach) => [0.4 * reach, 1.5 * reach],
            Self::Bone(field) => [Wrappable::<f64>::size(field), 10.0 * Wrappable::<f64>::size(field)],
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
            Self::Bone(field) => field.value(&p),
            Self::Pebble(radius) => self.first_order(&p, 0.1 / radius),
            Self::Peanut(reach) => self.first_order(&p, 0.5 / reach),
        }
    }

    /// The height to first order, with at least this slope.
    fn first_order(&self, p: &Point3<f64>, least: f64) -> f64 {
        let (value, slope) = self.slope(p);
        value / slope.norm().max(least)
    }
}

/// A natural spline of degree seven over a grid, as one polynomial to a cell: their coefficients solve the equations of
/// continuity, all at once (the library writes the spline as a sum of B-splines).
#[derive(Debug, Clone)]
pub struct Land {
    pub corner: Vector2<f64>,
    pub spacing: Vector2<f64>,
    rows: Vec<Vec<f64>>,
    /// Eight rows and columns to a cell: powers of y and of x.
    cells: DMatrix<f64>,
}

impl Land {
    /// Heights of rows, from the corner.
    pub fn new(corner: Vector2<f64>, spacing: Vector2<f64>, rows: Vec<Vec<f64>>) -> Self {
        let heights = DMatrix::from_fn(rows.len(), rows[0].len(), |j, i| rows[j][i]);
        let cells = polynomials(rows.len()) * heights * polynomials(rows[0].len()).transpose();
        Self { corner, spacing, rows, cells }
    }

    pub fn map(&self) -> Result<HeightMap<f64>, ShapeError> {
        HeightMap::new(self.corner, self.spacing, self.rows[0].len(), &self.rows.concat())
    }

    /// The height with its derivatives: h, hx, hy, hxx, hxy, hyy; none off the rectangle.
    pub fn bent_height(&self, x: f64, y: f64) -> Option<[f64; 6]> {
        let (i, u) = cell((x - self.corner.x) / self.spacing.x, self.rows[0].len())?;
        let (j, v) = cell((y - self.corner.y) / self.spacing.y, self.rows.len())?;
        let cell = self.cells.view((8 * j, 8 * i), (8, 8));
        let mut rows = [[0.0; 8]; 3];
        for row in 0..8 {
            let along_x = horner(core::array::from_fn(|power| cell[(row, power)]), u);
            for (order, value) in along_x.into_iter().enumerate() {
                rows[order][row] = value;
            }
        }
        let ([h, hy, hyy], [hx, hxy, _], [hxx, ..]) =
            (horner(rows[0], v), horner(rows[1], v), horner(rows[2], v));
        let (dx, dy) = (self.spacing.x, self.spacing.y);
        Some([h, hx / dx, hy / dy, hxx / (dx * dx), hxy / (dx * dy), hyy / (dy * dy)])
    }

    /// The height; none off the rectangle.
    pub fn height(&self, x: f64, y: f64) -> Option<f64> {
        let (i, u) = cell((x - self.corner.x) / self.spacing.x, self.rows[0].len())?;
        let (j, v) = cell((y - self.corner.y) / self.spacing.y, self.rows.len())?;
        let cell = self.cells.view((8 * j, 8 * i), (8, 8));
        let along_x = |row: usize| (0..8).rev().fold(0.0, |sum, power| sum * u + cell[(row, power)]);
        Some((0..8).rev().fold(0.0, |sum, row| sum * v + along_x(row)))
    }
}

/// A polynomial of degree seven, with two derivatives.
fn horner(coefficients: [f64; 8], x: f64) -> [f64; 3] {
    coefficients.into_iter().rev().fold([0.0; 3], |[value, rate, bend], coefficient| {
        [value * x + coefficient, rate * x + value, bend * x + 2.0 * rate]
    })
}

/// The cell of a place counted in spacings, and the place within it; none beyond the grid.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against the range")]
#[allow(clippy::cast_precision_loss, reason = "a few dozen")]
fn cell(place: f64, count: usize) -> Option<(usize, f64)> {
    if !(0.0..=(count - 1) as f64).contains(&place) {
        return None;
    }
    let cell = (place.floor() as usize).min(count - 2);
    Some((cell, place - cell as f64))
}

/// The matrix that gives from this many values, one apart, the coefficients of the natural spline through them, eight to
/// an interval.
fn polynomials(count: usize) -> DMatrix<f64> {
    static KNOWN: Mutex<BTreeMap<usize, DMatrix<f64>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(count).or_insert_with(|| solved(count)).clone()
}

fn solved(count: usize) -> DMatrix<f64> {
    let (last, size) = (count - 2, 8 * (count - 1));
    let binomial =
        |n: u32, k: u32| (0..k).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1));
    let mut equations = DMatrix::zeros(size, size);
    let mut values = DMatrix::zeros(size, count);
    let mut row = 0;
    // The derivative of order k at the end of an interval, divided by the factorial of k.
    let add_end = |equations: &mut DMatrix<f64>, row: usize, interval: usize, k: u32| {
        for (power, place) in (k..8).zip(8 * interval + k as usize..) {
            equations[(row, place)] = binomial(power, k);
        }
    };
    for interval in 0..=last {
        equations[(row, 8 * interval)] = 1.0;
        values[(row, interval)] = 1.0;
        add_end(&mut equations, row + 1, interval, 0);
        values[(row + 1, interval + 1)] = 1.0;
        row += 2;
        // Continuity up to the sixth derivative, and no derivatives of order four to six at the ends.
        for k in if interval < last { 1..7 } else { 4..7 } {
            add_end(&mut equations, row, interval, k);
            if interval < last {
                equations[(row, 8 * (interval + 1) + k as usize)] = -1.0;
            }
            row += 1;
        }
    }
    for k in 4..7 {
        equations[(row, k)] = 1.0;
        row += 1;
    }
    equations.lu().solve(&values).unwrap_or(DMatrix::from_element(size, count, f64::NAN))
}

/// Where a straight segment runs into an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dive {
    /// How deep \[m\].
    pub depth: f64,
    pub obstacle: usize,
}

/// The deepest that any straight segment runs into each obstacle that it touches or passes, if it does: to others in its
/// span it is blind by the rules of the path. Spans are given by their obstacles.
pub fn dives(solids: &[Solid], spans: &[Range<usize>], path: &PathResults<f64>) -> Vec<Dive> {
    let mut found = Vec::new();
    let mut spans = spans.iter();
    let mut span = spans.next().cloned().unwrap_or(0..0);
    let mut first = span.start;
    for segment in &path.segments {
        let touched = segment.to_contact.map(|i| path.contacts[i].obstacle);
        let last = touched.map_or(span.end, |k| k + 1);
        for (obstacle, solid) in solids.iter().enumerate().take(last).skip(first) {
            let Some(of_it) = path.contacts.iter().find(|contact| contact.obstacle == obstacle) else {
                continue;
            };
            let X_SG = of_it.X_GS.inverse();
            let [a, b] = [segment.from_G, segment.to_G].map(|p| X_SG * p);
            let depth = -lowest(solid, a, b);
            if depth > 0.0 {
                found.push(Dive { depth, obstacle });
            }
        }
        first = touched.unwrap_or_else(|| {
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
