//! Derivatives of the forces and of the memory of the cable, and its branches.

use core::array::from_fn;

use nalgebra::{Matrix3, SMatrix, Vector3, Vector6};

use super::{CableSpring, Parameters, Position, has_friction};
use crate::cable::{Evaluated, Grip, Lap, PathMotion, Places, StrandDerivatives, StrandMotion};
use crate::framework::variables::{Numbers, Value, Variables};
use crate::framework::{AtDynamics, Blocks, Row, Scope};
use crate::math::Real;

impl<T: Real> CableSpring<T> {
    pub(super) fn state_branches(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let Parameters { stiffness, slack_length, dissipation } = at.parameters.law;
        let Position { path, strands, elongation } = at.position;
        let zero = T::zero();
        let has_friction = !strands.all.is_empty();
        if *elongation == zero {
            let longest = strands.longest().unwrap_or(path.length);
            blocks.branch("slack", (slack_length - longest).max(zero), "m");
        } else {
            let taut = strands.all.iter().map(|strand| strand.elongation).filter(|x| *x > zero);
            blocks.branch("taut", taut.fold(*elongation, T::min), "m");
            if dissipation > zero {
                let margin = if has_friction {
                    let rates = &at.velocity.strand_rates;
                    blocks.with_workspace(|_, derivatives: &mut StrandDerivatives<T>| {
                        derivatives.pull(strands, dissipation, rates) / dissipation
                    })
                } else {
                    at.velocity.length_rate + dissipation.recip()
                };
                blocks.branch(if margin > zero { "pulling" } else { "limp" }, margin.abs(), "m/s");
            }
        }
        for contact in &path.contacts {
            let Some(obstacle) = self.path.obstacles().get(contact.obstacle) else { continue };
            let name = if contact.in_contact { "in contact" } else { "free" };
            if let Some(margin) = contact.margin(obstacle.surface()) {
                blocks.branch_of((contact.obstacle, 1), name, margin, "m");
            }
        }
        for (obstacle, slips, margin) in strands.friction_states() {
            if slips {
                blocks.branch_of((obstacle, 1), "slipping", margin * path.length, "m");
            } else if margin.is_finite() {
                blocks.branch_of((obstacle, 1), "sticking", margin * stiffness, "N");
            }
        }
    }

    /// Whether forces and memory have derivatives in scope. The remembered path only selects where the next search starts.
    pub(super) fn varies(at: &AtDynamics<'_, T, Self>, scope: Scope) -> [bool; 2] {
        [at.position.elongation != T::zero(), scope.commit && has_friction(at.parameters)]
    }

    /// Writes everything in scope, so that each motion is followed once.
    pub(super) fn linearize_in_scope(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let Parameters { stiffness, slack_length, dissipation } = at.parameters.law;
        let cable = &Evaluated {
            path: &self.path,
            positions: at.positions,
            velocities: at.velocities,
            results: &at.position.path,
            strands: &at.position.strands,
            grips: &at.discrete.grips,
            friction: &at.parameters.friction,
            elastic: [stiffness, slack_length, dissipation],
            length_rate: at.velocity.length_rate,
        };
        let [is_taut, remembers] = Self::varies(at, blocks.scope());
        if !is_taut && !remembers {
            return;
        }
        let variables = blocks.scope().variables && is_taut;
        let place = places_in_memory(at, 0);
        blocks.with_workspace(|blocks, derivatives: &mut StrandDerivatives<T>| {
            if !derivatives.find(cable) {
                if is_taut {
                    blocks.differences();
                }
                return;
            }
            for_each_motion(cable, derivatives, |motion, derivatives| {
                if is_taut {
                    add_forces(motion, derivatives, blocks);
                }
                if remembers {
                    derivatives.next_memory(cable, |number, axis, slopes| {
                        let row = Row::Next(place(number, axis));
                        match motion {
                            PathMotion::Body(by) => {
                                let [by_position, by_velocity] = halves(slopes);
                                blocks.add_to(row, by, &by_position, &by_velocity);
                            }
                            PathMotion::Coordinate(by) => {
                                let [by_position, by_rate] =
                                    [slopes[0], slopes[6]].map(SMatrix::<T, 1, 1>::new);
                                blocks.add_to(row, by, &by_position, &by_rate);
                            }
                            _ => {}
                        }
                    });
                }
            });
            if !variables && !remembers {
                return;
            }
            for_each_variable(at, cable, derivatives, blocks, |derivatives, blocks, places, directions| {
                if variables {
                    for (on, [change, _]) in derivatives.forces() {
                        for (&variable, along) in places.iter().zip(directions) {
                            blocks.add_by_variables(on, variable, &[change * along]);
                        }
                    }
                    for (on, [change, _]) in derivatives.coordinate_forces() {
                        for (&variable, along) in places.iter().zip(directions) {
                            blocks.add_by_variables(on, variable, &[change * along]);
                        }
                    }
                }
                if remembers {
                    derivatives.next_memory(cable, |number, axis, slopes| {
                        let (row, [slopes, _]) = (Row::Next(place(number, axis)), halves(slopes));
                        for (&variable, along) in places.iter().zip(directions) {
                            blocks.add_to_by_variables(row, variable, &[slopes.dot(along)]);
                        }
                    });
                }
            });
        });
    }

    /// Requests finite differences of what varies, if [`linearize_in_scope`](Self::linearize_in_scope) has not found its
    /// derivatives.
    pub(super) fn differences_if_unknown(varies: bool, blocks: &mut Blocks<'_, T>) {
        if varies && !blocks.with_workspace(|_, derivatives: &mut StrandDerivatives<T>| derivatives.is_known)
        {
            blocks.differences();
        }
    }
}

/// Writes the derivatives of the forces by the motion of a body or coordinate.
fn add_forces<T: Real>(motion: PathMotion, derivatives: &StrandDerivatives<T>, blocks: &mut Blocks<'_, T>) {
    match motion {
        PathMotion::Body(by) => {
            for (on, [by_position, by_velocity]) in derivatives.forces() {
                blocks.add(on, by, by_position, by_velocity);
            }
            for (on, [by_position, by_velocity]) in derivatives.coordinate_forces() {
                blocks.add(on, by, by_position, by_velocity);
            }
        }
        PathMotion::Coordinate(by) => {
            for (on, changes) in derivatives.forces() {
                let [by_position, by_rate] = changes.map(|change| change.column(0).into_owned());
                blocks.add(on, by, &by_position, &by_rate);
            }
            for (on, changes) in derivatives.coordinate_forces() {
                let [by_position, by_rate] = changes.map(|change| SMatrix::<T, 1, 1>::new(change[0]));
                blocks.add(on, by, &by_position, &by_rate);
            }
        }
        _ => {}
    }
}

/// The places of the numbers of marks and laps in a memory that begins at `first`, and for a point of its components. For a
/// number that is not remembered, a place that does not exist.
fn places_in_memory<T: Real>(
    at: &AtDynamics<'_, T, CableSpring<T>>,
    first: usize,
) -> impl Fn(StrandMotion, usize) -> usize + use<T> {
    let mut grips = first;
    at.discrete.wraps.visit(&mut |entry| grips += usize::from(matches!(entry.value, Value::Number(_))));
    let laps = grips + Grip::<T>::COUNT * at.discrete.grips.grips.len();
    move |number, axis| {
        let grip = |i: usize| Grip::<f64>::default().places(grips + Grip::<f64>::COUNT * i);
        match number {
            StrandMotion::Start(i) => grip(i).start[axis],
            StrandMotion::End(i) => grip(i).end[axis],
            StrandMotion::Before(i) => grip(i).before,
            StrandMotion::After(i) => grip(i).after,
            StrandMotion::Share(i) => grip(i).share,
            StrandMotion::Turning(i) => grip(i).turning,
            StrandMotion::Arriving(i) => grip(i).arriving[axis],
            StrandMotion::Leaving(i) => grip(i).leaving[axis],
            StrandMotion::Lap(i, number) => {
                let of = Lap::<f64>::default().places(laps + Lap::<f64>::COUNT * i);
                [of.length, of.share][number]
            }
            _ => usize::MAX,
        }
    }
}

fn halves<T: Real>(slopes: &[T; 12]) -> [Vector6<T>; 2] {
    [0, 6].map(|first| Vector6::from_column_slice(&slopes[first..first + 6]))
}

/// Calls `visit` along each motion of bodies and coordinates.
fn for_each_motion<T: Real>(
    cable: &Evaluated<'_, T>,
    derivatives: &mut StrandDerivatives<T>,
    mut visit: impl FnMut(PathMotion, &mut StrandDerivatives<T>),
) {
    let mut i = 0;
    while let Some(motion) = derivatives.motion(i) {
        if derivatives.along(cable, StrandMotion::Path(motion)) {
            visit(motion, derivatives);
        }
        i += 1;
    }
}

/// Calls `visit` along each motion that variables cause, with these and the directions in which they move it.
fn for_each_variable<T: Real>(
    at: &AtDynamics<'_, T, CableSpring<T>>,
    cable: &Evaluated<'_, T>,
    derivatives: &mut StrandDerivatives<T>,
    blocks: &mut Blocks<'_, T>,
    mut visit: impl FnMut(&mut StrandDerivatives<T>, &mut Blocks<'_, T>, &[usize], &[Vector6<T>]),
) {
    let (first, place) = (blocks.parameter(0), places_in_memory(at, blocks.discrete(0)));
    let remembers = blocks.scope().commit;
    let mut along = |motion, variables: &[usize], directions: &[Vector6<T>]| {
        if derivatives.along(cable, motion) {
            visit(derivatives, blocks, variables, directions);
        }
    };
    let axes: [Vector6<T>; 3] = from_fn(|axis| Vector6::ith(axis, T::one()));
    let law = for_each_place(&at.parameters.places, first, |motion, variables, directions| {
        along(StrandMotion::Path(motion), variables, directions);
    });
    let of = at.parameters.law.places(law);
    along(StrandMotion::Stiffness, &[of.stiffness], &axes);
    along(StrandMotion::SlackLength, &[of.slack_length], &axes);
    along(StrandMotion::Dissipation, &[of.dissipation], &axes);
    let friction = law + Parameters::<T>::COUNT;
    for obstacle in 0..cable.friction.len() {
        along(StrandMotion::Friction(obstacle), &[friction + obstacle], &axes);
    }
    for mark in cable.path.marks(cable.grips, cable.results) {
        let points = [StrandMotion::Start(mark.place), StrandMotion::End(mark.place)];
        // Directions matter for the next memory alone.
        let directions = [StrandMotion::Arriving(mark.place), StrandMotion::Leaving(mark.place)];
        for motion in points.into_iter().chain(directions.into_iter().filter(|_| remembers)) {
            along(motion, &[0, 1, 2].map(|axis| place(motion, axis)), &axes);
        }
        for motion in StrandMotion::numbers_of_mark(mark.place) {
            // Elsewhere turnings at the last commit have no effect.
            if !(matches!(motion, StrandMotion::Turning(_)) && mark.is_same()) {
                along(motion, &[place(motion, 0)], &axes);
            }
        }
    }
    for (i, _) in cable.grips.laps.iter().enumerate().filter(|(_, lap)| lap.share > T::zero()) {
        for motion in [StrandMotion::Lap(i, 0), StrandMotion::Lap(i, 1)] {
            along(motion, &[place(motion, 0)], &axes);
        }
    }
}

/// Calls `visit` with each motion of a path, the places of the numbers that cause it (the first of all is `first`), and
/// the directions in which they move the path; returns the place after the last.
fn for_each_place<T: Real>(
    places: &Places<T>,
    first: usize,
    mut visit: impl FnMut(PathMotion, &[usize], &[Vector6<T>]),
) -> usize {
    let mut next = first;
    let axes: [Vector6<T>; 6] = from_fn(|axis| Vector6::ith(axis, T::one()));
    let points = [PathMotion::Origin, PathMotion::Termination].into_iter();
    for point in points.chain((0..places.via_points.len()).map(PathMotion::ViaPoint)) {
        let axis_places: [usize; 3] = from_fn(|axis| next + axis);
        visit(point, &axis_places, &axes[..3]);
        next += axis_places.len();
    }
    for (k, place) in places.obstacles.iter().enumerate() {
        let R = place.X_BS.rotation.matrix();
        let turns: [_; 9] = from_fn(|entry| turn_of_entry(R, entry));
        // The entries of the rotation row by row, then the position.
        let numbers: [_; 12] = from_fn(|i| next + i);
        let directions: [_; 12] = from_fn(|i| if i < 9 { turns[i] } else { axes[3 + i - 9] });
        visit(PathMotion::Obstacle(k), &numbers, &directions);
        visit(PathMotion::Scale(k), &[next + 12], &axes[..1]);
        next += 13;
    }
    next
}

/// The rotation to which an entry of a rotation matrix contributes, row by row: sums along rotations are those of the
/// rotations.
///
/// A rotation changes the columns `r` by `ω × r`, and `ω` is half the sum of `r × (ω × r)`.
fn turn_of_entry<T: Real>(R: &Matrix3<T>, entry: usize) -> Vector6<T> {
    let axis = Vector3::ith(entry / 3, T::lit(0.5));
    let turn = R.column(entry % 3).cross(&axis);
    Vector6::new(turn.x, turn.y, turn.z, T::zero(), T::zero(), T::zero())
}
