//! What makes no sense is refused, with its reason.

use force_elements::cable::{CablePath, HeightMap, Obstacle, Settings, Sphere, Station};
use force_elements::nalgebra::{Translation3, Vector2, Vector3};
use force_elements::{BodyIndex, CableSpring, Error, ForceSystem, Result, Transform};

use crate::{fixed, on_ground, one_end_free};

#[test]
fn what_makes_no_sense_is_refused() -> Result<()> {
    let ball = || on_ground(Sphere::new(0.8)?);
    let solve = |from: Station<f64>, to: Vector3<f64>, obstacle: Obstacle<f64>| -> Result<()> {
        let (system, body, _) = one_end_free(from, [obstacle])?;
        let mut state = system.default_state();
        state.set_pose(body, Transform::from(Translation3::from(to)))?;
        system.realize_position(&mut state).map(|_| ()).map_err(|error| error.cause().clone())
    };
    let far = Vector3::new(2.0, 0.3, 0.0);
    assert_eq!(solve(fixed(0.1, 0.2, 0.0), far, ball()?), Err(Error::PointInsideObstacle { obstacle: 0 }));
    assert_eq!(
        solve(fixed(-2.0, 0.2, 0.0), Vector3::new(0.0, 0.3, 0.3), ball()?),
        Err(Error::PointInsideObstacle { obstacle: 0 })
    );
    let point = fixed::<f64>(1.0, 2.0, 3.0);
    assert_eq!(CablePath::new(point, point).err(), Some(Error::CoincidentPoints { span: 0 }));
    let (system, body, _) = one_end_free(point, [])?;
    let mut state = system.default_state();
    state.set_pose(body, Transform::from(Translation3::from(point.p_B)))?;
    let refused = system.realize_position(&mut state).map(|_| ()).expect_err("coincident");
    assert!(matches!(refused.cause(), Error::CoincidentPoints { span: 0 }));

    let path = || CablePath::new(fixed(0.0, 0.0, 0.0), fixed(1.0, 0.0, 0.0));
    for (k, l, c) in [(-1.0, 0.0, 0.0), (1.0, -1.0, 0.0), (1.0, 0.0, -1.0), (f64::NAN, 0.0, 0.0)] {
        assert!(matches!(CableSpring::new(path()?, k, l, c), Err(Error::InvalidValue { .. })));
    }
    let settings = Settings { smoothness: 0.0, ..Settings::default() };
    assert!(matches!(path()?.with_settings(settings), Err(Error::InvalidValue { .. })));
    let nowhere = Station { body: BodyIndex::new(7), p_B: Vector3::new(1.0, 0.0, 0.0) };
    let stray = CableSpring::new(CablePath::new(fixed(0.0, 0.0, 0.0), nowhere)?, 1.0, 0.0, 0.0)?;
    let refused = ForceSystem::new().add(stray).expect_err("stray");
    assert!(matches!(refused.cause(), Error::NoSuchBody { .. }));
    assert!(matches!(path()?.through(fixed(0.0, 0.0, 0.0)), Err(Error::CoincidentPoints { .. })));

    // A ridge that the cable would have to leave over the edge of its map.
    let heights: Vec<f64> = (0..25).map(|i| 1.0 - 0.05 * f64::from(i % 5) * f64::from(i % 5)).collect();
    let ridge = HeightMap::new(Vector2::new(0.0, -1.0), Vector2::new(0.25, 0.5), 5, &heights)?;
    let outcome = solve(fixed(-2.0, 0.1, -3.0), Vector3::new(3.0, 0.1, -3.0), on_ground(ridge)?);
    assert!(outcome.is_err(), "{outcome:?}");
    Ok(())
}

#[test]
fn end_points_that_coincide_beside_an_obstacle_are_refused() -> Result<()> {
    let ball = Obstacle::new(BodyIndex::GROUND, Transform::translation(0.0, 5.0, 0.0), Sphere::new(0.5)?)?;
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let path =
        CablePath::new(fixed::<f64>(1.0, 0.0, 0.0), Station { body, p_B: Vector3::zeros() })?.over(ball);
    system.add(CableSpring::new(path, 1.0, 0.0, 0.0)?)?;
    let mut state = system.default_state();
    state.set_pose(body, Transform::translation(1.0, 0.0, 0.0))?;
    let refused = system.realize_position(&mut state).map(|_| ()).expect_err("coincident");
    assert_eq!(refused.cause(), &Error::CoincidentPoints { span: 0 });
    assert_eq!(
        refused.to_string(),
        "cable_spring[0]: the two fixed points of the cable's stretch 0 coincide"
    );
    Ok(())
}
