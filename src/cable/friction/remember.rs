//! The memory of a cable with friction after an accepted step, in numbers with or without derivatives.

use nalgebra::Vector3;

use crate::cable::friction::drum::wind;
use crate::cable::friction::slip::Joint;
use crate::cable::friction::strand_law::Strand;
use crate::cable::friction::strands::{Grip, Grips, Lap};
use crate::cable::model::path::CablePath;
use crate::cable::solution::results::{ObstacleContact, PathResults, Segment};
use crate::math::{Number, Real};
use crate::mechanics::{BodyIndex, Positions};

/// Writes the memory for an accepted step, as [`Strands::remember`](crate::cable::Strands::remember) describes it.
///
/// `length_of` is the length of a segment, and `arc_of` the turning and length of a contact. The marks, of which some may be
/// vacated later, are passed on with their body, place and arriving segment, and the lengths before and after, the share and
/// the turning; and the laps of the drum at the origin (0) or termination (1) with theirs.
pub(crate) fn remember<T: Real, S: Number<Scalar = T>>(
    path: &CablePath<T>,
    (results, positions): (&PathResults<T>, &Positions<T>),
    (strands, joints): (&[Strand<S>], &[Joint<S>]),
    (length_of, arc_of): (impl Fn(usize) -> S, impl Fn(usize) -> [S; 2]),
    grips: &mut Grips<T>,
    mut on_mark: impl FnMut(BodyIndex, [usize; 2], [S; 4]),
    mut on_laps: impl FnMut(usize, &[[S; 2]]),
) {
    grips.laps.fill(Lap::default());
    let half = S::lit(0.5);
    let rounding = T::default_epsilon() * T::lit(256.0) * results.length;
    let mut segments = results.segments.iter().enumerate();
    let contacts = results.contacts.iter().enumerate();
    let mut contacts = contacts.filter(|(_, contact)| contact.in_contact).peekable();
    // Length and share up to each mark, and the exponent of its friction, which may be infinite, as far as it matters for means.
    let up_to = strands.iter().zip(joints).scan((S::zero(), S::zero()), |(length, share), (part, joint)| {
        *length += part.length;
        *share += part.share;
        Some([*length, *share, joint.ratio.ln().min(S::lit(1e3))])
    });
    let mut marks = up_to.peekable();
    // The length of the path at the last contact passed, and the share of material before its mark.
    let (mut reach, mut passed) = (S::zero(), S::zero());
    // Where a straight part has no length, marks may coincide with each other or with an end, but need material between them.
    let least = S::lit(T::negligible().to_f64());
    let mut arriving = segments.next();
    for _ in 1..wound_first(strands).count() {
        marks.next();
    }
    let [begins, ends] = path.drums();
    let last = path.obstacles.len().checked_sub(1);
    let places = grips.grips.len();
    let mut first = 0;
    for (body, hold) in path.holds() {
        let room = hold.room(path).min(grips.grips.len() - first);
        let own = first..first + room;
        first += room;
        let obstacle = hold.obstacle();
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
                    Some(known) if is_here(known[0]) == is_here(next[0]) => Some(mean(strands, known, next)),
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
                _ if is_wound[0] => share_at(strands, end),
                _ if is_wound[1] => share_at(strands, start),
                // Rounding moves no material through a via point: a strand may be as long as the path from point to
                // point.
                Some((at, share)) if obstacle.is_none() && (at - start).value().abs() <= rounding => {
                    let slipped = start - at;
                    let by_rounding = S::lit(slipped.value().to_f64());
                    (start, share + (slipped - by_rounding) * S::of(density_before(strands, at)))
                }
                Some((at, share)) if start <= at && at <= end => (at, share),
                Some((at, _)) => share_at(strands, at.max(start).min(end)),
                None => share_at(strands, start + half * arc),
            };
            let place = own.start + count;
            let rest = least * S::lit(f64::from(u32::try_from(places - place).unwrap_or(u32::MAX)));
            let share = share.min(S::lit(1.0) - rest).max(passed + least);
            passed = share;
            if is_wound != [false; 2] {
                let contact = contact.and_then(|i| results.contacts.get(i));
                let fixed = contact.map(|contact| [&contact.geodesic.start, &contact.geodesic.end]);
                let curvature = fixed.map_or(T::zero(), |ends| ends[usize::from(!is_wound[0])].curvature);
                let turns = |strand: &Strand<S>| [strand.length, strand.share];
                let (drum, wound) = if is_wound[0] {
                    (0, wind(wound_first(strands).map(turns), [arc, share], curvature))
                } else {
                    let now = [arc, S::lit(1.0) - share];
                    (1, wind(wound_last(strands).map(turns), now, curvature))
                };
                let laps = grips.laps.get_mut(path.laps_of(drum)).unwrap_or(&mut []);
                for (lap, [length, share]) in laps.iter_mut().zip(wound.laps()) {
                    *lap = Lap { length: length.value(), share: share.value() };
                }
                on_laps(drum, wound.laps());
            }
            let [length_before, length_after] = [mark - start, end - mark];
            let X_BG = positions.pose(body).inverse();
            let direction = |segment: &Segment<T>| {
                if segment.length > T::zero() {
                    X_BG.rotation * segment.direction_G
                } else {
                    Vector3::zeros()
                }
            };
            grips.grips[place] = Grip {
                in_contact: true,
                start: X_BG * before.to_G,
                end: X_BG * after.from_G,
                before: length_before.value(),
                after: length_after.value(),
                share: share.value(),
                turning: turning.value(),
                arriving: direction(before),
                leaving: direction(after),
            };
            on_mark(body, [place, segment], [length_before, length_after, share, turning]);
            count += 1;
            reach = end;
            arriving = Some((next, after));
        }
        for _ in 0..left {
            marks.next();
        }
        grips.grips[own.start + count..own.end].fill(Grip::default());
    }
}

/// The wound part of the drum at the origin, from there.
fn wound_first<S: Number>(parts: &[Strand<S>]) -> impl Iterator<Item = &Strand<S>> {
    parts.iter().take_while(|part| part.is_wound)
}

/// The wound part of the drum at the termination, from there.
fn wound_last<S: Number>(parts: &[Strand<S>]) -> impl Iterator<Item = &Strand<S>> {
    parts.iter().rev().take_while(|part| part.is_wound)
}

/// The place along the cable between two marks, each with its share and the exponent of its friction, that is nearer to the
/// one with more friction.
fn mean<S: Number>(parts: &[Strand<S>], [a, _, of_a]: [S; 3], [b, _, of_b]: [S; 3]) -> [S; 3] {
    let sum = of_a + of_b;
    let weight = if sum > S::zero() { of_b / sum } else { S::lit(0.5) };
    let (at, share) = share_at(parts, a + (b - a) * weight);
    [at, share, sum]
}

/// A length along the cable, with the share of material before it.
fn share_at<S: Number>(parts: &[Strand<S>], at: S) -> (S, S) {
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
fn density_before<T: Real, S: Number<Scalar = T>>(parts: &[Strand<S>], at: S) -> T {
    let mut length = S::zero();
    let before = parts.iter().take_while(|part| {
        let begins_before = length < at;
        length += part.length;
        begins_before
    });
    before.last().map_or(T::zero(), |part| (part.share / part.length).value())
}
