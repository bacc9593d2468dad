//! The strands of a cable with friction: lengths, shares of material, forces and memory.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::{Point3, Vector3};

use super::drum;
use super::grip::{Grip, Grips, Lap};
use super::path::CablePath;
use super::results::{ObstacleContact, PathResults};
use super::slip::{Joint, settle};
use crate::math::Real;
use crate::mechanics::{BodyIndex, ForceAccumulator, Positions, Velocities};

/// The part of a cable between two neighbouring marks, ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strand<T: Real> {
    /// The body at its start.
    pub from_body: BodyIndex,
    /// The body at its end.
    pub to_body: BodyIndex,
    /// Where it last left the body at its start, in Ground \[m\].
    pub from_G: Point3<T>,
    /// Where it last met the body at its end, in Ground \[m\].
    pub to_G: Point3<T>,
    /// The unit direction from one to the other, in Ground; zero if they coincide, where a contact begins or ends at an
    /// end of the cable.
    pub direction_G: Vector3<T>,
    /// The length from mark to mark \[m\].
    pub length: T,
    /// Its share of the cable's material.
    pub share: T,
    /// Its share at the last commit.
    pub committed_share: T,
    /// The elongation of a whole cable that is strained like it, zero while slack \[m\].
    pub elongation: T,
    /// Whether it lies on a drum on which the cable ends. Its length is fixed within a step.
    pub is_wound: bool,
}

/// The strands of a cable with capstan friction, in order.
///
/// A cable of slack length `L₀` is divided by marks on the surfaces that it touches. Strand `k` has the length
/// `L_k` and the share `φ_k` of the material; a whole cable strained like it would be longer than its slack
/// length by `x_k = L_k/φ_k − L₀`. See [`CapstanCable`](crate::CapstanCable) for the law.
#[derive(Debug)]
pub struct Strands<T: Real> {
    /// In order; a single one without memory.
    pub all: Vec<Strand<T>>,
    pub(super) joints: Vec<Joint<T>>,
}

impl<T: Real> Default for Strands<T> {
    fn default() -> Self {
        Self { all: Vec::new(), joints: Vec::new() }
    }
}

impl<T: Real> Clone for Strands<T> {
    fn clone(&self) -> Self {
        Self { all: self.all.clone(), joints: self.joints.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.all.clone_from(&source.all);
        self.joints.clone_from(&source.joints);
    }
}

impl<T: Real> CablePath<T> {
    /// The empty memory of friction before the first solution.
    pub fn no_grips(&self) -> Grips<T> {
        let count = self.places_for_contacts() + self.via_points.len();
        let drums = self.drums().into_iter().filter(|is_drum| *is_drum).count();
        Grips {
            places: alloc::vec![Grip::default(); count],
            laps: alloc::vec![Lap::default(); drums * drum::MOST],
        }
    }

    /// The obstacles and via points in order: the body, and which of them it is.
    fn holds(&self) -> impl Iterator<Item = (BodyIndex, Hold)> + '_ {
        let over = |k: usize| (self.obstacles[k].frame().body, Hold::Obstacle(k));
        let mut passed = 0;
        let up_to_last = self.via_points.iter().enumerate().flat_map(move |(i, (via_point, before))| {
            let obstacles = core::mem::replace(&mut passed, *before)..*before;
            obstacles.map(over).chain([(via_point.station().body, Hold::ViaPoint(i))])
        });
        let passed = self.via_points.last().map_or(0, |(_, before)| *before);
        up_to_last.chain((passed..self.obstacles.len()).map(over))
    }
}

/// What may hold a cable on its way.
#[derive(Clone, Copy)]
enum Hold {
    Obstacle(usize),
    ViaPoint(usize),
}

impl Hold {
    /// How often the cable touches it.
    fn touches<T: Real>(self, results: &PathResults<T>) -> usize {
        match self {
            Self::Obstacle(k) => touching(results, Some(k)).count(),
            Self::ViaPoint(i) => usize::from(results.via_points.get(i).is_some_and(Option::is_some)),
        }
    }

    /// The number of marks on it for which memory has room.
    fn room<T: Real>(self, path: &CablePath<T>) -> usize {
        self.obstacle().map_or(1, |k| path.obstacles[k].most_contacts)
    }

    fn obstacle(self) -> Option<usize> {
        match self {
            Self::Obstacle(k) => Some(k),
            Self::ViaPoint(_) => None,
        }
    }
}

impl<T: Real> Strands<T> {
    /// Finds lengths, shares and elongations on a solved path, with the coefficient of friction of each
    /// obstacle; missing ones are zero.
    ///
    /// A pure function of its arguments; the previous content has no effect.
    pub fn solve(
        &mut self,
        path: &CablePath<T>,
        results: &PathResults<T>,
        positions: &Positions<T>,
        grips: &Grips<T>,
        friction: &[T],
        slack_length: T,
    ) {
        self.all.clear();
        self.joints.clear();
        let most = grips.places.len() + grips.laps.len() + 1;
        self.all.reserve(most);
        self.joints.reserve(most);
        let on_body = |body, p_B: &Point3<T>| positions.pose(body) * p_B;
        let (Some(first), Some(last)) = (results.segments.first(), results.segments.last()) else { return };
        let mut from = (first.from_body, first.from_G);
        let mut rest = T::zero();
        let mut share_before = T::zero();
        let [begins, ends] = path.drum_places(grips);
        let mut first_place = 0;
        for (body, hold) in path.holds() {
            let room = hold.room(path).min(grips.places.len() - first_place);
            let own = &grips.places[first_place..][..room];
            let marked = own.iter().filter(|grip| grip.in_contact).count();
            let occupied = own.iter().zip(first_place..).filter(|(grip, _)| grip.in_contact);
            first_place += room;
            for (i, (grip, place)) in occupied.enumerate() {
                let (start_G, end_G) = (on_body(body, &grip.start), on_body(body, &grip.end));
                let mut touching = touching(results, hold.obstacle());
                let laps = |end: usize| grips.laps.get(path.laps_of(end)).unwrap_or(&[]);
                if begins == Some(place) {
                    let limit = limit_per_length(path, touching.next(), grip.before, friction);
                    self.add_laps((body, start_G), laps(0), [grip.before, grip.share], false, limit);
                } else {
                    self.add(from, (body, start_G), rest + grip.before, grip.share - share_before);
                }
                if ends == Some(place) {
                    let limit = limit_per_length(path, touching.next_back(), grip.after, friction);
                    self.add_laps((body, end_G), laps(1), [grip.after, T::one() - grip.share], true, limit);
                } else if begins != Some(place) {
                    let limit = hold
                        .obstacle()
                        .map_or(T::zero(), |k| turning_limit(path, results, k, (i, marked), friction));
                    self.joints.push(Joint::new(limit.exp(), grip.share));
                }
                from = (body, end_G);
                rest = grip.after;
                share_before = grip.share;
            }
        }
        if ends.is_none() {
            self.add(from, (last.to_body, last.to_G), rest, T::one() - share_before);
        }

        let total = self.all.iter().fold(T::zero(), |sum, strand| sum + strand.length);
        // What the remembered chords do not see of the path's length is common to all that is not wound.
        let unseen = results.length - total;
        let free = self.free_share();
        if let [only] = &mut self.all[..] {
            only.length = results.length;
        } else {
            // A leap far from the last commit must not leave a strand without length.
            let least = T::lit(1e-6) * results.length;
            for strand in self.all.iter_mut().filter(|strand| !strand.is_wound) {
                let length = strand.length + strand.share / free * unseen;
                strand.length = length.max(least * strand.share);
            }
        }
        settle(&mut self.all, &mut self.joints, slack_length);
    }

    /// The share of the cable's material that is not wound on a drum, at the last commit.
    fn free_share(&self) -> T {
        let free = self.all.iter().filter(|strand| !strand.is_wound);
        free.fold(T::zero(), |sum, strand| sum + strand.committed_share)
    }

    /// The part of a change of the path's length that a strand sees beyond that of its own chord.
    fn weight(strand: &Strand<T>, free: T) -> T {
        if strand.is_wound { T::zero() } else { strand.committed_share / free }
    }

    pub(super) fn add(
        &mut self,
        from: (BodyIndex, Point3<T>),
        to: (BodyIndex, Point3<T>),
        on_surfaces: T,
        share: T,
    ) {
        let along: Vector3<T> = to.1 - from.1;
        // An end on a surface that the cable follows at once leaves no straight part, and no direction.
        let least = (from.1.coords.amax() + to.1.coords.amax()) * T::default_epsilon() * T::lit(16.0);
        let (reach, direction_G) = if along.norm_squared() > least * least {
            (along.norm(), along / along.norm())
        } else {
            (T::zero(), Vector3::zeros())
        };
        self.all.push(Strand {
            from_body: from.0,
            to_body: to.0,
            from_G: from.1,
            to_G: to.1,
            direction_G,
            length: reach + on_surfaces,
            share,
            committed_share: share,
            elongation: T::zero(),
            is_wound: false,
        });
    }

    /// Half the sum of `φ_k x_k²`: the energy stored at a stiffness of 1 N/m \[m²\].
    pub fn unit_energy(&self) -> T {
        let twice = self
            .all
            .iter()
            .fold(T::zero(), |sum, strand| sum + strand.share * strand.elongation * strand.elongation);
        T::lit(0.5) * twice
    }

    /// Writes the rates of change of the strands' lengths \[m/s\], given that of the path's length.
    pub fn length_rates(
        &self,
        length_rate: T,
        positions: &Positions<T>,
        velocities: &Velocities<T>,
        rates: &mut Vec<T>,
    ) {
        rates.clear();
        if self.joints.is_empty() {
            rates.push(length_rate);
            return;
        }
        rates.reserve(self.all.len());
        rates.extend(self.all.iter().map(|strand| {
            let velocity = |body, p| velocities.velocity_of_point(positions, body, p);
            let relative =
                velocity(strand.to_body, &strand.to_G) - velocity(strand.from_body, &strand.from_G);
            strand.direction_G.dot(&relative)
        }));
        let seen = rates.iter().fold(T::zero(), |sum, &rate| sum + rate);
        let free = self.free_share();
        for (rate, strand) in rates.iter_mut().zip(&self.all) {
            *rate += Self::weight(strand, free) * (length_rate - seen);
        }
    }

    /// Writes the tension in each strand \[N\], damping included; returns the power that damping dissipates
    /// \[W\].
    pub fn tensions(&self, stiffness: T, dissipation: T, rates: &[T], tensions: &mut Vec<T>) -> T {
        let one = T::one();
        let rise = |part: Range<usize>| {
            let (mut power, mut weight) = (T::zero(), T::zero());
            for (strand, &rate) in self.all.iter().zip(rates).take(part.end).skip(part.start) {
                power += strand.elongation * rate;
                weight += strand.elongation * strand.share;
            }
            // The rate of a single strand, which is the whole cable, must be itself to the last bit.
            let mean = match rates {
                [only] => *only,
                _ if weight > T::zero() => power / weight,
                _ => T::zero(),
            };
            (dissipation * mean).max(-one)
        };
        let common = rise(0..self.all.len());
        tensions.clear();
        tensions.reserve(self.all.len());
        for group in self.groups() {
            let own = rise(group.clone());
            tensions.extend(group.map(|_| own - common));
        }
        // As much of the differences as no contact that sticks gives way to.
        let mut weight = one;
        for (i, joint) in self.joints.iter().enumerate().filter(|(_, joint)| !joint.slips()) {
            for (a, b) in [(i, i + 1), (i + 1, i)] {
                let excess = |weight: T| {
                    let tension = |k: usize| self.all[k].elongation * (one + common + weight * tensions[k]);
                    tension(a) - joint.ratio * tension(b)
                };
                let most = excess(one);
                if most > T::zero() {
                    let none = excess(T::zero()).min(T::zero());
                    weight = weight.min(none / (none - most));
                }
            }
        }
        let mut lost = T::zero();
        for ((tension, strand), &rate) in tensions.iter_mut().zip(&self.all).zip(rates) {
            let rise = common + weight * *tension;
            let elastic = stiffness * strand.elongation;
            let damping = elastic * rise;
            *tension = elastic + damping;
            lost += damping * rate;
        }
        lost
    }

    /// The strands between neighbouring contacts that stick.
    fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut first = 0;
        (0..self.all.len()).filter_map(move |last| {
            let ends = self.joints.get(last).is_none_or(|joint| !joint.slips());
            ends.then(|| core::mem::replace(&mut first, last + 1)..last + 1)
        })
    }

    /// Adds the forces of a cable with these tensions in its strands \[N\].
    ///
    /// The mean tension acts along the present path; the departures from it along the straight parts of the
    /// path at the last commit, moved with the bodies.
    ///
    /// # Panics
    /// If `forces` lack a body, like slice indexing; those of the solution's system do not.
    pub fn add_forces(&self, results: &PathResults<T>, tensions: &[T], forces: &mut ForceAccumulator<'_, T>) {
        if let [tension] = tensions {
            results.add_forces(*tension, forces);
            return;
        }
        let strands = || self.all.iter().zip(tensions);
        let free = self.free_share();
        let mean = strands().fold(T::zero(), |sum, (strand, &f)| sum + Self::weight(strand, free) * f);
        results.add_forces(mean, forces);
        for (strand, &tension) in strands().filter(|(strand, _)| !strand.is_wound) {
            let pull = strand.direction_G * (tension - mean);
            forces.apply_at_point(strand.from_body, &strand.from_G, pull);
            forces.apply_at_point(strand.to_body, &strand.to_G, -pull);
        }
    }

    /// Writes into `grips` the memory for an accepted step.
    ///
    /// A mark stays on its place of the surface as long as that is within the contact arc, and otherwise moves
    /// to the end of the arc; material that passes it keeps its strain. A new contact gets its mark in the
    /// middle. Where an obstacle is touched more often or less often than before, marks stay with the contacts
    /// nearest to them.
    pub fn remember(
        &self,
        path: &CablePath<T>,
        results: &PathResults<T>,
        positions: &Positions<T>,
        grips: &mut Grips<T>,
    ) {
        let mut segments = results.segments.iter();
        let mut contacts = results.contacts.iter().filter(|contact| contact.in_contact).peekable();
        let mut marks = Marks { strands: &self.all, length: T::zero(), share: T::zero() };
        // The length of the path at the last contact passed.
        let mut reach = T::zero();
        let mut arriving = segments.next();
        for _ in 1..self.wound_first().count() {
            marks.take();
        }
        let [begins, ends] = path.drums();
        let last = path.obstacles.len().checked_sub(1);
        let Grips { places, laps } = grips;
        laps.fill(Lap::default());
        let mut places = &mut places[..];
        for (body, hold) in path.holds() {
            let (own, others) = places.split_at_mut(hold.room(path).min(places.len()));
            let obstacle = hold.obstacle();
            places = others;
            let mut left = own.iter().filter(|grip| grip.in_contact).count();
            let mut count = 0;
            let is_here = |contact: &&ObstacleContact<T>| Some(contact.obstacle) == obstacle;
            let touched = hold.touches(results);
            let is_same = left == touched;
            let mut came_off = false;
            while count < touched.min(own.len()) {
                let contact = obstacle.and_then(|_| contacts.next_if(is_here));
                let (Some(before), Some(after)) = (arriving, segments.next()) else { break };
                let arc = contact.map_or(T::zero(), |contact| contact.geodesic.length.max(T::zero()));
                let start = reach + before.length;
                let end = start + arc;
                // Where the part of the cable ends that is nearest to this contact.
                let until = end + T::lit(0.5) * after.length;
                let is_last = count + 1 == touched;
                let mut mark = None;
                while left > 0
                    && (is_same && mark.is_none() || !is_same && (is_last || marks.next().0 <= until))
                {
                    let next = marks.take();
                    left -= 1;
                    if mark.is_none() || start <= next.0 && next.0 <= end {
                        mark = Some(next);
                    }
                }
                let on_drum =
                    [begins && obstacle == Some(0) && count == 0, ends && obstacle == last && is_last];
                let is_held = [before.length, after.length].map(|length| length <= T::zero());
                let is_wound =
                    (0..2).any(|end| on_drum[end] && is_held[end]) && arc > T::lit(1e-9) * results.length;
                came_off |= on_drum != [false; 2] && !is_wound;
                let (mark, share) = match mark {
                    _ if on_drum[0] => self.share_at(end),
                    _ if on_drum[1] => self.share_at(start),
                    Some((at, share)) if start <= at && at <= end => (at, share),
                    Some((at, _)) => self.share_at(at.max(start).min(end)),
                    None => self.share_at(start + T::lit(0.5) * arc),
                };
                if is_wound {
                    let curvature = contact.map_or(T::zero(), |contact| contact.geodesic.start.curvature);
                    if on_drum[0] {
                        let now = Lap { length: arc, share };
                        let laps = laps.get_mut(path.laps_of(0)).unwrap_or(&mut []);
                        drum::wind(laps, self.wound_first().map(Strand::lap), now, curvature);
                    } else {
                        let now = Lap { length: arc, share: T::one() - share };
                        let laps = laps.get_mut(path.laps_of(1)).unwrap_or(&mut []);
                        drum::wind(laps, self.wound_last().map(Strand::lap), now, curvature);
                    }
                }
                let X_BG = positions.pose(body).inverse();
                own[count] = Grip {
                    in_contact: true,
                    start: X_BG * before.to_G,
                    end: X_BG * after.from_G,
                    before: mark - start,
                    after: end - mark,
                    share,
                };
                count += 1;
                reach = end;
                arriving = Some(after);
            }
            for _ in 0..left {
                marks.take();
            }
            // Without what is wound the places of a drum would be read as if it were.
            own[if came_off { 0 } else { count }..].fill(Grip::default());
        }
    }

    /// What is wound on the drum at the origin, from there.
    fn wound_first(&self) -> impl Iterator<Item = &Strand<T>> {
        self.all.iter().take_while(|strand| strand.is_wound)
    }

    /// What is wound on the drum at the termination, from there.
    fn wound_last(&self) -> impl Iterator<Item = &Strand<T>> {
        self.all.iter().rev().take_while(|strand| strand.is_wound)
    }

    /// A length along the cable, with the share of material before it.
    fn share_at(&self, at: T) -> (T, T) {
        let (mut length, mut share) = (T::zero(), T::zero());
        let mut found = T::zero();
        for strand in &self.all {
            // The last strand that begins before it.
            if length <= at {
                found = share + strand.share * ((at - length) / strand.length).min(T::one());
            }
            length += strand.length;
            share += strand.share;
        }
        (at, found)
    }
}

impl<T: Real> Strand<T> {
    fn lap(&self) -> Lap<T> {
        Lap { length: self.length, share: self.share }
    }
}

/// The marks of strands in order.
struct Marks<'a, T: Real> {
    strands: &'a [Strand<T>],
    /// Length and share at the last mark passed.
    length: T,
    share: T,
}

impl<T: Real> Marks<'_, T> {
    /// Length and share at the next mark.
    fn next(&self) -> (T, T) {
        match self.strands {
            [strand, ..] => (self.length + strand.length, self.share + strand.share),
            [] => (self.length, self.share),
        }
    }

    /// Passes the next mark.
    fn take(&mut self) -> (T, T) {
        (self.length, self.share) = self.next();
        self.strands = self.strands.get(1..).unwrap_or(&[]);
        (self.length, self.share)
    }
}

/// The contacts with an obstacle.
fn touching<T: Real>(
    results: &PathResults<T>,
    obstacle: Option<usize>,
) -> impl DoubleEndedIterator<Item = &ObstacleContact<T>> {
    results.contacts.iter().filter(move |contact| contact.in_contact && Some(contact.obstacle) == obstacle)
}

/// The exponent of the capstan equation per length of a contact, or of at least this length.
fn limit_per_length<T: Real>(
    path: &CablePath<T>,
    contact: Option<&ObstacleContact<T>>,
    least: T,
    friction: &[T],
) -> T {
    contact
        .map_or(T::zero(), |contact| limit_of(path, contact, friction) / contact.geodesic.length.max(least))
}

/// The exponent of the capstan equation at one of the marks on an obstacle.
///
/// If the obstacle is touched more often or less often than at the last commit, its marks share the turning of all
/// contacts.
fn turning_limit<T: Real>(
    path: &CablePath<T>,
    results: &PathResults<T>,
    k: usize,
    (mark, marks): (usize, usize),
    friction: &[T],
) -> T {
    let limit = |contact: &ObstacleContact<T>| limit_of(path, contact, friction);
    let touching = || touching(results, Some(k));
    if touching().count() == marks {
        return touching().nth(mark).map_or(T::zero(), limit);
    }
    let each = (0..marks).fold(T::zero(), |sum, _| sum + T::one()).max(T::one());
    touching().map(limit).fold(T::zero(), |sum, limit| sum + limit) / each
}

/// The exponent of the capstan equation over a contact: friction times turning.
fn limit_of<T: Real>(path: &CablePath<T>, contact: &ObstacleContact<T>, friction: &[T]) -> T {
    let mu = friction.get(contact.obstacle).copied().unwrap_or_else(T::zero);
    let Some(obstacle) = path.obstacles().get(contact.obstacle).filter(|_| mu > T::zero()) else {
        return T::zero();
    };
    let accuracy = path.settings().smoothness * T::lit(0.01);
    mu * contact.turning(obstacle.surface(), accuracy).max(T::zero())
}
