//! Evaluation of the foundation: displaced springs, their motion and forces.

use alloc::vec::Vec;

use crate::contact::BoundingBox;
use crate::elements::Refusal;
use crate::elements::elastic_foundation::linearize::{NUMBERS, WITH_ANCHOR};
use crate::elements::elastic_foundation::{
    Anchors, Dynamics, ElasticFoundation, MeshContact, Parameters, Position, SpringForce, SpringVelocity,
};
use crate::framework::{
    AtDynamics, AtPosition, AtVelocity, Blocks, ElementError, ElementResult, ForceElement, Given, Meaning,
    Pen, Stiffnesses,
};
use crate::math::{Real, is_finite_pose};
use crate::mechanics::{Checked, ForceAccumulator, KinematicsError, Quantity, Topology, Velocities};
use crate::shapes::{Displaced, SolidShape};

impl<T: Real> ElasticFoundation<T> {
    /// Finds the springs of one mesh displaced by another surface.
    fn find_contact(&self, mesh: usize, other: usize, parameters: &Parameters<T>, cache: &mut Position<T>) {
        let [placed, met] = [mesh, other].map(|i| &self.surfaces[i]);
        let Some(springs) = &placed.springs else { return };
        let Some((share, material)) = self.acting([mesh, other], parameters) else { return };
        let Position { X_GS, contacts, springs: found, potential_energy, vertices, .. } = cache;
        let [first_vertex, first_face] = vertices.lengths();
        let first = found.len();
        let mut work = T::zero();
        let (X_GM, X_GO) = (&X_GS[mesh], &X_GS[other]);
        let shape = &met.shape;
        // With centroids, a cube of 0.2 m with 192 faces sinks 11.8 mm on an edge and 19.2 to 28.9 mm on a corner before
        // there is any force. Neither option corrects for the parts of a round body that a mesh cuts off. On a ball of
        // 8192 faces the force by centroids is, depending on its attitude, 0.57 to 0.97 of that with clipped faces at a
        // depth of 0.002 of its radius, and 0.97 to 0.99 at 0.02. In a wide contact with a ball the errors of centroids
        // cancel: for a plate of right triangles, 0.1 m deep in a ball of 1 m, the force is 13 %, 3.5 %, 0.9 % and 0.2 %
        // too small with clipped faces and shorter edges of 0.2, 0.1, 0.05 and 0.025 m, and 1.4 %, 0.2 %, 0.06 % and
        // 0.006 % too small with centroids.
        if parameters.clipped && !matches!(shape, SolidShape::Mesh(_)) {
            // The gradient of the energy k/2 ∫ x² dA to roundoff, in any shape.
            springs.for_each_loaded(X_GM, shape, X_GO, vertices, |loaded, volume| {
                work += material.elastic_force([volume, share]) * loaded.depth;
                found.push(Displaced { depth: volume / loaded.area, area: loaded.area * share, ..*loaded });
            });
        } else {
            let refined = placed.refined.as_ref().filter(|_| parameters.clipped);
            let springs = refined.unwrap_or(springs);
            springs.for_each_inside(X_GM, shape, X_GO, |mut displaced| {
                displaced.area *= share;
                let Displaced { area, depth, .. } = displaced;
                work += material.elastic_force([area, depth]) * depth;
                found.push(displaced);
            });
        }
        if found.len() > first {
            *potential_energy += work * T::lit(0.5);
            let [end_of_vertices, end_of_faces] = vertices.lengths();
            contacts.push(MeshContact {
                mesh,
                other,
                springs: first..found.len(),
                vertices: first_vertex..end_of_vertices,
                faces: first_face..end_of_faces,
            });
        }
    }

    /// Whether springs of one surface act against the other.
    pub(super) fn may_touch(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.surfaces[i], &self.surfaces[j]);
        a.body != b.body && (a.springs.is_some() || b.springs.is_some())
    }
}

impl<T: Real> ForceElement<T> for ElasticFoundation<T> {
    const KIND: &'static str = "elastic_foundation";
    type Parameters = Parameters<T>;
    type Discrete = Anchors<T>;
    type Continuous = ();
    type Position = Position<T>;
    /// The velocities of the springs, in the order of [`Position::springs`].
    type Velocity = Vec<SpringVelocity<T>>;
    type Dynamics = Dynamics<T>;

    fn check_topology(&self, topology: &Topology) -> ElementResult {
        self.surfaces.iter().try_for_each(|placed| topology.check_body(placed.body))?;
        let mut materials = self.defaults.materials.iter().flatten();
        materials.try_for_each(|material| material.check_acts(self.has_anchors))?;
        let can_meet = self
            .surfaces
            .iter()
            .any(|a| a.springs.is_some() && self.surfaces.iter().any(|b| b.body != a.body));
        if can_meet { Ok(()) } else { Err(ElementError::own(Refusal::NoContactPossible)) }
    }

    fn default_parameters(&self) -> Self::Parameters {
        self.defaults.clone()
    }

    fn default_discrete(&self) -> Anchors<T> {
        Anchors::with_room(if self.has_anchors { self.room } else { 0 })
    }

    fn calc_position(&self, given: &Given<'_, T, Self>, cache: &mut Self::Position) -> ElementResult {
        cache.contacts.clear();
        cache.contacts.reserve_exact(self.contact_room());
        cache.springs.clear();
        cache.springs.reserve_exact(self.room);
        if given.parameters.clipped {
            cache.vertices.reserve(self.most_vertices);
            cache.vertices.clear(self.room, self.room);
        } else {
            cache.vertices.clear(0, 0);
        }
        cache.potential_energy = T::zero();
        cache.X_GS.clear();
        cache.X_GS.extend(
            self.surfaces.iter().map(|placed| given.positions.pose(Checked(placed.body)) * placed.X_BS),
        );
        // The product of finite poses may overflow, and no point would then be inside a surface.
        if let Some(i) = cache.X_GS.iter().position(|X_GS| !is_finite_pose(X_GS)) {
            return Err(KinematicsError::NonFinite { quantity: Quantity::Pose(self.surfaces[i].body) }.into());
        }
        // Takes the search out of the cache while contacts are written to the remainder of the cache.
        let mut search = core::mem::take(&mut cache.search);
        search.boxes.clear();
        let boxes = self.surfaces.iter().zip(&cache.X_GS);
        search.boxes.extend(boxes.map(|(placed, X_GS)| BoundingBox::around(placed.bounds, X_GS)));
        let pairs = search.find(|i, j| self.may_touch(i, j));
        for pair in pairs {
            let [i, j] = pair.map(|k| k as usize);
            self.find_contact(i, j, given.parameters, cache);
            self.find_contact(j, i, given.parameters, cache);
        }
        cache.search = search;
        Ok(())
    }

    fn calc_velocity(&self, at: &AtPosition<'_, T, Self>, cache: &mut Self::Velocity) -> ElementResult {
        cache.clear();
        cache.reserve_exact(self.room);
        for contact in self.contacts(at) {
            let V = contact.velocity();
            cache.extend(at.position.springs[contact.found.springs.clone()].iter().map(|spring| {
                let (depth_rate, slip_G) = contact.motion(&V, &spring.point_G, &spring.normal_G);
                SpringVelocity { depth_rate, slip_G }
            }));
        }
        Ok(())
    }

    fn calc_dynamics(&self, at: &AtVelocity<'_, T, Self>, cache: &mut Self::Dynamics) -> ElementResult {
        cache.springs.clear();
        cache.springs.reserve_exact(self.room);
        cache.next_anchors.clear();
        (cache.friction_energy, cache.held_energy) = (T::zero(), T::zero());
        if self.has_anchors {
            cache.next_anchors.reserve_exact(self.room);
        }
        cache.resultants.clear();
        cache.resultants.reserve_exact(self.contact_room());
        (cache.normal_force, cache.area, cache.power_dissipated) = (T::zero(), T::zero(), T::zero());
        for contact in self.contacts(at) {
            let resultant = contact.add_springs(at, cache)?;
            cache.normal_force += resultant.normal_force;
            cache.area += resultant.area;
            cache.resultants.push(resultant);
        }
        match cache.next_anchors.len() {
            springs if springs > self.room => {
                Err(ElementError::own(Refusal::TooManySprings { springs, room: self.room }))
            }
            _ => Ok(()),
        }
    }

    fn add_forces(&self, at: &AtDynamics<'_, T, Self>, forces: &mut ForceAccumulator<'_, T>) {
        for (contact, resultant) in at.position.contacts.iter().zip(&at.dynamics.resultants) {
            let p_GS = at.position.X_GS[contact.mesh].translation.vector.into();
            for (surface, F_GS) in [(contact.mesh, resultant.F_GS), (contact.other, -resultant.F_GS)] {
                let body = self.surfaces[surface].body;
                forces.apply_to_frame(Checked(body), &p_GS, F_GS);
            }
        }
    }

    fn draw(&self, at: &AtDynamics<'_, T, Self>, pen: &mut Pen<'_>) {
        for (contact, resultant) in self.contacts(at).zip(&at.dynamics.resultants) {
            let range = contact.found.springs.clone();
            let springs = at.position.springs[range.clone()].iter().zip(&at.dynamics.springs[range]);
            for (spring, SpringForce { pressure, .. }) in springs {
                if contact.found.is_clipped() {
                    pen.point(Meaning::Face, *pressure, &spring.base_G());
                } else {
                    let corners = contact.springs.corners(spring.index).map(|corner| contact.X_GM * corner);
                    pen.face(Meaning::Face, *pressure, &corners);
                }
                if let Some(anchor) = contact.anchor(spring.index, at.discrete) {
                    let anchor_G = contact.X_GO * anchor;
                    let (base_G, _) = contact.base_and_area(spring.index, &spring.point_G, &spring.normal_G);
                    pen.line(Meaning::Anchor, (anchor_G - base_G).norm(), &anchor_G, &base_G);
                }
            }
            if let Some(center_G) = resultant.center_of_pressure_G {
                let F_GC = resultant.F_GS.shifted(center_G - contact.origin());
                for (body, F_GC) in [(contact.mesh.body, F_GC), (contact.other.body, -F_GC)] {
                    pen.force(body, &center_G, &F_GC.force);
                    pen.torque(body, &center_G, &F_GC.torque);
                }
            }
        }
    }

    fn passing_time(&self, at: &AtDynamics<'_, T, Self>, within: f64) -> f64 {
        self.shortest_passing_time(at, within)
    }

    fn report_gaps(&self, at: &AtDynamics<'_, T, Self>, report: &mut dyn FnMut([T; 2])) {
        self.report_gaps_to_half_spaces(at, report);
    }

    fn report_stiffness(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        self.report_springs(at, stiffnesses);
    }

    fn linearize(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_with(blocks, |blocks, memory| self.try_linearize(at, blocks, memory));
    }

    fn linearize_variables(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        self.linearize_with(blocks, |blocks, memory| {
            if self.has_anchors {
                self.try_linearize_variables::<WITH_ANCHOR>(at, blocks, memory)
            } else {
                self.try_linearize_variables::<NUMBERS>(at, blocks, memory)
            }
        });
    }

    fn linearize_commit(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        if self.has_anchors {
            self.linearize_with(blocks, |blocks, memory| self.try_linearize_commit(at, blocks, memory));
        }
    }

    fn potential_energy(&self, at: &AtDynamics<'_, T, Self>) -> T {
        at.position.potential_energy + at.dynamics.friction_energy
    }

    fn friction_energy(&self, at: &AtDynamics<'_, T, Self>) -> [T; 2] {
        [at.dynamics.friction_energy, at.dynamics.held_energy]
    }

    fn is_path_dependent(&self) -> bool {
        self.has_anchors
    }

    fn accept_step(&self, at: &AtDynamics<'_, T, Self>, next: &mut Self::Discrete) -> ElementResult {
        next.replace(&at.dynamics.next_anchors);
        Ok(())
    }

    fn reset_memory(
        &self,
        _: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> ElementResult {
        next.clear();
        Ok(())
    }

    /// Springs are on faces or at vertices. Anchors of springs on faces do not hold springs at vertices, and vice versa.
    fn follow_parameters(
        &self,
        before: Option<&Self::Parameters>,
        given: &Given<'_, T, Self>,
        _: &Velocities<T>,
        next: &mut Self::Discrete,
    ) -> bool {
        let is_moved = before.is_some_and(|before| before.clipped != given.parameters.clipped);
        if is_moved {
            next.clear();
        }
        is_moved
    }
}
