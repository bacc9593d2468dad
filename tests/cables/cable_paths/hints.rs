//! A contact hint says where the cable passes: the path is of the class of the straight lines through it.

use core::f64::consts::{PI, TAU};

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults, Settings, Tracking, Wrappable};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, FiniteCylinder, Sphere, Torus};
use force_elements::{CableSpring, Error, ForceSystem, Frame, Pose, Station, cable_spring};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::solids::{Solid, dives};

use super::on_ground;

/// A path found: its length, points along it, and how deep it runs into the solid.
struct Found {
    length: f64,
    points: Vec<Vector3<f64>>,
    depth: f64,
}

/// Lays a cable between two points over an obstacle in Ground.
fn lay(ends: [Vector3<f64>; 2], obstacle: Obstacle<f64>, solid: Solid) -> Result<Found, Error> {
    let [from, to] = ends.map(|p| Station::ground(p.into()));
    let mut system = ForceSystem::new();
    let path = CablePath::new(from, to)?.over(obstacle).with_settings(Settings::default())?;
    let elastic = cable_spring::Parameters { stiffness: 1.0, slack_length: 0.0, dissipation: 0.0 };
    let cable = system.add(CableSpring::new(path, elastic)?)?;
    let mut state = system.default_state();
    let view = system.realize_position(&mut state)?;
    let path = &view.of(cable).position.path;
    assert_eq!(path.tracking, Tracking::Cold);
    let whole = core::iter::once(0..1).collect::<Vec<_>>();
    let depth = dives(&[solid], &whole, path).iter().fold(0.0, |depth: f64, dive| depth.max(dive.depth));
    let points = path.sample(system.element(cable).path(), 2e-3).into_iter().map(|p| p.coords).collect();
    Ok(Found { length: path.length, points, depth })
}

/// The angle about the z axis from one point to another, less than half a turn.
fn about_z(a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    (a.x * b.y - a.y * b.x).atan2(a.x * b.x + a.y * b.y)
}

/// The length of a cable that winds by this angle about a cylinder around z: unrolled, it is straight.
fn wound(ends: [Vector3<f64>; 2], radius: f64, angle: f64) -> f64 {
    let [a, b] = ends.map(|p| p.x.hypot(p.y));
    let arc = angle.abs() - (radius / a).acos() - (radius / b).acos();
    if arc <= 0.0 {
        return (ends[1] - ends[0]).norm();
    }
    let straight = [a, b].map(|d| (d * d - radius * radius).sqrt());
    (straight[0] + straight[1] + radius * arc).hypot(ends[1].z - ends[0].z)
}

#[test]
fn a_hinge_is_passed_on_the_side_of_the_hint_at_every_bend() -> Result<(), Error> {
    let mut sides = [0; 2];
    for bend in 0..180 {
        let between = PI - f64::from(bend).to_radians();
        let at = |distance: f64, angle: f64| Vector3::new(angle.cos(), angle.sin(), 0.0) * distance;
        let ends = [at(0.5, 0.0), at(0.5, between)];
        for i in 0..36 {
            // The lines through no hint meet the axis.
            let hint = at(0.2, TAU * (f64::from(i) + 0.123) / 36.0);
            let over = on_ground(Cylinder::new(0.2)?)?.with_contact_hint(hint.into())?;
            let found = lay(ends, over, Solid::Rod(0.2))?;
            let angle = about_z(&ends[0], &hint) + about_z(&hint, &ends[1]);
            let expected = wound(ends, 0.2, angle);
            assert!((found.length - expected).abs() < 1e-12, "{bend} {i}: {} {expected}", found.length);
            assert!(found.depth < 1e-9, "{bend} {i}: {}", found.depth);
            sides[usize::from(angle.abs() > PI)] += 1;
        }
    }
    assert!(sides[0] > 1000 && sides[1] > 1000, "{sides:?}");
    Ok(())
}

#[test]
fn a_hint_on_a_cylinder_or_beside_it_determines_the_side_and_no_more() -> Result<(), Error> {
    const RADIUS: f64 = 0.5;
    let mut dice = Dice::new(5);
    for i in 0..1000 {
        let mut beside = || {
            let p = dice.vector(1.5);
            let least = RADIUS + 0.02;
            let scale = (least / p.x.hypot(p.y)).max(1.0);
            Vector3::new(p.x * scale, p.y * scale, p.z)
        };
        let ends = [beside(), beside()];
        let mut hint = beside();
        if i % 2 == 0 {
            let scale = RADIUS / hint.x.hypot(hint.y);
            hint = Vector3::new(hint.x * scale, hint.y * scale, hint.z);
        }
        let expected = wound(ends, RADIUS, about_z(&ends[0], &hint) + about_z(&hint, &ends[1]));
        let over = on_ground(Cylinder::new(RADIUS)?)?.with_contact_hint(hint.into())?;
        let found = lay(ends, over, Solid::Rod(RADIUS))?;
        assert!((found.length - expected).abs() < 1e-9, "{i}: {} {expected}", found.length);
    }
    Ok(())
}

/// How often a curve passes downwards through the disc in a ring about z, less upwards.
fn passages(points: &[Vector3<f64>], ring: f64) -> i32 {
    let is_above = |p: &Vector3<f64>| p.z >= 0.0;
    let passage = |pair: &[Vector3<f64>]| {
        let [a, b] = [pair[0], pair[1]];
        let at = a + (b - a) * (a.z / (a.z - b.z));
        if is_above(&a) == is_above(&b) || at.x.hypot(at.y) > ring {
            return 0;
        }
        if is_above(&a) { 1 } else { -1 }
    };
    points.windows(2).map(passage).sum()
}

#[test]
fn a_hint_in_the_hole_of_a_ring_is_kept_or_refused() -> Result<(), Error> {
    let mut dice = Dice::new(77);
    let (mut kept, mut refused, mut led) = (0, 0, 0);
    for i in 0..200 {
        let tube = dice.between(0.1, 0.5);
        let solid = Solid::Ring(1.0, tube);
        let mut outside = || loop {
            let p = dice.vector(3.0);
            if solid.height(p.into()) > 0.1 {
                return p;
            }
        };
        let ends = [outside(), outside()];
        let (reach, angle) = ((1.0 - tube) * dice.between(0.0, 1.0).sqrt(), dice.between(0.0, TAU));
        let hint = Vector3::new(angle.cos(), angle.sin(), 0.0) * reach;
        let over = on_ground(Torus::new(1.0, tube)?)?.with_contact_hint(hint.into())?;
        match lay(ends, over, solid) {
            Ok(found) => {
                let wanted = passages(&[ends[0], hint, ends[1]], 1.0);
                assert_eq!(passages(&found.points, 1.0), wanted, "{i}");
                assert!(found.depth < 1e-8, "{i}: {}", found.depth);
                kept += 1;
                led += wanted.abs();
            }
            Err(error) => {
                let typed = matches!(
                    error.own(),
                    Some(PathError::HintNotKept { obstacle: 0 } | PathError::Penetrates { obstacle: 0, .. })
                );
                assert!(typed, "{i}: {error}");
                refused += 1;
            }
        }
    }
    assert!(kept >= 198 && led > 60, "{kept} {refused} {led}");
    Ok(())
}

/// The length of the shortest line from one point over the circle of this radius around z to another.
fn over_circle(ends: [Vector3<f64>; 2], radius: f64) -> f64 {
    let length = |angle: f64| {
        let p = Vector3::new(angle.cos(), angle.sin(), 0.0) * radius;
        (p - ends[0]).norm() + (ends[1] - p).norm()
    };
    let (mut middle, mut width) = (0.0, TAU);
    for _ in 0..5 {
        let at = |k: i32| middle + width * f64::from(k) / 200.0;
        let nearest = |a: &f64, b: &f64| length(*a).total_cmp(&length(*b));
        middle = (-100..=100).map(at).min_by(nearest).expect("some");
        width *= 0.03;
    }
    length(middle)
}

/// Within a ring the cable is no shorter than the shortest line through the disc of its hole. The tube holds both straight parts of
/// that off, at a cost of no more than half its girth less its diameter for each.
#[test]
fn a_cable_is_held_within_thin_rings() -> Result<(), Error> {
    let mut dice = Dice::new(16);
    let mut over = 0;
    for i in 0..300 {
        let tube = 0.25 * 10_f64.powf(-dice.between(0.0, 2.4));
        let (hole, most) = (1.0 - tube, 2.0 * (PI - 2.0) * tube);
        let scale = 10_f64.powf(dice.between(-3.0, 3.0));
        let world = Pose::from_parts(Translation3::from(dice.vector(5.0)), dice.rotation(3.0));
        let mut end = || Vector3::from([3.0, 3.0, 1.0].map(|reach| dice.between(-reach, reach)));
        let (above, below) = (end() + Vector3::z() * 1.3, end() - Vector3::z() * 1.3);
        let (reach, angle) = (hole * dice.between(0.0, 0.95).sqrt(), dice.between(0.0, TAU));
        let hint = Point3::new(angle.cos() * reach * scale, angle.sin() * reach * scale, 0.0);
        let at = |p: Vector3<f64>| Point3::from((world * Point3::from(p)).coords * scale);
        let laid = |to: Vector3<f64>, rings: &[f64]| -> Result<f64, Error> {
            let mut path = CablePath::new(Station::ground(at(above)), Station::ground(at(to)))?;
            for &z in rings {
                let X = Pose::from_parts(Translation3::from(at(Vector3::z() * z).coords), world.rotation);
                let ring = Obstacle::new(Frame::ground(X), Torus::new(scale, tube * scale)?)?;
                path = path.over(ring.with_contact_hint(hint)?);
            }
            let state = ForceSystem::new().default_state();
            let mut found = PathResults::default();
            path.solve(state.positions(), &path.no_wraps(), &mut found)?;
            Ok(found.length / scale)
        };
        let straight = above + (below - above) * (above.z / (above.z - below.z));
        let is_held = straight.x.hypot(straight.y) > hole;
        let least = if is_held { over_circle([above, below], hole) } else { (below - above).norm() };
        let excess = laid(below, &[0.0])? - least;
        assert!(excess > -1e-9 && excess < most, "{i}: {excess} {tube}");
        over += u32::from(is_held);
        // Through this ring and its mirror image, from a point to its own: straight down between the nearest points of both.
        let image = Vector3::new(above.x, above.y, 2.0 * below.z - above.z);
        let outside = (above.x.hypot(above.y) - hole).max(0.0);
        let least = 2.0 * (outside.hypot(above.z) - below.z);
        let excess = laid(image, &[0.0, 2.0 * below.z])? - least;
        assert!(excess > -1e-9 && excess < 2.0 * most, "{i}: {excess} {tube}");
    }
    assert!(over > 100, "{over}");
    Ok(())
}

#[test]
fn a_hint_close_to_the_tube_of_a_ring_is_kept() -> Result<(), Error> {
    const TUBE: f64 = 0.4586;
    // A twentieth of the tube's radius off it, in the hole; the straight lines to it mostly run through the tube.
    let hint = Vector3::new(0.0278, -0.5619, -0.1936);
    let mut dice = Dice::new(91);
    let mut led = 0;
    for i in 0..300 {
        let mut away = |least: f64| loop {
            let p = dice.vector(3.0);
            if p.norm() > least {
                return p;
            }
        };
        let from = away(1.6);
        let ends = [from, away(1.6) - from * 0.8];
        if Solid::Ring(1.0, TUBE).height(ends[1].into()) < 0.05 {
            continue;
        }
        let over = on_ground(Torus::new(1.0, TUBE)?)?.with_contact_hint(hint.into())?;
        let found = lay(ends, over, Solid::Ring(1.0, TUBE))?;
        let wanted = passages(&[ends[0], hint, ends[1]], 1.0);
        assert_eq!(passages(&found.points, 1.0), wanted, "{i}");
        assert!(found.depth < 1e-8, "{i}: {}", found.depth);
        led += u32::from(wanted != passages(&ends, 1.0));
    }
    assert!(led > 50, "{led}");
    Ok(())
}

#[test]
fn a_hint_does_not_wrap_an_ellipsoid_the_long_way() -> Result<(), Error> {
    let mut dice = Dice::new(31);
    let (mut longer, mut followed) = (0, 0);
    for i in 0..200 {
        let radii = Vector3::from_fn(|_, _| dice.between(0.4, 0.8));
        let solid = Solid::Egg(radii);
        let mut outside = || loop {
            let p = dice.vector(1.5);
            if solid.height(p.into()) > 0.05 {
                return p;
            }
        };
        let ends = [outside(), outside()];
        let hint = dice.vector(1.0).normalize().component_mul(&radii);
        let over = || on_ground(Ellipsoid::new(radii)?);
        let hinted = lay(ends, over()?.with_contact_hint(hint.into())?, solid.clone())?;
        let plain = lay(ends, over()?, solid.clone())?;
        // Another local minimum may be kept, but none that is wound by more than half a turn.
        let excess = hinted.length - plain.length;
        assert!(hinted.depth < 1e-8 && excess < PI * radii.max(), "{i}: {excess}");
        longer += usize::from(excess > 1e-9);
        // None is, if the path without the hint passes on its side.
        let touched: Vec<_> = plain.points.iter().filter(|p| solid.height((**p).into()) < 1e-6).collect();
        let Some(middle) = touched.get(touched.len() / 2) else { continue };
        let normal = |p: &Vector3<f64>| p.component_div(&radii).component_div(&radii).normalize();
        let along = (ends[1] - ends[0]).normalize();
        let sideways = normal(&hint) - along * along.dot(&normal(&hint));
        if sideways.dot(&normal(middle)) > 0.3 {
            assert!(excess.abs() < 1e-9, "{i}: {excess}");
            followed += 1;
        }
    }
    assert!(longer <= 2 && followed > 10, "{longer} {followed}");
    Ok(())
}

#[test]
fn no_hint_changes_the_path_past_a_ball() -> Result<(), Error> {
    let mut dice = Dice::new(32);
    for i in 0..200 {
        let mut outside = || dice.vector(1.0).normalize() * dice.between(0.9, 2.0);
        let ends = [outside(), outside()];
        let hint = dice.vector(1.0);
        let over = || on_ground(Sphere::new(0.8)?);
        let hinted = lay(ends, over()?.with_contact_hint(hint.into())?, Solid::Ball(0.8))?;
        let plain = lay(ends, over()?, Solid::Ball(0.8))?;
        assert!((hinted.length - plain.length).abs() < 1e-11, "{i}: {} {}", hinted.length, plain.length);
    }
    Ok(())
}

/// A column whose edges, elsewhere, are as sharp as a sixtieth of its thickness, and which does not count windings.
#[derive(Debug)]
struct Edged(Cylinder<f64>);

impl Wrappable<f64> for Edged {
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
        0.1 / 30.0
    }
    fn is_convex(&self) -> bool {
        true
    }
}

#[test]
fn a_hint_without_a_class_selects_its_side_for_both_directions_of_the_cable() -> Result<(), Error> {
    const RADIUS: f64 = 0.1;
    for aside in [0.03, 0.01, -0.02] {
        for hint in [-RADIUS, RADIUS] {
            let ends = [-0.3, 0.3].map(|y| Vector3::new(aside, y, 0.0));
            for ends in [ends, [ends[1], ends[0]]] {
                let hint = Vector3::new(hint, 0.0, 0.0);
                let angle = about_z(&ends[0], &hint) + about_z(&hint, &ends[1]);
                // The other side is shorter by less than half the girth.
                let expected = wound(ends, RADIUS, angle);
                let spool = on_ground(FiniteCylinder::new(RADIUS, 0.5, 0.01)?)?;
                for (case, over) in [spool, on_ground(Edged(Cylinder::new(RADIUS)?))?].into_iter().enumerate()
                {
                    let found = lay(ends, over.with_contact_hint(hint.into())?, Solid::Rod(RADIUS))?;
                    let length = found.length;
                    assert!((length - expected).abs() < 1e-9, "{case} {aside} {hint}: {length} {expected}");
                }
            }
        }
    }
    Ok(())
}

/// An obstacle beside a hinted one is passed on the side on which the whole path is shorter. The lengths are those of paths found
/// from random starts.
#[test]
fn hints_do_not_lead_around_the_obstacles_beside_them() -> Result<(), Error> {
    let at = |p: [f64; 3], turn: [f64; 3]| {
        Frame::ground(Pose::from_parts(Vector3::from(p).into(), Rotation3::new(Vector3::from(turn))))
    };
    let cylinder = |radius: f64, p, turn| Obstacle::new(at(p, turn), Cylinder::new(radius)?);
    let ring = Obstacle::new(at([2.7, 0.3, -0.5], [-1.5, 0.9, -0.6]), Torus::new(0.21, 0.04)?)?;
    let scenes = [
        (
            6.3,
            6.411_668,
            [
                ring.with_contact_hint(Point3::new(0.1, -0.1, 0.0))?,
                cylinder(0.79, [4.6, 0.4, -0.7], [-0.5, -0.1, 0.1])?,
            ],
        ),
        (
            0.6,
            1.071_407,
            [
                cylinder(0.1, [0.2, -0.2, -0.2], [2.0, 0.3, 0.1])?,
                cylinder(0.1, [0.4, 0.3, 0.1], [-1.8, 1.7, -0.2])?
                    .with_contact_hint(Point3::new(-0.1, 0.0, 0.0))?,
            ],
        ),
        (
            4.1,
            4.777_851,
            [
                cylinder(0.28, [0.4, -0.1, -0.6], [-1.7, -0.9, 0.1])?
                    .with_contact_hint(Point3::new(-0.2, 0.2, 0.0))?,
                cylinder(0.58, [2.0, 0.2, -0.4], [-0.7, 0.1, 0.1])?,
            ],
        ),
    ];
    for (x, length, obstacles) in scenes {
        let mut path =
            CablePath::new(Station::ground(Point3::origin()), Station::ground(Point3::new(x, 0.0, 0.0)))?;
        for obstacle in obstacles {
            path = path.over(obstacle);
        }
        let mut results = PathResults::default();
        let state = ForceSystem::<f64>::new().default_state();
        path.solve(state.positions(), &path.no_wraps(), &mut results).expect("a path");
        // To the digits of the lengths.
        assert!(results.length < length + 1e-6, "{}: {length}", results.length);
    }
    Ok(())
}

/// Pulleys of radius 0.1 with hints where the taut cable runs: the straight line from end to end is shorter, passes none of
/// them, and keeps each of these hints by itself. The lengths are those of tangents and arcs.
#[test]
fn hints_on_all_pulleys_are_one_string() -> Result<(), Error> {
    let (r, slant) = (0.1, 0.1 * 0.5_f64.sqrt());
    let laid = |ends: [[f64; 2]; 2], pulleys: &[([f64; 2], [f64; 2])]| {
        let [from, to] = ends.map(|[x, y]| Station::ground(Point3::new(x, y, 0.0)));
        let mut path = CablePath::new(from, to)?;
        for ([x, y], [hint_x, hint_y]) in pulleys {
            let pulley = Obstacle::new(Frame::ground(Pose::translation(*x, *y, 0.0)), Cylinder::new(r)?)?;
            path = path.over(pulley.with_contact_hint(Point3::new(*hint_x, *hint_y, 0.0))?);
        }
        let mut results = PathResults::default();
        let state = ForceSystem::<f64>::new().default_state();
        path.solve(state.positions(), &path.no_wraps(), &mut results).expect("a path");
        Ok::<_, Error>(results.length)
    };
    // Out over one pulley, and back over another.
    let corners = [
        ([1.0, 0.1], [slant, -slant]),
        ([1.0, 1.0], [slant, slant]),
        ([0.1, 1.0], [-slant, slant]),
        ([0.1, 0.1], [-slant, -slant]),
    ];
    let u = laid([[0.0, 0.0], [0.0, 0.5]], &[corners[0], ([1.0, 0.4], [slant, slant])])?;
    assert!((u - (2.3 + r * PI)).abs() < 1e-9, "{u}");
    // Around a square, nearly to where it begins.
    let square = laid([[0.5, 0.0], [0.49, 0.0]], &corners)?;
    assert!((square - (0.5 + 3.0 * 0.9 + 0.39 + r * TAU)).abs() < 1e-9, "{square}");
    // A belt whose ends nearly meet.
    let belt = laid([[0.005, r], [-0.005, r]], &[([1.0, 0.0], [r, 0.0]), ([-1.0, 0.0], [-r, 0.0])])?;
    assert!((belt - (4.0 - 0.01 + r * TAU)).abs() < 1e-9, "{belt}");
    Ok(())
}
