//! Friction with anchors: a tangential spring from an anchor that is dragged along at the limit of friction.

use nalgebra::Vector3;

use crate::math::{Number, Real};

/// Stiffness and viscosity of one spring along the surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grip<S> {
    /// \[N/m\]
    pub(super) stiffness: S,
    /// \[N·s/m\]
    pub(super) viscosity: S,
}

/// Forces on the mesh, and the stretch with which the spring exerts its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold<T: Real> {
    pub(super) elastic: Vector3<T>,
    pub(super) damping: Vector3<T>,
    /// Whether the spring has yielded.
    pub(super) slips: bool,
}

/// The forces by their factors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors<S> {
    /// Of the stretch \[N/m\].
    pub(super) elastic: S,
    /// Of the velocity \[N·s/m\].
    pub(super) damping: S,
    /// Whether the spring has yielded.
    pub(super) slips: bool,
}

/// The squares of stretch and velocity, and their product between them.
pub(super) type Squares<S> = [S; 3];

impl<T: Real> Grip<T> {
    /// The forces for a stretch and a velocity.
    #[inline]
    pub(super) fn hold(&self, stretch: Vector3<T>, velocity: Vector3<T>, limit: T) -> Hold<T> {
        let squares = [stretch.norm_squared(), stretch.dot(&velocity), velocity.norm_squared()];
        let Factors { elastic, damping, slips } = self.factors(squares, limit);
        Hold { elastic: stretch * elastic, damping: velocity * damping, slips }
    }
}

impl<S> Grip<S> {
    /// The spring with as much of its force, and then the damper with as much of its own, as the limit allows.
    ///
    /// That the spring comes first makes the anchor independent of the velocity: it trails a slipping spring at the
    /// full limit, and friction is the limit at any speed.
    #[inline]
    pub(super) fn factors<T: Real>(&self, [ss, sv, vv]: Squares<S>, limit: S) -> Factors<S>
    where
        S: Number<T>,
    {
        let zero = S::none();
        let (k, c) = (self.stiffness, self.viscosity);
        let limit_squared = limit * limit;
        let squared = k * k * ss;
        // At the limit it slips: there the damper has no share any more.
        let slips = squared >= limit_squared;
        let elastic = if !slips {
            -k
        } else if squared > zero {
            -(k * limit / squared.root())
        } else {
            // Of no stretch, or no stiffness, under no limit.
            zero
        };
        let elastic_squared = if slips { limit_squared } else { squared };
        // Of the full damping force: its square, and its product with the elastic force.
        let (a, b) = (c * c * vv, -(elastic * c * sv));
        if !slips && elastic_squared + b * S::literal(2.0) + a <= limit_squared {
            return Factors { elastic, damping: -c, slips };
        }
        // The greatest x with |elastic + x·viscous| = limit: a·x² + 2·b·x = l.
        let l = limit_squared - elastic_squared;
        let discriminant = b * b + a * l;
        let share = if squared == zero && slips {
            // Under no limit; of a small one the damper would have all.
            if a > zero { limit / a.root() } else { zero }
        } else if slips || !(l > zero && discriminant > zero) {
            // What pulls back is damped until it would push beyond the limit on the other side. Whether it does is the
            // same for any viscosity, so that the derivative by one of zero is that of a small one.
            if sv >= zero {
                zero
            } else if a > zero {
                -b * S::literal(2.0) / a
            } else if limit > zero {
                S::literal(1.0)
            } else {
                zero
            }
        } else if b > zero {
            l / (b + discriminant.root())
        } else {
            (discriminant.root() - b) / a
        };
        Factors { elastic, damping: -c * share.at_most(S::literal(1.0)), slips }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spring_and_damper_together_keep_within_the_limit_and_never_drive() {
        let wave = |i: u32| (f64::from(i) * 1.618_034).sin() * 3.0;
        let mut sliding = 0;
        for i in 0..20_000 {
            let vector = |k: u32| Vector3::new(wave(i + k), wave(7 * i + k), 0.0);
            let grip = Grip { stiffness: 2.0, viscosity: 0.5 };
            let (stretch, velocity, limit) = (vector(1), vector(2), 3.0 * wave(3 * i).abs());
            let Hold { elastic, damping, slips } = grip.hold(stretch, velocity, limit);
            // Squares, a root and a quotient.
            assert!((elastic + damping).norm() <= limit * (1.0 + 1e-14), "{i}");
            assert!(damping.dot(&velocity) <= 0.0 && elastic.dot(&stretch) <= 0.0, "{i}");
            assert_eq!(slips, 2.0 * stretch.norm() >= limit);
            sliding += u32::from(slips);
            // Nothing is withheld: the damper acts fully, or the limit is reached.
            let full = (damping + velocity * 0.5).norm() < 1e-14;
            assert!(full || (elastic + damping).norm() >= limit * (1.0 - 1e-12), "{i}");
        }
        assert!(sliding > 5000 && sliding < 19_000, "{sliding}");
    }
}
