//! The evaluation loop does not allocate once it is warm.

use force_elements::exponential_spring::Parameters;
use force_elements::nalgebra::{Point3, Vector6};
use force_elements::{
    BodyIndex, CoordinateSpringDamperExt, ExponentialSpring, ForceSystem, LinearBushing, SpatialVelocity,
    Transform, coordinate_spring_damper_ext,
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
        let parameters =
            coordinate_spring_damper_ext::Parameters { dynamic_friction: 1.0, ..Default::default() };
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
