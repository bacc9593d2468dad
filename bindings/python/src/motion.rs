//! The motion of worlds in arrays, written to one of them as a whole.

use force_elements::{
    BodyIndex, CoordinateIndex, Error, KinematicsError, Pose, Quantity, SpatialVelocity, State,
};

use crate::arrays::{Rows, row};
use crate::convert::{pose_of, velocity_of};
use crate::parts::occupied;

/// The motion of all worlds, as far as it is given.
#[derive(Default)]
pub(crate) struct Motion<'a> {
    pub(crate) bodies: Vec<Option<BodyIndex>>,
    pub(crate) coordinates: Vec<Option<CoordinateIndex>>,
    pub(crate) time: Rows<'a>,
    pub(crate) poses: Rows<'a>,
    pub(crate) velocities: Rows<'a>,
    pub(crate) values: Rows<'a>,
    pub(crate) rates: Rows<'a>,
}

fn finite(is_finite: bool, quantity: Quantity) -> Result<(), KinematicsError> {
    if is_finite { Ok(()) } else { Err(KinematicsError::NonFinite { quantity }) }
}

impl Motion<'_> {
    fn poses(&self, world: usize) -> impl Iterator<Item = (BodyIndex, &[f64])> {
        let poses = row(self.poses, world).unwrap_or_default();
        let width = poses.len().checked_div(self.bodies.len()).unwrap_or_default().max(1);
        occupied(self.bodies.iter().copied(), poses.chunks_exact(width))
    }

    fn velocities(&self, world: usize) -> impl Iterator<Item = (BodyIndex, SpatialVelocity<f64>)> {
        let velocities = row(self.velocities, world).unwrap_or_default().chunks_exact(6);
        occupied(self.bodies.iter().copied(), velocities.map(velocity_of))
    }

    fn of_coordinates<'b>(
        &'b self,
        rows: Rows<'b>,
        world: usize,
    ) -> impl Iterator<Item = (CoordinateIndex, f64)> + 'b {
        let numbers = row(rows, world).unwrap_or_default();
        occupied(self.coordinates.iter().copied(), numbers.iter().copied())
    }

    /// Writes the motion of a world to a state of the system whose bodies and coordinates these are.
    ///
    /// # Errors
    /// If a pose is none, or a number is not finite; nothing is written then.
    pub(crate) fn write(&self, world: usize, state: &mut State<f64>) -> Result<(), Error> {
        let time = row(self.time, world).and_then(|time| time.first().copied());
        finite(time.is_none_or(f64::is_finite), Quantity::Time)?;
        let poses = self.poses(world).map(|(body, numbers)| Ok((body, pose_of(numbers)?)));
        let poses = poses.collect::<Result<Vec<(BodyIndex, Pose<f64>)>, Error>>()?;
        for (body, velocity) in self.velocities(world) {
            finite(velocity.is_finite(), Quantity::Velocity(body))?;
        }
        for (coordinate, q) in self.of_coordinates(self.values, world) {
            finite(q.is_finite(), Quantity::Coordinate(coordinate))?;
        }
        for (coordinate, u) in self.of_coordinates(self.rates, world) {
            finite(u.is_finite(), Quantity::CoordinateRate(coordinate))?;
        }

        time.map_or(Ok(()), |time| state.set_time(time))?;
        poses.into_iter().try_for_each(|(body, pose)| state.set_pose(body, pose))?;
        self.velocities(world).try_for_each(|(body, velocity)| state.set_velocity(body, velocity))?;
        self.of_coordinates(self.values, world).try_for_each(|(of, q)| state.set_coordinate(of, q))?;
        self.of_coordinates(self.rates, world).try_for_each(|(of, u)| state.set_coordinate_rate(of, u))
    }
}
