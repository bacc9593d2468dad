//! Meshes on meshes, by the options of a contact design: the sides of bricks bear what lies on them, whatever their faces.

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Vector2, Vector3};
use force_elements::shapes::{HalfSpace, TriangleMesh};
use force_elements::simulation::{Plant, RigidBody, SemiImplicitEuler, Simulation};
use force_elements::{
    BodyIndex, ContactDesign, ElasticFoundation, Error, ForceSystem, Frame, Pose, SpatialForce,
    SpatialVelocity, State,
};

const STIFFNESS: f64 = 1e6;
const DEPTH: f64 = 1e-5;

fn brick(half_extents: Vector3<f64>, cells: u32) -> TriangleMesh<f64> {
    TriangleMesh::brick(half_extents, [cells; 3]).expect("valid")
}

/// A brick over another on Ground, of which one or both have springs.
struct Pair {
    system: ForceSystem<f64>,
    state: State<f64>,
    upper: BodyIndex,
    /// The distance of the centers at which they touch.
    height: f64,
}

impl Pair {
    fn new(half_extents: [Vector3<f64>; 2], cells: [u32; 2], yields: [bool; 2]) -> Self {
        let mut system = ForceSystem::new();
        let upper = system.add_body();
        let parameters = Parameters { clipped: true, ..Parameters::default() };
        let mut foundation = ElasticFoundation::new(parameters).expect("valid");
        let frames = [Frame::ground(Pose::identity()), Frame::of(upper)];
        for i in 0..2 {
            let mesh = brick(half_extents[i], cells[i]);
            if yields[i] {
                foundation.add_springs(frames[i], mesh, Material::new(STIFFNESS)).expect("closed");
            } else {
                foundation.add_rigid(frames[i], mesh).expect("closed");
            }
        }
        system.add(foundation).expect("can meet");
        let state = system.default_state();
        Self { system, state, upper, height: half_extents[0].z + half_extents[1].z }
    }

    /// The force on the upper brick, its middle over this place, about its center.
    fn push(&mut self, x: f64, y: f64) -> SpatialForce<f64> {
        self.state.set_pose(self.upper, Pose::translation(x, y, self.height - DEPTH)).expect("finite");
        self.system.realize_dynamics(&mut self.state).expect("regular").body_force(self.upper)
    }
}

const YIELDING: [[bool; 2]; 3] = [[true, true], [true, false], [false, true]];

#[test]
fn cubes_of_one_size_bear_each_other_with_all_of_their_sides() {
    let half = Vector3::repeat(0.05);
    for yields in YIELDING {
        for cells in [[1, 1], [2, 2], [1, 2], [4, 4], [8, 8], [8, 7]] {
            let F = Pair::new([half; 2], cells, yields).push(0.0, 0.0);
            // Centroids are far from edges beside the depth.
            assert_relative_eq!(F.force.z, STIFFNESS * 0.01 * DEPTH, max_relative = 1e-9);
            assert!(F.force.xy().norm() < 1e-9 * F.force.z, "{yields:?} {cells:?}: {F:?}");
            // The pressure is uniform: the torque is rounding.
            assert!(F.torque.norm() < 1e-9, "{yields:?} {cells:?}: {F:?}");
        }
    }
}

#[test]
fn cubes_aside_bear_each_other_with_what_overlaps() {
    let side = 0.1;
    let half = Vector3::repeat(0.5 * side);
    for cells in [1, 2, 4, 16] {
        let mut pair = Pair::new([half; 2], [cells; 2], [true; 2]);
        // Faces of which an edge of the other brick leaves a part count fully or not at all. Along an edge they reach to
        // either side of it by no more than their height, half of a cell; each mesh is wrong along two edges.
        let cell = side / f64::from(cells.max(4));
        for step in 1..8 {
            let [x, y] = [0.011, 0.007].map(|shift| shift * f64::from(step));
            let overlap = [side - x, side - y];
            let expected = STIFFNESS * DEPTH * overlap[0] * overlap[1];
            let missed = STIFFNESS * DEPTH * 0.5 * cell * (overlap[0] + overlap[1]);
            let F = pair.push(x, y).force;
            assert!((F.z - expected).abs() < missed, "{cells}: {F} for {expected} ± {missed} at {x}, {y}");
            assert!(F.xy().norm() < 1e-9 * F.z, "{cells}: {F} at {x}, {y}");
        }
    }
}

#[test]
fn a_small_brick_is_borne_by_a_large_one_wherever_it_lies() {
    let sizes = [Vector3::new(2.0, 1.5, 0.1), Vector3::new(0.05, 0.04, 0.03)];
    let area = 4.0 * 0.05 * 0.04;
    for yields in [[true, true], [false, true]] {
        for cells in [1, 3] {
            let mut pair = Pair::new(sizes, [cells; 2], yields);
            for (x, y) in [(0.0, 0.0), (0.51, -0.33), (1.9, 1.4), (-0.66, 0.5)] {
                let F = pair.push(x, y);
                assert_relative_eq!(F.force.z, STIFFNESS * area * DEPTH, max_relative = 1e-9);
                assert!(F.torque.norm() < 1e-9, "{yields:?} {cells} at {x}, {y}: {F:?}");
            }
        }
    }
}

#[test]
fn bricks_of_twelve_faces_stay_stacked_by_a_contact_design() {
    let (half, mass, gravity, step) = (0.05, 1.0, 9.81, 2.5e-4);
    // A cube between two others is held by both.
    let design = ContactDesign::new(mass, half, 2.0 * step);
    let material = Material::for_contact(&design, 4.0 * half * half).expect("in range");
    let parameters = Parameters::for_contact(&design).expect("in range");
    let mut system = ForceSystem::new();
    let mut plant = Plant::new(Vector3::new(0.0, 0.0, -gravity)).expect("finite");
    let mut foundation = ElasticFoundation::new(parameters).expect("valid").with_anchors();
    foundation.add_rigid(Frame::ground(Pose::identity()), HalfSpace::BelowZ).expect("valid");
    // On each other, and one aside by a tenth, with its weight a quarter of the way to the edge.
    let places = [0.0, 0.0, 0.01].map(|x| {
        let rigid = RigidBody::with_equal_inertia(mass, mass * half * half / 1.5).expect("positive");
        let body = plant.add_body(&mut system, rigid);
        foundation.add_springs(Frame::of(body), brick(Vector3::repeat(half), 1), material).expect("closed");
        (body, x)
    });
    system.add(foundation).expect("can meet");
    let mut state = system.default_state();
    for (height, &(body, x)) in (0..).zip(&places) {
        let z = half * f64::from(2 * height + 1);
        state.set_pose(body, Pose::translation(x, 0.0, z)).expect("finite");
    }
    let mut simulation = Simulation::new(&system, &plant, state).expect("regular");
    simulation.run(&mut SemiImplicitEuler::new(step), 2.0, |_| ()).expect("the step suits the design");
    let side = 2.0 * half;
    let sink = mass * gravity / (material.stiffness * side * side);
    // The weight of the last, a tenth of a side off the others' middles, turns each cube about the one below.
    let lean = 12.0 * 0.1 * sink / side;
    let (mut z, mut x_off) = (-half, 0.0);
    for (i, &(body, x)) in (0_u8..).zip(&places) {
        z += side - (3.0 - f64::from(i)) * sink;
        x_off += lean * side * (f64::from(i) + 0.5);
        let p = simulation.state().positions().pose(body).translation.vector;
        // The last rests on nine tenths of a side, over the lower half of a side that leans.
        assert!((p.z - z).abs() < 0.6 * sink, "cube {i} at {p}, {z}");
        assert!((p.x - x - x_off).abs() < 0.5 * x_off, "cube {i} at {p}, {x_off} off {x}");
        // Diagonals cut the sides unevenly.
        assert!(p.y.abs() < 0.1 * sink, "cube {i} at {p}");
    }
    let kinetic = simulation.kinetic_energy();
    // Of what the three lose in sinking by three, five and six times the depth of one; the rest still sways.
    let lost = 14.0 * mass * gravity * sink;
    assert!(kinetic < 1e-3 * lost, "{kinetic} of {lost} J");
}

/// Whether both have springs or only the finer one.
#[test]
fn bricks_of_two_materials_bear_each_other_alike_whatever_their_faces() {
    const SLIP: f64 = 0.5;
    let (area, transition_velocity) = (0.01, 1e-3);
    let soft = Material::new(1e6).with_dissipation(2.0).with_friction(0.5, 0.5, 0.01).with_grip(2e5, 1.0);
    let hard = Material::new(3e6).with_dissipation(0.4).with_friction(0.9, 0.7, 0.2).with_grip(8e5, 2.0);
    // Push and friction of one mesh, which has half of the area, by the page: while the upper brick rises, or has gone some
    // way since a commit.
    let of_half = |material: &Material<f64>, rise: f64, way: Option<f64>| {
        let push = material.stiffness * 0.5 * area * DEPTH * (1.0 - material.dissipation * rise);
        let (at_rest, kinetic) = (material.static_friction, material.dynamic_friction);
        let fast = 2.0 / (1.0 + (SLIP / transition_velocity).powi(2));
        let limit = push * (kinetic + (at_rest - kinetic) * fast);
        let held = way.map_or(f64::INFINITY, |way| {
            0.5 * area * (material.tangential_stiffness * way + material.tangential_viscosity * SLIP)
        });
        Vector2::new(push, limit.min(held) + push * material.viscous_friction * SLIP)
    };
    let found = |materials: [Material<f64>; 2], cells: [u32; 2], rise: f64, way: Option<f64>| {
        let parameters = Parameters { transition_velocity, clipped: true, ..Parameters::default() };
        let mut foundation = ElasticFoundation::new(parameters)?;
        if way.is_some() {
            foundation = foundation.with_anchors();
        }
        let mut system = ForceSystem::new();
        let body = system.add_body();
        let frames = [Frame::ground(Pose::identity()), Frame::of(body)];
        for ((frame, cells), material) in frames.into_iter().zip(cells).zip(materials) {
            foundation.add_springs(frame, brick(Vector3::repeat(0.05), cells), material)?;
        }
        system.add(foundation)?;
        let mut state = system.default_state();
        let along = Vector3::new(0.6, 0.8, 0.0);
        let mut at = |shift: f64| {
            let shift = along * shift;
            state.set_pose(body, Pose::translation(shift.x, shift.y, 0.1 - DEPTH))?;
            state.set_velocity(
                body,
                SpatialVelocity::new(Vector3::zeros(), along * SLIP + Vector3::z() * rise),
            )?;
            let F = system.realize_dynamics(&mut state)?.body_force(body).force;
            if way.is_some() {
                system.accept_step(&mut state)?;
            }
            Ok::<_, Error>(F)
        };
        at(0.0)?;
        let F = at(way.unwrap_or(0.0))?;
        assert!(F.cross(&along).z.abs() < 1e-12, "{cells:?}: {F}");
        Ok::<_, Error>(Vector2::new(F.z, -F.dot(&along)))
    };
    for materials in [[soft, hard], [hard, soft]] {
        for cells in [[4, 4], [4, 8], [4, 9], [4, 12], [12, 4], [1, 16], [16, 1], [12, 12]] {
            for (rise, way) in [(0.0, None), (0.1, None), (0.0, Some(1e-9)), (0.0, Some(1e-3))] {
                let found = found(materials, cells, rise, way).expect("valid");
                let [lower, upper] = materials.map(|material| of_half(&material, rise, way));
                let expected = lower + upper;
                // A thousand springs, of which each rounds.
                assert_relative_eq!(found.x, expected.x, max_relative = 1e-9);
                // Friction is weighted by stiffness, as if dissipation were equal.
                if rise == 0.0 {
                    assert_relative_eq!(found.y, expected.y, max_relative = 1e-9);
                }
            }
        }
    }
}
