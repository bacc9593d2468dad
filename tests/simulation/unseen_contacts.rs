//! Contacts that a body in free flight touches and leaves, which error control alone does not see.

use force_elements::cable::CablePath;
use force_elements::elastic_foundation::Material;
use force_elements::hertz_contact::Ball;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{
    DormandPrince, ImplicitTrapezoidal, Integrator, Plant, RigidBody, Simulation, TrBdf2,
};
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ElasticFoundation,
    ExponentialSpring, ForceSystem, Frame, HertzContact, Pose, SpatialVelocity, Station, cable_spring,
    coordinate_spring_damper_ext as coordinate, exponential_spring, hertz_contact,
};

const GRAVITY: f64 = 9.81;
/// The speed at which it is tossed up \[m/s\].
const TOSSED: f64 = 8.0;
const APEX: f64 = 0.5 * TOSSED * TOSSED / GRAVITY;
const RADIUS: f64 = 0.1;

/// What stops a mass of 1 kg that is tossed up.
#[derive(Debug, Clone, Copy)]
enum Ceiling {
    Spring,
    Foundation,
    TurnedFoundation,
    Hertz,
    Ball,
    Stop,
    SmoothStop,
    Cable,
}

const CEILINGS: [Ceiling; 8] = [
    Ceiling::Spring,
    Ceiling::Foundation,
    Ceiling::TurnedFoundation,
    Ceiling::Hertz,
    Ceiling::Ball,
    Ceiling::Stop,
    Ceiling::SmoothStop,
    Ceiling::Cable,
];

enum Tossed {
    Body(BodyIndex),
    Slider(CoordinateIndex),
}

struct Scene {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    tossed: Tossed,
}

/// With a ceiling that a mass meets at this height, elastic and so stiff that the impact takes no longer than 5 ms.
fn scene(ceiling: Ceiling, height: f64) -> Scene {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -GRAVITY)).expect("finite");
    if let Ceiling::Stop | Ceiling::SmoothStop = ceiling {
        let slider = plant.add_coordinate(&mut system, 1.0).expect("positive");
        plant.set_coordinate_load(slider, -GRAVITY).expect("finite");
        let stop = coordinate::Parameters {
            use_limit_stops: true,
            limit_stops_upper: height,
            limit_stops_lower: -1e3,
            limit_stops_upper_stiffness: 1e6,
            limit_stops_transition: if let Ceiling::Stop = ceiling { 0.0 } else { 1e-3 },
            ..coordinate::Parameters::default()
        };
        system
            .add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), stop).expect("valid"))
            .expect("exists");
        return Scene { system, plant, tossed: Tossed::Slider(slider) };
    }
    let sphere = Matrix3::identity() * 4e-3;
    let body = plant.add_body(&mut system, RigidBody::new(1.0, Point3::origin(), sphere).expect("regular"));
    let overturned = |z: f64| {
        Frame::ground(Pose::from_parts(
            Vector3::new(0.0, 0.0, z).into(),
            Rotation3::new(Vector3::x() * core::f64::consts::PI),
        ))
    };
    let center = Station::on(body, Point3::origin());
    let add_mesh = |system: &mut ForceSystem<f64>, X_BS: Pose<f64>, mesh, top: f64| {
        let mut foundation = ElasticFoundation::default();
        foundation.add_rigid(overturned(height + top), HalfSpace::BelowZ).expect("valid");
        foundation.add_springs(Frame::on(body, X_BS), mesh, Material::new(1e9)).expect("valid");
        system.add(foundation).expect("exists");
    };
    let ball = Ball::new(center, RADIUS);
    let steel = hertz_contact::Parameters {
        effective_modulus: 1e9,
        dissipation: 0.0,
        ..hertz_contact::Parameters::default()
    };
    match ceiling {
        Ceiling::Spring => {
            let elastic = exponential_spring::Parameters {
                d0: 0.0,
                d1: 1.0,
                d2: 1e4,
                normal_viscosity: 0.0,
                ..Default::default()
            };
            system
                .add(ExponentialSpring::new(overturned(height), center, elastic).expect("valid"))
                .expect("exists");
        }
        Ceiling::Foundation => {
            add_mesh(
                &mut system,
                Pose::identity(),
                TriangleMesh::brick(Vector3::repeat(RADIUS), [4; 3]).expect("valid"),
                RADIUS,
            );
        }
        // The box around the ball reaches farther up than the ball.
        Ceiling::TurnedFoundation => {
            let X_BS = Pose::from_parts(Vector3::zeros().into(), Rotation3::new(Vector3::new(0.6, 0.6, 0.0)));
            add_mesh(&mut system, X_BS, TriangleMesh::sphere(RADIUS, 12).expect("valid"), RADIUS);
        }
        Ceiling::Hertz => {
            system
                .add(HertzContact::new(overturned(height + RADIUS), ball, steel).expect("valid"))
                .expect("exists");
        }
        Ceiling::Ball => {
            let other = Ball::new(Station::ground(Point3::new(0.0, 0.0, height + 2.0 * RADIUS)), RADIUS);
            system.add(HertzContact::new(other, ball, steel).expect("valid")).expect("exists");
        }
        Ceiling::Cable => {
            let path =
                CablePath::new(Station::ground(Point3::new(0.0, 0.0, -100.0)), center).expect("two bodies");
            let elastic =
                cable_spring::Parameters { stiffness: 1e6, slack_length: height + 100.0, dissipation: 0.0 };
            system.add(CableSpring::new(path, elastic).expect("valid")).expect("exists");
        }
        Ceiling::Stop | Ceiling::SmoothStop => {}
    }
    Scene { system, plant, tossed: Tossed::Body(body) }
}

/// The height of the mass after this time, and the number of accepted steps.
fn toss(scene: &Scene, integrator: &mut impl Integrator<f64>, end: f64) -> (f64, usize) {
    let Scene { system, plant, tossed } = scene;
    let mut state = system.default_state();
    match *tossed {
        Tossed::Body(body) => {
            let up = SpatialVelocity::new(Vector3::zeros(), Vector3::z() * TOSSED);
            state.set_body(body, Pose::identity(), up).expect("finite");
        }
        Tossed::Slider(slider) => state.set_coordinate_rate(slider, TOSSED).expect("finite"),
    }
    system.reset_memories(&mut state).expect("regular");
    let mut simulation = Simulation::new(system, plant, state).expect("regular");
    simulation.run(integrator, end, |_| {}).expect("taken");
    let positions = simulation.state().positions();
    let height = match *tossed {
        Tossed::Body(body) => positions.pose(body).translation.z,
        Tossed::Slider(slider) => positions.coordinate(slider),
    };
    (height, simulation.statistics().steps)
}

#[test]
fn a_ceiling_that_is_touched_within_a_step_is_seen_at_any_accuracy() {
    for ceiling in CEILINGS {
        for dip in [0.03, 0.2, 0.9] {
            let height = APEX - dip;
            let scene = scene(ceiling, height);
            for end in [1.5, 4.0] {
                // Thrown back at once, at the speed at which it arrives.
                let impact = (2.0 * GRAVITY * dip).sqrt();
                let falls = end - (TOSSED - impact) / GRAVITY;
                let expected = height - impact * falls - 0.5 * GRAVITY * falls * falls;
                let check = |name: &str, accuracy: f64, (found, _): (f64, usize)| {
                    // Unseen, it is higher by twice the impact speed times the time. The impact takes up to 5 ms; with an
                    // accuracy of 1e-3 it also loses speed.
                    let share = (found - expected) / (2.0 * impact * falls);
                    assert!(
                        share.abs() < if accuracy > 1e-4 { 0.3 } else { 0.05 },
                        "{ceiling:?}, {dip} m, {end} s, {name}, {accuracy}: {share}"
                    );
                };
                for accuracy in [1e-3, 1e-6, 1e-9] {
                    check("explicit", accuracy, toss(&scene, &mut DormandPrince::new(accuracy), end));
                    let mut trapezoidal = ImplicitTrapezoidal::new(10.0).with_accuracy(accuracy);
                    check("trapezoidal", accuracy, toss(&scene, &mut trapezoidal, end));
                    check(
                        "tr-bdf2",
                        accuracy,
                        toss(&scene, &mut TrBdf2::new(10.0).with_accuracy(accuracy), end),
                    );
                }
            }
        }
    }
}

#[test]
fn a_ceiling_that_is_not_touched_costs_a_few_steps() {
    // Two balls have a passing time, which takes more.
    for ceiling in CEILINGS.into_iter().filter(|ceiling| !matches!(ceiling, Ceiling::Ball)) {
        let [near, far] =
            [0.02, 1e2].map(|above| toss(&scene(ceiling, APEX + above), &mut DormandPrince::new(1e-6), 1.5));
        assert!((near.0 - far.0).abs() < 1e-9 && near.1 <= far.1 + 3, "{ceiling:?}: {near:?}, {far:?}");
    }
}
