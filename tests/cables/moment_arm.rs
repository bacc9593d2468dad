//! Moment arms by differences of length.

use force_elements::cable::{CablePath, PathError, PathResults, Places, Wraps};
use force_elements::nalgebra::Rotation3;
use force_elements::{BodyIndex, CoordinateIndex, Positions, SpatialVelocity};

/// The moment arm of a cable about a coordinate by a central difference of lengths.
///
/// The path is solved at `positions`, and tracked from there with every body moved by ±`step` along `motion` and every
/// coordinate along `rate`. The error is that of the difference, of the order of `step²`; it is of order one where the cable
/// is about to touch or leave an obstacle.
pub(crate) fn moment_arm_by_differences(
    (path, places): (&CablePath<f64>, &Places<f64>),
    positions: &Positions<f64>,
    wraps: &Wraps<f64>,
    motion: impl Fn(BodyIndex) -> SpatialVelocity<f64>,
    rate: impl Fn(CoordinateIndex) -> f64,
    step: f64,
) -> Result<f64, PathError> {
    let mut results = PathResults::default();
    path.solve_at(places, positions, wraps, &mut results)?;
    let mut wraps = wraps.clone();
    results.remember(&mut wraps);
    let mut length_at = |time: f64| {
        let mut moved = positions.clone();
        for body in positions.topology().bodies() {
            let (by, pose) = (motion(body) * time, moved.body_mut(body));
            pose.translation.vector += by.linear;
            pose.rotation = Rotation3::new(by.angular) * pose.rotation;
        }
        for coordinate in positions.topology().coordinates() {
            *moved.coordinate_mut(coordinate) += rate(coordinate) * time;
        }
        path.solve_at(places, &moved, &wraps, &mut results)?;
        Ok::<f64, PathError>(results.length)
    };
    Ok((length_at(-step)? - length_at(step)?) / (step + step))
}
