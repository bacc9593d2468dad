//! Cost of an evaluation of an element: position, velocity and force, forces accumulated.
//!
//! Kinematics are set once; each evaluation starts from a new time, which drops the state below
//! Position stage. Divide by the number of elements for the cost of one. Options of a law stand beside the law as published.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use force_elements::{CoordinateSpringDamperExt, ForceSystem, Real, State};
use num_dual::Dual64;
use rayon::ThreadPoolBuilder;

mod scenes;

use scenes::{
    coordinates, gimbals, gimbals_over_numbers, hertz_contacts, spatial_bushings, springs, springs_with,
};

/// Evaluates at a new time, over and over.
fn measure<T: Real>(
    criterion: &mut Criterion,
    group: &str,
    name: &str,
    (system, mut state): (ForceSystem<T>, State<T>),
) {
    let count = system.element_count();
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(count as u64));
    let mut time = T::zero();
    group.bench_function(BenchmarkId::new(name, count), |bencher| {
        bencher.iter(|| {
            time += T::lit(1e-6);
            state.set_time(time).expect("finite");
            let view = system.realize_dynamics(black_box(&mut state)).expect("regular");
            black_box(view.potential_energy())
        });
    });
    group.finish();
}

fn what_does_an_evaluation_cost(criterion: &mut Criterion) {
    measure(criterion, "linear_bushing", "f64", gimbals::<f64>(200));
    measure(criterion, "linear_bushing", "f64 over numbers", gimbals_over_numbers::<f64>(200));
    for (name, coupled, with_curves) in
        [("f64", 0, 0), ("coupled", 6, 0), ("two curves", 0, 2), ("coupled, six curves", 6, 6)]
    {
        measure(criterion, "spatial_bushing", name, spatial_bushings::<f64>(200, coupled, with_curves));
    }
    measure(criterion, "exponential_spring", "f64", springs::<f64>(200));
    for (name, settling) in [("settling", true), ("return mapping", false)] {
        for (motion, speed) in [("moving", 1.0), ("at rest", 0.0)] {
            let springs = springs_with::<f64>(200, settling, speed);
            measure(criterion, "exponential_spring", &format!("{name}, {motion}"), springs);
        }
    }
    measure(criterion, "hertz_contact", "on a plane", hertz_contacts::<f64>(200, false));
    measure(criterion, "hertz_contact", "on a ball", hertz_contacts::<f64>(200, true));
    let regularised = coordinates::<f64>(1000, |p| p.friction_proportional_zone = 0.01);
    measure(criterion, "coordinate_spring_damper_ext", "regularised", regularised);
    measure(criterion, "coordinate_spring_damper_ext", "bristle", coordinates::<f64>(1000, |_| {}));
    let under_load = coordinates::<f64>(1000, |p| {
        (p.dynamic_friction, p.dynamic_friction_coefficient, p.friction_load) = (0.0, 0.2, 10.0);
    });
    measure(criterion, "coordinate_spring_damper_ext", "bristle under load", under_load);
    for (name, transition) in [("switched stops", 0.0), ("smooth stops", 0.1)] {
        let stopped = coordinates::<f64>(1000, |p| {
            p.friction_proportional_zone = 0.01;
            (p.use_limit_stops, p.limit_stops_transition) = (true, transition);
            (p.limit_stops_upper_stiffness, p.limit_stops_lower_stiffness) = (1e4, 1e4);
        });
        measure(criterion, "coordinate_spring_damper_ext", name, stopped);
    }
}

fn what_does_a_load_cost_to_write(criterion: &mut Criterion) {
    let (system, mut state) = coordinates::<f64>(1000, |p| p.friction_proportional_zone = 0.01);
    let handles: Vec<_> =
        system.elements().filter_map(|id| system.handle::<CoordinateSpringDamperExt<f64>>(id)).collect();
    let mut group = criterion.benchmark_group("coordinate_spring_damper_ext");
    group.throughput(Throughput::Elements(1000));
    let mut load = 0.0;
    group.bench_function("writing the load", |bencher| {
        bencher.iter(|| {
            for &handle in &handles {
                load += 1e-6;
                system.update_parameters(&mut state, handle, |p| p.friction_load = load).expect("finite");
            }
        });
    });
    group.finish();
}

fn what_does_the_scalar_cost(criterion: &mut Criterion) {
    measure(criterion, "linear_bushing", "f32", gimbals::<f32>(200));
    measure(criterion, "linear_bushing", "dual", gimbals::<Dual64>(200));
    measure(criterion, "exponential_spring", "f32", springs::<f32>(200));
    measure(criterion, "exponential_spring", "dual", springs::<Dual64>(200));
}

/// The rows of the comparison with other programs, over numbers of elements: evaluated, and also committed; on one thread and,
/// with the feature `rayon`, on all. Where work is not worth a thread, both take the same.
fn what_do_more_elements_cost(criterion: &mut Criterion) {
    for count in [1, 10, 100, 1000, 10_000, 100_000] {
        let settling = || springs_with::<f64>(count, true, 1.0);
        let regularised = || coordinates::<f64>(count, |p| p.friction_proportional_zone = 0.01);
        for commits in [false, true] {
            sweep(criterion, "LinearBushing", commits, gimbals::<f64>(count));
            sweep(criterion, "ExponentialSpring", commits, settling());
            sweep(criterion, "coordinate element, regularised", commits, regularised());
            sweep(criterion, "coordinate element, bristles", commits, coordinates::<f64>(count, |_| {}));
        }
    }
}

/// Evaluates on one thread and on all of them.
fn sweep(criterion: &mut Criterion, group: &str, commits: bool, scene: (ForceSystem<f64>, State<f64>)) {
    let (system, mut state) = scene;
    let count = system.element_count();
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(count as u64));
    group.sample_size(20).warm_up_time(Duration::from_millis(200));
    group.measurement_time(Duration::from_millis(500));
    let mut time = 0.0;
    let all = cfg!(feature = "rayon").then_some("all threads");
    for threads in ["one thread"].into_iter().chain(all) {
        let with = if commits { ", with commit" } else { "" };
        let mut evaluate = || {
            time += 1e-6;
            state.set_time(time).expect("finite");
            let view = system.realize_dynamics(black_box(&mut state)).expect("regular");
            black_box(view.potential_energy());
            if commits {
                system.accept_step(&mut state).expect("in range");
            }
        };
        group.bench_function(BenchmarkId::new(format!("{threads}{with}"), count), |bencher| {
            let mut measure = |iterations| {
                let start = Instant::now();
                (0..iterations).for_each(|_| evaluate());
                start.elapsed()
            };
            if threads == "one thread" {
                let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
                bencher.iter_custom(|iterations| pool.install(|| measure(iterations)));
            } else {
                // As a host calls it, which is no thread of the pool.
                bencher.iter_custom(measure);
            }
        });
    }
    group.finish();
}

criterion_group!(
    benches,
    what_does_an_evaluation_cost,
    what_does_a_load_cost_to_write,
    what_does_the_scalar_cost,
    what_do_more_elements_cost
);
criterion_main!(benches);
