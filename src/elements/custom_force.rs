//! Forces given by a closure.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::fmt;

use nalgebra::{Point3, Vector3};

use crate::framework::{AtDynamics, AtVelocity, Blocks, ElementResult, End, ForceElement, Pen};
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::{
    BodyIndex, Checked, CoordinateIndex, ForceAccumulator, KinematicsError, Positions, Topology, Velocities,
};
use crate::{element_types, results};

/// A force law as a closure, which records loads and returns the stored energy \[J\].
type Law<T> = dyn Fn(&Motion<'_, T>, &mut Loads<T>) -> T + Send + Sync;

/// Forces on bodies and coordinates given by a closure, without parameters and memory.
///
/// The closure reads the [`Motion`], records its forces in [`Loads`] and returns the stored energy \[J\]. It must
///
/// - depend only on the motion;
/// - record a reaction to every force on a body, on Ground if on no other body.
///
/// Energy that it takes from the bodies and does not store counts as dissipated. A damper reports its power with
/// [`Loads::dissipate`], so that [`power_dissipated`](crate::DynamicsView::power_dissipated) is known instantaneously. If
/// the stored energy also depends on time, as that of a motor's spring does, the closure reports its partial derivative
/// by time with [`Loads::supply`]; otherwise [`finish_step`](crate::ForceSystem::finish_step) attributes energy of
/// unknown origin to a step that is too long. Fixed steps of [`Implicit`](crate::simulation::Implicit) also need the
/// power of a motor in a closure that returns a stored energy.
///
/// An evaluation returns [`ElementError::Kinematics`](crate::ElementError::Kinematics) if the closure reads or loads a
/// body or coordinate that does not exist, and [`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce) if
/// the energy is not finite. Loads are kept in a buffer, which is reused and grows to the largest number of loads.
///
/// Where the scalar cannot be inferred, specify it: `CustomForce::<f64>::new`.
///
#[doc = include_str!("../../docs/sketches/custom_force.svg")]
///
/// # Example: two springs that harden
///
/// ```
/// use force_elements::nalgebra::Point3;
/// use force_elements::*;
///
/// fn hardening(wall: BodyIndex, p_WA: Point3<f64>, body: BodyIndex) -> CustomForce<f64> {
///     CustomForce::new(move |motion, loads| {
///         let (p_GA, p_GB) = (motion.point(wall, &p_WA), motion.point(body, &Point3::origin()));
///         let along = p_GB - p_GA;
///         let pull = along * (50.0 + 900.0 * along.norm_squared());
///         loads.apply_at_point(wall, &p_GA, pull);
///         loads.apply_at_point(body, &p_GB, -pull);
///         25.0 * along.norm_squared() + 225.0 * along.norm_squared().powi(2)
///     })
/// }
///
/// let mut system = ForceSystem::new();
/// let body = system.add_body();
/// let [left, right] = [-1.0, 1.0].map(|x| hardening(BodyIndex::GROUND, Point3::new(x, 0.0, 0.0), body));
/// let left = system.add_named("left spring", left)?;
/// system.add_named("right spring", right)?;
///
/// let mut state = system.default_state();
/// state.set_pose(body, Pose::translation(0.1, 0.0, 0.0))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// assert!(dynamics.body_force(body).force.x < -60.0);
/// assert_eq!(dynamics.of(left).dynamics.all().len(), 2);
/// # Ok::<(), Error>(())
/// ```
pub struct CustomForce<T: Real> {
    law: Box<Law<T>>,
}

impl<T: Real> CustomForce<T> {
    /// A force from a closure, which records forces and returns the energy stored \[J\].
    pub fn new(law: impl Fn(&Motion<'_, T>, &mut Loads<T>) -> T + Send + Sync + 'static) -> Self {
        Self { law: Box::new(law) }
    }
}

impl<T: Real> fmt::Debug for CustomForce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomForce").finish_non_exhaustive()
    }
}

/// Time, and the configuration and motion of bodies and coordinates.
///
/// For a body or coordinate that does not exist, the methods return the values of Ground, or zero, and the evaluation
/// fails once the closure has returned.
#[derive(Debug)]
pub struct Motion<'a, T: Real> {
    time: T,
    positions: &'a Positions<T>,
    velocities: &'a Velocities<T>,
    /// The first body or coordinate that was read and does not exist.
    missing: Cell<Option<KinematicsError>>,
    /// The bodies and coordinates that the closure has read.
    read: RefCell<Vec<End>>,
}

impl<T: Real> Motion<'_, T> {
    /// Time \[s\].
    pub fn time(&self) -> T {
        self.time
    }

    /// The pose `X_GB` of a body in Ground.
    pub fn pose(&self, body: BodyIndex) -> &Pose<T> {
        self.positions.pose(Checked(self.existing(body)))
    }

    /// The velocity `V_GB` of a body's origin, expressed in Ground.
    pub fn velocity(&self, body: BodyIndex) -> &SpatialVelocity<T> {
        self.velocities.velocity(Checked(self.existing(body)))
    }

    /// The value of a coordinate.
    pub fn coordinate(&self, coordinate: CoordinateIndex) -> T {
        if self.exists(coordinate) { self.positions.coordinate(Checked(coordinate)) } else { T::zero() }
    }

    /// The rate of a coordinate.
    pub fn coordinate_rate(&self, coordinate: CoordinateIndex) -> T {
        if self.exists(coordinate) { self.velocities.coordinate_rate(Checked(coordinate)) } else { T::zero() }
    }

    /// The position in Ground of the point `p_B` of a body \[m\].
    pub fn point(&self, body: BodyIndex, p_B: &Point3<T>) -> Point3<T> {
        self.pose(body) * p_B
    }

    /// The velocity \[m/s\] of the point of a body that is at `p_G` \[m\], both expressed in Ground.
    pub fn velocity_of_point(&self, body: BodyIndex, p_G: &Point3<T>) -> Vector3<T> {
        self.velocities.velocity_of_point(self.positions, Checked(self.existing(body)), p_G)
    }

    /// The body, or Ground in its place.
    fn existing(&self, body: BodyIndex) -> BodyIndex {
        let exists = self.note(End::Body(body), self.topology().check_body(body));
        if exists { body } else { BodyIndex::GROUND }
    }

    fn exists(&self, coordinate: CoordinateIndex) -> bool {
        self.note(End::Coordinate(coordinate), self.topology().check_coordinate(coordinate))
    }

    fn note(&self, end: End, checked: Result<(), KinematicsError>) -> bool {
        // The cell is never borrowed elsewhere.
        if let Ok(mut read) = self.read.try_borrow_mut()
            && !read.contains(&end)
        {
            read.push(end);
        }
        self.missing.set(self.missing.get().or(checked.err()));
        checked.is_ok()
    }

    fn topology(&self) -> &Topology {
        self.positions.topology()
    }
}

/// A force that a closure has recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load<T: Real> {
    /// On a point of a body.
    AtPoint {
        /// The body.
        body: BodyIndex,
        /// The point, in Ground \[m\].
        p_G: Point3<T>,
        /// The force, in Ground \[N\].
        f_G: Vector3<T>,
    },
    /// On a body at its origin.
    OnBody {
        /// The body.
        body: BodyIndex,
        /// Torque \[N·m\] and force \[N\], in Ground.
        F_GB: SpatialForce<T>,
    },
    /// On a coordinate.
    OnCoordinate {
        /// The coordinate.
        coordinate: CoordinateIndex,
        /// The generalized force.
        f: T,
    },
}

results! {
    /// The forces that a closure records, and the energy that it returns.
    pub struct Loads<T> {
        all: Vec<Load<T>>;
        /// The energy stored.
        pub potential_energy: T ["J"];
        power_dissipated: T = 0.0;
        power_supplied: T = 0.0;
        /// The bodies and coordinates whose motion the closure has read.
        read: Vec<End>;
    }
}

impl<T: Real> Loads<T> {
    /// The forces recorded, in order.
    pub fn all(&self) -> &[Load<T>] {
        &self.all
    }

    /// The dissipated power that was reported \[W\].
    pub fn power_dissipated(&self) -> T {
        self.power_dissipated
    }

    /// The supplied power that was reported \[W\].
    pub fn power_supplied(&self) -> T {
        self.power_supplied
    }

    /// Records a force `f_G` \[N\] on the point of a body that is at `p_G` \[m\], both in Ground.
    pub fn apply_at_point(&mut self, body: BodyIndex, p_G: &Point3<T>, f_G: Vector3<T>) {
        self.all.push(Load::AtPoint { body, p_G: *p_G, f_G });
    }

    /// Records a torque \[N·m\] and force \[N\] at the body's origin, expressed in Ground.
    pub fn apply_to_body(&mut self, body: BodyIndex, F_GB: SpatialForce<T>) {
        self.all.push(Load::OnBody { body, F_GB });
    }

    /// Records a generalized force on a coordinate.
    pub fn apply_to_coordinate(&mut self, coordinate: CoordinateIndex, f: T) {
        self.all.push(Load::OnCoordinate { coordinate, f });
    }

    /// Reports that this power \[W\] is dissipated, in addition to earlier reports. No force depends on it.
    pub fn dissipate(&mut self, power: T) {
        self.power_dissipated += power;
    }

    /// Reports that a drive supplies this power \[W\], in addition to earlier reports. No force depends on it.
    pub fn supply(&mut self, power: T) {
        self.power_supplied += power;
    }

    fn clear(&mut self) {
        self.all.clear();
        (self.power_dissipated, self.power_supplied) = (T::zero(), T::zero());
    }

    fn check(&self, topology: &Topology) -> Result<(), KinematicsError> {
        self.all.iter().try_for_each(|load| match *load {
            Load::AtPoint { body, .. } | Load::OnBody { body, .. } => topology.check_body(body),
            Load::OnCoordinate { coordinate, .. } => topology.check_coordinate(coordinate),
        })
    }
}

impl<T: Real> ForceElement<T> for CustomForce<T> {
    const KIND: &'static str = "custom_force";
    element_types! { Dynamics = Loads<T>; }

    fn check_topology(&self, _: &Topology) -> ElementResult {
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        let (positions, velocities) = (at.positions, at.velocities);
        let mut read = core::mem::take(&mut cache.read);
        read.clear();
        let (missing, read) = (Cell::new(None), RefCell::new(read));
        let motion = Motion { time: at.time, positions, velocities, missing, read };
        cache.clear();
        cache.potential_energy = (self.law)(&motion, cache);
        cache.read = motion.read.take();
        motion.missing.get().map_or(Ok(()), Err)?;
        Ok(cache.check(motion.topology())?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        for load in at.dynamics.all() {
            match *load {
                Load::AtPoint { body, ref p_G, f_G } => forces.apply_at_point(Checked(body), p_G, f_G),
                Load::OnBody { body, F_GB } => forces.apply_to_body(Checked(body), F_GB),
                Load::OnCoordinate { coordinate, f } => forces.apply_to_coordinate(Checked(coordinate), f),
            }
        }
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        for load in at.dynamics.all() {
            match load {
                Load::AtPoint { body, p_G, f_G } => pen.force(*body, p_G, f_G),
                Load::OnBody { body, F_GB } => {
                    let p_GB = at.positions.pose(Checked(*body)).translation.vector.into();
                    pen.force(*body, &p_GB, &F_GB.force);
                    pen.torque(*body, &p_GB, &F_GB.torque);
                }
                Load::OnCoordinate { .. } => {}
            }
        }
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let Loads { all, read, .. } = at.dynamics;
        let loaded = all.iter().map(|load| match *load {
            Load::AtPoint { body, .. } | Load::OnBody { body, .. } => End::Body(body),
            Load::OnCoordinate { coordinate, .. } => End::Coordinate(coordinate),
        });
        blocks.differences_of(read.iter().copied().chain(loaded));
    }
}
