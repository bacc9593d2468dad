//! Geodesics with their Jacobi fields, integrated by extrapolation.
//!
//! E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary Differential Equations I* (1993), II.9
//! (extrapolation, Gragg's method) and II.14 (Störmer's method for equations of second order).

use core::array::from_fn;

use nalgebra::{Point3, Rotation3, Vector3};

use crate::cable::{Wrappable, ceil};
use crate::math::{Pose, Real, is_finite};

/// One end of a geodesic: its frame and the curvatures of the surface there.
///
/// The frame consists of `tangent` along the geodesic, `normal` outwards, and [`binormal`](Self::binormal) = normal ×
/// tangent. In Frenet's terms the principal normal of a geodesic is `−normal` where the cable presses on the surface.
/// Curvatures are positive where the surface is convex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeodesicEnd<T: Real> {
    /// The point \[m\].
    pub point: Point3<T>,
    /// The unit tangent, in the direction of increasing length.
    pub tangent: Vector3<T>,
    /// The unit normal, outwards.
    pub normal: Vector3<T>,
    /// Normal curvature along the tangent \[1/m\].
    pub curvature: T,
    /// Geodesic torsion: the component of the normal's rate of change along the binormal \[1/m\].
    pub torsion: T,
    /// Normal curvature along the binormal \[1/m\].
    pub transverse_curvature: T,
}

/// The dependence of a geodesic's end on its start: two solutions of Jacobi's equation `j″ + K·j = 0`, with their
/// derivatives with respect to arc length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jacobi<T> {
    /// Sideways shift of the end per sideways shift of the start, direction kept parallel.
    pub shift: T,
    /// Turn of the end per sideways shift of the start \[rad/m\].
    pub shift_rate: T,
    /// Sideways shift of the end per turn of the start \[m/rad\].
    pub turn: T,
    /// Turn of the end per turn of the start.
    pub turn_rate: T,
}

/// A geodesic: both ends, and the dependence of the second on the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geodesic<T: Real> {
    /// Its start.
    pub start: GeodesicEnd<T>,
    /// Its end.
    pub end: GeodesicEnd<T>,
    /// Its signed length \[m\].
    pub length: T,
    /// The Jacobi scalars at the end.
    pub jacobi: Jacobi<T>,
    /// Whether a point conjugate to the start is on it. The geodesic is then not even locally the shortest connection of
    /// its ends.
    pub passes_conjugate_point: bool,
    /// The number of evaluations of the surface's derivatives; zero for a closed form.
    pub evaluations: usize,
}

impl<T: Real> GeodesicEnd<T> {
    /// A geodesic on no surface.
    pub(crate) fn blank() -> Self {
        let zero = T::zero();
        Self {
            point: Point3::origin(),
            tangent: Vector3::zeros(),
            normal: Vector3::zeros(),
            curvature: zero,
            torsion: zero,
            transverse_curvature: zero,
        }
    }

    /// The third axis of the frame: normal × tangent.
    #[inline]
    pub fn binormal(&self) -> Vector3<T> {
        self.normal.cross(&self.tangent)
    }

    /// The same end in another frame.
    #[inline]
    #[must_use]
    pub fn transformed(&self, X: &Pose<T>) -> Self {
        let R: &Rotation3<T> = &X.rotation;
        Self { point: X * self.point, tangent: R * self.tangent, normal: R * self.normal, ..*self }
    }

    /// The same end on a surface larger by a factor, about the origin of its frame.
    #[inline]
    pub(crate) fn scaled(&self, factor: T) -> Self {
        let inverse = T::one() / factor;
        Self {
            point: self.point * factor,
            curvature: self.curvature * inverse,
            torsion: self.torsion * inverse,
            transverse_curvature: self.transverse_curvature * inverse,
            ..*self
        }
    }

    /// The largest curvature in magnitude, over-estimated by at most a factor of 1.5.
    #[inline]
    pub(crate) fn greatest_curvature(&self) -> T {
        self.curvature.abs().max(self.transverse_curvature.abs()) + self.torsion.abs()
    }
}

impl<T: Real> Jacobi<T> {
    /// The values at the start of a geodesic.
    pub(crate) fn at_start() -> Self {
        Self { shift: T::one(), shift_rate: T::zero(), turn: T::zero(), turn_rate: T::one() }
    }

    /// Sideways shift and turn of the end with a sideways shift and a turn of the start.
    #[inline]
    pub(crate) fn at_end(&self, across: T, turn: T) -> (T, T) {
        (self.shift * across + self.turn * turn, self.shift_rate * across + self.turn_rate * turn)
    }

    /// The values for this geodesic and the one that continues it.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let (shift, shift_rate) = next.at_end(self.shift, self.shift_rate);
        let (turn, turn_rate) = next.at_end(self.turn, self.turn_rate);
        Self { shift, shift_rate, turn, turn_rate }
    }
}

impl<T: Real> Geodesic<T> {
    /// The same geodesic on a surface larger by a factor, about the origin of its frame.
    #[inline]
    pub(crate) fn scaled(&self, factor: T) -> Self {
        let Jacobi { shift, shift_rate, turn, turn_rate } = self.jacobi;
        Self {
            start: self.start.scaled(factor),
            end: self.end.scaled(factor),
            length: self.length * factor,
            jacobi: Jacobi { shift, shift_rate: shift_rate / factor, turn: turn * factor, turn_rate },
            ..*self
        }
    }
}

/// Crosses a step in `n` equal parts, with an error in even powers of `1/n`: by Störmer's rule if the acceleration
/// depends only on position, and by Gragg's midpoint rule if it depends also on velocity.
///
/// A flow is a point on the way: position and both Jacobi scalars, and their derivatives.
#[inline]
fn cross<T: Real, const BY_POSITION: bool>(
    from: &[[T; 5]; 2],
    start: &[T; 5],
    step: T,
    n: u32,
    acceleration: &impl Fn(&[T; 5], &[T; 5]) -> [T; 5],
) -> [[T; 5]; 2] {
    if BY_POSITION {
        let d = step / T::lit(f64::from(n));
        let half = T::lit(0.5) * d;
        let [mut y, mut v] = *from;
        let mut kick = half;
        let mut f = *start;
        for _ in 0..n {
            for i in 0..5 {
                v[i] += kick * f[i];
                y[i] += d * v[i];
            }
            f = acceleration(&y, &v);
            kick = d;
        }
        for i in 0..5 {
            v[i] += half * f[i];
        }
        return [y, v];
    }
    // An even number of substeps, for which the error has only even powers.
    let d = step / T::lit(f64::from(2 * n));
    let double = d + d;
    let mut before = *from;
    let advanced = |from: &[T; 5], step: T, rate: &[T; 5]| from_fn(|i| from[i] + step * rate[i]);
    let mut here = [advanced(&before[0], d, &before[1]), advanced(&before[1], d, start)];
    for _ in 1..2 * n {
        let f = acceleration(&here[0], &here[1]);
        let next = [advanced(&before[0], double, &here[1]), advanced(&before[1], double, &f)];
        (before, here) = (here, next);
    }
    here
}

/// Columns of the extrapolation: order 14 at the last. More gain nothing in double precision.
const COLUMNS: usize = 7;

/// `1 / ((j / (j − k))² − 1)` for row j and column k, counted from 1.
const WEIGHTS: [[f64; COLUMNS]; COLUMNS] = {
    let mut weights = [[0.0; COLUMNS]; COLUMNS];
    let (mut row, mut j) = (1, 2.0);
    while row < COLUMNS {
        let (mut column, mut k) = (1, 1.0);
        while column <= row {
            let ratio: f64 = j / (j - k);
            weights[row][column] = 1.0 / (ratio * ratio - 1.0);
            (column, k) = (column + 1, k + 1.0);
        }
        (row, j) = (row + 1, j + 1.0);
    }
    weights
};

/// One step of the harmonic sequence 1, 2, 3, …; returns the flow and the column that was accurate enough.
#[inline]
fn extrapolate<T: Real, const BY_POSITION: bool>(
    from: &[[T; 5]; 2],
    start: &[T; 5],
    step: T,
    curvature: T,
    accuracy: T,
    acceleration: &impl Fn(&[T; 5], &[T; 5]) -> [T; 5],
) -> Option<([[T; 5]; 2], usize)> {
    let mut row = [*from; COLUMNS];
    for (j, n) in (0..COLUMNS).zip(1_u32..) {
        let mut current = cross::<T, BY_POSITION>(from, start, step, n, acceleration);
        let mut coarser = current;
        for k in 1..=j {
            let previous = core::mem::replace(&mut row[k - 1], current);
            coarser = current;
            let weight = T::lit(WEIGHTS[j][k]);
            current = from_fn(|k| from_fn(|i| current[k][i] + (current[k][i] - previous[k][i]) * weight));
        }
        row[j] = current;
        if j > 0 {
            let mut error = T::zero();
            for i in 0..3 {
                error = error.max((current[1][i] - coarser[1][i]).abs());
                error = error.max((current[0][i] - coarser[0][i]).abs() * curvature);
            }
            if error <= accuracy {
                return Some((current, j));
            }
        }
    }
    None
}

/// The geodesic of this length from `start`; it ends in NaN if it would take more evaluations than `most`. The
/// acceleration depends on position and velocity, or only on position.
///
/// Only points and tangents are computed to the accuracy. The Jacobi scalars are accurate to about its square root or
/// better, which suffices for Newton's method.
#[inline]
pub(crate) fn integrate<T: Real, S: Wrappable<T> + ?Sized, const BY_POSITION: bool>(
    surface: &S,
    start: GeodesicEnd<T>,
    length: T,
    (accuracy, most): (T, usize),
    acceleration: impl Fn(&[T; 5], &[T; 5]) -> [T; 5],
) -> Geodesic<T> {
    // A step of one radian converges within the table on round surfaces; a tiny step is accepted without control, so
    // that a kink cannot stall the integration.
    const FIRST_STEP: f64 = 1.2;
    const SMALLEST_STEP: f64 = 1e-6;
    const LEAST_SHARE: f64 = 1e-3;
    // This covers a thousand windings on a round surface, in some ten milliseconds. Longer geodesics end in NaN.
    const MOST_STEPS: usize = 10_000;
    let (p, t) = (start.point, start.tangent);
    let (zero, one) = (T::zero(), T::one());
    let mut flow = [[p.x, p.y, p.z, one, zero], [t.x, t.y, t.z, zero, one]];
    let mistake = T::lit(f64::NAN);
    let total = if length.is_finite() {
        length.abs()
    } else {
        flow[0][0] = mistake;
        T::zero()
    };
    let sign = if length < T::zero() { -T::one() } else { T::one() };
    let mut reach = T::lit(FIRST_STEP) / start.greatest_curvature().max(T::lit(0.1) / surface.size());
    let mut covered = T::zero();
    let mut passes_conjugate_point = false;
    let mut rounds = 0;
    let mut evaluations = 0;
    while covered < total {
        rounds += 1;
        if rounds > MOST_STEPS || evaluations > most {
            flow[0][0] = mistake;
            break;
        }
        let left = total - covered;
        let start = acceleration(&flow[0], &flow[1]);
        let pull = first_three(&start);
        let kink =
            surface.smooth_reach(&first_three(&flow[0]).into(), &(first_three(&flow[1]) * sign), &pull);
        // Equal steps to the end, so that no tiny step remains.
        let steps = ceil(left / reach).max(T::one());
        let whole = if steps <= T::one() { left } else { left / steps };
        let step = if kink < whole { kink } else { whole };
        let signed = step * sign;
        let curvature = T::one() / reach;
        // Each step may contribute its fraction of the error, so that the sum over many steps stays within it.
        let share = (step / total).max(T::lit(LEAST_SHARE));
        let allowed = (accuracy * share).max(T::default_epsilon() * T::lit(16.0));
        let (next, column) =
            match extrapolate::<T, BY_POSITION>(&flow, &start, signed, curvature, allowed, &acceleration) {
                Some(found) => {
                    evaluations += evaluated(found.1);
                    found
                }
                None if step > T::lit(SMALLEST_STEP) * surface.size() => {
                    reach = step * T::lit(0.4);
                    evaluations += evaluated(COLUMNS - 1);
                    continue;
                }
                None => (cross::<T, BY_POSITION>(&flow, &start, signed, 4, &acceleration), COLUMNS),
            };
        flow = next;
        covered = if step == left { total } else { covered + step };
        passes_conjugate_point |= flow[0][4] * signed <= T::zero();
        if covered < total {
            settle(surface, &mut flow);
            if step == kink {
                // The step was limited, so it does not indicate the possible length.
            } else if column < 4 {
                reach = step * T::lit(2.0);
            } else if column >= COLUMNS - 1 {
                reach = step * T::lit(0.8);
            }
        }
    }
    let [[.., shift, turn], [.., shift_rate, turn_rate]] = flow;
    let [point, tangent] = flow.map(|numbers| first_three(&numbers));
    let point = Point3::from(point);
    // Retraction would turn NaN into a finite point.
    let point = if is_finite(&point.coords) { surface.retract(&point) } else { point };
    let end = surface.end(&point, &tangent);
    let jacobi = Jacobi { shift, shift_rate, turn, turn_rate };
    Geodesic { start, end, length, jacobi, passes_conjugate_point, evaluations }
}

/// The number of evaluations up to this column, including the start.
fn evaluated(column: usize) -> usize {
    1 + (column + 1) * (column + 2) / 2
}

/// The point or the tangent of a flow.
#[inline]
fn first_three<T: Real>(numbers: &[T; 5]) -> Vector3<T> {
    Vector3::new(numbers[0], numbers[1], numbers[2])
}

/// Removes the drift off the surface.
fn settle<T: Real, S: Wrappable<T> + ?Sized>(surface: &S, flow: &mut [[T; 5]; 2]) {
    let point = surface.retract(&first_three(&flow[0]).into());
    let normal = surface.gradient(&point).normalize();
    let tangent = first_three(&flow[1]);
    let tangent = (tangent - normal * normal.dot(&tangent)).normalize();
    for (numbers, settled) in flow.iter_mut().zip([point.coords, tangent]) {
        numbers[..3].copy_from_slice(settled.as_slice());
    }
}
