//! Cost of a linearization beside that of an evaluation, and of derivatives by dual numbers.
//!
//! `linearize` is without the evaluation that comes before it. In `Dual64` an evaluation gives one direction, in
//! `DualSVec64<12>` twelve; central differences take two evaluations for each.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use force_elements::{ForceSystem, Linearization, Real, Scope, State};
use num_dual::{Dual64, DualSVec64};

#[allow(dead_code, reason = "another bench takes the others")]
mod scenes;

use scenes::{coordinates, gimbals, spatial_bushings};

fn evaluate<T: Real>(
    criterion: &mut Criterion,
    group: &str,
    name: &str,
    (system, mut state): (ForceSystem<T>, State<T>),
) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(system.element_count() as u64));
    let mut time = T::zero();
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            time += T::lit(1e-6);
            state.set_time(time).expect("finite");
            let view = system.realize_dynamics(black_box(&mut state)).expect("regular");
            black_box(view.potential_energy())
        });
    });
    group.finish();
}

fn linearize(criterion: &mut Criterion, group: &str, (system, mut state): (ForceSystem<f64>, State<f64>)) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(system.element_count() as u64));
    system.realize_dynamics(&mut state).expect("regular");
    let all = Scope { variables: true, commit: true };
    for (name, scope) in [("linearize", Scope::default()), ("linearize with variables and commit", all)] {
        let mut linearization = Linearization::of(scope);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                system.linearize(black_box(&state), &mut linearization).expect("regular");
                black_box(&mut linearization);
            });
        });
    }
    group.finish();
}

/// All of these for one kind of scene.
macro_rules! compare {
    ($criterion:ident, $name:literal, $scene:expr) => {{
        fn scene<T: Real>() -> (ForceSystem<T>, State<T>) {
            let scene: fn() -> (ForceSystem<T>, State<T>) = $scene;
            scene()
        }
        evaluate($criterion, $name, "evaluation", scene::<f64>());
        linearize($criterion, $name, scene::<f64>());
        evaluate($criterion, $name, "Dual64", scene::<Dual64>());
        evaluate($criterion, $name, "DualSVec64<12>", scene::<DualSVec64<12>>());
    }};
}

fn what_does_a_linearization_cost(criterion: &mut Criterion) {
    compare!(criterion, "linearization/linear_bushing", || gimbals(200));
    compare!(criterion, "linearization/spatial_bushing", || spatial_bushings(200, 6, 2));
    compare!(criterion, "linearization/coordinate, bristles", || coordinates(1000, |_| {}));
    compare!(criterion, "linearization/coordinate, regularised", || {
        coordinates(1000, |p| p.friction_proportional_zone = T::lit(0.01))
    });
}

criterion_group!(benches, what_does_a_linearization_cost);
criterion_main!(benches);
