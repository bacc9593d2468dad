//! Derivatives of the law of the bushing, and of its memory.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use super::{Position, SpatialBushing, Velocity, halves};
use crate::elements::spatial_bushing::turn::Turn;
use crate::framework::{AtDynamics, Between, Blocks, Pair};
use crate::math::{Real, SpatialForce, SpatialVelocity, places};

type At<'a, T> = AtDynamics<'a, T, SpatialBushing<T>>;

/// The numbers of the parameters before the stiffness and before the damping: those of two poses come first.
const STIFFNESS: usize = 24;
const DAMPING: usize = 45;

/// How torque and force on M follow from the generalized forces, and the rates from the twist of M in F, in the half-way
/// frame: `τ = A m − Bᵀ (x × F)`, `θ̇ = A w`, and H turns in F by `B w`.
struct Frame<T: Real> {
    A: Matrix3<T>,
    B: Matrix3<T>,
    x: Vector3<T>,
}

impl<T: Real> Frame<T> {
    fn new(at: &At<'_, T>) -> Self {
        let turn = &at.position.turn;
        let A = Matrix3::from_diagonal_element(turn.growth) + turn.v * turn.v.transpose() * turn.along;
        let B = (Matrix3::identity() - turn.quarter().cross_matrix()) * T::lit(0.5);
        Self { A, B, x: halves(&at.position.q).1 }
    }

    /// `∂q/∂(turn, shift)`, which also takes the twist of M to `q̇`.
    fn jacobian(&self) -> Matrix6<T> {
        let coupling = self.x.cross_matrix() * self.B;
        joined(&self.A, &Matrix3::zeros(), &coupling, &Matrix3::identity())
    }

    /// Torque and force on M of generalized forces, in Ground.
    fn wrench(&self, f: &Vector6<T>, R_GH: &Matrix3<T>) -> SpatialForce<T> {
        let (m, F) = halves(f);
        SpatialForce::new(R_GH * (self.A * m - self.B.tr_mul(&self.x.cross(&F))), R_GH * F)
    }

    /// The derivatives of torque and force of those of the generalized forces, in the half-way frame.
    fn wrenches(&self, f: &Matrix6<T>) -> Matrix6<T> {
        let [[m_u, m_s], [F_u, F_s]] = quarters(f);
        let lever = self.B.transpose() * self.x.cross_matrix();
        joined(&(self.A * m_u - lever * F_u), &(self.A * m_s - lever * F_s), &F_u, &F_s)
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
        let Position { X_GF, X_GM, X_GH, q, turn, .. } = at.position;
        let Velocity { V_GF, V_GM, .. } = at.velocity;
        let frame = Frame::new(at);
        let Frame { A, B, x } = &frame;
        let R_GH = X_GH.rotation.matrix();

        let r_FM = X_GM.translation.vector - X_GF.translation.vector;
        let w_G = V_GM.angular - V_GF.angular;
        let v_G = V_GM.linear - V_GF.linear - V_GF.angular.cross(&r_FM);
        let [w, v] = [w_G, v_G].map(|vector| R_GH.tr_mul(&vector));
        // Of the quarter turn by the turn, halved.
        let quarter = T::lit(0.25) / (T::one() + turn.w);
        let cross = |vector: &Vector3<T>| vector.cross_matrix();

        let by_q = {
            let mut stiffness = at.parameters.law.stiffness.matrix();
            for (axis, curve) in self.axes_with_curves() {
                stiffness[(axis, axis)] += curve.at(q[axis]).slope;
            }
            stiffness
        };
        let damping = at.parameters.law.damping.matrix();
        let jacobian = frame.jacobian();
        let turning = cross(&w) * B;
        let rates = joined(
            &(turn.derivative_of_rate(&w) + A * turning),
            &Matrix3::zeros(),
            &(cross(&v) * B - cross(&(B * w)) * cross(x) * B
                + cross(x) * (B * turning + cross(&w) * quarter)),
            &-cross(&(B * w)),
        );
        let mut by_position = frame.wrenches(&-(by_q * jacobian + damping * rates));
        let by_velocity = frame.wrenches(&-(damping * jacobian));

        // The turn itself changes how torques follow from moments and levers, and takes the half-way frame along.
        let (m, F) = halves(&at.dynamics.f);
        let moment = x.cross(&F);
        let torque = A * m - B.tr_mul(&moment);
        let lever = B.transpose() * cross(&F);
        let by_turn = turn.derivative_of_rate(&m) + lever * cross(x) * B + cross(&moment) * quarter
            - cross(&torque) * B;
        add(&mut by_position, (0, 0), &by_turn);
        add(&mut by_position, (0, 3), &lever);
        add(&mut by_position, (3, 0), &-(cross(&F) * B));
        Between {
            bodies: self.ends.bodies(),
            p_GM: X_GM.translation.vector.into(),
            F_GM: at.dynamics.F_GM,
            V_M: SpatialVelocity::new(w_G, v_G),
            by_position: in_ground(&by_position, R_GH),
            by_velocity: in_ground(&by_velocity, R_GH),
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
                let change = frame.wrench(&f, X_GH.rotation.matrix());
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

/// The derivatives of torque and force in Ground.
fn in_ground<T: Real>(derivatives: &Matrix6<T>, R_GH: &Matrix3<T>) -> Pair<T> {
    let [torques, forces] = quarters(derivatives).map(|row| row.map(|part| R_GH * part * R_GH.transpose()));
    Pair {
        torque_by_angular: torques[0],
        torque_by_linear: torques[1],
        force_by_angular: forces[0],
        force_by_linear: forces[1],
    }
}

fn joined<T: Real>(a: &Matrix3<T>, b: &Matrix3<T>, c: &Matrix3<T>, d: &Matrix3<T>) -> Matrix6<T> {
    let mut all = Matrix6::zeros();
    for (place, part) in [((0, 0), a), ((0, 3), b), ((3, 0), c), ((3, 3), d)] {
        all.fixed_view_mut::<3, 3>(place.0, place.1).copy_from(part);
    }
    all
}

fn quarters<T: Real>(all: &Matrix6<T>) -> [[Matrix3<T>; 2]; 2] {
    [0, 3].map(|row| [0, 3].map(|column| all.fixed_view::<3, 3>(row, column).into_owned()))
}

fn add<T: Real>(all: &mut Matrix6<T>, (row, column): (usize, usize), part: &Matrix3<T>) {
    let mut view = all.fixed_view_mut::<3, 3>(row, column);
    view += part;
}
