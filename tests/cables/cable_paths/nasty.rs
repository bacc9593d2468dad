//! Absurd inputs: nothing panics or hangs, and results are finite or a typed error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults, Settings, Wrap, Wrappable, Wraps};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector2, Vector3};
use force_elements::shapes::{HeightMap, ShapeError, Sphere};
use force_elements::{
    BodyIndex, Error, ForceSystem, Frame, InvalidValue, KinematicsError, Pose, Real, Station, Variables,
};

use super::{fixed, on_ground};
use force_elements_scenes::absurd::{index, number, seldom, surface, vector};
use force_elements_scenes::cables::{Dice, Peanut};
use force_elements_scenes::{is_at_length, seeds};

/// Calls every method of a surface with what it gets.
fn call_everything<T: Real>(surface: &dyn Wrappable<T>, dice: &mut Dice) {
    let (p, q) = (Point3::from(vector(dice)), Point3::from(vector(dice)));
    let (u, v) = (vector(dice), vector(dice));
    let _ = (surface.value(&p), surface.gradient(&p), surface.hessian(&p), surface.size());
    let _ = (surface.covers(&p), surface.height(&p), surface.smooth_reach(&p, &u, &v));
    let _ = (surface.retract(&p), surface.end(&p, &u));
    let _ = (surface.closest_on_segment(&p, &q), surface.clears(&p, &q));
    let _ = (surface.is_convex(), surface.may_reenter(&p, &q));
    let geodesic = surface.geodesic(&p, &u, number(dice), number(dice), usize::MAX);
    let _ = (geodesic.start.binormal(), geodesic.end.transformed(&Pose::identity()));
}

/// How many random surfaces are drawn.
fn surfaces() -> u64 {
    if is_at_length() { 10_000 } else { 300 }
}

fn surfaces_withstand_anything<T: Real>(seeds: core::ops::Range<u64>) {
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let Some(surface) = surface::<T>(&mut dice) else { return };
            call_everything(surface.as_ref(), &mut dice);
        }));
        assert!(outcome.is_ok(), "{seed}");
    }
}

#[test]
fn no_call_of_a_surface_panics_or_hangs() {
    surfaces_withstand_anything::<f64>(0..surfaces());
}

#[test]
fn no_call_of_a_surface_in_single_precision_panics_or_hangs() {
    surfaces_withstand_anything::<f32>(0..seeds(surfaces()));
}

/// Ground or one of two bodies.
fn body<T: Real>(dice: &mut Dice, system: &ForceSystem<T>) -> BodyIndex {
    system.topology().body(index(dice, 3)).expect("two bodies")
}

fn station<T: Real>(dice: &mut Dice, system: &ForceSystem<T>, x: f64) -> Station<T> {
    let body = body(dice, system);
    Station { body, p_B: Point3::new(seldom(dice, x), seldom(dice, 0.2), seldom(dice, 0.1)) }
}

fn path<T: Real>(dice: &mut Dice, system: &ForceSystem<T>) -> Result<CablePath<T>, PathError> {
    let mut path = CablePath::new(station(dice, system, -3.0), station(dice, system, 9.0))?;
    for i in 0..dice.below(4) {
        #[allow(clippy::cast_precision_loss, reason = "at most 3")]
        let x = 3.0 * i as f64;
        if dice.below(5) == 0 {
            path = path.through(station(dice, system, x))?;
            continue;
        }
        let Some(surface) = surface(dice) else { continue };
        let p = Vector3::new(seldom(dice, x), seldom(dice, -0.2), seldom(dice, 0.0));
        let X_BS = Pose::from_parts(Translation3::from(p), Rotation3::new(dice.vector(1.0).map(T::lit)));
        let mut obstacle = Obstacle::shared(Frame::on(body(dice, system), X_BS), surface.into())?;
        if dice.below(3) == 0 {
            obstacle = obstacle.with_contact_hint(vector(dice).into())?;
        }
        path = path.over(obstacle);
    }
    // One run of Newton's method in twenty is enough to meet every way through the solver.
    path.with_settings(Settings { smoothness: seldom(dice, 1e-4), max_iterations: 20, ..Settings::default() })
}

fn wraps<T: Real>(dice: &mut Dice, mut wraps: Wraps<T>) -> Wraps<T> {
    if dice.below(4) == 0 {
        wraps.wraps.resize(index(dice, 5), Wrap::default());
    }
    let mut fill = |wraps: &mut [Wrap<T>], rarity: u64| {
        wraps.fill_with(|| Wrap {
            known: dice.below(4) > 0,
            in_contact: dice.below(rarity) == 0,
            point: vector(dice).into(),
            tangent: vector(dice),
            length: seldom(dice, 0.5),
        });
    };
    fill(&mut wraps.wraps, 2);
    fill(&mut wraps.further_wraps, 8);
    wraps
}

/// Solves paths through nasty scenes; what is found is finite, and may be remembered.
fn paths_withstand_anything<T: Real>(seeds: core::ops::Range<u64>) -> u64 {
    let mut solved = 0;
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut system = ForceSystem::<T>::new();
            let bodies = [system.add_body(), system.add_body()];
            let Ok(path) = path(&mut dice, &system) else { return 0 };
            let mut state = system.default_state();
            for body in bodies {
                let p = Vector3::new(seldom(&mut dice, 0.1), seldom(&mut dice, 0.1), seldom(&mut dice, 0.1));
                let R = Rotation3::new(dice.vector(0.2).map(T::lit));
                let _ = state.set_pose(body, Pose::from_parts(Translation3::from(p), R));
            }
            let mut results = PathResults::default();
            let mut wraps = wraps(&mut dice, path.no_wraps());
            let mut solved = 0;
            for _ in 0..2 {
                if path.solve(state.positions(), &wraps, &mut results).is_err() {
                    break;
                }
                assert!(
                    results.length.is_finite() && results.length > T::zero(),
                    "{seed}: {}",
                    results.length
                );
                assert!(results.smoothness.is_finite());
                results.remember(&mut wraps);
                assert_eq!(wraps.validate(), Ok(()), "{seed}: {wraps:?} of {path:?}");
                for (body, p, f) in results.unit_forces() {
                    assert!(body.index() < 3 && p.iter().all(T::is_finite) && f.iter().all(T::is_finite));
                }
                let _ = results.sample(&path, number::<T>(&mut dice).max(T::lit(0.01)));
                solved += 1;
            }
            solved
        }));
        assert!(outcome.is_ok(), "{seed}");
        solved += outcome.unwrap_or(0);
    }
    solved
}

#[test]
fn no_scene_panics_and_what_is_found_is_finite() {
    let solved = paths_withstand_anything::<f64>(0..seeds(600));
    assert!(12 * solved > seeds(600), "{solved}");
}

#[test]
fn no_scene_in_single_precision_panics_and_what_is_found_is_finite() {
    let solved = paths_withstand_anything::<f32>(0..seeds(600));
    assert!(12 * solved > seeds(600), "{solved}");
}

#[test]
fn positions_of_a_smaller_system_are_refused() -> Result<(), Error> {
    let mut larger = ForceSystem::<f64>::new();
    larger.add_body();
    let far = larger.add_body();
    let missing = Some(PathError::Kinematics(KinematicsError::NoSuchBody { body: far }));
    let mut smaller = ForceSystem::<f64>::new();
    smaller.add_body();
    let state = smaller.default_state();
    let stations =
        [fixed(-2.0, 0.3, 0.0), fixed(2.0, 0.3, 0.0), Station { body: far, p_B: Point3::new(1.0, 0.0, 0.0) }];
    let [a, b, far_point] = stations;
    let ball = Obstacle::new(Frame::of(far), Sphere::new(0.5)?)?;
    let paths = [
        CablePath::new(a, far_point)?,
        CablePath::new(far_point, b)?,
        CablePath::new(a, b)?.through(far_point)?,
        CablePath::new(a, b)?.over(ball),
    ];
    for path in paths {
        let mut results = PathResults::default();
        assert_eq!(path.solve(state.positions(), &path.no_wraps(), &mut results).err(), missing);
    }
    Ok(())
}

#[test]
fn a_memory_of_another_path_is_refused() -> Result<(), Error> {
    let ball = || on_ground(Sphere::new(0.8)?);
    let one = CablePath::<f64>::new(fixed(-2.0, 0.3, 0.0), fixed(2.0, 0.3, 0.0))?.over(ball()?);
    let two = one.clone().over(ball()?);
    let state = ForceSystem::new().default_state();
    let mut results = PathResults::default();
    for (wraps, given) in [(two.no_wraps(), 2), (Wraps::default(), 0)] {
        let outcome = one.solve(state.positions(), &wraps, &mut results);
        assert_eq!(outcome, Err(PathError::Foreign { what: "remembered obstacles", expected: 1, given }));
    }
    Ok(())
}

/// The surface through such heights would have slopes and curvatures that overflow.
#[test]
fn heights_that_a_spline_cannot_carry_are_refused() -> Result<(), Error> {
    for height in [1e9_f64, -1e9, 1e160, 1e307] {
        let heights = [0.0, 0.0, height, 0.0];
        let map = HeightMap::new(Vector2::new(0.0, 0.0), Vector2::new(1.0, 2.0), 2, &heights);
        let Err(ShapeError::InvalidValue(InvalidValue { name: "height_map.heights", value, .. })) = map
        else {
            panic!("{map:?}")
        };
        assert_eq!(value, height);
    }
    // What is accepted is finite with its derivatives, in single precision too.
    for seed in 0..500 {
        let mut dice = Dice::new(seed);
        let spacing = 10_f32.powi(i32::try_from(dice.below(12)).expect("small") - 6);
        let limit = 1e7 * spacing;
        let heights: Vec<f32> = (0..12).map(|_| number::<f32>(&mut dice).max(-limit).min(limit)).collect();
        let map = HeightMap::new(Vector2::zeros(), Vector2::new(spacing, 2.0 * spacing), 4, &heights)?;
        let p = Vector3::new(1.3, 2.1, 0.0) * spacing;
        let slope = map.gradient(&Point3::from(p)).norm_squared();
        assert!(
            (slope * slope).is_finite()
                && map.value(&Point3::from(p)).is_finite()
                && map.hessian(&Point3::from(p)).iter().all(|x| (x * x).is_finite()),
            "{seed}"
        );
    }
    Ok(())
}

/// Samples at a quarter of the smallest feature would be as many as two hundred thousand.
#[test]
fn a_tiny_hollow_solid_is_found_on_a_long_line() {
    let peanut = Peanut { reach: 1e-4 };
    for seed in 0..50 {
        let mut dice = Dice::new(seed);
        let middle = Point3::from(dice.vector(0.3 * peanut.reach));
        let along = dice.vector(1.0).normalize();
        let [a, b] = [-5.0, 3.0].map(|reach| middle + along * reach);
        let found = Wrappable::<f64>::closest_on_segment(&peanut, &a, &b);
        // The same on the part of the line that is near.
        let [a, b] = [-1.0, 1.0].map(|part| middle + along * (part * 5.0 * peanut.reach));
        let near = Wrappable::<f64>::closest_on_segment(&peanut, &a, &b);
        let off = (found.1 - near.1).abs();
        assert!(near.1 < 0.0 && off < 1e-9 * peanut.reach, "{seed}: {found:?} {near:?}");
    }
}
