//! Static friction of exponential springs: it holds up to its limit and lets go there, from rest and from sliding, in
//! steps of any length and under error control.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Rotation3, Vector3};
use force_elements::simulation::{DormandPrince, Implicit, Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::{
    BodyIndex, ContactDesign, CustomForce, ExponentialSpring, ForceSystem, Frame, Handle, Pose, SpatialForce,
    SpatialVelocity, Station,
};

mod belt;
mod carried;
mod stop;
mod tilt;

const GRAVITY: f64 = 9.81;
const MU_STATIC: f64 = 0.7;
const MU_KINETIC: f64 = 0.5;

#[derive(Debug, Clone, Copy)]
enum Host {
    /// Semi-implicit Euler in steps of this length \[s\].
    Steps(f64),
    /// Dormand–Prince with this accuracy.
    Controlled(f64),
    /// TR-BDF2 in steps of this length \[s\].
    Implicit(f64),
}

const HOSTS: [Host; 4] = [Host::Steps(1e-4), Host::Steps(1e-3), Host::Steps(5e-3), Host::Controlled(1e-6)];

impl Host {
    fn run(
        self,
        simulation: &mut Simulation<'_, f64>,
        end: f64,
        observe: impl FnMut(&mut Simulation<'_, f64>),
    ) {
        let outcome = match self {
            // Default parameters hold at 5 ms too, beyond the bound that suffices.
            Self::Steps(step) => simulation.run(&mut SemiImplicitEuler::new(step).unchecked(), end, observe),
            Self::Controlled(accuracy) => simulation.run(&mut DormandPrince::new(accuracy), end, observe),
            Self::Implicit(step) => simulation.run(&mut Implicit::tr_bdf2(step), end, observe),
        };
        outcome.expect("regular");
    }

    /// The longest time by which a transition may be late \[s\].
    fn delay(self) -> f64 {
        match self {
            Self::Steps(step) | Self::Implicit(step) => step,
            Self::Controlled(_) => 0.0,
        }
    }
}

/// A body on stations, without gravity of the plant.
struct Scene {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    body: BodyIndex,
    springs: Vec<Handle<ExponentialSpring<f64>>>,
}

fn along_x(speed: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::zeros(), Vector3::new(speed, 0.0, 0.0))
}

impl Scene {
    fn new(mass: f64, inertia: f64) -> Self {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let rigid = RigidBody::with_equal_inertia(mass, inertia).expect("positive");
        let body = plant.add_body(&mut system, rigid);
        Self { system, plant, body, springs: Vec::new() }
    }

    fn add_spring(&mut self, plane: Frame<f64>, station: Point3<f64>, parameters: Parameters<f64>) {
        let station = Station::on(self.body, station);
        let spring = ExponentialSpring::new(plane, station, parameters).expect("valid");
        self.springs.push(self.system.add(spring).expect("exists"));
    }

    /// Pulls at the body's origin with a force that depends on time and on where it is.
    fn add_pull(&mut self, force: impl Fn(f64, Vector3<f64>) -> Vector3<f64> + Send + Sync + 'static) {
        let body = self.body;
        let pull = CustomForce::<f64>::new(move |motion, loads| {
            let p_GB = motion.pose(body).translation.vector;
            let force = force(motion.time(), p_GB);
            loads.apply_at_point(body, &Point3::from(p_GB), force);
            loads.apply_at_point(BodyIndex::GROUND, &Point3::from(p_GB), -force);
            0.0
        });
        self.system.add(pull).expect("exists");
    }

    fn start(&self, pose: Pose<f64>, velocity: SpatialVelocity<f64>) -> Simulation<'_, f64> {
        let mut state = self.system.default_state();
        state.set_body(self.body, pose, velocity).expect("finite");
        Simulation::new(&self.system, &self.plant, state).expect("regular")
    }

    fn position(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        simulation.state().positions().pose(self.body).translation.vector
    }

    fn velocity(&self, simulation: &Simulation<'_, f64>) -> Vector3<f64> {
        simulation.state().velocities().velocity(self.body).linear
    }
}

fn default_parameters() -> Parameters<f64> {
    Parameters { mu_static: MU_STATIC, mu_kinetic: MU_KINETIC, ..Parameters::default() }
}

#[test]
fn a_load_that_rises_slowly_is_held_up_to_static_friction() {
    let (mass, rate, parameters) = (2.5, 2.0, default_parameters());
    let limit = MU_STATIC * mass * GRAVITY;
    // Below kinetic friction for a second, in which what slides comes to rest.
    let load = move |time: f64| 10.0 + rate * (time - 1.0).max(0.0);
    let mut scene = Scene::new(mass, 1.0);
    scene.add_spring(Frame::ground(Pose::identity()), Point3::origin(), parameters);
    scene.add_pull(move |time, _| Vector3::new(load(time), 0.0, -mass * GRAVITY));
    let height = parameters.resting_height(mass * GRAVITY).expect("a load");
    for host in HOSTS {
        for speed in [0.0, 0.3] {
            let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(speed));
            host.run(&mut simulation, 1.5, |_| {});
            let foot = scene.position(&simulation).x - load(1.5) / parameters.friction_elasticity;
            let (mut let_go, mut most, mut last) = (None, 0.0_f64, simulation.time());
            host.run(&mut simulation, 6.0, |simulation| {
                let moved = scene.position(simulation).x - foot;
                let (time, velocity) = (simulation.time(), scene.velocity(simulation).x);
                let at = *simulation.dynamics().expect("regular").of(scene.springs[0]).dynamics;
                if let_go.is_none() {
                    most = most.max(-at.friction_force_P.x);
                    // It is drawn out in proportion: the load changes by 2 N a second, the oscillator follows in
                    // hundredths of a second.
                    let drawn = load(time) / parameters.friction_elasticity;
                    let (is_near, has_gone) = (load(time) > limit - 0.01, velocity > 0.01);
                    assert!(is_near || (moved - drawn).abs() < 2e-5, "{host:?}: {moved} m for {drawn} m");
                    let_go = has_gone.then(|| (load(last), load(time)));
                }
                last = time;
            });
            let (before, after) = let_go.expect("it lets go");
            // At 2 m/s² it has a hundredth of a metre a second after 5 ms; and it may go at the end of a step.
            let late = rate * (0.01 + host.delay());
            assert!(before < limit + late && after > limit, "{host:?}, {speed} m/s: {before} N to {after} N");
            assert!((most / limit - 1.0).abs() < 1e-3, "{host:?}, {speed} m/s: {most} N of {limit} N");
        }
    }
}

#[test]
fn a_capsule_pinched_between_two_plates_does_not_creep() {
    let (mass, radius, half_length) = (0.5, 0.02, 0.05);
    // Stable in steps of 5 ms: a softer spring, and a lighter pinch, by twice the load that kinetic friction holds.
    let parameters = default_parameters().with_critical_damping(2000.0, mass / 4.0);
    let height = parameters.resting_height(4.0).expect("a load");
    let mut scene = Scene::new(mass, 5e-4);
    for side in [-1.0, 1.0] {
        let towards = Rotation3::from_axis_angle(&Vector3::y_axis(), -side * std::f64::consts::FRAC_PI_2);
        let plate = Pose::from_parts(Vector3::new(side * (radius + height), 0.0, 0.0).into(), towards);
        for end in [-1.0, 1.0] {
            let station = Point3::new(side * radius, 0.0, end * half_length);
            scene.add_spring(Frame::ground(plate), station, parameters);
        }
    }
    scene.add_pull(move |_, _| Vector3::new(0.0, 0.0, -mass * GRAVITY));
    for host in HOSTS {
        for speed in [0.0, -0.5] {
            let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, speed));
            let mut simulation = scene.start(Pose::identity(), velocity);
            host.run(&mut simulation, 4.0, |_| {});
            let before = scene.position(&simulation);
            assert!(speed == 0.0 || before.z < -1e-3, "it has slid: {before}");
            host.run(&mut simulation, 8.0, |_| {});
            let creep = (scene.position(&simulation) - before).norm() / 4.0;
            // What is left of vibration, which error control keeps up by its accuracy.
            assert!(creep < 1e-10, "{host:?}, {speed} m/s: {creep} m/s");
        }
    }
}

#[test]
fn a_push_between_kinetic_and_static_friction_holds_what_came_to_rest() {
    // The load of half a second after the stop: 90 % of static friction, drawn out slowly.
    let (mass, parameters) = (2.5, default_parameters());
    let limit = MU_STATIC * mass * GRAVITY;
    let mut scene = Scene::new(mass, 1.0);
    scene.add_spring(Frame::ground(Pose::identity()), Point3::origin(), parameters);
    scene
        .plant
        .set_body_load(
            scene.body,
            SpatialForce::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -mass * GRAVITY)),
        )
        .expect("finite");
    scene.add_pull(move |time, _| Vector3::new(0.9 * limit * (time - 0.5).clamp(0.0, 1.0), 0.0, 0.0));
    let height = parameters.resting_height(mass * GRAVITY).expect("a load");
    for host in HOSTS {
        let mut simulation = scene.start(Pose::translation(0.0, 0.0, height), along_x(0.5));
        host.run(&mut simulation, 3.0, |_| {});
        let before = scene.position(&simulation).x;
        host.run(&mut simulation, 6.0, |_| {});
        let creep = (scene.position(&simulation).x - before) / 3.0;
        // What is left of vibration.
        assert!(creep.abs() < 1e-10, "{host:?}: {creep} m/s");
    }
}
