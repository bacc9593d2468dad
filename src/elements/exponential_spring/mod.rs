//! A point on a body against a plane: exponential normal force, friction with an anchor.

use nalgebra::{Point3, Vector2};

mod law;
mod linearize;
mod slider;
mod variables;

pub use variables::{Discrete, Dynamics, Parameters, Position, Velocity};

use crate::elements::Refusal;
use crate::elements::errors::check_ends;
use crate::elements::frames::check_bodies;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, ElementResult, Error, ForceElement, Given,
    Meaning, Pen, Stiffnesses, Variables,
};
use crate::math::{Pose, Real, check};
use crate::mechanics::{
    BodyIndex, Checked, ForceAccumulator, Frame, Positions, Station, Topology, Velocities,
};

use law::{Step, TOUCH, Tangential, normal_force};

/// Contact between a station on a body and a plane, without a contact search.
///
/// ```text
///              S  station of body B
///              •
///      z       :  height p_z             fz  pushes S along z, if only by 1e-6 N
///      |       :                         fxy holds S near the anchor p0, up to μ·fz
///      P──x────p0──────────────
/// ```
///
/// The plane is the x-y plane of frame P; its normal is the z axis of P. P is fixed to Ground or to another body. A box
/// on the floor has eight such springs, one at each corner.
///
#[doc = include_str!("../../../docs/sketches/exponential_spring.svg")]
///
/// # Law
///
/// With the position `p` and velocity `v` of the station relative to the plane, expressed in P:
///
/// ```text
/// elastic     fn    = d1·exp(−d2·(pz − d0))                        at most max
/// normal      fz    = fn·(1 − cz·vz)                               clamped to [0, max]
/// damping     fd    = −cxy·vxy                                     shortened to L = μ·fz
/// elastic     fe    = −λ·kxy·(pxy − p0)                            the largest λ ≤ 1 with |fe + fd| ≤ L
/// friction    fxy   = fd + fe
/// anchor      p0⁺   = pxy + fe/kxy                                 p0 itself unless it is dragged along
/// μ                 = μs while the anchor holds, μk while the station slides
/// ```
///
/// The damper acts first. The friction spring then exerts at most the remainder of the limit; its excess drags the anchor
/// towards the station. The normal force is zero where the station rises at `1/cz` or faster.
///
/// The anchor lets go at `μs·fz`, once the mean velocity of the station since the last commit exceeds `v_release`. It
/// holds again when it is not dragged and the station is no faster than `v_settle`. The friction spring is slack while
/// the station slides faster than `μ·fz/cxy`, so a body that stops is not pulled back far.
///
/// - A load of up to `μs·fz` is held without creep: below the limit the anchor does not move at all. Under a sudden load
///   the pull overshoots, at critical damping by `e⁻²`, 14 %; if the overshoot exceeds the limit, the station slides.
/// - A sliding station has kinetic friction, and comes to rest under any load that kinetic friction can hold.
/// - Stations that share a load unevenly reach their limits one after the other. With `v_release = 0`, a station that has
///   let go carries less. On a plane that tilts from level, a slab of 10 kg on four stations then slips at 33.3° and a
///   cube at 33.9°, while a point slips at `atan μs`, 35.0°.
/// - With `v_release > 0`, blocks also slip at `atan μs` if `v_release` exceeds the speed at which some corners slip
///   while others hold. That is about the rate of the load over `n·kxy`: 0.2 mm/s if the plane tilts at 2° a second. A
///   body that is released slowly, as on a belt, then starts late by `√(2·v_release/a')`, where `a'` is the rate at which
///   its acceleration grows.
///
/// ## Commits and steps
///
/// Each evaluation advances the anchor from the last commit; [`accept_step`](crate::ForceSystem::accept_step) commits it.
/// With `v_release = 0` friction depends on the motion alone and not on the elapsed time, so steps of different lengths
/// give the same forces. The anchor is accurate to second order in the step, even if slip begins, reverses or ends within
/// the step. The remaining errors are
///
/// - **Letting go.** Friction falls to `μk·fz` at the end of the step. For a station faster than a tenth of `v_settle` it
///   falls within the step, by as much as the pull has risen beyond the limit, and [`Dynamics::switching_error`] is the
///   remainder. A host with fixed steps is late by up to a step.
/// - **Reversal.** In a step in which the station reverses, the friction spring is wrong by the travel since the
///   reversal.
/// - **Missed hold.** A station that is below `v_settle` only within a step misses the static friction that would hold it
///   from there on.
/// - **Slip that ends because the limit rises**, as in the rebound of the body. This error is of second order in the
///   step, and error control does not see it: after a throw the velocity along the plane may be wrong by thousands of
///   times its accuracy. Limit the step where that matters.
///
/// [`ForceSystem::switching_error`](crate::ForceSystem::switching_error) includes the first three; it estimates the
/// second and the third as if the velocity changed at a constant rate.
///
/// The anchor needs no initial value: a station with `sliding > 0`, the default, has no anchor before the first commit.
/// With `settling`, a station with `sliding < 1` has the initial anchor. A negligible limit makes friction zero and moves
/// the anchor to the station. A limit is negligible up to 2e-14 N in `f64` and 9e-7 N in `f32`, or this fraction of `max`
/// if `max < 1` N.
///
/// A commit is refused with [`TimeNotAdvanced`](crate::Refusal::TimeNotAdvanced) if time has decreased since the last
/// one. A second commit without motion changes nothing.
///
/// With [`settling`](Parameters::settling) friction follows the [law of the source](#the-law-of-the-source) instead.
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
/// | `v_release` | [`release_velocity`](Parameters::release_velocity) | 0 | m/s | ≥ 0 |
/// | μs, μk | [`mu_static`](Parameters::mu_static), [`mu_kinetic`](Parameters::mu_kinetic) | 0.7, 0.5 | | 0 ≤ μk ≤ μs |
///
/// With the defaults the elastic force is 0.0106 N one centimetre above the plane and 1.07e-7 N two centimetres above it.
/// There is no upper bound on μs. Units other than SI work if all parameters are given in them and steps are longer than
/// a negligible time.
///
/// # The law of the source
///
/// Sliding settles step by step as the anchor slows down:
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
/// `s` is Sliding: 0 when the anchor holds, 1 when the station slides. The forces use the committed anchor `p0` and
/// Sliding `s`; a commit replaces both by the next ones. Δt is the time since the last commit. `s⁺ = 1` where Δt or the
/// limit is negligible. A commit after a motion in zero time is refused with
/// [`TimeNotAdvanced`](crate::Refusal::TimeNotAdvanced).
///
/// - **A loaded station that arrives sliding may never stick.** At `s = 1` friction is purely viscous: `n` stations that
///   share a tangential load `F` evenly creep at `v = F / (n·cxy)`, if kinetic friction can hold the load. With the
///   defaults a 10 kg block on four corners under 17 N, a quarter of what static friction could hold, creeps at 15 mm/s
///   indefinitely.
/// - Above 0.724 times the settle velocity such creep sustains itself at any step, unless rocking or stiff friction
///   springs stop it. (At 0.724, `(45 − √105)/48`, the slope of ln s over ln σ falls below one.) Below 0.6 times the
///   settle velocity, blocks of 0.5 to 100 kg on slopes of 5° to 28° all stuck. So choose `cxy` or `v_settle` such that
///   `F/(n·cxy) < 0.6·v_settle` for the largest load to be held.
/// - [`Parameters::with_critical_damping`] for the mass `m` carried by a station satisfies this if `m <
///   kxy·(1.2·v_settle/a)²`, where `a` is the load per mass: `g·sin θ` on a slope of θ. With the default `kxy` and
///   `v_settle` on 20° that is 0.256 kg per station. A larger mass requires a larger `kxy` or `cxy`. With a larger `cxy`
///   the friction springs stretch slowly, within a few times `cxy/kxy`.
/// - With Sliding between 0 and 1, each accepted step removes a further fraction of the elastic force. The transition
///   therefore depends on the step size, and so may whether a block pushed from rest at `s = 1` sticks. Within one step,
///   and only there, the elastic friction may return slightly more energy than the spring had stored.
///
/// # Energy
///
/// Stored: the integral of the elastic normal force over height, clamped where the clamp acts, and `kxy·|pxy − p0|²/2` in
/// the friction spring. The clamp is elastic: with `cz = 0` the energy of a station pressed beyond it is recovered. With
/// `cz > 0` a station rises no faster than `1/cz`. Under the law of the source a station pressed beyond the clamp rises at
/// `1/cz`, held by an unbounded slope that explicit steps do not resolve.
///
/// Lost: instantaneously `−(damping forces)·v`, and `−(elastic friction)·dp0/dt` where the anchor is dragged. The rate of
/// the second part is not known instantaneously; its integral is known afterwards, in
/// [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy). If the station reverses within the same
/// step, the loss of dragging the anchor is returned.
///
/// # Notes
///
/// - After [`reset_memory`](crate::ForceSystem::reset_memory) and then `sliding = 0`, the anchor holds from the
///   beginning. A sudden load then stretches the friction springs by up to twice their final stretch, which may exceed
///   the limit.
/// - A larger `kxy` or `cxy` requires shorter steps of an explicit integrator. [`Parameters::for_contact`] chooses all
///   parameters for a mass, a speed and a step.
/// - **A host with fixed steps `h` needs `d2·v·h ≤ 1`** where a station strikes at `v`, for any mass: 0.28 ms after a
///   fall of half a metre, with the default `d2`. The rebound height under semi-implicit Euler is then correct to 2 % of
///   the fall, if the clamp is not reached. The method is unstable above `2√2`: at 1 ms that station rebounds to several
///   times the height of its fall, without an error.
/// - The clamp also acts on a station so deep below the plane that the exponential overflows. An evaluation returns
///   [`ElementError::NonFiniteForce`] if a force or energy is not finite, or the square of a friction force overflows.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the spring reports
///
/// - `kxy` and `cxy`, where the station touches or may strike;
/// - the slope `d2·f` of the present normal force along the normal, with the damping `cz·fe`;
/// - the present force, whose lever changes as the body turns;
/// - twice the frequency of an impact, at the speed that the host states or at which a touching station approaches. At
///   the bound, an impact that does not reach the clamp changes the energy by less than 1 %.
///
/// With parameters [for a contact](Parameters::for_contact), blocks stop, hold and rest under symplectic Euler at the
/// step for which the parameters were chosen. Under error control with an accuracy of 1e-4 to 1e-8 and first steps of
/// 1 µs to 1 s, a block stops where the law says, to 0.01 mm and twenty times the accuracy in metres. Other hosts with
/// fixed steps are late by up to a step where slip begins or ends. [`check_step`](crate::ForceSystem::check_step) reports
/// steps that are too long.
///
/// # Linearization
///
/// Exact, with return mapping and with settling friction, including the commit.
///
/// | branch | margin | unit |
/// |---|---|---|
/// | `sticking`, `slipping` | the difference between the friction limit and the pull of spring and damper if the anchor held; or the distance to another switch of friction, if that is smaller: a negligible limit, the end of the fall to kinetic friction, a slack spring becoming taut, a taut spring dragging its anchor | N |
/// | `free`: the limit is negligible | of the limit from the largest negligible one | N |
/// | with return mapping `taut`, `slack` | of the speed from that at which the damper alone is at the limit, or from `v_settle` if a commit holds the anchor there; of the mean speed since the last commit from `v_release` if a commit releases the anchor there | m/s |
/// | with `cz`: `pressing`; `let go` while the station rises at `1/cz` or faster | of the speed along the normal from `1/cz` | m/s |
/// | while it presses `not clamped`; `clamped`; with return mapping `elastic part clamped` while it rises | of the force, or its elastic part, from max | N |
///
/// # Source
///
/// F. C. Anderson, M. G. Pandy, *A dynamic optimization solution for vertical jumping in three dimensions*, Computer
/// Methods in Biomechanics and Biomedical Engineering 2 (1999) 201–231. Normal damping: K. H. Hunt, F. R. E. Crossley,
/// *Coefficient of restitution interpreted as damping in vibroimpact*, Journal of Applied Mechanics 42 (1975) 440–445.
/// Blending and anchor: reference manual of Simbody's exponential spring.
///
/// # Example: one corner pressed on the floor
///
/// ```
/// use force_elements::exponential_spring::Parameters;
/// use force_elements::{ExponentialSpring, ForceSystem, Frame, Pose, Station, nalgebra::Point3};
///
/// let mut system = ForceSystem::<f64>::new();
/// let block = system.add_body();
/// let floor = Frame::ground(Pose::identity());
/// let corner = Station::on(block, Point3::new(0.1, 0.1, -0.1));
/// let spring = system.add(ExponentialSpring::new(floor, corner, Parameters::default())?)?;
///
/// let mut state = system.default_state();
/// state.set_pose(block, Pose::translation(0.0, 0.0, 0.1))?;
/// system.reset_memory(&mut state, spring)?;
///
/// let dynamics = system.realize_dynamics(&mut state)?;
/// let at = dynamics.of(spring);
/// assert!(at.position.height.abs() < 1e-15);
/// let weight = 0.5336 * (1150.0 * 0.0065905_f64).exp();
/// assert!((dynamics.body_force(block).force.z - weight).abs() < 1e-9);
/// assert_eq!(at.dynamics.friction_force_P.norm(), 0.0);
/// # Ok::<(), force_elements::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExponentialSpring<T: Real> {
    plane: Frame<T>,
    station: Station<T>,
    parameters: Parameters<T>,
}

impl<T: Real> ExponentialSpring<T> {
    /// A spring between the x-y plane of a frame and a station. The body of the plane gets the reaction.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`] if both are on the same body, or with
    /// [`ElementError::InvalidValue`] for a pose or station that is not finite, a pose whose rotation is not
    /// orthonormal, or parameters out of range.
    pub fn new(plane: Frame<T>, station: Station<T>, parameters: Parameters<T>) -> Result<Self, Error> {
        check_ends(Self::KIND, [plane.body, station.body])?;
        check::pose("plane.X_BF", &plane.X_BF)
            .and_then(|()| check::finite_vector("station.p_B", &station.p_B.coords))
            .and_then(|()| parameters.validate())
            .map_err(|error| Error::of_new(Self::KIND, error))?;
        Ok(Self { plane, station, parameters })
    }

    /// The frame whose x-y plane is the plane.
    pub fn plane(&self) -> &Frame<T> {
        &self.plane
    }

    /// The station.
    pub fn station(&self) -> &Station<T> {
        &self.station
    }

    /// The same spring in another scalar.
    pub fn cast<U: Real>(&self) -> ExponentialSpring<U> {
        ExponentialSpring {
            plane: self.plane.cast(),
            station: self.station.cast(),
            parameters: self.parameters.cast(),
        }
    }
}

impl<T: Real> ExponentialSpring<T> {
    /// Returns `X_GP`, and the station in Ground and in the plane's frame.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "with two callers it is a call and a copy of a pose in the loop"
    )]
    fn places(&self, positions: &Positions<T>) -> (Pose<T>, Point3<T>, Point3<T>) {
        let X_GP = if self.plane.body == BodyIndex::GROUND {
            self.plane.X_BF
        } else {
            positions.pose(Checked(self.plane.body)) * self.plane.X_BF
        };
        let p_GS = positions.pose(Checked(self.station.body)) * self.station.p_B;
        (X_GP, p_GS, X_GP.inverse_transform_point(&p_GS))
    }

    /// Returns what a commit does.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call takes thirty instructions more in the loop of a commit")]
    fn step(at: &AtDynamics<'_, T, Self>) -> ElementResult<Step> {
        let Discrete { last_update, last_station, .. } = at.discrete;
        let elapsed = at.time - *last_update;
        let refusal = || {
            ElementError::own(Refusal::TimeNotAdvanced {
                last_update: last_update.to_f64(),
                time: at.time.to_f64(),
            })
        };
        let is_mapped = !at.parameters.settling;
        if elapsed > T::negligible() || (is_mapped && last_station.is_none()) {
            return Ok(Step::Whole);
        }
        let Position { p_GS, p_PS, .. } = at.position;
        let Some(last_station) = last_station else { return Ok(Step::First) };
        if elapsed < -T::negligible() {
            return Err(refusal());
        }
        // Compared with the last commit, not the last call, so that motions below roundoff add up.
        let roundoff = T::negligible() * (T::one() + p_GS.coords.amax());
        let has_moved = (p_PS - last_station).amax() > roundoff;
        match (has_moved, is_mapped) {
            (false, _) => Ok(Step::Nothing),
            (true, true) => Ok(Step::Whole),
            // Sliding settles with time; without it the anchor would be released.
            (true, false) => Err(refusal()),
        }
    }

    /// Estimates the error of friction \[N\] in a step that return mapping does not resolve, for a station that
    /// decelerates uniformly from the last commit.
    ///
    /// The anchor moves straight from the last commit. If a station reversed after dragging the anchor, the friction
    /// spring is relaxed by the travel since the reversal. A station without an anchor stretches no spring before its
    /// first commit.
    fn unresolved_error(at: &AtDynamics<'_, T, Self>) -> T {
        let Discrete { last_update, last_station, last_velocity_P, sliding, .. } = at.discrete;
        let (limit, velocity) = (at.dynamics.friction_force_limit, at.velocity.v_PS.xy());
        if at.parameters.settling {
            return T::zero();
        }
        let (way, most) = if last_station.is_none() && *sliding > T::zero() {
            (velocity.norm(), limit - at.dynamics.friction_force_P.norm())
        } else if !at.dynamics.limit_reached {
            return T::zero();
        } else {
            let stretch = at.position.p_PS.xy().coords - at.dynamics.next_anchor_P;
            let Some(drawn) = stretch.try_normalize(T::zero()) else { return T::zero() };
            let [before, back] = [last_velocity_P.dot(&drawn), -velocity.dot(&drawn)];
            // A falling limit also drags the anchor of a station that moves back throughout.
            if before <= T::zero() || back <= T::zero() {
                return T::zero();
            }
            (T::lit(0.5) * back * (back / (before + back)), limit * T::lit(2.0))
        };
        (at.parameters.friction_elasticity * way * (at.time - *last_update)).min(most).max(T::zero())
    }

    /// The friction \[N\] missed in a step in which the station slides at both ends, but is slow enough in between for
    /// its anchor to hold by static friction from there on.
    fn missed_hold(at: &AtDynamics<'_, T, Self>) -> T {
        let Discrete { last_station, last_velocity_P, sliding, .. } = at.discrete;
        let Parameters { settling, settle_velocity, mu_static, mu_kinetic, .. } = *at.parameters;
        let velocity = at.velocity.v_PS.xy();
        let change = velocity - last_velocity_P;
        let has_turned = last_velocity_P.dot(&change) < T::zero() && velocity.dot(&change) > T::zero();
        let slides_on = last_station.is_some() && sliding.min(at.dynamics.next_sliding) > T::zero();
        // The least speed within the step, where the velocity changes evenly, is that across its change.
        let least = last_velocity_P.perp(&velocity).abs();
        let is_slow_within = has_turned && least <= settle_velocity * change.norm();
        if !settling && slides_on && is_slow_within && velocity.norm() > settle_velocity {
            (mu_static - mu_kinetic) * at.dynamics.normal_force
        } else {
            T::zero()
        }
    }
}

impl<T: Real> ForceElement<T> for ExponentialSpring<T> {
    const KIND: &'static str = "exponential_spring";
    type Parameters = Parameters<T>;
    type Discrete = Discrete<T>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        check_bodies([self.plane.body, self.station.body], topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.parameters
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        let (X_GP, p_GS, p_PS) = self.places(given.positions);
        cache.X_GP = X_GP;
        cache.p_GS = p_GS;
        cache.p_PS = p_PS;
        cache.height = p_PS.z;
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        let Position { X_GP, p_GS, .. } = at.position;
        let velocity_of_station_on =
            |body| at.velocities.velocity_of_point(at.positions, Checked(body), p_GS);
        let v_GS = velocity_of_station_on(self.station.body);
        let relative = if self.plane.body == BodyIndex::GROUND {
            v_GS
        } else {
            v_GS - velocity_of_station_on(self.plane.body)
        };
        *cache = Velocity { v_GS, v_PS: X_GP.rotation.inverse_transform_vector(&relative) };
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        let (p_PS, v_PS) = (&at.position.p_PS, &at.velocity.v_PS);
        let normal = normal_force(at.parameters, p_PS.z, v_PS.z);
        let elapsed = at.time - at.discrete.last_update;
        let tangential =
            at.parameters.tangential(at.discrete, [p_PS.xy().coords, v_PS.xy()], normal.total, elapsed);
        let Tangential { elastic, damping, energy, dissipation, .. } = tangential;

        // Field by field: a whole struct would be built and then copied.
        cache.normal_force_unclamped = normal.unclamped;
        cache.normal_force_elastic = normal.elastic;
        cache.normal_force_damping = normal.total - normal.elastic;
        cache.normal_force = normal.total;
        cache.mu = tangential.mu;
        cache.friction_force_limit = tangential.limit;
        cache.limit_reached = tangential.limit_reached;
        cache.friction_force_elastic_P = elastic;
        cache.friction_force_damping_P = damping;
        cache.friction_force_P = elastic + damping;
        cache.next_anchor_P = tangential.next_anchor;
        cache.next_sliding = tangential.next_sliding;
        cache.next_overspeed = tangential.next_overspeed;
        cache.switching_error = tangential.switching_error;
        cache.potential_energy = normal.energy + energy;
        cache.power_dissipated = dissipation - cache.normal_force_damping * v_PS.z;
        cache.X_GP = at.position.X_GP;
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        let f_G = at.dynamics.force_G();
        for (body, f_G) in [(self.station.body, f_G), (self.plane.body, -f_G)] {
            forces.apply_at_point(Checked(body), &at.position.p_GS, f_G);
        }
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        let Position { X_GP, p_GS, height, .. } = at.position;
        pen.frame(*height, X_GP);
        pen.point(Meaning::Station, *height, p_GS);
        if at.dynamics.friction_force_limit > T::negligible() {
            let anchor_G = at.dynamics.next_anchor_G();
            let stretch = (at.position.p_PS.xy().coords - at.dynamics.next_anchor_P).norm();
            pen.point(Meaning::Anchor, stretch, &anchor_G);
            pen.line(Meaning::Anchor, stretch, &anchor_G, p_GS);
        }
        let f_G = at.dynamics.force_G();
        pen.force(self.station.body, p_GS, &f_G);
        pen.force(self.plane.body, p_GS, &-f_G);
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        self.report_spring(at, stiffnesses);
    }

    fn report_gaps(&self, at: &AtDynamics<'_, T, Self>, report: &mut dyn FnMut([T; 2])) {
        let Parameters { d0, d2, .. } = *at.parameters;
        report([at.position.height - d0 + T::lit(TOUCH).ln() / d2, at.velocity.v_PS.z]);
    }

    fn friction_energy(&self, at: &AtDynamics<'_, T, Self>) -> [T; 2] {
        let Discrete { anchor_P, last_station, sliding, .. } = at.discrete;
        let is_anchored = last_station.is_some() || *sliding == T::zero();
        if at.parameters.settling || !is_anchored {
            return [T::zero(); 2];
        }
        let place = at.position.p_PS.xy().coords;
        let half = T::lit(0.5) * at.parameters.friction_elasticity;
        [at.dynamics.next_anchor_P, *anchor_P].map(|anchor_P| half * (place - anchor_P).norm_squared())
    }

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        let (.., p_PS) = self.places(given.positions);
        next.anchor_P = p_PS.xy().coords;
        next.sliding = T::one();
        next.last_update = given.time;
        next.last_station = Some(p_PS);
        next.last_velocity_P = Vector2::zeros();
        next.overspeed = T::zero();
        Ok(())
    }

    fn is_path_dependent(&self) -> bool {
        false
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        let (dynamics, step) = (at.dynamics, Self::step(at)?);
        if step == Step::Nothing {
            return Ok(());
        }
        next.last_update = at.time;
        next.last_station = Some(at.position.p_PS);
        if step == Step::Whole {
            next.anchor_P = dynamics.next_anchor_P;
            next.sliding = dynamics.next_sliding;
            next.last_velocity_P = at.velocity.v_PS.xy();
            next.overspeed = dynamics.next_overspeed;
        }
        Ok(())
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_in_scope(at, blocks);
    }

    fn linearize_variables(&self, _: &AtDynamics<'_, T, Self>, _: &mut Blocks<'_, T>) {}

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        // Differences return the error of the commit.
        if Self::step(at).is_err() {
            blocks.differences();
        }
    }

    fn discontinuous_update(
        &self,
        at: &AtDynamics<'_, T, Self>,
        start: &Self::Discrete,
        next: &mut Self::Discrete,
    ) -> ElementResult<T> {
        // Within a step an anchor that has let go does not hold again; otherwise the iteration would never settle.
        let lets_go = at.discrete.sliding == start.sliding && at.dynamics.switching_error > T::zero();
        let unresolved = Self::unresolved_error(at).max(Self::missed_hold(at));
        if !lets_go {
            return Ok(unresolved);
        }
        next.sliding = T::one();
        Ok(at.dynamics.switching_error.max(unresolved))
    }
}
