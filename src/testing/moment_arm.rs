//! Moment arms by differences of length.

use crate::cable::{PathError, PathResults, PlacedPath, Wraps};
use crate::math::{Real, SpatialVelocity};
use crate::mechanics::{BodyIndex, CoordinateIndex, Positions};

/// The moment arm of a cable about a coordinate by a central difference of lengths: a slow check of
/// [`PathResults::moment_arm`], and of the velocities per unit rate that a host gives it.
///
/// The path is solved at `positions`, and tracked from there with every body moved by ±`step` along `motion` and every
/// coordinate along `rate`. The error
/// is that of the difference, of the order of `step²`; it is of order one where the cable is about to touch or leave an
/// obstacle.
///
/// # Errors
/// Those of [`PlacedPath::solve`].
pub fn moment_arm_by_differences<T: Real>(
    path: PlacedPath<'_, T>,
    positions: &Positions<T>,
    wraps: &Wraps<T>,
    motion: impl Fn(BodyIndex) -> SpatialVelocity<T>,
    rate: impl Fn(CoordinateIndex) -> T,
    step: T,
) -> Result<T, PathError> {
    let mut results = PathResults::default();
    path.solve(positions, wraps, &mut results)?;
    let mut wraps = wraps.clone();
    results.remember(&mut wraps);
    let mut length_at = |time: T| {
        path.solve(&positions.moved(&motion, &rate, time), &wraps, &mut results)?;
        Ok::<T, PathError>(results.length)
    };
    Ok((length_at(-step)? - length_at(step)?) / (step + step))
}
