//! Derivatives of the forces and of the memory of the cable.

use nalgebra::{SMatrix, Vector6};

use super::{CapstanCable, Position};
use crate::cable::{Evaluated, GripNumbers, OF_GRIP, PathMotion, Rubbing, StrandDerivatives, StrandMotion};
use crate::elements::cable_spring;
use crate::elements::linearized_path::{for_each_place, state_contacts};
use crate::framework::variables::{Value, Variables};
use crate::framework::{AtDynamics, Blocks, Row};
use crate::math::Real;

type At<'a, T> = AtDynamics<'a, T, CapstanCable<T>>;

impl<T: Real> CapstanCable<T> {
    pub(super) fn state_branches(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let cable_spring::Parameters { stiffness, slack_length, dissipation } = at.parameters.law.elastic;
        let Position { path, strands } = at.position;
        let zero = T::zero();
        if is_slack(at) {
            let longest =
                strands.all.iter().fold(zero, |most, strand| most.max(strand.length / strand.share));
            blocks.branch("slack", (slack_length - longest).max(zero), "m");
        } else {
            let taut = strands.all.iter().map(|strand| strand.elongation).filter(|x| *x > zero);
            blocks.branch("taut", taut.fold(T::lit(f64::INFINITY), T::min), "m");
            if dissipation > zero {
                let rates = &at.velocity.strand_rates;
                let pull = blocks.with_workspace(|_, derivatives: &mut StrandDerivatives<T>| {
                    derivatives.pull(strands, dissipation, rates)
                });
                let name = if pull > zero { "pulling" } else { "limp" };
                blocks.branch(name, pull.abs() / dissipation, "m/s");
            }
        }
        state_contacts(&self.path, path, blocks);
        for (obstacle, rubbing) in strands.rubbing(&self.path, &at.discrete.grips) {
            match rubbing {
                Rubbing::Slips(share) => blocks.branch_of(obstacle, "slipping", share * path.length, "m"),
                Rubbing::Sticks(elongation) if elongation.is_finite() => {
                    blocks.branch_of(obstacle, "sticking", elongation * stiffness, "N");
                }
                Rubbing::Sticks(_) => {}
            }
        }
    }

    /// Writes the derivatives of the forces by motion.
    pub(super) fn linearize_force(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        if is_slack(at) {
            return;
        }
        self.derive(at, blocks, |cable, derivatives, blocks| {
            for_each_motion(cable, derivatives, |motion, derivatives| match motion {
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
            });
            true
        });
    }

    /// Writes the derivatives of the forces by parameters and memory.
    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        if is_slack(at) {
            return;
        }
        self.derive(at, blocks, |cable, derivatives, blocks| {
            for_each_variable(at, cable, derivatives, blocks, |derivatives, blocks, variable, direction| {
                for (on, [change, _]) in derivatives.forces() {
                    blocks.add_by_variable(on, variable, &(change * direction));
                }
                for (on, [change, _]) in derivatives.coordinate_forces() {
                    blocks.add_by_variable(on, variable, &(change * direction));
                }
            });
            true
        });
    }

    /// Writes the derivatives of the next marks and laps. What is remembered of the path is where the next search starts: it has
    /// none.
    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        if at.parameters.law.friction.iter().all(|mu| *mu <= T::zero()) {
            return;
        }
        let first = numbers(&at.discrete.wraps);
        self.derive(at, blocks, |cable, derivatives, blocks| {
            for_each_motion(cable, derivatives, |motion, derivatives| {
                derivatives.next_memory(cable, |number, slopes| {
                    let row = Row::Next(first + number);
                    match motion {
                        PathMotion::Body(by) => {
                            let [by_position, by_velocity] = halves(slopes);
                            blocks.add_to(row, by, &by_position, &by_velocity);
                        }
                        PathMotion::Coordinate(by) => {
                            let [by_position, by_rate] = [slopes[0], slopes[6]].map(SMatrix::<T, 1, 1>::new);
                            blocks.add_to(row, by, &by_position, &by_rate);
                        }
                        _ => {}
                    }
                });
            });
            for_each_variable(at, cable, derivatives, blocks, |derivatives, blocks, variable, direction| {
                derivatives.next_memory(cable, |number, slopes| {
                    let slope = halves(slopes)[0].dot(direction);
                    blocks.add_to_by_variable(Row::Next(first + number), variable, slope);
                });
            });
            true
        });
    }

    /// Writes derivatives, or asks for differences if they are not known.
    fn derive(
        &self,
        at: &At<'_, T>,
        blocks: &mut Blocks<'_, T>,
        write: impl FnOnce(&Evaluated<'_, T>, &mut StrandDerivatives<T>, &mut Blocks<'_, T>) -> bool,
    ) {
        let super::Parameters { elastic, friction } = &at.parameters.law;
        let cable_spring::Parameters { stiffness, slack_length, dissipation } = *elastic;
        let cable = Evaluated {
            placed: self.path.at(&at.parameters.places),
            positions: at.positions,
            velocities: at.velocities,
            results: &at.position.path,
            strands: &at.position.strands,
            grips: &at.discrete.grips,
            friction,
            elastic: [stiffness, slack_length, dissipation],
            length_rate: at.velocity.length_rate,
        };
        let is_known = blocks.with_workspace(|blocks, derivatives: &mut StrandDerivatives<T>| {
            derivatives.find(&cable) && write(&cable, derivatives, blocks)
        });
        if !is_known {
            blocks.differences();
        }
    }
}

/// Whether no strand is taut. Then no force depends on anything.
fn is_slack<T: Real>(at: &At<'_, T>) -> bool {
    at.position.strands.all.iter().all(|strand| strand.elongation == T::zero())
}

/// The number of numbers of variables.
fn numbers<T: Real>(variables: &impl Variables<T>) -> usize {
    let mut count = 0;
    variables.visit(&mut |entry| {
        if let Value::Number(_) = entry.value {
            count += 1;
        }
    });
    count
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

/// Calls `visit` for each variable, along the motion that it makes, with its direction of that.
fn for_each_variable<T: Real>(
    at: &At<'_, T>,
    cable: &Evaluated<'_, T>,
    derivatives: &mut StrandDerivatives<T>,
    blocks: &mut Blocks<'_, T>,
    mut visit: impl FnMut(&mut StrandDerivatives<T>, &mut Blocks<'_, T>, usize, &Vector6<T>),
) {
    let mut along = |motion, first: usize, directions: &[Vector6<T>]| {
        if derivatives.along(cable, motion) {
            for (i, direction) in directions.iter().enumerate() {
                visit(derivatives, blocks, first + i, direction);
            }
        }
    };
    let axis = |i| Vector6::ith(i, T::one());
    let axes = [axis(0), axis(1), axis(2)];
    let parameters = 1;
    let mut number = for_each_place(&at.parameters.places, |motion, number, directions| {
        along(StrandMotion::Path(motion), parameters + number, directions);
    });
    let friction = (0..cable.friction.len()).map(StrandMotion::Friction);
    let elastic = [StrandMotion::Stiffness, StrandMotion::SlackLength, StrandMotion::Dissipation];
    for motion in elastic.into_iter().chain(friction) {
        along(motion, parameters + number, &axes[..1]);
        number += 1;
    }
    let grips = parameters + number + numbers(&at.discrete.wraps);
    let marks = cable.grips.places.iter().enumerate().filter(|(_, grip)| grip.in_contact);
    for (place, _) in marks {
        let mut number = grips + OF_GRIP * place;
        for part in [
            GripNumbers::Start,
            GripNumbers::End,
            GripNumbers::Before,
            GripNumbers::After,
            GripNumbers::Share,
        ] {
            let count = if matches!(part, GripNumbers::Start | GripNumbers::End) { 3 } else { 1 };
            along(StrandMotion::Grip(place, part), number, &axes[..count]);
            number += count;
        }
    }
    let laps = grips + OF_GRIP * cable.grips.places.len();
    for lap in (0..cable.grips.laps.len()).filter(|&lap| cable.grips.laps[lap].share > T::zero()) {
        for number in 0..2 {
            along(StrandMotion::Lap(lap, number), laps + 2 * lap + number, &axes[..1]);
        }
    }
}
