//! The springs of one contact, and their forces over numbers with derivatives.

use alloc::vec::Vec;
use core::cell::Cell;

use nalgebra::{Matrix3, Point3, Vector3, Vector6};

use crate::elements::elastic_foundation::law::{Law, Load};
use crate::elements::elastic_foundation::{Anchors, ElasticFoundation, Material, MeshContact};
use crate::elements::laws::Touch;
use crate::elements::meshes::{ELASTIC, Sums, across_and_along, normal_gradient, twist};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Blocks, End, varied};
use crate::math::{Algebraic, Dual, Number, Pose, Real, SpatialVelocity, dot, rotated};
use crate::mechanics::BodyIndex;
use crate::shapes::{
    LoadedFace, LoadedVertex, MeshPart, SolidShape, SurfacePoint, TriangleMesh, moments_of_depth,
};

/// The directions of [`MOTION`] in which the force of a spring without an anchor varies where the normal does not turn.
pub(super) const LEVEL: usize = ELASTIC + 1;

/// The number of variables in the law of a mesh: the transition velocity and its material.
pub(super) const NUMBERS: usize = 1 + <Material<f64> as Numbers<f64>>::COUNT;

/// The law of the springs of a contact as a function of its parameters, and the places of the first and of the others.
pub(super) struct VariedLaw<T: Real, const N: usize> {
    material: Material<Dual<T, N>>,
    pub(super) law: Law<Dual<T, N>>,
    pub(super) places: [usize; 2],
}

/// Workspace of the derivatives: for each vertex of clipped faces the derivatives of its volume by motion; and the anchors
/// after a commit.
pub(super) type Memory<T> = (Vec<Vector6<T>>, Anchors<T>);

/// A contact, seen from the other surface. All is in Ground.
///
/// Rows and columns of six are angular, then linear.
pub(super) struct Contact<'a, T: Real> {
    /// The bodies of the other surface, which is the observer, and of the mesh.
    pub(super) bodies: [BodyIndex; 2],
    pub(super) material: &'a Material<T>,
    pub(super) transition_velocity: T,
    pub(super) law: Law<T>,
    /// The mesh and the other surface.
    pub(super) surfaces: [usize; 2],
    first_spring: usize,
    has_anchors: bool,
    springs: &'a TriangleMesh<T>,
    other: &'a SolidShape<T>,
    X_GM: &'a Pose<T>,
    pub(super) X_GO: &'a Pose<T>,
    /// The velocity of the mesh relative to the other surface at the mesh's origin.
    pub(super) V: SpatialVelocity<T>,
    /// The share of their areas with which springs act.
    share: T,
    vertex_areas: &'a [T],
    found: &'a MeshContact,
    /// Whether the other surfaces have provided the derivatives of their normals at every spring.
    are_known: &'a Cell<bool>,
}

/// One spring of a contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spring<T: Real> {
    /// Counted through the springs of all surfaces.
    pub(super) id: usize,
    /// The place of its anchor, and the anchor in Ground.
    pub(super) anchor: Option<(usize, Point3<T>)>,
    /// The point on which the force acts: the base of a spring with an anchor, or the contact point.
    pub(super) point_G: Point3<T>,
    /// The motion in Ground, with the whole area and the velocity of that point.
    pub(super) at: Touch<T>,
    /// The derivatives of the normal by a shift of the base; `None` if they are zero.
    pub(super) gradient: Option<Matrix3<T>>,
    /// Two factors of the elastic force per stiffness \[m³\].
    volume: [T; 2],
    /// The derivatives of the elastic force by the motion of the mesh.
    pub(super) elastic_by_motion: Vector6<T>,
}

/// The force of a spring over any number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pushed<S> {
    pub(super) at: Touch<S>,
    /// From the anchor to the base along the surface.
    pub(super) stretch: Option<Vector3<S>>,
    pub(super) load: Load<S>,
}

impl<T: Real, S: Algebraic<Scalar = T>> Pushed<S> {
    #[inline]
    fn of(
        law: &Law<S>,
        elastic_force: S,
        at: Touch<S>,
        has_anchors: bool,
        anchor: Option<Vector3<S>>,
    ) -> Self {
        let stretch = anchor.map(|anchor| at.along(at.p_FB - anchor));
        let [ss, sv] = stretch.map_or([S::zero(); 2], |s| [dot(&s, &s), dot(&s, &at.slip_F)]);
        let squares = [ss, sv, dot(&at.slip_F, &at.slip_F)];
        let load = law.load((elastic_force, at.depth_rate), has_anchors.then_some(at.area), squares);
        Self { at, stretch, load }
    }

    #[inline]
    pub(super) fn force(&self) -> Vector3<S> {
        let Load { normal_force, elastic, damping, .. } = self.load;
        let force = self.at.n_F.map(|n| n * normal_force) + self.at.slip_F.map(|v| v * damping);
        self.stretch.map_or(force, |stretch| force + stretch.map(|s| s * elastic))
    }
}

impl<T: Real> ElasticFoundation<T> {
    /// Calls `visit` with each contact. Requests finite differences if the derivatives of a normal are not known.
    pub(super) fn for_each_contact(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
        mut visit: impl FnMut(&Contact<'_, T>, &mut Blocks<'_, T>, &mut Memory<T>),
    ) {
        let are_known = Cell::new(true);
        blocks.with_workspace(|blocks, memory| {
            for found in &at.position.contacts {
                let surfaces = [found.mesh, found.other];
                let Some((springs, share)) = self.bed(found, at.parameters) else { continue };
                let Some(material) = at.parameters.material(found.mesh) else { continue };
                let [mesh, other] = surfaces.map(|surface| &self.surfaces[surface]);
                let [X_GM, X_GO] = surfaces.map(|surface| &at.position.X_GS[surface]);
                let contact = Contact {
                    bodies: [other.body, mesh.body],
                    material,
                    transition_velocity: at.parameters.transition_velocity,
                    law: Law::new(material, at.parameters.transition_velocity),
                    surfaces,
                    first_spring: mesh.first_spring,
                    has_anchors: self.has_anchors,
                    springs,
                    other: &other.shape,
                    X_GM,
                    X_GO,
                    V: self.velocity_of(found, at, at.velocities),
                    share,
                    vertex_areas: &mesh.vertex_areas,
                    found,
                    are_known: &are_known,
                };
                visit(&contact, blocks, memory);
            }
        });
        if !are_known.get() {
            blocks.differences_of(self.surfaces.iter().map(|placed| End::Body(placed.body)));
        }
    }
}

impl<T: Real> Contact<'_, T> {
    /// The mesh's origin.
    pub(super) fn origin(&self) -> Point3<T> {
        self.X_GM.translation.vector.into()
    }

    /// The law over other numbers, without derivatives.
    pub(super) fn law_over<S: Algebraic<Scalar = T>>(&self) -> Law<S> {
        Law::new(&self.material.lift(&mut S::of), S::of(self.transition_velocity))
    }

    /// The law over numbers that vary with its parameters.
    pub(super) fn varied_law<const N: usize>(
        &self,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        blocks: &Blocks<'_, T>,
    ) -> VariedLaw<T, N> {
        let mut vary = varied(0);
        let transition_velocity = vary(self.transition_velocity);
        let material = self.material.lift(&mut vary);
        // In the order of the declarations, without the materials before this one.
        let before = at.parameters.materials[..self.surfaces[0]].iter().flatten().count();
        let places = [0, 1 + before * (NUMBERS - 1)].map(|number| blocks.parameter(number));
        VariedLaw { material, law: Law::new(&material, transition_velocity), places }
    }

    /// Calls `visit` with each spring, in the order of the results unless faces are clipped. `memory` is used for
    /// clipped faces.
    pub(super) fn for_each_spring(
        &self,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        memory: &mut Vec<Vector6<T>>,
        mut visit: impl FnMut(&Spring<T>),
    ) {
        if self.found.is_clipped() {
            self.for_each_vertex(at, memory, visit);
            return;
        }
        let parts = &at.position.parts[self.found.parts.clone()];
        for (i, found) in at.position.springs[self.found.springs.clone()].iter().enumerate() {
            let area = self.springs.area(found.index) * self.share;
            let near = (found.point_G, found.normal_G, found.depth);
            let mut spring = self.spring(at, (found.index, area), near, parts.get(i).copied());
            spring.volume = [found.area, found.depth];
            let by_depth = found.normal_G * -(self.material.stiffness * found.area);
            spring.elastic_by_motion = twist(&self.lever(&spring), &by_depth);
            visit(&spring);
        }
    }

    /// The springs of clipped faces.
    fn for_each_vertex(
        &self,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        by_motion: &mut Vec<Vector6<T>>,
        mut visit: impl FnMut(&Spring<T>),
    ) {
        let vertices = &at.position.vertices;
        let first = self.found.vertices.start;
        let visited = &vertices.visited()[self.found.vertices.clone()];
        by_motion.clear();
        by_motion.resize(visited.len(), Vector6::zeros());
        let depth_by_motion = |at: &LoadedVertex<T>| {
            twist(&(at.point_G - at.normal_G * at.depth - self.origin()), &-at.normal_G)
        };
        for LoadedFace { face, corners } in &vertices.faces()[self.found.faces.clone()] {
            let places = corners.map(|place| place as usize - first);
            let corners = places.map(|place| &visited[place]);
            let Some(moments) = moments_of_depth(corners.map(|corner| corner.depth)) else { continue };
            let area = self.springs.area(*face as usize) * self.share;
            let depths = corners.map(depth_by_motion);
            for (moment, place) in moments.iter().zip(places) {
                let [a, b, c] = moment.slopes;
                by_motion[place] += (depths[0] * a + depths[1] * b + depths[2] * c) * area;
            }
        }
        for (vertex, by_motion) in visited.iter().zip(by_motion) {
            if vertex.volume == T::zero() {
                continue;
            }
            let index = vertex.vertex as usize;
            let area = self.vertex_areas.get(index).map_or_else(T::zero, |&area| area * self.share);
            let near = (vertex.point_G, vertex.normal_G, vertex.depth);
            let mut spring = self.spring(at, (index, area), near, None);
            spring.volume = [vertex.volume, self.share];
            spring.elastic_by_motion = *by_motion * self.material.stiffness;
            visit(&spring);
        }
    }

    /// A spring, as numbered by the mesh and with its whole area, without its volume.
    #[inline]
    fn spring(
        &self,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        (index, area): (usize, T),
        (point_G, normal, depth): (Point3<T>, Vector3<T>, T),
        part: Option<MeshPart>,
    ) -> Spring<T> {
        let id = self.first_spring + index;
        let place = if self.has_anchors { at.discrete.place_of(id, self.surfaces[1]) } else { None };
        let anchor = place.and_then(|place| Some((place, self.X_GO * at.discrete.at(place)?)));
        let base_G = point_G - normal * depth;
        let gradient = self.gradient(part, &point_G, &normal, depth);
        let point_G = if self.has_anchors { base_G } else { point_G };
        let velocity = self.V.linear + self.V.angular.cross(&(point_G - self.origin()));
        let (depth_rate, slip_F) = across_and_along(&velocity, &normal);
        let p_FB = base_G.coords;
        let at = Touch { time: at.time, area, depth, depth_rate, p_FB, slip_F, n_F: normal };
        let (volume, elastic_by_motion) = ([T::zero(); 2], Vector6::zeros());
        Spring { id, anchor, point_G, at, gradient, volume, elastic_by_motion }
    }

    /// The derivatives of the normal by a shift of the base.
    #[inline]
    fn gradient(
        &self,
        part: Option<MeshPart>,
        point_G: &Point3<T>,
        normal_G: &Vector3<T>,
        depth: T,
    ) -> Option<Matrix3<T>> {
        if matches!(self.other, SolidShape::HalfSpace(_)) {
            return None;
        }
        let R_GO = self.X_GO.rotation.matrix();
        let point = self.X_GO.inverse_transform_point(point_G);
        let near = SurfacePoint { point, normal: R_GO.tr_mul(normal_G), signed_distance: -depth };
        let gradient = normal_gradient(self.other, part, &near);
        self.are_known.set(self.are_known.get() && gradient.is_some());
        gradient.filter(|H| !H.iter().all(|entry| entry.vanishes())).map(|H| rotated(R_GO, &H))
    }

    /// The force of a spring.
    #[inline]
    pub(super) fn still(&self, spring: &Spring<T>) -> Pushed<T> {
        let anchor = spring.anchor.map(|(_, anchor_G)| anchor_G.coords);
        let elastic_force = self.material.elastic_force(spring.volume);
        Pushed::of(&self.law, elastic_force, spring.at, self.has_anchors, anchor)
    }

    /// The same over numbers that vary in the first of the directions of [`MOTION`](crate::elements::meshes::MOTION).
    #[inline]
    pub(super) fn moving<const N: usize>(
        &self,
        law: &Law<Dual<T, N>>,
        spring: &Spring<T>,
    ) -> Pushed<Dual<T, N>> {
        let anchor = spring.anchor.map(|(_, anchor_G)| anchor_G.coords.map(Dual::of));
        let elastic_force = Dual::variable(self.material.elastic_force(spring.volume), ELASTIC);
        let at = spring.at.varied(spring.gradient.as_ref());
        Pushed::of(law, elastic_force, at, self.has_anchors, anchor)
    }

    /// Adds the force of a spring, with its derivatives in these directions.
    #[inline]
    pub(super) fn add<const N: usize>(&self, law: &Law<Dual<T, N>>, spring: &Spring<T>, sums: &mut Sums<T>) {
        let force = self.moving(law, spring).force();
        let base = self.lever(spring);
        if self.has_anchors {
            sums.add(&base, &base, None, &force);
        } else {
            // The contact point moves along the surface.
            let n = &spring.at.n_F;
            let along = Matrix3::identity() - n * n.transpose();
            let follows = spring.gradient.map_or(along, |gradient| along + gradient * spring.at.depth);
            sums.add(&base, &(spring.point_G - self.origin()), Some(&follows), &force);
        }
        sums.add_elastic(&(spring.point_G - self.origin()), &force, &spring.elastic_by_motion);
    }

    /// The force of a spring on numbers that vary with the law, and from [`NUMBERS`] on with its anchor in the frame of the
    /// other surface; and its stretch.
    #[inline]
    pub(super) fn given<const N: usize>(
        &self,
        VariedLaw { material, law, .. }: &VariedLaw<T, N>,
        spring: &Spring<T>,
    ) -> (Load<Dual<T, N>>, Option<Vector3<Dual<T, N>>>) {
        let at = &spring.at;
        let stretch = spring.anchor.map(|(_, anchor_G)| {
            let mut stretch = at.along(at.p_FB - anchor_G.coords).map(Dual::<T, N>::of);
            for (axis, by) in self.X_GO.rotation.matrix().column_iter().enumerate() {
                let by_anchor = at.along(-by);
                stretch.zip_apply(&by_anchor, |component, by| component.slopes[NUMBERS + axis] = by);
            }
            stretch
        });
        let elastic_force = material.elastic_force(spring.volume.map(Dual::of));
        let [ss, sv] =
            stretch.map_or([Dual::zero(); 2], |s| [dot(&s, &s), dot(&s, &at.slip_F.map(Dual::of))]);
        let squares = [ss, sv, Dual::of(at.slip_F.norm_squared())];
        let area = self.has_anchors.then_some(Dual::of(at.area));
        (law.load((elastic_force, Dual::of(at.depth_rate)), area, squares), stretch)
    }

    /// From the mesh's origin to the base.
    pub(super) fn lever(&self, spring: &Spring<T>) -> Vector3<T> {
        spring.at.p_FB - self.X_GM.translation.vector
    }
}
