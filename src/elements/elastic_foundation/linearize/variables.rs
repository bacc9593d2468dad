//! Derivatives of the forces by parameters and anchors.

use nalgebra::Vector3;

use super::contact::{Contact, Memory, Spring, twist};
use super::friction::{Pressed, friction_with_anchor};
use crate::elements::elastic_foundation::ElasticFoundation;
use crate::elements::elastic_foundation::parameters::Law;
use crate::framework::variables::Numbers as _;
use crate::framework::{AtDynamics, Blocks};
use crate::math::{Dual, Number, Real, SpatialForce};

/// The seven numbers of a material, in its order, and the transition velocity.
const NUMBERS: usize = 8;
/// The numbers of an anchor.
pub(super) const OF_ANCHOR: usize = 5;

type Varied<T> = Dual<T, NUMBERS>;

impl<T: Real> ElasticFoundation<T> {
    pub(in super::super) fn linearize_by_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let are_known = blocks.with_workspace(|blocks, memory: &mut Memory<T>| {
            self.for_each_contact(at, |contact| {
                let law = contact.varied_law();
                let mut sums = [SpatialForce::zero(); NUMBERS];
                contact.for_each_spring(at, &mut memory.vertices, |spring| {
                    let pressed = contact.press(spring);
                    if self.has_anchors {
                        Self::add_anchored(at, contact, spring, &pressed, &law, (&mut sums, &mut *blocks));
                    } else {
                        add_rubbing(spring, &pressed, &law, &mut sums);
                    }
                });
                for (number, change) in sums.iter().enumerate() {
                    let variable = blocks.parameter(contact.parameter(number));
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
        pressed: &Pressed<T>,
        law: &Law<Varied<T>>,
        (sums, blocks): (&mut [SpatialForce<T>; NUMBERS], &mut Blocks<'_, T>),
    ) {
        let place = at.discrete.place_of(contact.first_spring + spring.index, contact.surfaces[1]);
        let anchor = at.discrete.of(contact.first_spring + spring.index, contact.surfaces[1]);
        let held = contact.hold(spring, pressed, anchor);
        let normal_force = normal_force(spring, pressed, law);
        let squares = held.squares().map(Dual::of);
        let (elastic, damping, _) = friction_with_anchor(law, Dual::of(spring.area), squares, normal_force);
        for (i, sum) in sums.iter_mut().enumerate() {
            let pushed = spring.normal * normal_force.slopes[i];
            let rubbed = held.stretch * elastic.slopes[i] + held.slip * damping.slopes[i];
            let torque = spring.point.cross(&pushed) + spring.base.cross(&rubbed);
            *sum += SpatialForce::new(torque, pushed + rubbed);
        }
        let Some(place) = place else { return };
        let by_anchor = held.slopes(contact, spring).by_stretch * contact.X_GO.rotation.matrix();
        for axis in 0..3 {
            let force: Vector3<T> = -by_anchor.column(axis);
            let change = SpatialForce::new(spring.base.cross(&force), force);
            let variable = blocks.discrete(OF_ANCHOR * place + 2 + axis);
            let p_GM = contact.X_GM.translation.vector.into();
            blocks.add_between_by_variable(contact.bodies, &p_GM, variable, &change);
        }
    }
}

impl<T: Real> Contact<'_, T> {
    /// The law as it depends on its parameters.
    pub(super) fn varied_law(&self) -> Law<Varied<T>> {
        let mut directions = 0..;
        let mut vary = |number| directions.next().map_or(Dual::of(number), |i| Dual::variable(number, i));
        self.material.lift(&mut vary).law(vary(self.transition_velocity))
    }

    /// The place among the parameters of a number of the law.
    pub(super) fn parameter(&self, number: usize) -> usize {
        if number == NUMBERS - 1 { 0 } else { 1 + (NUMBERS - 1) * self.material_place + number }
    }
}

/// The normal force as it depends on parameters.
pub(super) fn normal_force<T: Real>(
    spring: &Spring<T>,
    pressed: &Pressed<T>,
    law: &Law<Varied<T>>,
) -> Varied<T> {
    let elastic_force = law.stiffness * Dual::of(spring.volume);
    elastic_force * law.contact.normal_factor(Dual::of(pressed.depth_rate))
}

fn add_rubbing<T: Real>(
    spring: &Spring<T>,
    pressed: &Pressed<T>,
    law: &Law<Varied<T>>,
    sums: &mut [SpatialForce<T>; NUMBERS],
) {
    let normal_force = normal_force(spring, pressed, law);
    let viscosity = normal_force * law.contact.friction_factor(Dual::of(pressed.slip.norm_squared()));
    for (i, sum) in sums.iter_mut().enumerate() {
        let change = spring.normal * normal_force.slopes[i] - pressed.slip * viscosity.slopes[i];
        let along = twist(&spring.point, &change);
        *sum += SpatialForce::new(along.fixed_rows::<3>(0).into(), change);
    }
}
