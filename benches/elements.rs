//! Cost of an evaluation of an element: position, velocity and force, forces accumulated.
//!
//! Kinematics are set once; each evaluation starts from a new time, which drops the state below
//! Position stage. Divide by the number of elements for the cost of one. Options of a law stand beside the law as published.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use force_elements::coordinate_spring_damper_ext::{self, Discrete};
use force_elements::exponential_spring::{self, FrictionTransition};
use force_elements::hertz_contact::{self, Ball, Surface};
use force_elements::nalgebra::{Matrix6, Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::spatial_bushing::{Curve, Symmetric6};
use force_elements::{
    BodyIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ExponentialSpring, ForceElement,
    ForceSystem, Frame, HertzContact, LinearBushing, Pose, Real, SpatialBushing, SpatialVelocity, State,
    Station, linear_bushing, spatial_bushing,
};
use num_dual::Dual64;

/// Numbers between −1 and 1 that repeat nowhere near.
fn wave(i: usize) -> f64 {
    let i = u32::try_from(i % 100_000).unwrap_or(0);
    (f64::from(i) * 1.618_034).sin()
}

fn scatter_bodies<T: Real>(state: &mut State<T>, bodies: &[BodyIndex], turn: f64, shift: f64, height: f64) {
    for (i, &body) in bodies.iter().enumerate() {
        let w = |k: usize| wave(7 * i + k);
        let R = Rotation3::from_euler_angles(turn * w(0), turn * w(1), turn * w(2)).matrix().map(T::lit);
        let p = Vector3::new(w(3), w(4), w(5)) * shift + Vector3::new(0.0, 0.0, height);
        let pose = Pose::from_parts(Translation3::from(p.map(T::lit)), Rotation3::from_matrix_unchecked(R));
        let velocity = SpatialVelocity::new(Vector3::new(w(6), w(7), w(8)), Vector3::new(w(9), w(10), w(11)));
        state.set_body(body, pose, velocity.cast()).expect("finite");
    }
}

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

/// A chain of bushings, each made between two frames.
fn bushings<T: Real, E: ForceElement<T>>(
    count: usize,
    bushing: impl Fn(Frame<T>, Frame<T>) -> Result<E, Error>,
) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let bodies: Vec<_> = (0..=count).map(|_| system.add_body()).collect();
    let mut handles = Vec::new();
    for pair in bodies.windows(2) {
        let frame = Pose::translation(T::lit(0.1), T::lit(0.0), T::lit(0.05));
        let bushing = bushing(Frame::on(pair[0], frame), Frame::on(pair[1], frame.inverse()));
        handles.push(system.add(bushing.expect("valid")).expect("exists"));
    }
    let mut state = system.default_state();
    scatter_bodies(&mut state, &bodies, 0.3, 0.1, 0.0);
    // As after an accepted step: there is something to compare the angles with.
    for handle in handles {
        system.reset_memory(&mut state, handle).expect("regular");
    }
    (system, state)
}

fn gimbals<T: Real>(count: usize) -> (ForceSystem<T>, State<T>) {
    let (stiffness, damping) = (Vector6::repeat(T::lit(100.0)), Vector6::repeat(T::lit(1.0)));
    bushings(count, |F, M| LinearBushing::new(F, M, linear_bushing::Parameters { stiffness, damping }))
}

/// With the first so many axes coupled to their neighbours, and with curves.
fn spatial_bushings<T: Real>(count: usize, coupled: usize, with_curves: usize) -> (ForceSystem<T>, State<T>) {
    let [stiffness, damping] = [100.0, 1.0].map(|size| {
        let mut matrix = Matrix6::from_diagonal_element(T::lit(size));
        for axis in 1..coupled {
            (matrix[(axis, axis - 1)], matrix[(axis - 1, axis)]) = (T::lit(0.3 * size), T::lit(0.3 * size));
        }
        Symmetric6::from_matrix(&matrix).expect("positive definite")
    });
    let points = [(-1.0, -50.0), (-0.1, -2.0), (0.1, 2.0), (1.0, 50.0)].map(|(q, f)| (T::lit(q), T::lit(f)));
    let curve = Curve::new(&points).expect("monotone");
    bushings(count, |F, M| {
        let bushing = SpatialBushing::new(F, M, spatial_bushing::Parameters { stiffness, damping });
        (0..with_curves).try_fold(bushing?, |bushing, axis| bushing.with_curve(axis, curve.clone()))
    })
}

/// Balls in their neighbours, or each in a plane, by a hundredth of their radius on average.
fn hertz_contacts<T: Real>(count: usize, is_on_ball: bool) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let bodies: Vec<_> = (0..=count).map(|_| system.add_body()).collect();
    let parameters = hertz_contact::Parameters {
        effective_modulus: T::lit(1e6),
        dissipation: T::lit(0.1),
        static_friction: T::lit(0.7),
        dynamic_friction: T::lit(0.5),
        ..hertz_contact::Parameters::default()
    };
    let radius = T::lit(0.1);
    let ball = |body| Ball::new(Station::on(body, Point3::origin()), radius);
    for pair in bodies.windows(2) {
        let surface: Surface<T> =
            if is_on_ball { ball(pair[0]).into() } else { Frame::ground(Pose::identity()).into() };
        system.add(HertzContact::new(surface, ball(pair[1]), parameters).expect("valid")).expect("exists");
    }
    let mut state = system.default_state();
    scatter_bodies(&mut state, &bodies, 0.3, 0.001, 0.099);
    if is_on_ball {
        let mut x = 0.0;
        for &body in &bodies {
            let mut pose = *state.positions().pose(body);
            pose.translation.x += T::lit(x);
            state.set_pose(body, pose).expect("finite");
            x += 0.197;
        }
    }
    (system, state)
}

fn springs<T: Real>(count: usize) -> (ForceSystem<T>, State<T>) {
    springs_with(count, FrictionTransition::default(), 1.0)
}

/// At a share of the usual speeds, at which springs that touch slip; at rest they hold.
fn springs_with<T: Real>(
    count: usize,
    friction_transition: FrictionTransition,
    speed: f64,
) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let bodies: Vec<_> = (0..count / 8).map(|_| system.add_body()).collect();
    let mut handles = Vec::new();
    for &body in &bodies {
        for corner in 0..8 {
            let side = |bit: usize| T::lit(if corner >> bit & 1 == 0 { -0.1 } else { 0.1 });
            let station = Point3::new(side(0), side(1), side(2));
            let parameters = exponential_spring::Parameters {
                friction_transition,
                ..exponential_spring::Parameters::default()
            };
            let spring = ExponentialSpring::new(
                Frame::ground(Pose::identity()),
                Station::on(body, station),
                parameters,
            )
            .expect("valid");
            handles.push(system.add(spring).expect("exists"));
        }
    }
    let mut state = system.default_state();
    // Four corners of each block near the floor, four above it.
    scatter_bodies(&mut state, &bodies, 0.01, 0.001, 0.103);
    for &body in &bodies {
        let SpatialVelocity { angular, linear } = *state.velocities().velocity(body);
        let V = SpatialVelocity::new(angular * T::lit(speed), linear * T::lit(speed));
        state.set_velocity(body, V).expect("finite");
    }
    for (i, handle) in handles.into_iter().enumerate() {
        system.reset_memory(&mut state, handle).expect("regular");
        let sliding = T::lit(0.5 * (1.0 + wave(i)));
        system.update_discrete(&mut state, handle, |discrete| discrete.sliding = sliding).expect("valid");
    }
    (system, state)
}

fn coordinates<T: Real>(
    count: usize,
    alter: impl FnOnce(&mut coordinate_spring_damper_ext::Parameters<T>),
) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let coordinates: Vec<_> = (0..count).map(|_| system.add_coordinate()).collect();
    let mut parameters = coordinate_spring_damper_ext::Parameters {
        stiffness: T::lit(100.0),
        damping: T::lit(1.0),
        dynamic_friction: T::lit(2.0),
        static_friction_offset: T::lit(1.0),
        exponential_decay_static: T::lit(0.1),
        viscous_friction: T::lit(0.1),
        sticking_stiffness: T::lit(1e4),
        sticking_damping: T::lit(10.0),
        ..coordinate_spring_damper_ext::Parameters::default()
    };
    alter(&mut parameters);
    let mut handles = Vec::new();
    for &coordinate in &coordinates {
        let element =
            CoordinateSpringDamperExt::new(CoordinatePair::on(coordinate), parameters).expect("valid");
        handles.push(system.add(element).expect("exists"));
    }
    let mut state = system.default_state();
    for (i, (&coordinate, handle)) in coordinates.iter().zip(handles).enumerate() {
        state.set_coordinate(coordinate, T::lit(wave(2 * i))).expect("finite");
        state.set_coordinate_rate(coordinate, T::lit(wave(2 * i + 1))).expect("finite");
        // Half of them stick, half slip.
        let mode = if i % 2 == 0 { 0.0 } else { 2.5 * wave(2 * i + 1).signum() };
        let discrete = Discrete { friction_mode: T::lit(mode), ..Discrete::default() };
        system.set_discrete(&mut state, handle, discrete).expect("valid");
    }
    (system, state)
}

fn what_does_an_evaluation_cost(criterion: &mut Criterion) {
    measure(criterion, "linear_bushing", "f64", gimbals::<f64>(200));
    for (name, coupled, with_curves) in
        [("f64", 0, 0), ("coupled", 6, 0), ("two curves", 0, 2), ("coupled, six curves", 6, 6)]
    {
        measure(criterion, "spatial_bushing", name, spatial_bushings::<f64>(200, coupled, with_curves));
    }
    measure(criterion, "exponential_spring", "f64", springs::<f64>(200));
    for (name, transition) in
        [("settling", FrictionTransition::Settling), ("return mapping", FrictionTransition::ReturnMapping)]
    {
        for (motion, speed) in [("moving", 1.0), ("at rest", 0.0)] {
            let springs = springs_with::<f64>(200, transition, speed);
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

fn what_does_one_more_element_cost(criterion: &mut Criterion) {
    for count in [8, 64, 512, 4096] {
        measure(criterion, "exponential_spring_count", "f64", springs::<f64>(count));
    }
}

criterion_group!(
    benches,
    what_does_an_evaluation_cost,
    what_does_a_load_cost_to_write,
    what_does_the_scalar_cost,
    what_does_one_more_element_cost
);
criterion_main!(benches);
