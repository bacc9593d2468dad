//! Derivatives of the forces and of the memory of a cable.
//!
//! The geometry is differentiated by hand: the path, the chords of the strands, and the turning of its contacts. The law
//! of strands is evaluated on dual numbers, starting from its solution: contacts continue to stick or slip.

use alloc::vec::Vec;
use core::array::from_fn;

use nalgebra::{Matrix3x6, Matrix6, RowVector6, Vector3, Vector6};

use crate::cable::friction::remember::{carried, correction, remember};
use crate::cable::friction::slip::{Joint, solve_groups};
use crate::cable::friction::strand_law::{distribute_rate, distribution, mean, rises, tensions};
use crate::cable::friction::strands::{Ends, arc, lay, numbers_of_grip, numbers_of_lap};
use crate::cable::slopes::stop::StopChange;
use crate::cable::{
    CablePath, Grips, PathDerivatives, PathMotion, PathResults, Segment, Strand, StrandMotion, Strands,
    tension,
};
use crate::framework::variables::Numbers;
use crate::math::{Dual, Number, Real, default_by_field};
use crate::mechanics::{BodyIndex, CoordinateIndex, Positions, Velocities};

/// The number of directions: six by position, and six by velocity.
const DIRECTIONS: usize = 12;

/// A cable that has been evaluated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evaluated<'a, T: Real> {
    pub(crate) path: &'a CablePath<T>,
    pub(crate) positions: &'a Positions<T>,
    pub(crate) velocities: &'a Velocities<T>,
    pub(crate) results: &'a PathResults<T>,
    /// The strands; empty without friction.
    pub(crate) strands: &'a Strands<T>,
    pub(crate) grips: &'a Grips<T>,
    pub(crate) friction: &'a [T],
    /// Stiffness, slack length and dissipation.
    pub(crate) elastic: [T; 3],
    pub(crate) length_rate: T,
}

/// The derivatives of the forces on all bodies and coordinates by position and by velocity.
#[derive(Debug)]
pub(crate) struct StrandDerivatives<T: Real> {
    /// Whether the derivatives of the last cable are known.
    pub(crate) is_known: bool,
    pub(crate) path: PathDerivatives<T>,
    chords: Vec<Chord<T>>,
    pub(crate) parts: Vec<Strand<Dual<T, DIRECTIONS>>>,
    joints: Vec<Joint<Dual<T, DIRECTIONS>>>,
    rates: Vec<Dual<T, DIRECTIONS>>,
    tensions: Vec<Dual<T, DIRECTIONS>>,
    rises: Vec<T>,
    changes: Vec<[Matrix6<T>; 2]>,
    coordinate_changes: Vec<[RowVector6<T>; 2]>,
    /// The next memory, and the strands with their lengths after the commit.
    memory: Grips<T>,
    carried: Vec<Strand<Dual<T, DIRECTIONS>>>,
    /// The last motion, with the length of the path along it.
    last: Option<(StrandMotion, Dual<T, DIRECTIONS>)>,
}

default_by_field!(StrandDerivatives {
    is_known,
    path,
    chords,
    parts,
    joints,
    rates,
    tensions,
    rises,
    changes,
    coordinate_changes,
    memory,
    carried,
    last,
});

impl<T: Real> StrandDerivatives<T> {
    /// Takes an evaluated cable; returns whether its derivatives are known.
    pub(crate) fn find(&mut self, cable: &Evaluated<'_, T>) -> bool {
        let Evaluated { path, positions, velocities, results, strands, friction, .. } = *cable;
        self.is_known = self.path.find(path, positions, results);
        if self.is_known {
            let has_friction = |obstacle: usize| friction.get(obstacle).is_some_and(|mu| *mu > T::zero());
            self.path.find_twists(path, results, has_friction);
            self.chords.clear();
            for ends in &strands.ends {
                // A single strand is the path itself.
                let is_chord = strands.all.len() > 1;
                self.chords.push(Chord::new(ends, is_chord, &mut self.path, (positions, velocities)));
            }
        }
        self.is_known
    }

    /// Finds the changes of all forces along a motion; `false` if nothing changes.
    pub(crate) fn along(&mut self, cable: &Evaluated<'_, T>, motion: StrandMotion) -> bool {
        let Evaluated { positions, velocities, results, strands, grips, friction, elastic, .. } = *cable;
        self.path.motion = None;
        let (mut length, mut rate) = (Dual::of(results.length), Dual::of(cable.length_rate));
        if let StrandMotion::Path(part) = motion
            && let Some(lengths) = self.path.along(part)
        {
            let rates = self.path.rates(velocities);
            let moves = matches!(part, PathMotion::Body(_) | PathMotion::Coordinate(_));
            length = by_position(length.value, &lengths);
            rate.slopes = joined(&rates, moves.then_some(&lengths));
        }
        let mut is_moved = false;
        for chord in &mut self.chords {
            is_moved |= chord.follow(motion, &self.path, positions);
        }
        if self.path.motion.is_none() && !is_moved && matches!(motion, StrandMotion::Path(_)) {
            return false;
        }

        let mut law = elastic.map(Dual::of);
        match motion {
            StrandMotion::Stiffness => law[0].slopes[0] = T::one(),
            StrandMotion::SlackLength => law[1].slopes[0] = T::one(),
            StrandMotion::Dissipation => law[2].slopes[0] = T::one(),
            _ => {}
        }
        let [stiffness, slack_length, dissipation] = law;
        if strands.all.is_empty() {
            let [elastic, damping] = tension(length - slack_length, rate, [stiffness, dissipation]);
            self.change_forces(elastic + damping);
            return true;
        }

        let Self { path, chords, parts, joints, rates, .. } = self;
        parts.clear();
        joints.clear();
        rates.clear();
        // A number, which varies if this motion is that of the number.
        let number = |of, value| if motion == of { Dual::variable(value, 0) } else { Dual::of(value) };
        let numbers = |first: usize| {
            let mut place = first..;
            move |value| number(StrandMotion::Memory(place.next().unwrap_or_default()), value)
        };
        let numbers = (
            |place: usize| grips.grips[place].lift(&mut numbers(numbers_of_grip(place).start.x)),
            |lap: usize| grips.laps[lap].lift(&mut numbers(numbers_of_lap(grips.grips.len(), lap).length)),
            |obstacle: usize| number(StrandMotion::Friction(obstacle), friction[obstacle]),
        );
        let arc = |segment| arc_of(segment, cable, path);
        // Values are those of the evaluation.
        let add = |_: [_; 2], on_surfaces: Dual<T, DIRECTIONS>, share: Dual<T, DIRECTIONS>| {
            let k = parts.len();
            let (seen, rate) = chords[k].lengthen(motion, path, velocities);
            let Strand { committed_share, is_wound, .. } = strands.all[k];
            let length =
                by_position(strands.ends[k].seen, &seen) + (on_surfaces - Dual::of(on_surfaces.value));
            parts.push(Strand::new(length, Dual { value: committed_share, ..share }, is_wound));
            rates.push(rate);
        };
        let join = |joint: Joint<Dual<T, DIRECTIONS>>| {
            let known = &strands.joints[joints.len()];
            let ratio = Dual { value: known.ratio, ..joint.ratio };
            joints.push(known.with(ratio, Dual { value: known.committed, ..joint.committed }));
        };
        lay((cable.path, results), (grips, friction), numbers, arc, add, join);
        self.last = Some((motion, length));
        let length_of = distribution(&mut self.parts.iter().copied(), length);
        for part in &mut self.parts {
            part.length = length_of(part);
        }
        solve_groups(&mut self.parts, &self.joints, slack_length);
        // Every branch is bit-identical to that of the evaluation.
        for (part, strand) in self.parts.iter_mut().zip(&strands.all) {
            part.length.value = strand.length;
            part.share.value = strand.share;
            part.elongation.value = strand.elongation;
        }
        if self.joints.is_empty() {
            self.rates.fill(rate);
        } else {
            distribute_rate(&self.parts, rate, &mut self.rates);
        }
        tensions(&self.parts, &self.joints, [stiffness, dissipation], &self.rates, &mut self.tensions);
        self.change_forces(mean(&self.parts, self.tensions.iter().copied()));
        true
    }

    /// The greatest tension of a taut strand, as a multiple of its value without damping; if all are limp, at most zero
    /// and continuous.
    pub(crate) fn pull(&mut self, strands: &Strands<T>, dissipation: T, rates: &[T]) -> T {
        let last = rises(&strands.all, &strands.joints, dissipation, rates, &mut self.rises);
        let taut = self.rises.iter().zip(&strands.all).filter(|(_, part)| part.elongation > T::zero());
        let most = taut.fold(-T::one(), |most, (&rise, _)| most.max(rise));
        T::one() + if most > -T::one() { most } else { last.min(most) }
    }

    /// The bodies with the changes of torque and force along the last motion.
    pub(crate) fn forces(&self) -> impl Iterator<Item = (BodyIndex, &[Matrix6<T>; 2])> {
        self.path.forces().iter().map(|force| force.body).zip(&self.changes)
    }

    /// The coordinates with the changes of their forces along the last motion.
    pub(crate) fn coordinate_forces(&self) -> impl Iterator<Item = (CoordinateIndex, &[RowVector6<T>; 2])> {
        self.path.coordinate_forces().iter().map(|force| force.coordinate).zip(&self.coordinate_changes)
    }

    /// The motions of bodies and coordinates that move the cable, by number.
    pub(crate) fn motion(&self, i: usize) -> Option<PathMotion> {
        let bodies = self.path.forces().iter().map(|force| force.body);
        let bodies = bodies.filter(|body| *body != BodyIndex::GROUND).map(PathMotion::Body);
        let coordinates = self.path.coordinate_forces().iter().map(|force| force.coordinate);
        bodies.chain(coordinates.map(PathMotion::Coordinate)).nth(i)
    }

    /// Finds the changes of all forces where this tension acts along the path.
    fn change_forces(&mut self, mean: Dual<T, DIRECTIONS>) {
        let by = |number: &Dual<T, DIRECTIONS>| {
            [0, 6].map(|first| RowVector6::from_fn(|_, i| number.slopes[first + i]))
        };
        let [by_position, by_velocity] = by(&mean);
        self.changes.clear();
        self.changes.extend(self.path.forces().iter().map(|on| {
            let (torque, force) = (&on.force.torque, &on.force.force);
            let u = Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
            let mut change = u * by_position;
            if self.path.motion.is_some() {
                change += on.change * mean.value;
            }
            [change, u * by_velocity]
        }));
        self.coordinate_changes.clear();
        self.coordinate_changes.extend(self.path.coordinate_forces().iter().map(|on| {
            let mut change = by_position * on.force;
            if self.path.motion.is_some() {
                change += on.change * mean.value;
            }
            [change, by_velocity * on.force]
        }));
        for (chord, tension) in self.chords.iter().zip(&self.tensions) {
            if chord.inverse_length == T::zero() {
                continue;
            }
            let excess = *tension - mean;
            let [by_position, by_velocity] = by(&excess);
            let pull = chord.direction * excess.value;
            let pulls =
                [chord.direction * by_position + chord.change * excess.value, chord.direction * by_velocity];
            for (k, sign) in [T::one(), -T::one()].into_iter().enumerate() {
                let changes = &mut self.changes[chord.bodies[k]];
                for (change, pulls) in changes.iter_mut().zip(&pulls) {
                    let mut torques = change.fixed_view_mut::<3, 6>(0, 0);
                    torques += chord.arms[k].cross_matrix() * pulls * sign;
                    let mut forces = change.fixed_view_mut::<3, 6>(3, 0);
                    forces += pulls * sign;
                }
                let mut torques = changes[0].fixed_view_mut::<3, 3>(0, 0);
                torques -= pull.cross_matrix() * chord.shifts[k].fixed_columns::<3>(0) * sign;
            }
        }
    }
}

fn joined<T: Real>(by_position: &RowVector6<T>, by_velocity: Option<&RowVector6<T>>) -> [T; DIRECTIONS] {
    from_fn(|i| if i < 6 { by_position[i] } else { by_velocity.map_or(T::zero(), |slopes| slopes[i - 6]) })
}

impl<T: Real> StrandDerivatives<T> {
    /// The [correction] of a strand at the next commit, along the last motion.
    fn correction(&self, k: usize, cable: &Evaluated<'_, T>) -> Option<Dual<T, DIRECTIONS>> {
        let Evaluated { positions, results, strands, grips, .. } = *cable;
        let segment = strands.segment_of(k, results)?;
        let Ends { bodies, points_G, marks, .. } = strands.ends[k];
        let Segment { from_G, to_G, .. } = results.segments[segment];
        let (last, _) = self.last?;
        let changes = self.path.change_of_ends(segment);
        let direction = |k: usize, place: usize| {
            let (grip, numbers) = (&grips.grips[place], numbers_of_grip(place));
            let of = [grip.leaving, grip.arriving][k];
            let own = StrandMotion::Memory([numbers.leaving, numbers.arriving][k].x);
            let R_GB = positions.pose(bodies[k]).rotation;
            let (direction_G, mut change) = (R_GB * of, Matrix3x6::zeros());
            let mut turns = change.fixed_columns_mut::<3>(0);
            if last == StrandMotion::Path(PathMotion::Body(bodies[k])) {
                turns.copy_from(&-direction_G.cross_matrix());
            } else if last == own {
                turns.copy_from(R_GB.matrix());
            }
            lifted(&direction_G, &change)
        };
        let none = lifted(&Vector3::zeros(), &Matrix3x6::zeros());
        Some(correction(
            [lifted(&from_G.coords, &changes[0]), lifted(&to_G.coords, &changes[1])],
            [0, 1].map(|i| lifted(&points_G[i].coords, &self.chords[k].shifts[i])),
            [0, 1].map(|i| marks[i].map_or(none, |mark| direction(i, mark.place))),
        ))
    }

    /// Calls `visit` with the places in memory of the numbers of marks and laps, and the derivatives of those after the next
    /// commit along the last motion.
    pub(crate) fn next_memory(
        &mut self,
        cable: &Evaluated<'_, T>,
        mut visit: impl FnMut(usize, &[T; DIRECTIONS]),
    ) {
        let Evaluated { path, positions, results, grips, .. } = *cable;
        let mut strands = core::mem::take(&mut self.carried);
        let mut memory = core::mem::take(&mut self.memory);
        let length = self.last.map_or(Dual::of(results.length), |(_, length)| length);
        strands.clear();
        strands.extend(carried(&self.parts, length, |k| self.correction(k, cable)));
        let length_of = |segment: usize| {
            by_position(results.segments[segment].length, &self.path.change_of_length(segment))
        };
        let arc = |segment| arc_of(segment, cable, &self.path);
        let (solution, lengths) = ((results, positions), (length_of, arc));
        let own = (strands.iter().copied(), &*self.joints);
        remember(path, solution, own, lengths, (grips, &mut memory), |number, value| {
            visit(number, &value.slopes);
        });
        let mut visit = |numbers: &[usize], body: BodyIndex, change: &Matrix3x6<T>| {
            let change = positions.pose(body).rotation.inverse().matrix() * change;
            for (axis, &number) in numbers.iter().enumerate() {
                visit(number, &by_position(T::zero(), &change.row(axis).into_owned()).slopes);
            }
        };
        for (mark, motion) in path.marks(&memory, results).filter_map(|mark| Some((mark, self.path.motion?)))
        {
            let (of, body, segment) = (numbers_of_grip(mark.place), mark.hold.body, mark.arrivals().start);
            let [start, end] = self.path.change_after(segment).on_body;
            visit(of.start.coords.as_slice(), body, &start);
            visit(of.end.coords.as_slice(), body, &end);
            let directions = [(of.arriving, segment), (of.leaving, segment + 1)];
            for (numbers, i) in
                directions.into_iter().filter(|(_, i)| results.segments[*i].length > T::zero())
            {
                let mut change = self.path.changes[i];
                if motion == PathMotion::Body(body) {
                    // Relative to the body, which turns.
                    let mut turns = change.fixed_columns_mut::<3>(0);
                    turns += results.segments[i].direction_G.cross_matrix();
                }
                visit(numbers.as_slice(), body, &change);
            }
        }
        (self.carried, self.memory) = (strands, memory);
    }
}

/// The straight line between the ends of a strand.
#[derive(Debug)]
struct Chord<T: Real> {
    /// The places among the forces of the bodies of its ends.
    bodies: [usize; 2],
    /// The motions that shift its ends on their bodies.
    shifted_by: [StrandMotion; 2],
    /// The vectors from the bodies' origins to its ends.
    arms: [Vector3<T>; 2],
    /// The shifts of its ends along the last motion. Columns after the third belong to a body that is shifted with its
    /// origin.
    shifts: [Matrix3x6<T>; 2],
    direction: Vector3<T>,
    /// The inverse of its length; zero if it has no length.
    inverse_length: T,
    /// The relative velocity of its ends.
    velocity: Vector3<T>,
    /// The change of its direction along the last motion.
    change: Matrix3x6<T>,
}

impl<T: Real> Chord<T> {
    /// The line between the ends of a strand; without length if `is_chord` is false.
    fn new(
        of: &Ends<T>,
        is_chord: bool,
        path: &mut PathDerivatives<T>,
        (positions, velocities): (&Positions<T>, &Velocities<T>),
    ) -> Self {
        let Ends { bodies, points_G: points, direction_G, marks: [from, to], .. } = *of;
        let fixed = [PathMotion::Origin, PathMotion::Termination].map(StrandMotion::Path);
        let shifted_by = [
            from.map(|mark| numbers_of_grip(mark.place).end.x).map_or(fixed[0], StrandMotion::Memory),
            to.map(|mark| numbers_of_grip(mark.place).start.x).map_or(fixed[1], StrandMotion::Memory),
        ];
        let [from, to] = [0, 1].map(|k| velocities.velocity_of_point(positions, bodies[k], &points[k]));
        let bodies = bodies.map(|body| path.body(body, positions));
        // A wound strand is a point.
        let is_chord = is_chord && direction_G != Vector3::zeros();
        Self {
            bodies,
            shifted_by,
            arms: [0, 1].map(|k| path.forces()[bodies[k]].lever(&points[k])),
            shifts: [Matrix3x6::zeros(); 2],
            direction: if is_chord { direction_G } else { Vector3::zeros() },
            inverse_length: if is_chord { (points[1] - points[0]).norm().recip() } else { T::zero() },
            velocity: to - from,
            change: Matrix3x6::zeros(),
        }
    }

    /// Moves the chord with its ends; returns whether any of them moves.
    fn follow(&mut self, motion: StrandMotion, path: &PathDerivatives<T>, positions: &Positions<T>) -> bool {
        let mut is_moved = false;
        for (k, shift) in self.shifts.iter_mut().enumerate() {
            let body = path.forces()[self.bodies[k]].body;
            shift.fill(T::zero());
            let is_body = motion == StrandMotion::Path(PathMotion::Body(body));
            if is_body {
                shift.fixed_columns_mut::<3>(0).copy_from(&-self.arms[k].cross_matrix());
                shift.fixed_columns_mut::<3>(3).fill_with_identity();
            } else if motion == self.shifted_by[k] {
                shift.fixed_columns_mut::<3>(0).copy_from(positions.pose(body).rotation.matrix());
            }
            is_moved |= is_body || motion == self.shifted_by[k];
        }
        let apart = self.apart();
        let along = self.direction.transpose() * apart;
        self.change = (apart - self.direction * along) * self.inverse_length;
        is_moved
    }

    /// The shift of its end relative to its start.
    fn apart(&self) -> Matrix3x6<T> {
        self.shifts[1] - self.shifts[0]
    }

    /// The derivatives of its length, and its rate with derivatives.
    fn lengthen(
        &self,
        motion: StrandMotion,
        path: &PathDerivatives<T>,
        velocities: &Velocities<T>,
    ) -> (RowVector6<T>, Dual<T, DIRECTIONS>) {
        let direction = self.direction.transpose();
        let lengths = direction * self.apart();
        let spun = |k: usize| {
            let spin = velocities.velocity(path.forces()[self.bodies[k]].body).angular;
            spin.cross_matrix() * self.shifts[k].fixed_columns::<3>(0)
        };
        let mut rates = self.velocity.transpose() * self.change;
        let mut turns = rates.fixed_columns_mut::<3>(0);
        turns += direction * (spun(1) - spun(0));
        let moves = matches!(motion, StrandMotion::Path(PathMotion::Body(_)));
        let mut rate = Dual::of(self.direction.dot(&self.velocity));
        rate.slopes = joined(&rates, moves.then_some(&lengths));
        (lengths, rate)
    }
}

/// A number with its changes by position.
fn by_position<T: Real>(value: T, changes: &RowVector6<T>) -> Dual<T, DIRECTIONS> {
    Dual { value, slopes: joined(changes, None) }
}

/// A vector with its changes by position.
fn lifted<T: Real>(value: &Vector3<T>, change: &Matrix3x6<T>) -> Vector3<Dual<T, DIRECTIONS>> {
    Vector3::from_fn(|i, _| by_position(value[i], &change.row(i).into_owned()))
}

/// The turning, if there is friction, and the length of the contact at which a segment ends, with their changes as the path moves.
fn arc_of<T: Real>(
    segment: usize,
    cable: &Evaluated<'_, T>,
    path: &PathDerivatives<T>,
) -> [Dual<T, DIRECTIONS>; 2] {
    let known = arc(&cable.strands.turnings, cable.results, segment);
    if cable.results.segments[segment].to_contact.is_none() {
        return known.map(Dual::of);
    }
    let StopChange { turning, arc, .. } = path.change_after(segment);
    let turns = if known[0] > T::zero() { turning } else { RowVector6::zeros() };
    [by_position(known[0], &turns), by_position(known[1], &arc)]
}
