//! Cable with friction wound on a drum on which it ends: laps that keep the strain with which they were wound.

use crate::cable::{CablePath, Grips, ceil};
use crate::math::{Number, Real};
use crate::mechanics::Station;

/// The largest number of laps of a drum. Beyond it, the two laps with the smallest difference in strain are merged.
pub(crate) const MOST: usize = 24;

/// The turning of a lap \[rad\]: its tension is uniform, and friction acts between the middles of laps.
const TURNING: f64 = core::f64::consts::FRAC_PI_4;

/// The outermost laps are not merged, since slip begins there.
const KEPT: usize = 8;

impl<T: Real> CablePath<T> {
    /// Whether the path, as made, begins (and ends) on the surface of its first (or last) obstacle and is fixed on the
    /// same body.
    pub(crate) fn drums(&self) -> [bool; 2] {
        let is_on = |k: Option<usize>, station: Station<T>| {
            k.and_then(|k| self.obstacles.get(k)).is_some_and(|obstacle| {
                let surface = obstacle.surface();
                let p_S = obstacle.frame().X_BF.inverse_transform_point(&station.p_B);
                let near = T::lit(1e-6) * surface.size();
                station.body == obstacle.frame().body
                    && surface.covers(&p_S)
                    && surface.height(&p_S).abs() < near
            })
        };
        let count = self.obstacles.len();
        let is_first = self.via_points.first().is_none_or(|(_, before)| *before > 0);
        let is_last = self.via_points.last().is_none_or(|(_, before)| *before < count);
        let begins = is_on(is_first.then_some(0), self.origin());
        let ends = is_on(is_last.then_some(count.wrapping_sub(1)), self.termination());
        // One contact from end to end leaves no cable between two drums.
        if begins && ends && self.obstacles.len() == 1 { [false; 2] } else { [begins, ends] }
    }

    /// The places in the memory of friction of the contacts that are wound on a drum: the first place of the first
    /// obstacle, and the last occupied place of the last obstacle. The contact at the fixed end is wound while there are
    /// laps.
    pub(crate) fn wound_places(&self, grips: &Grips<T>) -> [Option<usize>; 2] {
        let drums = self.drums();
        let has_laps = |end: usize| {
            let innermost = grips.laps.get(self.laps_of(end).start);
            drums[end] && innermost.is_some_and(|lap| lap.length.min(lap.share) > T::zero())
        };
        let room = self.obstacles.last().map_or(0, |obstacle| obstacle.most_contacts);
        let of_last = grips.grips.len().saturating_sub(room);
        let last = grips.grips[of_last..].iter().rposition(|grip| grip.in_contact).map(|i| of_last + i);
        [has_laps(0).then_some(0), last.filter(|_| has_laps(1))]
    }

    /// The laps of the drum at the origin, or at the termination, in the memory of friction.
    pub(crate) fn laps_of(&self, end: usize) -> core::ops::Range<usize> {
        let [begins, _] = self.drums();
        let first = if end == 1 && begins { MOST } else { 0 };
        first..first + MOST
    }
}

/// Scales the laps in memory, each with its length and share of the material, to the length and share of the wound part.
/// Returns them from the fixed end outwards, each with the ratio of tensions at which it slips against the lap or cable
/// on its outer side; `limit` is the exponent of the capstan equation per length.
pub(crate) fn spread<S: Number>(
    laps: [[S; 2]; MOST],
    [length, share]: [S; 2],
    limit: S,
) -> impl DoubleEndedIterator<Item = ([S; 2], S)> {
    let count = laps.iter().take_while(|lap| lap[1] > S::zero()).count();
    let [lengths, shares] = total(&laps[..count]);
    let half = S::lit(0.5) * length / lengths;
    (0..count).map(move |i| {
        let [of_lap, part] = laps[i];
        // The outer neighbour is another lap, or the free cable.
        let outer = if i + 1 < count { laps[i + 1][0] } else { S::zero() };
        let ratio = (limit * (of_lap + outer) * half).exp();
        ([of_lap * (length / lengths), part * (share / shares)], ratio)
    })
}

/// The length and the share of all laps.
fn total<S: Number>(laps: &[[S; 2]]) -> [S; 2] {
    laps.iter().fold([S::zero(); 2], |[length, share], lap| [length + lap[0], share + lap[1]])
}

/// Laps from the fixed end outwards during an update: the length and the share of each.
pub(crate) struct Wound<S> {
    laps: [[S; 2]; MOST + 1],
    count: usize,
}

impl<T: Real, S: Number<Scalar = T>> Wound<S> {
    pub(crate) fn laps(&self) -> &[[S; 2]] {
        &self.laps[..self.count]
    }

    /// Adds a lap, and merges two if there are too many.
    fn push(&mut self, lap: [S; 2]) {
        self.laps[self.count] = lap;
        self.count += 1;
        if self.count > MOST {
            self.merge();
        }
    }

    /// Merges the two neighbouring laps whose merging loses the least energy.
    fn merge(&mut self) {
        let rounding = T::lit(1e-9).max(T::default_epsilon() * T::lit(64.0));
        let loss = |pair: &[[S; 2]]| {
            let [a, b] = [pair[0], pair[1]];
            let strains = [a, b].map(|[length, share]| length / share);
            let difference = strains[0] - strains[1];
            // Rounding must not decide between laps of equal strain.
            if difference.value().abs() <= rounding * strains[0].value() {
                return S::zero();
            }
            difference * difference * (a[1] * b[1] / (a[1] + b[1]))
        };
        let mut best: Option<(usize, S)> = None;
        for (i, pair) in self.laps[..self.count - KEPT].windows(2).enumerate() {
            let loss = loss(pair);
            if best.is_none_or(|(_, least)| loss < least) {
                best = Some((i, loss));
            }
        }
        let i = best.map_or(0, |(i, _)| i);
        let [length, share] = self.laps[i + 1];
        self.laps[i][0] += length;
        self.laps[i][1] += share;
        self.laps.copy_within(i + 2..self.count, i + 1);
        self.count -= 1;
    }
}

/// Updates the laps of a drum, from the fixed end outwards, from the laps in `wound` to those now on it; `curvature` is
/// the turning per length.
pub(crate) fn wind<T: Real, S: Number<Scalar = T>>(
    wound: impl Iterator<Item = [S; 2]>,
    now: [S; 2],
    curvature: T,
) -> Wound<S> {
    // Rounding must not create laps.
    let sliver = T::lit(1e-9).max(T::default_epsilon() * T::lit(64.0)) * now[0].value();
    let mut drum = Wound { laps: [[S::zero(); 2]; MOST + 1], count: 0 };
    let mut is_whole = true;
    for [length, share] in wound {
        let room = now[0] - total(drum.laps())[0];
        is_whole &= room.value() >= length.value() - sliver;
        if room.value() <= sliver {
            break;
        }
        let left = (room / length).min(S::lit(1.0));
        drum.push([length * left, share * left]);
    }
    let before = total(drum.laps());
    let [length, share] = [now[0] - before[0], now[1] - before[1]];
    // If a drum has not turned, the new part is zero and has derivatives.
    let is_same = is_whole && drum.count > 0 && length.value().abs() <= sliver;
    if is_same || (length > S::zero() && share > S::zero()) {
        let longest = T::lit(TURNING) / curvature;
        let is_begun = drum.count > 0;
        let outermost = &mut drum.laps[drum.count.max(1) - 1];
        if is_begun && (length.value() <= sliver || (outermost[0] + length).value() <= longest) {
            outermost[0] += length;
            outermost[1] += share;
        } else {
            let parts = ceil(length.value() / longest).min(T::lit(16.0)).max(T::one());
            let mut part = T::zero();
            while part < parts {
                drum.push([length / S::of(parts), share / S::of(parts)]);
                part += T::one();
            }
        }
    }
    drum
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn what_is_wound_at_once_is_cut_into_laps_no_longer_than_one_that_keep_its_length_and_share() {
        let curvature = 4.0;
        let longest = TURNING / curvature;
        for (laps, parts) in [(0.5, 1), (1.0, 1), (1.5, 2), (7.9, 8), (15.5, 16)] {
            let now = [laps * longest, 0.3];
            let drum = wind(core::iter::empty(), now, curvature);
            assert_eq!(drum.laps().len(), parts, "{laps}");
            let [length, share] = total(drum.laps());
            // Sums of sixteen parts at most.
            assert!((length / now[0] - 1.0).abs() < 1e-14 && (share / now[1] - 1.0).abs() < 1e-14, "{laps}");
            assert!(drum.laps().iter().all(|lap| lap[0] <= longest * (1.0 + 1e-14)), "{laps}");
            // Under another strain, more of it, and less.
            let wound: Vec<[f64; 2]> = drum.laps().to_vec();
            let more = wind(wound.iter().copied(), [now[0] + 2.5 * longest, 0.9], curvature);
            assert_eq!(more.laps()[..parts], wound[..]);
            assert_eq!(more.laps().len(), parts + 3);
            let less = wind(wound.into_iter(), [0.75 * now[0], 0.1], curvature);
            // It is unwound from outside, with the strain that it has there.
            assert!((total(less.laps())[0] / (0.75 * now[0]) - 1.0).abs() < 1e-14);
            assert!((total(less.laps())[1] / (0.75 * 0.3) - 1.0).abs() < 1e-14);
        }
    }
}
