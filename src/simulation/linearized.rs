//! Derivatives of accelerations, and of rates of elements' variables, from the linearization of the forces.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Vector3};

use crate::framework::VariableVector;
use crate::math::{Real, SpatialVelocity};
use crate::mechanics::{Forces, Variation};
use crate::simulation::layout::{BODY, COORDINATE, vector};
use crate::simulation::{Simulation, SimulationError};

impl<T: Real> Simulation<'_, T> {
    /// The derivatives of the rates of the unknowns by the unknowns, column by column, at `y`, where the rates were
    /// calculated last. The unknowns are velocities and variables of elements; positions are displaced by `displacement`
    /// and `weight` times the velocities.
    pub(super) fn linearized_rates(
        &mut self,
        y: &[T],
        displacement: &[T],
        weight: f64,
        unknowns: &[usize],
    ) -> Result<Vec<T>, SimulationError> {
        let own_start = self.own_start();
        let has_own = unknowns.iter().any(|&unknown| unknown >= own_start);
        let (at, linearization) = self.linearized(has_own)?;
        let mut variables = VariableVector::zeros(self.state());
        let mut own_rates = variables.clone();
        let own_places: Vec<usize> = variables.continuous_places().collect();
        let plant = self.plant;
        let weight = T::lit(weight);
        let topology = linearization.topology().clone();
        let (mut motion, mut velocity) = (Variation::zeros(&topology), Variation::zeros(&topology));
        let mut forces = Forces::zeros(&topology);
        let coordinates_start = plant.coordinates_start();
        let mut entries = Vec::with_capacity(unknowns.len() * unknowns.len());
        for &unknown in unknowns {
            motion.set_zero();
            velocity.set_zero();
            variables.set_zero();
            let axis = Vector3::ith((unknown % BODY + 2) % 3, T::one());
            // The body that turns, and its turn in Ground.
            let mut turned = None;
            if unknown >= own_start {
                variables.numbers_mut()[own_places[unknown - own_start]] = T::one();
            } else if unknown >= coordinates_start {
                let coordinate = plant.coordinate_indices[(unknown - coordinates_start) / COORDINATE];
                *motion.coordinate_mut(coordinate) = weight;
                *velocity.coordinate_mut(coordinate) = T::one();
            } else {
                let i = unknown / BODY;
                let index = plant.body_indices[i];
                if unknown % BODY < 10 {
                    *motion.body_mut(index) = SpatialVelocity::new(Vector3::zeros(), axis * weight);
                    *velocity.body_mut(index) = SpatialVelocity::new(Vector3::zeros(), axis);
                } else {
                    let R_GB = self.state().positions().pose(index).rotation;
                    let w_B = vector(&y[i * BODY + 10..]);
                    let turn = vector(&displacement[i * BODY + 10..]) + w_B * weight;
                    let by_turn = R_GB * (right_jacobian(&turn) * axis * weight);
                    let (r, w) = (R_GB * plant.bodies[i].center().coords, R_GB * w_B);
                    let (by_r, by_w) = (by_turn.cross(&r), R_GB * axis + by_turn.cross(&w));
                    *motion.body_mut(index) = SpatialVelocity::new(by_turn, -by_r);
                    *velocity.body_mut(index) = SpatialVelocity::new(by_w, -by_w.cross(&r) - w.cross(&by_r));
                    turned = Some((i, axis, by_turn));
                }
            }
            let own = has_own.then_some((&variables, &mut own_rates));
            linearization.apply(&motion, &velocity, &mut forces, own)?;
            for &row in unknowns {
                entries.push(if row >= own_start {
                    own_rates.numbers()[own_places[row - own_start]]
                } else if row >= coordinates_start {
                    let place = (row - coordinates_start) / COORDINATE;
                    forces.coordinate(plant.coordinate_indices[place]) / plant.masses[place]
                } else {
                    let i = row / BODY;
                    let (index, body) = (plant.body_indices[i], &plant.bodies[i]);
                    let component = (row % BODY + 2) % 3;
                    let change = forces.body(index);
                    if row % BODY < 10 {
                        change.force[component] / body.mass()
                    } else {
                        let R_GB = self.state().positions().pose(index).rotation;
                        let r = R_GB * body.center().coords;
                        let mut torque_G = change.torque - r.cross(&change.force);
                        let mut torque_B = Vector3::zeros();
                        if let Some((turned, axis, by_turn)) = turned
                            && turned == i
                        {
                            let load = *at.body(index) + plant.body_loads[i];
                            let at_center = load.torque - r.cross(&load.force);
                            torque_G -= by_turn.cross(&r).cross(&load.force) + by_turn.cross(&at_center);
                            let w_B = vector(&y[i * BODY + 10..]);
                            let momentum = body.inertia() * w_B;
                            torque_B -= axis.cross(&momentum) + w_B.cross(&(body.inertia() * axis));
                        }
                        (body.inverse_inertia * (R_GB.inverse() * torque_G + torque_B))[component]
                    }
                });
            }
        }
        Ok(entries)
    }
}

/// The turn of `exp(θ)` in its own frame for a change of `θ`.
fn right_jacobian<T: Real>(turn: &Vector3<T>) -> Matrix3<T> {
    let angle = turn.norm();
    let cross = turn.cross_matrix();
    let half = angle * T::lit(0.5);
    // (1 − cos θ)/θ² and (θ − sin θ)/θ³.
    let (first, second) = if angle < T::lit(1e-3) {
        (T::lit(0.5), T::lit(1.0 / 6.0))
    } else {
        let ratio = half.sin() / half;
        (T::lit(0.5) * ratio * ratio, (angle - angle.sin()) / (angle * angle * angle))
    };
    Matrix3::identity() - cross * first + cross * cross * second
}
