//! Derivatives of the forces of an elastic cable, by motion and by parameters.

use nalgebra::{RowVector6, SMatrix, Vector6};

use super::{CableSpring, Parameters, tension};
use crate::cable::{PathDerivatives, PathMotion};
use crate::elements::linearized_path::for_each_place;
use crate::framework::{AtDynamics, Blocks};
use crate::math::{Dual, Real, SpatialForce};
use crate::mechanics::BodyIndex;

/// A taut cable: its path, its tension, and the derivatives of that.
struct Taut<'a, T: Real> {
    at: &'a AtDynamics<'a, T, CableSpring<T>>,
    path: &'a mut PathDerivatives<T>,
    tension: T,
    by_length: T,
    by_rate: T,
    by_stiffness: T,
    by_dissipation: T,
}

/// Changes of length and tension in the directions of a motion.
struct Change<T: Real> {
    lengths: RowVector6<T>,
    tensions: RowVector6<T>,
}

impl<T: Real> CableSpring<T> {
    /// Writes the derivatives by motion.
    pub(super) fn linearize_force(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.write(at, blocks, |taut, blocks| {
            for j in 0..taut.path.forces().len() {
                let by = taut.path.forces()[j].body;
                if by != BodyIndex::GROUND
                    && let Some(change) = taut.along(PathMotion::Body(by))
                {
                    let of_rates = change.lengths * taut.by_rate;
                    for on in taut.path.forces() {
                        let u = components(&on.force);
                        let by_position = on.change * taut.tension + u * change.tensions;
                        blocks.add(on.body, by, &by_position, &(u * of_rates));
                    }
                    for on in taut.path.coordinate_forces() {
                        let by_position = on.change * taut.tension + change.tensions * on.force;
                        blocks.add(on.coordinate, by, &by_position, &(of_rates * on.force));
                    }
                }
            }
            for j in 0..taut.path.coordinate_forces().len() {
                let by = taut.path.coordinate_forces()[j].coordinate;
                if let Some(change) = taut.along(PathMotion::Coordinate(by)) {
                    let of_rate = change.lengths[0] * taut.by_rate;
                    for on in taut.path.forces() {
                        let u = components(&on.force);
                        let by_position = on.change.column(0) * taut.tension + u * change.tensions[0];
                        blocks.add(on.body, by, &by_position, &(u * of_rate));
                    }
                    for on in taut.path.coordinate_forces() {
                        let by_position = on.change[0] * taut.tension + on.force * change.tensions[0];
                        let [by_position, by_rate] =
                            [by_position, on.force * of_rate].map(|entry| SMatrix::<T, 1, 1>::new(entry));
                        blocks.add(on.coordinate, by, &by_position, &by_rate);
                    }
                }
            }
            true
        });
    }

    /// Writes the derivatives by parameters, in their order.
    pub(super) fn linearize_force_by_parameters(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        self.write(at, blocks, |taut, blocks| {
            let mut number = for_each_place(&at.parameters.places, |motion, first, directions| {
                if let Some(change) = taut.along(motion) {
                    for (i, direction) in directions.iter().enumerate() {
                        taut.write_along(blocks, first + i, &change, direction);
                    }
                }
            });
            for tension in [taut.by_stiffness, -taut.by_length, taut.by_dissipation] {
                taut.write_tension(blocks, number, tension);
                number += 1;
            }
            true
        });
    }

    /// Writes derivatives of a taut cable, or asks for differences if they are not known. Those of a slack one are zero.
    fn write(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
        derivatives: impl FnOnce(&mut Taut<'_, T>, &mut Blocks<'_, T>) -> bool,
    ) {
        let elongation = at.position.elongation;
        if elongation == T::zero() {
            return;
        }
        let Parameters { stiffness, dissipation, .. } = at.parameters.law;
        let [elastic, damping] = tension(
            Dual::<T, 4>::variable(elongation, 0),
            Dual::variable(at.velocity.length_rate, 1),
            Dual::variable(stiffness, 2),
            Dual::variable(dissipation, 3),
        );
        let Dual { value: tension, slopes: [by_length, by_rate, by_stiffness, by_dissipation] } =
            elastic + damping;
        let is_known = blocks.with_workspace(|blocks, path: &mut PathDerivatives<T>| {
            let placed = self.path.at(&at.parameters.places);
            path.find(&placed, at.positions, &at.position.path)
                && derivatives(
                    &mut Taut { at, path, tension, by_length, by_rate, by_stiffness, by_dissipation },
                    blocks,
                )
        });
        if !is_known {
            blocks.differences();
        }
    }
}

impl<T: Real> Taut<'_, T> {
    /// The changes along a motion of the path; `None` if nothing of it moves.
    fn along(&mut self, motion: PathMotion) -> Option<Change<T>> {
        let lengths = self.path.along(motion)?;
        let rates = self.path.rates(self.at.velocities);
        Some(Change { lengths, tensions: lengths * self.by_length + rates * self.by_rate })
    }

    /// Writes the derivative by a parameter with which the path changes so much in each direction.
    fn write_along(
        &self,
        blocks: &mut Blocks<'_, T>,
        parameter: usize,
        change: &Change<T>,
        directions: &Vector6<T>,
    ) {
        let variable = blocks.parameter(parameter);
        let tension = change.tensions.tr_dot(directions);
        for on in self.path.forces() {
            let derivative = on.change * directions * self.tension + components(&on.force) * tension;
            blocks.add_by_variable(on.body, variable, &derivative);
        }
        for on in self.path.coordinate_forces() {
            let derivative = on.change.tr_dot(directions) * self.tension + on.force * tension;
            blocks.add_by_variable(on.coordinate, variable, &SMatrix::<T, 1, 1>::new(derivative));
        }
    }

    /// Writes the derivative by a parameter of which the tension has this derivative.
    fn write_tension(&self, blocks: &mut Blocks<'_, T>, parameter: usize, tension: T) {
        let variable = blocks.parameter(parameter);
        for on in self.path.forces() {
            blocks.add_by_variable(on.body, variable, &(components(&on.force) * tension));
        }
        for on in self.path.coordinate_forces() {
            blocks.add_by_variable(on.coordinate, variable, &SMatrix::<T, 1, 1>::new(on.force * tension));
        }
    }
}

/// Torque and force.
fn components<T: Real>(force: &SpatialForce<T>) -> Vector6<T> {
    let (torque, force) = (&force.torque, &force.force);
    Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z)
}
