//! A scalar spring-damper between coordinates, with friction and limit stops.

mod law;
mod linearize;
mod variables;

use law::side_of;
pub use variables::{Discrete, Dynamics, Parameters};

pub use crate::elements::sides::{Position, Velocity};

use crate::elements::errors::check_ends;
use crate::elements::laws::Pull;
use crate::elements::sides::Sides;
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementResult, Error, ForceElement, Given, Stiffnesses,
    Variables,
};
use crate::math::Real;
use crate::mechanics::{Checked, CoordinatePair, ForceAccumulator, Topology, Velocities};

/// A spring and damper on one coordinate or between two, with Stribeck or bristle friction and soft limit stops: a joint
/// axis of a machine.
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
#[doc = include_str!("../../../docs/sketches/coordinate_spring_damper_ext.svg")]
///
/// # Law
///
/// With `q = f1·q1 − f0·q0` and `v = f1·q̇1 − f0·q̇0`:
///
/// ```text
/// f = k·(q − x_off) + d·(v − v_off) + friction + contact
/// ```
///
/// The tension `f` acts as `+f·f0` on coordinate 0 and `−f·f1` on coordinate 1, from the virtual work of `f` on `q`: a
/// gear ratio increases the force on the slower side. These are the generalized forces on the right-hand side of the
/// equations of motion, as the reference program applies them; its manual prints `Q` with the opposite sign.
///
/// ## Friction
///
/// Friction follows the Stribeck curve `F(v) = f_d + f_so·exp(−(|v| − v_reg)/v_exp) + f_v·(|v| − v_reg)`.
///
/// - **Regularised**, if the proportional zone `v_reg > 0`: `sign(v)·F(v)` outside the zone and `(f_d + f_so)·v/v_reg`
///   within it. It has no memory, and no force at rest; it suits explicit integration.
/// - **Bristles**, if `v_reg = 0`. Bristles that stick exert `k_μ·(q − x_lsp) + d_μ·v` about the last sticking position
///   `x_lsp`. Bristles that slip exert `|F(v)|` in the direction of the stored friction mode, which does not change
///   during an evaluation even if the sign of `v` does. Bristles hold at rest and suit implicit integration. They act if
///   one of `f_d`, `f_so`, `μ_d`, `μ_so` is not zero, and then require `k_μ` or `d_μ`: otherwise they would stick without
///   a force and never slip. With `d_μ` alone they creep like a damper.
///
/// ## Friction under load
///
/// If a coefficient `μ_d` or `μ_so` is above zero, `f_d + μ_d·|N|` replaces `f_d`, and `f_so + μ_so·|N|` replaces `f_so`.
/// The load `N` is a transmitted force that the host knows: the normal force of a guide, the reaction of a joint, the
/// force between teeth. The host [writes](Parameters::friction_load) it into the state before each evaluation. The write
/// changes no stored energy, and drops the state to Velocity stage.
///
/// ## Stops
///
/// The two stops have the constants `k_u`, `d_u` (upper) and `k_l`, `d_l` (lower), written `k`, `d` below. Damping may
/// make a stop pull on rebound, unless [`limit_stops_only_push`](Parameters::limit_stops_only_push) is set. Beyond the
/// stop at `s`, the contact force is
///
/// - **switched**, if the transition `w = 0`: `k·(q − s) + d·v`, while the stored limit-stop state is not zero. The
///   reference has the same constants for both stops.
/// - **smooth**, if `w > 0`: `S(p/w)·(k·(q − s) + d·v)` at the depth `p = |q − s|`, with `S(y) = 10·y³ − 15·y⁴ + 6·y⁵` up
///   to `y = 1` and `S = 1` beyond. The force has two continuous derivatives and no memory. It suits every integrator
///   whose steps resolve `w`: the motion in a step is less than `w`.
///
/// For another law on coordinates see [`OnCoordinates`](crate::laws::OnCoordinates).
///
/// # Switching
///
/// Discrete variables store whether bristles stick or slip, where they stuck, and how far a stop is surpassed.
/// [`accept_step`](crate::ForceSystem::accept_step) switches them at the end of a step. An implicit host calls
/// [`discontinuous_update`](crate::ForceSystem::discontinuous_update) between its Newton iterations until the force error
/// is small. The rules are those of [`Parameters::switch`]. Regularised friction and smooth stops do not switch.
///
/// # Energy
///
/// Stored: `k·(q − x_off)²/2`; in bristles that stick `k_μ·(q − x_lsp)²/2`; in a stop `k·p²/2`. A smooth stop stores
/// `k·w²/7` less, and within the transition `k·w²·y⁵·(2 − 5y/2 + 6y²/7)` with `y = p/w`. Slipping bristles keep the
/// energy with which they began to slip. They stick again bent approximately to their limit, with
/// `(f_d + f_so)²/(2·k_μ)`: if they stored less, because their damper exceeded the limit, the work of friction counts as
/// stored until it has made up the difference.
///
/// Lost: the damper's `d·(v − v_off)²`, friction times `v`, `d_μ·v²` in sticking bristles, and `d·v²` in a stop, times
/// `S` in a smooth one. When the load falls, the energy that slipping bristles can hold falls too; the difference is lost
/// at the next commit. The remainder of the damper's power, `−d·(v − v_off)·v_off`, is supplied by the drive that a
/// velocity offset represents. Changing `x_off` also does work, when it is set.
///
/// # Notes
///
/// - Initially the bristles stick at `q = 0`, and no stop is surpassed. Call
///   [`reset_memory`](crate::ForceSystem::reset_memory) if the motion starts elsewhere or with a velocity. Otherwise the
///   motion begins with a large force, and a stop acts only after the first step. `reset_memory` leaves the bristles
///   unbent, and slipping if `d_μ·|v|` exceeds their limit.
/// - **Bristles and stops switch at the end of a step**, so a host with fixed steps is late by up to a step.
///   [`Parameters::switch`] states the effect, and how to shorten or iterate steps.
/// - The law may create energy when bristles stick again; the dissipated energy then falls. There are two causes. After a
///   very short slip, friction may have done less work than bending the bristles requires. And bristles stick with the
///   slip force while their damper already pushes the other way, so that they are bent by `(|mode| + d_μ·|v|)/k_μ`,
///   beyond their limit. The second error vanishes with `v`: shorten the step in which slip reverses, as both integrators
///   with error control here do. With steps `h` of an implicit host `v` is of the order of `h`.
/// - If slip stops and resumes in the same direction within one step, because a load varies, the element does not detect
///   it: the velocities at both ends have the same sign. Limit the step to the time in which loads vary.
/// - Slip does not reverse within a step. From the moment when `v` opposes the mode to the end of the step, friction
///   delivers power, and its part of `power_dissipated` is negative.
/// - `k`, `d` and `f_v` may be negative, as in the reference. The element is then active: its stored energy may be
///   negative, and it may deliver power. What a damper or regularised friction delivers beyond the other losses counts as
///   supplied by a drive.
/// - Coordinates are numbers on a line: if a host wraps an angle, springs, bristles and stops see a jump by 2π.
/// - The reference has no normal force: its `f_d` stands for `μ_d·F_N`.
/// - Bristles that stick respond to a falling load at the end of the step, when they slip; until then they hold as
///   before. Without load they slip, with no force except viscous friction. Write the first loads before
///   [`reset_memory`](crate::ForceSystem::reset_memory).
/// - Parameters that switch bristles on, or move a stop past the coordinate, take effect at the present coordinate:
///   bristles begin unbent, as after [`reset_memory`](crate::ForceSystem::reset_memory), and a surpassed stop acts, as it
///   does when an element is enabled there. The memory of a new or restored state remains as it is until a motion has
///   been set.
/// - Reset the memory after a change of a factor, which bends bristles; when bristles that had only a damper receive a
///   stiffness; and after an element with bristles had been disabled.
/// - Bristles hold more than their limit by the rounding of the displacement, `2·ε·k_μ·|q|`: in `f32`, bristles of
///   1e5 N/m hold 2.4 N more at 100 m.
/// - A load is constant within a step, like any input. The order of friction under a load `N(t)` is that of the rule by
///   which the host chooses the load: with the load at the middle of the step, a host is of second order.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the element reports `k` and `d`; the
/// bristles, or regularised friction as a damper `F/v_reg` at the present load; and the stiffer stop, in contact or not.
/// Negative values count as zero.
///
/// # Linearization
///
/// Exact, by motion, parameters and memory, including the commit. Two parameters select another law at zero:
///
/// - `v_reg = 0` selects bristles, and the derivatives by `v_reg` are those of the bristle law: zero while bristles
///   stick, and those of `F(v)` while they slip. While `v` has the direction of the mode, the latter equal those of
///   regularised friction in the limit of a small zone. Otherwise, and for the memory, a zone above zero is another law,
///   and the change to it is a jump.
/// - `w = 0` selects stops that switch; the derivatives by `w` are then zero.
///
/// | branch | margin | unit |
/// |---|---|---|
/// | regularised friction `creeping`, `sliding` | of the speed from the proportional zone | m/s |
/// | bristles `sticking`; `yielding`, which a commit lets slip | of their force from their limit | N |
/// | while they yield `forwards`, `backwards` | the speed | m/s |
/// | bristles `slipping`; `turning back`, which a commit lets stick | the speed | m/s |
/// | with negative viscous friction `not turned`; `turned` beyond the speed at which friction vanishes | of the friction force from zero | N |
/// | `between the stops`, `in the upper stop`, `in the lower stop` | of the displacement from the nearest stop | m |
/// | in a stop that only pushes `pushing`; `let go` where it would pull | of its force from zero | N |
///
/// # Source
///
/// J. Gerstmayr, *Exudyn – a C++-based Python package for flexible multibody systems*, Multibody System Dynamics 60
/// (2024) 533–561, and its manual, coordinate spring-damper, extended. Where the manual contradicts the program (the
/// case that uses bristles; their constants), this element follows the program. Load, separate constants and transition
/// are additions; the step of the transition is that of OpenSim's coordinate limit force (S. L. Delp et al., *OpenSim:
/// open-source software to create and analyze dynamic simulations of movement*, IEEE Transactions on Biomedical
/// Engineering 54 (2007) 1940–1950).
///
/// # Example: a slider held by dry friction
///
/// ```
/// use force_elements::coordinate_spring_damper_ext::Parameters;
/// use force_elements::{CoordinatePair, CoordinateSpringDamperExt, ForceSystem};
///
/// let mut system = ForceSystem::<f64>::new();
/// let slider = system.add_coordinate();
/// let friction = system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), Parameters {
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoordinateSpringDamperExt<T: Real> {
    coordinates: CoordinatePair,
    parameters: Parameters<T>,
}

impl<T: Real> CoordinateSpringDamperExt<T> {
    /// An element on or between coordinates.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`](crate::ElementError::SameEnds) if both are the same, or with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for parameters out of range.
    pub fn new(coordinates: CoordinatePair, parameters: Parameters<T>) -> Result<Self, Error> {
        let element = Self { coordinates, parameters };
        check_ends(Self::KIND, element.sides(&parameters).both())?;
        parameters.validate().map_err(|error| Error::of_new(Self::KIND, error))?;
        Ok(element)
    }

    /// The coordinates of the element.
    pub fn coordinates(&self) -> CoordinatePair {
        self.coordinates
    }

    /// The same element in another scalar.
    pub fn cast<U: Real>(&self) -> CoordinateSpringDamperExt<U> {
        CoordinateSpringDamperExt { coordinates: self.coordinates, parameters: self.parameters.cast() }
    }

    #[inline]
    fn sides(&self, parameters: &Parameters<T>) -> Sides<T> {
        Sides { coordinates: self.coordinates, factors: [parameters.factor0, parameters.factor1] }
    }

    /// The memory with which a motion begins: unbent bristles, which slip if their damper exceeds what they hold, and
    /// stops that act if surpassed.
    fn begun(&self, given: &Given<'_, T, Self>, velocities: &Velocities<T>) -> Discrete<T> {
        let parameters = given.parameters;
        let sides = self.sides(parameters);
        let (q, v) = (sides.displacement(given.positions), sides.velocity(velocities));
        let limit_stop_state = parameters.limit_stop_state(q);
        let unbent = Discrete { last_sticking_position: q, limit_stop_state, ..given.discrete.stuck() };
        if parameters.has_bristles() && parameters.sticking_damping * v.abs() > parameters.holding_force() {
            parameters.switch_friction([q, v], &unbent, &unbent, T::zero).0
        } else {
            unbent
        }
    }
}

impl<T: Real> ForceElement<T> for CoordinateSpringDamperExt<T> {
    const KIND: &'static str = "coordinate_spring_damper_ext";
    type Parameters = Parameters<T>;
    type Discrete = Discrete<T>;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        self.sides(&self.parameters).check_topology(topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.parameters
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        cache.displacement = self.sides(given.parameters).displacement(given.positions);
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        cache.velocity = self.sides(at.parameters).velocity(at.velocities);
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        let parameters = at.parameters;
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        let (pull, [friction_force, contact_force]) = parameters.evaluate(q, v, at.discrete);
        let Pull { tension: force, potential_energy, mut power_dissipated, mut power_supplied } = pull;
        if power_dissipated < T::zero() {
            let driven = parameters.driven(q, v, at.discrete, power_dissipated);
            power_dissipated -= driven;
            power_supplied -= driven;
        }
        *cache = Dynamics {
            force,
            friction_force,
            contact_force,
            generalized_force0: force * parameters.factor0,
            generalized_force1: -force * parameters.factor1,
            potential_energy,
            power_dissipated,
            power_supplied,
        };
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        // The forces on the coordinates as the cache has them: not worked out a second time.
        let Dynamics { generalized_force0, generalized_force1, .. } = *at.dynamics;
        let both = self.sides(at.parameters).both();
        for (side, force) in both.into_iter().zip([generalized_force0, generalized_force1]) {
            if let Some(coordinate) = side {
                forces.apply_to_coordinate(Checked(coordinate), force);
            }
        }
    }

    fn friction_energy(&self, at: &AtDynamics<'_, T, Self>) -> [T; 2] {
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        let stored = at.parameters.friction(q, v, at.discrete).potential_energy;
        [stored, if at.parameters.has_bristles() { stored } else { at.discrete.bristle_energy }]
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        self.sides(at.parameters).report(at.parameters.resistance(), stiffnesses);
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_force(at, blocks);
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_force_by_variables(at, blocks);
    }

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_memory(at, blocks);
    }

    fn report_gaps(&self, at: &AtDynamics<'_, T, Self>, report: &mut dyn FnMut([T; 2])) {
        let Parameters { use_limit_stops, limit_stops_upper, limit_stops_lower, .. } = *at.parameters;
        if use_limit_stops {
            let (q, v) = (at.position.displacement, at.velocity.velocity);
            report([limit_stops_upper - q, -v]);
            report([q - limit_stops_lower, v]);
        }
    }

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        velocities: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        *next = self.begun(given, velocities);
        Ok(())
    }

    fn follow_parameters(
        &self,
        before: Option<&Self::Parameters>,
        given: &Given<'_, T, Self>,
        velocities: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> bool {
        let surpassed = |parameters: &Self::Parameters| {
            parameters.limit_stop_state(self.sides(parameters).displacement(given.positions))
        };
        let Some(before) = before else {
            next.limit_stop_state = surpassed(given.parameters);
            return true;
        };
        let has_bristles = given.parameters.has_bristles();
        let is_switched = has_bristles != before.has_bristles();
        if is_switched && has_bristles {
            let limit_stop_state = next.limit_stop_state;
            *next = Discrete { limit_stop_state, ..self.begun(given, velocities) };
        } else if is_switched && next.friction_mode == T::zero() {
            let q = self.sides(before).displacement(given.positions);
            next.bristle_energy = before.bent_energy(q - next.last_sticking_position);
        }
        // A stop that the motion has reached since the last commit is left to the next one.
        let [surpassed_before, surpassed] = [before, given.parameters].map(surpassed);
        let is_moved = side_of(surpassed_before) != side_of(surpassed);
        if is_moved {
            next.limit_stop_state = surpassed;
        }
        is_switched || is_moved
    }

    fn is_path_dependent(&self) -> bool {
        false
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        self.discontinuous_update(at, at.discrete, next)?;
        Ok(())
    }

    fn discontinuous_update(
        &self,
        at: &AtDynamics<'_, T, Self>,
        start: &Self::Discrete,
        next: &mut Self::Discrete,
    ) -> ElementResult<T> {
        let (q, v) = (at.position.displacement, at.velocity.velocity);
        // Of a difference of rates, each rounded a few times in a step.
        let rounding = || {
            let [rate0, rate1] =
                self.sides(at.parameters).motions(at.positions, at.velocities).map(|[_, rate]| rate.abs());
            let size = at.parameters.factor0.abs() * rate0 + at.parameters.factor1.abs() * rate1;
            T::default_epsilon() * T::lit(4.0) * size
        };
        let (discrete, force_error) = at.parameters.switched([q, v], start, at.discrete, rounding);
        *next = discrete;
        Ok(force_error)
    }
}
