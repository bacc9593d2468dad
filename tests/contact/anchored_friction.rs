//! Friction with anchors: mesh blocks hold without creep, from rest and from sliding, at any step.
#![allow(non_snake_case, reason = "monogram notation")]

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{
    DormandPrince, Integrator, Plant, RigidBody, SemiImplicitEuler, Simulation,
};
use force_elements::{
    BodyIndex, ContactDesign, ElasticFoundation, ForceSystem, Frame, Handle, Linearization, Pose, Refusal,
    Requirement, SpatialVelocity, State,
};
use force_elements_scenes::{is_at_length, one_in};

const GRAVITY: f64 = 9.81;
const MASS: f64 = 10.0;
/// A millimetre of depth bears the weight.
const STIFFNESS: f64 = MASS * GRAVITY / (0.04 * 1e-3);

fn rubber() -> Material<f64> {
    // Tangential vibration at 100 rad/s, damped to 0.3 of critical.
    Material::new(STIFFNESS)
        .with_dissipation(5.0)
        .with_friction(0.6, 0.5, 0.0)
        .with_grip(STIFFNESS, 2.0 * 0.3 * MASS * 99.0 / 0.04)
}

struct Scene {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    block: BodyIndex,
}

/// A cube of 0.2 m on a plane, with so many cells along its edges, with gravity as on a slope.
fn scene(slope: f64, is_anchored: bool, clipped: bool, cells: u32, material: Material<f64>) -> Scene {
    let slope = slope.to_radians();
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(slope.sin(), 0.0, -slope.cos()) * GRAVITY).expect("finite");
    let inertia = MASS * 0.04 / 6.0;
    let block = plant.add_body(&mut system, RigidBody::with_equal_inertia(MASS, inertia).expect("positive"));
    let parameters = Parameters { clipped, ..Parameters::default() };
    let foundation = ElasticFoundation::new(parameters).expect("valid");
    let mut foundation = if is_anchored { foundation.with_anchors() } else { foundation };
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let cube = TriangleMesh::brick(Vector3::repeat(0.1), [cells; 3]).expect("valid");
    foundation.add_springs(Frame::of(block), cube, material).expect("valid");
    system.add(foundation).expect("bodies exist");
    Scene { system, plant, block }
}

impl Scene {
    fn start(&self, pose: Pose<f64>, V: SpatialVelocity<f64>) -> Simulation<'_, f64> {
        let mut state = self.system.default_state();
        state.set_body(self.block, pose, V).expect("finite");
        Simulation::new(&self.system, &self.plant, state).expect("regular")
    }
}

fn sliding(speed: f64, spin: f64) -> SpatialVelocity<f64> {
    SpatialVelocity::new(Vector3::z() * spin, Vector3::x() * speed)
}

/// How far the block moves in the tenth second after the start \[m\], and where it is.
fn creep(scene: &Scene, V: SpatialVelocity<f64>, integrator: &mut impl Integrator<f64>) -> (f64, f64) {
    let mut simulation = scene.start(Pose::translation(0.0, 0.0, 0.099), V);
    // It rocks with a time constant of a quarter of a second.
    simulation.run(integrator, 9.0, |_| {}).expect("runs");
    let before = simulation.state().positions().pose(scene.block).translation.vector;
    simulation.run(integrator, 10.0, |_| {}).expect("runs");
    let after = simulation.state().positions().pose(scene.block).translation.vector;
    ((after - before).norm(), after.x)
}

fn a_block_on_a_slope_does_not_creep_from_rest_or_from_sliding_at_any_step(clipped: bool) {
    let held = scene(15.0, true, clipped, 4, rubber());
    // Two of them on whole faces and one on clipped ones, or all at length.
    let mut is_drawn = one_in(2);
    for V in [sliding(0.0, 0.0), sliding(0.5, 0.0), sliding(0.3, 4.0)] {
        if is_drawn() == clipped && !is_at_length() {
            continue;
        }
        let (jitter, x) = creep(&held, V, &mut DormandPrince::new(1e-6));
        // The bound of the longest step, 4.3 ms, is below it. The shortest takes longer than all others.
        let steps: &[f64] = if is_at_length() { &[1e-4, 1e-3, 5e-3] } else { &[1e-3, 5e-3] };
        let in_steps: Vec<_> = steps
            .iter()
            .map(|&step| creep(&held, V, &mut SemiImplicitEuler::new(step).unchecked()))
            .collect();
        // Rounding of places of centimetres; of adaptive steps a hundredth of their accuracy, by which they jitter.
        assert!(in_steps.iter().all(|(creep, _)| *creep < 1e-14), "{in_steps:?}");
        assert!(jitter < 1e-8, "{jitter}");
        // Of first order in the step.
        let is_near = |(_, there): &(f64, f64)| (there - x).abs() < 1e-4 + 0.03 * x;
        assert!(in_steps.iter().all(is_near), "{x}, {in_steps:?}");
    }
    // Without anchors it creeps at tan 15° / 2·μ_s of the transition velocity of 10 mm/s, were μ constant.
    let free = scene(15.0, false, clipped, 4, rubber());
    let (creep, _) = creep(&free, sliding(0.0, 0.0), &mut DormandPrince::new(1e-6));
    assert!(creep > 3.9e-3 && creep < 4.0e-3, "{creep}");
}

#[test]
fn a_block_of_whole_faces_on_a_slope_does_not_creep() {
    a_block_on_a_slope_does_not_creep_from_rest_or_from_sliding_at_any_step(false);
}

#[test]
fn a_block_of_clipped_faces_on_a_slope_does_not_creep() {
    a_block_on_a_slope_does_not_creep_from_rest_or_from_sliding_at_any_step(true);
}

#[test]
fn it_slides_where_the_slope_exceeds_the_coefficient_of_friction() {
    let material = rubber().with_friction(0.6, 0.6, 0.0);
    // tan 30.5° = 0.589 and tan 31.5° = 0.613.
    for (slope, holds) in [(30.5, true), (31.5, false)] {
        let scene = scene(slope, true, true, 4, material);
        let (creep, x) = creep(&scene, sliding(0.0, 0.0), &mut DormandPrince::new(1e-6));
        // Its weight comes suddenly, and it slides some centimetres before it is held.
        assert!(if holds { creep < 1e-8 && x < 0.1 } else { creep > 0.1 }, "{slope}: {creep}, {x}");
    }
}

#[test]
fn a_sliding_block_stops_where_coulomb_stops_it_and_loses_what_it_had() {
    let mut is_drawn = one_in(3);
    // On level ground, with one coefficient, on a low block so that it does not rock.
    let material = rubber().with_friction(0.5, 0.5, 0.0);
    for clipped in [false, true] {
        let scene = scene(0.0, true, clipped, 12, material);
        let start = Pose::translation(0.0, 0.0, 0.099);
        let (speed, spin) = (2.0, 20.0);
        // Pushed: v²/2μg. Spun: ω²/2α with α = μ m g r̄ / I and the mean distance of a square of edge a from its middle,
        // r̄ = a (√2 + ln(1 + √2))/6.
        let r = 0.2 * (2.0_f64.sqrt() + (1.0 + 2.0_f64.sqrt()).ln()) / 6.0;
        let angle = spin * spin / (2.0 * 0.5 * GRAVITY * r / (0.04 / 6.0));
        for (V, expected) in
            [(sliding(speed, 0.0), speed * speed / (2.0 * 0.5 * GRAVITY)), (sliding(0.0, spin), angle)]
        {
            if !is_drawn() {
                continue;
            }
            let mut simulation = scene.start(start, V);
            let kinetic = simulation.kinetic_energy();
            let (mut least_gain, mut last) = (0.0_f64, 0.0);
            let (mut turned, mut before) = (0.0, 0.0);
            simulation
                .run(&mut DormandPrince::new(1e-7), 3.0, |simulation| {
                    let dissipated =
                        simulation.dynamics().expect("regular").dissipated_energy().expect("open");
                    least_gain = least_gain.min(dissipated - last);
                    last = dissipated;
                    let yaw = simulation.state().positions().pose(scene.block).rotation.euler_angles().2;
                    let step: f64 = yaw - before;
                    turned += step - (step / std::f64::consts::TAU).round() * std::f64::consts::TAU;
                    before = yaw;
                })
                .expect("runs");
            let X_GB = *simulation.state().positions().pose(scene.block);
            let way = if V.linear.x > 0.0 { X_GB.translation.vector.x } else { turned };
            // Springs yield by 0.5 mm and back, the middle leans forward, and coefficients act at twelve by twelve places.
            assert_relative_eq!(way, expected, max_relative = 1.5e-2);
            // The accuracy of the steps.
            assert!(least_gain > -1e-9 * kinetic, "{least_gain}");
            assert!((last / kinetic - 1.0).abs() < 1e-2, "{last} of {kinetic}");
        }
    }
}

/// A brick of 30 kg with these half extents, divided so along its edges, in the parameters for a step.
fn brick(half: [f64; 3], cells: [u32; 3], design: &ContactDesign) -> (Scene, f64) {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::z() * -GRAVITY).expect("finite");
    let [x, y, z] = half.map(|a| a * a);
    let inertia = Vector3::new(y + z, x + z, x + y) * (design.mass / 3.0);
    let rigid =
        RigidBody::new(design.mass, Point3::origin(), Matrix3::from_diagonal(&inertia)).expect("positive");
    let block = plant.add_body(&mut system, rigid);
    let area = 4.0 * half[0] * half[1];
    let material = Material::for_contact(design, area).expect("in range");
    let parameters = Parameters::for_contact(design).expect("in range");
    let mut foundation = ElasticFoundation::new(parameters).expect("valid").with_anchors();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let mesh = TriangleMesh::brick(Vector3::from(half), cells).expect("valid");
    foundation.add_springs(Frame::of(block), mesh, material).expect("valid");
    system.add(foundation).expect("bodies exist");
    (Scene { system, plant, block }, material.tangential_stiffness)
}

#[test]
fn friction_holds_each_side_of_a_brick_with_the_stiffness_of_its_area() {
    const SHIFT: f64 = 1e-6;
    let half = [0.06, 0.04, 0.3];
    let design = ContactDesign::new(30.0, 0.3, 1e-3);
    for cells in [[4, 4, 2], [1, 2, 3], [3, 3, 9]] {
        let (Scene { system, block, .. }, per_area) = brick(half, cells, &design);
        for axis in 0..3 {
            let turn =
                Rotation3::rotation_between(&Vector3::ith(axis, 1.0), &Vector3::z()).expect("not opposite");
            let at = |x: f64| Pose::from_parts(Vector3::new(x, 0.0, half[axis] - 1e-3).into(), turn);
            let mut state = system.default_state();
            state.set_pose(block, at(0.0)).expect("finite");
            system.realize_dynamics(&mut state).expect("regular");
            system.accept_step(&mut state).expect("regular");
            state.set_pose(block, at(SHIFT)).expect("finite");
            let view = system.realize_dynamics(&mut state).expect("regular");
            let force = view.body_force(block).force.x;
            let area = 4.0 * half[(axis + 1) % 3] * half[(axis + 2) % 3];
            // The shift is known to the rounding of places of 0.3 m.
            assert_relative_eq!(-force, per_area * area * SHIFT, max_relative = 1e-9);
        }
    }
}

#[test]
fn a_tall_box_rests_at_the_step_of_its_design() {
    for (half, cells) in
        [([0.15, 0.1, 0.3], [4, 4, 2]), ([0.06, 0.06, 0.3], [4, 4, 2]), ([0.3, 0.2, 0.03], [4, 4, 1])]
    {
        let any_step = ContactDesign::new(30.0, half[2], 1e-6).with_impact(0.5, 0.2);
        let design = ContactDesign { step: 0.3 * any_step.longest_step().expect("valid"), ..any_step };
        let (scene, _) = brick(half, cells, &design);
        let mut simulation = scene.start(Pose::translation(0.0, 0.0, half[2]), sliding(0.02, 0.0));
        // Each step is checked.
        let mut integrator = SemiImplicitEuler::new(design.step);
        simulation.run(&mut integrator, 5.0, |_| {}).expect("not too long");
        let V = simulation.state().velocities().velocity(scene.block);
        // It rocks with a time constant of up to two seconds.
        assert!(V.linear.norm() < 2e-3, "{half:?}: {V:?}");
    }
}

/// A mesh of eight vertices and twelve faces, of which that below and that above are squares of these half widths.
fn frustum(below: f64, above: f64, height: f64) -> TriangleMesh<f64> {
    let corner = |half: f64, z: f64| {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Point3::new(x * half, y * half, z))
    };
    let vertices = [corner(below, -0.5 * height), corner(above, 0.5 * height)].concat();
    let mut faces = vec![[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7]];
    for (i, j) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
        faces.extend([[i, j, j + 4], [i, j + 4, i + 4]]);
    }
    TriangleMesh::closed(&vertices, &faces).expect("closed")
}

/// The force and the torque that hold a mesh on planes of ground after it has been shifted by so much.
fn held_after_shift(
    mesh: TriangleMesh<f64>,
    grounds: &[Frame<f64>],
    at: Pose<f64>,
    shift: Vector3<f64>,
) -> (Vector3<f64>, Vector3<f64>) {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters { clipped: true, ..Parameters::default() })
        .expect("valid")
        .with_anchors();
    for &ground in grounds {
        foundation.add_rigid(ground, HalfSpace::BelowZ).expect("valid");
    }
    foundation.add_springs(Frame::of(body), mesh, rubber()).expect("valid");
    system.add(foundation).expect("bodies exist");
    let mut state = system.default_state();
    state.set_pose(body, at).expect("finite");
    system.realize_dynamics(&mut state).expect("regular");
    system.accept_step(&mut state).expect("regular");
    state.set_pose(body, Translation3::from(shift) * at).expect("finite");
    let force = system.realize_dynamics(&mut state).expect("regular").body_force(body);
    (force.force, force.torque)
}

/// Against each of the others every vertex has an anchor of its own.
#[test]
fn a_cube_of_twelve_faces_is_held_by_every_plane_that_it_touches() {
    const SHIFT: f64 = 1e-6;
    let facing = |axis: Vector3<f64>| {
        let turn = Rotation3::rotation_between(&Vector3::z(), &axis).expect("not opposite");
        Frame::ground(Pose::from_parts((axis * (1e-3 - 0.1)).into(), turn))
    };
    let cube = || frustum(0.1, 0.1, 0.2);
    let holds = rubber().tangential_stiffness * 0.04 * SHIFT;
    let between = [facing(Vector3::x()), facing(-Vector3::x())];
    let (force, torque) = held_after_shift(cube(), &between, Pose::identity(), Vector3::z() * SHIFT);
    // Shifts are known to the rounding of places of 0.1 m.
    assert_relative_eq!(force, -Vector3::z() * 2.0 * holds, epsilon = 1e-9 * holds);
    assert!(torque.norm() < 1e-9 * holds, "{torque}");
    // In a corner, along the edge of both, in either order.
    let mut corner = [facing(Vector3::x()), facing(Vector3::z())];
    for _ in 0..2 {
        let (force, _) = held_after_shift(cube(), &corner, Pose::identity(), Vector3::y() * SHIFT);
        assert_relative_eq!(force.y, -2.0 * holds, max_relative = 1e-9);
        corner.reverse();
    }
}

#[test]
fn more_springs_in_contact_than_anchors_are_refused() {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(Parameters { clipped: true, ..Parameters::default() })
        .expect("valid")
        .with_anchors();
    // All contain the whole cube.
    for height in 1..=8 {
        let ground = Frame::ground(Pose::translation(0.0, 0.0, f64::from(height)));
        foundation.add_rigid(ground, HalfSpace::BelowZ).expect("valid");
    }
    foundation.add_springs(Frame::of(body), frustum(0.1, 0.1, 0.2), rubber()).expect("valid");
    system.add(foundation).expect("bodies exist");
    let error = system.realize_dynamics(&mut system.default_state()).map(|_| ()).expect_err("no room");
    assert!(matches!(error.own(), Some(Refusal::TooManySprings { springs: 64, room: 56 })), "{error}");
}

/// Little rests on its sides, if they are steeper than 30°.
#[test]
fn friction_holds_the_base_of_a_frustum_with_the_stiffness_of_its_area() {
    const SHIFT: f64 = 1e-6;
    for (above, height) in [(0.1, 0.08), (0.1, 0.06), (0.02, 0.1), (0.3, 0.2), (0.01, 0.1)] {
        let at = Pose::translation(0.0, 0.0, 0.5 * height - 1e-4);
        let ground = [Frame::ground(Pose::identity())];
        let (force, _) = held_after_shift(frustum(0.02, above, height), &ground, at, Vector3::x() * SHIFT);
        let area = 0.04 * 0.04;
        // Friction at the upper corners is at most that of the pressure there, which grows with the square of the depth.
        assert_relative_eq!(-force.x, rubber().tangential_stiffness * area * SHIFT, max_relative = 1e-3);
    }
}

#[test]
fn a_tall_box_stands_at_the_longest_step_for_its_base() {
    let half = [0.05, 0.05, 0.3];
    let design = |step: f64| ContactDesign::new(2.0, half[2], step);
    let is_accepted = |step: f64| Material::for_contact(&design(step), 4.0 * half[0] * half[1]).is_ok();
    // Too soft for a base this narrow.
    assert!(!is_accepted(1.0 / 240.0));
    let (mut shorter, mut longer) = (1e-5, 1.0 / 240.0);
    for _ in 0..40 {
        let step = 0.5 * (shorter + longer);
        *if is_accepted(step) { &mut shorter } else { &mut longer } = step;
    }
    let (scene, _) = brick(half, [2, 2, 2], &design(shorter));
    let mut simulation = scene.start(
        Pose::translation(0.0, 0.0, half[2]),
        SpatialVelocity::new(Vector3::x() * 0.02, Vector3::zeros()),
    );
    let mut most = 0.0_f64;
    let upright = |simulation: &mut Simulation<'_, f64>| {
        let X_GB = simulation.state().positions().pose(scene.block);
        most = most.max(1.0 - X_GB.rotation[(2, 2)]);
    };
    simulation.run(&mut SemiImplicitEuler::new(shorter), 10.0, upright).expect("not too long");
    // A degree.
    assert!(most < 1.5e-4, "{most}");
}

#[test]
fn anchors_are_released_with_the_contact() {
    for clipped in [false, true] {
        let scene = scene(0.0, true, clipped, 4, rubber());
        let foundation = scene.system.elements().find_map(|id| scene.system.handle(id));
        let foundation: Handle<ElasticFoundation<f64>> = foundation.expect("added");
        let mut state = scene.system.default_state();
        let mut commit = |x: f64, z: f64| {
            state.set_pose(scene.block, Pose::translation(x, 0.0, z)).expect("finite");
            let friction =
                scene.system.realize_dynamics(&mut state).expect("regular").body_force(scene.block);
            scene.system.accept_step(&mut state).expect("realized");
            (friction.force.x, state.discrete(foundation).iter().count())
        };
        let (_, placed) = commit(0.0, 0.099);
        // At least the underside: 32 faces, or 25 vertices.
        assert!(placed >= 25, "{placed}");
        let (pulled, _) = commit(1e-4, 0.099);
        assert!(pulled < -1.0, "{pulled} N");
        assert_eq!(commit(1e-4, 0.2).1, 0);
        // Put down elsewhere, it remembers nothing.
        assert_eq!(commit(0.03, 0.099), (0.0, placed));
        scene.system.reset_memory(&mut state, foundation).expect("regular");
        assert_eq!(state.discrete(foundation).iter().count(), 0);
    }
}

/// Springs on faces and springs at vertices do not share anchors.
#[test]
fn anchors_are_released_when_springs_move_from_faces_to_vertices() {
    for clipped in [false, true] {
        let scene = scene(0.0, true, clipped, 3, rubber());
        let foundation = scene.system.elements().find_map(|id| scene.system.handle(id));
        let foundation: Handle<ElasticFoundation<f64>> = foundation.expect("added");
        let mut state = scene.system.default_state();
        state.set_pose(scene.block, Pose::translation(0.0, 0.0, 0.099)).expect("finite");
        for _ in 0..2 {
            scene.system.realize_dynamics(&mut state).expect("regular");
            scene.system.accept_step(&mut state).expect("realized");
        }
        scene.system.update_parameters(&mut state, foundation, |p| p.clipped = !clipped).expect("valid");
        let force = scene.system.realize_dynamics(&mut state).expect("regular").body_force(scene.block).force;
        assert_eq!((force.x, force.y), (0.0, 0.0), "{force}");
    }
}

/// Without stiffness along the surface the damper alone acts, and anchors move along.
#[test]
fn springs_that_receive_a_stiffness_along_the_surface_begin_unstretched() {
    for clipped in [false, true] {
        let damped = rubber().with_grip(0.0, 1e3);
        let scene = scene(0.0, true, clipped, 4, damped);
        let foundation = scene.system.elements().find_map(|id| scene.system.handle(id));
        let foundation: Handle<ElasticFoundation<f64>> = foundation.expect("added");
        let mut state = scene.system.default_state();
        for x in [0.0, 0.02, 0.04] {
            state.set_pose(scene.block, Pose::translation(x, 0.0, 0.099)).expect("finite");
            scene.system.realize_dynamics(&mut state).expect("regular");
            scene.system.accept_step(&mut state).expect("realized");
        }
        let gripping = |parameters: &mut Parameters<f64>| {
            parameters
                .materials
                .iter_mut()
                .flatten()
                .for_each(|material| material.tangential_stiffness = 1e6);
        };
        scene.system.update_parameters(&mut state, foundation, gripping).expect("valid");
        let mut pull = |x: f64| {
            state.set_pose(scene.block, Pose::translation(x, 0.0, 0.099)).expect("finite");
            let force = scene.system.realize_dynamics(&mut state).expect("regular").body_force(scene.block);
            scene.system.accept_step(&mut state).expect("realized");
            force.force.x
        };
        assert_eq!(pull(0.04), 0.0);
        // Of 1e6 N/m³ on the underside of 0.04 m² and the sides that are inside.
        let held = pull(0.04 + 1e-5);
        assert!(held < -0.39 && held > -0.9, "{held}");
    }
}

#[test]
fn an_anchor_whose_spring_or_surface_is_no_whole_number_is_refused() {
    let scene = scene(0.0, true, false, 4, rubber());
    let mut state = scene.system.default_state();
    state.set_pose(scene.block, Pose::translation(0.0, 0.0, 0.099)).expect("finite");
    scene.system.realize_dynamics(&mut state).expect("regular");
    scene.system.accept_step(&mut state).expect("realized");
    let before = state.snapshot();
    let place_of = |name: &str| before.iter().position(|(listed, _)| listed == name).expect("listed");
    for field in ["spring", "other"] {
        let name = format!("elastic_foundation[0].anchors[0].{field}");
        for value in [2.5, -1.0, f64::NAN, f64::INFINITY] {
            let mut snapshot = before.clone();
            snapshot[place_of(&name)].1 = value;
            let written = scene.system.set_variable(&mut state, &name, value);
            for refused in [written, state.restore(&snapshot)] {
                let refused = refused.expect_err("of no spring");
                let found = refused.invalid_value().map(|value| (value.name, value.requirement));
                assert_eq!(found, Some((field, Requirement::Index)), "{value}");
            }
        }
    }
    // Nor one out of the order in which they are searched.
    let of = |i: usize| place_of(&format!("elastic_foundation[0].anchors[{i}].spring"));
    for spring in [before[of(1)].1, before[of(1)].1 + 1.0] {
        let mut snapshot = before.clone();
        snapshot[of(0)].1 = spring;
        let refused = state.restore(&snapshot).expect_err("unsorted");
        let found = refused.invalid_value().map(|value| (value.name, value.value));
        assert_eq!(found, Some(("anchors.spring", spring)));
    }
    assert_eq!(state.snapshot(), before);
    state.restore(&before).expect("its own");
}

#[test]
fn a_snapshot_resumes_with_its_anchors_bit_for_bit() {
    let scene = scene(15.0, true, true, 2, rubber());
    let mut simulation = scene.start(Pose::translation(0.0, 0.0, 0.099), sliding(0.1, 1.0));
    simulation.run(&mut SemiImplicitEuler::new(1e-3), 0.5, |_| {}).expect("runs");
    let mut state = simulation.state().clone();
    let mut restored = scene.system.default_state();
    restored.restore_bytes(&state.to_bytes()).expect("of the same system");
    let pose = *state.positions().pose(scene.block) * Pose::translation(1e-4, 0.0, 0.0);
    let force = |state: &mut State<f64>| {
        state.set_body(scene.block, pose, sliding(0.02, 0.1)).expect("finite");
        scene.system.realize_dynamics(state).expect("regular").body_force(scene.block)
    };
    let expected = force(&mut state);
    assert!(expected.force.xy().norm() > 1.0);
    assert_eq!(force(&mut restored), expected);
}

/// The normal force of a vertex that barely touches is a small number, of which the inverse square leaves the range of `f32`.
#[test]
fn a_brick_that_barely_touches_is_linearized_in_single_precision() {
    let design = ContactDesign::new(1.0, 0.1, 1e-3);
    let material = Material::<f32>::for_contact(&design, 0.04).expect("a design");
    for depth in [1e-8_f32, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5] {
        for angle in [0.3_f32, 1.9, 4.0] {
            let mut system = ForceSystem::<f32>::new();
            let body = system.add_body();
            let foundation =
                ElasticFoundation::new(Parameters::for_contact(&design).expect("a design")).expect("valid");
            let mut foundation = foundation.with_anchors();
            foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
            let brick = TriangleMesh::brick(Vector3::repeat(0.1), [2; 3]).expect("valid");
            let seat = Frame::on(body, Pose::translation(0.0, 0.0, 0.1));
            foundation.add_springs(seat, brick, material).expect("valid");
            system.add(foundation).expect("bodies exist");
            let mut state = system.default_state();
            let along = Vector3::new(angle.cos(), angle.sin(), 0.0);
            let sliding = SpatialVelocity::new(Vector3::zeros(), along);
            state.set_body(body, Pose::translation(0.0, 0.0, -depth), sliding).expect("finite");
            system.reset_memories(&mut state).expect("regular");
            system.realize_dynamics(&mut state).expect("regular");
            let linearized = system.linearize(&state, &mut Linearization::new());
            assert!(linearized.is_ok(), "{depth} m: {linearized:?}");
        }
    }
}

/// Stiffer normal springs store more than anchors have lost.
#[test]
fn what_anchors_lose_is_dissipated_where_the_same_write_stiffens_the_springs() {
    for clipped in [false, true] {
        let scene = scene(0.0, true, clipped, 4, rubber());
        let foundation = scene.system.elements().find_map(|id| scene.system.handle(id));
        let foundation: Handle<ElasticFoundation<f64>> = foundation.expect("added");
        let mut state = scene.system.default_state();
        for x in [0.0, 1e-4] {
            state.set_pose(scene.block, Pose::translation(x, 0.0, 0.099)).expect("finite");
            scene.system.realize_dynamics(&mut state).expect("regular");
            if x == 0.0 {
                scene.system.accept_step(&mut state).expect("realized");
            }
        }
        scene.system.reset_dissipated_energy(&mut state).expect("regular");
        let account = |state: &mut State<f64>| {
            let view = scene.system.realize_dynamics(state).expect("regular");
            let stretched = view.of(foundation).dynamics.friction_energy;
            (stretched, view.potential_energy(), view.dissipated_energy().expect("open"))
        };
        let (stretched, stored, _) = account(&mut state);
        let soften = |parameters: &mut Parameters<f64>| {
            for material in parameters.materials.iter_mut().flatten() {
                *material = material.with_friction(0.0, 0.0, 0.0);
                material.stiffness *= 2.0;
            }
        };
        scene.system.update_parameters(&mut state, foundation, soften).expect("valid");
        let (left, after, dissipated) = account(&mut state);
        assert!(stretched > 1e-4 && left == 0.0, "{stretched} J, {left} J");
        assert_relative_eq!(after, 2.0 * (stored - stretched), max_relative = 1e-12);
        assert_relative_eq!(dissipated, stretched, max_relative = 1e-9);
    }
}
