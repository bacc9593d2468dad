//! Scales of a motion, relative to which error control works.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::ComplexField;

use crate::math::{InvalidValue, Real, check};
use crate::simulation::layout::{BODY, COORDINATE};
use crate::simulation::motion::Simulation;

/// The range of scales where the plant has none.
const AUTOMATIC: (f64, f64) = (1e-3, 1.0);

/// Variables that make up one vector or number.
struct Group {
    places: Range<usize>,
    /// Whether it is a quaternion, of which a change is half an angle.
    is_orientation: bool,
    is_velocity: bool,
}

impl Group {
    fn number(place: usize, is_velocity: bool) -> Self {
        Self { places: place..place + 1, is_orientation: false, is_velocity }
    }
}

impl<T: Real> Simulation<'_, T> {
    /// Positions, orientations, velocities and angular velocities of bodies; coordinates with their rates; all others.
    fn groups(&self) -> impl Iterator<Item = Group> {
        let (coordinates_start, energies_start) =
            (self.plant().coordinates_start(), self.plant().energies_start());
        let bodies = (0..coordinates_start).step_by(BODY).flat_map(|start| {
            [0..3, 3..7, 7..10, 10..13].map(|places| Group {
                is_orientation: places.start == 3,
                is_velocity: places.start >= 7,
                places: start + places.start..start + places.end,
            })
        });
        let coordinates = (coordinates_start..energies_start)
            .step_by(COORDINATE)
            .flat_map(|value| [Group::number(value, false), Group::number(value + 1, true)]);
        let others = (energies_start..self.variables().len()).map(|place| Group::number(place, false));
        bodies.chain(coordinates).chain(others)
    }
}

/// The norm of errors of a step, relative to what is allowed; see [`Plant::set_scale`](super::Plant::set_scale).
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ErrorNorm {
    /// The variables where the integrator began with the simulation.
    origin: Vec<f64>,
    /// The largest magnitude of each group since then.
    peaks: Vec<f64>,
}

impl ErrorNorm {
    /// Begins with the present point of a simulation, unless it follows the last step.
    pub(super) fn begin<T: Real>(&mut self, simulation: &Simulation<'_, T>, is_followed: bool) {
        if !is_followed || self.origin.len() != simulation.variables().len() {
            self.origin.clear();
            self.origin.extend(simulation.variables().iter().map(|y| y.to_f64()));
            self.peaks.clear();
        }
        if self.peaks.len() != simulation.groups().count() {
            self.peaks.clear();
            self.peaks.extend(simulation.groups().map(|_| 0.0));
            self.keep(simulation);
        }
    }

    /// Remembers the magnitudes at the end of an accepted step.
    pub(super) fn keep<T: Real>(&mut self, simulation: &Simulation<'_, T>) {
        for (i, group) in simulation.groups().enumerate() {
            self.peaks[i] = self.peaks[i].max(self.magnitude(&group, simulation.variables()));
        }
    }

    /// The largest ratio of error to tolerance in a step to `after`; infinite if an error is not a number.
    pub(super) fn ratio<T: Real>(
        &self,
        simulation: &Simulation<'_, T>,
        accuracy: f64,
        after: &[T],
        error: impl Fn(usize) -> f64,
    ) -> f64 {
        let before = simulation.variables();
        let mut worst = 0.0_f64;
        for (group, &peak) in simulation.groups().zip(&self.peaks) {
            let largest = peak.max(self.magnitude(&group, after));
            let scale = simulation.plant().scale.unwrap_or(largest.clamp(AUTOMATIC.0, AUTOMATIC.1));
            let (factor, sign) = (group.factor(), self.sign(&group, after));
            let mut squares = 0.0;
            for i in group.places.clone() {
                let distance = |y: &[T]| factor * (y[i].to_f64() - sign * self.origin[i]).abs();
                let magnitude = distance(before).max(distance(after));
                // Less cannot be told from rounding.
                let rounding = T::default_epsilon().to_f64() * after[i].to_f64().abs();
                let ratio = factor * error(i).abs() / (accuracy * (scale + magnitude)).max(rounding);
                squares += ratio * ratio;
            }
            if squares.is_nan() {
                return f64::INFINITY;
            }
            worst = worst.max(squares);
        }
        ComplexField::sqrt(worst)
    }

    fn magnitude<T: Real>(&self, group: &Group, y: &[T]) -> f64 {
        let sign = self.sign(group, y);
        let square = |i: usize| {
            let part = y[i].to_f64() - sign * self.origin[i];
            part * part
        };
        group.factor() * ComplexField::sqrt(group.places.clone().map(square).sum::<f64>())
    }

    /// The multiple of the origin from which magnitudes count: velocities from rest, orientations from the nearer of two
    /// opposite quaternions, which are one orientation.
    fn sign<T: Real>(&self, group: &Group, y: &[T]) -> f64 {
        let is_opposite = || group.places.clone().map(|i| y[i].to_f64() * self.origin[i]).sum::<f64>() < 0.0;
        if group.is_velocity {
            0.0
        } else if group.is_orientation && is_opposite() {
            -1.0
        } else {
            1.0
        }
    }

    /// # Errors
    /// [`InvalidValue`] if it was deserialized and spoilt.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        self.origin.iter().try_for_each(|&y| check::finite("integrator.origin", y))?;
        self.peaks.iter().try_for_each(|&peak| check::nonnegative("integrator.peaks", peak))
    }
}

impl Group {
    /// The change of an angle that a change of a number is.
    fn factor(&self) -> f64 {
        if self.is_orientation { 2.0 } else { 1.0 }
    }
}
