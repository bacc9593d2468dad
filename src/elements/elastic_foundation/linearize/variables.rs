//! Derivatives of the forces by parameters and anchors, and of the next anchors.

use core::array::from_fn;
use core::cmp::Ordering;

use nalgebra::{Point3, Vector3};

use super::contact::{Contact, Memory, Spring};
use super::friction::Held;
use super::motion::normal_force_by_motion;
use crate::elements::elastic_foundation::law::{Friction, Law};
use crate::elements::elastic_foundation::{Anchor, Anchors, ElasticFoundation, Material};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Blocks, Row, varied};
use crate::math::{Dual, Number, Real, SpatialForce};

/// The number of variables in the law of a mesh: the transition velocity and its material.
const NUMBERS: usize = 1 + <Material<f64> as Numbers<f64>>::COUNT;

/// A number of the law with its derivatives by all of these variables.
type Varied<T> = Dual<T, NUMBERS>;

impl<T: Real> ElasticFoundation<T> {
    pub(in super::super) fn linearize_by_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let are_known = blocks.with_workspace(|blocks, (vertices, _): &mut Memory<T>| {
            self.for_each_contact(at, |contact| {
                let law = VariedLaw::new(contact, at, blocks);
                let mut sums = law.places.map(|_| SpatialForce::zero());
                contact.for_each_spring(at, vertices, |spring| {
                    if self.has_anchors {
                        Self::add_anchored(at, contact, spring, &law, (&mut sums, &mut *blocks));
                    } else {
                        law.add_sliding(spring, &mut sums);
                    }
                });
                for (&variable, change) in law.places.iter().zip(&sums) {
                    let p_GM = contact.X_GM.translation.vector.into();
                    blocks.add_between_by_variable(contact.bodies, &p_GM, variable, change);
                }
            })
        });
        if !are_known {
            self.ask_for_differences(blocks);
        }
    }

    fn add_anchored(
        at: &AtDynamics<'_, T, Self>,
        contact: &Contact<'_, T>,
        spring: &Spring<T>,
        law: &VariedLaw<T>,
        (sums, blocks): (&mut [SpatialForce<T>], &mut Blocks<'_, T>),
    ) {
        let (id, other) = (contact.first_spring + spring.index, contact.surfaces[1]);
        let held = contact.hold(spring, at.discrete.of(id, other));
        let normal_force = law.normal_force(spring);
        let (Friction { elastic, damping, viscous, .. }, _) = law.hold(spring, held.squares, normal_force);
        let damping = damping - viscous;
        for (i, sum) in sums.iter_mut().enumerate() {
            let pushed = spring.normal * normal_force.slopes[i];
            let friction = held.stretch * elastic.slopes[i] + held.slip * damping.slopes[i];
            let torque = spring.point.cross(&pushed) + spring.base.cross(&friction);
            *sum += SpatialForce::new(torque, pushed + friction);
        }
        let Some(place) = at.discrete.place_of(id, other) else { return };
        let anchor = Anchors::<T>::places(place).point;
        let by_anchor = held.slopes(contact, spring).by_stretch * contact.X_GO.rotation.matrix();
        for axis in 0..3 {
            let force: Vector3<T> = -by_anchor.column(axis);
            let change = SpatialForce::new(spring.base.cross(&force), force);
            let variable = blocks.discrete(anchor[axis]);
            let p_GM = contact.X_GM.translation.vector.into();
            blocks.add_between_by_variable(contact.bodies, &p_GM, variable, &change);
        }
    }
}

/// The law of the springs of a contact as a function of the parameters.
struct VariedLaw<T: Real> {
    material: Material<Varied<T>>,
    law: Law<Varied<T>>,
    places: [usize; NUMBERS],
}

impl<T: Real> VariedLaw<T> {
    fn new(
        contact: &Contact<'_, T>,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        blocks: &Blocks<'_, T>,
    ) -> Self {
        let mut vary = varied(0);
        let transition_velocity = vary(contact.transition_velocity);
        let material = contact.material.lift(&mut vary);
        // In the order of the declarations, without the materials before this one.
        let before = at.parameters.materials[..contact.surfaces[0]].iter().flatten().count();
        let skipped = before * Material::<T>::COUNT;
        let places = from_fn(|i| blocks.parameter(i + if i == 0 { 0 } else { skipped }));
        Self { material, law: Law::new(&material, transition_velocity), places }
    }

    /// The normal force of a spring.
    fn normal_force(&self, spring: &Spring<T>) -> Varied<T> {
        let elastic_force = self.material.elastic_force(spring.volume.map(Dual::of));
        self.law.press(elastic_force, Dual::of(spring.depth_rate)).0
    }

    /// Friction with an anchor, and the stiffness along the surface.
    fn hold(
        &self,
        spring: &Spring<T>,
        squares: [T; 3],
        normal_force: Varied<T>,
    ) -> (Friction<Varied<T>>, Varied<T>) {
        let grip = self.law.grip(Dual::of(spring.area));
        (self.law.hold(grip, squares.map(Dual::of), normal_force), grip[0])
    }

    fn add_sliding(&self, spring: &Spring<T>, sums: &mut [SpatialForce<T>]) {
        let normal_force = self.normal_force(spring);
        let viscosity = normal_force * self.law.contact.friction_factor(Dual::of(spring.slip.norm_squared()));
        for (i, sum) in sums.iter_mut().enumerate() {
            let change = spring.normal * normal_force.slopes[i] - spring.slip * viscosity.slopes[i];
            *sum += SpatialForce::new(spring.point.cross(&change), change);
        }
    }
}

impl<T: Real> ElasticFoundation<T> {
    pub(in super::super) fn linearize_anchors(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        if !self.has_anchors {
            return;
        }
        let are_known = blocks.with_workspace(|blocks, (vertices, keys): &mut Memory<T>| {
            keys.clear();
            keys.extend(at.dynamics.next_anchors.iter().take(at.discrete.room()).map(Anchor::key));
            keys.sort_unstable_by(compare);
            self.for_each_contact(at, |contact| {
                let law = VariedLaw::new(contact, at, blocks);
                contact.for_each_spring(at, vertices, |spring| {
                    let id = contact.first_spring + spring.index;
                    let key = Anchor::new(id, contact.surfaces[1], Point3::<T>::origin()).key();
                    // The place of the anchor after the commit.
                    if let Ok(place) = keys.binary_search_by(|other| compare(other, &key)) {
                        let next = Anchors::<T>::places(place).point;
                        Self::linearize_anchor(at, (contact, &law), spring, &next, blocks);
                    }
                });
            })
        });
        if !are_known {
            self.ask_for_differences(blocks);
        }
    }

    /// Writes the derivatives of one anchor, whose point will be in these places.
    fn linearize_anchor(
        at: &AtDynamics<'_, T, Self>,
        (contact, law): (&Contact<'_, T>, &VariedLaw<T>),
        spring: &Spring<T>,
        next: &Point3<usize>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let (id, other) = (contact.first_spring + spring.index, contact.surfaces[1]);
        let place = at.discrete.place_of(id, other);
        let anchor = place.map(|place| Anchors::<T>::places(place).point);
        let held = contact.hold(spring, at.discrete.of(id, other));
        let has_grip = contact.law.grip(spring.area)[0] > T::zero();
        if let (Some(anchor), true) = (anchor, has_grip && !held.slips) {
            for axis in 0..3 {
                let present = blocks.discrete(anchor[axis]);
                blocks.add_to_by_variable(Row::Next(next[axis]), present, T::one());
            }
            return;
        }
        let R_GO = contact.X_GO.rotation.matrix();
        // The anchor of a spring that has just come into contact, or that has no stiffness, is at its base.
        let grips = place.is_some() && has_grip;
        let lead = grips.then(|| held.slopes_of_lead(contact, spring));
        let by_normal = normal_force_by_motion(contact, spring);
        for axis in 0..3 {
            let row = Row::Next(next[axis]);
            let along: Vector3<T> = R_GO.column(axis).into_owned();
            let (mut by_shift, mut by_velocity, mut by_normal_force) = (along, Vector3::zeros(), T::zero());
            if let Some(lead) = &lead {
                by_shift += lead.by_shift.tr_mul(&along);
                by_velocity += lead.by_velocity.tr_mul(&along);
                by_normal_force = lead.by_normal_force.dot(&along);
            }
            let twist = |by: &Vector3<T>, i: usize| {
                let normal = by_normal[i] * by_normal_force;
                let [turn, shift] = [0, 3].map(|row| normal.fixed_rows::<3>(row).into_owned());
                [turn + spring.base.cross(by), shift + by]
            };
            let [by_angular, by_linear] = twist(&by_velocity, 1);
            let [by_turn, by_shift] = twist(&by_shift, 0);
            // Velocities are those at the mesh's origin, which shifts.
            let by_shift = by_shift + contact.V.angular.cross(&by_linear);
            blocks.add_to_between(
                row,
                contact.bodies,
                (&contact.X_GM.translation.vector.into(), &contact.V),
                [by_turn, by_shift],
                [by_angular, by_linear],
            );
            if let (Some(lead), Some(anchor)) = (&lead, anchor) {
                let by_anchor = -(R_GO.transpose() * lead.by_stretch.tr_mul(&along));
                for (component, &derivative) in by_anchor.iter().enumerate() {
                    let present = blocks.discrete(anchor[component]);
                    blocks.add_to_by_variable(row, present, derivative);
                }
            }
        }
        if grips {
            Self::linearize_lead((contact, law), spring, (&held, next), blocks);
        }
    }

    /// Writes the derivatives by parameters of an anchor that is dragged.
    fn linearize_lead(
        (contact, law): (&Contact<'_, T>, &VariedLaw<T>),
        spring: &Spring<T>,
        (held, next): (&Held<T>, &Point3<usize>),
        blocks: &mut Blocks<'_, T>,
    ) {
        let (friction, stiffness) = law.hold(spring, held.squares, law.normal_force(spring));
        let lead = friction.elastic / stiffness;
        let stretch_O = contact.X_GO.rotation.inverse_transform_vector(&held.stretch);
        for (&variable, &slope) in law.places.iter().zip(&lead.slopes) {
            for axis in 0..3 {
                blocks.add_to_by_variable(Row::Next(next[axis]), variable, stretch_O[axis] * slope);
            }
        }
    }
}

fn compare(a: &(f64, f64), b: &(f64, f64)) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}
