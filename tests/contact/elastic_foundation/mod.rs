//! The elastic foundation: results, options, refusals.
#![allow(non_snake_case, reason = "monogram notation")]

use std::f64::consts::PI;
use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::{
    BodyIndex, ElasticFoundation, ForceSystem, Frame, Handle, Pose, SpatialVelocity, State,
};

use force_elements_scenes::meshes::{self, Sequence};

mod linearized;
mod pairs;
mod refusals;

type Foundation = ElasticFoundation<f64>;

struct Scene {
    system: ForceSystem<f64>,
    state: State<f64>,
    foundation: Handle<Foundation>,
    body: BodyIndex,
}

fn rubber() -> Material<f64> {
    Material::new(1e5).with_dissipation(0.5).with_friction(0.9, 0.6, 0.05)
}

/// One mesh above a floor.
fn on_floor(mesh: TriangleMesh<f64>, material: Material<f64>, options: Parameters<f64>) -> Scene {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(options).expect("valid");
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    foundation.add_springs(Frame::of(body), mesh, material).expect("valid");
    let foundation = system.add(foundation).expect("bodies exist");
    let state = system.default_state();
    Scene { system, state, foundation, body }
}

fn vertical_force(scene: &mut Scene, height: f64) -> f64 {
    scene.state.set_pose(scene.body, Pose::translation(0.0, 0.0, height)).expect("finite");
    scene.system.realize_dynamics(&mut scene.state).expect("regular").body_force(scene.body).force.z
}

#[test]
fn a_sphere_on_a_plane_converges_to_the_pressure_over_its_cap() {
    let (depth, k) = (0.2, 1e5);
    // ∫ x dA over the cap.
    let expected = k * PI * depth * depth;
    let errors: Vec<f64> = [8, 16, 32, 64]
        .into_iter()
        .map(|frequency| {
            let ball = TriangleMesh::sphere(1.0, frequency).expect("valid");
            let mut scene = on_floor(ball, Material::new(k), Parameters::default());
            (vertical_force(&mut scene, 1.0 - depth) / expected - 1.0).abs()
        })
        .collect();
    // Midpoints of flat faces are of second order in the edge length; the rim, where faces are in or
    // out, makes it uneven, so two halvings are taken together.
    assert!(errors[2] < errors[0] / 8.0 && errors[3] < errors[1] / 8.0, "{errors:?}");
    assert!(errors[3] < 2e-3, "{errors:?}");
}

#[test]
fn a_brick_on_its_corner_is_pushed_upright_by_the_depths_of_its_faces() {
    // Within are three triangles at right angles, whose edges are as long as the depth over the upward component of their
    // directions.
    let up = Vector3::new(0.5, 0.6, 0.61_f64.sqrt()).normalize();
    let brick = TriangleMesh::brick(Vector3::repeat(1.0), [100; 3]).expect("valid");
    let mut scene = on_floor(brick, Material::new(1e5), Parameters::default());
    let turn = Rotation3::rotation_between(&up, &Vector3::z()).expect("not opposite");
    let corner = turn * Vector3::repeat(-1.0);
    for depth in [0.3, 0.6] {
        let pose = Pose::from_parts(Translation3::from(Vector3::z() * -depth - corner), turn);
        scene.state.set_pose(scene.body, pose).expect("finite");
        let force =
            scene.system.realize_dynamics(&mut scene.state).expect("regular").body_force(scene.body).force;
        let edges = up.map(|component| depth / component);
        let area = 0.5 * (edges.x * edges.y + edges.y * edges.z + edges.z * edges.x);
        // The mean depth of a triangle is a third. Faces are in or out as a whole: at a depth of a fiftieth of an edge the rim
        // is uncertain.
        assert_relative_eq!(force.z, 1e5 * area * depth / 3.0, max_relative = 2e-3);
        assert!(force.xy().norm() < 1e-12 * force.z);
    }
}

#[test]
fn neither_size_nor_place_nor_attitude_changes_the_law() {
    let meshes =
        [meshes::star(6), TriangleMesh::brick(Vector3::new(0.5, 0.6, 0.7), [3, 3, 3]).expect("valid")];
    let thin = [
        TriangleMesh::brick(Vector3::new(1.0, 1.0, 0.02), [6, 6, 1]).expect("valid"),
        TriangleMesh::torus(0.7, 0.3, 48, 24).expect("valid"),
    ];
    for pair_of in [&meshes, &thin] {
        for materials in [[true, true], [true, false], [false, true]] {
            let mut sequence = Sequence::new();
            let relative = sequence.next_pose(0.3);
            let V = [0, 1].map(|_| (sequence.next_point().coords, sequence.next_point().coords));
            let evaluate = |size: f64, X_GW: Pose<f64>| {
                // Lengths are `size` metres, times are seconds: velocities scale as lengths do.
                let scaled = pair_of.each_ref().map(|mesh| {
                    let vertices: Vec<_> = mesh.vertices().map(|v| v * size).collect();
                    Arc::new(TriangleMesh::closed(&vertices, mesh.faces()).expect("closed"))
                });
                let rubber =
                    Material::new(1e5).with_dissipation(0.5 / size).with_friction(0.9, 0.6, 0.05 / size);
                let mut system = ForceSystem::new();
                let bodies = [system.add_body(), system.add_body()];
                let mut foundation = ElasticFoundation::new(Parameters {
                    transition_velocity: 0.1 * size,
                    ..Parameters::default()
                })
                .expect("valid");
                for i in 0..2 {
                    let mesh = Arc::clone(&scaled[i]);
                    if materials[i] {
                        foundation.add_springs(Frame::of(bodies[i]), mesh, rubber).expect("valid");
                    } else {
                        foundation.add_rigid(Frame::of(bodies[i]), mesh).expect("closed");
                    }
                }
                system.add(foundation).expect("bodies exist");
                let mut state = system.default_state();
                let mut X_WB = relative;
                X_WB.translation.vector *= size;
                for (i, X_WB) in [(0, Pose::identity()), (1, X_WB)] {
                    let (angular, linear) = V[i];
                    let V_GB = SpatialVelocity::new(X_GW.rotation * angular, X_GW.rotation * linear * size);
                    state.set_body(bodies[i], X_GW * X_WB, V_GB).expect("finite");
                }
                let view = system.realize_dynamics(&mut state).expect("regular");
                let F = view.body_force(bodies[1]);
                // Forces k a x scale with the cube of lengths, torques with the fourth power.
                let force = X_GW.rotation.inverse() * F.force / size.powi(3);
                let torque = X_GW.rotation.inverse() * F.torque / size.powi(4);
                (
                    force,
                    torque,
                    view.power_dissipated() / size.powi(4),
                    view.potential_energy() / size.powi(4),
                )
            };
            let expected = evaluate(1.0, Pose::identity());
            assert!(expected.0.norm() > 1.0 && expected.2 > 0.1, "{expected:?}");
            for (size, distance) in
                [(1e-4, 0.0), (1e-4, 1.0), (1e4, 0.0), (1e4, 1e6), (1.0, 1e4), (1e-30, 0.0)]
            {
                let mut X_GW = sequence.next_pose(1.0);
                X_GW.translation.vector *= distance;
                let found = evaluate(size, X_GW);
                // Rounding of positions, in units of the size, times some hundred springs.
                let rounding = 1e-12 * (1.0 + distance / size);
                assert!((found.0 - expected.0).norm() < rounding * expected.0.norm(), "{size} {distance}");
                assert!((found.1 - expected.1).norm() < rounding * expected.0.norm(), "{size} {distance}");
                assert_relative_eq!(found.2, expected.2, max_relative = rounding);
                assert_relative_eq!(found.3, expected.3, max_relative = rounding);
            }
        }
    }
}

#[test]
fn under_a_steady_push_below_static_friction_surfaces_creep_at_less_than_the_transition_velocity() {
    let brick = || TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    for (us, ud, vt) in [(0.9, 0.6, 0.01), (0.9, 0.0, 1e-6), (5.0, 5.0, 3.0), (1e-6, 1e-7, 0.01)] {
        let mut scene = on_floor(brick(), Material::new(1e5).with_friction(us, ud, 0.0), {
            Parameters { transition_velocity: vt, ..Parameters::default() }
        });
        let mut friction = |speed: f64| {
            let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.0, speed, 0.0));
            scene.state.set_body(scene.body, Pose::translation(0.0, 0.0, 0.199), V_GB).expect("finite");
            let view = scene.system.realize_dynamics(&mut scene.state).expect("regular");
            -view.body_force(scene.body).force.y / 60.0
        };
        // It grows with speed until it is all of static friction at the transition, so that less is met before.
        let speeds: Vec<_> = (0..=50).map(|i| vt * f64::from(i) / 50.0).collect();
        let forces: Vec<_> = speeds.into_iter().map(&mut friction).collect();
        assert!(forces.windows(2).all(|two| two[0] < two[1]), "{forces:?}");
        assert_eq!(forces[0], 0.0);
        // Depths of a millimetre at heights of a fifth of a metre lose three of sixteen digits.
        assert_relative_eq!(forces[50], us, max_relative = 1e-12);
    }
    let mut scene = on_floor(brick(), Material::new(1e5), Parameters::default());
    let V_GB = SpatialVelocity::new(Vector3::zeros(), Vector3::new(3.0, 4.0, 0.0));
    scene.state.set_body(scene.body, Pose::translation(0.0, 0.0, 0.199), V_GB).expect("finite");
    let view = scene.system.realize_dynamics(&mut scene.state).expect("regular");
    assert_eq!(view.body_force(scene.body).force.xy().norm(), 0.0, "without coefficients nothing rubs");
}

#[test]
fn a_flat_brick_bears_the_same_pressure_everywhere() {
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    let mut scene = on_floor(brick, Material::new(2e5), Parameters::default());
    let force = vertical_force(&mut scene, 0.2 - 1e-3);
    // k x times the area of the underside; faces on the sides have their centroids above.
    assert_relative_eq!(force, 2e5 * 1e-3 * 0.6, max_relative = 1e-12);
    let view = scene.system.dynamics_view(&scene.state).expect("realized");
    let at = view.of(scene.foundation);
    let (position, dynamics) = (at.position, at.dynamics);
    assert_eq!((position.contacts.len(), position.springs.len()), (1, 2 * 5 * 3));
    for (spring, force) in position.springs.iter().zip(&dynamics.springs) {
        assert_relative_eq!(force.pressure, 200.0, max_relative = 1e-12);
        assert_relative_eq!(force.pressure * spring.area, force.normal_force, max_relative = 1e-15);
        assert_relative_eq!(spring.base_G().z, -1e-3, max_relative = 1e-12);
        assert_relative_eq!(spring.normal_G, Vector3::z(), epsilon = 1e-15);
    }
    let resultant = &dynamics.resultants[0];
    assert_relative_eq!(resultant.area, 0.6, max_relative = 1e-13);
    assert_relative_eq!(resultant.normal_force, force, max_relative = 1e-13);
    let center = resultant.center_of_pressure_G.expect("pressed");
    assert_relative_eq!(center, Point3::origin(), epsilon = 1e-14);
    assert_relative_eq!(view.potential_energy(), 0.5 * force * 1e-3, max_relative = 1e-12);
}

#[test]
fn a_sliding_brick_is_rubbed_by_hollars_law() {
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    let mut scene = on_floor(brick, rubber(), Parameters::default());
    for speed in [0.002, 0.01, 0.5] {
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.6 * speed, -0.8 * speed, -0.1));
        let pose = Pose::translation(0.3, 0.1, 0.2 - 1e-3);
        scene.state.set_body(scene.body, pose, velocity).expect("finite");
        let view = scene.system.realize_dynamics(&mut scene.state).expect("regular");
        let force = view.body_force(scene.body).force;
        let normal = 1e5 * 1e-3 * 0.6 * (1.0 + 0.5 * 0.1);
        let r: f64 = speed / 0.01;
        let friction = normal * (r.min(1.0) * (0.6 + 2.0 * 0.3 / (1.0 + r * r)) + 0.05 * speed);
        let expected = Vector3::new(-0.6 * friction, 0.8 * friction, normal);
        // Depths of a millimetre at heights of a fifth of a metre lose three of sixteen digits.
        assert_relative_eq!(force, expected, max_relative = 1e-12);
        let lost = friction * speed + (normal - 1e5 * 1e-3 * 0.6) * 0.1;
        assert_relative_eq!(view.power_dissipated(), lost, max_relative = 1e-12);
    }
}

#[test]
fn a_brick_at_any_speed_whose_square_is_finite_is_slowed_by_its_friction() {
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    let material = Material::new(1e5).with_friction(0.9, 0.6, 0.0);
    let mut scene = on_floor(brick, material, Parameters::default());
    for speed in [1.0, 1e50, 1e80, 1e110, 1e150] {
        let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::new(0.6 * speed, -0.8 * speed, 0.0));
        scene.state.set_body(scene.body, Pose::translation(0.0, 0.0, 0.199), velocity).expect("finite");
        let view = scene.system.realize_dynamics(&mut scene.state).expect("finite");
        let r = speed / 0.01;
        let friction = 60.0 * (0.6 + 0.6 / (1.0 + r * r));
        let expected = Vector3::new(-0.6 * friction, 0.8 * friction, 60.0);
        // Depths of a millimetre at heights of a fifth of a metre lose three of sixteen digits.
        assert_relative_eq!(view.body_force(scene.body).force, expected, max_relative = 1e-12);
        assert_relative_eq!(view.power_dissipated(), friction * speed, max_relative = 1e-12);
    }
    let velocity = SpatialVelocity::new(Vector3::zeros(), Vector3::x() * 1e160);
    scene.state.set_velocity(scene.body, velocity).expect("finite");
    let refused = scene.system.realize_dynamics(&mut scene.state).err();
    assert_eq!(
        refused.as_ref().and_then(force_elements::Error::element_error),
        Some(&force_elements::ElementError::NonFiniteForce)
    );
}
