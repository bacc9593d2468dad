//! The law of the exponential spring: normal force, friction, and settling.

use nalgebra::Vector2;

use crate::elements::exponential_spring::Parameters;
use crate::scalar::Real;

/// The normal force and what belongs to it.
pub(super) struct Normal<T> {
    pub(super) unclamped: T,
    pub(super) elastic: T,
    pub(super) total: T,
    pub(super) energy: T,
}

/// The normal force at a height and a velocity along the normal.
pub(super) fn normal_force<T: Real>(parameters: &Parameters<T>, height: T, speed: T) -> Normal<T> {
    let Parameters { d0, d1, d2, normal_viscosity, max_normal_force: max, .. } = *parameters;
    let exponent = d2 * (d0 - height);
    let unclamped = d1 * exponent.exp();
    let factor = T::one() - normal_viscosity * speed;
    // Deep enough the exponential overflows: infinity times a positive factor is clamped like any other.
    let total = if factor > T::zero() { (unclamped * factor).min(max) } else { T::zero() };
    if unclamped <= max {
        Normal { unclamped, elastic: unclamped, total, energy: unclamped / d2 }
    } else {
        // Below the height at which the clamp sets in, the stored energy grows linearly.
        let beyond = (exponent - (max / d1).ln()) / d2;
        Normal { unclamped, elastic: max, total, energy: max / d2 + max * beyond }
    }
}

/// The friction force in its two parts.
pub(super) struct Friction<T: Real> {
    pub(super) elastic: Vector2<T>,
    pub(super) damping: Vector2<T>,
    pub(super) limit_reached: bool,
}

impl<T: Real> Friction<T> {
    /// No friction, because the limit is negligible.
    pub(super) fn none() -> Self {
        Self { elastic: Vector2::zeros(), damping: Vector2::zeros(), limit_reached: true }
    }

    /// The damped spring and the damper, blended by Sliding.
    pub(super) fn blended(
        parameters: &Parameters<T>,
        stretch: Vector2<T>,
        velocity: Vector2<T>,
        limit: T,
        sliding: T,
    ) -> Self {
        let viscous = velocity * -parameters.friction_viscosity;
        let (sliding_damping, sliding_cut) = shortened(viscous, limit);

        let elastic = stretch * -parameters.friction_elasticity;
        let anchored_squared = (elastic + viscous).norm_squared();
        let anchored_cut = anchored_squared > limit * limit;
        let scale = if anchored_cut { limit / anchored_squared.sqrt() } else { T::one() };

        let held = (T::one() - sliding) * scale;
        Self {
            elastic: elastic * held,
            damping: viscous * held + sliding_damping * sliding,
            limit_reached: sliding_cut || anchored_cut,
        }
    }

    /// The damper, and as much of the spring as the limit leaves room for.
    pub(super) fn return_mapped(
        parameters: &Parameters<T>,
        stretch: Vector2<T>,
        velocity: Vector2<T>,
        limit: T,
    ) -> Self {
        let (damping, damping_cut) = shortened(velocity * -parameters.friction_viscosity, limit);
        let trial = stretch * -parameters.friction_elasticity;
        if (trial + damping).norm_squared() <= limit * limit {
            return Self { elastic: trial, damping, limit_reached: damping_cut };
        }
        // The largest share λ with |λ·trial + damping| = limit: a·λ² + 2·b·λ + c = 0, c ≤ 0.
        let a = trial.norm_squared();
        let b = trial.dot(&damping);
        let c = (damping.norm_squared() - limit * limit).min(T::zero());
        let discriminant = b * b - a * c;
        let share = if discriminant > T::zero() {
            let root = discriminant.sqrt();
            // Of the two forms of the greater root, the one without cancellation.
            if b > T::zero() { -c / (b + root) } else { (root - b) / a }
        } else {
            T::zero()
        };
        Self { elastic: trial * share.min(T::one()), damping, limit_reached: true }
    }
}

/// A force no longer than the limit, and whether it had to be shortened.
fn shortened<T: Real>(force: Vector2<T>, limit: T) -> (Vector2<T>, bool) {
    let squared = force.norm_squared();
    if squared > limit * limit { (force * (limit / squared.sqrt()), true) } else { (force, false) }
}

/// Sliding after the anchor has travelled this far, squared, in a time in which it may travel
/// `reach` at the settle velocity.
#[inline]
pub(super) fn settle<T: Real>(travel_squared: T, reach: T) -> T {
    // The two cases that last, and that need neither a root nor a quotient. At rest, moreover, the
    // root has no derivative.
    if travel_squared >= reach * reach {
        T::one()
    } else if travel_squared == T::zero() {
        T::zero()
    } else {
        let s = travel_squared.sqrt() / reach;
        s * s * s * (T::lit(10.0) + s * (T::lit(6.0) * s - T::lit(15.0)))
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
        for height in [0.02, 0.0, -0.003, -0.0045, -0.01, -0.05, -2.0] {
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
        let at_ratio = |ratio: f64| settle(4.0 * ratio * ratio, 2.0);
        assert_eq!([0.0, 0.5, 1.0, 7.0].map(at_ratio), [0.0, 0.5, 1.0, 1.0]);
        // The first derivative vanishes at both ends: what is left is of third order, 10·(1e-3)³.
        assert!(at_ratio(1e-3) < 1.01e-8 && 1.0 - at_ratio(1.0 - 1e-3) < 1.01e-8);
    }
}
