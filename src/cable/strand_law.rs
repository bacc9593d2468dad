//! The law of the strands of a cable with friction, in numbers with or without derivatives.

use alloc::vec::Vec;

use super::slip::Joint;
use crate::math::{Algebraic, Real};

/// The part of a cable that a strand is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<S> {
    /// From mark to mark.
    pub(super) length: S,
    /// Its share of the material.
    pub(super) share: S,
    /// Its share at the last commit.
    pub(super) committed_share: S,
    /// The elongation of a whole cable that is strained like it, zero while slack.
    pub(super) elongation: S,
    pub(super) is_wound: bool,
}

impl<S: Algebraic> Part<S> {
    pub(super) fn new(length: S, share: S, is_wound: bool) -> Self {
        Self { length, share, committed_share: share, elongation: S::none(), is_wound }
    }

    /// The part of a change of the path's length that the strand sees beyond that of its own chord.
    fn weight(&self, free: S) -> S {
        if self.is_wound { S::none() } else { self.committed_share / free }
    }
}

/// The share of the cable's material that is not wound on a drum, at the last commit.
fn free_share<S: Algebraic>(parts: &[Part<S>]) -> S {
    let free = parts.iter().filter(|part| !part.is_wound);
    free.fold(S::none(), |sum, part| sum + part.committed_share)
}

/// Distributes what the remembered chords do not see of a path of this length.
pub(super) fn distribute_length<T: Real, S: Algebraic<Scalar = T>>(parts: &mut [Part<S>], length: S) {
    let total = parts.iter().fold(S::none(), |sum, part| sum + part.length);
    // It is common to all that is not wound.
    let unseen = length - total;
    let free = free_share(parts);
    if let [only] = parts {
        only.length = length;
        return;
    }
    // A leap far from the last commit must not leave a strand without length.
    let least = S::literal(1e-6) * length;
    for part in parts.iter_mut().filter(|part| !part.is_wound) {
        let length = part.length + part.share / free * unseen;
        part.length = length.at_least(least * part.share);
    }
}

/// Distributes what the remembered chords do not see of the rate of the path's length.
pub(super) fn distribute_rate<S: Algebraic>(parts: &[Part<S>], rate: S, rates: &mut [S]) {
    let seen = rates.iter().fold(S::none(), |sum, &rate| sum + rate);
    let free = free_share(parts);
    for (seen_by_strand, part) in rates.iter_mut().zip(parts) {
        *seen_by_strand += part.weight(free) * (rate - seen);
    }
}

/// The tension that acts along the present path.
pub(super) fn mean<S: Algebraic>(parts: &[Part<S>], tensions: &[S]) -> S {
    let free = free_share(parts);
    parts.iter().zip(tensions).fold(S::none(), |sum, (part, &tension)| sum + part.weight(free) * tension)
}

/// Writes the tension in each strand, damping included; returns the power that damping dissipates.
pub(super) fn tensions<T: Real, S: Algebraic<Scalar = T>>(
    parts: &[Part<S>],
    joints: &[Joint<S>],
    [stiffness, dissipation]: [S; 2],
    rates: &[S],
    tensions: &mut Vec<S>,
) -> S {
    rises(parts, joints, dissipation, rates, tensions);
    let mut lost = S::none();
    for ((tension, part), &rate) in tensions.iter_mut().zip(parts).zip(rates) {
        let elastic = stiffness * part.elongation;
        let damping = elastic * *tension;
        *tension = elastic + damping;
        lost += damping * rate;
    }
    lost
}

/// Writes the rises of the strands: of those that no limit forbids the nearest to what damping gives each strand alone,
/// in the norm `Σ φ_k x_k r_k²`. No rises are allowed, and a projection onto a convex set is at an obtuse angle to it, so
/// that damping takes energy, if any. Returns the rise that is best for the last strand, below −1 too.
///
/// What is best for the first strands, given the rise of the last of them, is known from the best of each one, given
/// nothing: as far as the limits let it, every strand keeps its own. So each one's is found from those before it, and from
/// the last one on all follow.
pub(super) fn rises<T: Real, S: Algebraic<Scalar = T>>(
    parts: &[Part<S>],
    joints: &[Joint<S>],
    dissipation: S,
    rates: &[S],
    rises: &mut Vec<S>,
) -> S {
    const ROUNDS: usize = 100;
    let one = S::literal(1.0);
    let alone = |k: usize| dissipation * rates[k] / parts[k].share;
    let weight = |k: usize| parts[k].elongation * parts[k].share;
    let limits = |k: usize| joints[k].limits(parts[k].elongation, parts[k + 1].elongation);
    // The rise of a strand that is best for it and for those that follow it from this rise, with which it begins.
    let best = |last: usize, at: T, bests: &[S]| {
        let (mut sum, mut slope) = (weight(last) * alone(last), weight(last));
        let (mut factor, mut next, mut first) = (one, at, last);
        for k in (0..last).rev() {
            let Some(held) = limits(k).and_then(|limits| holding(limits, bests[k].value(), next)) else { break };
            factor *= held;
            next = scaled(next, held.value());
            sum += factor * weight(k) * (alone(k) - (factor - one));
            slope += factor * factor * weight(k);
            first = k;
        }
        if first == last { alone(last) } else { sum / slope }
    };
    rises.clear();
    rises.reserve(parts.len());
    let mut found = S::none();
    for last in 0..parts.len() {
        // Newton's method for the root of a piecewise linear function, between bounds: exact once the piece is right.
        let mut at = alone(last).value().max(-T::one());
        let (mut below, mut above) = (T::lit(f64::NEG_INFINITY), T::lit(f64::INFINITY));
        for _ in 0..ROUNDS {
            found = best(last, at, rises);
            let next = found.value().max(-T::one());
            if next == at {
                break;
            }
            *(if next > at { &mut below } else { &mut above }) = at;
            at = if next > below && next < above { next } else { (below + above) * T::lit(0.5) };
        }
        rises.push(found.at_least(-one));
    }
    for k in (0..joints.len()).rev() {
        let next = rises[k + 1];
        if let Some(held) = limits(k).and_then(|limits| holding(limits, rises[k].value(), next.value())) {
            rises[k] = scaled(next, held).at_least(-one);
        }
    }
    found
}

/// The one of two limits, as factors of `1 + r`, that keeps a strand from its own rise beside a given one.
fn holding<T: Real, S: Algebraic<Scalar = T>>([least, most]: [S; 2], own: T, beside: T) -> Option<S> {
    // Of equal rises that are tied to each other, derivatives may differ.
    if own <= scaled(beside, least.value()) {
        Some(least)
    } else if own >= scaled(beside, most.value()) {
        Some(most)
    } else {
        None
    }
}

/// The rise whose tension is a multiple; without rounding if that is 1.
fn scaled<S: Algebraic>(rise: S, factor: S) -> S {
    let one = S::literal(1.0);
    rise + (factor - one) * (one + rise)
}

#[cfg(test)]
mod tests {
    use super::super::slip::settle;
    use super::*;

    /// Numbers from 0 to 1 that repeat nowhere near.
    fn draw(seed: u32, k: u32) -> f64 {
        0.5 + 0.5 * (f64::from(101 * seed + k) * 1.618_034).sin()
    }

    /// A settled cable, of which some contacts stick, some slip and some have no friction, with the rates of its strands.
    fn cable(seed: u32) -> (Vec<Part<f64>>, Vec<Joint<f64>>, Vec<f64>) {
        let (count, exponent) = (1 + seed % 6, [0.03, 0.3, 3.0][seed as usize / 6 % 3]);
        let sizes: Vec<f64> = (0..count).map(|k| 0.05 + draw(seed, k)).collect();
        let total: f64 = sizes.iter().sum();
        let shares = sizes.iter().map(|size| size / total);
        let stretch = |k: u32| 2.0 + 0.6 * draw(seed, 10 + k);
        let mut parts: Vec<Part<f64>> =
            (0..count).zip(shares).map(|(k, share)| Part::new(stretch(k) * share, share, false)).collect();
        let mut joints = Vec::new();
        let mut share = 0.0;
        for (k, part) in (1..count).zip(&parts) {
            share += part.share;
            let draw = draw(seed, 20 + k);
            joints.push(Joint::new(if draw < 0.2 { 1.0 } else { (exponent * draw).exp() }, share));
        }
        settle(&mut parts, &mut joints, 1.9);
        let (fastest, least) = [(0.3, 0.5), (3.0, 0.5), (3.0, 0.8)][seed as usize / 18 % 3];
        let rates = (0..count).map(|k| fastest * (draw(seed, 30 + k) - least)).collect();
        (parts, joints, rates)
    }

    /// The tensions nearest to the given ones, each within what the others allow: the best of all choices of contacts at their
    /// limits, and of strands without tension.
    fn nearest(wanted: &[f64], weights: &[f64], ratios: &[f64]) -> Vec<f64> {
        let mut best = (f64::INFINITY, Vec::new());
        for choice in 0..3_u32.pow(u32::try_from(ratios.len()).unwrap_or(0)) {
            let mut factors = vec![1.0; wanted.len()];
            let mut tensions = vec![0.0; wanted.len()];
            let mut first = 0;
            for k in 0..wanted.len() {
                let tie = ratios.get(k).map_or(0, |_| choice / 3_u32.pow(u32::try_from(k).unwrap_or(0)) % 3);
                if tie > 0 {
                    factors[k + 1] = factors[k] * if tie == 1 { ratios[k] } else { 1.0 / ratios[k] };
                    continue;
                }
                let (mut sum, mut slope) = (0.0, 0.0);
                for i in first..=k {
                    sum += weights[i] * factors[i] * wanted[i];
                    slope += weights[i] * factors[i] * factors[i];
                }
                for i in first..=k {
                    tensions[i] = factors[i] * (sum / slope).max(0.0);
                }
                first = k + 1;
            }
            let is_within = ratios.iter().zip(tensions.windows(2)).all(|(ratio, pair)| {
                let most = ratio * (1.0 + 1e-12);
                pair[0] <= pair[1] * most && pair[1] <= pair[0] * most
            });
            let off = (0..wanted.len()).map(|k| weights[k] * (tensions[k] - wanted[k]).powi(2)).sum();
            if is_within && off < best.0 {
                best = (off, tensions);
            }
        }
        best.1
    }

    #[test]
    fn tensions_are_the_nearest_to_those_of_strands_alone_that_all_limits_allow() {
        let (stiffness, dissipation) = (100.0, 0.4);
        let (mut limited, mut limp) = (0, 0);
        for seed in 0..6000 {
            let (parts, joints, rates) = cable(seed);
            let elastic: Vec<f64> = parts.iter().map(|part| stiffness * part.elongation).collect();
            let alone: Vec<f64> = (0..parts.len())
                .map(|k| elastic[k] * (1.0 + dissipation * rates[k] / parts[k].share))
                .collect();
            let weights: Vec<f64> =
                parts.iter().zip(&elastic).map(|(part, elastic)| part.share / elastic).collect();
            let ratios: Vec<f64> = joints.iter().map(|joint| joint.ratio).collect();
            let expected = nearest(&alone, &weights, &ratios);
            let mut found = Vec::new();
            tensions(&parts, &joints, [stiffness, dissipation], &rates, &mut found);
            let scale = elastic.iter().chain(&alone).fold(0.0, |most: f64, f| most.max(f.abs()));
            for (found, expected) in found.iter().zip(&expected) {
                // Settled tensions exceed their limits by some ulps.
                assert!((found - expected).abs() < 1e-11 * scale, "{seed}: {found} {expected}");
            }
            limited += usize::from(expected.iter().zip(&alone).any(|(f, alone)| (f - alone).abs() > 1e-3 * f));
            limp += usize::from(expected.iter().all(|f| *f == 0.0));
        }
        assert!(limited > 2000 && limp > 50, "{limited} {limp}");
    }

    #[test]
    fn damping_dissipates_at_least_the_square_of_the_rises() {
        let (stiffness, dissipation) = (100.0, 0.4);
        for seed in 0..6000 {
            let (parts, joints, rates) = cable(seed);
            let mut found = Vec::new();
            let lost = tensions(&parts, &joints, [stiffness, dissipation], &rates, &mut found);
            let (mut squares, mut most) = (0.0, 0.0);
            for ((part, tension), rate) in parts.iter().zip(found).zip(rates) {
                let elastic = stiffness * part.elongation;
                squares += part.share * (tension - elastic).powi(2) / elastic;
                most += (tension * rate).abs();
            }
            assert!(lost >= squares / dissipation - 1e-13 * most, "{seed}: {lost} {squares}");
        }
    }

    #[test]
    fn laps_held_at_their_limit_leave_the_free_cable_its_damping() {
        let (ratio, stiffness, dissipation) = (1.25, 100.0, 0.3);
        for off in [-2.0, -1.0, 0.0, 1.0, 2.0].map(|ulps| ulps * f64::EPSILON) {
            let mut parts = [(0.2, true), (0.3, true), (0.5, false)]
                .map(|(share, is_wound)| Part::new(share, share, is_wound));
            for (part, elongation) in parts.iter_mut().zip([0.1 * ratio * (1.0 + off), 0.1, 0.1]) {
                part.elongation = elongation;
            }
            let joints = [0.2, 0.5].map(|share| Joint::new(ratio, share));
            for rate in [0.2, -0.2] {
                let mut found = Vec::new();
                tensions(&parts, &joints, [stiffness, dissipation], &[0.0, 0.0, rate], &mut found);
                for (part, (tension, rate)) in parts.iter().zip(found.into_iter().zip([0.0, 0.0, rate])) {
                    let expected = stiffness * part.elongation * (1.0 + dissipation * rate / part.share);
                    // Of some roundings of numbers of order ten.
                    assert!((tension - expected).abs() < 1e-14, "{off} {rate}: {tension} {expected}");
                }
            }
        }
    }
}
