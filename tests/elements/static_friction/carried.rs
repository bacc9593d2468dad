//! Blocks on planes that accelerate.

use super::*;

const MU: f64 = 0.4;

/// The acceleration, as a multiple of what static friction holds, at which a cube slips on a plane that accelerates more
/// and more, with parameters for this step and size: on a belt, or on a turntable of this radius.
fn slips_at(step: f64, half: f64, radius: Option<f64>, host: Host) -> f64 {
    let mass = 2.0;
    let limit = MU * GRAVITY;
    let mut scene = Scene::new(mass, mass * 4.0 * half * half / 6.0);
    // So heavy that the cube does not slow it.
    let heavy = RigidBody::with_equal_inertia(1e9, 1e9).expect("positive");
    let carrier = scene.plant.add_body(&mut scene.system, heavy);
    let design = ContactDesign::new(mass, half, step).with_friction(MU, 0.3);
    let parameters = Parameters::for_contact(&design).expect("in range");
    let at = Vector3::new(radius.unwrap_or(0.0), 0.0, half);
    for corner in 0..8_u8 {
        let side = |axis: u8| if corner >> axis & 1 == 0 { -half } else { half };
        let station = Point3::new(side(0), side(1), side(2));
        scene.add_spring(Frame::of(carrier), station, parameters);
    }
    scene.add_pull(move |_, _| Vector3::new(0.0, 0.0, -mass * GRAVITY));
    // From below kinetic friction on, which brings the cube to rest.
    let (first, rate) = (0.6 * limit, 0.3);
    let (spin, load) = match radius {
        Some(radius) => {
            let spin = (first / radius).sqrt();
            (spin, SpatialForce::new(Vector3::z() * (1e9 * 0.5 * rate / (spin * radius)), Vector3::zeros()))
        }
        None => (0.0, SpatialForce::zero()),
    };
    scene.plant.set_body_load(carrier, load).expect("finite");
    if radius.is_none() {
        let push = CustomForce::<f64>::new(move |motion, loads| {
            let p_GB = motion.pose(carrier).translation.vector;
            let force =
                Vector3::x() * (1e9 * (first * (motion.time() / 0.5).min(1.0) + rate * motion.time()));
            loads.apply_at_point(carrier, &Point3::from(p_GB), force);
            0.0
        });
        scene.system.add(push).expect("exists");
    }
    let mut state = scene.system.default_state();
    let turning =
        |at: Vector3<f64>| SpatialVelocity::new(Vector3::z() * spin, (Vector3::z() * spin).cross(&at));
    state.set_velocity(carrier, turning(Vector3::zeros())).expect("finite");
    state
        .set_body(scene.body, Pose::from_parts(at.into(), Rotation3::identity()), turning(at))
        .expect("finite");
    scene.system.reset_memories(&mut state).expect("regular");
    let mut simulation = Simulation::new(&scene.system, &scene.plant, state).expect("regular");
    // In the frame of the carrier.
    let place = |simulation: &Simulation<'_, f64>| {
        let positions = simulation.state().positions();
        (positions.pose(carrier).inverse() * Point3::from(positions.pose(scene.body).translation.vector))
            .coords
    };
    host.run(&mut simulation, 1.0, |_| {});
    let held = place(&simulation);
    let mut slipped = None;
    host.run(&mut simulation, 8.0, |simulation| {
        if slipped.is_none() && (place(simulation) - held).norm() > 1e-3 {
            let time = simulation.time();
            slipped = Some(match radius {
                Some(radius) => {
                    let rate = simulation.state().velocities().velocity(carrier).angular.z;
                    rate * rate * radius
                }
                None => first + rate * time,
            });
        }
    });
    slipped.expect("it slips") / limit
}

#[test]
fn a_cube_on_a_plane_that_accelerates_slips_at_static_friction() {
    for (step, half) in [(1e-3, 0.05), (1e-3, 0.02), (2.5e-4, 0.05)] {
        for radius in [None, Some(0.3)] {
            let at = slips_at(step, half, radius, Host::Steps(step));
            // By what it slips in the millimetre until it is noticed, and what is left of vibration.
            assert!((0.998..1.015).contains(&at), "{step} s, {half} m, {radius:?}: {at}");
        }
    }
}
