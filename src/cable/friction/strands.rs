//! The strands of a cable with friction: lengths, shares of material, forces and memory.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::{Point3, Vector3};

use crate::cable::friction::drum;
use crate::cable::friction::remember::{carried, correction, remember};
use crate::cable::friction::slip::{Joint, settle};
use crate::cable::friction::strand_law::{self, distribute_rate, distribution};
use crate::cable::{CablePath, PathMotion, PathResults, Segment, Strand, empty};
use crate::framework::stored_variables;
use crate::framework::variables::Numbers;
use crate::math::{InvalidValue, Number, Real, Requirement, check, clone_by_field, default_by_field};
use crate::mechanics::{BodyIndex, ForceAccumulator, Positions, Velocities};

/// A motion or a number that varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StrandMotion {
    /// The path, in six directions of position and of velocity.
    Path(PathMotion),
    /// A number of the memory, by its place there. For a point or direction it is the first number, and the first three
    /// directions are the axes of its body's frame.
    Memory(usize),
    /// The coefficient of friction of an obstacle.
    Friction(usize),
    Stiffness,
    SlackLength,
    Dissipation,
}

/// The places of the numbers of a mark among those of the memory.
pub(crate) fn numbers_of_grip(place: usize) -> Grip<usize> {
    Grip::<f64>::default().places(Grip::<f64>::COUNT * place)
}

/// The places of the numbers of a lap, which follow those of all marks.
pub(crate) fn numbers_of_lap(marks: usize, lap: usize) -> Lap<usize> {
    Lap::<f64>::default().places(Grip::<f64>::COUNT * marks + Lap::<f64>::COUNT * lap)
}

/// The start and end of a strand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<T: Real> {
    /// The bodies at both ends.
    pub(crate) bodies: [BodyIndex; 2],
    /// The points at which it last left the first body and met the second.
    pub(crate) points_G: [Point3<T>; 2],
    /// The unit direction from one to the other; zero if they coincide, as where a contact begins or ends at an end of
    /// the cable.
    pub(crate) direction_G: Vector3<T>,
    /// The marks; `None` at an end of the cable.
    pub(crate) marks: [Option<Mark>; 2],
    /// The length between the remembered points.
    pub(crate) seen: T,
}

/// The strands of a cable with capstan friction, in order.
///
/// A cable of slack length `L₀` is divided by marks on the surfaces that it touches. Strand `k` has the length `L_k`
/// and the fraction `φ_k` of the material; a whole cable with the same strain would exceed its slack length by `x_k =
/// L_k/φ_k − L₀`. See [`CableSpring`](crate::CableSpring) for the law.
#[derive(Debug)]
pub struct Strands<T: Real> {
    /// The strands in order; a single one without memory.
    pub all: Vec<Strand<T>>,
    pub(crate) ends: Vec<Ends<T>>,
    pub(crate) joints: Vec<Joint<T>>,
    /// The turning of each contact of the solution; zero without friction.
    pub(crate) turnings: Vec<T>,
}

clone_by_field!(Strands { all, ends, joints, turnings });
default_by_field!(Strands { all, ends, joints, turnings });

impl<T: Real> CablePath<T> {
    /// The empty memory of friction before the first solution.
    pub fn no_grips(&self) -> Grips<T> {
        let count = self.places_for_contacts() + self.via_points.len();
        let drums = self.drums().into_iter().filter(|is_drum| *is_drum).count();
        Grips {
            grips: alloc::vec![Grip::default(); count],
            laps: alloc::vec![Lap::default(); drums * drum::MOST],
        }
    }

    /// The marks in memory, in order.
    pub(crate) fn marks<'a>(
        &'a self,
        grips: &'a Grips<T>,
        results: &'a PathResults<T>,
    ) -> impl Iterator<Item = Mark> + 'a {
        self.holds(grips, results).flat_map(move |hold| {
            let occupied =
                (hold.place..hold.place + hold.room).filter(|&place| grips.grips[place].in_contact);
            occupied.enumerate().map(move |(index, place)| Mark { hold, place, index })
        })
    }

    /// The obstacles and via points, in order.
    pub(crate) fn holds<'a>(
        &'a self,
        grips: &'a Grips<T>,
        results: &'a PathResults<T>,
    ) -> impl Iterator<Item = Hold> + 'a {
        let (mut place, mut arrival) = (0, 0);
        self.parts().map(move |(body, part)| {
            let most = part.obstacle().map_or(1, |k| self.obstacles[k].most_contacts);
            let own = grips.grips.iter().skip(place).take(most);
            let contacts = results.segments.iter().skip(arrival).map_while(|segment| segment.to_contact);
            let touches = match part {
                PathMotion::ViaPoint(i) => {
                    usize::from(results.via_points.get(i).is_some_and(Option::is_some))
                }
                _ => contacts
                    .take_while(|&i| {
                        results.contacts.get(i).map(|contact| contact.obstacle) == part.obstacle()
                    })
                    .count(),
            };
            let (room, marks) = (own.len(), own.filter(|grip| grip.in_contact).count());
            let hold = Hold { body, part, place, room, marks, arrival, touches };
            (place, arrival) = (place + room, arrival + touches);
            hold
        })
    }
}

/// An obstacle or a via point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hold {
    pub(crate) body: BodyIndex,
    pub(crate) part: PathMotion,
    /// The first of its places in memory, and their number.
    pub(crate) place: usize,
    pub(crate) room: usize,
    /// The number of these places that are occupied by marks.
    pub(crate) marks: usize,
    /// The first segment of the path that ends at it, and the number of these segments: how often the cable touches it.
    pub(crate) arrival: usize,
    pub(crate) touches: usize,
}

/// A mark in memory: its place, and its index among those of its obstacle or via point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    pub(crate) hold: Hold,
    pub(crate) place: usize,
    index: usize,
}

impl Mark {
    /// Whether its obstacle or via point holds the cable at as many places as at the last commit, so that each has one
    /// mark.
    pub(crate) fn is_same(self) -> bool {
        self.hold.touches == self.hold.marks
    }

    /// The segments that end at the contacts whose turning limits the friction at this mark: its own contact, or those
    /// that it [shares](Self::part) with others.
    pub(crate) fn arrivals(self) -> Range<usize> {
        let Hold { arrival, touches, .. } = self.hold;
        if self.is_same() {
            arrival + self.index..arrival + self.index + 1
        } else {
            arrival..arrival + touches
        }
    }

    /// The first of these segments.
    pub(crate) fn arrival(self) -> Option<usize> {
        self.arrivals().next()
    }

    /// The part of the turning of its contacts that limits the friction at this mark.
    ///
    /// If an obstacle is touched more or less often than at the last commit, its marks share the turning of all contacts
    /// in proportion to their turnings at the last commit. The friction is then continuous where two contacts become one.
    fn part<S: Number>(self, turning: impl Fn(usize) -> S) -> S {
        let Hold { place, marks, .. } = self.hold;
        if self.is_same() {
            return S::lit(1.0);
        }
        let sum = (place..place + marks).fold(S::zero(), |sum, place| sum + turning(place));
        let equal = || S::lit(1.0) / S::lit(f64::from(u32::try_from(marks).unwrap_or(u32::MAX)));
        if sum > S::zero() { turning(self.place) / sum } else { equal() }
    }
}

impl PathMotion {
    pub(crate) fn obstacle(self) -> Option<usize> {
        if let Self::Obstacle(k) = self { Some(k) } else { None }
    }
}

impl<T: Real> Strands<T> {
    /// Finds lengths, shares and elongations on a solved path, with the coefficient of friction of each
    /// obstacle; missing ones are zero.
    ///
    /// It is a pure function of its arguments; the previous content has no effect.
    pub fn solve(
        &mut self,
        path: &CablePath<T>,
        results: &PathResults<T>,
        positions: &Positions<T>,
        grips: &Grips<T>,
        friction: &[T],
        slack_length: T,
    ) {
        let Self { all, ends, joints, turnings } = self;
        let most = grips.grips.len() + grips.laps.len() + 1;
        empty(all, most);
        empty(ends, most);
        empty(joints, most);
        empty(turnings, results.contacts.len());
        turnings.extend(results.contacts.iter().map(|contact| {
            let slides = friction.get(contact.obstacle).is_some_and(|mu| *mu > T::zero());
            let obstacle = path.obstacles().get(contact.obstacle).filter(|_| contact.in_contact && slides);
            obstacle.map_or(T::zero(), |obstacle| {
                contact.turning(obstacle.surface(), path.settings().accuracy()).max(T::zero())
            })
        }));
        let (Some(first), Some(last)) = (results.segments.first(), results.segments.last()) else { return };
        let end = |mark: Option<Mark>, of: fn(&Grip<T>) -> Point3<T>, fixed: (BodyIndex, Point3<T>)| {
            let held =
                mark.map(|Mark { hold: Hold { body, .. }, place, .. }| (body, of(&grips.grips[place])));
            held.map_or(fixed, |(body, p_B)| (body, positions.pose(body) * p_B))
        };
        let add = |marks: [Option<Mark>; 2], on_surfaces: T, share: T| {
            let (from_body, from_G) = end(marks[0], |grip| grip.end, (first.from_body, first.from_G));
            let (to_body, to_G) = end(marks[1], |grip| grip.start, (last.to_body, last.to_G));
            // A strand with both ends at one mark is on a drum.
            let is_wound = marks[0].is_some() && marks[0] == marks[1];
            let along: Vector3<T> = to_G - from_G;
            // An end on a surface that the cable follows at once has neither a straight part nor a direction.
            let least = (from_G.coords.amax() + to_G.coords.amax()) * T::default_epsilon() * T::lit(16.0);
            let is_straight = !is_wound && along.norm_squared() > least * least;
            let reach = if is_straight { along.norm() } else { T::zero() };
            let direction_G = if is_straight { along / reach } else { Vector3::zeros() };
            let (bodies, points_G, seen) = ([from_body, to_body], [from_G, to_G], reach + on_surfaces);
            all.push(Strand::new(seen, share, is_wound));
            ends.push(Ends { bodies, points_G, direction_G, marks, seen });
        };
        let arc = |segment| arc(turnings, results, segment);
        let numbers = (|i: usize| grips.grips[i], |i: usize| grips.laps[i], |i: usize| friction[i]);
        lay((path, results), (grips, friction), numbers, arc, add, |joint| joints.push(joint));
        let length_of = distribution(&mut all.iter().copied(), results.length);
        for strand in &mut *all {
            strand.length = length_of(strand);
        }
        settle(all, joints, slack_length);
    }

    /// The [correction] of a strand at the next commit.
    fn correction(
        &self,
        strand: usize,
        results: &PathResults<T>,
        positions: &Positions<T>,
        grips: &Grips<T>,
    ) -> Option<T> {
        let Segment { from_G, to_G, .. } = results.segments[self.segment_of(strand, results)?];
        let Ends { bodies, points_G, marks, .. } = self.ends[strand];
        let direction = |k: usize, of: fn(&Grip<T>) -> Vector3<T>| {
            let known = marks[k].map(|mark| of(&grips.grips[mark.place]));
            known.map_or_else(Vector3::zeros, |known| positions.pose(bodies[k]).rotation * known)
        };
        let directions = [direction(0, |grip| grip.leaving), direction(1, |grip| grip.arriving)];
        Some(correction([from_G, to_G].map(|p| p.coords), points_G.map(|p| p.coords), directions))
    }

    /// The segment of the path that is the straight part of a strand; `None` if it has none, or if contacts between the two marks
    /// have come or gone.
    pub(crate) fn segment_of(&self, strand: usize, results: &PathResults<T>) -> Option<usize> {
        let Ends { direction_G, marks: [from, to], .. } = self.ends[strand];
        let arrival = |mark: Mark| mark.arrival().filter(|_| mark.is_same());
        let leaves = from.map_or(Some(0), |mark| Some(arrival(mark)? + 1))?;
        let arrives = to.map_or(results.segments.len().checked_sub(1), arrival)?;
        let has_length = results.segments.get(leaves).is_some_and(|segment| segment.length > T::zero());
        (direction_G != Vector3::zeros() && leaves == arrives && has_length).then_some(leaves)
    }

    /// The contacts with friction: the obstacle, whether material slips through the contact, and the fraction that slips;
    /// or, if the contact sticks, by how much the elongation on one side may grow until it slips \[m\].
    pub(crate) fn friction_states(&self) -> impl Iterator<Item = (usize, bool, T)> + '_ {
        let mut share = T::zero();
        let parts = self.joints.iter().zip(self.all.windows(2)).zip(&self.ends);
        parts.filter_map(move |((joint, parts), ends)| {
            share += parts[0].share;
            let obstacle = ends.marks[1]?.hold.part.obstacle().filter(|_| !joint.is_frictionless())?;
            let [a, b] = [parts[0].elongation, parts[1].elongation];
            let slips = joint.slips();
            let margin = if slips {
                (share - joint.committed).abs()
            } else {
                (joint.ratio * b - a).min(joint.ratio * a - b).max(T::zero())
            };
            Some((obstacle, slips, margin))
        })
    }

    /// Half the sum of `φ_k x_k²`: the energy stored at a stiffness of 1 N/m \[m²\].
    pub fn unit_energy(&self) -> T {
        unit_energy(self.all.iter().map(|strand| (strand.share, strand.elongation)))
    }

    /// The [`unit_energy`](Self::unit_energy) if no material had passed a contact since the last commit.
    pub(crate) fn held_unit_energy(&self, slack_length: T) -> T {
        unit_energy(self.all.iter().map(|strand| {
            let elongation = strand.length / strand.committed_share - slack_length;
            (strand.committed_share, elongation.max(T::zero()))
        }))
    }

    /// The length \[m\] that the cable would have at the strain of its longest strand; `None` without friction.
    pub(crate) fn longest(&self) -> Option<T> {
        self.all.iter().map(|strand| strand.length / strand.share).reduce(T::max)
    }

    /// The rate of change of this length \[m/s\], given the rates of the strands' lengths. It covers all strands of the
    /// same strain, between which material slips.
    pub(crate) fn longest_rate(&self, rates: &[T]) -> Option<T> {
        let near = self.longest()? * (T::one() - T::negligible());
        let alike = self.all.iter().zip(rates).filter(|(strand, _)| strand.length >= strand.share * near);
        let sums =
            alike.fold([T::zero(); 2], |sums, (strand, rate)| [sums[0] + *rate, sums[1] + strand.share]);
        Some(sums[0] / sums[1])
    }

    /// Writes the rates of change of the strands' lengths \[m/s\], given the rate of the path's length.
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
        rates.extend(self.ends.iter().map(|ends| {
            let velocity =
                |k: usize| velocities.velocity_of_point(positions, ends.bodies[k], &ends.points_G[k]);
            ends.direction_G.dot(&(velocity(1) - velocity(0)))
        }));
        distribute_rate(&self.all, length_rate, rates);
    }

    /// Writes the tension in each strand \[N\], damping included; returns the power that damping dissipates
    /// \[W\].
    pub fn tensions(&self, stiffness: T, dissipation: T, rates: &[T], tensions: &mut Vec<T>) -> T {
        strand_law::tensions(&self.all, &self.joints, [stiffness, dissipation], rates, tensions)
    }

    /// Adds the forces of a cable with these tensions in its strands \[N\].
    ///
    /// The mean tension acts along the present path; the deviations from it act along the straight parts of the path at
    /// the last commit, moved with the bodies.
    ///
    /// # Panics
    /// If `forces` lack a body, like slice indexing; those of the solution's system do not.
    pub fn add_forces(
        &self,
        results: &PathResults<T>,
        tensions: impl Iterator<Item = T> + Clone,
        forces: &mut ForceAccumulator<'_, T>,
    ) {
        for (body, p_G, pull) in self.forces(results, tensions.clone()) {
            forces.apply_at_point(body, &p_G, pull);
        }
        results.add_coordinate_forces(strand_law::mean(&self.all, tensions), forces);
    }

    /// The tension \[N\] in a straight segment of the path, given the tensions in all strands: that of the last strand
    /// that is not wound and begins before the segment. `None` without friction.
    pub(crate) fn tension_in(&self, segment: usize, tensions: &[T]) -> Option<T> {
        let is_passed = |mark: Mark| mark.arrival().is_some_and(|arrival| arrival < segment);
        let strands = self.all.iter().zip(&self.ends).zip(tensions);
        let free = strands.filter(|((strand, _), _)| !strand.is_wound);
        let begun =
            free.enumerate().filter(|(i, ((_, ends), _))| *i == 0 || ends.marks[0].is_some_and(is_passed));
        begun.last().map(|(_, (_, tension))| *tension)
    }

    /// The forces of a cable with these tensions in its strands \[N\]: body, point in Ground \[m\], force in Ground \[N\].
    ///
    /// The mean tension acts along the present path; the deviations from it act along the straight parts of the path at
    /// the last commit, moved with the bodies.
    pub(crate) fn forces<'a>(
        &'a self,
        results: &'a PathResults<T>,
        tensions: impl Iterator<Item = T> + Clone + 'a,
    ) -> impl Iterator<Item = (BodyIndex, Point3<T>, Vector3<T>)> + 'a {
        let mean = strand_law::mean(&self.all, tensions.clone());
        let along_path = results.unit_forces().map(move |(body, p, f)| (body, p, f * mean));
        let several = self.all.iter().zip(&self.ends).zip(tensions).filter(|_| self.all.len() > 1);
        let free = several.filter(|((strand, _), _)| !strand.is_wound);
        along_path.chain(free.flat_map(move |((_, ends), tension)| {
            let pull = ends.direction_G * (tension - mean);
            [(ends.bodies[0], ends.points_G[0], pull), (ends.bodies[1], ends.points_G[1], -pull)]
        }))
    }

    /// Writes into `next` the memory for an accepted step; `grips` is the present one.
    ///
    /// A mark stays at its place on the surface as long as that is within the contact arc, and otherwise moves to the
    /// end of the arc; material that passes it keeps its strain. A new contact gets its mark in the middle. If an
    /// obstacle is touched more or less often than before, marks stay with the contacts nearest to them, and of several on one
    /// arc their mean remains, weighted with their friction.
    pub fn remember(
        &self,
        path: &CablePath<T>,
        results: &PathResults<T>,
        positions: &Positions<T>,
        grips: &Grips<T>,
        next: &mut Grips<T>,
    ) {
        let length_of = |segment: usize| results.segments[segment].length;
        let arc = |segment| arc(&self.turnings, results, segment);
        let correction = |strand: usize| self.correction(strand, results, positions, grips);
        let strands = (carried(&self.all, results.length, correction), &*self.joints);
        remember(path, (results, positions), strands, (length_of, arc), (grips, next), |_, _| {});
    }
}

/// Half the sum of the squares of elongations times shares.
fn unit_energy<T: Real>(strands: impl Iterator<Item = (T, T)>) -> T {
    T::lit(0.5) * strands.fold(T::zero(), |sum, (share, elongation)| sum + share * elongation * elongation)
}

/// The turning and the length of the contact at which a segment ends; zero at a fixed point.
pub(crate) fn arc<T: Real>(turnings: &[T], results: &PathResults<T>, segment: usize) -> [T; 2] {
    let contact = results.segments[segment].to_contact;
    contact.map_or([T::zero(); 2], |i| [turnings[i], results.contacts[i].geodesic.length])
}

/// Calls `add` for each strand, with the marks at its ends, its length on surfaces and its share, and `join` for each contact
/// between two, in numbers with or without derivatives.
///
/// The numbers are those of a mark by its place, of a lap, and the coefficient of friction of an obstacle; `arc` returns turning
/// and length of the contact at which a segment ends.
pub(crate) fn lay<T: Real, S: Number<Scalar = T>>(
    (path, results): (&CablePath<T>, &PathResults<T>),
    (grips, friction): (&Grips<T>, &[T]),
    (grip, lap_of, mu): (impl Fn(usize) -> Grip<S>, impl Fn(usize) -> Lap<S>, impl Fn(usize) -> S),
    arc: impl Fn(usize) -> [S; 2],
    mut add: impl FnMut([Option<Mark>; 2], S, S),
    mut join: impl FnMut(Joint<S>),
) {
    let (zero, one) = (S::zero(), S::lit(1.0));
    // The exponent of the capstan equation over a contact, friction times turning; and the length of the contact.
    let limit_of = |segment: usize| {
        let obstacle = results.contacts[results.segments.get(segment)?.to_contact?].obstacle;
        if friction.get(obstacle).is_none_or(|mu| *mu <= T::zero()) {
            return Some([zero, one]);
        }
        let [turning, length] = arc(segment);
        Some([mu(obstacle) * turning, length])
    };
    let mut from = None;
    let (mut rest, mut share_before) = (zero, zero);
    let [begins, ends] = path.wound_places(grips);
    for mark in path.marks(grips, results) {
        let place = mark.place;
        let Grip { before, after, share, .. } = grip(place);
        let (mut limit, mut arc) = (zero, zero);
        for [of_one, length] in mark.arrivals().filter_map(limit_of) {
            (limit, arc) = (limit + of_one, arc + length);
        }
        limit *= mark.part(|place| grip(place).turning);
        let wound_on = |end: usize, wound: [S; 2]| {
            let mut laps = [[zero; 2]; drum::MOST];
            for (i, lap) in path.laps_of(end).zip(&mut laps).filter(|(i, _)| *i < grips.laps.len()) {
                let Lap { length, share } = lap_of(i);
                *lap = [length, share];
            }
            // The limit per length of what lies on the drum now, or was wound if that is longer. Where contacts have joined or
            // parted, this mark's part of the limit is spread over what was wound.
            let whole = if mark.is_same() { arc.max(wound[0]) } else { wound[0] };
            drum::spread(laps, wound, if whole > zero { limit / whole } else { zero })
        };
        if begins == Some(place) {
            let mut passed = zero;
            for ([length, part], ratio) in wound_on(0, [before, share]) {
                add([Some(mark); 2], length, part);
                passed += part;
                join(Joint::new(ratio, passed));
            }
        } else {
            add([from, Some(mark)], rest + before, share - share_before);
        }
        if ends == Some(place) {
            let wound = [after, one - share];
            let mut passed = one - wound[1];
            for ([length, part], ratio) in wound_on(1, wound).rev() {
                join(Joint::new(ratio, passed));
                add([Some(mark); 2], length, part);
                passed += part;
            }
        } else if begins != Some(place) {
            join(Joint::new(limit.exp(), share));
        }
        (from, rest, share_before) = (Some(mark), after, share);
    }
    if ends.is_none() {
        add([from, None], rest, one - share_before);
    }
}

stored_variables! {
    /// The hold of one contact, or via point, on the cable at the last commit.
    ///
    /// It consists of a mark on the surface within the contact arc, and the fraction of the cable's material before the
    /// mark. While the contact sticks, the fraction is constant.
    #[derive(Copy, Lift)]
    pub struct Grip<T> {
        /// Whether there was contact. Without contact, nothing is remembered.
        pub in_contact: bool => Position;
        /// The start of the contact arc, in the body's frame.
        pub start: Point3<T> ["m"], finite => Position;
        /// Its end, in the body's frame.
        pub end: Point3<T> ["m"], finite => Position;
        /// The length of the cable on the surface before the mark.
        pub before: T ["m"], nonnegative => Position;
        /// The length of the cable on the surface after the mark.
        pub after: T ["m"], nonnegative => Position;
        /// The share of the cable's material before the mark.
        pub share: T, fraction => Position;
        /// The turning of the contact; zero without friction.
        pub turning: T ["rad"], nonnegative => Position;
        /// The unit direction of the cable where it arrives at the contact, in the body's frame; zero if the cable has no
        /// straight part there.
        pub arriving: Vector3<T>, finite => Position;
        /// The unit direction of the cable where it leaves the contact, in the body's frame; zero if the cable has no
        /// straight part there.
        pub leaving: Vector3<T>, finite => Position;
    }
    in "grips";
}

stored_variables! {
    /// A part of the cable wound on a drum on which the cable ends, with its own strain. Empty if its length is zero.
    #[derive(Copy, Lift)]
    pub struct Lap<T> {
        /// Its length.
        pub length: T ["m"], nonnegative => Position;
        /// Its share of the cable's material.
        pub share: T, fraction => Position;
    }
    in "laps";
}

stored_variables! {
    /// The memory of a cable with friction: a [`Grip`] for each via point and each contact that an obstacle
    /// [may have](crate::cable::Obstacle::with_most_contacts), in order along the path.
    pub struct Grips<T> {
        /// For each obstacle the number of places that its contacts may need, vacant ones last; and one place per via
        /// point.
        pub grips: Vec<Grip<T>> => Position;
        /// For each drum on which the cable, as the path was made, begins or ends, a fixed number of laps from the fixed
        /// end outwards. They are scaled to the length and the fraction in the drum's grip.
        ///
        /// A lap is wound over at most an eighth of a turn, or a sixteenth of the cable wound in one step, at the
        /// curvature of the arc at the fixed end: on a drum that is flat at the fixed end, everything is one lap.
        /// Friction acts between the middles of laps. Tension decreases from the free cable by the capstan equation;
        /// where a lap has less tension, it is held. Cable that leaves the drum takes the strain of the free cable. There
        /// are at most 24 laps: beyond this number, laps of nearly equal strain are merged, with a loss of energy of
        /// second order in their difference.
        ///
        /// If the cable touches a drum several times, the contact at the fixed end is wound and the others have a mark
        /// each. Every contact has a mark while the cable lifts off at the fixed end, or while its station or the drum's
        /// scale are such that it does not end on the surface, to a billionth of its size.
        pub laps: Vec<Lap<T>> => Position;
    }
    check |memory| memory.check_shares();
}

impl<T: Real> Grips<T> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.grips.fill(Grip::default());
        self.laps.fill(Lap::default());
    }

    /// Checks that there is material between neighbouring marks.
    fn check_shares(&self) -> Result<(), InvalidValue> {
        let mut before = T::zero();
        for grip in self.grips.iter().filter(|grip| grip.in_contact) {
            let must = Requirement::AtLeast("the share before it, and below 1");
            check::that(grip.share > before && grip.share < T::one(), "grips.share", grip.share, must)?;
            before = grip.share;
        }
        Ok(())
    }
}
