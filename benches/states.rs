//! Cost of copies of a state, beside that of an evaluation, and of many states of one system.
//!
//! Scene: 100 bushings, 100 exponential springs and 100 coordinate elements with bristles, on 101 bodies and 100
//! coordinates.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use force_elements::nalgebra::{Point3, Vector6};
use force_elements::{
    BodyIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ExponentialSpring, ForceSystem, Frame,
    LinearBushing, Pose, State, Station, Worlds, coordinate_spring_damper_ext, exponential_spring,
    linear_bushing,
};

fn scene() -> Result<(ForceSystem<f64>, State<f64>), Error> {
    let mut system = ForceSystem::<f64>::new();
    let mut last = system.add_body();
    for _ in 0..100 {
        let body = system.add_body();
        let (stiffness, damping) = (Vector6::repeat(100.0), Vector6::repeat(1.0));
        let bushing = linear_bushing::Parameters { stiffness, damping };
        system.add(LinearBushing::new(Frame::of(last), Frame::of(body), bushing)?)?;
        let spring = exponential_spring::Parameters::default();
        let station = Station::on(body, Point3::new(0.1, 0.2, -0.1));
        system.add(ExponentialSpring::new(Frame::ground(Pose::identity()), station, spring)?)?;
        let bristles = coordinate_spring_damper_ext::Parameters {
            dynamic_friction: 2.0,
            sticking_stiffness: 1e4,
            ..Default::default()
        };
        let slider = system.add_coordinate();
        system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), bristles)?)?;
        last = body;
    }
    let mut state = system.default_state();
    for (i, body) in (0_u32..).zip(system.bodies()) {
        state.set_pose(body, Pose::translation(0.01 * f64::from(i).sin(), 0.0, 0.1))?;
    }
    system.reset_memories(&mut state)?;
    Ok((system, state))
}

fn copies(criterion: &mut Criterion) {
    let (system, mut state) = scene().expect("valid");
    system.realize_dynamics(&mut state).expect("regular");
    let mut group = criterion.benchmark_group("copies");
    let mut time = 0.0;
    let mut evaluated = state.clone();
    group.bench_function("evaluation", |bencher| {
        bencher.iter(|| {
            time += 1e-6;
            evaluated.set_time(time).expect("finite");
            black_box(system.realize_dynamics(black_box(&mut evaluated)).expect("regular").potential_energy())
        });
    });
    group.bench_function("clone", |bencher| bencher.iter(|| black_box(state.clone())));
    let mut copy = state.clone();
    group.bench_function("clone_from", |bencher| bencher.iter(|| copy.clone_from(black_box(&state))));
    let mut checkpoint = state.checkpoint();
    group.bench_function("save_to", |bencher| bencher.iter(|| black_box(&state).save_to(&mut checkpoint)));
    group.bench_function("return_to", |bencher| {
        bencher.iter(|| copy.return_to(black_box(&checkpoint)).expect("the same system"));
    });
    let mut bytes = state.to_bytes();
    group.bench_function("save_bytes", |bencher| {
        bencher.iter(|| black_box(&state).save_bytes(&mut bytes));
    });
    group.bench_function("restore_bytes", |bencher| {
        bencher.iter(|| copy.restore_bytes(black_box(&bytes)).expect("the same system"));
    });
    group.bench_function("snapshot", |bencher| bencher.iter(|| black_box(state.snapshot())));
    group.finish();
}

/// A body on four exponential springs.
fn body_on_springs() -> Result<(ForceSystem<f64>, BodyIndex), Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let floor = Frame::ground(Pose::identity());
    for (x, y) in [(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)] {
        let station = Station::on(body, Point3::new(x, y, -0.1));
        system.add(ExponentialSpring::new(floor, station, exponential_spring::Parameters::default())?)?;
    }
    Ok((system, body))
}

/// Each world is set, evaluated, accepted and read.
fn worlds(criterion: &mut Criterion) {
    let (system, body) = body_on_springs().expect("valid");
    let mut group = criterion.benchmark_group("worlds");
    group.sample_size(20);
    for count in [200, 10_000, 100_000] {
        let mut worlds = Worlds::new(&system.default_state(), count);
        let heights: Vec<_> = (0..).take(count).map(|i: u32| 0.1 + 1e-3 * f64::from(i).sin()).collect();
        let mut forces = vec![0.0; count];
        let mut time = 0.0;
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("a body on four springs", count), |bencher| {
            bencher.iter(|| {
                time += 1e-6;
                let visited = worlds.visit(&heights, &mut forces, |state, height, force| {
                    state.set_time(time)?;
                    state.set_pose(body, Pose::translation(0.0, 0.0, height[0]))?;
                    force[0] = system.realize_dynamics(state)?.body_force(body).force.z;
                    system.accept_step(state)
                });
                visited.expect("regular");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, copies, worlds);
criterion_main!(benches);
