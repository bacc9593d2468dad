//! Bodies that meet at any speed and from any distance do not pass through each other unnoticed.
#![allow(non_snake_case, reason = "monogram notation")]

use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::hertz_contact;
use force_elements::nalgebra::{Point3, Translation3, Vector3};
use force_elements::shapes::{Solid, SolidShape, Sphere, SurfacePoint, TriangleMesh};
use force_elements::simulation::{
    DormandPrince, Implicit, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation, SimulationError,
};
use force_elements::testing::Numbers;
use force_elements::{
    BodyIndex, ElasticFoundation, Error, ForceSystem, Frame, HertzContact, KinematicsSource, Pose,
    SpatialVelocity, State, Station, StepMethod, StepRule,
};
use force_elements_scenes::{one_in, seeds};

const RADII: [f64; 2] = [0.05, 0.02];
const MASSES: [f64; 2] = [1.0, 3.0];

/// A column about the z axis, which has no end.
#[derive(Debug)]
struct Pillar {
    radius: f64,
}

impl Solid<f64> for Pillar {
    fn nearest(&self, p_S: &Point3<f64>) -> SurfacePoint<f64> {
        let across = Vector3::new(p_S.x, p_S.y, 0.0);
        let normal = across.try_normalize(0.0).unwrap_or(Vector3::x());
        let signed_distance = across.norm() - self.radius;
        SurfacePoint { point: p_S - normal * signed_distance, normal, signed_distance }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Contact {
    Hertz,
    MeshOnSphere,
    MeshOnMesh,
    MeshOnPillar,
}

const CONTACTS: [Contact; 4] =
    [Contact::Hertz, Contact::MeshOnSphere, Contact::MeshOnMesh, Contact::MeshOnPillar];

fn ball(body: BodyIndex, radius: f64) -> (Station<f64>, f64) {
    (Station::on(body, Point3::origin()), radius)
}

fn sphere(radius: f64) -> TriangleMesh<f64> {
    TriangleMesh::sphere(radius, 8).expect("a positive radius")
}

fn add(system: &mut ForceSystem<f64>, contact: Contact, [a, b]: [BodyIndex; 2], stiffness: f64) {
    let [r, s] = RADII;
    if contact == Contact::Hertz {
        let parameters = hertz_contact::Parameters {
            effective_modulus: stiffness,
            ..hertz_contact::Parameters::default()
        };
        system.add(HertzContact::on_ball(ball(a, r), ball(b, s), parameters).expect("valid")).expect("new");
        return;
    }
    // So stiff that it takes more energy to push one through the other than they have.
    let material = Material::new(1e2 * stiffness / r);
    let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
    foundation.add_springs(Frame::of(a), sphere(r), material).expect("closed");
    match contact {
        Contact::MeshOnMesh => foundation.add_springs(Frame::of(b), sphere(s), material).map(|_| ()),
        Contact::MeshOnPillar => {
            foundation.add_rigid(Frame::of(b), SolidShape::custom(Pillar { radius: s })).map(|_| ())
        }
        _ => foundation.add_rigid(Frame::of(b), Sphere::new(s).expect("positive")).map(|_| ()),
    }
    .expect("valid");
    system.add(foundation).expect("new");
}

struct Scene {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    bodies: [BodyIndex; 2],
}

impl Scene {
    fn new(contact: Contact, stiffness: f64) -> Self {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let bodies = [0, 1].map(|i| {
            let inertia = 0.4 * MASSES[i] * RADII[i] * RADII[i];
            plant.add_body(&mut system, RigidBody::with_equal_inertia(MASSES[i], inertia).expect("positive"))
        });
        add(&mut system, contact, bodies, stiffness);
        Self { system, plant, bodies }
    }

    /// The first body so far from the second along x, which it approaches, a little off its centre.
    fn state(&self, gap: f64, speed: f64) -> State<f64> {
        let mut state = self.system.default_state();
        let X = Pose::translation(gap + RADII[0] + RADII[1], 0.2 * RADII[1], 0.0);
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(-speed, 0.0, 0.0));
        state.set_body(self.bodies[0], X, V).expect("finite");
        state
    }

    /// Runs from there until the bodies have met and are apart again, or an impact is refused that fixed steps have not resolved.
    fn is_thrown_back(&self, integrator: &mut impl Integrator<f64>, gap: f64, speed: f64) -> bool {
        let mut simulation =
            Simulation::new(&self.system, &self.plant, self.state(gap, speed)).expect("regular");
        match simulation.run(integrator, 2.0 * gap / speed + 0.1 / speed, |_| {}) {
            Err(SimulationError::EnergyExploded { .. }) => return true,
            outcome => outcome.expect("no step is refused"),
        }
        let (positions, velocities) = (simulation.state().positions(), simulation.state().velocities());
        let [apart, v] = [
            self.bodies.map(|body| positions.pose(body).translation.vector),
            self.bodies.map(|body| velocities.velocity(body).linear),
        ]
        .map(|[a, b]| a - b);
        apart.x > RADII[1] && v.x > 0.1 * speed
    }
}

#[test]
fn no_integrator_takes_bodies_through_each_other() {
    let mut is_drawn = one_in(4);
    for contact in CONTACTS {
        let scene = Scene::new(contact, 1e7);
        for (gap, speed) in [(0.1, 2.0), (1.0, 10.0), (200.0, 5.0)] {
            for accuracy in [1e-3, 1e-6] {
                let mut explicit = DormandPrince::new(accuracy);
                assert!(
                    !is_drawn() || scene.is_thrown_back(&mut explicit, gap, speed),
                    "{contact:?} {gap} {speed} {accuracy}"
                );
                let mut implicit = Implicit::tr_bdf2(10.0).with_accuracy(accuracy);
                assert!(
                    !is_drawn() || scene.is_thrown_back(&mut implicit, gap, speed),
                    "{contact:?} {gap} {speed} {accuracy}"
                );
            }
            // Also without error control, where the length of a step is a wish.
            let mut implicit = Implicit::trapezoidal(0.05);
            assert!(
                !is_drawn() || scene.is_thrown_back(&mut implicit, gap, speed),
                "{contact:?} {gap} {speed}"
            );
        }
    }
}

/// At the start it is at rest, and no speed says that it will be fast.
#[test]
fn a_body_that_falls_from_rest_does_not_fall_through_a_small_one() {
    for contact in CONTACTS {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::new(-9.81, 0.0, 0.0)).expect("finite");
        let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 1e-3).expect("positive"));
        add(&mut system, contact, [body, BodyIndex::GROUND], 1e7);
        for gap in [0.01, 0.3, 1.0, 40.0] {
            let mut state = system.default_state();
            state.set_pose(body, Pose::translation(gap + RADII[0] + RADII[1], 1e-4, 0.0)).expect("finite");
            let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
            let end = 1.2 * (2.0 * gap / 9.81_f64).sqrt();
            simulation.run(&mut DormandPrince::new(1e-6), end, |_| {}).expect("no step is refused");
            let x = simulation.state().positions().pose(body).translation.x;
            assert!(x > RADII[1], "{contact:?} {gap}: {x}");
        }
    }
}

/// A host that has moved on in time.
struct At<'a> {
    step: f64,
    state: &'a State<f64>,
}

impl KinematicsSource<f64> for At<'_> {
    fn time(&self) -> f64 {
        self.state.time() + self.step
    }
    fn pose(&self, body: BodyIndex) -> Pose<f64> {
        *self.state.positions().pose(body)
    }
    fn velocity(&self, body: BodyIndex) -> SpatialVelocity<f64> {
        *self.state.velocities().velocity(body)
    }
}

#[test]
fn a_fixed_step_that_could_pass_a_contact_is_refused() {
    for contact in CONTACTS {
        // So soft that no step is too long for the forces.
        let scene = Scene::new(contact, 1e-8);
        let (gap, speed) = (0.01, 20.0);
        let mut state = scene.state(gap, speed);
        scene.system.realize_dynamics(&mut state).expect("regular");
        let (longest, element) = scene.system.passing_time(&state, f64::INFINITY).expect("realized");
        let mut check =
            |step| scene.system.check_step(&mut state, &scene.plant, StepMethod::SymplecticEuler, step);
        let refused = check(1.01 * longest);
        assert!(
            matches!(&refused, Err(Error::StepTooLong { longest: l, .. }) if *l == longest),
            "{refused:?}"
        );
        assert_eq!((check(longest), check(0.1 * longest)), (Ok(()), Ok(())));
        assert_eq!(element, scene.system.elements().next());
        // Half of the sum of the half widths, of meshes two thirds of the radius, but no deeper than springs are seen; and what
        // boxes and facets miss.
        let [r, s] = RADII;
        let dip = match contact {
            Contact::Hertz => 0.5 * (r + s),
            Contact::MeshOnMesh => (r + s) / 3.0,
            Contact::MeshOnSphere => (r / 3.0 + 0.5 * s).min(s),
            Contact::MeshOnPillar => r / 3.0,
        };
        let exact = (gap + dip) / speed;
        assert!(longest <= 1.01 * exact && longest > 0.6 * exact, "{contact:?}: {longest} {exact}");

        // Of the same motion, which the host prescribes in the last case.
        let end = At { step: 1.01 * longest, state: &scene.state(gap, speed) };
        let back = At { step: -1.01 * longest, ..end };
        let taken = scene.system.finish_step(&mut state, &back, StepRule::HeldForces);
        assert!(matches!(&taken, Err(Error::InvalidValue(_))), "{taken:?}");
        for rule in [StepRule::HeldForces, StepRule::Trapezoid, StepRule::LeftEndpoint] {
            let before = state.clone();
            let taken = scene.system.finish_step(&mut state, &end, rule);
            if rule == StepRule::LeftEndpoint {
                assert_eq!(taken, Ok(()));
            } else {
                assert!(matches!(&taken, Err(Error::StepTooLong { .. })), "{taken:?}");
                assert_eq!(state.time(), before.time());
            }
        }

        let mut simulation =
            Simulation::new(&scene.system, &scene.plant, scene.state(gap, speed)).expect("regular");
        let taken = simulation.run(&mut SemiImplicitEuler::new(1.01 * longest), 1.0, |_| {});
        assert!(
            matches!(&taken, Err(SimulationError::Forces(Error::StepTooLong { .. }))),
            "{contact:?}: {taken:?}"
        );
    }
}

/// Balls that move uniformly towards the origin, so many that the search for pairs sorts them.
struct Swarm {
    radii: Vec<f64>,
    motions: Vec<(Vector3<f64>, Vector3<f64>)>,
}

impl Swarm {
    const COUNT: usize = 14;

    fn new(seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let mut vector = |scale: f64| Vector3::from_fn(|_, _| numbers.number() * scale);
        let radii = (0..Self::COUNT).map(|_| 0.02 + vector(0.08).x.abs()).collect();
        let motion = |_| {
            let p = vector(1.0);
            (p, vector(0.3) - p * 2.0)
        };
        Self { radii, motions: (0..Self::COUNT).map(motion).collect() }
    }

    /// Springs on every other ball.
    fn foundation(&self) -> ForceSystem<f64> {
        let mut system = ForceSystem::new();
        let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
        for (i, &radius) in self.radii.iter().enumerate() {
            let frame = Frame::of(system.add_body());
            if i % 2 == 0 {
                let mesh = TriangleMesh::sphere(radius, 4).expect("a positive radius");
                foundation.add_springs(frame, mesh, Material::new(1e6)).expect("closed");
            } else {
                foundation.add_rigid(frame, Sphere::new(radius).expect("positive")).expect("valid");
            }
        }
        system.add(foundation).expect("new");
        system
    }

    /// A contact for each pair.
    fn hertz(&self) -> ForceSystem<f64> {
        let mut system = ForceSystem::new();
        let bodies: Vec<_> = self.radii.iter().map(|_| system.add_body()).collect();
        for (i, j) in (0..Self::COUNT).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let [a, b] = [i, j].map(|k| ball(bodies[k], self.radii[k]));
            let parameters = hertz_contact::Parameters { effective_modulus: 1e6, ..Default::default() };
            system.add(HertzContact::on_ball(a, b, parameters).expect("valid")).expect("new");
        }
        system
    }

    fn passing_time(&self, system: &ForceSystem<f64>) -> f64 {
        let mut state = system.default_state();
        for (body, (p, v)) in system.bodies().zip(&self.motions) {
            let V = SpatialVelocity::new(Vector3::zeros(), *v);
            state.set_body(body, Translation3::from(*p).into(), V).expect("finite");
        }
        system.realize_dynamics(&mut state).expect("regular");
        let (time, _) = system.passing_time(&state, f64::INFINITY).expect("realized");
        for share in [0.1, 0.9, 1.1, 10.0] {
            let (bounded, _) = system.passing_time(&state, share * time).expect("realized");
            assert!(bounded == time || bounded.min(time) > share * time, "{bounded} {time}");
        }
        time
    }
}

/// Times at which two balls in uniform relative motion begin and cease to overlap.
fn overlap(apart: &Vector3<f64>, v: &Vector3<f64>, radii: f64) -> Option<[f64; 2]> {
    let (a, b, c) = (v.norm_squared(), apart.dot(v), apart.norm_squared() - radii * radii);
    let discriminant = b * b - a * c;
    (discriminant > 0.0).then(|| [-1.0, 1.0].map(|sign| (-b + sign * discriminant.sqrt()) / a))
}

/// Each pair in closed form.
#[test]
fn what_is_missed_in_the_passing_time_is_grazing() {
    let (mut met, mut missed) = (0, 0);
    for seed in 0..seeds(300) {
        let swarm = Swarm::new(seed);
        for (is_mesh, time) in
            [(false, swarm.passing_time(&swarm.hertz())), (true, swarm.passing_time(&swarm.foundation()))]
        {
            let mut shortest = f64::INFINITY;
            for (i, j) in (0..Swarm::COUNT).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let (apart, v) =
                    (swarm.motions[i].0 - swarm.motions[j].0, swarm.motions[i].1 - swarm.motions[j].1);
                let radii = swarm.radii[i] + swarm.radii[j];
                // Rigid balls do not act on each other.
                if (is_mesh && i % 2 == 1 && j % 2 == 1) || apart.norm() <= radii {
                    continue;
                }
                shortest = shortest.min((apart.norm() - 0.5 * radii) / v.norm());
                if let Some([begin, end]) = overlap(&apart, &v, radii).filter(|[begin, _]| *begin > 0.0) {
                    met += usize::from(begin < time);
                    missed += usize::from(end < time);
                    let is_grazing = (end - begin) * v.norm() <= 0.5 * radii * (1.0 + 1e-12);
                    assert!(end > time || is_grazing, "{seed}: {i} {j}");
                }
            }
            // The boxes around balls are nearer to each other than the balls.
            let least = if is_mesh { 0.0 } else { shortest * (1.0 - 1e-12) };
            assert!(time >= least && time <= shortest * (1.0 + 1e-12), "{seed}: {time} {shortest}");
        }
    }
    assert!(met > 10 && missed <= met / 10, "{missed} of {met}");
}

/// There, no springs are seen.
#[test]
fn a_small_body_does_not_end_a_step_inside_a_large_mesh() {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(1e-3, 1e-6).expect("positive"));
    let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
    let mesh = TriangleMesh::sphere(0.5, 32).expect("a positive radius");
    foundation.add_springs(Frame::ground(Pose::identity()), mesh, Material::new(1e9)).expect("closed");
    foundation.add_rigid(Frame::of(body), Sphere::new(0.05).expect("positive")).expect("valid");
    system.add(foundation).expect("new");
    for gap in [0.2, 0.25, 0.3, 0.35] {
        let mut state = system.default_state();
        let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(-5.0, 0.0, 0.0));
        state.set_body(body, Pose::translation(gap + 0.55, 1e-3, 1e-3), V).expect("finite");
        let start = |state: &State<f64>| Simulation::new(&system, &plant, state.clone()).expect("regular");
        let end = 2.0 * (gap + 0.1) / 5.0;
        let mut simulation = start(&state);
        simulation.run(&mut DormandPrince::new(1e-3), end, |_| {}).expect("no step is refused");
        assert!(simulation.state().velocities().velocity(body).linear.x > 0.0, "{gap}");
        // Steps of 0.2 m are less than half the sum of the radii.
        let taken = start(&state).run(&mut SemiImplicitEuler::new(0.04), end, |_| {});
        assert!(
            matches!(&taken, Err(SimulationError::Forces(Error::StepTooLong { .. }))),
            "{gap}: {taken:?}"
        );
    }
}

/// Its ends are fast, though its centre is at rest.
#[test]
fn a_bar_that_spins_strikes_a_ball_in_the_way_of_its_end() {
    for angle in [0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5_f64] {
        let mut system = ForceSystem::new();
        let mut plant = Plant::new(Vector3::zeros()).expect("finite");
        let bar = plant.add_body(&mut system, RigidBody::with_equal_inertia(1.0, 0.1).expect("positive"));
        let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
        let mesh = TriangleMesh::brick(Vector3::new(0.5, 0.01, 0.01), [100, 2, 2]).expect("positive");
        foundation.add_springs(Frame::of(bar), mesh, Material::new(1e13)).expect("closed");
        let ball = Frame::ground(Pose::translation(0.48 * angle.cos(), 0.48 * angle.sin(), 0.0));
        foundation.add_rigid(ball, Sphere::new(0.01).expect("positive")).expect("valid");
        system.add(foundation).expect("new");
        let mut state = system.default_state();
        let spin = SpatialVelocity::new(Vector3::new(0.0, 0.0, 10.0), Vector3::zeros());
        state.set_body(bar, Pose::identity(), spin).expect("finite");
        let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
        simulation
            .run(&mut DormandPrince::new(1e-4), 0.1 * angle + 0.02, |_| {})
            .expect("no step is refused");
        let w = simulation.state().velocities().velocity(bar).angular.z;
        assert!(w < 0.0, "{angle}: {w}");
    }
}

/// A solid with a hollow.
fn hollow(outer: &TriangleMesh<f64>, inner: &TriangleMesh<f64>) -> TriangleMesh<f64> {
    let count = u32::try_from(outer.vertex_count()).expect("few");
    let vertices: Vec<_> = outer.vertices().chain(inner.vertices()).collect();
    let turned = inner.faces().iter().map(|[a, b, c]| [a + count, c + count, b + count]);
    let faces: Vec<_> = outer.faces().iter().copied().chain(turned).collect();
    TriangleMesh::closed(&vertices, &faces).expect("closed")
}

/// Its box is wide, and its wall thin.
#[test]
fn a_ball_in_a_shell_stays_inside() {
    const INSIDE: f64 = 0.05;
    const RADIUS: f64 = 3e-3;
    let [outer, inner] = [INSIDE + 2e-3, INSIDE]
        .map(|radius| TriangleMesh::<f64>::sphere(radius, 16).expect("a positive radius"));
    let shell = hollow(&outer, &inner);

    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::zeros()).expect("finite");
    let body = plant.add_body(&mut system, RigidBody::with_equal_inertia(0.01, 1e-7).expect("positive"));
    let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
    let ball = TriangleMesh::sphere(RADIUS, 8).expect("a positive radius");
    foundation.add_springs(Frame::of(body), ball, Material::new(1e13)).expect("closed");
    foundation.add_rigid(Frame::ground(Pose::identity()), shell).expect("closed");
    system.add(foundation).expect("new");
    let mut state = system.default_state();
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(4.0, 1.0, 2.0));
    state.set_body(body, Pose::translation(0.01, -0.02, 0.0), V).expect("finite");
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    let mut bounces = 0;
    let mut before = V.linear;
    let observe = |simulation: &mut Simulation<'_, f64>| {
        let p = simulation.state().positions().pose(body).translation.vector;
        assert!(p.norm() < INSIDE, "{p}");
        let v = simulation.state().velocities().velocity(body).linear;
        bounces += usize::from(p.dot(&before) > 0.0 && p.dot(&v) <= 0.0);
        before = v;
    };
    simulation.run(&mut DormandPrince::new(1e-3), 0.2, observe).expect("no step is refused");
    assert!(bounces > 5, "{bounces}");
}

/// Nothing says how far an open mesh may dip into an unbounded solid, and no step is refused.
#[test]
fn where_no_width_is_known_steps_are_not_limited() {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|[y, z]| Point3::new(0.0, y, z));
    let sheet = TriangleMesh::open(&corners, &[[0, 1, 2]]).expect("a triangle");
    foundation.add_springs(Frame::of(body), sheet, Material::new(1e6)).expect("valid");
    let pillar = SolidShape::custom(Pillar { radius: 0.1 });
    foundation.add_rigid(Frame::ground(Pose::identity()), pillar).expect("valid");
    system.add(foundation).expect("new");
    let mut state = system.default_state();
    let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(-5.0, 0.0, 0.0));
    state.set_body(body, Pose::translation(0.11, 0.0, 0.0), V).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    assert_eq!(system.passing_time(&state, 1.0), Ok((f64::INFINITY, None)));
}

/// Where faces are clipped, springs of a mesh that is much coarser than the other one do not act.
#[test]
fn only_springs_that_act_are_seen() {
    let mut system = ForceSystem::new();
    let bodies = [system.add_body(), system.add_body()];
    let parameters = Parameters { clipped: true, ..Parameters::default() };
    let mut foundation = ElasticFoundation::new(parameters).expect("valid");
    for (body, half, parts) in [(bodies[0], 0.05, 1), (bodies[1], 0.1, 20)] {
        let mesh = TriangleMesh::brick(Vector3::repeat(half), [parts; 3]).expect("positive");
        foundation.add_springs(Frame::of(body), mesh, Material::new(1e6)).expect("closed");
    }
    system.add(foundation).expect("new");
    let mut state = system.default_state();
    state.set_body(bodies[0], Pose::translation(-0.3, 0.0, 0.0), moving(5.0, 0.0)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    let (time, _) = system.passing_time(&state, f64::INFINITY).expect("realized");
    // Those of the second are displaced while they are inside the first: to twice its volume over its area.
    let exact = (0.15 + 0.1 / 3.0) / 5.0;
    assert!((time - exact).abs() < 1e-12, "{time} {exact}");
}

/// The springs of a brick fly through the wall of a box in the time of its thickness.
#[test]
fn a_step_is_no_longer_than_a_spring_needs_for_a_wall() {
    const SPEED: f64 = 10.0;
    const THICKNESS: f64 = 0.01;
    let [outer, inner] = [0.5, 0.5 - THICKNESS]
        .map(|half| TriangleMesh::<f64>::brick(Vector3::repeat(half), [1; 3]).expect("positive"));
    let shell = hollow(&outer, &inner);
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
    let brick = TriangleMesh::brick(Vector3::repeat(0.09), [1; 3]).expect("positive");
    foundation.add_springs(Frame::of(body), brick, Material::new(1e6)).expect("closed");
    foundation.add_rigid(Frame::ground(Pose::identity()), shell).expect("closed");
    system.add(foundation).expect("new");
    let mut state = system.default_state();
    state.set_body(body, Pose::translation(0.3975, 0.0, 0.0), moving(SPEED, 0.0)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    let (time, _) = system.passing_time(&state, f64::INFINITY).expect("realized");
    assert!((0.5..=1.0).contains(&(time * SPEED / THICKNESS)), "{time}");
}

fn moving(v: f64, w: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::new(0.0, 0.0, w), Vector3::new(v, 0.0, 0.0))
}

/// The ends of a bar that spins in place are as fast as half of its diagonal makes them.
#[test]
fn what_spins_approaches() {
    let mut system = ForceSystem::new();
    let (bar, ball) = (system.add_body(), system.add_body());
    let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
    let half = Vector3::new(0.3, 0.01, 0.02);
    let mesh = TriangleMesh::brick(half, [30, 1, 2]).expect("positive");
    foundation.add_springs(Frame::of(bar), mesh, Material::new(1e6)).expect("closed");
    foundation.add_rigid(Frame::of(ball), Sphere::new(1.0).expect("positive")).expect("valid");
    system.add(foundation).expect("new");
    let mut state = system.default_state();
    state.set_body(bar, Pose::identity(), moving(0.0, 10.0)).expect("finite");
    state.set_body(ball, Pose::translation(1.5, 0.0, 0.0), moving(0.0, 4.0)).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    let (time, _) = system.passing_time(&state, f64::INFINITY).expect("realized");
    // The ball's own spin moves it as seen from the bar, at whose centre it would be 1.5 m off.
    let speed = 4.0 * 1.5 + 6.0 * half.norm();
    let exact = (0.2 + 0.5 * (0.01 + 1.0)) / speed;
    assert!((time - exact).abs() < 1e-12, "{time} {exact}");
}

/// Balls of 0.1 m, each with springs.
fn balls_of_springs(count: usize) -> (ForceSystem<f64>, State<f64>, Vec<BodyIndex>) {
    let mut system = ForceSystem::new();
    let mut foundation = ElasticFoundation::new(Parameters::default()).expect("valid");
    let bodies: Vec<_> = (0..count).map(|_| system.add_body()).collect();
    for &body in &bodies {
        foundation.add_springs(Frame::of(body), sphere(0.1), Material::new(1e6)).expect("closed");
    }
    system.add(foundation).expect("new");
    let state = system.default_state();
    (system, state, bodies)
}

/// The fastest of many meet head-on.
#[test]
fn all_that_may_meet_in_time_are_found() {
    let (system, mut state, bodies) = balls_of_springs(12);
    for (i, &body) in (0..).zip(&bodies) {
        let v = [0.1, -5.0][usize::from(i == 7)] + [0.0, 4.9][usize::from(i == 6)];
        state.set_body(body, Pose::translation(f64::from(i), 0.0, 0.0), moving(v, 0.0)).expect("finite");
    }
    system.realize_dynamics(&mut state).expect("regular");
    let exact = (0.8 + 0.1) / 10.0;
    for within in [1.01 * exact, 1.0, f64::INFINITY] {
        let (time, _) = system.passing_time(&state, within).expect("realized");
        // Coarse balls are flatter than round ones.
        assert!(time <= exact + 1e-12 && time > 0.95 * exact, "{within}: {time} {exact}");
    }
}

/// From a small body far away, the other is as fast as it is far.
#[test]
fn what_spins_far_away_is_no_nearer_the_longer_one_looks() {
    let (system, mut state, bodies) = balls_of_springs(10);
    for (i, &body) in (0..).zip(&bodies) {
        let w = if i == 4 { 50.0 } else { 0.0 };
        let X = Pose::translation(10.0 * f64::from(i), 0.0, 0.0);
        state.set_body(body, X, moving(0.0, w)).expect("finite");
    }
    system.realize_dynamics(&mut state).expect("regular");
    let (time, _) = system.passing_time(&state, f64::INFINITY).expect("realized");
    let speed = 50.0 * 0.1 * 3.0_f64.sqrt();
    assert!(time >= (9.8 + 0.06) / speed && time < 1.1 * 9.9 / speed, "{time}");
    let (sooner, _) = system.passing_time(&state, 0.9 * time).expect("realized");
    assert!(sooner >= 0.9 * time, "{sooner} {time}");
}

/// What rolls and slides is fast, but seen.
#[test]
fn in_contact_no_step_is_too_long_to_see_it() {
    for contact in CONTACTS {
        let scene = Scene::new(contact, 1e-8);
        let mut state = scene.state(-0.01, 20.0);
        scene.system.realize_dynamics(&mut state).expect("regular");
        assert_eq!(scene.system.passing_time(&state, 1.0), Ok((f64::INFINITY, None)), "{contact:?}");
    }
}

/// Balls that turn together do not approach, however fast.
#[test]
fn balls_that_turn_together_do_not_pass() {
    for contact in [Contact::Hertz, Contact::MeshOnSphere] {
        let mut system = ForceSystem::new();
        let bodies = [system.add_body(), system.add_body()];
        add(&mut system, contact, bodies, 1e9);
        let mut state = system.default_state();
        for (body, y) in bodies.into_iter().zip([1.0, 1.5 + RADII[0] + RADII[1]]) {
            let X = Pose::translation(0.0, y, 0.0);
            state.set_body(body, X, moving(-300.0 * y, 300.0)).expect("finite");
        }
        system.realize_dynamics(&mut state).expect("regular");
        let (time, _) = system.passing_time(&state, f64::INFINITY).expect("realized");
        assert!(time > 1e9, "{time}");
    }
}
