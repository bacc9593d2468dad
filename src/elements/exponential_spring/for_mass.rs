//! Parameters of the exponential spring for a mass and a step.

use crate::elements::exponential_spring::Parameters;
use crate::framework::Variables;
use crate::math::{InvalidValue, Real, check};

/// Gravity by which a resting height is chosen \[m/s²\].
const GRAVITY: f64 = 9.81;

/// `d2·v·h` of an impact. Its frequency is `d2·v/√2`, whatever the mass: symplectic Euler then gains less than 1e-5 of the
/// energy.
const IMPACT: f64 = 1.0;

/// `d2·g·h²` at most, the square of the phase by which a resting body bounces in a step. At the corner of a cube, whose mass
/// counts there as a 5.5th, 0.28.
const RESTING: f64 = 0.05;

/// The phase by which a body on its friction springs swings in a step. With critical damping the sum that must be
/// below 4, `ω²h² + 2γh`, is 1.8 at the corner of a cube, which leaves room for 0.5 + 1 of an impact.
const HELD: f64 = 0.08;

/// The release velocity of points that share a load \[m/s\].
const RELEASE: f64 = 2e-4;

impl<T: Real> Parameters<T> {
    /// Parameters for a body of this mass \[kg\] that rests on this number of points, each of which strikes at this speed
    /// \[m/s\] at most, under a host that takes steps of this length \[s\] by symplectic Euler.
    ///
    /// Promised, for bodies whose points have a lever `r` about the mass center and a least moment of inertia `I` with
    /// `m·r²/I ≤ 4.5`, such as boxes that are no longer than they are wide and high:
    ///
    /// - At rest, under an even load at 9.81 m/s², the points are at height zero. A load `n` times as large sinks
    ///   them by `ln(n)/d2`.
    /// - In the flight after an impact the energy is at most 1 % above that before.
    /// - Friction springs are stable, and drawn out by at most `μs·g·(12.5·step)²` under that load: 0.11 mm at 0.7 and a step of
    ///   0.3 ms.
    ///
    /// - Several points that are loaded slowly, such that those that slip first do so at less than 0.2 mm/s, together hold up to
    ///   `μs` times the load.
    ///
    /// Of a body that falls at a speed `v`, the points that land last strike faster, those of a cube at up to `2.3·v`. Longer
    /// steps make softer contacts: `d2` is `1/(speed·step)`, or `0.05/(g·step²)` if that is less.
    ///
    /// # Errors
    /// [`InvalidValue`] unless all are greater than zero and finite, and the parameters in range.
    ///
    /// # Example: a box of 2 kg on four corners, in steps of half a millisecond
    ///
    /// ```
    /// use force_elements::exponential_spring::Parameters;
    ///
    /// let parameters = Parameters::for_mass(2.0_f64, 4, 3.0, 0.5e-3)?;
    /// assert!((parameters.d2 - 1.0 / (3.0 * 0.5e-3)).abs() < 1e-9);
    /// assert!(parameters.resting_height(2.0 * 9.81 / 4.0)?.abs() < 1e-15);
    /// # Ok::<(), force_elements::InvalidValue>(())
    /// ```
    pub fn for_mass(mass: T, points: u32, speed: T, step: T) -> Result<Self, InvalidValue> {
        check::positive("mass", mass)?;
        check::positive("points", T::lit(f64::from(points)))?;
        check::positive("speed", speed)?;
        check::positive("step", step)?;
        let share = mass / T::lit(f64::from(points));
        let gravity = T::lit(GRAVITY);
        let d2 = (T::lit(IMPACT) / (speed * step)).min(T::lit(RESTING) / (gravity * step * step));
        // One point may have to stop all of the mass, with a force of d2·m·v²/2: four times that, and the weight.
        let max_normal_force = mass * (d2 * speed * speed * T::lit(2.0) + gravity * T::lit(10.0));
        let phase = T::lit(HELD) / step;
        let chosen = Self {
            d0: T::zero(),
            d1: share * gravity,
            d2,
            // Damping as strong as the spring at most: at higher speeds it would hit harder than it.
            normal_viscosity: T::lit(0.5).min(speed.recip()),
            max_normal_force,
            release_velocity: if points > 1 { T::lit(RELEASE) } else { T::zero() },
            ..Self::default()
        }
        .with_critical_damping(share * phase * phase, share);
        chosen.validate()?;
        Ok(chosen)
    }
}
