//! The evaluation loop does not allocate once it is warm.
#![allow(non_snake_case, reason = "monogram notation")]

use force_elements::cable::{CablePath, Obstacle};
use force_elements::elastic_foundation::Material;
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3, Vector6};
use force_elements::shapes::{Ellipsoid, HalfSpace, Solid, SolidShape, Sphere, SurfacePoint, TriangleMesh};
use force_elements::{
    BodyIndex, CableSpring, CoordinatePair, CoordinateSpringDamperExt, ElasticFoundation, ExponentialSpring,
    ForceSystem, Frame, HertzContact, LinearBushing, Pose, SpatialVelocity, State, Station, StepMethod,
    cable_spring, coordinate_spring_damper_ext, elastic_foundation, hertz_contact, linear_bushing,
};
use force_elements_scenes::kilograms::Kilograms;

/// Checks a step that is short enough for all forces here.
fn check_step(system: &ForceSystem<f64>, state: &mut State<f64>) {
    system.check_step(state, &Kilograms, StepMethod::SymplecticEuler, 1e-9).expect("short enough");
}

#[test]
fn an_evaluation_does_not_allocate_after_the_first() {
    let mut system = ForceSystem::<f64>::new();
    let (body, slider) = (system.add_body(), system.add_coordinate());
    // Few enough of each kind that they stay on one thread where threads are enabled: handing work
    // to other threads allocates.
    for _ in 0..100 {
        let spring = ExponentialSpring::new(
            Frame::ground(Pose::identity()),
            Station::on(body, Point3::origin()),
            Parameters::default(),
        );
        system.add(spring.expect("valid")).expect("exists");
        let bushing = LinearBushing::new(
            Frame::ground(Pose::identity()),
            Frame::of(body),
            linear_bushing::Parameters { stiffness: Vector6::repeat(1.0), damping: Vector6::repeat(1.0) },
        );
        system.add(bushing.expect("valid")).expect("exists");
        let steel = hertz_contact::Parameters { effective_modulus: 1e6, ..Default::default() }
            .with_dissipation(0.1)
            .with_friction(0.3, 0.2, 0.0);
        let ball = (Station::on(body, Point3::origin()), 0.005);
        let contact = HertzContact::on_half_space(Frame::ground(Pose::identity()), ball, steel);
        system.add(contact.expect("valid")).expect("exists");
        let parameters = coordinate_spring_damper_ext::Parameters {
            dynamic_friction: 1.0,
            sticking_stiffness: 1e3,
            ..Default::default()
        };
        let friction = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), parameters);
        system.add(friction.expect("valid")).expect("exists");
    }
    let mut state = system.default_state();
    let mut evaluate = |time: f64| {
        let pose = Pose::translation(0.1 * time.sin(), 0.0, 0.01 * time.cos());
        state.set_time(time).expect("finite");
        state.set_body(body, pose, SpatialVelocity::zero()).expect("finite");
        state.set_coordinate(slider, time.sin()).expect("finite");
        let force = system.realize_dynamics(&mut state).expect("regular").body_force(body);
        check_step(&system, &mut state);
        system.accept_step(&mut state).expect("realized");
        force
    };
    evaluate(0.1);
    let counted = allocation_counter::measure(|| {
        for step in 2..20 {
            std::hint::black_box(evaluate(0.1 * f64::from(step)));
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// A ball as a user would write it.
#[derive(Debug)]
struct Ball(Sphere<f64>);

impl Solid<f64> for Ball {
    fn nearest(&self, p_S: &Point3<f64>) -> SurfacePoint<f64> {
        self.0.nearest(p_S)
    }
    fn bounds(&self) -> Option<(Point3<f64>, Vector3<f64>)> {
        self.0.bounds()
    }
}

/// Each kind of shape, and whether it carries springs itself.
fn shapes() -> Vec<(&'static str, SolidShape<f64>, bool)> {
    let sphere = Sphere::new(1.0).expect("valid");
    let ellipsoid = Ellipsoid::new(Vector3::new(1.0, 0.8, 1.2)).expect("valid");
    let torus = || TriangleMesh::torus(1.0, 0.6, 24, 12).expect("valid");
    vec![
        ("half-space", HalfSpace::BelowZ.into(), false),
        ("sphere", sphere.into(), false),
        ("ellipsoid", ellipsoid.into(), false),
        ("convex mesh", TriangleMesh::sphere(1.0, 8).expect("valid").into(), false),
        ("mesh", torus().into(), false),
        ("mesh with springs", torus().into(), true),
        ("a user's own", SolidShape::custom(Ball(sphere)), false),
    ]
}

/// A ball of springs over each of the shapes, all in one element each.
fn foundations(
    copies: usize,
    clipped: bool,
) -> (ForceSystem<f64>, BodyIndex, Vec<force_elements::Handle<ElasticFoundation<f64>>>) {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let rubber = Material::new(1e5).with_dissipation(0.1).with_friction(0.5, 0.4, 0.1);
    let mut handles = Vec::new();
    for (_, shape, is_soft) in std::iter::repeat_n(shapes(), copies).flatten() {
        let mut foundation =
            ElasticFoundation::new(elastic_foundation::Parameters { clipped, ..Default::default() })
                .expect("valid");
        match shape {
            SolidShape::Mesh(mesh) if is_soft => {
                foundation.add_springs(Frame::ground(Pose::identity()), mesh, rubber)
            }
            shape => foundation.add_rigid(Frame::ground(Pose::identity()), shape),
        }
        .expect("valid");
        let ball = TriangleMesh::sphere(0.9, 10).expect("valid");
        foundation.add_springs(Frame::of(body), ball, rubber).expect("valid");
        handles.push(system.add(foundation).expect("bodies exist"));
    }
    (system, body, handles)
}

/// From far apart to as deep as can be, and on.
const HEIGHTS: [f64; 8] = [5.0, 1.8, 1.5, 1.0, 0.3, 0.0, -0.2, -3.0];

#[test]
fn a_foundation_with_anchors_does_not_allocate_after_two_commits() {
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::default().with_anchors();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let rubber = Material::new(1e5).with_friction(0.5, 0.4, 0.0).with_grip(1e5, 1e3);
    let ball = TriangleMesh::sphere(0.9, 10).expect("valid");
    foundation.add_springs(Frame::of(body), ball, rubber).expect("valid");
    let foundation = system.add(foundation).expect("bodies exist");
    let mut state = system.default_state();
    let mut evaluate = |z: f64| {
        let V_GB = SpatialVelocity::new(Vector3::x(), Vector3::new(1.0, 2.0, -3.0));
        state.set_body(body, Pose::translation(0.1, 0.2, z), V_GB).expect("finite");
        system.realize_dynamics(&mut state).expect("regular");
        check_step(&system, &mut state);
        // The memory of a step is written to one of two buffers.
        system.accept_step(&mut state).expect("realized");
        state.discrete(foundation).iter().count()
    };
    for z in [5.0, 5.0] {
        assert_eq!(evaluate(z), 0);
    }
    let mut most = 0;
    let counted = allocation_counter::measure(|| {
        most = HEIGHTS.into_iter().map(&mut evaluate).max().expect("some");
    });
    assert_eq!(counted.count_total, 0);
    assert!(most >= 200, "at most {most} anchors");
}

#[test]
fn a_foundation_does_not_allocate_after_the_first_evaluation_however_deep_it_sinks() {
    [false, true].into_iter().for_each(does_not_allocate_however_deep);
}

fn does_not_allocate_however_deep(clipped: bool) {
    let (system, body, handles) = foundations(1, clipped);
    let mut state = system.default_state();
    let mut most = vec![0; handles.len()];
    let mut evaluate = |state: &mut State<f64>, z: f64| {
        let V_GB = SpatialVelocity::new(Vector3::x(), Vector3::new(1.0, 2.0, -3.0));
        state.set_body(body, Pose::translation(0.1, 0.2, z), V_GB).expect("finite");
        let view = system.realize_dynamics(state).expect("regular");
        for (most, &handle) in most.iter_mut().zip(&handles) {
            *most = view.of(handle).position.springs.len().max(*most);
        }
        check_step(&system, state);
    };
    evaluate(&mut state, HEIGHTS[0]);
    let counted = allocation_counter::measure(|| HEIGHTS.into_iter().for_each(|z| evaluate(&mut state, z)));
    assert_eq!(counted.count_total, 0);
    // A copy of a state has buffers of its own.
    let mut copy = state.clone();
    evaluate(&mut copy, HEIGHTS[0]);
    let counted = allocation_counter::measure(|| HEIGHTS.into_iter().for_each(|z| evaluate(&mut copy, z)));
    assert_eq!(counted.count_total, 0);
    for ((name, ..), most) in shapes().iter().zip(most) {
        assert!(most >= 200, "{name}: at most {most} springs were displaced");
    }
}

#[test]
fn a_foundation_that_is_disabled_enabled_and_changed_does_not_allocate() {
    let (system, body, handles) = foundations(1, false);
    let mut state = system.default_state();
    let mut cycle = |heights: [f64; 2]| {
        for &handle in &handles {
            let enabled = state.is_enabled(handle);
            system.set_enabled(&mut state, handle, !enabled).expect("its own");
            let stiffer = |parameters: &mut force_elements::elastic_foundation::Parameters<f64>| {
                parameters.transition_velocity *= 1.01;
            };
            system.update_parameters(&mut state, handle, stiffer).expect("valid");
        }
        for z in heights {
            state.set_pose(body, Pose::translation(0.1, 0.2, z)).expect("finite");
            system.realize_dynamics(&mut state).expect("regular");
        }
    };
    // Enabled last, apart.
    cycle([5.0; 2]);
    cycle([5.0; 2]);
    let counted = allocation_counter::measure(|| (0..4).for_each(|_| cycle([1.8, 0.0])));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_crowd_does_not_allocate_after_the_first_evaluation_as_it_is_pressed_together() {
    let mut system = ForceSystem::<f64>::new();
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let ball = std::sync::Arc::new(TriangleMesh::sphere(1.0, 6).expect("valid"));
    let bodies: Vec<_> = (0..25).map(|_| system.add_body()).collect();
    for &body in &bodies {
        let (ball, rubber) = (std::sync::Arc::clone(&ball), Material::new(1e5));
        foundation.add_springs(Frame::of(body), ball, rubber).expect("valid");
    }
    let foundation = system.add(foundation).expect("bodies exist");
    let mut state = system.default_state();
    let mut evaluate = |distance: f64| {
        for (i, &body) in (0..).zip(&bodies) {
            let (x, y) = (distance * f64::from(i % 5), distance * f64::from(i / 5));
            let V = SpatialVelocity::new(Vector3::zeros(), Vector3::new(f64::from(i).sin(), 0.0, 0.0));
            state.set_body(body, Pose::translation(x, y, 0.4 * distance), V).expect("finite");
        }
        let view = system.realize_dynamics(&mut state).expect("regular");
        let contacts = view.of(foundation).position.contacts.len();
        let (passing_time, _) = system.passing_time(&state, 4.0).expect("realized");
        assert!(contacts > 100 || passing_time < 4.0);
        contacts
    };
    assert_eq!(evaluate(3.0), 0);
    let mut contacts = 0;
    let counted = allocation_counter::measure(|| {
        for distance in [2.4, 1.99, 1.95, 1.9, 1.7, 1.3] {
            contacts = contacts.max(evaluate(distance));
        }
    });
    assert_eq!(counted.count_total, 0);
    assert!(contacts > 100, "{contacts}");
}

/// On one thread of a pool everything that is handed out is done by that thread, which is the one counted.
#[cfg(feature = "rayon")]
#[test]
fn foundations_on_threads_do_not_allocate_after_the_first_evaluation() {
    let (system, body, _) = foundations(20, false);
    let mut state = system.default_state();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        let mut evaluate = |z: f64| {
            state.set_pose(body, Pose::translation(0.1, 0.2, z)).expect("finite");
            system.realize_dynamics(&mut state).expect("regular");
        };
        evaluate(HEIGHTS[0]);
        let counted = allocation_counter::measure(|| HEIGHTS.into_iter().for_each(&mut evaluate));
        assert_eq!(counted.count_total, 0);
    });
}

#[test]
fn changes_of_variables_do_not_allocate_after_the_first() {
    let mut system = ForceSystem::<f64>::new();
    let (body, slider) = (system.add_body(), system.add_coordinate());
    let spring = ExponentialSpring::new(
        Frame::ground(Pose::identity()),
        Station::on(body, Point3::origin()),
        Parameters::default(),
    );
    let spring = system.add(spring.expect("valid")).expect("exists");
    let ones = Vector6::repeat(1.0);
    let bushing = LinearBushing::new(
        Frame::ground(Pose::identity()),
        Frame::of(body),
        linear_bushing::Parameters { stiffness: ones, damping: ones },
    )
    .expect("valid");
    let bushing = system.add(bushing).expect("exists");
    let friction = coordinate_spring_damper_ext::Parameters {
        dynamic_friction: 1.0,
        sticking_stiffness: 1e4,
        ..Default::default()
    };
    let friction = CoordinateSpringDamperExt::new(CoordinatePair::on(slider), friction).expect("valid");
    let friction = system.add(friction).expect("exists");
    let ends = [BodyIndex::GROUND, body].map(|body| Station { body, p_B: Point3::new(2.0, 0.1, 0.0) });
    let ball =
        Obstacle::new(Frame::ground(Pose::translation(3.0, 0.0, 0.0)), Sphere::new(0.5).expect("positive"));
    let path = CablePath::new(ends[0], ends[1]).expect("apart").over(ball.expect("finite"));
    let cable = system
        .add(
            CableSpring::new(
                path,
                cable_spring::Parameters { stiffness: 100.0, slack_length: 1.0, dissipation: 0.1 },
            )
            .expect("valid"),
        )
        .expect("exists");
    let mut foundation = ElasticFoundation::default();
    let rubber = Material::new(1e5).with_friction(0.5, 0.4, 0.1);
    let brick = TriangleMesh::brick(Vector3::repeat(0.5), [2; 3]).expect("positive");
    foundation.add_springs(Frame::of(body), brick, rubber).expect("valid");
    let ball = Sphere::new(2.8).expect("positive");
    foundation.add_rigid(Frame::ground(Pose::identity()), ball).expect("valid");
    let foundation = system.add(foundation).expect("exists");

    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(3.0, 0.0, 0.0)).expect("finite");
    system.reset_dissipated_energy(&mut state).expect("regular");
    let start = state.clone();
    let mut change = |step: u32| {
        let x = f64::from(step);
        let outcome = (|| {
            state.set_time(x)?;
            state.set_pose(body, Pose::translation(3.0 + 1e-3 * x, 0.0, 0.0))?;
            system.update_parameters(&mut state, bushing, |p| p.law.stiffness[1] = x)?;
            system.update_parameters(&mut state, spring, |p| p.d0 = 1e-3 * x)?;
            system.update_parameters(&mut state, friction, |p| p.offset = x)?;
            system.update_parameters(&mut state, cable, |p| p.law.stiffness = x)?;
            system.update_parameters(&mut state, foundation, |p| p.transition_velocity = x)?;
            system.set_variable(&mut state, "elastic_foundation[0].materials[0].stiffness", 1e5 + x)?;
            system.set_variable(&mut state, "cable_spring[0].wraps[0].in_contact", 0.0)?;
            system.set_variable(&mut state, "linear_bushing[0].damping.pz", x)?;
            system.reset_memory(&mut state, spring)?;
            system.reset_memory(&mut state, friction)?;
            system.reset_memory(&mut state, friction)?;
            for enabled in [false, true] {
                system.set_enabled(&mut state, bushing, enabled)?;
                system.set_enabled(&mut state, cable, enabled)?;
                system.set_enabled(&mut state, foundation, enabled)?;
                system.realize_dynamics(&mut state)?;
            }
            system.switching_error(&mut state)?;
            system.discontinuous_update(&mut state, &start)?;
            system.realize_dynamics(&mut state)?;
            system.accept_step(&mut state)
        })();
        outcome.expect("valid");
    };
    (1..3).for_each(&mut change);
    let counted = allocation_counter::measure(|| (3..20).for_each(&mut change));
    assert_eq!(counted.count_total, 0);
}
