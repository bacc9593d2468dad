//! The memory of an integrator: the end of its last step, and the scales of errors.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::ComplexField;

use crate::math::{InvalidValue, Real, check, default_by_field};
use crate::simulation::Simulation;
use crate::simulation::energy::kinetic_energy;
use crate::simulation::layout::{BODY, Role};

/// The range of scales if the plant has none.
const AUTOMATIC: (f64, f64) = (1e-3, 1.0);

impl<T: Real> Simulation<'_, T> {
    /// The places of positions, orientations, velocities and angular velocities of bodies, each one vector, and of all
    /// other numbers one by one, with their role.
    fn groups(&self) -> impl Iterator<Item = (Range<usize>, Role)> {
        let coordinates_start = self.plant.coordinates_start();
        let bodies = (0..coordinates_start)
            .step_by(BODY)
            .flat_map(|start| [(0, 3), (3, 7), (7, 10), (10, BODY)].map(|(i, j)| start + i..start + j));
        let others = (coordinates_start..self.y.len()).map(|other| other..other + 1);
        bodies.chain(others).map(|places| (places.clone(), self.role(places.start)))
    }
}

/// The end of an integrator's last step, its choice of the next step length, and the scales of errors; see
/// [`Plant::set_scale`](super::Plant::set_scale).
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Memory<T> {
    /// `None` before the first step.
    next_step: Option<f64>,
    time: f64,
    motion: Vec<T>,
    /// The variables at the time when the integrator began with the simulation.
    origin: Vec<f64>,
    /// The largest magnitude of each group since that time.
    peaks: Vec<f64>,
}

default_by_field!(Memory { next_step, time, motion, origin, peaks });

/// The change of an angle per change of a number: a change of a quaternion is half an angle.
fn factor(role: Role) -> f64 {
    if role == Role::Orientation { 2.0 } else { 1.0 }
}

/// The factor of the origin from which the magnitude of a group is measured: velocities are measured from rest,
/// orientations from the nearer of two opposite quaternions, which are one orientation, and everything else from its
/// initial value.
fn sense<T: Real>(origin: &[f64], y: &[T], role: Role) -> f64 {
    match role {
        Role::Velocity => 0.0,
        Role::Orientation
            if y.iter().zip(origin).map(|(y, origin)| y.to_f64() * origin).sum::<f64>() < 0.0 =>
        {
            -1.0
        }
        _ => 1.0,
    }
}

fn magnitude<T: Real>(origin: &[f64], y: &[T], role: Role) -> f64 {
    let sense = sense(origin, y, role);
    let squares = y.iter().zip(origin).map(|(y, origin)| {
        let distance = y.to_f64() - sense * origin;
        distance * distance
    });
    factor(role) * ComplexField::sqrt(squares.sum::<f64>())
}

impl<T: Real> Memory<T> {
    /// The next step \[s\], if the simulation is at the end of the last step.
    pub(super) fn next_step(&self, simulation: &Simulation<'_, T>) -> Option<f64> {
        let is_there = self.time == simulation.time() && self.motion == simulation.motion();
        self.next_step.filter(|_| is_there)
    }

    /// Begins with the present point of a simulation, unless this is the end of the last step.
    pub(super) fn begin(&mut self, simulation: &Simulation<'_, T>, is_followed: bool) {
        let count = simulation.y.len();
        if !is_followed || self.origin.len() != count {
            self.origin.clear();
            self.origin.extend(simulation.y.iter().map(|y| y.to_f64()));
            self.peaks.clear();
        }
        let groups = simulation.groups().count();
        if self.peaks.len() != groups {
            self.peaks.clear();
            self.peaks.resize(groups, 0.0);
            self.keep_peaks(simulation);
        }
    }

    /// Stores the present point of the simulation, the end of an accepted step.
    pub(super) fn keep(&mut self, simulation: &Simulation<'_, T>, next_step: f64) {
        self.next_step = Some(next_step);
        self.time = simulation.time();
        self.motion.clear();
        self.motion.extend_from_slice(simulation.motion());
        self.keep_peaks(simulation);
    }

    fn keep_peaks(&mut self, simulation: &Simulation<'_, T>) {
        for (peak, (places, role)) in self.peaks.iter_mut().zip(simulation.groups()) {
            let y = &simulation.y[places.clone()];
            // Squares may overflow although the motion does not.
            *peak = peak.max(magnitude(&self.origin[places], y, role)).min(f64::MAX);
        }
    }

    /// The largest ratio of error to tolerance in a step to `after`; infinite if an error is not a number.
    pub(super) fn ratio(
        &self,
        simulation: &Simulation<'_, T>,
        accuracy: f64,
        after: &[T],
        error: impl Fn(usize) -> f64,
    ) -> f64 {
        let kinetic = kinetic_energy(simulation.plant, after).to_f64();
        let mut worst = 0.0_f64;
        for (&peak, (places, role)) in self.peaks.iter().zip(simulation.groups()) {
            let (origin, group) = (&self.origin[places.clone()], &after[places.clone()]);
            let (sense, factor) = (sense(origin, group, role), factor(role));
            let largest = peak.max(magnitude(origin, group, role));
            let scale = simulation.plant.scale.unwrap_or(largest.clamp(AUTOMATIC.0, AUTOMATIC.1));
            let mut squares = 0.0;
            for place in places {
                let [before, after] = [simulation.y[place], after[place]].map(T::to_f64);
                let distance = |y: f64| factor * (y - sense * self.origin[place]).abs();
                let magnitude = distance(before).max(distance(after));
                // A smaller error cannot be distinguished from rounding. An energy is exchanged with that of the motion,
                // whose rounding at a first touch may be far above the allowed error of an element that has absorbed
                // nothing yet.
                let size = if role == Role::Energy { after.abs().max(kinetic) } else { after.abs() };
                let rounding = T::default_epsilon().to_f64() * size;
                let allowed = (accuracy * (scale + magnitude)).max(rounding);
                let ratio = factor * error(place).abs() / allowed;
                squares += ratio * ratio;
            }
            worst = if squares.is_nan() { f64::INFINITY } else { worst.max(squares) };
        }
        ComplexField::sqrt(worst)
    }

    /// # Errors
    /// [`InvalidValue`] if it was deserialized and spoilt.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        check::positive("integrator.next_step", self.next_step.unwrap_or(1.0))?;
        self.origin.iter().try_for_each(|&y| check::finite("integrator.origin", y))?;
        self.peaks.iter().try_for_each(|&peak| check::nonnegative("integrator.peaks", peak))
    }
}
