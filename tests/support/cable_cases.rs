//! Reads the conformance cases of cables and compares them: one function per format, which takes
//! one parsed case and yields (quantity, deviation, tolerance).

use force_elements::cable::{
    CablePath, Cylinder, Ellipsoid, Obstacle, Settings, Sphere, Station, Torus, Wrap, Wraps,
};
use force_elements::nalgebra::{Matrix3, Point3, Rotation3, Translation3, Vector3};
use force_elements::{BodyIndex, CableSpring, ForceSystem, Result, SpatialForce, SpatialVelocity, Transform};
use serde_json::Value;

/// One compared quantity: its name, by how much it deviates, and by how much it may.
pub(crate) type Comparison = (&'static str, f64, f64);

pub(crate) fn number(v: &Value) -> f64 {
    v.as_f64().expect("a number")
}

pub(crate) fn vector(v: &Value) -> Vector3<f64> {
    Vector3::new(number(&v[0]), number(&v[1]), number(&v[2]))
}

pub(crate) fn pose(v: &Value) -> Transform<f64> {
    let row = |i: usize| vector(&v["rotation"][i]).transpose();
    let R = Matrix3::from_rows(&[row(0), row(1), row(2)]);
    Transform::from_parts(Translation3::from(vector(&v["translation"])), Rotation3::from_matrix_unchecked(R))
}

pub(crate) fn velocity(v: &Value) -> SpatialVelocity<f64> {
    SpatialVelocity::new(vector(&v["angular"]), vector(&v["linear"]))
}

fn spatial_force(v: &Value) -> SpatialForce<f64> {
    SpatialForce::new(vector(&v["torque"]), vector(&v["force"]))
}

fn index(v: &Value) -> BodyIndex {
    BodyIndex::new(usize::try_from(v.as_u64().expect("an index")).expect("a small index"))
}

fn station(v: &Value) -> Station<f64> {
    Station { body: index(&v["body"]), p_B: vector(&v["station_B"]) }
}

/// The path a case of `cable_path` describes.
pub(crate) fn path_of(input: &Value, hinted: bool) -> Result<CablePath<f64>> {
    let mut path = CablePath::new(station(&input["origin"]), station(&input["termination"]))?;
    for waypoint in input["waypoints"].as_array().expect("waypoints") {
        let kind = waypoint["type"].as_str().expect("a type");
        if kind == "via_point" {
            path = path.through(station(waypoint))?;
            continue;
        }
        let (body, X_BS) = (index(&waypoint["body"]), pose(&waypoint["X_BS"]));
        let mut obstacle = match kind {
            "sphere" => Obstacle::new(body, X_BS, Sphere::new(number(&waypoint["radius"]))?)?,
            "cylinder" => Obstacle::new(body, X_BS, Cylinder::new(number(&waypoint["radius"]))?)?,
            "ellipsoid" => Obstacle::new(body, X_BS, Ellipsoid::new(vector(&waypoint["radii"]))?)?,
            "torus" => {
                let (ring, tube) = (number(&waypoint["torus_radius"]), number(&waypoint["tube_radius"]));
                Obstacle::new(body, X_BS, Torus::new(ring, tube)?)?
            }
            other => unreachable!("unknown surface {other}"),
        };
        if let (true, Some(_)) = (hinted, waypoint["contact_hint_S"].as_array()) {
            obstacle = obstacle.with_contact_hint(vector(&waypoint["contact_hint_S"]))?;
        }
        path = path.over(obstacle);
    }
    path.with_settings(Settings { smoothness: 1e-9, ..Settings::default() })
}

/// What the reference found, as memory: a solve from it tracks the reference's class of path.
fn remembered(case: &Value) -> Wraps<f64> {
    let (input, expected) = (&case["input"], &case["expected"]);
    let is_obstacle = |waypoint: &&Value| waypoint["type"] != "via_point";
    let waypoints = input["waypoints"].as_array().expect("waypoints").iter().filter(is_obstacle);
    let found = expected["obstacles"].as_array().expect("obstacles");
    let wrap = |(waypoint, found): (&Value, &Value)| {
        if !found["in_contact"].as_bool().expect("yes or no") {
            return Wrap { known: true, ..Wrap::default() };
        }
        let body = &input["bodies"][index(&waypoint["body"]).index()];
        let X_SG = (pose(&body["X_GB"]) * pose(&waypoint["X_BS"])).inverse();
        Wrap {
            known: true,
            in_contact: true,
            point: (X_SG * Point3::from(vector(&found["initial_point_G"]))).coords,
            tangent: X_SG.rotation * vector(&found["initial_tangent_G"]),
            length: number(&found["arc_length"]),
        }
    };
    Wraps { obstacles: waypoints.zip(found).map(wrap).collect() }
}

/// Compares one case of `cable_path`.
///
/// The reference slides from its hints into some local minimum. Where the cold solve finds a
/// shorter path, that is as it should be, and the comparison is made in the reference's class.
///
/// Tolerances: the reference's own smoothness is 1e-9 rad. A kink of that size moves points and
/// tangents by it times the distances and radii (below 10) and the conditioning of shallow
/// contacts (below 100), and the length by its square.
pub(crate) fn compare_path(case: &Value) -> Result<Vec<Comparison>> {
    let (input, expected) = (&case["input"], &case["expected"]);
    let mut system = ForceSystem::new();
    let bodies = input["bodies"].as_array().expect("bodies");
    for _ in 1..bodies.len() {
        system.add_body();
    }
    let cable = system.add(CableSpring::new(path_of(input, true)?, 1.0, 0.0, 0.0)?)?;
    let mut state = system.default_state();
    for (i, body) in bodies.iter().enumerate().skip(1) {
        state.set_body(BodyIndex::new(i), pose(&body["X_GB"]), velocity(&body["V_GB"]))?;
    }
    let reference_length = number(&expected["length"]);
    let cold = system.realize_position(&mut state)?.of(cable).position.path.length;
    if cold < reference_length - 1e-6 {
        state.set_discrete(cable, remembered(case))?;
    }
    let view = system.realize_velocity(&mut state)?;
    let at = view.of(cable);
    let path = &at.position.path;
    let mut compared = vec![
        ("length", (path.length - reference_length).abs(), 1e-8),
        ("length_dot", (at.velocity.length_rate - number(&expected["length_dot"])).abs(), 1e-6),
    ];
    for (contact, reference) in path.contacts.iter().zip(expected["obstacles"].as_array().expect("obstacles"))
    {
        let touching = reference["in_contact"].as_bool().expect("yes or no");
        compared.push(("in_contact", f64::from(u8::from(touching != contact.in_contact)), 0.0));
        if touching && contact.in_contact {
            let geodesic = &contact.geodesic;
            for (name, key, value) in [
                ("initial_point", "initial_point_G", geodesic.start.point),
                ("final_point", "final_point_G", geodesic.end.point),
                ("initial_tangent", "initial_tangent_G", geodesic.start.tangent),
                ("final_tangent", "final_tangent_G", geodesic.end.tangent),
            ] {
                compared.push((name, (value - vector(&reference[key])).norm(), 1e-6));
            }
            let arc = (geodesic.length - number(&reference["arc_length"])).abs();
            compared.push(("arc_length", arc, 1e-6));
        }
    }
    let forces = expected["unit_tension_body_forces"].as_array().expect("forces");
    for (i, reference) in forces.iter().enumerate() {
        let force = path.unit_force_on(BodyIndex::new(i), at.positions);
        let off = force + -spatial_force(reference);
        compared.push(("unit_force", off.force.norm(), 1e-6));
        compared.push(("unit_torque", off.torque.norm(), 1e-6));
    }
    Ok(compared)
}

/// Compares one case of `cable_spring`: to 1e-10 of the size of each quantity, and of what it is
/// the difference of.
pub(crate) fn compare_spring(case: &Value) -> Result<Vec<Comparison>> {
    let (input, expected) = (&case["input"], &case["expected"]);
    let mut system = ForceSystem::new();
    let (body1, body2) = (system.add_body(), system.add_body());
    let origin = Station { body: body1, p_B: vector(&input["origin_B1"]) };
    let termination = Station { body: body2, p_B: vector(&input["termination_B2"]) };
    let mut path = CablePath::new(origin, termination)?;
    if !input["via_point_G"].is_null() {
        path = path.through(Station { body: BodyIndex::GROUND, p_B: vector(&input["via_point_G"]) })?;
    }
    let [stiffness, slack, dissipation] =
        ["stiffness", "slack_length", "dissipation"].map(|key| number(&input[key]));
    let cable = system.add(CableSpring::new(path, stiffness, slack, dissipation)?)?;
    let mut state = system.default_state();
    state.set_body(body1, pose(&input["X_GB1"]), velocity(&input["V_GB1"]))?;
    state.set_body(body2, pose(&input["X_GB2"]), velocity(&input["V_GB2"]))?;
    let dynamics = system.realize_dynamics(&mut state)?;
    let at = dynamics.of(cable);
    let scalar = |name, value: f64, key: &str, scale: f64| {
        let reference = number(&expected[key]);
        (name, (value - reference).abs(), 1e-10 * reference.abs().max(scale))
    };
    let length = at.position.path.length;
    // The stretch is a difference of lengths, and energy and tension inherit its roundoff.
    let tension_scale = stiffness * 1e-4;
    let mut compared = vec![
        scalar("length", length, "length", 1e-3),
        scalar("length_dot", at.velocity.length_rate, "length_dot", 1e-3),
        scalar("tension", at.dynamics.tension, "tension", tension_scale),
        scalar("potential_energy", dynamics.potential_energy(), "potential_energy", tension_scale),
        scalar("power_dissipation", dynamics.power_dissipated(), "power_dissipation", tension_scale),
    ];
    for (body, key) in
        [(body1, "force_on_body1"), (body2, "force_on_body2"), (BodyIndex::GROUND, "force_on_ground")]
    {
        let reference = spatial_force(&expected[key]);
        let off = dynamics.body_force(body) + -reference;
        let scale = number(&expected["tension"]).max(tension_scale);
        compared.push(("force", off.force.norm(), 1e-10 * scale));
        compared.push(("torque", off.torque.norm(), 1e-10 * reference.torque.norm().max(scale)));
    }
    Ok(compared)
}
