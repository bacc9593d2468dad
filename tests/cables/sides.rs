//! Cables confined to one side of an obstacle, whatever is remembered.

use core::f64::consts::{PI, TAU};
use std::sync::Arc;

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults, Tracking, Wrap, Wrappable, Wraps};
use force_elements::nalgebra::{Point3, Translation3, Vector2, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, FiniteCylinder, Solid, Sphere, Torus};
use force_elements::{BodyIndex, Error, ForceSystem, Frame, Pose, Real, State, Station};
use force_elements_scenes::cables::Dice;

/// A cable between two bodies over an obstacle in Ground that is confined to its x side.
struct Rig<T: Real> {
    state: State<T>,
    ends: [BodyIndex; 2],
    path: CablePath<T>,
}

impl<T: Real> Rig<T> {
    fn over(surface: impl Wrappable<T>) -> Result<Self, Error> {
        Self::shared(Arc::new(surface))
    }

    fn shared(surface: Arc<dyn Wrappable<T>>) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let ends = [system.add_body(), system.add_body()];
        let over = Obstacle::shared(Frame::ground(Pose::identity()), surface)?.confined_to(Vector3::x())?;
        let [from, to] = ends.map(|body| Station::on(body, Point3::origin()));
        Ok(Self { state: system.default_state(), ends, path: CablePath::new(from, to)?.over(over) })
    }

    fn solve(&mut self, points: [Vector3<T>; 2], wraps: &Wraps<T>) -> Result<PathResults<T>, PathError> {
        let mut path = PathResults::default();
        for (body, p) in self.ends.into_iter().zip(points) {
            self.state.set_pose(body, Pose::from(Translation3::from(p))).map_err(|_| PathError::NonFinite)?;
        }
        self.path.solve(self.state.positions(), wraps, &mut path)?;
        Ok(path)
    }
}

/// A length from the bearings of both ends from the side, no more than half a turn each way: unrolled, it is straight.
fn past_a_cylinder(radius: f64, points: [Vector3<f64>; 2]) -> f64 {
    let [a, b] = points;
    let angle = (b.y.atan2(b.x) - a.y.atan2(a.x)).abs();
    let bare = [a, b].map(|p| (radius / p.x.hypot(p.y)).acos());
    let arc = angle - bare[0] - bare[1];
    if arc < 0.0 {
        return (b - a).norm();
    }
    let straight = [a, b].map(|p| (p.x * p.x + p.y * p.y - radius * radius).sqrt());
    (straight[0] + straight[1] + radius * arc).hypot(b.z - a.z)
}

#[test]
fn a_cable_that_would_leave_right_behind_the_axis_passes_in_front() -> Result<(), Error> {
    const RADIUS: f64 = 0.4;
    let surfaces: [Arc<dyn Wrappable<f64>>; 2] =
        [Arc::new(Cylinder::new(RADIUS)?), Arc::new(FiniteCylinder::new(RADIUS, 3.0, 0.01)?)];
    let mut dice = Dice::new(22);
    for surface in surfaces {
        let mut rig = Rig::shared(surface)?;
        let wraps = rig.path.no_wraps();
        for i in 0..600 {
            // The tangent there leads to an end, to both, or from one pulley to the next.
            let [x, y] = [dice.between(-0.38, 0.4), dice.between(-1.5, -0.4)];
            let start = if i % 2 == 0 { Vector3::new(x, y, 0.0) } else { Vector3::new(-RADIUS, y, 0.0) };
            let end = Vector3::new(-RADIUS, if i % 3 == 0 { 1.0 } else { dice.between(0.1, 1.5) }, 0.0);
            let points = if i % 4 < 2 { [start, end] } else { [end, start] };
            let length = rig.solve(points, &wraps)?.length;
            let expected = past_a_cylinder(RADIUS, points);
            assert!((length - expected).abs() < 1e-9, "{i}: {length} {expected} {points:?}");
        }
    }
    Ok(())
}

#[test]
fn about_a_cylinder_the_angle_is_that_of_the_bearings_from_the_side() -> Result<(), Error> {
    const RADIUS: f64 = 0.3;
    let mut dice = Dice::new(21);
    let mut rig = Rig::over(Cylinder::new(RADIUS)?)?;
    let mut wraps = rig.path.no_wraps();
    let (mut wrapped, mut far) = (0, 0);
    for i in 0..400 {
        let mut end = || {
            let (bearing, reach) = (dice.between(-3.1, 3.1), dice.between(0.35, 1.5));
            Vector3::new(reach * bearing.cos(), reach * bearing.sin(), dice.between(-0.5, 0.5))
        };
        let points = [end(), end()];
        if i % 5 == 0 {
            // A memory of any number of windings on any side.
            let angle = dice.between(0.0, TAU);
            let point = Point3::new(angle.cos(), angle.sin(), 0.0) * RADIUS;
            let tangent = Vector3::new(-angle.sin(), angle.cos(), 0.2) * if i % 2 == 0 { 1.0 } else { -1.0 };
            let length = RADIUS * dice.between(0.1, 30.0);
            wraps.wraps[0] = Wrap { known: true, in_contact: true, point, tangent, length };
        }
        let path = rig.solve(points, &wraps)?;
        let expected = past_a_cylinder(RADIUS, points);
        assert!((path.length - expected).abs() < 1e-11, "{i}: {} {expected} {points:?}", path.length);
        wrapped += usize::from(path.contacts[0].in_contact);
        far += usize::from(path.contacts[0].in_contact && path.contacts[0].geodesic.length > PI * RADIUS);
        path.remember(&mut wraps);
    }
    assert!(wrapped > 150 && far > 2, "{wrapped} {far}");
    Ok(())
}

#[test]
fn a_helix_of_more_than_half_a_turn_is_found_between_ends_at_any_heights() -> Result<(), Error> {
    const RADIUS: f64 = 0.3;
    let mut dice = Dice::new(40);
    let mut rig = Rig::over(Cylinder::new(RADIUS)?)?;
    let none = rig.path.no_wraps();
    for i in 0..3000 {
        // Both ends nearly right behind the axis, on either side of it, some of them close to the surface.
        let nearest = if i % 3 == 0 { 1.0005 } else { 1.05 };
        let mut end = |sign: f64| {
            let (bearing, reach) =
                (sign * (PI - dice.between(0.001, 0.3)), RADIUS * dice.between(nearest, 6.0));
            Vector3::new(reach * bearing.cos(), reach * bearing.sin(), dice.between(-1.5, 1.5))
        };
        let points = if i % 2 == 0 { [end(-1.0), end(1.0)] } else { [end(1.0), end(-1.0)] };
        let length = rig.solve(points, &none)?.length;
        let expected = past_a_cylinder(RADIUS, points);
        assert!((length - expected).abs() < 1e-11, "{i}: {length} {expected} {points:?}");
    }
    Ok(())
}

#[test]
fn an_end_that_passes_behind_is_held_the_other_way_round() -> Result<(), Error> {
    const RADIUS: f64 = 0.5;
    let mut rig = Rig::over(Cylinder::new(RADIUS)?)?;
    for height in [0.0, 0.5, 1.0, 2.0] {
        let mut wraps = rig.path.no_wraps();
        let mut jumps = 0;
        for i in 0..400 {
            let bearing = 1.5 + 0.01 * f64::from(i);
            let start = Vector3::new(-0.3_f64.cos(), -0.3_f64.sin(), -height);
            let points = [start, Vector3::new(0.6 * bearing.cos(), 0.6 * bearing.sin(), height)];
            let path = rig.solve(points, &wraps)?;
            let expected = past_a_cylinder(RADIUS, points);
            assert!((path.length - expected).abs() < 1e-11, "{i}: {} {expected}", path.length);
            jumps += u32::from(path.tracking != Tracking::Warm);
            path.remember(&mut wraps);
        }
        assert!(jumps >= 1, "{height}");
    }
    Ok(())
}

/// A circle in a plane, the bearing of its side, and the signed angle by which a path winds about it.
#[derive(Debug, Clone, Copy)]
struct Disc {
    center: Vector2<f64>,
    radius: f64,
    side: f64,
}

fn angle(from: Vector2<f64>, to: Vector2<f64>) -> f64 {
    from.perp(&to).atan2(from.dot(&to))
}

/// The length of the path over the discs in this order, to the left (-1), to the right (1) or without contact (0), if it
/// runs through none and passes in front of all: by the straight lines that touch two circles of signed radii.
fn in_front_of(ends: [Vector2<f64>; 2], discs: &[Disc; 2], signs: [f64; 2]) -> Option<f64> {
    let touched = (0..2).filter(|&k| signs[k] != 0.0);
    let mut stops = vec![(ends[0], 0.0)];
    stops.extend(touched.clone().map(|k| (discs[k].center, signs[k] * discs[k].radius)));
    stops.push((ends[1], 0.0));
    let mut lines = Vec::new();
    for pair in stops.windows(2) {
        let [(from, r), (to, s)] = [pair[0], pair[1]];
        let straight = ((to - from).norm_squared() - (s - r).powi(2)).sqrt();
        let heading = (to - from).y.atan2((to - from).x) - (s - r).atan2(straight);
        let normal = Vector2::new(heading.sin(), -heading.cos());
        lines.push((heading, from + normal * r, to + normal * s, straight));
    }
    let mut length: f64 = lines.iter().map(|line| line.3).sum();
    let mut line = 0;
    for k in 0..2 {
        let Disc { center, radius, side } = discs[k];
        let through = |(_, a, b, _): &(f64, Vector2<f64>, Vector2<f64>, f64)| {
            let part = ((center - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
            (a + (b - a) * part - center).norm() < radius * (1.0 - 1e-9)
        };
        if lines.iter().any(through) {
            return None;
        }
        let (_, before, arrives, _) = lines[line];
        let mut turn = angle(before - center, arrives - center);
        let mut after = arrives;
        if signs[k] != 0.0 {
            let wound = (signs[k] * (lines[line + 1].0 - lines[line].0)).rem_euclid(TAU);
            length += radius * wound;
            line += 1;
            after = lines[line].2;
            turn += signs[k] * wound + angle(lines[line].1 - center, after - center);
        }
        let front = Vector2::new(side.cos(), side.sin());
        let across = angle(front, after - center) - angle(front, before - center);
        if (turn - across).abs() > 1e-6 {
            return None;
        }
    }
    Some(length)
}

#[test]
fn in_front_of_two_cylinders_the_shortest_path_is_found_in_either_direction() -> Result<(), Error> {
    let state = ForceSystem::<f64>::new().default_state();
    let mut dice = Dice::new(41);
    let [mut behind, mut several] = [0; 2];
    while behind < 300 {
        let mut place = || Vector2::new(dice.between(-3.0, 3.0), dice.between(-3.0, 3.0));
        let (ends, centers) = ([place(), place()], [place(), place()]);
        let discs = centers.map(|center| Disc {
            center,
            radius: dice.between(0.2, 0.8),
            side: dice.between(-PI, PI),
        });
        let [a, b] = discs;
        let is_clear = |p: Vector2<f64>, disc: &Disc| (p - disc.center).norm() > 1.1 * disc.radius;
        let is_apart = (a.center - b.center).norm() > 1.1 * (a.radius + b.radius);
        if !is_apart || ends.iter().any(|p| discs.iter().any(|disc| !is_clear(*p, disc))) {
            continue;
        }
        let along = ends[1] - ends[0];
        let runs_through = |disc: &Disc| {
            let part = ((disc.center - ends[0]).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
            !is_clear(ends[0] + along * part, disc)
        };
        // A straight line that runs through a solid is another matter.
        if discs.iter().any(runs_through) || in_front_of(ends, &discs, [0.0; 2]).is_some() {
            continue;
        }
        let signs = [0.0, 1.0, -1.0];
        let all = signs.iter().flat_map(|&s| signs.map(|t| [s, t]));
        let mut paths: Vec<_> = all.filter_map(|s| Some((in_front_of(ends, &discs, s)?, s))).collect();
        paths.sort_by(|one, other| one.0.total_cmp(&other.0));
        // One that must touch both is not always found.
        let Some(&(expected, _)) = paths.first().filter(|(_, signs)| signs.contains(&0.0)) else { continue };
        behind += 1;
        several += u32::from(paths.len() > 1);
        let mut points = ends.map(|p| Station::ground(Point3::new(p.x, p.y, 0.0)));
        let mut order = discs;
        for direction in 0..2 {
            let mut path = CablePath::new(points[0], points[1])?;
            for Disc { center, radius, side } in order {
                let frame = Frame::ground(Pose::translation(center.x, center.y, 0.0));
                let over = Obstacle::new(frame, Cylinder::new(radius)?)?;
                path = path.over(over.confined_to(Vector3::new(side.cos(), side.sin(), 0.0))?);
            }
            let mut found = PathResults::default();
            path.solve(state.positions(), &path.no_wraps(), &mut found)?;
            let length = found.length;
            assert!((length - expected).abs() < 1e-9, "{behind}, {direction}: {length} {paths:?}");
            points.reverse();
            order.reverse();
        }
    }
    assert!(several > 10, "{several}");
    Ok(())
}

#[test]
fn over_the_front_of_a_ball_the_length_is_continuous_until_the_cable_slips_off() -> Result<(), Error> {
    const RADIUS: f64 = 0.5;
    let mut rig = Rig::over(Sphere::new(RADIUS)?)?;
    let mut wraps = rig.path.no_wraps();
    // Both ends come from the front and go behind.
    let mut behind = 0;
    for i in 0..=200 {
        let x = 0.8 - 0.01 * f64::from(i);
        let points = [Vector3::new(x, -1.5, 0.0), Vector3::new(x, 1.5, 0.1)];
        let [a, b] = points;
        let near = a.cross(&b).norm().atan2(a.dot(&b));
        let angle = if a.x + b.x >= 0.0 { near } else { TAU - near };
        let bare = [a, b].map(|p| (RADIUS / p.norm()).acos());
        let arc = angle - bare[0] - bare[1];
        let straight = [a, b].map(|p| (p.norm_squared() - RADIUS * RADIUS).sqrt());
        let expected = if arc < 0.0 { (b - a).norm() } else { straight[0] + straight[1] + RADIUS * arc };
        let outcomes = [rig.solve(points, &wraps), rig.solve(points, &rig.path.no_wraps())];
        for outcome in &outcomes {
            if arc < PI - 0.02 {
                let length = outcome.as_ref().map(|path| path.length).unwrap_or_default();
                assert!((length - expected).abs() < 1e-11, "{x}: {outcome:?} {expected}");
            } else if arc > PI {
                // A great circle of more than half a turn is no shortest path.
                assert_eq!(outcome.as_ref().err(), Some(&PathError::SideNotKept { obstacle: 0 }), "{x}");
            }
        }
        let [tracked, _] = outcomes;
        if let Ok(path) = tracked {
            path.remember(&mut wraps);
            behind += usize::from(x < -RADIUS);
        }
    }
    assert!(behind > 20, "{behind}");
    Ok(())
}

/// Whether a path crosses the half-plane behind the middle with the solid in front of it; points along the path are
/// close together.
fn passes_behind(solid: &impl Solid<f64>, axis: Option<Vector3<f64>>, points: &[Point3<f64>]) -> bool {
    let [Some(first), Some(last)] = [points.first(), points.last()] else { return false };
    let along = axis.map_or(last - first, |axis| axis.cross(&Vector3::x()));
    let across = Vector3::new(0.0, along.y, along.z);
    points.windows(2).any(|pair| {
        let [from, to] = [pair[0], pair[1]].map(|p| p.coords.dot(&across));
        let crossing = pair[0] + (pair[1] - pair[0]) * (from / (from - to));
        let mut ahead = (1..400).map(|i| crossing + Vector3::x() * (0.005 * f64::from(i)));
        (from < 0.0) != (to < 0.0) && crossing.x < 0.0 && ahead.any(|p| solid.signed_distance(&p) < -5e-3)
    })
}

/// Random ends and memories; returns how often the cable touches, and is refused.
fn never_behind(
    solid: impl Solid<f64> + Wrappable<f64> + Copy,
    axis: Option<Vector3<f64>>,
    seed: u64,
) -> Result<[u32; 2], Error> {
    let mut rig = Rig::over(solid)?;
    let mut dice = Dice::new(seed);
    let mut wraps = rig.path.no_wraps();
    let [mut touching, mut refused] = [0; 2];
    for i in 0..300 {
        let mut end = || loop {
            let p = dice.vector(1.5);
            if Solid::signed_distance(&solid, &p.into()) > 0.05 {
                return p;
            }
        };
        let points = [end(), end()];
        match rig.solve(points, &wraps) {
            Ok(path) => {
                touching += u32::from(path.contacts[0].in_contact);
                let line = path.sample(&rig.path, 0.02);
                let fine: Vec<_> = line
                    .windows(2)
                    .flat_map(|p| (0..50).map(|k| p[0] + (p[1] - p[0]) * (f64::from(k) / 50.0)))
                    .chain(line.last().copied())
                    .collect();
                assert!(!passes_behind(&solid, axis, &fine), "{i}: {points:?}");
                path.remember(&mut wraps);
            }
            Err(error) => {
                assert_eq!(error, PathError::SideNotKept { obstacle: 0 }, "{i}: {points:?}");
                refused += 1;
            }
        }
    }
    Ok([touching, refused])
}

#[test]
fn no_path_passes_behind() -> Result<(), Error> {
    let found = [
        never_behind(Sphere::new(0.5)?, None, 1)?,
        never_behind(Ellipsoid::new(Vector3::new(0.6, 0.4, 0.5))?, None, 2)?,
        never_behind(FiniteCylinder::new(0.4, 0.6, 0.1)?, Some(Vector3::z()), 3)?,
    ];
    for [touching, refused] in found {
        assert!(touching >= 40 && refused <= 18, "{found:?}");
    }
    Ok(())
}

#[test]
fn an_obstacle_that_is_ignored_confines_nothing() -> Result<(), Error> {
    let mut dice = Dice::new(30);
    for surface in [0.5, 0.7].map(Cylinder::new) {
        let mut system = ForceSystem::new();
        let ends = [system.add_body(), system.add_body()];
        let over = Obstacle::new(Frame::ground(Pose::identity()), surface?)?;
        let over = over.confined_to(Vector3::x())?.ignored_around_ends();
        let [from, to] = ends.map(|body| Station::on(body, Point3::origin()));
        let path = CablePath::new(from, to)?.over(over);
        let mut rig = Rig { state: system.default_state(), ends, path };
        let wraps = rig.path.no_wraps();
        for _ in 0..100 {
            let points = [dice.vector(0.25), Vector3::new(-0.9, 0.0, 0.0) + dice.vector(0.1)];
            let found = rig.solve(points, &wraps)?;
            assert!((found.length - (points[1] - points[0]).norm()).abs() < 1e-12, "{points:?}");
        }
    }
    Ok(())
}

#[test]
fn beside_the_end_of_a_cylinder_the_cable_is_free() -> Result<(), Error> {
    let mut rig = Rig::over(FiniteCylinder::new(0.4, 0.6, 0.1)?)?;
    let none = rig.path.no_wraps();
    let mut at = |z: f64| rig.solve([Vector3::new(-0.6, -1.0, z), Vector3::new(-0.6, 1.0, z)], &none);
    // Behind it, the cable goes around the front; past its end, straight on.
    assert!(at(0.2)?.contacts[0].in_contact && at(0.2)?.length > 2.4);
    assert!(!at(0.7)?.contacts[0].in_contact);
    Ok(())
}

#[test]
fn a_path_around_a_sharp_edge_that_begins_on_a_flat_place_is_on_the_side_of_the_edge() -> Result<(), Error> {
    // A blade: from its flat side no curvature shows that the path turns around.
    let mut rig = Rig::over(Ellipsoid::new(Vector3::new(1.0, 5.0, 0.1))?)?;
    let mut solve = |side: f64| {
        let mut wraps = rig.path.no_wraps();
        wraps.wraps[0] = Wrap {
            known: true,
            in_contact: true,
            point: Point3::new(-0.2585 * side, 0.0, 0.0966),
            tangent: Vector3::x() * side,
            length: 2.549,
        };
        let ends = [0.05, -0.05].map(|z| Vector3::new(-2.0 * side, 0.0, z));
        rig.solve(ends, &wraps)
    };
    // Around the edge on the side, as remembered: there and back, and around the half of the section.
    let around = solve(1.0)?;
    assert!((around.length - 6.03).abs() < 0.01 && around.contacts[0].in_contact, "{}", around.length);
    // Around the edge behind, what is remembered is discarded.
    let straight = solve(-1.0)?;
    assert!((straight.length - 0.1).abs() < 1e-12, "{}", straight.length);
    Ok(())
}

#[test]
fn sides_are_kept_by_casts_and_refused_where_they_mean_nothing() -> Result<(), Error> {
    let frame = Frame::ground(Pose::identity());
    let column = || Obstacle::new(frame, Cylinder::new(0.3)?);
    assert!(matches!(column()?.confined_to(Vector3::z()), Err(PathError::InvalidValue(_))));
    assert!(matches!(column()?.confined_to(Vector3::zeros()), Err(PathError::InvalidValue(_))));
    assert!(matches!(column()?.confined_to(Vector3::repeat(f64::NAN)), Err(PathError::NonFinite)));
    let ring = Obstacle::new(frame, Torus::new(1.0, 0.3)?)?;
    assert!(matches!(ring.confined_to(Vector3::x()), Err(PathError::InvalidValue(_))));
    let tilted = column()?.confined_to(Vector3::new(0.0, 2.0, 5.0))?;
    assert_eq!(tilted.side(), Some(&Vector3::y()));
    assert_eq!(tilted.cast::<f32>()?.side(), Some(&Vector3::y()));

    let mut rig = Rig::over(Cylinder::new(0.3)?)?;
    let points = [Vector3::new(-0.6, -1.0, 0.1), Vector3::new(-0.7, 0.8, 0.0)];
    let none = rig.path.no_wraps();
    let length = rig.solve(points, &none)?.length;
    let mut single = Rig::over(Cylinder::new(0.3_f32)?)?;
    let none = single.path.no_wraps();
    let rounded = single.solve(points.map(Vector3::cast::<f32>), &none)?.length;
    assert!((f64::from(rounded) - length).abs() < 1e-6 && length > 2.6, "{rounded} {length}");
    Ok(())
}
