//! The memory of a path.

use core::f64::consts::PI;
use force_elements::cable::{CablePath, Obstacle, Wrap, Wraps};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Cylinder, Sphere};
use force_elements::simulation::{Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Pose, SpatialForce, SpatialVelocity, Station};

use super::{fixed, moving_scenes, on_ground, one_end_free};
use force_elements_scenes::cables::Counts;

/// Swings an end around a ball in a plane through its middle. What is remembered of the cable balances on the ball once
/// the straight line has passed the middle, and there it is the longest way across.
#[test]
fn a_cable_swung_in_a_plane_over_the_middle_of_a_ball_slips_off() -> Result<(), Error> {
    for radius in [0.02, 0.05, 0.1, 0.2, 0.4] {
        for height in [0.0, 0.11, 0.3, 0.5, 0.8] {
            for step in [0.003, 0.01, 0.2] {
                let ball = on_ground(Sphere::new(radius)?)?;
                let (system, body, cable) = one_end_free(fixed(-1.0, height, 0.0), [ball])?;
                let mut state = system.default_state();
                let mut angle: f64 = 0.0;
                while angle < 2.0 * PI {
                    let (x, y) = angle.sin_cos();
                    state.set_pose(body, Pose::translation(x, y, 0.0))?;
                    let dynamics = system.realize_dynamics(&mut state)?;
                    let length = dynamics.of(cable).position.path.length;
                    // The shorter of the two ways round, or straight past.
                    let (from, to) = (Vector3::new(-1.0, height, 0.0), Vector3::new(x, y, 0.0));
                    let tangents = [from, to].map(|p| (p.norm_squared() - radius * radius).sqrt());
                    let free = [from, to].map(|p| (radius / p.norm()).acos());
                    let wrapped = from.angle(&to) - free[0] - free[1];
                    let shortest = if wrapped > 0.0 {
                        tangents[0] + tangents[1] + radius * wrapped
                    } else {
                        (to - from).norm()
                    };
                    // While it is still stable, the other way round is the shorter one by up to 2·radius.
                    assert!(length > shortest - 1e-9, "{radius}, {height}, {angle}: {length}, {shortest}");
                    assert!(
                        length < shortest + 2.0 * radius,
                        "{radius}, {height}, {angle}: {length}, {shortest}"
                    );
                    system.accept_step(&mut state)?;
                    angle += step;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn windings_are_kept_while_the_end_moves() -> Result<(), Error> {
    let (system, body, cable) = one_end_free(fixed(-3.0, 1.0, 0.0), [on_ground(Cylinder::new(1.0)?)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(3.0, 1.0, 0.5))?;
    // Laid over the top, twice more around.
    let wound = Wrap {
        known: true,
        in_contact: true,
        point: Point3::new(0.0, 1.0, 0.0),
        tangent: Vector3::new(1.0, 0.0, 0.04),
        length: 4.0 * PI,
    };
    system.set_discrete(
        &mut state,
        cable,
        Wraps { wraps: vec![wound], ..system.element(cable).path().no_wraps() }.into(),
    )?;
    for i in 0..100 {
        let (y, z) = (1.0 - 0.02 * f64::from(i), 0.5 + 0.01 * f64::from(i));
        state.set_pose(body, Pose::translation(3.0, y, z))?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        // Unrolled, a helix is a straight line: the rise is shared out evenly.
        let tangent = |x: f64, y: f64| (x * x + y * y - 1.0).sqrt();
        let bearing = |x: f64, y: f64| f64::atan2(x, y);
        let angle = bearing(3.0, y)
            - bearing(-3.0, 1.0)
            - (1.0 / 3.0_f64.hypot(1.0)).acos()
            - (1.0 / 3.0_f64.hypot(y)).acos()
            + 4.0 * PI;
        let flat = tangent(3.0, 1.0) + tangent(3.0, y) + angle;
        assert!((path.length - flat.hypot(z)).abs() < 1e-11, "{} {}", path.length, flat.hypot(z));
        system.accept_step(&mut state)?;
    }
    Ok(())
}

#[test]
fn a_tracked_cable_keeps_its_side_when_the_other_becomes_shorter() -> Result<(), Error> {
    let (system, body, cable) = one_end_free(fixed(-3.0, 0.5, 0.0), [on_ground(Cylinder::new(1.0)?)?])?;
    let mut state = system.default_state();
    for i in 0..=100 {
        state.set_pose(body, Pose::translation(3.0, 0.5 - 0.018 * f64::from(i), 0.0))?;
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
    }
    let tracked = system.realize_position(&mut state)?.of(cable).position.path.clone();
    assert!(tracked.contacts[0].geodesic.start.point.y > 0.0);
    system.set_discrete(&mut state, cable, system.element(cable).path().no_wraps().into())?;
    let fresh = system.realize_position(&mut state)?.of(cable).position.path.clone();
    assert!(fresh.contacts[0].geodesic.start.point.y < 0.0);
    assert!(fresh.length < tracked.length - 0.1);
    Ok(())
}

#[test]
fn an_evaluation_depends_on_the_state_alone_and_leaves_no_trace() -> Result<(), Error> {
    for (mut scene, time) in moving_scenes(10) {
        scene.system.realize_dynamics(&mut scene.state)?;
        scene.accept()?;
        let before = scene.state.snapshot();
        let counts = &mut Counts::default();
        let (first, _) = scene.solve(time + 0.01, counts)?;
        scene.solve(time + 0.07, counts)?;
        assert_eq!(scene.state.snapshot(), before);
        assert_eq!(scene.solve(time + 0.01, counts)?.0.to_bits(), first.to_bits());
        // Saved and restored in a fresh state, it resumes bit for bit.
        let mut fresh = scene.system.default_state();
        fresh.restore(&before)?;
        core::mem::swap(&mut fresh, &mut scene.state);
        assert_eq!(scene.solve(time + 0.01, counts)?.0.to_bits(), first.to_bits());
    }
    Ok(())
}

#[test]
fn memory_is_named() -> Result<(), Error> {
    let (system, ..) = one_end_free(fixed(-2.0, 0.3, 0.0), [on_ground(Sphere::new(0.8)?)?])?;
    let state = system.default_state();
    assert_eq!(state.variable("cable_spring[0].wraps[0].known")?, 0.0);
    assert_eq!(state.variable("cable_spring[0].wraps[0].point.x")?, 0.0);
    Ok(())
}

/// A rope over a pulley that turns about its axis: the path stays, also in the first step after the memory is reset.
#[test]
fn the_first_step_after_a_reset_tracks_the_path() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let pulley = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 1.0).expect("positive"));
    let [origin, termination] = [-0.1, 0.1].map(|x| Station::ground(Point3::new(x, -1.0, 0.0)));
    let over = Obstacle::new(Frame::of(pulley), Cylinder::new(0.1)?)?
        .with_contact_hint(Point3::new(0.0, 0.1, 0.0))?;
    let law = Parameters { stiffness: 1e3, slack_length: 2.0, ..Parameters::default() };
    let rope = system.add(CableSpring::new(CablePath::new(origin, termination)?.over(over), law)?)?;
    // Held against the pull of the rope.
    let tension = 1e3 * 0.1 * PI;
    let hold = SpatialForce::new(Vector3::zeros(), Vector3::new(0.0, 2.0 * tension, 0.0));
    plant.set_body_load(pulley, hold).expect("finite");
    // Beyond 0.1 rad the lines through the hint pass below the axis.
    for turned in [0.0, 0.05] {
        for speed in [10.0, 100.0] {
            let mut state = system.default_state();
            let spin = SpatialVelocity::new(Vector3::z() * speed, Vector3::zeros());
            state.set_body(pulley, Pose::rotation(Vector3::z() * turned), spin)?;
            system.reset_memories(&mut state)?;
            let mut implicit = Implicit::tr_bdf2(0.01);
            let mut euler = SemiImplicitEuler::new(1e-3);
            let integrators: [&mut dyn Integrator<f64>; 2] = [&mut implicit, &mut euler];
            for integrator in integrators {
                let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
                while simulation.time() < 0.1 {
                    integrator.step(&mut simulation, 0.1).expect("regular");
                    let dynamics = simulation.dynamics().expect("regular");
                    let found = dynamics.of(rope).dynamics.tension;
                    // The pulley is held up to roundings.
                    assert!((found - tension).abs() < 1e-9, "{found} at {}", simulation.time());
                }
            }
        }
    }
    Ok(())
}
