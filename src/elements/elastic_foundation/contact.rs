//! A contact of a mesh with another surface: the motion and the forces of its springs.

use alloc::vec::Vec;

use nalgebra::{Point3, Vector3};

use super::law::{Friction, Law};
use crate::elements::elastic_foundation::{
    Anchor, Anchors, Dynamics, ElasticFoundation, MeshContact, Parameters, Placed, Resultant, SpringForce,
    SpringVelocity,
};
use crate::elements::meshes::across_and_along;
use crate::framework::{AtPosition, AtVelocity, ElementError, ElementResult};
use crate::math::{Pose, Real, SpatialForce, SpatialVelocity, is_finite};
use crate::mechanics::{BodyIndex, Checked, Positions, Velocities};
use crate::shapes::{Displaced, TriangleMesh};

/// A contact, relative to the other surface. Everything is expressed in Ground.
pub(super) struct Contact<'a, T: Real> {
    pub(super) found: &'a MeshContact,
    pub(super) mesh: &'a Placed<T>,
    pub(super) other: &'a Placed<T>,
    /// The mesh whose faces or vertices have the springs.
    pub(super) springs: &'a TriangleMesh<T>,
    /// The share of its area with which each spring acts.
    pub(super) share: T,
    pub(super) has_anchors: bool,
    pub(super) parameters: &'a Parameters<T>,
    pub(super) law: Law<T>,
    pub(super) X_GM: &'a Pose<T>,
    pub(super) X_GO: &'a Pose<T>,
    positions: &'a Positions<T>,
    velocities: &'a Velocities<T>,
}

impl<T: Real> ElasticFoundation<T> {
    /// The contacts, in the order of the results.
    pub(super) fn contacts<'a>(
        &'a self,
        at: &'a AtPosition<'_, T, Self>,
    ) -> impl Iterator<Item = Contact<'a, T>> {
        at.position.contacts.iter().filter_map(move |found| {
            let surfaces = [found.mesh, found.other];
            let [mesh, other] = surfaces.map(|surface| &self.surfaces[surface]);
            let [X_GM, X_GO] = surfaces.map(|surface| &at.position.X_GS[surface]);
            let refined = mesh.refined.as_deref().filter(|_| at.parameters.clipped && !found.is_clipped());
            let (share, material) = self.acting(surfaces, at.parameters)?;
            Some(Contact {
                found,
                mesh,
                other,
                springs: refined.or(mesh.springs.as_deref())?,
                share,
                has_anchors: self.has_anchors,
                parameters: at.parameters,
                law: Law::new(material, at.parameters.transition_velocity),
                X_GM,
                X_GO,
                positions: at.positions,
                velocities: at.velocities,
            })
        })
    }
}

impl<T: Real> Contact<'_, T> {
    /// The bodies of the other surface, which is the observer, and of the mesh.
    pub(super) fn bodies(&self) -> [BodyIndex; 2] {
        [self.other.body, self.mesh.body]
    }

    /// The mesh's origin.
    #[inline]
    pub(super) fn origin(&self) -> Point3<T> {
        self.X_GM.translation.vector.into()
    }

    /// The number of a spring among those of all surfaces.
    #[inline]
    pub(super) fn id(&self, index: usize) -> usize {
        self.mesh.first_spring + index
    }

    /// The velocity of the mesh at its origin.
    pub(super) fn velocity(&self) -> SpatialVelocity<T> {
        let velocity = |on: &Placed<T>| {
            self.velocities.velocity_of_frame(self.positions, Checked(on.body), &self.origin())
        };
        velocity(self.mesh) - velocity(self.other)
    }

    /// The rate of the depth at a point of a mesh with this velocity, and the slip velocity there.
    #[inline]
    pub(super) fn motion(
        &self,
        V: &SpatialVelocity<T>,
        point_G: &Point3<T>,
        normal_G: &Vector3<T>,
    ) -> (T, Vector3<T>) {
        let velocity = V.linear + V.angular.cross(&(point_G - self.origin()));
        across_and_along(&velocity, normal_G)
    }

    /// The base of a spring, from a point of the other surface and its normal there; and its whole area, which is known
    /// at a vertex if there are anchors.
    #[inline]
    pub(super) fn base_and_area(
        &self,
        index: usize,
        point_G: &Point3<T>,
        normal_G: &Vector3<T>,
    ) -> (Point3<T>, T) {
        if self.found.is_clipped() {
            let base_G = self.X_GM * self.springs.vertex(index);
            let is_above = (base_G - point_G).dot(normal_G) > T::zero();
            let normal = self.X_GM.inverse_transform_vector(normal_G);
            (base_G, self.mesh.vertex_area(index, &normal, is_above) * self.share)
        } else {
            (self.X_GM * self.springs.centroid(index), self.springs.area(index) * self.share)
        }
    }

    /// The anchor of a spring, in the frame of the other surface.
    #[inline]
    pub(super) fn anchor(&self, index: usize, anchors: &Anchors<T>) -> Option<Point3<T>> {
        anchors.of(self.id(index), self.found.other)
    }

    /// Adds the forces of the springs. Returns their resultant.
    pub(super) fn add_springs(
        &self,
        at: &AtVelocity<'_, T, ElasticFoundation<T>>,
        cache: &mut Dynamics<T>,
    ) -> ElementResult<Resultant<T>> {
        let Dynamics { springs, next_anchors, friction_energy, held_energy, power_dissipated, .. } = cache;
        if !self.has_anchors {
            return self.sum(at, (springs, power_dissipated), |_, velocity, normal_force| {
                let (force_G, lost) = self.law.contact.friction(normal_force, &velocity.slip_G);
                (force_G, None, lost)
            });
        }
        let (V, half) = (self.velocity(), T::lit(0.5));
        self.sum(at, (springs, power_dissipated), |spring, _, normal_force| {
            let normal = spring.normal_G;
            let (p_G, area) = self.base_and_area(spring.index, &spring.point_G, &normal);
            let (_, slip) = self.motion(&V, &p_G, &normal);
            let slip_squared = slip.norm_squared();

            let anchor = self.anchor(spring.index, at.discrete);
            let from_anchor = anchor.map_or_else(Vector3::zeros, |anchor| p_G - self.X_GO * anchor);
            let stretch = from_anchor - normal * normal.dot(&from_anchor);
            let squares = [stretch.norm_squared(), stretch.dot(&slip), slip_squared];
            let Friction { elastic, damping, viscous, slips } =
                self.law.friction(Some(area), squares, normal_force);
            let (elastic, damping, [grip, _]) = (stretch * elastic, slip * damping, self.law.grip(area));

            let grips = grip > T::zero();
            let dragged = || {
                let unstretched = if grips { p_G + elastic / grip } else { p_G };
                self.X_GO.inverse_transform_point(&unstretched)
            };
            let next = anchor.filter(|_| grips && !slips).unwrap_or_else(dragged);
            next_anchors.push(Anchor::new(self.id(spring.index), self.found.other, next));
            if grips {
                *friction_energy += elastic.norm_squared() / grip * half;
                *held_energy += stretch.norm_squared() * grip * half;
            }
            let lost = viscous * slip_squared - damping.dot(&slip);
            (elastic + damping - slip * viscous, Some(p_G - self.origin()), lost)
        })
    }

    /// Sums the forces of the springs. For each it takes the friction by its normal force: the force, the arm from the
    /// mesh's origin to the point where it acts unless that is the contact point, and the power dissipated.
    #[inline]
    fn sum(
        &self,
        at: &AtVelocity<'_, T, ElasticFoundation<T>>,
        (forces, power_dissipated): (&mut Vec<SpringForce<T>>, &mut T),
        mut friction: impl FnMut(&Displaced<T>, &SpringVelocity<T>, T) -> (Vector3<T>, Option<Vector3<T>>, T),
    ) -> ElementResult<Resultant<T>> {
        let mut sums = Resultant {
            F_GS: SpatialForce::zero(),
            normal_force: T::zero(),
            area: T::zero(),
            center_of_pressure_G: None,
        };
        // The moment of the contact points about the mesh's origin, weighted by normal force.
        let (mut moment, mut lost) = (Vector3::zeros(), T::zero());
        let (law, p_GM, stiffness) = (self.law, self.origin(), self.law.material.stiffness);
        let range = self.found.springs.clone();
        let springs = at.position.springs[range.clone()].iter().zip(&at.velocity[range]);
        forces.extend(springs.map(|(spring, velocity)| {
            let elastic_force = law.material.elastic_force([spring.area, spring.depth]);
            let (normal_force, factor) = law.press(elastic_force, velocity.depth_rate);
            let (friction_force_G, arm_G, rubbing_power) = friction(spring, velocity, normal_force);

            let r_G = spring.point_G - p_GM;
            let push_G = spring.normal_G * normal_force;
            let force_G = push_G + friction_force_G;
            let torque = match arm_G {
                None => r_G.cross(&force_G),
                Some(arm_G) => r_G.cross(&push_G) + arm_G.cross(&friction_force_G),
            };
            sums.F_GS += SpatialForce::new(torque, force_G);
            sums.normal_force += normal_force;
            sums.area += spring.area;
            moment += r_G * normal_force;
            lost += (normal_force - elastic_force) * velocity.depth_rate + rubbing_power;
            let pressure = stiffness * spring.depth * factor;
            SpringForce { normal_force, pressure, friction_force_G }
        }));
        // Sums are not finite if any term is not.
        let are_finite = [sums.normal_force, sums.area, lost].iter().all(T::is_finite);
        if !(are_finite && sums.F_GS.is_finite() && is_finite(&moment)) {
            return Err(ElementError::NonFiniteForce);
        }
        if sums.normal_force > T::zero() {
            sums.center_of_pressure_G = Some(p_GM + moment / sums.normal_force);
        }
        *power_dissipated += lost;
        Ok(sums)
    }
}
