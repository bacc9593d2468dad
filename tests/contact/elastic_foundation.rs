//! The elastic foundation: results, options, refusals.
#![allow(non_snake_case, reason = "monogram notation")]

use std::f64::consts::PI;
use std::sync::Arc;

use crate::support::{self, Sequence};
use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, NoContactPossible, OpenSurface, Parameters};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{Ellipsoid, HalfSpace, MeshFault, SolidShape, Sphere, TriangleMesh};
use force_elements::{
    BodyIndex, ElasticFoundation, ElementError, Error, ForceSystem, Frame, Handle, Pose, Requirement,
    SpatialVelocity, State,
};

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

fn projected() -> Parameters<f64> {
    // Materials are those of the surfaces that are added.
    Parameters { projected_area: true, ..Parameters::default() }
}

fn vertical_force(scene: &mut Scene, height: f64) -> f64 {
    scene.state.set_pose(scene.body, Pose::translation(0.0, 0.0, height)).expect("finite");
    scene.system.realize_dynamics(&mut scene.state).expect("regular").body_force(scene.body).force.z
}

#[test]
fn a_sphere_on_a_plane_converges_to_the_volume_of_its_cap() {
    let (depth, k) = (0.2, 1e5);
    let cap = PI * depth * depth * (1.0 - depth / 3.0);
    // Springs that count with their whole area give ∫ x dA over the cap, which is π R δ².
    for (options, expected) in [(projected(), k * cap), (Parameters::default(), k * PI * depth * depth)] {
        let errors: Vec<f64> = [8, 16, 32, 64]
            .into_iter()
            .map(|frequency| {
                let ball = TriangleMesh::sphere(1.0, frequency).expect("valid");
                let mut scene = on_floor(ball, Material::new(k), options.clone());
                (vertical_force(&mut scene, 1.0 - depth) / expected - 1.0).abs()
            })
            .collect();
        // Midpoints of flat faces are of second order in the edge length; the rim, where faces are in or
        // out, makes it uneven, so two halvings are taken together.
        assert!(errors[2] < errors[0] / 8.0 && errors[3] < errors[1] / 8.0, "{errors:?}");
        assert!(errors[3] < 2e-3, "{errors:?}");
    }
}

#[test]
fn projected_areas_push_with_the_volume_while_all_faces_within_look_down() {
    let (k, plane) = (1e5, 1e-12);
    // Standing on a corner: a tetrahedron of three edges at right angles is within, each as long as
    // the depth over the upward component of its direction.
    let up = Vector3::new(0.5, 0.6, 0.61_f64.sqrt()).normalize();
    let brick = TriangleMesh::brick(Vector3::repeat(1.0), [100; 3]).expect("valid");
    let mut scene = on_floor(brick, Material::new(k), projected());
    let turn = Rotation3::rotation_between(&up, &Vector3::z()).expect("not opposite");
    let corner = turn * Vector3::repeat(-1.0);
    for depth in [0.3, 0.6] {
        let pose = Pose::from_parts(Translation3::from(Vector3::z() * -depth - corner), turn);
        scene.state.set_pose(scene.body, pose).expect("finite");
        let force =
            scene.system.realize_dynamics(&mut scene.state).expect("regular").body_force(scene.body).force;
        let volume = depth.powi(3) / (6.0 * up.x * up.y * up.z);
        // Faces are in or out as a whole: at a depth of a fiftieth of an edge the rim is uncertain.
        assert_relative_eq!(force.z, k * volume, max_relative = 2e-3);
        assert!(force.xy().norm() < plane * force.z);
    }
    // Deeper than its widest section a ball has faces within that look up, and push as well.
    let ball = TriangleMesh::sphere(1.0, 32).expect("valid");
    let mut scene = on_floor(ball, Material::new(k), projected());
    let cap = |depth: f64| PI * depth * depth * (1.0 - depth / 3.0);
    assert_relative_eq!(vertical_force(&mut scene, 0.0), k * cap(1.0), max_relative = 5e-3);
    // What looks up, between the equator and the waterline, should push down and pushes up: its column, a ring
    // from r = √0.75 to 1 under a height of 0.5 − √(1 − r²), counts twice.
    let column = 2.0 * PI * (0.5 * 0.125 - 0.125 / 3.0);
    assert_relative_eq!(vertical_force(&mut scene, -0.5), k * (cap(1.5) + 2.0 * column), max_relative = 5e-3);
}

#[test]
fn neither_size_nor_place_nor_attitude_changes_the_law() {
    let meshes =
        [support::star(6), TriangleMesh::brick(Vector3::new(0.5, 0.6, 0.7), [3, 3, 3]).expect("valid")];
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

/// Two bodies with a mesh each, the second at a pose relative to the first.
fn pair(
    meshes: [&Arc<TriangleMesh<f64>>; 2],
    materials: [Option<Material<f64>>; 2],
    poses: [Pose<f64>; 2],
) -> Scene {
    let mut system = ForceSystem::new();
    let bodies = [system.add_body(), system.add_body()];
    let mut foundation = ElasticFoundation::default();
    for i in 0..2 {
        let mesh = Arc::clone(meshes[i]);
        match materials[i] {
            Some(material) => foundation.add_springs(Frame::of(bodies[i]), mesh, material),
            None => foundation.add_rigid(Frame::of(bodies[i]), mesh),
        }
        .expect("valid");
    }
    let foundation = system.add(foundation).expect("bodies exist");
    let mut state = system.default_state();
    for i in 0..2 {
        state.set_pose(bodies[i], poses[i]).expect("finite");
    }
    Scene { system, state, foundation, body: bodies[1] }
}

#[test]
fn mirrored_pairs_give_mirrored_forces() {
    let ball = Arc::new(TriangleMesh::sphere(1.0, 12).expect("valid"));
    let turn = Rotation3::new(Vector3::new(0.0, 0.0, 0.7));
    let apart = |z: f64| Pose::from_parts(Translation3::new(0.0, 0.0, z), turn);
    let mut scene = pair([&ball, &ball], [Some(rubber()); 2], [apart(-0.95), apart(0.95)]);
    let velocity = SpatialVelocity::new(Vector3::new(0.2, 0.0, 0.1), Vector3::new(0.3, 0.2, -0.1));
    // The mirror image in z = 0 of a velocity: axial vectors keep their normal component.
    let image = SpatialVelocity::new(Vector3::new(-0.2, 0.0, 0.1), Vector3::new(0.3, 0.2, 0.1));
    let other = scene.system.bodies().next().expect("two");
    scene.state.set_velocity(scene.body, velocity).expect("finite");
    scene.state.set_velocity(other, image).expect("finite");
    let view = scene.system.realize_dynamics(&mut scene.state).expect("regular");
    let at = view.of(scene.foundation);
    let [below, above] = &at.dynamics.resultants[..] else { panic!("two contacts, one each way") };
    assert!(above.normal_force > 100.0);
    assert_relative_eq!(below.normal_force, above.normal_force, max_relative = 1e-12);
    let mirrored = Vector3::new(below.F_GS.force.x, below.F_GS.force.y, -below.F_GS.force.z);
    assert_relative_eq!(mirrored, above.F_GS.force, epsilon = 1e-10);
    let (F1, F2) = (view.body_force(other), view.body_force(scene.body));
    assert_relative_eq!(F1.force, -F2.force, epsilon = 1e-10);

    // The same two bodies the other way round.
    let (star, brick) = (
        Arc::new(support::star(6)),
        Arc::new(TriangleMesh::brick(Vector3::new(0.5, 0.6, 0.7), [3, 3, 3]).expect("valid")),
    );
    let soft = Material::new(3e4).with_friction(0.5, 0.5, 0.0);
    let mut sequence = Sequence::new();
    let poses = [sequence.next_pose(0.4), sequence.next_pose(0.4)];
    let mut forth = pair([&star, &brick], [Some(rubber()), Some(soft)], poses);
    let mut back = pair([&brick, &star], [Some(soft), Some(rubber())], [poses[1], poses[0]]);
    let forth = forth.system.realize_dynamics(&mut forth.state).expect("regular");
    let back = back.system.realize_dynamics(&mut back.state).expect("regular");
    for (a, b) in [(1, 2), (2, 1)] {
        let (A, B) = (forth.forces().bodies()[a], back.forces().bodies()[b]);
        assert!(A.force.norm() > 10.0);
        assert_relative_eq!(A.force, B.force, max_relative = 1e-12);
        assert_relative_eq!(A.torque, B.torque, max_relative = 1e-12);
    }
}

#[test]
fn of_two_meshes_with_springs_each_counts_half() {
    let ball = Arc::new(TriangleMesh::sphere(1.0, 12).expect("valid"));
    let poses = [Pose::identity(), Pose::translation(0.0, 0.0, 1.9)];
    let force = |materials| {
        let mut scene = pair([&ball, &ball], materials, poses);
        scene.system.realize_dynamics(&mut scene.state).expect("regular").body_force(scene.body).force.z
    };
    let soft = Some(Material::new(1e5));
    let (first, second, both) = (force([soft, None]), force([None, soft]), force([soft, soft]));
    assert!(first > 1.0 && second > 1.0);
    assert_relative_eq!(both, 0.5 * (first + second), max_relative = 1e-13);
}

#[test]
fn surfaces_on_one_body_ignore_each_other() {
    let ball = Arc::new(TriangleMesh::sphere(1.0, 4).expect("valid"));
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::default();
    for x in [0.0, 0.5] {
        let X_BS = Pose::translation(x, 0.0, 0.0);
        foundation.add_springs(Frame::on(body, X_BS), Arc::clone(&ball), rubber()).expect("valid");
    }
    let far_below = Pose::translation(0.0, 0.0, -9.0);
    foundation.add_rigid(Frame::ground(far_below), HalfSpace::BelowZ).expect("valid");
    let foundation = system.add(foundation).expect("the body exists");
    let mut state = system.default_state();
    let view = system.realize_dynamics(&mut state).expect("regular");
    assert!(view.of(foundation).position.contacts.is_empty());
    assert_eq!(view.potential_energy(), 0.0);
}

#[test]
fn facing_only_leaves_out_the_far_side() {
    let plate = || TriangleMesh::brick(Vector3::new(0.5, 0.5, 0.01), [4, 4, 1]).expect("valid");
    let mut all = on_floor(plate(), Material::new(1e5), Parameters::default());
    let mut facing =
        on_floor(plate(), Material::new(1e5), Parameters { facing_only: true, ..Parameters::default() });
    // Pushed all the way in: underside at 0.03, top at 0.01, and the rim, which is upright.
    let (underside, top) = (1e5 * 0.03, 1e5 * 0.01);
    assert_relative_eq!(vertical_force(&mut facing, -0.02), underside, max_relative = 1e-12);
    assert!(vertical_force(&mut all, -0.02) > underside + top);
    let rim = vertical_force(&mut all, -0.02) - underside - top;
    assert_relative_eq!(rim, 1e5 * 0.02 * 4.0 * 0.02, max_relative = 1e-12);
    // The same by a flag of the state.
    all.system.set_variable(&mut all.state, "elastic_foundation[0].facing_only", 1.0).expect("named");
    assert_relative_eq!(vertical_force(&mut all, -0.02), underside, max_relative = 1e-12);
}

#[test]
fn an_element_with_many_surfaces_is_the_sum_over_its_pairs() {
    let mut sequence = Sequence::new();
    let meshes: Vec<_> = support::menagerie().into_iter().map(|(_, mesh)| Arc::new(mesh)).collect();
    let mut system = ForceSystem::<f64>::new();
    let count = 12;
    let bodies: Vec<_> = (0..count).map(|_| system.add_body()).collect();
    let X_BS: Vec<_> = (0..count).map(|_| sequence.next_pose(0.3)).collect();
    // Every fourth is rigid.
    let add = |foundation: &mut Foundation, i: usize| {
        let mesh = Arc::clone(&meshes[i % meshes.len()]);
        if i % 4 == 3 {
            foundation.add_rigid(Frame::on(bodies[i], X_BS[i]), mesh)
        } else {
            foundation.add_springs(Frame::on(bodies[i], X_BS[i]), mesh, rubber())
        }
        .expect("valid");
    };
    let mut whole = ElasticFoundation::default();
    whole.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    (0..count).for_each(|i| add(&mut whole, i));
    let whole = system.add(whole).expect("bodies exist");
    for i in 0..count {
        let mut part = ElasticFoundation::default();
        part.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
        add(&mut part, i);
        let is_rigid = |i: usize| i % 4 == 3;
        if !is_rigid(i) {
            system.add(part).expect("bodies exist");
        }
        for j in (0..i).filter(|&j| !(is_rigid(i) && is_rigid(j))) {
            let mut part = ElasticFoundation::default();
            add(&mut part, i);
            add(&mut part, j);
            system.add(part).expect("bodies exist");
        }
    }
    let mut state = system.default_state();
    for &body in &bodies {
        let V = SpatialVelocity::new(sequence.next_point().coords, sequence.next_point().coords);
        state.set_body(body, sequence.next_pose(1.5), V).expect("finite");
    }
    let view = system.realize_dynamics(&mut state).expect("regular");
    let pairs = view.of(whole).position.contacts.len();
    assert!(pairs > count, "{pairs}");
    let mut own = force_elements::Forces::zeros(system.topology());
    view.add_contribution(whole, &mut own).expect("its own");
    for body in system.bodies() {
        let (part, all) = (own.bodies()[body.index()], view.body_force(body));
        // Sums of some hundred springs, in another order.
        let scale = 1.0 + part.force.norm() + part.torque.norm();
        assert!((all.force - part.force * 2.0).norm() < 1e-11 * scale);
        assert!((all.torque - part.torque * 2.0).norm() < 1e-11 * scale);
    }
}

#[test]
fn a_foundation_that_can_never_push_is_refused_when_it_is_added() {
    let ball = Arc::new(TriangleMesh::sphere(0.5, 2).expect("valid"));
    let mut system = ForceSystem::<f64>::new();
    let (body, other) = (system.add_body(), system.add_body());
    let place = Pose::identity();
    let rigid = |on: BodyIndex| (on, None);
    let soft = |on: BodyIndex| (on, Some(rubber()));
    let mut add = |surfaces: &[(BodyIndex, Option<Material<f64>>)]| {
        let mut foundation = ElasticFoundation::default();
        for &(body, material) in surfaces {
            match material {
                Some(material) => foundation.add_springs(Frame::on(body, place), Arc::clone(&ball), material),
                None => foundation.add_rigid(Frame::on(body, place), Arc::clone(&ball)),
            }
            .expect("valid");
        }
        system.add(foundation)
    };
    let nothing: [&[_]; 5] = [
        &[],
        &[soft(body)],
        &[rigid(body), rigid(other), rigid(BodyIndex::GROUND)],
        &[soft(body), soft(body), rigid(body)],
        &[soft(BodyIndex::GROUND), rigid(BodyIndex::GROUND)],
    ];
    for surfaces in nothing {
        let error = add(surfaces).expect_err("nothing could push");
        assert_eq!(error.own(), Some(&NoContactPossible), "{error}");
        let Error::Element { element, .. } = error else { panic!("{error}") };
        assert_eq!(element.kind, "elastic_foundation");
    }
    for surfaces in
        [[soft(body), rigid(other)], [rigid(BodyIndex::GROUND), soft(body)], [soft(body), soft(other)]]
    {
        add(&surfaces).expect("the two can push each other");
    }
    assert_eq!(system.element_count(), 3, "what was refused was not added");
}

#[test]
fn the_ground_pushes_what_is_in_it_and_nothing_that_is_above() {
    let up = [
        (HalfSpace::BelowZ, Vector3::z()),
        (HalfSpace::BelowY, Vector3::y()),
        (HalfSpace::BeyondX, -Vector3::x()),
    ];
    for (half_space, up) in up {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let mut foundation = ElasticFoundation::default();
        foundation.add_rigid(Frame::ground(Pose::identity()), half_space).expect("valid");
        let ball = TriangleMesh::sphere(0.1, 8).expect("valid");
        foundation.add_springs(Frame::of(body), ball, Material::new(1e6)).expect("valid");
        system.add(foundation).expect("bodies exist");
        let mut state = system.default_state();
        for height in [1.0, 0.101, 0.09, 0.0, -1.0] {
            let at = up * height;
            state.set_pose(body, Pose::translation(at.x, at.y, at.z)).expect("finite");
            let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force;
            assert_eq!(force.norm() > 0.0, height < 0.1, "{half_space:?} at {height}: {force}");
            assert!(force.dot(&up) >= 0.0);
            // Springs of a mesh that is symmetric about `up`, but for rounding in their sum.
            assert!(force.cross(&up).norm() <= 1e-12 * force.norm());
        }
    }
}

#[test]
fn a_brick_at_any_speed_is_slowed_by_its_friction() {
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    let material = Material::new(1e5).with_friction(0.9, 0.6, 0.0);
    let mut scene = on_floor(brick, material, Parameters::default());
    for speed in [1.0, 1e50, 1e80, 1e110, 1e160, 1e250] {
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
}

#[test]
fn what_overflows_is_an_error() {
    let brick = || TriangleMesh::brick(Vector3::new(0.5, 0.3, 0.2), [5, 3, 2]).expect("valid");
    let evaluate = |material: Material<f64>, velocity: Vector3<f64>, z: f64| {
        let mut scene = on_floor(brick(), material, Parameters::default());
        let V_GB = SpatialVelocity::new(Vector3::zeros(), velocity);
        scene.state.set_body(scene.body, Pose::translation(0.0, 0.0, z), V_GB).expect("finite");
        scene.system.realize_dynamics(&mut scene.state).map(|view| view.body_force(scene.body)).map(drop)
    };
    let down = -Vector3::z();
    let soft = Material::new(1e5);
    evaluate(soft, down, 0.199).expect("as it should be");
    let cases = [
        (Material::new(1e300), down, -1e10),
        (soft.with_dissipation(1e200), down * 1e200, 0.199),
        (soft.with_friction(1.0, 1.0, 1e200), Vector3::x() * 1e200, 0.199),
        // Heat overflows where the force does not.
        (soft.with_friction(1.0, 1.0, 0.0), Vector3::x() * 1e308, 0.199),
    ];
    for (material, velocity, z) in cases {
        let error = evaluate(material, velocity, z).expect_err("not finite");
        assert_eq!(error.element_error(), Some(&ElementError::NonFiniteForce), "{error}");
    }

    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    foundation
        .add_springs(Frame::on(body, Pose::translation(0.0, 0.0, -1.5e308)), brick(), soft)
        .expect("valid");
    system.add(foundation).expect("bodies exist");
    let mut state = system.default_state();
    state.set_pose(body, Pose::translation(0.0, 0.0, -1.5e308)).expect("finite");
    assert!(system.realize_position(&mut state).is_err(), "the surface is at minus infinity");
}

#[cfg(feature = "serde")]
#[test]
fn what_is_read_passes_the_same_checks_as_what_is_built() {
    let good = rubber();
    let text = serde_json::to_string(&good).expect("numbers");
    assert_eq!(serde_json::from_str::<Material<f64>>(&text).expect("as written"), good);
    for (from, to, said) in [
        ("100000.0", "-1.0", "stiffness = -1, but it must be finite and at least 0"),
        (
            "\"dynamic_friction\":0.6",
            "\"dynamic_friction\":0.91",
            "dynamic_friction = 0.91, but it must be at most static_friction",
        ),
    ] {
        assert!(text.contains(from), "{text}");
        let error = serde_json::from_str::<Material<f64>>(&text.replace(from, to)).expect_err(to);
        assert!(error.to_string().starts_with(said), "{error}");
    }

    let scene = on_floor(TriangleMesh::sphere(0.5, 2).expect("valid"), rubber(), Parameters::default());
    let parameters = scene.state.parameters(scene.foundation);
    let text = serde_json::to_string(parameters).expect("numbers");
    assert_eq!(&serde_json::from_str::<Parameters<f64>>(&text).expect("as written"), parameters);
    for (from, to) in [("0.01", "0.0"), ("0.01", "-1.0"), ("100000.0", "-1.0")] {
        assert!(text.contains(from), "{text}");
        assert!(serde_json::from_str::<Parameters<f64>>(&text.replacen(from, to, 1)).is_err(), "{to}");
    }
}

#[test]
fn each_shape_pushes_a_mesh_out() {
    let shapes: [(SolidShape<f64>, f64); 3] = [
        (Sphere::new(1.0).expect("valid").into(), 1.0),
        (Ellipsoid::new(Vector3::new(1.2, 0.9, 0.7)).expect("valid").into(), 0.7),
        (TriangleMesh::torus(0.5, 0.3, 24, 16).expect("valid").into(), 0.3),
    ];
    for (shape, height) in shapes {
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let mut foundation = ElasticFoundation::default();
        foundation.add_rigid(Frame::ground(Pose::identity()), shape).expect("valid");
        let ball = TriangleMesh::sphere(0.4, 10).expect("valid");
        foundation.add_springs(Frame::of(body), ball, rubber()).expect("valid");
        system.add(foundation).expect("bodies exist");
        let mut state = system.default_state();
        let x = if height == 0.3 { 0.5 } else { 0.0 };
        state.set_pose(body, Pose::translation(x, 0.0, height + 0.35)).expect("finite");
        let force = system.realize_dynamics(&mut state).expect("regular").body_force(body).force;
        assert!(force.z > 100.0 && force.z > 5.0 * force.xy().norm(), "{force}");
        state.set_pose(body, Pose::translation(x, 0.0, height + 0.41)).expect("finite");
        assert_eq!(
            system.realize_dynamics(&mut state).expect("regular").body_force(body).force,
            Vector3::zeros()
        );
    }
}

#[test]
fn an_open_mesh_carries_springs_but_is_no_obstacle() {
    let brick = TriangleMesh::brick(Vector3::new(0.5, 0.5, 0.5), [2, 2, 2]).expect("valid");
    let vertices: Vec<_> = brick.vertices().collect();
    let open = Arc::new(TriangleMesh::open(&vertices, &brick.faces()[1..]).expect("open"));
    let mut system = ForceSystem::<f64>::new();
    let (body, other) = (system.add_body(), system.add_body());
    let mut foundation = Foundation::default();
    let place = Pose::identity();
    let refused = foundation.add_rigid(Frame::on(body, place), Arc::clone(&open)).expect_err("open");
    let Some(OpenSurface { surface: 0, fault: MeshFault::OpenEdge { .. } }) = refused.own() else {
        panic!("{refused}")
    };
    foundation.add_springs(Frame::on(body, place), Arc::clone(&open), rubber()).expect("springs only");
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let refused =
        foundation.add_springs(Frame::on(other, place), brick.clone(), rubber()).expect_err("asks inside");
    assert_eq!(refused.own().map(|open: &OpenSurface| open.surface), Some(0), "{refused}");
    // On the same body nothing is asked; rigid, the other asks nothing either.
    foundation.add_springs(Frame::on(body, place), brick.clone(), rubber()).expect("the same body");
    foundation.add_rigid(Frame::on(other, place), brick).expect("rigid");
    assert_eq!(foundation.surface_count(), 4, "what was refused was not added");
}

#[test]
fn bad_parameters_are_refused_and_named() {
    let ball = || TriangleMesh::sphere(0.5, 2).expect("valid");
    let mut foundation = Foundation::default();
    let place = Pose::identity();
    let bad = [
        ("stiffness", Material { stiffness: -1.0, ..rubber() }, Requirement::NonNegative),
        ("dissipation", Material { dissipation: f64::NAN, ..rubber() }, Requirement::NonNegative),
        ("static_friction", Material { static_friction: -0.1, ..rubber() }, Requirement::NonNegative),
        (
            "viscous_friction",
            Material { viscous_friction: f64::INFINITY, ..rubber() },
            Requirement::NonNegative,
        ),
        (
            "dynamic_friction",
            Material { dynamic_friction: 0.91, ..rubber() },
            Requirement::AtMost("static_friction"),
        ),
    ];
    for (name, material, must) in bad {
        let error = foundation.add_springs(Frame::ground(place), ball(), material).expect_err(name);
        assert_eq!(error.invalid_value().map(|v| (v.name, v.requirement)), Some((name, must)), "{error}");
    }
    let refused = Foundation::new(Parameters { transition_velocity: 0.0, ..Parameters::default() });
    let refused = refused.expect_err("zero");
    assert_eq!(refused.invalid_value().map(|v| v.name), Some("transition_velocity"));
    let crooked = Pose::translation(f64::NAN, 0.0, 0.0);
    assert!(foundation.add_rigid(Frame::ground(crooked), HalfSpace::BelowZ).is_err());

    let mut scene = on_floor(ball(), rubber(), Parameters::default());
    let error = scene
        .system
        .set_variable(&mut scene.state, "elastic_foundation[0].materials[1].stiffness", -3.0)
        .expect_err("negative");
    assert_eq!(error.invalid_value().map(|v| v.name), Some("stiffness"), "{error}");
    let error = scene
        .system
        .set_variable(&mut scene.state, "elastic_foundation[0].transition_velocity", 0.0)
        .expect_err("zero");
    assert_eq!(error.invalid_value().map(|v| v.requirement), Some(Requirement::Positive), "{error}");

    for [modulus, ratio, thickness] in [[0.0, 0.3, 0.1], [1e6, 0.5, 0.1], [1e6, -0.1, 0.1], [1e6, 0.3, 0.0]] {
        assert!(Material::from_elastic_layer(modulus, ratio, thickness).is_err());
    }
    let layer = Material::from_elastic_layer(2e6, 0.25, 0.02).expect("valid");
    assert_relative_eq!(layer.stiffness, 0.75 * 2e6 / (1.25 * 0.5 * 0.02), max_relative = 1e-15);
}

#[test]
fn parameters_change_per_state_and_by_name() {
    let ball = TriangleMesh::sphere(0.5, 8).expect("valid");
    let mut scene = on_floor(ball, Material::new(1e5), Parameters::default());
    let before = vertical_force(&mut scene, 0.45);
    scene
        .system
        .set_variable(&mut scene.state, "elastic_foundation[0].materials[1].stiffness", 3e5)
        .expect("named");
    assert_relative_eq!(vertical_force(&mut scene, 0.45), 3.0 * before, max_relative = 1e-14);
    let mut fresh = scene.system.default_state();
    fresh.set_pose(scene.body, Pose::translation(0.0, 0.0, 0.45)).expect("finite");
    let view = scene.system.realize_dynamics(&mut fresh).expect("regular");
    assert_eq!(view.body_force(scene.body).force.z, before, "other states keep theirs");

    let names = scene.state.variable_names();
    assert!(names.iter().any(|name| name == "elastic_foundation[0].materials[1].viscous_friction"));
    assert!(!names.iter().any(|name| name.contains("materials[0]")), "the half-space has no material");
}

#[test]
fn parameters_of_another_element_are_refused() {
    let ball = || TriangleMesh::sphere(0.5, 4).expect("valid");
    let mut scene = on_floor(ball(), rubber(), Parameters::default());
    let mut system = ForceSystem::<f64>::new();
    let body = system.add_body();
    let mut other = ElasticFoundation::default();
    other.add_springs(Frame::of(body), ball(), rubber()).expect("valid");
    other.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let other = system.add(other).expect("the body exists");
    let foreign: Parameters<f64> = system.default_state().parameters(other).clone();
    let before = scene.state.snapshot();
    let error =
        scene.system.set_parameters(&mut scene.state, scene.foundation, foreign).expect_err("foreign");
    assert_eq!(scene.state.snapshot(), before);
    let Error::Element { element, source: ElementError::ForeignVariables } = error else { panic!("{error}") };
    assert_eq!(element.index, Some(0));

    // One more rigid surface at the end has no variables of its own, and yet does not fit.
    let mut longer = ElasticFoundation::default();
    longer.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    longer.add_springs(Frame::of(body), ball(), rubber()).expect("valid");
    longer.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let longer = system.add(longer).expect("the body exists");
    let foreign = system.default_state().parameters(longer).clone();
    let error =
        scene.system.set_parameters(&mut scene.state, scene.foundation, foreign).expect_err("foreign");
    assert_eq!(error.element_error(), Some(&ElementError::ForeignVariables), "{error}");
    assert_eq!(scene.state.snapshot(), before);
}
