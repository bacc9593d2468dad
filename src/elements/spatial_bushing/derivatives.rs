//! Derivatives of the law of the bushing, and of its memory.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::{Position, SpatialBushing, Velocity, halves};
use crate::elements::spatial_bushing::turn::Turn;
use crate::framework::{AtDynamics, Between, Blocks};
use crate::math::{Real, SpatialForce, SpatialVelocity, joined, places};

type At<'a, T> = AtDynamics<'a, T, SpatialBushing<T>>;

/// The numbers of the parameters before the stiffness and before the damping: those of two poses come first.
const STIFFNESS: usize = 24;
const DAMPING: usize = 45;

/// How torque and force on M follow from the generalized forces, and the rates from the twist of M in F, all in Ground:
/// `τ = A m − Bᵀ (x × F)`, `θ̇ = A w`, and H turns in F by `B w`.
struct Frame<T: Real> {
    /// The turn with its vector in Ground.
    turn: Turn<T>,
    A: Matrix3<T>,
    B: Matrix3<T>,
    x: Vector3<T>,
}

impl<T: Real> Frame<T> {
    #[inline]
    fn new(at: &At<'_, T>) -> Self {
        let Position { X_GH, q, turn, .. } = at.position;
        let turn = Turn { v: X_GH.rotation * turn.v, ..*turn };
        let A = Matrix3::from_diagonal_element(turn.growth) + turn.v * turn.v.transpose() * turn.along;
        let B = (Matrix3::identity() - turn.quarter().cross_matrix()) * T::lit(0.5);
        Self { turn, A, B, x: X_GH.rotation * halves(q).1 }
    }

    /// Torque and force on M of generalized forces.
    fn wrench(&self, m: &Vector3<T>, F: &Vector3<T>) -> SpatialForce<T> {
        SpatialForce::new(self.A * m - self.B.tr_mul(&self.x.cross(F)), *F)
    }
}

/// Stiffnesses or dampings in Ground, in quarters: of moments by the turn, of moments by the shift, of forces by the shift.
struct Axes<T: Real> {
    turn: Matrix3<T>,
    coupling: Matrix3<T>,
    shift: Matrix3<T>,
}

impl<T: Real> Axes<T> {
    #[inline]
    fn new(all: &Matrix6<T>, R_GH: &Matrix3<T>) -> Self {
        let quarter = |row, column| R_GH * all.fixed_view::<3, 3>(row, column) * R_GH.transpose();
        Self { turn: quarter(0, 0), coupling: quarter(0, 3), shift: quarter(3, 3) }
    }

    /// Moments and forces for these turns and shifts.
    #[inline]
    fn times(&self, turn: &Matrix3<T>, shift: &Matrix3<T>) -> [Matrix3<T>; 2] {
        [self.turn * turn + self.coupling * shift, self.coupling.tr_mul(turn) + self.shift * shift]
    }
}

impl<T: Real> Turn<T> {
    /// The derivative of `v` by a turn of M in F, in the half-way frame; that of `w` is `−v/2`.
    fn derivative(&self) -> Matrix3<T> {
        (Matrix3::identity() - self.v * self.v.transpose() / (T::one() + self.w)) * T::lit(0.5)
    }

    /// The derivative of `A m` by a turn of M in F, in the half-way frame.
    fn derivative_of_rate(&self, m: &Vector3<T>) -> Matrix3<T> {
        let Self { w, v, along, .. } = self;
        let half = T::lit(0.5);
        // Those of `growth` and `along` by the turn are these times `v`.
        let by_growth = half * ((T::one() + *w).recip() + *along * *w);
        let by_along = self.derivative_of_along();
        let P = self.derivative();
        let product = v.dot(m);
        m * v.transpose() * by_growth
            + v * v.transpose() * (by_along * product)
            + (P * product + v * (P * m).transpose()) * *along
    }
}

impl<T: Real> SpatialBushing<T> {
    /// The law as seen from body 1.
    #[inline]
    pub(super) fn between(&self, at: &At<'_, T>) -> Between<T> {
        let Position { X_GF, X_GM, X_GH, q, .. } = at.position;
        let Velocity { V_GF, V_GM, .. } = at.velocity;
        let frame = Frame::new(at);
        let Frame { turn, A, B, x } = &frame;
        let r_FM = X_GM.translation.vector - X_GF.translation.vector;
        let w = V_GM.angular - V_GF.angular;
        let v = V_GM.linear - V_GF.linear - V_GF.angular.cross(&r_FM);
        let cross = |vector: &Vector3<T>| vector.cross_matrix();
        // Of the quarter turn by the turn, halved.
        let quarter = T::lit(0.25) / (T::one() + turn.w);

        let mut stiffness = at.parameters.law.stiffness.matrix();
        for (axis, curve) in self.axes_with_curves() {
            stiffness[(axis, axis)] += curve.at(q[axis]).slope;
        }
        let R_GH = X_GH.rotation.matrix();
        let (K, D) = (Axes::new(&stiffness, R_GH), Axes::new(&at.parameters.law.damping.matrix(), R_GH));

        // The derivative of q is J = [A 0; C 1], as is that of its rate by the twist of M. The rate also follows the turn, and
        // a shift since H turns.
        let C = cross(x) * B;
        let (turning, spin) = (cross(&w) * B, cross(&(B * w)));
        let rate_turn = turn.derivative_of_rate(&w) + A * turning;
        let rate_shift = cross(&v) * B - spin * C + cross(x) * (B * turning + cross(&w) * quarter);
        let [K_m, K_F] = K.times(A, &C);
        let [D_m, D_F] = D.times(A, &C);
        let [m_by_rate, F_by_rate] = D.times(&rate_turn, &rate_shift);
        let (m_by_turn, F_by_turn) = (K_m + m_by_rate, K_F + F_by_rate);

        // The turn itself changes how torques follow from moments and levers, and takes the half-way frame along.
        let (m, F) = halves(&at.dynamics.f);
        let (m, F) = (R_GH * m, R_GH * F);
        let moment = x.cross(&F);
        let lever = B.transpose() * cross(&F);
        let carried = turn.derivative_of_rate(&m) + lever * C + cross(&moment) * quarter
            - cross(&frame.wrench(&m, &F).torque) * B;
        // Jᵀ of moments and forces; Jᵀ K J and Jᵀ D J are symmetric.
        let by_position = joined([
            [carried - A * m_by_turn - C.tr_mul(&F_by_turn), lever - K_F.transpose() + D_F.tr_mul(&spin)],
            [-(F_by_turn + cross(&F) * B), D.shift * spin - K.shift],
        ]);
        let by_velocity = joined([[-(A * D_m + C.tr_mul(&D_F)), -D_F.transpose()], [-D_F, -D.shift]]);
        Between {
            bodies: self.ends.bodies(),
            p_GM: X_GM.translation.vector.into(),
            F_GM: at.dynamics.F_GM,
            V_M: SpatialVelocity::new(w, v),
            by_position,
            by_velocity,
        }
    }

    pub(super) fn linearize_force_by_variables(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let Position { X_GF, X_GM, X_GH, q, .. } = at.position;
        let (bodies, p_GM) = (self.ends.bodies(), X_GM.translation.vector.into());
        blocks.add_between_by_frames(
            &self.between(at),
            &at.parameters.frames.poses(),
            &X_GF.translation.vector,
        );
        let frame = Frame::new(at);
        for (first, factors) in [(STIFFNESS, q), (DAMPING, &at.velocity.qdot)] {
            for (entry, (row, column)) in places().enumerate() {
                let mut f = Vector6::zeros();
                f[row] = -factors[column];
                f[column] = -factors[row];
                let (m, F) = halves(&f);
                let change = frame.wrench(&(X_GH.rotation * m), &(X_GH.rotation * F));
                blocks.add_between_by_variable(bodies, &p_GM, blocks.parameter(first + entry), &change);
            }
        }
    }

    /// The memory is the orientation of M in F.
    pub(super) fn linearize_memory(&self, at: &At<'_, T>, blocks: &mut Blocks<'_, T>) {
        let Position { X_GH, turn, .. } = at.position;
        let R_GH = X_GH.rotation.matrix();
        let by_turn = R_GH * turn.derivative();
        let [x, y, z] = [0, 1, 2].map(|component| Vector3::from(by_turn.column(component)));
        let rates = [x, y, z, R_GH * turn.v * T::lit(-0.5)];
        self.ends.linearize_memory(&rates, &at.parameters.frames.poses(), blocks);
    }
}
