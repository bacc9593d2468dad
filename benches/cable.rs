//! Cost of an evaluation of a tracked cable, by kind and number of obstacles.
//!
//! One end moves a little at each evaluation; position, velocity and forces are computed and the
//! step is accepted, so that the next one starts from it. Smoothness 1e-9 rad.
#![allow(non_snake_case, missing_docs, reason = "monogram notation; criterion's macros")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use force_elements::cable_spring;

mod tracked_cable;

use tracked_cable::{KINDS, Scene, bone};

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
    let mut scene = bone().and_then(|bone| Scene::over(vec![bone], 1)).expect("the scene is valid");
    group.bench_function(BenchmarkId::new("bone", 1), |bencher| {
        bencher.iter(|| scene.step().expect("the path converges"));
    });
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
            let wraps = scene.system.element(scene.cable).path().no_wraps();
            let nothing = cable_spring::Discrete { wraps, ..Default::default() };
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
