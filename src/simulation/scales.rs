//! Scales of a motion, relative to which error control works.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::ComplexField;

use crate::math::{InvalidValue, Real, check};
use crate::simulation::layout::{BODY, COORDINATE, Role};
use crate::simulation::motion::Simulation;

/// Scales of all variables, by their role; set by [`Plant::set_scales`](super::Plant::set_scales).
///
/// Under error control the parts of a vector, each relative to what it may err by, are at most one together. A number may
/// err by
///
/// ```text
/// accuracy · (scale + magnitude)
/// ```
///
/// The magnitude of a velocity is its size. That of a position, an angle, a coordinate, a variable of an element or an
/// energy is its distance from where it was when the integrator began with the simulation: results do not depend on where
/// Ground's origin is.
///
/// A scale that is `None`, the default, is the largest magnitude so far, of a vector as a whole, but at least 1e-3 and at
/// most 1 SI unit: a body that swings by a millimetre is as well resolved as one that swings by a metre. Set smaller scales
/// for smaller motions, larger ones for motions of no interest, which then cost less, and other ones for models in other
/// units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scales {
    /// Of bodies.
    pub body: BodyScales,
    /// Of coordinates.
    pub coordinate: CoordinateScales,
    /// Of continuous variables of elements \[each in its own unit\].
    pub variable: Option<f64>,
    /// Of energies absorbed and work of loads \[J\].
    pub energy: Option<f64>,
}

/// Scales of the motion of a body; see [`Scales`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyScales {
    /// Of positions \[m\].
    pub length: Option<f64>,
    /// Of orientations \[rad\].
    pub angle: Option<f64>,
    /// Of velocities \[m/s\].
    pub speed: Option<f64>,
    /// Of angular velocities \[rad/s\].
    pub angular_speed: Option<f64>,
}

/// Scales of the motion of a coordinate; see [`Scales`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoordinateScales {
    /// Of its value \[m or rad\].
    pub value: Option<f64>,
    /// Of its rate \[m/s or rad/s\].
    pub rate: Option<f64>,
}

impl Scales {
    /// This scale \[SI unit\] for everything, whatever moves.
    pub fn uniform(scale: f64) -> Self {
        let scale = Some(scale);
        Self {
            body: BodyScales { length: scale, angle: scale, speed: scale, angular_speed: scale },
            coordinate: CoordinateScales { value: scale, rate: scale },
            variable: scale,
            energy: scale,
        }
    }

    /// # Errors
    /// [`InvalidValue`] unless every scale that is set is positive and finite.
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        self.body.validate()?;
        self.coordinate.validate()?;
        check_scale("scales.variable", self.variable)?;
        check_scale("scales.energy", self.energy)
    }
}

impl BodyScales {
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        check_scale("scales.length", self.length)?;
        check_scale("scales.angle", self.angle)?;
        check_scale("scales.speed", self.speed)?;
        check_scale("scales.angular_speed", self.angular_speed)
    }
}

impl CoordinateScales {
    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        check_scale("scales.value", self.value)?;
        check_scale("scales.rate", self.rate)
    }
}

fn check_scale(name: &'static str, scale: Option<f64>) -> Result<(), InvalidValue> {
    scale.map_or(Ok(()), |scale| check::positive(name, scale))
}

/// The range of scales that are not set.
const AUTOMATIC: (f64, f64) = (1e-3, 1.0);

/// Variables that make up one vector or number.
struct Group {
    places: Range<usize>,
    /// Whether it is a quaternion, of which a change is half an angle.
    is_orientation: bool,
    is_velocity: bool,
    scale: Option<f64>,
}

impl<T: Real> Simulation<'_, T> {
    fn groups(&self) -> impl Iterator<Item = Group> {
        let plant = self.plant();
        let (coordinates_start, energies_start) = (plant.coordinates_start(), plant.energies_start());
        let bodies = plant.body_scales.iter().enumerate().flat_map(move |(i, own)| {
            let all = plant.scales.body;
            [
                (0..3, own.length.or(all.length)),
                (3..7, own.angle.or(all.angle)),
                (7..10, own.speed.or(all.speed)),
                (10..13, own.angular_speed.or(all.angular_speed)),
            ]
            .map(|(places, scale)| Group {
                is_orientation: places.start == 3,
                is_velocity: places.start >= 7,
                places: places.start + i * BODY..places.end + i * BODY,
                scale,
            })
        });
        let number = |place: usize, is_velocity: bool, scale: Option<f64>| Group {
            places: place..place + 1,
            is_orientation: false,
            is_velocity,
            scale,
        };
        let coordinates = plant.coordinate_scales.iter().enumerate().flat_map(move |(i, own)| {
            let (all, place) = (plant.scales.coordinate, coordinates_start + i * COORDINATE);
            [number(place, false, own.value.or(all.value)), number(place + 1, true, own.rate.or(all.rate))]
        });
        let others = (energies_start..self.variables().len()).map(move |place| {
            let is_energy = self.role(place) == Role::Energy;
            number(place, false, if is_energy { plant.scales.energy } else { plant.scales.variable })
        });
        bodies.chain(coordinates).chain(others)
    }
}

/// The norm of errors of a step, relative to what is allowed.
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
            let scale = group.scale.unwrap_or(largest.clamp(AUTOMATIC.0, AUTOMATIC.1));
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
