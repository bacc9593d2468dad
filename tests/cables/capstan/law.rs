//! The law at one instant: ratios of tensions, and the frictionless limit.

use core::f64::consts::PI;
use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::cable::{CablePath, Obstacle, Wrappable};
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{BodyIndex, CableSpring, Error, ForceSystem, Frame, Pose, State, Station};
use force_elements_scenes::cables::Pebble;

use super::scene::{Hoist, elastic};

fn shapes() -> Result<Vec<Arc<dyn Wrappable<f64>>>, Error> {
    Ok(vec![
        Arc::new(Cylinder::new(1.0)?),
        Arc::new(Sphere::new(1.0)?),
        Arc::new(Ellipsoid::new(Vector3::new(1.2, 1.0, 1.4))?),
        Arc::new(Pebble { radius: 1.0 }),
    ])
}

#[test]
fn at_impending_slip_tensions_obey_the_capstan_equation_in_both_directions() -> Result<(), Error> {
    for surface in shapes()? {
        let mut hoist = Hoist::over(Arc::clone(&surface), 2.0, 0.3, elastic(5000.0, 1.0, 0.0))?;
        // So high that the cable does not slide off a ball.
        hoist.heights = [0.3; 2];
        let length = hoist.evaluate()?.strands[0].length;
        hoist.system.update_parameters(&mut hoist.state, hoist.cable, |p| {
            p.law.slack_length = 0.99 * length;
        })?;
        let mut begin = hoist.step()?;
        for sign in [1.0, -1.0] {
            // Sticking first, the ratio grows; then it stays at the limit.
            let (mut stuck, mut slipped) = (0, 0);
            for _ in 0..200 {
                hoist.heights[1] -= 0.001 * sign;
                let shown = hoist.evaluate()?;
                hoist.accept()?;
                let ratio = shown.tensions[1] / shown.tensions[0];
                let limit = (0.3 * shown.bend * sign).exp();
                let moved = shown.strands[0].share != shown.strands[0].committed_share;
                if moved {
                    slipped += 1;
                    assert_relative_eq!(ratio, limit, max_relative = 1e-10);
                } else {
                    stuck += 1;
                    assert!((ratio.ln() * sign) < (limit.ln() * sign) + 1e-12, "{ratio} {limit}");
                }
                // The bend is that of the surface, whatever its shape: the cable lies in a plane.
                assert!(shown.bend > 0.5);
                begin = shown;
            }
            assert!(stuck > 3 && slipped > 50, "{surface:?}: {stuck} stuck, {slipped} slipped");
        }
        assert!(begin.tensions[1] < begin.tensions[0]);
    }
    Ok(())
}

/// The angle by which the tangent turns along a geodesic, by a sum over chords of its hodograph.
fn turned(surface: &dyn Wrappable<f64>, p: &Point3<f64>, direction: &Vector3<f64>, length: f64) -> f64 {
    let sum = |parts: u32| {
        let step = length / f64::from(parts);
        let mut at = surface.geodesic(p, direction, 0.0, 1e-14, usize::MAX).end;
        let mut sum = 0.0;
        for _ in 0..parts {
            let next = surface.geodesic(&at.point, &at.tangent, step, 1e-14, usize::MAX).end;
            sum += (next.tangent - at.tangent).norm();
            at = next;
        }
        sum
    };
    // The error has even powers of the step alone.
    let (coarse, fine) = (sum(1500), sum(3000));
    fine + (fine - coarse) / 3.0
}

#[test]
fn the_integral_of_normal_curvature_is_the_angle_by_which_the_tangent_turns() -> Result<(), Error> {
    let torus = Torus::new(2.0, 0.5)?;
    let mut surfaces = shapes()?;
    surfaces.push(Arc::new(torus));
    surfaces.push(Arc::new(Ellipsoid::new(Vector3::new(0.5, 1.0, 3.0))?));
    for surface in surfaces {
        for (x, y, z) in [(0.3, 1.0, 0.2), (1.0, 0.1, 0.7)] {
            let start = surface.retract(&Point3::new(x, y, z));
            let direction = Vector3::new(0.2, -0.4, 1.0);
            let end = |length| surface.geodesic(&start, &direction, length, 1e-13, usize::MAX).end;
            // As far as the cable presses on the surface.
            let mut length = 0.1;
            while length < 3.0 && end(length + 0.1).curvature > 0.05 && end(0.0).curvature > 0.05 {
                length += 0.1;
            }
            let angle = surface.normal_curvature_integral(&start, &direction, length, 1e-13);
            let expected = turned(surface.as_ref(), &start, &direction, length);
            if end(0.0).curvature > 0.05 {
                assert_relative_eq!(angle, expected, max_relative = 1e-8);
            }
            // A sum of two parts, as a smooth function of length must be.
            let middle = end(0.37 * length);
            let parts = surface.normal_curvature_integral(&start, &direction, 0.37 * length, 1e-13)
                + surface.normal_curvature_integral(&middle.point, &middle.tangent, 0.63 * length, 1e-13);
            assert_relative_eq!(angle, parts, epsilon = 1e-10);
        }
    }
    Ok(())
}

#[test]
fn the_rim_of_a_disc_turns_a_cable_by_the_angle_between_the_tangents() -> Result<(), Error> {
    for thickness in [0.3, 0.03, 3e-3, 1e-3] {
        let disc = Ellipsoid::new(Vector3::new(1.0, 1.0, thickness))?;
        for (x, length) in [(0.5, 1.0), (0.9, 0.3), (0.2, 1.1), (0.999, 0.01), (0.71, 0.9)] {
            // From the upper face, over the rim, to the lower one, in the plane of x and z.
            let start = disc.retract(&Point3::new(x, 0.0, thickness));
            let geodesic = disc.geodesic(&start, &Vector3::x(), length, 1e-13, usize::MAX);
            let [from, to]: [Vector3<f64>; 2] = [geodesic.start.tangent, geodesic.end.tangent];
            assert!(geodesic.end.point.z < start.z && geodesic.end.point.x > 0.0);
            let turned = from.cross(&to).norm().atan2(from.dot(&to));
            let angle = disc.normal_curvature_integral(&start, &Vector3::x(), length, 1e-13);
            // A tangent is known to the accuracy of the geodesic, and turns by 1/radius of the rim per metre.
            assert_relative_eq!(angle, turned, epsilon = 1e-9);
        }
    }
    Ok(())
}

/// Two bodies on a path over an ellipsoid, through a via point and over a cylinder.
struct Pair {
    system: ForceSystem<f64>,
    bodies: [BodyIndex; 2],
    path: CablePath<f64>,
}

impl Pair {
    fn new() -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        let at = |x| Frame::ground(Pose::translation(x, -0.5, 0.0));
        let path = CablePath::new(
            Station::on(bodies[0], Point3::origin()),
            Station::on(bodies[1], Point3::origin()),
        )?
        .over(Obstacle::new(at(0.0), Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?)?)
        .through(Station::ground(Point3::new(1.5, 0.1, 0.0)))?
        .over(Obstacle::new(at(3.0), Cylinder::new(0.6)?)?)
        .over(Obstacle::new(at(5.0), Sphere::new(0.6)?)?);
        Ok(Self { system, bodies, path })
    }

    /// A motion with touchdowns and liftoffs.
    fn place(&self, state: &mut State<f64>, i: u32) -> Result<(), Error> {
        let t = 0.01 * f64::from(i);
        state.set_time(t)?;
        let y = 0.5 * t.sin();
        state.set_pose(self.bodies[0], Pose::translation(-2.0, y - 0.1, 0.3 * (0.7 * t).sin()))?;
        state.set_pose(self.bodies[1], Pose::translation(7.0, -y, 0.2 * (1.3 * t).cos()))?;
        Ok(())
    }
}

#[test]
fn without_friction_and_in_its_limit_the_cable_is_the_cable_spring() -> Result<(), Error> {
    for (mu, tolerance) in [(0.0, 0.0), (1e-13, 1e-10)] {
        let Pair { mut system, bodies, path } = Pair::new()?;
        let elastic = elastic(300.0, 8.0, 0.1);
        let spring = system.add(CableSpring::new(path.clone(), elastic)?)?;
        let cable = system.add(CableSpring::new(path.clone(), elastic)?.with_friction(vec![mu; 3])?)?;
        let pair = Pair { system, bodies, path };
        let mut states = [pair.system.default_state(), pair.system.default_state()];
        pair.system.set_enabled(&mut states[0], cable, false)?;
        pair.system.set_enabled(&mut states[1], spring, false)?;
        let mut touching = [0; 4];
        for i in 0..1300 {
            let mut forces = Vec::new();
            for state in &mut states {
                pair.place(state, i)?;
                let view = pair.system.realize_dynamics(state)?;
                forces.push((view.forces().clone(), view.potential_energy()));
                pair.system.accept_step(state)?;
            }
            let [(of_spring, stored), (of_cable, also_stored)] = [&forces[0], &forces[1]];
            for (a, b) in of_spring.bodies().iter().zip(of_cable.bodies()) {
                let scale = 1.0 + a.force.norm() + a.torque.norm();
                assert!((a.force - b.force).norm() <= tolerance * scale, "{a:?} {b:?}");
                assert!((a.torque - b.torque).norm() <= tolerance * scale);
            }
            // One is (k/2)·x², the other k·(x²/2).
            assert!((stored - also_stored).abs() <= tolerance.max(1e-15) * (1.0 + stored));
            let view = pair.system.realize_dynamics(&mut states[1])?;
            let contacts = &view.of(cable).position.path.contacts;
            touching[contacts.iter().filter(|contact| contact.in_contact).count()] += 1;
        }
        assert!(touching.iter().filter(|&&count| count > 50).count() >= 2, "{touching:?}");
    }
    Ok(())
}

#[test]
fn over_several_obstacles_the_exponents_add_up() -> Result<(), Error> {
    let mut system = ForceSystem::new();
    let load = system.add_body();
    let mut path =
        CablePath::new(Station::ground(Point3::new(-2.0, -5.0, 0.0)), Station::on(load, Point3::origin()))?;
    let friction = vec![0.1, 0.4, 0.0, 0.25, 0.3];
    for i in 0..5 {
        // An arch.
        let x = f64::from(2 * i);
        let at = Frame::ground(Pose::translation(x, -0.15 * (x - 4.0) * (x - 4.0), 0.0));
        let top = Point3::new(0.0, 0.7, 0.0);
        path = path.over(Obstacle::new(at, Cylinder::new(0.7)?)?.with_contact_hint(top)?);
    }
    let cable =
        system.add(CableSpring::new(path, elastic(2000.0, 1.0, 0.0))?.with_friction(friction.clone())?)?;
    let mut state = system.default_state();
    state.set_pose(load, Pose::translation(10.0, -5.0, 0.0))?;
    let length = system.realize_position(&mut state)?.of(cable).position.path.length;
    system.update_parameters(&mut state, cable, |p| p.law.slack_length = 0.99 * length)?;
    let mut limits = Vec::new();
    for direction in [1.0, -1.0] {
        for i in 0..400 {
            let height = -5.0 - 0.0015 * f64::from(if direction > 0.0 { i } else { 400 - i });
            state.set_pose(load, Pose::translation(10.0, height, 0.0))?;
            system.realize_dynamics(&mut state)?;
            system.accept_step(&mut state)?;
        }
        let view = system.realize_dynamics(&mut state)?;
        let at = view.of(cable);
        let tensions = &at.dynamics.tensions;
        assert_eq!(tensions.len(), 6);
        for (k, contact) in at.position.path.contacts.iter().enumerate() {
            let turn = contact.geodesic.length / 0.7;
            let limit = (direction * friction[k] * turn).exp();
            assert_relative_eq!(tensions[k + 1] / tensions[k], limit, max_relative = 1e-9);
        }
        limits.push(tensions[5] / tensions[0]);
    }
    assert!(limits[0] > 1.5 && limits[1] < 0.7, "{limits:?}");
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused() -> Result<(), Error> {
    let Pair { path, .. } = Pair::new()?;
    for friction in [vec![0.1; 4], vec![-0.1], vec![0.1, f64::NAN], vec![f64::INFINITY]] {
        assert!(CableSpring::new(path.clone(), elastic(1.0, 1.0, 0.0))?.with_friction(friction).is_err());
    }
    Ok(())
}

/// Bollards, each of which nearly holds without limit, hold together without limit.
#[test]
fn limits_whose_product_overflows_are_finite() -> Result<(), Error> {
    let (stiffness, slack_length, radius) = (1000.0, 3.0, 0.2);
    for mu in [50.0, 200.0, 300.0, 400.0] {
        let mut system = ForceSystem::<f64>::new();
        let [tied, load] = [system.add_body(), system.add_body()];
        let bollard = |x: f64| -> Result<_, Error> {
            let bollard =
                Obstacle::new(Frame::ground(Pose::translation(x, 0.0, 0.0)), Cylinder::new(radius)?)?;
            Ok(bollard.with_contact_hint(Point3::new(0.14 * (2.0 * x - 1.0), 0.14, 0.0))?)
        };
        let path = CablePath::new(Station::on(tied, Point3::origin()), Station::on(load, Point3::origin()))?
            .over(bollard(0.0)?)
            .over(bollard(1.0)?);
        let elastic = elastic(stiffness, slack_length, 0.0);
        let cable = system.add(CableSpring::new(path, elastic)?.with_friction([mu, mu])?)?;
        let mut state = system.default_state();
        for [from, to] in [[-1.0, -1.0], [-0.3, -1.5]] {
            state.set_pose(tied, Pose::translation(-radius, from, 0.0))?;
            state.set_pose(load, Pose::translation(1.0 + radius, to, 0.0))?;
            system.realize_dynamics(&mut state)?;
            if from == -1.0 {
                system.accept_step(&mut state)?;
            }
        }
        let dynamics = system.dynamics_view(&state)?;
        let at = dynamics.of(cable);
        // Material passes on until the first two strands are just taut.
        let strands = &at.position.strands.all;
        let shares = 1.0 - (strands[0].length + strands[1].length) / slack_length;
        let expected = stiffness * (strands[2].length / shares - slack_length);
        let tension = at.dynamics.tension;
        assert!((tension / expected - 1.0).abs() < 1e-9, "{mu}: {tension} {expected}");
    }
    Ok(())
}

/// Of a pulley that holds without limit, each side has its own strain.
#[test]
fn the_gap_beside_a_pulley_is_that_of_the_longer_side() -> Result<(), Error> {
    let mut hoist = Hoist::over(Arc::new(Cylinder::new(1.0)?), 1.0, 1000.0, elastic(1000.0, 4.0 + PI, 0.0))?;
    hoist.step()?;
    for (heights, speeds) in
        [([-1.5, -2.2], [0.5, -0.25]), ([-1.5, -1.9], [0.5, -0.25]), ([-1.7, -1.2], [-0.5, 0.25])]
    {
        (hoist.heights, hoist.speeds) = (heights, speeds);
        let gap = |hoist: &mut Hoist| -> Result<_, Error> {
            let shown = hoist.evaluate()?;
            let mut gaps = Vec::new();
            hoist.system.write_gaps(&hoist.state, &mut gaps)?;
            Ok((shown, gaps[0]))
        };
        let (shown, now) = gap(&mut hoist)?;
        let is_taut = shown.tensions.iter().any(|tension| *tension > 0.0);
        assert_eq!(is_taut, now.distance < 0.0, "{shown:?} {now:?}");
        let mut at = |time: f64| -> Result<_, Error> {
            for (height, speed) in hoist.heights.iter_mut().zip(speeds) {
                *height += time * speed;
            }
            Ok(gap(&mut hoist)?.1.distance)
        };
        let (later, earlier) = (at(1e-6)?, at(-2e-6)?);
        let rate = (later - earlier) / 2e-6;
        assert!((now.rate - rate).abs() < 1e-8, "{now:?} {rate}");
    }
    Ok(())
}
