//! Surfaces that a cable can wrap.

use core::any::Any;
use core::fmt::Debug;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::cable::geodesics::geodesic::integrate;
use crate::cable::geodesics::turning;
use crate::cable::{Geodesic, GeodesicEnd};
use crate::math::{Real, is_finite};

/// A smooth surface that a cable can wrap, in its own frame S.
///
/// Three functions are required: an implicit function `f` that is negative inside, zero on the surface and positive
/// outside, its gradient, and its Hessian. All other functions have defaults, and may be overridden by closed forms, as
/// the surfaces of this crate do.
///
/// The gradient must not vanish near the surface; it may vanish deep inside, as at the centre of a ball. `f` need not be
/// a distance. If the Hessian is not continuous, geodesics are still found, with more and smaller steps.
///
/// # Example: a paraboloid of the user's own
///
/// ```
/// use force_elements::Real;
/// use force_elements::cable::Wrappable;
/// use force_elements::nalgebra::{Matrix3, Point3, Vector3};
///
/// /// The solid below `z = −(x² + y²) / 2`, in metres.
/// #[derive(Debug)]
/// struct Paraboloid;
///
/// impl<T: Real> Wrappable<T> for Paraboloid {
///     fn value(&self, p: &Point3<T>) -> T {
///         p.z + T::lit(0.5) * (p.x * p.x + p.y * p.y)
///     }
///     fn gradient(&self, p: &Point3<T>) -> Vector3<T> {
///         Vector3::new(p.x, p.y, T::one())
///     }
///     fn hessian(&self, _: &Point3<T>) -> Matrix3<T> {
///         Matrix3::from_diagonal(&Vector3::new(T::one(), T::one(), T::zero()))
///     }
///     fn size(&self) -> T {
///         T::one()
///     }
/// }
///
/// // A meridian of a surface of revolution is a geodesic: it stays in its plane.
/// let (p, along_x) = (Point3::<f64>::origin(), Vector3::x());
/// let geodesic = Paraboloid.geodesic(&p, &along_x, 0.8, 1e-12, usize::MAX);
/// assert!(geodesic.end.point.y.abs() < 1e-14);
/// // The arc length of the parabola z = −x²/2 up to x.
/// let x: f64 = geodesic.end.point.x;
/// let arc = 0.5 * (x * (1.0 + x * x).sqrt() + x.asinh());
/// assert!((arc - 0.8).abs() < 1e-11);
/// ```
pub trait Wrappable<T: Real>: Any + Debug + Send + Sync {
    /// The implicit function: negative inside, zero on the surface, positive outside.
    fn value(&self, p: &Point3<T>) -> T;

    /// The gradient of [`value`](Self::value), which points outwards.
    fn gradient(&self, p: &Point3<T>) -> Vector3<T>;

    /// The matrix of second derivatives of [`value`](Self::value).
    fn hessian(&self, p: &Point3<T>) -> Matrix3<T>;

    /// Returns [`value`](Self::value) and [`gradient`](Self::gradient), for surfaces that compute both together at lower
    /// cost.
    fn value_and_gradient(&self, p: &Point3<T>) -> (T, Vector3<T>) {
        (self.value(p), self.gradient(p))
    }

    /// Returns [`gradient`](Self::gradient) and [`hessian`](Self::hessian), for surfaces that compute both together at
    /// lower cost.
    fn gradient_and_hessian(&self, p: &Point3<T>) -> (Vector3<T>, Matrix3<T>) {
        (self.gradient(p), self.hessian(p))
    }

    /// The size of the smallest feature \[m\]: the least radius of curvature, or a length of that order. Lines are
    /// searched for contact at intervals of a quarter of it; lines longer than a thousand times the size, only near the
    /// lowest of 4096 samples.
    fn size(&self) -> T;

    /// Whether the solid is convex. A straight line that leaves a convex solid along a tangent stays outside, so the
    /// cable is not tested against the surface that it leaves. If the answer is wrong, cables may run through the solid.
    fn is_convex(&self) -> bool {
        false
    }

    /// Whether parts of the surface between rounded edges are flat along some lines, like the ends of a cylinder. Over
    /// these the cable is placed from edge to edge before Newton's method continues.
    fn has_flats(&self) -> bool {
        false
    }

    /// Whether the straight line that leaves the surface at `touch` along a tangent may enter the solid before it ends at
    /// `to` outside. Return `false` only if it certainly does not; otherwise the line is searched with
    /// [`closest_on_segment`](Self::closest_on_segment).
    fn may_reenter(&self, _touch: &Point3<T>, _to: &Point3<T>) -> bool {
        !self.is_convex()
    }

    /// Whether the geodesic of this length from `start` may run over a hollow, where its normal curvature is negative.
    /// Return `false` only if it certainly does not; otherwise the normal curvature along it is searched.
    fn may_be_hollow(&self, _start: &GeodesicEnd<T>, _length: T) -> bool {
        !self.is_convex()
    }

    /// The angle by which the straight line from `a` to `b` winds about the core of the solid: the axis of a cylinder, or
    /// the circle within a torus. For a line through the core it is the limit of the angles of nearby lines that miss the
    /// core.
    ///
    /// Two curves outside the solid with the same ends belong to one class if their sums of angles agree; otherwise the
    /// sums differ by whole turns. `None`, the default, if there is only one class or the classes are not known. A
    /// contact hint then only selects a side.
    fn winding(&self, _a: &Point3<T>, _b: &Point3<T>) -> Option<T> {
        None
    }

    /// Points on or near the surface, at the sides on which a cable from `a` to `b` may pass the solid; `closest` is the
    /// point of the straight line that is deepest inside or closest. The middle of a contact is searched from each.
    ///
    /// The first point is at the side near `closest`, the second at the far side. On a surface without classes, a contact
    /// hint outweighs a detour of up to half the girth between these two points. The default returns these two. A
    /// half-space has no far side.
    fn passages(&self, _a: &Point3<T>, _b: &Point3<T>, closest: &Point3<T>) -> [Option<Point3<T>>; 8] {
        let near = self.retract(closest);
        let mut passages = [None; 8];
        passages[0] = Some(near);
        let mut inwards = self.gradient(&near).normalize() * (T::lit(-0.25) * self.size());
        let mut place = near;
        // Beyond sixteen of the smallest features, steps grow with the depth, up to some thousand of them.
        for i in 0..192 {
            if i >= 64 {
                inwards *= T::lit(1.04);
            }
            place += inwards;
            if !self.covers(&place) || !is_finite(&place.coords) {
                break;
            }
            if self.value(&place) > T::zero() {
                passages[1] = Some(place);
                break;
            }
        }
        passages
    }

    /// The direction of the axis of a column, through the origin. A cable that is
    /// [confined](crate::cable::Obstacle::confined_to) to one side passes in front of this axis. `None`, the default, for
    /// other solids.
    fn axis(&self) -> Option<Vector3<T>> {
        None
    }

    /// Whether the surface is defined at this point. Only a patch such as a height map has an edge.
    fn covers(&self, _p: &Point3<T>) -> bool {
        true
    }

    /// The length \[m\] for which a geodesic with this velocity (a unit vector) and acceleration \[1/m\] can run from `p`
    /// before a higher derivative of the surface jumps. No integration step extends beyond it. Infinite unless the
    /// surface is piecewise.
    fn smooth_reach(&self, _p: &Point3<T>, _velocity: &Vector3<T>, _acceleration: &Vector3<T>) -> T {
        T::lit(1e30)
    }

    /// The distance from the surface to first order, `f / |∇f|`, negative inside \[m\]. If the gradient vanishes, it is
    /// [`size`](Self::size) with the sign of `f`.
    fn height(&self, p: &Point3<T>) -> T {
        let (value, gradient) = self.value_and_gradient(p);
        let slope = gradient.norm();
        // A NaN slope counts as zero.
        if slope > T::zero() { value / slope } else { value.signum() * self.size() }
    }

    /// A point of the surface near `p`, to first order `p` itself if `p` is near the surface.
    fn retract(&self, p: &Point3<T>) -> Point3<T> {
        // Convergence is quadratic near the surface, within a few rounds. The other rounds are for distant starts, from
        // which a function that is convex along its gradient is approached from one side.
        const ROUNDS: usize = 60;
        let mut q = *p;
        let mut longest = self.size();
        for _ in 0..ROUNDS {
            let (value, gradient) = self.value_and_gradient(&q);
            let mut step = gradient * (value / gradient.norm_squared());
            let reach = step.norm();
            if !reach.is_finite() {
                if !is_finite(&q.coords) {
                    return q;
                }
                // The outward direction is undefined here: step in any direction.
                step = Vector3::x() * (T::lit(-0.1) * self.size());
            } else if reach > longest {
                // Limits the step near a point where the gradient vanishes.
                step *= longest / reach;
            }
            longest += longest;
            q -= step;
            if reach <= T::negligible() * self.size() {
                break;
            }
        }
        q
    }

    /// The frame of a geodesic and the curvatures of the surface at `p` on the surface, with the
    /// tangent nearest to `direction`.
    fn end(&self, p: &Point3<T>, direction: &Vector3<T>) -> GeodesicEnd<T> {
        let (gradient, hessian) = self.gradient_and_hessian(p);
        let slope = gradient.norm();
        let normal = gradient / slope;
        let (tangent, binormal) = tangent_frame(&normal, direction);
        let bend = hessian * tangent / slope;
        GeodesicEnd {
            point: *p,
            tangent,
            normal,
            curvature: tangent.dot(&bend),
            torsion: binormal.dot(&bend),
            transverse_curvature: binormal.dot(&(hessian * binormal)) / slope,
        }
    }

    /// The geodesic of a signed `length` \[m\] from the point of the surface near `p`, in the tangent direction nearest
    /// to `direction`. Tangents at its end are accurate to `accuracy` \[rad\]. If that takes more than `most` evaluations
    /// of the surface's derivatives, or ten thousand integration steps, its end is NaN.
    fn geodesic(
        &self,
        p: &Point3<T>,
        direction: &Vector3<T>,
        length: T,
        accuracy: T,
        most: usize,
    ) -> Geodesic<T> {
        let start = self.end(&self.retract(p), direction);
        let acceleration = |y: &[T; 5], v: &[T; 5]| {
            let point = Point3::new(y[0], y[1], y[2]);
            let velocity = Vector3::new(v[0], v[1], v[2]);
            let (gradient, hessian) = self.gradient_and_hessian(&point);
            let slope_squared = gradient.norm_squared();
            let pull = gradient * (velocity.dot(&(hessian * velocity)) / -slope_squared);
            // R. Goldman, Curvature formulas for implicit curves and surfaces (2005), eq. 4.1.
            let gauss = gradient.dot(&(adjugate(&hessian) * gradient)) / (slope_squared * slope_squared);
            [pull.x, pull.y, pull.z, -gauss * y[3], -gauss * y[4]]
        };
        integrate::<T, Self, false>(self, start, length, (accuracy, most), acceleration)
    }

    /// The normal curvature, integrated along the geodesic of [`geodesic`](Self::geodesic) \[rad\]: the angle by which
    /// the surface turns a cable on it. The default is a quadrature, accurate to some 10⁻¹² if the surface is smooth.
    fn normal_curvature_integral(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, accuracy: T) -> T {
        turning::integrate(self, p, direction, length, accuracy, turning::curvature)[0]
    }

    /// The integrals \[rad/m, rad\] of `τ j′` along the geodesic of [`geodesic`](Self::geodesic), with the geodesic
    /// torsion `τ` and the rates `j′` of the Jacobi scalars by a shift and by a turn of its start. They are the changes
    /// of its [turning](Self::normal_curvature_integral) by this shift and turn, in addition to the turns of its ends
    /// about their binormals.
    fn turning_by_start(&self, p: &Point3<T>, direction: &Vector3<T>, length: T, accuracy: T) -> [T; 2] {
        turning::integrate(self, p, direction, length, accuracy, turning::twisting)
    }

    /// Whether the straight line from `a` to `b` certainly stays outside the solid. If `false`, the default, the line is
    /// searched with [`closest_on_segment`](Self::closest_on_segment).
    fn clears(&self, _a: &Point3<T>, _b: &Point3<T>) -> bool {
        false
    }

    /// The point of the straight line from `a` to `b` with the least [`value`](Self::value), which is the deepest inside
    /// the solid or approximately the closest to it; and its distance from the surface to first order, negative inside
    /// \[m\].
    ///
    /// The default searches samples, and around each sample that is below its neighbours. It misses minima between two
    /// samples; see [`size`](Self::size).
    fn closest_on_segment(&self, a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
        search_segment(self, a, b)
    }

    /// The name of the type, for errors.
    fn type_name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }
}

/// The result of [`Wrappable::closest_on_segment`] at a known parameter, from 0 to 1 along the line.
pub(crate) fn approach_at<T: Real, S: Wrappable<T> + ?Sized>(
    surface: &S,
    a: &Point3<T>,
    b: &Point3<T>,
    parameter: T,
) -> (Point3<T>, T) {
    let parameter = parameter.max(T::zero()).min(T::one());
    let point = a + (b - a) * parameter;
    (point, surface.height(&point))
}

/// The result where a line comes nearest to the centre of a ball, or of a solid that becomes one if lengths are weighted;
/// `weighted` is the line from `a` to `b` with these weights.
pub(crate) fn approach_to_centre<T: Real, S: Wrappable<T> + ?Sized>(
    surface: &S,
    a: &Point3<T>,
    b: &Point3<T>,
    weighted: &Vector3<T>,
) -> (Point3<T>, T) {
    let along = b - a;
    let closest = approach_at(surface, a, b, -a.coords.dot(weighted) / along.dot(weighted));
    if closest.0.coords.norm() > roundoff(a, b) {
        return closest;
    }
    // The line passes through the centre: any perpendicular direction is outwards.
    (beside(&along, surface.size()).into(), -surface.size())
}

/// The result for a line of which no part has the surface below it.
pub(crate) fn no_approach<T: Real>(a: &Point3<T>, b: &Point3<T>) -> (Point3<T>, T) {
    (a + (b - a) * T::lit(0.5), T::lit(1e30))
}

/// The lowest value of the implicit function along a line: samples closer together than the features of the surface, then
/// Newton's method on the slope around each sample that is below its neighbours.
///
/// Along a line that is too long for this, samples farther apart find the neighbourhood for the next sampling.
pub(crate) fn search_segment<T: Real, S: Wrappable<T> + ?Sized>(
    surface: &S,
    a: &Point3<T>,
    b: &Point3<T>,
) -> (Point3<T>, T) {
    const MOST: u32 = 4096;
    // Further levels are beyond the precision of the points of a line.
    const LEVELS: usize = 4;
    let along = b - a;
    let (mut from, mut to) = (T::zero(), T::one());
    let mut lowest: Option<(T, T)> = None;
    for _ in 0..LEVELS {
        // Four samples to a feature; the bound limits the cost of very long lines.
        let wanted = (T::lit(4.0) * along.norm() * (to - from) / surface.size()).to_f64();
        let (mut count, mut x) = (8_u32, 8.0);
        while count < MOST && x < wanted {
            count *= 2;
            x *= 2.0;
        }
        let spacing = (to - from) / T::lit(f64::from(count));
        lowest = lowest_sample(surface, a, &along, (from, spacing, count), lowest);
        let is_coarse = x < wanted && spacing > T::default_epsilon();
        let Some((_, u)) = lowest.filter(|_| is_coarse) else { break };
        (from, to) = ((u - spacing).max(T::zero()), (u + spacing).min(T::one()));
    }
    let Some((_, u)) = lowest else { return no_approach(a, b) };
    off_the_middle(surface, &along, approach_at(surface, a, b, u))
}

/// The lowest value along a line and its parameter, among the given values and around a number of samples.
fn lowest_sample<T: Real, S: Wrappable<T> + ?Sized>(
    surface: &S,
    a: &Point3<T>,
    along: &Vector3<T>,
    (from, spacing, count): (T, T, u32),
    mut lowest: Option<(T, T)>,
) -> Option<(T, T)> {
    // The two samples before the present one; `None` off the patch.
    let mut last: [Option<T>; 2] = [None; 2];
    let mut consider = |value: T, u: T| {
        if lowest.is_none_or(|(best, _)| value < best) {
            lowest = Some((value, u));
        }
    };
    for i in 0..=count + 1 {
        let u = from + T::lit(f64::from(i)) * spacing;
        let p = a + along * u;
        let value = (i <= count && surface.covers(&p)).then(|| surface.value(&p));
        let [before, here] = last;
        last = [here, value];
        let Some(here) = here else { continue };
        let middle = u - spacing;
        consider(here, middle);
        let above = |side: Option<T>| side.is_none_or(|side| side >= here);
        if !above(before) || !above(value) {
            continue;
        }
        let low = before.map_or(middle, |_| middle - spacing);
        let high = value.map_or(middle, |_| u);
        let u = lowest_between(surface, a, along, [low, middle, high]);
        consider(surface.value(&(a + along * u)), u);
    }
    lowest
}

/// The lowest point on a line between `low` and `high`, from `u` between them, by Newton's method on the slope. Bisection
/// is used where a step does not lead to a minimum within the bounds, or not at half the distance.
pub(crate) fn lowest_between<T: Real, S: Wrappable<T> + ?Sized>(
    surface: &S,
    a: &Point3<T>,
    along: &Vector3<T>,
    [mut low, mut u, mut high]: [T; 3],
) -> T {
    // Newton's method squares the error once more than its last step shows; bisection does not.
    let [exact, halved] = [1e-9, 1e-12].map(|part| (high - low) * T::lit(part).max(T::default_epsilon()));
    let mut longest = high - low;
    // Forty bisections reach the accuracy, each after a step of Newton's method that did not lead on.
    for _ in 0..80 {
        let (gradient, hessian) = surface.gradient_and_hessian(&(a + along * u));
        let (slope, bend) = (gradient.dot(along), along.dot(&(hessian * along)));
        *(if slope > T::zero() { &mut high } else { &mut low }) = u;
        let newton = u - slope / bend;
        // Rounding may put the lowest place on a bound.
        let leads = bend > T::zero() && newton >= low && newton <= high && (newton - u).abs() <= longest;
        let next = if leads { newton } else { T::lit(0.5) * (low + high) };
        let step = (next - u).abs();
        longest = T::lit(0.5) * step;
        u = next;
        if step <= if leads { exact } else { halved } {
            break;
        }
    }
    u
}

/// The approach, with its point shifted aside if the line passes the middle of the solid, so that rounding does not
/// choose a side.
pub(crate) fn off_the_middle<T: Real, S: Wrappable<T> + ?Sized>(
    surface: &S,
    along: &Vector3<T>,
    (point, height): (Point3<T>, T),
) -> (Point3<T>, T) {
    let (value, gradient) = surface.value_and_gradient(&point);
    if gradient.norm() * surface.size() > value.abs() * T::default_epsilon().sqrt() {
        (point, height)
    } else {
        (point + beside(along, surface.size()), height)
    }
}

/// The roundoff of a point computed on a line between two others.
#[inline]
pub(crate) fn roundoff<T: Real>(a: &Point3<T>, b: &Point3<T>) -> T {
    (a.coords.amax() + b.coords.amax()) * (T::default_epsilon() * T::lit(8.0))
}

/// A sideways offset from a line: so small that it matters only where the outward direction is undefined, and larger
/// than the roundoff of coordinates.
pub(crate) fn beside<T: Real>(along: &Vector3<T>, size: T) -> Vector3<T> {
    any_tangent(along).normalize() * (T::default_epsilon().sqrt() * size)
}

/// A sideways offset in no plane of symmetry, neither through a coordinate axis nor across it.
pub(crate) fn aside<T: Real>(along: &Vector3<T>, size: T) -> Vector3<T> {
    let beside = beside(along, size);
    beside + along.cross(&beside) * (T::lit(0.6) / along.norm())
}

/// The unit tangent nearest to `direction`, and the binormal `normal × tangent`.
#[inline]
pub(crate) fn tangent_frame<T: Real>(
    normal: &Vector3<T>,
    direction: &Vector3<T>,
) -> (Vector3<T>, Vector3<T>) {
    let mut along = direction - normal * normal.dot(direction);
    if along.norm_squared() <= T::default_epsilon() * direction.norm_squared() {
        along = any_tangent(normal);
    }
    let tangent = along / along.norm();
    (tangent, normal.cross(&tangent))
}

/// Some vector across `normal`, not short against it.
pub(crate) fn any_tangent<T: Real>(normal: &Vector3<T>) -> Vector3<T> {
    let axis = match normal.iamin() {
        0 => Vector3::x(),
        1 => Vector3::y(),
        _ => Vector3::z(),
    };
    normal.cross(&axis)
}

/// The adjugate of a symmetric matrix: rows of cofactors, which are cross products of columns.
fn adjugate<T: Real>(m: &Matrix3<T>) -> Matrix3<T> {
    let (x, y, z) = (m.column(0), m.column(1), m.column(2));
    Matrix3::from_columns(&[y.cross(&z), z.cross(&x), x.cross(&y)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of x and its first two derivatives.
    #[derive(Debug)]
    struct AlongX(fn(f64) -> [f64; 3]);

    impl Wrappable<f64> for AlongX {
        fn value(&self, p: &Point3<f64>) -> f64 {
            self.0(p.x)[0]
        }
        fn gradient(&self, p: &Point3<f64>) -> Vector3<f64> {
            Vector3::x() * self.0(p.x)[1]
        }
        fn hessian(&self, p: &Point3<f64>) -> Matrix3<f64> {
            Matrix3::from_diagonal(&(Vector3::x() * self.0(p.x)[2]))
        }
        fn size(&self) -> f64 {
            1.0
        }
    }

    #[test]
    fn the_lowest_place_of_a_line_is_found_on_bounds_between_wells_and_where_it_is_flat() {
        let parabola: fn(f64) -> [f64; 3] = |x| [(x - 0.5) * (x - 0.5), 2.0 * (x - 0.5), 2.0];
        let wells: fn(f64) -> [f64; 3] = |x| {
            let well = x * x - 0.01;
            [well * well, 4.0 * x * well, 12.0 * x * x - 0.04]
        };
        let flat: fn(f64) -> [f64; 3] = |x| [x.powi(4), 4.0 * x.powi(3), 12.0 * x * x];
        // Newton's method alone leaves this for ever further away.
        let steep: fn(f64) -> [f64; 3] = |x| {
            let root = (1.0 + 1e4 * x * x).sqrt();
            [root, 1e4 * x / root, 1e4 / root.powi(3)]
        };
        for (function, bracket, lowest, allowed) in [
            (parabola, [0.4, 0.5, 0.6], 0.5, 0.0),
            (parabola, [0.0, 0.1, 1.0], 0.5, 1e-15),
            (parabola, [0.5, 0.5, 0.9], 0.5, 0.0),
            (parabola, [0.1, 0.5, 0.5], 0.5, 0.0),
            (parabola, [0.6, 0.6, 0.9], 0.6, 1e-12),
            (wells, [-0.3, 0.0, 0.3], 0.1, 1e-12),
            (flat, [-0.3, 0.1, 0.2], 0.0, 2e-9),
            (steep, [-0.9, 0.4, 1.0], 0.0, 1e-12),
        ] {
            let u = lowest_between(&AlongX(function), &Point3::origin(), &Vector3::x(), bracket);
            assert!((u.abs() - lowest).abs() <= allowed, "{bracket:?}: {u}");
        }
    }
}
