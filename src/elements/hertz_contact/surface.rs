//! Surfaces of a Hertz contact: a ball, and another ball or a half-space.

use crate::math::{InvalidValue, Real, check};
use crate::mechanics::{BodyIndex, Frame, Station};

/// A ball fixed on a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball<T: Real> {
    /// Its center.
    pub center: Station<T>,
    /// Its radius \[m\].
    pub radius: T,
}

impl<T: Real> Ball<T> {
    /// A ball of this radius \[m\] about a point of a body.
    pub fn new(center: Station<T>, radius: T) -> Self {
        Self { center, radius }
    }

    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> Ball<U> {
        Ball { center: self.center.cast(), radius: self.radius.cast() }
    }

    pub(super) fn validate(&self, [center, radius]: [&'static str; 2]) -> Result<(), InvalidValue> {
        check::finite_vector(center, &self.center.p_B.coords)?;
        check::size(radius, self.radius)
    }
}

/// What a ball touches; made from a [`Frame`] or a [`Ball`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Surface<T: Real> {
    /// The half-space z < 0 of a frame.
    HalfSpace(Frame<T>),
    /// A ball.
    Ball(Ball<T>),
}

impl<T: Real> Surface<T> {
    /// The body that carries it.
    pub fn body(&self) -> BodyIndex {
        match self {
            Self::HalfSpace(frame) => frame.body,
            Self::Ball(ball) => ball.center.body,
        }
    }

    /// The same in another scalar.
    pub fn cast<U: Real>(&self) -> Surface<U> {
        match self {
            Self::HalfSpace(frame) => Surface::HalfSpace(frame.cast()),
            Self::Ball(ball) => Surface::Ball(ball.cast()),
        }
    }

    pub(super) fn validate(&self) -> Result<(), InvalidValue> {
        match self {
            Self::HalfSpace(frame) => check::pose("surface.X_BF", &frame.X_BF),
            Self::Ball(ball) => ball.validate(["surface.center", "surface.radius"]),
        }
    }
}

impl<T: Real> From<Frame<T>> for Surface<T> {
    fn from(frame: Frame<T>) -> Self {
        Self::HalfSpace(frame)
    }
}

impl<T: Real> From<Ball<T>> for Surface<T> {
    fn from(ball: Ball<T>) -> Self {
        Self::Ball(ball)
    }
}
