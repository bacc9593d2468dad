//! Obstacles that the cable passes without touching: tested cheaply, never missed, and not jumped over without a word.

use std::sync::Arc;

use force_elements::cable::{Obstacle, PathError, Tracking, Wrappable};
use force_elements::nalgebra::{Point3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{Error, Frame, Pose, Station};
use force_elements_scenes::cables::{Dice, hill, hollows};

use super::{GROUND, one_end_free};
use force_elements_scenes::seeds;

/// The surfaces for which lines are told to be free.
fn hollow(dice: &mut Dice, case: usize) -> Result<Box<dyn Wrappable<f64>>, Error> {
    Ok(if case.is_multiple_of(2) {
        Box::new(Torus::new(1.0, dice.between(0.05, 0.6))?)
    } else {
        Box::new(hollows(dice, 1.0).map()?)
    })
}

fn lowest(surface: &dyn Wrappable<f64>, a: &Point3<f64>, b: &Point3<f64>) -> f64 {
    (0..=1000).fold(f64::INFINITY, |lowest, i| {
        let p = a + (b - a) * (f64::from(i) / 1000.0);
        if surface.covers(&p) { lowest.min(surface.value(&p)) } else { lowest }
    })
}

#[test]
fn lines_that_are_told_to_be_free_are_and_most_of_those_that_are_free_are_told() -> Result<(), Error> {
    let mut dice = Dice::new(5);
    let (mut free, mut told) = ([0_u64; 2], [0_u64; 2]);
    for case in 0..usize::try_from(seeds(4000)).expect("few") {
        let surface = hollow(&mut dice, case)?;
        let [a, b] = [0; 2].map(|_| Point3::from(dice.vector(2.0)));
        let lowest = lowest(surface.as_ref(), &a, &b);
        let clears = surface.clears(&a, &b);
        assert!(!clears || lowest > 0.0, "{case}: {lowest}");
        // By a twentieth of the size of the scene.
        free[case % 2] += u64::from(lowest > 0.1);
        told[case % 2] += u64::from(lowest > 0.1 && clears);
    }
    assert!(
        free.iter().zip(&told).all(|(free, told)| *free > seeds(300) && 10 * told > 9 * free),
        "{free:?} {told:?}"
    );
    Ok(())
}

#[test]
fn a_cable_that_passes_freely_touches_as_soon_as_the_straight_line_would_enter() -> Result<(), Error> {
    let mut dice = Dice::new(6);
    let mut touchdowns = [0_u64; 2];
    for case in 0..usize::try_from(seeds(80)).expect("few") {
        let surface: Arc<dyn Wrappable<f64>> = match case % 2 {
            0 => Arc::new(Torus::new(1.0, dice.between(0.05, 0.6))?),
            _ => Arc::new(hill(&mut dice).map()?),
        };
        let from = Point3::from(dice.vector(0.3)) + Vector3::new(-2.7, 0.0, 1.5);
        let start = Point3::from(dice.vector(0.3)) + Vector3::new(2.7, 0.0, 1.5);
        let along = (dice.vector(0.5) - Vector3::z()) * dice.between(0.002, 0.05);
        let station = Station { body: GROUND, p_B: from };
        let obstacle = Obstacle::shared(Frame::ground(Pose::identity()), surface.clone())?;
        let (system, body, cable) = one_end_free(station, [obstacle])?;
        let mut state = system.default_state();
        for step in 0..1500 {
            let to = start + along * f64::from(step);
            let depth = -lowest(surface.as_ref(), &from, &to);
            state.set_pose(body, Pose::from(Translation3::from(to)))?;
            let view = system.realize_dynamics(&mut state)?;
            let touches = view.of(cable).position.path.contacts[0].in_contact;
            // Samples see less of a depth than there is, by a thousandth of the line twice times the curvature; the
            // solver tolerates 1e-13.
            assert!(touches || depth < 1e-12, "{case} {step}: {depth}");
            assert!(!touches || depth > -1e-4, "{case} {step}: {depth}");
            if touches {
                touchdowns[case % 2] += 1;
                break;
            }
            system.accept_step(&mut state)?;
        }
    }
    assert!(touchdowns.iter().all(|&count| count > seeds(80) / 4), "{touchdowns:?}");
    Ok(())
}

/// The obstacles over which a cable is moved, and whether it begins in the hole.
fn jumped(dice: &mut Dice) -> Result<Arc<dyn Wrappable<f64>>, Error> {
    Ok(match dice.below(4) {
        0 => Arc::new(Sphere::new(dice.between(0.2, 0.8))?),
        1 => Arc::new(Cylinder::new(dice.between(0.2, 0.8))?),
        2 => Arc::new(Ellipsoid::new(Vector3::from_fn(|_, _| dice.between(0.3, 0.8)))?),
        _ => Arc::new(Torus::new(1.0, dice.between(0.15, 0.4))?),
    })
}

#[test]
fn an_obstacle_jumped_over_in_one_step_is_wrapped_as_in_many_or_reported() -> Result<(), Error> {
    const STEPS: u32 = 300;
    let mut dice = Dice::new(8);
    let (mut wrapped, mut reported, mut silent) = (0, 0, 0);
    for case in 0..2000 {
        let surface = jumped(&mut dice)?;
        let from = Point3::new(-2.0, 0.0, 0.0) + dice.vector(0.7);
        let start = Point3::new(2.0, 0.0, 0.0) + dice.vector(1.0);
        let end =
            start + Vector3::new(dice.between(-1.0, 0.0), dice.between(-6.0, 6.0), dice.between(-2.0, 2.0));
        let run = |steps: u32| -> Result<Option<(f64, bool, bool)>, Error> {
            let obstacle = Obstacle::shared(Frame::ground(Pose::identity()), surface.clone())?;
            let (system, body, cable) = one_end_free(Station { body: GROUND, p_B: from }, [obstacle])?;
            let mut state = system.default_state();
            let mut last = (0.0, false, true);
            for step in 0..=steps {
                let part = f64::from(step) / f64::from(steps);
                state.set_pose(body, Pose::from(Translation3::from(start + (end - start) * part)))?;
                let view = match system.realize_dynamics(&mut state) {
                    Ok(view) => view,
                    Err(error) if error.own::<PathError>().is_some() => return Ok(None),
                    Err(error) => return Err(error),
                };
                let path = &view.of(cable).position.path;
                if step == 0 && path.contacts[0].in_contact {
                    return Ok(None);
                }
                let is_tracked = step == 0 || path.tracking < Tracking::Cold;
                last = (path.length, path.contacts[0].in_contact, last.2 && is_tracked);
                system.accept_step(&mut state)?;
            }
            Ok(Some(last))
        };
        let Some((length, true, true)) = run(STEPS)? else { continue };
        // The straight line at the end is free: only memory knows of the obstacle.
        if lowest(surface.as_ref(), &from, &end) < 0.0 {
            continue;
        }
        match run(1)? {
            Some((jumped, true, true)) => {
                assert!((jumped - length).abs() < 1e-8, "{case}: {jumped} {length}");
                wrapped += 1;
            }
            Some((_, _, true)) => silent += 1,
            _ => reported += 1,
        }
    }
    assert!(wrapped > 30 && silent == 0, "{wrapped} wrapped, {reported} reported, {silent} silent");
    Ok(())
}
