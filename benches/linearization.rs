//! Cost of a linearization beside that of an evaluation, and of derivatives by dual numbers.
//!
//! `linearize` is without the evaluation that comes before it. In `Dual64` an evaluation gives one direction, in
//! `DualSVec64<12>` twelve; central differences take two evaluations for each.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::{Ellipsoid, HalfSpace, SolidShape, TriangleMesh};
use force_elements::{
    BodyIndex, ElasticFoundation, ForceSystem, Frame, Linearization, Pose, Real, Scope, SpatialVelocity,
    State,
};
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

/// A sphere of 8192 faces, turned so that no axis of the mesh is along the normal, a hundredth of its radius deep in another
/// surface.
fn foundation<T: Real>(
    mut foundation: ElasticFoundation<f64>,
    other: impl FnOnce(&mut ElasticFoundation<f64>, BodyIndex, &TriangleMesh<f64>),
) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let (below, body) = (system.add_body(), system.add_body());
    let mesh = TriangleMesh::sphere(1.0, 32).expect("valid");
    other(&mut foundation, below, &mesh);
    foundation.add_springs(Frame::of(body), mesh, rubber()).expect("valid");
    system.add(foundation).expect("valid");
    let mut state = system.default_state();
    let turn = Rotation3::new(Vector3::new(0.3, 0.4, 0.2));
    let velocity = SpatialVelocity::new(Vector3::new(0.1, 0.2, -0.3), Vector3::new(0.05, -0.02, -0.1));
    for z in [1.989, 1.99] {
        let pose = Pose::from_parts(Translation3::new(1e-4, 0.0, z), turn);
        state.set_body(body, pose, velocity).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        if z < 1.99 {
            system.accept_step(&mut state).expect("regular");
        }
    }
    let cast = system.cast::<T>().expect("fits");
    let state = cast.cast_state(&state).expect("fits");
    (cast, state)
}

fn rubber() -> Material<f64> {
    Material::new(1e6).with_dissipation(0.1).with_friction(0.9, 0.7, 0.01).with_grip(1e6, 1e3)
}

fn rigid(foundation: &mut ElasticFoundation<f64>, frame: Frame<f64>, shape: impl Into<SolidShape<f64>>) {
    foundation.add_rigid(frame, shape).expect("closed");
}

/// On a half-space of a body, or of Ground.
fn half_space<T: Real>(
    on: Option<BodyIndex>,
    parameters: Parameters<f64>,
    has_anchors: bool,
) -> (ForceSystem<T>, State<T>) {
    let bed = ElasticFoundation::new(parameters).expect("valid");
    foundation(if has_anchors { bed.with_anchors() } else { bed }, |bed, body, _| {
        rigid(bed, Frame::on(on.unwrap_or(body), Pose::translation(0.0, 0.0, 1.0)), HalfSpace::BelowZ);
    })
}

fn clipped() -> Parameters<f64> {
    Parameters { clipped: true, ..Parameters::default() }
}

fn what_does_a_linearization_of_contact_cost(criterion: &mut Criterion) {
    compare!(criterion, "linearization/foundation on Ground", || {
        half_space(Some(BodyIndex::GROUND), Parameters::default(), false)
    });
    compare!(criterion, "linearization/foundation on a half-space", || {
        half_space(None, Parameters::default(), false)
    });
    compare!(criterion, "linearization/clipped foundation on a half-space", || {
        half_space(None, clipped(), false)
    });
    compare!(criterion, "linearization/foundation with anchors on a half-space", || {
        half_space(None, Parameters::default(), true)
    });
    compare!(criterion, "linearization/foundation on an ellipsoid", || {
        foundation(ElasticFoundation::default(), |bed, body, _| {
            let radii = Vector3::new(1.3, 1.2, 1.0);
            rigid(bed, Frame::of(body), Ellipsoid::new(radii).expect("valid"));
        })
    });
    compare!(criterion, "linearization/foundation on its like", || {
        foundation(ElasticFoundation::default(), |bed, body, mesh| {
            bed.add_springs(Frame::of(body), mesh.clone(), rubber()).expect("closed");
        })
    });
    compare!(criterion, "linearization/clipped foundation on its like", || {
        foundation(ElasticFoundation::new(clipped()).expect("valid"), |bed, body, mesh| {
            bed.add_springs(Frame::of(body), mesh.clone(), rubber()).expect("closed");
        })
    });
}

fn what_does_a_linearization_cost(criterion: &mut Criterion) {
    compare!(criterion, "linearization/linear_bushing", || gimbals(200));
    compare!(criterion, "linearization/spatial_bushing", || spatial_bushings(200, 6, 2));
    compare!(criterion, "linearization/coordinate, bristles", || coordinates(1000, |_| {}));
    compare!(criterion, "linearization/coordinate, regularised", || {
        coordinates(1000, |p| p.friction_proportional_zone = T::lit(0.01))
    });
}

criterion_group!(benches, what_does_a_linearization_cost, what_does_a_linearization_of_contact_cost);
criterion_main!(benches);
