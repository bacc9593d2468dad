//! The path found: closed forms, continuity, independence of the initial guess.

use force_elements::cable::{CablePath, Obstacle, Tracking, Wrap, Wraps};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Pose, cable_spring};
use num_dual::Dual64;

use super::scalars::smoother;
use super::{fixed, moving_scenes, on_ground, one_end_free, past_ball};
use force_elements_scenes::cables::Dice;

#[test]
fn path_over_a_ball_is_two_tangents_and_an_arc() -> Result<(), Error> {
    let mut dice = Dice::new(1);
    for _ in 0..50 {
        let a = Vector3::new(-2.0, dice.between(-1.0, 0.5), dice.between(-0.3, 0.3));
        let b = Vector3::new(2.0, dice.between(-1.0, 0.5), dice.between(-0.3, 0.3));
        let (system, body, cable) = one_end_free(fixed(a.x, a.y, a.z), [on_ground(Sphere::new(0.8)?)?])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::from(Translation3::from(b)))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        let straight = a + (b - a) * (-a.dot(&(b - a)) / (b - a).norm_squared());
        let expected = if straight.norm() > 0.8 { (b - a).norm() } else { past_ball::<f64>(a, b, 0.8) };
        // Stationary length: only roundoff is left.
        assert!((path.length - expected).abs() < 1e-12, "{} {expected}", path.length);
        assert!(path.smoothness < 1e-9);
    }
    Ok(())
}

#[test]
fn path_over_a_ball_through_its_very_middle_goes_round_it() -> Result<(), Error> {
    let (system, body, cable) = one_end_free(fixed(-2.0, 0.0, 0.0), [on_ground(Sphere::new(0.8)?)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(2.0, 0.0, 0.0))?;
    let view = system.realize_position(&mut state)?;
    // All ways round are equally long: any of them will do.
    let x = Vector3::new(2.0, 0.0, 0.0);
    assert!((view.of(cable).position.path.length - past_ball::<f64>(-x, x, 0.8)).abs() < 1e-9);
    Ok(())
}

#[test]
fn the_long_way_round_a_ball_is_not_accepted() -> Result<(), Error> {
    let (system, body, cable) = one_end_free(fixed(-2.0, 0.3, 0.0), [on_ground(Sphere::new(0.8)?)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(2.0, 0.3, 0.0))?;
    let long = Wrap {
        known: true,
        in_contact: true,
        point: Point3::new(-0.5, -0.62, 0.0),
        tangent: Vector3::new(0.62, -0.5, 0.0),
        length: 0.8,
    };
    system.set_discrete(
        &mut state,
        cable,
        Wraps { wraps: vec![long], ..system.element(cable).path().no_wraps() }.into(),
    )?;
    let view = system.realize_position(&mut state)?;
    let path = &view.of(cable).position.path;
    // It would be stationary underneath, and longer.
    assert_ne!(path.tracking, Tracking::Warm);
    let expected: f64 = past_ball(Vector3::new(-2.0, 0.3, 0.0), Vector3::new(2.0, 0.3, 0.0), 0.8);
    assert!((path.length - expected).abs() < 1e-12);
    Ok(())
}

#[test]
fn a_path_in_a_plane_of_symmetry_is_left_for_the_shorter_one_beside_it() -> Result<(), Error> {
    // In such a plane the way over the long axis balances: Newton's method alone would stay on it.
    for radii in [[1.0, 0.5, 0.7], [1.0, 0.9, 0.8], [0.7, 0.6, 1.0], [1.0, 0.7, 0.7]] {
        for (y, z) in [(0.0, 0.0), (0.1, 0.0), (0.01, 0.0), (1e-4, 0.0), (0.0, 0.1), (0.0, 0.01), (0.0, 1e-4)]
        {
            let ellipsoid = on_ground(Ellipsoid::new(Vector3::from(radii))?)?;
            let ends = [-2.0, 2.0].map(|x| fixed::<f64>(x, y, z));
            let [from, to] = ends;
            let path = CablePath::new(from, to)?.over(ellipsoid);
            let mut system = ForceSystem::new();
            let cable = system.add(CableSpring::new(
                path,
                cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
            )?)?;
            let mut state = system.default_state();
            let view = system.realize_position(&mut state)?;
            let found = &view.of(cable).position.path;
            assert!(found.contacts[0].in_contact, "{radii:?} {y} {z}");
            // Not longer than the ways over the two other axes, which a plane curve measures.
            let over = |height: f64| {
                let ellipsoid = on_ground(Ellipsoid::new(Vector3::new(radii[0], height, height))?)?;
                let [from, to] = [-2.0, 2.0].map(|x| fixed::<f64>(x, 1e-3, 0.0));
                let path = CablePath::new(from, to)?.over(ellipsoid);
                let mut system = ForceSystem::new();
                let cable = system.add(CableSpring::new(
                    path,
                    cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 },
                )?)?;
                let mut state = system.default_state();
                let view = system.realize_position(&mut state)?;
                Ok::<_, Error>(view.of(cable).position.path.length)
            };
            let allowed = over(radii[1].min(radii[2]))?;
            assert!(found.length < allowed + 2e-3, "{radii:?} {y} {z}: {} {allowed}", found.length);
        }
    }
    Ok(())
}

#[test]
fn length_is_continuous_through_touchdown_and_liftoff() -> Result<(), Error> {
    let (system, body, cable) = one_end_free(fixed(-2.0, 0.9, 0.1), [on_ground(Sphere::new(0.8)?)?])?;
    let mut state = system.default_state();
    let (mut touched, mut last) = (0, None::<(f64, bool)>);
    for i in 0..400 {
        let y = 0.9 + 0.6 * (f64::from(i) * 0.05).sin();
        state.set_pose(body, Pose::translation(2.0, y, 0.1))?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        let now = (path.length, path.contacts[0].in_contact);
        if let Some((length, contact)) = last {
            // The end moves at most 0.03 a step.
            assert!((now.0 - length).abs() < 0.031);
            touched += u32::from(contact != now.1);
        }
        last = Some(now);
        system.accept_step(&mut state)?;
    }
    assert!(touched >= 6, "{touched}");
    Ok(())
}

#[test]
fn derivative_of_length_by_the_end_point_is_the_tangent() -> Result<(), Error> {
    let surface = Cylinder::new(Dual64::from_re(0.7))?;
    let ball = Sphere::new(Dual64::from_re(0.6))?;
    let turned = Rotation3::from_axis_angle(&Vector3::<f64>::x_axis(), 0.2).into_inner().map(Dual64::from_re);
    let X = Pose::from_parts(Translation3::identity(), Rotation3::from_matrix_unchecked(turned));
    let next = Pose::translation(Dual64::from_re(2.0), Dual64::from_re(-0.3), Dual64::from_re(0.1));
    for axis in 0..3 {
        let obstacles =
            [Obstacle::new(Frame::ground(X), surface)?, Obstacle::new(Frame::ground(next), ball)?];
        let (system, body, cable) = one_end_free(fixed(-2.0, 0.1, 0.0), obstacles)?;
        let mut state = system.default_state();
        let mut p = Vector3::new(4.0, -0.5, 0.3).map(Dual64::from_re);
        p[axis].eps = 1.0;
        state.set_pose(body, Pose::from(Translation3::from(p)))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts.iter().all(|contact| contact.in_contact));
        let tangent = path.segments[2].direction_G[axis].re;
        // The kink left is below 1e-9, and the derivative is off by no more.
        assert!((path.length.eps - tangent).abs() < 1e-9, "{} {tangent}", path.length.eps);
    }
    Ok(())
}

#[test]
fn moving_everything_together_changes_nothing() -> Result<(), Error> {
    let X = Pose::from_parts(Translation3::new(0.3, -0.7, 0.4), Rotation3::new(Vector3::new(0.5, -0.2, 0.9)));
    for (mut scene, _) in moving_scenes(30) {
        scene.system.realize_dynamics(&mut scene.state)?;
        scene.accept()?;
        let (length, rate, forces) = {
            let dynamics = scene.system.realize_dynamics(&mut scene.state)?;
            let at = dynamics.of(scene.cable);
            let forces: Vec<_> = scene.system.bodies().map(|body| dynamics.body_force(body)).collect();
            (at.position.path.length, at.velocity.length_rate, forces)
        };
        for body in scene.system.bodies() {
            let pose = X * scene.state.positions().pose(body);
            let velocity = scene.state.velocities().velocity(body).rotated(&X.rotation);
            scene.state.set_body(body, pose, velocity)?;
        }
        let dynamics = scene.system.realize_dynamics(&mut scene.state)?;
        let at = dynamics.of(scene.cable);
        // Roundoff of positions up to 12 m; forces also by the kink of 1e-9 that both may keep.
        assert!((at.position.path.length - length).abs() < 1e-11);
        assert!((at.velocity.length_rate - rate).abs() < 1e-7);
        for (body, force) in scene.system.bodies().zip(&forces) {
            let off = dynamics.body_force(body) + -force.rotated(&X.rotation);
            assert!(off.force.norm() < 1e-7 * at.dynamics.tension, "{off:?}");
        }
    }
    Ok(())
}

#[test]
fn smoothness_reported_bounds_the_kinks_of_the_path() -> Result<(), Error> {
    for (mut scene, _) in moving_scenes(60) {
        let view = scene.system.realize_position(&mut scene.state)?;
        let path = &view.of(scene.cable).position.path;
        let mut segments = path.segments.iter();
        for (i, contact) in path.contacts.iter().enumerate().filter(|(_, contact)| contact.in_contact) {
            let arriving = segments.find(|segment| segment.to_contact == Some(i)).copied();
            let leaving = segments.clone().next().copied();
            let (Some(arriving), Some(leaving)) = (arriving, leaving) else { continue };
            let geodesic = &contact.geodesic;
            assert!((arriving.direction_G - geodesic.start.tangent).norm() <= path.smoothness + 1e-14);
            assert!((leaving.direction_G - geodesic.end.tangent).norm() <= path.smoothness + 1e-14);
            // And the geodesic between them is one: shot anew from its start, it ends there.
            let X_SG = contact.X_GS.inverse();
            let (p, t) = (X_SG * Point3::from(geodesic.start.point), X_SG.rotation * geodesic.start.tangent);
            let element = scene.system.element(scene.cable);
            let surface = element.path().obstacles()[i].surface();
            let again = surface
                .geodesic(&Point3::from(p.coords), &t, geodesic.length, 1e-12, usize::MAX)
                .end
                .transformed(&contact.X_GS);
            assert!((again.point - geodesic.end.point).norm() < 2e-9);
            assert!((again.tangent - geodesic.end.tangent).norm() < 5e-9);
        }
        assert!(path.smoothness <= 2e-9);
    }
    Ok(())
}

#[test]
fn a_rough_path_is_as_long_as_a_smooth_one_but_for_hundredths_of_its_kinks() -> Result<(), Error> {
    let mut compared = 0;
    for (scene, _) in moving_scenes(200) {
        let length = |smoothness| -> Result<f64, Error> {
            let system = smoother(&scene.system, scene.system.element(scene.cable), smoothness)?;
            let mut state = system.cast_state(&scene.state)?;
            system.reset_memory(&mut state, scene.cable)?;
            Ok(system.realize_position(&mut state)?.of(scene.cable).position.path.length)
        };
        let Ok(smooth) = length(1e-12) else { continue };
        for smoothness in [1e-2, 1e-3, 1e-4, 1e-6] {
            // Obstacles are up to a metre in size.
            assert!((length(smoothness)? - smooth).abs() < 0.05 * smoothness, "{smoothness}");
            compared += 1;
        }
    }
    assert!(compared > 700, "{compared}");
    Ok(())
}

#[test]
fn sampled_points_lie_on_the_path() -> Result<(), Error> {
    for (mut scene, _) in moving_scenes(20) {
        let view = scene.system.realize_position(&mut scene.state)?;
        let path = &view.of(scene.cable).position.path;
        let points = path.sample(scene.system.element(scene.cable).path(), 0.02);
        let length: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
        // Chords of 0.02 on radii above 0.2 are short by their square over 24: 4e-4 at most.
        assert!(
            length <= path.length + 1e-9 && length > path.length * (1.0 - 5e-4),
            "{length} {}",
            path.length
        );
    }
    Ok(())
}

#[test]
fn single_precision_paths_are_good_to_single_precision() -> Result<(), Error> {
    let (system, body, cable) = one_end_free::<f32>(fixed(-2.0, 0.3, 0.1), [on_ground(Sphere::new(0.8)?)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(2.0, 0.2, 0.0))?;
    let view = system.realize_position(&mut state)?;
    let expected: f64 = past_ball(Vector3::new(-2.0, 0.3, 0.1), Vector3::new(2.0, 0.2, 0.0), 0.8);
    // A few dozen operations with a roundoff of 6e-8 on a length of 4.
    assert!((f64::from(view.of(cable).position.path.length) - expected).abs() < 3e-6);
    Ok(())
}

#[test]
fn a_pose_moves_the_station_of_a_cable() -> Result<(), Error> {
    let (system, body, cable) = one_end_free::<f64>(fixed(-2.0, 0.3, 0.0), [])?;
    let mut state = system.default_state();
    let X_GB = Pose::translation(1.0, 2.0, 3.0);
    state.set_pose(body, X_GB)?;
    let view = system.realize_position(&mut state)?;
    let station = system.element(cable).path().termination();
    let segment = view.of(cable).position.path.segments[0];
    assert_eq!(X_GB * station.p_B, segment.to_G);
    assert_eq!(segment.to_G.coords, Vector3::new(1.0, 2.0, 3.0));
    Ok(())
}
