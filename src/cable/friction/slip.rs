//! The return mapping of capstan friction: material slips through contacts until no ratio of tensions exceeds its
//! limit.
//!
//! The tension in strand `k` is a decreasing function of its fraction of material, and the logarithm of the ratio at each
//! contact is bounded. The slips therefore solve a strictly convex problem: they minimize the sum of the strands'
//! potentials of log-tension and of the limits times the sizes of the slips. The solution is unique. Given the directions
//! in which contacts slip, the strands between contacts that stick form groups of known ratios, each with one unknown;
//! the directions are corrected until they are consistent. Descent along one slip after another always converges to the
//! solution.

use crate::cable::Strand;
use crate::math::{Number, Real};

/// A contact between two neighbouring strands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Joint<S> {
    /// The ratio of tensions at which it slips.
    pub(crate) ratio: S,
    /// Whether material slips on (1) or back (−1), or the contact sticks (0).
    direction: i8,
    /// The share of material before it at the last commit.
    pub(crate) committed: S,
    /// The share of material before it during descent.
    current: S,
}

impl<S: Number> Joint<S> {
    pub(crate) fn new(ratio: S, share: S) -> Self {
        Self { ratio, direction: 0, committed: share, current: share }
    }

    /// Whether material slips, so that the tensions on both sides are in a fixed ratio.
    pub(crate) fn slips(&self) -> bool {
        self.direction != 0 || self.is_frictionless()
    }

    /// The same branch with other numbers.
    pub(crate) fn with<V: Number>(&self, ratio: V, committed: V) -> Joint<V> {
        Joint { direction: self.direction, ..Joint::new(ratio, committed) }
    }

    pub(crate) fn is_frictionless(&self) -> bool {
        self.ratio <= S::lit(1.0)
    }

    /// The least and greatest ratio of `1 + r` before the contact to that after it, where damping raises the tensions of
    /// strands of these elongations by `r`. `None` without a limit, or if rounding does not distinguish the limit from
    /// none.
    pub(crate) fn limits<T: Real>(&self, before: S, after: S) -> Option<[S; 2]>
    where
        S: Number<Scalar = T>,
    {
        let (zero, one) = (S::zero(), S::lit(1.0));
        let is_limited = self.ratio.value() * T::default_epsilon() < T::one();
        if !is_limited || before <= zero || after <= zero {
            return None;
        }
        // Where material slips, elastic tensions are at the limit.
        let both = self.ratio * self.ratio;
        Some(match self.direction {
            _ if self.is_frictionless() => [one; 2],
            1 => [one, both],
            -1 => [one / both, one],
            _ => {
                let [least, most] = [after / (before * self.ratio), after * self.ratio / before];
                // They are within the limit except for rounding, which has no derivative.
                let [excess, lack] = [least, most].map(|limit| (T::one() - limit.value()).to_f64());
                [least + S::lit(excess.min(0.0)), most + S::lit(lack.max(0.0))]
            }
        })
    }

    /// The factor from the elongation before it to that after it.
    fn factor(&self) -> S {
        match self.direction {
            1 => self.ratio,
            -1 => S::lit(1.0) / self.ratio,
            _ => S::lit(1.0),
        }
    }
}

/// The elongation that a whole cable would have at the strain of a strand; infinite without material.
fn elongation<S: Number>(length: S, share: S, slack_length: S) -> S {
    if share > S::zero() { (length / share - slack_length).max(S::zero()) } else { S::lit(f64::INFINITY) }
}

/// The elongation of which those of several strands are multiples, given their lengths, these factors, and the fraction
/// of material that they share; `None` if all are slack.
fn common_elongation<T: Real, S: Number<Scalar = T>>(
    parts: impl Iterator<Item = (S, S)> + Clone,
    share: S,
    slack_length: S,
) -> Option<S> {
    // Newton's method on a convex decreasing function, from below its root: the iterates increase to the root without
    // overshoot.
    const ROUNDS: usize = 100;
    let total: S = parts.clone().fold(S::zero(), |sum, (length, _)| sum + length);
    let greatest = parts.clone().fold(S::zero(), |most, (_, factor)| most.max(factor));
    let mut x = (total / share - slack_length) / greatest;
    if x <= S::zero() {
        return None;
    }
    let rounding = T::default_epsilon() * T::lit(4.0);
    for _ in 0..ROUNDS {
        let (mut excess, mut slope) = (-share, S::zero());
        for (length, factor) in parts.clone() {
            let stretched = slack_length + factor * x;
            let part = length / stretched;
            excess += part;
            slope += part * factor / stretched;
        }
        let step = excess / slope;
        x += step;
        if step.value().abs() <= rounding * x.value() {
            break;
        }
    }
    Some(x)
}

/// Moves material until no contact exceeds its limit; writes shares and elongations.
pub(crate) fn settle<T: Real>(strands: &mut [Strand<T>], joints: &mut [Joint<T>], slack_length: T) {
    // A guess of all directions is nearly always correct after two or three corrections. If it cycles, a sweep of descent
    // provides the next guess; the bound is for limits that are met to within rounding.
    const SWEEPS: usize = 200;
    for strand in strands.iter_mut() {
        strand.elongation = elongation(strand.length, strand.share, slack_length);
    }
    if joints.iter().enumerate().all(|(i, joint)| holds(strands, joint, i)) {
        return;
    }
    for _ in 0..SWEEPS {
        for _ in 0..8 + 2 * joints.len() {
            if !correct(strands, joints) {
                return;
            }
            solve_groups(strands, joints, slack_length);
        }
        for i in 0..joints.len() {
            descend(strands, joints, i, slack_length);
        }
        solve_groups(strands, joints, slack_length);
    }
}

/// Whether the tensions on both sides of a contact are within its limit.
fn holds<T: Real>(strands: &[Strand<T>], joint: &Joint<T>, i: usize) -> bool {
    let (a, b) = (strands[i].elongation, strands[i + 1].elongation);
    if joint.is_frictionless() {
        // Equal numbers need not have equal derivatives, so taut strands are solved for.
        return a == T::zero() && b == T::zero();
    }
    // Without a limit, zero times infinity is NaN, and the contact holds.
    !(a > b * joint.ratio || b > a * joint.ratio)
}

/// The best slip of one contact, given those of the others.
fn descend<T: Real>(strands: &[Strand<T>], joints: &mut [Joint<T>], i: usize, slack_length: T) {
    let first = if i > 0 { joints[i - 1].current } else { T::zero() };
    let last = joints.get(i + 1).map_or(T::one(), |next| next.current);
    let joint = &mut joints[i];
    let (before, after) = (strands[i].length, strands[i + 1].length);
    let a = elongation(before, joint.committed - first, slack_length);
    let b = elongation(after, last - joint.committed, slack_length);
    joint.direction = if b > a * joint.ratio {
        1
    } else if a > b * joint.ratio {
        -1
    } else {
        0
    };
    joint.current = if joint.direction == 0 {
        joint.committed
    } else {
        let factor = joint.factor();
        let parts = [(before, T::one()), (after, factor)];
        match common_elongation(parts.into_iter(), last - first, slack_length) {
            Some(x) => first + before / (slack_length + x),
            None => first + (last - first) * (before / (before + after)),
        }
    };
    if joint.is_frictionless() {
        joint.direction = 1;
    }
}

/// The shares and elongations for which every contact with a direction is at its limit and every other contact sticks. If
/// no material has to move, contacts without friction have no direction either: slack strands keep their shares.
pub(crate) fn solve_groups<T: Real, S: Number<Scalar = T>>(
    strands: &mut [Strand<S>],
    joints: &[Joint<S>],
    slack_length: S,
) {
    let mut first = 0;
    let mut start = S::zero();
    for last in 0..strands.len() {
        let joint = joints.get(last);
        if joint.is_some_and(|joint| joint.direction != 0) {
            continue;
        }
        let end = joint.map_or(S::lit(1.0), |joint| joint.committed);
        let share = end - start;
        let (group, within) = (&mut strands[first..=last], &joints[first..last]);
        if let [only] = group {
            only.share = share;
            only.elongation = elongation(only.length, share, slack_length);
        } else {
            write_factors(group, within);
            let parts = group.iter().map(|strand| (strand.length, strand.elongation));
            let total = group.iter().fold(S::zero(), |sum, strand| sum + strand.length);
            let x = common_elongation(parts, share, slack_length);
            for strand in group {
                let factor = strand.elongation;
                (strand.elongation, strand.share) = match x {
                    Some(x) => (factor * x, strand.length / (slack_length + factor * x)),
                    None => (S::zero(), strand.length * (share / total)),
                };
            }
        }
        (first, start) = (last + 1, end);
    }
}

/// Writes the ratios of the elongations of a group to the greatest of them in place of the elongations. The product of
/// several finite ratios may overflow.
fn write_factors<S: Number>(group: &mut [Strand<S>], within: &[Joint<S>]) {
    let one = S::lit(1.0);
    group[0].elongation = one;
    for (i, joint) in within.iter().enumerate() {
        let mut factor = group[i].elongation * joint.factor();
        if factor > one {
            for strand in &mut group[..=i] {
                strand.elongation /= factor;
            }
            factor = one;
        }
        group[i + 1].elongation = factor;
    }
}

/// Lets every contact slip that sticks beyond its limit, and lets every contact stick that slips against the tension;
/// returns whether there were any.
fn correct<T: Real>(strands: &[Strand<T>], joints: &mut [Joint<T>]) -> bool {
    // Slips and excesses below this are rounding.
    let rounding = T::default_epsilon() * T::lit(64.0);
    let mut share = T::zero();
    let mut is_changed = false;
    for (i, joint) in joints.iter_mut().enumerate() {
        share += strands[i].share;
        let slip = joint.committed - share;
        let (a, b) = (strands[i].elongation, strands[i + 1].elongation);
        let limit = joint.ratio * (T::one() + rounding);
        let direction = match joint.direction {
            1 if joint.is_frictionless() || slip >= -rounding => 1,
            -1 if slip <= rounding => -1,
            0 if joint.is_frictionless() || b > a * limit => 1,
            0 if a > b * limit => -1,
            _ => 0,
        };
        is_changed |= direction != joint.direction;
        joint.direction = direction;
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Numbers from 0 to 1 that repeat nowhere near.
    fn wave(i: u32) -> f64 {
        0.5 + 0.5 * (f64::from(i) * 1.618_034).sin()
    }

    /// Strands of any lengths and shares, joints of any limits.
    fn chain(seed: u32, exponent: impl Fn(f64) -> f64) -> (Vec<Strand<f64>>, Vec<Joint<f64>>) {
        let draw = |k: u32| wave(101 * seed + k);
        let count = 1 + seed % 9;
        let sizes: Vec<f64> = (0..=count).map(|k| 0.05 + draw(k)).collect();
        let total: f64 = sizes.iter().sum();
        let mut share = 0.0;
        let mut joints = Vec::new();
        let mut strands = Vec::new();
        for (k, size) in (0..).zip(&sizes) {
            let spread = 1.0 + 0.5 * (draw(30 + k) - 0.3);
            strands.push(Strand::new(2.0 * size / total * spread, size / total, false));
            share += size / total;
            joints.push(Joint::new(exponent(draw(60 + k)).exp(), share));
        }
        joints.pop();
        (strands, joints)
    }

    /// Slip by slip, each only as far as its own limit requires, until none moves any further.
    fn slowly(strands: &[Strand<f64>], joints: &[Joint<f64>], slack_length: f64) -> Vec<f64> {
        let mut joints = joints.to_vec();
        let slips = |joints: &[Joint<f64>]| joints.iter().map(|joint| joint.current).collect::<Vec<_>>();
        for _ in 0..20_000 {
            let before = slips(&joints);
            for i in 0..joints.len() {
                descend(strands, &mut joints, i, slack_length);
            }
            if slips(&joints) == before {
                break;
            }
        }
        slips(&joints)
    }

    #[test]
    fn slips_are_those_of_slow_descent() {
        let mut slipped = [0; 2];
        for seed in 0..40 {
            for slack_length in [0.0, 1.5, 2.2] {
                let (mut strands, mut joints) = chain(seed, |x| 0.3 * x);
                let expected = slowly(&strands, &joints, slack_length);
                settle(&mut strands, &mut joints, slack_length);
                let length: f64 = strands.iter().map(|strand| strand.length).sum();
                let is_slack = length <= slack_length;
                assert!(strands.iter().all(|strand| (strand.elongation == 0.0) == is_slack), "{seed}");
                if is_slack {
                    // Any shares suit.
                    continue;
                }
                let mut share = 0.0;
                for ((strand, joint), expected) in strands.iter().zip(&joints).zip(expected) {
                    share += strand.share;
                    let [moved, should] = [share - joint.committed, expected - joint.committed];
                    assert!((moved - should).abs() < 1e-9, "{seed}, {slack_length}: {moved} {should}");
                    slipped[usize::from(moved != 0.0)] += 1;
                }
                assert!((share + strands[joints.len()].share - 1.0).abs() < 1e-14);
            }
        }
        assert!(slipped.iter().all(|&count| count > 30), "{slipped:?}");
    }

    #[test]
    fn no_limit_is_exceeded_and_slip_goes_towards_the_greater_tension() {
        for seed in 0..3000 {
            for (slack_length, most) in [(0.0, 0.5), (1.9, 0.2), (2.3, 0.2), (1.0, 1e-6), (1.5, 800.0)] {
                let (mut strands, mut joints) = chain(seed, |x| if x < 0.2 { 0.0 } else { most * x });
                settle(&mut strands, &mut joints, slack_length);
                let mut share = 0.0;
                for (i, joint) in joints.iter().enumerate() {
                    share += strands[i].share;
                    let [a, b] = [strands[i].elongation, strands[i + 1].elongation];
                    let rounding = 1.0 + 1e-11;
                    // Of several limits in a row the product may be below the least number.
                    let [least_a, least_b] = [a, b].map(|x| x.max(f64::MIN_POSITIVE));
                    let within =
                        !(a > least_b * joint.ratio * rounding || b > least_a * joint.ratio * rounding);
                    assert!(within, "{seed}, {slack_length}, {most}: {a} {b} {}", joint.ratio);
                    let slip = joint.committed - share;
                    assert!(slip.abs() < 1e-12 || slip * (b - a) >= -1e-13, "{seed}: {slip} from {a} to {b}");
                }
                assert!(strands.iter().all(|strand| strand.share > 0.0));
                let length: f64 = strands.iter().map(|strand| strand.length).sum();
                let is_slack = strands.iter().all(|strand| strand.elongation == 0.0);
                assert!(length <= slack_length || !is_slack, "{seed}, {slack_length}, {most}");
            }
        }
    }
}
