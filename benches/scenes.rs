//! Elements in motion, many of a kind.

use force_elements::coordinate_spring_damper_ext::{self, Discrete};
use force_elements::exponential_spring;
use force_elements::hertz_contact;
use force_elements::laws::BetweenFrames;
use force_elements::nalgebra::{Matrix6, Point3, Rotation3, Translation3, Vector3, Vector6};
use force_elements::spatial_bushing::{Curve, Symmetric6};
use force_elements::{
    BodyIndex, CoordinatePair, CoordinateSpringDamperExt, Error, ExponentialSpring, ForceElement,
    ForceSystem, Frame, HertzContact, LinearBushing, Pose, Real, SpatialBushing, SpatialVelocity, State,
    Station, linear_bushing, spatial_bushing,
};
use force_elements_scenes::gimbal::Gimbal;

/// Numbers between −1 and 1 that repeat nowhere near.
pub(crate) fn wave(i: usize) -> f64 {
    let i = u32::try_from(i % 100_000).unwrap_or(0);
    (f64::from(i) * 1.618_034).sin()
}

pub(crate) fn scatter_bodies<T: Real>(
    state: &mut State<T>,
    bodies: &[BodyIndex],
    turn: f64,
    shift: f64,
    height: f64,
) {
    for (i, &body) in bodies.iter().enumerate() {
        let w = |k: usize| wave(7 * i + k);
        let R = Rotation3::from_euler_angles(turn * w(0), turn * w(1), turn * w(2)).matrix().map(T::lit);
        let p = Vector3::new(w(3), w(4), w(5)) * shift + Vector3::new(0.0, 0.0, height);
        let pose = Pose::from_parts(Translation3::from(p.map(T::lit)), Rotation3::from_matrix_unchecked(R));
        let velocity = SpatialVelocity::new(Vector3::new(w(6), w(7), w(8)), Vector3::new(w(9), w(10), w(11)));
        state.set_body(body, pose, velocity.cast()).expect("finite");
    }
}

/// A chain of bushings, each made between two frames.
pub(crate) fn bushings<T: Real, E: ForceElement<T>>(
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

pub(crate) fn gimbals<T: Real>(count: usize) -> (ForceSystem<T>, State<T>) {
    let (stiffness, damping) = (Vector6::repeat(T::lit(100.0)), Vector6::repeat(T::lit(1.0)));
    bushings(count, |F, M| LinearBushing::new(F, M, linear_bushing::Parameters { stiffness, damping }))
}

/// The same law over numbers, as a user writes it.
pub(crate) fn gimbals_over_numbers<T: Real>(count: usize) -> (ForceSystem<T>, State<T>) {
    let (stiffness, damping) = (Vector6::repeat(T::lit(100.0)), Vector6::repeat(T::lit(1.0)));
    let parameters = linear_bushing::Parameters { stiffness, damping };
    bushings(count, |F, M| BetweenFrames::new(Gimbal, F, M, parameters))
}

/// With the first so many axes coupled to their neighbours, and with curves.
pub(crate) fn spatial_bushings<T: Real>(
    count: usize,
    coupled: usize,
    with_curves: usize,
) -> (ForceSystem<T>, State<T>) {
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
pub(crate) fn hertz_contacts<T: Real>(count: usize, is_on_ball: bool) -> (ForceSystem<T>, State<T>) {
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
    let ball = |body| (Station::on(body, Point3::origin()), radius);
    for pair in bodies.windows(2) {
        let contact = if is_on_ball {
            HertzContact::on_ball(ball(pair[0]), ball(pair[1]), parameters)
        } else {
            HertzContact::on_half_space(Frame::ground(Pose::identity()), ball(pair[1]), parameters)
        };
        system.add(contact.expect("valid")).expect("exists");
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

pub(crate) fn springs<T: Real>(count: usize) -> (ForceSystem<T>, State<T>) {
    springs_with(count, false, 1.0)
}

/// At a share of the usual speeds, at which springs that touch slip; at rest they hold.
pub(crate) fn springs_with<T: Real>(count: usize, settling: bool, speed: f64) -> (ForceSystem<T>, State<T>) {
    let mut system = ForceSystem::new();
    let bodies: Vec<_> = (0..count.div_ceil(8)).map(|_| system.add_body()).collect();
    let mut handles = Vec::new();
    for &body in &bodies {
        for corner in 0..8.min(count - handles.len()) {
            let side = |bit: usize| T::lit(if corner >> bit & 1 == 0 { -0.1 } else { 0.1 });
            let station = Point3::new(side(0), side(1), side(2));
            let parameters =
                exponential_spring::Parameters { settling, ..exponential_spring::Parameters::default() };
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

pub(crate) fn coordinates<T: Real>(
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
