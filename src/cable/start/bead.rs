//! Beads of a plan: the middles of the contacts of a taut cable.

use nalgebra::{Point3, Vector3};

use crate::cable::geodesics::geodesic::GeodesicEnd;
use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::solve::node::Node;
use crate::math::{Real, is_finite};

/// The place of the cable on one obstacle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bead<T: Real> {
    pub(crate) is_pressed: bool,
    /// The middle of the contact, in Ground.
    pub(crate) middle: GeodesicEnd<T>,
    /// The angles of the arcs before and after the middle \[rad\].
    pub(crate) arcs: [T; 2],
}

impl<T: Real> Bead<T> {
    /// The estimated first point of the contact, for a negative sense, or the last one.
    pub(crate) fn end(&self, sense: T) -> Point3<T> {
        let GeodesicEnd { point, tangent, normal, curvature, .. } = self.middle;
        let [back, ahead] = self.arcs;
        let angle = if sense < T::zero() { back } else { ahead };
        if curvature <= T::zero() {
            return point;
        }
        let (sin, cos) = angle.sin_cos();
        point + (tangent * (sin * sense) - normal * (T::one() - cos)) / curvature
    }
}

/// A bead at a point near the surface, in its frame, between two points in Ground.
pub(crate) fn laid<T: Real>(
    surface: &dyn Wrappable<T>,
    node: &Node<T>,
    p: &Point3<T>,
    a: &Point3<T>,
    b: &Point3<T>,
) -> Bead<T> {
    let point = surface.retract(p);
    let [from, to] = [a, b].map(|end| (node.to_surface(end) - point).normalize());
    let middle = frame(surface, &point, &(to - from)).transformed(&node.X_GS);
    Bead { is_pressed: is_finite(&middle.tangent), middle, arcs: [T::zero(); 2] }
}

/// The frame at a point of the surface in the direction `along`; or, if both sides of the cable leave so steeply that
/// it has hardly any component along the surface, in the direction of the largest curvature near it.
fn frame<T: Real>(surface: &dyn Wrappable<T>, p: &Point3<T>, along: &Vector3<T>) -> GeodesicEnd<T> {
    let end = surface.end(p, along);
    if end.tangent.dot(along) > T::lit(0.5) && end.curvature > T::lit(0.05) * end.transverse_curvature {
        return end;
    }
    let GeodesicEnd { curvature, torsion, transverse_curvature, .. } = end;
    let angle = T::lit(0.5) * (T::lit(2.0) * torsion).atan2(curvature - transverse_curvature);
    let (sin, cos) = angle.sin_cos();
    surface.end(p, &(end.tangent * cos + end.binormal() * sin))
}

/// A bead moved towards the middle of the contact of a taut cable, and its turn \[rad\]; `None` if the cable does not
/// press on it.
///
/// At the middle the cable turns equally to both sides; across, its length is minimal there.
pub(crate) fn shifted<T: Real>(
    surface: &dyn Wrappable<T>,
    node: &Node<T>,
    at: &GeodesicEnd<T>,
    a: &Point3<T>,
    b: &Point3<T>,
) -> Option<(GeodesicEnd<T>, T)> {
    let (back, ahead) = (a - at.point, b - at.point);
    let (inverse_back, inverse_ahead) = (T::one() / back.norm(), T::one() / ahead.norm());
    let (back, ahead) = (back * inverse_back, ahead * inverse_ahead);
    let pull = back + ahead;
    let press = -pull.dot(&at.normal);
    let (_, arc_back) = leg(at, a, -T::one());
    let (_, arc_ahead) = leg(at, b, T::one());
    if !(press > T::zero() && arc_back + arc_ahead >= T::zero()) {
        return None;
    }
    let GeodesicEnd { tangent, curvature, transverse_curvature, .. } = *at;
    let binormal = at.binormal();
    let along =
        if curvature > T::zero() { (arc_ahead - arc_back) * T::lit(0.5) / curvature } else { T::zero() };
    let [x, y] = [back.dot(&binormal), ahead.dot(&binormal)];
    let stiffness = (T::one() - x * x) * inverse_back + (T::one() - y * y) * inverse_ahead;
    let across = (x + y) / (stiffness - transverse_curvature * press).max(T::lit(0.25) * stiffness);
    let turn = if surface.is_convex() {
        at.bend(along, across, T::zero(), T::zero())
    } else {
        (along.abs() + across.abs()) * at.greatest_curvature()
    };
    let longest = T::lit(0.6);
    let scale = if turn > longest { longest / turn } else { T::one() };
    let moved = node.to_surface(&(at.point + (tangent * along + binormal * across) * scale));
    let point = surface.retract(&moved);
    if !surface.covers(&point) {
        return None;
    }
    let direction = node.X_GS.rotation.inverse() * (ahead - back);
    Some((frame(surface, &point, &direction).transformed(&node.X_GS), turn))
}

/// The excess of the way from the middle of a contact to a point over the straight line, if it follows the circle of
/// curvature; and the angle of its arc, negative if the point is above the tangent at the middle.
pub(crate) fn leg<T: Real>(middle: &GeodesicEnd<T>, to: &Point3<T>, sense: T) -> (T, T) {
    let off = to - middle.point;
    let chord = off.norm();
    let (zero, one) = (T::zero(), T::one());
    if middle.curvature * chord < T::lit(1e-3) {
        return (zero, zero);
    }
    let radius = one / middle.curvature;
    let ahead = off.dot(&middle.tangent) * sense;
    let above = off.dot(&middle.normal) + radius;
    let aside = off.dot(&middle.binormal());
    let straight = (ahead * ahead + above * above - radius * radius).max(zero).sqrt();
    let angle = ahead.atan2(above) - straight.atan2(radius);
    let flat = straight + radius * angle;
    ((flat * flat + aside * aside).sqrt() - chord, angle)
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;

    use super::*;
    use crate::shapes::Sphere;

    #[test]
    fn the_way_from_a_middle_is_exact_over_a_circle() {
        let radius = 0.3_f64;
        let sphere = Sphere::new(radius).expect("positive");
        let middle = sphere.end(&Point3::new(0.0, 0.0, radius), &Vector3::x());
        for (ahead, above, aside) in [(1.0, -0.5, 0.0), (0.2, -0.9, 0.0), (0.7, 0.2, 0.4), (0.1, -0.8, 0.1)] {
            let on_circle = |angle: f64| {
                let (sin, cos) = angle.sin_cos();
                ([radius * sin, radius * cos], [sin, cos])
            };
            // Where the straight line leaves the circle, by bisection.
            let (mut low, mut high) = (0.0, 3.0);
            for _ in 0..60 {
                let angle = 0.5 * (low + high);
                let (at, normal) = on_circle(angle);
                let height = (ahead - at[0]) * normal[0] + (above - at[1]) * normal[1];
                if height < 0.0 { low = angle } else { high = angle }
            }
            let (at, _) = on_circle(low);
            let flat = radius * low + (ahead - at[0]).hypot(above - at[1]);
            let to = Point3::new(ahead, aside, above);
            let chord = (to - middle.point).norm();
            for (sense, to) in [(1.0, to), (-1.0, Point3::new(-ahead, aside, above))] {
                let (longer, angle) = leg(&middle, &to, sense);
                assert!((angle - low).abs() < 1e-12, "{angle} and {low}");
                assert!((longer - (flat.hypot(aside) - chord)).abs() < 1e-12, "{longer}");
            }
        }
    }
}
