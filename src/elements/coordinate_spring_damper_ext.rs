//! A scalar spring-damper between coordinates, with friction and limit stops.

use alloc::sync::Arc;
use core::fmt;

use crate::element::{AtDynamics, AtPosition, AtVelocity, ForceElement, Given};
use crate::error::{ElementName, Error, Quantity, Result};
use crate::forces::ForceAccumulator;
use crate::kinematics::{CoordinateIndex, Topology, Velocities, finite};
use crate::scalar::Real;
use crate::state::State;
use crate::system::{ForceSystem, Handle};
use crate::variables::{Check, Variables, Visitor, visit_flag};

/// A spring and damper on one or between two scalar coordinates, with Stribeck or bristle friction
/// and soft limit stops: a joint axis of a machine.
///
/// ```text
///  q0·f0 ──┬──/\/\/\──┬── q1·f1        spring k about x_off
///          ├────]─────┤                damper d about v_off
///          ├──≋≋≋≋≋≋──┤                friction: regularised, or bristles that stick and slip
///          └─|·····|──┘                stops at s_lower and s_upper
/// ```
///
/// Either side may be ground.
///
/// # Law
///
/// With $q = f_1 q_1 - f_0 q_0$ and $v = f_1 \dot q_1 - f_0 \dot q_0$:
///
/// ```text
/// f = k·(q − x_off) + d·(v − v_off) + friction + contact
/// ```
///
/// acting as `+f·f0` on coordinate 0 and `−f·f1` on coordinate 1, as the virtual work of `f` on `q`
/// demands: a gear ratio raises the force on the slower side.
///
/// **Friction** opposes `v` by the Stribeck curve
/// `F(v) = f_d + f_so·exp(−(|v| − v_reg)/v_exp) + f_v·(|v| − v_reg)`.
///
/// - *Regularised*, where the proportional zone `v_reg > 0`: `sign(v)·F(v)` outside the zone and
///   `(f_d + f_so)·v/v_reg` within. Nothing to remember, no force at rest; it suits explicit
///   integration.
/// - *Bristles*, where `v_reg = 0`: either they stick, with `k_μ·(q − x_lsp) + d_μ·v` about the last
///   sticking position, or they slip, with `F(v)` in the direction of the stored friction mode,
///   which does not turn around during an evaluation even if `v` does. It holds at rest and suits
///   implicit integration. Acts when `f_d` or `f_so` is not zero.
///
/// **Contact** acts while the stored limit-stop state says so: `k_l·(q − s) + d_l·v` with the stop
/// `s` that was surpassed. Damping may make it pull on rebound, unless
/// [`limit_stops_only_push`](Parameters::limit_stops_only_push) is set.
///
/// A user's [force law](Self::with_force_law) may replace all of it.
///
/// # Switching
///
/// The three discrete variables say whether bristles stick or slip, where they stuck, and how far
/// which stop is surpassed. [`accept_step`](ForceSystem::accept_step) switches them at the end of a
/// step; an implicit host calls
/// [`discontinuous_update`](ForceSystem::discontinuous_update) between its Newton iterations until
/// the force error is small. The rules are those of [`Parameters::switch`].
///
/// # Energy
///
/// Stored: `k·(q − x_off)²/2`; in bristles that stick `k_μ·(q − x_lsp)²/2`, and that slip
/// `mode²/(2·k_μ)`, for they stay bent by the force they carry; in a stop `k_l·(q − s)²/2`.
/// Lost: the damper's `d·(v − v_off)²`, friction times `v`, `d_μ·v²` in sticking bristles, `d_l·v²`
/// in a stop. The rest of the damper's power, `−d·(v − v_off)·v_off`, is supplied by the drive that
/// a velocity offset stands for. Moving `x_off` does work too, at the moment it is set.
///
/// # Note that
///
/// - Initially the bristles stick at `q = 0`. Call
///   [`reset_sticking_position`](Handle::reset_sticking_position) if the motion starts elsewhere,
///   lest it begin with a large force; or start in slip with a mode of the right sign.
/// - Stops switch when the state does, at the end of a step. An explicit host should keep its steps
///   short against the time it takes to cross a stop's elastic range.
/// - There is no normal force in this model: `f_d` stands for `μ_d·F_N`.
///
/// # Source
///
/// J. Gerstmayr, *Exudyn – a C++-based Python package for flexible multibody systems*, Multibody
/// System Dynamics 60 (2024) 533–561, and its manual, coordinate spring-damper, extended. Where
/// the manual contradicts its program (which case uses bristles; which constants they have) the
/// program holds.
///
/// # Example: a slider held by dry friction
///
/// ```
/// use force_elements::coordinate_spring_damper_ext::Parameters;
/// use force_elements::{CoordinateSpringDamperExt, ForceSystem};
///
/// let mut system = ForceSystem::<f64>::new();
/// let slider = system.add_coordinate();
/// let friction = system.add(CoordinateSpringDamperExt::new(None, Some(slider), Parameters {
///     dynamic_friction: 2.0,
///     static_friction_offset: 1.0,
///     sticking_stiffness: 1e4,
///     ..Parameters::default()
/// })?)?;
///
/// let mut state = system.default_state();
/// state.set_coordinate(slider, 2e-4)?;                 // 2 N on the bristles: they hold
/// assert_eq!(system.realize_dynamics(&mut state)?.coordinate_force(slider), -2.0);
///
/// state.set_coordinate(slider, 4e-4)?;                 // 4 N: they let go
/// state.set_coordinate_rate(slider, 1.0)?;
/// system.realize_dynamics(&mut state)?;
/// system.accept_step(&mut state)?;
/// assert_eq!(system.realize_dynamics(&mut state)?.coordinate_force(slider), -2.0);
/// assert_eq!(state.discrete(friction).friction_mode, 2.0);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CoordinateSpringDamperExt<T: Real> {
    coordinate0: Option<CoordinateIndex>,
    coordinate1: Option<CoordinateIndex>,
    parameters: Parameters<T>,
    force_law: Option<ForceLaw<T>>,
}

/// A user's law for the scalar force `f`, given time, displacement, velocity and the parameters.
#[derive(Clone)]
struct ForceLaw<T: Real>(Arc<Law<T>>);

type Law<T> = dyn Fn(T, T, T, &Parameters<T>) -> T + Send + Sync;

/// Spring, damper, friction and stops. Written for a translation; for a rotation read N as N·m and
/// m as rad.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameters<T: Real> {
    /// Stiffness `k` of the spring \[N/m\].
    pub stiffness: T,
    /// Damping `d` \[N·s/m\].
    pub damping: T,
    /// Displacement `x_off` at which the spring is at rest \[m\]; may be a prescribed position.
    pub offset: T,
    /// Velocity `v_off` at which the damper is at rest \[m/s\]; may be a prescribed velocity.
    pub velocity_offset: T,
    /// Factor `f0` on coordinate 0; 1 by default.
    pub factor0: T,
    /// Factor `f1` on coordinate 1; 1 by default.
    pub factor1: T,
    /// Dynamic friction force `f_d` \[N\], at least zero.
    pub dynamic_friction: T,
    /// What static friction exceeds dynamic friction by, `f_so` \[N\], at least zero.
    pub static_friction_offset: T,
    /// Stiffness `k_μ` of the bristles while they stick \[N/m\], at least zero.
    pub sticking_stiffness: T,
    /// Damping `d_μ` of the bristles while they stick \[N·s/m\], at least zero.
    pub sticking_damping: T,
    /// Velocity `v_exp` at which the static offset has fallen to 1/e \[m/s\], greater than zero;
    /// 0.001 by default.
    pub exponential_decay_static: T,
    /// Viscous friction `f_v` while sliding \[N·s/m\].
    pub viscous_friction: T,
    /// Half-width `v_reg` of the zone in which friction is proportional to velocity \[m/s\], at
    /// least zero; zero, the default, selects bristles.
    pub friction_proportional_zone: T,
    /// Displacement `s_upper` of the upper stop \[m\].
    pub limit_stops_upper: T,
    /// Displacement `s_lower` of the lower stop \[m\], at most that of the upper one.
    pub limit_stops_lower: T,
    /// Stiffness `k_l` of the stops \[N/m\], at least zero.
    pub limit_stops_stiffness: T,
    /// Damping `d_l` of the stops \[N·s/m\], at least zero.
    pub limit_stops_damping: T,
    /// Whether there are stops; not by default.
    pub use_limit_stops: bool,
    /// Whether a stop only ever pushes. By default its damping may make it pull on rebound.
    pub limit_stops_only_push: bool,
}

/// What friction and stops remember.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discrete<T: Real> {
    /// Zero while the bristles stick; else the slip force \[N\], with the sign of the slip.
    pub friction_mode: T,
    /// Displacement at which the bristles stuck last \[m\].
    pub last_sticking_position: T,
    /// How far a stop is surpassed \[m\]: above zero the upper one, below zero the lower one, zero
    /// none.
    pub limit_stop_state: T,
}

/// What [`Parameters::switch`] finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Switch<T: Real> {
    /// The discrete variables that fit the iterate.
    pub discrete: Discrete<T>,
    /// By how much the force changes with them \[N\]; zero when nothing switched.
    pub force_error: T,
}

/// Results at Position stage.
#[derive(Debug, Clone, Copy)]
pub struct Position<T: Real> {
    /// Displacement `q` \[m\].
    pub displacement: T,
}

/// Results at Velocity stage.
#[derive(Debug, Clone, Copy)]
pub struct Velocity<T: Real> {
    /// Velocity `v` \[m/s\].
    pub velocity: T,
}

/// Results at Dynamics stage.
#[derive(Debug, Clone, Copy)]
pub struct Dynamics<T: Real> {
    /// The force `f` \[N\].
    pub force: T,
    /// The part of it that is friction \[N\].
    pub friction_force: T,
    /// The part of it that is a stop's \[N\].
    pub contact_force: T,
    /// Generalized force on coordinate 0 \[N\].
    pub generalized_force0: T,
    /// Generalized force on coordinate 1 \[N\].
    pub generalized_force1: T,
    /// The energy stored \[J\].
    pub potential_energy: T,
    /// The power being lost \[W\].
    pub power_dissipated: T,
    /// The power supplied by the drive that a velocity offset stands for \[W\].
    pub power_supplied: T,
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    /// An element from `coordinate0` to `coordinate1`; `None` is ground.
    ///
    /// # Errors
    /// [`Error::SameEnds`] if both are the same; [`Error::InvalidValue`] for parameters out of
    /// range.
    pub fn new(
        coordinate0: Option<CoordinateIndex>,
        coordinate1: Option<CoordinateIndex>,
        parameters: Parameters<T>,
    ) -> Result<Self> {
        if coordinate0 == coordinate1 {
            return Err(Error::SameEnds { element: ElementName::new(Self::KIND) });
        }
        parameters.validate()?;
        Ok(Self { coordinate0, coordinate1, parameters, force_law: None })
    }

    /// With a user's law in place of the whole force: `law(time, displacement, velocity,
    /// parameters)` is `f` \[N\].
    ///
    /// It must be a pure function. Nothing is known of the energy it stores, so all it takes from
    /// the coordinates counts as lost, and `power_dissipated` may be negative.
    #[must_use]
    pub fn with_force_law(self, law: impl Fn(T, T, T, &Parameters<T>) -> T + Send + Sync + 'static) -> Self {
        Self { force_law: Some(ForceLaw(Arc::new(law))), ..self }
    }

    /// The coordinate on side 0; `None` is ground.
    pub fn coordinate0(&self) -> Option<CoordinateIndex> {
        self.coordinate0
    }

    /// The coordinate on side 1; `None` is ground.
    pub fn coordinate1(&self) -> Option<CoordinateIndex> {
        self.coordinate1
    }

    /// The same element in another scalar, without a user's force law, which is of this scalar.
    pub fn cast<U: Real>(&self) -> CoordinateSpringDamperExt<U> {
        CoordinateSpringDamperExt {
            coordinate0: self.coordinate0,
            coordinate1: self.coordinate1,
            parameters: self.parameters.cast(),
            force_law: None,
        }
    }

    /// `f1·x1 − f0·x0`, where ground counts zero.
    fn relative(&self, parameters: &Parameters<T>, of: impl Fn(CoordinateIndex) -> T) -> T {
        let [x0, x1] = [self.coordinate0, self.coordinate1].map(|side| side.map_or(T::zero(), &of));
        parameters.factor1 * x1 - parameters.factor0 * x0
    }
}

impl<T: Real> Handle<CoordinateSpringDamperExt<T>> {
    /// Lets the bristles stick, unbent, where the coordinates are. Realizes the state to Position.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state or handle belongs to another system.
    pub fn reset_sticking_position(self, system: &ForceSystem<T>, state: &mut State<T>) -> Result<()> {
        let q = system.realize_position(state)?.try_of(self)?.position.displacement;
        state.update_discrete(self, |discrete| {
            discrete.friction_mode = T::zero();
            discrete.last_sticking_position = q;
        })
    }
}

impl<T: Real> fmt::Debug for ForceLaw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForceLaw")
    }
}

impl<T: Real> Default for Parameters<T> {
    fn default() -> Self {
        let zero = T::zero();
        Self {
            stiffness: zero,
            damping: zero,
            offset: zero,
            velocity_offset: zero,
            factor0: T::one(),
            factor1: T::one(),
            dynamic_friction: zero,
            static_friction_offset: zero,
            sticking_stiffness: zero,
            sticking_damping: zero,
            exponential_decay_static: T::lit(1e-3),
            viscous_friction: zero,
            friction_proportional_zone: zero,
            limit_stops_upper: zero,
            limit_stops_lower: zero,
            limit_stops_stiffness: zero,
            limit_stops_damping: zero,
            use_limit_stops: false,
            limit_stops_only_push: false,
        }
    }
}

impl<T: Real> Default for Discrete<T> {
    fn default() -> Self {
        Self { friction_mode: T::zero(), last_sticking_position: T::zero(), limit_stop_state: T::zero() }
    }
}

/// A force with the energy it stores and the power it loses.
#[derive(Clone, Copy)]
struct Part<T> {
    force: T,
    energy: T,
    loss: T,
}

impl<T: Real> Part<T> {
    fn none() -> Self {
        Self { force: T::zero(), energy: T::zero(), loss: T::zero() }
    }
}

impl<T: Real> Parameters<T> {
    /// The magnitude `F(v)` of sliding friction \[N\] at a speed outside the proportional zone
    /// \[m/s\].
    #[inline]
    pub fn stribeck(&self, speed: T) -> T {
        let beyond = speed - self.friction_proportional_zone;
        let mut magnitude = self.dynamic_friction + self.viscous_friction * beyond;
        // An exponential costs more than all the rest.
        if self.static_friction_offset != T::zero() {
            magnitude += self.static_friction_offset * (-beyond / self.exponential_decay_static).exp();
        }
        magnitude
    }

    /// The force of bristles that stick \[N\].
    #[inline]
    fn sticking_force(&self, q: T, v: T, last_sticking_position: T) -> T {
        self.sticking_stiffness * (q - last_sticking_position) + self.sticking_damping * v
    }

    fn has_bristles(&self) -> bool {
        self.friction_proportional_zone == T::zero()
            && (self.dynamic_friction != T::zero() || self.static_friction_offset != T::zero())
    }

    /// The displacement beyond the stop that the state says is surpassed \[m\].
    fn penetration(&self, q: T, limit_stop_state: T) -> T {
        if limit_stop_state > T::zero() { q - self.limit_stops_upper } else { q - self.limit_stops_lower }
    }

    #[inline]
    fn friction(&self, q: T, v: T, discrete: &Discrete<T>) -> Part<T> {
        let zone = self.friction_proportional_zone;
        if zone > T::zero() {
            let force = if v.abs() <= zone {
                (self.dynamic_friction + self.static_friction_offset) * (v / zone)
            } else {
                with_sign_of(v, self.stribeck(v.abs()))
            };
            Part { force, energy: T::zero(), loss: force * v }
        } else if !self.has_bristles() {
            Part::none()
        } else if discrete.friction_mode == T::zero() {
            let bend = q - discrete.last_sticking_position;
            let damping = self.sticking_damping * v;
            Part {
                force: self.sticking_stiffness * bend + damping,
                energy: T::lit(0.5) * self.sticking_stiffness * bend * bend,
                loss: damping * v,
            }
        } else {
            let mode = discrete.friction_mode;
            let force = with_sign_of(mode, self.stribeck(v.abs()).abs());
            let energy = if self.sticking_stiffness > T::zero() {
                T::lit(0.5) * mode * mode / self.sticking_stiffness
            } else {
                T::zero()
            };
            Part { force, energy, loss: force * v }
        }
    }

    #[inline]
    fn contact(&self, q: T, v: T, limit_stop_state: T) -> Part<T> {
        if !self.use_limit_stops || limit_stop_state == T::zero() {
            return Part::none();
        }
        let mut depth = self.penetration(q, limit_stop_state);
        let mut damping = self.limit_stops_damping * v;
        if self.limit_stops_only_push {
            // Measured outward, neither the elastic part nor the sum may be negative.
            let outward = limit_stop_state.signum();
            depth = outward * (outward * depth).max(T::zero());
            let elastic = self.limit_stops_stiffness * depth;
            damping = outward * (outward * damping).max(-(outward * elastic));
        }
        let elastic = self.limit_stops_stiffness * depth;
        Part { force: elastic + damping, energy: T::lit(0.5) * elastic * depth, loss: damping * v }
    }

    /// The discrete variables that fit a displacement `q` \[m\] and a velocity `v` \[m/s\], given
    /// those at the start of the step and the present ones.
    ///
    /// - Sticking bristles slip when their force exceeds `f_d + f_so`; the mode becomes the Stribeck
    ///   force at `v`.
    /// - Slipping bristles stick when `v` opposes the mode: where they stuck at the start of the
    ///   step, if they did; else where their force continues the slip force of the start of the
    ///   step.
    /// - Bristles that go on slipping track displacement and force.
    /// - A stop acts while it is surpassed, and its penetration is stored.
    pub fn switch(&self, q: T, v: T, start: &Discrete<T>, current: &Discrete<T>) -> Switch<T> {
        let (discrete, friction_error) = if self.has_bristles() {
            self.switch_friction(q, v, start, current)
        } else {
            (*current, T::zero())
        };
        let (limit_stop_state, contact_error) = self.switch_stop(q, current.limit_stop_state);
        Switch {
            discrete: Discrete { limit_stop_state, ..discrete },
            force_error: friction_error + contact_error,
        }
    }

    fn switch_friction(&self, q: T, v: T, start: &Discrete<T>, current: &Discrete<T>) -> (Discrete<T>, T) {
        let slip_force = self.stribeck(v.abs()).abs();
        let sticking_force = self.sticking_force(q, v, current.last_sticking_position);
        if current.friction_mode == T::zero() {
            if sticking_force.abs() <= self.dynamic_friction + self.static_friction_offset {
                return (*current, T::zero());
            }
            let direction = if v == T::zero() { sticking_force } else { v };
            let friction_mode = with_sign_of(direction, slip_force);
            (Discrete { friction_mode, ..*current }, (sticking_force.abs() - slip_force).abs())
        } else if v * current.friction_mode < T::zero() {
            if start.friction_mode == T::zero() {
                let discrete = Discrete {
                    friction_mode: T::zero(),
                    last_sticking_position: start.last_sticking_position,
                    ..*current
                };
                (discrete, (slip_force - sticking_force.abs()).abs())
            } else {
                let bend = if self.sticking_stiffness > T::zero() {
                    (start.friction_mode - self.sticking_damping * v) / self.sticking_stiffness
                } else {
                    T::zero()
                };
                let discrete =
                    Discrete { friction_mode: T::zero(), last_sticking_position: q - bend, ..*current };
                (discrete, (start.friction_mode - with_sign_of(v, slip_force)).abs())
            }
        } else {
            let friction_mode = with_sign_of(current.friction_mode, slip_force);
            (Discrete { friction_mode, last_sticking_position: q, ..*current }, T::zero())
        }
    }

    fn switch_stop(&self, q: T, limit_stop_state: T) -> (T, T) {
        if !self.use_limit_stops {
            return (limit_stop_state, T::zero());
        }
        let next = if q > self.limit_stops_upper {
            q - self.limit_stops_upper
        } else if q < self.limit_stops_lower {
            q - self.limit_stops_lower
        } else {
            T::zero()
        };
        let switched = next.partial_cmp(&T::zero()) != limit_stop_state.partial_cmp(&T::zero());
        let change = if switched { next.abs().max(limit_stop_state.abs()) } else { T::zero() };
        (next, self.limit_stops_stiffness * change)
    }

    /// The same parameters in another scalar.
    pub fn cast<U: Real>(&self) -> Parameters<U> {
        Parameters {
            stiffness: self.stiffness.cast(),
            damping: self.damping.cast(),
            offset: self.offset.cast(),
            velocity_offset: self.velocity_offset.cast(),
            factor0: self.factor0.cast(),
            factor1: self.factor1.cast(),
            dynamic_friction: self.dynamic_friction.cast(),
            static_friction_offset: self.static_friction_offset.cast(),
            sticking_stiffness: self.sticking_stiffness.cast(),
            sticking_damping: self.sticking_damping.cast(),
            exponential_decay_static: self.exponential_decay_static.cast(),
            viscous_friction: self.viscous_friction.cast(),
            friction_proportional_zone: self.friction_proportional_zone.cast(),
            limit_stops_upper: self.limit_stops_upper.cast(),
            limit_stops_lower: self.limit_stops_lower.cast(),
            limit_stops_stiffness: self.limit_stops_stiffness.cast(),
            limit_stops_damping: self.limit_stops_damping.cast(),
            use_limit_stops: self.use_limit_stops,
            limit_stops_only_push: self.limit_stops_only_push,
        }
    }
}

impl<T: Real> Discrete<T> {
    /// The same variables in another scalar.
    pub fn cast<U: Real>(&self) -> Discrete<U> {
        Discrete {
            friction_mode: self.friction_mode.cast(),
            last_sticking_position: self.last_sticking_position.cast(),
            limit_stop_state: self.limit_stop_state.cast(),
        }
    }
}

/// A magnitude, with the sign of a number that is not zero.
#[inline]
fn with_sign_of<T: Real>(direction: T, magnitude: T) -> T {
    if direction < T::zero() { -magnitude } else { magnitude }
}

impl<T: Real> Variables<T> for Parameters<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        for (name, value) in [
            ("stiffness", &mut self.stiffness),
            ("damping", &mut self.damping),
            ("offset", &mut self.offset),
            ("velocity_offset", &mut self.velocity_offset),
            ("factor0", &mut self.factor0),
            ("factor1", &mut self.factor1),
            ("dynamic_friction", &mut self.dynamic_friction),
            ("static_friction_offset", &mut self.static_friction_offset),
            ("sticking_stiffness", &mut self.sticking_stiffness),
            ("sticking_damping", &mut self.sticking_damping),
            ("exponential_decay_static", &mut self.exponential_decay_static),
            ("viscous_friction", &mut self.viscous_friction),
            ("friction_proportional_zone", &mut self.friction_proportional_zone),
            ("limit_stops_upper", &mut self.limit_stops_upper),
            ("limit_stops_lower", &mut self.limit_stops_lower),
            ("limit_stops_stiffness", &mut self.limit_stops_stiffness),
            ("limit_stops_damping", &mut self.limit_stops_damping),
        ] {
            visit(format_args!("{name}"), value);
        }
        visit_flag("use_limit_stops", &mut self.use_limit_stops, visit);
        visit_flag("limit_stops_only_push", &mut self.limit_stops_only_push, visit);
    }

    fn validate(&self) -> Result<()> {
        let check = Check::new(<CoordinateSpringDamperExt<T> as ForceElement<T>>::KIND);
        check.finite("stiffness", self.stiffness)?;
        check.finite("damping", self.damping)?;
        check.finite("offset", self.offset)?;
        check.finite("velocity_offset", self.velocity_offset)?;
        check.finite("factor0", self.factor0)?;
        check.finite("factor1", self.factor1)?;
        check.nonnegative("dynamic_friction", self.dynamic_friction)?;
        check.nonnegative("static_friction_offset", self.static_friction_offset)?;
        check.nonnegative("sticking_stiffness", self.sticking_stiffness)?;
        check.nonnegative("sticking_damping", self.sticking_damping)?;
        check.positive("exponential_decay_static", self.exponential_decay_static)?;
        check.finite("viscous_friction", self.viscous_friction)?;
        check.nonnegative("friction_proportional_zone", self.friction_proportional_zone)?;
        check.finite("limit_stops_upper", self.limit_stops_upper)?;
        check.finite("limit_stops_lower", self.limit_stops_lower)?;
        let (lower, upper) = (self.limit_stops_lower, self.limit_stops_upper);
        check.at_most("limit_stops_lower", lower, "limit_stops_upper", upper)?;
        check.nonnegative("limit_stops_stiffness", self.limit_stops_stiffness)?;
        check.nonnegative("limit_stops_damping", self.limit_stops_damping)
    }
}

impl<T: Real> Variables<T> for Discrete<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit(format_args!("friction_mode"), &mut self.friction_mode);
        visit(format_args!("last_sticking_position"), &mut self.last_sticking_position);
        visit(format_args!("limit_stop_state"), &mut self.limit_stop_state);
    }

    fn validate(&self) -> Result<()> {
        let check = Check::new(<CoordinateSpringDamperExt<T> as ForceElement<T>>::KIND);
        check.finite("friction_mode", self.friction_mode)?;
        check.finite("last_sticking_position", self.last_sticking_position)?;
        check.finite("limit_stop_state", self.limit_stop_state)
    }
}

impl<T: Real> ForceElement<T> for CoordinateSpringDamperExt<T> {
    const KIND: &'static str = "coordinate_spring_damper_ext";
    type Parameters = Parameters<T>;
    type Discrete = Discrete<T>;
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<()> {
        [self.coordinate0, self.coordinate1]
            .into_iter()
            .flatten()
            .try_for_each(|coordinate| topology.check_coordinate(coordinate))
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.parameters
    }

    fn default_discrete(&self) -> Self::Discrete {
        Discrete::default()
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> Result<()> {
        cache.displacement = self.relative(given.parameters, |side| given.positions.coordinate(side));
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<()> {
        cache.velocity = self.relative(at.parameters, |side| velocities.coordinate_rate(side));
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> Result<()> {
        let parameters = at.parameters;
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        *cache = if let Some(ForceLaw(law)) = &self.force_law {
            let force = law(at.time, q, v, parameters);
            finite(force.is_finite(), Quantity::ForceLaw)?;
            Dynamics { force, power_dissipated: force * v, ..Dynamics::default() }
        } else {
            let stretch = q - parameters.offset;
            let slip = v - parameters.velocity_offset;
            let spring = parameters.stiffness * stretch;
            let damper = parameters.damping * slip;
            let friction = parameters.friction(q, v, at.discrete);
            let contact = parameters.contact(q, v, at.discrete.limit_stop_state);
            Dynamics {
                force: spring + damper + friction.force + contact.force,
                friction_force: friction.force,
                contact_force: contact.force,
                potential_energy: T::lit(0.5) * spring * stretch + friction.energy + contact.energy,
                power_dissipated: damper * slip + friction.loss + contact.loss,
                power_supplied: -damper * parameters.velocity_offset,
                ..Dynamics::default()
            }
        };
        cache.generalized_force0 = cache.force * parameters.factor0;
        cache.generalized_force1 = -cache.force * parameters.factor1;
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let Dynamics { generalized_force0, generalized_force1, .. } = *at.dynamics;
        for (side, force) in [(self.coordinate0, generalized_force0), (self.coordinate1, generalized_force1)]
        {
            if let Some(coordinate) = side {
                forces.apply_to_coordinate(coordinate, force);
            }
        }
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn power_supplied(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_supplied
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) {
        self.discontinuous_update(at, at.discrete, next);
    }

    fn discontinuous_update(
        &self,
        at: &AtDynamics<'_, T, Self>,
        start: &Self::Discrete,
        next: &mut Self::Discrete,
    ) -> T {
        if self.force_law.is_some() {
            return T::zero();
        }
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        let Switch { discrete, force_error } = at.parameters.switch(q, v, start, at.discrete);
        *next = discrete;
        force_error
    }
}

impl<T: Real> Default for Position<T> {
    fn default() -> Self {
        Self { displacement: T::zero() }
    }
}

impl<T: Real> Default for Velocity<T> {
    fn default() -> Self {
        Self { velocity: T::zero() }
    }
}

impl<T: Real> Default for Dynamics<T> {
    fn default() -> Self {
        let zero = T::zero();
        Self {
            force: zero,
            friction_force: zero,
            contact_force: zero,
            generalized_force0: zero,
            generalized_force1: zero,
            potential_energy: zero,
            power_dissipated: zero,
            power_supplied: zero,
        }
    }
}
