//! The statement of the page on linearization: of an element with a potential, at rest, all is symmetric but the turns of a
//! body under torque.

use super::cables::{Chain, Ring};
use super::hertz::{BallOnBall, BallOnPlane};
use super::meshes::{
    AnchoredBrick, AnchoredClippedBrick, ClippedBrick, ClippedBrickAndBall, ClippedTorus, SoftBrickAndBall,
    SoftTorus, TorusInBall,
};
use super::scene::{
    Bushing, Cable, Coordinate, CoupledBushing, HardeningBushing, ReturnMappedSpring, SmoothlyStopped, Spring,
};
use force_elements::testing::{Numbers, Scene, Subject};
use force_elements::{End, Error, Linearization, SpatialVelocity};

/// Requires symmetry in the scenes of some seeds, and that most have a torque.
fn is_symmetric<S: Subject>() -> Result<(), Error> {
    let mut with_torque = 0;
    for seed in 0..50 {
        let Scene { system, mut state, element } = S::scene::<f64>(&mut Numbers::new(seed))?;
        for body in system.bodies() {
            state.set_velocity(body, SpatialVelocity::zero())?;
        }
        for coordinate in system.coordinates() {
            state.set_coordinate_rate(coordinate, 0.0)?;
        }
        let forces = system.realize_dynamics(&mut state)?.forces().clone();
        let mut linearization = Linearization::new();
        system.linearize(&state, &mut linearization)?;
        let [mut stiffness, _] = linearization.to_dense();
        let size = stiffness.amax();
        for body in system.bodies() {
            let torque = forces.body(body).torque;
            let first = linearization.row_of(End::Body(body)).unwrap_or_default();
            let mut turns = stiffness.fixed_view_mut::<3, 3>(first, first);
            turns += torque.cross_matrix() * 0.5;
            with_torque += u32::from(torque.norm() > 1e-9 * size);
        }
        let off = (&stiffness - stiffness.transpose()).amax();
        // Hundreds of springs with levers of a metre; differences are off by 1e-8 of smooth forces.
        let is_exact = linearization.element(element).is_exact();
        let tolerance = if is_exact { 1e-12 } else { 1e-6 };
        assert!(off <= tolerance * size, "{seed}: {off:e} of {size:e}");
    }
    assert!(with_torque > 20 || forces_coordinates_alone::<S>()?, "{with_torque}");
    Ok(())
}

fn forces_coordinates_alone<S: Subject>() -> Result<bool, Error> {
    Ok(S::scene::<f64>(&mut Numbers::new(0))?.system.bodies().next().is_none())
}

#[test]
fn bushings() -> Result<(), Error> {
    is_symmetric::<Bushing>()?;
    is_symmetric::<CoupledBushing>()?;
    is_symmetric::<HardeningBushing>()
}

#[test]
fn coordinate_elements_that_stick() -> Result<(), Error> {
    is_symmetric::<Coordinate<false>>()?;
    is_symmetric::<SmoothlyStopped>()
}

#[test]
fn exponential_springs_that_hold() -> Result<(), Error> {
    is_symmetric::<Spring>()?;
    is_symmetric::<ReturnMappedSpring>()
}

#[test]
fn foundations_with_a_potential() -> Result<(), Error> {
    is_symmetric::<SoftTorus>()?;
    is_symmetric::<SoftBrickAndBall>()?;
    is_symmetric::<TorusInBall>()?;
    is_symmetric::<ClippedTorus>()?;
    is_symmetric::<ClippedBrickAndBall>()?;
    is_symmetric::<ClippedBrick>()?;
    is_symmetric::<AnchoredBrick>()?;
    is_symmetric::<AnchoredClippedBrick>()
}

#[test]
fn cables() -> Result<(), Error> {
    is_symmetric::<Cable>()?;
    is_symmetric::<Chain>()?;
    is_symmetric::<Ring>()
}

#[test]
fn contacts_of_balls() -> Result<(), Error> {
    is_symmetric::<BallOnBall>()?;
    is_symmetric::<BallOnPlane>()
}
