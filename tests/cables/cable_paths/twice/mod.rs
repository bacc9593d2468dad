//! Obstacles that are touched several times, and hollows within a contact, which the cable bridges.

mod memory;
mod motion;

use force_elements::cable::{CablePath, Obstacle, PathError, PathResults};
use force_elements::nalgebra::{Point3, Vector2};
use force_elements::shapes::Torus;
use force_elements::{CableSpring, Error, ForceSystem, Frame, Handle, Pose, Station, cable_spring};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::seeds;
use force_elements_scenes::solids::Land;

use super::{GROUND, on_ground, one_end_free};
use force_elements_scenes::humps::{Peanut, Ridges, out_of_peanut, out_of_ring, pulled_tight};

/// A cable between the origins of two bodies.
struct Rig {
    system: ForceSystem<f64>,
    cable: Handle<CableSpring<f64>>,
    ends: [force_elements::BodyIndex; 2],
}

impl Rig {
    fn over(obstacle: Obstacle<f64>) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let ends = [system.add_body(), system.add_body()];
        let [from, to] = ends.map(|body| Station { body, p_B: Point3::origin() });
        let path = CablePath::new(from, to)?.over(obstacle);
        let elastic = cable_spring::Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.3 };
        let cable = system.add(CableSpring::new(path, elastic)?)?;
        Ok(Self { system, cable, ends })
    }
}

fn touches(path: &PathResults<f64>) -> usize {
    path.contacts.iter().filter(|contact| contact.in_contact).count()
}

/// Random ridges with two points above them.
fn landscape(dice: &mut Dice) -> (Ridges, [[f64; 2]; 2]) {
    loop {
        let mut x = 0.0;
        let humps = (0..2 + dice.below(4))
            .map(|_| {
                x += dice.between(0.6, 1.4);
                [x, dice.between(0.2, 0.7), dice.between(0.25, 0.5)]
            })
            .collect();
        let ridges = Ridges(humps);
        let ends = [-0.5, x + 0.8].map(|x| [x, dice.between(0.05, 0.6)]);
        if ends.iter().all(|&[x, z]| ridges.profile(x)[0] < z) {
            return (ridges, ends);
        }
    }
}

/// Requires that straight segments stay outside, and that they leave contacts along tangents.
fn check_path(path: &PathResults<f64>, height: impl Fn(&Point3<f64>) -> f64) {
    const SAMPLES: u32 = 300;
    for (i, segment) in path.segments.iter().enumerate() {
        for k in 0..=SAMPLES {
            let p =
                segment.from_G + segment.direction_G * (segment.length * f64::from(k) / f64::from(SAMPLES));
            // Kinks of 1e-9 rad on segments of some metres.
            assert!(height(&p) > -2e-8, "segment {i} at {p:?}: {}", height(&p));
        }
        if let Some(contact) = segment.to_contact.map(|to| &path.contacts[to]) {
            let arc = &contact.geodesic;
            assert!((segment.direction_G - arc.start.tangent).norm() < 2e-8);
            assert!((path.segments[i + 1].direction_G - arc.end.tangent).norm() < 2e-8);
            assert!(arc.length >= 0.0 && arc.start.curvature > -1e-6 && arc.end.curvature > -1e-6);
        }
    }
}

/// Over an extruded profile the path unrolls to a straight line: its length is that of the plane string and the way
/// aside, squared and summed.
#[test]
fn a_cable_over_several_ridges_is_the_taut_string() -> Result<(), Error> {
    let mut dice = Dice::new(3);
    let mut counts = [0; 6];
    for case in 0..300 {
        let (ridges, [a, b]) = landscape(&mut dice);
        let aside = dice.between(-2.0, 2.0);
        let (plane, count, _) = ridges.taut(a, b);
        let from = Station { body: GROUND, p_B: Point3::new(a[0], 0.0, a[1]) };
        let (system, body, cable) = one_end_free(from, [on_ground(ridges.clone())?])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(b[0], aside, b[1]))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        // Points of the profile 3e-5 m apart.
        let expected = plane.hypot(aside);
        assert!((path.length - expected).abs() < 1e-9, "{case}: {} {expected}", path.length);
        assert_eq!(touches(path), count, "{case}");
        check_path(path, |p| p.z - ridges.profile(p.x)[0]);
        counts[count] += 1;
    }
    assert!(counts[1] > 30 && counts[2] > 30 && counts[3] > 20, "{counts:?}");
    Ok(())
}

/// A hill with a skirt, as a map of heights and as a formula.
#[test]
fn a_cable_over_a_hill_and_its_skirt_is_the_taut_string() -> Result<(), Error> {
    let hill = Ridges(vec![[0.0, 0.8, 0.4], [1.6, 0.4, 0.5], [-1.2, 0.4, 0.4]]);
    let height = |i: i32| hill.profile(0.05 * f64::from(i))[0];
    let rows = (-20..=20).map(|_| (-60..=60).map(height).collect()).collect();
    let map = Land::new(Vector2::new(-3.0, -2.0), Vector2::new(0.05, 0.1), rows).map()?;
    let mut counts = [0; 4];
    for (low, aside) in [(0.08, 0.5), (0.15, 0.3), (0.3, -0.8), (0.6, 0.0), (0.9, 0.1)] {
        let (plane, count, _) = hill.taut([-2.0, 0.05], [2.4, low]);
        let from = Station { body: GROUND, p_B: Point3::new(-2.0, 0.0, 0.05) };
        let (system, body, cable) = one_end_free(from, [on_ground(map.clone())?])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(2.4, aside, low))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        // The spline between nodes 0.05 m apart.
        assert!((path.length - plane.hypot(aside)).abs() < 1e-6, "{low}: {} {plane}", path.length);
        assert_eq!(touches(path), count, "{low}");
        counts[count] += 1;
    }
    assert!(counts[2] > 0 && counts[3] > 0, "{counts:?}");
    Ok(())
}

/// Where a line enters the ring's tube, and from there straight out of it.
/// A string laid along the path, pushed off it, and pulled tight again returns to its length.
#[test]
fn a_string_pulled_tight_is_no_shorter_than_a_path_that_touches_twice() -> Result<(), Error> {
    let mut dice = Dice::new(5);
    let mut twice = [0; 2];
    for case in 0..seeds(60) {
        let is_ring = case % 2 == 0;
        let tube = dice.between(0.15, 0.4);
        let obstacle = if is_ring { on_ground(Torus::new(1.0, tube)?)? } else { on_ground(Peanut)? };
        let (reach, high) = if is_ring { (1.2, 0.15) } else { (0.3, 0.3) };
        let ends =
            [-3.0, 3.0].map(|x| Point3::new(x, dice.between(-reach, reach), dice.between(-high, high)));
        let (system, body, cable) = one_end_free(Station { body: GROUND, p_B: ends[0] }, [obstacle])?;
        let mut state = system.default_state();
        state.set_pose(body, Pose::translation(ends[1].x, ends[1].y, ends[1].z))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        if touches(path) < 2 {
            continue;
        }
        twice[usize::from(is_ring)] += 1;
        let out = |p| if is_ring { out_of_ring(p, tube) } else { out_of_peanut(p) };
        check_path(path, |p| if out(*p) == *p { 0.0 } else { -(out(*p) - p).norm() });
        let mut string = path.sample(system.element(cable).path(), 0.02);
        let last = string.len() - 1;
        for p in &mut string[1..last] {
            *p = out(*p + dice.vector(0.03));
        }
        let tight = pulled_tight(&string, &out);
        // Chords of a thousand beads cut arcs short by some 1e-5.
        assert!((tight - path.length).abs() < 5e-5, "{case}: {tight} {}", path.length);
    }
    assert!(twice.iter().all(|&count| count > seeds(60) / 7), "{twice:?}");
    Ok(())
}

#[test]
fn a_path_that_needs_more_contacts_than_there_is_room_for_is_refused() -> Result<(), Error> {
    let three = Ridges(vec![[0.0, 0.5, 0.3], [1.0, 0.6, 0.3], [2.0, 0.5, 0.3]]);
    for most in 1..=3 {
        let obstacle = on_ground(three.clone())?.with_most_contacts(most)?;
        let rig = Rig::over(obstacle)?;
        let mut state = rig.system.default_state();
        state.set_pose(rig.ends[0], Pose::translation(-1.0, 0.0, 0.1))?;
        state.set_pose(rig.ends[1], Pose::translation(3.0, 0.1, 0.1))?;
        match rig.system.realize_position(&mut state) {
            Ok(view) => {
                assert_eq!((touches(&view.of(rig.cable).position.path), most), (3, 3));
            }
            Err(error) => {
                let expected = PathError::TooManyContacts { obstacle: 0, most };
                assert!(most < 3 && error.own() == Some(&expected), "{error}");
            }
        }
    }
    for wrong in [0, 1001] {
        assert!(matches!(
            Obstacle::<f64>::new(Frame::ground(Pose::identity()), Peanut)?.with_most_contacts(wrong),
            Err(PathError::InvalidValue(value)) if value.name == "most_contacts"
        ));
    }
    Ok(())
}
