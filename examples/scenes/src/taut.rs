//! Muscles as strings pulled tight over surfaces, by beads.

use force_elements::nalgebra::{Point3, Vector3};
use force_elements::{Pose, Positions};

use crate::arm::{Muscle, RIM, Shape, Surface};

impl Solid {
    /// The point nearest to `p` that is not inside.
    fn outside(&self, p_G: Point3<f64>) -> Point3<f64> {
        let p = self.X_GS.inverse_transform_point(&p_G);
        match self.shape {
            Shape::Cylinder { radius, length } => {
                // A plain cylinder, less the radius of the rims, grown by it.
                let rim = RIM * radius;
                let (reach, half) = (radius - rim, 0.5 * length - rim);
                let distance = p.x.hypot(p.y);
                let [out, up] = [distance - reach, p.z.abs() - half];
                if out.max(0.0).hypot(up.max(0.0)) >= rim {
                    return p_G;
                }
                if out <= 0.0 && up > out {
                    return self.X_GS * Point3::new(p.x, p.y, (half + rim).copysign(p.z));
                }
                let (grown, raised) = if up > 0.0 {
                    let grow = rim / out.hypot(up);
                    (reach + grow * out, (half + grow * up).copysign(p.z))
                } else {
                    (radius, p.z)
                };
                self.X_GS * Point3::new(p.x * (grown / distance), p.y * (grown / distance), raised)
            }
            Shape::Ellipsoid { radii } => {
                // The nearest point has coordinates r² p / (r² + t), with the t for which it lies on the surface.
                let near = |t: f64| p.coords.zip_map(&radii, |p, r| r * r * p / (r * r + t));
                let height = |t: f64| near(t).component_div(&radii).norm() - 1.0;
                if height(0.0) >= 0.0 {
                    return p_G;
                }
                let (mut low, mut high) = (-radii.min().powi(2), 0.0);
                for _ in 0..50 {
                    let middle = 0.5 * (low + high);
                    *(if height(middle) > 0.0 { &mut low } else { &mut high }) = middle;
                }
                self.X_GS * Point3::from(near(high))
            }
        }
    }
}

/// A surface in Ground, and a point above the side that may be used.
struct Solid {
    X_GS: Pose<f64>,
    shape: Shape,
    above_G: Point3<f64>,
    /// The length on which the string is fine.
    size: f64,
}

impl Solid {
    fn new(surface: &Surface, positions: &Positions<f64>, a: &Point3<f64>, b: &Point3<f64>) -> Self {
        let X_GS = positions.pose(surface.frame.body) * surface.frame.X_BF;
        let radii = match surface.shape {
            Shape::Cylinder { radius, .. } => Vector3::new(radius, radius, 0.0),
            Shape::Ellipsoid { radii } => radii,
        };
        // Above the middle of the straight line, or of the side that may be used.
        let (a, b) = (X_GS.inverse_transform_point(a), X_GS.inverse_transform_point(b));
        let weight = |v: Vector3<f64>| v.zip_map(&radii, |v, r| if r > 0.0 { v / r } else { 0.0 });
        let (start, along) = (weight(a.coords), weight(b - a));
        let middle = a + (b - a) * (-start.dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        let mut above = middle;
        if surface.side_S == Vector3::zeros() {
            let out = weight(middle.coords).normalize().component_mul(&radii);
            above = Point3::from(out + Vector3::new(0.0, 0.0, middle.z));
        } else {
            let side = surface.side_S;
            above += side * (side.dot(&radii).abs() - side.dot(&middle.coords));
        }
        Self { X_GS, shape: surface.shape, above_G: X_GS * above, size: radii.max() }
    }
}

/// The length of a string from `a` to `b` that is laid above the solids and pulled tight.
fn pulled_tight(a: Point3<f64>, b: Point3<f64>, solids: &[Solid]) -> f64 {
    let mut beads = vec![a];
    let mut corners: Vec<_> = solids.iter().map(|solid| (solid.above_G, solid.size)).collect();
    corners.push((b, f64::INFINITY));
    let mut from = (a, f64::INFINITY);
    for corner in corners {
        // Fine near the solids: a fiftieth of their size, and from one size away in growing steps.
        let whole = (corner.0 - from.0).norm();
        let mut at = 0.0;
        while at < whole {
            beads.push(from.0 + (corner.0 - from.0) * (at / whole));
            let spacing = |distance: f64, size: f64| {
                if size.is_finite() { (0.02 * size).max(0.2 * (distance - size)) } else { f64::INFINITY }
            };
            at += spacing(at, from.1).min(spacing(whole - at, corner.1)).min(0.1 * whole);
        }
        from = corner;
    }
    beads.push(b);
    let stiffness: Vec<_> = beads.windows(2).map(|pair| 1.0 / (pair[1] - pair[0]).norm().max(1e-6)).collect();
    for sweep in 0..4000 {
        // Over-relaxed at first, so that long waves die out.
        let lead = if sweep < 3600 { 1.95 } else { 1.0 };
        for i in 1..beads.len() - 1 {
            let (k, l) = (stiffness[i - 1], stiffness[i]);
            let middle = (beads[i - 1].coords * k + beads[i + 1].coords * l) / (k + l);
            let moved = beads[i] + (middle - beads[i].coords) * lead;
            beads[i] = solids.iter().fold(moved, |p, solid| solid.outside(p));
        }
    }
    beads.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum()
}

/// The length of a muscle as a string, and how many of its pieces are not straight.
pub fn as_string(muscle: &Muscle, surfaces: &[Surface], positions: &Positions<f64>) -> (f64, usize) {
    let points: Vec<_> = muscle.points.iter().map(|point| positions.pose(point.body) * point.p_B).collect();
    let mut bent = 0;
    let pieces = points.windows(2).enumerate().map(|(i, ends)| {
        let [a, b] = [ends[0], ends[1]];
        let here = surfaces.iter().filter(|surface| surface.after == i);
        let mut solids: Vec<_> = here.map(|surface| Solid::new(surface, positions, &a, &b)).collect();
        // What the straight line does not meet is not in its way.
        let is_met = |solid: &Solid| {
            (0..=2000).map(|n| a + (b - a) * (f64::from(n) / 2000.0)).any(|p| solid.outside(p) != p)
        };
        // Nor is what contains an end.
        solids.retain(|solid| is_met(solid) && solid.outside(a) == a && solid.outside(b) == b);
        bent += usize::from(!solids.is_empty());
        if solids.is_empty() { (b - a).norm() } else { pulled_tight(a, b, &solids) }
    });
    (pieces.sum(), bent)
}
