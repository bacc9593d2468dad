//! A piecewise cubic through the points of a table, monotone between them, and its integral.

use alloc::vec::Vec;

use super::CurvePoint;
use crate::math::{InvalidValue, Real, Requirement, check};

/// A point of a table: `x`, and the curve there.
pub(super) type Knot<T> = (T, CurvePoint<T>);

/// The knots of a table, with slopes after Fritsch and Butland; see [`Curve::new`](super::Curve::new).
pub(super) fn knots<T: Real>(points: &[(T, T)]) -> Result<Vec<Knot<T>>, InvalidValue> {
    for &(x, force) in points {
        check::finite("curve.x", x)?;
        check::finite("curve.force", force)?;
    }
    let given = if points.is_empty() { T::zero() } else { T::one() };
    check::that(points.len() > 1, "curve points", given, Requirement::AtLeast("2"))?;
    for pair in points.windows(2) {
        let above = Requirement::AtLeast("the one before, and not equal");
        check::that(pair[0].0 < pair[1].0, "curve.x", pair[1].0, above)?;
    }
    let secant = |i: usize| (points[i + 1].1 - points[i].1) / (points[i + 1].0 - points[i].0);
    let width = |i: usize| points[i + 1].0 - points[i].0;
    let count = points.len();
    let slope_at = |i: usize| {
        if i == 0 || i + 1 == count {
            // A parabola through three points may overshoot; the end secant does not.
            return secant(i.min(count - 2));
        }
        let (before, after) = (secant(i - 1), secant(i));
        // At a peak, and beside a flat part, the slope is zero.
        if before <= T::zero() && after >= T::zero() || before >= T::zero() && after <= T::zero() {
            return T::zero();
        }
        let (two, three) = (T::lit(2.0), T::lit(3.0));
        let (first, second) = (two * width(i) + width(i - 1), width(i) + two * width(i - 1));
        three * (width(i) + width(i - 1)) / (first / before + second / after)
    };
    let mut knots: Vec<Knot<T>> = Vec::with_capacity(count);
    for (i, &(x, force)) in points.iter().enumerate() {
        let mut knot = (x, CurvePoint { force, slope: slope_at(i), energy: T::zero() });
        if let Some(before) = knots.last() {
            knot.1.energy = before.1.energy + integral(before, &knot, T::one());
        }
        knots.push(knot);
    }
    let at_zero = at(&knots, T::zero()).energy;
    for (_, point) in &mut knots {
        point.energy -= at_zero;
        check::finite("curve.slope", point.slope)?;
        check::finite("curve.energy", point.energy)?;
    }
    Ok(knots)
}

/// The largest slope.
pub(super) fn steepest<T: Real>(knots: &[Knot<T>]) -> T {
    let of_piece = |((x, knot), (next_x, next)): (&Knot<T>, &Knot<T>)| {
        let ends = knot.slope.max(next.slope);
        let secant = (next.force - knot.force) / (*next_x - *x);
        // The slope is quadratic. Where it has a maximum, its vertex is `knot.slope + rise²/fall` or outside.
        let rise = T::lit(3.0) * secant - knot.slope - knot.slope - next.slope;
        let fall = T::lit(3.0) * (secant + secant - knot.slope - next.slope);
        let is_inside = fall > T::zero() && rise > T::zero() && rise < fall;
        if is_inside { ends.max(knot.slope + rise * rise / fall) } else { ends }
    };
    knots.iter().zip(knots.iter().skip(1)).map(of_piece).fold(T::zero(), T::max)
}

/// Refuses forces that do not have the sign of `x` everywhere: at a point, beyond the ends, or at zero. Between two
/// points the force is between those at the points.
pub(super) fn check_dissipation<T: Real>(knots: &[Knot<T>]) -> Result<(), InvalidValue> {
    let mut passes_zero = false;
    for &(x, CurvePoint { force, .. }) in knots {
        passes_zero |= x == T::zero() && force == T::zero();
        let force = if x < T::zero() { -force } else { force };
        let signed = "damping_curve.force times the sign of its rate";
        check::that(force >= T::zero(), signed, force, Requirement::NonNegative)?;
    }
    let zeros = "damping_curve points (0, 0)";
    check::that(passes_zero, zeros, T::zero(), Requirement::AtLeast("1"))?;
    for (_, end) in [knots.first(), knots.last()].into_iter().flatten() {
        let beyond = "damping_curve.slope at and beyond an end";
        check::that(end.slope >= T::zero(), beyond, end.slope, Requirement::NonNegative)?;
    }
    Ok(())
}

/// Force, energy and slope.
#[inline]
pub(super) fn at<T: Real>(knots: &[Knot<T>], x: T) -> CurvePoint<T> {
    let after = knots.partition_point(|knot| knot.0 <= x);
    let inside = knots.get(after.wrapping_sub(1)).zip(knots.get(after));
    let Some((knot, next)) = inside else {
        let (end_x, end) = if after == 0 { &knots[0] } else { &knots[knots.len() - 1] };
        let reach = x - *end_x;
        let rise = end.slope * reach;
        return CurvePoint {
            force: end.force + rise,
            energy: end.energy + (end.force + T::lit(0.5) * rise) * reach,
            slope: end.slope,
        };
    };
    let width = next.0 - knot.0;
    let u = (x - knot.0) / width;
    let [force, start, middle, end] = coefficients(knot, next);
    CurvePoint {
        force: force + u * (start + u * (middle + u * end)),
        energy: knot.1.energy + integral(knot, next, u),
        slope: (start + u * (T::lit(2.0) * middle + T::lit(3.0) * u * end)) / width,
    }
}

/// The coefficients of the cubic between two knots, in powers of the fraction of the way.
fn coefficients<T: Real>((x, knot): &Knot<T>, (next_x, next): &Knot<T>) -> [T; 4] {
    let width = *next_x - *x;
    let (start, end) = (knot.slope * width, next.slope * width);
    let rise = next.force - knot.force;
    let two = T::lit(2.0);
    [knot.force, start, T::lit(3.0) * rise - two * start - end, start + end - two * rise]
}

/// The integral of the cubic from a knot to a fraction of the way to the next.
fn integral<T: Real>(knot: &Knot<T>, next: &Knot<T>, u: T) -> T {
    let [a, b, c, d] = coefficients(knot, next);
    let fourth = T::lit(0.25);
    (next.0 - knot.0) * u * (a + u * (b * T::lit(0.5) + u * (c / T::lit(3.0) + u * d * fourth)))
}

#[cfg(test)]
mod tests {
    use crate::spatial_bushing::Curve;

    fn table() -> [(f64, f64); 7] {
        [(-2.0, -9.0), (-1.5, -2.0), (-0.3, -1.9), (0.4, 0.0), (0.5, 0.0), (1.1, 3.0), (4.0, 3.5)]
    }

    /// With a snap from one side to the other, and noise.
    fn falling() -> [(f64, f64); 7] {
        [(-2.0, -9.0), (-1.5, 2.0), (-0.3, 1.9), (0.4, -3.0), (0.5, -3.2), (1.1, 3.0), (4.0, 2.5)]
    }

    /// Between two points as the points, and on from the last as before it.
    #[test]
    fn it_rises_falls_and_is_flat_only_where_the_table_does() {
        for table in [table(), falling()] {
            let curve = Curve::new(&table).expect("a function");
            for (x, force) in table {
                assert!((curve.at(x).force - force).abs() < 1e-14);
            }
            let mut last = curve.at(-3.0).force;
            for i in 1..70_000 {
                let x = -3.0 + 1e-4 * f64::from(i);
                let force = curve.at(x).force;
                let piece = table.partition_point(|point| point.0 < x - 5e-5).clamp(1, 6);
                let rise = table[piece].1 - table[piece - 1].1;
                let is_flat = rise == 0.0 && table[piece - 1].0 < x && x < table[piece].0;
                // Ten roundings.
                let follows = if is_flat { force == table[piece].1 } else { (force - last) * rise >= -1e-14 };
                assert!(follows, "{x}");
                last = force;
            }
        }
    }

    #[test]
    fn a_falling_table_is_the_mirror_of_a_rising_one() {
        let mirrored = table().map(|(x, force)| (x, -force));
        let [rising, falling] = [table(), mirrored].map(|points| Curve::new(&points).expect("a function"));
        for i in 0..90 {
            let x = -3.0 + 0.1 * f64::from(i);
            let (up, down) = (rising.at(x), falling.at(x));
            assert_eq!([up.force, up.energy, up.slope], [-down.force, -down.energy, -down.slope]);
        }
        assert_eq!(falling.steepest(0.0), 0.0);
    }

    /// The trapezoidal rule at half a million places is an oracle good to 1e-9.
    #[test]
    fn the_energy_is_the_integral_of_the_force() {
        for table in [table(), falling()] {
            let curve = Curve::new(&table).expect("a function");
            for end in [-2.7, -1.7, -0.1, 0.45, 0.9, 3.0, 6.0] {
                let count = 500_000;
                let width = end / f64::from(count);
                let sum: f64 = (0..count)
                    .map(|i| curve.at(width * f64::from(i)).force + curve.at(width * f64::from(i + 1)).force)
                    .sum();
                assert!((curve.at(end).energy - 0.5 * width * sum).abs() < 1e-9, "{end}");
            }
            assert!(curve.at(0.0).energy.abs() < 1e-15);
        }
    }

    #[test]
    fn tables_that_are_no_function_are_refused() {
        for points in [
            &[][..],
            &[(0.0, 1.0)],
            &[(0.0, 1.0), (0.0, 2.0)],
            &[(0.0, 1.0), (1.0, 2.0), (0.5, 3.0)],
            &[(0.0, f64::NAN), (1.0, 2.0)],
        ] {
            assert!(Curve::new(points).is_err(), "{points:?}");
        }
    }
}
