//! The two coordinates between which an element acts, with a factor on each.

use nalgebra::Vector1;

use crate::framework::{Blocks, ElementResult, Row, Stiffnesses};
use crate::math::Real;
use crate::mechanics::{
    Checked, CoordinateIndex, CoordinatePair, ForceAccumulator, Positions, Topology, Velocities,
};
use crate::results;

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Displacement `q`.
        pub displacement: T ["m"];
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// Velocity `v`.
        pub velocity: T ["m/s"];
    }
}

/// Two coordinates, the displacement `f1·q1 − f0·q0` between them, and the forces `+f·f0` and `−f·f1` of a tension `f` on
/// them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sides<T> {
    pub(super) coordinates: CoordinatePair,
    pub(super) factors: [T; 2],
}

impl<T: Real> Sides<T> {
    #[inline]
    pub(super) fn both(&self) -> [Option<CoordinateIndex>; 2] {
        [self.coordinates.coordinate0, self.coordinates.coordinate1]
    }

    /// The coordinates that are not ground, each with the derivative of the displacement by this coordinate.
    #[inline]
    fn moving(&self) -> impl Iterator<Item = (CoordinateIndex, T)> {
        let [factor0, factor1] = self.factors;
        self.both().into_iter().zip([-factor0, factor1]).filter_map(|(side, factor)| Some((side?, factor)))
    }

    pub(super) fn check_topology(&self, topology: &Topology) -> ElementResult {
        let mut sides = self.both().into_iter().flatten();
        Ok(sides.try_for_each(|coordinate| topology.check_coordinate(coordinate))?)
    }

    /// `f1·x1 − f0·x0`, with zero for ground.
    #[inline]
    fn relative(&self, of: impl Fn(CoordinateIndex) -> T) -> T {
        let [x0, x1] = self.both().map(|side| side.map_or(T::zero(), &of));
        self.factors[1] * x1 - self.factors[0] * x0
    }

    #[inline]
    pub(super) fn displacement(&self, positions: &Positions<T>) -> T {
        self.relative(|side| positions.coordinate(Checked(side)))
    }

    #[inline]
    pub(super) fn velocity(&self, velocities: &Velocities<T>) -> T {
        self.relative(|side| velocities.coordinate_rate(Checked(side)))
    }

    /// Position and velocity of each coordinate, zero for ground.
    pub(super) fn motions(&self, positions: &Positions<T>, velocities: &Velocities<T>) -> [[T; 2]; 2] {
        self.both().map(|side| {
            let motion = side.map(|side| [positions.coordinate(side), velocities.coordinate_rate(side)]);
            motion.unwrap_or([T::zero(); 2])
        })
    }

    #[inline]
    pub(super) fn apply(&self, tension: T, forces: &mut ForceAccumulator<'_, T>) {
        for (coordinate, factor) in self.moving() {
            forces.apply_to_coordinate(Checked(coordinate), -tension * factor);
        }
    }

    /// Adds the derivatives of the forces, from those of the tension by displacement and velocity.
    pub(super) fn add(&self, blocks: &mut Blocks<'_, T>, slopes: [T; 2]) {
        for (on, pull) in self.moving() {
            for (by, factor) in self.moving() {
                let [by_position, by_velocity] = slopes.map(|slope| Vector1::new(-pull * slope * factor));
                blocks.add(on, by, &by_position, &by_velocity);
            }
        }
    }

    /// Adds the derivatives of the forces by a variable, from that of the tension.
    pub(super) fn add_by_variable(&self, blocks: &mut Blocks<'_, T>, variable: usize, slope: T) {
        for (on, pull) in self.moving() {
            blocks.add_by_variables(on, variable, &[Vector1::new(-pull * slope)]);
        }
    }

    /// Adds the derivatives of a number by the motion, from those by displacement and velocity.
    pub(super) fn add_to(&self, blocks: &mut Blocks<'_, T>, row: Row, slopes: [T; 2]) {
        for (by, factor) in self.moving() {
            let [by_position, by_velocity] = slopes.map(|slope| Vector1::new(slope * factor));
            blocks.add_to(row, by, &by_position, &by_velocity);
        }
    }

    /// Reports a stiffness and a damping of the displacement.
    pub(super) fn report(&self, [stiffness, damping]: [f64; 2], stiffnesses: &mut Stiffnesses<'_, T>) {
        let [factor0, factor1] = self.factors.map(T::to_f64);
        let [side0, side1] = self.both();
        stiffnesses.on_coordinates(stiffness, damping, [(side0, -factor0), (side1, factor1)]);
    }
}
