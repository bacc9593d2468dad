//! The memory of a cable with friction after an accepted step, in numbers with or without derivatives.

use nalgebra::Vector3;

use crate::cable::friction::drum::wind;
use crate::cable::friction::slip::Joint;
use crate::cable::friction::strand_law::distribution;
use crate::cable::{
    CablePath, Grip, Grips, Lap, ObstacleContact, PathResults, Segment, Strand, StrandMotion,
};
use crate::math::{Number, Real, dot};
use crate::mechanics::Positions;

/// How much longer the straight part of a strand is by the mean of two changes than by that of the line between the points
/// of the last commit.
///
/// `now` are its ends on the present path, `then` those of the last commit, moved with the bodies, and `directions` its unit
/// direction at the last commit, turned with the body of either end; zero at an end that does not slide.
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

/// The strands with the lengths with which they go on after a commit, which add up to that of the path; `correction` is that of a
/// strand of which the path still has the straight part.
///
/// Within a step a strand is measured between the points of the last commit. Where the cable slides sideways over a
/// surface, these points are no longer on it, and its length is off in second order, with one sign. From one commit to the
/// next the length of a strand whose contacts stick changes by the mean of two changes: of the line between the points of
/// the last commit, and of that between the present ones, carried back to the poses of the last commit. The error of a step
/// is of third order.
pub(crate) fn carried<T: Real, S: Number<Scalar = T>>(
    strands: &[Strand<S>],
    length: S,
    correction: impl Fn(usize) -> Option<S> + Clone,
) -> impl DoubleEndedIterator<Item = Strand<S>> + Clone {
    let carried = strands.iter().enumerate().map(move |(k, strand)| {
        let correction = correction(k).unwrap_or(S::zero());
        // However long the step, some length remains.
        Strand { length: strand.length + correction.max(strand.length * S::lit(-0.5)), ..*strand }
    });
    let length_of = distribution(&mut carried.clone(), length);
    carried.map(move |strand| Strand { length: length_of(&strand), ..strand })
}

/// Writes into `next` the memory for an accepted step, as [`Strands::remember`](crate::cable::Strands::remember) describes it;
/// `visit` gets its numbers.
///
/// `length_of` is the length of a segment, and `arc_of` the turning and length of a contact.
pub(crate) fn remember<T: Real, S: Number<Scalar = T>>(
    path: &CablePath<T>,
    (results, positions): (&PathResults<T>, &Positions<T>),
    (strands, joints): (impl DoubleEndedIterator<Item = Strand<S>> + Clone, &[Joint<S>]),
    (length_of, arc_of): (impl Fn(usize) -> S, impl Fn(usize) -> [S; 2]),
    (grips, memory): (&Grips<T>, &mut Grips<T>),
    mut visit: impl FnMut(StrandMotion, S),
) {
    memory.clone_from(grips);
    memory.laps.fill(Lap::default());
    let half = S::lit(0.5);
    let rounding = T::default_epsilon() * T::lit(256.0) * results.length;
    let mut segments = results.segments.iter().enumerate();
    let contacts = results.contacts.iter().enumerate();
    let mut contacts = contacts.filter(|(_, contact)| contact.in_contact).peekable();
    // Length and share up to each mark, and the exponent of its friction, which may be infinite, as far as it matters for means.
    let up_to = strands.clone().zip(joints).scan((S::zero(), S::zero()), |(length, share), (part, joint)| {
        *length += part.length;
        *share += part.share;
        Some([*length, *share, joint.ratio.ln().min(S::lit(1e3))])
    });
    // The length of the path at the last contact passed, and the share of material before its mark.
    let (mut reach, mut passed) = (S::zero(), S::zero());
    // Where a straight part has no length, marks may coincide with each other or with an end, but need material between them.
    let least = S::lit(T::negligible().to_f64());
    let mut arriving = segments.next();
    let first_wound = strands.clone().take_while(|part| part.is_wound);
    let last_wound = strands.clone().rev().take_while(|part| part.is_wound);
    let mut marks = up_to.skip(first_wound.clone().count().saturating_sub(1)).peekable();
    let [begins, ends] = path.drums();
    let last = path.obstacles.len().checked_sub(1);
    let places = grips.grips.len();
    let share_at = |at: S| share_at(strands.clone(), at);
    for (body, hold, own) in path.holds(grips) {
        let (room, obstacle) = (own.len(), hold.obstacle());
        let mut left = grips.grips[own.clone()].iter().filter(|grip| grip.in_contact).count();
        let mut count = 0;
        let is_here = |(_, contact): &(usize, &ObstacleContact<T>)| Some(contact.obstacle) == obstacle;
        let touched = hold.touches(results);
        let is_same = left == touched;
        while count < touched.min(room) {
            let contact = obstacle.and_then(|_| contacts.next_if(is_here)).map(|(i, _)| i);
            let (Some((segment, before)), Some((next, after))) = (arriving, segments.next()) else { break };
            let [turning, arc] = contact.map_or([S::zero(); 2], &arc_of);
            let arc = arc.max(S::zero());
            let start = reach + length_of(segment);
            let end = start + arc;
            // The end of the part of the cable that is nearest to this contact.
            let until = end + half * length_of(next);
            let is_last = count + 1 == touched;
            let is_here = |at: S| start <= at && at <= end;
            // Its mark: the mean of several that lie on it, or, if none does, of all, weighted with their friction: material
            // passes two contacts that become one nearer to the stronger.
            let mut mark: Option<[S; 3]> = None;
            while left > 0 {
                let takes_next =
                    |[at, ..]: &[S; 3]| if is_same { mark.is_none() } else { is_last || *at <= until };
                let Some(next) = marks.next_if(takes_next) else { break };
                left -= 1;
                mark = match mark {
                    Some(known) if is_here(known[0]) == is_here(next[0]) => Some(mean(share_at, known, next)),
                    Some(known) if is_here(known[0]) => Some(known),
                    _ => Some(next),
                };
            }
            let mark = mark.map(|[at, share, _]| (at, share));
            let on_drum = [begins && obstacle == Some(0) && count == 0, ends && obstacle == last && is_last];
            let is_held = [before.length, after.length].map(|length| length <= T::zero());
            let has_arc = arc.value() > T::lit(1e-9) * results.length;
            let is_wound = [0, 1].map(|end| on_drum[end] && is_held[end] && has_arc);
            let (mark, share) = match mark {
                _ if is_wound[0] => share_at(end),
                _ if is_wound[1] => share_at(start),
                // Rounding moves no material through a via point: a strand may be as long as the path from point to
                // point.
                Some((at, share)) if obstacle.is_none() && (at - start).value().abs() <= rounding => {
                    let slipped = start - at;
                    let by_rounding = S::lit(slipped.value().to_f64());
                    (start, share + (slipped - by_rounding) * S::of(density_before(strands.clone(), at)))
                }
                Some((at, share)) if start <= at && at <= end => (at, share),
                Some((at, _)) => share_at(at.max(start).min(end)),
                None => share_at(start + half * arc),
            };
            let place = own.start + count;
            let rest = least * S::lit(f64::from(u32::try_from(places - place).unwrap_or(u32::MAX)));
            let share = share.min(S::lit(1.0) - rest).max(passed + least);
            passed = share;
            if is_wound != [false; 2] {
                let contact = contact.and_then(|i| results.contacts.get(i));
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
                    visit(StrandMotion::Lap(i, 0), length);
                    visit(StrandMotion::Lap(i, 1), share);
                }
            }
            let numbers = [mark - start, end - mark, share, turning];
            for (kind, number) in StrandMotion::numbers_of_mark(place).into_iter().zip(numbers) {
                visit(kind, number);
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
            count += 1;
            reach = end;
            arriving = Some((next, after));
        }
        for _ in 0..left {
            marks.next();
        }
        memory.grips[own.start + count..own.end].fill(Grip::default());
    }
}

/// The place along the cable between two marks, each with its share and the exponent of its friction, that is nearer to the
/// one with more friction.
fn mean<S: Number>(share_at: impl Fn(S) -> (S, S), [a, _, of_a]: [S; 3], [b, _, of_b]: [S; 3]) -> [S; 3] {
    let sum = of_a + of_b;
    let weight = if sum > S::zero() { of_b / sum } else { S::lit(0.5) };
    let (at, share) = share_at(a + (b - a) * weight);
    [at, share, sum]
}

/// A length along the cable, with the share of material before it.
fn share_at<S: Number>(parts: impl Iterator<Item = Strand<S>>, at: S) -> (S, S) {
    let (mut length, mut share) = (S::zero(), S::zero());
    let mut found = S::zero();
    for part in parts {
        // The last strand that begins before it.
        if length <= at {
            found = share + part.share * ((at - length) / part.length).min(S::lit(1.0));
        }
        length += part.length;
        share += part.share;
    }
    (at, found)
}

/// The share of material per length just before a place along the cable.
fn density_before<T: Real, S: Number<Scalar = T>>(parts: impl Iterator<Item = Strand<S>>, at: S) -> T {
    let mut length = S::zero();
    let before = parts.take_while(|part| {
        let begins_before = length < at;
        length += part.length;
        begins_before
    });
    before.last().map_or(T::zero(), |part| (part.share / part.length).value())
}
