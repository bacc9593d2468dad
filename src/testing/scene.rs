//! An element in a state, for any scalar.

use super::{Curve, Numbers};
use crate::framework::{DynamicsView, End, Error, ForceElement, ForceSystem, Handle, State};
use crate::math::Real;
use crate::mechanics::{Topology, Variation};

/// One element between bodies or coordinates that move.
#[derive(Debug)]
pub struct Scene<T: Real, E> {
    /// The system, with no other element.
    pub system: ForceSystem<T>,
    /// Where things are and how they move.
    pub state: State<T>,
    /// The element.
    pub element: Handle<E>,
}

/// A kind of element that can be put in a scene.
pub trait Subject: Sized {
    /// The element in each scalar.
    type Element<T: Real>: ForceElement<T>;

    /// By what fraction of the size of the terms [`rate`](Self::rate) may be off.
    // By default a truncation of (2000·1e-6)²/6, and rounding of 1e-16/1e-6.
    const PRECISION: f64 = 1e-5;

    /// An element in general position and motion, with all that it is made of drawn from `numbers`: the same in
    /// every scalar.
    ///
    /// The checks of energy and derivatives need a state in which nothing is being dragged along and nothing
    /// is about to switch, so that what is lost is known at the instant.
    ///
    /// # Errors
    /// Whatever the system refuses.
    fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error>;

    /// The derivative of a curve by time, at time zero.
    ///
    /// By default central differences over 2·10⁻⁶ s, for forces that change by less than 2·10³ times their size a second.
    /// With a dual number it is exact:
    ///
    /// ```
    /// # use force_elements::testing::{Curve, Numbers, Scene, Subject};
    /// # use force_elements::{Error, Real};
    /// use num_dual::Dual64;
    ///
    /// struct Exact<S>(S);
    ///
    /// impl<S: Subject> Subject for Exact<S> {
    ///     type Element<T: Real> = S::Element<T>;
    ///     const PRECISION: f64 = f64::EPSILON;
    ///
    ///     fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, S::Element<T>>, Error> {
    ///         S::scene(numbers)
    ///     }
    ///     fn rate(curve: &Curve<'_, Self>) -> Result<f64, Error> {
    ///         Ok(curve.at(Dual64::new(0.0, 1.0))?.eps)
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// If the curve cannot be evaluated.
    fn rate(curve: &Curve<'_, Self>) -> Result<f64, Error> {
        let h = 1e-6;
        Ok((curve.at(h)? - curve.at(-h)?) / (2.0 * h))
    }
}

/// The scene of a seed.
pub(super) fn scene<S: Subject, T: Real>(seed: u64) -> Result<Scene<T, S::Element<T>>, Error> {
    S::scene(&mut Numbers::new(seed))
}

/// Every freedom of the bodies and coordinates.
pub(super) fn axes(topology: &Topology) -> impl Iterator<Item = (End, usize)> + '_ {
    let ends = topology.bodies().map(End::Body).chain(topology.coordinates().map(End::Coordinate));
    ends.flat_map(|end| (0..end.freedoms()).map(move |axis| (end, axis)))
}

/// The motion by one in one freedom.
pub(super) fn unit(topology: &Topology, (end, axis): (End, usize)) -> Variation<f64> {
    let mut unit = Variation::zeros(topology);
    match end {
        End::Body(body) => {
            let V = unit.body_mut(body);
            if axis < 3 { V.angular[axis] = 1.0 } else { V.linear[axis - 3] = 1.0 }
        }
        End::Coordinate(coordinate) => *unit.coordinate_mut(coordinate) = 1.0,
    }
    unit
}

/// Sizes of the torques and forces of a scene, to compare rounding errors with.
pub(super) fn size(view: &DynamicsView<'_, f64>) -> f64 {
    let forces = view.forces();
    let bodies: f64 = forces.bodies().iter().map(|F| F.force.norm() + F.torque.norm()).sum();
    bodies + forces.coordinates().iter().map(|f| f.abs()).sum::<f64>()
}
