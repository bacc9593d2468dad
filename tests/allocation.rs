//! The evaluation loop does not allocate once it is warm.

use force_elements::cable::{CablePath, Ellipsoid, Obstacle, Sphere, Station};
use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector3, Vector6};
use force_elements::{
    BodyIndex, CableSpring, CoordinateSpringDamperExt, ExponentialSpring, ForceSystem, LinearBushing,
    SpatialVelocity, Transform, coordinate_spring_damper_ext,
};

#[test]
fn an_evaluation_does_not_allocate_after_the_first() {
    let mut system = ForceSystem::<f64>::new();
    let (body, slider) = (system.add_body(), system.add_coordinate());
    // Few enough of each kind that they stay on one thread where threads are enabled: handing work
    // to other threads allocates.
    for _ in 0..100 {
        let spring =
            ExponentialSpring::new(Transform::identity(), body, Point3::origin(), Parameters::default());
        system.add(spring.expect("valid")).expect("exists");
        let bushing = LinearBushing::between_bodies(
            BodyIndex::GROUND,
            body,
            Vector6::repeat(1.0),
            Vector6::repeat(1.0),
        );
        system.add(bushing.expect("valid")).expect("exists");
        let parameters = coordinate_spring_damper_ext::Parameters {
            dynamic_friction: 1.0,
            sticking_stiffness: 1e3,
            ..Default::default()
        };
        let friction = CoordinateSpringDamperExt::new(None, Some(slider), parameters);
        system.add(friction.expect("valid")).expect("exists");
    }
    let mut state = system.default_state();
    let mut evaluate = |time: f64| {
        let pose = Transform::translation(0.1 * time.sin(), 0.0, 0.01 * time.cos());
        state.set_time(time).expect("finite");
        state.set_body(body, pose, SpatialVelocity::zero()).expect("finite");
        state.set_coordinate(slider, time.sin()).expect("finite");
        let force = system.realize_dynamics(&mut state).expect("regular").body_force(body);
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

#[test]
fn a_cable_that_is_tracked_does_not_allocate_through_touchdown_and_liftoff() {
    let mut system = ForceSystem::<f64>::new();
    let (from, to) = (system.add_body(), system.add_body());
    let station = |body| Station { body, p_B: Vector3::zeros() };
    let ground = |x: f64, y: f64| (BodyIndex::GROUND, Transform::translation(x, y, 0.0));
    let mut path = CablePath::new(station(from), station(to)).expect("finite");
    let (body, X_GS) = ground(0.0, -0.5);
    path = path.over(Obstacle::new(body, X_GS, Sphere::new(0.6).expect("positive")).expect("finite"));
    let (body, X_GS) = ground(2.0, -0.6);
    let ellipsoid = Ellipsoid::new(Vector3::new(0.5, 0.6, 0.7)).expect("positive");
    path = path.over(Obstacle::new(body, X_GS, ellipsoid).expect("finite"));
    let cable = system.add(CableSpring::new(path, 100.0, 1.0, 0.1).expect("valid")).expect("exists");
    let mut state = system.default_state();
    let mut contacts = [0_usize; 3];
    let mut evaluate = |time: f64| {
        let height = 0.25 * time.sin();
        state.set_time(time).expect("finite");
        state.set_pose(from, Transform::translation(-2.0, height, 0.1)).expect("finite");
        state.set_pose(to, Transform::translation(4.0, height, -0.1)).expect("finite");
        let view = system.realize_dynamics(&mut state).expect("a path");
        let path = &view.of(cable).position.path;
        contacts[path.contacts.iter().filter(|contact| contact.in_contact).count()] += 1;
        system.accept_step(&mut state).expect("realized");
    };
    // One round trip to warm up: every buffer has been as large as it gets.
    (0..700).for_each(|step| evaluate(0.01 * f64::from(step)));
    let counted =
        allocation_counter::measure(|| (700..1400).for_each(|step| evaluate(0.01 * f64::from(step))));
    assert_eq!(counted.count_total, 0);
    assert!(contacts.iter().filter(|&&count| count > 100).count() >= 2, "no touchdown: {contacts:?}");
}
