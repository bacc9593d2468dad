//! The laws of a cable and of the strands of a cable with friction, over numbers with or without derivatives.

use alloc::vec::Vec;

use crate::cable::empty;
use crate::cable::friction::slip::Joint;
use crate::math::{Number, Real};

/// The elastic tension of a taut cable without friction, and its rise by damping.
#[inline]
pub(crate) fn tension<S: Number>(elongation: S, rate: S, [stiffness, dissipation]: [S; 2]) -> [S; 2] {
    let elastic = stiffness * elongation;
    [elastic, (elastic * dissipation * rate).max(-elastic)]
}

/// The part of a cable between two neighbouring marks, ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strand<S> {
    /// The length from mark to mark \[m\].
    pub length: S,
    /// Its share of the cable's material.
    pub share: S,
    /// Its share at the last commit.
    pub committed_share: S,
    /// The elongation that a whole cable with the same strain would have, zero while slack \[m\].
    pub elongation: S,
    /// Whether it lies on a drum on which the cable ends. Its length is fixed within a step.
    pub is_wound: bool,
}

impl<S: Number> Strand<S> {
    pub(crate) fn new(length: S, share: S, is_wound: bool) -> Self {
        Self { length, share, committed_share: share, elongation: S::zero(), is_wound }
    }

    /// The fraction of the change of the path's length beyond the change of the strands' own chords that belongs to this
    /// strand.
    fn weight(&self, free: S) -> S {
        if self.is_wound { S::zero() } else { self.committed_share / free }
    }
}

/// The fraction of the cable's material that is not wound on a drum, at the last commit.
fn free_share<S: Number>(parts: &[Strand<S>]) -> S {
    let free = parts.iter().filter(|part| !part.is_wound);
    free.fold(S::zero(), |sum, part| sum + part.committed_share)
}

/// Distributes the part of a path's length that the remembered chords do not cover: returns the length of a strand.
pub(crate) fn distribution<T: Real, S: Number<Scalar = T>>(
    parts: &mut dyn Iterator<Item = Strand<S>>,
    length: S,
) -> impl Fn(&Strand<S>) -> S + Clone + use<T, S> {
    let (mut total, mut free, mut count) = (S::zero(), S::zero(), 0);
    for part in parts {
        total += part.length;
        free += if part.is_wound { S::zero() } else { part.committed_share };
        count += 1;
    }
    // This part is common to all strands that are not wound. A position far from the last commit must not leave a strand
    // without length.
    let (unseen, least) = (length - total, S::lit(1e-6) * length);
    move |part| match part {
        _ if count == 1 => length,
        _ if part.is_wound => part.length,
        _ => (part.length + part.weight(free) * unseen).max(least * part.share),
    }
}

/// Distributes the part of the rate of the path's length that the remembered chords do not cover.
pub(crate) fn distribute_rate<S: Number>(parts: &[Strand<S>], rate: S, rates: &mut [S]) {
    let seen = rates.iter().fold(S::zero(), |sum, &rate| sum + rate);
    let free = free_share(parts);
    for (seen_by_strand, part) in rates.iter_mut().zip(parts) {
        *seen_by_strand += part.weight(free) * (rate - seen);
    }
}

/// The tension that acts along the present path.
pub(crate) fn mean<S: Number>(parts: &[Strand<S>], tensions: impl Iterator<Item = S>) -> S {
    let free = free_share(parts);
    parts.iter().zip(tensions).fold(S::zero(), |sum, (part, tension)| sum + part.weight(free) * tension)
}

/// Writes the tension in each strand, damping included; returns the power that damping dissipates.
pub(crate) fn tensions<T: Real, S: Number<Scalar = T>>(
    parts: &[Strand<S>],
    joints: &[Joint<S>],
    [stiffness, dissipation]: [S; 2],
    rates: &[S],
    tensions: &mut Vec<S>,
) -> S {
    // Without dissipation all rises are zero, and do not show through which contacts material would pass at a small
    // dissipation. The derivatives by the dissipation are those at a small value.
    let little = if dissipation <= S::zero() { little_dissipation(parts, rates) } else { None };
    rises(parts, joints, little.unwrap_or(dissipation), rates, tensions);
    if let Some(little) = little {
        for rise in tensions.iter_mut() {
            *rise = dissipation * (*rise / little);
        }
    }
    let mut lost = S::zero();
    for ((tension, part), &rate) in tensions.iter_mut().zip(parts).zip(rates) {
        let elastic = stiffness * part.elongation;
        let damping = elastic * *tension;
        *tension = elastic + damping;
        lost += damping * rate;
    }
    lost
}

/// A dissipation at which the rises are of the order of the root of roundoff, so that they differ by more than rounding,
/// and by too little for contacts that stick to reach their limits. `None` if no strand stretches.
fn little_dissipation<T: Real, S: Number<Scalar = T>>(parts: &[Strand<S>], rates: &[S]) -> Option<S> {
    let stretching = |(rate, part): (&S, &Strand<S>)| (rate.value() / part.share.value()).to_f64().abs();
    let fastest = rates.iter().zip(parts).map(stretching).fold(0.0, f64::max);
    // Infinite if the fastest is close to the least number.
    let little = T::default_epsilon().sqrt() / T::lit(fastest);
    little.is_finite().then(|| S::of(little))
}

/// Writes the rises of the strands, `c` times the rates at which they stretch. Returns the rise of the last strand
/// without the limit of −1.
///
/// Alone, a strand of length `L_k` and share `φ_k` stretches at the rate `L̇_k/φ_k`. If the limit of a contact is
/// reached, material passes it at a rate `s`, towards the greater tension, which changes these rates by `s L_k/φ_k²` on
/// both sides. The rises of strands between contacts that hold, weighted by `φ_k²/L_k`, therefore have the same sum as
/// those of the strands alone. There is one solution.
///
/// The solution is found by dynamic programming. The rise of a strand is first calculated without the strands after it.
/// Given the rise of the next strand, it becomes equal to that, or as near to it as the limit allows.
pub(crate) fn rises<T: Real, S: Number<Scalar = T>>(
    parts: &[Strand<S>],
    joints: &[Joint<S>],
    dissipation: S,
    rates: &[S],
    rises: &mut Vec<S>,
) -> S {
    const ROUNDS: usize = 100;
    let one = S::lit(1.0);
    let alone = |k: usize| dissipation * rates[k] / parts[k].share;
    let weight = |k: usize| parts[k].share * parts[k].share / parts[k].length;
    // The limit, as a ratio, that keeps the factor of a strand's tension from its own optimum relative to that of the
    // next strand.
    let holding = |k: usize, own: T, next: T| {
        let limits = joints[k].limits(parts[k].elongation, parts[k + 1].elongation)?;
        let [least, most] = limits.map(|limit| limit.value() * next);
        // Strands held together have one derivative even if their rises are equal, and so have strands without tension. A
        // contact that sticks does not hold them yet.
        let is_held = joints[k].slips() || next <= T::zero();
        let (is_least, is_most) =
            if is_held { (own <= least, own >= most) } else { (own < least, own > most) };
        if is_least { Some(limits[0]) } else { is_most.then_some(limits[1]) }
    };
    // The rise of a strand and of the earlier strands that move with it, if the factor of its tension is near this one.
    // The factor is computed along with the rise: the relative error of the factor matters where the factor is small, and
    // that of the rise where the rise is small.
    let best = |last: usize, at: T, bests: &[S]| {
        let own = alone(last);
        let (mut sums, mut slope) = ([own, one + own].map(|wanted| weight(last) * wanted), weight(last));
        let (mut ratio, mut next, mut first) = (one, at, last);
        for k in (0..last).rev() {
            let Some(held) = holding(k, bests[k].value(), next) else { break };
            ratio *= held;
            next *= held.value();
            sums[0] += weight(k) * (alone(k) - (ratio - one));
            sums[1] += weight(k) * (alone(k) + one);
            slope += weight(k) * ratio;
            first = k;
        }
        if first == last { [own, one + own] } else { sums.map(|sum| sum / slope) }
    };
    empty(rises, parts.len());
    let mut last_rise = S::zero();
    for last in 0..parts.len() {
        // Newton's method for the root of a piecewise linear function, between bounds: exact once the piece is right.
        let mut found = [alone(last), one + alone(last)];
        let mut at = found[1].value().max(T::zero());
        let (mut below, mut above) = (T::lit(f64::NEG_INFINITY), T::lit(f64::INFINITY));
        for _ in 0..ROUNDS {
            let root = best(last, at, rises);
            let next = root[1].value().max(T::zero());
            // At a kink between slopes whose difference is beyond rounding, the root of the smaller slope is arbitrary.
            if next >= below && next <= above {
                found = root;
            }
            if next == at {
                break;
            }
            *(if next > at { &mut below } else { &mut above }) = at;
            at = if next > below && next < above { next } else { (below + above) * T::lit(0.5) };
        }
        last_rise = found[0];
        rises.push(found[1].max(S::zero()));
    }
    // From factors to rises.
    let mut next = [S::zero(); 2];
    for k in (0..parts.len()).rev() {
        let own = rises[k].value();
        let held = if k < joints.len() { holding(k, own, next[1].value()) } else { None };
        next = if let Some(held) = held {
            [next[0] + (held - one) * next[1], held * next[1]]
        } else {
            let [rise, factor] = best(k, own, rises);
            if factor.value() == own { [rise, factor] } else { [rises[k] - one, rises[k]] }
        };
        next[0] = next[0].max(-one);
        rises[k] = next[0];
    }
    last_rise
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::cable::friction::slip::settle;
    use num_dual::Dual64;

    /// Numbers from 0 to 1 that repeat nowhere near.
    fn draw(seed: u32, k: u32) -> f64 {
        0.5 + 0.5 * (f64::from(101 * seed + k) * 1.618_034).sin()
    }

    /// A settled cable, of which some contacts stick, some slip and some have no friction, with the rates of its strands.
    fn cable<T: Real>(seed: u32, of: &dyn Fn(f64) -> T) -> (Vec<Strand<T>>, Vec<Joint<T>>, Vec<T>) {
        let (count, exponent) = (1 + seed % 6, [0.03, 0.3, 3.0][seed as usize / 6 % 3]);
        let sizes: Vec<f64> = (0..count).map(|k| 0.05 + draw(seed, k)).collect();
        let total: f64 = sizes.iter().sum();
        let shares = sizes.iter().map(|size| size / total);
        let stretch = |k: u32| 2.0 + 0.6 * draw(seed, 10 + k);
        let mut parts: Vec<Strand<T>> = (0..count)
            .zip(shares)
            .map(|(k, share)| Strand::new(of(stretch(k) * share), of(share), false))
            .collect();
        let mut joints = Vec::new();
        let mut share = T::zero();
        for (k, part) in (1..count).zip(&parts) {
            share += part.share;
            let draw = draw(seed, 20 + k);
            joints.push(Joint::new(of(if draw < 0.2 { 1.0 } else { (exponent * draw).exp() }), share));
        }
        settle(&mut parts, &mut joints, of(1.9));
        let (fastest, least) = [(0.3, 0.5), (3.0, 0.5), (3.0, 0.8)][seed as usize / 18 % 3];
        let rates = (0..count).map(|k| of(fastest * (draw(seed, 30 + k) - least))).collect();
        (parts, joints, rates)
    }

    #[test]
    fn strands_stretch_at_the_rates_that_damping_sees_and_material_passes_only_contacts_at_their_limit() {
        let (stiffness, dissipation) = (100.0, 0.4);
        let (mut passed, mut limp) = ([0; 2], 0);
        for seed in 0..6000 {
            let (parts, joints, rates) = cable(seed, &f64::from);
            let mut found = Vec::new();
            tensions(&parts, &joints, [stiffness, dissipation], &rates, &mut found);
            let elastic: Vec<f64> = parts.iter().map(|part| stiffness * part.elongation).collect();
            // The length of cable that enters each strand, if it stretches at the rate for which its tension is right.
            let (mut lengths, mut scale) = (Vec::new(), 0.0_f64);
            for (k, part) in parts.iter().enumerate() {
                let stretching = (found[k] / elastic[k] - 1.0) / dissipation;
                let entering = part.share / part.length * (rates[k] - part.share * stretching);
                scale = scale.max(part.share / part.length * (rates[k].abs() + part.share / dissipation));
                lengths.push(entering);
            }
            if found.iter().all(|tension| *tension == 0.0) {
                // Even without tension they shorten more than the material takes.
                let lacking: f64 = lengths.iter().sum();
                assert!(lacking <= 1e-13 * scale, "{seed}: {lacking}");
                limp += 1;
                continue;
            }
            let mut leaving = 0.0;
            for (k, joint) in joints.iter().enumerate() {
                leaving -= lengths[k];
                let [before, after] = [found[k], found[k + 1]];
                // Settled tensions exceed their limits by some ulps.
                let most = joint.ratio * (1.0 + 1e-11);
                assert!(before <= most * after && after <= most * before, "{seed}: {before} {after}");
                let is_passing = leaving.abs() > 1e-11 * scale;
                let [from, to] = if leaving > 0.0 { [before, after] } else { [after, before] };
                let is_at_limit = joint.is_frictionless() || to * (1.0 + 1e-9) >= from * joint.ratio;
                assert!(!is_passing || is_at_limit, "{seed}: {leaving} from {from} to {to}");
                passed[usize::from(leaving > 0.0)] += u32::from(is_passing && !joint.is_frictionless());
            }
            let last = lengths[joints.len()];
            assert!((leaving - last).abs() < 1e-11 * scale, "{seed}: {leaving} {last}");
        }
        assert!(passed.iter().all(|passed| *passed > 1000) && limp > 50, "{passed:?} {limp}");
    }

    #[test]
    fn without_dissipation_tensions_have_the_derivatives_by_it_that_differences_show() {
        let (mut slipping, little) = (0, 1e-8);
        for seed in 0..6000 {
            let (parts, joints, rates) = cable(seed, &f64::from);
            let at = |dissipation| {
                let mut found = Vec::new();
                tensions(&parts, &joints, [100.0, dissipation], &rates, &mut found);
                found
            };
            let (elastic, damped) = (at(0.0), at(little));
            assert!(elastic.iter().zip(&parts).all(|(tension, part)| *tension == 100.0 * part.elongation));
            let (parts, joints, rates) = cable(seed, &Dual64::from_re);
            let mut dual = Vec::new();
            tensions(&parts, &joints, [Dual64::from_re(100.0), Dual64::new(0.0, 1.0)], &rates, &mut dual);
            let differences = elastic.iter().zip(damped).map(|(elastic, damped)| (damped - elastic) / little);
            let fastest = differences.clone().fold(0.0, |fastest: f64, slope| fastest.max(slope.abs()));
            for (dual, difference) in dual.iter().zip(differences) {
                // Tensions of up to 300 round by 6e-14, over the dissipation.
                assert!(
                    (dual.eps - difference).abs() < 1e-5 + 1e-5 * fastest,
                    "{seed}: {} {difference}",
                    dual.eps
                );
            }
            slipping += u32::from(joints.iter().any(|joint| joint.slips() && !joint.is_frictionless()));
        }
        assert!(slipping > 2000, "{slipping}");
    }

    #[test]
    fn laps_held_at_their_limit_leave_the_free_cable_its_damping() {
        let (ratio, stiffness, dissipation) = (1.25, 100.0, 0.3);
        for off in [-2.0, -1.0, 0.0, 1.0, 2.0].map(|ulps| ulps * f64::EPSILON) {
            let mut parts = [(0.2, true), (0.3, true), (0.5, false)]
                .map(|(share, is_wound)| Strand::new(share, share, is_wound));
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
