//! Pairs of surfaces: order, halves, bodies and sums.

use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Rotation3, Translation3, Vector3};
use force_elements::shapes::{Ellipsoid, HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::{ElasticFoundation, ForceSystem, Frame, Pose, SpatialVelocity};

use super::{Foundation, Scene, on_floor, rubber, vertical_force};
use force_elements_scenes::meshes::{self, Sequence};

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
        Arc::new(meshes::star(6)),
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
fn faces_within_push_whichever_way_they_look() {
    let plate = TriangleMesh::brick(Vector3::new(0.5, 0.5, 0.01), [4, 4, 1]).expect("valid");
    let mut scene = on_floor(plate, Material::new(1e5), Parameters::default());
    // Pushed all the way in: underside at 0.03, top at 0.01, and the rim, which is upright, at 0.02.
    let (underside, top, rim) = (1e5 * 0.03, 1e5 * 0.01, 1e5 * 0.02 * 4.0 * 0.02);
    assert_relative_eq!(vertical_force(&mut scene, -0.02), underside + top + rim, max_relative = 1e-12);
}

#[test]
fn an_element_with_many_surfaces_is_the_sum_over_its_pairs() {
    let mut sequence = Sequence::new();
    let meshes: Vec<_> = meshes::menagerie().into_iter().map(|(_, mesh)| Arc::new(mesh)).collect();
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
