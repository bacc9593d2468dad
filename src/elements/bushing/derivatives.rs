//! Derivatives of the force of a bushing, of its memory, and the stiffness that it reports.

use nalgebra::{ComplexField, Matrix3, Vector3, Vector6};

use super::{Bushing, Coordinates, Frames, Position, halves, wrench_on_M};
use crate::framework::{AtDynamics, Between, Blocks, Row, Scope, Slopes, Stiffnesses};
use crate::math::{Real, SpatialForce, SpatialVelocity, cross_times, rotated};

/// The derivatives by a turn and a shift of M relative to body 1, in the axes `B`.
///
/// With the turn `δ` and the shift `d`, the axes `B` turn by `Sδ` with `S = (1 − u×)/2`, or not at all. Expressed in
/// these axes:
///
/// ```text
/// dθ = N δ              dx = d + x × Sδ         du = δ/(2c)
/// dω = ω × Sδ           dv = v × Sδ
/// ẋ  = v − Sω × x       τ  = Nᵀm − Sᵀ(x × F)
/// ```
struct Motion<T: Real> {
    /// The axes in Ground.
    R_GB: Matrix3<T>,
    /// The derivatives of the angles by a turn, and of their rates by an angular velocity.
    N: Matrix3<T>,
    /// The derivatives of the translation by a turn, and of its rate by an angular velocity.
    lean: Matrix3<T>,
    /// The derivatives of the rates of angles and translation by a turn, for constant velocities.
    rates_by_turn: [Matrix3<T>; 2],
    /// The derivative of the rate of the translation by a shift.
    drift: Matrix3<T>,
    /// The derivatives of the torque on M and the force by a turn, for constant generalized forces.
    wrench_by_turn: [Matrix3<T>; 2],
    /// The derivative of the torque by a shift, for constant generalized forces.
    lever: Matrix3<T>,
}

impl<T: Real> Motion<T> {
    #[inline]
    fn new<C: Coordinates<T>>(at: &AtDynamics<'_, T, Bushing<T, C>>) -> Self {
        let Position { X_GF, chart, q, .. } = at.position;
        let (V_FM, (m, F)) = (&at.velocity.V_FM, halves(&at.dynamics.f));
        let (R_GF, none) = (X_GF.rotation.matrix(), Matrix3::zeros());
        if !C::HALF_WAY {
            let [rates, torque] = C::rates_by_turn(chart, &V_FM.angular, &m);
            return Self {
                R_GB: *R_GF,
                N: chart.N,
                lean: none,
                rates_by_turn: [rates, none],
                drift: none,
                wrench_by_turn: [torque, none],
                lever: none,
            };
        }
        let (one, half, by_u) = (Matrix3::identity(), T::lit(0.5), T::lit(0.25) / chart.c);
        let B =
            Matrix3::from_columns(&[0, 1, 2].map(|axis| chart.halved(&one.column(axis).into(), T::one())));
        let [w, v] = [V_FM.angular, V_FM.linear].map(|v| B.tr_mul(&v));
        let (_, x) = halves(q);
        let N = chart.N * B;
        let [rates, moments] = C::rates_by_turn(chart, &w, &m);

        let S = (one - chart.u.cross_matrix()) * half;
        let (carried, lean, spin, moment) = (cross_times(&w, &S), cross_times(&x, &S), S * w, x.cross(&F));
        let spun = w.cross_matrix() * by_u + S * carried;
        let lever = S.tr_mul(&F.cross_matrix());
        let torque = N.tr_mul(&m) - S.tr_mul(&moment);
        Self {
            R_GB: R_GF * B,
            N,
            lean,
            rates_by_turn: [
                rates + N * carried,
                cross_times(&v, &S) + cross_times(&x, &spun) - cross_times(&spin, &lean),
            ],
            drift: -spin.cross_matrix(),
            wrench_by_turn: [
                moments - cross_times(&torque, &S) + moment.cross_matrix() * by_u + lever * lean,
                -cross_times(&F, &S),
            ],
            lever,
        }
    }

    /// The torque and the force that result from moments of the angles and forces of the translation.
    #[inline]
    fn wrench([moments, forces]: &[Matrix3<T>; 2], N: &Matrix3<T>, lean: &Matrix3<T>) -> [Matrix3<T>; 2] {
        [N.tr_mul(moments) + lean.tr_mul(forces), *forces]
    }
}

/// The changes of moments and forces that result from changes of the coordinates, with these slopes.
#[inline]
fn resistance<T: Real>(
    [of_angles, across, of_translation]: &[Matrix3<T>; 3],
    [angles, translation]: [&Matrix3<T>; 2],
) -> [Matrix3<T>; 2] {
    [of_angles * angles + across * translation, across.tr_mul(angles) + of_translation * translation]
}

impl<T: Real, C: Coordinates<T>> Bushing<T, C> {
    fn law_slopes(&self, at: &AtDynamics<'_, T, Self>, steepest: bool) -> [[Matrix3<T>; 3]; 2] {
        self.coordinates.slopes(&at.parameters.law, [&at.position.q, &at.velocity.qdot], steepest)
    }

    /// Writes all derivatives in scope, since they follow from the same quantities.
    pub(super) fn linearize_in_scope(&self, at: &AtDynamics<'_, T, Self>, blocks: &mut Blocks<'_, T>) {
        let motion = Motion::new(at);
        let between = self.between(at, &motion);
        blocks.add_between(&between);
        let Scope { variables, commit } = blocks.scope();
        if variables {
            self.linearize_by_variables(at, &between, blocks);
        }
        if commit {
            self.linearize_memory(at, &motion.R_GB, blocks);
        }
    }

    /// The law relative to body 1: `F = Jᵀ f(q, q̇)` with `q̇ = J V`, where `J` varies as M turns and moves.
    #[inline]
    fn between(&self, at: &AtDynamics<'_, T, Self>, motion: &Motion<T>) -> Between<T> {
        let Position { X_GF, X_GM, .. } = at.position;
        let Motion { R_GB, N, lean, rates_by_turn: [rate, lean_rate], drift, wrench_by_turn, lever } = motion;
        let [K, D] = self.law_slopes(at, false);
        // Quarter by quarter: a map of arrays copies each matrix.
        let coupled = |[[a, b], [c, d]]: &[[Matrix3<T>; 2]; 2]| {
            Slopes::Coupled([[rotated(R_GB, a), rotated(R_GB, b)], [rotated(R_GB, c), rotated(R_GB, d)]])
        };
        let separate = |torque: &Matrix3<T>, force: &Matrix3<T>| Slopes::Separate {
            torque: rotated(R_GB, torque),
            force: rotated(R_GB, force),
        };
        let (by_position, by_velocity) = if C::HALF_WAY {
            let [elastic, damping] = [resistance(&K, [N, lean]), resistance(&D, [rate, lean_rate])];
            let wrench = |forces: &[Matrix3<T>; 2]| Motion::wrench(forces, N, lean);
            let by_turn = wrench(&[elastic[0] + damping[0], elastic[1] + damping[1]]);
            let by_shift = wrench(&[K[1] + D[1] * drift, K[2] + D[2] * drift]);
            let by_angular = wrench(&resistance(&D, [N, lean]));
            let by_linear = wrench(&[D[1], D[2]]);
            let by_position = [
                [wrench_by_turn[0] - by_turn[0], lever - by_shift[0]],
                [wrench_by_turn[1] - by_turn[1], -by_shift[1]],
            ];
            let by_velocity = [[-by_angular[0], -by_linear[0]], [-by_angular[1], -by_linear[1]]];
            (coupled(&by_position), coupled(&by_velocity))
        } else {
            let torque = wrench_by_turn[0] - N.tr_mul(&(K[0] * N + D[0] * rate));
            (separate(&torque, &-K[2]), separate(&-N.tr_mul(&(D[0] * N)), &-D[2]))
        };
        Between {
            bodies: self.bodies,
            p_GM: X_GM.translation.vector.into(),
            F_GM: at.dynamics.F_GM,
            V_M: at.velocity.V_FM.rotated(&X_GF.rotation),
            by_position,
            by_velocity,
        }
    }

    fn linearize_by_variables(
        &self,
        at: &AtDynamics<'_, T, Self>,
        between: &Between<T>,
        blocks: &mut Blocks<'_, T>,
    ) {
        let Position { X_GF, X_GM, q, .. } = at.position;
        blocks.add_between_by_frames(between, &at.parameters.frames.poses(), &X_GF.translation.vector);
        // The forces are linear in stiffness and damping.
        let units =
            [0, 1, 2, 3, 4, 5].map(|axis| wrench_on_M::<T, C>(at.position, &Vector6::ith(axis, T::one())));
        let mut changes = [SpatialForce::zero(); 42];
        let mut count = 0;
        for motion in [q, &at.velocity.qdot] {
            for (row, column) in C::entries() {
                let mut change = units[row] * -motion[column];
                if column > row {
                    change += units[column] * -motion[row];
                }
                changes[count] = change;
                count += 1;
            }
        }
        let (p_GM, first) = (X_GM.translation.vector.into(), blocks.parameter(0) + Frames::<T>::COUNT);
        blocks.add_between_by_variables(self.bodies, &p_GM, first, &changes[..count]);
    }

    fn linearize_memory(&self, at: &AtDynamics<'_, T, Self>, R_GB: &Matrix3<T>, blocks: &mut Blocks<'_, T>) {
        let (none, still) = (Vector3::zeros(), SpatialVelocity::zero());
        let of_frames = (self.bodies, &at.parameters.frames.poses());
        for (row, by_turn) in C::memory_by_turn(&at.position.chart).enumerate() {
            let (row, at_rest, by_position) =
                (Row::Next(row), (&none, &none.into(), &still), [R_GB * by_turn, none]);
            blocks.add_to_between_frames(row, of_frames, at_rest, by_position, [none; 2]);
        }
    }

    pub(super) fn report(&self, at: &AtDynamics<'_, T, Self>, stiffnesses: &mut Stiffnesses<'_, T>) {
        let Motion { R_GB, N, lean, wrench_by_turn, .. } = &Motion::new(at);
        let [k, c] = self.law_slopes(at, true).map(|slopes| {
            let (torque, across) = if C::HALF_WAY {
                let [torque, force] = Motion::wrench(&resistance(&slopes, [N, lean]), N, lean);
                (torque, rotated(R_GB, &force.transpose()))
            } else {
                (N.tr_mul(&(slopes[0] * N)), Matrix3::zeros())
            };
            [rotated(R_GB, &torque), across, rotated(R_GB, &slopes[2])].map(|quarter| quarter.map(T::to_f64))
        });
        let p_GM = at.position.X_GM.translation.vector.into();
        stiffnesses.coupled(&k, &c, self.bodies, &p_GM);
        // The load turns with M, and with the axes on which a moment may act on others.
        let turned = wrench_by_turn[0].map(T::to_f64);
        let most = ComplexField::sqrt((turned.transpose() * turned).symmetric_eigenvalues().max());
        let force = at.dynamics.F_GM.force.norm().to_f64();
        stiffnesses.load(force, most, self.bodies.map(|body| (body, p_GM)));
    }
}
