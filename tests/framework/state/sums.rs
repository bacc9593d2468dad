//! Totals that overflow although every element is finite.

use force_elements::nalgebra::{Translation3, Vector3, Vector6};
use force_elements::{
    BodyIndex, Error, ForceSystem, Frame, KinematicsError, LinearBushing, Pose, Quantity, SpatialVelocity,
    Stage, State, linear_bushing,
};

/// A body at x = 1 m, on as many bushings of this stiffness and damping.
fn on_bushings(count: usize, stiffness: f64, damping: f64) -> (ForceSystem<f64>, State<f64>) {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    for _ in 0..count {
        let (k, c) = (Vector6::repeat(stiffness), Vector6::repeat(damping));
        let bushing = LinearBushing::new(
            Frame::ground(Pose::identity()),
            Frame::of(body),
            linear_bushing::Parameters { stiffness: k, damping: c },
        )
        .expect("valid");
        system.add(bushing).expect("exists");
    }
    let mut state = system.default_state();
    state.set_pose(body, Pose::from(Translation3::new(1.0, 0.0, 0.0))).expect("finite");
    (system, state)
}

#[test]
fn a_sum_of_finite_forces_that_is_infinite_is_an_error() {
    let (system, mut state) = on_bushings(1, 1e308, 0.0);
    assert!(system.realize_dynamics(&mut state).is_ok(), "one alone is finite");
    let (system, mut state) = on_bushings(2, 1e308, 0.0);
    let refused = system.realize_dynamics(&mut state).map(|_| ()).expect_err("1e308 + 1e308");
    let quantity = Quantity::BodyForce(BodyIndex::GROUND);
    assert_eq!(refused, KinematicsError::NonFinite { quantity }.into());
    assert!(state.stage() < Stage::Dynamics);
}

#[test]
fn a_sum_of_finite_powers_that_is_infinite_is_an_error() {
    for count in [1, 2] {
        let (system, mut state) = on_bushings(count, 0.0, 1e300);
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::y() * 1e4);
        let body = system.bodies().next().expect("one");
        state.set_velocity(body, velocity).expect("finite");
        let outcome = system.realize_dynamics(&mut state).map(|_| ());
        // 1e308 W each; the forces are far from overflowing.
        let expected = if count == 1 { Ok(()) } else { Err(Error::NonFiniteEnergy) };
        assert_eq!(outcome, expected);
    }
}
