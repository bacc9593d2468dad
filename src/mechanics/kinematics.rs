//! Positions and velocities of bodies and coordinates, as the host provides them.

use nalgebra::{Point3, Rotation3, Vector3};

use super::{AsIndex, BodyIndex, ByPlace, CoordinateIndex, KinematicsError, Quantity, Topology};
use crate::math::{
    Pose, Real, SpatialVelocity, cast_pose, clone_by_field, is_finite, is_finite_pose, orthonormal,
};

/// The distortion beyond which a matrix is an error rather than a rotation with rounding or drift.
const DISTORTED: f64 = 0.01;

/// A host's motion, copied into a state in one call, [`State::set_kinematics`](crate::State::set_kinematics).
///
/// Poses are of body frames in Ground; velocities are of body origins, expressed in Ground. Ground is skipped. See
/// [Hosts](crate::guide::hosts).
///
/// # Example: a ball that falls on the floor
///
/// ```
/// use force_elements::exponential_spring::Parameters;
/// use force_elements::nalgebra::{Point3, Vector3};
/// use force_elements::{
///     BodyIndex, ExponentialSpring, ForceSystem, Frame, KinematicsSource, Pose, SpatialVelocity, Station, StepRule,
/// };
///
/// /// A host of one ball of 1 kg that does not turn.
/// struct Ball {
///     time: f64,
///     p: Vector3<f64>,
///     v: Vector3<f64>,
/// }
///
/// impl KinematicsSource<f64> for Ball {
///     fn time(&self) -> f64 {
///         self.time
///     }
///     fn pose(&self, _: BodyIndex) -> Pose<f64> {
///         Pose::translation(self.p.x, self.p.y, self.p.z)
///     }
///     fn velocity(&self, _: BodyIndex) -> SpatialVelocity<f64> {
///         SpatialVelocity::new(Vector3::zeros(), self.v)
///     }
/// }
///
/// let mut system = ForceSystem::new();
/// let ball = system.add_body();
/// let (floor, middle) = (Frame::ground(Pose::identity()), Station::on(ball, Point3::origin()));
/// system.add(ExponentialSpring::new(floor, middle, Parameters::default())?)?;
///
/// let mut host = Ball { time: 0.0, p: Vector3::new(0.0, 0.0, 0.02), v: Vector3::zeros() };
/// let mut state = system.default_state();
/// state.set_kinematics(&host)?;
/// system.reset_memories(&mut state)?;
/// system.reset_dissipated_energy(&mut state)?;
///
/// let (start, h) = (host.p.z, 1e-3);
/// for _ in 0..4000 {
///     let force = system.realize_dynamics(&mut state)?.body_force(ball).force;
///     host.v += (force - Vector3::z() * 9.81) * h;
///     host.p += host.v * h;
///     host.time += h;
///     system.finish_step(&mut state, &host, StepRule::HeldForces)?;
/// }
/// assert!((host.p.z - Parameters::default().resting_height(9.81)?).abs() < 1e-6);
///
/// // The ball has come to rest: what gravity has delivered is stored or dissipated.
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let delivered = 9.81 * (start - host.p.z);
/// let dissipated = dynamics.dissipated_energy().unwrap_or(f64::NAN);
/// assert!((delivered - dynamics.potential_energy() - dissipated).abs() < 1e-6);
/// # Ok::<(), force_elements::Error>(())
/// ```
pub trait KinematicsSource<T: Real> {
    /// Time \[s\].
    fn time(&self) -> T;
    /// The pose `X_GB` of a body.
    fn pose(&self, body: BodyIndex) -> Pose<T>;
    /// The velocity `V_GB` of a body.
    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<T>;
    /// The value of a coordinate. The default, for hosts without coordinates, is not finite, so a state refuses it.
    fn coordinate(&self, _coordinate: CoordinateIndex) -> T {
        T::lit(f64::NAN)
    }
    /// The rate of a coordinate. The default is not finite, like that of the value.
    fn coordinate_rate(&self, _coordinate: CoordinateIndex) -> T {
        T::lit(f64::NAN)
    }
}

/// Poses of all bodies and values of all coordinates: [`pose`](Self::pose), [`coordinate`](ByPlace::coordinate), or all
/// of them by place, [`bodies`](ByPlace::bodies), [`coordinates`](ByPlace::coordinates).
pub type Positions<T> = ByPlace<Pose<T>, T>;

clone_by_field!(Kinematics { time, positions, velocities });

impl<T: Real> Positions<T> {
    /// The pose `X_GB` of a body in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn pose(&self, body: impl AsIndex<BodyIndex>) -> &Pose<T> {
        self.body(body)
    }

    /// The vector from a body's origin to the point `p_G`, expressed in Ground.
    #[inline]
    pub(crate) fn offset_of(&self, body: impl AsIndex<BodyIndex>, p_G: &Point3<T>) -> Vector3<T> {
        p_G.coords - self.pose(body).translation.vector
    }

    /// Turns a body about its origin and shifts it, along the axes of Ground.
    pub(crate) fn displace(&mut self, body: BodyIndex, by: &SpatialVelocity<T>) {
        let pose = &mut self.bodies[body.index()];
        pose.translation.vector += by.linear;
        pose.rotation = Rotation3::new(by.angular) * pose.rotation;
    }
}

/// Velocities of all bodies' origins, expressed in Ground, and rates of all coordinates: [`velocity`](Self::velocity),
/// [`coordinate_rate`](Self::coordinate_rate), or all of them by place, [`bodies`](ByPlace::bodies),
/// [`coordinates`](ByPlace::coordinates).
pub type Velocities<T> = ByPlace<SpatialVelocity<T>, T>;

/// A small motion of every body and coordinate, or a small change of their velocities.
///
/// The motion of a body is a twist like its velocity: a rotation about the axes of Ground \[rad\] and a translation of
/// its origin \[m\], so that `dX = V dt`. Ground does not move: its entry in a motion or velocity is not read.
///
/// The multipliers of forces in [`apply_transpose`](crate::Linearization::apply_transpose) have the same type: their
/// product with the forces is a power. There the entry of Ground is read; it multiplies the force on Ground.
pub type Variation<T> = Velocities<T>;

impl<T: Real> Velocities<T> {
    /// No motion.
    pub fn zeros(topology: &Topology) -> Self {
        Self::filled(topology, SpatialVelocity::zero(), T::zero())
    }

    /// Sets every motion to zero.
    pub fn set_zero(&mut self) {
        self.bodies.fill(SpatialVelocity::zero());
        self.coordinates.fill(T::zero());
    }

    /// The velocity `V_GB` of a body's origin, expressed in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn velocity(&self, body: impl AsIndex<BodyIndex>) -> &SpatialVelocity<T> {
        self.body(body)
    }

    /// The velocity \[m/s\] of the point of a body that is at `p_G` \[m\], both in Ground.
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline]
    pub fn velocity_of_point(
        &self,
        positions: &Positions<T>,
        body: impl AsIndex<BodyIndex>,
        p_G: &Point3<T>,
    ) -> Vector3<T> {
        self.velocity_of_frame(positions, body, p_G).linear
    }

    /// The velocity `V_GF` of a frame F on a body, expressed in Ground, whose origin is at `p_GF` \[m\].
    ///
    /// # Panics
    /// If the body does not exist, like slice indexing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in dual numbers a call costs as much as the arithmetic")]
    pub fn velocity_of_frame(
        &self,
        positions: &Positions<T>,
        body: impl AsIndex<BodyIndex>,
        p_GF: &Point3<T>,
    ) -> SpatialVelocity<T> {
        self.velocity(body).shifted(positions.offset_of(body, p_GF))
    }

    /// The rate of a coordinate.
    ///
    /// # Panics
    /// If the coordinate does not exist, like slice indexing.
    #[inline]
    pub fn coordinate_rate(&self, coordinate: impl AsIndex<CoordinateIndex>) -> T {
        self.coordinate(coordinate)
    }
}

/// Time, positions and velocities, all finite.
#[derive(Debug, PartialEq)]
pub(crate) struct Kinematics<T: Real> {
    pub(crate) time: T,
    pub(crate) positions: Positions<T>,
    pub(crate) velocities: Velocities<T>,
}

impl<T: Real> Kinematics<T> {
    /// All bodies at rest at the Ground origin, all coordinates and time zero.
    pub(crate) fn at_rest(topology: &Topology) -> Self {
        Self {
            time: T::zero(),
            positions: Positions::filled(topology, Pose::identity(), T::zero()),
            velocities: Velocities::zeros(topology),
        }
    }

    /// The motion of everything that another topology also has; everything else is at rest at the Ground origin.
    pub(crate) fn carried_over(&self, topology: &Topology) -> Self {
        let mut carried = Self { time: self.time, ..Self::at_rest(topology) };
        let (positions, velocities) = (&mut carried.positions, &mut carried.velocities);
        for body in topology.bodies().filter(|&body| self.topology().has_body(body)) {
            *positions.body_mut(body) = *self.positions.body(body);
            *velocities.body_mut(body) = *self.velocities.body(body);
        }
        for c in topology.coordinates().filter(|&c| self.topology().has_coordinate(c)) {
            *positions.coordinate_mut(c) = self.positions.coordinate(c);
            *velocities.coordinate_mut(c) = self.velocities.coordinate(c);
        }
        carried
    }

    /// The same motion in another scalar.
    ///
    /// # Errors
    /// [`KinematicsError::NonFinite`] where it has a smaller range.
    pub(crate) fn cast<U: Real>(&self) -> Result<Kinematics<U>, KinematicsError> {
        let mut cast = Kinematics::at_rest(self.topology());
        cast.set_time(self.time.cast())?;
        for body in self.topology().bodies() {
            cast.set_pose(body, cast_pose(self.positions.pose(body)))?;
            cast.set_velocity(body, self.velocities.velocity(body).cast())?;
        }
        for coordinate in self.topology().coordinates() {
            cast.set_coordinate(coordinate, self.positions.coordinate(coordinate).cast())?;
            cast.set_coordinate_rate(coordinate, self.velocities.coordinate_rate(coordinate).cast())?;
        }
        Ok(cast)
    }

    pub(crate) fn topology(&self) -> &Topology {
        &self.positions.topology
    }

    pub(crate) fn set_time(&mut self, time: T) -> Result<(), KinematicsError> {
        finite(time.is_finite(), Quantity::Time)?;
        self.time = time;
        Ok(())
    }

    pub(crate) fn set_pose(&mut self, body: BodyIndex, X_GB: Pose<T>) -> Result<(), KinematicsError> {
        self.check_moving(body)?;
        let (X, off) = orthonormal(X_GB);
        let is_rotation = off <= T::lit(DISTORTED * DISTORTED);
        if !is_rotation || !is_finite(&X.translation.vector) {
            finite(is_finite_pose(&X_GB), Quantity::Pose(body))?;
            return Err(KinematicsError::NoRotation { body });
        }
        self.positions.bodies[body.index()] = X;
        Ok(())
    }

    pub(crate) fn set_velocity(
        &mut self,
        body: BodyIndex,
        V_GB: SpatialVelocity<T>,
    ) -> Result<(), KinematicsError> {
        self.check_moving(body)?;
        finite(V_GB.is_finite(), Quantity::Velocity(body))?;
        self.velocities.bodies[body.index()] = V_GB;
        Ok(())
    }

    pub(crate) fn set_coordinate(
        &mut self,
        coordinate: CoordinateIndex,
        q: T,
    ) -> Result<(), KinematicsError> {
        self.topology().check_coordinate(coordinate)?;
        finite(q.is_finite(), Quantity::Coordinate(coordinate))?;
        self.positions.coordinates[coordinate.index()] = q;
        Ok(())
    }

    pub(crate) fn set_coordinate_rate(
        &mut self,
        coordinate: CoordinateIndex,
        u: T,
    ) -> Result<(), KinematicsError> {
        self.topology().check_coordinate(coordinate)?;
        finite(u.is_finite(), Quantity::CoordinateRate(coordinate))?;
        self.velocities.coordinates[coordinate.index()] = u;
        Ok(())
    }

    /// Copies everything from a host; on an error some of it may have been copied.
    pub(crate) fn copy_from(&mut self, host: &impl KinematicsSource<T>) -> Result<(), KinematicsError> {
        self.set_time(host.time())?;
        let topology = self.topology().clone();
        for body in topology.bodies() {
            self.set_pose(body, host.pose(body))?;
            self.set_velocity(body, host.velocity(body))?;
        }
        for coordinate in topology.coordinates() {
            self.set_coordinate(coordinate, host.coordinate(coordinate))?;
            self.set_coordinate_rate(coordinate, host.coordinate_rate(coordinate))?;
        }
        Ok(())
    }

    fn check_moving(&self, body: BodyIndex) -> Result<(), KinematicsError> {
        self.topology().check_body(body)?;
        if body == BodyIndex::GROUND { Err(KinematicsError::GroundIsFixed) } else { Ok(()) }
    }
}

/// Refuses a quantity that is not finite.
pub(crate) fn finite(is_finite: bool, quantity: Quantity) -> Result<(), KinematicsError> {
    if is_finite { Ok(()) } else { Err(KinematicsError::NonFinite { quantity }) }
}
