//! Hollows of a surface under a geodesic, where a taut cable lifts off.

use nalgebra::Point3;

use crate::cable::{GeodesicEnd, Metered, Settings, ceil};
use crate::math::Real;

/// The accuracy, as a fraction of the smallest feature, to which places of least curvature are found. If the second
/// derivative of the curvature is `1/r³`, with the size `r`, the curvature falls below zero undetected by at most
/// `NEAR²/2r`, over `2 NEAR r`: an undetected hollow turns the cable by less than 1e-9 rad.
const NEAR: f64 = 1e-3;

/// Finds the hollow under a geodesic, where its normal curvature is negative, that turns it most: the lengths to the
/// start and to the end of the hollow \[m\].
///
/// The normal curvature is sampled at a quarter of the smallest feature, on an approximation to the geodesic. Where it is
/// negative, or its minimum between samples may be, the geodesic itself is followed. The geodesic is followed everywhere
/// if the approximation arrives at another point, since neighbouring geodesics separate.
///
/// The error is a point at which the geodesic leaves the patch of the surface, if there is no hollow.
pub(crate) fn find<T: Real>(
    surface: Metered<'_, T>,
    start: &GeodesicEnd<T>,
    end: &GeodesicEnd<T>,
    length: T,
) -> Result<Option<[T; 2]>, Point3<T>> {
    if !surface.may_be_hollow(start, length) {
        return Ok(None);
    }
    let mut scan = Scan { surface, start, is_followed: false, off_patch: None };
    let found = scan.find(end, length).unwrap_or_else(|()| {
        (scan.is_followed, scan.off_patch) = (true, None);
        scan.find(end, length).unwrap_or_default()
    });
    // A hollow is bridged first.
    scan.off_patch.filter(|_| found.is_none()).map_or(Ok(found), Err)
}

/// Keeps the hollow that turns the cable most, with the turn if its curvature is a parabola.
fn note<T: Real>(found: &mut Option<(T, [T; 2])>, hollow: [T; 2], deepest: T) {
    let turn = (hollow[1] - hollow[0]) * -deepest * T::lit(2.0 / 3.0);
    if found.as_ref().is_none_or(|(most, _)| turn > *most) {
        *found = Some((turn, hollow));
    }
}

/// A geodesic that is searched.
struct Scan<'a, T: Real> {
    surface: Metered<'a, T>,
    start: &'a GeodesicEnd<T>,
    /// Whether samples are on the geodesic itself.
    is_followed: bool,
    /// The first point found outside the patch of the surface.
    off_patch: Option<Point3<T>>,
}

impl<T: Real> Scan<'_, T> {
    /// Does as [`find`], on the approximation or on the geodesic itself. It is an error if the approximation does not
    /// arrive where the geodesic ends.
    fn find(&mut self, end: &GeodesicEnd<T>, length: T) -> Result<Option<[T; 2]>, ()> {
        const MOST_SAMPLES: f64 = 4096.0;
        let parts =
            ceil(T::lit(4.0) * length / self.surface.size()).max(T::lit(2.0)).min(T::lit(MOST_SAMPLES));
        let step = length / parts;
        let mut here = *self.start;
        let mut reach = T::zero();
        // The last three samples: length to it and curvature; and the ends there.
        let mut window = [(T::zero(), self.start.curvature); 3];
        let mut ends = [*self.start; 3];
        let mut found: Option<(T, [T; 2])> = None;
        let mut is_last = false;
        // The start of a hollow that has been entered, and the least curvature since.
        let mut entered = (self.start.curvature < T::zero()).then_some((T::zero(), self.start.curvature));
        while !is_last && !self.surface.budget.is_spent() {
            is_last = reach + step * T::lit(1.5) > length;
            if is_last {
                if !self.arrives(&here, end, length - reach) {
                    return Err(());
                }
                here = *end;
                reach = length;
            } else {
                here = self.advance(&here, step);
                reach += step;
                if self.off_patch.is_none() && !self.surface.covers(&here.point) {
                    let there = self.surface.follow(&self.start.point, &self.start.tangent, reach).point;
                    self.off_patch = Some(there).filter(|p| !self.surface.covers(p));
                }
                if here.curvature < T::zero() {
                    here.curvature = self.curvature(reach);
                }
            }
            window = [window[1], window[2], (reach, here.curvature)];
            ends = [ends[1], ends[2], here];
            let [(a, f_a), (b, f_b), (c, f_c)] = window;
            if f_c < T::zero() && entered.is_none() {
                entered = Some((self.root(c, b), f_c));
            }
            if let Some((first, deepest)) = entered {
                let deepest = deepest.min(f_c);
                entered = Some((first, deepest)).filter(|_| f_c < T::zero());
                if entered.is_none() || is_last {
                    let last = if f_c >= T::zero() { self.root(b, c) } else { c };
                    note(&mut found, [first, last], deepest);
                }
                continue;
            }
            let near = (T::lit(NEAR) * self.surface.size()).min(T::lit(0.5) * (c - b));
            let falls = |end: &GeodesicEnd<T>, step: T| self.advance(end, step).curvature < end.curvature;
            let least = if f_a > f_b && f_c >= f_b {
                // The least value of a parabola through the samples, with a margin.
                let bend = f_a + f_c - f_b - f_b;
                let dip = (f_a - f_c) * (f_a - f_c) / (T::lit(8.0) * bend);
                if f_b - dip < T::lit(0.25) * bend {
                    Some(self.least([a, b, c]))
                } else if f_b < bend {
                    self.least_at_seams(&ends[0], [a, c])
                } else {
                    None
                }
            } else if b == T::zero() && f_b < f_c && falls(self.start, near) {
                // The curvature is lower within the first or the last part than at both ends of this part.
                Some(self.least([b, near, c]))
            } else if is_last && f_c < f_b && falls(&here, -near) {
                Some(self.least([b, c - near, c]))
            } else {
                None
            };
            if let Some((s, least)) = least.filter(|(_, least)| *least < T::zero()) {
                let hollow = [self.root(s, a), self.root(s, c)];
                note(&mut found, hollow, least);
            }
        }
        // The bound does not depend on the smoothness of the path: the bridge over a smaller hollow is short compared
        // with roundoff.
        let least_turn = Settings::<T>::default().smoothness;
        Ok(found.filter(|(turn, _)| *turn > least_turn).map(|(_, hollow)| hollow))
    }

    /// Whether a short way along the geodesic from here leads to its end, to a tenth of the smallest feature.
    fn arrives(&self, here: &GeodesicEnd<T>, end: &GeodesicEnd<T>, way: T) -> bool {
        let ahead = end.point - here.point;
        let allowed = T::lit(0.1) * self.surface.size();
        let along = here.tangent.dot(&ahead) - way;
        self.is_followed || (along.abs() < allowed && here.binormal().dot(&ahead).abs() < allowed)
    }

    /// A short way along a geodesic, to third order if it is not followed.
    fn advance(&self, from: &GeodesicEnd<T>, step: T) -> GeodesicEnd<T> {
        if self.is_followed {
            return self.surface.follow(&from.point, &from.tangent, step);
        }
        let GeodesicEnd { point, tangent, normal, curvature, torsion, .. } = *from;
        let bow = curvature * step * step * T::lit(0.5);
        let veer = from.binormal() * (bow * torsion);
        let place = point + tangent * step - normal * bow - veer * (step / T::lit(3.0));
        let (value, gradient) = self.surface.value_and_gradient(&place);
        let place = place - gradient * (value / gradient.norm_squared());
        self.surface.budget.spend(2);
        // The projection into the next tangent plane turns the direction too far by the same amount.
        self.surface.end(&place, &(tangent + veer))
    }

    /// The curvature at this length from the start.
    fn curvature(&self, at: T) -> T {
        self.surface.follow(&self.start.point, &self.start.tangent, at).curvature
    }

    /// The place of the least curvature between three places, of which the middle one is lowest, and the curvature
    /// there; only its sign is accurate.
    fn least(&self, [mut low, mut middle, mut high]: [T; 3]) -> (T, T) {
        const GOLDEN: f64 = 0.381_966_011_250_105;
        let mut value = self.curvature(middle);
        let tolerance = T::lit(NEAR) * self.surface.size();
        for _ in 0..40 {
            if value < T::zero() || high - low < tolerance {
                break;
            }
            let part = T::lit(GOLDEN);
            let into_upper = high - middle > middle - low;
            let next =
                if into_upper { middle + (high - middle) * part } else { middle - (middle - low) * part };
            let here = self.curvature(next);
            match (here < value, into_upper) {
                (true, true) => (low, middle, value) = (middle, next, here),
                (true, false) => (high, middle, value) = (middle, next, here),
                (false, true) => high = next,
                (false, false) => low = next,
            }
        }
        (middle, value)
    }

    /// The place of the least curvature at the seams between two places, and the curvature there: it may have a corner
    /// at a seam. `from` is the end at the first place.
    fn least_at_seams(&self, from: &GeodesicEnd<T>, [low, high]: [T; 2]) -> Option<(T, T)> {
        const MOST_STEPS: usize = 32;
        let (mut here, mut at) = (*from, low);
        let mut least: Option<(T, T)> = None;
        for _ in 0..MOST_STEPS {
            let step =
                self.surface.smooth_reach(&here.point, &here.tangent, &(here.normal * -here.curvature));
            if at + step >= high {
                break;
            }
            here = self.advance(&here, step);
            at += step;
            if least.is_none_or(|(_, curvature)| here.curvature < curvature) {
                least = Some((at, here.curvature));
            }
        }
        let (at, _) = least.filter(|(_, curvature)| *curvature < T::zero())?;
        Some((at, self.curvature(at)))
    }

    /// Where the curvature changes its sign between a place where it is negative and one where it is not; the second
    /// place if it is negative there too.
    fn root(&self, mut negative: T, mut positive: T) -> T {
        for _ in 0..20 {
            let middle = T::lit(0.5) * (negative + positive);
            if self.curvature(middle) < T::zero() {
                negative = middle;
            } else {
                positive = middle;
            }
        }
        positive
    }
}
