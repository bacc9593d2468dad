//! Friction of a spring and a damper behind a slider that yields at a limit.

use nalgebra::Vector2;

use crate::elements::exponential_spring::Parameters;
use crate::elements::exponential_spring::friction::{exceeds, length};
use crate::math::Real;

/// The slider at its last commit, and the time since.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slider<T: Real> {
    pub(super) anchor: Vector2<T>,
    pub(super) slip_velocity: Vector2<T>,
    pub(super) elapsed: T,
}

/// Friction, and the slider after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Yielding<T: Real> {
    pub(super) force: Vector2<T>,
    pub(super) elastic: Vector2<T>,
    pub(super) damping: Vector2<T>,
    /// The stretch of the spring.
    pub(super) stretch: Vector2<T>,
    pub(super) anchor: Vector2<T>,
    pub(super) slip_velocity: Vector2<T>,
    pub(super) slip_speed: T,
    /// How far the anchor is from where the force would be at the limit without slip, and in which direction.
    pub(super) excess: T,
    pub(super) direction: Vector2<T>,
}

impl<T: Real> Yielding<T> {
    /// Zero friction, for a negligible limit: the slider goes with the station.
    pub(super) fn none(position: Vector2<T>, velocity: Vector2<T>) -> Self {
        let zero = Vector2::zeros();
        Self {
            force: zero,
            elastic: zero,
            damping: zero,
            stretch: zero,
            anchor: position,
            slip_velocity: velocity,
            slip_speed: length(velocity),
            excess: T::zero(),
            direction: zero,
        }
    }
}

/// Weights of the slip of a step, for the rate of relaxation `k/c` and its length `t`, `z = k·t/c`.
///
/// A slip advances the anchor by `Λ`, in proportion to the excess `ρ` of the stretched spring over the limit,
/// `dΛ/dt = (k/c)·ρ`. Without slip the excess would grow from `ρ0` to `trial`; if it does so evenly, then
/// `Λ = B·trial + A·ρ0` and `ρ1 = (1 − B)·trial − A·ρ0`, with an exponential that is replaced by `1/(1 + z + z²/2)`:
/// correct to second order, and without overshoot for a step of any length. All quotients are of numbers
/// up to one, so that `c = 0` is no exception: there `Λ = trial`.
struct Weights<T> {
    /// `c/m` and `k·t/(2m)`, with `m` the greater of `c` and `k·t`.
    viscous: T,
    half: T,
    /// The inverse of `(c² + c·k·t + (k·t)²/2)/m²`.
    scale: T,
    /// `k/m`; zero if `m` is.
    rate: T,
}

impl<T: Real> Weights<T> {
    fn new(parameters: &Parameters<T>, elapsed: T) -> Self {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *parameters;
        let drawn = k * elapsed;
        let m = c.max(drawn);
        let (viscous, share, rate) =
            if m > T::zero() { (c / m, drawn / m, k / m) } else { (T::zero(), T::one(), T::zero()) };
        let half = share * T::lit(0.5);
        let scale = T::one() / (viscous * (viscous + share) + share * half);
        Self { viscous, half, scale, rate }
    }

    /// `Λ`.
    fn slip(&self, trial: T, start: T) -> T {
        self.half * self.scale * ((self.viscous + self.half + self.half) * trial + self.viscous * start)
    }

    /// `ρ1·m/c`, from which excess and speed follow without a quotient by `c`.
    fn residue(&self, trial: T, start: T) -> T {
        // Of a slip that goes on it is above zero, but for rounding.
        (self.scale * ((self.viscous + self.half) * trial - self.half * start)).max(T::zero())
    }
}

impl<T: Real> Slider<T> {
    /// By how much spring and damper pull at the slider, where it was, beyond a limit.
    #[inline]
    pub(super) fn pull_beyond(
        &self,
        parameters: &Parameters<T>,
        position: Vector2<T>,
        velocity: Vector2<T>,
        limit: T,
    ) -> T {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *parameters;
        let pull = (position - self.anchor) * k + velocity * c;
        if exceeds(pull, limit) { (length(pull) - limit).max(T::zero()) } else { T::zero() }
    }

    /// The friction force of a station at `position` with `velocity`, under a limit.
    ///
    /// The spring and the damper together pull at the slider with `k·G`, `G = p + (c/k)·v − p0`. Within the
    /// limit the slider holds. Beyond it the force is at the limit, and the slider slips towards the station at the
    /// velocity at which the damper takes up the excess.
    pub(super) fn friction(
        &self,
        parameters: &Parameters<T>,
        position: Vector2<T>,
        velocity: Vector2<T>,
        limit: T,
    ) -> Yielding<T> {
        let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = *parameters;
        let radius = limit / k;
        let delay = c / k;
        let lead = velocity * delay;
        let target = position + lead;
        // Often zero, which needs no root.
        let speed =
            if self.slip_velocity == Vector2::zeros() { T::zero() } else { length(self.slip_velocity) };

        let mut anchor = self.anchor;
        if speed == T::zero() && !exceeds(target - anchor, radius) {
            return Self::held(parameters, position, velocity, anchor);
        }
        let weights = Weights::new(parameters, self.elapsed);
        let slipping = |direction: Vector2<T>, residue: T| {
            let excess = weights.viscous * residue;
            let stretch = direction * (radius + excess) - lead;
            let slip_speed =
                if c > T::zero() { weights.rate * residue } else { direction.dot(&velocity).max(T::zero()) };
            let force = direction * -limit;
            Yielding {
                force,
                elastic: stretch * -k,
                damping: direction * (excess * k) - velocity * c,
                stretch,
                anchor: position - stretch,
                slip_velocity: direction * slip_speed,
                slip_speed,
                excess,
                direction,
            }
        };
        if speed > T::zero() {
            let before = self.slip_velocity / speed;
            let start = speed * delay;
            // The trial excess at which a slip that slows down evenly just ends.
            let reach = speed * self.elapsed * T::lit(0.5);
            let least = if c > T::zero() {
                reach * weights.viscous / (weights.viscous + weights.half)
            } else {
                reach
            };
            let span = start.max(least);
            let slip = |trial: T| {
                if trial > least {
                    weights.slip(trial, start)
                } else if least > T::zero() {
                    least * (span / (span + (least - trial)))
                } else {
                    T::zero()
                }
            };
            // Half of the slip in the direction before, half in that after: of second order as slip turns.
            let along = target - anchor;
            let distance = length(along);
            let cosine =
                if distance > T::zero() { (along.dot(&before) / distance).max(T::zero()) } else { T::zero() };
            let half = slip(distance - radius) * cosine * T::lit(0.5);
            let rest = along - before * half;
            let remaining = length(rest);
            let trial = remaining + half - radius;
            if trial > least && remaining > T::zero() {
                return slipping(rest / remaining, weights.residue(trial, start));
            }
            let last_slip = slip(trial);
            anchor += before * half.min(last_slip);
            if remaining > T::zero() && last_slip > half {
                anchor += rest * ((last_slip - half) / remaining);
            }
            if !exceeds(target - anchor, radius) {
                return Self::held(parameters, position, velocity, anchor);
            }
        }
        let pull = target - anchor;
        let distance = length(pull);
        slipping(pull / distance, weights.residue(distance - radius, T::zero()))
    }

    fn held(
        parameters: &Parameters<T>,
        position: Vector2<T>,
        velocity: Vector2<T>,
        anchor: Vector2<T>,
    ) -> Yielding<T> {
        let stretch = position - anchor;
        let elastic = stretch * -parameters.friction_elasticity;
        let damping = velocity * -parameters.friction_viscosity;
        Yielding {
            force: elastic + damping,
            elastic,
            damping,
            stretch,
            anchor,
            slip_velocity: Vector2::zeros(),
            slip_speed: T::zero(),
            excess: T::zero(),
            direction: Vector2::zeros(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use num_dual::Dual64;

    /// A station that turns, comes to rest and turns back, under a load that varies.
    fn motion(t: f64) -> (Vector2<f64>, Vector2<f64>, f64) {
        let position = Vector2::new(0.01 * (20.0 * t).sin(), 0.008 * (13.0 * t).cos());
        let velocity = Vector2::new(0.2 * (20.0 * t).cos(), -0.104 * (13.0 * t).sin());
        (position, velocity, 10.0 + 3.0 * (9.0 * t).sin())
    }

    const SECONDS: f64 = 0.6;

    /// Anchors at so many even times by commits there.
    fn committed(parameters: &Parameters<f64>, steps: u32) -> Vec<Vector2<f64>> {
        let mut slider = Slider { anchor: motion(0.0).0, slip_velocity: Vector2::zeros(), elapsed: 0.0 };
        let mut anchors = Vec::new();
        for step in 0..=steps {
            let (position, velocity, limit) = motion(SECONDS * f64::from(step) / f64::from(steps));
            let after = slider.friction(parameters, position, velocity, limit);
            slider = Slider {
                anchor: after.anchor,
                slip_velocity: after.slip_velocity,
                elapsed: SECONDS / f64::from(steps),
            };
            anchors.push(after.anchor);
        }
        anchors
    }

    /// The same from the law: the anchor slips at the velocity at which the damper takes up what exceeds the limit;
    /// without a damper it stays within reach.
    fn integrated(parameters: &Parameters<f64>, samples: u32) -> Vec<Vector2<f64>> {
        let (k, c) = (parameters.friction_elasticity, parameters.friction_viscosity);
        let parts = 400_000 / samples;
        let h = SECONDS / f64::from(samples * parts);
        let mut anchor = motion(0.0).0;
        let mut anchors = Vec::new();
        for i in 1..=samples * parts {
            let (position, velocity, limit) = motion(h * f64::from(i));
            let pull = (position - anchor) * k + velocity * c;
            let beyond = (pull.norm() - limit).max(0.0);
            anchor += pull.normalize() * if c > 0.0 { beyond * h / c } else { beyond / k };
            if i % parts == 0 {
                anchors.push(anchor);
            }
        }
        anchors
    }

    #[test]
    fn the_anchor_follows_its_law_to_second_order_in_the_step() {
        for viscosity in [0.0, 0.2, 5.0, 282.8, 2000.0] {
            let parameters = Parameters { friction_viscosity: viscosity, ..Parameters::default() };
            let expected = integrated(&parameters, 100);
            let error = |parts: u32| {
                let anchors = committed(&parameters, 100 * parts);
                let off = anchors.iter().skip(parts as usize).step_by(parts as usize).zip(&expected);
                off.map(|(anchor, expected)| (anchor - expected).norm()).fold(0.0, f64::max)
            };
            let errors = [1, 2, 4, 8].map(error);
            // An eighth of the step leaves an eighth of an error of first order, and 1/64 of one of second order, give
            // or take where in a step a slip ends.
            assert!(errors[3] < errors[0] / 40.0, "{viscosity}: {errors:?}");
            // Of springs drawn out by 0.35 mm to 0.65 mm.
            assert!(errors[3] < 1e-6, "{viscosity}: {errors:?}");
        }
    }

    #[test]
    fn an_anchor_that_holds_does_not_move_by_a_bit() {
        let parameters = Parameters::<f64>::default();
        let mut slider =
            Slider { anchor: Vector2::new(0.3, -0.7), slip_velocity: Vector2::zeros(), elapsed: 1e-3 };
        for i in 0..1000 {
            let offset = Vector2::new(f64::from(i).sin(), f64::from(3 * i).cos()) * 2e-4;
            let after = slider.friction(&parameters, slider.anchor + offset, offset * 10.0, 10.0);
            assert_eq!((after.anchor, after.slip_velocity), (slider.anchor, Vector2::zeros()));
            slider.anchor = after.anchor;
        }
    }

    #[test]
    fn no_energy_comes_of_a_slip() {
        for i in 0..20_000 {
            let w = |k: i32| (f64::from(8 * i + k) * 1.618_034).sin();
            let parameters =
                Parameters { friction_viscosity: 10.0_f64.powf(4.0 * w(7)), ..Parameters::default() };
            let slider = Slider {
                anchor: Vector2::zeros(),
                slip_velocity: if i % 2 == 0 { Vector2::zeros() } else { Vector2::new(w(0), w(1)) },
                elapsed: 10.0_f64.powf(-3.0 + 2.0 * w(2)),
            };
            let (position, velocity) = (Vector2::new(w(3), w(4)) * 2e-3, Vector2::new(w(5), w(6)) * 0.2);
            let limit = 10.0;
            let after = slider.friction(&parameters, position, velocity, limit);
            let lost = -after.damping.dot(&velocity) - after.elastic.dot(&after.slip_velocity);
            let size =
                after.damping.norm() * velocity.norm() + after.elastic.norm() * after.slip_velocity.norm();
            assert!(lost >= -1e-13 * size, "{slider:?}: {lost} W of {size} W");
            assert!(after.force.norm() <= limit * (1.0 + 1e-14));
            // The parts are those of a spring and a damper that end at the slider.
            let k = parameters.friction_elasticity;
            assert!(
                (after.elastic + (position - after.anchor) * k).norm() < 1e-12 * (1.0 + after.elastic.norm())
            );
            let relative = (velocity - after.slip_velocity) * -parameters.friction_viscosity;
            assert!((after.damping - relative).norm() < 1e-12 * (1.0 + after.damping.norm()));
            assert!(
                (after.force - after.elastic - after.damping).norm() < 1e-12 * (1.0 + after.damping.norm())
            );
        }
    }

    #[test]
    fn friction_reaches_its_limit_at_any_speed_a_number_can_hold() {
        fn at<T: Real>(exponents: core::ops::RangeInclusive<i32>, roundoff: f64) {
            let parameters = Parameters::<T>::default();
            for exponent in exponents {
                let velocity = Vector2::new(T::lit(0.6), T::lit(-0.8)) * T::lit(10.0_f64.powi(exponent));
                let zeros = Vector2::zeros();
                let slider = Slider { anchor: zeros, slip_velocity: zeros, elapsed: T::zero() };
                let force = slider.friction(&parameters, zeros, velocity, T::lit(50.0)).force;
                let off = (force - Vector2::new(T::lit(-30.0), T::lit(40.0))).amax().to_f64() / 50.0;
                assert!(off < 10.0 * roundoff, "1e{exponent} m/s: {force}");
            }
        }
        at::<f64>(0..=305, f64::EPSILON);
        at::<f32>(0..=35, f64::from(f32::EPSILON));
        at::<Dual64>(0..=305, f64::EPSILON);
    }

    #[test]
    fn friction_is_the_same_law_in_all_units_of_length() {
        let forces = |unit: f64| {
            let si = Parameters::<f64>::default();
            let parameters = Parameters {
                friction_elasticity: si.friction_elasticity / unit,
                friction_viscosity: si.friction_viscosity / unit,
                ..si
            };
            let mut slider =
                Slider { anchor: Vector2::zeros(), slip_velocity: Vector2::zeros(), elapsed: 5e-3 };
            (0..100).map(move |step| {
                let (position, velocity, limit) = motion(5e-3 * f64::from(step));
                let after = slider.friction(&parameters, position * unit, velocity * unit, limit);
                (slider.anchor, slider.slip_velocity) = (after.anchor, after.slip_velocity);
                after.force
            })
        };
        for exponent in [-200, -150, -20, 20, 150, 200] {
            for (force, expected) in forces(10.0_f64.powi(exponent)).zip(forces(1.0)) {
                // A hundred steps of some ten roundings, of an anchor next to a centimetre, in a spring drawn out by half a
                // millimetre.
                assert!((force - expected).norm() < 1e-10, "1e{exponent}: {force}, {expected}");
            }
        }
    }
}
