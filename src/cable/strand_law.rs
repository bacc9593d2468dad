//! The law of the strands of a cable with friction, in numbers with or without derivatives.

use alloc::vec::Vec;
use core::ops::Range;

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
    let one = S::literal(1.0);
    let rise = |range: Range<usize>| {
        let (mut power, mut weight) = (S::none(), S::none());
        for (part, &rate) in parts.iter().zip(rates).take(range.end).skip(range.start) {
            power += part.elongation * rate;
            weight += part.elongation * part.share;
        }
        // The rate of a single strand, which is the whole cable, must be itself to the last bit.
        let mean = match rates {
            [only] => *only,
            _ if weight > S::none() => power / weight,
            _ => S::none(),
        };
        (dissipation * mean).at_least(-one)
    };
    let common = rise(0..parts.len());
    tensions.clear();
    tensions.reserve(parts.len());
    for group in groups(parts.len(), joints) {
        let own = rise(group.clone());
        tensions.extend(group.map(|_| own - common));
    }
    // As much of the differences as no contact that sticks gives way to.
    let rounding = T::default_epsilon() * T::lit(64.0);
    let mut weight = one;
    for (i, joint) in joints.iter().enumerate().filter(|(_, joint)| !joint.slips()) {
        for (a, b) in [(i, i + 1), (i + 1, i)] {
            let excess = |weight: S| {
                let tension = |k: usize| parts[k].elongation * (one + common + weight * tensions[k]);
                tension(a) - joint.ratio * tension(b)
            };
            let most = excess(one);
            // Laps that have slipped are held at the limit to rounding, and both tensions rise alike.
            if most.value() > rounding * parts[a].elongation.value() {
                let none = excess(S::none()).at_most(S::none());
                weight = weight.at_most(none / (none - most));
            }
        }
    }
    let mut lost = S::none();
    for ((tension, part), &rate) in tensions.iter_mut().zip(parts).zip(rates) {
        let rise = common + weight * *tension;
        let elastic = stiffness * part.elongation;
        let damping = elastic * rise;
        *tension = elastic + damping;
        lost += damping * rate;
    }
    lost
}

/// The strands between neighbouring contacts that stick.
fn groups<S: Algebraic>(count: usize, joints: &[Joint<S>]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut first = 0;
    (0..count).filter_map(move |last| {
        let ends = joints.get(last).is_none_or(|joint| !joint.slips());
        ends.then(|| core::mem::replace(&mut first, last + 1)..last + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
