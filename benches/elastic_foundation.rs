//! Cost of an evaluation of contact: position, velocity and force.
//!
//! - `budget`: the scenes of the speed table, a sphere of 8192 faces on a half-space and on its like.
//! - `clipped`: the scenes of the budget with clipped faces.
//! - `anchored`: a sphere on a half-space with anchors, without and with the commit of a step.
//! - `growth`: the same at depth 1 % with 512 to 80,000 faces, where the contact has more faces too.
//! - `not_convex`: two tori of 8192 faces that lie on each other, where no plane helps to tell in from out.
//! - `crowd`: spheres in a row on a floor, each touching its neighbours.
//! - `scalars`: a mesh of 8192 faces built in `f64`, and built and cast in dual numbers of twelve directions; the scenes
//!   of the budget at 1 % in single precision and in these duals.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "criterion's macros; a bench stops at the first surprise"
)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::{
    BodyIndex, ElasticFoundation, ForceSystem, Frame, Pose, Real, SpatialVelocity, State, cast_pose,
};
use num_dual::DualSVec64;

struct Scene<T: Real = f64> {
    system: ForceSystem<T>,
    state: State<T>,
    body: BodyIndex,
    pose: Pose<T>,
    velocity: SpatialVelocity<T>,
}

impl<T: Real> Scene<T> {
    fn evaluate(&mut self) -> T {
        self.state.set_body(self.body, self.pose, self.velocity).unwrap();
        self.system.realize_dynamics(&mut self.state).unwrap().body_force(self.body).force.z
    }

    fn cast<U: Real>(&self) -> Scene<U> {
        let system = self.system.cast::<U>().unwrap();
        let state = system.cast_state(&self.state).unwrap();
        let (pose, velocity) = (cast_pose(&self.pose), self.velocity.cast());
        Scene { system, state, body: self.body, pose, velocity }
    }
}

fn rubber() -> Material<f64> {
    Material::new(1e6).with_dissipation(0.1).with_friction(0.9, 0.7, 0.01).with_grip(1e6, 1e3)
}

fn velocity() -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::new(0.1, 0.2, -0.3), Vector3::new(0.05, -0.02, -0.1))
}

/// Turned so that no axis of the mesh is along the normal.
fn turned(z: f64) -> Pose<f64> {
    Pose::from_parts(Translation3::new(0.0, 0.0, z), Rotation3::new(Vector3::new(0.3, 0.4, 0.2)))
}

fn on_half_space(frequency: u32, depth: f64, parameters: Parameters<f64>) -> Scene {
    on_ground(ElasticFoundation::new(parameters).unwrap(), frequency, depth)
}

fn anchored(frequency: u32, depth: f64) -> Scene {
    on_ground(ElasticFoundation::default().with_anchors(), frequency, depth)
}

fn on_ground(mut foundation: ElasticFoundation<f64>, frequency: u32, depth: f64) -> Scene {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).unwrap();
    let mesh = TriangleMesh::sphere(1.0, frequency).unwrap();
    foundation.add_springs(Frame::of(body), mesh, rubber()).unwrap();
    system.add(foundation).unwrap();
    let state = system.default_state();
    Scene { system, state, body, pose: turned(1.0 - depth), velocity: velocity() }
}

fn on_its_like(mesh: TriangleMesh<f64>, pose: Pose<f64>, parameters: Parameters<f64>) -> Scene {
    let mut system = ForceSystem::new();
    let (other, body) = (system.add_body(), system.add_body());
    let mut foundation = ElasticFoundation::new(parameters).unwrap();
    let mesh = Arc::new(mesh);
    for body in [other, body] {
        foundation.add_springs(Frame::of(body), Arc::clone(&mesh), rubber()).unwrap();
    }
    system.add(foundation).unwrap();
    let state = system.default_state();
    Scene { system, state, body, pose, velocity: velocity() }
}

fn sphere_on_sphere(frequency: u32, depth: f64, parameters: Parameters<f64>) -> Scene {
    on_its_like(TriangleMesh::sphere(1.0, frequency).unwrap(), turned(2.0 - depth), parameters)
}

fn torus_on_torus(depth: f64) -> Scene {
    let turn = Rotation3::new(Vector3::new(0.0, 0.0, 0.2));
    let pose = Pose::from_parts(Translation3::new(0.0, 0.0, 0.6 - 0.3 * depth), turn);
    on_its_like(TriangleMesh::torus(0.7, 0.3, 128, 32).unwrap(), pose, Parameters::default())
}

fn crowd(count: usize) -> Scene {
    let mut system = ForceSystem::new();
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).unwrap();
    let mesh = Arc::new(TriangleMesh::sphere(1.0, 8).unwrap());
    let bodies: Vec<_> = (0..count).map(|_| system.add_body()).collect();
    for &body in &bodies {
        foundation.add_springs(Frame::of(body), Arc::clone(&mesh), rubber()).unwrap();
    }
    system.add(foundation).unwrap();
    let mut state = system.default_state();
    let mut x = 0.0;
    for &body in &bodies {
        state.set_pose(body, Pose::translation(x, 0.0, 0.99)).unwrap();
        x += 1.99;
    }
    Scene { system, state, body: bodies[0], pose: turned(0.99), velocity: velocity() }
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("budget");
    for percent in [1_u32, 5] {
        let depth = f64::from(percent) / 100.0;
        for (name, mut scene) in [
            ("sphere_on_half_space", on_half_space(32, depth, Parameters::default())),
            ("sphere_on_sphere", sphere_on_sphere(32, depth, Parameters::default())),
        ] {
            group.bench_function(BenchmarkId::new(name, format!("{percent}%")), |bencher| {
                bencher.iter(|| black_box(scene.evaluate()));
            });
        }
    }
    group.finish();

    let mut group = criterion.benchmark_group("clipped");
    let parameters = Parameters { clipped: true, ..Parameters::default() };
    for percent in [1_u32, 5] {
        let depth = f64::from(percent) / 100.0;
        let mut scene = on_half_space(32, depth, parameters.clone());
        group.bench_function(BenchmarkId::new("sphere_on_half_space", format!("{percent}%")), |bencher| {
            bencher.iter(|| black_box(scene.evaluate()));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("anchored");
    for percent in [1_u32, 5] {
        let mut scene = anchored(32, f64::from(percent) / 100.0);
        scene.evaluate();
        scene.system.accept_step(&mut scene.state).unwrap();
        group.bench_function(BenchmarkId::new("evaluation", format!("{percent}%")), |bencher| {
            bencher.iter(|| black_box(scene.evaluate()));
        });
        group.bench_function(BenchmarkId::new("evaluation_and_commit", format!("{percent}%")), |bencher| {
            bencher.iter(|| {
                black_box(scene.evaluate());
                scene.system.accept_step(&mut scene.state).unwrap();
            });
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("growth");
    for frequency in [8_u32, 16, 32, 64, 100] {
        let faces = 8 * frequency * frequency;
        for (name, mut scene) in [
            ("sphere_on_half_space", on_half_space(frequency, 0.01, Parameters::default())),
            ("sphere_on_sphere", sphere_on_sphere(frequency, 0.01, Parameters::default())),
        ] {
            group.bench_function(BenchmarkId::new(name, faces), |bencher| {
                bencher.iter(|| black_box(scene.evaluate()));
            });
        }
    }
    group.finish();

    let mut group = criterion.benchmark_group("not_convex");
    for percent in [1_u32, 5] {
        let mut scene = torus_on_torus(f64::from(percent) / 100.0);
        group.bench_function(BenchmarkId::new("torus_on_torus", format!("{percent}%")), |bencher| {
            bencher.iter(|| black_box(scene.evaluate()));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("crowd");
    for count in [10, 100, 1000] {
        let mut scene = crowd(count);
        group.bench_function(BenchmarkId::new("spheres_in_a_row", count), |bencher| {
            bencher.iter(|| black_box(scene.evaluate()));
        });
    }
    group.finish();
}

fn bench_scalars(criterion: &mut Criterion) {
    type Duals = DualSVec64<12>;
    let mut group = criterion.benchmark_group("scalars");
    let mesh = TriangleMesh::<f64>::sphere(1.0, 32).unwrap();
    let vertices: Vec<_> = mesh.vertices().collect();
    let in_duals: Vec<_> = vertices.iter().map(|v| v.map(Real::cast::<Duals>)).collect();
    group.bench_function("build", |bencher| {
        bencher.iter(|| TriangleMesh::closed(black_box(&vertices), mesh.faces()).unwrap());
    });
    group.bench_function("build_in_duals", |bencher| {
        bencher.iter(|| TriangleMesh::closed(black_box(&in_duals), mesh.faces()).unwrap());
    });
    group.bench_function("cast_to_duals", |bencher| {
        bencher.iter(|| black_box(&mesh).cast::<Duals>().unwrap());
    });
    for (name, scene) in [
        ("sphere_on_half_space", on_half_space(32, 0.01, Parameters::default())),
        ("sphere_on_sphere", sphere_on_sphere(32, 0.01, Parameters::default())),
    ] {
        let (mut single, mut duals) = (scene.cast::<f32>(), scene.cast::<Duals>());
        group.bench_function(BenchmarkId::new(name, "single"), |bencher| {
            bencher.iter(|| black_box(single.evaluate()));
        });
        group.bench_function(BenchmarkId::new(name, "duals"), |bencher| {
            bencher.iter(|| black_box(duals.evaluate()));
        });
        group.bench_function(BenchmarkId::new(name, "cast_of_the_state"), |bencher| {
            bencher.iter(|| duals.system.cast_state(black_box(&scene.state)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, bench, bench_scalars);
criterion_main!(benches);
