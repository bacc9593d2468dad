//! Forces, power and moment arms of a cable under tension.

use force_elements::cable::{CablePath, PathResults, Wraps};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Sphere};
use force_elements::testing::Numbers;
use force_elements::{
    AtDynamics, BodyIndex, CableSpring, ElementError, Error, ForceAccumulator, ForceElement, ForceSystem,
    Given, Pose, SpatialForce, SpatialVelocity, Station, Topology, cable_spring,
};

use crate::moment_arm::moment_arm_by_differences;

use super::{fixed, moving_scenes, on_ground, one_end_free};
use force_elements_scenes::cables::{Counts, Scene};

#[test]
fn forces_balance_and_deliver_minus_tension_times_length_rate() -> Result<(), Error> {
    for (mut scene, _) in moving_scenes(60) {
        let dynamics = scene.system.realize_dynamics(&mut scene.state)?;
        let at = dynamics.of(scene.cable);
        let tension = at.dynamics.tension;
        let mut sum = SpatialForce::zero();
        let mut power = 0.0;
        for body in scene.system.bodies().chain([BodyIndex::GROUND]) {
            let force = dynamics.body_force(body);
            sum += force.shifted(-dynamics.pose(body).translation.vector);
            power += dynamics.velocity(body).power(&force);
        }
        // Forces of the size of the tension, at distances up to 12 m, a dozen of them.
        assert!(sum.force.norm() < 1e-12 * tension);
        assert!(sum.torque.norm() < 1e-11 * tension);
        assert!((power + tension * at.velocity.length_rate).abs() < 1e-12 * tension * 10.0);
    }
    Ok(())
}

#[test]
fn length_rate_is_the_derivative_of_length_along_the_motion() -> Result<(), Error> {
    const DT: f64 = 1e-4;
    let mut moving = 0;
    for (mut scene, time) in moving_scenes(60) {
        let view = scene.system.realize_velocity(&mut scene.state)?;
        let at = view.of(scene.cable);
        let rate = at.velocity.length_rate;
        let contacts: Vec<_> = at.position.path.contacts.iter().map(|contact| contact.in_contact).collect();
        scene.system.realize_dynamics(&mut scene.state)?;
        scene.accept()?;
        let counts = &mut Counts::default();
        let (after, _) = scene.solve(time + DT, counts)?;
        let (before, _) = scene.solve(time - DT, counts)?;
        let difference = (after - before) / (2.0 * DT);
        // DT² times the third derivative (below 50), and more where curvature jumps at the seams of
        // a height map or a contact comes or goes.
        assert!((rate - difference).abs() < 2e-6, "{rate} {difference} {contacts:?}");
        moving += usize::from(rate.abs() > 0.01);
    }
    assert!(moving > 40, "{moving}");
    Ok(())
}

/// Three coordinates that move the bodies in random ways.
fn random_twists(bodies: usize, seed: u64) -> Vec<[SpatialVelocity<f64>; 3]> {
    let mut numbers = Numbers::new(seed);
    (0..bodies).map(|_| [0; 3].map(|_| numbers.velocity(1.0))).collect()
}

#[test]
fn moment_arms_are_those_by_differences() -> Result<(), Error> {
    let mut tracked = 0;
    for ((scene, _), seed) in moving_scenes(60).zip(0..) {
        let Scene { system, mut state, cable, .. } = scene;
        let bodies: Vec<_> = system.bodies().collect();
        let twists = random_twists(bodies.len(), seed);
        let motion = |i: usize, on: BodyIndex| {
            bodies.iter().position(|&body| body == on).map_or(SpatialVelocity::zero(), |k| twists[k][i])
        };
        let path = system.element(cable).path();
        let path = (path, path.places());
        let memory = state.discrete(cable).wraps.clone();
        let view = system.realize_position(&mut state)?;
        let (results, positions) = (&view.of(cable).position.path, view.positions());
        // Within the step such a contact lifts off.
        if results.contacts.iter().any(|contact| contact.in_contact && contact.geodesic.length < 1e-4) {
            continue;
        }
        // What was there before has no effect.
        let mut arms = [f64::NAN; 3];
        results.moment_arms(positions, motion, |_, _| 0.0, &mut arms);
        for (i, arm) in arms.into_iter().enumerate() {
            // Sums of a dozen numbers of up to ten, in another order.
            assert!((arm - results.moment_arm(positions, |body| motion(i, body), |_| 0.0)).abs() < 1e-13);
            let along = |body| motion(i, body);
            let difference = moment_arm_by_differences(path, positions, &memory, along, |_| 0.0, 1e-4)?;
            // The square of the step times a third derivative, below 50, and more where curvature jumps at the
            // seams of a height map.
            assert!((arm - difference).abs() < 2e-6, "{arm} {difference}");
            tracked += usize::from(arm.abs() > 0.01);
        }
    }
    assert!(tracked > 150, "{tracked}");
    Ok(())
}

#[test]
fn moment_arm_is_minus_the_derivative_of_length_by_the_coordinate() -> Result<(), Error> {
    // A bone that turns about a knee, on which the cable runs over a cylinder.
    let mut system = ForceSystem::new();
    let bone = system.add_body();
    let end = Station { body: bone, p_B: Point3::new(0.4, 0.05, 0.0) };
    let knee = on_ground(Cylinder::new(0.1)?)?.with_contact_hint(Point3::new(0.0, 0.1, 0.0))?;
    let path = CablePath::new(fixed(-0.4, 0.05, 0.02), end)?.over(knee);
    let cable = system.add(CableSpring::new(path, cable_spring::Parameters::default())?)?;
    let mut state = system.default_state();
    let mut at = |angle: f64| -> Result<(f64, f64), Error> {
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), angle);
        state.set_pose(bone, Pose::from_parts(Translation3::identity(), turn))?;
        let view = system.realize_position(&mut state)?;
        let path = &view.of(cable).position.path;
        assert!(path.contacts[0].in_contact);
        let swing = |_| SpatialVelocity::new(Vector3::z(), Vector3::zeros());
        Ok((path.length, path.moment_arm(view.positions(), swing, |_| 0.0)))
    };
    for angle in [-1.2, -0.6, -0.3] {
        let (_, arm) = at(angle)?;
        let difference = (at(angle + 1e-5)?.0 - at(angle - 1e-5)?.0) / 2e-5;
        // The cable lies on the side to which the bone turns, so that its pull turns the bone on, at the radius
        // but for its slope out of the plane.
        assert!((arm + difference).abs() < 1e-9 && (arm - 0.1).abs() < 1e-3, "{arm} {difference}");
    }
    Ok(())
}

#[test]
fn quick_shortening_takes_the_tension_to_zero_and_all_the_power_with_it() -> Result<(), Error> {
    let (system, body, cable) = one_end_free(fixed(-2.0, 0.0, 0.0), [])?;
    let mut state = system.default_state();
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(-10.0, 0.0, 0.0));
    state.set_body(body, Pose::translation(1.0, 0.0, 0.0), V)?;
    let dynamics = system.realize_dynamics(&mut state)?;
    let at = dynamics.of(cable);
    assert_eq!(at.dynamics.tension, 0.0);
    // An elongation of 2 m at 100 N/m, shortening at 10 m/s.
    assert_eq!(dynamics.power_dissipated(), 100.0 * 2.0 * 10.0);
    assert_eq!(dynamics.potential_energy(), 200.0);
    Ok(())
}

/// A muscle of constant tension, as a user would write it.
#[derive(Debug)]
struct Muscle {
    path: CablePath<f64>,
}

impl ForceElement<f64> for Muscle {
    const KIND: &'static str = "muscle";
    type Parameters = ();
    type Discrete = Wraps<f64>;
    type Continuous = ();
    type Position = PathResults<f64>;
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(self.path.check_topology(topology)?)
    }
    fn default_discrete(&self) -> Wraps<f64> {
        self.path.no_wraps()
    }
    fn calc_position(
        &self,
        given: &Given<'_, f64, Self>,
        cache: &mut PathResults<f64>,
    ) -> Result<(), ElementError> {
        self.path.solve(given.positions, given.discrete, cache).map_err(ElementError::own)
    }
    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        at.position.add_forces(5.0, forces);
    }
    fn potential_energy(&self, at: &AtDynamics<'_, f64, Self>) -> f64 {
        5.0 * at.position.length
    }
    fn power_dissipated(&self, _: &AtDynamics<'_, f64, Self>) -> f64 {
        0.0
    }
    fn accept_step(&self, at: &AtDynamics<'_, f64, Self>, next: &mut Wraps<f64>) -> Result<(), ElementError> {
        at.position.remember(next);
        Ok(())
    }
}

#[test]
fn a_path_serves_a_force_of_the_users_own() -> Result<(), Error> {
    let mut system = ForceSystem::new();
    let bone = system.add_body();
    let path = CablePath::new(fixed(-2.0, 0.0, 0.0), Station { body: bone, p_B: Point3::origin() })?
        .over(on_ground(Sphere::new(0.5)?)?);
    let muscle = system.add(Muscle { path })?;
    let mut state = system.default_state();
    state.set_pose(bone, Pose::translation(2.0, 0.3, 0.0))?;
    let dynamics = system.realize_dynamics(&mut state)?;
    assert!((dynamics.body_force(bone).force.norm() - 5.0).abs() < 1e-12);
    assert!(dynamics.of(muscle).position.contacts[0].in_contact);
    system.accept_step(&mut state)
}
