//! Derivatives of the foundation, from the law of a spring over numbers.

mod springs;

use crate::elements::elastic_foundation::law::Load;
use crate::elements::elastic_foundation::{Anchors, ElasticFoundation};
use crate::elements::meshes::{ELASTIC, MOTION, Sums, by_mesh};
use crate::framework::{AtDynamics, Between, Blocks, Row, Slopes};
use crate::math::{Dual, Number, Real, SpatialForce, dot};
use crate::shapes::greater;
use springs::{LEVEL, Memory, NUMBERS, Pushed};

/// Two branches of the springs of a contact: the number of springs in each, and the smallest distance of one from the other
/// branch.
type Branches<T> = [(usize, T); 2];

/// Counts a spring in the first of two branches, or else in the second.
#[inline]
fn count<T: Real>(branches: &mut Branches<T>, is_first: bool, margin: T) {
    let (springs, nearest) = &mut branches[usize::from(!is_first)];
    if *springs == 0 || margin < *nearest {
        *nearest = margin;
    }
    *springs += 1;
}

impl<T: Real> ElasticFoundation<T> {
    pub(super) fn linearize_by_motion(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let mut contacts = 0..;
        self.for_each_contact(at, blocks, |contact, blocks, (vertices, _)| {
            let mut sums = Sums::of(contact.V.angular);
            let (mut deepest, mut springs) = (T::zero(), 0);
            // Below a limit springs creep, or stick; beyond it they slide, or slip. Springs that rise so fast that they do
            // not press have let go.
            let [mut friction, mut damping]: [Branches<T>; 2] = [[(0, T::zero()); 2]; 2];
            let law = &contact.law;
            let letting_go = -law.contact.damping(T::one()).recip();
            let (level_law, law_of_all) = (contact.law_over(), contact.law_over());
            contact.for_each_spring(at, vertices, |spring| {
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
                    let Pushed { at, stretch, load } = contact.still(spring);
                    let limit = law.contact.holding_coefficient(slip_squared) * load.normal_force;
                    let [grip, _] = law.grip(at.area);
                    let pull = stretch.map_or_else(T::zero, |s| s.norm_squared().sqrt() * grip);
                    count(&mut friction, !load.slips, (limit - pull).abs());
                } else {
                    let transition = contact.transition_velocity;
                    let margin = (slip_squared.sqrt() - transition).abs();
                    count(&mut friction, slip_squared < transition * transition, margin);
                }
            });
            let (F_GM, by) = sums.about_origin();
            let [by_position, by_velocity] = by.map(Slopes::Coupled);
            let (bodies, p_GM, V_M) = (contact.bodies, contact.origin(), contact.V);
            blocks.add_between(&Between { bodies, p_GM, F_GM, V_M, by_position, by_velocity });
            let place = contacts.next().unwrap_or_default();
            blocks.branch_of_parts(place, "in contact", springs, deepest, "m");
            let mut state = |names: [&'static str; 2], found: Branches<T>, unit| {
                for (name, (springs, margin)) in names.into_iter().zip(found) {
                    if springs > 0 {
                        blocks.branch_of_parts(place, name, springs, margin, unit);
                    }
                }
            };
            if self.has_anchors {
                state(["sticking", "slipping"], friction, "N");
            } else if contact.material.static_friction > T::zero() {
                state(["creeping", "sliding"], friction, "m/s");
            }
            if contact.material.dissipation > T::zero() {
                state(["pressing", "let go"], damping, "m/s");
            }
        });
    }

    pub(super) fn linearize_by_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        if self.has_anchors {
            self.linearize_by::<{ NUMBERS + 3 }>(at, blocks);
        } else {
            self.linearize_by::<NUMBERS>(at, blocks);
        }
    }

    /// Adds the derivatives by `N` variables at once: the parameters, and the anchor of a spring that has one.
    fn linearize_by<const N: usize>(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.for_each_contact(at, blocks, |contact, blocks, (vertices, _)| {
            let law = contact.varied_law::<N>(at, blocks);
            let (bodies, p_GM) = (contact.bodies, contact.origin());
            let mut sums = [SpatialForce::zero(); NUMBERS];
            contact.for_each_spring(at, vertices, |spring| {
                let (Load { normal_force, elastic, damping, .. }, stretch) = contact.given(&law, spring);
                let pull = stretch.map(|stretch| stretch.map(|s| s * elastic));
                let (n, slip, lever) = (&spring.at.n_F, &spring.at.slip_F, spring.point_G - p_GM);
                let change = |i: usize| {
                    let pushed = n * normal_force.slopes[i] + slip * damping.slopes[i];
                    let force = pull.map_or(pushed, |pull| pushed + pull.map(|pull| pull.slopes[i]));
                    SpatialForce::new(lever.cross(&force), force)
                };
                sums.iter_mut().enumerate().for_each(|(i, sum)| *sum += change(i));
                if let Some((place, _)) = spring.anchor {
                    let first = blocks.discrete(Anchors::<T>::places(place).point.x);
                    let changes = [0, 1, 2].map(|axis| change(NUMBERS + axis));
                    blocks.add_between_by_variables(bodies, &p_GM, first, &changes);
                }
            });
            for (place, sums) in law.places.into_iter().zip([&sums[..1], &sums[1..]]) {
                blocks.add_between_by_variables(bodies, &p_GM, place, sums);
            }
        });
    }

    pub(super) fn linearize_anchors(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        if !self.has_anchors {
            return;
        }
        blocks.with_workspace(|_, (_, after): &mut Memory<T>| {
            after.clone_from(at.discrete);
            after.replace(&at.dynamics.next_anchors);
        });
        self.for_each_contact(at, blocks, |contact, blocks, (vertices, after)| {
            let law = contact.varied_law::<{ NUMBERS + 3 }>(at, blocks);
            let moving_law = contact.law_over();
            let (p_GM, R_GO) = (contact.origin(), contact.X_GO.rotation.matrix());
            contact.for_each_spring(at, vertices, |spring| {
                let Some(place) = after.place_of(spring.id, contact.surfaces[1]) else { return };
                let row = |axis| Row::Next(Anchors::<T>::places(place).point[axis]);
                let anchor =
                    spring.anchor.map(|(place, _)| blocks.discrete(Anchors::<T>::places(place).point.x));
                let grips = contact.law.grip(spring.at.area)[0] > T::zero();
                // An anchor that yields is where the spring exerts its force; that of a spring which has just come into
                // contact, or has no stiffness, is at its base.
                let dragged = anchor.filter(|_| grips);
                if let Some(anchor) = dragged
                    && !contact.still(spring).load.slips
                {
                    for axis in 0..3 {
                        blocks.add_to_by_variable(row(axis), anchor + axis, T::one());
                    }
                    return;
                }
                let Pushed { at, stretch, load } = contact.moving::<MOTION>(&moving_law, spring);
                let lead = stretch.filter(|_| grips).map(|s| load.lead(&s, moving_law.grip(at.area)));
                let next = lead.map_or(at.p_FB, |lead| at.p_FB + lead);
                for (axis, along) in R_GO.column_iter().enumerate() {
                    let next = dot(&next, &along.map(Dual::of));
                    let lever = contact.lever(spring);
                    let [mut by_position, by_velocity] = by_mesh(&next, &lever, &contact.V.angular);
                    for (by, first) in by_position.iter_mut().zip([0, 3]) {
                        *by += spring.elastic_by_motion.fixed_rows::<3>(first) * next.slopes[ELASTIC];
                    }
                    let motion = (&p_GM, &contact.V);
                    blocks.add_to_between(row(axis), contact.bodies, motion, by_position, by_velocity);
                }
                let (load, stretch) = contact.given(&law, spring);
                if let (Some(anchor), Some(stretch)) = (dragged, stretch) {
                    let lead = load.lead(&stretch, law.law.grip(Dual::of(spring.at.area)));
                    let [of_velocity, of_material] = law.places;
                    for (axis, along) in R_GO.column_iter().enumerate() {
                        let Dual { slopes, .. } = dot(&lead, &along.map(Dual::of));
                        let by =
                            [(of_velocity, 0..1), (of_material, 1..NUMBERS), (anchor, NUMBERS..slopes.len())];
                        for (place, directions) in by {
                            blocks.add_to_by_variables(row(axis), place, &slopes[directions]);
                        }
                    }
                }
            });
        });
    }
}
