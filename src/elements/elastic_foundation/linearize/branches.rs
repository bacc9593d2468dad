//! The branches of friction and damping that the springs of a contact take.

use super::contact::{Contact, Spring};
use super::friction::Held;
use crate::framework::Blocks;
use crate::math::Real;

/// How many springs of a contact are in each branch, and how far the one is that is nearest to the other branch.
///
/// Below a limit they creep, or stick; beyond it they slide, or slip. Those let go that rise so fast that they do not press.
#[derive(Debug)]
pub(super) struct Branches<T: Real> {
    /// Below and beyond the limit of friction.
    friction: [(usize, T); 2],
    /// Pressing, and those that have let go.
    damping: [(usize, T); 2],
}

impl<T: Real> Branches<T> {
    pub(super) fn none() -> Self {
        let none = || [(0, T::zero()), (0, T::zero())];
        Self { friction: none(), damping: none() }
    }

    /// Adds the branch of a spring by the rate of its depth; its margin is from the rate at which it lets go.
    #[inline]
    pub(super) fn add_pressed(&mut self, contact: &Contact<'_, T>, spring: &Spring<T>) {
        let letting_go = -contact.law.contact.damping(T::one()).recip();
        let margin = (spring.depth_rate - letting_go).abs();
        add(&mut self.damping, spring.factor > T::zero(), margin);
    }

    /// Adds the branch of a spring whose friction follows its slip.
    #[inline]
    pub(super) fn add_slip(&mut self, contact: &Contact<'_, T>, spring: &Spring<T>) {
        let transition = contact.transition_velocity;
        let slip_squared = spring.slip.norm_squared();
        let margin = (slip_squared.sqrt() - transition).abs();
        add(&mut self.friction, slip_squared < transition * transition, margin);
    }

    /// Adds the branch of a spring with an anchor.
    #[inline]
    pub(super) fn add_held(&mut self, held: &Held<T>) {
        add(&mut self.friction, !held.slips, held.margin);
    }

    /// States those of a contact.
    pub(super) fn state(&self, contact: &Contact<'_, T>, place: usize, blocks: &mut Blocks<'_, T>) {
        let mut state = |names: [&'static str; 2], found: &[(usize, T); 2], unit| {
            for (name, &(springs, margin)) in names.into_iter().zip(found) {
                if springs > 0 {
                    blocks.branch_of_parts(place, name, springs, margin, unit);
                }
            }
        };
        if contact.has_anchors {
            state(["sticking", "slipping"], &self.friction, "N");
        } else if contact.material.static_friction > T::zero() {
            state(["creeping", "sliding"], &self.friction, "m/s");
        }
        if contact.material.dissipation > T::zero() {
            state(["pressing", "let go"], &self.damping, "m/s");
        }
    }
}

/// Counts a spring in the first of two branches, or else in the second.
#[inline]
fn add<T: Real>(branches: &mut [(usize, T); 2], is_first: bool, margin: T) {
    let (springs, nearest) = &mut branches[usize::from(!is_first)];
    if *springs == 0 || margin < *nearest {
        *nearest = margin;
    }
    *springs += 1;
}
