//! Reads one case of `elastic_foundation.json` and compares.
#![allow(clippy::unwrap_used, reason = "a file that is not as described stops the check")]
#![allow(unreachable_pub, non_snake_case, reason = "shared between tests and examples; monogram notation")]

use std::path::Path;

use force_elements::contact::{Ellipsoid, HalfSpace, Shape, Sphere, TriangleMesh};
use force_elements::elements::elastic_foundation::Material;
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::{
    BodyIndex, ElasticFoundation, ForceSystem, SpatialForce, SpatialVelocity, State, Transform,
};
use serde_json::Value;

/// How one computed quantity compares.
#[derive(Debug)]
pub struct Comparison {
    pub quantity: &'static str,
    pub deviation: f64,
    pub tolerance: f64,
}

/// The system and state that a case describes; meshes are read from `meshes/` in `folder`.
pub fn scene(case: &Value, folder: &Path) -> (ForceSystem<f64>, State<f64>, [BodyIndex; 2]) {
    let input = &case["input"];
    let mut system = ForceSystem::new();
    let body1 = system.add_body();
    let is_ground = input["body2_is_ground"].as_bool().unwrap();
    let body2 = if is_ground { BodyIndex::GROUND } else { system.add_body() };

    let vt = input["transition_velocity"].as_f64().unwrap();
    let mut foundation = ElasticFoundation::new().with_transition_velocity(vt).unwrap();
    let mesh1 = mesh(&input["mesh1"], folder);
    foundation.add_springs(body1, pose(&input["X_B1S"]), mesh1, material(&input["parameters1"])).unwrap();

    let surface2 = &input["surface2"];
    let X_B2S = pose(&input["X_B2S"]);
    let kind = surface2["type"].as_str().unwrap();
    let shape: Shape<f64> = match kind {
        "half_space" => HalfSpace.into(),
        "sphere" => Sphere::new(surface2["radius"].as_f64().unwrap()).unwrap().into(),
        "ellipsoid" => Ellipsoid::new(vector(&surface2["radii"])).unwrap().into(),
        _ => mesh(&surface2["mesh"], folder).into(),
    };
    match (shape, &input["parameters2"]) {
        (shape, Value::Null) => foundation.add_rigid(body2, X_B2S, shape).unwrap(),
        (Shape::Mesh(mesh), parameters) => {
            foundation.add_springs(body2, X_B2S, mesh, material(parameters)).unwrap()
        }
        (shape, _) => unreachable!("{shape:?} cannot carry springs"),
    };
    system.add(foundation).unwrap();

    let mut state = system.default_state();
    state.set_body(body1, pose(&input["X_GB1"]), velocity(&input["V_GB1"])).unwrap();
    if !is_ground {
        state.set_body(body2, pose(&input["X_GB2"]), velocity(&input["V_GB2"])).unwrap();
    }
    (system, state, [body1, body2])
}

/// Computes one case and compares all that is expected, to 1e-10 of the force.
pub fn check(case: &Value, folder: &Path) -> Vec<Comparison> {
    let (system, mut state, bodies) = scene(case, folder);
    let dynamics = system.realize_dynamics(&mut state).unwrap();
    let expected = &case["expected"];
    let mut comparisons = Vec::new();
    let names = [("force_on_body1", "torque_on_body1"), ("force_on_body2", "torque_on_body2")];
    for (body, (force_name, torque_name)) in bodies.into_iter().zip(names) {
        let wanted = &expected[force_name];
        let wanted = SpatialForce::new(vector(&wanted["torque"]), vector(&wanted["force"]));
        let found = dynamics.body_force(body);
        // Forces of single springs cancel in the sum; a newton is what remains of the smallest.
        let tolerance = 1e-10 * wanted.force.norm().max(1.0);
        let deviation = (found.force - wanted.force).norm();
        comparisons.push(Comparison { quantity: force_name, deviation, tolerance });
        // Forces act within a few metres of the origin.
        let tolerance = 1e-10 * wanted.torque.norm().max(wanted.force.norm()).max(1.0);
        let deviation = (found.torque - wanted.torque).norm();
        comparisons.push(Comparison { quantity: torque_name, deviation, tolerance });
    }
    let wanted = expected["potential_energy"].as_f64().unwrap();
    let deviation = (dynamics.potential_energy() - wanted).abs();
    let tolerance = 1e-10 * wanted.abs().max(1.0);
    comparisons.push(Comparison { quantity: "potential_energy", deviation, tolerance });
    comparisons
}

fn material(value: &Value) -> Material<f64> {
    let number = |name: &str| value[name].as_f64().unwrap();
    Material::new(number("stiffness")).with_dissipation(number("dissipation")).with_friction(
        number("static_friction"),
        number("dynamic_friction"),
        number("viscous_friction"),
    )
}

/// The few lines of OBJ that the meshes consist of: `v x y z` and `f i j k`.
fn mesh(name: &Value, folder: &Path) -> TriangleMesh<f64> {
    let name = name.as_str().unwrap().trim_end_matches(".obj");
    let text = std::fs::read_to_string(folder.join("meshes").join(format!("{name}.obj"))).unwrap();
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut number = || words.next().unwrap().parse().unwrap();
                vertices.push(Point3::new(number(), number(), number()));
            }
            Some("f") => {
                let mut corner = || {
                    let index = words.next().unwrap().split('/').next().unwrap();
                    index.parse::<u32>().unwrap() - 1
                };
                faces.push([corner(), corner(), corner()]);
            }
            _ => {}
        }
    }
    TriangleMesh::closed(&vertices, &faces).unwrap()
}

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_fn(|i, _| value[i].as_f64().unwrap())
}

fn pose(value: &Value) -> Transform<f64> {
    let R = Matrix3::from_fn(|i, j| value["rotation"][i][j].as_f64().unwrap());
    Transform::from_parts(
        Translation3::from(vector(&value["translation"])),
        Rotation3::from_matrix_unchecked(R),
    )
}

fn velocity(value: &Value) -> SpatialVelocity<f64> {
    SpatialVelocity::new(vector(&value["angular"]), vector(&value["linear"]))
}
