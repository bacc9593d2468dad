//! A six-axis spring-damper between two frames.

use nalgebra::{Matrix3, Rotation3, Vector3, Vector6};

mod law;
mod results;
mod variables;

pub use results::{Dynamics, Position, Velocity};
pub use variables::{Discrete, Parameters};

use crate::element::{AtDynamics, AtPosition, AtVelocity, ForceElement, Given};
use crate::error::{ElementName, Error, Result};
use crate::forces::ForceAccumulator;
use crate::handle::Handle;
use crate::kinematics::{BodyIndex, Positions, Topology, Velocities};
use crate::scalar::Real;
use crate::spatial::{SpatialForce, Transform};
use crate::stage::Stage;
use crate::state::State;
use crate::system::ForceSystem;
use crate::variables::Variables as _;

use law::{Gimbal, add_turns, principal_angles};

/// A massless bushing that connects frame F, fixed on body B1, to frame M, fixed on body B2.
///
/// ```text
///        B1 ──X_B1F── F ~~~~[k, c]~~~~ M ──X_B2M── B2
/// ```
///
/// # Law
///
/// The orientation of M in F is read as three body-fixed x-y-z angles, as though a gimbal joined
/// the frames, and its position as a vector in F:
/// $R_{FM} = R_x(q_x) R_y(q_y) R_z(q_z)$ and $p_{FM} = (p_x, p_y, p_z)$. With
/// $q = (q_x, q_y, q_z, p_x, p_y, p_z)$ each axis is a spring and a damper of its own:
///
/// ```text
/// f_i = −(k_i q_i + c_i q̇_i)
/// ```
///
/// The moments `f_0, f_1, f_2` act about the three gimbal axes, which are not perpendicular, so they
/// are not a vector; the torque on B2 is the one that delivers the same power. The forces
/// `f_3, f_4, f_5` are a vector in F, acting on B2 at M's origin; B1 gets the opposite force along
/// the same line.
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k` | [`stiffness`](Parameters::stiffness): three torsional, three translational | N·m/rad, N/m | ≥ 0 |
/// | `c` | [`damping`](Parameters::damping): likewise | N·m·s/rad, N·s/m | ≥ 0 |
/// | `X_B1F`, `X_B2M` | where the frames sit on their bodies | | rotations orthonormal |
///
/// # Energy
///
/// Stored: `Σ k_i q_i² / 2`. Lost: `Σ c_i q̇_i²`, all of it known at the instant.
///
/// # Note that
///
/// - The law is exact for large displacements, but angles do not wrap: `q_x` and `q_z` stay within
///   ±π, `q_y` within ±π/2. Keep the motion away from those borders.
/// - The two bodies are not interchangeable: translations are measured along F, which turns with B1.
/// - For turns beyond the borders, let a gimbal joint of the host carry the angles as coordinates
///   and put springs on those.
///
/// # Singular case
///
/// At a middle angle of ±90° the first and last axes coincide and the angle rates are unbounded.
/// The position calculation answers [`Error::Singular`] when `cos q_y` falls below 1e-6, where in
/// `f64` the angles have lost six of their sixteen digits; in scalars of less precision, below the
/// square root of the unit roundoff, where half of the digits are lost.
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
/// use force_elements::{BodyIndex, ForceSystem, LinearBushing, Transform};
/// use force_elements::nalgebra::{Rotation3, Translation3, Vector3, Vector6};
///
/// let mut system = ForceSystem::<f64>::new();
/// let body = system.add_body();
/// let stiffness = Vector6::new(10.0, 10.0, 10.0, 500.0, 500.0, 500.0);
/// let bushing = system.add(LinearBushing::between_bodies(
///     BodyIndex::GROUND, body, stiffness, Vector6::zeros(),
/// )?)?;
///
/// let mut state = system.default_state();
/// let twist = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.2);
/// state.set_pose(body, Transform::from_parts(Translation3::new(0.0, 0.0, 0.01), twist))?;
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
    body1: BodyIndex,
    body2: BodyIndex,
    defaults: Parameters<T>,
}

impl<T: Real> LinearBushing<T> {
    /// A bushing between frame F on `body1` and frame M on `body2`.
    ///
    /// # Errors
    /// [`Error::SameEnds`] if both bodies are the same; [`Error::InvalidValue`] for a pose that is
    /// not finite or not a rotation, or a stiffness or damping that is negative or not finite.
    pub fn new(
        body1: BodyIndex,
        X_B1F: Transform<T>,
        body2: BodyIndex,
        X_B2M: Transform<T>,
        stiffness: Vector6<T>,
        damping: Vector6<T>,
    ) -> Result<Self> {
        if body1 == body2 {
            return Err(Error::SameEnds { element: ElementName::new(Self::KIND) });
        }
        let defaults = Parameters { X_B1F, X_B2M, stiffness, damping };
        defaults.validate()?;
        Ok(Self { body1, body2, defaults })
    }

    /// A bushing between the body frames of two bodies.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn between_bodies(
        body1: BodyIndex,
        body2: BodyIndex,
        stiffness: Vector6<T>,
        damping: Vector6<T>,
    ) -> Result<Self> {
        Self::new(body1, Transform::identity(), body2, Transform::identity(), stiffness, damping)
    }

    /// The body that carries frame F.
    pub fn body1(&self) -> BodyIndex {
        self.body1
    }

    /// The body that carries frame M.
    pub fn body2(&self) -> BodyIndex {
        self.body2
    }

    /// `X_GF`, `X_GM` and the orientation of M in F.
    #[inline]
    fn frames(
        &self,
        positions: &Positions<T>,
        parameters: &Parameters<T>,
    ) -> (Transform<T>, Transform<T>, Matrix3<T>) {
        let X_GF = positions.pose(self.body1) * parameters.X_B1F;
        let X_GM = positions.pose(self.body2) * parameters.X_B2M;
        (X_GF, X_GM, X_GF.rotation.matrix().tr_mul(X_GM.rotation.matrix()))
    }

    /// The same bushing in another scalar.
    pub fn cast<U: Real>(&self) -> LinearBushing<U> {
        LinearBushing { body1: self.body1, body2: self.body2, defaults: self.defaults.cast() }
    }
}

impl<T: Real> Handle<LinearBushing<T>> {
    /// Forgets all turns: remembers the principal values of the angles at the present poses, as though a
    /// step had just been accepted there.
    ///
    /// Do this once the initial poses are set, so that the first step is checked like all others, and
    /// after bodies or frames have been put elsewhere without having moved there.
    ///
    /// # Errors
    /// [`Error::Singular`]; [`Error::TopologyMismatch`] if the state or handle belongs to another system.
    pub fn reset_turns(self, system: &ForceSystem<T>, state: &mut State<T>) -> Result<()> {
        system.require(state, Stage::Topology)?;
        let element = system.try_element(self)?;
        let (_, _, R_FM) = element.frames(state.positions(), state.try_parameters(self)?);
        let (angles, _) =
            principal_angles(&R_FM).map_err(|error| error.at(LinearBushing::<T>::KIND, self.place()))?;
        system.set_discrete(state, self, Discrete { known: true, qx: angles.x, qz: angles.z })
    }
}

impl<T: Real> ForceElement<T> for LinearBushing<T> {
    const KIND: &'static str = "linear_bushing";
    type Parameters = Parameters<T>;
    type Discrete = Discrete<T>;
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<()> {
        topology.check_body(self.body1)?;
        topology.check_body(self.body2)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.defaults.clone()
    }

    fn default_discrete(&self) -> Self::Discrete {
        Discrete::default()
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> Result<()> {
        let (X_GF, X_GM, R_FM) = self.frames(given.positions, given.parameters);
        let p_FM = X_GF.rotation.matrix().tr_mul(&(X_GM.translation.vector - X_GF.translation.vector));

        let (mut angles, gimbal) = principal_angles(&R_FM)?;
        add_turns(&mut angles, given.discrete)?;
        let q = Vector6::new(angles.x, angles.y, angles.z, p_FM.x, p_FM.y, p_FM.z);
        let stretch = q.component_mul(&q).dot(&given.parameters.stiffness);

        // Field by field: a whole struct would be built aside and copied.
        cache.X_GF = X_GF;
        cache.X_GM = X_GM;
        cache.X_FM = Transform::from_parts(p_FM.into(), Rotation3::from_matrix_unchecked(R_FM));
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
    ) -> Result<()> {
        let Position { X_GF, X_GM, gimbal: Gimbal { sx, cx, sy, over_cy }, .. } = at.position;
        let p_GB1 = at.positions.pose(self.body1).translation.vector;
        let p_GB2 = at.positions.pose(self.body2).translation.vector;
        let V_GF = velocities.velocity(self.body1).shifted(X_GF.translation.vector - p_GB1);
        let V_GM = velocities.velocity(self.body2).shifted(X_GM.translation.vector - p_GB2);

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

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> Result<()> {
        let Parameters { stiffness, damping, .. } = at.parameters;
        let Position { X_GF, X_GM, q, gimbal: Gimbal { sx, cx, sy, over_cy }, .. } = at.position;
        let qdot = &at.velocity.qdot;

        let resistance = damping.component_mul(qdot);
        let f = -(stiffness.component_mul(q) + resistance);

        // The torque whose components along the three gimbal axes are the three moments.
        let across = (f[2] - *sy * f[0]) * *over_cy;
        let torque_F = Vector3::new(f[0], *cx * f[1] - *sx * across, *sx * f[1] + *cx * across);
        let F_GM = SpatialForce::new(torque_F, Vector3::new(f[3], f[4], f[5])).rotated(&X_GF.rotation);
        let F_GF = -F_GM.shifted(X_GF.translation.vector - X_GM.translation.vector);
        cache.f = f;
        cache.F_GF = F_GF;
        cache.F_GM = F_GM;
        cache.power_dissipated = resistance.dot(qdot);
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Position { X_GF, X_GM, .. } = at.position;
        for (body, X, F) in [(self.body1, X_GF, &at.dynamics.F_GF), (self.body2, X_GM, &at.dynamics.F_GM)] {
            let p_GB = at.positions.pose(body).translation.vector;
            forces.apply_to_body(body, F.shifted(p_GB - X.translation.vector));
        }
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.position.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> Result<()> {
        let q = &at.position.q;
        *next = Discrete { known: true, qx: q[0], qz: q[2] };
        Ok(())
    }
}
