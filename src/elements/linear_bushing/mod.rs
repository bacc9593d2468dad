//! A six-axis spring-damper between two frames.

use nalgebra::{ComplexField, Matrix6, Rotation3, Vector3, Vector6};

mod derivatives;
mod law;
mod variables;

pub use variables::{Discrete, Parameters, Position, StateParameters, Velocity};

pub use crate::elements::frames::{Dynamics, Framed, Frames};

use crate::elements::LARGEST_TURN;
use crate::framework::variables::Variables as _;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, Error, ForceElement, Given, Pen, Stiffnesses,
};
use crate::math::{Pose, Real, SpatialForce};
use crate::mechanics::{BodyIndex, ForceAccumulator, Frame, Topology, Velocities};

use super::frames::Ends;
use derivatives::{geometric_stiffness, rates_by_turn};
use law::{Gimbal, principal_angles, with_turns};

/// A massless bushing that connects frame F, fixed on body B1, to frame M, fixed on body B2.
///
/// ```text
///        B1 ──X_B1F── F ~~~~[k, c]~~~~ M ──X_B2M── B2
/// ```
///
#[doc = include_str!("../../../docs/sketches/linear_bushing.svg")]
///
/// # Law
///
/// The orientation of M in F is expressed by three body-fixed x-y-z angles, as though a gimbal joined the frames,
/// and its position by a vector in F: `R_FM = R_x(q_x)·R_y(q_y)·R_z(q_z)` and `p_FM = (p_x, p_y, p_z)`. With
/// `q = (q_x, q_y, q_z, p_x, p_y, p_z)` each axis has its own spring and damper:
///
/// ```text
/// f_i = −(k_i q_i + c_i q̇_i)
/// ```
///
/// The moments `f_0, f_1, f_2` act about the three gimbal axes, which are not perpendicular, so they do not form
/// a vector; the torque on B2 is the one of equal power. The forces `f_3, f_4, f_5` form a vector in F, acting on
/// B2 at M's origin; B1 gets the opposite force along the same line.
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k` | [`stiffness`](Parameters::stiffness): three torsional, three translational | N·m/rad, N/m | ≥ 0 |
/// | `c` | [`damping`](Parameters::damping): likewise | N·m·s/rad, N·s/m | ≥ 0 |
/// | `X_B1F`, `X_B2M` | [`frames`](StateParameters::frames): poses of F and M on their bodies | | rotations orthonormal |
///
/// # Energy
///
/// Stored: `Σ k_i q_i² / 2`. Lost: `Σ c_i q̇_i²`, known instantaneously.
///
/// # Whole turns
///
/// An orientation determines `q_x` and `q_z` only up to whole turns. The bushing remembers both from the last accepted
/// step ([`Discrete`]) and tracks them from there, so that force and energy are continuous over any number of turns
/// about the first or the last axis. `q_y` stays within ±π/2. Before the first accepted step, `q_x` and `q_z` are the
/// values within ±π.
///
/// The angles are those of a rotation of M in F about a fixed axis from its orientation at the last accepted step; up
/// to 3 rad, the orientations at both ends determine such a rotation. Where it passes close to the singular case below,
/// a small deviation from the fixed axis would lead past the other side, which changes both angles by a whole turn. A
/// step that changes `q_x` or `q_z` by more than 0.1 rad is therefore refused with [`AmbiguousAngles`](crate::Refusal::AmbiguousAngles) if
///
/// - M has turned by more than 3 rad, or
/// - both have changed by more than 0.1 rad, and `q_y` has been beyond ±60° in between.
///
/// The second condition includes every step across the singular case, which changes both by π. A host repeats a refused
/// step with a fraction of its length, as the integrators of [`simulation`](crate::simulation) do;
/// [`SemiImplicitEuler`](crate::simulation::SemiImplicitEuler), whose length is fixed, stops. Rotations by more than
/// half a turn, or a step in which M circles the singular case, cannot be detected, because only the orientations
/// before and after are known; steps in which `q_x` or `q_z` would change by more than 2 rad at the present velocities are
/// [refused](crate::ForceSystem::passing_time).
///
/// [`reset_memory`](crate::ForceSystem::reset_memory) restarts the memory. Use it in three cases:
///
/// - At the start of a simulation nothing is remembered, and the first step is not checked unless the memory is reset
///   after the initial poses are set.
/// - Bodies placed elsewhere between steps, and changed frames, count as having moved there in one step.
/// - A disabled bushing keeps its memory and misses turns made meanwhile.
///
/// # Singular case
///
/// At a middle angle of ±90° the first and last axes coincide. Near it the rates of the outer angles, and the torques
/// of moments about their axes, grow by up to `1/cos q_y`. The position calculation returns [`Singular`](crate::Refusal::Singular) when `cos q_y`
/// falls below 0.008, which is 0.46° from there; in scalars with less precision than that, below the square root of the
/// unit roundoff. Shorter steps do not help then. To avoid it, choose frames with y along the axis about which M turns
/// least in F; use a [`SpatialBushing`](crate::SpatialBushing), whose law has no such singularity; or give the host a
/// gimbal joint with the angles as coordinates, and put springs on those.
///
/// # Notes
///
/// - The law holds for large displacements.
/// - The two bodies are not interchangeable. Translations are measured along F, which turns with B1, and the
///   angles are ordered from F to M: exchanging the bodies changes the forces.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, it reports its stiffness and damping at the
/// present angles, the stiffness of its moments as the gimbal turns, and its load times the lever.
///
/// # Linearization
///
/// Exact, by motion, all parameters and memory, including the commit. There are no branches.
///
/// # Source
///
/// M. A. Sherman, A. Seth, S. L. Delp, *Simbody: multibody dynamics for biomedical research*,
/// Procedia IUTAM 2 (2011) 241–261, and the reference manual of its linear bushing. Angle rates:
/// T. R. Kane, P. W. Likins, D. A. Levinson, *Spacecraft Dynamics* (1983), appendix II, body-three
/// 1-2-3.
///
/// # Example: twist and pull
///
/// ```
/// use force_elements::linear_bushing::Parameters;
/// use force_elements::{ForceSystem, Frame, LinearBushing, Pose};
/// use force_elements::nalgebra::{Rotation3, Translation3, Vector3, Vector6};
///
/// let mut system = ForceSystem::<f64>::new();
/// let body = system.add_body();
/// let stiffness = Vector6::new(10.0, 10.0, 10.0, 500.0, 500.0, 500.0);
/// let parameters = Parameters { stiffness, ..Parameters::default() };
/// let frame = Frame::ground(Pose::identity());
/// let bushing = system.add(LinearBushing::new(frame, Frame::of(body), parameters)?)?;
///
/// let mut state = system.default_state();
/// let twist = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.2);
/// state.set_pose(body, Pose::from_parts(Translation3::new(0.0, 0.0, 0.01), twist))?;
///
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let at = dynamics.of(bushing);
/// assert!((at.position.q[0] - 0.2).abs() < 1e-15);
/// assert!((at.dynamics.f[0] + 2.0).abs() < 1e-14);
/// assert!((dynamics.body_force(body).force.z + 5.0).abs() < 1e-14);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearBushing<T: Real> {
    ends: Ends,
    defaults: StateParameters<T>,
}

impl<T: Real> LinearBushing<T> {
    /// A bushing from frame F on one body to frame M on another.
    ///
    /// The poses of the frames on their bodies can be changed in a state ([`StateParameters::frames`]).
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`] if both frames are on the same body, or with
    /// [`ElementError::InvalidValue`] for a pose that is not finite or not a rotation, or a stiffness or damping
    /// that is negative or not finite.
    pub fn new(frame1: Frame<T>, frame2: Frame<T>, parameters: Parameters<T>) -> Result<Self, Error> {
        let (ends, frames) = Ends::of(&frame1, &frame2).map_err(|error| Error::of_new(Self::KIND, error))?;
        let defaults = Framed { frames, law: parameters };
        defaults.validate().map_err(|error| Error::of_new(Self::KIND, error))?;
        Ok(Self { ends, defaults })
    }

    /// The body that carries frame F.
    pub fn body1(&self) -> BodyIndex {
        self.ends.body1
    }

    /// The body that carries frame M.
    pub fn body2(&self) -> BodyIndex {
        self.ends.body2
    }

    /// The same bushing in another scalar.
    pub fn cast<U: Real>(&self) -> LinearBushing<U> {
        let Framed { frames, law } = &self.defaults;
        LinearBushing { ends: self.ends, defaults: Framed { frames: frames.cast(), law: law.cast() } }
    }
}

impl<T: Real> Position<T> {
    /// The wrench of generalized forces on M, at its origin, in Ground.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
    fn wrench_on_M(&self, f: &Vector6<T>) -> SpatialForce<T> {
        let Self { X_GF, gimbal: Gimbal { sx, cx, sy, over_cy }, .. } = self;
        // The torque whose components along the three gimbal axes are the three moments.
        let across = (f[2] - *sy * f[0]) * *over_cy;
        let torque_F = Vector3::new(f[0], *cx * f[1] - *sx * across, *sx * f[1] + *cx * across);
        SpatialForce::new(torque_F, Vector3::new(f[3], f[4], f[5])).rotated(&X_GF.rotation)
    }
}

impl<T: Real> ForceElement<T> for LinearBushing<T> {
    const KIND: &'static str = "linear_bushing";
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
        let p_FM = X_GF.rotation.matrix().tr_mul(&(X_GM.translation.vector - X_GF.translation.vector));

        let (angles, gimbal) = principal_angles(&R_FM)?;
        let (qx, qz) = with_turns(angles.x, angles.y, angles.z, given.discrete)?;
        let q = Vector6::new(qx, angles.y, qz, p_FM.x, p_FM.y, p_FM.z);
        let stretch = q.component_mul(&q).dot(&given.parameters.law.stiffness);

        // Field by field: a whole struct would be built and then copied.
        cache.X_GF = X_GF;
        cache.X_GM = X_GM;
        cache.X_FM = Pose::from_parts(p_FM.into(), Rotation3::from_matrix_unchecked(R_FM));
        cache.q = q;
        cache.potential_energy = T::lit(0.5) * stretch;
        cache.gimbal = gimbal;
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<(), ElementError> {
        let Position { X_GF, X_GM, gimbal: Gimbal { sx, cx, sy, over_cy }, .. } = at.position;
        let (V_GF, V_GM) = self.ends.velocities(at.positions, velocities, [X_GF, X_GM]);

        // F and M are compared at one point, M's origin.
        let V_GF_at_M = V_GF.shifted(X_GM.translation.vector - X_GF.translation.vector);
        let V_FM = (V_GM - V_GF_at_M).rotated(&X_GF.rotation.inverse());

        let w = V_FM.angular;
        let qdot_z = (*cx * w.z - *sx * w.y) * *over_cy;
        let qdot_y = *cx * w.y + *sx * w.z;
        let qdot_x = w.x - *sy * qdot_z;
        let v = V_FM.linear;
        cache.V_GF = V_GF;
        cache.V_GM = V_GM;
        cache.V_FM = V_FM;
        cache.qdot = Vector6::new(qdot_x, qdot_y, qdot_z, v.x, v.y, v.z);
        Ok(())
    }

    fn calc_dynamics(
        &self,
        at: &AtVelocity<'_, T, Self>,
        cache: &mut Self::Dynamics,
    ) -> Result<(), ElementError> {
        let Parameters { stiffness, damping } = &at.parameters.law;
        let Position { X_GF, X_GM, q, .. } = at.position;
        let qdot = &at.velocity.qdot;

        let resistance = damping.component_mul(qdot);
        let f = -(stiffness.component_mul(q) + resistance);

        let F_GM = at.position.wrench_on_M(&f);
        let F_GF = -F_GM.shifted(X_GF.translation.vector - X_GM.translation.vector);
        cache.f = f;
        cache.F_GF = F_GF;
        cache.F_GM = F_GM;
        cache.power_dissipated = resistance.dot(qdot);
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
        let Parameters { stiffness, damping } = &at.parameters.law;
        let [stiffness, damping] = [stiffness, damping].map(Matrix6::from_diagonal);
        let Position { X_GM, .. } = at.position;
        let wrench_on_M = |f: &Vector6<T>| at.position.wrench_on_M(f);
        self.ends.report_springs([&stiffness, &damping], wrench_on_M, X_GM, stiffnesses);
        // The load turns with the gimbal, in which a moment may act on others by `1/cos² q_y`.
        let turned = geometric_stiffness(at).map(T::to_f64);
        let most = ComplexField::sqrt((turned.transpose() * turned).symmetric_eigenvalues().max());
        stiffnesses.load(at.dynamics.F_GM.force.norm().to_f64(), most, self.ends.at([X_GM, X_GM]));
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, _: f64) -> f64 {
        let qdot = &at.velocity.qdot;
        LARGEST_TURN / qdot[0].abs().max(qdot[2].abs()).to_f64()
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        blocks.add_between(&self.between(at));
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_force_by_variables(at, blocks);
    }

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let rates = rates_by_turn(at, at.position.X_GF.rotation.matrix());
        self.ends.linearize_memory(&rates, &at.parameters.frames, blocks);
    }

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        let (_, _, R_FM) = self.ends.poses(given.positions, &given.parameters.frames);
        let (angles, _) = principal_angles(&R_FM)?;
        *next =
            Discrete { accepted: true, accepted_qx: angles.x, accepted_qy: angles.y, accepted_qz: angles.z };
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
        let q = &at.position.q;
        *next = Discrete { accepted: true, accepted_qx: q[0], accepted_qy: q[1], accepted_qz: q[2] };
        Ok(())
    }
}
