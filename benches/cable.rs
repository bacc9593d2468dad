//! Cost of an evaluation of a tracked cable, by kind and number of obstacles.
//!
//! One end moves a little at each evaluation; position, velocity and forces are computed and the
//! step is accepted, so that the next one starts from it. Smoothness 1e-9 rad.
#![allow(non_snake_case, missing_docs, reason = "monogram notation; criterion's macros")]

use core::f64::consts::FRAC_PI_2;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use force_elements::cable::{CablePath, Obstacle, PathError, Settings};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Cylinder, Ellipsoid, Sphere, Torus};
use force_elements::{
    BodyIndex, CableSpring, CapstanCable, Error, ForceElement, ForceSystem, Frame, Handle, Pose,
    SpatialVelocity, State, Station, cable_spring, capstan_cable,
};

const KINDS: [&str; 4] = ["sphere", "cylinder", "ellipsoid", "torus"];

fn obstacle(kind: &str, i: u32) -> Result<Obstacle<f64>, PathError> {
    let (x, raised) = (2.0 * f64::from(i), 0.25 * f64::from(i % 2));
    let at = |y: f64| Pose::translation(x, y + raised, 0.0);
    match kind {
        "sphere" => Obstacle::new(Frame::ground(at(-0.4)), Sphere::new(0.7)?),
        "cylinder" => Obstacle::new(Frame::ground(at(-0.4)), Cylinder::new(0.7)?),
        "ellipsoid" => Obstacle::new(Frame::ground(at(-0.4)), Ellipsoid::new(Vector3::new(0.7, 0.6, 1.0))?),
        _ => {
            let turned = Rotation3::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
            let X = Pose::from_parts(Translation3::new(x, 1.6 + raised, 0.0), turned);
            // The cable runs through the hole: over the lowest part of the ring.
            Obstacle::new(Frame::ground(X), Torus::new(2.0, 0.5)?)?
                .with_contact_hint(Point3::new(0.0, -1.5, 0.0))
        }
    }
}

struct Scene<E> {
    system: ForceSystem<f64>,
    state: State<f64>,
    cable: Handle<E>,
    end: BodyIndex,
    count: u32,
    angle: f64,
}

const ELASTIC: cable_spring::Parameters<f64> =
    cable_spring::Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.1 };

impl Scene<CableSpring<f64>> {
    fn new(kind: &str, count: u32) -> Result<Self, Error> {
        Self::with(kind, count, |path| CableSpring::new(path, ELASTIC))
    }
}

impl Scene<CapstanCable<f64>> {
    /// Sticks and slips as its end swings.
    fn with_friction(kind: &str, count: u32) -> Result<Self, Error> {
        let slack_length = 2.0 * f64::from(count);
        let elastic = cable_spring::Parameters { slack_length, ..ELASTIC };
        let friction = vec![0.3; count as usize];
        Self::with(kind, count, |path| {
            CapstanCable::new(path, capstan_cable::Parameters { elastic, friction })
        })
    }
}

impl<E: ForceElement<f64>> Scene<E> {
    fn with(
        kind: &str,
        count: u32,
        make: impl Fn(CablePath<f64>) -> Result<E, Error>,
    ) -> Result<Self, Error> {
        let mut system = ForceSystem::new();
        let end = system.add_body();
        let origin = Station { body: BodyIndex::GROUND, p_B: Point3::new(-1.5, 0.0, 0.0) };
        let mut path = CablePath::new(origin, Station { body: end, p_B: Point3::origin() })?;
        for i in 0..count {
            path = path.over(obstacle(kind, i)?);
        }
        let path = path.with_settings(Settings { smoothness: 1e-9, ..Settings::default() })?;
        let cable = system.add(make(path)?)?;
        let state = system.default_state();
        let mut scene = Self { system, state, cable, end, count, angle: 0.0 };
        scene.step()?;
        Ok(scene)
    }

    fn step(&mut self) -> Result<f64, Error> {
        let (a, n) = (self.angle, f64::from(self.count));
        let X =
            Pose::translation(2.0 * n + 1.0 + 0.1 * a.sin(), 0.2 * (1.3 * a).sin(), 0.3 * (0.7 * a).sin());
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.1, 0.2, 0.3));
        self.state.set_body(self.end, X, V)?;
        let energy = self.system.realize_dynamics(&mut self.state)?.potential_energy();
        self.system.accept_step(&mut self.state)?;
        self.angle += 0.01;
        Ok(energy)
    }
}

fn evaluation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one evaluation of a tracked cable");
    for kind in KINDS {
        for count in [1, 5] {
            let mut scene = Scene::new(kind, count).expect("the scene is valid");
            group.bench_function(BenchmarkId::new(kind, count), |bencher| {
                bencher.iter(|| scene.step().expect("the path converges"));
            });
        }
    }
    group.finish();
}

fn friction(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one evaluation of a cable with friction");
    for kind in KINDS {
        for count in [1, 5] {
            let mut scene = Scene::with_friction(kind, count).expect("the scene is valid");
            group.bench_function(BenchmarkId::new(kind, count), |bencher| {
                bencher.iter(|| scene.step().expect("the path converges"));
            });
        }
    }
    group.finish();
}

fn cold_start(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one search with nothing remembered");
    for kind in KINDS {
        for count in [1, 5] {
            let mut scene = Scene::new(kind, count).expect("the scene is valid");
            let nothing = scene.system.element(scene.cable).path().no_wraps();
            group.bench_function(BenchmarkId::new(kind, count), |bencher| {
                bencher.iter(|| {
                    scene
                        .system
                        .set_discrete(&mut scene.state, scene.cable, nothing.clone())
                        .expect("it is valid");
                    scene.step().expect("the path converges")
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, evaluation, friction, cold_start);
criterion_main!(benches);
