//! The law of a tension along the line between two points, with its motion and force.

use nalgebra::Vector3;

use super::{Law, LawMotion, Outcome, Relative, length};
use crate::framework::ElementResult;
use crate::framework::variables::Over;
use crate::math::{Number, Real, dot};
use crate::results;

// A number that laws take, lifted like variables but not stored.
crate::variables! { @struct [PartialEq]
    /// The distance of two points, or the displacement of coordinates, and its rate of change.
    #[derive(Copy, Lift)]
    pub struct Stretch<T> {
        /// Time \[s\].
        pub time: T;
        /// The distance or displacement \[m\].
        pub length: T;
        /// Its rate of change \[m/s\].
        pub rate: T;
    }
}

impl<T: Real> LawMotion<T> for Stretch<T> {
    type Force<S: Number<Scalar = T>> = Pull<S>;
}

results! {
    /// A tension, with energy and powers.
    #[derive(Copy, Lift)]
    pub struct Pull<T> {
        /// The tension; if positive it shortens the distance or reduces the displacement.
        pub tension: T ["N"];
        /// The energy stored.
        pub potential_energy: T ["J"];
        /// The power dissipated, as far as it is known instantaneously.
        pub power_dissipated: T ["W"];
        /// The power that a drive within the law supplies.
        pub power_supplied: T ["W"];
    }
}

impl<S: Number> Pull<S> {
    /// Neither tension nor energy.
    pub fn zero() -> Self {
        let none = S::zero();
        Self { tension: none, potential_energy: none, power_dissipated: none, power_supplied: none }
    }
}

/// A law between two frames that applies a law of a tension along the line from the origin of F to that of M.
///
/// If the two points coincide, the line has no direction, and there is no force. `length`, `rate` and `tension` are among
/// the [results](super::BetweenFrames) of the element.
///
/// # Example: a bump stop
///
/// A rubber stop on a strut. It pushes once the strut is shorter than a given length, with increasing stiffness.
///
/// ```
/// use force_elements::laws::{AlongLine, BetweenFrames, Law, Pull, Stretch};
/// use force_elements::*;
///
/// variables! {
///     /// Parameters of a bump stop.
///     #[derive(Copy, Lift)]
///     pub struct Rubber<T> {
///         /// Length of the strut at which the stop is touched.
///         pub length: T ["m"] = 0.3, positive => Dynamics;
///         /// Stiffness at first touch.
///         pub stiffness: T ["N/m"] = 2e4, nonnegative => Dynamics;
///         /// Growth of the stiffness.
///         pub growth: T ["N/m³"] = 6e7, nonnegative => Dynamics;
///     }
/// }
///
/// #[derive(Debug)]
/// struct BumpStop;
///
/// impl<T: Real> Law<T, Stretch<T>> for BumpStop {
///     const KIND: &'static str = "bump_stop";
///     type Parameters = Rubber<T>;
///     type Memory = ();
///
///     fn evaluate<S: Number<Scalar = T>>(&self, p: &Rubber<S>, _: &(), at: &Stretch<S>) -> ElementResult<Pull<S>> {
///         let depth = (p.length - at.length).max(S::zero());
///         let square = depth * depth;
///         let (k, g) = (p.stiffness, p.growth);
///         Ok(Pull {
///             tension: -depth * (k + g * square),
///             potential_energy: square * (k * S::lit(0.5) + g * S::lit(0.25) * square),
///             ..Pull::zero()
///         })
///     }
/// }
///
/// let mut system = ForceSystem::<f64>::new();
/// let wheel = system.add_body();
/// let top = Frame::ground(Pose::translation(0.0, 0.0, 0.5));
/// system.add(BetweenFrames::new(AlongLine(BumpStop), top, Frame::of(wheel), Rubber::default())?)?;
///
/// let mut state = system.default_state();
/// state.set_pose(wheel, Pose::translation(0.0, 0.0, 0.21))?;
/// let dynamics = system.realize_dynamics(&mut state)?;
/// assert!((dynamics.body_force(wheel).force.z + 0.01 * (2e4 + 6e7 * 1e-4)).abs() < 1e-9);
/// assert!((dynamics.result("bump_stop[0].tension")? + 0.01 * (2e4 + 6e7 * 1e-4)).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlongLine<L>(
    /// The law.
    pub L,
);

/// The line from the origin of F to that of M: its direction and stretch.
fn line<S: Number>(at: &Relative<S>) -> (Vector3<S>, Stretch<S>) {
    let length = length(&at.p_FM);
    let direction = if length > S::zero() {
        at.p_FM.map(|component| component / length)
    } else {
        Vector3::repeat(S::zero())
    };
    (direction, Stretch { time: at.time, length, rate: dot(&direction, &at.v_FM) })
}

impl<T: Real, L: Law<T, Stretch<T>>> Law<T, Relative<T>> for AlongLine<L> {
    const KIND: &'static str = L::KIND;
    type Parameters = L::Parameters;
    type Memory = L::Memory;

    fn evaluate<S: Number<Scalar = T>>(
        &self,
        parameters: &Over<T, Self::Parameters, S>,
        memory: &Over<T, Self::Memory, S>,
        at: &Relative<S>,
    ) -> ElementResult<Outcome<S>> {
        let (direction, stretch) = line(at);
        let Pull { tension, potential_energy, power_dissipated, power_supplied } =
            self.0.evaluate(parameters, memory, &stretch)?;
        let force = direction.map(|component| -tension * component);
        Ok(Outcome { force, potential_energy, power_dissipated, power_supplied, ..Outcome::zero() })
    }

    fn commit<S: Number<Scalar = T>>(
        &self,
        parameters: &Over<T, Self::Parameters, S>,
        memory: &Over<T, Self::Memory, S>,
        at: &Relative<S>,
    ) -> ElementResult<Over<T, Self::Memory, S>> {
        self.0.commit(parameters, memory, &line(at).1)
    }

    fn begin<S: Number<Scalar = T>>(
        &self,
        parameters: &Over<T, Self::Parameters, S>,
        at: &Relative<S>,
    ) -> ElementResult<Over<T, Self::Memory, S>> {
        self.0.begin(parameters, &line(at).1)
    }
}
