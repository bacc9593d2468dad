//! The memory of a cable with friction after an accepted step, over numbers with or without derivatives.

use nalgebra::Vector3;

use crate::cable::friction::drum::wind;
use crate::cable::friction::slip::Joint;
use crate::cable::friction::strand_law::distribution;
use crate::cable::friction::strands::{Hold, numbers_of_grip, numbers_of_lap};
use crate::cable::{CablePath, Grip, Grips, Lap, PathResults, Segment, Strand};
use crate::math::{Number, Real, dot};
use crate::mechanics::Positions;

/// The excess of the length of a strand's straight part, changed by the mean of two changes, over its length changed by
/// the change of the line between the points of the last commit.
///
/// `now` has its ends on the present path, `then` those of the last commit, moved with the bodies, and `directions` its
/// unit direction at the last commit, turned with the body of either end; zero at an end that does not slide.
pub(crate) fn correction<S: Number>(
    now: [Vector3<S>; 2],
    then: [Vector3<S>; 2],
    directions: [Vector3<S>; 2],
) -> S {
    let [from, to] = [0, 1].map(|k| dot(&directions[k], &(now[k] - then[k])));
    let [now, then] = [now, then].map(|[from, to]| to - from);
    let apart = now - then;
    let (length, was) = (dot(&now, &now).sqrt(), dot(&then, &then).sqrt());
    // As long as it would have been at the last commit.
    let back = was * was + S::lit(2.0) * was * (to - from) + dot(&apart, &apart);
    S::lit(0.5) * (length - back.max(S::zero()).sqrt())
}

/// The strands with their lengths after a commit, which add up to the length of the path. `correction` returns the
/// correction of a strand whose straight part is still in the path.
///
/// Within a step a strand is measured between the points of the last commit. If the cable slides sideways over a surface,
/// these points are no longer on it, and the measured length is wrong in second order, with one sign. From one commit to
/// the next the length of a strand whose contacts stick therefore changes by the mean of two changes: of the line between
/// the points of the last commit, and of the line between the present points, carried back to the poses of the last
/// commit. The error of a step is then of third order.
pub(crate) fn carried<T: Real, S: Number<Scalar = T>>(
    strands: &[Strand<S>],
    length: S,
    correction: impl Fn(usize) -> Option<S> + Clone,
) -> impl DoubleEndedIterator<Item = Strand<S>> + Clone {
    let carried = strands.iter().enumerate().map(move |(k, strand)| {
        let correction = correction(k).unwrap_or(S::zero());
        // However long the step is, some length remains.
        Strand { length: strand.length + correction.max(strand.length * S::lit(-0.5)), ..*strand }
    });
    let length_of = distribution(&mut carried.clone(), length);
    carried.map(move |strand| Strand { length: length_of(&strand), ..strand })
}

/// Writes into `next` the memory for an accepted step, as [`Strands::remember`](crate::cable::Strands::remember)
/// describes it. `visit` receives its numbers, with their places.
///
/// `length_of` returns the length of a segment, and `arc_of` the turning and length of the contact at which it ends.
pub(crate) fn remember<T: Real, S: Number<Scalar = T>>(
    path: &CablePath<T>,
    (results, positions): (&PathResults<T>, &Positions<T>),
    (strands, joints): (impl DoubleEndedIterator<Item = Strand<S>> + Clone, &[Joint<S>]),
    (length_of, arc_of): (impl Fn(usize) -> S, impl Fn(usize) -> [S; 2]),
    (grips, memory): (&Grips<T>, &mut Grips<T>),
    mut visit: impl FnMut(usize, S),
) {
    memory.clone_from(grips);
    memory.clear();
    let half = S::lit(0.5);
    let rounding = T::default_epsilon() * T::lit(256.0) * results.length;
    // For each mark: the length up to it, the exponent of its friction (which may be infinite, limited to what matters
    // for means), and the strand before it.
    let up_to = strands.clone().zip(joints).scan(S::zero(), |length, (part, joint)| {
        *length += part.length;
        Some((*length, joint.ratio.ln().min(S::lit(1e3)), part))
    });
    // The length of the path at the last contact passed, and the share of material before its mark.
    let (mut reach, mut passed) = (S::zero(), S::zero());
    // If a straight part has no length, marks may coincide with each other or with an end, but need material between
    // them.
    let least = S::lit(T::negligible().to_f64());
    let first_wound = strands.clone().take_while(|part| part.is_wound);
    let last_wound = strands.clone().rev().take_while(|part| part.is_wound);
    let mut marks = up_to.skip(first_wound.clone().count().saturating_sub(1)).peekable();
    let mut share_at = shares(strands);
    let [begins, ends] = path.drums();
    let last = path.obstacles.len().checked_sub(1);
    let places = grips.grips.len();
    for hold in path.holds(grips, results) {
        let Hold { body, part, place: own, room, marks: mut left, arrival, touches } = hold;
        let obstacle = part.obstacle();
        let is_same = left == touches;
        for i in 0..touches.min(room) {
            let (place, segment) = (own + i, arrival + i);
            let [Some(before), Some(after)] = [segment, segment + 1].map(|i| results.segments.get(i)) else {
                break;
            };
            let [turning, arc] = arc_of(segment);
            let arc = arc.max(S::zero());
            let start = reach + length_of(segment);
            let end = start + arc;
            // The end of the part of the cable that is nearest to this contact.
            let until = end + half * length_of(segment + 1);
            let is_last = i + 1 == touches;
            let is_here = |at: S| start <= at && at <= end;
            // Its mark: the mean of the marks that lie on it or, if none does, of all, weighted with their friction.
            // Material thus passes two contacts that become one nearer to the stronger one.
            let mut mark: Option<(S, S, Strand<S>)> = None;
            while left > 0 {
                let takes_next =
                    |(at, ..): &(S, S, _)| if is_same { mark.is_none() } else { is_last || *at <= until };
                let Some(next) = marks.next_if(takes_next) else { break };
                left -= 1;
                mark = match mark {
                    Some(known) if is_here(known.0) == is_here(next.0) => Some(mean(known, next)),
                    Some(known) if is_here(known.0) => Some(known),
                    _ => Some(next),
                };
            }
            let on_drum = [begins && obstacle == Some(0) && i == 0, ends && obstacle == last && is_last];
            let is_held = [before.length, after.length].map(|length| length <= T::zero());
            let has_arc = arc.value() > T::lit(1e-9) * results.length;
            let is_wound = [0, 1].map(|end| on_drum[end] && is_held[end] && has_arc);
            let (mark, share) = match mark {
                _ if is_wound[0] => share_at(end),
                _ if is_wound[1] => share_at(start),
                // Rounding moves no material through a via point: a strand may be as long as the path from point to
                // point.
                Some((at, _, before)) if obstacle.is_none() && (at - start).value().abs() <= rounding => {
                    let slipped = start - at;
                    let by_rounding = S::lit(slipped.value().to_f64());
                    let is_long = before.length.value() > T::zero();
                    let density = if is_long { (before.share / before.length).value() } else { T::zero() };
                    let density = S::of(density);
                    (start, share_at(at).1 + (slipped - by_rounding) * density)
                }
                Some((at, ..)) if is_here(at) => share_at(at),
                Some((at, ..)) => share_at(at.max(start).min(end)),
                None => share_at(start + half * arc),
            };
            let rest = least * S::lit(f64::from(u32::try_from(places - place).unwrap_or(u32::MAX)));
            let share = share.min(S::lit(1.0) - rest).max(passed + least);
            passed = share;
            if is_wound != [false; 2] {
                let contact = before.to_contact.and_then(|i| results.contacts.get(i));
                let fixed = contact.map(|contact| [&contact.geodesic.start, &contact.geodesic.end]);
                let curvature = fixed.map_or(T::zero(), |ends| ends[usize::from(!is_wound[0])].curvature);
                let turns = |strand: Strand<S>| [strand.length, strand.share];
                let (drum, wound) = if is_wound[0] {
                    (0, wind(first_wound.clone().map(turns), [arc, share], curvature))
                } else {
                    (1, wind(last_wound.clone().map(turns), [arc, S::lit(1.0) - share], curvature))
                };
                for (i, &[length, share]) in path.laps_of(drum).zip(wound.laps()) {
                    let Some(lap) = memory.laps.get_mut(i) else { break };
                    *lap = Lap { length: length.value(), share: share.value() };
                    let of = numbers_of_lap(places, i);
                    visit(of.length, length);
                    visit(of.share, share);
                }
            }
            let numbers = [mark - start, end - mark, share, turning];
            let of = numbers_of_grip(place);
            for (of, number) in [of.before, of.after, of.share, of.turning].into_iter().zip(numbers) {
                visit(of, number);
            }
            let [length_before, length_after, share, turning] = numbers.map(S::value);
            let X_BG = positions.pose(body).inverse();
            let direction = |segment: &Segment<T>| {
                if segment.length > T::zero() {
                    X_BG.rotation * segment.direction_G
                } else {
                    Vector3::zeros()
                }
            };
            memory.grips[place] = Grip {
                in_contact: true,
                start: X_BG * before.to_G,
                end: X_BG * after.from_G,
                before: length_before,
                after: length_after,
                share,
                turning,
                arriving: direction(before),
                leaving: direction(after),
            };
            reach = end;
        }
        for _ in 0..left {
            marks.next();
        }
    }
}

/// The position along the cable between two marks that is nearer to the mark with more friction. Each mark is given with
/// the exponent of its friction and the strand before it.
fn mean<S: Number>(
    (a, of_a, _): (S, S, Strand<S>),
    (b, of_b, before): (S, S, Strand<S>),
) -> (S, S, Strand<S>) {
    let sum = of_a + of_b;
    let weight = if sum > S::zero() { of_b / sum } else { S::lit(0.5) };
    (a + (b - a) * weight, sum, before)
}

/// Positions along the cable, each at or after the previous one, with the share of material before it.
fn shares<S: Number>(strands: impl Iterator<Item = Strand<S>>) -> impl FnMut(S) -> (S, S) {
    let (mut length, mut share) = (S::zero(), S::zero());
    let mut strands = strands.peekable();
    move |at| {
        while let Some(part) = strands.next_if(|part| length + part.length <= at) {
            length += part.length;
            share += part.share;
        }
        let part = strands.peek().map_or(S::zero(), |part| part.share * ((at - length) / part.length));
        (at, share + part)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_share_before_a_place_is_the_sum_of_what_lies_before_it_in_each_strand() {
        // The second and the last have no length: marks coincide there.
        let sizes = [(0.4, 0.1), (0.0, 0.05), (1.2, 0.5), (0.7, 0.3), (0.0, 0.05)];
        let strands = sizes.map(|(length, share)| Strand::new(length, share, false));
        let slowly = |at: f64| {
            let mut length = 0.0;
            let before = strands.iter().map(|part| {
                let within = at - length;
                length += part.length;
                match within {
                    _ if within >= part.length => part.share,
                    _ if within <= 0.0 => 0.0,
                    _ => part.share * within / part.length,
                }
            });
            before.sum::<f64>()
        };
        let mut share_at = shares(strands.iter().copied());
        let marks = [0.0, 0.4, 0.4 + 1.2, 0.4 + 1.2 + 0.7];
        let mut places: Vec<f64> = (0..100).map(|i| 0.023 * f64::from(i)).chain(marks).chain(marks).collect();
        places.sort_by(f64::total_cmp);
        for at in places {
            let (place, share) = share_at(at);
            // Of five roundings of numbers below one.
            assert!(place == at && (share - slowly(at)).abs() < 1e-15, "{at}: {share} {}", slowly(at));
        }
    }
}
