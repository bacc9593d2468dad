//! Further contacts in motion: touchdown and liftoff without a jump, rates, forces and power.

use core::f64::consts::FRAC_PI_2;

use force_elements::cable::{CablePath, Obstacle, PathResults, Tracking, Wrap, Wrappable};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::Torus;
use force_elements::{Error, ForceSystem, Frame, Pose, SpatialVelocity, Station};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::seeds;

use super::{Rig, landscape, touches};
use crate::cable_paths::{GROUND, on_ground};
use force_elements_scenes::humps::{Peanut, Ridges};

/// Where both ends are at this time of a motion from 0 to 1.
type Ends<'a> = &'a dyn Fn(f64) -> [Vector3<f64>; 2];

/// What is seen on the way.
#[derive(Default)]
struct Seen {
    /// Steps with so many contacts.
    steps: [usize; 6],
    /// How often their number changed.
    changes: usize,
    /// How often one contact became two or two became one.
    splits: usize,
}

/// Follows a cable; each end moves less than its way in a step, and the length changes by no more than both: it is
/// nowhere steeper in the ends.
fn follow(
    rig: &Rig,
    ends: Ends<'_>,
    steps: u32,
    mut at_each: impl FnMut(f64, f64, usize),
) -> Result<Seen, Error> {
    let mut state = rig.system.default_state();
    let mut seen = Seen::default();
    let mut was: Option<(f64, [Vector3<f64>; 2], usize)> = None;
    for i in 0..=steps {
        let time = f64::from(i) / f64::from(steps);
        let here = ends(time);
        for (body, p) in rig.ends.into_iter().zip(here) {
            // By differences, exact to the square of a millionth.
            const H: f64 = 1e-6;
            let k = usize::from(body == rig.ends[1]);
            let rate = (ends(time + H)[k] - ends(time - H)[k]) / (2.0 * H);
            let V = SpatialVelocity::new(Vector3::zeros(), rate);
            state.set_body(body, Pose::from(Translation3::from(p)), V)?;
        }
        let view = rig.system.realize_dynamics(&mut state)?;
        let at = view.of(rig.cable);
        let path = &at.position.path;
        let count = touches(path);
        assert!(
            i == 0 || path.tracking == Tracking::Warm,
            "{time}: {:?} with {count} contacts",
            path.tracking
        );
        // The power of the tension on the bodies is minus the tension times the rate of length.
        let power: f64 =
            rig.ends.iter().map(|&body| view.velocities().velocity(body).power(&view.body_force(body))).sum();
        let expected = -at.dynamics.tension * at.velocity.length_rate;
        assert!((power - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{time}: {power} {expected}");
        // Forces on bodies and Ground sum to zero.
        let total = rig
            .ends
            .iter()
            .fold(view.body_force(GROUND).force, |sum, &body| sum + view.body_force(body).force);
        assert!(total.norm() < 1e-9, "{time}: {total:?}");
        if let Some((length, before, count_before)) = was {
            let moved: f64 = here.iter().zip(before).map(|(p, q)| (p - q).norm()).sum();
            assert!(
                (path.length - length).abs() <= moved + 1e-12,
                "{time}: {length} to {} with {count_before} to {count} contacts",
                path.length
            );
            seen.changes += usize::from(count != count_before);
            seen.splits += usize::from([count, count_before] == [1, 2] || [count, count_before] == [2, 1]);
        }
        seen.steps[count] += 1;
        at_each(time, path.length, count);
        was = Some((path.length, here, count));
        rig.system.accept_step(&mut state)?;
    }
    Ok(seen)
}

#[test]
fn a_cable_lowered_over_ridges_touches_and_leaves_them_as_the_taut_string_does() -> Result<(), Error> {
    let mut dice = Dice::new(9);
    let mut changes = 0;
    for _ in 0..seeds(25) {
        let (ridges, [a, b]) = landscape(&mut dice);
        let aside = dice.between(-1.0, 1.0);
        let rise = [dice.between(0.3, 1.2), dice.between(0.3, 1.2)];
        let rig = Rig::over(on_ground(ridges.clone())?)?;
        let ends = |time: f64| {
            let swing = 0.5 + 0.5 * (6.0 * time).cos();
            [
                Vector3::new(a[0], 0.0, a[1] + rise[0] * swing),
                Vector3::new(b[0], aside, b[1] + rise[1] * (3.0 * time).cos().powi(2)),
            ]
        };
        let mut compared = 0;
        let seen = follow(&rig, &ends, 300, |time, length, count| {
            compared += 1;
            if compared % 10 == 0 {
                let [p, q] = ends(time);
                let (plane, expected, _) = ridges.taut([p.x, p.z], [q.x, q.z]);
                assert!((length - plane.hypot(aside)).abs() < 1e-9, "{time}: {length} {plane}");
                assert_eq!(count, expected, "{time}");
            }
        })?;
        changes += seen.changes;
    }
    assert!(u64::try_from(changes).is_ok_and(|changes| changes > 2 * seeds(25)), "{changes}");
    Ok(())
}

#[test]
fn a_ring_swept_through_a_cable_is_touched_on_both_sides_without_a_jump() -> Result<(), Error> {
    for (lean, aside) in [(0.0, 0.0), (0.05, 0.1), (0.1, 0.2), (-0.05, 0.3)] {
        let X = Pose::from_parts(
            Translation3::identity(),
            Rotation3::from_axis_angle(&Vector3::x_axis(), lean * FRAC_PI_2),
        );
        let rig = Rig::over(Obstacle::new(Frame::on(GROUND, X), Torus::new(1.0, 0.25)?)?)?;
        let ends = |time: f64| {
            let drop = 0.9 - 0.85 * (FRAC_PI_2 * 2.0 * time).sin();
            [Vector3::new(-3.0, aside - 0.1, drop), Vector3::new(3.0, aside + 0.3 * time, drop + 0.05)]
        };
        let seen = follow(&rig, &ends, 2000, |_, _, _| {})?;
        assert!(seen.steps[0] > 100 && seen.steps[2] > 200 && seen.changes >= 2, "{:?}", seen.steps);
    }
    Ok(())
}

/// A cable across the waist of a peanut, turned along it: a hollow grows within its contact.
fn turned(steps: u32, skew: f64, high: f64) -> Result<(Rig, Seen), Error> {
    let rig = Rig::over(on_ground(Peanut)?)?;
    let ends = |time: f64| {
        let (s, c) = (1.5 * (2.0 * FRAC_PI_2 * time).sin()).sin_cos();
        [
            Vector3::new(-2.5 * s, -2.5 * c, high),
            Vector3::new(2.5 * s + skew * time, 2.5 * c, high - skew * time),
        ]
    };
    let seen = follow(&rig, &ends, steps, |_, _, _| {})?;
    Ok((rig, seen))
}

#[test]
fn a_hollow_that_grows_within_a_contact_is_bridged_and_one_that_vanishes_closes() -> Result<(), Error> {
    for (skew, high) in [(0.0, 0.2), (0.05, 0.1), (0.15, 0.0)] {
        let (_, seen) = turned(3000, skew, high)?;
        assert!(seen.steps[1] > 300 && seen.steps[2] > 300 && seen.splits == 2, "{:?}", seen.steps);
    }
    Ok(())
}

#[test]
fn the_rate_of_length_is_that_of_differences_with_two_contacts() -> Result<(), Error> {
    const H: f64 = 1e-4;
    let two = Ridges(vec![[0.0, 0.5, 0.4], [1.3, 0.6, 0.4]]);
    let obstacles = [on_ground(two)?, on_ground(Torus::new(1.0, 0.3)?)?, on_ground(Peanut)?];
    for (obstacle, low) in obstacles.into_iter().zip([0.1, 0.1, 0.3]) {
        let rig = Rig::over(obstacle)?;
        let mut state = rig.system.default_state();
        let place =
            |t: f64| [Vector3::new(-3.0, 0.1, low), Vector3::new(3.0 + 0.5 * t, 0.2 * t, low - 0.7 * t)];
        let rate = [Vector3::zeros(), Vector3::new(0.5, 0.2, -0.7)];
        let mut length = |t: f64| -> Result<(f64, f64, usize), Error> {
            for ((body, p), v) in rig.ends.into_iter().zip(place(t)).zip(rate) {
                let V = SpatialVelocity::new(Vector3::zeros(), v);
                state.set_body(body, Pose::from(Translation3::from(p)), V)?;
            }
            let view = rig.system.realize_velocity(&mut state)?;
            let at = view.of(rig.cable);
            Ok((at.position.path.length, at.velocity.length_rate, touches(&at.position.path)))
        };
        let (_, rate, count) = length(0.0)?;
        assert_eq!(count, 2);
        // The third derivative is of order one.
        let difference = (length(H)?.0 - length(-H)?.0) / (2.0 * H);
        assert!((rate - difference).abs() < 1e-8, "{rate} {difference}");
    }
    Ok(())
}

/// An arc over the inside of a ring, remembered, whose curvature is least, and negative, between the last place where it is sampled
/// and its end; and the same arc in the opposite direction.
#[test]
fn a_hollow_between_the_last_sample_of_a_contact_and_its_end_is_bridged() -> Result<(), Error> {
    let ring = Torus::new(0.073_090_984_105_337_9, 0.038_596_607_835_498_83)?;
    let start = Point3::new(0.040_710_733_317_435_09, 0.005_517_362_189_351_968, -0.021_568_055_448_296_687);
    let ahead = Vector3::new(-0.374_543_739_768_972_6, -0.633_484_364_389_739_1, 0.677_063_178_051_797_6);
    let arc = Wrappable::geodesic(&ring, &start, &ahead, 0.034_073_124_223_412_826, 1e-12, usize::MAX);
    let [a, b] = [arc.start.point - arc.start.tangent * 0.02, arc.end.point + arc.end.tangent * 0.02]
        .map(Station::ground);
    let directions = [(a, b, arc.start.point, arc.start.tangent), (b, a, arc.end.point, -arc.end.tangent)];
    for (from, to, point, tangent) in directions {
        let path = CablePath::new(from, to)?.over(Obstacle::new(Frame::ground(Pose::identity()), ring)?);
        let mut memory = path.no_wraps();
        memory.wraps[0] = Wrap { known: true, in_contact: true, point, tangent, length: arc.length };
        let mut results = PathResults::default();
        let state = ForceSystem::<f64>::new().default_state();
        path.solve(state.positions(), &memory, &mut results).expect("a path");
        for contact in results.contacts.iter().filter(|contact| contact.in_contact) {
            let arc = &contact.geodesic;
            for part in 0..=100 {
                let length = arc.length * f64::from(part) / 100.0;
                let end = Wrappable::geodesic(
                    &ring,
                    &arc.start.point,
                    &arc.start.tangent,
                    length,
                    1e-12,
                    usize::MAX,
                )
                .end;
                assert!(end.curvature > -1e-6, "{part}: {}", end.curvature);
            }
        }
    }
    Ok(())
}
