//! A six-axis spring-damper between two frames.

use nalgebra::{Matrix3, Vector3, Vector6};

mod law;

pub use crate::elements::bushing::{Dynamics, Framed, Frames, Position, Velocity};

use crate::elements::bushing::{Bushing, Chart, Coordinates};
use crate::framework::{ElementResult, stored_variables};
use crate::math::{InvalidValue, Real, Requirement, check};
use law::{principal_angles, with_turns};

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
/// The orientation of M in F is expressed by three body-fixed x-y-z angles, as if a gimbal joined the frames, and the
/// position of M by a vector in F: `R_FM = R_x(q_x)·R_y(q_y)·R_z(q_z)` and `p_FM = (p_x, p_y, p_z)`. With
/// `q = (q_x, q_y, q_z, p_x, p_y, p_z)` each axis has its own spring and damper:
///
/// ```text
/// f_i = −(k_i q_i + c_i q̇_i)
/// ```
///
/// The moments `f_0, f_1, f_2` act about the three gimbal axes. These are not perpendicular, so the moments do not form a
/// vector; the torque on B2 is the torque of equal power. The forces `f_3, f_4, f_5` form a vector in F, which acts on B2
/// at M's origin; B1 gets the opposite force along the same line.
///
/// | symbol | meaning | unit | range |
/// |---|---|---|---|
/// | `k` | [`stiffness`](Parameters::stiffness): three torsional, three translational | N·m/rad, N/m | ≥ 0 |
/// | `c` | [`damping`](Parameters::damping): likewise | N·m·s/rad, N·s/m | ≥ 0 |
/// | `X_B1F`, `X_B2M` | [`frames`](Framed::frames): poses of F and M on their bodies | | rotations orthonormal |
///
/// # Energy
///
/// Stored: `Σ k_i q_i² / 2`. Lost: `Σ c_i q̇_i²`, known instantaneously.
///
/// # Whole turns
///
/// An orientation determines `q_x` and `q_z` only up to whole turns. The bushing remembers both from the last accepted
/// step ([`Discrete`]) and tracks them from there, so that force and energy are continuous over any number of turns about
/// the first or the last axis. `q_y` stays within ±π/2. Before the first accepted step, `q_x` and `q_z` are within ±π.
///
/// Within a step, the angles are those of a rotation of M in F about a fixed axis from the orientation at the last
/// accepted step. Up to 3 rad the orientations at both ends determine this rotation. If it passes close to the singular
/// case below, however, a small deviation from the fixed axis would lead past the other side, which changes both angles
/// by a whole turn. A step that changes `q_x` or `q_z` by more than 0.1 rad is therefore refused with
/// [`AmbiguousAngles`](crate::Refusal::AmbiguousAngles) if
///
/// - M has turned by more than 3 rad, or
/// - both have changed by more than 0.1 rad, and `q_y` has been beyond ±60° in between.
///
/// The second condition includes every step across the singular case, which changes both angles by π. A host repeats a
/// refused step with a fraction of its length, as the integrators of [`simulation`](crate::simulation) do.
/// [`SemiImplicitEuler`](crate::simulation::SemiImplicitEuler), whose step is fixed, stops.
///
/// Only the orientations before and after a step are known. A rotation by more than half a turn, or a step in which M
/// circles the singular case, can therefore not be detected. Steps in which `q_x` or `q_z` would change by more than
/// 2 rad at the present velocities are [refused](crate::ForceSystem::passing_time).
///
/// [`reset_memory`](crate::ForceSystem::reset_memory) restarts the memory. Use it in three cases:
///
/// - At the start of a simulation: nothing is remembered, and the first step is not checked unless the memory is reset
///   after the initial poses are set.
/// - After bodies are placed elsewhere between steps, or frames are changed: otherwise M counts as having moved there in
///   one step.
/// - After a bushing was disabled: it keeps its memory and misses the turns made meanwhile.
///
/// # Singular case
///
/// At a middle angle of ±90° the first and last axes coincide. Near this angle the rates of the outer angles, and the
/// torques of moments about their axes, grow by up to `1/cos q_y`. The position calculation returns
/// [`Singular`](crate::Refusal::Singular) when `cos q_y` falls below 0.008, at 0.46° from the singular angle; in scalars
/// of lower precision, when it falls below the square root of the unit roundoff. Shorter steps do not help then. To avoid
/// the singular case,
///
/// - choose frames with y along the axis about which M turns least in F;
/// - use a [`SpatialBushing`](crate::SpatialBushing), whose law has no such singularity;
/// - or give the host a gimbal joint with the angles as coordinates, and put springs on these coordinates.
///
/// # Notes
///
/// - The law holds for large displacements.
/// - The two bodies are not interchangeable. Translations are measured along F, which turns with B1, and the angles are
///   ordered from F to M: exchanging the bodies changes the forces.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the bushing reports stiffness and damping at
/// the present angles, the stiffness of its moments as the gimbal turns, and its load times the lever.
///
/// # Linearization
///
/// Exact, by motion, all parameters and memory, including the commit. There are no branches.
///
/// # Source
///
/// M. A. Sherman, A. Seth, S. L. Delp, *Simbody: multibody dynamics for biomedical research*, Procedia IUTAM 2 (2011)
/// 241–261, and the reference manual of its linear bushing. Angle rates: T. R. Kane, P. W. Likins, D. A. Levinson,
/// *Spacecraft Dynamics* (1983), appendix II, body-three 1-2-3.
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
pub type LinearBushing<T> = Bushing<T, Gimbal>;

/// Body-fixed x-y-z angles and a translation in F, with a spring and damper on each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gimbal;

stored_variables! {
    /// Stiffnesses and dampings.
    ///
    /// Vectors are ordered `q_x, q_y, q_z, p_x, p_y, p_z`: rotations first.
    #[derive(Copy, Lift)]
    pub struct Parameters<T> {
        /// Stiffnesses `k`.
        pub stiffness: Vector6<T> ["N·m/rad", "N/m"], nonnegative => Position;
        /// Dampings `c`.
        pub damping: Vector6<T> ["N·m·s/rad", "N·s/m"], nonnegative => Dynamics;
    }
}

stored_variables! {
    /// Memory of the bushing: the angles of the last accepted step, with all turns.
    ///
    /// The first and the last are at most 1e9 rad and at most a thousandth of the reciprocal of the unit roundoff (8389
    /// rad in `f32`): at larger angles the change in a step is lost to rounding, and the step is not accepted.
    #[derive(Copy)]
    pub struct Discrete<T> {
        /// Whether there has been an accepted step or a [`reset_memory`](crate::ForceSystem::reset_memory). Before that
        /// the angles are those within ±π, and the fields below are not read.
        pub accepted: bool => Position;
        /// The angle `q_x`.
        pub accepted_qx: T ["rad"], finite => Position;
        /// The angle `q_y`.
        pub accepted_qy: T ["rad"], finite => Position;
        /// The angle `q_z`.
        pub accepted_qz: T ["rad"], finite => Position;
    }
    check |p| can_be_followed("accepted_qx", p.accepted_qx)
        .and_then(|()| can_be_followed("accepted_qz", p.accepted_qz));
}

/// Refuses an angle at which a change of a thousandth of a radian is lost in rounding.
fn can_be_followed<T: Real>(name: &'static str, angle: T) -> Result<(), InvalidValue> {
    let most = T::lit(1e9).min(T::lit(1e-3) / T::default_epsilon());
    check::that(angle.abs() <= most, name, angle, Requirement::AtMost("1e9 and 1e-3/epsilon"))
}

impl<T: Real> LinearBushing<T> {
    /// The same bushing in another scalar.
    pub fn cast<U: Real>(&self) -> LinearBushing<U> {
        self.over(Gimbal, self.defaults.law.cast())
    }
}

impl<T: Real> Coordinates<T> for Gimbal {
    const KIND: &'static str = "linear_bushing";
    const HALF_WAY: bool = false;
    type Parameters = Parameters<T>;
    type Memory = Discrete<T>;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "with two callers it is a call in the loop")]
    fn chart(R_FM: &Matrix3<T>, memory: &Discrete<T>) -> ElementResult<(Vector3<T>, Chart<T>)> {
        let (angles, N) = principal_angles(R_FM)?;
        let (qx, qz) = with_turns(angles.x, angles.y, angles.z, memory)?;
        Ok((Vector3::new(qx, angles.y, qz), Chart { N, ..Chart::default() }))
    }

    fn rates_by_turn(chart: &Chart<T>, w: &Vector3<T>, m: &Vector3<T>) -> [Matrix3<T>; 2] {
        law::rates_by_turn(&chart.N, w, m)
    }

    fn remembered(angles: &Vector3<T>, _: &Chart<T>) -> Discrete<T> {
        Discrete { accepted: true, accepted_qx: angles.x, accepted_qy: angles.y, accepted_qz: angles.z }
    }

    fn memory_by_turn(chart: &Chart<T>) -> impl Iterator<Item = Vector3<T>> {
        chart.N.row_iter().map(|rate| rate.transpose())
    }

    fn energy(&self, parameters: &Parameters<T>, q: &Vector6<T>) -> T {
        T::lit(0.5) * q.component_mul(q).dot(&parameters.stiffness)
    }

    fn resistance(&self, parameters: &Parameters<T>, q: &Vector6<T>, qdot: &Vector6<T>) -> [Vector6<T>; 2] {
        [parameters.stiffness.component_mul(q), parameters.damping.component_mul(qdot)]
    }

    fn slopes(&self, parameters: &Parameters<T>, _: [&Vector6<T>; 2], _: bool) -> [[Matrix3<T>; 3]; 2] {
        [&parameters.stiffness, &parameters.damping].map(|axes| {
            let (of_angles, of_translation) = (axes.fixed_rows::<3>(0), axes.fixed_rows::<3>(3));
            [Matrix3::from_diagonal(&of_angles), Matrix3::zeros(), Matrix3::from_diagonal(&of_translation)]
        })
    }

    fn entries() -> impl Iterator<Item = (usize, usize)> {
        (0..6).map(|axis| (axis, axis))
    }

    fn turning(qdot: &Vector6<T>, _: &Vector3<T>) -> T {
        qdot[0].abs().max(qdot[2].abs())
    }
}
