//! Derivatives of the foundation, from the law of a spring over numbers.

use core::array::from_fn;

mod springs;

use super::law::Friction;
use crate::elements::elastic_foundation::{Anchors, ElasticFoundation};
use crate::elements::meshes::{ELASTIC, MOTION, Sums, by_mesh};
use crate::framework::{AtDynamics, Between, Blocks, End, Row, Slopes};
use crate::math::{Dual, Number, Real, SpatialForce, dot};
use crate::shapes::greater;
use springs::{LEVEL, Memory, Pushed};

pub(super) use springs::{NUMBERS, WITH_ANCHOR};

/// Counts a spring of a contact in the first of two branches, or else in the second: the number of springs in each, and the
/// smallest distance of one from the other branch.
#[inline]
fn count<T: Real>(branches: &mut [(usize, T); 2], is_first: bool, margin: T) {
    let (springs, nearest) = &mut branches[usize::from(!is_first)];
    if *springs == 0 || margin < *nearest {
        *nearest = margin;
    }
    *springs += 1;
}

impl<T: Real> ElasticFoundation<T> {
    /// Writes derivatives, or requests finite differences by all bodies with a surface if `write` cannot provide them.
    pub(super) fn linearize_with(
        &self,
        blocks: &mut Blocks<'_, T>,
        write: impl FnOnce(&mut Blocks<'_, T>, &mut Memory<T>) -> Option<()>,
    ) {
        if blocks.with_workspace(write).is_none() {
            blocks.differences_of(self.surfaces.iter().map(|placed| End::Body(placed.body)));
        }
    }

    pub(super) fn try_linearize(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
        (by_motion, _): &mut Memory<T>,
    ) -> Option<()> {
        for (place, contact) in self.contacts(at).enumerate() {
            let V_M = contact.velocity();
            let mut sums = Sums::of(V_M.angular);
            let (mut deepest, mut springs) = (T::zero(), 0);
            // Below a limit springs creep, or stick; beyond it they slide, or slip. Springs that rise so fast that they
            // do not press have let go.
            let [mut friction, mut damping] = [[(0, T::zero()); 2]; 2];
            let law = &contact.law;
            let letting_go = -law.contact.damping(T::one()).recip();
            let (level_law, law_of_all) = (contact.law_over(), contact.law_over());
            contact.for_each_spring(at, by_motion, |spring| {
                // In a half-space without anchors only velocity and depth matter.
                if self.has_anchors || spring.gradient.is_some() {
                    contact.add::<MOTION>(&law_of_all, spring, &mut sums);
                } else {
                    contact.add::<LEVEL>(&level_law, spring, &mut sums);
                }
                deepest = greater(deepest, spring.at.depth);
                springs += 1;
                let rate = spring.at.depth_rate;
                count(&mut damping, law.contact.normal_factor(rate) > T::zero(), (rate - letting_go).abs());
                let slip_squared = spring.at.slip_F.norm_squared();
                if self.has_anchors {
                    let Pushed { at, stretch, normal_force, friction: Friction { slips, .. } } =
                        contact.still(spring);
                    let limit = law.contact.holding_coefficient(slip_squared) * normal_force;
                    let [grip, _] = law.grip(at.area);
                    let pull = stretch.map_or_else(T::zero, |s| s.norm_squared().sqrt() * grip);
                    // A vertex without an area has no friction that could slip.
                    if at.area > T::zero() {
                        count(&mut friction, !slips, (limit - pull).abs());
                    }
                } else {
                    let transition = at.parameters.transition_velocity;
                    let margin = (slip_squared.sqrt() - transition).abs();
                    count(&mut friction, slip_squared < transition * transition, margin);
                }
            })?;
            let (F_GM, by) = sums.about_origin();
            let [by_position, by_velocity] = by.map(Slopes::Coupled);
            let (bodies, p_GM) = (contact.bodies(), contact.origin());
            blocks.add_between(&Between { bodies, p_GM, F_GM, V_M, by_position, by_velocity });
            blocks.branch_of((place, springs), "in contact", deepest, "m");
            let mut state = |names: [&'static str; 2], found: [(usize, T); 2], unit| {
                for (name, (springs, margin)) in names.into_iter().zip(found) {
                    if springs > 0 {
                        blocks.branch_of((place, springs), name, margin, unit);
                    }
                }
            };
            if self.has_anchors {
                state(["sticking", "slipping"], friction, "N");
            } else if contact.law.material.static_friction > T::zero() {
                state(["creeping", "sliding"], friction, "m/s");
            }
            if contact.law.material.dissipation > T::zero() {
                state(["pressing", "let go"], damping, "m/s");
            }
        }
        Some(())
    }

    /// Writes the derivatives by `N` variables at once: the parameters, and with anchors also the anchor of a spring.
    pub(super) fn try_linearize_variables<const N: usize>(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
        (by_motion, _): &mut Memory<T>,
    ) -> Option<()> {
        for contact in self.contacts(at) {
            let law = contact.varied_law::<N>();
            let (bodies, p_GM) = (contact.bodies(), contact.origin());
            let mut sums = [SpatialForce::zero(); NUMBERS];
            contact.for_each_spring(at, by_motion, |spring| {
                let (force, lever) = (contact.given(&law, spring).force(), spring.point_G - p_GM);
                let change = |i: usize| {
                    let force = force.map(|component| component.slopes[i]);
                    SpatialForce::new(lever.cross(&force), force)
                };
                sums.iter_mut().enumerate().for_each(|(i, sum)| *sum += change(i));
                if let Some((place, _)) = spring.anchor {
                    let first = blocks.discrete(Anchors::<T>::place_of_point(place));
                    let changes = [0, 1, 2].map(|axis| change(NUMBERS + axis));
                    blocks.add_between_by_variables(bodies, &p_GM, first, &changes);
                }
            })?;
            let [by_velocity, by_material @ ..] = sums;
            blocks.add_between_by_variables(bodies, &p_GM, blocks.parameter(0), &[by_velocity]);
            for (place, sums) in contact.by_materials(blocks, by_material) {
                blocks.add_between_by_variables(bodies, &p_GM, place, &sums);
            }
        }
        Some(())
    }

    pub(super) fn try_linearize_commit(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
        (by_motion, after): &mut Memory<T>,
    ) -> Option<()> {
        after.clone_from(at.discrete);
        after.replace(&at.dynamics.next_anchors);
        for contact in self.contacts(at) {
            let law = contact.varied_law::<{ WITH_ANCHOR }>();
            let moving_law = contact.law_over();
            let (p_GM, V_M) = (contact.origin(), contact.velocity());
            let R_GO = contact.X_GO.rotation.matrix();
            contact.for_each_spring(at, by_motion, |spring| {
                let Some(place) = after.place_of(spring.id, contact.found.other) else { return };
                let row = |axis| Row::Next(Anchors::<T>::place_of_point(place) + axis);
                let anchor =
                    spring.anchor.map(|(place, _)| blocks.discrete(Anchors::<T>::place_of_point(place)));
                let grips = contact.law.grip(spring.at.area)[0] > T::zero();
                // An anchor that yields moves to where the spring exerts its force. The anchor of a spring that has just
                // come into contact, or has no stiffness, is at its base.
                let dragged = anchor.filter(|_| grips);
                if let Some(anchor) = dragged
                    && !contact.still(spring).friction.slips
                {
                    for axis in 0..3 {
                        blocks.add_to_by_variables(row(axis), anchor + axis, &[T::one()]);
                    }
                    return;
                }
                let Pushed { at, stretch, friction: Friction { elastic, .. }, .. } =
                    contact.moving::<MOTION>(&moving_law, spring);
                let share = elastic / moving_law.grip(at.area)[0];
                let lead = stretch.filter(|_| grips).map(|stretch| stretch.map(|s| s * share));
                let next = lead.map_or(at.p_FB, |lead| at.p_FB + lead);
                for (axis, along) in R_GO.column_iter().enumerate() {
                    let next = dot(&next, &along.map(Dual::of));
                    let lever = contact.lever(spring);
                    let [mut by_position, by_velocity] = by_mesh(&next, &lever, &V_M.angular);
                    for (by, first) in by_position.iter_mut().zip([0, 3]) {
                        *by += spring.elastic_by_motion.fixed_rows::<3>(first) * next.slopes[ELASTIC];
                    }
                    let motion = (&p_GM, &V_M);
                    blocks.add_to_between(row(axis), contact.bodies(), motion, by_position, by_velocity);
                }
                let Pushed { stretch, friction: Friction { elastic, .. }, .. } = contact.given(&law, spring);
                if let (Some(anchor), Some(stretch)) = (dragged, stretch) {
                    let share = elastic / law.grip(Dual::of(spring.at.area))[0];
                    let lead = stretch.map(|s| s * share);
                    for (axis, along) in R_GO.column_iter().enumerate() {
                        let Dual { slopes, .. } = dot(&lead, &along.map(Dual::of));
                        let (of_law, by_anchor) = slopes.split_at(NUMBERS);
                        let by_material = from_fn(|number| of_law[1 + number]);
                        blocks.add_to_by_variables(row(axis), blocks.parameter(0), &of_law[..1]);
                        for (place, by) in contact.by_materials(blocks, by_material) {
                            blocks.add_to_by_variables(row(axis), place, &by);
                        }
                        blocks.add_to_by_variables(row(axis), anchor, by_anchor);
                    }
                }
            })?;
        }
        Some(())
    }
}
