//! Ten cubes on each other, on elastic foundations.

use force_elements::elastic_foundation::Material;
use force_elements::nalgebra::Vector3;
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{Implicit, Plant, RigidBody, Simulation};
use force_elements::{BodyIndex, ElasticFoundation, ForceSystem, Frame, Pose, State};

const COUNT: u8 = 10;
/// The side of a cube \[m\].
const SIDE: f64 = 0.1;
/// Stiffness per area \[N/m³\]. Ten times softer and the stack buckles: its hinges of `k·s⁴/12` fall short of
/// `q·L³/7.84` per length.
const STIFFNESS: f64 = 1e8;
const GRAVITY: f64 = 9.81;

struct Stack {
    system: ForceSystem<f64>,
    plant: Plant<f64>,
    cubes: Vec<BodyIndex>,
    start: State<f64>,
}

/// Cubes of 1 kg that just touch, up to 1 mm askew; forces of default laws between meshes, and to the floor.
fn stack() -> Stack {
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -GRAVITY)).expect("finite");
    let material = Material::new(STIFFNESS).with_dissipation(2.0).with_friction(0.8, 0.6, 0.0);
    let mut foundation = ElasticFoundation::default();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    let mut cubes = Vec::new();
    for _ in 0..COUNT {
        let cube = RigidBody::with_equal_inertia(1.0, SIDE * SIDE / 6.0).expect("positive");
        let cube = plant.add_body(&mut system, cube);
        let mesh = TriangleMesh::brick(Vector3::repeat(0.5 * SIDE), [2; 3]).expect("valid");
        foundation.add_springs(Frame::of(cube), mesh, material).expect("valid");
        cubes.push(cube);
    }
    system.add(foundation).expect("exists");
    let mut start = system.default_state();
    for (i, &cube) in (0..).zip(&cubes) {
        let askew = 1e-3 * (3.0 * f64::from(i)).sin();
        let pose = Pose::translation(askew, -askew, (f64::from(i) + 0.5) * SIDE);
        start.set_pose(cube, pose).expect("finite");
    }
    Stack { system, plant, cubes, start }
}

#[test]
fn a_stack_of_ten_cubes_comes_to_rest() {
    let Stack { system, plant, cubes, start } = stack();
    let place = |state: &State<f64>, i: usize| state.positions().pose(cubes[i]).translation.vector;
    let mut simulation = Simulation::new(&system, &plant, start.clone()).expect("regular");
    let mut most = 0.0_f64;
    let observe = |simulation: &mut Simulation<'_, f64>| most = most.max(simulation.kinetic_energy());
    simulation.run(&mut Implicit::tr_bdf2(0.1).with_accuracy(1e-2), 2.0, observe).expect("runs");
    // Ten kilograms fall by up to half a millimetre, and lose it.
    assert!(most > 1e-3, "nothing moved: {most} J");
    let kinetic = simulation.kinetic_energy();
    assert!(kinetic < 1e-3 * most, "{kinetic} J of {most} J");
    let (mut depth, mut borne) = (0.0, f64::from(COUNT));
    for i in 0..cubes.len() {
        let (before, now) = (place(&start, i), place(simulation.state(), i));
        // A contact bears all cubes above it.
        depth += borne * GRAVITY / (STIFFNESS * SIDE * SIDE);
        borne -= 1.0;
        // What it still swings, and leans.
        assert!((before.z - depth - now.z).abs() < 1e-5, "cube {i} at {now}, {depth} m deep");
        assert!((before - now).xy().norm() < 1e-3, "cube {i} moved from {before} to {now}");
    }
    // 17 932 were seen, in 494 steps; Dormand–Prince took 179 449 at an accuracy of 1e-3.
    let cost = simulation.statistics();
    assert!(cost.evaluations < 40_000, "{cost:?}");
}
