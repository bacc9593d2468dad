//! The derivatives of a law at the springs of a bed.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3};

use super::{At, OnBed, Position};
use crate::elements::laws::bed_law::{BedLaw, Push, Touch};
use crate::elements::laws::{AT_ONCE, Varied, chunks};
use crate::elements::meshes::{MOTION, Sums, by_mesh, normal_gradient};
use crate::framework::variables::{Numbers, Over};
use crate::framework::{Between, Blocks, ElementError, Row, Slopes, varied};
use crate::math::{Dual, Number, Real, SpatialForce, rotated};
use crate::shapes::{Displaced, SurfacePoint};

impl<T: Real, L: BedLaw<T>> OnBed<T, L> {
    const PARAMETERS: usize = <L::Parameters as Numbers<T>>::COUNT;
    const MEMORY: usize = <L::Memory as Numbers<T>>::COUNT;

    /// As [`for_each`](Self::for_each), over numbers that vary with the motion of the base.
    fn for_motion<R>(
        &self,
        at: &At<'_, T, L>,
        of: impl Fn(
            &Over<T, L::Parameters, Dual<T, MOTION>>,
            &Over<T, L::Memory, Dual<T, MOTION>>,
            &Touch<Dual<T, MOTION>>,
        ) -> Result<R, ElementError>,
        visit: impl FnMut(usize, &Touch<T>, R),
    ) -> Option<()> {
        let motion = |spring: &Displaced<T>, touch: &Touch<T>| {
            let point = (touch.p_FB + touch.n_F * spring.depth).into();
            let near = SurfacePoint { point, normal: touch.n_F, signed_distance: -spring.depth };
            Some(touch.varied(Some(&normal_gradient(&self.surface, spring.part, &near)?)))
        };
        let parameters = at.parameters.lift(&mut Dual::of);
        // The law has succeeded for the same values; if it fails here, finite differences report the error.
        self.for_each(at, &parameters, motion, || Dual::of, of, visit).ok()?.then_some(())
    }

    /// As [`for_each`](Self::for_each), over numbers of which eight vary: of time and parameters, or of the memory, from
    /// `first` on.
    fn for_variables<R>(
        &self,
        at: &At<'_, T, L>,
        (first, in_memory): (usize, bool),
        of: impl Fn(
            &Over<T, L::Parameters, Varied<T>>,
            &Over<T, L::Memory, Varied<T>>,
            &Touch<Varied<T>>,
        ) -> Result<R, ElementError>,
        mut visit: impl FnMut(usize, &Touch<T>, R),
    ) -> Option<()> {
        let visit = |face, touch: &Touch<T>, value| {
            if !in_memory || at.discrete.of(face).is_some() {
                visit(face, touch, value);
            }
        };
        let constants = usize::MAX;
        let mut next = varied(if in_memory { constants } else { first });
        let time = next(at.time);
        let parameters = at.parameters.lift(&mut next);
        let motion = |_: &Displaced<T>, touch: &Touch<T>| Some(Touch { time, ..touch.constant() });
        let lifts = || varied(if in_memory { first } else { constants });
        self.for_each(at, &parameters, motion, lifts, of, visit).ok()?.then_some(())
    }

    /// M's origin and angular velocity, in F.
    fn mesh_in_F(at: &At<'_, T, L>) -> [Vector3<T>; 2] {
        let Position { X_GF, X_GM, .. } = at.position;
        let p_FM = X_GF.inverse_transform_point(&X_GM.translation.vector.into()).coords;
        [p_FM, X_GF.rotation.inverse_transform_vector(&at.velocity.V_FM_G.angular)]
    }

    /// The law as seen from the surface.
    pub(super) fn between(&self, at: &At<'_, T, L>) -> Option<Between<T>> {
        let R_GF = at.position.X_GF.rotation.matrix();
        let [p_FM, spin] = Self::mesh_in_F(at);
        let mut sums = Sums::of(spin);
        let evaluate = |p: &_, m: &_, x: &_| self.law.evaluate(p, m, x);
        self.for_motion(at, evaluate, |_, touch, push: Push<Dual<T, MOTION>>| {
            let arm = touch.p_FB - p_FM;
            sums.add(&arm, &arm, None, &push.force);
        })?;
        let (_, by) = sums.about_origin();
        let in_G = |quarter: Matrix3<T>| rotated(R_GF, &quarter);
        let [by_position, by_velocity] = by.map(|by| Slopes::Coupled(by.map(|row| row.map(in_G))));
        Some(Between {
            bodies: self.ends.bodies(),
            p_GM: at.position.X_GM.translation.vector.into(),
            F_GM: at.dynamics.F_GM,
            V_M: at.velocity.V_FM_G,
            by_position,
            by_velocity,
        })
    }

    pub(super) fn try_linearize_variables(
        &self,
        at: &At<'_, T, L>,
        blocks: &mut Blocks<'_, T>,
    ) -> Option<()> {
        let Position { X_GF, X_GM, .. } = at.position;
        let (bodies, p_GM) = (self.ends.bodies(), Point3::from(X_GM.translation.vector));
        let evaluate = |p: &_, m: &_, x: &_| self.law.evaluate(p, m, x);
        let changes = |touch: &Touch<T>, push: Push<Varied<T>>| {
            let arm = Self::arm(at.position, touch);
            from_fn::<_, AT_ONCE, _>(|direction| {
                let force = X_GF.rotation * push.force.map(|component| component.slopes[direction]);
                SpatialForce::new(arm.cross(&force), force)
            })
        };
        for (first, count) in chunks(1 + Self::PARAMETERS) {
            let mut sums = [SpatialForce::zero(); AT_ONCE];
            self.for_variables(at, (first, false), evaluate, |_, touch, push| {
                sums.iter_mut().zip(changes(touch, push)).for_each(|(sum, change)| *sum += change);
            })?;
            blocks.add_between_by_variables(bodies, &p_GM, Blocks::<T>::TIME + first, &sums[..count]);
        }
        for (first, count) in chunks(Self::MEMORY) {
            self.for_variables(at, (first, true), evaluate, |face, touch, push| {
                let place = blocks.discrete(Self::MEMORY * face + first);
                blocks.add_between_by_variables(bodies, &p_GM, place, &changes(touch, push)[..count]);
            })?;
        }
        Some(())
    }

    pub(super) fn try_linearize_commit(&self, at: &At<'_, T, L>, blocks: &mut Blocks<'_, T>) -> Option<()> {
        let Position { X_GF, X_GM, .. } = at.position;
        let (bodies, motion) = (self.ends.bodies(), (&X_GM.translation.vector.into(), &at.velocity.V_FM_G));
        let [p_FM, spin] = Self::mesh_in_F(at);
        let of_motion = |p: &_, m: &_, x: &_| self.law.commit(p, m, x);
        self.for_motion(at, of_motion, |face, touch, next| {
            L::Memory::for_each_over(&next, |number, next: Dual<T, MOTION>| {
                let by = by_mesh(&next, &(touch.p_FB - p_FM), &spin);
                let [by_position, by_velocity] = by.map(|by| by.map(|by| X_GF.rotation * by));
                let row = Row::Next(Self::MEMORY * face + number);
                blocks.add_to_between(row, bodies, motion, by_position, by_velocity);
            });
        })?;
        let commit = |p: &_, m: &_, x: &_| self.law.commit(p, m, x);
        let mut add = |face: usize, (place, count): (usize, usize), next: Over<T, L::Memory, Varied<T>>| {
            L::Memory::for_each_over(&next, |number, next: Varied<T>| {
                let row = Row::Next(Self::MEMORY * face + number);
                blocks.add_to_by_variables(row, place, &next.slopes[..count]);
            });
        };
        for (first, count) in chunks(1 + Self::PARAMETERS) {
            let place = Blocks::<T>::TIME + first;
            self.for_variables(at, (first, false), commit, |face, _, next| add(face, (place, count), next))?;
        }
        for (first, count) in chunks(Self::MEMORY) {
            let place = |face| Blocks::<T>::TIME + 1 + Self::PARAMETERS + Self::MEMORY * face + first;
            self.for_variables(at, (first, true), commit, |face, _, next| {
                add(face, (place(face), count), next);
            })?;
        }
        Some(())
    }
}
