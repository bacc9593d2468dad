//! A spring and damper on the six coordinates of one frame in another: the common part of both bushings.

use core::fmt::Debug;

use nalgebra::{Matrix3, Vector3, Vector6};

mod chart;
mod derivatives;

pub use chart::Chart;

pub use crate::elements::frames::{Framed, Frames};

use super::LARGEST_TURN;
use super::frames;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementResult, Error, ForceElement, Given, Pen, Stiffnesses,
    Variables,
};
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity};
use crate::mechanics::{BodyIndex, ForceAccumulator, Frame, Topology, Velocities};
use crate::results;

/// The law of a bushing: coordinates of the orientation of M in F, and the springs and dampers on them.
///
/// The coordinates are `q = (θ, x)`: three angles of `R_FM`, and `x = Bᵀ p_FM`, where the axes `B` are between those of F
/// and of M. The bodies get the forces of equal power to the generalized forces `f`. A [`Chart`] can be made only in this
/// crate: for other laws, see [`laws`](crate::laws).
pub trait Coordinates<T: Real>: Debug + Clone + Send + Sync + 'static {
    /// The kind's name.
    const KIND: &'static str;
    /// Whether `B` turns half-way with M, rather than being the axes of F.
    const HALF_WAY: bool;

    /// Stiffness and damping.
    type Parameters: Variables<T> + Copy + Default;
    /// The orientation at the last accepted step.
    type Memory: Variables<T> + Copy + Default;

    /// Returns the angles of an orientation, given the last accepted one, and the quantities that follow from them.
    ///
    /// # Errors
    /// Those of the angles, where they are singular or ambiguous.
    fn chart(R_FM: &Matrix3<T>, memory: &Self::Memory) -> ElementResult<(Vector3<T>, Chart<T>)>;

    /// The derivatives of `N ω` and of `Nᵀ m` by a turn of M, in the axes `B`, where `ω` and `m` are constant.
    fn rates_by_turn(chart: &Chart<T>, w: &Vector3<T>, m: &Vector3<T>) -> [Matrix3<T>; 2];

    /// The memory of an orientation.
    fn remembered(angles: &Vector3<T>, chart: &Chart<T>) -> Self::Memory;

    /// The derivatives of the numbers of the memory by a turn of M, in the axes `B`.
    fn memory_by_turn(chart: &Chart<T>) -> impl Iterator<Item = Vector3<T>>;

    /// The energy stored.
    fn energy(&self, parameters: &Self::Parameters, q: &Vector6<T>) -> T;

    /// Elastic and damping forces, both in the sense of `q`.
    fn resistance(&self, parameters: &Self::Parameters, q: &Vector6<T>, qdot: &Vector6<T>)
    -> [Vector6<T>; 2];

    /// The slopes of the elastic forces by `q`, and of the damping forces by its rate, both symmetric: of moments by
    /// angles, of moments by translations, and of forces by translations. With `steepest`, the slopes of curves are the
    /// steepest ones. Without `HALF_WAY` the slopes of moments by translations are zero.
    fn slopes(
        &self,
        parameters: &Self::Parameters,
        motion: [&Vector6<T>; 2],
        steepest: bool,
    ) -> [[Matrix3<T>; 3]; 2];

    /// Rows and columns of the entries of stiffness and of damping, in the order of the parameters.
    fn entries() -> impl Iterator<Item = (usize, usize)>;

    /// The rate of the angle that must not change by more than two radians in a step \[rad/s\], given the rates of the
    /// coordinates and the angular velocity of M in F.
    fn turning(qdot: &Vector6<T>, w_FM: &Vector3<T>) -> T;
}

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Pose of frame F in Ground.
        pub X_GF: Pose<T> ["m"];
        /// Pose of frame M in Ground.
        pub X_GM: Pose<T> ["m"];
        /// Pose of frame M in frame F.
        pub X_FM: Pose<T> ["m"];
        /// Angles and translations.
        pub q: Vector6<T> ["rad", "m"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        chart: Chart<T>;
    }
}

results! {
    /// Results at Velocity stage.
    #[derive(Copy)]
    pub struct Velocity<T> {
        /// Velocity of frame F in Ground, expressed in Ground.
        pub V_GF: SpatialVelocity<T> ["rad/s", "m/s"];
        /// Velocity of frame M in Ground, expressed in Ground.
        pub V_GM: SpatialVelocity<T> ["rad/s", "m/s"];
        /// Velocity of frame M in frame F, expressed in F: the rate of change of `X_FM`.
        pub V_FM: SpatialVelocity<T> ["rad/s", "m/s"];
        /// Rates of angles and translations.
        pub qdot: Vector6<T> ["rad/s", "m/s"];
    }
}

results! {
    /// Results at Dynamics stage.
    #[derive(Copy)]
    pub struct Dynamics<T> {
        /// Generalized forces `f` of the six coordinates `q`, as a joint between F and M would apply them to body 2.
        pub f: Vector6<T> ["N·m", "N"];
        /// Force on body 1 at F's origin, expressed in Ground.
        pub F_GF: SpatialForce<T> ["N·m", "N"];
        /// Force on body 2 at M's origin, expressed in Ground.
        pub F_GM: SpatialForce<T> ["N·m", "N"];
        /// The power dissipated.
        pub power_dissipated: T ["W"];
    }
}

/// A massless bushing that connects frame F, fixed on body B1, to frame M, fixed on body B2:
/// [`LinearBushing`](crate::LinearBushing) or [`SpatialBushing`](crate::SpatialBushing).
#[derive(Debug, Clone, PartialEq)]
pub struct Bushing<T: Real, C: Coordinates<T>> {
    bodies: [BodyIndex; 2],
    pub(super) coordinates: C,
    pub(super) defaults: Framed<T, C::Parameters>,
}

impl<T: Real, C: Coordinates<T> + Default> Bushing<T, C> {
    /// A bushing from frame F on one body to frame M on another.
    ///
    /// The poses of the frames on their bodies can be changed in a state ([`Framed::frames`]).
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`](crate::ElementError::SameEnds) if both frames are on the same body, or with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for a pose that is not finite or not a rotation, or a stiffness or damping out of
    /// range.
    pub fn new(frame1: Frame<T>, frame2: Frame<T>, parameters: C::Parameters) -> Result<Self, Error> {
        let (bodies, defaults) = Framed::new(C::KIND, [frame1, frame2], parameters)?;
        Ok(Self { bodies, coordinates: C::default(), defaults })
    }
}

impl<T: Real, C: Coordinates<T>> Bushing<T, C> {
    /// The body that carries frame F.
    pub fn body1(&self) -> BodyIndex {
        self.bodies[0]
    }

    /// The body that carries frame M.
    pub fn body2(&self) -> BodyIndex {
        self.bodies[1]
    }

    /// The same bushing in another scalar, with these coordinates and parameters.
    pub(super) fn over<U: Real, D: Coordinates<U>>(
        &self,
        coordinates: D,
        law: D::Parameters,
    ) -> Bushing<U, D> {
        Bushing {
            bodies: self.bodies,
            coordinates,
            defaults: Framed { frames: self.defaults.frames.cast(), law },
        }
    }
}

impl<T: Real, C: Coordinates<T>> ForceElement<T> for Bushing<T, C> {
    const KIND: &'static str = C::KIND;
    type Parameters = Framed<T, C::Parameters>;
    type Discrete = C::Memory;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        frames::check_bodies(self.bodies, topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.defaults
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        let [X_GF, X_GM, X_FM] = given.parameters.frames.placed(self.bodies, given.positions);
        let (angles, chart) = C::chart(X_FM.rotation.matrix(), given.discrete)?;
        let q = joined(&angles, &chart.translation::<C>(&X_FM.translation.vector));

        // Field by field: a whole struct would be built and then copied.
        cache.X_GF = X_GF;
        cache.X_GM = X_GM;
        cache.X_FM = X_FM;
        cache.q = q;
        cache.potential_energy = self.coordinates.energy(&given.parameters.law, &q);
        cache.chart = chart;
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        let Position { X_GF, X_GM, X_FM, chart, .. } = at.position;
        let [V_GF, V_GM, V_FM] =
            frames::relative_velocities(self.bodies, at.positions, at.velocities, [X_GF, X_GM]);
        let [angles, translation] = chart.rates::<C>(&X_FM.translation.vector, &V_FM.angular, &V_FM.linear);
        cache.V_GF = V_GF;
        cache.V_GM = V_GM;
        cache.V_FM = V_FM;
        cache.qdot = joined(&angles, &translation);
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        let Position { X_GF, X_GM, q, .. } = at.position;
        let qdot = &at.velocity.qdot;
        let [elastic, damping] = self.coordinates.resistance(&at.parameters.law, q, qdot);
        let f = -(elastic + damping);

        let F_GM = wrench_on_M::<T, C>(at.position, &f);
        let F_GF = -F_GM.shifted(X_GF.translation.vector - X_GM.translation.vector);
        cache.f = f;
        cache.F_GF = F_GF;
        cache.F_GM = F_GM;
        cache.power_dissipated = damping.dot(qdot);
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Position { X_GF, X_GM, .. } = at.position;
        frames::add_forces(self.bodies, [X_GF, X_GM], [&at.dynamics.F_GF, &at.dynamics.F_GM], forces);
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let (position, dynamics) = (at.position, at.dynamics);
        frames::draw(self.bodies, [&position.X_GF, &position.X_GM], [&dynamics.F_GF, &dynamics.F_GM], pen);
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        self.report(at, stiffnesses);
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, _: f64) -> f64 {
        LARGEST_TURN / C::turning(&at.velocity.qdot, &at.velocity.V_FM.angular).to_f64()
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_in_scope(at, blocks);
    }

    // Written with the forces.
    fn linearize_variables(&self, _: &AtDynamics<'_, T, Self>, _: &mut Blocks<'_, T>) {}

    fn linearize_commit(&self, _: &AtDynamics<'_, T, Self>, _: &mut Blocks<'_, T>) {}

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        let [.., X_FM] = given.parameters.frames.placed(self.bodies, given.positions);
        let (angles, chart) = C::chart(X_FM.rotation.matrix(), &C::Memory::default())?;
        *next = C::remembered(&angles, &chart);
        Ok(())
    }

    fn is_path_dependent(&self) -> bool {
        false
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        let (angles, _) = halves(&at.position.q);
        *next = C::remembered(&angles, &at.position.chart);
        Ok(())
    }
}

/// The wrench of generalized forces on M, at its origin, in Ground.
#[inline(always)]
#[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
fn wrench_on_M<T: Real, C: Coordinates<T>>(position: &Position<T>, f: &Vector6<T>) -> SpatialForce<T> {
    let Position { X_GF, X_FM, chart, .. } = position;
    let (moments, forces) = halves(f);
    let [torque, force] = chart.wrench::<C>(&X_FM.translation.vector, &moments, &forces);
    SpatialForce::new(torque, force).rotated(&X_GF.rotation)
}

/// The first and the last three components.
#[inline]
fn halves<T: Real>(q: &Vector6<T>) -> (Vector3<T>, Vector3<T>) {
    (q.fixed_rows::<3>(0).into(), q.fixed_rows::<3>(3).into())
}

/// Six components from two halves.
#[inline]
fn joined<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Vector6<T> {
    Vector6::new(a.x, a.y, a.z, b.x, b.y, b.z)
}
