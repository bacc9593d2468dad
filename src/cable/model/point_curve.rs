//! Points that move along a curve with a coordinate.

use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;

use nalgebra::{Point3, Vector3};

use crate::math::{InvalidValue, Real, Requirement, check, solve_banded};

/// A point as a function of a coordinate, for a [`ViaPoint`](crate::cable::ViaPoint) that moves on its body.
///
/// # Example: a point on a circle
///
/// ```
/// use force_elements::Real;
/// use force_elements::cable::PointCurve;
/// use force_elements::nalgebra::{Point3, Vector3};
///
/// #[derive(Debug)]
/// struct Circle<T: Real> {
///     radius: T,
/// }
///
/// impl<T: Real> PointCurve<T> for Circle<T> {
///     fn at(&self, angle: T) -> (Point3<T>, Vector3<T>) {
///         let (sin, cos) = angle.sin_cos();
///         let outwards = Vector3::new(cos, sin, T::zero()) * self.radius;
///         (outwards.into(), Vector3::new(-outwards.y, outwards.x, T::zero()))
///     }
///
///     fn second_derivative(&self, angle: T) -> Vector3<T> {
///         -self.at(angle).0.coords
///     }
/// }
///
/// let (p, slope) = Circle { radius: 2.0 }.at(0.0);
/// assert_eq!((p.x, slope.y), (2.0, 2.0));
/// ```
pub trait PointCurve<T: Real>: Any + Debug + Send + Sync {
    /// The point \[m\] at a value of the coordinate, and its derivative with respect to the coordinate.
    ///
    /// A cable does work on the coordinate by the derivative. Power balances if it is the derivative of the point, and
    /// forces are continuous if it is continuous.
    fn at(&self, coordinate: T) -> (Point3<T>, Vector3<T>);

    /// The second derivative with respect to the coordinate. The derivative of the force on the coordinate follows from
    /// it. Only a linearization and the longest stable step need it.
    fn second_derivative(&self, coordinate: T) -> Vector3<T>;

    /// The name of the type, for errors.
    fn type_name(&self) -> &'static str {
        core::any::type_name::<Self>()
    }
}

/// The natural cubic spline through points at given values of a coordinate.
///
/// Its second derivative is continuous, and zero at the first and last knot, beyond which the curve is straight. With
/// two knots it is the line through both.
///
/// # Example: three knots
///
/// ```
/// use force_elements::cable::{PointCurve, SplineCurve};
/// use force_elements::nalgebra::Point3;
///
/// let knots = [(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)];
/// let curve = SplineCurve::new(knots.map(|(q, y)| (q, Point3::new(0.0, y, 0.0))))?;
/// // It rises with the slope 3/2, and is level in the middle.
/// assert_eq!(curve.at(0.0).1.y, 1.5);
/// assert_eq!(curve.at(1.0).1.y, 0.0);
/// assert_eq!(curve.at(-2.0).0.y, -3.0);
/// # Ok::<(), force_elements::InvalidValue>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SplineCurve<T: Real> {
    /// The coordinate, the point and the second derivative at each.
    knots: Vec<(T, Point3<T>, Vector3<T>)>,
}

impl<T: Real> SplineCurve<T> {
    /// The spline through these points \[m\] at these values of the coordinate.
    ///
    /// # Errors
    /// [`InvalidValue`] for fewer than two knots, a number that is not finite, or a coordinate that does not increase
    /// from knot to knot.
    pub fn new(knots: impl IntoIterator<Item = (T, Point3<T>)>) -> Result<Self, InvalidValue> {
        let mut knots: Vec<_> = knots.into_iter().map(|(q, point)| (q, point, Vector3::zeros())).collect();
        let count = if knots.is_empty() { T::zero() } else { T::one() };
        check::that(knots.len() >= 2, "knots.len()", count, Requirement::AtLeast("2"))?;
        for (q, point, _) in &knots {
            check::finite("knot.coordinate", *q)?;
            check::finite_vector("knot.point", &point.coords)?;
        }
        for pair in knots.windows(2) {
            let step = pair[1].0 - pair[0].0;
            check::positive("the coordinate's step from knot to knot", step)?;
        }
        bend(&mut knots);
        knots.iter().try_for_each(|(.., bend)| check::finite_vector("knot.point", bend))?;
        Ok(Self { knots })
    }

    /// The same curve in another scalar.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), where the other scalar has a smaller range or precision.
    pub fn cast<U: Real>(&self) -> Result<SplineCurve<U>, InvalidValue> {
        SplineCurve::new(self.knots.iter().map(|(q, point, _)| (q.cast(), point.map(T::cast))))
    }

    /// The knots between which the coordinate lies, or the nearest two.
    fn piece(&self, coordinate: T) -> [(T, Point3<T>, Vector3<T>); 2] {
        let last = self.knots.len() - 1;
        let next = self.knots.partition_point(|knot| knot.0 <= coordinate).clamp(1, last);
        [self.knots[next - 1], self.knots[next]]
    }
}

/// Finds the second derivatives at inner knots that make the first derivative continuous.
fn bend<T: Real>(knots: &mut [(T, Point3<T>, Vector3<T>)]) {
    let inner = knots.len() - 2;
    let step = |i: usize| knots[i + 1].0 - knots[i].0;
    let entry = |row: usize, column: usize| match row.cmp(&column) {
        core::cmp::Ordering::Equal => (step(row) + step(row + 1)) / T::lit(3.0),
        _ => step(row.max(column)) / T::lit(6.0),
    };
    let slope = |i: usize| (knots[i + 1].1 - knots[i].1) / step(i);
    let changes = (0..inner).map(|i| slope(i + 1) - slope(i)).collect::<Vec<_>>();
    let mut bends: Vec<T> = (0..3).flat_map(|axis| changes.iter().map(move |change| change[axis])).collect();
    solve_banded(inner, 1, entry, &mut bends);
    for (place, bend) in bends.into_iter().enumerate() {
        knots[1 + place % inner].2[place / inner] = bend;
    }
}

impl<T: Real> PointCurve<T> for SplineCurve<T> {
    fn at(&self, coordinate: T) -> (Point3<T>, Vector3<T>) {
        let [(start, a, bend_a), (end, b, bend_b)] = self.piece(coordinate);
        let step = end - start;
        // The derivatives of the coordinate must be kept also at a knot.
        let within = if coordinate < start {
            start
        } else if coordinate > end {
            end
        } else {
            coordinate
        };
        let beyond = coordinate - within;
        let (u, v) = ((end - within) / step, (within - start) / step);
        let sixth = step / T::lit(6.0);
        let three = T::lit(3.0);
        let point = a.coords * u
            + b.coords * v
            + (bend_a * (u * u * u - u) + bend_b * (v * v * v - v)) * (step * sixth);
        let slope = (b - a) / step
            + (bend_b * (three * v * v - T::one()) - bend_a * (three * u * u - T::one())) * sixth;
        ((point + slope * beyond).into(), slope)
    }

    fn second_derivative(&self, coordinate: T) -> Vector3<T> {
        let [(start, _, a), (end, _, b)] = self.piece(coordinate);
        if coordinate < start || coordinate > end {
            return Vector3::zeros();
        }
        a + (b - a) * ((coordinate - start) / (end - start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use num_dual::{Dual2_64, Dual64};

    fn knots() -> [(f64, Point3<f64>); 5] {
        [(-1.0, 0.3, 0.0), (-0.2, 0.5, 0.1), (0.1, 0.2, 0.4), (0.9, -0.3, 0.2), (2.0, 0.0, 0.0)]
            .map(|(q, x, y)| (q, Point3::new(x, y, x * y)))
    }

    #[test]
    fn spline_runs_through_its_points_and_is_twice_differentiable() -> Result<(), InvalidValue> {
        let curve = SplineCurve::new(knots())?;
        let in_duals = curve.cast::<Dual2_64>()?;
        let second = |q: f64| in_duals.at(Dual2_64::new(q, 1.0, 0.0)).0.x;
        for (q, p) in knots() {
            // Sums of numbers below one.
            assert!((curve.at(q).0 - p).norm() < 1e-15);
            let (before, after) = (second(q - 1e-9), second(q + 1e-9));
            // The third derivative, below 30, over the distance.
            assert!((before.v1 - after.v1).abs() < 1e-7 && (before.v2 - after.v2).abs() < 1e-7, "{q}");
        }
        for end in [-1.0 - 1e-9, 2.0 + 1e-9, -7.0, 9.0] {
            assert!(second(end).v2.abs() < 1e-15);
        }
        Ok(())
    }

    #[test]
    fn derivative_is_that_of_the_point() -> Result<(), InvalidValue> {
        let curve = SplineCurve::new(knots())?;
        let in_duals = curve.cast::<Dual64>()?;
        for i in 0..40 {
            let q = -2.0 + 0.13 * f64::from(i);
            let (p, _) = in_duals.at(Dual64::new(q, 1.0));
            let (_, slope) = curve.at(q);
            // The same polynomial, differentiated by rule.
            assert!((p.map(|x| x.eps).coords - slope).norm() < 1e-14, "{q}");
            let bend = in_duals.at(Dual64::new(q, 1.0)).1.map(|x| x.eps);
            assert!((curve.second_derivative(q) - bend).norm() < 1e-13, "{q}");
        }
        Ok(())
    }

    #[test]
    fn spline_reproduces_lines_and_refuses_bad_knots() -> Result<(), InvalidValue> {
        let line = |q: f64| Point3::new(1.0 - q, 2.0 * q, 3.0);
        for knots in [vec![0.0, 2.0], vec![0.0, 0.5, 2.0], vec![-1.0, 0.0, 0.1, 4.0]] {
            let curve = SplineCurve::new(knots.into_iter().map(|q| (q, line(q))))?;
            for q in [-3.0, 0.05, 1.7, 6.0] {
                let (p, slope) = curve.at(q);
                assert!(
                    (p - line(q)).norm() < 1e-14 && (slope - Vector3::new(-1.0, 2.0, 0.0)).norm() < 1e-14
                );
            }
        }
        let name = |knots: Vec<(f64, Point3<f64>)>| SplineCurve::new(knots).map_err(|error| error.name).err();
        let p = Point3::origin();
        assert_eq!(name(vec![(0.0, p)]), Some("knots.len()"));
        assert_eq!(name(vec![]), Some("knots.len()"));
        assert_eq!(name(vec![(0.0, p), (0.0, p)]), Some("the coordinate's step from knot to knot"));
        assert_eq!(name(vec![(0.0, p), (f64::INFINITY, p)]), Some("knot.coordinate"));
        assert_eq!(name(vec![(0.0, p), (1.0, Point3::new(f64::NAN, 0.0, 0.0))]), Some("knot.point"));
        Ok(())
    }
}
