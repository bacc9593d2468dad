//! The motion that is lost because positions are rounded more coarsely than they change in a step.

use alloc::vec::Vec;

use crate::math::Real;
use crate::simulation::layout::{BODY, COORDINATE};
use crate::simulation::{Simulation, SimulationError};

/// The fraction of the motion, and of its scale, that may be lost.
const MOST: f64 = 1e-2;

/// Steps that move a position by fewer roundings than this count. A step that moves it by more loses half a rounding,
/// which is less than the fraction above. In short steps the mean velocity is accurate enough.
const FEW: f64 = 0.5 / MOST;

impl<T: Real> Simulation<'_, T> {
    /// Writes the motion lost up to the end of a step.
    ///
    /// # Errors
    /// [`SimulationError::PositionsTooCoarse`] if it is too much.
    pub(super) fn calc_lost(&self, time: f64, y: &[T], lost: &mut Vec<f64>) -> Result<(), SimulationError> {
        let plant = self.plant;
        let (coordinates_start, energies_start) = (plant.coordinates_start(), plant.energies_start());
        let of_bodies =
            (0..coordinates_start).step_by(BODY).flat_map(|start| (start..start + 3).map(|i| (i, i + 7)));
        let of_coordinates = (coordinates_start..energies_start).step_by(COORDINATE).map(|i| (i, i + 1));
        let start = &self.y;
        let half = 0.5 * (time - self.time());
        let scale = plant.scale.unwrap_or(1.0);
        lost.resize(energies_start, 0.0);
        for (place, rate) in of_bodies.chain(of_coordinates) {
            let [before, after] = [start[place], y[place]].map(T::to_f64);
            let moved = half * (start[rate] + y[rate]).to_f64();
            let rounding = T::default_epsilon().to_f64() * before.abs().max(after.abs());
            if moved.abs() < FEW * rounding {
                lost[place] += moved - (after - before);
                let most = MOST * (scale + (after - self.origin[place]).abs());
                if lost[place] > most || lost[place] < -most {
                    return Err(SimulationError::PositionsTooCoarse { time, lost: lost[place] });
                }
            }
        }
        Ok(())
    }
}
