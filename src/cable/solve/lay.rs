//! Placement of a cable on a surface, from which Newton's method finds the path.

use nalgebra::Point3;

use crate::cable::geodesics::geodesic::GeodesicEnd;
use crate::cable::geodesics::wrappable::Wrappable;
use crate::cable::solve::node::Trial;
use crate::cable::solve::run::Budget;
use crate::math::Real;

/// The geodesic through a point of the surface in the direction from `before` to `after`, extended to both sides until
/// these are above its tangent planes: from a point where they are hidden the chords would run backwards.
///
/// Over flat parts its ends must be where the surface is curved, so they are found by bisection.
pub(crate) fn lay_through<T: Real>(
    surface: &dyn Wrappable<T>,
    p: &Point3<T>,
    before: &Point3<T>,
    after: &Point3<T>,
    budget: &mut Budget,
) -> Trial<T> {
    let along = &(after - before);
    // Steps of a fifth of a radian, up to a whole turn; with flat parts, of twice the radius of an edge.
    let (step, most) = if surface.has_flats() {
        (T::lit(2.0) * surface.size(), 512)
    } else {
        (T::lit(0.2) / surface.end(p, along).greatest_curvature(), 30)
    };
    let mut extend = |to: &Point3<T>, step: T| {
        let is_hidden = |end: &GeodesicEnd<T>| (to - end.point).dot(&end.normal) < T::zero();
        let mut reach = T::zero();
        let mut end = surface.end(p, along);
        let mut is_bracketed = false;
        for _ in 0..most {
            if !end.point.coords.norm().is_finite() || !is_hidden(&end) {
                is_bracketed = reach != T::zero();
                break;
            }
            reach += step;
            end = budget.follow(surface, p, along, reach);
        }
        if is_bracketed && surface.has_flats() {
            let (mut low, mut high) = (reach - step, reach);
            for _ in 0..20 {
                reach = T::lit(0.5) * (low + high);
                end = budget.follow(surface, p, along, reach);
                *(if is_hidden(&end) { &mut low } else { &mut high }) = reach;
            }
        }
        (reach, end)
    };
    let (back, start) = extend(before, -step);
    let (ahead, _) = extend(after, step);
    Trial { point: start.point, tangent: start.tangent, length: ahead - back }
}
