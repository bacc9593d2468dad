//! Paths in other scalars: the search on plain numbers, and what is found in the scalar.

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults, Settings, ViaPoint};
use force_elements::nalgebra::{Point3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, HeightMap, ShapeError, Sphere, Torus};
use force_elements::{
    CableSpring, Casts, Error, ForceSystem, Frame, Pose, Real, State, Station, cable_spring,
};
use force_elements_scenes::cables::{Dice, Pebble};
use num_dual::Dual64;

use super::{fixed, moving_scenes, on_ground, one_end_free};
use crate::plain::Plain;

pub(super) fn casts() -> Casts<f64, Dual64> {
    let mut casts = Casts::new();
    casts.add_surface(|pebble: &Pebble| Ok(Pebble { radius: pebble.radius }));
    casts
}

/// Sets every body in motion along its own direction, as a derivative.
pub(super) fn set_in_motion(
    system: &ForceSystem<Dual64>,
    state: &mut State<Dual64>,
) -> Result<Vec<Vector3<f64>>, Error> {
    let mut dice = Dice::new(7);
    system
        .bodies()
        .map(|body| {
            let (mut X, along) = (*state.positions().pose(body), dice.vector(1.0));
            X.translation.vector.iter_mut().zip(&along).for_each(|(x, along)| x.eps = *along);
            state.set_pose(body, X)?;
            Ok(along)
        })
        .collect()
}

/// The ends of the straight segments, and the length.
fn numbers<T: Real>(path: &PathResults<T>) -> Vec<T> {
    let ends = path.segments.iter().flat_map(|segment| [segment.from_G.coords, segment.to_G.coords]);
    ends.flat_map(<[T; 3]>::from).chain([path.length]).collect()
}

/// The same system with another smoothness of its cable.
pub(super) fn smoother<T: Real>(
    system: &ForceSystem<T>,
    cable: &CableSpring<T>,
    smoothness: f64,
) -> Result<ForceSystem<T>, Error> {
    let settings = Settings { smoothness: T::lit(smoothness), ..*cable.path().settings() };
    let mut casts = Casts::<T, T>::new();
    casts.add_surface(|pebble: &Pebble| Ok(Pebble { radius: pebble.radius }));
    casts.add(move |cable: &CableSpring<T>, casts| {
        let path = cable.path().cast_with(casts)?.with_settings(settings)?;
        CableSpring::new(path, cable_spring::Parameters::default())
    });
    system.cast_with(&casts)
}

#[test]
fn in_duals_a_search_takes_the_course_of_plain_numbers_and_derivatives_are_those_of_the_path()
-> Result<(), Error> {
    const H: f64 = 1e-5;
    let (mut compared, mut cold, mut warm) = (0, 0, 0);
    for (mut scene, start) in moving_scenes(60) {
        let duals = scene.system.cast_with(&casts())?;
        let cable = scene.cable.cast::<CableSpring<Dual64>>();
        let smooth = smoother(&duals, duals.element(cable), 1e-12)?;
        let mut time = start;
        for step in 0..4 {
            if step == 2 {
                scene.system.reset_memory(&mut scene.state, scene.cable)?;
            }
            scene.move_to(time)?;
            let mut moving = duals.cast_state(&scene.state)?;
            let along = set_in_motion(&duals, &mut moving)?;
            let mut exact = smooth.cast_state(&moving)?;
            set_in_motion(&smooth, &mut exact)?;
            // Of a path that has ceased to exist another is found, or none.
            let Ok(plain) = scene.system.realize_dynamics(&mut scene.state) else { break };
            let in_duals = duals.realize_position(&mut moving)?;
            let (plain, in_duals) = (&plain.of(scene.cable).position.path, &in_duals.of(cable).position.path);
            assert_eq!(in_duals.tracking, plain.tracking);
            assert_eq!(in_duals.iterations, plain.iterations);
            for (ours, theirs) in in_duals.contacts.iter().zip(&plain.contacts) {
                assert_eq!(ours.wrap, theirs.wrap.cast());
            }
            for (ours, theirs) in numbers(in_duals).iter().zip(numbers(plain)) {
                // Both are within the smoothness of the path, on shapes of the size of one.
                assert!((ours.re - theirs).abs() < 1e-8, "{ours} {theirs}");
            }

            let difference =
                |scene: &force_elements_scenes::cables::Scene, h: f64| -> Result<Vec<f64>, Error> {
                    let mut state = scene.state.clone();
                    for (body, along) in scene.system.bodies().zip(&along) {
                        let mut X = *state.positions().pose(body);
                        X.translation.vector += along * h;
                        state.set_pose(body, X)?;
                    }
                    let view = scene.system.realize_position(&mut state)?;
                    Ok(numbers(&view.of(scene.cable).position.path))
                };
            if let Ok(exact) = smooth.realize_position(&mut exact) {
                let exact = numbers(&exact.of(cable).position.path);
                let (ahead, behind) = (difference(&scene, H)?, difference(&scene, -H)?);
                if ahead.len() == behind.len() && ahead.len() == exact.len() {
                    let slopes =
                        ahead.iter().zip(&behind).map(|(ahead, behind)| (ahead - behind) / (2.0 * H));
                    for ((ours, exact), slope) in numbers(in_duals).iter().zip(&exact).zip(slopes) {
                        compared += 1;
                        let size = 1.0 + exact.eps.abs();
                        // Neither has kinks; roundoff in the conditions of the worst paths.
                        assert!((ours.eps - exact.eps).abs() < 1e-11 * size, "{ours} {exact}");
                        // The two paths of the difference have their own kinks, of up to 1e-9.
                        assert!((ours.eps - slope).abs() < 1e-3 * size, "{ours} {slope}");
                    }
                    *(if step == 0 || step == 2 { &mut cold } else { &mut warm }) += 1;
                }
            }
            scene.accept()?;
            time += 0.02;
        }
    }
    assert!(compared > 2000 && cold > 50 && warm > 50, "{compared} {cold} {warm}");
    Ok(())
}

#[test]
fn over_a_surface_not_known_in_plain_numbers_the_whole_search_runs_in_duals() -> Result<(), Error> {
    // Built in duals, of a type that this crate does not know.
    let egg = Vector3::new(0.7, 0.5, 0.9).map(Dual64::from_re);
    let unknown = on_ground(Plain(Ellipsoid::new(egg)?))?;
    let known = on_ground(Ellipsoid::new(egg)?)?;
    let mut found = Vec::new();
    for obstacle in [unknown, known] {
        let (system, body, cable) = one_end_free(fixed(-2.0, 0.1, 0.0), [obstacle])?;
        let mut state = system.default_state();
        for step in 0..5 {
            let mut p = Point3::new(2.0, 0.1, 0.2 + 0.02 * f64::from(step)).map(Dual64::from_re);
            p.z.eps = 1.0;
            state.set_pose(body, Pose::translation(p.x, p.y, p.z))?;
            let view = system.realize_dynamics(&mut state)?;
            assert!(view.of(cable).position.path.contacts[0].in_contact);
            found.push(numbers(&view.of(cable).position.path));
            system.accept_step(&mut state)?;
        }
    }
    let (unknown, known) = found.split_at(5);
    for (unknown, known) in unknown.iter().flatten().zip(known.iter().flatten()) {
        // Roundoff of two ways to integrate a geodesic.
        assert!((unknown.re - known.re).abs() < 1e-12 && (unknown.eps - known.eps).abs() < 1e-12);
    }
    Ok(())
}

#[test]
fn derivatives_by_the_size_of_a_shape_pass_through() -> Result<(), Error> {
    const H: f64 = 1e-5;
    let length = |radius: Dual64| -> Result<Dual64, Error> {
        let zero = Dual64::from_re(0.0);
        let torus = Obstacle::new(
            Frame::ground(Pose::translation(Dual64::from_re(2.5), radius - 1.0, zero)),
            Torus::new(radius, radius * 0.4)?,
        )?;
        let ball = on_ground(Sphere::new(radius)?)?;
        let (system, body, cable) = one_end_free(fixed(-2.0, 0.1, 0.0), [ball, torus])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(Dual64::from_re(4.5), zero, zero))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts.iter().all(|contact| contact.in_contact));
        Ok(path.length)
    };
    let [here, ahead, behind] = [0.0, H, -H].map(|h| length(Dual64::new(0.6 + h, 1.0)));
    let slope = (ahead?.re - behind?.re) / (2.0 * H);
    // H² times third derivatives, and kinks of 1e-9, whose squares are errors of the length.
    assert!(slope > 0.1 && (here?.eps - slope).abs() < 1e-8, "{slope}");
    Ok(())
}

#[test]
fn a_cast_path_has_the_same_parts() -> Result<(), Error> {
    let hills = [0.0, 0.1, 0.2, 0.1, 0.3, 0.0, 0.2, 0.2, 0.1];
    let map = HeightMap::new(Vector2::new(-1.0, -1.0), Vector2::new(1.0, 1.0), 3, &hills)?;
    let at = |x: f64| Frame::ground(Pose::translation(x, 0.0, -0.4));
    let via = Station::ground(Point3::new(3.0, 0.0, 0.5));
    let path = CablePath::new(Station::ground(Point3::new(-2.0, 0.0, 0.3)), fixed(7.0, 0.0, 0.4))?
        .over(Obstacle::new(at(0.0), map)?)
        .over(Obstacle::new(at(1.5), Cylinder::new(0.5)?)?.with_contact_hint(Point3::new(0.0, 0.5, 0.0))?)
        .through(via)?
        .over(Obstacle::new(at(5.0), Pebble { radius: 0.5 })?)
        .with_settings(Settings { smoothness: 1e-8, max_iterations: 50, max_evaluations: 70_000 })?;

    let missing = path.cast::<f32>().err();
    let Some(PathError::Shape(ShapeError::NoCast { shape })) = missing else { panic!("{missing:?}") };
    assert!(shape.ends_with("::Pebble"), "{shape}");
    let mut casts = Casts::<f64, f32>::without_elements();
    casts.add_surface(|pebble: &Pebble| Ok(Pebble { radius: pebble.radius }));
    let cast = path.cast_with(&casts)?;
    assert_eq!(cast.origin(), path.origin().cast());
    assert_eq!(cast.termination(), path.termination().cast());
    assert!(cast.via_points().map(ViaPoint::station).eq([via.cast()]));
    // Finer than single precision can be held to.
    assert_eq!(
        *cast.settings(),
        Settings { max_iterations: 50, max_evaluations: 70_000, ..Settings::default() }
    );
    assert_eq!(cast.obstacles().len(), 3);
    assert_eq!(cast.obstacles()[1].contact_hint(), Some(&Point3::new(0.0, 0.5, 0.0)));
    for (cast, obstacle) in cast.obstacles().iter().zip(path.obstacles()) {
        assert_eq!(*cast.frame(), obstacle.frame().cast());
        for p in [[0.2, 0.1, 0.3], [0.4, -0.3, 0.6]].map(Point3::from) {
            let (ours, theirs) = (cast.surface().value(&p.map(Real::cast)), obstacle.surface().value(&p));
            // Numbers of order one in single precision.
            assert!((f64::from(ours) - theirs).abs() < 1e-6);
        }
    }
    // The same scalar: the same settings.
    let mut casts = Casts::<f64, f64>::without_elements();
    casts.add_surface(|pebble: &Pebble| Ok(Pebble { radius: pebble.radius }));
    assert_eq!(path.cast_with(&casts)?.settings(), path.settings());
    Ok(())
}
