//! Bodies on a plane that tilts slowly.

use super::*;
use force_elements_scenes::one_in;

/// The angle \[°\] at which a body slips on a plane that is tilted slowly.
fn slips_at(
    corners: &[Point3<f64>],
    parameters: Parameters<f64>,
    inertia: f64,
    host: Host,
    speed: f64,
) -> f64 {
    slips_from(22.0, corners, parameters, inertia, host, speed)
}

/// The same on a plane that begins at this angle \[°\].
fn slips_from(
    start: f64,
    corners: &[Point3<f64>],
    parameters: Parameters<f64>,
    inertia: f64,
    host: Host,
    speed: f64,
) -> f64 {
    let mass = 10.0;
    let angle = move |time: f64| start + 2.0 * time;
    let mut scene = Scene::new(mass, inertia);
    for &corner in corners {
        scene.add_spring(Frame::ground(Pose::identity()), corner, parameters);
    }
    scene.add_pull(move |time, _| {
        let (sin, cos) = angle(time).to_radians().sin_cos();
        Vector3::new(sin, 0.0, -cos) * (mass * GRAVITY)
    });
    let load = mass * GRAVITY * angle(0.0).to_radians().cos()
        / f64::from(u32::try_from(corners.len()).expect("few"));
    let height = parameters.resting_height(load).expect("a load") - corners[0].z;
    let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(speed));
    host.run(&mut simulation, 1.0, |_| {});
    let mut slipped = None;
    host.run(&mut simulation, 0.5 * (36.0 - start), |simulation| {
        if slipped.is_none() && scene.velocity(simulation).x > 0.01 {
            slipped = Some(angle(simulation.time()));
        }
    });
    slipped.expect("it slips")
}

#[test]
fn a_plane_that_is_tilted_slowly_lets_go_at_the_angle_of_static_friction() {
    let expected = MU_STATIC.atan().to_degrees();
    let corners =
        |z: f64| [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)].map(|(x, y)| Point3::new(x, y, z));
    for host in HOSTS {
        for speed in [0.0, 0.2] {
            for (name, corners, inertia) in
                [("point", &[Point3::origin()][..], 1.0), ("sledge", &corners(0.0), 10.0 * 0.04 / 6.0)]
            {
                let angle = slips_at(corners, default_parameters(), inertia, host, speed);
                assert!((angle - expected).abs() < 0.1, "{name}, {host:?}, {speed} m/s: {angle}°");
            }
        }
    }
}

/// Where a cube of 0.2 m and 10 kg slips \[°\], from the law in the plane in steps so short that it does not matter when in
/// them an anchor moves: with two corners behind, two in front, and the motion as above.
fn cube_slips_at(speed: f64) -> f64 {
    let Parameters { d0, d1, d2, normal_viscosity: cz, settle_velocity, .. } = default_parameters();
    let Parameters { friction_elasticity: k, friction_viscosity: c, .. } = default_parameters();
    let (mass, inertia, half, h) = (10.0, 10.0 * 0.04 / 6.0, 0.1, 1e-5);
    let load = mass * GRAVITY * 22.0_f64.to_radians().cos() / 4.0;
    let (mut q, mut v) = ([0.0, half + d0 - (load / d1).ln() / d2, 0.0], [speed, 0.0, 0.0]);
    let mut anchors = [-half, half];
    let mut slides = [true; 2];
    for step in 0..700_000 {
        let time = h * f64::from(step);
        let (sin, cos) = (22.0 + 2.0 * time).to_radians().sin_cos();
        let mut rates = [GRAVITY * sin, -GRAVITY * cos, 0.0];
        for (i, x) in [-half, half].into_iter().enumerate() {
            let (s, c_) = q[2].sin_cos();
            let (rx, rz) = (x * c_ - half * s, -x * s - half * c_);
            let (px, pz, vx, vz) = (q[0] + rx, q[1] + rz, v[0] + v[2] * rz, v[1] - v[2] * rx);
            let normal = d1 * (-d2 * (pz - d0)).exp() * (1.0 - cz * vz);
            let (elastic, viscous) = (k * (px - anchors[i]), c * vx);
            slides[i] |= (elastic + viscous).abs() > MU_STATIC * normal;
            // The damper first, then as much of the spring as the limit leaves.
            let limit = if slides[i] { MU_KINETIC } else { MU_STATIC } * normal;
            let damping = viscous.clamp(-limit, limit);
            let left = elastic.clamp(-limit - damping, limit - damping);
            let friction = -left - damping;
            anchors[i] = px - left / k;
            let is_beyond = left != elastic || damping != viscous;
            slides[i] = is_beyond || (slides[i] && vx.abs() > settle_velocity);
            let (fx, fz) = (2.0 * friction, 2.0 * normal);
            rates[0] += fx / mass;
            rates[1] += fz / mass;
            rates[2] += (rz * fx - rx * fz) / inertia;
        }
        for i in 0..3 {
            v[i] += h * rates[i];
            q[i] += h * v[i];
        }
        if time > 1.0 && v[0] > 0.01 {
            return 22.0 + 2.0 * time;
        }
    }
    // It does not slip.
    f64::INFINITY
}

#[test]
fn a_cube_on_a_plane_that_is_tilted_slowly_slips_where_the_law_says() {
    let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)].map(|(x, y)| Point3::new(x, y, -0.1));
    let mut is_drawn = one_in(3);
    for speed in [0.0, 0.2] {
        let by_law = cube_slips_at(speed);
        // It leans forward. The corners behind carry little and let go from 22° on, again and again as those in front
        // yield; when all let go, those behind carry something between kinetic and static friction.
        let at = |behind: f64| {
            let in_front = |tan: f64| 0.5 * (1.0 + tan);
            (0..50)
                .fold(0.6, |tan, _| MU_STATIC * in_front(tan) + behind * (1.0 - in_front(tan)))
                .atan()
                .to_degrees()
        };
        let between = at(MU_KINETIC)..at(MU_STATIC);
        assert!(between.contains(&by_law), "{by_law}°, {between:?}");
        for host in HOSTS {
            if !is_drawn() {
                continue;
            }
            let angle = slips_at(&corners, default_parameters(), 10.0 * 0.04 / 6.0, host, speed);
            // Each time a corner lets go late by up to a step, which in steps of 5 ms decides on how it holds again.
            if host.delay() > 2e-3 {
                assert!((between.start - 0.1..between.end + 0.1).contains(&angle), "{host:?}: {angle}°");
            } else {
                assert!((angle - by_law).abs() < 0.1, "{host:?}, {speed} m/s: {angle}° for {by_law}°");
            }
        }
    }
}

#[test]
fn blocks_whose_corners_slip_slowly_hold_up_to_the_angle_of_static_friction() {
    let expected = MU_STATIC.atan().to_degrees();
    let mut is_drawn = one_in(5);
    // While the plane tilts at 2° a second, corners behind slip at up to 0.15 mm/s.
    let parameters = Parameters { release_velocity: 2e-4, ..default_parameters() };
    for half_height in [0.01, 0.04, 0.1] {
        let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)]
            .map(|(x, y)| Point3::new(x, y, -half_height));
        let inertia = 10.0 * (0.1 * 0.1 + half_height * half_height) / 3.0;
        let designed = ContactDesign::new(10.0, 0.1, 1e-3).with_friction(MU_STATIC, MU_KINETIC);
        let designed = Parameters::for_contact(&designed).expect("in range");
        let hosts = HOSTS.map(|host| (host, parameters));
        let others = [
            (Host::Steps(1e-3), designed),
            (Host::Implicit(1e-3), parameters),
            (Host::Implicit(5e-3), parameters),
        ];
        for (host, parameters) in hosts.into_iter().chain(others) {
            for speed in [0.0, 0.2] {
                if !is_drawn() {
                    continue;
                }
                let angle = slips_at(&corners, parameters, inertia, host, speed);
                assert!((angle - expected).abs() < 0.1, "{half_height} m, {host:?}, {speed} m/s: {angle}°");
            }
        }
    }
}

#[test]
fn on_a_plane_that_tilts_from_level_blocks_slip_where_the_page_says() {
    for (half_height, expected) in [(0.01, 33.3), (0.1, 33.9)] {
        let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)]
            .map(|(x, y)| Point3::new(x, y, -half_height));
        let inertia = 10.0 * (0.1 * 0.1 + half_height * half_height) / 3.0;
        let angle = slips_from(0.0, &corners, default_parameters(), inertia, Host::Steps(1e-3), 0.0);
        assert!((angle - expected).abs() < 0.1, "{half_height} m: {angle}° for {expected}°");
    }
}
