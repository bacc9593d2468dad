//! The element of a law on coordinates.

use super::{AT_ONCE, Law, Pull, Stretch, for_variables};
use crate::elements::errors::check_ends;
use crate::elements::sides::{Position, Sides, Velocity};
use crate::framework::variables::{Numbers, Over, Variables as _};
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementResult, Error, ForceElement, Given, Row, Stiffnesses,
};
use crate::math::{Dual, Number, Real, check, varied};
use crate::mechanics::{CoordinatePair, ForceAccumulator, Topology, Velocities};

/// The element of a law of a tension on a coordinate or between two: a joint's stop, an elastic gear, a motor.
///
/// With `q = f1·q1 − f0·q0` and its rate as the [`Stretch`] of the law, the tension `f` acts as `+f·f0` on coordinate 0
/// and `−f·f1` on coordinate 1. The factors are 1 unless [given](Self::with_factors). For a rotation read N as N·m and m
/// as rad.
///
/// The parameters in a state are those of the law.
///
/// # Stable step
///
/// For the [longest stable step](crate::ForceSystem::stable_step) of a host, the element reports the stiffness and
/// damping at the present motion, and that the law may be stiffer elsewhere.
///
/// # Linearization
///
/// Exact, from the equations of the law; at a kink, the derivatives of the branch taken. The branches of a law are not
/// reported.
///
/// # Errors
///
/// The errors of the law are returned as [`Error::Element`](crate::Error::Element) at Dynamics stage.
///
/// # Example: a motor
///
/// A drive whose torque falls with its speed, behind a gear.
///
/// ```
/// use force_elements::laws::{Law, OnCoordinates, Pull, Stretch};
/// use force_elements::*;
///
/// variables! {
///     /// Parameters of a motor.
///     #[derive(Copy, Lift)]
///     pub struct Winding<T> {
///         /// Torque at rest.
///         pub stall_torque: T ["N·m"] = 2.0, finite => Dynamics;
///         /// Speed without load.
///         pub free_speed: T ["rad/s"] = 300.0, positive => Dynamics;
///     }
/// }
///
/// #[derive(Debug)]
/// struct Motor;
///
/// impl<T: Real> Law<T, Stretch<T>> for Motor {
///     const KIND: &'static str = "motor";
///     type Parameters = Winding<T>;
///     type Memory = ();
///
///     fn evaluate<S: Number<Scalar = T>>(&self, p: &Winding<S>, _: &(), at: &Stretch<S>) -> ElementResult<Pull<S>> {
///         let lost = p.stall_torque * at.rate / p.free_speed;
///         Ok(Pull {
///             tension: lost - p.stall_torque,
///             power_dissipated: lost * at.rate,
///             power_supplied: p.stall_torque * at.rate,
///             ..Pull::zero()
///         })
///     }
/// }
///
/// let mut system = ForceSystem::<f64>::new();
/// let wheel = system.add_coordinate();
/// let motor = OnCoordinates::new(Motor, CoordinatePair::on(wheel), Winding::default())?.with_factors([1.0, 20.0])?;
/// let motor = system.add(motor)?;
///
/// let mut state = system.default_state();
/// state.set_coordinate_rate(wheel, 3.0)?;
/// let torque = system.realize_dynamics(&mut state)?.coordinate_force(wheel);
/// assert!((torque - 20.0 * 2.0 * (1.0 - 60.0 / 300.0)).abs() < 1e-12);
///
/// let mut linearization = Linearization::new();
/// system.linearize(&state, &mut linearization)?;
/// assert!(linearization.element(motor).is_exact());
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OnCoordinates<T: Real, L: Law<T, Stretch<T>>> {
    law: L,
    sides: Sides<T>,
    parameters: L::Parameters,
}

impl<T: Real, L: Law<T, Stretch<T>>> OnCoordinates<T, L> {
    /// A law on or between coordinates.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::SameEnds`](crate::ElementError::SameEnds) if both coordinates are the same, or with
    /// [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for a parameter out of range.
    pub fn new(law: L, coordinates: CoordinatePair, parameters: L::Parameters) -> Result<Self, Error> {
        let sides = Sides { coordinates, factors: [T::one(); 2] };
        check_ends(L::KIND, sides.both())?;
        parameters.validate().map_err(|error| Error::of_new(L::KIND, error))?;
        Ok(Self { law, sides, parameters })
    }

    /// The same with the factors `f0` and `f1`.
    ///
    /// # Errors
    /// [`Error::Element`] with [`ElementError::InvalidValue`](crate::ElementError::InvalidValue) for a factor that is not finite.
    pub fn with_factors(mut self, factors: [T; 2]) -> Result<Self, Error> {
        let checked = factors.iter().try_for_each(|factor| check::finite("factor", *factor));
        checked.map_err(|error| Error::of_new(L::KIND, error))?;
        self.sides.factors = factors;
        Ok(self)
    }

    /// The same element in another scalar, for [`Casts::add`](crate::Casts::add).
    pub fn cast<U: Real>(&self) -> OnCoordinates<U, L>
    where
        L: Law<U, Stretch<U>, Parameters = Over<T, <L as Law<T, Stretch<T>>>::Parameters, U>> + Clone,
    {
        let Sides { coordinates, factors } = self.sides;
        let sides = Sides { coordinates, factors: factors.map(T::cast) };
        let parameters = self.parameters.lift(&mut Real::cast::<U>);
        OnCoordinates { law: self.law.clone(), sides, parameters }
    }
}

/// The directions of the motion: displacement and velocity.
const MOTION: usize = 2;

impl<T: Real, L: Law<T, Stretch<T>>> OnCoordinates<T, L> {
    /// The displacement and velocity.
    fn stretch(at: &AtVelocity<'_, T, Self>) -> Stretch<T> {
        Stretch { time: at.time, length: at.position.displacement, rate: at.velocity.velocity }
    }

    /// The displacement and velocity over numbers that vary with them. The law has succeeded for the same values; if it
    /// fails for these numbers, finite differences report the error.
    fn moving(at: &AtDynamics<'_, T, Self>) -> Stretch<Dual<T, MOTION>> {
        // All but time.
        Self::stretch(at).lift(&mut varied(1))
    }

    /// The derivatives of the tension by displacement and velocity.
    fn slopes(&self, at: &AtDynamics<'_, T, Self>) -> Option<[T; 2]> {
        let (p, m) = (at.parameters.lift(&mut Dual::of), at.discrete.lift(&mut Dual::of));
        Some(self.law.evaluate(&p, &m, &Self::moving(at)).ok()?.tension.slopes)
    }

    fn try_linearize_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) -> Option<()> {
        let still = Self::stretch(at);
        let given = (&still, at.parameters, at.discrete);
        for_variables(&self.law, given, Blocks::<T>::TIME + 1, L::evaluate, |pull, place, direction| {
            self.sides.add_by_variable(blocks, place, pull.tension.slopes[direction]);
        })
    }

    fn try_linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) -> Option<()> {
        let (p, m) = (at.parameters.lift(&mut Dual::of), at.discrete.lift(&mut Dual::of));
        L::Memory::for_each_over(
            &self.law.commit(&p, &m, &Self::moving(at)).ok()?,
            |row, next: Dual<T, MOTION>| {
                self.sides.add_to(blocks, Row::Next(row), next.slopes);
            },
        );
        let still = Self::stretch(at);
        let given = (&still, at.parameters, at.discrete);
        for_variables(&self.law, given, Blocks::<T>::TIME + 1, L::commit, |next, place, direction| {
            L::Memory::for_each_over(next, |row, next: Dual<T, AT_ONCE>| {
                blocks.add_to_by_variables(Row::Next(row), place, &[next.slopes[direction]]);
            });
        })
    }
}

impl<T: Real, L: Law<T, Stretch<T>>> ForceElement<T> for OnCoordinates<T, L> {
    const KIND: &'static str = L::KIND;
    type Parameters = L::Parameters;
    type Discrete = L::Memory;
    type Continuous = ();
    type Position = Position<T>;
    type Velocity = Velocity<T>;
    type Dynamics = Pull<T>;

    derived_methods!();

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        self.sides.check_topology(topology)
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.parameters.clone()
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        cache.displacement = self.sides.displacement(given.positions);
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        cache.velocity = self.sides.velocity(at.velocities);
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        *cache = self.law.evaluate(at.parameters, at.discrete, &Self::stretch(at))?;
        Ok(())
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        self.sides.apply(at.dynamics.tension, forces);
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        stiffnesses.unknown();
        if let Some(slopes) = self.slopes(at) {
            self.sides.report(slopes.map(|slope| slope.to_f64().abs()), stiffnesses);
        }
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        match self.slopes(at) {
            Some(slopes) => self.sides.add(blocks, slopes),
            None => blocks.differences(),
        }
    }

    fn reset_memory(
        &self,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        let length = self.sides.displacement(given.positions);
        *next = self.law.begin(given.parameters, &Stretch { time: given.time, length, rate: T::zero() })?;
        Ok(())
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        *next = self.law.commit(at.parameters, at.discrete, &Self::stretch(at))?;
        Ok(())
    }
}
