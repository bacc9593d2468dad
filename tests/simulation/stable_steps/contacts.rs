//! Stable steps of bodies in contact.

use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Matrix6, Point3, UnitQuaternion, Vector3, Vector6};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{RigidBody, SemiImplicitEuler, Simulation};
use force_elements::{
    BodyIndex, CoordinatePair, ElasticFoundation, ExponentialSpring, Frame, HertzContact, Pose,
    SpatialVelocity, State, Station, StepMethod, exponential_spring, hertz_contact,
};

use super::Host;

/// A cube of rubber on the floor, at rest or falling.
fn cube(height: f64, speed: f64, material: Material<f64>) -> (Host, State<f64>) {
    let mut host = Host::new(9.81);
    let side = 0.2;
    let mass = 2.0;
    let body = RigidBody::with_equal_inertia(mass, mass * side * side / 6.0).expect("positive");
    let body = host.add_body(body);
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let mesh = TriangleMesh::brick(Vector3::repeat(side / 2.0), [4; 3]).expect("valid");
    foundation.add_springs(Frame::of(body), mesh, material).expect("valid");
    host.system.add(foundation).expect("exists");
    let mut state = host.system.default_state();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -speed));
    state.set_body(body, Pose::translation(0.0, 0.0, side / 2.0 + height), velocity).expect("finite");
    (host, state)
}

#[test]
fn a_cube_at_rest_on_a_foundation_stays_there() {
    for (dissipation, friction) in [(0.0, 0.0), (0.5, 0.0), (0.5, 0.8)] {
        let stiffness = 1e7;
        let material =
            Material::new(stiffness).with_dissipation(dissipation).with_friction(friction, friction, 0.0);
        let depth = 2.0 * 9.81 / (stiffness * 0.04);
        let (host, state) = cube(-depth, 1e-5, material);
        let step = host.stable(&state, 0.0);
        // Along the normal alone it swings with ω² = k·A/m.
        let normal = (stiffness * 0.04 / 2.0_f64).sqrt();
        assert!(step.frequency >= normal && step.frequency < 3.0 * normal, "{} rad/s", step.frequency);
        let growth = host.euler(&state, 0.9 * step.length, 2000);
        // The energy at rest is that stored in the springs.
        assert!(growth < 1.1, "{growth}");
    }
}

#[test]
fn a_cube_that_falls_is_caught_in_steps_for_its_speed_of_impact() {
    for (speed, dissipation) in [(0.5, 0.0), (2.0, 0.0), (2.0, 0.5)] {
        let material = Material::new(1e7).with_dissipation(dissipation).with_friction(0.8, 0.6, 0.0);
        let (host, state) = cube(0.01, speed, material);
        assert_eq!(host.stable(&state, 0.0).length, f64::INFINITY, "no contact, none to come");
        let step = host.stable(&state, 1.1 * speed);
        let growth = host.euler(&state, 0.9 * step.length, 2000);
        // Of the energy at the start, that of the fall included.
        assert!(growth < 1.0 + 1.1 * 2.0 * 9.81 * 0.01 / (0.5 * speed * speed), "{growth}");
    }
}

#[test]
fn a_ball_that_falls_is_caught_in_steps_for_its_speed_of_impact() {
    for (speed, dissipation, friction) in [(0.5, 0.0, 0.0), (2.0, 0.0, 0.5), (2.0, 0.5, 0.0), (2.0, 0.5, 0.5)]
    {
        let mut host = Host::new(9.81);
        let (mass, radius, modulus) = (0.5, 0.05, 1e7);
        let inertia = 0.4 * mass * radius * radius;
        let body = host.add_body(RigidBody::with_equal_inertia(mass, inertia).expect("positive"));
        let ball = (Station::on(body, Point3::origin()), radius);
        let parameters =
            hertz_contact::Parameters { effective_modulus: modulus, ..hertz_contact::Parameters::default() }
                .with_dissipation(dissipation)
                .with_friction(friction, friction, 0.0);
        let contact = HertzContact::on_half_space(Frame::ground(Pose::identity()), ball, parameters);
        host.system.add(contact.expect("valid")).expect("exists");
        let mut state = host.system.default_state();
        let height = 0.01;
        // It spins, so that friction has something to do.
        let V = SpatialVelocity::new(Vector3::new(0.0, 2.0, 0.0), Vector3::new(0.0, 0.0, -speed));
        state.set_body(body, Pose::translation(0.0, 0.0, radius + height), V).expect("finite");
        assert_eq!(host.stable(&state, 0.0).length, f64::INFINITY, "no contact, none to come");
        let step = host.stable(&state, 1.1 * speed);
        // At the turn of a Hertz impact it swings with ω² = 2 E* √(R δ)/m, times the factor of damping at full speed.
        let energy: f64 = 0.5 * mass * (1.1 * speed) * (1.1 * speed);
        let depth = (15.0 * energy / (8.0 * modulus * radius.sqrt())).powf(0.4);
        let factor = 1.0 + 1.5 * dissipation * 1.1 * speed;
        let normal = (2.0 * modulus * (radius * depth).sqrt() * factor / mass).sqrt();
        assert!(step.frequency >= normal && step.frequency < 3.0 * normal, "{} {normal}", step.frequency);
        let growth = host.euler(&state, 0.9 * step.length, 2000);
        // Of the energy at the start, that of the fall to the turn included; within a contact it swings, since symplectic
        // Euler keeps v² + ω²x² − hω²xv of a linear spring.
        let fall = 1.0 + 2.0 * 9.81 * (height + depth) / (speed * speed);
        let swing = (1.0 - 0.5 * 0.9 * step.length * normal).recip();
        assert!(swing < 2.0 && growth < fall * swing, "{growth}, {swing}");
    }
}

/// A box of 1 kg on eight default exponential springs, half a metre above the floor.
fn dropped_box() -> (Host, State<f64>) {
    let mut host = Host::new(9.81);
    let side = 0.2;
    let body = host.add_body(RigidBody::with_equal_inertia(1.0, side * side / 6.0).expect("positive"));
    for corner in 0..8 {
        let sign = |bit: u32| if corner >> bit & 1 == 0 { -0.5 * side } else { 0.5 * side };
        let station = Station::on(body, Point3::new(sign(0), sign(1), sign(2)));
        let parameters = exponential_spring::Parameters::default();
        let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters);
        host.system.add(spring.expect("valid")).expect("exists");
    }
    let mut state = host.system.default_state();
    // Neither flat nor on an edge.
    let tilt = UnitQuaternion::from_euler_angles(0.3, 0.2, 0.1).to_rotation_matrix();
    state.set_pose(body, Pose::from_parts(Vector3::new(0.0, 0.0, 0.65).into(), tilt)).expect("finite");
    (host, state)
}

#[test]
fn a_box_on_default_exponential_springs_is_caught_in_the_step_of_its_bound_and_explodes_at_1_ms() {
    let (host, state) = dropped_box();
    let fall = 9.81 * 0.5;
    let speed = (2.0_f64 * fall).sqrt() + 0.1;
    let step = host.stable(&state, speed);
    // The highest energy of motion and springs, over that of the fall.
    let highest = |step: f64, duration: f64| {
        let mut simulation = Simulation::new(&host.system, &host.plant, state.clone()).expect("regular");
        let mut most = 0.0_f64;
        let mut euler = SemiImplicitEuler::new(step).unchecked();
        let run = simulation.run(&mut euler, duration, |simulation| {
            let stored = simulation.dynamics().map_or(f64::INFINITY, |view| view.potential_energy());
            most = most.max((simulation.kinetic_energy() + stored) / fall);
        });
        run.map_or(f64::INFINITY, |()| most)
    };
    // It falls a little lower than half a metre, with its corners; and within a contact the energy swings.
    let caught = highest(0.9 * step.length, 1.5);
    assert!(caught < 1.3, "{caught}");
    let exploded = highest(1e-3, 1.5);
    assert!(exploded > 2.0, "{exploded}");
    // Its friction dampers alone: 2·m/(n·cxy), less for the corners' levers and the springs.
    assert!(step.length < 2.0 / (8.0 * 282.8) && step.length > 2e-5, "{step:?}");
}

#[test]
fn forces_held_over_substeps_gain_what_is_said() {
    let (mass, stiffness) = (1.0, 400.0_f64);
    let mut host = Host::new(0.0);
    let slider = host.add_coordinate(mass);
    host.add_slider(
        CoordinatePair::on(slider),
        coordinate::Parameters { stiffness, ..coordinate::Parameters::default() },
    );
    let state = host.system.default_state();
    let stable = host.stable(&state, 0.0);
    for substeps in [1, 2, 4, 10] {
        for share in [0.05, 0.1, 0.2] {
            let h = share * 2.0 / stable.frequency;
            let (mut q, mut v) = (0.1_f64, 0.0_f64);
            let mut energies = Vec::new();
            let n = f64::from(substeps);
            for _ in 0..200 {
                let force = -stiffness * q;
                for _ in 0..substeps {
                    v += h / n * force / mass;
                    q += h / n * v;
                }
                energies.push((v, q));
            }
            // The area that two motions enclose grows as the energy does, without its swing within a period.
            let (mut p, mut u) = (0.0_f64, 0.1_f64);
            let mut area = Vec::new();
            for &(v, q) in &energies {
                let force = -stiffness * p;
                for _ in 0..substeps {
                    u += h / n * force / mass;
                    p += h / n * u;
                }
                area.push(q * u - p * v);
            }
            let growth = (area[199] / area[0]).powf(1.0 / 199.0) - 1.0;
            let said = (n - 1.0) / (2.0 * n) * (stable.frequency * h).powi(2);
            assert!((growth - said).abs() < 1e-12, "{growth}, {said} with {substeps} substeps");
        }
    }
}

/// The fastest decay \[1/s\] of the motions of a body at rest, by central differences of the forces.
fn fastest_decay(host: &Host, state: &State<f64>, body: BodyIndex, mass: f64, inertia: f64) -> f64 {
    let X_GB = *state.positions().pose(body);
    let roots = [inertia, inertia, inertia, mass, mass, mass].map(|inertia: f64| inertia.sqrt().recip());
    let mut matrix = Matrix6::zeros();
    for axis in 0..6 {
        let [ahead, back] = [1e-7, -1e-7].map(|by| {
            let v = Vector6::ith(axis, by * roots[axis]);
            let V =
                SpatialVelocity::new(v.fixed_rows::<3>(0).into_owned(), v.fixed_rows::<3>(3).into_owned());
            let mut state = state.clone();
            state.set_body(body, X_GB, V).expect("finite");
            let F = host.system.realize_dynamics(&mut state).expect("regular").body_force(body);
            Vector6::new(F.torque.x, F.torque.y, F.torque.z, F.force.x, F.force.y, F.force.z)
        });
        let resisted = (back - ahead) * 0.5e7;
        matrix.set_column(axis, &resisted.component_mul(&Vector6::from(roots)));
    }
    ((matrix + matrix.transpose()) * 0.5).symmetric_eigenvalues().max()
}

/// Friction along one plane and damping across another act on the same motion.
#[test]
fn the_bound_of_a_cube_in_a_corner_is_below_that_of_its_most_damped_motion() {
    let (mass, side, stiffness) = (2.0, 0.2, 1e7);
    let inertia = mass * side * side / 6.0;
    let quarter = core::f64::consts::FRAC_PI_2;
    for (dissipation, friction) in [
        (200.0, [0.8, 0.6, 0.0]),
        (20.0, [0.8, 0.6, 0.0]),
        (200.0, [0.1, 0.1, 0.0]),
        (200.0, [0.0, 0.0, 100.0]),
        (0.0, [0.0, 0.0, 100.0]),
    ] {
        let mut host = Host::new(9.81);
        let body = host.add_body(RigidBody::with_equal_inertia(mass, inertia).expect("positive"));
        let mut foundation = ElasticFoundation::default();
        for turn in [Vector3::zeros(), Vector3::x() * quarter, Vector3::y() * quarter] {
            foundation.add_rigid(Frame::ground(Pose::rotation(turn)), HalfSpace::BelowZ).expect("valid");
        }
        let mesh = TriangleMesh::brick(Vector3::repeat(side / 2.0), [4; 3]).expect("valid");
        let [of_rest, of_motion, viscous] = friction;
        let material = Material::new(stiffness).with_dissipation(dissipation);
        let material = material.with_friction(of_rest, of_motion, viscous);
        foundation.add_springs(Frame::of(body), mesh, material).expect("valid");
        host.system.add(foundation).expect("exists");
        let mut state = host.system.default_state();
        let inside = side / 2.0 - 1e-3;
        state.set_pose(body, Pose::translation(inside, -inside, inside)).expect("finite");
        let longest = 2.0 / fastest_decay(&host, &state, body, mass, inertia);
        let step = host.stable(&state, 0.0).length;
        // Where damping dominates, the bound is that of the sum over the planes.
        assert!(step <= longest && step > 0.5 * longest, "{friction:?}: {step} {longest}");
        host.system.realize_dynamics(&mut state).expect("regular");
        let checked =
            host.system.check_step(&mut state, &host.plant, StepMethod::SymplecticEuler, 1.01 * longest);
        // Only friction that is limited is left out.
        assert!(checked.is_err() || viscous == 0.0, "{friction:?}: {longest}");
    }
}

#[test]
fn the_bound_of_a_ball_counts_friction_that_is_not_limited() {
    let mut host = Host::new(9.81);
    let (mass, radius) = (2.0, 0.1);
    let inertia = 0.4 * mass * radius * radius;
    let body = host.add_body(RigidBody::with_equal_inertia(mass, inertia).expect("positive"));
    let parameters =
        hertz_contact::Parameters { effective_modulus: 1e7, ..hertz_contact::Parameters::default() }
            .with_friction(0.0, 0.0, 100.0);
    let ball = (Station::on(body, Point3::origin()), radius);
    let contact = HertzContact::on_half_space(Frame::ground(Pose::identity()), ball, parameters);
    host.system.add(contact.expect("valid")).expect("exists");
    let mut state = host.system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, radius - 1e-3)).expect("finite");
    let longest = 2.0 / fastest_decay(&host, &state, body, mass, inertia);
    host.system.realize_dynamics(&mut state).expect("regular");
    let checked =
        host.system.check_step(&mut state, &host.plant, StepMethod::SymplecticEuler, 1.01 * longest);
    assert!(checked.is_err(), "{longest}");
}

/// A pendulum that stands on its head, below a station that rests on the floor: its load alone turns it back.
#[test]
fn the_lever_of_a_load_counts_where_a_station_rests_far_above_the_mass_center() {
    for (steepness, grip, lever, gyration) in [(50.0, 1.0, 0.3, 0.05), (200.0, 10.0, 0.5, 0.05)] {
        let mut host = Host::new(9.81);
        let body = host.add_body(RigidBody::with_equal_inertia(1.0, gyration * gyration).expect("positive"));
        let parameters = exponential_spring::Parameters {
            d0: 0.0,
            d1: 9.81,
            d2: steepness,
            normal_viscosity: 0.0,
            friction_elasticity: grip,
            friction_viscosity: 0.0,
            ..Default::default()
        };
        let station = Station::on(body, Point3::new(0.0, 0.0, lever));
        let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters);
        host.system.add(spring.expect("valid")).expect("exists");
        let mut state = host.system.default_state();
        let turn = UnitQuaternion::from_euler_angles(0.0, 0.01, 0.0);
        let below = turn * Vector3::new(0.0, 0.0, -lever);
        state.set_pose(body, Pose::from_parts(below.into(), turn.into())).expect("finite");
        host.system.reset_memories(&mut state).expect("regular");
        let step = host.stable(&state, 0.0);
        // It swings with ω² = m·g·r/I.
        let swing = (9.81 * lever).sqrt() / gyration;
        assert!(step.frequency > swing, "{} rad/s for {swing}", step.frequency);
    }
}
