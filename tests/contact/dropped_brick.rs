//! A brick on a bed of springs is thrown on the floor, tumbles, slides and comes to rest.
#![allow(non_snake_case, reason = "monogram notation")]

use approx::assert_relative_eq;
use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{DormandPrince, Plant, RigidBody, Simulation};
use force_elements::{ElasticFoundation, ForceSystem, Frame, Pose, SpatialVelocity};

const HALF_EDGES: Vector3<f64> = Vector3::new(0.1, 0.075, 0.05);
const MASS: f64 = 2.0;
const GRAVITY: f64 = 9.81;

#[test]
fn a_dropped_brick_is_at_rest_after_thirty_seconds_and_its_energy_is_accounted_for() {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -GRAVITY)).expect("finite");
    let brick = plant.add_body(&mut system, RigidBody::with_equal_inertia(MASS, 0.01).expect("valid"));
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let mesh = TriangleMesh::brick(HALF_EDGES, [6, 5, 4]).expect("valid");
    let stiffness = 1e6;
    let rubber = Material::new(stiffness).with_dissipation(1.0).with_friction(0.7, 0.5, 0.0);
    foundation.add_springs(Frame::of(brick), mesh, rubber).expect("valid");
    let handle = system.add(foundation).expect("the body exists");

    let mut state = system.default_state();
    let pose =
        Pose::from_parts(Translation3::new(0.0, 0.0, 0.4), Rotation3::from_euler_angles(0.3, 0.5, 0.2));
    let velocity = SpatialVelocity::new(Vector3::new(1.0, 3.0, -0.5), Vector3::new(1.0, 0.5, 0.0));
    state.set_body(brick, pose, velocity).expect("finite");

    let mut simulation = Simulation::new(&system, &plant, state).expect("fits");
    let start = simulation.mechanical_energy().expect("regular");
    let mut worst = 0.0_f64;
    let (mut time, mut power, mut lost) = (0.0, 0.0, 0.0);
    let mut smallest_loss_rate = f64::INFINITY;
    simulation
        .run(&mut DormandPrince::new(1e-6), 30.0, |simulation| {
            let mechanical = simulation.mechanical_energy().expect("regular");
            let view = simulation.dynamics().expect("regular");
            lost += 0.5 * (view.time() - time) * (power + view.power_dissipated());
            (time, power) = (view.time(), view.power_dissipated());
            worst = worst.max((mechanical + lost - start).abs());
            smallest_loss_rate = smallest_loss_rate.min(power);
        })
        .expect("the step never vanishes");

    // Kinetic, gravitational and stored energy, and the integral of what the foundation says it loses: all that is lost is
    // known at the instant. Steps are short where power changes; the trapezoidal rule is off by half a step where it
    // jumps, as faces touch first.
    assert!(worst < 2e-3 * start, "{worst} of {start} J");
    assert!(smallest_loss_rate >= 0.0);

    let view = simulation.dynamics().expect("regular");
    let dissipated = view.dissipated_energy_of(handle).expect("open");
    assert!(dissipated > 0.5 * start && dissipated < start, "{dissipated} J");
    // What the tolerance leaves of the motion.
    let V = view.velocity(brick);
    assert!(V.linear.norm() < 1e-4 && V.angular.norm() < 1e-3, "{V:?}");
    assert_relative_eq!(view.body_force(brick).force.z, MASS * GRAVITY, max_relative = 1e-3);
    // Flat on one of its faces: the depth is that of the weight spread over it.
    let at = view.of(handle);
    let area = at.dynamics.resultants[0].area;
    let depth = MASS * GRAVITY / (stiffness * area);
    for spring in &at.position.springs {
        assert_relative_eq!(spring.depth, depth, max_relative = 1e-2);
    }
}
