//! Cables over a cylinder with ends: geodesics across its seams, and paths that slide off over a rim.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle, PathResults, Tracking, Wrappable};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, FiniteCylinder, ShapeError, Solid, SolidShape};
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, CableSpring, Error, ForceSystem, Frame, Handle, Pose, Real, State, Station, cable_spring,
};
use force_elements_scenes::cables::Dice;
use num_dual::Dual64;

const RADIUS: f64 = 0.5;
const HALF: f64 = 0.8;
const RIM: f64 = 0.1;

fn spool<T: Real>() -> Result<FiniteCylinder<T>, ShapeError> {
    FiniteCylinder::new(T::lit(RADIUS), T::lit(HALF), T::lit(RIM))
}

/// The straightest line on the surface in equal steps: each goes on as the one before, and to the nearest point of the
/// surface.
fn straightest(
    solid: &impl Solid<f64>,
    p: Point3<f64>,
    tangent: Vector3<f64>,
    length: f64,
    steps: u32,
) -> (Point3<f64>, Vector3<f64>) {
    let step = length / f64::from(steps);
    let on = |p: Point3<f64>| solid.nearest(&p).point;
    let (mut at, mut along) = (p, tangent);
    let mut chord = tangent;
    for _ in 0..steps {
        let next = on(at + along * step);
        chord = (next - at).normalize();
        // Turned by as much again as the chord from the tangent before.
        along = (chord * (2.0 * chord.dot(&along)) - along).normalize();
        at = next;
    }
    (at, chord)
}

#[test]
fn geodesics_cross_its_seams_as_straightest_lines_do() -> Result<(), Error> {
    const STEP: f64 = 1e-6;
    let (spool, mut dice) = (spool()?, Dice::new(5));
    let mut crossed = 0;
    for _ in 0..24 {
        let p = Solid::nearest(&spool, &dice.vector(1.0).into()).point;
        let start = spool.end(&p, &dice.vector(1.0));
        let length = dice.between(-2.0, 2.0);
        let geodesic = spool.geodesic(&p, &start.tangent, length, 1e-12, usize::MAX);
        // The errors of polygons are proportional to their steps, but for their squares.
        let sign = length.signum();
        let [coarse, fine] =
            [4000, 8000].map(|n| straightest(&spool, p, start.tangent * sign, length.abs(), n));
        let q = fine.0 + (fine.0 - coarse.0);
        let t = (fine.1 * 2.0 - coarse.1) * sign;
        assert!((geodesic.end.point - q).norm() < 2e-6, "{}", (geodesic.end.point - q).norm());
        assert!((geodesic.end.tangent - t).norm() < 2e-5, "{}", (geodesic.end.tangent - t).norm());
        crossed += usize::from((geodesic.end.normal.z - geodesic.start.normal.z).abs() > 0.1);
        // The Jacobi scalars by differences.
        let side = geodesic.start.binormal();
        let ends = [-1.0, 1.0].map(|sign| {
            let turned =
                spool.geodesic(&p, &(start.tangent + side * (sign * STEP)), length, 1e-13, usize::MAX).end;
            let moved =
                spool.geodesic(&(p + side * (sign * STEP)), &start.tangent, length, 1e-13, usize::MAX).end;
            [turned.point, moved.point]
        });
        let rate = |i: usize| (ends[1][i] - ends[0][i]).dot(&geodesic.end.binormal()) / (2.0 * STEP);
        assert!((rate(0) - geodesic.jacobi.turn).abs() < 1e-4, "{} {}", rate(0), geodesic.jacobi.turn);
        let transverse = geodesic.start.torsion.abs() < 1e-12;
        assert!(!transverse || (rate(1) - geodesic.jacobi.shift).abs() < 1e-4);
    }
    assert!(crossed > 7, "{crossed}");
    Ok(())
}

#[test]
fn the_solid_is_the_core_grown_by_the_rim() -> Result<(), Error> {
    let (spool, mut dice) = (spool::<f64>()?, Dice::new(6));
    for _ in 0..300 {
        let p = Point3::from(dice.vector(1.5));
        let at = spool.nearest(&p);
        // Outside, the distance from a plain cylinder without rounding, less the radius of the rim.
        let out = [p.x.hypot(p.y) - (RADIUS - RIM), p.z.abs() - (HALF - RIM)].map(|x| x.max(0.0));
        let expected = out[0].hypot(out[1]) - RIM;
        if expected > 0.0 {
            assert!((at.signed_distance - expected).abs() < 1e-15);
        }
        assert!((at.point + at.normal * at.signed_distance - p).norm() < 1e-15);
        assert!(spool.signed_distance(&at.point).abs() < 1e-15);
        let plane = spool.supporting_plane(&p).expect("convex");
        let touching =
            plane.normal.dot(&spool.nearest(&(at.point + plane.normal)).point.coords) - plane.offset;
        assert!(touching.abs() < 1e-15, "{touching}");
    }
    Ok(())
}

#[test]
fn it_is_a_solid_in_any_scalar() -> Result<(), Error> {
    let solid = SolidShape::custom(spool::<f64>()?);
    let cast = solid.cast::<f32>()?;
    let p = Point3::new(0.7, 0.1, -0.9);
    assert!((f64::from(cast.signed_distance(&p.cast())) - solid.signed_distance(&p)).abs() < 1e-6);
    // On the axis, where the distance from it has no derivative.
    let near =
        spool::<Dual64>()?.nearest(&Point3::new(Dual64::new(0.0, 1.0), Dual64::from(0.0), Dual64::from(0.0)));
    assert!(near.signed_distance.eps.is_finite() && near.point.iter().all(|x| x.eps.is_finite()));
    Ok(())
}

type Rig<T> = (ForceSystem<T>, [BodyIndex; 2], Handle<CableSpring<T>>);

/// A cable between two bodies over one obstacle in Ground.
fn rig<T: Real>(surface: impl Wrappable<T>) -> Result<Rig<T>, Error> {
    let mut system = ForceSystem::new();
    let ends = [system.add_body(), system.add_body()];
    let [from, to] = ends.map(|body| Station::on(body, Point3::origin()));
    let path = CablePath::new(from, to)?.over(Obstacle::new(Frame::ground(Pose::identity()), surface)?);
    let cable = system.add(CableSpring::new(path, cable_spring::Parameters::default())?)?;
    Ok((system, ends, cable))
}

fn place<T: Real>(state: &mut State<T>, ends: [BodyIndex; 2], points: [Vector3<T>; 2]) -> Result<(), Error> {
    for (body, p) in ends.into_iter().zip(points) {
        state.set_pose(body, Pose::from(Translation3::from(p)))?;
    }
    Ok(())
}

/// The depth of the straight pieces of a path in a solid at the origin of Ground.
fn depth(spool: &FiniteCylinder<f64>, path: &PathResults<f64>) -> f64 {
    let places = path.segments.iter().flat_map(|segment| {
        (0..=200).map(|i| segment.from_G + (segment.to_G - segment.from_G) * (f64::from(i) / 200.0))
    });
    places.fold(0.0, |depth: f64, p| depth.max(-spool.signed_distance(&p)))
}

#[test]
fn away_from_its_rims_the_path_is_that_over_a_cylinder_without_ends() -> Result<(), Error> {
    let (spool, ends, cable) = rig(spool()?)?;
    let (column, others, other) = rig(Cylinder::new(RADIUS)?)?;
    let mut states = [spool.default_state(), column.default_state()];
    for i in 0..40 {
        let a = 0.05 * f64::from(i);
        let points = [Vector3::new(-1.5, -0.1 + 0.3 * a, -0.3), Vector3::new(1.4, 0.2 * a, 0.6 - 0.4 * a)];
        place(&mut states[0], ends, points)?;
        place(&mut states[1], others, points)?;
        let found = [
            spool.realize_dynamics(&mut states[0])?.of(cable).position.path.clone(),
            column.realize_dynamics(&mut states[1])?.of(other).position.path.clone(),
        ];
        assert!(found[0].contacts[0].in_contact);
        assert!((found[0].length - found[1].length).abs() < 1e-13, "{i}");
        let turns = found[0].contacts[0].turning(spool.element(cable).path().obstacles()[0].surface(), 1e-12);
        let expected =
            found[1].contacts[0].turning(column.element(other).path().obstacles()[0].surface(), 1e-12);
        assert!((turns - expected).abs() < 1e-12, "{turns} {expected}");
        spool.accept_step(&mut states[0])?;
        column.accept_step(&mut states[1])?;
    }
    Ok(())
}

/// Half the length of a rope from (±2, z) over both rims of one end, in a plane through the axis.
fn half_over_an_end<T: Real>(z: T) -> T {
    let lit = T::lit;
    // From the centre of the rim's circle to the end of the rope.
    let (out, up) = (lit(2.0 - (RADIUS - RIM)), z - lit(HALF - RIM));
    let distance = (out * out + up * up).sqrt();
    let angle = lit(FRAC_PI_2) - up.atan2(out) - (lit(RIM) / distance).acos();
    lit(RADIUS - RIM) + (distance * distance - lit(RIM * RIM)).sqrt() + lit(RIM) * angle
}

fn over_an_end<T: Real>(z: T) -> Result<(T, bool), Error> {
    let (system, ends, cable) = rig(spool()?)?;
    let mut state = system.default_state();
    let [zero, two] = [T::zero(), T::lit(2.0)];
    place(&mut state, ends, [Vector3::new(-two, zero, z), Vector3::new(two, zero, z)])?;
    let view = system.realize_position(&mut state)?;
    let path = &view.of(cable).position.path;
    Ok((path.length, path.contacts[0].in_contact))
}

#[test]
fn a_rope_over_an_end_bends_about_its_rims() -> Result<(), Error> {
    let (system, ends, cable) = rig(spool()?)?;
    let mut state = system.default_state();
    for i in 0..60 {
        let z = 0.9 - 0.01 * f64::from(i);
        place(&mut state, ends, [Vector3::new(-2.0, 0.0, z), Vector3::new(2.0, 0.0, z)])?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        let expected = if z < HALF { 2.0 * half_over_an_end(z) } else { 4.0 };
        assert!((path.length - expected).abs() < 1e-12, "{z}: {} {expected}", path.length);
        assert!(path.tracking <= Tracking::Cold && (i == 0) == (path.tracking == Tracking::Cold));
        system.accept_step(&mut state)?;
        if z < HALF - 1e-9 {
            // Without memory, where the way around the side may be shorter.
            let around = 2.0 * ((4.0 - RADIUS * RADIUS).sqrt() + RADIUS * (RADIUS / 2.0).asin());
            assert!((over_an_end(z)?.0 - expected.min(around)).abs() < 1e-12);
        }
    }
    // In single precision, and with derivatives.
    let (length, touches) = over_an_end(0.55_f32)?;
    assert!(touches && (f64::from(length) - 2.0 * half_over_an_end(0.55)).abs() < 2e-6);
    let (length, _) = over_an_end(Dual64::new(0.55, 1.0))?;
    let expected = half_over_an_end(Dual64::new(0.55, 1.0)) * 2.0;
    assert!((length.re - expected.re).abs() < 1e-12 && (length.eps - expected.eps).abs() < 1e-11);
    Ok(())
}

/// The length of a rope in a plane through the axis, from (−2, z) over the farther rim of an end, and over the nearer one where it
/// hides that, to (2, low).
fn over_two_rims(z: f64, low: f64) -> f64 {
    if z < HALF {
        return half_over_an_end(z) + half_over_an_end(low);
    }
    let circle = [RADIUS - RIM, HALF - RIM];
    let [(from, first), (to, last)] = [[-2.0, z], [2.0, low]].map(|[x, z]| {
        let (out, up) = (x - circle[0], z - circle[1]);
        (out.hypot(up), up.atan2(out))
    });
    let angle = first - last - (RIM / from).acos() - (RIM / to).acos();
    (from * from - RIM * RIM).sqrt() + (to * to - RIM * RIM).sqrt() + RIM * angle
}

#[test]
fn a_cable_over_one_rim_comes_down_to_the_other_and_lifts_off_it_again() -> Result<(), Error> {
    for (steps, low) in [(2_i32, 0.3), (7, 0.2), (60, 0.3), (1000, 0.25)] {
        let (system, ends, cable) = rig(spool()?)?;
        let mut state = system.default_state();
        for i in 0..=2 * steps {
            let z = 0.6 + 0.7 * f64::from((i - steps).abs()) / f64::from(steps);
            place(&mut state, ends, [Vector3::new(-2.0, 0.0, z), Vector3::new(2.0, 0.0, low)])?;
            let dynamics = system.realize_dynamics(&mut state)?;
            let path = &dynamics.of(cable).position.path;
            let expected = over_two_rims(z, low);
            assert!((path.length - expected).abs() < 1e-11, "{steps} {i}: {} {expected}", path.length);
            assert!(
                steps < 60 || i == 0 || path.tracking == Tracking::Warm,
                "{steps} {i}: {:?}",
                path.tracking
            );
            system.accept_step(&mut state)?;
        }
    }
    Ok(())
}

#[test]
fn a_length_changes_by_no_more_than_the_ends_move() -> Result<(), Error> {
    const STEPS: u32 = 100;
    let mut dice = Dice::new(2527);
    for scene in 0..150 {
        let (radius, half) = (dice.between(0.2, 0.6), dice.between(0.1, 0.7));
        let spool = FiniteCylinder::new(radius, half, dice.between(0.02, 0.9) * half.min(0.5 * radius))?;
        let (system, ends, cable) = rig(spool)?;
        let mut outside = || loop {
            let p = dice.vector(1.5);
            if spool.signed_distance(&p.into()) > 0.35 {
                return p;
            }
        };
        let points = [outside(), outside()];
        let moved = [dice.vector(0.2), dice.vector(0.2)];
        let step = (moved[0].norm() + moved[1].norm()) / f64::from(STEPS);
        let mut state = system.default_state();
        let mut before: Option<f64> = None;
        for i in (0..=STEPS).chain((0..STEPS).rev()) {
            let u = f64::from(i) / f64::from(STEPS);
            place(&mut state, ends, [0, 1].map(|k| points[k] + moved[k] * u))?;
            let dynamics = system.realize_dynamics(&mut state)?;
            let path = &dynamics.of(cable).position.path;
            if let Some(before) = before.filter(|_| path.tracking == Tracking::Warm) {
                let change = (path.length - before).abs();
                assert!(change < step * (1.0 + 1e-9), "{scene} {i}: {change} {step}");
            }
            before = Some(path.length);
            system.accept_step(&mut state)?;
        }
    }
    Ok(())
}

#[test]
fn along_the_side_the_contact_grows_from_rim_to_rim_while_the_length_is_continuous() -> Result<(), Error> {
    const STEP: f64 = 0.005;
    let (system, ends, cable) = rig(spool()?)?;
    let mut state = system.default_state();
    let (mut before, mut longest) = (None, 0.0_f64);
    for i in 0..200 {
        let u = STEP * f64::from(i);
        place(
            &mut state,
            ends,
            [Vector3::new(0.1, 0.6 - 0.5 * u, -2.0), Vector3::new(-0.2, 0.6 - 0.3 * u, 2.0)],
        )?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        assert!(depth(&spool()?, path) < 1e-9);
        assert!(i == 0 || path.tracking <= Tracking::Relaxed, "{u}: {:?}", path.tracking);
        // A shortest path changes by no more than its ends move.
        if let Some(before) = before {
            let change: f64 = path.length - before;
            assert!((0.0..=0.8 * STEP).contains(&change), "{u}: {change}");
        }
        before = Some(path.length);
        longest = longest.max(path.contacts[0].geodesic.length);
        system.accept_step(&mut state)?;
    }
    assert!(longest > 1.4, "{longest}");
    Ok(())
}

#[test]
fn a_cable_that_comes_to_the_rim_slips_off_and_then_over_the_end() -> Result<(), Error> {
    let (system, ends, cable) = rig(spool()?)?;
    let mut state = system.default_state();
    let (mut before, mut slips) = (None, 0);
    for i in 0..=100 {
        let z = 0.5 + 0.005 * f64::from(i);
        place(&mut state, ends, [Vector3::new(-1.5, -0.3, z), Vector3::new(1.5, -0.3, z)])?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        assert!(depth(&spool()?, path) < 1e-9);
        if let Some(before) = before {
            // Nothing holds it on the rim: there it falls to the shorter path over the end, once.
            let change: f64 = path.length - before;
            assert!(change < 1e-12, "{z}: {change}");
            if change < -0.01 {
                slips += 1;
                assert!((z - (HALF - RIM)).abs() < 0.011, "{z}");
            } else {
                assert!(change > -0.01 * 2.0 * 0.4, "{z}: {change}");
            }
        }
        before = Some(path.length);
        system.accept_step(&mut state)?;
    }
    assert_eq!(slips, 1);
    assert_eq!(before, Some(3.0));
    Ok(())
}

#[test]
fn a_geodesic_leaves_a_thin_rim_at_the_side_however_long_it_is() -> Result<(), Error> {
    let [radius, half] = [0.5_f64, 0.2];
    for rim in [0.02, 5e-3, 5e-4, 1e-5] {
        let spool = FiniteCylinder::new(radius, half, rim)?;
        // From the middle of the lower rim upwards: an eighth of its circle, then straight.
        let middle = core::f64::consts::FRAC_1_SQRT_2 * rim;
        let start = Point3::new(radius - rim + middle, 0.0, -(half - rim) - middle);
        for length in [2.0, 6.0, 7.0, 8.0, 20.0, 100.0].map(|part| part * rim) {
            let end = spool.geodesic(&start, &Vector3::z(), length, 1e-12, usize::MAX).end.point;
            let z = -(half - rim) + length - 0.5 * FRAC_PI_2 * rim;
            assert!(
                z > half - rim || (end - Point3::new(radius, 0.0, z)).norm() < 1e-9,
                "{rim} {length}: {end}"
            );
        }
    }
    Ok(())
}

#[test]
fn around_the_side_of_one_with_sharp_rims_a_shorter_path_than_over_its_end_is_found() -> Result<(), Error> {
    let [radius, reach] = [0.1_f64, 0.15];
    for (rim, z) in [(2e-3, 0.11), (2e-4, 0.0), (2e-3, -0.05), (1e-5, 0.12)] {
        let (system, ends, cable) = rig(FiniteCylinder::new(radius, 0.2, rim)?)?;
        let mut state = system.default_state();
        place(&mut state, ends, [-reach, reach].map(|x| Vector3::new(x, 0.0, z)))?;
        let length = system.realize_position(&mut state)?.of(cable).position.path.length;
        let straight = (reach * reach - radius * radius).sqrt();
        let arc = core::f64::consts::PI - 2.0 * (radius / reach).acos();
        assert!((length - 2.0 * straight - radius * arc).abs() < 1e-12, "{rim} {z}: {length}");
    }
    Ok(())
}

#[test]
fn almost_all_paths_over_random_ones_are_found() -> Result<(), Error> {
    let mut dice = Dice::new(9);
    let (mut failed, mut touching) = (0, 0);
    for i in 0..600 {
        let (radius, half) = (dice.between(0.3, 0.8), dice.between(0.1, 1.0));
        let rim = dice.between(0.05, 0.9) * half.min(0.5 * radius);
        let spool = FiniteCylinder::new(radius, half, rim)?;
        let (system, ends, cable) = rig(spool)?;
        let mut state = system.default_state();
        let mut outside = || loop {
            let p = dice.vector(1.5);
            if spool.signed_distance(&p.into()) > 0.05 {
                return p;
            }
        };
        let points = [outside(), outside()];
        place(&mut state, ends, points)?;
        match system.realize_position(&mut state) {
            Ok(view) => {
                let path = &view.of(cable).position.path;
                touching += usize::from(path.contacts[0].in_contact);
                assert!(depth(&spool, path) < 1e-8, "{i}");
            }
            Err(_) => failed += 1,
        }
    }
    assert!(failed <= 1 && touching > 100, "{failed} {touching}");
    Ok(())
}

#[test]
fn a_line_through_its_axis_is_wrapped_as_one_beside_it() -> Result<(), Error> {
    let (system, ends, cable) = rig(spool()?)?;
    let length = |points: [Vector3<f64>; 2]| -> Result<f64, Error> {
        let mut state = system.default_state();
        place(&mut state, ends, points)?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts[0].in_contact && depth(&spool()?, path) < 1e-8, "{points:?}");
        Ok(path.length)
    };
    let lines = [
        [Vector3::new(-1.5, 0.0, 0.0), Vector3::new(1.4, 0.0, 0.0)],
        [Vector3::new(0.0, 1.5, 0.3), Vector3::new(0.0, -1.1, 0.3)],
        [Vector3::new(1.0, 1.0, -0.4), Vector3::new(-1.0, -1.0, 0.2)],
        [Vector3::new(0.0, 0.0, -1.5), Vector3::new(0.0, 0.0, 1.3)],
        [Vector3::new(-0.6, 0.0, -1.2), Vector3::new(0.6, 0.0, 1.2)],
        [Vector3::new(-0.3, 0.0, -1.2), Vector3::new(0.3, 0.0, 1.2)],
    ];
    for line in lines {
        let through = length(line)?;
        for aside in [Vector3::new(1e-4, 3e-5, 0.0), Vector3::new(-4e-5, 1e-4, 0.0)] {
            let beside = length(line.map(|p| p + aside))?;
            assert!(through < beside + 4e-4, "{line:?}: {through} {beside}");
        }
    }
    Ok(())
}

/// A cable that is fixed on a flat end lifts off it, where no arc of negative length turns back.
#[test]
fn a_cable_lifts_off_a_flat_end() -> Result<(), Error> {
    let mut system = ForceSystem::<f64>::new();
    let load = system.add_body();
    let flat = Obstacle::new(Frame::ground(Pose::identity()), FiniteCylinder::new(0.4, 0.15, 0.12)?)?;
    let fixed = Point3::new(0.1, 0.0, 0.15);
    let path = CablePath::new(Station::ground(fixed), Station::on(load, Point3::origin()))?.over(flat);
    let elastic = cable_spring::Parameters { stiffness: 100.0, slack_length: 0.1, dissipation: 0.0 };
    let cable = system.add(CableSpring::new(path, elastic)?)?;
    let mut state = system.default_state();
    for z in [-0.5, 0.0, 0.5, 0.0, 0.3, -0.5, 1.0, 0.15, 0.2, 0.16] {
        state.set_pose(load, Pose::translation(1.0, 0.0, z))?;
        let dynamics = system.realize_dynamics(&mut state)?;
        let path = &dynamics.of(cable).position.path;
        let straight = (Point3::new(1.0, 0.0, z) - fixed).norm();
        if z < 0.15 {
            assert!(path.length > straight + 1e-3, "{z}: {} {straight}", path.length);
        } else {
            assert!((path.length - straight).abs() < 1e-12, "{z}: {} {straight}", path.length);
        }
        assert!(path.contacts[0].geodesic.length > -1e-12 || !path.contacts[0].in_contact, "{z}");
        system.accept_step(&mut state)?;
    }
    Ok(())
}

/// Past a thin disk above whose centre the hint is, the straight line leads to the path.
#[test]
fn hints_above_a_thin_disk_hide_no_path() -> Result<(), Error> {
    for seed in [88, 181, 234] {
        let deal = &mut Numbers::new(seed);
        let radius = deal.between(0.35, 0.5);
        let shift = [deal.between::<f64>(-0.03, 0.03), deal.between(-0.05, 0.05)];
        let tilt = Rotation3::new(Vector3::x() * deal.between::<f64>(0.8, 1.4));
        let X_GS = Pose::from_parts(Translation3::new(0.0, shift[0] - 0.35, shift[1]), tilt);
        let hint = X_GS.inverse() * Point3::from(X_GS.translation.vector + Vector3::y() * 0.6);
        let [from, to] = [-1.7, 1.7]
            .map(|x| Point3::from([x, -0.3, 0.1].map(|x: f64| x + deal.between::<f64>(-0.1, 0.1))));
        let solve = |hint: Option<Point3<f64>>| -> Result<f64, Error> {
            let mut disk = Obstacle::new(Frame::ground(X_GS), FiniteCylinder::new(radius, 0.15, 0.12)?)?;
            if let Some(hint) = hint {
                disk = disk.with_contact_hint(hint)?;
            }
            let mut system = ForceSystem::new();
            let path = CablePath::new(Station::ground(from), Station::ground(to))?.over(disk);
            let elastic = cable_spring::Parameters { stiffness: 100.0, slack_length: 0.1, dissipation: 0.0 };
            let cable = system.add(CableSpring::new(path, elastic)?)?;
            let mut state = system.default_state();
            Ok(system.realize_dynamics(&mut state)?.of(cable).position.path.length)
        };
        let (hinted, free) = (solve(Some(hint))?, solve(None)?);
        assert!((hinted - free).abs() < 1e-9, "{seed}: {hinted} {free}");
    }
    Ok(())
}

/// Two cans, of which the first is touched near a flat end, and ends and the second move by 2 to 4 cm in all. Midway the arc has
/// to be laid over the end, in one step or in many: there is another path, which is 5 cm longer.
#[test]
fn a_path_that_motion_does_not_lead_to_is_not_taken_for_the_one_that_was_followed() -> Result<(), Error> {
    let between = |[a, b]: [[f64; 3]; 2], part: f64| {
        let [a, b] = [a, b].map(Vector3::from);
        a + (b - a) * part
    };
    let start = [[-1.3192, -0.6934, 0.0578], [-1.2970, -0.6881, 0.0733]];
    let end = [[4.1482, 1.4420, -0.7369], [4.1490, 1.4723, -0.7137]];
    let middle = [[2.4667, 0.4874, -0.4455], [2.4674, 0.5032, -0.4464]];
    let turn = [[0.3039, 0.0219, 0.3507], [0.3067, 0.0123, 0.3623]];
    let mut system = ForceSystem::<f64>::new();
    let [first, last, can] = [system.add_body(), system.add_body(), system.add_body()];
    let fixed = FiniteCylinder::new(0.7855, 0.5823, 0.0067)?;
    let moving = FiniteCylinder::new(0.5192, 0.7686, 0.0056)?;
    let path = CablePath::new(Station::on(first, Point3::origin()), Station::on(last, Point3::origin()))?
        .over(Obstacle::new(Frame::ground(Pose::identity()), fixed)?)
        .over(Obstacle::new(Frame::of(can), moving)?);
    for steps in [1, 2, 20, 100, 500] {
        let mut state = system.default_state();
        let (mut memory, mut results) = (path.no_wraps(), PathResults::default());
        let mut before = None;
        for step in 0..=steps {
            let part = f64::from(step) / f64::from(steps);
            let shift = |of: [[f64; 3]; 2]| Translation3::from(between(of, part));
            state.set_pose(first, Pose::from_parts(shift(start), Rotation3::identity()))?;
            state.set_pose(last, Pose::from_parts(shift(end), Rotation3::identity()))?;
            state.set_pose(can, Pose::from_parts(shift(middle), Rotation3::new(between(turn, part))))?;
            path.solve(state.positions(), &memory, &mut results).expect("a path");
            // Together they move by less than 12 cm relative to each other.
            let leaps =
                before.is_some_and(|before: f64| (results.length - before).abs() > 0.12 / f64::from(steps));
            assert!(!leaps || results.tracking > Tracking::Followed, "{steps} {step}: {}", results.length);
            before = Some(results.length);
            results.remember(&mut memory);
        }
        assert!((results.length - 6.161_969).abs() < 1e-6, "{steps}: {}", results.length);
    }
    Ok(())
}

/// Cans with thin rims, without memory: the same path from either end of the cable, the shortest that was found in many turned
/// frames.
#[test]
fn a_cable_over_a_can_with_a_thin_rim_is_the_same_from_either_end() -> Result<(), Error> {
    type Can = ([f64; 3], [f64; 3], [f64; 3], [[f64; 3]; 2], f64);
    let cans: [Can; 8] = [
        (
            [0.682, 0.30071, 0.00528],
            [0.13766, 0.18681, -0.1636],
            [0.83217, 0.54358, -0.67725],
            [[-3.57596, 0.6388, -0.07], [2.15186, -0.25899, -0.52378]],
            5.890_173_013,
        ),
        (
            [0.75804, 0.36624, 0.00365],
            [0.17044, -0.35675, 0.07636],
            [-0.31209, 0.11249, -0.45439],
            [[-3.16138, -0.26766, 0.35329], [2.45811, -0.54947, -0.63944]],
            5.714_714_596,
        ),
        (
            [0.78474, 0.84398, 0.00331],
            [0.08058, 0.39108, 0.08838],
            [-1.87714, 0.63957, -1.26315],
            [[-2.84897, -0.33327, -0.17197], [2.27725, 0.83131, 0.26986]],
            5.534_787_210,
        ),
        (
            [0.71204, 0.90071, 0.00964],
            [-0.17542, -0.04335, 0.10392],
            [-2.18717, 0.45003, -2.00624],
            [[-2.91481, 0.85037, 0.22465], [2.1855, 0.36064, 0.15368]],
            5.127_791_684,
        ),
        (
            [0.63953, 0.35362, 0.00404],
            [0.27904, 0.08619, 0.31398],
            [1.00918, 1.25544, 0.52725],
            [[-3.0887, 0.05554, 0.86139], [3.52695, 0.06866, -0.49106]],
            6.832_366_978,
        ),
        (
            [0.51979, 0.17846, 0.00442],
            [0.06715, -0.15287, -0.02483],
            [0.43626, -0.30473, 0.0805],
            [[-2.31991, -0.56972, 0.16446], [3.37832, 0.16144, -0.12173]],
            5.772_976_235,
        ),
        (
            [0.75149, 0.29567, 0.01966],
            [-0.20133, 0.2645, 0.30901],
            [-0.37927, -0.04423, -0.24276],
            [[-2.7518, 0.5861, 0.71553], [2.10002, 0.34325, -0.1827]],
            5.013_947_207,
        ),
        (
            [0.75976, 0.160_798, 0.004_126],
            [0.0; 3],
            [0.0; 3],
            [[0.99924, -2.11748, 2.33667], [-0.405_539, 1.896_911, -2.134_572]],
            6.255_693,
        ),
    ];
    for (i, ([radius, half, rim], place, turn, ends, length)) in cans.into_iter().enumerate() {
        let X_GS =
            Pose::from_parts(Translation3::from(Vector3::from(place)), Rotation3::new(Vector3::from(turn)));
        let [from, to] = ends.map(|p| Station::ground(Point3::from(p)));
        for [from, to] in [[from, to], [to, from]] {
            let can = Obstacle::new(Frame::ground(X_GS), FiniteCylinder::new(radius, half, rim)?)?;
            let path = CablePath::new(from, to)?.over(can);
            let mut results = PathResults::default();
            let state = ForceSystem::<f64>::new().default_state();
            path.solve(state.positions(), &path.no_wraps(), &mut results).expect("a path");
            assert!((results.length - length).abs() < 1e-6, "{i}: {} {length}", results.length);
        }
    }
    Ok(())
}
