//! Geodesics of a torus.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::cable::geodesics::geodesic::integrate;
use crate::cable::geodesics::wrappable::{approach_at, beside, roundoff, tangent_frame};
use crate::cable::{Geodesic, GeodesicEnd, Wrappable};
use crate::math::Real;
use crate::shapes::Torus;

/// The vector from the point of the circle nearest to `p` to `p` itself, and the distance of `p` from the axis.
#[inline]
fn offset_from_circle<T: Real>(torus: &Torus<T>, p: &Point3<T>) -> (Vector3<T>, T) {
    let distance = (p.x * p.x + p.y * p.y).sqrt();
    let least = T::default_epsilon() * torus.tube_radius;
    if distance <= least {
        // On the axis every point of the circle is equally near; the one on the x axis is returned.
        return (Vector3::new(p.x - torus.ring_radius, p.y, p.z), least);
    }
    let scale = T::one() - torus.ring_radius / distance;
    (Vector3::new(p.x * scale, p.y * scale, p.z), distance)
}

/// The two candidates for the lowest point of the line from `a` to `b`, 0 at its start and 1 at its end, if it is not
/// an end. The circle has radius one and lies in the xy plane.
///
/// With the arc length t from the point nearest to the centre, the squared distance from the circle is t² − 2 ρ(t) plus
/// a constant, where ρ, the distance from the axis, is a branch of a hyperbola. Half its slope, t − ρ', rises, falls
/// where ρ'' exceeds one, and rises again. So there are at most two minima, and Newton's method descends to each
/// monotonically from t = ±1, outside of which the slope has one sign.
fn low_places<T: Real>(a: &Point3<T>, b: &Point3<T>) -> [T; 2] {
    let (zero, one, two) = (T::zero(), T::one(), T::lit(2.0));
    let length = (b - a).norm();
    let along = (b - a) / length;
    let start = a.coords.dot(&along);
    let foot = a - along * start;
    // ρ² = α t² + 2 β t + γ, and ρ'' = δ / ρ³.
    let alpha = along.x * along.x + along.y * along.y;
    let beta = foot.x * along.x + foot.y * along.y;
    let gamma = foot.x * foot.x + foot.y * foot.y;
    let delta = (alpha * gamma - beta * beta).max(zero);
    let least = T::default_epsilon();
    if alpha <= least {
        // Along the axis ρ is constant.
        return [-start / length; 2];
    }
    let middle = -beta / alpha;
    let steep = delta.cbrt();
    let half = ((steep * steep - delta / alpha) / alpha).max(zero).sqrt();
    [-one, one].map(|side| {
        let mut t = side;
        // Convergence is quadratic except at a double root, where each step halves the distance.
        for _ in 0..60 {
            if (t - middle) * side <= half {
                t = middle + half * side;
                break;
            }
            let rho = ((alpha * t + two * beta) * t + gamma).max(least * least).sqrt();
            let slope = t - (alpha * t + beta) / rho;
            let step = slope / (one - delta / (rho * rho * rho));
            t -= step;
            if step.abs() <= least {
                break;
            }
        }
        (t - start) / length
    })
}

/// The implicit function is the distance from the surface.
impl<T: Real> Wrappable<T> for Torus<T> {
    fn value(&self, p: &Point3<T>) -> T {
        offset_from_circle(self, p).0.norm() - self.tube_radius
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        let (offset, _) = offset_from_circle(self, p);
        let reach = offset.norm();
        if reach > T::zero() { offset / reach } else { Vector3::z() }
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        let (offset, distance) = offset_from_circle(self, p);
        let reach = offset.norm();
        let n = offset / reach;
        let around = Vector3::new(-p.y, p.x, T::zero()) / distance;
        let along = around.cross(&n);
        let lean = T::one() - self.ring_radius / distance;
        along * along.transpose() / reach + around * around.transpose() * (lean / reach)
    }

    fn size(&self) -> T {
        self.tube_radius.min(self.ring_radius - self.tube_radius)
    }

    fn winding(&self, a: &Point3<T>, b: &Point3<T>) -> Option<T> {
        // The bearing from the circle in the half-plane of radius and height; it jumps where the line crosses the
        // disc that the circle bounds. A point in the plane of the disc counts as above it.
        let is_above = |p: &Point3<T>| p.z >= T::zero();
        let bearing = |p: &Point3<T>| {
            let angle = p.z.abs().atan2((p.x * p.x + p.y * p.y).sqrt() - self.ring_radius);
            if is_above(p) { angle } else { -angle }
        };
        let principal = bearing(b) - bearing(a);
        if is_above(a) == is_above(b) {
            return Some(principal);
        }
        let crossing = a + (b - a) * (a.z / (a.z - b.z));
        let through = crossing.x * crossing.x + crossing.y * crossing.y < self.ring_radius * self.ring_radius;
        Some(match (through, is_above(a)) {
            (false, _) => principal,
            (true, true) => principal + T::two_pi(),
            (true, false) => principal - T::two_pi(),
        })
    }

    /// All four sides of the tube where the line passes it, and those at the opposite side of the ring.
    fn passages(&self, _: &Point3<T>, _: &Point3<T>, closest: &Point3<T>) -> [Option<Point3<T>>; 8] {
        let near = self.retract(closest);
        let (offset, distance) = offset_from_circle(self, &near);
        let radial = Vector3::new(near.x, near.y, T::zero()) / distance;
        let centre = near - offset;
        let (up, out) = (Vector3::z() * self.tube_radius, radial * self.tube_radius);
        let opposite = Point3::from(-centre.coords);
        [
            near,
            centre - out,
            centre + out,
            centre + up,
            centre - up,
            opposite + out,
            opposite + up,
            opposite - up,
        ]
        .map(Some)
    }

    fn height(&self, p: &Point3<T>) -> T {
        self.value(p)
    }

    #[inline]
    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        let (offset, _) = offset_from_circle(self, p);
        let reach = offset.norm();
        if reach > T::zero() {
            p + offset * (self.tube_radius / reach - T::one())
        } else {
            p + Vector3::z() * self.tube_radius
        }
    }

    #[inline]
    fn end(&self, p: &Point3<T>, direction: &Vector3<T>) -> GeodesicEnd<T> {
        let (offset, distance) = offset_from_circle(self, p);
        let bend = T::one() / self.tube_radius;
        let normal = offset * bend;
        let (tangent, binormal) = tangent_frame(&normal, direction);
        let inverse = T::one() / distance;
        // The components along the circle; those along the tube are one right angle further.
        let around = (p.x * tangent.y - p.y * tangent.x) * inverse;
        let across = (p.x * binormal.y - p.y * binormal.x) * inverse;
        let lean = (distance - self.ring_radius) * bend * inverse;
        GeodesicEnd {
            point: *p,
            tangent,
            normal,
            curvature: across * across * bend + around * around * lean,
            torsion: around * across * (lean - bend),
            transverse_curvature: around * around * bend + across * across * lean,
        }
    }

    fn geodesic(
        &self,
        p: &Point3<T>,
        direction: &Vector3<T>,
        length: T,
        accuracy: T,
        most: usize,
    ) -> Geodesic<T> {
        let start = self.end(&self.retract(p), direction);
        // Clairaut's integral: the moment of the tangent about the axis is constant. The squared
        // components of the tangent, and so the acceleration, are functions of position alone.
        let moment = start.point.x * start.tangent.y - start.point.y * start.tangent.x;
        let moment = moment * moment;
        let ring = self.ring_radius;
        let bend = T::one() / self.tube_radius;
        let acceleration = |y: &[T; 5], _: &[T; 5]| {
            let squared = y[0] * y[0] + y[1] * y[1];
            let distance = squared.sqrt();
            let inverse = T::one() / distance;
            let scale = (distance - ring) * inverse;
            let gauss = scale * bend * bend;
            let around = moment * inverse * inverse;
            let pull = -bend * bend * (T::one() - around + around * scale);
            let radial = pull * scale;
            [radial * y[0], radial * y[1], pull * y[2], -gauss * y[3], -gauss * y[4]]
        };
        integrate::<T, Self, true>(self, start, length, (accuracy, most), acceleration)
    }

    fn may_reenter(&self, touch: &Point3<T>, to: &Point3<T>) -> bool {
        // Along a tangent the implicit quartic (|p|² + R² − r²)² − 4 R² (x² + y²), negative inside, has a
        // double root at the touch: s² (s² + 2 m s + c) with the arc length s.
        let along = to - touch;
        let length = along.norm();
        let climb = along.z / length;
        let ring = self.ring_radius;
        let excess = touch.coords.norm_squared() + ring * ring - self.tube_radius * self.tube_radius;
        let m = T::lit(2.0) * touch.coords.dot(&along) / length;
        let c = m * m + T::lit(2.0) * excess - T::lit(4.0) * ring * ring * (T::one() - climb * climb);
        let discriminant = m * m - c;
        if discriminant <= T::zero() {
            return false;
        }
        let root = discriminant.sqrt();
        root > m && -m - root < length
    }

    fn may_be_hollow(&self, start: &GeodesicEnd<T>, _length: T) -> bool {
        // By Clairaut's integral the normal curvature is (1 − m² R / ρ³) / r at the distance ρ from the axis.
        let moment = start.point.x * start.tangent.y - start.point.y * start.tangent.x;
        let hole = self.ring_radius - self.tube_radius;
        moment * moment * self.ring_radius > hole * hole * hole
    }

    fn clears(&self, a: &Point3<T>, b: &Point3<T>) -> bool {
        // Steps along the line by the distances of its points; a line that comes near needs too many.
        const MOST_STEPS: usize = 8;
        let along = b - a;
        let length = along.norm();
        let least = T::negligible() * self.size();
        let mut covered = T::zero();
        for _ in 0..MOST_STEPS {
            let reach = self.value(&(a + along * (covered / length)));
            if reach <= least {
                break;
            }
            covered += reach;
            if covered > length {
                return true;
            }
        }
        false
    }

    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        let along = b - a;
        // Plain numbers, whatever the scalar.
        let [from, to] = [a, b].map(|p| p.map(|x| (x / self.ring_radius).to_f64()));
        let [before, after] = low_places(&from, &to).map(T::lit);
        let start = approach_at(self, a, b, T::zero());
        let (lowest, height) = [T::one(), before, after].into_iter().fold(start, |best, place| {
            let next = approach_at(self, a, b, place);
            if next.1 < best.1 { next } else { best }
        });
        if height + self.tube_radius > roundoff(a, b) {
            return (lowest, height);
        }
        // The line meets the circle: any perpendicular direction is outwards.
        (lowest + beside(&along, self.tube_radius), height)
    }
}
