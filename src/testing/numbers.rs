//! Numbers that scenes are made of.

use nalgebra::{Rotation3, Translation3, Vector3, convert, convert_unchecked};

use crate::math::{Pose, Real, SpatialVelocity};

/// A sequence of numbers that depends on nothing but its seed (SplitMix64).
///
/// The numbers are plain: in a dual number they have no derivative.
#[derive(Debug, Clone)]
pub struct Numbers {
    state: u64,
}

impl Numbers {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number, between −1 and 1.
    pub fn number(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let [a, b, c, d, e, f, g, h] = (z ^ (z >> 31)).to_be_bytes();
        let (high, low) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        // The 64 bits are a fraction of 2, rounded.
        (f64::from(high) + f64::from(low) / 4_294_967_296.0) / 2_147_483_648.0 - 1.0
    }

    /// The next number, between `low` and `high`.
    pub fn between<T: Real>(&mut self, low: f64, high: f64) -> T {
        T::lit(low + (high - low) * 0.5 * (self.number() + 1.0))
    }

    /// A whole number below `count`, which is at least one.
    pub(super) fn index(&mut self, count: usize) -> usize {
        let below = 0.5 * (self.number() + 1.0) * convert::<usize, f64>(count);
        convert_unchecked::<f64, usize>(below).min(count - 1)
    }

    /// A vector with components between −`size` and `size`.
    pub fn vector<T: Real>(&mut self, size: f64) -> Vector3<T> {
        Vector3::from_fn(|_, _| T::lit(size * self.number()))
    }

    /// A pose: a rotation vector with components up to `turn` \[rad\] and a position with components up to
    /// `shift` \[m\].
    pub fn pose<T: Real>(&mut self, turn: f64, shift: f64) -> Pose<T> {
        let rotation = Rotation3::new(self.vector::<f64>(turn)).matrix().map(T::lit);
        Pose::from_parts(Translation3::from(self.vector(shift)), Rotation3::from_matrix_unchecked(rotation))
    }

    /// A velocity with components up to `size` \[rad/s, m/s\].
    pub fn velocity<T: Real>(&mut self, size: f64) -> SpatialVelocity<T> {
        SpatialVelocity::new(self.vector(size), self.vector(size))
    }
}
