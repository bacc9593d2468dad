//! Stable steps of bodies on bushings and cables.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::nalgebra::{Matrix3, Matrix6, Point3, Rotation3, UnitQuaternion, Vector3, Vector6};
use force_elements::shapes::Cylinder;
use force_elements::simulation::{Integrator as _, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::spatial_bushing::Symmetric6;
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, CableSpring, CoordinateIndex, ExponentialSpring, ForceSystem, Frame, Inertias, LinearBushing,
    Pose, SpatialBushing, SpatialVelocity, State, Station, StepMethod, cable_spring, exponential_spring,
    linear_bushing, spatial_bushing,
};

use super::{BOUNDED, Host, STEPS, any_body};

/// Two bodies near each other, almost at rest in a bushing of each kind, on Ground and on each other.
fn on_bushings(deal: &mut Numbers, is_spatial: bool, damping: f64) -> (Host, State<f64>) {
    let mut host = Host::new(0.0);
    let bodies = [any_body(deal), any_body(deal)].map(|body| host.add_body(body));
    for [a, b] in [[BodyIndex::GROUND, bodies[0]], [bodies[0], bodies[1]], [bodies[1], bodies[0]]] {
        let seat = deal.vector::<f64>(0.3);
        let frames = [a, b].map(|body| Frame::on(body, Pose::translation(seat.x, seat.y, seat.z)));
        if is_spatial {
            let root =
                |deal: &mut Numbers, size: f64| Matrix6::<f64>::from_fn(|_, _| deal.between(-size, size));
            let (k, c) = (root(deal, 30.0), root(deal, damping.sqrt()));
            let parameters = spatial_bushing::Parameters {
                stiffness: Symmetric6::from_matrix(&(k * k.transpose())).expect("symmetric"),
                damping: Symmetric6::from_matrix(&(c * c.transpose())).expect("symmetric"),
            };
            host.system
                .add(SpatialBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        } else {
            let parameters = linear_bushing::Parameters {
                stiffness: Vector6::from_fn(|_, _| 10.0_f64.powf(deal.between(0.0, 4.0))),
                damping: Vector6::from_fn(|_, _| deal.between(0.0, damping)),
            };
            host.system
                .add(LinearBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        }
    }
    let mut state = host.system.default_state();
    for body in bodies {
        state.set_body(body, Pose::identity(), deal.velocity(1e-4)).expect("finite");
    }
    (host, state)
}

#[test]
fn bodies_on_bushings_stay_bounded() {
    let deal = &mut Numbers::new(11);
    for case in 0..60 {
        let damping = if case % 4 < 2 { 0.0 } else { 20.0 };
        let (host, state) = on_bushings(deal, case % 2 == 0, damping);
        let step = host.stable(&state, 0.0);
        assert!(step.element.is_some() && step.unknown.is_none());
        let growth = host.euler(&state, 0.9 * step.length, STEPS);
        assert!(growth < BOUNDED, "case {case}: {growth}");
        // Springs in series count with the mass that each moves alone, and turning bodies with the least of their
        // inertias.
        let growth = host.euler(&state, 2.0 * step.length, STEPS);
        assert!(growth > BOUNDED, "case {case}: {growth} at twice the bound");
    }
}

#[test]
fn the_bound_of_a_bushing_in_the_mass_center_is_sharp() {
    let deal = &mut Numbers::new(13);
    for case in 0..30 {
        let mut host = Host::new(0.0);
        let mass: f64 = deal.between(0.5, 5.0);
        let inertia: f64 = deal.between(0.01, 0.1);
        let of_mass = || RigidBody::with_equal_inertia(mass, inertia).expect("positive");
        let bodies = [host.add_body(of_mass()), host.add_body(of_mass())];
        let frames = if case % 2 == 0 {
            [Frame::ground(Pose::identity()), Frame::of(bodies[0])]
        } else {
            bodies.map(Frame::of)
        };
        let mut stiffness = Vector6::zeros();
        let axis = case % 6;
        stiffness[axis] = deal.between(10.0, 1e4);
        let parameters = linear_bushing::Parameters { stiffness, ..linear_bushing::Parameters::default() };
        host.system
            .add(LinearBushing::new(frames[0], frames[1], parameters).expect("valid"))
            .expect("exists");
        let mut state = host.system.default_state();
        let mut motion = [0.0; 6];
        motion[axis] = 1e-6;
        let [wx, wy, wz, vx, vy, vz] = motion;
        let velocity = SpatialVelocity::new(Vector3::new(wx, wy, wz), Vector3::new(vx, vy, vz));
        state.set_body(bodies[0], Pose::identity(), velocity).expect("finite");
        let step = host.stable(&state, 0.0);
        let yielding = if case % 2 == 0 { 1.0 } else { 2.0 };
        let frequency = (stiffness[axis] * yielding / if axis < 3 { inertia } else { mass }).sqrt();
        assert!(
            (step.frequency / frequency - 1.0).abs() < 1e-12,
            "{} rad/s, {frequency} rad/s",
            step.frequency
        );
        assert!((step.length * frequency - 2.0).abs() < 1e-12);
        assert!(host.euler(&state, 0.9 * step.length, STEPS) < BOUNDED, "case {case}");
        assert!(host.euler(&state, 1.3 * step.length, 30) > BOUNDED, "case {case}");
    }
}

/// A body about its mass center with three moments of inertia about slanted axes, and the inverse root of its inertia there.
fn slender(deal: &mut Numbers) -> (RigidBody<f64>, Matrix3<f64>, f64) {
    let mass: f64 = deal.between(0.5, 5.0);
    let squares = Vector3::from_fn(|_, _| 10.0_f64.powf(deal.between(-4.0, -1.0)));
    let moments = (Vector3::repeat(squares.sum()) - squares) * mass;
    let axes = deal.pose::<f64>(0.0, 2.0).rotation;
    let with = |diagonal: Vector3<f64>| {
        axes.matrix() * Matrix3::from_diagonal(&diagonal) * axes.matrix().transpose()
    };
    let body = RigidBody::new(mass, Point3::origin(), with(moments)).expect("a body");
    (body, with(moments.map(|moment| moment.sqrt().recip())), mass.sqrt().recip())
}

/// The inverse root of the inertia and mass of a body in this attitude, rotations first.
fn inverse_root(attitude: &Rotation3<f64>, of_inertia: &Matrix3<f64>, of_mass: f64) -> Matrix6<f64> {
    let mut root = Matrix6::from_diagonal_element(of_mass);
    let turned = attitude.matrix() * of_inertia * attitude.matrix().transpose();
    root.fixed_view_mut::<3, 3>(0, 0).copy_from(&turned);
    root
}

/// The force that resists displacements of a body, rotations first, by central differences.
fn resistance_by_differences(host: &Host, state: &State<f64>, body: BodyIndex) -> Matrix6<f64> {
    let X_GB = *state.positions().pose(body);
    let mut matrix = Matrix6::zeros();
    for axis in 0..6 {
        let [ahead, back] = [1e-6, -1e-6].map(|by| {
            let moved = Vector6::ith(axis, by);
            let turn = Rotation3::new(moved.fixed_rows::<3>(0).into_owned()) * X_GB.rotation;
            let place = X_GB.translation.vector + moved.fixed_rows::<3>(3);
            let mut state = state.clone();
            state.set_pose(body, Pose::from_parts(place.into(), turn)).expect("finite");
            let F = host.system.realize_dynamics(&mut state).expect("regular").body_force(body);
            Vector6::new(F.torque.x, F.torque.y, F.torque.z, F.force.x, F.force.y, F.force.z)
        });
        matrix.set_column(axis, &((back - ahead) * 0.5e6));
    }
    matrix
}

#[test]
fn the_bound_of_a_bushing_with_coupled_axes_is_that_of_its_fastest_oscillation() {
    let deal = &mut Numbers::new(29);
    for case in 0..40 {
        let mut host = Host::new(0.0);
        let (body, of_inertia, of_mass) = slender(deal);
        let body = host.add_body(body);
        let (X_GB, X_BM) = (deal.pose::<f64>(0.2, 2.0), deal.pose::<f64>(0.2, 2.0));
        let frames = [Frame::ground(X_GB * X_BM), Frame::on(body, X_BM)];
        let root = Matrix6::from_fn(|_, _| deal.between(-30.0, 30.0));
        if case % 2 == 0 {
            let stiffness = Symmetric6::from_matrix(&(root * root.transpose())).expect("symmetric");
            let parameters = spatial_bushing::Parameters { stiffness, ..Default::default() };
            host.system
                .add(SpatialBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        } else {
            let parameters =
                linear_bushing::Parameters { stiffness: root.diagonal().abs(), ..Default::default() };
            host.system
                .add(LinearBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        }
        // Over the roots of mass and inertia.
        let mut state = host.system.default_state();
        state.set_pose(body, X_GB).expect("finite");
        let root_of_mass = inverse_root(&X_GB.rotation, &of_inertia, of_mass);
        let matrix = resistance_by_differences(&host, &state, body);
        let matrix = root_of_mass * matrix * root_of_mass;
        let frequency = ((matrix + matrix.transpose()) * 0.5).symmetric_eigenvalues().max().sqrt();
        let step = host.stable(&state, 0.0);
        // The bound on an eigenvalue is within 3 %, that on its root within half of that.
        let ratio = step.frequency / frequency;
        assert!((1.0 - 1e-6..1.015).contains(&ratio), "case {case}: {ratio}");
    }
}

/// A bushing turned far, whose load something else holds: a moment about one axis acts on the others as the gimbal turns.
#[test]
fn the_bound_of_a_loaded_bushing_is_above_its_fastest_oscillation() {
    let deal = &mut Numbers::new(37);
    let mut least = f64::INFINITY;
    for case in 0..400 {
        let mut host = Host::new(0.0);
        let (body, of_inertia, of_mass) = slender(deal);
        let body = host.add_body(body);
        let stiffness = Vector6::from_fn(|_, _| 10.0_f64.powf(deal.between(0.0, 4.0)));
        let parameters = linear_bushing::Parameters { stiffness, ..Default::default() };
        // Half of them in the mass center, and half beside it, where forces have a lever too.
        let offset = f64::from(u8::from(case % 2 == 1));
        let X_BM = deal.pose::<f64>(2.0 * offset, 0.2 * offset);
        let frames = [Frame::ground(Pose::identity()), Frame::on(body, X_BM)];
        host.system
            .add(LinearBushing::new(frames[0], frames[1], parameters).expect("valid"))
            .expect("exists");
        let [qx, qy, qz] = [3.0, 1.3, 3.0].map(|most| deal.between::<f64>(-most, most));
        let turn = Rotation3::new(Vector3::x() * qx)
            * Rotation3::new(Vector3::y() * qy)
            * Rotation3::new(Vector3::z() * qz);
        let shift = deal.vector::<f64>(0.1 * offset);
        let X_GB = Pose::from_parts(shift.into(), turn) * X_BM.inverse();
        let mut state = host.system.default_state();
        state.set_pose(body, X_GB).expect("finite");
        let root_of_mass = inverse_root(&X_GB.rotation, &of_inertia, of_mass);
        let matrix = root_of_mass * resistance_by_differences(&host, &state, body) * root_of_mass;
        let fastest = matrix.complex_eigenvalues().iter().map(|value| value.re).fold(0.0, f64::max).sqrt();
        let ratio = host.stable(&state, 0.0).frequency / fastest;
        assert!(ratio > 1.0 - 1e-5, "case {case}: {ratio}");
        least = least.min(ratio);
    }
    assert!(least < 1.1, "{least}");
}

#[test]
fn the_bound_of_a_bushing_far_from_rest_is_that_of_its_most_damped_motion() {
    let deal = &mut Numbers::new(31);
    for case in 0..40 {
        let mut host = Host::new(0.0);
        let (body, of_inertia, of_mass) = slender(deal);
        let body = host.add_body(body);
        let frames = [Frame::ground(deal.pose(0.2, 1.0)), Frame::on(body, deal.pose(0.2, 0.3))];
        let root = Matrix6::from_fn(|_, _| deal.between(-3.0, 3.0));
        if case % 2 == 0 {
            let damping = Symmetric6::from_matrix(&(root * root.transpose())).expect("symmetric");
            let parameters = spatial_bushing::Parameters { damping, ..Default::default() };
            host.system
                .add(SpatialBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        } else {
            let parameters =
                linear_bushing::Parameters { damping: root.diagonal().abs(), ..Default::default() };
            host.system
                .add(LinearBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        }
        // It resists in proportion to the velocity: one evaluation for each, over the roots of mass and inertia.
        let state = host.system.default_state();
        let root_of_mass = inverse_root(&Rotation3::identity(), &of_inertia, of_mass);
        let mut matrix = Matrix6::zeros();
        for axis in 0..6 {
            let mut state = state.clone();
            let v = root_of_mass.column(axis);
            let V =
                SpatialVelocity::new(v.fixed_rows::<3>(0).into_owned(), v.fixed_rows::<3>(3).into_owned());
            state.set_body(body, Pose::identity(), V).expect("finite");
            let F = host.system.realize_dynamics(&mut state).expect("regular").body_force(body);
            let force = Vector6::new(F.torque.x, F.torque.y, F.torque.z, F.force.x, F.force.y, F.force.z);
            matrix.set_column(axis, &-(root_of_mass * force));
        }
        let most = ((matrix + matrix.transpose()) * 0.5).symmetric_eigenvalues().max();
        // A damper alone is stable up to two over its rate, which is bounded to 3 %.
        let ratio = 2.0 / (host.stable(&state, 0.0).length * most);
        assert!((1.0 - 1e-9..1.03).contains(&ratio), "case {case}: {ratio}");
    }
}

#[test]
fn a_bushing_turned_far_stays_bounded() {
    let deal = &mut Numbers::new(17);
    for case in 0..40 {
        let mut host = Host::new(0.0);
        let body = host.add_body(any_body(deal));
        let angle: f64 = deal.between(0.5, 1.3);
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle).to_rotation_matrix();
        let frames = [Frame::ground(Pose::identity()), Frame::of(body)];
        let (k, c) = (deal.between(10.0, 500.0), deal.between(0.0, 0.5));
        if case % 2 == 0 {
            let parameters =
                linear_bushing::Parameters { stiffness: Vector6::repeat(k), damping: Vector6::repeat(c) };
            host.system
                .add(LinearBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        } else {
            let parameters = spatial_bushing::Parameters {
                stiffness: Symmetric6::from_diagonal(&Vector6::repeat(k)),
                damping: Symmetric6::from_diagonal(&Vector6::repeat(c)),
            };
            host.system
                .add(SpatialBushing::new(frames[0], frames[1], parameters).expect("valid"))
                .expect("exists");
        }
        let mut state = host.system.default_state();
        state.set_pose(body, Pose::from_parts(Vector3::new(0.02, -0.01, 0.03).into(), turn)).expect("finite");
        let step = host.stable(&state, 0.0);
        // It swings through attitudes that differ, so half the bound of the first.
        let growth = host.euler(&state, 0.5 * step.length, STEPS);
        assert!(growth < BOUNDED, "case {case}: {growth}");
    }
}

/// A weight that hangs almost at rest on a cable of each kind, over a wheel or straight.
fn hanging(deal: &mut Numbers, over_wheel: bool, has_friction: bool, dissipation: f64) -> (Host, State<f64>) {
    let mut host = Host::new(9.81);
    let mass: f64 = deal.between(0.1, 10.0);
    let body =
        RigidBody::with_equal_inertia(mass, mass * deal.between::<f64>(0.001, 0.01)).expect("positive");
    let body = host.add_body(body);
    let stiffness = deal.between(1e3, 1e4);
    let (radius, drop) = (0.3, 1.0);
    let length = 2.0 * drop + core::f64::consts::PI * radius;
    let elastic =
        cable_spring::Parameters { stiffness, slack_length: length - mass * 9.81 / stiffness, dissipation };
    let eye = Station::on(body, Point3::new(0.0, 0.0, 0.1));
    let path = if over_wheel {
        // The axis of the wheel is along y; its top is at y of its own frame.
        let quarter = core::f64::consts::FRAC_PI_2;
        let about_x = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), quarter).to_rotation_matrix();
        let lying = Pose::from_parts(Vector3::zeros().into(), about_x);
        let wheel = Obstacle::new(Frame::ground(lying), Cylinder::new(radius).expect("positive"))
            .and_then(|wheel| wheel.with_contact_hint(Point3::new(0.0, radius, 0.0)));
        let hook = Station::ground(Point3::new(-radius, 0.0, -drop));
        CablePath::new(hook, eye).expect("apart").over(wheel.expect("valid"))
    } else {
        CablePath::new(Station::ground(Point3::new(radius, 0.0, length - drop)), eye).expect("apart")
    };
    if has_friction {
        let friction = vec![0.2; usize::from(over_wheel)];
        host.system
            .add(CableSpring::new(path, elastic).expect("valid").with_friction(friction).expect("valid"))
            .expect("exists");
    } else {
        host.system.add(CableSpring::new(path, elastic).expect("valid")).expect("exists");
    }
    let mut state = host.system.default_state();
    let pose = Pose::translation(radius, 0.0, -drop - 0.1);
    state.set_body(body, pose, deal.velocity(1e-4)).expect("finite");
    if has_friction {
        // From the second step on friction divides the cable into strands.
        host.system.realize_dynamics(&mut state).expect("regular");
        host.system.accept_step(&mut state).expect("realized");
    }
    (host, state)
}

#[test]
fn weights_on_cables_stay_bounded() {
    let deal = &mut Numbers::new(19);
    for case in 0..24 {
        let (over_wheel, has_friction) = (case % 2 == 1, case % 4 > 1);
        let dissipation = if case % 8 < 4 { 0.0 } else { 0.1 };
        let (host, state) = hanging(deal, over_wheel, has_friction, dissipation);
        let step = host.stable(&state, 0.0);
        assert!(step.element.is_some() && step.unknown.is_none(), "{step:?}");
        let growth = host.euler(&state, 0.9 * step.length, STEPS);
        assert!(growth < BOUNDED, "case {case}: {growth}");
        let growth = host.euler(&state, 4.0 * step.length, STEPS);
        assert!(growth > BOUNDED, "case {case}: {growth} at four times the bound");
    }
}

/// Forces of a strand that cancel on a body leave rounding there, which counted with all that other strands do to it: for two
/// equal weights in 77 of 200 steps.
#[test]
fn the_bound_of_weights_over_a_drum_changes_evenly_with_their_motion() {
    let mut host = Host::new(9.81);
    let weight = RigidBody::with_equal_inertia(1.0, 0.01).expect("positive");
    let weights = [host.add_body(weight), host.add_body(weight)];
    // Its axis is along y.
    let quarter = Rotation3::from_axis_angle(&Vector3::x_axis(), core::f64::consts::FRAC_PI_2);
    let lying = Pose::from_parts(Vector3::zeros().into(), quarter);
    let drum = Obstacle::new(Frame::ground(lying), Cylinder::new(0.1).expect("positive"))
        .and_then(|drum| drum.with_contact_hint(Point3::new(0.0, 0.1, 0.0)));
    let [a, b] = weights.map(|weight| Station::on(weight, Point3::origin()));
    let path = CablePath::new(a, b).expect("apart").over(drum.expect("valid"));
    let elastic = cable_spring::Parameters { stiffness: 1e4, slack_length: 2.02, dissipation: 0.1 };
    let cable = CableSpring::new(path, elastic).and_then(|cable| cable.with_friction([0.1]));
    host.system.add(cable.expect("valid")).expect("exists");
    let mut state = host.system.default_state();
    state.set_pose(weights[0], lying * Pose::translation(-0.11, -1.0, 0.003)).expect("finite");
    state.set_pose(weights[1], lying * Pose::translation(0.12, -0.7, 0.0)).expect("finite");
    host.system.reset_memories(&mut state).expect("regular");
    let mut simulation = Simulation::new(&host.system, &host.plant, state).expect("regular");
    let (mut euler, mut last) = (SemiImplicitEuler::new(1e-3), None);
    for step in 0..200 {
        euler.step(&mut simulation, 1.0).expect("stable");
        let length = host.stable(simulation.state(), 0.0).length;
        let ratio = length / last.replace(length).unwrap_or(length);
        assert!((ratio - 1.0).abs() < 0.05, "step {step}: {ratio}");
        // Between commits the strands pull along the path of the last one, which cancels less and less.
        for moved in [1e-12, 1e-9, 1e-6, 1e-4] {
            let mut state = simulation.state().clone();
            let pose = *state.positions().pose(weights[1]);
            state.set_pose(weights[1], Pose::translation(moved, 0.0, moved) * pose).expect("finite");
            let ratio = host.stable(&state, 0.0).length / length;
            assert!((ratio - 1.0).abs() < 0.01, "step {step}, moved by {moved} m: {ratio}");
        }
    }
}

/// A body on a soft mount, added first, and on a stiff one of another kind.
#[test]
fn the_element_that_is_named_is_the_stiffest_on_what_limits_the_step() {
    let mut host = Host::new(0.0);
    let body =
        host.add_body(RigidBody::new(1.0, Point3::origin(), Matrix3::identity() * 0.01).expect("a body"));
    let mount = |stiffness: f64| {
        let stiffness = Vector6::new(
            stiffness,
            stiffness,
            stiffness,
            100.0 * stiffness,
            100.0 * stiffness,
            100.0 * stiffness,
        );
        let parameters = linear_bushing::Parameters { stiffness, ..Default::default() };
        LinearBushing::<f64>::new(Frame::ground(Pose::identity()), Frame::of(body), parameters)
            .expect("valid")
    };
    let soft = host.system.add(mount(1.0)).expect("exists").id();
    let spring = exponential_spring::Parameters::default();
    let station = Station::on(body, Point3::new(0.0, 0.0, -0.1));
    let floor = Frame::ground(Pose::translation(0.0, 0.0, -0.1));
    let spring =
        host.system.add(ExponentialSpring::new(floor, station, spring).expect("valid")).expect("exists").id();
    let stiff = host.system.add(mount(1e4)).expect("exists").id();
    // A soft cable to another body moves as fast as both bodies do.
    let other =
        host.add_body(RigidBody::new(1.0, Point3::origin(), Matrix3::identity() * 0.01).expect("a body"));
    let parameters = linear_bushing::Parameters { stiffness: Vector6::repeat(0.5), ..Default::default() };
    let bushing = LinearBushing::new(Frame::ground(Pose::identity()), Frame::of(other), parameters);
    host.system.add(bushing.expect("valid")).expect("exists");
    let path =
        CablePath::new(Station::on(body, Point3::origin()), Station::on(other, Point3::new(1.0, 0.0, 0.0)));
    let law = cable_spring::Parameters { stiffness: 1e-3, slack_length: 0.5, ..Default::default() };
    let cable = CableSpring::new(path.expect("valid"), law).expect("valid");
    host.system.add(cable).expect("exists");
    let mut state = host.system.default_state();
    let named = |state: &State<f64>| host.stable(state, 0.0).element.expect("limited");
    assert_eq!(named(&state), stiff);
    host.system.set_enabled(&mut state, stiff, false).expect("there");
    assert_eq!(named(&state), spring);
    host.system.set_enabled(&mut state, spring, false).expect("there");
    assert_eq!(named(&state), soft);
}

/// A body that turns about a fixed point.
struct Pivoted;

impl Inertias for Pivoted {
    fn mass(&self, _: BodyIndex) -> f64 {
        f64::INFINITY
    }
    fn inertia(&self, _: BodyIndex) -> Matrix3<f64> {
        Matrix3::identity()
    }
    fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
        f64::INFINITY
    }
}

#[test]
fn the_bound_of_a_torsion_spring_on_a_pivoted_body_is_sharp_wherever_its_frames_are() {
    for offset in [0.0, 1e-12, 1e-9, 1e-6, 1e-3] {
        let mut system = ForceSystem::<f64>::new();
        let body = system.add_body();
        let parameters = linear_bushing::Parameters {
            stiffness: Vector6::new(1e4, 1e4, 1e4, 0.0, 0.0, 0.0),
            damping: Vector6::zeros(),
        };
        let seat = Pose::translation(offset, 0.0, 0.0);
        let bushing = LinearBushing::new(Frame::ground(seat), Frame::on(body, seat), parameters);
        let bushing = system.add(bushing.expect("valid")).expect("exists");
        let mut state = system.default_state();
        system.realize_dynamics(&mut state).expect("regular");
        let step = system.stable_step(&state, &Pivoted, StepMethod::SymplecticEuler, 0.0).expect("valid");
        // 2/ω, with the eigenvalue to 3 %.
        assert!(step.length <= 0.02 && step.length > 0.0197, "{offset}: {step:?}");
        assert_eq!(step.element, Some(bushing.id()));
    }
}
