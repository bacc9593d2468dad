//! Derivatives of the next anchors.

use core::cmp::Ordering;

use nalgebra::{Point3, Vector3};

use super::contact::{Contact, Key, Memory, Spring};
use super::friction::{Held, Pressed, friction_with_anchor};
use super::motion::normal_force_by_motion;
use super::variables::{OF_ANCHOR, normal_force};
use crate::elements::elastic_foundation::{Anchor, ElasticFoundation};
use crate::framework::{AtDynamics, Blocks, Row};
use crate::math::{Dual, Number, Real};

impl<T: Real> ElasticFoundation<T> {
    pub(in super::super) fn linearize_anchors(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        if !self.has_anchors {
            return;
        }
        let are_known = blocks.with_workspace(|blocks, memory: &mut Memory<T>| {
            let Memory { vertices, keys } = memory;
            keys.clear();
            keys.extend(at.dynamics.next_anchors.iter().take(at.discrete.room()).map(Anchor::key));
            keys.sort_unstable_by(compare);
            self.for_each_contact(at, |contact| {
                contact.for_each_spring(at, vertices, |spring| {
                    let id = contact.first_spring + spring.index;
                    let key = Anchor::new(id, contact.surfaces[1], Point3::<T>::origin()).key();
                    // The place that the anchor will have.
                    if let Ok(place) = keys.binary_search_by(|other| compare(other, &key)) {
                        Self::linearize_anchor(at, contact, spring, OF_ANCHOR * place + 2, blocks);
                    }
                });
            })
        });
        if !are_known {
            self.ask_for_differences(blocks);
        }
    }

    /// Writes the derivatives of one anchor, from its first row on.
    fn linearize_anchor(
        at: &AtDynamics<'_, T, Self>,
        contact: &Contact<'_, T>,
        spring: &Spring<T>,
        first: usize,
        blocks: &mut Blocks<'_, T>,
    ) {
        let (id, other) = (contact.first_spring + spring.index, contact.surfaces[1]);
        let place = at.discrete.place_of(id, other);
        let pressed = contact.press(spring);
        let held = contact.hold(spring, &pressed, at.discrete.of(id, other));
        if let (Some(place), false) = (place, held.slips) {
            for axis in 0..3 {
                let present = blocks.discrete(OF_ANCHOR * place + 2 + axis);
                blocks.add_to_by_variable(Row::Next(first + axis), present, T::one());
            }
            return;
        }
        let R_GO = contact.X_GO.rotation.matrix();
        // The anchor of a spring that has just come into contact is at its base.
        let grips = place.is_some() && contact.material.tangential_stiffness * spring.area > T::zero();
        let lead = grips.then(|| held.slopes_of_lead(contact, spring));
        let by_normal = normal_force_by_motion(contact, spring, &pressed);
        for axis in 0..3 {
            let row = Row::Next(first + axis);
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
            if let (Some(lead), Some(place)) = (&lead, place) {
                let by_anchor = -(R_GO.transpose() * lead.by_stretch.tr_mul(&along));
                for (component, &derivative) in by_anchor.iter().enumerate() {
                    let present = blocks.discrete(OF_ANCHOR * place + 2 + component);
                    blocks.add_to_by_variable(row, present, derivative);
                }
            }
        }
        if grips {
            Self::linearize_lead(contact, spring, &pressed, (&held, first), blocks);
        }
    }

    /// Writes the derivatives by parameters of an anchor that follows.
    fn linearize_lead(
        contact: &Contact<'_, T>,
        spring: &Spring<T>,
        pressed: &Pressed<T>,
        (held, first): (&Held<T>, usize),
        blocks: &mut Blocks<'_, T>,
    ) {
        let law = contact.varied_law();
        let bearing = normal_force(spring, pressed, &law);
        let area = Dual::of(spring.area);
        let (elastic, ..) = friction_with_anchor(&law, area, held.squares().map(Dual::of), bearing);
        let lead = elastic / (law.tangential_stiffness * area);
        let stretch_O = contact.X_GO.rotation.inverse_transform_vector(&held.stretch);
        for (number, &slope) in lead.slopes.iter().enumerate() {
            let variable = blocks.parameter(contact.parameter(number));
            for axis in 0..3 {
                blocks.add_to_by_variable(Row::Next(first + axis), variable, stretch_O[axis] * slope);
            }
        }
    }
}

fn compare(a: &Key, b: &Key) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}
