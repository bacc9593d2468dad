//! Cable with friction wound on a drum on which it ends: laps that keep the strain with which they were wound.

use super::ceil;
use super::grip::{Grips, Lap};
use super::path::CablePath;
use super::slip::Joint;
use super::strands::{Strands, Tie};
use crate::math::Real;
use crate::mechanics::Station;

/// The largest number of laps of a drum. Beyond, the two that differ least in strain count as one.
pub(super) const MOST: usize = 24;

/// The turning of a lap \[rad\]: its tension is uniform, and friction acts between the middles of laps.
const TURNING: f64 = core::f64::consts::FRAC_PI_4;

/// The outermost laps are not merged, since slip begins there.
const KEPT: usize = 8;

impl<T: Real> CablePath<T> {
    /// Whether the cable begins, and ends, on the surface of its first or last obstacle, on the body of which it is fixed.
    pub(super) fn drums(&self) -> [bool; 2] {
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

    /// The places of the drums on which the cable begins and ends and that it touches, in the memory of friction: the
    /// first one of the first obstacle, and the last occupied one of the last.
    pub(super) fn drum_places(&self, grips: &Grips<T>) -> [Option<usize>; 2] {
        let [begins, ends] = self.drums();
        let places = &grips.places;
        let is_first = begins && places.first().is_some_and(|grip| grip.in_contact);
        let room = self.obstacles.last().map_or(0, |obstacle| obstacle.most_contacts);
        let of_last = places.len().saturating_sub(room);
        let last = places[of_last..].iter().rposition(|grip| grip.in_contact).map(|i| of_last + i);
        [is_first.then_some(0), last.filter(|_| ends)]
    }

    /// The laps of the drum at the origin, or at the termination, in the memory of friction.
    pub(super) fn laps_of(&self, end: usize) -> core::ops::Range<usize> {
        let [begins, _] = self.drums();
        let first = if end == 1 && begins { MOST } else { 0 };
        first..first + MOST
    }
}

impl<T: Real> Strands<T> {
    /// Adds what is wound on a drum, with joints from the free cable to the fixed end or from there; `limit` is the
    /// exponent of the capstan equation per length.
    pub(super) fn add_laps(
        &mut self,
        at: Tie<T>,
        laps: &[Lap<T>],
        [length, share]: [T; 2],
        is_last: bool,
        limit: T,
    ) {
        let (mut lengths, mut shares) = (T::zero(), T::zero());
        for lap in laps {
            lengths += lap.length;
            shares += lap.share;
        }
        let single = [Lap { length, share }];
        let is_known = lengths > T::zero() && shares > T::zero();
        let laps = if is_known { laps } else { &single[..] };
        let (lengths, shares) = if is_known { (lengths, shares) } else { (length, share) };
        let count = laps.iter().take_while(|lap| lap.share > T::zero()).count();
        let mut before = if is_last { T::one() - share } else { T::zero() };
        let half = T::lit(0.5) * length / lengths;
        for k in 0..count {
            // From the fixed end outwards, or back.
            let i = if is_last { count - 1 - k } else { k };
            // On its outer side is another lap, or the free cable.
            let outer = laps[..count].get(i + 1).map_or(T::zero(), |lap| lap.length);
            let ratio = (limit * (laps[i].length + outer) * half).exp();
            if is_last {
                self.joints.push(Joint::new(ratio, before));
            }
            let part = laps[i].share * (share / shares);
            self.add(at, at, laps[i].length * (length / lengths), part);
            if let Some(strand) = self.all.last_mut() {
                strand.is_wound = true;
            }
            before += part;
            if !is_last {
                self.joints.push(Joint::new(ratio, before));
            }
        }
    }
}

/// Laps from the fixed end outwards, while they are brought up to date.
struct Wound<T: Real> {
    laps: [Lap<T>; MOST + 1],
    count: usize,
}

impl<T: Real> Wound<T> {
    fn total(&self) -> Lap<T> {
        self.laps[..self.count].iter().fold(Lap::default(), |sum, lap| Lap {
            length: sum.length + lap.length,
            share: sum.share + lap.share,
        })
    }

    /// Adds a lap, and merges two if there are too many.
    fn push(&mut self, lap: Lap<T>) {
        self.laps[self.count] = lap;
        self.count += 1;
        if self.count > MOST {
            self.merge();
        }
    }

    /// Merges the two neighbouring laps by which least energy is lost.
    fn merge(&mut self) {
        let loss = |pair: &[Lap<T>]| {
            let [a, b] = [pair[0], pair[1]];
            let difference = a.length / a.share - b.length / b.share;
            difference * difference * (a.share * b.share / (a.share + b.share))
        };
        let mut best: Option<(usize, T)> = None;
        for (i, pair) in self.laps[..self.count - KEPT].windows(2).enumerate() {
            let loss = loss(pair);
            if best.is_none_or(|(_, least)| loss < least) {
                best = Some((i, loss));
            }
        }
        let i = best.map_or(0, |(i, _)| i);
        let merged = self.laps[i + 1];
        self.laps[i].length += merged.length;
        self.laps[i].share += merged.share;
        self.laps.copy_within(i + 2..self.count, i + 1);
        self.count -= 1;
    }
}

/// Brings the laps of a drum, from the fixed end outwards, from those that were `wound` to what is on it now; `curvature`
/// is the turning per length. Unused laps are empty.
pub(super) fn wind<T: Real>(
    laps: &mut [Lap<T>],
    wound: impl Iterator<Item = Lap<T>>,
    now: Lap<T>,
    curvature: T,
) {
    // Rounding makes no laps.
    let sliver = T::lit(1e-9) * now.length;
    let mut drum = Wound { laps: [Lap::default(); MOST + 1], count: 0 };
    for lap in wound {
        let room = now.length - drum.total().length;
        if room <= sliver {
            break;
        }
        let left = (room / lap.length).min(T::one());
        drum.push(Lap { length: lap.length * left, share: lap.share * left });
    }
    let before = drum.total();
    let added = Lap { length: now.length - before.length, share: now.share - before.share };
    if added.length > T::zero() && added.share > T::zero() {
        let longest = T::lit(TURNING) / curvature;
        let is_begun = drum.count > 0;
        let outermost = &mut drum.laps[drum.count.max(1) - 1];
        if is_begun && (added.length <= sliver || outermost.length + added.length <= longest) {
            outermost.length += added.length;
            outermost.share += added.share;
        } else {
            let parts = ceil(added.length / longest).min(T::lit(16.0)).max(T::one());
            let mut part = T::zero();
            while part < parts {
                drum.push(Lap { length: added.length / parts, share: added.share / parts });
                part += T::one();
            }
        }
    }
    laps.fill(Lap::default());
    for (lap, wound) in laps.iter_mut().zip(&drum.laps[..drum.count]) {
        *lap = *wound;
    }
}
