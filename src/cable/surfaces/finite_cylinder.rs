//! Geodesics of a cylinder with ends: helices on its side, straight lines on its ends, those of a torus on its rims.

use nalgebra::{Matrix3, Point3, Vector2, Vector3};

use crate::cable::geodesics::wrappable::{approach_at, beside, roundoff, tangent_frame};
use crate::cable::{Geodesic, GeodesicEnd, Jacobi, Wrappable};
use crate::math::{Real, is_finite};
use crate::shapes::finite_cylinder::Part;
use crate::shapes::{Cylinder, FiniteCylinder, Torus};

/// A geodesic with more parts is refused: its end is NaN.
const MOST_PIECES: usize = 10_000;

impl<T: Real> FiniteCylinder<T> {
    fn side(&self) -> Cylinder<T> {
        Cylinder { radius: self.radius }
    }

    /// The torus of the rim next to a point, the height of its circle, and the point in its frame.
    fn rim(&self, p: &Point3<T>) -> (Torus<T>, T, Point3<T>) {
        let torus = Torus { ring_radius: self.end_radius(), tube_radius: self.rim_radius };
        let height = if p.z < T::zero() { -self.side_half_length() } else { self.side_half_length() };
        (torus, height, Point3::new(p.x, p.y, p.z - height))
    }

    /// The part of the surface onto which a curve from `p` along `tangent` runs. A point within rounding of a seam is
    /// on it.
    fn part_ahead(&self, p: &Point3<T>, tangent: &Vector3<T>) -> Part {
        let near = T::lit(1e-12).max(T::default_epsilon() * T::lit(32.0)) * (self.radius + self.half_length);
        let distance = (p.x * p.x + p.y * p.y).sqrt();
        let [out, up] = self.beyond(distance, p.z);
        let (outwards, upwards) = ((p.x * tangent.x + p.y * tangent.y) / distance, tangent.z * p.z);
        let is_below = up < -near || up <= near && upwards <= T::zero();
        if is_below && out > T::zero() {
            return Part::Side;
        }
        // Along a seam a curve does not leave it: the seam of the end is a circle, not a geodesic of the end.
        let is_within = out < -near || out <= near && outwards < T::zero();
        if is_within { Part::End } else { Part::Rim }
    }

    /// The next piece of a geodesic on one part, no longer than `left`.
    fn piece(&self, p: &Point3<T>, tangent: &Vector3<T>, left: T, accuracy: T) -> Geodesic<T> {
        let shorter = |reach: T| if reach < left { reach } else { left };
        match self.part_ahead(p, tangent) {
            Part::Side => {
                let length = shorter(self.reach_on_side(p, tangent));
                self.side().geodesic(p, tangent, length, T::zero(), usize::MAX)
            }
            Part::End => {
                let length = shorter(self.reach_on_end(p, tangent));
                let start = self.end(p, tangent);
                let end = GeodesicEnd { point: p + start.tangent * length, ..start };
                let jacobi = Jacobi { turn: length, ..Jacobi::at_start() };
                Geodesic { start, end, length, jacobi, passes_conjugate_point: false, evaluations: 0 }
            }
            Part::Rim => self.piece_on_rim(p, tangent, left, accuracy),
        }
    }

    /// The way along a helix to the end of the side.
    fn reach_on_side(&self, p: &Point3<T>, tangent: &Vector3<T>) -> T {
        let height = self.side_half_length();
        let seam = if tangent.z < T::zero() { -height } else { height };
        // Along the seam the quotient has no meaning.
        if tangent.z == T::zero() { T::lit(1e30) } else { ((seam - p.z) / tangent.z).max(T::zero()) }
    }

    /// The way along a straight line to the edge of an end.
    fn reach_on_end(&self, p: &Point3<T>, tangent: &Vector3<T>) -> T {
        let radius = self.end_radius();
        let outwards = p.x * tangent.x + p.y * tangent.y;
        let room = (radius * radius - p.x * p.x - p.y * p.y).max(T::zero());
        let root = (outwards * outwards + room).sqrt();
        // Both forms of the root, without cancellation.
        if outwards > T::zero() { room / (root + outwards) } else { root - outwards }
    }

    fn piece_on_rim(&self, p: &Point3<T>, tangent: &Vector3<T>, left: T, accuracy: T) -> Geodesic<T> {
        let (torus, height, local) = self.rim(p);
        // A curve that leaves the rim at the side returns no sooner than after half a swing about it, or around the other three
        // quarters of the tube; both are longer.
        let most = (torus.ring_radius * torus.tube_radius).sqrt().min(T::pi() * torus.tube_radius);
        let limit = if most < left { most } else { left };
        let mut evaluations = 0;
        let mut to = |length: T| {
            let geodesic = torus.geodesic(&local, tangent, length, accuracy, usize::MAX);
            evaluations += geodesic.evaluations;
            geodesic
        };
        // How far a point of the torus is beyond the rim: its depth below the side's seam, or within that of the end;
        // and the rate at which it changes.
        let beyond = |end: &GeodesicEnd<T>| {
            let (q, t) = (&end.point, &end.tangent);
            let distance = (q.x * q.x + q.y * q.y).sqrt();
            let sign = height.signum();
            let (below, within) = (-q.z * sign, torus.ring_radius - distance);
            if below > within { (below, -t.z * sign) } else { (within, -(q.x * t.x + q.y * t.y) / distance) }
        };
        let mut piece = to(limit);
        let (mut low, mut high, mut length) = (T::zero(), limit, limit);
        let (mut excess, mut rate) = beyond(&piece.end);
        if excess > T::zero() {
            // Newton's method, kept within the bracket; the last step is for the derivatives of a dual number.
            let mut is_last = false;
            for _ in 0..60 {
                let newton = length - excess / rate;
                let next = if newton > low && newton < high || is_last {
                    newton
                } else {
                    T::lit(0.5) * (low + high)
                };
                let step = (next - length).abs();
                length = next;
                piece = to(length);
                (excess, rate) = beyond(&piece.end);
                if is_last {
                    break;
                }
                *(if excess > T::zero() { &mut high } else { &mut low }) = length;
                is_last = step <= T::default_epsilon() * T::lit(8.0) * self.radius;
            }
        }
        let lifted = |end: GeodesicEnd<T>| GeodesicEnd { point: end.point + Vector3::z() * height, ..end };
        Geodesic { start: lifted(piece.start), end: lifted(piece.end), evaluations, ..piece }
    }

    /// For a point of a line deep inside that is equally near to two parts of the surface, a point under a place
    /// between them from which the line is hidden on both sides.
    fn between_parts(&self, p: &Point3<T>, along: &Vector3<T>) -> Option<Point3<T>> {
        let distance = (p.x * p.x + p.y * p.y).sqrt();
        let [out, up] = self.beyond(distance, p.z);
        let scale = self.radius + self.half_length;
        let near = T::default_epsilon().sqrt() * scale;
        if out.max(up) > T::zero() || distance <= near {
            return None;
        }
        let across = Vector3::new(p.x, p.y, T::zero()) / distance;
        if up > out && p.z.abs() <= near {
            // Equally near to both ends: around the side.
            return Some(Point3::from(across * (self.radius - T::lit(0.5) * self.rim_radius)));
        }
        if (out - up).abs() > near {
            return None;
        }
        let upwards = Vector3::z() * p.z.signum();
        let [outward, upward] = [across.dot(along), upwards.dot(along)];
        if outward * upward >= T::zero() {
            return None;
        }
        let normal = (across * upward.abs() + upwards * outward.abs()).normalize();
        let circle = across * self.end_radius() + upwards * self.side_half_length();
        Some(Point3::from(circle + normal * (T::lit(0.5) * self.rim_radius)))
    }
}

/// The implicit function is the distance from the surface.
impl<T: Real> Wrappable<T> for FiniteCylinder<T> {
    fn value(&self, p: &Point3<T>) -> T {
        self.distance_of(p)
    }

    fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
        self.normal_at(p)
    }

    fn hessian(&self, p: &Point3<T>) -> Matrix3<T> {
        match self.nearest_part(p).0 {
            Part::Side => self.side().hessian(p),
            Part::End => Matrix3::zeros(),
            Part::Rim => {
                let (torus, _, local) = self.rim(p);
                torus.hessian(&local)
            }
        }
    }

    fn size(&self) -> T {
        self.rim_radius
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn has_flats(&self) -> bool {
        true
    }

    /// To the end of the part; on a rim no farther than the geodesic certainly stays on it.
    fn smooth_reach(&self, p: &Point3<T>, velocity: &Vector3<T>, _: &Vector3<T>) -> T {
        self.piece(p, velocity, T::lit(1e30), T::zero()).length
    }

    /// Both ways around the side, and over both ends.
    fn passages(&self, a: &Point3<T>, b: &Point3<T>, closest: &Point3<T>) -> [Option<Point3<T>>; 8] {
        let near = self.retract(closest);
        let [radial, along] = [closest.coords.xy(), (b - a).xy()];
        let aside = Vector2::new(along.y, -along.x);
        let around = [aside, radial].map(|v| v.try_normalize(T::default_epsilon() * (b - a).norm()));
        let around = around.into_iter().flatten().next().unwrap_or(Vector2::x()) * self.radius;
        let height = closest.z.max(-self.side_half_length()).min(self.side_half_length());
        let inner = radial * (self.end_radius() / radial.norm().max(self.end_radius()));
        // The far side first.
        let around = if around.dot(&radial) > T::zero() { -around } else { around };
        let [side, other] = [around, -around].map(|v| Point3::from(v.push(height)));
        let [top, bottom] = [self.half_length, -self.half_length].map(|z| Point3::from(inner.push(z)));
        [Some(near), Some(side), Some(other), Some(top), Some(bottom), None, None, None]
    }

    fn axis(&self) -> Option<Vector3<T>> {
        Some(Vector3::z())
    }

    fn height(&self, p: &Point3<T>) -> T {
        self.distance_of(p)
    }

    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        p - self.normal_at(p) * self.distance_of(p)
    }

    fn end(&self, p: &Point3<T>, direction: &Vector3<T>) -> GeodesicEnd<T> {
        match self.nearest_part(p).0 {
            Part::Side => self.side().end(p, direction),
            Part::Rim => {
                let (torus, _, local) = self.rim(p);
                GeodesicEnd { point: *p, ..torus.end(&local, direction) }
            }
            Part::End => {
                let normal = self.normal_at(p);
                let (tangent, _) = tangent_frame(&normal, direction);
                GeodesicEnd { point: *p, tangent, normal, ..GeodesicEnd::blank() }
            }
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
        let sign = if length < T::zero() { -T::one() } else { T::one() };
        let mut end = GeodesicEnd { tangent: start.tangent * sign, ..start };
        let mut jacobi = Jacobi::at_start();
        let (mut passes_conjugate_point, mut evaluations, mut is_whole) = (false, 0, false);
        let mut left = length.abs();
        for _ in 0..if length.is_finite() { MOST_PIECES } else { 0 } {
            let piece = self.piece(&end.point, &end.tangent, left, accuracy);
            end = piece.end;
            jacobi = jacobi.then(&piece.jacobi);
            passes_conjugate_point |= jacobi.turn < T::zero();
            evaluations += piece.evaluations;
            left -= piece.length;
            is_whole = left <= T::zero() && evaluations <= most;
            if left <= T::zero() || evaluations > most {
                break;
            }
        }
        if !is_whole {
            end.point.x = T::lit(f64::NAN);
        }
        if is_finite(&end.point.coords) {
            end = self.end(&self.retract(&end.point), &(end.tangent * sign));
        }
        jacobi.shift_rate *= sign;
        jacobi.turn *= sign;
        Geodesic { start, end, length, jacobi, passes_conjugate_point, evaluations }
    }

    /// The distance is convex along a line, so its slope is bisected. If a stretch is equally near, its middle is
    /// returned.
    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        let along = b - a;
        let slope = |u: T| self.normal_at(&(a + along * u)).dot(&along);
        let [zero, one] = [T::zero(), T::one()];
        let least = T::default_epsilon() * T::lit(4.0);
        // Where the line stops approaching, and, if its distance then stays constant, where it departs.
        let level = T::default_epsilon() * T::lit(16.0) * along.norm();
        let last_with = |is_before: &dyn Fn(T) -> bool, from: T| {
            let (mut low, mut high) = (from, one);
            if !is_before(low) {
                return low;
            }
            if is_before(high) {
                return high;
            }
            while high - low > least {
                let middle = T::lit(0.5) * (low + high);
                *(if is_before(middle) { &mut low } else { &mut high }) = middle;
            }
            T::lit(0.5) * (low + high)
        };
        let arrives = last_with(&|u| slope(u) < -level, zero);
        let ahead = (arrives + T::lit(1e-6)).min(one);
        let departs = if slope(ahead) <= level { last_with(&|u| slope(u) <= level, ahead) } else { arrives };
        let (closest, height) = approach_at(self, a, b, T::lit(0.5) * (arrives + departs));
        if let Some(point) = self.between_parts(&closest, &along) {
            return (point, height);
        }
        let distance = (closest.x * closest.x + closest.y * closest.y).sqrt();
        if height > zero || distance > roundoff(a, b) {
            return (closest, height);
        }
        // The line passes through the axis inside: a direction across both is outwards.
        let sideways = Vector3::new(-along.y, along.x, zero);
        let sideways = if sideways.norm() > roundoff(a, b) {
            sideways.normalize() * (T::default_epsilon().sqrt() * self.radius)
        } else {
            beside(&along, self.radius)
        };
        (closest + sideways, height)
    }
}
