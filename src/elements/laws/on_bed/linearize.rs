//! The derivatives of a law at the springs of a bed.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3};

use super::{At, OnBed, Position};
use crate::elements::laws::bed_law::{BedLaw, Push, Touch};
use crate::elements::laws::{AT_ONCE, Varied, chunks};
use crate::framework::variables::{Numbers, Over};
use crate::framework::{Between, Blocks, ElementError, Row, Slopes, varied};
use crate::math::{Dual, Number, Real, SpatialForce, cross_times, dot, rotated, times_cross};
use crate::shapes::{Displaced, Solid as _, SolidShape, SurfacePoint};

/// The directions of the motion of a base in F: a shift, and a velocity.
const MOTION: usize = 6;

impl<T: Real, L: BedLaw<T>> OnBed<T, L> {
    const PARAMETERS: usize = <L::Parameters as Numbers<T>>::COUNT;
    const MEMORY: usize = <L::Memory as Numbers<T>>::COUNT;

    /// The motion of a base that varies, given the derivatives of the normal by its shift.
    fn varied_touch(at: &Touch<T>, gradient: &Matrix3<T>) -> Touch<Dual<T, MOTION>> {
        let velocity_F = at.slip_F - at.n_F * at.depth_rate;
        let p_FB = Vector3::from_fn(|i, _| Dual::variable(at.p_FB[i], i));
        let velocity = Vector3::from_fn(|i, _| Dual::variable(velocity_F[i], 3 + i));
        let n_F = Vector3::from_fn(|i, _| {
            let mut normal = Dual::of(at.n_F[i]);
            (0..3).for_each(|j| normal.slopes[j] = gradient[(i, j)]);
            normal
        });
        let mut depth = Dual::of(at.depth);
        (0..3).for_each(|j| depth.slopes[j] = -at.n_F[j]);
        let depth_rate = -dot(&n_F, &velocity);
        let slip_F = velocity + n_F.map(|n| n * depth_rate);
        Touch { time: Dual::of(at.time), area: Dual::of(at.area), depth, depth_rate, p_FB, slip_F, n_F }
    }

    /// The derivatives of the normal by a shift of a base, in F; `None` if the surface does not provide them.
    fn gradient(&self, spring: &Displaced<T>, at: &Touch<T>) -> Option<Matrix3<T>> {
        if let (SolidShape::Mesh(mesh), Some(part)) = (&self.surface, spring.part) {
            let gradient = mesh.normal_gradient_on(part, &at.n_F, -spring.depth);
            return Some(gradient.unwrap_or_else(Matrix3::zeros));
        }
        self.surface.normal_gradient(&SurfacePoint {
            point: (at.p_FB + at.n_F * spring.depth).into(),
            normal: at.n_F,
            signed_distance: -spring.depth,
        })
    }

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
            Some(Self::varied_touch(touch, &self.gradient(spring, touch)?))
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

    /// The law as seen from the surface.
    pub(super) fn between(&self, at: &At<'_, T, L>) -> Option<Between<T>> {
        let Position { X_GF, X_GM, .. } = at.position;
        let R_GF = X_GF.rotation.matrix();
        let V_M = at.velocity.V_FM_G;
        let mut by = [[[Matrix3::zeros(); 2]; 2]; 2];
        let evaluate = |p: &_, m: &_, x: &_| self.law.evaluate(p, m, x);
        self.for_motion(at, evaluate, |_, touch, push: Push<Dual<T, MOTION>>| {
            let arm = &Self::arm(at.position, touch);
            let [by_shift, by_velocity] = slopes(&push.force).map(|slopes| rotated(R_GF, &slopes));
            let force = R_GF * push.force.map(|component| component.value);
            // A rotation moves the base along its arm, and turns its velocity.
            let by_turn = -times_cross(&(by_shift + times_cross(&by_velocity, &V_M.angular)), arm);
            let lever = force.cross_matrix() * arm.cross_matrix();
            let by_angular = -times_cross(&by_velocity, arm);
            for (sums, [turn, shift], lever) in
                [(0, [by_turn, by_shift], lever), (1, [by_angular, by_velocity], Matrix3::zeros())]
            {
                by[sums][0][0] += cross_times(arm, &turn) + lever;
                by[sums][0][1] += cross_times(arm, &shift);
                by[sums][1][0] += turn;
                by[sums][1][1] += shift;
            }
        })?;
        let [by_position, by_velocity] = by.map(Slopes::Coupled);
        let p_GM = X_GM.translation.vector.into();
        Some(Between {
            bodies: self.ends.bodies(),
            p_GM,
            F_GM: at.dynamics.F_GM,
            V_M,
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
        let motion = (&X_GM.translation.vector.into(), &at.velocity.V_FM_G);
        let bodies = self.ends.bodies();
        self.for_motion(
            at,
            |p, m, x| self.law.commit(p, m, x),
            |face, touch, next| {
                let arm = Self::arm(at.position, touch);
                L::Memory::for_each_over(&next, |number, next: Dual<T, MOTION>| {
                    let slopes = |first| X_GF.rotation * Vector3::from_fn(|i, _| next.slopes[first + i]);
                    let (by_shift, by_velocity): (Vector3<T>, Vector3<T>) = (slopes(0), slopes(3));
                    let by_turn = arm.cross(&(by_shift + by_velocity.cross(&at.velocity.V_FM_G.angular)));
                    let row = Row::Next(Self::MEMORY * face + number);
                    let by_velocity = [arm.cross(&by_velocity), by_velocity];
                    blocks.add_to_between(row, bodies, motion, [by_turn, by_shift], by_velocity);
                });
            },
        )?;
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

/// The derivatives of a force by the six directions of a motion.
fn slopes<T: Real>(force: &Vector3<Dual<T, MOTION>>) -> [Matrix3<T>; 2] {
    [0, 3].map(|first| Matrix3::from_fn(|i, j| force[i].slopes[first + j]))
}
