//! A point on a body against a plane: exponential normal force, friction with an anchor.

use nalgebra::{Point3, Vector2, Vector3};

use crate::element::{AtDynamics, AtPosition, AtVelocity, ForceElement, Given};
use crate::error::{ElementName, Error, Result};
use crate::forces::ForceAccumulator;
use crate::kinematics::{BodyIndex, Topology, Velocities};
use crate::scalar::Real;
use crate::spatial::{Transform, cast_pose};
use crate::state::State;
use crate::system::{ForceSystem, Handle};
use crate::variables::{Check, Variables, Visitor, visit_vector};

/// Contact of a station on a body with a plane, without a contact search.
///
/// ```text
///              S  station of body B
///              •
///      z       :  height p_z             fz  pushes S along z, always, if only by 1e-6 N
///      |       :                         fxy holds S near the anchor p0, up to μ·fz
///      P──x────p0──────────────
/// ```
///
/// The plane is the x-y plane of frame P and its normal is P's z axis. P is fixed to Ground or to
/// any other body. A box on the floor is eight such springs, one at each corner.
///
/// # Law
///
/// With the position $p$ and velocity $v$ of the station relative to the plane, expressed in P:
///
/// ```text
/// normal      fz    = d1·exp(−d2·(pz − d0)) · (1 − cz·vz)         clamped to [0, max]
/// limit       L     = μ·fz,   μ = μs − s·(μs − μk)
/// sliding     f1    = −cxy·vxy                                     shortened to L
/// anchored    f2    = −kxy·(pxy − p0) − cxy·vxy                    both parts scaled to |f2| ≤ L
/// friction    fxy   = (elastic part of f2)·(1 − s) + (damping part of f2)·(1 − s) + f1·s
/// next anchor p0⁺   = pxy + (elastic part of fxy) / kxy
/// next s      s⁺    = 10σ³ − 15σ⁴ + 6σ⁵,   σ = |p0⁺ − p0| / (Δt·v_settle) clamped to [0, 1]
/// ```
///
/// `s` is Sliding: 0 when the anchor holds, 1 when the station slides. The forces use the committed
/// anchor `p0` and Sliding `s`; the evaluation produces the next ones, and
/// [`accept_step`](ForceSystem::accept_step) commits them. Δt is the time since the last commit.
/// `s⁺ = 1` where Δt or the limit is negligible (below 2e-14 in f64); a negligible limit also
/// makes the friction zero and puts the anchor under the station.
///
/// | symbol | field | default | unit | range |
/// |---|---|---|---|---|
/// | `d0` | [`d0`](Parameters::d0) | 0.0065905 | m | finite |
/// | `d1` | [`d1`](Parameters::d1) | 0.5336 | N | > 0 |
/// | `d2` | [`d2`](Parameters::d2) | 1150 | 1/m | > 0 |
/// | `cz` | [`normal_viscosity`](Parameters::normal_viscosity) | 0.5 | s/m | ≥ 0 |
/// | max | [`max_normal_force`](Parameters::max_normal_force) | 100 000 | N | > 0 |
/// | `kxy` | [`friction_elasticity`](Parameters::friction_elasticity) | 20 000 | N/m | > 0 |
/// | `cxy` | [`friction_viscosity`](Parameters::friction_viscosity) | 2·√(kxy·1 kg) | N·s/m | ≥ 0 |
/// | `v_settle` | [`settle_velocity`](Parameters::settle_velocity) | 0.01 | m/s | > 0 |
/// | μs, μk | [`mu_static`](Discrete::mu_static), [`mu_kinetic`](Discrete::mu_kinetic) | 0.7, 0.5 | | 0 ≤ μk ≤ μs |
///
/// With the defaults the force falls below 0.01 N one centimetre above the plane and below 1e-6 N
/// two centimetres above it. There is no upper bound on μs. Other units than SI work if all
/// parameters are given in them.
///
/// # Energy
///
/// Stored: the integral of the elastic normal force over height (of the clamped force, where the
/// clamp acts), and `kxy·|pxy − p0⁺|²/2` in the friction spring, with the next anchor.
/// The clamp is elastic: a station pressed beyond it gives its energy back.
///
/// Lost at an instant: `−(damping forces)·v`. When the anchor is dragged along, `−(elastic
/// friction)·dp0⁺/dt` is lost as well; that rate is not known at an instant, but the loss is,
/// afterwards: see [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy).
///
/// # Note that
///
/// - Stiction is without drift: held below the limit with `s = 0`, the station rests on the friction
///   spring and the anchor does not move.
/// - **A loaded station that comes sliding may never stick.** At `s = 1` friction is purely viscous:
///   a tangential load `F` shared by `n` stations creeps at exactly `F / (n·cxy)`, and if that
///   exceeds the settle velocity the anchor moves too fast for `s` to fall. With the defaults a
///   10 kg block on four corners under 17 N, a quarter of what static friction could hold, creeps
///   at 15 mm/s for ever. Choose `cxy` or `v_settle` such that `F/(n·cxy) < v_settle` for the largest
///   load to be held ([`Parameters::with_critical_damping`] for the mass carried is a good start),
///   or begin with [`reset_anchor_point`](Handle::reset_anchor_point) and `sliding = 0`.
/// - With Sliding between 0 and 1, each accepted step takes a further share of the elastic force,
///   so that the transition depends on the step size.
/// - A larger `kxy` or `cxy` shortens the steps an explicit integrator can take.
///
/// # Singular cases
///
/// None. The exponent is cut at 80, where the force exceeds any sensible clamp by 29 orders of
/// magnitude, so that a station deep below the plane does not overflow.
///
/// # Source
///
/// F. C. Anderson, M. G. Pandy, *A dynamic optimization solution for vertical jumping in three
/// dimensions*, Computer Methods in Biomechanics and Biomedical Engineering 2 (1999) 201–231;
/// normal damping: K. H. Hunt, F. R. E. Crossley, *Coefficient of restitution interpreted as damping
/// in vibroimpact*, Journal of Applied Mechanics 42 (1975) 440–445; blending and anchor: reference
/// manual of Simbody's exponential spring.
///
/// # Example: one corner pressed on the floor
///
/// ```
/// use force_elements::exponential_spring::Parameters;
/// use force_elements::{ExponentialSpring, ForceSystem, Transform, nalgebra::Point3};
///
/// let mut system = ForceSystem::<f64>::new();
/// let block = system.add_body();
/// let floor = Transform::identity();
/// let corner = Point3::new(0.1, 0.1, -0.1);
/// let spring = system.add(ExponentialSpring::new(floor, block, corner, Parameters::default())?)?;
///
/// let mut state = system.default_state();
/// state.set_pose(block, Transform::translation(0.0, 0.0, 0.1))?;
/// spring.reset_anchor_point(&system, &mut state)?;
///
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let at = dynamics.of(spring);
/// assert!(at.position.height.abs() < 1e-15);
/// let weight = 0.5336 * (1150.0 * 0.0065905_f64).exp();
/// assert!((dynamics.body_force(block).force.z - weight).abs() < 1e-9);
/// assert_eq!(at.dynamics.friction_force_G().norm(), 0.0);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExponentialSpring<T: Real> {
    plane_body: BodyIndex,
    X_AP: Transform<T>,
    body: BodyIndex,
    station: Point3<T>,
    parameters: Parameters<T>,
    mu_static: T,
    mu_kinetic: T,
}

/// The shape of the normal force, the friction spring, and the settle velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameters<T: Real> {
    /// Shifts the exponential along the normal \[m\]; any finite value.
    pub d0: T,
    /// Scales the normal force \[N\], greater than zero.
    pub d1: T,
    /// Steepness of the exponential \[1/m\], greater than zero.
    pub d2: T,
    /// Normal viscosity `cz` \[s/m\], at least zero; zero loses no energy along the normal.
    pub normal_viscosity: T,
    /// Where the normal force is clamped \[N\], greater than zero.
    pub max_normal_force: T,
    /// Elasticity `kxy` of the friction spring \[N/m\], greater than zero.
    pub friction_elasticity: T,
    /// Viscosity `cxy` of the friction spring \[N·s/m\], at least zero. With zero, a station that is
    /// held vibrates in place for ever.
    pub friction_viscosity: T,
    /// Speed of the anchor below which friction settles from kinetic to static \[m/s\], greater than
    /// zero.
    pub settle_velocity: T,
}

/// What the spring remembers: the coefficients of friction, the anchor and Sliding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Discrete<T: Real> {
    /// Coefficient of static friction, at least `mu_kinetic`.
    pub mu_static: T,
    /// Coefficient of kinetic friction, at least zero.
    pub mu_kinetic: T,
    /// The anchor `p0`, the zero of the friction spring, in the plane \[m\].
    pub anchor_P: Vector2<T>,
    /// Sliding: from 0, fixed in place, to 1, sliding.
    pub sliding: T,
    /// When anchor and Sliding were committed last \[s\].
    pub last_update: T,
}

/// Results at Position stage.
#[derive(Debug, Clone)]
pub struct Position<T: Real> {
    /// Pose of the plane in Ground.
    pub X_GP: Transform<T>,
    /// The station in Ground \[m\].
    pub p_GS: Point3<T>,
    /// The station in the plane's frame \[m\].
    pub p_PS: Point3<T>,
    /// Height of the station above the plane, `p_PS.z` \[m\]; negative below it.
    pub height: T,
}

/// Results at Velocity stage.
#[derive(Debug, Clone)]
pub struct Velocity<T: Real> {
    /// Velocity of the station in Ground, expressed in Ground \[m/s\].
    pub v_GS: Vector3<T>,
    /// Velocity of the station relative to the plane, expressed in the plane's frame \[m/s\].
    pub v_PS: Vector3<T>,
}

/// Results at Dynamics stage. A trailing `_P` is expressed in the plane's frame, `_G` in Ground.
#[derive(Debug, Clone)]
pub struct Dynamics<T: Real> {
    /// The exponential before the clamp, `d1·exp(−d2·(height − d0))` \[N\].
    pub normal_force_unclamped: T,
    /// Elastic part of the normal force, along z of the plane \[N\]: the exponential, clamped.
    pub normal_force_elastic: T,
    /// Damping part of the normal force, along z of the plane \[N\].
    pub normal_force_damping: T,
    /// The normal force, along z of the plane \[N\].
    pub normal_force: T,
    /// The coefficient of friction between static and kinetic, by the committed Sliding.
    pub mu: T,
    /// The largest friction force there can be, `mu·normal_force` \[N\].
    pub friction_force_limit: T,
    /// Whether the limit has cut the friction.
    pub limit_reached: bool,
    /// Elastic part of the friction force, in the plane \[N\].
    pub friction_force_elastic_P: Vector2<T>,
    /// Damping part of the friction force, in the plane \[N\].
    pub friction_force_damping_P: Vector2<T>,
    /// The friction force, in the plane \[N\].
    pub friction_force_P: Vector2<T>,
    /// The anchor that the next accepted step commits, in the plane \[m\].
    pub anchor_P: Vector2<T>,
    /// The Sliding that the next accepted step commits.
    pub sliding: T,
    /// The energy stored \[J\].
    pub potential_energy: T,
    /// The power being lost to damping \[W\].
    pub power_dissipated: T,
    X_GP: Transform<T>,
}

impl<T: Real> ExponentialSpring<T> {
    /// A spring between `station` of `body`, in the body's frame \[m\], and the plane of pose `X_GP`
    /// on Ground, with friction coefficients 0.7 and 0.5.
    ///
    /// # Errors
    /// [`Error::SameEnds`] if the body is Ground; [`Error::InvalidValue`] for a pose or station that
    /// is not finite, a pose that is no rotation, or parameters out of range.
    pub fn new(
        X_GP: Transform<T>,
        body: BodyIndex,
        station: Point3<T>,
        parameters: Parameters<T>,
    ) -> Result<Self> {
        Self::on_body(BodyIndex::GROUND, X_GP, body, station, parameters)
    }

    /// As [`new`](Self::new), with the plane of pose `X_AP` fixed to `plane_body`, which gets the
    /// reaction.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::SameEnds`] if both bodies are the same.
    pub fn on_body(
        plane_body: BodyIndex,
        X_AP: Transform<T>,
        body: BodyIndex,
        station: Point3<T>,
        parameters: Parameters<T>,
    ) -> Result<Self> {
        if plane_body == body {
            return Err(Error::SameEnds { element: ElementName::new(Self::KIND) });
        }
        let check = Check::new(Self::KIND);
        check.pose("X_AP", &X_AP)?;
        check.finite_vector("station", &station.coords)?;
        parameters.validate()?;
        let (mu_static, mu_kinetic) = (T::lit(0.7), T::lit(0.5));
        Ok(Self { plane_body, X_AP, body, station, parameters, mu_static, mu_kinetic })
    }

    /// With these coefficients of friction in new states.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] unless `0 ≤ mu_kinetic ≤ mu_static`, both finite.
    pub fn with_friction(mut self, mu_static: T, mu_kinetic: T) -> Result<Self> {
        (self.mu_static, self.mu_kinetic) = (mu_static, mu_kinetic);
        self.default_discrete().validate()?;
        Ok(self)
    }

    /// The body that carries the plane.
    pub fn plane_body(&self) -> BodyIndex {
        self.plane_body
    }

    /// The pose of the plane on its body: `X_GP` where that is Ground.
    pub fn contact_plane(&self) -> &Transform<T> {
        &self.X_AP
    }

    /// The body that carries the station.
    pub fn body(&self) -> BodyIndex {
        self.body
    }

    /// The station in its body's frame \[m\].
    pub fn station(&self) -> &Point3<T> {
        &self.station
    }

    /// The same spring in another scalar.
    pub fn cast<U: Real>(&self) -> ExponentialSpring<U> {
        ExponentialSpring {
            plane_body: self.plane_body,
            X_AP: cast_pose(&self.X_AP),
            body: self.body,
            station: self.station.map(T::cast),
            parameters: self.parameters.cast(),
            mu_static: self.mu_static.cast(),
            mu_kinetic: self.mu_kinetic.cast(),
        }
    }
}

impl<T: Real> Handle<ExponentialSpring<T>> {
    /// Puts the anchor under the station, so that the elastic friction is zero. Realizes the state
    /// to Position.
    ///
    /// Do this at the start of a simulation, lest it begin with a large friction force.
    ///
    /// # Errors
    /// [`Error::TopologyMismatch`] if the state or handle belongs to another system.
    pub fn reset_anchor_point(self, system: &ForceSystem<T>, state: &mut State<T>) -> Result<()> {
        let at = system.realize_position(state)?.try_of(self)?;
        let (anchor, time) = (at.position.p_PS.xy().coords, at.time);
        state.update_discrete(self, |discrete| {
            discrete.anchor_P = anchor;
            discrete.last_update = time;
        })
    }
}

impl<T: Real> Default for Parameters<T> {
    fn default() -> Self {
        Self {
            d0: T::lit(0.006_590_5),
            d1: T::lit(0.5336),
            d2: T::lit(1150.0),
            normal_viscosity: T::lit(0.5),
            max_normal_force: T::lit(100_000.0),
            friction_elasticity: T::lit(20_000.0),
            friction_viscosity: critical_viscosity(T::lit(20_000.0), T::one()),
            settle_velocity: T::lit(0.01),
        }
    }
}

/// The viscosity that damps a mass on a spring critically \[N·s/m\].
fn critical_viscosity<T: Real>(elasticity: T, mass: T) -> T {
    T::lit(2.0) * (elasticity * mass).sqrt()
}

impl<T: Real> Parameters<T> {
    /// With this shape of the normal force: `d1·exp(−d2·(height − d0))`.
    #[must_use]
    pub fn with_shape(self, d0: T, d1: T, d2: T) -> Self {
        Self { d0, d1, d2, ..self }
    }

    /// With this normal viscosity `cz` \[s/m\].
    #[must_use]
    pub fn with_normal_viscosity(self, normal_viscosity: T) -> Self {
        Self { normal_viscosity, ..self }
    }

    /// With this clamp of the normal force \[N\].
    #[must_use]
    pub fn with_max_normal_force(self, max_normal_force: T) -> Self {
        Self { max_normal_force, ..self }
    }

    /// With this friction elasticity `kxy` \[N/m\].
    #[must_use]
    pub fn with_friction_elasticity(self, friction_elasticity: T) -> Self {
        Self { friction_elasticity, ..self }
    }

    /// With this friction viscosity `cxy` \[N·s/m\].
    #[must_use]
    pub fn with_friction_viscosity(self, friction_viscosity: T) -> Self {
        Self { friction_viscosity, ..self }
    }

    /// With this friction elasticity `kxy` \[N/m\] and the viscosity `2·√(kxy·mass)` that damps it
    /// critically for a mass \[kg\].
    #[must_use]
    pub fn with_critical_damping(self, friction_elasticity: T, mass: T) -> Self {
        let friction_viscosity = critical_viscosity(friction_elasticity, mass);
        Self { friction_elasticity, friction_viscosity, ..self }
    }

    /// With this settle velocity \[m/s\].
    #[must_use]
    pub fn with_settle_velocity(self, settle_velocity: T) -> Self {
        Self { settle_velocity, ..self }
    }

    /// The same parameters in another scalar.
    pub fn cast<U: Real>(&self) -> Parameters<U> {
        Parameters {
            d0: self.d0.cast(),
            d1: self.d1.cast(),
            d2: self.d2.cast(),
            normal_viscosity: self.normal_viscosity.cast(),
            max_normal_force: self.max_normal_force.cast(),
            friction_elasticity: self.friction_elasticity.cast(),
            friction_viscosity: self.friction_viscosity.cast(),
            settle_velocity: self.settle_velocity.cast(),
        }
    }
}

impl<T: Real> Discrete<T> {
    /// Sets the coefficient of static friction; lowers the kinetic one to it if need be.
    pub fn set_mu_static(&mut self, mu_static: T) {
        self.mu_static = mu_static;
        self.mu_kinetic = self.mu_kinetic.min(mu_static);
    }

    /// Sets the coefficient of kinetic friction; raises the static one to it if need be.
    pub fn set_mu_kinetic(&mut self, mu_kinetic: T) {
        self.mu_kinetic = mu_kinetic;
        self.mu_static = self.mu_static.max(mu_kinetic);
    }

    /// The same variables in another scalar.
    pub fn cast<U: Real>(&self) -> Discrete<U> {
        Discrete {
            mu_static: self.mu_static.cast(),
            mu_kinetic: self.mu_kinetic.cast(),
            anchor_P: self.anchor_P.map(T::cast),
            sliding: self.sliding.cast(),
            last_update: self.last_update.cast(),
        }
    }
}

impl<T: Real> Dynamics<T> {
    /// Elastic part of the normal force \[N\].
    pub fn normal_force_elastic_G(&self) -> Vector3<T> {
        self.along_normal(self.normal_force_elastic)
    }

    /// Damping part of the normal force \[N\].
    pub fn normal_force_damping_G(&self) -> Vector3<T> {
        self.along_normal(self.normal_force_damping)
    }

    /// The normal force \[N\].
    pub fn normal_force_G(&self) -> Vector3<T> {
        self.along_normal(self.normal_force)
    }

    /// Elastic part of the friction force \[N\].
    pub fn friction_force_elastic_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.friction_force_elastic_P.push(T::zero())
    }

    /// Damping part of the friction force \[N\].
    pub fn friction_force_damping_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.friction_force_damping_P.push(T::zero())
    }

    /// The friction force \[N\].
    pub fn friction_force_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.friction_force_P.push(T::zero())
    }

    /// The force on the body, acting at the station, in the plane's frame \[N\].
    pub fn force_P(&self) -> Vector3<T> {
        self.friction_force_P.push(self.normal_force)
    }

    /// The force on the body, acting at the station \[N\].
    pub fn force_G(&self) -> Vector3<T> {
        self.X_GP.rotation * self.force_P()
    }

    /// The anchor that the next accepted step commits \[m\].
    pub fn anchor_G(&self) -> Point3<T> {
        self.X_GP * Point3::from(self.anchor_P.push(T::zero()))
    }

    fn along_normal(&self, force: T) -> Vector3<T> {
        self.X_GP.rotation.matrix().column(2) * force
    }
}

impl<T: Real> Variables<T> for Parameters<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        for (name, value) in [
            ("d0", &mut self.d0),
            ("d1", &mut self.d1),
            ("d2", &mut self.d2),
            ("normal_viscosity", &mut self.normal_viscosity),
            ("max_normal_force", &mut self.max_normal_force),
            ("friction_elasticity", &mut self.friction_elasticity),
            ("friction_viscosity", &mut self.friction_viscosity),
            ("settle_velocity", &mut self.settle_velocity),
        ] {
            visit(format_args!("{name}"), value);
        }
    }

    fn validate(&self) -> Result<()> {
        let check = Check::new(<ExponentialSpring<T> as ForceElement<T>>::KIND);
        check.finite("d0", self.d0)?;
        check.positive("d1", self.d1)?;
        check.positive("d2", self.d2)?;
        check.nonnegative("normal_viscosity", self.normal_viscosity)?;
        check.positive("max_normal_force", self.max_normal_force)?;
        check.positive("friction_elasticity", self.friction_elasticity)?;
        check.nonnegative("friction_viscosity", self.friction_viscosity)?;
        check.positive("settle_velocity", self.settle_velocity)
    }
}

impl<T: Real> Variables<T> for Discrete<T> {
    fn visit(&mut self, visit: Visitor<'_, T>) {
        visit(format_args!("mu_static"), &mut self.mu_static);
        visit(format_args!("mu_kinetic"), &mut self.mu_kinetic);
        visit_vector(format_args!("anchor"), &mut self.anchor_P, visit);
        visit(format_args!("sliding"), &mut self.sliding);
        visit(format_args!("last_update"), &mut self.last_update);
    }

    fn validate(&self) -> Result<()> {
        let check = Check::new(<ExponentialSpring<T> as ForceElement<T>>::KIND);
        check.nonnegative("mu_static", self.mu_static)?;
        check.nonnegative("mu_kinetic", self.mu_kinetic)?;
        check.at_most("mu_kinetic", self.mu_kinetic, "mu_static", self.mu_static)?;
        check.finite("anchor.x", self.anchor_P.x)?;
        check.finite("anchor.y", self.anchor_P.y)?;
        check.fraction("sliding", self.sliding)?;
        check.finite("last_update", self.last_update)
    }
}

/// The normal force and what belongs to it.
struct Normal<T> {
    unclamped: T,
    elastic: T,
    total: T,
    energy: T,
}

/// The normal force at a height and a velocity along the normal.
fn normal_force<T: Real>(parameters: &Parameters<T>, height: T, speed: T) -> Normal<T> {
    let Parameters { d0, d1, d2, normal_viscosity, max_normal_force: max, .. } = *parameters;
    let exponent = d2 * (d0 - height);
    let unclamped = d1 * exponent.min(T::lit(80.0)).exp();
    let total = (unclamped * (T::one() - normal_viscosity * speed)).clamp(T::zero(), max);
    if unclamped <= max {
        Normal { unclamped, elastic: unclamped, total, energy: unclamped / d2 }
    } else {
        // Below the height at which the clamp sets in, the stored energy grows linearly.
        let beyond = (exponent - (max / d1).ln()) / d2;
        Normal { unclamped, elastic: max, total, energy: max / d2 + max * beyond }
    }
}

/// The elastic and damping parts of the blended friction force, and whether the limit cut it.
fn friction_force<T: Real>(
    parameters: &Parameters<T>,
    stretch: Vector2<T>,
    velocity: Vector2<T>,
    limit: T,
    sliding: T,
) -> (Vector2<T>, Vector2<T>, bool) {
    let limit_squared = limit * limit;
    let viscous = velocity * -parameters.friction_viscosity;

    let sliding_squared = viscous.norm_squared();
    let sliding_cut = sliding_squared > limit_squared;
    let sliding_damping = if sliding_cut { viscous * (limit / sliding_squared.sqrt()) } else { viscous };

    let elastic = stretch * -parameters.friction_elasticity;
    let anchored_squared = (elastic + viscous).norm_squared();
    let anchored_cut = anchored_squared > limit_squared;
    let scale = if anchored_cut { limit / anchored_squared.sqrt() } else { T::one() };

    let held = (T::one() - sliding) * scale;
    (elastic * held, viscous * held + sliding_damping * sliding, sliding_cut || anchored_cut)
}

/// Sliding as a function of the speed of the anchor over the settle velocity.
fn settle<T: Real>(speed_ratio: T) -> T {
    let s = speed_ratio.min(T::one());
    s * s * s * (T::lit(10.0) + s * (T::lit(6.0) * s - T::lit(15.0)))
}

impl<T: Real> ForceElement<T> for ExponentialSpring<T> {
    const KIND: &'static str = "exponential_spring";
    type Parameters = Parameters<T>;
    type Discrete = Discrete<T>;
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> Result<()> {
        topology.check_body(self.plane_body)?;
        topology.check_body(self.body)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.parameters
    }

    fn default_discrete(&self) -> Self::Discrete {
        Discrete {
            mu_static: self.mu_static,
            mu_kinetic: self.mu_kinetic,
            anchor_P: Vector2::zeros(),
            sliding: T::one(),
            last_update: T::zero(),
        }
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> Result<()> {
        let X_GP = if self.plane_body == BodyIndex::GROUND {
            self.X_AP
        } else {
            given.positions.pose(self.plane_body) * self.X_AP
        };
        let p_GS = given.positions.pose(self.body) * self.station;
        let p_PS = X_GP.inverse_transform_point(&p_GS);
        *cache = Position { X_GP, p_GS, p_PS, height: p_PS.z };
        Ok(())
    }

    fn calc_velocity(
        &self,
        at: &AtPosition<'_, T, Self>,
        velocities: &Velocities<T>,
        cache: &mut Self::Velocity,
    ) -> Result<()> {
        let Position { X_GP, p_GS, .. } = at.position;
        let velocity_of_station_on = |body: BodyIndex| {
            let p_GB = at.positions.pose(body).translation.vector;
            velocities.velocity(body).shifted(p_GS.coords - p_GB).linear
        };
        let v_GS = velocity_of_station_on(self.body);
        let relative = if self.plane_body == BodyIndex::GROUND {
            v_GS
        } else {
            v_GS - velocity_of_station_on(self.plane_body)
        };
        *cache = Velocity { v_GS, v_PS: X_GP.rotation.inverse_transform_vector(&relative) };
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> Result<()> {
        let parameters = at.parameters;
        let committed = at.discrete;
        let v_PS = at.velocity.v_PS;

        let normal = normal_force(parameters, at.position.height, v_PS.z);
        let normal_force_damping = normal.total - normal.elastic;

        let mu = committed.mu_static - committed.sliding * (committed.mu_static - committed.mu_kinetic);
        let limit = mu * normal.total;
        let is_held = limit >= T::negligible();

        let p_xy = at.position.p_PS.xy().coords;
        let (elastic, damping, limit_reached) = if is_held {
            let stretch = p_xy - committed.anchor_P;
            friction_force(parameters, stretch, v_PS.xy(), limit, committed.sliding)
        } else {
            (Vector2::zeros(), Vector2::zeros(), true)
        };
        let anchor_P = p_xy + elastic / parameters.friction_elasticity;

        let elapsed = at.time - committed.last_update;
        let sliding = if is_held && elapsed > T::negligible() {
            let travel_squared = (anchor_P - committed.anchor_P).norm_squared();
            // At rest the square root has no derivative, and none is needed.
            let travel = if travel_squared > T::zero() { travel_squared.sqrt() } else { T::zero() };
            settle(travel / (elapsed * parameters.settle_velocity))
        } else {
            T::one()
        };

        let friction_energy = T::lit(0.5) * elastic.norm_squared() / parameters.friction_elasticity;
        *cache = Dynamics {
            normal_force_unclamped: normal.unclamped,
            normal_force_elastic: normal.elastic,
            normal_force_damping,
            normal_force: normal.total,
            mu,
            friction_force_limit: limit,
            limit_reached,
            friction_force_elastic_P: elastic,
            friction_force_damping_P: damping,
            friction_force_P: elastic + damping,
            anchor_P,
            sliding,
            potential_energy: normal.energy + friction_energy,
            power_dissipated: -normal_force_damping * v_PS.z - damping.dot(&v_PS.xy()),
            X_GP: at.position.X_GP,
        };
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let f_G = at.dynamics.force_G();
        for (body, f_G) in [(self.body, f_G), (self.plane_body, -f_G)] {
            let p_GB = at.positions.pose(body).translation.vector;
            forces.apply_at_offset(body, at.position.p_GS.coords - p_GB, f_G);
        }
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.potential_energy
    }

    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.dynamics.power_dissipated
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) {
        next.anchor_P = at.dynamics.anchor_P;
        next.sliding = at.dynamics.sliding;
        next.last_update = at.time;
    }
}

impl<T: Real> Default for Position<T> {
    fn default() -> Self {
        Self {
            X_GP: Transform::identity(),
            p_GS: Point3::origin(),
            p_PS: Point3::origin(),
            height: T::zero(),
        }
    }
}

impl<T: Real> Default for Velocity<T> {
    fn default() -> Self {
        Self { v_GS: Vector3::zeros(), v_PS: Vector3::zeros() }
    }
}

impl<T: Real> Default for Dynamics<T> {
    fn default() -> Self {
        Self {
            normal_force_unclamped: T::zero(),
            normal_force_elastic: T::zero(),
            normal_force_damping: T::zero(),
            normal_force: T::zero(),
            mu: T::zero(),
            friction_force_limit: T::zero(),
            limit_reached: false,
            friction_force_elastic_P: Vector2::zeros(),
            friction_force_damping_P: Vector2::zeros(),
            friction_force_P: Vector2::zeros(),
            anchor_P: Vector2::zeros(),
            sliding: T::zero(),
            potential_energy: T::zero(),
            power_dissipated: T::zero(),
            X_GP: Transform::identity(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn normal_force_is_minus_the_slope_of_its_energy_on_both_sides_of_the_clamp() {
        let parameters = Parameters::<f64>::default();
        let h = 1e-7;
        for height in [0.02, 0.0, -0.003, -0.0045, -0.01, -0.05] {
            let energy = |z: f64| normal_force(&parameters, z, 0.0).energy;
            let slope = (energy(height + h) - energy(height - h)) / (2.0 * h);
            let force = normal_force(&parameters, height, 0.0).total;
            // Central differences are off by (d2·h)²/6 = 2e-9 and by rounding in a difference.
            assert_relative_eq!(force, -slope, max_relative = 1e-6);
        }
    }

    #[test]
    fn normal_damping_loses_energy_whichever_way_and_however_deep() {
        let parameters = Parameters::<f64>::default().with_normal_viscosity(2.0);
        for height in [0.01, 0.0, -0.005, -0.1, -10.0] {
            for speed in [-30.0, -0.2, 0.0, 0.2, 30.0] {
                let normal = normal_force(&parameters, height, speed);
                assert!((normal.total - normal.elastic) * speed <= 0.0);
                assert!((0.0..=100_000.0).contains(&normal.total));
            }
        }
    }

    #[test]
    fn settling_rises_from_zero_to_one_with_flat_ends() {
        assert_eq!((settle(0.0), settle(0.5), settle(1.0), settle(7.0)), (0.0, 0.5, 1.0, 1.0));
        // The first derivative vanishes at both ends: what is left is of third order, 10·(1e-3)³.
        assert!(settle(1e-3) < 1.01e-8 && 1.0 - settle(1.0 - 1e-3) < 1.01e-8);
    }
}
