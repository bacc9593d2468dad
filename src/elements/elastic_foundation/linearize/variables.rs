//! Derivatives of the forces by parameters and anchors.

use nalgebra::Vector3;

use super::contact::{Contact, Memory, Spring};
use crate::elements::elastic_foundation::law::{Friction, Law};
use crate::elements::elastic_foundation::parameters::{NUMBERS, Varied};
use crate::elements::elastic_foundation::{Anchors, ElasticFoundation, Material};
use crate::framework::{AtDynamics, Blocks};
use crate::math::{Dual, Number, Real, SpatialForce};

impl<T: Real> ElasticFoundation<T> {
    pub(in super::super) fn linearize_by_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let are_known = blocks.with_workspace(|blocks, memory: &mut Memory<T>| {
            self.for_each_contact(at, |contact| {
                let Some(law) = VariedLaw::new(contact, at, blocks) else { return };
                let mut sums = law.places.map(|_| SpatialForce::zero());
                contact.for_each_spring(at, &mut memory.vertices, |spring| {
                    if self.has_anchors {
                        Self::add_anchored(at, contact, spring, &law, (&mut sums, &mut *blocks));
                    } else {
                        law.add_rubbing(spring, &mut sums);
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
        let (id, other) = (contact.first_spring + spring.index, contact.surfaces[1].index());
        let held = contact.hold(spring, at.discrete.of(id, other));
        let normal_force = law.normal_force(spring);
        let (Friction { elastic, damping, viscous, .. }, _) = law.hold(spring, held.squares, normal_force);
        let damping = damping - viscous;
        for (i, sum) in sums.iter_mut().enumerate() {
            let pushed = spring.normal * normal_force.slopes[i];
            let rubbed = held.stretch * elastic.slopes[i] + held.slip * damping.slopes[i];
            let torque = spring.point.cross(&pushed) + spring.base.cross(&rubbed);
            *sum += SpatialForce::new(torque, pushed + rubbed);
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

/// The law of the springs of a contact as it depends on parameters.
pub(super) struct VariedLaw<T: Real> {
    material: Material<Varied<T>>,
    law: Law<Varied<T>>,
    pub(super) places: [usize; NUMBERS],
}

impl<T: Real> VariedLaw<T> {
    /// `None` without a material.
    pub(super) fn new(
        contact: &Contact<'_, T>,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        blocks: &Blocks<'_, T>,
    ) -> Option<Self> {
        let mesh = contact.surfaces[0];
        let (material, transition_velocity) = at.parameters.varied(mesh)?;
        let places = at.parameters.places(mesh, blocks.parameter(0));
        Some(Self { material, law: Law::new(&material, transition_velocity), places })
    }

    /// The normal force of a spring.
    pub(super) fn normal_force(&self, spring: &Spring<T>) -> Varied<T> {
        let elastic_force = self.material.elastic_force(spring.volume.map(Dual::of));
        self.law.press(elastic_force, Dual::of(spring.depth_rate)).0
    }

    /// Friction with an anchor, and the stiffness along the surface.
    pub(super) fn hold(
        &self,
        spring: &Spring<T>,
        squares: [T; 3],
        normal_force: Varied<T>,
    ) -> (Friction<Varied<T>>, Varied<T>) {
        let grip = self.law.grip(Dual::of(spring.area));
        (self.law.hold(grip, squares.map(Dual::of), normal_force), grip[0])
    }

    fn add_rubbing(&self, spring: &Spring<T>, sums: &mut [SpatialForce<T>]) {
        let normal_force = self.normal_force(spring);
        let viscosity = normal_force * self.law.contact.friction_factor(Dual::of(spring.slip.norm_squared()));
        for (i, sum) in sums.iter_mut().enumerate() {
            let change = spring.normal * normal_force.slopes[i] - spring.slip * viscosity.slopes[i];
            *sum += SpatialForce::new(spring.point.cross(&change), change);
        }
    }
}
