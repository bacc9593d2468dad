//! End points on a surface, where the contact begins or ends, and inside an obstacle that is ignored then.

use std::sync::Arc;

use force_elements::cable::{CablePath, Obstacle, PathError, Tracking, Wrappable, Wraps};
use force_elements::nalgebra::{Point3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, DistanceField, Ellipsoid, ShapeError, Sphere, Torus, TriangleMesh};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Pose, Real, Station, cable_spring};
use force_elements_scenes::cables::{Dice, hill};
use force_elements_scenes::is_at_length;
use force_elements_scenes::solids::{Solid, dives};
use num_dual::Dual64;

use super::{fixed, on_ground, one_end_free, past_ball};

/// A path found: its length, whether it touches, whether it lifts off from both ends before, and its memory.
struct Found {
    length: f64,
    touches: bool,
    lifts: bool,
    wraps: Wraps<f64>,
}

/// Lays a cable in Ground past an obstacle, without memory or with some. The surface follows the solid to the accuracy.
fn lay_within(
    accuracy: f64,
    ends: [Vector3<f64>; 2],
    obstacle: Obstacle<f64>,
    solid: &Solid,
    memory: Option<Wraps<f64>>,
) -> Result<Found, Error> {
    let [from, to] = ends.map(|p| Station::ground(p.into()));
    let mut system = ForceSystem::new();
    let elastic = cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 };
    let cable = system.add(CableSpring::new(CablePath::new(from, to)?.over(obstacle), elastic)?)?;
    let mut state = system.default_state();
    if let Some(wraps) = memory {
        system.set_discrete(&mut state, cable, wraps.into())?;
    }
    let dynamics = system.realize_dynamics(&mut state)?;
    let path = &dynamics.of(cable).position.path;
    let whole = core::iter::once(0..1).collect::<Vec<_>>();
    for dive in dives(core::slice::from_ref(solid), &whole, path) {
        assert!(dive.depth < 1e-8 + accuracy, "{ends:?}: {dive:?}");
    }
    for contact in path.contacts.iter().filter(|contact| contact.in_contact) {
        let ends_on = [contact.geodesic.start, contact.geodesic.end];
        assert!(ends_on.iter().all(|end| solid.height(end.point).abs() < 1e-9 + accuracy));
    }
    assert!(path.segments.iter().all(|segment| (segment.direction_G.norm() - 1.0).abs() < 1e-12));
    let (length, touches) = (path.length, path.contacts[0].in_contact);
    let lifts = path.segments.iter().all(|segment| segment.length > 0.0);
    // The same again from its memory.
    system.accept_step(&mut state)?;
    let wraps = state.discrete(cable).wraps.clone();
    let view = system.realize_position(&mut state)?;
    let path = &view.of(cable).position.path;
    assert_eq!(path.tracking, Tracking::Warm);
    assert!((path.length - length).abs() < 1e-12);
    Ok(Found { length, touches, lifts, wraps })
}

/// Lays a cable past the very surface of a solid.
fn lay(
    ends: [Vector3<f64>; 2],
    obstacle: Obstacle<f64>,
    solid: &Solid,
    memory: Option<Wraps<f64>>,
) -> Result<Found, Error> {
    lay_within(0.0, ends, obstacle, solid, memory)
}

/// A point outside a solid, and one on the surface.
fn points(dice: &mut Dice, surface: &impl Wrappable<f64>, solid: &Solid) -> [Vector3<f64>; 2] {
    let on = surface.retract(&dice.vector(1.5).into());
    loop {
        let p = dice.vector(3.0);
        if solid.height(p.into()) > 0.1 {
            return [on.coords, p];
        }
    }
}

#[test]
fn from_a_point_on_a_ball_the_cable_follows_a_great_circle() -> Result<(), Error> {
    let (ball, solid, mut dice) = (Sphere::new(0.8)?, Solid::Ball(0.8), Dice::new(3));
    let mut touching = 0;
    for i in 0..200 {
        let [a, b] = points(&mut dice, &ball, &solid);
        let is_hidden = (b - a).dot(&a) < 0.0;
        let angle = a.cross(&b).norm().atan2(a.dot(&b)) - (0.8 / b.norm()).acos();
        let wrapped = (b.norm_squared() - 0.64).sqrt() + 0.8 * angle;
        let expected = if is_hidden { wrapped } else { (b - a).norm() };
        for ends in [[a, b], [b, a]] {
            let Found { length, touches, .. } = lay(ends, on_ground(ball)?, &solid, None)?;
            assert!((length - expected).abs() < 1e-11, "{i}: {length} {expected}");
            assert_eq!(touches, is_hidden, "{i}");
            touching += u32::from(touches);
        }
        // Both ends on it.
        let [c, _] = points(&mut dice, &ball, &solid);
        let Found { length, touches, .. } = lay([a, c], on_ground(ball)?, &solid, None)?;
        let expected = 0.8 * a.cross(&c).norm().atan2(a.dot(&c));
        assert!(touches && (length - expected).abs() < 1e-11, "{i}: {length} {expected}");
    }
    assert!(touching > 100, "{touching}");
    Ok(())
}

#[test]
fn from_a_point_on_a_cylinder_the_cable_follows_a_helix() -> Result<(), Error> {
    const RADIUS: f64 = 0.8;
    let (rod, solid, mut dice) = (Cylinder::new(RADIUS)?, Solid::Rod(RADIUS), Dice::new(4));
    for i in 0..200 {
        let [a, b] = points(&mut dice, &rod, &solid);
        let reach = b.x.hypot(b.y);
        let turn = (a.x * b.y - a.y * b.x).atan2(a.x * b.x + a.y * b.y).abs() - (RADIUS / reach).acos();
        let expected = if turn > 0.0 {
            ((reach * reach - RADIUS * RADIUS).sqrt() + RADIUS * turn).hypot(b.z - a.z)
        } else {
            (b - a).norm()
        };
        for ends in [[a, b], [b, a]] {
            let Found { length, .. } = lay(ends, on_ground(rod)?, &solid, None)?;
            assert!((length - expected).abs() < 1e-11, "{i}: {length} {expected}");
        }
    }
    Ok(())
}

/// How often a path from a point on a surface touches, lifts off from the point and touches elsewhere, is refused, and is
/// longer than one from above without memory.
#[derive(Debug, Default)]
struct Counts {
    touching: u64,
    lifting: u64,
    refused: u32,
    longer: u32,
}

/// How many points on a surface are drawn.
fn draws() -> u64 {
    if is_at_length() { 200 } else { 60 }
}

/// A path from a point on a surface is the limit of those from points above it that are tracked from its memory.
fn approached<S: Wrappable<f64>>(
    surface: &Arc<S>,
    solid: &Solid,
    accuracy: f64,
    mut points: impl FnMut() -> [Vector3<f64>; 2],
) -> Result<Counts, Error> {
    const HEIGHT: f64 = 1e-6;
    let mut counts = Counts::default();
    for i in 0..draws() {
        let [a, b] = points();
        let above = a + surface.gradient(&a.into()).normalize() * HEIGHT;
        // From the point, and to it, in turn.
        let reversed = i % 2 == 1;
        let order = |p: [Vector3<f64>; 2]| if reversed { [p[1], p[0]] } else { p };
        let solve = |end: Vector3<f64>, memory: Option<Wraps<f64>>| {
            let obstacle = Obstacle::shared(Frame::ground(Pose::identity()), Arc::clone(surface) as _)?;
            lay_within(accuracy, order([end, b]), obstacle, solid, memory)
        };
        match solve(a, None) {
            Ok(Found { length, touches, lifts, mut wraps }) => {
                let wrap = &mut wraps.wraps[0];
                let geodesic = surface.geodesic(&wrap.point, &wrap.tangent, wrap.length, 1e-9, usize::MAX);
                let held = if reversed { geodesic.end } else { geodesic.start };
                // The tangent from above touches this far from the point, on a circle of the same curvature.
                let reach = (2.0 * HEIGHT / held.curvature.abs()).sqrt();
                if touches && !lifts && reach < wrap.length {
                    if !reversed {
                        let start = surface.geodesic(&wrap.point, &wrap.tangent, reach, 1e-9, usize::MAX).end;
                        (wrap.point, wrap.tangent) = (start.point, start.tangent);
                    }
                    wrap.length -= reach;
                }
                let near = solve(above, Some(wraps))?.length;
                assert!((length - near).abs() < 1.01 * HEIGHT, "{i}: {length} {near}");
                counts.touching += u64::from(touches);
                counts.lifting += u64::from(touches && lifts);
                // The search from above may be refused.
                let is_longer = |cold: Found| length > cold.length + 2.0 * HEIGHT;
                counts.longer += u32::from(solve(above, None).is_ok_and(is_longer));
            }
            Err(error) => {
                let typed = match error.own() {
                    Some(PathError::EndOnSurface { .. } | PathError::Penetrates { .. }) => true,
                    Some(PathError::Shape(ShapeError::OffPatch { .. })) => {
                        matches!(solid, Solid::Land(_))
                    }
                    _ => false,
                };
                assert!(typed, "{i}: {error}");
                counts.refused += 1;
            }
        }
    }
    println!("{counts:?}");
    Ok(counts)
}

#[test]
fn from_a_point_on_an_ellipsoid_the_path_is_the_limit_of_those_from_above() -> Result<(), Error> {
    let radii = Vector3::new(0.7, 0.5, 1.0);
    let (egg, solid, mut dice) = (Arc::new(Ellipsoid::new(radii)?), Solid::Egg(radii), Dice::new(5));
    let counts = approached(&egg, &solid, 0.0, || points(&mut dice, &*egg, &solid))?;
    assert!(2 * counts.touching > draws() && counts.refused == 0 && counts.longer == 0, "{counts:?}");
    Ok(())
}

#[test]
fn from_a_point_on_a_ring_the_path_is_the_limit_of_those_from_above() -> Result<(), Error> {
    let (ring, solid, mut dice) = (Arc::new(Torus::new(1.0, 0.4)?), Solid::Ring(1.0, 0.4), Dice::new(6));
    let counts = approached(&ring, &solid, 0.0, || points(&mut dice, &*ring, &solid))?;
    assert!(2 * counts.touching > draws() && counts.lifting > draws() / 80, "{counts:?}");
    assert!(counts.refused == 0 && counts.longer == 0, "{counts:?}");
    Ok(())
}

#[test]
fn from_a_point_on_a_height_map_the_path_is_the_limit_of_those_from_above_or_refused() -> Result<(), Error> {
    let mut dice = Dice::new(7);
    let land = hill(&mut dice);
    let map = Arc::new(land.map()?);
    let over = |dice: &mut Dice, least: f64, most: f64| loop {
        let (x, y) = (dice.between(-1.5, 1.5), dice.between(-1.5, 1.5));
        if let Some(height) = land.height(x, y) {
            return Vector3::new(x, y, height + dice.between(least, most));
        }
    };
    let points = || {
        let on = map.retract(&over(&mut dice, 0.0, 0.0).into());
        [on.coords, over(&mut dice, 0.1, 0.6)]
    };
    let counts = approached(&map, &Solid::Land(land.clone()), 0.0, points)?;
    assert!(2 * counts.touching > draws() && counts.refused == 0 && counts.longer == 0, "{counts:?}");
    Ok(())
}

#[test]
fn from_a_point_on_the_surface_of_a_mesh_the_path_is_the_limit_of_those_from_above() -> Result<(), Error> {
    let field = Arc::new(DistanceField::from_mesh(&TriangleMesh::sphere(0.8, 16)?, 0.2)?);
    // The surface waves with the mesh about the ball.
    let (ball, solid, mut dice) = (Sphere::new(0.8)?, Solid::Ball(0.8), Dice::new(8));
    let points = || {
        let [on, outside] = points(&mut dice, &ball, &solid);
        [field.retract(&on.into()).coords, outside]
    };
    let counts = approached(&field, &solid, 0.01, points)?;
    assert!(2 * counts.touching > draws() && counts.refused == 0 && counts.longer == 0, "{counts:?}");
    Ok(())
}

/// The length of a cable from a point on a surface, in another scalar, and the error if there is none.
fn length_in<T: Real>(ends: [Vector3<f64>; 2], obstacle: Obstacle<T>) -> Result<T, Error> {
    let to = |p: Vector3<f64>| p.map(T::lit);
    let (system, body, cable) = one_end_free::<T>(Station::ground(to(ends[0]).into()), [obstacle])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::from(Translation3::from(to(ends[1]))))?;
    Ok(system.realize_position(&mut state)?.of(cable).position.path.length)
}

#[test]
fn ends_on_surfaces_in_single_precision_and_with_derivatives_agree() -> Result<(), Error> {
    let (mut dice, mut refused) = (Dice::new(9), 0);
    for i in 0..60 {
        let obstacle = match i % 4 {
            0 => on_ground(Sphere::new(0.8)?)?,
            1 => on_ground(Cylinder::new(0.8)?)?,
            2 => on_ground(Ellipsoid::new(Vector3::new(0.7, 0.5, 1.0))?)?,
            _ => on_ground(Torus::new(1.0, 0.4)?)?,
        };
        let on = obstacle.surface().retract(&dice.vector(1.5).into()).coords;
        let outside = dice.vector(1.0).normalize() * dice.between(1.6, 3.0);
        let Ok(length) = length_in([on, outside], obstacle.clone()) else {
            refused += 1;
            continue;
        };
        let dual = length_in([on, outside], obstacle.cast::<Dual64>()?)?;
        assert!((dual.re - length).abs() < 1e-9, "{i}: {} {length}", dual.re);
        // The point is on the surface to single precision, and the path may be another of nearly the same length.
        let single = length_in([on, outside], obstacle.cast::<f32>()?)?;
        assert!((f64::from(single) - length).abs() < 1e-4, "{i}: {single} {length}");
    }
    assert!(refused <= 2, "{refused}");
    Ok(())
}

#[test]
fn the_force_on_an_end_on_a_surface_is_the_derivative_of_length() -> Result<(), Error> {
    // The end slides on the ball, so that its derivative is that along the surface.
    let at = |x: f64| Dual64::from_re(x);
    let ball = on_ground(Sphere::new(at(0.8))?)?;
    let (system, body, cable) = one_end_free::<Dual64>(fixed(-2.0, 0.3, 0.1), [ball])?;
    let mut state = system.default_state();
    for angle in [0.1_f64, 0.4, 0.9] {
        let mut p = Vector3::new(angle.cos(), -angle.sin(), 0.0).map(|x| at(0.8 * x));
        let along = Vector3::new(-angle.sin(), -angle.cos(), 0.0);
        for i in 0..3 {
            p[i].eps = along[i];
        }
        state.set_pose(body, Pose::from(Translation3::from(p)))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        let last = path.segments.last().map(|segment| segment.direction_G.map(|x| x.re));
        let tangent = last.map(|direction| direction.dot(&along)).unwrap_or_default();
        assert!(path.contacts[0].in_contact);
        assert!((path.length.eps - tangent).abs() < 1e-9, "{} {tangent}", path.length.eps);
    }
    Ok(())
}

#[test]
fn a_cable_with_friction_from_a_point_on_a_surface_remembers_and_slips() -> Result<(), Error> {
    const FRICTION: f64 = 0.3;
    let from = Station::ground(Point3::new(-0.8, 0.0, 0.0));
    for reversed in [false, true] {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let [first, last] = if reversed {
            [Station::on(body, Point3::origin()), from]
        } else {
            [from, Station::on(body, Point3::origin())]
        };
        let ball = on_ground(Sphere::new(0.8)?)?.with_contact_hint(Point3::new(0.0, 0.8, 0.0))?;
        let elastic = cable_spring::Parameters { stiffness: 100.0, slack_length: 2.0, dissipation: 0.0 };
        let cable = system.add(
            CableSpring::new(CablePath::new(first, last)?.over(ball), elastic)?
                .with_friction(vec![FRICTION])?,
        )?;
        let mut state = system.default_state();
        for step in 0..20 {
            let p = Vector3::new(1.0 + 0.05 * f64::from(step), -0.3, 0.0);
            state.set_pose(body, Pose::from(Translation3::from(p)))?;
            let view = system.realize_dynamics(&mut state)?;
            let pull = view.body_force(body).force;
            assert!((pull + view.body_force(force_elements::BodyIndex::GROUND).force).norm() < 1e-12);
            let at = view.of(cable);
            let tensions = [at.dynamics.first_tension, at.dynamics.last_tension];
            let [held, pulled] = if reversed { [tensions[1], tensions[0]] } else { tensions };
            // The ball is a drum. From the cable to the middle of its innermost lap, friction takes the turning of the
            // present contact, spread over the laps of the last commit.
            let laps = || at.position.strands.all.iter().filter(|strand| strand.is_wound);
            let innermost = if reversed { laps().next_back() } else { laps().next() };
            let wound: f64 = laps().map(|lap| lap.length).sum();
            let passed = innermost.map_or(0.0, |lap| (wound - 0.5 * lap.length) / wound);
            let turned = passed * at.position.path.contacts[0].geodesic.length / 0.8;
            let (ratio, most) = (pulled / held, (FRICTION * turned).exp());
            assert!(ratio < most + 1e-9, "{step}: {tensions:?} {most}");
            assert!(step < 15 || ratio > most - 1e-9, "{step}: {tensions:?} {most}");
            system.accept_step(&mut state)?;
        }
    }
    Ok(())
}

#[test]
fn an_obstacle_around_an_end_is_ignored_on_request() -> Result<(), Error> {
    let [a, b] = [Vector3::new(0.1, 0.2, 0.0), Vector3::new(2.0, 0.3, 0.0)];
    let solve = |from: Vector3<f64>, ignored: bool| -> Result<f64, Error> {
        let ball = on_ground(Sphere::new(0.8)?)?.with_contact_hint(Point3::new(0.0, 0.8, 0.0))?;
        let ball = if ignored { ball.ignored_around_ends() } else { ball };
        // A second obstacle is wrapped all the same.
        let rod = Obstacle::new(Frame::ground(Pose::translation(1.4, 0.2, 0.0)), Cylinder::new(0.3)?)?;
        let (system, body, cable) = one_end_free(Station::ground(from.into()), [ball, rod])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::from(Translation3::from(b)))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts[1].in_contact);
        // What is ignored has no distance to contact.
        assert_eq!(path.contacts[0].margin(&Sphere::new(0.8)?).is_none(), from == a);
        let length = path.length;
        let in_duals = system.cast::<Dual64>()?;
        let mut state = in_duals.cast_state(&state)?;
        let view = in_duals.realize_position(&mut state)?;
        let contact = &view.of(cable.cast::<CableSpring<Dual64>>()).position.path.contacts[0];
        assert_eq!(contact.margin(&Sphere::new(Dual64::from(0.8))?).is_none(), from == a);
        Ok(length)
    };
    let refused = solve(a, false).expect_err("inside");
    assert_eq!(refused.own(), Some(&PathError::PointInsideObstacle { obstacle: 0 }));
    let axis = Vector3::new(1.4, 0.2, 0.0);
    let expected = past_ball(a - axis, b - axis, 0.3);
    assert!((solve(a, true)? - expected).abs() < 1e-12);
    // Outside, the option changes nothing.
    let beyond = Vector3::new(-2.0, 0.2, 0.0);
    assert_eq!(solve(beyond, true)?, solve(beyond, false)?);
    Ok(())
}
