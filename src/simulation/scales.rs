//! Scales of a motion, relative to which error control works.

use alloc::vec::Vec;

use nalgebra::ComplexField;

use crate::math::{InvalidValue, Real, check};
use crate::simulation::layout::{BODY, COORDINATE};
use crate::simulation::motion::Simulation;

/// The range of scales where the plant has none.
const AUTOMATIC: (f64, f64) = (1e-3, 1.0);

/// What the numbers of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// They count from where they were.
    Displacement,
    /// A quaternion, of which a change is half an angle.
    Orientation,
    /// They count from rest.
    Velocity,
}

/// Is shown groups of `N` variables that make up one vector or number.
trait Groups {
    fn group<const N: usize>(&mut self, start: usize, role: Role);
}

impl<T: Real> Simulation<'_, T> {
    /// Shows positions, orientations, velocities and angular velocities of bodies; coordinates with their rates; all others.
    #[inline]
    fn show_groups(&self, groups: &mut impl Groups) {
        let (coordinates_start, energies_start) =
            (self.plant().coordinates_start(), self.plant().energies_start());
        for start in (0..coordinates_start).step_by(BODY) {
            groups.group::<3>(start, Role::Displacement);
            groups.group::<4>(start + 3, Role::Orientation);
            groups.group::<3>(start + 7, Role::Velocity);
            groups.group::<3>(start + 10, Role::Velocity);
        }
        for value in (coordinates_start..energies_start).step_by(COORDINATE) {
            groups.group::<1>(value, Role::Displacement);
            groups.group::<1>(value + 1, Role::Velocity);
        }
        for other in energies_start..self.variables().len() {
            groups.group::<1>(other, Role::Displacement);
        }
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

/// The numbers of a group, from the place `start` on.
#[inline]
fn numbers<T: Real, const N: usize>(y: &[T], start: usize) -> [f64; N] {
    y[start..].first_chunk::<N>().map_or([f64::NAN; N], |numbers| numbers.map(T::to_f64))
}

/// The change of an angle that a change of a number is.
fn factor(role: Role) -> f64 {
    if role == Role::Orientation { 2.0 } else { 1.0 }
}

/// From where the magnitude of a group counts: velocities from rest, orientations from the nearer of two opposite
/// quaternions, which are one orientation.
#[inline]
fn reference<const N: usize>(origin: [f64; N], y: [f64; N], role: Role) -> [f64; N] {
    match role {
        Role::Velocity => [0.0; N],
        Role::Orientation if y.iter().zip(origin).map(|(y, origin)| y * origin).sum::<f64>() < 0.0 => {
            origin.map(|origin| -origin)
        }
        Role::Orientation | Role::Displacement => origin,
    }
}

#[inline]
fn magnitude<const N: usize>(y: [f64; N], reference: [f64; N], role: Role) -> f64 {
    let squares = y.iter().zip(reference).map(|(y, reference)| (y - reference) * (y - reference));
    factor(role) * ComplexField::sqrt(squares.sum::<f64>())
}

/// Raises the peaks to the magnitudes at a point.
struct Raised<'a, T> {
    origin: &'a [f64],
    peaks: core::slice::IterMut<'a, f64>,
    y: &'a [T],
}

impl<T: Real> Groups for Raised<'_, T> {
    #[inline]
    fn group<const N: usize>(&mut self, start: usize, role: Role) {
        if let Some(peak) = self.peaks.next() {
            let (y, origin) = (numbers::<_, N>(self.y, start), numbers(self.origin, start));
            *peak = peak.max(magnitude(y, reference(origin, y, role), role));
        }
    }
}

/// Compares the errors of a step with what is allowed.
struct Compared<'a, T, F> {
    origin: &'a [f64],
    peaks: core::slice::Iter<'a, f64>,
    before: &'a [T],
    after: &'a [T],
    error: F,
    accuracy: f64,
    scale: Option<f64>,
    /// The largest sum of squares so far.
    worst: f64,
}

impl<T: Real, F: Fn(usize) -> f64> Groups for Compared<'_, T, F> {
    #[inline]
    fn group<const N: usize>(&mut self, start: usize, role: Role) {
        let [before, after] = [self.before, self.after].map(|y| numbers::<_, N>(y, start));
        let reference = reference(numbers(self.origin, start), after, role);
        let peak = self.peaks.next().copied().unwrap_or_default();
        let largest = peak.max(magnitude(after, reference, role));
        let scale = self.scale.unwrap_or(largest.clamp(AUTOMATIC.0, AUTOMATIC.1));
        let factor = factor(role);
        let mut squares = 0.0;
        for i in 0..N {
            let distance = |y: f64| factor * (y - reference[i]).abs();
            let magnitude = distance(before[i]).max(distance(after[i]));
            // Less cannot be told from rounding.
            let rounding = T::default_epsilon().to_f64() * after[i].abs();
            let allowed = (self.accuracy * (scale + magnitude)).max(rounding);
            let ratio = factor * (self.error)(start + i).abs() / allowed;
            squares += ratio * ratio;
        }
        self.worst = if squares.is_nan() { f64::INFINITY } else { self.worst.max(squares) };
    }
}

impl ErrorNorm {
    /// Begins with the present point of a simulation, unless it follows the last step.
    pub(super) fn begin<T: Real>(&mut self, simulation: &Simulation<'_, T>, is_followed: bool) {
        let count = simulation.variables().len();
        if !is_followed || self.origin.len() != count {
            self.origin.clear();
            self.origin.extend(simulation.variables().iter().map(|y| y.to_f64()));
            self.peaks.clear();
        }
        let coordinates_start = simulation.plant().coordinates_start();
        // Four of each body; all other numbers are groups of their own.
        let groups = coordinates_start / BODY * 4 + (count - coordinates_start);
        if self.peaks.len() != groups {
            self.peaks.clear();
            self.peaks.resize(groups, 0.0);
            self.keep(simulation);
        }
    }

    /// Remembers the magnitudes at the end of an accepted step.
    pub(super) fn keep<T: Real>(&mut self, simulation: &Simulation<'_, T>) {
        let Self { origin, peaks } = self;
        simulation.show_groups(&mut Raised { origin, peaks: peaks.iter_mut(), y: simulation.variables() });
    }

    /// The largest ratio of error to tolerance in a step to `after`; infinite if an error is not a number.
    pub(super) fn ratio<T: Real>(
        &self,
        simulation: &Simulation<'_, T>,
        accuracy: f64,
        after: &[T],
        error: impl Fn(usize) -> f64,
    ) -> f64 {
        let mut compared = Compared {
            origin: &self.origin,
            peaks: self.peaks.iter(),
            before: simulation.variables(),
            after,
            error,
            accuracy,
            scale: simulation.plant().scale,
            worst: 0.0,
        };
        simulation.show_groups(&mut compared);
        ComplexField::sqrt(compared.worst)
    }

    /// # Errors
    /// [`InvalidValue`] if it was deserialized and spoilt.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        self.origin.iter().try_for_each(|&y| check::finite("integrator.origin", y))?;
        self.peaks.iter().try_for_each(|&peak| check::nonnegative("integrator.peaks", peak))
    }
}
