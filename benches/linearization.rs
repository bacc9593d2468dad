//! Cost of a linearization beside that of an evaluation, and of derivatives by dual numbers.
//!
//! `linearize` is without the evaluation that comes before it. In `Dual64` an evaluation gives one direction, in
//! `DualSVec64<12>` twelve; central differences take two evaluations for each.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Ellipsoid, HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, ElasticFoundation, ForceSystem, Frame, Linearization, Pose, Real, Scope,
    SpatialVelocity, State, Station, cable_spring,
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

/// A cable over so many spheres or ellipsoids, on Ground or each on its own body, one millimetre from where it is
/// remembered.
fn cable<T: Real>(count: u32, is_round: bool, moves: bool) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let end = system.add_body();
    let p = |x: f64, y: f64, z: f64| Point3::new(x, y, z).map(T::lit);
    let mut path = CablePath::new(Station::ground(p(-1.5, -0.2, 0.0)), Station::on(end, p(0.0, 0.0, 0.0)))
        .expect("finite");
    let radii = Vector3::new(0.7, 0.6, 1.0).map(T::lit);
    for i in 0..count {
        // In an arch, so that all are touched.
        let (x, y) = (2.0 * f64::from(i), 0.12 * f64::from(i * (count - 1 - i)) - 0.4);
        let body = if moves { system.add_body() } else { BodyIndex::GROUND };
        let frame = Frame::on(body, Pose::translation(T::lit(x), T::lit(y), T::lit(0.0)));
        let obstacle = if is_round {
            Obstacle::new(frame, Sphere::new(T::lit(0.7)).expect("positive"))
        } else {
            Obstacle::new(frame, Ellipsoid::new(radii).expect("positive"))
        };
        path = path.over(obstacle.expect("a rotation"));
    }
    let law = cable_spring::Parameters {
        stiffness: T::lit(100.0),
        slack_length: T::one(),
        dissipation: T::lit(0.1),
    };
    let cable = system.add(CableSpring::new(path, law).expect("valid")).expect("exists");
    let mut state = system.default_state();
    for shift in [0.0, 1e-3] {
        let X = Pose::translation(
            T::lit(2.0 * f64::from(count) - 0.5 + shift),
            T::lit(-0.2),
            T::lit(0.2 + shift),
        );
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.1, 0.2, 0.3).map(T::lit));
        state.set_body(end, X, V).expect("finite");
        let view = system.realize_dynamics(&mut state).expect("regular");
        assert!(view.of(cable).position.path.contacts.iter().all(|contact| contact.in_contact));
        if shift == 0.0 {
            system.accept_step(&mut state).expect("regular");
        }
    }
    (system, state)
}

fn what_does_a_linearization_cost(criterion: &mut Criterion) {
    compare!(criterion, "linearization/linear_bushing", || gimbals(200));
    compare!(criterion, "linearization/spatial_bushing", || spatial_bushings(200, 6, 2));
    compare!(criterion, "linearization/coordinate, bristles", || coordinates(1000, |_| {}));
    compare!(criterion, "linearization/coordinate, regularised", || {
        coordinates(1000, |p| p.friction_proportional_zone = T::lit(0.01))
    });
    compare!(criterion, "linearization/cable over 1 ellipsoid", || cable(1, false, false));
    compare!(criterion, "linearization/cable over 2 ellipsoids", || cable(2, false, false));
    compare!(criterion, "linearization/cable over 3 ellipsoids", || cable(3, false, false));
    compare!(criterion, "linearization/cable over 4 ellipsoids", || cable(4, false, false));
    compare!(criterion, "linearization/cable over 5 ellipsoids", || cable(5, false, false));
    compare!(criterion, "linearization/cable over 1 sphere", || cable(1, true, false));
    compare!(criterion, "linearization/cable over 5 spheres", || cable(5, true, false));
    compare!(criterion, "linearization/cable over 5 moving ellipsoids", || cable(5, false, true));
}

criterion_group!(benches, what_does_a_linearization_cost, what_does_a_linearization_of_contact_cost);
criterion_main!(benches);
