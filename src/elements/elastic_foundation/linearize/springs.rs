//! The springs of one contact, and their forces over numbers with derivatives.

use alloc::vec::Vec;
use core::array::from_fn;
use core::ops::{Add, Mul};

use nalgebra::{Matrix3, Point3, Vector3, Vector6};

use crate::elements::elastic_foundation::contact::Contact;
use crate::elements::elastic_foundation::law::{Friction, Law};
use crate::elements::elastic_foundation::{Anchors, ElasticFoundation, Material};
use crate::elements::laws::Touch;
use crate::elements::meshes::{ELASTIC, Sums, normal_gradient};
use crate::framework::variables::Numbers;
use crate::framework::{AtDynamics, Blocks};
use crate::math::{Dual, Number, Real, SpatialVelocity, dot, rotated, varied};
use crate::shapes::{Displaced, SurfacePoint, moments_of_depth};

/// The directions of [`MOTION`] in which the force of a spring without an anchor varies where the normal does not turn.
pub(super) const LEVEL: usize = ELASTIC + 1;

/// The number of variables in the law of a mesh: the transition velocity and its material.
pub(in super::super) const NUMBERS: usize = 1 + MATERIAL;

/// The number of variables of a material.
const MATERIAL: usize = <Material<f64> as Numbers<f64>>::COUNT;

/// The number of these variables and the numbers of an anchor.
pub(in super::super) const WITH_ANCHOR: usize = NUMBERS + 3;

/// Workspace of the derivatives: for each vertex of clipped faces, the derivatives of its volume by motion; and the
/// anchors after a commit.
pub(super) type Memory<T> = (Vec<Vector6<T>>, Anchors<T>);

/// One spring of a contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spring<T: Real> {
    /// The number of the spring, counted through the springs of all surfaces.
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
pub(super) struct Pushed<S: Number> {
    pub(super) at: Touch<S>,
    pub(super) normal_force: S,
    /// The vector along the surface from the anchor to the base.
    pub(super) stretch: Option<Vector3<S>>,
    pub(super) friction: Friction<S>,
}

impl<S: Number> Pushed<S> {
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
        let (normal_force, _) = law.press(elastic_force, at.depth_rate);
        let friction = law.friction(has_anchors.then_some(at.area), squares, normal_force);
        Self { at, normal_force, stretch, friction }
    }

    #[inline]
    pub(super) fn force(&self) -> Vector3<S> {
        let Friction { elastic, damping, viscous, .. } = self.friction;
        let along_slip = damping - viscous;
        let force = self.at.n_F.map(|n| n * self.normal_force) + self.at.slip_F.map(|v| v * along_slip);
        self.stretch.map_or(force, |stretch| force + stretch.map(|s| s * elastic))
    }
}

impl<T: Real> Contact<'_, T> {
    /// The law over other numbers, without derivatives.
    pub(super) fn law_over<S: Number<Scalar = T>>(&self) -> Law<S> {
        Law::new(self.law.material.lift(&mut S::of), S::of(self.parameters.transition_velocity))
    }

    /// The law over numbers that vary: the transition velocity and its material.
    pub(super) fn varied_law<const N: usize>(&self) -> Law<Dual<T, N>> {
        let mut vary = varied(0);
        let transition_velocity = vary(self.parameters.transition_velocity);
        Law::new(self.law.material.lift(&mut vary), transition_velocity)
    }

    /// The changes by each material on which the law depends, with the place of its first number, from the changes by the
    /// numbers of the law.
    pub(super) fn by_materials<V>(
        &self,
        blocks: &Blocks<'_, T>,
        changes: [V; MATERIAL],
    ) -> impl Iterator<Item = (usize, [V; MATERIAL])> + use<T, V>
    where
        V: Copy + Add<Output = V> + Mul<T, Output = V>,
    {
        let surfaces = [self.found.mesh, self.found.other];
        // In the order of the declarations, without the materials before this one.
        let before = |surface: usize| self.parameters.materials[..surface].iter().flatten().count();
        let places = surfaces.map(|surface| blocks.parameter(1 + before(surface) * MATERIAL));
        let materials = surfaces.map(|surface| self.parameters.material(surface));
        let by = match materials {
            [Some(own), Some(others)] if self.share == T::one() => [0, MATERIAL].map(|first| {
                let mut vary = varied::<T, MATERIAL>(first);
                let mean = Material::mean([own.lift(&mut vary), others.lift(&mut vary)]);
                let mut slopes = [[T::zero(); MATERIAL]; MATERIAL];
                Material::<T>::for_each_over(&mean, |number, by: Dual<T, MATERIAL>| {
                    slopes[number] = by.slopes;
                });
                let by = |i: usize, number: usize| changes[number] * slopes[number][i];
                Some(from_fn(|i| (1..MATERIAL).fold(by(i, 0), |sum, number| sum + by(i, number))))
            }),
            _ => [Some(changes), None],
        };
        places.into_iter().zip(by).filter_map(|(place, by)| Some((place, by?)))
    }

    /// Calls `visit` with each spring, in the order of the results unless faces are clipped, for which `by_motion` is
    /// used. Returns `None` if the other surface does not provide the derivatives of its normal.
    pub(super) fn for_each_spring(
        &self,
        at: &AtDynamics<'_, T, ElasticFoundation<T>>,
        by_motion: &mut Vec<Vector6<T>>,
        mut visit: impl FnMut(&Spring<T>),
    ) -> Option<()> {
        let V = &self.velocity();
        if self.found.is_clipped() {
            return self.for_each_vertex((at, V), by_motion, visit);
        }
        for found in &at.position.springs[self.found.springs.clone()] {
            let gradient = self.gradient(found).ok()?;
            let by_motion = self.depth_by_motion(found) * found.area;
            visit(&self.spring((at, V), found, gradient, ([found.area, found.depth], by_motion)));
        }
        Some(())
    }

    /// The springs of clipped faces.
    fn for_each_vertex(
        &self,
        (at, V): (&AtDynamics<'_, T, ElasticFoundation<T>>, &SpatialVelocity<T>),
        by_motion: &mut Vec<Vector6<T>>,
        mut visit: impl FnMut(&Spring<T>),
    ) -> Option<()> {
        let vertices = &at.position.vertices;
        let first = self.found.vertices.start;
        let visited = &vertices.visited[self.found.vertices.clone()];
        by_motion.clear();
        by_motion.resize(visited.len(), Vector6::zeros());
        for (face, corners) in &vertices.faces[self.found.faces.clone()] {
            let places = corners.map(|place| place as usize - first);
            let corners = places.map(|place| &visited[place].0);
            let Some(moments) = moments_of_depth(corners.map(|corner| corner.depth)) else { continue };
            let area = self.springs.area(*face as usize) * self.share;
            let depths = corners.map(|corner| self.depth_by_motion(corner));
            for (moment, place) in moments.iter().zip(places) {
                let [a, b, c] = moment.slopes;
                by_motion[place] += (depths[0] * a + depths[1] * b + depths[2] * c) * area;
            }
        }
        for ((vertex, volume), by_motion) in visited.iter().zip(by_motion) {
            if *volume > T::zero() {
                let gradient = self.gradient(vertex).ok()?;
                visit(&self.spring((at, V), vertex, gradient, ([*volume, self.share], *by_motion)));
            }
        }
        Some(())
    }

    /// The derivatives of a depth by the motion of the mesh.
    #[inline]
    fn depth_by_motion(&self, found: &Displaced<T>) -> Vector6<T> {
        let by_shift = -found.normal_G;
        let by_turn = (found.base_G() - self.origin()).cross(&by_shift);
        Vector6::new(by_turn.x, by_turn.y, by_turn.z, by_shift.x, by_shift.y, by_shift.z)
    }

    /// A spring with this displaced volume, in two factors, with its derivatives by the motion of the mesh.
    #[inline]
    fn spring(
        &self,
        (at, V): (&AtDynamics<'_, T, ElasticFoundation<T>>, &SpatialVelocity<T>),
        found: &Displaced<T>,
        gradient: Option<Matrix3<T>>,
        (volume, volume_by_motion): ([T; 2], Vector6<T>),
    ) -> Spring<T> {
        let Displaced { index, depth, point_G, normal_G: n_F, .. } = *found;
        let id = self.id(index);
        let place = if self.has_anchors { at.discrete.place_of(id, self.found.other) } else { None };
        let anchor = place.and_then(|place| Some((place, self.X_GO * at.discrete.at(place)?)));
        let (base_G, area) = if self.has_anchors {
            self.base_and_area(index, &point_G, &n_F)
        } else {
            (found.base_G(), T::zero())
        };
        let point_G = if self.has_anchors { base_G } else { point_G };
        let (depth_rate, slip_F) = self.motion(V, &point_G, &n_F);
        let at = Touch { time: at.time, area, depth, depth_rate, p_FB: base_G.coords, slip_F, n_F };
        let elastic_by_motion = volume_by_motion * self.law.material.stiffness;
        Spring { id, anchor, point_G, at, gradient, volume, elastic_by_motion }
    }

    /// The derivatives of the normal by a shift of the base, if it turns.
    #[inline]
    fn gradient(&self, found: &Displaced<T>) -> Result<Option<Matrix3<T>>, ()> {
        let R_GO = self.X_GO.rotation.matrix();
        let gradient = normal_gradient(&self.other.shape, found.part, || SurfacePoint {
            point: self.X_GO.inverse_transform_point(&found.point_G),
            normal: R_GO.tr_mul(&found.normal_G),
            signed_distance: -found.depth,
        })?;
        Ok(gradient.map(|H| rotated(R_GO, &H)))
    }

    /// The force of a spring.
    #[inline]
    pub(super) fn still(&self, spring: &Spring<T>) -> Pushed<T> {
        let anchor = spring.anchor.map(|(_, anchor_G)| anchor_G.coords);
        let elastic_force = self.law.material.elastic_force(spring.volume);
        Pushed::of(&self.law, elastic_force, spring.at, self.has_anchors, anchor)
    }

    /// The force of a spring over numbers that vary in the first of the directions of
    /// [`MOTION`](crate::elements::meshes::MOTION).
    #[inline]
    pub(super) fn moving<const N: usize>(
        &self,
        law: &Law<Dual<T, N>>,
        spring: &Spring<T>,
    ) -> Pushed<Dual<T, N>> {
        let anchor = spring.anchor.map(|(_, anchor_G)| anchor_G.coords.map(Dual::of));
        let elastic_force = Dual::variable(self.law.material.elastic_force(spring.volume), ELASTIC);
        let at = spring.at.varied(spring.gradient.as_ref());
        Pushed::of(law, elastic_force, at, self.has_anchors, anchor)
    }

    /// Adds the force of a spring, with its derivatives in these directions.
    #[inline]
    pub(super) fn add<const N: usize>(&self, law: &Law<Dual<T, N>>, spring: &Spring<T>, sums: &mut Sums<T>) {
        let force = self.moving(law, spring).force();
        // The contact point moves along the surface.
        let follows = (!self.has_anchors).then(|| {
            let n = &spring.at.n_F;
            let along = Matrix3::identity() - n * n.transpose();
            spring.gradient.map_or(along, |gradient| along + gradient * spring.at.depth)
        });
        let (base, point) = (self.lever(spring), spring.point_G - self.origin());
        sums.add(&base, (&point, follows.as_ref()), &force, Some(&spring.elastic_by_motion));
    }

    /// The force on a spring over numbers that vary with the law, and with the anchor in the other surface's frame.
    #[inline]
    pub(super) fn given<const N: usize>(
        &self,
        law: &Law<Dual<T, N>>,
        spring: &Spring<T>,
    ) -> Pushed<Dual<T, N>> {
        let anchor = spring.anchor.map(|(_, anchor_G)| {
            let mut anchor = anchor_G.coords.map(Dual::<T, N>::of);
            for (axis, along) in self.X_GO.rotation.matrix().column_iter().enumerate() {
                anchor.zip_apply(&along, |component, by| component.slopes[NUMBERS + axis] = by);
            }
            anchor
        });
        let elastic_force = law.material.elastic_force(spring.volume.map(Dual::of));
        Pushed::of(law, elastic_force, spring.at.lift(&mut Dual::of), self.has_anchors, anchor)
    }

    /// The vector from the mesh's origin to the base.
    pub(super) fn lever(&self, spring: &Spring<T>) -> Vector3<T> {
        spring.at.p_FB - self.X_GM.translation.vector
    }
}
