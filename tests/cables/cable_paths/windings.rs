//! Cables wound many times around, and other long contacts: memory is kept whatever its length.

use core::f64::consts::TAU;

use force_elements::cable::{CablePath, Obstacle, Settings, Tracking, Wrap, Wrappable, Wraps};
use force_elements::nalgebra::{Point3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, HeightMap, Sphere, Torus};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Pose, State, Station, cable_spring};

use super::{Rig, fixed, on_ground, one_end_free};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::humps::Pipe;
use force_elements_scenes::{is_at_length, seeds};

/// The length of a cable from a point at this distance from the axis of a drum to another, around the
/// drum by an angle between their bearings and risen along its axis: unrolled, it is a straight line.
fn wound(radius: f64, distances: [f64; 2], angle: f64, rise: f64) -> f64 {
    let [a, b] = distances;
    let straight = [a, b].map(|d| (d * d - radius * radius).sqrt());
    let arc = radius * (angle - (radius / a).acos() - (radius / b).acos());
    (straight[0] + straight[1] + arc).hypot(rise)
}

/// Leads the free end around the z axis in twelfths of a turn; every step must be tracked and as long as
/// the unrolled drum says.
fn wind(drum: impl Wrappable<f64>, radius: f64, turns: u32) -> Result<(), Error> {
    const RISE: f64 = 2e-3;
    let (system, body, cable) = patient(fixed(-0.5, 0.0, 0.0), on_ground(drum)?)?;
    let mut state = system.default_state();
    // Starts half way round, laid over the top by its straight line's deepest point.
    for i in 0..12 * turns {
        let angle = TAU * (0.45 + f64::from(i) / 12.0);
        let rise = RISE * f64::from(i);
        let X = Pose::translation(-0.5 * angle.cos(), 0.5 * angle.sin(), rise);
        state.set_pose(body, X)?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        if i > 0 {
            assert!(path.tracking <= Tracking::Relaxed, "{:?} after {} turns", path.tracking, angle / TAU);
        }
        let expected = wound(radius, [0.5, 0.5], angle, rise);
        // Roundoff of some hundred integration steps, each good to 1e-11 of its length.
        assert!((path.length - expected).abs() < 1e-9 * expected, "{angle}: {} {expected}", path.length);
        system.accept_step(&mut state)?;
    }
    Ok(())
}

#[test]
fn a_drum_is_wound_as_often_as_its_end_goes_around() -> Result<(), Error> {
    wind(Cylinder::new(0.1)?, 0.1, 120)
}

#[test]
fn a_drum_of_the_users_own_is_wound_as_often_as_its_end_goes_around() -> Result<(), Error> {
    wind(Pipe { radius: 0.1 }, 0.1, if is_at_length() { 60 } else { 8 })
}

/// A cable whose solver may work as much as integrating sixty windings takes.
fn patient(from: Station<f64>, obstacle: Obstacle<f64>) -> Result<Rig<f64>, Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let settings = Settings { max_evaluations: 10_000_000, ..Settings::default() };
    let path = CablePath::new(from, Station { body, p_B: Point3::origin() })?
        .over(obstacle)
        .with_settings(settings)?;
    let cable = system.add(CableSpring::new(
        path,
        cable_spring::Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.3 },
    )?)?;
    Ok((system, body, cable))
}

/// Wound in a plane through the ring's axis the path is that on a disc. It is a strict minimum: turning
/// about the axis is a Jacobi field without a zero.
#[test]
fn windings_around_the_tube_of_a_ring_are_kept() -> Result<(), Error> {
    const TUBE: f64 = 0.05;
    let ring = on_ground(Torus::new(1.0, TUBE)?)?;
    let (system, body, cable) = patient(fixed(1.0, 0.0, -0.5), ring)?;
    let mut state = system.default_state();
    let turns = 50.0;
    let wound_tube = Wrap {
        known: true,
        in_contact: true,
        point: Point3::new(1.0 + TUBE, 0.0, 0.0),
        tangent: Vector3::z(),
        // Less two right angles, or nearly, between each end's bearing and where the cable touches.
        length: TUBE * (TAU * turns - 2.8),
    };
    system.set_discrete(
        &mut state,
        cable,
        Wraps { wraps: vec![wound_tube], ..system.element(cable).path().no_wraps() }.into(),
    )?;
    for i in 0..60 {
        let angle = 0.1 * f64::from(i);
        let X = Pose::translation(1.0 - 0.5 * (angle - 3.0).sin(), 0.0, 0.5 * (angle - 3.0).cos());
        state.set_pose(body, X)?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        assert!(path.tracking <= Tracking::Relaxed, "{:?} at {angle}", path.tracking);
        let on_disc = wound(TUBE, [0.5, 0.5], path_angle(angle) + TAU * turns, 0.0);
        assert!((path.length - on_disc).abs() < 1e-9 * on_disc, "{angle}: {} {on_disc}", path.length);
        system.accept_step(&mut state)?;
    }
    Ok(())
}

/// The angle that the cable turns by between its ends, less whole turns.
fn path_angle(angle: f64) -> f64 {
    angle - 3.0 + core::f64::consts::PI
}

#[test]
fn a_long_contact_with_a_fine_height_map_is_tracked() -> Result<(), Error> {
    const GRID: f64 = 2e-3;
    // An arch along x over 1.2 m; a cable along it touches most of it.
    let (columns, rows) = (601_u32, 41_u32);
    let heights: Vec<f64> = (0..rows)
        .flat_map(|j| {
            (0..columns).map(move |i| {
                let (x, y) = (GRID * (f64::from(i) - 300.0), GRID * (f64::from(j) - 20.0));
                0.3 * (1.0 - x * x) - 2.0 * y * y
            })
        })
        .collect();
    let map = HeightMap::new(Vector2::new(-0.6, -0.04), Vector2::new(GRID, GRID), 601, &heights)?;
    let (system, body, cable) = one_end_free(fixed(-1.0, 0.0, 0.07), [on_ground(map)?])?;
    let mut state = system.default_state();
    for i in 0..20 {
        let z = 0.07 + 2e-3 * f64::from(i);
        state.set_pose(body, Pose::translation(1.0, 1e-3, z))?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        assert!(path.contacts[0].geodesic.length > 0.8, "{}", path.contacts[0].geodesic.length);
        let expected = if i == 0 { Tracking::Cold } else { Tracking::Warm };
        assert_eq!(path.tracking, expected, "step {i}");
        system.accept_step(&mut state)?;
    }
    Ok(())
}

/// However far the end jumps in one step, and however many windings there are.
#[test]
fn windings_are_never_lost_without_a_word() -> Result<(), Error> {
    const RADIUS: f64 = 0.1;
    let mut dice = Dice::new(11);
    let mut kept = [0_u64; 2];
    for case in 0..seeds(100) {
        let start = fixed(-0.5, 0.0, 0.0);
        let drum: Box<dyn Wrappable<f64>> =
            if case % 2 == 0 { Box::new(Cylinder::new(RADIUS)?) } else { Box::new(Pipe { radius: RADIUS }) };
        let (system, body, cable) =
            patient(start, Obstacle::shared(Frame::ground(Pose::identity()), drum.into())?)?;
        let mut state = system.default_state();
        let length = dice.between(5.0, 400.0) * RADIUS;
        let wound = Wrap {
            known: true,
            in_contact: true,
            point: Point3::new(0.0, RADIUS, 0.0),
            tangent: Vector3::new(1.0, 0.0, dice.between(-0.05, 0.05)),
            length,
        };
        system.set_discrete(
            &mut state,
            cable,
            Wraps { wraps: vec![wound], ..system.element(cable).path().no_wraps() }.into(),
        )?;
        let (angle, distance) = (dice.between(0.0, TAU), dice.between(1.5 * RADIUS, 20.0 * RADIUS));
        let X = Pose::translation(distance * angle.cos(), distance * angle.sin(), dice.between(-4.0, 4.0));
        state.set_pose(body, X)?;
        let position = system.realize_position(&mut state)?;
        let path = &position.of(cable).position.path;
        assert_ne!(path.tracking, Tracking::Cold);
        let geodesic = &path.contacts[0].geodesic;
        let around = geodesic.length * geodesic.start.tangent.xy().norm() / RADIUS;
        // The end has come round by less than a whole turn.
        let is_kept = path.contacts[0].in_contact && (around - length / RADIUS).abs() < TAU;
        assert!(is_kept || path.tracking > Tracking::Warm, "{case}: {around} {}", length / RADIUS);
        kept[usize::from(case % 2 == 1)] += u64::from(is_kept);
    }
    assert!(kept.iter().all(|&kept| kept > seeds(90) / 2), "{kept:?}");
    Ok(())
}

#[test]
fn a_memory_that_cannot_be_followed_is_a_restart() -> Result<(), Error> {
    let radii = Vector3::new(1.0, 0.8, 0.9);
    let (system, body, cable) = one_end_free(fixed(-2.0, 0.3, 0.1), [on_ground(Ellipsoid::new(radii)?)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(2.0, 0.3, 0.0))?;
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    let sound = state.discrete(cable).wraps.clone();
    let expected: f64 = system.realize_position(&mut state)?.of(cable).position.path.length;
    for length in [1e3, 1e6, 1e9, 1e30, 1e300] {
        let mut wraps = sound.clone();
        wraps.wraps[0].length = length;
        system.set_discrete(&mut state, cable, wraps.into())?;
        let position = system.realize_position(&mut state)?;
        let path = &position.of(cable).position.path;
        assert_eq!(path.tracking, Tracking::Restarted, "{length}");
        // Two solves to a smoothness of 1e-9.
        assert!((path.length - expected).abs() < 1e-12);
    }
    Ok(())
}

#[test]
fn only_a_cable_without_any_memory_is_cold() -> Result<(), Error> {
    let ball = |x: f64| Obstacle::new(Frame::ground(Pose::translation(x, 0.0, 0.0)), Sphere::new(0.5)?);
    let (system, body, cable) = one_end_free(fixed(-2.0, 0.1, 0.0), [ball(0.0)?, ball(2.0)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(4.0, 0.1, 0.0))?;
    let tracking = |state: &mut State<f64>| -> Result<Tracking, Error> {
        Ok(system.realize_position(state)?.of(cable).position.path.tracking)
    };
    assert_eq!(tracking(&mut state)?, Tracking::Cold);
    system.realize_dynamics(&mut state)?;
    system.accept_step(&mut state)?;
    assert_eq!(tracking(&mut state)?, Tracking::Warm);
    let mut half = state.discrete(cable).wraps.clone();
    half.wraps[1].known = false;
    system.set_discrete(&mut state, cable, half.into())?;
    assert_eq!(tracking(&mut state)?, Tracking::Warm);
    Ok(())
}
