//! The stiffness and damping of the foundation, from which a host chooses its step.

use nalgebra::ComplexField;

use super::law::Law;
use crate::elements::elastic_foundation::ElasticFoundation;
use crate::framework::{AtDynamics, Stiffnesses};
use crate::math::Real;
use crate::mechanics::BodyIndex;

impl<T: Real> ElasticFoundation<T> {
    /// Reports each displaced spring: `k a`, the damping `c·f`, and friction as a damper with its slope at rest,
    /// `((2μ_s − μ_d)/v_t + μ_v)·f`, or with anchors the tangential springs. If bodies may meet, it also reports, for
    /// each mesh and each surface that the mesh may meet, the remaining springs that can be displaced at once.
    pub(super) fn report_springs(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        for contact in self.contacts(at) {
            let law = &contact.law;
            let bodies = [contact.mesh.body, contact.other.body];
            let range = contact.found.springs.clone();
            let springs = at.position.springs[range.clone()].iter().zip(&at.dynamics.springs[range]);
            for (spring, force) in springs {
                let at_rest = law.material.stiffness * spring.area;
                let pressed = force.normal_force / spring.depth;
                let stiffness = if pressed > at_rest { pressed } else { at_rest };
                let damping = law.contact.damping(law.material.elastic_force([spring.area, spring.depth]));
                let ends = bodies.map(|body| (body, spring.point_G));
                let mut load = force.normal_force.to_f64();
                let counted = if self.has_anchors {
                    let (p_G, area) = contact.base_and_area(spring.index, &spring.point_G, &spring.normal_G);
                    let [grip, damper] = law.grip(area);
                    let viscosity = damper + law.contact.viscous_friction * force.normal_force.max(T::zero());
                    let bases = bodies.map(|body| (body, p_G));
                    stiffnesses.between(grip.to_f64(), viscosity.to_f64(), bases);
                    load += force.friction_force_G.norm().to_f64();
                    0.0
                } else {
                    let friction = law.contact.friction_damping(load, stiffnesses);
                    stiffnesses.between(0.0, friction, ends);
                    friction
                };
                let normal_G = spring.normal_G.map(T::to_f64);
                stiffnesses.in_direction(stiffness.to_f64(), damping.to_f64() - counted, normal_G, ends);
                stiffnesses.load(load, 0.0, ends);
            }
        }
        if stiffnesses.impact_speed() > 0.0 {
            for mesh in 0..self.surfaces.len() {
                for other in 0..self.surfaces.len() {
                    self.report_meeting(mesh, other, at, stiffnesses);
                }
            }
        }
    }

    /// Reports springs of a mesh that another surface may displace, as if all were at the mesh's largest distance from
    /// the mass centers.
    fn report_meeting(
        &self,
        mesh: usize,
        other: usize,
        at: &AtDynamics<'_, T, Self>,
        stiffnesses: &mut Stiffnesses<'_, T>,
    ) {
        let (placed, met) = (&self.surfaces[mesh], &self.surfaces[other]);
        let Some(springs) = &placed.springs else { return };
        let Some((share, material)) = self.acting([mesh, other], at.parameters) else { return };
        if placed.body == met.body {
            return;
        }
        // Half of the area of a point-symmetric mesh faces the other surface; for others, such as a cone, it may be
        // more.
        let area = springs.areas().fold(T::zero(), |sum, area| sum + area);
        let share = share.to_f64() * if springs.is_closed() { 0.5 } else { 1.0 };
        let law = Law::new(material, at.parameters.transition_velocity).contact;
        let all = share * area.to_f64();
        let displaced =
            at.position.contacts.iter().filter(|contact| (contact.mesh, contact.other) == (mesh, other));
        let present = displaced.fold(T::zero(), |sum, contact| {
            at.position.springs[contact.springs.clone()].iter().fold(sum, |sum, spring| sum + spring.area)
        });
        let free = (all - present.to_f64()).max(0.0);
        let stiffness = free * material.stiffness.to_f64();
        let X_GS = &at.position.X_GS[mesh];
        let bodies: [BodyIndex; 2] = [placed.body, met.body];
        let farthest = bodies.map(|body| {
            let points = springs.used_vertices().map(|p_S| X_GS * p_S);
            points.max_by(|a, b| stiffnesses.lever(body, a).total_cmp(&stiffnesses.lever(body, b)))
        });
        let [Some(p), Some(q)] = farthest else { return };
        let ends = [(bodies[0], p), (bodies[1], q)];
        // At this impact speed the springs are loaded by v·√(k·m), where m is at most the whole mass.
        let speed = stiffnesses.impact_speed();
        let mass = bodies.map(|body| stiffnesses.mass(body)).into_iter().fold(f64::INFINITY, f64::min);
        let load = if mass.is_finite() { speed * ComplexField::sqrt(stiffness * mass) } else { 0.0 };
        let pressed = load * (1.0 + law.damping(T::one()).to_f64() * speed);
        let counted = if self.has_anchors {
            let viscous = law.viscous_friction.to_f64() * pressed;
            let viscosity = material.tangential_viscosity.to_f64() * free + viscous;
            stiffnesses.between(material.tangential_stiffness.to_f64() * free, viscosity, ends);
            0.0
        } else {
            let friction = law.friction_damping(pressed, stiffnesses);
            stiffnesses.between(0.0, friction, ends);
            friction
        };
        let damping = load * law.damping(T::one()).to_f64();
        stiffnesses.between(stiffness, damping - counted, ends);
    }
}
