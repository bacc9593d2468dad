//! Geodesics, integrated without the library.

use force_elements::Pose;
use force_elements::nalgebra::{Point3, Vector3};

use crate::solids::Solid;

/// An arc integrated here, in Ground.
#[derive(Debug)]
pub(crate) struct Arc {
    pub(crate) obstacle: usize,
    pub(crate) points: Vec<ArcPoint>,
}

/// A point of an arc.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArcPoint {
    pub(crate) place: Point3<f64>,
    pub(crate) tangent: Vector3<f64>,
    pub(crate) normal: Vector3<f64>,
    /// Normal curvatures along and across, and the torsion.
    pub(crate) curvatures: [f64; 3],
    pub(crate) reach: f64,
}

impl ArcPoint {
    pub(crate) fn at(solid: &Solid, place: Point3<f64>, along: Vector3<f64>, reach: f64) -> Self {
        let (_, slope) = solid.slope(&place);
        let normal = slope.normalize();
        let tangent = (along - normal * normal.dot(&along)).normalize();
        let across = normal.cross(&tangent);
        let bend = |u: &Vector3<f64>, v: &Vector3<f64>| solid.bend(&place, u, v) / slope.norm();
        let curvatures = [bend(&tangent, &tangent), bend(&across, &across), bend(&tangent, &across)];
        Self { place, tangent, normal, curvatures, reach }
    }

    pub(crate) fn greatest(&self) -> f64 {
        self.curvatures[0].abs().max(self.curvatures[1].abs()) + self.curvatures[2].abs()
    }

    pub(crate) fn moved(self, X: &Pose<f64>) -> Self {
        Self {
            place: X * self.place,
            tangent: X.rotation * self.tangent,
            normal: X.rotation * self.normal,
            ..self
        }
    }
}

impl Arc {
    /// The angle by which it turns, without regard to the side.
    pub(crate) fn turn(&self) -> f64 {
        let parts = self.points.windows(2);
        parts.map(|pair| (pair[1].reach - pair[0].reach) * pair[0].curvatures[0].abs()).sum()
    }
}

/// Follows a geodesic by Runge and Kutta's rule; none if that takes too many steps.
///
/// A step is a fiftieth of a radian at most, and short enough for the trapezoidal rule of its turn to agree with
/// Simpson's.
pub(crate) fn follow(solid: &Solid, start: ArcPoint, length: f64) -> Option<Vec<ArcPoint>> {
    const TURN: f64 = 0.02;
    const LEAST_PARTS: f64 = 24.0;
    const MOST: usize = 80_000;
    // Of the turn of a step, beside the turn itself.
    const DOUBT: f64 = 1e-4;
    let mut points = vec![start];
    let mut here = start;
    let mut step = length / LEAST_PARTS;
    while here.reach < length {
        if points.len() > MOST {
            return None;
        }
        step = step.min(TURN / here.greatest()).min(length / LEAST_PARTS);
        let left = length - here.reach;
        let is_last = step > left * (1.0 - 1e-9);
        let h = if is_last { left } else { step };
        let middle = advanced(solid, &here, 0.5 * h, here.reach + 0.5 * h);
        let next = advanced(solid, &middle, 0.5 * h, if is_last { length } else { here.reach + h });
        let [first, second, third] = [here, middle, next].map(|point| point.curvatures[0]);
        let doubt = (h / 12.0 * (first - 2.0 * second + third)).abs();
        let turn = h * here.greatest().max(middle.greatest()).max(next.greatest());
        if (turn > 2.0 * TURN || doubt > DOUBT * turn) && h > 1e-12 * length {
            step = 0.5 * h;
            continue;
        }
        if !next.tangent.iter().all(|x| x.is_finite()) {
            return None;
        }
        points.extend([middle, next]);
        here = next;
        step = 1.5 * h;
    }
    Some(points)
}

/// The point of a geodesic a step ahead.
fn advanced(solid: &Solid, here: &ArcPoint, h: f64, reach: f64) -> ArcPoint {
    let pull = |p: &Point3<f64>, v: &Vector3<f64>| {
        let (_, slope) = solid.slope(p);
        slope * (-solid.bend(p, v, v) / slope.norm_squared())
    };
    let (p, v) = (here.place, here.tangent);
    let k1 = pull(&p, &v);
    let (p2, v2) = (p + v * (0.5 * h), v + k1 * (0.5 * h));
    let k2 = pull(&p2, &v2);
    let (p3, v3) = (p + v2 * (0.5 * h), v + k2 * (0.5 * h));
    let k3 = pull(&p3, &v3);
    let (p4, v4) = (p + v3 * h, v + k3 * h);
    let k4 = pull(&p4, &v4);
    let place = p + (v + v2 * 2.0 + v3 * 2.0 + v4) * (h / 6.0);
    let along = v + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0);
    ArcPoint::at(solid, solid.foot(&place), along, reach)
}
