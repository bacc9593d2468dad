//! Laws of force as equations over any number, from which elements follow.

/// The methods that are the same for every kind of law: derivatives, and with `between frames` also the stiffness. If a
/// law fails for numbers with derivatives, finite differences report its error.
macro_rules! derived_methods {
    (between frames) => {
        derived_methods!();

        fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
            match self.between(at) {
                Some(between) => blocks.add_between(&between),
                None => blocks.differences(),
            }
        }

        fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
            stiffnesses.unknown();
            if let Some(between) = self.between(at) {
                crate::elements::laws::between_frames::report(&between, stiffnesses);
            }
        }
    };
    () => {
        fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
            if self.try_linearize_variables(at, blocks).is_none() {
                blocks.differences();
            }
        }

        fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
            if self.try_linearize_commit(at, blocks).is_none() {
                blocks.differences();
            }
        }
    };
}

mod along_line;
mod between_frames;
mod on_bed;
mod on_coordinates;

use core::fmt::Debug;

use nalgebra::Vector3;

pub use along_line::{AlongLine, Pull, Stretch};
pub use between_frames::{BetweenFrames, Dynamics, Outcome, Position, Relative, Velocity};
pub use on_bed::{OnBed, Push, Springs, Touch};
pub use on_coordinates::OnCoordinates;

use crate::framework::variables::{Numbers, Over};
use crate::framework::{Blocks, ElementResult, Variables};
use crate::math::{Dual, Number, Real, dot, varied};

/// A motion for which laws return a force: [`Relative`], [`Stretch`] or [`Touch`]. Its first number is time.
pub trait LawMotion<T: Real>: Numbers<T> {
    /// The force, with energy and powers.
    type Force<S: Number<Scalar = T>>;
}

/// A law of force: equations over any number, of the force for a motion.
///
/// | motion | force | elements |
/// |---|---|---|
/// | [`Relative`], of frame M in frame F | [`Outcome`]: a torque and a force on M | [`BetweenFrames`] |
/// | [`Stretch`], of a distance or displacement | [`Pull`]: a tension | [`OnCoordinates`]; [`BetweenFrames`], [along a line](AlongLine) |
/// | [`Touch`], of the base of a spring in a surface | [`Push`]: a force on the base | [`OnBed`] |
///
/// Everything else follows from the equations: forces and reactions on both bodies, the energy ledger, named variables
/// and results, saving and restoring, and exact derivatives, by motion, time, parameters, memory and the poses of frames,
/// including the commit.
///
/// A law is evaluated both with the scalar `T` and with numbers that carry derivatives. Both are a [`Number`], whose
/// comparisons use only values: the derivatives are those of the branch that the law takes.
///
/// # Requirements
///
/// - The law depends only on its arguments, and on data in `self` that never changes.
/// - The force does work at the rate `−d(potential_energy)/dt − power_dissipated + power_supplied`, except for losses
///   where memory changes: in a commit, and where a spring of a bed leaves its contact. The energy ledger finds these
///   losses. [`testing::power_balance`](crate::testing) checks this, if the feature `testing` is enabled.
///
/// # Example: an air spring
///
/// A bellows of effective area `A` between two plates, F on the lower and M on the upper, at the height `h` along
/// `z_F`. The enclosed gas is compressed polytropically: `p = p₀ (h₀/h)ⁿ`; ambient pressure acts from outside. A
/// linkage carries the torques.
///
/// ```
/// use force_elements::laws::{BetweenFrames, Law, Outcome, Relative};
/// use force_elements::nalgebra::Vector3;
/// use force_elements::*;
///
/// variables! {
///     /// Parameters of an air spring.
///     #[derive(Copy, Lift)]
///     pub struct Bellows<T> {
///         /// Effective area.
///         pub area: T ["m²"] = 0.02, positive => Dynamics;
///         /// Height at which the pressure is that of filling.
///         pub height: T ["m"] = 0.15, positive => Dynamics;
///         /// Absolute pressure at that height.
///         pub pressure: T ["Pa"] = 5e5, positive => Dynamics;
///         /// Polytropic exponent.
///         pub exponent: T = 1.3, positive => Dynamics;
///         /// Damping of the throttle.
///         pub damping: T ["N·s/m"] = 800.0, nonnegative => Dynamics;
///     }
/// }
///
/// #[derive(Debug, Clone)]
/// struct AirSpring;
///
/// impl<T: Real> Law<T, Relative<T>> for AirSpring {
///     const KIND: &'static str = "air_spring";
///     type Parameters = Bellows<T>;
///     type Memory = ();
///
///     fn evaluate<S: Number<Scalar = T>>(&self, p: &Bellows<S>, _: &(), at: &Relative<S>) -> ElementResult<Outcome<S>> {
///         let (h, v) = (at.p_FM.z, at.v_FM.z);
///         let over = p.exponent - S::lit(1.0);
///         let pressure = p.pressure * (p.height / h).powd(p.exponent);
///         // Work on the gas since filling, less that of the ambient pressure.
///         let stored = (pressure * h - p.pressure * p.height) / over + S::lit(101_325.0) * (h - p.height);
///         let force = p.area * (pressure - S::lit(101_325.0)) - p.damping * v;
///         Ok(Outcome {
///             force: Vector3::new(S::zero(), S::zero(), force),
///             potential_energy: p.area * stored,
///             power_dissipated: p.damping * v * v,
///             ..Outcome::zero()
///         })
///     }
/// }
///
/// let mut system = ForceSystem::<f64>::new();
/// let plate = system.add_body();
/// let spring = BetweenFrames::new(AirSpring, Frame::ground(Pose::identity()), Frame::of(plate), Bellows::default())?;
/// let spring = system.add(spring)?;
///
/// let mut state = system.default_state();
/// state.set_pose(plate, Pose::translation(0.0, 0.0, 0.15))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// assert!((dynamics.body_force(plate).force.z - 0.02 * (5e5 - 101_325.0)).abs() < 1e-9);
/// assert_eq!(dynamics.result("air_spring[0].potential_energy")?, 0.0);
///
/// // Stiffness n p₀ A / h₀, from the equations.
/// let mut linearization = Linearization::new();
/// system.linearize(&state, &mut linearization)?;
/// let [by_position, _] = linearization.to_dense();
/// assert!((by_position[(5, 5)] + 1.3 * 5e5 * 0.02 / 0.15).abs() < 1e-6);
/// assert!(linearization.element(spring).is_exact());
///
/// // The same in single precision.
/// let mut casts = Casts::<f64, f32>::new();
/// casts.add(|spring: &BetweenFrames<f64, AirSpring>, _| Ok(spring.cast::<f32>()));
/// let single = system.cast_with(&casts)?;
/// let mut state = single.cast_state(&state)?;
/// assert!((single.realize_dynamics(&mut state)?.body_force(plate).force.z - 7973.5).abs() < 0.01);
/// # Ok::<(), Error>(())
/// ```
pub trait Law<T: Real, At: LawMotion<T>>: Debug + Send + Sync + 'static {
    /// The kind's name in lower snake case: the prefix of named variables. A system cannot have one law both on
    /// coordinates and between bodies, since both elements would have this kind.
    const KIND: &'static str;

    /// The parameters, declared by [`variables!`](crate::variables!) with [`#[derive(Copy, Lift)]`](Numbers); or `()`.
    /// All springs of a bed share them.
    type Parameters: Variables<T> + Numbers<T, Over<T> = Self::Parameters> + Default;
    /// The memory between accepted steps, of each spring of a bed, declared in the same way; or `()`.
    type Memory: Variables<T> + Numbers<T, Over<T> = Self::Memory> + Default;

    /// Returns the force, with energy and powers.
    ///
    /// # Errors
    /// Those of the law, for example where it has no solution; see [`ElementError::own`](crate::ElementError::own).
    fn evaluate<S: Number<Scalar = T>>(
        &self,
        parameters: &Over<T, Self::Parameters, S>,
        memory: &Over<T, Self::Memory, S>,
        at: &Over<T, At, S>,
    ) -> ElementResult<At::Force<S>>;

    /// Returns the memory after an accepted step, by default the memory before it. A spring of a bed that is not
    /// displaced loses its memory.
    ///
    /// # Errors
    /// Those of the law.
    fn commit<S: Number<Scalar = T>>(
        &self,
        _parameters: &Over<T, Self::Parameters, S>,
        memory: &Over<T, Self::Memory, S>,
        _at: &Over<T, At, S>,
    ) -> ElementResult<Over<T, Self::Memory, S>> {
        Ok(memory.clone())
    }

    /// Returns the memory with which a motion begins at this position: for an anchor, the place under its point. By
    /// default this is the default of the memory type.
    ///
    /// Between frames and on coordinates, [`reset_memory`](crate::ForceSystem::reset_memory) calls it, with velocities of
    /// zero. On a bed every evaluation and commit calls it for a spring without memory, with the velocities of the
    /// spring.
    ///
    /// # Errors
    /// Those of the law.
    fn begin<S: Number<Scalar = T>>(
        &self,
        _parameters: &Over<T, Self::Parameters, S>,
        _at: &Over<T, At, S>,
    ) -> ElementResult<Over<T, Self::Memory, S>> {
        Ok(Self::Memory::default().lift(&mut S::of))
    }
}

/// The length of a vector; at zero it has no derivatives.
#[inline]
fn length<S: Number>(v: &Vector3<S>) -> S {
    let squared = dot(v, v);
    if squared > S::zero() { squared.sqrt() } else { squared }
}

/// The number of variables that vary at once.
const AT_ONCE: usize = 8;

/// Splits a list of this length into parts whose members vary at once; returns the first member and the length of each
/// part.
fn chunks(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length).step_by(AT_ONCE).map(move |first| (first, AT_ONCE.min(length - first)))
}

/// A motion over other numbers, of which only time, the first, may vary.
#[inline]
fn varying_in_time<T: Real, At: LawMotion<T>, S: Number<Scalar = T>>(
    at: &At,
    vary: impl FnOnce(T) -> S,
) -> Over<T, At, S> {
    let mut vary = Some(vary);
    at.lift(&mut |number| vary.take().map_or_else(|| S::of(number), |vary| vary(number)))
}

/// Evaluates `of` over numbers that vary with time, parameters and memory, several of them at once, and calls `add` with
/// each value, and with the place and the direction of each variable that varies in it. The place of the first parameter
/// is `of_law`. Returns `None` if an evaluation fails.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call returns kilobytes of dual numbers, which are copied")]
fn for_variables<T: Real, At: LawMotion<T>, L: Law<T, At>, R>(
    law: &L,
    (at, parameters, memory): (&At, &L::Parameters, &L::Memory),
    of_law: usize,
    of: impl Fn(
        &L,
        &Over<T, L::Parameters, Dual<T, AT_ONCE>>,
        &Over<T, L::Memory, Dual<T, AT_ONCE>>,
        &Over<T, At, Dual<T, AT_ONCE>>,
    ) -> ElementResult<R>,
    mut add: impl FnMut(&R, usize, usize),
) -> Option<()> {
    for (first, count) in chunks(1 + L::Parameters::COUNT + L::Memory::COUNT) {
        let mut next = varied(first);
        let at = varying_in_time(at, &mut next);
        let parameters = parameters.lift(&mut next);
        let memory = memory.lift(&mut next);
        let value = of(law, &parameters, &memory, &at).ok()?;
        for direction in 0..count {
            let number = first + direction;
            let place = if number == 0 { Blocks::<T>::TIME } else { of_law + number - 1 };
            add(&value, place, direction);
        }
    }
    Some(())
}
