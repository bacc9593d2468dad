//! The springs of one contact, with the derivatives of their loads.

use alloc::vec::Vec;
use core::cell::Cell;

use nalgebra::{Matrix3, Point3, Vector3, Vector6};

use crate::elements::elastic_foundation::law::Law;
use crate::elements::elastic_foundation::{ElasticFoundation, Material, MeshContact};
use crate::framework::variables::Numbers as _;
use crate::framework::{AtDynamics, Blocks, End};
use crate::math::{Dual, Number, Pose, Real, SpatialVelocity};
use crate::mechanics::BodyIndex;
use crate::shapes::{
    LoadedFace, LoadedVertex, MeshPart, Solid, SolidShape, SurfacePoint, TriangleMesh, moments_of_depth,
};

/// A contact, seen from the other surface: the mesh moves by a rotation and a translation of its origin, in Ground.
///
/// Rows and columns of six are angular, then linear.
pub(super) struct Contact<'a, T: Real> {
    /// The bodies of the other surface, which is the observer, and of the mesh.
    pub(super) bodies: [BodyIndex; 2],
    pub(super) material: &'a Material<T>,
    pub(super) transition_velocity: T,
    pub(super) law: Law<T>,
    /// The same over the numbers of the law of friction with an anchor.
    pub(super) constant_law: Law<Dual<T, 4>>,
    /// The mesh and the other surface.
    pub(super) surfaces: [usize; 2],
    pub(super) first_spring: usize,
    springs: &'a TriangleMesh<T>,
    other: &'a SolidShape<T>,
    pub(super) X_GM: &'a Pose<T>,
    pub(super) X_GO: &'a Pose<T>,
    /// The velocity of the mesh relative to the other surface at the mesh's origin, in Ground.
    pub(super) V: SpatialVelocity<T>,
    /// The share of their areas with which springs act.
    share: T,
    vertex_areas: &'a [T],
    found: &'a MeshContact,
    /// Whether the other surface has provided the derivatives of its normal at every spring.
    are_known: Cell<bool>,
}

/// Workspace of the derivatives: for each vertex of clipped faces the derivatives of its volume by motion; and the keys
/// of the next anchors, sorted.
pub(super) type Memory<T> = (Vec<T>, Vec<(f64, f64)>);

/// One spring of a contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spring<T: Real> {
    /// As numbered by the mesh.
    pub(super) index: usize,
    pub(super) normal: Vector3<T>,
    /// From the mesh's origin to the base of the spring, and to the contact point, in Ground.
    pub(super) base: Vector3<T>,
    pub(super) point: Vector3<T>,
    /// The depth of the base.
    pub(super) depth: T,
    /// The derivatives of the normal by a shift of the base; `None` if they are zero.
    pub(super) gradient: Option<Matrix3<T>>,
    /// Two factors of the elastic force per stiffness \[m³\].
    pub(super) volume: [T; 2],
    /// The derivatives of their product by a shift of the base along the normal, and the remaining ones by the motion
    /// of the mesh.
    pub(super) by_depth: T,
    pub(super) by_turn: Option<Vector6<T>>,
    /// The whole area of a spring with an anchor.
    pub(super) area: T,
    /// The rate of the depth, and the slip velocity of the contact point.
    pub(super) depth_rate: T,
    pub(super) slip: Vector3<T>,
    pub(super) normal_force: T,
    /// The ratio of the normal to the elastic force.
    pub(super) factor: T,
    /// The derivative of the normal force by the depth's rate.
    pub(super) damping: T,
}

impl<T: Real> ElasticFoundation<T> {
    /// Calls `visit` with each contact; returns `false` if the derivatives of a surface are not known. What has been
    /// written is then invalid.
    pub(super) fn for_each_contact(
        &self,
        at: &AtDynamics<'_, T, Self>,
        mut visit: impl FnMut(&Contact<'_, T>),
    ) -> bool {
        let position = at.position;
        for contact in &position.contacts {
            let [mesh, other] = [contact.mesh, contact.other].map(|surface| &self.surfaces[surface]);
            let Some((springs, share)) = self.bed(contact, at.parameters) else { continue };
            let Some(material) = at.parameters.material(contact.mesh) else { continue };
            let [X_GM, X_GO] = [contact.mesh, contact.other].map(|surface| &position.X_GS[surface]);
            let p_GS = X_GM.translation.vector;
            let [V_mesh, V_other] = [contact.mesh, contact.other]
                .map(|surface| self.velocity_at(surface, p_GS, at, at.velocities));
            let transition_velocity = at.parameters.transition_velocity;
            let contact = Contact {
                bodies: [other.body, mesh.body],
                material,
                transition_velocity,
                law: Law::new(material, transition_velocity),
                constant_law: Law::new(&material.lift(&mut Dual::of), Dual::of(transition_velocity)),
                surfaces: [contact.mesh, contact.other],
                first_spring: mesh.first_spring,
                springs,
                other: &other.shape,
                X_GM,
                X_GO,
                V: V_mesh - V_other,
                share,
                vertex_areas: &mesh.vertex_areas,
                found: contact,
                are_known: Cell::new(true),
            };
            visit(&contact);
            if !contact.are_known.get() {
                return false;
            }
        }
        true
    }

    /// Requests finite differences by all bodies with a surface.
    pub(super) fn ask_for_differences(&self, blocks: &mut Blocks<'_, T>) {
        blocks.differences_of(self.surfaces.iter().map(|placed| End::Body(placed.body)));
    }
}

impl<T: Real> Contact<'_, T> {
    /// Calls `visit` with each spring, in the order of the results unless faces are clipped. `memory` is used for
    /// clipped faces.
    pub(super) fn for_each_spring(
        &self,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        memory: &mut Vec<T>,
        mut visit: impl FnMut(&Spring<T>),
    ) {
        if self.found.is_clipped() {
            self.for_each_vertex(at, memory, visit);
            return;
        }
        let parts = &at.position.parts[self.found.parts.clone()];
        for (i, found) in at.position.springs[self.found.springs.clone()].iter().enumerate() {
            let area = self.springs.area(found.index) * self.share;
            let place = (&found.point_G, found.normal_G, found.depth);
            let spring = self.spring(found.index, place, parts.get(i).copied(), [found.area, found.depth]);
            visit(&Spring { by_depth: -found.area, area, ..spring });
        }
    }

    /// A spring without the derivatives of its volume.
    #[inline]
    fn spring(
        &self,
        index: usize,
        (point_G, normal, depth): (&Point3<T>, Vector3<T>, T),
        part: Option<MeshPart>,
        volume: [T; 2],
    ) -> Spring<T> {
        let point = point_G.coords - self.X_GM.translation.vector;
        let velocity = self.V.linear + self.V.angular.cross(&point);
        let depth_rate = -velocity.dot(&normal);
        let elastic_force = self.material.elastic_force(volume);
        let (normal_force, factor) = self.law.press(elastic_force, depth_rate);
        let pushes = factor > T::zero();
        Spring {
            index,
            normal,
            base: point - normal * depth,
            point,
            depth,
            gradient: self.gradient(part, &point, &normal, depth),
            volume,
            by_depth: T::zero(),
            by_turn: None,
            area: T::zero(),
            depth_rate,
            slip: velocity + normal * depth_rate,
            normal_force,
            factor,
            damping: if pushes { self.law.contact.damping(elastic_force) } else { T::zero() },
        }
    }

    /// The springs of clipped faces.
    fn for_each_vertex(
        &self,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        memory: &mut Vec<T>,
        mut visit: impl FnMut(&Spring<T>),
    ) {
        let vertices = &at.position.vertices;
        let first = self.found.vertices.start;
        let visited = &vertices.visited()[self.found.vertices.clone()];
        let p_GS = self.X_GM.translation.vector;
        memory.clear();
        memory.resize(visited.len() * 6, T::zero());
        let base_of = |at: &LoadedVertex<T>| at.point_G.coords - at.normal_G * at.depth - p_GS;
        for LoadedFace { face, corners } in &vertices.faces()[self.found.faces.clone()] {
            let places = corners.map(|place| place as usize - first);
            let corners = places.map(|place| &visited[place]);
            let Some(moments) = moments_of_depth(corners.map(|corner| corner.depth)) else { continue };
            let face = *face as usize;
            let area = self.springs.area(face) * self.share;
            let bases = corners.map(base_of);
            let depths = [0, 1, 2].map(|k| twist(&bases[k], &-corners[k].normal_G));
            for (k, &place) in places.iter().enumerate() {
                let [a, b, c] = moments[k].slopes;
                let change = depths[0] * a + depths[1] * b + depths[2] * c;
                for (sum, change) in memory[6 * place..6 * place + 6].iter_mut().zip(change.iter()) {
                    *sum += *change * area;
                }
            }
        }
        for (vertex, by_motion) in visited.iter().zip(memory.chunks_exact(6)) {
            if vertex.volume == T::zero() {
                continue;
            }
            let index = vertex.vertex as usize;
            let area = self.vertex_areas.get(index).map_or_else(T::zero, |&area| area * self.share);
            let place = (&vertex.point_G, vertex.normal_G, vertex.depth);
            let spring = self.spring(index, place, None, [vertex.volume, self.share]);
            visit(&Spring { by_turn: Some(Vector6::from_column_slice(by_motion)), area, ..spring });
        }
    }

    /// The derivatives of the normal by a shift of the base, in Ground.
    #[inline]
    fn gradient(
        &self,
        part: Option<MeshPart>,
        point: &Vector3<T>,
        normal: &Vector3<T>,
        depth: T,
    ) -> Option<Matrix3<T>> {
        let R_GO = self.X_GO.rotation.matrix();
        let in_O = match self.other {
            SolidShape::HalfSpace(_) => return None,
            SolidShape::Mesh(mesh) => mesh.normal_gradient_on(part?, &R_GO.tr_mul(normal), -depth)?,
            shape => {
                let point_G = self.X_GM.translation.vector + point;
                let near = SurfacePoint {
                    point: self.X_GO.inverse_transform_point(&point_G.into()),
                    normal: R_GO.tr_mul(normal),
                    signed_distance: -depth,
                };
                let gradient = shape.normal_gradient(&near);
                self.are_known.set(self.are_known.get() && gradient.is_some());
                gradient?
            }
        };
        Some(R_GO * in_O * R_GO.transpose())
    }
}

/// The derivatives by motion of a number with this derivative by a shift of a base.
#[inline]
pub(super) fn twist<T: Real>(base: &Vector3<T>, by_shift: &Vector3<T>) -> Vector6<T> {
    let by_turn = base.cross(by_shift);
    Vector6::new(by_turn.x, by_turn.y, by_turn.z, by_shift.x, by_shift.y, by_shift.z)
}
