//! Contacts that a body in free flight touches and leaves, which error control alone does not see.

use force_elements::cable::CablePath;
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{DormandPrince, Implicit, Integrator, Plant, RigidBody, Simulation};
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt, ElasticFoundation,
    ExponentialSpring, ForceSystem, Frame, HertzContact, Pose, SpatialVelocity, Station, cable_spring,
    coordinate_spring_damper_ext as coordinate, exponential_spring, hertz_contact,
};
use force_elements_scenes::{is_at_length, one_in};

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
    let ball = (center, RADIUS);
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
                .add(HertzContact::on_half_space(overturned(height + RADIUS), ball, steel).expect("valid"))
                .expect("exists");
        }
        Ceiling::Ball => {
            let other = (Station::ground(Point3::new(0.0, 0.0, height + 2.0 * RADIUS)), RADIUS);
            system.add(HertzContact::on_ball(other, ball, steel).expect("valid")).expect("exists");
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
    let mut is_drawn = one_in(4);
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
                    if is_drawn() {
                        check("explicit", accuracy, toss(&scene, &mut DormandPrince::new(accuracy), end));
                    }
                    if is_drawn() {
                        let mut trapezoidal = Implicit::trapezoidal(10.0).with_accuracy(accuracy);
                        check("trapezoidal", accuracy, toss(&scene, &mut trapezoidal, end));
                    }
                    if is_drawn() {
                        let mut tr_bdf2 = Implicit::tr_bdf2(10.0).with_accuracy(accuracy);
                        check("tr-bdf2", accuracy, toss(&scene, &mut tr_bdf2, end));
                    }
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

#[test]
fn a_box_tossed_up_to_a_ceiling_touches_it_when_short_steps_say_so() {
    let deal = &mut Numbers::new(41);
    for case in 0..if is_at_length() { 300 } else { 15 } {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(0.0, 0.0, -GRAVITY)).expect("finite");
        let inertia = Matrix3::from_diagonal(&Vector3::new(2e-3, 3e-3, 4e-3));
        let body =
            plant.add_body(&mut system, RigidBody::new(1.0, Point3::origin(), inertia).expect("regular"));
        let elastic = exponential_spring::Parameters {
            d0: 0.0,
            d1: 1.0,
            d2: 2e3,
            normal_viscosity: 0.2,
            ..Default::default()
        };
        let (spin, thrown) = (deal.vector::<f64>([0.0, 3.0, 20.0][case % 3]), deal.vector::<f64>(3.0));
        let thrown = thrown + Vector3::z() * deal.between::<f64>(4.0, 8.0);
        // The ceiling is about as high as it flies; walls and floor are farther than it gets.
        let ceiling = 0.5 * thrown.z * thrown.z / GRAVITY + deal.between::<f64>(-0.3, 0.2);
        for wall in 0..6 {
            let outward = match wall {
                5 => Vector3::z() * ceiling,
                2 => Vector3::z() * -200.0,
                _ => Vector3::ith(wall % 3, if wall < 3 { 50.0 } else { -50.0 }),
            };
            let inward = Rotation3::rotation_between(&Vector3::z(), &-outward)
                .unwrap_or_else(|| Rotation3::new(Vector3::x() * core::f64::consts::PI));
            for corner in 0..8_u8 {
                let side = |axis: u8| if corner >> axis & 1 == 0 { -RADIUS } else { RADIUS };
                let station = Station::on(body, Point3::new(side(0), side(1), side(2)));
                let plane = Frame::ground(Pose::from_parts(outward.into(), inward));
                system.add(ExponentialSpring::new(plane, station, elastic).expect("valid")).expect("exists");
            }
        }
        let mut state = system.default_state();
        state.set_body(body, Pose::identity(), SpatialVelocity::new(spin, thrown)).expect("finite");
        system.reset_memories(&mut state).expect("regular");
        // When it no longer flies freely [s].
        let touches = |mut integrator: DormandPrince<f64>| {
            let mut simulation = Simulation::new(&system, &plant, state.clone()).expect("regular");
            while simulation.time() < 5.0 {
                integrator.step(&mut simulation, 5.0).expect("taken");
                let free = thrown - Vector3::z() * (GRAVITY * simulation.time());
                if (simulation.state().velocities().velocity(body).linear - free).norm() > 0.01 {
                    return simulation.time();
                }
            }
            f64::INFINITY
        };
        let [found, expected] =
            [DormandPrince::new(1e-6), DormandPrince::new(1e-6).with_max_step(1e-3)].map(touches);
        assert!(found == expected || (found - expected).abs() < 0.01, "{case}: {found} s for {expected} s");
    }
}
