//! Loads in motion: sticking without creep, a pulley that turns with the cable, a capstan that hauls.

use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::cable::{CablePath, Obstacle};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::Cylinder;
use force_elements::{CableSpring, Error, ForceSystem, Frame, Pose, Station};

use super::scene::{GRAVITY, Hoist, Wheel, elastic};

fn over_a_cylinder(friction: f64, stiffness: f64, slack: f64, dissipation: f64) -> Result<Hoist, Error> {
    Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.0, friction, elastic(stiffness, slack, dissipation))
}

#[test]
fn a_held_load_does_not_creep_whatever_the_step() -> Result<(), Error> {
    // e^(0.3 π) is 2.57.
    let masses = [10.0, 22.0];
    for (dt, settle) in [(1e-4, 60_000), (1e-3, 6000), (5e-3, 1200)] {
        let mut hoist = over_a_cylinder(0.3, 20_000.0, 7.13, 1.0)?;
        let mut shown = hoist.evaluate()?;
        for _ in 0..settle {
            shown = hoist.advance(dt, masses, Wheel::Held)?;
            // Damping included.
            let ratio = shown.tensions[shown.tensions.len() - 1] / shown.tensions[0];
            assert!(ratio.ln().abs() <= 0.3 * shown.bend + 1e-6, "{dt}: {ratio}");
        }
        let (heights, share) = (hoist.heights, shown.strands[1].share);
        for _ in 0..10_000 {
            shown = hoist.advance(dt, masses, Wheel::Held)?;
        }
        assert!((shown.strands[1].share - share).abs() < 1e-13, "{dt}");
        for (now, then) in hoist.heights.iter().zip(heights) {
            assert!((now - then).abs() < 1e-9, "{dt}: {now} {then}");
        }
        // Statics.
        for (tension, mass) in shown.tensions.iter().zip(masses) {
            assert_relative_eq!(*tension, mass * GRAVITY, max_relative = 1e-6);
        }
        let torque = (masses[0] - masses[1]) * GRAVITY;
        assert_relative_eq!(shown.torque, torque, max_relative = 1e-6);
    }
    Ok(())
}

#[test]
fn a_load_beyond_the_limit_slides_at_the_acceleration_of_the_capstan_equation() -> Result<(), Error> {
    let (masses, ratio) = ([10.0, 30.0], (0.2 * core::f64::consts::PI).exp());
    // Vibrations decay in 50 ms.
    let mut hoist = over_a_cylinder(0.2, 2e5, 9.1406, 2.0)?;
    hoist.heights = [-5.0, -1.0];
    let dt = 1e-4;
    let mut speeds = [0.0; 2];
    for i in 0..8000 {
        hoist.advance(dt, masses, Wheel::Held)?;
        if i == 3999 {
            speeds = hoist.speeds;
        }
    }
    // m2 (g − a) = ratio·m1 (g + a)
    let expected = GRAVITY * (masses[1] - ratio * masses[0]) / (masses[1] + ratio * masses[0]);
    for (i, sign) in [1.0, -1.0].into_iter().enumerate() {
        let measured = (hoist.speeds[i] - speeds[i]) / (4000.0 * dt);
        assert_relative_eq!(measured, sign * expected, max_relative = 1e-4);
    }
    Ok(())
}

#[test]
fn a_pulley_that_turns_with_the_cable_is_that_of_atwoods_machine() -> Result<(), Error> {
    let (masses, inertia) = ([10.0, 13.0], 4.0);
    let expected = GRAVITY * (masses[1] - masses[0]) / (masses[0] + masses[1] + inertia);
    // Strain of some 1e-4, so that little material creeps over the pulley.
    let mut hoist = over_a_cylinder(1e3, 1e5, 20.0 + core::f64::consts::PI, 0.5)?;
    hoist.heights = [-18.0, -2.0005];
    let dt = 1e-4;
    let mut then = ([0.0; 2], 0.0);
    let mut shown = hoist.evaluate()?;
    for i in 0..40_000 {
        shown = hoist.advance(dt, masses, Wheel::Free { inertia })?;
        if i == 19_999 {
            then = (hoist.speeds, hoist.spin);
        }
    }
    let span = 20_000.0 * dt;
    assert_relative_eq!((hoist.speeds[0] - then.0[0]) / span, expected, max_relative = 1e-5);
    assert_relative_eq!((then.0[1] - hoist.speeds[1]) / span, expected, max_relative = 1e-5);
    assert_relative_eq!((then.1 - hoist.spin) / span, expected, max_relative = 1e-5);
    // More than a turn, without slip but for the stretch of what passes.
    assert!(hoist.angle < -7.0, "{}", hoist.angle);
    assert_relative_eq!(-hoist.angle, hoist.heights[0] + 18.0, max_relative = 2e-3);
    assert_relative_eq!(shown.tensions[0], masses[0] * (GRAVITY + expected), max_relative = 1e-2);
    assert_relative_eq!(shown.tensions[1], masses[1] * (GRAVITY - expected), max_relative = 1e-2);
    Ok(())
}

#[test]
fn a_winch_hauls_as_long_as_its_tail_is_held() -> Result<(), Error> {
    // The drum turns at a steady rate; the cable sticks, and lifts the second load at that rate while the first, the
    // tail, comes down.
    let (masses, rate) = ([10.0, 20.0], 0.5);
    let mut hoist = over_a_cylinder(0.4, 2e5, 10.0 + core::f64::consts::PI, 0.5)?;
    hoist.heights = [-2.001, -8.001];
    let dt = 1e-4;
    let (mut work, mut from) = (0.0, [0.0; 2]);
    let count = 50_000;
    for i in 0..2 * count {
        // Slowly up to speed, not to shake the loads.
        let spin = rate * (f64::from(i) / f64::from(count / 2)).min(1.0);
        let shown = hoist.advance(dt, masses, Wheel::Driven { spin })?;
        if i == count {
            from = hoist.heights;
        }
        if i >= count {
            work -= shown.torque * spin * dt;
        }
    }
    let [down, up] = [from[0] - hoist.heights[0], hoist.heights[1] - from[1]];
    let travel = rate * f64::from(count) * dt;
    assert_relative_eq!(up, travel, max_relative = 2e-3);
    assert_relative_eq!(down, travel, max_relative = 2e-3);
    // Winch power: what the drum gives, the loads get.
    let lifted = GRAVITY * (masses[1] * up - masses[0] * down);
    assert_relative_eq!(work, lifted, max_relative = 2e-3);
    Ok(())
}

/// A rope over a bar that is pulled until it slips and eased until it sticks, then swings along the bar or around its end and
/// returns. Between the lines from commit to commit its length grows in second order, always with the same sign.
#[test]
fn a_rope_that_swings_along_a_bar_does_not_creep() -> Result<(), Error> {
    const CYCLES: u32 = 20;
    let drift = |through: bool, steps: u32, swing: fn(f64) -> Vector3<f64>| {
        let mut system = ForceSystem::<f64>::new();
        let body = system.add_body();
        let bar = Obstacle::new(Frame::ground(Pose::identity()), Cylinder::new(0.2)?)?
            .with_contact_hint(Point3::new(0.0, 0.2, 0.0))?;
        let tied = Station::ground(Point3::new(-0.3, -1.0, 0.0));
        let mut path = CablePath::new(tied, Station::on(body, Point3::origin()))?.over(bar);
        if through {
            path = path.through(Station::on(body, Point3::new(0.0, 0.3, 0.0)))?;
        }
        let rope = system.add(CableSpring::new(path, elastic(2e4, 2.55, 0.0))?.with_friction([0.3])?)?;
        let mut state = system.default_state();
        let mut place = |p: Vector3<f64>| {
            state.set_pose(body, Pose::translation(0.3 + p.x, -1.0 + p.y, p.z))?;
            let tension = system.realize_dynamics(&mut state)?.of(rope).dynamics.first_tension;
            system.accept_step(&mut state)?;
            Ok::<f64, Error>(tension)
        };
        for i in 0..=100 {
            place(Vector3::y() * (-0.0005 * f64::from(i)))?;
        }
        let eased = Vector3::y() * -0.047;
        place(eased)?;
        let start = place(eased)?;
        for i in 1..=CYCLES * steps {
            place(eased + swing(std::f64::consts::TAU * f64::from(i) / f64::from(steps)))?;
        }
        Ok::<f64, Error>((place(eased)? - start).abs())
    };
    // Of 1765 N. Without the correction 0.89 N a cycle, 18 N in all.
    assert!(drift(false, 50, |phase| Vector3::z() * (0.02 * phase.sin()))? < 1e-4);
    assert!(drift(true, 50, |phase| Vector3::z() * (0.02 * phase.sin()))? < 1e-4);
    let circle = |phase: f64| Vector3::new(0.02 * phase.sin(), 0.0, 0.02 * (1.0 - phase.cos()));
    assert!(drift(false, 50, circle)? < 1e-4);
    // Wide swings: what is left falls at least with the square of the step.
    let wide = |phase: f64| Vector3::new(0.0, 0.05 * phase.sin().powi(2), 0.3 * phase.sin());
    let [coarse, fine] = [drift(false, 50, wide)?, drift(false, 200, wide)?];
    assert!(coarse < 1.0 && fine < 0.07 * coarse, "{coarse} {fine}");
    Ok(())
}
