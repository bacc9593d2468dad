//! Promises of the parameters for a mass and a step: impacts gain no energy, bodies rest at height zero, friction holds.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3};
use force_elements::simulation::{Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, ExponentialSpring, ForceSystem, Frame, Pose, SpatialVelocity, State, Station, Stepping,
};

const GRAVITY: f64 = 9.81;

/// A cube with springs at its corners.
struct Cube {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    body: BodyIndex,
}

impl Cube {
    fn new(mass: f64, half: f64, slope: f64, corners: u32, parameters: Parameters<f64>) -> Self {
        let (sin, cos) = slope.sin_cos();
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(sin, 0.0, -cos) * GRAVITY).expect("finite");
        let inertia = mass * half * half * 2.0 / 3.0;
        let rigid = RigidBody::with_equal_inertia(mass, inertia).expect("positive");
        let body = plant.add_body(&mut system, rigid);
        for corner in 0..corners {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -half } else { half };
            let station = Station::on(body, Point3::new(sign(0), sign(1), sign(2)));
            let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters);
            system.add(spring.expect("valid")).expect("exists");
        }
        Self { system, plant, body }
    }

    fn start(&self, pose: Pose<f64>, velocity: SpatialVelocity<f64>) -> Simulation<'_, f64> {
        let mut state: State<f64> = self.system.default_state();
        state.set_body(self.body, pose, velocity).expect("finite");
        Simulation::new(&self.system, &self.plant, state).expect("regular")
    }
}

/// Masses, sizes, speeds and steps, with the masses of a coin and a car.
fn cases() -> impl Iterator<Item = (f64, f64, f64, f64)> {
    [(0.005, 0.01), (1.0, 0.1), (1500.0, 0.8)].into_iter().flat_map(|(mass, half)| {
        [0.3, 1.0, 4.0]
            .into_iter()
            .flat_map(move |speed| [2e-4, 1e-3, 4e-3].into_iter().map(move |step| (mass, half, speed, step)))
    })
}

#[test]
fn after_an_impact_there_is_no_more_energy_than_before() {
    let (mut deal, mut all) = (Numbers::new(7), 0);
    for (mass, half, speed, step) in cases() {
        // It starts above the reach of the springs, several times 1/d2, and may fall until it lies on a face. A corner is
        // fastest if all energy is in the motion of its share of the mass, a 5.5th.
        let place = |parameters: &Parameters<f64>| 3.0_f64.sqrt() * half + 8.0 / parameters.d2;
        let mut parameters = Parameters::for_mass(mass, 4, speed, step).expect("positive");
        for _ in 0..20 {
            let fastest = (5.5 * (speed * speed + 2.0 * GRAVITY * (place(&parameters) - half))).sqrt();
            parameters = Parameters::for_mass(mass, 4, fastest, step).expect("positive");
        }
        let height = place(&parameters);
        let cube = Cube::new(mass, half, 0.0, 8, parameters);
        for _ in 0..5 {
            let pose =
                Pose::from_parts(Vector3::new(0.0, 0.0, height).into(), deal.pose::<f64>(3.0, 0.0).rotation);
            let along = Vector3::new(deal.between(-0.3, 0.3), deal.between(-0.3, 0.3), -0.8) * speed;
            let mut simulation = cube.start(pose, SpatialVelocity::new(Vector3::zeros(), along));
            let free = 0.5 * mass * along.norm_squared() + mass * GRAVITY * (height - half);
            let (mut flies, mut last, mut impacts) = (true, f64::INFINITY, 0);
            let mut gain = 0.0_f64;
            let observe = |simulation: &mut Simulation<'_, f64>| {
                let place = simulation.state().positions().pose(cube.body).translation.vector;
                let stored = simulation.dynamics().expect("regular").potential_energy();
                let energy = simulation.kinetic_energy() + mass * GRAVITY * place.z + stored;
                if stored < 1e-3 * free {
                    if !flies {
                        impacts += 1;
                        gain = gain.max((energy - last) / free);
                    }
                    last = energy;
                }
                flies = stored < 1e-3 * free;
            };
            let end = 1.0 + 6.0 * half / speed;
            simulation.run(&mut SemiImplicitEuler::new(step), end, observe).expect("regular");
            all += impacts;
            assert!(
                gain < 0.01,
                "{mass} kg, {speed} m/s, {step} s: {gain} of the energy before, {impacts} impacts"
            );
        }
    }
    assert!(all > 100, "{all} impacts");
}

#[test]
fn a_body_rests_at_height_zero() {
    for (mass, half, speed, step) in cases() {
        let parameters = Parameters::for_mass(mass, 4, speed, step).expect("positive");
        let cube = Cube::new(mass, half, 0.0, 4, parameters);
        let mut simulation = cube.start(Pose::translation(0.0, 0.0, half), SpatialVelocity::zero());
        let at =
            |simulation: &Simulation<'_, f64>| simulation.state().positions().pose(cube.body).translation.z;
        simulation.run(&mut SemiImplicitEuler::new(step), 1.0, |_| {}).expect("regular");
        assert!(
            (at(&simulation) - half).abs() < 1e-12,
            "{mass}, {speed}, {step}: {}",
            at(&simulation) - half
        );
    }
}

#[test]
fn friction_holds_on_a_slope_and_is_drawn_out_no_further_than_promised() {
    let mut held = 0;
    for (mass, half, speed, step) in cases() {
        let parameters = Parameters::for_mass(mass, 4, speed, step).expect("positive");
        let drawn = parameters.mu_static * GRAVITY * (12.5 * step).powi(2);
        let load = mass * GRAVITY / 4.0;
        let most = parameters.mu_static * load / parameters.friction_elasticity;
        assert!((most / drawn - 1.0).abs() < 1e-12, "{most}, {drawn}");
        // On springs as long as itself it tips.
        if parameters.d2 * half < 10.0 || drawn > 0.1 * half {
            continue;
        }
        held += 1;
        // Below kinetic friction, of 0.5; a cube stands up to 45°.
        let cube = Cube::new(mass, half, 0.4, 4, parameters);
        let mut simulation = cube.start(Pose::translation(0.0, 0.0, half), SpatialVelocity::zero());
        let mut euler = SemiImplicitEuler::new(step);
        simulation.run(&mut euler, 15.0, |_| {}).expect("regular");
        let before = simulation.state().positions().pose(cube.body).translation.vector;
        simulation.run(&mut euler, 16.0, |_| {}).expect("regular");
        let after = simulation.state().positions().pose(cube.body).translation.vector;
        // Rocking goes on for long; but it is nothing to the slip at which the viscosity alone would balance the load.
        let slip = mass * GRAVITY * 0.4_f64.sin() / (4.0 * parameters.friction_viscosity);
        let creep = (after - before).norm() / slip;
        assert!(creep < 1e-4, "{mass}, {speed}, {step}: {creep} of {slip} m/s");
    }
    assert!(held > 10, "{held}");
}

#[test]
fn its_step_is_below_the_longest_stable_one() {
    for (mass, half, speed, step) in cases() {
        let parameters = Parameters::for_mass(mass, 4, speed, step).expect("positive");
        let cube = Cube::new(mass, half, 0.0, 4, parameters);
        let mut state = cube.system.default_state();
        state.set_pose(cube.body, Pose::translation(0.0, 0.0, half)).expect("finite");
        cube.system.realize_dynamics(&mut state).expect("regular");
        let stepping = Stepping { impact_speed: speed, ..Stepping::default() };
        let stable = cube.system.stable_step(&state, &cube.plant, stepping).expect("positive");
        assert!(stable.length > step, "{mass}, {speed}, {step}: {stable:?}");
    }
}

#[test]
fn what_is_not_positive_is_refused() {
    for (mass, points, speed, step, name) in [
        (0.0, 4, 1.0, 1e-3, "mass"),
        (1.0, 0, 1.0, 1e-3, "points"),
        (1.0, 4, -1.0, 1e-3, "speed"),
        (1.0, 4, 1.0, f64::NAN, "step"),
    ] {
        let error = Parameters::for_mass(mass, points, speed, step).expect_err(name);
        assert_eq!(error.name, name);
    }
}
