//! Straight segments keep out of the obstacles that they touch and pass.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{Obstacle, PathError};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::Torus;
use force_elements::{Error, Frame, Pose};

use super::{GROUND, one_end_free};
use crate::plain::Plain;
use force_elements_scenes::cables::{Dice, Scene, cross};
use force_elements_scenes::solids::Solid;
use force_elements_scenes::{is_at_length, seeds};

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
fn a_cable_across_a_flat_ring_touches_it_on_both_sides() -> Result<(), Error> {
    let mut lengths = Vec::new();
    for (scale, world) in worlds() {
        let ring = [(Pose::identity(), Solid::Ring(scale, 0.3 * scale))];
        let ends = [Vector3::new(-3.0, 0.3, 0.1) * scale, Vector3::new(3.0, 0.2, 0.15) * scale];
        let (length, touches) = lay(&ring, ends, world)?;
        assert_eq!(touches, 2, "{scale}");
        lengths.push(length / scale);
    }
    let straight = Vector3::<f64>::new(6.0, -0.1, 0.05).norm();
    assert!(lengths[0] > straight + 0.01 && lengths[0] < straight + 0.1, "{lengths:?}");
    assert!(lengths.iter().all(|length| (length - lengths[0]).abs() < 1e-11), "{lengths:?}");
    Ok(())
}

#[test]
fn a_flat_ring_crossed_exactly_over_its_axis_is_touched_twice() -> Result<(), Error> {
    for (scale, world) in worlds() {
        for z in [0.0, 0.05, 0.1, -0.2, 0.29, 0.31] {
            for turn in [0.0, 0.4, FRAC_PI_2, 2.0] {
                let R = Rotation3::from_axis_angle(&Vector3::z_axis(), turn);
                let ends = [-3.0, 3.0].map(|x| R * Vector3::new(x, 0.0, z) * scale);
                let ring = [(Pose::identity(), Solid::Ring(scale, 0.3 * scale))];
                let (length, touches) = lay(&ring, ends, world)?;
                // Above the ring it is straight. Below it runs over both sides of the tube, in a plane.
                let height = 0.3_f64;
                let reach = (4.0 + z * z).sqrt();
                let arc = height * ((height / reach).asin() - (z.abs() / reach).asin());
                let over = 2.0 + 2.0 * ((reach * reach - height * height).sqrt() + arc);
                if z > height {
                    assert!(touches == 0 && (length - 6.0 * scale).abs() < 1e-12 * scale);
                } else {
                    assert_eq!(touches, 2, "{scale} {z} {turn}");
                    assert!(
                        (length - over * scale).abs() < 1e-9 * scale,
                        "{length} {over} {scale} {z} {turn}"
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn no_cable_across_random_rings_and_hollows_runs_through_them() -> Result<(), Error> {
    let (mut whole, mut refused, mut lost) = (0_u64, 0, 0);
    for seed in 0..seeds(300) {
        let (_, dive, error) = cross(seed)?;
        if let Some(e) = &error {
            println!("{seed} {e:?}");
        }
        assert_eq!(dive, None, "{seed}");
        match error {
            None => whole += 1,
            Some(PathError::Penetrates { obstacle, depth }) => {
                assert!(depth > 0.0 && depth.is_finite(), "{seed}: {depth}");
                let scene = Scene::crossing(seed)?;
                assert!(obstacle < scene.state.discrete(scene.cable).wraps.wraps.len());
                refused += 1;
            }
            Some(
                PathError::NotConverged { .. }
                | PathError::NoMinimum { .. }
                | PathError::TooManyEvaluations { .. },
            ) => lost += 1,
            Some(_) => {}
        }
    }
    // The rest leave the rectangle of their map.
    let least = if is_at_length() { 220 } else { 18 };
    assert!(whole >= least && refused + lost <= 2, "{whole} {refused} {lost}");
    Ok(())
}

#[test]
fn a_ring_of_a_users_own_and_ours_are_crossed_alike() -> Result<(), Error> {
    // The library knows of a torus in closed form which tangents come back to it; of a surface of the user's
    // own it searches every line.
    let mut dice = Dice::new(21);
    let mut twice = 0;
    for _ in 0..60 {
        let ring = Torus::new(1.0, dice.between(0.1, 0.6))?;
        let ends = [-3.0, 3.0].map(|x| Vector3::new(x, dice.between(-1.2, 1.2), dice.between(-0.6, 0.6)));
        let R = dice.rotation(3.0);
        let solve = |obstacle: Obstacle<f64>| -> Result<(f64, usize), Error> {
            let from = force_elements::Station { body: GROUND, p_B: ends[0].into() };
            let (system, body, cable) = one_end_free(from, [obstacle])?;
            let mut state = system.default_state();
            state.set_pose(body, Pose::from(Translation3::from(ends[1])))?;
            let view = system.realize_position(&mut state)?;
            let path = &view.of(cable).position.path;
            Ok((path.length, path.contacts.iter().filter(|contact| contact.in_contact).count()))
        };
        let X = Pose::from_parts(Translation3::identity(), R);
        let ours = solve(Obstacle::new(Frame::ground(X), ring)?)?;
        let theirs = solve(Obstacle::new(Frame::ground(X), Plain(ring))?)?;
        assert!((ours.0 - theirs.0).abs() < 1e-9 && ours.1 == theirs.1, "{ours:?} {theirs:?}");
        twice += usize::from(ours.1 == 2);
    }
    assert!(twice > 3, "{twice}");
    Ok(())
}
