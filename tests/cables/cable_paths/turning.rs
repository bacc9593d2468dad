//! Solids that turn beside a cable, which it passes freely or on which it comes down.

use std::sync::Arc;

use force_elements::cable::{CablePath, Obstacle, Tracking, Wrap, Wrappable};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, FiniteCylinder, Sphere};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Pose, Station};

use super::{Rig, fixed, past_ball};

const RADIUS: f64 = 0.1;

/// Convex solids of revolution about z with a radius of 0.1 m. A hollow that turns may pass through a cable.
fn wheels() -> Result<[Arc<dyn Wrappable<f64>>; 4], Error> {
    Ok([
        Arc::new(Cylinder::new(RADIUS)?),
        Arc::new(FiniteCylinder::new(RADIUS, 0.5, 0.01)?),
        Arc::new(Sphere::new(RADIUS)?),
        Arc::new(Ellipsoid::new(Vector3::new(RADIUS, RADIUS, 0.15))?),
    ])
}

/// A wheel turned by this vector, with its middle this far below the x axis.
fn placed(below: f64, turn: Vector3<f64>) -> Pose<f64> {
    Pose::from_parts(Translation3::new(0.0, -below, 0.0), Rotation3::from_scaled_axis(turn))
}

/// A cable along the x axis, past the wheel and, if told, after three turns around a drum.
fn past_wheel(wheel: Arc<dyn Wrappable<f64>>, slope: f64, around_drum: bool) -> Result<Rig<f64>, Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut path = CablePath::new(fixed(-1.0, 0.0, -slope), fixed(1.0, 0.0, slope))?;
    if around_drum {
        let drum = Pose::translation(-0.5, -0.3, 0.0);
        path = path.over(Obstacle::new(Frame::ground(drum), Cylinder::new(0.3)?)?);
    }
    path = path.over(Obstacle::shared(Frame::of(body), wheel)?);
    let elastic = Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.0 };
    let cable = system.add(CableSpring::new(path, elastic)?)?;
    Ok((system, body, cable))
}

#[test]
fn a_cable_that_comes_down_on_a_turning_wheel_lies_on_the_side_where_it_passed() -> Result<(), Error> {
    for (case, wheel) in wheels()?.into_iter().enumerate() {
        for depth in [1e-3, 0.01, 0.025] {
            for step in -31..=31 {
                let angle = 0.1 * f64::from(step);
                let (system, body, cable) = past_wheel(wheel.clone(), 0.0, false)?;
                let mut state = system.default_state();
                state.set_pose(body, placed(RADIUS + 1e-3, Vector3::zeros()))?;
                let view = system.realize_position(&mut state)?;
                assert!(!view.of(cable).position.path.contacts[0].in_contact);
                system.realize_dynamics(&mut state)?;
                system.accept_step(&mut state)?;
                state.set_pose(body, placed(RADIUS - depth, Vector3::z() * angle))?;
                let view = system.realize_position(&mut state)?;
                let path = &view.of(cable).position.path;
                // The wheel is round: its angle has no effect.
                let [a, b] = [-1.0, 1.0].map(|x| Vector3::new(x, RADIUS - depth, 0.0));
                let expected = past_ball(a, b, RADIUS);
                assert!(
                    (path.length - expected).abs() < 1e-9,
                    "{case} {depth} {angle}: {} {expected}",
                    path.length
                );
                assert!(path.tracking < Tracking::Cold, "{case} {depth} {angle}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_solid_that_turns_beside_a_cable_takes_no_turns_off_a_drum() -> Result<(), Error> {
    let tilted = Vector3::new(0.3, -0.2, 1.0).normalize();
    let egg = Arc::new(Ellipsoid::new(Vector3::new(0.05, RADIUS, 0.07))?);
    let ball = Arc::new(Sphere::new(RADIUS)?);
    let about_z = wheels()?.into_iter().map(|wheel| (wheel, Vector3::z()));
    let about_others: [(Arc<dyn Wrappable<f64>>, _); 2] = [(egg, Vector3::z()), (ball, tilted)];
    for (case, (wheel, axis)) in about_z.chain(about_others).enumerate() {
        for (clearance, slope) in [(1e-3, 0.0), (5e-3, 0.0), (0.05, 0.0), (5e-3, 0.3)] {
            for step in 1..=25 {
                let (system, body, cable) = past_wheel(wheel.clone(), slope, true)?;
                let mut state = system.default_state();
                state.set_pose(body, placed(RADIUS + clearance, Vector3::zeros()))?;
                let turns = Wrap {
                    known: true,
                    in_contact: true,
                    point: Point3::new(0.0, 0.3, 0.0),
                    tangent: Vector3::new(1.0, 0.0, 0.01),
                    length: 0.3 * 3.0 * core::f64::consts::TAU,
                };
                let mut wraps = state.discrete(cable).wraps.clone();
                wraps.wraps[0] = turns;
                system.set_discrete(&mut state, cable, wraps.into())?;
                let mut lengths = [0.0; 2];
                for (length, part) in lengths.iter_mut().zip([0.0, 1.0]) {
                    let turn = axis * (0.1 * f64::from(step) * part);
                    state.set_pose(body, placed(RADIUS + clearance, turn))?;
                    let view = system.realize_position(&mut state)?;
                    let path = &view.of(cable).position.path;
                    assert!(path.tracking < Tracking::Cold, "{case} {clearance} {slope} {step}");
                    *length = path.length;
                    system.realize_dynamics(&mut state)?;
                    system.accept_step(&mut state)?;
                }
                // Three turns of 1.885 m.
                assert!(
                    lengths[0] > 7.0 && (lengths[1] - lengths[0]).abs() < 1e-9,
                    "{case} {step}: {lengths:?}"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn a_cable_that_swings_around_a_solid_at_constant_clearance_does_not_come_to_lie_on_it() -> Result<(), Error>
{
    for (case, solid) in wheels()?.into_iter().enumerate() {
        for step in 1..=20 {
            let mut system = ForceSystem::new();
            let body = system.add_body();
            let [from, to] = [-1.0, 1.0].map(|x| Station { body, p_B: Point3::new(x, 0.105, 0.0) });
            let path = CablePath::new(from, to)?
                .over(Obstacle::shared(Frame::ground(Pose::identity()), solid.clone())?);
            let elastic = Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.0 };
            let cable = system.add(CableSpring::new(path, elastic)?)?;
            let mut state = system.default_state();
            for turns in 0..6 {
                let turn = Vector3::z() * (0.1 * f64::from(step * turns));
                state.set_pose(body, placed(0.0, turn))?;
                let view = system.realize_position(&mut state)?;
                let path = &view.of(cable).position.path;
                assert!((path.length - 2.0).abs() < 1e-12, "{case} {step}: {}", path.length);
                assert!(
                    turns == 0 || path.tracking <= Tracking::Followed,
                    "{case} {step}: {:?}",
                    path.tracking
                );
                system.realize_dynamics(&mut state)?;
                system.accept_step(&mut state)?;
            }
        }
    }
    Ok(())
}
