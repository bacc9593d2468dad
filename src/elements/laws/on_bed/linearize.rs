//! The derivatives of a law at the springs of a bed.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3};

use super::touch::{Push, Touch};
use super::{OnBed, Position};
use crate::elements::laws::{AT_ONCE, Law, chunks, varying_in_time};
use crate::elements::meshes::{MOTION, Sums, by_mesh, normal_gradient};
use crate::framework::variables::{Numbers, Over};
use crate::framework::{AtDynamics, Between, Blocks, ElementResult, Row, Slopes};
use crate::math::{Dual, Number, Real, SpatialForce, rotated, varied};
use crate::shapes::{Displaced, SurfacePoint};

impl<T: Real, L: Law<T, Touch<T>>> OnBed<T, L> {
    /// The number of time and parameters.
    const OF_LAW: usize = 1 + <L::Parameters as Numbers<T>>::COUNT;
    const MEMORY: usize = <L::Memory as Numbers<T>>::COUNT;

    /// Does as [`for_each`](Self::for_each), over numbers that vary with the motion of the base.
    fn for_motion<R>(
        &self,
        at: &AtDynamics<'_, T, Self>,
        of: impl Fn(
            &L,
            &Over<T, L::Parameters, Dual<T, MOTION>>,
            &Over<T, L::Memory, Dual<T, MOTION>>,
            &Touch<Dual<T, MOTION>>,
        ) -> ElementResult<R>,
        visit: impl FnMut(usize, &Touch<T>, R),
    ) -> Option<()> {
        let motion = |spring: &Displaced<T>, touch: &Touch<T>| {
            let gradient = normal_gradient(&self.surface, spring.part, || SurfacePoint {
                point: (touch.p_FB + touch.n_F * spring.depth).into(),
                normal: touch.n_F,
                signed_distance: -spring.depth,
            });
            Some(touch.varied(gradient.ok()?.as_ref()))
        };
        let parameters = at.parameters.lift(&mut Dual::of);
        // The law has succeeded for the same values; if it fails here, finite differences report the error.
        self.for_each(at, &parameters, motion, |memory| memory.lift(&mut Dual::of), of, visit)
            .ok()?
            .then_some(())
    }

    /// Does as [`for_each`](Self::for_each), over numbers that vary with up to eight variables of time, parameters and
    /// memory, from `first` on.
    fn for_variables<R>(
        &self,
        at: &AtDynamics<'_, T, Self>,
        first: usize,
        of: impl Fn(
            &L,
            &Over<T, L::Parameters, Dual<T, AT_ONCE>>,
            &Over<T, L::Memory, Dual<T, AT_ONCE>>,
            &Touch<Dual<T, AT_ONCE>>,
        ) -> ElementResult<R>,
        visit: impl FnMut(usize, &Touch<T>, R),
    ) -> Option<()> {
        let mut next = varied(first);
        let time = next(at.time);
        let parameters = at.parameters.lift(&mut next);
        let motion = |_: &Displaced<T>, touch: &Touch<T>| Some(varying_in_time(touch, |_| time));
        let of_memory = |memory: &L::Memory| {
            let mut next = varied(first);
            (0..Self::OF_LAW).for_each(|_| _ = next(T::zero()));
            memory.lift(&mut next)
        };
        self.for_each(at, &parameters, motion, of_memory, of, visit).ok()?.then_some(())
    }

    /// The chunks of variables that vary at once: the first variable, the number of variables that all springs share, and
    /// the number of all.
    fn chunks() -> impl Iterator<Item = (usize, usize, usize)> {
        let split =
            |(first, count): (usize, usize)| (first, Self::OF_LAW.saturating_sub(first).min(count), count);
        chunks(Self::OF_LAW + Self::MEMORY).map(split)
    }

    /// The place of a variable in the memory of the spring of a face, if the spring has a memory.
    fn place(at: &AtDynamics<'_, T, Self>, face: usize, number: usize) -> Option<usize> {
        at.discrete.of(face).map(|_| Blocks::<T>::TIME + Self::MEMORY * face + number)
    }

    /// M's origin and angular velocity, in F.
    fn mesh_in_F(at: &AtDynamics<'_, T, Self>) -> [Vector3<T>; 2] {
        let Position { X_GF, X_GM, .. } = at.position;
        let p_FM = X_GF.inverse_transform_point(&X_GM.translation.vector.into()).coords;
        [p_FM, X_GF.rotation.inverse_transform_vector(&at.velocity.V_FM_G.angular)]
    }

    /// The law relative to the surface.
    pub(super) fn between(&self, at: &AtDynamics<'_, T, Self>) -> Option<Between<T>> {
        let R_GF = at.position.X_GF.rotation.matrix();
        let [p_FM, spin] = Self::mesh_in_F(at);
        let mut sums = Sums::of(spin);
        self.for_motion(at, L::evaluate, |_, touch, push: Push<Dual<T, MOTION>>| {
            let arm = touch.p_FB - p_FM;
            sums.add(&arm, (&arm, None), &push.force, None);
        })?;
        let (_, by) = sums.about_origin();
        let in_G = |quarter: Matrix3<T>| rotated(R_GF, &quarter);
        let [by_position, by_velocity] = by.map(|by| Slopes::Coupled(by.map(|row| row.map(in_G))));
        Some(Between {
            bodies: self.bodies,
            p_GM: at.position.X_GM.translation.vector.into(),
            F_GM: at.dynamics.F_GM,
            V_M: at.velocity.V_FM_G,
            by_position,
            by_velocity,
        })
    }

    pub(super) fn try_linearize_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) -> Option<()> {
        let Position { X_GF, X_GM, .. } = at.position;
        let (bodies, p_GM) = (self.bodies, Point3::from(X_GM.translation.vector));
        for (first, split, count) in Self::chunks() {
            let mut sums = [SpatialForce::zero(); AT_ONCE];
            self.for_variables(at, first, L::evaluate, |face, touch, push| {
                let arm = Self::arm(at.position, touch);
                let changes: [_; AT_ONCE] = from_fn(|direction| {
                    let force = X_GF.rotation * push.force.map(|component| component.slopes[direction]);
                    SpatialForce::new(arm.cross(&force), force)
                });
                sums.iter_mut().zip(&changes).for_each(|(sum, change)| *sum += *change);
                if let Some(place) = Self::place(at, face, first + split) {
                    blocks.add_between_by_variables(bodies, &p_GM, place, &changes[split..count]);
                }
            })?;
            blocks.add_between_by_variables(bodies, &p_GM, Blocks::<T>::TIME + first, &sums[..split]);
        }
        Some(())
    }

    pub(super) fn try_linearize_commit(
        &self,
        at: &AtDynamics<'_, T, Self>,
        blocks: &mut Blocks<'_, T>,
    ) -> Option<()> {
        let Position { X_GF, X_GM, .. } = at.position;
        let (bodies, motion) = (self.bodies, (&X_GM.translation.vector.into(), &at.velocity.V_FM_G));
        let [p_FM, spin] = Self::mesh_in_F(at);
        self.for_motion(at, L::commit, |face, touch, next| {
            L::Memory::for_each_over(&next, |number, next: Dual<T, MOTION>| {
                let by = by_mesh(&next, &(touch.p_FB - p_FM), &spin);
                let [by_position, by_velocity] = by.map(|by| by.map(|by| X_GF.rotation * by));
                let row = Row::Next(Self::MEMORY * face + number);
                blocks.add_to_between(row, bodies, motion, by_position, by_velocity);
            });
        })?;
        for (first, split, count) in Self::chunks() {
            self.for_variables(at, first, L::commit, |face, _, next| {
                L::Memory::for_each_over(&next, |number, Dual { slopes, .. }: Dual<T, AT_ONCE>| {
                    let row = Row::Next(Self::MEMORY * face + number);
                    blocks.add_to_by_variables(row, Blocks::<T>::TIME + first, &slopes[..split]);
                    if let Some(place) = Self::place(at, face, first + split) {
                        blocks.add_to_by_variables(row, place, &slopes[split..count]);
                    }
                });
            })?;
        }
        Some(())
    }
}
