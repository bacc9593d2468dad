//! Cables through places where no direction is outwards: centres, axes, the circle of a ring.

use force_elements::cable::Wrappable;
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::Torus;
use force_elements::{Error, Pose};
use num_dual::Dual64;

use super::crossings::{lay, worlds};
use super::{fixed, on_ground, one_end_free, past_ball};
use force_elements_scenes::cables::Dice;
use force_elements_scenes::solids::Solid;

#[test]
fn a_cable_along_the_axis_of_an_eyelet_is_straight() -> Result<(), Error> {
    for (scale, world) in worlds() {
        let ring = [(Pose::identity(), Solid::Ring(scale, 0.3 * scale))];
        // Straight through, and to an end that is the centre itself.
        for top in [2.0, 0.5, 0.0] {
            let ends = [Vector3::new(0.0, 0.0, -2.0) * scale, Vector3::new(0.0, 0.0, top) * scale];
            let (length, contacts) = lay(&ring, ends, world)?;
            assert_eq!(contacts, 0);
            // Roundoff of coordinates up to 9 scales.
            assert!((length - (2.0 + top) * scale).abs() < 1e-14 * scale, "{length}");
        }
    }
    Ok(())
}

#[test]
fn single_precision_and_derivatives_pass_along_the_axis_of_an_eyelet() -> Result<(), Error> {
    let (system, body, cable) =
        one_end_free::<f32>(fixed(0.0, 0.0, -2.0), [on_ground(Torus::new(1.0_f32, 0.3)?)?])?;
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, 1.0))?;
    assert_eq!(system.realize_position(&mut state)?.of(cable).position.path.length, 3.0);

    let eyelet = Torus::new(Dual64::from_re(1.0), Dual64::from_re(0.3))?;
    let (system, body, cable) = one_end_free::<Dual64>(fixed(0.0, 0.0, -2.0), [on_ground(eyelet)?])?;
    let mut state = system.default_state();
    let mut p = Vector3::new(0.0, 0.0, 1.0).map(Dual64::from_re);
    p.z.eps = 1.0;
    state.set_pose(body, Pose::from(Translation3::from(p)))?;
    let length = system.realize_position(&mut state)?.of(cable).position.path.length;
    assert_eq!((length.re, length.eps), (3.0, 1.0));
    let path = Vector3::new(Dual64::new(0.0, 1.0), Dual64::from_re(0.0), Dual64::from_re(0.0));
    let value = eyelet.value(&Point3::from(path));
    // On the side that is taken for the nearest.
    assert_eq!((value.re, value.eps), (0.7, -1.0));
    Ok(())
}

#[test]
fn a_cable_through_the_very_centre_of_a_body_goes_round_it() {
    let mut dice = Dice::new(12);
    for (scale, world) in worlds() {
        let solids = [
            Solid::Ball(0.8 * scale),
            Solid::Rod(0.8 * scale),
            Solid::Egg(Vector3::new(0.7, 0.9, 0.8) * scale),
            Solid::Pebble(0.8 * scale),
        ];
        for round in 0..24 {
            // Along the axes, and any way.
            let direction = match round {
                0 | 1 => Vector3::ith(round, 1.0),
                _ => Rotation3::new(dice.vector(3.0)) * Vector3::x(),
            };
            if direction.z.abs() > 0.9 {
                continue;
            }
            let ends = [direction * (-3.0 * scale), direction * (2.0 * scale)];
            for solid in &solids {
                let (length, contacts) = lay(&[(Pose::identity(), solid.clone())], ends, world)
                    .unwrap_or_else(|error| panic!("{solid:?} along {direction:?}: {error}"));
                assert_eq!(contacts, 1, "{solid:?} along {direction:?}");
                let flat = ends.map(|p| Vector3::new(p.x, p.y, 0.0));
                let expected = match solid {
                    Solid::Ball(r) => past_ball(ends[0], ends[1], *r),
                    // Unrolled, a straight line.
                    Solid::Rod(r) => past_ball(flat[0], flat[1], *r).hypot(ends[1].z - ends[0].z),
                    _ => {
                        assert!(length > 5.0 * scale);
                        continue;
                    }
                };
                // Stationary length: roundoff, of coordinates up to 9 scales.
                assert!((length - expected).abs() < 1e-12 * scale, "{solid:?}: {length} {expected}");
            }
        }
    }
}

#[test]
fn on_the_axis_of_bodies_of_revolution_one_of_all_ways_round_is_found() -> Result<(), Error> {
    for (scale, world) in worlds() {
        let egg = |long: f64, wide: f64| Solid::Egg(Vector3::new(long, wide, wide) * scale);
        let at = |x: f64| Pose::translation(x * scale, 0.0, 0.0);
        let rows = [
            vec![(at(0.0), egg(1.0, 0.7))],
            vec![(at(0.0), egg(0.5, 0.8))],
            vec![(at(-0.8), Solid::Ball(0.6 * scale)), (at(0.9), Solid::Ball(0.7 * scale))],
            vec![(at(-0.8), egg(0.5, 0.8)), (at(0.9), egg(0.7, 0.5))],
        ];
        for row in rows {
            let lay_from = |y: f64| {
                lay(&row, [Vector3::new(-2.5, y, 0.0) * scale, Vector3::new(2.5, y, 0.0) * scale], world)
            };
            let (length, contacts) = lay_from(0.0)?;
            assert_eq!(contacts, row.len(), "{row:?}");
            // Beside the axis the way on that side is the shortest: it is shorter by no more than the ends moved.
            let (beside, _) = lay_from(1e-4)?;
            assert!(beside < length && beside > length - 2.1e-4 * scale, "{row:?}: {beside} {length}");
        }
    }
    Ok(())
}

#[test]
fn a_cable_in_the_plane_of_a_ring_into_its_hole_goes_over_or_under_it() -> Result<(), Error> {
    let mut dice = Dice::new(3);
    for (scale, world) in worlds() {
        for _ in 0..10 {
            let tube = dice.between(0.1, 0.4);
            let ring = [(Pose::identity(), Solid::Ring(scale, tube * scale))];
            let inside = Vector3::new(dice.between(-0.5, 0.5), dice.between(-0.2, 0.2), 0.0);
            let outside = Vector3::new(dice.between(1.6, 3.0), dice.between(-1.0, 1.0), 0.0);
            // To an end in the plane, and to one a little above it.
            let [level, above] = [0.0, 1e-4].map(|z| {
                let ends = [outside * scale, (inside + Vector3::z() * z) * scale];
                Ok::<_, Error>(lay(&ring, ends, world)?.0 / scale)
            });
            let (level, above) = (level?, above?);
            assert!(level > (outside - inside).norm() && (level - above).abs() < 1e-4, "{level} {above}");
        }
    }
    Ok(())
}
