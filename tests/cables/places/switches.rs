//! Obstacles and via points that act or do not.

use force_elements::cable::{CablePath, Obstacle, PathError, Settings, Tracking, ViaPoint};
use force_elements::cable_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, Error, ForceSystem, Frame, Pose, SpatialForce, Station,
};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::humps::Ridges;

use super::{agree_to_the_bit, fixed, found, memory, tracked};

fn ball(x: f64, y: f64, radius: f64) -> Result<Obstacle<f64>, Error> {
    Ok(Obstacle::new(Frame::ground(Pose::translation(x, y, 0.0)), Sphere::new(radius)?)?)
}

/// Three obstacles and two via points along a line, those of them that a bit is set for.
fn row(parts: u32) -> Result<CablePath<f64>, Error> {
    let has = |i: u32| parts & (1 << i) != 0;
    let radii = Vector3::new(0.5, 0.6, 0.7);
    let egg = Obstacle::new(Frame::ground(Pose::translation(4.0, -0.45, 0.1)), Ellipsoid::new(radii)?)?;
    let mut path = CablePath::new(fixed(-2.0, 0.0, 0.1), fixed(10.0, 0.1, 0.0))?;
    if has(0) {
        path = path.over(ball(0.0, -0.3, 0.5)?);
    }
    if has(1) {
        path = path.through(fixed(2.0, 0.3, 0.1))?;
    }
    if has(2) {
        path = path.over(egg);
    }
    if has(3) {
        path = path.over(ball(6.0, -0.35, 0.6)?);
    }
    if has(4) {
        path = path.through(fixed(8.0, -0.2, -0.1))?;
    }
    Ok(path)
}

const ALL: u32 = 31;

/// The index among the obstacles, or via points, of each part of the row.
const PARTS: [(bool, usize); 5] = [(true, 0), (false, 0), (true, 1), (true, 2), (false, 1)];

#[test]
fn what_is_not_active_is_as_if_absent() -> Result<(), Error> {
    let path = row(ALL)?;
    for parts in 0..=ALL {
        let mut places = path.places().clone();
        for (i, (is_obstacle, k)) in PARTS.into_iter().enumerate() {
            let active = parts & (1 << i) != 0;
            if is_obstacle {
                places.obstacles[k].active = active;
            } else {
                places.via_points[k].active = active;
            }
        }
        let switched = found(&path, &places)?;
        let rebuilt = row(parts)?;
        let expected = found(&rebuilt, rebuilt.places())?;
        assert!(agree_to_the_bit(&switched, &expected), "{parts:b}");
        let wraps = memory(&path, &switched);
        assert_eq!(wraps.wraps.len(), 3);
        // Contacts are those of the obstacles in their order.
        let mut of_active = expected.contacts.iter();
        for (k, contact) in switched.contacts.iter().enumerate() {
            let active = places.obstacles[k].active;
            assert_eq!((contact.obstacle, wraps.wraps[k].known), (k, active));
            let expected = if active { of_active.next() } else { None };
            assert_eq!(contact.in_contact, expected.is_some_and(|contact| contact.in_contact), "{parts:b}");
        }
        let actives = places.via_points.iter().map(|place| place.active);
        assert!(switched.via_points.iter().map(Option::is_some).eq(actives));
        // Tracked from its own memory it stays.
        let again = tracked(&path, &places, &wraps)?;
        assert_eq!(again.tracking, Tracking::Warm, "{parts:b}");
        assert!((again.length - switched.length).abs() < 1e-14 * switched.length);
    }
    Ok(())
}

#[test]
fn errors_count_obstacles_along_the_whole_path() -> Result<(), Error> {
    let path = row(ALL)?;
    let mut places = path.places().clone();
    places.obstacles[0].active = false;
    places.via_points[0].active = false;
    places.obstacles[2].X_BS.translation.x = 8.0;
    let outcome = found(&path, &places).err();
    let expected = PathError::PointInsideObstacle { obstacle: 2 };
    assert_eq!(outcome, Some(expected.into()));
    places.obstacles[2].active = false;
    assert!(found(&path, &places).is_ok());
    // The span is counted by the fixed point at which it starts.
    places.via_points[1].p_B = places.termination;
    assert_eq!(found(&path, &places).err(), Some(PathError::CoincidentPoints { span: 2 }.into()));
    Ok(())
}

/// A rope around a drum, whose windings its memory holds, and beyond it something that comes and goes.
fn wound(other: Obstacle<f64>) -> Result<(CablePath<f64>, f64), Error> {
    let drum = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.3)?)?;
    let path = CablePath::new(fixed(-2.0, 0.1, 0.4), fixed(6.0, 0.2, -0.4))?.over(drum).over(other);
    Ok((path, 0.3 * 6.0 * core::f64::consts::PI))
}

#[test]
fn the_return_of_one_obstacle_leaves_the_windings_of_the_others() -> Result<(), Error> {
    let ring = || {
        Ok::<_, Error>(Obstacle::new(Frame::ground(Pose::translation(3.0, 0.0, 0.0)), Torus::new(0.6, 0.1)?)?)
    };
    let top = Point3::new(0.0, 0.4, 0.0);
    let bottom = Point3::new(0.0, -0.4, 0.0);
    // In the way of the cable, out of its way, by hint on either side, and outside of a ring.
    let cases = [
        (ball(3.0, 0.0, 0.4)?, true),
        (ball(3.0, 1.2, 0.4)?, false),
        (ball(3.0, 0.0, 0.4)?.with_contact_hint(top)?, true),
        (
            Obstacle::new(Frame::ground(Pose::translation(3.0, 0.0, 0.0)), Cylinder::new(0.4)?)?
                .with_contact_hint(bottom)?,
            true,
        ),
        (
            Obstacle::new(Frame::ground(Pose::translation(3.0, 0.0, 0.0)), Cylinder::new(0.4)?)?
                .with_contact_hint(top)?,
            true,
        ),
        (ring()?, false),
    ];
    for (case, (other, touches)) in cases.into_iter().enumerate() {
        let hint = other.contact_hint().copied();
        let (path, length) = wound(other)?;
        let mut places = path.places().clone();
        places.obstacles[1].active = false;
        let mut wraps = path.no_wraps();
        wraps.wraps[0] = force_elements::cable::Wrap {
            known: true,
            in_contact: true,
            point: Point3::new(0.0, 0.3, 0.0),
            tangent: Vector3::new(1.0, 0.0, -0.05),
            length,
        };
        // From a memory that is only near.
        tracked(&path, &places, &wraps)?.remember(&mut wraps);
        let before = tracked(&path, &places, &wraps)?;
        assert_eq!(before.tracking, Tracking::Warm);
        before.remember(&mut wraps);
        assert_eq!(wraps.wraps.iter().map(|wrap| wrap.known).collect::<Vec<_>>(), [true, false]);

        places.obstacles[1].active = true;
        let after = tracked(&path, &places, &wraps)?;
        assert!(after.tracking <= Tracking::Relaxed, "{case}: {:?}", after.tracking);
        let turned = |results: &force_elements::cable::PathResults<f64>| results.contacts[0].geodesic.length;
        assert!((turned(&after) - turned(&before)).abs() < 0.3, "{case}");
        let last = after.contacts[after.contacts.len() - 1];
        assert_eq!(last.in_contact, touches, "{case}");
        if let (Some(hint), true) = (hint, touches) {
            assert!(last.X_GS.inverse_transform_point(&last.geodesic.start.point).y * hint.y > 0.0, "{case}");
        }
        // Switched within a step and back nothing has happened.
        places.obstacles[1].active = false;
        assert!((tracked(&path, &places, &wraps)?.length - before.length).abs() < 1e-13);
        // What goes again is forgotten, the rest is not.
        let mut wraps = memory(&path, &after);
        tracked(&path, &places, &wraps)?.remember(&mut wraps);
        assert_eq!(wraps.wraps.iter().map(|wrap| wrap.known).collect::<Vec<_>>(), [true, false]);
    }
    Ok(())
}

#[test]
fn a_refusal_names_the_obstacle_although_one_before_it_does_not_act() -> Result<(), Error> {
    let at_origin = || Frame::ground(Pose::identity());
    let ridges = Ridges(vec![[0.0, 0.5, 0.3], [1.0, 0.6, 0.3], [2.0, 0.5, 0.3]]);
    let far_side = Obstacle::new(at_origin(), Sphere::new(0.5)?)?.confined_to(Vector3::x())?;
    // The path over the far side would take more evaluations than a hundred.
    let cases = [
        (
            Obstacle::new(at_origin(), ridges)?.with_most_contacts(1)?,
            [fixed(-1.0, 0.0, 0.1), fixed(3.0, 0.1, 0.1)],
            100_000,
            PathError::TooManyContacts { obstacle: 1, most: 1 },
        ),
        (
            far_side,
            [fixed(-0.4, -1.5, 0.0), fixed(-0.4, 1.5, 0.1)],
            100,
            PathError::SideNotKept { obstacle: 1 },
        ),
    ];
    for (obstacle, [from, to], max_evaluations, expected) in cases {
        let settings = Settings { max_evaluations, ..Settings::default() };
        let path = CablePath::new(from, to)?.over(ball(1.0, 0.0, 0.3)?).over(obstacle);
        let path = path.with_settings(settings)?;
        let mut places = path.places().clone();
        places.obstacles[0].active = false;
        let refused = found(&path, &places).expect_err("none exists");
        assert_eq!(refused.own(), Some(&expected), "{refused}");
    }
    Ok(())
}

/// A cable through a point that belongs to the path while a coordinate is in a range.
fn conditional() -> Result<(ForceSystem<f64>, CoordinateIndex, CablePath<f64>), Error> {
    let mut system = ForceSystem::new();
    let angle = system.add_coordinate();
    let point = ViaPoint::from(fixed(1.0, 0.8, 0.0)).only_within(angle, -0.5..=0.25)?;
    let path = CablePath::new(fixed(-1.0, 0.0, 0.0), fixed(3.0, 0.0, 0.0))?
        .over(ball(0.0, -0.2, 0.3)?)
        .through(point)?
        .over(ball(2.0, -0.2, 0.3)?);
    Ok((system, angle, path))
}

#[test]
fn a_via_point_may_belong_to_a_range_of_a_coordinate() -> Result<(), Error> {
    let (mut system, angle, path) = conditional()?;
    let cable = system.add(CableSpring::new(path.clone(), Parameters::default())?)?;
    let mut state = system.default_state();
    let always = CablePath::new(path.origin(), path.termination())?
        .over(ball(0.0, -0.2, 0.3)?)
        .through(fixed(1.0, 0.8, 0.0))?
        .over(ball(2.0, -0.2, 0.3)?);
    let never = CablePath::new(path.origin(), path.termination())?
        .over(ball(0.0, -0.2, 0.3)?)
        .over(ball(2.0, -0.2, 0.3)?);
    let ways = [found(&never, never.places())?, found(&always, always.places())?];
    assert!(ways[1].length > ways[0].length + 0.2);
    let within = [-0.51, -0.5, -0.1, 0.25, 0.26, 3.0];
    for (q, way) in within.into_iter().zip([0, 1, 1, 1, 0, 0]) {
        state.set_coordinate(angle, q)?;
        let view = system.realize_position(&mut state)?;
        let results = &view.of(cable).position.path;
        assert!(agree_to_the_bit(results, &ways[way]), "{q}");
        assert_eq!(results.via_points[0].is_some(), way == 1);
    }
    // The switch of the state comes on top.
    state.set_coordinate(angle, 0.0)?;
    system.set_variable(&mut state, "cable_spring[0].via_points[0].active", 0.0)?;
    let view = system.realize_position(&mut state)?;
    assert!(agree_to_the_bit(&view.of(cable).position.path, &ways[0]));
    Ok(())
}

#[test]
fn an_empty_range_and_a_foreign_coordinate_are_refused() -> Result<(), Error> {
    let (system, angle, path) = conditional()?;
    let station = || ViaPoint::from(fixed::<f64>(0.0, 0.0, 0.0));
    for range in [1.0..=0.5, f64::NAN..=1.0, 0.0..=f64::NAN] {
        let refused = station().only_within(angle, range).err();
        assert!(matches!(refused, Some(PathError::InvalidValue(value)) if value.name == "range.start"));
    }
    assert!(station().only_within(angle, f64::NEG_INFINITY..=f64::INFINITY).is_ok());
    let mut other = ForceSystem::<f64>::new();
    assert!(other.add(CableSpring::new(path.clone(), Parameters::default())?).is_err());
    // So does a path that is solved where its coordinate does not exist.
    let missing = found(&path, path.places()).err();
    assert!(matches!(missing.as_ref().and_then(Error::own), Some(PathError::Kinematics(_))));
    assert!(system.default_state().positions().topology().has_coordinate(angle));
    Ok(())
}

#[test]
fn a_contact_that_goes_takes_its_friction_and_no_material() -> Result<(), Error> {
    let law = Parameters { stiffness: 100.0, slack_length: 11.0, dissipation: 0.0 };
    let friction = vec![0.4, 0.3, 0.5];
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let path = row(ALL)?;
    let end = Station::on(body, Point3::new(0.1, 0.0, 0.0));
    let mut moving = CablePath::new(path.origin(), end)?;
    for (obstacle, via) in path.obstacles()[..2].iter().zip(path.via_points()) {
        moving = moving.over(obstacle.clone()).through(via.clone())?;
    }
    let moving = moving.over(path.obstacles()[2].clone());
    let rope = system.add(CableSpring::new(moving, law)?.with_friction(friction)?)?;
    let mut state = system.default_state();
    for i in 0..20 {
        state.set_pose(body, Pose::translation(10.0, 0.01 * f64::from(i), 0.0))?;
        system.realize_dynamics(&mut state)?;
        system.accept_step(&mut state)?;
    }
    let spread =
        |tensions: &[f64]| tensions.iter().fold(0.0, |most: f64, f| most.max((f - tensions[0]).abs()));
    let before = system.realize_dynamics(&mut state)?.of(rope).dynamics.tensions.clone();
    assert!(before.len() > 4 && spread(&before) > 0.1, "{before:?}");

    system.update_parameters(&mut state, rope, |p| {
        for place in &mut p.places.obstacles {
            place.active = false;
        }
        p.places.via_points[0].active = false;
    })?;
    for commit in 0..2 {
        let dynamics = system.realize_dynamics(&mut state)?;
        let at = dynamics.of(rope);
        // Nothing holds the cable any more: one tension, that of the whole cable.
        let tension = 100.0 * (at.position.path.length - 11.0);
        assert!(tension > 1.0);
        for f in &at.dynamics.tensions {
            assert!((f - tension).abs() < 1e-9, "{commit}: {f} {tension}");
        }
        let share: f64 = at.position.strands.all.iter().map(|strand| strand.share).sum();
        assert!((share - 1.0).abs() < 1e-14);
        let mut sum = SpatialForce::zero();
        for on in [BodyIndex::GROUND, body] {
            sum += dynamics.body_force(on).shifted(-dynamics.pose(on).translation.vector);
        }
        assert!(sum.force.norm() < 1e-11 && sum.torque.norm() < 1e-10);
        system.accept_step(&mut state)?;
    }
    let held: Vec<_> = state.discrete(rope).grips.grips.iter().map(|grip| grip.in_contact).collect();
    assert_eq!(held, [false, false, false, true, false]);
    Ok(())
}

#[test]
fn a_path_with_a_hinted_ring_that_is_switched_on_has_no_kinks_and_stays() -> Result<(), Error> {
    let mut dice = Dice::new(5);
    let (mut solved, mut refused) = (0, 0);
    for i in 0..200 {
        let mut between = |low: f64, high: f64| dice.between(low, high);
        let mut at = Translation3::new(2.0, between(-0.4, 0.4), between(-0.4, 0.4));
        let mut turn = Vector3::from_fn(|_, _| between(-3.0, 3.0));
        let mut hint = Point3::from(Vector3::from_fn(|_, _| between(-0.3, 0.3)));
        let mut ends = [fixed(-2.0, 0.1, between(-0.4, 0.4)), fixed(4.0, 0.0, between(-0.4, 0.4))];
        if i == 0 {
            // The path followed in parts ends within the ball, and keeps the hint.
            at = Translation3::new(2.0, -0.3, -0.3);
            (turn, hint) = (Vector3::new(-0.1, -0.4, 2.6), Point3::new(-0.2, 0.0, 0.1));
            ends = [fixed(-2.0, 0.1, -0.4), fixed(4.0, 0.0, -0.3)];
        }
        let ring = Frame::ground(Pose::from_parts(at, Rotation3::new(turn)));
        let ring = Obstacle::new(ring, Torus::new(0.5, 0.1)?)?.with_contact_hint(hint)?;
        let path = CablePath::new(ends[0], ends[1])?.over(ball(0.0, 0.0, 0.4)?).over(ring);
        let mut places = path.places().clone();
        places.obstacles[1].active = false;
        let mut wraps = memory(&path, &found(&path, &places)?);
        places.obstacles[1].active = true;
        let Ok(after) = tracked(&path, &places, &wraps) else {
            refused += 1;
            continue;
        };
        for (segment, next) in after.segments.iter().zip(&after.segments[1..]) {
            let Some(contact) = segment.to_contact.map(|i| after.contacts[i]) else { continue };
            let kinks = [
                (segment.direction_G - contact.geodesic.start.tangent).norm(),
                (next.direction_G - contact.geodesic.end.tangent).norm(),
            ];
            assert!(kinks.iter().all(|kink| *kink < 1e-6), "{kinks:?} of {hint} {turn} {ends:?}");
        }
        after.remember(&mut wraps);
        let again = tracked(&path, &places, &wraps)?.length;
        assert!((again - after.length).abs() < 1e-9, "{again} {} {hint} {turn} {ends:?}", after.length);
        solved += 1;
    }
    assert!(solved > 150 && refused < 10, "{solved} {refused}");
    Ok(())
}
