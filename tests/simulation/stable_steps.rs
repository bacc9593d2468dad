//! Bounds on the step: below them a simulation stays bounded, and where they are sharp, above them it does not.

use force_elements::cable::{CablePath, Obstacle};
use force_elements::coordinate_spring_damper_ext as coordinate;
use force_elements::elastic_foundation::Material;
use force_elements::hertz_contact::Ball;
use force_elements::nalgebra::{Matrix3, Matrix6, Point3, UnitQuaternion, Vector3, Vector6};
use force_elements::shapes::{Cylinder, HalfSpace, TriangleMesh};
use force_elements::simulation::{Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::spatial_bushing::Symmetric6;
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, CableSpring, CapstanCable, CoordinateIndex, CoordinatePair, CoordinateSpringDamperExt,
    CustomForce, ElasticFoundation, Error, ExponentialSpring, ForceSystem, Frame, HertzContact, Inertias,
    LinearBushing, Pose, SpatialBushing, SpatialVelocity, StableStep, State, Station, StepMethod, Stepping,
    cable_spring, capstan_cable, exponential_spring, hertz_contact, linear_bushing, spatial_bushing,
};

/// Growth of energy below which a motion counts as bounded. At 0.9 of the bound an undamped oscillation under symplectic
/// Euler conserves `E·(1 ∓ 0.9)`, so that its energy varies by up to 19 times.
const BOUNDED: f64 = 100.0;

/// Steps of a run. An oscillation at 1.3 times the bound grows at least 1.2-fold in each (symplectic Euler: 4.5-fold).
const STEPS: u32 = 400;

struct Host {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
}

impl Host {
    fn new(gravity: f64) -> Self {
        let plant = Plant::new(Vector3::new(0.0, 0.0, -gravity)).expect("finite");
        Self { system: ForceSystem::new(), plant }
    }

    fn add_coordinate(&mut self, mass: f64) -> CoordinateIndex {
        self.plant.add_coordinate(&mut self.system, mass).expect("positive")
    }

    fn add_body(&mut self, body: RigidBody<f64>) -> BodyIndex {
        self.plant.add_body(&mut self.system, body)
    }

    fn add_slider(&mut self, pair: CoordinatePair, parameters: coordinate::Parameters<f64>) {
        let element = CoordinateSpringDamperExt::new(pair, parameters).expect("valid");
        self.system.add(element).expect("exists");
    }

    fn stable(&self, state: &State<f64>, stepping: Stepping) -> StableStep {
        let mut state = state.clone();
        self.system.realize_dynamics(&mut state).expect("regular");
        self.system.stable_step(&state, &self.plant, stepping).expect("positive masses")
    }

    /// The growth of energy under symplectic Euler; infinite if the motion left what the elements can follow.
    fn euler(&self, state: &State<f64>, step: f64, steps: u32) -> f64 {
        let mut simulation = Simulation::new(&self.system, &self.plant, state.clone()).expect("regular");
        let energy = |simulation: &mut Simulation<'_, f64>| {
            simulation.kinetic_energy()
                + simulation.dynamics().map_or(f64::INFINITY, |d| d.potential_energy())
        };
        let (first, mut most) = (energy(&mut simulation), 0.0_f64);
        let mut euler = SemiImplicitEuler::new(step);
        let end = step * f64::from(steps);
        match simulation.run(&mut euler, end, |simulation| most = most.max(energy(simulation) / first)) {
            Ok(()) => most,
            Err(_) => f64::INFINITY,
        }
    }

    /// The same under the classical Runge–Kutta method, of coordinates.
    fn runge_kutta(&self, state: &State<f64>, step: f64, masses: &[f64]) -> f64 {
        let mut state = state.clone();
        let coordinates: Vec<CoordinateIndex> = self.system.coordinates().collect();
        let rates = |state: &mut State<f64>, y: &[f64]| -> Vec<f64> {
            let count = coordinates.len();
            for (i, &c) in coordinates.iter().enumerate() {
                state.set_coordinate(c, y[i]).expect("finite");
                state.set_coordinate_rate(c, y[count + i]).expect("finite");
            }
            let view = self.system.realize_dynamics(state).expect("regular");
            let forces = coordinates.iter().zip(masses).map(|(&c, mass)| view.coordinate_force(c) / mass);
            y[count..].iter().copied().chain(forces).collect()
        };
        let moved = |y: &[f64], rate: &[f64], h: f64| -> Vec<f64> {
            y.iter().zip(rate).map(|(y, rate)| y + h * rate).collect()
        };
        let of = |c: &CoordinateIndex| state.positions().coordinate(*c);
        let rate_of = |c: &CoordinateIndex| state.velocities().coordinate_rate(*c);
        let mut y: Vec<f64> = coordinates.iter().map(of).chain(coordinates.iter().map(rate_of)).collect();
        let mut energy = |y: &[f64]| {
            rates(&mut state, y);
            let stored = self.system.dynamics_view(&state).expect("realized").potential_energy();
            let kinetic = y[coordinates.len()..].iter().zip(masses).map(|(u, mass)| 0.5 * mass * u * u);
            stored + kinetic.sum::<f64>()
        };
        let (first, mut most) = (energy(&y), 0.0_f64);
        let mut scratch = self.system.default_state();
        for _ in 0..STEPS {
            let a = rates(&mut scratch, &y);
            let b = rates(&mut scratch, &moved(&y, &a, 0.5 * step));
            let c = rates(&mut scratch, &moved(&y, &b, 0.5 * step));
            let d = rates(&mut scratch, &moved(&y, &c, step));
            for (i, y) in y.iter_mut().enumerate() {
                *y += step / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
            }
            most = most.max(energy(&y) / first);
            if most > 1e100 {
                break;
            }
        }
        most
    }
}

fn symplectic() -> Stepping {
    Stepping::default()
}

fn runge_kutta() -> Stepping {
    Stepping { method: StepMethod::RungeKutta4, ..Stepping::default() }
}

#[test]
fn the_bound_of_one_slider_is_sharp() {
    let deal = &mut Numbers::new(3);
    for case in 0..60 {
        let mass: f64 = deal.between(0.1, 10.0);
        let stiffness = if case % 3 == 1 { 0.0 } else { deal.between(10.0, 1e4) };
        // Undamped, damper alone, both.
        let damping: f64 = if case % 3 == 0 { 0.0 } else { deal.between(1.0, 50.0) };
        let mut host = Host::new(0.0);
        let slider = host.add_coordinate(mass);
        let count = 1 + case % 4;
        for _ in 0..count {
            let parameters =
                coordinate::Parameters { stiffness, damping, ..coordinate::Parameters::default() };
            host.add_slider(CoordinatePair::on(slider), parameters);
        }
        let mut state = host.system.default_state();
        state.set_coordinate(slider, 0.1).expect("finite");
        state.set_coordinate_rate(slider, 0.2).expect("finite");
        let (k, d) = (stiffness * f64::from(count) / mass, damping * f64::from(count) / mass);

        let bound = host.stable(&state, symplectic()).length;
        let expected = 4.0 / (d + (d * d + 4.0 * k).sqrt());
        assert!((bound / expected - 1.0).abs() < 1e-12, "{bound} s, {expected} s");
        assert!(host.euler(&state, 0.9 * bound, STEPS) < BOUNDED, "case {case}");
        assert!(host.euler(&state, 1.3 * bound, STEPS) > BOUNDED, "case {case}");

        let bound = host.stable(&state, runge_kutta()).length;
        assert!(host.runge_kutta(&state, 0.9 * bound, &[mass]) < BOUNDED, "case {case}");
        // Sharp unless the slider is damped more than it swings.
        if d < k.sqrt() || k == 0.0 {
            assert!(host.runge_kutta(&state, 1.3 * bound, &[mass]) > BOUNDED, "case {case}");
        }
    }
}

#[test]
fn chains_of_sliders_stay_bounded() {
    let deal = &mut Numbers::new(5);
    for case in 0..40 {
        let mut host = Host::new(0.0);
        let masses: Vec<f64> = (0..5).map(|_| 10.0_f64.powf(deal.between(-1.0, 1.0))).collect();
        let sliders: Vec<CoordinateIndex> = masses.iter().map(|&mass| host.add_coordinate(mass)).collect();
        for i in 0..sliders.len() {
            for j in 0..i {
                let parameters = coordinate::Parameters {
                    stiffness: 10.0_f64.powf(deal.between(0.0, 4.0)),
                    damping: if case % 2 == 0 { 0.0 } else { deal.between(0.0, 20.0) },
                    factor0: deal.between(-2.0, 2.0),
                    factor1: deal.between(-2.0, 2.0),
                    ..coordinate::Parameters::default()
                };
                host.add_slider(CoordinatePair::between(sliders[i], sliders[j]), parameters);
            }
        }
        let mut state = host.system.default_state();
        for &slider in &sliders {
            state.set_coordinate(slider, deal.between(-0.1, 0.1)).expect("finite");
            state.set_coordinate_rate(slider, deal.between(-1.0, 1.0)).expect("finite");
        }
        let bound = host.stable(&state, symplectic()).length;
        assert!(host.euler(&state, 0.9 * bound, STEPS) < BOUNDED, "case {case}");
        // Not so cautious that it would be of no use.
        assert!(host.euler(&state, 2.0 * bound, STEPS) > BOUNDED, "case {case}");
        let bound = host.stable(&state, runge_kutta()).length;
        assert!(host.runge_kutta(&state, 0.9 * bound, &masses) < BOUNDED, "case {case}");
    }
}

#[test]
fn dampers_of_regularised_friction_share_a_slider() {
    for count in 1..=8_u32 {
        let (mass, zone, holding) = (1.5, 1e-3, 2.0);
        let mut host = Host::new(0.0);
        let slider = host.add_coordinate(mass);
        for _ in 0..count {
            let parameters = coordinate::Parameters {
                dynamic_friction_coefficient: 0.2,
                friction_load: holding / 0.2,
                friction_proportional_zone: zone,
                ..coordinate::Parameters::default()
            };
            host.add_slider(CoordinatePair::on(slider), parameters);
        }
        let mut state = host.system.default_state();
        state.set_coordinate_rate(slider, 1e-9).expect("finite");
        let step = host.stable(&state, symplectic());
        let damping = holding / zone;
        assert!((step.length - 2.0 * mass / (f64::from(count) * damping)).abs() < 1e-12 * step.length);
        assert!(host.euler(&state, 0.9 * step.length, STEPS) <= 1.0);
        assert!(host.euler(&state, 1.3 * step.length, STEPS) > BOUNDED);
        // The bound follows the load.
        let halve = |p: &mut coordinate::Parameters<f64>| p.friction_load *= 0.5;
        let first = host.system.elements().next().expect("there");
        let first = host.system.handle::<CoordinateSpringDamperExt<f64>>(first).expect("of this type");
        host.system.update_parameters(&mut state, first, halve).expect("finite");
        assert!(host.stable(&state, symplectic()).length > step.length);
    }
}

/// A body with its mass center off its origin.
fn any_body(deal: &mut Numbers) -> RigidBody<f64> {
    let mass: f64 = 10.0_f64.powf(deal.between(-1.0, 1.0));
    let radii: Vector3<f64> =
        Vector3::new(deal.between(0.1, 0.3), deal.between(0.1, 0.3), deal.between(0.1, 0.3));
    let squares = radii.component_mul(&radii);
    let inertia = Matrix3::from_diagonal(&Vector3::new(
        squares.y + squares.z,
        squares.z + squares.x,
        squares.x + squares.y,
    ));
    RigidBody::new(mass, Point3::from(deal.vector::<f64>(0.2)), inertia * (mass / 5.0)).expect("a body")
}

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
        let step = host.stable(&state, symplectic());
        assert!(step.element.is_some() && step.unknown.is_none());
        let growth = host.euler(&state, 0.9 * step.length, STEPS);
        assert!(growth < BOUNDED, "case {case}: {growth}");
        // Springs across each other count as parallel, and turning bodies with the least of their inertias.
        let growth = host.euler(&state, 6.0 * step.length, STEPS);
        assert!(growth > BOUNDED, "case {case}: {growth} at six times the bound");
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
        let step = host.stable(&state, symplectic());
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
        let step = host.stable(&state, symplectic());
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
        let parameters = capstan_cable::Parameters { elastic, friction };
        host.system.add(CapstanCable::new(path, parameters).expect("valid")).expect("exists");
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
        let step = host.stable(&state, symplectic());
        assert!(step.element.is_some() && step.unknown.is_none(), "{step:?}");
        let growth = host.euler(&state, 0.9 * step.length, STEPS);
        assert!(growth < BOUNDED, "case {case}: {growth}");
        let growth = host.euler(&state, 4.0 * step.length, STEPS);
        assert!(growth > BOUNDED, "case {case}: {growth} at four times the bound");
    }
}

/// A cube of rubber on the floor, at rest or falling.
fn cube(height: f64, speed: f64, material: Material<f64>) -> (Host, State<f64>) {
    let mut host = Host::new(9.81);
    let side = 0.2;
    let mass = 2.0;
    let body = RigidBody::with_equal_inertia(mass, mass * side * side / 6.0).expect("positive");
    let body = host.add_body(body);
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let mesh = TriangleMesh::brick(Vector3::repeat(side / 2.0), [4; 3]).expect("valid");
    foundation.add_springs(Frame::of(body), mesh, material).expect("valid");
    host.system.add(foundation).expect("exists");
    let mut state = host.system.default_state();
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, 0.0, -speed));
    state.set_body(body, Pose::translation(0.0, 0.0, side / 2.0 + height), velocity).expect("finite");
    (host, state)
}

#[test]
fn a_cube_at_rest_on_a_foundation_stays_there() {
    for (dissipation, friction) in [(0.0, 0.0), (0.5, 0.0), (0.5, 0.8)] {
        let stiffness = 1e7;
        let material =
            Material::new(stiffness).with_dissipation(dissipation).with_friction(friction, friction, 0.0);
        let depth = 2.0 * 9.81 / (stiffness * 0.04);
        let (host, state) = cube(-depth, 1e-5, material);
        let step = host.stable(&state, symplectic());
        // Along the normal alone it swings with ω² = k·A/m.
        let normal = (stiffness * 0.04 / 2.0_f64).sqrt();
        assert!(step.frequency >= normal && step.frequency < 3.0 * normal, "{} rad/s", step.frequency);
        let growth = host.euler(&state, 0.9 * step.length, 2000);
        // The energy at rest is that stored in the springs.
        assert!(growth < 1.1, "{growth}");
    }
}

#[test]
fn a_cube_that_falls_is_caught_in_steps_for_its_speed_of_impact() {
    for (speed, dissipation) in [(0.5, 0.0), (2.0, 0.0), (2.0, 0.5)] {
        let material = Material::new(1e7).with_dissipation(dissipation).with_friction(0.8, 0.6, 0.0);
        let (host, state) = cube(0.01, speed, material);
        assert_eq!(host.stable(&state, symplectic()).length, f64::INFINITY, "no contact, none to come");
        let step = host.stable(&state, Stepping { impact_speed: 1.1 * speed, ..symplectic() });
        let growth = host.euler(&state, 0.9 * step.length, 2000);
        // Of the energy at the start, that of the fall included.
        assert!(growth < 1.0 + 1.1 * 2.0 * 9.81 * 0.01 / (0.5 * speed * speed), "{growth}");
    }
}

#[test]
fn a_ball_that_falls_is_caught_in_steps_for_its_speed_of_impact() {
    for (speed, dissipation, friction) in [(0.5, 0.0, 0.0), (2.0, 0.0, 0.5), (2.0, 0.5, 0.0), (2.0, 0.5, 0.5)]
    {
        let mut host = Host::new(9.81);
        let (mass, radius, modulus) = (0.5, 0.05, 1e7);
        let inertia = 0.4 * mass * radius * radius;
        let body = host.add_body(RigidBody::with_equal_inertia(mass, inertia).expect("positive"));
        let ball = Ball::new(Station::on(body, Point3::origin()), radius);
        let parameters =
            hertz_contact::Parameters { effective_modulus: modulus, ..hertz_contact::Parameters::default() }
                .with_dissipation(dissipation)
                .with_friction(friction, friction, 0.0);
        let contact = HertzContact::new(Frame::ground(Pose::identity()), ball, parameters);
        host.system.add(contact.expect("valid")).expect("exists");
        let mut state = host.system.default_state();
        let height = 0.01;
        // It spins, so that friction has something to do.
        let V = SpatialVelocity::new(Vector3::new(0.0, 2.0, 0.0), Vector3::new(0.0, 0.0, -speed));
        state.set_body(body, Pose::translation(0.0, 0.0, radius + height), V).expect("finite");
        assert_eq!(host.stable(&state, symplectic()).length, f64::INFINITY, "no contact, none to come");
        let stepping = Stepping { impact_speed: 1.1 * speed, ..symplectic() };
        let step = host.stable(&state, stepping);
        // At the turn of a Hertz impact it swings with ω² = 2 E* √(R δ)/m, times the factor of damping at full speed.
        let energy: f64 = 0.5 * mass * (1.1 * speed) * (1.1 * speed);
        let depth = (15.0 * energy / (8.0 * modulus * radius.sqrt())).powf(0.4);
        let factor = 1.0 + 1.5 * dissipation * 1.1 * speed;
        let normal = (2.0 * modulus * (radius * depth).sqrt() * factor / mass).sqrt();
        assert!(step.frequency >= normal && step.frequency < 3.0 * normal, "{} {normal}", step.frequency);
        let growth = host.euler(&state, 0.9 * step.length, 2000);
        // Of the energy at the start, that of the fall to the turn included; within a contact it swings, since symplectic
        // Euler keeps v² + ω²x² − hω²xv of a linear spring.
        let fall = 1.0 + 2.0 * 9.81 * (height + depth) / (speed * speed);
        let swing = (1.0 - 0.5 * 0.9 * step.length * normal).recip();
        assert!(swing < 2.0 && growth < fall * swing, "{growth}, {swing}");
    }
}

/// A box of 1 kg on eight default exponential springs, half a metre above the floor.
fn dropped_box() -> (Host, State<f64>) {
    let mut host = Host::new(9.81);
    let side = 0.2;
    let body = host.add_body(RigidBody::with_equal_inertia(1.0, side * side / 6.0).expect("positive"));
    for corner in 0..8 {
        let sign = |bit: u32| if corner >> bit & 1 == 0 { -0.5 * side } else { 0.5 * side };
        let station = Station::on(body, Point3::new(sign(0), sign(1), sign(2)));
        let parameters = exponential_spring::Parameters::default();
        let spring = ExponentialSpring::new(Frame::ground(Pose::identity()), station, parameters);
        host.system.add(spring.expect("valid")).expect("exists");
    }
    let mut state = host.system.default_state();
    // Neither flat nor on an edge.
    let tilt = UnitQuaternion::from_euler_angles(0.3, 0.2, 0.1).to_rotation_matrix();
    state.set_pose(body, Pose::from_parts(Vector3::new(0.0, 0.0, 0.65).into(), tilt)).expect("finite");
    (host, state)
}

#[test]
fn a_box_on_default_exponential_springs_is_caught_in_the_step_of_its_bound_and_explodes_at_1_ms() {
    let (host, state) = dropped_box();
    let fall = 9.81 * 0.5;
    let speed = (2.0_f64 * fall).sqrt() + 0.1;
    let step = host.stable(&state, Stepping { impact_speed: speed, ..symplectic() });
    // The highest energy of motion and springs, over that of the fall.
    let highest = |step: f64, duration: f64| {
        let mut simulation = Simulation::new(&host.system, &host.plant, state.clone()).expect("regular");
        let mut most = 0.0_f64;
        let mut euler = SemiImplicitEuler::new(step);
        let run = simulation.run(&mut euler, duration, |simulation| {
            let stored = simulation.dynamics().map_or(f64::INFINITY, |view| view.potential_energy());
            most = most.max((simulation.kinetic_energy() + stored) / fall);
        });
        run.map_or(f64::INFINITY, |()| most)
    };
    // It falls a little lower than half a metre, with its corners; and within a contact the energy swings.
    let caught = highest(0.9 * step.length, 1.5);
    assert!(caught < 1.3, "{caught}");
    let exploded = highest(1e-3, 1.5);
    assert!(exploded > 2.0, "{exploded}");
    // Its friction dampers alone: 2·m/(n·cxy), less for the corners' levers and the springs.
    assert!(step.length < 2.0 / (8.0 * 282.8) && step.length > 2e-5, "{step:?}");
}

#[test]
fn forces_held_over_substeps_gain_what_is_said() {
    let (mass, stiffness) = (1.0, 400.0_f64);
    let mut host = Host::new(0.0);
    let slider = host.add_coordinate(mass);
    host.add_slider(
        CoordinatePair::on(slider),
        coordinate::Parameters { stiffness, ..coordinate::Parameters::default() },
    );
    let state = host.system.default_state();
    let stable = host.stable(&state, symplectic());
    for substeps in [1, 2, 4, 10] {
        for share in [0.05, 0.1, 0.2] {
            let h = share * 2.0 / stable.frequency;
            let (mut q, mut v) = (0.1_f64, 0.0_f64);
            let mut energies = Vec::new();
            let n = f64::from(substeps);
            for _ in 0..200 {
                let force = -stiffness * q;
                for _ in 0..substeps {
                    v += h / n * force / mass;
                    q += h / n * v;
                }
                energies.push((v, q));
            }
            // The area that two motions enclose grows as the energy does, without its swing within a period.
            let (mut p, mut u) = (0.0_f64, 0.1_f64);
            let mut area = Vec::new();
            for &(v, q) in &energies {
                let force = -stiffness * p;
                for _ in 0..substeps {
                    u += h / n * force / mass;
                    p += h / n * u;
                }
                area.push(q * u - p * v);
            }
            let growth = (area[199] / area[0]).powf(1.0 / 199.0) - 1.0;
            let said = stable.gain_of_held_forces(h, substeps);
            assert!((growth - said).abs() < 1e-12, "{growth}, {said} with {substeps} substeps");
        }
    }
}

#[test]
fn of_a_users_force_no_step_is_known() {
    let mut host = Host::new(0.0);
    let slider = host.add_coordinate(1.0);
    let custom = host.system.add(CustomForce::<f64>::new(|_, _| 0.0)).expect("valid");
    let mut state = host.system.default_state();
    let step = host.stable(&state, symplectic());
    assert_eq!((step.element, step.unknown, step.length), (None, Some(custom.id()), f64::INFINITY));
    let law = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), coordinate::Parameters::default())
        .expect("valid")
        .with_force_law(|_, q, _, _| q);
    let law = host.system.add(law).expect("exists");
    host.system.carry_over(&mut state).expect("own");
    host.system.set_enabled(&mut state, custom, false).expect("own");
    assert_eq!(host.stable(&state, symplectic()).unknown, Some(law.id()));
}

#[test]
fn masses_and_stages_that_make_no_sense_are_refused() {
    struct Massless;
    impl Inertias for Massless {
        fn mass(&self, _: BodyIndex) -> f64 {
            0.0
        }
        fn least_inertia(&self, _: BodyIndex) -> f64 {
            1.0
        }
        fn coordinate_mass(&self, _: CoordinateIndex) -> f64 {
            1.0
        }
    }
    let mut system = ForceSystem::<f64>::new();
    system.add_body();
    let mut state = system.default_state();
    let early = system.stable_step(&state, &Massless, symplectic());
    assert!(matches!(early, Err(Error::StageTooLow { .. })), "{early:?}");
    system.realize_dynamics(&mut state).expect("regular");
    let massless = system.stable_step(&state, &Massless, symplectic());
    assert!(matches!(massless, Err(Error::InvalidValue(value)) if value.name == "mass"), "{massless:?}");
}
