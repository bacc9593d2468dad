//! A six-axis spring-damper without a singular orientation up to a whole turn.

use nalgebra::{Rotation3, Vector3, Vector4, Vector6};

mod curve;
mod derivatives;
mod table;
mod turn;

pub use curve::{Curve, CurvePoint};

pub use crate::elements::frames::{Dynamics, Framed, Frames};

use super::frames::Ends;
use crate::elements::LARGEST_TURN;
use crate::framework::variables::Variables as _;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, Error, ForceElement, Given, Pen, Stiffnesses,
    stored_variables,
};
pub use crate::math::Symmetric6;
use crate::math::{InvalidValue, Pose, Real, Requirement, SpatialForce, SpatialVelocity, check};
use crate::mechanics::{BodyIndex, Checked, ForceAccumulator, Frame, Topology, Velocities};
use crate::results;
use turn::Turn;

/// A massless bushing between frame F on body B1 and frame M on body B2, with coupled axes and one law for all
/// orientations up to a whole turn.
///
/// ```text
///        B1 ──X_B1F── F ~~~[K, C]~~~ H ~~~~~~ M ──X_B2M── B2
///                             half-way frame
/// ```
///
#[doc = include_str!("../../../docs/sketches/spatial_bushing.svg")]
///
/// # Law
///
/// M is rotated in F by the rotation vector `θ = φ n`: `R_FM = exp(θ×)`. The half-way frame H is rotated in F by half
/// that angle about the same axis, `R_FH = exp(θ×/2)`, and its origin is midway between theirs. `x` is the vector from
/// F's origin to M's, expressed in H. With `q = (θ, x)`:
///
/// ```text
/// U   = qᵀ K q / 2 + Σ ∫ φ_i dq_i
/// f   = −K q − C q̇ − φ(q) − ψ(q̇)
/// ```
///
/// `f` are the generalized forces of `q`: the bodies get the forces and torques of equal power. With `ω` the angular
/// velocity of M in F and `ω_H` that of H, both expressed in H, the rates are
///
/// ```text
/// θ̇   = n nᵀ ω + (φ/2)/sin(φ/2) (1 − n nᵀ) ω
/// ẋ   = R_GHᵀ (v_M − v_F) − ω_H × x
/// ω_H = (ω_F + ω_M − tan(φ/4) n × ω) / 2
/// ```
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `K` | [`stiffness`](Parameters::stiffness): rotations first | N·m/rad, N/rad, N/m | symmetric, positive semidefinite |
/// | `C` | [`damping`](Parameters::damping): likewise | N·m·s/rad, N·s/rad, N·s/m | likewise |
/// | `φ_i` | [`Curve`] of one axis by displacement, a table or a function, optional | N·m, N | |
/// | `ψ_i` | [`Curve`] of one axis by rate, likewise | N·m, N | of the sign of the rate |
/// | `X_B1F`, `X_B2M` | [`frames`](Framed::frames): where F and M sit on their bodies | | rotations orthonormal |
///
/// # Compared with the gimbal law
///
/// - [`LinearBushing`](crate::LinearBushing) has three gimbal angles, singular at a middle angle of ±90°; this law is
///   regular up to a whole turn, and for small angles and translations the two differ by terms of second order.
/// - The two bodies are interchangeable: exchanging the frames exchanges the forces. Translations are measured in H,
///   which turns with both.
/// - All forces derive from the potential `U`, so energy is conserved. It is not if the force is merely applied
///   half-way, without the torque that results from the rotation of H.
///
/// # Energy
///
/// Stored: `U`. Lost: `q̇ᵀ C q̇ + q̇ᵀ ψ(q̇)`, known instantaneously, and not negative (to roundoff) unless a function
/// `ψ` supplies power.
///
/// # Turns beyond half a turn
///
/// An orientation determines `θ` only up to whole turns. Before the first accepted step the rotation is at most half a
/// turn. From then on the bushing remembers the orientation ([`Discrete`]) and takes the rotation that is reached from
/// there the shortest way, so that force and energy are continuous beyond half a turn, up to 2.9° before a whole turn.
/// There the axis of the rotation, and with it the direction of the force, is not defined, and the position calculation
/// returns [`WholeTurn`](crate::Refusal::WholeTurn); it also does if the shortest way passes there. A shorter step does not help.
///
/// It returns [`AmbiguousTurn`](crate::Refusal::AmbiguousTurn) if the shortest way is longer than 3 rad, or passes beside a whole turn to a rotation
/// about an axis more than 60° away; the host then repeats the step with a fraction of its length. A rotation of more
/// than half a turn within one step cannot be distinguished from the shorter one to the same orientation: it is refused
/// up to 2π − 3 rad, which is 3.28 rad, and beyond that it is taken for the shorter one. The host must keep the
/// rotation in a step below half a turn.
///
/// [`reset_memory`](crate::ForceSystem::reset_memory) restarts the memory within half a turn. Without it, bodies placed
/// elsewhere between steps count as having moved there in one step.
///
/// # Errors of an evaluation
///
/// [`WholeTurn`](crate::Refusal::WholeTurn) and [`AmbiguousTurn`](crate::Refusal::AmbiguousTurn), by [`Error::own`]; [`ElementError::NonFiniteForce`] if a force or energy is not
/// finite.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, it reports its stiffness and damping at the
/// present displacement, but tables with their steepest slope; and its load times the lever. Turned far and displaced, it
/// may be stiffer by a tenth.
///
/// # Linearization
///
/// Exact, by motion, all parameters and memory, including the commit, with the slopes that curves return. There are no
/// branches.
///
/// # Source
///
/// E. D. Fasse, P. C. Breedveld, *Modeling of elastically coupled bodies: Part I — General theory and geometric potential
/// function method*, Journal of Dynamic Systems, Measurement, and Control 120 (1998) 496–500, on potentials of two
/// frames; J. Solà, J. Deray, D. Atchuthan, *A micro Lie theory for state estimation in robotics* (2018), appendix B, on
/// the rotation vector and its Jacobians. The half-way rates follow from those.
///
/// # Example: a mount whose lateral motion also turns it
///
/// ```
/// use force_elements::nalgebra::{Matrix6, Rotation3, Translation3, Vector3, Vector6};
/// use force_elements::spatial_bushing::{Parameters, Symmetric6};
/// use force_elements::{ForceSystem, Frame, Pose, SpatialBushing};
///
/// let mut system = ForceSystem::<f64>::new();
/// let body = system.add_body();
/// let mut stiffness = Matrix6::from_diagonal(&Vector6::new(10.0, 10.0, 10.0, 500.0, 500.0, 500.0));
/// stiffness[(1, 3)] = 20.0;
/// stiffness[(3, 1)] = 20.0;
/// let parameters = Parameters { stiffness: Symmetric6::from_matrix(&stiffness)?, ..Parameters::default() };
/// let frame = Frame::ground(Pose::identity());
/// let bushing = system.add(SpatialBushing::new(frame, Frame::of(body), parameters)?)?;
///
/// let mut state = system.default_state();
/// state.set_pose(body, Pose::translation(0.01, 0.0, 0.0))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// assert!((dynamics.of(bushing).dynamics.f[1] + 0.2).abs() < 1e-15);
///
/// // Upside down: no orientation below a whole turn is special.
/// let over = Rotation3::from_axis_angle(&Vector3::y_axis(), 3.0);
/// state.set_pose(body, Pose::from_parts(Translation3::identity(), over))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// assert!((dynamics.of(bushing).dynamics.f[1] + 30.0).abs() < 1e-12);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SpatialBushing<T: Real> {
    ends: Ends,
    curves: Curves<T>,
    damping_curves: Curves<T>,
    defaults: StateParameters<T>,
}

/// By axis.
type Curves<T> = [Option<Curve<T>>; 6];

stored_variables! {
    /// Stiffness and damping.
    ///
    /// Axes are ordered `q_x, q_y, q_z, p_x, p_y, p_z`: rotations first.
    #[derive(Copy)]
    pub struct Parameters<T> {
        /// Stiffness `K`.
        pub stiffness: Symmetric6<T> ["N·m/rad", "N/rad", "N/m"] => Position;
        /// Damping `C`.
        pub damping: Symmetric6<T> ["N·m·s/rad", "N·s/rad", "N·s/m"] => Dynamics;
    }
}

/// The parameters in a state: the frames, by default those with which the bushing was made, and the law.
pub type StateParameters<T> = Framed<T, Parameters<T>>;

stored_variables! {
    /// Memory of the bushing: the orientation of M in F at the last accepted step, with the direction of its rotation.
    #[derive(Copy)]
    pub struct Discrete<T> {
        /// Whether there has been an accepted step or a [`reset_memory`](crate::ForceSystem::reset_memory). Before that
        /// the rotation is at most half a turn, and the quaternion is not read.
        pub accepted: bool => Position;
        /// The unit quaternion `(n sin φ/2, cos φ/2)`.
        pub quaternion: Vector4<T>, finite => Position;
    }
    check |p| is_unit(p);
}

results! {
    /// Results at Position stage.
    #[derive(Copy)]
    pub struct Position<T> {
        /// Pose of frame F in Ground.
        pub X_GF: Pose<T> ["m"];
        /// Pose of frame M in Ground.
        pub X_GM: Pose<T> ["m"];
        /// Pose of the half-way frame H in Ground: its origin is the midpoint.
        pub X_GH: Pose<T> ["m"];
        /// Rotation vector and translation `θ, x`.
        pub q: Vector6<T> ["rad", "m"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        turn: Turn<T>;
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
        /// Rates of the rotation vector and the translation.
        pub qdot: Vector6<T> ["rad/s", "m/s"];
    }
}

/// Refuses a memory that is not a rotation.
fn is_unit<T: Real>(memory: &Discrete<T>) -> Result<(), InvalidValue> {
    let square = memory.quaternion.norm_squared();
    let is_unit = (square - T::one()).abs() <= T::lit(1e-6).max(T::default_epsilon() * T::lit(64.0));
    check::that(is_unit || !memory.accepted, "quaternion", square.sqrt(), Requirement::Rotation)
}

impl<T: Real> SpatialBushing<T> {
    /// A bushing from frame F on one body to frame M on another.
    ///
    /// The poses of the frames on their bodies can be changed in a state ([`Framed::frames`]).
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`] if both frames are on the same body, or with
    /// [`ElementError::InvalidValue`] for a pose that is not finite or not a rotation, or a matrix that is not positive
    /// semidefinite.
    pub fn new(frame1: Frame<T>, frame2: Frame<T>, parameters: Parameters<T>) -> Result<Self, Error> {
        let (ends, frames) = Ends::of(&frame1, &frame2).map_err(|error| Error::of_new(Self::KIND, error))?;
        let defaults = Framed { frames, law: parameters };
        defaults.validate().map_err(|error| Error::of_new(Self::KIND, error))?;
        Ok(Self { ends, curves: Default::default(), damping_curves: Default::default(), defaults })
    }

    /// The same bushing, with a curve on an axis in addition to its stiffness: 0 to 2 are the components of the rotation
    /// vector, 3 to 5 those of the translation.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] for an axis above 5.
    pub fn with_curve(mut self, axis: usize, curve: Curve<T>) -> Result<Self, Error> {
        *Self::place(&mut self.curves, axis)? = Some(curve);
        Ok(self)
    }

    /// The same bushing, with a curve of the force over the rate on an axis in addition to its damping, in the same
    /// order. The energy of the curve is not used.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`] for an axis above 5, or a table that does not dissipate:
    /// its force must have the sign of the rate, also beyond its ends, and the table must have a point at rate zero
    /// with zero force. A function is not checked.
    pub fn with_damping_curve(mut self, axis: usize, curve: Curve<T>) -> Result<Self, Error> {
        curve.check_dissipation().map_err(|error| Error::of_new(Self::KIND, error))?;
        *Self::place(&mut self.damping_curves, axis)? = Some(curve);
        Ok(self)
    }

    fn place(curves: &mut Curves<T>, axis: usize) -> Result<&mut Option<Curve<T>>, Error> {
        let value =
            InvalidValue { name: "axis", value: 6.0, requirement: Requirement::AtMost("5"), bound: None };
        curves.get_mut(axis).ok_or_else(|| Error::of_new(Self::KIND, value))
    }

    /// The body that carries frame F.
    pub fn body1(&self) -> BodyIndex {
        self.ends.body1
    }

    /// The body that carries frame M.
    pub fn body2(&self) -> BodyIndex {
        self.ends.body2
    }

    /// The curve on an axis, if it has one.
    pub fn curve(&self, axis: usize) -> Option<&Curve<T>> {
        self.curves.get(axis)?.as_ref()
    }

    /// The curve of the force over the rate on an axis, if it has one.
    pub fn damping_curve(&self, axis: usize) -> Option<&Curve<T>> {
        self.damping_curves.get(axis)?.as_ref()
    }

    /// The same bushing in another scalar.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::BoundToScalar`] if a curve is a user's function.
    pub fn cast<U: Real>(&self) -> Result<SpatialBushing<U>, Error> {
        let Framed { frames, law } = &self.defaults;
        let cast = |curves: &Curves<T>| {
            let mut cast = Curves::<U>::default();
            for (axis, curve) in with_axes(curves) {
                let curve = curve.cast().ok_or(ElementError::BoundToScalar);
                cast[axis] = Some(curve.map_err(|error| Error::of_new(Self::KIND, error))?);
            }
            Ok::<_, Error>(cast)
        };
        let (curves, damping_curves) = (cast(&self.curves)?, cast(&self.damping_curves)?);
        let defaults = Framed { frames: frames.cast(), law: law.cast() };
        Ok(SpatialBushing { ends: self.ends, curves, damping_curves, defaults })
    }
}

/// The existing curves, with their axes.
fn with_axes<T: Real>(curves: &Curves<T>) -> impl Iterator<Item = (usize, &Curve<T>)> {
    curves.iter().enumerate().filter_map(|(axis, curve)| Some((axis, curve.as_ref()?)))
}

/// The first and the last three components.
#[inline]
fn halves<T: Real>(q: &Vector6<T>) -> (Vector3<T>, Vector3<T>) {
    (Vector3::new(q[0], q[1], q[2]), Vector3::new(q[3], q[4], q[5]))
}

/// Six components from two halves.
#[inline]
fn joined<T: Real>(a: &Vector3<T>, b: &Vector3<T>) -> Vector6<T> {
    Vector6::new(a.x, a.y, a.z, b.x, b.y, b.z)
}

impl<T: Real> Position<T> {
    /// The wrenches of generalized forces on F and on M, each at its origin, in Ground.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
    fn wrenches(&self, f: &Vector6<T>) -> [SpatialForce<T>; 2] {
        let Self { X_GH, q, turn, .. } = self;
        let ((moment, force), (_, x)) = (halves(f), halves(q));
        // The moment of the force about F, which both bodies share, and the contribution of the rotation of H.
        let lever = x.cross(&force) * T::lit(0.5);
        let torque = turn.rate(&moment) - turn.quarter().cross(&lever);
        [SpatialForce::new(-torque - lever, -force), SpatialForce::new(torque - lever, force)]
            .map(|F| F.rotated(&X_GH.rotation))
    }
}

impl<T: Real> ForceElement<T> for SpatialBushing<T> {
    const KIND: &'static str = "spatial_bushing";
    type Parameters = StateParameters<T>;
    type Discrete = Discrete<T>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        self.ends.check_topology(topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.defaults
    }

    fn calc_position(
        &self,
        given: &Given<'_, T, Self>,
        cache: &mut Self::Position,
    ) -> Result<(), ElementError> {
        let (X_GF, X_GM, R_FM) = self.ends.poses(given.positions, &given.parameters.frames);
        let from = given.discrete.accepted.then_some(&given.discrete.quaternion);
        let turn = Turn::new(&R_FM, from)?;
        let R_GH = X_GF.rotation * Rotation3::from_matrix_unchecked(turn.half());
        let (p_GF, p_GM) = (X_GF.translation.vector, X_GM.translation.vector);
        let q = joined(&turn.rotation_vector(), &(R_GH.inverse() * (p_GM - p_GF)));
        let half = T::lit(0.5);
        let mut energy = half * q.dot(&given.parameters.law.stiffness.times(&q));
        for (axis, curve) in with_axes(&self.curves) {
            energy += curve.at(q[axis]).energy;
        }
        *cache = Position {
            X_GF,
            X_GM,
            X_GH: Pose::from_parts(((p_GF + p_GM) * half).into(), R_GH),
            q,
            potential_energy: energy,
            turn,
        };
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<(), ElementError> {
        let Position { X_GF, X_GM, X_GH, q, turn, .. } = at.position;
        let (V_GF, V_GM) = self.ends.velocities(at.positions, velocities, [X_GF, X_GM]);
        let R_HG = X_GH.rotation.inverse();
        let [w_F, w_M] = [V_GF, V_GM].map(|V| R_HG * V.angular);
        let w = w_M - w_F;
        let w_H = (w_F + w_M - turn.quarter().cross(&w)) * T::lit(0.5);
        let (_, x) = halves(q);
        let v = R_HG * (V_GM.linear - V_GF.linear) - w_H.cross(&x);
        *cache = Velocity { V_GF, V_GM, qdot: joined(&turn.rate(&w), &v) };
        Ok(())
    }

    fn calc_dynamics(
        &self,
        at: &AtVelocity<'_, T, Self>,
        cache: &mut Self::Dynamics,
    ) -> Result<(), ElementError> {
        let Parameters { stiffness, damping } = &at.parameters.law;
        let Position { q, .. } = at.position;
        let qdot = &at.velocity.qdot;
        let mut resistance = damping.times(qdot);
        for (axis, curve) in with_axes(&self.damping_curves) {
            resistance[axis] += curve.at(qdot[axis]).force;
        }
        let mut f = -(stiffness.times(q) + resistance);
        for (axis, curve) in with_axes(&self.curves) {
            f[axis] -= curve.at(q[axis]).force;
        }

        let [F_GF, F_GM] = at.position.wrenches(&f);
        *cache = Dynamics { f, F_GF, F_GM, power_dissipated: resistance.dot(qdot) };
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Position { X_GF, X_GM, .. } = at.position;
        self.ends.add_forces([X_GF, X_GM], [&at.dynamics.F_GF, &at.dynamics.F_GM], forces);
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.position.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let (position, dynamics) = (at.position, at.dynamics);
        self.ends.draw([&position.X_GF, &position.X_GM], [&dynamics.F_GF, &dynamics.F_GM], pen);
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let (Parameters { stiffness, damping }, position) = (&at.parameters.law, at.position);
        let [mut stiffness, mut damping] = [stiffness, damping].map(Symmetric6::matrix);
        for (axis, curve) in with_axes(&self.curves) {
            stiffness[(axis, axis)] += curve.steepest(position.q[axis]);
        }
        for (axis, curve) in with_axes(&self.damping_curves) {
            damping[(axis, axis)] += curve.steepest(at.velocity.qdot[axis]);
        }
        let wrench_on_M = |f: &Vector6<T>| position.wrenches(f)[1];
        self.ends.report_springs([&stiffness, &damping], wrench_on_M, &position.X_GM, stiffnesses);
        let ends = self.ends.at([&position.X_GH, &position.X_GH]);
        let SpatialForce { torque, force } = &at.dynamics.F_GM;
        stiffnesses.load(force.norm().to_f64(), torque.norm().to_f64(), ends);
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, _: f64) -> f64 {
        let Velocity { V_GF, V_GM, .. } = at.velocity;
        LARGEST_TURN / (V_GM.angular - V_GF.angular).norm().to_f64()
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        // Any point of body 2 serves; its origin has no lever.
        let p_GB = at.positions.pose(Checked(self.ends.body2)).translation.vector.into();
        blocks.add_between(&self.between(at, &p_GB));
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_force_by_variables(at, blocks);
    }

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_memory(at, blocks);
    }

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        let (_, _, R_FM) = self.ends.poses(given.positions, &given.parameters.frames);
        let turn = Turn::new(&R_FM, None)?;
        *next = Discrete { accepted: true, quaternion: turn.quaternion() };
        Ok(())
    }

    fn is_path_dependent(&self) -> bool {
        false
    }

    fn accept_step(
        &self,
        at: &AtDynamics<'_, T, Self>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        *next = Discrete { accepted: true, quaternion: at.position.turn.quaternion() };
        Ok(())
    }
}
