//! Derivatives of paths: those of the path without kinks, whatever the smoothness.

use force_elements::cable::{Obstacle, PathResults, Settings};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Rotation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Handle, Pose, Real};
use force_elements_scenes::cables::Scene;
use num_dual::{Dual3_64, Dual64};

use super::scalars::{casts, set_in_motion, smoother};
use super::{fixed, moving_scenes, on_ground, one_end_free, past_ball};
use crate::plain::Plain;

/// Everything of a path: straight segments, their directions, which are the unit forces, and contact arcs with tangents
/// and curvatures.
fn numbers<T: Real>(path: &PathResults<T>) -> Vec<T> {
    let segments = path.segments.iter();
    let ends = segments.flat_map(|segment| [segment.from_G.coords, segment.to_G.coords, segment.direction_G]);
    let touching = path.contacts.iter().filter(|contact| contact.in_contact);
    let arcs = touching.map(|contact| &contact.geodesic).flat_map(|arc| {
        let bends = Vector3::new(arc.length, arc.start.curvature, arc.end.curvature);
        [arc.start.tangent, arc.start.normal, arc.end.tangent, arc.end.normal, bends]
    });
    ends.chain(arcs).flat_map(<[T; 3]>::from).chain([path.length]).collect()
}

/// The largest derivative, or one.
fn size(all: &[Dual64]) -> f64 {
    all.iter().map(|x| x.eps.abs()).fold(1.0, f64::max)
}

type Duals = (ForceSystem<Dual64>, Handle<CableSpring<Dual64>>);

/// The cable of a scene in dual numbers, solved cold and then twice from what it remembers itself; nothing where no
/// path is found.
fn follow((system, cable): &Duals, scene: &mut Scene, start: f64) -> Result<Vec<Vec<Dual64>>, Error> {
    let mut found = Vec::new();
    let mut memory = system.default_state().discrete(*cable).clone();
    for step in 0..3 {
        scene.move_to(start + 0.02 * f64::from(step))?;
        let mut state = system.cast_state(&scene.state)?;
        system.set_discrete(&mut state, *cable, memory.clone())?;
        set_in_motion(system, &mut state)?;
        let Ok(view) = system.realize_dynamics(&mut state) else { break };
        found.push(numbers(&view.of(*cable).position.path));
        system.accept_step(&mut state)?;
        memory.clone_from(state.discrete(*cable));
    }
    Ok(found)
}

#[test]
fn derivatives_do_not_depend_on_the_smoothness() -> Result<(), Error> {
    let mut compared = [0; 2];
    for (mut scene, start) in moving_scenes(60) {
        let duals = scene.system.cast_with(&casts())?;
        let cable = scene.cable.cast::<CableSpring<Dual64>>();
        let with = |smoothness| Ok::<_, Error>((smoother(&duals, duals.element(cable), smoothness)?, cable));
        let smooth = follow(&with(1e-12)?, &mut scene, start)?;
        for smoothness in [1e-3, 1e-6, 1e-9] {
            let rough = follow(&with(smoothness)?, &mut scene, start)?;
            for (step, (rough, smooth)) in rough.iter().zip(&smooth).enumerate() {
                // The same obstacles are touched.
                assert_eq!(rough.len(), smooth.len());
                for (rough, exact) in rough.iter().zip(smooth) {
                    // Roundoff, a thousand times of which are the conditions of the worst paths.
                    assert!((rough.re - exact.re).abs() < 1e-12 * (1.0 + exact.re.abs()), "{rough} {exact}");
                    assert!((rough.eps - exact.eps).abs() < 1e-12 * size(smooth), "{rough} {exact}");
                }
                compared[step.min(1)] += 1;
            }
        }
    }
    let [cold, tracked] = compared;
    assert!(cold > 150 && tracked > 300, "{compared:?}");
    Ok(())
}

#[test]
fn derivatives_are_those_by_differences() -> Result<(), Error> {
    let mut compared = 0;
    for (mut scene, start) in moving_scenes(60) {
        let duals = scene.system.cast_with(&casts())?;
        let cable = scene.cable.cast::<CableSpring<Dual64>>();
        let system = smoother(&duals, duals.element(cable), 1e-3)?;
        scene.move_to(start)?;
        let mut state = system.cast_state(&scene.state)?;
        let along = set_in_motion(&system, &mut state)?;
        let view = system.realize_position(&mut state)?;
        let ours = numbers(&view.of(cable).position.path);
        // In duals values are exact to roundoff too.
        let mut at = |h: f64| -> Result<Vec<Dual64>, Error> {
            for (body, along) in scene.system.bodies().zip(&along) {
                let mut X = *scene.state.positions().pose(body);
                X.translation.vector += along * h;
                let R = Rotation3::from_matrix_unchecked(X.rotation.matrix().map(Dual64::from_re));
                let p = X.translation.vector.map(Dual64::from_re);
                state.set_pose(body, Pose::from_parts(p.into(), R))?;
            }
            let view = system.realize_position(&mut state)?;
            Ok(numbers(&view.of(cable).position.path))
        };
        // Long steps have errors of truncation, above all where a map's third derivatives jump; short ones of roundoff.
        let mut best = f64::INFINITY;
        for h in [4e-3, 2e-3, 5e-4, 1e-4, 1e-5, 1e-6] {
            let [Ok(a), Ok(b), Ok(c), Ok(d), Ok(e), Ok(f)] =
                [1.0, -1.0, 2.0, -2.0, 3.0, -3.0].map(|n| at(n * h))
            else {
                continue;
            };
            if [&a, &b, &c, &d, &e, &f].iter().any(|moved| moved.len() != ours.len()) {
                continue;
            }
            let mut worst = 0.0_f64;
            for (i, ours) in ours.iter().enumerate() {
                let by = |ahead: &[Dual64], behind: &[Dual64]| ahead[i].re - behind[i].re;
                let slope = (45.0 * by(&a, &b) - 9.0 * by(&c, &d) + by(&e, &f)) / (60.0 * h);
                worst = worst.max((ours.eps - slope).abs());
            }
            best = best.min(worst / size(&ours));
        }
        assert!(best < 1e-9, "{best}");
        compared += 1;
    }
    assert_eq!(compared, 60);
    Ok(())
}

/// One end moves along a curve; the length over the obstacles at this time, cold and from memory.
fn lengths_along(
    time: f64,
    obstacles: impl IntoIterator<Item = Obstacle<Dual3_64>>,
) -> Result<[Dual3_64; 2], Error> {
    let (mut system, body, cable) = one_end_free(fixed(-2.0, 0.1, 0.0), obstacles)?;
    let settings = Settings { smoothness: Dual3_64::from_re(1e-4), ..Settings::default() };
    let path = system.element(cable).path().clone().with_settings(settings)?;
    system.remove(cable)?;
    let cable = system.add(CableSpring::new(path, Parameters::default())?)?;
    let mut state = system.default_state();
    let mut at = |time: Dual3_64| -> Result<Dual3_64, Error> {
        let end = end_at(time);
        state.set_pose(body, Pose::translation(end.x, end.y, end.z))?;
        let view = system.realize_dynamics(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts.iter().all(|contact| contact.in_contact));
        let length = path.length;
        system.accept_step(&mut state)?;
        Ok(length)
    };
    let time = Dual3_64::new(time, 1.0, 0.0, 0.0);
    let cold = at(time)?;
    at(time - 0.1)?;
    Ok([cold, at(time)?])
}

fn end_at<T: Real>(time: T) -> Vector3<T> {
    let [x, z, swing] = [5.0, 0.2, 0.3].map(T::lit);
    Vector3::new(x + swing * time.cos(), swing * time.sin(), z + swing * time * time)
}

#[test]
fn second_and_third_derivatives_are_exact_too() -> Result<(), Error> {
    const H: f64 = 1e-3;
    let ball = || Sphere::new(Dual3_64::from_re(0.8));
    for obstacle in [on_ground(ball()?)?, on_ground(Plain(ball()?))?] {
        let start = Vector3::new(-2.0, 0.1, 0.0).map(Dual3_64::from_re);
        let expected = past_ball(start, end_at(Dual3_64::new(0.4, 1.0, 0.0, 0.0)), 0.8);
        for length in lengths_along(0.4, [obstacle])? {
            // Roundoff of numbers of the size of the length.
            for (ours, exact) in [
                (length.re, expected.re),
                (length.v1, expected.v1),
                (length.v2, expected.v2),
                (length.v3, expected.v3),
            ] {
                assert!((ours - exact).abs() < 1e-12, "{length} {expected}");
            }
        }
    }

    let over_three = |time: f64| -> Result<_, Error> {
        let radii = Vector3::new(0.7, 0.5, 0.9).map(Dual3_64::from_re);
        let at = |x: f64, y: f64| {
            Frame::ground(Pose::translation(
                Dual3_64::from_re(x),
                Dual3_64::from_re(y),
                Dual3_64::from_re(0.0),
            ))
        };
        let [tube, ring, rod] = [0.3, 0.6, 0.4].map(Dual3_64::from_re);
        lengths_along(
            time,
            [
                Obstacle::new(at(0.0, -0.1), Ellipsoid::new(radii)?)?,
                Obstacle::new(at(1.7, -0.4), Torus::new(ring, tube)?)?,
                Obstacle::new(at(3.2, 0.0), Cylinder::new(rod)?)?,
            ],
        )
    };
    let (here, ahead, behind) = (over_three(0.4)?, over_three(0.4 + H)?, over_three(0.4 - H)?);
    for ((here, ahead), behind) in here.iter().zip(&ahead).zip(&behind) {
        // H² times a derivative of order one.
        assert!((here.v2 - (ahead.v1 - behind.v1) / (2.0 * H)).abs() < 1e-6, "{here}");
        assert!((here.v3 - (ahead.v2 - behind.v2) / (2.0 * H)).abs() < 1e-5, "{here}");
        assert!(here.v2.abs() > 0.01 && here.v3.abs() > 0.01, "{here}");
    }
    Ok(())
}
