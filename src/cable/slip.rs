//! The return mapping of capstan friction: material slips through contacts until no ratio of tensions exceeds its
//! limit.
//!
//! With the tension in strand `k` a decreasing function of its share of material, and the logarithm of the ratio at
//! each contact bounded, the slips are the solution of a strictly convex problem: the sum of the strands' potentials
//! of log-tension and of the limits times the sizes of the slips is least. It has one solution, which
//! descent along one slip after another approaches; the contacts found to slip then form groups of known ratios, each
//! with one unknown.

use crate::cable::strands::Strand;
use crate::math::Real;

/// A contact between two neighbouring strands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joint<T> {
    /// The ratio of tensions at which it slips.
    pub(super) ratio: T,
    /// Whether material slips on (1) or back (−1), or the contact sticks (0).
    direction: i8,
    /// The share of material before it at the last commit.
    committed: T,
    /// The same during descent.
    current: T,
}

impl<T: Real> Joint<T> {
    pub(super) fn new(ratio: T, share: T) -> Self {
        Self { ratio, direction: 0, committed: share, current: share }
    }

    fn is_frictionless(&self) -> bool {
        self.ratio <= T::one()
    }

    /// The factor from the elongation before it to that after it.
    fn factor(&self) -> T {
        match self.direction {
            1 => self.ratio,
            -1 => T::one() / self.ratio,
            _ => T::one(),
        }
    }
}

/// The elongation that a whole cable would have at the strain of a strand; infinite without material.
fn elongation<T: Real>(length: T, share: T, slack_length: T) -> T {
    if share > T::zero() { (length / share - slack_length).max(T::zero()) } else { T::lit(f64::INFINITY) }
}

/// The elongation of the first of several strands, given lengths with the factors of their elongations relative to
/// it, that share this much material; `None` if all are slack.
fn common_elongation<T: Real>(
    parts: impl Iterator<Item = (T, T)> + Clone,
    share: T,
    slack_length: T,
) -> Option<T> {
    // Newton's method on a convex decreasing function, from below its root: steps grow to it without overshoot.
    const ROUNDS: usize = 100;
    let total: T = parts.clone().fold(T::zero(), |sum, (length, _)| sum + length);
    let greatest = parts.clone().fold(T::zero(), |most, (_, factor)| most.max(factor));
    let mut x = (total / share - slack_length) / greatest;
    if x <= T::zero() {
        return None;
    }
    for _ in 0..ROUNDS {
        let (mut excess, mut slope) = (-share, T::zero());
        for (length, factor) in parts.clone() {
            let stretched = slack_length + factor * x;
            let part = length / stretched;
            excess += part;
            slope += part * factor / stretched;
        }
        let step = excess / slope;
        x += step;
        if step.abs() <= T::default_epsilon() * T::lit(4.0) * x {
            break;
        }
    }
    Some(x)
}

/// Moves material until no contact exceeds its limit; writes shares and elongations.
pub(super) fn settle<T: Real>(strands: &mut [Strand<T>], joints: &mut [Joint<T>], slack_length: T) {
    // Each sweep ends with the exact solution for the directions found, which is nearly always right after one or
    // two. The bound is for limits that are met to within rounding.
    const SWEEPS: usize = 200;
    for strand in strands.iter_mut() {
        strand.elongation = elongation(strand.length, strand.share, slack_length);
    }
    if joints.iter().enumerate().all(|(i, joint)| holds(strands, joint, i)) {
        return;
    }
    for _ in 0..SWEEPS {
        for i in 0..joints.len() {
            descend(strands, joints, i, slack_length);
        }
        solve_groups(strands, joints, slack_length);
        if is_solution(strands, joints) {
            return;
        }
    }
}

/// Whether the tensions on both sides of a contact are within its limit.
fn holds<T: Real>(strands: &[Strand<T>], joint: &Joint<T>, i: usize) -> bool {
    let (a, b) = (strands[i].elongation, strands[i + 1].elongation);
    if joint.is_frictionless() {
        return a == b;
    }
    // Without a limit zero times infinity is NaN, and holds.
    !(a > b * joint.ratio || b > a * joint.ratio)
}

/// The best slip of one contact, that of the others given.
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

/// The shares and elongations in which every slipping contact is at its limit and every other one sticks.
fn solve_groups<T: Real>(strands: &mut [Strand<T>], joints: &[Joint<T>], slack_length: T) {
    let mut first = 0;
    let mut start = T::zero();
    for last in 0..strands.len() {
        let joint = joints.get(last);
        if joint.is_some_and(|joint| joint.direction != 0) {
            continue;
        }
        let end = joint.map_or(T::one(), |joint| joint.committed);
        let share = end - start;
        let (group, within) = (&mut strands[first..=last], &joints[first..last]);
        if let [only] = group {
            only.share = share;
            only.elongation = elongation(only.length, share, slack_length);
        } else {
            let factors = within.iter().scan(T::one(), |factor, joint| {
                *factor *= joint.factor();
                Some(*factor)
            });
            let factors = core::iter::once(T::one()).chain(factors);
            let parts = group.iter().map(|strand| strand.length).zip(factors.clone());
            let total = group.iter().fold(T::zero(), |sum, strand| sum + strand.length);
            let x = common_elongation(parts, share, slack_length);
            for (strand, factor) in group.iter_mut().zip(factors) {
                (strand.elongation, strand.share) = match x {
                    Some(x) => (factor * x, strand.length / (slack_length + factor * x)),
                    None => (T::zero(), strand.length * (share / total)),
                };
            }
        }
        (first, start) = (last + 1, end);
    }
}

/// Whether every contact that sticks is within its limit, and every other one slips towards the greater tension.
fn is_solution<T: Real>(strands: &[Strand<T>], joints: &[Joint<T>]) -> bool {
    // Slips and excesses below this are rounding.
    let rounding = T::default_epsilon() * T::lit(64.0);
    let mut share = T::zero();
    joints.iter().enumerate().all(|(i, joint)| {
        share += strands[i].share;
        let slip = joint.committed - share;
        match joint.direction {
            1 => joint.is_frictionless() || slip >= -rounding,
            -1 => slip <= rounding,
            _ => {
                let widened = Joint { ratio: joint.ratio * (T::one() + rounding), ..*joint };
                holds(strands, &widened, i)
            }
        }
    })
}
