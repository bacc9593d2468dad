//! Derivatives of the forces and of the memory of the cable, and its branches.

use core::array::from_fn;

use nalgebra::{Matrix3, SMatrix, Vector3, Vector6};

use super::{CableSpring, Parameters, Position, StateParameters, has_friction};
use crate::cable::{
    Evaluated, PathMotion, Places, StrandDerivatives, StrandMotion, numbers_of_grip, numbers_of_lap,
};
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

    /// Whether forces and memory have derivatives in scope. The remembered path has none, since it only selects where the
    /// next search starts.
    pub(super) fn varies(at: &AtDynamics<'_, T, Self>, scope: Scope) -> [bool; 2] {
        [at.position.elongation != T::zero(), scope.commit && has_friction(at.parameters)]
    }

    /// Writes all derivatives in scope, so that each motion is followed only once.
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
        let first = first_of_grips(at);
        blocks.with_workspace(|blocks, derivatives: &mut StrandDerivatives<T>| {
            if !derivatives.find(cable) {
                if is_taut {
                    blocks.differences();
                }
                return;
            }
            let mut motions = 0..;
            while let Some(motion) = motions.next().and_then(|i| derivatives.motion(i)) {
                if !derivatives.along(cable, StrandMotion::Path(motion)) {
                    continue;
                }
                if is_taut {
                    add_forces(motion, derivatives, blocks);
                }
                // With friction no via point moves with a coordinate.
                if let (true, PathMotion::Body(by)) = (remembers, motion) {
                    derivatives.next_memory(cable, |number, slopes| {
                        let [by_position, by_velocity] = halves(slopes);
                        blocks.add_to(Row::Next(first + number), by, &by_position, &by_velocity);
                    });
                }
            }
            if !variables && !remembers {
                return;
            }
            let starts = [blocks.parameter(0), blocks.discrete(first)];
            for_each_variable(cable, at.parameters, starts, remembers, |motion, places, directions| {
                if !derivatives.along(cable, motion) {
                    return;
                }
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
                    derivatives.next_memory(cable, |number, slopes| {
                        let (row, [slopes, _]) = (Row::Next(first + number), halves(slopes));
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

/// The place in memory of the first number of marks and laps, which follow those of the path.
fn first_of_grips<T: Real>(at: &AtDynamics<'_, T, CableSpring<T>>) -> usize {
    let mut first = 0;
    at.discrete.wraps.visit(&mut |entry| first += usize::from(matches!(entry.value, Value::Number(_))));
    first
}

fn halves<T: Real>(slopes: &[T; 12]) -> [Vector6<T>; 2] {
    [0, 6].map(|first| Vector6::from_column_slice(&slopes[first..first + 6]))
}

/// Calls `along` with each motion that variables cause, the places of these variables, and the directions in which they
/// move the path. Parameters are counted from `first`, the numbers of marks and laps from `memory`. Directions of the
/// cable matter if it remembers.
fn for_each_variable<T: Real>(
    cable: &Evaluated<'_, T>,
    parameters: &StateParameters<T>,
    [first, memory]: [usize; 2],
    remembers: bool,
    mut along: impl FnMut(StrandMotion, &[usize], &[Vector6<T>]),
) {
    let axes: [Vector6<T>; 3] = from_fn(|axis| Vector6::ith(axis, T::one()));
    let next = for_each_place(&parameters.places, first, |motion, variables, directions| {
        along(StrandMotion::Path(motion), variables, directions);
    });
    let of = parameters.law.places(next);
    along(StrandMotion::Stiffness, &[of.stiffness], &axes);
    along(StrandMotion::SlackLength, &[of.slack_length], &axes);
    along(StrandMotion::Dissipation, &[of.dissipation], &axes);
    let friction = next + Parameters::<T>::COUNT;
    for obstacle in 0..cable.friction.len() {
        along(StrandMotion::Friction(obstacle), &[friction + obstacle], &axes);
    }
    for mark in cable.path.marks(cable.grips, cable.results) {
        let of = numbers_of_grip(mark.place);
        let points = [of.start.coords, of.end.coords].into_iter();
        for point in points.chain([of.arriving, of.leaving].into_iter().filter(|_| remembers)) {
            let variables: [usize; 3] = from_fn(|axis| memory + point[axis]);
            along(StrandMotion::Memory(point.x), &variables, &axes);
        }
        // For other marks, turnings at the last commit have no effect.
        let turning = Some(of.turning).filter(|_| !mark.is_same());
        for number in [of.before, of.after, of.share].into_iter().chain(turning) {
            along(StrandMotion::Memory(number), &[memory + number], &axes);
        }
    }
    let grips = cable.grips;
    for (i, _) in grips.laps.iter().enumerate().filter(|(_, lap)| lap.share > T::zero()) {
        let of = numbers_of_lap(grips.grips.len(), i);
        for number in [of.length, of.share] {
            along(StrandMotion::Memory(number), &[memory + number], &axes);
        }
    }
}

/// Calls `visit` with each motion of a path, the places of the numbers that cause it, counted from `first`, and the
/// directions in which they move the path. Returns the place after the last.
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

/// The rotation to which an entry of a rotation matrix contributes, row by row. Its sum over the entries, each times the
/// change of the entry under a rotation, is that rotation.
///
/// A rotation changes the columns `r` by `ω × r`, and `ω` is half the sum of `r × (ω × r)`.
fn turn_of_entry<T: Real>(R: &Matrix3<T>, entry: usize) -> Vector6<T> {
    let axis = Vector3::ith(entry / 3, T::lit(0.5));
    let turn = R.column(entry % 3).cross(&axis);
    Vector6::new(turn.x, turn.y, turn.z, T::zero(), T::zero(), T::zero())
}
