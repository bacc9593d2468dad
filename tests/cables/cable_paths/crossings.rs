//! Straight segments keep out of the obstacles that they touch and pass, or the path is refused.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{Obstacle, PathError};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::Torus;
use force_elements::{Error, Frame, Pose};

use super::{GROUND, one_end_free};
use crate::plain::Plain;
use force_elements_scenes::cables::{Dice, Scene, cross};
use force_elements_scenes::solids::Solid;

/// Lengths of a cable between two points past solids at given poses, the whole of any size and anywhere.
pub(crate) fn lay(
    solids: &[(Pose<f64>, Solid)],
    ends: [Vector3<f64>; 2],
    world: Pose<f64>,
) -> Result<(f64, usize), Error> {
    let [a, b] = ends.map(|p| (world * force_elements::nalgebra::Point3::from(p)).coords);
    let obstacles: Result<Vec<Obstacle<f64>>, PathError> =
        solids.iter().map(|(X, solid)| solid.obstacle(GROUND, world * X)).collect();
    let from = force_elements::Station { body: GROUND, p_B: a.into() };
    let (system, body, cable) = one_end_free(from, obstacles?)?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::from(Translation3::from(b)))?;
    let view = system.realize_position(&mut state)?;
    let path = &view.of(cable).position.path;
    let solids: Vec<Solid> = solids.iter().map(|(_, solid)| solid.clone()).collect();
    let whole = core::iter::once(0..solids.len()).collect::<Vec<_>>();
    let scale = (a - b).norm();
    for dive in force_elements_scenes::solids::dives(&solids, &whole, path) {
        // Kinks of 1e-9 rad on the length of the cable, and roundoff of coordinates.
        assert!(dive.depth < 1e-8 * scale, "{dive:?}");
    }
    Ok((path.length, path.contacts.iter().filter(|contact| contact.in_contact).count()))
}

/// The world turned, moved and scaled in several ways.
pub(crate) fn worlds() -> Vec<(f64, Pose<f64>)> {
    let mut dice = Dice::new(11);
    let mut worlds = vec![(1.0, Pose::identity())];
    for scale in [1e-3, 1.0, 1e3] {
        let shift = Translation3::from(dice.vector(5.0 * scale));
        worlds.push((scale, Pose::from_parts(shift, dice.rotation(3.0))));
    }
    worlds
}

#[test]
fn a_cable_across_a_flat_ring_finds_another_way_than_through_it() -> Result<(), Error> {
    for (scale, world) in worlds() {
        let ring = [(Pose::identity(), Solid::Ring(scale, 0.3 * scale))];
        let ends = [Vector3::new(-3.0, 0.3, 0.1) * scale, Vector3::new(3.0, 0.2, 0.15) * scale];
        let (length, _) = lay(&ring, ends, world)?;
        assert!(length > 6.001 * scale && length < 6.3 * scale, "{length} at {scale}");
    }
    Ok(())
}

#[test]
fn a_flat_ring_crossed_exactly_over_its_axis_is_not_run_through() {
    for (scale, world) in worlds() {
        for z in [0.0, 0.05, 0.1, -0.2, 0.29, 0.31] {
            for turn in [0.0, 0.4, FRAC_PI_2, 2.0] {
                let R = Rotation3::from_axis_angle(&Vector3::z_axis(), turn);
                let ends = [-3.0, 3.0].map(|x| R * Vector3::new(x, 0.0, z) * scale);
                let ring = [(Pose::identity(), Solid::Ring(scale, 0.3 * scale))];
                match lay(&ring, ends, world) {
                    // Above the ring it is straight.
                    Ok((length, 0)) => assert!(z > 0.3 && (length - 6.0 * scale).abs() < 1e-12 * scale),
                    Ok((length, _)) => assert!(length > 6.0 * scale, "{length} {scale} {z} {turn}"),
                    Err(error) => match error.own() {
                        Some(&PathError::Penetrates { obstacle: 0, depth }) => {
                            assert!(depth > 0.0 && depth < 0.31 * scale, "{depth} {scale} {z} {turn}");
                        }
                        _ => panic!("{scale} {z} {turn}: {error}"),
                    },
                }
            }
        }
    }
}

#[test]
fn no_cable_across_random_rings_and_hollows_runs_through_them_without_a_word() -> Result<(), Error> {
    let (mut whole, mut refused, mut lost) = (0, 0, 0);
    for seed in 0..300 {
        let (_, dive, error) = cross(seed)?;
        assert_eq!(dive, None, "{seed}");
        match error {
            None => whole += 1,
            Some(PathError::Penetrates { obstacle, depth }) => {
                assert!(depth > 0.0 && depth.is_finite(), "{seed}: {depth}");
                let scene = Scene::crossing(seed)?;
                assert!(obstacle < scene.state.discrete(scene.cable).obstacles.len());
                refused += 1;
            }
            Some(PathError::NotConverged { .. }) => lost += 1,
            Some(_) => {}
        }
    }
    assert!(whole > 100 && refused > 10, "{whole} {refused} {lost}");
    Ok(())
}

#[test]
fn a_ring_of_a_users_own_and_ours_are_crossed_alike() -> Result<(), Error> {
    // The library knows of a torus in closed form which tangents come back to it; of a surface of the user's
    // own it searches every line.
    let mut dice = Dice::new(21);
    let mut solved = 0;
    for _ in 0..60 {
        let ring = Torus::new(1.0, dice.between(0.1, 0.6))?;
        let ends = [-3.0, 3.0].map(|x| Vector3::new(x, dice.between(-1.2, 1.2), dice.between(-0.6, 0.6)));
        let R = dice.rotation(3.0);
        let solve = |obstacle: Obstacle<f64>| -> Result<f64, Error> {
            let from = force_elements::Station { body: GROUND, p_B: ends[0].into() };
            let (system, body, cable) = one_end_free(from, [obstacle])?;
            let mut state = system.default_state();
            state.set_pose(body, Pose::from(Translation3::from(ends[1])))?;
            let view = system.realize_position(&mut state)?;
            Ok(view.of(cable).position.path.length)
        };
        let X = Pose::from_parts(Translation3::identity(), R);
        let ours = solve(Obstacle::new(Frame::ground(X), ring)?);
        let theirs = solve(Obstacle::new(Frame::ground(X), Plain(ring))?);
        let [a, b] = [&ours, &theirs].map(|outcome| outcome.as_ref().map_err(Error::own));
        match (a, b) {
            (Ok(a), Ok(b)) => {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
                solved += 1;
            }
            (
                Err(Some(PathError::Penetrates { depth: a, .. })),
                Err(Some(PathError::Penetrates { depth: b, .. })),
            ) => assert!((a - b).abs() < 1e-6, "{a} {b}"),
            (a, b) => assert_eq!(a.is_err(), b.is_err(), "{ours:?} {theirs:?}"),
        }
    }
    assert!(solved > 50, "{solved}");
    Ok(())
}
