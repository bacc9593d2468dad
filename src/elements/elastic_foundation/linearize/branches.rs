//! The branches of friction that the springs of a contact take.

use super::contact::Contact;
use super::friction::{Held, Pressed};
use crate::framework::Blocks;
use crate::math::Real;

/// How many springs of a contact are in either branch, and how far the nearest switch is.
///
/// Below a limit they creep, or stick; beyond it they slide, or slip. Those let go that rise so fast that they do not press.
#[derive(Debug)]
pub(super) struct Branches<T: Real> {
    below: Side<T>,
    beyond: Side<T>,
    /// By the rate of their depth.
    pressing: Side<T>,
    let_go: Side<T>,
}

#[derive(Debug)]
struct Side<T: Real> {
    springs: usize,
    /// Without anchors of the square of the speed.
    nearest: T,
}

impl<T: Real> Branches<T> {
    pub(super) fn none() -> Self {
        let side = || Side { springs: 0, nearest: T::zero() };
        Self { below: side(), beyond: side(), pressing: side(), let_go: side() }
    }

    /// Adds a spring with damping along the normal.
    #[inline]
    pub(super) fn add_pressed(&mut self, pressed: &Pressed<T>) {
        if pressed.factor > T::zero() {
            self.pressing.add(pressed.depth_rate, |a, b| a < b);
        } else {
            self.let_go.add(pressed.depth_rate, |a, b| a > b);
        }
    }

    /// Adds a spring whose friction follows its slip, of which this is the square.
    #[inline]
    pub(super) fn add_slip(&mut self, slip_squared: T, transition_velocity: T) {
        if slip_squared < transition_velocity * transition_velocity {
            self.below.add(slip_squared, |a, b| a > b);
        } else {
            self.beyond.add(slip_squared, |a, b| a < b);
        }
    }

    /// Adds a spring with an anchor.
    #[inline]
    pub(super) fn add_held(&mut self, held: &Held<T>) {
        let side = if held.slips { &mut self.beyond } else { &mut self.below };
        side.add(held.margin, |a, b| a < b);
    }

    /// States those of a contact.
    pub(super) fn state(&self, contact: &Contact<'_, T>, place: usize, blocks: &mut Blocks<'_, T>) {
        let Self { below, beyond, pressing, let_go } = self;
        let mut branch = |name, side: &Side<T>, margin: T, unit| {
            if side.springs > 0 {
                blocks.branch_of_parts(place, name, side.springs, margin, unit);
            }
        };
        if contact.has_anchors {
            branch("sticking", below, below.nearest, "N");
            branch("slipping", beyond, beyond.nearest, "N");
        } else if contact.has_friction() {
            let transition = contact.transition_velocity;
            branch("creeping", below, transition - below.nearest.sqrt(), "m/s");
            branch("sliding", beyond, beyond.nearest.sqrt() - transition, "m/s");
        }
        let dissipation = contact.law.damping(T::one());
        if dissipation > T::zero() {
            let rising = dissipation.recip();
            branch("pressing", pressing, pressing.nearest + rising, "m/s");
            branch("let go", let_go, -(let_go.nearest + rising), "m/s");
        }
    }
}

impl<T: Real> Side<T> {
    #[inline]
    fn add(&mut self, at: T, is_nearer: impl Fn(T, T) -> bool) {
        if self.springs == 0 || is_nearer(at, self.nearest) {
            self.nearest = at;
        }
        self.springs += 1;
    }
}
