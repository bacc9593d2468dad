//! Invalid input is refused, with the reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use force_elements::cable::{
    CablePath, Geodesic, Obstacle, PathError, PathResults, Settings, Tracking, Wrap, Wrappable, Wraps,
};
use force_elements::nalgebra::{Matrix3, Point3, Translation3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, DistanceField, Ellipsoid, HeightMap, Sphere, Torus, TriangleMesh};
use force_elements::{
    CableSpring, Error, ForceSystem, Frame, KinematicsError, Pose, State, Station, cable_spring,
};

use super::{fixed, on_ground, one_end_free};

/// Why the only cable of a system has no path.
fn refusal(system: &ForceSystem<f64>, state: &mut State<f64>) -> Option<PathError> {
    system.realize_position(state).err()?.own().cloned()
}

#[test]
fn what_makes_no_sense_is_refused() -> Result<(), Error> {
    let ball = || on_ground(Sphere::new(0.8)?);
    let solve = |from: Station<f64>, to: Point3<f64>, obstacle| -> Result<Option<PathError>, Error> {
        let (system, body, _) = one_end_free(from, [obstacle])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::from(Translation3::from(to)))?;
        Ok(refusal(&system, &mut state))
    };
    let far = Vector3::new(2.0, 0.3, 0.0);
    let inside = Some(PathError::PointInsideObstacle { obstacle: 0 });
    assert_eq!(solve(fixed(0.1, 0.2, 0.0), far.into(), ball()?)?, inside);
    assert_eq!(solve(fixed(-2.0, 0.2, 0.0), Point3::new(0.0, 0.3, 0.3), ball()?)?, inside);
    let point = fixed::<f64>(1.0, 2.0, 3.0);
    let coincident = Some(PathError::CoincidentPoints { span: 0 });
    assert_eq!(CablePath::new(point, point).err(), coincident);
    let (system, body, _) = one_end_free(point, [])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::from(Translation3::from(point.p_B)))?;
    assert_eq!(refusal(&system, &mut state), coincident);

    let path = || CablePath::new(fixed(0.0, 0.0, 0.0), fixed(1.0, 0.0, 0.0));
    for ((k, l, c), name) in [
        ((-1.0, 0.0, 0.0), "stiffness"),
        ((1.0, -1.0, 0.0), "slack_length"),
        ((1.0, 0.0, -1.0), "dissipation"),
        ((f64::NAN, 0.0, 0.0), "stiffness"),
    ] {
        let refused = CableSpring::new(
            path()?,
            cable_spring::Parameters { stiffness: k, slack_length: l, dissipation: c },
        )
        .expect_err(name);
        assert_eq!(refused.invalid_value().map(|v| v.name), Some(name));
    }
    let settings = Settings { smoothness: 0.0, ..Settings::default() };
    let refused = path()?.with_settings(settings);
    assert!(
        matches!(refused, Err(PathError::InvalidValue(v)) if v.name == "smoothness" && v.value == 0.0),
        "{refused:?}"
    );
    let elsewhere = ForceSystem::<f64>::new().add_body();
    let nowhere = Station { body: elsewhere, p_B: Point3::new(1.0, 0.0, 0.0) };
    let stray = CableSpring::new(
        CablePath::new(fixed(0.0, 0.0, 0.0), nowhere)?,
        cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
    )?;
    let refused = ForceSystem::new().add(stray).expect_err("stray");
    let no_such_body = KinematicsError::NoSuchBody { body: elsewhere };
    assert_eq!(refused.element_error(), Some(&no_such_body.into()));
    assert_eq!(path()?.through(fixed(0.0, 0.0, 0.0)).err(), coincident);

    // A ridge that the cable would have to leave over the edge of its map.
    let heights: Vec<f64> = (0..25).map(|i| 1.0 - 0.05 * f64::from(i % 5) * f64::from(i % 5)).collect();
    let ridge = HeightMap::new(Vector2::new(0.0, -1.0), Vector2::new(0.25, 0.5), 5, &heights)?;
    let refused = solve(fixed(-2.0, 0.1, -3.0), Point3::new(3.0, 0.1, -3.0), on_ground(ridge)?)?;
    assert!(refused.is_some());
    Ok(())
}

#[test]
fn end_points_that_coincide_beside_an_obstacle_are_refused() -> Result<(), Error> {
    let ball = Obstacle::new(Frame::ground(Pose::translation(0.0, 5.0, 0.0)), Sphere::new(0.5)?)?;
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let path =
        CablePath::new(fixed::<f64>(1.0, 0.0, 0.0), Station { body, p_B: Point3::origin() })?.over(ball);
    system.add(CableSpring::new(
        path,
        cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
    )?)?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(1.0, 0.0, 0.0))?;
    let refused = system.realize_position(&mut state).map(|_| ()).expect_err("coincident");
    assert_eq!(refused.own(), Some(&PathError::CoincidentPoints { span: 0 }));
    assert_eq!(refused.to_string(), "cable_spring[0]: the two fixed points of the cable's span 0 coincide");
    Ok(())
}

/// A ball whose geodesics end in directions that jump from place to place: no cable over it is ever smooth.
#[derive(Debug)]
struct Fickle(Sphere<f64>);

impl Wrappable<f64> for Fickle {
    fn value(&self, p: &Point3<f64>) -> f64 {
        self.0.value(p)
    }
    fn gradient(&self, p: &Point3<f64>) -> Vector3<f64> {
        self.0.gradient(p)
    }
    fn hessian(&self, p: &Point3<f64>) -> Matrix3<f64> {
        self.0.hessian(p)
    }
    fn size(&self) -> f64 {
        self.0.size()
    }
    fn geodesic(
        &self,
        p: &Point3<f64>,
        along: &Vector3<f64>,
        length: f64,
        accuracy: f64,
        most: usize,
    ) -> Geodesic<f64> {
        let mut geodesic = self.0.geodesic(p, along, length, accuracy, most);
        let end = &mut geodesic.end;
        end.tangent += end.binormal() * (0.1 * (1e9 * end.point.x).sin());
        Geodesic { evaluations: 240, ..geodesic }
    }
}

fn not_to_be_found(max_evaluations: usize) -> Result<Option<PathError>, Error> {
    let ball = on_ground(Fickle(Sphere::new(1.0)?))?;
    let path = CablePath::new(fixed::<f64>(-2.6, 0.3, -0.3), fixed(2.6, -0.4, -0.25))?.over(ball);
    let path = path.with_settings(Settings { max_evaluations, ..Settings::default() })?;
    let mut system = ForceSystem::new();
    system.add(CableSpring::new(
        path,
        cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
    )?)?;
    let mut state = system.default_state();
    Ok(refusal(&system, &mut state))
}

#[test]
fn what_is_not_found_costs_no_more_than_the_settings_allow() -> Result<(), Error> {
    let mut before = 0;
    for most in [1, 100, 1_000, 10_000, 50_000] {
        let error = not_to_be_found(most)?;
        let Some(PathError::TooManyEvaluations { evaluations }) = error else { panic!("{most}: {error:?}") };
        // A geodesic of these always takes 240, and a string is always laid.
        assert!(evaluations < most + 1_000, "{evaluations} of {most}");
        assert!(evaluations >= before, "{evaluations} {before}");
        before = evaluations;
        // The same count every time.
        assert_eq!(error, not_to_be_found(most)?);
    }
    // The share of the search was spent.
    assert!(before >= 30_000, "{before}");
    Ok(())
}

/// A surface that counts what `Settings::max_evaluations` bounds.
#[derive(Debug)]
struct Counting<S>(S, Arc<AtomicUsize>);

impl<S: Wrappable<f64>> Wrappable<f64> for Counting<S> {
    fn value(&self, p: &Point3<f64>) -> f64 {
        self.0.value(p)
    }
    fn gradient(&self, p: &Point3<f64>) -> Vector3<f64> {
        self.0.gradient(p)
    }
    fn hessian(&self, p: &Point3<f64>) -> Matrix3<f64> {
        self.0.hessian(p)
    }
    fn size(&self) -> f64 {
        self.0.size()
    }
    fn is_convex(&self) -> bool {
        self.0.is_convex()
    }
    fn smooth_reach(&self, p: &Point3<f64>, velocity: &Vector3<f64>, acceleration: &Vector3<f64>) -> f64 {
        self.0.smooth_reach(p, velocity, acceleration)
    }
    fn geodesic(
        &self,
        p: &Point3<f64>,
        along: &Vector3<f64>,
        length: f64,
        accuracy: f64,
        most: usize,
    ) -> Geodesic<f64> {
        let geodesic = self.0.geodesic(p, along, length, accuracy, most);
        self.1.fetch_add(1 + geodesic.evaluations, Ordering::Relaxed);
        geodesic
    }
    fn closest_on_segment(&self, a: &Point3<f64>, b: &Point3<f64>) -> (Point3<f64>, f64) {
        self.1.fetch_add(50, Ordering::Relaxed);
        self.0.closest_on_segment(a, b)
    }
}

/// Geodesics of twenty to some hundred thousand windings, of which none can be computed with so few evaluations.
#[test]
fn a_memory_too_long_for_the_settings_is_given_up_within_them() -> Result<(), Error> {
    const MOST: usize = 20_000;
    for length in [100.0, 300.0, 1e3, 1e6] {
        let count = Arc::new(AtomicUsize::new(0));
        let surface = Counting(Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?, Arc::clone(&count));
        let path = CablePath::new(fixed(-2.0, 0.1, -0.1), fixed(2.0, 0.2, 0.1))?.over(on_ground(surface)?);
        let path = path.with_settings(Settings { max_evaluations: MOST, ..Settings::default() })?;
        let wrap = Wrap {
            known: true,
            in_contact: true,
            point: Point3::new(-0.7, 0.0, 0.0),
            tangent: Vector3::new(0.0, 1.0, 0.1),
            length,
        };
        let wraps = Wraps { wraps: vec![wrap], ..path.no_wraps() };
        let mut system = ForceSystem::new();
        let cable = system.add(CableSpring::new(path, cable_spring::Parameters::default())?)?;
        let mut state = system.default_state();
        system.set_discrete(&mut state, cable, wraps.into())?;
        count.store(0, Ordering::Relaxed);
        let found = system.realize_position(&mut state)?.of(cable).position.path.tracking;
        let spent = count.load(Ordering::Relaxed);
        assert_eq!(found, Tracking::Restarted, "{length} m");
        assert!(spent > MOST / 4 && spent <= MOST, "{length} m: {spent}");
    }
    Ok(())
}

/// However little may be spent, and although a memory of many windings takes all of its share.
#[test]
fn a_restart_finds_what_a_new_search_finds() -> Result<(), Error> {
    let (mut found, mut refused) = (0, 0);
    let state = ForceSystem::new().default_state();
    let mut most = 50.0_f64;
    while most < 20_000.0 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
        let settings = Settings { max_evaluations: most as usize, ..Settings::default() };
        let egg = on_ground(Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?)?;
        let path = CablePath::new(fixed(-2.0, 0.1, -0.1), fixed(2.0, 0.2, 0.1))?.over(egg);
        let path = path.with_settings(settings)?;
        let mut long = path.no_wraps();
        long.wraps[0] = Wrap {
            known: true,
            in_contact: true,
            point: Point3::new(-0.7, 0.0, 0.0),
            tangent: Vector3::new(0.0, 1.0, 0.1),
            length: 1e6,
        };
        let mut results = PathResults::default();
        let [new, restarted] = [&path.no_wraps(), &long].map(|wraps| {
            let outcome = path.solve(state.positions(), wraps, &mut results);
            outcome
                .map(|()| results.length)
                .map_err(|error| matches!(error, PathError::TooManyEvaluations { .. }))
        });
        assert_eq!(new, restarted, "{most}");
        *(if new.is_ok() { &mut found } else { &mut refused }) += 1;
        assert!(new != Err(false), "{most}");
        most *= 1.07;
    }
    assert!(found > 10 && refused > 10, "{found} {refused}");
    Ok(())
}

/// Cables over the flat faces of bricks, on which neighbouring paths hardly differ, and over bumps from far away.
#[test]
fn a_search_over_a_fine_surface_ends_within_its_settings() -> Result<(), Error> {
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.8, 1.0), [4, 6, 8])?;
    let brick = DistanceField::from_mesh(&brick, 0.1)?;
    let ends = [
        (fixed(0.618, -0.700, -0.468), Point3::new(-0.941, -0.634, 0.512)),
        (fixed(-1.407, 0.3181, 0.503), Point3::new(1.758, -0.202, -0.422)),
    ];
    for (from, to) in ends {
        for most in [3_000, 30_000] {
            let count = Arc::new(AtomicUsize::new(0));
            let obstacle = on_ground(Counting(brick.clone(), Arc::clone(&count)))?;
            let settings = Settings { max_evaluations: most, ..Settings::default() };
            let path = CablePath::new(from, Station::ground(to))?.over(obstacle).with_settings(settings)?;
            let state = ForceSystem::new().default_state();
            let outcome = path.solve(state.positions(), &path.no_wraps(), &mut PathResults::default());
            let spent = count.load(Ordering::Relaxed);
            assert!(spent <= most + most / 10, "{spent} of {most}");
            if let Err(error) = outcome {
                assert!(matches!(error, PathError::TooManyEvaluations { .. }), "{most}: {error}");
            }
        }
    }
    Ok(())
}

#[test]
fn an_end_inside_an_obstacle_is_found_before_any_search() -> Result<(), Error> {
    // With a single evaluation allowed no path is found at all.
    let settings = Settings { max_evaluations: 1, ..Settings::default() };
    let solve = |ends: [Station<f64>; 2], surface: usize| -> Result<Option<PathError>, Error> {
        let path = CablePath::new(ends[0], ends[1])?;
        let path = match surface {
            0 => path.over(on_ground(Sphere::new(0.8)?)?),
            1 => path.over(on_ground(Torus::new(1.0, 0.3)?)?),
            2 => path.over(on_ground(Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?)?),
            _ => path.over(on_ground(Cylinder::new(0.8)?)?),
        };
        let mut system = ForceSystem::new();
        system.add(CableSpring::new(
            path.with_settings(settings)?,
            cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
        )?)?;
        let mut state = system.default_state();
        Ok(refusal(&system, &mut state))
    };
    let inside = Some(PathError::PointInsideObstacle { obstacle: 0 });
    for surface in 0..4 {
        // Also where no direction is outwards.
        let deep =
            if surface == 1 { [[1.0, 0.0, 0.0], [0.0, 1.1, 0.1]] } else { [[0.0; 3], [0.1, 0.2, 0.1]] };
        for [x, y, z] in deep {
            let ends = [fixed(x, y, z), fixed(3.0, 0.1, 0.2)];
            assert_eq!(solve(ends, surface)?, inside, "{surface}");
            assert_eq!(solve([ends[1], ends[0]], surface)?, inside, "{surface}");
        }
    }
    Ok(())
}

#[test]
fn a_via_point_inside_the_obstacle_next_to_it_is_refused() -> Result<(), Error> {
    let ball = |x: f64| Obstacle::new(Frame::ground(Pose::translation(x, 0.0, 0.0)), Sphere::new(0.5)?);
    for (x, obstacle) in [(-1.2, 0), (1.3, 1)] {
        let path = CablePath::new(fixed(-3.0, 0.1, 0.0), fixed(3.0, 0.1, 0.0))?
            .over(ball(-1.0)?)
            .through(fixed(x, 0.1, 0.0))?
            .over(ball(1.0)?);
        let mut system = ForceSystem::new();
        system.add(CableSpring::new(
            path,
            cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
        )?)?;
        let mut state = system.default_state();
        assert_eq!(refusal(&system, &mut state), Some(PathError::PointInsideObstacle { obstacle }));
    }
    Ok(())
}

#[test]
fn a_memory_that_is_not_finite_is_refused() -> Result<(), Error> {
    let (mut system, body, cable) = one_end_free(fixed(-2.0, 0.3, 0.0), [on_ground(Sphere::new(0.8)?)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(2.0, 0.3, 0.0))?;
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    let sound = state.discrete(cable).wraps.clone();
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let changes: [fn(&mut Wrap<f64>, f64); 3] =
            [|wrap, x| wrap.point.y = x, |wrap, x| wrap.tangent.z = x, |wrap, x| wrap.length = x];
        let refused = |outcome: Result<(), Error>| Some(outcome.err()?.invalid_value()?.name);
        for (name, change) in ["wraps.point", "wraps.tangent", "wraps.length"].into_iter().zip(changes) {
            let mut wraps = sound.clone();
            change(&mut wraps.wraps[0], number);
            assert_eq!(refused(system.set_discrete(&mut state, cable, wraps.clone().into())), Some(name));
            assert_eq!(refused(system.set_default_discrete(cable, wraps.into())), Some(name));
        }
    }
    assert_eq!(state.discrete(cable).wraps, sound);
    Ok(())
}

#[cfg(feature = "serde")]
#[test]
fn what_makes_no_sense_is_refused_when_it_is_read() {
    use force_elements::cable_spring::Parameters;
    use serde::de::DeserializeOwned;

    /// The sound text is read, and not with another number in the place of one.
    fn refuses<V: DeserializeOwned + serde::Serialize + PartialEq + core::fmt::Debug>(
        sound: &V,
        faults: &[(&str, &str)],
    ) {
        let text = serde_json::to_string(sound).expect("serialises");
        assert_eq!(serde_json::from_str::<V>(&text).expect("what was written"), *sound);
        for (from, to) in faults {
            assert!(text.contains(from), "{text}");
            let outcome = serde_json::from_str::<V>(&text.replacen(from, to, 1));
            assert!(outcome.is_err(), "{to}: {outcome:?}");
        }
    }

    // What is too large for single precision arrives as infinite.
    let settings = Settings::<f32> { smoothness: 0.005, max_iterations: 60, max_evaluations: 70 };
    refuses(
        &settings,
        &[
            ("0.005", "0.0"),
            ("0.005", "-1.0"),
            ("0.005", "0.5"),
            ("0.005", "1e300"),
            ("60", "0"),
            ("70", "0"),
        ],
    );
    let wrap = Wrap::<f32> {
        known: true,
        in_contact: true,
        point: Point3::new(1.5, 0.0, 0.0),
        tangent: Vector3::new(0.0, 2.5, 0.0),
        length: 3.5,
    };
    let faults = [("1.5", "1e300"), ("2.5", "-1e300"), ("3.5", "-1.0"), ("3.5", "1e300")];
    refuses(&wrap, &faults);
    refuses(&Wraps { wraps: vec![wrap], ..Wraps::default() }, &faults);
    let parameters = Parameters::<f32> { stiffness: 1.5, slack_length: 2.5, dissipation: 3.5 };
    refuses(&parameters, &[("1.5", "-1.0"), ("2.5", "-1.0"), ("3.5", "-1.0"), ("1.5", "1e300")]);
}
