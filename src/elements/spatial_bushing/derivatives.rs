//! Derivatives of the law of the bushing, and of its memory.

use core::array::from_fn;

use nalgebra::{Matrix3, Point3, Vector3, Vector6};

use super::{Curves, Frames, Position, SpatialBushing, Symmetric6, Velocity, halves, with_axes};
use crate::elements::spatial_bushing::turn::Turn;
use crate::framework::{AtDynamics, Between, Blocks, Slopes};
use crate::math::{
    Real, SpatialForce, SpatialVelocity, cross_cross, cross_times, have_same_bits, outer, places, rotated,
    times_cross, times_transpose,
};

type At<'a, T> = AtDynamics<'a, T, SpatialBushing<T>>;

/// The geometry of the law at one orientation, for torques about a point P of body 2, all in Ground.
///
/// The derivative of `q`, and of its rate by the twist of P in F, is `J = [A 0; C 1]`; torque and force follow by `Jᵀ`
/// from moments and forces. H rotates in F by `B w`.
struct Frame<T: Real> {
    /// The rotation with its vector in Ground.
    turn: Turn<T>,
    /// The tangent of a quarter of the rotation angle, along its axis: `B = (1 − [u]×)/2`.
    u: Vector3<T>,
    x: Vector3<T>,
    /// From P to M.
    r: Vector3<T>,
    A: Matrix3<T>,
    C: Matrix3<T>,
}

impl<T: Real> Frame<T> {
    #[inline]
    fn new(at: &At<'_, T>, p_GP: &Point3<T>) -> Self {
        let Position { X_GH, X_GM, q, turn, .. } = at.position;
        let turn = Turn { v: X_GH.rotation * turn.v, ..*turn };
        let (u, x) = (turn.quarter(), X_GH.rotation * halves(q).1);
        let r = X_GM.translation.vector - p_GP.coords;
        let A = outer(&(turn.v * turn.along), &turn.v, turn.growth);
        let mut frame = Self { turn, u, x, r, A, C: -r.cross_matrix() };
        frame.C += frame.cross_B(&x);
        frame
    }

    /// `[a]× B`.
    #[inline]
    fn cross_B(&self, a: &Vector3<T>) -> Matrix3<T> {
        (a.cross_matrix() - cross_cross(a, &self.u)) * T::lit(0.5)
    }

    /// The torque about M of moments and forces.
    fn torque(&self, m: &Vector3<T>, F: &Vector3<T>) -> Vector3<T> {
        let moment = self.x.cross(F);
        self.turn.rate(m) - (moment + self.u.cross(&moment)) * T::lit(0.5)
    }

    /// The angular velocity of H in F.
    fn spin(&self, w: &Vector3<T>) -> Vector3<T> {
        (w - self.u.cross(w)) * T::lit(0.5)
    }

    /// Half of the derivative of `B w` by the rotation, except for the part that turns with H: this times `[w]×`.
    fn quarter(&self) -> T {
        T::lit(0.25) / (T::one() + self.turn.w)
    }

    /// The derivatives of the rates by a rotation about P, for this angular velocity and this velocity of M in F.
    #[inline]
    fn rates_by_turn(&self, factors: &[T; 2], w: &Vector3<T>, v: &Vector3<T>) -> [Matrix3<T>; 2] {
        let Self { turn, u, x, r, C, .. } = self;
        let turning = self.cross_B(w);
        let spin_by_turn =
            (turning - cross_times(u, &turning)) * T::lit(0.5) + w.cross_matrix() * self.quarter();
        [
            turn.derivative_of_rate(factors, w) + turn.rates(&turning),
            self.cross_B(v) - cross_times(&self.spin(w), C) + cross_times(x, &spin_by_turn)
                - cross_cross(w, r),
        ]
    }

    /// The derivative of the torque about P by a rotation about P, for constant moments and forces, which turn with H;
    /// `by_turn` is `[F]× B`.
    #[inline]
    fn torque_by_turn(
        &self,
        factors: &[T; 2],
        m: &Vector3<T>,
        F: &Vector3<T>,
        by_turn: &Matrix3<T>,
    ) -> Matrix3<T> {
        let Self { turn, x, r, C, .. } = self;
        let moment = x.cross(F).cross_matrix() * self.quarter();
        let lever = cross_cross(F, r) - cross_times(r, by_turn);
        turn.derivative_of_rate(factors, m) - by_turn.tr_mul(C) + moment - self.cross_B(&self.torque(m, F))
            + lever
    }
}

/// Stiffnesses or dampings in Ground, in quarters: of moments by rotation, of moments by translation, of forces by
/// translation.
struct Axes<T: Real> {
    turn: Matrix3<T>,
    /// `None` where all are zero.
    coupling: Option<Matrix3<T>>,
    shift: Matrix3<T>,
}

impl<T: Real> Axes<T> {
    #[inline]
    fn new([turn, coupling, shift]: &[Matrix3<T>; 3], R_GH: &Matrix3<T>) -> Self {
        // A comparison with zero would drop the derivatives of dual numbers.
        let is_zero = |entry: &T| have_same_bits(*entry, T::zero());
        let in_Ground = |quarter: &Matrix3<T>| {
            if [1, 2, 5].iter().all(|&i| is_zero(&quarter[i])) {
                let scaled = |i| R_GH.column(i) * quarter[(i, i)];
                times_transpose(&Matrix3::from_columns(&[scaled(0), scaled(1), scaled(2)]), R_GH)
            } else {
                rotated(R_GH, quarter)
            }
        };
        Self {
            turn: in_Ground(turn),
            coupling: (!coupling.iter().all(is_zero)).then(|| rotated(R_GH, coupling)),
            shift: in_Ground(shift),
        }
    }

    /// Moments and forces for these rotations and translations.
    #[inline]
    fn times(&self, turn: &Matrix3<T>, shift: &Matrix3<T>) -> [Matrix3<T>; 2] {
        let (mut moments, mut forces) = (self.turn * turn, self.shift * shift);
        if let Some(coupling) = &self.coupling {
            moments += coupling * shift;
            forces += coupling.tr_mul(turn);
        }
        [moments, forces]
    }
}

impl<T: Real> Turn<T> {
    /// The derivative of `v` by a turn of M in F, in the half-way frame; that of `w` is `−v/2`.
    fn derivative(&self) -> Matrix3<T> {
        (Matrix3::identity() - self.v * self.v.transpose() / (T::one() + self.w)) * T::lit(0.5)
    }

    /// `A m`, as [`rate`](Self::rate), for three vectors.
    #[inline]
    fn rates(&self, m: &Matrix3<T>) -> Matrix3<T> {
        let rate = |column| self.rate(&m.column(column).into());
        Matrix3::from_columns(&[rate(0), rate(1), rate(2)])
    }

    /// The derivatives of `growth` and `along` by a rotation of M in F, in the half-way frame, are these times `v`.
    fn derivatives_of_factors(&self) -> [T; 2] {
        let by_growth = T::lit(0.5) * ((T::one() + self.w).recip() + self.along * self.w);
        [by_growth, self.derivative_of_along()]
    }

    /// The derivative of `A m` by a turn of M in F, in the half-way frame.
    #[inline]
    fn derivative_of_rate(&self, [by_growth, by_along]: &[T; 2], m: &Vector3<T>) -> Matrix3<T> {
        let Self { w, v, along, .. } = self;
        let (p, half) = (v.dot(m), T::lit(0.5) * *along);
        let left = m * *by_growth + v * (p * (*by_along - *along / (T::one() + *w)));
        outer(&left, v, half * p) + outer(v, &(m * half), T::zero())
    }
}

impl<T: Real> SpatialBushing<T> {
    /// The law as seen from body 1, in terms of the twist of a point of body 2.
    #[inline]
    pub(super) fn between(&self, at: &At<'_, T>, p_GP: &Point3<T>) -> Between<T> {
        let Position { X_GF, X_GM, X_GH, q, .. } = at.position;
        let Velocity { V_GF, V_GM, qdot } = at.velocity;
        let r_FM = X_GM.translation.vector - X_GF.translation.vector;
        let w = V_GM.angular - V_GF.angular;
        let v = V_GM.linear - V_GF.linear - V_GF.angular.cross(&r_FM);
        let frame = Frame::new(at, p_GP);
        let Frame { turn, A, C, r, .. } = &frame;

        let R_GH = X_GH.rotation.matrix();
        let slopes = |matrix: &Symmetric6<T>, curves: &Curves<T>, at: &Vector6<T>| {
            let mut quarters = matrix.quarters();
            let [of_turn, _, of_shift] = &mut quarters;
            for (axis, curve) in with_axes(curves) {
                let (quarter, i) = if axis < 3 { (&mut *of_turn, axis) } else { (&mut *of_shift, axis - 3) };
                quarter[(i, i)] += curve.at(at[axis]).slope;
            }
            Axes::new(&quarters, R_GH)
        };
        let law = &at.parameters.law;
        let K = slopes(&law.stiffness, &self.curves, q);
        let D = slopes(&law.damping, &self.damping_curves, qdot);

        // The rates change with the rotation, and with a translation because H turns.
        let factors = turn.derivatives_of_factors();
        let [rate_turn, rate_shift] = frame.rates_by_turn(&factors, &w, &v);
        let spin = frame.spin(&w);
        let [K_m, K_F] = K.times(A, C);
        let [D_m, D_F] = D.times(A, C);
        let [m_by_rate, F_by_rate] = D.times(&rate_turn, &rate_shift);
        let (m_by_turn, F_by_turn) = (K_m + m_by_rate, K_F + F_by_rate);

        // The rotation changes how torques follow from moments and levers, and turns the half-way frame.
        let (m, F) = halves(&at.dynamics.f);
        let (m, F) = (R_GH * m, R_GH * F);
        let turned = frame.cross_B(&F);
        let carried = frame.torque_by_turn(&factors, &m, &F, &turned);
        // Jᵀ of moments and forces; Jᵀ K J and Jᵀ D J are symmetric.
        let torque_by_turn = carried - turn.rates(&m_by_turn) - C.tr_mul(&F_by_turn);
        let torque_by_shift = times_cross(&D_F.transpose(), &spin) - turned.transpose() - K_F.transpose();
        let torque_by_turning = -(turn.rates(&D_m) + C.tr_mul(&D_F));
        Between {
            bodies: self.ends.bodies(),
            p_GM: *p_GP,
            F_GM: at.dynamics.F_GM.shifted(-r),
            V_M: SpatialVelocity::new(w, v - w.cross(r)),
            by_position: Slopes::Coupled([
                [torque_by_turn, torque_by_shift],
                [-(F_by_turn + turned), times_cross(&D.shift, &spin) - K.shift],
            ]),
            by_velocity: Slopes::Coupled([[torque_by_turning, -D_F.transpose()], [-D_F, -D.shift]]),
        }
    }

    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let Position { X_GF, X_GM, X_GH, q, .. } = at.position;
        let (bodies, p_GM) = (self.ends.bodies(), X_GM.translation.vector.into());
        let first = Frames::place(blocks);
        let poses = at.parameters.frames.poses();
        blocks.add_between_by_frames(&self.between(at, &p_GM), &poses, first, &X_GF.translation.vector);
        let frame = Frame::new(at, &p_GM);
        // The change for a unit of each generalized force.
        let units = from_fn::<_, 6, _>(|axis| {
            let (m, F) = halves(&Vector6::ith(axis, T::one()));
            let (m, F) = (X_GH.rotation * m, X_GH.rotation * F);
            SpatialForce::new(frame.torque(&m, &F), F)
        });
        let times =
            |unit: &SpatialForce<T>, factor: T| SpatialForce::new(unit.torque * factor, unit.force * factor);
        let mut changes = [SpatialForce::zero(); 42];
        for (changes, factors) in changes.chunks_exact_mut(21).zip([q, &at.velocity.qdot]) {
            for ((row, column), change) in places().zip(changes) {
                *change = times(&units[row], -factors[column]);
                if column > row {
                    *change += times(&units[column], -factors[row]);
                }
            }
        }
        blocks.add_between_by_variables(bodies, &p_GM, first + Frames::<T>::COUNT, &changes);
    }

    /// The memory is the orientation of M in F.
    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let Position { X_GH, turn, .. } = at.position;
        let R_GH = X_GH.rotation.matrix();
        let by_turn = R_GH * turn.derivative();
        let [x, y, z] = [0, 1, 2].map(|component| Vector3::from(by_turn.column(component)));
        let rates = [x, y, z, R_GH * turn.v * T::lit(-0.5)];
        self.ends.linearize_memory(&rates, &at.parameters.frames, blocks);
    }
}
