//! An element in a state, for any scalar.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Rotation3, Translation3};

use super::Numbers;
use crate::framework::{DynamicsView, Error, ForceElement, ForceSystem, Handle, State};
use crate::math::{Pose, Real, SpatialVelocity};
use crate::mechanics::Topology;

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
pub trait Subject {
    /// The element in each scalar.
    type Element<T: Real>: ForceElement<T>;

    /// An element in general position and motion, with all that it is made of drawn from `numbers`: the same in
    /// every scalar.
    ///
    /// The checks of energy and derivatives need a state in which nothing is being dragged along and nothing
    /// is about to switch, so that what is lost is known at the instant.
    ///
    /// # Errors
    /// Whatever the system refuses.
    fn scene<T: Real>(numbers: &mut Numbers) -> Result<Scene<T, Self::Element<T>>, Error>;
}

/// The scene of a seed.
pub(super) fn scene<S: Subject, T: Real>(seed: u64) -> Result<Scene<T, S::Element<T>>, Error> {
    S::scene(&mut Numbers::new(seed))
}

/// A direction in which all bodies and coordinates of a scene move.
#[derive(Debug, Clone)]
pub(super) struct Way {
    velocities: Vec<SpatialVelocity<f64>>,
    rates: Vec<f64>,
    /// Whether the velocities in the state are zero all the same.
    at_rest: bool,
}

impl Way {
    /// That in which the scene is moving.
    pub(super) fn of_motion(state: &State<f64>) -> Self {
        Self {
            velocities: state.velocities().bodies().to_vec(),
            rates: state.velocities().coordinates().to_vec(),
            at_rest: false,
        }
    }

    /// Each single direction in turn, at rest.
    pub(super) fn axes(topology: &Topology) -> impl Iterator<Item = Self> {
        let bodies = topology.bodies().flat_map(|body| (0..6).map(move |axis| (body, axis)));
        let (body_places, coordinate_places) = (topology.body_places(), topology.coordinate_places());
        let none = move || Self {
            velocities: alloc::vec![SpatialVelocity::zero(); body_places],
            rates: alloc::vec![0.0; coordinate_places],
            at_rest: true,
        };
        let along_bodies = bodies.map(move |(body, axis)| {
            let mut way = none();
            let V = &mut way.velocities[body.index()];
            let part = if axis < 3 { &mut V.angular } else { &mut V.linear };
            part[axis % 3] = 1.0;
            way
        });
        let along_coordinates = topology.coordinates().map(move |coordinate| {
            let mut way = none();
            way.rates[coordinate.index()] = 1.0;
            way
        });
        along_bodies.chain(along_coordinates)
    }

    /// The scene of a seed, moved along for a short time: exactly to first order.
    pub(super) fn scene<S: Subject, T: Real>(
        &self,
        seed: u64,
        time: T,
    ) -> Result<Scene<T, S::Element<T>>, Error> {
        let mut scene = scene::<S, T>(seed)?;
        for (body, V) in scene.system.bodies().zip(&self.velocities[1..]) {
            let X = moved(scene.state.positions().pose(body), &V.cast(), time);
            scene.state.set_pose(body, X)?;
            if self.at_rest {
                scene.state.set_velocity(body, SpatialVelocity::zero())?;
            }
        }
        for (coordinate, &u) in scene.system.coordinates().zip(&self.rates) {
            let q = scene.state.positions().coordinate(coordinate);
            scene.state.set_coordinate(coordinate, q + T::lit(u) * time)?;
            if self.at_rest {
                scene.state.set_coordinate_rate(coordinate, T::zero())?;
            }
        }
        Ok(scene)
    }

    /// The power of all forces along it.
    pub(super) fn power(&self, view: &DynamicsView<'_, f64>) -> f64 {
        let forces = view.forces();
        let on_bodies: f64 = self.velocities.iter().zip(forces.bodies()).map(|(V, F)| V.power(F)).sum();
        on_bodies + self.rates.iter().zip(forces.coordinates()).map(|(u, f)| u * f).sum::<f64>()
    }

    /// The sum of the sizes of the products that [`power`](Self::power) adds up.
    pub(super) fn power_scale(&self, view: &DynamicsView<'_, f64>) -> f64 {
        let forces = view.forces();
        let of_body = |(V, F): (&SpatialVelocity<f64>, &crate::SpatialForce<f64>)| {
            V.angular.norm() * F.torque.norm() + V.linear.norm() * F.force.norm()
        };
        let on_bodies: f64 = self.velocities.iter().zip(forces.bodies()).map(of_body).sum();
        on_bodies + self.rates.iter().zip(forces.coordinates()).map(|(u, f)| (u * f).abs()).sum::<f64>()
    }
}

/// Moves a pose along a velocity for a short time: exactly to first order, which is all a dual
/// number sees.
pub(super) fn moved<T: Real>(X: &Pose<T>, V: &SpatialVelocity<T>, time: T) -> Pose<T> {
    let turn = Matrix3::identity() + (V.angular * time).cross_matrix();
    let rotation = Rotation3::from_matrix_unchecked(turn * X.rotation.matrix());
    Pose::from_parts(Translation3::from(X.translation.vector + V.linear * time), rotation)
}

/// Sizes of the torques and forces of a scene, to compare rounding errors with.
pub(super) fn size(view: &DynamicsView<'_, f64>) -> f64 {
    let forces = view.forces();
    let bodies: f64 = forces.bodies().iter().map(|F| F.force.norm() + F.torque.norm()).sum();
    bodies + forces.coordinates().iter().map(|f| f.abs()).sum::<f64>()
}
