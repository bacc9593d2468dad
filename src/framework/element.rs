//! The contract of a force element.

use core::fmt::Debug;
use core::ops::Deref;

use crate::framework::{Blocks, Cache, ElementResult, Pen, Stiffnesses, Variables};
use crate::math::Real;
use crate::mechanics::{ForceAccumulator, Positions, Topology, Velocities};

/// A mechanical force element.
///
/// An element holds what never changes: the bodies or coordinates on which it acts, and its geometry. Everything else is
/// in the [`State`](crate::State): parameters, discrete variables and one cache per stage. The `calc_` and `add_` methods
/// are called in stage order. Each receives what is known at its stage and must depend on nothing else, so that an
/// evaluation is a pure function of the state. A method that an element does not define does nothing: caches keep their
/// defaults, and energy and powers are the results declared under their names, or else zero.
///
/// # Conventions
///
/// - Forces are those acting **on the bodies**, at body origins, expressed in Ground.
/// - Forces and moments about one point sum to zero over all bodies, Ground included.
/// - `potential_energy ≥ 0` and `power_dissipated ≥ 0`, unless the element's page says otherwise.
/// - Power balance: the rate of work done on the bodies is `−d(potential_energy)/dt − power_dissipated +
///   power_supplied`. With memory (a dragged anchor, a bristle that slips) part of the loss appears only over a finite
///   motion; see [`power_dissipated`](Self::power_dissipated).
///
/// # Example: a user's own element
///
/// A constant force that pulls the origins of two bodies together, without parameters and memory.
///
/// ```
/// use force_elements::nalgebra::Vector3;
/// use force_elements::*;
///
/// #[derive(Debug)]
/// struct Pull {
///     from: BodyIndex,
///     to: BodyIndex,
///     force: f64,
/// }
///
/// impl ForceElement<f64> for Pull {
///     const KIND: &'static str = "pull";
///     element_types! { Position = Vector3<f64>; }
///
///     fn check_topology(&self, topology: &Topology) -> ElementResult {
///         topology.check_body(self.from)?;
///         Ok(topology.check_body(self.to)?)
///     }
///     fn calc_position(
///         &self,
///         given: &Given<'_, f64, Self>,
///         p_FT_G: &mut Vector3<f64>,
///     ) -> ElementResult {
///         let [p_GF, p_GT] = [self.from, self.to].map(|b| given.positions.pose(b).translation.vector);
///         *p_FT_G = p_GT - p_GF;
///         Ok(())
///     }
///     fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
///         let pull_G = at.position.normalize() * self.force;
///         forces.apply_to_body(self.from, SpatialForce::new(Vector3::zeros(), pull_G));
///         forces.apply_to_body(self.to, SpatialForce::new(Vector3::zeros(), -pull_G));
///     }
///     fn potential_energy(&self, at: &AtDynamics<'_, f64, Self>) -> f64 {
///         at.position.norm() * self.force
///     }
/// }
///
/// let mut system = ForceSystem::new();
/// let body = system.add_body();
/// let pull = system.add(Pull { from: BodyIndex::GROUND, to: body, force: 3.0 })?;
///
/// let mut state = system.default_state();
/// state.set_pose(body, Pose::translation(0.0, 2.0, 0.0))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// assert_eq!(dynamics.body_force(body).force.y, -3.0);
/// assert_eq!(dynamics.of(pull).position.y, 2.0);
/// assert_eq!(dynamics.result("pull[0].position.y")?, 2.0);
/// # Ok::<(), Error>(())
/// ```
///
/// [`CustomForce`](crate::CustomForce) makes an element from a closure.
pub trait ForceElement<T: Real>: Debug + Send + Sync + Sized + 'static {
    /// The kind's name in lower snake case: the prefix of named variables. Unique in a system.
    const KIND: &'static str;

    /// Parameters such as a stiffness: defaults from the element, which a state may change.
    type Parameters: Variables<T> + Default;
    /// Memory between accepted steps. A commit drops the state to just below the earliest stage that one of its fields
    /// declares. A field that is not read before [`calc_dynamics`](Self::calc_dynamics) should declare `Dynamics`, which
    /// saves evaluations.
    type Discrete: Variables<T> + Default;
    /// States with a derivative, which the host integrates with the motion: a muscle's activation, a drive's current.
    /// Their values are always finite. They must contain neither flags, which have no rate, nor an `Option`, whose
    /// numbers have no place while it is `None`.
    type Continuous: Variables<T> + Default;
    /// Results that depend on time, poses and coordinates.
    type Position: Cache<T>;
    /// Results that depend on velocities too.
    type Velocity: Cache<T>;
    /// Forces and results derived from them.
    type Dynamics: Cache<T>;

    /// Checks that every body and coordinate of the element exists, and that the element can act.
    ///
    /// # Errors
    /// [`ElementError::Kinematics`](crate::ElementError::Kinematics) if a body or coordinate does not exist, or an error documented by the
    /// element.
    fn check_topology(&self, topology: &Topology) -> ElementResult;

    /// The parameters with which a new state starts.
    fn default_parameters(&self) -> Self::Parameters {
        Self::Parameters::default()
    }

    /// The discrete variables with which a new state starts.
    fn default_discrete(&self) -> Self::Discrete {
        Self::Discrete::default()
    }

    /// The continuous variables with which a new state starts.
    fn default_continuous(&self) -> Self::Continuous {
        Self::Continuous::default()
    }

    /// Fills the Position cache.
    ///
    /// # Errors
    /// Those documented by the element, such as [`Singular`](crate::Refusal::Singular).
    fn calc_position(&self, _given: &Given<'_, T, Self>, _cache: &mut Self::Position) -> ElementResult {
        Ok(())
    }

    /// Fills the Velocity cache.
    ///
    /// # Errors
    /// Those documented by the element.
    fn calc_velocity(&self, _at: &AtPosition<'_, T, Self>, _cache: &mut Self::Velocity) -> ElementResult {
        Ok(())
    }

    /// Fills the Dynamics cache.
    ///
    /// # Errors
    /// Those documented by the element.
    fn calc_dynamics(&self, _at: &AtVelocity<'_, T, Self>, _cache: &mut Self::Dynamics) -> ElementResult {
        Ok(())
    }

    /// Adds the forces on bodies and coordinates.
    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>);

    /// The energy stored \[J\]: by default the [result](crate::results!) of this name, or zero if none is declared.
    #[inline]
    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.declared(0)
    }

    /// The part of the stored energy that friction stores \[J\], and its value if friction held at the committed anchors,
    /// without a limit. By default zero.
    ///
    /// A write of variables enters the energy that the caller supplies or receives in the ledger. If it lowers a friction
    /// limit below the present force, the first value falls but the second does not: the difference is dissipated.
    fn friction_energy(&self, _at: &AtDynamics<'_, T, Self>) -> [T; 2] {
        [T::zero(); 2]
    }

    /// The power dissipated \[W\], as far as it is known instantaneously: by default the result of this name, or zero.
    ///
    /// The energy dissipated over a motion is `absorbed energy − potential energy`; see
    /// [`DynamicsView::dissipated_energy`](crate::DynamicsView::dissipated_energy).
    #[inline]
    fn power_dissipated(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.declared(1)
    }

    /// The power supplied by a drive inside the element \[W\], zero for a passive element: by default the result of this
    /// name, or zero.
    #[inline]
    fn power_supplied(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.declared(2)
    }

    /// Writes the rates of change of the continuous variables, each in its unit per second. `rates` starts as zero.
    ///
    /// # Errors
    /// Those documented by the element.
    fn calc_rates(&self, _at: &AtDynamics<'_, T, Self>, _rates: &mut Self::Continuous) -> ElementResult {
        Ok(())
    }

    /// Writes the discrete variables after an accepted step into `next`, which starts as a copy of the present
    /// ones.
    ///
    /// The system validates `next`, and commits it only if all elements of the system succeed.
    ///
    /// # Errors
    /// Those documented by the element.
    fn accept_step(&self, _at: &AtDynamics<'_, T, Self>, _next: &mut Self::Discrete) -> ElementResult {
        Ok(())
    }

    /// Whether the memory after a step depends on how often it was committed within the step, beyond what
    /// [`discontinuous_update`](Self::discontinuous_update) reports, as for an anchor that was dragged back and forth.
    /// Integrators with error control then also commit it early and halfway in a trial, and shorten the step if that
    /// changes the rates at its end by more than the accuracy. An anchor that is dragged only between these times is not
    /// detected. By default `true`; without discrete variables it has no effect.
    fn is_path_dependent(&self) -> bool {
        true
    }

    /// Writes the memory with which a motion begins here into `next`, which starts as a copy of the present discrete
    /// variables: anchors under their stations; bristles unbent, slipping if their force at these velocities exceeds
    /// their limit.
    ///
    /// By default writes [`default_discrete`](Self::default_discrete). An episode that starts anew must not depend on the
    /// previous one. The element has not been evaluated, since its present memory may prevent that.
    ///
    /// # Errors
    /// Those documented by the element.
    fn reset_memory(
        &self,
        _given: &Given<'_, T, Self>,
        _velocities: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        *next = self.default_discrete();
        Ok(())
    }

    /// Writes the memory that suits changed parameters into `next`, which starts as a copy of the present discrete
    /// variables: for example the memory of bristles that have been switched on, or of a stop that has been moved.
    /// `before` has the parameters before the change, or is `None` if the caller has enabled the element. Returns whether
    /// it has written anything; by default the memory stays.
    ///
    /// It is not called if the caller writes discrete variables together with parameters, nor in a new or restored state
    /// before a motion has been set.
    fn follow_parameters(
        &self,
        _before: Option<&Self::Parameters>,
        _given: &Given<'_, T, Self>,
        _velocities: &Velocities<T>,
        _next: &mut Self::Discrete,
    ) -> bool {
        false
    }

    /// Draws the element and its forces, for [`DynamicsView::draw`](crate::DynamicsView::draw). By default draws
    /// nothing.
    fn draw(&self, _at: &AtDynamics<'_, T, Self>, _pen: &mut Pen<'_>) {}

    /// Reports springs that are at least as stiff and as damped as the element, for the host's choice of a [stable
    /// step](crate::ForceSystem::stable_step). By default reports the element as unknown.
    fn report_stiffness(&self, _at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        stiffnesses.unknown();
    }

    /// Returns the time \[s\] in which bodies could pass through each other unnoticed, for steps that [see every
    /// contact](crate::ForceSystem::passing_time). For two surfaces apart it is `(gap + depth)/speed`, with a bound on
    /// the speed at which they approach, and a depth at which they still push each other back the way they came. By
    /// default it is infinite, as for surfaces in contact, whose forces are known.
    ///
    /// If the time is longer than `within`, any value longer than `within` may be returned.
    fn passing_time(&self, _at: &AtDynamics<'_, T, Self>, _within: f64) -> f64 {
        f64::INFINITY
    }

    /// Reports the distance and its rate of change for each [gap](crate::Gap) that may close and open again between two
    /// evaluations, in an order that does not depend on the motion. By default reports none.
    ///
    /// If the element exerts a force that depends only on the gap, the distance is not greater than zero. Otherwise it
    /// may be less than the true distance.
    fn report_gaps(&self, _at: &AtDynamics<'_, T, Self>, _report: &mut dyn FnMut([T; 2])) {}

    /// Writes the derivatives of the forces by the positions and velocities of bodies and coordinates, and states the
    /// branches of the law. By default requests finite differences.
    ///
    /// Finite differences suit laws that are smooth over a tenth of a metre or radian: their steps are 6e-7 in `f64` and
    /// 5e-4 in `f32`, longer far from zero ([details](crate::guide::linearization#an-elements-own-derivatives)). A law
    /// with a much smaller length scale, such as a contact that yields by micrometres, must write its derivatives.
    ///
    /// At a kink the derivatives are those of the branch taken. Derivatives that are not finite, or that involve
    /// variables that the element does not have, are errors of
    /// [`ForceSystem::linearize`](crate::ForceSystem::linearize).
    fn linearize(&self, _at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        blocks.differences();
    }

    /// Writes the derivatives of the forces by time, parameters, discrete and continuous variables, and those of the
    /// rates of the continuous variables by all of these and by the motion. By default requests finite differences, which
    /// move a variable whose range excludes zero by 6e-6 of its value in `f64`, and by 5e-3 in `f32`.
    ///
    /// The entries of a rotation `R` count as independent numbers. Only sums of the derivatives over `[θ]× R`, the change
    /// of the entries by a rotation `θ`, are meaningful.
    fn linearize_variables(&self, _at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        blocks.differences();
    }

    /// Writes the derivatives of the discrete variables after [`accept_step`](Self::accept_step) by motion, time,
    /// parameters, discrete and continuous variables. By default requests finite differences, which return the errors
    /// of `accept_step`.
    ///
    /// Derivatives that are not written are zero. This includes the identity: for a variable that `accept_step` leaves
    /// unchanged, write 1 for [`Row::Next`](crate::Row::Next) by the variable itself
    /// ([`add_to_by_variables`](Blocks::add_to_by_variables)). Otherwise the derivatives are those of a commit that
    /// overwrites the variable with a constant.
    fn linearize_commit(&self, _at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        blocks.differences();
    }

    /// Called between the Newton iterations of one step of an implicit host: writes into `next` the discrete variables
    /// that match the present iterate, given those at the start of the step. Returns the resulting change of the force
    /// \[N\]; zero if nothing switched. An element that cannot resolve what happened within the step returns an estimate
    /// of its force error, and leaves `next` unchanged.
    ///
    /// `next` starts as a copy of the present discrete variables and is validated, as in
    /// [`accept_step`](Self::accept_step).
    ///
    /// # Errors
    /// Those documented by the element.
    fn discontinuous_update(
        &self,
        _at: &AtDynamics<'_, T, Self>,
        _start: &Self::Discrete,
        _next: &mut Self::Discrete,
    ) -> ElementResult<T> {
        Ok(T::zero())
    }
}

/// Names the associated types of a [`ForceElement`](crate::ForceElement) within its `impl`; omitted ones are `()`.
///
/// The types are in the order of the trait: `Parameters`, `Discrete`, `Continuous`, `Position`, `Velocity`, `Dynamics`.
///
/// ```text
/// element_types! { Parameters = Parameters<T>; Position = Vector3<T>; }
/// ```
#[macro_export]
macro_rules! element_types {
    (@ $type:ty) => { $type };
    (@) => { () };
    (
        $(Parameters = $parameters:ty;)? $(Discrete = $discrete:ty;)? $(Continuous = $continuous:ty;)?
        $(Position = $position:ty;)? $(Velocity = $velocity:ty;)? $(Dynamics = $dynamics:ty;)?
    ) => {
        type Parameters = $crate::element_types!(@ $($parameters)?);
        type Discrete = $crate::element_types!(@ $($discrete)?);
        type Continuous = $crate::element_types!(@ $($continuous)?);
        type Position = $crate::element_types!(@ $($position)?);
        type Velocity = $crate::element_types!(@ $($velocity)?);
        type Dynamics = $crate::element_types!(@ $($dynamics)?);
    };
}

/// Inputs for an element's Position cache.
#[derive(Debug)]
pub struct Given<'a, T: Real, E: ForceElement<T>> {
    /// The element's parameters in this state.
    pub parameters: &'a E::Parameters,
    /// The element's discrete variables in this state.
    pub discrete: &'a E::Discrete,
    /// The element's continuous variables in this state.
    pub continuous: &'a E::Continuous,
    /// Time \[s\].
    pub time: T,
    /// Poses and coordinates.
    pub positions: &'a Positions<T>,
}

/// One element at Position stage, with the velocities for the next one. Derefs to [`Given`].
#[derive(Debug)]
pub struct AtPosition<'a, T: Real, E: ForceElement<T>> {
    pub(crate) given: Given<'a, T, E>,
    /// Velocities and coordinate rates.
    pub velocities: &'a Velocities<T>,
    /// The element's results at Position stage.
    pub position: &'a E::Position,
}

/// One element at Velocity stage. Derefs to [`AtPosition`].
#[derive(Debug)]
pub struct AtVelocity<'a, T: Real, E: ForceElement<T>> {
    pub(crate) at_position: AtPosition<'a, T, E>,
    /// The element's results at Velocity stage.
    pub velocity: &'a E::Velocity,
}

/// One element at Dynamics stage. Derefs to [`AtVelocity`].
#[derive(Debug)]
pub struct AtDynamics<'a, T: Real, E: ForceElement<T>> {
    pub(crate) at_velocity: AtVelocity<'a, T, E>,
    /// The element's results at Dynamics stage.
    pub dynamics: &'a E::Dynamics,
}

impl<T: Real, E: ForceElement<T>> AtDynamics<'_, T, E> {
    /// The energy or power at a place in [`Cache::energies`], of the stage that declares it.
    #[inline]
    fn declared(&self, i: usize) -> T {
        let by_stage =
            [self.position.energies()[i], self.velocity.energies()[i], self.dynamics.energies()[i]];
        by_stage.into_iter().flatten().next().unwrap_or_else(T::zero)
    }
}

impl<'a, T: Real, E: ForceElement<T>> Deref for AtPosition<'a, T, E> {
    type Target = Given<'a, T, E>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.given
    }
}

impl<'a, T: Real, E: ForceElement<T>> Deref for AtVelocity<'a, T, E> {
    type Target = AtPosition<'a, T, E>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.at_position
    }
}

impl<'a, T: Real, E: ForceElement<T>> Deref for AtDynamics<'a, T, E> {
    type Target = AtVelocity<'a, T, E>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.at_velocity
    }
}
