//! End points on a surface, where the contact begins or ends, and inside an obstacle that is ignored then.

use force_elements::cable::{CablePath, Obstacle, PathError, Tracking, Wrappable, Wraps};
use force_elements::nalgebra::{Point3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{
    CableSpring, CapstanCable, Error, ForceSystem, Pose, Station, cable_spring, capstan_cable,
};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::solids::{Solid, dives};
use num_dual::Dual64;

use super::{fixed, on_ground, one_end_free, past_ball};

/// A path found: its length, whether it touches, and its memory.
struct Found {
    length: f64,
    touches: bool,
    wraps: Wraps<f64>,
}

/// Lays a cable in Ground past an obstacle, without memory or with some.
fn lay(
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
        system.set_discrete(&mut state, cable, wraps)?;
    }
    let dynamics = system.realize_dynamics(&mut state)?;
    let path = &dynamics.of(cable).position.path;
    let whole = core::iter::once(0..1).collect::<Vec<_>>();
    for dive in dives(core::slice::from_ref(solid), &whole, path) {
        assert!(dive.depth < 1e-8, "{ends:?}: {dive:?}");
    }
    for contact in path.contacts.iter().filter(|contact| contact.in_contact) {
        let ends_on = [contact.geodesic.start, contact.geodesic.end];
        assert!(ends_on.iter().all(|end| solid.height(end.point).abs() < 1e-9));
    }
    assert!(path.segments.iter().all(|segment| (segment.direction_G.norm() - 1.0).abs() < 1e-12));
    let (length, touches) = (path.length, path.contacts[0].in_contact);
    // The same again from its memory.
    system.accept_step(&mut state)?;
    let wraps = state.discrete(cable).clone();
    let view = system.realize_position(&mut state)?;
    let path = &view.of(cable).position.path;
    assert_eq!(path.tracking, Tracking::Warm);
    assert!((path.length - length).abs() < 1e-12);
    Ok(Found { length, touches, wraps })
}

/// A point outside a solid, and one on the surface.
fn points(dice: &mut Dice, surface: &impl Wrappable<f64>, solid: &Solid) -> [Vector3<f64>; 2] {
    let on = surface.nearest_point(&dice.vector(1.5).into());
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

/// A path from a point on a surface is the limit of those from points above it that are tracked from its memory.
/// Returns how often it touches, is refused, and is longer than one found from above without memory.
fn approached(surface: impl Wrappable<f64> + Copy, solid: &Solid, seed: u64) -> Result<[u32; 3], Error> {
    const HEIGHT: f64 = 1e-6;
    let mut dice = Dice::new(seed);
    let [mut touching, mut refused, mut longer] = [0; 3];
    for i in 0..200 {
        let [a, b] = points(&mut dice, &surface, solid);
        let above = a + surface.gradient(&a.into()).normalize() * HEIGHT;
        for reversed in [false, true] {
            let order = |p: [Vector3<f64>; 2]| if reversed { [p[1], p[0]] } else { p };
            let solve = |end: Vector3<f64>, memory: Option<Wraps<f64>>| {
                lay(order([end, b]), on_ground(surface)?, solid, memory)
            };
            match solve(a, None) {
                Ok(Found { length, touches, mut wraps }) => {
                    let wrap = &mut wraps.obstacles[0];
                    let geodesic = surface.geodesic(&wrap.point, &wrap.tangent, wrap.length, 1e-9);
                    let held = if reversed { geodesic.end } else { geodesic.start };
                    // The tangent from above touches this far from the point, on a circle of the same curvature.
                    let reach = (2.0 * HEIGHT / held.curvature.abs()).sqrt();
                    if touches && reach < wrap.length {
                        if !reversed {
                            let start = surface.geodesic(&wrap.point, &wrap.tangent, reach, 1e-9).end;
                            (wrap.point, wrap.tangent) = (start.point, start.tangent);
                        }
                        wrap.length -= reach;
                    }
                    let near = solve(above, Some(wraps))?.length;
                    assert!((length - near).abs() < 1.01 * HEIGHT, "{i}: {length} {near}");
                    touching += u32::from(touches);
                    // The search from above may be refused.
                    let is_longer = |cold: Found| length > cold.length + 2.0 * HEIGHT;
                    longer += u32::from(solve(above, None).is_ok_and(is_longer));
                }
                Err(error) => {
                    let own = error.own();
                    let typed =
                        matches!(own, Some(PathError::EndOnSurface { .. } | PathError::Penetrates { .. }));
                    assert!(typed, "{i}: {error}");
                    refused += 1;
                }
            }
        }
    }
    Ok([touching, refused, longer])
}

#[test]
fn from_a_point_on_an_ellipsoid_the_path_is_the_limit_of_those_from_above() -> Result<(), Error> {
    let radii = Vector3::new(0.7, 0.5, 1.0);
    let [touching, refused, longer] = approached(Ellipsoid::new(radii)?, &Solid::Egg(radii), 5)?;
    assert!(touching > 100 && refused == 0 && longer <= 2, "{touching} {refused} {longer}");
    Ok(())
}

#[test]
fn from_a_point_on_a_ring_the_path_is_the_limit_of_those_from_above_or_refused() -> Result<(), Error> {
    let [touching, refused, longer] = approached(Torus::new(1.0, 0.4)?, &Solid::Ring(1.0, 0.4), 6)?;
    assert!(touching > 100 && refused <= 40 && longer <= 20, "{touching} {refused} {longer}");
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
        let parameters = capstan_cable::Parameters { elastic, friction: vec![FRICTION] };
        let cable = system.add(CapstanCable::new(CablePath::new(first, last)?.over(ball), parameters)?)?;
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
            let turned = at.position.path.contacts[0].geodesic.length / 0.8;
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
        assert_eq!(ball.is_ignored_around_ends(), ignored);
        // A second obstacle is wrapped all the same.
        let rod = Obstacle::new(
            force_elements::Frame::ground(Pose::translation(1.4, 0.2, 0.0)),
            Cylinder::new(0.3)?,
        )?;
        let (system, body, cable) = one_end_free(Station::ground(from.into()), [ball, rod])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::from(Translation3::from(b)))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts[1].in_contact);
        Ok(path.length)
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
