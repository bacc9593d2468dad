//! A six-axis spring-damper without a singular orientation up to a whole turn.

use nalgebra::{Matrix3, Vector3, Vector4, Vector6};

mod curve;
mod table;
mod turn;

pub use curve::{Curve, CurvePoint};

pub use crate::elements::bushing::{Dynamics, Framed, Frames, Position, Velocity};

use crate::elements::bushing::{Bushing, Chart, Coordinates};
use crate::framework::{ElementResult, Error, stored_variables};
pub use crate::math::Symmetric6;
use crate::math::{InvalidValue, Real, Requirement, check, default_by_field, places};

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
/// that angle about the same axis, `R_FH = exp(θ×/2)`; its origin is midway between the origins of F and M. `x` is the
/// vector from F's origin to M's, expressed in H. With `q = (θ, x)`:
///
/// ```text
/// U   = qᵀ K q / 2 + Σ ∫ φ_i dq_i
/// f   = −K q − C q̇ − φ(q) − ψ(q̇)
/// ```
///
/// `f` are the generalized forces of `q`: the bodies get the forces and torques of equal power. With the angular
/// velocities `ω` of M in F and `ω_H` of H, both expressed in H, the rates are
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
/// | `X_B1F`, `X_B2M` | [`frames`](Framed::frames): poses of F and M on their bodies | | rotations orthonormal |
///
/// # Compared with the gimbal law
///
/// - [`LinearBushing`](crate::LinearBushing) has three gimbal angles, which are singular at a middle angle of ±90°. This
///   law is regular up to a whole turn. For small angles and translations the two laws differ by terms of second order.
/// - The two bodies are interchangeable: exchanging the frames exchanges the forces. Translations are measured in H,
///   which turns with both bodies.
/// - All forces derive from the potential `U`, so energy is conserved. A law that merely applies the force half-way,
///   without the torque that results from the rotation of H, does not conserve energy.
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
/// there the shortest way. Force and energy are therefore continuous beyond half a turn, up to 2.9° before a whole turn.
/// At a whole turn the axis of the rotation, and with it the direction of the force, is not defined: the position
/// calculation returns [`WholeTurn`](crate::Refusal::WholeTurn) within 2.9° of it, and if the shortest way passes there.
/// A shorter step does not help.
///
/// The position calculation returns [`AmbiguousTurn`](crate::Refusal::AmbiguousTurn) if the shortest way is longer than
/// 3 rad, or passes beside a whole turn to a rotation about an axis more than 60° away. The host then repeats the step
/// with a fraction of its length.
///
/// A rotation of more than half a turn within one step cannot be distinguished from the shorter one to the same
/// orientation. It is refused up to 2π − 3 rad, which is 3.28 rad; a longer rotation is mistaken for the shorter one. The
/// host must keep the rotation in a step below half a turn.
///
/// [`reset_memory`](crate::ForceSystem::reset_memory) restarts the memory within half a turn. Without it, bodies placed
/// elsewhere between steps count as having moved there in one step.
///
/// # Errors of an evaluation
///
/// [`WholeTurn`](crate::Refusal::WholeTurn) and [`AmbiguousTurn`](crate::Refusal::AmbiguousTurn), by [`Error::own`];
/// [`ElementError::NonFiniteForce`](crate::ElementError::NonFiniteForce) if a force or energy is not finite.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the bushing reports stiffness and damping at
/// the present displacement (of tables, the steepest slope), and its load times the lever. At large rotations together
/// with displacements it may be stiffer than reported by a tenth.
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
/// frames. J. Solà, J. Deray, D. Atchuthan, *A micro Lie theory for state estimation in robotics* (2018), appendix B, on
/// the rotation vector and its Jacobians, from which the half-way rates follow.
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
pub type SpatialBushing<T> = Bushing<T, HalfWay<T>>;

/// A rotation vector and a translation in the half-way frame, with stiffness and damping matrices, and curves.
#[derive(Debug, Clone, PartialEq)]
pub struct HalfWay<T: Real> {
    /// By axis.
    curves: [Option<Curve<T>>; 6],
    damping_curves: [Option<Curve<T>>; 6],
}

default_by_field!(HalfWay { curves, damping_curves });

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

/// Refuses a memory that is not a rotation.
fn is_unit<T: Real>(memory: &Discrete<T>) -> Result<(), InvalidValue> {
    let square = memory.quaternion.norm_squared();
    let is_unit = (square - T::one()).abs() <= T::lit(1e-6).max(T::default_epsilon() * T::lit(64.0));
    check::that(is_unit || !memory.accepted, "quaternion", square.sqrt(), Requirement::Rotation)
}

impl<T: Real> SpatialBushing<T> {
    /// The same bushing, with a curve on an axis in addition to its stiffness: 0 to 2 are the components of the rotation
    /// vector, 3 to 5 those of the translation.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for an axis above 5.
    pub fn with_curve(mut self, axis: usize, curve: Curve<T>) -> Result<Self, Error> {
        *Self::place(&mut self.coordinates.curves, axis)? = Some(curve);
        Ok(self)
    }

    /// The same bushing, with a curve of the force over the rate on an axis in addition to its damping, in the same
    /// order. The energy of the curve is not used.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for an axis above 5, or a table that does not dissipate:
    /// its force must have the sign of the rate, also beyond its ends, and the table must have a point at rate zero
    /// with zero force. A function is not checked.
    pub fn with_damping_curve(mut self, axis: usize, curve: Curve<T>) -> Result<Self, Error> {
        curve.check_dissipation().map_err(|error| Error::of_new(HalfWay::<T>::KIND, error))?;
        *Self::place(&mut self.coordinates.damping_curves, axis)? = Some(curve);
        Ok(self)
    }

    fn place(curves: &mut [Option<Curve<T>>; 6], axis: usize) -> Result<&mut Option<Curve<T>>, Error> {
        let value =
            InvalidValue { name: "axis", value: 6.0, requirement: Requirement::AtMost("5"), bound: None };
        curves.get_mut(axis).ok_or_else(|| Error::of_new(HalfWay::<T>::KIND, value))
    }

    /// The curve on an axis, if it has one.
    pub fn curve(&self, axis: usize) -> Option<&Curve<T>> {
        self.coordinates.curves.get(axis)?.as_ref()
    }

    /// The same bushing in another scalar.
    ///
    /// # Errors
    /// [`Error::Element`] with those of [`Curve::cast`].
    pub fn cast<U: Real>(&self) -> Result<SpatialBushing<U>, Error> {
        let cast = |curves: &[Option<Curve<T>>; 6]| {
            let mut cast = [const { None::<Curve<U>> }; 6];
            for (axis, curve) in with_axes(curves) {
                let curve = curve.cast().map_err(|error| Error::of_new(HalfWay::<T>::KIND, error));
                cast[axis] = Some(curve?);
            }
            Ok::<_, Error>(cast)
        };
        let HalfWay { curves, damping_curves } = &self.coordinates;
        let coordinates = HalfWay { curves: cast(curves)?, damping_curves: cast(damping_curves)? };
        Ok(self.over(coordinates, self.defaults.law.cast()))
    }
}

/// The existing curves, with their axes.
fn with_axes<T: Real>(curves: &[Option<Curve<T>>; 6]) -> impl Iterator<Item = (usize, &Curve<T>)> {
    curves.iter().enumerate().filter_map(|(axis, curve)| Some((axis, curve.as_ref()?)))
}

impl<T: Real> Coordinates<T> for HalfWay<T> {
    const KIND: &'static str = "spatial_bushing";
    const HALF_WAY: bool = true;
    type Parameters = Parameters<T>;
    type Memory = Discrete<T>;

    fn chart(R_FM: &Matrix3<T>, memory: &Discrete<T>) -> ElementResult<(Vector3<T>, Chart<T>)> {
        let q = turn::quaternion(R_FM, memory.accepted.then_some(&memory.quaternion))?;
        Ok(turn::chart(&q.xyz(), q.w))
    }

    fn rates_by_turn(chart: &Chart<T>, w: &Vector3<T>, m: &Vector3<T>) -> [Matrix3<T>; 2] {
        turn::rates_by_turn(&(chart.u * chart.c), chart.c - T::one(), [w, m])
    }

    fn remembered(_: &Vector3<T>, chart: &Chart<T>) -> Discrete<T> {
        Discrete { accepted: true, quaternion: (chart.u * chart.c).push(chart.c - T::one()) }
    }

    fn memory_by_turn(chart: &Chart<T>) -> impl Iterator<Item = Vector3<T>> {
        let (v, half) = (chart.u * chart.c, T::lit(0.5));
        let along = move |axis: usize| (Vector3::ith(axis, T::one()) - v * chart.u[axis]) * half;
        [along(0), along(1), along(2), -v * half].into_iter()
    }

    fn energy(&self, parameters: &Parameters<T>, q: &Vector6<T>) -> T {
        let of_curves = with_axes(&self.curves).map(|(axis, curve)| curve.at(q[axis]).energy);
        of_curves.fold(T::lit(0.5) * q.dot(&parameters.stiffness.times(q)), |sum, energy| sum + energy)
    }

    fn resistance(&self, parameters: &Parameters<T>, q: &Vector6<T>, qdot: &Vector6<T>) -> [Vector6<T>; 2] {
        let Parameters { stiffness, damping } = parameters;
        let of = |matrix: &Symmetric6<T>, curves: &[Option<Curve<T>>; 6], at: &Vector6<T>| {
            let mut force = matrix.times(at);
            with_axes(curves).for_each(|(axis, curve)| force[axis] += curve.at(at[axis]).force);
            force
        };
        [of(stiffness, &self.curves, q), of(damping, &self.damping_curves, qdot)]
    }

    fn slopes(
        &self,
        parameters: &Parameters<T>,
        motion: [&Vector6<T>; 2],
        steepest: bool,
    ) -> [[Matrix3<T>; 3]; 2] {
        let of = |matrix: &Symmetric6<T>, curves: &[Option<Curve<T>>; 6], at: &Vector6<T>| {
            let mut quarters = matrix.quarters();
            for (axis, curve) in with_axes(curves) {
                let slope = if steepest { curve.steepest(at[axis]) } else { curve.at(at[axis]).slope };
                let (quarter, i) = if axis < 3 { (0, axis) } else { (2, axis - 3) };
                quarters[quarter][(i, i)] += slope;
            }
            quarters
        };
        let Parameters { stiffness, damping } = parameters;
        [of(stiffness, &self.curves, motion[0]), of(damping, &self.damping_curves, motion[1])]
    }

    fn entries() -> impl Iterator<Item = (usize, usize)> {
        places()
    }

    fn turning(_: &Vector6<T>, w_FM: &Vector3<T>) -> T {
        w_FM.norm()
    }
}
