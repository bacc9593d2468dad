//! Faces clipped at the surface: exact in half-spaces, conservative and continuous everywhere, of second order in
//! other shapes.
#![allow(non_snake_case, reason = "monogram notation")]

use std::sync::Arc;

use approx::assert_relative_eq;
use force_elements::elastic_foundation::{Material, Parameters};
use force_elements::nalgebra::{Point3, Rotation3, Translation3, Vector3};
use force_elements::shapes::{HalfSpace, SolidShape, Sphere, TriangleMesh};
use force_elements::{BodyIndex, ElasticFoundation, ForceSystem, Frame, Pose, SpatialForce, State};
use force_elements_scenes::meshes::{self, Sequence};

const STIFFNESS: f64 = 1e5;

struct Scene {
    system: ForceSystem<f64>,
    state: State<f64>,
    body: BodyIndex,
}

fn parameters(clipped: bool) -> Parameters<f64> {
    Parameters { clipped, ..Parameters::default() }
}

/// A mesh with springs and a rigid surface on Ground.
fn scene(
    mesh: impl Into<Arc<TriangleMesh<f64>>>,
    other: impl Into<SolidShape<f64>>,
    material: Material<f64>,
    parameters: Parameters<f64>,
) -> Scene {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let mut foundation = ElasticFoundation::new(parameters).expect("valid");
    foundation.add_rigid(Frame::ground(Pose::identity()), other).expect("closed");
    foundation.add_springs(Frame::of(body), mesh, material).expect("valid");
    system.add(foundation).expect("bodies exist");
    let state = system.default_state();
    Scene { system, state, body }
}

impl Scene {
    fn on_floor(mesh: TriangleMesh<f64>, parameters: Parameters<f64>) -> Self {
        scene(mesh, HalfSpace::BelowZ, Material::new(STIFFNESS), parameters)
    }

    /// Force and torque about Ground's origin, and the energy.
    fn push(&mut self, X_GB: Pose<f64>) -> (SpatialForce<f64>, f64) {
        self.state.set_pose(self.body, X_GB).expect("finite");
        let view = self.system.realize_dynamics(&mut self.state).expect("regular");
        let F = view.body_force(self.body);
        let torque = F.torque + X_GB.translation.vector.cross(&F.force);
        (SpatialForce::new(torque, F.force), view.potential_energy())
    }
}

/// The corners of the part of a triangle below z = 0.
fn clip(triangle: [Point3<f64>; 3]) -> Vec<Point3<f64>> {
    let mut polygon = Vec::new();
    for k in 0..3 {
        let (p, q) = (triangle[k], triangle[(k + 1) % 3]);
        if p.z < 0.0 {
            polygon.push(p);
        }
        if (p.z < 0.0) != (q.z < 0.0) {
            polygon.push(p + (q - p) * (p.z / (p.z - q.z)));
        }
    }
    polygon
}

#[test]
fn faces_push_with_the_pressure_over_what_is_within_in_every_attitude() {
    let mut sequence = Sequence::new();
    for (name, mesh) in meshes::menagerie() {
        let mut scene = Scene::on_floor(TriangleMesh::clone(&mesh), parameters(true));
        for _ in 0..100 {
            let X_GB = sequence.next_pose(1.0);
            // Products of two linear functions are integrated exactly by the middles of a triangle's edges.
            let (mut force, mut moment, mut energy, mut wet) = (0.0, Vector3::zeros(), 0.0, 0.0);
            for triangle in mesh.triangles() {
                let polygon = clip(triangle.map(|p| X_GB * p));
                for k in 2..polygon.len() {
                    let [a, b, c] = [polygon[0], polygon[k - 1], polygon[k]];
                    let area = (b - a).cross(&(c - a)).norm() / 2.0;
                    wet += area;
                    for middle in [a + (b - a) * 0.5, b + (c - b) * 0.5, c + (a - c) * 0.5] {
                        let depth = -middle.z;
                        force += area / 3.0 * depth;
                        moment += middle.coords * (area / 3.0 * depth);
                        energy += area / 3.0 * depth * depth / 2.0;
                    }
                }
            }
            let (F, stored) = scene.push(X_GB);
            let view = scene.system.dynamics_view(&scene.state).expect("realized");
            // Roundoff of a hundred to a thousand faces.
            assert!((F.force / STIFFNESS - Vector3::z() * force).norm() < 1e-13 * (1.0 + force), "{name}");
            let torque = moment.cross(&Vector3::z());
            assert!((F.torque / STIFFNESS - torque).norm() < 1e-13 * (1.0 + force), "{name}");
            assert_relative_eq!(stored / STIFFNESS, energy, max_relative = 1e-12, epsilon = 1e-15);
            assert_relative_eq!(
                view.result("elastic_foundation[0].area").expect("listed"),
                wet,
                max_relative = 1e-12,
                epsilon = 1e-15
            );
        }
    }
}

/// A cube of 0.2 m and 192 faces.
fn cube() -> TriangleMesh<f64> {
    TriangleMesh::brick(Vector3::repeat(0.1), [4; 3]).expect("valid")
}

/// A cube whose lowest point, in this direction of its own, is so deep.
fn sunk(down: Vector3<f64>, depth: f64) -> Pose<f64> {
    let turn = Rotation3::rotation_between(&down, &-Vector3::z()).expect("not opposite");
    let lowest = cube().vertices().map(|p| (turn * p).z).fold(f64::INFINITY, f64::min);
    Pose::from_parts(Translation3::new(0.0, 0.0, -depth - lowest), turn)
}

#[test]
fn a_cube_on_edge_or_corner_is_borne_from_the_first_touch() {
    let (edge, corner) = (Vector3::new(1.0, 0.0, 1.0), Vector3::repeat(1.0));
    // By centroids nothing bears before the first of them is within.
    let mut by_centroids = Scene::on_floor(cube(), parameters(false));
    let mut sinking = |down: Vector3<f64>| {
        let (mut low, mut high) = (0.0, 0.1);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let bears = by_centroids.push(sunk(down, middle)).0.force.z > 0.0;
            if bears { high = middle } else { low = middle }
        }
        1e3 * low
    };
    assert_relative_eq!(sinking(edge), 50.0 / 3.0 / 2.0_f64.sqrt(), max_relative = 1e-9);
    // On a corner it depends on which diagonals cut the three cells there.
    assert_relative_eq!(sinking(corner), 50.0 / 3.0_f64.sqrt(), max_relative = 1e-9);
    assert_relative_eq!(sinking(Vector3::new(1.0, 1.0, -1.0)), 100.0 / 27.0_f64.sqrt(), max_relative = 1e-9);

    // Clipped, the pressure over the parts of faces within, which are steeper than the floor, from a nanometre on.
    let mut clipped = Scene::on_floor(cube(), parameters(true));
    for exponent in -9..-1 {
        let depth = 10.0_f64.powi(exponent);
        // Heights of 0.2 m are rounded to 1e-17 m.
        let rounding = 1e-12 + 1e-16 / depth;
        let on_edge = clipped.push(sunk(edge, depth)).0.force.z / STIFFNESS;
        // With the triangles that are within of both ends.
        let faces = 2.0_f64.sqrt() * depth * depth * 0.2 + 2.0 / 3.0 * depth.powi(3);
        assert_relative_eq!(on_edge, faces, max_relative = rounding);
        let on_corner = clipped.push(sunk(corner, depth)).0.force.z / STIFFNESS;
        assert_relative_eq!(on_corner, 1.5 * depth.powi(3), max_relative = rounding);
    }
}

#[test]
fn the_upright_faces_of_a_cube_press_too() {
    let (side, mut scene) = (0.2, Scene::on_floor(cube(), parameters(true)));
    for depth in [1e-6, 1e-3, 1e-2, 0.05] {
        let upward = scene.push(sunk(-Vector3::z(), depth)).0.force.z / STIFFNESS;
        let (bottom, walls) = (side * side * depth, 4.0 * side * depth * depth / 2.0);
        // Heights of 0.2 m are rounded to 1e-17 m.
        assert_relative_eq!(upward, bottom + walls, max_relative = 1e-12 + 1e-16 / depth);
    }
}

/// The largest change of the force, and of the torque at the middle over half an edge, between neighbouring attitudes,
/// over the largest force.
fn largest_jump(parameters: Parameters<f64>, steps: u32) -> f64 {
    let mut scene = Scene::on_floor(cube(), parameters);
    let (mut largest, mut jump) = (0.0_f64, 0.0_f64);
    let (face, edge, corner) =
        (Vector3::new(0.0, 0.0, -1.0), Vector3::new(1.0, 0.0, -1.0), Vector3::new(1.0, 1.0, -1.0));
    for (from, to) in [(face, edge), (edge, corner), (corner, face), (edge * 0.9, edge + corner * 0.1)] {
        let mut last = None;
        for i in 0..=steps {
            let down = from + (to - from) * (f64::from(i) / f64::from(steps));
            let turn = Rotation3::rotation_between(&down, &-Vector3::z()).expect("not opposite");
            // The middle stays at one height: a face reaches 5 mm deep, edges and corners more.
            let height = Vector3::z() * 0.095;
            let F = scene.push(Pose::from_parts(Translation3::from(height), turn)).0;
            let F = SpatialForce::new(F.torque - height.cross(&F.force), F.force);
            largest = largest.max(F.force.norm());
            if let Some(last) = last.replace(F) {
                jump = jump.max((F.force - last.force).norm()).max((F.torque - last.torque).norm() / 0.1);
            }
        }
    }
    jump / largest
}

#[test]
fn forces_are_continuous_as_a_cube_turns_over_edges_and_corners() {
    let [coarse, fine] = [1000, 10_000].map(|steps| largest_jump(parameters(true), steps));
    // A tenth of the step changes the force by a tenth, and at most by its rate, ten times its size a radian.
    assert!(coarse < 0.01 && fine < 0.11 * coarse, "{coarse} {fine}");
}

#[test]
fn by_centroids_a_ball_is_borne_unevenly() {
    let ball = TriangleMesh::sphere(1.0, 32).expect("valid");
    let mut sequence = Sequence::new();
    // The least and the greatest force by centroids over these attitudes, over that of clipped faces, as measured.
    for (depth, least, greatest) in [(0.002, 0.569, 0.970), (0.02, 0.974, 0.993)] {
        let mut clipped = Scene::on_floor(ball.clone(), parameters(true));
        let mut by_centroids = Scene::on_floor(ball.clone(), parameters(false));
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for _ in 0..200 {
            let turn = sequence.next_pose(0.0).rotation;
            let X_GB = Pose::from_parts(Translation3::new(0.0, 0.0, 1.0 - depth), turn);
            let ratio = by_centroids.push(X_GB).0.force.z / clipped.push(X_GB).0.force.z;
            (low, high) = (low.min(ratio), high.max(ratio));
        }
        assert_relative_eq!(low, least, epsilon = 1e-3);
        assert_relative_eq!(high, greatest, epsilon = 1e-3);
    }
}

/// The force per stiffness of a plane pressed so deep into a ball of radius 1.
fn plane_in_ball(depth: f64) -> f64 {
    // ∫ (1 − ρ) h/ρ dA with dA = 2π ρ dρ, from h to 1.
    let h = 1.0 - depth;
    std::f64::consts::PI * h * depth * depth
}

#[test]
fn in_other_shapes_the_force_is_of_second_order_in_the_size_of_faces() {
    let depth = 0.1;
    let expected = plane_in_ball(depth);
    let errors = [8, 16, 32, 64].map(|n| {
        let mesh = TriangleMesh::brick(Vector3::new(0.8, 0.8, 0.3), [n, n, 2]).expect("valid");
        let ball = Sphere::new(1.0).expect("valid");
        let mut scene = scene(mesh, ball, Material::new(STIFFNESS), parameters(true));
        let edge = 1.6 / f64::from(n);
        let mut worst = 0.0_f64;
        for i in 0..40 {
            let shift = f64::from(i) / 40.0 * edge;
            let X_GB = Pose::translation(shift, 0.37 * shift, 1.3 - depth);
            let lacking = 1.0 - scene.push(X_GB).0.force.z / STIFFNESS / expected;
            assert!(lacking > 0.0, "a ball's depth is concave: {lacking}");
            worst = worst.max(lacking);
        }
        // At most L²/8r of depth lacks, with a longest edge of L = √2·edge and a radius of at least 1 − depth; the
        // mean depth is half the greatest.
        assert!(worst < edge * edge / 4.0 / (1.0 - depth) / (0.5 * depth), "{edge}: {worst}");
        worst
    });
    assert!(errors.windows(2).skip(1).all(|two| two[1] < 0.27 * two[0]), "{errors:?}");
    assert!(errors[3] < 2.3e-3, "{errors:?}");
}
