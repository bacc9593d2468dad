//! Places on bodies: frames, points, and pairs of coordinates.

use nalgebra::Point3;

use super::{BodyIndex, CoordinateIndex};
use crate::math::{Pose, Real, cast_pose};

/// A frame fixed on a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<T: Real> {
    /// The body.
    pub body: BodyIndex,
    /// The pose of the frame on the body.
    pub X_BF: Pose<T>,
}

impl<T: Real> Frame<T> {
    /// The frame of this pose on a body.
    pub fn on(body: BodyIndex, X_BF: Pose<T>) -> Self {
        Self { body, X_BF }
    }

    /// The frame of this pose on Ground.
    pub fn ground(X_GF: Pose<T>) -> Self {
        Self::on(BodyIndex::GROUND, X_GF)
    }

    /// The frame of the body itself.
    pub fn of(body: BodyIndex) -> Self {
        Self::on(body, Pose::identity())
    }

    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> Frame<U> {
        Frame { body: self.body, X_BF: cast_pose(&self.X_BF) }
    }
}

/// A point fixed on a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Station<T: Real> {
    /// The body.
    pub body: BodyIndex,
    /// The point, in the body's frame \[m\].
    pub p_B: Point3<T>,
}

impl<T: Real> Station<T> {
    /// This point of a body.
    pub fn on(body: BodyIndex, p_B: Point3<T>) -> Self {
        Self { body, p_B }
    }

    /// This point of Ground.
    pub fn ground(p_G: Point3<T>) -> Self {
        Self::on(BodyIndex::GROUND, p_G)
    }

    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> Station<U> {
        Station { body: self.body, p_B: self.p_B.map(T::cast) }
    }
}

/// Two scalar coordinates, either of which may be ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoordinatePair {
    /// Coordinate 0; `None` is ground.
    pub coordinate0: Option<CoordinateIndex>,
    /// Coordinate 1; `None` is ground.
    pub coordinate1: Option<CoordinateIndex>,
}

impl CoordinatePair {
    /// From ground to a coordinate.
    pub fn on(coordinate1: CoordinateIndex) -> Self {
        Self { coordinate0: None, coordinate1: Some(coordinate1) }
    }

    /// From one coordinate to another.
    pub fn between(coordinate0: CoordinateIndex, coordinate1: CoordinateIndex) -> Self {
        Self { coordinate0: Some(coordinate0), coordinate1: Some(coordinate1) }
    }
}
