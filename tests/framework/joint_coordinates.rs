//! The derivatives of generalized forces by joint coordinates, as the page on linearization states them.

use force_elements::linear_bushing::Parameters;
use force_elements::nalgebra::{Rotation3, Translation3, Vector3, Vector6};
use force_elements::{
    BodyIndex, Error, ForceSystem, Forces, Frame, LinearBushing, Linearization, Pose, SpatialForce,
    SpatialVelocity, State, Variation,
};

const LENGTH: f64 = 0.7;

/// The velocity of the tip of an arm by its angle from the axis x: `V = J u`.
fn jacobian(q: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::z(), Vector3::new(-q.sin(), q.cos(), 0.0) * LENGTH)
}

/// `∂J/∂q`.
fn jacobian_by_angle(q: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::zeros(), Vector3::new(-q.cos(), -q.sin(), 0.0) * LENGTH)
}

fn scaled(V: SpatialVelocity<f64>, factor: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(V.angular * factor, V.linear * factor)
}

fn generalized(J: &SpatialVelocity<f64>, F: &SpatialForce<f64>) -> f64 {
    J.angular.dot(&F.torque) + J.linear.dot(&F.force)
}

/// A pendulum whose tip moves against springs and dampers along the axes of Ground.
struct Pendulum {
    system: ForceSystem<f64>,
    state: State<f64>,
    tip: BodyIndex,
}

impl Pendulum {
    fn on(law: Parameters<f64>) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let tip = system.add_body();
        let anchor = Frame::ground(Pose::translation(0.3, -0.2, 0.0));
        system.add(LinearBushing::new(anchor, Frame::of(tip), law)?)?;
        let state = system.default_state();
        Ok(Self { system, state, tip })
    }

    fn force(&mut self, q: f64, u: f64) -> Result<SpatialForce<f64>, Error> {
        let p = Vector3::new(q.cos(), q.sin(), 0.0) * LENGTH;
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), q);
        let X = Pose::from_parts(Translation3::from(p), turn);
        self.state.set_body(self.tip, X, scaled(jacobian(q), u))?;
        Ok(self.system.realize_dynamics(&mut self.state)?.body_force(self.tip))
    }

    /// `Q = JᵀF`.
    fn generalized_force(&mut self, q: f64, u: f64) -> Result<f64, Error> {
        Ok(generalized(&jacobian(q), &self.force(q, u)?))
    }

    /// `δQ` for changes of `q` and `u`, by the page's formula.
    fn change(&mut self, [q, u]: [f64; 2], [dq, du]: [f64; 2]) -> Result<f64, Error> {
        let F = self.force(q, u)?;
        let mut linearization = Linearization::new();
        self.system.linearize(&self.state, &mut linearization)?;
        let (J, dJ) = (jacobian(q), scaled(jacobian_by_angle(q), dq));
        let topology = self.system.topology();
        let (mut dX, mut dV) = (Variation::zeros(topology), Variation::zeros(topology));
        *dX.body_mut(self.tip) = scaled(J, dq);
        let (by_rate, by_direction) = (scaled(J, du), scaled(dJ, u));
        *dV.body_mut(self.tip) = SpatialVelocity::new(
            by_rate.angular + by_direction.angular,
            by_rate.linear + by_direction.linear,
        );
        let mut dF = Forces::zeros(topology);
        linearization.apply(&dX, &dV, &mut dF, None)?;
        Ok(generalized(&J, dF.body(self.tip)) + generalized(&dJ, &F))
    }
}

fn damper() -> Parameters<f64> {
    Parameters { stiffness: Vector6::zeros(), damping: Vector6::new(0.0, 0.0, 0.0, 3.0, 0.0, 0.0) }
}

#[test]
fn a_damper_alone_has_its_closed_form() -> Result<(), Error> {
    // Q = −3 (0.7 sin q)² u.
    let (q, u): (f64, f64) = (0.4, 2.0);
    let expected = -3.0 * LENGTH * LENGTH * (2.0 * q).sin() * u;
    assert!((expected + 2.1090).abs() < 5e-5);
    let by_angle = Pendulum::on(damper())?.change([q, u], [1.0, 0.0])?;
    // Some dozens of roundings of numbers up to 6.
    assert!((by_angle - expected).abs() < 1e-13, "{by_angle}, not {expected}");
    Ok(())
}

#[test]
fn changes_of_generalized_forces_are_those_of_differences() -> Result<(), Error> {
    let stiffness = Vector6::new(0.0, 0.0, 4.0, 20.0, 11.0, 0.0);
    let mut pendulum = Pendulum::on(Parameters { stiffness, ..damper() })?;
    for [q, u] in [[0.4, 2.0], [1.3, -0.8], [-0.6, 0.0]] {
        for [dq, du] in [[1.0, 0.0], [0.0, 1.0]] {
            let step = 1e-5;
            let mut at = |h: f64| pendulum.generalized_force(q + dq * h, u + du * h);
            let difference = (at(step)? - at(-step)?) / (2.0 * step);
            let change = pendulum.change([q, u], [dq, du])?;
            // Third derivatives up to 1e2 over 1e-5 err by 2e-9, rounding of forces of 1e1 by 1e-10.
            assert!((change - difference).abs() < 1e-8, "{q} {u}: {change}, not {difference}");
        }
    }
    Ok(())
}
